package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// initPlanProgram is a sub-select that is run when its parameter is first read.
type initPlanProgram struct {
	kind    analyze.SubLinkKind
	root    node
	params  []int
	depends []int
	elem    vecSpec // of an ARRAY(...)
	array   types.OID
}

func (c *compiler) initPlan(sp *plan.SubPlan) error {
	outer := c.depends
	c.depends = &paramSet{}
	var root node
	err := c.inLevel(func() (err error) {
		root, err = c.node(sp.Plan)
		return err
	})
	depends := c.depends
	c.depends = outer
	if err != nil {
		return err
	}
	ip := &initPlanProgram{kind: sp.Kind, root: root, params: []int{sp.Param}, depends: depends.ids, array: sp.Typ}
	if sp.Kind == analyze.SubLinkArray {
		ip.elem = root.info().cols[0]
	}
	c.prog.inits = append(c.prog.inits, ip)
	for _, id := range ip.params {
		c.initOf[id] = ip
	}
	return nil
}

// initPlanState is an init plan in one runtime.
type initPlanState struct {
	prog *initPlanProgram
	op   operator
	freshness
	rt     *runtime
	values []types.Datum
	arena  arena
}

func (s *initPlanState) close() {
	if s.op != nil {
		s.op.close()
	}
	s.forget()
}

// value runs the plan if it has not been run for the present parameters.
func (s *initPlanState) value(column int) (types.Datum, error) {
	rt := s.rt
	if !s.holds(rt, s.prog.depends) {
		if err := s.run(rt); err != nil {
			return types.Datum{}, err
		}
	}
	return s.values[column], nil
}

func (s *initPlanState) run(rt *runtime) error {
	if s.op == nil {
		s.op = rt.build(s.prog.root)
		s.values = make([]types.Datum, 1)
	}
	s.record(rt, s.prog.depends)
	// Until it is done it holds nothing: an error leaves it to be run again.
	epoch := s.epoch
	s.forget()
	s.arena.reset()
	d, err := subPlanValue(rt, s.op, s.prog.kind, s.prog.array, s.prog.elem.typ)
	if err != nil {
		return err
	}
	if d.B != nil {
		d.B = s.arena.copy(d.B)
	}
	s.values[0] = d
	s.epoch = epoch
	for _, id := range s.prog.params {
		rt.params[id].gen++
	}
	return nil
}

// subPlanValue runs op and makes the value of an EXISTS, scalar or ARRAY sub-select. Its bytes may be op's.
func subPlanValue(rt *runtime, op operator, kind analyze.SubLinkKind, array, elem types.OID) (types.Datum, error) {
	if err := op.open(); err != nil {
		return types.Datum{}, err
	}
	switch kind {
	case analyze.SubLinkExists:
		b, err := op.next(1)
		return types.BoolDatum(b != nil), err
	case analyze.SubLinkArray:
		return subPlanArray(rt, op, array, elem)
	}
	b, err := op.next(2)
	if err != nil || b == nil {
		return types.NullDatum, err
	}
	if b.Len() > 1 {
		return types.Datum{}, errManyRows()
	}
	// The next call ends the batch's life.
	d := b.Cols[0].Datum(b.Rows().At(0)).Clone()
	more, err := op.next(1)
	if err != nil {
		return types.Datum{}, err
	}
	if more != nil {
		return types.Datum{}, errManyRows()
	}
	return d, nil
}

func errManyRows() error {
	return pgerr.New(pgerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
}

func subPlanArray(rt *runtime, op operator, array, elem types.OID) (types.Datum, error) {
	var elems []types.Datum
	for {
		b, err := op.next(maxBatch)
		if err != nil {
			return types.Datum{}, err
		}
		if b == nil {
			break
		}
		rows := b.Rows()
		for j := range rows.Len() {
			elems = append(elems, b.Cols[0].Datum(rows.At(j)).Clone())
		}
	}
	return arrayOfRows(rt, array, elem, elems)
}
