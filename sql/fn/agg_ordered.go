package fn

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// sortedValues collects the one aggregated argument of an ordered-set aggregate, whose rows come sorted and without nulls.
type sortedValues struct {
	call  *AggCall
	elems []types.Datum
	size  int
	final func(s *sortedValues, c *Context) (types.Datum, error)
}

func (s *sortedValues) Step(_ *Context, args []types.Datum) error {
	if args[0].Null {
		return nil
	}
	d := args[0].Clone()
	s.elems = append(s.elems, d)
	s.size += len(d.B)
	return nil
}

func (s *sortedValues) Final(c *Context) (types.Datum, error) { return s.final(s, c) }

func (s *sortedValues) Combine(*Context, AggState) error {
	return pgerr.New(pgerr.InternalError, "ordered-set aggregates do not combine")
}

func (s *sortedValues) Size() int { return 96 + 40*cap(s.elems) + s.size }

func orderedAgg(name string, final func(s *sortedValues, c *Context) (types.Datum, error)) *Agg {
	return &Agg{Name: name, OrderedSet: true, Strict: true, New: func(call *AggCall) AggState {
		return &sortedValues{call: call, final: final}
	}}
}

func checkPercentile(p float64) error {
	if p < 0 || p > 1 || math.IsNaN(p) {
		return pgerr.New(pgerr.NumericValueOutOfRange, "percentile value %s is not between 0 and 1", formatG(p))
	}
	return nil
}

func (s *sortedValues) disc(p float64) types.Datum {
	n := int(math.Ceil(p * float64(len(s.elems))))
	return s.elems[max(n, 1)-1]
}

func (s *sortedValues) cont(c *Context, p float64) (types.Datum, error) {
	at := p * float64(len(s.elems)-1)
	lo, hi := int(math.Floor(at)), int(math.Ceil(at))
	a, b := s.elems[lo], s.elems[hi]
	if lo == hi {
		return a, nil
	}
	part := at - float64(lo)
	if s.call.Args[0] == types.Interval {
		diff, err := intervalSub(c, []types.Datum{b, a})
		if err != nil {
			return types.Datum{}, err
		}
		v, err := scaleInterval(diff.Interval(), part, false)
		if err != nil {
			return types.Datum{}, err
		}
		return intervalAdd(c, []types.Datum{types.IntervalDatum(v), a})
	}
	x, y := a.Float64(), b.Float64()
	return types.Float64Datum(x + part*(y-x)), nil
}

func percentile(disc bool) func(s *sortedValues, c *Context) (types.Datum, error) {
	return func(s *sortedValues, c *Context) (types.Datum, error) {
		d := s.call.Direct[0]
		if d.Null {
			return types.NullDatum, nil
		}
		if err := checkPercentile(d.Float64()); err != nil {
			return types.Datum{}, err
		}
		if len(s.elems) == 0 {
			return types.NullDatum, nil
		}
		if disc {
			return s.disc(d.Float64()), nil
		}
		return s.cont(c, d.Float64())
	}
}

func percentiles(disc bool) func(s *sortedValues, c *Context) (types.Datum, error) {
	return func(s *sortedValues, c *Context) (types.Datum, error) {
		if s.call.Direct[0].Null || len(s.elems) == 0 {
			return types.NullDatum, nil
		}
		a := s.call.Direct[0].Array()
		out := a.Elems(nil)
		for i, p := range out {
			if p.Null {
				continue
			}
			if err := checkPercentile(p.Float64()); err != nil {
				return types.Datum{}, err
			}
			if disc {
				out[i] = s.disc(p.Float64())
				continue
			}
			var err error
			if out[i], err = s.cont(c, p.Float64()); err != nil {
				return types.Datum{}, err
			}
		}
		return types.MakeArrayDims(s.call.Args[0], out, a.Dims, s.call.Types), nil
	}
}

// mode is the most frequent value, the first of equals in the sort's order.
func mode(s *sortedValues, _ *Context) (types.Datum, error) {
	if len(s.elems) == 0 {
		return types.NullDatum, nil
	}
	cmp := types.Comparer(s.call.Args[0], s.call.Collation, s.call.Types)
	best, bestN := 0, 0
	for i := 0; i < len(s.elems); {
		j := i + 1
		for j < len(s.elems) && cmp(s.elems[i], s.elems[j]) == 0 {
			j++
		}
		if j-i > bestN {
			best, bestN = i, j-i
		}
		i = j
	}
	return s.elems[best], nil
}

// hypothetical places its direct arguments among the rows: how many rows come before, how many are equal, how many distinct ones come before.
type hypothetical struct {
	call                          *AggCall
	cmps                          []func(a, b types.Datum) int
	rows, before, equal, distinct int64
	last                          []types.Datum
	final                         func(s *hypothetical) types.Datum
}

func (s *hypothetical) compare(a, b []types.Datum) int {
	for i := range s.cmps {
		c := 0
		switch {
		case a[i].Null && b[i].Null:
			continue
		case a[i].Null || b[i].Null:
			first := i < len(s.call.NullsFirst) && s.call.NullsFirst[i]
			if a[i].Null == first {
				return -1
			}
			return 1
		default:
			c = s.cmps[i](a[i], b[i])
		}
		if i < len(s.call.Desc) && s.call.Desc[i] {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func (s *hypothetical) Step(_ *Context, args []types.Datum) error {
	s.rows++
	switch c := s.compare(args, s.call.Direct); {
	case c < 0:
		s.before++
		if s.last == nil || s.compare(s.last, args) != 0 {
			s.distinct++
			s.last = s.last[:0]
			for _, d := range args {
				s.last = append(s.last, d.Clone())
			}
		}
	case c == 0:
		s.equal++
	}
	return nil
}

func (s *hypothetical) Final(*Context) (types.Datum, error) { return s.final(s), nil }

func (s *hypothetical) Combine(*Context, AggState) error {
	return pgerr.New(pgerr.InternalError, "hypothetical-set aggregates do not combine")
}

func (s *hypothetical) Size() int { return 160 }

func hypotheticalAgg(name string, final func(s *hypothetical) types.Datum) *Agg {
	return &Agg{Name: name, OrderedSet: true, Hypothetical: true, New: func(call *AggCall) AggState {
		s := &hypothetical{call: call, final: final}
		for _, t := range call.Args {
			s.cmps = append(s.cmps, types.Comparer(t, call.Collation, call.Types))
		}
		return s
	}}
}

func registerOrdered(r *registry) {
	r.aggs[3984] = orderedAgg("mode", mode)
	r.aggs[3972] = orderedAgg("percentile_disc", percentile(true))
	r.aggs[3978] = orderedAgg("percentile_disc", percentiles(true))
	for _, oid := range []types.OID{3974, 3976} {
		r.aggs[oid] = orderedAgg("percentile_cont", percentile(false))
	}
	for _, oid := range []types.OID{3980, 3982} {
		r.aggs[oid] = orderedAgg("percentile_cont", percentiles(false))
	}
	r.aggs[3986] = hypotheticalAgg("rank", func(s *hypothetical) types.Datum { return types.Int64Datum(s.before + 1) })
	r.aggs[3992] = hypotheticalAgg("dense_rank", func(s *hypothetical) types.Datum { return types.Int64Datum(s.distinct + 1) })
	r.aggs[3988] = hypotheticalAgg("percent_rank", func(s *hypothetical) types.Datum {
		if s.rows == 0 {
			return types.Float64Datum(0)
		}
		return types.Float64Datum(float64(s.before) / float64(s.rows))
	})
	r.aggs[3990] = hypotheticalAgg("cume_dist", func(s *hypothetical) types.Datum {
		return types.Float64Datum(float64(s.before+s.equal+1) / float64(s.rows+1))
	})
}
