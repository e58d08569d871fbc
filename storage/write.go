package storage

import (
	"cmp"
	"context"
	"slices"

	"github.com/minipg/minipg/pgerr/assert"
)

// writeOptions say how hard to try to write a buffer.
type writeOptions struct {
	noWait bool // give up rather than wait for a latch or for another writer
	// reject may refuse after all, given the page's LSN.
	reject func(LSN) bool
}

// beginWrite makes the caller the one writer of b, pinned, if b is dirty.
func (p *Pool) beginWrite(b *Buffer, noWait bool) bool {
	for {
		s := b.state.Load()
		if s&flagDirty == 0 || s&flagValid == 0 {
			return false
		}
		if s&flagIO != 0 {
			if noWait {
				return false
			}
			p.waitIO(b)
			continue
		}
		if b.state.CompareAndSwap(s, s|flagIO) {
			return true
		}
	}
}

// copyForWrite copies b's page as it stands; false when the latch is taken and noWait.
// Requires: the caller is b's writer.
func (p *Pool) copyForWrite(b *Buffer, to []byte, noWait bool) bool {
	if !noWait {
		b.LockShared(ClassOther)
	} else if !b.TryLockShared(ClassOther) {
		return false
	}
	// From here on a change is not in the copy.
	b.clearFlags(flagJustDirtied)
	copy(to, b.Page())
	b.UnlockShared()
	return true
}

// abandonWrite ends a write that did not happen.
func (p *Pool) abandonWrite(b *Buffer) {
	b.setFlags(flagJustDirtied) // the copy is thrown away: the next writer needs no other sign
	p.endIO(b, 0, 0)
}

// finishWrite ends a write that did happen.
func (p *Pool) finishWrite(b *Buffer) {
	for {
		s := b.state.Load()
		n := s &^ (flagIO | flagIOWaiters)
		if s&flagJustDirtied == 0 {
			n &^= flagDirty | flagCheckpoint
		}
		if b.state.CompareAndSwap(s, n) {
			if s&flagIOWaiters != 0 {
				p.lot.wakeAll(b, parkIO)
			}
			return
		}
	}
}

// flushLog upholds invariant 1: a block may be written once the log describes it durably.
func (p *Pool) flushLog(lsn LSN) error {
	if p.log == nil || p.cfg.UnsafeNoLogFlush || lsn <= p.log.FlushedTo() {
		return nil
	}
	wait := p.beginWait(WaitLogFlush)
	defer p.endWait(&wait)
	return p.log.Flush(lsn)
}

// writeBuffer writes b, pinned, if it is dirty. ok means that the page as of some moment during
// the call is in the file's cache. The page is copied under the latch and checksummed and
// written without it, so nobody waits for the disk.
func (p *Pool) writeBuffer(b *Buffer, o writeOptions) (ok bool, err error) {
	if !p.beginWrite(b, o.noWait) {
		return b.state.Load()&flagDirty == 0, nil
	}
	scratch := p.pages.Get().(*[PageSize]byte)
	defer p.pages.Put(scratch)
	page := Page(scratch[:])
	if !p.copyForWrite(b, page, o.noWait) || o.reject != nil && o.reject(page.LSN()) {
		p.abandonWrite(b)
		return false, nil
	}
	if err := p.flushLog(page.LSN()); err != nil {
		p.abandonWrite(b)
		return false, err
	}
	tag := b.Tag()
	page.SetChecksum(tag.Block)
	wait := p.beginWait(WaitFileWrite)
	err = p.files.WriteBlocks(tag, page)
	p.endWait(&wait)
	if err != nil {
		p.abandonWrite(b)
		return false, err
	}
	p.finishWrite(b)
	p.metrics.BlocksWritten.AddAt(b.id, 1)
	return true, nil
}

// maxRun is the largest number of adjacent blocks written with one call.
const maxRun = 16

// writeRun is adjacent dirty buffers on their way to disk together.
type writeRun struct {
	buffers [maxRun]*Buffer
	n       int
	bytes   [maxRun * PageSize]byte
}

// add copies b for writing behind the others; false leaves b alone.
// The first of a run may wait; the others must not, since whoever holds their latch may be
// waiting for the run's end.
func (r *writeRun) add(p *Pool, b *Buffer, wait bool) bool {
	if r.n == maxRun || !p.beginWrite(b, !wait) {
		return false
	}
	if !p.copyForWrite(b, r.bytes[r.n*PageSize:(r.n+1)*PageSize], !wait) {
		p.abandonWrite(b)
		return false
	}
	r.buffers[r.n] = b
	r.n++
	return true
}

// write writes the run and unpins its buffers.
func (r *writeRun) write(p *Pool) error {
	var lsn LSN
	first := r.buffers[0].Tag()
	for i := range r.n {
		page := Page(r.bytes[i*PageSize : (i+1)*PageSize])
		lsn = max(lsn, page.LSN())
		page.SetChecksum(first.Block + BlockNumber(i))
	}
	err := p.flushLog(lsn)
	if err == nil {
		wait := p.beginWait(WaitFileWrite)
		err = p.files.WriteBlocks(first, r.bytes[:r.n*PageSize])
		p.endWait(&wait)
	}
	for _, b := range r.buffers[:r.n] {
		if err != nil {
			p.abandonWrite(b)
		} else {
			p.finishWrite(b)
			p.metrics.BlocksWritten.AddAt(b.id, 1)
		}
		b.Unpin()
	}
	clear(r.buffers[:r.n])
	r.n = 0
	return err
}

// FlushOptions say what FlushAll writes and how fast.
type FlushOptions struct {
	// SkipUnlogged leaves out pages no log record ever touched (LSN 0): those of unlogged
	// relations and of the free space map, which a crash may lose.
	SkipUnlogged bool
	// Pace, if set, is called after each write; it sleeps as the checkpoint's schedule wants,
	// and stops it with an error. total is the number of blocks to be written.
	Pace func(done, total int) error
}

type flushItem struct {
	key blockKey
	id  uint32
}

// FlushAll writes every buffer that is dirty when it starts, in the order of the files, and
// returns how many. The files are not synced: SyncPending does that. Buffers dirtied later
// are not waited for. On error the rest stays dirty.
func (p *Pool) FlushAll(ctx context.Context, o FlushOptions) (written int, err error) {
	return p.flushItems(ctx, p.dirtyItems(nil), o)
}

// FlushRelation writes the dirty buffers of all forks of rel.
func (p *Pool) FlushRelation(rel RelFile) error {
	_, err := p.flushItems(context.Background(), p.dirtyItems(func(k blockKey) bool { return k.rel() == rel }), FlushOptions{})
	return err
}

// FlushDatabase writes the dirty buffers of a database.
func (p *Pool) FlushDatabase(ctx context.Context, db uint32) error {
	_, err := p.flushItems(ctx, p.dirtyItems(func(k blockKey) bool { return uint32(k[0]) == db }), FlushOptions{})
	return err
}

// dirtyItems marks and collects the dirty buffers that match. A write by anybody else while
// the checkpoint runs takes the mark away.
func (p *Pool) dirtyItems(match func(blockKey) bool) []flushItem {
	var items []flushItem
	for id := range p.n {
		b := p.buffer(id)
		if b.state.Load()&flagDirty == 0 {
			continue
		}
		k := b.loadKey()
		if match != nil && !match(k) {
			continue
		}
		if p.markForCheckpoint(b) {
			items = append(items, flushItem{k, id})
		}
	}
	slices.SortFunc(items, func(a, b flushItem) int {
		return cmp.Or(cmp.Compare(a.key[0], b.key[0]), cmp.Compare(a.key[1], b.key[1]), cmp.Compare(a.key[2], b.key[2]))
	})
	return items
}

func (p *Pool) markForCheckpoint(b *Buffer) bool {
	for {
		s := b.state.Load()
		if s&flagDirty == 0 {
			return false
		}
		if b.state.CompareAndSwap(s, s|flagCheckpoint) {
			return true
		}
	}
}

func (p *Pool) flushItems(ctx context.Context, items []flushItem, o FlushOptions) (written int, err error) {
	run := p.runs.Get().(*writeRun)
	defer p.runs.Put(run)
	for at := 0; at < len(items); {
		if err := ctx.Err(); err != nil {
			return written, err
		}
		took := p.collectRun(run, items[at:], o.SkipUnlogged)
		at += took
		n := run.n
		if n > 0 {
			if err := run.write(p); err != nil {
				return written, err
			}
			p.metrics.BlocksCheckpoint.Add(int64(n))
			written += n
		}
		if o.Pace != nil {
			if err := o.Pace(at, len(items)); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// collectRun fills run from the head of items, and returns how many of them it dealt with.
func (p *Pool) collectRun(run *writeRun, items []flushItem, skipUnlogged bool) (took int) {
	assert.That(run.n == 0, "run in use")
	for i, it := range items {
		first := run.n == 0
		if !first && !adjacent(items[i-1].key, it.key) {
			return i
		}
		b := p.buffer(it.id)
		if !p.pinMarked(b, it.key) {
			if first {
				return i + 1 // written or dropped by somebody else
			}
			return i
		}
		if skipUnlogged && p.isUnlogged(b) {
			b.clearFlags(flagCheckpoint)
			b.Unpin()
			if first {
				return i + 1
			}
			return i
		}
		if !run.add(p, b, first) {
			b.Unpin()
			if first {
				return i + 1
			}
			return i
		}
	}
	return len(items)
}

// adjacent reports whether b is the block behind a in the same segment.
func adjacent(a, b blockKey) bool {
	return a[0] == b[0] && a[1] == b[1] && a[2]+1 == b[2] && b.block()%segmentBlocks != 0
}

// pinMarked pins b if it still holds k and the checkpoint still has to write it.
func (p *Pool) pinMarked(b *Buffer, k blockKey) bool {
	if _, ok := b.pinTaggedCold(); !ok {
		return false
	}
	if b.hasKey(k) && b.state.Load()&flagCheckpoint != 0 {
		return true
	}
	b.Unpin()
	return false
}

func (p *Pool) isUnlogged(b *Buffer) bool {
	b.LockShared(ClassOther)
	defer b.UnlockShared()
	return b.Page().LSN() == 0
}

// minCleanAhead is how many buffers the background writer looks at even when none is taken.
const minCleanAhead = 128

// CleanSome writes up to n dirty buffers that the clock's hand is about to reach and nobody
// used lately, so that sessions find clean victims. For the background writer. It looks about
// twice as far as the hand went since the last call.
func (p *Pool) CleanSome(n int) (written int, err error) {
	c := &p.cleaner
	c.Lock()
	defer c.Unlock()
	hand, taken := p.hand.Load(), p.taken.Load()
	ahead := min(max(2*(taken-c.taken), minCleanAhead), uint64(p.n))
	c.taken = taken
	if c.next < hand {
		c.next = hand
	}
	for ; c.next < hand+ahead && written < n; c.next++ {
		b := p.buffer(uint32(c.next % uint64(p.n)))
		s := b.state.Load()
		if s&flagDirty == 0 || s&(pinMask|useMask|flagIO) != 0 || !b.state.CompareAndSwap(s, s+pinUnit) {
			continue
		}
		ok, err := p.writeBuffer(b, writeOptions{noWait: true})
		b.Unpin()
		if err != nil {
			return written, err
		}
		if ok {
			p.metrics.BlocksBackground.Inc()
			written++
		}
	}
	return written, nil
}
