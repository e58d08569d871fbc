package locks

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/pgerr/assert"
)

const numSlots = 64 // fast-path locks a session can hold

// LockOptions say who owns a lock and how long to wait for it.
type LockOptions struct {
	// Session makes the lock outlive the transaction (advisory locks, VACUUM).
	Session bool
	// NoWait answers 55P03 instead of sleeping.
	NoWait bool
	// Timeout is lock_timeout; zero waits for ever.
	Timeout time.Duration
}

// Session is a holder of locks. Invariant 7 says who may touch what.
type Session struct {
	m     *Manager
	pid   int32
	index int // in Manager.sessions

	local localTable
	// first and last are the transaction-level local locks in order of seq.
	first, last *localLock
	seq         uint64

	xids     *xidLock // own, latest first
	freeXIDs *xidLock

	slots struct {
		sync.Mutex
		used  uint64 // bit n: lock[n] is filled
		lock  [numSlots]*localLock
		lxid  uint64 // the virtual transaction, 0 for none
		vhold *hold  // of the virtual transaction, once somebody waited
	}

	// wait is guarded by the mutex of the partition of wait.lock.
	wait struct {
		lock       *lock
		hold       *hold
		mode       Mode
		start      time.Time
		prev, next *Session
	}
	wake   chan struct{} // capacity 1: the grant
	search *time.Timer   // starts the deadlock search
	// deadlockTimeout, unless 0, overrides the manager's.
	deadlockTimeout time.Duration

	inherited struct {
		sync.Mutex
		holds []inheritedHold
		n     atomic.Int32 // len(holds)
	}

	extension Extension
	waitEvent struct {
		current atomic.Pointer[Event]
		start   time.Time
	}
	// interrupt ends the session's work for the sake of a waiter (autovacuum).
	interrupt atomic.Pointer[func(waiter int32)]
}

// SetDeadlockTimeout makes the session wait that long before it searches for a deadlock; 0 is as the manager says.
func (s *Session) SetDeadlockTimeout(d time.Duration) { s.deadlockTimeout = d }

func (s *Session) searchAfter() time.Duration {
	if s.deadlockTimeout > 0 {
		return s.deadlockTimeout
	}
	return s.m.deadlockTimeout()
}

// NewSession registers a holder of locks; pid names it in messages and views.
func (m *Manager) NewSession(pid int32) *Session {
	s := &Session{m: m, pid: pid, wake: make(chan struct{}, 1)}
	s.extension = Extension{s: s, table: m.extensions, wake: make(chan struct{}, 1)}
	s.local.init()
	m.sessions.Lock()
	defer m.sessions.Unlock()
	s.index = len(m.sessions.all)
	m.sessions.all = append(m.sessions.all, s)
	return s
}

// Close releases everything the session holds; it is not used afterwards.
func (s *Session) Close() {
	s.ReleaseAll()
	r := &s.m.sessions
	r.Lock()
	defer r.Unlock()
	last := len(r.all) - 1
	r.all[s.index] = r.all[last]
	r.all[s.index].index = s.index
	r.all[last] = nil
	r.all = r.all[:last]
}

// PID is the process id the session was made with.
func (s *Session) PID() int32 { return s.pid }

// SetInterrupt names what ends the session's work when somebody has waited
// for one of its locks for deadlock_timeout. VACUUM by the autovacuum launcher
// sets it; nil takes it away.
func (s *Session) SetInterrupt(interrupt func(waiter int32)) {
	if interrupt == nil {
		s.interrupt.Store(nil)
		return
	}
	s.interrupt.Store(&interrupt)
}

// Lock takes tag in the given mode and sleeps where others hold a conflicting
// one. Taking a lock again only counts. A wait ends with the context's
// cause, with 55P03 after opts.Timeout, or with 40P01.
func (s *Session) Lock(ctx context.Context, tag Tag, mode Mode, opts LockOptions) error {
	hash := tag.hash()
	ll := s.local.find(&tag, mode, hash)
	if ll == nil {
		var err error
		if ll, err = s.acquire(ctx, &tag, mode, hash, opts); err != nil {
			return err
		}
	}
	s.own(ll, opts.Session)
	return nil
}

// TryLock is Lock that gives up instead of sleeping.
func (s *Session) TryLock(tag Tag, mode Mode, opts LockOptions) bool {
	opts.NoWait = true
	return s.Lock(context.Background(), tag, mode, opts) == nil
}

// own counts one more acquisition of ll for its owner.
func (s *Session) own(ll *localLock, sessionLevel bool) {
	if sessionLevel {
		ll.session++
		return
	}
	ll.xact++
	if ll.xact > 1 {
		return
	}
	s.seq++
	ll.seq = s.seq
	ll.prevX = s.last
	if s.last != nil {
		s.last.nextX = ll
	} else {
		s.first = ll
	}
	s.last = ll
}

// disown takes ll off the list of transaction-level locks.
func (s *Session) disown(ll *localLock) {
	if ll.prevX != nil {
		ll.prevX.nextX = ll.nextX
	} else {
		s.first = ll.nextX
	}
	if ll.nextX != nil {
		ll.nextX.prevX = ll.prevX
	} else {
		s.last = ll.prevX
	}
	ll.prevX, ll.nextX = nil, nil
}

// Unlock gives back one transaction-level acquisition, or false when there is
// none.
func (s *Session) Unlock(tag Tag, mode Mode) bool {
	ll := s.local.find(&tag, mode, tag.hash())
	if ll == nil || ll.xact == 0 {
		return false
	}
	ll.xact--
	if ll.xact == 0 {
		s.disown(ll)
		s.releaseUnowned(ll)
	}
	return true
}

// UnlockSession gives back one session-level acquisition, or false when there
// is none.
func (s *Session) UnlockSession(tag Tag, mode Mode) bool {
	ll := s.local.find(&tag, mode, tag.hash())
	if ll == nil || ll.session == 0 {
		return false
	}
	ll.session--
	s.releaseUnowned(ll)
	return true
}

func (s *Session) releaseUnowned(ll *localLock) {
	if ll.session == 0 && ll.xact == 0 {
		s.release(ll)
		s.local.remove(ll)
	}
}

// Holds reports whether the session has tag in exactly this mode.
func (s *Session) Holds(tag Tag, mode Mode) bool {
	return s.local.find(&tag, mode, tag.hash()) != nil
}

// HoldsStronger reports whether the session has tag in this mode or in one
// with a higher number, as PostgreSQL's CheckRelationLockedByMe with orstronger.
func (s *Session) HoldsStronger(tag Tag, mode Mode) bool {
	hash := tag.hash()
	for ; mode < numModes; mode++ {
		if s.local.find(&tag, mode, hash) != nil {
			return true
		}
	}
	return false
}

// Mark is a point in the order of acquisitions, for savepoints.
type Mark uint64

// Mark returns the present point. Releasing a savepoint needs no call: its
// locks become those of the transaction.
func (s *Session) Mark() Mark { return Mark(s.seq) }

// ReleaseTo releases the transaction-level locks and xids taken since m.
func (s *Session) ReleaseTo(m Mark) {
	s.releaseXIDs(uint64(m))
	for s.last != nil && s.last.seq > uint64(m) {
		s.releaseLast()
	}
	s.releaseInherited(uint64(m))
}

func (s *Session) releaseLast() {
	ll := s.last
	ll.xact = 0
	s.disown(ll)
	s.releaseUnowned(ll)
}

// ReleaseTransaction releases whatever the transaction owns.
func (s *Session) ReleaseTransaction() {
	if s.extension.depth != 0 {
		assert.That(false, "transaction of session %d ends with an extension lock", s.pid)
	}
	s.ReleaseTo(0)
	s.UnlockVirtualXID()
}

// ReleaseSessionAdvisory releases the session-level advisory locks
// (pg_advisory_unlock_all, DISCARD ALL).
func (s *Session) ReleaseSessionAdvisory() {
	s.local.each(func(ll *localLock) {
		if ll.tag.Type == TypeAdvisory && ll.session > 0 {
			ll.session = 0
			s.releaseUnowned(ll)
		}
	})
}

// ReleaseAll releases the locks of the transaction and of the session.
func (s *Session) ReleaseAll() {
	s.ReleaseTransaction()
	s.local.each(func(ll *localLock) {
		ll.session = 0
		s.releaseUnowned(ll)
	})
}
