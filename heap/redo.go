package heap

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// Redoer replays heap records. It is used by one goroutine.
type Redoer struct {
	d       Deps
	scratch []byte
	offs    []uint16
}

// NewRedoer returns the replayer for wal.RMHeap.
func NewRedoer(d Deps) *Redoer { return &Redoer{d: d} }

// Redo implements wal.Redoer. Invariant 9.
func (r *Redoer) Redo(rec *wal.Record, c *wal.RedoContext) error {
	data := reader{b: rec.Data}
	switch rec.Kind {
	case kindInsert:
		return r.page(rec, c, data.u8(), func(page storage.Page, block storage.BlockNumber, in *reader) bool {
			return redoInsert(page, block, txn.XID(rec.XID), in, in.u16(), Flags(in.u16()), -1)
		})
	case kindMultiInsert:
		return r.page(rec, c, data.u8(), func(page storage.Page, block storage.BlockNumber, in *reader) bool {
			for len(in.b) > 0 && !in.bad {
				off, f, n := in.u16(), Flags(in.u16()), int(in.u16())
				if !redoInsert(page, block, txn.XID(rec.XID), in, off, f, n) {
					return false
				}
			}
			return true
		})
	case kindInsertRun:
		return r.page(rec, c, data.u8(), func(page storage.Page, block storage.BlockNumber, in *reader) bool {
			return redoRun(page, block, txn.XID(rec.XID), in)
		})
	case kindUpdate:
		return r.update(rec, c, &data)
	case kindDelete:
		flags, off, f := data.u8(), data.u16(), Flags(data.u16())
		return r.page(rec, c, flags, func(page storage.Page, block storage.BlockNumber, _ *reader) bool {
			setPrunable(page, txn.XID(rec.XID))
			return redoXmax(page, off, txn.XID(rec.XID), f, TID{Block: block, Offset: off})
		})
	case kindLock:
		return r.lock(rec, c, data.u8())
	case kindPrune:
		return r.page(rec, c, 0, func(page storage.Page, _ storage.BlockNumber, in *reader) bool {
			return r.prune(page, in)
		})
	case kindVacuum:
		return r.page(rec, c, 0, func(page storage.Page, _ storage.BlockNumber, in *reader) bool {
			applyReclaim(page, r.list(in, len(in.b)/2))
			return !in.bad
		})
	case kindVisible:
		return r.page(rec, c, recVM|recAllVisible, func(page storage.Page, block storage.BlockNumber, _ *reader) bool {
			freeze(page, block)
			return true
		})
	case kindTruncate:
		return r.truncate(c, &data)
	}
	return pgerr.New(pgerr.DataCorrupted, "unknown heap log record kind %d at %v", rec.Kind, rec.LSN)
}

func malformed(rec *wal.Record) error {
	return pgerr.New(pgerr.DataCorrupted, "malformed heap log record of kind %d at %v", rec.Kind, rec.LSN)
}

// page redoes a record about one heap page: change makes the change on the page from the block's
// data; flags are the record's. The map page, if any, is block 1.
func (r *Redoer) page(rec *wal.Record, c *wal.RedoContext, flags uint8,
	change func(page storage.Page, block storage.BlockNumber, in *reader) bool,
) error {
	buf, action, err := c.Block(rec, 0)
	if err != nil {
		return err
	}
	block := rec.Blocks[0].Tag.Block
	ok := true
	if action == wal.ActionNeeds {
		page := buf.Page()
		if rec.Blocks[0].WillInit {
			page.Init(0)
		}
		in := reader{b: rec.Blocks[0].Data}
		ok = change(page, block, &in) && !in.bad
		switch {
		case flags&recAllVisible != 0:
			page.SetFlags(storage.PageAllVisible)
		case flags&recVM != 0:
			page.ClearFlags(storage.PageAllVisible)
		}
	}
	c.Finish(buf, rec, action == wal.ActionNeeds)
	if !ok {
		return malformed(rec)
	}
	if flags&recVM == 0 {
		return nil
	}
	return redoVM(rec, c, 1, func(page storage.Page) {
		if flags&recAllVisible != 0 {
			storage.SetVMBits(page, block, vmBoth)
		} else {
			storage.ClearVMBits(page, block, vmBoth)
		}
	})
}

// lock redoes a row lock, which leaves the page all-visible but not all-frozen.
func (r *Redoer) lock(rec *wal.Record, c *wal.RedoContext, flags uint8) error {
	err := r.page(rec, c, 0, func(page storage.Page, block storage.BlockNumber, in *reader) bool {
		off, f := in.u16(), Flags(in.u16())
		return redoXmax(page, off, txn.XID(rec.XID), f, TID{Block: block, Offset: off})
	})
	if err != nil || flags&recVM == 0 {
		return err
	}
	return redoVM(rec, c, 1, func(page storage.Page) {
		storage.ClearVMBits(page, rec.Blocks[0].Tag.Block, storage.VMAllFrozen)
	})
}

// redoVM redoes the change of a map page, block i of the record.
func redoVM(rec *wal.Record, c *wal.RedoContext, i int, change func(page storage.Page)) error {
	buf, action, err := c.Block(rec, i)
	if err != nil {
		return err
	}
	if action == wal.ActionNeeds {
		if buf.Page().IsNew() {
			buf.Page().Init(0)
		}
		change(buf.Page())
	}
	c.Finish(buf, rec, action == wal.ActionNeeds)
	return nil
}

// redoInsert adds the tuple whose row is the next n bytes of in, or the rest where n is -1.
func redoInsert(page storage.Page, block storage.BlockNumber, xid txn.XID, in *reader, off uint16, f Flags, n int) bool {
	if n < 0 {
		n = len(in.b)
	}
	v := newVersion{xid: xid, flags: f, row: in.take(n)}
	return !in.bad && redoPut(page, TID{Block: block, Offset: off}, &v)
}

// redoRun adds the tuples of a kindInsertRun.
func redoRun(page storage.Page, block storage.BlockNumber, xid txn.XID, in *reader) bool {
	off, f, n, length := in.u16(), Flags(in.u16()), int(in.u16()), int(in.u16())
	var lengths reader
	if length == mixedLengths {
		lengths.b = in.take(2 * n)
	}
	for i := range n {
		l := length
		if length == mixedLengths {
			l = int(lengths.u16())
		}
		if in.bad || !redoInsert(page, block, xid, in, off+uint16(i), f, l) {
			return false
		}
	}
	return len(in.b) == 0
}

func redoPut(page storage.Page, self TID, v *newVersion) bool {
	off, room := page.AllocItem(self.Offset, HeaderSize+len(v.row), storage.AddOverwrite)
	if off == 0 {
		return false
	}
	v.put(room, self)
	return true
}

// redoXmax sets a tuple's xmax and what goes with it.
func redoXmax(page storage.Page, off uint16, xid txn.XID, f Flags, next TID) bool {
	t := normalTuple(page, off)
	if t == nil {
		return false
	}
	t.setXmax(xid)
	t.setCID(0)
	t.setCtid(next)
	t.setFlags(f &^ FlagComboCID)
	return true
}

// updateRecord is a decoded kindUpdate.
type updateRecord struct {
	flags            uint8
	oldOff, newOff   uint16
	oldFlags, flagsN Flags
	prefix, suffix   int
}

func (r *Redoer) update(rec *wal.Record, c *wal.RedoContext, data *reader) error {
	u := updateRecord{flags: data.u8(), oldOff: data.u16(), oldFlags: Flags(data.u16()), newOff: data.u16(), flagsN: Flags(data.u16())}
	u.prefix, u.suffix = int(data.u16()), int(data.u16())
	if data.bad {
		return malformed(rec)
	}
	newTag := rec.Blocks[0].Tag
	next := TID{Block: newTag.Block, Offset: u.newOff}
	old, blocks := newTag.Block, 1
	if u.flags&recSamePage == 0 {
		old, blocks = rec.Blocks[1].Tag.Block, 2
		if err := r.updateOld(rec, c, 1, &u, next); err != nil {
			return err
		}
	}
	if err := r.updateNew(rec, c, &u, next); err != nil {
		return err
	}
	return redoUpdateVM(rec, c, blocks, &u, newTag.Block, old)
}

func (r *Redoer) updateOld(rec *wal.Record, c *wal.RedoContext, i int, u *updateRecord, next TID) error {
	buf, action, err := c.Block(rec, i)
	if err != nil {
		return err
	}
	ok := true
	if action == wal.ActionNeeds {
		page := buf.Page()
		ok = redoXmax(page, u.oldOff, txn.XID(rec.XID), u.oldFlags, next)
		setPrunable(page, txn.XID(rec.XID))
		if u.flags&recVMOld != 0 {
			page.ClearFlags(storage.PageAllVisible)
		}
	}
	c.Finish(buf, rec, action == wal.ActionNeeds)
	if !ok {
		return malformed(rec)
	}
	return nil
}

func (r *Redoer) updateNew(rec *wal.Record, c *wal.RedoContext, u *updateRecord, next TID) error {
	buf, action, err := c.Block(rec, 0)
	if err != nil {
		return err
	}
	ok := true
	if action == wal.ActionNeeds {
		page := buf.Page()
		if rec.Blocks[0].WillInit {
			page.Init(0)
		}
		ok = r.putNew(page, rec, u, next)
		if u.flags&recVM != 0 {
			page.ClearFlags(storage.PageAllVisible)
		}
	}
	c.Finish(buf, rec, action == wal.ActionNeeds)
	if !ok {
		return malformed(rec)
	}
	return nil
}

// putNew makes the new version, and marks the old one where it is on the same page.
func (r *Redoer) putNew(page storage.Page, rec *wal.Record, u *updateRecord, next TID) bool {
	row := r.scratch[:0]
	mid := rec.Blocks[0].Data
	if u.flags&recSamePage != 0 {
		t := normalTuple(page, u.oldOff)
		if t == nil || len(t.data()) < u.prefix+u.suffix {
			return false
		}
		row = append(row, t.data()[:u.prefix]...)
		row = append(row, mid...)
		row = append(row, t.data()[len(t.data())-u.suffix:]...)
	} else {
		row = append(row, mid...)
	}
	r.scratch = row
	if u.flags&recSamePage != 0 {
		if !redoXmax(page, u.oldOff, txn.XID(rec.XID), u.oldFlags, next) {
			return false
		}
		setPrunable(page, txn.XID(rec.XID))
	}
	return redoPut(page, next, &newVersion{xid: txn.XID(rec.XID), flags: u.flagsN, row: row})
}

// redoUpdateVM clears the map's bits. i is the first map page's block reference; both versions
// may share one.
func redoUpdateVM(rec *wal.Record, c *wal.RedoContext, i int, u *updateRecord, block, old storage.BlockNumber) error {
	shared := u.flags&recVM != 0 && u.flags&recVMOld != 0 && len(rec.Blocks) == i+1
	if u.flags&recVM != 0 {
		err := redoVM(rec, c, i, func(page storage.Page) {
			storage.ClearVMBits(page, block, vmBoth)
			if shared {
				storage.ClearVMBits(page, old, vmBoth)
			}
		})
		if err != nil {
			return err
		}
		i++
	}
	if u.flags&recVMOld == 0 || shared {
		return nil
	}
	return redoVM(rec, c, i, func(page storage.Page) { storage.ClearVMBits(page, old, vmBoth) })
}

// prune redoes kindPrune on a page.
func (r *Redoer) prune(page storage.Page, in *reader) bool {
	nRedirect, nDead, nUnused := int(in.u16()), int(in.u16()), int(in.u16())
	redirects := make([][2]uint16, 0, nRedirect)
	for range nRedirect {
		redirects = append(redirects, [2]uint16{in.u16(), in.u16()})
	}
	all := r.list(in, nDead+nUnused)
	if in.bad {
		return false
	}
	applyPrune(page, redirects, all[:nDead], all[nDead:])
	return true
}

// list reads n line pointer numbers.
func (r *Redoer) list(in *reader, n int) []uint16 {
	r.offs = r.offs[:0]
	for range n {
		r.offs = append(r.offs, in.u16())
	}
	return r.offs
}

// truncate redoes the cutting off of a relation's tail.
func (r *Redoer) truncate(c *wal.RedoContext, data *reader) error {
	f, rest, ok := wal.ReadRelFile(data.b)
	if !ok || len(rest) < 4 {
		return pgerr.New(pgerr.DataCorrupted, "malformed heap truncation in the log")
	}
	n := blockNumber(rest)
	c.Forget(f, storage.MainFork, n)
	files := c.Pool.Files()
	exists, err := files.Exists(f, storage.MainFork)
	if err != nil || !exists {
		return err
	}
	have, err := files.NBlocks(f, storage.MainFork)
	if err != nil {
		return err
	}
	if have <= n { // the file was cut before the crash, the maps perhaps not
		return cutMaps(c.Pool, f, n)
	}
	return cut(c.Pool, f, n)
}
