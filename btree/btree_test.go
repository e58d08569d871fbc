package btree

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/minipg/minipg/pgerr"
)

func TestEmptyTree(t *testing.T) {
	e := newEnv(t, envConfig{})
	e.checkIs(nil)
	c := e.tree.NewCursor()
	for _, backward := range []bool{false, true} {
		if got := e.collect(c, Bounds{}, backward); got != nil {
			t.Errorf("got %q", got)
		}
	}
	if stats := e.vacuum(nil); stats.Pages != 2 || stats.Entries != 0 {
		t.Errorf("got %+v", stats)
	}
}

// Random operations against a sorted list of entries.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		conf := envConfig{
			payload:    rapid.Bool().Draw(rt, "payload"),
			fillFactor: rapid.IntRange(10, 100).Draw(rt, "fillfactor"),
		}
		e := newEnv(t, conf)
		m := &model{
			e: e, s: e.session(), c: e.tree.NewCursor(), live: map[string]bool{},
			letters: rapid.IntRange(1, 26).Draw(rt, "letters"),
			size:    rapid.SampledFrom([]int{1, 10, 300, 1200, 2600}).Draw(rt, "size"),
		}
		m.s.w.NoFastPath = rapid.Bool().Draw(rt, "nofastpath")
		if rapid.Bool().Draw(rt, "upgrade") {
			m.s.w.LeafLock = LeafLockUpgrade
		}
		m.s.begin()
		rt.Repeat(map[string]func(*rapid.T){
			"insert": m.insert, "vacuum": m.vacuum, "scan": m.scan, "kill": m.kill,
			"": func(*rapid.T) {},
		})
		e.checkIs(m.entries())
	})
}

type model struct {
	e             *env
	s             *session
	c             *Cursor
	live          map[string]bool
	letters, size int
	tids          int
}

func (m *model) entries() []string {
	all := make([]string, 0, len(m.live))
	for k := range m.live {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

func (m *model) rng(rt *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
}

func (m *model) insert(rt *rapid.T) {
	rng := m.rng(rt)
	for range rng.IntN(40) {
		key := textKey(rng, m.letters, m.size)
		m.tids++
		tid := tidOf(m.tids)
		if rng.IntN(2) == 0 {
			tid = tidOf(1<<20 - m.tids)
		}
		if err := m.s.insert(key, tid); err != nil {
			rt.Fatal(err)
		}
		m.live[text(key, tid)] = true
	}
}

func (m *model) vacuum(rt *rapid.T) {
	rng := m.rng(rt)
	dead, from, size := map[TID]bool{}, m.entries(), rng.IntN(60)
	if len(from) == 0 {
		return
	}
	start := rng.IntN(len(from))
	for _, entry := range from[start:min(start+size, len(from))] {
		if rng.IntN(8) > 0 {
			_, tid := splitEntry([]byte(entry))
			dead[tid] = true
			delete(m.live, entry)
		}
	}
	m.e.vacuum(func(tid TID) bool { return dead[tid] })
}

func (m *model) scan(rt *rapid.T) {
	rng := m.rng(rt)
	var b Bounds
	bound := func() []byte {
		key := textKey(rng, m.letters, m.size)
		if all := m.entries(); len(all) > 0 && rng.IntN(2) == 0 {
			key, _ = splitEntry([]byte(all[rng.IntN(len(all))]))
		}
		return key[:1+rng.IntN(len(key))]
	}
	if rng.IntN(3) > 0 {
		b.Lo, b.LoExclusive = bound(), rng.IntN(2) == 0
	}
	if rng.IntN(3) > 0 {
		b.Hi, b.HiExclusive = bound(), rng.IntN(2) == 0
	}
	backward := rng.IntN(2) == 0
	var want []string
	for _, entry := range m.entries() {
		if inBounds([]byte(entry), &b) {
			want = append(want, entry)
		}
	}
	if backward {
		slices.Reverse(want)
	}
	if got := m.e.collect(m.c, b, backward); !slices.Equal(got, want) {
		rt.Fatalf("%+v backward %v: got %d entries, want %d%s", b, backward, len(got), len(want),
			firstDifference(got, want))
	}
}

func inBounds(entry []byte, b *Bounds) bool {
	if b.Lo != nil {
		if c := bytes.Compare(entry, b.Lo); c < 0 || b.LoExclusive && bytes.HasPrefix(entry, b.Lo) {
			return false
		}
	}
	if b.Hi != nil && bytes.Compare(entry, b.Hi) >= 0 {
		return !b.HiExclusive && bytes.HasPrefix(entry, b.Hi)
	}
	return true
}

// kill marks some entries of a range dead.
func (m *model) kill(rt *rapid.T) {
	rng := m.rng(rt)
	m.c.Seek(Bounds{}, rng.IntN(2) == 0)
	for {
		key, tid, _, ok, err := m.c.Next()
		if err != nil {
			rt.Fatal(err)
		}
		if !ok {
			break
		}
		if rng.IntN(6) == 0 {
			delete(m.live, text(key, tid))
			m.c.Kill()
		}
	}
	m.c.Close()
}

func TestItemTooLarge(t *testing.T) {
	e := newEnv(t, envConfig{})
	s := e.session()
	s.begin()
	for size := MaxItemSize - tidSize - 3; size <= MaxItemSize-tidSize+3; size++ {
		err := s.insert(append(bytes.Repeat([]byte{'x'}, size-1), 0), tidOf(size))
		if size <= MaxItemSize-tidSize {
			if err != nil {
				t.Errorf("%d: %v", size, err)
			}
			continue
		}
		want := fmt.Sprintf("index row size %d exceeds btree version 4 maximum 2704 for index \"t_pkey\"", size+tidSize)
		if got := pgerr.From(err); got == nil || got.Message != want || got.Code != pgerr.ProgramLimitExceeded {
			t.Errorf("%d: got %v", size, err)
		}
	}
	e.check()
}

// Ascending keys fill their pages, also where they go in between others.
func TestFill(t *testing.T) {
	const n = 20000
	perm := rand.New(rand.NewPCG(5, 6)).Perm(n)
	cases := []struct {
		name string
		key  func(i int) []byte
		max  float64 // bytes an entry, at 15 without waste
	}{
		{"ascending", func(i int) []byte { return intKey(i) }, 17.5},
		{"duplicates", func(int) []byte { return intKey(7) }, 17.5},
		{"random", func(i int) []byte { return intKey(perm[i]) }, 26},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, envConfig{persistence: 'u'})
			s := e.session()
			s.begin()
			if err := s.insert(intKey(1<<30), tidOf(1<<30)); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if err := s.insert(c.key(i), tidOf(i)); err != nil {
					t.Fatal(err)
				}
			}
			if got := len(e.check()); got != n+1 {
				t.Errorf("%d entries", got)
			}
			stats, err := e.tree.Stats()
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(stats.Pages) * 8192 / n; got > c.max {
				t.Errorf("%.1f bytes an entry on %d pages", got, stats.Pages)
			}
		})
	}
}

func TestBulkBuild(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{4, 40, 400, 2600} {
		for _, n := range []int{0, 1, 2, 3, 10, 1000, 20000} {
			if size > 100 && n > 1000 {
				continue
			}
			t.Run(fmt.Sprintf("size=%d/n=%d", size, n), func(t *testing.T) {
				payload := n%2 == 0
				e := newEnv(t, envConfig{payload: payload, buffers: 2048})
				entries := map[string]bool{}
				for i := range n {
					entries[text(textKey(rng, 26, size), tidOf(i))] = true
				}
				want := (&model{live: entries}).entries()
				e.rebuild(t, want)
				e.checkIs(want)
				c := e.tree.NewCursor()
				if got := e.collect(c, Bounds{}, true); len(got) != len(want) {
					t.Errorf("backward: %d of %d", len(got), len(want))
				}
				s := e.session()
				s.begin()
				for i := range 200 {
					key, tid := textKey(rng, 26, size), tidOf(1<<20+i)
					if err := s.insert(key, tid); err != nil {
						t.Fatal(err)
					}
					want = append(want, text(key, tid))
				}
				e.checkIs(want)
			})
		}
	}
}

// rebuild replaces the tree by a bulk-built one.
func (e *env) rebuild(t *testing.T, entries []string) {
	t.Helper()
	if err := e.pool.TruncateRelation(testRel, 0, 0); err != nil {
		t.Fatal(err)
	}
	i := 0
	tree, err := BulkBuild(context.Background(), e.deps(), e.config(), e.session().w,
		func() (Entry, bool, error) {
			if i == len(entries) {
				return Entry{}, false, nil
			}
			key, tid := splitEntry([]byte(entries[i]))
			i++
			entry := Entry{Key: key, TID: tid}
			if e.conf.payload {
				entry.Payload = payloadOf(key, tid)
			}
			return entry, true, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	e.tree = tree
}

// A queue: what comes at one end and goes at the other must not grow the file.
func TestPagesAreRecycled(t *testing.T) {
	for _, descending := range []bool{false, true} {
		e := newEnv(t, envConfig{})
		s := e.session()
		const batch, rounds = 3000, 30
		var most int64
		for round := range rounds {
			s.begin()
			for i := range batch {
				n := round*batch + i
				if descending {
					n = rounds*batch - n
				}
				if err := s.insert(intKey(n), tidOf(round*batch+i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.commit(); err != nil {
				t.Fatal(err)
			}
			low := tidOf((round - 1) * batch)
			stats := e.vacuum(func(tid TID) bool { return decode(tid) < decode(low) })
			if stats.Entries > 2*batch {
				t.Fatalf("round %d: %+v", round, stats)
			}
			if got := len(e.check()); int64(got) != stats.Entries {
				t.Fatalf("round %d: %d entries, %+v", round, got, stats)
			}
			shape, err := e.tree.Stats()
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, int64(shape.Pages))
		}
		if most > 70 {
			t.Errorf("descending %v: %d pages for %d entries", descending, most, 2*batch)
		}
	}
}

func decode(tid TID) int { return int(tid.Block)*100 + int(tid.Offset) - 1 }

// Whole branches go when a deep tree is emptied, and it can be filled again.
func TestEmptyingADeepTree(t *testing.T) {
	e := newEnv(t, envConfig{buffers: 4096})
	s := e.session()
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 3 {
		s.begin()
		for i := range 600 {
			key := append(bytes.Repeat([]byte{'k'}, 1500), textKey(rng, 26, 900)...)
			if err := s.insert(key, tidOf(round*1000+i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.commit(); err != nil {
			t.Fatal(err)
		}
		shape, err := e.tree.Stats()
		if err != nil || shape.Levels < 4 {
			t.Fatalf("%+v, %v", shape, err)
		}
		stats := e.vacuum(func(TID) bool { return true })
		if stats.Entries != 0 || stats.Removed != 600 {
			t.Errorf("%+v", stats)
		}
		e.checkIs(nil)
		if stats.Pages > 30 {
			t.Errorf("%d pages left: %+v", stats.Pages, stats)
		}
		e.passXIDs()
		e.vacuum(nil)
	}
}

func TestKillIsIgnoredAfterRemoval(t *testing.T) {
	e := newEnv(t, envConfig{})
	s := e.session()
	s.begin()
	for i := range 3 {
		if err := s.insert(intKey(i), tidOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	c := e.tree.NewCursor()
	c.Seek(Bounds{Lo: intKey(1)}, false)
	if _, tid, _, _, err := c.Next(); err != nil || tid != tidOf(1) {
		t.Fatal(tid, err)
	}
	c.Kill()
	e.vacuum(func(tid TID) bool { return tid == tidOf(1) })
	if err := s.insert(intKey(1), tidOf(1)); err != nil { // the TID's next row
		t.Fatal(err)
	}
	c.Close()
	if got := e.check(); len(got) != 3 {
		t.Errorf("%d entries", len(got))
	}
}
