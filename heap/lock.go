package heap

import (
	"context"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// maxSharedRowLocks bounds how many rows of one relation a transaction holds in a shared mode one
// by one. Past it the transaction holds every row of the relation.
const maxSharedRowLocks = 1 << 14

// rowLockCount counts shared row locks of one transaction in one relation.
type rowLockCount struct {
	last locks.Tag // while it is held in lastMode the count goes on
	mode locks.Mode
	rel  uint32
	n    int
}

// LockTuple locks the row at tid until the transaction ends; dst, if not nil, receives the version
// locked. With FollowUpdates that is the newest one, for EvalPlanQual. Follows
// heap_lock_tuple and heapam_tuple_lock.
func (h *Heap) LockTuple(ctx context.Context, w *Writer, snap *txn.Snapshot, tid TID, opts LockOptions, dst *FetchBuf) (Result, error) {
	c := claim{doing: "locking tuple", tid: tid, mode: opts.Mode, wait: opts.Wait, cur: snap.CurCID, pages: 2}
	for traversed := false; ; traversed = true {
		res, err := h.lockVersion(ctx, w, &c, dst)
		h.release(w, &c)
		res.Traversed = traversed
		if err != nil || res.Status != Updated || !opts.FollowUpdates {
			if traversed && res.Status == Invisible {
				// An earlier row of this very command led to the same newest version.
				res.Status = SelfModified
			}
			return res, err
		}
		c.tid, c.xmin = res.CTID, res.Xmax
	}
}

// lockVersion locks exactly the version c names.
func (h *Heap) lockVersion(ctx context.Context, w *Writer, c *claim, dst *FetchBuf) (Result, error) {
	buf, err := h.read(c.tid.Block, nil)
	if err != nil {
		return Result{}, err
	}
	defer buf.Unpin()
	if c.mode <= Share {
		return h.lockShared(ctx, w, buf, c, dst)
	}
	xid := h.xid(w)
	l, res, err := h.latchForChange(ctx, w, buf, c)
	if err != nil || res.Status != Ok {
		return res, err
	}
	if l.own == 0 || heldMode(l.t.flags()) < c.mode {
		err = h.lockExclusive(w, &l, c, xid)
	}
	if err == nil {
		dst.take(l.t, c.tid)
	}
	buf.UnlockExclusive()
	return res, err
}

// lockExclusive enters the lock in the latched tuple's xmax.
func (h *Heap) lockExclusive(w *Writer, l *latched, c *claim, xid txn.XID) error {
	vm, err := h.pinForClear(l.buf, &w.vm)
	if err != nil {
		return err
	}
	h.keepOuterLock(w, c.tid, l, xid)
	wal.Critical(func() {
		f := l.t.flags()&^flagsXmax | l.hint | FlagXmaxLockOnly
		if c.mode == Update {
			f |= FlagKeysUpdated
		}
		l.t.setXmax(xid)
		l.t.setCtid(c.tid) // it may still name the new version of an update that rolled back
		l.t.setFlags(f)
		l.buf.MarkDirty()
		clearFrozen(l.buf, vm)
		if h.logged {
			b := w.Builder
			h.begin(b, kindLock, xid, l.buf, 0)
			put16(b, 0, c.tid.Offset, uint16(f))
			var rec uint8
			if vm != nil {
				rec |= recVM
				b.RegisterBuffer(1, vm.Buffer(), 0)
			}
			b.Data(rec)
			h.stamp(h.d.Log.Insert(b), l.buf, nil, vm, nil)
		}
		releaseVM(vm)
	})
	return nil
}

// lockShared takes the row in a shared mode, in the lock manager.
func (h *Heap) lockShared(ctx context.Context, w *Writer, buf *storage.Buffer, c *claim, dst *FetchBuf) (Result, error) {
	h.restartCount(w)
	w.shared = w.shared[:0]
	for {
		buf.LockShared(storage.ClassHeap)
		t := h.claimed(buf, c)
		if t == nil {
			buf.UnlockShared()
			return Result{Status: Deleted, CTID: c.tid, TID: c.tid}, nil
		}
		s := h.updateStatus(t, w.Tx, c.cur)
		got, chain := s.status == Ok || s.own, false
		if !got && c.mode == KeyShare && (s.status == BeingModified || s.status == Updated) {
			// Who leaves the key alone does not conflict, but the next version is ours to hold as well.
			got = t.flags()&FlagKeysUpdated == 0
			chain = got && t.flags()&FlagReplaced != 0
		}
		if !got && s.status != BeingModified {
			res := h.resultOf(t, c.tid, s.status, w.Tx)
			buf.UnlockShared()
			return res, nil
		}
		if got && (s.own || h.holdShared(w, c)) {
			dst.take(t, c.tid)
			next, xmax := t.ctid(), t.xmax()
			buf.UnlockShared()
			if chain {
				return h.lockNewer(ctx, w, c, next, xmax)
			}
			return Result{CTID: c.tid, TID: c.tid}, nil
		}
		buf.UnlockShared()
		var ok bool
		var err error
		if got {
			ok, err = h.queueShared(ctx, w, c)
		} else {
			h.dropShared(w, c)
			ok, err = h.waitXID(ctx, w, c, s.wait)
		}
		if err != nil {
			return Result{}, err
		}
		if !ok {
			return Result{Status: WouldBlock, CTID: c.tid, TID: c.tid}, nil
		}
	}
}

// holdShared makes this transaction a holder of the row without waiting; false where it would
// have to. Requires: the page is latched. Invariant 5.
func (h *Heap) holdShared(w *Writer, c *claim) bool {
	mode := hwMode[c.mode]
	if c.row { // got while waiting, now kept
		c.row = false
		w.shared = append(w.shared, h.rowTag(c.tid, c.xmin))
		h.countShared(w, c)
		return true
	}
	if w.LockSess.Holds(h.allTag(), mode) {
		return !w.LockSess.Conflicts(h.rowTag(c.tid, c.xmin), mode)
	}
	if !w.LockSess.TryLock(h.rowTag(c.tid, c.xmin), mode, locks.LockOptions{}) {
		return false
	}
	w.shared = append(w.shared, h.rowTag(c.tid, c.xmin))
	h.countShared(w, c)
	return true
}

// countShared turns the transaction's row locks into one for the whole relation when they
// become too many. Nobody can object: it holds of each row what it held already, and
// rows it has not visited are claimed only by those who then wait for it.
func (h *Heap) countShared(w *Writer, c *claim) {
	n := &w.rowLocks
	n.last, n.mode = h.rowTag(c.tid, c.xmin), hwMode[c.mode]
	if n.n++; n.n >= maxSharedRowLocks && w.LockSess.TryLock(h.allTag(), n.mode, locks.LockOptions{}) {
		n.n = 0
	}
}

// restartCount forgets locks that ended with an earlier transaction. It is called before
// a row is taken, which might be the very row counted last.
func (h *Heap) restartCount(w *Writer) {
	n := &w.rowLocks
	if n.rel != h.c.RelOID || n.n > 0 && !w.LockSess.Holds(n.last, n.mode) {
		*n = rowLockCount{rel: h.c.RelOID}
	}
}

// queueShared waits for the right to hold the row in a shared mode.
func (h *Heap) queueShared(ctx context.Context, w *Writer, c *claim) (ok bool, err error) {
	if ok, err = h.enqueue(ctx, w, c); !ok {
		return false, err
	}
	if ok, err = h.lockHeavy(ctx, w, c, h.rowTag(c.tid, c.xmin)); ok {
		c.row = true
	}
	return ok, err
}

// dropShared gives up a shared lock got while waiting for a row that since was taken by another:
// to wait for it with the lock held could deadlock.
func (h *Heap) dropShared(w *Writer, c *claim) {
	if c.row {
		w.LockSess.Unlock(h.rowTag(c.tid, c.xmin), c.heldAs)
		c.row = false
	}
}

// lockNewer holds FOR KEY SHARE the versions after the one locked, up to the newest, so that nobody
// deletes the row or changes its key there. Follows heap_lock_updated_tuple.
func (h *Heap) lockNewer(ctx context.Context, w *Writer, first *claim, tid TID, xmax txn.XID) (Result, error) {
	ok := Result{CTID: first.tid, TID: first.tid}
	for {
		c := claim{doing: "locking updated version of tuple", tid: tid, mode: first.mode, wait: first.wait, xmin: xmax}
		next, more, res, err := h.lockNewerVersion(ctx, w, &c)
		h.release(w, &c)
		if err != nil || res.Status != Ok {
			// The row is not ours: give up its versions, too.
			for _, tag := range w.shared {
				w.LockSess.Unlock(tag, hwMode[first.mode])
			}
			res.TID = first.tid
			return res, err
		}
		if !more {
			return ok, nil
		}
		tid, xmax = next.CTID, next.Xmax
	}
}

// lockNewerVersion holds one version; next is the one after it, if more.
func (h *Heap) lockNewerVersion(ctx context.Context, w *Writer, c *claim) (next Result, more bool, res Result, err error) {
	buf, err := h.read(c.tid.Block, nil)
	if err != nil {
		return next, false, res, err
	}
	defer buf.Unpin()
	for {
		buf.LockShared(storage.ClassHeap)
		t := h.claimed(buf, c)
		if t == nil {
			buf.UnlockShared()
			return next, false, res, nil // the chain ended: its update rolled back
		}
		if st, _ := h.d.Txn.Status(t.xmin()); st == txn.Aborted {
			buf.UnlockShared()
			return next, false, res, nil
		}
		st, wait := h.xmaxStatus(t, w.Tx)
		keys := t.flags()&FlagKeysUpdated != 0
		var ok bool
		switch {
		case keys && st == txn.InProgress:
			buf.UnlockShared()
			ok, err = h.waitXID(ctx, w, c, wait)
		case keys && st == txn.Committed:
			res = h.resultOf(t, c.tid, deletedStatus(t.flags()), w.Tx)
			buf.UnlockShared()
			return next, false, res, nil
		case h.holdShared(w, c):
			more = st != txn.Aborted && t.flags()&FlagReplaced != 0
			next = Result{CTID: t.ctid(), Xmax: t.xmax()}
			buf.UnlockShared()
			return next, more, res, nil
		default:
			buf.UnlockShared()
			ok, err = h.queueShared(ctx, w, c)
		}
		if err != nil || !ok {
			res.Status = WouldBlock
			return next, false, res, err
		}
	}
}

// xmaxStatus tells what became of whoever changed or locked t: Aborted where nobody did or the lock
// is over; InProgress with the XID to wait for unless it is this transaction.
func (h *Heap) xmaxStatus(t tuple, tx *txn.Tx) (txn.Status, txn.XID) {
	f := t.flags()
	if f&FlagXmaxInvalid != 0 {
		return txn.Aborted, 0
	}
	xmax := t.xmax()
	if isCurrent(tx, xmax) {
		return txn.Aborted, 0
	}
	st, _ := h.d.Txn.Status(xmax)
	if st == txn.Committed && f&FlagXmaxLockOnly != 0 {
		st = txn.Aborted
	}
	return st, xmax
}
