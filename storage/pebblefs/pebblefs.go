// Package pebblefs shows a storage.FS to Pebble as a vfs.FS, so that the catalog lives on the
// same file system, and under the same injected faults, as everything else.
//
// # Invariants
//
//  1. Every byte and every directory entry goes through the storage.FS handed in.
package pebblefs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/minipg/minipg/storage"
)

// New adapts fs.
func New(fs storage.FS) vfs.FS { return &adapter{fs: fs} }

type adapter struct{ fs storage.FS }

const filePerm = 0o600

func (a *adapter) open(name string, flag int) (vfs.File, error) {
	f, err := a.fs.OpenFile(name, flag, filePerm)
	if err != nil {
		return nil, err
	}
	return &file{File: f, name: name}, nil
}

// Create implements vfs.FS.
func (a *adapter) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	// A new inode, so that whoever has the old file open keeps its bytes.
	if err := a.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := a.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil || !pointsAt(name) {
		return f, err
	}
	if err := a.fs.SyncDir(path.Dir(name)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// pointsAt tells whether a file must be there before a later change of the directory: Pebble makes
// a manifest, then the marker that names it, then removes the old marker, and syncs the directory once at
// the end. Nothing but the habit of journals keeps a power cut from leaving the last without the first.
func pointsAt(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "MANIFEST-") || strings.HasPrefix(base, "marker.")
}

// Link implements vfs.FS.
func (a *adapter) Link(oldname, newname string) error {
	if l, ok := a.fs.(storage.Linker); ok {
		return l.Link(oldname, newname)
	}
	return &fs.PathError{Op: "link", Path: newname, Err: syscall.EOPNOTSUPP}
}

// Open implements vfs.FS.
func (a *adapter) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if st, err := a.fs.Stat(name); err == nil && st.IsDir() {
		return a.OpenDir(name)
	}
	return a.withOptions(name, os.O_RDONLY, opts)
}

// OpenReadWrite implements vfs.FS.
func (a *adapter) OpenReadWrite(name string, _ vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return a.withOptions(name, os.O_RDWR|os.O_CREATE, opts)
}

func (a *adapter) withOptions(name string, flag int, opts []vfs.OpenOption) (vfs.File, error) {
	f, err := a.open(name, flag)
	if err != nil {
		return nil, err
	}
	for _, o := range opts {
		o.Apply(f)
	}
	return f, nil
}

// OpenDir implements vfs.FS.
func (a *adapter) OpenDir(name string) (vfs.File, error) {
	if _, err := a.fs.Stat(name); err != nil {
		return nil, err
	}
	return &dir{fs: a.fs, name: name}, nil
}

// Remove implements vfs.FS.
func (a *adapter) Remove(name string) error { return a.fs.Remove(name) }

// RemoveAll implements vfs.FS.
func (a *adapter) RemoveAll(name string) error {
	st, err := a.fs.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if st.IsDir() {
		names, err := a.fs.List(name)
		if err != nil {
			return err
		}
		for _, n := range names {
			err = errors.Join(err, a.RemoveAll(path.Join(name, n)))
		}
		if err != nil {
			return err
		}
	}
	return a.fs.Remove(name)
}

// Rename implements vfs.FS.
func (a *adapter) Rename(oldname, newname string) error { return a.fs.Rename(oldname, newname) }

// ReuseForWrite implements vfs.FS.
func (a *adapter) ReuseForWrite(oldname, newname string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	if err := a.fs.Rename(oldname, newname); err != nil {
		return nil, err
	}
	return a.open(newname, os.O_RDWR|os.O_CREATE)
}

// MkdirAll implements vfs.FS.
func (a *adapter) MkdirAll(dir string, perm os.FileMode) error { return a.fs.MkdirAll(dir, perm) }

// Lock implements vfs.FS.
func (a *adapter) Lock(name string) (io.Closer, error) { return a.fs.Lock(name) }

// List implements vfs.FS.
func (a *adapter) List(dir string) ([]string, error) { return a.fs.List(dir) }

// Stat implements vfs.FS.
func (a *adapter) Stat(name string) (vfs.FileInfo, error) {
	st, err := a.fs.Stat(name)
	if err != nil {
		return nil, err
	}
	return info{st}, nil
}

// PathBase implements vfs.FS.
func (a *adapter) PathBase(p string) string { return path.Base(p) }

// PathJoin implements vfs.FS.
func (a *adapter) PathJoin(elem ...string) string { return path.Join(elem...) }

// PathDir implements vfs.FS.
func (a *adapter) PathDir(p string) string { return path.Dir(p) }

// GetDiskUsage implements vfs.FS.
func (a *adapter) GetDiskUsage(p string) (vfs.DiskUsage, error) {
	if _, ok := a.fs.(storage.OSFS); ok {
		return vfs.Default.GetDiskUsage(p)
	}
	return vfs.DiskUsage{}, vfs.ErrUnsupported
}

// Unwrap implements vfs.FS.
func (a *adapter) Unwrap() vfs.FS { return nil }

type info struct{ fs.FileInfo }

// DeviceID implements vfs.FileInfo.
func (info) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

// file adds to a storage.File the position that Read and Write need.
type file struct {
	storage.File
	name string
	mu   struct {
		sync.Mutex
		read, write int64
	}
}

func (f *file) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.ReadAt(p, f.mu.read)
	f.mu.read += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.WriteAt(p, f.mu.write)
	f.mu.write += int64(n)
	return n, err
}

// Preallocate does nothing: it must not change the size, which Allocate does.
func (f *file) Preallocate(int64, int64) error { return nil }

func (f *file) Stat() (vfs.FileInfo, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return info{fileInfo{name: path.Base(f.name), size: size}}, nil
}

func (f *file) SyncData() error             { return f.Datasync() }
func (f *file) SyncTo(int64) (bool, error)  { return true, f.Datasync() }
func (f *file) Prefetch(int64, int64) error { return nil }

// Fd hides the descriptor: through it Pebble would get round the storage.FS.
func (f *file) Fd() uintptr { return vfs.InvalidFd }

// fileInfo describes an open file, which may have another name by now.
type fileInfo struct {
	name string
	size int64
}

func (i fileInfo) Name() string     { return i.name }
func (i fileInfo) Size() int64      { return i.size }
func (fileInfo) Mode() fs.FileMode  { return filePerm }
func (fileInfo) ModTime() time.Time { return time.Time{} }
func (fileInfo) IsDir() bool        { return false }
func (fileInfo) Sys() any           { return nil }

// dir is a directory opened to be synced.
type dir struct {
	fs   storage.FS
	name string
}

func (d *dir) refuse(op string) error {
	return &fs.PathError{Op: op, Path: d.name, Err: syscall.EISDIR}
}

func (d *dir) Read([]byte) (int, error)           { return 0, d.refuse("read") }
func (d *dir) ReadAt([]byte, int64) (int, error)  { return 0, d.refuse("read") }
func (d *dir) Write([]byte) (int, error)          { return 0, d.refuse("write") }
func (d *dir) WriteAt([]byte, int64) (int, error) { return 0, d.refuse("write") }
func (d *dir) Preallocate(int64, int64) error     { return d.refuse("fallocate") }
func (d *dir) Prefetch(int64, int64) error        { return nil }
func (d *dir) Close() error                       { return nil }
func (d *dir) Sync() error                        { return d.fs.SyncDir(d.name) }
func (d *dir) SyncData() error                    { return d.fs.SyncDir(d.name) }
func (d *dir) SyncTo(int64) (bool, error)         { return false, nil }
func (d *dir) Fd() uintptr                        { return vfs.InvalidFd }

func (d *dir) Stat() (vfs.FileInfo, error) {
	st, err := d.fs.Stat(d.name)
	if err != nil {
		return nil, err
	}
	return info{st}, nil
}
