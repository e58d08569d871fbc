package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage/faultfs"
)

func TestPaths(t *testing.T) {
	tests := []struct {
		rel  RelFile
		fork Fork
		want string
	}{
		{RelFile{DefaultTablespace, 5, 16384}, MainFork, "base/5/16384"},
		{RelFile{DefaultTablespace, 5, 16384}, FSMFork, "base/5/16384_fsm"},
		{RelFile{GlobalTablespace, 0, 1260}, VMFork, "global/1260_vm"},
		{RelFile{16400, 5, 1 << 40}, MainFork, "pg_tblspc/16400/MINIPG_1/5/1099511627776"},
	}
	for _, tc := range tests {
		if got := relPath(tc.rel, tc.fork); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
	names := []struct {
		name string
		n    FileNumber
		fork Fork
		seg  int
		ok   bool
	}{
		{"16384", 16384, MainFork, 0, true},
		{"16384.2", 16384, MainFork, 2, true},
		{"16384_fsm.1", 16384, FSMFork, 1, true},
		{"16384_vm", 16384, VMFork, 0, true},
		{"16384.0", 0, 0, 0, false},
		{"16384_init", 0, 0, 0, false},
		{"PG_VERSION", 0, 0, 0, false},
		{"16384_", 0, 0, 0, false},
		{"", 0, 0, 0, false},
	}
	for _, tc := range names {
		n, fork, seg, ok := parseName(tc.name)
		if ok != tc.ok || ok && (n != tc.n || fork != tc.fork || seg != tc.seg) {
			t.Errorf("%q is %d, %v, %d, %v", tc.name, n, fork, seg, ok)
		}
	}
}

// Forks over two segments, on the real file system, where they are holes.
func TestSegments(t *testing.T) {
	dir := t.TempDir()
	pool, err := NewPool(PoolConfig{Buffers: 32, FS: sparseFS{}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	e := &env{T: t, pool: pool}
	const edge = segmentBlocks
	e.must(pool.Files().EnsureBlocks(testRel, MainFork, edge-1))
	var blocks []BlockNumber
	for range 3 {
		got, err := pool.Extend(context.Background(), testRel, MainFork, ExtendOptions{})
		e.must(err)
		got.Buffer.Page().Init(0)
		got.Buffer.Page().AddItem(0, fmt.Append(nil, got.Block), AddAnywhere)
		got.Buffer.MarkDirty()
		got.Buffer.ReleaseExclusive()
		blocks = append(blocks, got.Block)
	}
	if !slices.Equal(blocks, []BlockNumber{edge - 1, edge, edge + 1}) {
		t.Fatalf("got %v", blocks)
	}
	_, err = pool.FlushAll(context.Background(), FlushOptions{})
	e.must(err)
	e.must(pool.Files().Sync(testRel, MainFork))
	e.must(pool.Files().close())

	again, err := NewPool(PoolConfig{Buffers: 32, FS: sparseFS{}, Dir: dir})
	e.must(err)
	defer again.Close()
	if n, err := again.Files().NBlocks(testRel, MainFork); n != edge+2 || err != nil {
		t.Fatalf("%d blocks, %v", n, err)
	}
	e = &env{T: t, pool: again}
	for _, b := range blocks {
		buf := e.read(testRel, b)
		if got := buf.Page().Item(1); !bytes.Equal(got, fmt.Append(nil, b)) {
			t.Errorf("block %d holds %q", b, got)
		}
		buf.Unpin()
	}
	for _, n := range []BlockNumber{edge + 1, edge, edge - 1, 0} {
		e.must(again.TruncateRelation(testRel, MainFork, n))
		if got, err := again.Files().NBlocks(testRel, MainFork); got != n || err != nil {
			t.Errorf("%d blocks, %v, want %d", got, err, n)
		}
		_, err := os.Stat(dir + "/base/5/16384.1")
		if exists := err == nil; exists != (n > edge) {
			t.Errorf("at %d blocks the second segment is there: %v", n, exists)
		}
	}
	e.must(again.Files().EnsureBlocks(testRel, MainFork, edge+1))
	e.must(again.DropRelation(testRel))
	if names, _ := os.ReadDir(dir + "/base/5"); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
	if ok, err := again.Files().Exists(testRel, MainFork); ok || err != nil {
		t.Errorf("exists: %v, %v", ok, err)
	}
}

// sparseFS allocates by truncation, so that a test can have gigabytes.
type sparseFS struct{ OSFS }

type sparseFile struct{ File }

func (f sparseFS) OpenFile(name string, flag int, perm os.FileMode) (File, error) {
	file, err := f.OSFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return sparseFile{file}, nil
}

func (f sparseFile) Allocate(off, n int64) error { return f.Truncate(off + n) }

// More segments than may be open at once, read and written by many.
func TestOpenFilesAreBounded(t *testing.T) {
	e := newEnv(t, 16, func(c *PoolConfig) { c.MaxOpenFiles = 4 })
	rels := make([]RelFile, 20)
	for i := range rels {
		rels[i] = testRel
		rels[i].Number += FileNumber(i)
		e.create(rels[i], 2)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 9))
			for range 200 {
				b, err := e.pool.Read(BlockTag{rels[rng.IntN(len(rels))], MainFork, BlockNumber(rng.IntN(2))}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				add(b, 1)
			}
		})
	}
	wg.Wait()
	e.flush()
	total := uint64(0)
	for _, rel := range rels {
		total += counter(e.read(rel, 0)) + counter(e.read(rel, 1))
	}
	if total != 800 {
		t.Errorf("%d increments, want 800", total)
	}
	if n := len(e.pool.files.open.segments); n > 4+4 {
		t.Errorf("%d files are open", n)
	}
}

func TestListAndSweep(t *testing.T) {
	e := newEnv(t, 16)
	files := e.pool.Files()
	kept := []RelFile{testRel, {GlobalTablespace, 0, 1260}, {16400, 5, 7}}
	orphan := []RelFile{{DefaultTablespace, 5, 99}, {DefaultTablespace, 6, 16384}, {16500, 1, 1}}
	files.SetTablespace(16500, "elsewhere/PG_15")
	for _, rel := range slices.Concat(kept, orphan) {
		for _, fork := range AllForks {
			e.must(files.Create(rel, fork))
		}
	}
	f, err := e.fs.OpenFile("data/base/5/99.3", os.O_CREATE|os.O_RDWR, 0o600) // without 99.1
	e.must(err)
	f.Close()
	f, err = e.fs.OpenFile("data/base/5/PG_VERSION", os.O_CREATE|os.O_RDWR, 0o600)
	e.must(err)
	f.Close()
	found := 0
	e.must(files.List(func(Found) error { found++; return nil }))
	if found != 3*6+1 {
		t.Errorf("found %d files", found)
	}
	removed, err := files.SweepOrphans(func(r RelFile) bool { return slices.Contains(kept, r) })
	e.must(err)
	if len(removed) != 3 {
		t.Errorf("removed %v", removed)
	}
	for _, rel := range orphan {
		if ok, _ := files.Exists(rel, MainFork); ok {
			t.Errorf("%v is still there", rel)
		}
	}
	for _, rel := range kept {
		if ok, _ := files.Exists(rel, VMFork); !ok {
			t.Errorf("%v is gone", rel)
		}
	}
	if _, err := e.fs.Stat("data/base/5/PG_VERSION"); err != nil {
		t.Error("a file that is no relation's was swept")
	}
}

func TestDropDatabase(t *testing.T) {
	e := newEnv(t, 64)
	other := testRel
	other.Database = 6
	e.create(testRel, 3)
	e.create(other, 3)
	add(e.read(other, 1), 5)
	e.must(e.pool.DropDatabase(DefaultTablespace, 5))
	if _, err := e.fs.Stat("data/base/5"); err == nil {
		t.Error("the directory is still there")
	}
	if _, err := e.pool.Read(BlockTag{testRel, MainFork, 0}, nil); !pgerr.HasCode(err, pgerr.UndefinedFile) {
		t.Errorf("got %v", err)
	}
	e.flush()
	if got := counter(e.read(other, 1)); got != 5 {
		t.Errorf("the other database has %d", got)
	}
}

// Dropping waits for a write under way, and nothing of the relation is written afterwards.
func TestDropWhileWriting(t *testing.T) {
	e := newEnv(t, 64)
	for round := range 30 {
		rel := testRel
		rel.Number += FileNumber(round)
		e.create(rel, 20)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := e.pool.FlushAll(context.Background(), FlushOptions{}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := e.pool.CleanSome(20); err != nil {
				t.Error(err)
			}
		})
		e.must(e.pool.DropRelation(rel))
		wg.Wait()
		if _, err := e.fs.Stat(e.pool.files.path(forkKey{rel, MainFork}, 0)); err == nil {
			t.Fatal("a late write made the file again")
		}
	}
	e.must(e.pool.SyncPending(context.Background()))
}

func TestSyncFailureIsKept(t *testing.T) {
	e := newEnv(t, 16)
	e.create(testRel, 3)
	e.fs.Inject(faultfs.Rule{Ops: faultfs.OpDatasync, Err: syscall.EIO})
	if _, err := e.pool.FlushAll(context.Background(), FlushOptions{}); err != nil {
		t.Fatal(err)
	}
	err := e.pool.SyncPending(context.Background())
	if !pgerr.HasCode(err, pgerr.IoError) || pgerr.From(err).Message != `could not fsync file "base/5/16384": Input/output error` {
		t.Errorf("got %v", err)
	}
	if len(e.pool.files.pending.segments) != 1 {
		t.Error("the failed sync was forgotten")
	}
}

// What a checkpoint wrote and synced survives any crash, with drops, truncations and extensions
// in between.
func TestCheckpointSurvivesCrashes(t *testing.T) {
	base := t
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		e := newEnv(base, 32)
		type page struct {
			rel   int
			block BlockNumber
		}
		rels := make([]RelFile, 4)
		sizes := make([]int, len(rels)) // as of the last checkpoint; -1 is dropped since
		values := make(map[page]uint64)
		live := make([]int, len(rels))
		for i := range rels {
			rels[i] = testRel
			rels[i].Number += FileNumber(i)
			e.create(rels[i], 3)
			live[i] = 3
		}
		checkpoint := func() {
			e.flush()
			copy(sizes, live)
			clear(values)
			for r, n := range live {
				for b := range BlockNumber(max(n, 0)) {
					values[page{r, b}] = counter(e.read(rels[r], b))
				}
			}
		}
		checkpoint()
		touched := make(map[page]bool) // since: may be torn
		for range rng.IntN(60) {
			r := rng.IntN(len(rels))
			if live[r] < 0 {
				continue
			}
			switch op := rng.IntN(12); {
			case op < 6 && live[r] > 0:
				b := BlockNumber(rng.IntN(live[r]))
				add(e.read(rels[r], b), 1)
				touched[page{r, b}] = true
			case op < 9:
				got, err := e.pool.Extend(context.Background(), rels[r], MainFork, ExtendOptions{})
				e.must(err)
				got.Buffer.Page().Init(0)
				got.Buffer.Page().AddItem(0, make([]byte, 8), AddAnywhere)
				got.Buffer.MarkDirty()
				got.Buffer.ReleaseExclusive()
				touched[page{r, got.Block}] = true
				live[r]++
			case op == 9 && live[r] > 1:
				live[r] = 1 + rng.IntN(live[r])
				e.must(e.pool.TruncateRelation(rels[r], MainFork, BlockNumber(live[r])))
				for b := live[r]; b < 100; b++ {
					touched[page{r, BlockNumber(b)}] = true
				}
			case op == 10 && rng.IntN(4) == 0:
				e.must(e.pool.DropRelation(rels[r]))
				live[r], sizes[r] = -1, -1
			case op == 11:
				checkpoint()
				clear(touched)
			}
		}
		after := newEnvOn(base, e.fs.Crash(rng), 32)
		for r, n := range sizes {
			for b := range BlockNumber(max(n, 0)) {
				if touched[page{r, b}] {
					continue
				}
				if got, want := counter(after.read(rels[r], b)), values[page{r, b}]; got != want {
					t.Fatalf("seed %d: block %d of relation %d holds %d, want %d", seed, b, r, got, want)
				}
			}
		}
	})
}

func TestMissingFiles(t *testing.T) {
	e := newEnv(t, 16)
	e.must(e.pool.Files().CreateDatabase(DefaultTablespace, 77))
	if _, err := e.fs.List("data/base/77"); err != nil {
		t.Error(err)
	}
	if err := e.pool.TruncateRelation(testRel, VMFork, 0); err != nil {
		t.Errorf("truncating what is not there: %v", err)
	}
	if err := e.pool.DropRelation(testRel); err != nil {
		t.Errorf("dropping what is not there: %v", err)
	}
	if _, err := e.pool.Extend(context.Background(), testRel, MainFork, ExtendOptions{}); !pgerr.HasCode(err, pgerr.UndefinedFile) {
		t.Errorf("extending what is not there: %v", err)
	}
	if !errors.Is(e.pool.files.openError(e.pool.files.fork(testRel, MainFork), os.ErrNotExist), os.ErrNotExist) {
		t.Error("the cause is lost")
	}
}

// What lies behind the end of a file is not what a new block shows.
func TestNewBlocksAreZeros(t *testing.T) {
	for _, n := range []int{1, 8, 9, 100} {
		e := newEnv(t, 16)
		e.create(testRel, 2)
		f, err := e.fs.OpenFile("data/base/5/16384", os.O_RDWR, 0)
		e.must(err)
		_, err = f.WriteAt(bytes.Repeat([]byte("rubbish"), 20000), 2*PageSize)
		e.must(err)
		st := &ExtendState{Settings: ExtendSettings{Blocks: n, PublishSelf: true}}
		got, err := e.pool.Extend(context.Background(), testRel, MainFork, ExtendOptions{State: st})
		e.must(err)
		got.Buffer.ReleaseExclusive()
		for b := range BlockNumber(n) {
			page := make(Page, PageSize)
			e.must(e.pool.Files().ReadBlock(BlockTag{testRel, MainFork, 2 + b}, page))
			if !page.allZero() {
				t.Fatalf("%d blocks: block %d is not zeros", n, 2+b)
			}
		}
	}
}
