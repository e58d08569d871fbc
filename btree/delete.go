package btree

import (
	"encoding/binary"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// Deleting a page follows _bt_pagedel and nbtree/README, "Page deletion": an
// empty leaf first loses its separator and becomes half-dead, in one record with
// its parent; then it is taken out of the sibling chain, in one record with its
// siblings. Inserters of its key range go to the right sibling from the first step
// on. Where the leaf is the only child of its parent, the whole branch that it
// hangs on goes with it, top first; the half-dead leaf says how far that has come.

// halfDeadTop is the item of a half-dead leaf: the block of the next page of its
// branch to unlink, or none for the leaf itself.
func halfDeadTop(p page) storage.BlockNumber {
	return storage.BlockNumber(binary.LittleEndian.Uint32(itemAt(p, 1)))
}

func setHalfDeadTop(p page, top storage.BlockNumber) {
	binary.LittleEndian.PutUint32(itemAt(p, 1), uint32(top))
}

// makeHalfDead is what happens to the leaf. Redo does it, too.
func makeHalfDead(p page, top storage.BlockNumber) {
	asPage(p).SetBounds(storage.PageHeaderSize, specialStart)
	var item [childSize]byte
	binary.LittleEndian.PutUint32(item[:], uint32(top))
	appendItem(p, item[:], storage.LineNormal)
	setFlags(p, flagsOf(p)&^flagKilled|flagHalfDead)
	setDeletions(p, deletionsOf(p)+1)
}

// dropChild gives the key range of child number i to the child behind it. Redo
// does it, too.
func dropChild(p page, i int) {
	setChildAt(p, i, childAt(p, i+1))
	removeItems(p, []uint16{uint16(i + 1)})
}

// makeDeleted is what happens to an unlinked page. Redo does it, too.
func makeDeleted(p page, safeXID uint64) {
	asPage(p).SetBounds(storage.PageHeaderSize, specialStart)
	setFlags(p, flagsOf(p)&^(flagHalfDead|flagKilled)|flagDeleted)
	setSafeXID(p, safeXID)
}

// deletable reports whether the leaf is empty, and one that may go.
func deletable(p page) bool {
	const must, not = flagLeaf, flagRoot | flagDeleted | flagIncomplete | flagMeta
	return hasSpecial(p) && flagsOf(p)&(must|not) == must && !isRightmost(p) &&
		(flagsOf(p)&flagHalfDead != 0 || itemCount(p) < firstData(p))
}

// deletePage deletes the empty leaf at block, if it is still one and can go, and
// the branch it hangs on if nothing else does. It holds nothing on entry. It
// returns how many pages went.
func (t *Tree) deletePage(w *Writer, block storage.BlockNumber) (int64, error) {
	buf, err := t.read(block)
	if err != nil {
		return 0, err
	}
	defer buf.Unpin()
	buf.LockExclusive(storage.ClassBTreeLeaf)
	p := pageOf(buf)
	if !deletable(p) {
		buf.UnlockExclusive()
		return 0, nil
	}
	if flagsOf(p)&flagHalfDead == 0 {
		ok, err := t.unlinkFromParent(w, buf)
		if err != nil || !ok {
			return 0, err
		}
	}
	var n int64
	for flagsOf(p)&flagHalfDead != 0 {
		u := unlinking{t: t, w: w, leaf: buf}
		if ok, err := u.run(); err != nil || !ok {
			return n, err
		}
		n++
	}
	buf.UnlockExclusive()
	return n, nil
}

// unlinkFromParent makes buf, an empty leaf latched exclusively, half-dead. It
// returns false, with buf unlatched, when that cannot be done now; so it does
// with an error.
func (t *Tree) unlinkFromParent(w *Writer, buf *storage.Buffer) (bool, error) {
	p, block := pageOf(buf), buf.Block()
	prev := prevOf(p)
	high := append(w.scratch.key[:0], highKey(p)...)
	w.scratch.key = high
	buf.UnlockExclusive()

	// Our separator may be missing because the left sibling's split is unfinished.
	if split, err := t.splitsInto(prev, block, 0); err != nil || split {
		return false, err
	}
	// The way to the leaf: an entry just below the high key belongs there.
	way := &w.scratch.deletion
	found, err := t.wayTo(high, block, way)
	if err != nil || !found {
		return false, err
	}
	buf.LockExclusive(storage.ClassBTreeLeaf)
	if !deletable(p) || flagsOf(p)&flagHalfDead != 0 {
		buf.UnlockExclusive()
		return false, nil
	}
	ok, err := t.markHalfDead(w, buf, way)
	if err != nil || !ok {
		buf.UnlockExclusive()
		return false, err
	}
	return true, nil
}

// splitsInto reports whether left is a page whose unfinished split made block.
func (t *Tree) splitsInto(left, block storage.BlockNumber, level uint16) (bool, error) {
	if left == none {
		return false, nil
	}
	buf, err := t.read(left)
	if err != nil {
		return false, err
	}
	buf.LockShared(classOf(level))
	defer buf.ReleaseShared()
	p := pageOf(buf)
	return nextOf(p) == block && flagsOf(p)&flagIncomplete != 0, nil
}

// isHalfDead reports whether the page at block is half-dead.
func (t *Tree) isHalfDead(block storage.BlockNumber) (bool, error) {
	buf, err := t.read(block)
	if err != nil {
		return false, err
	}
	buf.LockShared(storage.ClassBTreeLeaf)
	defer buf.ReleaseShared()
	return flagsOf(pageOf(buf))&flagHalfDead != 0, nil
}

// wayTo fills way with the path to the leaf at block, whose high key is given.
// It returns false when the page is no longer there.
func (t *Tree) wayTo(high []byte, block storage.BlockNumber, way *path) (bool, error) {
	way.n = 0
	place := at(high)
	buf, level, err := t.latchRoot()
	if err != nil {
		return false, err
	}
	// The place just before the high key: the last child with a smaller
	// separator, and never further right than a page with this high key.
	for ; level > 0; level-- {
		if buf, err = t.rightTo(buf, level, high); err != nil {
			return false, err
		}
		p := pageOf(buf)
		item := max(search(p, &place)-1, firstData(p))
		way.push(buf.Block(), item)
		child := childAt(p, item)
		if buf, err = t.stepTo(buf, child, level-1, storage.Shared, storage.Shared); err != nil {
			return false, err
		}
	}
	if buf, err = t.rightTo(buf, 0, high); err != nil {
		return false, err
	}
	found := buf.Block() == block
	buf.ReleaseShared()
	return found, nil
}

// rightTo goes right from buf, latched shared, while the page's high key is less
// than the given one.
func (t *Tree) rightTo(buf *storage.Buffer, level uint16, high []byte) (*storage.Buffer, error) {
	for {
		p := pageOf(buf)
		if isRightmost(p) || !ignored(p) && compareKeys(highKey(p), high) >= 0 {
			return buf, nil
		}
		var err error
		if buf, err = t.stepTo(buf, nextOf(p), level, storage.Shared, storage.Shared); err != nil {
			return nil, err
		}
	}
}

// branch is what goes with a leaf: the pages from top down to it have one child
// each. parent, latched exclusively, stays; item is its number of top.
type branch struct {
	parent *storage.Buffer
	item   int
	top    storage.BlockNumber
	right  storage.BlockNumber // right sibling of top
}

// markHalfDead takes the leaf's key range out of the tree. buf is latched
// exclusively and stays so. It returns false when that cannot be done now.
func (t *Tree) markHalfDead(w *Writer, buf *storage.Buffer, way *path) (bool, error) {
	p := pageOf(buf)
	// The parent would end up with a separator for a half-dead page.
	if dead, err := t.isHalfDead(nextOf(p)); err != nil || dead {
		return false, err
	}
	b := branch{top: buf.Block(), right: nextOf(p)}
	if ok, err := t.findBranch(&b, 0, way); err != nil || !ok {
		return false, err
	}
	defer b.parent.ReleaseExclusive()
	pp := pageOf(b.parent)
	if next := childAt(pp, b.item+1); next != b.right {
		return false, t.corrupted(
			"right sibling %d of block %d is not next child %d of block %d in index %q",
			b.right, b.top, next, b.parent.Block(), t.c.Name)
	}
	if err := t.reserve(2); err != nil {
		return false, err
	}
	top := b.top
	if top == buf.Block() {
		top = none
	}
	wal.Critical(func() {
		buf.MarkDirty()
		b.parent.MarkDirty()
		makeHalfDead(p, top)
		dropChild(pp, b.item)
		if !t.logged {
			return
		}
		t.begin(w, kindHalfDead)
		t.register(w, 0, buf, wal.Standard)
		w.Builder.BufData(0, binary.LittleEndian.AppendUint32(nil, uint32(top))...)
		t.register(w, 1, b.parent, wal.Standard)
		w.Builder.BufData(1, byte(b.item), byte(b.item>>8))
		t.log(w, buf, b.parent)
	})
	return true, nil
}

// findBranch finds the parent from which the branch that ends in b.top can be
// taken, and latches it. way leads to the parent of b.top, which is on the given
// level. It returns false, with nothing latched, when there is none: a page that
// is its parent's last child can go only with the parent.
func (t *Tree) findBranch(b *branch, level uint16, way *path) (bool, error) {
	for {
		last, ok := way.pop()
		if !ok {
			return false, nil // the root was split meanwhile; next time
		}
		parent, item, err := t.latchParent(last, b.top, level+1)
		if err != nil || parent == nil {
			return false, err
		}
		p := pageOf(parent)
		if item < itemCount(p) {
			b.parent, b.item = parent, item
			return true, nil
		}
		if item > firstData(p) || isRightmost(p) {
			parent.ReleaseExclusive()
			return false, nil
		}
		block, left := parent.Block(), prevOf(p)
		b.top, b.right = block, nextOf(p)
		parent.ReleaseExclusive()
		level++
		if split, err := t.splitsInto(left, block, level); err != nil || split {
			return false, err
		}
	}
}

// latchParent latches the page with the item of child, beginning at the one where
// it was. It returns nil when there is none.
func (t *Tree) latchParent(
	from step, child storage.BlockNumber, level uint16,
) (parent *storage.Buffer, item int, err error) {
	if parent, err = t.read(from.block); err != nil {
		return nil, 0, err
	}
	parent.LockExclusive(storage.ClassBTreeInner)
	for {
		p := pageOf(parent)
		if !ignored(p) && flagsOf(p)&flagIncomplete == 0 {
			if item := findChild(p, child, from.item); item != 0 {
				return parent, item, nil
			}
		}
		if isRightmost(p) || flagsOf(p)&flagIncomplete != 0 {
			parent.ReleaseExclusive()
			return nil, 0, nil
		}
		from.item = 0
		parent, err = t.stepTo(parent, nextOf(p), level, storage.Exclusive, storage.Exclusive)
		if err != nil {
			return nil, 0, err
		}
	}
}
