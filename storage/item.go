package storage

import (
	"encoding/binary"

	"github.com/minipg/minipg/pgerr/assert"
)

// LineState says what a line pointer stands for.
type LineState uint8

// The states of a line pointer, with PostgreSQL's numbers.
const (
	LineUnused   LineState = 0 // free for reuse
	LineNormal   LineState = 1 // points at an item
	LineRedirect LineState = 2 // HOT: stands for another line pointer
	LineDead     LineState = 3 // no item; index entries may still point here
)

// LinePointer is 15 bits of offset (or the redirect's target), 2 of state, 15 of length.
type LinePointer uint32

func makeLinePointer(off int, state LineState, length int) LinePointer {
	return LinePointer(uint32(off) | uint32(state)<<15 | uint32(length)<<17)
}

// Offset is where the item starts in the page; for a redirect the target's number.
func (l LinePointer) Offset() int { return int(l & 0x7fff) }

// State returns what the pointer stands for.
func (l LinePointer) State() LineState { return LineState(l >> 15 & 3) }

// Length is the item's length in bytes.
func (l LinePointer) Length() int { return int(l >> 17) }

// ItemCount is the number of line pointers, the highest item number.
func (p Page) ItemCount() int {
	n := p.Lower() - PageHeaderSize
	if n <= 0 {
		return 0
	}
	return n / LinePointerSize
}

// LinePointer returns line pointer off, counted from 1.
func (p Page) LinePointer(off uint16) LinePointer {
	return LinePointer(binary.LittleEndian.Uint32(p[PageHeaderSize+(int(off)-1)*LinePointerSize:]))
}

func (p Page) setLinePointer(off uint16, l LinePointer) {
	binary.LittleEndian.PutUint32(p[PageHeaderSize+(int(off)-1)*LinePointerSize:], uint32(l))
}

// Item returns the bytes of item off, aliasing p; nil when the pointer has none.
func (p Page) Item(off uint16) []byte {
	l := p.LinePointer(off)
	if l.State() != LineNormal {
		return nil
	}
	start := l.Offset()
	return p[start : start+l.Length() : start+l.Length()]
}

// State returns the state of line pointer off.
func (p Page) State(off uint16) LineState { return p.LinePointer(off).State() }

// SetRedirect makes off stand for target. Its item, if any, is garbage until Compact.
func (p Page) SetRedirect(off, target uint16) {
	p.setLinePointer(off, makeLinePointer(int(target), LineRedirect, 0))
}

// RedirectTarget returns what off stands for.
func (p Page) RedirectTarget(off uint16) uint16 { return uint16(p.LinePointer(off).Offset()) }

// SetDead makes off dead and without an item.
func (p Page) SetDead(off uint16) { p.setLinePointer(off, makeLinePointer(0, LineDead, 0)) }

// SetUnused frees off for reuse.
func (p Page) SetUnused(off uint16) {
	p.setLinePointer(off, 0)
	p.SetFlags(PageHasFreeLines)
}

// AddMode says which line pointer a new item gets.
type AddMode uint8

const (
	// AddAnywhere takes the first unused line pointer or a new one; off is ignored.
	AddAnywhere AddMode = iota
	// AddInsert puts the item at off and moves the pointers from there up by one.
	AddInsert
	// AddOverwrite uses off exactly: an unused pointer, or the one behind the last. For redo.
	AddOverwrite
)

// AddItem adds a copy of data and returns its number, 0 when there is no room (or, for
// AddOverwrite, when off is taken).
func (p Page) AddItem(off uint16, data []byte, mode AddMode) uint16 {
	off, room := p.AllocItem(off, len(data), mode)
	if off != 0 {
		copy(room, data)
	}
	return off
}

// AllocItem is AddItem for a caller that writes the item's bytes itself, into the returned
// slice of p.
func (p Page) AllocItem(off uint16, size int, mode AddMode) (uint16, []byte) {
	count := p.ItemCount()
	limit := uint16(count + 1)
	switch mode {
	case AddAnywhere:
		off = limit
		if p.HasFlags(PageHasFreeLines) {
			off = p.firstUnused(limit)
		}
	case AddInsert:
		assert.That(off >= 1 && off <= limit, "insert of an item outside the page's")
	case AddOverwrite:
		if off < 1 || off > limit || off < limit && p.State(off) != LineUnused {
			return 0, nil
		}
	}
	lower, upper := p.Lower(), p.Upper()-size
	if off == limit || mode == AddInsert {
		lower += LinePointerSize
	}
	if lower > upper {
		return 0, nil
	}
	if mode == AddInsert && off < limit {
		from := PageHeaderSize + (int(off)-1)*LinePointerSize
		copy(p[from+LinePointerSize:lower], p[from:lower-LinePointerSize])
	}
	p.setLinePointer(off, makeLinePointer(upper, LineNormal, size))
	p.setLower(lower)
	p.setUpper(upper)
	return off, p[upper : upper+size : upper+size]
}

// AllocRun is AllocItem for several items, which get new line pointers in their order; total is the sum of their
// sizes. It returns the first one's number, 0 when there is no room, and the bytes of all: the first item's are the
// last.
func (p Page) AllocRun(sizes []uint16, total int) (uint16, []byte) {
	count := p.ItemCount()
	lower, upper := PageHeaderSize+count*LinePointerSize, p.Upper()
	pointers := p[lower : lower+len(sizes)*LinePointerSize]
	lower += len(pointers)
	if lower > upper-total {
		return 0, nil
	}
	at := upper
	for i, size := range sizes {
		at -= int(size)
		binary.LittleEndian.PutUint32(pointers[i*LinePointerSize:], uint32(makeLinePointer(at, LineNormal, int(size))))
	}
	assert.That(at == upper-total, "the sizes of items are not their total")
	p.setLower(lower)
	p.setUpper(at)
	return uint16(count + 1), p[at:upper:upper]
}

func (p Page) firstUnused(limit uint16) uint16 {
	for i := uint16(1); i < limit; i++ {
		if p.State(i) == LineUnused {
			return i
		}
	}
	p.ClearFlags(PageHasFreeLines)
	return limit
}

// DeleteItem removes line pointer off and its item, closing both gaps: items behind it get
// the next lower number. For pages whose items nobody points at.
func (p Page) DeleteItem(off uint16) {
	l := p.LinePointer(off)
	count := p.ItemCount()
	at := PageHeaderSize + (int(off)-1)*LinePointerSize
	lower := p.Lower()
	copy(p[at:], p[at+LinePointerSize:lower])
	p.setLower(lower - LinePointerSize)
	if l.State() != LineNormal || l.Length() == 0 {
		return
	}
	p.closeGap(l.Offset(), l.Length(), count-1)
}

// closeGap moves the items below start up by n and fixes the pointers to them; an empty item
// may lie at start itself.
func (p Page) closeGap(start, n, count int) {
	upper := p.Upper()
	copy(p[upper+n:start+n], p[upper:start])
	p.setUpper(upper + n)
	for i := uint16(1); int(i) <= count; i++ {
		if l := p.LinePointer(i); l.State() == LineNormal && l.Offset() <= start {
			p.setLinePointer(i, makeLinePointer(l.Offset()+n, LineNormal, l.Length()))
		}
	}
}

// DeleteItems removes the items with the given ascending numbers, as DeleteItem does.
func (p Page) DeleteItems(offs []uint16) {
	if len(offs) <= 2 {
		for i := len(offs) - 1; i >= 0; i-- {
			p.DeleteItem(offs[i])
		}
		return
	}
	count, kept, next := p.ItemCount(), uint16(0), 0
	for i := uint16(1); int(i) <= count; i++ {
		if next < len(offs) && offs[next] == i {
			next++
			continue
		}
		kept++
		p.setLinePointer(kept, p.LinePointer(i))
	}
	assert.That(next == len(offs), "deleted items are not ascending or not there")
	p.setLower(PageHeaderSize + int(kept)*LinePointerSize)
	p.moveItems()
}

// ReplaceItem gives item off new bytes, of any size that fits; false when it does not.
func (p Page) ReplaceItem(off uint16, data []byte) bool {
	l := p.LinePointer(off)
	assert.That(l.State() == LineNormal, "replacement of an item that is not normal")
	grow := len(data) - l.Length()
	if grow > p.ExactFreeSpace() {
		return false
	}
	if grow != 0 {
		upper := p.Upper()
		start := l.Offset()
		copy(p[upper-grow:start-grow], p[upper:start])
		p.setUpper(upper - grow)
		for i, count := uint16(1), p.ItemCount(); int(i) <= count; i++ {
			if m := p.LinePointer(i); m.State() == LineNormal && m.Offset() <= start && i != off && (m.Offset() < start || m.Length() == 0) {
				p.setLinePointer(i, makeLinePointer(m.Offset()-grow, LineNormal, m.Length()))
			}
		}
		p.setLinePointer(off, makeLinePointer(start-grow, LineNormal, len(data)))
	}
	copy(p.Item(off), data)
	return true
}

// Compact closes the gaps that items without a pointer left, and drops unused line pointers
// from the end. Follows PageRepairFragmentation.
func (p Page) Compact() {
	count, unused := p.ItemCount(), 0
	for count > 0 && p.State(uint16(count)) == LineUnused {
		count--
	}
	for i := uint16(1); int(i) <= count; i++ {
		if p.State(i) == LineUnused {
			unused++
		}
	}
	p.setLower(PageHeaderSize + count*LinePointerSize)
	p.moveItems()
	if unused > 0 {
		p.SetFlags(PageHasFreeLines)
	} else {
		p.ClearFlags(PageHasFreeLines)
	}
}

// moveItems packs the items against the special space. The scratch copy keeps it simple and
// costs less than finding an order in which moves do not overlap.
func (p Page) moveItems() {
	var scratch [PageSize]byte
	from, end := p.Upper(), p.SpecialOffset()
	copy(scratch[from:end], p[from:end])
	to := end
	for i, count := uint16(1), p.ItemCount(); int(i) <= count; i++ {
		l := p.LinePointer(i)
		if l.State() != LineNormal {
			continue
		}
		to -= l.Length()
		copy(p[to:], scratch[l.Offset():l.Offset()+l.Length()])
		p.setLinePointer(i, makeLinePointer(to, LineNormal, l.Length()))
	}
	p.setUpper(to)
}
