package heap

import (
	"context"
	"errors"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// hwMode maps a row lock mode to the heavyweight mode that conflicts alike, as
// PostgreSQL's tupleLockExtraInfo.
var hwMode = [...]locks.Mode{
	KeyShare: locks.AccessShare, Share: locks.RowShare, NoKeyUpdate: locks.Exclusive, Update: locks.AccessExclusive,
}

// rowTag names the version that xmin made at tid.
func (h *Heap) rowTag(tid TID, xmin txn.XID) locks.Tag {
	return locks.RowVersionTag(h.c.DB, h.c.RelOID, uint32(tid.Block), tid.Offset, uint64(xmin))
}

// allTag stands for every row of the relation, where a transaction holds so many shared row locks
// that they became one.
func (h *Heap) allTag() locks.Tag {
	return locks.RowTag(h.c.DB, h.c.RelOID, uint32(storage.InvalidBlock), 0)
}

func (h *Heap) queueTag(tid TID) locks.Tag {
	return locks.TupleTag(h.c.DB, h.c.RelOID, uint32(tid.Block), tid.Offset)
}

// claim is one operation's way to a tuple it wants to change or lock: what it asks for, and
// which heavyweight locks it has taken while it waited. Those last until release.
type claim struct {
	tid  TID
	mode LockMode
	wait WaitPolicy
	// doing is what the wait is for, in the context of an error met in it: "updating tuple".
	doing string
	cur   txn.CID
	// xmin, once not 0, is who made the version the claim is for: at first the xmax of the version
	// before, where there is one.
	xmin txn.XID
	// payload and pages are what to reserve of the log: see reserve.
	payload, pages int

	queued bool // holds queueTag(tid)
	row    bool // holds rowTag(tid, xmin)
	all    bool // holds allTag
	heldAs locks.Mode
}

// release gives up what was taken while waiting. A lock kept on purpose has had its bit cleared.
func (h *Heap) release(w *Writer, c *claim) {
	if c.row {
		w.LockSess.Unlock(h.rowTag(c.tid, c.xmin), c.heldAs)
	}
	if c.all {
		w.LockSess.Unlock(h.allTag(), c.heldAs)
	}
	if c.queued {
		w.LockSess.Unlock(h.queueTag(c.tid), c.heldAs)
	}
	c.row, c.all, c.queued = false, false, false
}

// enqueue takes the heavyweight tuple lock, which lets those who wait for one row have it in
// the order they came. Requires: no latch is held. ok is false where the policy is to skip.
func (h *Heap) enqueue(ctx context.Context, w *Writer, c *claim) (ok bool, err error) {
	c.heldAs = hwMode[c.mode]
	if c.queued {
		return true, nil
	}
	if ok, err = h.lockHeavy(ctx, w, c, h.queueTag(c.tid)); ok {
		c.queued = true
	}
	return ok, err
}

// lockHeavy takes tag as the claim's policy says.
func (h *Heap) lockHeavy(ctx context.Context, w *Writer, c *claim, tag locks.Tag) (ok bool, err error) {
	err = w.LockSess.Lock(ctx, tag, hwMode[c.mode], locks.LockOptions{NoWait: c.wait != WaitBlock, Timeout: w.Tx.LockTimeout()})
	if err == nil {
		return true, nil
	}
	return false, h.refused(c, err)
}

// refused turns a lock that was not available into what the claim's policy wants: nil to skip.
func (h *Heap) refused(c *claim, err error) error {
	switch {
	case c.wait == WaitBlock || !pgerr.HasCode(err, pgerr.LockNotAvailable):
		return err
	case c.wait == WaitSkip:
		return nil
	}
	return pgerr.New(pgerr.LockNotAvailable, "could not obtain lock on row in relation %q", h.c.Name)
}

// waitXID waits for the transaction that holds the tuple's xmax.
func (h *Heap) waitXID(ctx context.Context, w *Writer, c *claim, xid txn.XID) (ok bool, err error) {
	if ok, err = h.enqueue(ctx, w, c); !ok {
		return false, err
	}
	err = h.d.Txn.WaitFor(ctx, w.Tx, xid, txn.WaitOptions{NoWait: c.wait != WaitBlock})
	if err == nil {
		return true, nil
	}
	return false, h.inContext(c, h.refused(c, err))
}

// inContext says in an error met while waiting for another transaction what was waited for.
func (h *Heap) inContext(c *claim, err error) error {
	var e *pgerr.Error
	if c.wait != WaitBlock || !errors.As(err, &e) {
		return err
	}
	own := *e // The cause of a cancelled context is everybody's.
	return own.AppendWhere("while %s (%d,%d) in relation \"%s\"", c.doing, c.tid.Block, c.tid.Offset, h.c.Name)
}

// sharedConflict tells whether another transaction holds the tuple in a shared mode (or, in any
// mode, through the lock manager) that conflicts with the claim. Requires: the page is
// latched exclusively. Invariant 5.
func (h *Heap) sharedConflict(w *Writer, c *claim) bool {
	mode := hwMode[c.mode]
	return !c.row && w.LockSess.Conflicts(h.rowTag(c.tid, c.xmin), mode) ||
		!c.all && w.LockSess.Conflicts(h.allTag(), mode)
}

// waitShared waits until no conflicting shared holder is left, and keeps new ones out until
// release. Requires: no latch is held.
func (h *Heap) waitShared(ctx context.Context, w *Writer, c *claim) (ok bool, err error) {
	if ok, err = h.enqueue(ctx, w, c); !ok {
		return false, err
	}
	if !c.row {
		if ok, err = h.lockHeavy(ctx, w, c, h.rowTag(c.tid, c.xmin)); !ok {
			return false, err
		}
		c.row = true
	}
	if !c.all && w.LockSess.Conflicts(h.allTag(), hwMode[c.mode]) {
		if ok, err = h.lockHeavy(ctx, w, c, h.allTag()); !ok {
			return false, err
		}
		c.all = true
	}
	return true, nil
}

// latched is a tuple that may be changed: its page is latched exclusively.
type latched struct {
	buf *storage.Buffer
	t   tuple
	// own is this transaction's lock in xmax, 0 for none.
	own txn.XID
	// hint has what is known of xmin.
	hint Flags
}

// latchForChange latches the tuple's page exclusively when the claim may be carried out, having
// waited for whoever was before. Otherwise the page is left unlatched and res tells why.
// Requires: buf is pinned and not latched.
func (h *Heap) latchForChange(ctx context.Context, w *Writer, buf *storage.Buffer, c *claim) (l latched, res Result, err error) {
	for {
		if err := h.reserve(c.payload, c.pages); err != nil {
			return l, res, err
		}
		buf.LockExclusive(storage.ClassHeap)
		t := h.claimed(buf, c)
		if t == nil {
			buf.UnlockExclusive()
			return l, Result{Status: Deleted, CTID: c.tid, TID: c.tid}, nil
		}
		s := h.updateStatus(t, w.Tx, c.cur)
		var ok bool
		switch {
		case s.status == Ok || s.status == BeingModified && s.own:
			if !h.sharedConflict(w, c) {
				l = latched{buf: buf, t: t, hint: s.hint & FlagXminCommitted}
				if s.own {
					l.own = t.xmax()
				}
				return l, Result{CTID: c.tid, TID: c.tid}, nil
			}
			buf.UnlockExclusive()
			ok, err = h.waitShared(ctx, w, c)
		case s.status == BeingModified:
			buf.UnlockExclusive()
			ok, err = h.waitXID(ctx, w, c, s.wait)
		default:
			res = h.resultOf(t, c.tid, s.status, w.Tx)
			buf.UnlockExclusive()
			return l, res, nil
		}
		if err != nil {
			return l, Result{}, err
		}
		if !ok {
			return l, Result{Status: WouldBlock, CTID: c.tid, TID: c.tid}, nil
		}
	}
}

// claimed returns the version c is for, nil where it is gone. Requires: buf is latched.
func (h *Heap) claimed(buf *storage.Buffer, c *claim) tuple {
	t := normalTuple(buf.Page(), c.tid.Offset)
	if t == nil || c.xmin != 0 && t.xmin() != c.xmin {
		return nil
	}
	c.xmin = t.xmin()
	return t
}

// resultOf describes why t cannot be changed. Requires: t's page is latched.
func (h *Heap) resultOf(t tuple, tid TID, status Status, tx *txn.Tx) Result {
	res := Result{Status: status, CTID: t.ctid(), Xmax: t.xmax(), TID: tid}
	if status == SelfModified {
		res.Cmax = cmax(t, tx)
	}
	return res
}

// normalTuple returns the tuple at off, nil where there is none.
func normalTuple(page storage.Page, off uint16) tuple {
	if page.IsNew() || off == 0 || int(off) > page.ItemCount() || page.State(off) != storage.LineNormal {
		return nil
	}
	return page.Item(off)
}

// keepOuterLock sees to it that overwriting the own lock in xmax does not lose it should the
// present subtransaction roll back. Invariant 4. Requires: the page is latched.
func (h *Heap) keepOuterLock(w *Writer, tid TID, l *latched, xid txn.XID) {
	if l.own == 0 || l.own == xid {
		return
	}
	w.LockSess.KeepRowLock(h.rowTag(tid, l.t.xmin()), hwMode[heldMode(l.t.flags())], uint64(l.own))
}

// heldMode is the row lock mode xmax stands for.
func heldMode(f Flags) LockMode {
	if f&FlagKeysUpdated != 0 {
		return Update
	}
	return NoKeyUpdate
}
