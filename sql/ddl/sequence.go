package ddl

import (
	"math"
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// createSequence carries out CREATE SEQUENCE.
func (e *Env) createSequence(n *pg_query.CreateSeqStmt) error {
	schema, err := e.withoutText().creationSchema(n.Sequence)
	if err != nil {
		return err
	}
	name := n.Sequence.Relname
	if err := e.lockName(catalog.PgClass, schema, name); err != nil {
		return err
	}
	if old, err := e.Cat.RelationOID(schema, name); err != nil {
		return err
	} else if old != 0 {
		if n.IfNotExists {
			e.notice(pgerr.DuplicateTable, "relation \"%s\" already exists, skipping", name)
			return nil
		}
		return pgerr.New(pgerr.DuplicateTable, "relation \"%s\" already exists", name)
	}
	oid, err := e.makeSequence(name, schema, persistenceOf(n.Sequence), e.Host.User().OID, types.Int8, n.Options)
	if err != nil {
		return err
	}
	return e.ownedBy(oid, n.Options)
}

// sequenceOptions are a sequence's parameters being worked out.
type sequenceOptions struct {
	catalog.Sequence
	restart    *int64
	hasRestart bool
}

var intRanges = map[OID][2]int64{
	types.Int2: {math.MinInt16, math.MaxInt16}, types.Int4: {math.MinInt32, math.MaxInt32},
	types.Int8: {math.MinInt64, math.MaxInt64},
}

// parse applies the options; old is the present state for ALTER, nil for CREATE.
func (e *Env) sequenceOptions(q *sequenceOptions, opts []*pg_query.Node, create bool) error {
	set := make(map[string]*pg_query.DefElem)
	for _, o := range opts {
		d := o.GetDefElem()
		if set[d.Defname] != nil {
			return e.at(pgerr.New(pgerr.SyntaxError, "conflicting or redundant options"), d.Location)
		}
		set[d.Defname] = d
	}
	if err := e.sequenceType(q, set["as"], create); err != nil {
		return err
	}
	if d := set["increment"]; d != nil {
		v, err := defInt(d)
		if err != nil {
			return err
		}
		if v == 0 {
			return pgerr.New(pgerr.InvalidParameterValue, "INCREMENT must not be zero")
		}
		q.Increment = v
	}
	if d := set["cycle"]; d != nil {
		q.Cycle = optionText(d.Arg) == "true"
	}
	if err := e.sequenceBounds(q, set, create); err != nil {
		return err
	}
	if d := set["start"]; d != nil {
		v, err := defInt(d)
		if err != nil {
			return err
		}
		q.Start = v
	} else if create {
		q.Start = q.Min
		if q.Increment < 0 {
			q.Start = q.Max
		}
	}
	if q.Start < q.Min {
		return pgerr.New(pgerr.InvalidParameterValue, "START value (%d) cannot be less than MINVALUE (%d)", q.Start, q.Min)
	}
	if q.Start > q.Max {
		return pgerr.New(pgerr.InvalidParameterValue, "START value (%d) cannot be greater than MAXVALUE (%d)", q.Start, q.Max)
	}
	if d := set["restart"]; d != nil {
		q.hasRestart = true
		if d.Arg != nil {
			v, err := defInt(d)
			if err != nil {
				return err
			}
			q.restart = &v
		}
	}
	if d := set["cache"]; d != nil {
		v, err := defInt(d)
		if err != nil {
			return err
		}
		if v <= 0 {
			return pgerr.New(pgerr.InvalidParameterValue, "CACHE (%d) must be greater than zero", v)
		}
		q.Cache = v
	}
	return nil
}

func defInt(d *pg_query.DefElem) (int64, error) {
	v, err := strconv.ParseInt(optionText(d.Arg), 10, 64)
	if err != nil {
		return 0, pgerr.New(pgerr.NumericValueOutOfRange, "value \"%s\" is out of range for type bigint", optionText(d.Arg))
	}
	return v, nil
}

func (e *Env) sequenceType(q *sequenceOptions, d *pg_query.DefElem, create bool) error {
	if d == nil {
		return nil
	}
	typ, _, err := analyze.ResolveType(e.analysis(), d.Arg.GetTypeName(), e.Text)
	if err != nil {
		return err
	}
	r, ok := intRanges[typ]
	if !ok {
		return pgerr.New(pgerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint")
	}
	old := intRanges[q.Type]
	if !create {
		if q.Max == old[1] {
			q.Max = r[1]
		}
		if q.Min == old[0] {
			q.Min = r[0]
		}
	}
	q.Type = typ
	return nil
}

func (e *Env) sequenceBounds(q *sequenceOptions, set map[string]*pg_query.DefElem, create bool) error {
	r := intRanges[q.Type]
	bound := func(name string, to *int64, up, down int64) error {
		d := set[name]
		if d != nil && d.Arg != nil {
			v, err := defInt(d)
			*to = v
			return err
		}
		if create || d != nil {
			*to = up
			if q.Increment < 0 {
				*to = down
			}
		}
		return nil
	}
	if err := bound("maxvalue", &q.Max, r[1], -1); err != nil {
		return err
	}
	if err := bound("minvalue", &q.Min, 1, r[0]); err != nil {
		return err
	}
	name := typeText(e, q.Type)
	if q.Max < r[0] || q.Max > r[1] {
		return pgerr.New(pgerr.InvalidParameterValue, "MAXVALUE (%d) is out of range for sequence data type %s", q.Max, name)
	}
	if q.Min < r[0] || q.Min > r[1] {
		return pgerr.New(pgerr.InvalidParameterValue, "MINVALUE (%d) is out of range for sequence data type %s", q.Min, name)
	}
	if q.Min >= q.Max {
		return pgerr.New(pgerr.InvalidParameterValue, "MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	}
	return nil
}

// makeSequence makes a sequence and returns its OID.
func (e *Env) makeSequence(name string, schema OID, persistence byte, owner, typ OID, opts []*pg_query.Node) (OID, error) {
	if _, ok := intRanges[typ]; !ok {
		return 0, pgerr.New(pgerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint")
	}
	q := &sequenceOptions{Sequence: catalog.Sequence{Type: typ, Increment: 1, Cache: 1}}
	if err := e.sequenceOptions(q, opts, true); err != nil {
		return 0, err
	}
	oid, err := e.Cat.NewOID(catalog.PgClass)
	if err != nil {
		return 0, err
	}
	space, err := e.newTablespace("", persistence)
	if err != nil {
		return 0, err
	}
	file, err := e.Session.CreateRelationFile(e.Ctx, space, persistence)
	if err != nil {
		return 0, err
	}
	err = e.insertClass(&relation{
		oid: oid, name: name, schema: schema, kind: catalog.KindSequence, persistence: persistence, owner: owner,
		file: file, tablespace: space, natts: 3,
	})
	if err != nil {
		return 0, err
	}
	for i, c := range []column{
		{name: "last_value", typ: types.Int8, typmod: -1, notNull: true},
		{name: "log_cnt", typ: types.Int8, typmod: -1, notNull: true},
		{name: "is_called", typ: types.Bool, typmod: -1, notNull: true},
	} {
		c.num = int16(i + 1)
		if err := e.insertAttribute(oid, &c); err != nil {
			return 0, err
		}
	}
	q.OID = oid
	if err := e.Cat.Insert(catalog.PgSequence, sequenceRow(&q.Sequence)); err != nil {
		return 0, err
	}
	self := catalog.Object{Class: catalog.PgClass, OID: oid}
	if err := e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgNamespace, OID: schema}, catalog.DepNormal); err != nil {
		return 0, err
	}
	if err := e.Cat.SetOwner(self, owner); err != nil {
		return 0, err
	}
	rel, err := e.Cat.RelationByOID(oid)
	if err != nil {
		return 0, err
	}
	return oid, e.Session.InitSequence(e.Ctx, rel, q.Start, false)
}

func sequenceRow(q *catalog.Sequence) catalog.Row {
	row := newRow(catalog.SequenceSeqcycle + 1)
	row[catalog.SequenceSeqrelid] = oidD(q.OID)
	row[catalog.SequenceSeqtypid] = oidD(q.Type)
	row[catalog.SequenceSeqstart] = intD(q.Start)
	row[catalog.SequenceSeqincrement] = intD(q.Increment)
	row[catalog.SequenceSeqmax] = intD(q.Max)
	row[catalog.SequenceSeqmin] = intD(q.Min)
	row[catalog.SequenceSeqcache] = intD(q.Cache)
	row[catalog.SequenceSeqcycle] = boolD(q.Cycle)
	return row
}

// alterSequence carries out ALTER SEQUENCE.
func (e *Env) alterSequence(n *pg_query.AlterSeqStmt) error {
	rel, err := e.findRelation(n.Sequence)
	if err != nil {
		return err
	}
	if rel == nil && n.MissingOk {
		e.notice(pgerr.SuccessfulCompletion, "relation \"%s\" does not exist, skipping", n.Sequence.Relname)
		return nil
	}
	if rel, err = e.openRelation(n.Sequence, locks.ShareRowExclusive); err != nil {
		return err
	}
	if rel.Kind != catalog.KindSequence {
		return pgerr.New(pgerr.WrongObjectType, "\"%s\" is not a sequence", rel.Name)
	}
	if err := e.changeSequence(rel, n.Options); err != nil {
		return err
	}
	return e.ownedBy(rel.OID, n.Options)
}

// changeSequence applies options to a sequence that exists.
func (e *Env) changeSequence(rel *catalog.Relation, opts []*pg_query.Node) error {
	q := &sequenceOptions{Sequence: *rel.Sequence}
	if err := e.sequenceOptions(q, opts, false); err != nil {
		return err
	}
	last, _, called, err := e.Session.SequenceState(e.Ctx, rel)
	if err != nil {
		return err
	}
	if q.hasRestart {
		last, called = q.Start, false
		if q.restart != nil {
			last = *q.restart
		}
	}
	if last < q.Min {
		return pgerr.New(pgerr.InvalidParameterValue, "RESTART value (%d) cannot be less than MINVALUE (%d)", last, q.Min)
	}
	if last > q.Max {
		return pgerr.New(pgerr.InvalidParameterValue, "RESTART value (%d) cannot be greater than MAXVALUE (%d)", last, q.Max)
	}
	if err := e.Cat.Update(catalog.PgSequence, sequenceRow(&q.Sequence)); err != nil {
		return err
	}
	return e.newSequenceState(rel.OID, last, called)
}

// newSequenceState gives a sequence a new file with a state, so that a rollback keeps the old one.
func (e *Env) newSequenceState(oid OID, last int64, called bool) error {
	rel, err := e.Cat.RelationByOID(oid)
	if err != nil {
		return err
	}
	file, err := e.Session.CreateRelationFile(e.Ctx, rel.Tablespace, rel.Persistence)
	if err != nil {
		return err
	}
	e.Session.DropRelationFile(rel.File)
	if err := e.updateClass(oid, func(row catalog.Row) { row[catalog.ClassFileNumber] = fileD(file) }); err != nil {
		return err
	}
	if rel, err = e.Cat.RelationByOID(oid); err != nil {
		return err
	}
	return e.Session.InitSequence(e.Ctx, rel, last, called)
}

// restartSequence puts a sequence back to its start.
func (e *Env) restartSequence(oid OID, _ []*pg_query.Node) error {
	if err := e.lock(oid, locks.ShareRowExclusive); err != nil {
		return err
	}
	rel, err := e.Cat.RelationByOID(oid)
	if err != nil || rel == nil {
		return err
	}
	return e.newSequenceState(oid, rel.Sequence.Start, false)
}

// notIdentity refuses the sequence of an identity column, which is bound to it.
func (e *Env) notIdentity(seq OID) error {
	table, _, kind, err := e.Cat.SequenceOwner(seq)
	if err != nil || table == 0 || kind != catalog.DepInternal {
		return err
	}
	self, err := e.Cat.RelationByOID(seq)
	if err != nil {
		return err
	}
	owner, err := e.Cat.RelationByOID(table)
	if err != nil {
		return err
	}
	return pgerr.New(pgerr.FeatureNotSupported, "cannot change ownership of identity sequence").
		WithDetail("Sequence \"%s\" is linked to table \"%s\".", self.Name, owner.Name)
}

// ownedBy applies OWNED BY.
func (e *Env) ownedBy(seq OID, opts []*pg_query.Node) error {
	for _, o := range opts {
		d := o.GetDefElem()
		if d.Defname != "owned_by" {
			continue
		}
		items := d.Arg.GetList().GetItems()
		self := catalog.Object{Class: catalog.PgClass, OID: seq}
		if err := e.notIdentity(seq); err != nil {
			return err
		}
		if _, err := e.Cat.DeleteDependenciesOn(self, catalog.PgClass, catalog.DepAuto); err != nil {
			return err
		}
		if len(items) == 1 {
			if items[0].GetString_().GetSval() != "none" {
				return pgerr.New(pgerr.SyntaxError, "invalid OWNED BY option").WithHint("Specify OWNED BY table.column or OWNED BY NONE.")
			}
			return nil
		}
		rv := rangeVar(&pg_query.Node{Node: &pg_query.Node_List{List: &pg_query.List{Items: items[:len(items)-1]}}})
		rel, err := e.openRelation(rv, locks.AccessShare)
		if err != nil {
			return err
		}
		name := items[len(items)-1].GetString_().GetSval()
		a := rel.AttrByName(name)
		if a == nil {
			return pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name)
		}
		ref := catalog.Object{Class: catalog.PgClass, OID: rel.OID, Sub: int32(a.Num)}
		return e.Cat.AddDependency(self, ref, catalog.DepAuto)
	}
	return nil
}
