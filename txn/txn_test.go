package txn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

type fixture struct {
	m     *Manager
	log   *wal.Log
	locks *locks.Manager
	pid   int32
}

func open(t testing.TB, dir string, next XID, change func(*Config)) *fixture {
	t.Helper()
	leaveClog(t, dir, next)
	log, err := wal.Open(wal.Config{FS: storage.OSFS{}, Dir: filepath.Join(dir, "pg_wal"), SystemID: 1})
	if err != nil {
		t.Fatal(err)
	}
	set := metrics.Discard()
	lm := locks.NewManager(locks.Config{Metrics: set})
	cfg := Config{FS: storage.OSFS{}, Dir: dir, Log: log, Locks: lm, Metrics: set, NextXID: next}
	if change != nil {
		change(&cfg)
	}
	m, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Replay(log.FirstLSN(), func(rec *wal.Record) error { return m.Redo(rec, nil) })
	if err != nil {
		t.Fatal(err)
	}
	if err := m.StartUp(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return &fixture{m: m, log: log, locks: lm}
}

// leaveClog makes the commit log that a checkpoint before next left, where there is none.
func leaveClog(t testing.TB, dir string, next XID) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, clogDir)); err == nil {
		return
	}
	c, err := openClog(storage.OSFS{}, dir, 0, func(storage.LSN) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.require(FirstXID), c.flushAll(next)); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) begin() *Tx {
	f.pid++
	return f.m.Begin(f.locks.NewSession(f.pid))
}

var async = CommitInfo{Async: true}

func commit(t testing.TB, tx *Tx) {
	t.Helper()
	if err := tx.Commit(async); err != nil {
		t.Fatal(err)
	}
}

// TestSnapshotsSeeWhatTheModelSees interleaves random transactions with savepoints and
// compares every snapshot, all its life, with the set of commits the model had when
// it was taken.
func TestSnapshotsSeeWhatTheModelSees(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	// Begins just below a page of states, to cross into the next.
	f := open(t, t.TempDir(), statePageXIDs-300, nil)

	type running struct {
		tx    *Tx
		snaps []*Snapshot
		sees  []map[XID]bool
	}
	committed := map[XID]bool{}
	all := []XID{}
	var run []*running
	check := func(r *running) {
		for i, s := range r.snaps {
			for k := range 40 {
				if k >= len(all) {
					break
				}
				xid := all[rng.IntN(len(all))]
				if r.tx.IsCurrent(xid) {
					continue
				}
				if got, want := s.Committed(xid), r.sees[i][xid]; got != want {
					t.Fatalf("snapshot %+v: Committed(%d) = %v, want %v", *s, xid, got, want)
				}
			}
			h := f.m.Horizon()
			for xid := range committed {
				if xid < h && !r.sees[i][xid] {
					t.Fatalf("horizon %d is above %d, which a snapshot does not see", h, xid)
				}
			}
		}
	}
	for step := range 6000 {
		if len(run) < 6 && rng.IntN(3) == 0 {
			r := &running{tx: f.begin()}
			r.tx.SetRepeatableRead(rng.IntN(2) == 0)
			run = append(run, r)
			continue
		}
		if len(run) == 0 {
			continue
		}
		i := rng.IntN(len(run))
		r := run[i]
		before := len(r.tx.xids)
		switch rng.IntN(9) {
		case 0, 1:
			s := r.tx.TakeSnapshot()
			sees := map[XID]bool{}
			if r.tx.repeatable && len(r.sees) > 0 {
				sees = r.sees[0]
			} else {
				for xid := range committed {
					sees[xid] = true
				}
			}
			r.snaps, r.sees = append(r.snaps, s), append(r.sees, sees)
		case 2:
			if n := len(r.snaps); n > 1 || n == 1 && !r.tx.repeatable {
				k := n - 1
				r.tx.ReleaseSnapshot(r.snaps[k])
				r.snaps, r.sees = slices.Delete(r.snaps, k, n), slices.Delete(r.sees, k, n)
			}
		case 3, 4:
			r.tx.XID()
			all = append(all, r.tx.xids[before:]...)
		case 5:
			r.tx.Savepoint(fmt.Sprint(rng.IntN(3)))
		case 6:
			if rng.IntN(2) == 0 {
				r.tx.RollbackTo(fmt.Sprint(rng.IntN(3)))
			} else {
				r.tx.Release(fmt.Sprint(rng.IntN(3)))
			}
		default:
			run = slices.Delete(run, i, i+1)
			if rng.IntN(4) == 0 {
				r.tx.Abort(nil)
				break
			}
			for _, xid := range r.tx.xids {
				committed[xid] = true
			}
			commit(t, r.tx)
		}
		if step%10 == 0 {
			for _, r := range run {
				check(r)
			}
		}
	}
	for _, r := range run {
		r.tx.Abort(nil)
	}
	if got, want := f.m.OldestActive(), f.m.NextXID(); got != want {
		t.Errorf("with nothing running oldestActive is %d, want %d", got, want)
	}
	for _, xid := range all {
		status, _ := f.m.Status(xid)
		if (status == Committed) != committed[xid] || status == InProgress {
			t.Fatalf("%d is %v, the model says committed=%v", xid, status, committed[xid])
		}
	}
}

// TestCommitIsAtomicToReaders: a subtransaction's changes appear with its parent's, and
// nothing seen disappears.
func TestCommitIsAtomicToReaders(t *testing.T) {
	f := open(t, t.TempDir(), 0, nil)
	var newest [3]atomic.Uint64 // XIDs of the transaction being committed: parent, child, grandchild
	var stop atomic.Bool
	var wg sync.WaitGroup
	readers := []*Tx{f.begin(), f.begin()}
	writer := f.begin()
	for _, tx := range readers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !stop.Load() {
				a, b, c := XID(newest[0].Load()), XID(newest[1].Load()), XID(newest[2].Load())
				if a == 0 || b != a+1 || c != a+2 {
					continue
				}
				s := tx.TakeSnapshot()
				child, parent, grandchild := s.Committed(b), s.Committed(a), s.Committed(c)
				if child != parent || grandchild != parent {
					t.Errorf("parent %v, child %v, grandchild %v", parent, child, grandchild)
				}
				if parent && !s.Committed(a) {
					t.Error("a commit disappeared from a snapshot")
				}
				if h := f.m.Horizon(); h > s.Xmin {
					t.Errorf("horizon %d passed a live snapshot's xmin %d", h, s.Xmin)
				}
				tx.ReleaseSnapshot(s)
			}
		}()
	}
	for range 3000 {
		writer.Savepoint("a")
		writer.Savepoint("b")
		writer.XID()
		for i, xid := range writer.XIDs() {
			newest[i].Store(uint64(xid))
		}
		commit(t, writer)
		writer.Start()
	}
	stop.Store(true)
	wg.Wait()
}

func TestCommitSurvivesReplay(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, 0, nil)
	a := f.begin()
	a.Savepoint("s")
	child := a.XID()
	a.Savepoint("undone")
	undone := a.XID()
	a.RollbackTo("undone")
	payload := []byte("catalog batch")
	files := []storage.RelFile{{Tablespace: 1663, Database: 5, Number: 1 << 40}}
	applied := false
	top := a.TopXID()
	err := a.Commit(CommitInfo{
		Payload: payload, UnlinkFiles: files, DB: 5, Async: true,
		AfterFlush: func() error {
			applied = true
			if status, _ := f.m.Status(top); status != InProgress {
				t.Errorf("visible before applied: %v", status)
			}
			if f.log.FlushedTo() < f.log.InsertLSN() {
				t.Error("applied before durable")
			}
			return nil
		},
	})
	if err != nil || !applied {
		t.Fatal(err, applied)
	}
	b := f.begin()
	aborted := b.XID()
	b.Abort(nil)
	c := f.begin()
	unfinished := c.XID()
	d := f.begin()
	lost := d.XID()
	if err := d.Commit(CommitInfo{}); err != nil {
		t.Fatal(err)
	}

	f.log.Kill()
	var gotPayload []byte
	var gotFiles []storage.RelFile
	f = open(t, dir, 0, func(c *Config) {
		c.OnRedoCommit = func(p []byte, fs []storage.RelFile) error {
			gotPayload, gotFiles = slices.Clone(p), fs
			return nil
		}
	})
	if string(gotPayload) != string(payload) || !slices.Equal(gotFiles, files) {
		t.Errorf("replay handed over %q, %v", gotPayload, gotFiles)
	}
	want := map[XID]Status{
		top: Committed, child: Committed, undone: Aborted, aborted: Aborted, unfinished: Aborted, lost: Committed,
	}
	for xid, status := range want {
		if got, _ := f.m.Status(xid); got != status {
			t.Errorf("%d is %v after replay, want %v", xid, got, status)
		}
	}
	if f.m.NextXID() <= lost {
		t.Errorf("next XID %d was given out before", f.m.NextXID())
	}
	if err := f.m.FlushAll(); err != nil {
		t.Fatal(err)
	}
}

// TestClogOutlivesItsCache commits over more pages than are cached.
func TestClogOutlivesItsCache(t *testing.T) {
	dir := t.TempDir()
	c, err := openClog(storage.OSFS{}, dir, 2, func(storage.LSN) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	bitsOf := func(xid XID) uint64 { return uint64(xid/7) % 3 }
	for xid := XID(3); xid < 6*clogPageXIDs; xid += 7 {
		if err := c.set(xid, bitsOf(xid), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.flushAll(FirstXID); err != nil {
		t.Fatal(err)
	}
	if c, err = openClog(storage.OSFS{}, dir, 1, nil); err != nil {
		t.Fatal(err)
	}
	for xid := XID(3); xid < 6*clogPageXIDs; xid += 7 {
		got, err := c.get(xid)
		if err != nil || uint64(got) != bitsOf(xid) {
			t.Fatalf("bits of %d are %d, %v; want %d", xid, got, err, bitsOf(xid))
		}
	}
}

func TestWaitForEndsWithTheTransaction(t *testing.T) {
	f := open(t, t.TempDir(), 0, nil)
	holder, waiter := f.begin(), f.begin()
	holder.Savepoint("s")
	holder.Savepoint("inner")
	inner := holder.XID()
	holder.Release("inner")
	done := make(chan error, 1)
	go func() { done <- f.m.WaitFor(context.Background(), waiter, inner, WaitOptions{}) }()
	select {
	case err := <-done:
		t.Fatalf("the wait ended early: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	holder.RollbackTo("s")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if status, _ := f.m.Status(inner); status != Aborted {
		t.Errorf("rolled back, but %v", status)
	}
	// The parent's XID, given out inside the savepoint, must still be waited for.
	top := holder.TopXID()
	go func() { done <- f.m.WaitFor(context.Background(), waiter, top, WaitOptions{}) }()
	select {
	case err := <-done:
		t.Fatalf("the wait for the parent ended early: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	commit(t, holder)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestComboCIDs(t *testing.T) {
	f := open(t, t.TempDir(), 0, nil)
	tx := f.begin()
	a, b := tx.Combo(1, 2), tx.Combo(1, 3)
	if a == b || tx.Combo(1, 2) != a {
		t.Error("combo numbers are not one to one")
	}
	if cmin, cmax := tx.ResolveCombo(b); cmin != 1 || cmax != 3 {
		t.Errorf("resolved to %d, %d", cmin, cmax)
	}
	tx.CommandCounterIncrement()
	if tx.cid != 0 {
		t.Error("an unused command number was passed over")
	}
	tx.CurCID()
	tx.CommandCounterIncrement()
	if tx.CurCID() != 1 {
		t.Error("a used command number was given out again")
	}
	commit(t, tx)
}

func TestHotPathsAllocateNothing(t *testing.T) {
	f := open(t, t.TempDir(), 0, nil)
	tx := f.begin()
	commit(t, tx)
	read := func() {
		tx.Start()
		s := tx.TakeSnapshot()
		s.Committed(3)
		tx.ReleaseSnapshot(s)
		_ = tx.Commit(async)
	}
	write := func() {
		tx.Start()
		s := tx.TakeSnapshot()
		tx.XID()
		tx.CommandCounterIncrement()
		tx.ReleaseSnapshot(s)
		_ = tx.Commit(async)
	}
	read()
	write()
	if n := testing.AllocsPerRun(300, read); n > 0 {
		t.Errorf("%v allocations a read", n)
	}
	if n := testing.AllocsPerRun(300, write); n > 0 {
		t.Errorf("%v allocations a write", n)
	}
}

func BenchmarkTransaction(b *testing.B) {
	f := open(b, b.TempDir(), 0, nil)
	tx := f.begin()
	commit(b, tx)
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tx.Start()
			tx.ReleaseSnapshot(tx.TakeSnapshot())
			_ = tx.Commit(async)
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tx.Start()
			tx.XID()
			_ = tx.Commit(async)
		}
	})
}

// TestOldSnapshotKeepsStatesSmall holds a snapshot over so many transactions that the pages of states
// between it and now are reduced.
func TestOldSnapshotKeepsStatesSmall(t *testing.T) {
	f := open(t, t.TempDir(), 0, nil)
	before := f.begin()
	early := before.XID()
	commit(t, before)
	reader := f.begin()
	old := reader.TakeSnapshot()
	w := f.begin()
	var committed, aborted []XID
	for i := range (wholePages + 20) * statePageXIDs {
		xid := w.XID()
		if i%2 == 0 {
			commit(t, w)
		} else {
			w.Abort(nil)
		}
		if i%1000 < 2 {
			if i%2 == 0 {
				committed = append(committed, xid)
			} else {
				aborted = append(aborted, xid)
			}
		}
		w.Start()
	}
	d := f.m.states.dir.Load()
	whole := 0
	for _, p := range d.pages {
		if p.words != nil {
			whole++
		}
	}
	if whole > wholePages+2 {
		t.Errorf("%d of %d pages are whole", whole, len(d.pages))
	}
	young := w.TakeSnapshot()
	if !old.Committed(early) {
		t.Error("the old snapshot lost what was committed before it")
	}
	for _, xid := range committed {
		if old.Committed(xid) || !young.Committed(xid) {
			t.Fatalf("%d: old snapshot %v, young %v", xid, old.Committed(xid), young.Committed(xid))
		}
	}
	for _, xid := range aborted {
		if old.Committed(xid) || young.Committed(xid) {
			t.Fatalf("aborted %d is seen", xid)
		}
		if st, _ := f.m.Status(xid); st != Aborted {
			t.Fatalf("aborted %d is %v", xid, st)
		}
	}
	commit(t, w)
	commit(t, reader)
}
