package locks

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
)

// DefaultExtensionEntries is the length of the table in the patch.
const DefaultExtensionEntries = 1024

// The word of an entry: the lock bit, below it the number of waiters, above it
// the number of acquisitions, which so costs nothing to keep.
const (
	entryHeld     = 1 << 31
	entryWaiters  = entryHeld - 1
	entryAcquired = 1 << 32
)

// ExtensionTable is the lock on extending relations as it was tried on
// pgsql-hackers in 2017-20: a fixed array of words. Relations that fall on one
// entry share its lock. There is no owner, no deadlock search and, uncontended,
// nothing but one compare-and-swap and one subtraction.
//
// A release wakes one waiter, not all of them as the patch does: the others
// would find the lock taken and sleep again. The woken one does not get the
// lock handed over but competes for it, and goes back to the head of the line
// where it loses, so a lock under load never waits for a goroutine to be
// scheduled.
type ExtensionTable struct {
	entries []extensionEntry
	metrics *metrics.Set
	counted struct {
		sync.Mutex
		acquired []uint32 // of each entry, when last looked at
		sum      int64
	}
}

type extensionEntry struct {
	word atomic.Uint64
	mu   sync.Mutex
	head *Extension // of the waiters, linked by Extension.next
	tail *Extension
	_    [32]byte // one entry a cache line
}

// NewExtensionTable makes a table with the given number of entries, of which
// there is at least one.
func NewExtensionTable(entries int, set *metrics.Set) *ExtensionTable {
	if set == nil {
		set = metrics.Discard()
	}
	t := &ExtensionTable{entries: make([]extensionEntry, max(entries, 1)), metrics: set}
	t.counted.acquired = make([]uint32, len(t.entries))
	set.ExtensionLockAcquisitions.AddSource(t.acquisitions)
	return t
}

// acquisitions sums what the entries have counted. Theirs wrap, the sum does
// not as long as somebody looks now and then.
func (t *ExtensionTable) acquisitions() int64 {
	t.counted.Lock()
	defer t.counted.Unlock()
	for i := range t.entries {
		now := uint32(t.entries[i].word.Load() >> 32)
		t.counted.sum += int64(now - t.counted.acquired[i])
		t.counted.acquired[i] = now
	}
	return t.counted.sum
}

// Slot is the entry a relation falls on; the lab picks relations by it.
func (t *ExtensionTable) Slot(db uint32, file uint64) int {
	const m = 0x9E3779B97F4A7C15
	h := (file ^ uint64(db)<<32) * m
	// The high half of a product spreads over any length, not only powers of 2.
	return int((h >> 32) * uint64(len(t.entries)) >> 32)
}

// tryLock takes the entry if it is free.
func (e *extensionEntry) tryLock() bool {
	for {
		w := e.word.Load()
		if w&entryHeld != 0 {
			return false
		}
		if e.word.CompareAndSwap(w, w+entryHeld+entryAcquired) {
			return true
		}
	}
}

// wakeOne wakes the first waiter, if there is one; pid is who had the entry.
func (e *extensionEntry) wakeOne(pid int32) {
	e.mu.Lock()
	x := e.head
	if x != nil {
		e.unlinkLocked(x)
	}
	e.mu.Unlock()
	if x != nil {
		x.wokenBy = pid
		x.wake <- struct{}{}
	}
}

// unlinkLocked requires e.mu.
func (e *extensionEntry) unlinkLocked(x *Extension) {
	if x.prev != nil {
		x.prev.next = x.next
	} else {
		e.head = x.next
	}
	if x.next != nil {
		x.next.prev = x.prev
	} else {
		e.tail = x.prev
	}
	x.prev, x.next, x.queued = nil, nil, false
}

// queueLocked requires e.mu.
func (e *extensionEntry) queueLocked(x *Extension, first bool) {
	x.queued = true
	switch {
	case e.head == nil:
		e.head, e.tail = x, x
	case first:
		x.next, e.head.prev, e.head = e.head, x, x
	default:
		x.prev, e.tail.next, e.tail = e.tail, x, x
	}
}

// lockSlow sleeps until it gets the entry or ctx ends.
func (t *ExtensionTable) lockSlow(ctx context.Context, e *extensionEntry, x *Extension, db uint32, file uint64) error {
	e.word.Add(1)
	defer e.word.Add(^uint64(0))
	m := x.s.m
	start := m.clock()
	outer := x.s.beginWait(m.lockEvents[TypeExtend], start)
	slept, err := t.sleep(ctx, e, x)
	end := m.clock()
	x.s.endWait(outer, end)
	t.metrics.ExtensionLockWaitSeconds.Observe(end.Sub(start).Seconds())
	if metrics.Counting && slept && m.onWait != nil {
		m.onWait(Wait{
			Tag: ExtendTag(db, file), Mode: Exclusive, PID: x.s.pid, Holder: x.wokenBy, Start: start,
			Duration: end.Sub(start),
		})
	}
	return err
}

// sleep queues for e until it gets it; slept is false when it came free first.
func (t *ExtensionTable) sleep(ctx context.Context, e *extensionEntry, x *Extension) (slept bool, err error) {
	x.wokenBy = 0
	for ; ; slept = true {
		e.mu.Lock()
		// Under the mutex: an unlock that comes after this finds x in the queue.
		if e.tryLock() {
			e.mu.Unlock()
			return slept, nil
		}
		e.queueLocked(x, slept)
		e.mu.Unlock()
		t.metrics.ExtensionLockSleep.Inc()
		select {
		case <-x.wake:
		case <-ctx.Done():
			e.giveUp(x)
			return true, pgerr.From(context.Cause(ctx))
		}
	}
}

// giveUp leaves the queue, and passes a wake-up on that came too late.
func (e *extensionEntry) giveUp(x *Extension) {
	e.mu.Lock()
	queued := x.queued
	if queued {
		e.unlinkLocked(x)
	}
	e.mu.Unlock()
	if queued {
		return
	}
	<-x.wake
	if e.word.Load()&entryHeld == 0 {
		e.wakeOne(x.wokenBy)
	}
}
