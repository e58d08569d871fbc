package engine

import (
	"context"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// KeyRange is a range of index keys: those whose leading columns equal Eq (a null
// there means IS NULL) and whose next column lies within the bounds. With a
// bound, or with NotNull, nulls of that column are left out; a null bound is met by nothing. Bounds
// are in the order of the type, whatever the column's direction in the index.
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

// IndexScan reads rows through an index, in its order. It serves one goroutine.
type IndexScan struct {
	t    *Table
	ti   *tableIndex
	opts IndexScanOptions

	snap    *txn.Snapshot
	cursor  *btree.Cursor
	lo, hi  []byte
	done    bool
	onlyOne bool // the key is unique: one visible row is all there are

	fetch   heap.FetchBuf
	arena   []byte // rows of the batch
	tids    []TID
	headers []heap.Header

	// Index-only scans.
	source      []indexColumn
	epoch       uint64
	vm          heap.VMBuf
	keyRow      []types.Datum
	payloadRow  []types.Datum
	heapFetches int64
}

// indexColumn is where an index-only scan finds a column.
type indexColumn struct {
	key     int // key column decoded from the key, or -1
	payload int // column of the payload, or -1
}

// NewIndexScan makes a scan over the index with that OID; Seek starts it.
func (t *Table) NewIndexScan(idx types.OID, opts IndexScanOptions) (*IndexScan, error) {
	ti, err := t.index(idx)
	if err != nil {
		return nil, err
	}
	is := &IndexScan{t: t, ti: ti, opts: opts, cursor: ti.tree.NewCursor(), done: true}
	if opts.IndexOnly {
		return is, is.findColumns()
	}
	return is, nil
}

func (is *IndexScan) findColumns() error {
	for _, att := range is.opts.Columns {
		c := indexColumn{key: -1, payload: -1}
		for i := range is.ti.keys {
			if is.ti.keys[i].att == att && is.ti.keys[i].lossless {
				c.key = i
			}
		}
		for i, p := range is.ti.payloadAtt {
			if p.att == att || p.key >= 0 && is.ti.keys[p.key].att == att {
				c.payload = i
			}
		}
		if c.key < 0 && c.payload < 0 {
			return pgerr.New(pgerr.InternalError, "index \"%s\" has no column %d", is.ti.idx.Name, att+1)
		}
		is.source = append(is.source, c)
	}
	is.keyRow = make([]types.Datum, len(is.ti.keys))
	is.payloadRow = make([]types.Datum, len(is.ti.payloadAtt))
	return nil
}

// Seek begins to read range r under snap. The range's values are not kept.
func (is *IndexScan) Seek(snap *txn.Snapshot, r *KeyRange) error {
	is.t.stats.indexScans.Add(1)
	is.snap = snap
	is.done = false
	if r.HasLo && r.Lo.Null || r.HasHi && r.Hi.Null {
		is.done = true
		return nil
	}
	b := is.bounds(r)
	is.onlyOne = is.ti.idx.Unique && is.ti.idx.Immediate && len(r.Eq) == len(is.ti.keys) && !anyNull(r.Eq)
	if is.opts.IndexOnly {
		// Before any page of the index is read.
		is.epoch = is.t.heap.ReclaimEpoch()
	}
	is.cursor.Seek(b, is.opts.Backward)
	return nil
}

func anyNull(ds []types.Datum) bool {
	for i := range ds {
		if ds[i].Null {
			return true
		}
	}
	return false
}

// bounds encodes the range. A bound matches by prefix: see btree.Bounds.
func (is *IndexScan) bounds(r *KeyRange) btree.Bounds {
	keys := is.ti.keys
	is.lo = is.lo[:0]
	for i := range r.Eq {
		is.lo = types.EncodeKey(is.lo, keys[i].typ, r.Eq[i], keys[i].opt)
	}
	is.hi = append(is.hi[:0], is.lo...)
	b := btree.Bounds{}
	if len(r.Eq) < len(keys) && (r.HasLo || r.HasHi || r.NotNull) {
		k := &keys[len(r.Eq)]
		first, last := end{r.Lo, r.HasLo, r.LoExclusive}, end{r.Hi, r.HasHi, r.HiExclusive}
		if k.opt.Desc {
			first, last = last, first
		}
		is.lo, b.LoExclusive = first.encode(is.lo, k, k.opt.NullsFirst)
		is.hi, b.HiExclusive = last.encode(is.hi, k, !k.opt.NullsFirst)
	}
	if len(is.lo) > 0 {
		b.Lo = is.lo
	}
	if len(is.hi) > 0 {
		b.Hi = is.hi
	}
	return b
}

// end is one end of a range in the order of the index.
type end struct {
	value     types.Datum
	given     bool
	exclusive bool
}

// encode appends the end to its prefix; where none is given and the nulls are at this end, they are
// excluded.
func (e end) encode(prefix []byte, k *indexKey, nullsHere bool) (key []byte, exclusive bool) {
	switch {
	case e.given:
		return types.EncodeKey(prefix, k.typ, e.value, k.opt), e.exclusive
	case nullsHere:
		return types.EncodeKey(prefix, k.typ, types.NullDatum, k.opt), true
	}
	return prefix, false
}

// Next fills batch, which is valid until the next call, up to its capacity (1 for key access) or types.MaxBatchBytes;
// false when no row is left.
func (is *IndexScan) Next(ctx context.Context, batch *types.Batch) (bool, error) {
	batch.Reset()
	is.arena, is.tids, is.headers = is.arena[:0], is.tids[:0], is.headers[:0]
	capacity := 1
	if len(batch.Cols) > 0 {
		capacity = batch.Cols[0].Cap()
	}
	for bytes := 0; !is.done && batch.N < capacity && bytes <= types.MaxBatchBytes; {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		key, tid, payload, ok, err := is.cursor.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			is.done = true
			break
		}
		found, err := is.take(batch, key, TID(tid), payload, capacity)
		if err != nil {
			return false, err
		}
		if found {
			bytes += batch.RowBytes(batch.N)
			batch.N++
			is.done = is.onlyOne
		}
	}
	is.t.stats.indexFetches.Add(int64(batch.N))
	return batch.N > 0, nil
}

// take adds the row an entry leads to, if the snapshot sees one.
func (is *IndexScan) take(batch *types.Batch, key []byte, tid TID, payload []byte, capacity int) (bool, error) {
	if is.opts.IndexOnly {
		visible, err := is.t.heap.AllVisible(tid.Block, is.epoch, &is.vm)
		if err != nil {
			return false, err
		}
		if visible {
			is.note(tid, heap.Header{})
			return true, is.fromIndex(batch, key, payload)
		}
		is.heapFetches++
	}
	data, ok, err := is.t.heap.Fetch(is.snap, tid, &is.fetch)
	if err != nil {
		return false, err
	}
	if !ok {
		if is.fetch.AllDead {
			is.cursor.Kill()
		}
		return false, nil
	}
	is.note(is.fetch.TID, is.fetch.Header)
	if capacity > 1 {
		at := len(is.arena)
		is.arena = append(is.arena, data...)
		data = is.arena[at:]
	}
	return true, is.t.rel.Row.DecodeInto(batch.Cols, batch.N, data, is.opts.Columns, is.t)
}

func (is *IndexScan) note(tid TID, h heap.Header) {
	if is.opts.TIDs {
		is.tids = append(is.tids, tid)
		is.headers = append(is.headers, h)
	}
}

// fromIndex takes the columns out of the entry.
func (is *IndexScan) fromIndex(batch *types.Batch, key, payload []byte) error {
	last := -1
	for _, c := range is.source {
		last = max(last, c.key)
	}
	for i := 0; i <= last; i++ {
		k := &is.ti.keys[i]
		var err error
		if k.lossless {
			is.keyRow[i], key, err = types.DecodeKey(key, k.typ, k.opt)
		} else {
			key, err = types.SkipKey(key, k.typ, k.opt)
		}
		if err != nil {
			return err
		}
	}
	if len(is.payloadRow) > 0 {
		if err := is.ti.payload.Decode(payload, is.payloadRow, len(is.payloadRow)); err != nil {
			return err
		}
	}
	for col, c := range is.source {
		var d types.Datum
		if c.key >= 0 {
			d = is.keyRow[c.key]
		} else {
			d = is.payloadRow[c.payload]
		}
		batch.Cols[col].SetCopy(batch.N, d)
	}
	return nil
}

// TIDs are those of the batch's rows, where asked for.
func (is *IndexScan) TIDs() []TID { return is.tids }

// Header is the tuple header of row i of the batch; empty where an index-only scan did not go to
// the heap.
func (is *IndexScan) Header(i int) heap.Header { return is.headers[i] }

// HeapFetches counts the heap visits of an index-only scan (EXPLAIN ANALYZE).
func (is *IndexScan) HeapFetches() int64 { return is.heapFetches }

// Close lets go of buffers; the scan may be used again after Seek.
func (is *IndexScan) Close() {
	is.cursor.Close()
	is.vm.Release()
	is.done = true
}
