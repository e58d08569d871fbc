package engine

import (
	"testing"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
	"github.com/minipg/minipg/wal"
)

// accounts makes a table like pgbench's in a directory on disk, without syncs.
func accounts(b *testing.B, rows int) (f *fixture, s *testSession, oid, idx catalog.OID) {
	f = newFixture(b, func(c *Config) {
		c.FS, c.Dir = storage.OSFS{}, b.TempDir()
		c.Options = Options{
			SharedBuffers: 16384, Autovacuum: func() bool { return false },
			WALSyncMethod: func() wal.SyncMethod { return wal.SyncNone },
		}
	})
	s = f.session()
	b.Cleanup(s.Close)
	s.begin()
	oid = s.createTable("accounts", catalog.Permanent, column{"aid", types.Int4}, column{"abalance", types.Int4}, column{"filler", types.Text})
	var batch [][]types.Datum
	for i := range rows {
		batch = append(batch, []types.Datum{types.Int64Datum(int64(i)), {}, types.BytesDatum(make([]byte, 84))})
	}
	_, err := s.table(oid).InsertBatch(bg, s.Session, batch, nil, InsertOptions{})
	s.ok(err)
	idx = s.createIndex("accounts_pkey", oid, true, 1)
	s.commit()
	return f, s, oid, idx
}

func BenchmarkLookup(b *testing.B) {
	_, s, oid, idx := accounts(b, 100_000)
	tab := s.table(oid)
	scan, err := tab.NewIndexScan(idx, IndexScanOptions{Columns: []int{1}})
	s.ok(err)
	batch := types.NewBatch([]types.OID{types.Int4}, 1)
	r := KeyRange{Eq: make([]types.Datum, 1)}
	key := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		key = (key + 7919) % 100_000
		s.begin()
		snap := s.TakeSnapshot()
		r.Eq[0] = types.Int64Datum(key)
		s.ok(scan.Seek(snap, &r))
		if ok, err := scan.Next(bg, batch); !ok || err != nil {
			b.Fatal(ok, err)
		}
		s.ReleaseSnapshot(snap)
		s.commit()
	}
	scan.Close()
}

func BenchmarkUpdate(b *testing.B) {
	_, s, oid, idx := accounts(b, 100_000)
	tab := s.table(oid)
	scan, err := tab.NewIndexScan(idx, IndexScanOptions{Columns: []int{0, 1, 2}, TIDs: true})
	s.ok(err)
	batch := types.NewBatch([]types.OID{types.Int4, types.Int4, types.Text}, 1)
	r := KeyRange{Eq: make([]types.Datum, 1)}
	old, row := make([]types.Datum, 3), make([]types.Datum, 3)
	key := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		key = (key + 7919) % 100_000
		s.begin()
		snap := s.TakeSnapshot()
		r.Eq[0] = types.Int64Datum(key)
		s.ok(scan.Seek(snap, &r))
		if ok, err := scan.Next(bg, batch); !ok || err != nil {
			b.Fatal(ok, err)
		}
		batch.Row(0, old)
		copy(row, old)
		row[1].W++
		_, res, err := tab.Update(bg, s.Session, snap, scan.TIDs()[0], old, row, UpdateOptions{})
		if err != nil || res.Status != heap.Ok {
			b.Fatal(res, err)
		}
		s.ReleaseSnapshot(snap)
		s.commit()
	}
	scan.Close()
}

func BenchmarkInsert(b *testing.B) {
	_, s, oid, _ := accounts(b, 10)
	tab := s.table(oid)
	row := []types.Datum{{}, {}, types.BytesDatum(make([]byte, 84))}
	b.ReportAllocs()
	for b.Loop() {
		s.begin()
		row[0].W += 10
		_, err := tab.Insert(bg, s.Session, row, InsertOptions{})
		s.ok(err)
		s.commit()
	}
}
