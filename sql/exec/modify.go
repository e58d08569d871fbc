package exec

import (
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// modifyNode is a ModifyTable.
type modifyNode struct {
	nodeInfo
	input   node
	command analyze.Command
	rel     *catalog.Relation
	rti     int
	level   int
	ctid    int
	counts  bool // its rows are those the statement reports
	row     rowShape
	marks   []rowMark
	lock    heap.LockMode
	// needOld: an update has to know the old row's values, to keep the indexes.
	needOld   bool
	conflict  *conflict
	returning *projection
	returnCol bool // RETURNING reads the row's own columns
	header    bool // RETURNING reads the header of the version written
	rowCols   []vecSpec
}

// conflict is a compiled ON CONFLICT.
type conflict struct {
	indexes []types.OID
	update  bool
	spec    *frameSpec
	set     []assignment
	where   *expr
	lock    heap.LockMode
}

type assignment struct {
	att  int // from 0
	expr *expr
}

// tableMap maps the columns of a table's row, as ModifyTable's expressions see it, to a batch with all
// attributes and then the system columns.
type tableMap struct {
	atts   int
	used   bool
	header bool // a column of the tuple header is
}

// systemColumns are the system columns such a row has, in order.
var systemColumns = [...]int{
	plan.CtidColumn, plan.XminColumn, plan.CminColumn, plan.XmaxColumn, plan.CmaxColumn, plan.TableOIDColumn,
}

func (m *tableMap) position(index int, _ types.OID) (int, error) {
	m.used = true
	if index < 0 {
		m.header = m.header || index != plan.CtidColumn && index != plan.TableOIDColumn
		return m.atts + slices.Index(systemColumns[:], index), nil
	}
	if index >= m.atts {
		return 0, pgerr.New(pgerr.InternalError, "attribute %d of a relation of %d", index+1, m.atts)
	}
	return index, nil
}

func (c *compiler) modifyTable(n *plan.ModifyTable, info nodeInfo) (node, error) {
	m := &modifyNode{
		nodeInfo: info, command: n.Command, rel: n.Relation, rti: n.RT, level: c.level, ctid: n.CtidColumn,
		counts: plan.Node(n) == c.prog.plan.Root, marks: rowMarks(n.Marks), lock: heap.Update,
	}
	m.volatile = true
	var err error
	if m.input, err = c.child(&m.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	if err := c.rowShape(&m.row, n.Relation, n.Generated, n.Checks); err != nil {
		return nil, err
	}
	m.rowCols = m.row.cols
	if n.Command == analyze.Update {
		changed := append([]int(nil), n.Assigned...)
		for att := range n.Generated {
			changed = append(changed, att)
		}
		m.needOld, m.lock = indexesRead(n.Relation, changed)
	}
	if n.Conflict != nil {
		if m.conflict, err = c.conflict(n, m); err != nil {
			return nil, err
		}
	}
	if n.Returning {
		own := &tableMap{atts: len(n.Relation.Attrs)}
		s := newScope(own, newIdentity(len(m.input.info().cols)))
		if m.returning, err = c.compileProjection(s, nil, n.Targets, nil); err != nil {
			return nil, err
		}
		m.cols, m.returnCol, m.header = m.returning.cols, own.used, own.header
	}
	return m, nil
}

// indexesRead tells whether an update of the attributes has to compare old and new rows for an index's sake, and how
// strongly it locks the row: as strong as a deletion if it may change a key that a foreign key can point at.
func indexesRead(rel *catalog.Relation, changed []int) (needOld bool, lock heap.LockMode) {
	lock = heap.NoKeyUpdate
	for _, x := range rel.Indexes {
		if x.Predicate != "" {
			needOld = true
		}
		for _, k := range x.Keys {
			switch {
			case k.AttNum == 0:
				needOld = true
			case slices.Contains(changed, int(k.AttNum)):
				needOld = true
				if x.Unique {
					lock = heap.Update
				}
			}
		}
	}
	return needOld, lock
}

func (c *compiler) conflict(n *plan.ModifyTable, m *modifyNode) (*conflict, error) {
	k := &conflict{indexes: n.Conflict.Indexes, update: n.Conflict.Update}
	atts := len(n.Relation.Attrs)
	s := newScope(&tableMap{atts: atts}, &tableMap{atts: atts})
	k.spec = s.spec
	var changed []int
	err := c.in(s, func() error {
		for _, a := range n.Conflict.Set {
			x, err := c.expr(a.Expr)
			if err != nil {
				return err
			}
			k.set = append(k.set, assignment{a.Attno - 1, x})
			changed = append(changed, a.Attno)
		}
		var err error
		k.where, err = c.conjunction(n.Conflict.Where)
		return err
	})
	for att := range n.Generated {
		changed = append(changed, att)
	}
	_, k.lock = indexesRead(n.Relation, changed)
	return k, err
}

func (n *modifyNode) build(rt *runtime) operator {
	op := &modifyOp{n: n, rt: rt, child: rt.build(n.input)}
	op.check.init(rt, &n.row)
	op.row = make([]types.Datum, len(n.rel.Attrs))
	op.returned = *newChunk(n.rowCols, 1)
	if n.returning != nil {
		op.pr = newProjector(rt, n.returning)
	}
	if n.conflict != nil {
		op.cf = newFrame(rt, n.conflict.spec)
		op.existing, op.proposed = *newChunk(n.rowCols, 1), *newChunk(n.rowCols, 1)
		op.newRow = make([]types.Datum, len(n.rel.Attrs))
	}
	return op
}

type modifyOp struct {
	n     *modifyNode
	rt    *runtime
	child operator
	table Table
	check rowCheck
	row   []types.Datum

	in   *types.Batch
	rows types.Rows
	at   int
	// What RETURNING shows: the row as a batch of one, and its input row.
	returned types.Batch
	inputRow types.Batch
	pr       *projector

	recheck *recheck
	old     engine.Row
	written engine.Row
	locked  engine.Row

	batch [][]types.Datum // rows of an insertion of many
	flat  []types.Datum
	tids  []engine.TID
	shown int // rows of it that RETURNING has dealt with

	cf                 *frame
	existing, proposed types.Batch
	newRow             []types.Datum
}

func (op *modifyOp) open() error {
	op.in, op.at = nil, 0
	op.batch, op.shown = op.batch[:0], 0
	if op.pr != nil {
		op.pr.reset()
	}
	if op.table == nil {
		t, err := op.rt.openTable(op.n.rel)
		if err != nil {
			return err
		}
		op.table = t
	}
	return op.child.open()
}

// next changes rows until there is one to return; without RETURNING, all of them.
func (op *modifyOp) next(max int) (*types.Batch, error) {
	for {
		if op.pr != nil {
			if b, err := op.pr.emit(max); b != nil || err != nil {
				return b, err
			}
		}
		if op.shown < len(op.batch) {
			k := op.shown
			op.shown++
			if err := op.result(op.batch[k], op.tids[k], op.in, op.rows.At(k)); err != nil {
				return nil, err
			}
			continue
		}
		if op.in == nil || op.at == op.rows.Len() {
			b, err := op.child.next(maxBatch)
			if err != nil || b == nil {
				op.in = nil
				return nil, err
			}
			if err := op.rt.canceled(); err != nil {
				return nil, err
			}
			op.in, op.rows, op.at = b, b.Rows(), 0
		}
		if err := op.change(); err != nil {
			return nil, err
		}
	}
}

// change deals with the next row, or with the whole batch at once.
func (op *modifyOp) change() error {
	switch op.n.command {
	case analyze.Insert:
		if op.n.conflict == nil && op.rows.Len() > 1 {
			return op.insertBatch()
		}
		i := op.rows.At(op.at)
		op.at++
		if op.n.conflict != nil {
			return op.insertOrConflict(i)
		}
		return op.insert(i)
	case analyze.Update:
		i := op.rows.At(op.at)
		op.at++
		return op.update(i)
	}
	i := op.rows.At(op.at)
	op.at++
	return op.delete(i)
}

// take copies the new row at position i of b to row.
func (op *modifyOp) take(b *types.Batch, i int, row []types.Datum) {
	for c := range row {
		row[c] = b.Cols[c].Datum(i)
	}
}

func (op *modifyOp) insert(i int) error {
	op.take(op.in, i, op.row)
	if err := op.check.row(op.row); err != nil {
		return err
	}
	tid, err := op.table.Insert(op.rt.ctx, op.rt.st.Session, op.row, op.insertOptions())
	if err != nil {
		return err
	}
	op.count()
	return op.result(op.row, tid, op.in, i)
}

func (op *modifyOp) insertOptions() engine.InsertOptions {
	return engine.InsertOptions{DeferUnique: op.rt.st.DeferUnique}
}

func (op *modifyOp) updateOptions() engine.UpdateOptions {
	return engine.UpdateOptions{DeferUnique: op.rt.st.DeferUnique}
}

// insertBatch inserts all rows of the batch. An error of a row's constraints is raised after the rows before it
// are in, whose own errors come first.
func (op *modifyOp) insertBatch() error {
	width := len(op.row)
	n := op.rows.Len()
	if cap(op.flat) < n*width {
		op.flat = make([]types.Datum, n*width)
	}
	op.batch = op.batch[:0]
	var failed error
	for ; op.at < n; op.at++ {
		k := len(op.batch)
		row := op.flat[k*width : (k+1)*width : (k+1)*width]
		op.take(op.in, op.rows.At(op.at), row)
		if failed = op.check.row(row); failed != nil {
			break
		}
		op.batch = append(op.batch, row)
	}
	var err error
	op.tids, err = op.table.InsertBatch(op.rt.ctx, op.rt.st.Session, op.batch, op.tids[:0], op.insertOptions())
	if err != nil {
		return err
	}
	if op.n.counts {
		op.rt.x.affected += int64(len(op.batch))
	}
	if op.shown = len(op.batch); op.pr != nil {
		op.shown = 0
	}
	return failed
}

func (op *modifyOp) count() {
	if op.n.counts {
		op.rt.x.affected++
	}
}

// result has the projector compute RETURNING for a row.
func (op *modifyOp) result(row []types.Datum, tid engine.TID, in *types.Batch, i int) error {
	if op.pr == nil {
		return nil
	}
	h, err := op.headerOf(tid)
	if err != nil {
		return err
	}
	op.fill(&op.returned, row, tid, h)
	window(&op.inputRow, in, i, 1)
	return op.pr.start(&op.returned, &op.inputRow)
}

// headerOf is the header of the version written, or deleted, at tid, where RETURNING reads it.
func (op *modifyOp) headerOf(tid engine.TID) (heap.Header, error) {
	if !op.n.header {
		return heap.Header{}, nil
	}
	_, err := op.table.FetchVersion(op.rt.ctx, tid, &op.written)
	return op.written.Header, err
}

// fill makes a batch of one row.
func (op *modifyOp) fill(b *types.Batch, row []types.Datum, tid engine.TID, h heap.Header) {
	for c := range row {
		b.Cols[c].Set(0, row[c])
	}
	for k, num := range systemColumns {
		v := &b.Cols[len(row)+k]
		v.Null[0] = false
		switch num {
		case plan.CtidColumn:
			v.Reset()
			setTID(v, 0, tid)
		case plan.TableOIDColumn:
			v.W[0] = uint64(op.n.rel.OID)
		default:
			v.W[0] = headerColumn(h, num)
		}
	}
	b.N = 1
}

func (op *modifyOp) update(i int) error {
	tid := tidOf(op.in.Cols[op.n.ctid].Datum(i).Tid())
	b := op.in
	for {
		op.take(b, i, op.row)
		if err := op.check.row(op.row); err != nil {
			return err
		}
		old := op.row
		if op.n.needOld {
			ok, err := op.table.FetchVersion(op.rt.ctx, tid, &op.old)
			if err != nil {
				return err
			}
			if ok {
				old = op.old.Values
			}
		}
		newTID, res, err := op.table.Update(op.rt.ctx, op.rt.st.Session, op.rt.st.Snapshot, tid, old, op.row, op.updateOptions())
		if err != nil {
			return err
		}
		if res.Status == heap.Ok {
			op.count()
			return op.result(op.row, newTID, b, i)
		}
		if b, err = op.again(tid, res, i); err != nil || b == nil {
			return err
		}
		i, tid = b.Rows().At(0), op.locked.TID
	}
}

func (op *modifyOp) delete(i int) error {
	tid := tidOf(op.in.Cols[op.n.ctid].Datum(i).Tid())
	b := op.in
	for {
		if op.n.returnCol {
			if _, err := op.table.FetchVersion(op.rt.ctx, tid, &op.old); err != nil {
				return err
			}
		}
		res, err := op.table.Delete(op.rt.ctx, op.rt.st.Session, op.rt.st.Snapshot, tid, op.updateOptions())
		if err != nil {
			return err
		}
		if res.Status == heap.Ok {
			op.count()
			return op.deleted(tid, b, i)
		}
		if b, err = op.again(tid, res, i); err != nil || b == nil {
			return err
		}
		i, tid = b.Rows().At(0), op.locked.TID
	}
}

func (op *modifyOp) deleted(tid engine.TID, in *types.Batch, i int) error {
	if op.pr == nil {
		return nil
	}
	row := op.row
	if op.n.returnCol {
		row = op.old.Values
	}
	h, err := op.headerOf(tid)
	if err != nil {
		return err
	}
	op.fill(&op.returned, row, tid, h)
	window(&op.inputRow, in, i, 1)
	return op.pr.start(&op.returned, &op.inputRow)
}

// again deals with a row that could not be changed: one that another transaction updated is locked in its newest
// version and, if it still qualifies, its input row is returned to be tried with. Follows ExecUpdate.
func (op *modifyOp) again(tid engine.TID, res heap.Result, i int) (*types.Batch, error) {
	st := op.rt.st
	switch res.Status {
	case heap.SelfModified:
		if res.Cmax != st.Snapshot.CurCID {
			return nil, errTriggered(op.n.command)
		}
		return nil, nil // A join gave the row twice: the first one counts.
	case heap.Deleted:
		if st.RepeatableRead {
			return nil, errConcurrentDelete()
		}
		return nil, nil
	case heap.Updated:
		if st.RepeatableRead {
			return nil, errConcurrentUpdate()
		}
	default:
		return nil, pgerr.New(pgerr.InternalError, "attempted to %s invisible tuple", commandVerb(op.n.command))
	}
	res, err := op.table.LockRow(op.rt.ctx, st.Session, st.Snapshot, tid,
		heap.LockOptions{Mode: op.n.lock, FollowUpdates: true}, &op.locked)
	if err != nil {
		return nil, err
	}
	switch res.Status {
	case heap.Ok:
	case heap.SelfModified:
		if res.Cmax != st.Snapshot.CurCID {
			return nil, errTriggered(op.n.command)
		}
		return nil, nil
	default:
		return nil, nil
	}
	return op.requalify(i)
}

// requalify evaluates the input again for the locked version of its row.
func (op *modifyOp) requalify(i int) (*types.Batch, error) {
	if op.recheck == nil {
		op.recheck = newRecheck(op.rt, op.n.input, op.n.level)
	}
	r := op.recheck
	s := r.use(op.n.rti)
	s.ok, s.row.row = true, &op.locked
	for k := range op.n.marks {
		m := &op.n.marks[k]
		t, err := op.rt.openTable(m.rel)
		if err != nil {
			return nil, err
		}
		// The input row at hand may be one of an earlier re-evaluation: the other relations' rows are the same.
		if err := r.fetch(t, m.rti, op.in, i, m.ctid); err != nil {
			return nil, err
		}
	}
	b, err := r.run()
	r.clear()
	return b, err
}

func commandVerb(c analyze.Command) string {
	if c == analyze.Delete {
		return "delete"
	}
	return "update"
}

func errTriggered(c analyze.Command) error {
	return pgerr.New(pgerr.TriggeredDataChangeViolation,
		"tuple to be %sd was already modified by an operation triggered by the current command", commandVerb(c)).
		WithHint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.")
}

func (op *modifyOp) close() {
	op.child.close()
	op.recheck.close()
}
