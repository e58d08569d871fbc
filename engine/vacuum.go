package engine

import (
	"context"
	"math"
	"time"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// How long VACUUM tries for the lock that lets it cut off a relation's end; PostgreSQL's.
const (
	truncateTries = 100
	truncatePause = 50 * time.Millisecond
)

// VacuumOptions shape Vacuum.
type VacuumOptions struct {
	Freeze, DisablePageSkipping bool
	NoTruncate                  bool
	// Auto paces the vacuum by autovacuum's cost settings instead of vacuum's, and does not wait for
	// locks.
	Auto bool
}

// VacuumResult is what a Vacuum did.
type VacuumResult struct {
	heap.VacuumStats
	Indexes []IndexVacuum
}

// IndexVacuum is what a Vacuum did to an index.
type IndexVacuum struct {
	Index *catalog.Index
	btree.VacuumStats
}

// Vacuum removes dead rows of a table and their index entries, updates the visibility and free
// space maps and pg_class's counts. It runs in the open transaction, which holds
// ShareUpdateExclusiveLock on the table and no snapshot. TOAST tables are relations of their own.
func (s *Session) Vacuum(ctx context.Context, rel *catalog.Relation, opts VacuumOptions) (VacuumResult, error) {
	t, err := s.OpenTable(ctx, rel)
	if err != nil {
		return VacuumResult{}, err
	}
	v := &vacuumRun{s: s, t: t, opts: opts, pace: s.vacuumPace(opts.Auto)}
	hopts := heap.VacuumOptions{
		Full: opts.DisablePageSkipping, Aggressive: opts.Freeze, Delay: v.pace.delay,
		Ring: s.e.pool.NewRing(storage.RingVacuum), OldPages: storage.BlockNumber(rel.Pages), OldTuples: float64(rel.Tuples),
		MaxDead: int(max(s.e.opt.MaintenanceWorkMem()/tidMemory, 1)),
	}
	if len(t.indexes) > 0 {
		hopts.RemoveIndexEntries = v.removeEntries
	}
	if !opts.NoTruncate {
		hopts.Truncate = v.lockForTruncate
	}
	if v.res.VacuumStats, err = t.heap.Vacuum(ctx, &s.heapW, hopts); err != nil {
		return v.res, err
	}
	if v.res.Indexes == nil {
		if err := v.cleanIndexes(ctx); err != nil {
			return v.res, err
		}
	}
	return v.res, v.record()
}

// tidMemory is what a dead TID takes of maintenance_work_mem.
const tidMemory = 8

type vacuumRun struct {
	s    *Session
	t    *Table
	opts VacuumOptions
	pace *vacuumPace
	res  VacuumResult
}

// removeEntries is one pass over all indexes.
func (v *vacuumRun) removeEntries(ctx context.Context, dead []TID) error {
	first := v.res.Indexes == nil
	for i, ti := range v.t.indexes {
		st, err := ti.tree.VacuumScan(ctx, &v.s.treeW, func(tid btree.TID) bool { return heap.ContainsTID(dead, TID(tid)) })
		if err != nil {
			return err
		}
		if first {
			v.res.Indexes = append(v.res.Indexes, IndexVacuum{Index: ti.idx, VacuumStats: st})
		} else {
			removed := v.res.Indexes[i].Removed
			v.res.Indexes[i].VacuumStats = st
			v.res.Indexes[i].Removed += removed
		}
	}
	return nil
}

// cleanIndexes looks for blocks that indexes do not use, where no dead row was reason to go through them.
func (v *vacuumRun) cleanIndexes(ctx context.Context) error {
	for _, ti := range v.t.indexes {
		if !ti.tree.NeedsCleanup() {
			continue
		}
		st, err := ti.tree.VacuumScan(ctx, &v.s.treeW, nil)
		if err != nil {
			return err
		}
		v.res.Indexes = append(v.res.Indexes, IndexVacuum{Index: ti.idx, VacuumStats: st})
	}
	return nil
}

// lockForTruncate tries for a while: readers come and go.
func (v *vacuumRun) lockForTruncate(ctx context.Context) (release func(), ok bool) {
	tag := locks.RelationTag(uint32(v.s.db), uint32(v.t.rel.OID))
	tries := truncateTries
	if v.opts.Auto {
		tries = 1
	}
	for range tries {
		if v.s.lock.TryLock(tag, locks.AccessExclusive, locks.LockOptions{}) {
			return func() { v.s.lock.Unlock(tag, locks.AccessExclusive) }, true
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(truncatePause):
		}
	}
	return nil, false
}

// record updates pg_class and the counters.
func (v *vacuumRun) record() error {
	st := &v.res.VacuumStats
	err := v.s.setRelStats(v.t.rel.OID, relStats{
		pages: st.Pages - st.PagesRemoved, tuples: st.LiveTuples, allVisible: st.AllVisible,
	})
	if err != nil {
		return err
	}
	for _, ix := range v.res.Indexes {
		if err := v.s.setRelStats(ix.Index.OID, relStats{pages: ix.Pages, tuples: float64(ix.Entries)}); err != nil {
			return err
		}
	}
	c := v.t.stats
	c.live.Store(int64(st.LiveTuples))
	c.dead.Store(st.RecentlyDead)
	c.insertedSince.Store(0)
	which := &c.vacuum
	if v.opts.Auto {
		which = &c.autovacuum
	}
	which.count.Add(1)
	which.last.Store(v.s.e.cfg.Now().UnixMicro())
	return nil
}

// relStats are pg_class's counts of a relation.
type relStats struct {
	pages, allVisible int64
	tuples            float64
}

// setRelStats stores counts that changed; equal ones are left alone, as every change of a row
// makes plans anew.
func (s *Session) setRelStats(oid catalog.OID, st relStats) error {
	row, err := s.cat.Get(catalog.PgClass, types.OIDDatum(oid))
	if err != nil || row == nil {
		return err
	}
	tuples := float64(float32(math.Max(st.tuples, 0)))
	if row[catalog.ClassRelpages].Int64() == st.pages && row[catalog.ClassReltuples].Float64() == tuples &&
		row[catalog.ClassRelallvisible].Int64() == st.allVisible {
		return nil
	}
	row[catalog.ClassRelpages] = types.Int64Datum(st.pages)
	row[catalog.ClassReltuples] = types.Float64Datum(tuples)
	row[catalog.ClassRelallvisible] = types.Int64Datum(st.allVisible)
	return s.cat.Update(catalog.PgClass, row)
}

// SetRelStats stores what ANALYZE found of a relation.
func (s *Session) SetRelStats(oid catalog.OID, pages, allVisible int64, tuples float64) error {
	return s.setRelStats(oid, relStats{pages: pages, allVisible: allVisible, tuples: tuples})
}

// vacuumPace sleeps when the work since the last sleep cost more than the limit.
type vacuumPace struct {
	pause   func() time.Duration
	limit   func() int
	balance int
}

func (s *Session) vacuumPace(auto bool) *vacuumPace {
	o := &s.e.opt
	if auto {
		return &vacuumPace{pause: o.AutovacuumCostDelay, limit: o.AutovacuumCostLimit}
	}
	return &vacuumPace{pause: o.VacuumCostDelay, limit: o.VacuumCostLimit}
}

func (p *vacuumPace) delay(ctx context.Context, cost int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	pause := p.pause()
	if pause <= 0 {
		return nil
	}
	limit := max(p.limit(), 1)
	if p.balance += cost; p.balance < limit {
		return nil
	}
	wait := pause * time.Duration(p.balance) / time.Duration(limit)
	wait = min(wait, 4*pause)
	p.balance = 0
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}
