package types

import "math"

// Units and limits of date and time, as in PostgreSQL's datatype/timestamp.h.
const (
	UsecsPerSec    = 1_000_000
	UsecsPerMinute = 60 * UsecsPerSec
	UsecsPerHour   = 60 * UsecsPerMinute
	UsecsPerDay    = 24 * UsecsPerHour

	// DateNoBegin and DateNoEnd are -infinity and infinity.
	DateNoBegin = math.MinInt32
	DateNoEnd   = math.MaxInt32
	// TimestampNoBegin and TimestampNoEnd are -infinity and infinity.
	TimestampNoBegin = math.MinInt64
	TimestampNoEnd   = math.MaxInt64

	// PostgresEpochJDate and UnixEpochJDate are Julian days of 2000-01-01 and 1970-01-01.
	PostgresEpochJDate = 2451545
	UnixEpochJDate     = 2440588
	unixEpochSecs      = (PostgresEpochJDate - UnixEpochJDate) * 86400

	minTimestamp  = -211813488000000000 // 4714-11-24 00:00:00 BC
	endTimestamp  = 9223371331200000000 // 294277-01-01 00:00:00
	dateEndJulian = 2147483494          // 5874898-01-01
	minDate       = -PostgresEpochJDate // 4714-11-24 BC
	endDate       = dateEndJulian - PostgresEpochJDate

	maxTZHour = 15
)

// ValidTimestamp reports whether t is in range and finite.
func ValidTimestamp(t int64) bool { return t >= minTimestamp && t < endTimestamp }

// ValidDate reports whether d is in range and finite.
func ValidDate(d int64) bool { return d >= minDate && d < endDate }

// FiniteTimestamp reports whether t is neither infinity.
func FiniteTimestamp(t int64) bool { return t != TimestampNoBegin && t != TimestampNoEnd }

// FiniteDate reports whether d is neither infinity.
func FiniteDate(d int64) bool { return d != DateNoBegin && d != DateNoEnd }

// Fields is a broken-down date and time. Year 0 is 1 BC.
type Fields struct {
	Year, Month, Day int
	Hour, Min, Sec   int
	Usec             int
	isdst            int // -1 unknown
	yday             int
}

// JulianDay of a date in the proleptic Gregorian calendar.
func JulianDay(y, m, d int) int {
	if m > 2 {
		m++
		y += 4800
	} else {
		m += 13
		y += 4799
	}
	century := y / 100
	julian := y*365 - 32167
	julian += y/4 - century + century/4
	julian += 7834*m/256 + d
	return julian
}

// FromJulianDay is the inverse of JulianDay.
func FromJulianDay(jd int) (y, m, d int) {
	julian := uint32(jd)
	julian += 32044
	quad := julian / 146097
	extra := (julian-quad*146097)*4 + 3
	julian += 60 + quad*3 + extra/146097
	quad = julian / 1461
	julian -= quad * 1461
	yy := int(julian * 4 / 1461)
	if yy != 0 {
		julian = (julian + 305) % 365
	} else {
		julian = (julian + 306) % 366
	}
	julian += 123
	yy += int(quad * 4)
	y = yy - 4800
	quad = julian * 2141 / 65536
	d = int(julian - 7834*quad/256)
	m = int((quad+10)%12 + 1)
	return y, m, d
}

// WeekDay of a Julian day, Sunday is 0.
func WeekDay(jd int) int {
	d := (jd + 1) % 7
	if d < 0 {
		d += 7
	}
	return d
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

// DaysInMonth of month m from 1.
func DaysInMonth(y, m int) int {
	switch m {
	case 2:
		if isLeap(y) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// validJulian reports whether a date can be a Julian day that fits in 32 bits.
func validJulian(y, m, _ int) bool {
	return (y > -4713 || (y == -4713 && m >= 11)) && (y < 5874898 || (y == 5874898 && m < 6))
}

// ISOWeek is the ISO 8601 year and week of a date.
func ISOWeek(y, m, d int) (year, week int) {
	day := JulianDay(y, m, d)
	isoStart := func(y int) int { // Julian day of the Monday of week 1
		d4 := JulianDay(y, 1, 4)
		return d4 - (WeekDay(d4)+6)%7
	}
	year = y
	start := isoStart(year)
	if day < start {
		year--
		start = isoStart(year)
	} else if next := isoStart(year + 1); day >= next {
		year++
		start = next
	}
	return year, (day-start)/7 + 1
}

// ISOWeekStart is the Julian day of the Monday of an ISO week.
func ISOWeekStart(year, week int) int {
	d4 := JulianDay(year, 1, 4)
	return d4 - (WeekDay(d4)+6)%7 + (week-1)*7
}

// floorDiv and floorMod round towards minus infinity.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func (f *Fields) setTime(usec int64) {
	f.Hour = int(usec / UsecsPerHour)
	usec -= int64(f.Hour) * UsecsPerHour
	f.Min = int(usec / UsecsPerMinute)
	usec -= int64(f.Min) * UsecsPerMinute
	f.Sec = int(usec / UsecsPerSec)
	f.Usec = int(usec - int64(f.Sec)*UsecsPerSec)
}

func (f *Fields) timeOfDay() int64 {
	return (int64(f.Hour)*60+int64(f.Min))*UsecsPerMinute + int64(f.Sec)*UsecsPerSec + int64(f.Usec)
}

// TimestampFields breaks a finite timestamp down, without any zone.
func TimestampFields(t int64) (f Fields) {
	day := floorDiv(t, UsecsPerDay)
	f.Year, f.Month, f.Day = FromJulianDay(int(day) + PostgresEpochJDate)
	f.setTime(t - day*UsecsPerDay)
	f.isdst = -1
	return f
}

// DateFields breaks a finite date down.
func DateFields(d int64) (f Fields) {
	f.Year, f.Month, f.Day = FromJulianDay(int(d) + PostgresEpochJDate)
	return f
}

// TimeFields breaks a time of day down; 24:00:00 has Hour 24.
func TimeFields(t int64) (f Fields) {
	f.setTime(t)
	return f
}

// Timestamp puts the fields together as if in UTC; ok is false if out of range.
func (f *Fields) Timestamp() (t int64, ok bool) {
	if !validJulian(f.Year, f.Month, f.Day) {
		return 0, false
	}
	day := int64(JulianDay(f.Year, f.Month, f.Day) - PostgresEpochJDate)
	if day > math.MaxInt64/UsecsPerDay || day < math.MinInt64/UsecsPerDay {
		return 0, false
	}
	t = day*UsecsPerDay + f.timeOfDay()
	// The sum may wrap at either end.
	if (t < 0 && day > 0) || (t > 0 && day < -1) {
		return 0, false
	}
	return t, ValidTimestamp(t)
}

// Date puts the fields together; ok is false if out of range.
func (f *Fields) Date() (d int64, ok bool) {
	if !validJulian(f.Year, f.Month, f.Day) {
		return 0, false
	}
	d = int64(JulianDay(f.Year, f.Month, f.Day) - PostgresEpochJDate)
	return d, ValidDate(d)
}

// JDay is the Julian day of the fields' date.
func (f *Fields) JDay() int { return JulianDay(f.Year, f.Month, f.Day) }
