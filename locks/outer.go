package locks

// KeepRowLock enters a row lock that the session holds by its xid in the tuple, which a
// subtransaction is about to overwrite there. It lasts as long as xid: until the
// (sub)transaction that runs as xid ends or is rolled back. It is granted at once, past any
// queue, since the row is locked already. The caller holds the tuple's page latched.
func (s *Session) KeepRowLock(tag Tag, mode Mode, xid uint64) {
	var seq uint64
	for e := s.xids; e != nil; e = e.older {
		if e.xid == xid {
			seq = e.seq
			break
		}
	}
	hash := tag.hash()
	p := s.m.partition(hash)
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.findLocked(&tag, hash)
	if l == nil {
		l = s.m.addLocked(p, &tag, hash)
	}
	h := p.holdLocked(l, s)
	if h.inherited&mode.bit() == 0 {
		if h.held&mode.bit() == 0 {
			l.nRequests++
			l.requested[mode]++
			l.grantLocked(mode)
		}
		h.inherited |= mode.bit()
	}
	if h.seq == 0 || seq < h.seq {
		h.seq = seq
	}
	s.listInherited(h, h.seq)
}

// RowVersionTag is RowTag of the version that xmin made. A line pointer is used again, and the
// holders of what was there before must not hold what comes after.
func RowVersionTag(db, rel, block uint32, offset uint16, xmin uint64) Tag {
	t := RowTag(db, rel, block, offset)
	t.F1 |= xmin << 32
	t.F2 |= xmin >> 32 << 32
	return t
}

// Relation is the relation OID of a relation's, page's or tuple's tag.
func (t Tag) Relation() uint32 { return uint32(t.F2) }
