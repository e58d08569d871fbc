package exec

import (
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// Tables opens tables. The real one is the session's; tests have one in memory.
type Tables interface {
	Open(ctx context.Context, rel *catalog.Relation) (Table, error)
}

// Table is engine.Table as operators use it; see there for the contracts.
type Table interface {
	NewScan(snap *txn.Snapshot, opts engine.ScanOptions) Scan
	NewIndexScan(idx types.OID, opts engine.IndexScanOptions) (IndexScan, error)
	Blocks() (storage.BlockNumber, error)
	Fetch(ctx context.Context, snap *txn.Snapshot, tid engine.TID, dst *engine.Row) (bool, error)
	FetchVisible(ctx context.Context, snap *txn.Snapshot, tid engine.TID, dst *engine.Row) (bool, error)
	FetchVersion(ctx context.Context, tid engine.TID, dst *engine.Row) (bool, error)
	Insert(ctx context.Context, s *engine.Session, row []types.Datum, opts engine.InsertOptions) (engine.TID, error)
	InsertBatch(ctx context.Context, s *engine.Session, rows [][]types.Datum, tids []engine.TID,
		opts engine.InsertOptions) ([]engine.TID, error)
	InsertOrConflict(ctx context.Context, s *engine.Session, row []types.Datum, arbiters []types.OID,
		opts engine.InsertOptions) (tid, conflict engine.TID, ok bool, err error)
	Update(ctx context.Context, s *engine.Session, snap *txn.Snapshot, tid engine.TID, old, row []types.Datum,
		opts engine.UpdateOptions) (engine.TID, heap.Result, error)
	Delete(ctx context.Context, s *engine.Session, snap *txn.Snapshot, tid engine.TID,
		opts engine.UpdateOptions) (heap.Result, error)
	LockRow(ctx context.Context, s *engine.Session, snap *txn.Snapshot, tid engine.TID, opts heap.LockOptions,
		dst *engine.Row) (heap.Result, error)
}

// Scan is engine.Scan.
type Scan interface {
	Rewind(snap *txn.Snapshot)
	SetRange(start, end storage.BlockNumber)
	Next(ctx context.Context, batch *types.Batch) (bool, error)
	TIDs() []engine.TID
	Header(i int) heap.Header
	Close()
}

// IndexScan is engine.IndexScan.
type IndexScan interface {
	Seek(snap *txn.Snapshot, r *engine.KeyRange) error
	Next(ctx context.Context, batch *types.Batch) (bool, error)
	TIDs() []engine.TID
	Header(i int) heap.Header
	HeapFetches() int64
	Close()
}

type engineTable struct{ *engine.Table }

func (t engineTable) NewScan(snap *txn.Snapshot, opts engine.ScanOptions) Scan {
	return t.Table.NewScan(snap, opts)
}

func (t engineTable) NewIndexScan(idx types.OID, opts engine.IndexScanOptions) (IndexScan, error) {
	return t.Table.NewIndexScan(idx, opts)
}

// openTable opens the table of a descriptor.
func (rt *runtime) openTable(rel *catalog.Relation) (Table, error) {
	if rt.st.Tables != nil {
		return rt.st.Tables.Open(rt.ctx, rel)
	}
	t, err := rt.st.Session.OpenTable(rt.ctx, rel)
	if err != nil {
		return nil, err
	}
	return engineTable{t}, nil
}
