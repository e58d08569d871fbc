package exec

import (
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// resultNode is a Result.
type resultNode struct {
	nodeInfo
	input   node // nil: one row
	oneTime *expr
	oneSpec *frameSpec
	proj    *projection
}

func (c *compiler) result(n *plan.Result, info nodeInfo) (node, error) {
	r := &resultNode{nodeInfo: info}
	s := newScope()
	err := c.in(s, func() (err error) {
		r.oneTime, err = c.conjunction(n.OneTimeFilter)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.oneSpec = s.spec
	var in []vecSpec
	if n.Input != nil {
		if r.input, err = c.child(&r.nodeInfo, n.Input); err != nil {
			return nil, err
		}
		in = r.input.info().cols
	}
	if n.Input == nil && n.Targets == nil {
		in = []vecSpec{}
	}
	r.volatile = r.volatile || s.volatile
	r.proj, err = c.over(&r.nodeInfo, in)
	return r, err
}

func (n *resultNode) build(rt *runtime) operator {
	op := &resultOp{n: n, pr: newProjector(rt, n.proj), one: newFrame(rt, n.oneSpec)}
	if n.input != nil {
		op.child = rt.build(n.input)
	}
	return op
}

type resultOp struct {
	n     *resultNode
	pr    *projector
	one   *frame
	child operator
	row   types.Batch // without columns
	done  bool
}

func (op *resultOp) open() error {
	op.done = false
	op.pr.reset()
	if op.n.oneTime != nil {
		pass, err := op.n.oneTime.selectRows(op.one, one(), op.one.filterSel[:0])
		if err != nil {
			return err
		}
		op.one.filterSel = pass[:0]
		if op.done = len(pass) == 0; op.done {
			return nil
		}
	}
	if op.child != nil {
		return op.child.open()
	}
	return nil
}

func (op *resultOp) next(max int) (*types.Batch, error) {
	for tried := 0; ; tried++ {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		if op.child == nil {
			op.done = true
			op.row.N = 1
			if err := op.pr.start(&op.row, nil); err != nil {
				return nil, err
			}
			continue
		}
		in, err := op.child.next(op.pr.want(max, tried, op.n.volatile))
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

func (op *resultOp) close() {
	if op.child != nil {
		op.child.close()
	}
}
