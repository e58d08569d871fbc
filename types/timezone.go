package types

import (
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the machine may have no zone files
	"unicode"

	"github.com/minipg/minipg/pgerr"
)

// unixTime is the instant of a timestamptz.
func unixTime(t int64) time.Time {
	sec := floorDiv(t, UsecsPerSec)
	return time.Unix(sec+unixEpochSecs, (t-sec*UsecsPerSec)*1000)
}

// TimestampFromTime is the timestamptz of an instant, rounded down to microseconds.
func TimestampFromTime(t time.Time) int64 {
	return (t.Unix()-unixEpochSecs)*UsecsPerSec + int64(t.Nanosecond())/1000
}

// TimeFromTimestamp is the instant of a finite timestamptz.
func TimeFromTimestamp(t int64) time.Time { return unixTime(t) }

func (e *Env) location() *time.Location {
	if e == nil || e.TimeZone == nil {
		return time.UTC
	}
	return e.TimeZone
}

func (e *Env) now() time.Time {
	if e == nil || e.Now.IsZero() {
		return time.Now()
	}
	return e.Now
}

// ZoneAt is the offset in seconds east of Greenwich, the abbreviation and the daylight-saving flag at t.
func ZoneAt(t int64, loc *time.Location) (offset int, abbrev string, dst bool) {
	if loc == time.UTC {
		return 0, "UTC", false
	}
	lt := unixTime(t).In(loc)
	abbrev, offset = lt.Zone()
	return offset, abbrev, lt.IsDST()
}

// LocalTimestamp converts a timestamptz to the timestamp on the clocks of loc.
func LocalTimestamp(t int64, loc *time.Location) int64 {
	if !FiniteTimestamp(t) {
		return t
	}
	off, _, _ := ZoneAt(t, loc)
	return t + int64(off)*UsecsPerSec
}

// ZoneTimestamp converts a timestamp on the clocks of loc to a timestamptz; ok is false if out of range.
func ZoneTimestamp(t int64, loc *time.Location) (tz int64, ok bool) {
	if !FiniteTimestamp(t) {
		return t, true
	}
	f := TimestampFields(t)
	off := f.zoneOffset(loc)
	tz = t - int64(off)*UsecsPerSec
	return tz, ValidTimestamp(tz)
}

// zoneOffset decides, as DetermineTimeZoneOffset does, which offset (seconds east) local time f has in loc: in a gap that before the change, at
// an ambiguous time that after it.
func (f *Fields) zoneOffset(loc *time.Location) int {
	off, _ := f.zoneInstant(loc)
	return off
}

// zoneInstant also gives the Unix time. Out of the calendar's range it is UTC at the epoch.
func (f *Fields) zoneInstant(loc *time.Location) (offset int, unix int64) {
	if !validJulian(f.Year, f.Month, f.Day) {
		f.isdst = 0
		return 0, 0
	}
	local := int64(f.JDay()-UnixEpochJDate)*86400 + int64(f.Hour*3600+f.Min*60+f.Sec)
	if loc == time.UTC {
		f.isdst = 0
		return 0, local
	}
	prev := time.Unix(local-86400, 0).In(loc)
	_, before := prev.Zone()
	_, end := prev.ZoneBounds()
	beforeTime := local - int64(before)
	if end.IsZero() {
		f.setDST(prev)
		return before, beforeTime
	}
	boundary := end.Unix()
	_, after := end.Zone()
	afterTime := local - int64(after)
	useBefore := beforeTime > afterTime
	if beforeTime < boundary && afterTime < boundary {
		useBefore = true
	} else if beforeTime > boundary && afterTime >= boundary {
		useBefore = false
	}
	if useBefore {
		f.setDST(prev)
		return before, beforeTime
	}
	f.setDST(end)
	return after, afterTime
}

func (f *Fields) setDST(t time.Time) {
	f.isdst = 0
	if t.IsDST() {
		f.isdst = 1
	}
}

// zoneCache keeps what LoadLocation reads from files.
type zoneCache struct {
	sync.RWMutex
	zones map[string]*time.Location // by lower-case name; nil means there is none
}

var loadedZones zoneCache

// LoadZone finds a zone by a name of the time zone database in any case, or a POSIX specification
// such as EST5EDT or <+03>-3; nil if it is neither.
func LoadZone(name string) *time.Location {
	key := strings.ToLower(name)
	switch key {
	case "utc", "gmt":
		if key == "utc" {
			return time.UTC
		}
	}
	loadedZones.RLock()
	loc, ok := loadedZones.zones[key]
	loadedZones.RUnlock()
	if ok {
		return loc
	}
	loc = loadZone(name, key)
	loadedZones.Lock()
	defer loadedZones.Unlock()
	// Unknown names are kept too, within a bound, since a failing statement is often repeated.
	if loadedZones.zones == nil || len(loadedZones.zones) > 4096 {
		loadedZones.zones = make(map[string]*time.Location)
	}
	loadedZones.zones[key] = loc
	return loc
}

func loadZone(name, key string) *time.Location {
	i := sort.Search(len(zoneNames), func(i int) bool { return strings.ToLower(zoneNames[i]) >= key })
	if i < len(zoneNames) && strings.ToLower(zoneNames[i]) == key {
		if loc, err := time.LoadLocation(zoneNames[i]); err == nil {
			return loc
		}
	}
	return posixZone(name)
}

// posixZone understands the fixed part of a POSIX TZ string: a name and hours west of Greenwich. With a
// daylight-saving name it has the rules of the United States, as PostgreSQL's posixrules.
func posixZone(s string) *time.Location {
	name, rest := posixName(s)
	west, rest, ok := posixOffset(rest)
	if !ok {
		return nil
	}
	if rest == "" {
		return time.FixedZone(strings.ToUpper(name), -west)
	}
	if dst, _ := posixName(rest); dst == "" {
		return nil
	}
	return tzFileZone(name, -west, rest)
}

func posixName(s string) (name, rest string) {
	if strings.HasPrefix(s, "<") {
		end := strings.IndexByte(s, '>')
		if end < 2 {
			return "", s
		}
		return s[1:end], s[end+1:]
	}
	n := strings.IndexAny(s, "0123456789,-+")
	if n < 0 {
		n = len(s)
	}
	return s[:n], s[n:]
}

// posixOffset takes [+-]hh[:mm[:ss]] off the front.
func posixOffset(s string) (secs int, rest string, ok bool) {
	sign := 1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	unit := 3600
	for unit > 0 {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n > 3 {
			return 0, s, false
		}
		v, _ := strconv.Atoi(s[:n])
		if (unit == 3600 && v > 167) || (unit < 3600 && v > 59) {
			return 0, s, false
		}
		secs += v * unit
		s = s[n:]
		unit /= 60
		if unit == 0 || s == "" || s[0] != ':' {
			break
		}
		s = s[1:]
	}
	return sign * secs, s, true
}

// tzFileZone makes a location that follows a POSIX rule by handing the time package a version 2
// zone file with no transitions and the rule as its footer.
func tzFileZone(name string, offset int, dst string) *time.Location {
	// The time package insists on names of three letters; ours are in angle brackets with filling that abbrevOf takes away.
	dstName, tail := posixName(dst)
	upper := "<" + fillName(name) + ">" + posixOffsetText(-offset) + "<" + fillName(dstName) + ">" + tail
	if !strings.Contains(tail, ",") {
		upper += ",M3.2.0,M11.1.0"
	}
	block := func(b []byte) []byte {
		b = append(b, "TZif2"...)
		b = append(b, make([]byte, 15)...)
		for _, n := range []int{0, 0, 0, 0, 1, len(fillName(name)) + 1} {
			b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		}
		b = append(b, byte(offset>>24), byte(offset>>16), byte(offset>>8), byte(offset), 0, 0)
		b = append(b, fillName(name)...)
		return append(b, 0)
	}
	data := block(block(nil))
	data = append(data, '\n')
	data = append(data, upper...)
	data = append(data, '\n')
	loc, err := time.LoadLocationFromTZData(strings.ToUpper(name+posixOffsetText(-offset)+dst), data)
	if err != nil {
		return nil
	}
	return loc
}

// fillName makes an abbreviation long enough for the time package.
func fillName(name string) string {
	name = strings.ToUpper(name)
	for len(name) < 3 {
		name += "-"
	}
	return name
}

// posixOffsetText writes seconds west as a POSIX specification has them.
func posixOffsetText(west int) string {
	return string(appendZoneOffset(nil, west))
}

// FixedZone is the zone that PostgreSQL makes for SET TIME ZONE 3: named <+03>-03.
func FixedZone(secsEast int) *time.Location {
	var b []byte
	b = appendZoneOffset(b, secsEast)
	name := "<" + string(b) + ">"
	b = appendZoneOffset(b[:0], -secsEast)
	if secsEast == 0 {
		b = append(b[:0], "-00"...)
	}
	return time.FixedZone(name+string(b), secsEast)
}

// abbrevOf strips what FixedZone added so that the abbreviation is +03.
func abbrevOf(name string) string {
	if strings.HasPrefix(name, "<") {
		if end := strings.IndexByte(name, '>'); end > 0 {
			return name[1:end]
		}
	}
	return strings.TrimRight(name, "-")
}

// ParseZone reads a value of the setting TimeZone: a zone name, a POSIX specification, or hours east of Greenwich;
// it returns the zone and its name as SHOW prints it. The error is that of an invalid parameter value without the parameter's name.
func ParseZone(s string) (loc *time.Location, name string, ok bool) {
	if hours, err := strconv.ParseFloat(s, 64); err == nil && s != "" && !unicode.IsLetter(rune(s[0])) {
		secs := int(hours * 3600)
		if secs < -167*3600 || secs > 167*3600 {
			return nil, "", false
		}
		loc = FixedZone(secs)
		return loc, loc.String(), true
	}
	if s == "" {
		return nil, "", false
	}
	loc = LoadZone(s)
	if loc == nil {
		return nil, "", false
	}
	return loc, canonicalZoneName(s), true
}

// canonicalZoneName is how SHOW prints a zone: as the database spells it, a POSIX specification in upper case.
func canonicalZoneName(s string) string {
	key := strings.ToLower(s)
	i := sort.Search(len(zoneNames), func(i int) bool { return strings.ToLower(zoneNames[i]) >= key })
	if i < len(zoneNames) && strings.ToLower(zoneNames[i]) == key {
		return zoneNames[i]
	}
	return strings.ToUpper(s)
}

func findAbbrev(lower string) *zoneAbbrev {
	if len(lower) > tokenMax {
		lower = lower[:tokenMax]
	}
	i := sort.Search(len(zoneAbbrevs), func(i int) bool { return zoneAbbrevs[i].name >= lower })
	if i < len(zoneAbbrevs) && zoneAbbrevs[i].name == lower {
		return &zoneAbbrevs[i]
	}
	return nil
}

// abbrevInstant is the offset (seconds east) that an abbreviation had in loc at a Unix time, or the last time before
// or the first after that it was used there.
func abbrevInstant(abbrev string, loc *time.Location, unix int64) (offset int, dst, ok bool) {
	abbrev = strings.ToUpper(abbrev)
	t := time.Unix(unix, 0).In(loc)
	for at := t; ; {
		name, off := at.Zone()
		if name == abbrev {
			return off, at.IsDST(), true
		}
		start, _ := at.ZoneBounds()
		if start.IsZero() {
			break
		}
		at = start.Add(-time.Second)
	}
	for at, n := t, 0; n < 1000; n++ {
		_, end := at.ZoneBounds()
		if end.IsZero() {
			break
		}
		name, off := end.Zone()
		if name == abbrev {
			return off, end.IsDST(), true
		}
		at = end
	}
	return 0, false, false
}

// ZoneForAtTimeZone resolves a zone as the function timezone(zone, ...) does: an abbreviation first, then a zone name. An abbreviation whose
// meaning changed over time gives its zone and abbrev set.
func ZoneForAtTimeZone(name string) (loc *time.Location, abbrev string, err error) {
	if a := findAbbrev(strings.ToLower(name)); a != nil {
		if a.zone != "" {
			return LoadZone(a.zone), name, nil
		}
		return FixedZone(int(a.offset)), "", nil
	}
	if loc = LoadZone(name); loc == nil {
		return nil, "", pgerr.New(pgerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
	}
	return loc, "", nil
}

// ZoneNames calls f for every zone of the database until it returns false.
func ZoneNames(f func(name string) bool) {
	for _, n := range zoneNames {
		if !f(n) {
			return
		}
	}
}

// ZoneAbbrevs calls f for every abbreviation with its meaning now.
func ZoneAbbrevs(now time.Time, f func(abbrev string, offset int, dst bool) bool) {
	for i := range zoneAbbrevs {
		a := &zoneAbbrevs[i]
		off, dst := int(a.offset), a.dst
		if a.zone != "" {
			loc := LoadZone(a.zone)
			if loc == nil {
				continue
			}
			var ok bool
			if off, dst, ok = abbrevInstant(a.name, loc, now.Unix()); !ok {
				_, off = now.In(loc).Zone()
			}
		}
		if !f(strings.ToUpper(a.name), off, dst) {
			return
		}
	}
}
