package exec

import (
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// materialNode is a Material.
type materialNode struct {
	nodeInfo
	input node
	proj  *projection
}

func (c *compiler) material(n *plan.Material, info nodeInfo) (node, error) {
	m := &materialNode{nodeInfo: info}
	var err error
	if m.input, err = c.child(&m.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	m.proj, err = c.over(&m.nodeInfo, m.input.info().cols)
	return m, err
}

func (n *materialNode) build(rt *runtime) operator {
	op := newKeep(rt, &n.nodeInfo, rt.build(n.input), n.input.info().cols)
	return projected(rt, &n.nodeInfo, op, n.proj)
}

// keepOp keeps its child's rows, as it passes them on, for the next open.
type keepOp struct {
	freshness
	n     *nodeInfo
	rt    *runtime
	child operator
	store *tupleStore
	at    int
	ended bool
	view  types.Batch
}

func newKeep(rt *runtime, n *nodeInfo, child operator, cols []vecSpec) *keepOp {
	return &keepOp{n: n, rt: rt, child: child, store: newTupleStore(rt, cols)}
}

func (op *keepOp) open() error {
	op.at = 0
	if op.holds(op.rt, op.n.depends) {
		return nil
	}
	op.store.reset()
	op.ended = false
	op.record(op.rt, op.n.depends)
	return op.child.open()
}

func (op *keepOp) next(max int) (*types.Batch, error) {
	for {
		ok, err := op.store.rows(&op.view, op.at, max)
		if err != nil {
			return nil, err
		}
		if ok {
			op.at += op.view.N
			return &op.view, nil
		}
		if op.ended {
			return nil, nil
		}
		b, err := op.child.next(max)
		if err != nil {
			return nil, err
		}
		if b == nil {
			op.ended = true
			return nil, nil
		}
		if err := op.store.add(b, b.Rows()); err != nil {
			return nil, err
		}
	}
}

func (op *keepOp) close() {
	op.child.close()
	op.store.reset()
	op.forget()
}
