package btree

import (
	"slices"

	"github.com/minipg/minipg/storage"
)

// Bounds is a range of keys. A bound matches by prefix: Lo takes every key that
// begins with it or is greater, LoExclusive leaves out those that begin with it,
// and Hi likewise. Nil is unbounded.
type Bounds struct {
	Lo, Hi                   []byte
	LoExclusive, HiExclusive bool
}

// low is the place before the first entry of the range.
func (b *Bounds) low() bound {
	if b.Lo != nil && b.LoExclusive {
		return behind(b.Lo)
	}
	return at(b.Lo)
}

// high is the place behind the last entry of the range.
func (b *Bounds) high() bound {
	if b.Hi == nil || !b.HiExclusive {
		return behind(b.Hi)
	}
	return at(b.Hi)
}

// few is the number of entries up to which each is copied by itself; more come
// with the whole page.
const few = 16

// Cursor reads entries in order. It copies those of one page under one shared
// latch and holds nothing between calls: Invariant 5. What it returns must be
// looked at under a snapshot taken before it was read, as the entries may be
// gone and their TIDs given to others by then.
type Cursor struct {
	t        *Tree
	bounds   Bounds
	lo, hi   []byte // memory of the bounds
	backward bool
	state    cursorState

	// The page at hand.
	block     storage.BlockNumber
	sibling   storage.BlockNumber // where the scan goes on
	deletions uint32
	last      bool   // nothing in range lies beyond
	edge      []byte // going forward, its high key

	bytes   []byte  // the entries, or the whole page
	entries []entry // in page order
	at      int     // the entry returned last
	killed  []int   // of entries
}

type cursorState uint8

const (
	cursorDone cursorState = iota
	cursorNew
	cursorOnPage
)

// entry is where an entry lies in Cursor.bytes.
type entry struct {
	key     uint16 // start
	payload uint16 // end of the key and its TID
	end     uint16
}

// NewCursor makes a cursor for the tree.
func (t *Tree) NewCursor() *Cursor { return &Cursor{t: t} }

// Reset points the cursor at another tree and ends its scan.
func (c *Cursor) Reset(t *Tree) {
	c.Close()
	c.t = t
}

// Seek begins a scan; the bounds are copied.
func (c *Cursor) Seek(b Bounds, backward bool) {
	c.flushKilled()
	c.lo = append(c.lo[:0], b.Lo...)
	c.hi = append(c.hi[:0], b.Hi...)
	c.bounds = Bounds{LoExclusive: b.LoExclusive, HiExclusive: b.HiExclusive}
	if b.Lo != nil {
		c.bounds.Lo = c.lo
	}
	if b.Hi != nil {
		c.bounds.Hi = c.hi
	}
	c.backward = backward
	c.state = cursorNew
	c.entries = c.entries[:0]
}

// Next returns the next entry of the range, in descending order when the scan
// goes backward. key and payload are good until the next call.
func (c *Cursor) Next() (key []byte, tid TID, payload []byte, ok bool, err error) {
	for {
		if c.state == cursorOnPage && c.advance() {
			e := &c.entries[c.at]
			key, tid = splitEntry(c.bytes[e.key:e.payload])
			return key, tid, c.bytes[e.payload:e.end:e.end], true, nil
		}
		if c.state == cursorDone {
			return nil, TID{}, nil, false, nil
		}
		if err := c.nextPage(); err != nil {
			c.state = cursorDone
			return nil, TID{}, nil, false, err
		}
	}
}

// advance moves to the next entry of the page at hand.
func (c *Cursor) advance() bool {
	if c.backward {
		c.at--
		return c.at >= 0
	}
	c.at++
	return c.at < len(c.entries)
}

// Kill marks the entry returned last as dead to every snapshot. It is a hint,
// written when the cursor leaves the page.
func (c *Cursor) Kill() { c.killed = append(c.killed, c.at) }

// Close ends the scan and writes the hints. The cursor may be used again.
func (c *Cursor) Close() {
	c.flushKilled()
	c.state = cursorDone
}

// Current is the key, with the TID behind it, that Next returned last, for a
// later Seek to begin at.
func (c *Cursor) Current() []byte {
	e := &c.entries[c.at]
	return c.bytes[e.key:e.payload]
}

// nextPage copies the next page with entries of the range, or ends the scan.
func (c *Cursor) nextPage() error {
	c.flushKilled()
	if c.state == cursorNew {
		return c.firstPage()
	}
	if c.last || c.sibling == none {
		c.state = cursorDone
		return nil
	}
	if c.backward {
		return c.pageToTheLeft()
	}
	buf, err := c.latchLeaf(c.sibling)
	if err != nil {
		return err
	}
	for p := pageOf(buf); ignored(p); p = pageOf(buf) {
		if isRightmost(p) {
			return c.t.checkEnd(p, buf)
		}
		if buf, err = c.t.stepTo(buf, nextOf(p), 0, storage.Shared, storage.Shared); err != nil {
			return err
		}
	}
	first := c.resumeOn(pageOf(buf))
	c.copyPage(buf, first, c.endOn(buf, first))
	buf.ReleaseShared()
	return nil
}

// resumeOn returns the number of the first entry of p that lies behind the page
// that was read before. Where a page between the two was deleted, p has taken over
// its keys, which would come out of order; none of them is visible to a snapshot
// as old as the scan.
func (c *Cursor) resumeOn(p page) int {
	if prevOf(p) == c.block {
		return firstData(p)
	}
	edge := at(c.edge)
	return search(p, &edge)
}

func (c *Cursor) latchLeaf(block storage.BlockNumber) (*storage.Buffer, error) {
	buf, err := c.t.read(block)
	if err != nil {
		return nil, err
	}
	buf.LockShared(storage.ClassBTreeLeaf)
	if p := pageOf(buf); !hasSpecial(p) || !isLeaf(p) {
		buf.ReleaseShared()
		return nil, c.t.corrupted("block %d of index %q is not a leaf", block, c.t.c.Name)
	}
	return buf, nil
}

// firstPage copies the page where the scan begins.
func (c *Cursor) firstPage() error {
	begin := c.bounds.low()
	if c.backward {
		begin = c.bounds.high()
	}
	buf, err := c.t.descendShared(&begin)
	if err != nil {
		return err
	}
	i := search(pageOf(buf), &begin)
	if c.backward {
		c.copyPage(buf, c.startOn(buf), i)
	} else {
		c.copyPage(buf, i, c.endOn(buf, i))
	}
	buf.ReleaseShared()
	return nil
}

// endOn returns the number behind the last entry in range of a page, whose first
// is given, and notes whether the range ends there.
func (c *Cursor) endOn(buf *storage.Buffer, first int) int {
	p := pageOf(buf)
	n := itemCount(p) + 1
	high := c.bounds.high()
	if !isRightmost(p) && high.beforeItem(p, 1) {
		c.last = false // the page lies wholly in range
		return n
	}
	c.last = true
	if high.key == nil {
		return n
	}
	return searchFrom(p, &high, first)
}

// startOn returns the number of the first entry in range of a page, and notes
// whether the range begins there.
func (c *Cursor) startOn(buf *storage.Buffer) int {
	p := pageOf(buf)
	low := c.bounds.low()
	i := search(p, &low)
	c.last = i > firstData(p) || prevOf(p) == none
	return i
}

// copyPage takes over the entries from..to-1 of a leaf latched shared.
func (c *Cursor) copyPage(buf *storage.Buffer, from, to int) {
	p := pageOf(buf)
	c.state = cursorOnPage
	c.block = buf.Block()
	c.deletions = deletionsOf(p)
	switch {
	case c.backward:
		c.sibling = prevOf(p)
	case !c.last:
		c.sibling = nextOf(p)
		c.edge = append(c.edge[:0], highKey(p)...)
	}
	c.entries = c.entries[:0]
	if to-from > few {
		c.copyWhole(p, from, to)
	} else {
		c.copyFew(p, from, to)
	}
	c.at = -1
	if c.backward {
		c.at = len(c.entries)
	}
}

func (c *Cursor) copyFew(p page, from, to int) {
	c.bytes = c.bytes[:0]
	for i := from; i < to; i++ {
		if killedAt(p, i) {
			continue
		}
		start := len(c.bytes)
		key, payload := keyAt(p, i), payloadAt(p, i)
		c.bytes = append(append(c.bytes, key...), payload...)
		c.entries = append(c.entries, entry{
			uint16(start), uint16(start + len(key)), uint16(len(c.bytes)),
		})
	}
}

// copyWhole copies the items as they lie.
func (c *Cursor) copyWhole(p page, from, to int) {
	c.bytes = append(slices.Grow(c.bytes[:0], storage.PageSize), p[:]...)
	withPayload := flagsOf(p)&flagPayload != 0
	for i := from; i < to; i++ {
		l := lineAt(p, i)
		if l.State() == lineKilled {
			continue
		}
		end := uint16(l.Offset() + l.Length())
		e := entry{uint16(l.Offset()), end, end}
		if withPayload {
			e.key += payloadKeySize
			e.payload = e.key + uint16(len(keyAt(p, i)))
		}
		c.entries = append(c.entries, e)
	}
}

// pageToTheLeft copies the page left of the one at hand, whose siblings may have
// changed since: it is the page that leads right to it.
func (c *Cursor) pageToTheLeft() error {
	block, left := c.block, c.sibling
	for left != none {
		buf, err := c.latchLeaf(left)
		if err != nil {
			return err
		}
		if buf, err = c.followTo(buf, block); err != nil {
			return err
		}
		if buf != nil {
			p := pageOf(buf)
			if !ignored(p) {
				c.copyPage(buf, c.startOn(buf), itemCount(p)+1)
				buf.ReleaseShared()
				return nil
			}
			block, left = buf.Block(), prevOf(p)
			buf.ReleaseShared()
			continue
		}
		at, next, err := c.relocate(block)
		if err != nil {
			return err
		}
		if at == block && next == left {
			return c.t.corrupted("could not find left sibling of block %d in index %q",
				block, c.t.c.Name)
		}
		block, left = at, next
	}
	c.state = cursorDone
	return nil
}

// maxFollow is how many pages a backward scan goes right to find the left
// sibling before it looks at where it was.
const maxFollow = 4

// followTo goes right from buf to the page that leads to block, or returns nil.
func (c *Cursor) followTo(buf *storage.Buffer, block storage.BlockNumber) (*storage.Buffer, error) {
	for range maxFollow {
		p := pageOf(buf)
		if flagsOf(p)&flagDeleted == 0 && nextOf(p) == block {
			return buf, nil
		}
		if isRightmost(p) {
			break
		}
		var err error
		if buf, err = c.t.stepTo(buf, nextOf(p), 0, storage.Shared, storage.Shared); err != nil {
			return nil, err
		}
	}
	buf.ReleaseShared()
	return nil, nil
}

// relocate looks at a page whose left sibling was not where it was: it returns
// the page, or the next one to its right that is not deleted, and its left sibling.
func (c *Cursor) relocate(block storage.BlockNumber) (at, left storage.BlockNumber, err error) {
	buf, err := c.latchLeaf(block)
	if err != nil {
		return none, none, err
	}
	for p := pageOf(buf); flagsOf(p)&flagDeleted != 0; p = pageOf(buf) {
		if isRightmost(p) {
			return none, none, c.t.checkEnd(p, buf)
		}
		if buf, err = c.t.stepTo(buf, nextOf(p), 0, storage.Shared, storage.Shared); err != nil {
			return none, none, err
		}
	}
	at, left = buf.Block(), prevOf(pageOf(buf))
	buf.ReleaseShared()
	return at, left, nil
}

// flushKilled writes the kill hints of the page at hand, if it can be latched at
// once and no entry was removed from it since: a TID that was given to another
// row meanwhile had its old entry removed first.
func (c *Cursor) flushKilled() {
	if len(c.killed) == 0 {
		return
	}
	defer func() { c.killed = c.killed[:0] }()
	buf, err := c.t.read(c.block)
	if err != nil {
		return // whoever needs the page will report it
	}
	if !buf.TryLockExclusive(storage.ClassBTreeLeaf) {
		buf.Unpin()
		return
	}
	defer buf.ReleaseExclusive()
	p := pageOf(buf)
	if !hasSpecial(p) || !isLeaf(p) || ignored(p) || deletionsOf(p) != c.deletions {
		return
	}
	any := false
	for _, k := range c.killed {
		e := &c.entries[k]
		entry := c.bytes[e.key:e.payload]
		place := at(entry)
		i := search(p, &place)
		if i <= itemCount(p) && compareKeys(keyAt(p, i), entry) == 0 && !killedAt(p, i) {
			killAt(p, i)
			any = true
		}
	}
	if any {
		buf.MarkDirtyHint()
	}
}
