package engine

import (
	"path"
	"strings"
	"testing"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

// TestMissingFilesAreNoticed removes what a start could do without at the price of the data.
func TestMissingFilesAreNoticed(t *testing.T) {
	for _, c := range []struct{ name, gone, says string }{
		{"the commit log", clogDir, "could not access status of transaction"},
		{"the catalog", catalogDir, "the catalog is missing"},
		{"the version", versionName, "is not a valid data directory"},
		{"the log", walDir, "could not open file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, nil)
			s := f.session()
			s.begin()
			oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
			s.insert(s.table(oid), ints(1))
			s.commit()
			s.Close()
			f.close(CloseFast)
			name := path.Join(f.cfg.Dir, c.gone)
			info, err := f.fs.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.IsDir() {
				err = removeTree(f.fs, name)
			} else {
				err = f.fs.Remove(name)
			}
			if err != nil {
				t.Fatal(err)
			}
			e, err := Open(bg, f.cfg)
			if err == nil {
				_ = e.Close(bg, CloseImmediate)
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("without %s: %v", c.gone, err)
			}
		})
	}
}

// TestCheckRefusesAnEmptyDirectory, and leaves it as it was.
func TestCheckRefusesAnEmptyDirectory(t *testing.T) {
	fs := faultfs.New(faultfs.Options{})
	if err := fs.MkdirAll("empty", 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Check(bg, Config{FS: fs, Dir: "empty"}, func(Problem) {})
	if !pgerr.HasCode(err, pgerr.InvalidParameterValue) {
		t.Errorf("error %v", err)
	}
	if names, err := fs.List("empty"); err != nil || len(names) > 0 {
		t.Errorf("it holds %q, %v", names, err)
	}
}

// TestFullDiskFailsTheCheckpoint: it ends, and so does the server.
func TestFullDiskFailsTheCheckpoint(t *testing.T) {
	f := newFixture(t, nil)
	fs := f.fs.(*faultfs.FS)
	s := f.session()
	s.begin()
	oid := s.createTable("t", catalog.Permanent, column{"a", types.Int4})
	s.insert(s.table(oid), ints(1))
	s.commit()
	s.Close()
	fs.SetCapacity(fs.Used())
	if err := f.e.Checkpoint(bg); !pgerr.HasCode(err, pgerr.DiskFull) {
		t.Fatalf("checkpoint on a full disk: %v", err)
	}
	old := f.e
	f.e = nil
	if err := old.Close(bg, CloseFast); !pgerr.HasCode(err, pgerr.DiskFull) {
		t.Errorf("a stop on a full disk: %v", err)
	}
	fs.SetCapacity(0)
	f.open()
	s = f.session()
	defer s.Close()
	equal(t, "after the disk has room again", s.rows(s.table(oid)), []string{"1"})
}
