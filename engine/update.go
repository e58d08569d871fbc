package engine

import (
	"bytes"
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// UpdateOptions shape Update and Delete.
type UpdateOptions struct {
	Wait heap.WaitPolicy
	// DeferUnique as in InsertOptions.
	DeferUnique func(idx *catalog.Index, tid TID, row []types.Datum)
}

// Update replaces the version at tid. old is its row as Fetch or a scan gave it: only the values of
// indexed attributes are read (all of them where an index has expressions or a predicate). row is the
// new one. Which indexes need entries, and whether the update can be HOT, is found by
// comparing the two. Unless res.Status is heap.Ok nothing was changed.
func (t *Table) Update(ctx context.Context, s *Session, snap *txn.Snapshot, tid TID, old, row []types.Datum, opts UpdateOptions) (newTID TID, res heap.Result, err error) {
	hot, err := t.hotAllowed(ctx, s, old, row)
	if err != nil {
		return TID{}, res, err
	}
	var before []types.Datum // as stored
	if t.toast != nil {
		if before, err = t.storedExternal(s, tid); err != nil {
			return TID{}, res, err
		}
	}
	stored, external, err := t.toastRow(ctx, s, row, before)
	if err != nil {
		return TID{}, res, err
	}
	s.row.enc = t.rel.Row.Encode(s.row.enc[:0], stored)
	hopts := heap.UpdateOptions{HotAllowed: hot, Mode: heap.NoKeyUpdate, Wait: opts.Wait, External: external}
	if differ(t.keyAttrs, old, row) {
		hopts.Mode = heap.Update
	}
	newTID, wasHot, res, err := t.heap.Update(ctx, &s.heapW, snap, tid, s.row.enc, hopts)
	if err != nil || res.Status != heap.Ok {
		// Values moved out of line for nothing die with the transaction or are removed here.
		if err == nil && external {
			err = t.dropUnused(ctx, s, stored, before)
		}
		return TID{}, res, err
	}
	d := tableDelta{updated: 1}
	if wasHot {
		d.hot = 1
	}
	s.count(t.stats, d)
	if before != nil {
		if err := t.dropUnused(ctx, s, before, stored); err != nil {
			return TID{}, res, err
		}
	}
	if wasHot {
		return newTID, res, nil
	}
	ins := InsertOptions{DeferUnique: opts.DeferUnique}
	for _, ti := range t.indexes {
		if !ti.idx.Ready {
			continue
		}
		if err := t.insertEntry(ctx, s, ti, row, newTID, &ins); err != nil {
			return TID{}, res, err
		}
	}
	return newTID, res, nil
}

// hotAllowed tells whether no index would get another entry for row than it has for old.
func (t *Table) hotAllowed(ctx context.Context, s *Session, old, row []types.Datum) (bool, error) {
	if differ(t.indexed, old, row) {
		return false, nil
	}
	if !t.computed {
		return true, nil
	}
	for _, ti := range t.indexes {
		if !ti.computed() {
			continue
		}
		same, err := ti.sameEntry(ctx, s, old, row)
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

func (ti *tableIndex) sameEntry(ctx context.Context, s *Session, old, row []types.Datum) (bool, error) {
	a, b := &s.row.old, &s.row.entry
	hadOld, err := ti.fill(ctx, s, old, a)
	if err != nil {
		return false, err
	}
	hasNew, err := ti.fill(ctx, s, row, b)
	if err != nil {
		return false, err
	}
	if hadOld != hasNew {
		return false, nil
	}
	return !hadOld || bytes.Equal(a.key, b.key) && bytes.Equal(a.payload, b.payload), nil
}

// differ tells whether one of the attributes differs in its bytes.
func differ(attrs []int, a, b []types.Datum) bool {
	for _, i := range attrs {
		x, y := &a[i], &b[i]
		if x.Null != y.Null {
			return true
		}
		if !x.Null && (x.W != y.W || !bytes.Equal(x.B, y.B)) {
			return true
		}
	}
	return false
}

// Delete deletes the version at tid.
func (t *Table) Delete(ctx context.Context, s *Session, snap *txn.Snapshot, tid TID, opts UpdateOptions) (heap.Result, error) {
	var before []types.Datum
	if t.toast != nil {
		var err error
		if before, err = t.storedExternal(s, tid); err != nil {
			return heap.Result{}, err
		}
	}
	res, err := t.heap.Delete(ctx, &s.heapW, snap, tid, heap.DeleteOptions{Wait: opts.Wait})
	if err != nil || res.Status != heap.Ok {
		return res, err
	}
	s.count(t.stats, tableDelta{deleted: 1})
	if before != nil {
		return res, t.dropUnused(ctx, s, before, nil)
	}
	return res, nil
}

func errUnexpected(doing string, res heap.Result) error {
	return pgerr.New(pgerr.InternalError, "unexpected tuple state in %s: %v", doing, res.Status)
}
