package fn

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// intType is a width of integer: its range and its name in messages.
type intType struct {
	name     string
	min, max int64
}

var (
	int2Type = &intType{"smallint", math.MinInt16, math.MaxInt16}
	int4Type = &intType{"integer", math.MinInt32, math.MaxInt32}
	int8Type = &intType{"bigint", math.MinInt64, math.MaxInt64}
)

func (t *intType) check(v int64) (types.Datum, error) {
	if v < t.min || v > t.max {
		return types.Datum{}, errOutOfRange(t.name)
	}
	return types.Int64Datum(v), nil
}

func (t *intType) errRange() error { return errOutOfRange(t.name) }

// intOp is an operation of two integers that reports overflow of 64 bits.
type intOp func(a, b int64) (v int64, ok bool)

func addInts(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func subInts(a, b int64) (int64, bool) {
	s := a - b
	return s, (s < a) == (b > 0)
}

// intFunc makes the scalar form of an operation with result type t.
func intFunc(t *intType, op intOp) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, ok := op(a[0].Int64(), a[1].Int64())
		if !ok || v < t.min || v > t.max {
			return types.Datum{}, t.errRange()
		}
		return types.Int64Datum(v), nil
	}
}

// operand is an argument of a vector loop: mask is 0 for a constant, so that i & mask is its place.
type operand struct {
	w    []uint64
	null []bool
	mask int
}

func operandOf(v *types.Vector) operand {
	if v.Const {
		return operand{v.W, v.Null, 0}
	}
	return operand{v.W, v.Null, -1}
}

func vecAdd(t *intType) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		a, b := operandOf(args[0]), operandOf(args[1])
		for k := range rows.Len() {
			i := rows.At(k)
			if out.Null[i] = a.null[i&a.mask] || b.null[i&b.mask]; out.Null[i] {
				continue
			}
			x, y := int64(a.w[i&a.mask]), int64(b.w[i&b.mask])
			s := x + y
			if (s > x) != (y > 0) || s < t.min || s > t.max {
				return t.errRange()
			}
			out.W[i] = uint64(s)
		}
		return nil
	}
}

func vecSub(t *intType) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		a, b := operandOf(args[0]), operandOf(args[1])
		for k := range rows.Len() {
			i := rows.At(k)
			if out.Null[i] = a.null[i&a.mask] || b.null[i&b.mask]; out.Null[i] {
				continue
			}
			x, y := int64(a.w[i&a.mask]), int64(b.w[i&b.mask])
			s := x - y
			if (s < x) != (y > 0) || s < t.min || s > t.max {
				return t.errRange()
			}
			out.W[i] = uint64(s)
		}
		return nil
	}
}

func vecMul(t *intType) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		a, b := operandOf(args[0]), operandOf(args[1])
		for k := range rows.Len() {
			i := rows.At(k)
			if out.Null[i] = a.null[i&a.mask] || b.null[i&b.mask]; out.Null[i] {
				continue
			}
			p, ok := mulInt64(int64(a.w[i&a.mask]), int64(b.w[i&b.mask]))
			if !ok || p < t.min || p > t.max {
				return t.errRange()
			}
			out.W[i] = uint64(p)
		}
		return nil
	}
}

func divInts(t *intType, a, b int64) (int64, error) {
	switch {
	case b == 0:
		return 0, types.ErrDivisionByZero()
	case b == -1:
		if a == t.min {
			return 0, t.errRange()
		}
		return -a, nil
	}
	return a / b, nil
}

func modInts(_ *intType, a, b int64) (int64, error) {
	switch b {
	case 0:
		return 0, types.ErrDivisionByZero()
	case -1:
		return 0, nil
	}
	return a % b, nil
}

// checkedOp is an operation that fails by itself.
type checkedOp func(t *intType, a, b int64) (int64, error)

func checkedFunc(t *intType, op checkedOp) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, err := op(t, a[0].Int64(), a[1].Int64())
		return types.Int64Datum(v), err
	}
}

func vecChecked(t *intType, op checkedOp) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		a, b := operandOf(args[0]), operandOf(args[1])
		for k := range rows.Len() {
			i := rows.At(k)
			if out.Null[i] = a.null[i&a.mask] || b.null[i&b.mask]; out.Null[i] {
				continue
			}
			v, err := op(t, int64(a.w[i&a.mask]), int64(b.w[i&b.mask]))
			if err != nil {
				return err
			}
			out.W[i] = uint64(v)
		}
		return nil
	}
}

func gcdInts(t *intType, a, b int64) (int64, error) {
	x, y := absInt64(a), absInt64(b)
	for y != 0 {
		x, y = y, x%y
	}
	if x > uint64(t.max) {
		return 0, t.errRange()
	}
	return int64(x), nil
}

func lcmInts(t *intType, a, b int64) (int64, error) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	g, err := gcdInts(t, a, b)
	if err != nil {
		return 0, err
	}
	p, ok := mulInt64(a/g, b)
	if !ok || p == math.MinInt64 {
		return 0, t.errRange()
	}
	if p < 0 {
		p = -p
	}
	if p > t.max {
		return 0, t.errRange()
	}
	return p, nil
}

func word1(f func(a int64) int64) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) { return types.Int64Datum(f(a[0].Int64())), nil }
}

func word2(f func(a, b int64) int64) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(f(a[0].Int64(), a[1].Int64())), nil
	}
}

func identity(_ *Context, a []types.Datum) (types.Datum, error) { return a[0], nil }

// vecIdentity is for casts that change nothing in the word.
func vecIdentity(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
	a := operandOf(args[0])
	for k := range rows.Len() {
		i := rows.At(k)
		if out.Null[i] = a.null[i&a.mask]; !out.Null[i] {
			out.W[i] = a.w[i&a.mask]
		}
	}
	return nil
}

func registerInts(r *registry) {
	results := map[string]*intType{
		"int2": int2Type, "int4": int4Type, "int8": int8Type, "int24": int4Type, "int42": int4Type, "int28": int8Type, "int82": int8Type,
		"int48": int8Type, "int84": int8Type,
	}
	for name, t := range results {
		r.vec(name+"pl", intFunc(t, addInts), vecAdd(t))
		r.vec(name+"mi", intFunc(t, subInts), vecSub(t))
		r.vec(name+"mul", intFunc(t, mulInt64), vecMul(t))
		r.vec(name+"div", checkedFunc(t, divInts), vecChecked(t, divInts))
	}
	for name, t := range map[string]*intType{"int2": int2Type, "int4": int4Type, "int8": int8Type} {
		r.vec(name+"mod", checkedFunc(t, modInts), vecChecked(t, modInts))
		r.fn(name+"um", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if a[0].Int64() == t.min {
				return types.Datum{}, t.errRange()
			}
			return types.Int64Datum(-a[0].Int64()), nil
		})
		r.vec(name+"up", identity, vecIdentity)
		r.fn(name+"abs", func(_ *Context, a []types.Datum) (types.Datum, error) {
			v := a[0].Int64()
			if v == t.min {
				return types.Datum{}, t.errRange()
			}
			if v < 0 {
				v = -v
			}
			return types.Int64Datum(v), nil
		})
		r.fn(name+"and", word2(func(a, b int64) int64 { return a & b }))
		r.fn(name+"or", word2(func(a, b int64) int64 { return a | b }))
		r.fn(name+"xor", word2(func(a, b int64) int64 { return a ^ b }))
		r.fn(name+"not", word1(func(a int64) int64 { return ^a }))
		r.fn(name+"inc", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if a[0].Int64() == t.max {
				return types.Datum{}, t.errRange()
			}
			return types.Int64Datum(a[0].Int64() + 1), nil
		})
		if name != "int2" {
			r.fn(name+"gcd", checkedFunc(t, gcdInts))
			r.fn(name+"lcm", checkedFunc(t, lcmInts))
		}
	}
	r.fn("int8inc_any", func(c *Context, a []types.Datum) (types.Datum, error) {
		v, ok := addInts(a[0].Int64(), 1)
		if !ok {
			return types.Datum{}, int8Type.errRange()
		}
		return types.Int64Datum(v), nil
	})
	// Shifts take their count modulo the width, as the machine does.
	r.fn("int2shl", word2(func(a, b int64) int64 { return int64(int16(int32(a) << (uint(b) & 31))) }))
	r.fn("int2shr", word2(func(a, b int64) int64 { return int64(int16(int32(a) >> (uint(b) & 31))) }))
	r.fn("int4shl", word2(func(a, b int64) int64 { return int64(int32(a) << (uint(b) & 31)) }))
	r.fn("int4shr", word2(func(a, b int64) int64 { return int64(int32(a) >> (uint(b) & 31)) }))
	r.fn("int8shl", word2(func(a, b int64) int64 { return a << (uint(b) & 63) }))
	r.fn("int8shr", word2(func(a, b int64) int64 { return a >> (uint(b) & 63) }))

	// Widening is nothing, since words are sign-extended.
	for _, name := range []string{"int28", "int48"} {
		r.vec(name, identity, vecIdentity)
	}
	// smallint is cast to oid and its kin by way of integer, and their words are not.
	unsigned := func(c *Context) bool { return c.Call != nil && types.PhysOf(c.Call.Result) == types.PhysUint4 }
	r.vec("i2toi4", func(c *Context, a []types.Datum) (types.Datum, error) {
		if unsigned(c) {
			return types.OIDDatum(types.OID(a[0].W)), nil
		}
		return a[0], nil
	}, func(c *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		if err := vecIdentity(c, args, rows, out); err != nil || !unsigned(c) {
			return err
		}
		for j := range rows.Len() {
			i := rows.At(j)
			out.W[i] = uint64(uint32(out.W[i]))
		}
		return nil
	})
	r.fn("i4toi2", narrow(int2Type))
	r.fn("int82", narrow(int2Type))
	r.fn("int84", narrow(int4Type))
	r.fn("i8tooid", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if a[0].W > math.MaxUint32 {
			return types.Datum{}, pgerr.New(pgerr.NumericValueOutOfRange, "OID out of range")
		}
		return a[0], nil
	})
	r.vec("oidtoi8", identity, vecIdentity)
	r.fn("int4_bool", func(_ *Context, a []types.Datum) (types.Datum, error) { return types.BoolDatum(a[0].W != 0), nil })
	r.fn("bool_int4", identity)
	r.fn("i4tochar", func(_ *Context, a []types.Datum) (types.Datum, error) {
		v := a[0].Int64()
		if v < math.MinInt8 || v > math.MaxInt8 {
			return types.Datum{}, errOutOfRange("\"char\"")
		}
		return types.Datum{W: uint64(byte(v))}, nil
	})
	r.fn("chartoi4", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(int64(int8(a[0].W))), nil
	})
	r.fn("xid8toxid", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Datum{W: a[0].W & math.MaxUint32}, nil
	})
}

func narrow(t *intType) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) { return t.check(a[0].Int64()) }
}
