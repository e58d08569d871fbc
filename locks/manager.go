package locks

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
)

const (
	numPartitions   = 16
	numStrongCounts = 1024
	initialBuckets  = 64
	maxFree         = 256 // objects a partition or session keeps for reuse

	// DefaultMaxLocks bounds the table when Config leaves it open.
	DefaultMaxLocks = 4 << 20
	// DefaultDeadlockTimeout is PostgreSQL's deadlock_timeout.
	DefaultDeadlockTimeout = time.Second
)

// Config is what a Manager needs from above; every field may be left zero.
type Config struct {
	Metrics *metrics.Set
	// DeadlockTimeout is read at each sleep: the setting deadlock_timeout.
	DeadlockTimeout func() time.Duration
	// Now is the clock, read on contended paths only.
	Now func() time.Time
	// ExtensionTable is what Session.Extension takes; nil is the heavyweight
	// lock with locktype extend.
	ExtensionTable *ExtensionTable
	// MaxLocks bounds the locks in the table.
	MaxLocks int
	// OnWait, if set, is told of every sleep after it, by the session that slept.
	OnWait func(Wait)
}

// Manager holds every heavyweight lock of one server.
type Manager struct {
	metrics         *metrics.Set
	deadlockTimeout func() time.Duration
	now             func() time.Time
	extensions      *ExtensionTable
	onWait          func(Wait)
	maxPerPartition int

	partitions [numPartitions]partition
	strong     [numStrongCounts]atomic.Int32 // Invariant 2.
	xids       [numXIDShards]xidShard
	rowLocks   atomic.Int64 // row tags in the table; zero spares every update a look
	events     eventTable
	lockEvents [numTypes]*Event

	sessions struct {
		sync.RWMutex
		all []*Session // in no order; Session.index is the place
	}
}

// partition is one cut of the lock table.
type partition struct {
	mu        sync.Mutex
	buckets   []*lock
	count     int
	freeLocks *lock
	freeHolds *hold
	numFree   int
	_         [64]byte
}

// lock is what the table knows about one tag: PostgreSQL's LOCK.
type lock struct {
	tag       Tag
	hash      uint32
	grantMask modeMask // modes granted to anybody
	waitMask  modeMask // modes somebody waits for
	granted   [numModes]int32
	requested [numModes]int32 // granted and waited for
	nGranted  int32
	nRequests int32
	next      *lock // in the bucket, or free
	holds     *hold
	head      *Session // queue of waiters, linked through Session.wait
	tail      *Session
}

// hold is one session's part in one lock: PostgreSQL's PROCLOCK.
type hold struct {
	lock    *lock
	session *Session
	held    modeMask // through the session's local table
	// inherited are modes another session gave us by CopyRowLocks.
	inherited modeMask
	// seq is the oldest acquisition of a row lock here; a copy inherits it.
	seq  uint64
	prev *hold // in the lock's list
	next *hold // in the lock's list, or free
}

func (h *hold) mask() modeMask { return h.held | h.inherited }

// NewManager makes an empty lock manager.
func NewManager(cfg Config) *Manager {
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard()
	}
	if cfg.DeadlockTimeout == nil {
		cfg.DeadlockTimeout = func() time.Duration { return DefaultDeadlockTimeout }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	if cfg.MaxLocks <= 0 {
		cfg.MaxLocks = DefaultMaxLocks
	}
	m := &Manager{
		metrics:         cfg.Metrics,
		deadlockTimeout: cfg.DeadlockTimeout,
		now:             cfg.Now,
		extensions:      cfg.ExtensionTable,
		onWait:          cfg.OnWait,
		maxPerPartition: cfg.MaxLocks/numPartitions + 1,
	}
	for i := range m.partitions {
		m.partitions[i].buckets = make([]*lock, initialBuckets)
	}
	for i := range m.xids {
		m.xids[i].buckets = make([]*xidLock, initialXIDBuckets)
	}
	m.events.byName = make(map[[2]string]*Event)
	for t := range m.lockEvents {
		m.lockEvents[t] = m.Event("Lock", LockType(t).String())
	}
	return m
}

func (m *Manager) partition(hash uint32) *partition {
	return &m.partitions[hash%numPartitions]
}

func (m *Manager) strongCount(hash uint32) *atomic.Int32 {
	return &m.strong[hash/numPartitions%numStrongCounts]
}

func (m *Manager) lockAllPartitions() {
	for i := range m.partitions {
		m.partitions[i].mu.Lock()
	}
}

func (m *Manager) unlockAllPartitions() {
	for i := range m.partitions {
		m.partitions[i].mu.Unlock()
	}
}

func (p *partition) bucket(hash uint32) **lock {
	return &p.buckets[int(hash/numPartitions)&(len(p.buckets)-1)]
}

// findLocked requires p.mu.
func (p *partition) findLocked(tag *Tag, hash uint32) *lock {
	for l := *p.bucket(hash); l != nil; l = l.next {
		if l.hash == hash && l.tag == *tag {
			return l
		}
	}
	return nil
}

// findOrAddLocked requires p.mu. It returns nil when the table is full.
func (m *Manager) findOrAddLocked(p *partition, tag *Tag, hash uint32) *lock {
	if l := p.findLocked(tag, hash); l != nil {
		return l
	}
	if p.count >= m.maxPerPartition {
		return nil
	}
	return m.addLocked(p, tag, hash)
}

// addLocked requires p.mu and that tag is not in the table.
func (m *Manager) addLocked(p *partition, tag *Tag, hash uint32) *lock {
	if p.count >= len(p.buckets) {
		p.growLocked()
	}
	l := p.freeLocks
	if l != nil {
		p.freeLocks = l.next
		p.numFree--
	} else {
		l = new(lock)
	}
	l.tag, l.hash = *tag, hash
	b := p.bucket(hash)
	l.next, *b = *b, l
	p.count++
	if tag.isRow() {
		m.rowLocks.Add(1)
	}
	return l
}

// growLocked requires p.mu.
func (p *partition) growLocked() {
	old := p.buckets
	p.buckets = make([]*lock, 2*len(old))
	for _, l := range old {
		for l != nil {
			next := l.next
			b := p.bucket(l.hash)
			l.next, *b = *b, l
			l = next
		}
	}
}

// removeLocked requires p.mu and that nobody holds or waits for l.
func (m *Manager) removeLocked(p *partition, l *lock) {
	b := p.bucket(l.hash)
	for *b != l {
		b = &(*b).next
	}
	*b = l.next
	p.count--
	if l.tag.isRow() {
		m.rowLocks.Add(-1)
	}
	if p.numFree >= maxFree {
		return
	}
	// Masks and counts are zero: whoever removed the last hold left them so.
	l.waitMask = 0
	l.next, p.freeLocks = p.freeLocks, l
	p.numFree++
}

// holdLocked finds or adds s's part in l. It requires p.mu.
func (p *partition) holdLocked(l *lock, s *Session) *hold {
	for h := l.holds; h != nil; h = h.next {
		if h.session == s {
			return h
		}
	}
	h := p.freeHolds
	if h != nil {
		p.freeHolds = h.next
	} else {
		h = new(hold)
	}
	*h = hold{lock: l, session: s, next: l.holds}
	if l.holds != nil {
		l.holds.prev = h
	}
	l.holds = h
	return h
}

// dropHoldLocked requires p.mu and that h has no mode and does not wait.
func (p *partition) dropHoldLocked(h *hold) {
	if h.prev != nil {
		h.prev.next = h.next
	} else {
		h.lock.holds = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	}
	*h = hold{next: p.freeHolds}
	p.freeHolds = h
}

// grantLocked counts mode as granted to h. It requires the partition's mutex.
func (l *lock) grantLocked(mode Mode) {
	l.nGranted++
	l.granted[mode]++
	l.grantMask |= mode.bit()
	if l.granted[mode] == l.requested[mode] {
		l.waitMask &^= mode.bit()
	}
}

// ungrantLocked takes one grant of mode back and reports whether a waiter may
// go on now. It requires the partition's mutex.
func (l *lock) ungrantLocked(mode Mode) (wake bool) {
	l.nRequests--
	l.requested[mode]--
	l.nGranted--
	l.granted[mode]--
	if l.granted[mode] == 0 {
		l.grantMask &^= mode.bit()
	}
	return conflictTable[mode]&l.waitMask != 0
}

// conflictsLocked reports whether mode conflicts with what others than h hold.
// It requires the partition's mutex.
func (l *lock) conflictsLocked(mode Mode, mine modeMask) bool {
	against := conflictTable[mode] & l.grantMask
	if against == 0 {
		return false
	}
	for m := AccessShare; m < numModes; m++ {
		if against&m.bit() == 0 {
			continue
		}
		n := l.granted[m]
		if mine&m.bit() != 0 {
			n--
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// cleanUpLocked drops h and its lock when they have become unused, else lets
// waiters go on. It requires p.mu.
func (m *Manager) cleanUpLocked(p *partition, l *lock, h *hold, wake bool) {
	if h.mask() == 0 {
		p.dropHoldLocked(h)
	}
	switch {
	case l.nRequests == 0:
		m.removeLocked(p, l)
	case wake:
		m.wakeLocked(l)
	}
}

func (t *Tag) isRow() bool { return t.Type == TypeTuple && t.F3&rowFlag != 0 }

func tableFull() error {
	return pgerr.New(pgerr.OutOfMemory, "out of shared memory").
		WithHint("You might need to increase max_locks_per_transaction.")
}
