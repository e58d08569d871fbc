package btree

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
)

// entryState is what a crash may make of an entry.
type entryState struct {
	durable bool // in the tree at the last commit
	now     bool // in the tree now
}

// crashRun is a tree that loses its power again and again.
type crashRun struct {
	t       *testing.T
	rng     *rand.Rand
	conf    envConfig
	e       *env
	s       *session
	entries map[string]*entryState
	tids    int
	size    int
}

// crashSeed runs one seed and returns what was wrong after some recovery.
func crashSeed(t *testing.T, seed uint64, conf envConfig) (err error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	conf.fs = faultfs.New(faultfs.Options{})
	conf.buffers = 24 + rng.IntN(40)
	conf.payload = rng.IntN(2) == 0
	conf.fatal = func(error) {}
	r := &crashRun{
		t: t, rng: rng, conf: conf, entries: map[string]*entryState{},
		size: []int{8, 200, 1200, 2500}[rng.IntN(4)],
	}
	r.e = &env{t: t, conf: conf}
	if err := r.e.open(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		conf.fs.CrashAt(1 + rng.Int64N(600))
		r.work()
		if err := r.restart(); err != nil {
			return err
		}
		if err := r.verify(); err != nil {
			return err
		}
		conf.fs = r.e.conf.fs
	}
	_ = r.e.log.Close()
	return r.e.pool.Close()
}

// work changes the tree until the power goes.
func (r *crashRun) work() {
	r.s = r.e.session()
	if r.rng.IntN(2) == 0 {
		r.s.w.LeafLock = LeafLockUpgrade
	}
	for range 300 {
		if r.step() != nil {
			return
		}
	}
}

func (r *crashRun) step() error {
	switch n := r.rng.IntN(20); {
	case n == 0:
		return r.e.checkpoint()
	case n < 4:
		return r.vacuum()
	default:
		r.s.begin()
		for range 1 + r.rng.IntN(12) {
			if err := r.insert(); err != nil {
				return err
			}
		}
		if err := r.s.commit(); err != nil {
			return err
		}
		for _, state := range r.entries {
			state.durable = state.now
		}
		return nil
	}
}

func (r *crashRun) insert() error {
	r.tids++
	key, tid := textKey(r.rng, 3, r.size), tidOf(r.tids)
	// Entered first: a failed insertion may have gone in.
	r.entries[text(key, tid)] = &entryState{now: true}
	return r.s.insert(key, tid)
}

// vacuum removes a contiguous range, so that pages become empty.
func (r *crashRun) vacuum() error {
	lo, hi := textKey(r.rng, 3, 3), textKey(r.rng, 3, 3)
	dead := map[TID]bool{}
	for entry, state := range r.entries {
		if key, tid := splitEntry([]byte(entry)); bytes.Compare(key, lo) >= 0 && bytes.Compare(key, hi) < 0 {
			dead[tid], state.now = true, false
		}
	}
	_, err := r.e.tree.VacuumScan(r.t.Context(), r.s.w, func(tid TID) bool { return dead[tid] })
	return err
}

// restart cuts the power and recovers.
func (r *crashRun) restart() error {
	_ = r.e.log.Close()
	_ = r.e.pool.Close()
	conf := r.e.conf
	conf.fs = conf.fs.Crash(r.rng)
	conf.redo = r.e.redo
	r.e = &env{t: r.t, conf: conf}
	return r.e.open()
}

// verify checks the tree and what is in it; afterwards that is what is durable.
func (r *crashRun) verify() error {
	var problems []error
	found := map[string]bool{}
	err := r.e.tree.Check(func(key []byte, tid TID, payload []byte) error {
		found[text(key, tid)] = true
		if r.conf.payload && !bytes.Equal(payload, payloadOf(key, tid)) {
			return fmt.Errorf("payload %q", payload)
		}
		return nil
	}, func(block storage.BlockNumber, problem string) {
		problems = append(problems, fmt.Errorf("block %d: %s", block, problem))
	})
	if err = errors.Join(append(problems, err)...); err != nil {
		return err
	}
	for entry := range found {
		if r.entries[entry] == nil {
			return fmt.Errorf("entry %.40q was never inserted", entry)
		}
	}
	for entry, state := range r.entries {
		if state.durable == state.now && found[entry] != state.now {
			return fmt.Errorf("entry %.40q: found %v, want %v", entry, found[entry], state.now)
		}
		state.now = found[entry]
		state.durable = found[entry]
		if !state.now {
			delete(r.entries, entry)
		}
	}
	return nil
}

func TestCrash(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		if err := crashSeed(t, seed, envConfig{persistence: 'p'}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// The crash test must notice what would lose data.
func TestCrashNoticesBrokenServers(t *testing.T) {
	for name, conf := range map[string]envConfig{
		"without page images":     {persistence: 'p', noImages: true},
		"without log before data": {persistence: 'p', noLogFlush: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(200) {
				if crashSeed(t, seed, conf) != nil {
					t.Logf("noticed with seed %d", seed)
					return
				}
			}
			t.Error("not noticed")
		})
	}
}
