package engine

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

func TestCheckFindsWhatIsWrong(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
	s.createIndex("t_a", oid, true, 1)
	tab := s.table(oid)
	for i := range 10 {
		s.insert(tab, ints(int64(i)))
	}
	s.commit()
	problems := func() string {
		var all []string
		_, err := f.e.Check(bg, func(p Problem) { all = append(all, p.String()) })
		s.ok(err)
		return strings.Join(all, "\n")
	}
	if p := problems(); p != "" {
		t.Fatalf("a sound table: %s", p)
	}

	s.begin()
	_, err := tab.heap.Insert(bg, &s.heapW, tab.rel.Row.Encode(nil, ints(100)), heap.InsertOptions{})
	s.ok(err)
	var e indexEntry
	_, err = tab.indexes[0].fill(bg, s.Session, ints(200), &e)
	s.ok(err)
	s.ok(tab.indexes[0].tree.Insert(bg, &s.treeW, e.key, btree.TID{Offset: 200}, nil))
	s.ok(tab.indexes[0].tree.Insert(bg, &s.treeW, e.key, btree.TID{Block: 900, Offset: 1}, nil))
	s.commit()
	got := problems()
	for _, want := range []string{"the row has no entry", "unused line pointer", "behind the table's end"} {
		if !strings.Contains(got, want) {
			t.Errorf("no word of %q in\n%s", want, got)
		}
	}

	s.ok(f.e.Checkpoint(bg))
	s.Close()
	f.close(CloseFast)
	// A page of the table, and the index's only leaf.
	for _, at := range []storage.BlockTag{{Rel: tab.rel.File}, {Rel: tab.indexes[0].idx.File, Block: 1}} {
		file, err := f.fs.OpenFile("data/"+at.Rel.String(), os.O_RDWR, 0)
		s.ok(err)
		_, err = file.WriteAt([]byte{0xFF}, int64(at.Block+1)*storage.PageSize-3)
		s.ok(err)
		s.ok(file.Close())
	}
	got = ""
	st, err := Check(bg, f.cfg, func(p Problem) { got += p.String() + "\n" })
	s.ok(err)
	for _, want := range []string{"postgres.t (", "invalid page in block 0", "postgres.t_a (", "invalid page in block 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("a changed byte in the table and in its index: %d problems, not %q:\n%s", st.Problems, want, got)
		}
	}
}

func TestCreateAndDropDatabase(t *testing.T) {
	f := newFixture(t, nil)
	s := f.session()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
	idx := s.createIndex("t_a", oid, true, 1)
	for i := range 100 {
		s.insert(s.table(oid), ints(int64(i)))
	}
	s.commit()
	create := func() catalog.OID {
		t.Helper()
		s.begin()
		db := s.newOID()
		row, err := s.Catalog().Get(catalog.PgDatabase, types.OIDDatum(catalog.DatabasePostgres))
		s.ok(err)
		row[catalog.DatabaseOid], row[catalog.DatabaseDatname] = types.OIDDatum(db), types.TextDatum("copy")
		s.ok(s.Catalog().Insert(catalog.PgDatabase, row))
		s.ok(s.Catalog().CopyDatabase(catalog.DatabasePostgres, db))
		s.ok(s.CreateDatabase(bg, db, catalog.DatabasePostgres, 0))
		return db
	}
	create()
	s.Abort(bg)
	db := create()
	s.commit()
	s.Close()
	f.crash()
	in := func(db catalog.OID) *testSession {
		f.pid++
		return &testSession{Session: f.e.NewSession(SessionOptions{PID: f.pid, Database: db}), t: t}
	}
	c := in(db)
	if got := c.rows(c.table(oid)); len(got) != 100 {
		t.Errorf("%d rows in the copy", len(got))
	}
	c.begin()
	c.insert(c.table(oid), ints(1000))
	c.commit()
	equal(t, "in the copy", c.lookup(c.table(oid), idx, KeyRange{Eq: ints(1000)}, IndexScanOptions{}), []string{"1000"})
	s = in(catalog.DatabasePostgres)
	equal(t, "in the original", s.lookup(s.table(oid), idx, KeyRange{Eq: ints(1000)}, IndexScanOptions{}), nil)
	f.check()
	c.Close()

	s.begin()
	row, err := s.Catalog().Get(catalog.PgDatabase, types.OIDDatum(db))
	s.ok(err)
	s.ok(s.Catalog().Delete(catalog.PgDatabase, row))
	s.ok(s.Catalog().DropDatabase(db))
	s.ok(s.DropDatabase(bg, db, 0))
	s.commit()
	s.Close()
	if _, err := f.fs.List(fmt.Sprint("data/base/", db)); err == nil {
		t.Error("the directory is still there")
	}
	f.crash()
}
