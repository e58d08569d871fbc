package btree

import (
	"bytes"

	"github.com/minipg/minipg/storage"
)

// Where to split follows nbtsplitloc.c, with byte prefixes for attributes: among
// the points whose halves are about as full as they should be the one with the
// shortest separator is taken, since that is what inner pages are made of.

const (
	innerFillFactor = 70 // percent, of the left page in a rightmost inner split
	leafWindow      = 5  // percent of a page that a split may be off for a short separator
	innerWindow     = 8
)

// splitPoint is a legal way to split.
type splitPoint struct {
	left  int // data items of the left page, the new one included
	delta int // distance from the wanted fill, in bytes
}

// chooser looks for a split point of a page with one more item than it has.
type chooser struct {
	t       *Tree
	p       page
	newItem []byte
	newAt   int // number the new item would get
	first   int // number of the first data item
	count   int // data items with the new one
	leaf    bool
}

// item is data item i, counted from 0, as if the new one were in.
func (c *chooser) item(i int) []byte {
	switch n := c.first + i; {
	case n == c.newAt:
		return c.newItem
	case n < c.newAt:
		return itemAt(c.p, n)
	default:
		return itemAt(c.p, n-1)
	}
}

// key is the compared part of data item i.
func (c *chooser) key(i int) []byte {
	item := c.item(i)
	if c.leaf {
		return c.t.entryKey(item)
	}
	return item[:len(item)-childSize]
}

// separator is the high key of the left page with n items.
func (c *chooser) separator(n int) []byte {
	if !c.leaf {
		return c.key(n)
	}
	return separator(c.key(n-1), c.key(n))
}

// choose returns the number of data items that stay left.
func (c *chooser) choose(w *Writer) int {
	c.leaf = isLeaf(c.p)
	c.first = firstData(c.p)
	c.count = itemCount(c.p) - c.first + 2
	points := c.points(w)
	best := points[0]
	for _, s := range points[1:] {
		if s.delta < best.delta {
			best = s
		}
	}
	window := leafWindow
	if !c.leaf {
		window = innerWindow
	}
	limit := max(best.delta, pageCapacity*window/100)
	shortest := len(c.separator(best.left))
	for _, s := range points {
		if s.delta > limit {
			continue
		}
		if n := len(c.separator(s.left)); n < shortest || n == shortest && s.delta < best.delta {
			best, shortest = s, n
		}
	}
	return best.left
}

// points lists the legal splits with their distance from what is wanted: both
// halves equally full, or the left one as full as the fill factor says where
// items keep coming at the end.
func (c *chooser) points(w *Writer) []splitPoint {
	total := 0
	for i := range c.count {
		total += len(c.item(i)) + storage.LinePointerSize
	}
	rightHigh := 0
	if !isRightmost(c.p) {
		rightHigh = len(itemAt(c.p, 1)) + storage.LinePointerSize
	}
	fill := c.fillFactor()
	points, left := w.scratch.splits[:0], 0
	for n := 1; n < c.count; n++ {
		left += len(c.item(n-1)) + storage.LinePointerSize
		right := total - left + rightHigh
		if !c.leaf {
			right -= len(c.item(n)) - childSize // its separator becomes empty
		}
		leftFree := pageCapacity - left - len(c.separator(n)) - storage.LinePointerSize
		rightFree := pageCapacity - right
		if leftFree < 0 || rightFree < 0 {
			continue
		}
		delta := leftFree - rightFree
		if fill > 0 {
			delta = leftFree - pageCapacity*(100-fill)/100
		}
		points = append(points, splitPoint{n, max(delta, -delta)})
	}
	w.scratch.splits = points
	return points
}

// fillFactor is the percentage to which the left page should be filled, or 0 for
// halves.
func (c *chooser) fillFactor() int {
	switch {
	case !c.leaf && isRightmost(c.p):
		return innerFillFactor
	case c.leaf && (isRightmost(c.p) || c.appendsToGroup()):
		return c.t.c.FillFactor
	}
	return 0
}

// appendsToGroup tells whether the new item is the last of the page and has the
// key of the one before it: duplicates come in TID order, so more will follow.
func (c *chooser) appendsToGroup() bool {
	if c.newAt != c.first+c.count-1 {
		return false
	}
	key, _ := splitEntry(c.key(c.count - 1))
	before, _ := splitEntry(c.key(c.count - 2))
	return bytes.Equal(key, before)
}
