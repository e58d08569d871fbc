package heap

import (
	"fmt"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// TID names a tuple: its block and its line pointer, counted from 1.
type TID struct {
	Block  storage.BlockNumber
	Offset uint16
}

// InvalidTID names no tuple.
var InvalidTID = TID{Block: storage.InvalidBlock}

// Valid tells whether t can name a tuple.
func (t TID) Valid() bool { return t.Offset != 0 && t.Block != storage.InvalidBlock }

// Compare orders TIDs by block, then offset.
func (t TID) Compare(o TID) int {
	switch {
	case t.Block < o.Block:
		return -1
	case t.Block > o.Block:
		return 1
	}
	return int(t.Offset) - int(o.Offset)
}

func (t TID) String() string { return fmt.Sprintf("(%d,%d)", t.Block, t.Offset) }

// Deps are what every heap of a server shares.
type Deps struct {
	Pool    *storage.Pool
	Log     *wal.Log // nil: nothing is logged (tests)
	Txn     *txn.Manager
	Locks   *locks.Manager
	Metrics *metrics.Set
	Shared  *Shared // one per server; see NewShared
}

// Config describes one relation.
type Config struct {
	Rel         storage.RelFile
	DB, RelOID  uint32
	Name        string // for messages
	Persistence byte   // 'p', 'u' or 't'
	FillFactor  int    // percent; 0 is 100
}

// Heap is a handle on one relation's tuples. It is cheap, immutable and safe for
// concurrent use; state that handles of one relation share is in Deps.
type Heap struct {
	d Deps
	c Config

	logged    bool
	saveSpace int // bytes of a page the fill factor keeps for updates
}

// New returns a handle; the relation's file must exist before it is used.
func New(d Deps, c Config) *Heap {
	if c.FillFactor == 0 {
		c.FillFactor = 100
	}
	assert.That(d.Shared != nil, "a heap without Deps.Shared")
	return &Heap{
		d: d, c: c,
		logged:    c.Persistence == 'p' && d.Log != nil,
		saveSpace: storage.PageSize * (100 - c.FillFactor) / 100,
	}
}

// Config returns what the handle was opened with.
func (h *Heap) Config() Config { return h.c }

// Writer is a session's state for changing tuples. It serves one goroutine.
type Writer struct {
	Tx       *txn.Tx
	LockSess *locks.Session
	Ext      *storage.ExtendState
	Builder  *wal.Builder

	vm, vmOld storage.VMBuffer // map pages of the new and the old version, pinned during a change
	rowLocks  rowLockCount
	shared    []locks.Tag // versions LockTuple took in a shared mode, should it have to give them up
	multi     multiState  // scratch of MultiInsert
}

// xid is the transaction of a change that w makes. A commit that changed unlogged relations alone waits for no flush.
func (h *Heap) xid(w *Writer) txn.XID {
	if h.logged {
		return w.Tx.XID()
	}
	return w.Tx.UnloggedXID()
}

// LockMode is a row lock mode, weakest first.
type LockMode uint8

// PostgreSQL's four row lock modes.
const (
	KeyShare LockMode = iota
	Share
	NoKeyUpdate
	Update
)

func (m LockMode) String() string {
	return [...]string{"FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"}[m]
}

// WaitPolicy says what to do about a row another transaction holds.
type WaitPolicy uint8

const (
	// WaitBlock waits until the other transaction ends.
	WaitBlock WaitPolicy = iota
	// WaitSkip returns WouldBlock.
	WaitSkip
	// WaitError fails with 55P03.
	WaitError
)

// Status is the outcome of changing or locking a tuple.
type Status uint8

const (
	// Ok: done.
	Ok Status = iota
	// Invisible: the tuple is not visible to the snapshot's command; the caller errs.
	Invisible
	// SelfModified: this transaction already updated or deleted it; see Result.Cmax.
	SelfModified
	// Updated: another transaction committed an update; Result.CTID is the newer version.
	Updated
	// Deleted: another transaction committed a delete.
	Deleted
	// BeingModified: another transaction is changing it (never returned under WaitBlock).
	BeingModified
	// WouldBlock: WaitSkip met a held row.
	WouldBlock
)

func (s Status) String() string {
	return [...]string{"ok", "invisible", "self modified", "updated", "deleted", "being modified", "would block"}[s]
}

// Result tells what came of changing or locking a tuple.
type Result struct {
	Status Status
	// CTID is the newer version for Updated; the TID itself where there is none.
	CTID TID
	// Xmax is the transaction that updated or deleted the tuple.
	Xmax txn.XID
	// Cmax is its command, for SelfModified.
	Cmax txn.CID
	// TID is the version LockTuple locked, which FollowUpdates may have moved.
	TID TID
	// Traversed is set when FollowUpdates left the version asked for.
	Traversed bool
}

// InsertOptions shape Insert and MultiInsert.
type InsertOptions struct {
	// Frozen writes tuples every snapshot sees (COPY FREEZE). Requires: the file was created in
	// this transaction and no older snapshot of it is in use.
	Frozen bool
	// External says the row points at out-of-line values; see Header.External.
	External bool
	// SkipFSM ignores free space of old pages, for bulk loads of a new file.
	SkipFSM bool
	// Ring is the buffer ring of a bulk load; nil uses the whole pool.
	Ring *storage.Ring
}

// UpdateOptions shape Update.
type UpdateOptions struct {
	// HotAllowed says no indexed column changes.
	HotAllowed bool
	// Mode is NoKeyUpdate, or Update when a key column changes. The zero value (KeyShare) is
	// taken as Update.
	Mode     LockMode
	Wait     WaitPolicy
	External bool
	// OldKey is the old row's replica identity, logged for logical decoding; nil none.
	OldKey []byte
}

// DeleteOptions shape Delete.
type DeleteOptions struct {
	Wait   WaitPolicy
	OldKey []byte
}

// LockOptions shape LockTuple.
type LockOptions struct {
	Mode LockMode
	Wait WaitPolicy
	// FollowUpdates locks the newest version instead of returning Updated (read committed).
	FollowUpdates bool
}
