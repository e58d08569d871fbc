package txn

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// Config describes the transactions of a data directory.
type Config struct {
	FS      storage.FS
	Dir     string // the data directory; the commit log lies in pg_xact below
	Log     *wal.Log
	Locks   *locks.Manager
	Metrics *metrics.Set

	NextXID   XID // from the control file; FirstXID for a new directory
	ClogPages int // pages of the commit log kept in memory; 0: 256

	// OnRedoCommit is called by Redo for a commit record with payload or files, and for an
	// abort record with files (payload nil).
	OnRedoCommit func(payload []byte, files []storage.RelFile) error
	// Fatal stops the server: a commit is logged but could not be applied. nil: panic.
	Fatal func(error)
	// Now is the clock of commit records; nil: time.Now.
	Now func() time.Time

	// UnsafeSkipCommitFlush answers commits before they are durable: a variant that
	// crash tests must catch.
	UnsafeSkipCommitFlush bool
}

// Manager gives out XIDs and decides what snapshots see.
type Manager struct {
	cfg    Config
	clog   *clog
	states states
	slots  slotTable

	nextXID      atomic.Uint64
	nextCSN      atomic.Uint64
	oldestActive atomic.Uint64 // Invariant 3
	advance      sync.Mutex    // held by who moves oldestActive
}

// Open opens the commit log. After replay StartUp must be called.
func Open(cfg Config) (*Manager, error) {
	if cfg.NextXID < FirstXID {
		cfg.NextXID = FirstXID
	}
	if cfg.Fatal == nil {
		cfg.Fatal = func(err error) { panic(err) }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard()
	}
	flush := func(lsn storage.LSN) error { return nil }
	if cfg.Log != nil {
		flush = cfg.Log.Flush
	}
	c, err := openClog(cfg.FS, cfg.Dir, cfg.ClogPages, flush)
	if err != nil {
		return nil, err
	}
	if err := c.require(cfg.NextXID); err != nil {
		return nil, err
	}
	m := &Manager{cfg: cfg, clog: c}
	m.nextXID.Store(uint64(cfg.NextXID))
	m.nextCSN.Store(firstCSN)
	return m, m.StartUp()
}

// StartUp ends recovery: what has not committed by now never did. Open does it
// too, for a directory without anything to replay.
func (m *Manager) StartUp() error {
	next := m.NextXID()
	if err := m.clog.clearFrom(next); err != nil {
		return err
	}
	m.states.reset(next)
	// The newest page's older XIDs are known from the commit log alone.
	first := XID(uint64(next) / statePageXIDs * statePageXIDs)
	for xid := max(first, FirstXID); xid < next; xid++ {
		bits, err := m.clog.get(xid)
		if err != nil {
			return err
		}
		w, _, _ := m.states.word(xid)
		w.Store(stateAborted)
		if bits == bitsCommitted {
			w.Store(firstCSN)
		}
	}
	// Above every CSN stored above.
	m.nextCSN.Store(max(m.nextCSN.Load(), firstCSN+1))
	m.oldestActive.Store(uint64(next))
	return nil
}

// NextXID returns the XID that will be given out next.
func (m *Manager) NextXID() XID { return XID(m.nextXID.Load()) }

// NoteXID tells that replay met xid: it will not be given out again.
func (m *Manager) NoteXID(xid XID) {
	if uint64(xid) >= m.nextXID.Load() {
		m.nextXID.Store(uint64(xid) + 1)
	}
}

// OldestActive returns the oldest XID that may be in progress.
func (m *Manager) OldestActive() XID { return XID(m.oldestActive.Load()) }

// Status returns what became of xid, a subtransaction with a parent in
// progress being in progress, and its CSN when it is committed and recent (else 0).
func (m *Manager) Status(xid XID) (Status, CSN) {
	if xid < FirstXID {
		assert.That(xid != InvalidXID, "status of the invalid XID")
		return Committed, 0
	}
	state, known, _ := m.states.resolve(xid)
	switch {
	case !known:
		if m.committedLongAgo(xid) {
			return Committed, 0
		}
		return Aborted, 0
	case state == stateInProgress:
		return InProgress, 0
	case state == stateAborted:
		return Aborted, 0
	}
	return Committed, CSN(state)
}

// committedLongAgo asks the commit log about an XID below oldestActive: Invariant 6.
// A commit log that cannot be read stops the server, as nobody could tell what exists.
func (m *Manager) committedLongAgo(xid XID) bool {
	bits, err := m.clog.get(xid)
	if err != nil {
		m.cfg.Fatal(err)
		return false
	}
	return bits == bitsCommitted
}

// TopXID returns the top-level transaction of xid while that is in progress, else xid.
func (m *Manager) TopXID(xid XID) XID {
	for {
		w, _, _ := m.states.word(xid)
		if w == nil {
			return xid
		}
		state := w.Load()
		if state&stateChild == 0 {
			return xid
		}
		xid = XID(state &^ stateChild)
	}
}

// Horizon returns an XID such that no snapshot, now or later, asks when one below it
// ended: a tuple whose committed xmax is below it is dead to all.
func (m *Manager) Horizon() XID {
	// oldestActive first: Invariant 3.
	h := m.oldestActive.Load()
	return XID(m.slots.minXmin(h))
}

// giveOut returns a new XID and its state word.
func (m *Manager) giveOut() (XID, *atomic.Uint64) {
	xid := XID(m.nextXID.Add(1) - 1)
	assert.That(xid <= MaxXID, "out of transaction IDs")
	return xid, m.states.ensure(xid)
}

// ended moves oldestActive over XIDs whose state is final, when one of [first, last] is what it
// waits for.
func (m *Manager) ended(first, last XID) {
	oldest := XID(m.oldestActive.Load())
	if oldest < first || oldest > last {
		return
	}
	for {
		if !m.advance.TryLock() {
			// Whoever holds it looks again after letting go, and our states were stored before
			// we tried.
			return
		}
		oldest = XID(m.oldestActive.Load())
		start := oldest
		for oldest < m.NextXID() && m.states.final(oldest) {
			oldest++
		}
		m.oldestActive.Store(uint64(oldest))
		m.advance.Unlock()
		if oldest/statePageXIDs != start/statePageXIDs {
			m.states.trim(m.Horizon(), oldest, m.slots.divided)
		}
		if oldest >= m.NextXID() || !m.states.final(oldest) {
			return
		}
	}
}

// DelayBarrier waits for the commits under way: Invariant 7.
func (m *Manager) DelayBarrier() { m.slots.waitForCommits() }

// FlushAll makes the commit log durable, for a checkpoint.
func (m *Manager) FlushAll() error { return m.clog.flushAll(m.NextXID()) }
