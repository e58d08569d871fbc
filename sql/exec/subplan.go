package exec

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// subPlanProgram is a sub-select evaluated where it stands.
type subPlanProgram struct {
	kind    analyze.SubLinkKind
	root    node
	depends []int
	params  []int
	args    []*expr
	array   types.OID
	elem    types.OID

	test    *expr
	subCols []int // pointer slots
	hashed  bool
	left    []*expr
	equal   []*callSite // per column, where the types differ
	// keys hash the kept rows, leftKeys the rows at hand.
	keys, leftKeys []keyInfo
	cols           []vecSpec
	kept           bool // the rows do not depend on the row at hand
}

func (c *compiler) subPlan(sp *plan.SubPlan) (*expr, error) {
	x := c.newExpr(sp)
	if sp.Param >= 0 {
		return c.param(&analyze.Param{Typed: sp.Typed, Number: sp.Param, Exec: true})
	}
	args, err := c.exprs(sp.Args)
	if err != nil {
		return nil, err
	}
	outer := c.depends
	c.depends = &paramSet{}
	var root node
	// The sub-plan's nodes make their own scopes.
	err = c.in(newScope(), func() error {
		return c.inLevel(func() (err error) {
			root, err = c.node(sp.Plan)
			return err
		})
	})
	depends := c.depends
	c.depends = outer
	if err != nil {
		return nil, err
	}
	depends.remove(sp.ParamIDs...)
	outer.add(depends.ids...)
	p := &subPlanProgram{
		kind: sp.Kind, root: root, depends: depends.ids, params: sp.ParamIDs, args: args,
		array: sp.Typ, cols: root.info().cols, kept: len(sp.ParamIDs) == 0 && !root.info().volatile,
	}
	if sp.Kind == analyze.SubLinkArray {
		p.elem = p.cols[0].typ
	}
	if sp.Kind == analyze.SubLinkAny || sp.Kind == analyze.SubLinkAll {
		if err := c.subPlanTest(sp, p); err != nil {
			return nil, err
		}
	}
	c.merge(x, args...)
	c.merge(x, p.test)
	c.merge(x, p.left...)
	if root.info().volatile {
		x.volatile = true
		c.scope.volatile = true
	}
	index := len(c.prog.subPlans)
	c.prog.subPlans = append(c.prog.subPlans, p)
	slot := c.spec.vec(x.typ, x.class)
	sels := [2]int{c.spec.sel(), c.spec.sel()}
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		s := f.rt.subPlan(index)
		switch {
		case p.hashed:
			return s.probe(f, rows, slot)
		case p.test != nil && p.kept:
			return s.testKept(f, rows, slot, sels)
		case p.test != nil:
			return s.testEach(f, rows, slot, sels[0])
		}
		return s.values(f, rows, slot, sels[0])
	}
	return x, nil
}

func (c *compiler) subPlanTest(sp *plan.SubPlan, p *subPlanProgram) error {
	var err error
	if sp.Hashed && sp.Kind == analyze.SubLinkAny && p.kept {
		p.hashed = true
		if p.left, err = c.exprs(sp.HashLeft); err != nil {
			return err
		}
		p.equal = make([]*callSite, len(p.left))
		for i, l := range p.left {
			p.keys = append(p.keys, c.key(p.cols[i].typ, 0))
			p.leftKeys = append(p.leftKeys, c.key(l.typ, 0))
			if i >= len(sp.HashOps) || p.cols[i].typ == l.typ {
				continue
			}
			f, err := c.function(sp.HashOps[i])
			if err != nil {
				return err
			}
			if p.equal[i], err = c.site(f, l.coll, types.Bool, l.typ, p.cols[i].typ); err != nil {
				return err
			}
		}
		return nil
	}
	old := c.subCols
	c.subCols = nil
	for range p.cols {
		c.subCols = append(c.subCols, c.spec.ptr())
	}
	p.subCols = c.subCols
	p.test, err = c.expr(sp.Test)
	c.subCols = old
	return err
}

// subPlanState is a sub-plan in one runtime.
type subPlanState struct {
	prog *subPlanProgram
	op   operator
	freshness
	store  *rowStore  // the rows, where they are kept
	table  *hashTable // over store
	keys   []keyInfo
	nulls  []int32 // rows of store with a null in a key
	left   []*types.Vector
	hashes []uint64
	consts []types.Vector
	d      types.Datum // the value, of a kept scalar
}

func (rt *runtime) subPlan(i int) *subPlanState {
	s := rt.subPlans[i]
	if s == nil {
		s = &subPlanState{prog: rt.prog.subPlans[i]}
		s.op = rt.build(s.prog.root)
		s.consts = make([]types.Vector, len(s.prog.cols))
		for i, c := range s.prog.cols {
			s.consts[i] = types.NewVectorClass(c.typ, c.class, 1)
			s.consts[i].Const = true
		}
		rt.subPlans[i] = s
	}
	return s
}

func (s *subPlanState) close() {
	s.op.close()
	s.forget()
}

// setParams gives the sub-plan's parameters their values for row i.
func (s *subPlanState) setParams(f *frame, rows types.Rows) error {
	for k, a := range s.prog.args {
		v, err := a.eval(f, rows)
		if err != nil {
			return err
		}
		f.rt.setParam(s.prog.params[k], v.Datum(rows.At(0)))
	}
	return nil
}

// values evaluates EXISTS, a scalar or an ARRAY sub-select.
func (s *subPlanState) values(f *frame, rows types.Rows, slot, sel int) (*types.Vector, error) {
	rt, p := f.rt, s.prog
	if p.kept {
		if !s.holds(rt, p.depends) {
			s.record(rt, p.depends)
			epoch := s.epoch
			s.forget()
			d, err := subPlanValue(rt, s.op, p.kind, p.array, p.elem)
			if err != nil {
				return nil, err
			}
			s.d = d.Clone()
			s.epoch = epoch
		}
		out := f.vec(slot, 1)
		out.Const = true
		out.Set(0, s.d)
		return out, nil
	}
	out := f.vec(slot, rows.N)
	for j := range rows.Len() {
		i := rows.At(j)
		if err := s.setParams(f, f.single(sel, i, rows.N)); err != nil {
			return nil, err
		}
		d, err := subPlanValue(rt, s.op, p.kind, p.array, p.elem)
		if err != nil {
			return nil, err
		}
		out.SetCopy(i, d)
	}
	return out, nil
}

// fill keeps the sub-plan's rows.
func (s *subPlanState) fill(rt *runtime) error {
	if s.holds(rt, s.prog.depends) {
		return nil
	}
	if s.store == nil {
		s.store = newRowStore(s.prog.cols)
	}
	s.store.reset()
	s.record(rt, s.prog.depends)
	epoch := s.epoch
	s.forget()
	if err := drain(rt, s.op, s.store); err != nil {
		return err
	}
	if s.prog.hashed {
		s.index()
	}
	s.epoch = epoch
	return nil
}

// drain opens op and keeps all its rows.
func drain(rt *runtime, op operator, store *rowStore) error {
	if err := op.open(); err != nil {
		return err
	}
	for {
		b, err := op.next(maxBatch)
		if err != nil || b == nil {
			return err
		}
		if err := rt.canceled(); err != nil {
			return err
		}
		store.add(b, b.Rows())
	}
}

// testKept evaluates ANY or ALL over kept rows, each for all rows at hand that are undecided.
func (s *subPlanState) testKept(f *frame, rows types.Rows, slot int, sels [2]int) (*types.Vector, error) {
	if err := s.fill(f.rt); err != nil {
		return nil, err
	}
	decisive := boolWord(s.prog.kind == analyze.SubLinkAny)
	out := f.vec(slot, rows.N)
	for j := range rows.Len() {
		i := rows.At(j)
		out.W[i], out.Null[i] = decisive^1, false
	}
	for r := range s.store.n {
		s.setSubColumns(f, func(c int) types.Datum { return s.store.datum(r, c) })
		v, err := s.prog.test.eval(f, rows)
		if err != nil {
			return nil, err
		}
		undecided := f.selBuf(sels[r&1], rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			if !decide(out, i, v.Datum(i), decisive) {
				undecided = append(undecided, int32(i))
			}
		}
		f.sels[sels[r&1]] = undecided
		if rows.Sel = undecided; len(undecided) == 0 {
			break
		}
	}
	return out, nil
}

// decide takes one outcome into position i of out and tells whether it settles the matter.
func decide(out *types.Vector, i int, d types.Datum, decisive uint64) bool {
	if d.Null {
		out.Null[i] = true
		return false
	}
	if d.W == decisive {
		out.W[i], out.Null[i] = decisive, false
		return true
	}
	return false
}

func (s *subPlanState) setSubColumns(f *frame, value func(c int) types.Datum) {
	for c, p := range s.prog.subCols {
		v := &s.consts[c]
		v.Set(0, value(c))
		f.ptrs[p] = v
	}
}

// testEach runs the sub-plan for each row at hand.
func (s *subPlanState) testEach(f *frame, rows types.Rows, slot, sel int) (*types.Vector, error) {
	out := f.vec(slot, rows.N)
	for j := range rows.Len() {
		i := rows.At(j)
		if err := s.testRow(f, f.single(sel, i, rows.N), i, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *subPlanState) testRow(f *frame, row types.Rows, i int, out *types.Vector) error {
	decisive := boolWord(s.prog.kind == analyze.SubLinkAny)
	out.W[i], out.Null[i] = decisive^1, false
	if err := s.setParams(f, row); err != nil {
		return err
	}
	if err := s.op.open(); err != nil {
		return err
	}
	for {
		b, err := s.op.next(maxBatch)
		if err != nil || b == nil {
			return err
		}
		in := b.Rows()
		for j := range in.Len() {
			r := in.At(j)
			s.setSubColumns(f, func(c int) types.Datum { return b.Cols[c].Datum(r) })
			v, err := s.prog.test.eval(f, row)
			if err != nil {
				return err
			}
			if decide(out, i, v.Datum(i), decisive) {
				return nil
			}
		}
	}
}
