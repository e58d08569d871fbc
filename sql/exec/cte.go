package exec

import (
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// cteProgram is a WITH query.
type cteProgram struct {
	root      node
	depends   []int
	modifying bool
}

// cte compiles WITH query i unless it has been.
func (c *compiler) cte(i int) error {
	if c.prog.ctes[i] != nil {
		return nil
	}
	p := &c.prog.plan.CTEs[i]
	outer := c.depends
	c.depends = &paramSet{}
	var root node
	err := c.inLevel(func() (err error) {
		root, err = c.node(p.Node)
		return err
	})
	depends := c.depends
	c.depends = outer
	if err != nil {
		return err
	}
	depends.remove(c.workParam(i))
	c.prog.ctes[i] = &cteProgram{root: root, depends: depends.ids, modifying: p.Modifying}
	return nil
}

// workParam is the number that stands for the working table of a recursive CTE among the executor parameters.
func (c *compiler) workParam(cte int) int { return c.prog.plan.Params + cte }

// cteState is a WITH query in one execution: its rows as far as anyone asked for them.
type cteState struct {
	freshness
	prog  *cteProgram
	rt    *runtime
	op    operator
	store *tupleStore
	ended bool
	// round tells readers that the rows were made anew.
	round int
	// work is the working table while a recursive one runs.
	work *tupleStore
}

// start makes the rows good for the present parameters.
func (s *cteState) start() error {
	if s.op == nil {
		s.op = s.rt.build(s.prog.root)
		s.store = newTupleStore(s.rt, s.prog.root.info().cols)
	}
	if s.holds(s.rt, s.prog.depends) {
		return nil
	}
	s.store.reset()
	s.ended = false
	s.round++
	s.record(s.rt, s.prog.depends)
	return s.op.open()
}

// more pulls some rows; false at the end.
func (s *cteState) more(max int) (bool, error) {
	if s.ended {
		return false, nil
	}
	b, err := s.op.next(max)
	if err != nil {
		return false, err
	}
	if b == nil {
		s.ended = true
		return false, nil
	}
	return true, s.store.add(b, b.Rows())
}

func (s *cteState) close() {
	if s.op != nil {
		s.op.close()
		s.store.reset()
	}
	s.forget()
}

// finishModifying runs what is left of data-modifying WITH queries.
func (rt *runtime) finishModifying() error {
	for _, s := range rt.ctes {
		if !s.prog.modifying {
			continue
		}
		if err := s.start(); err != nil {
			return err
		}
		for {
			ok, err := s.more(maxBatch)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
		}
	}
	return nil
}

// cteScanNode is a CTEScan.
type cteScanNode struct {
	nodeInfo
	cte  int
	proj *projection
}

func (c *compiler) cteScan(n *plan.CTEScan, info nodeInfo) (node, error) {
	s := &cteScanNode{nodeInfo: info, cte: n.CTE}
	if err := c.cte(n.CTE); err != nil {
		return nil, err
	}
	p := c.prog.ctes[n.CTE]
	c.depends.add(p.depends...)
	s.volatile = p.root.info().volatile
	var err error
	s.proj, err = c.over(&s.nodeInfo, p.root.info().cols)
	return s, err
}

func (n *cteScanNode) build(rt *runtime) operator {
	return projected(rt, &n.nodeInfo, &cteScanOp{cte: rt.ctes[n.cte]}, n.proj)
}

type cteScanOp struct {
	cte  *cteState
	at   int
	view types.Batch
}

func (op *cteScanOp) open() error {
	op.at = 0
	return op.cte.start()
}

func (op *cteScanOp) next(max int) (*types.Batch, error) {
	for {
		ok, err := op.cte.store.rows(&op.view, op.at, max)
		if err != nil {
			return nil, err
		}
		if ok {
			op.at += op.view.N
			return &op.view, nil
		}
		if ok, err := op.cte.more(max); err != nil || !ok {
			return nil, err
		}
	}
}

func (op *cteScanOp) close() {}

// workScanNode is a WorkTableScan.
type workScanNode struct {
	nodeInfo
	cte  int
	proj *projection
}

func (c *compiler) workTableScan(n *plan.WorkTableScan, info nodeInfo) (node, error) {
	s := &workScanNode{nodeInfo: info, cte: n.CTE}
	c.depends.add(c.workParam(n.CTE))
	in, err := c.workColumns(n)
	if err != nil {
		return nil, err
	}
	s.proj, err = c.over(&s.nodeInfo, in)
	return s, err
}

// workColumns are the columns of the recursive term's own name: those of the non-recursive term,
// which is compiled first.
func (c *compiler) workColumns(n *plan.WorkTableScan) ([]vecSpec, error) {
	if cols, ok := c.workCols[n.CTE]; ok {
		return cols, nil
	}
	return nil, errNoWorkTable()
}

func (n *workScanNode) build(rt *runtime) operator {
	return projected(rt, &n.nodeInfo, &workScanOp{cte: rt.ctes[n.cte]}, n.proj)
}

type workScanOp struct {
	cte  *cteState
	at   int
	view types.Batch
}

func (op *workScanOp) open() error {
	op.at = 0
	return nil
}

func (op *workScanOp) next(max int) (*types.Batch, error) {
	if op.cte.work == nil {
		return nil, errNoWorkTable()
	}
	ok, err := op.cte.work.rows(&op.view, op.at, max)
	if err != nil || !ok {
		return nil, err
	}
	op.at += op.view.N
	return &op.view, nil
}

func (op *workScanOp) close() {}
