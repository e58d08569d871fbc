package fn

import (
	"math"
	"math/bits"

	"github.com/minipg/minipg/types"
)

// flatState is a flat aggregate as an ordinary one, for callers that go row by row.
type flatState struct {
	flat *FlatAgg
	st   []uint64
	args []*types.Vector
}

// flatAgg makes an aggregate whose every form is the flat one. It skips nulls.
func flatAgg(name string, f *FlatAgg) *Agg {
	return &Agg{
		Name: name, Flat: f, Strict: true,
		New: func(call *AggCall) AggState {
			s := &flatState{flat: f, st: make([]uint64, f.Words)}
			for _, t := range call.Args {
				v := types.NewVector(t, 1)
				s.args = append(s.args, &v)
			}
			return s
		},
	}
}

func (s *flatState) Step(_ *Context, args []types.Datum) error {
	for i := range s.args {
		s.args[i].Set(0, args[i])
	}
	return s.flat.Step(s.args, types.Rows{N: 1}, nil, s.st)
}

func (s *flatState) Final(*Context) (types.Datum, error) { return s.flat.Final(s.st) }

func (s *flatState) Combine(_ *Context, other AggState) error {
	return s.flat.Combine(s.st, other.(*flatState).st)
}

func (s *flatState) Size() int { return 64 + 8*len(s.st) }

// flatCount counts rows, or with an argument those where it is not null.
func flatCount() *FlatAgg {
	return &FlatAgg{
		Words: 1,
		Step: func(args []*types.Vector, rows types.Rows, groups []uint32, st []uint64) error {
			if len(args) == 0 {
				if groups == nil {
					st[0] += uint64(rows.Len())
					return nil
				}
				for _, g := range groups[:rows.Len()] {
					st[g]++
				}
				return nil
			}
			nulls, mask := args[0].Null, -1
			if args[0].Const {
				mask = 0
			}
			for k := range rows.Len() {
				if nulls[rows.At(k)&mask] {
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
		Combine: func(dst, src []uint64) error { dst[0] += src[0]; return nil },
	}
}

// wordStep makes a Step that calls one for each non-null word with its group's state.
func wordStep(words int, one func(st []uint64, w uint64)) func([]*types.Vector, types.Rows, []uint32, []uint64) error {
	return func(args []*types.Vector, rows types.Rows, groups []uint32, st []uint64) error {
		a := operandOf(args[0])
		if groups == nil {
			s := st[:words]
			for k := range rows.Len() {
				if i := rows.At(k) & a.mask; !a.null[i] {
					one(s, a.w[i])
				}
			}
			return nil
		}
		for k := range rows.Len() {
			if i := rows.At(k) & a.mask; !a.null[i] {
				at := int(groups[k]) * words
				one(st[at:at+words], a.w[i])
			}
		}
		return nil
	}
}

// sumIntStep is the loop of sum and avg over smallint and integer: a count and a sum that cannot overflow.
func sumIntStep(args []*types.Vector, rows types.Rows, groups []uint32, st []uint64) error {
	a := operandOf(args[0])
	if groups == nil {
		sum, n := st[1], st[0]
		if rows.Sel == nil && a.mask != 0 {
			for i, w := range a.w[:rows.N] {
				if !a.null[i] {
					sum += w
					n++
				}
			}
		} else {
			for k := range rows.Len() {
				if i := rows.At(k) & a.mask; !a.null[i] {
					sum += a.w[i]
					n++
				}
			}
		}
		st[1], st[0] = sum, n
		return nil
	}
	for k := range rows.Len() {
		if i := rows.At(k) & a.mask; !a.null[i] {
			g := int(groups[k]) * 2
			st[g]++
			st[g+1] += a.w[i]
		}
	}
	return nil
}

func addWords(dst, src []uint64) error {
	for i := range dst {
		dst[i] += src[i]
	}
	return nil
}

// flatSumInt is sum of smallint or integer: bigint.
func flatSumInt() *FlatAgg {
	return &FlatAgg{
		Words: 2, Step: sumIntStep, Combine: addWords,
		Final: func(st []uint64) (types.Datum, error) {
			if st[0] == 0 {
				return types.NullDatum, nil
			}
			return types.Datum{W: st[1]}, nil
		},
	}
}

// flatAvgInt is avg of smallint or integer: numeric.
func flatAvgInt() *FlatAgg {
	return &FlatAgg{
		Words: 2, Step: sumIntStep, Combine: addWords,
		Final: func(st []uint64) (types.Datum, error) {
			if st[0] == 0 {
				return types.NullDatum, nil
			}
			return numResult(types.NumFromInt64(int64(st[1])).Div(types.NumFromInt64(int64(st[0]))))
		},
	}
}

func numResult(n types.Num, err error) (types.Datum, error) {
	if err != nil {
		return types.Datum{}, err
	}
	return types.NumDatum(n), nil
}

// add128 adds a signed word to a 128-bit sum of two words, low first.
func add128(st []uint64, w uint64) {
	var carry uint64
	st[0], carry = bits.Add64(st[0], w, 0)
	st[1] += uint64(int64(w)>>63) + carry
}

func add128Step(st []uint64, w uint64) {
	st[2]++
	add128(st, w)
}

func combine128(dst, src []uint64) error {
	var carry uint64
	dst[0], carry = bits.Add64(dst[0], src[0], 0)
	dst[1] += src[1] + carry
	dst[2] += src[2]
	return nil
}

// flatSumInt8 is sum, or with avg the average, of bigint: numeric.
func flatSumInt8(avg bool) *FlatAgg {
	return &FlatAgg{
		Words: 3, Step: wordStep(3, add128Step), Combine: combine128,
		Final: func(st []uint64) (types.Datum, error) {
			if st[2] == 0 {
				return types.NullDatum, nil
			}
			sum := types.NumFromUint128(int64(st[1]), st[0])
			if !avg {
				return types.NumDatum(sum), nil
			}
			return numResult(sum.Div(types.NumFromInt64(int64(st[2]))))
		},
	}
}

// flatSumFloat is sum of real or double precision, with PostgreSQL's overflow error.
func flatSumFloat(single bool) *FlatAgg {
	add := func(st []uint64, w uint64) error {
		if st[0] == 0 {
			st[0], st[1] = 1, w
			return nil
		}
		a, b := math.Float64frombits(st[1]), math.Float64frombits(w)
		s := a + b
		if single {
			s = float64(float32(s))
		}
		if math.IsInf(s, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			return errOverflow()
		}
		st[1] = math.Float64bits(s)
		return nil
	}
	return &FlatAgg{
		Words: 2,
		Step:  checkedStep(2, add),
		Final: func(st []uint64) (types.Datum, error) {
			if st[0] == 0 {
				return types.NullDatum, nil
			}
			return types.Datum{W: st[1]}, nil
		},
		Combine: func(dst, src []uint64) error {
			if src[0] == 0 {
				return nil
			}
			return add(dst, src[1])
		},
	}
}

func checkedStep(words int, one func(st []uint64, w uint64) error) func([]*types.Vector, types.Rows, []uint32, []uint64) error {
	return func(args []*types.Vector, rows types.Rows, groups []uint32, st []uint64) error {
		a := operandOf(args[0])
		for k := range rows.Len() {
			i := rows.At(k) & a.mask
			if a.null[i] {
				continue
			}
			at := 0
			if groups != nil {
				at = int(groups[k]) * words
			}
			if err := one(st[at:at+words], a.w[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// flatAvgFloat is avg of floats: a count and a sum.
func flatAvgFloat() *FlatAgg {
	add := func(st []uint64, w uint64) error {
		st[0]++
		a, b := math.Float64frombits(st[1]), math.Float64frombits(w)
		s := a + b
		if math.IsInf(s, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			return errOverflow()
		}
		st[1] = math.Float64bits(s)
		return nil
	}
	return &FlatAgg{
		Words: 2,
		Step:  checkedStep(2, add),
		Final: func(st []uint64) (types.Datum, error) {
			if st[0] == 0 {
				return types.NullDatum, nil
			}
			return types.Float64Datum(math.Float64frombits(st[1]) / float64(st[0])), nil
		},
		Combine: func(dst, src []uint64) error {
			n := dst[0] + src[0]
			if err := add(dst, src[1]); err != nil {
				return err
			}
			dst[0] = n
			return nil
		},
	}
}

// flatPick keeps a word and replaces it when better says so: min, max, and with fold the bitwise and boolean aggregates.
func flatPick(fold func(have, w uint64) uint64) *FlatAgg {
	one := func(st []uint64, w uint64) {
		if st[0] == 0 {
			st[0], st[1] = 1, w
		} else {
			st[1] = fold(st[1], w)
		}
	}
	return &FlatAgg{
		Words: 2,
		Step:  wordStep(2, one),
		Final: func(st []uint64) (types.Datum, error) {
			if st[0] == 0 {
				return types.NullDatum, nil
			}
			return types.Datum{W: st[1]}, nil
		},
		Combine: func(dst, src []uint64) error {
			if src[0] != 0 {
				one(dst, src[1])
			}
			return nil
		},
	}
}

func maxSigned(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) }

func minSigned(a, b uint64) uint64 { return uint64(min(int64(a), int64(b))) }

func maxUnsigned(a, b uint64) uint64 { return max(a, b) }

func minUnsigned(a, b uint64) uint64 { return min(a, b) }

func maxFloat(a, b uint64) uint64 {
	if types.CompareFloat(math.Float64frombits(a), math.Float64frombits(b)) > 0 {
		return a
	}
	return b
}

func minFloat(a, b uint64) uint64 {
	if types.CompareFloat(math.Float64frombits(a), math.Float64frombits(b)) < 0 {
		return a
	}
	return b
}

// flatMinMaxSigned has its own loop for all rows into one group.
func flatMinMaxSigned(isMax bool) *FlatAgg {
	fold := minSigned
	if isMax {
		fold = maxSigned
	}
	f := flatPick(fold)
	general := f.Step
	f.Step = func(args []*types.Vector, rows types.Rows, groups []uint32, st []uint64) error {
		a := args[0]
		if groups != nil || rows.Sel != nil || a.Const {
			return general(args, rows, groups, st)
		}
		seen := st[0] != 0
		have := int64(st[1])
		for i, w := range a.W[:rows.N] {
			if a.Null[i] {
				continue
			}
			if v := int64(w); !seen || (isMax && v > have) || (!isMax && v < have) {
				have, seen = v, true
			}
		}
		if seen {
			st[0], st[1] = 1, uint64(have)
		}
		return nil
	}
	return f
}
