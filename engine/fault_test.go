package engine

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

// TestCheckpointWaitsForCommitsBetweenLogAndApply stops a CREATE TABLE after its commit record is durable and
// before the catalog has it, and lets a checkpoint begin there.
func TestCheckpointWaitsForCommitsBetweenLogAndApply(t *testing.T) {
	for _, crash := range []string{"while it waits", "after both"} {
		t.Run(crash, func(t *testing.T) {
			f := newFixture(t, nil)
			fs := f.fs.(*faultfs.FS)
			reached, release := make(chan struct{}), make(chan struct{})
			f.e.beforeApply = func() {
				close(reached)
				<-release
			}
			s := f.session()
			s.begin()
			oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
			s.insert(s.table(oid), ints(1))
			committed := make(chan error, 1)
			go func() { committed <- s.Commit(bg, false) }()
			<-reached
			checkpointed := make(chan error, 1)
			go func() { checkpointed <- f.e.Checkpoint(bg) }()
			select {
			case err := <-checkpointed:
				t.Fatalf("the checkpoint did not wait: %v", err)
			case err := <-committed:
				t.Fatalf("committed: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			old := f.e
			if crash == "while it waits" {
				f.fs = fs.Crash(rand.New(rand.NewPCG(1, 2)))
				close(release)
				<-committed
				<-checkpointed
				_ = old.Close(bg, CloseImmediate)
			} else {
				close(release)
				s.ok(<-committed)
				s.ok(<-checkpointed)
				old.beforeApply = nil
				s.Close()
				_ = old.Close(bg, CloseImmediate)
				f.fs = fs.Crash(rand.New(rand.NewPCG(3, 4)))
			}
			f.cfg.FS = f.fs
			f.open()
			s = f.session()
			defer s.Close()
			equal(t, "after the crash", s.rows(s.table(oid)), []string{"1"})
		})
	}
}

func TestFullDiskFailsTheStatementAlone(t *testing.T) {
	f := newFixture(t, nil)
	fs := f.fs.(*faultfs.FS)
	s := f.session()
	defer s.Close()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4}, column{"b", types.Text})
	s.commit()
	fs.SetCapacity(fs.Used() + 300<<10)
	row := []types.Datum{types.Int64Datum(1), types.BytesDatum(make([]byte, 1500))}
	var err error
	rows := 0
	for err == nil && rows < 5000 {
		s.begin()
		for range 10 {
			if _, err = s.table(oid).Insert(bg, s.Session, row, InsertOptions{}); err != nil {
				break
			}
		}
		if err == nil {
			err = s.Commit(bg, false)
		}
		if err == nil {
			rows += 10
		}
	}
	if !pgerr.HasCode(err, pgerr.DiskFull) {
		t.Fatalf("after %d rows: %v", rows, err)
	}
	s.Abort(bg)
	if f.e.Dead() {
		t.Fatal("a full disk stopped the server")
	}
	fs.SetCapacity(0)
	s.begin()
	s.insert(s.table(oid), row)
	s.commit()
	if got := s.rows(s.table(oid)); len(got) != rows+1 {
		t.Errorf("%d rows, want %d", len(got), rows+1)
	}
}

func TestFailedSyncStopsTheServer(t *testing.T) {
	for _, what := range []struct {
		name string
		rule faultfs.Rule
		do   func(f *fixture, s *testSession, oid catalog.OID) error
	}{
		{
			"of the log",
			faultfs.Rule{Ops: faultfs.OpDatasync, Path: "pg_wal", Err: syscall.EIO},
			func(f *fixture, s *testSession, oid catalog.OID) error {
				s.begin()
				s.insert(s.table(oid), ints(2))
				return s.Commit(bg, false)
			},
		},
		{
			"of a relation",
			faultfs.Rule{Ops: faultfs.OpSync | faultfs.OpDatasync, Path: "base/5", Err: syscall.EIO},
			func(f *fixture, s *testSession, oid catalog.OID) error {
				s.begin()
				s.insert(s.table(oid), ints(2))
				s.commit()
				return f.e.Checkpoint(bg)
			},
		},
	} {
		t.Run(what.name, func(t *testing.T) {
			stopped := make(chan error, 1)
			f := newFixture(t, func(c *Config) { c.Fatal = func(err error) { stopped <- err } })
			s := f.session()
			s.begin()
			oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
			s.insert(s.table(oid), ints(1))
			s.commit()
			f.fs.(*faultfs.FS).Inject(what.rule)
			if err := what.do(f, s, oid); err == nil {
				t.Fatal("no error")
			}
			select {
			case <-stopped:
			case <-time.After(5 * time.Second):
				t.Fatal("the server goes on")
			}
			s.Close()
			_ = f.e.Close(bg, CloseImmediate)
			f.fs = f.fs.(*faultfs.FS).Crash(rand.New(rand.NewPCG(1, 1)))
			f.cfg.FS = f.fs
			f.open()
			s = f.session()
			defer s.Close()
			got := s.rows(s.table(oid))
			if len(got) == 0 || got[0] != "1" {
				t.Errorf("after recovery %q", got)
			}
		})
	}
}
