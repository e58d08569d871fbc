package types

import (
	"math"
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

// dtError says how a date or time was bad; dtOK is none.
type dtError uint8

const (
	dtOK dtError = iota
	dtBadFormat
	dtFieldOverflow
	dtMonthDayOverflow // a field is out of range that could be of another order
	dtIntervalOverflow
	dtZoneOverflow
	dtBadZone
	dtTimeOnly // a complete time without a date
)

func (e dtError) err(s []byte, typ, zone string) error {
	switch e {
	case dtFieldOverflow:
		return pgerr.New(pgerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", s)
	case dtMonthDayOverflow:
		return pgerr.New(pgerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", s).
			WithHint("Perhaps you need a different \"datestyle\" setting.")
	case dtIntervalOverflow:
		return pgerr.New(pgerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", s)
	case dtZoneOverflow:
		return pgerr.New(pgerr.InvalidTimeZoneDisplacementValue, "time zone displacement out of range: \"%s\"", s)
	case dtBadZone:
		return pgerr.New(pgerr.InvalidParameterValue, "time zone \"%s\" not recognized", zone)
	}
	return pgerr.New(pgerr.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", typ, s)
}

// Kinds of field that splitFields finds.
const (
	fieldNumber  = iota // digits, perhaps a decimal point
	fieldDate           // digits and delimiters, or digits and text
	fieldTime           // digits and colons
	fieldString         // letters
	fieldSpecial        // a sign and letters
	fieldTZ             // a sign and digits
)

// maxDateFields bounds the number of fields of one value.
const maxDateFields = 25

type dateField struct {
	text string // lower case
	kind uint8
}

// Longest inputs, counting a byte more for each field.
const (
	dateInputMax      = 129
	timestampInputMax = 128 + maxDateFields
	intervalInputMax  = 256
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isAlpha(c) }

func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !isAlnum(c) }

// fieldSplitter breaks a string into the fields of a date, time or interval, as ParseDateTime does.
type fieldSplitter struct {
	fields [maxDateFields]dateField
	n      int
	buf    [intervalInputMax]byte
}

func (p *fieldSplitter) list() []dateField { return p.fields[:p.n] }

func (p *fieldSplitter) split(s []byte, limit int) dtError {
	p.n = 0
	used := 0 // of buf
	i := 0
	at := func(k int) byte {
		if k < len(s) {
			return s[k]
		}
		return 0
	}
	var full bool
	put := func() {
		if used+1 >= limit {
			full = true
			i++
			return
		}
		p.buf[used] = lower(s[i])
		used++
		i++
	}
	digits := func() {
		for isDigit(at(i)) {
			put()
		}
	}
	for i < len(s) {
		c := s[i]
		if isSpace(c) {
			i++
			continue
		}
		if p.n >= maxDateFields {
			return dtBadFormat
		}
		start := used
		kind := uint8(fieldNumber)
		switch {
		case isDigit(c):
			digits()
			switch d := at(i); d {
			case ':':
				kind = fieldTime
				put()
				for isDigit(at(i)) || at(i) == ':' || at(i) == '.' {
					put()
				}
			case '-', '/', '.':
				put()
				if isDigit(at(i)) {
					if d != '.' {
						kind = fieldDate
					}
					digits()
					if at(i) == d {
						kind = fieldDate
						put()
						for isDigit(at(i)) || at(i) == d {
							put()
						}
					}
				} else {
					kind = fieldDate
					for isAlnum(at(i)) || at(i) == d {
						put()
					}
				}
			}
		case c == '.':
			put()
			digits()
		case isAlpha(c):
			kind = fieldString
			for isAlpha(at(i)) {
				put()
			}
			isDate := false
			switch d := at(i); {
			case d == '-' || d == '/' || d == '.':
				isDate = true
			case d == '+' || isDigit(d):
				k, _ := findToken(dateTokens[:], string(p.buf[start:used]))
				isDate = k == dtUnknown
			}
			if isDate {
				kind = fieldDate
				for {
					put()
					d := at(i)
					if !(d == '+' || d == '-' || d == '/' || d == '_' || d == '.' || d == ':' || isAlnum(d)) {
						break
					}
				}
			}
		case c == '+' || c == '-':
			put()
			for isSpace(at(i)) {
				i++
			}
			switch {
			case isDigit(at(i)):
				kind = fieldTZ
				for isDigit(at(i)) || at(i) == ':' || at(i) == '.' || at(i) == '-' {
					put()
				}
			case isAlpha(at(i)):
				kind = fieldSpecial
				for isAlpha(at(i)) {
					put()
				}
			default:
				return dtBadFormat
			}
		case isPunct(c):
			i++
			continue
		default:
			return dtBadFormat
		}
		if full {
			return dtBadFormat
		}
		p.fields[p.n] = dateField{text: string(p.buf[start:used]), kind: kind}
		p.n++
		used++ // a field's end counts
	}
	return dtOK
}

// leadingInt reads like strtol: an optional sign and digits at the front of s. over is set when it does not fit in 32 bits.
func leadingInt(s string) (v int, used int, over bool) {
	n, used, over := leadingInt64(s)
	if n > math.MaxInt32 || n < math.MinInt32 {
		over = true
	}
	return int(n), used, over
}

func leadingInt64(s string) (v int64, used int, over bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	start := i
	var u uint64
	for i < len(s) && isDigit(s[i]) {
		d := uint64(s[i] - '0')
		if u > (math.MaxUint64-d)/10 {
			over = true
		}
		u = u*10 + d
		i++
	}
	if i == start {
		return 0, 0, false
	}
	if neg {
		if u > 1<<63 {
			over = true
		}
		return -int64(u), i, over
	}
	if u > math.MaxInt64 {
		over = true
	}
	return int64(u), i, over
}

// fraction reads a decimal point and digits to the end of s.
func fraction(s string) (float64, bool) {
	if s == "." {
		return 0, true
	}
	for i := 1; i < len(s); i++ {
		if !isDigit(s[i]) {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

func fractionUsec(s string) (int, bool) {
	v, ok := fraction(s)
	return int(math.RoundToEven(v * UsecsPerSec)), ok
}

func atoi(s string) int {
	v, _, _ := leadingInt(s)
	return v
}

// numericZone reads +hh[:mm[:ss]] or +hhmm; the result is in seconds west of Greenwich, as PostgreSQL keeps it.
func numericZone(s string) (west int, e dtError) {
	if s == "" || (s[0] != '+' && s[0] != '-') {
		return 0, dtBadFormat
	}
	hr, used, over := leadingInt(s[1:])
	if over {
		return 0, dtZoneOverflow
	}
	rest := s[1+used:]
	var mins, sec int
	switch {
	case rest != "" && rest[0] == ':':
		mins, used, over = leadingInt(rest[1:])
		if over {
			return 0, dtZoneOverflow
		}
		rest = rest[1+used:]
		if rest != "" && rest[0] == ':' {
			sec, used, over = leadingInt(rest[1:])
			if over {
				return 0, dtZoneOverflow
			}
			rest = rest[1+used:]
		}
	case rest == "" && len(s) > 3:
		mins = hr % 100
		hr /= 100
	}
	if hr < 0 || hr > maxTZHour || mins < 0 || mins > 59 || sec < 0 || sec > 59 {
		return 0, dtZoneOverflow
	}
	west = -((hr*60+mins)*60 + sec)
	if s[0] == '-' {
		west = -west
	}
	if rest != "" {
		return west, dtBadFormat
	}
	return west, dtOK
}
