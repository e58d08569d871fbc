package fn

import (
	"math"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func (c *Context) needCatalog() error {
	if c.Catalog == nil {
		return errNoState("the catalog")
	}
	return nil
}

func textOrNull(s string, ok bool, err error) (types.Datum, error) {
	if err != nil || !ok {
		return types.NullDatum, err
	}
	return types.TextDatum(s), nil
}

// formatType is format_type: null gives null, no such type ???.
func formatType(c *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullDatum, nil
	}
	typ, typmod := a[0].OID(), int32(-1)
	given := !a[1].Null
	if given {
		typmod = int32(a[1].W)
	}
	if typ == 0 {
		return types.TextDatum("-"), nil
	}
	if name, ok := types.FormatType(typ, typmod); ok {
		return types.TextDatum(bareTypeName(typ, given, name)), nil
	}
	if c.Catalog != nil {
		if name := c.Catalog.FormatType(typ, typmod); name != "" {
			return types.TextDatum(name), nil
		}
	}
	return types.TextDatum("???"), nil
}

// bareTypeName is the name of a type asked for without a modifier: then char and bit mean themselves.
func bareTypeName(typ types.OID, given bool, name string) string {
	if given {
		return name
	}
	switch typ {
	case types.Bpchar:
		return "character"
	case types.Bit:
		return "bit"
	case types.BpcharArray:
		return "character[]"
	case types.BitArray:
		return "bit[]"
	}
	return name
}

const btreeAM types.OID = 403

// btreePhases are the phases of building an index, as pg_stat_progress_create_index names them.
var btreePhases = [...]string{
	"initializing", "scanning table", "sorting live tuples", "sorting dead tuples", "loading tuples in tree",
}

func registerVisible(r *registry) {
	for name, kind := range map[string]ObjectKind{
		"table": ObjTable, "type": ObjType, "function": ObjFunction, "operator": ObjOperator, "opclass": ObjOpclass, "opfamily": ObjOpfamily,
		"collation": ObjCollation, "conversion": ObjConversion, "statistics_obj": ObjStatistics, "ts_parser": ObjTSParser, "ts_dict": ObjTSDict,
		"ts_template": ObjTSTemplate, "ts_config": ObjTSConfig,
	} {
		r.fn("pg_"+name+"_is_visible", func(c *Context, a []types.Datum) (types.Datum, error) {
			if err := c.needCatalog(); err != nil {
				return types.Datum{}, err
			}
			visible, exists := c.Catalog.Visible(kind, a[0].OID())
			if !exists {
				return types.NullDatum, nil
			}
			return types.BoolDatum(visible), nil
		})
	}
}

func (c *Context) roleOf(d types.Datum, byName bool) (types.OID, error) {
	if !byName {
		return d.OID(), nil
	}
	if d.Str() == "public" {
		return 0, nil
	}
	oid, ok := c.Catalog.RoleOID(d.String())
	if !ok {
		return 0, pgerr.New(pgerr.UndefinedObject, "role \"%s\" does not exist", d.B)
	}
	return oid, nil
}

func (c *Context) currentRole() (types.OID, error) {
	if c.Identity == nil {
		return 0, errNoState("the session's identity")
	}
	return c.roleOf(types.TextDatum(c.Identity.CurrentUser()), true)
}

// registerPrivileges enters has_*_privilege in the forms that name user, object and column by name or number.
func registerPrivileges(r *registry) {
	kinds := map[string]ObjectKind{
		"table": ObjTable, "any_column": ObjTable, "database": ObjDatabase, "foreign_data_wrapper": ObjForeignDataWrapper, "function": ObjFunction, "language": ObjLanguage,
		"schema": ObjSchema, "sequence": ObjSequence, "server": ObjForeignServer, "tablespace": ObjTablespace, "type": ObjType,
	}
	for name, kind := range kinds {
		for _, form := range []string{"name_name", "name_id", "id_name", "id_id", "name", "id"} {
			parts := strings.Split(form, "_")
			r.fn("has_"+name+"_privilege_"+form, func(c *Context, a []types.Datum) (types.Datum, error) {
				column := ""
				if name == "any_column" {
					column = "*"
				}
				return c.hasPrivilege(kind, parts, a, column)
			})
		}
	}
	for _, form := range []string{
		"name_name_name", "name_name_attnum", "name_id_name", "name_id_attnum", "id_name_name", "id_name_attnum", "id_id_name", "id_id_attnum", "name_name", "name_attnum", "id_name", "id_attnum",
	} {
		parts := strings.Split(form, "_")
		r.fn("has_column_privilege_"+form, func(c *Context, a []types.Datum) (types.Datum, error) {
			n := len(parts)
			column := string(c.textOf(n-1, a[n-1], nil))
			rest := append(append([]types.Datum(nil), a[:n-1]...), a[n])
			return c.hasPrivilege(ObjTable, parts[:n-1], rest, column)
		})
	}
	for form, parts := range map[string][]string{"name_name": {"name", "name"}, "id_name": {"id", "name"}, "name": {"name"}} {
		r.fn("has_parameter_privilege_"+form, func(c *Context, a []types.Datum) (types.Datum, error) {
			return c.hasPrivilege(ObjParameter, parts, a, "")
		})
	}
	for form, parts := range map[string][]string{"name_name": {"name", "name"}, "name_id": {"name", "id"}, "id_name": {"id", "name"}, "id_id": {"id", "id"}, "name": {"name"}, "id": {"id"}} {
		r.fn("pg_has_role_"+form, func(c *Context, a []types.Datum) (types.Datum, error) {
			if err := c.needCatalog(); err != nil {
				return types.Datum{}, err
			}
			var user types.OID
			var err error
			if len(parts) == 2 {
				user, err = c.roleOf(a[0], parts[0] == "name")
			} else {
				user, err = c.currentRole()
			}
			if err != nil {
				return types.Datum{}, err
			}
			i := len(parts) - 1
			role, err := c.roleOf(a[i], parts[i] == "name")
			if err != nil {
				return types.Datum{}, err
			}
			ok, err := c.Catalog.HasRole(user, role, a[len(parts)].String())
			return types.BoolDatum(ok), err
		})
	}
}

// hasPrivilege has parts say how user, if there is one, and object are given; the last argument is the privilege.
func (c *Context) hasPrivilege(kind ObjectKind, parts []string, a []types.Datum, column string) (types.Datum, error) {
	err := c.needCatalog()
	if err != nil {
		return types.Datum{}, err
	}
	var role types.OID
	if len(parts) == 2 {
		role, err = c.roleOf(a[0], parts[0] == "name")
	} else {
		role, err = c.currentRole()
	}
	if err != nil {
		return types.Datum{}, err
	}
	object := a[len(parts)-1]
	oid := object.OID()
	if kind == ObjParameter {
		oid, column = 0, object.String()
	} else if parts[len(parts)-1] == "name" {
		if oid, err = c.Catalog.Resolve(kind, object.String()); err != nil {
			return types.Datum{}, err
		}
	}
	has, exists, err := c.Catalog.HasPrivilege(kind, role, oid, column, a[len(parts)].String())
	if err != nil || !exists {
		return types.NullDatum, err
	}
	return types.BoolDatum(has), nil
}

func registerDeparse(r *registry) {
	with := func(f func(d Deparser, c *Context, a []types.Datum) (string, bool, error)) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			if c.Deparser == nil {
				return types.Datum{}, errNoState("the text of definitions")
			}
			return textOrNull(f(c.Deparser, c, a))
		}
	}
	pretty := func(a []types.Datum, i int) bool { return i < len(a) && a[i].Bool() }
	both := func(name string, f func(d Deparser, c *Context, a []types.Datum) (string, bool, error)) {
		r.fn(name, with(f))
		r.fn(name+"_ext", with(f))
	}
	both("pg_get_expr", func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.Expr(a[0].String(), a[1].OID(), pretty(a, 2))
	})
	both("pg_get_constraintdef", func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.ConstraintDef(a[0].OID(), pretty(a, 1))
	})
	both("pg_get_ruledef", func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.RuleDef(a[0].OID(), pretty(a, 1))
	})
	both("pg_get_triggerdef", func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.TriggerDef(a[0].OID(), pretty(a, 1))
	})
	both("pg_get_viewdef", func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.ViewDef(a[0].OID(), pretty(a, 1), 0)
	})
	r.fn("pg_get_viewdef_wrap", with(func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.ViewDef(a[0].OID(), true, int(a[1].Int64()))
	}))
	both("pg_get_viewdef_name", func(d Deparser, c *Context, a []types.Datum) (string, bool, error) {
		if err := c.needCatalog(); err != nil {
			return "", false, err
		}
		oid, err := c.Catalog.Resolve(ObjTable, a[0].String())
		if err != nil {
			return "", false, err
		}
		return d.ViewDef(oid, pretty(a, 1), 0)
	})
	r.fn("pg_get_indexdef", with(func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.IndexDef(a[0].OID(), 0, false)
	}))
	r.fn("pg_get_indexdef_ext", with(func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.IndexDef(a[0].OID(), int(a[1].Int64()), a[2].Bool())
	}))
	r.fn("pg_get_partkeydef", with(func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) { return d.PartKeyDef(a[0].OID()) }))
	r.fn("pg_get_statisticsobjdef", with(func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.StatisticsDef(a[0].OID(), false)
	}))
	r.fn("pg_get_statisticsobjdef_columns", with(func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
		return d.StatisticsDef(a[0].OID(), true)
	}))
	r.fn("pg_get_functiondef", with(func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) { return d.FunctionDef(a[0].OID()) }))
	for name, what := range map[string]string{
		"pg_get_function_arguments": "arguments", "pg_get_function_identity_arguments": "identity_arguments", "pg_get_function_result": "result", "pg_get_function_sqlbody": "sqlbody",
	} {
		r.fn(name, with(func(d Deparser, _ *Context, a []types.Datum) (string, bool, error) {
			return d.FunctionPart(a[0].OID(), what)
		}))
	}
	null := func(*Context, []types.Datum) (types.Datum, error) { return types.NullDatum, nil }
	r.fn("pg_get_function_arg_default", null)
	r.fn("pg_get_partition_constraintdef", null)
	r.fn("pg_get_replica_identity_index", null)
	r.fn("pg_get_statisticsobjdef_expressions", null)
}

func registerStorage(r *registry) {
	with := func(f func(s Storage, a []types.Datum) (types.Datum, error)) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			if c.Storage == nil {
				return types.Datum{}, errNoState("storage")
			}
			return f(c.Storage, a)
		}
	}
	size := func(v int64, ok bool, err error) (types.Datum, error) {
		if err != nil || !ok {
			return types.NullDatum, err
		}
		return types.Int64Datum(v), nil
	}
	relationSize := func(s Storage, rel types.OID, fork string) (types.Datum, error) {
		switch fork {
		case "main", "fsm", "vm", "init":
			return size(s.RelationSize(rel, fork))
		}
		return types.Datum{}, pgerr.New(pgerr.InvalidParameterValue, "invalid fork name").
			WithHint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".")
	}
	r.fn("pg_relation_size", with(func(s Storage, a []types.Datum) (types.Datum, error) {
		return relationSize(s, a[0].OID(), a[1].String())
	}))
	r.sql(2325, "pg_relation_size", with(func(s Storage, a []types.Datum) (types.Datum, error) {
		return relationSize(s, a[0].OID(), "main")
	}))
	r.fn("pg_table_size", with(func(s Storage, a []types.Datum) (types.Datum, error) { return size(s.TableSize(a[0].OID())) }))
	r.fn("pg_indexes_size", with(func(s Storage, a []types.Datum) (types.Datum, error) { return size(s.IndexesSize(a[0].OID())) }))
	r.fn("pg_total_relation_size", with(func(s Storage, a []types.Datum) (types.Datum, error) {
		t, ok, err := s.TableSize(a[0].OID())
		if err != nil || !ok {
			return types.NullDatum, err
		}
		i, _, err := s.IndexesSize(a[0].OID())
		return types.Int64Datum(t + i), err
	}))
	r.fn("pg_database_size_oid", with(func(s Storage, a []types.Datum) (types.Datum, error) { return size(s.DatabaseSize(a[0].OID())) }))
	r.fn("pg_tablespace_size_oid", with(func(s Storage, a []types.Datum) (types.Datum, error) { return size(s.TablespaceSize(a[0].OID())) }))
	byName := func(kind ObjectKind, f func(s Storage, oid types.OID) (int64, bool, error)) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			if err := c.needCatalog(); err != nil {
				return types.Datum{}, err
			}
			if c.Storage == nil {
				return types.Datum{}, errNoState("storage")
			}
			oid, err := c.Catalog.Resolve(kind, a[0].String())
			if err != nil {
				return types.Datum{}, err
			}
			return size(f(c.Storage, oid))
		}
	}
	r.fn("pg_database_size_name", byName(ObjDatabase, func(s Storage, oid types.OID) (int64, bool, error) { return s.DatabaseSize(oid) }))
	r.fn("pg_tablespace_size_name", byName(ObjTablespace, func(s Storage, oid types.OID) (int64, bool, error) { return s.TablespaceSize(oid) }))
	r.fn("pg_relation_filenode", with(func(s Storage, a []types.Datum) (types.Datum, error) {
		n, ok := s.Filenode(a[0].OID())
		if !ok {
			return types.NullDatum, nil
		}
		return types.OIDDatum(n), nil
	}))
	r.fn("pg_relation_filepath", with(func(s Storage, a []types.Datum) (types.Datum, error) {
		p, ok := s.FilePath(a[0].OID())
		return textOrNull(p, ok, nil)
	}))
	r.fn("pg_tablespace_location", with(func(s Storage, a []types.Datum) (types.Datum, error) {
		p, ok := s.TablespaceLocation(a[0].OID())
		return textOrNull(p, ok, nil)
	}))
	lsn := func(f func(s Storage) uint64) Func {
		return with(func(s Storage, _ []types.Datum) (types.Datum, error) { return types.Datum{W: f(s)}, nil })
	}
	r.fn("pg_current_wal_insert_lsn", lsn(Storage.WALInsert))
	r.fn("pg_current_wal_lsn", lsn(Storage.WALWrite))
	r.fn("pg_current_wal_flush_lsn", lsn(Storage.WALFlush))
	r.fn("pg_switch_wal", func(c *Context, _ []types.Datum) (types.Datum, error) {
		if c.Storage == nil {
			return types.Datum{}, errNoState("storage")
		}
		v, err := c.Storage.SwitchWAL(c.Ctx)
		return types.Datum{W: v}, err
	})
	r.fn("pg_is_in_recovery", with(func(s Storage, _ []types.Datum) (types.Datum, error) { return types.BoolDatum(s.InRecovery()), nil }))
}

func registerCatalog(r *registry) {
	registerVisible(r)
	registerPrivileges(r)
	registerDeparse(r)
	registerStorage(r)
	r.fn("format_type", formatType)
	r.fn("pg_typeof", func(c *Context, _ []types.Datum) (types.Datum, error) { return types.OIDDatum(c.ArgType(0)), nil })
	r.fn("pg_get_userbyid", func(c *Context, a []types.Datum) (types.Datum, error) {
		if err := c.needCatalog(); err != nil {
			return types.Datum{}, err
		}
		name, ok := c.Catalog.RoleName(a[0].OID())
		if !ok {
			name = "unknown (OID=" + string(types.Out(types.Oid, a[0], nil, nil)) + ")"
		}
		return nameDatum(name), nil
	})
	describe := func(catalog func(a []types.Datum) string, column func(a []types.Datum) int32) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			if err := c.needCatalog(); err != nil {
				return types.Datum{}, err
			}
			s, ok := c.Catalog.Description(a[0].OID(), catalog(a), column(a))
			return textOrNull(s, ok, nil)
		}
	}
	whole := func([]types.Datum) int32 { return 0 }
	named := func(a []types.Datum) string { return a[1].String() }
	r.sql(1215, "obj_description", describe(named, whole))
	r.sql(1348, "obj_description", describe(func([]types.Datum) string { return "" }, whole))
	r.sql(1993, "shobj_description", describe(named, whole))
	r.sql(1216, "col_description", describe(func([]types.Datum) string { return "pg_class" }, func(a []types.Datum) int32 { return int32(a[1].W) }))
	r.fn("pg_indexam_progress_phasename", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if n := a[1].Int64(); a[0].OID() == btreeAM && n > 0 && n <= int64(len(btreePhases)) {
			return types.TextDatum(btreePhases[n-1]), nil
		}
		return types.NullDatum, nil
	})
	r.fn("pg_describe_object", func(c *Context, a []types.Datum) (types.Datum, error) {
		if err := c.needCatalog(); err != nil {
			return types.Datum{}, err
		}
		if a[0].OID() == 0 && a[1].OID() == 0 {
			return types.NullDatum, nil // as pg_depend's pinned entries were
		}
		return textOrNull(c.Catalog.DescribeObject(a[0].OID(), a[1].OID(), int32(a[2].W)))
	})
	r.fn("pg_get_serial_sequence", func(c *Context, a []types.Datum) (types.Datum, error) {
		if err := c.needCatalog(); err != nil {
			return types.Datum{}, err
		}
		return textOrNull(c.Catalog.SerialSequence(a[0].String(), a[1].String()))
	})
	r.fn("pg_is_other_temp_schema", func(c *Context, a []types.Datum) (types.Datum, error) {
		if err := c.needCatalog(); err != nil {
			return types.Datum{}, err
		}
		return types.BoolDatum(c.Catalog.IsOtherTempSchema(a[0].OID())), nil
	})
	r.fn("pg_my_temp_schema", func(c *Context, _ []types.Datum) (types.Datum, error) {
		if err := c.needCatalog(); err != nil {
			return types.Datum{}, err
		}
		return types.OIDDatum(c.Catalog.MyTempSchema()), nil
	})
	r.fn("pg_relation_is_updatable", func(c *Context, a []types.Datum) (types.Datum, error) {
		if err := c.needCatalog(); err != nil {
			return types.Datum{}, err
		}
		return types.Int64Datum(int64(c.Catalog.RelationIsUpdatable(a[0].OID()))), nil
	})
	r.fn("pg_column_is_updatable", func(c *Context, a []types.Datum) (types.Datum, error) {
		if err := c.needCatalog(); err != nil {
			return types.Datum{}, err
		}
		// System columns never are; others if both update and delete reach the relation.
		const updateDelete = 1<<2 | 1<<4
		ok := a[1].Int64() > 0 && c.Catalog.RelationIsUpdatable(a[0].OID())&updateDelete == updateDelete
		return types.BoolDatum(ok), nil
	})
	r.fn("pg_relation_is_publishable", func(*Context, []types.Datum) (types.Datum, error) { return types.BoolDatum(false), nil })
	r.fn("row_security_active", func(*Context, []types.Datum) (types.Datum, error) { return types.BoolDatum(false), nil })
	r.fn("row_security_active_name", func(*Context, []types.Datum) (types.Datum, error) { return types.BoolDatum(false), nil })
	for name, typ := range map[string]types.OID{
		"to_regclass": types.Regclass, "to_regcollation": types.Regcollation, "to_regnamespace": types.Regnamespace, "to_regoper": types.Regoper, "to_regoperator": types.Regoperator,
		"to_regproc": types.Regproc, "to_regprocedure": types.Regprocedure, "to_regrole": types.Regrole, "to_regtype": types.Regtype,
	} {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			if err := c.needCatalog(); err != nil {
				return types.Datum{}, err
			}
			oid, ok, err := c.Catalog.ToReg(typ, a[0].String())
			if err != nil || !ok {
				return types.NullDatum, err
			}
			return types.OIDDatum(oid), nil
		})
	}
	r.fn("text_regclass", func(c *Context, a []types.Datum) (types.Datum, error) {
		// Unlike input, this takes a number for a name.
		if c.Env.Names == nil {
			return types.Datum{}, errNoState("the catalog")
		}
		oid, err := c.Env.Names.RegIn(types.Regclass, string(a[0].B))
		return types.OIDDatum(oid), err
	})
	r.fn("pg_collation_for", func(c *Context, _ []types.Datum) (types.Datum, error) {
		switch c.collation() {
		case 0:
			return types.NullDatum, nil
		case 100:
			return types.TextDatum("\"default\""), nil
		case collationC:
			return types.TextDatum("\"C\""), nil
		case collationPosix:
			return types.TextDatum("\"POSIX\""), nil
		}
		return bytesResult(types.Out(types.Regcollation, types.OIDDatum(c.collation()), nil, c.Env))
	})
	r.fn("pg_column_size", func(c *Context, a []types.Datum) (types.Datum, error) {
		attr := types.AttrOf(c.ArgType(0), -1, c.Env.Types)
		return intResult(types.EncodedLen(&attr, &a[0]))
	})
	r.fn("pg_column_compression", func(*Context, []types.Datum) (types.Datum, error) { return types.NullDatum, nil })
	r.fn("pg_size_pretty", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.TextDatum(sizePretty(types.NumFromInt64(a[0].Int64()))), nil
	})
	r.fn("pg_size_pretty_numeric", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.TextDatum(sizePrettyNumeric(a[0].Num())), nil
	})
	r.fn("pg_size_bytes", func(_ *Context, a []types.Datum) (types.Datum, error) { return int64Result(sizeBytes(a[0].String())) })
	r.set("pg_options_to_table", func(_ *Context, a []types.Datum) (Set, error) {
		arr := a[0].Array()
		s := &rowSet{}
		for _, d := range arr.Elems(nil) {
			name, value, ok := strings.Cut(d.String(), "=")
			row := []types.Datum{types.TextDatum(name), types.NullDatum}
			if ok {
				row[1] = types.TextDatum(value)
			}
			s.rows = append(s.rows, row)
		}
		return s, nil
	})
}

var sizeUnits = [...]struct {
	name  string
	limit int64
	half  bool // the value still has one bit for rounding
	shift uint
}{
	{"bytes", 10 * 1024, false, 0}, {"kB", 20*1024 - 1, true, 10}, {"MB", 20*1024 - 1, true, 20}, {"GB", 20*1024 - 1, true, 30}, {"TB", 20*1024 - 1, true, 40}, {"PB", 20*1024 - 1, true, 50},
}

// sizePretty follows pg_size_pretty for bigint: below 10 kB in bytes, then each unit to 10240 of it, rounded.
func sizePretty(n types.Num) string {
	v, _ := n.Int64()
	for i, u := range sizeUnits {
		last := i == len(sizeUnits)-1
		abs := int64(min(absInt64(v), math.MaxInt64))
		if last || abs < u.limit {
			if u.half {
				if v > 0 {
					v = (v + 1) / 2
				} else {
					v = (v - 1) / 2
				}
			}
			return string(types.Out(types.Int8, types.Int64Datum(v), nil, nil)) + " " + u.name
		}
		// Keep one more bit than the next unit needs, to round with.
		shift := sizeUnits[i+1].shift - u.shift
		if !u.half {
			shift--
		}
		v /= int64(1) << shift
	}
	return ""
}

func sizePrettyNumeric(n types.Num) string {
	if !n.IsFinite() {
		return n.String() + " " + sizeUnits[len(sizeUnits)-1].name
	}
	for i, u := range sizeUnits {
		last := i == len(sizeUnits)-1
		if last || n.Abs().Cmp(types.NumFromInt64(u.limit)) < 0 {
			if u.half {
				one := types.NumFromInt64(1)
				if n.Sign() < 0 {
					one = one.Neg()
				}
				n, _ = n.Add(one)
				n, _ = n.DivTrunc(types.NumFromInt64(2))
			}
			return n.String() + " " + u.name
		}
		shift := sizeUnits[i+1].shift - u.shift
		if !u.half {
			shift--
		}
		n, _ = n.DivTrunc(types.NumFromInt64(int64(1) << shift))
	}
	return ""
}

func sizeBytes(s string) (int64, error) {
	bad := func() *pgerr.Error {
		return pgerr.New(pgerr.InvalidParameterValue, "invalid size: \"%s\"", s)
	}
	t := strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	if end < len(t) && (t[end] == '-' || t[end] == '+') {
		end++
	}
	digits := false
	for end < len(t) && isDigit(t[end]) {
		end++
		digits = true
	}
	if end < len(t) && t[end] == '.' {
		end++
		for end < len(t) && isDigit(t[end]) {
			end++
			digits = true
		}
	}
	if !digits {
		return 0, bad()
	}
	if end < len(t) && t[end]|0x20 == 'e' {
		e := end + 1
		if e < len(t) && (t[e] == '-' || t[e] == '+') {
			e++
		}
		if e < len(t) && isDigit(t[e]) {
			for e < len(t) && isDigit(t[e]) {
				e++
			}
			end = e
		}
	}
	n, err := types.ParseNum([]byte(t[:end]))
	if err != nil {
		return 0, err
	}
	unit := strings.Trim(t[end:], " \t\n\v\f\r")
	if unit != "" {
		shift, ok := uint(0), false
		for _, u := range sizeUnits {
			if strings.EqualFold(unit, u.name) {
				shift, ok = u.shift, true
			}
		}
		if !ok {
			return 0, bad().WithDetail("Invalid size unit: \"%s\".", unit).
				WithHint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
		}
		if n, err = n.Mul(types.NumFromInt64(int64(1) << shift)); err != nil {
			return 0, err
		}
	}
	v, ok := n.Int64()
	if !ok {
		return 0, errOutOfRange("bigint")
	}
	return v, nil
}
