package exec

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// valuesNode is a ValuesScan.
type valuesNode struct {
	nodeInfo
	spec  *frameSpec
	lists [][]valueSource
	cols  []vecSpec
	proj  *projection
}

// valueSource is one value of a VALUES list. Literals, of which there may be very many, need no
// scratch of an expression's.
type valueSource struct {
	expr   *expr // nil: a literal
	lifted int
	value  types.Datum
}

func (c *compiler) valuesScan(n *plan.ValuesScan, info nodeInfo) (node, error) {
	v := &valuesNode{nodeInfo: info}
	s := newScope()
	v.spec = s.spec
	err := c.in(s, func() error {
		for _, list := range n.Lists {
			row := make([]valueSource, len(list))
			for i, e := range list {
				if k, ok := e.(*analyze.Const); ok {
					row[i] = valueSource{lifted: k.Lifted, value: k.Value}
					continue
				}
				x, err := c.expr(e)
				if err != nil {
					return err
				}
				row[i] = valueSource{expr: x}
			}
			v.lists = append(v.lists, row)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(n.Lists) > 0 {
		for _, e := range n.Lists[0] {
			v.cols = append(v.cols, vecSpec{e.Type(), c.class(e.Type())})
		}
	}
	v.volatile = s.volatile
	v.proj, err = c.over(&v.nodeInfo, v.cols)
	return v, err
}

func (n *valuesNode) build(rt *runtime) operator {
	return projected(rt, &n.nodeInfo, &valuesOp{n: n, rt: rt, f: newFrame(rt, n.spec)}, n.proj)
}

type valuesOp struct {
	n   *valuesNode
	rt  *runtime
	f   *frame
	at  int
	out *types.Batch
}

func (op *valuesOp) open() error {
	op.at = 0
	return nil
}

func (op *valuesOp) next(max int) (*types.Batch, error) {
	n := min(max, len(op.n.lists)-op.at, maxBatch)
	if n <= 0 {
		return nil, nil
	}
	if op.out == nil || chunkCap(op.out) < n {
		op.out = newChunk(op.n.cols, n)
	}
	op.f.begin()
	for i := range n {
		for c := range op.n.lists[op.at] {
			v := &op.n.lists[op.at][c]
			d := v.value
			switch {
			case v.expr != nil:
				var err error
				if d, err = op.f.scalar(v.expr); err != nil {
					return nil, err
				}
			case v.lifted > 0:
				d = op.rt.st.Lifted[v.lifted-1]
			}
			op.out.Cols[c].Set(i, d)
		}
		op.at++
	}
	op.out.N, op.out.Sel = n, nil
	return op.out, nil
}

func (op *valuesOp) close() {}
