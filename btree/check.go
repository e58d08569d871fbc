package btree

import (
	"bytes"
	"fmt"

	"github.com/minipg/minipg/storage"
)

// Check verifies every invariant of a tree nobody writes to. It calls entry for
// each leaf entry in order, and report for each problem; block 0 stands for the tree as a
// whole. The error is one of reading, or entry's.
func (t *Tree) Check(
	entry func(key []byte, tid TID, payload []byte) error,
	report func(block storage.BlockNumber, problem string),
) error {
	root, level, err := t.readMeta()
	if err != nil {
		return err
	}
	c := checking{t: t, entry: entry, report: report, seen: make(map[storage.BlockNumber]bool)}
	want := []downlink{{block: root}}
	for l := int(level); l >= 0 && err == nil; l-- {
		want, err = c.level(uint16(l), want)
	}
	if err == nil {
		err = c.unreached()
	}
	return err
}

// downlink is what a parent says about a child.
type downlink struct {
	block storage.BlockNumber
	low   []byte
}

type checking struct {
	t      *Tree
	entry  func(key []byte, tid TID, payload []byte) error
	report func(storage.BlockNumber, string)
	seen   map[storage.BlockNumber]bool

	// Of the page before, on the level that is being checked.
	prev       storage.BlockNumber
	high       []byte // low separator of the next one
	incomplete bool   // the next one has no downlink
	last       []byte // entry
}

// problem reports one; keys are cut to what a person can read.
func (c *checking) problem(block storage.BlockNumber, format string, args ...any) {
	for i, arg := range args {
		if key, ok := arg.([]byte); ok && len(key) > 24 {
			args[i] = fmt.Sprintf("%x...%x (%d bytes)", key[:8], key[len(key)-8:], len(key))
		} else if ok {
			args[i] = fmt.Sprintf("%x", key)
		}
	}
	c.report(block, fmt.Sprintf(format, args...))
}

// level walks one level from the page its first downlink leads to. It returns
// the downlinks of the next one.
func (c *checking) level(level uint16, want []downlink) (below []downlink, err error) {
	c.prev, c.high, c.incomplete, c.last = none, nil, false, nil
	block, err := c.t.leftEnd(want[0].block)
	if err != nil {
		return nil, err
	}
	for block != none {
		if c.seen[block] {
			c.problem(block, "reached twice")
			return below, nil
		}
		c.seen[block] = true
		var p [storage.PageSize]byte
		if err := c.copyPage(block, &p); err != nil {
			return nil, err
		}
		if !c.header(block, &p, level) {
			return below, nil
		}
		dying, err := c.dying(block, &p, want)
		if err != nil {
			return nil, err
		}
		if !dying {
			if want, err = c.downlink(block, want), c.items(block, &p, &below); err != nil {
				return nil, err
			}
		}
		c.prev = block
		block = nextOf(&p)
	}
	for _, d := range want {
		c.problem(d.block, "has a downlink but is not on level %d", level)
	}
	return below, nil
}

// dying reports whether the page has been taken out of its parent and waits to be
// unlinked: a half-dead leaf, or an inner page of the branch one hangs on.
func (c *checking) dying(block storage.BlockNumber, p page, want []downlink) (bool, error) {
	if isLeaf(p) {
		return ignored(p), nil
	}
	if c.incomplete || len(want) > 0 && want[0].block == block {
		return false, nil
	}
	child := *p
	for !isLeaf(&child) {
		if itemCount(&child) != firstData(&child) {
			return false, nil
		}
		if err := c.copyPage(childAt(&child, firstData(&child)), &child); err != nil {
			return false, err
		}
	}
	return flagsOf(&child)&flagHalfDead != 0, nil
}

func (c *checking) copyPage(block storage.BlockNumber, p page) error {
	buf, err := c.t.read(block)
	if err != nil {
		return err
	}
	buf.LockShared(storage.ClassOther)
	copy(p[:], buf.Page())
	buf.ReleaseShared()
	return nil
}

// header checks what the special space says and reports whether the page can be
// read further.
func (c *checking) header(block storage.BlockNumber, p page, level uint16) bool {
	if !hasSpecial(p) || flagsOf(p)&flagMeta != 0 {
		c.problem(block, "is not a page of the tree")
		return false
	}
	f := flagsOf(p)
	if got := levelOf(p); got != level {
		c.problem(block, "level %d on level %d", got, level)
		return false
	}
	if (f&flagLeaf != 0) != (level == 0) {
		c.problem(block, "flags %b on level %d", f, level)
		return false
	}
	if f&flagDeleted != 0 {
		c.problem(block, "deleted page in the sibling chain")
	}
	if f&flagRoot != 0 && (prevOf(p) != none || nextOf(p) != none) {
		c.problem(block, "root with siblings")
	}
	if prevOf(p) != c.prev {
		c.problem(block, "left link %d, but the page to the left is %d", prevOf(p), c.prev)
	}
	if ignored(p) && isRightmost(p) {
		c.problem(block, "half-dead page at the end of its level")
	}
	if f&flagIncomplete != 0 && isRightmost(p) {
		c.problem(block, "split without right sibling")
	}
	return c.lines(block, p)
}

// lines checks that the line pointers lie within the page and do not overlap.
func (c *checking) lines(block storage.BlockNumber, p page) bool {
	lower, upper, used := asPage(p).Lower(), asPage(p).Upper(), 0
	if lower < storage.PageHeaderSize || lower > upper || upper > specialStart {
		c.problem(block, "bounds %d, %d", lower, upper)
		return false
	}
	for i, n := 1, itemCount(p); i <= n; i++ {
		l := lineAt(p, i)
		if l.Offset() < upper || l.Offset()+l.Length() > specialStart {
			c.problem(block, "line pointer %d points at %d, %d bytes", i, l.Offset(), l.Length())
			return false
		}
		used += l.Length()
	}
	if used != specialStart-upper {
		c.problem(block, "items of %d bytes in %d bytes", used, specialStart-upper)
	}
	return true
}

// downlink compares a page with the parent's next downlink and returns the others.
func (c *checking) downlink(block storage.BlockNumber, want []downlink) []downlink {
	switch {
	case c.incomplete:
		return want
	case len(want) == 0 || want[0].block != block:
		c.problem(block, "has no downlink in its parent")
		return want
	case !bytes.Equal(want[0].low, c.high):
		c.problem(block, "downlink %s, but the high key to the left is %s", want[0].low, c.high)
	}
	return want[1:]
}

// items checks a page's items and collects its downlinks.
func (c *checking) items(block storage.BlockNumber, p page, below *[]downlink) error {
	leaf, low := isLeaf(p), c.high
	var high []byte
	if !isRightmost(p) {
		if itemCount(p) < 1 {
			c.problem(block, "no high key")
			return nil
		}
		high = bytes.Clone(highKey(p))
		if bytes.Compare(high, low) <= 0 {
			c.problem(block, "high key %s is not above %s", high, low)
		}
	}
	first := firstData(p)
	if !leaf && itemCount(p) < first {
		c.problem(block, "inner page without child")
	}
	for i, n := first, itemCount(p); i <= n; i++ {
		item := keyAt(p, i)
		if leaf {
			if err := c.leafEntry(block, p, i, item); err != nil {
				return err
			}
		} else {
			separator := bytes.Clone(item)
			if i == first {
				if len(item) != 0 {
					c.problem(block, "first separator is %s", item)
				}
				separator = low
			} else if i > first+1 && bytes.Compare(c.last, item) >= 0 ||
				bytes.Compare(item, low) <= 0 {
				c.problem(block, "separator %d is out of order", i)
			}
			c.last = separator
			*below = append(*below, downlink{childAt(p, i), separator})
		}
		if i > first && bytes.Compare(item, low) < 0 || leaf && bytes.Compare(item, low) < 0 {
			c.problem(block, "item %d lies below the page", i)
		}
		if high != nil && bytes.Compare(item, high) >= 0 {
			c.problem(block, "item %d lies above the page", i)
		}
	}
	c.high = high
	c.incomplete = flagsOf(p)&flagIncomplete != 0
	return nil
}

func (c *checking) leafEntry(block storage.BlockNumber, p page, i int, item []byte) error {
	if len(item) < tidSize {
		c.problem(block, "entry %d has %d bytes", i, len(item))
		return nil
	}
	if c.last != nil && bytes.Compare(c.last, item) >= 0 {
		c.problem(block, "entry %d is out of order", i)
	}
	c.last = append(c.last[:0], item...)
	if killedAt(p, i) && flagsOf(p)&flagKilled == 0 {
		c.problem(block, "entry %d is killed, but the page does not say so", i)
	}
	if c.entry == nil || killedAt(p, i) {
		return nil
	}
	key, tid := splitEntry(item)
	return c.entry(key, tid, payloadAt(p, i))
}

// unreached looks at the blocks that are not part of the tree.
func (c *checking) unreached() error {
	n, err := c.t.d.Pool.Files().NBlocks(c.t.c.Rel, storage.MainFork)
	if err != nil {
		return err
	}
	for b := metaBlock + 1; b < n; b++ {
		if c.seen[b] {
			continue
		}
		var p [storage.PageSize]byte
		if err := c.copyPage(b, &p); err != nil {
			return err
		}
		if !asPage(&p).IsNew() && (!hasSpecial(&p) || flagsOf(&p)&flagDeleted == 0) {
			c.problem(b, "is neither in the tree nor deleted")
		}
	}
	return nil
}
