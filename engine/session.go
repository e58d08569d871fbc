package engine

import (
	"context"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
	"github.com/minipg/minipg/wal"
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
	e    *Engine
	pid  int32
	db   catalog.OID
	lock *locks.Session
	wait *waiter
	tx   *txn.Tx
	cat  *catalog.Txn

	ext     storage.ExtendState
	builder wal.Builder
	heapW   heap.Writer
	treeW   btree.Writer

	made    []storage.RelFile // by this transaction: unlinked if it aborts
	dropped []storage.RelFile // unlinked if it commits
	marks   []levelMark       // of the open subtransactions

	counts    []tableCount // of this transaction, for the statistics
	sequences map[catalog.OID]*sequenceSession
	lastSeq   *sequenceSession

	// ownTables are those of descriptors that perhaps only this transaction has.
	ownTables map[*catalog.Relation]*Table

	// Env is how values are printed in messages; the sql layer sets it.
	Env *types.Env

	row rowScratch
}

// levelMark is what a subtransaction's rollback returns to.
type levelMark struct {
	cat           catalog.Mark
	made, dropped int
}

// NewSession makes a session in a database, to be used on the calling goroutine: on another one its
// waits for latches and reads show no session. Close it.
func (e *Engine) NewSession(opts SessionOptions) *Session {
	s := &Session{e: e, pid: opts.PID, db: opts.Database, lock: e.locks.NewSession(opts.PID)}
	s.wait = e.waits.bind(s.lock)
	s.tx = e.txn.NewTx(s.lock)
	s.cat = e.cat.Begin(opts.Database)
	s.ext.Locker = s.lock.Extension()
	s.heapW = heap.Writer{Tx: s.tx, LockSess: s.lock, Ext: &s.ext, Builder: &s.builder}
	s.treeW = btree.Writer{Tx: s.tx, LockSess: s.lock, Ext: &s.ext, Builder: &s.builder}
	return s
}

// Close rolls back what is open and gives everything back.
func (s *Session) Close() {
	s.Abort(context.Background())
	if err := s.e.pool.ReleaseExtendState(&s.ext); err != nil {
		s.e.logger.Sugar().Warnf("could not give back the blocks a session kept: %v", err) // VACUUM finds them
	}
	s.wait.unbind()
	s.lock.Close()
}

// Lend shows the waits of the calling goroutine as the session's until the function returned is
// called: for one that works for the session while the session's own goroutine does something else.
func (s *Session) Lend() (end func()) { return s.e.waits.bind(s.lock).unbind }

// Engine is the session's engine.
func (s *Session) Engine() *Engine { return s.e }

// PID is the session's process id.
func (s *Session) PID() int32 { return s.pid }

// Database is the OID of the session's database.
func (s *Session) Database() catalog.OID { return s.db }

// Locks is the session in the lock manager.
func (s *Session) Locks() *locks.Session { return s.lock }

// Tx is the transaction, or nil when none is open.
func (s *Session) Tx() *txn.Tx {
	if !s.tx.Open() {
		return nil
	}
	return s.tx
}

// Catalog is the transaction's view of the catalog.
func (s *Session) Catalog() *catalog.Txn { return s.cat }

// Writer is the session's heap writer in the open transaction.
func (s *Session) Writer() *heap.Writer { return &s.heapW }

// ExtendSettings are the session's relation_extension_* settings; changed in place.
func (s *Session) ExtendSettings() *storage.ExtendSettings { return &s.ext.Settings }

// SetLeafLock sets btree_leaf_lock, btree_fastpath and btree_combine.
func (s *Session) SetLeafLock(lock btree.LeafLock, fastPath, combine bool) {
	s.treeW.LeafLock, s.treeW.NoFastPath, s.treeW.Combine = lock, !fastPath, combine
}

// Begin opens a transaction.
func (s *Session) Begin(opts TxOptions) error {
	if opts.Isolation == Serializable {
		return errSerializable()
	}
	s.tx.Start()
	s.tx.SetRepeatableRead(opts.Isolation == RepeatableRead)
	return nil
}

// errSerializable is honest: what would be given is less.
func errSerializable() error {
	return pgerr.New(pgerr.FeatureNotSupported, "isolation level serializable is not supported").
		WithHint("Use repeatable read, which is snapshot isolation.")
}

// SetOptions changes the options of the open transaction, before its first snapshot.
func (s *Session) SetOptions(opts TxOptions) error {
	if opts.Isolation == Serializable {
		return errSerializable()
	}
	s.tx.SetRepeatableRead(opts.Isolation == RepeatableRead)
	return nil
}

// InTransaction reports whether one is open.
func (s *Session) InTransaction() bool { return s.tx.Open() }

// Commit commits; async is synchronous_commit = off. On an error before the commit became
// durable the transaction was rolled back.
func (s *Session) Commit(ctx context.Context, async bool) error {
	var err error
	if len(s.dropped) > 0 || s.cat.Changed() {
		err = s.commitDefinitions()
	} else {
		err = s.tx.Commit(txn.CommitInfo{DB: uint32(s.db), Async: async})
	}
	if err != nil {
		if !s.e.dead.Load() {
			s.Abort(ctx)
		}
		return err
	}
	s.countCommit()
	dropped := s.dropped
	s.forgetTransaction()
	if len(dropped) > 0 {
		// The commit stands whatever becomes of its garbage; the next recovery sweeps it.
		if err := s.e.unlink(dropped); err != nil {
			s.e.logger.Sugar().Warnf("could not remove the files of dropped relations: %v", err)
		}
	}
	return nil
}

// commitDefinitions commits a transaction that changed the catalog.
func (s *Session) commitDefinitions() error {
	payload := s.cat.Batch()
	s.e.cat.BeginCommit()
	defer s.e.cat.EndCommit()
	return s.tx.Commit(txn.CommitInfo{
		UnlinkFiles: s.dropped, DB: uint32(s.db), Payload: payload,
		AfterFlush: func() error {
			if s.e.beforeApply != nil {
				s.e.beforeApply()
			}
			return s.e.cat.Apply(payload)
		},
	})
}

// Abort rolls back.
func (s *Session) Abort(context.Context) {
	if !s.tx.Open() {
		return
	}
	made := s.made
	s.tx.Abort(made)
	s.countAbort()
	s.forgetTransaction()
	if s.e.dead.Load() {
		return
	}
	if err := s.e.unlink(made); err != nil {
		s.e.logger.Sugar().Warnf("could not remove the files of an aborted transaction: %v", err)
	}
}

func (s *Session) forgetTransaction() {
	s.cat.Reset()
	s.made, s.dropped, s.marks = nil, nil, s.marks[:0]
	s.ownTables = nil
}

// Savepoint begins a subtransaction.
func (s *Session) Savepoint(name string) error {
	s.marks = append(s.marks, levelMark{cat: s.cat.Savepoint(), made: len(s.made), dropped: len(s.dropped)})
	s.tx.Savepoint(name)
	return nil
}

// RollbackTo rolls back to a savepoint, which stays; 3B001 when there is none.
func (s *Session) RollbackTo(_ context.Context, name string) error {
	level, ok := s.tx.FindSavepoint(name)
	if !ok {
		return errNoSavepoint(name)
	}
	mark := s.marks[level-1]
	s.tx.AbortLevel(level)
	s.cat.RollbackTo(mark.cat)
	made := s.made[mark.made:]
	s.made, s.dropped, s.marks = s.made[:mark.made], s.dropped[:mark.dropped], s.marks[:level-1]
	err := s.e.unlink(made)
	return errorOf(err, s.Savepoint(name))
}

func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Release ends a savepoint's subtransactions into their parent; 3B001 when there is none.
func (s *Session) Release(_ context.Context, name string) error {
	level, ok := s.tx.FindSavepoint(name)
	if !ok {
		return errNoSavepoint(name)
	}
	s.tx.ReleaseLevel(level)
	s.marks = s.marks[:level-1]
	return nil
}

func errNoSavepoint(name string) error {
	return pgerr.New(pgerr.SEInvalidSpecification, "savepoint \"%s\" does not exist", name)
}

// TakeSnapshot and ReleaseSnapshot bracket a statement (or a portal).
func (s *Session) TakeSnapshot() *txn.Snapshot { return s.tx.TakeSnapshot() }

// ReleaseSnapshot gives a snapshot back.
func (s *Session) ReleaseSnapshot(snap *txn.Snapshot) { s.tx.ReleaseSnapshot(snap) }
