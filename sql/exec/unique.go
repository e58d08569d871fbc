package exec

import (
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// uniqueNode is a Unique.
type uniqueNode struct {
	nodeInfo
	input node
	keys  []keyInfo
	cols  []int
	proj  *projection
}

func (c *compiler) groupKeys(keys []plan.GroupKey, in []vecSpec) ([]keyInfo, []int, error) {
	infos, cols := make([]keyInfo, len(keys)), make([]int, len(keys))
	for i, k := range keys {
		if err := keyColumn(k.Column, in); err != nil {
			return nil, nil, err
		}
		infos[i], cols[i] = c.key(in[k.Column].typ, 0), k.Column
	}
	return infos, cols, nil
}

func (c *compiler) unique(n *plan.Unique, info nodeInfo) (node, error) {
	u := &uniqueNode{nodeInfo: info}
	var err error
	if u.input, err = c.child(&u.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	in := u.input.info().cols
	if u.keys, u.cols, err = c.groupKeys(n.Group, in); err != nil {
		return nil, err
	}
	u.proj, err = c.over(&u.nodeInfo, in)
	return u, err
}

func (n *uniqueNode) build(rt *runtime) operator {
	op := &uniqueOp{n: n, child: rt.build(n.input), last: newRowStore(n.input.info().cols)}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type uniqueOp struct {
	n     *uniqueNode
	child operator
	last  *rowStore // the last row passed, of the batches before
	out   types.Batch
	sel   []int32
	one   [1]int32
}

func (op *uniqueOp) open() error {
	op.last.reset()
	return op.child.open()
}

func (op *uniqueOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.child.next(max)
		if err != nil || b == nil {
			return nil, err
		}
		prev, at := b, -1
		if op.last.n > 0 {
			prev, at = op.last.chunks[0], 0
		}
		op.sel = op.sel[:0]
		rows := b.Rows()
		for j := range rows.Len() {
			i := rows.At(j)
			if at < 0 || !sameKeys(op.n.keys, op.n.cols, b, i, prev, at) {
				op.sel = append(op.sel, int32(i))
				prev, at = b, i
			}
		}
		if len(op.sel) == 0 {
			continue
		}
		op.one[0] = op.sel[len(op.sel)-1]
		op.last.reset()
		op.last.add(b, types.Rows{N: b.N, Sel: op.one[:]})
		op.out.N, op.out.Sel, op.out.Cols = b.N, op.sel, b.Cols
		return &op.out, nil
	}
}

func (op *uniqueOp) close() { op.child.close() }
