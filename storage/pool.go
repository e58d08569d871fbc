package storage

import (
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
)

// Bounds of a pool.
const (
	MinBuffers = 16
	MaxBuffers = 1 << 30
)

// PoolConfig says how large a pool is and what it stands on.
type PoolConfig struct {
	Buffers int // of PageSize each
	FS      FS
	Dir     string       // the data directory
	Metrics *metrics.Set // nil discards
	Log     LogFlusher   // nil: nothing is logged, as in tests
	Hints   HintLogger   // nil: hint bits are never logged
	// MaxOpenFiles bounds the open segment files; 0 is DefaultMaxOpenFiles.
	MaxOpenFiles int
	// NoSync makes SyncPending and Sync do nothing, as fsync = off.
	NoSync bool
	// Sessions, if set, shows sessions as waiting.
	Sessions Sessions
	// OnWait, if set, is told of every sleep that others are the cause of, after it, by who slept.
	OnWait func(Wait)

	// UnsafeNoLogFlush breaks the rule that the log goes first. It exists so that the crash
	// simulation can show that it would notice.
	UnsafeNoLogFlush bool
}

// Pool is the buffer pool. All methods may be called concurrently.
type Pool struct {
	cfg      PoolConfig
	metrics  *metrics.Set
	log      LogFlusher
	hints    HintLogger
	sessions Sessions
	onWait   func(Wait)
	waits    [numWaitEvents]metrics.WaitEvent

	files *Files
	fsm   FSM
	vm    VM

	n      uint32
	frames *frames
	chunks []*bufferChunk
	table  *pageTable
	lot    lot

	fresh    atomic.Uint32 // buffers never used start here
	hand     atomic.Uint64 // of the clock, counts on forever
	taken    atomic.Uint64 // victims, for the background writer
	extraPin atomic.Int64  // buffers prepared for extensions

	pages    sync.Pool // *[PageSize]byte, for private copies
	runs     sync.Pool // *writeRun
	requests sync.Pool // *groupRequest

	cleaner struct {
		sync.Mutex
		next  uint64 // where the background writer goes on
		taken uint64 // p.taken at its last round
	}
}

// NewPool makes a pool of empty buffers. It touches no file.
func NewPool(cfg PoolConfig) (*Pool, error) {
	if cfg.Buffers < MinBuffers || cfg.Buffers > MaxBuffers {
		return nil, pgerr.New(pgerr.InvalidParameterValue, "%d is outside the valid range for parameter \"shared_buffers\" (%d .. %d)",
			cfg.Buffers, MinBuffers, MaxBuffers)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard()
	}
	p := &Pool{
		cfg: cfg, metrics: cfg.Metrics, log: cfg.Log, hints: cfg.Hints, sessions: cfg.Sessions, onWait: cfg.OnWait,
		n:     uint32(cfg.Buffers),
		table: newPageTable(cfg.Buffers),
	}
	p.files = newFiles(cfg.FS, cfg.Dir, cfg.MaxOpenFiles, cfg.NoSync)
	p.fsm.pool, p.vm.pool = p, p
	p.pages.New = func() any { return new([PageSize]byte) }
	p.runs.New = func() any { return new(writeRun) }
	p.requests.New = newGroupRequest
	for e := range numWaitEvents {
		p.waits[e] = p.metrics.WaitEvent(e.Names())
	}
	var err error
	if p.frames, err = newFrames(p, cfg.Buffers); err != nil {
		return nil, pgerr.Wrap(err, pgerr.OutOfMemory, "could not allocate %d buffers", cfg.Buffers)
	}
	for id := uint32(0); id < p.n; {
		c := &bufferChunk{pool: p, latchCounts: &p.metrics.LatchAcquisitions}
		p.chunks = append(p.chunks, c)
		for slot := uint32(0); slot < chunkBuffers && id < p.n; slot, id = slot+1, id+1 {
			b := &c.buffers[slot]
			b.id, b.slot, b.frame = id, slot, p.frames.address(id)
		}
	}
	return p, nil
}

// Close closes the files and frees the frames. Nothing is written: FlushAll and SyncPending
// come first. Requires: nobody uses the pool or a page of it any more.
func (p *Pool) Close() error {
	err := p.files.close()
	p.frames.free()
	return err
}

// Files returns the relation files under the pool.
func (p *Pool) Files() *Files { return p.files }

// FSM returns the free space map.
func (p *Pool) FSM() *FSM { return &p.fsm }

// VM returns the visibility map.
func (p *Pool) VM() *VM { return &p.vm }

// Buffers is the pool's size.
func (p *Pool) Buffers() int { return int(p.n) }

// SetLog sets the log behind the pool. For a log that is opened after it; before any use.
func (p *Pool) SetLog(log LogFlusher, hints HintLogger) { p.log, p.hints = log, hints }

func (p *Pool) buffer(id uint32) *Buffer {
	return &p.chunks[id/chunkBuffers].buffers[id%chunkBuffers]
}

// Pinned counts the pinned buffers: 0 when every session is idle. For tests and checks.
func (p *Pool) Pinned() (n int) {
	for id := range p.n {
		if p.buffer(id).state.Load()&pinMask != 0 {
			n++
		}
	}
	return n
}

// Dirty counts the buffers that are newer than the file.
func (p *Pool) Dirty() (n int) {
	for id := range p.n {
		if p.buffer(id).IsDirty() {
			n++
		}
	}
	return n
}

// Read returns the block in a buffer, pinned and not latched. The checksum was verified when it
// came from disk; a page of a map that fails it, or is new, comes as an empty one. ring, if not nil, bounds the share of the pool a bulk operation takes.
// Errors: 58P01 when the file is missing, XX001 for a block behind the end or a bad page,
// 58030 for failed I/O, 53200 when every buffer is pinned.
func (p *Pool) Read(tag BlockTag, ring *Ring) (*Buffer, error) {
	k := keyOf(tag)
	hash := k.hash()
	b, s := p.lookup(k, hash, ring == nil)
	if b != nil && s&flagValid != 0 {
		p.metrics.BufferHits.AddAt(b.stripe(), 1)
		return b, nil
	}
	if b != nil {
		return p.complete(b, false)
	}
	return p.readMiss(k, hash, ring, false)
}

// ReadZeroed returns the block in a buffer, pinned and not latched, without reading it: all
// zeros unless it was in the pool. The file, and the fork, are made to reach to the block.
// For redo, and for callers that know the block holds nothing.
func (p *Pool) ReadZeroed(tag BlockTag) (*Buffer, error) {
	k := keyOf(tag)
	hash := k.hash()
	if b, _ := p.lookup(k, hash, true); b != nil {
		return p.complete(b, true)
	}
	if err := p.files.EnsureBlocks(tag.Rel, tag.Fork, tag.Block+1); err != nil {
		return nil, err
	}
	return p.readMiss(k, hash, nil, true)
}

// readMiss brings k into the pool, unless somebody just did.
func (p *Pool) readMiss(k blockKey, hash uint64, ring *Ring, zeroed bool) (*Buffer, error) {
	shard := p.table.shard(hash)
	shard.Lock()
	b, _ := p.lookupLocked(k, hash, ring == nil)
	shard.Unlock()
	if b != nil {
		return p.complete(b, zeroed)
	}
	if err := p.files.checkBlock(k.tag()); err != nil {
		return nil, err
	}
	victim, err := p.victim(ring)
	if err != nil {
		return nil, err
	}
	shard.Lock()
	if b, _ := p.lookupLocked(k, hash, ring == nil); b != nil {
		shard.Unlock()
		victim.Unpin()
		return p.complete(b, zeroed)
	}
	p.linkLocked(victim, k, hash, pinUnit|useUnit|flagIO)
	shard.Unlock()
	p.metrics.BufferMisses.AddAt(victim.stripe(), 1)
	if err := p.load(victim, zeroed); err != nil {
		return nil, err
	}
	return victim, nil
}

// complete waits until b, pinned, is valid, or reads it itself when the reader failed.
func (p *Pool) complete(b *Buffer, zeroed bool) (*Buffer, error) {
	for {
		s := b.state.Load()
		if s&flagValid != 0 {
			p.metrics.BufferHits.AddAt(b.stripe(), 1)
			return b, nil
		}
		if s&flagIO != 0 {
			p.waitIO(b)
			continue
		}
		if b.state.CompareAndSwap(s, s|flagIO) {
			if err := p.load(b, zeroed); err != nil {
				return nil, err
			}
			return b, nil
		}
	}
}

// load fills b, whose flagIO the caller set. On error b is unpinned.
func (p *Pool) load(b *Buffer, zeroed bool) error {
	page := b.Page()
	if zeroed {
		clear(page)
		p.endIO(b, 0, flagValid)
		return nil
	}
	tag := b.Tag()
	wait := p.beginWait(WaitFileRead)
	err := p.files.ReadBlock(tag, page)
	p.endWait(&wait)
	if err == nil && !page.VerifyChecksum(tag.Block) {
		if tag.Fork == MainFork {
			err = pgerr.New(pgerr.DataCorrupted, "invalid page in block %d of relation %s", tag.Block, relPath(tag.Rel, tag.Fork))
		} else {
			clear(page) // maps are hints or promises: an empty one is always right
		}
	}
	if err == nil && tag.Fork != MainFork && page.IsNew() {
		page.initMap()
	}
	if err != nil {
		p.endIO(b, 0, 0)
		b.Unpin()
		return err
	}
	p.endIO(b, 0, flagValid)
	return nil
}

// endIO ends b's read or write, and wakes who waited for it.
func (p *Pool) endIO(b *Buffer, clearFlags, setFlags uint64) {
	for {
		s := b.state.Load()
		assert.That(s&flagIO != 0, "end of I/O that never began")
		if b.state.CompareAndSwap(s, s&^(clearFlags|flagIO|flagIOWaiters)|setFlags) {
			if s&flagIOWaiters != 0 {
				p.lot.wakeAll(b, parkIO)
			}
			return
		}
	}
}

// waitIO sleeps until the I/O on b, pinned, ends, if one is under way.
func (p *Pool) waitIO(b *Buffer) {
	shard := p.lot.shard(b)
	shard.mu.Lock()
	for {
		s := b.state.Load()
		if s&flagIO == 0 {
			shard.mu.Unlock()
			return
		}
		if b.state.CompareAndSwap(s, s|flagIOWaiters) {
			break
		}
	}
	w := shard.newWaiterLocked(b, parkIO, false)
	shard.pushLocked(w, false)
	shard.mu.Unlock()
	wait := p.beginWait(WaitBufferIO)
	<-w.wake
	p.endWait(&wait)
	shard.recycle(w)
}
