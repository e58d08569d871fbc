package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

// coerceViaIO casts through the text form.
func (c *compiler) coerceViaIO(e *analyze.CoerceViaIO) (*expr, error) {
	arg, err := c.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	c.merge(x, arg)
	if arg.konst != nil && arg.konst.Null[0] {
		return c.constant(x, types.NullDatum), nil
	}
	from, to := arg.typ, x.typ
	slot := c.spec.vec(x.typ, x.class)
	// Text to text-like is no parse, which matters for casts of name, unknown and char.
	toText := to == types.Text || to == types.Varchar
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		v, err := arg.eval(f, rows)
		if err != nil {
			return nil, err
		}
		if v.Const {
			rows = one()
		}
		env := f.rt.fc.Env
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			if v.Null[i] {
				out.Null[i] = true
				continue
			}
			if toText {
				at := len(out.Arena)
				out.Arena = types.Out(from, v.Datum(i), out.Arena, env)
				if err := fn.CheckLen(len(out.Arena) - at); err != nil {
					return nil, err
				}
				out.B[i], out.Null[i] = out.Arena[at:len(out.Arena):len(out.Arena)], false
				continue
			}
			// The input function may keep its text: it gets bytes of its own.
			d, err := types.In(to, -1, types.Out(from, v.Datum(i), nil, env), env)
			if err != nil {
				return nil, err
			}
			out.Set(i, d)
		}
		out.Const = v.Const
		return out, nil
	}
	return x, nil
}

// arrayCoerce casts the elements of an array.
func (c *compiler) arrayCoerce(e *analyze.ArrayCoerceExpr) (*expr, error) {
	arg, err := c.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	c.merge(x, arg)
	test := c.spec.ptr()
	c.caseTests = append(c.caseTests, test)
	elem, err := c.expr(e.ElemExpr)
	c.caseTests = c.caseTests[:len(c.caseTests)-1]
	if err != nil {
		return nil, err
	}
	x.volatile = x.volatile || elem.volatile
	from := vecSpec{c.elementType(arg.typ), types.Bytes}
	from.class = c.class(from.typ)
	to, ts := c.elementType(x.typ), c.types()
	slot, in := c.spec.vec(x.typ, x.class), c.spec.vec(from.typ, from.class)
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		v, err := arg.eval(f, rows)
		if err != nil {
			return nil, err
		}
		if v.Const && !x.volatile {
			rows = one()
		}
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			if v.Datum(i).Null {
				out.Null[i] = true
				continue
			}
			d, err := coerceArray(f, v.Datum(i), in, test, elem, to, ts)
			if err != nil {
				return nil, err
			}
			out.Set(i, d)
		}
		out.Const = v.Const && !x.volatile
		return out, nil
	}
	return x, nil
}

func coerceArray(f *frame, d types.Datum, in, test int, elem *expr, to types.OID, ts types.Types) (types.Datum, error) {
	a := d.Array()
	if a.N == 0 {
		return types.EmptyArray(to, ts), nil
	}
	vec := f.vec(in, a.N)
	it := a.Iter()
	for i := 0; ; i++ {
		el, ok := it.Next()
		if !ok {
			break
		}
		vec.Set(i, el)
	}
	f.ptrs[test] = vec
	v, err := elem.eval(f, types.Rows{N: a.N})
	if err != nil {
		return types.Datum{}, err
	}
	elems := make([]types.Datum, a.N)
	for i := range elems {
		elems[i] = v.Datum(i)
	}
	return types.MakeArrayDims(to, elems, a.Dims, ts), nil
}

// domainCheck is a compiled constraint of a domain.
type domainCheck struct {
	DomainCheck
	cond *expr
}

// coerceToDomain checks a domain's constraints.
func (c *compiler) coerceToDomain(e *analyze.CoerceToDomain) (*expr, error) {
	arg, err := c.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	if c.deps.DomainChecks == nil {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "domains are not supported")
	}
	list, err := c.deps.DomainChecks(e.Typ)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		x := *arg
		x.typ, x.mod, x.coll = e.Typ, e.Mod, e.Coll
		return &x, nil
	}
	x := c.newExpr(e)
	c.merge(x, arg)
	test := c.spec.ptr()
	c.caseTests = append(c.caseTests, test)
	defer func() { c.caseTests = c.caseTests[:len(c.caseTests)-1] }()
	checks := make([]domainCheck, len(list))
	for i, d := range list {
		checks[i].DomainCheck = d
		if d.Expr == nil {
			continue
		}
		if checks[i].cond, err = c.expr(d.Expr); err != nil {
			return nil, err
		}
	}
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		v, err := arg.eval(f, rows)
		if err != nil {
			return nil, err
		}
		f.ptrs[test] = v
		for k := range checks {
			if err := checks[k].check(f, v, rows); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	return x, nil
}

func (d *domainCheck) check(f *frame, v *types.Vector, rows types.Rows) error {
	var ok *types.Vector
	if d.cond != nil {
		var err error
		if ok, err = d.cond.eval(f, rows); err != nil {
			return err
		}
	}
	for j := range rows.Len() {
		i := rows.At(j)
		if ok == nil {
			if v.Datum(i).Null {
				return pgerr.New(pgerr.NotNullViolation, "domain %s does not allow null values", d.Domain).
					WithDataType("", d.Domain)
			}
			continue
		}
		if r := ok.Datum(i); !r.Null && r.W == 0 {
			return pgerr.New(pgerr.CheckViolation, "value for domain %s violates check constraint \"%s\"", d.Domain, d.Name).
				WithDataType("", d.Domain).WithConstraint(d.Name)
		}
	}
	return nil
}

// sqlValue is CURRENT_TIMESTAMP and its kin.
func (c *compiler) sqlValue(e *analyze.SQLValueFunction) (*expr, error) {
	x := c.newExpr(e)
	slot := c.spec.vec(x.typ, x.class)
	kind, mod := e.Kind, e.Mod
	x.eval = func(f *frame, _ types.Rows) (*types.Vector, error) {
		d, err := sqlValueOf(f.rt.fc, kind, mod)
		if err != nil {
			return nil, err
		}
		v := f.vec(slot, 1)
		v.Const = true
		v.Set(0, d)
		return v, nil
	}
	return x, nil
}

// nextValue draws from an identity column's sequence.
func (c *compiler) nextValue(e *analyze.NextValueExpr) (*expr, error) {
	x := c.newExpr(e)
	x.volatile, c.scope.volatile = true, true
	slot, seq := c.spec.vec(x.typ, x.class), e.Sequence
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		fc := f.rt.fc
		if fc.Sequences == nil {
			return nil, pgerr.New(pgerr.FeatureNotSupported, "sequences are not supported here")
		}
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			v, err := fc.Sequences.Nextval(fc.Ctx, seq)
			if err != nil {
				return nil, err
			}
			out.Set(rows.At(j), types.Int64Datum(v))
		}
		return out, nil
	}
	return x, nil
}
