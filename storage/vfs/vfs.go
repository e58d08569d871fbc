// Package vfs is the file system as the server sees it, and the operating system's one.
//
// # Invariants
//
//  1. Nothing is durable before Sync, Datasync (bytes) and SyncDir (names) say so.
package vfs

import (
	"io"
	"io/fs"
)

// FS is the file system everything durable goes through: relation files, the log, the
// control file, the catalog. OSFS is the real one, faultfs.FS the one that fails.
// Names are slash-separated paths. Errors wrap fs.ErrNotExist, syscall.ENOSPC and so on, so
// that errors.Is finds them.
type FS interface {
	// OpenFile opens as os.OpenFile does; flag is made of os.O_*.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Remove removes a file or an empty directory.
	Remove(name string) error
	Rename(oldname, newname string) error
	MkdirAll(dir string, perm fs.FileMode) error
	// List returns the names in dir, sorted.
	List(dir string) ([]string, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes the entries of dir durable.
	SyncDir(dir string) error
	// Lock takes an exclusive lock on the named file, created when missing, and fails at
	// once when another process has it. Closing releases it.
	Lock(name string) (io.Closer, error)
}

// File is an open file. All methods may be called concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes data and metadata durable (fsync).
	Sync() error
	// Datasync makes data durable, and the metadata needed to read it back (fdatasync).
	Datasync() error
	Truncate(size int64) error
	Size() (int64, error)
	// Allocate makes [off, off+n) part of the file with disk space behind it; what was not
	// there reads as zeros (posix_fallocate).
	Allocate(off, n int64) error
}

// Linker is implemented by file systems that can make hard links.
type Linker interface {
	Link(oldname, newname string) error
}
