package engine

import (
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// Isolation is a transaction's isolation level.
type Isolation uint8

// The levels; read uncommitted is read committed.
const (
	ReadCommitted Isolation = iota
	RepeatableRead
	Serializable
)

// TxOptions begin a transaction.
type TxOptions struct {
	Isolation Isolation
	ReadOnly  bool
}

// SessionOptions describe a session.
type SessionOptions struct {
	PID      int32
	Database catalog.OID
}

// Session is one session's state below SQL. It is used by one goroutine at a time.
type Session struct {
	e *Engine
}

// NewSession makes a session in a database. Close it.
func (e *Engine) NewSession(opts SessionOptions) *Session { return nil }

// Close rolls back what is open and gives everything back.
func (s *Session) Close() {}

// Engine is the session's engine.
func (s *Session) Engine() *Engine { return s.e }

// Database is the OID of the session's database.
func (s *Session) Database() catalog.OID { return 0 }

// Locks is the session in the lock manager.
func (s *Session) Locks() *locks.Session { return nil }

// Tx is the transaction, or nil when none is open.
func (s *Session) Tx() *txn.Tx { return nil }

// Catalog is the transaction's view of the catalog.
func (s *Session) Catalog() *catalog.Txn { return nil }

// Writer is the session's heap writer in the open transaction.
func (s *Session) Writer() *heap.Writer { return nil }

// ExtendSettings are the session's relation_extension_* settings; changed in place.
func (s *Session) ExtendSettings() *storage.ExtendSettings { return nil }

// Begin opens a transaction.
func (s *Session) Begin(opts TxOptions) error { return nil }

// SetOptions changes the options of the open transaction, before its first snapshot.
func (s *Session) SetOptions(opts TxOptions) error { return nil }

// InTransaction reports whether one is open.
func (s *Session) InTransaction() bool { return false }

// Commit commits; async is synchronous_commit = off. On an error before the commit became
// durable the transaction was rolled back.
func (s *Session) Commit(ctx context.Context, async bool) error { return nil }

// Abort rolls back.
func (s *Session) Abort(ctx context.Context) {}

// Savepoint begins a subtransaction.
func (s *Session) Savepoint(name string) error { return nil }

// RollbackTo rolls back to a savepoint, which stays; 3B001 when there is none.
func (s *Session) RollbackTo(ctx context.Context, name string) error { return nil }

// Release ends a savepoint's subtransactions into their parent; 3B001 when there is none.
func (s *Session) Release(ctx context.Context, name string) error { return nil }

// TakeSnapshot and ReleaseSnapshot bracket a statement (or a portal).
func (s *Session) TakeSnapshot() *txn.Snapshot { return nil }

// ReleaseSnapshot gives a snapshot back.
func (s *Session) ReleaseSnapshot(snap *txn.Snapshot) {}
