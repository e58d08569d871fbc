package heap

import (
	"context"

	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// newVersion is a tuple about to be written.
type newVersion struct {
	xid   txn.XID
	cid   txn.CID
	flags Flags
	row   []byte
}

// put writes v at off of block into room.
func (v *newVersion) put(room tuple, self TID) {
	room.setXmin(v.xid)
	room.setXmax(0)
	if v.flags&FlagXmaxInvalid == 0 {
		room.setXmax(v.xid) // of a row whose old version its updater had locked
	}
	room.setCID(v.cid)
	room.setCtid(self)
	room.setFlags(v.flags)
	copy(room[HeaderSize:], v.row)
}

// insertFlags are the flags a row inserted under opts starts with.
func insertFlags(opts *InsertOptions) Flags {
	f := FlagXmaxInvalid
	if opts.Frozen {
		f |= flagsXminFrozen
	}
	if opts.External {
		f |= FlagExternal
	}
	return f
}

// Insert adds a tuple and returns its TID.
func (h *Heap) Insert(ctx context.Context, w *Writer, data []byte, opts InsertOptions) (TID, error) {
	if err := checkSize(len(data)); err != nil {
		return InvalidTID, err
	}
	if err := h.reserve(len(data), 2); err != nil {
		return InvalidTID, err
	}
	v := newVersion{xid: h.xid(w), cid: w.Tx.CurCID(), flags: insertFlags(&opts), row: data}
	size := HeaderSize + len(data)
	buf, err := h.bufferFor(ctx, w, target{
		size: size, want: h.wantSpace(size), skipFSM: opts.SkipFSM, ring: opts.Ring,
		latched: storage.InvalidBlock,
	})
	if err != nil {
		return InvalidTID, err
	}
	vm, err := h.pinForClear(buf, &w.vm)
	if err != nil {
		buf.ReleaseExclusive()
		return InvalidTID, err
	}
	tid := TID{Block: buf.Block()}
	wal.Critical(func() {
		off, room := buf.Page().AllocItem(0, size, storage.AddAnywhere)
		assert.That(off != 0, "no room for a tuple on a page chosen for it")
		tid.Offset = off
		v.put(room, tid)
		buf.MarkDirty()
		clearAllVisible(buf, vm)
		if h.logged {
			h.logInsert(w.Builder, buf, vm, tid.Offset, &v)
		}
		releaseVM(vm)
	})
	buf.ReleaseExclusive()
	h.tally(w, inserted, 1)
	return tid, nil
}

// logInsert logs v at off of buf and stamps the pages.
func (h *Heap) logInsert(b *wal.Builder, buf *storage.Buffer, vm *storage.VMBuffer, off uint16, v *newVersion) {
	var flags wal.BufferFlags
	if off == 1 && buf.Page().ItemCount() == 1 {
		flags = wal.WillInit
	}
	h.begin(b, kindInsert, v.xid, buf, flags)
	put16(b, 0, off, uint16(v.flags))
	b.BufData(0, v.row...)
	var rec uint8
	if vm != nil {
		rec |= recVM
		b.RegisterBuffer(1, vm.Buffer(), 0)
	}
	b.Data(rec)
	h.stamp(h.d.Log.Insert(b), buf, nil, vm, nil)
}

// stamp sets the LSN of every page a record changed.
func (h *Heap) stamp(lsn storage.LSN, buf, buf2 *storage.Buffer, vm, vm2 *storage.VMBuffer) {
	buf.Page().SetLSN(lsn)
	if buf2 != nil {
		buf2.Page().SetLSN(lsn)
	}
	if vm != nil {
		vm.Buffer().Page().SetLSN(lsn)
	}
	if vm2 != nil {
		vm2.Buffer().Page().SetLSN(lsn)
	}
}

// multiState is MultiInsert's scratch: which line pointers a page's rows got.
type multiState struct {
	offs [MaxTuplesPerPage]uint16
}

// MultiInsert adds tuples, with one log record a page, and appends their TIDs to tids. When it
// fails some rows may have been inserted already; the transaction must abort.
func (h *Heap) MultiInsert(ctx context.Context, w *Writer, rows [][]byte, tids []TID, opts InsertOptions) ([]TID, error) {
	total := 0
	for _, row := range rows {
		if err := checkSize(len(row)); err != nil {
			return tids, err
		}
		total += len(row) + HeaderSize + storage.LinePointerSize
	}
	v := newVersion{xid: h.xid(w), cid: w.Tx.CurCID(), flags: insertFlags(&opts)}
	for len(rows) > 0 {
		if err := h.reserve(maxPageRecord, 1); err != nil {
			return tids, err
		}
		size := HeaderSize + len(rows[0])
		buf, err := h.bufferFor(ctx, w, target{
			size: size, want: h.wantSpace(size), skipFSM: opts.SkipFSM, ring: opts.Ring,
			pages: 1 + total/(storage.PageSize-storage.PageHeaderSize), latched: storage.InvalidBlock,
		})
		if err != nil {
			return tids, err
		}
		n, err := h.fillPage(w, buf, rows, v, opts.Frozen)
		block := buf.Block()
		buf.ReleaseExclusive()
		if err != nil {
			return tids, err
		}
		for i := range n {
			tids = append(tids, TID{Block: block, Offset: w.multi.offs[i]})
			total -= len(rows[i]) + HeaderSize + storage.LinePointerSize
		}
		rows = rows[n:]
		h.tally(w, inserted, n)
	}
	return tids, nil
}

// fillPage adds as many of rows as fit to buf, at least one, and tells how many; their line
// pointers are in w.multi.
func (h *Heap) fillPage(w *Writer, buf *storage.Buffer, rows [][]byte, v newVersion, frozen bool) (n int, err error) {
	page := buf.Page()
	fresh := page.ItemCount() == 0
	var vm *storage.VMBuffer
	switch {
	case frozen && fresh:
		if err := h.pinVM(&w.vm, buf.Block()); err != nil {
			return 0, err
		}
		vm = &w.vm
	case frozen: // adding frozen rows leaves an all-visible page one
	default:
		if vm, err = h.pinForClear(buf, &w.vm); err != nil {
			return 0, err
		}
	}
	wal.Critical(func() {
		b := w.Builder
		if h.logged {
			var flags wal.BufferFlags
			if fresh {
				flags = wal.WillInit
			}
			h.begin(b, kindMultiInsert, v.xid, buf, flags)
		}
		for n < len(rows) && n < MaxTuplesPerPage {
			v.row = rows[n]
			size := HeaderSize + len(v.row)
			if n > 0 && freeSpace(page) < h.wantSpace(size) {
				break
			}
			off, room := page.AllocItem(0, size, storage.AddAnywhere)
			assert.That(off != 0, "no room for a tuple on a page chosen for it")
			v.put(room, TID{Block: buf.Block(), Offset: off})
			w.multi.offs[n] = off
			n++
			if h.logged {
				put16(b, 0, off, uint16(v.flags), uint16(len(v.row)))
				b.BufData(0, v.row...)
			}
		}
		buf.MarkDirty()
		var rec uint8
		if frozen && fresh {
			rec |= recAllVisible
			setAllVisible(buf, vm)
		} else {
			clearAllVisible(buf, vm)
		}
		if h.logged {
			if vm != nil {
				rec |= recVM
				b.RegisterBuffer(1, vm.Buffer(), 0)
			}
			b.Data(rec)
			h.stamp(h.d.Log.Insert(b), buf, nil, vm, nil)
		}
		releaseVM(vm)
	})
	return n, nil
}
