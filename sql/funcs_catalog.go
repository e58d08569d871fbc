package sql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

// catalogFuncs is fn.Catalog.
type catalogFuncs struct{ s *Session }

func (f catalogFuncs) cat() *catalog.Txn { return f.s.eng.Catalog() }

func (f catalogFuncs) FormatType(typ types.OID, typmod int32) string {
	name, err := analyze.FormatType(f.s.analyzeContext(f.s.ctx, nil), typ, typmod)
	if err != nil {
		return ""
	}
	return name
}

// typeName is a type's name without a modifier, as signatures show it.
func (f catalogFuncs) typeName(typ types.OID) string {
	name, err := analyze.TypeName(f.s.analyzeContext(f.s.ctx, nil), typ)
	if err != nil {
		return ""
	}
	return name
}

// object is the name and schema of an object of a kind.
func (f catalogFuncs) object(kind fn.ObjectKind, oid types.OID) (name string, ns types.OID, ok bool) {
	cat := f.cat()
	switch kind {
	case fn.ObjTable, fn.ObjSequence:
		if r, err := cat.RelationByOID(oid); err == nil && r != nil {
			return r.Name, r.Namespace, true
		}
	case fn.ObjType:
		if t, err := cat.TypeByOID(oid); err == nil && t != nil {
			return t.Name, t.Namespace, true
		}
	case fn.ObjFunction:
		if p, err := cat.ProcByOID(oid); err == nil && p != nil {
			return p.Name, p.Namespace, true
		}
	case fn.ObjOperator:
		if o, err := cat.OperatorByOID(oid); err == nil && o != nil {
			return o.Name, o.Namespace, true
		}
	case fn.ObjCollation:
		if c, err := cat.CollationByOID(oid); err == nil && c != nil {
			return c.Name, c.Namespace, true
		}
	case fn.ObjOpclass:
		if c, err := cat.OpclassByOID(oid); err == nil && c != nil {
			return c.Name, c.Namespace, true
		}
	case fn.ObjOpfamily:
		if c, err := cat.OpfamilyByOID(oid); err == nil && c != nil {
			return c.Name, c.Namespace, true
		}
	default:
		if t, found := namedCatalogs[kind]; found {
			if row, err := cat.Get(t.rel, types.OIDDatum(oid)); err == nil && row != nil {
				return row[t.name].String(), row[t.ns].OID(), true
			}
		}
	}
	return "", 0, false
}

// namedCatalogs are catalogs without descriptors whose objects live in schemas.
var namedCatalogs = map[fn.ObjectKind]struct {
	rel      types.OID
	name, ns int
}{
	fn.ObjConversion: {catalog.PgConversion, catalog.ConversionConname, catalog.ConversionConnamespace},
	fn.ObjStatistics: {catalog.PgStatisticExt, catalog.StatisticExtStxname, catalog.StatisticExtStxnamespace},
	fn.ObjTSParser:   {catalog.PgTsParser, catalog.TsParserPrsname, catalog.TsParserPrsnamespace},
	fn.ObjTSDict:     {catalog.PgTsDict, catalog.TsDictDictname, catalog.TsDictDictnamespace},
	fn.ObjTSTemplate: {catalog.PgTsTemplate, catalog.TsTemplateTmplname, catalog.TsTemplateTmplnamespace},
	fn.ObjTSConfig:   {catalog.PgTsConfig, catalog.TsConfigCfgname, catalog.TsConfigCfgnamespace},
}

// Visible is pg_table_is_visible and its kin: no object before it in the path has its name.
func (f catalogFuncs) Visible(kind fn.ObjectKind, oid types.OID) (visible, exists bool) {
	name, ns, ok := f.object(kind, oid)
	if !ok {
		return false, false
	}
	for _, schema := range f.s.searchPath() {
		if schema == ns {
			return true, true
		}
		if f.hides(kind, schema, name, oid) {
			return false, true
		}
	}
	return false, true
}

// hides tells whether a schema has an object that would be found instead.
func (f catalogFuncs) hides(kind fn.ObjectKind, schema types.OID, name string, oid types.OID) bool {
	cat := f.cat()
	switch kind {
	case fn.ObjTable, fn.ObjSequence:
		r, err := cat.RelationOID(schema, name)
		return err == nil && r != 0
	case fn.ObjType:
		t, err := cat.TypeByName(schema, name)
		return err == nil && t != nil
	case fn.ObjFunction:
		self, err := cat.ProcByOID(oid)
		list, err2 := cat.ProcsByName(name)
		if err != nil || err2 != nil {
			return false
		}
		for _, p := range list {
			if p.Namespace == schema && equalOIDs(p.Args, self.Args) {
				return true
			}
		}
	case fn.ObjOperator:
		self, err := cat.OperatorByOID(oid)
		list, err2 := cat.OperatorsByName(name)
		if err != nil || err2 != nil {
			return false
		}
		for _, o := range list {
			if o.Namespace == schema && o.Left == self.Left && o.Right == self.Right {
				return true
			}
		}
	}
	return false
}

func (f catalogFuncs) RoleName(oid types.OID) (string, bool) {
	r, err := f.cat().RoleByOID(oid)
	if err != nil || r == nil {
		return "", false
	}
	return r.Name, true
}

func (f catalogFuncs) RoleOID(name string) (types.OID, bool) {
	r, err := f.cat().RoleByName(name)
	if err != nil || r == nil {
		return 0, false
	}
	return r.OID, true
}

// HasPrivilege answers has_table_privilege and its kin. Roles other than the owner and
// superusers have what was granted in the object's ACL.
func (f catalogFuncs) HasPrivilege(kind fn.ObjectKind, role, object types.OID, column, privileges string) (has, exists bool, err error) {
	acl, owner, exists, err := f.aclOf(kind, object)
	if err != nil || !exists {
		return false, exists, err
	}
	r, err := f.cat().RoleByOID(role)
	if err != nil || r == nil {
		return false, false, err
	}
	for _, p := range strings.Split(privileges, ",") {
		name := strings.ToUpper(strings.TrimSpace(p))
		name, grant := strings.CutSuffix(name, " WITH GRANT OPTION")
		bit, ok := catalog.PrivilegeBit(name)
		if !ok {
			return false, true, pgerr.New(pgerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", strings.TrimSpace(p))
		}
		if r.Super || f.memberOf(role, owner) || f.granted(acl, role, bit, grant) {
			return true, true, nil
		}
	}
	return false, true, nil
}

func (f catalogFuncs) memberOf(member, group types.OID) bool {
	ok, err := f.s.isMember(member, group)
	return err == nil && ok
}

func (f catalogFuncs) granted(acl []catalog.ACLItem, role types.OID, bit uint32, grant bool) bool {
	for _, item := range acl {
		bits := item.Privs
		if grant {
			bits = item.GrantOpts
		}
		if bits&bit != 0 && (item.Grantee == 0 || f.memberOf(role, item.Grantee)) {
			return true
		}
	}
	return false
}

// aclOf is the access list of an object, with PostgreSQL's defaults where none is stored.
func (f catalogFuncs) aclOf(kind fn.ObjectKind, oid types.OID) (acl []catalog.ACLItem, owner types.OID, exists bool, err error) {
	cat := f.cat()
	public := func(bits ...string) []catalog.ACLItem {
		var mask uint32
		for _, b := range bits {
			bit, _ := catalog.PrivilegeBit(b)
			mask |= bit
		}
		return []catalog.ACLItem{{Privs: mask}}
	}
	switch kind {
	case fn.ObjTable, fn.ObjSequence, fn.ObjColumn:
		r, err := cat.RelationByOID(oid)
		if err != nil || r == nil {
			return nil, 0, false, err
		}
		if r.System && r.ACL == nil {
			return public("SELECT"), r.Owner, true, nil
		}
		return r.ACL, r.Owner, true, nil
	case fn.ObjSchema:
		n, err := cat.NamespaceByOID(oid)
		if err != nil || n == nil {
			return nil, 0, false, err
		}
		return n.ACL, n.Owner, true, nil
	case fn.ObjDatabase:
		d, err := cat.DatabaseByOID(oid)
		if err != nil || d == nil {
			return nil, 0, false, err
		}
		if d.ACL == nil {
			return public("CONNECT", "TEMPORARY"), d.Owner, true, nil
		}
		return d.ACL, d.Owner, true, nil
	case fn.ObjFunction:
		p, err := cat.ProcByOID(oid)
		if err != nil || p == nil {
			return nil, 0, false, err
		}
		if p.ACL == nil {
			return public("EXECUTE"), p.Owner, true, nil
		}
		return p.ACL, p.Owner, true, nil
	case fn.ObjType:
		t, err := cat.TypeByOID(oid)
		if err != nil || t == nil {
			return nil, 0, false, err
		}
		if t.ACL == nil {
			return public("USAGE"), t.Owner, true, nil
		}
		return t.ACL, t.Owner, true, nil
	case fn.ObjLanguage:
		return public("USAGE"), 10, true, nil
	case fn.ObjTablespace:
		t, err := cat.TablespaceByOID(oid)
		if err != nil || t == nil {
			return nil, 0, false, err
		}
		return t.ACL, t.Owner, true, nil
	}
	return nil, 10, true, nil
}

func (f catalogFuncs) HasRole(user, role types.OID, privilege string) (bool, error) {
	switch p := strings.ToUpper(strings.TrimSpace(privilege)); p {
	case "USAGE", "MEMBER", "MEMBER WITH GRANT OPTION", "MEMBER WITH ADMIN OPTION", "USAGE WITH GRANT OPTION", "USAGE WITH ADMIN OPTION":
	default:
		return false, pgerr.New(pgerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", privilege)
	}
	r, err := f.cat().RoleByOID(user)
	if err != nil || r == nil {
		return false, err
	}
	if r.Super {
		return true, nil
	}
	return f.s.isMember(user, role)
}

// Resolve finds an object by name for the functions that take names.
func (f catalogFuncs) Resolve(kind fn.ObjectKind, name string) (types.OID, error) {
	reg := map[fn.ObjectKind]types.OID{
		fn.ObjTable: types.Regclass, fn.ObjSequence: types.Regclass, fn.ObjType: types.Regtype, fn.ObjFunction: types.Regprocedure,
	}
	if typ, ok := reg[kind]; ok {
		return regNames(f).RegIn(typ, name)
	}
	switch kind {
	case fn.ObjSchema:
		oid, err := f.s.schema(name)
		if err == nil && oid == 0 {
			err = pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", name)
		}
		return oid, err
	case fn.ObjDatabase:
		d, err := f.cat().DatabaseByName(name)
		if err != nil || d != nil {
			if d == nil {
				return 0, err
			}
			return d.OID, nil
		}
		return 0, pgerr.New(pgerr.UndefinedDatabase, "database \"%s\" does not exist", name)
	case fn.ObjRole:
		if oid, ok := f.RoleOID(name); ok {
			return oid, nil
		}
		return 0, pgerr.New(pgerr.UndefinedObject, "role \"%s\" does not exist", name)
	case fn.ObjTablespace:
		t, err := f.cat().TablespaceByName(name)
		if err != nil || t != nil {
			if t == nil {
				return 0, err
			}
			return t.OID, nil
		}
		return 0, pgerr.New(pgerr.UndefinedObject, "tablespace \"%s\" does not exist", name)
	case fn.ObjLanguage:
		l, err := f.cat().LanguageByName(name)
		if err != nil || l != nil {
			if l == nil {
				return 0, err
			}
			return l.OID, nil
		}
		return 0, pgerr.New(pgerr.UndefinedObject, "language \"%s\" does not exist", name)
	}
	return 0, pgerr.New(pgerr.FeatureNotSupported, "this kind of object cannot be looked up by name")
}

// Description is a comment from pg_description or pg_shdescription.
func (f catalogFuncs) Description(oid types.OID, catalogName string, column int32) (string, bool) {
	class := types.OID(0)
	if catalogName != "" {
		r, err := f.cat().RelationByName(pgCatalogSchema, catalogName)
		if err != nil || r == nil {
			return "", false
		}
		class = r.OID
	}
	if isSharedCatalog(class) {
		rows, err := f.cat().Rows(catalog.PgShdescription,
			catalog.Eq{Col: catalog.ShdescriptionObjoid, Value: types.OIDDatum(oid)},
			catalog.Eq{Col: catalog.ShdescriptionClassoid, Value: types.OIDDatum(class)})
		if err != nil || len(rows) == 0 {
			return "", false
		}
		return rows[0][catalog.ShdescriptionDescription].String(), true
	}
	eq := []catalog.Eq{
		{Col: catalog.DescriptionObjoid, Value: types.OIDDatum(oid)},
		{Col: catalog.DescriptionObjsubid, Value: types.Int64Datum(int64(column))},
	}
	if class != 0 {
		eq = append(eq, catalog.Eq{Col: catalog.DescriptionClassoid, Value: types.OIDDatum(class)})
	}
	rows, err := f.cat().Rows(catalog.PgDescription, eq...)
	if err != nil || len(rows) == 0 {
		return "", false
	}
	return rows[0][catalog.DescriptionDescription].String(), true
}

// DescribeObject is the text of pg_describe_object.
func (f catalogFuncs) DescribeObject(class, oid types.OID, sub int32) (string, bool, error) {
	obj := catalog.Object{Class: class, OID: oid, Sub: sub}
	switch {
	case !catalog.IsCatalog(class):
		return "", false, pgerr.New(pgerr.InternalError, "unrecognized object class: %d", class)
	case sub != 0 && class != catalog.PgClass:
		return "", false, pgerr.New(pgerr.InternalError, "invalid non-zero objectSubId for object class %d", class)
	}
	if ok, err := f.cat().Exists(obj); err != nil || !ok {
		return "", false, err
	}
	text, err := f.cat().Describe(obj, f.s.searchPath())
	return text, true, err
}

// IndexPosition finds a column in pg_index.indkey.
func (f catalogFuncs) IndexPosition(index types.OID, column int16) (int, bool, error) {
	row, err := f.cat().Get(catalog.PgIndex, types.OIDDatum(index))
	if err != nil || row == nil {
		return 0, false, err
	}
	key := row[catalog.IndexIndkey].Array()
	for i, k := range key.Elems(nil) {
		if int16(k.W) == column {
			return i + 1, true, nil
		}
	}
	return 0, false, nil
}

func isSharedCatalog(class types.OID) bool {
	switch class {
	case catalog.PgDatabase, catalog.PgAuthid, catalog.PgTablespace:
		return true
	}
	return false
}

// SerialSequence finds the sequence a column owns.
func (f catalogFuncs) SerialSequence(table, column string) (string, bool, error) {
	names, err := splitName(table)
	if err != nil {
		return "", false, err
	}
	schema := ""
	if len(names) > 1 {
		schema = names[len(names)-2]
	}
	rel, err := f.s.relationByName(schema, names[len(names)-1])
	if err != nil {
		return "", false, err
	}
	if rel == nil {
		return "", false, undefinedRelation(schema, names[len(names)-1])
	}
	a := rel.AttrByName(column)
	if a == nil {
		return "", false, pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", column, rel.Name)
	}
	rows, err := f.cat().Rows(catalog.PgDepend,
		catalog.Eq{Col: catalog.DependRefclassid, Value: types.OIDDatum(catalog.PgClass)},
		catalog.Eq{Col: catalog.DependRefobjid, Value: types.OIDDatum(rel.OID)},
		catalog.Eq{Col: catalog.DependRefobjsubid, Value: types.Int64Datum(int64(a.Num))})
	if err != nil {
		return "", false, err
	}
	for _, row := range rows {
		kind := byte(row[catalog.DependDeptype].W)
		if row[catalog.DependClassid].OID() != catalog.PgClass || kind != 'a' && kind != 'i' {
			continue
		}
		seq, err := f.cat().RelationByOID(row[catalog.DependObjid].OID())
		if err != nil {
			return "", false, err
		}
		if seq != nil && seq.Kind == catalog.KindSequence {
			return f.s.qualified(seq.Namespace, seq.Name, false), true, nil
		}
	}
	return "", false, nil
}

func (f catalogFuncs) IsOtherTempSchema(oid types.OID) bool {
	ns, err := f.cat().NamespaceByOID(oid)
	if err != nil || ns == nil || oid == f.s.temp {
		return false
	}
	return strings.HasPrefix(ns.Name, "pg_temp_") || strings.HasPrefix(ns.Name, "pg_toast_temp_")
}

func (f catalogFuncs) MyTempSchema() types.OID { return f.s.temp }

// RelationIsUpdatable has the bits 1<<UPDATE, 1<<INSERT and 1<<DELETE of pg_relation_is_updatable for a table.
func (f catalogFuncs) RelationIsUpdatable(rel types.OID) int32 {
	r, err := f.cat().RelationByOID(rel)
	if err != nil || r == nil || r.System {
		return 0
	}
	if r.Kind == catalog.KindTable || r.Kind == catalog.KindPartitionedTable {
		return 1<<2 | 1<<3 | 1<<4
	}
	return 0
}

// ToReg looks a name up as the input function of a reg* type does, without an error for a name that is not there.
func (f catalogFuncs) ToReg(typ types.OID, name string) (types.OID, bool, error) {
	text := strings.TrimSpace(name)
	if text == "-" {
		return 0, true, nil
	}
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return types.OID(n), true, nil
	}
	switch typ {
	case types.Regtype:
		return f.toType(text)
	case types.Regprocedure, types.Regoperator:
		return f.toSignature(typ, text)
	case types.Regoper:
		list, err := f.operators(text)
		if err != nil || len(list) == 0 {
			return 0, false, err
		}
		if len(list) > 1 {
			return 0, false, pgerr.New(pgerr.AmbiguousFunction, "more than one operator named %s", text)
		}
		return list[0].OID, true, nil
	}
	names, err := splitName(text)
	if err != nil {
		return 0, false, err
	}
	return f.byName(typ, names)
}

func (f catalogFuncs) byName(typ types.OID, names []string) (types.OID, bool, error) {
	s, cat := f.s, f.cat()
	last := names[len(names)-1]
	schemas := s.searchPath()
	if len(names) > 1 {
		oid, err := s.schema(names[len(names)-2])
		if err != nil || oid == 0 {
			return 0, false, err
		}
		schemas = []types.OID{oid}
	}
	switch typ {
	case types.Regnamespace:
		oid, err := s.schema(last)
		return oid, oid != 0, err
	case types.Regrole:
		oid, ok := f.RoleOID(last)
		return oid, ok, nil
	case types.Regproc:
		return f.toProc(schemas, last)
	case types.Regclass:
		for _, ns := range schemas {
			oid, err := cat.RelationOID(ns, last)
			if err != nil || oid != 0 {
				return oid, oid != 0, err
			}
		}
		return 0, false, nil
	case types.Regcollation:
		list, err := cat.CollationsByName(last)
		if err != nil {
			return 0, false, err
		}
		for _, ns := range schemas {
			for _, c := range list {
				if c.Namespace == ns {
					return c.OID, true, nil
				}
			}
		}
		return 0, false, nil
	}
	t := namedCatalogs[fn.ObjTSConfig]
	if typ == types.Regdictionary {
		t = namedCatalogs[fn.ObjTSDict]
	}
	rows, err := cat.Rows(t.rel, catalog.Eq{Col: t.name, Value: types.TextDatum(last)})
	if err != nil || len(rows) == 0 {
		return 0, false, err
	}
	return rows[0][0].OID(), true, nil
}

func (f catalogFuncs) toProc(schemas []types.OID, name string) (types.OID, bool, error) {
	list, err := f.cat().ProcsByName(name)
	if err != nil {
		return 0, false, err
	}
	var found types.OID
	for _, p := range list {
		if !contains(schemas, p.Namespace) {
			continue
		}
		if found != 0 {
			return 0, false, pgerr.New(pgerr.AmbiguousFunction, "more than one function named \"%s\"", name)
		}
		found = p.OID
	}
	return found, found != 0, nil
}

// toType reads a type's name by the grammar.
func (f catalogFuncs) toType(text string) (types.OID, bool, error) {
	node, err := parseOne("select null::" + text)
	if err != nil {
		return 0, false, pgerr.New(pgerr.SyntaxError, "invalid type name \"%s\"", text)
	}
	cast := node.GetSelectStmt().GetTargetList()[0].GetResTarget().GetVal().GetTypeCast()
	if cast == nil {
		return 0, false, pgerr.New(pgerr.SyntaxError, "invalid type name \"%s\"", text)
	}
	typ, err := analyze.LookupType(f.s.analyzeContext(f.s.ctx, nil), cast.TypeName, "")
	if pgerr.HasCode(err, pgerr.UndefinedObject) || pgerr.HasCode(err, pgerr.UndefinedSchema) {
		return 0, false, nil
	}
	return typ, typ != 0, err
}

// operators are those that a possibly qualified name finds.
func (f catalogFuncs) operators(name string) ([]*catalog.Operator, error) {
	schemas := f.s.searchPath()
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		names, err := splitName(name[:dot])
		if err != nil {
			return nil, err
		}
		ns, err := f.s.schema(names[len(names)-1])
		if err != nil || ns == 0 {
			return nil, err
		}
		name, schemas = name[dot+1:], []types.OID{ns}
	}
	list, err := f.cat().OperatorsByName(name)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(o *catalog.Operator) bool { return !contains(schemas, o.Namespace) }), nil
}

// toSignature reads name(type, ...) for regprocedure and regoperator.
func (f catalogFuncs) toSignature(typ types.OID, text string) (types.OID, bool, error) {
	open := strings.IndexByte(text, '(')
	switch {
	case open < 0:
		return 0, false, pgerr.New(pgerr.InvalidTextRepresentation, "expected a left parenthesis")
	case !strings.HasSuffix(text, ")"):
		return 0, false, pgerr.New(pgerr.InvalidTextRepresentation, "expected a right parenthesis")
	}
	name := strings.TrimSpace(text[:open])
	var args []types.OID
	if inner := strings.TrimSpace(text[open+1 : len(text)-1]); inner != "" {
		for _, a := range strings.Split(inner, ",") {
			if strings.EqualFold(strings.TrimSpace(a), "none") {
				args = append(args, 0)
				continue
			}
			oid, ok, err := f.toType(strings.TrimSpace(a))
			if err != nil || !ok {
				return 0, false, err
			}
			args = append(args, oid)
		}
	}
	if typ == types.Regoperator {
		if len(args) != 2 {
			return 0, false, pgerr.New(pgerr.UndefinedParameter, "missing argument").
				WithHint("Use NONE to denote the missing argument of a unary operator.")
		}
		list, err := f.operators(name)
		if err != nil {
			return 0, false, err
		}
		for _, o := range list {
			if o.Left == args[0] && o.Right == args[1] {
				return o.OID, true, nil
			}
		}
		return 0, false, nil
	}
	names, err := splitName(name)
	if err != nil {
		return 0, false, err
	}
	list, err := f.cat().ProcsByName(names[len(names)-1])
	if err != nil {
		return 0, false, err
	}
	for _, p := range list {
		if equalOIDs(p.Args, args) {
			return p.OID, true, nil
		}
	}
	return 0, false, nil
}
