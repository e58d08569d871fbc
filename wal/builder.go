package wal

import (
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
)

// ownData owns the pieces that belong to no block.
const ownData = -1

const (
	packFrom = 512                  // a block's data are packed from this many bytes on
	packMost = 2 * storage.PageSize // and up to this many, so that a reader trusts no greater length
	packGain = 8                    // and if at least this part of them is saved
)

// imageHoleMin is the smallest hole worth leaving out of an image.
const imageHoleMin = 16

// Builder collects one record. It is reusable and allocates nothing once
// warm; one belongs to a session or worker and is not safe for concurrent use.
type Builder struct {
	rm     RMID
	kind   Kind
	xid    uint64
	db     uint32
	blocks []builderBlock
	pieces []piece
	bytes  []byte // of all pieces, in the order they came

	enc    []byte // the encoded record
	images int    // in enc
	lsn    storage.LSN
	crc    uint32 // of enc behind the fixed header

	scratch []byte                // compression's output
	tail    [crcTrailerBytes]byte // what the checksum ends with; a field so that it does not escape
	slot    uint32                // where this builder last found a free insertion slot
}

type builderBlock struct {
	tag   storage.BlockTag
	buf   *storage.Buffer
	flags BufferFlags
	data  int // bytes of its pieces
}

type piece struct {
	owner      int32
	start, end int32
}

// builderPool lends builders to callers that have none of their own.
type builderPool struct{ p sync.Pool }

func (p *builderPool) Get() *Builder {
	if b, ok := p.p.Get().(*Builder); ok {
		return b
	}
	return new(Builder)
}

func (p *builderPool) Put(b *Builder) {
	clear(b.blocks)
	p.p.Put(b)
}

// Reset starts a record of kind for the transaction xid (0 for none) in
// database db.
func (b *Builder) Reset(rm RMID, kind Kind, xid uint64, db uint32) {
	b.rm, b.kind, b.xid, b.db = rm, kind, xid, db
	clear(b.blocks) // let go of buffers
	b.blocks = b.blocks[:0]
	b.pieces = b.pieces[:0]
	b.bytes = b.bytes[:0]
}

// RegisterBuffer makes buf block reference i. The caller holds its exclusive
// latch until the record is inserted. References are registered in order from 0.
func (b *Builder) RegisterBuffer(i int, buf *storage.Buffer, flags BufferFlags) {
	b.RegisterBlock(i, buf.Tag(), flags)
	b.blocks[i].buf = buf
}

// RegisterBlock makes a block without a buffer at hand reference i (no image).
func (b *Builder) RegisterBlock(i int, tag storage.BlockTag, flags BufferFlags) {
	assert.That(i == len(b.blocks) && i < MaxBlocks, "block reference %d registered out of order", i)
	b.blocks = append(b.blocks, builderBlock{tag: tag, flags: flags})
}

// BufData appends data that redo needs for block i; left out when the record
// holds the block's image (unless KeepData). The bytes are copied.
func (b *Builder) BufData(i int, data ...byte) {
	b.blocks[i].data += len(data)
	b.add(int32(i), data)
}

// Data appends to the record's own data. The bytes are copied.
func (b *Builder) Data(data ...byte) { b.add(ownData, data) }

func (b *Builder) add(owner int32, data []byte) {
	start := int32(len(b.bytes))
	b.bytes = append(b.bytes, data...)
	if n := len(b.pieces); n > 0 && b.pieces[n-1].owner == owner {
		b.pieces[n-1].end = int32(len(b.bytes))
		return
	}
	b.pieces = append(b.pieces, piece{owner: owner, start: start, end: int32(len(b.bytes))})
}

func (b *Builder) appendPieces(owner int32) {
	for _, p := range b.pieces {
		if p.owner == owner {
			b.enc = append(b.enc, b.bytes[p.start:p.end]...)
		}
	}
}

// encode lays the record out, all but what depends on where it will lie, and
// decides which pages go in whole. It reports whether the decision hung on the redo point.
func (b *Builder) encode(redo storage.LSN, images bool) (redoMatters bool) {
	b.enc = append(b.enc[:0], make([]byte, headerBytes)...)
	b.images = 0
	b.enc = binary.AppendUvarint(b.enc, b.xid)
	b.enc = binary.AppendUvarint(b.enc, uint64(b.db))
	b.enc = append(b.enc, byte(len(b.blocks)))
	for i := range b.blocks {
		if b.encodeBlock(i, redo, images) {
			redoMatters = true
		}
	}
	b.appendPieces(ownData)
	b.crc = crc32.Update(0, castagnoli, b.enc[headerBytes:])
	return redoMatters
}

func (b *Builder) encodeBlock(i int, redo storage.LSN, images bool) (redoMatters bool) {
	bl := &b.blocks[i]
	image := bl.flags&ForceImage != 0
	if !image && images && bl.buf != nil && bl.flags&(WillInit|NoImage) == 0 {
		redoMatters = true
		image = bl.buf.Page().LSN() <= redo
	}
	image = image && bl.buf != nil

	flags := byte(bl.tag.Fork) & blockForkMask
	if i > 0 && b.blocks[i-1].tag.Rel == bl.tag.Rel {
		flags |= blockSameRel
	}
	if bl.flags&WillInit != 0 {
		flags |= blockWillInit
	}
	if image {
		flags |= blockHasImage
	}
	keep := bl.data > 0 && (!image || bl.flags&KeepData != 0)
	if keep {
		flags |= blockHasData
	}
	at := len(b.enc)
	b.enc = append(b.enc, flags)
	if flags&blockSameRel == 0 {
		b.enc = binary.AppendUvarint(b.enc, uint64(bl.tag.Rel.Tablespace))
		b.enc = binary.AppendUvarint(b.enc, uint64(bl.tag.Rel.Database))
		b.enc = binary.AppendUvarint(b.enc, uint64(bl.tag.Rel.Number))
	}
	b.enc = binary.AppendUvarint(b.enc, uint64(bl.tag.Block))
	if image {
		b.images++
		if b.appendImage(bl.buf.Page(), bl.flags&Standard != 0) {
			b.enc[at] |= blockCompressed
		}
	}
	if keep && b.appendData(i) {
		b.enc[at] |= blockPacked
	}
	return redoMatters
}

// appendData appends block i's data, packed where that makes them much smaller: a bulk load's rows are
// most of what it writes, and waits for.
func (b *Builder) appendData(i int) (packed bool) {
	n := b.blocks[i].data
	at := len(b.enc)
	b.enc = binary.AppendUvarint(b.enc, uint64(n))
	raw := len(b.enc)
	b.appendPieces(int32(i))
	if n < packFrom || n > packMost {
		return false
	}
	b.scratch = grow(b.scratch, s2.MaxEncodedLen(n))
	small := s2.Encode(b.scratch[:cap(b.scratch)], b.enc[raw:])
	if len(small) > n-n/packGain {
		return false
	}
	b.enc = binary.AppendUvarint(b.enc[:at], uint64(len(small)))
	b.enc = append(b.enc, small...)
	return true
}

// appendImage appends the page without its hole, compressed where that is smaller.
func (b *Builder) appendImage(page storage.Page, standard bool) (compressed bool) {
	holeStart, holeBytes := 0, 0
	if standard {
		lower, upper := int(page.Lower()), int(page.Upper())
		if lower >= storage.PageHeaderSize && upper <= storage.PageSize && upper-lower >= imageHoleMin {
			holeStart, holeBytes = lower, upper-lower
		}
	}
	b.scratch = grow(b.scratch, storage.PageSize+s2.MaxEncodedLen(storage.PageSize))
	raw := b.scratch[:0]
	raw = append(raw, page[:holeStart]...)
	raw = append(raw, page[holeStart+holeBytes:]...)
	packed := s2.Encode(b.scratch[storage.PageSize:cap(b.scratch)], raw)
	if compressed = len(packed) < len(raw); !compressed {
		packed = raw
	}
	b.enc = binary.AppendUvarint(b.enc, uint64(holeStart))
	b.enc = binary.AppendUvarint(b.enc, uint64(holeBytes))
	b.enc = binary.AppendUvarint(b.enc, uint64(len(packed)))
	b.enc = append(b.enc, packed...)
	return compressed
}

// seal writes the fixed header once the record's place is known.
func (b *Builder) seal(lsn storage.LSN, prev uint32, incarnation uint16, systemID uint64) {
	h := b.enc
	binary.LittleEndian.PutUint32(h[0:], uint32(len(h)))
	binary.LittleEndian.PutUint32(h[8:], prev)
	h[12], h[13] = byte(b.rm), byte(b.kind)
	binary.LittleEndian.PutUint16(h[14:], incarnation)
	binary.LittleEndian.PutUint32(h[4:], finishCRC(b.crc, h, lsn, systemID, &b.tail))
}

// finishCRC adds the fixed header and the record's place to the checksum of its rest.
func finishCRC(crc uint32, header []byte, lsn storage.LSN, systemID uint64, tail *[crcTrailerBytes]byte) uint32 {
	copy(tail[0:4], header[0:4])
	copy(tail[4:12], header[8:16])
	binary.LittleEndian.PutUint64(tail[12:], uint64(lsn))
	binary.LittleEndian.PutUint64(tail[20:], systemID)
	return crc32.Update(crc, castagnoli, tail[:])
}

// grow returns buf with room for n bytes.
func grow(buf []byte, n int) []byte {
	if cap(buf) < n {
		return make([]byte, 0, n)
	}
	return buf[:0]
}

// LSN returns where the record last inserted starts.
func (b *Builder) LSN() storage.LSN { return b.lsn }

// Size bounds the bytes of the record so far, without images, for Reserve.
func (b *Builder) Size() int {
	return headerBytes + 24 + len(b.blocks)*40 + len(b.bytes)
}
