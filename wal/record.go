package wal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/minipg/minipg/storage"
)

const (
	headerBytes     = 16
	crcTrailerBytes = 28
	// maxRecordBytes bounds a record, so that a length read from garbage is not believed.
	maxRecordBytes = 1 << 30
)

// The bits of a block reference's flags; the lowest two are the fork.
const (
	blockForkMask   = 0x03
	blockSameRel    = 0x04
	blockWillInit   = 0x08
	blockHasImage   = 0x10
	blockCompressed = 0x20
	blockHasData    = 0x40
	blockPacked     = 0x80 // the data are compressed
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
	unpacked    []byte // what block data are unpacked into
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

var errMalformed = errors.New("malformed log record")

// decoder takes a record's fields off its front; after a failure it yields zeros.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) byte() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

// decode fills rec from a whole record whose checksum is right. rec keeps
// pointing into b.
func (rec *Record) decode(b []byte, lsn storage.LSN) error {
	rec.LSN, rec.EndLSN = lsn, lsn+storage.LSN(len(b))
	rec.Prev = 0
	if back := binary.LittleEndian.Uint32(b[8:]); back != 0 {
		rec.Prev = lsn - storage.LSN(back)
	}
	rec.RM, rec.Kind = RMID(b[12]), Kind(b[13])
	rec.incarnation = binary.LittleEndian.Uint16(b[14:])
	d := decoder{b: b[headerBytes:]}
	rec.XID = d.uvarint()
	rec.DB = uint32(d.uvarint())
	n := int(d.byte())
	if n > MaxBlocks {
		return errMalformed
	}
	rec.Blocks = rec.Blocks[:0]
	rec.unpacked = rec.unpacked[:0]
	var rel storage.RelFile
	for range n {
		rec.Blocks = append(rec.Blocks, d.block(&rel, &rec.unpacked))
	}
	rec.Data = d.b
	if d.bad || rec.RM >= numRM {
		return errMalformed
	}
	return nil
}

func (d *decoder) block(rel *storage.RelFile, unpacked *[]byte) BlockRef {
	flags := d.byte()
	if flags&blockSameRel == 0 {
		rel.Tablespace = uint32(d.uvarint())
		rel.Database = uint32(d.uvarint())
		rel.Number = storage.FileNumber(d.uvarint())
	}
	ref := BlockRef{
		Tag: storage.BlockTag{
			Rel: *rel, Fork: storage.Fork(flags & blockForkMask), Block: storage.BlockNumber(d.uvarint()),
		},
		WillInit:   flags&blockWillInit != 0,
		HasImage:   flags&blockHasImage != 0,
		compressed: flags&blockCompressed != 0,
	}
	if ref.HasImage {
		ref.holeStart, ref.holeBytes = int(d.uvarint()), int(d.uvarint())
		ref.image = d.take(d.uvarint())
		if ref.holeStart < 0 || ref.holeBytes < 0 || ref.holeStart+ref.holeBytes > storage.PageSize {
			d.bad = true
		}
	}
	if flags&blockHasData != 0 {
		ref.Data = d.take(d.uvarint())
	}
	if flags&blockPacked != 0 {
		ref.Data = d.unpack(ref.Data, unpacked)
	}
	return ref
}

// unpack appends what packed holds to room and returns it. Should room move, data returned earlier go on
// using the old one.
func (d *decoder) unpack(packed []byte, room *[]byte) []byte {
	n, err := s2.DecodedLen(packed)
	if err != nil || n > packMost {
		d.bad = true
		return nil
	}
	at := len(*room)
	*room = slices.Grow(*room, n)[:at+n]
	data, err := s2.Decode((*room)[at:at+n:at+n], packed)
	if err != nil {
		d.bad = true
		return nil
	}
	return data
}

// RestoreImage writes the page image into page.
func (ref *BlockRef) RestoreImage(page storage.Page) error {
	want := storage.PageSize - ref.holeBytes
	raw := ref.image
	if ref.compressed {
		if n, err := s2.DecodedLen(raw); err != nil || n != want {
			return errMalformed
		}
		// Into the page itself: what stands behind the hole is moved up afterwards.
		out, err := s2.Decode(page[:want], raw)
		if err != nil {
			return errMalformed
		}
		raw = out
	}
	if len(raw) != want {
		return errMalformed
	}
	holeEnd := ref.holeStart + ref.holeBytes
	copy(page[holeEnd:], raw[ref.holeStart:])
	copy(page[:ref.holeStart], raw)
	clear(page[ref.holeStart:holeEnd])
	return nil
}
