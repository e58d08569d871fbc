package locks

import (
	"context"
	"sync"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
)

const (
	numXIDShards      = 64
	initialXIDBuckets = 16
)

// xidShard is one cut of the map from running xid to session. Nearly every
// transaction ends without anybody having waited for it, so its lock is no more
// than an entry here until somebody does.
type xidShard struct {
	mu      sync.Mutex
	buckets []*xidLock
	count   int
	_       [24]byte
}

// xidLock is a running xid: exclusively locked by its session.
type xidLock struct {
	xid     uint64
	session *Session
	hold    *hold // in the table, once somebody waited: Invariant 6
	next    *xidLock
	seq     uint64
	older   *xidLock // the session's xid before, or free
}

func (m *Manager) xidShard(xid uint64) *xidShard { return &m.xids[xid%numXIDShards] }

func (x *xidShard) bucket(xid uint64) **xidLock {
	return &x.buckets[int(xid/numXIDShards)&(len(x.buckets)-1)]
}

// findLocked requires x.mu.
func (x *xidShard) findLocked(xid uint64) *xidLock {
	e := *x.bucket(xid)
	for e != nil && e.xid != xid {
		e = e.next
	}
	return e
}

// growLocked requires x.mu.
func (x *xidShard) growLocked() {
	old := x.buckets
	x.buckets = make([]*xidLock, 4*len(old))
	for _, e := range old {
		for e != nil {
			next := e.next
			b := x.bucket(e.xid)
			e.next, *b = *b, e
			e = next
		}
	}
}

// LockXID locks the xid of a transaction or subtransaction that begins to run
// until the transaction ends or rolls back to a mark before it. It neither
// waits nor fails.
func (s *Session) LockXID(xid uint64) {
	e := s.freeXIDs
	if e != nil {
		s.freeXIDs = e.older
	} else {
		e = new(xidLock)
	}
	s.seq++
	*e = xidLock{xid: xid, session: s, seq: s.seq, older: s.xids}
	s.xids = e
	x := s.m.xidShard(xid)
	x.mu.Lock()
	if x.count >= 4*len(x.buckets) {
		x.growLocked()
	}
	b := x.bucket(xid)
	e.next, *b = *b, e
	x.count++
	x.mu.Unlock()
}

// releaseXIDs releases the xids taken since mark and wakes who waits for them.
func (s *Session) releaseXIDs(mark uint64) {
	for s.xids != nil && s.xids.seq > mark {
		e := s.xids
		s.xids = e.older
		x := s.m.xidShard(e.xid)
		x.mu.Lock()
		b := x.bucket(e.xid)
		for *b != e {
			b = &(*b).next
		}
		*b = e.next
		x.count--
		h := e.hold
		x.mu.Unlock()
		if h != nil {
			s.releaseMaterialised(h)
		}
		*e = xidLock{}
		if s.xids != nil {
			continue // keep one: more are the exception
		}
		s.freeXIDs = e
	}
}

// releaseMaterialised gives back the exclusive lock a waiter entered for us.
func (s *Session) releaseMaterialised(h *hold) {
	p := s.m.partition(h.lock.hash)
	p.mu.Lock()
	s.m.releaseHoldLocked(p, h, Exclusive)
	p.mu.Unlock()
}

// materialise enters the exclusive lock of s for tag in the table.
func (m *Manager) materialise(s *Session, tag *Tag) *hold {
	hash := tag.hash()
	p := m.partition(hash)
	p.mu.Lock()
	defer p.mu.Unlock()
	m.metrics.LockAcquisitions[tag.Type][metrics.PathTable].Inc()
	return m.grantUnconditionallyLocked(p, tag, hash, s, Exclusive)
}

// WaitXID sleeps until the session that runs xid has released it. It returns at
// once when none does; whether it committed is for the caller to find out.
func (s *Session) WaitXID(ctx context.Context, xid uint64, opts LockOptions) error {
	tag := TransactionTag(xid)
	x := s.m.xidShard(xid)
	x.mu.Lock()
	e := x.findLocked(xid)
	if e == nil {
		x.mu.Unlock()
		return nil
	}
	if e.session == s {
		assert.That(false, "session %d waits for its own transaction %d", s.pid, xid)
	}
	if opts.NoWait {
		x.mu.Unlock()
		return pgerr.New(pgerr.LockNotAvailable, "could not obtain lock on %v", tag)
	}
	if e.hold == nil {
		e.hold = s.m.materialise(e.session, &tag)
	}
	x.mu.Unlock()
	return s.waitFor(ctx, tag, opts)
}

// waitFor takes a tag in share mode and gives it back.
func (s *Session) waitFor(ctx context.Context, tag Tag, opts LockOptions) error {
	opts.Session = false
	if err := s.Lock(ctx, tag, Share, opts); err != nil {
		return err
	}
	s.Unlock(tag, Share)
	return nil
}

// LockVirtualXID marks the session as running the local transaction lxid,
// which is not zero, until UnlockVirtualXID or the end of the transaction.
func (s *Session) LockVirtualXID(lxid uint64) {
	s.slots.Lock()
	if s.slots.lxid != 0 {
		assert.That(false, "session %d runs virtual transaction %d", s.pid, s.slots.lxid)
	}
	s.slots.lxid = lxid
	s.slots.Unlock()
}

// UnlockVirtualXID ends the local transaction, if there is one.
func (s *Session) UnlockVirtualXID() {
	s.slots.Lock()
	h := s.slots.vhold
	s.slots.lxid, s.slots.vhold = 0, nil
	s.slots.Unlock()
	if h != nil {
		s.releaseMaterialised(h)
	}
}

// VirtualXID is the local transaction the session runs, or 0.
func (s *Session) VirtualXID() uint64 {
	s.slots.Lock()
	defer s.slots.Unlock()
	return s.slots.lxid
}

// WaitVirtualXID sleeps until session pid no longer runs the local transaction
// lxid.
func (s *Session) WaitVirtualXID(
	ctx context.Context, pid int32, lxid uint64, opts LockOptions,
) error {
	tag := VirtualXIDTag(pid, lxid)
	if !s.m.materialiseVirtual(pid, lxid, &tag) {
		return nil
	}
	return s.waitFor(ctx, tag, opts)
}

// materialiseVirtual reports false when that transaction does not run.
func (m *Manager) materialiseVirtual(pid int32, lxid uint64, tag *Tag) bool {
	m.sessions.RLock()
	defer m.sessions.RUnlock()
	for _, o := range m.sessions.all {
		if o.pid != pid {
			continue
		}
		o.slots.Lock()
		running := o.slots.lxid == lxid
		if running && o.slots.vhold == nil {
			o.slots.vhold = m.materialise(o, tag)
		}
		o.slots.Unlock()
		if running {
			return true
		}
	}
	return false
}
