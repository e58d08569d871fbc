package catalog

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

// crashSim is a log in memory that loses nothing, and a catalog on a file system that loses power.
type crashSim struct {
	rng    *rand.Rand
	fs     *faultfs.FS
	cat    *Catalog
	log    [][]byte
	redo   int // where replay starts, as the control file has it
	model  map[string]string
	broken bool // checkpoints do not flush
}

func (s *crashSim) open(t *testing.T) {
	t.Helper()
	c, err := Open(Config{
		FS: s.fs, Dir: "data/catalog", MemTableSize: 64 << 10,
		// A dead catalog must not end the test.
		Fatalf: func(string, ...any) { select {} },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.cat = c
	for _, p := range s.log[s.redo:] {
		if err := c.Apply(p); err != nil {
			t.Fatal(err)
		}
	}
}

// commit changes some rows; what is in the log counts.
func (s *crashSim) commit(t *testing.T) {
	t.Helper()
	x := s.cat.Begin(DatabasePostgres)
	def := mustDef(PgNamespace)
	next := maps.Clone(s.model)
	for range 1 + s.rng.IntN(20) {
		oid := OID(20000 + s.rng.IntN(300))
		row := namespaceRow(oid, fmt.Sprintf("schema %d %d", oid, s.rng.IntN(1000)))
		row[NamespaceNspowner] = oidDatum(OID(s.rng.IntN(1000)))
		k := string(def.appendRowKey(nil, row))
		old, err := x.Get(PgNamespace, types.OIDDatum(oid))
		switch {
		case err != nil:
			t.Fatal(err)
		case old == nil:
			err = x.Insert(PgNamespace, row)
			next[k] = rowString(def, row)
		case s.rng.IntN(2) == 0:
			err = x.Update(PgNamespace, row)
			next[k] = rowString(def, row)
		default:
			err = x.Delete(PgNamespace, row)
			delete(next, k)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.cat.BeginCommit()
	defer s.cat.EndCommit()
	s.log = append(s.log, x.Batch())
	s.model = next
	// Some commits are in the log, and the power goes before they are applied.
	if s.rng.IntN(50) != 0 {
		_ = s.cat.Apply(s.log[len(s.log)-1])
	} else {
		s.crash(t)
	}
}

func (s *crashSim) crash(t *testing.T) {
	s.fs = s.fs.Crash(s.rng)
	s.cat = nil
}

func (s *crashSim) run(t *testing.T) (lost bool) {
	t.Helper()
	for range 4 {
		s.open(t)
		got := dump(t, s.cat.Begin(DatabasePostgres), PgNamespace)
		if !maps.Equal(got, s.model) {
			return true
		}
		for range s.rng.IntN(120) {
			s.commit(t)
			if s.cat == nil {
				break
			}
			if s.rng.IntN(20) == 0 {
				redo := len(s.log)
				if !s.broken {
					if err := s.cat.Flush(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
				s.redo = redo
			}
		}
		if s.cat != nil {
			s.crash(t)
		}
	}
	return false
}

// Whatever a checkpoint did not see is replayed; whatever it saw is in Pebble's files.
func TestNothingIsLostInCrashes(t *testing.T) {
	base := rand.Uint64()
	for i := range uint64(12) {
		if runCrash(t, base+i, false) {
			t.Errorf("rows lost with seed %d", base+i)
		}
	}
}

// The same with checkpoints that do not flush must lose rows, or the test above proves nothing.
func TestCheckpointWithoutFlushLosesRows(t *testing.T) {
	for i := range uint64(25) {
		if runCrash(t, i, true) {
			return
		}
	}
	t.Error("nothing was lost")
}

func runCrash(t *testing.T, seed uint64, broken bool) bool {
	t.Helper()
	s := &crashSim{rng: rand.New(rand.NewPCG(seed, 3)), fs: faultfs.New(faultfs.Options{}), broken: broken}
	if err := s.fs.MkdirAll("data", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.fs.SyncDir("."); err != nil {
		t.Logf("sync: %v", err)
	}
	s.open(t)
	s.model = dump(t, s.cat.Begin(DatabasePostgres), PgNamespace)
	if err := s.cat.Close(); err != nil {
		t.Fatal(err)
	}
	return s.run(t)
}
