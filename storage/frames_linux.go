//go:build linux && !race

package storage

import "golang.org/x/sys/unix"

func adviseHuge(mem []byte) {
	// Advice only: a kernel without them serves small pages.
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
}
