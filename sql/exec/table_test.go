package exec

import (
	"context"
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// fakeTable is a table in memory for one session. Other transactions are played by the test: overtake makes a
// newer version of a row that the snapshot does not see.
type fakeTable struct {
	rel      *catalog.Relation
	versions []*fakeVersion // TID (0, i+1)
	unique   int            // attribute with a unique index, -1 none
	cid      txn.CID
	locked   map[engine.TID]heap.LockMode
	scans    int
}

type fakeVersion struct {
	row     []types.Datum
	visible bool // to the snapshot
	dead    bool
	self    bool // changed by the running command
	next    int  // newer version, by another transaction; 0 none
	deleted bool // by another transaction
	mine    bool // inserted by the running command
}

// fakeRelation describes a table.
func fakeRelation(oid types.OID, name string, names []string, ts []types.OID) *catalog.Relation {
	rel := &catalog.Relation{OID: oid, Name: name, Kind: catalog.KindTable, Namespace: 2200}
	attrs := make([]types.Attr, len(ts))
	for i := range ts {
		rel.Attrs = append(rel.Attrs, catalog.Attribute{Name: names[i], Type: ts[i], Typmod: -1, Num: int16(i + 1)})
		attrs[i] = types.AttrOf(ts[i], -1, nil)
	}
	rel.Row = types.NewRowDesc(attrs)
	return rel
}

func newFakeTable(rel *catalog.Relation, rows ...[]any) *fakeTable {
	t := &fakeTable{rel: rel, unique: -1, locked: map[engine.TID]heap.LockMode{}}
	for _, r := range rows {
		row := make([]types.Datum, len(r))
		for i, v := range r {
			_, row[i] = goDatum(v)
		}
		t.versions = append(t.versions, &fakeVersion{row: row, visible: true})
	}
	return t
}

func (t *fakeTable) at(tid engine.TID) *fakeVersion { return t.versions[tid.Offset-1] }

func fakeTID(i int) engine.TID { return engine.TID{Offset: uint16(i + 1)} }

// overtake has another transaction commit a new version of row i, or its deletion.
func (t *fakeTable) overtake(i int, row ...any) {
	if row == nil {
		t.versions[i].deleted = true
		return
	}
	n := newFakeTable(t.rel, row).versions[0]
	n.visible = false
	t.versions = append(t.versions, n)
	t.versions[i].next = len(t.versions)
}

// contents are the rows there are after all.
func (t *fakeTable) contents() [][]types.Datum {
	var out [][]types.Datum
	for _, v := range t.versions {
		if !v.dead && v.next == 0 && !v.deleted {
			out = append(out, v.row)
		}
	}
	return out
}

type fakeScan struct {
	t    *fakeTable
	cols []int
	tids []engine.TID // to read
	out  []engine.TID
	key  int
}

func (s *fakeScan) Rewind(*txn.Snapshot) { s.fill() }

func (s *fakeScan) fill() {
	s.tids = s.tids[:0]
	for i, v := range s.t.versions {
		if v.visible && !(v.dead && !v.self) {
			s.tids = append(s.tids, fakeTID(i))
		}
	}
	s.t.scans++
}

func (s *fakeScan) SetRange(start, end storage.BlockNumber) {
	s.tids = s.tids[:0]
	if start == 0 {
		s.fill()
	}
}

func (s *fakeScan) Next(_ context.Context, b *types.Batch) (bool, error) {
	b.Reset()
	s.out = s.out[:0]
	capacity := 7
	if len(b.Cols) > 0 {
		capacity = b.Cols[0].Cap()
	}
	for len(s.tids) > 0 && b.N < capacity {
		tid := s.tids[0]
		s.tids = s.tids[1:]
		for k, c := range s.cols {
			b.Cols[k].Set(b.N, s.t.at(tid).row[c])
		}
		s.out = append(s.out, tid)
		b.N++
	}
	return b.N > 0, nil
}

func (s *fakeScan) TIDs() []engine.TID     { return s.out }
func (s *fakeScan) Header(int) heap.Header { return heap.Header{Xmin: 77} }
func (s *fakeScan) HeapFetches() int64     { return 0 }
func (s *fakeScan) Close()                 {}

func (s *fakeScan) Seek(_ *txn.Snapshot, r *engine.KeyRange) error {
	s.fill()
	s.tids = slices.DeleteFunc(s.tids, func(tid engine.TID) bool { return !keyInRange(s.t.at(tid).row[s.key], r) })
	slices.SortStableFunc(s.tids, func(a, b engine.TID) int {
		return int(s.t.at(a).row[s.key].Int64() - s.t.at(b).row[s.key].Int64())
	})
	return nil
}

func keyInRange(d types.Datum, r *engine.KeyRange) bool {
	switch {
	case len(r.Eq) > 0 && r.Eq[0].Null:
		return d.Null
	case d.Null:
		return len(r.Eq) == 0 && !r.HasLo && !r.HasHi && !r.NotNull
	case len(r.Eq) > 0:
		return d.Int64() == r.Eq[0].Int64()
	case r.HasLo && (d.Int64() < r.Lo.Int64() || r.LoExclusive && d.Int64() == r.Lo.Int64()):
		return false
	case r.HasHi && (d.Int64() > r.Hi.Int64() || r.HiExclusive && d.Int64() == r.Hi.Int64()):
		return false
	}
	return true
}

func (t *fakeTable) NewScan(_ *txn.Snapshot, o engine.ScanOptions) Scan {
	s := &fakeScan{t: t, cols: o.Columns}
	s.fill()
	return s
}

func (t *fakeTable) NewIndexScan(idx types.OID, o engine.IndexScanOptions) (IndexScan, error) {
	s := &fakeScan{t: t, cols: o.Columns}
	for _, x := range t.rel.Indexes {
		if x.OID == idx {
			s.key = int(x.Keys[0].AttNum) - 1
		}
	}
	return s, nil
}

func (t *fakeTable) Blocks() (storage.BlockNumber, error) { return 1, nil }

func (t *fakeTable) Fetch(_ context.Context, _ *txn.Snapshot, tid engine.TID, dst *engine.Row) (bool, error) {
	if int(tid.Offset) > len(t.versions) || !t.at(tid).visible {
		return false, nil
	}
	return t.FetchVersion(context.Background(), tid, dst)
}

func (t *fakeTable) FetchVisible(ctx context.Context, snap *txn.Snapshot, tid engine.TID, dst *engine.Row) (bool, error) {
	return t.Fetch(ctx, snap, tid, dst)
}

func (t *fakeTable) FetchVersion(_ context.Context, tid engine.TID, dst *engine.Row) (bool, error) {
	dst.TID, dst.Values = tid, slices.Clone(t.at(tid).row)
	return true, nil
}

func (t *fakeTable) conflict(row []types.Datum, not engine.TID) (engine.TID, bool) {
	if t.unique < 0 {
		return engine.TID{}, false
	}
	for i, v := range t.versions {
		if !v.dead && v.next == 0 && !v.deleted && fakeTID(i) != not && v.row[t.unique].W == row[t.unique].W {
			return fakeTID(i), true
		}
	}
	return engine.TID{}, false
}

func (t *fakeTable) add(row []types.Datum) engine.TID {
	t.versions = append(t.versions, &fakeVersion{row: slices.Clone(row), mine: true})
	return fakeTID(len(t.versions) - 1)
}

func (t *fakeTable) Insert(_ context.Context, _ *engine.Session, row []types.Datum, _ engine.InsertOptions) (engine.TID, error) {
	if _, dup := t.conflict(row, engine.TID{}); dup {
		return engine.TID{}, pgerr.New(pgerr.UniqueViolation, "duplicate key")
	}
	return t.add(row), nil
}

func (t *fakeTable) InsertBatch(ctx context.Context, s *engine.Session, rows [][]types.Datum, tids []engine.TID, o engine.InsertOptions) ([]engine.TID, error) {
	for _, r := range rows {
		tid, err := t.Insert(ctx, s, r, o)
		if err != nil {
			return nil, err
		}
		tids = append(tids, tid)
	}
	return tids, nil
}

func (t *fakeTable) InsertOrConflict(_ context.Context, _ *engine.Session, row []types.Datum, _ []types.OID, _ engine.InsertOptions) (tid, conflict engine.TID, ok bool, err error) {
	if c, dup := t.conflict(row, engine.TID{}); dup {
		return engine.TID{}, c, false, nil
	}
	return t.add(row), engine.TID{}, true, nil
}

// change is what becomes of a change of a row.
func (t *fakeTable) change(tid engine.TID) heap.Result {
	v := t.at(tid)
	switch {
	case v.self:
		return heap.Result{Status: heap.SelfModified, Cmax: t.cid}
	case v.mine:
		return heap.Result{Status: heap.Invisible}
	case v.next != 0:
		return heap.Result{Status: heap.Updated, CTID: fakeTID(v.next - 1)}
	case v.deleted:
		return heap.Result{Status: heap.Deleted}
	}
	return heap.Result{Status: heap.Ok, CTID: tid}
}

func (t *fakeTable) Update(_ context.Context, _ *engine.Session, _ *txn.Snapshot, tid engine.TID, _, row []types.Datum, _ engine.UpdateOptions) (engine.TID, heap.Result, error) {
	res := t.change(tid)
	if res.Status != heap.Ok {
		return tid, res, nil
	}
	if _, dup := t.conflict(row, tid); dup {
		return tid, res, pgerr.New(pgerr.UniqueViolation, "duplicate key")
	}
	t.at(tid).dead, t.at(tid).self = true, true
	return t.add(row), res, nil
}

func (t *fakeTable) Delete(_ context.Context, _ *engine.Session, _ *txn.Snapshot, tid engine.TID, _ engine.UpdateOptions) (heap.Result, error) {
	res := t.change(tid)
	if res.Status == heap.Ok {
		t.at(tid).dead, t.at(tid).self = true, true
	}
	return res, nil
}

func (t *fakeTable) LockRow(ctx context.Context, _ *engine.Session, _ *txn.Snapshot, tid engine.TID, o heap.LockOptions, dst *engine.Row) (heap.Result, error) {
	res := t.change(tid)
	for res.Status == heap.Updated && o.FollowUpdates {
		tid = res.CTID
		res = t.change(tid)
		res.Traversed = true
	}
	if res.Status == heap.Ok {
		t.locked[tid] = o.Mode
		_, err := t.FetchVersion(ctx, tid, dst)
		return res, err
	}
	return res, nil
}
