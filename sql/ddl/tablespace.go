package ddl

import (
	"path"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// maxPath is PostgreSQL's MAXPGPATH.
const maxPath = 1024

// createTablespace carries out CREATE TABLESPACE.
func (e *Env) createTablespace(n *pg_query.CreateTableSpaceStmt) error {
	if err := e.Host.PreventInBlock("CREATE TABLESPACE"); err != nil {
		return err
	}
	name := truncateName(n.Tablespacename)
	if !e.Host.User().Super {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied to create tablespace \"%s\"", name).
			WithHint("Must be superuser to create a tablespace.")
	}
	owner := e.Host.User()
	if n.Owner != nil {
		var err error
		if owner, err = e.role(n.Owner); err != nil {
			return err
		}
	}
	location, err := e.tablespaceLocation(n.Location)
	if err != nil {
		return err
	}
	if err := reservedTablespace(name); err != nil {
		return err
	}
	if err := e.lockTablespaces(); err != nil {
		return err
	}
	old, err := e.Cat.TablespaceByName(name)
	if err != nil {
		return err
	}
	if old != nil {
		return pgerr.New(pgerr.DuplicateObject, "tablespace \"%s\" already exists", name)
	}
	options, err := changeOptions(nil, n.Options, false)
	if err != nil {
		return err
	}
	oid, err := e.Cat.NewOID(catalog.PgTablespace)
	if err != nil {
		return err
	}
	row := newRow(catalog.TablespaceLocation + 1)
	row[catalog.TablespaceOid], row[catalog.TablespaceSpcname] = oidD(oid), textD(name)
	row[catalog.TablespaceSpcowner], row[catalog.TablespaceLocation] = oidD(owner.OID), textD(location)
	if len(options) > 0 {
		row[catalog.TablespaceSpcoptions] = catalog.TextArrayDatum(options)
	}
	if err := e.Cat.Insert(catalog.PgTablespace, row); err != nil {
		return err
	}
	if err := e.Cat.SetOwner(catalog.Object{Class: catalog.PgTablespace, OID: oid}, owner.OID); err != nil {
		return err
	}
	return e.Session.CreateTablespace(e.Ctx, oid, location)
}

// tablespaceLocation checks a LOCATION and makes it canonical.
func (e *Env) tablespaceLocation(location string) (string, error) {
	switch {
	case strings.Contains(location, "'"):
		return "", pgerr.New(pgerr.InvalidName, "tablespace location cannot contain single quotes")
	case !path.IsAbs(location):
		return "", pgerr.New(pgerr.InvalidObjectDefinition, "tablespace location must be an absolute path")
	case len(location) > maxPath-len("/"+storage.TablespaceDir+"/4294967295/18446744073709551615_fsm.131071"):
		return "", pgerr.New(pgerr.InvalidObjectDefinition, "tablespace location \"%s\" is too long", location)
	}
	location = path.Clean(location)
	if dir := path.Clean(e.Session.Engine().Dir()); strings.HasPrefix(location+"/", dir+"/") {
		e.Host.Notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.InvalidObjectDefinition,
			"tablespace location should not be inside the data directory"))
	}
	return location, nil
}

func reservedTablespace(name string) error {
	if !strings.HasPrefix(name, "pg_") {
		return nil
	}
	return pgerr.New(pgerr.ReservedName, "unacceptable tablespace name \"%s\"", name).
		WithDetail("The prefix \"pg_\" is reserved for system tablespaces.")
}

// lockTablespaces lets one session at a time make, rename or drop tablespaces.
func (e *Env) lockTablespaces() error { return e.lockTablespace(0, locks.Exclusive) }

// lockTablespace keeps a tablespace from being dropped (AccessShare), or others from using it
// (AccessExclusive), until the transaction ends.
func (e *Env) lockTablespace(oid OID, mode locks.Mode) error {
	tag := locks.ObjectTag(0, uint32(catalog.PgTablespace), uint32(oid), 0)
	return e.Session.Locks().Lock(e.Ctx, tag, mode, e.Host.LockOptions())
}

// tablespaceNamed finds a tablespace; 42704 if there is none.
func (e *Env) tablespaceNamed(name string) (*catalog.Tablespace, error) {
	t, err := e.Cat.TablespaceByName(name)
	if err == nil && t == nil {
		err = pgerr.New(pgerr.UndefinedObject, "tablespace \"%s\" does not exist", name)
	}
	return t, err
}

func (e *Env) ownTablespace(name string) (*catalog.Tablespace, error) {
	t, err := e.tablespaceNamed(name)
	if err != nil {
		return nil, err
	}
	if u := e.Host.User(); !u.Super && u.OID != t.Owner {
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "must be owner of tablespace %s", name)
	}
	return t, nil
}

// dropTablespace carries out DROP TABLESPACE.
func (e *Env) dropTablespace(n *pg_query.DropTableSpaceStmt) error {
	if err := e.Host.PreventInBlock("DROP TABLESPACE"); err != nil {
		return err
	}
	if err := e.lockTablespaces(); err != nil {
		return err
	}
	name := n.Tablespacename
	if t, err := e.Cat.TablespaceByName(name); err != nil {
		return err
	} else if t == nil && n.MissingOk {
		e.notice(pgerr.SuccessfulCompletion, "tablespace \"%s\" does not exist, skipping", name)
		return nil
	}
	t, err := e.ownTablespace(name)
	if err != nil {
		return err
	}
	if t.OID == catalog.TablespaceDefault || t.OID == catalog.TablespaceGlobal {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied for tablespace %s", name)
	}
	if err := e.lockTablespace(t.OID, locks.AccessExclusive); err != nil {
		return err
	}
	self := catalog.Object{Class: catalog.PgTablespace, OID: t.OID}
	if detail, err := e.Cat.SharedDependents(self, e.Host.SearchPath()); err != nil {
		return err
	} else if detail != "" {
		return pgerr.New(pgerr.DependentObjectsStillExist,
			"tablespace \"%s\" cannot be dropped because some objects depend on it", name).WithDetail("%s", detail)
	}
	if err := e.Session.DropTablespace(e.Ctx, t.OID, name); err != nil {
		return err
	}
	if _, err := e.Cat.DeleteWhere(catalog.PgTablespace, catalog.Eq{Col: catalog.TablespaceOid, Value: oidD(t.OID)}); err != nil {
		return err
	}
	if _, err := e.Cat.DeleteWhere(catalog.PgShdescription,
		catalog.Eq{Col: catalog.ShdescriptionObjoid, Value: oidD(t.OID)},
		catalog.Eq{Col: catalog.ShdescriptionClassoid, Value: oidD(catalog.PgTablespace)}); err != nil {
		return err
	}
	return e.Cat.DeleteDependencies(self)
}

// renameTablespace carries out ALTER TABLESPACE ... RENAME.
func (e *Env) renameTablespace(n *pg_query.RenameStmt) error {
	if err := e.lockTablespaces(); err != nil {
		return err
	}
	t, err := e.ownTablespace(n.Subname)
	if err != nil {
		return err
	}
	name := truncateName(n.Newname)
	if err := reservedTablespace(name); err != nil {
		return err
	}
	if old, err := e.Cat.TablespaceByName(name); err != nil {
		return err
	} else if old != nil {
		return pgerr.New(pgerr.DuplicateObject, "tablespace \"%s\" already exists", name)
	}
	return e.updateTablespace(t.OID, func(row catalog.Row) { row[catalog.TablespaceSpcname] = textD(name) })
}

func (e *Env) updateTablespace(oid OID, change func(row catalog.Row)) error {
	row, err := e.Cat.Get(catalog.PgTablespace, oidD(oid))
	if err != nil {
		return err
	}
	if row == nil {
		return pgerr.New(pgerr.InternalError, "cache lookup failed for tablespace %d", oid)
	}
	row = append(catalog.Row(nil), row...)
	change(row)
	return e.Cat.Update(catalog.PgTablespace, row)
}

// ownerOfTablespace carries out ALTER TABLESPACE ... OWNER TO.
func (e *Env) ownerOfTablespace(name string, owner OID) error {
	t, err := e.ownTablespace(name)
	if err != nil {
		return err
	}
	return e.ownRow(catalog.PgTablespace, t.OID, catalog.TablespaceSpcowner, owner)
}

// alterTablespaceOptions carries out ALTER TABLESPACE ... SET and RESET.
func (e *Env) alterTablespaceOptions(n *pg_query.AlterTableSpaceOptionsStmt) error {
	t, err := e.ownTablespace(n.Tablespacename)
	if err != nil {
		return err
	}
	options, err := changeOptions(t.Options, n.Options, n.IsReset)
	if err != nil {
		return err
	}
	return e.updateTablespace(t.OID, func(row catalog.Row) {
		row[catalog.TablespaceSpcoptions] = newRow(1)[0]
		if len(options) > 0 {
			row[catalog.TablespaceSpcoptions] = catalog.TextArrayDatum(options)
		}
	})
}

// tablespaceOptions are the planner's; they are kept, and shown by \db+.
var tablespaceOptions = map[string]struct {
	float bool
	max   float64
}{
	"seq_page_cost": {true, 1e10}, "random_page_cost": {true, 1e10},
	"effective_io_concurrency": {false, 1000}, "maintenance_io_concurrency": {false, 1000},
}

func changeOptions(have []string, list []*pg_query.Node, reset bool) ([]string, error) {
	options := append([]string(nil), have...)
	for _, o := range list {
		d := o.GetDefElem()
		name := strings.ToLower(d.Defname)
		kind, ok := tablespaceOptions[name]
		if !ok {
			return nil, pgerr.New(pgerr.InvalidParameterValue, "unrecognized parameter \"%s\"", name)
		}
		at := -1
		for i, have := range options {
			if n, _, _ := strings.Cut(have, "="); n == name {
				at = i
			}
		}
		if at >= 0 {
			options = append(options[:at], options[at+1:]...)
		}
		if reset {
			continue
		}
		value := optionText(d.Arg)
		if err := checkTablespaceOption(name, value, kind.float, kind.max); err != nil {
			return nil, err
		}
		options = append(options, name+"="+value)
	}
	return options, nil
}

func checkTablespaceOption(name, value string, float bool, limit float64) error {
	v, err := strconv.ParseFloat(value, 64)
	kind := "floating point"
	if !float {
		kind = "integer"
		var n int64
		n, err = strconv.ParseInt(value, 10, 32)
		v = float64(n)
	}
	if err != nil {
		return pgerr.New(pgerr.InvalidParameterValue, "invalid value for %s option \"%s\": %s", kind, name, value)
	}
	if v >= 0 && v <= limit {
		return nil
	}
	low, high := "0", strconv.FormatFloat(limit, 'f', -1, 64)
	if float {
		low, high = "0.000000", high+".000000"
	}
	return pgerr.New(pgerr.InvalidParameterValue, "value %s out of bounds for option \"%s\"", value, name).
		WithDetail("Valid values are between \"%s\" and \"%s\".", low, high)
}

// newTablespace is the tablespace of a relation to be made: the one named, else default_tablespace. 0
// stands for the database's own. It cannot be dropped until the transaction ends.
func (e *Env) newTablespace(name string, persistence byte) (OID, error) {
	byDefault := name == ""
	if byDefault {
		name = e.Host.DefaultTablespace()
		if name == "" || persistence == catalog.Temporary {
			return 0, nil
		}
	}
	t, err := e.Cat.TablespaceByName(name)
	switch {
	case err != nil:
		return 0, err
	case t == nil && byDefault:
		return 0, nil // as PostgreSQL: it was there when the setting was made
	case t == nil:
		return 0, pgerr.New(pgerr.UndefinedObject, "tablespace \"%s\" does not exist", name)
	}
	return e.useTablespace(t)
}

// useTablespace checks that the user may put a relation into t.
func (e *Env) useTablespace(t *catalog.Tablespace) (OID, error) {
	switch {
	case t.OID == catalog.TablespaceDefault: // the database's own
		return 0, nil
	case !e.mayCreateIn(t):
		return 0, pgerr.New(pgerr.InsufficientPrivilege, "permission denied for tablespace %s", t.Name)
	case t.OID == catalog.TablespaceGlobal:
		return 0, pgerr.New(pgerr.InvalidParameterValue, "only shared relations can be placed in pg_global tablespace")
	}
	if err := e.lockTablespace(t.OID, locks.AccessShare); err != nil {
		return 0, err
	}
	now, err := e.Cat.TablespaceByOID(t.OID)
	if err == nil && now == nil {
		err = pgerr.New(pgerr.UndefinedObject, "tablespace \"%s\" does not exist", t.Name)
	}
	return t.OID, err
}

func (e *Env) mayCreateIn(t *catalog.Tablespace) bool {
	u := e.Host.User()
	if u.Super || u.OID == t.Owner {
		return true
	}
	privs, _ := catalog.ACLPrivileges(t.ACL, func(role OID) bool { return role == u.OID || role == 0 })
	return privs&catalog.AclCreate != 0
}

// setTablespace carries out ALTER TABLE, INDEX and so on ... SET TABLESPACE.
func (a *alteration) setTablespace(name string) error {
	t, err := a.e.tablespaceNamed(name)
	if err != nil {
		return err
	}
	if err := a.settle(); err != nil {
		return err
	}
	if err := a.e.moveFiles(a.old, t); err != nil {
		return err
	}
	a.old, err = a.rel()
	return err
}

// moveFiles moves a relation into a tablespace, and the TOAST table of a table with it.
func (e *Env) moveFiles(rel *catalog.Relation, t *catalog.Tablespace) error {
	switch rel.Kind {
	case catalog.KindTable, catalog.KindIndex, catalog.KindMatView, catalog.KindToast, catalog.KindSequence:
	default:
		return pgerr.New(pgerr.WrongObjectType, "ALTER action SET TABLESPACE cannot be performed on relation \"%s\"", rel.Name).
			WithDetail("This operation is not supported for %s.", rel.Kind.Plural())
	}
	space, err := e.useTablespace(t)
	if err != nil || space == rel.Tablespace {
		return err
	}
	if err := e.Session.MoveRelation(e.Ctx, rel, space); err != nil {
		return err
	}
	if rel.Toast == 0 {
		return nil
	}
	toast, err := e.Cat.RelationByOID(rel.Toast)
	if err != nil {
		return err
	}
	for _, idx := range toast.Indexes {
		index, err := e.Cat.RelationByOID(idx.OID)
		if err != nil {
			return err
		}
		if err := e.Session.MoveRelation(e.Ctx, index, space); err != nil {
			return err
		}
	}
	return e.Session.MoveRelation(e.Ctx, toast, space)
}

// moveAll carries out ALTER TABLE, INDEX or MATERIALIZED VIEW ALL IN TABLESPACE.
func (e *Env) moveAll(n *pg_query.AlterTableMoveAllStmt) (string, error) {
	kinds := map[pg_query.ObjectType]struct {
		kind catalog.RelKind
		tag  string
	}{
		pg_query.ObjectType_OBJECT_TABLE:   {catalog.KindTable, "ALTER TABLE"},
		pg_query.ObjectType_OBJECT_INDEX:   {catalog.KindIndex, "ALTER INDEX"},
		pg_query.ObjectType_OBJECT_MATVIEW: {catalog.KindMatView, "ALTER MATERIALIZED VIEW"},
	}
	k := kinds[n.Objtype]
	owners := make(map[OID]bool)
	for _, r := range n.Roles {
		role, err := e.role(r.GetRoleSpec())
		if err != nil {
			return "", err
		}
		owners[role.OID] = true
	}
	from, err := e.tablespaceNamed(n.OrigTablespacename)
	if err != nil {
		return "", err
	}
	to, err := e.tablespaceNamed(n.NewTablespacename)
	if err != nil {
		return "", err
	}
	if from.OID == catalog.TablespaceGlobal || to.OID == catalog.TablespaceGlobal {
		return "", pgerr.New(pgerr.ObjectNotInPrerequisiteState, "cannot move relations in to or out of pg_global tablespace")
	}
	rels, err := e.relationsIn(from, k.kind, owners)
	if err != nil {
		return "", err
	}
	if len(rels) == 0 {
		e.notice(pgerr.NoDataFound, "no matching relations in tablespace \"%s\" found", from.Name)
	}
	for _, rel := range rels {
		err := e.checkOwner(rel.Owner, "table", rel)
		if err == nil {
			err = e.lockToMove(rel, n.Nowait)
		}
		if err == nil {
			err = e.moveFiles(rel, to)
		}
		if err != nil {
			return "", err
		}
	}
	return k.tag, nil
}

func (e *Env) lockToMove(rel *catalog.Relation, noWait bool) error {
	opts := e.Host.LockOptions()
	opts.NoWait = noWait
	tag := locks.RelationTag(uint32(e.Session.Database()), uint32(rel.OID))
	err := e.Session.Locks().Lock(e.Ctx, tag, locks.AccessExclusive, opts)
	if pgerr.HasCode(err, pgerr.LockNotAvailable) && noWait {
		ns, nerr := e.Cat.NamespaceByOID(rel.Namespace)
		if nerr != nil {
			return nerr
		}
		return pgerr.New(pgerr.LockNotAvailable, "aborting because lock on relation \"%s.%s\" is not available", ns.Name, rel.Name)
	}
	return err
}

// relationsIn lists the relations of a kind in a tablespace, of some owners or, with none given, all.
func (e *Env) relationsIn(t *catalog.Tablespace, kind catalog.RelKind, owners map[OID]bool) ([]*catalog.Relation, error) {
	space := t.OID
	if space == catalog.TablespaceDefault {
		space = 0
	}
	rows, err := e.Cat.Rows(catalog.PgClass)
	if err != nil {
		return nil, err
	}
	var rels []*catalog.Relation
	for _, row := range rows {
		oid := row[catalog.ClassOid].OID()
		if oid < catalog.FirstNormalOID || row[catalog.ClassReltablespace].OID() != space ||
			catalog.RelKind(row[catalog.ClassRelkind].W) != kind || row[catalog.ClassRelnamespace].OID() == catalog.NamespacePgToast ||
			len(owners) > 0 && !owners[row[catalog.ClassRelowner].OID()] {
			continue
		}
		rel, err := e.Cat.RelationByOID(oid)
		if err != nil {
			return nil, err
		}
		rels = append(rels, rel)
	}
	return rels, nil
}
