package types

import (
	"github.com/minipg/minipg/pgerr"
)

func errTimestampRange(s []byte) error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", s)
}

func parseDate(s []byte, env *Env) (int64, error) {
	if d, ok := isoDate(s); ok {
		return d, nil
	}
	var p fieldSplitter
	d := newDateDecoder(env)
	e := p.split(s, dateInputMax)
	if e == dtOK {
		e = d.dateTime(p.list())
	}
	if e != dtOK {
		return 0, e.err(s, "date", d.badZone)
	}
	switch d.special {
	case resEpoch:
		return UnixEpochJDate - PostgresEpochJDate, nil
	case resLate:
		return DateNoEnd, nil
	case resEarly:
		return DateNoBegin, nil
	}
	v, ok := d.Date()
	if !ok {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range: \"%s\"", s)
	}
	return v, nil
}

// isoDate is the fast way for yyyy-mm-dd.
func isoDate(s []byte) (int64, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	var v [8]int
	for i, k := 0, 0; i < 10; i++ {
		if i == 4 || i == 7 {
			continue
		}
		if !isDigit(s[i]) {
			return 0, false
		}
		v[k] = int(s[i] - '0')
		k++
	}
	y := v[0]*1000 + v[1]*100 + v[2]*10 + v[3]
	m := v[4]*10 + v[5]
	d := v[6]*10 + v[7]
	if y == 0 || m < 1 || m > 12 || d < 1 || d > DaysInMonth(y, m) {
		return 0, false
	}
	return int64(JulianDay(y, m, d) - PostgresEpochJDate), true
}

// isoTimestamp is the fast way for yyyy-mm-dd hh:mm:ss[.ffffff].
func isoTimestamp(s []byte) (int64, bool) {
	if len(s) < 19 || (s[10] != ' ' && s[10] != 'T') || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	day, ok := isoDate(s[:10])
	if !ok {
		return 0, false
	}
	two := func(i int) int {
		if !isDigit(s[i]) || !isDigit(s[i+1]) {
			return 100
		}
		return int(s[i]-'0')*10 + int(s[i+1]-'0')
	}
	h, m, sec := two(11), two(14), two(17)
	if h > 23 || m > 59 || sec > 59 {
		return 0, false
	}
	usec := int64(0)
	if len(s) > 19 {
		// More than six digits must be rounded; leave that to the long way.
		if s[19] != '.' || len(s) > 26 {
			return 0, false
		}
		scale := int64(UsecsPerSec)
		for _, c := range s[20:] {
			if !isDigit(c) {
				return 0, false
			}
			scale /= 10
			usec += int64(c-'0') * scale
		}
	}
	return day*UsecsPerDay + int64((h*60+m)*60+sec)*UsecsPerSec + usec, true
}

func parseTimestamp(s []byte, typmod int32, env *Env, withZone bool) (int64, error) {
	t, ok := int64(0), false
	if !withZone {
		t, ok = isoTimestamp(s)
	}
	if !ok {
		var p fieldSplitter
		d := newDateDecoder(env)
		e := p.split(s, timestampInputMax)
		if e == dtOK {
			e = d.dateTime(p.list())
		}
		if e != dtOK {
			typ := "timestamp"
			if withZone {
				typ = "timestamp with time zone"
			}
			return 0, e.err(s, typ, d.badZone)
		}
		switch d.special {
		case resEpoch:
			return -unixEpochSecs * UsecsPerSec, nil
		case resLate:
			return TimestampNoEnd, nil
		case resEarly:
			return TimestampNoBegin, nil
		}
		if t, ok = d.Timestamp(); withZone {
			// Out of range without the zone may be in range with it, but PostgreSQL checks only the sum.
			t, ok = d.zonedTimestamp()
		}
		if !ok {
			return 0, errTimestampRange(s)
		}
	}
	return roundTimestamp(t, typmod)
}

func (d *dateDecoder) zonedTimestamp() (int64, bool) {
	if !validJulian(d.Year, d.Month, d.Day) {
		return 0, false
	}
	day := int64(d.JDay() - PostgresEpochJDate)
	t, ok := mulInt64(day, UsecsPerDay)
	if !ok {
		return 0, false
	}
	if t, ok = addInt64(t, d.timeOfDay()); !ok && d.timeOfDay() != 0 {
		return 0, false
	}
	t += int64(d.west) * UsecsPerSec
	return t, ValidTimestamp(t)
}

// roundTimestamp applies a precision; infinity has none.
func roundTimestamp(t int64, typmod int32) (int64, error) {
	if typmod < 0 || typmod >= 6 || !FiniteTimestamp(t) {
		return t, nil
	}
	return roundMicros(t, int(typmod)), nil
}

func parseTime(s []byte, typmod int32, env *Env) (int64, error) {
	d, err := parseTimeOfDay(s, env, "time")
	if err != nil {
		return 0, err
	}
	return roundMicros(d.timeOfDay(), int(typmod)), nil
}

func parseTimetz(s []byte, typmod int32, env *Env) (Datum, error) {
	d, err := parseTimeOfDay(s, env, "time with time zone")
	if err != nil {
		return Datum{}, err
	}
	return TimetzDatum(roundMicros(d.timeOfDay(), int(typmod)), int32(d.west)), nil
}

func parseTimeOfDay(s []byte, env *Env, typ string) (*dateDecoder, error) {
	var p fieldSplitter
	d := newDateDecoder(env)
	e := p.split(s, dateInputMax)
	if e == dtOK {
		e = d.timeOnly(p.list())
	}
	if e != dtOK {
		return nil, e.err(s, typ, d.badZone)
	}
	return &d, nil
}
