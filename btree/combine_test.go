package btree

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// TestCombine holds the rightmost leaf while sessions want to insert there. All but the first leave
// their entry with it, and every committed entry is there after a crash.
func TestCombine(t *testing.T) {
	const sessions = 16
	for _, unique := range []bool{false, true} {
		name := map[bool]string{false: "plain", true: "unique"}[unique]
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, envConfig{})
			want := e.fillRight()
			release := e.latchRightmost()
			errs := make([]error, sessions)
			var wg sync.WaitGroup
			for n := range sessions {
				wg.Go(func() { errs[n] = e.insertCombined(intKey(100+n), tidOf(100+n), unique) })
				want = append(want, text(intKey(100+n), tidOf(100+n)))
				e.untilOffered(n)
			}
			release()
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			if n := e.set.BTreeCombined.Value(); n != sessions-1 {
				t.Errorf("%d entries were left with another session, want %d", n, sessions-1)
			}
			e.checkIs(want)
			e.crash()
			e.checkIs(want)
		})
	}
}

// TestCombineLeavesTheRestToTheOwner: a duplicate is found by its owner, and what does not fit is inserted by it.
func TestCombineLeavesTheRestToTheOwner(t *testing.T) {
	e := newEnv(t, envConfig{})
	want := e.fillRight()
	release := e.latchRightmost()
	var wg sync.WaitGroup
	start := func(n int, key []byte, check func(error)) {
		wg.Go(func() { check(e.insertCombined(key, tidOf(100+n), true)) })
		e.untilOffered(n)
	}
	inserted := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	for n := range 2 {
		start(n, intKey(100+n), inserted)
		want = append(want, text(intKey(100+n), tidOf(100+n)))
	}
	start(2, intKey(101), func(err error) {
		if !errors.Is(err, errDuplicate) {
			t.Errorf("the second entry with a key: %v", err)
		}
	})
	for n := 3; n < 13; n++ { // more than a page
		key := append(intKey(100+n), make([]byte, 1500)...)
		start(n, key, inserted)
		want = append(want, text(key, tidOf(100+n)))
	}
	release()
	wg.Wait()
	if n := e.set.BTreeCombined.Value(); n == 0 || n > 8 {
		t.Errorf("%d entries were left with another session", n)
	}
	e.checkIs(want)
}

// TestCombineAborted: an entry belongs to the transaction of the session that left it, not of the one that inserted it.
func TestCombineAborted(t *testing.T) {
	e := newEnv(t, envConfig{})
	e.fillRight()
	release := e.latchRightmost()
	var wg sync.WaitGroup
	xids := make([]txn.XID, 4)
	for n := range xids {
		s := e.session()
		s.w.Combine = true
		s.begin()
		xids[n] = s.tx.XID()
		wg.Go(func() {
			defer s.lock.Close()
			if err := s.insert(intKey(100+n), tidOf(n)); err != nil {
				t.Error(err)
			}
			s.tx.Abort(nil)
		})
		e.untilOffered(n)
	}
	release()
	wg.Wait()
	seen := map[uint64]int{}
	if err := e.log.Flush(e.log.InsertLSN()); err != nil {
		t.Fatal(err)
	}
	e.conf.replayed = func(rec *wal.Record) {
		if rec.RM == wal.RMBTree && rec.Kind == kindInsert {
			seen[rec.XID]++
		}
	}
	e.crash()
	for _, xid := range xids {
		if seen[uint64(xid)] != 1 {
			t.Errorf("transaction %d has %d records of insertions", xid, seen[uint64(xid)])
		}
	}
}

var errDuplicate = errors.New("duplicate")

// fillRight makes a tree in which the rightmost leaf is known and has entries.
func (e *env) fillRight() (want []string) {
	s := e.session()
	defer s.lock.Close()
	s.begin()
	key := func(n int) []byte { return append(intKey(n), make([]byte, 1000)...) }
	for n := range 30 {
		if err := s.insert(key(n), tidOf(n)); err != nil {
			e.t.Fatal(err)
		}
		want = append(want, text(key(n), tidOf(n)))
	}
	for freeBytes(e.rightmostPage()) < 4000 { // a fresh split
		n := len(want)
		if err := s.insert(key(n), tidOf(n)); err != nil {
			e.t.Fatal(err)
		}
		want = append(want, text(key(n), tidOf(n)))
	}
	if err := s.commit(); err != nil {
		e.t.Fatal(err)
	}
	return want
}

func (e *env) rightmostPage() page {
	buf, err := e.tree.read(storage.BlockNumber(e.tree.rightmost.Load()))
	if err != nil {
		e.t.Fatal(err)
	}
	defer buf.Unpin()
	return pageOf(buf)
}

func (e *env) latchRightmost() (release func()) {
	buf, err := e.tree.read(storage.BlockNumber(e.tree.rightmost.Load()))
	if err != nil {
		e.t.Fatal(err)
	}
	buf.LockExclusive(storage.ClassBTreeLeaf)
	return buf.ReleaseExclusive
}

// untilOffered returns when a leader has come and n others have left their entries.
func (e *env) untilOffered(n int) {
	for {
		q := &e.tree.offers
		q.mu.Lock()
		there := q.mu.leading && q.mu.n == n
		q.mu.Unlock()
		if there {
			return
		}
		runtime.Gosched()
	}
}

func (e *env) insertCombined(key []byte, tid TID, unique bool) error {
	s := e.session()
	defer s.lock.Close()
	s.w.Combine = true
	s.begin()
	if !unique {
		return errors.Join(s.insert(key, tid), s.commit())
	}
	_, found, err := e.tree.InsertUnique(context.Background(), s.w, key, tid, nil,
		func(TID) (Conflict, txn.XID, error) { return ConflictDup, 0, nil })
	if found {
		err = errDuplicate
	}
	return errors.Join(err, s.commit())
}

// crash cuts the power and recovers.
func (e *env) crash() {
	e.t.Helper()
	_ = e.log.Close()
	_ = e.pool.Close()
	e.conf.fs = e.conf.fs.Crash(rand.New(rand.NewPCG(1, 1)))
	e.conf.redo = e.redo
	if err := e.open(); err != nil {
		e.t.Fatal(err)
	}
}
