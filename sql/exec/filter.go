package exec

import (
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// subqueryNode is a SubqueryScan.
type subqueryNode struct {
	nodeInfo
	input node
	proj  *projection
}

func (c *compiler) subqueryScan(n *plan.SubqueryScan, info nodeInfo) (node, error) {
	s := &subqueryNode{nodeInfo: info}
	err := c.inLevel(func() (err error) {
		s.input, err = c.child(&s.nodeInfo, n.Input)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.proj, err = c.over(&s.nodeInfo, s.input.info().cols)
	return s, err
}

func (n *subqueryNode) build(rt *runtime) operator {
	return &filterOp{info: &n.nodeInfo, child: rt.build(n.input), pr: newProjector(rt, n.proj)}
}

// filterOp passes a child's batches through a projector.
type filterOp struct {
	info  *nodeInfo
	child operator
	pr    *projector
	done  bool
}

func (op *filterOp) open() error {
	op.done = false
	op.pr.reset()
	return op.child.open()
}

func (op *filterOp) next(max int) (*types.Batch, error) {
	for tried := 0; ; tried++ {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		in, err := op.child.next(op.pr.want(max, tried, op.info.volatile))
		if err != nil {
			return nil, err
		}
		if in == nil {
			op.done = true
			return nil, nil
		}
		if err := op.pr.start(in, nil); err != nil {
			return nil, err
		}
	}
}

func (op *filterOp) close() { op.child.close() }

// projected adds a node's projection to an operator that gives the rows it is over, unless it changes nothing.
func projected(rt *runtime, info *nodeInfo, op operator, p *projection) operator {
	if p.asIs && p.filter == nil {
		return op
	}
	return &filterOp{info: info, child: op, pr: newProjector(rt, p)}
}
