package exec

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// gatherNode is a Gather.
type gatherNode struct {
	nodeInfo
	input   node
	workers int
	inits   []int // parameters of init plans that the input reads
	proj    *projection
}

func (c *compiler) gather(n *plan.Gather, info nodeInfo) (node, error) {
	g := &gatherNode{nodeInfo: info, workers: n.Workers}
	outer := c.usedInits
	c.usedInits = &paramSet{}
	var err error
	g.input, err = c.child(&g.nodeInfo, n.Input)
	g.inits = c.usedInits.ids
	if outer != nil {
		outer.add(g.inits...)
	}
	c.usedInits = outer
	if err != nil {
		return nil, err
	}
	g.proj, err = c.over(&g.nodeInfo, g.input.info().cols)
	return g, err
}

func (n *gatherNode) build(rt *runtime) operator {
	return projected(rt, &n.nodeInfo, &gatherOp{n: n, rt: rt}, n.proj)
}

// gatherShared is what the goroutines of a Gather have in common.
type gatherShared struct {
	mu struct {
		sync.Mutex
		scans  map[int]*sharedScan
		states []partialState
	}
}

// sharedScan deals out a table's blocks.
type sharedScan struct {
	blocks storage.BlockNumber
	taken  atomic.Uint32
}

// shareBlocks is how many blocks a goroutine takes at a time.
const shareBlocks = 32

// next points a scan at the next blocks; false when there are none left.
func (s *sharedScan) next(scan Scan) bool {
	start := storage.BlockNumber(s.taken.Add(shareBlocks) - shareBlocks)
	if start >= s.blocks {
		return false
	}
	scan.SetRange(start, min(start+shareBlocks, s.blocks))
	return true
}

// scan returns the shared scan of a node, begun by whoever comes first.
func (g *gatherShared) scan(id int, t Table) (*sharedScan, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.mu.scans[id]; s != nil {
		return s, nil
	}
	n, err := t.Blocks()
	if err != nil {
		return nil, err
	}
	s := &sharedScan{blocks: n}
	g.mu.scans[id] = s
	return s, nil
}

// keepState takes a partial aggregate's state of a group and returns a word that stands for it.
func (g *gatherShared) keepState(s *aggStates, a *aggregate, group int) types.Datum {
	p := partialState{}
	if a.flat() {
		w := a.agg.Flat.Words
		p.words = append([]uint64(nil), s.words[group*w:group*w+w]...)
	} else {
		p.state = s.states[group]
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.states = append(g.mu.states, p)
	return types.Uint64Datum(uint64(len(g.mu.states) - 1))
}

// takeState gives back what keepState took.
func (rt *runtime) takeState(w uint64) partialState {
	g := rt.gathered
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mu.states[w]
	g.mu.states[w] = partialState{}
	return p
}

// gatherOp runs its input in several goroutines and passes on what they send.
type gatherOp struct {
	n      *gatherNode
	rt     *runtime
	cancel context.CancelFunc
	wg     sync.WaitGroup
	out    chan gatherItem
	shared *gatherShared
	stats  [][]NodeStats
	cur    *types.Batch
	at     int
	view   types.Batch
}

// gatherItem is a batch of a worker's, or what ended it.
type gatherItem struct {
	b        *types.Batch
	err      error
	panicked any
}

func (op *gatherOp) open() error {
	op.stop()
	op.cur = nil
	workers := op.n.workers + 1
	if op.rt.st.NoParallel {
		workers = 1
	}
	params := make([]paramState, len(op.rt.params))
	for i := range params {
		params[i].d, params[i].gen = op.rt.params[i].d.Clone(), op.rt.params[i].gen
	}
	for _, id := range op.n.inits {
		d, err := op.rt.param(id)
		if err != nil {
			return err
		}
		params[id].d = d.Clone()
	}
	op.shared = &gatherShared{}
	op.shared.mu.scans = map[int]*sharedScan{}
	op.rt.gathered = op.shared
	ctx, cancel := context.WithCancel(op.rt.ctx)
	op.cancel = cancel
	op.out = make(chan gatherItem, 2*workers)
	op.stats = nil
	for range workers {
		rt := op.worker(ctx, params)
		op.wg.Add(1)
		go op.work(rt)
	}
	go func(out chan gatherItem) {
		op.wg.Wait()
		close(out)
	}(op.out)
	if st := op.rt.nodeStats(&op.n.nodeInfo); st != nil {
		st.WorkersLaunched = workers - 1
	}
	return nil
}

// worker makes the runtime of a goroutine.
func (op *gatherOp) worker(ctx context.Context, params []paramState) *runtime {
	fc := *op.rt.fc
	fc.Ctx, fc.Call = ctx, nil
	rt := &runtime{
		prog: op.rt.prog, st: op.rt.st, ctx: ctx, fc: &fc, x: op.rt.x, shared: op.shared,
		params: slices.Clone(params), subPlans: make([]*subPlanState, len(op.rt.subPlans)), ctes: op.rt.ctes, epoch: 1,
	}
	if op.rt.stats != nil {
		rt.stats = make([]NodeStats, len(op.rt.stats))
		op.stats = append(op.stats, rt.stats)
	}
	return rt
}

// work runs the input in one goroutine. It ends when the input does, or the context.
func (op *gatherOp) work(rt *runtime) {
	defer op.wg.Done()
	last := gatherItem{}
	defer func() {
		if p := recover(); p != nil {
			last.panicked = p
		}
		if last.err != nil || last.panicked != nil {
			select {
			case op.out <- last:
			case <-rt.ctx.Done():
			}
		}
	}()
	in := rt.build(op.n.input)
	defer in.close()
	if last.err = in.open(); last.err != nil {
		return
	}
	for {
		b, err := in.next(maxBatch)
		if err != nil || b == nil {
			last.err = err
			return
		}
		// The operator will use its batch again: this one is the consumer's own.
		own := newRowStore(op.n.input.info().cols)
		own.add(b, b.Rows())
		for _, c := range own.chunks {
			select {
			case op.out <- gatherItem{b: c}:
			case <-rt.ctx.Done():
				return
			}
		}
	}
}

func (op *gatherOp) next(max int) (*types.Batch, error) {
	for op.cur == nil || op.at == op.cur.N {
		select {
		case item, ok := <-op.out:
			if !ok {
				op.merge()
				return nil, op.rt.canceled()
			}
			if item.panicked != nil {
				op.stop()
				panic(item.panicked)
			}
			if item.err != nil {
				return nil, item.err
			}
			op.cur, op.at = item.b, 0
		case <-op.rt.ctx.Done():
			return nil, op.rt.canceled()
		}
	}
	window(&op.view, op.cur, op.at, max)
	op.at += op.view.N
	return &op.view, nil
}

// merge adds the workers' measurements to the session's.
func (op *gatherOp) merge() {
	for _, ws := range op.stats {
		for i := range ws {
			op.rt.stats[i].add(&ws[i])
		}
	}
	op.stats = nil
}

func (s *NodeStats) add(o *NodeStats) {
	s.Loops += o.Loops
	s.Rows += o.Rows
	s.Startup += o.Startup
	s.Total += o.Total
	s.RemovedByFilter += o.RemovedByFilter
	s.RemovedByJoin += o.RemovedByJoin
	s.RemovedByRecheck += o.RemovedByRecheck
	s.HeapFetches += o.HeapFetches
	s.SpaceBytes = max(s.SpaceBytes, o.SpaceBytes)
	if s.Method == "" {
		s.Method, s.SpaceOnDisk = o.Method, o.SpaceOnDisk
	}
	s.HashBuckets, s.HashBatches = max(s.HashBuckets, o.HashBuckets), max(s.HashBatches, o.HashBatches)
}

// stop ends the workers and waits for them.
func (op *gatherOp) stop() {
	if op.cancel == nil {
		return
	}
	op.cancel()
	for range op.out {
		// Until the channel is closed, which is when the last worker has ended.
	}
	op.cancel = nil
}

func (op *gatherOp) close() { op.stop() }
