package fn

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func errInputRange() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "input is out of range")
}

func errPower(format string) error {
	return pgerr.New(pgerr.InvalidArgumentForPowerFunction, "%s", format)
}

func errLog(v float64) error {
	if v == 0 {
		return pgerr.New(pgerr.InvalidArgumentForLog, "cannot take logarithm of zero")
	}
	return pgerr.New(pgerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
}

func dsqrt(v float64) (float64, error) {
	if v < 0 {
		return 0, errPower("cannot take square root of a negative number")
	}
	r := math.Sqrt(v)
	return r, checkFloat(r, math.IsInf(v, 0), v == 0)
}

// checkFloat reports an infinite or zero result that the argument does not explain.
func checkFloat(v float64, infOK, zeroOK bool) error {
	if math.IsInf(v, 0) && !infOK {
		return errOverflow()
	}
	if v == 0 && !zeroOK {
		return errUnderflow()
	}
	return nil
}

func dcbrt(v float64) (float64, error) {
	r := exactCbrt(v)
	return r, checkFloat(r, math.IsInf(v, 0), v == 0)
}

func dpow(a, b float64) (float64, error) {
	// NaN to the zeroth and one to any power are one, as POSIX says.
	switch {
	case math.IsNaN(a):
		if math.IsNaN(b) || b != 0 {
			return math.NaN(), nil
		}
		return 1, nil
	case math.IsNaN(b):
		if a != 1 {
			return math.NaN(), nil
		}
		return 1, nil
	case a == 0 && b < 0:
		return 0, errPower("zero raised to a negative power is undefined")
	case a < 0 && math.Floor(b) != b:
		return 0, errPower("a negative number raised to a non-integer power yields a complex result")
	}
	r := exactPow(a, b)
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return r, nil
	}
	return r, checkFloat(r, false, a == 0)
}

func dexp(v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 1) {
		return v, nil
	}
	if math.IsInf(v, -1) {
		return 0, nil
	}
	r := exactExp(v)
	return r, checkFloat(r, false, false)
}

func dlog1(v float64) (float64, error) {
	if v <= 0 {
		return 0, errLog(v)
	}
	r := exactLog(v)
	return r, checkFloat(r, math.IsInf(v, 0), v == 1)
}

func dlog10(v float64) (float64, error) {
	if v <= 0 {
		return 0, errLog(v)
	}
	r := exactLog10(v)
	return r, checkFloat(r, math.IsInf(v, 0), v == 1)
}

// within makes a function that fails outside lo to hi; NaN passes.
func within(lo, hi float64, f func(float64) float64) Func {
	return float1(func(v float64) (float64, error) {
		if v < lo || v > hi {
			return 0, errInputRange()
		}
		return f(v), nil
	})
}

// finite makes a function that fails for infinities.
func finite(f func(float64) (float64, error)) Func {
	return float1(func(v float64) (float64, error) {
		if math.IsNaN(v) {
			return v, nil
		}
		if math.IsInf(v, 0) {
			return 0, errInputRange()
		}
		return f(v)
	})
}

func plain(f func(float64) float64) func(float64) (float64, error) {
	return func(v float64) (float64, error) { return f(v), nil }
}

const degree = math.Pi / 180

// The functions of degrees are exact at the multiples of 30 and 45 degrees, by PostgreSQL's way of dividing by the computed value there.
var (
	radian   = float64(degree) // what follows must round as at run time
	sin30    = exactSin(30 * radian)
	oneCos60 = 1 - exactCos(60*radian)
	asin05   = exactAsin(0.5)
	acos05   = exactAcos(0.5)
	atan1    = exactAtan(1)
	tan45    = sindQ1(45) / cosdQ1(45)
	cot45    = cosdQ1(45) / sindQ1(45)
)

func sind30(v float64) float64 { return exactSin(v*degree) / sin30 / 2 }

func cosd60(v float64) float64 { return 1 - (1-exactCos(v*degree))/oneCos60/2 }

func sindQ1(v float64) float64 {
	if v <= 30 {
		return sind30(v)
	}
	return cosd60(90 - v)
}

func cosdQ1(v float64) float64 {
	if v <= 60 {
		return cosd60(v)
	}
	return sind30(90 - v)
}

func sind(v float64) float64 {
	v = math.Mod(v, 360)
	sign := 1.0
	if v < 0 {
		v, sign = -v, -sign
	}
	if v > 180 {
		v, sign = 360-v, -sign
	}
	if v > 90 {
		v = 180 - v
	}
	return sign * sindQ1(v)
}

func cosd(v float64) float64 {
	v = math.Abs(math.Mod(v, 360))
	sign := 1.0
	if v > 180 {
		v = 360 - v
	}
	if v > 90 {
		v, sign = 180-v, -sign
	}
	return sign * cosdQ1(v)
}

// firstQuadrant reduces for tan and cot.
func firstQuadrant(v float64) (float64, float64) {
	v = math.Mod(v, 360)
	sign := 1.0
	if v < 0 {
		v, sign = -v, -sign
	}
	if v > 180 {
		v, sign = 360-v, -sign
	}
	if v > 90 {
		v, sign = 180-v, -sign
	}
	return v, sign
}

func tand(v float64) float64 {
	v, sign := firstQuadrant(v)
	r := sign * (sindQ1(v) / cosdQ1(v) / tan45)
	if r == 0 {
		return 0
	}
	return r
}

func cotd(v float64) float64 {
	v, sign := firstQuadrant(v)
	r := sign * (cosdQ1(v) / sindQ1(v) / cot45)
	if r == 0 {
		return 0
	}
	return r
}

func asindQ1(v float64) float64 {
	if v <= 0.5 {
		return exactAsin(v) / asin05 * 30
	}
	return 90 - exactAcos(v)/acos05*60
}

func acosdQ1(v float64) float64 {
	if v <= 0.5 {
		return 90 - exactAsin(v)/asin05*30
	}
	return exactAcos(v) / acos05 * 60
}

func asind(v float64) float64 {
	if v >= 0 {
		return asindQ1(v)
	}
	return -asindQ1(-v)
}

func acosd(v float64) float64 {
	if v >= 0 {
		return acosdQ1(v)
	}
	return 90 + asindQ1(-v)
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0 // of NaN too
}

func registerMath(r *registry) {
	r.fn("dround", pure(math.RoundToEven))
	r.fn("dceil", pure(math.Ceil))
	r.fn("dfloor", pure(math.Floor))
	r.fn("dtrunc", pure(math.Trunc))
	r.fn("dsign", pure(sign))
	r.fn("dsqrt", float1(dsqrt))
	r.fn("dcbrt", float1(dcbrt))
	r.fn("dpow", floatFunc(dpow))
	r.fn("dexp", float1(dexp))
	r.fn("dlog1", float1(dlog1))
	r.fn("dlog10", float1(dlog10))
	r.fn("dpi", func(*Context, []types.Datum) (types.Datum, error) { return types.Float64Datum(math.Pi), nil })
	r.fn("degrees", float1(func(v float64) (float64, error) { return floatDiv(v, degree) }))
	r.fn("radians", float1(func(v float64) (float64, error) { return floatMul(v, degree) }))

	r.fn("dacos", within(-1, 1, exactAcos))
	r.fn("dasin", within(-1, 1, exactAsin))
	r.fn("datan", pure(exactAtan))
	r.fn("datan2", floatFunc(func(a, b float64) (float64, error) { return exactAtan2(a, b), nil }))
	r.fn("dcos", finite(plain(exactCos)))
	r.fn("dsin", finite(plain(exactSin)))
	r.fn("dtan", finite(plain(exactTan)))
	r.fn("dcot", finite(plain(func(v float64) float64 { return 1 / exactTan(v) })))
	r.fn("dacosd", within(-1, 1, acosd))
	r.fn("dasind", within(-1, 1, asind))
	r.fn("datand", pure(func(v float64) float64 { return exactAtan(v) / atan1 * 45 }))
	r.fn("datan2d", floatFunc(func(a, b float64) (float64, error) { return exactAtan2(a, b) / atan1 * 45, nil }))
	r.fn("dcosd", finite(plain(cosd)))
	r.fn("dsind", finite(plain(sind)))
	r.fn("dtand", finite(plain(tand)))
	r.fn("dcotd", finite(plain(cotd)))
	r.fn("dsinh", pure(exactSinh))
	r.fn("dcosh", pure(exactCosh))
	r.fn("dtanh", pure(exactTanh))
	r.fn("dasinh", pure(math.Asinh))
	r.fn("dacosh", float1(func(v float64) (float64, error) {
		if v < 1 {
			return 0, errInputRange()
		}
		return math.Acosh(v), nil
	}))
	r.fn("datanh", float1(func(v float64) (float64, error) {
		if v < -1 || v > 1 {
			return 0, errInputRange()
		}
		return math.Atanh(v), nil
	}))

	r.fn("drandom", func(c *Context, _ []types.Datum) (types.Datum, error) {
		if c.Rand == nil {
			return types.Datum{}, errNoState("random()")
		}
		return types.Float64Datum(c.Rand.Float64()), nil
	})
	r.fn("setseed", func(c *Context, a []types.Datum) (types.Datum, error) {
		v := a[0].Float64()
		if v < -1 || v > 1 || math.IsNaN(v) {
			return types.Datum{}, errParameter("setseed parameter %s is out of allowed range [-1,1]", formatG(v))
		}
		if c.Rand == nil {
			return types.Datum{}, errNoState("setseed()")
		}
		c.Rand.SetSeed(v)
		return types.Datum{}, nil
	})
	r.fn("width_bucket_float8", widthBucketFloat)
	r.fn("width_bucket_numeric", widthBucketNumeric)
	r.fn("width_bucket_array", widthBucketArray)
}

func formatG(v float64) string {
	return string(types.Out(types.Float8, types.Float64Datum(v), nil, &types.Env{}))
}

func errBucket(msg string) error {
	return pgerr.New(pgerr.InvalidArgumentForWidthBucketFunction, "%s", msg)
}

func widthBucketFloat(_ *Context, a []types.Datum) (types.Datum, error) {
	v, lo, hi, count := a[0].Float64(), a[1].Float64(), a[2].Float64(), a[3].Int64()
	switch {
	case count <= 0:
		return types.Datum{}, errBucket("count must be greater than zero")
	case math.IsNaN(v) || math.IsNaN(lo) || math.IsNaN(hi):
		return types.Datum{}, errBucket("operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return types.Datum{}, errBucket("lower and upper bounds must be finite")
	case lo == hi:
		return types.Datum{}, errBucket("lower bound cannot equal upper bound")
	}
	var n int64
	if lo < hi {
		switch {
		case v < lo:
			n = 0
		case v >= hi:
			n = count + 1
		default:
			n = bucketOf(count, v-lo, hi-lo, v, lo, hi)
		}
	} else {
		switch {
		case v > lo:
			n = 0
		case v <= hi:
			n = count + 1
		default:
			n = bucketOf(count, lo-v, lo-hi, v, lo, hi)
		}
	}
	if n > math.MaxInt32 {
		return types.Datum{}, errOutOfRange("integer")
	}
	return types.Int64Datum(n), nil
}

// bucketOf places an operand between the bounds; where the difference of the bounds overflows it works with halves.
func bucketOf(count int64, part, whole, v, lo, hi float64) int64 {
	if math.IsInf(whole, 0) {
		part = math.Abs(v/2 - lo/2)
		whole = math.Abs(hi/2 - lo/2)
	}
	n := int64(float64(count) * (part / whole))
	return min(n, count-1) + 1
}

func widthBucketNumeric(_ *Context, a []types.Datum) (types.Datum, error) {
	v, lo, hi, count := a[0].Num(), a[1].Num(), a[2].Num(), a[3].Int64()
	switch {
	case count <= 0:
		return types.Datum{}, errBucket("count must be greater than zero")
	case v.IsNaN() || lo.IsNaN() || hi.IsNaN():
		return types.Datum{}, errBucket("operand, lower bound, and upper bound cannot be NaN")
	case lo.IsInf() || hi.IsInf():
		return types.Datum{}, errBucket("lower and upper bounds must be finite")
	}
	order := lo.Cmp(hi)
	if order == 0 {
		return types.Datum{}, errBucket("lower bound cannot equal upper bound")
	}
	below, above := v.Cmp(lo) < 0, v.Cmp(hi) >= 0
	if order > 0 {
		below, above = v.Cmp(lo) > 0, v.Cmp(hi) <= 0
	}
	switch {
	case below:
		return types.Int64Datum(0), nil
	case above:
		if count == math.MaxInt32 {
			return types.Datum{}, errOutOfRange("integer")
		}
		return types.Int64Datum(count + 1), nil
	}
	part, _ := v.Sub(lo)
	whole, _ := hi.Sub(lo)
	p, err := part.Mul(types.NumFromInt64(count))
	if err != nil {
		return types.Datum{}, err
	}
	q, err := p.DivTrunc(whole)
	if err != nil {
		return types.Datum{}, err
	}
	n, _ := q.Int64()
	return types.Int64Datum(n + 1), nil
}

func widthBucketArray(c *Context, a []types.Datum) (types.Datum, error) {
	arr := a[1].Array()
	if len(arr.Dims) > 1 {
		return types.Datum{}, pgerr.New(pgerr.ArraySubscriptError, "thresholds must be one-dimensional array")
	}
	if arr.HasNulls() {
		return types.Datum{}, pgerr.New(pgerr.NullValueNotAllowed, "thresholds array must not contain NULLs")
	}
	cmp := types.Comparer(arr.Elem, c.collation(), c.Env.Types)
	elems := arr.Elems(nil)
	lo, hi := 0, len(elems)
	for lo < hi {
		mid := (lo + hi) / 2
		if cmp(a[0], elems[mid]) < 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return types.Int64Datum(int64(lo)), nil
}

func (c *Context) collation() types.OID {
	if c.Call == nil {
		return 0
	}
	return c.Call.Collation
}
