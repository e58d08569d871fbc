package heap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/txn"
)

// crashRun drives sessions against a heap on a file system that loses power. Commits are told
// apart by whether they were acknowledged; after recovery exactly those must be there, but
// one under way at the crash may be, as a whole.
type crashRun struct {
	t    *testing.T
	rng  *rand.Rand
	fs   *faultfs.FS
	conf envConfig
	e    *env

	rows    map[int]int // acknowledged
	inDoubt map[int]int // what the commit under way would have made of it; nil for none
	nextKey int
	nextVer int
	open    []*crashTx
	dead    error // the log refused: the server is down
}

type crashTx struct {
	s      *session
	levels []map[int]int
}

// errLost is what a run that lost something returns, where that is expected.
var errLost = errors.New("lost")

func (r *crashRun) openEnv() error {
	r.dead = nil
	r.conf.fs = r.fs
	r.conf.fatal = func(err error) {
		if r.dead == nil {
			r.dead = err
		}
	}
	r.e = &env{t: r.t, fs: r.fs, conf: r.conf}
	err := r.e.open()
	r.conf.redo, r.conf.nextXID = r.e.redo, r.e.conf.nextXID
	return err
}

func (r *crashRun) begin() {
	r.open = append(r.open, &crashTx{s: r.e.session().begin(), levels: []map[int]int{{}}})
}

func (tx *crashTx) changes() map[int]int {
	all := map[int]int{}
	for _, l := range tx.levels {
		maps.Copy(all, l)
	}
	return all
}

// commit returns an error when the server died of it.
func (r *crashRun) commit(i int) error {
	tx := r.open[i]
	r.open = slices.Delete(r.open, i, i+1)
	after := maps.Clone(r.rows)
	for key, v := range tx.changes() {
		if after[key] = v; v == 0 {
			delete(after, key)
		}
	}
	r.inDoubt = after
	if err := tx.s.tx.Commit(txn.CommitInfo{DB: testDB}); err != nil {
		return err
	}
	if r.dead != nil {
		return r.dead
	}
	r.rows, r.inDoubt = after, nil
	return nil
}

func (r *crashRun) step() error {
	switch n := r.rng.IntN(100); {
	case len(r.open) == 0 || n < 8 && len(r.open) < 5:
		r.begin()
		return nil
	case n < 16:
		return r.commit(r.rng.IntN(len(r.open)))
	case n < 19:
		i := r.rng.IntN(len(r.open))
		r.open[i].s.abort()
		r.open = slices.Delete(r.open, i, i+1)
		return nil
	case n < 21:
		return r.vacuum()
	case n < 23:
		err := r.e.checkpoint()
		if err == nil && r.dead == nil {
			r.conf.redo, r.conf.nextXID = r.e.redo, r.e.conf.nextXID
		}
		return err
	case n < 26:
		_, err := r.e.pool.CleanSome(5)
		return err
	}
	return r.statement(r.open[r.rng.IntN(len(r.open))])
}

func (r *crashRun) vacuum() error {
	s := r.e.session()
	defer s.lock.Close()
	opts := VacuumOptions{Truncate: func(context.Context) (func(), bool) { return func() {}, true }}
	if r.rng.IntN(2) == 0 {
		opts.RemoveIndexEntries = func(context.Context, []TID) error { return nil }
	}
	_, err := r.e.h.Vacuum(context.Background(), s.w, opts)
	return err
}

func (r *crashRun) size() int { return []int{16, 60, 60, 200, 1500}[r.rng.IntN(5)] }

func (r *crashRun) statement(tx *crashTx) (err error) {
	top := tx.levels[len(tx.levels)-1]
	switch r.rng.IntN(12) {
	case 0:
		tx.s.tx.Savepoint(fmt.Sprint(len(tx.levels)))
		tx.levels = append(tx.levels, map[int]int{})
		return nil
	case 1:
		if n := len(tx.levels); n > 1 {
			tx.s.tx.RollbackTo(fmt.Sprint(n - 1))
			tx.levels[n-1] = map[int]int{}
		}
		return nil
	case 2, 3:
		var rows [][]byte
		for range 1 + r.rng.IntN(30) {
			r.nextKey++
			r.nextVer++
			rows = append(rows, row(r.nextKey, r.nextVer, r.size()))
			top[r.nextKey] = r.nextVer
		}
		_, err := tx.s.multiInsert(context.Background(), rows, InsertOptions{})
		tx.s.next()
		return err
	case 4, 5:
		r.nextKey++
		r.nextVer++
		top[r.nextKey] = r.nextVer
		_, err := r.e.h.Insert(context.Background(), tx.s.w, row(r.nextKey, r.nextVer, r.size()), InsertOptions{})
		tx.s.next()
		return err
	}
	tx.s.withSnapshot(func(snap *txn.Snapshot) { err = r.change(tx, top, snap) })
	return err
}

// change updates, deletes or locks some row, whichever is free.
func (r *crashRun) change(tx *crashTx, top map[int]int, snap *txn.Snapshot) error {
	scan := r.e.h.NewScan(snap, ScanOptions{})
	defer scan.Close()
	type found struct {
		key int
		tid TID
	}
	var all []found
	for {
		p, ok, err := scan.NextPage()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		for i := range p.N {
			key, _ := rowKey(string(p.Data(i)))
			all = append(all, found{key, p.TID(i)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	f := all[r.rng.IntN(len(all))]
	ctx := context.Background()
	var res Result
	var err error
	switch r.rng.IntN(8) {
	case 0:
		res, err = r.e.h.LockTuple(ctx, tx.s.w, snap, f.tid, LockOptions{Mode: Update, Wait: WaitSkip}, nil)
	case 1:
		res, err = r.e.h.Delete(ctx, tx.s.w, snap, f.tid, DeleteOptions{Wait: WaitSkip})
		if res.Status == Ok && err == nil {
			top[f.key] = 0
		}
	default:
		r.nextVer++
		_, _, res, err = r.e.h.Update(ctx, tx.s.w, snap, f.tid, row(f.key, r.nextVer, r.size()),
			UpdateOptions{HotAllowed: r.rng.IntN(3) != 0, Mode: NoKeyUpdate, Wait: WaitSkip})
		if res.Status == Ok && err == nil {
			top[f.key] = r.nextVer
		}
	}
	tx.s.next()
	return err
}

// read lists what is there.
func (r *crashRun) read() (map[int]int, error) {
	s := r.e.session().begin()
	defer s.abort()
	got := map[int]int{}
	snap := s.tx.TakeSnapshot()
	scan := r.e.h.NewScan(snap, ScanOptions{})
	for {
		p, ok, err := scan.NextPage()
		if err != nil || !ok {
			return got, err
		}
		for i := range p.N {
			key, v := rowKey(string(p.Data(i)))
			if got[key] != 0 {
				return got, fmt.Errorf("key %d twice: %w", key, errLost)
			}
			got[key] = v
		}
	}
}

func (r *crashRun) verify() error {
	got, err := r.read()
	if err != nil {
		return err
	}
	if !maps.Equal(got, r.rows) && (r.inDoubt == nil || !maps.Equal(got, r.inDoubt)) {
		return fmt.Errorf("%w: %d rows, want %d (in doubt %d)", errLost, len(got), len(r.rows), len(r.inDoubt))
	}
	r.rows, r.inDoubt = got, nil
	problems := 0
	var first error
	err = r.e.h.Check(func(tid TID, problem string) {
		problems++
		first = fmt.Errorf("%w: %d problems, %v: %s", errLost, problems, tid, problem)
	})
	return cmp.Or(first, err)
}

func (r *crashRun) crashed() bool {
	select {
	case <-r.fs.Crashed():
		return true
	default:
		return false
	}
}

func (r *crashRun) close() {
	if r.e.log != nil {
		r.e.log.Close()
	}
}

// round works until the power fails, recovers and verifies.
func (r *crashRun) round() error {
	r.fs.CrashAt(r.fs.Ops() + 1 + r.rng.Int64N(400))
	for range 600 {
		if err := r.step(); err != nil || r.dead != nil {
			break
		}
	}
	r.open = nil
	r.close()
	r.fs = r.fs.Crash(r.rng)
	for tries := 0; ; tries++ {
		if r.rng.IntN(4) == 0 && tries < 3 { // the power fails during recovery, too
			r.fs.CrashAt(1 + r.rng.Int64N(200))
		}
		err := r.openEnv()
		if err == nil && !r.crashed() {
			err = r.verify()
		}
		if err == nil && !r.crashed() {
			return nil
		}
		if !r.crashed() {
			return err
		}
		r.close()
		r.fs = r.fs.Crash(r.rng)
	}
}

func runCrashes(t *testing.T, seed uint64, conf envConfig) (err error) {
	defer func() { // a recovery that meets what must not be may panic
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errLost, p)
		}
	}()
	rng := rand.New(rand.NewPCG(seed, 7))
	r := &crashRun{t: t, rng: rng, rows: map[int]int{}, conf: conf}
	r.conf.buffers = 24
	r.conf.segment = 1 << 20
	r.conf.persistence = 'p'
	r.fs = faultfs.New(faultfs.Options{SectorSize: []int{512, 4096}[rng.IntN(2)]})
	if err := r.openEnv(); err != nil {
		return err
	}
	for range 6 {
		if err := r.round(); err != nil {
			return err
		}
	}
	r.e.log.Close()
	return nil
}

func TestCrashes(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		if err := runCrashes(t, seed, envConfig{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// The variants that leave a rule out must be caught, or the test tests nothing.
func TestCrashesCatchBrokenVariants(t *testing.T) {
	for name, conf := range map[string]envConfig{
		"no page images":         {noImages: true},
		"data before log":        {noLogFlush: true},
		"no flush at the commit": {skipFlush: true},
	} {
		t.Run(name, func(t *testing.T) {
			conf.fatal = func(error) {}
			for seed := range uint64(200) {
				if err := runCrashes(t, seed, conf); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("not caught")
		})
	}
}
