package engine

import (
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
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
	// CompileIndex returns one function per key (nil for plain columns; nil slice for no
	// expressions at all) and the predicate (nil for none). They may be called by several
	// sessions at once.
	CompileIndex(ctx context.Context, s *Session, rel *catalog.Relation, idx *catalog.Index) ([]IndexExpr, IndexPredicate, error)
}

func errNoCompiler(index string) error {
	return pgerr.New(pgerr.InternalError, "nothing compiles the expressions of index \"%s\"", index)
}

// Table joins a heap with its indexes and TOAST relation. It belongs to one
// version of its descriptor, is immutable and shared by all sessions.
type Table struct {
	e       *Engine
	rel     *catalog.Relation
	db      catalog.OID
	heap    *heap.Heap
	indexes []*tableIndex
	toast   *toastTable // nil where no value ever is out of line
	stats   *tableStats

	// indexed are the attributes any index has, keys those of unique indexes that a foreign key
	// could refer to: an update of them locks the row FOR UPDATE.
	indexed, keyAttrs []int
	computed          bool // some index has expressions or a predicate
}

func (t *Table) noteIndexedColumns() {
	indexed := make([]bool, len(t.rel.Attrs))
	keys := make([]bool, len(t.rel.Attrs))
	for _, ti := range t.indexes {
		t.computed = t.computed || ti.computed()
		for _, a := range ti.attrs {
			indexed[a] = true
		}
		if ti.idx.Unique && ti.idx.Immediate && !ti.computed() {
			for i := range ti.keys {
				keys[ti.keys[i].att] = true
			}
		}
	}
	for a := range indexed {
		if indexed[a] {
			t.indexed = append(t.indexed, a)
		}
		if keys[a] {
			t.keyAttrs = append(t.keyAttrs, a)
		}
	}
}

// Rel is the descriptor the table was opened with.
func (t *Table) Rel() *catalog.Relation { return t.rel }

// Heap is the table's heap, for what needs no index.
func (t *Table) Heap() *heap.Heap { return t.heap }

// Blocks is the table's length now, for planning parallel scans.
func (t *Table) Blocks() (storage.BlockNumber, error) { return t.heap.NBlocks() }

// index returns the index with that OID.
func (t *Table) index(oid types.OID) (*tableIndex, error) {
	for _, ti := range t.indexes {
		if ti.idx.OID == oid {
			return ti, nil
		}
	}
	return nil, pgerr.New(pgerr.InternalError, "could not open index with OID %d of \"%s\"", oid, t.rel.Name)
}

// Row receives one fetched row; it is reused from fetch to fetch, its datums are
// valid until then.
type Row struct {
	TID    TID
	Header heap.Header
	// Values are the attributes in order, plain: what is stored compressed or out of line is
	// brought back.
	Values []types.Datum

	fetch heap.FetchBuf
}

// fill decodes a fetched tuple.
func (t *Table) fill(dst *Row, data []byte) error {
	dst.TID, dst.Header = dst.fetch.TID, dst.fetch.Header
	n := len(t.rel.Attrs)
	if cap(dst.Values) < n {
		dst.Values = make([]types.Datum, n)
	}
	dst.Values = dst.Values[:n]
	if err := t.rel.Row.Decode(data, dst.Values, n); err != nil {
		return err
	}
	return t.detoastRow(dst.Values)
}

// Fetch reads the version of the row at tid (or, with an index's TID, of its HOT chain) that snap
// sees.
func (t *Table) Fetch(_ context.Context, snap *txn.Snapshot, tid TID, dst *Row) (bool, error) {
	data, ok, err := t.heap.Fetch(snap, tid, &dst.fetch)
	if err != nil || !ok {
		return false, err
	}
	return true, t.fill(dst, data)
}

// FetchVisible reads the version at exactly tid if snap sees it (WHERE ctid = ...).
func (t *Table) FetchVisible(_ context.Context, snap *txn.Snapshot, tid TID, dst *Row) (bool, error) {
	data, ok, err := t.heap.FetchVisible(snap, tid, &dst.fetch)
	if err != nil || !ok {
		return false, err
	}
	return true, t.fill(dst, data)
}

// FetchVersion reads the version at exactly tid, visible or not (RETURNING, re-evaluation, triggers).
func (t *Table) FetchVersion(_ context.Context, tid TID, dst *Row) (bool, error) {
	data, ok, err := t.heap.FetchVersion(tid, &dst.fetch)
	if err != nil || !ok {
		return false, err
	}
	return true, t.fill(dst, data)
}

// FetchLatest follows updates from tid to the newest committed or own version, for
// re-evaluation under read committed.
func (t *Table) FetchLatest(ctx context.Context, s *Session, tid TID, dst *Row) (bool, error) {
	data, ok, err := t.heap.FetchLatest(ctx, &s.heapW, tid, &dst.fetch)
	if err != nil || !ok {
		return false, err
	}
	return true, t.fill(dst, data)
}

// LockRow locks a row. dst (may be nil) receives the version locked (res.TID).
func (t *Table) LockRow(ctx context.Context, s *Session, snap *txn.Snapshot, tid TID, opts heap.LockOptions, dst *Row) (heap.Result, error) {
	var buf *heap.FetchBuf
	if dst != nil {
		buf = &dst.fetch
	}
	res, err := t.heap.LockTuple(ctx, &s.heapW, snap, tid, opts, buf)
	if err != nil || dst == nil || res.Status != heap.Ok {
		return res, err
	}
	return res, t.fill(dst, dst.fetch.Data)
}
