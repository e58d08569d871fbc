package fn

import (
	"math"
	"strconv"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// readTime is what to_timestamp has read so far. Zero is "not given", also for what was given as zero.
type readTime struct {
	mode                                dateMode
	hour, min, sec, daySecs, msec, usec int
	precision                           int // of FFn
	weekDay, day, yearDay, month, year  int
	century, julian, week, monthWeek    int
	yearDigits                          int
	bc, pm                              int
	clock12                             bool
	zoneSign, zoneHours, zoneMinutes    int
}

// dateReader reads a text along a picture.
type dateReader struct {
	in    string
	pos   int
	items []item[dateField]
	i     int // the item at hand
	fixed bool
	// skipped counts characters passed over that the picture did not ask for.
	skipped int
	out     readTime
}

func errDatetime(format string, args ...any) *pgerr.Error {
	return pgerr.New(pgerr.InvalidDatetimeFormat, format, args...)
}

func (r *dateReader) rest() string { return r.in[r.pos:] }

func (r *dateReader) atSpace() bool { return r.pos < len(r.in) && isSpace(r.in[r.pos]) }

func (r *dateReader) skipChar() {
	if r.pos < len(r.in) {
		r.pos += len(charAt(r.rest()))
	}
}

func (r *dateReader) read() error {
	for r.i = range r.items {
		if r.pos == len(r.in) {
			return nil
		}
		it := &r.items[r.i]
		if !r.fixed && it.field.code != "FX" && (it.kind == itemField || r.i == 0) {
			for r.atSpace() {
				r.pos++
				r.skipped++
			}
		}
		switch {
		case it.kind == itemField:
			if err := r.field(it); err != nil {
				return err
			}
			if !r.fixed {
				for r.skipped = 0; r.atSpace(); r.skipped++ {
					r.pos++
				}
			}
		case r.fixed:
			r.skipChar()
		case it.kind == itemLiteral:
			if r.skipped > 0 {
				r.skipped--
			} else {
				r.skipChar()
			}
		default:
			if r.pos < len(r.in) && (r.atSpace() || isPunct(r.in[r.pos])) {
				r.pos++
			} else {
				r.skipped--
			}
		}
	}
	return nil
}

// digitsEndHere tells whether a number need not have the field's width, because no digit can follow it.
func (r *dateReader) digitsEndHere() bool {
	if r.items[r.i].ordinal != 0 || r.i+1 == len(r.items) {
		return true
	}
	next := &r.items[r.i+1]
	if next.kind == itemField {
		return !next.field.digits
	}
	return !(len(next.literal) == 1 && isDigit(next.literal[0]))
}

// cInt reads as C's strtol does: n is the length read, 0 if there is no number.
func cInt(s string) (v int64, n int, overflow bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	start := i
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == digits {
		return 0, 0, false
	}
	v, err := strconv.ParseInt(s[start:i], 10, 64)
	return v, i, err != nil
}

const fixedWidthHint = "If your source string is not fixed-width, try using the \"FM\" modifier."

// integer reads a number for a field of the given width into dst, which may be nil. It returns the length read.
func (r *dateReader) integer(it *item[dateField], dst *int, width int) (int, error) {
	start := r.pos
	spaces := start
	for spaces < len(r.in) && isSpace(r.in[spaces]) {
		spaces++
	}
	text := r.in[spaces:min(spaces+width, len(r.in))]
	var v int64
	var overflow bool
	if it.fill || r.digitsEndHere() {
		var n int
		v, n, overflow = cInt(r.rest())
		r.pos += n
	} else {
		if len(text) < width {
			return 0, errDatetime("source string too short for \"%s\" formatting field", it.name).
				WithDetail("Field requires %d characters, but only %d remain.", width, len(text)).
				WithHint("%s", fixedWidthHint)
		}
		var n int
		v, n, overflow = cInt(text)
		if n > 0 && n < width {
			return 0, errDatetime("invalid value \"%s\" for \"%s\"", text, it.name).
				WithDetail("Field requires %d characters, but only %d could be parsed.", width, n).
				WithHint("%s", fixedWidthHint)
		}
		r.pos = spaces + n
	}
	if r.pos == start {
		return 0, errDatetime("invalid value \"%s\" for \"%s\"", text, it.name).
			WithDetail("Value must be an integer.")
	}
	if overflow || v < math.MinInt32 || v > math.MaxInt32 {
		return 0, pgerr.New(pgerr.DatetimeValueOutOfRange, "value for \"%s\" in source string is out of range", it.name).
			WithDetail("Value must be in the range %d to %d.", math.MinInt32, math.MaxInt32)
	}
	if dst != nil {
		if err := set(dst, int(v), it); err != nil {
			return 0, err
		}
	}
	return r.pos - start, nil
}

// set gives a field its value; it may have been given before only if it was the same.
func set(dst *int, v int, it *item[dateField]) error {
	if *dst != 0 && *dst != v {
		return errDatetime("conflicting values for \"%s\" field in formatting string", it.name).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	*dst = v
	return nil
}

// word reads one of the words, and returns its index.
func (r *dateReader) word(it *item[dateField], n int, word func(i int) string) (int, error) {
	rest := r.rest()
	for i := range n {
		w := word(i)
		if len(rest) >= len(w) && strings.EqualFold(rest[:len(w)], w) {
			r.pos += len(w)
			return i, nil
		}
	}
	end := 0
	for end < len(rest) && !isSpace(rest[end]) {
		end++
	}
	return 0, errDatetime("invalid value \"%s\" for \"%s\"", rest[:end], it.name).
		WithDetail("The given value did not match any of the allowed values for this field.")
}

func (r *dateReader) flag(it *item[dateField], dst *int, no, yes string) error {
	i, err := r.word(it, 2, func(i int) string { return [...]string{no, yes}[i] })
	if err != nil {
		return err
	}
	return set(dst, i, it)
}

// fullYear completes a year of less than four digits to the one nearest 2020.
func fullYear(y int) int {
	switch {
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	case y < 520:
		return y + 2000
	case y < 1000:
		return y + 1000
	}
	return y
}

func (r *dateReader) field(it *item[dateField]) error {
	o := &r.out
	if m := it.field.mode; m != modeNone {
		if o.mode != modeNone && o.mode != m {
			return errDatetime("invalid combination of date conventions").
				WithHint("Do not mix Gregorian and ISO week date conventions in a formatting template.")
		}
		o.mode = m
	}
	if err := r.value(it); err != nil {
		return err
	}
	if it.ordinal != 0 && it.field.digits && it.field.code != "TZM" {
		r.skipChar()
		r.skipChar()
	}
	return nil
}

// value reads the field itself.
func (r *dateReader) value(it *item[dateField]) error {
	o := &r.out
	number := func(dst *int, width int) error {
		_, err := r.integer(it, dst, width)
		return err
	}
	code := it.field.code
	switch code {
	case "FX":
		r.fixed = true
	case "AM", "PM":
		o.clock12 = true
		return r.flag(it, &o.pm, "am", "pm")
	case "A.M.", "P.M.":
		o.clock12 = true
		return r.flag(it, &o.pm, "a.m.", "p.m.")
	case "AD", "BC":
		return r.flag(it, &o.bc, "ad", "bc")
	case "A.D.", "B.C.":
		return r.flag(it, &o.bc, "a.d.", "b.c.")
	case "HH", "HH12":
		o.clock12 = true
		return number(&o.hour, 2)
	case "HH24":
		return number(&o.hour, 2)
	case "MI":
		return number(&o.min, 2)
	case "SS":
		return number(&o.sec, 2)
	case "SSSS", "SSSSS":
		return number(&o.daySecs, len(code))
	case "MS":
		return r.fraction(it, &o.msec, 3, 3)
	case "US":
		return r.fraction(it, &o.usec, 6, 6)
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		o.precision = int(code[2] - '0')
		return r.fraction(it, &o.usec, o.precision, 6)
	case "TZ", "OF":
		return errUnsupported("formatting field \"%s\" is only supported in to_char", it.name)
	case "TZH":
		r.zoneSign()
		return number(&o.zoneHours, 2)
	case "TZM":
		if o.zoneSign == 0 {
			o.zoneSign = 1
		}
		return number(&o.zoneMinutes, 2)
	default:
		return r.dateValue(it, number)
	}
	return nil
}

// dateValue is value for the fields of dates.
func (r *dateReader) dateValue(it *item[dateField], number func(dst *int, width int) error) error {
	o := &r.out
	code := it.field.code
	switch code {
	case "MONTH", "MON":
		i, err := r.word(it, len(monthNames), func(i int) string { return abbreviated(monthNames[i], code == "MON") })
		if err != nil {
			return err
		}
		return set(&o.month, i+1, it)
	case "RM":
		i, err := r.word(it, len(romanMonth), func(i int) string { return romanMonth[len(romanMonth)-1-i] })
		if err != nil {
			return err
		}
		return set(&o.month, len(romanMonth)-i, it)
	case "DAY", "DY":
		i, err := r.word(it, len(dayNames), func(i int) string { return abbreviated(dayNames[i], code == "DY") })
		if err != nil {
			return err
		}
		if err := set(&o.weekDay, i, it); err != nil {
			return err
		}
		o.weekDay++
	case "MM":
		return number(&o.month, 2)
	case "DDD", "IDDD":
		return number(&o.yearDay, 3)
	case "DD":
		return number(&o.day, 2)
	case "D":
		return number(&o.weekDay, 1)
	case "ID":
		if err := number(&o.weekDay, 1); err != nil {
			return err
		}
		if o.weekDay++; o.weekDay > 7 {
			o.weekDay = 1
		}
	case "WW", "IW":
		return number(&o.week, 2)
	case "W":
		return number(&o.monthWeek, 1)
	case "Q":
		return number(nil, 1)
	case "CC":
		return number(&o.century, 2)
	case "J":
		return number(&o.julian, 1)
	case "Y,YYY":
		return r.commaYear(it)
	case "YYYY", "IYYY":
		o.yearDigits = 4
		return number(&o.year, 4)
	default: // years in fewer digits
		o.yearDigits = len(code)
		n, err := r.integer(it, &o.year, len(code))
		if err == nil && n < 4 {
			o.year = fullYear(o.year)
		}
		return err
	}
	return nil
}

func abbreviated(s string, short bool) string {
	if short {
		return s[:3]
	}
	return s
}

// fraction reads digits after the point: how many there are decides what they are worth.
func (r *dateReader) fraction(it *item[dateField], dst *int, width, digits int) error {
	n, err := r.integer(it, dst, width)
	if err != nil {
		return err
	}
	for ; n < digits; n++ {
		*dst *= 10
	}
	return nil
}

// zoneSign reads the sign of a zone's hours. It may have been skipped as a separator.
func (r *dateReader) zoneSign() {
	r.out.zoneSign = 1
	if r.pos < len(r.in) {
		switch r.in[r.pos] {
		case '-':
			r.out.zoneSign = -1
			r.pos++
			return
		case '+', ' ':
			r.pos++
			return
		}
	}
	if r.skipped > 0 && r.pos > 0 && r.in[r.pos-1] == '-' {
		r.out.zoneSign = -1
	}
}

// commaYear reads thousands, a comma and three digits.
func (r *dateReader) commaYear(it *item[dateField]) error {
	rest := r.rest()
	k, n, _ := cInt(rest)
	bad := errDatetime("invalid input string for \"Y,YYY\"")
	if n == 0 || n == len(rest) || rest[n] != ',' {
		return bad
	}
	n++
	for n < len(rest) && isSpace(rest[n]) {
		n++
	}
	y, m, _ := cInt(rest[n:min(n+3, len(rest))])
	if m == 0 {
		return bad
	}
	r.pos += n + m
	if err := set(&r.out.year, int(int32(k*1000+y)), it); err != nil {
		return err
	}
	r.out.yearDigits = 4
	return nil
}

// fields makes of what was read a date and time, checked.
func (o *readTime) fields(input string) (f types.Fields, err error) {
	overflow := func() error {
		return pgerr.New(pgerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", input)
	}
	f.Month, f.Day = 1, 1
	if x := o.daySecs; x != 0 {
		f.Hour, f.Min, f.Sec = x/3600, x%3600/60, x%60
	}
	if o.sec != 0 {
		f.Sec = o.sec
	}
	if o.min != 0 {
		f.Min = o.min
	}
	if o.hour != 0 {
		f.Hour = o.hour
	}
	if o.clock12 {
		if f.Hour < 1 || f.Hour > 12 {
			return f, errDatetime("hour \"%d\" is invalid for the 12-hour clock", f.Hour).
				WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		if f.Hour == 12 {
			f.Hour = 0
		}
		if o.pm != 0 {
			f.Hour += 12
		}
	}
	hasMonth, hasDay, err := o.date(&f)
	if err != nil {
		return f, err
	}
	f.Usec = o.msec*1000 + o.usec
	hasYear := o.year != 0 || o.century != 0 || o.julian != 0 || o.mode == modeISO && (o.week != 0 || o.yearDay != 0)
	if hasMonth && (f.Month < 1 || f.Month > 12) || hasDay && (f.Day < 1 || f.Day > 31) ||
		hasYear && hasMonth && hasDay && f.Day > types.DaysInMonth(f.Year, f.Month) ||
		f.Hour < 0 || f.Hour >= 24 || f.Min < 0 || f.Min >= 60 || f.Sec < 0 || f.Sec >= 60 || f.Usec < 0 || f.Usec >= types.UsecsPerSec {
		return f, overflow()
	}
	return f, nil
}

// date works the date out of what was given of it.
func (o *readTime) date(f *types.Fields) (hasMonth, hasDay bool, err error) {
	cc := o.century
	if o.bc != 0 {
		cc = -cc
	}
	switch {
	case o.year != 0 && cc != 0 && o.yearDigits <= 2:
		// The century's last year is the one ending in 00.
		switch f.Year = o.year % 100; {
		case f.Year == 0 && cc >= 0:
			f.Year = cc * 100
		case f.Year == 0:
			f.Year = cc*100 + 1
		case cc >= 0:
			f.Year += (cc - 1) * 100
		default:
			f.Year = (cc+1)*100 - f.Year + 1
		}
	case o.year != 0:
		f.Year = o.year
		if o.bc != 0 {
			f.Year = -f.Year
		}
		if f.Year < 0 {
			f.Year++
		}
	case cc > 0:
		f.Year = (cc-1)*100 + 1
	case cc < 0:
		f.Year = cc*100 + 1
	}
	setJulian := func(jd int) {
		f.Year, f.Month, f.Day = types.FromJulianDay(jd)
		hasMonth, hasDay = true, true
	}
	if o.julian != 0 {
		setJulian(o.julian)
	}
	if o.week != 0 {
		if o.mode == modeISO {
			jd := types.ISOWeekStart(f.Year, o.week)
			switch {
			case o.weekDay > 1:
				jd += o.weekDay - 2
			case o.weekDay != 0:
				jd += 6
			}
			setJulian(jd)
		} else {
			o.yearDay = (o.week-1)*7 + 1
		}
	}
	if o.monthWeek != 0 {
		o.day = (o.monthWeek-1)*7 + 1
	}
	if o.day != 0 {
		f.Day, hasDay = o.day, true
	}
	if o.month != 0 {
		f.Month, hasMonth = o.month, true
	}
	if o.yearDay == 0 || f.Month > 1 && f.Day > 1 {
		return hasMonth, hasDay, nil
	}
	if f.Year == 0 && o.bc == 0 {
		return false, false, errDatetime("cannot calculate day of year without year information")
	}
	if o.mode == modeISO {
		setJulian(types.ISOWeekStart(f.Year, 1) - 1 + o.yearDay)
		return hasMonth, hasDay, nil
	}
	month, before := 1, 0
	for month <= 12 && o.yearDay > before+types.DaysInMonth(f.Year, month) {
		before += types.DaysInMonth(f.Year, month)
		month++
	}
	if f.Month <= 1 {
		f.Month = month
	}
	if f.Day <= 1 {
		f.Day = o.yearDay - before
	}
	return true, true, nil
}

func readDate(c *Context, a []types.Datum) (o readTime, f types.Fields, err error) {
	items, err := remembered(c, a[1].B, datePicture)
	if err != nil {
		return o, f, err
	}
	r := dateReader{in: string(a[0].B), items: items}
	if err := r.read(); err != nil {
		return o, f, err
	}
	f, err = r.out.fields(r.in)
	return r.out, f, err
}

func toTimestamp(c *Context, a []types.Datum) (types.Datum, error) {
	o, f, err := readDate(c, a)
	if err != nil {
		return types.Datum{}, err
	}
	if o.zoneSign != 0 && (o.zoneHours < 0 || o.zoneHours > 15 || o.zoneMinutes < 0 || o.zoneMinutes >= 60) {
		return types.Datum{}, pgerr.New(pgerr.InvalidTimeZoneDisplacementValue, "time zone displacement out of range: \"%s\"", a[0].B)
	}
	t, ok := f.Timestamp()
	if !ok {
		return types.Datum{}, errTimestampRange()
	}
	if o.zoneSign != 0 {
		t -= int64(o.zoneSign*(o.zoneHours*60+o.zoneMinutes)) * types.UsecsPerMinute
		ok = types.ValidTimestamp(t)
	} else {
		t, ok = types.ZoneTimestamp(t, c.location())
	}
	if !ok {
		return types.Datum{}, errTimestampRange()
	}
	if o.precision != 0 {
		t = types.RoundMicros(t, o.precision)
	}
	return types.Int64Datum(t), nil
}

func toDate(c *Context, a []types.Datum) (types.Datum, error) {
	_, f, err := readDate(c, a)
	if err != nil {
		return types.Datum{}, err
	}
	d, ok := f.Date()
	if !ok {
		return types.Datum{}, pgerr.New(pgerr.DatetimeValueOutOfRange, "date out of range: \"%s\"", a[0].B)
	}
	return types.Int64Datum(d), nil
}
