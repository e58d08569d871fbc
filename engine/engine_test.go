package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestOpenCloseOpen(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.FS, c.Dir = storage.OSFS{}, t.TempDir() })
	id := f.e.SystemID()
	f.close(CloseFast)
	f.open()
	if f.e.Recovered() {
		t.Error("recovered after a clean shutdown")
	}
	if f.e.SystemID() != id {
		t.Error("another system identifier")
	}
	if _, err := Open(bg, f.cfg); !pgerr.HasCode(err, pgerr.LockFileExists) {
		t.Errorf("a second server: %v", err)
	}
	f.crash()
	if !f.e.Recovered() {
		t.Error("no recovery after a crash")
	}
}

func TestRowsAndIndexesSurviveACrash(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4}, column{"b", types.Text})
	idx := s.createIndex("t_pkey", oid, true, 1)
	tab := s.table(oid)
	for i := range 300 {
		s.insert(tab, []types.Datum{types.Int64Datum(int64(i)), types.TextDatum(fmt.Sprint("row ", i))})
	}
	s.commit()

	s.begin()
	tab = s.table(oid)
	s.set(tab, 7, types.TextDatum("changed"))
	s.remove(tab, 8)
	s.commit()
	s.begin()
	tab = s.table(oid)
	s.insert(tab, []types.Datum{types.Int64Datum(1000), types.TextDatum("lost")})
	s.Abort(bg)

	check := func(s *testSession) {
		t.Helper()
		tab := s.table(oid)
		if got := s.rows(tab); len(got) != 299 {
			t.Errorf("%d rows, want 299", len(got))
		}
		eq := func(v int64) KeyRange { return KeyRange{Eq: ints(v)} }
		equal(t, "key 7", s.lookup(tab, idx, eq(7), IndexScanOptions{}), []string{"7|changed"})
		equal(t, "key 8", s.lookup(tab, idx, eq(8), IndexScanOptions{}), nil)
		equal(t, "key 1000", s.lookup(tab, idx, eq(1000), IndexScanOptions{}), nil)
		equal(t, "range", s.lookup(tab, idx, KeyRange{
			HasLo: true, Lo: types.Int64Datum(5), LoExclusive: true, HasHi: true, Hi: types.Int64Datum(9),
		}, IndexScanOptions{}), []string{"6|row 6", "7|changed", "9|row 9"})
		equal(t, "backward", s.lookup(tab, idx, KeyRange{HasHi: true, Hi: types.Int64Datum(2)}, IndexScanOptions{Backward: true}),
			[]string{"2|row 2", "1|row 1", "0|row 0"})
	}
	check(s)
	s.Close()
	f.crash()
	s = f.session()
	check(s)
	s.ok(f.e.Checkpoint(bg))
	s.Close()
	f.close(CloseFast)
	f.open()
	s = f.session()
	check(s)
	s.Close()
}

func TestUniqueViolation(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	defer s.Close()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4}, column{"b", types.Text})
	s.createIndex("t_a_b_key", oid, true, 1, 2)
	tab := s.table(oid)
	row := []types.Datum{types.Int64Datum(1), types.TextDatum("x")}
	s.insert(tab, row)
	_, err := tab.Insert(bg, s.Session, row, InsertOptions{})
	e := pgerr.From(err)
	if e == nil || e.Code != pgerr.UniqueViolation || e.Message != `duplicate key value violates unique constraint "t_a_b_key"` ||
		e.Detail != "Key (a, b)=(1, x) already exists." || e.Schema != "public" || e.Table != "t" || e.Constraint != "t_a_b_key" {
		t.Fatalf("%+v", e)
	}
	null := []types.Datum{types.Int64Datum(1), types.NullDatum}
	s.insert(tab, null)
	s.insert(tab, null)
	s.Abort(bg)
}

func TestBuildIndexFindsDuplicates(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Options.MaintenanceWorkMem = func() int64 { return 4096 } })
	s := f.session()
	defer s.Close()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int8}, column{"b", types.Text})
	tab := s.table(oid)
	for i := range 500 {
		s.insert(tab, []types.Datum{types.Int64Datum(int64(i * 7919 % 500)), types.TextDatum("b")})
	}
	idx := s.createIndex("t_a", oid, true, 1) // in many runs
	tab = s.table(oid)
	got := s.lookup(tab, idx, KeyRange{}, IndexScanOptions{})
	if len(got) != 500 || !strings.HasPrefix(got[0], "0|") || !strings.HasPrefix(got[499], "499|") {
		t.Fatalf("%d rows, first %q", len(got), got[0])
	}
	_, err := s.tryCreateIndex("t_b", oid, true, 2)
	e := pgerr.From(err)
	if e == nil || e.Message != `could not create unique index "t_b"` || e.Detail != "Key (b)=(b) is duplicated." {
		t.Fatalf("%+v", e)
	}
	s.Abort(bg)
}

func TestToast(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4}, column{"n", types.Int4}, column{"b", types.Text})
	tab := s.table(oid)
	incompressible := func(seed uint32, n int) types.Datum {
		b := make([]byte, n)
		for i := range b {
			seed = seed*1664525 + 1013904223
			b[i] = 'a' + byte(seed>>24)%26
		}
		return types.BytesDatum(b)
	}
	long := incompressible(1, 50_000)
	s.insert(tab, []types.Datum{types.Int64Datum(1), types.Int64Datum(0), long})
	s.insert(tab, []types.Datum{types.Int64Datum(2), types.Int64Datum(0), types.TextDatum(strings.Repeat("x", 5000))})
	s.commit()
	chunks := func() int { return len(s.rows(s.table(s.rel(oid).Toast))) }
	if n := chunks(); n < 15 {
		t.Fatalf("%d chunks of a 50 kB value", n)
	}
	before := chunks()

	// Another column: the value stays where it is.
	s.begin()
	tid, old := s.find(s.table(oid), 1)
	if !slices.Equal(old[2].B, long.B) {
		t.Fatal("the value came back different")
	}
	row := slices.Clone(old)
	row[1] = types.Int64Datum(5)
	snap := s.TakeSnapshot()
	_, _, err := s.table(oid).Update(bg, s.Session, snap, tid, old, row, UpdateOptions{})
	s.ok(err)
	s.ReleaseSnapshot(snap)
	s.commit()
	if chunks() != before {
		t.Error("an update of another column moved the value")
	}
	s.Close()
	f.crash()
	s = f.session()
	defer s.Close()
	if _, v := s.find(s.table(oid), 1); !slices.Equal(v[2].B, long.B) || v[1].Int64() != 5 {
		t.Error("lost after a crash")
	}
	s.begin()
	s.set(s.table(oid), 1, incompressible(2, 9000))
	s.remove(s.table(oid), 2)
	s.commit()
	if n := chunks(); n < 2 || n > 6 {
		t.Errorf("%d chunks of a 9 kB value", n)
	}
	s.begin()
	s.remove(s.table(oid), 1)
	s.commit()
	if chunks() != 0 {
		t.Error("chunks outlive their row")
	}
}

func TestAbortAndDropUnlinkFiles(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	defer s.Close()
	count := func() (n int) {
		s.ok(f.e.Pool().Files().List(func(storage.Found) error { n++; return nil }))
		return n
	}
	s.begin()
	s.createTable("t", catalog.Permanent, column{"a", types.Int4})
	if count() == 0 {
		t.Fatal("no files")
	}
	s.Abort(bg)
	if n := count(); n != 0 {
		t.Errorf("%d files after the abort", n)
	}
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
	s.insert(s.table(oid), ints(1))
	s.ok(s.Savepoint("sp"))
	made := count()
	s.createPlain("u", catalog.KindTable, catalog.Permanent, column{"a", types.Int4})
	s.ok(s.RollbackTo(bg, "sp"))
	if count() != made {
		t.Error("a file made in a savepoint outlives its rollback")
	}
	s.commit()
	old := s.rel(oid).File
	s.begin()
	s.ok(s.NewStorage(bg, s.rel(oid)))
	s.commit()
	if ok, err := f.e.Pool().Files().Exists(old, storage.MainFork); ok || err != nil {
		t.Errorf("the truncated table's file is still there: %v", err)
	}
	equal(t, "truncated", s.rows(s.table(oid)), nil)
	s.begin()
	s.insert(s.table(oid), ints(2))
	s.commit()
	equal(t, "after", s.rows(s.table(oid)), []string{"2"})
}

func TestCrashSweepsOrphansAndEmptiesUnlogged(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	s.begin()
	logged := s.createTable("l", catalog.Permanent, column{"a", types.Int4})
	unlogged := s.createTable("u", catalog.Unlogged, column{"a", types.Int4})
	idx := s.createIndex("u_a", unlogged, true, 1)
	s.insert(s.table(logged), ints(1))
	s.insert(s.table(unlogged), ints(1))
	s.commit()
	s.ok(f.e.Checkpoint(bg))
	equal(t, "unlogged", s.rows(s.table(unlogged)), []string{"1"})
	s.begin()
	s.createTable("orphan", catalog.Permanent, column{"a", types.Int4})
	s.ok(f.e.Checkpoint(bg)) // its files are durable, its commit never comes
	files := 0
	s.ok(f.e.Pool().Files().List(func(storage.Found) error { files++; return nil }))
	f.crash()
	s = f.session()
	defer s.Close()
	left := 0
	s.ok(f.e.Pool().Files().List(func(storage.Found) error { left++; return nil }))
	if left >= files {
		t.Errorf("%d files before the crash, %d after: orphans stay", files, left)
	}
	equal(t, "logged", s.rows(s.table(logged)), []string{"1"})
	equal(t, "unlogged", s.rows(s.table(unlogged)), nil)
	s.begin()
	s.insert(s.table(unlogged), ints(3))
	s.commit()
	equal(t, "unlogged index", s.lookup(s.table(unlogged), idx, KeyRange{Eq: ints(3)}, IndexScanOptions{}), []string{"3"})
}

func TestSequence(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	s.begin()
	oid := s.createSequence("s", catalog.Sequence{Start: 1, Increment: 1, Max: math.MaxInt64, Min: 1, Cache: 1})
	short := s.createSequence("short", catalog.Sequence{Start: 5, Increment: 2, Max: 8, Min: 1, Cache: 1})
	s.commit()
	next := func(oid catalog.OID) int64 {
		t.Helper()
		own := !s.InTransaction()
		if own {
			s.begin()
		}
		v, err := s.Nextval(bg, s.rel(oid))
		s.ok(err)
		if own {
			s.commit()
		}
		return v
	}
	for want := int64(1); want <= 40; want++ {
		if v := next(oid); v != want {
			t.Fatalf("value %d, want %d", v, want)
		}
	}
	if next(short) != 5 || next(short) != 7 {
		t.Error("a sequence by two from 5")
	}
	s.begin()
	if _, err := s.Nextval(bg, s.rel(short)); !pgerr.HasCode(err, pgerr.SequenceGeneratorLimitExceeded) {
		t.Errorf("past the end: %v", err)
	}
	s.Abort(bg)
	s.begin()
	next(oid)
	s.Abort(bg) // values are not given back
	s.Close()
	f.crash()
	s = f.session()
	defer s.Close()
	if v := next(oid); v <= 41 || v > 41+sequenceAhead {
		t.Errorf("after a crash the next value is %d", v)
	}
	if v, err := s.Currval(s.rel(oid)); err != nil || v <= 41 {
		t.Errorf("currval %d, %v", v, err)
	}
	s.begin()
	s.ok(s.Setval(bg, s.rel(oid), 100, true))
	if v := next(oid); v != 101 {
		t.Errorf("after setval 100: %d", v)
	}
	s.commit()
}

func TestVacuumRemovesDeadRowsAndEntries(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	defer s.Close()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4}, column{"b", types.Int4})
	idx := s.createIndex("t_a", oid, true, 1)
	idxB := s.createIndex("t_b", oid, false, 2)
	for i := range 200 {
		s.insert(s.table(oid), ints(int64(i), int64(i%10)))
	}
	s.commit()
	s.begin()
	for i := range 100 {
		s.remove(s.table(oid), int64(i*2))
	}
	s.set(s.table(oid), 1, types.Int64Datum(77))
	s.commit()
	res := s.vacuum(oid)
	if res.TuplesRemoved != 101 || len(res.Indexes) != 2 {
		t.Errorf("%+v", res)
	}
	if rel := s.rel(oid); rel.Tuples != 100 || rel.Pages == 0 {
		t.Errorf("pg_class says %v rows, %v pages", rel.Tuples, rel.Pages)
	}
	if got := s.rows(s.table(oid)); len(got) != 100 {
		t.Errorf("%d rows", len(got))
	}
	equal(t, "removed key", s.lookup(s.table(oid), idx, KeyRange{Eq: ints(4)}, IndexScanOptions{}), nil)
	equal(t, "moved key", s.lookup(s.table(oid), idxB, KeyRange{Eq: ints(77)}, IndexScanOptions{}), []string{"1|77"})
	// All-visible pages answer an index-only scan without the heap.
	s.vacuum(oid)
	s.begin()
	scan, err := s.table(oid).NewIndexScan(idx, IndexScanOptions{Columns: []int{0}, IndexOnly: true})
	s.ok(err)
	snap := s.TakeSnapshot()
	s.ok(scan.Seek(snap, &KeyRange{HasLo: true, Lo: types.Int64Datum(195)}))
	batch := types.NewBatch([]types.OID{types.Int4}, 10)
	_, err = scan.Next(bg, batch)
	s.ok(err)
	equal(t, "index only", render(s.table(oid), batch), []string{"195", "197", "199"})
	if scan.HeapFetches() != 0 {
		t.Errorf("%d heap fetches", scan.HeapFetches())
	}
	scan.Close()
	s.ReleaseSnapshot(snap)
	s.commit()
}

func TestInsertBatch(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	defer s.Close()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4}, column{"b", types.Text})
	idx := s.createIndex("t_a", oid, true, 1)
	var rows [][]types.Datum
	for i := range 100 {
		b := "short"
		if i%10 == 3 {
			b = strings.Repeat(fmt.Sprint(i), 10000)
		}
		rows = append(rows, []types.Datum{types.Int64Datum(int64(i)), types.TextDatum(b)})
	}
	tids, err := s.table(oid).InsertBatch(bg, s.Session, rows, nil, InsertOptions{})
	s.ok(err)
	s.commit()
	if len(tids) != 100 || len(s.rows(s.table(oid))) != 100 {
		t.Fatalf("%d TIDs", len(tids))
	}
	equal(t, "key 13", s.lookup(s.table(oid), idx, KeyRange{Eq: ints(13)}, IndexScanOptions{}), []string{"13|1313131313...20000"})
}

func TestInsertOrConflict(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	defer s.Close()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
	idx := s.createIndex("t_a", oid, true, 1)
	tab := s.table(oid)
	tid, _, ok, err := tab.InsertOrConflict(bg, s.Session, ints(1), []types.OID{idx}, InsertOptions{})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	s.Tx().CommandCounterIncrement()
	_, conflict, ok, err := tab.InsertOrConflict(bg, s.Session, ints(1), nil, InsertOptions{})
	if err != nil || ok || conflict != tid {
		t.Fatalf("conflict %v, want %v; %v %v", conflict, tid, ok, err)
	}
	s.commit()
	equal(t, "rows", s.rows(s.table(oid)), []string{"1"})
}
