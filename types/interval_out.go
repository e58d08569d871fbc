package types

import "strconv"

// intervalParts is an interval by unit, all of its parts signed.
type intervalParts struct {
	year, month int
	day         int
	hour        int64
	min, sec    int
	usec        int
}

func (v IntervalValue) parts() intervalParts {
	p := intervalParts{year: int(v.Months / 12), month: int(v.Months % 12), day: int(v.Days)}
	t := v.Micros
	p.hour = t / UsecsPerHour
	t %= UsecsPerHour
	p.min = int(t / UsecsPerMinute)
	t %= UsecsPerMinute
	p.sec = int(t / UsecsPerSec)
	p.usec = int(t % UsecsPerSec)
	return p
}

func (p *intervalParts) timeNegative() bool {
	return p.hour < 0 || p.min < 0 || p.sec < 0 || p.usec < 0
}

func (p *intervalParts) hasTime() bool { return p.hour != 0 || p.min != 0 || p.sec != 0 || p.usec != 0 }

func absInt(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

// appendSeconds prints seconds without their sign.
func (p *intervalParts) appendSeconds(dst []byte, width int) []byte {
	return appendFraction(appendPad(dst, absInt(p.sec), width), absInt(p.usec))
}

func appendHour(dst []byte, hour int64, width int) []byte {
	return appendPad(dst, int(absUint64(hour)), width)
}

func outInterval(v IntervalValue, dst []byte, env *Env) []byte {
	p := v.parts()
	style := IntervalPostgres
	if env != nil {
		style = env.IntervalStyle
	}
	switch style {
	case IntervalSQLStandard:
		return p.sqlStandard(dst)
	case IntervalISO8601:
		return p.iso8601(dst)
	case IntervalPostgresVerbose:
		return p.verbose(dst)
	}
	return p.postgres(dst)
}

func (p *intervalParts) postgres(dst []byte) []byte {
	zero, before := true, false
	part := func(v int, unit string) {
		if v == 0 {
			return
		}
		if !zero {
			dst = append(dst, ' ')
		}
		if before && v > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, int64(v), 10)
		dst = append(append(dst, ' '), unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		before = v < 0
		zero = false
	}
	part(p.year, "year")
	part(p.month, "mon")
	part(p.day, "day")
	if !zero && !p.hasTime() {
		return dst
	}
	if !zero {
		dst = append(dst, ' ')
	}
	if p.timeNegative() {
		dst = append(dst, '-')
	} else if before {
		dst = append(dst, '+')
	}
	dst = appendHour(dst, p.hour, 2)
	dst = append2(append(dst, ':'), absInt(p.min))
	return p.appendSeconds(append(dst, ':'), 2)
}

func (p *intervalParts) verbose(dst []byte) []byte {
	dst = append(dst, '@')
	zero, before := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if zero {
			before = v < 0
		}
		if before {
			v = -v
		}
		dst = strconv.AppendInt(append(dst, ' '), v, 10)
		dst = append(append(dst, ' '), unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		zero = false
	}
	part(int64(p.year), "year")
	part(int64(p.month), "mon")
	part(int64(p.day), "day")
	part(p.hour, "hour")
	part(int64(p.min), "min")
	if p.sec != 0 || p.usec != 0 {
		dst = append(dst, ' ')
		if p.sec < 0 || (p.sec == 0 && p.usec < 0) {
			if zero {
				before = true
			} else if !before {
				dst = append(dst, '-')
			}
		} else if before {
			dst = append(dst, '-')
		}
		dst = append(p.appendSeconds(dst, 1), " sec"...)
		if absInt(p.sec) != 1 || p.usec != 0 {
			dst = append(dst, 's')
		}
		zero = false
	}
	if zero {
		dst = append(dst, " 0"...)
	}
	if before {
		dst = append(dst, " ago"...)
	}
	return dst
}

func signOf(negative bool) byte {
	if negative {
		return '-'
	}
	return '+'
}

func (p *intervalParts) sqlStandard(dst []byte) []byte {
	negative := p.year < 0 || p.month < 0 || p.day < 0 || p.timeNegative()
	positive := p.year > 0 || p.month > 0 || p.day > 0 || p.hour > 0 || p.min > 0 || p.sec > 0 || p.usec > 0
	yearMonth := p.year != 0 || p.month != 0
	dayTime := p.day != 0 || p.hasTime()
	switch {
	case !negative && !positive:
		return append(dst, '0')
	case (negative && positive) || (yearMonth && dayTime):
		// Not a value of the standard: every part has its sign.
		dst = strconv.AppendInt(append(dst, signOf(p.year < 0 || p.month < 0)), int64(absInt(p.year)), 10)
		dst = strconv.AppendInt(append(dst, '-'), int64(absInt(p.month)), 10)
		dst = strconv.AppendInt(append(dst, ' ', signOf(p.day < 0)), int64(absInt(p.day)), 10)
		dst = appendHour(append(dst, ' ', signOf(p.timeNegative())), p.hour, 1)
		dst = append2(append(dst, ':'), absInt(p.min))
		return p.appendSeconds(append(dst, ':'), 2)
	}
	if negative {
		dst = append(dst, '-')
	}
	if yearMonth {
		dst = strconv.AppendInt(dst, int64(absInt(p.year)), 10)
		return strconv.AppendInt(append(dst, '-'), int64(absInt(p.month)), 10)
	}
	if p.day != 0 {
		dst = append(strconv.AppendInt(dst, int64(absInt(p.day)), 10), ' ')
	}
	dst = appendHour(dst, p.hour, 1)
	dst = append2(append(dst, ':'), absInt(p.min))
	return p.appendSeconds(append(dst, ':'), 2)
}

func (p *intervalParts) iso8601(dst []byte) []byte {
	part := func(v int64, unit byte) {
		if v != 0 {
			dst = append(strconv.AppendInt(dst, v, 10), unit)
		}
	}
	if *p == (intervalParts{}) {
		return append(dst, "PT0S"...)
	}
	dst = append(dst, 'P')
	part(int64(p.year), 'Y')
	part(int64(p.month), 'M')
	part(int64(p.day), 'D')
	if p.hasTime() {
		dst = append(dst, 'T')
	}
	part(p.hour, 'H')
	part(int64(p.min), 'M')
	if p.sec != 0 || p.usec != 0 {
		if p.sec < 0 || p.usec < 0 {
			dst = append(dst, '-')
		}
		dst = append(p.appendSeconds(dst, 1), 'S')
	}
	return dst
}
