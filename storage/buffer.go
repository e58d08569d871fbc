package storage

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr/assert"
)

// The state word of a buffer: pins, usage for the clock sweep, flags. Changed only by
// compare-and-swap, or by adding pins while pinned.
const (
	pinUnit  uint64 = 1
	pinMask  uint64 = 1<<20 - 1
	useUnit  uint64 = 1 << 20
	useMask  uint64 = 7 << 20
	useLimit uint64 = 5 << 20
)

// The flags.
const (
	flagTagged      uint64 = 1 << (24 + iota) // in the page table
	flagValid                                 // the page is the block
	flagDirty                                 // the page is newer than the file
	flagJustDirtied                           // dirtied since the last copy for a write was taken
	flagIO                                    // a read or write is under way
	flagIOWaiters                             // somebody sleeps until it ends
	flagCheckpoint                            // the running checkpoint has to write it
	flagPinWaiter                             // somebody sleeps until its pin is the only one
)

// Buffer is a frame of the pool and what is in it. A *Buffer is good only while its caller has
// it pinned. One cache line, and no pointers: the collector skips it.
type Buffer struct {
	state atomic.Uint64
	key   [3]atomic.Uint64 // written only while pinned by one and not tagged
	latch atomic.Uint32
	next  atomic.Uint32 // id+1 of the next in the hash chain, 0 ends it
	frame uintptr       // address of the page
	id    uint32
	slot  uint32 // in its chunk
	_     [8]byte
}

const (
	chunkHeader  = 64
	chunkBuffers = 1023 // so that a chunk is 64 kB
)

// bufferChunk is a run of buffers behind what they share. Chunks are large objects whose only
// pointers come first, so the collector reads two words of each.
type bufferChunk struct {
	pool        *Pool
	latchCounts *[metrics.NumLatchClasses][metrics.NumLatchModes]metrics.Counter
	_           [chunkHeader - 16]byte
	buffers     [chunkBuffers]Buffer
}

func (b *Buffer) chunk() *bufferChunk {
	return (*bufferChunk)(unsafe.Add(unsafe.Pointer(b), -(chunkHeader + int(b.slot)*int(unsafe.Sizeof(Buffer{})))))
}

func (b *Buffer) pool() *Pool { return b.chunk().pool }

// Page returns the frame's bytes. Requires: pinned; to read, latched; to write, latched
// exclusively.
func (b *Buffer) Page() Page {
	// The frame is memory of our own mapping, or kept alive by the pool: never moved.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&b.frame)), PageSize)
}

// Tag returns which block b holds. Requires: pinned.
func (b *Buffer) Tag() BlockTag {
	return blockKey{b.key[0].Load(), b.key[1].Load(), b.key[2].Load()}.tag()
}

// Block returns the number of the block b holds. Requires: pinned.
func (b *Buffer) Block() BlockNumber { return BlockNumber(b.key[2].Load()) }

// Pin adds a pin. Requires: the caller holds one.
func (b *Buffer) Pin() {
	s := b.state.Add(pinUnit)
	assert.That(s&pinMask > 1, "pin of an unpinned buffer")
}

// Unpin gives up a pin.
func (b *Buffer) Unpin() {
	s := b.state.Add(^(pinUnit - 1))
	if s&pinMask == pinMask {
		assert.That(false, "unpin of an unpinned buffer %v", b.Tag())
	}
	if s&(flagPinWaiter|pinMask) == flagPinWaiter|pinUnit {
		b.wakePinWaiter()
	}
}

// ReleaseShared unlatches and unpins b.
func (b *Buffer) ReleaseShared() {
	b.UnlockShared()
	b.Unpin()
}

// ReleaseExclusive unlatches and unpins b.
func (b *Buffer) ReleaseExclusive() {
	b.UnlockExclusive()
	b.Unpin()
}

// MarkDirty records that the page differs from the file. It comes before the log record is
// made, so that a checkpoint that starts behind the record cannot miss the buffer.
// Requires: latched exclusively.
func (b *Buffer) MarkDirty() {
	if b.latch.Load()&latchExclusive == 0 {
		assert.That(false, "%v marked dirty without its exclusive latch", b.Tag())
	}
	const both = flagDirty | flagJustDirtied
	// The writer clears flagJustDirtied under the latch, so this cannot be out of date.
	if b.state.Load()&both != both {
		b.setFlags(both)
	}
}

// MarkDirtyHint is MarkDirty for a change that may be lost: hint bits, already in the page.
// If it is the first change of the page after a checkpoint, the page is logged, since a
// torn write would else leave a page that no checksum passes and no log repairs. If the log
// refuses, the hint stays in memory only; the error may be ignored.
// Requires: latched exclusively.
func (b *Buffer) MarkDirtyHint() error {
	const both = flagDirty | flagJustDirtied
	old := b.state.Load()
	if old&both == both {
		return nil // logged, or to be written by the running checkpoint
	}
	b.MarkDirty()
	page := b.Page()
	hints := b.pool().hints
	if hints == nil || page.LSN() == 0 || !hints.NeedsImage(page) {
		return nil
	}
	lsn, err := hints.LogHint(b)
	if err != nil {
		// Nobody copied the page meanwhile: that takes the latch.
		if old&flagDirty == 0 {
			b.clearFlags(both)
		}
		return err
	}
	page.SetLSN(lsn)
	return nil
}

// IsDirty reports whether the page is newer than the file.
func (b *Buffer) IsDirty() bool { return b.state.Load()&flagDirty != 0 }

func (b *Buffer) setFlags(flags uint64)   { b.state.Or(flags) }
func (b *Buffer) clearFlags(flags uint64) { b.state.And(^flags) }

// IsCleanup reports whether the caller's is the only pin, so that items may move.
// Requires: latched exclusively, pinned once by the caller.
func (b *Buffer) IsCleanup() bool { return b.state.Load()&pinMask == 1 }

// TryLockCleanup latches b exclusively if that needs no wait and the caller's is the only pin.
func (b *Buffer) TryLockCleanup(class LatchClass) bool {
	if !b.TryLockExclusive(class) {
		return false
	}
	if b.IsCleanup() {
		return true
	}
	b.UnlockExclusive()
	return false
}

// LockCleanup latches b exclusively once the caller's is the only pin: nobody holds a pointer
// into the page, and nobody can get one. Without an error, b is latched.
func (b *Buffer) LockCleanup(ctx context.Context, class LatchClass) error {
	for {
		b.LockExclusive(class)
		if b.IsCleanup() {
			return nil
		}
		if err := b.sleepPins(ctx); err != nil {
			return err
		}
	}
}

// sleepPins releases the latch and sleeps until somebody unpins b.
func (b *Buffer) sleepPins(ctx context.Context) error {
	var holder uintptr
	b.setFlags(flagPinWaiter)
	b.UnlockExclusive()
	s := b.pool().lot.shard(b)
	s.mu.Lock()
	// An Unpin that saw the flag cleared it and needs the shard to wake: no flag, no sleep.
	if b.state.Load()&flagPinWaiter == 0 || b.IsCleanup() {
		s.mu.Unlock()
		return nil
	}
	w := s.newWaiterLocked(b, parkPins, false)
	s.pushLocked(w, false)
	s.mu.Unlock()
	p := b.pool()
	wait := p.beginWait(WaitPins)
	defer func() {
		p.tellWait(&wait, p.endWait(&wait), Wait{Tag: b.Tag(), Mode: Exclusive, Holder: holder})
	}()
	select {
	case <-w.wake:
		holder = w.wokenBy
		s.recycle(w)
		return nil
	case <-ctx.Done():
		if !s.remove(w) {
			<-w.wake
		}
		s.recycle(w)
		return context.Cause(ctx)
	}
}

func (b *Buffer) wakePinWaiter() {
	b.clearFlags(flagPinWaiter)
	b.pool().lot.wakeAll(b, parkPins)
}
