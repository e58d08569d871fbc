//go:build !linux

package vfs

// Datasync implements File.
func (f *osFile) Datasync() error { return f.f.Sync() }

// Allocate implements File.
func (f *osFile) Allocate(off, n int64) error { return writeZeros(f, off, n) }
