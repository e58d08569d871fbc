package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/storage/faultfs"
)

var testRel = RelFile{Tablespace: DefaultTablespace, Database: 5, Number: 16384}

type env struct {
	*testing.T
	fs   *faultfs.FS
	pool *Pool
	set  *metrics.Set
}

func newEnv(t *testing.T, buffers int, change ...func(*PoolConfig)) *env {
	t.Helper()
	return newEnvOn(t, faultfs.New(faultfs.Options{}), buffers, change...)
}

func newEnvOn(t *testing.T, fs *faultfs.FS, buffers int, change ...func(*PoolConfig)) *env {
	t.Helper()
	if err := errors.Join(fs.MkdirAll("data", 0o700), fs.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	cfg := PoolConfig{Buffers: buffers, FS: fs, Dir: "data", Metrics: metrics.New()}
	for _, c := range change {
		c(&cfg)
	}
	pool, err := NewPool(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{T: t, fs: fs, pool: pool, set: cfg.Metrics}
	t.Cleanup(func() {
		if n := pool.Pinned(); n != 0 && !t.Failed() {
			t.Errorf("%d buffers are still pinned", n)
		}
		pool.Close()
	})
	return e
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// create makes a relation of n blocks, each with a counter of 0 in its only item.
func (e *env) create(rel RelFile, n int) {
	e.Helper()
	e.must(e.pool.Files().Create(rel, MainFork))
	for i := range n {
		got, err := e.pool.Extend(context.Background(), rel, MainFork, ExtendOptions{Class: ClassHeap})
		e.must(err)
		if got.Block != BlockNumber(i) {
			e.Fatalf("extension gave block %d, want %d", got.Block, i)
		}
		page := got.Buffer.Page()
		page.Init(0)
		page.AddItem(0, make([]byte, 8), AddAnywhere)
		got.Buffer.MarkDirty()
		got.Buffer.ReleaseExclusive()
	}
}

func (e *env) read(rel RelFile, block BlockNumber) *Buffer {
	e.Helper()
	b, err := e.pool.Read(BlockTag{rel, MainFork, block}, nil)
	e.must(err)
	if b.Block() != block || b.Tag().Rel != rel {
		e.Fatalf("got %v, want block %d of %v", b.Tag(), block, rel)
	}
	return b
}

// add adds n to a block's counter, and to the page's LSN.
func add(b *Buffer, n uint64) {
	b.LockExclusive(ClassHeap)
	item := b.Page().Item(1)
	binary.LittleEndian.PutUint64(item, binary.LittleEndian.Uint64(item)+n)
	b.MarkDirty()
	b.ReleaseExclusive()
}

func counter(b *Buffer) uint64 {
	b.LockShared(ClassHeap)
	defer b.ReleaseShared()
	return binary.LittleEndian.Uint64(b.Page().Item(1))
}

func (e *env) flush() {
	e.Helper()
	_, err := e.pool.FlushAll(context.Background(), FlushOptions{})
	e.must(err)
	e.must(e.pool.SyncPending(context.Background()))
}

// fakeLog is a log that only counts.
type fakeLog struct {
	mu      sync.Mutex
	flushed LSN
	flushes int
	err     error
}

func (l *fakeLog) FlushedTo() LSN {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flushed
}

func (l *fakeLog) Flush(lsn LSN) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.flushes++
	l.flushed = max(l.flushed, lsn)
	return nil
}

// fakeLock is one extension lock, with waits that a test can see and cancel.
type fakeLock struct {
	mu      sync.Mutex
	holder  *fakeLocker
	depth   int
	waiting int
	free    chan struct{} // one token while free
	sleeps  int
}

type fakeLocker struct{ lock *fakeLock }

func newFakeLock() *fakeLock {
	l := &fakeLock{free: make(chan struct{}, 1)}
	l.free <- struct{}{}
	return l
}

func (l *fakeLocker) again() bool {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	if l.lock.holder == l {
		l.lock.depth++
		return true
	}
	return false
}

func (l *fakeLocker) got() {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	l.lock.holder, l.lock.depth = l, 1
}

func (l *fakeLocker) Lock(ctx context.Context, db uint32, file uint64) error {
	if l.TryLock(db, file) {
		return nil
	}
	l.count(1)
	defer l.count(-1)
	select {
	case <-l.lock.free:
		l.got()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *fakeLocker) count(n int) {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	l.lock.waiting += n
	if n > 0 {
		l.lock.sleeps++
	}
}

func (l *fakeLocker) TryLock(uint32, uint64) bool {
	if l.again() {
		return true
	}
	select {
	case <-l.lock.free:
		l.got()
		return true
	default:
		return false
	}
}

func (l *fakeLocker) Unlock(uint32, uint64) {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	if l.lock.holder != l {
		panic("unlock by another")
	}
	if l.lock.depth--; l.lock.depth == 0 {
		l.lock.holder = nil
		l.lock.free <- struct{}{}
	}
}

func (l *fakeLocker) Waiters(uint32, uint64) int {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	n := l.lock.waiting
	if l.lock.holder != nil {
		n++
	}
	return n
}

// skipUnderRace skips models of one goroutine, where the detector only costs time.
func skipUnderRace(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine")
	}
}
