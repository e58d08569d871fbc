package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// windowNode is a WindowAgg. Of each partition the input's columns are kept, then the arguments and filters
// of the calls.
type windowNode struct {
	nodeInfo
	input     node
	spec      *frameSpec // of arguments and filters, over the input
	partition []keyInfo
	partCols  []int
	order     []keyInfo
	orderCols []int
	calls     []*windowCall
	frame     analyze.Frame
	bounds    *frameBounds
	extra     []*expr // what is kept besides the input's columns
	keptCols  []vecSpec
	rowCols   []vecSpec
	proj      *projection
}

// windowCall is one window function.
type windowCall struct {
	typ    vecSpec
	args   []int // columns of what is kept
	filter int   // -1 none
	agg    *aggregate
	eval   windowFunc
}

func (c *compiler) windowAgg(n *plan.WindowAgg, info nodeInfo) (node, error) {
	w := &windowNode{nodeInfo: info, frame: n.Frame}
	var err error
	if w.input, err = c.child(&w.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	in := w.input.info().cols
	if w.partition, w.partCols, err = c.groupKeys(n.Partition, in); err != nil {
		return nil, err
	}
	for _, k := range n.Order {
		if err := keyColumn(k.Column, in); err != nil {
			return nil, err
		}
		w.order = append(w.order, c.key(in[k.Column].typ, k.Collation))
		w.orderCols = append(w.orderCols, k.Column)
	}
	w.keptCols = append(w.keptCols, in...)
	w.rowCols = append(w.rowCols, in...)
	s := newScope(newIdentity(len(in)))
	w.spec = s.spec
	err = c.in(s, func() error {
		for i := range n.Calls {
			call, err := c.windowCall(w, &n.Calls[i])
			if err != nil {
				return err
			}
			w.calls = append(w.calls, call)
			w.rowCols = append(w.rowCols, call.typ)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.volatile = w.volatile || s.volatile
	if w.bounds, err = c.frameBounds(n, in); err != nil {
		return nil, err
	}
	w.proj, err = c.over(&w.nodeInfo, w.rowCols)
	return w, err
}

func (c *compiler) windowCall(w *windowNode, n *plan.WindowCall) (*windowCall, error) {
	call := &windowCall{typ: vecSpec{n.Type, c.class(n.Type)}, filter: -1}
	keep := func(e analyze.Expr) (int, error) {
		x, err := c.expr(e)
		if err != nil {
			return 0, err
		}
		w.extra = append(w.extra, x)
		w.keptCols = append(w.keptCols, vecSpec{x.typ, x.class})
		return len(w.keptCols) - 1, nil
	}
	var argTypes []types.OID
	for _, e := range n.Args {
		col, err := keep(e)
		if err != nil {
			return nil, err
		}
		call.args = append(call.args, col)
		argTypes = append(argTypes, e.Type())
	}
	if n.Filter != nil {
		col, err := keep(n.Filter)
		if err != nil {
			return nil, err
		}
		call.filter = col
	}
	p, err := c.proc(n.Func)
	if err != nil {
		return nil, err
	}
	if p.Kind == 'w' {
		eval, ok := windowFuncs[p.Src]
		if !ok {
			return nil, c.unsupportedFunction(p)
		}
		call.eval = eval
		return call, nil
	}
	f, ok := fn.LookupAgg(n.Func)
	if !ok {
		return nil, c.unsupportedFunction(p)
	}
	call.agg = &aggregate{agg: f, n: len(n.Args)}
	call.agg.call = fn.AggCall{Args: argTypes, Result: n.Type, Types: c.types()}
	if n.Source != nil {
		call.agg.call.Collation = n.Source.InputColl
	}
	return call, nil
}

func (n *windowNode) build(rt *runtime) operator {
	op := &windowOp{n: n, rt: rt, child: rt.build(n.input), f: newFrame(rt, n.spec)}
	op.part.init(rt, n)
	op.states = make([]windowState, len(n.calls))
	op.results = make([]types.Vector, len(n.calls))
	for i, c := range n.calls {
		op.results[i].Type, op.results[i].Class = c.typ.typ, c.typ.class
	}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

// windowOp reads a partition, then computes the calls row by row.
type windowOp struct {
	n       *windowNode
	rt      *runtime
	child   operator
	f       *frame
	part    partition
	states  []windowState
	results []types.Vector
	out     types.Batch
	view    types.Batch
	at      int
	pending *types.Batch // input of the next partition, from pendAt on
	pendAt  int
	ended   bool
	kept    types.Batch
}

func (op *windowOp) open() error {
	op.pending, op.ended, op.at = nil, false, 0
	op.part.reset()
	if err := op.part.bounds.begin(); err != nil {
		return err
	}
	return op.child.open()
}

func (op *windowOp) next(max int) (*types.Batch, error) {
	for op.at == op.part.n {
		if op.ended && op.pending == nil {
			return nil, nil
		}
		if err := op.readPartition(); err != nil {
			return nil, err
		}
		if op.part.n == 0 {
			return nil, nil
		}
	}
	ok, err := op.part.store.rows(&op.view, op.at, min(max, maxBatch))
	if err != nil || !ok {
		return nil, err
	}
	n := op.view.N
	for k := range op.results {
		v := &op.results[k]
		if len(v.Null) < n {
			growVector(v, n)
		}
		v.Reset()
	}
	for i := range n {
		if err := op.row(i); err != nil {
			return nil, err
		}
	}
	op.out.Cols = append(op.out.Cols[:0], op.view.Cols[:len(op.n.input.info().cols)]...)
	op.out.Cols = append(op.out.Cols, op.results...)
	op.out.N = n
	return &op.out, op.rt.canceled()
}

// row computes the calls for the next row, the i-th of the batch.
func (op *windowOp) row(i int) error {
	p := &op.part
	if err := p.moveTo(op.at); err != nil {
		return err
	}
	for k, c := range op.n.calls {
		var d types.Datum
		var err error
		if c.agg != nil {
			d, err = op.states[k].aggregate(p, c)
		} else {
			d, err = c.eval(p, c, &op.states[k])
		}
		if err != nil {
			return err
		}
		op.results[k].SetCopy(i, d)
	}
	op.at++
	return nil
}

// readPartition reads the rows that have the partition keys of the next row.
func (op *windowOp) readPartition() error {
	op.part.reset()
	op.at = 0
	for k := range op.states {
		op.states[k] = windowState{}
	}
	var first types.Batch
	var keys *rowStore
	for {
		if op.pending == nil {
			b, err := op.child.next(maxBatch)
			if err != nil {
				return err
			}
			if b == nil {
				op.ended = true
				return op.part.finish()
			}
			if err := op.rt.canceled(); err != nil {
				return err
			}
			op.pending, op.pendAt = b, 0
		}
		rows := op.pending.Rows()
		from := op.pendAt
		if keys == nil {
			keys = newRowStore(op.n.input.info().cols)
			keys.add(op.pending, subRows(rows, from, from+1))
			window(&first, keys.chunks[0], 0, 1)
		}
		for op.pendAt < rows.Len() &&
			sameKeys(op.n.partition, op.n.partCols, op.pending, rows.At(op.pendAt), &first, 0) {
			op.pendAt++
		}
		if op.pendAt > from {
			if err := op.keep(subRows(rows, from, op.pendAt)); err != nil {
				return err
			}
		}
		if op.pendAt < rows.Len() {
			return op.part.finish()
		}
		op.pending = nil
	}
}

// keep adds pending rows, with arguments and filters, to the partition.
func (op *windowOp) keep(rows types.Rows) error {
	op.f.in[0] = op.pending
	op.f.begin()
	op.kept.Cols = append(op.kept.Cols[:0], op.pending.Cols...)
	for _, x := range op.n.extra {
		v, err := x.eval(op.f, rows)
		if err != nil {
			return err
		}
		op.kept.Cols = append(op.kept.Cols, *v)
	}
	op.kept.N = op.pending.N
	return op.part.store.add(&op.kept, rows)
}

func (op *windowOp) close() {
	op.child.close()
	op.part.reset()
}

// partition is the partition at hand and where in it the current row's peers and frame are.
type partition struct {
	rt     *runtime
	n      int
	node   *windowNode
	store  *tupleStore
	bounds *boundsState

	row int
	// groups are the first rows of the peer groups; group is the current row's.
	groups []int32
	group  int
	// The frame, before exclusion, computed when it is asked for.
	start, end int
	framed     bool
}

func (p *partition) init(rt *runtime, n *windowNode) {
	p.rt, p.node = rt, n
	p.store = newTupleStore(rt, n.keptCols)
	p.bounds = newBoundsState(rt, n)
}

func (p *partition) reset() {
	p.store.reset()
	p.n, p.groups = 0, p.groups[:0]
	p.bounds.reset()
}

// finish finds the peer groups once all rows are there.
func (p *partition) finish() error {
	p.n = p.store.n
	p.group = 0
	p.groups = p.groups[:0]
	var prev *types.Batch
	for k := 0; k<<chunkShift < p.n; k++ {
		c, err := p.store.chunk(k)
		if err != nil {
			return err
		}
		for i := range c.N {
			switch {
			case k == 0 && i == 0:
			case len(p.node.order) == 0:
				continue
			case i == 0:
				if sameKeys(p.node.order, p.node.orderCols, c, 0, prev, chunkRows-1) {
					continue
				}
			case sameKeys(p.node.order, p.node.orderCols, c, i, c, i-1):
				continue
			}
			p.groups = append(p.groups, int32(k<<chunkShift+i))
		}
		prev = c
	}
	return nil
}

// moveTo makes a row, not before the last one, the current one.
func (p *partition) moveTo(row int) error {
	p.row, p.framed = row, false
	for p.group+1 < len(p.groups) && int(p.groups[p.group+1]) <= row {
		p.group++
	}
	return nil
}

// groupStart is the first row of peer group g; past the last group it is the end.
func (p *partition) groupStart(g int) int {
	switch {
	case g < 0:
		return 0
	case g >= len(p.groups):
		return p.n
	}
	return int(p.groups[g])
}

func (p *partition) datum(row, col int) (types.Datum, error) { return p.store.datum(row, col) }

// arg is argument k of a call for the current row, null if there is none.
func (p *partition) arg(c *windowCall, k int) (types.Datum, error) {
	if k >= len(c.args) {
		return types.NullDatum, nil
	}
	return p.datum(p.row, c.args[k])
}

// frame computes the current row's frame.
func (p *partition) frame() error {
	if p.framed {
		return nil
	}
	p.framed = true
	return p.bounds.frame(p)
}

// rowRange is rows from (including) to (excluding).
type rowRange struct{ from, to int }

// visible are the rows of the current frame that EXCLUDE leaves, as at most three ranges.
func (p *partition) visible() ([3]rowRange, error) {
	var out [3]rowRange
	if err := p.frame(); err != nil {
		return out, err
	}
	from, to := p.row, p.row+1
	switch p.node.frame.Exclude {
	case analyze.ExcludeNone:
		out[0] = rowRange{p.start, p.end}
		return out, nil
	case analyze.ExcludeGroup, analyze.ExcludeTies:
		from, to = p.groupStart(p.group), p.groupStart(p.group+1)
	}
	out[0] = rowRange{p.start, min(p.end, from)}
	if p.node.frame.Exclude == analyze.ExcludeTies && p.start <= p.row && p.row < p.end {
		out[1] = rowRange{p.row, p.row + 1}
	}
	out[2] = rowRange{max(p.start, to), p.end}
	return out, nil
}

// windowState is what a call keeps within a partition.
type windowState struct {
	state      fn.AggState
	start, end int // rows taken in
	last       types.Datum
	have       bool
	tile       tileState
}

// aggregate computes an aggregate over the current frame. While the frame only grows at its end, rows are added
// to the state there is.
func (s *windowState) aggregate(p *partition, c *windowCall) (types.Datum, error) {
	ranges, err := p.visible()
	if err != nil {
		return types.Datum{}, err
	}
	whole := p.node.frame.Exclude == analyze.ExcludeNone
	if whole && s.have && s.start == p.start && s.end == p.end {
		return s.last, nil
	}
	from := ranges[0].from
	if whole && s.state != nil && s.start == p.start && s.end <= p.end {
		from = s.end
	} else {
		call := c.agg.call
		call.Env = p.rt.fc.Env
		s.state = c.agg.agg.New(&call)
	}
	ranges[0].from = from
	for _, r := range ranges {
		if err := s.step(p, c, r); err != nil {
			return types.Datum{}, err
		}
	}
	s.start, s.end, s.have = p.start, p.end, true
	d, err := s.state.Final(p.rt.fc)
	if err != nil {
		return types.Datum{}, err
	}
	s.last = d.Clone()
	return s.last, nil
}

func (s *windowState) step(p *partition, c *windowCall, r rowRange) error {
	var buf [4]types.Datum
	args := buf[:0]
next:
	for row := r.from; row < r.to; row++ {
		if row&chunkMask == 0 {
			if err := p.rt.canceled(); err != nil {
				return err
			}
		}
		chunk, err := p.store.chunk(row >> chunkShift)
		if err != nil {
			return err
		}
		i := row & chunkMask
		if c.filter >= 0 {
			if d := chunk.Cols[c.filter].Datum(i); d.Null || d.W == 0 {
				continue
			}
		}
		args = args[:0]
		for _, col := range c.args {
			d := chunk.Cols[col].Datum(i)
			if d.Null && c.agg.agg.Strict {
				continue next
			}
			args = append(args, d)
		}
		if err := s.state.Step(p.rt.fc, args); err != nil {
			return err
		}
	}
	return nil
}

func errFrameOffset(which string, null bool) error {
	if null {
		return pgerr.New(pgerr.NullValueNotAllowed, "frame %s offset must not be null", which)
	}
	return pgerr.New(pgerr.InvalidPrecedingOrFollowingSize, "frame %s offset must not be negative", which)
}
