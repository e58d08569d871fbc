package heap

import (
	"context"

	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// Update replaces the tuple at tid by a new version with the given row, waiting for whoever
// changes or holds it. The new version goes to the same page where there is room; it
// then is heap-only (hot) if opts.HotAllowed, and needs no index entries. Unless res is Ok
// nothing was changed.
func (h *Heap) Update(ctx context.Context, w *Writer, snap *txn.Snapshot, tid TID, data []byte, opts UpdateOptions) (newTID TID, hot bool, res Result, err error) {
	newTID = InvalidTID
	if err := checkSize(len(data)); err != nil {
		return newTID, false, res, err
	}
	c := claim{doing: "updating tuple", tid: tid, mode: Update, wait: opts.Wait, cur: snap.CurCID, payload: maxPageRecord + len(data) + len(opts.OldKey), pages: 4}
	if opts.Mode == NoKeyUpdate {
		c.mode = NoKeyUpdate
	}
	xid := h.xid(w)
	buf, err := h.read(tid.Block, nil)
	if err != nil {
		return newTID, false, res, err
	}
	defer buf.Unpin()
	l, res, err := h.latchForChange(ctx, w, buf, &c)
	if err != nil || res.Status != Ok {
		h.release(w, &c)
		return newTID, false, res, err
	}
	u := update{
		latched: l, tid: tid, mode: c.mode, xid: xid, oldKey: opts.OldKey,
		next: newVersion{xid: xid, cid: w.Tx.CurCID(), flags: FlagXmaxInvalid | FlagUpdated, row: data},
	}
	if opts.External {
		u.next.flags |= FlagExternal
	}
	if l.own != 0 {
		// As in PostgreSQL a lock held already goes on with the new version: RETURNING xmax = 0 tells an
		// INSERT from the update of its ON CONFLICT.
		u.next.flags ^= FlagXmaxInvalid | FlagXmaxLockOnly | l.t.flags()&FlagKeysUpdated
	}
	err = h.place(ctx, w, &u, opts.HotAllowed)
	if err == nil {
		h.replace(w, &u)
		u.unlatch()
		h.tally(w, updated, 1)
		if u.hot {
			h.tally(w, hotUpdated, 1)
		}
		newTID = u.newTID
	} else {
		buf.UnlockExclusive()
	}
	h.release(w, &c)
	return newTID, u.hot, res, err
}

// update is an update that may be carried out.
type update struct {
	latched
	tid    TID
	mode   LockMode
	xid    txn.XID
	oldKey []byte
	next   newVersion

	newBuf *storage.Buffer // latched; l.buf for the same page
	newTID TID
	hot    bool
	vm     *storage.VMBuffer // of newBuf, where its bits must go
	vmOld  *storage.VMBuffer // of buf, where it is another page
}

func (u *update) unlatch() {
	if u.newBuf != u.buf {
		u.newBuf.ReleaseExclusive()
	}
	u.buf.UnlockExclusive()
}

// place finds a page for the new version. On an error the old page alone is still latched.
func (h *Heap) place(ctx context.Context, w *Writer, u *update, hotAllowed bool) error {
	size := HeaderSize + len(u.next.row)
	page := u.buf.Page()
	if freeSpace(page) < size && h.worthPruning(page) {
		h.prune(w.Builder, u.buf)
		u.t = normalTuple(page, u.tid.Offset)
		assert.That(u.t != nil, "pruning took the tuple being updated")
	}
	u.newBuf = u.buf
	var err error
	if freeSpace(page) >= size {
		u.hot = hotAllowed
	} else if u.newBuf, err = h.bufferFor(ctx, w, target{
		size: size, want: h.wantSpace(size), latched: u.tid.Block,
	}); err != nil {
		return err
	}
	if u.vm, err = h.pinForClear(u.newBuf, &w.vm); err == nil && u.newBuf != u.buf {
		u.vmOld, err = h.pinForClear(u.buf, &w.vmOld)
	}
	if err != nil {
		w.vm.Release()
		if u.newBuf != u.buf {
			u.newBuf.ReleaseExclusive()
		}
	}
	return err
}

// replace writes the new version and points the old one at it.
func (h *Heap) replace(w *Writer, u *update) {
	size := HeaderSize + len(u.next.row)
	if u.hot {
		u.next.flags |= FlagHeapOnly
	}
	mode := u.mode
	if u.own != 0 { // never less than what is held already
		mode = max(mode, heldMode(u.t.flags()))
	}
	cid, combo := cmaxFor(u.t, w.Tx, u.next.cid)
	h.keepOuterLock(w, u.tid, &u.latched, u.xid)
	wal.Critical(func() {
		off, room := u.newBuf.Page().AllocItem(0, size, storage.AddAnywhere)
		assert.That(off != 0, "no room for a tuple on a page chosen for it")
		u.newTID = TID{Block: u.newBuf.Block(), Offset: off}
		u.next.put(room, u.newTID)

		f := u.t.flags()&^(flagsXmax|FlagComboCID) | u.hint | FlagReplaced | combo
		if mode == Update {
			f |= FlagKeysUpdated
		}
		if u.hot {
			f |= FlagHotUpdated
		}
		u.t.setXmax(u.xid)
		u.t.setCID(cid)
		u.t.setCtid(u.newTID)
		u.t.setFlags(f)
		setPrunable(u.buf.Page(), u.xid)
		if u.newBuf != u.buf {
			u.buf.Page().SetFlags(storage.PageFull)
		}
		if mode == NoKeyUpdate {
			h.d.Locks.CopyRowLocks(h.rowTag(u.tid, u.t.xmin()), h.rowTag(u.newTID, u.xid))
		}
		u.buf.MarkDirty()
		if u.newBuf != u.buf {
			u.newBuf.MarkDirty()
		}
		clearBothVisible(u.newBuf, u.buf, u.vm, u.vmOld)
		if h.logged {
			h.logUpdate(w.Builder, u)
		}
		releaseBothVM(u.vm, u.vmOld)
	})
}

// cmaxFor is the cid field of t once it is deleted at command cur, with its combo flag.
// Follows HeapTupleHeaderAdjustCmax.
func cmaxFor(t tuple, tx *txn.Tx, cur txn.CID) (txn.CID, Flags) {
	if t.flags()&FlagXminCommitted == 0 && isCurrent(tx, t.xmin()) {
		return tx.Combo(cmin(t, tx), cur), FlagComboCID
	}
	return cur, 0
}

// setPrunable notes that xid, once gone by, leaves something to prune on page.
func setPrunable(page storage.Page, xid txn.XID) {
	if p := page.PruneXID(); p == 0 || uint64(xid) < p {
		page.SetPruneXID(uint64(xid))
	}
}

func (h *Heap) logUpdate(b *wal.Builder, u *update) {
	var flags wal.BufferFlags
	same := u.newBuf == u.buf
	if !same && u.newTID.Offset == 1 && u.newBuf.Page().ItemCount() == 1 {
		flags = wal.WillInit
	}
	h.begin(b, kindUpdate, u.xid, u.newBuf, flags)
	var rec uint8
	var prefix, suffix int
	blocks := 1
	if same {
		rec |= recSamePage
		prefix, suffix = sharedEnds(u.t.data(), u.next.row)
	} else {
		b.RegisterBuffer(blocks, u.buf, wal.Standard)
		blocks++
	}
	b.BufData(0, u.next.row[prefix:len(u.next.row)-suffix]...)
	if u.vm != nil {
		rec |= recVM
		b.RegisterBuffer(blocks, u.vm.Buffer(), 0)
		blocks++
	}
	if u.vmOld != nil {
		rec |= recVMOld
		if u.vm == nil || u.vm.Buffer() != u.vmOld.Buffer() {
			b.RegisterBuffer(blocks, u.vmOld.Buffer(), 0)
		}
	}
	b.Data(rec)
	put16(b, -1, u.tid.Offset, uint16(u.t.flags()), u.newTID.Offset, uint16(u.next.flags), uint16(prefix), uint16(suffix))
	b.Data(u.oldKey...)
	var second *storage.Buffer
	if !same {
		second = u.buf
	}
	h.stamp(h.d.Log.Insert(b), u.newBuf, second, u.vm, u.vmOld)
}

// sharedEnds counts the bytes at the start and the end that two rows have in common, which an
// update need not log. Short ones are not worth it.
func sharedEnds(old, row []byte) (prefix, suffix int) {
	const worth = 3
	n := min(len(old), len(row))
	for prefix < n && old[prefix] == row[prefix] {
		prefix++
	}
	n -= prefix
	for suffix < n && old[len(old)-1-suffix] == row[len(row)-1-suffix] {
		suffix++
	}
	if prefix < worth {
		prefix = 0
	}
	if suffix < worth {
		suffix = 0
	}
	return prefix, suffix
}
