//go:build unix && !race

package storage

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// frames is the memory of all pages, outside the Go heap: the collector neither scans it nor
// counts it towards its goal.
type frames struct{ mem []byte }

// hugePages is the pool size from which on transparent huge pages are asked for. Below, a
// page fault that zeroes 2 MB costs more than the TLB misses.
const hugePages = 64 << 20

func newFrames(owner *Pool, n int) (*frames, error) {
	mem, err := unix.Mmap(-1, 0, n*PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes of buffers: %w", n*PageSize, err)
	}
	if len(mem) >= hugePages {
		adviseHuge(mem)
	}
	f := &frames{mem: mem}
	// A pool that is dropped without Close, as the crash tests do by the thousand, must not
	// keep its frames. Buffers keep their pool alive.
	runtime.AddCleanup(owner, func(f *frames) { f.free() }, f)
	return f, nil
}

func (f *frames) address(id uint32) uintptr {
	return uintptr(unsafe.Pointer(&f.mem[int(id)*PageSize]))
}

func (f *frames) free() {
	if f.mem != nil {
		_ = unix.Munmap(f.mem)
		f.mem = nil
	}
}
