package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/pebblefs"
)

// Config opens a Catalog.
type Config struct {
	FS  storage.FS
	Dir string // holds Pebble's files; made when absent
	// MustExist makes absent files an error.
	MustExist bool
	// MemTableSize bounds the memory of committed but unflushed rows, 0 is 4 MiB.
	MemTableSize uint64
	// CacheSize is Pebble's block cache, 0 is 8 MiB.
	CacheSize int64
	// NextOID allocates OIDs, shared by all databases. The engine logs them ahead.
	NextOID func() (OID, error)
	// Logf receives Pebble's errors; nil drops them.
	Logf func(format string, args ...any)
	// Fatalf is called, and must not return, when Pebble cannot go on: a write or a sync failed, or
	// what it reads is damaged. nil panics. It may be called with Pebble's mutex held.
	Fatalf func(format string, args ...any)
}

// Catalog is the committed state of all databases. It is safe for concurrent use.
type Catalog struct {
	cfg   Config
	db    *pebble.DB
	block *pebble.Cache
	// commitGate is held shared from before a commit record with a payload is inserted
	// until the payload is applied, and taken exclusively for a moment by Flush.
	commitGate sync.RWMutex
	// applyMu orders Apply: commits of one session after another reach Pebble and the cache
	// in one order.
	applyMu sync.Mutex
	// diskFull hears of flushes that failed because of it; they are tried again.
	diskFull chan error
	version  atomic.Uint64
	// local numbers the states of transactions with changes of their own.
	local atomic.Uint64
	cache cache
	rest  [len(builtinRest)]restRows
}

// Open opens or makes the catalog in cfg.Dir.
func Open(cfg Config) (*Catalog, error) {
	if cfg.MemTableSize == 0 {
		cfg.MemTableSize = 4 << 20
	}
	if cfg.CacheSize == 0 {
		cfg.CacheSize = 8 << 20
	}
	c := &Catalog{cfg: cfg, block: pebble.NewCache(cfg.CacheSize), diskFull: make(chan error, 1)}
	c.cache.reset()
	opts := &pebble.Options{
		FS:                          pebblefs.New(cfg.FS),
		DisableWAL:                  true,
		MemTableSize:                cfg.MemTableSize,
		MemTableStopWritesThreshold: 4,
		Cache:                       c.block,
		MaxOpenFiles:                64,
		// A new directory starts at this format; each later one would cost the start a sync.
		FormatMajorVersion: pebble.FormatMinSupported,
		Logger:             pebbleLogger{&c.cfg},
		EventListener:      &pebble.EventListener{BackgroundError: c.backgroundError},
		DisableTableStats:  true,
		ErrorIfNotExists:   cfg.MustExist,
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(cfg.Dir, opts)
	if err != nil {
		c.block.Unref()
		if errors.Is(err, pebble.ErrDBDoesNotExist) {
			return nil, pgerr.Wrap(err, pgerr.UndefinedFile, "the catalog is missing from directory \"%s\"", cfg.Dir)
		}
		return nil, fmt.Errorf("open catalog %q: %w", cfg.Dir, err)
	}
	c.db = db
	return c, nil
}

// Close flushes nothing: what the last Flush missed is replayed from the log.
func (c *Catalog) Close() error {
	err := c.db.Close()
	c.block.Unref()
	return err
}

// Begin starts the catalog part of a transaction in a database (0: shared catalogs only).
func (c *Catalog) Begin(db OID) *Txn { return &Txn{cat: c, db: db} }

// Version counts committed catalog changes of all databases.
func (c *Catalog) Version() uint64 { return c.version.Load() }

// BeginCommit and EndCommit bracket the insertion of a commit record that carries a
// payload and its Apply. A Flush waits for brackets that are open.
func (c *Catalog) BeginCommit() { c.commitGate.RLock() }

// EndCommit closes the bracket of BeginCommit.
func (c *Catalog) EndCommit() { c.commitGate.RUnlock() }

// Flush makes everything applied, and everything bracketed by BeginCommit, durable in
// Pebble's files. A checkpoint calls it after it chose its redo point.
func (c *Catalog) Flush(ctx context.Context) error {
	// Invariant 4: whoever entered before us has applied when we get the gate; whoever
	// enters after us inserts its record behind the redo point.
	c.commitGate.Lock()
	//lint:ignore SA2001 passing through is the point
	c.commitGate.Unlock()
	if err := ctx.Err(); err != nil {
		return pgerr.From(err)
	}
	// Pebble goes on trying while the disk is full; the checkpoint need not wait for that.
	select {
	case <-c.diskFull: // of an earlier try
	default:
	}
	done, err := c.db.AsyncFlush()
	if err != nil {
		return fmt.Errorf("flush catalog: %w", err)
	}
	select {
	case <-done:
		return nil
	case err := <-c.diskFull:
		return pgerr.Wrap(err, pgerr.DiskFull, "could not flush the catalog: %v", err)
	case <-ctx.Done():
		return pgerr.From(ctx.Err())
	}
}

// backgroundError hears of flushes and compactions that failed. A full disk may pass, and all that is not
// flushed is in the log; after any other error what reached the disk is unknown. Pebble tries again at once, so the
// pause is taken here.
func (c *Catalog) backgroundError(err error) {
	if errors.Is(err, syscall.ENOSPC) {
		pebbleLogger{&c.cfg}.Errorf("catalog: %v", err)
		select {
		case c.diskFull <- err:
		default:
		}
		time.Sleep(diskFullPause)
		return
	}
	pebbleLogger{&c.cfg}.Fatalf("%v", err)
}

const diskFullPause = 100 * time.Millisecond

// nextOID asks the engine.
func (c *Catalog) nextOID() (OID, error) {
	if c.cfg.NextOID == nil {
		return 0, pgerr.New(pgerr.InternalError, "no OID allocator")
	}
	return c.cfg.NextOID()
}

type pebbleLogger struct{ cfg *Config }

func (l pebbleLogger) Infof(string, ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) {
	if l.cfg.Logf != nil {
		l.cfg.Logf(format, args...)
	}
}

func (l pebbleLogger) Fatalf(format string, args ...any) {
	if l.cfg.Fatalf != nil {
		l.cfg.Fatalf(format, args...)
	}
	panic(fmt.Sprintf("catalog: "+format, args...))
}
