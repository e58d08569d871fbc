package locks

import (
	"context"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
)

// acquire takes a lock the session has not got in this mode.
func (s *Session) acquire(
	ctx context.Context, tag *Tag, mode Mode, hash uint32, opts LockOptions,
) (*localLock, error) {
	// Invariant 5.
	if !s.extension.allows(tag) {
		assert.That(false, "heavyweight lock on %v under an extension lock", *tag)
	}
	ll := s.local.add(tag, mode, hash)
	if tag.Type == TypeRelation {
		if weakModes&mode.bit() != 0 && s.acquireFast(ll) {
			return ll, nil
		}
		if strongModes&mode.bit() != 0 {
			ll.strong = true
			s.m.strongCount(hash).Add(1)
			s.m.moveFastPathLocks(tag, hash)
		}
	}
	if err := s.acquireTable(ctx, ll, opts); err != nil {
		s.dropStrong(ll)
		s.local.remove(ll)
		return nil, err
	}
	return ll, nil
}

func (s *Session) dropStrong(ll *localLock) {
	if ll.strong {
		s.m.strongCount(ll.hash).Add(-1)
	}
}

// acquireTable takes ll in the lock table, sleeping where it has to.
func (s *Session) acquireTable(ctx context.Context, ll *localLock, opts LockOptions) error {
	m, mode := s.m, ll.mode
	m.metrics.LockAcquisitions[ll.tag.Type][metrics.PathTable].AddAt(uint32(s.pid), 1)
	p := m.partition(ll.hash)
	p.mu.Lock()
	l := m.findOrAddLocked(p, &ll.tag, ll.hash)
	if l == nil {
		p.mu.Unlock()
		return tableFull()
	}
	h := p.holdLocked(l, s)
	ll.hold = h
	if h.seq == 0 {
		h.seq = s.seq + 1 // what own is about to give it
	}
	if h.mask()&mode.bit() != 0 { // inherited
		h.held |= mode.bit()
		p.mu.Unlock()
		return nil
	}
	l.nRequests++
	l.requested[mode]++
	if conflictTable[mode]&l.waitMask == 0 && !l.conflictsLocked(mode, h.mask()) {
		l.grantLocked(mode)
		h.held |= mode.bit()
		p.mu.Unlock()
		return nil
	}
	if opts.NoWait {
		m.abandonLocked(p, l, h, mode)
		p.mu.Unlock()
		return pgerr.New(pgerr.LockNotAvailable, "could not obtain lock on %v", ll.tag)
	}
	return s.sleep(ctx, p, l, h, mode, opts) // unlocks p
}

// abandonLocked takes back a request that was not granted. It requires p.mu.
func (m *Manager) abandonLocked(p *partition, l *lock, h *hold, mode Mode) {
	l.nRequests--
	l.requested[mode]--
	if l.granted[mode] == l.requested[mode] {
		l.waitMask &^= mode.bit()
	}
	m.cleanUpLocked(p, l, h, true)
}

// release gives back what ll stands for. The caller removes ll.
func (s *Session) release(ll *localLock) {
	if ll.slot >= 0 && s.releaseFast(ll) {
		return
	}
	p := s.m.partition(ll.hash)
	p.mu.Lock()
	s.m.releaseHoldLocked(p, ll.hold, ll.mode)
	p.mu.Unlock()
	s.dropStrong(ll)
}

// releaseHoldLocked takes a mode the local table stands for from h, unless it
// was inherited as well. It requires p.mu.
func (m *Manager) releaseHoldLocked(p *partition, h *hold, mode Mode) {
	h.held &^= mode.bit()
	if h.inherited&mode.bit() != 0 {
		return
	}
	wake := h.lock.ungrantLocked(mode)
	m.cleanUpLocked(p, h.lock, h, wake)
}

// Conflicts reports whether another session holds tag in a mode that
// conflicts with mode. Waiters do not count, and neither do relation locks of
// the fast path: it is meant for row tags.
func (s *Session) Conflicts(tag Tag, mode Mode) bool {
	if tag.isRow() && s.m.rowLocks.Load() == 0 {
		return false
	}
	hash := tag.hash()
	p := s.m.partition(hash)
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.findLocked(&tag, hash)
	if l == nil {
		return false
	}
	var mine modeMask
	for h := l.holds; h != nil; h = h.next {
		if h.session == s {
			mine = h.mask()
		}
	}
	return l.conflictsLocked(mode, mine)
}
