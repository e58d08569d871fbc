package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

const extensionSessions = 16

// extendRun is sessions that load one table with an index while the power goes.
type extendRun struct {
	t        *testing.T
	sim      *simulation
	oid, idx catalog.OID

	mu struct {
		sync.Mutex
		acked map[int64]bool // committed, as far as anybody was told
		doubt map[int64]bool // of commits that were under way
	}
	next   atomic.Int64
	cancel atomic.Int64 // statements that were cancelled
}

// TestExtensionPolicies loads a table with 16 sessions under every policy, publication and lock, cutting
// the power in the middle, and looks whether each acknowledged row is there once, whether the check
// finds fault, and whether VACUUM finds each block again that was added and never used.
func TestExtensionPolicies(t *testing.T) {
	n := 0
	for _, heavyweight := range []bool{false, true} {
		lock := map[bool]string{false: "table", true: "heavyweight"}[heavyweight]
		for policy := range storage.ExtendPolicy(4) {
			for _, self := range []bool{false, true} {
				// Preparation, recheck and leaf latching take turns; the rest is a full product.
				s := storage.ExtendSettings{
					Policy: policy, Blocks: []int{1, 12}[n/2%2], PublishSelf: self, PrepareUnder: n%2 == 1, Recheck: n%4 < 2,
				}
				seed := uint64(n + 1)
				t.Run(fmt.Sprintf("%s/%v/self=%v", lock, policy, self), func(t *testing.T) {
					r := newExtendRun(t, seed, heavyweight, Unsafe{})
					r.all(func(int) storage.ExtendSettings { return s })
				})
				n++
			}
		}
		t.Run(lock+"/mixed", func(t *testing.T) {
			newExtendRun(t, uint64(100+n), heavyweight, Unsafe{}).all(mixedSettings)
		})
	}
}

func mixedSettings(session int) storage.ExtendSettings {
	return storage.ExtendSettings{
		Policy: storage.ExtendPolicy(session % 4), Blocks: 1 + session, PublishSelf: session/4%2 == 0,
		PrepareUnder: session/8 == 0, Recheck: session%3 == 0,
	}
}

// TestExtensionPoliciesNotices: with commits that are not flushed, acknowledged rows must be missed.
func TestExtensionPoliciesNotices(t *testing.T) {
	for seed := range uint64(20) {
		r := newExtendRun(t, seed, false, Unsafe{SkipCommitFlush: true})
		r.load(mixedSettings)
		r.must(r.sim.recover())
		err := r.verify()
		r.sim.abandon()
		if err != nil {
			t.Logf("seed %d: %v", seed, err)
			return
		}
	}
	t.Error("20 seeds did not notice")
}

func newExtendRun(t *testing.T, seed uint64, heavyweight bool, unsafe Unsafe) *extendRun {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	hour := func() time.Duration { return time.Hour }
	sim := &simulation{rng: rng, acked: make(map[string]*simState), fs: faultfs.New(faultfs.Options{})}
	sim.cfg = Config{
		Dir: "data", Unsafe: unsafe, Fatal: func(error) {}, Metrics: simMetrics(),
		Options: Options{
			SharedBuffers: 192, WALBuffers: 64 << 10, WALSegmentSize: 256 << 10, WALFirstSegmentSize: 64 << 10,
			ExtensionEntries: 16, HeavyweightExtension: heavyweight, CatalogCache: 256 << 10, CatalogMemTable: 256 << 10,
			Autovacuum: func() bool { return false }, BgwriterDelay: hour, WALWriterDelay: hour, CheckpointTimeout: hour,
			MaxWALSize: func() int64 { return 16 << 20 }, MinWALSize: func() int64 { return 512 << 10 },
		},
	}
	r := &extendRun{t: t, sim: sim}
	r.mu.acked, r.mu.doubt = make(map[int64]bool), make(map[int64]bool)
	r.must(sim.start())
	r.createTable()
	return r
}

func (r *extendRun) all(settings func(session int) storage.ExtendSettings) {
	r.t.Helper()
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		r.load(settings)
		r.must(r.sim.recover())
		r.must(r.verify())
	}
	r.unusedBlocksAreFound(settings(0))
	r.sim.closeSessions()
	r.must(r.sim.e.Close(bg, CloseFast))
}

func (r *extendRun) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *extendRun) test() *testSession {
	return &testSession{Session: r.sim.sessions[0].Session, t: r.t}
}

func (r *extendRun) createTable() {
	s := r.test()
	s.begin()
	r.oid = s.createPlain("loaded", catalog.KindTable, catalog.Permanent, column{"id", types.Int8}, column{"filler", types.Text})
	r.idx = s.createIndex("loaded_pkey", r.oid, true, 1)
	s.commit()
}

// load inserts until the power goes.
func (r *extendRun) load(settings func(session int) storage.ExtendSettings) {
	r.t.Helper()
	r.sim.fs.CrashAt(int64(100 + r.sim.rng.IntN(400)))
	var wg sync.WaitGroup
	for n := range extensionSessions {
		r.sim.pid++
		s := r.sim.e.NewSession(SessionOptions{PID: r.sim.pid, Database: catalog.DatabasePostgres})
		*s.ExtendSettings() = settings(n)
		s.SetLeafLock(btree.LeafLock(n%2), n%3 != 0, n%4 < 2)
		rng := rand.New(rand.NewPCG(r.sim.rng.Uint64(), uint64(n)))
		wg.Go(func() {
			for !r.sim.crashed() {
				r.transaction(s, rng)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		r.t.Fatal("the sessions do not come to an end")
	}
}

// transaction inserts a few rows, one by one or together, of which some statements are cancelled.
func (r *extendRun) transaction(s *Session, rng *rand.Rand) {
	if err := s.Begin(TxOptions{}); err != nil {
		r.fault(err)
		return
	}
	ctx, stop := bg, context.CancelFunc(func() {})
	if rng.IntN(8) == 0 {
		ctx, stop = context.WithTimeout(bg, time.Duration(rng.IntN(300))*time.Microsecond)
	}
	defer stop()
	ids, err := r.insert(ctx, s, rng)
	if err != nil {
		s.Abort(bg)
		r.fault(err)
		return
	}
	r.mark(r.mu.doubt, ids)
	if err := s.Commit(bg, false); err != nil {
		r.fault(err)
		return
	}
	r.mark(r.mu.acked, ids)
}

func (r *extendRun) mark(set map[int64]bool, ids []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		set[id] = true
	}
}

// fault fails the test unless the error is what was asked for.
func (r *extendRun) fault(err error) {
	switch {
	case r.sim.crashed():
	case pgerr.HasCode(err, pgerr.QueryCanceled), errors.Is(err, context.DeadlineExceeded):
		r.cancel.Add(1)
	default:
		r.t.Errorf("before the crash: %v", err)
	}
}

func (r *extendRun) insert(ctx context.Context, s *Session, rng *rand.Rand) (ids []int64, err error) {
	rel, err := s.Catalog().RelationByOID(r.oid)
	if err != nil {
		return nil, err
	}
	tab, err := s.OpenTable(ctx, rel)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Datum
	for range 1 + rng.IntN(6) {
		id := r.next.Add(1)
		ids = append(ids, id)
		rows = append(rows, []types.Datum{types.Int64Datum(id), types.TextDatum(strings.Repeat("x", 300+rng.IntN(1200)))})
	}
	if rng.IntN(2) == 0 {
		_, err := tab.InsertBatch(ctx, s, rows, nil, InsertOptions{})
		return ids, err
	}
	for _, row := range rows {
		if _, err := tab.Insert(ctx, s, row, InsertOptions{}); err != nil {
			return ids, err
		}
	}
	return ids, nil
}

// verify compares the table with what was acknowledged.
func (r *extendRun) verify() error {
	r.t.Helper()
	s := r.test()
	seen := make(map[int64]int)
	for _, line := range s.rows(s.table(r.oid)) {
		var id int64
		if _, err := fmt.Sscanf(line, "%d|", &id); err != nil {
			r.t.Fatal(err)
		}
		seen[id]++
	}
	for id := range r.mu.acked {
		if seen[id] != 1 {
			return fmt.Errorf("row %d was acknowledged and is there %d times", id, seen[id])
		}
	}
	for id, n := range seen {
		if !r.mu.doubt[id] || n != 1 {
			return fmt.Errorf("row %d is there %d times", id, n)
		}
		r.mu.acked[id] = true
	}
	r.mu.doubt = make(map[int64]bool)
	for id := range r.mu.acked {
		r.mu.doubt[id] = true
	}
	var problem error
	_, err := r.sim.e.Check(bg, func(p Problem) { problem = errors.New("check: " + p.String()) })
	return errorOf(err, problem)
}

// unusedBlocksAreFound adds blocks nobody uses, vacuums, and inserts until the table has to grow: by
// then every block that was free has been used.
func (r *extendRun) unusedBlocksAreFound(settings storage.ExtendSettings) {
	r.t.Helper()
	s := r.test()
	file := s.rel(r.oid).File
	pool := r.sim.e.pool
	index := s.rel(r.idx).File
	for _, f := range []storage.RelFile{file, index} {
		got, err := pool.Extend(bg, f, storage.MainFork, storage.ExtendOptions{Wanted: 1, Class: storage.ClassOther})
		r.must(err)
		got.Buffer.ReleaseExclusive()
	}
	// Rows behind it keep VACUUM from cutting it off.
	r.insertSome(s, 40)
	s.vacuum(r.oid)
	n, err := pool.Files().NBlocks(file, storage.MainFork)
	r.must(err)
	free := 0
	for block := range n {
		if !r.unused(file, block) {
			continue
		}
		free++
		if space, err := pool.FSM().Get(file, block); err != nil || space < 8000 {
			r.t.Errorf("block %d is not used, and the map has %d bytes of it, %v", block, space, err)
		}
	}
	r.indexBlocksAreFound(index)
	*s.ExtendSettings() = settings
	for range int(n) {
		r.insertSome(s, 100)
		if now, _ := pool.Files().NBlocks(file, storage.MainFork); now > n {
			break
		}
	}
	for block := range n {
		if r.unused(file, block) {
			r.t.Errorf("block %d is still not used when the table grows", block)
		}
	}
	r.t.Logf("%d blocks, %d unused after the crashes, %d statements cancelled", n, free, r.cancel.Load())
}

// indexBlocksAreFound requires that the table was vacuumed just now.
func (r *extendRun) indexBlocksAreFound(index storage.RelFile) {
	r.t.Helper()
	pool := r.sim.e.pool
	n, err := pool.Files().NBlocks(index, storage.MainFork)
	r.must(err)
	unused := 0
	for block := range n {
		if !r.page(index, block, storage.Page.IsNew) {
			continue
		}
		unused++
		if space, err := pool.FSM().Get(index, block); err != nil || space == 0 {
			r.t.Errorf("block %d of the index is not used, and the map does not know, %v", block, err)
		}
	}
	if unused == 0 {
		r.t.Error("no block of the index is unused")
	}
}

func (r *extendRun) insertSome(s *testSession, rows int) {
	r.t.Helper()
	s.begin()
	tab := s.table(r.oid)
	for range rows {
		s.insert(tab, []types.Datum{types.Int64Datum(r.next.Add(1)), types.TextDatum(strings.Repeat("y", 1000))})
	}
	s.commit()
}

func (r *extendRun) unused(file storage.RelFile, block storage.BlockNumber) bool {
	return r.page(file, block, func(p storage.Page) bool { return p.IsNew() || p.ItemCount() == 0 })
}

func (r *extendRun) page(file storage.RelFile, block storage.BlockNumber, is func(storage.Page) bool) bool {
	buf, err := r.sim.e.pool.Read(storage.BlockTag{Rel: file, Block: block}, nil)
	r.must(err)
	buf.LockShared(storage.ClassHeap)
	defer buf.ReleaseShared()
	return is(buf.Page())
}
