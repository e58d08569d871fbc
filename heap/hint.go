package heap

import (
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// hint is a flag worth setting on the tuple at off, provided it still is one with these XIDs.
type hint struct {
	off        uint16
	flags      Flags
	lockOnly   Flags // FlagXmaxLockOnly as it was
	xmin, xmax txn.XID
}

// hintList is the hints of one page or chain, without allocation. What does not fit is left
// to whoever comes next.
type hintList struct {
	n    int
	list [16]hint
}

func (l *hintList) add(off uint16, t tuple, f Flags) {
	if l.n < len(l.list) {
		l.list[l.n] = makeHint(off, t, f)
		l.n++
	}
}

func makeHint(off uint16, t tuple, f Flags) hint {
	return hint{off: off, flags: f, lockOnly: t.flags() & FlagXmaxLockOnly, xmin: t.xmin(), xmax: t.xmax()}
}

// commitFlushed tells whether the commit record of a committed xid is on disk, so that a hint may
// say so. An unlogged relation is emptied by a crash: its hints cannot run ahead.
func (h *Heap) commitFlushed(xid txn.XID) bool {
	return !h.logged || h.d.Txn.CommitFlushed(xid)
}

// applyHints sets hints on buf's page. They speak of XIDs, which keep their fate, so they are
// as true of whatever tuple with these XIDs is there now. Invariant 3.
// Requires: buf is latched exclusively.
func (h *Heap) applyHints(buf *storage.Buffer, hints []hint) {
	page := buf.Page()
	changed := false
	for i := range hints {
		n := &hints[i]
		t := normalTuple(page, n.off)
		if t == nil {
			continue
		}
		f := t.flags()
		var add Flags
		if f&flagsXminFrozen == 0 && t.xmin() == n.xmin {
			add |= n.flags & flagsXminFrozen
		}
		if f&(FlagXmaxCommitted|FlagXmaxInvalid) == 0 && t.xmax() == n.xmax && f&FlagXmaxLockOnly == n.lockOnly {
			add |= n.flags & (FlagXmaxCommitted | FlagXmaxInvalid)
		}
		if add != 0 {
			t.setFlags(f | add)
			changed = true
		}
	}
	if changed {
		h.markHinted(buf)
	}
}

// markHinted marks buf dirty after hints, logging the page's image where they are its first
// change since a checkpoint. Without the image (a full log disk) the hints may be lost, no more.
func (h *Heap) markHinted(buf *storage.Buffer) {
	if !h.logged {
		buf.MarkDirty()
		return
	}
	_ = buf.MarkDirtyHint()
}
