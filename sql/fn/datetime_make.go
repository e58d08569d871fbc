package fn

import (
	"math"
	"strconv"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// makeDate takes a negative year as BC; there is no year zero.
func makeDate(y, m, d int64) (types.Fields, error) { return makeDateShown(y, m, d, false) }

// makeDateShown shows the year in an error as given, or as it is counted.
func makeDateShown(y, m, d int64, given bool) (types.Fields, error) {
	f := types.Fields{Year: int(y), Month: int(m), Day: int(d)}
	bad := func() error {
		year := int64(f.Year)
		if given {
			year = y
		}
		return pgerr.New(pgerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", year, m, d)
	}
	switch {
	case y == 0:
		return f, bad()
	case y < 0:
		if y == math.MinInt32 {
			return f, bad()
		}
		f.Year = int(y) + 1
	}
	if m < 1 || m > 12 || d < 1 || d > 31 || int(d) > types.DaysInMonth(f.Year, f.Month) {
		return f, bad()
	}
	return f, nil
}

func makeTime(h, m int64, sec float64) (int64, error) {
	bad := func() error {
		return pgerr.New(pgerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%s", h, m, secText(sec))
	}
	// 24:00:00 is a time, and 60 seconds are a minute.
	if math.IsNaN(sec) || h < 0 || h > 24 || m < 0 || m > 59 || sec < 0 || sec > 60 {
		return 0, bad()
	}
	usec := math.RoundToEven(sec * 1e6)
	if usec > 60e6 {
		return 0, bad()
	}
	t := (h*60+m)*types.UsecsPerMinute + int64(usec)
	if t > types.UsecsPerDay {
		return 0, bad()
	}
	return t, nil
}

// secText is C's %02g.
func secText(v float64) string {
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if len(s) < 2 {
		s = "0" + s
	}
	return s
}

func makeTimestamp(a []types.Datum) (int64, error) {
	f, err := makeDateShown(a[0].Int64(), a[1].Int64(), a[2].Int64(), true)
	if err != nil {
		return 0, err
	}
	bad := func() error {
		return pgerr.New(pgerr.DatetimeValueOutOfRange, "timestamp out of range: %d-%02d-%02d %d:%02d:%s",
			a[0].Int64(), a[1].Int64(), a[2].Int64(), a[3].Int64(), a[4].Int64(), secText(a[5].Float64()))
	}
	if _, ok := f.Date(); !ok {
		return 0, pgerr.New(pgerr.DatetimeValueOutOfRange, "date out of range: %d-%02d-%02d", a[0].Int64(), a[1].Int64(), a[2].Int64())
	}
	t, err := makeTime(a[3].Int64(), a[4].Int64(), a[5].Float64())
	if err != nil {
		return 0, err
	}
	ts, ok := f.Timestamp()
	if !ok {
		return 0, bad()
	}
	if ts += t; !types.ValidTimestamp(ts) {
		return 0, bad()
	}
	return ts, nil
}

func makeInterval(_ *Context, a []types.Datum) (types.Datum, error) {
	secs := a[6].Float64()
	if special(secs) {
		return types.Datum{}, errIntervalRange()
	}
	secs = math.RoundToEven(secs * 1e6)
	// The integers wrap around, as they do in PostgreSQL 15.
	v := types.IntervalValue{
		Months: int32(a[0].W)*12 + int32(a[1].W),
		Days:   int32(a[2].W)*7 + int32(a[3].W),
		Micros: a[4].Int64()*types.UsecsPerHour + a[5].Int64()*types.UsecsPerMinute + int64(secs),
	}
	return types.IntervalDatum(v), nil
}

func registerMake(r *registry) {
	r.fn("make_date", func(_ *Context, a []types.Datum) (types.Datum, error) {
		f, err := makeDate(a[0].Int64(), a[1].Int64(), a[2].Int64())
		if err != nil {
			return types.Datum{}, err
		}
		d, ok := f.Date()
		if !ok {
			return types.Datum{}, pgerr.New(pgerr.DatetimeValueOutOfRange, "date out of range: %d-%02d-%02d", a[0].Int64(), a[1].Int64(), a[2].Int64())
		}
		return types.Int64Datum(d), nil
	})
	r.fn("make_time", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int64Result(makeTime(a[0].Int64(), a[1].Int64(), a[2].Float64()))
	})
	r.fn("make_timestamp", func(_ *Context, a []types.Datum) (types.Datum, error) { return int64Result(makeTimestamp(a)) })
	r.fn("make_timestamptz", func(c *Context, a []types.Datum) (types.Datum, error) {
		t, err := makeTimestamp(a)
		if err != nil {
			return types.Datum{}, err
		}
		return int64Result(timestampToTZ(t, c.location()))
	})
	r.fn("make_timestamptz_at_timezone", func(_ *Context, a []types.Datum) (types.Datum, error) {
		t, err := makeTimestamp(a)
		if err != nil {
			return types.Datum{}, err
		}
		off, err := zoneArgument(a[6].String(), t)
		if err != nil {
			return types.Datum{}, err
		}
		return checkedTimestamp(t - int64(off)*types.UsecsPerSec)
	})
	r.fn("make_interval", makeInterval)
}

// zoneArgument is the offset of a zone given as a number, an abbreviation or a name, at a local time.
func zoneArgument(s string, local int64) (int, error) {
	if s != "" && (isDigit(s[0]) || s[0] == '+' || s[0] == '-') {
		east, ok, over := types.ParseNumericZone(s)
		switch {
		case ok:
			return east, nil
		case over:
			return 0, errParameter("numeric time zone \"%s\" out of range", s)
		case isDigit(s[0]):
			return 0, errParameter("invalid input syntax for type numeric time zone: \"%s\"", s).(*pgerr.Error).
				WithHint("Numeric time zones must have \"-\" or \"+\" as first character.")
		}
	}
	zone, err := types.ParseZonedTime(s)
	if err != nil {
		return 0, err
	}
	return zone.OffsetOfLocal(local), nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// intervalZone is an interval as an offset east of Greenwich.
func intervalZone(c *Context, d types.Datum) (int, error) {
	v := d.Interval()
	if v.Months != 0 || v.Days != 0 {
		return 0, errParameter("interval time zone \"%s\" must not include months or days", types.Out(types.Interval, d, nil, c.Env))
	}
	return int(v.Micros / types.UsecsPerSec), nil
}

func registerZones(r *registry) {
	r.fn("timestamptz_zone", func(_ *Context, a []types.Datum) (types.Datum, error) {
		t := a[1].Int64()
		if !types.FiniteTimestamp(t) {
			return a[1], nil
		}
		zone, err := types.ParseZonedTime(a[0].String())
		if err != nil {
			return types.Datum{}, err
		}
		return checkedTimestamp(t + int64(zone.OffsetAt(t))*types.UsecsPerSec)
	})
	r.fn("timestamp_zone", func(_ *Context, a []types.Datum) (types.Datum, error) {
		t := a[1].Int64()
		if !types.FiniteTimestamp(t) {
			return a[1], nil
		}
		zone, err := types.ParseZonedTime(a[0].String())
		if err != nil {
			return types.Datum{}, err
		}
		return checkedTimestamp(t - int64(zone.OffsetOfLocal(t))*types.UsecsPerSec)
	})
	r.fn("timetz_zone", func(c *Context, a []types.Datum) (types.Datum, error) {
		zone, err := types.ParseZonedTime(a[0].String())
		if err != nil {
			return types.Datum{}, err
		}
		return moveTimetz(a[1], zone.OffsetAt(types.TimestampFromTime(c.TxStart))), nil
	})
	shift := func(name string, sign int64) {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			if !types.FiniteTimestamp(a[1].Int64()) {
				return a[1], nil
			}
			off, err := intervalZone(c, a[0])
			if err != nil {
				return types.Datum{}, err
			}
			return checkedTimestamp(a[1].Int64() + sign*int64(off)*types.UsecsPerSec)
		})
	}
	shift("timestamptz_izone", 1)
	shift("timestamp_izone", -1)
	r.fn("timetz_izone", func(c *Context, a []types.Datum) (types.Datum, error) {
		off, err := intervalZone(c, a[0])
		if err != nil {
			return types.Datum{}, err
		}
		return moveTimetz(a[1], off), nil
	})
	r.set("pg_timezone_names", timezoneNames)
	r.set("pg_timezone_abbrevs", timezoneAbbrevs)
}

func moveTimetz(d types.Datum, east int) types.Datum {
	t, west := d.Timetz()
	return types.TimetzDatum(timeOfDay(t+(int64(west)+int64(east))*types.UsecsPerSec), int32(-east))
}

func timezoneNames(c *Context, _ []types.Datum) (Set, error) {
	now := types.TimestampFromTime(c.TxStart)
	var rows [][]types.Datum
	types.ZoneNames(func(name string) bool {
		loc := types.LoadZone(name)
		if loc == nil {
			return true
		}
		off, abbrev, dst := types.ZoneAt(now, loc)
		rows = append(rows, []types.Datum{
			types.TextDatum(name), types.TextDatum(abbrev), types.IntervalDatum(types.IntervalValue{Micros: int64(off) * types.UsecsPerSec}), types.BoolDatum(dst),
		})
		return true
	})
	return &rowSet{rows: rows}, nil
}

func timezoneAbbrevs(c *Context, _ []types.Datum) (Set, error) {
	var rows [][]types.Datum
	types.ZoneAbbrevs(c.TxStart, func(abbrev string, off int, dst bool) bool {
		rows = append(rows, []types.Datum{
			types.TextDatum(abbrev), types.IntervalDatum(types.IntervalValue{Micros: int64(off) * types.UsecsPerSec}), types.BoolDatum(dst),
		})
		return true
	})
	return &rowSet{rows: rows}, nil
}

// rowSet is a set whose rows are all there.
type rowSet struct {
	rows [][]types.Datum
	at   int
}

func (s *rowSet) Next(_ *Context, row []types.Datum) (bool, error) {
	if s.at >= len(s.rows) {
		return false, nil
	}
	copy(row, s.rows[s.at])
	s.at++
	return true, nil
}
