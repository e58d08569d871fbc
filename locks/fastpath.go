package locks

import (
	"math/bits"

	"github.com/minipg/minipg/metrics"
)

// acquireFast tries to hold a weak relation lock in one of the session's own
// slots. Invariant 2.
func (s *Session) acquireFast(ll *localLock) bool {
	s.slots.Lock()
	full := s.slots.used == ^uint64(0)
	if full || s.m.strongCount(ll.hash).Load() != 0 {
		s.slots.Unlock()
		if full {
			s.m.metrics.LockFastPathExceeded.Inc()
		}
		return false
	}
	i := bits.TrailingZeros64(^s.slots.used)
	s.slots.used |= 1 << i
	s.slots.lock[i] = ll
	ll.slot = int8(i)
	s.slots.Unlock()
	s.m.metrics.LockAcquisitions[TypeRelation][metrics.PathFast].AddAt(uint32(s.pid), 1)
	return true
}

// releaseFast empties ll's slot, or reports false when somebody has moved the
// lock into the table.
func (s *Session) releaseFast(ll *localLock) bool {
	s.slots.Lock()
	defer s.slots.Unlock()
	if s.slots.lock[ll.slot] != ll {
		return false
	}
	s.clearSlotLocked(int(ll.slot))
	return true
}

// clearSlotLocked requires s.slots.
func (s *Session) clearSlotLocked(i int) {
	s.slots.used &^= 1 << i
	s.slots.lock[i] = nil
}

// moveFastPathLocks puts every fast-path lock on tag into the table. The
// caller has raised the tag's strong count.
func (m *Manager) moveFastPathLocks(tag *Tag, hash uint32) {
	m.sessions.RLock()
	defer m.sessions.RUnlock()
	for _, s := range m.sessions.all {
		s.slots.Lock()
		for used := s.slots.used; used != 0; used &= used - 1 {
			i := bits.TrailingZeros64(used)
			if ll := s.slots.lock[i]; ll.hash == hash && ll.tag == *tag {
				m.moveLocked(s, ll)
				s.clearSlotLocked(i)
			}
		}
		s.slots.Unlock()
	}
}

// moveLocked requires the slot mutex of s. The table's bound is not looked at:
// the lock exists already.
func (m *Manager) moveLocked(s *Session, ll *localLock) {
	p := m.partition(ll.hash)
	p.mu.Lock()
	defer p.mu.Unlock()
	ll.hold = m.grantUnconditionallyLocked(p, &ll.tag, ll.hash, s, ll.mode)
}

// grantUnconditionallyLocked gives s a mode that is known to conflict with
// nothing granted. It requires p.mu.
func (m *Manager) grantUnconditionallyLocked(
	p *partition, tag *Tag, hash uint32, s *Session, mode Mode,
) *hold {
	l := p.findLocked(tag, hash)
	if l == nil {
		l = m.addLocked(p, tag, hash)
	}
	h := p.holdLocked(l, s)
	l.nRequests++
	l.requested[mode]++
	l.grantLocked(mode)
	h.held |= mode.bit()
	return h
}
