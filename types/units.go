package types

import (
	"strings"
	"time"
)

// Unit is a unit of time, as extract, date_trunc and intervals name them.
type Unit uint8

// The units.
const (
	UnitNone Unit = iota
	UnitMicrosecond
	UnitMillisecond
	UnitSecond
	UnitMinute
	UnitHour
	UnitDay
	UnitWeek
	UnitMonth
	UnitQuarter
	UnitYear
	UnitDecade
	UnitCentury
	UnitMillennium
	UnitISOYear
	UnitJulian
	UnitDOW
	UnitISODOW
	UnitDOY
	UnitTimezone
	UnitTimezoneHour
	UnitTimezoneMinute
	UnitEpoch
)

// ParseUnit finds a unit by name; special also admits those that only extract knows: dow, doy, julian, epoch, ...
func ParseUnit(name string, special bool) Unit {
	lower := strings.ToLower(name)
	kind, value := findToken(unitTokens[:], lower)
	if kind == dtUnknown && special {
		kind, value = findToken(dateTokens[:], lower)
	}
	switch kind {
	case dtReserved:
		if value == resEpoch {
			return UnitEpoch
		}
		return UnitNone
	case dtUnits:
	default:
		return UnitNone
	}
	switch value {
	case dtMicrosecond:
		return UnitMicrosecond
	case dtMillisecond:
		return UnitMillisecond
	case dtSecond:
		return UnitSecond
	case dtMinute:
		return UnitMinute
	case dtHour:
		return UnitHour
	case dtDay:
		return UnitDay
	case dtWeek:
		return UnitWeek
	case dtMonth:
		return UnitMonth
	case dtQuarter:
		return UnitQuarter
	case dtYear:
		return UnitYear
	case dtDecade:
		return UnitDecade
	case dtCentury:
		return UnitCentury
	case dtMillennium:
		return UnitMillennium
	case dtISOYear:
		return UnitISOYear
	case dtJulian:
		return UnitJulian
	case dtDOW:
		return UnitDOW
	case dtISODOW:
		return UnitISODOW
	case dtDOY:
		return UnitDOY
	case dtTimezone:
		return UnitTimezone
	case dtTimezoneHour:
		return UnitTimezoneHour
	case dtTimezoneMinute:
		return UnitTimezoneMinute
	}
	return UnitNone
}

// ZonedTime is a time zone as AT TIME ZONE names it: a zone, or an abbreviation whose meaning in its zone changed over time.
type ZonedTime struct {
	loc    *time.Location
	abbrev string
}

// ParseZonedTime resolves a zone's name or abbreviation.
func ParseZonedTime(name string) (ZonedTime, error) {
	loc, abbrev, err := ZoneForAtTimeZone(name)
	return ZonedTime{loc, abbrev}, err
}

// OffsetAt is in seconds east of Greenwich at a timestamptz.
func (z ZonedTime) OffsetAt(t int64) int {
	if z.abbrev != "" {
		if off, _, ok := abbrevInstant(z.abbrev, z.loc, unixTime(t).Unix()); ok {
			return off
		}
	}
	off, _, _ := ZoneAt(t, z.loc)
	return off
}

// OffsetOfLocal is in seconds east of Greenwich at a local time of the zone.
func (z ZonedTime) OffsetOfLocal(t int64) int {
	f := TimestampFields(t)
	off, unix := f.zoneInstant(z.loc)
	if z.abbrev != "" {
		if o, _, ok := abbrevInstant(z.abbrev, z.loc, unix); ok {
			return o
		}
	}
	return off
}

// ZoneOf is a zone without an abbreviation.
func ZoneOf(loc *time.Location) ZonedTime { return ZonedTime{loc: loc} }

// ParseNumericZone reads +hh[:mm[:ss]] or +hhmm; over is set when a field is out of range.
func ParseNumericZone(s string) (east int, ok, over bool) {
	west, e := numericZone(s)
	return -west, e == dtOK, e == dtZoneOverflow
}
