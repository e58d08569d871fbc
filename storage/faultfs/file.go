package faultfs

import (
	"io"
	"syscall"
)

const chunkSize = 4096

type chunk [chunkSize]byte

// zeroChunk stands for space allocated and never written. It is never written to.
var zeroChunk = new(chunk)

// fileNode is a file's bytes, in chunks; a nil chunk reads as zeros and takes no space.
// A chunk is shared by live and durable until it is written again.
type fileNode struct {
	live, durable     []*chunk
	size, durableSize int64
	links             int
	dirty             map[int]*dirtyChunk
	// cut is the smallest size the file was truncated to since the last sync; -1 is none.
	cut int64
	// sizeChanged is false again after a failed sync, though durableSize is old.
	sizeChanged bool
}

// dirtyChunk belongs to a chunk written since the last sync.
type dirtyChunk struct {
	prev *chunk // before the last write, nil before the second
}

func newFile() *fileNode {
	return &fileNode{links: 1, cut: -1, dirty: make(map[int]*dirtyChunk)}
}

func chunkAt(chunks []*chunk, i int) *chunk {
	if i < len(chunks) {
		return chunks[i]
	}
	return nil
}

// writableLocked returns chunk i for writing, marked dirty. Requires f.mu.
func (f *FS) writableLocked(n *fileNode, i int) (*chunk, error) {
	for len(n.live) <= i {
		n.live = append(n.live, nil)
	}
	d := n.dirty[i]
	old := n.live[i]
	if old == nil {
		if err := f.reserveLocked(1); err != nil {
			return nil, err
		}
	}
	if d != nil && old != nil && old != zeroChunk {
		if d.prev == nil {
			d.prev = new(chunk)
		}
		*d.prev = *old
		return old, nil
	}
	c := new(chunk)
	if old != nil {
		*c = *old
	}
	n.live[i] = c
	if d == nil {
		n.dirty[i] = &dirtyChunk{}
	}
	return c, nil
}

// reserveLocked takes n chunks of disk space. Requires f.mu.
func (f *FS) reserveLocked(n int64) error {
	if f.mu.capacity > 0 && (f.mu.usedChunks+n)*chunkSize > f.mu.capacity {
		return syscall.ENOSPC
	}
	f.mu.usedChunks += n
	return nil
}

// releaseLocked gives back the space of a file that no name leads to. Handles that are still
// open keep the bytes, not the space. Requires f.mu.
func (f *FS) releaseLocked(n *fileNode) {
	if n.links == 0 {
		f.mu.usedChunks -= countChunks(n.live)
	}
}

func countChunks(chunks []*chunk) (n int64) {
	for _, c := range chunks {
		if c != nil {
			n++
		}
	}
	return n
}

func (f *FS) truncateLocked(n *fileNode, size int64) error {
	if size < n.size {
		keep := int((size + chunkSize - 1) / chunkSize)
		if keep < len(n.live) {
			if n.links > 0 {
				f.mu.usedChunks -= countChunks(n.live[keep:])
			}
			n.live = n.live[:keep:keep]
		}
		for i := range n.dirty {
			if i >= keep {
				delete(n.dirty, i)
			}
		}
		if tail := size % chunkSize; tail != 0 && chunkAt(n.live, keep-1) != nil {
			c, err := f.writableLocked(n, keep-1)
			if err != nil {
				return err
			}
			clear(c[tail:])
		}
		if n.cut < 0 || size < n.cut {
			n.cut = size
		}
	}
	if size != n.size {
		n.size, n.sizeChanged = size, true
	}
	return nil
}

func (n *fileNode) syncLocked() {
	if n.cut >= 0 {
		if keep := int((n.cut + chunkSize - 1) / chunkSize); keep < len(n.durable) {
			n.durable = n.durable[:keep:keep]
		}
	}
	for i := range n.dirty {
		for len(n.durable) <= i {
			n.durable = append(n.durable, nil)
		}
		n.durable[i] = chunkAt(n.live, i)
	}
	n.durableSize = n.size
	n.forgetLocked()
}

// forgetLocked makes the file look clean, durable or not.
func (n *fileNode) forgetLocked() {
	clear(n.dirty)
	n.cut, n.sizeChanged = -1, false
}

// file is an open handle.
type file struct {
	fs         *FS
	node       *fileNode
	name       string
	generation int
	readOnly   bool
}

// enter runs the faults for op and then fn under the lock.
func (h *file) enter(op Op, opName string, fn func() error) error {
	if err := h.fs.before(op, h.name); err != nil {
		return err
	}
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.generation != h.fs.mu.generation {
		return pathErr(opName, h.name, ErrCrashed)
	}
	if err := fn(); err != nil {
		if err == io.EOF {
			return err
		}
		return pathErr(opName, h.name, err)
	}
	return nil
}

// ReadAt implements vfs.File.
func (h *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = h.enter(OpRead, "read", func() error {
		for n < len(p) && off < h.node.size {
			i, at := int(off/chunkSize), int(off%chunkSize)
			m := min(len(p)-n, chunkSize-at, int(h.node.size-off))
			if c := chunkAt(h.node.live, i); c != nil {
				copy(p[n:n+m], c[at:])
			} else {
				clear(p[n : n+m])
			}
			n, off = n+m, off+int64(m)
		}
		if n < len(p) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

// WriteAt implements vfs.File. A write that fails may have written a part.
func (h *file) WriteAt(p []byte, off int64) (n int, err error) {
	if h.readOnly {
		return 0, pathErr("write", h.name, syscall.EBADF)
	}
	var injected error
	if injected = h.fs.before(OpWrite, h.name); injected != nil {
		if !isShort(injected) {
			return 0, injected
		}
		p = p[:len(p)/2]
	}
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.generation != h.fs.mu.generation {
		return 0, pathErr("write", h.name, ErrCrashed)
	}
	for n < len(p) {
		i, at := int(off/chunkSize), int(off%chunkSize)
		c, err := h.fs.writableLocked(h.node, i)
		if err != nil {
			return n, pathErr("write", h.name, err)
		}
		m := copy(c[at:], p[n:])
		n, off = n+m, off+int64(m)
		if off > h.node.size {
			h.node.size, h.node.sizeChanged = off, true
		}
	}
	return n, injected
}

// Sync implements vfs.File.
func (h *file) Sync() error { return h.sync(OpSync) }

// Datasync implements vfs.File.
func (h *file) Datasync() error { return h.sync(OpDatasync) }

func (h *file) sync(op Op) error {
	err := h.fs.before(op, h.name)
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	switch {
	case h.generation != h.fs.mu.generation:
		return pathErr("sync", h.name, ErrCrashed)
	case err != nil:
		if !h.fs.mu.crashed {
			h.node.forgetLocked() // as Linux: the pages are clean now, and lost
		}
		return err
	}
	h.node.syncLocked()
	return nil
}

// Truncate implements vfs.File.
func (h *file) Truncate(size int64) error {
	return h.enter(OpTruncate, "truncate", func() error { return h.fs.truncateLocked(h.node, size) })
}

// Size implements vfs.File.
func (h *file) Size() (size int64, err error) {
	err = h.enter(OpStat, "stat", func() error {
		size = h.node.size
		return nil
	})
	return size, err
}

// Allocate implements vfs.File.
func (h *file) Allocate(off, n int64) error {
	return h.enter(OpAllocate, "fallocate", func() error {
		// Zeros over zeros: nothing to lose but the space, which a crash gives back.
		node := h.node
		last := int((off + n + chunkSize - 1) / chunkSize)
		if grow := last - len(node.live); grow > 0 {
			node.live = append(node.live, make([]*chunk, grow)...)
		}
		for i := int(off / chunkSize); i < last; i++ {
			if node.live[i] != nil {
				continue
			}
			if err := h.fs.reserveLocked(1); err != nil {
				return err
			}
			node.live[i] = zeroChunk
		}
		if off+n > node.size {
			node.size, node.sizeChanged = off+n, true
		}
		return nil
	})
}

// Close implements vfs.File.
func (h *file) Close() error { return nil }
