package engine

import (
	"context"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

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
	// FailedRow, if set, receives the number of the row that an error of InsertBatch is about ("COPY
	// t, line N").
	FailedRow *int
}

// rowScratch is what a session works with while it writes rows.
type rowScratch struct {
	enc     []byte
	values  []types.Datum // a row with values moved out of line
	payload []types.Datum
	entry   indexEntry
	old     indexEntry
	fetched Row

	batch heap.Rows // encoded rows of a batch
	check uniqueCheck
}

// Insert adds a row, one datum per attribute (dropped ones null), to the table and its
// indexes. A duplicate is 23505 in PostgreSQL's words.
func (t *Table) Insert(ctx context.Context, s *Session, row []types.Datum, opts InsertOptions) (TID, error) {
	tid, err := t.insertHeap(ctx, s, row, &opts)
	if err != nil {
		return TID{}, err
	}
	for _, ti := range t.indexes {
		if !ti.idx.Ready {
			continue
		}
		if err := t.insertEntry(ctx, s, ti, row, tid, &opts); err != nil {
			return TID{}, err
		}
	}
	return tid, nil
}

func (t *Table) insertHeap(ctx context.Context, s *Session, row []types.Datum, opts *InsertOptions) (TID, error) {
	stored, external, err := t.toastRow(ctx, s, row, nil)
	if err != nil {
		return TID{}, err
	}
	s.row.enc = t.rel.Row.Encode(s.row.enc[:0], stored)
	tid, err := t.heap.Insert(ctx, &s.heapW, s.row.enc, heap.InsertOptions{
		Frozen: opts.Frozen, External: external, SkipFSM: opts.SkipFSM, Ring: opts.Ring,
	})
	if err == nil {
		s.count(t.stats, tableDelta{inserted: 1})
	}
	return tid, err
}

// InsertBatch adds rows and appends their TIDs to tids: a log record a page. Rows may
// be reused after it returns.
func (t *Table) InsertBatch(ctx context.Context, s *Session, rows [][]types.Datum, tids []TID, opts InsertOptions) ([]TID, error) {
	first := len(tids)
	// Rows with values out of line are marked on their tuples: batches do not mix.
	for at := 0; at < len(rows); {
		n, external, err := t.encodeRun(ctx, s, rows[at:])
		if err != nil {
			opts.failed(at + n)
			return tids, err
		}
		added, err := t.heap.MultiInsert(ctx, &s.heapW, &s.row.batch, &tids, heap.InsertOptions{
			Frozen: opts.Frozen, External: external, SkipFSM: opts.SkipFSM, Ring: opts.Ring,
		})
		if err != nil {
			opts.failed(at + added)
			return tids, err
		}
		at += n
	}
	s.count(t.stats, tableDelta{inserted: int64(len(rows))})
	return tids, t.insertEntries(ctx, s, rows, tids[first:], &opts)
}

// insertEntries adds the index entries of rows, which lie at tids: row by row, so that of several violations the
// one PostgreSQL reports is reported.
func (t *Table) insertEntries(ctx context.Context, s *Session, rows [][]types.Datum, tids []TID, opts *InsertOptions) error {
	if len(t.indexes) == 0 {
		return nil
	}
	for i, row := range rows {
		for _, ti := range t.indexes {
			if !ti.idx.Ready {
				continue
			}
			if err := t.insertEntry(ctx, s, ti, row, tids[i], opts); err != nil {
				opts.failed(i)
				return err
			}
		}
	}
	return nil
}

// EncodedRows are rows encoded ahead of their insertion, by [Table.Encode].
type EncodedRows struct{ heap.Rows }

// Encode adds a row to e, for InsertEncoded; it touches no session, so another goroutine may do it. False
// if the row has to be made shorter first, which takes a session and its log: InsertBatch is for those.
func (t *Table) Encode(e *EncodedRows, row []types.Datum) bool {
	if t.mayToast(row) {
		return false
	}
	e.Bytes = t.rel.Row.Encode(e.Bytes, row)
	e.End()
	return true
}

// InsertEncoded is InsertBatch of rows that Encode has encoded. Rows and tids are for the indexes: a table that has none
// needs neither.
func (t *Table) InsertEncoded(ctx context.Context, s *Session, e *EncodedRows, rows [][]types.Datum, tids []TID, opts InsertOptions) ([]TID, error) {
	first := len(tids)
	to := &tids
	if len(t.indexes) == 0 {
		to = nil
	}
	n, err := t.heap.MultiInsert(ctx, &s.heapW, &e.Rows, to, heap.InsertOptions{
		Frozen: opts.Frozen, SkipFSM: opts.SkipFSM, Ring: opts.Ring,
	})
	if err != nil {
		opts.failed(n)
		return tids, err
	}
	s.count(t.stats, tableDelta{inserted: int64(n)})
	return tids, t.insertEntries(ctx, s, rows, tids[first:], &opts)
}

// HasIndexes tells whether rows of the table have index entries.
func (t *Table) HasIndexes() bool { return len(t.indexes) > 0 }

// InsertsAlone tells whether inserting a row runs nothing but this package's own code: no expression
// of an index, which would run as the session.
func (t *Table) InsertsAlone() bool {
	for _, ti := range t.indexes {
		if ti.computed() {
			return false
		}
	}
	return true
}

func (o *InsertOptions) failed(row int) {
	if o.FailedRow != nil {
		*o.FailedRow = row
	}
}

// encodeRun encodes the rows at the front that are alike in having values out of line or not.
func (t *Table) encodeRun(ctx context.Context, s *Session, rows [][]types.Datum) (n int, external bool, err error) {
	w := &s.row.batch
	w.Reset()
	for _, row := range rows {
		if n > 0 && t.mayToast(row) != external && t.toast != nil {
			break
		}
		stored, ext, err := t.toastRow(ctx, s, row, nil)
		if err != nil {
			return n, false, err
		}
		w.Bytes = t.rel.Row.Encode(w.Bytes, stored)
		w.End()
		n++
		if n == 1 {
			external = ext
		}
		if ext {
			external = true
			break
		}
	}
	return n, external, nil
}

// insertEntry adds the entry of a row that lies at tid: Invariant 7.
func (t *Table) insertEntry(ctx context.Context, s *Session, ti *tableIndex, row []types.Datum, tid TID, opts *InsertOptions) error {
	e := &s.row.entry
	ok, err := ti.fill(ctx, s, row, e)
	if err != nil || !ok {
		return err
	}
	return t.addEntry(ctx, s, ti, e, row, tid, opts)
}

func (t *Table) addEntry(ctx context.Context, s *Session, ti *tableIndex, e *indexEntry, row []types.Datum, tid TID, opts *InsertOptions) error {
	if !ti.unique(e) {
		return ti.tree.Insert(ctx, &s.treeW, e.key, btree.TID(tid), e.payload)
	}
	check := s.uniqueCheck(t, tid)
	if !ti.idx.Immediate && opts.DeferUnique != nil {
		_, dup, err := ti.tree.CheckUnique(ctx, &s.treeW, e.key, check.dirtyFn)
		if err != nil {
			return err
		}
		if err := ti.tree.Insert(ctx, &s.treeW, e.key, btree.TID(tid), e.payload); err != nil {
			return err
		}
		if dup {
			opts.DeferUnique(ti.idx, tid, row)
		}
		return nil
	}
	_, dup, err := ti.tree.InsertUnique(ctx, &s.treeW, e.key, btree.TID(tid), e.payload, check.fn)
	if err != nil {
		return err
	}
	if dup {
		return t.errDuplicate(s, ti, e.values)
	}
	return nil
}

// InsertOrConflict is Insert for ON CONFLICT: where a row conflicts on one of the arbiters (none
// given: any unique index) nothing is inserted and conflict is the TID of the row in the way,
// committed or this transaction's own. It waits for transactions that may turn out to conflict.
func (t *Table) InsertOrConflict(ctx context.Context, s *Session, row []types.Datum, arbiters []types.OID, opts InsertOptions) (tid, conflict TID, ok bool, err error) {
	for {
		conflict, found, err := t.findConflict(ctx, s, row, arbiters)
		if err != nil || found {
			return TID{}, conflict, false, err
		}
		tid, retry, err := t.insertTentative(ctx, s, row, arbiters, &opts)
		if err != nil || !retry {
			return tid, TID{}, err == nil, err
		}
		// Somebody else's row came between; ours is dead again.
	}
}

// findConflict looks for a row in the way.
func (t *Table) findConflict(ctx context.Context, s *Session, row []types.Datum, arbiters []types.OID) (TID, bool, error) {
	e := &s.row.entry
	for _, ti := range t.indexes {
		if !ti.arbiter(arbiters) {
			continue
		}
		ok, err := ti.fill(ctx, s, row, e)
		if err != nil {
			return TID{}, false, err
		}
		if !ok || !ti.unique(e) {
			continue
		}
		check := s.uniqueCheck(t, heap.InvalidTID)
		_, dup, err := ti.tree.CheckUnique(ctx, &s.treeW, e.key, check.fn)
		if err != nil || dup {
			return check.live, dup, err
		}
	}
	return TID{}, false, nil
}

func (ti *tableIndex) arbiter(arbiters []types.OID) bool {
	if !ti.idx.Unique || !ti.idx.Ready {
		return false
	}
	if len(arbiters) == 0 {
		return true
	}
	for _, oid := range arbiters {
		if oid == ti.idx.OID {
			return true
		}
	}
	return false
}

// insertTentative inserts the row; where an arbiter has a duplicate after all, it deletes it again
// and wants another try.
func (t *Table) insertTentative(ctx context.Context, s *Session, row []types.Datum, arbiters []types.OID, opts *InsertOptions) (tid TID, retry bool, err error) {
	if tid, err = t.insertHeap(ctx, s, row, opts); err != nil {
		return TID{}, false, err
	}
	e := &s.row.entry
	for _, ti := range t.indexes {
		if !ti.idx.Ready {
			continue
		}
		ok, err := ti.fill(ctx, s, row, e)
		if err != nil {
			return TID{}, false, err
		}
		if !ok {
			continue
		}
		if !ti.unique(e) || !ti.arbiter(arbiters) {
			if err := t.addEntry(ctx, s, ti, e, row, tid, opts); err != nil {
				return TID{}, false, err
			}
			continue
		}
		_, dup, err := ti.tree.InsertUnique(ctx, &s.treeW, e.key, btree.TID(tid), e.payload, s.uniqueCheck(t, tid).fn)
		if err != nil {
			return TID{}, false, err
		}
		if dup {
			return TID{}, true, t.takeBack(ctx, s, tid)
		}
	}
	return tid, false, nil
}

// takeBack deletes a row this command inserted.
func (t *Table) takeBack(ctx context.Context, s *Session, tid TID) error {
	s.tx.CommandCounterIncrement() // a command does not see, so cannot delete, its own rows
	snap := s.tx.TakeSnapshot()
	defer s.tx.ReleaseSnapshot(snap)
	res, err := t.Delete(ctx, s, snap, tid, UpdateOptions{})
	if err == nil && res.Status != heap.Ok {
		return errUnexpected("speculative insertion", res)
	}
	return err
}
