package txn

import (
	"context"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// Config describes the transactions of a data directory.
type Config struct {
	FS      storage.FS
	Dir     string // the data directory; the commit log lies in pg_xact below
	Log     *wal.Log
	Locks   *locks.Manager
	Metrics *metrics.Set

	NextXID   XID // from the control file; FirstXID for a new directory
	ClogPages int // pages of the commit log kept in memory; 0: 256

	// OnRedoCommit is called by Redo for a commit record with payload or files, and for an
	// abort record with files (payload nil).
	OnRedoCommit func(payload []byte, files []storage.RelFile) error
	// Fatal stops the server: a commit is logged but could not be applied. nil: panic.
	Fatal func(error)

	// UnsafeSkipCommitFlush answers commits before they are durable: a variant that
	// crash tests must catch.
	UnsafeSkipCommitFlush bool
}

// Manager gives out XIDs and decides what snapshots see.
type Manager struct{ cfg Config }

// Open opens the commit log. After replay StartUp must be called.
func Open(cfg Config) (*Manager, error) { return &Manager{cfg: cfg}, nil }

// NextXID returns the XID that will be given out next.
func (m *Manager) NextXID() XID { return 0 }

// NewTx returns a transaction handle of sess that has not begun; one handle serves
// a session's transactions one after the other.
func (m *Manager) NewTx(sess *locks.Session) *Tx { return nil }

// Begin returns a new handle with a transaction begun.
func (m *Manager) Begin(sess *locks.Session) *Tx { return nil }

// Status returns what became of xid, a subtransaction with a parent in
// progress being in progress, and its CSN when it is committed and recent (else 0).
func (m *Manager) Status(xid XID) (Status, CSN) { return 0, 0 }

// TopXID returns the top-level transaction of xid while that is in progress, else xid.
func (m *Manager) TopXID(xid XID) XID { return xid }

// Horizon returns an XID such that no snapshot, now or later, asks when one below it
// ended: a tuple whose committed xmax is below it is dead to all.
func (m *Manager) Horizon() XID { return 0 }

// WaitFor waits until xid (a subtransaction: until it or its
// parents) ended.
func (m *Manager) WaitFor(ctx context.Context, tx *Tx, xid XID, opts WaitOptions) error { return nil }

// Redo applies a commit or abort record.
func (m *Manager) Redo(rec *wal.Record, r *wal.RedoContext) error { return nil }

// Tx is a transaction of a session. It is used by one goroutine; its snapshots
// may be read by several.
type Tx struct{ m *Manager }

// Start begins a transaction.
func (tx *Tx) Start() {}

// XID returns the current (sub)transaction's XID, given out, with its
// parents', at the first call.
func (tx *Tx) XID() XID { return 0 }

// TopXID returns the top-level XID, or 0.
func (tx *Tx) TopXID() XID { return 0 }

// HasXID reports whether any XID was given out.
func (tx *Tx) HasXID() bool { return false }

// IsCurrent reports whether xid is this transaction or one of its live subtransactions.
func (tx *Tx) IsCurrent(xid XID) bool { return false }

// CurCID returns the current command's number, for writing tuples with; it marks the
// number used, so the next CommandCounterIncrement moves on.
func (tx *Tx) CurCID() CID { return 0 }

// CommandCounterIncrement lets later snapshots see what was done so far.
func (tx *Tx) CommandCounterIncrement() {}

// Combo returns the combo command for a tuple made at cmin and deleted at cmax, both of this transaction.
func (tx *Tx) Combo(cmin, cmax CID) CID { return 0 }

// ResolveCombo returns what Combo was given.
func (tx *Tx) ResolveCombo(combo CID) (cmin, cmax CID) { return 0, 0 }

// TakeSnapshot returns the snapshot of a new statement: what is committed now, or with
// repeatable read what was at the first one. Release it with ReleaseSnapshot.
func (tx *Tx) TakeSnapshot() *Snapshot { return nil }

// ReleaseSnapshot gives a snapshot back.
func (tx *Tx) ReleaseSnapshot(s *Snapshot) {}

// SetRepeatableRead makes all snapshots of the transaction the first one.
func (tx *Tx) SetRepeatableRead(on bool) {}

// Savepoint begins a subtransaction and returns its level (1 for the first).
func (tx *Tx) Savepoint(name string) int { return 0 }

// RollbackTo aborts subtransactions down to and including that of the newest savepoint
// name, and begins it anew; false when there is none.
func (tx *Tx) RollbackTo(name string) bool { return false }

// Release ends the subtransactions down to and including name's into their parent.
func (tx *Tx) Release(name string) bool { return false }

// Level returns the number of open subtransactions.
func (tx *Tx) Level() int { return 0 }

// Commit makes the transaction durable and then visible, and releases its locks.
func (tx *Tx) Commit(info CommitInfo) error { return nil }

// Abort rolls the transaction back and releases its locks; files are logged for
// replay to unlink, the caller removes them.
func (tx *Tx) Abort(files []storage.RelFile) {}

// Snapshot decides which transactions' changes are seen.
type Snapshot struct {
	CSN    CSN // commits with a smaller number are seen
	Xmin   XID // every XID below ended before the snapshot
	CurCID CID // own commands below are seen
	Tx     *Tx // whose own changes are seen
}

// Committed reports whether xid committed before the snapshot was taken. For the own
// transaction it is false: ask Tx.IsCurrent first.
func (s *Snapshot) Committed(xid XID) bool { return false }
