package types

import (
	"encoding/binary"
	"math"

	"github.com/minipg/minipg/pgerr"
)

// MaxArrayDims is the largest number of dimensions.
const MaxArrayDims = 6

// maxArrayItems bounds the elements of an array as PostgreSQL does, by what one allocation may hold.
const maxArrayItems = 134217727

// ArrayDim is one dimension: its length and the subscript of its first element.
type ArrayDim struct {
	Len, Lower int32
}

// Array is an array datum taken apart. The form of the datum is: dimensions and in the high bit
// whether there are nulls; the physical kind, and width if fixed, of the elements; their type; for each
// dimension length and lower bound; a bitmap of nulls; the values as in a row.
type Array struct {
	Elem  OID
	Dims  []ArrayDim
	N     int
	attr  Attr
	nulls []byte
	data  []byte
}

const arrayHeadLen = 8

// elemAttr describes how values of a type lie in an array or row.
func elemAttr(typ OID, ts Types) Attr {
	a := Attr{Type: typ, Phys: PhysVarlena, Len: -1}
	if t := Lookup(typ, ts); t != nil {
		a.Phys = t.Phys
		a.Len = PhysLen(t.Phys, t.Len)
	}
	return a
}

// AttrOf describes an attribute of a type as NewRowDesc would, for user-defined types too.
func AttrOf(typ OID, typmod int32, ts Types) Attr {
	a := elemAttr(typ, ts)
	a.Typmod = typmod
	return a
}

// MakeArray builds an array of one dimension with lower bound 1 from built-in elements.
func MakeArray(elem OID, elems []Datum) Datum {
	return MakeArrayDims(elem, elems, []ArrayDim{{Len: int32(len(elems)), Lower: 1}}, nil)
}

// MakeArrayDims builds an array; no elements make an empty one whatever dims says. ts may be nil.
func MakeArrayDims(elem OID, elems []Datum, dims []ArrayDim, ts Types) Datum {
	attr := elemAttr(elem, ts)
	if len(elems) == 0 {
		dims = nil
	}
	nulls := false
	size := arrayHeadLen + 8*len(dims)
	for i := range elems {
		if elems[i].Null {
			nulls = true
			continue
		}
		size += EncodedLen(&attr, &elems[i])
	}
	if nulls {
		size += (len(elems) + 7) / 8
	}
	b := make([]byte, 0, size)
	head := byte(len(dims))
	if nulls {
		head |= headNulls
	}
	b = append(b, head, byte(attr.Phys))
	b = binary.LittleEndian.AppendUint16(b, uint16(attr.Len))
	b = binary.LittleEndian.AppendUint32(b, uint32(elem))
	for _, d := range dims {
		b = binary.LittleEndian.AppendUint32(b, uint32(d.Len))
		b = binary.LittleEndian.AppendUint32(b, uint32(d.Lower))
	}
	if nulls {
		at := len(b)
		b = b[:at+(len(elems)+7)/8]
		for i := range elems {
			if elems[i].Null {
				b[at+i>>3] |= 1 << (i & 7)
			}
		}
	}
	for i := range elems {
		if !elems[i].Null {
			b = appendValue(b, &attr, &elems[i])
		}
	}
	return Datum{B: b}
}

// EmptyArray is the array without dimensions.
func EmptyArray(elem OID, ts Types) Datum { return MakeArrayDims(elem, nil, nil, ts) }

// Array takes an array datum apart. The parts alias it.
func (d Datum) Array() Array {
	b := d.B
	a := Array{Elem: OID(binary.LittleEndian.Uint32(b[4:]))}
	a.attr = Attr{Type: a.Elem, Phys: Phys(b[1]), Len: int16(binary.LittleEndian.Uint16(b[2:]))}
	nd := int(b[0] & headCountMask)
	nulls := b[0]&headNulls != 0
	b = b[arrayHeadLen:]
	if nd > 0 {
		a.Dims = make([]ArrayDim, nd)
		a.N = 1
		for i := range a.Dims {
			a.Dims[i] = ArrayDim{int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:]))}
			a.N *= int(a.Dims[i].Len)
			b = b[8:]
		}
	}
	if nulls {
		n := (a.N + 7) / 8
		a.nulls, b = b[:n], b[n:]
	}
	a.data = b
	return a
}

// HasNulls reports whether an element is null.
func (a *Array) HasNulls() bool { return a.nulls != nil }

// ArrayIter walks an array's elements in storage order.
type ArrayIter struct {
	a    *Array
	i    int
	data []byte
}

// Iter starts at the first element.
func (a *Array) Iter() ArrayIter { return ArrayIter{a: a, data: a.data} }

// Next returns the next element, or ok false at the end. Bytes alias the array.
func (it *ArrayIter) Next() (d Datum, ok bool) {
	a := it.a
	if it.i >= a.N {
		return Datum{}, false
	}
	i := it.i
	it.i++
	if isNull(a.nulls, i) {
		return Datum{Null: true}, true
	}
	switch {
	case a.attr.Len < 0:
		d, it.data = varlena(it.data)
	case a.attr.Phys == PhysFixed:
		d.B, it.data = it.data[:a.attr.Len:a.attr.Len], it.data[a.attr.Len:]
	default:
		d.W = word(it.data, a.attr.Phys)
		it.data = it.data[a.attr.Len:]
	}
	return d, true
}

// Elems appends all elements to dst.
func (a *Array) Elems(dst []Datum) []Datum {
	it := a.Iter()
	for d, ok := it.Next(); ok; d, ok = it.Next() {
		dst = append(dst, d)
	}
	return dst
}

// At returns the i-th element in storage order, from 0.
func (a *Array) At(i int) Datum {
	if isNull(a.nulls, i) {
		return NullDatum
	}
	it := a.Iter()
	if a.nulls == nil && a.attr.Len >= 0 {
		it.data = it.data[i*int(a.attr.Len):]
		it.i = i
	}
	for it.i < i {
		it.Next()
	}
	d, _ := it.Next()
	return d
}

// Subscript returns the element at a full set of subscripts; ok is false if they are outside.
func (a *Array) Subscript(subs []int32) (d Datum, ok bool) {
	i, ok := a.offset(subs)
	if !ok {
		return NullDatum, false
	}
	return a.At(i), true
}

func (a *Array) offset(subs []int32) (int, bool) {
	if len(subs) != len(a.Dims) || a.N == 0 {
		return 0, false
	}
	off := 0
	for i, d := range a.Dims {
		s := int64(subs[i]) - int64(d.Lower)
		if s < 0 || s >= int64(d.Len) {
			return 0, false
		}
		off = off*int(d.Len) + int(s)
	}
	return off, true
}

// CheckArrayDims fails when there are too many dimensions or elements, or a bound overflows.
func CheckArrayDims(dims []ArrayDim) error {
	if len(dims) > MaxArrayDims {
		return errArrayDims(len(dims))
	}
	n := int64(1)
	for _, d := range dims {
		if d.Len < 0 {
			return errArraySize()
		}
		n *= int64(d.Len)
		if n > maxArrayItems {
			return errArraySize()
		}
	}
	for _, d := range dims {
		if int64(d.Lower)+int64(d.Len) > math.MaxInt32 {
			return pgerr.New(pgerr.ProgramLimitExceeded, "array lower bound is too large: %d", d.Lower)
		}
	}
	return nil
}

func errArrayDims(n int) error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, MaxArrayDims)
}

func errArraySize() error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayItems)
}

func vectorDatum(elem OID, elems []Datum) Datum {
	if len(elems) > 0 {
		return MakeArrayDims(elem, elems, []ArrayDim{{Len: int32(len(elems)), Lower: 0}}, nil)
	}
	// Unlike an array, an empty vector has its dimension.
	d := MakeArray(elem, nil)
	d.B[0] = 1
	d.B = append(d.B, 0, 0, 0, 0, 0, 0, 0, 0)
	return d
}

// OidvectorDatum makes an oidvector.
func OidvectorDatum(oids []OID) Datum {
	d := make([]Datum, len(oids))
	for i, o := range oids {
		d[i] = OIDDatum(o)
	}
	return vectorDatum(Oid, d)
}

// Int2vectorDatum makes an int2vector.
func Int2vectorDatum(v []int16) Datum {
	d := make([]Datum, len(v))
	for i, x := range v {
		d[i] = Int64Datum(int64(x))
	}
	return vectorDatum(Int2, d)
}

// TextArrayDatum makes a text[].
func TextArrayDatum(v []string) Datum {
	d := make([]Datum, len(v))
	for i, s := range v {
		d[i] = TextDatum(s)
	}
	return MakeArray(Text, d)
}

// parseVector reads the space-separated numbers of an int2vector or oidvector.
func parseVector(typ OID, s []byte) (Datum, error) {
	var elems []Datum
	rest := s
	for {
		rest = trimSpaceLeft(rest)
		if len(rest) == 0 {
			break
		}
		n := 0
		var d Datum
		if typ == Oidvector {
			v, used, over := strtoul(rest, 10)
			switch {
			case used == 0:
				return Datum{}, errSyntax("oid", rest)
			case over || v > math.MaxUint32:
				return Datum{}, errRange("oid", rest)
			}
			d, n = OIDDatum(OID(v)), used
		} else {
			for n < len(rest) && !isSpace(rest[n]) {
				n++
			}
			v, err := parseInt(rest[:n], 16, "smallint")
			if err != nil {
				return Datum{}, err
			}
			d = Int64Datum(v)
		}
		elems = append(elems, d)
		rest = rest[n:]
	}
	return vectorDatum(Builtin(typ).Elem, elems), nil
}

func trimSpaceLeft(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func outVector(d Datum, dst []byte, env *Env) []byte {
	a := d.Array()
	it := a.Iter()
	for i := 0; ; i++ {
		e, ok := it.Next()
		if !ok {
			return dst
		}
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = Out(a.Elem, e, dst, env)
	}
}
