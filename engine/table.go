package engine

import (
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// TID names a row version.
type TID = heap.TID

// IndexExpr computes an expression key column of an index from a row of its table
// (attributes in order, plain values).
type IndexExpr func(ctx context.Context, s *Session, row []types.Datum) (types.Datum, error)

// IndexPredicate tells whether a partial index holds the row.
type IndexPredicate func(ctx context.Context, s *Session, row []types.Datum) (bool, error)

// IndexExprCompiler turns the SQL texts of an index into functions. The sql layer
// satisfies it; it is asked once per table version and only for indexes that have any.
type IndexExprCompiler interface {
	// CompileIndex returns one function per key (nil for plain columns) and the predicate (nil
	// for none).
	CompileIndex(ctx context.Context, s *Session, rel *catalog.Relation, idx *catalog.Index) ([]IndexExpr, IndexPredicate, error)
}

// Table joins a heap with its indexes and TOAST relation. It belongs to one
// version of its descriptor and is shared by all sessions.
type Table struct {
	e   *Engine
	rel *catalog.Relation
}

// Rel is the descriptor the table was opened with.
func (t *Table) Rel() *catalog.Relation { return t.rel }

// Heap is the table's heap, for what needs no index.
func (t *Table) Heap() *heap.Heap { return nil }

// OpenTable returns the table of a descriptor, from the cache where one of the same version is.
func (s *Session) OpenTable(ctx context.Context, rel *catalog.Relation) (*Table, error) {
	return nil, nil
}

// InsertOptions shape Insert and InsertBatch.
type InsertOptions struct {
	// Frozen is COPY FREEZE: see heap.InsertOptions.
	Frozen bool
	// SkipFSM and Ring are for bulk loads.
	SkipFSM bool
	Ring    *storage.Ring
	// DeferUnique collects, instead of failing, duplicates of deferrable constraints (those with
	// Immediate false) to be looked at again; nil checks them at once.
	DeferUnique func(idx *catalog.Index, tid TID, row []types.Datum)
}

// Insert adds a row, one datum per attribute (dropped ones null), to the table and its
// indexes. A duplicate is 23505 in PostgreSQL's words.
func (t *Table) Insert(ctx context.Context, s *Session, row []types.Datum, opts InsertOptions) (TID, error) {
	return TID{}, nil
}

// InsertBatch adds rows and appends their TIDs to tids: a log record a page. Rows may
// be reused after it returns.
func (t *Table) InsertBatch(ctx context.Context, s *Session, rows [][]types.Datum, tids []TID, opts InsertOptions) ([]TID, error) {
	return tids, nil
}

// InsertOrConflict is Insert for ON CONFLICT: where a row conflicts on one of the arbiters (none
// given: any unique index) nothing is inserted and conflict is the TID of the row in the way,
// committed or this transaction's own. It waits for transactions that may turn out to conflict.
func (t *Table) InsertOrConflict(ctx context.Context, s *Session, row []types.Datum, arbiters []types.OID, opts InsertOptions) (tid, conflict TID, ok bool, err error) {
	return TID{}, TID{}, true, nil
}

// UpdateOptions shape Update and Delete.
type UpdateOptions struct {
	Wait heap.WaitPolicy
	// DeferUnique as in InsertOptions.
	DeferUnique func(idx *catalog.Index, tid TID, row []types.Datum)
}

// Update replaces the version at tid. old is its row as Fetch gave it (out-of-line values may
// be left in their stored form), row the new one; which indexes need entries, and whether the
// update can be HOT, is found by comparing them. Unless res.Status is heap.Ok
// nothing was changed.
func (t *Table) Update(ctx context.Context, s *Session, snap *txn.Snapshot, tid TID, old, row []types.Datum, opts UpdateOptions) (newTID TID, res heap.Result, err error) {
	return TID{}, heap.Result{}, nil
}

// Delete deletes the version at tid.
func (t *Table) Delete(ctx context.Context, s *Session, snap *txn.Snapshot, tid TID, opts UpdateOptions) (heap.Result, error) {
	return heap.Result{}, nil
}

// LockRow locks a row. dst receives the version locked (res.TID).
func (t *Table) LockRow(ctx context.Context, s *Session, snap *txn.Snapshot, tid TID, opts heap.LockOptions, dst *Row) (heap.Result, error) {
	return heap.Result{}, nil
}

// Row receives one fetched row; it is reused from fetch to fetch, its datums are
// valid until then.
type Row struct {
	TID    TID
	Header heap.Header
	// Values are the attributes in order, plain (detoasted) unless asked for otherwise.
	Values []types.Datum

	fetch heap.FetchBuf
	arena []byte
}

// Fetch reads the version of the row at tid (or, with an index's TID, of its HOT chain) that snap
// sees.
func (t *Table) Fetch(ctx context.Context, snap *txn.Snapshot, tid TID, dst *Row) (bool, error) {
	return false, nil
}

// FetchVersion reads the version at exactly tid, visible or not (RETURNING, re-evaluation, triggers).
func (t *Table) FetchVersion(ctx context.Context, tid TID, dst *Row) (bool, error) {
	return false, nil
}

// FetchLatest follows updates from tid to the newest committed or own version, for
// re-evaluation under read committed.
func (t *Table) FetchLatest(ctx context.Context, s *Session, tid TID, dst *Row) (bool, error) {
	return false, nil
}

// ScanOptions choose what a scan reads.
type ScanOptions struct {
	// Columns are the attributes wanted, from 0, ascending; batch column k is Columns[k].
	Columns []int
	// Start and End bound the blocks as in heap.ScanOptions.
	Start, End storage.BlockNumber
	// TIDs asks for the rows' TIDs and headers.
	TIDs bool
	// NoRing reads through the whole pool even where the table is large.
	NoRing bool
}

// Scan reads the rows a snapshot sees in block order.
type Scan struct{ tids []TID }

// NewScan starts a scan; Reset points an existing one at other blocks, for sharing a table
// among goroutines under one snapshot.
func (t *Table) NewScan(snap *txn.Snapshot, opts ScanOptions) *Scan { return nil }

// Rewind starts the scan again, under another snapshot.
func (sc *Scan) Rewind(snap *txn.Snapshot) {}

// SetRange points the scan at blocks [start, end).
func (sc *Scan) SetRange(start, end storage.BlockNumber) {}

// Next fills batch with the rows of the next page that has any, at most its capacity (the rest
// of the page comes next). What it pointed at before is no longer valid. False at the end.
func (sc *Scan) Next(ctx context.Context, batch *types.Batch) (bool, error) { return false, nil }

// TIDs are those of the batch's rows, where asked for.
func (sc *Scan) TIDs() []TID { return sc.tids }

// Header is the tuple header of row i of the batch, for system columns.
func (sc *Scan) Header(i int) heap.Header { return heap.Header{} }

// Close lets go of buffers; the scan may be rewound.
func (sc *Scan) Close() {}

// KeyRange is a range of index keys: those whose leading columns equal Eq (a null
// there means IS NULL) and whose next column lies within the bounds. With a
// bound, or with NotNull, nulls of that column are left out. Bounds are in the order of
// the type, whatever the column's direction in the index.
type KeyRange struct {
	Eq                       []types.Datum
	Lo, Hi                   types.Datum
	HasLo, HasHi             bool
	LoExclusive, HiExclusive bool
	NotNull                  bool
}

// IndexScanOptions choose what an index scan reads.
type IndexScanOptions struct {
	// Columns as in ScanOptions. With IndexOnly every one is an attribute of the index.
	Columns   []int
	Backward  bool
	IndexOnly bool
	TIDs      bool
}

// IndexScan reads rows through an index, in its order.
type IndexScan struct{ tids []TID }

// NewIndexScan makes a scan over the index with that OID; Seek starts it.
func (t *Table) NewIndexScan(idx types.OID, opts IndexScanOptions) (*IndexScan, error) {
	return nil, nil
}

// Seek begins to read range r under snap. The range's values are not kept.
func (is *IndexScan) Seek(snap *txn.Snapshot, r *KeyRange) error { return nil }

// Next fills batch, which is valid until the next call, up to its capacity (1 for key access);
// false when no row is left.
func (is *IndexScan) Next(ctx context.Context, batch *types.Batch) (bool, error) { return false, nil }

// TIDs are those of the batch's rows, where asked for.
func (is *IndexScan) TIDs() []TID { return is.tids }

// Header is the tuple header of row i of the batch.
func (is *IndexScan) Header(i int) heap.Header { return heap.Header{} }

// HeapFetches counts the heap visits of an index-only scan (EXPLAIN ANALYZE).
func (is *IndexScan) HeapFetches() int64 { return 0 }

// Close lets go of buffers; the scan may be used again after Seek.
func (is *IndexScan) Close() {}

// Blocks is the table's length now, for planning parallel scans.
func (t *Table) Blocks() (storage.BlockNumber, error) { return 0, nil }

// CheckUnique looks again at a duplicate that DeferUnique collected: 23505 if it is still one.
func (t *Table) CheckUnique(ctx context.Context, s *Session, idx types.OID, tid TID, row []types.Datum) error {
	return nil
}
