package heap

import (
	"encoding/binary"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// The kinds of heap records. Commands (cid) are not logged: nobody asks for them
// once the server restarted. A record's own XID is the tuple's xmin or xmax.
const (
	// kindInsert: block 0 the page: offset, flags, row.
	kindInsert wal.Kind = iota
	// kindMultiInsert: block 0 the page: offset, flags, length, row of each.
	kindMultiInsert
	// kindUpdate: block 0 the new version's page, then the old one's where it is another. Data:
	// record flags, old offset, old flags, new offset, new flags, prefix, suffix, old key. Block 0:
	// the new row without the prefix and suffix it shares with the old one on the same page.
	kindUpdate
	// kindDelete: block 0 the page. Data: record flags, offset, flags, old key.
	kindDelete
	// kindLock: block 0 the page: offset, flags.
	kindLock
	// kindPrune: block 0 the page: three counts, redirects (from, to), dead, unused.
	kindPrune
	// kindVacuum: block 0 the page: line pointers that become unused.
	kindVacuum
	// kindVisible: block 0 the page, block 1 its visibility map page: every tuple is visible to
	// everyone and becomes frozen. Data: record flags.
	kindVisible
	// kindTruncate: relation, blocks left. The maps are cut with it.
	kindTruncate
	// kindInsertRun: block 0 the page: offset of the first, flags, number of rows, their length or mixedLengths
	// and the length of each, the rows. They have consecutive line pointers. For the rest as kindMultiInsert.
	kindInsertRun
)

// mixedLengths stands for the length of a run's rows where they differ.
const mixedLengths = 1<<16 - 1

// Record flags.
const (
	// recVM: the last block of the record is a visibility map page whose bits for the new (or
	// only) page the change clears, or for kindMultiInsert with recAllVisible sets.
	recVM uint8 = 1 << iota
	// recVMOld: the same for the old page of an update, behind recVM's.
	recVMOld
	// recAllVisible: the page is all-visible and all-frozen after the change.
	recAllVisible
	// recSamePage: both versions of an update are on block 0.
	recSamePage
)

// recordOverhead bounds what a record adds to its payload: header, block references, fields.
const recordOverhead = 256

// maxPageRecord bounds the payload of records that describe changes all over a page.
const maxPageRecord = 2 * storage.PageSize

// reserve meets a full disk before anything is changed: it makes sure of room for a record of
// payload bytes that holds images of the given number of pages.
func (h *Heap) reserve(payload, pages int) error {
	if !h.logged {
		return nil
	}
	return h.d.Log.Reserve(payload + recordOverhead + pages*storage.PageSize)
}

// begin starts a record whose block 0 is buf.
func (h *Heap) begin(b *wal.Builder, kind wal.Kind, xid txn.XID, buf *storage.Buffer, flags wal.BufferFlags) {
	b.Reset(wal.RMHeap, kind, uint64(xid), h.c.DB)
	b.RegisterBuffer(0, buf, flags|wal.Standard)
}

func put16(b *wal.Builder, block int, vs ...uint16) {
	for _, v := range vs {
		if block < 0 {
			b.Data(byte(v), byte(v>>8))
		} else {
			b.BufData(block, byte(v), byte(v>>8))
		}
	}
}

// appendRun appends what kindInsertRun says ahead of the rows of tuples with the given sizes.
func appendRun(dst []byte, first uint16, flags Flags, sizes []uint16) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint16(dst, first)
	dst = le.AppendUint16(dst, uint16(flags))
	dst = le.AppendUint16(dst, uint16(len(sizes)))
	alike := true
	for _, size := range sizes {
		alike = alike && size == sizes[0]
	}
	if alike {
		return le.AppendUint16(dst, sizes[0]-HeaderSize)
	}
	dst = le.AppendUint16(dst, mixedLengths)
	for _, size := range sizes {
		dst = le.AppendUint16(dst, size-HeaderSize)
	}
	return dst
}

// reader takes a record's fields apart. A short record sets bad and reads zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) u8() uint8 {
	if len(r.b) < 1 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) u16() uint16 {
	if len(r.b) < 2 {
		r.bad = true
		return 0
	}
	v := binary.LittleEndian.Uint16(r.b)
	r.b = r.b[2:]
	return v
}

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.bad = true
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}
