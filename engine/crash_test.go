package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

var (
	crashSeeds = flag.Int("crash.seeds", 8, "how many seeds the crash simulation runs")
	crashSeed  = flag.Uint64("crash.seed", 0, "the one seed to run, 0 for many")
)

// TestCrashSimulation cuts the power at random moments, recovers, sometimes cuts it again
// meanwhile, and compares what is left with what was acknowledged.
func TestCrashSimulation(t *testing.T) {
	if *crashSeed != 0 {
		if err := simulate(t, *crashSeed, Unsafe{}); err != nil {
			t.Fatalf("seed %d: %v", *crashSeed, err)
		}
		return
	}
	start := uint64(time.Now().UnixNano())
	for i := range *crashSeeds {
		seed := start + uint64(i)
		if err := simulate(t, seed, Unsafe{}); err != nil {
			t.Errorf("seed %d (run it with -crash.seed): %v", seed, err)
			if t.Failed() && i > 5 {
				return
			}
		}
	}
}

// TestCrashSimulationNotices: each deliberately broken variant must be found out.
func TestCrashSimulationNotices(t *testing.T) {
	for _, variant := range []struct {
		name   string
		unsafe Unsafe
	}{
		{"commits are not flushed", Unsafe{SkipCommitFlush: true}},
		{"no full-page images", Unsafe{NoFullPageImages: true}},
		{"data before log", Unsafe{NoLogBeforeData: true}},
	} {
		t.Run(variant.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 300; seed++ {
				if err := simulate(t, seed, variant.unsafe); err != nil {
					t.Logf("found by seed %d: %v", seed, err)
					return
				}
			}
			t.Error("300 seeds did not notice")
		})
	}
}

// simMetrics is one set for all servers of the simulation.
var simMetrics = sync.OnceValue(metrics.Discard)

// simTable is a table as the model has it.
type simTable struct {
	oid, idx catalog.OID
	unlogged bool
	rows     map[int64]string
}

func (t *simTable) clone() *simTable {
	c := *t
	c.rows = maps.Clone(t.rows)
	return &c
}

// simState is everything a transaction may change.
type simState struct {
	tables map[string]*simTable
	seq    int64 // highest value of the sequence a commit acknowledged
}

func (s *simState) clone() *simState {
	c := &simState{tables: make(map[string]*simTable, len(s.tables)), seq: s.seq}
	for name, t := range s.tables {
		c.tables[name] = t.clone()
	}
	return c
}

// simSession is a session with its part of the world: the tables whose names begin with
// its letter.
type simSession struct {
	*Session
	name  string
	state *simState // with the open transaction's changes
	saved []*simState
	marks []string
	open  bool
	n     int // serial of names
}

type simulation struct {
	rng      *rand.Rand
	fs       *faultfs.FS
	cfg      Config
	e        *Engine
	sessions []*simSession
	acked    map[string]*simState // what was acknowledged, by session
	doubt    map[string]*simState // commits in flight at the crash
	seq      catalog.OID
	pid      int32
}

// stuckAfter is long enough for anything that still moves after the power went.
const stuckAfter = 250 * time.Millisecond

// unlessStuck runs fn, and gives up on it when the power goes meanwhile and it does not end.
func (sim *simulation) unlessStuck(fn func() error) error {
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-sim.fs.Crashed():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(stuckAfter):
		return faultfs.ErrCrashed
	}
}

// simulate runs one seed and returns how what was promised is broken, or nil. Panics of the engine
// (assertions) count.
func simulate(t testing.TB, seed uint64, unsafe Unsafe) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	rng := rand.New(rand.NewPCG(seed, 77))
	sim := &simulation{rng: rng, acked: make(map[string]*simState), doubt: make(map[string]*simState)}
	sim.fs = faultfs.New(faultfs.Options{SectorSize: 512 << (3 * rng.IntN(2))})
	never := func() time.Duration { return time.Hour }
	sim.cfg = Config{
		Dir: "data", Unsafe: unsafe, Fatal: func(error) {}, Metrics: simMetrics(),
		Options: Options{
			SharedBuffers: 32 + rng.IntN(64), WALBuffers: 64 << 10, WALSegmentSize: 128 << 10, WALFirstSegmentSize: 64 << 10,
			ExtensionEntries: 16, CatalogCache: 256 << 10, CatalogMemTable: 256 << 10, // servers that lost their power are not all closed
			Autovacuum: func() bool { return false }, BgwriterDelay: never, WALWriterDelay: never, CheckpointTimeout: never,
			MaxWALSize: func() int64 { return 8 << 20 }, MinWALSize: func() int64 { return 256 << 10 },
		},
	}
	if unsafe.NoLogBeforeData {
		sim.cfg.Options.SharedBuffers = 24 // only what is evicted in time can betray it
	}
	if err := sim.start(); err != nil {
		return err
	}
	if err := sim.setUp(); err != nil {
		return err
	}
	for range 2 {
		sim.fs.CrashAt(int64(1 + rng.IntN(900)))
		if err := sim.run(); err != nil {
			return err
		}
		if err := sim.recover(); err != nil {
			return err
		}
		if err := sim.verify(); err != nil {
			return err
		}
	}
	sim.closeSessions()
	return sim.e.Close(bg, CloseFast)
}

func (sim *simulation) start() error {
	sim.cfg.FS = faultfs.Hang(sim.fs, catalogDir)
	var e *Engine
	err := sim.unlessStuck(func() (err error) {
		e, err = Open(context.Background(), sim.cfg)
		return err
	})
	if err != nil {
		return err
	}
	sim.e = e
	sim.sessions = nil
	for _, name := range []string{"a", "b"} {
		sim.pid++
		s := &simSession{Session: e.NewSession(SessionOptions{PID: sim.pid, Database: catalog.DatabasePostgres}), name: name}
		sim.sessions = append(sim.sessions, s)
		if sim.acked[name] == nil {
			sim.acked[name] = &simState{tables: make(map[string]*simTable)}
		}
	}
	return nil
}

func (sim *simulation) setUp() (err error) {
	s := &testSession{Session: sim.sessions[0].Session, t: failer{}}
	s.begin()
	sim.seq = s.createSequence("seq", catalog.Sequence{Start: 1, Increment: 1, Max: math.MaxInt64, Min: 1, Cache: 1})
	s.commit()
	return nil
}

// failer turns a test's failure into a panic that simulate returns.
type failer struct{ testing.TB }

type simFailure struct{ error }

func (failer) Helper()           {}
func (failer) Fatal(args ...any) { panic(simFailure{errorIn(args)}) }
func (failer) Fatalf(format string, args ...any) {
	panic(simFailure{fmt.Errorf(format, args...)})
}

func errorIn(args []any) error {
	for _, a := range args {
		if err, ok := a.(error); ok {
			return err
		}
	}
	return errors.New(fmt.Sprint(args...))
}

func (sim *simulation) crashed() bool {
	select {
	case <-sim.fs.Crashed():
		return true
	default:
		return sim.e.Dead()
	}
}

// run does random things until the power goes.
func (sim *simulation) run() error {
	for range 400 {
		if sim.crashed() {
			return nil
		}
		s := sim.sessions[sim.rng.IntN(len(sim.sessions))]
		if err := sim.unlessStuck(func() error { return sim.step(s) }); err != nil {
			if sim.crashed() {
				return nil
			}
			return fmt.Errorf("before any crash: %w", err)
		}
	}
	return nil
}

// step does one thing in a session.
func (sim *simulation) step(s *simSession) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if f, ok := p.(simFailure); ok {
				err = f.error
			} else {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}
	}()
	if !s.open {
		switch sim.rng.IntN(12) {
		case 0:
			return sim.e.Checkpoint(bg)
		case 1:
			return sim.vacuum(s)
		}
		if err := s.Begin(TxOptions{}); err != nil {
			return err
		}
		s.open, s.state, s.saved, s.marks = true, sim.acked[s.name].clone(), nil, nil
		return nil
	}
	return sim.inTransaction(s)
}

func (sim *simulation) inTransaction(s *simSession) error {
	ts := &testSession{Session: s.Session, t: failer{}}
	switch n := sim.rng.IntN(24); {
	case n < 2:
		return sim.end(s, n == 0 || sim.rng.IntN(3) > 0)
	case n == 2:
		s.n++
		name := fmt.Sprint("sp", s.n)
		s.saved, s.marks = append(s.saved, s.state.clone()), append(s.marks, name)
		return s.Savepoint(name)
	case n == 3 && len(s.marks) > 0:
		i := sim.rng.IntN(len(s.marks))
		if err := s.RollbackTo(bg, s.marks[i]); err != nil {
			return err
		}
		s.state = s.saved[i].clone()
		s.saved, s.marks = s.saved[:i+1], s.marks[:i+1]
		return nil
	case n == 4 && len(s.marks) > 0:
		i := sim.rng.IntN(len(s.marks))
		err := s.Release(bg, s.marks[i])
		s.saved, s.marks = s.saved[:i], s.marks[:i]
		return err
	case n == 5 || len(s.state.tables) == 0:
		sim.createTable(s, ts)
		return nil
	case n == 6:
		v, err := s.Nextval(bg, ts.rel(sim.seq))
		s.state.seq = max(s.state.seq, v)
		return err
	}
	names := slices.Sorted(maps.Keys(s.state.tables))
	name := names[sim.rng.IntN(len(names))]
	return sim.change(s, ts, name, s.state.tables[name])
}

func (sim *simulation) createTable(s *simSession, ts *testSession) {
	s.n++
	name := fmt.Sprintf("%s%d_%d", s.name, sim.pid, s.n)
	persistence := catalog.Permanent
	if sim.rng.IntN(6) == 0 {
		persistence = catalog.Unlogged
	}
	t := &simTable{unlogged: persistence == catalog.Unlogged, rows: make(map[int64]string)}
	t.oid = ts.createTable(name, persistence, column{"a", types.Int8}, column{"b", types.Text})
	t.idx = ts.createIndex(name+"_pkey", t.oid, true, 1)
	s.state.tables[name] = t
}

func (sim *simulation) value() string {
	n := sim.rng.IntN(200)
	if sim.rng.IntN(30) == 0 {
		n = 2000 + sim.rng.IntN(6000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(sim.rng.IntN(26))
	}
	return string(b)
}

func (sim *simulation) change(s *simSession, ts *testSession, name string, t *simTable) error {
	tab := ts.table(t.oid)
	switch n := sim.rng.IntN(20); {
	case n == 0:
		ts.ok(s.NewStorage(bg, ts.rel(t.oid)))
		t.rows = make(map[int64]string)
	case n == 1:
		rel := ts.rel(t.oid)
		for _, oid := range []catalog.OID{t.oid, t.idx, rel.Toast, rel.ToastIdx} {
			r, err := s.Catalog().Get(catalog.PgClass, types.OIDDatum(oid))
			ts.ok(err)
			ts.ok(s.Catalog().Delete(catalog.PgClass, r))
		}
		for _, f := range []storage.RelFile{rel.File, rel.ToastFile, rel.Indexes[0].File} {
			s.DropRelationFile(f)
		}
		idx, err := s.Catalog().IndexByOID(rel.ToastIdx)
		if err == nil && idx != nil {
			s.DropRelationFile(idx.File)
		}
		delete(s.state.tables, name)
	case n < 9 || len(t.rows) == 0:
		for range 1 + sim.rng.IntN(60) {
			key := sim.rng.Int64N(1 << 40)
			v := sim.value()
			ts.insert(tab, []types.Datum{types.Int64Datum(key), types.TextDatum(v)})
			t.rows[key] = v
		}
	default:
		keys := slices.Sorted(maps.Keys(t.rows))
		for range 1 + sim.rng.IntN(8) {
			key := keys[sim.rng.IntN(len(keys))]
			if _, ok := t.rows[key]; !ok {
				continue
			}
			if sim.rng.IntN(3) == 0 {
				sim.byKey(ts, tab, t, key, func(tid TID, old []types.Datum) {
					snap := s.TakeSnapshot()
					defer s.ReleaseSnapshot(snap)
					res, err := tab.Delete(bg, s.Session, snap, tid, UpdateOptions{})
					ts.ok(err)
					mustBeOk(res)
				})
				delete(t.rows, key)
				continue
			}
			v := sim.value()
			newKey := key
			if sim.rng.IntN(3) == 0 {
				newKey = sim.rng.Int64N(1 << 40)
			}
			sim.byKey(ts, tab, t, key, func(tid TID, old []types.Datum) {
				snap := s.TakeSnapshot()
				defer s.ReleaseSnapshot(snap)
				row := []types.Datum{types.Int64Datum(newKey), types.TextDatum(v)}
				_, res, err := tab.Update(bg, s.Session, snap, tid, old, row, UpdateOptions{})
				ts.ok(err)
				mustBeOk(res)
			})
			delete(t.rows, key)
			t.rows[newKey] = v
		}
	}
	return nil
}

func mustBeOk(res heap.Result) {
	if res.Status != heap.Ok {
		panic(simFailure{fmt.Errorf("change of a row: %v", res.Status)})
	}
}

// byKey finds a row through the index and calls fn with it.
func (sim *simulation) byKey(ts *testSession, tab *Table, t *simTable, key int64, fn func(tid TID, old []types.Datum)) {
	snap := ts.TakeSnapshot()
	scan, err := tab.NewIndexScan(t.idx, IndexScanOptions{Columns: []int{0, 1}, TIDs: true})
	ts.ok(err)
	ts.ok(scan.Seek(snap, &KeyRange{Eq: ints(key)}))
	batch := types.NewBatch([]types.OID{types.Int8, types.Text}, 1)
	found, err := scan.Next(bg, batch)
	ts.ok(err)
	if !found {
		ts.t.Fatalf("key %d is not found through the index", key)
	}
	tid := scan.TIDs()[0]
	old := make([]types.Datum, 2)
	batch.Row(0, old)
	old[1] = old[1].Clone()
	scan.Close()
	ts.ReleaseSnapshot(snap)
	fn(tid, old)
	ts.Tx().CommandCounterIncrement()
}

// end commits or rolls back.
func (sim *simulation) end(s *simSession, commit bool) error {
	s.open = false
	if !commit {
		s.Abort(bg)
		return nil
	}
	sim.doubt[s.name] = s.state
	if err := s.Commit(bg, false); err != nil {
		return err
	}
	delete(sim.doubt, s.name)
	sim.acked[s.name] = s.state
	return nil
}

func (sim *simulation) vacuum(s *simSession) error {
	tables := sim.acked[s.name].tables
	if len(tables) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(tables))
	ts := &testSession{Session: s.Session, t: failer{}}
	ts.vacuum(tables[names[sim.rng.IntN(len(names))]].oid)
	return nil
}

func (sim *simulation) closeSessions() {
	for _, s := range sim.sessions {
		s.Close()
	}
}

// abandon lets go of the server that lost its power, as far as it can be closed.
func (sim *simulation) abandon() {
	sessions, e := sim.sessions, sim.e
	_ = sim.unlessStuck(func() error {
		defer func() { _ = recover() }() // a session whose last step never came back
		for _, s := range sessions {
			s.Close()
		}
		return e.Close(bg, CloseImmediate)
	})
}

func (sim *simulation) powerCut() {
	old := sim.fs
	sim.fs = old.Crash(sim.rng)
	old.Forget()
}

// recover restarts on what the power cut left, cutting the power again a few times.
func (sim *simulation) recover() error {
	sim.abandon()
	sim.powerCut()
	for range sim.rng.IntN(3) {
		sim.fs.CrashAt(int64(1 + sim.rng.IntN(60)))
		if err := sim.start(); err == nil {
			sim.abandon()
		} else if !errors.Is(err, faultfs.ErrCrashed) {
			return fmt.Errorf("recovery: %w", err)
		}
		sim.powerCut()
	}
	if err := sim.start(); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	return nil
}

// verify compares what is there with what was acknowledged, in-flight commits being free to have
// happened or not, and takes it for the new truth.
func (sim *simulation) verify() error {
	for _, s := range sim.sessions {
		got, err := sim.read(s, sim.acked[s.name], sim.doubt[s.name])
		if err != nil {
			return err
		}
		want := sim.acked[s.name].recovered()
		problem := differs(got, want)
		if d := sim.doubt[s.name]; problem != nil && d != nil {
			if differs(got, d.recovered()) == nil {
				sim.acked[s.name], problem = d, nil
			}
		}
		if problem != nil {
			return problem
		}
		sim.acked[s.name] = sim.acked[s.name].recovered()
		delete(sim.doubt, s.name)
	}
	var first error
	_, err := sim.e.Check(bg, func(p Problem) {
		if first == nil {
			first = errors.New("check: " + p.String())
		}
	})
	if err == nil {
		err = first
	}
	if err != nil {
		return err
	}
	return sim.checkSequence()
}

func (sim *simulation) checkSequence() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("sequence: %v", p)
		}
	}()
	s := &testSession{Session: sim.sessions[0].Session, t: failer{}}
	s.begin()
	v, err := s.Nextval(bg, s.rel(sim.seq))
	s.ok(err)
	s.commit()
	for _, st := range sim.acked {
		if v <= st.seq {
			return fmt.Errorf("the sequence gives out %d again, %d was acknowledged", v, st.seq)
		}
	}
	return nil
}

// recovered is the state after a crash: unlogged tables are empty.
func (s *simState) recovered() *simState {
	c := s.clone()
	for _, t := range c.tables {
		if t.unlogged {
			t.rows = make(map[int64]string)
		}
	}
	return c
}

// read collects the session's tables as the server has them.
func (sim *simulation) read(s *simSession, states ...*simState) (got *simState, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading after recovery: %v", p)
		}
	}()
	ts := &testSession{Session: s.Session, t: failer{}}
	got = &simState{tables: make(map[string]*simTable)}
	ts.begin()
	defer s.Abort(bg)
	for _, st := range states {
		if st == nil {
			continue
		}
		for name, t := range st.tables {
			rel, err := s.Catalog().RelationByOID(t.oid)
			if err != nil {
				return nil, err
			}
			if rel == nil || got.tables[name] != nil {
				continue
			}
			found := &simTable{rows: make(map[int64]string)}
			got.tables[name] = found
			tab := ts.table(t.oid)
			snap := s.TakeSnapshot()
			batch := types.NewBatch([]types.OID{types.Int8, types.Text}, 50)
			scan := tab.NewScan(snap, ScanOptions{Columns: []int{0, 1}})
			for {
				more, err := scan.Next(bg, batch)
				ts.ok(err)
				if !more {
					break
				}
				for i := range batch.N {
					key := batch.Cols[0].Datum(i).Int64()
					if _, twice := found.rows[key]; twice {
						return nil, fmt.Errorf("table %s has key %d twice", name, key)
					}
					found.rows[key] = batch.Cols[1].Datum(i).String()
				}
			}
			scan.Close()
			s.ReleaseSnapshot(snap)
		}
	}
	return got, nil
}

func differs(got, want *simState) error {
	for name, w := range want.tables {
		g := got.tables[name]
		if g == nil {
			return fmt.Errorf("table %s is lost", name)
		}
		var wrong []string
		for key, v := range w.rows {
			if gv, ok := g.rows[key]; !ok {
				wrong = append(wrong, fmt.Sprintf("%d is lost", key))
			} else if gv != v {
				wrong = append(wrong, fmt.Sprintf("%d has another value", key))
			}
		}
		for key := range g.rows {
			if _, ok := w.rows[key]; !ok {
				wrong = append(wrong, fmt.Sprintf("%d should not be there", key))
			}
		}
		if wrong != nil {
			return fmt.Errorf("table %s: %d rows are wrong of %d: %s", name, len(wrong), len(w.rows),
				strings.Join(wrong[:min(len(wrong), 3)], ", "))
		}
	}
	for name := range got.tables {
		if want.tables[name] == nil {
			return fmt.Errorf("table %s should not be there", name)
		}
	}
	return nil
}
