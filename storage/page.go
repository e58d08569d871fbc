package storage

import (
	"encoding/binary"
	"hash/crc32"
)

// Layout of a page. All integers are little-endian.
const (
	PageHeaderSize  = 24
	LinePointerSize = 4

	pageLSN      = 0  // 8 bytes
	pageChecksum = 8  // 4 bytes, CRC32C of everything else and the block number
	pagePrune    = 12 // 6 bytes, hint: oldest XID whose tuple could be pruned
	pageLower    = 18 // 2 bytes
	pageUpper    = 20 // 2 bytes
	pageSpecial  = 22 // 1 byte, size of the special space in units of 8 bytes
	pageFlags    = 23 // 1 byte, PageFlags

	specialUnit = 8

	// MaxSpecialSize bounds the special space of a page.
	MaxSpecialSize = 255 * specialUnit
	// MaxItems is the largest number of line pointers a page can have.
	MaxItems = (PageSize - PageHeaderSize) / LinePointerSize
	// MaxPruneXID is the largest XID PruneXID can hold.
	MaxPruneXID = 1<<48 - 1
)

// PageFlags are hints and facts about a page as a whole.
type PageFlags uint8

// The page flags.
const (
	// PageHasFreeLines hints that some line pointer is unused.
	PageHasFreeLines PageFlags = 1 << iota
	// PageFull hints that an update found no room here.
	PageFull
	// PageAllVisible says that every tuple is visible to everyone; set exactly while the
	// visibility map may say so.
	PageAllVisible
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Page is one block in memory: PageSize bytes, all zero when new.
type Page []byte

// Init makes p an empty page with a special space of the given size, rounded up to 8 bytes.
func (p Page) Init(specialSize int) {
	units := (specialSize + specialUnit - 1) / specialUnit
	clear(p)
	p.setLower(PageHeaderSize)
	p[pageSpecial] = uint8(units)
	p.setUpper(PageSize - units*specialUnit)
}

// IsNew reports whether p was never initialised.
func (p Page) IsNew() bool { return binary.LittleEndian.Uint16(p[pageUpper:]) == 0 }

// LSN is the end of the last log record that changed the page.
func (p Page) LSN() LSN { return LSN(binary.LittleEndian.Uint64(p[pageLSN:])) }

// SetLSN stores the end of the record that describes the change just made.
func (p Page) SetLSN(lsn LSN) { binary.LittleEndian.PutUint64(p[pageLSN:], uint64(lsn)) }

// Flags returns the page's flags.
func (p Page) Flags() PageFlags { return PageFlags(p[pageFlags]) }

// HasFlags reports whether all of f are set.
func (p Page) HasFlags(f PageFlags) bool { return PageFlags(p[pageFlags])&f == f }

// SetFlags sets f.
func (p Page) SetFlags(f PageFlags) { p[pageFlags] |= uint8(f) }

// ClearFlags clears f.
func (p Page) ClearFlags(f PageFlags) { p[pageFlags] &^= uint8(f) }

// PruneXID hints at the oldest XID that, once below the horizon, makes pruning worth a
// try; 0 is none.
func (p Page) PruneXID() uint64 {
	return uint64(binary.LittleEndian.Uint32(p[pagePrune:])) | uint64(binary.LittleEndian.Uint16(p[pagePrune+4:]))<<32
}

// SetPruneXID stores the hint.
func (p Page) SetPruneXID(xid uint64) {
	binary.LittleEndian.PutUint32(p[pagePrune:], uint32(xid))
	binary.LittleEndian.PutUint16(p[pagePrune+4:], uint16(xid>>32))
}

// Lower is the offset of the first byte behind the line pointers.
func (p Page) Lower() int { return int(binary.LittleEndian.Uint16(p[pageLower:])) }

// Upper is the offset of the first byte of the items.
func (p Page) Upper() int { return int(binary.LittleEndian.Uint16(p[pageUpper:])) }

func (p Page) setLower(n int) { binary.LittleEndian.PutUint16(p[pageLower:], uint16(n)) }
func (p Page) setUpper(n int) { binary.LittleEndian.PutUint16(p[pageUpper:], uint16(n)) }

// SpecialOffset is where the special space begins, PageSize when there is none.
func (p Page) SpecialOffset() int { return PageSize - int(p[pageSpecial])*specialUnit }

// Special returns the special space, aliasing p.
func (p Page) Special() []byte { return p[p.SpecialOffset():PageSize] }

// FreeSpace is the room for one more item and its line pointer, in bytes of item.
func (p Page) FreeSpace() int { return max(p.Upper()-p.Lower()-LinePointerSize, 0) }

// ExactFreeSpace is the hole between line pointers and items.
func (p Page) ExactFreeSpace() int { return p.Upper() - p.Lower() }

// Hole returns the unused middle of the page, which images leave out; zero length when the
// header does not describe one.
func (p Page) Hole() (offset, length int) {
	lower, upper := p.Lower(), p.Upper()
	if lower < PageHeaderSize || upper <= lower || upper > PageSize {
		return 0, 0
	}
	return lower, upper - lower
}

func (p Page) computeChecksum(block BlockNumber) uint32 {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(block))
	c := crc32.Update(0, castagnoli, p[:pageChecksum])
	c = crc32.Update(c, castagnoli, b[:])
	return crc32.Update(c, castagnoli, p[pageChecksum+4:PageSize])
}

// SetChecksum stores the checksum of p as the given block. Only a private copy of a page is
// ever given one: others may read the page in the pool.
func (p Page) SetChecksum(block BlockNumber) {
	binary.LittleEndian.PutUint32(p[pageChecksum:], p.computeChecksum(block))
}

// VerifyChecksum reports whether p is what was written as the given block. An all-zero page
// is valid: it was added to the file and never written.
func (p Page) VerifyChecksum(block BlockNumber) bool {
	if p.IsNew() {
		return p.allZero()
	}
	return binary.LittleEndian.Uint32(p[pageChecksum:]) == p.computeChecksum(block) && p.validHeader()
}

func (p Page) validHeader() bool {
	lower, upper := p.Lower(), p.Upper()
	return lower >= PageHeaderSize && lower <= upper && upper <= p.SpecialOffset()
}

func (p Page) allZero() bool {
	for i := 0; i < PageSize; i += 8 {
		if binary.LittleEndian.Uint64(p[i:]) != 0 {
			return false
		}
	}
	return true
}
