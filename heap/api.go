package heap

import (
	"context"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// Shared is the state all heaps of a server share.
type Shared struct{}

// NewShared returns the shared state of one server.
func NewShared() *Shared { return &Shared{} }

type (
	rowLockCount struct{}
	multiState   struct{}
)

// Insert adds a tuple and returns its TID.
func (h *Heap) Insert(ctx context.Context, w *Writer, data []byte, opts InsertOptions) (TID, error) {
	panic("not yet")
}

// MultiInsert adds tuples with one log record a page and appends their TIDs to tids.
func (h *Heap) MultiInsert(ctx context.Context, w *Writer, rows [][]byte, tids []TID, opts InsertOptions) ([]TID, error) {
	panic("not yet")
}

// Update replaces a tuple by a new version.
func (h *Heap) Update(ctx context.Context, w *Writer, snap *txn.Snapshot, tid TID, data []byte, opts UpdateOptions) (newTID TID, hot bool, res Result, err error) {
	panic("not yet")
}

// Delete marks a tuple deleted.
func (h *Heap) Delete(ctx context.Context, w *Writer, snap *txn.Snapshot, tid TID, opts DeleteOptions) (Result, error) {
	panic("not yet")
}

// LockTuple locks a row; dst (may be nil) receives the version locked.
func (h *Heap) LockTuple(ctx context.Context, w *Writer, snap *txn.Snapshot, tid TID, opts LockOptions, dst *FetchBuf) (Result, error) {
	panic("not yet")
}

// NewScan starts a scan.
func (h *Heap) NewScan(snap *txn.Snapshot, opts ScanOptions) *Scan { panic("not yet") }

// Reset points the scan at another block range.
func (s *Scan) Reset(start, end storage.BlockNumber) { panic("not yet") }

// NextPage returns the next page that has tuples to show.
func (s *Scan) NextPage() (*ScanPage, bool, error) { panic("not yet") }

// TID names tuple i.
func (p *ScanPage) TID(i int) TID { panic("not yet") }

// RootTID is what index entries of tuple i point at.
func (p *ScanPage) RootTID(i int) TID { panic("not yet") }

// Data is tuple i's row.
func (p *ScanPage) Data(i int) []byte { panic("not yet") }

// State is tuple i's state, with ScanOptions.All.
func (p *ScanPage) State(i int) TupleState { panic("not yet") }

// Header is tuple i's header.
func (p *ScanPage) Header(i int) Header { panic("not yet") }

// Fetch finds the version snap sees at an index's TID.
func (h *Heap) Fetch(snap *txn.Snapshot, tid TID, dst *FetchBuf) (data []byte, ok bool, err error) {
	panic("not yet")
}

// FetchVersion reads the tuple at exactly tid, visible or not.
func (h *Heap) FetchVersion(tid TID, dst *FetchBuf) (data []byte, ok bool, err error) {
	panic("not yet")
}

// FetchLatest follows updates from tid to the newest committed (or own) version.
func (h *Heap) FetchLatest(ctx context.Context, w *Writer, tid TID, dst *FetchBuf) (data []byte, ok bool, err error) {
	panic("not yet")
}

// LiveStatus tells a uniqueness check what an index entry's TID leads to.
func (h *Heap) LiveStatus(tid TID, tx *txn.Tx) (LiveResult, error) { panic("not yet") }

// NBlocks is the relation's length.
func (h *Heap) NBlocks() (storage.BlockNumber, error) { panic("not yet") }

// AllVisible tells whether the map says every tuple of block is visible to everyone.
// For index-only scans: the epoch must have been read before the index page was.
func (h *Heap) AllVisible(block storage.BlockNumber, epoch uint64, vm *VMBuf) (bool, error) {
	panic("not yet")
}

// ReclaimEpoch is advanced before VACUUM makes TIDs reusable.
func (h *Heap) ReclaimEpoch() uint64 { panic("not yet") }

// Release unpins.
func (b *VMBuf) Release() { panic("not yet") }

// CountAllVisible counts the blocks the map says are all-visible (pg_class.relallvisible).
func (h *Heap) CountAllVisible() (storage.BlockNumber, error) { panic("not yet") }

// Vacuum removes dead tuples.
func (h *Heap) Vacuum(ctx context.Context, w *Writer, opts VacuumOptions) (VacuumStats, error) {
	panic("not yet")
}

// ContainsTID tells whether the sorted list dead has tid.
func ContainsTID(dead []TID, tid TID) bool { panic("not yet") }

// Check verifies every invariant of the relation's pages.
func (h *Heap) Check(report func(tid TID, problem string)) error { panic("not yet") }

// Redoer replays heap records.
type Redoer struct{ d Deps }

// NewRedoer returns the replayer for RMHeap.
func NewRedoer(d Deps) *Redoer { return &Redoer{d: d} }

// Redo implements wal.Redoer.
func (r *Redoer) Redo(rec *wal.Record, c *wal.RedoContext) error { panic("not yet") }
