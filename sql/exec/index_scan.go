package exec

import (
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// indexScanNode is an IndexScan.
type indexScanNode struct {
	scanNode
	index     *catalog.Index
	keys      *indexKeys
	backward  bool
	indexOnly bool
	unique    bool
}

func (c *compiler) indexScan(n *plan.IndexScan, info nodeInfo) (node, error) {
	s := &indexScanNode{
		scanNode: scanNode{nodeInfo: info, rti: n.RT, rel: n.Relation}, index: n.Index,
		backward: n.Backward, indexOnly: n.IndexOnly, unique: n.Unique,
	}
	var err error
	if s.keys, err = c.indexConds(n.Index, n.Conds); err != nil {
		return nil, err
	}
	if err := c.tableScan(&s.scanNode, s.keys.all, s.keys.extra); err != nil {
		return nil, err
	}
	s.indexOnly = s.indexOnly && s.covered()
	return s, nil
}

// covered tells whether the index has every attribute wanted.
func (n *indexScanNode) covered() bool {
	for _, a := range n.wanted {
		if !slices.ContainsFunc(n.index.Keys, func(k catalog.IndexKey) bool { return int(k.AttNum) == a+1 }) {
			return false
		}
	}
	return true
}

func (n *indexScanNode) build(rt *runtime) operator {
	capacity := 16
	if n.unique {
		capacity = 1
	}
	op := &indexScanOp{tableOp: newTableOp(rt, &n.scanNode, capacity), n: n, ranges: newKeyRanges(rt, n.keys)}
	op.room = capacity
	return op
}

type indexScanOp struct {
	tableOp
	n      *indexScanNode
	scan   IndexScan
	ranges *keyRanges
	room   int // rows the engine sees room for
	tried  int
	seek   bool // the next range is to be begun
}

func (op *indexScanOp) open() error {
	op.tried, op.seek = 0, true
	replaced, err := op.begin()
	if replaced || err != nil {
		return err
	}
	if op.scan == nil {
		op.scan, err = op.table.NewIndexScan(op.n.index.OID, engine.IndexScanOptions{
			Columns: op.n.wanted, Backward: op.n.backward, IndexOnly: op.n.indexOnly, TIDs: op.n.needsHeaders(),
		})
		if err != nil {
			return err
		}
	}
	return op.ranges.start(op.n.backward)
}

func (op *indexScanOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		if op.seek {
			if err := op.rt.canceled(); err != nil {
				return nil, err
			}
			r := op.ranges.next()
			if r == nil {
				op.end()
				return nil, nil
			}
			if err := op.scan.Seek(op.rt.st.Snapshot, r); err != nil {
				return nil, err
			}
			op.seek = false
		}
		op.setRoom(op.pr.want(max, op.tried, op.n.volatile))
		op.tried++
		ok, err := op.scan.Next(op.rt.ctx, &op.rows.table)
		if err != nil {
			return nil, err
		}
		if !ok {
			op.seek = true
			continue
		}
		if err := op.pr.start(op.rows.fill(op.scan), nil); err != nil {
			return nil, err
		}
		if op.n.unique && len(op.ranges.lists) > 0 && op.ranges.last() {
			op.done = true
			op.noteRemoved()
			if b, err := op.pr.emit(max); b != nil || err != nil {
				return b, err
			}
			return nil, nil
		}
	}
}

// last tells whether there is no range after the present one.
func (kr *keyRanges) last() bool {
	for i, p := range kr.pick {
		if p+1 < len(kr.lists[i]) {
			return false
		}
	}
	return true
}

// setRoom lets the engine fill at most n rows; the vectors grow with what is asked for.
func (op *indexScanOp) setRoom(n int) {
	n = min(n, maxBatch)
	if op.n.unique {
		n = 1
	}
	if have := op.rows.capacity(); n > have {
		if op.rows.table.N < have && op.tried > 0 || op.tried == 0 {
			n = have
		} else {
			op.rows.init(op.n.scan(), min(n, 4*have))
			op.room = op.rows.capacity()
			n = min(n, op.room)
		}
	}
	if n != op.room {
		op.rows.limit(n)
		op.room = n
	}
}

func (n *indexScanNode) scan() *scanNode { return &n.scanNode }

func (op *indexScanOp) end() {
	op.done = true
	op.noteRemoved()
	if st := op.rt.nodeStats(&op.n.nodeInfo); st != nil && op.n.indexOnly {
		st.HeapFetches = op.scan.HeapFetches()
	}
}

func (op *indexScanOp) close() {
	if op.scan != nil {
		op.scan.Close()
	}
}
