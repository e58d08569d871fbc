package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// TestTransfersKeepTheSum moves money between accounts in several sessions, under both isolation
// levels, with checkpoints and vacuums among them, and never sees nor leaves another sum.
func TestTransfersKeepTheSum(t *testing.T) {
	const accounts, workers, transfers = 20, 4, 120
	f := newFixture(t, nil)
	s := f.session()
	s.begin()
	oid := s.createTable("accounts", catalog.Permanent, column{"id", types.Int4}, column{"balance", types.Int8})
	idx := s.createIndex("accounts_pkey", oid, true, 1)
	for i := range accounts {
		s.insert(s.table(oid), ints(int64(i), 100))
	}
	s.commit()

	ctx, stop := context.WithTimeout(bg, time.Minute)
	defer stop()
	var wg, background sync.WaitGroup
	var done atomic.Bool
	var committed atomic.Int64
	for w := range workers {
		session := f.session()
		wg.Go(func() {
			defer session.Close()
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for range transfers {
				from, to := rng.Int64N(accounts), rng.Int64N(accounts)
				opts := TxOptions{}
				if rng.IntN(2) == 0 {
					opts.Isolation = RepeatableRead
				}
				switch err := transfer(ctx, session, oid, idx, from, to, opts); {
				case err == nil:
					committed.Add(1)
				case pgerr.HasCode(err, pgerr.TRSerializationFailure), pgerr.HasCode(err, pgerr.TRDeadlockDetected):
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	watcher, cleaner := f.session(), f.session()
	background.Go(func() {
		defer watcher.Close()
		for !done.Load() {
			if sum, n := total(watcher, oid); sum != accounts*100 || n != accounts {
				t.Errorf("a snapshot sees %d in %d accounts", sum, n)
				return
			}
		}
	})
	background.Go(func() {
		defer cleaner.Close()
		for !done.Load() {
			cleaner.vacuum(oid)
			if err := f.e.Checkpoint(bg); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	wg.Wait()
	done.Store(true)
	background.Wait()
	s.Close()
	if committed.Load() == 0 {
		t.Error("nothing was transferred")
	}
	f.check()
	f.crash()
	s = f.session()
	defer s.Close()
	if sum, n := total(s, oid); sum != accounts*100 || n != accounts {
		t.Errorf("after a crash %d in %d accounts", sum, n)
	}
}

func total(s *testSession, oid catalog.OID) (sum int64, n int) {
	s.begin()
	defer s.Abort(bg)
	snap := s.TakeSnapshot()
	defer s.ReleaseSnapshot(snap)
	scan := s.table(oid).NewScan(snap, ScanOptions{Columns: []int{1}})
	defer scan.Close()
	batch := types.NewBatch([]types.OID{types.Int8}, 100)
	for {
		more, err := scan.Next(bg, batch)
		s.ok(err)
		if !more {
			return sum, n
		}
		for i := range batch.N {
			sum += batch.Cols[0].Datum(i).Int64()
			n++
		}
	}
}

// transfer is two updates by key in a transaction, as the executor makes them.
func transfer(ctx context.Context, s *testSession, oid, idx catalog.OID, from, to int64, opts TxOptions) error {
	if err := s.Begin(opts); err != nil {
		return err
	}
	tab := s.table(oid)
	for _, step := range []struct{ key, amount int64 }{{from, -1}, {to, 1}} {
		if err := addTo(ctx, s, tab, idx, step.key, step.amount, opts); err != nil {
			s.Abort(ctx)
			return err
		}
		s.Tx().CommandCounterIncrement()
	}
	return s.Commit(ctx, false)
}

func addTo(ctx context.Context, s *testSession, tab *Table, idx catalog.OID, key, amount int64, opts TxOptions) error {
	snap := s.TakeSnapshot()
	defer s.ReleaseSnapshot(snap)
	scan, err := tab.NewIndexScan(idx, IndexScanOptions{Columns: []int{0, 1}, TIDs: true})
	if err != nil {
		return err
	}
	defer scan.Close()
	if err := scan.Seek(snap, &KeyRange{Eq: ints(key)}); err != nil {
		return err
	}
	batch := types.NewBatch([]types.OID{types.Int4, types.Int8}, 1)
	found, err := scan.Next(ctx, batch)
	if err != nil || !found {
		return fmt.Errorf("account %d: found %v, %w", key, found, err)
	}
	tid := scan.TIDs()[0]
	old := ints(key, batch.Cols[1].Datum(0).Int64())
	for {
		row := ints(key, old[1].Int64()+amount)
		_, res, err := tab.Update(ctx, s.Session, snap, tid, old, row, UpdateOptions{})
		if err != nil {
			return err
		}
		switch res.Status {
		case heap.Ok:
			return nil
		case heap.Updated:
			if opts.Isolation == RepeatableRead {
				return pgerr.New(pgerr.TRSerializationFailure, "could not serialize access due to concurrent update")
			}
			// Re-evaluation: lock the newest version and take it.
			var latest Row
			res, err := tab.LockRow(ctx, s.Session, snap, res.CTID, heap.LockOptions{Mode: heap.NoKeyUpdate, FollowUpdates: true}, &latest)
			if err != nil {
				return err
			}
			if res.Status != heap.Ok {
				return fmt.Errorf("locking account %d: %v", key, res.Status)
			}
			tid = res.TID
			old = ints(key, latest.Values[1].Int64())
		default:
			return fmt.Errorf("updating account %d: %v", key, res.Status)
		}
	}
}

// TestUniqueUnderConcurrency: of sessions that insert the same keys, one each wins.
func TestUniqueUnderConcurrency(t *testing.T) {
	const keys, workers = 60, 4
	f := newFixture(t, nil)
	s := f.session()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
	s.createIndex("t_a", oid, true, 1)
	s.commit()
	defer s.Close()
	var won [keys]atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		session := f.session()
		wg.Go(func() {
			defer session.Close()
			rng := rand.New(rand.NewPCG(uint64(w), 5))
			for key := range int64(keys) {
				session.begin()
				_, err := session.table(oid).Insert(bg, session.Session, ints(key), InsertOptions{})
				switch {
				case err == nil && rng.IntN(4) > 0:
					session.commit()
					won[key].Add(1)
				case err == nil || pgerr.HasCode(err, pgerr.UniqueViolation):
					session.Abort(bg)
				default:
					t.Error(err)
					session.Abort(bg)
					return
				}
			}
		})
	}
	wg.Wait()
	rows := 0
	for key := range won {
		if n := won[key].Load(); n > 1 {
			t.Errorf("key %d was committed %d times", key, n)
		} else {
			rows += int(n)
		}
	}
	if got := s.rows(s.table(oid)); len(got) != rows {
		t.Errorf("%d rows, want %d", len(got), rows)
	}
}

func TestAutovacuumCleans(t *testing.T) {
	f := newFixture(t, func(c *Config) {
		c.Options.Autovacuum = func() bool { return true }
		c.Options.AutovacuumNaptime = func() time.Duration { return 10 * time.Millisecond }
		c.Options.AutovacuumCostDelay = func() time.Duration { return 0 }
	})
	s := f.session()
	defer s.Close()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
	for i := range 200 {
		s.insert(s.table(oid), ints(int64(i)))
	}
	s.commit()
	s.begin()
	for i := range 190 {
		s.remove(s.table(oid), int64(i))
	}
	s.commit()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		st := f.e.TableStats(catalog.DatabasePostgres, oid)
		if st.AutovacuumCount > 0 && st.Dead == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("autovacuum did not come: %+v", st)
		}
	}
	if got := s.rows(s.table(oid)); len(got) != 10 {
		t.Errorf("%d rows", len(got))
	}
}
