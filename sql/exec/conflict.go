package exec

import (
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
)

// insertOrConflict inserts a row with ON CONFLICT. Follows ExecInsert and ExecOnConflictUpdate.
func (op *modifyOp) insertOrConflict(i int) error {
	k := op.n.conflict
	op.take(op.in, i, op.row)
	if err := op.check.row(op.row); err != nil {
		return err
	}
	for {
		tid, rival, ok, err := op.table.InsertOrConflict(op.rt.ctx, op.rt.st.Session, op.row, k.indexes, op.insertOptions())
		if err != nil {
			return err
		}
		st := op.rt.nodeStats(&op.n.nodeInfo)
		if ok {
			op.count()
			if st != nil {
				st.Inserted++
			}
			return op.result(op.row, tid, op.in, i)
		}
		if st != nil {
			st.Conflicting++
		}
		if !k.update {
			return op.checkVisible(rival)
		}
		done, err := op.updateRival(rival, i)
		if done || err != nil {
			return err
		}
	}
}

// checkVisible keeps a transaction with one snapshot from being guided by a row it does not see.
func (op *modifyOp) checkVisible(tid engine.TID) error {
	if !op.rt.st.RepeatableRead {
		return nil
	}
	ok, err := op.table.FetchVersion(op.rt.ctx, tid, &op.old)
	if err != nil || !ok {
		return err
	}
	if op.rt.st.Session.Tx().IsCurrent(op.old.Header.Xmin) {
		return nil
	}
	ok, err = op.table.FetchVisible(op.rt.ctx, op.rt.st.Snapshot, tid, &op.old)
	if err == nil && !ok {
		err = errConcurrentUpdate()
	}
	return err
}

// updateRival updates the row in the way; false if it is not there any more and the insertion is to be tried again.
func (op *modifyOp) updateRival(tid engine.TID, i int) (bool, error) {
	st, k := op.rt.st, op.n.conflict
	res, err := op.table.LockRow(op.rt.ctx, st.Session, st.Snapshot, tid, heap.LockOptions{Mode: k.lock}, &op.locked)
	if err != nil {
		return false, err
	}
	switch res.Status {
	case heap.Ok:
	case heap.Invisible, heap.SelfModified:
		return false, pgerr.New(pgerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
			WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
	case heap.Updated:
		if st.RepeatableRead {
			return false, errConcurrentUpdate()
		}
		return false, nil
	default:
		if st.RepeatableRead {
			return false, errConcurrentDelete()
		}
		return false, nil
	}
	if err := op.checkVisible(tid); err != nil {
		return false, err
	}
	ok, err := op.conflictRow()
	if err != nil || !ok {
		return true, err
	}
	newTID, res, err := op.table.Update(op.rt.ctx, st.Session, st.Snapshot, tid, op.locked.Values, op.newRow, op.updateOptions())
	if err != nil {
		return false, err
	}
	if res.Status != heap.Ok {
		return false, pgerr.New(pgerr.InternalError, "unexpected state of a locked row: %v", res.Status)
	}
	op.count()
	return true, op.result(op.newRow, newTID, op.in, i)
}

// conflictRow computes the new version of the existing, locked row; false if WHERE does not hold.
func (op *modifyOp) conflictRow() (bool, error) {
	k := op.n.conflict
	op.fill(&op.existing, op.locked.Values, op.locked.TID, op.locked.Header)
	op.fill(&op.proposed, op.row, heap.InvalidTID, heap.Header{Xmin: op.locked.Header.Xmin})
	op.cf.in[0], op.cf.in[1] = &op.existing, &op.proposed
	op.cf.begin()
	if k.where != nil {
		hit, err := k.where.selectRows(op.cf, one(), op.cf.filterSel[:0])
		if err != nil || len(hit) == 0 {
			return false, err
		}
	}
	copy(op.newRow, op.locked.Values)
	for _, a := range k.set {
		v, err := a.expr.eval(op.cf, one())
		if err != nil {
			return false, err
		}
		op.newRow[a.att] = v.Datum(0)
	}
	return true, op.check.row(op.newRow)
}
