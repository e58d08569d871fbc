package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage/faultfs"
)

// Many sessions over a pool too small for them, with a background writer and checkpoints
// running: no increment is lost, in memory or on disk.
func TestPoolConcurrent(t *testing.T) {
	const blocks, sessions, rounds = 100, 16, 400
	log := &fakeLog{}
	e := newEnv(t, 40, func(c *PoolConfig) { c.Log = log })
	e.create(testRel, blocks)
	var want [blocks]atomic.Uint64
	var wg, writers sync.WaitGroup
	stop := make(chan struct{})
	loop := func(fn func() error) {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if err := fn(); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	loop(func() error { _, err := e.pool.CleanSome(8); return err })
	loop(func() error {
		if _, err := e.pool.FlushAll(context.Background(), FlushOptions{}); err != nil {
			return err
		}
		return e.pool.SyncPending(context.Background())
	})
	for s := range sessions {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(s), 1))
			ring := e.pool.NewRing(RingKind(s % 3))
			for range rounds {
				block := BlockNumber(rng.IntN(blocks))
				var use *Ring
				if rng.IntN(2) == 0 {
					use = ring
				}
				b, err := e.pool.Read(BlockTag{testRel, MainFork, block}, use)
				if err != nil {
					t.Error(err)
					return
				}
				if b.Block() != block {
					t.Errorf("got %v", b.Tag())
				}
				if rng.IntN(3) == 0 {
					counter(b)
					continue
				}
				n := rng.Uint64N(10)
				add(b, n)
				want[block].Add(n)
			}
		})
	}
	wg.Wait()
	close(stop)
	writers.Wait()
	e.flush()
	if n := e.pool.Dirty(); n != 0 {
		t.Errorf("%d dirty buffers after a quiet checkpoint", n)
	}
	check := func(e *env, where string) {
		for block := range BlockNumber(blocks) {
			if got, w := counter(e.read(testRel, block)), want[block].Load(); got != w {
				t.Errorf("block %d: %d %s, want %d", block, got, where, w)
			}
		}
	}
	check(e, "in the pool")
	check(newEnvOn(t, e.fs.Crash(rand.New(rand.NewPCG(1, 1))), 16), "on disk")
}

func TestReadErrors(t *testing.T) {
	e := newEnv(t, 16)
	e.create(testRel, 30)
	e.flush()
	corrupt := func(block BlockNumber) {
		f, err := e.fs.OpenFile("data/base/5/16384", syscall.O_RDWR, 0)
		e.must(err)
		_, err = f.WriteAt([]byte("rubbish"), int64(block)*PageSize+5000)
		e.must(err)
		f.Close()
	}
	corrupt(3)
	missing := testRel
	missing.Number = 99
	tests := []struct {
		name string
		tag  BlockTag
		code pgerr.Code
		msg  string
	}{
		{"no file", BlockTag{missing, MainFork, 0}, pgerr.UndefinedFile, `could not open file "base/5/99": No such file or directory`},
		{"behind the end", BlockTag{testRel, MainFork, 30}, pgerr.DataCorrupted, `could not read block 30 in file "base/5/16384": read only 0 of 8192 bytes`},
		{"bad page", BlockTag{testRel, MainFork, 3}, pgerr.DataCorrupted, `invalid page in block 3 of relation base/5/16384`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := e.pool.Read(tc.tag, nil)
			got := pgerr.From(err)
			if err == nil || got.Code != tc.code || got.Message != tc.msg {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("I/O error, then none", func(t *testing.T) {
		e.fs.Inject(faultfs.Rule{Ops: faultfs.OpRead, Err: syscall.EIO})
		if _, err := e.pool.Read(BlockTag{testRel, MainFork, 4}, nil); !pgerr.HasCode(err, pgerr.IoError) {
			t.Errorf("got %v", err)
		}
		e.read(testRel, 4).Unpin()
	})
}

// One reads, the others wait for it; when it fails, another takes over.
func TestReadersShareOneRead(t *testing.T) {
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprintf("fails=%v", fails), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, 16)
				e.create(testRel, 40)
				e.flush()
				var reads atomic.Int32
				release := make(chan struct{})
				hold := func(faultfs.Op, string) {
					if reads.Add(1) == 1 {
						<-release
					}
				}
				var injected error
				if fails {
					injected = syscall.EIO
				}
				e.fs.Inject(faultfs.Rule{Ops: faultfs.OpRead, Hook: hold, Err: injected})
				var failed atomic.Int32
				var wg sync.WaitGroup
				for range 5 {
					wg.Go(func() {
						b, err := e.pool.Read(BlockTag{testRel, MainFork, 0}, nil)
						if err != nil {
							failed.Add(1)
							return
						}
						b.Unpin()
					})
				}
				synctest.Wait()
				close(release)
				wg.Wait()
				want := int32(0)
				if fails {
					want = 1
				}
				if failed.Load() != want {
					t.Errorf("%d failed, want %d", failed.Load(), want)
				}
				if e.set.BufferMisses.Value() == 0 {
					t.Error("no miss counted")
				}
			})
		})
	}
}

func TestAllPinned(t *testing.T) {
	e := newEnv(t, 16)
	e.create(testRel, 17)
	var held []*Buffer
	for i := range BlockNumber(16) {
		held = append(held, e.read(testRel, i))
	}
	if _, err := e.pool.Read(BlockTag{testRel, MainFork, 16}, nil); !pgerr.HasCode(err, pgerr.OutOfMemory) {
		t.Errorf("got %v", err)
	}
	for _, b := range held {
		b.Unpin()
	}
	e.read(testRel, 16).Unpin()
}

// A write that fails keeps the page, and the statement that needed the frame is told.
func TestFailedWriteKeepsThePage(t *testing.T) {
	e := newEnv(t, 16)
	e.create(testRel, 40)
	e.flush()
	for i := range BlockNumber(16) {
		add(e.read(testRel, i), 7)
	}
	remove := e.fs.Inject(faultfs.Rule{Ops: faultfs.OpWrite, Err: syscall.ENOSPC, Most: -1})
	if _, err := e.pool.Read(BlockTag{testRel, MainFork, 39}, nil); !pgerr.HasCode(err, pgerr.DiskFull) {
		t.Errorf("got %v", err)
	}
	if _, err := e.pool.FlushAll(context.Background(), FlushOptions{}); !pgerr.HasCode(err, pgerr.DiskFull) {
		t.Errorf("got %v", err)
	}
	if n := e.pool.Dirty(); n != 16 {
		t.Errorf("%d dirty buffers, want 16", n)
	}
	remove()
	e.flush()
	again := newEnvOn(t, e.fs, 16)
	for i := range BlockNumber(16) {
		if got := counter(again.read(testRel, i)); got != 7 {
			t.Errorf("block %d: %d", i, got)
		}
	}
}

// A page dirtied while its copy is written stays dirty.
func TestDirtiedDuringWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, 16)
		e.create(testRel, 1)
		e.flush()
		add(e.read(testRel, 0), 1)
		release := make(chan struct{})
		e.fs.Inject(faultfs.Rule{Ops: faultfs.OpWrite, Hook: func(faultfs.Op, string) { <-release }})
		done := make(chan struct{})
		go func() {
			e.flush()
			close(done)
		}()
		synctest.Wait()
		add(e.read(testRel, 0), 1) // needs no I/O and no wait
		close(release)
		<-done
		if n := e.pool.Dirty(); n != 1 {
			t.Fatalf("%d dirty, want 1", n)
		}
		e.flush()
		if got := counter(newEnvOn(t, e.fs, 16).read(testRel, 0)); got != 2 {
			t.Errorf("got %d", got)
		}
	})
}

// logFirst looks at every block on its way to disk.
type logFirst struct {
	FS
	log    *fakeLog
	broken *atomic.Int32
}

type logFirstFile struct {
	File
	fs *logFirst
}

func (f *logFirst) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	return &logFirstFile{file, f}, err
}

func (f *logFirstFile) WriteAt(p []byte, off int64) (int, error) {
	for at := 0; at+PageSize <= len(p); at += PageSize {
		if Page(p[at:at+PageSize]).LSN() > f.fs.log.FlushedTo() {
			f.fs.broken.Add(1)
		}
	}
	return f.File.WriteAt(p, off)
}

// Invariant 1, and the variant without it, which the check has to find.
func TestLogGoesFirst(t *testing.T) {
	for _, unsafe := range []bool{false, true} {
		t.Run(fmt.Sprintf("unsafe=%v", unsafe), func(t *testing.T) {
			log, broken := &fakeLog{}, &atomic.Int32{}
			e := newEnv(t, 16, func(c *PoolConfig) {
				c.Log = log
				c.FS = &logFirst{c.FS, log, broken}
				c.UnsafeNoLogFlush = unsafe
			})
			e.create(testRel, 40)
			rng := rand.New(rand.NewPCG(7, 7))
			for lsn := LSN(1); lsn < 500; lsn++ {
				b := e.read(testRel, BlockNumber(rng.IntN(40)))
				b.LockExclusive(ClassHeap)
				b.MarkDirty()
				b.Page().SetLSN(lsn)
				b.ReleaseExclusive()
				switch rng.IntN(50) {
				case 0:
					_, err := e.pool.CleanSome(4)
					e.must(err)
				case 1:
					e.flush()
				}
			}
			if got := broken.Load() > 0; got != unsafe {
				t.Errorf("%d blocks went before their log", broken.Load())
			}
		})
	}
}

func TestFailedLogFlushKeepsThePage(t *testing.T) {
	log := &fakeLog{}
	e := newEnv(t, 16, func(c *PoolConfig) { c.Log = log })
	e.create(testRel, 1)
	b := e.read(testRel, 0)
	b.LockExclusive(ClassHeap)
	b.MarkDirty()
	b.Page().SetLSN(10)
	b.ReleaseExclusive()
	log.err = errors.New("the log is gone")
	if _, err := e.pool.FlushAll(context.Background(), FlushOptions{}); !errors.Is(err, log.err) {
		t.Errorf("got %v", err)
	}
	log.err = nil
	if n, err := e.pool.FlushAll(context.Background(), FlushOptions{}); n != 1 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
}

type fakeHints struct {
	redo LSN
	next LSN
	err  error
	log  []BlockTag
}

func (h *fakeHints) NeedsImage(p Page) bool { return p.LSN() <= h.redo }
func (h *fakeHints) LogHint(b *Buffer) (LSN, error) {
	if !b.IsDirty() {
		return 0, errors.New("logged before marked dirty")
	}
	if h.err != nil {
		return 0, h.err
	}
	h.log = append(h.log, b.Tag())
	h.next += 10
	return h.next, nil
}

func TestHints(t *testing.T) {
	tests := []struct {
		name  string
		lsn   LSN // of the page, redo is 100
		dirty bool
		err   error

		logged, dirtyAfter bool
	}{
		{name: "first change after the checkpoint", lsn: 50, logged: true, dirtyAfter: true},
		{name: "changed since", lsn: 150, dirtyAfter: true},
		{name: "dirty anyway", lsn: 50, dirty: true, dirtyAfter: true},
		{name: "never logged", lsn: 0, dirtyAfter: true},
		{name: "the log refuses", lsn: 50, err: errors.New("full")},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			hints := &fakeHints{redo: 100, next: 200, err: tc.err}
			e := newEnv(t, 16, func(c *PoolConfig) { c.Hints = hints })
			e.create(testRel, 1)
			b := e.read(testRel, 0)
			b.LockExclusive(ClassHeap)
			b.Page().SetLSN(tc.lsn)
			b.MarkDirty()
			b.UnlockExclusive()
			if !tc.dirty {
				e.flush()
			}
			b.LockExclusive(ClassHeap)
			err := b.MarkDirtyHint()
			lsn := b.Page().LSN()
			b.ReleaseExclusive()
			if !errors.Is(err, tc.err) {
				t.Errorf("got %v", err)
			}
			if got := len(hints.log) > 0; got != tc.logged || got != (lsn != tc.lsn) {
				t.Errorf("logged %v, LSN %v", got, lsn)
			}
			if b.IsDirty() != tc.dirtyAfter {
				t.Errorf("dirty %v", b.IsDirty())
			}
		})
	}
}

func TestFlushAllSkipsAndPaces(t *testing.T) {
	e := newEnv(t, 64)
	e.create(testRel, 20)
	e.flush()
	for i := range BlockNumber(20) {
		b := e.read(testRel, i)
		b.LockExclusive(ClassHeap)
		if i%2 == 0 {
			b.Page().SetLSN(5)
		}
		b.MarkDirty()
		b.ReleaseExclusive()
	}
	var calls []int
	n, err := e.pool.FlushAll(context.Background(), FlushOptions{SkipUnlogged: true, Pace: func(done, total int) error {
		if total != 20 {
			t.Errorf("total %d", total)
		}
		calls = append(calls, done)
		return nil
	}})
	if n != 10 || err != nil || e.pool.Dirty() != 10 {
		t.Errorf("wrote %d, %v, %d left", n, err, e.pool.Dirty())
	}
	if last := calls[len(calls)-1]; last != 20 {
		t.Errorf("paced %v", calls)
	}
	stop := errors.New("enough")
	if _, err := e.pool.FlushAll(context.Background(), FlushOptions{Pace: func(int, int) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// A ring leaves the rest of the pool alone.
func TestRing(t *testing.T) {
	e := newEnv(t, 1024)
	hot := testRel
	hot.Number = 1
	e.create(hot, 500)
	e.create(testRel, 2000)
	e.flush()
	for range 2 {
		for i := range BlockNumber(500) {
			e.read(hot, i).Unpin()
		}
	}
	ring := e.pool.NewRing(RingBulkRead)
	for i := range BlockNumber(2000) {
		b, err := e.pool.Read(BlockTag{testRel, MainFork, i}, ring)
		e.must(err)
		b.Unpin()
	}
	before := e.set.BufferMisses.Value()
	for i := range BlockNumber(500) {
		e.read(hot, i).Unpin()
	}
	if n := e.set.BufferMisses.Value() - before; n > 40 {
		t.Errorf("a bulk read drove %d of 500 hot pages out", n)
	}
}

func TestCleanSome(t *testing.T) {
	e := newEnv(t, 16)
	e.create(testRel, 16)
	for range 100 { // the hand has to take the uses away first
		if b := e.pool.sweep(); b != nil {
			b.Unpin()
		}
	}
	n, err := e.pool.CleanSome(5)
	if err != nil || n != 5 {
		t.Errorf("cleaned %d, %v", n, err)
	}
	if d := e.pool.Dirty(); d != 11 {
		t.Errorf("%d dirty, want 11", d)
	}
}

func TestReadZeroed(t *testing.T) {
	e := newEnv(t, 16)
	tag := BlockTag{testRel, MainFork, 9}
	b, err := e.pool.ReadZeroed(tag) // no file yet
	e.must(err)
	b.LockExclusive(ClassOther)
	if !b.Page().IsNew() {
		t.Error("not new")
	}
	b.Page().Init(0)
	b.MarkDirty()
	b.ReleaseExclusive()
	if n, err := e.pool.Files().NBlocks(testRel, MainFork); n != 10 || err != nil {
		t.Errorf("%d blocks, %v", n, err)
	}
	b, err = e.pool.ReadZeroed(tag)
	e.must(err)
	b.LockShared(ClassOther)
	if b.Page().IsNew() {
		t.Error("a page in the pool was thrown away")
	}
	b.ReleaseShared()
}

func TestMisuseIsCaught(t *testing.T) {
	e := newEnv(t, 16)
	e.create(testRel, 1)
	tests := []struct {
		name string
		fn   func(b *Buffer)
	}{
		{"dirty without latch", func(b *Buffer) { b.MarkDirty() }},
		{"shared unlock", func(b *Buffer) { b.UnlockShared() }},
		{"exclusive unlock", func(b *Buffer) { b.UnlockExclusive() }},
		{"unpin", func(b *Buffer) { b.Unpin(); b.Unpin() }},
	}
	for i, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("not caught")
				}
			}()
			e := newEnv(t, 16)
			rel := testRel
			rel.Number += FileNumber(i)
			e.create(rel, 1)
			b := e.read(rel, 0)
			defer func() { b.state.Store(0) }()
			tc.fn(b)
		})
	}
}

func benchPool(b *testing.B, blocks int) *Pool {
	b.Helper()
	pool, err := NewPool(PoolConfig{Buffers: max(blocks+16, 128), FS: faultfs.New(faultfs.Options{}), Dir: "data"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { pool.Close() })
	if err := pool.Files().EnsureBlocks(testRel, MainFork, BlockNumber(blocks)); err != nil {
		b.Fatal(err)
	}
	return pool
}

func BenchmarkPoolHit(b *testing.B) {
	for _, blocks := range []int{64, 65536} {
		for _, mode := range []string{"serial", "parallel"} {
			b.Run(fmt.Sprintf("blocks=%d/%s", blocks, mode), func(b *testing.B) {
				pool := benchPool(b, blocks)
				read := func(i uint32) {
					buf, err := pool.Read(BlockTag{testRel, MainFork, BlockNumber(i * 2654435761 % uint32(blocks))}, nil)
					if err != nil {
						b.Fatal(err)
					}
					buf.Unpin()
				}
				for i := range uint32(blocks) {
					read(i)
				}
				b.ReportAllocs()
				b.ResetTimer()
				if mode == "serial" {
					i := uint32(0)
					for b.Loop() {
						read(i)
						i++
					}
					return
				}
				b.RunParallel(func(pb *testing.PB) {
					i := rand.Uint32()
					for pb.Next() {
						read(i)
						i++
					}
				})
			})
		}
	}
}

// BenchmarkPoolMiss is a read that evicts a clean page.
func BenchmarkPoolMiss(b *testing.B) {
	dir := b.TempDir()
	pool, err := NewPool(PoolConfig{Buffers: 128, FS: OSFS{}, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	if err := pool.Files().EnsureBlocks(testRel, MainFork, 4096); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := BlockNumber(0)
	for b.Loop() {
		buf, err := pool.Read(BlockTag{testRel, MainFork, i % 4096}, nil)
		if err != nil {
			b.Fatal(err)
		}
		buf.Unpin()
		i++
	}
}
