package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage/faultfs"
)

// inserter does what a heap does about space, with rows of 8 bytes and a filler.
type inserter struct {
	e       *env
	state   *ExtendState
	wanted  int
	rowSize int
}

// insert adds one row somewhere.
func (in *inserter) insert(ctx context.Context, row uint64) error {
	data := make([]byte, in.rowSize)
	binary.LittleEndian.PutUint64(data, row)
	fsm := in.e.pool.FSM()
	block := in.state.Target(testRel)
	for {
		if block == InvalidBlock {
			var ok bool
			var err error
			if block, ok = in.state.TakeKept(testRel); !ok {
				if block, ok, err = fsm.Search(testRel, in.rowSize); err != nil {
					return err
				}
			}
			if !ok {
				buf, b, err := in.extend(ctx)
				if err != nil {
					return err
				}
				if buf == nil {
					block = b
					continue
				}
				return in.put(buf, data)
			}
		}
		buf, err := in.e.pool.Read(BlockTag{testRel, MainFork, block}, nil)
		if err != nil {
			return err
		}
		buf.LockExclusive(ClassHeap)
		if buf.Page().IsNew() || buf.Page().FreeSpace() >= in.rowSize {
			return in.put(buf, data)
		}
		free := buf.Page().FreeSpace()
		buf.ReleaseExclusive()
		var ok bool
		if block, ok, err = fsm.RecordAndSearch(testRel, block, free, in.rowSize); err != nil {
			return err
		} else if !ok {
			block = InvalidBlock
		}
	}
}

func (in *inserter) extend(ctx context.Context) (*Buffer, BlockNumber, error) {
	got, err := in.e.pool.Extend(ctx, testRel, MainFork, ExtendOptions{
		State: in.state, Wanted: in.wanted, NeedBytes: in.rowSize, Class: ClassHeap,
	})
	if err == nil && got.Buffer != nil && !got.Buffer.Page().IsNew() {
		return nil, 0, fmt.Errorf("block %d is not new", got.Block)
	}
	return got.Buffer, got.Block, err
}

func (in *inserter) put(buf *Buffer, data []byte) error {
	defer buf.ReleaseExclusive()
	if buf.Page().IsNew() {
		buf.Page().Init(0)
	}
	if buf.Page().AddItem(0, data, AddAnywhere) == 0 {
		return errors.New("no room where there was room")
	}
	buf.MarkDirty()
	in.state.SetTarget(testRel, buf.Block())
	return nil
}

// scan counts the rows of the relation, and its blocks without any.
func (e *env) scan() (rows map[uint64]int, unused []BlockNumber) {
	e.Helper()
	rows = make(map[uint64]int)
	n, err := e.pool.Files().NBlocks(testRel, MainFork)
	e.must(err)
	for block := range n {
		b := e.read(testRel, block)
		b.LockShared(ClassHeap)
		for i := range b.Page().ItemCount() {
			rows[binary.LittleEndian.Uint64(b.Page().Item(uint16(i+1)))]++
		}
		if b.Page().ItemCount() == 0 {
			unused = append(unused, block)
		}
		b.ReleaseShared()
	}
	return rows, unused
}

func allSettings() (all []ExtendSettings) {
	for policy := range ExtendPolicy(4) {
		for bits := range 8 {
			blocks := []int{1, 10}[bits&1]
			all = append(all, ExtendSettings{
				Policy: policy, Blocks: blocks, PublishSelf: bits&1 != 0, PrepareUnder: bits&2 != 0, Recheck: bits&4 != 0,
			})
		}
	}
	return all
}

const extendSessions = 16

// runExtend inserts with 16 sessions and checks that every row is there once, that the file has
// no block nobody counted, and that every block without a row is found again.
func runExtend(t *testing.T, settings func(session int) ExtendSettings, rowsEach int) {
	e := newEnv(t, 160)
	e.must(e.pool.Files().Create(testRel, MainFork))
	lock := newFakeLock()
	var wg sync.WaitGroup
	for s := range extendSessions {
		wg.Go(func() {
			in := &inserter{e: e, rowSize: 1500, wanted: 1 + s%3, state: &ExtendState{
				Locker: &fakeLocker{lock}, Settings: settings(s),
			}}
			for i := range rowsEach {
				if err := in.insert(context.Background(), uint64(s)<<32|uint64(i)); err != nil {
					t.Error(err)
					return
				}
			}
			if err := e.pool.ReleaseExtendState(in.state); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	rows, unused := e.scan()
	for s := range extendSessions {
		for i := range rowsEach {
			if n := rows[uint64(s)<<32|uint64(i)]; n != 1 {
				t.Fatalf("row %d of session %d is there %d times", i, s, n)
			}
		}
	}
	n, _ := e.pool.Files().NBlocks(testRel, MainFork)
	var blocks int64
	e.pool.ExtendStats(func(st ExtendStats) { blocks += st.Blocks })
	if blocks != int64(n) {
		t.Errorf("%d blocks counted, %d there", blocks, n)
	}
	for _, b := range unused {
		free, err := e.pool.FSM().Get(testRel, b)
		if err != nil || free == 0 {
			t.Errorf("block %d has no rows and the map has %d bytes, %v", b, free, err)
		}
	}
	if p := e.pool.extraPin.Load(); p != 0 {
		t.Errorf("%d prepared pins are not given back", p)
	}
}

func TestExtendPolicies(t *testing.T) {
	for _, s := range allSettings() {
		t.Run(fmt.Sprintf("%v/blocks=%d/self=%v/under=%v/recheck=%v", s.Policy, s.Blocks, s.PublishSelf, s.PrepareUnder, s.Recheck),
			func(t *testing.T) {
				runExtend(t, func(int) ExtendSettings { return s }, 60)
			})
	}
	t.Run("mixed", func(t *testing.T) {
		all := allSettings()
		runExtend(t, func(session int) ExtendSettings { return all[session*5%len(all)] }, 200)
	})
}

func TestExtendSizes(t *testing.T) {
	tests := []struct {
		name     string
		settings ExtendSettings
		wanted   int
		need     int

		added, kept int // kept by the session
		published   int // found in the map
		pinsBound   bool
	}{
		{name: "fixed 1", settings: ExtendSettings{}, need: 100, added: 1},
		{name: "fixed 10 to the map", settings: ExtendSettings{Blocks: 10}, need: 100, added: 10, published: 9},
		{name: "fixed 10 to oneself", settings: ExtendSettings{Blocks: 10, PublishSelf: true}, need: 100, added: 10, kept: 9},
		{name: "fixed 800: pins are bounded", settings: ExtendSettings{Blocks: 800, PublishSelf: true}, need: 100, added: 800, kept: 799},
		{name: "waiters, nobody waits", settings: ExtendSettings{Policy: ExtendWaiters}, need: 100, added: 1},
		{name: "bulk, alone: the holder-to-be is none", settings: ExtendSettings{Policy: ExtendBulk}, need: 100, added: 1},
		{name: "bulk, wanted 5", settings: ExtendSettings{Policy: ExtendBulk}, wanted: 5, need: 100, added: 5, kept: 4},
		{name: "bulk, wanted 500: capped", settings: ExtendSettings{Policy: ExtendBulk}, wanted: 500, need: 100, added: 64, kept: 63},
		{name: "bulk, prepared under", settings: ExtendSettings{Policy: ExtendBulk, PrepareUnder: true}, wanted: 5, need: 100, added: 10, kept: 4, published: 5},
		{name: "group, alone", settings: ExtendSettings{Policy: ExtendGroup}, need: 100, added: 1},
		{name: "group, wanted 5", settings: ExtendSettings{Policy: ExtendGroup}, wanted: 5, need: 100, added: 5, kept: 4},
		{name: "an index keeps what the map cannot tell", settings: ExtendSettings{Blocks: 10}, added: 10, kept: 9},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			e := newEnv(t, 512)
			e.must(e.pool.Files().Create(testRel, MainFork))
			st := &ExtendState{Locker: &fakeLocker{newFakeLock()}, Settings: tc.settings}
			got, err := e.pool.Extend(context.Background(), testRel, MainFork, ExtendOptions{State: st, Wanted: tc.wanted, NeedBytes: tc.need})
			e.must(err)
			if got.Block != 0 || !got.Buffer.Page().IsNew() || !got.Buffer.HoldsExclusive() {
				t.Errorf("got %+v", got)
			}
			got.Buffer.ReleaseExclusive()
			n, _ := e.pool.Files().NBlocks(testRel, MainFork)
			if got.Added != tc.added || int(n) != tc.added {
				t.Errorf("added %d, file has %d, want %d", got.Added, n, tc.added)
			}
			if k := st.Kept(testRel); k != tc.kept {
				t.Errorf("kept %d, want %d", k, tc.kept)
			}
			published := 0
			for b := range n {
				if free, _ := e.pool.FSM().Get(testRel, b); free > 0 {
					published++
				}
			}
			if published != tc.published {
				t.Errorf("published %d, want %d", published, tc.published)
			}
			for want := BlockNumber(1); ; want++ {
				b, ok := st.TakeKept(testRel)
				if !ok {
					break
				}
				if b != want {
					t.Errorf("kept block %d, want %d", b, want)
				}
			}
		})
	}
}

// Waiters: whoever waited extends by 20 a holder or waiter, or finds what another published.
func TestExtendAfterWait(t *testing.T) {
	for _, recheck := range []bool{false, true} {
		t.Run(fmt.Sprintf("recheck=%v", recheck), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, 512)
				e.must(e.pool.Files().Create(testRel, MainFork))
				e.must(e.pool.FSM().Record(testRel, 0, 0)) // else its growth waits for the lock, too
				lock := newFakeLock()
				holder := &fakeLocker{lock}
				e.must(holder.Lock(context.Background(), 0, 0))
				var results [3]Extended
				var wg sync.WaitGroup
				for i := range results {
					wg.Go(func() {
						st := &ExtendState{Locker: &fakeLocker{lock}, Settings: ExtendSettings{Policy: ExtendWaiters, Recheck: recheck}}
						var err error
						results[i], err = e.pool.Extend(context.Background(), testRel, MainFork, ExtendOptions{State: st, NeedBytes: 100})
						if err != nil {
							t.Error(err)
						} else if b := results[i].Buffer; b != nil {
							b.ReleaseExclusive()
						}
					})
				}
				synctest.Wait()
				holder.Unlock(0, 0)
				wg.Wait()
				added, found := 0, 0
				for _, r := range results {
					added += r.Added
					if r.Buffer == nil {
						found++
					}
				}
				wantAdded, wantFound := (1+20*3)+(1+20*2)+(1+20*1), 0
				if recheck {
					wantAdded, wantFound = 1+20*3, 2
				}
				if added != wantAdded || found != wantFound {
					t.Errorf("added %d, found %d, want %d, %d", added, found, wantAdded, wantFound)
				}
				if n := e.set.ExtensionFSMHits.Value(); n != int64(wantFound) {
					t.Errorf("%d hits counted", n)
				}
			})
		})
	}
}

func TestExtendFails(t *testing.T) {
	for _, s := range []ExtendSettings{{Blocks: 1}, {Blocks: 100}, {Policy: ExtendBulk}, {Policy: ExtendGroup}} {
		t.Run(fmt.Sprint(s.Policy, s.Blocks), func(t *testing.T) {
			e := newEnv(t, 64)
			e.create(testRel, 1)
			lock := newFakeLock()
			st := &ExtendState{Locker: &fakeLocker{lock}, Settings: s}
			e.fs.Inject(faultfs.Rule{Ops: faultfs.OpWrite | faultfs.OpAllocate, Path: "16384", Err: syscall.ENOSPC})
			_, err := e.pool.Extend(context.Background(), testRel, MainFork, ExtendOptions{State: st, NeedBytes: 100})
			if !pgerr.HasCode(err, pgerr.DiskFull) || pgerr.From(err).Hint != "Check free disk space." {
				t.Errorf("got %v", err)
			}
			if n, _ := e.pool.Files().NBlocks(testRel, MainFork); n != 1 {
				t.Errorf("%d blocks after a failure", n)
			}
			got, err := e.pool.Extend(context.Background(), testRel, MainFork, ExtendOptions{State: st, NeedBytes: 100})
			e.must(err)
			if got.Block != 1 {
				t.Errorf("got block %d", got.Block)
			}
			got.Buffer.ReleaseExclusive()
		})
	}
}

func TestExtendCancelled(t *testing.T) {
	for policy := range ExtendPolicy(4) {
		t.Run(policy.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, 64)
				e.create(testRel, 1)
				lock := newFakeLock()
				holder := &fakeLocker{lock}
				e.must(holder.Lock(context.Background(), 0, 0))
				cause := errors.New("canceling statement due to user request")
				ctx, cancel := context.WithCancelCause(context.Background())
				var wg sync.WaitGroup
				var failed atomic.Int32
				for range 3 {
					wg.Go(func() {
						st := &ExtendState{Locker: &fakeLocker{lock}, Settings: ExtendSettings{Policy: policy}}
						_, err := e.pool.Extend(ctx, testRel, MainFork, ExtendOptions{State: st, NeedBytes: 100})
						if errors.Is(err, cause) {
							failed.Add(1)
						}
					})
				}
				synctest.Wait()
				cancel(cause)
				wg.Wait()
				if failed.Load() != 3 {
					t.Errorf("%d of 3 were cancelled", failed.Load())
				}
				holder.Unlock(0, 0)
			})
		})
	}
}

// groupTest has a leader that sleeps on the lock, and followers behind it.
type groupTest struct {
	*env
	lock   *fakeLock
	holder *fakeLocker
	mu     sync.Mutex
	blocks []BlockNumber
	errs   []error
	wg     sync.WaitGroup
}

func newGroupTest(t *testing.T) *groupTest {
	g := &groupTest{env: newEnv(t, 128), lock: newFakeLock()}
	g.create(testRel, 1)
	g.holder = &fakeLocker{g.lock}
	g.must(g.holder.Lock(context.Background(), 0, 0))
	return g
}

func (g *groupTest) start(ctx context.Context) {
	g.wg.Go(func() {
		st := &ExtendState{Locker: &fakeLocker{g.lock}, Settings: ExtendSettings{Policy: ExtendGroup}}
		got, err := g.pool.Extend(ctx, testRel, MainFork, ExtendOptions{State: st, NeedBytes: 100})
		if got.Buffer != nil {
			got.Buffer.ReleaseExclusive()
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if err != nil {
			g.errs = append(g.errs, err)
		} else {
			g.blocks = append(g.blocks, got.Block)
		}
	})
	synctest.Wait()
}

func (g *groupTest) extends() (extends, blocks int64) {
	g.pool.ExtendStats(func(s ExtendStats) {
		if s.Fork == MainFork {
			extends, blocks = s.Extends, s.Blocks
		}
	})
	return extends, blocks
}

func TestGroupExtend(t *testing.T) {
	bg := context.Background()
	tests := []struct {
		name string
		run  func(t *testing.T, g *groupTest)
	}{
		{"one extension for all", func(t *testing.T, g *groupTest) {
			for range 6 {
				g.start(bg)
			}
			g.holder.Unlock(0, 0)
			g.wg.Wait()
			if len(g.blocks) != 6 || g.lock.sleeps != 1 {
				t.Errorf("blocks %v, %d slept on the lock", g.blocks, g.lock.sleeps)
			}
			if n, b := g.extends(); n != 2 || b != 7 { // one by create
				t.Errorf("%d extensions, %d blocks", n, b)
			}
		}},
		{"a full group", func(t *testing.T, g *groupTest) {
			for range maxFollowers + 3 {
				g.start(bg)
			}
			g.holder.Unlock(0, 0)
			g.wg.Wait()
			if len(g.blocks) != maxFollowers+3 {
				t.Errorf("%d got blocks, errors %v", len(g.blocks), g.errs)
			}
		}},
		{"a follower is cancelled in the queue", func(t *testing.T, g *groupTest) {
			g.start(bg)
			ctx, cancel := context.WithCancel(bg)
			g.start(ctx)
			g.start(bg)
			cancel()
			synctest.Wait()
			g.holder.Unlock(0, 0)
			g.wg.Wait()
			if len(g.blocks) != 2 || len(g.errs) != 1 {
				t.Errorf("blocks %v, errors %v", g.blocks, g.errs)
			}
			if _, b := g.extends(); b != 3 {
				t.Errorf("%d blocks", b)
			}
		}},
		{"a follower is cancelled while the leader extends", func(t *testing.T, g *groupTest) {
			g.start(bg)
			ctx, cancel := context.WithCancel(bg)
			g.start(ctx)
			g.fs.Inject(faultfs.Rule{Ops: faultfs.OpWrite, Path: "16384", Hook: func(faultfs.Op, string) { cancel() }})
			g.holder.Unlock(0, 0)
			g.wg.Wait()
			// The follower may win or see its cancel first; its block is used or free, not lost.
			free := 0
			for b := range BlockNumber(3) {
				if n, _ := g.pool.FSM().Get(testRel, b); n > 0 {
					free++
				}
			}
			if len(g.blocks)+free != 2 {
				t.Errorf("blocks %v, errors %v, %d in the map", g.blocks, g.errs, free)
			}
		}},
		{"the leader is cancelled", func(t *testing.T, g *groupTest) {
			ctx, cancel := context.WithCancel(bg)
			g.start(ctx)
			g.start(bg)
			g.start(bg)
			cancel()
			synctest.Wait()
			g.holder.Unlock(0, 0)
			g.wg.Wait()
			if len(g.blocks) != 2 || len(g.errs) != 1 {
				t.Errorf("blocks %v, errors %v", g.blocks, g.errs)
			}
		}},
		{"the leader fails", func(t *testing.T, g *groupTest) {
			for range 3 {
				g.start(bg)
			}
			g.fs.Inject(faultfs.Rule{Ops: faultfs.OpWrite, Path: "16384", Err: syscall.EIO})
			g.holder.Unlock(0, 0)
			g.wg.Wait()
			if len(g.blocks) != 2 || len(g.errs) != 1 || !pgerr.HasCode(g.errs[0], pgerr.IoError) {
				t.Errorf("blocks %v, errors %v", g.blocks, g.errs)
			}
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroupTest(t)
				tc.run(t, g)
				seen := make(map[BlockNumber]bool)
				for _, b := range g.blocks {
					if b == 0 || seen[b] {
						t.Errorf("blocks %v", g.blocks)
					}
					seen[b] = true
				}
				if p := g.pool.extraPin.Load(); p != 0 {
					t.Errorf("%d prepared pins are not given back", p)
				}
			})
		})
	}
}

// A crash in the middle of extensions loses no row that was flushed. A page holds one row, so
// that none is written again, and torn, later: that is for the log to repair.
func TestExtendCrash(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			e := newEnv(t, 64)
			e.must(e.pool.Files().Create(testRel, MainFork))
			e.flush()
			settings := allSettings()
			lock := newFakeLock()
			durable := uint64(0)
			e.fs.CrashAt(1 + rng.Int64N(400))
			in := &inserter{e: e, rowSize: 5000, wanted: 3, state: &ExtendState{Locker: &fakeLocker{lock}}}
			for row := uint64(0); row < 300; row++ {
				in.state.Settings = settings[rng.IntN(len(settings))]
				if err := in.insert(context.Background(), row); err != nil {
					break
				}
				if rng.IntN(20) != 0 {
					continue
				}
				if _, err := e.pool.FlushAll(context.Background(), FlushOptions{}); err != nil {
					break
				}
				if err := e.pool.SyncPending(context.Background()); err != nil {
					break
				}
				durable = row + 1
			}
			after := newEnvOn(t, e.fs.Crash(rng), 64)
			rows := after.scanWhole()
			for row := range durable {
				if rows[row] != 1 {
					t.Fatalf("row %d of %d is there %d times", row, durable, rows[row])
				}
			}
		})
	}
}

// scanWhole counts the rows of the pages that pass their checksum.
func (e *env) scanWhole() map[uint64]int {
	rows := make(map[uint64]int)
	n, err := e.pool.Files().NBlocks(testRel, MainFork)
	e.must(err)
	for block := range n {
		b, err := e.pool.Read(BlockTag{testRel, MainFork, block}, nil)
		if err != nil {
			continue
		}
		b.LockShared(ClassHeap)
		for i := range b.Page().ItemCount() {
			rows[binary.LittleEndian.Uint64(b.Page().Item(uint16(i+1)))]++
		}
		b.ReleaseShared()
	}
	return rows
}

func BenchmarkExtend(b *testing.B) {
	for policy := range ExtendPolicy(4) {
		b.Run(fmt.Sprintf("policy=%v", policy), func(b *testing.B) {
			pool, err := NewPool(PoolConfig{Buffers: 1024, FS: OSFS{}, Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer pool.Close()
			if err := pool.Files().Create(testRel, MainFork); err != nil {
				b.Fatal(err)
			}
			lock := newFakeLock()
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				st := &ExtendState{Locker: &fakeLocker{lock}, Settings: ExtendSettings{Policy: policy, Blocks: 1}}
				for pb.Next() {
					if _, ok := st.TakeKept(testRel); ok {
						continue
					}
					if _, ok, err := pool.FSM().TakeFreePage(testRel); ok || err != nil {
						continue
					}
					got, err := pool.Extend(context.Background(), testRel, MainFork, ExtendOptions{State: st, NeedBytes: 100})
					if err != nil {
						b.Error(err)
						return
					}
					if got.Buffer != nil {
						got.Buffer.ReleaseExclusive()
					}
				}
			})
		})
	}
}
