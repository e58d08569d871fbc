package locks

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
)

var (
	table1 = RelationTag(5, 16384)
	table2 = RelationTag(5, 16385)
)

// conflicting is PostgreSQL's documented table, row by row.
var conflicting = [numModes]string{
	AccessShare:          "       x",
	RowShare:             "      xx",
	RowExclusive:         "    xxxx",
	ShareUpdateExclusive: "   xxxxx",
	Share:                "  xx xxx",
	ShareRowExclusive:    "  xxxxxx",
	Exclusive:            " xxxxxxx",
	AccessExclusive:      "xxxxxxxx",
}

func TestConflictTable(t *testing.T) {
	for a := AccessShare; a < numModes; a++ {
		for b := AccessShare; b < numModes; b++ {
			want := conflicting[a][b-1] == 'x'
			if a.Conflicts(b) != want {
				t.Errorf("%v against %v: got %v", a, b, !want)
			}
			for _, tag := range []Tag{table1, AdvisoryTag(5, 1)} {
				m := NewManager(Config{})
				s1, s2 := m.NewSession(1), m.NewSession(2)
				mustLock(t, s1, tag, a)
				if got := s2.TryLock(tag, b, LockOptions{}); got == want {
					t.Errorf("%v: %v while %v is held: got %v", tag, b, a, got)
				}
				s1.Close()
				s2.Close()
				checkEmpty(t, m)
			}
		}
	}
}

func mustLock(t *testing.T, s *Session, tag Tag, mode Mode) {
	t.Helper()
	if err := s.Lock(t.Context(), tag, mode, LockOptions{}); err != nil {
		t.Fatalf("session %d: %v on %v: %v", s.pid, mode, tag, err)
	}
}

// checkEmpty fails unless nothing is left in m.
func checkEmpty(t *testing.T, m *Manager) {
	t.Helper()
	for _, info := range m.Snapshot() {
		t.Errorf("left over: %+v", info)
	}
	for i := range m.partitions {
		if n := m.partitions[i].count; n != 0 {
			t.Errorf("partition %d: %d locks", i, n)
		}
	}
	for i := range m.strong {
		if n := m.strong[i].Load(); n != 0 {
			t.Errorf("strong count %d: %d", i, n)
		}
	}
	if n := m.rowLocks.Load(); n != 0 {
		t.Errorf("%d row locks", n)
	}
}

// later runs Lock in a goroutine of its own and returns its result's channel.
func later(t *testing.T, s *Session, tag Tag, mode Mode, opts LockOptions) <-chan error {
	result := make(chan error, 1)
	go func() { result <- s.Lock(t.Context(), tag, mode, opts) }()
	synctest.Wait()
	return result
}

func pending(t *testing.T, c <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-c:
		t.Fatalf("did not wait: %v", err)
	default:
	}
}

func granted(t *testing.T, c <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-c:
		if err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatal("still waits")
	}
}

func TestQueueIsFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		reader, writer, late := m.NewSession(1), m.NewSession(2), m.NewSession(3)
		mustLock(t, reader, table1, AccessShare)
		w := later(t, writer, table1, AccessExclusive, LockOptions{})
		l := later(t, late, table1, AccessShare, LockOptions{})
		pending(t, l) // behind the writer, though it conflicts with no holder
		if got := m.BlockingPIDs(3); len(got) != 1 || got[0] != 2 {
			t.Errorf("blocked by %v", got)
		}
		// The first reader holds what the writer waits for, so it may pass.
		mustLock(t, reader, table1, RowShare)
		reader.ReleaseTransaction()
		granted(t, w)
		pending(t, l)
		writer.ReleaseTransaction()
		granted(t, l)
		late.ReleaseTransaction()
		checkEmpty(t, m)
	})
}

func TestHardDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		s1, s2 := m.NewSession(11), m.NewSession(22)
		s1.LockXID(100)
		s2.LockXID(200)
		first, second := make(chan error, 1), make(chan error, 1)
		start := time.Now()
		go func() { first <- s1.WaitXID(t.Context(), 200, LockOptions{}) }()
		time.Sleep(500 * time.Millisecond)
		go func() { second <- s2.WaitXID(t.Context(), 100, LockOptions{}) }()
		err := <-first // the one who has slept longest searches first
		if d := time.Since(start); d != time.Second {
			t.Errorf("found after %v", d)
		}
		e := pgerr.From(err)
		if e.Code != pgerr.TRDeadlockDetected || e.Message != "deadlock detected" ||
			e.Hint != "See server log for query details." {
			t.Errorf("got %v", err)
		}
		const detail = "Process 11 waits for ShareLock on transaction 200; blocked by process 22.\n" +
			"Process 22 waits for ShareLock on transaction 100; blocked by process 11."
		if e.Detail != detail {
			t.Errorf("got detail %q", e.Detail)
		}
		pending(t, second)
		s1.ReleaseTransaction()
		granted(t, second)
		s2.ReleaseTransaction()
		if n := m.metrics.ProcSleep[TypeTransactionID][Share].Value(); n != 2 {
			t.Errorf("%d sleeps", n)
		}
		checkEmpty(t, m)
	})
}

// Two sessions that both hold a weak mode and want a strong one are told at
// once, without a search.
func TestUpgradeDeadlockIsSeenEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		s1, s2 := m.NewSession(11), m.NewSession(22)
		mustLock(t, s1, table1, Share)
		mustLock(t, s2, table1, Share)
		r1 := later(t, s1, table1, Exclusive, LockOptions{})
		start := time.Now()
		err := s2.Lock(t.Context(), table1, Exclusive, LockOptions{})
		if !pgerr.HasCode(err, pgerr.TRDeadlockDetected) || time.Since(start) != 0 {
			t.Fatalf("got %v after %v", err, time.Since(start))
		}
		const detail = "Process 22 waits for ExclusiveLock on relation 16384 of database 5; blocked by process 11.\n" +
			"Process 11 waits for ExclusiveLock on relation 16384 of database 5; blocked by process 22."
		if got := pgerr.From(err).Detail; got != detail {
			t.Errorf("got detail %q", got)
		}
		s2.ReleaseTransaction()
		granted(t, r1)
		s1.ReleaseTransaction()
		checkEmpty(t, m)
	})
}

// A cycle with a soft edge is undone by letting one waiter pass another.
func TestSoftDeadlockReordersTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		s1, s2, s3 := m.NewSession(1), m.NewSession(2), m.NewSession(3)
		mustLock(t, s1, table1, AccessShare)
		mustLock(t, s3, table2, AccessExclusive)
		r2 := later(t, s2, table1, AccessExclusive, LockOptions{}) // behind s1
		r3 := later(t, s3, table1, AccessShare, LockOptions{})     // behind s2, softly
		r1 := later(t, s1, table2, AccessShare, LockOptions{})     // behind s3
		time.Sleep(3 * time.Second)
		granted(t, r3)
		pending(t, r2)
		pending(t, r1)
		s3.ReleaseTransaction()
		granted(t, r1)
		s1.ReleaseTransaction()
		granted(t, r2)
		s2.ReleaseTransaction()
		if n := m.metrics.Deadlocks.Value(); n != 0 {
			t.Errorf("%d deadlocks", n)
		}
		checkEmpty(t, m)
	})
}

func TestWaitEnds(t *testing.T) {
	cause := errors.New("statement timeout")
	cases := []struct {
		name  string
		opts  LockOptions
		ctx   func(context.Context) (context.Context, context.CancelFunc)
		code  pgerr.Code
		after time.Duration
	}{
		{
			name: "lock_timeout", opts: LockOptions{Timeout: 100 * time.Millisecond},
			code: pgerr.LockNotAvailable, after: 100 * time.Millisecond,
		},
		{
			name: "lock_timeout after the deadlock search", opts: LockOptions{Timeout: 5 * time.Second},
			code: pgerr.LockNotAvailable, after: 5 * time.Second,
		},
		{name: "nowait", opts: LockOptions{NoWait: true}, code: pgerr.LockNotAvailable},
		{
			name: "cancel", code: pgerr.QueryCanceled, after: time.Minute,
			ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeoutCause(ctx, time.Minute,
					pgerr.Wrap(cause, pgerr.QueryCanceled, "canceling statement due to statement timeout"))
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := NewManager(Config{})
				s1, s2, s3 := m.NewSession(1), m.NewSession(2), m.NewSession(3)
				mustLock(t, s1, table1, Share)
				ctx := t.Context()
				if c.ctx != nil {
					var cancel context.CancelFunc
					ctx, cancel = c.ctx(ctx)
					defer cancel()
				}
				start := time.Now()
				result := make(chan error, 1)
				go func() { result <- s2.Lock(ctx, table1, AccessExclusive, c.opts) }()
				synctest.Wait()
				var r3 <-chan error
				if !c.opts.NoWait {
					if typ, name := s2.WaitEvent(); typ != "Lock" || name != "relation" {
						t.Errorf("wait event %s/%s", typ, name)
					}
					r3 = later(t, s3, table1, Share, LockOptions{})
					pending(t, r3)
				}
				err := <-result
				if !pgerr.HasCode(err, c.code) || time.Since(start) != c.after {
					t.Errorf("got %v after %v", err, time.Since(start))
				}
				if r3 != nil {
					granted(t, r3) // nobody is in the way any more
				}
				s1.ReleaseTransaction()
				s2.ReleaseTransaction()
				s3.ReleaseTransaction()
				if n := m.metrics.ProcSleeping[TypeRelation].Value(); n != 0 {
					t.Errorf("%d sleep", n)
				}
				checkEmpty(t, m)
			})
		})
	}
}

func TestSavepoints(t *testing.T) {
	m := NewManager(Config{})
	s, other := m.NewSession(1), m.NewSession(2)
	mustLock(t, s, table1, RowExclusive)
	s.LockXID(100)
	mark := s.Mark()
	mustLock(t, s, table1, RowExclusive) // held outside as well
	mustLock(t, s, table2, AccessExclusive)
	s.LockXID(101)
	if err := other.WaitXID(t.Context(), 101, LockOptions{NoWait: true}); !pgerr.HasCode(err, pgerr.LockNotAvailable) {
		t.Errorf("got %v", err)
	}
	s.ReleaseTo(mark)
	if !s.Holds(table1, RowExclusive) || s.Holds(table2, AccessExclusive) {
		t.Error("rollback to savepoint released the wrong locks")
	}
	if err := other.WaitXID(t.Context(), 101, LockOptions{NoWait: true}); err != nil {
		t.Errorf("xid of the savepoint: %v", err)
	}
	if err := other.WaitXID(t.Context(), 100, LockOptions{NoWait: true}); err == nil {
		t.Error("xid of the transaction was released")
	}
	if !other.TryLock(table2, Share, LockOptions{}) {
		t.Error("table2 is still locked")
	}
	s.Close()
	other.Close()
	checkEmpty(t, m)
}

func TestSessionLevelLocks(t *testing.T) {
	m := NewManager(Config{})
	s, other := m.NewSession(1), m.NewSession(2)
	tag, opts := AdvisoryTag(5, 42), LockOptions{Session: true}
	for range 2 {
		if err := s.Lock(t.Context(), tag, Exclusive, opts); err != nil {
			t.Fatal(err)
		}
	}
	mustLock(t, s, tag, Exclusive)
	s.ReleaseTransaction()
	if s.Unlock(tag, Exclusive) {
		t.Error("transaction-level unlock of a session-level lock")
	}
	if !s.UnlockSession(tag, Exclusive) || other.TryLock(tag, Share, LockOptions{}) {
		t.Error("one of two acquisitions released the lock")
	}
	if !s.UnlockSession(tag, Exclusive) || s.UnlockSession(tag, Exclusive) {
		t.Error("the second release was not the last")
	}
	if err := s.Lock(t.Context(), tag, Exclusive, opts); err != nil {
		t.Fatal(err)
	}
	s.ReleaseSessionAdvisory()
	if !other.TryLock(tag, Share, LockOptions{}) {
		t.Error("still locked")
	}
	s.Close()
	other.Close()
	checkEmpty(t, m)
}

func TestFastPathGivesWayToStrongLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		s1, s2 := m.NewSession(1), m.NewSession(2)
		mustLock(t, s1, table1, RowExclusive)
		if infos := m.Snapshot(); len(infos) != 1 || !infos[0].FastPath {
			t.Fatalf("got %+v", infos)
		}
		r := later(t, s2, table1, Share, LockOptions{})
		pending(t, r)
		mustLock(t, s1, table1, AccessShare) // not by the fast path now
		s1.Unlock(table1, RowExclusive)
		granted(t, r)
		s1.ReleaseTransaction()
		s2.ReleaseTransaction()
		mustLock(t, s1, table1, RowExclusive)
		if infos := m.Snapshot(); len(infos) != 1 || !infos[0].FastPath {
			t.Fatalf("got %+v", infos)
		}
		s1.ReleaseTransaction()
		checkEmpty(t, m)
	})
}

func TestMoreLocksThanSlots(t *testing.T) {
	m := NewManager(Config{})
	s, other := m.NewSession(1), m.NewSession(2)
	for i := range uint32(3 * numSlots) {
		mustLock(t, s, RelationTag(5, i), AccessShare)
	}
	for i := range uint32(3 * numSlots) {
		if other.TryLock(RelationTag(5, i), AccessExclusive, LockOptions{}) {
			t.Fatalf("relation %d", i)
		}
	}
	s.ReleaseTransaction()
	checkEmpty(t, m)
}

func TestTableIsBounded(t *testing.T) {
	m := NewManager(Config{MaxLocks: 100})
	s := m.NewSession(1)
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = s.Lock(t.Context(), AdvisoryTag(5, int64(n)), Exclusive, LockOptions{})
	}
	if !pgerr.HasCode(err, pgerr.OutOfMemory) {
		t.Fatalf("got %v after %d locks", err, n)
	}
	s.ReleaseTransaction()
	checkEmpty(t, m)
}

func TestVirtualXID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		s, other := m.NewSession(1), m.NewSession(2)
		s.LockVirtualXID(7)
		r := make(chan error, 1)
		go func() { r <- other.WaitVirtualXID(t.Context(), 1, 7, LockOptions{}) }()
		pending(t, r)
		s.ReleaseTransaction()
		granted(t, r)
		if err := other.WaitVirtualXID(t.Context(), 1, 7, LockOptions{}); err != nil {
			t.Fatal(err)
		}
		checkEmpty(t, m)
	})
}

func TestInterruptOfBlocker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		vacuum, s := m.NewSession(1), m.NewSession(2)
		mustLock(t, vacuum, table1, ShareUpdateExclusive)
		asked := make(chan int32, 1)
		vacuum.SetInterrupt(func(waiter int32) { asked <- waiter })
		r := later(t, s, table1, AccessExclusive, LockOptions{})
		start := time.Now()
		if waiter := <-asked; waiter != 2 || time.Since(start) != time.Second {
			t.Errorf("asked by %d after %v", waiter, time.Since(start))
		}
		vacuum.ReleaseTransaction()
		granted(t, r)
		s.ReleaseTransaction()
		checkEmpty(t, m)
	})
}

func TestCopyRowLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		holder, inner, writer := m.NewSession(1), m.NewSession(2), m.NewSession(3)
		v1, v2, v3 := RowTag(5, 9, 0, 1), RowTag(5, 9, 0, 2), RowTag(5, 9, 0, 3)
		mustLock(t, holder, v1, AccessShare) // FOR KEY SHARE
		mark := inner.Mark()
		mustLock(t, inner, v1, AccessShare)
		if writer.Conflicts(v1, Exclusive) || !writer.Conflicts(v1, AccessExclusive) {
			t.Error("row conflicts")
		}
		m.CopyRowLocks(v1, v2)
		m.CopyRowLocks(v2, v3)
		mustLock(t, holder, v2, AccessShare) // inherited and own
		r := later(t, writer, v3, AccessExclusive, LockOptions{})
		inner.ReleaseTo(mark)
		pending(t, r)
		if n := len(inner.inherited.holds); n != 0 {
			t.Errorf("%d inherited after the savepoint", n)
		}
		holder.Unlock(v2, AccessShare)
		if !writer.Conflicts(v2, AccessExclusive) {
			t.Error("the inherited lock went with the own one")
		}
		holder.ReleaseTransaction()
		granted(t, r)
		writer.ReleaseTransaction()
		checkEmpty(t, m)
	})
}

func TestNoHeavyweightLockUnderExtensionLock(t *testing.T) {
	for _, table := range []bool{true, false} {
		m := benchManager(table)
		s := m.NewSession(1)
		x := s.Extension()
		must(t, x.Lock(t.Context(), 5, 7))
		must(t, x.Lock(t.Context(), 5, 7))
		x.Unlock(5, 7)
		if got := x.Waiters(5, 7); got != 1 {
			t.Errorf("table=%v: %d waiters", table, got)
		}
		if m.NewSession(2).Extension().TryLock(5, 7) {
			t.Errorf("table=%v: two holders", table)
		}
		panics(t, func() { s.TryLock(table1, AccessShare, LockOptions{}) })
		panics(t, func() { _ = x.Lock(t.Context(), 5, 8) })
		x.Unlock(5, 7)
		panics(t, func() { x.Unlock(5, 7) })
		mustLock(t, s, table1, AccessShare)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func panics(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if _, ok := recover().(assert.Failure); !ok {
			t.Error("no assertion failed")
		}
	}()
	f()
}

func TestExtensionWaitIsInterruptible(t *testing.T) {
	for _, table := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := benchManager(table)
			x1, x2, x3 := m.NewSession(1).Extension(), m.NewSession(2).Extension(), m.NewSession(3).Extension()
			must(t, x1.Lock(t.Context(), 5, 7))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r2, r3 := make(chan error, 1), make(chan error, 1)
			go func() { r2 <- x2.Lock(ctx, 5, 7) }()
			synctest.Wait()
			go func() { r3 <- x3.Lock(t.Context(), 5, 7) }()
			synctest.Wait()
			if got := x1.Waiters(5, 7); got != 3 {
				t.Errorf("table=%v: %d waiters", table, got)
			}
			if err := <-r2; !pgerr.HasCode(err, pgerr.QueryCanceled) {
				t.Errorf("table=%v: got %v", table, err)
			}
			x1.Unlock(5, 7)
			granted(t, r3)
			x3.Unlock(5, 7)
			if got := x1.Waiters(5, 7); got != 0 {
				t.Errorf("table=%v: %d waiters at the end", table, got)
			}
			sleeps := m.metrics.ExtensionLockSleep.Value() + m.metrics.ProcSleep[TypeExtend][Exclusive].Value()
			if sleeps != 2 {
				t.Errorf("table=%v: %d sleeps", table, sleeps)
			}
		})
	}
}

// Sessions that cancel now and then fight for one lock: it stays exclusive and
// nobody is forgotten.
func TestExtensionUnderLoad(t *testing.T) {
	for _, entries := range []int{0, 1, 1024} {
		set := metrics.Discard()
		cfg := Config{Metrics: set}
		if entries > 0 {
			cfg.ExtensionTable = NewExtensionTable(entries, set)
		}
		m := NewManager(cfg)
		var wg sync.WaitGroup
		inside := 0
		for i := range 16 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				s := m.NewSession(int32(i))
				defer s.Close()
				x := s.Extension()
				for range 2000 {
					ctx, cancel := context.WithCancel(t.Context())
					if rng.IntN(8) == 0 {
						go cancel()
					}
					if x.Lock(ctx, 5, 7) == nil {
						inside++ // the race detector's
						x.Unlock(5, 7)
					}
					cancel()
				}
			})
		}
		wg.Wait()
		if inside == 0 {
			t.Error("nobody got in")
		}
		if entries > 0 {
			if got := set.ExtensionLockAcquisitions.Value(); got != int64(inside) {
				t.Errorf("entries=%d: %d acquisitions counted, %d made", entries, got, inside)
			}
			for i := range cfg.ExtensionTable.entries {
				if w := uint32(cfg.ExtensionTable.entries[i].word.Load()); w != 0 {
					t.Errorf("entry %d: %x", i, w)
				}
			}
		}
		checkEmpty(t, m)
	}
}

// Random sessions over a few tags, with savepoints, time-outs and deadlocks: what
// is granted never conflicts, and nothing is left at the end.
func TestRandomSessions(t *testing.T) {
	const seed, sessions = 1, 8
	m := NewManager(Config{DeadlockTimeout: func() time.Duration { return time.Millisecond }})
	var held struct {
		sync.Mutex
		modes map[Tag]map[int]modeMask
	}
	held.modes = make(map[Tag]map[int]modeMask)
	note := func(t *testing.T, who int, tag Tag, mode Mode) {
		held.Lock()
		defer held.Unlock()
		if held.modes[tag] == nil {
			held.modes[tag] = make(map[int]modeMask)
		}
		for other, mask := range held.modes[tag] {
			if other != who && mask&conflictTable[mode] != 0 {
				t.Errorf("seed %d: %v: %d got %v while %d holds %b", seed, tag, who, mode, other, mask)
			}
		}
		held.modes[tag][who] |= mode.bit()
	}
	forget := func(who int, keep map[Tag]modeMask) {
		held.Lock()
		defer held.Unlock()
		for tag := range held.modes {
			held.modes[tag][who] = keep[tag]
		}
	}
	var wg sync.WaitGroup
	for who := range sessions {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(who)))
			s := m.NewSession(int32(who))
			defer s.Close()
			for range 300 {
				mark, mine := s.Mark(), map[Tag]modeMask{}
				var kept map[Tag]modeMask
				for range 1 + rng.IntN(6) {
					tag := []Tag{table1, table2, AdvisoryTag(5, 1)}[rng.IntN(3)]
					mode := Mode(1 + rng.IntN(8))
					opts := LockOptions{NoWait: rng.IntN(10) == 0}
					if rng.IntN(10) == 0 {
						opts.Timeout = time.Microsecond
					}
					if rng.IntN(4) == 0 {
						mark, kept = s.Mark(), copyOf(mine)
					}
					if err := s.Lock(t.Context(), tag, mode, opts); err != nil {
						break
					}
					note(t, who, tag, mode)
					mine[tag] |= mode.bit()
				}
				if kept != nil {
					forget(who, kept)
					s.ReleaseTo(mark)
				}
				forget(who, nil)
				s.ReleaseTransaction()
			}
		})
	}
	wg.Wait()
	checkEmpty(t, m)
}

func copyOf(m map[Tag]modeMask) map[Tag]modeMask {
	c := make(map[Tag]modeMask, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
