package exec

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// maxBatch is the capacity of batches between operators.
const maxBatch = 1024

// Program is a compiled plan: invariant 1.
type Program struct {
	plan     *plan.Plan
	root     node
	ctes     []*cteProgram
	subPlans []*subPlanProgram
	inits    []*initPlanProgram
	nodes    int // number of nodes, for statistics
	ids      map[plan.Node]int
	params   int
	modifies bool
	visible  int // columns
	pool     sync.Pool
}

// node is a compiled plan node.
type node interface {
	info() *nodeInfo
	// build makes the operator for one runtime.
	build(rt *runtime) operator
}

// nodeInfo is what is known of a compiled node.
type nodeInfo struct {
	id   int
	plan plan.Node
	cols []vecSpec // output columns
	// depends are the executor parameters, ascending, that the node's rows depend on.
	depends []int
	// volatile: something in the node or below it is.
	volatile bool
}

func (n *nodeInfo) info() *nodeInfo { return n }

// operator is a running node.
type operator interface {
	// open starts it, at first or again.
	open() error
	// next returns at least one and at most max rows, or nil at the end. Once it has returned
	// nil it is not called again before open.
	next(max int) (*types.Batch, error)
	// close lets go of everything but memory that the next open can use. It is called
	// at least once per execution, also if open was not.
	close()
}

// runtime is the state of one goroutine of an execution.
type runtime struct {
	prog *Program
	st   *ExecState
	ctx  context.Context
	fc   *fn.Context
	x    *Execution

	params   []paramState
	ctes     []*cteState
	subPlans []*subPlanState
	inits    []*initPlanState
	epq      *recheck
	stats    []NodeStats
	// shared is what a Gather's goroutines have in common; nil in the session's own.
	shared *gatherShared
	// gathered is where the last Gather's partial states lie.
	gathered *gatherShared
	// epoch tells executions of one pooled Execution apart.
	epoch uint64
}

// Execution is one run of a program. It is used by one goroutine.
type Execution struct {
	rt       runtime
	root     operator
	opened   bool
	done     bool
	fresh    bool // made for this execution only: not to be pooled
	broken   bool // a panic came through: nothing of it can be used again
	affected int64
	returned int64
	// held keeps the rows of a statement that must run to its end before the first is shown.
	held *heldRows
	// tempFiles numbers the temporary files, those of a Gather's goroutines too.
	tempFiles atomic.Int64
}

func (p *Program) start(st *ExecState) *Execution {
	var x *Execution
	if st.Instrument == InstrumentNone {
		x, _ = p.pool.Get().(*Execution)
	}
	if x == nil {
		x = &Execution{fresh: st.Instrument != InstrumentNone}
		x.rt.prog, x.rt.x = p, x
		if st.Instrument != InstrumentNone {
			x.rt.stats = make([]NodeStats, p.nodes)
		}
		x.rt.init()
	}
	x.rt.st, x.rt.fc = st, st.Fn
	x.rt.epoch++
	x.opened, x.done = false, false
	x.affected, x.returned = 0, 0
	x.broken = false
	return x
}

// init makes the parts that the program's expressions refer to.
func (rt *runtime) init() {
	p := rt.prog
	rt.params = make([]paramState, p.params)
	rt.ctes = make([]*cteState, len(p.ctes))
	for i := range p.ctes {
		rt.ctes[i] = &cteState{prog: p.ctes[i], rt: rt}
	}
	rt.subPlans = make([]*subPlanState, len(p.subPlans))
	rt.inits = make([]*initPlanState, len(p.inits))
	for i, ip := range p.inits {
		rt.inits[i] = &initPlanState{prog: ip, rt: rt}
		for k, id := range ip.params {
			rt.params[id].init, rt.params[id].column = rt.inits[i], k
		}
	}
}

// Fetch delivers at most max rows, all if max is 0, and tells how many and whether the end was reached.
// A statement that changes tables is run to its end by the first Fetch.
func (x *Execution) Fetch(ctx context.Context, max int64, sink Sink) (n int64, done bool, err error) {
	if x.done {
		return 0, true, nil
	}
	x.rt.ctx = ctx
	x.rt.fc.Ctx = ctx
	if err := x.rt.canceled(); err != nil {
		return 0, false, err
	}
	x.broken = true
	n, done, err = x.fetch(max, sink)
	x.broken = false
	return n, done, err
}

func (x *Execution) fetch(max int64, sink Sink) (n int64, done bool, err error) {
	if !x.opened {
		x.opened = true
		if x.root == nil {
			x.root = x.rt.build(x.rt.prog.root)
		}
		if err := x.root.open(); err != nil {
			return 0, false, err
		}
		if x.rt.prog.modifies && max > 0 {
			x.held = newHeldRows(x.rt.prog.root.info().cols)
			if _, err := x.deliver(0, x.held); err != nil {
				return 0, false, err
			}
		}
	}
	if x.held != nil {
		n, x.done, err = x.held.deliver(max, sink)
		return n, x.done, err
	}
	n, err = x.deliver(max, sink)
	return n, x.done, err
}

// deliver pulls rows from the root.
func (x *Execution) deliver(max int64, sink Sink) (n int64, err error) {
	for max == 0 || n < max {
		want := maxBatch
		if max > 0 {
			want = int(min(int64(maxBatch), max-n))
		}
		if n > 0 {
			if err := x.rt.canceled(); err != nil {
				return n, err
			}
		}
		b, err := x.root.next(want)
		if err != nil {
			return n, err
		}
		if b == nil {
			x.done = true
			return n, x.rt.finishModifying()
		}
		n += int64(b.Len())
		x.returned += int64(b.Len())
		if sink != nil {
			if err := sink.Batch(b); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// Affected is the number of rows inserted, updated or deleted by the statement itself, or returned
// by a SELECT, so far.
func (x *Execution) Affected() int64 {
	if x.rt.prog.plan.Command == analyze.Select {
		return x.returned
	}
	return x.affected
}

// Close ends the execution.
func (x *Execution) Close() {
	x.held = nil
	if x.broken {
		// Its files and goroutines are still to be got rid of, as far as that goes.
		defer func() { _ = recover() }()
		x.closeAll()
		return
	}
	x.closeAll()
	if x.fresh {
		return
	}
	x.rt.st, x.rt.ctx, x.rt.fc = nil, nil, nil
	x.rt.prog.pool.Put(x)
}

func (x *Execution) closeAll() {
	if x.root != nil {
		x.root.close()
	}
	x.rt.closeParts()
}

// closeParts closes what hangs off the runtime rather than the root.
func (rt *runtime) closeParts() {
	for _, s := range rt.subPlans {
		if s != nil {
			s.close()
		}
	}
	for _, s := range rt.inits {
		s.close()
	}
	for _, s := range rt.ctes {
		s.close()
	}
}

// canceled is why the execution has to end, nil if it has not.
func (rt *runtime) canceled() error {
	if rt.ctx.Err() == nil {
		return nil
	}
	return context.Cause(rt.ctx)
}

// build makes the operator of a node, measured if the execution is.
func (rt *runtime) build(n node) operator {
	op := n.build(rt)
	if rt.stats == nil {
		return op
	}
	return &measured{operator: op, rt: rt, stats: &rt.stats[n.info().id]}
}
