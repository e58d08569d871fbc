package fn

import (
	"math"
	"time"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func errTimestampRange() error {
	return pgerr.New(pgerr.DatetimeValueOutOfRange, "timestamp out of range")
}

func errDateRange() error {
	return pgerr.New(pgerr.DatetimeValueOutOfRange, "date out of range")
}

func errIntervalRange() error {
	return pgerr.New(pgerr.DatetimeValueOutOfRange, "interval out of range")
}

func (c *Context) location() *time.Location {
	if c.Env.TimeZone == nil {
		return time.UTC
	}
	return c.Env.TimeZone
}

func checkedTimestamp(t int64) (types.Datum, error) {
	if !types.ValidTimestamp(t) {
		return types.Datum{}, errTimestampRange()
	}
	return types.Int64Datum(t), nil
}

// addMonths moves a local timestamp by months, to the month's last day if need be, and by days.
func addMonths(t int64, months, days int32) (int64, error) {
	if months == 0 && days == 0 {
		return t, nil
	}
	f := types.TimestampFields(t)
	if months != 0 {
		m := int64(f.Month) - 1 + int64(months)
		f.Year += int(floorDiv(m, 12))
		f.Month = int(floorMod(m, 12)) + 1
		f.Day = min(f.Day, types.DaysInMonth(f.Year, f.Month))
	}
	if days != 0 {
		jd := int64(f.JDay()) + int64(days)
		if jd < 0 || jd > math.MaxInt32 {
			return 0, errTimestampRange()
		}
		f.Year, f.Month, f.Day = types.FromJulianDay(int(jd))
	}
	r, ok := f.Timestamp()
	if !ok {
		return 0, errTimestampRange()
	}
	return r, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

func timestampPlus(t int64, v types.IntervalValue) (int64, error) {
	if !types.FiniteTimestamp(t) {
		return t, nil
	}
	t, err := addMonths(t, v.Months, v.Days)
	if err != nil {
		return 0, err
	}
	t, ok := addInts(t, v.Micros)
	if (!ok && v.Micros != 0) || !types.ValidTimestamp(t) {
		return 0, errTimestampRange()
	}
	return t, nil
}

// timestamptzPlus adds months and days on the clocks of loc and microseconds in real time.
func timestamptzPlus(t int64, v types.IntervalValue, loc *time.Location) (int64, error) {
	if !types.FiniteTimestamp(t) {
		return t, nil
	}
	if v.Months != 0 || v.Days != 0 {
		// Months first, then days, each resolved in the zone.
		for _, step := range [...]types.IntervalValue{{Months: v.Months}, {Days: v.Days}} {
			if step.Months == 0 && step.Days == 0 {
				continue
			}
			local, err := addMonths(types.LocalTimestamp(t, loc), step.Months, step.Days)
			if err != nil {
				return 0, err
			}
			var ok bool
			if t, ok = types.ZoneTimestamp(local, loc); !ok {
				return 0, errTimestampRange()
			}
		}
	}
	t, ok := addInts(t, v.Micros)
	if (!ok && v.Micros != 0) || !types.ValidTimestamp(t) {
		return 0, errTimestampRange()
	}
	return t, nil
}

func negInterval(v types.IntervalValue) (types.IntervalValue, error) {
	if v.Micros == math.MinInt64 || v.Days == math.MinInt32 || v.Months == math.MinInt32 {
		return v, errIntervalRange()
	}
	return types.IntervalValue{Micros: -v.Micros, Days: -v.Days, Months: -v.Months}, nil
}

func dateToTimestamp(d int64) (int64, error) {
	switch d {
	case types.DateNoBegin:
		return types.TimestampNoBegin, nil
	case types.DateNoEnd:
		return types.TimestampNoEnd, nil
	}
	// The end of timestamps comes long before that of dates.
	if d*types.UsecsPerDay/types.UsecsPerDay != d || !types.ValidTimestamp(d*types.UsecsPerDay) {
		return 0, pgerr.New(pgerr.DatetimeValueOutOfRange, "date out of range for timestamp")
	}
	return d * types.UsecsPerDay, nil
}

func dateToTimestamptz(d int64, loc *time.Location) (int64, error) {
	t, err := dateToTimestamp(d)
	if err != nil {
		return 0, err
	}
	t, ok := types.ZoneTimestamp(t, loc)
	if !ok {
		return 0, pgerr.New(pgerr.DatetimeValueOutOfRange, "date out of range for timestamp")
	}
	return t, nil
}

func timestampToDate(t int64) int64 {
	switch t {
	case types.TimestampNoBegin:
		return types.DateNoBegin
	case types.TimestampNoEnd:
		return types.DateNoEnd
	}
	return floorDiv(t, types.UsecsPerDay)
}

func timestampToTZ(t int64, loc *time.Location) (int64, error) {
	tz, ok := types.ZoneTimestamp(t, loc)
	if !ok {
		return 0, errTimestampRange()
	}
	return tz, nil
}

func int64Result(v int64, err error) (types.Datum, error) {
	if err != nil {
		return types.Datum{}, err
	}
	return types.Int64Datum(v), nil
}

func addIntervals(a, b types.IntervalValue) (types.IntervalValue, error) {
	m, d := int64(a.Months)+int64(b.Months), int64(a.Days)+int64(b.Days)
	t, ok := addInts(a.Micros, b.Micros)
	if m != int64(int32(m)) || d != int64(int32(d)) || (!ok && b.Micros != 0) {
		return a, errIntervalRange()
	}
	return types.IntervalValue{Micros: t, Days: int32(d), Months: int32(m)}, nil
}

func subIntervals(a, b types.IntervalValue) (types.IntervalValue, error) {
	m, d := int64(a.Months)-int64(b.Months), int64(a.Days)-int64(b.Days)
	t, ok := subInts(a.Micros, b.Micros)
	if m != int64(int32(m)) || d != int64(int32(d)) || (!ok && b.Micros != 0) {
		return a, errIntervalRange()
	}
	return types.IntervalValue{Micros: t, Days: int32(d), Months: int32(m)}, nil
}

func intervalResult(v types.IntervalValue, err error) (types.Datum, error) {
	if err != nil {
		return types.Datum{}, err
	}
	return types.IntervalDatum(v), nil
}

func intervalAdd(_ *Context, a []types.Datum) (types.Datum, error) {
	return intervalResult(addIntervals(a[0].Interval(), a[1].Interval()))
}

func intervalSub(_ *Context, a []types.Datum) (types.Datum, error) {
	return intervalResult(subIntervals(a[0].Interval(), a[1].Interval()))
}

// scaleInterval multiplies or divides, passing fractions of months to days of 30 a month and of days to seconds.
func scaleInterval(v types.IntervalValue, f float64, divide bool) (types.IntervalValue, error) {
	op := func(x float64) float64 { return x * f }
	if divide {
		if f == 0 {
			return v, types.ErrDivisionByZero()
		}
		op = func(x float64) float64 { return x / f }
	}
	round := func(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }
	month, day := op(float64(v.Months)), op(float64(v.Days))
	if !(math.Abs(month) <= math.MaxInt32) || !(math.Abs(day) <= math.MaxInt32) {
		return v, errIntervalRange()
	}
	out := types.IntervalValue{Months: int32(month), Days: int32(day)}
	monthRest := round((month - float64(out.Months)) * 30)
	secRest := round((day - float64(out.Days) + monthRest - math.Trunc(monthRest)) * 86400)
	if math.Abs(secRest) >= 86400 {
		n := math.Trunc(secRest / 86400)
		out.Days += int32(n)
		secRest -= n * 86400
	}
	out.Days += int32(monthRest)
	t := math.RoundToEven(op(float64(v.Micros)) + secRest*1e6)
	if math.IsNaN(t) || t < -9223372036854775808 || t >= 9223372036854775808 {
		return v, errIntervalRange()
	}
	out.Micros = int64(t)
	return out, nil
}

func timeOfDay(t int64) int64 { return floorMod(t, types.UsecsPerDay) }

func registerDatetime(r *registry) {
	one := func(name string, f func(c *Context, v int64) (int64, error)) {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) { return int64Result(f(c, a[0].Int64())) })
	}
	two := func(name string, f func(c *Context, a, b int64) (int64, error)) {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			return int64Result(f(c, a[0].Int64(), a[1].Int64()))
		})
	}
	withInterval := func(name string, f func(c *Context, t int64, v types.IntervalValue) (int64, error)) {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			return int64Result(f(c, a[0].Int64(), a[1].Interval()))
		})
	}
	registerClock(r)
	registerDateCasts(r, one)
	registerMixedCompare(r)

	two("date_mi", func(_ *Context, a, b int64) (int64, error) {
		if !types.FiniteDate(a) || !types.FiniteDate(b) {
			return 0, pgerr.New(pgerr.DatetimeValueOutOfRange, "cannot subtract infinite dates")
		}
		return a - b, nil
	})
	datePlus := func(d, n int64) (int64, error) {
		if !types.FiniteDate(d) {
			return d, nil
		}
		if d += n; !types.ValidDate(d) {
			return 0, errDateRange()
		}
		return d, nil
	}
	two("date_pli", func(_ *Context, a, b int64) (int64, error) { return datePlus(a, b) })
	two("date_mii", func(_ *Context, a, b int64) (int64, error) { return datePlus(a, -b) })
	r.sql(2550, "integer_pl_date", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int64Result(datePlus(a[1].Int64(), a[0].Int64()))
	})
	dateShift := func(sign int) func(*Context, int64, types.IntervalValue) (int64, error) {
		return func(_ *Context, d int64, v types.IntervalValue) (int64, error) {
			t, err := dateToTimestamp(d)
			if err == nil && sign < 0 {
				v, err = negInterval(v)
			}
			if err != nil {
				return 0, err
			}
			return timestampPlus(t, v)
		}
	}
	withInterval("date_pl_interval", dateShift(1))
	withInterval("date_mi_interval", dateShift(-1))
	plus := func(_ *Context, t int64, v types.IntervalValue) (int64, error) { return timestampPlus(t, v) }
	plusTZ := func(c *Context, t int64, v types.IntervalValue) (int64, error) {
		return timestamptzPlus(t, v, c.location())
	}
	minus := func(f func(*Context, int64, types.IntervalValue) (int64, error)) func(*Context, int64, types.IntervalValue) (int64, error) {
		return func(c *Context, t int64, v types.IntervalValue) (int64, error) {
			v, err := negInterval(v)
			if err != nil {
				return 0, err
			}
			return f(c, t, v)
		}
	}
	timePlus := func(_ *Context, t int64, v types.IntervalValue) (int64, error) {
		return timeOfDay(t + v.Micros%types.UsecsPerDay), nil
	}
	timeMinus := func(_ *Context, t int64, v types.IntervalValue) (int64, error) {
		return timeOfDay(t - v.Micros%types.UsecsPerDay), nil
	}
	withInterval("timestamp_pl_interval", plus)
	withInterval("timestamp_mi_interval", minus(plus))
	withInterval("timestamptz_pl_interval", plusTZ)
	withInterval("timestamptz_mi_interval", minus(plusTZ))
	withInterval("time_pl_interval", timePlus)
	withInterval("time_mi_interval", timeMinus)
	swapped := func(oid types.OID, name string, f func(*Context, int64, types.IntervalValue) (int64, error)) {
		r.sql(oid, name, func(c *Context, a []types.Datum) (types.Datum, error) {
			return int64Result(f(c, a[1].Int64(), a[0].Interval()))
		})
	}
	swapped(2546, "interval_pl_date", dateShift(1))
	swapped(1848, "interval_pl_time", timePlus)
	swapped(2548, "interval_pl_timestamp", plus)
	swapped(2549, "interval_pl_timestamptz", plusTZ)
	for sign, name := range map[int64]string{1: "timetz_pl_interval", -1: "timetz_mi_interval"} {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) {
			t, west := a[0].Timetz()
			return types.TimetzDatum(timeOfDay(t+sign*(a[1].Interval().Micros%types.UsecsPerDay)), west), nil
		})
	}
	r.sql(2547, "interval_pl_timetz", func(_ *Context, a []types.Datum) (types.Datum, error) {
		t, west := a[1].Timetz()
		return types.TimetzDatum(timeOfDay(t+a[0].Interval().Micros%types.UsecsPerDay), west), nil
	})
	r.fn("time_mi_time", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.IntervalDatum(types.IntervalValue{Micros: a[0].Int64() - a[1].Int64()}), nil
	})
	r.fn("timestamp_mi", timestampMinus)
	registerIntervals(r)
	registerAge(r)
	registerOverlaps(r)
	registerExtract(r)
	registerTrunc(r)
	registerMake(r)
	registerZones(r)
}

// timestampMinus gives days and time, as interval_justify_hours leaves them.
func timestampMinus(_ *Context, a []types.Datum) (types.Datum, error) {
	x, y := a[0].Int64(), a[1].Int64()
	if !types.FiniteTimestamp(x) || !types.FiniteTimestamp(y) {
		return types.Datum{}, pgerr.New(pgerr.DatetimeValueOutOfRange, "cannot subtract infinite timestamps")
	}
	d := x - y // wraps around, as in PostgreSQL 15
	return types.IntervalDatum(types.IntervalValue{Micros: d % types.UsecsPerDay, Days: int32(d / types.UsecsPerDay)}), nil
}

func registerClock(r *registry) {
	r.fn("now", func(c *Context, _ []types.Datum) (types.Datum, error) {
		return types.Int64Datum(types.TimestampFromTime(c.TxStart)), nil
	})
	r.fn("statement_timestamp", func(c *Context, _ []types.Datum) (types.Datum, error) {
		return types.Int64Datum(types.TimestampFromTime(c.StmtStart)), nil
	})
	r.fn("clock_timestamp", func(c *Context, _ []types.Datum) (types.Datum, error) {
		return types.Int64Datum(types.TimestampFromTime(c.clock())), nil
	})
	r.fn("timeofday", func(c *Context, _ []types.Datum) (types.Datum, error) {
		return types.TextDatum(c.clock().In(c.location()).Format("Mon Jan 02 15:04:05.000000 2006 MST")), nil
	})
	r.fn("float8_timestamptz", func(_ *Context, a []types.Datum) (types.Datum, error) {
		v := a[0].Float64()
		switch {
		case math.IsNaN(v):
			return types.Datum{}, pgerr.New(pgerr.DatetimeValueOutOfRange, "timestamp cannot be NaN")
		case math.IsInf(v, 1):
			return types.Int64Datum(types.TimestampNoEnd), nil
		case math.IsInf(v, -1):
			return types.Int64Datum(types.TimestampNoBegin), nil
		}
		const epochDays = types.PostgresEpochJDate - types.UnixEpochJDate
		t := math.RoundToEven((v - epochDays*86400) * 1e6)
		if v < (0-types.UnixEpochJDate)*86400.0 || v >= 9224318016000 || !types.ValidTimestamp(int64(t)) {
			return types.Datum{}, pgerr.New(pgerr.DatetimeValueOutOfRange, "timestamp out of range: \"%s\"", cFormatG(v))
		}
		return types.Int64Datum(int64(t)), nil
	})
}

// cFormatG is C's %g.
func cFormatG(v float64) string {
	return string(types.Out(types.Float8, types.Float64Datum(v), nil, &types.Env{ExtraFloatDigits: -9}))
}

func (c *Context) clock() time.Time {
	if c.Clock != nil {
		return c.Clock()
	}
	return time.Now()
}

func registerDateCasts(r *registry, one func(string, func(*Context, int64) (int64, error))) {
	one("date_timestamp", func(_ *Context, d int64) (int64, error) { return dateToTimestamp(d) })
	one("date_timestamptz", func(c *Context, d int64) (int64, error) { return dateToTimestamptz(d, c.location()) })
	one("timestamp_date", func(_ *Context, t int64) (int64, error) { return timestampToDate(t), nil })
	one("timestamptz_date", func(c *Context, t int64) (int64, error) {
		return timestampToDate(types.LocalTimestamp(t, c.location())), nil
	})
	one("timestamp_timestamptz", func(c *Context, t int64) (int64, error) { return timestampToTZ(t, c.location()) })
	one("timestamptz_timestamp", func(c *Context, t int64) (int64, error) { return types.LocalTimestamp(t, c.location()), nil })
	r.fn("timestamp_time", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if !types.FiniteTimestamp(a[0].Int64()) {
			return types.NullDatum, nil
		}
		return types.Int64Datum(timeOfDay(a[0].Int64())), nil
	})
	r.fn("timestamptz_time", func(c *Context, a []types.Datum) (types.Datum, error) {
		if !types.FiniteTimestamp(a[0].Int64()) {
			return types.NullDatum, nil
		}
		return types.Int64Datum(timeOfDay(types.LocalTimestamp(a[0].Int64(), c.location()))), nil
	})
	r.fn("timestamptz_timetz", func(c *Context, a []types.Datum) (types.Datum, error) {
		t := a[0].Int64()
		if !types.FiniteTimestamp(t) {
			return types.NullDatum, nil
		}
		off, _, _ := types.ZoneAt(t, c.location())
		return types.TimetzDatum(timeOfDay(t+int64(off)*types.UsecsPerSec), int32(-off)), nil
	})
	r.fn("time_timetz", func(c *Context, a []types.Datum) (types.Datum, error) {
		// The zone's offset is that of now.
		local := types.LocalTimestamp(types.TimestampFromTime(c.TxStart), c.location())
		day := floorDiv(local, types.UsecsPerDay) * types.UsecsPerDay
		tz, _ := types.ZoneTimestamp(day+a[0].Int64(), c.location())
		return types.TimetzDatum(a[0].Int64(), int32((tz-day-a[0].Int64())/types.UsecsPerSec)), nil
	})
	r.fn("timetz_time", func(_ *Context, a []types.Datum) (types.Datum, error) {
		t, _ := a[0].Timetz()
		return types.Int64Datum(t), nil
	})
	r.fn("time_interval", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.IntervalDatum(types.IntervalValue{Micros: a[0].Int64()}), nil
	})
	r.fn("interval_time", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(timeOfDay(a[0].Interval().Micros)), nil
	})
	joinTime := func(d, t int64) (int64, error) {
		ts, err := dateToTimestamp(d)
		if err != nil || !types.FiniteTimestamp(ts) {
			return ts, err
		}
		if ts += t; !types.ValidTimestamp(ts) {
			return 0, errTimestampRange()
		}
		return ts, nil
	}
	r.fn("datetime_timestamp", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int64Result(joinTime(a[0].Int64(), a[1].Int64()))
	})
	r.sql(1296, "timedate_pl", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int64Result(joinTime(a[1].Int64(), a[0].Int64()))
	})
	r.sql(1176, "timestamptz", func(c *Context, a []types.Datum) (types.Datum, error) {
		t, err := joinTime(a[0].Int64(), a[1].Int64())
		if err != nil {
			return types.Datum{}, err
		}
		return int64Result(timestampToTZ(t, c.location()))
	})
	joinTimetz := func(d int64, tz types.Datum) (int64, error) {
		t, west := tz.Timetz()
		ts, err := dateToTimestamp(d)
		if err != nil || !types.FiniteTimestamp(ts) {
			return ts, err
		}
		if ts += t + int64(west)*types.UsecsPerSec; !types.ValidTimestamp(ts) {
			return 0, errTimestampRange()
		}
		return ts, nil
	}
	r.fn("datetimetz_timestamptz", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int64Result(joinTimetz(a[0].Int64(), a[1]))
	})
	r.sql(1298, "timetzdate_pl", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int64Result(joinTimetz(a[1].Int64(), a[0]))
	})
	for name, typ := range map[string]types.OID{
		"timestamp_scale": types.Timestamp, "timestamptz_scale": types.Timestamptz, "time_scale": types.Time, "timetz_scale": types.Timetz, "interval_scale": types.Interval,
	} {
		r.fn(name, coerce(typ))
	}
}

// registerMixedCompare enters comparisons between dates and timestamps. Dates beyond the timestamps' range compare as infinite.
func registerMixedCompare(r *registry) {
	clamp := func(d int64) int64 {
		t, err := dateToTimestamp(d)
		if err != nil {
			return types.TimestampNoEnd
		}
		return t
	}
	local := func(c *Context, t int64) int64 {
		tz, ok := types.ZoneTimestamp(t, c.location())
		if !ok {
			if t > 0 {
				return types.TimestampNoEnd
			}
			return types.TimestampNoBegin
		}
		return tz
	}
	enter := func(a, b string, cmp func(c *Context, x, y int64) int) {
		for _, rel := range relations {
			r.fn(a+"_"+rel.suffix+"_"+b, func(c *Context, args []types.Datum) (types.Datum, error) {
				return types.Datum{W: rel.holds[cmp(c, args[0].Int64(), args[1].Int64())+1]}, nil
			})
			r.fn(b+"_"+rel.suffix+"_"+a, func(c *Context, args []types.Datum) (types.Datum, error) {
				return types.Datum{W: rel.holds[1-cmp(c, args[1].Int64(), args[0].Int64())]}, nil
			})
		}
		r.fn(a+"_cmp_"+b, func(c *Context, args []types.Datum) (types.Datum, error) {
			return types.Int64Datum(int64(cmp(c, args[0].Int64(), args[1].Int64()))), nil
		})
		r.fn(b+"_cmp_"+a, func(c *Context, args []types.Datum) (types.Datum, error) {
			return types.Int64Datum(int64(-cmp(c, args[1].Int64(), args[0].Int64()))), nil
		})
	}
	// A date that had to be clamped is after every finite timestamp but before infinity.
	compare := func(d, x, y int64) int {
		if x == types.TimestampNoEnd && y == types.TimestampNoEnd && types.FiniteDate(d) {
			return -1
		}
		return b2i(x > y) - b2i(x < y)
	}
	enter("date", "timestamp", func(_ *Context, d, t int64) int { return compare(d, clamp(d), t) })
	enter("date", "timestamptz", func(c *Context, d, t int64) int { return compare(d, local(c, clamp(d)), t) })
	enter("timestamp", "timestamptz", func(c *Context, a, b int64) int {
		x := local(c, a)
		switch {
		case x == types.TimestampNoEnd && b == x && types.FiniteTimestamp(a):
			return -1
		case x == types.TimestampNoBegin && b == x && types.FiniteTimestamp(a):
			return 1
		}
		return b2i(x > b) - b2i(x < b)
	})
}

func registerIntervals(r *registry) {
	r.fn("interval_pl", intervalAdd)
	r.fn("interval_mi", intervalSub)
	r.fn("interval_um", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return intervalResult(negInterval(a[0].Interval()))
	})
	r.fn("interval_mul", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return intervalResult(scaleInterval(a[0].Interval(), a[1].Float64(), false))
	})
	r.fn("mul_d_interval", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return intervalResult(scaleInterval(a[1].Interval(), a[0].Float64(), false))
	})
	r.fn("interval_div", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return intervalResult(scaleInterval(a[0].Interval(), a[1].Float64(), true))
	})
	finite := func(_ *Context, _ []types.Datum) (types.Datum, error) { return types.BoolDatum(true), nil }
	r.fn("interval_finite", finite)
	r.fn("date_finite", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(types.FiniteDate(a[0].Int64())), nil
	})
	r.fn("timestamp_finite", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(types.FiniteTimestamp(a[0].Int64())), nil
	})
	justify := func(f func(types.IntervalValue) (types.IntervalValue, error)) Func {
		return func(_ *Context, a []types.Datum) (types.Datum, error) { return intervalResult(f(a[0].Interval())) }
	}
	r.fn("interval_justify_hours", justify(justifyHours))
	r.fn("interval_justify_days", justify(justifyDays))
	r.fn("interval_justify_interval", justify(justifyInterval))
}

func addDays(v *types.IntervalValue, days int64) error {
	d := int64(v.Days) + days
	if d != int64(int32(d)) {
		return errIntervalRange()
	}
	v.Days = int32(d)
	return nil
}

func addMonthsTo(v *types.IntervalValue, months int64) error {
	m := int64(v.Months) + months
	if m != int64(int32(m)) {
		return errIntervalRange()
	}
	v.Months = int32(m)
	return nil
}

// justifyHours moves whole days out of the time and makes both of one sign.
func justifyHours(v types.IntervalValue) (types.IntervalValue, error) {
	days := v.Micros / types.UsecsPerDay
	v.Micros %= types.UsecsPerDay
	if err := addDays(&v, days); err != nil {
		return v, err
	}
	if v.Days > 0 && v.Micros < 0 {
		v.Micros += types.UsecsPerDay
		v.Days--
	} else if v.Days < 0 && v.Micros > 0 {
		v.Micros -= types.UsecsPerDay
		v.Days++
	}
	return v, nil
}

// justifyDays moves whole months of 30 days out of the days and makes both of one sign.
func justifyDays(v types.IntervalValue) (types.IntervalValue, error) {
	months := int64(v.Days / 30)
	v.Days %= 30
	if err := addMonthsTo(&v, months); err != nil {
		return v, err
	}
	if v.Months > 0 && v.Days < 0 {
		v.Days += 30
		v.Months--
	} else if v.Months < 0 && v.Days > 0 {
		v.Days -= 30
		v.Months++
	}
	return v, nil
}

func justifyInterval(v types.IntervalValue) (types.IntervalValue, error) {
	// Days are moved first if they have the time's sign, so that fewer overflow.
	if (v.Days > 0 && v.Micros > 0) || (v.Days < 0 && v.Micros < 0) {
		months := int64(v.Days / 30)
		v.Days %= 30
		if err := addMonthsTo(&v, months); err != nil {
			return v, err
		}
	}
	days := v.Micros / types.UsecsPerDay
	v.Micros %= types.UsecsPerDay
	if err := addDays(&v, days); err != nil {
		return v, err
	}
	months := int64(v.Days / 30)
	v.Days %= 30
	if err := addMonthsTo(&v, months); err != nil {
		return v, err
	}
	switch {
	case v.Months > 0 && (v.Days < 0 || (v.Days == 0 && v.Micros < 0)):
		v.Days += 30
		v.Months--
	case v.Months < 0 && (v.Days > 0 || (v.Days == 0 && v.Micros > 0)):
		v.Days -= 30
		v.Months++
	}
	switch {
	case v.Days > 0 && v.Micros < 0:
		v.Micros += types.UsecsPerDay
		v.Days--
	case v.Days < 0 && v.Micros > 0:
		v.Micros -= types.UsecsPerDay
		v.Days++
	}
	return v, nil
}

// ageOf is the symbolic difference of two local timestamps in years, months, days and time.
func ageOf(a, b int64) (types.IntervalValue, error) {
	x, y := types.TimestampFields(a), types.TimestampFields(b)
	sign := 1
	if a < b {
		sign = -1
	}
	usec := sign * (x.Usec - y.Usec)
	sec := sign * (x.Sec - y.Sec)
	mins := sign * (x.Min - y.Min)
	hour := sign * (x.Hour - y.Hour)
	day := sign * (x.Day - y.Day)
	month := sign * (x.Month - y.Month)
	year := sign * (x.Year - y.Year)
	borrow := func(v *int, base int, next *int) {
		for *v < 0 {
			*v += base
			*next--
		}
	}
	borrow(&usec, types.UsecsPerSec, &sec)
	borrow(&sec, 60, &mins)
	borrow(&mins, 60, &hour)
	borrow(&hour, 24, &day)
	for day < 0 {
		if sign < 0 {
			day += types.DaysInMonth(x.Year, x.Month)
		} else {
			day += types.DaysInMonth(y.Year, y.Month)
		}
		month--
	}
	borrow(&month, 12, &year)
	t := ((int64(hour)*60+int64(mins))*60+int64(sec))*types.UsecsPerSec + int64(usec)
	months := int64(year)*12 + int64(month)
	if months != int64(int32(months)) {
		return types.IntervalValue{}, errIntervalRange()
	}
	s := int64(sign)
	return types.IntervalValue{Micros: s * t, Days: int32(s) * int32(day), Months: int32(s * months)}, nil
}

func registerAge(r *registry) {
	// PostgreSQL 15 takes infinity for the number that stands for it; minus infinity is no date.
	age := func(a, b int64) (types.Datum, error) {
		if a == types.TimestampNoBegin || b == types.TimestampNoBegin {
			return types.Datum{}, errTimestampRange()
		}
		return intervalResult(ageOf(a, b))
	}
	r.fn("timestamp_age", func(_ *Context, a []types.Datum) (types.Datum, error) { return age(a[0].Int64(), a[1].Int64()) })
	local := func(c *Context, t int64) int64 {
		off, _, _ := types.ZoneAt(t, c.location())
		if l, ok := addInts(t, int64(off)*types.UsecsPerSec); ok || off == 0 {
			return l
		}
		return t
	}
	ageTZ := func(c *Context, a, b int64) (types.Datum, error) {
		if a == types.TimestampNoBegin || b == types.TimestampNoBegin {
			return types.Datum{}, errTimestampRange()
		}
		return age(local(c, a), local(c, b))
	}
	r.fn("timestamptz_age", func(c *Context, a []types.Datum) (types.Datum, error) {
		return ageTZ(c, a[0].Int64(), a[1].Int64())
	})
	today := func(c *Context) int64 {
		return floorDiv(types.LocalTimestamp(types.TimestampFromTime(c.TxStart), c.location()), types.UsecsPerDay) * types.UsecsPerDay
	}
	r.sql(2059, "age", func(c *Context, a []types.Datum) (types.Datum, error) { return age(today(c), a[0].Int64()) })
	r.sql(1386, "age", func(c *Context, a []types.Datum) (types.Datum, error) {
		return age(today(c), types.LocalTimestamp(a[0].Int64(), c.location()))
	})
}

// overlaps is the standard's predicate over (s1, e1) and (s2, e2), any of which may be null.
func overlaps(a []types.Datum, gt func(x, y types.Datum) bool) types.Datum {
	order := func(s, e types.Datum) (types.Datum, types.Datum, bool) {
		switch {
		case s.Null && e.Null:
			return s, e, false
		case s.Null:
			return e, s, true
		case !e.Null && gt(s, e):
			return e, s, true
		}
		return s, e, true
	}
	s1, e1, ok1 := order(a[0], a[1])
	s2, e2, ok2 := order(a[2], a[3])
	if !ok1 || !ok2 {
		return types.NullDatum
	}
	// Whether the later start lies before the other's end; its own end matters only where it is unknown.
	decide := func(start, end, own types.Datum) types.Datum {
		switch {
		case end.Null:
			return types.NullDatum
		case gt(end, start):
			return types.BoolDatum(true)
		case own.Null:
			return types.NullDatum
		}
		return types.BoolDatum(false)
	}
	switch {
	case gt(s1, s2):
		return decide(s1, e2, e1)
	case gt(s2, s1):
		return decide(s2, e1, e2)
	}
	// The starts are equal: they overlap unless an end is unknown.
	if e1.Null || e2.Null {
		return types.NullDatum
	}
	return types.BoolDatum(true)
}

func registerOverlaps(r *registry) {
	signed := func(x, y types.Datum) bool { return x.Int64() > y.Int64() }
	timetz := func(x, y types.Datum) bool { return types.Compare(types.Timetz, x, y) > 0 }
	enter := func(name string, gt func(x, y types.Datum) bool) {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) { return overlaps(a, gt), nil })
	}
	enter("overlaps_time", signed)
	enter("overlaps_timestamp", signed)
	enter("overlaps_timetz", timetz)
	type shift func(c *Context, t int64, v types.IntervalValue) (int64, error)
	plus := shift(func(_ *Context, t int64, v types.IntervalValue) (int64, error) { return timestampPlus(t, v) })
	plusTZ := shift(func(c *Context, t int64, v types.IntervalValue) (int64, error) {
		return timestamptzPlus(t, v, c.location())
	})
	plusTime := shift(func(_ *Context, t int64, v types.IntervalValue) (int64, error) {
		return timeOfDay(t + v.Micros%types.UsecsPerDay), nil
	})
	for oid, form := range map[types.OID]struct {
		add           shift
		first, second bool // the end is given as an interval
	}{
		2042: {plus, true, true}, 2043: {plus, false, true}, 2044: {plus, true, false},
		1305: {plusTZ, true, true}, 1306: {plusTZ, false, true}, 1307: {plusTZ, true, false},
		1309: {plusTime, true, true}, 1310: {plusTime, false, true}, 1311: {plusTime, true, false},
	} {
		r.sql(oid, "overlaps", func(c *Context, a []types.Datum) (types.Datum, error) {
			b := [4]types.Datum{a[0], a[1], a[2], a[3]}
			for i, is := range [2]bool{form.first, form.second} {
				if !is {
					continue
				}
				if b[2*i].Null || b[2*i+1].Null {
					b[2*i+1] = types.NullDatum
					continue
				}
				v, err := form.add(c, b[2*i].Int64(), b[2*i+1].Interval())
				if err != nil {
					return types.Datum{}, err
				}
				b[2*i+1] = types.Int64Datum(v)
			}
			return overlaps(b[:], signed), nil
		})
	}
}
