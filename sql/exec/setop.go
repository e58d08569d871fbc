package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

func errNoWorkTable() error {
	return pgerr.New(pgerr.InternalError, "working table read outside of its recursive query")
}

// recursiveNode is a RecursiveUnion.
type recursiveNode struct {
	nodeInfo
	outer, inner node
	distinct     bool
	cte          int
	work         int // the parameter that stands for the working table
	keys         []keyInfo
	cols         []int
	proj         *projection
}

func (c *compiler) recursiveUnion(n *plan.RecursiveUnion, info nodeInfo) (node, error) {
	r := &recursiveNode{nodeInfo: info, distinct: n.Distinct, cte: n.CTE, work: c.workParam(n.CTE)}
	var err error
	if r.outer, err = c.child(&r.nodeInfo, n.Outer); err != nil {
		return nil, err
	}
	in := r.outer.info().cols
	if c.workCols == nil {
		c.workCols = map[int][]vecSpec{}
	}
	c.workCols[n.CTE] = in
	if r.inner, err = c.child(&r.nodeInfo, n.Inner); err != nil {
		return nil, err
	}
	// A round of the inner side is nothing that a consumer could keep.
	c.depends.remove(r.work)
	if r.keys, r.cols, err = c.groupKeys(n.Group, in); err != nil {
		return nil, err
	}
	r.proj, err = c.over(&r.nodeInfo, in)
	return r, err
}

func (n *recursiveNode) build(rt *runtime) operator {
	op := &recursiveOp{n: n, rt: rt, outer: rt.build(n.outer), inner: rt.build(n.inner)}
	cols := n.outer.info().cols
	op.fresh = newTupleStore(rt, cols)
	if n.distinct {
		keyCols := make([]vecSpec, len(n.cols))
		for i, c := range n.cols {
			keyCols[i] = cols[c]
		}
		op.seen = newGroupTable(n.keys, keyCols)
		op.vecs = make([]*types.Vector, len(n.cols))
	}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type recursiveOp struct {
	n            *recursiveNode
	rt           *runtime
	outer, inner operator
	seen         *groupTable
	vecs         []*types.Vector
	fresh        *tupleStore // rows for the next round
	recursing    bool
	ended        bool
	sel          []int32
	out          types.Batch
}

func (op *recursiveOp) open() error {
	op.recursing, op.ended = false, false
	if op.seen != nil {
		op.seen.reset()
	}
	op.fresh.reset()
	cte := op.rt.ctes[op.n.cte]
	if cte.work == nil {
		cte.work = newTupleStore(op.rt, op.n.outer.info().cols)
	}
	cte.work.reset()
	return op.outer.open()
}

func (op *recursiveOp) next(max int) (*types.Batch, error) {
	for !op.ended {
		side := op.outer
		if op.recursing {
			side = op.inner
		}
		b, err := side.next(max)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := op.nextRound(); err != nil {
				return nil, err
			}
			continue
		}
		rows := op.newRows(b)
		if rows.Len() == 0 {
			continue
		}
		if err := op.fresh.add(b, rows); err != nil {
			return nil, err
		}
		op.out.N, op.out.Cols, op.out.Sel = b.N, b.Cols, rows.Sel
		return &op.out, nil
	}
	return nil, nil
}

// newRows are the rows of b that a UNION has not seen yet.
func (op *recursiveOp) newRows(b *types.Batch) types.Rows {
	rows := b.Rows()
	if op.seen == nil {
		return rows
	}
	for k, c := range op.n.cols {
		op.vecs[k] = &b.Cols[c]
	}
	hashes := op.seen.hashes(op.vecs, rows)
	if op.sel == nil {
		op.sel = noRows()
	}
	op.sel = op.sel[:0]
	for j := range rows.Len() {
		i := rows.At(j)
		if op.seen.find(op.vecs, i, hashes[i]) < 0 {
			op.seen.insert(op.vecs, i, hashes[i])
			op.sel = append(op.sel, int32(i))
		}
	}
	return types.Rows{N: b.N, Sel: op.sel}
}

// nextRound makes the new rows the working table.
func (op *recursiveOp) nextRound() error {
	if err := op.rt.canceled(); err != nil {
		return err
	}
	if op.fresh.n == 0 {
		op.ended = true
		return nil
	}
	cte := op.rt.ctes[op.n.cte]
	cte.work, op.fresh = op.fresh, cte.work
	op.fresh.reset()
	op.rt.params[op.n.work].gen++
	op.recursing = true
	return op.inner.open()
}

func (op *recursiveOp) close() {
	op.outer.close()
	op.inner.close()
	op.fresh.reset()
	if w := op.rt.ctes[op.n.cte].work; w != nil {
		w.reset()
	}
}

// setOpNode is a SetOp.
type setOpNode struct {
	nodeInfo
	left, right node
	kind        analyze.SetOpKind
	all         bool
	keys        []keyInfo
	cols        []int
	proj        *projection
}

func (c *compiler) setOp(n *plan.SetOp, info nodeInfo) (node, error) {
	s := &setOpNode{nodeInfo: info, kind: n.Kind, all: n.All}
	var err error
	if s.left, err = c.child(&s.nodeInfo, n.Left); err != nil {
		return nil, err
	}
	if s.right, err = c.child(&s.nodeInfo, n.Right); err != nil {
		return nil, err
	}
	in := s.left.info().cols
	if s.keys, s.cols, err = c.groupKeys(n.Group, in); err != nil {
		return nil, err
	}
	s.proj, err = c.over(&s.nodeInfo, in)
	return s, err
}

func (n *setOpNode) build(rt *runtime) operator {
	op := &setOpOp{n: n, rt: rt, left: rt.build(n.left), right: rt.build(n.right)}
	cols := n.left.info().cols
	op.table = newGroupTable(n.keys, n.keyCols(cols))
	op.rows = newRowStore(cols)
	op.vecs = make([]*types.Vector, len(n.cols))
	return projected(rt, &n.nodeInfo, op, n.proj)
}

func (n *setOpNode) keyCols(cols []vecSpec) []vecSpec {
	out := make([]vecSpec, len(n.cols))
	for i, c := range n.cols {
		out[i] = cols[c]
	}
	return out
}

type setOpOp struct {
	freshness
	n           *setOpNode
	rt          *runtime
	left, right operator
	table       *groupTable
	rows        *rowStore // the first row of each group
	vecs        []*types.Vector
	counts      [][2]int64 // left, right
	at          int
	given       int64
	refs        []int32
	out         types.Batch
}

func (op *setOpOp) open() error {
	op.at, op.given = 0, 0
	if op.holds(op.rt, op.n.depends) {
		return nil
	}
	op.forget()
	op.table.reset()
	op.rows.reset()
	op.counts = op.counts[:0]
	op.record(op.rt, op.n.depends)
	epoch := op.epoch
	op.forget()
	for side, in := range []operator{op.left, op.right} {
		if err := in.open(); err != nil {
			return err
		}
		for {
			b, err := in.next(maxBatch)
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := op.rt.canceled(); err != nil {
				return err
			}
			op.count(b, side)
		}
	}
	op.epoch = epoch
	return nil
}

// count takes rows of one side. Groups that only the right side has can give nothing.
func (op *setOpOp) count(b *types.Batch, side int) {
	for k, c := range op.n.cols {
		op.vecs[k] = &b.Cols[c]
	}
	rows := b.Rows()
	hashes := op.table.hashes(op.vecs, rows)
	for j := range rows.Len() {
		i := rows.At(j)
		g := op.table.find(op.vecs, i, hashes[i])
		if g < 0 {
			if side == 1 {
				continue
			}
			g = op.table.insert(op.vecs, i, hashes[i])
			op.counts = append(op.counts, [2]int64{})
			one := [1]int32{int32(i)}
			op.rows.add(b, types.Rows{N: b.N, Sel: one[:]})
		}
		op.counts[g][side]++
	}
}

// times is how often a group is in the result.
func (op *setOpOp) times(c [2]int64) int64 {
	switch {
	case op.n.kind == analyze.Intersect && op.n.all:
		return min(c[0], c[1])
	case op.n.kind == analyze.Intersect:
		return min(c[1], 1)
	case op.n.all:
		return max(c[0]-c[1], 0)
	case c[1] > 0:
		return 0
	}
	return 1
}

func (op *setOpOp) next(max int) (*types.Batch, error) {
	op.refs = op.refs[:0]
	for op.at < len(op.counts) && len(op.refs) < max {
		if op.given == op.times(op.counts[op.at]) {
			op.at, op.given = op.at+1, 0
			continue
		}
		op.refs = append(op.refs, int32(op.at))
		op.given++
	}
	n := len(op.refs)
	if n == 0 {
		return nil, nil
	}
	if op.out.Cols == nil || len(op.out.Cols) > 0 && op.out.Cols[0].Cap() < n {
		op.out = *newChunk(op.rows.cols, maxBatch)
	}
	for c := range op.out.Cols {
		op.rows.gather(&op.out.Cols[c], c, op.refs)
	}
	op.out.N = n
	return &op.out, nil
}

func (op *setOpOp) close() {
	op.left.close()
	op.right.close()
	op.table.reset()
	op.rows.reset()
	op.forget()
}
