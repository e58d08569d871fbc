package heap

import (
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// Liveness is a uniqueness check's view of what a TID leads to.
type Liveness uint8

const (
	// ChainDead: no version is live, whatever the transactions in progress do.
	ChainDead Liveness = iota
	// ChainLive: a version is live (committed, or this transaction's own).
	ChainLive
	// ChainWait: it depends on the outcome of LiveResult.Wait.
	ChainWait
)

// LiveResult is what LiveStatus found.
type LiveResult struct {
	State Liveness
	// Wait is the transaction that inserts or deletes the version, for ChainWait.
	Wait txn.XID
	// TID is the live or waited-for version.
	TID TID
	// AllDead, for ChainDead: dead to every snapshot; the index entry may be marked killed.
	AllDead bool
}

// LiveStatus tells a uniqueness check of tx whether the TID of an index entry leads to a live row.
// It looks at what is there now (a dirty snapshot), not at what a snapshot sees.
func (h *Heap) LiveStatus(tid TID, tx *txn.Tx) (LiveResult, error) {
	buf, err := h.read(tid.Block, nil)
	if err != nil {
		return LiveResult{}, err
	}
	buf.LockShared(storage.ClassHeap)
	defer buf.ReleaseShared()
	w := walk(buf.Page(), tid)
	for t := w.next(); t != nil; t = w.next() {
		if live, wait := h.dirty(t, tx); live {
			res := LiveResult{State: ChainLive, Wait: wait, TID: w.tid}
			if wait != 0 {
				res.State = ChainWait
			}
			return res, nil
		}
	}
	return LiveResult{State: ChainDead, AllDead: h.chainDead(buf.Page(), tid)}, nil
}

// dirty tells whether t is live, or may be once wait (if not 0) has ended. Follows
// HeapTupleSatisfiesDirty.
func (h *Heap) dirty(t tuple, tx *txn.Tx) (live bool, wait txn.XID) {
	f := t.flags()
	switch {
	case f&flagsXminFrozen == FlagXminInvalid:
		return false, 0
	case f&FlagXminCommitted != 0:
	default:
		xmin := t.xmin()
		if isCurrent(tx, xmin) {
			break
		}
		switch st, _ := h.d.Txn.Status(xmin); st {
		case txn.InProgress:
			return true, xmin
		case txn.Aborted:
			return false, 0
		}
	}
	if f&(FlagXmaxInvalid|FlagXmaxLockOnly) != 0 {
		return true, 0
	}
	if f&FlagXmaxCommitted != 0 {
		return false, 0
	}
	xmax := t.xmax()
	if isCurrent(tx, xmax) {
		return false, 0
	}
	switch st, _ := h.d.Txn.Status(xmax); st {
	case txn.InProgress:
		return true, xmax
	case txn.Aborted:
		return true, 0
	}
	return false, 0
}
