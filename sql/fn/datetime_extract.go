package fn

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// part is a field taken out of a date or time, before it becomes a numeric (extract) or a float (date_part).
type part struct {
	v     int64
	scale int // v is in units of 10^-scale
	inf   int // an infinity
	null  bool
	num   types.Num
	isNum bool // num is the value: julian
	f     float64
	isF   bool // f is the float form where it differs
}

func (p part) numeric() types.Datum {
	switch {
	case p.null:
		return types.NullDatum
	case p.inf > 0:
		return types.NumDatum(types.NumPosInf)
	case p.inf < 0:
		return types.NumDatum(types.NumNegInf)
	case p.isNum:
		return types.NumDatum(p.num)
	}
	return types.NumDatum(types.NumFromScaled(p.v, p.scale))
}

func (p part) float() types.Datum {
	switch {
	case p.null:
		return types.NullDatum
	case p.inf != 0:
		return types.Float64Datum(math.Inf(p.inf))
	case p.isF:
		return types.Float64Datum(p.f)
	}
	v := float64(p.v)
	if p.scale > 0 {
		v /= math.Pow10(p.scale)
	}
	return types.Float64Datum(v)
}

func whole(v int) part { return part{v: int64(v)} }

func errUnit(name, typ string, known bool) error {
	name = string(mapASCII(lowerByte)([]byte(name)))
	if known {
		return errUnsupported("unit \"%s\" not supported for type %s", name, typ)
	}
	return errParameter("unit \"%s\" not recognized for type %s", name, typ)
}

// monotonic units of an infinite timestamp are infinite, the others null.
func monotonic(u types.Unit) bool {
	switch u {
	case types.UnitYear, types.UnitDecade, types.UnitCentury, types.UnitMillennium, types.UnitJulian, types.UnitISOYear, types.UnitEpoch:
		return true
	}
	return false
}

func infinitePart(u types.Unit, positive bool) part {
	if !monotonic(u) {
		return part{null: true}
	}
	if positive {
		return part{inf: 1}
	}
	return part{inf: -1}
}

func displayYear(y int) int {
	if y > 0 {
		return y
	}
	return y - 1
}

func decade(y int) int {
	if y >= 0 {
		return y / 10
	}
	return -((8 - (y - 1)) / 10)
}

func century(y int) int {
	if y > 0 {
		return (y + 99) / 100
	}
	return -((99 - (y - 1)) / 100)
}

func millennium(y int) int {
	if y > 0 {
		return (y + 999) / 1000
	}
	return -((999 - (y - 1)) / 1000)
}

// datePart is the parts that a date has; ok is false if the unit is of another kind.
func datePart(u types.Unit, f *types.Fields) (part, bool) {
	switch u {
	case types.UnitDay:
		return whole(f.Day), true
	case types.UnitMonth:
		return whole(f.Month), true
	case types.UnitQuarter:
		return whole((f.Month-1)/3 + 1), true
	case types.UnitWeek:
		_, w := types.ISOWeek(f.Year, f.Month, f.Day)
		return whole(w), true
	case types.UnitYear:
		return whole(displayYear(f.Year)), true
	case types.UnitDecade:
		return whole(decade(f.Year)), true
	case types.UnitCentury:
		return whole(century(f.Year)), true
	case types.UnitMillennium:
		return whole(millennium(f.Year)), true
	case types.UnitISOYear:
		y, _ := types.ISOWeek(f.Year, f.Month, f.Day)
		return whole(displayYear(y)), true
	case types.UnitDOW, types.UnitISODOW:
		d := types.WeekDay(f.JDay())
		if d == 0 && u == types.UnitISODOW {
			d = 7
		}
		return whole(d), true
	case types.UnitDOY:
		return whole(f.JDay() - types.JulianDay(f.Year, 1, 1) + 1), true
	}
	return part{}, false
}

func clockPart(u types.Unit, f *types.Fields) (part, bool) {
	switch u {
	case types.UnitMicrosecond:
		return part{v: int64(f.Sec)*types.UsecsPerSec + int64(f.Usec)}, true
	case types.UnitMillisecond:
		return part{v: int64(f.Sec)*types.UsecsPerSec + int64(f.Usec), scale: 3}, true
	case types.UnitSecond:
		return part{v: int64(f.Sec)*types.UsecsPerSec + int64(f.Usec), scale: 6}, true
	case types.UnitMinute:
		return whole(f.Min), true
	case types.UnitHour:
		return whole(f.Hour), true
	}
	return part{}, false
}

func julianPart(f *types.Fields, usec int64) part {
	q, _ := types.NumFromInt64(usec).Div(types.NumFromInt64(types.UsecsPerDay))
	n, _ := q.Add(types.NumFromInt64(int64(f.JDay())))
	return part{num: n, isNum: true, isF: true, f: float64(f.JDay()) + float64(usec)/float64(types.UsecsPerDay)}
}

func zonePart(u types.Unit, east int) (part, bool) {
	switch u {
	case types.UnitTimezone:
		return whole(east), true
	case types.UnitTimezoneHour:
		return whole(east / 3600), true
	case types.UnitTimezoneMinute:
		return whole(east / 60 % 60), true
	}
	return part{}, false
}

const pgEpochSecs = (types.PostgresEpochJDate - types.UnixEpochJDate) * 86400

func epochPart(t int64) part {
	p := part{v: t + pgEpochSecs*types.UsecsPerSec, scale: 6, isF: true}
	if p.v < t { // wrapped
		n, _ := types.NumFromScaled(t, 6).Add(types.NumFromInt64(pgEpochSecs))
		p.num, p.isNum = n, true
		p.f = (float64(t) + pgEpochSecs*types.UsecsPerSec) / types.UsecsPerSec
		return p
	}
	p.f = float64(p.v) / types.UsecsPerSec
	return p
}

// timestampPart serves timestamp, and with zoned timestamptz, whose t is then in UTC.
func (c *Context) timestampPart(name string, t int64, zoned bool) (part, error) {
	typ := "timestamp without time zone"
	if zoned {
		typ = "timestamp with time zone"
	}
	u := types.ParseUnit(name, true)
	if u == types.UnitNone {
		return part{}, errUnit(name, typ, false)
	}
	if !types.FiniteTimestamp(t) {
		return infinitePart(u, t > 0), nil
	}
	if u == types.UnitEpoch {
		return epochPart(t), nil
	}
	east := 0
	if zoned {
		east, _, _ = types.ZoneAt(t, c.location())
		t += int64(east) * types.UsecsPerSec
	}
	f := types.TimestampFields(t)
	if u == types.UnitJulian {
		return julianPart(&f, timeOfDay(t)), nil
	}
	if p, ok := datePart(u, &f); ok {
		return p, nil
	}
	if p, ok := clockPart(u, &f); ok {
		return p, nil
	}
	if zoned {
		if p, ok := zonePart(u, east); ok {
			return p, nil
		}
	}
	return part{}, errUnit(name, typ, true)
}

func dateExtract(name string, d int64) (part, error) {
	u := types.ParseUnit(name, true)
	if u == types.UnitNone {
		return part{}, errUnit(name, "date", false)
	}
	if !types.FiniteDate(d) {
		switch u {
		case types.UnitDay, types.UnitMonth, types.UnitQuarter, types.UnitWeek, types.UnitDOW, types.UnitISODOW, types.UnitDOY,
			types.UnitYear, types.UnitDecade, types.UnitCentury, types.UnitMillennium, types.UnitJulian, types.UnitISOYear, types.UnitEpoch:
			return infinitePart(u, d > 0), nil
		}
		return part{}, errUnit(name, "date", true)
	}
	f := types.DateFields(d)
	switch u {
	case types.UnitJulian:
		return whole(f.JDay()), nil
	case types.UnitEpoch:
		return part{v: (d + types.PostgresEpochJDate - types.UnixEpochJDate) * 86400}, nil
	}
	if p, ok := datePart(u, &f); ok {
		return p, nil
	}
	return part{}, errUnit(name, "date", true)
}

func timePart(name string, t int64, west int32, zoned bool) (part, error) {
	typ := "time without time zone"
	if zoned {
		typ = "time with time zone"
	}
	u := types.ParseUnit(name, true)
	if u == types.UnitNone {
		return part{}, errUnit(name, typ, false)
	}
	f := types.TimeFields(t)
	if p, ok := clockPart(u, &f); ok {
		return p, nil
	}
	if u == types.UnitEpoch {
		return part{v: t + int64(west)*types.UsecsPerSec, scale: 6, isF: true, f: float64(t)/1e6 + float64(west)}, nil
	}
	if zoned {
		if p, ok := zonePart(u, -int(west)); ok {
			return p, nil
		}
	}
	return part{}, errUnit(name, typ, true)
}

func intervalPart(name string, v types.IntervalValue) (part, error) {
	u := types.ParseUnit(name, true)
	if u == types.UnitNone {
		return part{}, errUnit(name, "interval", false)
	}
	t := v.Micros
	hour := t / types.UsecsPerHour
	mins := t / types.UsecsPerMinute % 60
	sec := t % types.UsecsPerMinute
	year, month := int(v.Months/12), int(v.Months%12)
	switch u {
	case types.UnitMicrosecond:
		return part{v: sec}, nil
	case types.UnitMillisecond:
		return part{v: sec, scale: 3}, nil
	case types.UnitSecond:
		return part{v: sec, scale: 6}, nil
	case types.UnitMinute:
		return part{v: mins}, nil
	case types.UnitHour:
		return part{v: hour}, nil
	case types.UnitDay:
		return whole(int(v.Days)), nil
	case types.UnitMonth:
		return whole(month), nil
	case types.UnitQuarter:
		return whole(month/3 + 1), nil
	case types.UnitYear:
		return whole(year), nil
	case types.UnitDecade:
		return whole(year / 10), nil
	case types.UnitCentury:
		return whole(year / 100), nil
	case types.UnitMillennium:
		return whole(year / 1000), nil
	case types.UnitEpoch:
		// A year has 365.25 days here, a month 30.
		secs := (1461*int64(v.Months/12) + 120*int64(v.Months%12) + 4*int64(v.Days)) * (86400 / 4)
		n, _ := types.NumFromScaled(t, 6).Add(types.NumFromInt64(secs))
		f := float64(t)/1e6 + 365.25*86400*float64(v.Months/12) + 30*86400*float64(v.Months%12) + 86400*float64(v.Days)
		return part{num: n, isNum: true, isF: true, f: f}, nil
	}
	return part{}, errUnit(name, "interval", true)
}

func registerExtract(r *registry) {
	enter := func(suffix string, f func(c *Context, unit string, d types.Datum) (part, error)) {
		r.fn("extract_"+suffix, func(c *Context, a []types.Datum) (types.Datum, error) {
			p, err := f(c, a[0].String(), a[1])
			if err != nil {
				return types.Datum{}, err
			}
			return p.numeric(), nil
		})
		r.fn(suffix+"_part", func(c *Context, a []types.Datum) (types.Datum, error) {
			p, err := f(c, a[0].String(), a[1])
			if err != nil {
				return types.Datum{}, err
			}
			return p.float(), nil
		})
	}
	enter("date", func(_ *Context, u string, d types.Datum) (part, error) { return dateExtract(u, d.Int64()) })
	enter("timestamp", func(c *Context, u string, d types.Datum) (part, error) { return c.timestampPart(u, d.Int64(), false) })
	enter("timestamptz", func(c *Context, u string, d types.Datum) (part, error) { return c.timestampPart(u, d.Int64(), true) })
	enter("time", func(_ *Context, u string, d types.Datum) (part, error) { return timePart(u, d.Int64(), 0, false) })
	enter("timetz", func(_ *Context, u string, d types.Datum) (part, error) {
		t, west := d.Timetz()
		return timePart(u, t, west, true)
	})
	enter("interval", func(_ *Context, u string, d types.Datum) (part, error) { return intervalPart(u, d.Interval()) })
	// date_part of a date goes by way of a timestamp.
	r.sql(1384, "date_part", func(c *Context, a []types.Datum) (types.Datum, error) {
		t, err := dateToTimestamp(a[1].Int64())
		if err != nil {
			return types.Datum{}, err
		}
		p, err := c.timestampPart(a[0].String(), t, false)
		if err != nil {
			return types.Datum{}, err
		}
		return p.float(), nil
	})
}

// truncFields sets the fields below a unit to their first values; day is true if the unit is a day or more. ok is false if
// it cannot be truncated to.
func truncFields(u types.Unit, f *types.Fields) (day, ok bool) {
	day = true
	switch u {
	case types.UnitWeek:
		y, w := types.ISOWeek(f.Year, f.Month, f.Day)
		f.Year, f.Month, f.Day = types.FromJulianDay(types.ISOWeekStart(y, w))
	case types.UnitMillennium:
		if f.Year > 0 {
			f.Year = (f.Year+999)/1000*1000 - 999
		} else {
			f.Year = -((999-(f.Year-1))/1000)*1000 + 1
		}
		f.Month, f.Day = 1, 1
	case types.UnitCentury:
		if f.Year > 0 {
			f.Year = (f.Year+99)/100*100 - 99
		} else {
			f.Year = -((99-(f.Year-1))/100)*100 + 1
		}
		f.Month, f.Day = 1, 1
	case types.UnitDecade:
		if f.Year > 0 {
			f.Year = f.Year / 10 * 10
		} else {
			f.Year = -((8 - (f.Year - 1)) / 10) * 10
		}
		f.Month, f.Day = 1, 1
	case types.UnitYear:
		f.Month, f.Day = 1, 1
	case types.UnitQuarter:
		f.Month, f.Day = 3*((f.Month-1)/3)+1, 1
	case types.UnitMonth:
		f.Day = 1
	case types.UnitDay:
	default:
		day = false
	}
	if day {
		f.Hour, f.Min, f.Sec, f.Usec = 0, 0, 0, 0
		return true, true
	}
	switch u {
	case types.UnitHour:
		f.Min, f.Sec, f.Usec = 0, 0, 0
	case types.UnitMinute:
		f.Sec, f.Usec = 0, 0
	case types.UnitSecond:
		f.Usec = 0
	case types.UnitMillisecond:
		f.Usec = f.Usec / 1000 * 1000
	case types.UnitMicrosecond:
	default:
		return false, false
	}
	return false, true
}

func truncTimestamp(name string, t int64) (int64, error) {
	const typ = "timestamp without time zone"
	if !types.FiniteTimestamp(t) {
		return t, nil
	}
	u := types.ParseUnit(name, false)
	if u == types.UnitNone {
		return 0, errUnit(name, typ, false)
	}
	f := types.TimestampFields(t)
	if _, ok := truncFields(u, &f); !ok {
		return 0, errUnit(name, typ, true)
	}
	r, ok := f.Timestamp()
	if !ok {
		return 0, errTimestampRange()
	}
	return r, nil
}

func truncTimestamptz(name string, t int64, zone types.ZonedTime) (int64, error) {
	const typ = "timestamp with time zone"
	if !types.FiniteTimestamp(t) {
		return t, nil
	}
	u := types.ParseUnit(name, false)
	if u == types.UnitNone {
		return 0, errUnit(name, typ, false)
	}
	off := int64(zone.OffsetAt(t)) * types.UsecsPerSec
	f := types.TimestampFields(t + off)
	day, ok := truncFields(u, &f)
	if !ok {
		return 0, errUnit(name, typ, true)
	}
	r, ok := f.Timestamp()
	if !ok {
		return 0, errTimestampRange()
	}
	if day {
		off = int64(zone.OffsetOfLocal(r)) * types.UsecsPerSec
	}
	if r -= off; !types.ValidTimestamp(r) {
		return 0, errTimestampRange()
	}
	return r, nil
}

func truncInterval(name string, v types.IntervalValue) (types.IntervalValue, error) {
	u := types.ParseUnit(name, false)
	if u == types.UnitNone {
		return v, errUnit(name, "interval", false)
	}
	years := map[types.Unit]int32{types.UnitMillennium: 1000, types.UnitCentury: 100, types.UnitDecade: 10, types.UnitYear: 1}
	if n := years[u] * 12; n != 0 {
		return types.IntervalValue{Months: v.Months / n * n}, nil
	}
	scale := int64(1)
	switch u {
	case types.UnitQuarter:
		return types.IntervalValue{Months: v.Months / 3 * 3}, nil
	case types.UnitMonth:
		return types.IntervalValue{Months: v.Months}, nil
	case types.UnitDay:
		v.Micros = 0
		return v, nil
	case types.UnitHour:
		scale = types.UsecsPerHour
	case types.UnitMinute:
		scale = types.UsecsPerMinute
	case types.UnitSecond:
		scale = types.UsecsPerSec
	case types.UnitMillisecond:
		scale = 1000
	case types.UnitMicrosecond:
	default:
		err := pgerr.From(errUnit(name, "interval", true))
		if u == types.UnitWeek {
			return v, err.WithDetail("Months usually have fractional weeks.")
		}
		return v, err
	}
	v.Micros = v.Micros / scale * scale
	return v, nil
}

func bin(stride types.IntervalValue, t, origin int64) (int64, error) {
	if !types.FiniteTimestamp(t) {
		return t, nil
	}
	if !types.FiniteTimestamp(origin) {
		return 0, pgerr.New(pgerr.DatetimeValueOutOfRange, "origin out of range")
	}
	if stride.Months != 0 {
		return 0, errUnsupported("timestamps cannot be binned into intervals containing months or years")
	}
	s := int64(stride.Days)*types.UsecsPerDay + stride.Micros
	if s <= 0 {
		return 0, pgerr.New(pgerr.DatetimeValueOutOfRange, "stride must be greater than zero")
	}
	d, ok := subInts(t, origin)
	if !ok && origin != 0 {
		return 0, errIntervalRange()
	}
	return origin + floorDiv(d, s)*s, nil
}

func registerTrunc(r *registry) {
	r.fn("timestamp_trunc", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int64Result(truncTimestamp(a[0].String(), a[1].Int64()))
	})
	r.fn("timestamptz_trunc", func(c *Context, a []types.Datum) (types.Datum, error) {
		return int64Result(truncTimestamptz(a[0].String(), a[1].Int64(), types.ZoneOf(c.location())))
	})
	r.fn("timestamptz_trunc_zone", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if !types.FiniteTimestamp(a[1].Int64()) {
			return a[1], nil
		}
		zone, err := types.ParseZonedTime(a[2].String())
		if err != nil {
			return types.Datum{}, err
		}
		return int64Result(truncTimestamptz(a[0].String(), a[1].Int64(), zone))
	})
	r.fn("interval_trunc", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return intervalResult(truncInterval(a[0].String(), a[1].Interval()))
	})
	for _, name := range []string{"timestamp_bin", "timestamptz_bin"} {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) {
			return int64Result(bin(a[0].Interval(), a[1].Int64(), a[2].Int64()))
		})
	}
}
