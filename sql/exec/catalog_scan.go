package exec

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// catalogNode is a CatalogScan.
type catalogNode struct {
	scanNode
	spec *frameSpec
	keys []catalogKey
}

type catalogKey struct {
	col   int
	value *expr
}

func (c *compiler) catalogScan(n *plan.CatalogScan, info nodeInfo) (node, error) {
	s := &catalogNode{scanNode: scanNode{nodeInfo: info, rti: n.RT, rel: n.Relation}}
	sc := newScope()
	s.spec = sc.spec
	err := c.in(sc, func() error {
		for _, k := range n.Keys {
			x, err := c.expr(k.Value)
			if err != nil {
				return err
			}
			s.keys = append(s.keys, catalogKey{k.Attno - 1, x})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, c.tableScan(&s.scanNode, nil, nil)
}

func (n *catalogNode) build(rt *runtime) operator {
	op := &catalogOp{n: n, rt: rt, pr: newProjector(rt, n.proj), f: newFrame(rt, n.spec), store: newRowStore(n.rowCols)}
	op.row = make([]types.Datum, len(n.rowCols))
	return op
}

// catalogOp reads a relation of the catalog. Its rows are kept, since they come by a callback.
type catalogOp struct {
	freshness
	n     *catalogNode
	rt    *runtime
	pr    *projector
	f     *frame
	store *rowStore
	eq    []catalog.Eq
	row   []types.Datum
	at    int
	view  types.Batch
}

func (op *catalogOp) open() error {
	op.pr.reset()
	op.at = 0
	if op.holds(op.rt, op.n.depends) {
		return nil
	}
	op.forget()
	op.store.reset()
	op.eq = op.eq[:0]
	op.f.begin()
	for _, k := range op.n.keys {
		d, err := op.f.scalar(k.value)
		if err != nil || d.Null {
			return err
		}
		op.eq = append(op.eq, catalog.Eq{Col: k.col, Value: d})
	}
	if op.n.rel.Kind == catalog.KindSequence {
		return op.sequence()
	}
	cat := op.rt.st.Catalog
	if cat == nil {
		cat = op.rt.st.Session.Catalog()
	}
	n := 0
	err := cat.Scan(op.n.rel.OID, op.eq, func(row catalog.Row) error {
		for k, a := range op.n.wanted {
			op.row[k] = types.NullDatum
			if a < len(row) {
				op.row[k] = row[a]
			}
		}
		for k, num := range op.n.system {
			op.row[len(op.n.wanted)+k] = catalogSystem(num, op.n.rel.OID, n)
		}
		op.store.share(op.row)
		n++
		if n&chunkMask == 0 {
			return op.rt.canceled()
		}
		return nil
	})
	if err != nil {
		return err
	}
	op.record(op.rt, op.n.depends)
	return nil
}

// sequence reads the one row of a sequence.
func (op *catalogOp) sequence() error {
	last, logCnt, called, err := op.rt.st.Session.SequenceState(op.rt.ctx, op.n.rel)
	if err != nil {
		return err
	}
	row := []types.Datum{types.Int64Datum(last), types.Int64Datum(logCnt), types.BoolDatum(called)}
	for k, a := range op.n.wanted {
		op.row[k] = row[a]
	}
	for k, num := range op.n.system {
		op.row[len(op.n.wanted)+k] = catalogSystem(num, op.n.rel.OID, 0)
	}
	op.store.share(op.row)
	return nil
}

// catalogSystem makes up the system columns of a catalog's row.
func catalogSystem(num int, rel types.OID, n int) types.Datum {
	switch num {
	case plan.CtidColumn:
		return types.TidDatum(uint32(n/100), uint16(n%100+1))
	case plan.TableOIDColumn:
		return types.OIDDatum(rel)
	case plan.XminColumn:
		return types.Uint64Datum(1)
	}
	return types.Uint64Datum(0)
}

func (op *catalogOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.pr.emit(max)
		if b != nil || err != nil {
			return b, err
		}
		if op.at >= op.store.n {
			return nil, nil
		}
		window(&op.view, op.store.chunks[op.at>>chunkShift], op.at&chunkMask, maxBatch)
		op.at += op.view.N
		if err := op.pr.start(&op.view, nil); err != nil {
			return nil, err
		}
	}
}

func (op *catalogOp) close() {
	op.store.reset()
	op.forget()
}

// share is addRow without copying bytes, which must not change.
func (s *rowStore) share(row []types.Datum) {
	t := s.tail()
	for c := range t.Cols {
		t.Cols[c].Set(t.N, row[c])
	}
	t.N++
	s.n++
}
