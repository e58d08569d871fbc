package fn

import (
	"strings"

	"github.com/minipg/minipg/types"
)

// registerInformationSchema enters the functions that the views of information_schema ask about types and keys.
// PostgreSQL has them in SQL.
func registerInformationSchema(r *registry) {
	r.fn("_pg_truetypid_pg_attribute_pg_type", trueType("atttypid", "typbasetype"))
	r.fn("_pg_truetypmod_pg_attribute_pg_type", trueType("atttypmod", "typtypmod"))
	for name, f := range map[string]func(typ types.OID, typmod int32) (int32, bool){
		"char_max_length": charMaxLength, "char_octet_length": charOctetLength,
		"numeric_precision": numericPrecision, "numeric_precision_radix": numericRadix, "numeric_scale": numericScale,
		"datetime_precision": datetimePrecision,
	} {
		r.fn("_pg_"+name+"_oid_int4", func(_ *Context, a []types.Datum) (types.Datum, error) {
			n, ok := f(a[0].OID(), int32(a[1].W))
			if !ok {
				return types.NullDatum, nil
			}
			return types.Int64Datum(int64(n)), nil
		})
	}
	r.fn("_pg_interval_type_oid_int4", func(_ *Context, a []types.Datum) (types.Datum, error) {
		fields, ok := intervalFields(a[0].OID(), int32(a[1].W))
		return textOrNull(fields, ok, nil)
	})
	r.fn("_pg_index_position_oid_int2", func(c *Context, a []types.Datum) (types.Datum, error) {
		if err := c.needCatalog(); err != nil {
			return types.Datum{}, err
		}
		n, ok, err := c.Catalog.IndexPosition(a[0].OID(), int16(a[1].W))
		if err != nil || !ok {
			return types.NullDatum, err
		}
		return types.Int64Datum(int64(n)), nil
	})
	r.set("_pg_expandarray_anyarray", func(c *Context, a []types.Datum) (Set, error) {
		arr := a[0].Array()
		set := &rowSet{}
		if len(arr.Dims) != 1 {
			return set, nil // array_lower and array_upper of the first dimension alone make no elements of others
		}
		for i, e := range arr.Elems(nil) {
			set.rows = append(set.rows, []types.Datum{e, types.Int64Datum(int64(i + 1))})
		}
		return set, nil
	})
}

// trueType gives a field of a row of pg_attribute, or of pg_type if that is a domain.
func trueType(attribute, domain string) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		if kind := recordField(a[1], "typtype"); !kind.Null && byte(kind.W) == 'd' {
			return recordField(a[1], domain), nil
		}
		return recordField(a[0], attribute), nil
	}
}

func recordField(d types.Datum, name string) types.Datum {
	r := d.Record()
	for i, v := range r.Values() {
		if r.Fields[i].Name == name {
			return v
		}
	}
	return types.NullDatum
}

// typmodHeader is what the modifier of a character or numeric type counts beside the length.
const typmodHeader = 4

func charMaxLength(typ types.OID, typmod int32) (int32, bool) {
	switch typ {
	case types.Bpchar, types.Varchar:
		return typmod - typmodHeader, typmod != -1
	case types.Bit, types.Varbit:
		return typmod, typmod != -1
	}
	return 0, false
}

// charOctetLength counts four bytes a character, the most that UTF-8 takes.
func charOctetLength(typ types.OID, typmod int32) (int32, bool) {
	switch typ {
	case types.Text, types.Bpchar, types.Varchar:
	default:
		return 0, false
	}
	if typmod == -1 {
		return 1 << 30, true
	}
	n, ok := charMaxLength(typ, typmod)
	return 4 * n, ok
}

func numericPrecision(typ types.OID, typmod int32) (int32, bool) {
	switch typ {
	case types.Int2:
		return 16, true
	case types.Int4:
		return 32, true
	case types.Int8:
		return 64, true
	case types.Numeric:
		return (typmod - typmodHeader) >> 16 & 0xFFFF, typmod != -1
	case types.Float4:
		return 24, true
	case types.Float8:
		return 53, true
	}
	return 0, false
}

func numericRadix(typ types.OID, _ int32) (int32, bool) {
	switch typ {
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8:
		return 2, true
	case types.Numeric:
		return 10, true
	}
	return 0, false
}

func numericScale(typ types.OID, typmod int32) (int32, bool) {
	switch typ {
	case types.Int2, types.Int4, types.Int8:
		return 0, true
	case types.Numeric:
		return (typmod - typmodHeader) & 0xFFFF, typmod != -1
	}
	return 0, false
}

func datetimePrecision(typ types.OID, typmod int32) (int32, bool) {
	const full = 6
	switch typ {
	case types.Date:
		return 0, true
	case types.Time, types.Timetz, types.Timestamp, types.Timestamptz:
		if typmod < 0 {
			return full, true
		}
		return typmod, true
	case types.Interval:
		const unset = 0xFFFF
		if typmod < 0 || typmod&unset == unset {
			return full, true
		}
		return typmod & unset, true
	}
	return 0, false
}

// intervalFields are the fields an interval is restricted to, in capitals: YEAR TO MONTH.
func intervalFields(typ types.OID, typmod int32) (string, bool) {
	if typ != types.Interval {
		return "", false
	}
	name, _ := types.FormatType(typ, typmod)
	rest, ok := strings.CutPrefix(name, "interval")
	rest = strings.TrimLeft(rest, "()0123456789")
	fields, spaced := strings.CutPrefix(rest, " ")
	return strings.ToUpper(fields), ok && spaced
}
