package heap

import (
	"context"
	"fmt"
	"testing"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

func benchEnv(b *testing.B, buffers int) (*env, *session) {
	e := newEnv(b, envConfig{fs: storage.OSFS{}, dir: b.TempDir(), buffers: buffers, segment: 16 << 20})
	return e, e.session()
}

func BenchmarkHeapInsert(b *testing.B) {
	for _, c := range []struct{ rows, width int }{{1, 64}, {1000, 64}, {1000, 1000}} {
		b.Run(fmt.Sprintf("rows=%d/width=%d", c.rows, c.width), func(b *testing.B) {
			e, s := benchEnv(b, 32768)
			data := row(1, 1, c.width)
			b.ReportAllocs()
			for b.Loop() {
				s.tx.Start()
				for range c.rows {
					if _, err := e.h.Insert(context.Background(), s.w, data, InsertOptions{}); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.tx.Commit(txn.CommitInfo{DB: testDB, Async: true}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.rows), "ns/row")
		})
	}
}

func BenchmarkHeapMultiInsert(b *testing.B) {
	for _, c := range []struct{ rows, width int }{{1000, 16}, {1000, 64}, {1000, 1000}, {16000, 16}} {
		b.Run(fmt.Sprintf("rows=%d/width=%d", c.rows, c.width), func(b *testing.B) {
			e, s := benchEnv(b, 32768)
			list := make([][]byte, c.rows)
			for i := range list {
				list[i] = row(i, 1, c.width)
			}
			rows := rowsOf(list)
			var tids []TID
			b.ReportAllocs()
			for b.Loop() {
				s.tx.Start()
				tids = tids[:0]
				if _, err := e.h.MultiInsert(context.Background(), s.w, rows, &tids, InsertOptions{}); err != nil {
					b.Fatal(err)
				}
				if err := s.tx.Commit(txn.CommitInfo{DB: testDB, Async: true}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.rows), "ns/row")
		})
	}
}

// filled is a relation of n rows with 100 bytes each.
func filled(b *testing.B, n int) (*env, *session, []TID) {
	e, s := benchEnv(b, 32768)
	s.tx.Start()
	rows := make([][]byte, n)
	for i := range rows {
		rows[i] = row(i, 1, 100)
	}
	tids, err := s.multiInsert(context.Background(), rows, InsertOptions{})
	if err != nil {
		b.Fatal(err)
	}
	s.commit()
	return e, s, tids
}

func BenchmarkFetch(b *testing.B) {
	for _, vacuumed := range []bool{false, true} {
		b.Run(fmt.Sprintf("rows=100000/vacuumed=%v", vacuumed), func(b *testing.B) {
			e, s, tids := filled(b, 100000)
			if vacuumed {
				e.vacuum(nil)
			}
			s.tx.Start()
			snap := s.tx.TakeSnapshot()
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, err := e.h.Fetch(snap, tids[i], &s.buf); !ok || err != nil {
					b.Fatal(ok, err)
				}
				if i += 7919; i >= len(tids) {
					i -= len(tids)
				}
			}
			s.commit()
		})
	}
}

func BenchmarkHeapUpdate(b *testing.B) {
	for _, hot := range []bool{true, false} {
		b.Run(fmt.Sprintf("rows=1000/hot=%v", hot), func(b *testing.B) {
			e, s, tids := filled(b, 1000)
			data := row(1, 2, 100)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				s.tx.Start()
				snap := s.tx.TakeSnapshot()
				newTID, _, res, err := e.h.Update(context.Background(), s.w, snap, tids[i], data, UpdateOptions{HotAllowed: hot, Mode: NoKeyUpdate})
				if err != nil || res.Status != Ok {
					b.Fatal(res, err)
				}
				tids[i] = newTID
				s.tx.ReleaseSnapshot(snap)
				if err := s.tx.Commit(txn.CommitInfo{DB: testDB, Async: true}); err != nil {
					b.Fatal(err)
				}
				i = (i + 1) % len(tids)
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for _, vacuumed := range []bool{false, true} {
		b.Run(fmt.Sprintf("rows=100000/vacuumed=%v", vacuumed), func(b *testing.B) {
			e, s, tids := filled(b, 100000)
			if vacuumed {
				e.vacuum(nil)
			}
			s.tx.Start()
			snap := s.tx.TakeSnapshot()
			b.ReportAllocs()
			for b.Loop() {
				scan := e.h.NewScan(snap, ScanOptions{})
				n := 0
				for {
					p, ok, err := scan.NextPage()
					if err != nil {
						b.Fatal(err)
					}
					if !ok {
						break
					}
					n += p.N
				}
				scan.Close()
				if n != len(tids) {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(tids)), "ns/row")
			s.commit()
		})
	}
}

func BenchmarkVacuum(b *testing.B) {
	e, s, tids := filled(b, 100000)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s.tx.Start()
		snap := s.tx.TakeSnapshot()
		for i, tid := range tids {
			newTID, _, res, err := e.h.Update(context.Background(), s.w, snap, tid, row(i, 2, 100), UpdateOptions{HotAllowed: true, Mode: NoKeyUpdate})
			if err != nil || res.Status != Ok {
				b.Fatal(res, err)
			}
			tids[i] = newTID
		}
		s.tx.ReleaseSnapshot(snap)
		s.commit()
		b.StartTimer()
		e.vacuum(func([]TID) {})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(tids)), "ns/row")
}
