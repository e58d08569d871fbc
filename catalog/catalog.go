package catalog

import (
	"context"

	"github.com/minipg/minipg/storage"
)

// Config opens a Catalog.
type Config struct {
	FS  storage.FS
	Dir string // holds Pebble's files; made when absent
	// MemTableSize bounds the memory of committed but unflushed rows, 0 is 4 MiB.
	MemTableSize uint64
	// CacheSize is Pebble's block cache, 0 is 8 MiB.
	CacheSize int64
	// NextOID allocates OIDs, shared by all databases. The engine logs them ahead.
	NextOID func() (OID, error)
}

// Catalog is the committed state of all databases. It is safe for concurrent use.
type Catalog struct {
	cfg Config
}

// Open opens or makes the catalog in cfg.Dir.
func Open(cfg Config) (*Catalog, error) { return &Catalog{cfg: cfg}, nil }

// Close flushes nothing: what the last Flush missed is replayed from the log.
func (c *Catalog) Close() error { return nil }

// Begin starts the catalog part of a transaction in a database (0: shared catalogs only).
func (c *Catalog) Begin(db OID) *Txn { return &Txn{cat: c, db: db} }

// Version counts committed catalog changes of all databases.
func (c *Catalog) Version() uint64 { return 0 }

// BeginCommit and EndCommit bracket the insertion of a commit record that carries a
// payload and its Apply. A Flush waits for brackets that are open.
func (c *Catalog) BeginCommit() {}

// EndCommit closes the bracket of BeginCommit.
func (c *Catalog) EndCommit() {}

// Apply makes a payload of Txn.Batch part of the committed state. Replay calls it too.
func (c *Catalog) Apply(payload []byte) error { return nil }

// Flush makes everything applied, and everything bracketed by BeginCommit, durable in
// Pebble's files. A checkpoint calls it after it chose its redo point.
func (c *Catalog) Flush(ctx context.Context) error { return nil }
