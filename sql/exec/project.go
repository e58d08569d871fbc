package exec

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// projection is the compiled filter and targets of a node.
type projection struct {
	spec    *frameSpec
	filter  *expr // nil: every row passes
	targets []*expr
	cols    []vecSpec
	// asIs: the output columns are those of input 0.
	asIs     bool
	volatile bool
}

// compileProjection compiles filter and targets in scope s. Without targets the output is input 0, whose
// columns are in.
func (c *compiler) compileProjection(s *scope, filter, targets []analyze.Expr, in []vecSpec) (*projection, error) {
	p := &projection{spec: s.spec}
	err := c.in(s, func() error {
		var err error
		if p.filter, err = c.conjunction(filter); err != nil {
			return err
		}
		if targets == nil {
			p.asIs, p.cols = true, in
			return nil
		}
		if p.targets, err = c.exprs(targets); err != nil {
			return err
		}
		for _, t := range p.targets {
			p.cols = append(p.cols, vecSpec{t.typ, t.class})
		}
		p.asIs = isIdentity(p.targets, in)
		return nil
	})
	p.volatile = s.volatile
	return p, err
}

// isIdentity tells whether targets are the columns of input 0, in order and all.
func isIdentity(targets []*expr, in []vecSpec) bool {
	if in == nil || len(targets) != len(in) {
		return false
	}
	for i, t := range targets {
		if t.col != i || t.input != 0 {
			return false
		}
	}
	return true
}

// conjunction compiles conditions all of which must hold; nil if there are none.
func (c *compiler) conjunction(conds []analyze.Expr) (*expr, error) {
	var args []*expr
	for _, e := range conds {
		x, err := c.expr(e)
		if err != nil {
			return nil, err
		}
		if x.konst != nil && !x.konst.Null[0] && x.konst.W[0] != 0 {
			continue
		}
		args = append(args, x)
	}
	switch len(args) {
	case 0:
		return nil, nil
	case 1:
		return args[0], nil
	}
	x := &expr{typ: types.Bool, mod: -1, class: types.Word, col: -1}
	c.merge(x, args...)
	c.connect(x, args, 0)
	x.pred = c.andPred(args)
	return x, nil
}

// projector applies a projection to batches. The usual loop of an operator is: emit; when that gives
// nothing, pull an input batch and start on it.
type projector struct {
	*projection
	f     *frame
	out   types.Batch
	own   []types.Vector // for targets that must be spread or kept
	sel   []int32
	rest  []int32 // rows that passed the filter and were not delivered
	ident []int32
	done  []int32
	row   int  // volatile or after an error: the next row to look at
	slow  bool // row by row
	live  bool // there is a batch that may have rows
	fail  error
	// removed counts rows the filter did not pass.
	removed int64
}

func newProjector(rt *runtime, p *projection) *projector {
	pr := &projector{projection: p, f: newFrame(rt, p.spec)}
	pr.f.bounded = true
	pr.own = make([]types.Vector, len(p.cols))
	for i, c := range p.cols {
		pr.own[i].Type, pr.own[i].Class = c.typ, c.class
	}
	return pr
}

func (p *projector) reset() {
	p.live, p.fail = false, nil
	p.removed = 0
}

// start takes an input batch; in1 may be nil. Selected rows are those of in0.
func (p *projector) start(in0, in1 *types.Batch) error {
	p.f.in[0], p.f.in[1] = in0, in1
	p.f.begin()
	p.live, p.slow, p.row = true, p.volatile, 0
	if p.slow {
		p.rest = appendRows(in0.Rows(), p.sel[:0])
		p.sel = p.rest
		return nil
	}
	if p.filter == nil {
		p.rest = in0.Sel
		if p.rest == nil {
			p.rest = p.identity(in0.N)
		}
		return nil
	}
	if in0.Len() == 0 {
		p.live = false
		return nil
	}
	if cap(p.sel) < in0.N {
		p.sel = make([]int32, 0, max(in0.N, 16))
	}
	sel, err := p.filter.selectRows(p.f, in0.Rows(), p.sel[:0])
	if err != nil {
		return p.retry()
	}
	p.sel, p.rest = sel, sel
	p.removed += int64(in0.Len() - len(sel))
	return nil
}

// identity is the selection of the first n rows.
func (p *projector) identity(n int) []int32 {
	for i := len(p.ident); i < n; i++ {
		p.ident = append(p.ident, int32(i))
	}
	return p.ident[:n]
}

// retry starts on the batch again row by row, so that the error is met where it belongs (invariant 4).
func (p *projector) retry() error {
	if canceled := p.f.rt.canceled(); canceled != nil {
		return canceled
	}
	p.slow, p.row = true, 0
	p.rest = appendRows(p.f.in[0].Rows(), p.sel[:0])
	p.sel = p.rest
	return nil
}

// emit returns at most max of the batch's rows that pass, or nil when none is left.
func (p *projector) emit(max int) (*types.Batch, error) {
	if p.fail != nil {
		return nil, p.fail
	}
	if !p.live {
		return nil, nil
	}
	if p.slow {
		return p.emitRows(max)
	}
	if len(p.rest) == 0 {
		p.live = false
		return nil, nil
	}
	in := p.f.in[0]
	rows := types.Rows{N: in.N, Sel: p.rest}
	switch {
	case len(p.rest) > max:
		rows.Sel = p.rest[:max]
	case len(p.rest) == in.N:
		rows.Sel = nil
	}
	if p.asIs {
		p.rest = p.rest[rows.Len():]
		p.out.N, p.out.Sel, p.out.Cols = in.N, rows.Sel, in.Cols
		return &p.out, nil
	}
	if err := p.project(rows); err != nil {
		rest := p.rest
		if err := p.retry(); err != nil {
			return nil, err
		}
		// Rows before rest were delivered or did not pass.
		p.rest = p.rest[len(p.rest)-countFrom(p.rest, rest[0]):]
		return p.emitRows(max)
	}
	p.rest = p.rest[rows.Len():]
	return &p.out, nil
}

// countFrom is how many of the ascending sel are at least i.
func countFrom(sel []int32, i int32) int {
	for k, v := range sel {
		if v >= i {
			return len(sel) - k
		}
	}
	return 0
}

// project computes the targets for rows into out.
func (p *projector) project(rows types.Rows) error {
	if cap(p.out.Cols) < len(p.targets) {
		p.out.Cols = make([]types.Vector, len(p.targets))
	}
	p.out.Cols = p.out.Cols[:len(p.targets)]
	for i, t := range p.targets {
		v, err := t.eval(p.f, rows)
		if err != nil {
			return err
		}
		if v.Const {
			own := &p.own[i]
			if len(own.Null) < rows.N {
				growVector(own, rows.N)
			}
			scatter(own, v, rows)
			v = own
		}
		p.out.Cols[i] = *v
	}
	p.out.N, p.out.Sel = rows.N, rows.Sel
	return nil
}

// emitRows filters and projects one row after the other, until there are max or their values are large.
func (p *projector) emitRows(max int) (*types.Batch, error) {
	in := p.f.in[0]
	done := p.done[:0]
	at := 0
	if p.f.full() {
		for i := range p.own {
			clear(p.own[i].B)
		}
	}
	p.f.begin()
	for ; at < len(p.rest) && len(done) < max; at++ {
		if p.f.full() {
			if len(done) > 0 {
				break
			}
			p.f.begin()
		}
		ok, err := p.emitRow(in, p.rest[at:at+1])
		if err != nil {
			if len(done) == 0 {
				return nil, err
			}
			p.fail = err
			break
		}
		if ok {
			done = append(done, p.rest[at])
		} else {
			p.removed++
		}
	}
	p.rest, p.done = p.rest[at:], done
	if len(done) == 0 {
		p.live = false
		return nil, nil
	}
	p.out.N, p.out.Sel = in.N, done
	if p.asIs {
		p.out.Cols = in.Cols
		return &p.out, nil
	}
	p.out.Cols = append(p.out.Cols[:0], p.own...)
	return &p.out, nil
}

func (p *projector) emitRow(in *types.Batch, sel []int32) (bool, error) {
	rows := types.Rows{N: in.N, Sel: sel}
	if p.filter != nil {
		var buf [1]int32
		hit, err := p.filter.selectRows(p.f, rows, buf[:0])
		if err != nil || len(hit) == 0 {
			return false, err
		}
	}
	if p.asIs {
		return true, nil
	}
	for i, t := range p.targets {
		v, err := t.eval(p.f, rows)
		if err != nil {
			return false, err
		}
		own := &p.own[i]
		if len(own.Null) < in.N {
			growVector(own, in.N)
		}
		scatter(own, v, rows)
	}
	return true, nil
}

// want is how many input rows to ask for so as to get at most max: all that a filter may drop
// are worth asking for at once, unless something volatile would notice.
func (p *projector) want(max int, tried int, exact bool) int {
	if p.filter == nil || exact || tried == 0 {
		return max
	}
	return min(max<<min(2*tried, 10), maxBatch)
}
