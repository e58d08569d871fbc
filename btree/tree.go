package btree

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// TID names a tuple of the table: its block and its line pointer, counted from
// 1. It converts to and from heap.TID.
type TID struct {
	Block  storage.BlockNumber
	Offset uint16
}

func (t TID) String() string { return fmt.Sprintf("(%d,%d)", t.Block, t.Offset) }

const tidSize = 6

func appendTID(dst []byte, t TID) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(t.Block))
	return binary.BigEndian.AppendUint16(dst, t.Offset)
}

func decodeTID(b []byte) TID {
	return TID{
		Block:  storage.BlockNumber(binary.BigEndian.Uint32(b)),
		Offset: binary.BigEndian.Uint16(b[4:]),
	}
}

// MaxItemSize bounds key, TID and payload of one entry: three fit on a page.
const MaxItemSize = 2704

// LeafLock is the setting btree_leaf_lock.
type LeafLock uint8

// How an inserter's descent latches the leaf.
const (
	LeafLockExclusive LeafLock = iota // exclusively at once
	LeafLockUpgrade                   // shared first, then dropped and taken exclusively
)

// Deps are what every tree of a server shares.
type Deps struct {
	Pool    *storage.Pool
	Log     *wal.Log // nil: nothing is logged (tests)
	Txn     *txn.Manager
	Metrics *metrics.Set
}

// Config describes one tree. Sessions with different LeafLock and FastPath
// work side by side: both are fields of the Writer.
type Config struct {
	Rel         storage.RelFile
	DB          uint32 // database OID
	RelOID      uint32 // the table's OID
	IndexOID    uint32
	Name        string // of the index, for messages
	Persistence byte   // 'p', 'u' or 't'
	FillFactor  int    // percent of a leaf that bulk build and rightmost splits fill; 0 is 90
	// Payload tells that entries carry bytes behind the key. It is fixed when
	// the tree is created; trees without it save two bytes an entry.
	Payload bool
}

// Writer is a session's state for changing trees. It serves one goroutine.
type Writer struct {
	Tx       *txn.Tx
	LockSess *locks.Session
	Ext      *storage.ExtendState
	Builder  *wal.Builder
	LeafLock LeafLock
	// NoFastPath switches the fast path to the rightmost leaf off
	// (btree_fastpath).
	NoFastPath bool
	// Combine leaves the item with another session where the rightmost leaf is
	// latched (btree_combine).
	Combine bool

	scratch scratch
}

// scratch is what an insertion works with.
type scratch struct {
	item     []byte
	pivot    []byte
	key      []byte
	record   []byte
	numbers  []uint16
	splits   []splitPoint
	path     path
	deletion path // of the page that a deletion searches for
	left     [storage.PageSize]byte
	offer    offer
	behalf   uint64 // whose item is being inserted, if not the session's own
}

// xid is the transaction a record belongs to, 0 where none was given out.
func (w *Writer) xid() uint64 {
	if w.scratch.behalf != 0 {
		return w.scratch.behalf
	}
	if w.Tx == nil || !w.Tx.HasXID() {
		return 0
	}
	return uint64(w.Tx.UnloggedXID()) // the row it points to has said whether the commit waits
}

// Conflict is what a uniqueness check makes of an entry with the same key.
type Conflict uint8

// The answers of a uniqueness check.
const (
	ConflictNone Conflict = iota // the entry's row is dead, or the same row
	ConflictDup                  // a live row has the key
	ConflictWait                 // it depends on a transaction that still runs
	ConflictDead                 // as None, and dead to every snapshot: mark the entry killed
)

// UniqueCheck decides about an entry with the key that is about to be
// inserted. It is called with the leaf latched: it may latch table pages and
// wait for I/O, never for locks.
type UniqueCheck func(existing TID) (c Conflict, wait txn.XID, err error)

// Tree is a handle on one index. It is safe for concurrent use; all sessions of
// a server should share one per index, as it remembers root and rightmost leaf.
type Tree struct {
	d      Deps
	c      Config
	logged bool

	// root is the root's block and, from bit 32, its level, or 0: a hint, proved
	// by the root flag and the level found there.
	root atomic.Uint64
	// rightmost is the block of the rightmost leaf, or 0: a hint.
	rightmost atomic.Uint32
	offers    offers // for the rightmost leaf
	// clean tells that the last vacuum left no block to be found: see NeedsCleanup.
	clean atomic.Bool
}

// Open makes a handle on an existing tree; it reads nothing.
func Open(d Deps, c Config) *Tree {
	if d.Metrics == nil {
		d.Metrics = metrics.Discard()
	}
	if c.FillFactor <= 0 || c.FillFactor > 100 {
		c.FillFactor = DefaultFillFactor
	}
	return &Tree{d: d, c: c, logged: c.Persistence == 'p' && d.Log != nil}
}

// DefaultFillFactor is PostgreSQL's for B-trees, in percent.
const DefaultFillFactor = 90

// Config is what the tree was opened with.
func (t *Tree) Config() Config { return t.c }

func (t *Tree) tag(b storage.BlockNumber) storage.BlockTag {
	return storage.BlockTag{Rel: t.c.Rel, Fork: storage.MainFork, Block: b}
}

// read pins a block of the tree.
func (t *Tree) read(b storage.BlockNumber) (*storage.Buffer, error) {
	return t.d.Pool.Read(t.tag(b), nil)
}

// corrupted is the error for a tree that contradicts itself.
func (t *Tree) corrupted(format string, args ...any) error {
	return pgerr.New(pgerr.IndexCorrupted, format, args...).
		WithHint("Please REINDEX it.")
}

// classOf is the latch class of a page on a level.
func classOf(level uint16) storage.LatchClass {
	if level == 0 {
		return storage.ClassBTreeLeaf
	}
	return storage.ClassBTreeInner
}
