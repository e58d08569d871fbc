package exec

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// subscripting is a compiled SubscriptingRef.
type subscripting struct {
	elem   types.OID
	ts     types.Types
	slice  bool
	upper  []int // argument numbers of the subscripts; -1: left out
	lower  []int
	assign int // argument number of the new value; -1: none
}

func (c *compiler) subscript(e *analyze.SubscriptingRef) (*expr, error) {
	if c.elementType(e.Container.Type()) == 0 {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "subscripting of type %s is not supported",
			c.typeName(e.Container.Type(), -1))
	}
	s := &subscripting{elem: e.Elem, ts: c.types(), slice: e.Slice, assign: -1}
	var args []*expr
	add := func(e analyze.Expr) (int, error) {
		if e == nil {
			return -1, nil
		}
		x, err := c.expr(e)
		args = append(args, x)
		return len(args) - 1, err
	}
	if _, err := add(e.Container); err != nil {
		return nil, err
	}
	for _, list := range []struct {
		in  []analyze.Expr
		out *[]int
	}{{e.Upper, &s.upper}, {e.Lower, &s.lower}} {
		for _, b := range list.in {
			k, err := add(b)
			if err != nil {
				return nil, err
			}
			*list.out = append(*list.out, k)
		}
	}
	var err error
	if s.assign, err = add(e.Assign); err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	switch {
	case e.Container.Type() == types.Name && e.Slice:
		return nil, pgerr.New(pgerr.FeatureNotSupported, "slices of fixed-length arrays not implemented")
	case e.Container.Type() == types.Name && s.assign >= 0:
		return nil, pgerr.New(pgerr.FeatureNotSupported, "assignment to a character of a name is not supported")
	case e.Container.Type() == types.Name:
		return c.perRow(x, args, s.getNameByte), nil
	case s.assign >= 0 && e.Slice:
		return c.perRow(x, args, s.setSlice), nil
	case s.assign >= 0:
		return c.perRow(x, args, s.setElement), nil
	case e.Slice:
		return c.perRow(x, args, s.getSlice), nil
	}
	return c.perRow(x, args, s.getElement), nil
}

func (s *subscripting) getElement(args []types.Datum) (types.Datum, error) {
	if args[0].Null {
		return types.NullDatum, nil
	}
	var buf [types.MaxArrayDims]int32
	subs := buf[:0]
	for _, k := range s.upper {
		if args[k].Null {
			return types.NullDatum, nil
		}
		subs = append(subs, int32(args[k].Int64()))
	}
	a := args[0].Array()
	if len(subs) != len(a.Dims) {
		return types.NullDatum, nil
	}
	d, ok := a.Subscript(subs)
	if !ok {
		return types.NullDatum, nil
	}
	return d, nil
}

// nameLen is the bytes of a name, unused ones being zero.
const nameLen = 64

// getNameByte is a byte of a name, whose subscripts begin at 0, as a "char".
func (s *subscripting) getNameByte(args []types.Datum) (types.Datum, error) {
	if args[0].Null || len(s.upper) != 1 || args[s.upper[0]].Null {
		return types.NullDatum, nil
	}
	i := args[s.upper[0]].Int64()
	switch {
	case i < 0 || i >= nameLen:
		return types.NullDatum, nil
	case i >= int64(len(args[0].B)):
		return types.Datum{}, nil
	}
	return types.Datum{W: uint64(args[0].B[i])}, nil
}

// bound is a slice's bound: a given one, or the array's own.
func bound(args []types.Datum, k int, own int64) (v int64, null bool) {
	if k < 0 {
		return own, false
	}
	return args[k].Int64(), args[k].Null
}

func (s *subscripting) getSlice(args []types.Datum) (types.Datum, error) {
	if args[0].Null {
		return types.NullDatum, nil
	}
	a := args[0].Array()
	lo := make([]int64, len(a.Dims))
	hi := make([]int64, len(a.Dims))
	outside := len(a.Dims) < len(s.upper) || len(a.Dims) == 0
	for i := range s.upper {
		var own types.ArrayDim
		if i < len(a.Dims) {
			own = a.Dims[i]
		}
		l, lnull := bound(args, s.lower[i], int64(own.Lower))
		h, hnull := bound(args, s.upper[i], int64(own.Lower)+int64(own.Len)-1)
		if lnull || hnull {
			return types.NullDatum, nil
		}
		if i < len(a.Dims) {
			lo[i], hi[i] = l, h
		}
	}
	if outside {
		return types.EmptyArray(s.elem, s.ts), nil
	}
	dims := make([]types.ArrayDim, len(a.Dims))
	for i, d := range a.Dims {
		if i >= len(s.upper) {
			lo[i], hi[i] = int64(d.Lower), int64(d.Lower)+int64(d.Len)-1
		}
		lo[i] = max(lo[i], int64(d.Lower))
		hi[i] = min(hi[i], int64(d.Lower)+int64(d.Len)-1)
		if lo[i] > hi[i] {
			return types.EmptyArray(s.elem, s.ts), nil
		}
		dims[i] = types.ArrayDim{Len: int32(hi[i] - lo[i] + 1), Lower: 1}
	}
	all := a.Elems(nil)
	var elems []types.Datum
	eachIndex(lo, hi, func(at []int64) {
		elems = append(elems, all[flatIndex(a.Dims, at)])
	})
	return types.MakeArrayDims(s.elem, elems, dims, s.ts), nil
}

// eachIndex calls f for every set of subscripts within the bounds, the last one fastest.
func eachIndex(lo, hi []int64, f func(at []int64)) {
	at := append([]int64(nil), lo...)
	for {
		f(at)
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] <= hi[k] {
				break
			}
			at[k] = lo[k]
		}
		if k < 0 {
			return
		}
	}
}

func flatIndex(dims []types.ArrayDim, at []int64) int {
	n := int64(0)
	for i, d := range dims {
		n = n*int64(d.Len) + at[i] - int64(d.Lower)
	}
	return int(n)
}

func errSubscriptNull() error {
	return pgerr.New(pgerr.NullValueNotAllowed, "array subscript in assignment must not be null")
}

func errSubscriptRange() error {
	return pgerr.New(pgerr.ArraySubscriptError, "array subscript out of range")
}

func errSubscriptCount() error {
	return pgerr.New(pgerr.ArraySubscriptError, "wrong number of array subscripts")
}

// setElement is the array with one element replaced; a one-dimensional array grows to take it. Follows
// array_set_element.
func (s *subscripting) setElement(args []types.Datum) (types.Datum, error) {
	subs := make([]int64, len(s.upper))
	for i, k := range s.upper {
		if args[k].Null {
			return types.Datum{}, errSubscriptNull()
		}
		subs[i] = args[k].Int64()
	}
	var a types.Array
	if !args[0].Null {
		a = args[0].Array()
	}
	value := args[s.assign]
	if len(a.Dims) == 0 {
		dims := make([]types.ArrayDim, len(subs))
		for i, v := range subs {
			if v == math.MaxInt32 {
				return types.Datum{}, errSubscriptRange()
			}
			dims[i] = types.ArrayDim{Len: 1, Lower: int32(v)}
		}
		return types.MakeArrayDims(s.elem, []types.Datum{value}, dims, s.ts), nil
	}
	if len(a.Dims) != len(subs) {
		return types.Datum{}, errSubscriptCount()
	}
	dims := append([]types.ArrayDim(nil), a.Dims...)
	elems := a.Elems(nil)
	if len(dims) == 1 {
		var err error
		if elems, err = extend(&dims[0], elems, subs[0], subs[0]); err != nil {
			return types.Datum{}, err
		}
	} else {
		for i, d := range dims {
			if subs[i] < int64(d.Lower) || subs[i] >= int64(d.Lower)+int64(d.Len) {
				return types.Datum{}, errSubscriptRange()
			}
		}
	}
	elems[flatIndex(dims, subs)] = value
	return types.MakeArrayDims(s.elem, elems, dims, s.ts), nil
}

// extend makes a dimension reach from lo to hi at least; what lies between is null.
func extend(d *types.ArrayDim, elems []types.Datum, lo, hi int64) ([]types.Datum, error) {
	first, last := int64(d.Lower), int64(d.Lower)+int64(d.Len)-1
	newFirst, newLast := min(first, lo), max(last, hi)
	if newLast >= math.MaxInt32 || newLast-newFirst >= math.MaxInt32 {
		return nil, errSubscriptRange()
	}
	n := types.ArrayDim{Len: int32(newLast - newFirst + 1), Lower: int32(newFirst)}
	if err := types.CheckArrayDims([]types.ArrayDim{n}); err != nil {
		return nil, err
	}
	out := make([]types.Datum, 0, n.Len)
	for i := newFirst; i < first; i++ {
		out = append(out, types.NullDatum)
	}
	out = append(out, elems...)
	for i := last; i < newLast; i++ {
		out = append(out, types.NullDatum)
	}
	*d = n
	return out, nil
}

// setSlice is the array with a slice replaced. Follows array_set_slice.
func (s *subscripting) setSlice(args []types.Datum) (types.Datum, error) {
	if args[s.assign].Null {
		return args[0], nil
	}
	var a types.Array
	if !args[0].Null {
		a = args[0].Array()
	}
	src := args[s.assign].Array()
	n := len(s.upper)
	lo, hi := make([]int64, n), make([]int64, n)
	for i := range n {
		if (s.lower[i] < 0 || s.upper[i] < 0) && len(a.Dims) == 0 {
			return types.Datum{}, pgerr.New(pgerr.ArraySubscriptError, "array slice subscript must provide both boundaries").
				WithDetail("When assigning to a slice of an empty array value, slice boundaries must be fully specified.")
		}
		var own types.ArrayDim
		if i < len(a.Dims) {
			own = a.Dims[i]
		}
		var lnull, hnull bool
		lo[i], lnull = bound(args, s.lower[i], int64(own.Lower))
		hi[i], hnull = bound(args, s.upper[i], int64(own.Lower)+int64(own.Len)-1)
		if lnull || hnull {
			return types.Datum{}, errSubscriptNull()
		}
		if lo[i] > hi[i] {
			return types.Datum{}, pgerr.New(pgerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
		}
	}
	return s.replaceSlice(&a, &src, lo, hi)
}

func (s *subscripting) replaceSlice(a, src *types.Array, lo, hi []int64) (types.Datum, error) {
	size := int64(1)
	for i := range lo {
		size *= hi[i] - lo[i] + 1
	}
	values := src.Elems(nil)
	dims := append([]types.ArrayDim(nil), a.Dims...)
	elems := a.Elems(nil)
	switch {
	case len(dims) == 0:
		for i := range lo {
			dims = append(dims, types.ArrayDim{Len: int32(hi[i] - lo[i] + 1), Lower: int32(lo[i])})
		}
		if err := types.CheckArrayDims(dims); err != nil {
			return types.Datum{}, err
		}
		elems = make([]types.Datum, size)
	case len(dims) < len(lo) || len(lo) > types.MaxArrayDims:
		return types.Datum{}, errSubscriptCount()
	case len(dims) == 1:
		var err error
		if elems, err = extend(&dims[0], elems, lo[0], hi[0]); err != nil {
			return types.Datum{}, err
		}
	default:
		for i, d := range dims {
			if i >= len(lo) {
				lo, hi = append(lo, int64(d.Lower)), append(hi, int64(d.Lower)+int64(d.Len)-1)
				size *= int64(d.Len)
			}
			if lo[i] < int64(d.Lower) || hi[i] >= int64(d.Lower)+int64(d.Len) {
				return types.Datum{}, errSubscriptRange()
			}
		}
	}
	if int64(len(values)) < size {
		return types.Datum{}, pgerr.New(pgerr.ArraySubscriptError, "source array too small")
	}
	k := 0
	eachIndex(lo, hi, func(at []int64) {
		elems[flatIndex(dims, at)] = values[k]
		k++
	})
	return types.MakeArrayDims(s.elem, elems, dims, s.ts), nil
}
