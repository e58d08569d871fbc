package engine

import (
	"context"

	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// ringFraction: tables longer than this part of the pool are read through a ring, so that
// one scan does not empty the pool.
const ringFraction = 4

// ScanOptions choose what a scan reads.
type ScanOptions struct {
	// Columns are the attributes wanted, from 0, ascending; batch column k is Columns[k].
	Columns []int
	// Start and End bound the blocks as in heap.ScanOptions.
	Start, End storage.BlockNumber
	// TIDs asks for the rows' TIDs (and lets Header be asked).
	TIDs bool
	// NoRing reads through the whole pool even where the table is large.
	NoRing bool
}

// Scan reads the rows a snapshot sees in block order. It serves one goroutine.
type Scan struct {
	t    *Table
	opts ScanOptions
	snap *txn.Snapshot
	hs   *heap.Scan
	page *heap.ScanPage
	next int // row of page
	// first is page's row that is row 0 of the last batch.
	first int
	tids  []TID
	ring  *storage.Ring
}

// NewScan starts a scan; several goroutines share a table, under one snapshot, with a scan each
// and SetRange.
func (t *Table) NewScan(snap *txn.Snapshot, opts ScanOptions) *Scan {
	t.stats.seqScans.Add(1)
	return &Scan{t: t, opts: opts, snap: snap}
}

// Rewind starts the scan again, under another snapshot.
func (sc *Scan) Rewind(snap *txn.Snapshot) {
	sc.Close()
	sc.snap = snap
	sc.t.stats.seqScans.Add(1)
}

// SetRange points the scan at blocks [start, end).
func (sc *Scan) SetRange(start, end storage.BlockNumber) {
	sc.opts.Start, sc.opts.End = start, end
	sc.page = nil
	if sc.hs != nil {
		sc.hs.Reset(start, end)
	}
}

func (sc *Scan) open() error {
	opts := heap.ScanOptions{Start: sc.opts.Start, End: sc.opts.End}
	if !sc.opts.NoRing && sc.ring == nil {
		n, err := sc.t.heap.NBlocks()
		if err != nil {
			return err
		}
		if int(n) > sc.t.e.pool.Buffers()/ringFraction {
			sc.ring = sc.t.e.pool.NewRing(storage.RingBulkRead)
		}
	}
	opts.Ring = sc.ring
	sc.hs = sc.t.heap.NewScan(sc.snap, opts)
	return nil
}

// Next fills batch with the rows of the next page that has any, at most its capacity, and
// not many more than types.MaxBatchBytes (the rest of the page comes next). What it pointed at before is no longer valid. False at the end.
func (sc *Scan) Next(ctx context.Context, batch *types.Batch) (bool, error) {
	batch.Reset()
	if sc.page == nil || sc.next >= sc.page.N {
		if ok, err := sc.nextPage(ctx); err != nil || !ok {
			return false, err
		}
	}
	n := sc.page.N - sc.next
	if len(batch.Cols) > 0 {
		n = min(n, batch.Cols[0].Cap())
	}
	sc.first = sc.next
	desc := sc.t.rel.Row
	for i, bytes := 0, 0; i < n; i++ {
		if err := desc.DecodeInto(batch.Cols, i, sc.page.Data(sc.next+i), sc.opts.Columns, sc.t); err != nil {
			return false, err
		}
		if bytes += batch.RowBytes(i); bytes > types.MaxBatchBytes {
			n = i + 1
		}
	}
	if sc.opts.TIDs {
		sc.tids = sc.tids[:0]
		for i := range n {
			sc.tids = append(sc.tids, sc.page.TID(sc.next+i))
		}
	}
	sc.next += n
	batch.N = n
	sc.t.stats.seqTuples.Add(int64(n))
	return true, nil
}

func (sc *Scan) nextPage(ctx context.Context) (bool, error) {
	if sc.hs == nil {
		if err := sc.open(); err != nil {
			return false, err
		}
	}
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		page, ok, err := sc.hs.NextPage()
		if err != nil || !ok {
			sc.page = nil
			return false, err
		}
		if page.N > 0 {
			sc.page, sc.next = page, 0
			return true, nil
		}
	}
}

// TIDs are those of the batch's rows, where asked for.
func (sc *Scan) TIDs() []TID { return sc.tids }

// Header is the tuple header of row i of the batch, for system columns.
func (sc *Scan) Header(i int) heap.Header { return sc.page.Header(sc.first + i) }

// Close lets go of memory; the scan may be rewound.
func (sc *Scan) Close() {
	if sc.hs != nil {
		sc.hs.Close()
		sc.hs = nil
	}
	sc.page = nil
}
