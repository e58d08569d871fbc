package types

import "sort"

// tokenMax is how much of a word counts in the tables.
const tokenMax = 10

// Kinds of word, and of what a field gives; as bits they make a mask of what was seen.
const (
	dtReserved = iota
	dtMonth
	dtYear
	dtDay
	dtJulian
	dtTZ
	dtDTZ
	dtDynTZ
	dtIgnore
	dtAMPM
	dtHour
	dtMinute
	dtSecond
	dtMillisecond
	dtMicrosecond
	dtDOY
	dtDOW
	dtUnits
	dtADBC
	dtAgo
	dtISOTime
	dtWeek
	dtDecade
	dtCentury
	dtMillennium
	dtDTZMod
	dtQuarter
	dtTimezone
	dtTimezoneHour
	dtTimezoneMinute
	dtISODOW
	dtISOYear
	dtUnknown
)

const (
	maskSeconds = 1<<dtSecond | 1<<dtMillisecond | 1<<dtMicrosecond
	maskDate    = 1<<dtYear | 1<<dtMonth | 1<<dtDay
	maskTime    = 1<<dtHour | 1<<dtMinute | maskSeconds
)

// Values of reserved words and of AM, PM, AD, BC.
const (
	resNow = iota + 1
	resYesterday
	resToday
	resTomorrow
	resZulu
	resEpoch
	resLate
	resEarly
)

const (
	valAM = iota
	valPM
	val24
)

const (
	valAD = iota
	valBC
)

type dateToken struct {
	word  string
	kind  int
	value int
}

// dateTokens are the words of dates, sorted.
var dateTokens = [...]dateToken{
	{"-infinity", dtReserved, resEarly},
	{"ad", dtADBC, valAD},
	{"allballs", dtReserved, resZulu},
	{"am", dtAMPM, valAM},
	{"apr", dtMonth, 4},
	{"april", dtMonth, 4},
	{"at", dtIgnore, 0},
	{"aug", dtMonth, 8},
	{"august", dtMonth, 8},
	{"bc", dtADBC, valBC},
	{"d", dtUnits, dtDay},
	{"dec", dtMonth, 12},
	{"december", dtMonth, 12},
	{"dow", dtUnits, dtDOW},
	{"doy", dtUnits, dtDOY},
	{"dst", dtDTZMod, 3600},
	{"epoch", dtReserved, resEpoch},
	{"feb", dtMonth, 2},
	{"february", dtMonth, 2},
	{"fri", dtDOW, 5},
	{"friday", dtDOW, 5},
	{"h", dtUnits, dtHour},
	{"infinity", dtReserved, resLate},
	{"isodow", dtUnits, dtISODOW},
	{"isoyear", dtUnits, dtISOYear},
	{"j", dtUnits, dtJulian},
	{"jan", dtMonth, 1},
	{"january", dtMonth, 1},
	{"jd", dtUnits, dtJulian},
	{"jul", dtMonth, 7},
	{"julian", dtUnits, dtJulian},
	{"july", dtMonth, 7},
	{"jun", dtMonth, 6},
	{"june", dtMonth, 6},
	{"m", dtUnits, dtMonth},
	{"mar", dtMonth, 3},
	{"march", dtMonth, 3},
	{"may", dtMonth, 5},
	{"mm", dtUnits, dtMinute},
	{"mon", dtDOW, 1},
	{"monday", dtDOW, 1},
	{"nov", dtMonth, 11},
	{"november", dtMonth, 11},
	{"now", dtReserved, resNow},
	{"oct", dtMonth, 10},
	{"october", dtMonth, 10},
	{"on", dtIgnore, 0},
	{"pm", dtAMPM, valPM},
	{"s", dtUnits, dtSecond},
	{"sat", dtDOW, 6},
	{"saturday", dtDOW, 6},
	{"sep", dtMonth, 9},
	{"sept", dtMonth, 9},
	{"september", dtMonth, 9},
	{"sun", dtDOW, 0},
	{"sunday", dtDOW, 0},
	{"t", dtISOTime, 0},
	{"thu", dtDOW, 4},
	{"thur", dtDOW, 4},
	{"thurs", dtDOW, 4},
	{"thursday", dtDOW, 4},
	{"today", dtReserved, resToday},
	{"tomorrow", dtReserved, resTomorrow},
	{"tue", dtDOW, 2},
	{"tues", dtDOW, 2},
	{"tuesday", dtDOW, 2},
	{"wed", dtDOW, 3},
	{"wednesday", dtDOW, 3},
	{"weds", dtDOW, 3},
	{"y", dtUnits, dtYear},
	{"yesterday", dtReserved, resYesterday},
}

// unitTokens are the words of intervals and of extract, sorted; longer words count to tokenMax.
var unitTokens = [...]dateToken{
	{"@", dtIgnore, 0},
	{"ago", dtAgo, 0},
	{"c", dtUnits, dtCentury},
	{"cent", dtUnits, dtCentury},
	{"centuries", dtUnits, dtCentury},
	{"century", dtUnits, dtCentury},
	{"d", dtUnits, dtDay},
	{"day", dtUnits, dtDay},
	{"days", dtUnits, dtDay},
	{"dec", dtUnits, dtDecade},
	{"decade", dtUnits, dtDecade},
	{"decades", dtUnits, dtDecade},
	{"decs", dtUnits, dtDecade},
	{"h", dtUnits, dtHour},
	{"hour", dtUnits, dtHour},
	{"hours", dtUnits, dtHour},
	{"hr", dtUnits, dtHour},
	{"hrs", dtUnits, dtHour},
	{"m", dtUnits, dtMinute},
	{"microsecon", dtUnits, dtMicrosecond},
	{"mil", dtUnits, dtMillennium},
	{"millennia", dtUnits, dtMillennium},
	{"millennium", dtUnits, dtMillennium},
	{"millisecon", dtUnits, dtMillisecond},
	{"mils", dtUnits, dtMillennium},
	{"min", dtUnits, dtMinute},
	{"mins", dtUnits, dtMinute},
	{"minute", dtUnits, dtMinute},
	{"minutes", dtUnits, dtMinute},
	{"mon", dtUnits, dtMonth},
	{"mons", dtUnits, dtMonth},
	{"month", dtUnits, dtMonth},
	{"months", dtUnits, dtMonth},
	{"ms", dtUnits, dtMillisecond},
	{"msec", dtUnits, dtMillisecond},
	{"msecond", dtUnits, dtMillisecond},
	{"mseconds", dtUnits, dtMillisecond},
	{"msecs", dtUnits, dtMillisecond},
	{"qtr", dtUnits, dtQuarter},
	{"quarter", dtUnits, dtQuarter},
	{"s", dtUnits, dtSecond},
	{"sec", dtUnits, dtSecond},
	{"second", dtUnits, dtSecond},
	{"seconds", dtUnits, dtSecond},
	{"secs", dtUnits, dtSecond},
	{"timezone", dtUnits, dtTimezone},
	{"timezone_h", dtUnits, dtTimezoneHour},
	{"timezone_m", dtUnits, dtTimezoneMinute},
	{"us", dtUnits, dtMicrosecond},
	{"usec", dtUnits, dtMicrosecond},
	{"usecond", dtUnits, dtMicrosecond},
	{"useconds", dtUnits, dtMicrosecond},
	{"usecs", dtUnits, dtMicrosecond},
	{"w", dtUnits, dtWeek},
	{"week", dtUnits, dtWeek},
	{"weeks", dtUnits, dtWeek},
	{"y", dtUnits, dtYear},
	{"year", dtUnits, dtYear},
	{"years", dtUnits, dtYear},
	{"yr", dtUnits, dtYear},
	{"yrs", dtUnits, dtYear},
}

func findToken(table []dateToken, lower string) (kind, value int) {
	if len(lower) > tokenMax {
		lower = lower[:tokenMax]
	}
	i := sort.Search(len(table), func(i int) bool { return table[i].word >= lower })
	if i < len(table) && table[i].word == lower {
		return table[i].kind, table[i].value
	}
	return dtUnknown, 0
}
