package btree

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
)

// The special space of every page.
const (
	specialPrev      = 0  // 4 bytes, left sibling
	specialNext      = 4  // 4 bytes, right sibling
	specialLevel     = 8  // 2 bytes, 0 for leaves
	specialFlags     = 10 // 2 bytes
	specialDeletions = 12 // 4 bytes, times entries were removed; Invariant 5
	specialSafeXID   = 16 // 8 bytes, of a deleted page: Invariant 3
	specialSize      = 24

	specialStart = storage.PageSize - specialSize
)

// pageFlags say what a page is.
type pageFlags uint16

const (
	flagLeaf pageFlags = 1 << iota
	flagRoot
	flagMeta
	flagHalfDead
	flagDeleted
	flagKilled     // hint: some entry is killed
	flagIncomplete // the right sibling has no separator in the parent
	flagPayload    // entries are as long as they say, with a payload behind
)

// none is no sibling, no root, no child: block 0 is the meta page.
const none storage.BlockNumber = 0

// lineKilled is the state of the line pointer of an entry that is dead to
// every snapshot. Unlike on a table's page the item stays.
const lineKilled = storage.LineDead

// pageCapacity is the room for items and line pointers.
const pageCapacity = specialStart - storage.PageHeaderSize

const (
	childSize      = 4 // bytes of a block number behind a separator
	payloadKeySize = 2 // bytes of a key length before a key with payload
)

// page is a B-tree page. Its items are numbered from 1.
type page = *[storage.PageSize]byte

func pageOf(buf *storage.Buffer) page { return page(buf.Page()) }

func asPage(p page) storage.Page { return storage.Page(p[:]) }

func (t *Tree) initPage(p page, level uint16, flags pageFlags) {
	if level == 0 {
		flags |= flagLeaf
	}
	if t.c.Payload {
		flags |= flagPayload
	}
	initPage(p, level, flags)
}

func initPage(p page, level uint16, flags pageFlags) {
	asPage(p).Init(specialSize)
	binary.LittleEndian.PutUint16(p[specialStart+specialLevel:], level)
	setFlags(p, flags)
}

func prevOf(p page) storage.BlockNumber {
	return storage.BlockNumber(binary.LittleEndian.Uint32(p[specialStart+specialPrev:]))
}

func nextOf(p page) storage.BlockNumber {
	return storage.BlockNumber(binary.LittleEndian.Uint32(p[specialStart+specialNext:]))
}

func setPrev(p page, b storage.BlockNumber) {
	binary.LittleEndian.PutUint32(p[specialStart+specialPrev:], uint32(b))
}

func setNext(p page, b storage.BlockNumber) {
	binary.LittleEndian.PutUint32(p[specialStart+specialNext:], uint32(b))
}

func levelOf(p page) uint16 { return binary.LittleEndian.Uint16(p[specialStart+specialLevel:]) }

func flagsOf(p page) pageFlags {
	return pageFlags(binary.LittleEndian.Uint16(p[specialStart+specialFlags:]))
}

func setFlags(p page, f pageFlags) {
	binary.LittleEndian.PutUint16(p[specialStart+specialFlags:], uint16(f))
}

func addFlags(p page, f pageFlags)  { setFlags(p, flagsOf(p)|f) }
func dropFlags(p page, f pageFlags) { setFlags(p, flagsOf(p)&^f) }

func deletionsOf(p page) uint32 {
	return binary.LittleEndian.Uint32(p[specialStart+specialDeletions:])
}

func setDeletions(p page, n uint32) {
	binary.LittleEndian.PutUint32(p[specialStart+specialDeletions:], n)
}

func safeXIDOf(p page) uint64 { return binary.LittleEndian.Uint64(p[specialStart+specialSafeXID:]) }

func setSafeXID(p page, xid uint64) {
	binary.LittleEndian.PutUint64(p[specialStart+specialSafeXID:], xid)
}

func isLeaf(p page) bool      { return flagsOf(p)&flagLeaf != 0 }
func isRightmost(p page) bool { return nextOf(p) == none }

// ignored pages hold nothing; whoever meets one goes right.
func ignored(p page) bool { return flagsOf(p)&(flagHalfDead|flagDeleted) != 0 }

// hasSpecial tells a page of this package from whatever else a block may hold.
func hasSpecial(p page) bool { return asPage(p).SpecialOffset() == specialStart }

func itemCount(p page) int { return asPage(p).ItemCount() }

// firstData is the number of the first item behind the high key.
func firstData(p page) int {
	if isRightmost(p) {
		return 1
	}
	return 2
}

func lineAt(p page, i int) storage.LinePointer {
	at := storage.PageHeaderSize - storage.LinePointerSize + i*storage.LinePointerSize
	return storage.LinePointer(binary.LittleEndian.Uint32(p[at:]))
}

func setLineAt(p page, i int, l storage.LinePointer) {
	at := storage.PageHeaderSize - storage.LinePointerSize + i*storage.LinePointerSize
	binary.LittleEndian.PutUint32(p[at:], uint32(l))
}

func itemAt(p page, i int) []byte {
	l := lineAt(p, i)
	start := l.Offset()
	return p[start : start+l.Length()]
}

func killedAt(p page, i int) bool { return lineAt(p, i).State() == lineKilled }

// killAt marks entry i killed.
func killAt(p page, i int) {
	l := lineAt(p, i)
	setLineAt(p, i, storage.MakeLinePointer(l.Offset(), lineKilled, l.Length()))
	addFlags(p, flagKilled)
}

// keySpan is where the part of item i that is compared lies: the entry's key and
// TID, or the separator.
func keySpan(p page, i int) (start, n int) {
	l := lineAt(p, i)
	start, n = l.Offset(), l.Length()
	switch f := flagsOf(p); {
	case i == 1 && !isRightmost(p): // the high key is only that
	case f&flagLeaf == 0:
		n -= childSize
	case f&flagPayload != 0:
		n = int(binary.LittleEndian.Uint16(p[start:]))
		start += payloadKeySize
	}
	return start, n
}

// keyAt is that part.
func keyAt(p page, i int) []byte {
	start, n := keySpan(p, i)
	return p[start : start+n]
}

func highKey(p page) []byte { return itemAt(p, 1) }

func childAt(p page, i int) storage.BlockNumber {
	item := itemAt(p, i)
	return storage.BlockNumber(binary.LittleEndian.Uint32(item[len(item)-childSize:]))
}

func setChildAt(p page, i int, b storage.BlockNumber) {
	item := itemAt(p, i)
	binary.LittleEndian.PutUint32(item[len(item)-childSize:], uint32(b))
}

// splitEntry takes an entry's compared part apart.
func splitEntry(entry []byte) (key []byte, tid TID) {
	n := len(entry) - tidSize
	return entry[:n], decodeTID(entry[n:])
}

// payloadAt is what lies behind the key of leaf entry i.
func payloadAt(p page, i int) []byte {
	if flagsOf(p)&flagPayload == 0 {
		return nil
	}
	item := itemAt(p, i)
	return item[payloadKeySize+int(binary.LittleEndian.Uint16(item)):]
}

// appendEntry appends a leaf item.
func (t *Tree) appendEntry(dst, key []byte, tid TID, payload []byte) []byte {
	if t.c.Payload {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(key)+tidSize))
	} else if len(payload) > 0 {
		assert.That(false, "index %q was created without payload", t.c.Name)
	}
	dst = append(dst, key...)
	dst = appendTID(dst, tid)
	return append(dst, payload...)
}

// entryKey is the compared part of a leaf item outside of a page.
func (t *Tree) entryKey(item []byte) []byte {
	if t.c.Payload {
		n := int(binary.LittleEndian.Uint16(item))
		return item[payloadKeySize : payloadKeySize+n]
	}
	return item
}

func appendPivot(dst, separator []byte, child storage.BlockNumber) []byte {
	dst = append(dst, separator...)
	return binary.LittleEndian.AppendUint32(dst, uint32(child))
}

// compareKeys is bytes.Compare, which most pairs can do without.
func compareKeys(a, b []byte) int {
	if len(a) >= headSize && len(b) >= headSize {
		x, y := binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(b)
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	return bytes.Compare(a, b)
}

// searchChild returns the number of the child of inner page p that holds the
// place of the bound: the last one whose separator is not behind it.
func searchChild(p page, b *bound) int {
	first := firstData(p)
	i := search(p, b)
	// An entry equal to a separator belongs to the right of it.
	if !b.after && i <= itemCount(p) && i > first && bytes.Equal(keyAt(p, i), b.key) {
		return i
	}
	if i == first { // the empty separator equals an empty key
		return first
	}
	return i - 1
}

// freeBytes is the room between line pointers and items.
func freeBytes(p page) int { return asPage(p).ExactFreeSpace() }

// insertItem puts an item at number i. It has been seen to fit.
func insertItem(p page, i int, item []byte) {
	sp := asPage(p)
	lower, upper := sp.Lower(), sp.Upper()-len(item)
	if lower+storage.LinePointerSize > upper {
		assert.That(false, "item of %d bytes does not fit", len(item))
	}
	at := storage.PageHeaderSize - storage.LinePointerSize + i*storage.LinePointerSize
	copy(p[at+storage.LinePointerSize:lower+storage.LinePointerSize], p[at:lower])
	copy(p[upper:], item)
	setLineAt(p, i, storage.MakeLinePointer(upper, storage.LineNormal, len(item)))
	sp.SetBounds(lower+storage.LinePointerSize, upper)
}

// appendItem puts an item behind the last one, and keeps its state.
func appendItem(p page, item []byte, state storage.LineState) {
	n := itemCount(p) + 1
	insertItem(p, n, item)
	if state == lineKilled {
		killAt(p, n)
	}
}

// removeItems removes the items with the given ascending numbers. The items
// left move together.
func removeItems(p page, numbers []uint16) {
	var old [storage.PageSize]byte
	copy(old[:], p[:])
	count, next := itemCount(&old), 0
	lower, upper := storage.PageHeaderSize, specialStart
	for i := 1; i <= count; i++ {
		if next < len(numbers) && int(numbers[next]) == i {
			next++
			continue
		}
		l := lineAt(&old, i)
		upper -= l.Length()
		copy(p[upper:], old[l.Offset():l.Offset()+l.Length()])
		moved := storage.MakeLinePointer(upper, l.State(), l.Length())
		binary.LittleEndian.PutUint32(p[lower:], uint32(moved))
		lower += storage.LinePointerSize
	}
	if next != len(numbers) {
		assert.That(false, "removed items are not ascending or not there")
	}
	asPage(p).SetBounds(lower, upper)
}

// removeEntries is removeItems of a leaf's entries, which cursors notice.
func removeEntries(p page, numbers []uint16) {
	removeItems(p, numbers)
	setDeletions(p, deletionsOf(p)+1)
	f := flagsOf(p) &^ flagKilled
	for i, n := firstData(p), itemCount(p); i <= n; i++ {
		if killedAt(p, i) {
			f |= flagKilled
			break
		}
	}
	setFlags(p, f)
}

// commonPrefix is the number of leading bytes that a and b share.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		if x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// separator is the shortest prefix of right that is greater than left, which is
// less than right.
func separator(left, right []byte) []byte { return right[:commonPrefix(left, right)+1] }

// appendContent appends all of a page but its LSN and the hole, for a record
// that makes the page anew.
func appendContent(dst []byte, p page) []byte {
	lower, upper := asPage(p).Lower(), asPage(p).Upper()
	dst = binary.LittleEndian.AppendUint16(dst, uint16(lower))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(upper))
	dst = append(dst, p[storage.PageHeaderSize:lower]...)
	return append(dst, p[upper:]...)
}

// restoreContent is the reverse of appendContent. It reports false when the
// bytes are no page.
func restoreContent(p page, b []byte) bool {
	if len(b) < 4 {
		return false
	}
	lower, upper := int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:]))
	b = b[4:]
	if lower < storage.PageHeaderSize || upper < lower || upper > specialStart ||
		len(b) != lower-storage.PageHeaderSize+storage.PageSize-upper {
		return false
	}
	asPage(p).Init(specialSize)
	n := copy(p[storage.PageHeaderSize:lower], b)
	copy(p[upper:], b[n:])
	asPage(p).SetBounds(lower, upper)
	return true
}
