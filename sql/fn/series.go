package fn

import (
	"math"

	"github.com/minipg/minipg/types"
)

func errStep() error { return errParameter("step size cannot equal zero") }

// intSeries is generate_series of integers; it stops where the next value would leave the type.
type intSeries struct {
	next, stop, step int64
	done             bool
	max, min         int64
}

func (s *intSeries) over() bool {
	return s.done || (s.step > 0 && s.next > s.stop) || (s.step < 0 && s.next < s.stop)
}

func (s *intSeries) advance() {
	v, ok := addInts(s.next, s.step)
	if !ok || v > s.max || v < s.min {
		s.done = true
		return
	}
	s.next = v
}

func (s *intSeries) Next(_ *Context, row []types.Datum) (bool, error) {
	if s.over() {
		return false, nil
	}
	row[0] = types.Int64Datum(s.next)
	s.advance()
	return true, nil
}

func (s *intSeries) NextVec(_ *Context, out []types.Vector, limit int) (int, error) {
	w, null := out[0].W, out[0].Null
	n := 0
	for ; n < limit && !s.over(); n++ {
		w[n], null[n] = uint64(s.next), false
		s.advance()
	}
	return n, nil
}

func intSeriesOf(t *intType) SRF {
	return func(_ *Context, a []types.Datum) (Set, error) {
		s := &intSeries{next: a[0].Int64(), stop: a[1].Int64(), step: 1, max: t.max, min: t.min}
		if len(a) > 2 {
			if s.step = a[2].Int64(); s.step == 0 {
				return nil, errStep()
			}
		}
		return s, nil
	}
}

// numSeries is generate_series of numerics.
type numSeries struct {
	next, stop, step types.Num
}

func (s *numSeries) Next(_ *Context, row []types.Datum) (bool, error) {
	c := s.next.Cmp(s.stop)
	if (s.step.Sign() > 0 && c > 0) || (s.step.Sign() < 0 && c < 0) {
		return false, nil
	}
	row[0] = types.NumDatum(s.next)
	var err error
	s.next, err = s.next.Add(s.step)
	return true, err
}

func numericSeries(_ *Context, a []types.Datum) (Set, error) {
	s := &numSeries{next: a[0].Num(), stop: a[1].Num(), step: types.NumFromInt64(1)}
	if len(a) > 2 {
		s.step = a[2].Num()
	}
	for _, v := range []struct {
		n    types.Num
		name string
	}{{s.next, "start value"}, {s.stop, "stop value"}, {s.step, "step size"}} {
		if v.n.IsNaN() {
			return nil, errParameter("%s cannot be NaN", v.name)
		}
		if v.n.IsInf() {
			return nil, errParameter("%s cannot be infinity", v.name)
		}
	}
	if s.step.Sign() == 0 {
		return nil, errStep()
	}
	return s, nil
}

// timeSeries is generate_series of timestamps, with zone of timestamptz.
type timeSeries struct {
	next, stop int64
	step       types.IntervalValue
	sign       int
	zoned      bool
}

func (s *timeSeries) Next(c *Context, row []types.Datum) (bool, error) {
	if (s.sign > 0 && s.next > s.stop) || (s.sign < 0 && s.next < s.stop) {
		return false, nil
	}
	row[0] = types.Int64Datum(s.next)
	var err error
	if s.zoned {
		s.next, err = timestamptzPlus(s.next, s.step, c.location())
	} else {
		s.next, err = timestampPlus(s.next, s.step)
	}
	return true, err
}

func timeSeriesOf(zoned bool) SRF {
	return func(_ *Context, a []types.Datum) (Set, error) {
		s := &timeSeries{next: a[0].Int64(), stop: a[1].Int64(), step: a[2].Interval(), zoned: zoned}
		if s.sign = types.CompareInterval(s.step, types.IntervalValue{}); s.sign == 0 {
			return nil, errStep()
		}
		return s, nil
	}
}

// unnestSet gives the elements of an array.
type unnestSet struct {
	arr types.Array
	it  types.ArrayIter
}

func (s *unnestSet) Next(_ *Context, row []types.Datum) (bool, error) {
	d, ok := s.it.Next()
	if ok {
		row[0] = d
	}
	return ok, nil
}

func unnest(_ *Context, a []types.Datum) (Set, error) {
	// The set outlives the row that the array came from.
	s := &unnestSet{arr: a[0].Clone().Array()}
	s.it = s.arr.Iter()
	return s, nil
}

func generateSubscripts(_ *Context, a []types.Datum) (Set, error) {
	arr, n := a[0].Array(), a[1].Int64()
	if n < 1 || n > int64(len(arr.Dims)) {
		return &datumSet{}, nil
	}
	d := arr.Dims[n-1]
	s := &intSeries{next: int64(d.Lower), stop: int64(d.Lower) + int64(d.Len) - 1, step: 1, max: math.MaxInt32, min: math.MinInt32}
	if len(a) > 2 && a[2].Bool() {
		s.next, s.stop, s.step = s.stop, s.next, -1
	}
	return s, nil
}

func registerSeries(r *registry) {
	r.set("generate_series_int4", intSeriesOf(int4Type))
	r.set("generate_series_step_int4", intSeriesOf(int4Type))
	r.set("generate_series_int8", intSeriesOf(int8Type))
	r.set("generate_series_step_int8", intSeriesOf(int8Type))
	r.set("generate_series_numeric", numericSeries)
	r.set("generate_series_step_numeric", numericSeries)
	r.set("generate_series_timestamp", timeSeriesOf(false))
	r.set("generate_series_timestamptz", timeSeriesOf(true))
	r.set("array_unnest", unnest)
	r.set("generate_subscripts", generateSubscripts)
	r.set("generate_subscripts_nodir", generateSubscripts)
}
