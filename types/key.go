package types

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/minipg/minipg/pgerr"
)

// KeyOptions is how one key column sorts.
type KeyOptions struct {
	Desc       bool
	NullsFirst bool
	Collation  OID   // 0 is the default
	Types      Types // may be nil
}

// First byte of a column's key. It is not inverted by DESC, since NULLS FIRST or LAST decides alone.
const (
	keyNullFirst = 0x00
	keyNotNull   = 0x01
	keyNullLast  = 0x02
)

// Marks within keys of variable length.
const (
	keyEnd      = 0x00 // ends a list, sorts before all that continue it
	keyElem     = 0x01 // an element follows
	keyElemNull = 0x02 // a null element, after all others

	escByte  = 0x00 // in strings 0x00 becomes 0x00 0xFF
	escZero  = 0xFF
	escClose = 0x01 // and 0x00 0x01 ends
)

// EncodeKey appends the order-preserving form of d, which may be null. See invariant 4. No encoding
// of a column is a proper prefix of another's.
func EncodeKey(dst []byte, typ OID, d Datum, opt KeyOptions) []byte {
	if d.Null {
		if opt.NullsFirst {
			return append(dst, keyNullFirst)
		}
		return append(dst, keyNullLast)
	}
	dst = append(dst, keyNotNull)
	at := len(dst)
	dst = appendKey(dst, typ, d, opt.Types)
	if opt.Desc {
		invert(dst[at:])
	}
	return dst
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// keyWidth is how many bytes a word type's key takes: its own width.
func keyWidth(t *TypeInfo) int { return int(PhysLen(t.Phys, 0)) }

func appendKey(dst []byte, typ OID, d Datum, ts Types) []byte {
	switch typ {
	case Int4, Date:
		return binary.BigEndian.AppendUint32(dst, uint32(d.W)^1<<31)
	case Int8, Timestamp, Timestamptz, Time, Money:
		return binary.BigEndian.AppendUint64(dst, d.W^1<<63)
	case Text, Varchar, Name, Bytea:
		return appendKeyString(dst, d.B)
	}
	k := kindOf(typ, ts)
	switch k.kind {
	case cmpSigned:
		return binary.BigEndian.AppendUint16(dst, uint16(d.W)^1<<15)
	case cmpUnsigned:
		switch keyWidth(Builtin(k.typ)) {
		case 1:
			return append(dst, byte(d.W))
		case 4:
			return binary.BigEndian.AppendUint32(dst, uint32(d.W))
		}
		return binary.BigEndian.AppendUint64(dst, d.W)
	case cmpFloat:
		return binary.BigEndian.AppendUint64(dst, floatKey(d.Float64()))
	case cmpBytes:
		if k.typ == Uuid || k.typ == Tid {
			return append(dst, d.B...)
		}
		return appendKeyString(dst, d.B)
	case cmpBpchar:
		return appendKeyString(dst, TrimBpchar(d.B))
	case cmpNum:
		return d.Num().appendKey(dst)
	case cmpInterval:
		hi, lo := d.Interval().span128()
		dst = binary.BigEndian.AppendUint64(dst, uint64(hi)^1<<63)
		return binary.BigEndian.AppendUint64(dst, lo)
	case cmpTimetz:
		t, west := d.Timetz()
		dst = binary.BigEndian.AppendUint64(dst, uint64(t+int64(west)*UsecsPerSec)^1<<63)
		return binary.BigEndian.AppendUint32(dst, uint32(west)^1<<31)
	case cmpArray:
		return appendArrayKey(dst, d, ts)
	case cmpOidvector:
		a := d.Array()
		dst = binary.BigEndian.AppendUint32(dst, uint32(a.N))
		it := a.Iter()
		for e, ok := it.Next(); ok; e, ok = it.Next() {
			dst = binary.BigEndian.AppendUint32(dst, uint32(e.W))
		}
		return dst
	case cmpRecord:
		return appendRecordKey(dst, d, ts)
	case cmpJSONB:
		v := d.JSONB()
		if v.emptyArray() {
			return append(dst, 0)
		}
		return appendJSONKey(append(dst, 1), &v)
	case cmpBits:
		n, b := d.Bits()
		dst = appendKeyString(dst, b)
		return binary.BigEndian.AppendUint32(dst, uint32(n))
	case cmpEnum:
		return binary.BigEndian.AppendUint32(dst, uint32(enumPlace(k.typ, d, ts)))
	}
	if t := Lookup(k.typ, ts); t != nil && t.Phys.Class() == Word {
		return binary.BigEndian.AppendUint64(dst, d.W)
	}
	return appendKeyString(dst, d.B)
}

// appendKeyString escapes zero bytes so that the end sorts before every continuation.
func appendKeyString(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, escByte)
		if i < 0 {
			break
		}
		dst = append(dst, b[:i]...)
		dst = append(dst, escByte, escZero)
		b = b[i+1:]
	}
	dst = append(dst, b...)
	return append(dst, escByte, escClose)
}

// floatKey orders all values with -0 as 0 and every NaN above infinity.
func floatKey(v float64) uint64 {
	switch {
	case v == 0:
		return 1 << 63
	case math.IsNaN(v):
		return math.MaxUint64
	}
	u := math.Float64bits(v)
	if u>>63 != 0 {
		return ^u
	}
	return u | 1<<63
}

// Tags of numeric keys.
const (
	numKeyNegInf = 0x01
	numKeyNeg    = 0x02
	numKeyZero   = 0x03
	numKeyPos    = 0x04
	numKeyPosInf = 0x05
	numKeyNaN    = 0x06
)

// appendKey writes a tag, the decimal exponent and the digits in pairs, each pair plus one, ended by zero; inverted if negative.
func (n Num) appendKey(dst []byte) []byte {
	switch n.kind {
	case numNaN:
		return append(dst, numKeyNaN)
	case numPosInf:
		return append(dst, numKeyPosInf)
	case numNegInf:
		return append(dst, numKeyNegInf)
	}
	sign := n.Sign()
	if sign == 0 {
		return append(dst, numKeyZero)
	}
	tag := byte(numKeyPos)
	if sign < 0 {
		tag = numKeyNeg
	}
	dst = append(dst, tag)
	at := len(dst)
	var buf [40]byte
	abs := n.Abs()
	abs.scale = 0
	digits := abs.Append(buf[:0])
	exp := len(digits) - int(n.scale) // the value is 0.digits × 10^exp
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(int32(exp))^1<<31)
	for i := 0; i < len(digits); i += 2 {
		pair := (digits[i] - '0') * 10
		if i+1 < len(digits) {
			pair += digits[i+1] - '0'
		}
		dst = append(dst, pair+1)
	}
	dst = append(dst, 0)
	if sign < 0 {
		invert(dst[at:])
	}
	return dst
}

func appendArrayKey(dst []byte, d Datum, ts Types) []byte {
	a := d.Array()
	it := a.Iter()
	for e, ok := it.Next(); ok; e, ok = it.Next() {
		if e.Null {
			dst = append(dst, keyElemNull)
			continue
		}
		dst = appendKey(append(dst, keyElem), a.Elem, e, ts)
	}
	dst = append(dst, keyEnd, byte(len(a.Dims)))
	for _, dim := range a.Dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(dim.Len))
	}
	for _, dim := range a.Dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(dim.Lower)^1<<31)
	}
	return dst
}

func appendRecordKey(dst []byte, d Datum, ts Types) []byte {
	r := d.Record()
	for i, v := range r.Values() {
		if v.Null {
			dst = append(dst, keyElemNull)
			continue
		}
		dst = appendKey(append(dst, keyElem), r.Fields[i].Attr.Type, v, ts)
	}
	return append(dst, keyEnd)
}

func appendJSONKey(dst []byte, v *JSONValue) []byte {
	dst = append(dst, byte(v.rank()))
	switch v.Kind {
	case JSONTrue, JSONFalse:
		return append(dst, byte(v.Kind))
	case JSONNumber:
		return v.Num.appendKey(dst)
	case JSONString:
		return appendKeyString(dst, v.Str)
	case JSONArray, JSONObject:
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(v.Vals)))
		for i := range v.Vals {
			if v.Kind == JSONObject {
				dst = binary.BigEndian.AppendUint32(dst, uint32(len(v.Keys[i])))
				dst = append(dst, v.Keys[i]...)
			}
			dst = appendJSONKey(dst, &v.Vals[i])
		}
	}
	return dst
}

// KeyLossless reports whether DecodeKey gives back the very datum that was encoded.
func KeyLossless(typ OID, collation OID) bool {
	switch typ {
	case Bool, Char, Int2, Int4, Int8, Oid, Xid8, PgLsn, Date, Time, Timestamp, Timestamptz, Timetz, Money, Uuid, Tid,
		Text, Varchar, Name, Bytea, Regclass, Regtype, Regproc, Regprocedure, Regoper, Regoperator, Regnamespace, Regrole, Regcollation:
		return true
	}
	return false
}

func errCorruptKey() error {
	return pgerr.New(pgerr.IndexCorrupted, "index key is shorter than its columns")
}

// keyReader takes a column off a key, un-inverting what it gives out.
type keyReader struct {
	b    []byte
	desc bool
	err  error
}

func (r *keyReader) take(n int) []byte {
	if n < 0 || len(r.b) < n {
		r.err = errCorruptKey()
		r.b = nil
		return make([]byte, min(max(n, 0), 16))
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	if r.desc {
		v = append([]byte(nil), v...)
		invert(v)
	}
	return v
}

func (r *keyReader) byte() byte { return r.take(1)[0] }

func (r *keyReader) uint32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }

func (r *keyReader) uint64() uint64 { return binary.BigEndian.Uint64(r.take(8)) }

// str reads an escaped string; it aliases the key if nothing was escaped or inverted.
func (r *keyReader) str() []byte {
	flip := byte(0)
	if r.desc {
		flip = 0xFF
	}
	var out []byte
	start := 0
	for {
		i := bytes.IndexByte(r.b[start:], escByte^flip)
		if i < 0 || start+i+1 >= len(r.b) {
			r.err = errCorruptKey()
			r.b = nil
			return nil
		}
		end := start + i
		mark := r.b[end+1] ^ flip
		if mark == escClose && out == nil && !r.desc {
			v := r.b[:end:end]
			r.b = r.b[end+2:]
			return v
		}
		if out == nil {
			out = []byte{}
		}
		out = append(out, r.b[start:end]...)
		start = end + 2
		if mark == escClose {
			r.b = r.b[start:]
			if r.desc {
				invert(out)
			}
			return out
		}
		out = append(out, escByte^flip)
	}
}

// DecodeKey takes one column off the front of key. Only for types with KeyLossless. The datum may alias key.
func DecodeKey(key []byte, typ OID, opt KeyOptions) (d Datum, rest []byte, err error) {
	if len(key) == 0 {
		return Datum{}, nil, errCorruptKey()
	}
	if key[0] != keyNotNull {
		return NullDatum, key[1:], nil
	}
	r := keyReader{b: key[1:], desc: opt.Desc}
	switch typ {
	case Int4, Date:
		d.W = uint64(int64(int32(r.uint32() ^ 1<<31)))
	case Int8, Timestamp, Timestamptz, Time, Money:
		d.W = r.uint64() ^ 1<<63
	case Int2:
		d.W = uint64(int64(int16(binary.BigEndian.Uint16(r.take(2)) ^ 1<<15)))
	case Bool, Char:
		d.W = uint64(r.byte())
	case Xid8, PgLsn:
		d.W = r.uint64()
	case Uuid:
		d.B = r.take(16)
	case Tid:
		d.B = r.take(6)
	case Timetz:
		utc := int64(r.uint64() ^ 1<<63)
		west := int32(r.uint32() ^ 1<<31)
		d = TimetzDatum(utc-int64(west)*UsecsPerSec, west)
	case Text, Varchar, Name, Bytea:
		d.B = r.str()
	default:
		if cmpKindOf(typ) != cmpUnsigned {
			return Datum{}, nil, pgerr.New(pgerr.InternalError, "keys of type %d do not hold their value", typ)
		}
		d.W = uint64(r.uint32())
	}
	return d, r.b, r.err
}

// SkipKey returns what follows the first column of key, for any type.
func SkipKey(key []byte, typ OID, opt KeyOptions) (rest []byte, err error) {
	if len(key) == 0 {
		return nil, errCorruptKey()
	}
	if key[0] != keyNotNull {
		return key[1:], nil
	}
	r := keyReader{b: key[1:], desc: opt.Desc}
	r.skip(typ, opt.Types)
	return r.b, r.err
}

func (r *keyReader) skip(typ OID, ts Types) {
	k := kindOf(typ, ts)
	switch k.kind {
	case cmpSigned, cmpUnsigned:
		r.take(keyWidth(Builtin(k.typ)))
	case cmpFloat:
		r.take(8)
	case cmpEnum:
		r.take(4)
	case cmpInterval:
		r.take(16)
	case cmpTimetz:
		r.take(12)
	case cmpNum:
		r.skipNum()
	case cmpArray:
		r.skipArray(Lookup(k.typ, ts).Elem, ts)
	case cmpOidvector:
		r.take(4 * int(r.uint32()))
	case cmpJSONB:
		if r.byte() != 0 {
			r.skipJSON()
		}
	case cmpBits:
		r.str()
		r.take(4)
	case cmpRecord:
		r.skipRecord(k.typ, ts)
	default:
		switch {
		case k.typ == Uuid:
			r.take(16)
		case k.typ == Tid:
			r.take(6)
		default:
			r.str()
		}
	}
}

func (r *keyReader) skipNum() {
	tag := r.byte()
	end := byte(0)
	switch tag {
	case numKeyNeg:
		end = 0xFF
	case numKeyPos:
	default:
		return
	}
	r.take(4)
	for r.err == nil && r.byte() != end {
	}
}

func (r *keyReader) skipArray(elem OID, ts Types) {
	for r.err == nil {
		switch r.byte() {
		case keyEnd:
			r.take(8 * int(r.byte()))
			return
		case keyElem:
			r.skip(elem, ts)
		}
	}
}

// skipRecord works for composite types only: the key of an anonymous record does not tell its types.
func (r *keyReader) skipRecord(typ OID, ts Types) {
	t := Lookup(typ, ts)
	i := 0
	for r.err == nil {
		switch r.byte() {
		case keyEnd:
			return
		case keyElem:
			for t != nil && i < len(t.Fields) && t.Fields[i].Dropped {
				i++
			}
			if t == nil || i >= len(t.Fields) {
				r.err = errCorruptKey()
				return
			}
			r.skip(t.Fields[i].Type, ts)
		}
		i++
	}
}

func (r *keyReader) skipJSON() {
	kind := JSONKind(r.byte())
	switch kind {
	case JSONFalse:
		r.take(1)
	case JSONNumber:
		r.skipNum()
	case JSONString:
		r.str()
	case JSONArray, JSONObject:
		for n := r.uint32(); n > 0 && r.err == nil; n-- {
			if kind == JSONObject {
				r.take(int(r.uint32()))
			}
			r.skipJSON()
		}
	}
}
