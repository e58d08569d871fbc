package storage

import (
	"context"
	"path"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
)

// ExtendPolicy says how many blocks an extension adds.
type ExtendPolicy uint8

// The policies.
const (
	// ExtendFixed adds a fixed number of blocks. With 1, PostgreSQL before 9.6.
	ExtendFixed ExtendPolicy = metrics.ExtendFixed
	// ExtendWaiters adds one block, and 20 for each holder and waiter after a wait: 9.6.
	ExtendWaiters ExtendPolicy = metrics.ExtendWaiters
	// ExtendBulk adds what the caller wants times one more than holder and waiters: 16.
	ExtendBulk ExtendPolicy = metrics.ExtendBulk
	// ExtendGroup lets the first who comes add blocks for all who come while it waits.
	ExtendGroup ExtendPolicy = metrics.ExtendGroup
)

// String is the policy as the setting has it.
func (p ExtendPolicy) String() string { return metrics.ExtendPolicyNames[p] }

// Bounds of an extension.
const (
	// MaxExtendPins bounds the buffers one extension pins; further blocks are file space only.
	MaxExtendPins = 64
	// MaxFixedBlocks bounds ExtendSettings.Blocks.
	MaxFixedBlocks = 4096

	maxWaitersBlocks   = 512 // of ExtendWaiters
	blocksPerWaiter    = 20
	maxBulkBlocks      = 64 // of ExtendBulk
	allocateFromBlocks = 9  // blocks from which on space is allocated rather than zeros written

	// prepareFraction is the part of the pool that all extensions together may keep prepared
	// beyond one buffer each.
	prepareFraction = 4
)

// ExtensionLocker is the lock under which a relation file grows, as one session sees it. It is
// the last lock anybody takes: its holder waits only for latches of new pages and for I/O.
type ExtensionLocker interface {
	// Lock waits; ctx cancels the wait. A session that has it may take it again.
	Lock(ctx context.Context, db uint32, file uint64) error
	TryLock(db uint32, file uint64) bool
	Unlock(db uint32, file uint64)
	// Waiters counts the holder and those who wait.
	Waiters(db uint32, file uint64) int
}

// ExtendSettings are the settings relation_extension_*.
type ExtendSettings struct {
	Policy ExtendPolicy
	// Blocks is N of ExtendFixed, 1 to MaxFixedBlocks; 0 is 1.
	Blocks int
	// PublishSelf keeps the surplus for the session; else it goes to the free space map.
	PublishSelf bool
	// PrepareUnder finds and cleans buffers while holding the lock; else before taking it.
	PrepareUnder bool
	// Recheck looks in the free space map again after a wait.
	Recheck bool
}

// ExtendOptions describe one extension.
type ExtendOptions struct {
	// State is the session's; nil for a caller that has none: one block, under no lock but the
	// file's own.
	State *ExtendState
	// Wanted is how many blocks the caller has rows for, the first included; 0 is 1.
	// ExtendBulk and ExtendGroup heed it; the others beyond the first stay with the session.
	Wanted int
	// NeedBytes is the space the caller looks for. 0: the free space map knows nothing of use
	// to the caller, is not looked at, and gets no surplus (the session keeps it).
	NeedBytes int
	Class     LatchClass // of the new block's latch
	Ring      *Ring
}

// Extended is what an extension came to.
type Extended struct {
	// Buffer is the new block, pinned, latched exclusively, all zeros. Nil when the recheck
	// found room in Block instead: look there first, under its latch; come back if it is gone.
	Buffer *Buffer
	Block  BlockNumber
	Added  int // blocks added to the file, for whomever
}

// extendCounts are minipg_stat_extension's columns.
type extendCounts struct {
	extends, blocks, waits, fsmHits atomic.Int64
}

// ExtendStats counts the extensions of one fork.
type ExtendStats struct {
	Rel                             RelFile
	Fork                            Fork
	Extends, Blocks, Waits, FSMHits int64
}

// extension is one Extend at work.
type extension struct {
	pool     *Pool
	ff       *forkFile
	settings ExtendSettings
	o        ExtendOptions
	locker   ExtensionLocker
	since    time.Time // the lock is held

	prepared [MaxExtendPins]*Buffer
	n        int // of prepared
}

// Extend adds blocks to a fork and returns one of them for the caller, under the session's
// settings. Nothing is logged: blocks that nothing uses after a crash are zeros, and VACUUM
// finds them.
// Errors: 53100 when the disk is full, 54000 at the largest size, ctx's cause when the wait for
// the lock is cancelled.
func (p *Pool) Extend(ctx context.Context, rel RelFile, fork Fork, o ExtendOptions) (Extended, error) {
	e := extension{pool: p, ff: p.files.fork(rel, fork), o: o, locker: noLocker{}}
	if o.State != nil {
		o.State.pool = p
		e.settings = o.State.Settings
		if o.State.Locker != nil {
			e.locker = o.State.Locker
		}
	}
	if e.settings.Policy == ExtendGroup {
		return e.group(ctx)
	}
	return e.alone(ctx)
}

// noLocker leaves it to forkFile.extend to exclude others.
type noLocker struct{}

func (noLocker) Lock(context.Context, uint32, uint64) error { return nil }
func (noLocker) TryLock(uint32, uint64) bool                { return true }
func (noLocker) Unlock(uint32, uint64)                      {}
func (noLocker) Waiters(uint32, uint64) int                 { return 1 }

func (e *extension) db() uint32   { return e.ff.key.rel.Database }
func (e *extension) file() uint64 { return uint64(e.ff.key.rel.Number) }

func (e *extension) wanted() int { return max(1, e.o.Wanted) }

func (e *extension) usesFSM() bool { return e.o.NeedBytes > 0 && e.ff.key.fork == MainFork }

// alone extends for this session.
func (e *extension) alone(ctx context.Context) (Extended, error) {
	defer e.giveBack()
	if !e.settings.PrepareUnder {
		if err := e.prepare(e.size(false)); err != nil {
			return Extended{}, err
		}
	}
	waited, err := e.lock(ctx)
	if err != nil {
		return Extended{}, err
	}
	if waited && e.settings.Recheck && e.usesFSM() {
		block, ok, err := e.pool.fsm.Search(e.ff.key.rel, e.o.NeedBytes)
		if ok || err != nil {
			e.unlock()
			if ok {
				e.ff.stats.fsmHits.Add(1)
				e.pool.metrics.ExtensionFSMHits.Inc()
			}
			return Extended{Block: block}, err
		}
	}
	n := e.size(waited)
	if e.settings.Policy == ExtendBulk && !e.settings.PrepareUnder {
		n = max(e.n, min(e.wanted(), maxBulkBlocks)) // as PostgreSQL 16: decided before the lock
	}
	if e.settings.PrepareUnder {
		err = e.prepare(n)
	}
	var first BlockNumber
	if err == nil {
		first, err = e.grow(n, nil)
	}
	if err != nil {
		e.unlock()
		return Extended{}, err
	}
	buf := e.take()
	// What a recheck may look for has to be there when the next one gets the lock.
	if e.settings.Recheck {
		err = e.publish(ctx, first+1, n-1)
		e.unlock()
	} else {
		e.unlock()
		err = e.publish(ctx, first+1, n-1)
	}
	if err != nil {
		buf.ReleaseExclusive()
		return Extended{}, err
	}
	return Extended{Buffer: buf, Block: first, Added: n}, nil
}

// size is how many blocks to add.
func (e *extension) size(waited bool) int {
	switch e.settings.Policy {
	case ExtendFixed:
		return min(max(1, e.settings.Blocks), MaxFixedBlocks)
	case ExtendWaiters:
		if !waited {
			return 1
		}
		return 1 + min(maxWaitersBlocks, blocksPerWaiter*e.locker.Waiters(e.db(), e.file()))
	default:
		return min(maxBulkBlocks, e.wanted()*(1+e.locker.Waiters(e.db(), e.file())))
	}
}

// lock takes the extension lock, and tells whether it had to wait.
func (e *extension) lock(ctx context.Context) (waited bool, err error) {
	if !e.locker.TryLock(e.db(), e.file()) {
		waited = true
		e.ff.stats.waits.Add(1)
		if e.settings.Policy == ExtendWaiters && !e.settings.PrepareUnder {
			// What the formula will give if nobody comes or goes.
			if err := e.prepare(1 + blocksPerWaiter*(e.locker.Waiters(e.db(), e.file())+1)); err != nil {
				return waited, err
			}
		}
		if err := e.locker.Lock(ctx, e.db(), e.file()); err != nil {
			return waited, err
		}
	}
	if metrics.Counting {
		e.since = time.Now()
	}
	return waited, nil
}

func (e *extension) unlock() {
	if metrics.Counting {
		e.pool.metrics.RelationExtendHoldSeconds.Observe(time.Since(e.since).Seconds())
	}
	e.locker.Unlock(e.db(), e.file())
}

// prepare finds, cleans and zeroes buffers until n are at hand: at least one, and no more than
// the pool can spare.
func (e *extension) prepare(n int) error {
	n = min(n, MaxExtendPins)
	for e.n < max(n, 1) {
		if e.n > 0 && !e.pool.mayPrepare() {
			return nil
		}
		b, err := e.pool.victim(e.o.Ring)
		if err != nil && e.n > 0 {
			e.pool.extraPin.Add(-1)
			if pgerr.HasCode(err, pgerr.OutOfMemory) {
				return nil // all pinned: make do with fewer
			}
		}
		if err != nil {
			return err
		}
		clear(b.Page())
		e.prepared[e.n] = b
		e.n++
	}
	return nil
}

// mayPrepare takes one of the pins that extensions share.
func (p *Pool) mayPrepare() bool {
	if p.extraPin.Add(1) <= int64(p.n)/prepareFraction {
		return true
	}
	p.extraPin.Add(-1)
	return false
}

// giveBack returns what was prepared and not used.
func (e *extension) giveBack() {
	for i, b := range e.prepared[:e.n] {
		if b != nil {
			b.Unpin()
			e.prepared[i] = nil
		}
	}
	e.pool.extraPin.Add(-int64(max(0, e.n-1))) // the first was not one of the shared
	e.n = 0
}

// take hands out the first prepared buffer, which now is the caller's block.
func (e *extension) take() *Buffer {
	b := e.prepared[0]
	e.prepared[0] = nil
	return b
}

// grow adds n blocks for this session and, behind them, what the followers want. The prepared
// buffers become the first blocks of each; its very first stays pinned and latched exclusively
// for its owner, the others are free to be read by anybody.
// Requires: the extension lock; a prepared buffer each.
func (e *extension) grow(n int, followers *groupRequest) (first BlockNumber, err error) {
	total := n
	for r := followers; r != nil; r = r.next {
		total += r.wanted
	}
	files := e.pool.files
	e.ff.extend.Lock()
	defer e.ff.extend.Unlock()
	if first, err = files.length(e.ff); err != nil {
		return 0, err
	}
	wait := e.pool.beginWait(WaitFileExtend)
	err = files.growLocked(e.ff, first, total)
	e.pool.endWait(&wait)
	if err != nil {
		return 0, err
	}
	e.installRun(e.prepared[:e.n], first, n, e.o.Class)
	at := first + BlockNumber(n)
	for r := followers; r != nil; r = r.next {
		r.first = at
		e.installRun(r.prepared[:r.n], at, r.wanted, r.class)
		at += BlockNumber(r.wanted)
	}
	e.ff.nblocks.Store(int64(at))
	e.ff.stats.extends.Add(1)
	e.ff.stats.blocks.Add(int64(total))
	e.pool.metrics.RelationExtends[e.settings.Policy].Inc()
	e.pool.metrics.RelationExtendBlocks.Observe(float64(total))
	return first, nil
}

func (e *extension) installRun(buffers []*Buffer, first BlockNumber, n int, class LatchClass) {
	assert.That(len(buffers) > 0, "an extension without a buffer")
	e.install(buffers[0], first, true, class)
	for i := 1; i < min(n, len(buffers)); i++ {
		e.install(buffers[i], first+BlockNumber(i), false, class)
		buffers[i].Unpin()
		buffers[i] = nil
	}
}

// install enters a prepared buffer as a block that is in the file already, as zeros: valid and
// clean. Nobody can know of the block before nblocks says so.
func (e *extension) install(b *Buffer, block BlockNumber, latch bool, class LatchClass) {
	p := e.pool
	k := keyOf(BlockTag{e.ff.key.rel, e.ff.key.fork, block})
	hash := k.hash()
	if latch {
		ok := b.latch.CompareAndSwap(0, latchExclusive)
		assert.That(ok, "a free buffer is latched")
		b.countLatch(class, Exclusive)
	}
	shard := p.table.shard(hash)
	shard.Lock()
	defer shard.Unlock()
	old, _ := p.lookupLocked(k, hash, false)
	assert.That(old == nil, "a new block is in the pool before it is in the file")
	p.linkLocked(b, k, hash, pinUnit|useUnit|flagValid)
}

// publish gives away n blocks from first on: to the session what the caller wants, the rest to
// whom the setting says.
func (e *extension) publish(ctx context.Context, first BlockNumber, n int) error {
	if n <= 0 {
		return nil
	}
	state := e.o.State
	mine := 0
	if state != nil {
		if mine = min(n, e.wanted()-1); e.settings.PublishSelf || !e.usesFSM() {
			mine = n
		}
		if mine > 0 && !state.keep(e.ff.key, first, mine) {
			mine = 0
		}
	}
	if rest := n - mine; rest > 0 && e.ff.key.fork == MainFork {
		return e.pool.fsm.recordMany(ctx, e.locker, e.ff.key.rel, first+BlockNumber(mine), rest, emptyPageSpace)
	}
	return nil
}

// emptyPageSpace is what a new heap page offers.
const emptyPageSpace = PageSize - PageHeaderSize - LinePointerSize

// EnsureBlocks makes a fork, created when missing, at least n blocks long. For redo.
func (f *Files) EnsureBlocks(rel RelFile, fork Fork, n BlockNumber) error {
	return f.ensureBlocks(f.fork(rel, fork), n)
}

func (f *Files) ensureBlocks(ff *forkFile, n BlockNumber) error {
	if ff.nblocks.Load() >= int64(n) {
		return nil
	}
	ff.extend.Lock()
	defer ff.extend.Unlock()
	length, err := f.length(ff)
	if ff.nblocks.Load() == lengthMissing {
		if err = f.createLocked(ff); err == nil {
			length, err = f.length(ff)
		}
	}
	if err != nil || length >= n {
		return err
	}
	if err := f.growLocked(ff, length, int(n-length)); err != nil {
		return err
	}
	ff.nblocks.Store(int64(n))
	return nil
}

// growLocked adds n zeroed blocks to the file behind first, its length. The length everybody
// sees is the caller's to change. Requires ff.extend.
func (f *Files) growLocked(ff *forkFile, first BlockNumber, n int) error {
	if int64(first)+int64(n) > maxBlocks {
		return pgerr.New(pgerr.ProgramLimitExceeded, "cannot extend file \"%s\" beyond %d blocks", relPath(ff.key.rel, ff.key.fork), int64(maxBlocks))
	}
	for n > 0 {
		in := int(min(int64(n), int64(segmentBlocks-first%segmentBlocks)))
		if err := f.growSegment(ff, first, in); err != nil {
			return err
		}
		first, n = first+BlockNumber(in), n-in
	}
	return nil
}

func (f *Files) growSegment(ff *forkFile, first BlockNumber, n int) error {
	seg, err := f.segment(ff, int(first/segmentBlocks))
	if err != nil {
		return err
	}
	// Only a segment behind the first may be missing: the first is Create's.
	fresh := first%segmentBlocks == 0 && first > 0
	err = seg.use(fresh, func(file File) error {
		return f.appendZeros(file, int64(first%segmentBlocks)*PageSize, int64(n)*PageSize)
	})
	if err != nil {
		return FileError(err, "could not extend file \"%s\"", relPath(ff.key.rel, ff.key.fork))
	}
	f.needSync(seg)
	if fresh {
		f.needDirSync(path.Dir(seg.path))
	}
	return nil
}

// appendZeros makes [off, off+n) of file zeros. A failed extension or truncation, or a crash, may
// have left bytes there.
func (f *Files) appendZeros(file File, off, n int64) error {
	size, err := file.Size()
	if err != nil {
		return err
	}
	for n > 0 && (size > off || n < allocateFromBlocks*PageSize) {
		m, err := file.WriteAt(f.zeros[:min(n, int64(len(f.zeros)))], off)
		if err != nil {
			return err
		}
		off, n = off+int64(m), n-int64(m)
	}
	if n == 0 {
		return nil
	}
	return file.Allocate(off, n)
}

// ExtendStats calls yield for every fork that was extended since the start or the last reset.
func (p *Pool) ExtendStats(yield func(ExtendStats)) {
	p.files.eachFork(func(ff *forkFile) {
		s := ExtendStats{
			Rel: ff.key.rel, Fork: ff.key.fork, Extends: ff.stats.extends.Load(), Blocks: ff.stats.blocks.Load(),
			Waits: ff.stats.waits.Load(), FSMHits: ff.stats.fsmHits.Load(),
		}
		if s.Extends+s.Waits > 0 {
			yield(s)
		}
	})
}

// ResetExtendStats zeroes what ExtendStats tells.
func (p *Pool) ResetExtendStats() {
	p.files.eachFork(func(ff *forkFile) {
		for _, c := range []*atomic.Int64{&ff.stats.extends, &ff.stats.blocks, &ff.stats.waits, &ff.stats.fsmHits} {
			c.Store(0)
		}
	})
}

func (f *Files) eachFork(fn func(*forkFile)) {
	for i := range f.shards {
		s := &f.shards[i]
		s.RLock()
		for _, ff := range s.forks {
			fn(ff)
		}
		s.RUnlock()
	}
}
