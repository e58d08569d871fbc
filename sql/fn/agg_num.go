package fn

import (
	"math"

	"github.com/minipg/minipg/types"
)

// numSum is the sum of numerics with its special values counted apart, so that NaN and infinities need no order.
type numSum struct {
	n               int64
	nan, pinf, ninf int64
	scale           int // the largest seen, which is the result's
	sum             types.Num
	small           int64 // added in at smallScale, not yet in sum
	smallScale      int
	squares         bool
	sumSq           types.Num
}

func (s *numSum) add(d types.Datum) error {
	s.n++
	if c, scale, ok := types.SmallFromStore(d.B); ok && !s.squares {
		s.scale = max(s.scale, scale)
		if scale == s.smallScale {
			if v, ok := addInts(s.small, c); ok {
				s.small = v
				return nil
			}
		}
		if err := s.flush(); err != nil {
			return err
		}
		s.small, s.smallScale = c, scale
		return nil
	}
	return s.addNum(d.Num())
}

// flush moves the word into the sum.
func (s *numSum) flush() error {
	if s.small == 0 {
		return nil
	}
	v, err := s.sum.Add(types.NumFromScaled(s.small, s.smallScale))
	s.sum, s.small = v, 0
	return err
}

func (s *numSum) addNum(v types.Num) (err error) {
	switch {
	case v.IsNaN():
		s.nan++
		return nil
	case v.IsInf():
		if v.Sign() > 0 {
			s.pinf++
		} else {
			s.ninf++
		}
		return nil
	}
	s.scale = max(s.scale, v.Scale())
	if s.sum, err = s.sum.Add(v); err != nil || !s.squares {
		return err
	}
	sq, err := v.Mul(v)
	if err != nil {
		return err
	}
	s.sumSq, err = s.sumSq.Add(sq)
	return err
}

func (s *numSum) combine(o *numSum) error {
	s.n += o.n
	s.nan += o.nan
	s.pinf += o.pinf
	s.ninf += o.ninf
	s.scale = max(s.scale, o.scale)
	if err := o.flush(); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	var err error
	if s.sum, err = s.sum.Add(o.sum); err != nil || !s.squares {
		return err
	}
	s.sumSq, err = s.sumSq.Add(o.sumSq)
	return err
}

// special is the result that NaN and infinities force.
func (s *numSum) special() (types.Num, bool) {
	switch {
	case s.nan > 0, s.pinf > 0 && s.ninf > 0:
		return types.NumNaN, true
	case s.pinf > 0:
		return types.NumPosInf, true
	case s.ninf > 0:
		return types.NumNegInf, true
	}
	return types.Num{}, false
}

type numSumState struct {
	numSum
	avg bool
}

func (s *numSumState) Step(_ *Context, args []types.Datum) error { return s.add(args[0]) }

func (s *numSumState) Final(*Context) (types.Datum, error) {
	if s.n == 0 {
		return types.NullDatum, nil
	}
	if v, ok := s.special(); ok {
		return types.NumDatum(v), nil
	}
	if err := s.flush(); err != nil {
		return types.Datum{}, err
	}
	sum := s.sum
	if sum.Scale() < s.scale {
		sum = sum.Round(s.scale)
	}
	if s.avg {
		return numResult(sum.Div(types.NumFromInt64(s.n)))
	}
	return types.NumDatum(sum), nil
}

func (s *numSumState) Combine(_ *Context, other AggState) error {
	return s.combine(&other.(*numSumState).numSum)
}

func (s *numSumState) Size() int { return 192 }

// spread says which of the variances and deviations an aggregate is.
type spread struct {
	sample, sqrt bool
}

// numSpreadState is the variance and deviation of numerics and of integers, computed exactly.
type numSpreadState struct {
	numSum
	spread
	ints bool
}

func (s *numSpreadState) Step(_ *Context, args []types.Datum) error {
	s.n++
	if s.ints {
		return s.addNum(types.NumFromInt64(args[0].Int64()))
	}
	return s.addNum(args[0].Num())
}

func (s *numSpreadState) Final(*Context) (types.Datum, error) {
	if s.n == 0 || (s.sample && s.n == 1) {
		return types.NullDatum, nil
	}
	if s.nan > 0 || s.pinf > 0 || s.ninf > 0 {
		return types.NumDatum(types.NumNaN), nil
	}
	n := types.NumFromInt64(s.n)
	m := n
	if s.sample {
		m = types.NumFromInt64(s.n - 1)
	}
	sum, sumSq := s.sum.Round(s.scale), s.sumSq.Round(2*s.scale)
	a, err := n.Mul(sumSq)
	if err != nil {
		return types.Datum{}, err
	}
	b, err := sum.Mul(sum)
	if err != nil {
		return types.Datum{}, err
	}
	num, err := a.Sub(b)
	if err != nil {
		return types.Datum{}, err
	}
	if num.Sign() <= 0 {
		return types.NumDatum(types.Num{}), nil
	}
	den, err := n.Mul(m)
	if err != nil {
		return types.Datum{}, err
	}
	scale := num.DivScale(den)
	v := num.DivTo(den, scale)
	if s.sqrt {
		v = v.SqrtTo(scale)
	}
	return types.NumDatum(v), nil
}

func (s *numSpreadState) Combine(_ *Context, other AggState) error {
	return s.combine(&other.(*numSpreadState).numSum)
}

func (s *numSpreadState) Size() int { return 256 }

// floatSpread keeps count, sum and sum of squared deviations by the method of Youngs and Cramer, as PostgreSQL's float8_accum.
type floatSpread struct {
	spread
	n, sx, sxx float64
}

func (s *floatSpread) Step(_ *Context, args []types.Datum) error {
	v := args[0].Float64()
	was := s.sx
	s.n++
	s.sx += v
	if s.n > 1 {
		t := v*s.n - s.sx
		s.sxx += t * t / (s.n * (s.n - 1))
		if math.IsInf(s.sx, 0) || math.IsInf(s.sxx, 0) {
			if !math.IsInf(was, 0) && !math.IsInf(v, 0) {
				return errOverflow()
			}
			s.sxx = math.NaN()
		}
	} else if math.IsNaN(v) || math.IsInf(v, 0) {
		// The first value's own deviation is not zero but unknown.
		s.sxx = math.NaN()
	}
	return nil
}

func (s *floatSpread) Combine(_ *Context, other AggState) error {
	o := other.(*floatSpread)
	switch {
	case o.n == 0:
		return nil
	case s.n == 0:
		s.n, s.sx, s.sxx = o.n, o.sx, o.sxx
		return nil
	}
	n := s.n + o.n
	t := s.sx/s.n - o.sx/o.n
	s.sxx += o.sxx + s.n*o.n*t*t/n
	s.sx += o.sx
	s.n = n
	if math.IsInf(s.sxx, 0) || math.IsInf(s.sx, 0) {
		return errOverflow()
	}
	return nil
}

func (s *floatSpread) Final(*Context) (types.Datum, error) {
	n := s.n
	if s.sample {
		n--
	}
	if n <= 0 {
		return types.NullDatum, nil
	}
	v := s.sxx / n
	if s.sqrt {
		v = math.Sqrt(v)
	}
	return types.Float64Datum(v), nil
}

func (s *floatSpread) Size() int { return 64 }

// regression is the state of corr, covar and regr aggregates over pairs (Y, X).
type regression struct {
	n, sx, sxx, sy, syy, sxy float64
	final                    func(*regression) types.Datum
}

func (s *regression) Step(_ *Context, args []types.Datum) error {
	y, x := args[0].Float64(), args[1].Float64()
	wasX, wasY := s.sx, s.sy
	s.n++
	s.sx += x
	s.sy += y
	if s.n > 1 {
		tx, ty := x*s.n-s.sx, y*s.n-s.sy
		scale := 1 / (s.n * (s.n - 1))
		s.sxx += tx * tx * scale
		s.syy += ty * ty * scale
		s.sxy += tx * ty * scale
		if math.IsInf(s.sx, 0) || math.IsInf(s.sxx, 0) || math.IsInf(s.sy, 0) || math.IsInf(s.syy, 0) || math.IsInf(s.sxy, 0) {
			finiteX := !math.IsInf(wasX, 0) && !math.IsInf(x, 0)
			finiteY := !math.IsInf(wasY, 0) && !math.IsInf(y, 0)
			if ((math.IsInf(s.sx, 0) || math.IsInf(s.sxx, 0)) && finiteX) || ((math.IsInf(s.sy, 0) || math.IsInf(s.syy, 0)) && finiteY) ||
				(math.IsInf(s.sxy, 0) && finiteX && finiteY) {
				return errOverflow()
			}
			for _, p := range []*float64{&s.sxx, &s.syy, &s.sxy} {
				if math.IsInf(*p, 0) {
					*p = math.NaN()
				}
			}
		}
		return nil
	}
	if special(x) {
		s.sxx, s.sxy = math.NaN(), math.NaN()
	}
	if special(y) {
		s.syy, s.sxy = math.NaN(), math.NaN()
	}
	return nil
}

func special(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

func (s *regression) Combine(_ *Context, other AggState) error {
	o := other.(*regression)
	switch {
	case o.n == 0:
		return nil
	case s.n == 0:
		f := s.final
		*s = *o
		s.final = f
		return nil
	}
	n := s.n + o.n
	tx, ty := s.sx/s.n-o.sx/o.n, s.sy/s.n-o.sy/o.n
	w := s.n * o.n / n
	s.sxx += o.sxx + w*tx*tx
	s.syy += o.syy + w*ty*ty
	s.sxy += o.sxy + w*tx*ty
	s.sx += o.sx
	s.sy += o.sy
	s.n = n
	if math.IsInf(s.sxx, 0) || math.IsInf(s.syy, 0) || math.IsInf(s.sxy, 0) {
		return errOverflow()
	}
	return nil
}

func (s *regression) Final(*Context) (types.Datum, error) { return s.final(s), nil }

func (s *regression) Size() int { return 96 }

// regressions are the final functions by the OID of the aggregate; least is how few pairs make the result null.
var regressions = []struct {
	oid   types.OID
	name  string
	least float64
	value func(s *regression) float64
}{
	{2829, "corr", 1, func(s *regression) float64 { return s.sxy / math.Sqrt(s.sxx*s.syy) }},
	{2827, "covar_pop", 1, func(s *regression) float64 { return s.sxy / s.n }},
	{2828, "covar_samp", 2, func(s *regression) float64 { return s.sxy / (s.n - 1) }},
	{2822, "regr_avgx", 1, func(s *regression) float64 { return s.sx / s.n }},
	{2823, "regr_avgy", 1, func(s *regression) float64 { return s.sy / s.n }},
	{2826, "regr_intercept", 1, func(s *regression) float64 { return (s.sy - s.sx*s.sxy/s.sxx) / s.n }},
	{2824, "regr_r2", 1, func(s *regression) float64 { return s.sxy * s.sxy / (s.sxx * s.syy) }},
	{2825, "regr_slope", 1, func(s *regression) float64 { return s.sxy / s.sxx }},
	{2819, "regr_sxx", 1, func(s *regression) float64 { return s.sxx }},
	{2821, "regr_sxy", 1, func(s *regression) float64 { return s.sxy }},
	{2820, "regr_syy", 1, func(s *regression) float64 { return s.syy }},
}

// regressionNull says when a result is null although there are pairs: a vertical or horizontal line.
func regressionNull(name string, s *regression) (types.Datum, bool) {
	switch name {
	case "corr":
		return types.NullDatum, s.sxx == 0 || s.syy == 0
	case "regr_intercept", "regr_slope":
		return types.NullDatum, s.sxx == 0
	case "regr_r2":
		if s.sxx != 0 && s.syy == 0 {
			return types.Float64Datum(1), true
		}
		return types.NullDatum, s.sxx == 0
	}
	return types.Datum{}, false
}

func registerRegressions(r *registry) {
	for _, g := range regressions {
		final := func(s *regression) types.Datum {
			if s.n < g.least {
				return types.NullDatum
			}
			if d, ok := regressionNull(g.name, s); ok {
				return d
			}
			return types.Float64Datum(g.value(s))
		}
		r.aggs[g.oid] = &Agg{Name: g.name, Strict: true, New: func(*AggCall) AggState { return &regression{final: final} }}
	}
	count := &FlatAgg{
		Words: 1,
		Step: func(args []*types.Vector, rows types.Rows, groups []uint32, st []uint64) error {
			a, b := operandOf(args[0]), operandOf(args[1])
			for k := range rows.Len() {
				i := rows.At(k)
				if a.null[i&a.mask] || b.null[i&b.mask] {
					continue
				}
				if groups == nil {
					st[0]++
				} else {
					st[groups[k]]++
				}
			}
			return nil
		},
		Final:   func(st []uint64) (types.Datum, error) { return types.Datum{W: st[0]}, nil },
		Combine: addWords,
	}
	r.aggs[2818] = flatAgg("regr_count", count)
}
