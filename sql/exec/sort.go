package exec

import (
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// sortNode is a Sort.
type sortNode struct {
	nodeInfo
	input     node
	keys      []sortKey
	presorted int
	spec      *frameSpec
	bound     *expr
	proj      *projection
}

func (c *compiler) sort(n *plan.Sort, info nodeInfo) (node, error) {
	s := &sortNode{nodeInfo: info, presorted: n.Presorted}
	var err error
	if s.input, err = c.child(&s.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	in := s.input.info().cols
	if s.keys, err = c.sortKeys(n.Keys, in); err != nil {
		return nil, err
	}
	sc := newScope()
	s.spec = sc.spec
	if n.Bound != nil {
		err = c.in(sc, func() (err error) {
			s.bound, err = c.expr(n.Bound)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	s.proj, err = c.over(&s.nodeInfo, in)
	return s, err
}

func (n *sortNode) build(rt *runtime) operator {
	op := &sortOp{n: n, rt: rt, f: newFrame(rt, n.spec), child: rt.build(n.input)}
	op.sorter = newSorter(rt, n.keys, n.input.info().cols)
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type sortOp struct {
	freshness
	n      *sortNode
	rt     *runtime
	f      *frame
	child  operator
	sorter *sorter
	bound  int64 // -1: none
	// Of an incremental sort: the group's prefix, and rows of the next group.
	group   *rowStore
	pending *types.Batch
	at      int
	ended   bool
	passed  int64
}

func (op *sortOp) open() error {
	if op.holds(op.rt, op.n.depends) && op.n.presorted == 0 {
		op.sorter.rewind()
		return nil
	}
	op.forget()
	op.bound = -1
	if op.n.bound != nil {
		d, err := op.f.scalar(op.n.bound)
		if err != nil {
			return err
		}
		if !d.Null && d.Int64() >= 0 {
			op.bound = d.Int64()
		}
	}
	op.sorter.reset()
	if err := op.child.open(); err != nil {
		return err
	}
	if op.n.presorted > 0 {
		if op.group == nil {
			op.group = newRowStore(op.n.input.info().cols)
		}
		op.pending, op.ended, op.passed = nil, false, 0
		return nil
	}
	op.record(op.rt, op.n.depends)
	epoch := op.epoch
	op.forget()
	op.sorter.bound = op.bound
	for {
		b, err := op.child.next(maxBatch)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := op.sorter.add(b, b.Rows()); err != nil {
			return err
		}
	}
	if err := op.sorter.finish(); err != nil {
		return err
	}
	op.sorter.note(op.rt.nodeStats(&op.n.nodeInfo))
	op.epoch = epoch
	return nil
}

func (op *sortOp) next(max int) (*types.Batch, error) {
	if op.n.presorted == 0 {
		return op.sorter.next(max)
	}
	for {
		b, err := op.sorter.next(max)
		if b != nil || err != nil {
			if b != nil {
				op.passed += int64(b.Len())
			}
			return b, err
		}
		if op.ended || op.bound >= 0 && op.passed >= op.bound {
			return nil, nil
		}
		if err := op.nextGroup(); err != nil {
			return nil, err
		}
	}
}

// nextGroup sorts the rows that share the next value of the presorted keys.
func (op *sortOp) nextGroup() error {
	op.sorter.reset()
	op.sorter.bound = -1
	op.group.reset()
	for {
		if op.pending == nil {
			b, err := op.child.next(maxBatch)
			if err != nil {
				return err
			}
			if b == nil {
				op.ended = true
				break
			}
			op.pending, op.at = b, 0
		}
		rows := op.pending.Rows()
		from := op.at
		for op.at < rows.Len() && op.inGroup(rows.At(op.at)) {
			op.at++
		}
		if err := op.sorter.add(op.pending, subRows(rows, from, op.at)); err != nil {
			return err
		}
		if op.at < rows.Len() {
			break
		}
		op.pending = nil
	}
	if err := op.sorter.finish(); err != nil {
		return err
	}
	op.sorter.note(op.rt.nodeStats(&op.n.nodeInfo))
	return nil
}

// inGroup tells whether row i of the pending batch belongs to the group, which its first row makes.
func (op *sortOp) inGroup(i int) bool {
	if op.group.n == 0 {
		one := [1]int32{int32(i)}
		op.group.add(op.pending, types.Rows{N: op.pending.N, Sel: one[:]})
		return true
	}
	first := op.group.chunks[0]
	for _, k := range op.n.keys[:op.n.presorted] {
		v, w := &op.pending.Cols[k.col], &first.Cols[k.col]
		if v.Null[i] != w.Null[0] {
			return false
		}
		if !v.Null[i] && !types.Equal(k.typ, v.Datum(i), w.Datum(0)) {
			return false
		}
	}
	return true
}

// subRows are the from-th to the to-th, exclusive, of rows.
func subRows(rows types.Rows, from, to int) types.Rows {
	if rows.Sel != nil {
		return types.Rows{N: rows.N, Sel: rows.Sel[from:to]}
	}
	if from == 0 {
		return types.Rows{N: to}
	}
	sel := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		sel = append(sel, int32(i))
	}
	return types.Rows{N: rows.N, Sel: sel}
}

func (op *sortOp) close() {
	op.child.close()
	op.sorter.close()
	op.forget()
}
