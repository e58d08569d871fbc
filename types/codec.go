package types

import (
	"math"
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

// errXML is what a PostgreSQL built without libxml says.
func errXML() error {
	return pgerr.New(pgerr.FeatureNotSupported, "unsupported XML feature").
		WithDetail("This functionality requires the server to be built with libxml support.")
}

// In parses the text form of a value as the type's input function does, with the type modifier applied
// as by an assignment from a literal. The datum may alias s. env may be nil.
func In(typ OID, typmod int32, s []byte, env *Env) (Datum, error) {
	switch typ {
	case Int4:
		v, err := parseInt(s, 32, "integer")
		return Datum{W: uint64(v)}, err
	case Int8:
		v, err := parseInt(s, 64, "bigint")
		return Datum{W: uint64(v)}, err
	case Int2:
		v, err := parseInt(s, 16, "smallint")
		return Datum{W: uint64(v)}, err
	case Text, Unknown, Cstring, PgNodeTree, Refcursor:
		return Datum{B: s}, nil
	case Xml:
		return Datum{}, errXML()
	case Aclitem:
		return aclitemIn(s, env)
	case Varchar:
		if typmod >= 4 {
			b, err := varcharLimit(s, int(typmod-4), false)
			return Datum{B: b}, err
		}
		return Datum{B: s}, nil
	case Bpchar:
		if typmod >= 4 {
			b, err := bpcharLimit(s, int(typmod-4), false)
			return Datum{B: b}, err
		}
		return Datum{B: s}, nil
	case Name:
		return Datum{B: TruncateName(s)}, nil
	case Bool:
		v, err := parseBool(s)
		return BoolDatum(v), err
	case Float8:
		v, err := parseFloat(s, 64)
		return Float64Datum(v), err
	case Float4:
		v, err := parseFloat(s, 32)
		return Float64Datum(v), err
	case Numeric:
		n, err := ParseNum(s)
		if err == nil {
			n, err = ApplyNumTypmod(n, typmod)
		}
		if err != nil {
			return Datum{}, err
		}
		return NumDatum(n), nil
	case Timestamp, Timestamptz:
		v, err := parseTimestamp(s, typmod, env, typ == Timestamptz)
		return Int64Datum(v), err
	case Date:
		v, err := parseDate(s, env)
		return Int64Datum(v), err
	case Time:
		v, err := parseTime(s, typmod, env)
		return Int64Datum(v), err
	case Timetz:
		return parseTimetz(s, typmod, env)
	case Interval:
		v, err := parseInterval(s, typmod, env)
		if err != nil {
			return Datum{}, err
		}
		return IntervalDatum(v), nil
	case Uuid:
		return parseUUID(s)
	case Bytea:
		return parseBytea(s)
	case Char:
		return Datum{W: uint64(parseChar(s))}, nil
	case Oid:
		v, err := parseOid(s)
		return OIDDatum(OID(v)), err
	case Xid, Cid:
		v, _, over := strtoul(s, 0)
		if over {
			v = math.MaxUint32
		}
		return Datum{W: v & math.MaxUint32}, nil
	case Xid8:
		v, _, over := strtoul(s, 0)
		if over {
			v = math.MaxUint64
		}
		return Datum{W: v}, nil
	case Tid:
		return parseTid(s)
	case PgLsn:
		v, err := parseLSN(s)
		return Datum{W: v}, err
	case Json:
		return parseJSON(s)
	case Jsonb:
		return parseJSONB(s)
	case Bit, Varbit:
		return parseBits(typ, typmod, s)
	case Oidvector, Int2vector:
		return parseVector(typ, s)
	case Regclass, Regtype, Regproc, Regprocedure, Regoper, Regoperator, Regnamespace, Regrole, Regcollation, Regconfig, Regdictionary:
		return parseReg(typ, s, env)
	case Money:
		return parseMoney(s)
	case Void:
		return Datum{}, nil
	}
	return inOther(typ, typmod, s, env)
}

// inOther handles arrays, user-defined types and types without input.
func inOther(typ OID, typmod int32, s []byte, env *Env) (Datum, error) {
	t := Lookup(typ, envTypes(env))
	switch {
	case t == nil:
		return Datum{}, pgerr.New(pgerr.UndefinedObject, "type with OID %d does not exist", typ)
	case t.IsArray():
		return parseArray(t.Elem, typmod, s, env)
	case t.Kind == 'd':
		if typmod < 0 {
			typmod = t.BaseTypmod
		}
		return In(t.Base, typmod, s, env)
	case t.Kind == 'e':
		for i := range t.Labels {
			if t.Labels[i].Label == unsafeString(s) {
				return OIDDatum(t.Labels[i].OID), nil
			}
		}
		return Datum{}, pgerr.New(pgerr.InvalidTextRepresentation, "invalid input value for enum %s: \"%s\"", t.Name, s)
	case t.Kind == 'c':
		return parseRecord(t, s, env)
	case t.OID == Record:
		return Datum{}, pgerr.New(pgerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
	case t.Kind == 'p':
		return Datum{}, pgerr.New(pgerr.FeatureNotSupported, "cannot accept a value of type %s", t.Name)
	}
	return Datum{}, errUnsupportedType(t)
}

func errUnsupportedType(t *TypeInfo) error {
	return pgerr.New(pgerr.FeatureNotSupported, "type %s is not supported yet", t.Name)
}

// Out appends the text form of d, which is not null, to dst.
func Out(typ OID, d Datum, dst []byte, env *Env) []byte {
	switch typ {
	case Int4, Int8, Int2:
		return strconv.AppendInt(dst, int64(d.W), 10)
	case Text, Varchar, Bpchar, Name, Unknown, Cstring, Json, Jsonb, PgNodeTree, Xml, Refcursor:
		return append(dst, d.B...)
	case Aclitem:
		return aclitemOut(d, dst, env)
	case Bool:
		if d.W != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Float8:
		return appendFloat(dst, d.Float64(), 64, env.floatDigits())
	case Float4:
		return appendFloat(dst, d.Float64(), 32, env.floatDigits())
	case Numeric:
		return d.Num().Append(dst)
	case Timestamp:
		return outTimestamp(d.Int64(), nil, dst, env)
	case Timestamptz:
		return outTimestamp(d.Int64(), env.location(), dst, env)
	case Date:
		return outDate(d.Int64(), dst, env)
	case Time:
		return outTime(d.Int64(), dst)
	case Timetz:
		return outTimetz(d, dst)
	case Interval:
		return outInterval(d.Interval(), dst, env)
	case Uuid:
		return outUUID(d.B, dst)
	case Bytea:
		return outBytea(d.B, dst, env != nil && env.ByteaEscape)
	case Char:
		return outChar(byte(d.W), dst)
	case Oid, Xid, Cid, Xid8:
		return strconv.AppendUint(dst, d.W, 10)
	case Tid:
		return outTid(d, dst)
	case PgLsn:
		return outLSN(d.W, dst)
	case Bit, Varbit:
		return outBits(d, dst)
	case Oidvector, Int2vector:
		return outVector(d, dst, env)
	case Regclass, Regtype, Regproc, Regprocedure, Regoper, Regoperator, Regnamespace, Regrole, Regcollation, Regconfig, Regdictionary:
		return outReg(typ, d, dst, env)
	case Money:
		return outMoney(d.Int64(), dst)
	case Record:
		return outRecord(d, dst, env)
	case Void:
		return dst
	}
	return outOther(typ, d, dst, env)
}

func (e *Env) floatDigits() int {
	if e == nil {
		return 1
	}
	return e.ExtraFloatDigits
}

func outOther(typ OID, d Datum, dst []byte, env *Env) []byte {
	t := Lookup(typ, envTypes(env))
	switch {
	case t == nil:
	case t.IsArray(), typ == AnyArray:
		return outArray(d, dst, env)
	case t.Kind == 'd':
		return Out(t.Base, d, dst, env)
	case t.Kind == 'e':
		for i := range t.Labels {
			if t.Labels[i].OID == d.OID() {
				return append(dst, t.Labels[i].Label...)
			}
		}
	case t.Kind == 'c':
		return outRecord(d, dst, env)
	}
	return append(dst, d.B...)
}
