package storage

import (
	"github.com/minipg/minipg/pgerr"
)

// RingKind says what a ring is for.
type RingKind uint8

// The rings, with PostgreSQL's sizes.
const (
	RingBulkRead  RingKind = iota // a large scan: 256 kB
	RingBulkWrite                 // COPY, index builds: 16 MB
	RingVacuum                    // 256 kB
)

// Ring lets one bulk operation reuse its own buffers instead of driving everybody else's out.
// It belongs to one goroutine. Follows GetBufferFromRing.
type Ring struct {
	kind RingKind
	ids  []uint32 // id+1; 0 is a slot not used yet
	at   int
}

// ringRunFraction is the part of a ring that is written with one call at most.
const ringRunFraction = 4

// NewRing makes a ring, no larger than an eighth of the pool.
func (p *Pool) NewRing(kind RingKind) *Ring {
	n := 256 << 10 / PageSize
	if kind == RingBulkWrite {
		n = 16 << 20 / PageSize
	}
	return &Ring{kind: kind, ids: make([]uint32, max(1, min(n, int(p.n)/8)))}
}

// fromRing pins the ring's next buffer if nobody else uses it.
func (p *Pool) fromRing(r *Ring) *Buffer {
	r.at = (r.at + 1) % len(r.ids)
	if r.ids[r.at] == 0 {
		return nil
	}
	b := p.buffer(r.ids[r.at] - 1)
	s := b.state.Load()
	// Used by others since: leave it to them.
	if s&(pinMask|flagIO) != 0 || s&useMask > useUnit || !b.state.CompareAndSwap(s, s+pinUnit) {
		return nil
	}
	return b
}

// reject says whether a ring rather gives up its slot than wait for the log.
func (r *Ring) reject(p *Pool, lsn LSN) bool {
	return r.kind == RingBulkRead && p.log != nil && lsn > p.log.FlushedTo()
}

// unused pins a buffer that never held a block, nil when there is none left.
func (p *Pool) unused() *Buffer {
	for p.fresh.Load() < p.n {
		id := p.fresh.Add(1) - 1
		if id >= p.n {
			return nil
		}
		if b := p.buffer(id); b.state.CompareAndSwap(0, pinUnit) {
			return b
		}
	}
	return nil
}

// sweep moves the clock's hand to a buffer nobody used lately, and pins it.
func (p *Pool) sweep() *Buffer {
	if b := p.unused(); b != nil {
		return b
	}
	for idle := uint32(0); idle <= p.n; {
		b := p.buffer(uint32((p.hand.Add(1) - 1) % uint64(p.n)))
		s := b.state.Load()
		switch {
		case s&pinMask != 0:
			idle++
		case s&useMask != 0:
			b.state.CompareAndSwap(s, s-useUnit)
			idle = 0
		case b.state.CompareAndSwap(s, s+pinUnit):
			return b
		}
	}
	return nil
}

// maxVictimTries bounds the search for a victim, in rounds of the clock.
const maxVictimTries = 8

// victim returns a buffer pinned once and in no chain. Its page is garbage. A dirty one is
// written first; if that fails it stays dirty, and the error goes to the caller.
func (p *Pool) victim(ring *Ring) (*Buffer, error) {
	for range maxVictimTries * int(p.n) {
		var b *Buffer
		fromRing := false
		if ring != nil {
			// A ring drives nobody out of a buffer that holds nothing.
			if b = p.unused(); b != nil {
				p.taken.Add(1)
				return b, nil
			}
			b = p.fromRing(ring)
			fromRing = b != nil
		}
		if b == nil {
			b = p.sweep()
		}
		if b == nil {
			break
		}
		written, err := p.cleanVictim(b, ring, fromRing)
		if err != nil {
			b.Unpin()
			return nil, err
		}
		if !written || !p.evict(b) {
			b.Unpin()
			continue
		}
		if ring != nil {
			ring.ids[ring.at] = b.id + 1
		}
		p.taken.Add(1)
		return b, nil
	}
	return nil, pgerr.New(pgerr.OutOfMemory, "no unpinned buffers available")
}

// cleanVictim writes b if it is dirty; ok is false when another victim is better.
func (p *Pool) cleanVictim(b *Buffer, ring *Ring, fromRing bool) (ok bool, err error) {
	if b.state.Load()&flagDirty == 0 {
		return true, nil
	}
	if fromRing && ring.kind == RingBulkWrite {
		return p.writeFromRing(b, ring)
	}
	var reject func(LSN) bool
	if fromRing && ring.kind == RingBulkRead {
		reject = func(lsn LSN) bool { return ring.reject(p, lsn) }
	}
	ok, err = p.writeBuffer(b, writeOptions{noWait: true, reject: reject})
	if !ok && fromRing {
		ring.ids[ring.at] = 0
	}
	if ok {
		p.metrics.BlocksWrittenBack.AddAt(b.id, 1)
	}
	return ok, err
}

// writeFromRing writes b and those of the ring's next buffers that lie behind it on disk: the ring of
// a bulk load holds its blocks in their order. They are clean when their turn comes.
func (p *Pool) writeFromRing(b *Buffer, ring *Ring) (ok bool, err error) {
	run := p.runs.Get().(*writeRun)
	defer p.runs.Put(run)
	b.Pin() // the run's
	if !run.add(p, b, false) {
		b.Unpin()
		if ok = b.state.Load()&flagDirty == 0; !ok {
			ring.ids[ring.at] = 0
		}
		return ok, nil
	}
	key := b.loadKey()
	// Only some of the ring: the log has to be flushed up to the last one.
	for i := 1; i < min(maxRun, len(ring.ids)/ringRunFraction); i++ {
		id := ring.ids[(ring.at+i)%len(ring.ids)]
		if id == 0 {
			break
		}
		next := p.buffer(id - 1)
		if _, ok := next.pinTaggedCold(); !ok {
			break
		}
		k := next.loadKey()
		if !adjacent(key, k) || !run.add(p, next, false) {
			next.Unpin()
			break
		}
		key = k
	}
	n := run.n
	if err := run.write(p); err != nil {
		return false, err
	}
	p.metrics.BlocksWrittenBack.AddAt(b.id, int64(n))
	return true, nil
}

// evict takes b, pinned by the caller, out of the table; false when somebody wants it.
func (p *Pool) evict(b *Buffer) bool {
	if b.state.Load()&flagTagged == 0 {
		return true
	}
	k := b.loadKey()
	hash := k.hash()
	shard := p.table.shard(hash)
	shard.Lock()
	defer shard.Unlock()
	for {
		s := b.state.Load()
		if s&pinMask != pinUnit || s&(flagDirty|flagIO) != 0 {
			return false
		}
		if b.state.CompareAndSwap(s, pinUnit) {
			break
		}
	}
	p.unlinkLocked(b, hash)
	p.metrics.BufferEvictions.AddAt(b.id, 1)
	return true
}
