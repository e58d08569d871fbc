package exec

import (
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// appendNode is an Append.
type appendNode struct {
	nodeInfo
	children []node
	proj     *projection
}

func (c *compiler) append(n *plan.Append, info nodeInfo) (node, error) {
	a := &appendNode{nodeInfo: info}
	var in []vecSpec
	for _, child := range n.Children {
		k, err := c.child(&a.nodeInfo, child)
		if err != nil {
			return nil, err
		}
		a.children = append(a.children, k)
		if in == nil {
			in = k.info().cols
		}
	}
	var err error
	a.proj, err = c.over(&a.nodeInfo, in)
	return a, err
}

func (n *appendNode) build(rt *runtime) operator {
	op := &appendOp{}
	for _, k := range n.children {
		op.children = append(op.children, rt.build(k))
	}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type appendOp struct {
	children []operator
	at       int
	opened   bool
}

func (op *appendOp) open() error {
	op.at, op.opened = 0, false
	return nil
}

func (op *appendOp) next(max int) (*types.Batch, error) {
	for op.at < len(op.children) {
		k := op.children[op.at]
		if !op.opened {
			if err := k.open(); err != nil {
				return nil, err
			}
			op.opened = true
		}
		b, err := k.next(max)
		if b != nil || err != nil {
			return b, err
		}
		op.at, op.opened = op.at+1, false
	}
	return nil, nil
}

func (op *appendOp) close() {
	for _, k := range op.children {
		k.close()
	}
}
