package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	l, err := OSFS{}.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (OSFS{}).Lock(name); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("a second lock: %v", err)
	}
	l.Close()
	if l, err = (OSFS{}).Lock(name); err != nil {
		t.Error(err)
	} else {
		l.Close()
	}
}

func TestOSFS(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "b")
	f, err := OSFS{}.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(f.Allocate(0, 10000), writeZeros(f, 5000, 300000), f.Sync(), f.Datasync()); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Size(); n != 305000 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	if err := (OSFS{}).Link(name, filepath.Join(dir, "a")); err != nil {
		t.Error(err)
	}
	if err := (OSFS{}).SyncDir(dir); err != nil {
		t.Error(err)
	}
	if l, err := (OSFS{}).List(dir); !slices.Equal(l, []string{"a", "b"}) || err != nil {
		t.Errorf("%v, %v", l, err)
	}
	if _, err := (OSFS{}).OpenFile(filepath.Join(dir, "c"), os.O_RDWR, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
