package heap

import (
	"context"
	"encoding/binary"

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

// Rows are encoded rows, one behind the other.
type Rows struct {
	Bytes []byte
	Ends  []int32 // of each row in Bytes
}

// Reset makes r empty and keeps its memory.
func (r *Rows) Reset() { r.Bytes, r.Ends = r.Bytes[:0], r.Ends[:0] }

// Len is how many rows there are.
func (r *Rows) Len() int { return len(r.Ends) }

// End closes the row whose bytes were appended to Bytes.
func (r *Rows) End() { r.Ends = append(r.Ends, int32(len(r.Bytes))) }

// start is where row i begins in Bytes.
func (r *Rows) start(i int) int {
	if i == 0 {
		return 0
	}
	return int(r.Ends[i-1])
}

// size is the length of row i.
func (r *Rows) size(i int) int { return int(r.Ends[i]) - r.start(i) }

// multiState is MultiInsert's scratch: which line pointers a page's rows got, how long their tuples are, and what
// their record says of them.
type multiState struct {
	offs   [MaxTuplesPerPage]uint16
	sizes  [MaxTuplesPerPage]uint16
	record []byte
}

// MultiInsert adds tuples, with one log record a page, appends their TIDs to tids unless that is nil, and tells
// how many it added. When it fails the transaction must abort; n is the row at fault, or the first of its page.
func (h *Heap) MultiInsert(ctx context.Context, w *Writer, rows *Rows, tids *[]TID, opts InsertOptions) (n int, err error) {
	for i := range rows.Ends {
		if err := checkSize(rows.size(i)); err != nil {
			return i, err
		}
	}
	v := newVersion{xid: h.xid(w), cid: w.Tx.CurCID(), flags: insertFlags(&opts)}
	for n < rows.Len() {
		if err := h.reserve(maxPageRecord, 1); err != nil {
			return n, err
		}
		left := len(rows.Bytes) - rows.start(n) + (rows.Len()-n)*(HeaderSize+storage.LinePointerSize)
		size := HeaderSize + rows.size(n)
		buf, err := h.bufferFor(ctx, w, target{
			size: size, want: h.wantSpace(size), skipFSM: opts.SkipFSM, ring: opts.Ring,
			pages: 1 + left/(storage.PageSize-storage.PageHeaderSize), latched: storage.InvalidBlock,
		})
		if err != nil {
			return n, err
		}
		added, err := h.fillPage(w, buf, rows, n, v, opts.Frozen)
		block := buf.Block()
		buf.ReleaseExclusive()
		if err != nil {
			return n, err
		}
		if tids != nil {
			for _, off := range w.multi.offs[:added] {
				*tids = append(*tids, TID{Block: block, Offset: off})
			}
		}
		n += added
		h.tally(w, inserted, added)
	}
	return n, nil
}

// fitting counts how many of rows from first on fit into a page with the given free space and number of tuples, at
// least one, and leaves the sizes of their tuples in w.multi.
func (h *Heap) fitting(w *Writer, rows *Rows, first, free, count int) (n, total int) {
	for n < rows.Len()-first && n < MaxTuplesPerPage {
		size := HeaderSize + rows.size(first+n)
		if n > 0 && (free < h.wantSpace(size) || count+n >= MaxTuplesPerPage) {
			break
		}
		free -= size + storage.LinePointerSize
		total += size
		w.multi.sizes[n] = uint16(size)
		n++
	}
	return n, total
}

// fillPage adds as many of rows from first on as fit to buf, at least one, and tells how many; their line
// pointers are in w.multi.
func (h *Heap) fillPage(w *Writer, buf *storage.Buffer, rows *Rows, first int, v newVersion, frozen bool) (n int, err error) {
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
			kind := kindInsertRun
			if page.HasFlags(storage.PageHasFreeLines) {
				kind = kindMultiInsert
			}
			h.begin(b, kind, v.xid, buf, flags)
		}
		if page.HasFlags(storage.PageHasFreeLines) {
			n = h.fillGaps(w, buf, rows, first, v)
		} else {
			n = h.fillRun(w, buf, rows, first, v)
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

// fillGaps is fillPage of a page that may have unused line pointers, which are taken first.
func (h *Heap) fillGaps(w *Writer, buf *storage.Buffer, rows *Rows, first int, v newVersion) (n int) {
	page := buf.Page()
	for n < rows.Len()-first && n < MaxTuplesPerPage {
		v.row = rows.Bytes[rows.start(first+n):rows.Ends[first+n]]
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
			put16(w.Builder, 0, off, uint16(v.flags), uint16(len(v.row)))
			w.Builder.BufData(0, v.row...)
		}
	}
	return n
}

// fillRun is fillPage of a page whose line pointers are all in use: the tuples get consecutive new ones.
func (h *Heap) fillRun(w *Writer, buf *storage.Buffer, rows *Rows, first int, v newVersion) int {
	page := buf.Page()
	n, total := h.fitting(w, rows, first, page.FreeSpace(), page.ItemCount())
	sizes := w.multi.sizes[:n]
	off, room := page.AllocRun(sizes, total)
	assert.That(off != 0, "no room for a tuple on a page chosen for it")
	data := rows.Bytes[rows.start(first):rows.Ends[first+n-1]]
	v.putRun(room, sizes, data, TID{Block: buf.Block(), Offset: off})
	for i := range sizes {
		w.multi.offs[i] = off + uint16(i)
	}
	if h.logged {
		w.multi.record = appendRun(w.multi.record[:0], off, v.flags, sizes)
		w.Builder.BufData(0, w.multi.record...)
		w.Builder.BufData(0, data...)
	}
	return n
}

// putRun writes tuples with the given sizes into room, the first at its end; their rows lie in data, and self is where
// the first one is.
func (v *newVersion) putRun(room []byte, sizes []uint16, data []byte, self TID) {
	var header [HeaderSize]byte
	v.row = nil
	v.put(header[:], self)
	h0 := binary.LittleEndian.Uint64(header[0:])
	h1 := binary.LittleEndian.Uint64(header[8:])
	h2 := binary.LittleEndian.Uint64(header[16:])
	const nextOffset = 1 << (8 * (offCtid + 4 - 16)) // of ctid, in h2
	at := len(room)
	for _, size := range sizes {
		at -= int(size)
		t := room[at : at+int(size)]
		binary.LittleEndian.PutUint64(t[0:], h0)
		binary.LittleEndian.PutUint64(t[8:], h1)
		binary.LittleEndian.PutUint64(t[16:], h2)
		data = data[copy(t[HeaderSize:], data):]
		h2 += nextOffset
	}
}
