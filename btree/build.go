package btree

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// Entry is one entry of a bulk build.
type Entry struct {
	Key     []byte
	TID     TID
	Payload []byte
}

const (
	buildBatch     = 16 // pages logged by one record
	buildExtension = 64 // most blocks added to the file at a time
)

// BulkBuild fills an empty main fork that nobody else knows of with the entries
// next returns in the order of key and TID, and makes it durable by the log as
// every change. The memory of an entry is not used any more when next is called
// again. Uniqueness is for the caller to see to: equal keys come together.
func BulkBuild(
	ctx context.Context, d Deps, c Config, w *Writer, next func() (e Entry, ok bool, err error),
) (*Tree, error) {
	t := Open(d, c)
	b, err := t.newBuilder(ctx, w)
	if err != nil {
		return nil, err
	}
	defer b.close()
	for {
		e, ok, err := next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return t, b.finish()
		}
		if err := t.prepare(w, e.Key, e.TID, e.Payload); err != nil {
			return nil, err
		}
		if err := b.add(w.scratch.item); err != nil {
			return nil, err
		}
	}
}

// builder builds a tree from the left to the right, all levels at once. Each
// level has one page in the making.
type builder struct {
	ctx    context.Context
	t      *Tree
	w      *Writer
	levels []*buildLevel
	used   storage.BlockNumber // blocks given out
	blocks storage.BlockNumber // length of the file
	last   []byte              // compared part of the last entry
	batch  []*storage.Buffer   // finished pages, latched, not yet logged
	ring   *storage.Ring
}

type buildLevel struct {
	level uint16
	block storage.BlockNumber
	page  page
	limit int // bytes to leave free
}

func (t *Tree) newBuilder(ctx context.Context, w *Writer) (*builder, error) {
	blocks, err := t.d.Pool.Files().NBlocks(t.c.Rel, storage.MainFork)
	if err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, t: t, w: w, used: firstRoot, blocks: blocks}
	b.ring = t.d.Pool.NewRing(storage.RingBulkWrite)
	b.addLevel(none)
	return b, nil
}

// close lets go of pages that were not logged, after an error.
func (b *builder) close() {
	for _, buf := range b.batch {
		buf.ReleaseExclusive()
	}
	b.batch = nil
}

// addLevel begins a level whose first page has the given child.
func (b *builder) addLevel(child storage.BlockNumber) *buildLevel {
	level := uint16(len(b.levels))
	l := &buildLevel{level: level, block: b.used, page: new([storage.PageSize]byte)}
	b.used++
	fill := b.t.c.FillFactor
	if level > 0 {
		fill = innerFillFactor
	}
	l.limit = pageCapacity * (100 - fill) / 100
	b.t.initPage(l.page, level, 0)
	if level > 0 {
		appendItem(l.page, appendPivot(nil, nil, child), storage.LineNormal)
	}
	b.levels = append(b.levels, l)
	return l
}

// The pages in the making have no high key yet: it is put in when the page is
// finished, and the items are numbered from 1 until then.

// add appends a leaf item.
func (b *builder) add(item []byte) error {
	l, key := b.levels[0], b.t.entryKey(item)
	if b.last != nil && compareKeys(b.last, key) >= 0 {
		return b.t.corrupted("entries for index %q do not come in order", b.t.c.Name)
	}
	if !l.fits(item, len(key)+1) {
		sep := separator(b.last, key)
		if err := b.finishPage(l, sep); err != nil {
			return err
		}
	}
	appendItem(l.page, item, storage.LineNormal)
	b.last = append(b.last[:0], key...)
	return nil
}

// fits tells whether the page takes the item, within the fill factor, and a high
// key of the given length after it.
func (l *buildLevel) fits(item []byte, high int) bool {
	free := freeBytes(l.page) - len(item) - storage.LinePointerSize
	if free < high+storage.LinePointerSize {
		return false
	}
	return free >= l.limit || itemCount(l.page) < 2
}

// finishPage gives the level's page its high key, hands it over to be written,
// enters the next one in the parent and begins it.
func (b *builder) finishPage(l *buildLevel, high []byte) error {
	if err := b.ctx.Err(); err != nil {
		return pgerr.From(context.Cause(b.ctx))
	}
	high = bytes.Clone(high)
	next := b.used
	b.used++
	setNext(l.page, next)
	insertItem(l.page, 1, high)
	if err := b.write(l); err != nil {
		return err
	}
	prev := l.block
	l.block = next
	b.t.initPage(l.page, l.level, 0)
	setPrev(l.page, prev)
	return b.addPivot(int(l.level)+1, prev, high, next)
}

// addPivot enters a child and its separator on an inner level; left is the child
// before it.
func (b *builder) addPivot(
	level int, left storage.BlockNumber, sep []byte, child storage.BlockNumber,
) error {
	if level == len(b.levels) {
		b.addLevel(left)
	}
	l := b.levels[level]
	item := appendPivot(nil, sep, child)
	if l.fits(item, 0) {
		appendItem(l.page, item, storage.LineNormal)
		return nil
	}
	if freeBytes(l.page) >= len(sep)+storage.LinePointerSize {
		if err := b.finishPage(l, sep); err != nil {
			return err
		}
		appendItem(l.page, appendPivot(nil, nil, child), storage.LineNormal)
		return nil
	}
	// No room for this separator as high key: the last item makes room, as it
	// becomes the high key itself and its child goes to the next page.
	n := itemCount(l.page)
	lastItem := bytes.Clone(itemAt(l.page, n))
	removeItems(l.page, []uint16{uint16(n)})
	lastSep := lastItem[:len(lastItem)-childSize]
	if err := b.finishPage(l, lastSep); err != nil {
		return err
	}
	moved := storage.BlockNumber(binary.LittleEndian.Uint32(lastItem[len(lastSep):]))
	appendItem(l.page, appendPivot(nil, nil, moved), storage.LineNormal)
	appendItem(l.page, item, storage.LineNormal)
	return nil
}

// finish writes the rightmost pages and, last, the meta page.
func (b *builder) finish() error {
	top := b.levels[len(b.levels)-1]
	addFlags(top.page, flagRoot)
	for _, l := range b.levels {
		if err := b.write(l); err != nil {
			return err
		}
	}
	meta := buildLevel{block: metaBlock, page: new([storage.PageSize]byte)}
	flags := pageFlags(0)
	if b.t.c.Payload {
		flags = flagPayload
	}
	initMeta(meta.page, top.block, top.level, flags)
	if err := b.write(&meta); err != nil {
		return err
	}
	if err := b.flush(); err != nil {
		return err
	}
	b.t.root.Store(uint64(top.block) | uint64(top.level)<<32)
	if b.blocks == b.used {
		return nil
	}
	fsm := b.t.d.Pool.FSM()
	for block := b.used; block < b.blocks; block++ {
		if err := fsm.RecordFreePage(b.t.c.Rel, block); err != nil {
			return err
		}
	}
	return fsm.VacuumIndex(b.t.c.Rel)
}

// write copies a finished page into its buffer.
func (b *builder) write(l *buildLevel) error {
	if l.block >= b.blocks {
		if err := b.extend(l.block + 1); err != nil {
			return err
		}
	}
	buf, err := b.t.d.Pool.ReadZeroed(b.t.tag(l.block))
	if err != nil {
		return err
	}
	buf.LockExclusive(classOf(l.level))
	copy(buf.Page(), l.page[:])
	b.batch = append(b.batch, buf)
	if len(b.batch) == buildBatch {
		return b.flush()
	}
	return nil
}

// extend makes the file at least n blocks long.
func (b *builder) extend(n storage.BlockNumber) error {
	more := max(min(b.blocks, buildExtension), n-b.blocks, 1)
	err := b.t.d.Pool.Files().EnsureBlocks(b.t.c.Rel, storage.MainFork, b.blocks+more)
	if err == nil {
		b.blocks += more
	}
	return err
}

// flush logs the pages of the batch and lets go of them.
func (b *builder) flush() error {
	if len(b.batch) == 0 {
		return nil
	}
	if err := b.t.reserve(len(b.batch)); err != nil {
		return err
	}
	wal.Critical(func() {
		for _, buf := range b.batch {
			buf.MarkDirty()
		}
		if !b.t.logged {
			return
		}
		lsn := b.t.d.Log.LogPages(b.w.Builder, b.w.xid(), b.batch, wal.Standard)
		for _, buf := range b.batch {
			buf.Page().SetLSN(lsn)
		}
	})
	b.close()
	b.batch = b.batch[:0]
	return nil
}
