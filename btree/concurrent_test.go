package btree

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/txn"
)

// Inserters, readers in both directions and a vacuum that empties pages share a
// tree. Entries that are there before a scan begins and are never removed are seen
// by it, in order and once.
func TestConcurrentUse(t *testing.T) {
	for _, size := range []int{6, 1500} {
		t.Run(fmt.Sprintf("size=%d", size), func(t *testing.T) { concurrentUse(t, size) })
	}
}

func concurrentUse(t *testing.T, size int) {
	const writers, readers, perWriter = 4, 2, 1500
	n := perWriter
	if size > 100 {
		n /= 5
	}
	e := newEnv(t, envConfig{buffers: 4096})
	key := func(rng *rand.Rand) []byte {
		return append(bytes.Repeat([]byte{'p'}, size/2), textKey(rng, 26, size/2)...)
	}
	// TIDs below stableTIDs stay. A writer's entry is dead once its flag is set.
	const stableTIDs = 1000
	stable := map[string]bool{}
	s := e.session()
	s.begin()
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range stableTIDs / 10 {
		k, tid := key(rng), tidOf(i)
		stable[text(k, tid)] = true
		if err := s.insert(k, tid); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	dead := make([]atomic.Bool, stableTIDs+writers*n)
	done := make(chan struct{})
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() { e.write(w, n, stableTIDs+w*n, key, dead) })
	}
	for r := range readers {
		reading.Go(func() { e.readAll(r%2 == 0, stable, done) })
	}
	reading.Go(func() {
		for {
			e.vacuum(func(tid TID) bool { return dead[decode(tid)].Load() })
			select {
			case <-done:
				return
			default:
			}
		}
	})
	writing.Wait()
	close(done)
	reading.Wait()
	for i := stableTIDs; i < len(dead); i++ {
		dead[i].Store(true)
	}
	e.vacuum(func(tid TID) bool { return dead[decode(tid)].Load() })
	want := make([]string, 0, len(stable))
	for entry := range stable {
		want = append(want, entry)
	}
	e.checkIs(want)
}

// write inserts n entries and lets most of them die a little later.
func (e *env) write(who, n, first int, key func(*rand.Rand) []byte, dead []atomic.Bool) {
	rng := rand.New(rand.NewPCG(2, uint64(who)))
	s := e.session()
	defer s.lock.Close()
	if who%2 == 0 {
		s.w.LeafLock = LeafLockUpgrade
	}
	s.w.NoFastPath = who%3 == 0
	for i := 0; i < n; {
		s.begin()
		for range 20 {
			if i < n {
				if err := s.insert(key(rng), tidOf(first+i)); err != nil {
					e.t.Error(err)
					s.tx.Abort(nil)
					return
				}
				i++
			}
		}
		if err := s.commit(); err != nil {
			e.t.Error(err)
			return
		}
		for j := max(0, i-200); j < i-100; j++ {
			if rng.IntN(20) > 0 {
				dead[first+j].Store(true)
			}
		}
	}
}

// readAll scans until done and looks for the stable entries.
func (e *env) readAll(backward bool, stable map[string]bool, done chan struct{}) {
	s := e.session()
	defer s.lock.Close()
	c := e.tree.NewCursor()
	for stop := false; !stop; {
		select {
		case <-done:
			stop = true
		default:
		}
		s.tx.Start()
		snap := s.tx.TakeSnapshot()
		if err := scanStable(c, backward, stable); err != nil {
			e.t.Error(err)
			stop = true
		}
		s.tx.ReleaseSnapshot(snap)
		s.tx.Abort(nil)
	}
}

func scanStable(c *Cursor, backward bool, stable map[string]bool) error {
	var last []byte
	seen := 0
	c.Seek(Bounds{}, backward)
	defer c.Close()
	for i := 0; ; i++ {
		key, tid, _, ok, err := c.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		entry := appendTID(bytes.Clone(key), tid)
		if order := bytes.Compare(last, entry); i > 0 && (order >= 0) != backward {
			return fmt.Errorf("backward %v: entry %d %.20q came after %.20q", backward, i,
				bytes.TrimLeft(entry, "p"), bytes.TrimLeft(last, "p"))
		}
		if last = entry; stable[string(entry)] {
			seen++
		}
	}
	if seen != len(stable) {
		return fmt.Errorf("backward %v: saw %d of %d", backward, seen, len(stable))
	}
	return nil
}

// Transactions fight for keys of a unique index, and some roll back: a key never
// has two committed entries.
func TestUniqueUnderConcurrency(t *testing.T) {
	const workers, keys = 8, 60
	e := newEnv(t, envConfig{})
	var owners sync.Map // TID to XID
	var committed [keys]atomic.Int32
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(4, uint64(w)))
			s := e.session()
			defer s.lock.Close()
			s.w.NoFastPath = w%2 == 0
			check := func(existing TID) (Conflict, txn.XID, error) {
				xid, _ := owners.Load(existing)
				if s.tx.IsCurrent(xid.(txn.XID)) {
					return ConflictNone, 0, nil
				}
				switch status, _ := e.txn.Status(xid.(txn.XID)); status {
				case txn.InProgress:
					return ConflictWait, xid.(txn.XID), nil
				case txn.Committed:
					return ConflictDup, 0, nil
				default:
					return []Conflict{ConflictDead, ConflictNone}[w%2], 0, nil
				}
			}
			for i, k := range rng.Perm(keys * 4) {
				k %= keys
				// Long keys: the versions of one spread over several pages.
				key := append(bytes.Repeat([]byte{'u'}, 1000), intKey(k)...)
				tid := tidOf(w*10000 + i)
				if rng.IntN(2) == 0 {
					tid = tidOf(1<<20 - w*10000 - i)
				}
				s.begin()
				owners.Store(tid, s.tx.XID())
				dup, found, err := e.tree.InsertUnique(context.Background(), s.w, key, tid, nil, check)
				switch {
				case err != nil:
					t.Error(err)
					s.tx.Abort(nil)
					return
				case found:
					if committed[k].Load() == 0 {
						// Counted a moment after it becomes visible.
						if status, _ := e.txn.Status(owner(&owners, dup)); status != txn.Committed {
							t.Errorf("key %d: duplicate %v is %v", k, dup, status)
						}
					}
					s.tx.Abort(nil)
				case rng.IntN(3) == 0:
					if err := s.commit(); err != nil {
						t.Error(err)
					}
					if n := committed[k].Add(1); n > 1 {
						t.Errorf("key %d: %d committed", k, n)
					}
				default:
					s.tx.Abort(nil)
				}
			}
		})
	}
	wg.Wait()
	e.check()
	s := e.session()
	for k := range keys {
		key := append(bytes.Repeat([]byte{'u'}, 1000), intKey(k)...)
		_, found, err := e.tree.CheckUnique(context.Background(), s.w, key, func(tid TID) (Conflict, txn.XID, error) {
			if status, _ := e.txn.Status(owner(&owners, tid)); status == txn.Committed {
				return ConflictDup, 0, nil
			}
			return ConflictNone, 0, nil
		})
		if err != nil || found != (committed[k].Load() == 1) {
			t.Errorf("key %d: found %v, committed %d, %v", k, found, committed[k].Load(), err)
		}
	}
}

func owner(owners *sync.Map, tid TID) txn.XID {
	xid, _ := owners.Load(tid)
	return xid.(txn.XID)
}

// Reads and writes fail in the middle of insertions: splits are left unfinished,
// found later and finished.
func TestFailingDisk(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		fs := faultfs.New(faultfs.Options{})
		e := newEnv(t, envConfig{fs: fs, buffers: 24})
		s := e.session()
		size := []int{800, 1600, 2500}[seed%3]
		var want []string
		failed := 0
		for i := range 400 {
			var remove func()
			if rng.IntN(3) == 0 {
				remove = fs.Inject(faultfs.Rule{
					Ops: faultfs.OpRead | faultfs.OpWrite | faultfs.OpAllocate, Path: "base/5/200",
					Skip: rng.IntN(4), Err: syscall.EIO,
				})
			}
			s.begin()
			key, tid := textKey(rng, 3, size), tidOf(i)
			err := s.insert(key, tid)
			if remove != nil {
				remove()
			}
			if err := s.commit(); err != nil {
				t.Fatal(err)
			}
			if err != nil {
				failed++
			}
			in := len(e.collect(e.tree.NewCursor(), Bounds{Lo: key, Hi: key}, rng.IntN(2) == 0)) > 0
			if err == nil && !in {
				t.Fatalf("seed %d: entry %d is not there", seed, i)
			}
			if e.has(key, tid) {
				want = append(want, text(key, tid))
			}
			if i%50 == 49 {
				e.checkIs(want)
			}
		}
		if failed == 0 {
			t.Errorf("seed %d: nothing failed", seed)
		}
	}
}

func (e *env) has(key []byte, tid TID) bool {
	c := e.tree.NewCursor()
	full := appendTID(bytes.Clone(key), tid)
	c.Seek(Bounds{Lo: full, Hi: full}, false)
	_, _, _, ok, err := c.Next()
	if err != nil {
		e.t.Fatal(err)
	}
	return ok
}
