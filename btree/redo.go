package btree

import (
	"encoding/binary"
	"fmt"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// Redoer replays btree records: Invariant 7.
type Redoer struct{ d Deps }

// NewRedoer returns the replayer for RMBTree.
func NewRedoer(d Deps) *Redoer { return &Redoer{d: d} }

// Redo implements wal.Redoer.
func (r *Redoer) Redo(rec *wal.Record, c *wal.RedoContext) error {
	redo := redoing{rec: rec, c: c}
	switch rec.Kind {
	case kindInsert:
		redo.insert()
	case kindSplit:
		redo.split()
	case kindNewRoot:
		redo.newRoot()
	case kindDelete:
		redo.block(0, func(p page, data []byte) bool {
			if len(data)%2 != 0 {
				return false
			}
			numbers := make([]uint16, 0, len(data)/2)
			for ; len(data) > 0; data = data[2:] {
				numbers = append(numbers, binary.LittleEndian.Uint16(data))
			}
			removeEntries(p, numbers)
			return true
		})
	case kindHalfDead:
		redo.halfDead()
	case kindUnlink:
		redo.unlink()
	default:
		return pgerr.New(pgerr.InternalError, "btree record of unknown kind %d at %v",
			rec.Kind, rec.LSN)
	}
	return redo.err
}

// redoing is the replay of one record. The first error ends it.
type redoing struct {
	rec *wal.Record
	c   *wal.RedoContext
	err error
}

// block applies change to block reference i where it needs it. change reports
// false when the data make no sense.
func (r *redoing) block(i int, change func(p page, data []byte) bool) {
	if r.err != nil {
		return
	}
	buf, action, err := r.c.Block(r.rec, i)
	if err != nil || action == wal.ActionMissing {
		r.err = err
		return
	}
	if action != wal.ActionNeeds {
		r.c.Finish(buf, r.rec, false)
		return
	}
	if !change(pageOf(buf), r.rec.Blocks[i].Data) {
		buf.ReleaseExclusive()
		r.malformed()
		return
	}
	r.c.Finish(buf, r.rec, true)
}

func (r *redoing) malformed() {
	if r.err == nil {
		r.err = pgerr.New(pgerr.DataCorrupted, "malformed btree record of kind %d at %v",
			r.rec.Kind, r.rec.LSN)
	}
}

// data checks the length of the record's own data.
func (r *redoing) data(size int) ([]byte, bool) {
	if len(r.rec.Data) != size {
		r.malformed()
		return nil, false
	}
	return r.rec.Data, true
}

func (r *redoing) insert() {
	r.block(0, func(p page, data []byte) bool {
		if len(data) < 2 {
			return false
		}
		i, item := int(binary.LittleEndian.Uint16(data)), data[2:]
		if i < firstData(p) || i > itemCount(p)+1 ||
			freeBytes(p) < len(item)+storage.LinePointerSize {
			return false
		}
		insertItem(p, i, item)
		return true
	})
	if len(r.rec.Blocks) > 1 {
		r.completed(1)
	}
}

// completed clears the mark of an unfinished split.
func (r *redoing) completed(i int) {
	r.block(i, func(p page, _ []byte) bool {
		dropFlags(p, flagIncomplete)
		return true
	})
}

func content(p page, data []byte) bool { return restoreContent(p, data) }

func (r *redoing) split() {
	data, ok := r.data(splitRecordSize)
	if !ok {
		return
	}
	split := readSplitRecord(data)
	// From left to right, so that at no time there is a page to whose entries no
	// link leads; nobody reads during recovery yet, but that costs nothing.
	r.block(1, content)
	right := r.rec.Blocks[1].Tag.Block
	r.block(0, func(p page, data []byte) bool {
		if len(data) < 2 {
			return false
		}
		n := int(binary.LittleEndian.Uint16(data))
		if len(data) < 2+n {
			return false
		}
		var scratch [storage.PageSize]byte
		splitLeft(p, &scratch, &split, data[2:2+n], data[2+n:], right)
		return true
	})
	next := 2
	if split.flags&splitHasRight != 0 {
		r.block(next, func(p page, _ []byte) bool {
			setPrev(p, right)
			return true
		})
		next++
	}
	if split.flags&splitHasChild != 0 {
		r.completed(next)
	}
}

func (r *redoing) newRoot() {
	data, ok := r.data(2)
	if !ok {
		return
	}
	level := binary.LittleEndian.Uint16(data)
	r.block(0, content)
	r.block(1, func(p page, _ []byte) bool {
		setMetaRoot(p, r.rec.Blocks[0].Tag.Block, level)
		return isMeta(p)
	})
	r.completed(2)
}

func (r *redoing) halfDead() {
	r.block(0, func(p page, data []byte) bool {
		if len(data) != childSize {
			return false
		}
		makeHalfDead(p, storage.BlockNumber(binary.LittleEndian.Uint32(data)))
		return true
	})
	r.block(1, func(p page, data []byte) bool {
		if len(data) != 2 {
			return false
		}
		i := int(binary.LittleEndian.Uint16(data))
		if i < firstData(p) || i >= itemCount(p) {
			return false
		}
		dropChild(p, i)
		return true
	})
}

func (r *redoing) unlink() {
	data, ok := r.data(unlinkRecordSize)
	if !ok {
		return
	}
	u := readUnlinkRecord(data)
	r.block(0, func(p page, data []byte) bool {
		if len(data) != 8 {
			return false
		}
		makeDeleted(p, binary.LittleEndian.Uint64(data))
		return true
	})
	r.block(1, func(p page, _ []byte) bool {
		setPrev(p, u.left)
		return true
	})
	next := 2
	if u.flags&unlinkHasLeft != 0 {
		r.block(next, func(p page, _ []byte) bool {
			setNext(p, u.right)
			return true
		})
		next++
	}
	if u.flags&unlinkHasLeaf != 0 {
		r.block(next, func(p page, _ []byte) bool {
			setHalfDeadTop(p, u.leafTop)
			return true
		})
	}
}

var kindNames = [...]string{
	"INSERT", "SPLIT", "NEWROOT", "DELETE", "MARK_PAGE_HALFDEAD", "UNLINK_PAGE",
}

// Describe words a record for pg_waldump-like tools.
func Describe(rec *wal.Record) string {
	if int(rec.Kind) >= len(kindNames) {
		return fmt.Sprintf("unknown kind %d", rec.Kind)
	}
	return kindNames[rec.Kind]
}
