package engine

import (
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/types"
)

// VacuumOptions shape Vacuum.
type VacuumOptions struct {
	Full, Freeze, DisablePageSkipping bool
	NoIndexCleanup, NoTruncate        bool
	// CostDelay paces autovacuum: vacuum_cost_delay and limit.
	Paced bool
}

// VacuumResult is what a Vacuum did.
type VacuumResult struct {
	heap.VacuumStats
	IndexesScanned int
}

// Vacuum removes dead rows of a table and their index entries, and updates the visibility
// and free space maps. Outside a transaction block: it runs in the transaction that is open, which
// holds ShareUpdateExclusiveLock on the table.
func (s *Session) Vacuum(ctx context.Context, rel *catalog.Relation, opts VacuumOptions) (VacuumResult, error) {
	return VacuumResult{}, nil
}

// Sample is what ANALYZE looks at.
type Sample struct {
	Rows          [][]types.Datum // plain values, in physical order
	TotalRows     float64
	DeadRows      float64
	Pages         int64
	AllVisible    int64
	RowsPerBlock  float64
	BlocksSampled int64
}

// Sample reads a random sample of at most n rows (PostgreSQL's two-stage block and
// reservoir sampling).
func (s *Session) Sample(ctx context.Context, rel *catalog.Relation, n int) (*Sample, error) {
	return nil, nil
}

// TableStats are the activity counters of a table since the server started
// (pg_stat_all_tables), which autovacuum goes by.
type TableStats struct {
	SeqScans, SeqTuples, IndexScans, IndexFetches                int64
	Inserted, Updated, Deleted, HotUpdated                       int64
	Live, Dead, ModifiedSinceAnalyze, InsertedSinceVacuum        int64
	LastVacuum, LastAutovacuum, LastAnalyze, LastAutoanalyze     int64 // unix microseconds, 0 never
	VacuumCount, AutovacuumCount, AnalyzeCount, AutoanalyzeCount int64
}

// TableStats returns the counters of a table.
func (e *Engine) TableStats(db, rel types.OID) TableStats { return TableStats{} }
