package faultfs

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/minipg/minipg/storage/vfs"
)

// ErrCrashed is what every operation returns once the power is cut.
var ErrCrashed = errors.New("faultfs: the power is off")

// Options shape a file system.
type Options struct {
	// SectorSize is what the disk writes atomically: 512 (the default) or 4096.
	SectorSize int
	// Capacity is the disk's size in bytes; 0 is unlimited.
	Capacity int64
}

// FS is a file system in memory. All methods may be called concurrently.
type FS struct {
	opts Options
	mu   struct {
		sync.Mutex
		root       *dirNode
		pending    []dirOp
		rules      []*rule
		locks      map[string]bool
		ops        int64
		crashAt    int64 // in ops; 0 is never
		crashed    bool
		generation int // of handles; a kill makes the old ones dead
		usedChunks int64
		capacity   int64
	}
	crash chan struct{} // closed when crashAt is reached
}

var _ interface {
	vfs.FS
	vfs.Linker
} = (*FS)(nil)

type node interface{ isNode() }

type dirNode struct {
	entries map[string]node // as the running system sees it
	durable map[string]node // as of the last SyncDir
}

func (*dirNode) isNode()  {}
func (*fileNode) isNode() {}

func newDir() *dirNode {
	return &dirNode{entries: make(map[string]node), durable: make(map[string]node)}
}

// dirOp is a change of a directory that no SyncDir covered yet: name goes away, or becomes
// node; both for the two sides of a rename.
type dirOp struct {
	parts []dirPart
}

type dirPart struct {
	dir  *dirNode
	name string
	node node // nil removes
}

// New makes an empty file system.
func New(opts Options) *FS {
	if opts.SectorSize == 0 {
		opts.SectorSize = 512
	}
	f := &FS{opts: opts, crash: make(chan struct{})}
	f.mu.root = newDir()
	f.mu.locks = make(map[string]bool)
	f.mu.capacity = opts.Capacity
	return f
}

func pathErr(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func split(name string) []string {
	name = strings.Trim(path.Clean("/"+name), "/")
	if name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

// lookupLocked finds the node at name. Requires f.mu.
func (f *FS) lookupLocked(name string) (node, error) {
	var n node = f.mu.root
	for _, part := range split(name) {
		d, ok := n.(*dirNode)
		if !ok {
			return nil, syscall.ENOTDIR
		}
		if n, ok = d.entries[part]; !ok {
			return nil, syscall.ENOENT
		}
	}
	return n, nil
}

// parentLocked finds the directory name is in, and its last part. Requires f.mu.
func (f *FS) parentLocked(name string) (*dirNode, string, error) {
	parts := split(name)
	if len(parts) == 0 {
		return nil, "", syscall.EINVAL
	}
	last := len(parts) - 1
	n, err := f.lookupLocked(strings.Join(parts[:last], "/"))
	if err != nil {
		return nil, "", err
	}
	d, ok := n.(*dirNode)
	if !ok {
		return nil, "", syscall.ENOTDIR
	}
	return d, parts[last], nil
}

// applyLocked changes directories and remembers the change as unsynced. Requires f.mu.
func (f *FS) applyLocked(parts ...dirPart) {
	for _, p := range parts {
		if p.node == nil {
			delete(p.dir.entries, p.name)
		} else {
			p.dir.entries[p.name] = p.node
		}
	}
	f.mu.pending = append(f.mu.pending, dirOp{parts: parts})
}

// OpenFile implements vfs.FS.
func (f *FS) OpenFile(name string, flag int, _ fs.FileMode) (vfs.File, error) {
	op := OpOpen
	if flag&os.O_CREATE != 0 {
		op = OpCreate
	}
	if err := f.before(op, name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.openLocked(name, flag)
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	return &file{fs: f, node: n, name: name, generation: f.mu.generation, readOnly: flag&(os.O_RDWR|os.O_WRONLY) == 0}, nil
}

func (f *FS) openLocked(name string, flag int) (*fileNode, error) {
	dir, base, err := f.parentLocked(name)
	if err != nil {
		return nil, err
	}
	n, ok := dir.entries[base]
	switch {
	case !ok && flag&os.O_CREATE == 0:
		return nil, syscall.ENOENT
	case !ok:
		file := newFile()
		f.applyLocked(dirPart{dir, base, file})
		return file, nil
	case flag&os.O_EXCL != 0:
		return nil, syscall.EEXIST
	}
	file, ok := n.(*fileNode)
	if !ok {
		return nil, syscall.EISDIR
	}
	if flag&os.O_TRUNC != 0 {
		f.truncateLocked(file, 0)
	}
	return file, nil
}

// Remove implements vfs.FS.
func (f *FS) Remove(name string) error {
	if err := f.before(OpRemove, name); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base, err := f.parentLocked(name)
	if err != nil {
		return pathErr("remove", name, err)
	}
	switch n := dir.entries[base].(type) {
	case nil:
		return pathErr("remove", name, syscall.ENOENT)
	case *dirNode:
		if len(n.entries) > 0 {
			return pathErr("remove", name, syscall.ENOTEMPTY)
		}
	case *fileNode:
		n.links--
		f.releaseLocked(n)
	}
	f.applyLocked(dirPart{dir, base, nil})
	return nil
}

// Rename implements vfs.FS.
func (f *FS) Rename(oldname, newname string) error {
	if err := f.before(OpRename, oldname); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	from, oldBase, err := f.parentLocked(oldname)
	if err != nil {
		return pathErr("rename", oldname, err)
	}
	to, newBase, err := f.parentLocked(newname)
	if err != nil {
		return pathErr("rename", newname, err)
	}
	n, ok := from.entries[oldBase]
	if !ok {
		return pathErr("rename", oldname, syscall.ENOENT)
	}
	switch old := to.entries[newBase].(type) {
	case *dirNode:
		return pathErr("rename", newname, syscall.EEXIST)
	case *fileNode:
		if old == n {
			return nil
		}
		old.links--
		f.releaseLocked(old)
	}
	f.applyLocked(dirPart{from, oldBase, nil}, dirPart{to, newBase, n})
	return nil
}

// Link implements vfs.Linker.
func (f *FS) Link(oldname, newname string) error {
	if err := f.before(OpCreate, newname); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.lookupLocked(oldname)
	if err != nil {
		return pathErr("link", oldname, err)
	}
	file, ok := n.(*fileNode)
	if !ok {
		return pathErr("link", oldname, syscall.EISDIR)
	}
	to, base, err := f.parentLocked(newname)
	if err != nil {
		return pathErr("link", newname, err)
	}
	if _, ok := to.entries[base]; ok {
		return pathErr("link", newname, syscall.EEXIST)
	}
	file.links++
	f.applyLocked(dirPart{to, base, file})
	return nil
}

// MkdirAll implements vfs.FS.
func (f *FS) MkdirAll(dir string, _ fs.FileMode) error {
	if err := f.before(OpCreate, dir); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.mu.root
	for _, part := range split(dir) {
		switch n := d.entries[part].(type) {
		case nil:
			sub := newDir()
			f.applyLocked(dirPart{d, part, sub})
			d = sub
		case *dirNode:
			d = n
		default:
			return pathErr("mkdir", dir, syscall.ENOTDIR)
		}
	}
	return nil
}

// List implements vfs.FS.
func (f *FS) List(dir string) ([]string, error) {
	if err := f.before(OpList, dir); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.lookupLocked(dir)
	if err != nil {
		return nil, pathErr("open", dir, err)
	}
	d, ok := n.(*dirNode)
	if !ok {
		return nil, pathErr("open", dir, syscall.ENOTDIR)
	}
	return slices.Sorted(maps.Keys(d.entries)), nil
}

// Stat implements vfs.FS.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.before(OpStat, name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.lookupLocked(name)
	if err != nil {
		return nil, pathErr("stat", name, err)
	}
	st := info{name: path.Base(name)}
	if file, ok := n.(*fileNode); ok {
		st.size = file.size
	} else {
		st.dir = true
	}
	return st, nil
}

type info struct {
	name string
	size int64
	dir  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

// SyncDir implements vfs.FS: the entries of dir, and nothing else, become durable.
func (f *FS) SyncDir(dir string) error {
	if err := f.before(OpSyncDir, dir); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.lookupLocked(dir)
	if err != nil {
		return pathErr("sync", dir, err)
	}
	d, ok := n.(*dirNode)
	if !ok {
		return pathErr("sync", dir, syscall.ENOTDIR)
	}
	d.durable = maps.Clone(d.entries)
	rest := f.mu.pending[:0]
	for _, op := range f.mu.pending {
		op.parts = slices.DeleteFunc(slices.Clone(op.parts), func(p dirPart) bool { return p.dir == d })
		if len(op.parts) > 0 {
			rest = append(rest, op)
		}
	}
	f.mu.pending = rest
	return nil
}

// Lock implements vfs.FS.
func (f *FS) Lock(name string) (io.Closer, error) {
	h, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	h.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	key := path.Clean("/" + name)
	if f.mu.locks[key] {
		return nil, pathErr("lock", name, syscall.EWOULDBLOCK)
	}
	f.mu.locks[key] = true
	return &fileLock{fs: f, key: key, generation: f.mu.generation}, nil
}

type fileLock struct {
	fs         *FS
	key        string
	generation int
}

// Close releases the lock, unless a crash already did.
func (l *fileLock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if l.generation == l.fs.mu.generation {
		delete(l.fs.mu.locks, l.key)
	}
	return nil
}
