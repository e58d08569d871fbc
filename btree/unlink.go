package btree

import (
	"encoding/binary"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// unlinking takes one page out of its sibling chain: the topmost page left of
// a half-dead leaf's branch, or in the end the leaf itself.
type unlinking struct {
	t     *Tree
	w     *Writer
	leaf  *storage.Buffer // pinned by the caller
	level uint16          // of the page to go
	rec   unlinkRecord
	safe  uint64 // XID

	// Pinned and latched exclusively.
	target *storage.Buffer // nil when it is the leaf
	left   *storage.Buffer // nil when the page is the leftmost one
	right  *storage.Buffer

	leafLatched bool
}

// run unlinks one page. The leaf is latched exclusively on entry and, unless the
// result is false or an error, on exit.
func (u *unlinking) run() (bool, error) {
	u.leafLatched = true
	ok, err := u.latch()
	if err == nil && ok {
		err = u.t.reserve(4)
	}
	if err == nil && ok {
		u.apply()
	}
	for _, b := range []*storage.Buffer{u.left, u.target, u.right} {
		if b != nil {
			b.ReleaseExclusive()
		}
	}
	if ok && err == nil {
		return true, nil
	}
	if u.leafLatched {
		u.leaf.UnlockExclusive()
	}
	return false, err
}

func (u *unlinking) latchLeaf() {
	u.leaf.LockExclusive(storage.ClassBTreeLeaf)
	u.leafLatched = true
}

// page is the page to go.
func (u *unlinking) page() *storage.Buffer {
	if u.target != nil {
		return u.target
	}
	return u.leaf
}

// latch latches what the unlinking changes, from the leaf's level up and from
// left to right, and decides on the record. It returns false when the chain is
// not as expected; the half-dead leaf is tried again by the next VACUUM.
func (u *unlinking) latch() (bool, error) {
	lp := pageOf(u.leaf)
	block, left := halfDeadTop(lp), prevOf(lp)
	u.leaf.UnlockExclusive()
	u.leafLatched = false
	if block != none {
		buf, err := u.t.read(block)
		if err != nil {
			return false, err
		}
		buf.LockShared(storage.ClassBTreeInner)
		u.level, left = levelOf(pageOf(buf)), prevOf(pageOf(buf))
		buf.ReleaseShared()
		u.latchLeaf() // a child before its parents
	} else {
		block = u.leaf.Block()
	}
	if ok, err := u.latchLeft(left, block); err != nil || !ok {
		return false, err
	}
	if u.leafLatched {
		var err error
		if u.target, err = u.t.read(block); err != nil {
			return false, err
		}
		u.target.LockExclusive(storage.ClassBTreeInner)
	} else {
		u.latchLeaf()
	}
	p := pageOf(u.page())
	if isRightmost(p) || flagsOf(p)&(flagRoot|flagDeleted|flagIncomplete) != 0 ||
		prevOf(p) != u.rec.left || !u.decide(p) {
		return false, u.t.corrupted(
			"half-dead page changed status unexpectedly in block %d of index %q", block, u.t.c.Name)
	}
	return u.latchRight(p, block)
}

// latchLeft latches the page that leads right to block, starting at the one that
// was to its left.
func (u *unlinking) latchLeft(at, block storage.BlockNumber) (bool, error) {
	for at != none {
		buf, err := u.t.read(at)
		if err != nil {
			return false, err
		}
		buf.LockExclusive(classOf(u.level))
		p := pageOf(buf)
		if flagsOf(p)&flagDeleted == 0 && nextOf(p) == block {
			u.left, u.rec.left = buf, at
			u.rec.flags |= unlinkHasLeft
			return true, nil
		}
		// Split since; it cannot have been deleted, as only we delete.
		next := nextOf(p)
		buf.ReleaseExclusive()
		if next == none {
			return false, u.t.corrupted("no left sibling leads to block %d of index %q",
				block, u.t.c.Name)
		}
		at = next
	}
	return true, nil
}

// decide completes the record about the page to go and reports whether that is as
// it should be: a half-dead leaf, or an inner page with one child.
func (u *unlinking) decide(p page) bool {
	u.rec.right = nextOf(p)
	u.rec.leafTop = none
	if u.target == nil {
		return flagsOf(p)&flagHalfDead != 0
	}
	u.rec.flags |= unlinkHasLeaf
	if itemCount(p) != firstData(p) {
		return false
	}
	if child := childAt(p, firstData(p)); child != u.leaf.Block() {
		u.rec.leafTop = child
	}
	return true
}

func (u *unlinking) latchRight(p page, block storage.BlockNumber) (bool, error) {
	buf, err := u.t.read(nextOf(p))
	if err != nil {
		return false, err
	}
	buf.LockExclusive(classOf(u.level))
	u.right = buf
	if prev := prevOf(pageOf(buf)); prev != block {
		return false, u.t.corrupted("right sibling %d of block %d is left-linked to %d in index %q",
			buf.Block(), block, prev, u.t.c.Name)
	}
	return true, nil
}

// apply makes the change and logs it.
func (u *unlinking) apply() {
	t, w, gone := u.t, u.w, u.page()
	// Whoever can still arrive here read a link before now, and took the snapshot
	// or XID that protects the page before that.
	u.safe = t.nextXID()
	wal.Critical(func() {
		gone.MarkDirty()
		makeDeleted(pageOf(gone), u.safe)
		u.right.MarkDirty()
		setPrev(pageOf(u.right), u.rec.left)
		if u.left != nil {
			u.left.MarkDirty()
			setNext(pageOf(u.left), u.rec.right)
		}
		if u.target != nil {
			u.leaf.MarkDirty()
			setHalfDeadTop(pageOf(u.leaf), u.rec.leafTop)
		}
		if !t.logged {
			return
		}
		t.begin(w, kindUnlink)
		t.register(w, 0, gone, wal.Standard)
		w.Builder.BufData(0, binary.LittleEndian.AppendUint64(nil, u.safe)...)
		t.register(w, 1, u.right, wal.Standard)
		n := 2
		if u.left != nil {
			t.register(w, n, u.left, wal.Standard)
			n++
		}
		if u.target != nil {
			t.register(w, n, u.leaf, wal.Standard)
		}
		var data [unlinkRecordSize]byte
		u.rec.put(data[:])
		w.Builder.Data(data[:]...)
		if u.target != nil {
			t.log(w, gone, u.right, u.left, u.leaf)
		} else {
			t.log(w, gone, u.right, u.left)
		}
	})
}
