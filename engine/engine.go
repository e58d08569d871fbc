package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
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
	// the process. nil: the process dies. It may be called with locks held and must not call
	// back into the engine.
	Fatal func(error)
	// IndexExprs compiles index expressions; set before the first table with any is opened.
	IndexExprs IndexExprCompiler
	// Analyze is called by autovacuum when a table needs ANALYZE: it samples, computes and stores
	// statistics in s's open transaction. nil: autovacuum does not analyse.
	Analyze func(ctx context.Context, s *Session, rel *catalog.Relation) error
	// Random gives the system identifier of a new directory; nil: from the clock.
	Random func() uint64

	// MustExist refuses a directory that holds no server's data instead of initialising it.
	MustExist bool

	Options Options
	Unsafe  Unsafe
}

// Unsafe are deliberately broken variants that the crash simulation must catch.
type Unsafe struct {
	SkipCommitFlush  bool
	NoFullPageImages bool
	NoLogBeforeData  bool
}

// Engine is an open data directory. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	opt    Options
	fs     storage.FS
	logger *zap.Logger
	lock   io.Closer // of the directory

	control struct {
		sync.Mutex
		wal.Control
	}
	log        *wal.Log
	pool       *storage.Pool
	txn        *txn.Manager
	locks      *locks.Manager
	cat        *catalog.Catalog
	heapShared *heap.Shared
	indexExprs atomic.Pointer[IndexExprCompiler]

	oids    counter
	files   counter
	tables  tableCache
	stats   statsTable
	ckpt    checkpointer
	vacuums launcher
	bg      background
	waits   waits
	crashed bool // this start recovered from a crash
	dead    atomic.Bool
	// beforeApply, in tests, runs between a commit's flush and its catalog changes.
	beforeApply func()
	// stuck is set when Pebble called its fatal handler, from which it must not come back: it
	// cannot be closed any more.
	stuck atomic.Bool
}

// background is the context and the goroutines of everything that runs besides sessions.
type background struct {
	ctx    context.Context //nolint:containedctx // the life of the engine's own goroutines
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func (b *background) run(fn func(ctx context.Context)) {
	b.wg.Go(func() { fn(b.ctx) })
}

// Open opens cfg.Dir, initialising it when it is empty, and recovers it.
func Open(ctx context.Context, cfg Config) (_ *Engine, err error) {
	e := newEngine(cfg)
	defer func() {
		if err != nil {
			err = errors.Join(err, e.abandon())
		}
	}()
	if err := e.takeDirectory(); err != nil {
		return nil, err
	}
	if err := e.openParts(); err != nil {
		return nil, err
	}
	if err := e.recover(ctx); err != nil {
		return nil, err
	}
	e.startBackground()
	return e, nil
}

func newEngine(cfg Config) *Engine {
	if cfg.FS == nil {
		cfg.FS = storage.OSFS{}
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = func() uint64 { return uint64(cfg.Now().UnixNano()) }
	}
	e := &Engine{cfg: cfg, opt: cfg.Options, fs: cfg.FS, logger: cfg.Logger}
	e.opt.setDefaults()
	e.SetIndexExprs(cfg.IndexExprs)
	e.tables.init()
	e.stats.init()
	e.ckpt.init()
	e.vacuums.init(e)
	e.waits.init(e)
	e.bg.ctx, e.bg.cancel = context.WithCancel(context.Background())
	return e
}

// openParts opens log, pool, transactions and catalog, none of which is of use before recover.
func (e *Engine) openParts() error {
	c := &e.control.Control
	var err error
	e.log, err = wal.Open(wal.Config{
		FS: e.fs, Dir: e.path(walDir), SystemID: c.SystemID, Incarnation: c.Incarnation,
		SegmentSize: c.SegmentSize, FirstSegmentSize: c.FirstSegmentSize, Buffers: e.opt.WALBuffers,
		SyncMethod: e.opt.WALSyncMethod, FullPageWrites: e.opt.FullPageWrites, WriterDelay: e.opt.WALWriterDelay,
		Metrics: e.cfg.Metrics, Fatal: e.fatal, OnSegment: e.ckpt.kick,
		UnsafeNoFullPageImages: e.cfg.Unsafe.NoFullPageImages,
	})
	if err != nil {
		return err
	}
	e.pool, err = storage.NewPool(storage.PoolConfig{
		Buffers: e.opt.SharedBuffers, FS: e.fs, Dir: e.cfg.Dir, Metrics: e.cfg.Metrics,
		Log: e.log, Hints: e.log, NoSync: e.opt.WALSyncMethod() == wal.SyncNone,
		Sessions: &e.waits, OnWait: e.waits.onPool,
		UnsafeNoLogFlush: e.cfg.Unsafe.NoLogBeforeData,
	})
	if err != nil {
		return err
	}
	lockConfig := locks.Config{
		Metrics: e.cfg.Metrics, DeadlockTimeout: e.opt.DeadlockTimeout, MaxLocks: e.opt.MaxLocks,
		OnWait: e.waits.onLock,
	}
	if !e.opt.HeavyweightExtension {
		lockConfig.ExtensionTable = locks.NewExtensionTable(e.opt.ExtensionEntries, e.cfg.Metrics)
	}
	e.locks = locks.NewManager(lockConfig)
	e.waits.start()
	e.cat, err = catalog.Open(catalog.Config{
		FS: e.fs, Dir: e.path(catalogDir), NextOID: e.NewOID, MustExist: c.State != wal.StateNew,
		CacheSize: e.opt.CatalogCache, MemTableSize: e.opt.CatalogMemTable,
		Logf:   func(format string, args ...any) { e.logger.Sugar().Errorf(format, args...) },
		Fatalf: e.fatalf,
	})
	if err != nil {
		return err
	}
	e.txn, err = txn.Open(txn.Config{
		FS: e.fs, Dir: e.cfg.Dir, Log: e.log, Locks: e.locks, Metrics: e.cfg.Metrics,
		NextXID: txn.XID(c.NextXID), OnRedoCommit: e.redoCommit, Fatal: e.fatal, Now: e.cfg.Now,
		UnsafeSkipCommitFlush: e.cfg.Unsafe.SkipCommitFlush,
	})
	e.heapShared = heap.NewShared()
	return err
}

// Close stops the background work and closes everything. No session may be in use.
func (e *Engine) Close(ctx context.Context, mode CloseMode) error {
	e.vacuums.stop()
	e.bg.cancel()
	e.bg.wg.Wait()
	if mode == CloseImmediate || e.dead.Load() {
		return e.abandon()
	}
	if err := e.shutdownCheckpoint(ctx); err != nil {
		return errors.Join(err, e.abandon())
	}
	err := e.log.Close()
	return errors.Join(err, e.cat.Close(), e.pool.Close(), e.lock.Close())
}

// abandon closes what is open without writing anything: as if the process had been killed.
func (e *Engine) abandon() error {
	e.bg.cancel()
	e.bg.wg.Wait()
	var errs []error
	if e.log != nil {
		e.log.Kill()
		errs = append(errs, e.log.Close())
	}
	if e.cat != nil && !e.stuck.Load() {
		errs = append(errs, e.cat.Close())
	}
	if e.pool != nil {
		errs = append(errs, e.pool.Close())
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	return errors.Join(errs...)
}

// fatal stops the server: what is durable can no longer be told.
func (e *Engine) fatal(err error) {
	if e.dead.Swap(true) {
		return
	}
	e.log.Kill()
	e.logger.Error("the server cannot go on", zap.Error(err))
	if e.cfg.Fatal != nil {
		e.cfg.Fatal(err)
		return
	}
	wal.Die(err)
}

func (e *Engine) fatalf(format string, args ...any) {
	e.stuck.Store(true)
	e.fatal(pgerr.New(pgerr.SystemError, format, args...))
	if e.cfg.Fatal != nil {
		select {} // Pebble's handler must not return
	}
}

// SetIndexExprs sets Config.IndexExprs after Open.
func (e *Engine) SetIndexExprs(c IndexExprCompiler) { e.indexExprs.Store(&c) }

// Pool is the buffer pool.
func (e *Engine) Pool() *storage.Pool { return e.pool }

// Log is the write-ahead log.
func (e *Engine) Log() *wal.Log { return e.log }

// Transactions are the transactions.
func (e *Engine) Transactions() *txn.Manager { return e.txn }

// Locks is the lock manager.
func (e *Engine) Locks() *locks.Manager { return e.locks }

// Catalog is the committed catalog.
func (e *Engine) Catalog() *catalog.Catalog { return e.cat }

// Metrics is the server's metrics.
func (e *Engine) Metrics() *metrics.Set { return e.cfg.Metrics }

// SystemID identifies the data directory.
func (e *Engine) SystemID() uint64 { return e.control.SystemID }

// Recovered reports whether this start recovered from a crash.
func (e *Engine) Recovered() bool { return e.crashed }

// Dead reports whether the server can no longer go on.
func (e *Engine) Dead() bool { return e.dead.Load() }

// Dir is the data directory.
func (e *Engine) Dir() string { return e.cfg.Dir }

func (e *Engine) heapDeps() heap.Deps {
	return heap.Deps{
		Pool: e.pool, Log: e.log, Txn: e.txn, Locks: e.locks, Metrics: e.cfg.Metrics, Shared: e.heapShared,
	}
}

func (e *Engine) btreeDeps() btree.Deps {
	return btree.Deps{Pool: e.pool, Log: e.log, Txn: e.txn, Metrics: e.cfg.Metrics}
}
