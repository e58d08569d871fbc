package btree

import (
	"context"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

type writerScratch struct{}

// Tree is a handle on one index. It is safe for concurrent use; all sessions of
// a server should share one per index, as it remembers the rightmost leaf.
type Tree struct{}

// Create makes the meta page and an empty root in an existing, empty main fork.
func Create(ctx context.Context, d Deps, c Config, w *Writer) (*Tree, error) { panic("soon") }

// Open makes a handle on an existing tree; it reads nothing.
func Open(d Deps, c Config) *Tree { panic("soon") }

// Insert adds an entry.
func (t *Tree) Insert(ctx context.Context, w *Writer, key []byte, tid TID, payload []byte) error {
	panic("soon")
}

// InsertUnique adds an entry unless check reports a duplicate; then it returns the TID of that.
// It waits for the transactions check names. With insert false it only looks (deferred constraints).
func (t *Tree) InsertUnique(ctx context.Context, w *Writer, key []byte, tid TID, payload []byte, check UniqueCheck) (dup TID, found bool, err error) {
	panic("soon")
}

// CheckUnique is InsertUnique without the insertion.
func (t *Tree) CheckUnique(ctx context.Context, w *Writer, key []byte, check UniqueCheck) (dup TID, found bool, err error) {
	panic("soon")
}

// Bounds is a range of keys. A bound matches by prefix: lo inclusive takes every key that begins with lo or is
// greater, lo exclusive none that begins with it; hi likewise. Nil is unbounded.
type Bounds struct {
	Lo, Hi                   []byte
	LoExclusive, HiExclusive bool
}

// Cursor reads entries in order, a page at a time. The zero value is ready after Init.
type Cursor struct{}

// NewCursor makes a cursor; reuse it through Seek.
func (t *Tree) NewCursor() *Cursor { panic("soon") }

// Reset points the cursor at a tree (for a Cursor kept by value or reused for another tree).
func (c *Cursor) Reset(t *Tree) { panic("soon") }

// Seek begins a scan. The bounds are copied.
func (c *Cursor) Seek(b Bounds, backward bool) { panic("soon") }

// Next returns the next entry; key and payload stay valid until the next call.
func (c *Cursor) Next() (key []byte, tid TID, payload []byte, ok bool, err error) { panic("soon") }

// Kill marks the entry last returned as dead to every snapshot.
func (c *Cursor) Kill() { panic("soon") }

// Close flushes kill hints and drops the buffers; the cursor may be used again.
func (c *Cursor) Close() { panic("soon") }

// Entry is one entry of a bulk build.
type Entry struct {
	Key     []byte
	TID     TID
	Payload []byte
}

// BulkBuild fills an empty, just created file from entries in key and TID order; next's result is read before it is
// called again.
func BulkBuild(ctx context.Context, d Deps, c Config, w *Writer, next func() (e Entry, ok bool, err error)) (*Tree, error) {
	panic("soon")
}

// VacuumStats is what a vacuum did.
type VacuumStats struct {
	Pages, Entries, Removed, DeletedPages, FreePages int64
}

// VacuumScan removes the entries whose TID dead accepts, deletes pages that became empty, and puts blocks that nobody
// can reach any more into the free space map. dead may be nil: cleanup only.
func (t *Tree) VacuumScan(ctx context.Context, w *Writer, dead func(TID) bool) (VacuumStats, error) {
	panic("soon")
}

// Stats are the shape of a tree, for the planner and pgstatindex.
type Stats struct {
	Pages  storage.BlockNumber
	Levels int
}

// Stats reads the tree's height and length.
func (t *Tree) Stats() (Stats, error) { panic("soon") }

// Check verifies every invariant of the tree and calls entry for each leaf entry.
func (t *Tree) Check(entry func(key []byte, tid TID, payload []byte) error, report func(block storage.BlockNumber, problem string)) error {
	panic("soon")
}

// Redoer replays btree records.
type Redoer struct{ d Deps }

// NewRedoer returns the replayer for RMBTree.
func NewRedoer(d Deps) *Redoer { return &Redoer{d: d} }

// Redo implements wal.Redoer.
func (r *Redoer) Redo(rec *wal.Record, c *wal.RedoContext) error { panic("soon") }
