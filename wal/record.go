package wal

import (
	"github.com/minipg/minipg/storage"
)

// RMID names the package that redoes a record.
type RMID uint8

// The resource managers.
const (
	RMEngine  RMID = iota // checkpoints, OID allocation
	RMStorage             // page images, file creation and truncation
	RMTxn                 // commit, abort
	RMHeap
	RMBTree
	RMCatalog
	RMSequence
	numRM
)

var rmNames = [...]string{"Engine", "Storage", "Transaction", "Heap", "Btree", "Catalog", "Sequence"}

// String returns the name as messages show it.
func (rm RMID) String() string {
	if int(rm) < len(rmNames) {
		return rmNames[rm]
	}
	return "Unknown"
}

// Kind is what a record is to its resource manager.
type Kind uint8

// MaxBlocks bounds the block references of one record.
const MaxBlocks = 32

// BufferFlags say how a buffer takes part in a record.
type BufferFlags uint8

// How a buffer registered with a Builder is logged.
const (
	// WillInit: redo makes the page anew, so no image is needed and none of
	// its old bytes are read.
	WillInit BufferFlags = 1 << iota
	// ForceImage: the whole page goes into the record.
	ForceImage
	// NoImage: no image, whatever the page's LSN (the caller knows why).
	NoImage
	// Standard: the bytes between lower and upper are a hole that an image
	// leaves out.
	Standard
	// KeepData: the buffer's data stay in the record beside an image.
	KeepData
)

// Record is one log record. Slices point into the reader's buffer and are valid
// until the next record is read.
type Record struct {
	LSN    storage.LSN // of its first byte
	EndLSN storage.LSN // behind its last byte: what pages are stamped with
	Prev   storage.LSN // of the record before, 0 for the first of the log
	XID    uint64
	DB     uint32
	RM     RMID
	Kind   Kind
	Data   []byte
	Blocks []BlockRef

	incarnation uint16
}

// BlockRef is a block a record changes.
type BlockRef struct {
	Tag      storage.BlockTag
	WillInit bool
	HasImage bool
	Data     []byte

	image                []byte
	compressed           bool
	holeStart, holeBytes int
}
