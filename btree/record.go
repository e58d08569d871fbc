package btree

import (
	"encoding/binary"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// The kinds of RMBTree. Numbers are uint16 and blocks uint32, little-endian.
const (
	// kindInsert: block 0 page; its data: item number, item. Block 1, if there
	// is one, is the child whose split the item completes.
	kindInsert wal.Kind = iota
	// kindSplit: block 0 left page, its data: high key with its length, then the
	// new item if it went left. Block 1 right page, its content. Block 2 the page
	// to the right of both, if any. The last block, if flagSplitChild is set, the
	// child whose split the new item completes. Record data: splitRecord.
	kindSplit
	// kindNewRoot: block 0 root, its content. Block 1 meta page. Block 2 left
	// child. Record data: level.
	kindNewRoot
	// kindDelete: block 0 leaf, its data: item numbers.
	kindDelete
	// kindHalfDead: block 0 leaf, its data: top block of the subtree that goes with
	// it, or none. Block 1 parent, its data: item number of the subtree's top.
	kindHalfDead
	// kindUnlink: block 0 page, its data: safe XID. Block 1 right sibling. Block 2
	// left sibling, if any. The last block, if the page is not itself the leaf, the
	// half-dead leaf. Record data: unlinkRecord.
	kindUnlink
)

// splitRecord is the record data of a split.
type splitRecord struct {
	firstRight uint16 // number on the old page of the first item that goes right
	newItem    uint16 // number on the old page where the new item belongs
	flags      uint16
}

const (
	splitNewLeft  = 1 << iota // the new item goes left
	splitHasRight             // block 2 is the right sibling
	splitHasChild             // the last block is a child
)

const splitRecordSize = 6

func (r *splitRecord) put(b []byte) {
	binary.LittleEndian.PutUint16(b, r.firstRight)
	binary.LittleEndian.PutUint16(b[2:], r.newItem)
	binary.LittleEndian.PutUint16(b[4:], r.flags)
}

func readSplitRecord(b []byte) splitRecord {
	return splitRecord{
		firstRight: binary.LittleEndian.Uint16(b),
		newItem:    binary.LittleEndian.Uint16(b[2:]),
		flags:      binary.LittleEndian.Uint16(b[4:]),
	}
}

// unlinkRecord is the record data of an unlinking.
type unlinkRecord struct {
	left, right storage.BlockNumber
	leafTop     storage.BlockNumber // the next subtree top of the leaf, or none
	flags       uint16
}

const (
	unlinkHasLeft = 1 << iota
	unlinkHasLeaf
)

const unlinkRecordSize = 14

func (r *unlinkRecord) put(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(r.left))
	binary.LittleEndian.PutUint32(b[4:], uint32(r.right))
	binary.LittleEndian.PutUint32(b[8:], uint32(r.leafTop))
	binary.LittleEndian.PutUint16(b[12:], r.flags)
}

func readUnlinkRecord(b []byte) unlinkRecord {
	return unlinkRecord{
		left:    storage.BlockNumber(binary.LittleEndian.Uint32(b)),
		right:   storage.BlockNumber(binary.LittleEndian.Uint32(b[4:])),
		leafTop: storage.BlockNumber(binary.LittleEndian.Uint32(b[8:])),
		flags:   binary.LittleEndian.Uint16(b[12:]),
	}
}
