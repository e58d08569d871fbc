package storage

import (
	"os"
	"testing"

	"pgregory.net/rapid"
)

func TestFSMAddress(t *testing.T) {
	// From fsm_logical_to_physical: root, its first child, then leaves depth first.
	tests := []struct {
		a    fsmAddress
		want BlockNumber
	}{
		{fsmAddress{2, 0}, 0},
		{fsmAddress{1, 0}, 1},
		{fsmAddress{0, 0}, 2},
		{fsmAddress{0, 1}, 3},
		{fsmAddress{0, fsmSlots - 1}, fsmSlots + 1},
		{fsmAddress{1, 1}, fsmSlots + 2},
		{fsmAddress{0, fsmSlots}, fsmSlots + 3},
	}
	for _, tc := range tests {
		if got := tc.a.physical(); got != tc.want {
			t.Errorf("%v is block %d, want %d", tc.a, got, tc.want)
		}
	}
	if fsmSlots != 4069 {
		t.Errorf("%d slots, PostgreSQL has 4069", fsmSlots)
	}
	if a, slot := fsmLocate(1<<32 - 2); a.number >= fsmSlots*fsmSlots || slot >= fsmSlots {
		t.Errorf("three levels do not reach the last block: %v", a)
	}
}

func TestSpaceCategories(t *testing.T) {
	for free := range PageSize {
		if got := categoryToSpace(spaceToCategory(free)); got > free {
			t.Fatalf("%d bytes free are promised as %d", free, got)
		}
	}
	for need := 1; need <= maxFSMRequest; need++ {
		if got := categoryToSpace(needToCategory(need)); got < need {
			t.Fatalf("a need of %d is searched as %d", need, got)
		}
	}
}

func TestFSMPageModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Page(make([]byte, PageSize))
		p.initMap()
		model := make(map[int]uint8)
		slots := []int{0, 1, 2, 3, 100, 2047, 2048, fsmSlots - 2, fsmSlots - 1}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				slot := rapid.SampledFrom(slots).Draw(t, "slot")
				c := rapid.Byte().Draw(t, "category")
				changed := fsmSet(p, slot, c)
				if changed != (model[slot] != c) {
					t.Fatalf("changed %v", changed)
				}
				model[slot] = c
			},
			"search": func(t *rapid.T) {
				c := rapid.ByteMin(1).Draw(t, "category")
				start := rapid.IntRange(-1, fsmSlots+1).Draw(t, "start")
				slot, broken := fsmSearch(p, c, start)
				if broken {
					t.Fatal("broken")
				}
				if slot >= 0 && model[slot] < c {
					t.Fatalf("slot %d has %d, want %d", slot, model[slot], c)
				}
				for s, has := range model {
					if slot < 0 && has >= c {
						t.Fatalf("slot %d has %d and was not found", s, has)
					}
				}
			},
			"truncate": func(t *rapid.T) {
				n := rapid.IntRange(0, fsmSlots).Draw(t, "n")
				fsmTruncatePage(p, n)
				for s := range model {
					if s >= n {
						delete(model, s)
					}
				}
			},
			"tear": func(t *rapid.T) {
				p[fsmNodes+rapid.IntRange(0, fsmInner-1).Draw(t, "node")] = rapid.Byte().Draw(t, "b")
				fsmRebuild(p)
			},
			"": func(t *rapid.T) {
				for s, c := range model {
					if fsmGet(p, s) != c {
						t.Fatalf("slot %d: %d, want %d", s, fsmGet(p, s), c)
					}
				}
				if fsmRebuild(p) {
					t.Fatal("an inner node was wrong")
				}
			},
		})
	})
}

// sparse makes a relation of n blocks without a buffer each.
func (e *env) sparse(rel RelFile, n BlockNumber) {
	e.Helper()
	e.must(e.pool.Files().EnsureBlocks(rel, MainFork, n))
}

func TestFSMModel(t *testing.T) {
	skipUnderRace(t)
	const blocks = 3*fsmSlots + 10
	base := t
	rapid.Check(t, func(t *rapid.T) {
		e := newEnv(base, 32)
		e.sparse(testRel, blocks)
		fsm := e.pool.FSM()
		model := make(map[BlockNumber]int)
		size := BlockNumber(blocks)
		sample := []BlockNumber{0, 1, 7, fsmSlots - 1, fsmSlots, fsmSlots + 1, 2*fsmSlots + 5, blocks - 1}
		block := func(t *rapid.T) BlockNumber { return rapid.SampledFrom(sample).Draw(t, "block") % size }
		free := func(t *rapid.T) int { return rapid.IntRange(0, emptyPageSpace).Draw(t, "free") }
		has := func(b BlockNumber) int { return categoryToSpace(spaceToCategory(model[b])) }
		check := func(t *rapid.T, need int, got BlockNumber, ok bool, err error) {
			if err != nil {
				t.Fatal(err)
			}
			if ok && (got >= size || has(got) < need) {
				t.Fatalf("block %d with %d bytes was given for %d", got, has(got), need)
			}
			for b := range model {
				if !ok && has(b) >= categoryToSpace(needToCategory(need)) {
					t.Fatalf("block %d with %d bytes was not found for %d", b, has(b), need)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"record": func(t *rapid.T) {
				b, n := block(t), free(t)
				e.must(fsm.Record(testRel, b, n))
				model[b] = n
			},
			"record many": func(t *rapid.T) {
				b, n := block(t), free(t)
				count := rapid.SampledFrom([]int{1, 20, fsmSlots + 3}).Draw(t, "count")
				count = min(count, int(size-b))
				e.must(fsm.RecordMany(testRel, b, count, n))
				for i := range BlockNumber(count) {
					model[b+i] = n
				}
			},
			"search": func(t *rapid.T) {
				need := rapid.IntRange(1, emptyPageSpace).Draw(t, "need")
				got, ok, err := fsm.Search(testRel, need)
				check(t, need, got, ok, err)
			},
			"record and search": func(t *rapid.T) {
				b, n := block(t), free(t)
				need := rapid.IntRange(1, emptyPageSpace).Draw(t, "need")
				model[b] = n
				got, ok, err := fsm.RecordAndSearch(testRel, b, n, need)
				check(t, need, got, ok, err)
			},
			"vacuum": func(t *rapid.T) { e.must(fsm.Vacuum(testRel, 0, size)) },
			"truncate": func(t *rapid.T) {
				size = rapid.SampledFrom([]BlockNumber{size, size - 1, fsmSlots + 1, fsmSlots, 5}).Draw(t, "size") % (size + 1)
				size = max(size, 1)
				e.must(fsm.Truncate(testRel, size))
				e.must(e.pool.TruncateRelation(testRel, MainFork, size))
				for b := range model {
					if b >= size {
						delete(model, b)
					}
				}
			},
			"grow back": func(t *rapid.T) {
				e.sparse(testRel, blocks)
				size = blocks
			},
			"restart": func(t *rapid.T) {
				e.flush()
				e = newEnvOn(base, e.fs, 32)
				fsm = e.pool.FSM()
			},
			"": func(t *rapid.T) {
				for b, n := range model {
					got, err := fsm.Get(testRel, b)
					if err != nil || got != categoryToSpace(spaceToCategory(n)) {
						t.Fatalf("block %d: %d, %v, want about %d", b, got, err, n)
					}
				}
			},
		})
	})
}

// A map page that fails its checksum is empty, and fills again.
func TestFSMSurvivesTornPages(t *testing.T) {
	e := newEnv(t, 16)
	e.sparse(testRel, 100)
	fsm := e.pool.FSM()
	e.must(fsm.RecordMany(testRel, 0, 100, 1000))
	e.flush()
	for block := range int64(3) {
		f, err := e.fs.OpenFile("data/base/5/16384_fsm", os.O_RDWR, 0)
		e.must(err)
		_, err = f.WriteAt([]byte{1, 2, 3}, block*PageSize+4000)
		e.must(err)
	}
	e = newEnvOn(t, e.fs, 16)
	fsm = e.pool.FSM()
	if _, ok, err := fsm.Search(testRel, 500); ok || err != nil {
		t.Errorf("found %v, %v in a torn map", ok, err)
	}
	e.must(fsm.Record(testRel, 42, 1000))
	if b, ok, err := fsm.Search(testRel, 500); b != 42 || !ok || err != nil {
		t.Errorf("got %d, %v, %v", b, ok, err)
	}
}

// Searchers spread over the blocks instead of all getting the first.
func TestFSMSpreads(t *testing.T) {
	e := newEnv(t, 16)
	e.sparse(testRel, 100)
	fsm := e.pool.FSM()
	e.must(fsm.RecordMany(testRel, 0, 100, 1000))
	seen := make(map[BlockNumber]bool)
	for range 100 {
		b, ok, err := fsm.Search(testRel, 500)
		if !ok || err != nil || seen[b] {
			t.Fatalf("block %d again, %v, %v", b, ok, err)
		}
		seen[b] = true
	}
}

func TestFSMForIndexes(t *testing.T) {
	e := newEnv(t, 16)
	e.sparse(testRel, 10)
	fsm := e.pool.FSM()
	if _, ok, err := fsm.TakeFreePage(testRel); ok || err != nil {
		t.Errorf("an empty map gave a page, %v", err)
	}
	e.must(fsm.RecordFreePage(testRel, 3))
	e.must(fsm.VacuumIndex(testRel))
	if b, ok, err := fsm.TakeFreePage(testRel); b != 3 || !ok || err != nil {
		t.Errorf("got %d, %v, %v", b, ok, err)
	}
	if _, ok, _ := fsm.TakeFreePage(testRel); ok {
		t.Error("a page was given twice")
	}
}

func TestVMModel(t *testing.T) {
	skipUnderRace(t)
	const blocks = vmBlocksPerPage + 100
	base := t
	rapid.Check(t, func(t *rapid.T) {
		e := newEnv(base, 16)
		vm, vb := e.pool.VM(), &VMBuffer{}
		defer func() { vb.Release() }()
		model := make(map[BlockNumber]VMBits)
		sample := []BlockNumber{0, 1, 2, 3, 4, 5, 100, vmBlocksPerPage - 1, vmBlocksPerPage, blocks - 1}
		block := func(t *rapid.T) BlockNumber { return rapid.SampledFrom(sample).Draw(t, "block") }
		bits := rapid.SampledFrom([]VMBits{VMAllVisible, VMAllFrozen, vmBoth})
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				b, v := block(t), bits.Draw(t, "bits")
				e.must(vm.Pin(testRel, b, vb))
				buf := vb.Buffer()
				buf.LockExclusive(ClassVM)
				if changed := vb.SetBits(b, v); changed != (model[b]|v != model[b]) {
					t.Fatalf("changed %v", changed)
				}
				buf.MarkDirty()
				buf.UnlockExclusive()
				model[b] |= v
			},
			"clear": func(t *rapid.T) {
				b, v := block(t), bits.Draw(t, "bits")
				e.must(vm.Pin(testRel, b, vb))
				if changed := vm.Clear(vb, b, v); changed != (model[b]&v != 0) {
					t.Fatalf("changed %v", changed)
				}
				model[b] &^= v
			},
			"truncate": func(t *rapid.T) {
				n := block(t)
				vb.Release()
				e.must(vm.Truncate(testRel, n))
				for b := range model {
					if b >= n {
						delete(model, b)
					}
				}
			},
			"restart": func(t *rapid.T) {
				vb.Release()
				e.flush()
				e = newEnvOn(base, e.fs, 16)
				vm = e.pool.VM()
			},
			"": func(t *rapid.T) {
				var visible, frozen BlockNumber
				for _, b := range sample {
					got, err := vm.Get(testRel, b, vb)
					if err != nil || got != model[b] {
						t.Fatalf("block %d: %b, %v, want %b", b, got, err, model[b])
					}
					visible += BlockNumber(got & 1)
					frozen += BlockNumber(got >> 1)
				}
				v, f, err := vm.Count(testRel)
				if v != visible || f != frozen || err != nil {
					t.Fatalf("counted %d, %d, %v, want %d, %d", v, f, err, visible, frozen)
				}
			},
		})
	})
}

func BenchmarkFSMSearch(b *testing.B) {
	pool := benchPool(b, 1000)
	if err := pool.FSM().RecordMany(testRel, 0, 1000, 1000); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := pool.FSM().Search(testRel, 500); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
