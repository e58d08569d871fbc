package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// testConfig is a log of small segments, so that tests cross many.
func testConfig(dir string) Config {
	return Config{
		FS: storage.OSFS{}, Dir: dir, SystemID: 77, Incarnation: 1,
		SegmentSize: 64 << 10, FirstSegmentSize: 16 << 10, Buffers: 64 << 10,
	}
}

func mustOpen(t testing.TB, cfg Config, from storage.LSN, fn func(*Record) error) (*Log, storage.LSN) {
	t.Helper()
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if from == 0 {
		from = l.FirstLSN()
	}
	if fn == nil {
		fn = func(*Record) error { return nil }
	}
	end, err := l.Replay(from, fn)
	if err != nil {
		t.Fatal(err)
	}
	return l, end
}

func insert(t testing.TB, l *Log, b *Builder, xid uint64, data []byte) storage.LSN {
	t.Helper()
	b.Reset(RMEngine, 7, xid, 5)
	b.Data(data...)
	if err := l.Reserve(b.InsertLen()); err != nil {
		t.Fatal(err)
	}
	return l.Insert(b)
}

type seen struct {
	xid  uint64
	data string
}

func collect(into *[]seen) func(*Record) error {
	return func(r *Record) error {
		*into = append(*into, seen{r.XID, string(r.Data)})
		return nil
	}
}

func TestReplayReturnsWhatWasInserted(t *testing.T) {
	dir := t.TempDir()
	l, _ := mustOpen(t, testConfig(dir), 0, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	var want []seen
	var b Builder
	for i := range 400 {
		n := rng.IntN(600)
		if i%50 == 49 {
			n = 150 << 10 // larger than the ring and than two segments
		}
		data := bytes.Repeat([]byte{byte(i)}, n)
		insert(t, l, &b, uint64(i), data)
		want = append(want, seen{uint64(i), string(data)})
		if i%37 == 0 {
			if err := l.Flush(l.InsertLSN()); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantEnd := l.InsertLSN()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var got []seen
	l, end := mustOpen(t, testConfig(dir), 0, collect(&got))
	if end != wantEnd || l.FlushedTo() != wantEnd {
		t.Errorf("end %v flushed %v, want %v", end, l.FlushedTo(), wantEnd)
	}
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("record %d differs", i)
		}
	}
	insert(t, l, &b, 999, []byte("after"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got = nil
	l, _ = mustOpen(t, testConfig(dir), 0, collect(&got))
	if last := got[len(got)-1]; last != (seen{999, "after"}) || len(got) != len(want)+1 {
		t.Errorf("%d records, the last %v", len(got), last)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTornTailEndsReplay(t *testing.T) {
	dir := t.TempDir()
	cfg := testConfig(dir)
	l, _ := mustOpen(t, cfg, 0, nil)
	var b Builder
	insert(t, l, &b, 1, []byte("kept"))
	torn := l.InsertLSN()
	insert(t, l, &b, 2, bytes.Repeat([]byte("x"), 100))
	insert(t, l, &b, 3, []byte("behind the torn one"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, SegmentName(0))
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	raw[l.offsetInFile(torn)+50] ^= 1
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}

	// The new log writes a record of the torn one's length, so the third record would
	// follow it seamlessly: the incarnation tells it apart.
	var got []seen
	cfg.Incarnation = 2
	l, end := mustOpen(t, cfg, 0, collect(&got))
	if end != torn || len(got) != 1 {
		t.Fatalf("replay ended at %v with %d records, want %v and 1", end, len(got), torn)
	}
	insert(t, l, &b, 4, bytes.Repeat([]byte("y"), 100))
	if err := l.Flush(l.InsertLSN()); err != nil {
		t.Fatal(err)
	}
	l.Kill()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got = nil
	cfg.Incarnation = 3
	l, _ = mustOpen(t, cfg, 0, collect(&got))
	defer l.Close()
	if len(got) != 2 || got[1].xid != 4 {
		t.Fatalf("replay after the second crash: %v", got)
	}
}

func TestConcurrentInsertAndFlush(t *testing.T) {
	dir := t.TempDir()
	cfg := testConfig(dir)
	l, _ := mustOpen(t, cfg, 0, nil)
	const workers, each = 8, 150
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var b Builder
			rng := rand.New(rand.NewPCG(uint64(w), 9))
			for i := range each {
				data := fmt.Appendf(nil, "%d/%d/%s", w, i, bytes.Repeat([]byte{'p'}, rng.IntN(3000)))
				lsn := insert(t, l, &b, uint64(w), data)
				switch rng.IntN(3) {
				case 0:
					if err := l.Flush(lsn); err != nil {
						t.Error(err)
					}
					if l.FlushedTo() < lsn {
						t.Errorf("flushed %v, want at least %v", l.FlushedTo(), lsn)
					}
				case 1:
					l.FlushLater(lsn)
				}
			}
		}()
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	next := make([]int, workers)
	l, _ = mustOpen(t, cfg, 0, func(r *Record) error {
		var w, i int
		if _, err := fmt.Sscanf(string(r.Data), "%d/%d/", &w, &i); err != nil {
			return err
		}
		if i != next[w] {
			return fmt.Errorf("worker %d: record %d, want %d", w, i, next[w])
		}
		next[w]++
		return nil
	})
	defer l.Close()
	for w, n := range next {
		if n != each {
			t.Errorf("worker %d: %d records, want %d", w, n, each)
		}
	}
}

func TestAsynchronousWriterFlushes(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.WriterDelay = func() time.Duration { return time.Millisecond }
	l, _ := mustOpen(t, cfg, 0, nil)
	defer l.Close()
	var b Builder
	lsn := insert(t, l, &b, 1, []byte("async"))
	l.FlushLater(lsn)
	for deadline := time.Now().Add(5 * time.Second); l.FlushedTo() < lsn; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the log writer never flushed")
		}
	}
}

func TestRecycledSegmentsAreWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	cfg := testConfig(dir)
	l, _ := mustOpen(t, cfg, 0, nil)
	var b Builder
	for l.InsertLSN() < 6*64<<10 {
		insert(t, l, &b, 1, bytes.Repeat([]byte("old"), 300))
	}
	if err := l.Flush(l.InsertLSN()); err != nil {
		t.Fatal(err)
	}
	redo := l.AdvanceRedoPoint()
	removed, recycled, err := l.Recycle(redo, 3*64<<10)
	if err != nil || recycled == 0 || removed == 0 {
		t.Fatalf("removed %d, recycled %d, %v", removed, recycled, err)
	}
	for range 100 {
		insert(t, l, &b, 2, bytes.Repeat([]byte("new"), 300))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	l, _ = mustOpen(t, cfg, redo, func(r *Record) error {
		if r.XID != 2 {
			return fmt.Errorf("record of xid %d", r.XID)
		}
		n++
		return nil
	})
	defer l.Close()
	if n != 100 {
		t.Errorf("%d records, want 100", n)
	}
}

// brokenFS fails what it is told to.
type brokenFS struct {
	storage.FS
	failSync, failWrite atomic.Pointer[error]
}

type brokenFile struct {
	storage.File
	fs *brokenFS
}

func (b *brokenFS) OpenFile(name string, flag int, perm fs.FileMode) (storage.File, error) {
	f, err := b.FS.OpenFile(name, flag, perm)
	return &brokenFile{f, b}, err
}

func (f *brokenFile) Datasync() error {
	if err := f.fs.failSync.Load(); err != nil {
		return *err
	}
	return f.File.Datasync()
}

func (f *brokenFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.fs.failWrite.Load(); err != nil {
		return 0, *err
	}
	return f.File.WriteAt(p, off)
}

func TestFailedSyncKillsTheLog(t *testing.T) {
	broken := &brokenFS{FS: storage.OSFS{}}
	cfg := testConfig(t.TempDir())
	cfg.FS = broken
	var fatal atomic.Int32
	cfg.Fatal = func(error) { fatal.Add(1) }
	l, _ := mustOpen(t, cfg, 0, nil)
	defer l.Close()
	var b Builder
	lsn := insert(t, l, &b, 1, []byte("lost"))
	eio := error(syscall.EIO)
	broken.failSync.Store(&eio)
	if err := l.Flush(lsn); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Flush: %v, want EIO", err)
	}
	broken.failSync.Store(nil)
	if err := l.Flush(lsn); err == nil {
		t.Error("a flush after a failed one succeeded")
	}
	l.Insert(&b)
	if fatal.Load() != 1 {
		t.Errorf("the fatal handler ran %d times", fatal.Load())
	}
}

func TestFullDiskIsMetByReserve(t *testing.T) {
	broken := &brokenFS{FS: storage.OSFS{}}
	cfg := testConfig(t.TempDir())
	cfg.FS = broken
	l, _ := mustOpen(t, cfg, 0, nil)
	defer l.Close()
	full := error(syscall.ENOSPC)
	broken.failWrite.Store(&full)
	if err := l.Reserve(256 << 10); !pgerr.HasCode(err, pgerr.DiskFull) {
		t.Fatalf("Reserve on a full disk: %v, want 53100", err)
	}
	broken.failWrite.Store(nil)
	if err := l.Reserve(256 << 10); err != nil {
		t.Fatalf("Reserve after space was freed: %v", err)
	}
}

func TestControlFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadControl(storage.OSFS{}, dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no control file: %v", err)
	}
	want := Control{
		SystemID: 1, State: StateInProduction, Incarnation: 3, Time: 4, Checkpoint: 5, Redo: 6, NextXID: 7,
		OldestXID: 8, NextOID: 9, NextFile: 10, SegmentSize: 11, FirstSegmentSize: 12, Catalog: []byte("c"),
	}
	if err := WriteControl(storage.OSFS{}, dir, &want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadControl(storage.OSFS{}, dir)
	if err != nil || fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	name := filepath.Join(dir, ControlName)
	raw, _ := os.ReadFile(name)
	raw[20] ^= 1
	_ = os.WriteFile(name, raw, 0o600)
	if _, err := ReadControl(storage.OSFS{}, dir); !pgerr.HasCode(err, pgerr.DataCorrupted) {
		t.Errorf("damaged control file: %v", err)
	}
}

func TestInsertAllocatesNothing(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentSize, cfg.Buffers = 16<<20, 4<<20
	l, _ := mustOpen(t, cfg, 0, nil)
	defer l.Close()
	var b Builder
	data := make([]byte, 100)
	n := testing.AllocsPerRun(200, func() {
		b.Reset(RMEngine, 1, 5, 1)
		b.Data(data...)
		l.Insert(&b)
	})
	if n > 0 {
		t.Errorf("%v allocations an insertion", n)
	}
}

func BenchmarkInsert(b *testing.B) {
	for _, size := range []int{40, 400} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			cfg := testConfig(b.TempDir())
			cfg.SegmentSize, cfg.Buffers = 16<<20, 16<<20
			cfg.SyncMethod = func() SyncMethod { return SyncNone }
			l, _ := mustOpen(b, cfg, 0, nil)
			defer l.Close()
			var bd Builder
			data := make([]byte, size)
			b.ReportAllocs()
			for b.Loop() {
				bd.Reset(RMEngine, 1, 5, 1)
				bd.Data(data...)
				if err := l.Reserve(bd.InsertLen()); err != nil {
					b.Fatal(err)
				}
				l.Insert(&bd)
			}
		})
	}
}
