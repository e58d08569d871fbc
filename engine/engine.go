package engine

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// CloseMode is how a server stops.
type CloseMode uint8

// The modes; sessions are the caller's to end first, for smart and fast.
const (
	CloseSmart     CloseMode = iota // with a checkpoint
	CloseFast                       // with a checkpoint
	CloseImmediate                  // nothing is written: the next start recovers
)

// Config opens an engine.
type Config struct {
	FS      storage.FS // nil: the real one
	Dir     string
	Logger  *zap.Logger      // nil: silent
	Metrics *metrics.Set     // nil: discarded
	Now     func() time.Time // nil: time.Now
	// Fatal is called once when the server cannot go on (a failed log write): it stops
	// the process. nil: the process dies.
	Fatal func(error)
	// IndexExprs compiles index expressions; set before the first table with any is opened.
	IndexExprs IndexExprCompiler
	// Analyze is called by autovacuum when a table needs ANALYZE: it samples, computes and stores
	// statistics in s's open transaction. nil: autovacuum does not analyse.
	Analyze func(ctx context.Context, s *Session, rel *catalog.Relation) error

	Options Options
	Unsafe  Unsafe
}

// Unsafe are deliberately broken variants that the crash simulation must catch.
type Unsafe struct {
	SkipCommitFlush  bool
	NoFullPageImages bool
	NoLogBeforeData  bool
}

// Engine is an open data directory.
type Engine struct{}

// Open opens cfg.Dir, initialising it when it is empty, and recovers it.
func Open(ctx context.Context, cfg Config) (*Engine, error) { return nil, nil }

// Close stops the background work and closes everything.
func (e *Engine) Close(ctx context.Context, mode CloseMode) error { return nil }

// Checkpoint makes one at once (CHECKPOINT).
func (e *Engine) Checkpoint(ctx context.Context) error { return nil }

// SetIndexExprs sets Config.IndexExprs after Open.
func (e *Engine) SetIndexExprs(c IndexExprCompiler) {}

// Pool, Log, Transactions, Locks and Catalog give out the parts.
func (e *Engine) Pool() *storage.Pool { return nil }

// Log is the write-ahead log.
func (e *Engine) Log() *wal.Log { return nil }

// Transactions are the transactions.
func (e *Engine) Transactions() *txn.Manager { return nil }

// Locks is the lock manager.
func (e *Engine) Locks() *locks.Manager { return nil }

// Catalog is the committed catalog.
func (e *Engine) Catalog() *catalog.Catalog { return nil }

// Metrics is the server's metrics.
func (e *Engine) Metrics() *metrics.Set { return nil }

// SystemID identifies the data directory.
func (e *Engine) SystemID() uint64 { return 0 }
