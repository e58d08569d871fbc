package heap

import (
	"context"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// FetchBuf receives a fetched tuple. It is reused from fetch to fetch.
type FetchBuf struct {
	Header Header
	// TID is the version found, which a HOT chain may have moved from the TID asked for.
	TID TID
	// Data is the row. It is valid until the buffer's next use.
	Data []byte
	// AllDead, where nothing was found: every version at this TID is dead to everyone, so an
	// index entry for it may be marked killed.
	AllDead bool

	buf []byte
}

// take copies t out of its page. It may be called on nil.
func (b *FetchBuf) take(t tuple, tid TID) {
	if b == nil {
		return
	}
	b.buf = append(b.buf[:0], t...)
	c := tuple(b.buf)
	b.Header, b.TID, b.Data = c.header(), tid, c.data()
}

// Fetch finds the version snap sees at an index's TID, following its HOT chain, and copies it to
// dst. Follows heap_hot_search_buffer.
func (h *Heap) Fetch(snap *txn.Snapshot, tid TID, dst *FetchBuf) (data []byte, ok bool, err error) {
	dst.Data, dst.AllDead = nil, false
	buf, err := h.read(tid.Block, nil)
	if err != nil {
		return nil, false, err
	}
	buf.LockShared(storage.ClassHeap)
	h.pruneIfFull(buf)
	page := buf.Page()
	w := walk(page, tid)
	if page.HasFlags(storage.PageAllVisible) {
		if t := w.next(); t != nil {
			dst.take(t, w.tid)
			ok = true
		}
		buf.ReleaseShared()
		return dst.Data, ok, nil
	}
	var hints hintList
	for t := w.next(); t != nil; t = w.next() {
		sees, hint := h.visible(t, snap)
		if hint != 0 {
			hints.add(w.tid.Offset, t, hint)
		}
		if sees {
			dst.take(t, w.tid)
			ok = true
			break
		}
	}
	if !ok {
		dst.AllDead = h.chainDead(page, tid)
	}
	if hints.n > 0 && buf.TryUpgrade(storage.ClassHeap) {
		h.applyHints(buf, hints.list[:hints.n])
		buf.ReleaseExclusive()
	} else {
		buf.ReleaseShared()
	}
	return dst.Data, ok, nil
}

// chainWalk goes along the members of a HOT chain. Requires: the page is latched.
type chainWalk struct {
	page  storage.Page
	tid   TID // of the tuple next returned last
	off   uint16
	prior txn.XID // xmax of the member before
	first bool
}

// walk starts at the line pointer an index entry names.
func walk(page storage.Page, tid TID) chainWalk {
	return chainWalk{page: page, tid: tid, off: tid.Offset, first: true}
}

// next returns the chain's next member, nil at its end. Invariant 6.
func (w *chainWalk) next() tuple {
	if w.off == 0 || w.page.IsNew() || int(w.off) > w.page.ItemCount() {
		return nil
	}
	off := w.off
	if w.first && w.page.State(off) == storage.LineRedirect {
		off = w.page.RedirectTarget(off)
		if int(off) > w.page.ItemCount() {
			return nil
		}
	} else if w.first {
		// A heap-only tuple is no root: the entry that led here is stale.
		if t := normalTuple(w.page, off); t == nil || t.flags()&FlagHeapOnly != 0 {
			return nil
		}
	}
	t := normalTuple(w.page, off)
	if t == nil || w.prior != 0 && t.xmin() != w.prior {
		return nil
	}
	w.first, w.tid.Offset = false, off
	w.off = 0
	if f := t.flags(); f&FlagHotUpdated != 0 && f&FlagXmaxInvalid == 0 {
		w.off, w.prior = t.ctid().Offset, t.xmax()
	}
	return t
}

// chainDead tells whether every member of the chain at tid is dead to everyone.
// Requires: the page is latched.
func (h *Heap) chainDead(page storage.Page, tid TID) bool {
	horizon := h.d.Txn.Horizon()
	w := walk(page, tid)
	for t := w.next(); t != nil; t = w.next() {
		if st, _ := h.vacuumState(t, horizon); st != StateDead {
			return false
		}
	}
	return true
}

// FetchVersion reads the tuple at exactly tid, visible or not.
func (h *Heap) FetchVersion(tid TID, dst *FetchBuf) (data []byte, ok bool, err error) {
	dst.Data, dst.AllDead = nil, false
	buf, err := h.readExisting(tid.Block)
	if err != nil || buf == nil {
		return nil, false, err
	}
	buf.LockShared(storage.ClassHeap)
	if t := normalTuple(buf.Page(), tid.Offset); t != nil {
		dst.take(t, tid)
		ok = true
	}
	buf.ReleaseShared()
	return dst.Data, ok, nil
}

// FetchVisible reads the tuple at exactly tid if snap sees it, for TID scans. A block behind the
// relation's end has no tuples.
func (h *Heap) FetchVisible(snap *txn.Snapshot, tid TID, dst *FetchBuf) (data []byte, ok bool, err error) {
	dst.Data, dst.AllDead = nil, false
	buf, err := h.readExisting(tid.Block)
	if err != nil || buf == nil {
		return nil, false, err
	}
	buf.LockShared(storage.ClassHeap)
	if t := normalTuple(buf.Page(), tid.Offset); t != nil {
		if ok, _ = h.visible(t, snap); ok {
			dst.take(t, tid)
		}
	}
	buf.ReleaseShared()
	return dst.Data, ok, nil
}

// readExisting reads block, or returns nil where the relation is not that long.
func (h *Heap) readExisting(block storage.BlockNumber) (*storage.Buffer, error) {
	n, err := h.NBlocks()
	if err != nil || block >= n {
		return nil, err
	}
	return h.read(block, nil)
}

// FetchLatest follows updates from tid to the newest committed (or own) version, waiting for an
// update in progress to end; ok is false where the row was deleted.
func (h *Heap) FetchLatest(ctx context.Context, w *Writer, tid TID, dst *FetchBuf) (data []byte, ok bool, err error) {
	var prior txn.XID
	for {
		data, ok, err = h.FetchVersion(tid, dst)
		if err != nil || !ok || prior != 0 && dst.Header.Xmin != prior {
			return nil, false, err
		}
		t := tuple(dst.buf)
		if st, _ := h.d.Txn.Status(t.xmin()); t.flags()&FlagXminCommitted == 0 && st != txn.Committed && !isCurrent(w.Tx, t.xmin()) {
			return nil, false, nil
		}
		f := t.flags()
		if f&(FlagXmaxInvalid|FlagXmaxLockOnly) != 0 {
			return data, true, nil
		}
		xmax := t.xmax()
		if !isCurrent(w.Tx, xmax) {
			switch st, _ := h.d.Txn.Status(xmax); st {
			case txn.Aborted:
				return data, true, nil
			case txn.InProgress:
				if err := h.d.Txn.WaitFor(ctx, w.Tx, xmax, txn.WaitOptions{}); err != nil {
					return nil, false, err
				}
				continue
			}
		}
		if f&FlagReplaced == 0 {
			return nil, false, nil
		}
		tid, prior = t.ctid(), xmax
	}
}
