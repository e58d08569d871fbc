package btree

import (
	"context"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// VacuumStats is what a vacuum met and did.
type VacuumStats struct {
	Pages        int64 // blocks of the tree
	Entries      int64 // left
	Removed      int64 // entries
	DeletedPages int64 // by this vacuum
	FreePages    int64 // blocks put into the free space map
}

// VacuumScan removes the entries whose TID dead accepts, deletes pages that are
// empty, and enters blocks that nobody can reach any more in the free space map.
// With dead nil it only cleans up. One vacuum of a tree runs at a time: the
// caller holds a lock on the table that conflicts with itself.
//
// It walks the leaves by their right links. A page that is split behind it takes
// along only entries it has looked at, so unlike a walk in block order it needs no
// mark of who was split meanwhile. Dead TIDs may be reused when it returns; what a
// cursor copied before is the business of the reader's snapshot.
func (t *Tree) VacuumScan(
	ctx context.Context, w *Writer, dead func(TID) bool,
) (VacuumStats, error) {
	var stats VacuumStats
	block, err := t.leftmostLeaf()
	if err != nil {
		return stats, err
	}
	for block != none {
		if err := ctx.Err(); err != nil {
			return stats, pgerr.From(context.Cause(ctx))
		}
		next, empty, err := t.vacuumLeaf(w, block, dead, &stats)
		if err != nil {
			return stats, err
		}
		stats.Pages++
		if empty {
			n, err := t.deletePage(w, block)
			if err != nil {
				return stats, err
			}
			stats.DeletedPages += n
			stats.Pages -= min(n, 1)
		}
		block = next
	}
	later, err := t.freePages(ctx, &stats)
	t.clean.Store(err == nil && !later)
	return stats, err
}

// NeedsCleanup tells whether a vacuum without dead entries may find blocks to enter in the free space
// map: the first since the server started, as a crash may have left blocks that nothing uses, and
// those after one that deleted pages, which are free only when no snapshot is left that may reach them.
func (t *Tree) NeedsCleanup() bool { return !t.clean.Load() }

// leftmostLeaf is where the chain of leaves begins: maybe a half-dead page that a
// crash left behind, to which no parent leads.
func (t *Tree) leftmostLeaf() (storage.BlockNumber, error) {
	start := at(nil)
	buf, err := t.descendShared(&start)
	if err != nil {
		return none, err
	}
	block := buf.Block()
	buf.ReleaseShared()
	return t.leftEnd(block)
}

// leftEnd follows left links to the end of a level.
func (t *Tree) leftEnd(block storage.BlockNumber) (storage.BlockNumber, error) {
	for {
		buf, err := t.read(block)
		if err != nil {
			return none, err
		}
		buf.LockShared(storage.ClassOther)
		left := none
		if p := pageOf(buf); hasSpecial(p) {
			left = prevOf(p)
		}
		buf.ReleaseShared()
		if left == none {
			return block, nil
		}
		block = left
	}
}

// vacuumLeaf removes the dead entries of a leaf and returns the one to its right.
// empty tells that the page may be deleted.
func (t *Tree) vacuumLeaf(
	w *Writer, block storage.BlockNumber, dead func(TID) bool, stats *VacuumStats,
) (next storage.BlockNumber, empty bool, err error) {
	buf, err := t.read(block)
	if err != nil {
		return none, false, err
	}
	defer buf.Unpin()
	buf.LockShared(storage.ClassBTreeLeaf)
	p := pageOf(buf)
	if !hasSpecial(p) || !isLeaf(p) {
		buf.UnlockShared()
		return none, false, t.corrupted("block %d of index %q is not a leaf", block, t.c.Name)
	}
	// Nearly every page of most vacuums has nothing to remove: look first, and
	// keep readers out only where there is.
	if numbers := t.deadOn(w, p, dead); len(numbers) == 0 {
		stats.Entries += int64(max(itemCount(p)-firstData(p)+1, 0))
		next, empty = nextOf(p), deletable(p)
		buf.UnlockShared()
		return next, empty, nil
	}
	buf.UnlockShared()
	if err := t.reserve(1); err != nil {
		return none, false, err
	}
	buf.LockExclusive(storage.ClassBTreeLeaf)
	defer buf.UnlockExclusive()
	if numbers := t.deadOn(w, p, dead); len(numbers) > 0 {
		t.remove(w, buf, numbers)
		stats.Removed += int64(len(numbers))
	}
	stats.Entries += int64(max(itemCount(p)-firstData(p)+1, 0))
	return nextOf(p), deletable(p), nil
}

// deadOn lists the numbers of a page's dead entries, killed ones included.
func (t *Tree) deadOn(w *Writer, p page, dead func(TID) bool) []uint16 {
	numbers := w.scratch.numbers[:0]
	if ignored(p) {
		return numbers
	}
	for i, n := firstData(p), itemCount(p); i <= n; i++ {
		_, tid := splitEntry(keyAt(p, i))
		if killedAt(p, i) || dead != nil && dead(tid) {
			numbers = append(numbers, uint16(i))
		}
	}
	w.scratch.numbers = numbers
	return numbers
}

// freePages enters the blocks that are not part of the tree and cannot be reached
// any more in the free space map. It reads the file only where there can be any.
// later tells that there are some that can still be reached.
func (t *Tree) freePages(ctx context.Context, stats *VacuumStats) (later bool, err error) {
	inner, err := t.countInner()
	if err != nil {
		return false, err
	}
	stats.Pages += inner + 1 // meta
	blocks, err := t.d.Pool.Files().NBlocks(t.c.Rel, storage.MainFork)
	if err != nil || stats.Pages >= int64(blocks) {
		return false, err
	}
	fsm, ring := t.d.Pool.FSM(), t.d.Pool.NewRing(storage.RingVacuum)
	for b := metaBlock + 1; b < blocks; b++ {
		if err := ctx.Err(); err != nil {
			return false, pgerr.From(context.Cause(ctx))
		}
		buf, err := t.d.Pool.Read(t.tag(b), ring)
		if err != nil {
			return false, err
		}
		free := false
		// Whoever has a new page latched is about to use it.
		if buf.TryLockShared(storage.ClassBTreeLeaf) {
			p := pageOf(buf)
			free = t.recyclable(p)
			later = later || !free && hasSpecial(p) && flagsOf(p)&(flagDeleted|flagHalfDead) != 0
			buf.UnlockShared()
		}
		buf.Unpin()
		if free {
			stats.FreePages++
			if err := fsm.RecordFreePage(t.c.Rel, b); err != nil {
				return false, err
			}
		}
	}
	return later, fsm.VacuumIndex(t.c.Rel)
}

// countInner counts the inner pages.
func (t *Tree) countInner() (int64, error) {
	buf, level, err := t.latchRoot()
	if err != nil {
		return 0, err
	}
	var n int64
	start := at(nil)
	for ; level > 0; level-- {
		if buf, err = t.moveRightShared(buf, level, &start); err != nil {
			return 0, err
		}
		p := pageOf(buf)
		first := childAt(p, firstData(p))
		for n++; !isRightmost(pageOf(buf)); n++ {
			buf, err = t.stepTo(buf, nextOf(pageOf(buf)), level, storage.Shared, storage.Shared)
			if err != nil {
				return 0, err
			}
		}
		if buf, err = t.stepTo(buf, first, level-1, storage.Shared, storage.Shared); err != nil {
			return 0, err
		}
	}
	buf.ReleaseShared()
	return n, nil
}

// Stats are the shape of a tree, for the planner.
type Stats struct {
	Pages  storage.BlockNumber
	Levels int // 1 for a root that is a leaf
}

// Stats reads the tree's height and the file's length.
func (t *Tree) Stats() (Stats, error) {
	n, err := t.d.Pool.Files().NBlocks(t.c.Rel, storage.MainFork)
	if err != nil {
		return Stats{}, err
	}
	_, level, err := t.readMeta()
	return Stats{Pages: n, Levels: int(level) + 1}, err
}
