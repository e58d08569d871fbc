package types

import (
	"encoding/binary"
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
)

// Attr is one attribute of a row as it is stored. NewRowDesc sets Phys and Len of built-in types; for
// other types, and for dropped attributes (Type 0), the caller sets them.
type Attr struct {
	Type    OID
	Typmod  int32
	Phys    Phys
	Len     int16 // bytes on disk of a fixed-width attribute, else -1
	NotNull bool
	// Missing, if HasMissing, is the value in rows written before the attribute was added, instead of null.
	HasMissing bool
	Missing    Datum
}

// RowDesc describes stored rows. It is immutable.
type RowDesc struct {
	Attrs []Attr
	// fixed leading attributes lie at the same offset from the values' start in rows without
	// nulls; notNull of these (a prefix) in every row.
	fixed, notNull int
	offsets        []int32 // of the fixed leading attributes
}

const (
	headCountMask = 0x7F
	headLong      = 0x7F // the count is in two bytes that follow
	headNulls     = 0x80

	shortMax    = 126
	tagExternal = 0xFF
)

// PhysLen is the width on disk of a physical kind, -1 if it varies; fixed is the type's length for PhysFixed.
func PhysLen(p Phys, fixed int16) int16 {
	switch p {
	case PhysBool, PhysChar:
		return 1
	case PhysInt2:
		return 2
	case PhysInt4, PhysUint4, PhysFloat4:
		return 4
	case PhysWord8:
		return 8
	case PhysFixed:
		return fixed
	}
	return -1
}

// NewRowDesc completes attrs and keeps them.
func NewRowDesc(attrs []Attr) *RowDesc {
	d := &RowDesc{Attrs: attrs}
	for i := range attrs {
		a := &attrs[i]
		if t := Builtin(a.Type); t != nil {
			a.Phys = t.Phys
			a.Len = PhysLen(t.Phys, t.Len)
		} else if a.Phys != PhysFixed {
			a.Len = PhysLen(a.Phys, 0)
		}
	}
	var off int32
	for i := range attrs {
		a := &attrs[i]
		if a.Len < 0 {
			break
		}
		d.offsets = append(d.offsets, off)
		off += int32(a.Len)
		d.fixed = i + 1
		if a.NotNull && d.notNull == i {
			d.notNull = i + 1
		}
	}
	return d
}

// Encode appends the row to dst. It may have fewer values than there are attributes.
func (d *RowDesc) Encode(dst []byte, row []Datum) []byte {
	n := len(row)
	if n > len(d.Attrs) { // the arguments of an assertion cost more than a short row
		assert.That(false, "row of %d values for %d attributes", n, len(d.Attrs))
	}
	nulls := false
	for i := range row {
		if row[i].Null {
			nulls = true
			break
		}
	}
	head := byte(0)
	if nulls {
		head = headNulls
	}
	if n < headLong {
		dst = append(dst, head|byte(n))
	} else {
		dst = append(dst, head|headLong, byte(n), byte(n>>8))
	}
	if nulls {
		at := len(dst)
		for range (n + 7) / 8 {
			dst = append(dst, 0)
		}
		for i := range row {
			if row[i].Null {
				dst[at+i>>3] |= 1 << (i & 7)
			}
		}
	}
	for i := range row {
		v := &row[i]
		if !v.Null {
			dst = appendValue(dst, &d.Attrs[i], v)
		}
	}
	return dst
}

func appendValue(dst []byte, a *Attr, v *Datum) []byte {
	switch a.Phys {
	case PhysBool, PhysChar:
		return append(dst, byte(v.W))
	case PhysInt2:
		return binary.LittleEndian.AppendUint16(dst, uint16(v.W))
	case PhysInt4, PhysUint4:
		return binary.LittleEndian.AppendUint32(dst, uint32(v.W))
	case PhysFloat4:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(math.Float64frombits(v.W))))
	case PhysWord8:
		return binary.LittleEndian.AppendUint64(dst, v.W)
	case PhysFixed:
		assert.That(len(v.B) == int(a.Len), "value of %d bytes for a type of %d", len(v.B), a.Len)
		return append(dst, v.B...)
	}
	switch {
	case v.W == ToastExternal:
		assert.That(len(v.B) <= math.MaxUint8, "external pointer of %d bytes", len(v.B))
		dst = append(dst, tagExternal, byte(len(v.B)))
	case v.W == ToastCompressed:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v.B))<<2|2)
	case len(v.B) <= shortMax:
		dst = append(dst, byte(len(v.B)<<1|1))
	default:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v.B))<<2)
	}
	return append(dst, v.B...)
}

// EncodedLen is the number of bytes a value of class Bytes takes in a row, its length included.
func EncodedLen(a *Attr, v *Datum) int {
	switch {
	case v.Null:
		return 0
	case a.Len >= 0:
		return int(a.Len)
	case v.W == ToastExternal:
		return 2 + len(v.B)
	case v.W == ToastNone && len(v.B) <= shortMax:
		return 1 + len(v.B)
	}
	return 4 + len(v.B)
}

func errCorruptRow() error {
	return pgerr.New(pgerr.DataCorrupted, "row data is shorter than its attributes")
}

// rowHead is a parsed head: n stored attributes, their null bitmap (nil if no nulls) and the values.
func rowHead(data []byte) (n int, nulls, values []byte, err error) {
	if len(data) == 0 {
		return 0, nil, nil, errCorruptRow()
	}
	head := data[0]
	n = int(head & headCountMask)
	data = data[1:]
	if n == headLong {
		if len(data) < 2 {
			return 0, nil, nil, errCorruptRow()
		}
		n = int(binary.LittleEndian.Uint16(data))
		data = data[2:]
	}
	if head&headNulls != 0 {
		k := (n + 7) / 8
		if len(data) < k {
			return 0, nil, nil, errCorruptRow()
		}
		nulls, data = data[:k], data[k:]
	}
	return n, nulls, data, nil
}

// Attributes is the number of attributes stored in a row.
func Attributes(data []byte) (int, error) {
	n, _, _, err := rowHead(data)
	return n, err
}

func isNull(nulls []byte, i int) bool {
	return nulls != nil && nulls[i>>3]&(1<<(i&7)) != 0
}

// skip returns the values after the one of a at the front, or nil if they are too short.
func skip(values []byte, a *Attr) []byte {
	if a.Len >= 0 {
		if len(values) < int(a.Len) {
			return nil
		}
		return values[a.Len:]
	}
	_, rest := varlena(values)
	return rest
}

// varlena takes one value with a length off the front; rest is nil if the bytes are too short.
func varlena(values []byte) (d Datum, rest []byte) {
	if len(values) == 0 {
		return Datum{}, nil
	}
	b := values[0]
	var at, n int
	switch {
	case b == tagExternal:
		if len(values) < 2 {
			return Datum{}, nil
		}
		d.W = ToastExternal
		at, n = 2, int(values[1])
	case b&1 != 0:
		at, n = 1, int(b>>1)
	default:
		if len(values) < 4 {
			return Datum{}, nil
		}
		h := binary.LittleEndian.Uint32(values)
		if h&2 != 0 {
			d.W = ToastCompressed
		}
		at, n = 4, int(h>>2)
	}
	if len(values) < at+n {
		return Datum{}, nil
	}
	d.B = values[at : at+n : at+n]
	return d, values[at+n:]
}

// word reads a fixed-width value of class Word. Requires: values is long enough.
func word(values []byte, p Phys) uint64 {
	switch p {
	case PhysBool, PhysChar:
		return uint64(values[0])
	case PhysInt2:
		return uint64(int64(int16(binary.LittleEndian.Uint16(values))))
	case PhysInt4:
		return uint64(int64(int32(binary.LittleEndian.Uint32(values))))
	case PhysUint4:
		return uint64(binary.LittleEndian.Uint32(values))
	case PhysFloat4:
		return math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(values))))
	}
	return binary.LittleEndian.Uint64(values)
}

// Decode sets out[:n] to the first n attributes of the row. Bytes alias data. TOASTed values come in their stored form (invariant 2).
func (d *RowDesc) Decode(data []byte, out []Datum, n int) error {
	stored, nulls, values, err := rowHead(data)
	if err != nil {
		return err
	}
	have := min(n, stored)
	for i := range have {
		a := &d.Attrs[i]
		v := &out[i]
		if isNull(nulls, i) {
			*v = Datum{Null: true}
			continue
		}
		if a.Len < 0 {
			if *v, values = varlena(values); values == nil {
				return errCorruptRow()
			}
			continue
		}
		if len(values) < int(a.Len) {
			return errCorruptRow()
		}
		if a.Phys == PhysFixed {
			*v = Datum{B: values[:a.Len:a.Len]}
		} else {
			*v = Datum{W: word(values, a.Phys)}
		}
		values = values[a.Len:]
	}
	for i := have; i < n; i++ {
		out[i] = d.Attrs[i].missing()
	}
	return nil
}

func (a *Attr) missing() Datum {
	if a.HasMissing {
		return a.Missing
	}
	return Datum{Null: true}
}

// Detoaster gives the plain bytes of a TOASTed value. It is satisfied by the engine.
type Detoaster interface {
	Detoast(d Datum) ([]byte, error)
}

// DecodeInto sets row of cols[k] to attribute wanted[k] (from 0, ascending) for every k. Bytes alias
// data, or are what toast made. toast may be nil if the relation has no TOASTed values.
func (d *RowDesc) DecodeInto(cols []Vector, row int, data []byte, wanted []int, toast Detoaster) error {
	stored, nulls, values, err := rowHead(data)
	if err != nil {
		return err
	}
	fixed := d.fixed
	if nulls != nil {
		fixed = d.notNull
	}
	at := 0 // values is at attribute number at
	for k, want := range wanted {
		col := &cols[k]
		a := &d.Attrs[want]
		if want >= stored {
			col.Set(row, a.missing())
			continue
		}
		if isNull(nulls, want) {
			col.Null[row] = true
			continue
		}
		col.Null[row] = false
		if want < fixed {
			// Invariant of notNull: no attribute before it can be null, so the offset holds.
			off := int(d.offsets[want]) - d.offsetOf(at)
			if len(values) < off+int(a.Len) {
				return errCorruptRow()
			}
			values, at = values[off:], want
		}
		for ; at < want; at++ {
			if isNull(nulls, at) {
				continue
			}
			if values = skip(values, &d.Attrs[at]); values == nil {
				return errCorruptRow()
			}
		}
		if a.Len < 0 {
			v, rest := varlena(values)
			if rest == nil {
				return errCorruptRow()
			}
			if v.W != ToastNone {
				if v.B, err = toast.Detoast(v); err != nil {
					return err
				}
			}
			col.B[row] = v.B
			values = rest
		} else {
			if len(values) < int(a.Len) {
				return errCorruptRow()
			}
			if a.Phys == PhysFixed {
				col.B[row] = values[:a.Len:a.Len]
			} else {
				col.W[row] = word(values, a.Phys)
			}
			values = values[a.Len:]
		}
		at = want + 1
	}
	return nil
}

// offsetOf is the offset of attribute i, at most one past the fixed leading ones.
func (d *RowDesc) offsetOf(i int) int {
	if i == 0 {
		return 0
	}
	return int(d.offsets[i-1]) + int(d.Attrs[i-1].Len)
}
