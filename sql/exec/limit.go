package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// limitNode is a Limit.
type limitNode struct {
	nodeInfo
	input         node
	spec          *frameSpec
	offset, count *expr
	ties          []keyInfo
	tieCols       []int
	proj          *projection
}

func (c *compiler) limit(n *plan.Limit, info nodeInfo) (node, error) {
	l := &limitNode{nodeInfo: info}
	var err error
	if l.input, err = c.child(&l.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	s := newScope()
	l.spec = s.spec
	err = c.in(s, func() (err error) {
		if n.Offset != nil {
			if l.offset, err = c.expr(n.Offset); err != nil {
				return err
			}
		}
		if n.Count != nil {
			l.count, err = c.expr(n.Count)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	in := l.input.info().cols
	if n.WithTies {
		for _, k := range n.Ties {
			if err := keyColumn(k.Column, in); err != nil {
				return nil, err
			}
			l.ties = append(l.ties, c.key(in[k.Column].typ, 0))
			l.tieCols = append(l.tieCols, k.Column)
		}
	}
	l.proj, err = c.over(&l.nodeInfo, in)
	return l, err
}

func (n *limitNode) build(rt *runtime) operator {
	op := &limitOp{n: n, rt: rt, f: newFrame(rt, n.spec), child: rt.build(n.input)}
	if n.tieCols != nil {
		op.last = newRowStore(n.input.info().cols)
	}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type limitOp struct {
	n     *limitNode
	rt    *runtime
	f     *frame
	child operator
	skip  int64
	left  int64     // -1: no limit
	last  *rowStore // WITH TIES: the last row of the limit
	ended bool
	none  bool
}

func (op *limitOp) open() error {
	var err error
	if op.skip, _, err = op.bound(op.n.offset, pgerr.InvalidRowCountInResultOffsetClause, "OFFSET"); err != nil {
		return err
	}
	var set bool
	if op.left, set, err = op.bound(op.n.count, pgerr.InvalidRowCountInLimitClause, "LIMIT"); err != nil {
		return err
	}
	if !set {
		op.left = -1
	}
	op.ended = false
	if op.none = op.left == 0; op.none {
		return nil
	}
	return op.child.open()
}

func (op *limitOp) bound(e *expr, code pgerr.Code, what string) (int64, bool, error) {
	if e == nil {
		return 0, false, nil
	}
	d, err := op.f.scalar(e)
	if err != nil || d.Null {
		return 0, false, err
	}
	if d.Int64() < 0 {
		return 0, false, pgerr.New(code, "%s must not be negative", what)
	}
	return d.Int64(), true, nil
}

func (op *limitOp) next(max int) (*types.Batch, error) {
	for !op.ended && !op.none {
		want := int64(max)
		if op.skip > 0 {
			// What is skipped is still made, and no more than that.
			want = min(op.skip, maxBatch)
		} else if op.left >= 0 {
			if op.left == 0 {
				return op.nextTies(max)
			}
			want = min(want, op.left)
		}
		b, err := op.child.next(int(want))
		if err != nil {
			return nil, err
		}
		if b == nil {
			op.ended = true
			break
		}
		n := int64(b.Len())
		if op.skip > 0 {
			op.skip -= n
			continue
		}
		if op.left >= 0 {
			if op.left -= n; op.left == 0 && op.last != nil {
				op.keepLast(b)
			}
		}
		return b, nil
	}
	return nil, nil
}

func (op *limitOp) keepLast(b *types.Batch) {
	op.last.reset()
	rows := b.Rows()
	sel := [1]int32{int32(rows.At(rows.Len() - 1))}
	op.last.add(b, types.Rows{N: b.N, Sel: sel[:]})
}

// nextTies passes the peers of the last row, one at a time so that no more than one that is not a
// peer is made.
func (op *limitOp) nextTies(int) (*types.Batch, error) {
	if op.last == nil || op.ended {
		op.ended = true
		return nil, nil
	}
	b, err := op.child.next(1)
	if err != nil {
		return nil, err
	}
	if b == nil || !sameKeys(op.n.ties, op.n.tieCols, b, b.Rows().At(0), op.last.chunks[0], 0) {
		op.ended = true
		return nil, nil
	}
	return b, nil
}

// sameKeys compares key columns of row i of a and row j of b; nulls are equal.
func sameKeys(keys []keyInfo, cols []int, a *types.Batch, i int, b *types.Batch, j int) bool {
	for k, c := range cols {
		v, w := &a.Cols[c], &b.Cols[c]
		if v.Null[i] || w.Null[j] {
			if v.Null[i] != w.Null[j] {
				return false
			}
			continue
		}
		if !keys[k].equal(v, i, w, j) {
			return false
		}
	}
	return true
}

func (op *limitOp) close() { op.child.close() }
