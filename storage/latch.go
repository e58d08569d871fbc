package storage

import (
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr/assert"
)

// LatchClass says what a latched page is, for the counts.
type LatchClass uint8

// The latch classes.
const (
	ClassHeap       LatchClass = metrics.LatchHeap
	ClassBTreeLeaf  LatchClass = metrics.LatchBTreeLeaf
	ClassBTreeInner LatchClass = metrics.LatchBTreeInner
	ClassBTreeMeta  LatchClass = metrics.LatchBTreeMeta
	ClassFSM        LatchClass = metrics.LatchFSM
	ClassVM         LatchClass = metrics.LatchVM
	ClassOther      LatchClass = metrics.LatchOther
)

// String is the class as metrics and views show it.
func (c LatchClass) String() string { return metrics.LatchClassNames[c] }

// LatchMode is shared or exclusive.
type LatchMode uint8

// The latch modes.
const (
	Shared    LatchMode = metrics.LatchShared
	Exclusive LatchMode = metrics.LatchExclusive
)

// String is the mode as metrics and views show it.
func (m LatchMode) String() string { return metrics.LatchModeNames[m] }

// The latch word. A newcomer takes a free latch even when others wait (they have to be
// scheduled first; handing it over would leave it idle until then), but only maxBarge times in
// a row: then newcomers queue, so nobody starves.
const (
	latchUnit      uint32 = 1
	latchCount     uint32 = 1<<20 - 1
	latchExclusive uint32 = 1 << 20
	latchWaiters   uint32 = 1 << 21 // the queue is not empty
	latchWoken     uint32 = 1 << 22 // a waiter was woken and has not run yet: wake no other
	latchBargeUnit uint32 = 1 << 24
	latchBarge     uint32 = 15 << 24 // acquisitions by newcomers since the last one by a waiter

	latchSpins     = 12
	latchSpinPause = 24
)

// latchTake returns the word after an acquisition by a newcomer, ok false when it must wait.
func latchTake(w uint32, exclusive bool) (uint32, bool) {
	blocked := latchExclusive
	add := latchUnit
	if exclusive {
		blocked, add = latchExclusive|latchCount, latchExclusive
	}
	if w&blocked != 0 {
		return 0, false
	}
	if w&latchWaiters != 0 {
		if w&latchBarge == latchBarge {
			return 0, false
		}
		add += latchBargeUnit
	}
	return w + add, true
}

// latchTakeWoken is latchTake for a waiter that was woken.
func latchTakeWoken(w uint32, exclusive bool) (uint32, bool) {
	blocked := latchExclusive
	add := latchUnit
	if exclusive {
		blocked, add = latchExclusive|latchCount, latchExclusive
	}
	if w&blocked != 0 {
		return 0, false
	}
	return w&^(latchBarge|latchWoken) + add, true
}

// Lock latches b in the given mode.
func (b *Buffer) Lock(mode LatchMode, class LatchClass) {
	if mode == Exclusive {
		b.LockExclusive(class)
	} else {
		b.LockShared(class)
	}
}

// Unlock releases a latch taken in the given mode.
func (b *Buffer) Unlock(mode LatchMode) {
	if mode == Exclusive {
		b.UnlockExclusive()
	} else {
		b.UnlockShared()
	}
}

// LockShared latches b for reading. Requires: the caller holds a pin, and no latch on b.
func (b *Buffer) LockShared(class LatchClass) {
	w := b.latch.Load()
	if w&(latchExclusive|latchWaiters) != 0 || !b.latch.CompareAndSwap(w, w+latchUnit) {
		b.lockSlow(class, false)
	}
	b.countLatch(class, Shared)
}

// LockExclusive latches b for writing. Requires: the caller holds a pin, and no latch on b.
func (b *Buffer) LockExclusive(class LatchClass) {
	if !b.latch.CompareAndSwap(0, latchExclusive) {
		b.lockSlow(class, true)
	}
	b.countLatch(class, Exclusive)
}

func (b *Buffer) tryLock(exclusive bool) bool {
	for {
		w := b.latch.Load()
		n, ok := latchTake(w, exclusive)
		if !ok {
			return false
		}
		if b.latch.CompareAndSwap(w, n) {
			return true
		}
	}
}

// TryLockShared is LockShared that gives up rather than wait.
func (b *Buffer) TryLockShared(class LatchClass) bool {
	if !b.tryLock(false) {
		return false
	}
	b.countLatch(class, Shared)
	return true
}

// TryLockExclusive is LockExclusive that gives up rather than wait.
func (b *Buffer) TryLockExclusive(class LatchClass) bool {
	if !b.tryLock(true) {
		return false
	}
	b.countLatch(class, Exclusive)
	return true
}

// TryUpgrade turns the caller's shared latch into an exclusive one if nobody else shares it.
func (b *Buffer) TryUpgrade(class LatchClass) bool {
	for {
		w := b.latch.Load()
		if w&latchCount != 1 {
			return false
		}
		if b.latch.CompareAndSwap(w, w-latchUnit+latchExclusive) {
			b.countLatch(class, Exclusive)
			return true
		}
	}
}

// Downgrade turns the caller's exclusive latch into a shared one.
func (b *Buffer) Downgrade() {
	w := b.latch.Add(^uint32(latchExclusive - latchUnit - 1))
	if w&(latchWaiters|latchWoken) == latchWaiters {
		b.wakeLatch()
	}
}

// UnlockShared releases a shared latch.
func (b *Buffer) UnlockShared() {
	w := b.latch.Add(^uint32(latchUnit - 1))
	if w&latchCount == latchCount {
		b.notLatched(Shared)
	}
	if w&(latchCount|latchWaiters|latchWoken) == latchWaiters {
		b.wakeLatch()
	}
}

// UnlockExclusive releases an exclusive latch.
func (b *Buffer) UnlockExclusive() {
	w := b.latch.Add(^uint32(latchExclusive - 1))
	if w&latchExclusive != 0 {
		b.notLatched(Exclusive)
	}
	if w&(latchWaiters|latchWoken) == latchWaiters {
		b.wakeLatch()
	}
}

//go:noinline
func (b *Buffer) notLatched(mode LatchMode) {
	assert.That(false, "release of a %s latch that is not held on %v", mode, b.Tag())
}

// HoldsExclusive reports whether somebody holds b exclusively. For assertions: the caller may
// conclude only that it does not hold the latch itself.
func (b *Buffer) HoldsExclusive() bool { return b.latch.Load()&latchExclusive != 0 }

// lockSlow spins, then sleeps, until it has the latch.
func (b *Buffer) lockSlow(class LatchClass, exclusive bool) {
	if b.spinLatch(exclusive) {
		return
	}
	pool := b.pool()
	wait := pool.beginWait(WaitLatch)
	slept, holder := b.sleepLatch(pool, exclusive)
	if !slept {
		wait.hide()
		return
	}
	mode := Shared
	if exclusive {
		mode = Exclusive
	}
	b.countLatchWait(&wait, class, mode, holder)
}

// AwaitHolder sleeps until done says which goroutine, with b latched exclusively, did what the
// caller wants the latch for. It counts as a sleep for the latch.
func (b *Buffer) AwaitHolder(class LatchClass, done <-chan uintptr) {
	pool := b.pool()
	wait := pool.beginWait(WaitLatch)
	holder := <-done
	b.countLatchWait(&wait, class, Exclusive, holder)
}

func (b *Buffer) countLatchWait(wait *waiting, class LatchClass, mode LatchMode, holder uintptr) {
	pool := b.pool()
	waited := pool.endWait(wait)
	set := pool.metrics
	set.LatchWaits[class][mode].AddAt(b.stripe(), 1)
	set.LatchWaitNanos[class][mode].AddAt(b.stripe(), waited.Nanoseconds())
	set.LatchWaitSeconds[class].ObserveAt(b.stripe(), waited.Seconds())
	pool.tellWait(wait, waited, Wait{Tag: b.Tag(), Class: class, Mode: mode, Holder: holder})
}

func (b *Buffer) spinLatch(exclusive bool) bool {
	for range latchSpins {
		w := b.latch.Load()
		if n, ok := latchTake(w, exclusive); ok {
			if b.latch.CompareAndSwap(w, n) {
				return true
			}
			continue
		}
		if w&latchBarge == latchBarge {
			return false
		}
		for range latchSpinPause {
			_ = b.latch.Load()
		}
	}
	return false
}

// sleepLatch queues for the latch until it has it; slept is false when it came free first. holder
// is the goroutine that woke it last.
func (b *Buffer) sleepLatch(pool *Pool, exclusive bool) (slept bool, holder uintptr) {
	s := pool.lot.shard(b)
	var w *waiter
	for {
		s.mu.Lock()
		if b.takeOrMarkWaiting(exclusive, slept) {
			s.mu.Unlock()
			if w != nil {
				s.recycle(w)
			}
			return slept, holder
		}
		if w == nil {
			w = s.newWaiterLocked(b, parkLatch, exclusive)
		}
		s.pushLocked(w, slept)
		s.mu.Unlock()
		<-w.wake
		slept, holder = true, w.wokenBy
	}
}

// takeOrMarkWaiting takes the latch, or tells whoever holds it that somebody will be queued.
// The caller holds the lot's shard, which the holder needs in order to wake: so no wake is lost.
func (b *Buffer) takeOrMarkWaiting(exclusive, woken bool) bool {
	for {
		w := b.latch.Load()
		var n uint32
		var ok bool
		if woken {
			n, ok = latchTakeWoken(w, exclusive)
		} else {
			n, ok = latchTake(w, exclusive)
		}
		if !ok {
			n = w | latchWaiters
			if woken {
				n &^= latchWoken
			}
		}
		if b.latch.CompareAndSwap(w, n) {
			return ok
		}
	}
}

// wakeLatch wakes the first waiter, or all shared ones at the head of the queue.
func (b *Buffer) wakeLatch() {
	s := b.pool().lot.shard(b)
	s.mu.Lock()
	first := true
	popped, rest := s.popLocked(b, parkLatch, func(w *waiter) (yes, stop bool) {
		if w.exclusive {
			yes, stop = first, true
		} else {
			yes = true
		}
		first = false
		return yes, stop
	})
	for {
		w := b.latch.Load()
		n := w
		if !rest {
			n &^= latchWaiters | latchBarge
		}
		if popped != nil {
			n |= latchWoken
		}
		if b.latch.CompareAndSwap(w, n) {
			break
		}
	}
	s.mu.Unlock()
	wakeList(popped)
}
