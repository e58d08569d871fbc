package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Datasync implements File.
func (f *osFile) Datasync() error {
	conn, err := f.f.SyscallConn()
	if err != nil {
		return err
	}
	var serr error
	err = conn.Control(func(fd uintptr) {
		serr = ignoringEINTR(func() error { return unix.Fdatasync(int(fd)) })
	})
	if err != nil {
		return err
	}
	if serr != nil {
		return &os.PathError{Op: "fdatasync", Path: f.f.Name(), Err: serr}
	}
	return nil
}

// Allocate implements File.
func (f *osFile) Allocate(off, n int64) error {
	conn, err := f.f.SyscallConn()
	if err != nil {
		return err
	}
	var serr error
	err = conn.Control(func(fd uintptr) {
		serr = ignoringEINTR(func() error { return unix.Fallocate(int(fd), 0, off, n) })
	})
	if err != nil {
		return err
	}
	if errors.Is(serr, unix.EOPNOTSUPP) || errors.Is(serr, unix.ENOSYS) {
		return writeZeros(f, off, n)
	}
	if serr != nil {
		return &os.PathError{Op: "fallocate", Path: f.f.Name(), Err: serr}
	}
	return nil
}

func ignoringEINTR(fn func() error) error {
	for {
		if err := fn(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
