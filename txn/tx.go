package txn

import (
	"slices"
	"sort"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/wal"
)

// Tx is a transaction of a session. It is used by one goroutine; its snapshots
// may be read by several.
type Tx struct {
	m    *Manager
	sess *locks.Session

	slot *slot
	hint int
	open bool

	// xids are those of the transaction and its live subtransactions, ascending. A level's
	// own one and all after it belong to the level and what was released into it.
	xids   []XID
	words  []*atomic.Uint64 // of xids
	levels []level          // the transaction itself first

	cid     CID
	cidUsed bool
	combos  comboCIDs

	repeatable bool
	first      Snapshot // the one all others repeat; CSN 0 before it is taken
	live       []*Snapshot
	spare      []*Snapshot

	durable     bool // its commit waits for the disk
	lockTimeout time.Duration
	builder     wal.Builder
	scratch     []byte
}

// level is the transaction or a subtransaction.
type level struct {
	name      string
	xid       XID // 0: none yet
	at        int // its index in xids
	xidsBelow int // len(xids) when it began
	locks     locks.Mark
}

// NewTx returns a transaction handle of sess that has not begun; one handle serves
// a session's transactions one after the other.
func (m *Manager) NewTx(sess *locks.Session) *Tx { return &Tx{m: m, sess: sess} }

// Begin returns a new handle with a transaction begun.
func (m *Manager) Begin(sess *locks.Session) *Tx {
	tx := m.NewTx(sess)
	tx.Start()
	return tx
}

// Start begins a transaction.
func (tx *Tx) Start() {
	assert.That(!tx.open, "a transaction is begun within another")
	tx.open = true
	tx.slot, tx.hint = tx.m.slots.take(tx.hint)
	tx.levels = append(tx.levels[:0], level{})
	tx.cid, tx.cidUsed = 0, false
	tx.repeatable, tx.durable = false, false
	tx.first = Snapshot{}
}

// Open reports whether a transaction is begun.
func (tx *Tx) Open() bool { return tx.open }

// Manager is the manager of the transaction.
func (tx *Tx) Manager() *Manager { return tx.m }

// Session is the transaction's session in the lock manager.
func (tx *Tx) Session() *locks.Session { return tx.sess }

// SetLockTimeout bounds each wait for another transaction (lock_timeout); 0 is no bound.
func (tx *Tx) SetLockTimeout(d time.Duration) { tx.lockTimeout = d }

// LockTimeout is what SetLockTimeout was given.
func (tx *Tx) LockTimeout() time.Duration { return tx.lockTimeout }

// XID returns the current (sub)transaction's XID, given out, with its
// parents', at the first call. The commit will wait until its record is on disk.
func (tx *Tx) XID() XID {
	tx.durable = true
	return tx.UnloggedXID()
}

// UnloggedXID is XID for a change a crash undoes anyway, that of an unlogged relation: for its sake the commit
// need not wait for the disk.
func (tx *Tx) UnloggedXID() XID {
	if xid := tx.levels[len(tx.levels)-1].xid; xid != InvalidXID {
		return xid
	}
	return tx.assign()
}

func (tx *Tx) assign() XID {
	assert.That(tx.open, "an XID is wanted outside a transaction")
	for i := range tx.levels {
		l := &tx.levels[i]
		if l.xid != InvalidXID {
			continue
		}
		xid, word := tx.m.giveOut()
		if i > 0 {
			word.Store(stateChild | uint64(tx.levels[i-1].xid))
		}
		tx.sess.LockXID(uint64(xid))
		l.xid, l.at = xid, len(tx.xids)
		tx.xids = append(tx.xids, xid)
		tx.words = append(tx.words, word)
	}
	return tx.levels[len(tx.levels)-1].xid
}

// TopXID returns the top-level XID, or 0.
func (tx *Tx) TopXID() XID {
	if len(tx.xids) == 0 {
		return InvalidXID
	}
	return tx.xids[0]
}

// HasXID reports whether any XID was given out.
func (tx *Tx) HasXID() bool { return len(tx.xids) > 0 }

// IsCurrent reports whether xid is this transaction or one of its live subtransactions.
func (tx *Tx) IsCurrent(xid XID) bool {
	if tx == nil || len(tx.xids) == 0 || xid < tx.xids[0] {
		return false
	}
	if xid == tx.xids[0] {
		return true
	}
	i := sort.Search(len(tx.xids), func(i int) bool { return tx.xids[i] >= xid })
	return i < len(tx.xids) && tx.xids[i] == xid
}

// XIDs returns the XIDs of the transaction and its live subtransactions, ascending. The
// slice is valid until the next change.
func (tx *Tx) XIDs() []XID { return tx.xids }

// CurCID returns the current command's number, for writing tuples with; it marks the
// number used, so the next CommandCounterIncrement moves on.
func (tx *Tx) CurCID() CID {
	tx.cidUsed = true
	return tx.cid
}

// CommandCounterIncrement lets later snapshots see what was done so far.
func (tx *Tx) CommandCounterIncrement() {
	if tx.cidUsed {
		tx.cid++
		tx.cidUsed = false
		assert.That(tx.cid != InvalidCID, "too many commands in a transaction")
	}
}

// Level returns the number of open subtransactions.
func (tx *Tx) Level() int { return len(tx.levels) - 1 }

// Savepoint begins a subtransaction and returns its level (1 for the first).
func (tx *Tx) Savepoint(name string) int {
	tx.levels = append(tx.levels, level{name: name, xidsBelow: len(tx.xids), locks: tx.sess.Mark()})
	return tx.Level()
}

// FindSavepoint returns the level of the newest open savepoint of that name.
func (tx *Tx) FindSavepoint(name string) (level int, ok bool) {
	for i := len(tx.levels) - 1; i > 0; i-- {
		if tx.levels[i].name == name {
			return i, true
		}
	}
	return 0, false
}

// RollbackTo aborts subtransactions down to and including that of the newest savepoint
// name, and begins it anew; false when there is none.
func (tx *Tx) RollbackTo(name string) bool {
	i, ok := tx.FindSavepoint(name)
	if ok {
		tx.AbortLevel(i)
		tx.Savepoint(name)
	}
	return ok
}

// Release ends the subtransactions down to and including name's into their parent.
func (tx *Tx) Release(name string) bool {
	i, ok := tx.FindSavepoint(name)
	if ok {
		tx.ReleaseLevel(i)
	}
	return ok
}

// ReleaseLevel ends the subtransactions from level i up into level i-1, which keeps their
// XIDs and locks.
func (tx *Tx) ReleaseLevel(i int) {
	assert.That(i >= 1 && i < len(tx.levels), "release of level %d of %d", i, tx.Level())
	tx.levels = slices.Delete(tx.levels, i, len(tx.levels))
}

// AbortLevel aborts the subtransactions from level i up and releases their locks.
func (tx *Tx) AbortLevel(i int) {
	assert.That(i >= 1 && i < len(tx.levels), "abort of level %d of %d", i, tx.Level())
	l := tx.levels[i]
	keep := len(tx.xids)
	if l.xid != InvalidXID {
		keep = l.at
		tx.abortXIDs(tx.xids[keep:], tx.words[keep:])
		tx.xids, tx.words = tx.xids[:keep], tx.words[:keep]
	}
	tx.levels = slices.Delete(tx.levels, i, len(tx.levels))
	// After the state: who waited for these XIDs finds them aborted.
	tx.sess.ReleaseTo(l.locks)
	for _, xid := range tx.xids[min(l.xidsBelow, keep):] {
		// A parent's, given out within the level. Who wakes in between waits again.
		tx.sess.LockXID(uint64(xid))
	}
}

// end lets go of everything at the end of a transaction whose fate is decided.
func (tx *Tx) end() {
	// Not into spare: somebody may still give them back, after the next transaction began.
	clear(tx.live)
	tx.live = tx.live[:0]
	if len(tx.xids) > 0 {
		tx.m.ended(tx.xids[0], tx.xids[len(tx.xids)-1])
	}
	tx.slot.giveBack()
	tx.slot = nil
	tx.xids = tx.xids[:0]
	clear(tx.words)
	tx.words = tx.words[:0]
	tx.levels = tx.levels[:0]
	tx.combos.reset()
	tx.open = false
	tx.sess.ReleaseTransaction()
}
