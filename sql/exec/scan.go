package exec

import (
	"encoding/binary"
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// scanNode is what the scans of tables have in common. The rows that filter and targets are over
// have the attributes wanted, then the system columns asked for.
type scanNode struct {
	nodeInfo
	rti     int
	level   int // the query level, for re-evaluation
	rel     *catalog.Relation
	wanted  []int // attributes, from 0, ascending
	system  []int // system column numbers
	rowCols []vecSpec
	proj    *projection
	// again are the conditions an index takes care of, for a row that does not come from it.
	again *projection
	share bool // a Gather's goroutines share it
}

// scanMap maps the columns of a relation to those of a scan's rows.
type scanMap struct{ n *scanNode }

func (m scanMap) position(index int, _ types.OID) (int, error) {
	if index < 0 {
		if i := slices.Index(m.n.system, index); i >= 0 {
			return len(m.n.wanted) + i, nil
		}
	} else if i, ok := slices.BinarySearch(m.n.wanted, index); ok {
		return i, nil
	}
	return 0, pgerr.New(pgerr.InternalError, "column %d of a scan of \"%s\" was not collected", index, m.n.rel.Name)
}

// collect notes the columns that expressions read.
func (n *scanNode) collect(lists ...[]analyze.Expr) {
	for _, list := range lists {
		for _, e := range list {
			plan.Visit(e, func(e analyze.Expr) bool {
				if c, ok := e.(*plan.Col); ok && c.Input == 0 {
					n.want(c.Index)
				}
				return true
			})
		}
	}
}

func (n *scanNode) want(index int) {
	if index < 0 {
		if !slices.Contains(n.system, index) {
			n.system = append(n.system, index)
		}
		return
	}
	if i, ok := slices.BinarySearch(n.wanted, index); !ok {
		n.wanted = slices.Insert(n.wanted, i, index)
	}
}

func systemType(num int) vecSpec {
	switch num {
	case plan.CtidColumn:
		return vecSpec{types.Tid, types.Bytes}
	case plan.XminColumn, plan.XmaxColumn:
		return vecSpec{types.Xid, types.Word}
	case plan.CminColumn, plan.CmaxColumn:
		return vecSpec{types.Cid, types.Word}
	}
	return vecSpec{types.Oid, types.Word}
}

// tableScan compiles the common part. conds are what the index takes care of, extra what it does not.
func (c *compiler) tableScan(n *scanNode, conds, extra []analyze.Expr) error {
	b := n.plan.Common()
	n.level = c.level
	targets := b.Targets
	if targets == nil {
		targets = allColumns(n.rel)
	}
	filter := b.Filter
	if len(extra) > 0 {
		filter = append(append([]analyze.Expr(nil), extra...), filter...)
	}
	n.collect(filter, targets)
	rechecks := c.rechecks && len(conds) > 0
	if rechecks {
		n.collect(conds)
	}
	all := c.relationColumns(n.rel)
	for _, a := range n.wanted {
		if a >= len(all) {
			return pgerr.New(pgerr.InternalError, "attribute %d of relation \"%s\" does not exist", a+1, n.rel.Name)
		}
		n.rowCols = append(n.rowCols, all[a])
	}
	for _, s := range n.system {
		n.rowCols = append(n.rowCols, systemType(s))
	}
	var err error
	if n.proj, err = c.compileProjection(newScope(scanMap{n}), filter, targets, n.rowCols); err != nil {
		return err
	}
	n.cols = n.proj.cols
	n.volatile = n.volatile || n.proj.volatile
	if rechecks {
		n.again, err = c.compileProjection(newScope(scanMap{n}), conds, nil, n.rowCols)
	}
	return err
}

func allColumns(rel *catalog.Relation) []analyze.Expr {
	var out []analyze.Expr
	for i := range rel.Attrs {
		a := &rel.Attrs[i]
		out = append(out, &plan.Col{Typed: analyze.Typed{Typ: a.Type, Mod: a.Typmod, Coll: a.Collation, Loc: -1}, Index: i})
	}
	return out
}

// scanRows is the batch a scan reads into: the engine fills the wanted attributes, fillSystem the rest.
type scanRows struct {
	n     *scanNode
	row   types.Batch // all columns
	table types.Batch // the engine's part, the same vectors
	full  []types.Vector
}

func (s *scanRows) init(n *scanNode, capacity int) {
	s.n = n
	s.row = *newChunk(n.rowCols, capacity)
	s.full = append([]types.Vector(nil), s.row.Cols...)
	s.table.Cols = s.row.Cols[:len(n.wanted):len(n.wanted)]
}

func (s *scanRows) capacity() int { return chunkCap(&types.Batch{Cols: s.full}) }

// limit makes the engine see room for only n rows.
func (s *scanRows) limit(n int) {
	for i := range s.n.wanted {
		f, v := &s.full[i], &s.table.Cols[i]
		v.Null = f.Null[:n]
		if v.Class == types.Word {
			v.W = f.W[:n]
		} else {
			v.B = f.B[:n]
		}
	}
}

// headers is where system columns come from.
type headers interface {
	TIDs() []engine.TID
	Header(i int) heap.Header
}

// fill completes the row batch after the engine has filled its part.
func (s *scanRows) fill(h headers) *types.Batch {
	s.row.N, s.row.Sel = s.table.N, s.table.Sel
	for k, num := range s.n.system {
		v := &s.row.Cols[len(s.n.wanted)+k]
		if len(v.Null) < s.row.N {
			growVector(v, s.row.N)
		}
		v.Reset()
		for i := range s.row.N {
			setSystem(v, i, num, s.n.rel.OID, h, i)
		}
	}
	return &s.row
}

func setSystem(v *types.Vector, at, num int, rel types.OID, h headers, i int) {
	v.Null[at] = false
	switch num {
	case plan.CtidColumn:
		setTID(v, at, h.TIDs()[i])
	case plan.TableOIDColumn:
		v.W[at] = uint64(rel)
	default:
		v.W[at] = headerColumn(h.Header(i), num)
	}
}

// setTID stores a tid as types.TidDatum would.
func setTID(v *types.Vector, at int, t engine.TID) {
	var b [6]byte
	binary.BigEndian.PutUint32(b[:], uint32(t.Block))
	binary.BigEndian.PutUint16(b[4:], t.Offset)
	v.SetBytes(at, b[:])
}

func headerColumn(h heap.Header, num int) uint64 {
	switch num {
	case plan.XminColumn:
		return uint64(uint32(h.Xmin))
	case plan.XmaxColumn:
		return uint64(uint32(h.XmaxShown()))
	}
	return uint64(h.CID)
}

// oneRow is the header of a fetched row.
type oneRow struct {
	row  *engine.Row
	tids [1]engine.TID
}

func (o *oneRow) TIDs() []engine.TID {
	o.tids[0] = o.row.TID
	return o.tids[:]
}

func (o *oneRow) Header(int) heap.Header { return o.row.Header }

// take makes a batch of one fetched row.
func (s *scanRows) take(o *oneRow) *types.Batch {
	for k, a := range s.n.wanted {
		d := types.NullDatum
		if a < len(o.row.Values) {
			d = o.row.Values[a]
		}
		s.row.Cols[k].Set(0, d)
	}
	s.table.N, s.table.Sel = 1, nil
	return s.fill(o)
}

// tableOp is what the operators of table scans have in common.
type tableOp struct {
	n     *scanNode
	rt    *runtime
	pr    *projector
	again *projector
	rows  scanRows
	table Table
	done  bool
	sub   *substitute // in a re-evaluation: the row the scan gives
}

func newTableOp(rt *runtime, n *scanNode, capacity int) tableOp {
	op := tableOp{n: n, rt: rt, pr: newProjector(rt, n.proj)}
	if n.again != nil && rt.epq != nil {
		op.again = newProjector(rt, n.again)
	}
	op.rows.init(n, capacity)
	return op
}

// begin starts a scan. It tells whether the scan is replaced by one row.
func (op *tableOp) begin() (replaced bool, err error) {
	op.done = false
	op.pr.reset()
	if op.rt.epq != nil {
		if op.sub = op.rt.epq.row(op.n.level, op.n.rti); op.sub != nil {
			return true, op.replace()
		}
	}
	if op.table == nil {
		op.table, err = op.rt.openTable(op.n.rel)
	}
	return false, err
}

// replace makes the substituted row the only one.
func (op *tableOp) replace() error {
	op.done = true
	if !op.sub.ok {
		return nil
	}
	b := op.rows.take(&op.sub.row)
	if op.again != nil {
		op.again.reset()
		if err := op.again.start(b, nil); err != nil {
			return err
		}
		if b, err := op.again.emit(1); b == nil || err != nil {
			return err
		}
	}
	return op.pr.start(b, nil)
}

func (op *tableOp) noteRemoved() {
	if st := op.rt.nodeStats(&op.n.nodeInfo); st != nil {
		st.RemovedByFilter += op.pr.removed
		op.pr.removed = 0
	}
}

// needsHeaders tells whether the scan has to ask for TIDs and headers.
func (n *scanNode) needsHeaders() bool {
	for _, s := range n.system {
		if s != plan.TableOIDColumn {
			return true
		}
	}
	return false
}

// seqScanNode is a SeqScan.
type seqScanNode struct{ scanNode }

func (c *compiler) seqScan(n *plan.SeqScan, info nodeInfo) (node, error) {
	s := &seqScanNode{scanNode{nodeInfo: info, rti: n.RT, rel: n.Relation, share: n.Workers > 0}}
	return s, c.tableScan(&s.scanNode, nil, nil)
}

// pageRows is the capacity of a sequential scan's batches: no page has more rows of any width.
const pageRows = 512

func (n *seqScanNode) build(rt *runtime) operator {
	return &seqScanOp{tableOp: newTableOp(rt, &n.scanNode, 32)}
}

type seqScanOp struct {
	tableOp
	scan  Scan
	share *sharedScan // the blocks are shared with other goroutines
}

func (op *seqScanOp) open() error {
	replaced, err := op.begin()
	if replaced || err != nil {
		return err
	}
	if op.scan == nil {
		op.scan = op.table.NewScan(op.rt.st.Snapshot, engine.ScanOptions{
			Columns: op.n.wanted, TIDs: op.n.needsHeaders(),
		})
	} else {
		op.scan.Rewind(op.rt.st.Snapshot)
	}
	op.share = nil
	if op.n.share && op.rt.shared != nil {
		if op.share, err = op.rt.shared.scan(op.n.id, op.table); err != nil {
			return err
		}
		op.done = !op.share.next(op.scan)
	}
	return nil
}

func (op *seqScanOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		if err := op.rt.canceled(); err != nil {
			return nil, err
		}
		if op.rows.table.N == op.rows.capacity() && op.rows.capacity() < pageRows {
			op.rows.init(op.n, min(4*op.rows.capacity(), pageRows))
		}
		ok, err := op.scan.Next(op.rt.ctx, &op.rows.table)
		if err != nil {
			return nil, err
		}
		if !ok {
			if op.share != nil && op.share.next(op.scan) {
				continue
			}
			op.done = true
			op.noteRemoved()
			return nil, nil
		}
		if err := op.pr.start(op.rows.fill(op.scan), nil); err != nil {
			return nil, err
		}
	}
}

func (op *seqScanOp) close() {
	if op.scan != nil {
		op.scan.Close()
	}
}

// tidScanNode is a TidScan.
type tidScanNode struct {
	scanNode
	spec   *frameSpec
	values []*expr
	array  bool
	cursor string // of WHERE CURRENT OF; values are none then
}

func (c *compiler) tidScan(n *plan.TidScan, info nodeInfo) (node, error) {
	t := &tidScanNode{scanNode: scanNode{nodeInfo: info, rti: n.RT, rel: n.Relation}, array: n.IsArray}
	s := newScope()
	t.spec = s.spec
	values := n.Values
	if current, ok := values[0].(*analyze.CurrentOf); ok {
		t.cursor, values = current.Cursor, nil
	}
	err := c.in(s, func() (err error) {
		t.values, err = c.exprs(values)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.volatile = s.volatile
	return t, c.tableScan(&t.scanNode, nil, nil)
}

func (n *tidScanNode) build(rt *runtime) operator {
	return &tidScanOp{tableOp: newTableOp(rt, &n.scanNode, 1), n: n, f: newFrame(rt, n.spec)}
}

type tidScanOp struct {
	tableOp
	n    *tidScanNode
	f    *frame
	tids []engine.TID
	at   int
	row  engine.Row
	one  oneRow
}

func (op *tidScanOp) open() error {
	op.tids, op.at = op.tids[:0], 0
	replaced, err := op.begin()
	if replaced || err != nil {
		return err
	}
	if op.n.cursor != "" {
		return op.currentOf()
	}
	op.f.begin()
	for _, e := range op.n.values {
		d, err := op.f.scalar(e)
		if err != nil {
			return err
		}
		if d.Null {
			continue
		}
		if !op.n.array {
			op.addTID(d)
			continue
		}
		a := d.Array()
		it := a.Iter()
		for d, ok := it.Next(); ok; d, ok = it.Next() {
			if !d.Null {
				op.addTID(d)
			}
		}
	}
	slices.SortFunc(op.tids, engine.TID.Compare)
	op.tids = slices.Compact(op.tids)
	return nil
}

// currentOf finds the row a cursor is on. This transaction may have updated it since the cursor read it: then the
// version that the statement's snapshot sees is meant.
func (op *tidScanOp) currentOf() error {
	tid, ok, err := op.rt.st.CurrentOf(op.n.cursor, op.n.rel)
	if err != nil || !ok {
		return err
	}
	var prior txn.XID
	for {
		seen, err := op.table.FetchVisible(op.rt.ctx, op.rt.st.Snapshot, tid, &op.row)
		if seen {
			op.tids = append(op.tids, tid)
		}
		if seen || err != nil {
			return err
		}
		ok, err := op.table.FetchVersion(op.rt.ctx, tid, &op.row)
		if err != nil || !ok || !op.row.Header.Replaced() || prior != 0 && op.row.Header.Xmin != prior {
			return err
		}
		tid, prior = op.row.Header.CTID, op.row.Header.Xmax
	}
}

func (op *tidScanOp) addTID(d types.Datum) {
	block, offset := d.Tid()
	op.tids = append(op.tids, tidOf(block, offset))
}

func (op *tidScanOp) next(max int) (*types.Batch, error) {
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
		tid := op.tids[op.at]
		op.at++
		if !tid.Valid() {
			continue
		}
		blocks, err := op.table.Blocks()
		if err != nil {
			return nil, err
		}
		if tid.Block >= blocks {
			continue
		}
		ok, err := op.table.FetchVisible(op.rt.ctx, op.rt.st.Snapshot, tid, &op.row)
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

func (op *tidScanOp) close() {}
