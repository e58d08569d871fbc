//go:build race || !unix

package storage

import "unsafe"

// frames is the memory of all pages on the Go heap: the race detector does not see mapped
// memory.
type frames struct{ mem []byte }

func newFrames(_ *Pool, n int) (*frames, error) { return &frames{mem: make([]byte, n*PageSize)}, nil }

func (f *frames) address(id uint32) uintptr {
	return uintptr(unsafe.Pointer(&f.mem[int(id)*PageSize]))
}

func (f *frames) free() {}
