package storage

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minipg/minipg/metrics"
)

func TestLatchExcludes(t *testing.T) {
	e := newEnv(t, 16)
	e.create(testRel, 1)
	b := e.read(testRel, 0)
	defer b.Unpin()
	var plain int
	var inside atomic.Int32
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				switch (g + i) % 4 {
				case 0, 1:
					b.LockExclusive(ClassBTreeLeaf)
					if inside.Add(1) != 1 {
						t.Error("two inside an exclusive latch")
					}
					plain++
					inside.Add(-1)
					b.UnlockExclusive()
				case 2:
					b.LockShared(ClassHeap)
					if inside.Load() != 0 {
						t.Error("shared beside exclusive")
					}
					_ = plain
					if b.TryUpgrade(ClassHeap) {
						inside.Add(1)
						plain++
						inside.Add(-1)
						b.Downgrade()
						b.UnlockShared()
					} else {
						b.UnlockShared()
					}
				case 3:
					if b.TryLockExclusive(ClassHeap) {
						plain++
						b.UnlockExclusive()
					}
				}
			}
		})
	}
	wg.Wait()
	if w := b.latch.Load(); w != 0 {
		t.Errorf("the free latch is %#x", w)
	}
	if plain < 8*2000/2 {
		t.Errorf("%d exclusive sections, want at least %d", plain, 8*2000/2)
	}
	if n := e.set.LatchAcquisitions[ClassBTreeLeaf][Exclusive].Value(); n != 8*2000/2 {
		t.Errorf("counted %d acquisitions, want %d", n, 8*2000/2)
	}
}

// Holders give up the processor, so that nearly everybody sleeps: no wake may be lost.
func TestLatchManySleepers(t *testing.T) {
	e := newEnv(t, 16)
	e.create(testRel, 2)
	bufs := []*Buffer{e.read(testRel, 0), e.read(testRel, 1)}
	var inside [2]int
	var wg sync.WaitGroup
	for g := range 24 {
		wg.Go(func() {
			for i := range 300 {
				n := (g + i) % 2
				b := bufs[n]
				switch (g*7 + i) % 5 {
				case 0, 1:
					b.LockExclusive(ClassHeap)
					inside[n]++
					runtime.Gosched()
					b.UnlockExclusive()
				case 2, 3:
					b.LockShared(ClassHeap)
					_ = inside[n]
					runtime.Gosched()
					b.UnlockShared()
				case 4:
					b.LockExclusive(ClassHeap)
					inside[n]++
					b.Downgrade()
					runtime.Gosched()
					b.UnlockShared()
				}
			}
		})
	}
	wg.Wait()
	for _, b := range bufs {
		if w := b.latch.Load(); w != 0 {
			t.Errorf("the free latch is %#x", w)
		}
		b.Unpin()
	}
	if e.set.LatchWaits[ClassHeap][Exclusive].Value() == 0 {
		t.Error("nobody slept")
	}
}

func TestLatchWaitsAreTimedAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Duration
		e := newEnv(t, 16, func(c *PoolConfig) {
			c.OnWait = func(w Wait) {
				if w.Class != ClassFSM || w.Mode != Exclusive || w.Event != WaitLatch {
					t.Errorf("told of %v", w)
				}
				if w.Waiter == 0 || w.Holder == 0 || w.Waiter == w.Holder {
					t.Errorf("goroutine %#x waited for %#x", w.Waiter, w.Holder)
				}
				told = append(told, w.Waited)
			}
		})
		e.create(testRel, 1)
		b := e.read(testRel, 0)
		defer b.Unpin()
		b.LockShared(ClassHeap)
		done := make(chan struct{})
		go func() {
			b.LockExclusive(ClassFSM)
			close(done)
		}()
		synctest.Wait()
		time.Sleep(3 * time.Millisecond)
		b.UnlockShared()
		<-done
		b.UnlockExclusive()
		if len(told) != 1 || told[0] != 3*time.Millisecond {
			t.Errorf("told of waits %v, want 3ms", told)
		}
		if n := e.set.LatchWaits[metrics.LatchFSM][metrics.LatchExclusive].Value(); n != 1 {
			t.Errorf("%d waits counted", n)
		}
		if n, sum, _ := e.set.LatchWaitSeconds[metrics.LatchFSM].Snapshot(); n != 1 || sum != 0.003 {
			t.Errorf("%d waits of %g s", n, sum)
		}
	})
}

// Readers that never leave a gap must not keep a writer out for ever.
func TestLatchWriterIsNotStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, 16)
		e.create(testRel, 1)
		b := e.read(testRel, 0)
		defer b.Unpin()
		b.LockShared(ClassHeap)
		wrote := make(chan struct{})
		go func() {
			b.LockExclusive(ClassHeap)
			close(wrote)
			b.UnlockExclusive()
		}()
		synctest.Wait()
		held, barged := 1, 0
		for range 100 {
			if !b.TryLockShared(ClassHeap) {
				break
			}
			barged++
			held++
		}
		if barged == 0 || barged > 15 {
			t.Errorf("%d readers passed the waiting writer", barged)
		}
		readers := make(chan struct{})
		go func() {
			b.LockShared(ClassHeap) // queues behind
			b.UnlockShared()
			close(readers)
		}()
		synctest.Wait()
		for range held {
			b.UnlockShared()
		}
		<-wrote
		<-readers
		if w := b.latch.Load(); w != 0 {
			t.Errorf("the free latch is %#x", w)
		}
	})
}

func TestLockCleanup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, 16)
		e.create(testRel, 1)
		b := e.read(testRel, 0)
		other := e.read(testRel, 0)
		if b.TryLockCleanup(ClassHeap) {
			t.Fatal("cleanup latch beside another pin")
		}
		ctx, cancel := context.WithCancel(context.Background())
		failed := make(chan error)
		go func() { failed <- b.LockCleanup(ctx, ClassHeap) }()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		got := make(chan struct{})
		go func() {
			if err := b.LockCleanup(context.Background(), ClassHeap); err != nil {
				t.Error(err)
			}
			close(got)
		}()
		synctest.Wait()
		other.LockShared(ClassHeap) // it sleeps without the latch
		other.ReleaseShared()
		<-got
		if !b.IsCleanup() {
			t.Error("not the only pin")
		}
		b.ReleaseExclusive()
	})
}

func BenchmarkLatchShared(b *testing.B) {
	benchLatch(b, func(buf *Buffer) { buf.LockShared(ClassHeap); buf.UnlockShared() })
}

func BenchmarkLatchExclusive(b *testing.B) {
	benchLatch(b, func(buf *Buffer) { buf.LockExclusive(ClassHeap); buf.UnlockExclusive() })
}

func benchLatch(b *testing.B, fn func(*Buffer)) {
	for _, mode := range []string{"uncontended", "contended"} {
		b.Run(mode, func(b *testing.B) {
			pool := benchPool(b, 64)
			buf, err := pool.Read(BlockTag{testRel, MainFork, 0}, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer buf.Unpin()
			b.ReportAllocs()
			if mode == "uncontended" {
				for b.Loop() {
					fn(buf)
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					fn(buf)
				}
			})
		})
	}
}
