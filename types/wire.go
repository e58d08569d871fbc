package types

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
)

func (p Phys) width() int { return int(PhysLen(p, 0)) }

// Send appends the binary form of d, which is not null, to dst.
func Send(typ OID, d Datum, dst []byte, env *Env) []byte {
	switch typ {
	case Int4, Oid, Xid, Cid, Date, Regclass, Regtype, Regproc, Regprocedure, Regoper, Regoperator, Regnamespace, Regrole,
		Regcollation, Regconfig, Regdictionary:
		return binary.BigEndian.AppendUint32(dst, uint32(d.W))
	case Int8, Float8, Timestamp, Timestamptz, Time, Xid8, PgLsn, Money:
		return binary.BigEndian.AppendUint64(dst, d.W)
	case Int2:
		return binary.BigEndian.AppendUint16(dst, uint16(d.W))
	case Bool, Char:
		return append(dst, byte(d.W))
	case Float4:
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(d.Float64())))
	case Numeric:
		return d.Num().appendWire(dst)
	case Interval:
		v := d.Interval()
		dst = binary.BigEndian.AppendUint64(dst, uint64(v.Micros))
		dst = binary.BigEndian.AppendUint32(dst, uint32(v.Days))
		return binary.BigEndian.AppendUint32(dst, uint32(v.Months))
	case Timetz:
		t, west := d.Timetz()
		dst = binary.BigEndian.AppendUint64(dst, uint64(t))
		return binary.BigEndian.AppendUint32(dst, uint32(west))
	case Jsonb:
		return append(append(dst, 1), d.B...)
	case Oidvector, Int2vector:
		return sendArray(d, dst, env)
	case Record:
		return sendRecord(d, dst, env)
	case Void:
		return dst
	}
	t := Lookup(typ, envTypes(env))
	switch {
	case t == nil:
	case t.IsArray(), typ == AnyArray:
		return sendArray(d, dst, env)
	case t.Kind == 'd':
		return Send(t.Base, d, dst, env)
	case t.Kind == 'e':
		return Out(typ, d, dst, env)
	case t.Kind == 'c':
		return sendRecord(d, dst, env)
	}
	return append(dst, d.B...)
}

// sendValue appends a length and the value, or -1 for null.
func sendValue(typ OID, d Datum, dst []byte, env *Env) []byte {
	if d.Null {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32)
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = Send(typ, d, dst, env)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

func sendArray(d Datum, dst []byte, env *Env) []byte {
	a := d.Array()
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(a.Dims)))
	flags := uint32(0)
	if a.HasNulls() {
		flags = 1
	}
	dst = binary.BigEndian.AppendUint32(dst, flags)
	dst = binary.BigEndian.AppendUint32(dst, uint32(a.Elem))
	for _, dim := range a.Dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(dim.Len))
		dst = binary.BigEndian.AppendUint32(dst, uint32(dim.Lower))
	}
	it := a.Iter()
	for e, ok := it.Next(); ok; e, ok = it.Next() {
		dst = sendValue(a.Elem, e, dst, env)
	}
	return dst
}

func sendRecord(d Datum, dst []byte, env *Env) []byte {
	r := d.Record()
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(r.Fields)))
	for i, v := range r.Values() {
		dst = binary.BigEndian.AppendUint32(dst, uint32(r.Fields[i].Attr.Type))
		dst = sendValue(r.Fields[i].Attr.Type, v, dst, env)
	}
	return dst
}

// errWrongLen is for a fixed-width value of another length, as PostgreSQL's pq_getmsg and ReceiveFunctionCall report it.
func errWrongLen(have, want int) error {
	if have < want {
		return errShort()
	}
	return errBinary("incorrect binary data format")
}

// Recv parses the binary form of a value. The datum may alias b.
func Recv(typ OID, typmod int32, b []byte, env *Env) (Datum, error) {
	switch typ {
	case Text, Varchar, Bpchar, Name, Json, Unknown, Cstring, Aclitem, PgNodeTree, Xml, Refcursor:
		if err := checkText(b); err != nil {
			return Datum{}, err
		}
		return In(typ, typmod, b, env)
	case Bytea:
		return Datum{B: b}, nil
	case Numeric:
		n, err := numFromWire(b)
		if err == nil {
			n, err = ApplyNumTypmod(n, typmod)
		}
		if err != nil {
			return Datum{}, err
		}
		return NumDatum(n), nil
	case Interval:
		return recvInterval(typmod, b)
	case Timetz:
		return recvTimetz(typmod, b)
	case Uuid:
		return recvFixed(b, 16)
	case Tid:
		return recvFixed(b, 6)
	case Jsonb:
		if len(b) == 0 {
			return Datum{}, errShort()
		}
		if b[0] != 1 {
			return Datum{}, pgerr.New(pgerr.InternalError, "unsupported jsonb version number %d", b[0])
		}
		if err := checkText(b[1:]); err != nil {
			return Datum{}, err
		}
		return parseJSONB(b[1:])
	case Bit, Varbit:
		return recvBits(typ, typmod, b)
	case Oidvector, Int2vector:
		return recvArray(typ, Builtin(typ).Elem, typmod, b, env)
	case Void:
		return Datum{}, nil
	}
	if t := Builtin(typ); t != nil && t.Phys.Class() == Word && t.Kind == 'b' {
		return recvWord(t, typmod, b)
	}
	return recvOther(typ, typmod, b, env)
}

func recvFixed(b []byte, n int) (Datum, error) {
	if len(b) != n {
		return Datum{}, errWrongLen(len(b), n)
	}
	return Datum{B: b}, nil
}

func checkText(b []byte) error {
	for i := 0; i < len(b); {
		c := b[i]
		if c != 0 && c < utf8.RuneSelf {
			i++
			continue
		}
		if r, n := utf8.DecodeRune(b[i:]); c != 0 && (r != utf8.RuneError || n > 1) {
			i += n
			continue
		}
		return errEncoding(b[i:])
	}
	return nil
}

// errEncoding names the bytes of the character that begins b, as many as its first byte claims.
func errEncoding(b []byte) error {
	n := 1
	switch c := b[0]; {
	case c >= 0xF0 && c < 0xF8:
		n = 4
	case c >= 0xE0 && c < 0xF0:
		n = 3
	case c >= 0xC0 && c < 0xE0:
		n = 2
	}
	n = min(n, len(b))
	hex := make([]byte, 0, 5*n)
	for i, c := range b[:n] {
		if i > 0 {
			hex = append(hex, ' ')
		}
		hex = append(hex, '0', 'x', hexLower[c>>4], hexLower[c&15])
	}
	return pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", hex)
}

// CheckUTF8 fails with PostgreSQL's error when b is not valid UTF-8 or has a zero byte.
func CheckUTF8(b []byte) error { return checkText(b) }

func recvWord(t *TypeInfo, typmod int32, b []byte) (Datum, error) {
	n := t.Phys.width()
	if len(b) != n {
		return Datum{}, errWrongLen(len(b), n)
	}
	var w uint64
	switch t.Phys {
	case PhysBool:
		w = uint64(b[0])
		if w != 0 {
			w = 1
		}
	case PhysChar:
		w = uint64(b[0])
	case PhysInt2:
		w = uint64(int64(int16(binary.BigEndian.Uint16(b))))
	case PhysInt4:
		w = uint64(int64(int32(binary.BigEndian.Uint32(b))))
	case PhysUint4:
		w = uint64(binary.BigEndian.Uint32(b))
	case PhysFloat4:
		w = math.Float64bits(float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
	default:
		w = binary.BigEndian.Uint64(b)
	}
	d := Datum{W: w}
	switch t.OID {
	case Date:
		if v := d.Int64(); FiniteDate(v) && !ValidDate(v) {
			return d, pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range")
		}
	case Timestamp, Timestamptz:
		v := d.Int64()
		if FiniteTimestamp(v) && !ValidTimestamp(v) {
			return d, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range")
		}
		v, err := roundTimestamp(v, typmod)
		return Int64Datum(v), err
	case Time:
		v := d.Int64()
		if v < 0 || v > UsecsPerDay {
			return d, pgerr.New(pgerr.DatetimeFieldOverflow, "time out of range")
		}
		return Int64Datum(roundMicros(v, int(typmod))), nil
	}
	return d, nil
}

func recvInterval(typmod int32, b []byte) (Datum, error) {
	if len(b) != 16 {
		return Datum{}, errWrongLen(len(b), 16)
	}
	v, err := intervalTypmod(IntervalValue{
		Micros: int64(binary.BigEndian.Uint64(b)),
		Days:   int32(binary.BigEndian.Uint32(b[8:])),
		Months: int32(binary.BigEndian.Uint32(b[12:])),
	}, typmod)
	return IntervalDatum(v), err
}

func recvTimetz(typmod int32, b []byte) (Datum, error) {
	if len(b) != 12 {
		return Datum{}, errWrongLen(len(b), 12)
	}
	t := int64(binary.BigEndian.Uint64(b))
	west := int32(binary.BigEndian.Uint32(b[8:]))
	if t < 0 || t > UsecsPerDay {
		return Datum{}, pgerr.New(pgerr.DatetimeFieldOverflow, "time out of range")
	}
	if west <= -(maxTZHour+1)*3600 || west >= (maxTZHour+1)*3600 {
		return Datum{}, pgerr.New(pgerr.InvalidTimeZoneDisplacementValue, "time zone displacement out of range")
	}
	return TimetzDatum(roundMicros(t, int(typmod)), west), nil
}

func recvBits(typ OID, typmod int32, b []byte) (Datum, error) {
	if len(b) < 4 {
		return Datum{}, errShort()
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	if n < 0 || n > math.MaxInt32-7 {
		return Datum{}, errBinary("invalid length in external bit string")
	}
	if len(b)-4 != (n+7)/8 {
		return Datum{}, errWrongLen(len(b)-4, (n+7)/8)
	}
	if err := checkBitLen(typ, typmod, n, false); err != nil {
		return Datum{}, err
	}
	d := BitDatum(n, b[4:])
	if n%8 != 0 {
		d.B[len(d.B)-1] &= 0xFF << (8 - n%8)
	}
	return d, nil
}

func recvOther(typ OID, typmod int32, b []byte, env *Env) (Datum, error) {
	t := Lookup(typ, envTypes(env))
	switch {
	case t == nil:
		return Datum{}, pgerr.New(pgerr.UndefinedObject, "type with OID %d does not exist", typ)
	case t.IsArray():
		return recvArray(typ, t.Elem, typmod, b, env)
	case t.Kind == 'd':
		if typmod < 0 {
			typmod = t.BaseTypmod
		}
		return Recv(t.Base, typmod, b, env)
	case t.Kind == 'e':
		return In(typ, typmod, b, env)
	case t.Kind == 'c':
		return recvRecord(t, b, env)
	case t.Kind == 'p':
		return Datum{}, pgerr.New(pgerr.FeatureNotSupported, "cannot accept a value of type %s", t.Name)
	}
	return Datum{}, errUnsupportedType(t)
}

// wireReader takes integers and values off a message.
type wireReader struct {
	b   []byte
	err error
}

func (r *wireReader) int32() int32 {
	if len(r.b) < 4 {
		if r.err == nil {
			r.err = errShort()
		}
		r.b = nil
		return 0
	}
	v := int32(binary.BigEndian.Uint32(r.b))
	r.b = r.b[4:]
	return v
}

// value reads a length and a value.
func (r *wireReader) value(typ OID, typmod int32, env *Env) (Datum, error) {
	n := r.int32()
	if r.err != nil {
		return Datum{}, r.err
	}
	if n == -1 {
		return NullDatum, nil
	}
	if n < 0 || int(n) > len(r.b) {
		return Datum{}, errBinary("insufficient data left in message")
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return Recv(typ, typmod, v, env)
}

func recvArray(typ, elem OID, typmod int32, b []byte, env *Env) (Datum, error) {
	r := wireReader{b: b}
	nd, flags, sent := r.int32(), r.int32(), OID(r.int32())
	if r.err != nil {
		return Datum{}, r.err
	}
	if nd < 0 {
		return Datum{}, errBinary("invalid number of dimensions: %d", nd)
	}
	if nd > MaxArrayDims {
		return Datum{}, errArrayDims(int(nd))
	}
	if flags != 0 && flags != 1 {
		return Datum{}, errBinary("invalid array flags")
	}
	if sent != elem {
		return Datum{}, pgerr.New(pgerr.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			sent, formatOrNumber(sent), elem, formatOrNumber(elem))
	}
	dims := make([]ArrayDim, nd)
	n := 1
	for i := range dims {
		dims[i] = ArrayDim{r.int32(), r.int32()}
	}
	if r.err != nil {
		return Datum{}, r.err
	}
	if err := CheckArrayDims(dims); err != nil {
		return Datum{}, err
	}
	for _, d := range dims {
		n *= int(d.Len)
	}
	if nd == 0 {
		n = 0
	}
	if n > len(r.b)/4 {
		return Datum{}, errShort()
	}
	elems := make([]Datum, n)
	for i := range elems {
		var err error
		if elems[i], err = r.value(elem, typmod, env); err != nil {
			return Datum{}, err
		}
	}
	if len(r.b) > 0 {
		return Datum{}, errBinary("incorrect binary data format")
	}
	if typ == Oidvector || typ == Int2vector {
		return vectorDatum(elem, elems), nil
	}
	return MakeArrayDims(elem, elems, dims, envTypes(env)), nil
}

func formatOrNumber(typ OID) string {
	if name, ok := FormatType(typ, -1); ok {
		return name
	}
	return "???"
}

func recvRecord(t *TypeInfo, b []byte, env *Env) (Datum, error) {
	r := wireReader{b: b}
	n := int(r.int32())
	if r.err != nil {
		return Datum{}, r.err
	}
	live := 0
	for i := range t.Fields {
		if !t.Fields[i].Dropped {
			live++
		}
	}
	if n != live {
		return Datum{}, pgerr.New(pgerr.DatatypeMismatch, "wrong number of columns: %d, expected %d", n, live)
	}
	fields := make([]RecordField, 0, n)
	values := make([]Datum, 0, n)
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Dropped {
			continue
		}
		sent := OID(r.int32())
		if r.err != nil {
			return Datum{}, r.err
		}
		if sent != f.Type {
			return Datum{}, pgerr.New(pgerr.DatatypeMismatch, "binary data has type %d (%s) instead of expected %d (%s) in record column %d",
				sent, formatOrNumber(sent), f.Type, formatOrNumber(f.Type), len(values)+1)
		}
		v, err := r.value(f.Type, f.Typmod, env)
		if err != nil {
			return Datum{}, err
		}
		fields = append(fields, RecordField{f.Name, AttrOf(f.Type, f.Typmod, envTypes(env))})
		values = append(values, v)
	}
	return RecordDatum(t.OID, fields, values), nil
}
