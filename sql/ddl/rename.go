package ddl

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
)

// rename carries out ALTER ... RENAME.
func (e *Env) rename(n *pg_query.RenameStmt) (string, error) {
	switch n.RenameType {
	case pg_query.ObjectType_OBJECT_TABLE:
		return "ALTER TABLE", e.renameRelation(n, "table")
	case pg_query.ObjectType_OBJECT_INDEX:
		return "ALTER INDEX", e.renameRelation(n, "index")
	case pg_query.ObjectType_OBJECT_SEQUENCE:
		return "ALTER SEQUENCE", e.renameRelation(n, "sequence")
	case pg_query.ObjectType_OBJECT_COLUMN:
		return "ALTER TABLE", e.renameColumn(n)
	case pg_query.ObjectType_OBJECT_TABCONSTRAINT:
		return "ALTER TABLE", e.renameConstraint(n)
	case pg_query.ObjectType_OBJECT_SCHEMA:
		return "ALTER SCHEMA", e.renameSchema(n)
	case pg_query.ObjectType_OBJECT_DATABASE:
		return "ALTER DATABASE", e.renameDatabase(n)
	case pg_query.ObjectType_OBJECT_TABLESPACE:
		return "ALTER TABLESPACE", e.renameTablespace(n)
	}
	return "", unsupported("RENAME of this kind of object is not supported")
}

// renameTarget opens the relation of a RENAME; nil where IF EXISTS lets it be missing.
func (e *Env) renameTarget(n *pg_query.RenameStmt) (*catalog.Relation, error) {
	rel, err := e.findRelation(n.Relation)
	if err != nil {
		return nil, err
	}
	if rel == nil && n.MissingOk {
		e.notice(pgerr.SuccessfulCompletion, "relation \"%s\" does not exist, skipping", n.Relation.Relname)
		return nil, nil
	}
	return e.openRelation(n.Relation, locks.AccessExclusive)
}

func (e *Env) renameRelation(n *pg_query.RenameStmt, kind string) error {
	rel, err := e.renameTarget(n)
	if err != nil || rel == nil {
		return err
	}
	want := map[string]catalog.RelKind{"index": catalog.KindIndex, "sequence": catalog.KindSequence}
	if k, ok := want[kind]; ok && rel.Kind != k {
		return pgerr.New(pgerr.WrongObjectType, "\"%s\" is not %s %s", rel.Name, article(kind), kind)
	}
	return e.setRelationName(rel, n.Newname)
}

// setRelationName renames a relation with its row type and, for the index of a constraint, the constraint.
func (e *Env) setRelationName(rel *catalog.Relation, name string) error {
	name = truncateName(name)
	if err := e.lockName(catalog.PgClass, rel.Namespace, name); err != nil {
		return err
	}
	if old, err := e.Cat.RelationOID(rel.Namespace, name); err != nil {
		return err
	} else if old != 0 {
		return pgerr.New(pgerr.DuplicateTable, "relation \"%s\" already exists", name)
	}
	if err := e.updateClass(rel.OID, func(row catalog.Row) { row[catalog.ClassRelname] = textD(name) }); err != nil {
		return err
	}
	if rel.Index != nil && rel.Index.Constraint != 0 {
		return e.updateConstraint(rel.Index.Constraint, func(row catalog.Row) { row[catalog.ConstraintConname] = textD(name) })
	}
	if rel.Type == 0 {
		return nil
	}
	if err := e.typeNameFree(rel.Namespace, name); err != nil {
		return err
	}
	row, err := e.Cat.Get(catalog.PgType, oidD(rel.Type))
	if err != nil || row == nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	row[catalog.TypeTypname] = textD(name)
	array := row[catalog.TypeTyparray].OID()
	if err := e.Cat.Update(catalog.PgType, row); err != nil || array == 0 {
		return err
	}
	arrayName, err := e.arrayTypeName(rel.Namespace, name)
	if err != nil {
		return err
	}
	if row, err = e.Cat.Get(catalog.PgType, oidD(array)); err != nil || row == nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	row[catalog.TypeTypname] = textD(arrayName)
	return e.Cat.Update(catalog.PgType, row)
}

func (e *Env) updateConstraint(oid OID, change func(row catalog.Row)) error {
	row, err := e.Cat.Get(catalog.PgConstraint, oidD(oid))
	if err != nil || row == nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	change(row)
	return e.Cat.Update(catalog.PgConstraint, row)
}

func (e *Env) renameColumn(n *pg_query.RenameStmt) error {
	rel, err := e.renameTarget(n)
	if err != nil || rel == nil {
		return err
	}
	a := &alteration{e: e, table: rel.OID, old: rel}
	_, att, err := a.attr(n.Subname)
	if pgerr.HasCode(err, pgerr.UndefinedColumn) {
		return pgerr.New(pgerr.UndefinedColumn, "column \"%s\" does not exist", n.Subname)
	}
	if err != nil {
		return err
	}
	name := truncateName(n.Newname)
	if rel.AttrByName(name) != nil {
		return pgerr.New(pgerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", name, rel.Name)
	}
	if _, num := catalog.SystemAttr(name); num != 0 {
		return pgerr.New(pgerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", name)
	}
	exprs, err := e.readExprs(rel)
	if err != nil {
		return err
	}
	if err := e.updateAttribute(rel.OID, att.Num, func(row catalog.Row) { row[catalog.AttributeAttname] = textD(name) }); err != nil {
		return err
	}
	for _, x := range rel.Indexes {
		for i, k := range x.Keys {
			if k.AttNum != att.Num {
				continue
			}
			if err := e.updateAttribute(x.OID, int16(i+1), func(row catalog.Row) { row[catalog.AttributeAttname] = textD(name) }); err != nil {
				return err
			}
		}
	}
	return exprs.restore()
}

func (e *Env) renameConstraint(n *pg_query.RenameStmt) error {
	rel, err := e.renameTarget(n)
	if err != nil || rel == nil {
		return err
	}
	for _, c := range rel.Constraints {
		if c.Name != n.Subname {
			continue
		}
		if c.Index != 0 && (c.Kind == catalog.ConstraintPrimary || c.Kind == catalog.ConstraintUnique) {
			idx, err := e.Cat.RelationByOID(c.Index)
			if err != nil {
				return err
			}
			return e.setRelationName(idx, n.Newname)
		}
		if err := e.constraintFree(rel, n.Newname); err != nil {
			return err
		}
		return e.updateConstraint(c.OID, func(row catalog.Row) { row[catalog.ConstraintConname] = textD(truncateName(n.Newname)) })
	}
	return pgerr.New(pgerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", n.Subname, rel.Name)
}

func (e *Env) renameSchema(n *pg_query.RenameStmt) error {
	ns, err := e.Cat.NamespaceByName(n.Subname)
	if err != nil {
		return err
	}
	if ns == nil {
		return pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", n.Subname)
	}
	if strings.HasPrefix(n.Newname, "pg_") {
		return pgerr.New(pgerr.ReservedName, "unacceptable schema name \"%s\"", n.Newname).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	if err := e.lockName(catalog.PgNamespace, 0, n.Newname); err != nil {
		return err
	}
	if old, err := e.Cat.NamespaceByName(n.Newname); err != nil || old != nil {
		if err == nil {
			err = pgerr.New(pgerr.DuplicateSchema, "schema \"%s\" already exists", n.Newname)
		}
		return err
	}
	row, err := e.Cat.Get(catalog.PgNamespace, oidD(ns.OID))
	if err != nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	row[catalog.NamespaceNspname] = textD(truncateName(n.Newname))
	return e.Cat.Update(catalog.PgNamespace, row)
}

func (e *Env) renameDatabase(n *pg_query.RenameStmt) error {
	db, err := e.database(n.Subname)
	if err != nil {
		return err
	}
	if db.OID == e.Session.Database() {
		return unsupported("current database cannot be renamed")
	}
	if k := e.Host.DatabaseInUse(db.OID); k > 0 {
		return pgerr.New(pgerr.ObjectInUse, "database \"%s\" is being accessed by other users", db.Name).
			WithDetail("%s", usersDetail(k))
	}
	if old, err := e.Cat.DatabaseByName(n.Newname); err != nil || old != nil {
		if err == nil {
			err = pgerr.New(pgerr.DuplicateDatabase, "database \"%s\" already exists", n.Newname)
		}
		return err
	}
	row, err := e.Cat.Get(catalog.PgDatabase, oidD(db.OID))
	if err != nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	row[catalog.DatabaseDatname] = textD(truncateName(n.Newname))
	return e.Cat.Update(catalog.PgDatabase, row)
}

// setSchema carries out ALTER TABLE and SEQUENCE ... SET SCHEMA.
func (e *Env) setSchema(n *pg_query.AlterObjectSchemaStmt) (string, error) {
	tags := map[pg_query.ObjectType]string{
		pg_query.ObjectType_OBJECT_TABLE: "ALTER TABLE", pg_query.ObjectType_OBJECT_SEQUENCE: "ALTER SEQUENCE",
	}
	tag, ok := tags[n.ObjectType]
	if !ok {
		return "", unsupported("SET SCHEMA of this kind of object is not supported")
	}
	rel, err := e.openRelation(n.Relation, locks.AccessExclusive)
	if err != nil {
		return "", err
	}
	ns, err := e.Host.Schema(n.Newschema)
	if err != nil {
		return "", err
	}
	if ns == 0 {
		return "", pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", n.Newschema)
	}
	if ns == rel.Namespace {
		return tag, nil
	}
	if err := e.moveRelation(rel, ns, n.Newschema); err != nil {
		return "", err
	}
	seqs, err := e.Cat.OwnedSequences(rel.OID, 0)
	if err != nil {
		return "", err
	}
	for _, oid := range seqs {
		seq, err := e.Cat.RelationByOID(oid)
		if err != nil {
			return "", err
		}
		if err := e.moveRelation(seq, ns, n.Newschema); err != nil {
			return "", err
		}
	}
	return tag, nil
}

func (e *Env) moveRelation(rel *catalog.Relation, ns OID, schema string) error {
	if old, err := e.Cat.RelationOID(ns, rel.Name); err != nil {
		return err
	} else if old != 0 {
		return pgerr.New(pgerr.DuplicateTable, "relation \"%s\" already exists in schema \"%s\"", rel.Name, schema)
	}
	oids := []OID{rel.OID}
	for _, x := range rel.Indexes {
		oids = append(oids, x.OID)
	}
	for _, oid := range oids {
		if err := e.updateClass(oid, func(row catalog.Row) { row[catalog.ClassRelnamespace] = oidD(ns) }); err != nil {
			return err
		}
	}
	for _, c := range rel.Constraints {
		if err := e.updateConstraint(c.OID, func(row catalog.Row) { row[catalog.ConstraintConnamespace] = oidD(ns) }); err != nil {
			return err
		}
	}
	if rel.Type != 0 {
		if err := e.moveType(rel.Type, ns); err != nil {
			return err
		}
	}
	self := catalog.Object{Class: catalog.PgClass, OID: rel.OID}
	if _, err := e.Cat.DeleteDependenciesOn(self, catalog.PgNamespace, catalog.DepNormal); err != nil {
		return err
	}
	return e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgNamespace, OID: ns}, catalog.DepNormal)
}

func (e *Env) moveType(typ, ns OID) error {
	row, err := e.Cat.Get(catalog.PgType, oidD(typ))
	if err != nil || row == nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	row[catalog.TypeTypnamespace] = oidD(ns)
	array := row[catalog.TypeTyparray].OID()
	if err := e.Cat.Update(catalog.PgType, row); err != nil || array == 0 {
		return err
	}
	return e.moveType(array, ns)
}

// setOwner carries out ALTER SCHEMA and DATABASE ... OWNER TO.
func (e *Env) setOwner(n *pg_query.AlterOwnerStmt) (string, error) {
	role, err := e.role(n.Newowner)
	if err != nil {
		return "", err
	}
	name := n.Object.GetString_().GetSval()
	switch n.ObjectType {
	case pg_query.ObjectType_OBJECT_SCHEMA:
		ns, err := e.Cat.NamespaceByName(name)
		if err != nil {
			return "", err
		}
		if ns == nil {
			return "", pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", name)
		}
		return "ALTER SCHEMA", e.ownRow(catalog.PgNamespace, ns.OID, catalog.NamespaceNspowner, role.OID)
	case pg_query.ObjectType_OBJECT_DATABASE:
		db, err := e.database(name)
		if err != nil {
			return "", err
		}
		return "ALTER DATABASE", e.ownRow(catalog.PgDatabase, db.OID, catalog.DatabaseDatdba, role.OID)
	case pg_query.ObjectType_OBJECT_TABLESPACE:
		return "ALTER TABLESPACE", e.ownerOfTablespace(name, role.OID)
	}
	return "", unsupported("OWNER TO of this kind of object is not supported")
}

func (e *Env) ownRow(class, oid OID, col int, role OID) error {
	row, err := e.Cat.Get(class, oidD(oid))
	if err != nil || row == nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	row[col] = oidD(role)
	if err := e.Cat.Update(class, row); err != nil {
		return err
	}
	return e.Cat.SetOwner(catalog.Object{Class: class, OID: oid}, role)
}

// changeOwner gives a relation, with its indexes, types and owned sequences, to a role.
func (e *Env) changeOwner(table, role OID) error {
	rel, err := e.Cat.RelationByOID(table)
	if err != nil {
		return err
	}
	oids := []OID{table}
	for _, x := range rel.Indexes {
		oids = append(oids, x.OID)
	}
	if rel.Toast != 0 {
		oids = append(oids, rel.Toast, rel.ToastIdx)
	}
	seqs, err := e.Cat.OwnedSequences(table, 0)
	if err != nil {
		return err
	}
	for _, oid := range append(oids, seqs...) {
		if err := e.ownRow(catalog.PgClass, oid, catalog.ClassRelowner, role); err != nil {
			return err
		}
	}
	if rel.Type == 0 {
		return nil
	}
	return e.ownRow(catalog.PgType, rel.Type, catalog.TypeTypowner, role)
}
