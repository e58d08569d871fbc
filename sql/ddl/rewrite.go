package ddl

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

const rewriteBatch = 512

// settle carries out what the commands so far ask of the rows, so that the next one sees the result.
func (a *alteration) settle() error {
	if err := a.finish(); err != nil {
		return err
	}
	r, err := a.rel()
	if err != nil {
		return err
	}
	a.old, a.rewrite = r, false
	a.computed, a.checks, a.notNull = make(map[int]analyze.Expr), nil, nil
	return nil
}

// finish rewrites or scans the table where the commands ask for it.
func (a *alteration) finish() error {
	if !a.rewrite && len(a.checks) == 0 && len(a.notNull) == 0 {
		return nil
	}
	r, err := a.rel()
	if err != nil {
		return err
	}
	p, err := a.newPass(r)
	if err != nil {
		return err
	}
	if a.rewrite {
		return p.rewrite()
	}
	return p.scan(nil)
}

// pass goes over the rows of a table once.
type pass struct {
	a         *alteration
	rel       *catalog.Relation // as it is to be
	computed  map[int]RowFunc   // by attribute number, over old rows
	generated map[int]RowFunc   // over new rows
	checks    []passCheck
	row       []types.Datum
}

type passCheck struct {
	name string
	f    RowFunc
}

func (a *alteration) newPass(r *catalog.Relation) (*pass, error) {
	e := a.e
	p := &pass{a: a, rel: r, computed: make(map[int]RowFunc), generated: make(map[int]RowFunc)}
	var err error
	for att, x := range a.computed {
		if p.computed[att], err = e.Host.RowFunc(e.Ctx, a.old, x); err != nil {
			return nil, err
		}
	}
	for i := range r.Attrs {
		at := &r.Attrs[i]
		if at.Generated == 0 || at.Dropped || !a.rewrite {
			continue
		}
		x, err := analyze.GeneratedExpr(e.analysis(), r, at)
		if err != nil {
			return nil, err
		}
		if p.generated[i+1], err = e.Host.RowFunc(e.Ctx, r, x); err != nil {
			return nil, err
		}
	}
	for _, c := range a.checks {
		f, err := e.Host.RowFunc(e.Ctx, r, c.expr)
		if err != nil {
			return nil, err
		}
		p.checks = append(p.checks, passCheck{c.name, f})
	}
	return p, nil
}

// scan calls emit with each row as it is to be, after checking it.
func (p *pass) scan(emit func(row []types.Datum) error) error {
	e, old := p.a.e, p.a.old
	t, err := e.Session.OpenTable(e.Ctx, old)
	if err != nil {
		return err
	}
	e.Session.Tx().CommandCounterIncrement()
	snap := e.Session.TakeSnapshot()
	defer e.Session.ReleaseSnapshot(snap)
	columns := make([]int, len(old.Attrs))
	oids := make([]OID, len(old.Attrs))
	batch := &types.Batch{Cols: make([]types.Vector, len(old.Attrs))}
	for i := range columns {
		columns[i] = i
		oids[i] = old.Attrs[i].Type
		batch.Cols[i] = types.NewVectorClass(oids[i], old.Row.Attrs[i].Phys.Class(), rewriteBatch)
	}
	sc := t.NewScan(snap, engine.ScanOptions{Columns: columns})
	defer sc.Close()
	p.row = make([]types.Datum, len(p.rel.Attrs))
	oldRow := make([]types.Datum, len(old.Attrs))
	for {
		ok, err := sc.Next(e.Ctx, batch)
		if err != nil || !ok {
			return err
		}
		rows := batch.Rows()
		for k := range rows.Len() {
			batch.Row(rows.At(k), oldRow)
			if err := p.one(oldRow, emit); err != nil {
				return err
			}
		}
	}
}

func (p *pass) one(oldRow []types.Datum, emit func(row []types.Datum) error) error {
	e := p.a.e
	for i := range p.rel.Attrs {
		at := &p.rel.Attrs[i]
		switch {
		case at.Dropped:
			p.row[i] = types.NullDatum
		case p.computed[i+1] != nil:
			d, err := p.computed[i+1](e.Ctx, oldRow)
			if err != nil {
				return err
			}
			p.row[i] = d
		case i < len(oldRow):
			p.row[i] = oldRow[i]
		case at.HasMissing:
			p.row[i] = at.Missing
		default:
			p.row[i] = types.NullDatum
		}
	}
	for att, f := range p.generated {
		d, err := f(e.Ctx, p.row)
		if err != nil {
			return err
		}
		p.row[att-1] = d
	}
	if err := p.check(); err != nil {
		return err
	}
	if emit == nil {
		return nil
	}
	return emit(p.row)
}

// check tests a row against the constraints that are new.
func (p *pass) check() error {
	ns, err := p.a.e.Cat.NamespaceByOID(p.rel.Namespace)
	if err != nil {
		return err
	}
	for _, num := range p.a.notNull {
		if p.row[num-1].Null {
			return pgerr.New(pgerr.NotNullViolation, "column \"%s\" of relation \"%s\" contains null values", p.rel.Attr(num).Name, p.rel.Name).
				WithTable(ns.Name, p.rel.Name).WithColumn(p.rel.Attr(num).Name)
		}
	}
	for _, c := range p.checks {
		d, err := c.f(p.a.e.Ctx, p.row)
		if err != nil {
			return err
		}
		if !d.Null && !d.Bool() {
			return pgerr.New(pgerr.CheckViolation, "check constraint \"%s\" of relation \"%s\" is violated by some row", c.name, p.rel.Name).
				WithTable(ns.Name, p.rel.Name).WithConstraint(c.name)
		}
	}
	return nil
}

// rewrite writes every row to new files.
func (p *pass) rewrite() error {
	e := p.a.e
	rel, err := e.lockIndexes(p.rel)
	if err != nil {
		return err
	}
	if err := e.Session.NewStorage(e.Ctx, rel); err != nil {
		return err
	}
	rel, err = e.Cat.RelationByOID(p.rel.OID)
	if err != nil {
		return err
	}
	p.rel = rel
	for i := range rel.Attrs {
		if at := &rel.Attrs[i]; at.HasMissing {
			if err := e.updateAttribute(rel.OID, at.Num, func(row catalog.Row) {
				row[catalog.AttributeAtthasmissing] = boolD(false)
				row[catalog.AttributeAttmissingval] = types.NullDatum
			}); err != nil {
				return err
			}
		}
	}
	target, err := e.Cat.RelationByOID(rel.OID)
	if err != nil {
		return err
	}
	t, err := e.Session.OpenTable(e.Ctx, target)
	if err != nil {
		return err
	}
	w := &rewriter{e: e, t: t, ring: e.Session.Engine().Pool().NewRing(storage.RingBulkWrite)}
	if err := p.scan(w.add); err != nil {
		return err
	}
	return w.flush()
}

// rewriter collects rows and inserts them a batch at a time.
type rewriter struct {
	e    *Env
	t    *engine.Table
	rows [][]types.Datum
	tids []engine.TID
	ring *storage.Ring
}

func (w *rewriter) add(row []types.Datum) error {
	c := make([]types.Datum, len(row))
	for i, d := range row {
		c[i] = d.Clone()
	}
	w.rows = append(w.rows, c)
	if len(w.rows) < rewriteBatch {
		return nil
	}
	return w.flush()
}

func (w *rewriter) flush() error {
	if len(w.rows) == 0 {
		return nil
	}
	opts := engine.InsertOptions{SkipFSM: true, Ring: w.ring}
	var err error
	w.tids, err = w.t.InsertBatch(w.e.Ctx, w.e.Session, w.rows, w.tids[:0], opts)
	w.rows = w.rows[:0]
	return err
}

// dependents are the expressions of a table whose text names its columns.
type dependents struct {
	e      *Env
	table  OID
	checks map[OID]analyze.Expr // constraints
	gens   map[int16]analyze.Expr
	exprs  map[OID][]analyze.Expr // of indexes
	preds  map[OID]analyze.Expr
	touch  []*catalog.Index // indexes whose columns may be of another type afterwards
}

// dependentsOf reads the stored expressions of a table before columns are renamed or change type.
// With num over 0, indexes on that column are noted too.
func (a *alteration) dependentsOf(r *catalog.Relation, num int16) (*dependents, error) {
	d, err := a.e.readExprs(r)
	if err != nil {
		return nil, err
	}
	for _, x := range r.Indexes {
		for _, k := range x.Keys {
			if k.AttNum == num || k.AttNum == 0 && num != 0 {
				d.touch = append(d.touch, x)
				break
			}
		}
	}
	return d, nil
}

func (e *Env) readExprs(r *catalog.Relation) (*dependents, error) {
	d := &dependents{
		e: e, table: r.OID, checks: make(map[OID]analyze.Expr), gens: make(map[int16]analyze.Expr),
		exprs: make(map[OID][]analyze.Expr), preds: make(map[OID]analyze.Expr),
	}
	var err error
	ac := e.analysis()
	for _, c := range r.Checks {
		if d.checks[c.OID], err = analyze.StoredExpr(ac, r, c.Expr); err != nil {
			return nil, err
		}
	}
	for i := range r.Attrs {
		if at := &r.Attrs[i]; at.Generated != 0 && !at.Dropped {
			if d.gens[at.Num], err = analyze.StoredExpr(ac, r, at.Default); err != nil {
				return nil, err
			}
		}
	}
	for _, x := range r.Indexes {
		for _, k := range x.Keys {
			if k.AttNum != 0 {
				continue
			}
			expr, err := analyze.StoredExpr(ac, r, k.Expr)
			if err != nil {
				return nil, err
			}
			d.exprs[x.OID] = append(d.exprs[x.OID], expr)
		}
		if x.Predicate != "" {
			if d.preds[x.OID], err = analyze.StoredExpr(ac, r, x.Predicate); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// restore writes the expressions again under the columns' new names, and gives indexes on a
// column of another type the operator class of that type.
func (d *dependents) restore() error {
	e := d.e
	r, err := e.Cat.RelationByOID(d.table)
	if err != nil {
		return err
	}
	for oid, x := range d.checks {
		if x, err = e.reread(x, r); err != nil {
			return err
		}
		if err := e.storeText(catalog.PgConstraint, oid, catalog.ConstraintConbin, x, r); err != nil {
			return err
		}
	}
	for num, x := range d.gens {
		if x, err = e.reread(x, r); err != nil {
			return err
		}
		text, err := e.stored(x, r)
		if err != nil {
			return err
		}
		rows, err := e.Cat.Rows(catalog.PgAttrdef,
			catalog.Eq{Col: catalog.AttrdefAdrelid, Value: oidD(r.OID)}, catalog.Eq{Col: catalog.AttrdefAdnum, Value: intD(num)})
		if err != nil {
			return err
		}
		for _, row := range rows {
			row = append(catalog.Row(nil), row...)
			row[catalog.AttrdefAdbin] = textD(text)
			if err := e.Cat.Update(catalog.PgAttrdef, row); err != nil {
				return err
			}
		}
	}
	for oid, list := range d.exprs {
		var texts []string
		for _, x := range list {
			if x, err = e.reread(x, r); err != nil {
				return err
			}
			text, err := e.stored(x, r)
			if err != nil {
				return err
			}
			texts = append(texts, text)
		}
		if err := e.updateIndex(oid, func(row catalog.Row) { row[catalog.IndexIndexprs] = textD(catalog.JoinExprs(texts)) }); err != nil {
			return err
		}
	}
	for oid, x := range d.preds {
		if x, err = e.reread(x, r); err != nil {
			return err
		}
		if err := e.storeText(catalog.PgIndex, oid, catalog.IndexIndpred, x, r); err != nil {
			return err
		}
	}
	for _, x := range d.touch {
		if err := e.retypeIndex(r, x); err != nil {
			return err
		}
	}
	return nil
}

// reread analyses an expression again over r, in which columns may have other types now: its operators may be others,
// or there may be none.
func (e *Env) reread(x analyze.Expr, r *catalog.Relation) (analyze.Expr, error) {
	text, err := e.stored(x, r)
	if err != nil {
		return nil, err
	}
	return analyze.StoredExpr(e.analysis(), r, text)
}

func (e *Env) storeText(class, oid OID, col int, x analyze.Expr, r *catalog.Relation) error {
	text, err := e.stored(x, r)
	if err != nil {
		return err
	}
	row, err := e.Cat.Get(class, oidD(oid))
	if err != nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	row[col] = textD(text)
	return e.Cat.Update(class, row)
}
