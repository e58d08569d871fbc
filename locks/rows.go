package locks

import "slices"

// Row locks in a shared mode have no place in a tuple, so they are held here on
// RowTag(version) until the transaction ends. A new version of the row must be
// held by whoever held the old one, and the session that makes it is another
// one: it enters the locks in the table on the holders' behalf (hold.inherited),
// and on a list of each, which the holder drains when it releases.

// inheritedHold is an entry of a session's list.
type inheritedHold struct {
	hold *hold
	seq  uint64 // hold.seq, readable without the partition's mutex
}

// CopyRowLocks gives every holder of the row version from the same modes on
// the version to. It does not wait; both pages are latched by the caller, so
// nobody else asks for to.
func (m *Manager) CopyRowLocks(from, to Tag) {
	if m.rowLocks.Load() == 0 {
		return
	}
	fromHash, toHash := from.hash(), to.hash()
	p, q := m.partition(fromHash), m.partition(toHash)
	m.lockPair(p, q)
	defer m.unlockPair(p, q)
	l := p.findLocked(&from, fromHash)
	if l == nil {
		return
	}
	var dst *lock
	for h := l.holds; h != nil; h = h.next {
		if h.mask() == 0 { // waits
			continue
		}
		if dst == nil {
			// Beyond the bound, if need be: the rows' holders were counted.
			if dst = q.findLocked(&to, toHash); dst == nil {
				dst = m.addLocked(q, &to, toHash)
			}
		}
		q.inheritLocked(dst, h)
	}
}

// inheritLocked gives the session of src its modes on l. It requires the
// mutexes of both partitions.
func (p *partition) inheritLocked(l *lock, src *hold) {
	h := p.holdLocked(l, src.session)
	for mode := AccessShare; mode < numModes; mode++ {
		if src.mask()&mode.bit() == 0 || h.inherited&mode.bit() != 0 {
			continue
		}
		if h.held&mode.bit() == 0 {
			l.nRequests++
			l.requested[mode]++
			l.grantLocked(mode)
		}
		h.inherited |= mode.bit()
	}
	if h.seq == 0 || src.seq < h.seq {
		h.seq = src.seq
	}
	src.session.listInherited(h, h.seq)
}

// listInherited enters h on the list its session drains. It requires the
// mutex of h's partition.
func (s *Session) listInherited(h *hold, seq uint64) {
	in := &s.inherited
	in.Lock()
	defer in.Unlock()
	if i := slices.IndexFunc(in.holds, func(e inheritedHold) bool { return e.hold == h }); i >= 0 {
		in.holds[i].seq = seq
		return
	}
	in.holds = append(in.holds, inheritedHold{h, seq})
	in.n.Store(int32(len(in.holds)))
}

func (m *Manager) lockPair(p, q *partition) {
	switch {
	case p == q:
		p.mu.Lock()
	case m.index(p) < m.index(q):
		p.mu.Lock()
		q.mu.Lock()
	default:
		q.mu.Lock()
		p.mu.Lock()
	}
}

func (m *Manager) unlockPair(p, q *partition) {
	p.mu.Unlock()
	if p != q {
		q.mu.Unlock()
	}
}

func (m *Manager) index(p *partition) int {
	for i := range m.partitions {
		if p == &m.partitions[i] {
			return i
		}
	}
	return -1
}

// releaseInherited releases the inherited locks that go back to acquisitions
// after mark. Others may copy them while it runs, so it looks until none is
// left; the sources of such copies are gone by then.
func (s *Session) releaseInherited(mark uint64) {
	for s.inherited.n.Load() > 0 {
		// Only we take entries off, so h stays ours between the mutexes.
		h := s.firstInherited(mark)
		if h == nil {
			return
		}
		p := s.m.partition(h.lock.hash)
		p.mu.Lock()
		s.unlistInherited(h)
		s.m.releaseInheritedLocked(p, h)
		p.mu.Unlock()
	}
}

func (s *Session) firstInherited(mark uint64) *hold {
	in := &s.inherited
	in.Lock()
	defer in.Unlock()
	for i := len(in.holds) - 1; i >= 0; i-- {
		if mark == 0 || in.holds[i].seq > mark {
			return in.holds[i].hold
		}
	}
	return nil
}

// unlistInherited requires the mutex of h's partition.
func (s *Session) unlistInherited(h *hold) {
	in := &s.inherited
	in.Lock()
	defer in.Unlock()
	i := slices.IndexFunc(in.holds, func(e inheritedHold) bool { return e.hold == h })
	in.holds = slices.Delete(in.holds, i, i+1)
	in.n.Store(int32(len(in.holds)))
}

// releaseInheritedLocked requires p.mu.
func (m *Manager) releaseInheritedLocked(p *partition, h *hold) {
	l, wake := h.lock, false
	for mode := AccessShare; mode < numModes; mode++ {
		if h.inherited&mode.bit() != 0 && h.held&mode.bit() == 0 {
			wake = l.ungrantLocked(mode) || wake
		}
	}
	h.inherited = 0
	m.cleanUpLocked(p, l, h, wake)
}
