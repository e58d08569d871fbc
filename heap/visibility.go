package heap

import "github.com/minipg/minipg/txn"

// This file decides who sees a tuple. It follows heapam_visibility.c; the
// functions read a tuple's bytes under a latch or from a private copy and return
// the hints worth setting, which hint.go writes under invariant 3.

// cmin returns the command that inserted t. Requires: t.xmin is current in tx.
func cmin(t tuple, tx *txn.Tx) txn.CID {
	if t.flags()&FlagComboCID == 0 {
		return t.cid()
	}
	c, _ := tx.ResolveCombo(t.cid())
	return c
}

// cmax returns the command that deleted t. Requires: t.xmax is current in tx.
func cmax(t tuple, tx *txn.Tx) txn.CID {
	if t.flags()&FlagComboCID == 0 {
		return t.cid()
	}
	_, c := tx.ResolveCombo(t.cid())
	return c
}

func isCurrent(tx *txn.Tx, xid txn.XID) bool { return tx != nil && tx.HasXID() && tx.IsCurrent(xid) }

// visible tells whether snap sees t. hint has the bits now known.
func (h *Heap) visible(t tuple, snap *txn.Snapshot) (ok bool, hint Flags) {
	f := t.flags()
	if f&flagsXminFrozen != flagsXminFrozen {
		switch {
		case f&FlagXminInvalid != 0:
			return false, 0
		case f&FlagXminCommitted != 0:
			if xmin := t.xmin(); xmin >= snap.Xmin && !snap.Committed(xmin) {
				return false, 0
			}
		default:
			xmin := t.xmin()
			if isCurrent(snap.Tx, xmin) {
				return visibleOwn(t, f, snap)
			}
			if !snap.Committed(xmin) {
				return false, h.hintFor(xmin, 0, FlagXminInvalid)
			}
			hint = h.hintFor(xmin, FlagXminCommitted, 0)
		}
	}
	if f&(FlagXmaxInvalid|FlagXmaxLockOnly) != 0 {
		return true, hint
	}
	xmax := t.xmax()
	if f&FlagXmaxCommitted != 0 {
		return xmax >= snap.Xmin && !snap.Committed(xmax), hint
	}
	if isCurrent(snap.Tx, xmax) {
		return cmax(t, snap.Tx) >= snap.CurCID, hint
	}
	if !snap.Committed(xmax) {
		return true, hint | h.hintFor(xmax, 0, FlagXmaxInvalid)
	}
	return false, hint | h.hintFor(xmax, FlagXmaxCommitted, 0)
}

// visibleOwn is visible for a tuple the snapshot's own transaction inserted.
func visibleOwn(t tuple, f Flags, snap *txn.Snapshot) (bool, Flags) {
	if cmin(t, snap.Tx) >= snap.CurCID {
		return false, 0
	}
	if f&(FlagXmaxInvalid|FlagXmaxLockOnly) != 0 {
		return true, 0
	}
	if !isCurrent(snap.Tx, t.xmax()) {
		return true, 0 // a subtransaction of ours deleted it and rolled back
	}
	return cmax(t, snap.Tx) >= snap.CurCID, 0
}

// hintFor returns the flag that records what became of xid: committed or aborted; 0 while
// that is open or not to be told yet.
func (h *Heap) hintFor(xid txn.XID, committed, aborted Flags) Flags {
	st, _ := h.d.Txn.Status(xid)
	switch st {
	case txn.Committed:
		if committed != 0 && h.commitFlushed(xid) {
			return committed
		}
	case txn.Aborted:
		return aborted
	}
	return 0
}

// updateState is what updateStatus found.
type updateState struct {
	status Status
	// wait is the transaction in progress that holds xmax, for BeingModified.
	wait txn.XID
	// own says xmax is a live lock of this transaction.
	own  bool
	hint Flags
}

// updateStatus tells whether tx may change t, at command cur. Follows
// HeapTupleSatisfiesUpdate.
func (h *Heap) updateStatus(t tuple, tx *txn.Tx, cur txn.CID) updateState {
	f := t.flags()
	var s updateState
	switch {
	case f&flagsXminFrozen == FlagXminInvalid:
		return updateState{status: Invisible}
	case f&FlagXminCommitted != 0:
	default:
		xmin := t.xmin()
		if isCurrent(tx, xmin) {
			return h.updateStatusOwn(t, f, tx, cur)
		}
		if st, _ := h.d.Txn.Status(xmin); st != txn.Committed {
			return updateState{status: Invisible}
		} else if h.commitFlushed(xmin) {
			s.hint |= FlagXminCommitted
		}
	}
	if f&FlagXmaxInvalid != 0 {
		return s
	}
	xmax := t.xmax()
	if f&FlagXmaxCommitted != 0 {
		s.status = deletedStatus(f)
		return s
	}
	if isCurrent(tx, xmax) {
		if f&FlagXmaxLockOnly != 0 {
			s.status, s.own = BeingModified, true
			return s
		}
		s.status = SelfModified
		if cmax(t, tx) < cur {
			s.status = Invisible
		}
		return s
	}
	switch st, _ := h.d.Txn.Status(xmax); {
	case st == txn.InProgress:
		s.status, s.wait = BeingModified, xmax
	case st == txn.Aborted || f&FlagXmaxLockOnly != 0:
		s.hint |= FlagXmaxInvalid
	default:
		s.status = deletedStatus(f)
		if h.commitFlushed(xmax) {
			s.hint |= FlagXmaxCommitted
		}
	}
	return s
}

// updateStatusOwn is updateStatus for a tuple of this transaction's own.
func (h *Heap) updateStatusOwn(t tuple, f Flags, tx *txn.Tx, cur txn.CID) updateState {
	if cmin(t, tx) >= cur {
		return updateState{status: Invisible}
	}
	if f&FlagXmaxInvalid != 0 {
		return updateState{}
	}
	xmax := t.xmax()
	if !isCurrent(tx, xmax) {
		// Only a lock can be another's: nobody else saw the tuple, except through a subtransaction
		// of ours that rolled back.
		return updateState{hint: FlagXmaxInvalid}
	}
	switch {
	case f&FlagXmaxLockOnly != 0:
		return updateState{status: BeingModified, own: true}
	case cmax(t, tx) >= cur:
		return updateState{status: SelfModified}
	}
	return updateState{status: Invisible}
}

func deletedStatus(f Flags) Status {
	if f&FlagReplaced != 0 {
		return Updated
	}
	return Deleted
}

// vacuumState tells what VACUUM may do with t when horizon is the oldest XID anybody may
// still ask about. Follows HeapTupleSatisfiesVacuum.
func (h *Heap) vacuumState(t tuple, horizon txn.XID) (st TupleState, hint Flags) {
	f := t.flags()
	switch {
	case f&flagsXminFrozen == FlagXminInvalid:
		return StateDead, 0
	case f&FlagXminCommitted != 0:
	default:
		switch st, _ := h.d.Txn.Status(t.xmin()); {
		case st == txn.InProgress:
			if f&(FlagXmaxInvalid|FlagXmaxLockOnly) != 0 {
				return StateInsertInProgress, 0
			}
			if st, _ := h.d.Txn.Status(t.xmax()); st == txn.Aborted {
				return StateInsertInProgress, 0
			}
			return StateDeleteInProgress, 0
		case st == txn.Aborted:
			return StateDead, FlagXminInvalid
		case h.commitFlushed(t.xmin()):
			hint = FlagXminCommitted
		}
	}
	if f&FlagXmaxInvalid != 0 {
		return StateLive, hint
	}
	xmax := t.xmax()
	if f&FlagXmaxCommitted == 0 {
		switch st, _ := h.d.Txn.Status(xmax); {
		case st == txn.InProgress:
			if f&FlagXmaxLockOnly != 0 {
				return StateLive, hint
			}
			return StateDeleteInProgress, hint
		case st == txn.Aborted || f&FlagXmaxLockOnly != 0:
			return StateLive, hint | FlagXmaxInvalid
		case h.commitFlushed(xmax):
			hint |= FlagXmaxCommitted
		}
	}
	if xmax < horizon {
		return StateDead, hint
	}
	return StateRecentlyDead, hint
}
