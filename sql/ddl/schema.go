package ddl

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// createSchema carries out CREATE SCHEMA.
func (e *Env) createSchema(n *pg_query.CreateSchemaStmt) error {
	owner := e.Host.User()
	if n.Authrole != nil {
		var err error
		if owner, err = e.role(n.Authrole); err != nil {
			return err
		}
	}
	name := n.Schemaname
	if name == "" {
		name = owner.Name
	}
	if strings.HasPrefix(name, "pg_") {
		return pgerr.New(pgerr.ReservedName, "unacceptable schema name \"%s\"", name).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	if err := e.lockName(catalog.PgNamespace, 0, name); err != nil {
		return err
	}
	old, err := e.Cat.NamespaceByName(name)
	if err != nil {
		return err
	}
	if old != nil {
		if n.IfNotExists {
			e.notice(pgerr.DuplicateSchema, "schema \"%s\" already exists, skipping", name)
			return nil
		}
		return pgerr.New(pgerr.DuplicateSchema, "schema \"%s\" already exists", name)
	}
	if _, err := e.makeSchema(name, owner.OID); err != nil || len(n.SchemaElts) == 0 {
		return err
	}
	elements, err := schemaElements(n.SchemaElts, name)
	if err != nil {
		return err
	}
	return e.Host.InSchema(name, func() error {
		for _, el := range elements {
			if !Supports(el) {
				return unsupported("this element of CREATE SCHEMA is not supported")
			}
			if _, err := Run(e, el); err != nil {
				return err
			}
		}
		return nil
	})
}

// schemaElements puts the elements of CREATE SCHEMA in the order they are made in: sequences, which tables use, then
// tables, then what is over tables. What is made without a schema's name goes to the new one. Follows
// transformCreateSchemaStmt.
func schemaElements(list []*pg_query.Node, schema string) ([]*pg_query.Node, error) {
	var sequences, tables, others []*pg_query.Node
	for _, el := range list {
		el = proto.Clone(el).(*pg_query.Node) // parsed texts are shared
		var made *pg_query.RangeVar
		switch n := el.Node.(type) {
		case *pg_query.Node_CreateSeqStmt:
			made, sequences = n.CreateSeqStmt.Sequence, append(sequences, el)
		case *pg_query.Node_CreateStmt:
			made, tables = n.CreateStmt.Relation, append(tables, el)
		case *pg_query.Node_IndexStmt:
			made, others = n.IndexStmt.Relation, append(others, el)
		default:
			others = append(others, el)
		}
		switch {
		case made == nil:
		case made.Schemaname == "":
			made.Schemaname = schema
		case made.Schemaname != schema:
			return nil, pgerr.New(pgerr.InvalidSchemaDefinition,
				"CREATE specifies a schema (%s) different from the one being created (%s)", made.Schemaname, schema)
		}
	}
	return append(append(sequences, tables...), others...), nil
}

func (e *Env) makeSchema(name string, owner OID) (OID, error) {
	oid, err := e.Cat.NewOID(catalog.PgNamespace)
	if err != nil {
		return 0, err
	}
	row := newRow(catalog.NamespaceNspacl + 1)
	row[catalog.NamespaceOid] = oidD(oid)
	row[catalog.NamespaceNspname] = textD(name)
	row[catalog.NamespaceNspowner] = oidD(owner)
	if err := e.Cat.Insert(catalog.PgNamespace, row); err != nil {
		return 0, err
	}
	return oid, e.Cat.SetOwner(catalog.Object{Class: catalog.PgNamespace, OID: oid}, owner)
}

// MakeTempSchema makes the schema of a session's temporary relations.
func MakeTempSchema(e *Env, name string) (OID, error) {
	if old, err := e.Cat.NamespaceByName(name); err != nil || old != nil {
		if old != nil {
			return old.OID, err
		}
		return 0, err
	}
	return e.makeSchema(name, catalog.BootstrapRole)
}

// role resolves a role specification.
func (e *Env) role(r *pg_query.RoleSpec) (*catalog.Role, error) {
	switch r.Roletype {
	case pg_query.RoleSpecType_ROLESPEC_CURRENT_USER, pg_query.RoleSpecType_ROLESPEC_CURRENT_ROLE,
		pg_query.RoleSpecType_ROLESPEC_SESSION_USER:
		return e.Host.User(), nil
	case pg_query.RoleSpecType_ROLESPEC_PUBLIC:
		return nil, pgerr.New(pgerr.UndefinedObject, "role \"public\" does not exist")
	}
	role, err := e.Cat.RoleByName(r.Rolename)
	if err != nil {
		return nil, err
	}
	if role == nil {
		return nil, pgerr.New(pgerr.UndefinedObject, "role \"%s\" does not exist", r.Rolename)
	}
	return role, nil
}

func (e *Env) dropSchemas(n *pg_query.DropStmt, cascade bool) error {
	var targets []catalog.Object
	for _, o := range n.Objects {
		name := o.GetString_().GetSval()
		ns, err := e.Cat.NamespaceByName(name)
		if err != nil {
			return err
		}
		if ns == nil {
			if n.MissingOk {
				e.notice(pgerr.SuccessfulCompletion, "schema \"%s\" does not exist, skipping", name)
				continue
			}
			return pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", name)
		}
		if err := e.lockName(catalog.PgNamespace, 0, name); err != nil {
			return err
		}
		if u := e.Host.User(); !u.Super && u.OID != ns.Owner {
			return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of schema %s", name)
		}
		targets = append(targets, catalog.Object{Class: catalog.PgNamespace, OID: ns.OID})
	}
	return e.dropObjects(targets, cascade)
}

// DropSchemaContents drops everything in a schema (a session's temporary relations).
func DropSchemaContents(e *Env, schema OID) error {
	rows, err := e.Cat.Rows(catalog.PgClass, catalog.Eq{Col: catalog.ClassRelnamespace, Value: oidD(schema)})
	if err != nil {
		return err
	}
	var targets []catalog.Object
	for _, row := range rows {
		switch catalog.RelKind(row[catalog.ClassRelkind].W) {
		case catalog.KindTable, catalog.KindSequence, catalog.KindView:
			targets = append(targets, catalog.Object{Class: catalog.PgClass, OID: row[catalog.ClassOid].OID()})
		}
	}
	if len(targets) == 0 {
		return nil
	}
	return dropAll(e, targets)
}

// commentClasses are the catalogs of the objects COMMENT knows besides columns.
func (e *Env) comment(n *pg_query.CommentStmt) error {
	obj, err := e.commentTarget(n)
	if err != nil {
		return err
	}
	shared := obj.Class == catalog.PgDatabase || obj.Class == catalog.PgAuthid || obj.Class == catalog.PgTablespace
	if shared {
		if _, err := e.Cat.DeleteWhere(catalog.PgShdescription,
			catalog.Eq{Col: catalog.ShdescriptionObjoid, Value: oidD(obj.OID)},
			catalog.Eq{Col: catalog.ShdescriptionClassoid, Value: oidD(obj.Class)}); err != nil || n.Comment == "" {
			return err
		}
		row := newRow(catalog.ShdescriptionDescription + 1)
		row[catalog.ShdescriptionObjoid], row[catalog.ShdescriptionClassoid] = oidD(obj.OID), oidD(obj.Class)
		row[catalog.ShdescriptionDescription] = textD(n.Comment)
		return e.Cat.Insert(catalog.PgShdescription, row)
	}
	if _, err := e.Cat.DeleteWhere(catalog.PgDescription,
		catalog.Eq{Col: catalog.DescriptionObjoid, Value: oidD(obj.OID)},
		catalog.Eq{Col: catalog.DescriptionClassoid, Value: oidD(obj.Class)},
		catalog.Eq{Col: catalog.DescriptionObjsubid, Value: intD(obj.Sub)}); err != nil || n.Comment == "" {
		return err
	}
	row := newRow(catalog.DescriptionDescription + 1)
	row[catalog.DescriptionObjoid], row[catalog.DescriptionClassoid] = oidD(obj.OID), oidD(obj.Class)
	row[catalog.DescriptionObjsubid] = intD(obj.Sub)
	row[catalog.DescriptionDescription] = textD(n.Comment)
	return e.Cat.Insert(catalog.PgDescription, row)
}

func (e *Env) commentTarget(n *pg_query.CommentStmt) (catalog.Object, error) {
	switch n.Objtype {
	case pg_query.ObjectType_OBJECT_TABLE, pg_query.ObjectType_OBJECT_INDEX, pg_query.ObjectType_OBJECT_SEQUENCE,
		pg_query.ObjectType_OBJECT_VIEW:
		rel, err := e.openRelation(rangeVar(n.Object), locks.ShareUpdateExclusive)
		if err != nil {
			return catalog.Object{}, err
		}
		return catalog.Object{Class: catalog.PgClass, OID: rel.OID}, nil
	case pg_query.ObjectType_OBJECT_COLUMN:
		items := n.Object.GetList().GetItems()
		rv := rangeVar(&pg_query.Node{Node: &pg_query.Node_List{List: &pg_query.List{Items: items[:len(items)-1]}}})
		rel, err := e.openRelation(rv, locks.ShareUpdateExclusive)
		if err != nil {
			return catalog.Object{}, err
		}
		name := items[len(items)-1].GetString_().GetSval()
		a := rel.AttrByName(name)
		if a == nil {
			return catalog.Object{}, pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name)
		}
		return catalog.Object{Class: catalog.PgClass, OID: rel.OID, Sub: int32(a.Num)}, nil
	case pg_query.ObjectType_OBJECT_SCHEMA:
		ns, err := e.Cat.NamespaceByName(n.Object.GetString_().GetSval())
		if err == nil && ns == nil {
			err = pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", n.Object.GetString_().GetSval())
		}
		if err != nil {
			return catalog.Object{}, err
		}
		return catalog.Object{Class: catalog.PgNamespace, OID: ns.OID}, nil
	case pg_query.ObjectType_OBJECT_TABLESPACE:
		t, err := e.ownTablespace(n.Object.GetString_().GetSval())
		if err != nil {
			return catalog.Object{}, err
		}
		return catalog.Object{Class: catalog.PgTablespace, OID: t.OID}, nil
	case pg_query.ObjectType_OBJECT_DATABASE:
		db, err := e.database(n.Object.GetString_().GetSval())
		if err != nil {
			return catalog.Object{}, err
		}
		return catalog.Object{Class: catalog.PgDatabase, OID: db.OID}, nil
	case pg_query.ObjectType_OBJECT_TABCONSTRAINT:
		items := n.Object.GetList().GetItems()
		rv := rangeVar(&pg_query.Node{Node: &pg_query.Node_List{List: &pg_query.List{Items: items[:len(items)-1]}}})
		rel, err := e.openRelation(rv, locks.ShareUpdateExclusive)
		if err != nil {
			return catalog.Object{}, err
		}
		name := items[len(items)-1].GetString_().GetSval()
		for _, c := range rel.Constraints {
			if c.Name == name {
				return catalog.Object{Class: catalog.PgConstraint, OID: c.OID}, nil
			}
		}
		return catalog.Object{}, pgerr.New(pgerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", name, rel.Name)
	}
	return catalog.Object{}, unsupported("COMMENT ON this kind of object is not supported")
}

func (e *Env) database(name string) (*catalog.Database, error) {
	db, err := e.Cat.DatabaseByName(name)
	if err == nil && db == nil {
		err = pgerr.New(pgerr.UndefinedDatabase, "database \"%s\" does not exist", name)
	}
	return db, err
}

// createDatabase carries out CREATE DATABASE.
func (e *Env) createDatabase(n *pg_query.CreatedbStmt) error {
	if err := e.Host.PreventInBlock("CREATE DATABASE"); err != nil {
		return err
	}
	if u := e.Host.User(); !u.Super && !u.CreateDB {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied to create database")
	}
	owner, template, opts := e.Host.User(), "template1", make(map[string]string)
	for _, o := range n.Options {
		d := o.GetDefElem()
		opts[d.Defname] = optionText(d.Arg)
	}
	for name, value := range opts {
		switch name {
		case "owner":
			r, err := e.role(&pg_query.RoleSpec{Roletype: pg_query.RoleSpecType_ROLESPEC_CSTRING, Rolename: value})
			if err != nil {
				return err
			}
			owner = r
		case "template":
			template = value
		case "encoding":
			if up := strings.ToUpper(strings.NewReplacer("-", "", "_", "").Replace(value)); up != "UTF8" && up != "UNICODE" && up != "6" && up != "DEFAULT" && up != "" {
				return unsupported("encoding \"%s\" is not supported", value)
			}
		case "tablespace":
			t, err := e.tablespaceNamed(value)
			if err != nil {
				return err
			}
			if t.OID == catalog.TablespaceGlobal {
				return pgerr.New(pgerr.InvalidParameterValue, "pg_global cannot be used as default tablespace")
			}
			if t.OID != catalog.TablespaceDefault {
				return unsupported("databases in other tablespaces than pg_default are not supported")
			}
		case "lc_collate", "lc_ctype", "locale":
			if value != "C" && value != "POSIX" && value != "C.UTF-8" && value != "C.utf8" {
				return pgerr.New(pgerr.WrongObjectType, "invalid locale name: \"%s\"", value)
			}
		case "connection_limit", "allow_connections", "is_template", "strategy", "oid", "locale_provider", "collation_version":
		default:
			return unsupported("option \"%s\" of CREATE DATABASE is not supported", name)
		}
	}
	if err := e.lockName(catalog.PgDatabase, 0, n.Dbname); err != nil {
		return err
	}
	if old, err := e.Cat.DatabaseByName(n.Dbname); err != nil || old != nil {
		if err == nil {
			err = pgerr.New(pgerr.DuplicateDatabase, "database \"%s\" already exists", n.Dbname)
		}
		return err
	}
	src, err := e.Cat.DatabaseByName(template)
	if err != nil {
		return err
	}
	if src == nil {
		return pgerr.New(pgerr.UndefinedDatabase, "template database \"%s\" does not exist", template)
	}
	if n := e.Host.DatabaseInUse(src.OID); n > 0 {
		return pgerr.New(pgerr.ObjectInUse, "source database \"%s\" is being accessed by other users", template).
			WithDetail("%s", usersDetail(n))
	}
	return e.insertDatabase(n.Dbname, owner.OID, src, opts)
}

func usersDetail(n int) string {
	if n == 1 {
		return "There is 1 other session using the database."
	}
	return "There are " + itoa(n) + " other sessions using the database."
}

func (e *Env) insertDatabase(name string, owner OID, src *catalog.Database, opts map[string]string) error {
	oid, err := e.Cat.NewOID(catalog.PgDatabase)
	if err != nil {
		return err
	}
	old, err := e.Cat.Get(catalog.PgDatabase, oidD(src.OID))
	if err != nil {
		return err
	}
	row := append(catalog.Row(nil), old...)
	row[catalog.DatabaseOid] = oidD(oid)
	row[catalog.DatabaseDatname] = textD(truncateName(name))
	row[catalog.DatabaseDatdba] = oidD(owner)
	for name, col := range map[string]int{
		"is_template": catalog.DatabaseDatistemplate, "allow_connections": catalog.DatabaseDatallowconn,
	} {
		row[col] = boolD(name == "allow_connections")
		if value, given := opts[name]; given {
			on, err := optionBool(name, value)
			if err != nil {
				return err
			}
			row[col] = boolD(on)
		}
	}
	limit, err := connectionLimit(opts["connection_limit"])
	if err != nil {
		return err
	}
	row[catalog.DatabaseDatconnlimit] = intD(limit)
	row[catalog.DatabaseDatacl] = types.NullDatum
	if err := e.Cat.Insert(catalog.PgDatabase, row); err != nil {
		return err
	}
	if err := e.Cat.SetOwner(catalog.Object{Class: catalog.PgDatabase, OID: oid}, owner); err != nil {
		return err
	}
	if err := e.Session.CreateDatabase(e.Ctx, oid, src.OID, 0); err != nil {
		return err
	}
	return e.Cat.CopyDatabase(src.OID, oid)
}

// connectionLimit reads CONNECTION LIMIT; -1 is none.
func connectionLimit(text string) (int, error) {
	if text == "" || text == "default" {
		return -1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < -1 {
		return 0, pgerr.New(pgerr.InvalidParameterValue, "invalid connection limit: %s", text)
	}
	return n, nil
}

// alterDatabase carries out ALTER DATABASE with options.
func (e *Env) alterDatabase(n *pg_query.AlterDatabaseStmt) error {
	db, err := e.database(n.Dbname)
	if err != nil {
		return err
	}
	if u := e.Host.User(); !u.Super && u.OID != db.Owner {
		return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of database %s", db.Name)
	}
	old, err := e.Cat.Get(catalog.PgDatabase, oidD(db.OID))
	if err != nil {
		return err
	}
	row := append(catalog.Row(nil), old...)
	for _, o := range n.Options {
		d := o.GetDefElem()
		value := optionText(d.Arg)
		switch d.Defname {
		case "connection_limit":
			limit, err := connectionLimit(value)
			if err != nil {
				return err
			}
			row[catalog.DatabaseDatconnlimit] = intD(limit)
		case "allow_connections", "is_template":
			on, err := optionBool(d.Defname, value)
			if err != nil {
				return err
			}
			if d.Defname == "is_template" {
				row[catalog.DatabaseDatistemplate] = boolD(on)
				continue
			}
			if !on && db.OID == e.Session.Database() {
				return pgerr.New(pgerr.InvalidParameterValue, "cannot disallow connections for current database")
			}
			row[catalog.DatabaseDatallowconn] = boolD(on)
		case "tablespace":
			if err := e.Host.PreventInBlock("ALTER DATABASE SET TABLESPACE"); err != nil {
				return err
			}
			t, err := e.tablespaceNamed(value)
			if err != nil {
				return err
			}
			if t.OID != catalog.TablespaceDefault {
				return unsupported("databases in other tablespaces than pg_default are not supported")
			}
		default:
			return e.at(pgerr.New(pgerr.SyntaxError, "option \"%s\" not recognized", d.Defname), d.Location)
		}
	}
	return e.Cat.Update(catalog.PgDatabase, row)
}

func optionBool(name, value string) (bool, error) {
	switch strings.ToLower(value) {
	case "true", "on", "1":
		return true, nil
	case "false", "off", "0":
		return false, nil
	}
	return false, pgerr.New(pgerr.SyntaxError, "%s requires a Boolean value", name)
}

// dropDatabase carries out DROP DATABASE.
func (e *Env) dropDatabase(n *pg_query.DropdbStmt) error {
	if err := e.Host.PreventInBlock("DROP DATABASE"); err != nil {
		return err
	}
	db, err := e.Cat.DatabaseByName(n.Dbname)
	if err != nil {
		return err
	}
	if db == nil {
		if n.MissingOk {
			e.notice(pgerr.SuccessfulCompletion, "database \"%s\" does not exist, skipping", n.Dbname)
			return nil
		}
		return pgerr.New(pgerr.UndefinedDatabase, "database \"%s\" does not exist", n.Dbname)
	}
	if u := e.Host.User(); !u.Super && u.OID != db.Owner {
		return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of database %s", db.Name)
	}
	if db.IsTemplate {
		return pgerr.New(pgerr.WrongObjectType, "cannot drop a template database")
	}
	if db.OID == e.Session.Database() {
		return pgerr.New(pgerr.ObjectInUse, "cannot drop the currently open database")
	}
	for _, o := range n.Options {
		if o.GetDefElem().GetDefname() == "force" {
			e.Host.TerminateDatabase(db.OID)
		}
	}
	if n := e.Host.DatabaseInUse(db.OID); n > 0 {
		return pgerr.New(pgerr.ObjectInUse, "database \"%s\" is being accessed by other users", db.Name).
			WithDetail("%s", usersDetail(n))
	}
	if _, err := e.Cat.DeleteWhere(catalog.PgDatabase, catalog.Eq{Col: catalog.DatabaseOid, Value: oidD(db.OID)}); err != nil {
		return err
	}
	if _, err := e.Cat.DeleteWhere(catalog.PgDbRoleSetting, catalog.Eq{Col: catalog.DbRoleSettingSetdatabase, Value: oidD(db.OID)}); err != nil {
		return err
	}
	if err := e.Cat.DeleteDependencies(catalog.Object{Class: catalog.PgDatabase, OID: db.OID}); err != nil {
		return err
	}
	if err := e.Cat.DropDatabase(db.OID); err != nil {
		return err
	}
	return e.Session.DropDatabase(e.Ctx, db.OID, 0)
}

func (e *Env) alterDatabaseSet(n *pg_query.AlterDatabaseSetStmt) error {
	db, err := e.database(n.Dbname)
	if err != nil {
		return err
	}
	if u := e.Host.User(); !u.Super && u.OID != db.Owner {
		return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of database %s", db.Name)
	}
	return e.storeSetting(db.OID, 0, n.Setstmt)
}

func (e *Env) alterRoleSet(n *pg_query.AlterRoleSetStmt) error {
	var role, db OID
	if n.Role != nil {
		r, err := e.role(n.Role)
		if err != nil {
			return err
		}
		role = r.OID
	}
	if n.Database != "" {
		d, err := e.database(n.Database)
		if err != nil {
			return err
		}
		db = d.OID
	}
	if u := e.Host.User(); !u.Super && u.OID != role {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied")
	}
	return e.storeSetting(db, role, n.Setstmt)
}

// storeSetting changes a row of pg_db_role_setting.
func (e *Env) storeSetting(db, role OID, st *pg_query.VariableSetStmt) error {
	eq := []catalog.Eq{
		{Col: catalog.DbRoleSettingSetdatabase, Value: oidD(db)}, {Col: catalog.DbRoleSettingSetrole, Value: oidD(role)},
	}
	rows, err := e.Cat.Rows(catalog.PgDbRoleSetting, eq...)
	if err != nil {
		return err
	}
	var config []string
	if len(rows) > 0 && !rows[0][catalog.DbRoleSettingSetconfig].Null {
		arr := rows[0][catalog.DbRoleSettingSetconfig].Array()
		for _, d := range arr.Elems(nil) {
			config = append(config, d.String())
		}
	}
	if config, err = e.changeConfig(config, st); err != nil {
		return err
	}
	if _, err := e.Cat.DeleteWhere(catalog.PgDbRoleSetting, eq...); err != nil || len(config) == 0 {
		return err
	}
	row := newRow(catalog.DbRoleSettingSetconfig + 1)
	row[catalog.DbRoleSettingSetdatabase], row[catalog.DbRoleSettingSetrole] = oidD(db), oidD(role)
	row[catalog.DbRoleSettingSetconfig] = catalog.TextArrayDatum(config)
	return e.Cat.Insert(catalog.PgDbRoleSetting, row)
}

func (e *Env) changeConfig(config []string, st *pg_query.VariableSetStmt) ([]string, error) {
	if st.Kind == pg_query.VariableSetKind_VAR_RESET_ALL {
		return nil, nil
	}
	keep := config[:0:0]
	for _, c := range config {
		if name, _, _ := strings.Cut(c, "="); !strings.EqualFold(name, st.Name) {
			keep = append(keep, c)
		}
	}
	if st.Kind != pg_query.VariableSetKind_VAR_SET_VALUE {
		return keep, nil
	}
	var values []string
	for _, a := range st.Args {
		values = append(values, optionText(a))
	}
	value := strings.Join(values, ", ")
	if err := e.Host.CheckSetting(st.Name, value); err != nil {
		return nil, err
	}
	return append(keep, st.Name+"="+value), nil
}
