package settings

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/minipg/minipg/pgerr"
)

// Value is a parameter's parsed value: booleans, integers and positions in Enums in I, reals as
// their bits in I, strings in S.
type Value struct {
	I int64
	S string
}

// Real is the value of a parameter of kind Real.
func (v Value) Real() float64 { return math.Float64frombits(uint64(v.I)) }

func realValue(f float64) Value { return Value{I: int64(math.Float64bits(f))} }

// unit is one step of a ladder of units: its name and how many base units it is.
type unit struct {
	name   string
	factor float64
}

const (
	kb = 1024.0
	mb = kb * 1024
	gb = mb * 1024
	tb = gb * 1024
)

func memoryUnits(base float64) []unit {
	return []unit{{"TB", tb / base}, {"GB", gb / base}, {"MB", mb / base}, {"kB", kb / base}, {"B", 1 / base}}
}

func timeUnits(us float64) []unit {
	return []unit{{"d", 86400e6 / us}, {"h", 3600e6 / us}, {"min", 60e6 / us}, {"s", 1e6 / us}, {"ms", 1e3 / us}, {"us", 1 / us}}
}

// units is the ladder of a base unit, nil for none.
func units(base string) []unit {
	switch base {
	case "B":
		return memoryUnits(1)
	case "kB":
		return memoryUnits(kb)
	case "8kB":
		return memoryUnits(8 * kb)
	case "MB":
		return memoryUnits(mb)
	case "ms":
		return timeUnits(1e3)
	case "s":
		return timeUnits(1e6)
	case "min":
		return timeUnits(60e6)
	}
	return nil
}

const (
	memoryHint = `Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".`
	timeHint   = `Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".`
)

// hint names the units of a parameter.
func (p *Param) hint() string {
	switch p.Unit {
	case "B", "kB", "8kB", "MB":
		return memoryHint
	}
	return timeHint
}

func errInvalid(name, text string) *pgerr.Error {
	return pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", name, text)
}

// Parse reads a value as SET does, checks its range, and gives strings their canonical form. name is
// the parameter's name as the user wrote it, for messages.
func (p *Param) Parse(name, text string) (Value, error) {
	return p.parse(name, text, p.Default(), p.Default())
}

// parse is Parse given what the value is now and would be after RESET, on which DateStyle depends.
func (p *Param) parse(name, text, current, reset string) (Value, error) {
	switch p.Kind {
	case Bool:
		b, ok := parseBool(text)
		if !ok {
			return Value{}, pgerr.New(pgerr.InvalidParameterValue, "parameter \"%s\" requires a Boolean value", name)
		}
		return boolValue(b), nil
	case Int:
		return p.parseInt(name, text)
	case Real:
		return p.parseReal(name, text)
	case Enum:
		return p.parseEnum(name, text)
	}
	if p.id == DateStyle {
		s, err := checkDateStyle(p, text, current, reset)
		return Value{S: s}, err
	}
	s, err := p.checkString(text)
	return Value{S: s}, err
}

func boolValue(b bool) Value {
	if b {
		return Value{I: 1}
	}
	return Value{}
}

// parseBool takes any prefix that is not ambiguous, as PostgreSQL does.
func parseBool(s string) (v, ok bool) {
	s = strings.ToLower(s)
	if s == "" {
		return false, false
	}
	switch {
	case strings.HasPrefix("true", s), strings.HasPrefix("yes", s), s == "on", s == "1":
		return true, true
	case strings.HasPrefix("false", s), strings.HasPrefix("no", s), s == "of", s == "off", s == "0":
		return false, true
	}
	return false, false
}

// numberPrefix reads a number at the front of s: decimal, hexadecimal or octal integers, or a float.
func numberPrefix(s string) (f float64, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	n := 0
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	digits := func(valid string) int {
		k := n
		for k < len(s) && strings.IndexByte(valid, s[k]) >= 0 {
			k++
		}
		return k
	}
	if strings.HasPrefix(strings.ToLower(s[n:]), "0x") {
		n += 2
		if end := digits("0123456789abcdefABCDEF"); end > n {
			v, err := strconv.ParseInt(strings.Replace(strings.ToLower(s[:end]), "0x", "", 1), 16, 64)
			return float64(v), s[end:], err == nil
		}
		n -= 2
	}
	start := n
	n = digits("0123456789")
	if n < len(s) && s[n] == '.' {
		n++
		n = digits("0123456789")
	} else if n > start+1 && s[start] == '0' && (n == len(s) || s[n] != 'e' && s[n] != 'E') {
		if v, err := strconv.ParseInt(s[:n], 8, 64); err == nil {
			return float64(v), s[n:], true
		}
	}
	if e := n; e < len(s) && (s[e] == 'e' || s[e] == 'E') && n > start {
		n++
		if n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		if end := digits("0123456789"); end > n {
			n = end
		} else {
			n = e
		}
	}
	f, err := strconv.ParseFloat(s[:n], 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, s, false
	}
	return f, s[n:], true
}

// inBaseUnit turns a number with an optional unit into base units; bad means the unit is unknown.
func (p *Param) inBaseUnit(f float64, rest string) (v float64, ok, badUnit bool) {
	rest = strings.Trim(rest, " \t\n\v\f\r")
	if rest == "" {
		return f, true, false
	}
	ladder := units(p.Unit)
	if ladder == nil {
		return 0, false, false
	}
	for i, u := range ladder {
		if u.name != rest {
			continue
		}
		v = f * u.factor
		// A fraction is rounded to the next smaller unit: 30.1GB is a whole number of MB.
		if i+1 < len(ladder) {
			v = math.RoundToEven(v/ladder[i+1].factor) * ladder[i+1].factor
		}
		return v, true, false
	}
	return 0, false, true
}

func (p *Param) parseNumber(name, text string) (float64, error) {
	f, rest, ok := numberPrefix(text)
	if !ok || math.IsNaN(f) {
		return 0, errInvalid(name, text)
	}
	f, ok, badUnit := p.inBaseUnit(f, rest)
	if badUnit {
		return 0, errInvalid(name, text).WithHint("%s", p.hint())
	}
	if !ok {
		return 0, errInvalid(name, text)
	}
	return f, nil
}

func (p *Param) parseInt(name, text string) (Value, error) {
	f, err := p.parseNumber(name, text)
	if err != nil {
		return Value{}, err
	}
	f = math.RoundToEven(f)
	if f > math.MaxInt32 || f < math.MinInt32 {
		return Value{}, errInvalid(name, text).WithHint("Value exceeds integer range.")
	}
	if f < p.Min || f > p.Max {
		return Value{}, pgerr.New(pgerr.InvalidParameterValue,
			"%d%s is outside the valid range for parameter \"%s\" (%d .. %d)", int64(f), p.unitSuffix(), name, int64(p.Min), int64(p.Max))
	}
	return Value{I: int64(f)}, nil
}

func (p *Param) parseReal(name, text string) (Value, error) {
	f, err := p.parseNumber(name, text)
	if err != nil {
		return Value{}, err
	}
	if f < p.Min || f > p.Max {
		return Value{}, pgerr.New(pgerr.InvalidParameterValue, "%s%s is outside the valid range for parameter \"%s\" (%s .. %s)",
			formatReal(f), p.unitSuffix(), name, formatReal(p.Min), formatReal(p.Max))
	}
	return realValue(f), nil
}

func (p *Param) unitSuffix() string {
	if p.Unit == "" {
		return ""
	}
	return " " + p.Unit
}

// switchAliases are the spellings of on and off that enums with these two also take.
var switchAliases = map[string]string{"true": "on", "yes": "on", "1": "on", "false": "off", "no": "off", "0": "off"}

// hiddenEnums are values that PostgreSQL takes but does not list. Their positions follow those of Enums.
func (p *Param) hiddenEnums() []string {
	if p.id == ClientMinMessages || p.id == TraceRecoveryMessages {
		return []string{"info"}
	}
	return nil
}

// enumAlias returns another spelling of an enum's value, "" if there is none.
func (p *Param) enumAlias(text string) string {
	switch lower := strings.ToLower(text); {
	case p.id == WalCompression && (lower == "on" || switchAliases[lower] == "on"):
		return "pglz"
	case lower == "debug" && slices.Contains(p.Enums, "debug2"):
		return "debug2"
	case slices.Contains(p.Enums, "on") && slices.Contains(p.Enums, "off"):
		return switchAliases[lower]
	}
	return ""
}

func (p *Param) parseEnum(name, text string) (Value, error) {
	want := text
	if a := p.enumAlias(text); a != "" {
		want = a
	}
	for i, e := range p.Enums {
		if strings.EqualFold(e, want) {
			return Value{I: int64(i)}, nil
		}
	}
	for i, e := range p.hiddenEnums() {
		if strings.EqualFold(e, want) {
			return Value{I: int64(len(p.Enums) + i)}, nil
		}
	}
	return Value{}, errInvalid(name, text).WithHint("Available values: %s.", strings.Join(p.Enums, ", "))
}

// formatReal is C's %g.
func formatReal(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// octal parameters are file modes.
func (p *Param) octal() bool {
	return p.id == UnixSocketPermissions || p.id == LogFileMode || p.id == DataDirectoryMode
}

// Setting is the value as pg_settings.setting has it: in the base unit, without it.
func (p *Param) Setting(v Value) string {
	switch p.Kind {
	case Bool:
		if v.I != 0 {
			return "on"
		}
		return "off"
	case Int:
		if p.octal() {
			s := strconv.FormatInt(v.I, 8)
			return strings.Repeat("0", max(0, 4-len(s))) + s
		}
		return strconv.FormatInt(v.I, 10)
	case Real:
		if p.id == Seed {
			return "unavailable"
		}
		return formatReal(v.Real())
	case Enum:
		if int(v.I) >= len(p.Enums) {
			return p.hiddenEnums()[int(v.I)-len(p.Enums)]
		}
		return p.Enums[v.I]
	}
	return v.S
}

// Show is the value as SHOW prints it: in the largest unit that leaves a whole number.
func (p *Param) Show(v Value) string {
	ladder := units(p.Unit)
	switch {
	case ladder == nil:
	case p.Kind == Int && v.I > 0:
		for _, u := range ladder {
			if u.factor <= 1 || v.I%int64(u.factor) == 0 {
				return strconv.FormatInt(int64(math.RoundToEven(float64(v.I)/u.factor)), 10) + u.name
			}
		}
	case p.Kind == Real && v.Real() > 0:
		var n float64
		var name string
		for _, u := range ladder {
			n, name = v.Real()/u.factor, u.name
			if math.Abs(math.RoundToEven(n)/n-1) <= 1e-8 {
				break
			}
		}
		return formatReal(n) + name
	}
	return p.Setting(v)
}
