package exec

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// frameBounds is the compiled frame clause.
type frameBounds struct {
	spec       *frameSpec
	start, end *expr // offsets, nil without
	// Of RANGE with an offset: the order column and how to move a value of it.
	col        int
	desc       bool
	nullsFirst bool
	move       [2]*rangeMove // by start and end
}

// rangeMove adds an offset to, or subtracts it from, an order value; both are then compared as typ.
type rangeMove struct {
	typ      types.OID
	add, sub *callSite
	widen    *callSite // nil: order values are of typ
	negative func(d types.Datum) bool
	compare  func(a, b types.Datum) int
}

func (c *compiler) frameBounds(n *plan.WindowAgg, in []vecSpec) (*frameBounds, error) {
	b := &frameBounds{}
	s := newScope()
	b.spec = s.spec
	err := c.in(s, func() error {
		for side, e := range []analyze.Expr{n.Frame.StartOffset, n.Frame.EndOffset} {
			if e == nil {
				continue
			}
			x, err := c.expr(e)
			if err != nil {
				return err
			}
			if side == 0 {
				b.start = x
			} else {
				b.end = x
			}
			if n.Frame.Mode != analyze.FrameRange {
				continue
			}
			if len(n.Order) != 1 {
				return pgerr.New(pgerr.WindowingError,
					"RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
			}
			k := n.Order[0]
			b.col, b.desc, b.nullsFirst = k.Column, k.Desc, k.NullsFirst
			if b.move[side], err = c.rangeMove(in[k.Column].typ, x.typ); err != nil {
				return err
			}
		}
		return nil
	})
	return b, err
}

// rangeArithmetic gives, per type of order column, the type it moves in, and the functions by pg_proc.prosrc.
var rangeArithmetic = map[types.OID]struct {
	offset, result  types.OID
	add, sub, widen string
}{
	types.Float4:      {types.Float8, types.Float8, "float8pl", "float8mi", ""},
	types.Float8:      {types.Float8, types.Float8, "float8pl", "float8mi", ""},
	types.Numeric:     {types.Numeric, types.Numeric, "numeric_add", "numeric_sub", ""},
	types.Date:        {types.Interval, types.Timestamp, "timestamp_pl_interval", "timestamp_mi_interval", "date_timestamp"},
	types.Timestamp:   {types.Interval, types.Timestamp, "timestamp_pl_interval", "timestamp_mi_interval", ""},
	types.Timestamptz: {types.Interval, types.Timestamptz, "timestamptz_pl_interval", "timestamptz_mi_interval", ""},
	types.Interval:    {types.Interval, types.Interval, "interval_pl", "interval_mi", ""},
}

func (c *compiler) rangeMove(order, offset types.OID) (*rangeMove, error) {
	if keyFamily(order) == types.Int8 && keyFamily(offset) == types.Int8 {
		return &rangeMove{
			typ: types.Int8, negative: func(d types.Datum) bool { return d.Int64() < 0 },
			compare: types.Comparer(types.Int8, 0, nil),
		}, nil
	}
	a, ok := rangeArithmetic[order]
	if !ok || a.offset != offset && !(a.offset == types.Float8 && offset == types.Float4) {
		return nil, pgerr.New(pgerr.FeatureNotSupported,
			"RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s",
			c.typeName(order, -1), c.typeName(offset, -1))
	}
	m := &rangeMove{typ: a.result, compare: types.Comparer(a.result, 0, nil)}
	zero := zeroOf(offset)
	cmp := types.Comparer(offset, 0, nil)
	m.negative = func(d types.Datum) bool { return cmp(d, zero) < 0 }
	var err error
	site := func(src string, args ...types.OID) *callSite {
		b, ok := fn.Lookup(src)
		if !ok || b.Func == nil {
			err = pgerr.New(pgerr.FeatureNotSupported, "function %s is not supported", src)
			return nil
		}
		return &callSite{
			call:   c.spec.call(fn.Call{Args: args, Result: a.result}),
			datums: c.spec.args(len(args)), strict: true, fn: b.Func,
		}
	}
	m.add, m.sub = site(a.add, a.result, offset), site(a.sub, a.result, offset)
	if a.widen != "" {
		m.widen = site(a.widen, order)
	}
	return m, err
}

func zeroOf(t types.OID) types.Datum {
	switch t {
	case types.Numeric:
		return types.NumDatum(types.NumFromInt64(0))
	case types.Interval:
		return types.BytesDatum(make([]byte, 16))
	}
	return types.Datum{}
}

// boundsState finds frames. Within a partition both ends only move forward.
type boundsState struct {
	n          *windowNode
	b          *frameBounds
	f          *frame
	start, end types.Datum // offsets
	lo, hi     int         // where the RANGE ends stand
}

func newBoundsState(rt *runtime, n *windowNode) *boundsState {
	return &boundsState{n: n, b: n.bounds, f: newFrame(rt, n.bounds.spec)}
}

func (s *boundsState) reset() { s.lo, s.hi = 0, 0 }

// offset evaluates one offset and checks it.
func (s *boundsState) offset(x *expr, which string, m *rangeMove) (types.Datum, error) {
	if x == nil {
		return types.Datum{}, nil
	}
	d, err := s.f.scalar(x)
	if err != nil {
		return d, err
	}
	d = d.Clone()
	switch {
	case d.Null:
		return d, errFrameOffset(which, true)
	case m != nil && m.negative(d):
		return d, pgerr.New(pgerr.InvalidPrecedingOrFollowingSize,
			"invalid preceding or following size in window function")
	case m == nil && d.Int64() < 0:
		return d, errFrameOffset(which, false)
	}
	return d, nil
}

func (s *boundsState) begin() error {
	s.f.begin()
	var err error
	if s.start, err = s.offset(s.b.start, "starting", s.b.move[0]); err != nil {
		return err
	}
	s.end, err = s.offset(s.b.end, "ending", s.b.move[1])
	return err
}

// frame sets the current row's frame.
func (s *boundsState) frame(p *partition) error {
	fr := &s.n.frame
	var err error
	switch fr.Mode {
	case analyze.FrameRows:
		p.start = rowsBound(p, fr.Start, s.start, 0)
		p.end = rowsBound(p, fr.End, s.end, 1)
	case analyze.FrameGroups:
		p.start = groupsBound(p, fr.Start, s.start, 0)
		p.end = groupsBound(p, fr.End, s.end, 1)
	default:
		if p.start, err = s.rangeBound(p, fr.Start, 0); err != nil {
			return err
		}
		if p.end, err = s.rangeBound(p, fr.End, 1); err != nil {
			return err
		}
	}
	p.end = max(p.end, p.start)
	return nil
}

// clampAdd moves a row or group number by an offset of any size.
func clampAdd(at int, offset int64, sign int64, limit int) int {
	if offset > math.MaxInt32 {
		offset = math.MaxInt32 * 2
	}
	return int(min(max(int64(at)+sign*offset, 0), int64(limit)))
}

// rowsBound is one end of a ROWS frame; add is 1 for the end, which is exclusive.
func rowsBound(p *partition, b analyze.FrameBound, offset types.Datum, add int) int {
	switch b {
	case analyze.UnboundedPreceding:
		return 0
	case analyze.UnboundedFollowing:
		return p.n
	case analyze.OffsetPreceding:
		return clampAdd(p.row+add, offset.Int64(), -1, p.n)
	case analyze.OffsetFollowing:
		return clampAdd(p.row+add, offset.Int64(), 1, p.n)
	}
	return p.row + add
}

func groupsBound(p *partition, b analyze.FrameBound, offset types.Datum, add int) int {
	switch b {
	case analyze.UnboundedPreceding:
		return 0
	case analyze.UnboundedFollowing:
		return p.n
	case analyze.OffsetPreceding:
		return p.groupStart(clampAdd(p.group+add, offset.Int64(), -1, len(p.groups)))
	case analyze.OffsetFollowing:
		return p.groupStart(clampAdd(p.group+add, offset.Int64(), 1, len(p.groups)))
	}
	return p.groupStart(p.group + add)
}

func (s *boundsState) rangeBound(p *partition, b analyze.FrameBound, side int) (int, error) {
	switch b {
	case analyze.UnboundedPreceding:
		return 0, nil
	case analyze.UnboundedFollowing:
		return p.n, nil
	case analyze.CurrentRow:
		return p.groupStart(p.group + side), nil
	}
	v, err := p.datum(p.row, s.b.col)
	if err != nil {
		return 0, err
	}
	if v.Null {
		return p.groupStart(p.group + side), nil
	}
	m := s.b.move[side]
	offset := s.start
	at := &s.lo
	if side == 1 {
		offset, at = s.end, &s.hi
	}
	// Forward in the order is up unless it is descending.
	up := (b == analyze.OffsetFollowing) != s.b.desc
	bound, unbounded, err := m.moved(s.f, v, offset, up)
	if err != nil {
		return 0, err
	}
	for *at < p.n {
		past, err := s.past(p, *at, m, bound, unbounded, up, side)
		if err != nil {
			return 0, err
		}
		if past {
			break
		}
		*at++
	}
	return *at, nil
}

// past tells whether row at belongs at or behind the bound: the start is the first such row, the end, exclusive, the
// first beyond.
func (s *boundsState) past(p *partition, at int, m *rangeMove, bound types.Datum, unbounded, up bool, side int) (bool, error) {
	w, err := p.datum(at, s.b.col)
	if err != nil {
		return false, err
	}
	if w.Null {
		return !s.b.nullsFirst, nil
	}
	if unbounded {
		// The bound overflowed: everything lies on the near side of it.
		return up == s.b.desc, nil
	}
	if m.widen != nil {
		if w, err = m.widen.value(s.f, w); err != nil {
			return false, err
		}
	}
	c := m.compare(w, bound)
	if s.b.desc {
		c = -c
	}
	if side == 0 {
		return c >= 0, nil
	}
	return c > 0, nil
}

// moved adds or subtracts an offset; unbounded tells that an integer overflowed.
func (m *rangeMove) moved(f *frame, v, offset types.Datum, up bool) (d types.Datum, unbounded bool, err error) {
	if m.add == nil {
		a, b := v.Int64(), offset.Int64()
		if !up {
			b = -b
		}
		sum := a + b
		return types.Int64Datum(sum), (sum > a) != (b > 0) && b != 0, nil
	}
	if m.widen != nil {
		if v, err = m.widen.value(f, v); err != nil {
			return v, false, err
		}
	}
	site := m.sub
	if up {
		site = m.add
	}
	d, err = site.value(f, v, offset)
	return d, false, err
}
