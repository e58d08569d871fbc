package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Lock types, as in pg_locks.locktype.
const (
	LockRelation = iota
	LockExtend
	LockPage
	LockTuple
	LockTransactionID
	LockVirtualXID
	LockObject
	LockAdvisory
	LockDatabase
	NumLockTypes
)

// LockTypeNames are the label values of the lock types.
var LockTypeNames = [NumLockTypes]string{
	"relation", "extend", "page", "tuple", "transactionid", "virtualxid", "object", "advisory", "database",
}

// NumLockModes counts the heavyweight modes and the unused zero.
const NumLockModes = 9

// LockModeNames are PostgreSQL's names of the heavyweight modes, by number.
var LockModeNames = [NumLockModes]string{
	"", "AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock",
	"ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock",
}

// Lock acquisition paths.
const (
	PathFast = iota
	PathTable
	NumLockPaths
)

var lockPathNames = [NumLockPaths]string{"fastpath", "table"}

// Latch classes.
const (
	LatchHeap = iota
	LatchBTreeLeaf
	LatchBTreeInner
	LatchBTreeMeta
	LatchFSM
	LatchVM
	LatchOther
	NumLatchClasses
)

// LatchClassNames are the label values of the latch classes.
var LatchClassNames = [NumLatchClasses]string{
	"heap", "btree_leaf", "btree_inner", "btree_meta", "fsm", "vm", "other",
}

// Latch modes.
const (
	LatchShared = iota
	LatchExclusive
	NumLatchModes
)

// LatchModeNames are the label values of the latch modes.
var LatchModeNames = [NumLatchModes]string{"shared", "exclusive"}

// Extension policies.
const (
	ExtendFixed = iota
	ExtendWaiters
	ExtendBulk
	ExtendGroup
	NumExtendPolicies
)

// ExtendPolicyNames are the label values of the extension policies.
var ExtendPolicyNames = [NumExtendPolicies]string{"fixed", "waiters", "bulk", "group"}

// Group is what is reset together: the targets of pg_stat_reset_shared.
type Group string

// The groups.
const (
	GroupLock      Group = "lock"
	GroupLatch     Group = "latch"
	GroupExtension Group = "extension"
	GroupWaits     Group = "wait_history"
	GroupBgwriter  Group = "bgwriter"
	GroupWAL       Group = "wal"
	GroupSession   Group = "" // of no target
)

// Statement kinds of minipg_statement_seconds.
const (
	StatementSelect = iota
	StatementInsert
	StatementUpdate
	StatementDelete
	StatementCopy
	StatementOther
	NumStatementKinds
)

var statementKindNames = [NumStatementKinds]string{"select", "insert", "update", "delete", "copy", "other"}

// Set is every metric of one server.
type Set struct {
	Registry *prometheus.Registry

	// Heavyweight locks.
	ProcSleep        [NumLockTypes][NumLockModes]Counter
	ProcSleeping     [NumLockTypes]Gauge
	LockAcquisitions [NumLockTypes][NumLockPaths]Counter
	LockWaitSeconds  [NumLockTypes]*Histogram
	Deadlocks        Counter
	// LockFastPathExceeded counts relation locks for which the session had no slot left.
	LockFastPathExceeded Counter

	// The extension lock table.
	ExtensionLockSleep        Counter
	ExtensionLockAcquisitions Counter
	ExtensionLockWaitSeconds  *Histogram

	// Latches.
	LatchAcquisitions [NumLatchClasses][NumLatchModes]Counter
	LatchWaits        [NumLatchClasses][NumLatchModes]Counter
	LatchWaitSeconds  [NumLatchClasses]*Histogram
	LatchWaitNanos    [NumLatchClasses][NumLatchModes]Counter // of LatchWaitSeconds, by mode

	// Relation extension.
	RelationExtends           [NumExtendPolicies]Counter
	RelationExtendBlocks      *Histogram
	RelationExtendHoldSeconds *Histogram
	ExtensionFSMHits          Counter

	// B-tree.
	BTreeRelatches  Counter
	BTreeMoveRights Counter
	BTreeSplits     Counter
	BTreeCombined   Counter // entries inserted by another session

	// Buffers and blocks.
	BufferHits        Counter
	BufferMisses      Counter
	BufferEvictions   Counter
	BlocksWritten     Counter
	BlocksWrittenBack Counter // by sessions themselves, not by checkpointer or background writer
	BlocksCheckpoint  Counter
	BlocksBackground  Counter

	// Log.
	WALRecords       Counter
	WALBytes         Counter
	WALFullPages     Counter
	WALFlushes       Counter // fsyncs
	WALFlushWaits    Counter // sessions that waited for another's flush
	WALFlushSeconds  *Histogram
	WALBuffersFull   Counter
	Checkpoints      [2]Counter // timed, requested
	CheckpointWrite  *Histogram
	RecoveryReplayed Counter

	// Sessions and statements.
	Commits          Counter
	Rollbacks        Counter
	StatementSeconds [NumStatementKinds]*Histogram
	StatementErrors  Counter
	Connections      Counter
	ConnectionsOpen  Gauge
	PlanCacheHits    Counter
	PlanCacheMisses  Counter

	TuplesInserted, TuplesUpdated, TuplesHOTUpdated, TuplesDeleted Counter
	TuplesReturned, TuplesFetched                                  Counter
	AutovacuumRuns                                                 Counter

	waitEvents struct {
		sync.Mutex
		seconds map[[2]string]*waitEvent
	}
	info struct {
		sync.Mutex
		list []info
	}
}

// info is a metric that is always 1: what it says is in its labels.
type info struct {
	name, help string
	labels     []string
	values     func() []string
}

// AddInfo adds a metric that is always 1, whose label values are asked for at every scrape.
func (s *Set) AddInfo(name, help string, labels []string, values func() []string) {
	s.info.Lock()
	defer s.info.Unlock()
	s.info.list = append(s.info.list, info{name, help, labels, values})
}

// New makes a Set with its own registry.
func New() *Set {
	s := &Set{Registry: prometheus.NewRegistry()}
	lockEdges := decades(1e-6, 30)
	latchEdges := decades(100e-9, 100e-3)
	for i := range s.LockWaitSeconds {
		s.LockWaitSeconds[i] = NewHistogram(lockEdges)
	}
	s.ExtensionLockWaitSeconds = NewHistogram(lockEdges)
	for i := range s.LatchWaitSeconds {
		s.LatchWaitSeconds[i] = NewHistogram(latchEdges)
	}
	s.RelationExtendBlocks = NewHistogram(powersOfTwo(4096))
	s.RelationExtendHoldSeconds = NewHistogram(lockEdges)
	s.WALFlushSeconds = NewHistogram(decades(1e-6, 10))
	s.CheckpointWrite = NewHistogram(decades(1e-3, 1000))
	for i := range s.StatementSeconds {
		s.StatementSeconds[i] = NewHistogram(decades(1e-6, 100))
	}
	s.waitEvents.seconds = make(map[[2]string]*waitEvent)
	s.Registry.MustRegister(&collector{set: s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// Discard makes a Set nobody scrapes, for tests and tools.
func Discard() *Set { return New() }

func powersOfTwo(limit float64) []float64 {
	var edges []float64
	for e := 1.0; e <= limit; e *= 2 {
		edges = append(edges, e)
	}
	return edges
}

type waitEvent struct {
	count Counter
	nanos Counter
	Type  string
	Event string
}

// WaitEvent counts the waits for one event in PostgreSQL's spelling.
type WaitEvent struct{ e *waitEvent }

// WaitEvent resolves an event to its counters; keep the result.
func (s *Set) WaitEvent(eventType, event string) WaitEvent {
	s.waitEvents.Lock()
	defer s.waitEvents.Unlock()
	key := [2]string{eventType, event}
	e := s.waitEvents.seconds[key]
	if e == nil {
		e = &waitEvent{Type: eventType, Event: event}
		s.waitEvents.seconds[key] = e
	}
	return WaitEvent{e}
}

// Add counts one wait of the given length in nanoseconds.
func (w WaitEvent) Add(nanos int64) {
	w.e.count.Inc()
	w.e.nanos.Add(nanos)
}
