package fn

import (
	"strconv"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// dateField is a kind of field in a picture for dates. Where the case of the keyword matters
// for output, the item's name tells.
type dateField struct {
	code   string // the keyword in upper case
	digits bool   // to_timestamp reads digits for it
	mode   dateMode
}

// dateMode says which calendar a field belongs to; the two do not mix.
type dateMode uint8

const (
	modeNone dateMode = iota
	modeGregorian
	modeISO
)

// dateKeywords are, by first letter, the longest first.
var dateKeywords = func() map[byte][]dateField {
	m := make(map[byte][]dateField)
	add := func(digits bool, mode dateMode, words string) {
		for _, w := range strings.Fields(words) {
			l := m[w[0]]
			i := 0
			for i < len(l) && len(l[i].code) >= len(w) {
				i++
			}
			l = append(l[:i:i], append([]dateField{{w, digits, mode}}, l[i:]...)...)
			m[w[0]] = l
		}
	}
	add(false, modeNone, "A.D. A.M. AD AM B.C. BC DAY DY FX OF P.M. PM TZH TZ")
	add(true, modeNone, "CC FF1 FF2 FF3 FF4 FF5 FF6 HH24 HH12 HH J MI MS Q SSSSS SSSS SS TZM US")
	add(false, modeGregorian, "MONTH MON RM")
	add(true, modeGregorian, "DDD DD D MM WW W Y,YYY YYYY YYY YY Y")
	add(true, modeISO, "IDDD ID IW IYYY IYY IY I")
	return m
}()

// matchKeyword is the spelling of word that s begins with: words are all upper or all lower
// case, names of days and months capitalised too.
func matchKeyword(s, word string) string {
	if strings.HasPrefix(s, word) {
		return word
	}
	if len(s) < len(word) {
		return ""
	}
	got := s[:len(word)]
	if !strings.EqualFold(got, word) {
		return ""
	}
	low := strings.ToLower(word)
	if got == low {
		return low
	}
	switch word {
	case "DAY", "DY", "MONTH", "MON":
		if got[1:] == low[1:] {
			return got
		}
	}
	return ""
}

func dateItem(s string, it *item[dateField]) (int, error) {
	n := 0
	switch {
	case strings.HasPrefix(s, "FM"), strings.HasPrefix(s, "fm"):
		it.fill, n = true, 2
	case strings.HasPrefix(s, "TM"), strings.HasPrefix(s, "tm"):
		it.local, n = true, 2
	}
	if len(s) == n {
		return n, nil
	}
	for _, f := range dateKeywords[s[n]&^0x20] {
		got := matchKeyword(s[n:], f.code)
		if got == "" {
			continue
		}
		it.field, it.name = f, got
		n += len(got)
		rest := s[n:]
		switch {
		case strings.HasPrefix(rest, "TH"):
			it.ordinal, n = 'T', n+2
		case strings.HasPrefix(rest, "th"):
			it.ordinal, n = 't', n+2
		case strings.HasPrefix(rest, "SP"):
			n += 2
		}
		return n, nil
	}
	return n, nil
}

func datePicture(s string) ([]item[dateField], error) {
	return parsePicture(s, dateItem)
}

// shownTime is what to_char shows: a timestamp or an interval.
type shownTime struct {
	interval               bool
	hour                   int64
	min, sec, usec         int
	year, month, day       int
	weekDay, yearDay, east int
	zone                   string
}

// appendPadded writes v in at least width characters, the sign among them.
func appendPadded(dst []byte, v int64, width int) []byte {
	if v < 0 {
		dst = append(dst, '-')
		v = -v
		width--
	}
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], v, 10)
	for i := len(digits); i < width; i++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// signWidth is room for the sign of a value like v.
func signWidth(v int64, width int) int {
	if v < 0 {
		return width + 1
	}
	return width
}

func (t *shownTime) displayYear(y int) int64 {
	if t.interval || y > 0 {
		return int64(y)
	}
	return int64(1 - y)
}

var (
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	romanMonth = [...]string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}
)

// appendCased writes s the way the keyword is written.
func appendCased(dst []byte, s, keyword string) []byte {
	switch {
	case keyword[0] >= 'a':
		return append(dst, strings.ToLower(s)...)
	case keyword[1] < 'a':
		return append(dst, strings.ToUpper(s)...)
	}
	return append(dst, s...)
}

func errNotForInterval() error {
	return pgerr.New(pgerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
		WithHint("Intervals are not tied to specific calendar dates.")
}

func (t *shownTime) append(dst []byte, items []item[dateField]) ([]byte, error) {
	for i := range items {
		it := &items[i]
		if it.kind != itemField {
			dst = append(dst, it.literal...)
			continue
		}
		start := len(dst)
		out, ok := t.appendNumber(dst, it)
		if ok {
			dst = out
			if it.ordinal != 0 && len(dst) > start {
				suffix, _ := ordinalSuffix(dst[start:], it.ordinal)
				dst = append(dst, suffix...)
			}
			continue
		}
		var err error
		if dst, err = t.appendWord(dst, it); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// appendNumber writes the fields that are numbers and may have an ordinal suffix.
func (t *shownTime) appendNumber(dst []byte, it *item[dateField]) ([]byte, bool) {
	pad := func(v int64, width int) ([]byte, bool) {
		if it.fill {
			width = 0
		}
		return appendPadded(dst, v, width), true
	}
	year := t.displayYear(t.year)
	isoYear := func() int64 {
		y, _ := types.ISOWeek(t.year, t.month, t.day)
		return t.displayYear(y)
	}
	switch code := it.field.code; code {
	case "HH", "HH12":
		h := t.hour % 12
		if h == 0 {
			h = 12
		}
		return pad(h, signWidth(t.hour, 2))
	case "HH24":
		return pad(t.hour, signWidth(t.hour, 2))
	case "MI":
		return pad(int64(t.min), signWidth(int64(t.min), 2))
	case "SS":
		return pad(int64(t.sec), signWidth(int64(t.sec), 2))
	case "MS":
		return appendPadded(dst, int64(t.usec/1000), 3), true
	case "US":
		return appendPadded(dst, int64(t.usec), 6), true
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		n := int(code[2] - '0')
		v := t.usec
		for i := n; i < 6; i++ {
			v /= 10
		}
		return appendPadded(dst, int64(v), n), true
	case "SSSS", "SSSSS":
		return strconv.AppendInt(dst, t.hour*3600+int64(t.min)*60+int64(t.sec), 10), true
	case "MM":
		return pad(int64(t.month), signWidth(int64(t.month), 2))
	case "DDD":
		return pad(int64(t.yearDay), 3)
	case "IDDD":
		y, _ := types.ISOWeek(t.year, t.month, t.day)
		return pad(int64(types.JulianDay(t.year, t.month, t.day)-types.ISOWeekStart(y, 1)+1), 3)
	case "DD":
		return pad(int64(t.day), 2)
	case "WW":
		return pad(int64((t.yearDay-1)/7+1), 2)
	case "IW":
		_, w := types.ISOWeek(t.year, t.month, t.day)
		return pad(int64(w), 2)
	case "W":
		return strconv.AppendInt(dst, int64((t.day-1)/7+1), 10), true
	case "Q":
		if t.month == 0 {
			return dst, true
		}
		return strconv.AppendInt(dst, int64((t.month-1)/3+1), 10), true
	case "D", "ID":
		if t.interval {
			return dst, false
		}
		d := t.weekDay + 1
		if code == "ID" {
			if d = t.weekDay; d == 0 {
				d = 7
			}
		}
		return strconv.AppendInt(dst, int64(d), 10), true
	case "J":
		return strconv.AppendInt(dst, int64(types.JulianDay(t.year, t.month, t.day)), 10), true
	case "CC":
		c := t.year / 100
		if !t.interval {
			c = century(t.year)
		}
		if c > 99 || c < -99 {
			return strconv.AppendInt(dst, int64(c), 10), true
		}
		return pad(int64(c), signWidth(int64(c), 2))
	case "Y,YYY":
		k := year / 1000
		dst = append(strconv.AppendInt(dst, k, 10), ',')
		return appendPadded(dst, year-k*1000, 3), true
	case "YYYY":
		return pad(year, signWidth(year, 4))
	case "IYYY":
		return pad(isoYear(), signWidth(year, 4))
	case "YYY":
		return pad(year%1000, signWidth(year, 3))
	case "IYY":
		return pad(isoYear()%1000, signWidth(year, 3))
	case "YY":
		return pad(year%100, signWidth(year, 2))
	case "IY":
		return pad(isoYear()%100, signWidth(year, 2))
	case "Y":
		return strconv.AppendInt(dst, year%10, 10), true
	case "I":
		return strconv.AppendInt(dst, isoYear()%10, 10), true
	}
	return dst, false
}

func (t *shownTime) appendWord(dst []byte, it *item[dateField]) ([]byte, error) {
	code := it.field.code
	padded := func(s string, width int) []byte {
		start := len(dst)
		dst = appendCased(dst, s, it.name)
		for !it.fill && !it.local && len(dst)-start < width {
			dst = append(dst, ' ')
		}
		return dst
	}
	switch code {
	case "AM", "PM", "A.M.", "P.M.":
		s := "AM"
		if t.hour%24 >= 12 {
			s = "PM"
		}
		if len(code) == 4 {
			s = s[:1] + "." + s[1:] + "."
		}
		return appendCased(dst, s, it.name[:1]+it.name[:1]), nil
	case "RM":
		if t.month == 0 && t.year == 0 {
			return dst, nil
		}
		m := t.month
		switch {
		case m == 0 && t.year >= 0:
			m = 12
		case m == 0:
			m = 1
		case m < 0:
			m += 13
		}
		it := *it
		it.local = false
		start := len(dst)
		dst = appendCased(dst, romanMonth[m-1], it.name)
		for !it.fill && len(dst)-start < 4 {
			dst = append(dst, ' ')
		}
		return dst, nil
	case "FX":
		return dst, nil
	}
	if t.interval {
		return nil, errNotForInterval()
	}
	east := max(t.east, -t.east)
	sign := byte('+')
	if t.east < 0 {
		sign = '-'
	}
	switch code {
	case "AD", "BC", "A.D.", "B.C.":
		s := "AD"
		if t.year <= 0 {
			s = "BC"
		}
		if len(code) == 4 {
			s = s[:1] + "." + s[1:] + "."
		}
		return appendCased(dst, s, it.name[:1]+it.name[:1]), nil
	case "MONTH":
		return padded(monthNames[t.month-1], 9), nil
	case "MON":
		return appendCased(dst, monthNames[t.month-1][:3], it.name), nil
	case "DAY":
		return padded(dayNames[t.weekDay], 9), nil
	case "DY":
		return appendCased(dst, dayNames[t.weekDay][:3], it.name), nil
	case "TZ":
		if it.name == "tz" {
			return append(dst, strings.ToLower(t.zone)...), nil
		}
		return append(dst, t.zone...), nil
	case "TZH":
		return appendPadded(append(dst, sign), int64(east/3600), 2), nil
	case "TZM":
		return appendPadded(dst, int64(east%3600/60), 2), nil
	case "OF":
		width := 2
		if it.fill {
			width = 0
		}
		dst = appendPadded(append(dst, sign), int64(east/3600), width)
		if east%3600 != 0 {
			dst = appendPadded(append(dst, ':'), int64(east%3600/60), 2)
		}
	}
	return dst, nil
}

func timestampToChar(zoned bool) Func {
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		t := a[0].Int64()
		if len(a[1].B) == 0 || !types.FiniteTimestamp(t) {
			return types.NullDatum, nil
		}
		var s shownTime
		if zoned {
			s.east, s.zone, _ = types.ZoneAt(t, c.location())
			t = types.LocalTimestamp(t, c.location())
		}
		f := types.TimestampFields(t)
		s.hour, s.min, s.sec, s.usec = int64(f.Hour), f.Min, f.Sec, f.Usec
		s.year, s.month, s.day = f.Year, f.Month, f.Day
		jd := f.JDay()
		s.weekDay = types.WeekDay(jd)
		s.yearDay = jd - types.JulianDay(f.Year, 1, 1) + 1
		return s.toChar(c, a[1].B)
	}
}

func intervalToChar(c *Context, a []types.Datum) (types.Datum, error) {
	if len(a[1].B) == 0 {
		return types.NullDatum, nil
	}
	v := a[0].Interval()
	s := shownTime{interval: true, year: int(v.Months / 12), month: int(v.Months % 12), day: int(v.Days)}
	s.hour = v.Micros / types.UsecsPerHour
	rest := v.Micros % types.UsecsPerHour
	s.min = int(rest / types.UsecsPerMinute)
	rest %= types.UsecsPerMinute
	s.sec = int(rest / types.UsecsPerSec)
	s.usec = int(rest % types.UsecsPerSec)
	s.yearDay = int(v.Months)*30 + s.day
	return s.toChar(c, a[1].B)
}

func (t *shownTime) toChar(c *Context, picture []byte) (types.Datum, error) {
	items, err := remembered(c, picture, datePicture)
	if err != nil {
		return types.Datum{}, err
	}
	out, err := t.append(make([]byte, 0, len(picture)+16), items)
	return types.Datum{B: out}, err
}
