package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// collector turns a Set into Prometheus samples when it is scraped.
type collector struct{ set *Set }

// Describe sends nothing: the collector is unchecked, since wait events appear
// while the server runs.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends every sample.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	for _, f := range c.set.families() {
		desc := prometheus.NewDesc(f.name, f.help, f.labels, nil)
		for _, s := range f.samples {
			out <- s.metric(desc, f.kind)
		}
	}
}

func (s sample) metric(desc *prometheus.Desc, kind prometheus.ValueType) prometheus.Metric {
	if s.histogram != nil {
		count, sum, cumulative := s.histogram.Snapshot()
		return prometheus.MustNewConstHistogram(desc, count, sum, cumulative, s.values...)
	}
	return prometheus.MustNewConstMetric(desc, kind, s.value, s.values...)
}

type family struct {
	name, help string
	labels     []string
	kind       prometheus.ValueType
	samples    []sample
	group      Group
	reset      []*Counter // besides the histograms of samples
}

type sample struct {
	values    []string
	value     float64
	histogram *Histogram
}

func counter(name, help string, c *Counter) family {
	return family{
		name: name, help: help, kind: prometheus.CounterValue,
		samples: []sample{{value: float64(c.Value())}}, reset: []*Counter{c},
	}
}

func gauge(name, help string, g *Gauge) family {
	return family{
		name: name, help: help, kind: prometheus.GaugeValue,
		samples: []sample{{value: float64(g.Value())}},
	}
}

func histogram(name, help string, h *Histogram) family {
	return family{name: name, help: help, samples: []sample{{histogram: h}}}
}

func (f *family) counter(c *Counter, values ...string) {
	f.kind = prometheus.CounterValue
	f.samples = append(f.samples, sample{values: values, value: float64(c.Value())})
	f.reset = append(f.reset, c)
}

// families lists every metric with its samples of this moment.
func (s *Set) families() []family {
	var all []family
	add := func(g Group, fams ...family) {
		for i := range fams {
			fams[i].group = g
		}
		all = append(all, fams...)
	}
	add(GroupLock, s.lockFamilies()...)
	add(GroupLatch, s.latchFamilies()...)
	add(GroupExtension, s.extensionFamilies()...)
	add(GroupBgwriter, s.bufferFamilies()...)
	add(GroupWAL, s.logFamilies()...)
	add(GroupSession, s.sessionFamilies()...)
	add(GroupWaits, s.waitEventFamilies()...)
	s.info.Lock()
	defer s.info.Unlock()
	for _, i := range s.info.list {
		all = append(all, family{
			name: i.name, help: i.help, labels: i.labels, kind: prometheus.GaugeValue,
			samples: []sample{{values: i.values(), value: 1}},
		})
	}
	return all
}

func (s *Set) lockFamilies() []family {
	sleeps := family{
		name:   "minipg_proc_sleep_total",
		help:   "Times a session slept on a heavyweight lock.",
		labels: []string{"locktype", "mode"},
	}
	acquisitions := family{
		name:   "minipg_lock_acquisitions_total",
		help:   "Heavyweight locks acquired.",
		labels: []string{"locktype", "path"},
	}
	sleeping := family{
		name:   "minipg_proc_sleeping",
		help:   "Sessions asleep on a heavyweight lock now.",
		labels: []string{"locktype"}, kind: prometheus.GaugeValue,
	}
	waits := family{
		name:   "minipg_lock_wait_seconds",
		help:   "Time slept on a heavyweight lock.",
		labels: []string{"locktype"},
	}
	for t, typ := range LockTypeNames {
		for m := 1; m < NumLockModes; m++ {
			sleeps.counter(&s.ProcSleep[t][m], typ, LockModeNames[m])
		}
		for p, path := range lockPathNames {
			acquisitions.counter(&s.LockAcquisitions[t][p], typ, path)
		}
		sleeping.samples = append(sleeping.samples,
			sample{values: []string{typ}, value: float64(s.ProcSleeping[t].Value())})
		waits.samples = append(waits.samples, sample{values: []string{typ}, histogram: s.LockWaitSeconds[t]})
	}
	return []family{
		sleeps, acquisitions, sleeping, waits,
		counter("minipg_lock_fastpath_exceeded_total",
			"Relation locks that went to the lock table since the session's fast path was full.",
			&s.LockFastPathExceeded),
		counter("minipg_deadlocks_total", "Deadlocks detected.", &s.Deadlocks),
		counter("minipg_extension_lock_sleep_total",
			"Times a session slept on an entry of the extension lock table.", &s.ExtensionLockSleep),
		counter("minipg_extension_lock_acquisitions_total",
			"Entries of the extension lock table acquired.", &s.ExtensionLockAcquisitions),
		histogram("minipg_extension_lock_wait_seconds",
			"Time slept on an entry of the extension lock table.", s.ExtensionLockWaitSeconds),
	}
}

func (s *Set) latchFamilies() []family {
	acquisitions := family{
		name: "minipg_latch_acquisitions_total", help: "Page latches acquired.",
		labels: []string{"class", "mode"},
	}
	waits := family{
		name: "minipg_latch_waits_total", help: "Page latches that had to wait.",
		labels: []string{"class", "mode"},
	}
	seconds := family{
		name: "minipg_latch_wait_seconds", help: "Time waited for a page latch.",
		labels: []string{"class"},
	}
	for c, class := range LatchClassNames {
		for m, mode := range LatchModeNames {
			acquisitions.counter(&s.LatchAcquisitions[c][m], class, mode)
			waits.counter(&s.LatchWaits[c][m], class, mode)
			seconds.reset = append(seconds.reset, &s.LatchWaitNanos[c][m])
		}
		seconds.samples = append(seconds.samples, sample{values: []string{class}, histogram: s.LatchWaitSeconds[c]})
	}
	return []family{
		acquisitions, waits, seconds,
		counter("minipg_btree_leaf_relatches_total",
			"Leaves latched again exclusively after a shared descent.", &s.BTreeRelatches),
		counter("minipg_btree_move_rights_total", "Moves to a right sibling.", &s.BTreeMoveRights),
		counter("minipg_btree_splits_total", "B-tree page splits.", &s.BTreeSplits),
		counter("minipg_btree_combined_total", "Entries that the session with the leaf's latch inserted for another.",
			&s.BTreeCombined),
	}
}

func (s *Set) extensionFamilies() []family {
	extends := family{
		name: "minipg_relation_extends_total", help: "Relation extensions.",
		labels: []string{"policy"},
	}
	for p, policy := range ExtendPolicyNames {
		extends.counter(&s.RelationExtends[p], policy)
	}
	return []family{
		extends,
		histogram("minipg_relation_extend_blocks", "Blocks added by one extension.", s.RelationExtendBlocks),
		histogram("minipg_relation_extend_hold_seconds", "Time an extension held its lock.",
			s.RelationExtendHoldSeconds),
		counter("minipg_extension_fsm_hits_after_wait_total",
			"Extensions avoided since the free space map had a block after the wait.", &s.ExtensionFSMHits),
	}
}

func (s *Set) bufferFamilies() []family {
	checkpoints := family{
		name: "minipg_checkpoints_total", help: "Checkpoints by cause.",
		labels: []string{"cause"},
	}
	checkpoints.counter(&s.Checkpoints[0], "timed")
	checkpoints.counter(&s.Checkpoints[1], "requested")
	return []family{
		counter("minipg_buffer_hits_total", "Blocks found in the buffer pool.", &s.BufferHits),
		counter("minipg_buffer_misses_total", "Blocks read into the buffer pool.", &s.BufferMisses),
		counter("minipg_buffer_evictions_total", "Buffers evicted.", &s.BufferEvictions),
		counter("minipg_blocks_written_total", "Blocks written to relation files.", &s.BlocksWritten),
		counter("minipg_blocks_written_backend_total", "Blocks sessions wrote themselves.", &s.BlocksWrittenBack),
		counter("minipg_blocks_written_checkpoint_total", "Blocks checkpoints wrote.", &s.BlocksCheckpoint),
		counter("minipg_blocks_written_background_total", "Blocks the background writer wrote.", &s.BlocksBackground),
		checkpoints,
		histogram("minipg_checkpoint_seconds", "Time of one checkpoint.", s.CheckpointWrite),
		counter("minipg_recovery_records_total", "Log records replayed at start.", &s.RecoveryReplayed),
	}
}

func (s *Set) logFamilies() []family {
	return []family{
		counter("minipg_wal_records_total", "Log records inserted.", &s.WALRecords),
		counter("minipg_wal_bytes_total", "Bytes of log inserted.", &s.WALBytes),
		counter("minipg_wal_full_page_images_total", "Full page images logged.", &s.WALFullPages),
		counter("minipg_wal_flushes_total", "Times the log was synced.", &s.WALFlushes),
		counter("minipg_wal_flush_waits_total", "Times a session waited for another's sync.", &s.WALFlushWaits),
		histogram("minipg_wal_flush_seconds", "Time of one log sync.", s.WALFlushSeconds),
		counter("minipg_wal_buffers_full_total", "Times the log buffers were full.", &s.WALBuffersFull),
	}
}

func (s *Set) sessionFamilies() []family {
	statements := family{
		name: "minipg_statement_seconds", help: "Time of one statement.",
		labels: []string{"kind"},
	}
	for k, kind := range statementKindNames {
		statements.samples = append(statements.samples,
			sample{values: []string{kind}, histogram: s.StatementSeconds[k]})
	}
	transactions := family{
		name: "minipg_transactions_total", help: "Transactions ended.",
		labels: []string{"outcome"},
	}
	transactions.counter(&s.Commits, "commit")
	transactions.counter(&s.Rollbacks, "rollback")
	tuples := family{name: "minipg_tuples_total", help: "Tuples by operation.", labels: []string{"operation"}}
	tuples.counter(&s.TuplesInserted, "insert")
	tuples.counter(&s.TuplesUpdated, "update")
	tuples.counter(&s.TuplesHOTUpdated, "hot_update")
	tuples.counter(&s.TuplesDeleted, "delete")
	tuples.counter(&s.TuplesReturned, "return")
	tuples.counter(&s.TuplesFetched, "fetch")
	return []family{
		statements, transactions, tuples,
		counter("minipg_statement_errors_total", "Statements that ended in an error.", &s.StatementErrors),
		counter("minipg_connections_total", "Connections accepted.", &s.Connections),
		gauge("minipg_connections", "Connections open now.", &s.ConnectionsOpen),
		counter("minipg_plan_cache_hits_total", "Statements that found their plan.", &s.PlanCacheHits),
		counter("minipg_plan_cache_misses_total", "Statements that were parsed and planned.", &s.PlanCacheMisses),
		counter("minipg_autovacuum_runs_total", "Tables vacuumed or analyzed by autovacuum.", &s.AutovacuumRuns),
	}
}

func (s *Set) waitEventFamilies() []family {
	labels := []string{"wait_event_type", "wait_event"}
	count := family{name: "minipg_wait_events_total", help: "Waits by event.", labels: labels, kind: prometheus.CounterValue}
	seconds := family{
		name: "minipg_wait_event_seconds_total", help: "Time waited by event.", labels: labels,
		kind: prometheus.CounterValue,
	}
	s.waitEvents.Lock()
	defer s.waitEvents.Unlock()
	for _, e := range s.waitEvents.seconds {
		count.counter(&e.count, e.Type, e.Event)
		seconds.samples = append(seconds.samples, sample{
			values: []string{e.Type, e.Event}, value: float64(e.nanos.Value()) / 1e9,
		})
		seconds.reset = append(seconds.reset, &e.nanos)
	}
	return []family{count, seconds}
}

// Reset sets every counter and histogram of the groups back to zero; of all groups if none is named.
func (s *Set) Reset(groups ...Group) {
	for _, f := range s.families() {
		if len(groups) > 0 && !slices.Contains(groups, f.group) {
			continue
		}
		for _, c := range f.reset {
			c.reset()
		}
		for _, sm := range f.samples {
			if sm.histogram != nil {
				sm.histogram.reset()
			}
		}
	}
}
