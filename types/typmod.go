package types

import (
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

// ApplyTypmod coerces d, which is not null, to the modifier, as the type's length coercion function (varchar(n), char(n),
// numeric(p,s), timestamp(p), ...) does. With explicit set, over-long strings are cut without an error.
func ApplyTypmod(typ OID, typmod int32, d Datum, explicit bool) (Datum, error) {
	if typmod < 0 {
		return d, nil
	}
	switch typ {
	case Varchar:
		if typmod < 4 {
			return d, nil
		}
		b, err := varcharLimit(d.B, int(typmod-4), explicit)
		return Datum{B: b}, err
	case Bpchar:
		if typmod < 4 {
			return d, nil
		}
		b, err := bpcharLimit(d.B, int(typmod-4), explicit)
		return Datum{B: b}, err
	case Numeric:
		n := d.Num()
		r, err := ApplyNumTypmod(n, typmod)
		if err != nil || r == n {
			return d, err
		}
		return NumDatum(r), nil
	case Timestamp, Timestamptz:
		v, err := roundTimestamp(d.Int64(), typmod)
		return Int64Datum(v), err
	case Time:
		return Int64Datum(roundMicros(d.Int64(), int(typmod))), nil
	case Timetz:
		t, west := d.Timetz()
		return TimetzDatum(roundMicros(t, int(typmod)), west), nil
	case Interval:
		v, err := intervalTypmod(d.Interval(), typmod)
		return IntervalDatum(v), err
	case Bit, Varbit:
		return bitsToLen(typ, typmod, d, explicit)
	}
	if elem := ElemOf(typ); elem != 0 {
		return applyElemTypmod(elem, typmod, d, explicit)
	}
	return d, nil
}

func applyElemTypmod(elem OID, typmod int32, d Datum, explicit bool) (Datum, error) {
	a := d.Array()
	elems := a.Elems(nil)
	for i, e := range elems {
		if e.Null {
			continue
		}
		var err error
		if elems[i], err = ApplyTypmod(elem, typmod, e, explicit); err != nil {
			return Datum{}, err
		}
	}
	return MakeArrayDims(elem, elems, a.Dims, nil), nil
}

// HasTypmod reports whether values of a built-in type, or of an array of it, can have a modifier.
func HasTypmod(typ OID) bool {
	if e := ElemOf(typ); e != 0 && typ != Int2vector && typ != Oidvector {
		typ = e
	}
	switch typ {
	case Varchar, Bpchar, Numeric, Timestamp, Timestamptz, Time, Timetz, Interval, Bit, Varbit:
		return true
	}
	return false
}

func errTypmod(format string, args ...any) error {
	return pgerr.New(pgerr.InvalidParameterValue, format, args...)
}

// TypmodIn makes a modifier from the constants in parentheses after a type name: varchar(10), numeric(10,2). For interval
// they are the field mask and the precision, as the parser gives them.
func TypmodIn(typ OID, args []string) (int32, error) {
	v := make([]int32, len(args))
	for i, a := range args {
		n, err := parseInt([]byte(a), 32, "integer")
		if err != nil {
			return -1, err
		}
		v[i] = int32(n)
	}
	if e := ElemOf(typ); e != 0 {
		typ = e
	}
	switch typ {
	case Varchar:
		return lengthTypmod(v, "varchar")
	case Bpchar:
		return lengthTypmod(v, "char")
	case Bit, Varbit:
		return bitTypmod(typ, v)
	case Numeric:
		return numericTypmod(v)
	case Timestamp, Timestamptz:
		return precisionTypmod(v, "TIMESTAMP", typ == Timestamptz)
	case Time, Timetz:
		return precisionTypmod(v, "TIME", typ == Timetz)
	case Interval:
		return intervalTypmodIn(v)
	}
	name, _ := FormatType(typ, -1)
	return -1, pgerr.New(pgerr.SyntaxError, "type modifier is not allowed for type \"%s\"", name)
}

func lengthTypmod(v []int32, name string) (int32, error) {
	switch {
	case len(v) != 1:
		return -1, errTypmod("invalid type modifier")
	case v[0] < 1:
		return -1, errTypmod("length for type %s must be at least 1", name)
	case v[0] > maxCharLen:
		return -1, errTypmod("length for type %s cannot exceed %d", name, maxCharLen)
	}
	return v[0] + 4, nil
}

func bitTypmod(typ OID, v []int32) (int32, error) {
	name := "bit"
	if typ == Varbit {
		name = "varbit"
	}
	const maxBits = 10485760 * 8
	switch {
	case len(v) != 1:
		return -1, errTypmod("invalid type modifier")
	case v[0] < 1:
		return -1, errTypmod("length for type %s must be at least 1", name)
	case v[0] > maxBits:
		return -1, errTypmod("length for type %s cannot exceed %d", name, maxBits)
	}
	return v[0], nil
}

func numericTypmod(v []int32) (int32, error) {
	scale := int32(0)
	switch len(v) {
	case 2:
		if v[0] < 1 || v[0] > numMaxPrecision {
			return -1, errTypmod("NUMERIC precision %d must be between 1 and %d", v[0], numMaxPrecision)
		}
		if v[1] < -numMaxPrecision || v[1] > numMaxPrecision {
			return -1, errTypmod("NUMERIC scale %d must be between %d and %d", v[1], -numMaxPrecision, numMaxPrecision)
		}
		scale = v[1]
	case 1:
		if v[0] < 1 || v[0] > numMaxPrecision {
			return -1, errTypmod("NUMERIC precision %d must be between 1 and %d", v[0], numMaxPrecision)
		}
	default:
		return -1, errTypmod("invalid NUMERIC type modifier")
	}
	return v[0]<<16 | scale&0x7FF + 4, nil
}

func precisionTypmod(v []int32, name string, zone bool) (int32, error) {
	if len(v) != 1 {
		return -1, errTypmod("invalid type modifier")
	}
	tz := ""
	if zone {
		tz = " WITH TIME ZONE"
	}
	if v[0] < 0 {
		return -1, errTypmod("%s(%d)%s precision must not be negative", name, v[0], tz)
	}
	return min(v[0], 6), nil
}

func intervalTypmodIn(v []int32) (int32, error) {
	if len(v) == 0 || len(v) > 2 {
		return -1, errTypmod("invalid INTERVAL type modifier")
	}
	if _, ok := intervalFields(v[0]); !ok {
		return -1, errTypmod("invalid INTERVAL type modifier")
	}
	if len(v) == 1 {
		if v[0] == IntervalFullRange {
			return -1, nil
		}
		return IntervalTypmod(v[0], IntervalFullPrecision), nil
	}
	if v[1] < 0 {
		return -1, errTypmod("INTERVAL(%d) precision must not be negative", v[1])
	}
	return IntervalTypmod(v[0], min(v[1], 6)), nil
}

func intervalFields(fields int32) (string, bool) {
	switch fields {
	case IntervalYear:
		return " year", true
	case IntervalMonth:
		return " month", true
	case IntervalDay:
		return " day", true
	case IntervalHour:
		return " hour", true
	case IntervalMinute:
		return " minute", true
	case IntervalSecond:
		return " second", true
	case IntervalYear | IntervalMonth:
		return " year to month", true
	case IntervalDay | IntervalHour:
		return " day to hour", true
	case IntervalDay | IntervalHour | IntervalMinute:
		return " day to minute", true
	case IntervalDay | IntervalHour | IntervalMinute | IntervalSecond:
		return " day to second", true
	case IntervalHour | IntervalMinute:
		return " hour to minute", true
	case IntervalHour | IntervalMinute | IntervalSecond:
		return " hour to second", true
	case IntervalMinute | IntervalSecond:
		return " minute to second", true
	case IntervalFullRange:
		return "", true
	}
	return "", false
}

// TypmodOut is the suffix of format_type for a modifier, as the type's typmodout function prints it: "(10,2)", or "".
func TypmodOut(typ OID, typmod int32) string {
	if typmod < 0 {
		return ""
	}
	switch typ {
	case Varchar, Bpchar:
		if typmod > 4 {
			return "(" + strconv.Itoa(int(typmod-4)) + ")"
		}
		return ""
	case Bit, Varbit:
		return "(" + strconv.Itoa(int(typmod)) + ")"
	case Numeric:
		if typmod < 4 {
			return ""
		}
		p, s := numTypmod(typmod)
		return "(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + ")"
	case Timestamp, Time:
		return "(" + strconv.Itoa(int(typmod)) + ") without time zone"
	case Timestamptz, Timetz:
		return "(" + strconv.Itoa(int(typmod)) + ") with time zone"
	case Interval:
		s, _ := intervalFields(intervalRange(typmod))
		if p := typmod & 0xFFFF; p != IntervalFullPrecision {
			s += "(" + strconv.Itoa(int(p)) + ")"
		}
		return s
	}
	return ""
}

// FormatType is pg_catalog.format_type for built-in types and arrays of them: "character varying(10)[]". For others it gives
// ok false, and the catalog must qualify and quote the name itself. A typmod of -1 is none.
func FormatType(typ OID, typmod int32) (name string, ok bool) {
	t := Builtin(typ)
	if t == nil {
		return "", false
	}
	suffix := ""
	if t.IsArray() {
		suffix = "[]"
		if t = Builtin(t.Elem); t == nil {
			return "", false
		}
	}
	return formatBase(t, typmod) + suffix, true
}

func formatBase(t *TypeInfo, typmod int32) string {
	withMod := typmod >= 0
	mod := TypmodOut(t.OID, typmod)
	switch t.OID {
	case Bool:
		return "boolean"
	case Int2:
		return "smallint"
	case Int4:
		return "integer"
	case Int8:
		return "bigint"
	case Float4:
		return "real"
	case Float8:
		return "double precision"
	case Bpchar:
		if withMod {
			return "character" + mod
		}
		// Without a length it is not character, which would mean character(1).
		return "bpchar"
	case Varchar:
		return "character varying" + mod
	case Bit:
		if withMod {
			return "bit" + mod
		}
		return "\"bit\""
	case Varbit:
		return "bit varying" + mod
	case Time:
		return formatTime("time", mod, " without time zone")
	case Timetz:
		return formatTime("time", mod, " with time zone")
	case Timestamp:
		return formatTime("timestamp", mod, " without time zone")
	case Timestamptz:
		return formatTime("timestamp", mod, " with time zone")
	case Char:
		if withMod {
			mod = "(" + strconv.Itoa(int(typmod)) + ")"
		}
		return "\"char\"" + mod
	case Any:
		return "\"any\""
	}
	if withMod && mod == "" && !HasTypmod(t.OID) {
		mod = "(" + strconv.Itoa(int(typmod)) + ")"
	}
	return t.Name + mod
}

func formatTime(base, mod, zone string) string {
	if mod != "" {
		return base + mod
	}
	return base + zone
}
