package heap

import (
	"fmt"
	"slices"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// Check verifies what doc.go promises about every page of the relation and reports each breach. It
// wants the relation to itself; an error means that a page could not be read at all, which is
// reported, too.
func (h *Heap) Check(report func(tid TID, problem string)) error {
	n, err := h.NBlocks()
	if err != nil {
		return err
	}
	var vm storage.VMBuffer
	defer vm.Release()
	var first error
	for block := range n {
		if err := h.checkBlock(block, &vm, report); err != nil {
			report(TID{Block: block}, err.Error())
			if first == nil {
				first = err
			}
		}
	}
	return first
}

func (h *Heap) checkBlock(block storage.BlockNumber, vm *storage.VMBuffer, report func(TID, string)) error {
	bits, err := h.d.Pool.VM().Get(h.c.Rel, block, vm)
	if err != nil {
		return err
	}
	buf, err := h.read(block, nil)
	if err != nil {
		return err
	}
	buf.LockShared(storage.ClassHeap)
	defer buf.ReleaseShared()
	c := pageCheck{h: h, block: block, page: buf.Page(), report: report}
	c.visible = c.page.HasFlags(storage.PageAllVisible)
	if bits&storage.VMAllFrozen != 0 && bits&storage.VMAllVisible == 0 {
		c.fail(0, "the visibility map says all-frozen but not all-visible")
	}
	if bits != 0 && !c.visible {
		c.fail(0, "the visibility map says all-visible, the page does not") // Invariant 2
	}
	c.frozen = bits&storage.VMAllFrozen != 0
	if !c.page.IsNew() && c.header() {
		c.pointers()
		c.tuples()
		c.chains()
	}
	return nil
}

// pageCheck is the check of one page.
type pageCheck struct {
	h       *Heap
	block   storage.BlockNumber
	page    storage.Page
	visible bool // the page's flag
	frozen  bool // the map's bit
	report  func(TID, string)
}

func (c *pageCheck) fail(off uint16, format string, args ...any) {
	c.report(TID{Block: c.block, Offset: off}, fmt.Sprintf(format, args...))
}

// header tells whether the page can be taken apart.
func (c *pageCheck) header() bool {
	lower, upper := c.page.Lower(), c.page.Upper()
	if lower < storage.PageHeaderSize || lower > upper || upper > storage.PageSize ||
		(lower-storage.PageHeaderSize)%storage.LinePointerSize != 0 {
		c.fail(0, "corrupted page pointers: lower = %d, upper = %d", lower, upper)
		return false
	}
	if c.page.SpecialOffset() != storage.PageSize {
		c.fail(0, "a heap page with special space")
	}
	if c.page.ItemCount() > MaxTuplesPerPage {
		c.fail(0, "%d line pointers, at most %d are allowed", c.page.ItemCount(), MaxTuplesPerPage)
		return false
	}
	return true
}

// pointers checks that items lie within the page and apart from each other.
func (c *pageCheck) pointers() {
	type span struct{ start, end, off int }
	var spans []span
	free := false
	for off, n := uint16(1), uint16(c.page.ItemCount()); off <= n; off++ {
		l := c.page.LinePointer(off)
		switch l.State() {
		case storage.LineUnused:
			free = true
		case storage.LineNormal:
			if l.Length() < HeaderSize {
				c.fail(off, "a tuple of %d bytes, its header alone has %d", l.Length(), HeaderSize)
			}
			if l.Offset() < c.page.Upper() || l.Offset()+l.Length() > storage.PageSize {
				c.fail(off, "the tuple lies outside the page's items: %d bytes at %d", l.Length(), l.Offset())
			}
			spans = append(spans, span{l.Offset(), l.Offset() + l.Length(), int(off)})
		case storage.LineRedirect:
			c.redirect(off)
		case storage.LineDead:
			if c.visible {
				c.fail(off, "a dead line pointer on an all-visible page")
			}
		}
	}
	if free && !c.page.HasFlags(storage.PageHasFreeLines) {
		c.fail(0, "unused line pointers but no flag to find them by")
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	for i := 1; i < len(spans); i++ {
		if spans[i].start < spans[i-1].end {
			c.fail(uint16(spans[i].off), "the tuple overlaps that of line pointer %d", spans[i-1].off)
		}
	}
}

func (c *pageCheck) redirect(off uint16) {
	to := c.page.RedirectTarget(off)
	if to == 0 || int(to) > c.page.ItemCount() {
		c.fail(off, "redirected to line pointer %d of %d", to, c.page.ItemCount())
		return
	}
	t := normalTuple(c.page, to)
	if t == nil {
		c.fail(off, "redirected to line pointer %d, which has no tuple", to)
	} else if len(t) >= HeaderSize && t.flags()&FlagHeapOnly == 0 {
		c.fail(off, "redirected to line pointer %d, which is not heap-only", to)
	}
}

// tuples checks each tuple by itself.
func (c *pageCheck) tuples() {
	for off, n := uint16(1), uint16(c.page.ItemCount()); off <= n; off++ {
		if t := normalTuple(c.page, off); len(t) >= HeaderSize {
			c.tuple(off, t)
		}
	}
}

func (c *pageCheck) tuple(off uint16, t tuple) {
	f := t.flags()
	self := TID{Block: c.block, Offset: off}
	switch {
	case t.xmin() == 0:
		c.fail(off, "xmin is 0")
	case f&FlagXmaxCommitted != 0 && f&(FlagXmaxInvalid|FlagXmaxLockOnly) != 0:
		c.fail(off, "flags %#x: xmax is committed and not", uint16(f))
	case f&FlagXmaxInvalid == 0 && t.xmax() == 0:
		c.fail(off, "flags %#x: xmax is 0 but not marked invalid", uint16(f))
	case f&FlagHotUpdated != 0 && f&FlagReplaced == 0:
		c.fail(off, "flags %#x: HOT-updated but not replaced", uint16(f))
	case f&FlagXmaxLockOnly != 0 && f&FlagReplaced != 0:
		c.fail(off, "flags %#x: only locked but replaced", uint16(f))
	case f&FlagHeapOnly != 0 && f&FlagUpdated == 0:
		c.fail(off, "flags %#x: heap-only but not from an update", uint16(f))
	case f&FlagReplaced == 0 && t.ctid() != self:
		c.fail(off, "not replaced, but ctid is %v", t.ctid())
	case f&FlagReplaced != 0 && t.ctid() == self:
		c.fail(off, "replaced by itself")
	case f&FlagHotUpdated != 0 && t.ctid().Block != c.block:
		c.fail(off, "HOT-updated to %v, another page", t.ctid())
	}
	if c.visible || c.h.d.Txn != nil {
		c.fate(off, t)
	}
}

// fate checks the tuple against what became of its transactions.
func (c *pageCheck) fate(off uint16, t tuple) {
	f := t.flags()
	frozen := f&flagsXminFrozen == flagsXminFrozen
	if c.frozen && (!frozen || f&FlagXmaxInvalid == 0) {
		c.fail(off, "flags %#x: not frozen on an all-frozen page", uint16(f))
	}
	m := c.h.d.Txn
	if m == nil {
		return
	}
	if next := m.NextXID(); t.xmin() >= next || t.xmax() >= next {
		c.fail(off, "xmin %d or xmax %d was not given out yet, next is %d", t.xmin(), t.xmax(), next)
		return
	}
	c.hints(off, t)
	if !c.visible {
		return
	}
	if st, _ := c.h.vacuumState(t, 0); st != StateLive {
		c.fail(off, "%v on an all-visible page", st)
	}
}

// hints checks that hint bits tell the truth. Invariant 3.
func (c *pageCheck) hints(off uint16, t tuple) {
	f := t.flags()
	if t.xmin() != 0 && f&flagsXminFrozen != 0 && f&flagsXminFrozen != flagsXminFrozen {
		st, _ := c.h.d.Txn.Status(t.xmin())
		if (st == txn.Committed) != (f&FlagXminCommitted != 0) {
			c.fail(off, "flags %#x, but xmin %d is %v", uint16(f), t.xmin(), st)
		}
	}
	if t.xmax() == 0 {
		return
	}
	st, _ := c.h.d.Txn.Status(t.xmax())
	if f&FlagXmaxCommitted != 0 && st != txn.Committed {
		c.fail(off, "flags %#x, but xmax %d is %v", uint16(f), t.xmax(), st)
	}
	if f&FlagXmaxInvalid != 0 && f&FlagXmaxLockOnly == 0 && st == txn.Committed {
		c.fail(off, "flags %#x, but xmax %d is %v", uint16(f), t.xmax(), st)
	}
}

// chains checks that every heap-only tuple somebody may still see has a root. Invariant 6.
func (c *pageCheck) chains() {
	var roots [MaxTuplesPerPage + 1]uint16
	rootOffsets(c.page, &roots)
	for off, n := uint16(1), uint16(c.page.ItemCount()); off <= n; off++ {
		t := normalTuple(c.page, off)
		if len(t) < HeaderSize || t.flags()&FlagHeapOnly == 0 || roots[off] != 0 {
			continue
		}
		if c.h.d.Txn == nil {
			continue
		}
		if st, _ := c.h.vacuumState(t, c.h.d.Txn.Horizon()); st == StateLive || st == StateRecentlyDead {
			c.fail(off, "a %v heap-only tuple that no line pointer leads to", st)
		}
	}
}
