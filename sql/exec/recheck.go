package exec

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// recheck evaluates a plan again for one row whose newest version another transaction made
// (EvalPlanQual): a second instance of the operators in which the scans of one query level give one row each.
type recheck struct {
	parent *runtime
	rt     runtime
	op     operator
	level  int
	subs   []substitute // by range table index
}

// substitute is the one row a scan gives.
type substitute struct {
	set bool
	ok  bool // there is a row
	row oneRow
	buf engine.Row
}

// row is the substitute of a scan, nil if the scan runs as ever.
func (r *recheck) row(level, rti int) *substitute {
	if level != r.level || rti >= len(r.subs) || !r.subs[rti].set {
		return nil
	}
	return &r.subs[rti]
}

func newRecheck(rt *runtime, input node, level int) *recheck {
	r := &recheck{parent: rt, level: level}
	r.rt = runtime{prog: rt.prog, x: rt.x, ctes: rt.ctes, inits: rt.inits, epq: r}
	r.rt.params = make([]paramState, len(rt.params))
	r.rt.subPlans = make([]*subPlanState, len(rt.subPlans))
	r.op = r.rt.build(input)
	return r
}

// use returns the substitute of an entry, to be filled.
func (r *recheck) use(rti int) *substitute {
	for rti >= len(r.subs) {
		r.subs = append(r.subs, substitute{})
	}
	s := &r.subs[rti]
	s.set, s.ok = true, false
	s.row.row = &s.buf
	return s
}

// clear forgets the substitutes.
func (r *recheck) clear() {
	for i := range r.subs {
		r.subs[i].set = false
	}
}

// fetch makes the version that a mark's ctid in row i of b names the substitute.
func (r *recheck) fetch(t Table, rti int, b *types.Batch, i, col int) error {
	s := r.use(rti)
	d := b.Cols[col].Datum(i)
	if d.Null {
		return nil
	}
	ok, err := t.FetchVersion(r.parent.ctx, tidOf(d.Tid()), &s.buf)
	s.ok = ok
	return err
}

// run evaluates the plan over the substitutes: one row, or nil if the new version does not qualify.
func (r *recheck) run() (*types.Batch, error) {
	p := r.parent
	r.rt.st, r.rt.ctx, r.rt.fc = p.st, p.ctx, p.fc
	r.rt.epoch++
	for i := range p.params {
		q := &r.rt.params[i]
		q.d, q.gen, q.init, q.column = p.params[i].d, p.params[i].gen, p.params[i].init, p.params[i].column
	}
	if err := r.op.open(); err != nil {
		return nil, err
	}
	return r.op.next(1)
}

func (r *recheck) close() {
	if r == nil {
		return
	}
	r.op.close()
	for _, s := range r.rt.subPlans {
		if s != nil {
			s.close()
		}
	}
	r.clear()
}

func errConcurrentUpdate() error {
	return pgerr.New(pgerr.TRSerializationFailure, "could not serialize access due to concurrent update")
}

func errConcurrentDelete() error {
	return pgerr.New(pgerr.TRSerializationFailure, "could not serialize access due to concurrent delete")
}

// rowMark is a compiled plan.RowMark.
type rowMark struct {
	rti    int
	rel    *catalog.Relation
	ctid   int
	opts   heap.LockOptions
	locked bool // not only for reference
}

func rowMarks(marks []plan.RowMark) []rowMark {
	out := make([]rowMark, len(marks))
	for i, m := range marks {
		out[i] = rowMark{rti: m.RT, rel: m.Relation, ctid: m.CtidColumn, locked: !m.ReferenceOnly}
		if m.Strength > 0 {
			out[i].opts.Mode = heap.LockMode(m.Strength - 1)
		}
		out[i].opts.Wait = heap.WaitPolicy(m.Wait)
	}
	return out
}

// lockNode is a LockRows.
type lockNode struct {
	nodeInfo
	input node
	level int
	marks []rowMark
	proj  *projection
}

func (c *compiler) lockRows(n *plan.LockRows, info nodeInfo) (node, error) {
	l := &lockNode{nodeInfo: info, level: c.level, marks: rowMarks(n.Marks)}
	var err error
	if l.input, err = c.child(&l.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	// Locking is nothing to be done again, nor more often than is asked for.
	l.volatile = true
	l.proj, err = c.over(&l.nodeInfo, l.input.info().cols)
	return l, err
}

func (n *lockNode) build(rt *runtime) operator {
	op := &lockOp{n: n, rt: rt, child: rt.build(n.input), tables: make([]Table, len(n.marks))}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type lockOp struct {
	n       *lockNode
	rt      *runtime
	child   operator
	tables  []Table
	recheck *recheck
	in      *types.Batch
	at      int
	sel     []int32
	out     types.Batch
	row     engine.Row
	newer   []newerRow
}

// newerRow is the version a mark's lock was put on.
type newerRow struct {
	tid   engine.TID
	moved bool
}

func (op *lockOp) open() error {
	op.in, op.at = nil, 0
	return op.child.open()
}

func (op *lockOp) next(want int) (*types.Batch, error) {
	for {
		if op.in == nil || op.at == op.in.Len() {
			b, err := op.child.next(want)
			if err != nil || b == nil {
				return nil, err
			}
			op.in, op.at = b, 0
		}
		op.sel = op.sel[:0]
		rows := op.in.Rows()
		for op.at < rows.Len() {
			i := rows.At(op.at)
			keep, moved, err := op.lock(i)
			if err != nil {
				return nil, err
			}
			if moved && len(op.sel) > 0 {
				break // First the rows before it. Locking it again costs nothing.
			}
			op.at++
			switch {
			case moved:
				b, err := op.again(i)
				if err != nil {
					return nil, err
				}
				if b != nil {
					return b, nil
				}
			case keep:
				op.sel = append(op.sel, int32(i))
			}
		}
		if len(op.sel) > 0 {
			op.out.N, op.out.Sel, op.out.Cols = op.in.N, op.sel, op.in.Cols
			return &op.out, nil
		}
	}
}

// lock locks the rows that row i is made of; moved tells that one has a newer version, which is locked.
func (op *lockOp) lock(i int) (keep, moved bool, err error) {
	op.newer = op.newer[:0]
	for k := range op.n.marks {
		m := &op.n.marks[k]
		op.newer = append(op.newer, newerRow{})
		d := op.in.Cols[m.ctid].Datum(i)
		if !m.locked || d.Null {
			continue
		}
		t, err := op.table(k)
		if err != nil {
			return false, false, err
		}
		opts := m.opts
		opts.FollowUpdates = !op.rt.st.RepeatableRead
		res, err := t.LockRow(op.rt.ctx, op.rt.st.Session, op.rt.st.Snapshot, tidOf(d.Tid()), opts, &op.row)
		if err != nil {
			return false, false, err
		}
		switch res.Status {
		case heap.Ok:
			op.newer[k] = newerRow{op.row.TID, res.Traversed}
			moved = moved || res.Traversed
		case heap.WouldBlock, heap.SelfModified:
			return false, false, nil
		case heap.Updated, heap.Deleted:
			if op.rt.st.RepeatableRead {
				return false, false, errConcurrentUpdate()
			}
			return false, false, nil
		default:
			return false, false, pgerr.New(pgerr.InternalError, "attempted to lock invisible tuple")
		}
	}
	return true, moved, nil
}

func (op *lockOp) table(k int) (Table, error) {
	if op.tables[k] == nil {
		t, err := op.rt.openTable(op.n.marks[k].rel)
		if err != nil {
			return nil, err
		}
		op.tables[k] = t
	}
	return op.tables[k], nil
}

// again evaluates the conditions on the versions that were locked.
func (op *lockOp) again(i int) (*types.Batch, error) {
	if op.recheck == nil {
		op.recheck = newRecheck(op.rt, op.n.input, op.n.level)
	}
	r := op.recheck
	for k := range op.n.marks {
		m := &op.n.marks[k]
		t, err := op.table(k)
		if err != nil {
			return nil, err
		}
		if op.newer[k].tid.Valid() {
			s := r.use(m.rti)
			if s.ok, err = t.FetchVersion(op.rt.ctx, op.newer[k].tid, &s.buf); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.fetch(t, m.rti, op.in, i, m.ctid); err != nil {
			return nil, err
		}
	}
	b, err := r.run()
	r.clear()
	return b, err
}

func (op *lockOp) close() {
	op.child.close()
	op.recheck.close()
}
