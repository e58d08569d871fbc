package fn

import (
	"bytes"
	"math"
	"strconv"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func errSubscript(format string, args ...any) *pgerr.Error {
	return pgerr.New(pgerr.ArraySubscriptError, format, args...)
}

// elemType is the element type of argument i, from the call or the value.
func (c *Context) elemType(i int, d types.Datum) types.OID {
	if t := types.Lookup(c.ArgType(i), c.Env.Types); t != nil && t.Elem != 0 {
		return t.Elem
	}
	if !d.Null {
		a := d.Array()
		return a.Elem
	}
	return 0
}

func (c *Context) makeArray(elem types.OID, elems []types.Datum, dims []types.ArrayDim) (types.Datum, error) {
	if err := types.CheckArrayDims(dims); err != nil {
		return types.Datum{}, err
	}
	if err := checkArray(elems); err != nil {
		return types.Datum{}, err
	}
	return types.MakeArrayDims(elem, elems, dims, c.Env.Types), nil
}

// oneDim takes an array that may be null, empty or of one dimension.
func (c *Context) oneDim(i int, d types.Datum) (elem types.OID, elems []types.Datum, lower int32, err error) {
	elem = c.elemType(i, d)
	lower = 1
	if d.Null {
		return elem, nil, lower, nil
	}
	a := d.Array()
	switch len(a.Dims) {
	case 0:
	case 1:
		lower = a.Dims[0].Lower
	default:
		return 0, nil, 0, pgerr.New(pgerr.DataException, "argument must be empty or one-dimensional array")
	}
	return elem, a.Elems(nil), lower, nil
}

func arrayAppend(c *Context, a []types.Datum) (types.Datum, error) {
	elem, elems, lower, err := c.oneDim(0, a[0])
	if err != nil {
		return types.Datum{}, err
	}
	if int64(lower)+int64(len(elems)) > math.MaxInt32 {
		return types.Datum{}, errOutOfRange("integer")
	}
	elems = append(elems, a[1])
	return c.makeArray(elem, elems, []types.ArrayDim{{Len: int32(len(elems)), Lower: lower}})
}

func arrayPrepend(c *Context, a []types.Datum) (types.Datum, error) {
	elem, elems, lower, err := c.oneDim(1, a[1])
	if err != nil {
		return types.Datum{}, err
	}
	elems = append([]types.Datum{a[0]}, elems...)
	return c.makeArray(elem, elems, []types.ArrayDim{{Len: int32(len(elems)), Lower: lower}})
}

func errIncompatible(format string, args ...any) error {
	return errSubscript("cannot concatenate incompatible arrays").WithDetail(format, args...)
}

func arrayCat(c *Context, a []types.Datum) (types.Datum, error) {
	switch {
	case a[0].Null:
		return a[1], nil
	case a[1].Null:
		return a[0], nil
	}
	x, y := a[0].Array(), a[1].Array()
	if x.Elem != y.Elem {
		return types.Datum{}, pgerr.New(pgerr.DatatypeMismatch, "cannot concatenate incompatible arrays").
			WithDetail("Arrays with element types %s and %s are not compatible for concatenation.", c.typeName(x.Elem), c.typeName(y.Elem))
	}
	switch {
	case len(x.Dims) == 0:
		return a[1], nil
	case len(y.Dims) == 0:
		return a[0], nil
	}
	var dims []types.ArrayDim
	switch len(x.Dims) - len(y.Dims) {
	case 0:
		if !sameDims(x.Dims[1:], y.Dims[1:]) {
			return types.Datum{}, errIncompatible("Arrays with differing element dimensions are not compatible for concatenation.")
		}
		dims = append(dims, x.Dims...)
		dims[0].Len += y.Dims[0].Len
	case 1:
		if !sameDims(x.Dims[1:], y.Dims) {
			return types.Datum{}, errIncompatible("Arrays with differing dimensions are not compatible for concatenation.")
		}
		dims = append(dims, x.Dims...)
		dims[0].Len++
	case -1:
		if !sameDims(x.Dims, y.Dims[1:]) {
			return types.Datum{}, errIncompatible("Arrays with differing dimensions are not compatible for concatenation.")
		}
		dims = append(dims, y.Dims...)
		dims[0].Len++
	default:
		return types.Datum{}, errIncompatible("Arrays of %d and %d dimensions are not compatible for concatenation.", len(x.Dims), len(y.Dims))
	}
	return c.makeArray(x.Elem, y.Elems(x.Elems(nil)), dims)
}

// equality is whether two elements are not distinct, nulls included.
func (c *Context) equality(elem types.OID) func(a, b types.Datum) bool {
	cmp := types.Comparer(elem, c.collation(), c.Env.Types)
	return func(a, b types.Datum) bool {
		if a.Null || b.Null {
			return a.Null && b.Null
		}
		return cmp(a, b) == 0
	}
}

func arrayPosition(c *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullDatum, nil
	}
	arr := a[0].Array()
	if len(arr.Dims) > 1 {
		return types.Datum{}, errUnsupported("searching for elements in multidimensional arrays is not supported")
	}
	if len(arr.Dims) == 0 {
		return types.NullDatum, nil
	}
	if a[1].Null && !arr.HasNulls() {
		return types.NullDatum, nil
	}
	from := int64(math.MinInt64)
	if len(a) > 2 {
		if a[2].Null {
			return types.Datum{}, pgerr.New(pgerr.NullValueNotAllowed, "initial position must not be null")
		}
		from = a[2].Int64()
	}
	eq := c.equality(arr.Elem)
	it := arr.Iter()
	for at := int64(arr.Dims[0].Lower); ; at++ {
		d, ok := it.Next()
		if !ok {
			return types.NullDatum, nil
		}
		if at >= from && eq(d, a[1]) {
			return types.Int64Datum(at), nil
		}
	}
}

func arrayPositions(c *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullDatum, nil
	}
	arr := a[0].Array()
	if len(arr.Dims) > 1 {
		return types.Datum{}, errUnsupported("searching for elements in multidimensional arrays is not supported")
	}
	var found []types.Datum
	eq := c.equality(arr.Elem)
	it := arr.Iter()
	for i := 0; ; i++ {
		d, ok := it.Next()
		if !ok {
			return types.MakeArray(types.Int4, found), nil
		}
		if eq(d, a[1]) {
			found = append(found, types.Int64Datum(int64(arr.Dims[0].Lower)+int64(i)))
		}
	}
}

// bound makes array_lower, array_upper and array_length.
func bound(f func(d types.ArrayDim) int32) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		arr, n := a[0].Array(), a[1].Int64()
		if n < 1 || n > int64(len(arr.Dims)) {
			return types.NullDatum, nil
		}
		return types.Int64Datum(int64(f(arr.Dims[n-1]))), nil
	}
}

func arrayDims(_ *Context, a []types.Datum) (types.Datum, error) {
	arr := a[0].Array()
	if len(arr.Dims) == 0 {
		return types.NullDatum, nil
	}
	var out []byte
	for _, d := range arr.Dims {
		out = strconv.AppendInt(append(out, '['), int64(d.Lower), 10)
		out = strconv.AppendInt(append(out, ':'), int64(d.Lower)+int64(d.Len)-1, 10)
		out = append(out, ']')
	}
	return bytesResult(out)
}

func arrayRemove(c *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullDatum, nil
	}
	arr := a[0].Array()
	if len(arr.Dims) > 1 {
		return types.Datum{}, errUnsupported("removing elements from multidimensional arrays is not supported")
	}
	eq := c.equality(arr.Elem)
	elems := arr.Elems(nil)
	kept := elems[:0]
	for _, d := range elems {
		if !eq(d, a[1]) {
			kept = append(kept, d)
		}
	}
	if len(kept) == arr.N {
		return a[0], nil
	}
	return c.makeArray(arr.Elem, kept, []types.ArrayDim{{Len: int32(len(kept)), Lower: arr.Dims[0].Lower}})
}

func arrayReplace(c *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullDatum, nil
	}
	arr := a[0].Array()
	eq := c.equality(arr.Elem)
	elems := arr.Elems(nil)
	for i, d := range elems {
		if eq(d, a[1]) {
			elems[i] = a[2]
		}
	}
	return c.makeArray(arr.Elem, elems, arr.Dims)
}

// intElems are the elements of a one-dimensional array of integers, for array_fill.
func intElems(d types.Datum, what string) ([]int32, error) {
	if d.Null {
		return nil, pgerr.New(pgerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
	}
	a := d.Array()
	if len(a.Dims) > 1 {
		return nil, errSubscript("wrong number of array subscripts").WithDetail("%s array must be one dimensional.", what)
	}
	if a.HasNulls() {
		return nil, pgerr.New(pgerr.NullValueNotAllowed, "dimension values cannot be null")
	}
	out := make([]int32, 0, a.N)
	for _, e := range a.Elems(nil) {
		out = append(out, int32(e.W))
	}
	return out, nil
}

func arrayFill(c *Context, a []types.Datum) (types.Datum, error) {
	lens, err := intElems(a[1], "Dimension")
	if err != nil {
		return types.Datum{}, err
	}
	if len(lens) > types.MaxArrayDims {
		return types.Datum{}, pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(lens), types.MaxArrayDims)
	}
	lowers := make([]int32, len(lens))
	for i := range lowers {
		lowers[i] = 1
	}
	if len(a) > 2 {
		if lowers, err = intElems(a[2], "Dimension"); err != nil {
			return types.Datum{}, err
		}
		if len(lowers) != len(lens) {
			return types.Datum{}, errSubscript("wrong number of array subscripts").WithDetail("Low bound array has different size than dimensions array.")
		}
	}
	dims := make([]types.ArrayDim, len(lens))
	n := 1
	for i := range dims {
		dims[i] = types.ArrayDim{Len: lens[i], Lower: lowers[i]}
	}
	if err := types.CheckArrayDims(dims); err != nil {
		return types.Datum{}, err
	}
	for _, d := range dims {
		n *= int(d.Len)
	}
	if len(dims) == 0 {
		n = 0
	}
	elems := make([]types.Datum, n)
	for i := range elems {
		elems[i] = a[0]
	}
	return c.makeArray(c.ArgType(0), elems, dims)
}

func arrayToText(c *Context, arr types.Array, sep []byte, null types.Datum) ([]byte, error) {
	out := []byte{}
	any := false
	it := arr.Iter()
	for d, ok := it.Next(); ok; d, ok = it.Next() {
		if d.Null && null.Null {
			continue
		}
		start := len(out)
		if err := checkGrow(start, len(sep)+textSize(arr.Elem, d)); err != nil {
			return nil, err
		}
		if any {
			out = append(out, sep...)
		}
		any = true
		if d.Null {
			out = append(out, null.B...)
		} else {
			out = types.Out(arr.Elem, d, out, c.Env)
		}
		if err := checkOut(out, start); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// splitText splits by a separator: null takes every character, the empty one nothing apart.
func splitText(text []byte, sep types.Datum) [][]byte {
	if len(text) == 0 {
		return nil
	}
	var out [][]byte
	switch {
	case sep.Null:
		for len(text) > 0 {
			n := stepRune(text)
			out = append(out, text[:n])
			text = text[n:]
		}
	case len(sep.B) == 0:
		out = append(out, text)
	default:
		out = bytes.Split(text, sep.B)
	}
	return out
}

// splitElems is splitText with pieces equal to the null string made null.
func splitElems(a []types.Datum) []types.Datum {
	elems := textElems(splitText(a[0].B, a[1]))
	if len(a) > 2 && !a[2].Null {
		for i := range elems {
			if bytes.Equal(elems[i].B, a[2].B) {
				elems[i] = types.NullDatum
			}
		}
	}
	return elems
}

func trimArray(c *Context, a []types.Datum) (types.Datum, error) {
	arr, n := a[0].Array(), a[1].Int64()
	size := int64(0)
	if len(arr.Dims) > 0 {
		size = int64(arr.Dims[0].Len)
	}
	if n < 0 || n > size {
		return types.Datum{}, pgerr.New(pgerr.ArrayElementError, "number of elements to trim must be between 0 and %d", size)
	}
	if size == 0 {
		return a[0], nil
	}
	dims := append([]types.ArrayDim(nil), arr.Dims...)
	for i := range dims {
		dims[i].Lower = 1 // a slice starts at one
	}
	dims[0].Len -= int32(n)
	keep := arr.N / int(size) * int(dims[0].Len)
	return c.makeArray(arr.Elem, arr.Elems(nil)[:keep], dims)
}

// arrayContains reports whether every element of b, none null, is in a.
func (c *Context) arrayContains(a, b types.Datum) (bool, error) {
	x, y := a.Array(), b.Array()
	if x.Elem != y.Elem {
		return false, errDatatypeMismatch("cannot compare arrays of different element types")
	}
	eq := c.equality(x.Elem)
	in := x.Elems(nil)
next:
	for _, d := range y.Elems(nil) {
		if d.Null {
			return false, nil
		}
		for _, e := range in {
			if !e.Null && eq(d, e) {
				continue next
			}
		}
		return false, nil
	}
	return true, nil
}

func (c *Context) arrayOverlap(a, b types.Datum) (bool, error) {
	x, y := a.Array(), b.Array()
	if x.Elem != y.Elem {
		return false, errDatatypeMismatch("cannot compare arrays of different element types")
	}
	eq := c.equality(x.Elem)
	in := x.Elems(nil)
	for _, d := range y.Elems(nil) {
		for _, e := range in {
			if !d.Null && !e.Null && eq(d, e) {
				return true, nil
			}
		}
	}
	return false, nil
}

func boolResult(ok bool, err error) (types.Datum, error) { return types.BoolDatum(ok), err }

func registerArray(r *registry) {
	r.fn("array_append", arrayAppend)
	r.fn("array_prepend", arrayPrepend)
	r.fn("array_cat", arrayCat)
	r.fn("array_position", arrayPosition)
	r.fn("array_position_start", arrayPosition)
	r.fn("array_positions", arrayPositions)
	r.fn("array_lower", bound(func(d types.ArrayDim) int32 { return d.Lower }))
	r.fn("array_upper", bound(func(d types.ArrayDim) int32 { return d.Lower + d.Len - 1 }))
	r.fn("array_length", bound(func(d types.ArrayDim) int32 { return d.Len }))
	r.fn("array_dims", arrayDims)
	r.fn("array_ndims", func(_ *Context, a []types.Datum) (types.Datum, error) {
		arr := a[0].Array()
		if len(arr.Dims) == 0 {
			return types.NullDatum, nil
		}
		return intResult(len(arr.Dims))
	})
	r.fn("array_cardinality", func(_ *Context, a []types.Datum) (types.Datum, error) {
		arr := a[0].Array()
		return intResult(arr.N)
	})
	r.fn("array_remove", arrayRemove)
	r.fn("array_replace", arrayReplace)
	r.fn("array_fill", arrayFill)
	r.fn("array_fill_with_lower_bounds", arrayFill)
	r.fn("trim_array", trimArray)
	r.fn("array_to_text", func(c *Context, a []types.Datum) (types.Datum, error) {
		b, err := arrayToText(c, a[0].Array(), a[1].B, types.NullDatum)
		return types.Datum{B: b}, err
	})
	r.fn("array_to_text_null", func(c *Context, a []types.Datum) (types.Datum, error) {
		if a[0].Null || a[1].Null {
			return types.NullDatum, nil
		}
		b, err := arrayToText(c, a[0].Array(), a[1].B, a[2])
		return types.Datum{B: b}, err
	})
	for _, name := range []string{"text_to_array", "text_to_array_null"} {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) {
			if a[0].Null {
				return types.NullDatum, nil
			}
			return types.MakeArray(types.Text, splitElems(a)), nil
		})
	}
	for _, name := range []string{"text_to_table", "text_to_table_null"} {
		r.set(name, func(_ *Context, a []types.Datum) (Set, error) {
			if a[0].Null {
				return &datumSet{}, nil
			}
			return &datumSet{values: cloneAll(splitElems(a))}, nil
		})
	}
	r.fn("arraycontains", func(c *Context, a []types.Datum) (types.Datum, error) { return boolResult(c.arrayContains(a[0], a[1])) })
	r.fn("arraycontained", func(c *Context, a []types.Datum) (types.Datum, error) { return boolResult(c.arrayContains(a[1], a[0])) })
	r.fn("arrayoverlap", func(c *Context, a []types.Datum) (types.Datum, error) { return boolResult(c.arrayOverlap(a[0], a[1])) })
	r.fn("oidvectortypes", func(c *Context, a []types.Datum) (types.Datum, error) {
		var out []byte
		arr := a[0].Array()
		for i, d := range arr.Elems(nil) {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = append(out, c.typeName(d.OID())...)
		}
		if out == nil {
			out = []byte{}
		}
		return bytesResult(out)
	})
}
