package locks

import (
	"context"
	"time"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
)

// sleep queues the session for a lock that cannot be granted now and parks it
// until it is, until ctx ends, the time-out strikes, or a deadlock is found. It
// requires p.mu and releases it. The place in the queue follows PostgreSQL's
// ProcSleep: ahead of the first waiter who waits for a lock we hold.
func (s *Session) sleep(
	ctx context.Context, p *partition, l *lock, h *hold, mode Mode, opts LockOptions,
) error {
	m := s.m
	before, granted, deadlocked := l.placeLocked(mode, h.mask())
	if granted {
		l.grantLocked(mode)
		h.held |= mode.bit()
		p.mu.Unlock()
		return nil
	}
	if deadlocked != nil {
		err := simpleDeadlock(s, l, mode, deadlocked)
		m.abandonLocked(p, l, h, mode)
		p.mu.Unlock()
		m.metrics.Deadlocks.Inc()
		return err
	}
	l.enqueueLocked(s, before)
	l.waitMask |= mode.bit()
	s.wait.lock, s.wait.hold, s.wait.mode = l, h, mode
	s.wait.start = m.now()
	start, tag := s.wait.start, l.tag
	holder := l.holderLocked(s)
	p.mu.Unlock()
	typ := tag.Type

	m.metrics.ProcSleep[typ][mode].Inc()
	m.metrics.ProcSleeping[typ].Add(1)
	outer := s.beginWait(m.lockEvents[typ], start)
	err := s.park(ctx, p, opts.Timeout)
	end := m.clock()
	s.endWait(outer, end)
	m.metrics.ProcSleeping[typ].Add(-1)
	m.metrics.LockWaitSeconds[typ].Observe(end.Sub(start).Seconds())
	if metrics.Counting && m.onWait != nil {
		m.onWait(Wait{
			Tag: tag.public(), Mode: mode, PID: s.pid, Holder: holder, Start: start, Duration: end.Sub(start),
		})
	}
	return err
}

// holderLocked is a session that s, queued, waits for: one that holds the lock, or is ahead in the
// queue. It requires the partition's mutex.
func (l *lock) holderLocked(s *Session) int32 {
	against := conflictTable[s.wait.mode]
	for h := l.holds; h != nil; h = h.next {
		if h.session != s && h.mask()&against != 0 {
			return h.session.pid
		}
	}
	for w := l.head; w != nil && w != s; w = w.wait.next {
		if w.wait.mode.bit()&against != 0 {
			return w.pid
		}
	}
	return 0
}

// placeLocked finds the waiter to queue in front of (nil: at the end), unless
// the lock can be granted at once after all, or a waiter we would have to wait
// for waits for us. It requires the partition's mutex.
func (l *lock) placeLocked(
	mode Mode, mine modeMask,
) (before *Session, granted bool, deadlocked *Session) {
	if mine == 0 {
		return nil, false, nil
	}
	var ahead modeMask
	for w := l.head; w != nil; w = w.wait.next {
		if conflictTable[w.wait.mode]&mine != 0 { // w waits for us
			if conflictTable[mode]&w.wait.hold.mask() != 0 {
				return nil, false, w
			}
			if conflictTable[mode]&ahead == 0 && !l.conflictsLocked(mode, mine) {
				return nil, true, nil
			}
			return w, false, nil
		}
		ahead |= w.wait.mode.bit()
	}
	return nil, false, nil
}

// enqueueLocked requires the partition's mutex.
func (l *lock) enqueueLocked(s, before *Session) {
	s.wait.next = before
	if before == nil {
		s.wait.prev = l.tail
		l.tail = s
	} else {
		s.wait.prev = before.wait.prev
		before.wait.prev = s
	}
	if s.wait.prev != nil {
		s.wait.prev.wait.next = s
	} else {
		l.head = s
	}
}

// dequeueLocked requires the partition's mutex. Afterwards s waits for nothing.
func (l *lock) dequeueLocked(s *Session) {
	if s.wait.prev != nil {
		s.wait.prev.wait.next = s.wait.next
	} else {
		l.head = s.wait.next
	}
	if s.wait.next != nil {
		s.wait.next.wait.prev = s.wait.prev
	} else {
		l.tail = s.wait.prev
	}
	s.wait.prev, s.wait.next = nil, nil
	s.wait.lock, s.wait.hold, s.wait.mode = nil, nil, NoLock
}

// wakeLocked grants l to every waiter who conflicts neither with a holder nor
// with a waiter ahead. It requires the partition's mutex.
func (m *Manager) wakeLocked(l *lock) {
	var ahead modeMask
	for w := l.head; w != nil; {
		next, mode, h := w.wait.next, w.wait.mode, w.wait.hold
		if conflictTable[mode]&ahead == 0 && !l.conflictsLocked(mode, h.mask()) {
			l.grantLocked(mode)
			h.held |= mode.bit()
			l.dequeueLocked(w)
			w.wake <- struct{}{} // Invariant 3: never blocks
		} else {
			ahead |= mode.bit()
		}
		w = next
	}
}

// park sleeps until the session is granted what it waits for.
func (s *Session) park(ctx context.Context, p *partition, timeout time.Duration) error {
	var expired <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		expired = t.C
	}
	if s.search == nil {
		s.search = time.NewTimer(s.searchAfter())
	} else {
		s.search.Reset(s.searchAfter())
	}
	defer s.search.Stop()
	for {
		select {
		case <-s.wake:
			return nil
		case <-s.search.C:
			if err := s.searchDeadlock(); err != nil {
				return err
			}
		case <-ctx.Done():
			return s.leave(p, pgerr.From(context.Cause(ctx)))
		case <-expired:
			return s.leave(p, pgerr.New(pgerr.LockNotAvailable,
				"canceling statement due to lock timeout"))
		}
	}
}

// leave takes the session out of the queue and returns cause, or nil when it
// has just been granted the lock: Invariant 4.
func (s *Session) leave(p *partition, cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.wait.lock == nil {
		<-s.wake
		return nil
	}
	s.leaveLocked(p)
	return cause
}

// leaveLocked requires p.mu and that the session waits.
func (s *Session) leaveLocked(p *partition) {
	l, h, mode := s.wait.lock, s.wait.hold, s.wait.mode
	l.dequeueLocked(s)
	s.m.abandonLocked(p, l, h, mode)
}
