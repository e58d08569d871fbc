package types

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

// IntervalValue is an interval: months, days and microseconds that are added in this order.
type IntervalValue struct {
	Micros int64
	Days   int32
	Months int32
}

// IntervalDatum makes an interval: 16 bytes, microseconds, days and months little-endian.
func IntervalDatum(v IntervalValue) Datum {
	b := make([]byte, 0, 16)
	b = binary.LittleEndian.AppendUint64(b, uint64(v.Micros))
	b = binary.LittleEndian.AppendUint32(b, uint32(v.Days))
	return Datum{B: binary.LittleEndian.AppendUint32(b, uint32(v.Months))}
}

// Interval takes an interval apart.
func (d Datum) Interval() IntervalValue {
	return IntervalValue{
		Micros: int64(binary.LittleEndian.Uint64(d.B)),
		Days:   int32(binary.LittleEndian.Uint32(d.B[8:])),
		Months: int32(binary.LittleEndian.Uint32(d.B[12:])),
	}
}

// TimetzDatum makes a timetz of microseconds and seconds west of Greenwich: 12 bytes little-endian.
func TimetzDatum(usec int64, west int32) Datum {
	b := make([]byte, 0, 12)
	b = binary.LittleEndian.AppendUint64(b, uint64(usec))
	return Datum{B: binary.LittleEndian.AppendUint32(b, uint32(west))}
}

// Timetz takes a timetz apart.
func (d Datum) Timetz() (usec int64, west int32) {
	return int64(binary.LittleEndian.Uint64(d.B)), int32(binary.LittleEndian.Uint32(d.B[8:]))
}

// Bits of an interval's modifier: the fields, and how many digits of seconds.
const (
	IntervalMonth  = 1 << 1
	IntervalYear   = 1 << 2
	IntervalDay    = 1 << 3
	IntervalHour   = 1 << 10
	IntervalMinute = 1 << 11
	IntervalSecond = 1 << 12

	IntervalFullRange     = 0x7FFF
	IntervalFullPrecision = 0xFFFF
)

// IntervalTypmod packs a range and a precision.
func IntervalTypmod(fields, precision int32) int32 { return fields<<16 | precision&0xFFFF }

func intervalRange(typmod int32) int32 {
	if typmod < 0 {
		return IntervalFullRange
	}
	return typmod >> 16 & 0x7FFF
}

// span is an interval under construction.
type span struct {
	usec            int64
	days, months, y int32
}

func addInt32(p *int32, v int64) bool {
	s := int64(*p) + v
	if s > math.MaxInt32 || s < math.MinInt32 {
		return false
	}
	*p = int32(s)
	return true
}

func fits32(v int64) bool { return v >= math.MinInt32 && v <= math.MaxInt32 }

// mulInt64 multiplies; ok is false on overflow.
func mulInt64(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	neg := (a < 0) != (b < 0)
	hi, lo := bits.Mul64(absUint64(a), absUint64(b))
	if hi != 0 {
		return 0, false
	}
	if neg {
		if lo > 1<<63 {
			return 0, false
		}
		return -int64(lo), true
	}
	return int64(lo), lo <= math.MaxInt64
}

func absUint64(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// addInt64 adds; ok is false on overflow.
func addInt64(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

// addMicros adds (val + frac) * scale.
func (s *span) addMicros(val int64, frac float64, scale int64) bool {
	p, ok := mulInt64(val, scale)
	if !ok {
		return false
	}
	if s.usec, ok = addInt64(s.usec, p); !ok {
		return false
	}
	return s.addFracMicros(frac, scale)
}

// addFracMicros adds frac * scale; |frac| < 1.
func (s *span) addFracMicros(frac float64, scale int64) bool {
	if frac == 0 {
		return true
	}
	frac *= float64(scale)
	usec := int64(frac)
	frac -= float64(usec)
	// As the C code: round half away from zero by hand.
	if frac > 0.5 {
		usec++
	} else if frac < -0.5 {
		usec--
	}
	var ok bool
	s.usec, ok = addInt64(s.usec, usec)
	return ok
}

func (s *span) addFracDays(frac float64, scale int64) bool {
	if frac == 0 {
		return true
	}
	frac *= float64(scale)
	extra := int64(frac)
	if !addInt32(&s.days, extra) {
		return false
	}
	return s.addFracMicros(frac-float64(extra), UsecsPerDay)
}

func (s *span) addFracYears(frac float64, scale int64) bool {
	return addInt32(&s.months, int64(math.RoundToEven(frac*float64(scale)*12)))
}

func (s *span) addDays(val, scale int64) bool {
	if !fits32(val) || !fits32(val*scale) {
		return false
	}
	return addInt32(&s.days, val*scale)
}

func (s *span) addMonths(val int64) bool { return fits32(val) && addInt32(&s.months, val) }

func (s *span) addYears(val, scale int64) bool {
	return fits32(val) && fits32(val*scale) && addInt32(&s.y, val*scale)
}

// add puts a number of a unit in; it returns the mask of what was given and the unit assumed for a number before it.
func (s *span) add(unit int, val int64, frac float64) (tmask int, ok bool) {
	switch unit {
	case dtMicrosecond:
		return 1 << dtMicrosecond, s.addMicros(val, frac, 1)
	case dtMillisecond:
		return 1 << dtMillisecond, s.addMicros(val, frac, 1000)
	case dtSecond:
		if frac != 0 {
			tmask = maskSeconds
		}
		return tmask | 1<<dtSecond, s.addMicros(val, frac, UsecsPerSec)
	case dtMinute:
		return 1 << dtMinute, s.addMicros(val, frac, UsecsPerMinute)
	case dtHour:
		return 1 << dtHour, s.addMicros(val, frac, UsecsPerHour)
	case dtDay:
		return 1 << dtDay, s.addDays(val, 1) && s.addFracMicros(frac, UsecsPerDay)
	case dtWeek:
		return 1 << dtWeek, s.addDays(val, 7) && s.addFracDays(frac, 7)
	case dtMonth:
		return 1 << dtMonth, s.addMonths(val) && s.addFracDays(frac, 30)
	case dtYear:
		return 1 << dtYear, s.addYears(val, 1) && s.addFracYears(frac, 1)
	case dtDecade:
		return 1 << dtDecade, s.addYears(val, 10) && s.addFracYears(frac, 10)
	case dtCentury:
		return 1 << dtCentury, s.addYears(val, 100) && s.addFracYears(frac, 100)
	case dtMillennium:
		return 1 << dtMillennium, s.addYears(val, 1000) && s.addFracYears(frac, 1000)
	}
	return 0, true
}

// rightmostUnit is the unit of a number without one at the end, by the modifier's range.
func rightmostUnit(fields int32) int {
	switch fields {
	case IntervalYear:
		return dtYear
	case IntervalMonth, IntervalYear | IntervalMonth:
		return dtMonth
	case IntervalDay:
		return dtDay
	case IntervalHour, IntervalDay | IntervalHour:
		return dtHour
	case IntervalMinute, IntervalHour | IntervalMinute, IntervalDay | IntervalHour | IntervalMinute:
		return dtMinute
	}
	return dtSecond
}

// decodeInterval reads fields from the right, so that a unit is known before its number.
func decodeInterval(fields []dateField, typmod int32, style IntervalStyle) (s span, e dtError) {
	const none = dtIgnore
	rng := intervalRange(typmod)
	minuteToSecond := rng == IntervalMinute|IntervalSecond
	negative := style == IntervalSQLStandard && len(fields) > 0 && fields[0].text[0] == '-'
	for i := 1; negative && i < len(fields); i++ {
		if c := fields[i].text[0]; c == '-' || c == '+' {
			negative = false
		}
	}
	unit := none
	fmask := 0
	before := false
	for i := len(fields) - 1; i >= 0; i-- {
		f := &fields[i]
		tmask := 0
		switch f.kind {
		case fieldTime, fieldTZ:
			text := f.text
			if f.kind == fieldTZ {
				text = text[1:]
			}
			usec, e := clockMicros(text, minuteToSecond)
			if f.kind == fieldTime && e != dtOK {
				return s, e
			}
			if e == dtOK {
				s.usec = usec
				if f.text[0] == '-' || (negative && usec > 0) {
					s.usec = -usec
				}
				tmask = maskTime
				unit = dtDay
				break
			}
			fallthrough
		case fieldDate, fieldNumber:
			if unit == none {
				unit = rightmostUnit(rng)
			}
			val, frac, months, e := intervalNumber(f.text)
			if e != dtOK {
				return s, e
			}
			if months {
				unit = dtMonth
			}
			if negative {
				val = -int64(absUint64(val))
				frac = -math.Abs(frac)
			}
			var ok bool
			if unit >= dtQuarter || unit == none {
				return s, dtBadFormat
			}
			if tmask, ok = s.add(unit, val, frac); !ok {
				return s, dtFieldOverflow
			}
			if tmask == 0 {
				return s, dtBadFormat
			}
			if unit == dtHour {
				unit = dtDay // for a number before it
			}
		default:
			kind, value := findToken(unitTokens[:], f.text)
			if kind == dtUnknown {
				kind, value = findToken(dateTokens[:], f.text)
			}
			switch kind {
			case dtIgnore:
				continue
			case dtUnits:
				unit = value
			case dtAgo:
				before = true
				unit = value
			default:
				return s, dtBadFormat
			}
		}
		if tmask&fmask != 0 {
			return s, dtBadFormat
		}
		fmask |= tmask
	}
	if fmask == 0 {
		return s, dtBadFormat
	}
	if before {
		if s.usec == math.MinInt64 || s.days == math.MinInt32 || s.months == math.MinInt32 || s.y == math.MinInt32 {
			return s, dtFieldOverflow
		}
		s = span{-s.usec, -s.days, -s.months, -s.y}
	}
	return s, dtOK
}

// clockMicros reads hh:mm[:ss] of an interval; there must be a colon.
func clockMicros(text string, minuteToSecond bool) (int64, dtError) {
	c, e := parseClock(text, minuteToSecond)
	if e != dtOK {
		return 0, e
	}
	s := span{usec: int64(c.usec)}
	if !s.addMicros(c.hour, 0, UsecsPerHour) || !s.addMicros(int64(c.min), 0, UsecsPerMinute) || !s.addMicros(int64(c.sec), 0, UsecsPerSec) {
		return 0, dtFieldOverflow
	}
	return s.usec, dtOK
}

// intervalNumber reads a number, or years-months, which it gives in months.
func intervalNumber(text string) (val int64, frac float64, months bool, e dtError) {
	val, used, over := leadingInt64(text)
	if over {
		return 0, 0, false, dtFieldOverflow
	}
	rest := text[used:]
	if rest == "" {
		return val, 0, false, dtOK
	}
	switch rest[0] {
	case '-':
		val2, used, over := leadingInt(rest[1:])
		if over || val2 < 0 || val2 >= 12 {
			return 0, 0, false, dtFieldOverflow
		}
		if rest[1+used:] != "" {
			return 0, 0, false, dtBadFormat
		}
		if text[0] == '-' {
			val2 = -val2
		}
		var ok bool
		if val, ok = mulInt64(val, 12); !ok {
			return 0, 0, false, dtFieldOverflow
		}
		if val, ok = addInt64(val, int64(val2)); !ok && val2 != 0 {
			return 0, 0, false, dtFieldOverflow
		}
		return val, 0, true, dtOK
	case '.':
		frac, ok := fraction(rest)
		if !ok {
			return 0, 0, false, dtBadFormat
		}
		if text[0] == '-' {
			frac = -frac
		}
		return val, frac, false, dtOK
	}
	return 0, 0, false, dtBadFormat
}

// iso8601 reads P1Y2M3DT4H5M6S and P0001-02-03T04:05:06.
type iso8601 struct {
	s    string
	span span
}

// number reads what strtod would and splits it.
func (p *iso8601) number() (val int64, frac float64, digits int, e dtError) {
	s := p.s
	if s == "" || (!isDigit(s[0]) && s[0] != '-' && s[0] != '.') {
		return 0, 0, 0, dtBadFormat
	}
	i := 0
	if s[0] == '-' {
		i++
	}
	start := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	digits = i - start
	n := digits
	if i < len(s) && s[i] == '.' {
		i++
		for i < len(s) && isDigit(s[i]) {
			i++
			n++
		}
	}
	if n == 0 {
		return 0, 0, 0, dtBadFormat
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			i = j
		}
	}
	v, err := strconv.ParseFloat(s[:i], 64)
	if err != nil {
		return 0, 0, 0, dtBadFormat
	}
	p.s = s[i:]
	if v < -1e15 || v > 1e15 {
		return 0, 0, 0, dtFieldOverflow
	}
	w := math.Trunc(v)
	return int64(w), v - w, digits, dtOK
}

func (p *iso8601) ymd(unit int, val int64, frac float64) dtError {
	if _, ok := p.span.add(unit, val, frac); !ok {
		return dtFieldOverflow
	}
	return dtOK
}

func (p *iso8601) parse(text string) dtError {
	if len(text) < 2 || text[0] != 'P' {
		return dtBadFormat
	}
	p.s = text[1:]
	datePart, have := true, false
	for p.s != "" {
		if p.s[0] == 'T' {
			datePart, have = false, false
			p.s = p.s[1:]
			continue
		}
		val, frac, digits, e := p.number()
		if e != dtOK {
			return e
		}
		unit := byte(0)
		if p.s != "" {
			unit = p.s[0]
			p.s = p.s[1:]
		}
		var done bool
		if datePart {
			if done, datePart, e = p.date(unit, val, frac, digits, have); !datePart {
				have = false
				if e != dtOK || done {
					return e
				}
				continue
			}
		} else {
			done, e = p.time(unit, val, frac, digits, have)
		}
		if e != dtOK || done {
			return e
		}
		have = true
	}
	return dtOK
}

func (p *iso8601) date(unit byte, val int64, frac float64, digits int, have bool) (done, datePart bool, e dtError) {
	switch unit {
	case 'Y':
		return false, true, p.ymd(dtYear, val, frac)
	case 'M':
		return false, true, p.ymd(dtMonth, val, frac)
	case 'W':
		return false, true, p.ymd(dtWeek, val, frac)
	case 'D':
		return false, true, p.ymd(dtDay, val, frac)
	case 'T', 0:
		if digits == 8 && !have {
			if e = p.ymd(dtYear, val/10000, 0); e == dtOK {
				if e = p.ymd(dtMonth, val/100%100, 0); e == dtOK {
					e = p.ymd(dtDay, val%100, frac)
				}
			}
			return unit == 0, false, e
		}
	case '-':
	default:
		return false, true, dtBadFormat
	}
	if have {
		return false, true, dtBadFormat
	}
	if e = p.ymd(dtYear, val, frac); e != dtOK || unit == 0 {
		return true, true, e
	}
	if unit == 'T' {
		return false, false, dtOK
	}
	for _, u := range []int{dtMonth, dtDay} {
		if val, frac, _, e = p.number(); e != dtOK {
			return false, true, e
		}
		if e = p.ymd(u, val, frac); e != dtOK || p.s == "" {
			return true, true, e
		}
		if p.s[0] == 'T' {
			// The T is left for the caller, who then begins the time.
			return false, false, dtOK
		}
		if p.s[0] != '-' || u == dtDay {
			return false, true, dtBadFormat
		}
		p.s = p.s[1:]
	}
	return false, true, dtBadFormat
}

func (p *iso8601) time(unit byte, val int64, frac float64, digits int, have bool) (done bool, e dtError) {
	switch unit {
	case 'H':
		return false, p.ymd(dtHour, val, frac)
	case 'M':
		return false, p.ymd(dtMinute, val, frac)
	case 'S':
		return false, p.ymd(dtSecond, val, frac)
	case 0:
		if digits == 6 && !have {
			s := &p.span
			if !s.addMicros(val/10000, 0, UsecsPerHour) || !s.addMicros(val/100%100, 0, UsecsPerMinute) ||
				!s.addMicros(val%100, 0, UsecsPerSec) || !s.addFracMicros(frac, 1) {
				return true, dtFieldOverflow
			}
			return true, dtOK
		}
	case ':':
	default:
		return false, dtBadFormat
	}
	if have {
		return false, dtBadFormat
	}
	if e = p.ymd(dtHour, val, frac); e != dtOK || unit == 0 {
		return true, e
	}
	for _, u := range []int{dtMinute, dtSecond} {
		if val, frac, _, e = p.number(); e != dtOK {
			return false, e
		}
		if e = p.ymd(u, val, frac); e != dtOK || p.s == "" {
			return true, e
		}
		if p.s[0] != ':' || u == dtSecond {
			return false, dtBadFormat
		}
		p.s = p.s[1:]
	}
	return false, dtBadFormat
}

func parseInterval(s []byte, typmod int32, env *Env) (IntervalValue, error) {
	var p fieldSplitter
	style := IntervalPostgres
	if env != nil {
		style = env.IntervalStyle
	}
	var sp span
	e := p.split(s, intervalInputMax)
	if e == dtOK {
		sp, e = decodeInterval(p.list(), typmod, style)
	}
	if e == dtBadFormat {
		iso := iso8601{}
		e = iso.parse(string(s))
		sp = iso.span
	}
	if e != dtOK {
		if e == dtFieldOverflow {
			e = dtIntervalOverflow
		}
		return IntervalValue{}, e.err(s, "interval", "")
	}
	months := int64(sp.y)*12 + int64(sp.months)
	if !fits32(months) {
		return IntervalValue{}, errIntervalRange()
	}
	return intervalTypmod(IntervalValue{Micros: sp.usec, Days: sp.days, Months: int32(months)}, typmod)
}

func errIntervalRange() error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, "interval out of range")
}

// intervalTypmod drops the fields below the range's last and rounds the seconds.
func intervalTypmod(v IntervalValue, typmod int32) (IntervalValue, error) {
	if typmod < 0 {
		return v, nil
	}
	precision := int(typmod & 0xFFFF)
	switch rng := intervalRange(typmod); rng {
	case IntervalYear:
		v.Months = v.Months / 12 * 12
		v.Days, v.Micros = 0, 0
	case IntervalMonth, IntervalYear | IntervalMonth:
		v.Days, v.Micros = 0, 0
	case IntervalDay:
		v.Micros = 0
	case IntervalHour, IntervalDay | IntervalHour:
		v.Micros = v.Micros / UsecsPerHour * UsecsPerHour
	case IntervalMinute, IntervalDay | IntervalHour | IntervalMinute, IntervalHour | IntervalMinute:
		v.Micros = v.Micros / UsecsPerMinute * UsecsPerMinute
	}
	if precision != IntervalFullPrecision {
		if precision < 0 || precision > 6 {
			return v, pgerr.New(pgerr.InvalidParameterValue, "interval(%d) precision must be between 0 and 6", precision)
		}
		v.Micros = roundMicros(v.Micros, precision)
	}
	return v, nil
}

var microScale = [...]int64{1000000, 100000, 10000, 1000, 100, 10, 1}

// roundMicros rounds half away from zero to a number of digits of a second.
func roundMicros(v int64, precision int) int64 {
	if precision < 0 || precision >= 6 {
		return v
	}
	scale := microScale[precision]
	half := scale / 2
	if v >= 0 {
		return (v + half) / scale * scale
	}
	return -((-v + half) / scale * scale)
}

// span128 is the interval as microseconds with months of 30 days, which orders intervals.
func (v IntervalValue) span128() (hi int64, lo uint64) {
	days := int64(v.Months)*30 + int64(v.Days)
	h, l := bits.Mul64(absUint64(days), UsecsPerDay)
	if days < 0 {
		l = -l
		h = ^h
		if l == 0 {
			h++
		}
	}
	var carry uint64
	l, carry = bits.Add64(l, uint64(v.Micros), 0)
	h += uint64(v.Micros>>63) + carry
	return int64(h), l
}

// CompareInterval orders intervals by their length with months of 30 days of 24 hours.
func CompareInterval(a, b IntervalValue) int {
	ah, al := a.span128()
	bh, bl := b.span128()
	switch {
	case ah != bh:
		if ah < bh {
			return -1
		}
		return 1
	case al < bl:
		return -1
	case al > bl:
		return 1
	}
	return 0
}

// RoundMicros rounds half away from zero to a number of digits of a second.
func RoundMicros(v int64, precision int) int64 { return roundMicros(v, precision) }
