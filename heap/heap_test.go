package heap

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

func TestInsertIsSeenAfterCommit(t *testing.T) {
	e := newEnv(t, envConfig{})
	a, b := e.session().begin(), e.session().begin()
	a.insert([]byte("one"))
	if got := a.rows(); !slices.Equal(got, []string{"one"}) {
		t.Errorf("inserter sees %q", got)
	}
	if got := b.rows(); len(got) != 0 {
		t.Errorf("another transaction sees %q before the commit", got)
	}
	b.withSnapshot(func(snap *txn.Snapshot) {
		a.commit()
		if got := b.rowsUnder(snap); len(got) != 0 {
			t.Errorf("an older snapshot sees %q", got)
		}
	})
	if got := b.rows(); !slices.Equal(got, []string{"one"}) {
		t.Errorf("a new snapshot sees %q", got)
	}
	b.commit()
	e.check()
}

func TestOwnCommandsAreOrdered(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	a.withSnapshot(func(before *txn.Snapshot) {
		tid := a.insert([]byte("v1"))
		if got := a.rowsUnder(before); len(got) != 0 {
			t.Errorf("a command sees what it inserted: %q", got)
		}
		a.withSnapshot(func(v1 *txn.Snapshot) {
			tid = a.update(tid, []byte("v2"))
			a.withSnapshot(func(v2 *txn.Snapshot) {
				a.delete(tid)
				for _, c := range []struct {
					name string
					snap *txn.Snapshot
					want []string
				}{{"before", before, nil}, {"after the insert", v1, []string{"v1"}}, {"after the update", v2, []string{"v2"}}} {
					if got := a.rowsUnder(c.snap); !slices.Equal(got, c.want) {
						t.Errorf("%s: %q, want %q", c.name, got, c.want)
					}
				}
			})
		})
	})
	if got := a.rows(); len(got) != 0 {
		t.Errorf("after the delete: %q", got)
	}
	a.commit()
	e.check()
}

func TestModifyingTwiceInOneCommand(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	tid := a.insert([]byte("x"))
	ctx := context.Background()
	a.withSnapshot(func(snap *txn.Snapshot) {
		if _, _, res, err := e.h.Update(ctx, a.w, snap, tid, []byte("y"), UpdateOptions{}); err != nil || res.Status != Ok {
			t.Fatal(res, err)
		}
		_, _, res, err := e.h.Update(ctx, a.w, snap, tid, []byte("z"), UpdateOptions{})
		if err != nil || res.Status != SelfModified || res.Cmax != snap.CurCID {
			t.Errorf("second update: %+v, %v", res, err)
		}
		if res, err := e.h.Delete(ctx, a.w, snap, tid, DeleteOptions{}); err != nil || res.Status != SelfModified {
			t.Errorf("delete: %+v, %v", res, err)
		}
	})
	a.next()
	if _, _, res, _ := a.tryUpdate(ctx, tid, []byte("w"), UpdateOptions{}); res.Status != Invisible {
		t.Errorf("update of the old version in a later command: %v", res.Status)
	}
	a.commit()
	e.check()
}

func TestUpdateChains(t *testing.T) {
	for _, c := range []struct {
		name       string
		size       int
		hotAllowed bool
		fill       int // bytes another row takes first
		wantHot    bool
		sameBlock  bool
	}{
		{"hot", 100, true, 0, true, true},
		{"index changes", 100, false, 0, false, true},
		{"no room", 100, true, 7900, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, envConfig{})
			a := e.session().begin()
			root := a.insert(row(1, 1, c.size))
			if c.fill > 0 {
				a.insert(row(2, 1, c.fill))
			}
			a.commit()
			a.begin()
			tid, hot, res, err := a.tryUpdate(context.Background(), root, row(1, 2, c.size), UpdateOptions{HotAllowed: c.hotAllowed, Mode: NoKeyUpdate})
			if err != nil || res.Status != Ok || hot != c.wantHot || (tid.Block == root.Block) != c.sameBlock {
				t.Fatalf("update to %v, hot %v: %+v, %v", tid, hot, res, err)
			}
			a.commit()
			a.begin()
			data, found, err := e.h.FetchLatest(context.Background(), a.w, root, &a.buf)
			if err != nil || !found || !slices.Equal(data, row(1, 2, c.size)) || a.buf.TID != tid {
				t.Errorf("latest: %v at %v, %v, %v", data, a.buf.TID, found, err)
			}
			got, ok := a.fetch(root)
			if ok != c.wantHot {
				t.Errorf("fetch through the root: %v", ok)
			}
			if ok {
				if _, version := rowKey(got); version != 2 || a.buf.TID != tid {
					t.Errorf("fetched version %d at %v", version, a.buf.TID)
				}
			}
			if got, ok := a.fetch(tid); ok == c.wantHot {
				t.Errorf("fetch of the new TID: %q, %v", got, ok)
			}
			a.commit()
			e.check()
		})
	}
}

func TestConcurrentUpdateAndDelete(t *testing.T) {
	e := newEnv(t, envConfig{})
	a, b := e.session().begin(), e.session().begin()
	ctx := context.Background()
	t1, t2 := a.insert([]byte("one")), a.insert([]byte("two"))
	a.commit()
	b.withSnapshot(func(old *txn.Snapshot) {
		a.begin()
		n1 := a.update(t1, []byte("ONE"))
		a.delete(t2)
		x := a.tx.XID()
		a.commit()
		_, _, res, err := e.h.Update(ctx, b.w, old, t1, []byte("b"), UpdateOptions{})
		if err != nil || res.Status != Updated || res.CTID != n1 || res.Xmax != x {
			t.Errorf("update of an updated row: %+v, %v", res, err)
		}
		if res, err := e.h.Delete(ctx, b.w, old, t2, DeleteOptions{}); err != nil || res.Status != Deleted || res.Xmax != x {
			t.Errorf("delete of a deleted row: %+v, %v", res, err)
		}
		res, err = e.h.LockTuple(ctx, b.w, old, t1, LockOptions{Mode: Update, FollowUpdates: true}, &b.buf)
		if err != nil || res.Status != Ok || res.TID != n1 || !res.Traversed || string(b.buf.Data) != "ONE" {
			t.Errorf("lock of the newest version: %+v %q, %v", res, b.buf.Data, err)
		}
		if res, err = e.h.LockTuple(ctx, b.w, old, t2, LockOptions{Mode: Share, FollowUpdates: true}, &b.buf); err != nil || res.Status != Deleted {
			t.Errorf("lock of a deleted row: %+v, %v", res, err)
		}
	})
	b.commit()
	e.check()
}

func TestAbortedWorkIsInvisible(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	keep := a.insert([]byte("keep"))
	a.commit()
	a.begin()
	a.insert([]byte("gone"))
	a.update(keep, []byte("changed"))
	a.abort()
	a.begin()
	if got := a.rows(); !slices.Equal(got, []string{"keep"}) {
		t.Errorf("after the abort: %q", got)
	}
	// A second time, with the hints the first look left.
	if got := a.rows(); !slices.Equal(got, []string{"keep"}) {
		t.Errorf("after the abort, again: %q", got)
	}
	a.update(keep, []byte("kept"))
	a.commit()
	a.begin()
	if got, _ := a.fetch(keep); got != "kept" {
		t.Errorf("after the next update: %q", got)
	}
	a.commit()
	e.check()
	e.vacuum(nil)
	e.check()
}

func TestSavepoints(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	tid := a.insert([]byte("top"))
	a.tx.Savepoint("s")
	a.insert([]byte("sub"))
	mid := a.update(tid, []byte("changed"))
	if got := a.rows(); !slices.Equal(got, []string{"sub", "changed"}) {
		t.Errorf("in the subtransaction: %q", got)
	}
	a.tx.RollbackTo("s")
	if got := a.rows(); !slices.Equal(got, []string{"top"}) {
		t.Errorf("after the rollback: %q", got)
	}
	tid = a.update(tid, []byte("again"))
	a.tx.Release("s")
	a.delete(tid)
	a.insert([]byte("end"))
	a.commit()
	a.begin()
	if got := a.rows(); !slices.Equal(got, []string{"end"}) {
		t.Errorf("after the commit: %q", got)
	}
	_ = mid
	a.commit()
	e.check()
}

func TestMultiInsert(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		t.Run(fmt.Sprintf("frozen=%v", frozen), func(t *testing.T) {
			e := newEnv(t, envConfig{})
			a := e.session().begin()
			var rows [][]byte
			for i := range 1000 {
				rows = append(rows, row(i, 0, 100))
			}
			records := e.deps.Metrics.WALRecords.Value()
			tids, err := a.multiInsert(context.Background(), rows, InsertOptions{Frozen: frozen})
			if err != nil {
				t.Fatal(err)
			}
			a.next()
			blocks := int64(tids[len(tids)-1].Block) + 1
			if n := e.deps.Metrics.WALRecords.Value() - records; n != blocks {
				t.Errorf("%d records for %d pages", n, blocks)
			}
			a.commit()
			a.begin()
			for i, tid := range tids {
				if got, ok := a.fetch(tid); !ok || got != string(rows[i]) {
					t.Fatalf("row %d at %v: %v, %v", i, tid, got, ok)
				}
			}
			if got := len(a.rows()); got != len(rows) {
				t.Errorf("a scan sees %d rows", got)
			}
			a.commit()
			visible, err := e.h.CountAllVisible()
			if err != nil || (int64(visible) == blocks) != frozen {
				t.Errorf("%d of %d pages all-visible, %v", visible, blocks, err)
			}
			e.check()
		})
	}
}

func TestVisibilityMapIsCleared(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name   string
		change func(s *session, tid TID)
		clears bool
	}{
		{"insert", func(s *session, _ TID) { s.insert([]byte("new")) }, true},
		{"multi insert", func(s *session, _ TID) {
			if _, err := s.multiInsert(ctx, [][]byte{[]byte("new")}, InsertOptions{}); err != nil {
				s.e.t.Fatal(err)
			}
		}, true},
		{"update", func(s *session, tid TID) { s.update(tid, []byte("new")) }, true},
		{"update to another page", func(s *session, tid TID) { s.update(tid, row(1, 2, 8000)) }, true},
		{"delete", func(s *session, tid TID) { s.delete(tid) }, true},
		{"lock", func(s *session, tid TID) {
			if res, err := s.lockRow(ctx, tid, LockOptions{Mode: Update}); err != nil || res.Status != Ok {
				s.e.t.Fatal(res, err)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, envConfig{})
			a := e.session().begin()
			tid := a.insert(row(1, 1, 100))
			a.commit()
			e.vacuum(nil)
			var vm VMBuf
			defer vm.Release()
			epoch := e.h.ReclaimEpoch()
			if ok, err := e.h.AllVisible(tid.Block, epoch, &vm); !ok || err != nil {
				t.Fatalf("after VACUUM: %v, %v", ok, err)
			}
			e.check()
			vm.Release()
			a.begin()
			c.change(a, tid)
			if ok, err := e.h.AllVisible(tid.Block, epoch, &vm); ok == c.clears || err != nil {
				t.Errorf("after the change: %v, %v", ok, err)
			}
			vm.Release()
			e.check()
			a.commit()
			e.check()
		})
	}
}

func TestPruneKeepsWhatSomeoneSees(t *testing.T) {
	e := newEnv(t, envConfig{})
	a, old := e.session().begin(), e.session().begin()
	root := a.insert(row(1, 0, 100))
	a.commit()
	old.tx.SetRepeatableRead(true)
	tid := root
	for v := 1; v <= 5; v++ {
		a.begin()
		if v == 3 {
			old.rows() // takes its snapshot: sees version 2
		}
		tid = a.update(tid, row(1, v, 100))
		a.commit()
	}
	e.vacuum(func([]TID) { t.Error("an index entry was removed") })
	if got, ok := old.fetch(root); !ok {
		t.Error("the old snapshot lost its version")
	} else if _, v := rowKey(got); v != 2 {
		t.Errorf("the old snapshot sees version %d", v)
	}
	old.commit()
	e.check()
	stats := e.vacuum(func([]TID) { t.Error("an index entry was removed") })
	if stats.TuplesRemoved == 0 || stats.LiveTuples != 1 {
		t.Errorf("second vacuum: %+v", stats)
	}
	a.begin()
	if got, ok := a.fetch(root); !ok {
		t.Error("the row is gone")
	} else if _, v := rowKey(got); v != 5 {
		t.Errorf("version %d", v)
	}
	a.commit()
	e.check()
}

func TestHotUpdatesReuseTheirPage(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	var roots []TID
	for i := range 60 {
		roots = append(roots, a.insert(row(i, 0, 100)))
	}
	a.commit()
	for v := 1; v <= 200; v++ {
		for i, root := range roots[:10] {
			a.begin()
			if _, ok := a.fetch(root); !ok {
				t.Fatalf("row %d is gone", i)
			}
			a.update(a.buf.TID, row(i, v, 100))
			a.commit()
		}
	}
	if n, _ := e.h.NBlocks(); n > 2 {
		t.Errorf("2000 updates of 10 rows spread over %d pages", n)
	}
	e.check()
}

func TestVacuumRemovesIndexEntriesFirst(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	index := map[TID]bool{}
	var tids []TID
	for i := range 500 {
		tid := a.insert(row(i, 0, 100))
		tids, index[tid] = append(tids, tid), true
	}
	a.commit()
	a.begin()
	var want []TID
	for i, tid := range tids {
		if i%3 == 0 {
			a.delete(tid)
			want = append(want, tid)
		}
	}
	a.commit()
	var got []TID
	epoch := e.h.ReclaimEpoch()
	stats := e.vacuum(func(dead []TID) {
		got = append(got, dead...)
		if e.h.ReclaimEpoch() != epoch {
			t.Error("TIDs were reclaimed before the index pass")
		}
		for _, tid := range dead {
			if !ContainsTID(dead, tid) {
				t.Errorf("%v is not found in the list", tid)
			}
		}
	})
	if !slices.Equal(got, want) {
		t.Errorf("the index pass got %d TIDs, want %d", len(got), len(want))
	}
	if e.h.ReclaimEpoch() == epoch {
		t.Error("the reclaim epoch did not advance")
	}
	if stats.DeadLinePointers != int64(len(want)) || stats.TuplesRemoved != int64(len(want)) || stats.LiveTuples != float64(len(tids)-len(want)) {
		t.Errorf("%+v", stats)
	}
	if stats.AllVisible != stats.Pages {
		t.Errorf("%d of %d pages all-visible", stats.AllVisible, stats.Pages)
	}
	e.check()
	// The room is used again before the relation grows.
	before, _ := e.h.NBlocks()
	b := e.session().begin()
	for i := range want {
		b.insert(row(1000+i, 0, 100))
	}
	b.commit()
	if after, _ := e.h.NBlocks(); after > before+1 {
		t.Errorf("grew from %d to %d pages", before, after)
	}
	e.check()
}

func TestVacuumTruncatesTheTail(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	var tids []TID
	for i := range 300 {
		tids = append(tids, a.insert(row(i, 0, 1000)))
	}
	a.commit()
	a.begin()
	for _, tid := range tids[10:] {
		a.delete(tid)
	}
	a.commit()
	stats := e.vacuum(nil)
	n, err := e.h.NBlocks()
	if err != nil || n != tids[9].Block+1 || stats.PagesRemoved == 0 {
		t.Errorf("%d blocks, %v: %+v", n, err, stats)
	}
	e.check()
	a.begin()
	if got := a.rows(); len(got) != 10 {
		t.Errorf("%d rows", len(got))
	}
	for i := range 100 {
		a.insert(row(i, 1, 1000))
	}
	a.commit()
	e.check()
}

func TestVacuumOfAllDeadAndEmptyPages(t *testing.T) {
	e := newEnv(t, envConfig{})
	if stats := e.vacuum(nil); stats.Pages != 0 {
		t.Errorf("%+v", stats)
	}
	// A page that an extension added and nobody used.
	x, err := e.pool.Extend(context.Background(), testRel, storage.MainFork, storage.ExtendOptions{Class: storage.ClassHeap})
	if err != nil {
		t.Fatal(err)
	}
	x.Buffer.ReleaseExclusive()
	e.check()
	s := e.session()
	if _, err := e.h.Vacuum(context.Background(), s.w, VacuumOptions{}); err != nil {
		t.Fatal(err)
	}
	s.begin()
	if tid := s.insert([]byte("x")); tid.Block != 0 {
		t.Errorf("the empty page was not found again: inserted at %v", tid)
	}
	s.commit()
	e.check()
}

func TestLiveStatus(t *testing.T) {
	e := newEnv(t, envConfig{})
	a, b := e.session().begin(), e.session().begin()
	status := func(tid TID, s *session) LiveResult {
		t.Helper()
		res, err := e.h.LiveStatus(tid, s.tx)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	expect := func(what string, got, want LiveResult) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	tid := a.insert([]byte("x"))
	xa := a.tx.XID()
	expect("own insert", status(tid, a), LiveResult{State: ChainLive, TID: tid})
	expect("insert in progress", status(tid, b), LiveResult{State: ChainWait, Wait: xa, TID: tid})
	a.commit()
	expect("committed", status(tid, b), LiveResult{State: ChainLive, TID: tid})
	a.begin()
	hot := a.update(tid, []byte("y"))
	expect("own update", status(tid, a), LiveResult{State: ChainLive, TID: hot})
	expect("update in progress", status(tid, b), LiveResult{State: ChainWait, Wait: a.tx.XID(), TID: tid})
	a.abort()
	expect("rolled back", status(tid, b), LiveResult{State: ChainLive, TID: tid})
	a.begin()
	a.delete(tid)
	expect("own delete", status(tid, a), LiveResult{State: ChainDead})
	expect("delete in progress", status(tid, b), LiveResult{State: ChainWait, Wait: a.tx.XID(), TID: tid})
	b.tx.TakeSnapshot()
	a.commit()
	expect("deleted", status(tid, b), LiveResult{State: ChainDead})
	b.commit()
	b.begin()
	expect("deleted long ago", status(tid, b), LiveResult{State: ChainDead, AllDead: true})
	if _, ok := b.fetch(tid); ok || !b.buf.AllDead {
		t.Errorf("fetch: %v, all dead %v", ok, b.buf.AllDead)
	}
	b.commit()
	e.check()
}

func TestScanAllForIndexBuild(t *testing.T) {
	e := newEnv(t, envConfig{})
	a, old := e.session().begin(), e.session().begin()
	r1, r2 := a.insert([]byte("a1")), a.insert([]byte("b1"))
	a.commit()
	old.tx.TakeSnapshot()
	a.begin()
	h1 := a.update(r1, []byte("a2"))
	a.delete(r2)
	a.commit()
	type item struct {
		row       string
		root      TID
		state     TupleState
		indexable bool
	}
	list := func() (items []item) {
		scan := e.h.NewScan(nil, ScanOptions{All: true})
		defer scan.Close()
		for {
			p, ok, err := scan.NextPage()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return items
			}
			for i := range p.N {
				items = append(items, item{string(p.Data(i)), p.RootTID(i), p.State(i), p.Indexable(i)})
			}
		}
	}
	want := []item{{"a1", r1, StateRecentlyDead, false}, {"b1", r2, StateRecentlyDead, true}, {"a2", r1, StateLive, true}}
	if got := list(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	old.commit()
	if got := list(); !reflect.DeepEqual(got, want[2:]) {
		t.Errorf("without the old snapshot: %+v", got)
	}
	_ = h1
	e.check()
}

func TestBlockRanges(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	for i := range 200 {
		a.insert(row(i, 0, 1000))
	}
	n, _ := e.h.NBlocks()
	seen := map[int]int{}
	a.withSnapshot(func(snap *txn.Snapshot) {
		scan := e.h.NewScan(snap, ScanOptions{Start: 0, End: 1})
		defer scan.Close()
		for start := storage.BlockNumber(0); start < n; start += 7 {
			scan.Reset(start, min(start+7, n))
			for {
				p, ok, err := scan.NextPage()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				for i := range p.N {
					key, _ := rowKey(string(p.Data(i)))
					seen[key]++
				}
			}
		}
	})
	for i := range 200 {
		if seen[i] != 1 {
			t.Errorf("row %d was seen %d times", i, seen[i])
		}
	}
	a.commit()
}

func TestRowTooBig(t *testing.T) {
	e := newEnv(t, envConfig{})
	a := e.session().begin()
	tid := a.insert(make([]byte, MaxRowSize))
	_, err := e.h.Insert(context.Background(), a.w, make([]byte, MaxRowSize+1), InsertOptions{})
	if !pgerr.HasCode(err, pgerr.ProgramLimitExceeded) {
		t.Errorf("insert: %v", err)
	}
	if _, _, _, err = a.tryUpdate(context.Background(), tid, make([]byte, MaxRowSize+1), UpdateOptions{}); !pgerr.HasCode(err, pgerr.ProgramLimitExceeded) {
		t.Errorf("update: %v", err)
	}
	a.commit()
	e.check()
}

func TestFillFactor(t *testing.T) {
	e := newEnv(t, envConfig{fillFactor: 50})
	a := e.session().begin()
	var tids []TID
	for i := range 100 {
		tids = append(tids, a.insert(row(i, 0, 100)))
	}
	perPage := 0
	for _, tid := range tids {
		if tid.Block == 0 {
			perPage++
		}
	}
	if want := storage.PageSize / 2 / (100 + HeaderSize + storage.LinePointerSize); perPage < want-1 || perPage > want+1 {
		t.Errorf("%d rows on the first page, want about %d", perPage, want)
	}
	a.commit()
	a.begin()
	if _, hot, _, _ := a.tryUpdate(context.Background(), tids[0], row(0, 1, 100), UpdateOptions{HotAllowed: true, Mode: NoKeyUpdate}); !hot {
		t.Error("an update did not use the room kept for it")
	}
	a.commit()
	e.check()
}

func TestUnloggedWritesNoLog(t *testing.T) {
	e := newEnv(t, envConfig{persistence: 'u'})
	a := e.session().begin()
	before := e.deps.Metrics.WALRecords.Value()
	tid := a.insert(row(1, 0, 50))
	a.update(tid, row(1, 1, 50))
	if n := e.deps.Metrics.WALRecords.Value() - before; n != 0 {
		t.Errorf("%d records", n)
	}
	a.commit()
	before = e.deps.Metrics.WALRecords.Value()
	a.begin()
	a.rows()
	e.vacuum(nil)
	a.commit()
	if n := e.deps.Metrics.WALRecords.Value() - before; n != 0 {
		t.Errorf("%d records for hints and vacuum", n)
	}
	e.check()
}
