package exec

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

func (c *compiler) merge(x *expr, parts ...*expr) {
	for _, p := range parts {
		if p == nil {
			continue
		}
		x.volatile = x.volatile || p.volatile
		x.columns = x.columns || p.columns
	}
}

func (c *compiler) boolExpr(e *analyze.BoolExpr) (*expr, error) {
	args, err := c.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	c.merge(x, args...)
	switch e.Op {
	case analyze.Not:
		c.not(x, args[0])
	case analyze.And:
		c.connect(x, args, 0)
		x.pred = c.andPred(args)
	case analyze.Or:
		c.connect(x, args, 1)
		x.pred = c.orPred(args)
	}
	return x, nil
}

func (c *compiler) not(x, arg *expr) {
	if arg.konst != nil {
		d := arg.konst.Datum(0)
		d.W ^= 1
		c.constant(x, d)
		return
	}
	slot := c.spec.vec(types.Bool, types.Word)
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		v, err := arg.eval(f, rows)
		if err != nil {
			return nil, err
		}
		if v.Const {
			rows = one()
		}
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			out.Null[i], out.W[i] = v.Null[i], v.W[i]^1
		}
		out.Const = v.Const
		return out, nil
	}
}

// connect makes x the AND (decisive 0) or OR (decisive 1) of args. An argument is evaluated only for
// rows that no argument before it has decided.
func (c *compiler) connect(x *expr, args []*expr, decisive uint64) {
	if d, ok := connectConstants(args, decisive); ok {
		c.constant(x, d)
		return
	}
	slot := c.spec.vec(types.Bool, types.Word)
	sel := [2]int{c.spec.sel(), c.spec.sel()}
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			out.W[i], out.Null[i] = decisive^1, false
		}
		for k, a := range args {
			v, err := a.eval(f, rows)
			if err != nil {
				return nil, err
			}
			undecided := f.selBuf(sel[k&1], rows.N)
			for j := range rows.Len() {
				i := rows.At(j)
				at := i
				if v.Const {
					at = 0
				}
				switch {
				case v.Null[at]:
					out.Null[i] = true
				case v.W[at] == decisive:
					out.W[i], out.Null[i] = decisive, false
					continue
				}
				undecided = append(undecided, int32(i))
			}
			f.sels[sel[k&1]] = undecided
			rows.Sel = undecided
			if len(undecided) == 0 {
				break
			}
		}
		return out, nil
	}
}

func connectConstants(args []*expr, decisive uint64) (types.Datum, bool) {
	d := types.Datum{W: decisive ^ 1}
	for _, a := range args {
		if a.konst == nil {
			return d, false
		}
		v := a.konst.Datum(0)
		if !v.Null && v.W == decisive {
			return v, true
		}
		d.Null = d.Null || v.Null
	}
	return d, true
}

// andPred passes rows through each condition in turn.
func (c *compiler) andPred(args []*expr) predFn {
	sel := [2]int{c.spec.sel(), c.spec.sel()}
	return func(f *frame, rows types.Rows, dst []int32) ([]int32, error) {
		last := len(args) - 1
		for k, a := range args[:last] {
			kept, err := a.selectRows(f, rows, f.selBuf(sel[k&1], rows.N))
			if err != nil {
				return nil, err
			}
			f.sels[sel[k&1]] = kept
			if len(kept) == 0 {
				return dst, nil
			}
			rows.Sel = kept
		}
		return args[last].selectRows(f, rows, dst)
	}
}

// orPred tries the rows that no condition has passed yet.
func (c *compiler) orPred(args []*expr) predFn {
	hit, passed := c.spec.sel(), c.spec.vec(types.Bool, types.Word)
	sel := [2]int{c.spec.sel(), c.spec.sel()}
	return func(f *frame, rows types.Rows, dst []int32) ([]int32, error) {
		all := rows
		mark := f.vec(passed, rows.N)
		for j := range rows.Len() {
			mark.Null[rows.At(j)] = false
		}
		for k, a := range args {
			hits, err := a.selectRows(f, rows, f.selBuf(hit, rows.N))
			if err != nil {
				return nil, err
			}
			f.sels[hit] = hits
			for _, i := range hits {
				mark.Null[i] = true
			}
			rest := subtract(rows, hits, f.selBuf(sel[k&1], rows.N))
			f.sels[sel[k&1]] = rest
			if len(rest) == 0 {
				break
			}
			rows.Sel = rest
		}
		for j := range all.Len() {
			if i := all.At(j); mark.Null[i] {
				dst = append(dst, int32(i))
			}
		}
		return dst, nil
	}
}

func (c *compiler) nullTest(e *analyze.NullTest) (*expr, error) {
	arg, err := c.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	c.merge(x, arg)
	if e.ArgIsRow {
		return c.rowNullTest(x, arg, e.IsNot), nil
	}
	if arg.konst != nil {
		return c.constant(x, types.BoolDatum(arg.konst.Null[0] != e.IsNot)), nil
	}
	slot, isNot := c.spec.vec(types.Bool, types.Word), e.IsNot
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		v, err := arg.eval(f, rows)
		if err != nil {
			return nil, err
		}
		if v.Const {
			rows = one()
		}
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			out.Null[i], out.W[i] = false, boolWord(v.Null[i] != isNot)
		}
		out.Const = v.Const
		return out, nil
	}
	return x, nil
}

func boolWord(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (c *compiler) booleanTest(e *analyze.BooleanTest) (*expr, error) {
	arg, err := c.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	c.merge(x, arg)
	// The answers for false, true and null.
	answers := [...][3]uint64{
		analyze.IsTrue: {0, 1, 0}, analyze.IsNotTrue: {1, 0, 1},
		analyze.IsFalse: {1, 0, 0}, analyze.IsNotFalse: {0, 1, 1},
		analyze.IsUnknown: {0, 0, 1}, analyze.IsNotUnknown: {1, 1, 0},
	}[e.Kind]
	answer := func(v *types.Vector, i int) uint64 {
		if v.Null[i] {
			return answers[2]
		}
		return answers[v.W[i]&1]
	}
	if arg.konst != nil {
		return c.constant(x, types.Datum{W: answer(arg.konst, 0)}), nil
	}
	slot := c.spec.vec(types.Bool, types.Word)
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		v, err := arg.eval(f, rows)
		if err != nil {
			return nil, err
		}
		if v.Const {
			rows = one()
		}
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			out.Null[i], out.W[i] = false, answer(v, i)
		}
		out.Const = v.Const
		return out, nil
	}
	return x, nil
}
