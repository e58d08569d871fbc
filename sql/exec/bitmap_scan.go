package exec

import (
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// bitmapNode is a BitmapScan.
type bitmapNode struct {
	scanNode
	source *bitmapSource
}

type bitmapSource struct {
	index *catalog.Index
	keys  *indexKeys
	or    bool
	parts []*bitmapSource
}

func (c *compiler) bitmapScan(n *plan.BitmapScan, info nodeInfo) (node, error) {
	b := &bitmapNode{scanNode: scanNode{nodeInfo: info, rti: n.RT, rel: n.Relation}}
	var err error
	if b.source, err = c.bitmapSource(n.Source); err != nil {
		return nil, err
	}
	return b, c.tableScan(&b.scanNode, nil, n.Recheck)
}

func (c *compiler) bitmapSource(p *plan.BitmapSource) (*bitmapSource, error) {
	s := &bitmapSource{index: p.Index, or: p.Or}
	if len(p.Parts) == 0 {
		var err error
		s.keys, err = c.indexConds(p.Index, p.Conds)
		return s, err
	}
	for _, part := range p.Parts {
		k, err := c.bitmapSource(part)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, k)
	}
	return s, nil
}

func (n *bitmapNode) build(rt *runtime) operator {
	op := &bitmapOp{tableOp: newTableOp(rt, &n.scanNode, 1), n: n}
	op.ranges = map[*bitmapSource]*keyRanges{}
	op.scans = map[*bitmapSource]IndexScan{}
	return op
}

type bitmapOp struct {
	tableOp
	n      *bitmapNode
	ranges map[*bitmapSource]*keyRanges
	scans  map[*bitmapSource]IndexScan
	tids   []engine.TID
	at     int
	row    engine.Row
	one    oneRow
	buf    types.Batch
}

func (op *bitmapOp) open() error {
	op.tids, op.at = op.tids[:0], 0
	replaced, err := op.begin()
	if replaced || err != nil {
		return err
	}
	op.tids, err = op.collect(op.n.source)
	return err
}

// collect lists the rows of a source in table order.
func (op *bitmapOp) collect(s *bitmapSource) ([]engine.TID, error) {
	if len(s.parts) == 0 {
		return op.scanTIDs(s)
	}
	var tids []engine.TID
	for i, part := range s.parts {
		more, err := op.collect(part)
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			tids = more
		case s.or:
			tids = append(tids, more...)
		default:
			tids = intersect(tids, more)
		}
	}
	if s.or {
		sortTIDs(&tids)
	}
	return tids, nil
}

func sortTIDs(tids *[]engine.TID) {
	slices.SortFunc(*tids, engine.TID.Compare)
	*tids = slices.Compact(*tids)
}

func intersect(a, b []engine.TID) []engine.TID {
	out := a[:0]
	j := 0
	for _, t := range a {
		for j < len(b) && b[j].Compare(t) < 0 {
			j++
		}
		if j < len(b) && b[j] == t {
			out = append(out, t)
		}
	}
	return out
}

// scanTIDs reads the rows of one index condition.
func (op *bitmapOp) scanTIDs(s *bitmapSource) ([]engine.TID, error) {
	kr := op.ranges[s]
	if kr == nil {
		kr = newKeyRanges(op.rt, s.keys)
		op.ranges[s] = kr
	}
	scan := op.scans[s]
	if scan == nil {
		var err error
		if scan, err = op.table.NewIndexScan(s.index.OID, engine.IndexScanOptions{TIDs: true}); err != nil {
			return nil, err
		}
		op.scans[s] = scan
	}
	if err := kr.start(false); err != nil {
		return nil, err
	}
	var tids []engine.TID
	for r := kr.next(); r != nil; r = kr.next() {
		if err := scan.Seek(op.rt.st.Snapshot, r); err != nil {
			return nil, err
		}
		for {
			if err := op.rt.canceled(); err != nil {
				return nil, err
			}
			ok, err := scan.Next(op.rt.ctx, &op.buf)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			tids = append(tids, scan.TIDs()...)
		}
	}
	sortTIDs(&tids)
	return tids, nil
}

func (op *bitmapOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		if op.at == len(op.tids) {
			op.done = true
			op.noteRemoved()
			return nil, nil
		}
		if err := op.rt.canceled(); err != nil {
			return nil, err
		}
		ok, err := op.table.FetchVersion(op.rt.ctx, op.tids[op.at], &op.row)
		op.at++
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		op.one.row = &op.row
		if err := op.pr.start(op.rows.take(&op.one), nil); err != nil {
			return nil, err
		}
	}
}

func (op *bitmapOp) close() {
	for _, s := range op.scans {
		s.Close()
	}
}
