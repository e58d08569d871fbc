package heap

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minipg/minipg/pgerr"
)

// Those who wait for one row get it in the order they came.
func TestRowWaitersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, envConfig{deadlock: time.Hour})
		a := e.session().begin()
		tid := a.insert([]byte("x"))
		a.commit()
		a.begin()
		a.mustLock(tid, Update)
		served := make(chan int, 5)
		for i := range cap(served) {
			s := e.session().begin()
			go func() {
				if res, err := s.lockRow(context.Background(), tid, LockOptions{Mode: Update}); err != nil || res.Status != Ok {
					t.Errorf("waiter %d: %v, %v", i, res.Status, err)
				}
				served <- i
				s.commit()
			}()
			synctest.Wait() // it sleeps now
		}
		a.commit()
		var got []int
		for range cap(served) {
			got = append(got, <-served)
		}
		if !slices.IsSorted(got) {
			t.Errorf("served in the order %v", got)
		}
		synctest.Wait()
		e.check()
		if n := e.pool.Pinned(); n != 0 {
			t.Errorf("%d buffers stay pinned", n)
		}
	})
}

// Whoever waits for a row that is updated meanwhile is told so, and may go on with the new version.
func TestWaiterSeesTheOutcome(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(a *session, tid TID)
		want Status
	}{
		{"commit of an update", func(a *session, tid TID) { a.update(tid, []byte("y")); a.commit() }, Updated},
		{"commit of a delete", func(a *session, tid TID) { a.delete(tid); a.commit() }, Deleted},
		{"rollback", func(a *session, tid TID) { a.update(tid, []byte("y")); a.abort() }, Ok},
		{"commit of a lock", func(a *session, tid TID) { a.commit() }, Ok},
		{"rollback to a savepoint", func(a *session, tid TID) {
			a.tx.Savepoint("s")
			a.update(tid, []byte("y"))
			a.tx.RollbackTo("s")
			a.commit()
		}, Ok},
		{"release of a savepoint", func(a *session, tid TID) {
			a.tx.Savepoint("s")
			a.update(tid, []byte("y"))
			a.tx.Release("s")
			a.commit()
		}, Updated},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, envConfig{deadlock: time.Hour})
				a, b := e.session().begin(), e.session().begin()
				tid := a.insert([]byte("x"))
				a.commit()
				a.begin()
				a.mustLock(tid, NoKeyUpdate)
				got := make(chan Status)
				go func() {
					_, _, res, err := b.tryUpdate(context.Background(), tid, []byte("z"), UpdateOptions{Mode: Update})
					if err != nil {
						t.Error(err)
					}
					b.commit()
					got <- res.Status
				}()
				synctest.Wait()
				c.end(a, tid)
				if st := <-got; st != c.want {
					t.Errorf("%v, want %v", st, c.want)
				}
				e.check()
			})
		})
	}
}

// A waiter for shared holders lets nobody overtake it, and leaves nothing behind.
func TestWaitForSharedHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, envConfig{deadlock: time.Hour})
		a, h1, h2, w, late := e.session().begin(), e.session().begin(), e.session().begin(), e.session().begin(), e.session().begin()
		tid := a.insert([]byte("x"))
		a.commit()
		h1.mustLock(tid, Share)
		h2.mustLock(tid, KeyShare)
		done := make(chan Status)
		go func() {
			res, err := w.tryDelete(context.Background(), tid)
			if err != nil {
				t.Error(err)
			}
			done <- res.Status
		}()
		synctest.Wait()
		if res, err := late.lockRow(context.Background(), tid, LockOptions{Mode: KeyShare, Wait: WaitSkip}); err != nil || res.Status != WouldBlock {
			t.Errorf("a latecomer overtakes: %v, %v", res.Status, err)
		}
		h1.commit()
		synctest.Wait()
		select {
		case st := <-done:
			t.Errorf("deleted while held FOR KEY SHARE: %v", st)
		default:
		}
		h2.commit()
		if st := <-done; st != Ok {
			t.Errorf("%v", st)
		}
		w.commit()
		late.commit()
		if n := len(e.locks.Snapshot()); n != 0 {
			t.Errorf("%d locks are left: %v", n, e.locks.Snapshot())
		}
		e.check()
	})
}

func TestWaitsEnd(t *testing.T) {
	stop := errors.New("stop")
	for _, c := range []struct {
		name string
		held LockMode
		wait func(b *session, ctx context.Context) context.Context
		want func(err error) bool
	}{
		{
			"lock_timeout", Update, func(b *session, ctx context.Context) context.Context {
				b.tx.SetLockTimeout(time.Second)
				return ctx
			},
			func(err error) bool { return pgerr.HasCode(err, pgerr.LockNotAvailable) },
		},
		{
			"lock_timeout on shared holders", KeyShare, func(b *session, ctx context.Context) context.Context {
				b.tx.SetLockTimeout(time.Second)
				return ctx
			},
			func(err error) bool { return pgerr.HasCode(err, pgerr.LockNotAvailable) },
		},
		{
			"cancel", Update, func(_ *session, ctx context.Context) context.Context {
				ctx, cancel := context.WithCancelCause(ctx)
				time.AfterFunc(time.Second, func() { cancel(stop) })
				return ctx
			},
			func(err error) bool { return errors.Is(err, stop) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, envConfig{deadlock: time.Hour})
				a, b := e.session().begin(), e.session().begin()
				tid := a.insert([]byte("x"))
				a.commit()
				a.begin()
				a.mustLock(tid, c.held)
				ctx := c.wait(b, context.Background())
				if res, err := b.tryDelete(ctx, tid); !c.want(err) {
					t.Errorf("%v, %v", res.Status, err)
				}
				b.abort()
				a.commit()
				b.begin()
				b.delete(tid)
				b.commit()
				if n := e.pool.Pinned(); n != 0 {
					t.Errorf("%d buffers stay pinned", n)
				}
				e.check()
			})
		})
	}
}

func TestDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, envConfig{deadlock: time.Second})
		a, b := e.session().begin(), e.session().begin()
		t1, t2 := a.insert([]byte("1")), a.insert([]byte("2"))
		a.commit()
		a.begin()
		a.delete(t1)
		b.delete(t2)
		failed := make(chan error, 2)
		for _, c := range []struct {
			s   *session
			tid TID
		}{{a, t2}, {b, t1}} {
			go func() {
				_, err := c.s.tryDelete(context.Background(), c.tid)
				if err != nil {
					c.s.abort()
				} else {
					c.s.commit()
				}
				failed <- err
			}()
		}
		first, second := <-failed, <-failed
		if !pgerr.HasCode(first, pgerr.TRDeadlockDetected) || second != nil {
			t.Errorf("%v and %v", first, second)
		}
		e.check()
	})
}
