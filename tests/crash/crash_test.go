package crash

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/storage/faultfs"
)

var (
	seeds     = flag.Int("crash.seeds", 1000, "how many seeds to run")
	oneSeed   = flag.Uint64("crash.seed", 0, "the one seed to run, 0 for many")
	firstSeed = flag.Uint64("crash.first", 0, "the first of a batch of seeds, run in this process")
	parallel  = flag.Int("crash.parallel", 2, "how many processes, of two seeds at a time each")
)

// batch is how many seeds a process runs: servers that lost their power are not all closed, so their
// memory stays.
const batch = 50

// TestCrash is the simulation over many seeds, in batches that have processes of their own.
func TestCrash(t *testing.T) {
	switch {
	case *oneSeed != 0:
		runBatch(t, *oneSeed, 1)
		return
	case *firstSeed != 0:
		runBatch(t, *firstSeed, *seeds)
		return
	}
	start := uint64(time.Now().UnixNano())
	t.Logf("%d seeds from %d", *seeds, start)
	began := time.Now()
	err := inParallel(*parallel, (*seeds+batch-1)/batch, func(i int) error {
		n := min(batch, *seeds-i*batch)
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrash$", "-test.v",
			fmt.Sprintf("-crash.first=%d", start+uint64(i*batch)), fmt.Sprintf("-crash.seeds=%d", n))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	t.Logf("%v", time.Since(began).Round(time.Second))
	if err != nil {
		t.Fatal(err)
	}
}

// runBatch runs n seeds from start here.
func runBatch(t *testing.T, start uint64, n int) {
	t.Helper()
	total := make(map[string]int)
	var mu sync.Mutex
	err := inParallel(2, n, func(i int) error {
		seed := start + uint64(i)
		counted, err := simulate(seed, engine.Unsafe{})
		mu.Lock()
		defer mu.Unlock()
		for what, n := range counted {
			total[what] += n
		}
		if err != nil {
			return fmt.Errorf("seed %d (run it with -crash.seed): %w", seed, err)
		}
		return nil
	})
	t.Logf("%d seeds: %v", n, total)
	if err != nil {
		t.Fatal(err)
	}
}

// TestBrokenVariants: the simulation must find out each deliberately broken server.
func TestBrokenVariants(t *testing.T) {
	const enough = 500
	for name, unsafe := range map[string]engine.Unsafe{
		"commits are not flushed": {SkipCommitFlush: true},
		"no full-page images":     {NoFullPageImages: true},
		"data before log":         {NoLogBeforeData: true},
	} {
		t.Run(name, func(t *testing.T) {
			err := inParallel(2, enough, func(i int) error {
				if _, err := simulate(uint64(i+1), unsafe); err != nil {
					return fmt.Errorf("seed %d: %w", i+1, err)
				}
				return nil
			})
			if err == nil {
				t.Fatalf("%d seeds did not notice", enough)
			}
			t.Log("found by ", err)
		})
	}
}

// inParallel calls fn for 0 to n-1, some at a time, until one fails.
func inParallel(atOnce, n int, fn func(i int) error) error {
	var next, failed atomic.Int64
	errs := make(chan error, atOnce)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for failed.Load() == 0 {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := fn(i); err != nil {
					failed.Add(1)
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// simulation is one seed's run.
type simulation struct {
	rng    *rand.Rand
	cfg    engine.Config
	server *server
	actors []*actor
}

var names = []string{"a", "b"}

// simulate runs one seed and returns how what was promised is broken, or nil.
func simulate(seed uint64, unsafe engine.Unsafe) (counted map[string]int, err error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	sim := &simulation{rng: rng, cfg: config(rng, unsafe)}
	counted = make(map[string]int)
	for _, name := range names {
		state := newState()
		sim.actors = append(sim.actors, &actor{client: &client{name: name}, rng: rng, acked: state, now: state, counted: counted})
	}
	if err := sim.setUp(faultfs.New(faultfs.Options{SectorSize: 512 << (3 * rng.IntN(2))})); err != nil {
		return counted, err
	}
	for range 2 {
		sim.server.fs.CrashAt(int64(1 + rng.IntN(1000)))
		if err := sim.run(); err != nil {
			return counted, err
		}
		if err := sim.recover(); err != nil {
			return counted, err
		}
		if err := sim.verify(); err != nil {
			return counted, err
		}
	}
	return counted, sim.server.close()
}

func (sim *simulation) open(fs *faultfs.FS) (err error) {
	sim.server, err = open(fs, sim.cfg, names...)
	if err != nil {
		return err
	}
	for i, a := range sim.actors {
		a.client, a.open, a.now = sim.server.clients[i], false, a.acked
	}
	return nil
}

func (sim *simulation) setUp(fs *faultfs.FS) error {
	if err := sim.open(fs); err != nil {
		return err
	}
	a := sim.actors[0]
	for _, text := range []string{
		"CREATE TABLE shared (k int, who text, v text, PRIMARY KEY (who, k))", "CREATE SEQUENCE seq_a", "CREATE SEQUENCE seq_b",
	} {
		if err := a.query("%s", text); err != nil {
			return err
		}
	}
	for _, a := range sim.actors {
		if err := a.everything(); err != nil {
			return fmt.Errorf("before any crash: %w", err)
		}
	}
	return nil
}

// run does random things until the power goes.
func (sim *simulation) run() error {
	for range 400 {
		if sim.server.crashed() {
			return nil
		}
		a := sim.actors[sim.rng.IntN(len(sim.actors))]
		if err := a.step(); err != nil {
			if sim.server.crashed() {
				return nil
			}
			return fmt.Errorf("before any crash: %w", err)
		}
	}
	return nil
}

// recover restarts on what the power cut left, cutting the power again a few times.
func (sim *simulation) recover() error {
	fs := sim.cut()
	for range sim.rng.IntN(3) {
		fs.CrashAt(int64(1 + sim.rng.IntN(80)))
		s, err := open(fs, sim.cfg)
		if err != nil && !errors.Is(err, faultfs.ErrCrashed) && !s.crashed() {
			return fmt.Errorf("recovery: %w", err)
		}
		sim.server = s
		fs = sim.cut()
	}
	if err := sim.open(fs); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	return nil
}

func (sim *simulation) cut() *faultfs.FS {
	sim.server.abandon()
	return sim.server.powerCut(sim.rng)
}
