package btree

import (
	"context"

	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// split splits buf, latched exclusively, so that item gets in at number i, and
// enters the new page in the parent. child, if not nil, is the latched page whose
// split item completes. way leads to the parents. All buffers are released.
//
// The left page keeps its block. The new page is linked in to the right of it
// and the left one is flagged incomplete, all in one record; until the parent has
// the separator (a second record) readers find the new page by the right link.
func (t *Tree) split(
	ctx context.Context, w *Writer, buf *storage.Buffer, i int, item []byte,
	child *storage.Buffer, way *path,
) error {
	s := splitting{t: t, w: w, buf: buf, child: child}
	if err := s.prepare(ctx, i, item); err != nil {
		s.release()
		buf.ReleaseExclusive()
		return err
	}
	wasRoot := flagsOf(pageOf(buf))&flagRoot != 0
	s.apply()
	t.d.Metrics.BTreeSplits.Inc()
	right := s.right
	s.right = nil
	s.release()
	return t.insertParent(ctx, w, buf, right, wasRoot, way)
}

// splitting is one split under way.
type splitting struct {
	t     *Tree
	w     *Writer
	buf   *storage.Buffer // the page to split
	right *storage.Buffer // the new page
	after *storage.Buffer // the one to the right of both, or nil
	child *storage.Buffer // or nil
	rec   splitRecord
	item  []byte
	high  []byte // the left page's new high key
}

// release lets go of everything but buf.
func (s *splitting) release() {
	for _, b := range []*storage.Buffer{s.right, s.after, s.child} {
		if b != nil {
			b.ReleaseExclusive()
		}
	}
}

// prepare decides on the split and latches every page it needs.
func (s *splitting) prepare(ctx context.Context, i int, item []byte) error {
	t, w, p := s.t, s.w, pageOf(s.buf)
	c := chooser{t: t, p: p, newItem: item, newAt: i}
	leftItems := c.choose(w)
	s.item = item
	s.rec.newItem = uint16(i)
	// The items before the new one keep their numbers, those behind have one
	// less than in the chooser's count.
	s.rec.firstRight = uint16(c.first + leftItems)
	if i < c.first+leftItems {
		s.rec.flags |= splitNewLeft
		s.rec.firstRight--
	}
	w.scratch.key = append(w.scratch.key[:0], c.separator(leftItems)...)
	s.high = w.scratch.key

	var err error
	if s.right, err = t.allocate(ctx, w, levelOf(p)); err != nil {
		return err
	}
	if next := nextOf(p); next != none {
		if s.after, err = t.read(next); err != nil {
			return err
		}
		s.after.LockExclusive(classOf(levelOf(p)))
		if prev := prevOf(pageOf(s.after)); prev != s.buf.Block() {
			return t.corrupted("right sibling %d of block %d is left-linked to %d in index %q",
				next, s.buf.Block(), prev, t.c.Name)
		}
		s.rec.flags |= splitHasRight
	}
	if s.child != nil {
		s.rec.flags |= splitHasChild
	}
	return t.reserve(4)
}

// apply makes the change and logs it.
func (s *splitting) apply() {
	w, left := s.w, pageOf(s.buf)
	wal.Critical(func() {
		s.buf.MarkDirty()
		s.right.MarkDirty()
		s.fillRight(left, pageOf(s.right))
		splitLeft(left, &w.scratch.left, &s.rec, s.high, s.item, s.right.Block())
		if s.after != nil {
			s.after.MarkDirty()
			setPrev(pageOf(s.after), s.right.Block())
		}
		if s.child != nil {
			s.child.MarkDirty()
			dropFlags(pageOf(s.child), flagIncomplete)
		}
		s.log()
	})
}

func (s *splitting) log() {
	t, w := s.t, s.w
	if !t.logged {
		return
	}
	t.begin(w, kindSplit)
	t.register(w, 0, s.buf, wal.Standard)
	w.Builder.BufData(0, byte(len(s.high)), byte(len(s.high)>>8))
	w.Builder.BufData(0, s.high...)
	if s.rec.flags&splitNewLeft != 0 {
		w.Builder.BufData(0, s.item...)
	}
	t.register(w, 1, s.right, wal.WillInit|wal.Standard)
	w.scratch.record = appendContent(w.scratch.record[:0], pageOf(s.right))
	w.Builder.BufData(1, w.scratch.record...)
	n := 2
	for _, b := range []*storage.Buffer{s.after, s.child} {
		if b != nil {
			t.register(w, n, b, wal.Standard)
			n++
		}
	}
	var data [splitRecordSize]byte
	s.rec.put(data[:])
	w.Builder.Data(data[:]...)
	t.log(w, s.buf, s.right, s.after, s.child)
}

// fillRight makes the new right page from what the old one holds.
func (s *splitting) fillRight(old, right page) {
	flags := flagsOf(old) & (flagLeaf | flagPayload | flagKilled)
	initPage(right, levelOf(old), flags)
	setPrev(right, s.buf.Block())
	setNext(right, nextOf(old))
	setDeletions(right, deletionsOf(old))
	if !isRightmost(old) {
		appendItem(right, itemAt(old, 1), storage.LineNormal)
	}
	first, newItem := int(s.rec.firstRight), int(s.rec.newItem)
	newRight := s.rec.flags&splitNewLeft == 0
	for i, n := first, itemCount(old); i <= n; i++ {
		if newRight && i == newItem {
			s.appendRight(right, s.item, storage.LineNormal)
		}
		s.appendRight(right, itemAt(old, i), lineAt(old, i).State())
	}
	if newRight && newItem == itemCount(old)+1 {
		s.appendRight(right, s.item, storage.LineNormal)
	}
}

// appendRight appends an item to the right page; the first one of an inner page
// becomes minus infinity.
func (s *splitting) appendRight(right page, item []byte, state storage.LineState) {
	if !isLeaf(right) && itemCount(right) == firstData(right)-1 {
		item = item[len(item)-childSize:]
	}
	appendItem(right, item, state)
}

// splitLeft turns the page that is split into the left half. Redo does it, too.
func splitLeft(p, scratch page, rec *splitRecord, high, item []byte, right storage.BlockNumber) {
	*scratch = *p
	old := scratch
	first, n := firstData(old), int(rec.firstRight)
	asPage(p).SetBounds(storage.PageHeaderSize, specialStart)
	appendItem(p, high, storage.LineNormal)
	newLeft, newItem := rec.flags&splitNewLeft != 0, int(rec.newItem)
	for i := first; i < n; i++ {
		if newLeft && i == newItem {
			appendItem(p, item, storage.LineNormal)
		}
		appendItem(p, itemAt(old, i), lineAt(old, i).State())
	}
	if newLeft && newItem == n {
		appendItem(p, item, storage.LineNormal)
	}
	setNext(p, right)
	setFlags(p, flagsOf(p)&^flagRoot|flagIncomplete)
}

// insertParent enters right, the new right sibling of left, in their parent, or
// makes a new root. Both are latched exclusively and are released.
func (t *Tree) insertParent(
	ctx context.Context, w *Writer, left, right *storage.Buffer, wasRoot bool, way *path,
) error {
	if wasRoot {
		return t.newRoot(ctx, w, left, right)
	}
	w.scratch.pivot = appendPivot(w.scratch.pivot[:0], highKey(pageOf(left)), right.Block())
	parent, item, err := t.findParent(ctx, w, left, way)
	right.ReleaseExclusive()
	if err != nil {
		left.ReleaseExclusive()
		return err
	}
	pivot := w.scratch.pivot
	if freeBytes(pageOf(parent)) < len(pivot)+storage.LinePointerSize {
		return t.split(ctx, w, parent, item+1, pivot, left, way)
	}
	if err := t.reserve(2); err != nil {
		parent.ReleaseExclusive()
		left.ReleaseExclusive()
		return err
	}
	t.insertOn(w, parent, item+1, pivot, left)
	parent.ReleaseExclusive()
	left.ReleaseExclusive()
	return nil
}

// findParent returns the parent of child latched exclusively and the number of
// child's item in it. It takes the last step off way.
func (t *Tree) findParent(
	ctx context.Context, w *Writer, child *storage.Buffer, way *path,
) (parent *storage.Buffer, item int, err error) {
	level, block := levelOf(pageOf(child))+1, child.Block()
	last, ok := way.pop()
	if ok {
		if parent, err = t.read(last.block); err != nil {
			return nil, 0, err
		}
		parent.LockExclusive(storage.ClassBTreeInner)
	} else {
		// The root was split after we had come down from it.
		pivot := append([]byte(nil), w.scratch.pivot...)
		if parent, err = t.leftmostOn(ctx, w, level); err != nil {
			return nil, 0, err
		}
		w.scratch.pivot = append(w.scratch.pivot[:0], pivot...)
	}
	for {
		p := pageOf(parent)
		if flagsOf(p)&flagIncomplete != 0 {
			pivot := append([]byte(nil), w.scratch.pivot...)
			parent, err = t.finishSplitOf(ctx, w, parent, level, storage.Exclusive, way)
			if err != nil {
				return nil, 0, err
			}
			w.scratch.pivot = append(w.scratch.pivot[:0], pivot...)
			continue
		}
		if !ignored(p) {
			if item := findChild(p, block, last.item); item != 0 {
				return parent, item, nil
			}
		}
		if isRightmost(p) {
			parent.ReleaseExclusive()
			return nil, 0, t.corrupted("failed to re-find parent key in index %q for split page %d",
				t.c.Name, block)
		}
		last.item = 0
		parent, err = t.stepTo(parent, nextOf(p), level, storage.Exclusive, storage.Exclusive)
		if err != nil {
			return nil, 0, err
		}
	}
}

// findChild returns the number of the item that leads to block, looking first
// where it was, or 0.
func findChild(p page, block storage.BlockNumber, hint int) int {
	first, n := firstData(p), itemCount(p)
	for i := max(hint, first); i <= n; i++ {
		if childAt(p, i) == block {
			return i
		}
	}
	for i := min(hint-1, n); i >= first; i-- {
		if childAt(p, i) == block {
			return i
		}
	}
	return 0
}

// newRoot puts a root above left and right, which the old root was split into.
// Both are latched exclusively and are released.
func (t *Tree) newRoot(ctx context.Context, w *Writer, left, right *storage.Buffer) error {
	release := func() {
		left.ReleaseExclusive()
		right.ReleaseExclusive()
	}
	lp := pageOf(left)
	level := levelOf(lp) + 1
	if int(level) >= maxLevels {
		assert.That(false, "index %q has too many levels", t.c.Name)
	}
	root, err := t.allocate(ctx, w, level)
	if err != nil {
		release()
		return err
	}
	meta, err := t.read(metaBlock)
	if err == nil {
		if err = t.reserve(3); err != nil {
			meta.Unpin()
		}
	}
	if err != nil {
		root.ReleaseExclusive()
		release()
		return err
	}
	meta.LockExclusive(storage.ClassBTreeMeta)
	wal.Critical(func() {
		for _, b := range []*storage.Buffer{root, meta, left} {
			b.MarkDirty()
		}
		rp := pageOf(root)
		t.initPage(rp, level, flagRoot)
		appendItem(rp, appendPivot(nil, nil, left.Block()), storage.LineNormal)
		appendItem(rp, appendPivot(nil, highKey(lp), right.Block()), storage.LineNormal)
		setMetaRoot(pageOf(meta), root.Block(), level)
		dropFlags(lp, flagIncomplete)
		if !t.logged {
			return
		}
		t.begin(w, kindNewRoot)
		t.register(w, 0, root, wal.WillInit|wal.Standard)
		w.Builder.BufData(0, appendContent(nil, rp)...)
		t.register(w, 1, meta, wal.Standard)
		t.register(w, 2, left, wal.Standard)
		w.Builder.Data(byte(level), byte(level>>8))
		t.log(w, root, meta, left)
	})
	t.root.Store(uint64(root.Block()) | uint64(level)<<32)
	meta.ReleaseExclusive()
	root.ReleaseExclusive()
	release()
	return nil
}

// finishSplit enters the separator that a crash or an error has kept out of the
// parent. left is latched exclusively and is released.
func (t *Tree) finishSplit(ctx context.Context, w *Writer, left *storage.Buffer, way *path) error {
	level := levelOf(pageOf(left))
	right, err := t.read(nextOf(pageOf(left)))
	if err != nil {
		left.ReleaseExclusive()
		return err
	}
	right.LockExclusive(classOf(level))
	wasRoot := false
	if way.n == 0 {
		root, _, err := t.readMeta()
		if err != nil {
			right.ReleaseExclusive()
			left.ReleaseExclusive()
			return err
		}
		wasRoot = root == left.Block()
	}
	return t.insertParent(ctx, w, left, right, wasRoot, way)
}
