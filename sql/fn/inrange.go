package fn

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func errRangeOffset() error {
	return pgerr.New(pgerr.InvalidPrecedingOrFollowingSize, "invalid preceding or following size in window function")
}

// within decides a window frame's RANGE bound: value against the base moved by the offset; over says that the sum left the type's range.
func withinBound(cmp int, less bool) types.Datum {
	if less {
		return types.BoolDatum(cmp <= 0)
	}
	return types.BoolDatum(cmp >= 0)
}

func registerInRange(r *registry) {
	ints := func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, base, off, sub, less := a[0].Int64(), a[1].Int64(), a[2].Int64(), a[3].Bool(), a[4].Bool()
		if off < 0 {
			return types.Datum{}, errRangeOffset()
		}
		if sub {
			off = -off
		}
		sum, ok := addInts(base, off)
		if !ok && off != 0 {
			// Beyond the type's end everything is on one side.
			return types.BoolDatum(sub != less), nil
		}
		return withinBound(b2i(v > sum)-b2i(v < sum), less), nil
	}
	for _, n := range []string{"int2_int2", "int2_int4", "int2_int8", "int4_int2", "int4_int4", "int4_int8", "int8_int8"} {
		r.fn("in_range_"+n, ints)
	}
	floats := func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, base, off, sub, less := a[0].Float64(), a[1].Float64(), a[2].Float64(), a[3].Bool(), a[4].Bool()
		switch {
		case math.IsNaN(off) || off < 0:
			return types.Datum{}, errRangeOffset()
		case math.IsNaN(v):
			return types.BoolDatum(math.IsNaN(base) || !less), nil
		case math.IsNaN(base):
			return types.BoolDatum(less), nil
		case math.IsInf(off, 1) && math.IsInf(base, 0) && (base < 0) != sub:
			// Infinity less infinity: every value is within.
			return types.BoolDatum(true), nil
		}
		if sub {
			off = -off
		}
		return withinBound(types.CompareFloat(v, base+off), less), nil
	}
	r.fn("in_range_float8_float8", floats)
	r.fn("in_range_float4_float8", floats)
	r.fn("in_range_numeric_numeric", func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, base, off, sub, less := a[0].Num(), a[1].Num(), a[2].Num(), a[3].Bool(), a[4].Bool()
		switch {
		case off.IsNaN() || off.Sign() < 0:
			return types.Datum{}, errRangeOffset()
		case v.IsNaN():
			return types.BoolDatum(base.IsNaN() || !less), nil
		case base.IsNaN():
			return types.BoolDatum(less), nil
		}
		if sub {
			off = off.Neg()
		}
		sum, err := base.Add(off)
		if err != nil {
			return types.Datum{}, err
		}
		if sum.IsNaN() {
			return types.BoolDatum(true), nil
		}
		return withinBound(v.Cmp(sum), less), nil
	})
	times := func(move func(c *Context, base int64, v types.IntervalValue) (int64, error)) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			off := a[2].Interval()
			if c.ArgType(0) == types.Time {
				// Months and days do not move a time of day, nor do they count for the sign.
				off.Months, off.Days = 0, 0
			}
			if types.CompareInterval(off, types.IntervalValue{}) < 0 {
				return types.Datum{}, errRangeOffset()
			}
			if a[3].Bool() {
				var err error
				if off, err = negInterval(off); err != nil {
					return types.Datum{}, err
				}
			}
			sum, err := move(c, a[1].Int64(), off)
			if err != nil {
				return types.Datum{}, err
			}
			v := a[0].Int64()
			return withinBound(b2i(v > sum)-b2i(v < sum), a[4].Bool()), nil
		}
	}
	r.fn("in_range_timestamp_interval", times(func(_ *Context, b int64, v types.IntervalValue) (int64, error) { return timestampPlus(b, v) }))
	r.fn("in_range_timestamptz_interval", times(func(c *Context, b int64, v types.IntervalValue) (int64, error) {
		return timestamptzPlus(b, v, c.location())
	}))
	r.fn("in_range_time_interval", times(func(_ *Context, b int64, v types.IntervalValue) (int64, error) { return b + v.Micros, nil }))
	dates := times(func(_ *Context, b int64, v types.IntervalValue) (int64, error) { return timestampPlus(b, v) })
	r.fn("in_range_date_interval", func(c *Context, a []types.Datum) (types.Datum, error) {
		v, err := dateToTimestamp(a[0].Int64())
		if err != nil {
			return types.Datum{}, err
		}
		b, err := dateToTimestamp(a[1].Int64())
		if err != nil {
			return types.Datum{}, err
		}
		return dates(c, []types.Datum{types.Int64Datum(v), types.Int64Datum(b), a[2], a[3], a[4]})
	})
	r.fn("in_range_interval_interval", func(_ *Context, a []types.Datum) (types.Datum, error) {
		off := a[2].Interval()
		if types.CompareInterval(off, types.IntervalValue{}) < 0 {
			return types.Datum{}, errRangeOffset()
		}
		sum, err := addIntervals(a[1].Interval(), off)
		if a[3].Bool() {
			sum, err = subIntervals(a[1].Interval(), off)
		}
		if err != nil {
			return types.Datum{}, err
		}
		return withinBound(types.CompareInterval(a[0].Interval(), sum), a[4].Bool()), nil
	})
}
