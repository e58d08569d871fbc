package types

import (
	"math"
	"strings"
	"time"
)

// dateDecoder gives meaning to the fields of a date and time. The zone is kept in seconds west of Greenwich, as
// PostgreSQL does.
type dateDecoder struct {
	env   *Env
	order DateOrder

	Fields
	west     int
	special  int // resEpoch, resLate or resEarly
	fmask    int
	ptype    int // units or ISO time mark waiting for its field; 0 is none, so kinds are stored plus one
	meridiem int
	textMon  bool
	julian   bool
	twoDigit bool
	bc       bool
	namedTZ  *time.Location
	abbrevTZ *time.Location
	abbrev   string
	badZone  string
}

func newDateDecoder(env *Env) dateDecoder {
	d := dateDecoder{env: env, meridiem: val24}
	if env != nil {
		d.order = env.DateOrder
	}
	d.isdst = -1
	return d
}

func (d *dateDecoder) now() Fields {
	return TimestampFields(LocalTimestamp(TimestampFromTime(d.env.now()), d.env.location()))
}

// dateTime decodes a timestamp; dtTimeOnly means that there was no date.
func (d *dateDecoder) dateTime(fields []dateField) dtError {
	for i := range fields {
		f := &fields[i]
		tmask := 0
		e := dtOK
		switch f.kind {
		case fieldDate:
			tmask, e = d.dateField(f.text)
		case fieldTime:
			if d.ptype != 0 {
				if d.ptype != dtISOTime+1 {
					return dtBadFormat
				}
				d.ptype = 0
			}
			tmask, e = d.clock(f.text)
			if e == dtOK && d.timeOverflows() {
				e = dtFieldOverflow
			}
		case fieldTZ:
			d.west, e = numericZone(f.text)
			tmask = 1 << dtTZ
		case fieldNumber:
			tmask, e = d.numberField(f.text)
		default:
			var skip bool
			next := -1
			if i+1 < len(fields) {
				next = int(fields[i+1].kind)
			}
			if tmask, skip, e = d.word(f.text, next); skip {
				continue
			}
		}
		if e != dtOK {
			return e
		}
		if tmask&d.fmask != 0 {
			return dtBadFormat
		}
		d.fmask |= tmask
	}
	if d.ptype != 0 {
		return dtBadFormat
	}
	if d.special != 0 {
		return dtOK
	}
	if e := d.validate(); e != dtOK {
		return e
	}
	if e := d.applyMeridiem(); e != dtOK {
		return e
	}
	if d.fmask&maskDate != maskDate {
		if d.fmask&maskTime == maskTime {
			return dtTimeOnly
		}
		return dtBadFormat
	}
	return d.resolveZone(d.Fields)
}

// resolveZone finds the offset at the local time of f when no number was given.
func (d *dateDecoder) resolveZone(f Fields) dtError {
	mod := d.fmask&(1<<dtDTZMod) != 0
	if d.namedTZ != nil {
		if mod {
			return dtBadFormat
		}
		d.west = -f.zoneOffset(d.namedTZ)
	}
	if d.abbrevTZ != nil {
		if mod {
			return dtBadFormat
		}
		off, unix := f.zoneInstant(d.abbrevTZ)
		if o, _, ok := abbrevInstant(d.abbrev, d.abbrevTZ, unix); ok {
			off = o
		}
		d.west = -off
	}
	if d.fmask&(1<<dtTZ) == 0 {
		if mod {
			return dtBadFormat
		}
		d.west = -f.zoneOffset(d.env.location())
	}
	return dtOK
}

func (d *dateDecoder) applyMeridiem() dtError {
	switch {
	case d.meridiem != val24 && d.Hour > 12:
		return dtFieldOverflow
	case d.meridiem == valAM && d.Hour == 12:
		d.Hour = 0
	case d.meridiem == valPM && d.Hour != 12:
		d.Hour += 12
	}
	return dtOK
}

// timeOverflows allows 24:00:00 and a leap second.
func (d *dateDecoder) timeOverflows() bool {
	if d.Hour < 0 || d.Hour > 24 || d.Min < 0 || d.Min > 59 || d.Sec < 0 || d.Sec > 60 || d.Usec < 0 || d.Usec > UsecsPerSec {
		return true
	}
	return d.timeOfDay() > UsecsPerDay
}

// dateField handles digits with delimiters: a date, or after one a zone's name or hhmmss-zz.
func (d *dateDecoder) dateField(s string) (tmask int, e dtError) {
	if d.ptype == dtJulian+1 {
		jday, used, over := leadingInt(s)
		if over || jday < 0 {
			return 0, dtFieldOverflow
		}
		d.Year, d.Month, d.Day = FromJulianDay(jday)
		d.julian = true
		d.west, e = numericZone(s[used:])
		d.ptype = 0
		return maskDate | maskTime | 1<<dtTZ, e
	}
	const monthDay = 1<<dtMonth | 1<<dtDay
	if d.ptype == 0 && d.fmask&monthDay != monthDay {
		return d.date(s)
	}
	if isDigit(s[0]) || d.ptype != 0 {
		if d.ptype != 0 {
			if d.ptype != dtISOTime+1 {
				return 0, dtBadFormat
			}
			d.ptype = 0
		}
		if d.fmask&maskTime == maskTime {
			return 0, dtBadFormat
		}
		return d.runTogether(s, d.fmask)
	}
	if d.namedTZ = LoadZone(s); d.namedTZ == nil {
		d.badZone = s
		return 0, dtBadZone
	}
	return 1 << dtTZ, dtOK
}

// runTogether reads hhmmss-zz.
func (d *dateDecoder) runTogether(s string, fmask int) (tmask int, e dtError) {
	dash := strings.IndexByte(s, '-')
	if dash < 0 {
		return 0, dtBadFormat
	}
	if d.west, e = numericZone(s[dash:]); e != dtOK {
		return 0, e
	}
	tmask, e = d.concatenated(s[:dash], fmask)
	return tmask | 1<<dtTZ, e
}

// labelled reads the number after a unit or an ISO time mark.
func (d *dateDecoder) labelled(s string) (tmask int, e dtError) {
	value, used, over := leadingInt(s)
	if over {
		return 0, dtFieldOverflow
	}
	rest := s[used:]
	if rest != "" && rest[0] != '.' {
		return 0, dtBadFormat
	}
	kind := d.ptype - 1
	d.ptype = 0
	d.special = 0
	// A fraction belongs to seconds and Julian days only.
	if rest != "" && kind != dtJulian && kind != dtISOTime && kind != dtSecond {
		return 0, dtBadFormat
	}
	switch kind {
	case dtYear:
		d.Year = value
		return 1 << dtYear, dtOK
	case dtMonth:
		if d.fmask&(1<<dtMonth) != 0 && d.fmask&(1<<dtHour) != 0 {
			d.Min = value
			return 1 << dtMinute, dtOK
		}
		d.Month = value
		return 1 << dtMonth, dtOK
	case dtDay:
		d.Day = value
		return 1 << dtDay, dtOK
	case dtHour:
		d.Hour = value
		return 1 << dtHour, dtOK
	case dtMinute:
		d.Min = value
		return 1 << dtMinute, dtOK
	case dtSecond:
		d.Sec = value
		if rest == "" {
			return 1 << dtSecond, dtOK
		}
		usec, ok := fractionUsec(rest)
		if !ok {
			return 0, dtBadFormat
		}
		d.Usec = usec
		return maskSeconds, dtOK
	case dtTimezone:
		d.west, e = numericZone(s)
		return 1 << dtTZ, e
	case dtJulian:
		return d.julianDay(value, rest)
	case dtISOTime:
		tmask, e = d.concatenated(s, d.fmask|maskDate)
		if e == dtOK && tmask != maskTime {
			e = dtBadFormat
		}
		return tmask, e
	}
	return 0, dtBadFormat
}

func (d *dateDecoder) julianDay(value int, frac string) (tmask int, e dtError) {
	if value < 0 {
		return 0, dtFieldOverflow
	}
	tmask = maskDate
	d.Year, d.Month, d.Day = FromJulianDay(value)
	d.julian = true
	if frac != "" {
		v, ok := fraction(frac)
		if !ok {
			return 0, dtBadFormat
		}
		d.setTime(int64(v * UsecsPerDay))
		tmask |= maskTime
	}
	return tmask, dtOK
}

func (d *dateDecoder) numberField(s string) (tmask int, e dtError) {
	if d.ptype != 0 {
		return d.labelled(s)
	}
	dot := strings.IndexByte(s, '.')
	switch {
	case dot >= 0 && d.fmask&maskDate == 0:
		return d.date(s)
	case dot > 2:
		return d.concatenated(s, d.fmask)
	case dot < 0 && len(s) >= 6 && (d.fmask&maskDate == 0 || d.fmask&maskTime == 0):
		return d.concatenated(s, d.fmask)
	}
	return d.number(s, d.textMon, d.fmask)
}

// word handles letters. skip is set for words that mean nothing. next is the kind of the field that follows, -1 if none.
func (d *dateDecoder) word(s string, next int) (tmask int, skip bool, e dtError) {
	kind, value := dtUnknown, 0
	if a := findAbbrev(s); a != nil {
		switch {
		case a.zone != "":
			kind = dtDynTZ
			if d.abbrevTZ = LoadZone(a.zone); d.abbrevTZ == nil {
				d.badZone = a.zone
				return 0, false, dtBadZone
			}
			d.abbrev = s
		case a.dst:
			kind, value = dtDTZ, int(a.offset)
		default:
			kind, value = dtTZ, int(a.offset)
		}
	} else {
		kind, value = findToken(dateTokens[:], s)
	}
	tmask = 1 << kind
	switch kind {
	case dtIgnore:
		return 0, true, dtOK
	case dtReserved:
		return d.reserved(value), false, dtOK
	case dtMonth:
		// A number already taken for the month may have been the day.
		if d.fmask&(1<<dtMonth) != 0 && !d.textMon && d.fmask&(1<<dtDay) == 0 && d.Month >= 1 && d.Month <= 31 {
			d.Day = d.Month
			tmask = 1 << dtDay
		}
		d.textMon = true
		d.Month = value
	case dtDTZMod:
		tmask |= 1 << dtDTZ
		d.isdst = 1
		d.west -= value
	case dtDTZ:
		tmask |= 1 << dtTZ
		d.isdst = 1
		d.west = -value
	case dtTZ:
		d.isdst = 0
		d.west = -value
	case dtDynTZ:
		tmask |= 1 << dtTZ
	case dtAMPM:
		d.meridiem = value
	case dtADBC:
		d.bc = value == valBC
	case dtDOW:
	case dtUnits:
		tmask = 0
		d.ptype = value + 1
	case dtISOTime:
		tmask = 0
		if d.fmask&maskDate != maskDate {
			return 0, false, dtBadFormat
		}
		if next != fieldNumber && next != fieldTime && next != fieldDate {
			return 0, false, dtBadFormat
		}
		d.ptype = dtISOTime + 1
	case dtUnknown:
		if d.namedTZ = LoadZone(s); d.namedTZ == nil {
			return 0, false, dtBadFormat
		}
		tmask = 1 << dtTZ
	default:
		return 0, false, dtBadFormat
	}
	return tmask, false, dtOK
}

func (d *dateDecoder) reserved(value int) (tmask int) {
	day := 0
	if value < resEpoch {
		d.special = 0
	}
	switch value {
	case resNow:
		isdst := d.isdst
		now := d.now()
		d.Fields = now
		d.isdst = isdst
		off, _, _ := ZoneAt(TimestampFromTime(d.env.now()), d.env.location())
		d.west = -off
		return maskDate | maskTime | 1<<dtTZ
	case resYesterday:
		day = -1
	case resToday:
	case resTomorrow:
		day = 1
	case resZulu:
		d.Hour, d.Min, d.Sec, d.west = 0, 0, 0, 0
		return maskTime | 1<<dtTZ
	default:
		d.special = value
		return 1 << dtReserved
	}
	now := d.now()
	d.Year, d.Month, d.Day = FromJulianDay(now.JDay() + day)
	return maskDate
}

// date reads a date with delimiters.
func (d *dateDecoder) date(s string) (tmask int, e dtError) {
	var parts [maxDateFields]string
	n := 0
	for s != "" && n < maxDateFields {
		for s != "" && !isAlnum(s[0]) {
			s = s[1:]
		}
		if s == "" {
			return 0, dtBadFormat
		}
		k := 0
		if isDigit(s[0]) {
			for k < len(s) && isDigit(s[k]) {
				k++
			}
		} else {
			for k < len(s) && isAlpha(s[k]) {
				k++
			}
		}
		parts[n] = s[:k]
		n++
		s = s[k:]
		if s != "" {
			// One delimiter goes with its field; further ones are skipped above.
			s = s[1:]
		}
	}
	fmask := d.fmask
	textMon := false
	for i := range n {
		if !isAlpha(parts[i][0]) {
			continue
		}
		kind, value := findToken(dateTokens[:], parts[i])
		if kind == dtIgnore {
			continue
		}
		if kind != dtMonth || fmask&(1<<dtMonth) != 0 {
			return 0, dtBadFormat
		}
		d.Month = value
		textMon = true
		fmask |= 1 << dtMonth
		tmask |= 1 << dtMonth
		parts[i] = ""
	}
	for i := range n {
		if parts[i] == "" {
			continue
		}
		m, e := d.number(parts[i], textMon, fmask)
		if e != dtOK {
			return 0, e
		}
		if fmask&m != 0 {
			return 0, dtBadFormat
		}
		fmask |= m
		tmask |= m
	}
	if fmask&^(1<<dtDOY|1<<dtTZ) != maskDate {
		return 0, dtBadFormat
	}
	return tmask, dtOK
}

// validate checks the date when its year is certain, and turns a day of the year into month and day.
func (d *dateDecoder) validate() dtError {
	if d.fmask&(1<<dtYear) != 0 && !d.julian {
		switch {
		case d.bc:
			if d.Year <= 0 {
				return dtFieldOverflow
			}
			d.Year = -(d.Year - 1)
		case d.twoDigit:
			if d.Year < 0 {
				return dtFieldOverflow
			}
			if d.Year < 70 {
				d.Year += 2000
			} else if d.Year < 100 {
				d.Year += 1900
			}
		case d.Year <= 0:
			return dtFieldOverflow
		}
	}
	if d.fmask&(1<<dtDOY) != 0 {
		d.Year, d.Month, d.Day = FromJulianDay(JulianDay(d.Year, 1, 1) + d.yday - 1)
	}
	if d.fmask&(1<<dtMonth) != 0 && (d.Month < 1 || d.Month > 12) {
		return dtMonthDayOverflow
	}
	if d.fmask&(1<<dtDay) != 0 && (d.Day < 1 || d.Day > 31) {
		return dtMonthDayOverflow
	}
	if d.fmask&maskDate == maskDate && d.Day > DaysInMonth(d.Year, d.Month) {
		return dtFieldOverflow
	}
	return dtOK
}

// clockTime is hh:mm[:ss[.ffffff]] or mm:ss.ffffff taken apart.
type clockTime struct {
	hour     int64
	min, sec int
	usec     int
}

func parseClock(s string, minuteToSecond bool) (c clockTime, e dtError) {
	hour, used, over := leadingInt64(s)
	if over {
		return c, dtFieldOverflow
	}
	c.hour = hour
	rest := s[used:]
	if rest == "" || rest[0] != ':' {
		return c, dtBadFormat
	}
	if c.min, used, over = leadingInt(rest[1:]); over {
		return c, dtFieldOverflow
	}
	rest = rest[1+used:]
	shift := false
	frac := ""
	switch {
	case rest == "":
		shift = minuteToSecond
	case rest[0] == '.':
		shift, frac = true, rest
	case rest[0] == ':':
		if c.sec, used, over = leadingInt(rest[1:]); over {
			return c, dtFieldOverflow
		}
		if frac = rest[1+used:]; frac != "" && frac[0] != '.' {
			return c, dtBadFormat
		}
	default:
		return c, dtBadFormat
	}
	if frac != "" {
		var ok bool
		if c.usec, ok = fractionUsec(frac); !ok {
			return c, dtBadFormat
		}
	}
	if shift {
		if c.hour > math.MaxInt32 || c.hour < math.MinInt32 {
			return c, dtFieldOverflow
		}
		c.sec, c.min, c.hour = c.min, int(c.hour), 0
	}
	if c.hour < 0 || c.min < 0 || c.min > 59 || c.sec < 0 || c.sec > 60 || c.usec < 0 || c.usec > UsecsPerSec {
		return c, dtFieldOverflow
	}
	return c, dtOK
}

func (d *dateDecoder) clock(s string) (tmask int, e dtError) {
	c, e := parseClock(s, false)
	if e != dtOK {
		return 0, e
	}
	if c.hour > math.MaxInt32 {
		return 0, dtFieldOverflow
	}
	d.Hour, d.Min, d.Sec, d.Usec = int(c.hour), c.min, c.sec, c.usec
	return maskTime, dtOK
}

// number reads one number of a date by what is already known.
func (d *dateDecoder) number(s string, textMon bool, fmask int) (tmask int, e dtError) {
	val, used, over := leadingInt(s)
	if over {
		return 0, dtFieldOverflow
	}
	if used == 0 {
		return 0, dtBadFormat
	}
	if rest := s[used:]; rest != "" {
		if rest[0] != '.' {
			return 0, dtBadFormat
		}
		if used > 2 {
			return d.concatenated(s, fmask|maskDate)
		}
		usec, ok := fractionUsec(rest)
		if !ok {
			return 0, dtBadFormat
		}
		d.Usec = usec
	}
	if len(s) == 3 && fmask&maskDate == 1<<dtYear && val >= 1 && val <= 366 {
		d.yday = val
		return 1<<dtDOY | 1<<dtMonth | 1<<dtDay, dtOK
	}
	const year, month, day = 1 << dtYear, 1 << dtMonth, 1 << dtDay
	long := len(s) >= 3
	switch fmask & maskDate {
	case 0:
		switch {
		case long || d.order == OrderYMD:
			tmask = year
		case d.order == OrderDMY:
			tmask = day
		default:
			tmask = month
		}
	case year:
		tmask = month
	case month:
		tmask = day
		if textMon && (long || d.order == OrderYMD) {
			tmask = year
		}
	case year | month:
		tmask = day
		if textMon && long && d.twoDigit {
			// The first number was the day, and this is the year.
			d.Day, d.Year = d.Year, val
			d.twoDigit = false
			return day, dtOK
		}
	case day:
		tmask = month
	case month | day:
		tmask = year
	case maskDate:
		return d.concatenated(s, fmask)
	default:
		return 0, dtBadFormat
	}
	switch tmask {
	case year:
		d.Year = val
		d.twoDigit = len(s) <= 2
	case month:
		d.Month = val
	case day:
		d.Day = val
	}
	return tmask, dtOK
}

// concatenated reads yymmdd, yyyymmdd, hhmm or hhmmss[.ffffff].
func (d *dateDecoder) concatenated(s string, fmask int) (tmask int, e dtError) {
	if dot := strings.IndexByte(s, '.'); dot >= 0 {
		frac := s[dot:]
		end := 1
		for end < len(frac) && isDigit(frac[end]) {
			end++
		}
		usec, ok := fractionUsec(frac[:end])
		if !ok {
			return 0, dtBadFormat
		}
		d.Usec = usec
		s = s[:dot]
	} else if fmask&maskDate != maskDate && len(s) >= 6 {
		n := len(s)
		d.Day = atoi(s[n-2:])
		d.Month = atoi(s[n-4 : n-2])
		d.Year = atoi(s[:n-4])
		if n-4 == 2 {
			d.twoDigit = true
		}
		return maskDate, dtOK
	}
	if fmask&maskTime != maskTime {
		switch len(s) {
		case 6:
			d.Sec = atoi(s[4:])
		case 4:
			d.Sec = 0
		default:
			return 0, dtBadFormat
		}
		d.Min = atoi(s[2:4])
		d.Hour = atoi(s[:2])
		return maskTime, dtOK
	}
	return 0, dtBadFormat
}

// timeOnly decodes a time of day with an optional zone and, for the zone's sake, date.
func (d *dateDecoder) timeOnly(fields []dateField) dtError {
	nf := len(fields)
	for i := range fields {
		f := &fields[i]
		tmask := 0
		e := dtOK
		switch f.kind {
		case fieldDate:
			switch {
			case i == 0 && nf >= 2 && (fields[nf-1].kind == fieldDate || fields[1].kind == fieldTime):
				tmask, e = d.date(f.text)
			case isDigit(f.text[0]):
				if d.fmask&maskTime == maskTime {
					return dtBadFormat
				}
				tmask, e = d.runTogether(f.text, d.fmask|maskDate)
			default:
				if d.namedTZ = LoadZone(f.text); d.namedTZ == nil {
					d.badZone = f.text
					return dtBadZone
				}
				tmask = 1 << dtTZ
				f.kind = fieldTZ
			}
		case fieldTime:
			if d.ptype != 0 && d.ptype != dtISOTime+1 {
				return dtBadFormat
			}
			d.ptype = 0
			tmask, e = d.clock(f.text)
		case fieldTZ:
			d.west, e = numericZone(f.text)
			tmask = 1 << dtTZ
		case fieldNumber:
			tmask, e = d.timeNumber(f.text, i, fields)
		default:
			var skip bool
			if tmask, skip, e = d.timeWord(f, i, fields); skip {
				continue
			}
		}
		if e != dtOK {
			return e
		}
		if tmask&d.fmask != 0 {
			return dtBadFormat
		}
		d.fmask |= tmask
	}
	if d.ptype != 0 {
		return dtBadFormat
	}
	if e := d.validate(); e != dtOK {
		return e
	}
	if e := d.applyMeridiem(); e != dtOK {
		return e
	}
	if d.timeOverflows() {
		return dtFieldOverflow
	}
	if d.fmask&maskTime != maskTime {
		return dtBadFormat
	}
	return d.timeZone()
}

// timeZone resolves the zone of a time, with today's date if there is none.
func (d *dateDecoder) timeZone() dtError {
	if d.namedTZ != nil {
		if off, ok := fixedOffset(d.namedTZ, d.env.now()); ok {
			if d.fmask&(1<<dtDTZMod) != 0 {
				return dtBadFormat
			}
			d.west = -off
			d.namedTZ = nil
		} else if d.fmask&maskDate != maskDate {
			return dtBadFormat
		}
	}
	f := d.Fields
	if d.fmask&maskDate == 0 {
		now := d.now()
		f.Year, f.Month, f.Day = now.Year, now.Month, now.Day
	} else if d.fmask&maskDate != maskDate && (d.abbrevTZ != nil || d.fmask&(1<<dtTZ) == 0) {
		return dtBadFormat
	}
	return d.resolveZone(f)
}

// fixedOffset reports the offset of a zone that never changed it.
func fixedOffset(loc *time.Location, now time.Time) (int, bool) {
	t := now.In(loc)
	start, end := t.ZoneBounds()
	_, off := t.Zone()
	return off, start.IsZero() && end.IsZero()
}

func (d *dateDecoder) timeNumber(s string, i int, fields []dateField) (tmask int, e dtError) {
	if d.ptype != 0 {
		return d.labelled(s)
	}
	dot := strings.IndexByte(s, '.')
	switch {
	case dot >= 0:
		if i == 0 && len(fields) >= 2 && fields[len(fields)-1].kind == fieldDate {
			return d.date(s)
		}
		if dot > 2 {
			return d.concatenated(s, d.fmask|maskDate)
		}
		return 0, dtBadFormat
	case len(s) > 4:
		return d.concatenated(s, d.fmask|maskDate)
	}
	return d.number(s, false, d.fmask|maskDate)
}

func (d *dateDecoder) timeWord(f *dateField, i int, fields []dateField) (tmask int, skip bool, e dtError) {
	kind, value := dtUnknown, 0
	if findAbbrev(f.text) == nil {
		kind, value = findToken(dateTokens[:], f.text)
	}
	switch kind {
	case dtReserved:
		switch value {
		case resNow:
			now := d.now()
			d.Hour, d.Min, d.Sec, d.Usec = now.Hour, now.Min, now.Sec, now.Usec
			return maskTime, false, dtOK
		case resZulu:
			d.Hour, d.Min, d.Sec, d.isdst = 0, 0, 0, 0
			return maskTime | 1<<dtTZ, false, dtOK
		}
		return 0, false, dtBadFormat
	case dtMonth, dtDOW:
		return 0, false, dtBadFormat
	case dtISOTime:
		if i+1 >= len(fields) {
			return 0, false, dtBadFormat
		}
		if k := fields[i+1].kind; k != fieldNumber && k != fieldTime && k != fieldDate {
			return 0, false, dtBadFormat
		}
		d.ptype = dtISOTime + 1
		return 0, false, dtOK
	}
	return d.word(f.text, -1)
}
