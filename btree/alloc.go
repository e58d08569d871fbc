package btree

import (
	"context"

	"github.com/minipg/minipg/storage"
)

// allocate returns a page for a level, latched exclusively: a deleted one that
// nobody can reach any more, one that is in the file but unused, or a new one.
// Its old content means nothing.
func (t *Tree) allocate(ctx context.Context, w *Writer, level uint16) (*storage.Buffer, error) {
	for {
		block, ok, err := t.d.Pool.FSM().TakeFreePage(t.c.Rel)
		if err != nil {
			return nil, err
		}
		if !ok && w.Ext != nil {
			block, ok = w.Ext.TakeKept(t.c.Rel)
		}
		if !ok {
			break
		}
		if buf, err := t.reuse(block, level); buf != nil || err != nil {
			return buf, err
		}
	}
	for {
		e, err := t.d.Pool.Extend(ctx, t.c.Rel, storage.MainFork, storage.ExtendOptions{
			State: w.Ext, Wanted: 1, NeedBytes: storage.PageSize / 2, Class: classOf(level),
		})
		if err != nil {
			return nil, err
		}
		if e.Buffer != nil {
			return e.Buffer, nil
		}
		// Another session has added blocks while we waited to.
		if err := t.d.Pool.FSM().RecordUsedPage(t.c.Rel, e.Block); err != nil {
			return nil, err
		}
		if buf, err := t.reuse(e.Block, level); buf != nil || err != nil {
			return buf, err
		}
	}
}

// reuse latches the page if it is free, else it returns nil. The map is only a
// hint: it is not logged. It does not wait, as the caller holds latches.
func (t *Tree) reuse(block storage.BlockNumber, level uint16) (*storage.Buffer, error) {
	buf, err := t.read(block)
	if err != nil {
		return nil, err
	}
	if !buf.TryLockExclusive(classOf(level)) {
		buf.Unpin()
		return nil, nil
	}
	if block == metaBlock || !t.recyclable(pageOf(buf)) {
		buf.ReleaseExclusive()
		return nil, nil
	}
	return buf, nil
}

// recyclable reports whether nobody can reach the page: Invariant 3.
func (t *Tree) recyclable(p page) bool {
	if asPage(p).IsNew() {
		return true
	}
	return hasSpecial(p) && flagsOf(p)&flagDeleted != 0 && safeXIDOf(p) < t.horizon()
}

// horizon is the XID below which no snapshot asks; without transactions (tests)
// nobody ever does.
func (t *Tree) horizon() uint64 {
	if t.d.Txn == nil {
		return ^uint64(0)
	}
	return uint64(t.d.Txn.Horizon())
}

func (t *Tree) nextXID() uint64 {
	if t.d.Txn == nil {
		return 0
	}
	return uint64(t.d.Txn.NextXID())
}
