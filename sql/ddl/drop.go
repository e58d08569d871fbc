package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

func fileD(f storage.RelFile) types.Datum { return types.Uint64Datum(uint64(f.Number)) }

// dropKinds are the relations DROP handles: their kind, their name in messages and their tag.
var dropKinds = map[pg_query.ObjectType]struct {
	kind      catalog.RelKind
	name, tag string
	hint      string
}{
	pg_query.ObjectType_OBJECT_TABLE:    {catalog.KindTable, "table", "DROP TABLE", "Use DROP TABLE to remove a table."},
	pg_query.ObjectType_OBJECT_INDEX:    {catalog.KindIndex, "index", "DROP INDEX", "Use DROP INDEX to remove an index."},
	pg_query.ObjectType_OBJECT_SEQUENCE: {catalog.KindSequence, "sequence", "DROP SEQUENCE", "Use DROP SEQUENCE to remove a sequence."},
	pg_query.ObjectType_OBJECT_VIEW:     {catalog.KindView, "view", "DROP VIEW", "Use DROP VIEW to remove a view."},
}

// drop carries out DROP TABLE, INDEX, SEQUENCE, VIEW and SCHEMA.
func (e *Env) drop(n *pg_query.DropStmt) (string, error) {
	cascade := n.Behavior == pg_query.DropBehavior_DROP_CASCADE
	if n.RemoveType == pg_query.ObjectType_OBJECT_SCHEMA {
		return "DROP SCHEMA", e.dropSchemas(n, cascade)
	}
	k, ok := dropKinds[n.RemoveType]
	if !ok {
		return "", e.dropOther(n)
	}
	if n.Concurrent {
		if err := e.Host.PreventInBlock("DROP INDEX CONCURRENTLY"); err != nil {
			return "", err
		}
	}
	var targets []catalog.Object
	for _, o := range n.Objects {
		rv := rangeVar(o)
		rel, err := e.dropTarget(rv, n.MissingOk, k.name)
		if err != nil {
			return "", err
		}
		if rel == nil {
			continue
		}
		if rel.Kind != k.kind {
			return "", e.wrongKind(rel, k.name)
		}
		targets = append(targets, catalog.Object{Class: catalog.PgClass, OID: rel.OID})
	}
	return k.tag, e.dropObjects(targets, cascade)
}

// dropOther answers for the kinds of objects there can be none of.
func (e *Env) dropOther(n *pg_query.DropStmt) error {
	if !n.MissingOk {
		return unsupported("DROP of this kind of object is not supported")
	}
	for _, o := range n.Objects {
		name := "object"
		if items := o.GetList().GetItems(); len(items) > 0 {
			name = items[len(items)-1].GetString_().GetSval()
		} else if s := o.GetString_(); s != nil {
			name = s.Sval
		}
		e.notice(pgerr.SuccessfulCompletion, "\"%s\" does not exist, skipping", name)
	}
	return nil
}

func (e *Env) wrongKind(rel *catalog.Relation, want string) error {
	err := pgerr.New(pgerr.WrongObjectType, "\"%s\" is not %s %s", rel.Name, article(want), want)
	for _, k := range dropKinds {
		if k.kind == rel.Kind {
			err = err.WithHint("%s", k.hint)
		}
	}
	return err
}

func article(noun string) string {
	if noun[0] == 'i' {
		return "an"
	}
	return "a"
}

// rangeVar makes a RangeVar of a list of names.
func rangeVar(o *pg_query.Node) *pg_query.RangeVar {
	items := o.GetList().GetItems()
	rv := &pg_query.RangeVar{Relname: items[len(items)-1].GetString_().GetSval()}
	if len(items) > 1 {
		rv.Schemaname = items[len(items)-2].GetString_().GetSval()
	}
	if len(items) > 2 {
		rv.Catalogname = items[len(items)-3].GetString_().GetSval()
	}
	return rv
}

// dropTarget finds and locks what is to be dropped; nil where IF EXISTS lets it be missing.
func (e *Env) dropTarget(rv *pg_query.RangeVar, missingOK bool, kind string) (*catalog.Relation, error) {
	if rv.Schemaname != "" {
		ns, err := e.Host.Schema(rv.Schemaname)
		if err != nil {
			return nil, err
		}
		if ns == 0 {
			if missingOK {
				e.notice(pgerr.SuccessfulCompletion, "schema \"%s\" does not exist, skipping", rv.Schemaname)
				return nil, nil
			}
			return nil, pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", rv.Schemaname)
		}
	}
	rel, err := e.findRelation(rv)
	if err != nil {
		return nil, err
	}
	if rel != nil && !rel.System {
		lockOn := rel.OID
		if rel.Kind == catalog.KindIndex {
			if err := e.lock(rel.Index.Table, locks.AccessExclusive); err != nil {
				return nil, err
			}
		}
		if err := e.lock(lockOn, locks.AccessExclusive); err != nil {
			return nil, err
		}
		if rel, err = e.Cat.RelationByOID(rel.OID); err != nil {
			return nil, err
		}
	}
	if rel == nil {
		if missingOK {
			e.notice(pgerr.SuccessfulCompletion, "%s \"%s\" does not exist, skipping", kind, rv.Relname)
			return nil, nil
		}
		code := pgerr.UndefinedTable
		if kind == "index" {
			code = pgerr.UndefinedObject
		}
		return nil, pgerr.New(code, "%s \"%s\" does not exist", kind, rangeName(rv))
	}
	if rel.System {
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rel.Name)
	}
	return rel, e.checkOwner(rel.Owner, kind, rel)
}

// dropObjects drops objects and what depends on them.
func (e *Env) dropObjects(targets []catalog.Object, cascade bool) error {
	if len(targets) == 0 {
		return nil
	}
	list, err := e.Cat.Drops(targets, cascade, e.Host.SearchPath())
	if err != nil {
		return err
	}
	if n := list.Notice(); n != nil {
		e.Host.Notice(n)
	}
	for _, o := range list.Objects {
		if err := e.dropObject(o); err != nil {
			return err
		}
	}
	return nil
}

// dropObject removes one object's rows and files.
func (e *Env) dropObject(o catalog.Object) error {
	var err error
	switch o.Class {
	case catalog.PgClass:
		if o.Sub != 0 {
			err = e.removeColumn(o.OID, int16(o.Sub))
		} else {
			err = e.removeRelation(o.OID)
		}
	case catalog.PgConstraint:
		err = e.removeConstraint(o.OID)
	case catalog.PgAttrdef:
		err = e.removeDefault(o.OID)
	case catalog.PgRewrite, catalog.PgTrigger, catalog.PgPolicy:
		_, err = e.Cat.DeleteWhere(o.Class, catalog.Eq{Col: 0, Value: oidD(o.OID)})
	default:
		_, err = e.Cat.DeleteWhere(o.Class, catalog.Eq{Col: 0, Value: oidD(o.OID)})
	}
	if err != nil {
		return err
	}
	if err := e.Cat.DeleteDependencies(o); err != nil {
		return err
	}
	return e.dropComments(o)
}

func (e *Env) dropComments(o catalog.Object) error {
	eq := []catalog.Eq{
		{Col: catalog.DescriptionObjoid, Value: oidD(o.OID)}, {Col: catalog.DescriptionClassoid, Value: oidD(o.Class)},
	}
	if o.Sub != 0 {
		eq = append(eq, catalog.Eq{Col: catalog.DescriptionObjsubid, Value: intD(o.Sub)})
	}
	_, err := e.Cat.DeleteWhere(catalog.PgDescription, eq...)
	return err
}

// removeRelation removes the rows of a relation; its files go when the transaction commits.
func (e *Env) removeRelation(oid OID) error {
	if err := e.lock(oid, locks.AccessExclusive); err != nil {
		return err
	}
	rel, err := e.Cat.RelationByOID(oid)
	if err != nil || rel == nil {
		return err
	}
	if rel.Kind == catalog.KindIndex {
		if err := e.removeIndexRow(rel); err != nil {
			return err
		}
	}
	if rel.Kind.HasStorage() {
		e.Session.DropRelationFile(rel.File)
	}
	if rel.Kind == catalog.KindSequence {
		if _, err := e.Cat.DeleteWhere(catalog.PgSequence, catalog.Eq{Col: catalog.SequenceSeqrelid, Value: oidD(oid)}); err != nil {
			return err
		}
	}
	for _, d := range []struct {
		rel OID
		col int
	}{
		{catalog.PgAttribute, catalog.AttributeAttrelid},
		{catalog.PgStatistic, catalog.StatisticStarelid},
		{catalog.PgClass, catalog.ClassOid},
	} {
		if _, err := e.Cat.DeleteWhere(d.rel, catalog.Eq{Col: d.col, Value: oidD(oid)}); err != nil {
			return err
		}
	}
	return nil
}

func (e *Env) removeIndexRow(rel *catalog.Relation) error {
	_, err := e.Cat.DeleteWhere(catalog.PgIndex, catalog.Eq{Col: catalog.IndexIndexrelid, Value: oidD(rel.OID)})
	return err
}

func (e *Env) removeConstraint(oid OID) error {
	row, err := e.Cat.Get(catalog.PgConstraint, oidD(oid))
	if err != nil || row == nil {
		return err
	}
	table := row[catalog.ConstraintConrelid].OID()
	check := row[catalog.ConstraintContype].W == uint64(catalog.ConstraintCheck)
	if err := e.Cat.Delete(catalog.PgConstraint, row); err != nil {
		return err
	}
	if !check || table == 0 {
		return nil
	}
	class, err := e.Cat.Get(catalog.PgClass, oidD(table))
	if err != nil || class == nil {
		return err
	}
	return e.updateClass(table, func(row catalog.Row) {
		row[catalog.ClassRelchecks] = intD(row[catalog.ClassRelchecks].Int64() - 1)
	})
}

func (e *Env) removeDefault(oid OID) error {
	row, err := e.Cat.Get(catalog.PgAttrdef, oidD(oid))
	if err != nil || row == nil {
		return err
	}
	rel, num := row[catalog.AttrdefAdrelid].OID(), int16(row[catalog.AttrdefAdnum].Int64())
	if err := e.Cat.Delete(catalog.PgAttrdef, row); err != nil {
		return err
	}
	att, err := e.Cat.Get(catalog.PgAttribute, oidD(rel), intD(num))
	if err != nil || att == nil || att[catalog.AttributeAttisdropped].Bool() {
		return err
	}
	return e.updateAttribute(rel, num, func(row catalog.Row) { row[catalog.AttributeAtthasdef] = boolD(false) })
}

// removeColumn marks a column dropped; rows keep its values until they are rewritten.
func (e *Env) removeColumn(rel OID, num int16) error {
	if _, err := e.Cat.DeleteWhere(catalog.PgStatistic,
		catalog.Eq{Col: catalog.StatisticStarelid, Value: oidD(rel)},
		catalog.Eq{Col: catalog.StatisticStaattnum, Value: intD(num)}); err != nil {
		return err
	}
	return e.updateAttribute(rel, num, func(row catalog.Row) {
		row[catalog.AttributeAttname] = textD("........pg.dropped." + itoa(int(num)) + "........")
		row[catalog.AttributeAtttypid] = oidD(0)
		row[catalog.AttributeAttnotnull] = boolD(false)
		row[catalog.AttributeAtthasdef] = boolD(false)
		row[catalog.AttributeAtthasmissing] = boolD(false)
		row[catalog.AttributeAttmissingval] = types.NullDatum
		row[catalog.AttributeAttidentity] = charD(0)
		row[catalog.AttributeAttgenerated] = charD(0)
		row[catalog.AttributeAttisdropped] = boolD(true)
		row[catalog.AttributeAttstattarget] = intD(0)
	})
}

// truncate carries out TRUNCATE: new empty files.
func (e *Env) truncate(n *pg_query.TruncateStmt) error {
	seen := make(map[OID]bool)
	for _, r := range n.Relations {
		rel, err := e.openRelation(r.GetRangeVar(), locks.AccessExclusive)
		if err != nil {
			return err
		}
		if rel.Kind != catalog.KindTable {
			return pgerr.New(pgerr.WrongObjectType, "\"%s\" is not a table", rel.Name)
		}
		if seen[rel.OID] {
			continue
		}
		seen[rel.OID] = true
		if rel, err = e.lockIndexes(rel); err != nil {
			return err
		}
		if err := e.Session.NewStorage(e.Ctx, rel); err != nil {
			return err
		}
		if !n.RestartSeqs {
			continue
		}
		seqs, err := e.Cat.OwnedSequences(rel.OID, 0)
		if err != nil {
			return err
		}
		for _, oid := range seqs {
			if err := e.restartSequence(oid, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
