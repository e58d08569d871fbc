package fn

import (
	"bytes"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// pickState is min or max of any type: it keeps the value that wins, of equals the last, or for char(n) the first, as PostgreSQL's larger and
// smaller functions.
type pickState struct {
	have types.Datum
	set  bool
	sign int // 1 for max, -1 for min
	tie  int // 1 if the first of equals stays
	cmp  func(a, b types.Datum) int
	buf  []byte
}

func (s *pickState) Step(_ *Context, args []types.Datum) error {
	d := args[0]
	if s.set && s.cmp(s.have, d)*s.sign+s.tie > 0 {
		return nil
	}
	s.set = true
	if d.B == nil {
		s.have = d
		return nil
	}
	if bytes.Equal(s.buf, d.B) && s.have.B != nil {
		return nil
	}
	s.buf = append(s.buf[:0], d.B...)
	s.have = types.Datum{B: s.buf}
	return nil
}

func (s *pickState) Final(*Context) (types.Datum, error) {
	if !s.set {
		return types.NullDatum, nil
	}
	return s.have.Clone(), nil
}

func (s *pickState) Combine(c *Context, other AggState) error {
	o := other.(*pickState)
	if !o.set {
		return nil
	}
	return s.Step(c, []types.Datum{o.have})
}

func (s *pickState) Size() int { return 96 + cap(s.buf) }

func pickAgg(name string, sign int) *Agg {
	return &Agg{Name: name, Strict: true, New: func(call *AggCall) AggState {
		return &pickState{sign: sign, tie: b2i(call.Args[0] == types.Bpchar), cmp: types.Comparer(call.Args[0], call.Collation, call.Types)}
	}}
}

// foldState is an aggregate that combines its state and a value by a function of two.
type foldState struct {
	have types.Datum
	set  bool
	fold func(c *Context, a, b types.Datum) (types.Datum, error)
}

func (s *foldState) Step(c *Context, args []types.Datum) error {
	if !s.set {
		s.set, s.have = true, args[0].Clone()
		return nil
	}
	v, err := s.fold(c, s.have, args[0])
	s.have = v.Clone()
	return err
}

func (s *foldState) Final(*Context) (types.Datum, error) {
	if !s.set {
		return types.NullDatum, nil
	}
	return s.have, nil
}

func (s *foldState) Combine(c *Context, other AggState) error {
	if o := other.(*foldState); o.set {
		return s.Step(c, []types.Datum{o.have})
	}
	return nil
}

func (s *foldState) Size() int { return 96 + len(s.have.B) }

func foldAgg(name string, f Func) *Agg {
	return &Agg{Name: name, Strict: true, New: func(*AggCall) AggState {
		return &foldState{fold: func(c *Context, a, b types.Datum) (types.Datum, error) { return f(c, []types.Datum{a, b}) }}
	}}
}

// stringAgg joins values; the delimiter of the first does not show.
type stringAgg struct {
	buf   []byte
	first int // length of the first delimiter
	set   bool
}

func (s *stringAgg) Step(_ *Context, args []types.Datum) error {
	if args[0].Null {
		return nil
	}
	var delim []byte
	if !args[1].Null {
		delim = args[1].B
	}
	if !s.set {
		s.set, s.first = true, len(delim)
	}
	if err := checkGrow(len(s.buf), len(delim)+len(args[0].B)); err != nil {
		return err
	}
	s.buf = append(append(s.buf, delim...), args[0].B...)
	return nil
}

func (s *stringAgg) Final(*Context) (types.Datum, error) {
	if !s.set {
		return types.NullDatum, nil
	}
	return types.Datum{B: bytes.Clone(s.buf[s.first:])}, nil
}

func (s *stringAgg) Combine(_ *Context, other AggState) error {
	o := other.(*stringAgg)
	if !o.set {
		return nil
	}
	if !s.set {
		*s = *o
		return nil
	}
	if err := checkGrow(len(s.buf), len(o.buf)); err != nil {
		return err
	}
	s.buf = append(s.buf, o.buf...)
	return nil
}

func (s *stringAgg) Size() int { return 64 + cap(s.buf) }

// arrayAgg collects values, nulls included, into an array.
type arrayAgg struct {
	elem  types.OID
	types types.Types
	elems []types.Datum
	size  int
}

func (s *arrayAgg) Step(_ *Context, args []types.Datum) error {
	if len(s.elems) >= maxCollected {
		return errAlloc(2 * 8 * maxCollected)
	}
	d := args[0].Clone()
	s.elems = append(s.elems, d)
	s.size += len(d.B)
	return nil
}

func (s *arrayAgg) Final(*Context) (types.Datum, error) {
	if s.elems == nil {
		return types.NullDatum, nil
	}
	if err := checkArray(s.elems); err != nil {
		return types.Datum{}, err
	}
	return types.MakeArrayDims(s.elem, s.elems, []types.ArrayDim{{Len: int32(len(s.elems)), Lower: 1}}, s.types), nil
}

func (s *arrayAgg) Combine(_ *Context, other AggState) error {
	o := other.(*arrayAgg)
	s.elems = append(s.elems, o.elems...)
	s.size += o.size
	return nil
}

func (s *arrayAgg) Size() int { return 96 + 40*cap(s.elems) + s.size }

// arrayAggArray collects arrays of one shape into an array with one more dimension.
type arrayAggArray struct {
	arrayAgg
	dims  []types.ArrayDim
	count int32
}

func (s *arrayAggArray) Step(_ *Context, args []types.Datum) error {
	if args[0].Null {
		return pgerr.New(pgerr.NullValueNotAllowed, "cannot accumulate null arrays")
	}
	d := args[0].Clone()
	a := d.Array()
	if len(a.Dims) == 0 {
		return pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate empty arrays")
	}
	if s.count == 0 {
		if len(a.Dims)+1 > types.MaxArrayDims {
			return pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(a.Dims)+1, types.MaxArrayDims)
		}
		s.dims, s.elem = a.Dims, a.Elem
	} else if !sameDims(s.dims, a.Dims) {
		return pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
	}
	s.count++
	s.elems = a.Elems(s.elems)
	s.size += len(d.B)
	return nil
}

func sameDims(a, b []types.ArrayDim) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (s *arrayAggArray) Final(*Context) (types.Datum, error) {
	if s.count == 0 {
		return types.NullDatum, nil
	}
	dims := append([]types.ArrayDim{{Len: s.count, Lower: 1}}, s.dims...)
	if err := types.CheckArrayDims(dims); err != nil {
		return types.Datum{}, err
	}
	if err := checkArray(s.elems); err != nil {
		return types.Datum{}, err
	}
	return types.MakeArrayDims(s.elem, s.elems, dims, s.types), nil
}

func (s *arrayAggArray) Combine(c *Context, other AggState) error {
	o := other.(*arrayAggArray)
	if o.count == 0 {
		return nil
	}
	if s.count == 0 {
		*s = *o
		return nil
	}
	if !sameDims(s.dims, o.dims) {
		return pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
	}
	s.count += o.count
	return s.arrayAgg.Combine(c, &o.arrayAgg)
}

// intervalAvg is avg of intervals.
type intervalAvg struct {
	sum types.IntervalValue
	n   int64
}

func (s *intervalAvg) Step(_ *Context, args []types.Datum) (err error) {
	s.n++
	s.sum, err = addIntervals(s.sum, args[0].Interval())
	return err
}

func (s *intervalAvg) Final(*Context) (types.Datum, error) {
	if s.n == 0 {
		return types.NullDatum, nil
	}
	v, err := scaleInterval(s.sum, float64(s.n), true)
	return types.IntervalDatum(v), err
}

func (s *intervalAvg) Combine(_ *Context, other AggState) (err error) {
	o := other.(*intervalAvg)
	s.n += o.n
	s.sum, err = addIntervals(s.sum, o.sum)
	return err
}

func (s *intervalAvg) Size() int { return 48 }
