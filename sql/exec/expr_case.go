package exec

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// scatter copies rows of v to out; bytes are shared.
func scatter(out, v *types.Vector, rows types.Rows) {
	if v.Const {
		d := v.Datum(0)
		for j := range rows.Len() {
			out.Set(rows.At(j), d)
		}
		return
	}
	if v.Class == types.Word {
		for j := range rows.Len() {
			i := rows.At(j)
			out.W[i], out.Null[i] = v.W[i], v.Null[i]
		}
		return
	}
	for j := range rows.Len() {
		i := rows.At(j)
		out.B[i], out.Null[i] = v.B[i], v.Null[i]
	}
}

type caseArm struct{ when, then *expr }

func (c *compiler) caseExpr(e *analyze.CaseExpr) (*expr, error) {
	var arg *expr
	test := -1
	x := c.newExpr(e)
	if e.Arg != nil {
		var err error
		if arg, err = c.expr(e.Arg); err != nil {
			return nil, err
		}
		test = c.spec.ptr()
		c.caseTests = append(c.caseTests, test)
		defer func() { c.caseTests = c.caseTests[:len(c.caseTests)-1] }()
	}
	c.merge(x, arg)
	arms := make([]caseArm, len(e.Whens))
	for i, w := range e.Whens {
		when, err := c.expr(w.When)
		if err != nil {
			return nil, err
		}
		// The arm's result is outside of the CASE's test value.
		then, err := c.expr(w.Then)
		if err != nil {
			return nil, err
		}
		arms[i] = caseArm{when, then}
		c.merge(x, when, then)
	}
	var otherwise *expr
	if e.Else != nil {
		var err error
		if otherwise, err = c.expr(e.Else); err != nil {
			return nil, err
		}
	}
	c.merge(x, otherwise)
	arms, otherwise = foldArms(arms, otherwise)
	if len(arms) == 0 && otherwise != nil {
		y := *otherwise
		y.typ, y.mod = x.typ, x.mod
		return &y, nil
	}
	c.caseEval(x, arg, test, arms, otherwise)
	return x, nil
}

// foldArms drops arms that are constantly not true, and what follows one that is constantly true.
func foldArms(arms []caseArm, otherwise *expr) ([]caseArm, *expr) {
	kept := arms[:0]
	for _, a := range arms {
		if k := a.when.konst; k != nil {
			if k.Null[0] || k.W[0] == 0 {
				continue
			}
			return kept, a.then
		}
		kept = append(kept, a)
	}
	return kept, otherwise
}

func (c *compiler) caseEval(x, arg *expr, test int, arms []caseArm, otherwise *expr) {
	slot, hit := c.spec.vec(x.typ, x.class), c.spec.sel()
	sel := [2]int{c.spec.sel(), c.spec.sel()}
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		if arg != nil {
			v, err := arg.eval(f, rows)
			if err != nil {
				return nil, err
			}
			f.ptrs[test] = v
		}
		out := f.vec(slot, rows.N)
		for k, a := range arms {
			hits, err := a.when.selectRows(f, rows, f.selBuf(hit, rows.N))
			if err != nil {
				return nil, err
			}
			f.sels[hit] = hits
			if len(hits) == 0 {
				continue
			}
			taken := types.Rows{N: rows.N, Sel: hits}
			v, err := a.then.eval(f, taken)
			if err != nil {
				return nil, err
			}
			scatter(out, v, taken)
			rest := subtract(rows, hits, f.selBuf(sel[k&1], rows.N))
			f.sels[sel[k&1]] = rest
			if len(rest) == 0 {
				return out, nil
			}
			rows.Sel = rest
		}
		if otherwise == nil {
			for j := range rows.Len() {
				out.Null[rows.At(j)] = true
			}
			return out, nil
		}
		v, err := otherwise.eval(f, rows)
		if err != nil {
			return nil, err
		}
		scatter(out, v, rows)
		return out, nil
	}
}

func (c *compiler) coalesce(e *analyze.CoalesceExpr) (*expr, error) {
	args, err := c.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	c.merge(x, args...)
	if k := args[0].konst; k != nil && !k.Null[0] {
		return c.constant(x, k.Datum(0)), nil
	}
	slot := c.spec.vec(x.typ, x.class)
	sel := [2]int{c.spec.sel(), c.spec.sel()}
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		out := f.vec(slot, rows.N)
		for k, a := range args {
			v, err := a.eval(f, rows)
			if err != nil {
				return nil, err
			}
			scatter(out, v, rows)
			nulls := f.selBuf(sel[k&1], rows.N)
			for j := range rows.Len() {
				if i := rows.At(j); out.Null[i] {
					nulls = append(nulls, int32(i))
				}
			}
			f.sels[sel[k&1]] = nulls
			if len(nulls) == 0 {
				break
			}
			rows.Sel = nulls
		}
		return out, nil
	}
	return x, nil
}

func (c *compiler) minMax(e *analyze.MinMaxExpr) (*expr, error) {
	args, err := c.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	c.merge(x, args...)
	compare := types.Comparer(x.typ, e.Coll, c.types())
	slot, sign := c.spec.vec(x.typ, x.class), 1
	if e.Greatest {
		sign = -1
	}
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		out := f.vec(slot, rows.N)
		for k, a := range args {
			v, err := a.eval(f, rows)
			if err != nil {
				return nil, err
			}
			if k == 0 {
				scatter(out, v, rows)
				continue
			}
			for j := range rows.Len() {
				i := rows.At(j)
				d := v.Datum(i)
				if !d.Null && (out.Null[i] || sign*compare(d, out.Datum(i)) < 0) {
					out.Set(i, d)
				}
			}
		}
		return out, nil
	}
	return x, nil
}

// equality compiles the two arguments of x and the operator that tells whether they are equal.
func (c *compiler) equality(x *expr, list []analyze.Expr, op, fn, coll types.OID) ([]*expr, *callSite, error) {
	args, err := c.exprs(list)
	if err != nil {
		return nil, nil, err
	}
	c.merge(x, args...)
	f, err := c.operator(op, fn)
	if err != nil {
		return nil, nil, err
	}
	site, err := c.site(f, coll, types.Bool, args[0].typ, args[1].typ)
	return args, site, err
}

func (c *compiler) distinctExpr(e *analyze.DistinctExpr) (*expr, error) {
	x := c.newExpr(e)
	args, site, err := c.equality(x, e.Args, e.Op, e.Func, e.InputColl)
	if err != nil {
		return nil, err
	}
	slot := c.spec.vec(types.Bool, types.Word)
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		a, b, err := evalTwo(f, args[0], args[1], rows)
		if err != nil {
			return nil, err
		}
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			da, db := a.Datum(i), b.Datum(i)
			out.Null[i] = false
			if da.Null || db.Null {
				out.W[i] = boolWord(da.Null != db.Null)
				continue
			}
			eq, err := site.value(f, da, db)
			if err != nil {
				return nil, err
			}
			out.W[i] = boolWord(eq.Null || eq.W == 0)
		}
		return out, nil
	}
	return x, nil
}

func (c *compiler) nullIf(e *analyze.NullIfExpr) (*expr, error) {
	x := c.newExpr(e)
	args, site, err := c.equality(x, e.Args, e.Op, e.Func, e.InputColl)
	if err != nil {
		return nil, err
	}
	slot := c.spec.vec(x.typ, x.class)
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		a, b, err := evalTwo(f, args[0], args[1], rows)
		if err != nil {
			return nil, err
		}
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			da, db := a.Datum(i), b.Datum(i)
			if !da.Null && !db.Null {
				eq, err := site.value(f, da, db)
				if err != nil {
					return nil, err
				}
				da.Null = !eq.Null && eq.W != 0
			}
			out.Set(i, da)
		}
		return out, nil
	}
	return x, nil
}
