package faultfs

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/minipg/minipg/storage/vfs"
)

// Hang wraps fsys so that once the power is off, operations on paths that contain part never
// return. It is for libraries that would panic in goroutines of their own, or try for ever, where a
// process would be gone.
func Hang(fsys vfs.FS, part string) vfs.FS { return &hangFS{fsys, part} }

type hangFS struct {
	vfs.FS
	part string
}

// hang does not come back where the power is off.
func hang(err error) error {
	if errors.Is(err, ErrCrashed) {
		select {}
	}
	return err
}

func (h *hangFS) hang(name string, err error) error {
	if strings.Contains(name, h.part) {
		return hang(err)
	}
	return err
}

func (h *hangFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := h.FS.OpenFile(name, flag, perm)
	if !strings.Contains(name, h.part) {
		return f, err
	}
	return hangFile{f}, hang(err)
}

func (h *hangFS) SyncDir(dir string) error { return h.hang(dir, h.FS.SyncDir(dir)) }

func (h *hangFS) Remove(name string) error { return h.hang(name, h.FS.Remove(name)) }

func (h *hangFS) Rename(from, to string) error { return h.hang(to, h.FS.Rename(from, to)) }

type hangFile struct{ vfs.File }

func (f hangFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	return n, hang(err)
}

func (f hangFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	return n, hang(err)
}

func (f hangFile) Sync() error     { return hang(f.File.Sync()) }
func (f hangFile) Datasync() error { return hang(f.File.Datasync()) }
