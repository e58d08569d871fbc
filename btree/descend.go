package btree

import (
	"context"

	"github.com/minipg/minipg/storage"
)

// maxLevels bounds the height: a tree of 2^32 pages with 3 children each has
// fewer.
const maxLevels = 24

// path is the way an insertion came down: for each level from the root the page
// and the item that led on. The pages may have been split since.
type path struct {
	n     int
	steps [maxLevels]step
}

type step struct {
	block storage.BlockNumber
	item  int
}

// top is the path without its last step.
func (p *path) pop() (step, bool) {
	if p.n == 0 {
		return step{}, false
	}
	p.n--
	return p.steps[p.n], true
}

func (p *path) push(block storage.BlockNumber, item int) {
	p.steps[p.n] = step{block, item}
	p.n++
}

// latchRoot returns the root latched shared, and its level. Where the root is
// being split it may be the left part of what was the root.
func (t *Tree) latchRoot() (buf *storage.Buffer, level uint16, err error) {
	if hint := t.root.Load(); hint != 0 {
		block, level := storage.BlockNumber(uint32(hint)), uint16(hint>>32)
		if buf, err = t.read(block); err != nil {
			return nil, 0, err
		}
		buf.LockShared(classOf(level))
		p := pageOf(buf)
		if hasSpecial(p) && flagsOf(p)&(flagRoot|flagDeleted) == flagRoot && levelOf(p) == level {
			return buf, level, nil
		}
		buf.ReleaseShared()
	}
	block, level, err := t.readMeta()
	if err != nil {
		return nil, 0, err
	}
	if buf, err = t.read(block); err != nil {
		return nil, 0, err
	}
	buf.LockShared(classOf(level))
	p := pageOf(buf)
	if !hasSpecial(p) || levelOf(p) != level || flagsOf(p)&(flagDeleted|flagMeta) != 0 {
		buf.ReleaseShared()
		return nil, 0, t.corrupted("index %q has no root at block %d", t.c.Name, block)
	}
	return buf, level, nil
}

// descendShared returns the leaf that holds the place b, latched shared.
func (t *Tree) descendShared(b *bound) (*storage.Buffer, error) {
	buf, level, err := t.latchRoot()
	if err != nil {
		return nil, err
	}
	for {
		if buf, err = t.moveRightShared(buf, level, b); err != nil || level == 0 {
			return buf, err
		}
		p := pageOf(buf)
		child := childAt(p, searchChild(p, b))
		level--
		if buf, err = t.stepTo(buf, child, level, storage.Shared, storage.Shared); err != nil {
			return nil, err
		}
	}
}

// stepTo releases buf, latched in mode held, and returns another page latched in
// mode want. On an error buf is released as well.
func (t *Tree) stepTo(
	buf *storage.Buffer, to storage.BlockNumber, level uint16, held, want storage.LatchMode,
) (*storage.Buffer, error) {
	buf.Unlock(held)
	buf.Unpin()
	next, err := t.read(to)
	if err != nil {
		return nil, err
	}
	next.Lock(want, classOf(level))
	if p := pageOf(next); !hasSpecial(p) || levelOf(p) != level || flagsOf(p)&flagMeta != 0 {
		next.Unlock(want)
		next.Unpin()
		return nil, t.corrupted("block %d of index %q is not on level %d", to, t.c.Name, level)
	}
	return next, nil
}

// mustGoRight reports whether the place b lies to the right of the page.
func mustGoRight(p page, b *bound) bool {
	if isRightmost(p) {
		return false
	}
	if ignored(p) {
		return true
	}
	return b.notBehind(p)
}

// moveRightShared goes right from buf, latched shared, to the page that holds b.
func (t *Tree) moveRightShared(
	buf *storage.Buffer, level uint16, b *bound,
) (*storage.Buffer, error) {
	for {
		p := pageOf(buf)
		if !mustGoRight(p, b) {
			return buf, t.checkEnd(p, buf)
		}
		t.d.Metrics.BTreeMoveRights.Inc()
		var err error
		if buf, err = t.stepTo(buf, nextOf(p), level, storage.Shared, storage.Shared); err != nil {
			return nil, err
		}
	}
}

// checkEnd is the error for a chain that ends in a page that holds nothing. It
// releases buf then, which is latched shared.
func (t *Tree) checkEnd(p page, buf *storage.Buffer) error {
	if !ignored(p) {
		return nil
	}
	block := buf.Block()
	buf.ReleaseShared()
	return t.corrupted("fell off the end of index %q at block %d", t.c.Name, block)
}

// descendExclusive returns the leaf that holds the place b, latched exclusively,
// and leaves the way there in w's path. Splits it finds unfinished on its way it
// finishes.
func (t *Tree) descendExclusive(ctx context.Context, w *Writer, b *bound) (*storage.Buffer, error) {
	w.scratch.path.n = 0
	return t.descendTo(ctx, w, b, 0, &w.scratch.path)
}

// descendTo is descendExclusive to any level. It returns nil without an error
// when the tree is not that high.
func (t *Tree) descendTo(
	ctx context.Context, w *Writer, b *bound, target uint16, way *path,
) (*storage.Buffer, error) {
	buf, level, err := t.latchRoot()
	if err != nil {
		return nil, err
	}
	if level < target {
		buf.ReleaseShared()
		return nil, nil
	}
	mode := storage.Shared
	for {
		if level == target && mode == storage.Shared {
			// The root itself, or btree_leaf_lock = upgrade: drop the latch, take it
			// again, and look whether the page was split meanwhile.
			buf.UnlockShared()
			t.d.Metrics.BTreeRelatches.Inc()
			buf.LockExclusive(classOf(level))
			mode = storage.Exclusive
		}
		if buf, err = t.moveRight(ctx, w, buf, level, mode, b, way); err != nil || level == target {
			return buf, err
		}
		p := pageOf(buf)
		item := searchChild(p, b)
		way.push(buf.Block(), item)
		child := childAt(p, item)
		level--
		if level == target && (w.LeafLock == LeafLockExclusive || target > 0) {
			mode = storage.Exclusive
		}
		if buf, err = t.stepTo(buf, child, level, storage.Shared, mode); err != nil {
			return nil, err
		}
	}
}

// moveRight goes right from buf, latched in the given mode, to the page that
// holds b, and finishes the splits it meets.
func (t *Tree) moveRight(
	ctx context.Context, w *Writer, buf *storage.Buffer, level uint16, mode storage.LatchMode,
	b *bound, way *path,
) (*storage.Buffer, error) {
	for {
		p := pageOf(buf)
		if flagsOf(p)&flagIncomplete != 0 {
			var err error
			if buf, err = t.finishSplitOf(ctx, w, buf, level, mode, way); err != nil {
				return nil, err
			}
			continue
		}
		if !mustGoRight(p, b) {
			if ignored(p) {
				block := buf.Block()
				buf.Unlock(mode)
				buf.Unpin()
				return nil, t.corrupted("fell off the end of index %q at block %d", t.c.Name, block)
			}
			return buf, nil
		}
		t.d.Metrics.BTreeMoveRights.Inc()
		var err error
		if buf, err = t.stepTo(buf, nextOf(p), level, mode, mode); err != nil {
			return nil, err
		}
	}
}

// finishSplitOf enters the separator of buf's right sibling in the parent and
// returns buf latched as before.
func (t *Tree) finishSplitOf(
	ctx context.Context, w *Writer, buf *storage.Buffer, level uint16, mode storage.LatchMode,
	way *path,
) (*storage.Buffer, error) {
	if mode == storage.Shared {
		buf.UnlockShared()
		buf.LockExclusive(classOf(level))
	}
	block := buf.Block()
	if flagsOf(pageOf(buf))&flagIncomplete != 0 {
		parents := *way
		if err := t.finishSplit(ctx, w, buf, &parents); err != nil {
			return nil, err
		}
	} else {
		buf.ReleaseExclusive()
	}
	again, err := t.read(block)
	if err != nil {
		return nil, err
	}
	again.Lock(mode, classOf(level))
	return again, nil
}

// leftmostOn returns the leftmost page of a level, latched exclusively.
func (t *Tree) leftmostOn(ctx context.Context, w *Writer, level uint16) (*storage.Buffer, error) {
	var way path
	start := at(nil)
	buf, err := t.descendTo(ctx, w, &start, level, &way)
	if err == nil && buf == nil {
		err = t.corrupted("index %q has no level %d", t.c.Name, level)
	}
	return buf, err
}
