package btree

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// Insert adds an entry.
func (t *Tree) Insert(ctx context.Context, w *Writer, key []byte, tid TID, payload []byte) error {
	if err := t.prepare(w, key, tid, payload); err != nil {
		return err
	}
	entry := t.entryKey(w.scratch.item)
	buf, done, err := t.fastLeaf(w, entry, false)
	if done || err != nil {
		return err
	}
	if buf == nil {
		place := at(entry)
		if buf, err = t.descendExclusive(ctx, w, &place); err != nil {
			return err
		}
	}
	return t.insertLeaf(ctx, w, buf)
}

// InsertUnique adds an entry unless check reports a duplicate: then it inserts
// nothing and returns the duplicate's TID and true. It waits for the transactions
// check names and looks again after each.
func (t *Tree) InsertUnique(
	ctx context.Context, w *Writer, key []byte, tid TID, payload []byte, check UniqueCheck,
) (dup TID, found bool, err error) {
	if err := t.prepare(w, key, tid, payload); err != nil {
		return TID{}, false, err
	}
	for {
		buf, done, err := t.fastLeaf(w, key, true)
		if done || err != nil {
			return TID{}, false, err
		}
		if buf == nil {
			// The first leaf that can hold the key: Invariant 6.
			place := at(key)
			if buf, err = t.descendExclusive(ctx, w, &place); err != nil {
				return TID{}, false, err
			}
		}
		v, err := t.lookForDuplicate(buf, storage.Exclusive, key, check)
		if err != nil || v.conflict == ConflictDup {
			buf.ReleaseExclusive()
			return v.tid, err == nil, err
		}
		if v.conflict == ConflictWait {
			buf.ReleaseExclusive()
			if err := t.waitFor(ctx, w, v.wait, tid); err != nil {
				return TID{}, false, err
			}
			continue
		}
		// Equal keys lie in TID order, maybe on pages further right. The latch on
		// the left is kept until the one on the right is there, so that another
		// check for the key cannot overtake.
		if buf, err = t.coupleRight(ctx, w, buf, t.entryKey(w.scratch.item)); err != nil {
			return TID{}, false, err
		}
		return TID{}, false, t.insertLeaf(ctx, w, buf)
	}
}

// CheckUnique is InsertUnique without the insertion, for constraints that are
// checked later.
func (t *Tree) CheckUnique(
	ctx context.Context, w *Writer, key []byte, check UniqueCheck,
) (dup TID, found bool, err error) {
	place := at(key)
	for {
		buf, err := t.descendShared(&place)
		if err != nil {
			return TID{}, false, err
		}
		v, err := t.lookForDuplicate(buf, storage.Shared, key, check)
		buf.ReleaseShared()
		if err != nil || v.conflict != ConflictWait {
			return v.tid, err == nil && v.conflict == ConflictDup, err
		}
		if err := t.d.Txn.WaitFor(ctx, w.Tx, v.wait, txn.WaitOptions{}); err != nil {
			return TID{}, false, err
		}
	}
}

// waitFor waits for a transaction that may leave the key unique; tid is the row that is to be entered.
func (t *Tree) waitFor(ctx context.Context, w *Writer, xid txn.XID, tid TID) error {
	err := t.d.Txn.WaitFor(ctx, w.Tx, xid, txn.WaitOptions{})
	var e *pgerr.Error
	if !errors.As(err, &e) {
		return err
	}
	own := *e // The cause of a cancelled context is everybody's.
	return own.AppendWhere("while inserting index tuple (%d,%d) in relation \"%s\"", tid.Block, tid.Offset, t.c.Name)
}

// prepare builds the leaf item in w.
func (t *Tree) prepare(w *Writer, key []byte, tid TID, payload []byte) error {
	w.scratch.item = t.appendEntry(w.scratch.item[:0], key, tid, payload)
	if n := len(w.scratch.item); n > MaxItemSize {
		return pgerr.New(pgerr.ProgramLimitExceeded,
			"index row size %d exceeds btree version 4 maximum %d for index \"%s\"",
			n, MaxItemSize, t.c.Name).
			WithHint("Values larger than 1/3 of a buffer page cannot be indexed.\n" +
				"Consider a function index of an MD5 hash of the value, or use full text indexing.")
	}
	return nil
}

// fastLeaf returns the rightmost leaf latched exclusively if it is where key
// belongs and the new item fits without a split; else nil. With all set every
// entry with this key must belong there, too. done tells that another session has
// inserted the item.
func (t *Tree) fastLeaf(w *Writer, key []byte, all bool) (buf *storage.Buffer, done bool, err error) {
	block := storage.BlockNumber(t.rightmost.Load())
	if block == none || w.NoFastPath {
		return nil, false, nil
	}
	if buf, err = t.read(block); err != nil {
		return nil, false, err
	}
	if t.latchFast(w, buf, key, all) {
		buf.Unpin()
		return nil, true, nil
	}
	if t.isFastLeaf(pageOf(buf), len(w.scratch.item), key, all) {
		return buf, false, nil
	}
	buf.ReleaseExclusive()
	return nil, false, nil
}

func (t *Tree) isFastLeaf(p page, itemSize int, key []byte, all bool) bool {
	if !hasSpecial(p) || !isRightmost(p) ||
		flagsOf(p)&(flagLeaf|flagHalfDead|flagDeleted|flagMeta|flagIncomplete) != flagLeaf {
		t.rightmost.Store(uint32(none))
		return false
	}
	if itemCount(p) == 0 || freeBytes(p) < itemSize+storage.LinePointerSize {
		return false
	}
	first := keyAt(p, 1)
	return compareKeys(first, key) < 0 && !(all && bytes.HasPrefix(first, key))
}

// verdict is the outcome of a look for duplicates.
type verdict struct {
	conflict Conflict
	tid      TID
	wait     txn.XID
}

// lookForDuplicate asks check about every entry with the key, from buf on, which
// is latched in the given mode and stays so.
func (t *Tree) lookForDuplicate(
	buf *storage.Buffer, mode storage.LatchMode, key []byte, check UniqueCheck,
) (verdict, error) {
	begin, end := at(key), behind(key)
	cur := buf
	release := func() {
		if cur != buf {
			cur.ReleaseShared()
		}
	}
	for i := search(pageOf(cur), &begin); ; {
		p := pageOf(cur)
		v, err := t.askAbout(cur, cur == buf && mode == storage.Exclusive, i, &end, check)
		if err != nil || v.conflict != ConflictNone || isRightmost(p) || !end.beforeItem(p, 1) {
			release()
			return v, err
		}
		// Left to right: the lock order.
		next, err := t.nextLeaf(cur)
		release()
		if err != nil {
			return verdict{}, err
		}
		cur, i = next, firstData(pageOf(next))
	}
}

// nextLeaf latches the next leaf with entries to the right, keeping buf latched.
func (t *Tree) nextLeaf(buf *storage.Buffer) (*storage.Buffer, error) {
	next, err := t.read(nextOf(pageOf(buf)))
	if err != nil {
		return nil, err
	}
	next.LockShared(storage.ClassBTreeLeaf)
	for {
		p := pageOf(next)
		if !hasSpecial(p) || !isLeaf(p) {
			block := next.Block()
			next.ReleaseShared()
			return nil, t.corrupted("block %d of index %q is not a leaf", block, t.c.Name)
		}
		if !ignored(p) {
			return next, nil
		}
		if isRightmost(p) {
			return nil, t.checkEnd(p, next)
		}
		if next, err = t.stepTo(next, nextOf(p), 0, storage.Shared, storage.Shared); err != nil {
			return nil, err
		}
	}
}

// askAbout asks check about the entries of one page from number i up to end.
func (t *Tree) askAbout(
	buf *storage.Buffer, mayKill bool, i int, end *bound, check UniqueCheck,
) (verdict, error) {
	p, killed := pageOf(buf), false
	defer func() {
		if killed {
			buf.MarkDirtyHint()
		}
	}()
	for n := itemCount(p); i <= n; i++ {
		if !end.beforeItem(p, i) {
			break
		}
		if killedAt(p, i) {
			continue
		}
		_, tid := splitEntry(keyAt(p, i))
		conflict, wait, err := check(tid)
		if err != nil {
			return verdict{}, err
		}
		switch conflict {
		case ConflictDup, ConflictWait:
			return verdict{conflict, tid, wait}, nil
		case ConflictDead:
			if mayKill {
				killAt(p, i)
				killed = true
			}
		}
	}
	return verdict{}, nil
}

// coupleRight goes right from buf, latched exclusively, to the leaf that entry
// belongs on, and never lets go of one before it has the next. On an error buf
// is released.
func (t *Tree) coupleRight(
	ctx context.Context, w *Writer, buf *storage.Buffer, entry []byte,
) (*storage.Buffer, error) {
	b := at(entry)
	for p := pageOf(buf); mustGoRight(p, &b); p = pageOf(buf) {
		next, err := t.latchNext(ctx, w, nextOf(p))
		if err != nil {
			buf.ReleaseExclusive()
			return nil, err
		}
		t.d.Metrics.BTreeMoveRights.Inc()
		buf.ReleaseExclusive()
		buf = next
	}
	return buf, nil
}

// latchNext latches the leaf at block exclusively, after its split is finished.
// The caller keeps its latch on the leaf to the left meanwhile.
func (t *Tree) latchNext(
	ctx context.Context, w *Writer, block storage.BlockNumber,
) (*storage.Buffer, error) {
	buf, err := t.read(block)
	if err != nil {
		return nil, err
	}
	buf.LockExclusive(storage.ClassBTreeLeaf)
	p := pageOf(buf)
	if !hasSpecial(p) || !isLeaf(p) || ignored(p) && isRightmost(p) {
		buf.ReleaseExclusive()
		return nil, t.corrupted("block %d of index %q is not a leaf", block, t.c.Name)
	}
	if flagsOf(p)&flagIncomplete == 0 {
		return buf, nil
	}
	return t.finishSplitOf(ctx, w, buf, 0, storage.Exclusive, &w.scratch.path)
}

// insertLeaf puts w's item on the leaf buf, which is where it belongs and is
// latched exclusively, splitting it if need be. buf is released.
func (t *Tree) insertLeaf(ctx context.Context, w *Writer, buf *storage.Buffer) error {
	p, item := pageOf(buf), w.scratch.item
	need := len(item) + storage.LinePointerSize
	if freeBytes(p) < need && flagsOf(p)&flagKilled != 0 {
		if err := t.removeKilled(w, buf); err != nil {
			buf.ReleaseExclusive()
			return err
		}
	}
	entry := t.entryKey(item)
	place := at(entry)
	i := search(p, &place)
	if i <= itemCount(p) && bytes.Equal(keyAt(p, i), entry) {
		block := buf.Block()
		buf.ReleaseExclusive()
		_, tid := splitEntry(entry)
		return t.corrupted("index %q already has an entry for tuple %v at block %d",
			t.c.Name, tid, block)
	}
	if freeBytes(p) < need {
		return t.split(ctx, w, buf, i, item, nil, &w.scratch.path)
	}
	if err := t.reserve(1); err != nil {
		buf.ReleaseExclusive()
		return err
	}
	if isRightmost(p) && flagsOf(p)&flagRoot == 0 && !w.NoFastPath {
		t.rememberRightmost(buf.Block())
	}
	t.insertOn(w, buf, i, item, nil)
	buf.ReleaseExclusive()
	return nil
}

func (t *Tree) rememberRightmost(block storage.BlockNumber) {
	if t.rightmost.Load() != uint32(block) {
		t.rightmost.Store(uint32(block))
	}
}

// insertOn puts an item that fits at number i of buf. child, if not nil, is the
// page whose split the item completes. Both are latched exclusively, log space is
// reserved.
func (t *Tree) insertOn(w *Writer, buf *storage.Buffer, i int, item []byte, child *storage.Buffer) {
	wal.Critical(func() {
		buf.MarkDirty()
		insertItem(pageOf(buf), i, item)
		if child != nil {
			child.MarkDirty()
			dropFlags(pageOf(child), flagIncomplete)
		}
		if !t.logged {
			return
		}
		t.begin(w, kindInsert)
		t.register(w, 0, buf, wal.Standard)
		w.Builder.BufData(0, byte(i), byte(i>>8))
		w.Builder.BufData(0, item...)
		if child != nil {
			t.register(w, 1, child, wal.Standard)
		}
		t.log(w, buf, child)
	})
}

// removeKilled removes the killed entries of a leaf latched exclusively.
func (t *Tree) removeKilled(w *Writer, buf *storage.Buffer) error {
	p := pageOf(buf)
	numbers := w.scratch.numbers[:0]
	for i, n := firstData(p), itemCount(p); i <= n; i++ {
		if killedAt(p, i) {
			numbers = append(numbers, uint16(i))
		}
	}
	w.scratch.numbers = numbers
	if len(numbers) == 0 {
		return nil
	}
	if err := t.reserve(1); err != nil {
		return err
	}
	t.remove(w, buf, numbers)
	return nil
}

// remove removes entries of a leaf latched exclusively; log space is reserved.
func (t *Tree) remove(w *Writer, buf *storage.Buffer, numbers []uint16) {
	wal.Critical(func() {
		buf.MarkDirty()
		removeEntries(pageOf(buf), numbers)
		if !t.logged {
			return
		}
		t.begin(w, kindDelete)
		t.register(w, 0, buf, wal.Standard)
		data := w.scratch.record[:0]
		for _, n := range numbers {
			data = binary.LittleEndian.AppendUint16(data, n)
		}
		w.scratch.record = data
		w.Builder.BufData(0, data...)
		t.log(w, buf)
	})
}
