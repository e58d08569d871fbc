package btree

import (
	"encoding/binary"
	"fmt"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
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

	scratch writerScratch
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
