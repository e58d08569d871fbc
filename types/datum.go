package types

import (
	"math"
	"unsafe"
)

// Datum is one value of a type known from the context. See invariants 1 to 3.
type Datum struct {
	W    uint64
	B    []byte
	Null bool
}

// TOAST forms, in W of a datum of class Bytes. B is then the stored payload.
const (
	ToastNone       uint64 = 0
	ToastCompressed uint64 = 1 // B is the compressed value, in the engine's format
	ToastExternal   uint64 = 2 // B is the engine's pointer, at most 255 bytes
)

// NullDatum is the SQL null of every type.
var NullDatum = Datum{Null: true}

// BoolDatum makes a bool.
func BoolDatum(b bool) Datum {
	if b {
		return Datum{W: 1}
	}
	return Datum{}
}

// Int64Datum makes any of the signed integer, date or time types.
func Int64Datum(v int64) Datum { return Datum{W: uint64(v)} }

// Uint64Datum makes oid, xid, xid8, reg* and other unsigned types.
func Uint64Datum(v uint64) Datum { return Datum{W: v} }

// OIDDatum makes an oid or a reg* type.
func OIDDatum(v OID) Datum { return Datum{W: uint64(v)} }

// Float64Datum makes a float8, or a float4 if v is exact in 32 bits.
func Float64Datum(v float64) Datum { return Datum{W: math.Float64bits(v)} }

// TextDatum makes a text-like value; it shares the memory of s.
func TextDatum(s string) Datum { return Datum{B: unsafeBytes(s)} }

// BytesDatum makes a value of class Bytes that aliases b.
func BytesDatum(b []byte) Datum { return Datum{B: b} }

// Int64 is the word as a signed integer.
func (d Datum) Int64() int64 { return int64(d.W) }

// OID is the word as an object identifier.
func (d Datum) OID() OID { return OID(d.W) }

// Float64 is the word as a float4 or float8.
func (d Datum) Float64() float64 { return math.Float64frombits(d.W) }

// Bool is the word as a bool.
func (d Datum) Bool() bool { return d.W != 0 }

// String copies the bytes of a text-like value.
func (d Datum) String() string { return string(d.B) }

// Str is String without the copy; the string lives as long as the bytes may not change,
// which is always (invariant 3) unless they lie in a page copy that is about to be reused.
func (d Datum) Str() string { return unsafeString(d.B) }

// Clone copies the bytes, for a datum that must outlive the batch it came from.
func (d Datum) Clone() Datum {
	if d.B != nil {
		d.B = append(make([]byte, 0, len(d.B)), d.B...)
	}
	return d
}

func unsafeString(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b))
}

func unsafeBytes(s string) []byte {
	if s == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
