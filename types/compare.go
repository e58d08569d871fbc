package types

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// cmpKind says how a type compares.
type cmpKind uint8

const (
	cmpNone cmpKind = iota
	cmpSigned
	cmpUnsigned
	cmpFloat
	cmpBytes // bytes.Compare
	cmpBpchar
	cmpNum
	cmpInterval
	cmpTimetz
	cmpArray
	cmpOidvector
	cmpRecord
	cmpJSONB
	cmpBits
	cmpEnum
)

func cmpKindOf(typ OID) cmpKind {
	switch typ {
	case Int4, Int8, Int2, Date, Time, Timestamp, Timestamptz, Money:
		return cmpSigned
	case Bool, Char, Oid, Xid, Cid, Xid8, PgLsn, Regclass, Regtype, Regproc, Regprocedure, Regoper, Regoperator, Regnamespace,
		Regrole, Regcollation, Regconfig, Regdictionary:
		return cmpUnsigned
	case Float8, Float4:
		return cmpFloat
	case Text, Varchar, Name, Bytea, Uuid, Tid, Unknown, Cstring, Aclitem, PgNodeTree, Json, Xml, Refcursor:
		return cmpBytes
	case Bpchar:
		return cmpBpchar
	case Numeric:
		return cmpNum
	case Interval:
		return cmpInterval
	case Timetz:
		return cmpTimetz
	case Oidvector:
		return cmpOidvector
	case Int2vector:
		return cmpArray
	case Record:
		return cmpRecord
	case Jsonb:
		return cmpJSONB
	case Bit, Varbit:
		return cmpBits
	}
	if t := Builtin(typ); t != nil && t.IsArray() {
		return cmpArray
	}
	return cmpNone
}

// Ordered reports whether a type has a default B-tree operator class.
func Ordered(typ OID, ts Types) bool {
	t := Lookup(typ, ts)
	switch {
	case t == nil:
		return false
	case t.Kind == 'd':
		return Ordered(t.Base, ts)
	case t.Kind == 'e', t.Kind == 'c':
		return true
	case t.IsArray():
		return Ordered(t.Elem, ts)
	}
	switch typ {
	case Xid, Cid, Unknown, Cstring, Aclitem, PgNodeTree, Json, Xml, Int2vector, Refcursor:
		return false
	}
	return cmpKindOf(typ) != cmpNone
}

// Compare orders two datums of a built-in type, neither null, as its default B-tree operator class does under collation C.
// Types without one compare by their bytes. User-defined types need Comparer.
func Compare(typ OID, a, b Datum) int { return compareKind(cmpKindOf(typ), typ, a, b, nil) }

func compareKind(k cmpKind, typ OID, a, b Datum, ts Types) int {
	switch k {
	case cmpSigned:
		return cmpInt64(int64(a.W), int64(b.W))
	case cmpUnsigned:
		return cmpUint64(a.W, b.W)
	case cmpFloat:
		return CompareFloat(a.Float64(), b.Float64())
	case cmpBpchar:
		return bytes.Compare(TrimBpchar(a.B), TrimBpchar(b.B))
	case cmpNum:
		return compareNum(a.B, b.B)
	case cmpInterval:
		return CompareInterval(a.Interval(), b.Interval())
	case cmpTimetz:
		return compareTimetz(a, b)
	case cmpArray:
		return compareArrays(a, b, ts)
	case cmpOidvector:
		return compareOidvectors(a, b)
	case cmpRecord:
		return CompareRecords(a, b, ts)
	case cmpJSONB:
		x, y := a.JSONB(), b.JSONB()
		return CompareJSON(&x, &y)
	case cmpBits:
		return compareBits(a, b)
	case cmpEnum:
		return compareEnum(typ, a, b, ts)
	}
	if c := bytes.Compare(a.B, b.B); c != 0 {
		return c
	}
	return cmpUint64(a.W, b.W)
}

// compareNum compares stored numerics, those of one scale without taking them apart.
func compareNum(a, b []byte) int {
	if a[0] <= smallScaleMax && a[0] == b[0] {
		return cmpInt64(NumFromStore(a).c, NumFromStore(b).c)
	}
	return NumFromStore(a).Cmp(NumFromStore(b))
}

func compareTimetz(a, b Datum) int {
	ta, za := a.Timetz()
	tb, zb := b.Timetz()
	if c := cmpInt64(ta+int64(za)*UsecsPerSec, tb+int64(zb)*UsecsPerSec); c != 0 {
		return c
	}
	return cmpInt64(int64(za), int64(zb))
}

func compareBits(a, b Datum) int {
	na, ba := a.Bits()
	nb, bb := b.Bits()
	if c := bytes.Compare(ba, bb); c != 0 {
		return c
	}
	return cmpInt(na, nb)
}

func compareArrays(x, y Datum, ts Types) int {
	a, b := x.Array(), y.Array()
	k := kindOf(a.Elem, ts)
	ia, ib := a.Iter(), b.Iter()
	for range min(a.N, b.N) {
		ea, _ := ia.Next()
		eb, _ := ib.Next()
		if ea.Null || eb.Null {
			if ea.Null && eb.Null {
				continue
			}
			if ea.Null {
				return 1
			}
			return -1
		}
		if c := compareKind(k.kind, k.typ, ea, eb, ts); c != 0 {
			return c
		}
	}
	if c := cmpInt(a.N, b.N); c != 0 {
		return c
	}
	if c := cmpInt(len(a.Dims), len(b.Dims)); c != 0 {
		return c
	}
	for i := range a.Dims {
		if c := cmpInt(int(a.Dims[i].Len), int(b.Dims[i].Len)); c != 0 {
			return c
		}
	}
	for i := range a.Dims {
		if c := cmpInt(int(a.Dims[i].Lower), int(b.Dims[i].Lower)); c != 0 {
			return c
		}
	}
	return 0
}

func compareOidvectors(x, y Datum) int {
	a, b := x.Array(), y.Array()
	if c := cmpInt(a.N, b.N); c != 0 {
		return c
	}
	ia, ib := a.Iter(), b.Iter()
	for range a.N {
		ea, _ := ia.Next()
		eb, _ := ib.Next()
		if c := cmpUint64(ea.W, eb.W); c != 0 {
			return c
		}
	}
	return 0
}

// CompareRecords orders rows field by field, nulls last. The caller has checked that the types agree.
func CompareRecords(x, y Datum, ts Types) int {
	a, b := x.Record(), y.Record()
	va, vb := a.Values(), b.Values()
	for i := range min(len(va), len(vb)) {
		switch {
		case va[i].Null && vb[i].Null:
			continue
		case va[i].Null:
			return 1
		case vb[i].Null:
			return -1
		}
		k := kindOf(a.Fields[i].Attr.Type, ts)
		if c := compareKind(k.kind, k.typ, va[i], vb[i], ts); c != 0 {
			return c
		}
	}
	return cmpInt(len(va), len(vb))
}

func enumPlace(typ OID, d Datum, ts Types) int {
	if t := Lookup(typ, ts); t != nil {
		for i := range t.Labels {
			if t.Labels[i].OID == d.OID() {
				return i
			}
		}
	}
	return -1
}

func compareEnum(typ OID, a, b Datum, ts Types) int {
	if a.W == b.W {
		return 0
	}
	return cmpInt(enumPlace(typ, a, ts), enumPlace(typ, b, ts))
}

// resolved is a type whose domain is taken off and whose comparison is known.
type resolved struct {
	typ  OID
	kind cmpKind
}

func kindOf(typ OID, ts Types) resolved {
	if Builtin(typ) != nil || ts == nil {
		return resolved{typ, cmpKindOf(typ)}
	}
	t := ts.TypeByOID(typ)
	switch {
	case t == nil:
		return resolved{typ, cmpNone}
	case t.Kind == 'd':
		return kindOf(t.Base, ts)
	case t.Kind == 'e':
		return resolved{typ, cmpEnum}
	case t.Kind == 'c':
		return resolved{typ, cmpRecord}
	case t.IsArray():
		return resolved{typ, cmpArray}
	}
	return resolved{typ, cmpNone}
}

// Comparer returns the comparison of a type under a collation (0 is the default), resolved once; ts may be nil.
// All collations compare by code point so far.
func Comparer(typ OID, collation OID, ts Types) func(a, b Datum) int {
	k := kindOf(typ, ts)
	switch k.kind {
	case cmpSigned:
		return func(a, b Datum) int { return cmpInt64(int64(a.W), int64(b.W)) }
	case cmpUnsigned:
		return func(a, b Datum) int { return cmpUint64(a.W, b.W) }
	case cmpBytes:
		return func(a, b Datum) int { return bytes.Compare(a.B, b.B) }
	}
	return func(a, b Datum) int { return compareKind(k.kind, k.typ, a, b, ts) }
}

// Equal reports whether Compare gives 0, and is faster.
func Equal(typ OID, a, b Datum) bool {
	switch k := cmpKindOf(typ); k {
	case cmpSigned, cmpUnsigned:
		return a.W == b.W
	case cmpBytes:
		return bytes.Equal(a.B, b.B)
	default:
		return compareKind(k, typ, a, b, nil) == 0
	}
}

// Hash is equal for datums that are Equal; integers of all widths hash alike. It is not PostgreSQL's.
func Hash(typ OID, d Datum) uint64 { return hashKind(kindOf(typ, nil), d, nil) }

// Hasher returns the hash of a type, resolved once; ts may be nil.
func Hasher(typ OID, ts Types) func(d Datum) uint64 {
	k := kindOf(typ, ts)
	switch k.kind {
	case cmpSigned, cmpUnsigned, cmpEnum:
		return func(d Datum) uint64 { return HashWord(d.W) }
	case cmpBytes:
		return func(d Datum) uint64 { return HashBytes(d.B) }
	}
	return func(d Datum) uint64 { return hashKind(k, d, ts) }
}

func hashKind(k resolved, d Datum, ts Types) uint64 {
	switch k.kind {
	case cmpSigned, cmpUnsigned, cmpEnum:
		return HashWord(d.W)
	case cmpFloat:
		return hashFloat(d.Float64())
	case cmpBpchar:
		return HashBytes(TrimBpchar(d.B))
	case cmpNum:
		return d.Num().hash()
	case cmpInterval:
		hi, lo := d.Interval().span128()
		return HashWord(lo ^ HashWord(uint64(hi)))
	case cmpArray, cmpOidvector:
		a := d.Array()
		e := kindOf(a.Elem, ts)
		h := uint64(a.N)
		it := a.Iter()
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			h = HashWord(h)
			if !v.Null {
				h ^= hashKind(e, v, ts)
			}
		}
		return HashWord(h)
	case cmpRecord:
		r := d.Record()
		h := uint64(len(r.Fields))
		for i, v := range r.Values() {
			h = HashWord(h)
			if !v.Null {
				h ^= hashKind(kindOf(r.Fields[i].Attr.Type, ts), v, ts)
			}
		}
		return HashWord(h)
	case cmpJSONB:
		v := d.JSONB()
		return hashJSON(&v)
	}
	return HashBytes(d.B) ^ d.W
}

func hashJSON(v *JSONValue) uint64 {
	h := HashWord(uint64(v.Kind) + 1)
	switch v.Kind {
	case JSONString:
		return h ^ HashBytes(v.Str)
	case JSONNumber:
		return h ^ v.Num.hash()
	}
	for i := range v.Vals {
		if v.Kind == JSONObject {
			h = HashWord(h ^ HashBytes(v.Keys[i]))
		}
		h = HashWord(h ^ hashJSON(&v.Vals[i]))
	}
	return h
}

func hashFloat(v float64) uint64 {
	switch {
	case v == 0:
		v = 0 // not -0
	case math.IsNaN(v):
		v = math.NaN()
	}
	return HashWord(math.Float64bits(v))
}

// hash is that of the value whatever its scale.
func (n Num) hash() uint64 {
	if n.kind != numFinite {
		return HashWord(uint64(n.kind))
	}
	n = n.Trunc(n.MinScale())
	if n.big == nil {
		// Integers with and without a word form hash alike, since MinScale is at least 0.
		return HashWord(uint64(n.c) ^ uint64(n.scale)<<56)
	}
	return HashBytes(n.big.Bytes()) ^ uint64(n.scale)<<56 ^ uint64(n.big.Sign())
}

const (
	hashMul1 = 0x9E3779B97F4A7C15
	hashMul2 = 0xD6E8FEB86659FD93
	hashMul3 = 0xA0761D6478BD642F
)

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// HashWord mixes a word.
func HashWord(w uint64) uint64 { return mix(w^hashMul3, hashMul1) ^ bits.RotateLeft64(w, 32)*hashMul2 }

// HashBytes hashes a string of bytes.
func HashBytes(b []byte) uint64 {
	h := uint64(len(b))*hashMul1 ^ hashMul3
	for len(b) >= 16 {
		h = mix(binary.LittleEndian.Uint64(b)^hashMul1, binary.LittleEndian.Uint64(b[8:])^h)
		b = b[16:]
	}
	var x, y uint64
	switch {
	case len(b) >= 8:
		x = binary.LittleEndian.Uint64(b)
		y = binary.LittleEndian.Uint64(b[len(b)-8:])
	case len(b) >= 4:
		x = uint64(binary.LittleEndian.Uint32(b))
		y = uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	case len(b) > 0:
		x = uint64(b[0])<<16 | uint64(b[len(b)/2])<<8 | uint64(b[len(b)-1])
	}
	return mix(x^hashMul2, y^h) ^ mix(h, hashMul1)
}
