package heap

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/txn"
)

var modes = []LockMode{KeyShare, Share, NoKeyUpdate, Update}

// conflicts is PostgreSQL's matrix of row locks.
func conflicts(a, b LockMode) bool {
	return map[string]bool{
		"FOR KEY SHARE/FOR UPDATE": true, "FOR SHARE/FOR NO KEY UPDATE": true, "FOR SHARE/FOR UPDATE": true,
		"FOR NO KEY UPDATE/FOR NO KEY UPDATE": true, "FOR NO KEY UPDATE/FOR UPDATE": true, "FOR UPDATE/FOR UPDATE": true,
	}[fmt.Sprintf("%v/%v", min(a, b), max(a, b))]
}

func (s *session) mustLock(tid TID, mode LockMode) {
	s.e.t.Helper()
	if res, err := s.lockRow(context.Background(), tid, LockOptions{Mode: mode, Wait: WaitSkip}); err != nil || res.Status != Ok {
		s.e.t.Fatalf("%v on %v: %v, %v", mode, tid, res.Status, err)
	}
}

func TestRowLockMatrix(t *testing.T) {
	for _, held := range modes {
		for _, want := range modes {
			t.Run(fmt.Sprintf("%v then %v", held, want), func(t *testing.T) {
				e := newEnv(t, envConfig{})
				a, b, c := e.session().begin(), e.session().begin(), e.session()
				tid := a.insert([]byte("x"))
				a.commit()
				a.begin()
				a.mustLock(tid, held)
				res, err := b.lockRow(context.Background(), tid, LockOptions{Mode: want, Wait: WaitSkip})
				if err != nil || (res.Status == WouldBlock) != conflicts(held, want) {
					t.Errorf("SKIP LOCKED: %v, %v", res.Status, err)
				}
				b.commit()
				c.begin()
				_, err = c.lockRow(context.Background(), tid, LockOptions{Mode: want, Wait: WaitError})
				if conflicts(held, want) != pgerr.HasCode(err, pgerr.LockNotAvailable) {
					t.Errorf("NOWAIT: %v", err)
				}
				if err != nil && !strings.Contains(err.Error(), `could not obtain lock on row in relation "t"`) {
					t.Errorf("NOWAIT: %v", err)
				}
				c.commit()
				a.commit()
				b.begin()
				b.mustLock(tid, want)
				b.commit()
				e.check()
			})
		}
	}
}

func TestRowLocksAgainstChanges(t *testing.T) {
	ctx := context.Background()
	change := map[string]func(s *session, tid TID, wait WaitPolicy) (Status, error){
		"no key update": func(s *session, tid TID, wait WaitPolicy) (Status, error) {
			_, _, res, err := s.tryUpdate(ctx, tid, []byte("y"), UpdateOptions{HotAllowed: true, Mode: NoKeyUpdate, Wait: wait})
			return res.Status, err
		},
		"key update": func(s *session, tid TID, wait WaitPolicy) (Status, error) {
			_, _, res, err := s.tryUpdate(ctx, tid, []byte("y"), UpdateOptions{Mode: Update, Wait: wait})
			return res.Status, err
		},
		"delete": func(s *session, tid TID, wait WaitPolicy) (res Status, err error) {
			s.withSnapshot(func(snap *txn.Snapshot) {
				var r Result
				r, err = s.e.h.Delete(ctx, s.w, snap, tid, DeleteOptions{Wait: wait})
				res = r.Status
			})
			s.next()
			return res, err
		},
	}
	for name, f := range change {
		strength := Update
		if name == "no key update" {
			strength = NoKeyUpdate
		}
		for _, mode := range modes {
			t.Run(fmt.Sprintf("%v then %s", mode, name), func(t *testing.T) {
				e := newEnv(t, envConfig{})
				a, b := e.session().begin(), e.session().begin()
				tid := a.insert([]byte("x"))
				a.commit()
				a.begin()
				a.mustLock(tid, mode)
				st, err := f(b, tid, WaitSkip)
				if err != nil || (st == WouldBlock) != conflicts(mode, strength) {
					t.Errorf("%v, %v", st, err)
				}
				b.commit()
				a.commit()
				e.check()
			})
			t.Run(fmt.Sprintf("%s then %v", name, mode), func(t *testing.T) {
				e := newEnv(t, envConfig{})
				a, b := e.session().begin(), e.session().begin()
				tid := a.insert([]byte("x"))
				a.commit()
				a.begin()
				if st, err := f(a, tid, WaitBlock); err != nil || st != Ok {
					t.Fatal(st, err)
				}
				res, err := b.lockRow(ctx, tid, LockOptions{Mode: mode, Wait: WaitSkip})
				if err != nil || (res.Status == WouldBlock) != conflicts(mode, strength) {
					t.Errorf("%v, %v", res.Status, err)
				}
				b.commit()
				a.commit()
				e.check()
			})
		}
	}
}

// A row held FOR KEY SHARE may be updated without touching its key; the holder then holds the new
// version as well.
func TestKeyShareFollowsTheRow(t *testing.T) {
	ctx := context.Background()
	e := newEnv(t, envConfig{})
	a, holder, b := e.session().begin(), e.session().begin(), e.session().begin()
	tid := a.insert([]byte("v1"))
	a.commit()
	holder.mustLock(tid, KeyShare)
	a.begin()
	v2 := a.update(tid, []byte("v2"))
	a.commit()
	a.begin()
	v3 := a.update(v2, []byte("v3"))
	a.commit()
	for _, c := range []struct {
		mode LockMode
		want Status
	}{{KeyShare, Ok}, {NoKeyUpdate, Ok}, {Update, WouldBlock}} {
		res, err := b.lockRow(ctx, v3, LockOptions{Mode: c.mode, Wait: WaitSkip})
		if err != nil || res.Status != c.want {
			t.Errorf("%v on the newest version: %v, %v", c.mode, res.Status, err)
		}
		b.abort()
		b.begin()
	}
	holder.commit()
	b.mustLock(v3, Update)
	b.commit()
	e.check()
}

// FOR KEY SHARE of a version that was updated meanwhile holds the versions behind it, too.
func TestKeyShareOfAnOldVersion(t *testing.T) {
	ctx := context.Background()
	for _, committed := range []bool{false, true} {
		t.Run(fmt.Sprintf("committed=%v", committed), func(t *testing.T) {
			e := newEnv(t, envConfig{})
			a, holder, b := e.session().begin(), e.session().begin(), e.session().begin()
			tid := a.insert([]byte("v1"))
			a.commit()
			holder.withSnapshot(func(snap *txn.Snapshot) {
				a.begin()
				v2 := a.update(tid, []byte("v2"))
				if committed {
					a.commit()
				}
				res, err := e.h.LockTuple(ctx, holder.w, snap, tid, LockOptions{Mode: KeyShare, Wait: WaitSkip}, nil)
				if err != nil || res.Status != Ok {
					t.Fatalf("%+v, %v", res, err)
				}
				if !committed {
					a.commit()
				}
				if res, err := b.lockRow(ctx, v2, LockOptions{Mode: Update, Wait: WaitSkip}); err != nil || res.Status != WouldBlock {
					t.Errorf("the newest version can be deleted: %v, %v", res.Status, err)
				}
			})
			holder.commit()
			b.commit()
			e.check()
		})
	}
}

// Where a newer version is taken, SKIP LOCKED must not leave the older ones held.
func TestSkippedRowIsNotHeld(t *testing.T) {
	e := newEnv(t, envConfig{})
	a, b, c := e.session().begin(), e.session().begin(), e.session().begin()
	tid := a.insert([]byte("v1"))
	a.commit()
	a.begin()
	v2 := a.update(tid, []byte("v2"))
	a.mustLock(v2, Update)
	if res, err := b.lockRow(context.Background(), tid, LockOptions{Mode: KeyShare, Wait: WaitSkip}); err != nil || res.Status != WouldBlock {
		t.Fatalf("%v, %v", res.Status, err)
	}
	a.abort()
	c.delete(tid)
	c.commit()
	b.commit()
	e.check()
}

// A subtransaction that locks a row harder than its parent overwrites xmax. When it rolls back the
// parent's lock must still be there. Invariant 4.
func TestOuterLockSurvivesSubtransaction(t *testing.T) {
	ctx := context.Background()
	for _, outer := range []LockMode{NoKeyUpdate, Update} {
		for _, inner := range []string{"lock", "update", "delete"} {
			t.Run(fmt.Sprintf("%v then %s", outer, inner), func(t *testing.T) {
				e := newEnv(t, envConfig{})
				a, b := e.session().begin(), e.session().begin()
				tid := a.insert([]byte("x"))
				a.commit()
				a.begin()
				a.mustLock(tid, outer)
				a.tx.Savepoint("s")
				switch inner {
				case "lock":
					a.mustLock(tid, Update)
				case "update":
					a.update(tid, []byte("y"))
				case "delete":
					a.delete(tid)
				}
				a.tx.RollbackTo("s")
				for _, mode := range modes {
					res, err := b.lockRow(ctx, tid, LockOptions{Mode: mode, Wait: WaitSkip})
					if err != nil || (res.Status == WouldBlock) != conflicts(outer, mode) {
						t.Errorf("%v after the rollback: %v, %v", mode, res.Status, err)
					}
					b.abort()
					b.begin()
				}
				a.update(tid, []byte("z"))
				a.commit()
				if got, ok := b.fetch(tid); !ok || got != "z" {
					t.Errorf("%q, %v", got, ok)
				}
				b.mustLock(b.buf.TID, Update)
				b.commit()
				e.check()
			})
		}
	}
}

func TestLockOfRolledBackSubtransactionIsFree(t *testing.T) {
	e := newEnv(t, envConfig{})
	a, b := e.session().begin(), e.session().begin()
	tid := a.insert([]byte("x"))
	a.commit()
	a.begin()
	a.tx.Savepoint("s")
	a.mustLock(tid, Update)
	a.tx.RollbackTo("s")
	b.mustLock(tid, Update)
	b.commit()
	a.mustLock(tid, Share)
	a.tx.Savepoint("t")
	a.mustLock(tid, KeyShare)
	a.tx.RollbackTo("t")
	b.begin()
	if res, err := b.lockRow(context.Background(), tid, LockOptions{Mode: NoKeyUpdate, Wait: WaitSkip}); err != nil || res.Status != WouldBlock {
		t.Errorf("%v, %v", res.Status, err)
	}
	a.commit()
	b.mustLock(tid, NoKeyUpdate)
	b.commit()
	e.check()
}

// Past a bound a transaction's shared row locks become one for the whole relation.
func TestManyRowLocksBecomeOne(t *testing.T) {
	e := newEnv(t, envConfig{buffers: 1024})
	a, b := e.session().begin(), e.session().begin()
	var rows [][]byte
	for i := range maxSharedRowLocks + 100 {
		rows = append(rows, row(i, 0, 16))
	}
	tids, err := a.multiInsert(context.Background(), rows, InsertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a.commit()
	a.begin()
	a.withSnapshot(func(snap *txn.Snapshot) {
		for _, tid := range tids {
			if res, err := e.h.LockTuple(context.Background(), a.w, snap, tid, LockOptions{Mode: KeyShare}, nil); err != nil || res.Status != Ok {
				t.Fatalf("%v: %v, %v", tid, res.Status, err)
			}
		}
	})
	if n := len(e.locks.Snapshot()); n > maxSharedRowLocks+10 {
		t.Errorf("%d locks", n)
	}
	last := tids[len(tids)-1]
	if res, err := b.lockRow(context.Background(), last, LockOptions{Mode: Update, Wait: WaitSkip}); err != nil || res.Status != WouldBlock {
		t.Errorf("FOR UPDATE of a row covered by it: %v, %v", res.Status, err)
	}
	b.mustLock(last, NoKeyUpdate)
	b.commit()
	a.commit()
	b.begin()
	b.mustLock(last, Update)
	b.commit()
	e.check()
}
