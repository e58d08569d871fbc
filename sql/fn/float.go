package fn

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func errOverflow() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: overflow")
}

func errUnderflow() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: underflow")
}

// floatOp is an operation of floats with the checks that PostgreSQL makes of its result.
type floatOp func(a, b float64) (float64, error)

func floatAdd(a, b float64) (float64, error) {
	v := a + b
	if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return 0, errOverflow()
	}
	return v, nil
}

func floatSub(a, b float64) (float64, error) { return floatAdd(a, -b) }

func floatMul(a, b float64) (float64, error) {
	v := a * b
	if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return 0, errOverflow()
	}
	if v == 0 && a != 0 && b != 0 {
		return 0, errUnderflow()
	}
	return v, nil
}

func floatDiv(a, b float64) (float64, error) {
	if b == 0 && !math.IsNaN(a) {
		return 0, types.ErrDivisionByZero()
	}
	v := a / b
	if math.IsInf(v, 0) && !math.IsInf(a, 0) {
		return 0, errOverflow()
	}
	if v == 0 && a != 0 && !math.IsInf(b, 0) {
		return 0, errUnderflow()
	}
	return v, nil
}

// single rounds an operation to 32 bits and checks the rounded result.
func single(op floatOp) floatOp {
	return func(a, b float64) (float64, error) {
		v, err := op(a, b)
		if err != nil {
			return 0, err
		}
		return toSingle(v)
	}
}

// toSingle rounds to 32 bits as a cast to real does.
func toSingle(v float64) (float64, error) {
	f := float64(float32(v))
	if math.IsInf(f, 0) && !math.IsInf(v, 0) {
		return 0, errOverflow()
	}
	if f == 0 && v != 0 {
		return 0, errUnderflow()
	}
	return f, nil
}

func floatFunc(op floatOp) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, err := op(a[0].Float64(), a[1].Float64())
		return types.Float64Datum(v), err
	}
}

func vecFloatOp(op floatOp) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		a, b := operandOf(args[0]), operandOf(args[1])
		for k := range rows.Len() {
			i := rows.At(k)
			if out.Null[i] = a.null[i&a.mask] || b.null[i&b.mask]; out.Null[i] {
				continue
			}
			v, err := op(math.Float64frombits(a.w[i&a.mask]), math.Float64frombits(b.w[i&b.mask]))
			if err != nil {
				return err
			}
			out.W[i] = math.Float64bits(v)
		}
		return nil
	}
}

// The plain loops of the commonest operations; a result that may be an overflow goes to the checked form.
func vecFloatLoop(mul bool) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		a, b := operandOf(args[0]), operandOf(args[1])
		for k := range rows.Len() {
			i := rows.At(k)
			if out.Null[i] = a.null[i&a.mask] || b.null[i&b.mask]; out.Null[i] {
				continue
			}
			x, y := math.Float64frombits(a.w[i&a.mask]), math.Float64frombits(b.w[i&b.mask])
			var v float64
			if mul {
				v = x * y
			} else {
				v = x + y
			}
			if v == 0 || v-v != 0 { // zero, infinite or NaN
				var err error
				if mul {
					v, err = floatMul(x, y)
				} else {
					v, err = floatAdd(x, y)
				}
				if err != nil {
					return err
				}
			}
			out.W[i] = math.Float64bits(v)
		}
		return nil
	}
}

func float1(f func(a float64) (float64, error)) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, err := f(a[0].Float64())
		return types.Float64Datum(v), err
	}
}

func pure(f func(float64) float64) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Float64Datum(f(a[0].Float64())), nil
	}
}

// floatToInt rounds to even and checks the range.
func floatToInt(t *intType) Func {
	limit := math.Ldexp(1, 15)
	switch t {
	case int4Type:
		limit = math.Ldexp(1, 31)
	case int8Type:
		limit = math.Ldexp(1, 63)
	}
	return float1ToInt(t, limit)
}

func float1ToInt(t *intType, limit float64) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		v := math.RoundToEven(a[0].Float64())
		if math.IsNaN(v) || v < -limit || v >= limit {
			return types.Datum{}, t.errRange()
		}
		return types.Int64Datum(int64(v)), nil
	}
}

func registerFloats(r *registry) {
	for name, op := range map[string]floatOp{"pl": floatAdd, "mi": floatSub, "mul": floatMul, "div": floatDiv} {
		for _, prefix := range []string{"float8", "float48", "float84"} {
			vec := vecFloatOp(op)
			switch name {
			case "pl":
				vec = vecFloatLoop(false)
			case "mul":
				vec = vecFloatLoop(true)
			}
			r.vec(prefix+name, floatFunc(op), vec)
		}
		s := single(op)
		r.vec("float4"+name, floatFunc(s), vecFloatOp(s))
	}
	for _, prefix := range []string{"float4", "float8"} {
		r.fn(prefix+"um", pure(func(v float64) float64 { return -v }))
		r.fn(prefix+"up", identity)
		r.fn(prefix+"abs", pure(math.Abs))
	}
	// A float4 is kept as the float64 of the same value.
	r.vec("ftod", identity, vecIdentity)
	r.fn("dtof", float1(toSingle))
	for _, name := range []string{"i2tod", "i4tod", "i8tod"} {
		r.vec(name, intToFloat, vecIntToFloat)
	}
	for _, name := range []string{"i2tof", "i4tof", "i8tof"} {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.Float64Datum(float64(float32(a[0].Int64()))), nil
		})
	}
	for suffix, t := range map[string]*intType{"i2": int2Type, "i4": int4Type, "i8": int8Type} {
		r.fn("dto"+suffix, floatToInt(t))
		r.fn("fto"+suffix, floatToInt(t))
	}
	registerMath(r)
}

func intToFloat(_ *Context, a []types.Datum) (types.Datum, error) {
	return types.Float64Datum(float64(a[0].Int64())), nil
}

func vecIntToFloat(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
	a := operandOf(args[0])
	for k := range rows.Len() {
		i := rows.At(k)
		if out.Null[i] = a.null[i&a.mask]; !out.Null[i] {
			out.W[i] = math.Float64bits(float64(int64(a.w[i&a.mask])))
		}
	}
	return nil
}
