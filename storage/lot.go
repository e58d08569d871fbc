package storage

import (
	"sync"
	"unsafe"
)

// parkKind says what a parked session waits for at a buffer.
type parkKind uint8

const (
	parkLatch parkKind = iota // the latch
	parkIO                    // the end of a read or write
	parkPins                  // the other pins to go
)

const lotShards = 64

// waiter is a session asleep in the lot. It wakes by its channel, which synctest can see.
type waiter struct {
	buf       *Buffer
	kind      parkKind
	exclusive bool // of a latch waiter
	wake      chan struct{}
	wokenBy   uintptr // goroutine, set before wake
	next      *waiter
}

// lot is where sessions wait for a buffer. Queues live here, not in the buffers, so that a
// buffer is one cache line and holds no pointer for the garbage collector to follow.
type lot struct {
	shards [lotShards]lotShard
}

type lotShard struct {
	mu struct {
		sync.Mutex
		head, tail *waiter
		free       *waiter
		nfree      int
	}
	_ [24]byte
}

// maxFreeWaiters bounds the waiters a shard keeps for reuse.
const maxFreeWaiters = 64

func (l *lot) shard(b *Buffer) *lotShard {
	return &l.shards[uintptr(unsafe.Pointer(b))/unsafe.Sizeof(*b)%lotShards]
}

// newWaiterLocked requires s.mu.
func (s *lotShard) newWaiterLocked(b *Buffer, kind parkKind, exclusive bool) *waiter {
	w := s.mu.free
	if w == nil {
		w = &waiter{wake: make(chan struct{}, 1)}
	} else {
		s.mu.free, s.mu.nfree = w.next, s.mu.nfree-1
	}
	w.buf, w.kind, w.exclusive, w.next = b, kind, exclusive, nil
	return w
}

// pushLocked queues w, in front of everybody for one that was woken in vain. Requires s.mu.
func (s *lotShard) pushLocked(w *waiter, front bool) {
	switch {
	case s.mu.head == nil:
		s.mu.head, s.mu.tail = w, w
	case front:
		w.next, s.mu.head = s.mu.head, w
	default:
		s.mu.tail.next, s.mu.tail = w, w
	}
}

// popLocked takes the waiters chosen by take off the queue, as a list; rest tells whether any
// of that kind stays behind. take is asked in queue order and may say stop. Requires s.mu.
func (s *lotShard) popLocked(b *Buffer, kind parkKind, take func(w *waiter) (yes, stop bool)) (popped *waiter, rest bool) {
	var prev, last *waiter
	stopped := false
	for w := s.mu.head; w != nil; {
		next := w.next
		if w.buf != b || w.kind != kind {
			prev, w = w, next
			continue
		}
		yes := false
		if !stopped {
			yes, stopped = take(w)
		}
		if !yes {
			rest = true
			prev, w = w, next
			continue
		}
		if prev == nil {
			s.mu.head = next
		} else {
			prev.next = next
		}
		if s.mu.tail == w {
			s.mu.tail = prev
		}
		w.next = nil
		if last == nil {
			popped = w
		} else {
			last.next = w
		}
		last, w = w, next
	}
	return popped, rest
}

// wakeList wakes popped waiters. Each is its sleeper's again once woken.
func wakeList(w *waiter) {
	by := Goroutine()
	for w != nil {
		next := w.next
		w.next, w.wokenBy = nil, by
		w.wake <- struct{}{}
		w = next
	}
}

// wakeAll wakes everybody of one kind at b.
func (l *lot) wakeAll(b *Buffer, kind parkKind) {
	s := l.shard(b)
	s.mu.Lock()
	popped, _ := s.popLocked(b, kind, func(*waiter) (bool, bool) { return true, false })
	s.mu.Unlock()
	wakeList(popped)
}

// recycle gives back a waiter that is on no queue.
func (s *lotShard) recycle(w *waiter) {
	s.mu.Lock()
	if s.mu.nfree < maxFreeWaiters {
		w.buf = nil
		w.next, s.mu.free = s.mu.free, w
		s.mu.nfree++
	}
	s.mu.Unlock()
}

// remove takes w off its queue; false when somebody popped it and its wake is under way.
func (s *lotShard) remove(w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	popped, _ := s.popLocked(w.buf, w.kind, func(x *waiter) (bool, bool) { return x == w, false })
	return popped != nil
}
