package types

import "time"

func appendPad(dst []byte, v, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for v > 0 || i == len(buf) {
		i--
		buf[i] = byte(v%10) + '0'
		v /= 10
	}
	for len(buf)-i < width {
		i--
		buf[i] = '0'
	}
	return append(dst, buf[i:]...)
}

func append2(dst []byte, v int) []byte {
	if v < 100 {
		return append(dst, byte(v/10)+'0', byte(v%10)+'0')
	}
	return appendPad(dst, v, 2)
}

// appendZoneOffset prints +hh[:mm[:ss]] for seconds east of Greenwich.
func appendZoneOffset(dst []byte, east int) []byte {
	sign := byte('+')
	if east < 0 {
		sign = '-'
		east = -east
	}
	dst = append2(append(dst, sign), east/3600)
	mins, sec := east/60%60, east%60
	if mins != 0 || sec != 0 {
		dst = append2(append(dst, ':'), mins)
	}
	if sec != 0 {
		dst = append2(append(dst, ':'), sec)
	}
	return dst
}

// appendFraction prints .ffffff without trailing zeros.
func appendFraction(dst []byte, usec int) []byte {
	if usec == 0 {
		return dst
	}
	dst = append(dst, '.')
	dst = appendPad(dst, usec, 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func appendClock(dst []byte, f *Fields) []byte {
	dst = append2(dst, f.Hour)
	dst = append2(append(dst, ':'), f.Min)
	dst = append2(append(dst, ':'), f.Sec)
	return appendFraction(dst, f.Usec)
}

// displayYear is the year as written, before BC.
func (f *Fields) displayYear() int {
	if f.Year > 0 {
		return f.Year
	}
	return 1 - f.Year
}

func (e *Env) style() (DateStyle, DateOrder) {
	if e == nil {
		return DateISO, OrderMDY
	}
	return e.DateStyle, e.DateOrder
}

// appendYMD prints a date in the session's style.
func appendYMD(dst []byte, f *Fields, style DateStyle, order DateOrder) []byte {
	sep := byte('-')
	switch style {
	case DateISO:
		dst = appendPad(dst, f.displayYear(), 4)
		dst = append2(append(dst, '-'), f.Month)
		return append2(append(dst, '-'), f.Day)
	case DateSQL:
		sep = '/'
	case DateGerman:
		sep = '.'
	}
	a, b := f.Month, f.Day
	if style == DateGerman || order == OrderDMY {
		a, b = b, a
	}
	dst = append2(dst, a)
	dst = append2(append(dst, sep), b)
	return appendPad(append(dst, sep), f.displayYear(), 4)
}

func appendBC(dst []byte, f *Fields) []byte {
	if f.Year <= 0 {
		return append(dst, " BC"...)
	}
	return dst
}

func outDate(d int64, dst []byte, env *Env) []byte {
	switch d {
	case DateNoBegin:
		return append(dst, "-infinity"...)
	case DateNoEnd:
		return append(dst, "infinity"...)
	}
	f := DateFields(d)
	style, order := env.style()
	return appendBC(appendYMD(dst, &f, style, order), &f)
}

func outTime(t int64, dst []byte) []byte {
	f := TimeFields(t)
	return appendClock(dst, &f)
}

func outTimetz(d Datum, dst []byte) []byte {
	t, west := d.Timetz()
	return appendZoneOffset(outTime(t, dst), -int(west))
}

var (
	shortDays   = [...]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	shortMonths = [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
)

// outTimestamp prints a timestamp, or with loc a timestamptz.
func outTimestamp(t int64, loc *time.Location, dst []byte, env *Env) []byte {
	switch t {
	case TimestampNoBegin:
		return append(dst, "-infinity"...)
	case TimestampNoEnd:
		return append(dst, "infinity"...)
	}
	east, abbrev := 0, ""
	if loc != nil {
		east, abbrev, _ = ZoneAt(t, loc)
		abbrev = abbrevOf(abbrev)
		t += int64(east) * UsecsPerSec
	}
	f := TimestampFields(t)
	style, order := env.style()
	switch style {
	case DateISO:
		dst = appendYMD(dst, &f, style, order)
		dst = appendClock(append(dst, ' '), &f)
		if loc != nil {
			dst = appendZoneOffset(dst, east)
		}
		return appendBC(dst, &f)
	case DatePostgres:
		dst = append(dst, shortDays[WeekDay(f.JDay())]...)
		dst = append(dst, ' ')
		if order == OrderDMY {
			dst = append2(dst, f.Day)
			dst = append(dst, ' ')
			dst = append(dst, shortMonths[f.Month-1]...)
		} else {
			dst = append(dst, shortMonths[f.Month-1]...)
			dst = append2(append(dst, ' '), f.Day)
		}
		dst = appendClock(append(dst, ' '), &f)
		dst = appendPad(append(dst, ' '), f.displayYear(), 4)
	default:
		dst = appendYMD(dst, &f, style, order)
		dst = appendClock(append(dst, ' '), &f)
	}
	if loc != nil {
		dst = append(append(dst, ' '), abbrev...)
	}
	return appendBC(dst, &f)
}
