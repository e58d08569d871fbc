package engine

import (
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/types"
)

// TableStats are the activity counters of a table since the server started
// (pg_stat_all_tables), which autovacuum goes by.
type TableStats struct {
	SeqScans, SeqTuples, IndexScans, IndexFetches                int64
	Inserted, Updated, Deleted, HotUpdated                       int64
	Live, Dead, ModifiedSinceAnalyze, InsertedSinceVacuum        int64
	LastVacuum, LastAutovacuum, LastAnalyze, LastAutoanalyze     int64 // unix microseconds, 0 never
	VacuumCount, AutovacuumCount, AnalyzeCount, AutoanalyzeCount int64
}

// tableStats are the live counters behind TableStats.
type tableStats struct {
	key                                           tableKey
	seqScans, seqTuples, indexScans, indexFetches atomic.Int64
	inserted, updated, deleted, hotUpdated        atomic.Int64
	live, dead, modified, insertedSince           atomic.Int64

	vacuum, autovacuum, analyze, autoanalyze struct {
		last, count atomic.Int64
	}
}

// statsTable holds the counters of every table that was opened; autovacuum drops those of tables that
// are gone.
type statsTable struct {
	sync.RWMutex
	tables map[tableKey]*tableStats
}

func (st *statsTable) init() { st.tables = make(map[tableKey]*tableStats) }

func (st *statsTable) table(db, rel catalog.OID) *tableStats {
	key := tableKey{db, rel}
	st.RLock()
	t := st.tables[key]
	st.RUnlock()
	if t != nil {
		return t
	}
	st.Lock()
	defer st.Unlock()
	if t = st.tables[key]; t == nil {
		t = &tableStats{key: key}
		st.tables[key] = t
	}
	return t
}

func (st *statsTable) forget(key tableKey) {
	st.Lock()
	defer st.Unlock()
	delete(st.tables, key)
}

func (st *statsTable) all() []*tableStats {
	st.RLock()
	defer st.RUnlock()
	out := make([]*tableStats, 0, len(st.tables))
	for _, t := range st.tables {
		out = append(out, t)
	}
	return out
}

// TableStats returns the counters of a table.
func (e *Engine) TableStats(db, rel types.OID) TableStats {
	t := e.stats.table(db, rel)
	return TableStats{
		SeqScans: t.seqScans.Load(), SeqTuples: t.seqTuples.Load(),
		IndexScans: t.indexScans.Load(), IndexFetches: t.indexFetches.Load(),
		Inserted: t.inserted.Load(), Updated: t.updated.Load(), Deleted: t.deleted.Load(), HotUpdated: t.hotUpdated.Load(),
		Live: max(t.live.Load(), 0), Dead: max(t.dead.Load(), 0),
		ModifiedSinceAnalyze: t.modified.Load(), InsertedSinceVacuum: t.insertedSince.Load(),
		LastVacuum: t.vacuum.last.Load(), LastAutovacuum: t.autovacuum.last.Load(),
		LastAnalyze: t.analyze.last.Load(), LastAutoanalyze: t.autoanalyze.last.Load(),
		VacuumCount: t.vacuum.count.Load(), AutovacuumCount: t.autovacuum.count.Load(),
		AnalyzeCount: t.analyze.count.Load(), AutoanalyzeCount: t.autoanalyze.count.Load(),
	}
}

// NoteAnalyzed tells that ANALYZE of a table committed, having found so many rows.
func (e *Engine) NoteAnalyzed(db, rel types.OID, live, dead float64, auto bool) {
	t := e.stats.table(db, rel)
	t.live.Store(int64(live))
	t.dead.Store(int64(dead))
	t.modified.Store(0)
	which := &t.analyze
	if auto {
		which = &t.autoanalyze
	}
	which.count.Add(1)
	which.last.Store(e.cfg.Now().UnixMicro())
}

// tableDelta is what a statement did to a table.
type tableDelta struct{ inserted, updated, hot, deleted int64 }

// tableCount is what the open transaction did to a table.
type tableCount struct {
	stats *tableStats
	tableDelta
}

func (s *Session) count(t *tableStats, d tableDelta) {
	n := len(s.counts) - 1
	if n < 0 || s.counts[n].stats != t {
		for n = 0; n < len(s.counts) && s.counts[n].stats != t; n++ {
		}
		if n == len(s.counts) {
			s.counts = append(s.counts, tableCount{stats: t})
		}
	}
	c := &s.counts[n]
	c.inserted += d.inserted
	c.updated += d.updated
	c.hot += d.hot
	c.deleted += d.deleted
}

func (s *Session) countCommit() {
	for i := range s.counts {
		c := &s.counts[i]
		c.add()
		c.stats.live.Add(c.inserted - c.deleted)
		c.stats.dead.Add(c.updated + c.deleted)
	}
	s.forgetCounts()
}

// countAbort: what an aborted transaction wrote is dead.
func (s *Session) countAbort() {
	for i := range s.counts {
		c := &s.counts[i]
		c.add()
		c.stats.dead.Add(c.inserted + c.updated)
	}
	s.forgetCounts()
}

func (c *tableCount) add() {
	c.stats.inserted.Add(c.inserted)
	c.stats.updated.Add(c.updated)
	c.stats.deleted.Add(c.deleted)
	c.stats.hotUpdated.Add(c.hot)
	c.stats.modified.Add(c.inserted + c.updated + c.deleted)
	c.stats.insertedSince.Add(c.inserted)
}

func (s *Session) forgetCounts() {
	clear(s.counts)
	s.counts = s.counts[:0]
}
