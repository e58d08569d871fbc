package sql

import (
	"sync"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// statResets is when the statistics of a target of pg_stat_reset_shared were last reset.
type statResets struct {
	sync.Mutex
	at map[metrics.Group]time.Time
}

// resetTargets are those of pg_stat_reset_shared: the last four are ours.
var resetTargets = map[string]metrics.Group{
	"archiver": "archiver", "recovery_prefetch": "recovery_prefetch",
	"bgwriter": metrics.GroupBgwriter, "wal": metrics.GroupWAL,
	"lock": metrics.GroupLock, "latch": metrics.GroupLatch, "extension": metrics.GroupExtension,
	"wait_history": metrics.GroupWaits,
}

// StatReset carries out pg_stat_reset_shared; the counts of one database or table are not reset.
func (f backendFuncs) StatReset(which, target string) error {
	if which != "pg_stat_reset_shared" {
		return nil
	}
	group, ok := resetTargets[target]
	if !ok {
		return pgerr.New(pgerr.InvalidParameterValue, "unrecognized reset target: \"%s\"", target).
			WithHint("Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".")
	}
	srv := f.s.srv
	switch group {
	case metrics.GroupExtension:
		srv.eng.Pool().ResetExtendStats()
	case metrics.GroupWaits:
		srv.eng.ResetWaitHistory()
	}
	srv.metrics.Reset(group)
	srv.resets.Lock()
	defer srv.resets.Unlock()
	if srv.resets.at == nil {
		srv.resets.at = make(map[metrics.Group]time.Time)
	}
	srv.resets.at[group] = srv.now()
	return nil
}

// statsReset is when a group was last reset, or the server's start.
func (f systemFuncs) statsReset(group metrics.Group) types.Datum {
	srv := f.s.srv
	srv.resets.Lock()
	defer srv.resets.Unlock()
	if at, ok := srv.resets.at[group]; ok {
		return timeOrNull(at)
	}
	return timeOrNull(srv.started)
}

const millisecondsPerSecond = 1000

// statLock is pg_stat_lock. Extensions count under their locktype whichever lock the server has: with
// the table of words their sleeps are no ProcSleeps, and the metrics keep them apart.
func (f systemFuncs) statLock() (fn.Set, error) {
	m, reset := f.s.srv.metrics, f.statsReset(metrics.GroupLock)
	out := &rowSet{}
	for t, name := range metrics.LockTypeNames {
		var waits, exceeded int64
		for mode := range m.ProcSleep[t] {
			waits += m.ProcSleep[t][mode].Value()
		}
		seconds := m.LockWaitSeconds[t].Sum()
		switch t {
		case metrics.LockExtend:
			waits += m.ExtensionLockSleep.Value()
			seconds += m.ExtensionLockWaitSeconds.Sum()
		case metrics.LockRelation:
			exceeded = m.LockFastPathExceeded.Value()
		}
		out.rows = append(out.rows, []types.Datum{
			text(name), types.Int64Datum(waits), types.Float64Datum(seconds * millisecondsPerSecond),
			types.Int64Datum(exceeded), reset,
		})
	}
	return out, nil
}

// statLatch is minipg_stat_latch.
func (f systemFuncs) statLatch() (fn.Set, error) {
	m, reset := f.s.srv.metrics, f.statsReset(metrics.GroupLatch)
	out := &rowSet{}
	for c, class := range metrics.LatchClassNames {
		for mode, name := range metrics.LatchModeNames {
			waited := time.Duration(m.LatchWaitNanos[c][mode].Value())
			out.rows = append(out.rows, []types.Datum{
				text(class), text(name), types.Int64Datum(m.LatchAcquisitions[c][mode].Value()),
				types.Int64Datum(m.LatchWaits[c][mode].Value()), types.Float64Datum(inMS(waited)), reset,
			})
		}
	}
	return out, nil
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// relationsByFile finds the relations of the session's database by their files.
func (s *Session) relationsByFile() (map[storage.RelFile]catalog.OID, error) {
	found := make(map[storage.RelFile]catalog.OID)
	db := uint32(s.database.OID)
	err := s.eng.Catalog().Scan(catalog.PgClass, nil, func(r catalog.Row) error {
		if n := r[catalog.ClassFileNumber]; !n.Null && n.W != 0 {
			// File numbers are never given out twice: the tablespace says nothing more.
			found[storage.RelFile{Database: db, Number: storage.FileNumber(n.W)}] = r[catalog.ClassOid].OID()
		}
		return nil
	})
	return found, err
}

// statExtension is minipg_stat_extension: the relations of this database that were extended since the
// start, the last reset, or their last rewrite.
func (f systemFuncs) statExtension() (fn.Set, error) {
	relations, err := f.s.relationsByFile()
	if err != nil {
		return nil, err
	}
	reset := f.statsReset(metrics.GroupExtension)
	out := &rowSet{}
	f.s.srv.eng.Pool().ExtendStats(func(st storage.ExtendStats) {
		st.Rel.Tablespace = 0
		if rel, ok := relations[st.Rel]; ok {
			out.rows = append(out.rows, []types.Datum{
				types.OIDDatum(rel), text(st.Fork.String()), types.Int64Datum(st.Extends), types.Int64Datum(st.Blocks),
				types.Int64Datum(st.Waits), types.Int64Datum(st.FSMHits), reset,
			})
		}
	})
	return out, nil
}

// waitHistory is minipg_wait_history. Waits of other databases for pages and extensions name no relation.
func (f systemFuncs) waitHistory() (fn.Set, error) {
	relations, err := f.s.relationsByFile()
	if err != nil {
		return nil, err
	}
	out := &rowSet{}
	for _, w := range f.s.srv.eng.WaitHistory() {
		row := nulls(11)
		row[0], row[1] = pidOrNull(w.Waiter), pidOrNull(w.Holder)
		row[2], row[3], row[4], row[5] = text(w.Type), text(w.Event), text(w.Object), text(w.Mode)
		w.File.Tablespace = 0
		if w.Relation == 0 {
			w.Relation = relations[w.File]
		}
		if w.Database != 0 {
			row[6] = types.OIDDatum(w.Database)
		}
		if w.Relation != 0 {
			row[7] = types.OIDDatum(w.Relation)
		}
		if w.Block != storage.InvalidBlock {
			row[8] = types.Int64Datum(int64(w.Block))
		}
		row[9], row[10] = types.Float64Datum(inMS(w.Duration)), timeOrNull(w.Start.Add(w.Duration))
		out.rows = append(out.rows, row)
	}
	return out, nil
}

func pidOrNull(pid int32) types.Datum {
	if pid == 0 {
		return types.NullDatum
	}
	return types.Int64Datum(int64(pid))
}
