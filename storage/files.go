package storage

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/pgerr"
)

const (
	// SegmentSize is the size at which a fork goes on in another file.
	SegmentSize   = 1 << 30
	segmentBlocks = SegmentSize / PageSize

	// DefaultMaxOpenFiles bounds the open segment files.
	DefaultMaxOpenFiles = 900

	// maxBlocks leaves InvalidBlock and room for arithmetic.
	maxBlocks = 1<<32 - 2

	filePerm = 0o600
	dirPerm  = 0o700

	fileShards = 64
)

// Values of forkFile.nblocks that are no length.
const (
	lengthUnknown = -1
	lengthMissing = -2 // there is no file
)

// Files are the relation files: forks cut into segments, their lengths, and what a checkpoint
// has to sync. All methods may be called concurrently.
type Files struct {
	fs     FS
	dir    string
	noSync atomic.Bool
	limit  int
	zeros  []byte // never written to

	shards [fileShards]fileShard

	open struct {
		sync.Mutex
		segments []*segment
		hand     int
	}
	pending struct {
		sync.Mutex
		segments map[*segment]struct{}
		dirs     map[string]struct{}
	}
	spaces struct {
		sync.RWMutex
		dirs map[uint32]string
	}
}

type forkKey struct {
	rel  RelFile
	fork Fork
}

type fileShard struct {
	sync.RWMutex
	forks map[forkKey]*forkFile
	_     [32]byte
}

// forkFile is what is known about one fork.
type forkFile struct {
	key     forkKey
	nblocks atomic.Int64 // or lengthUnknown, lengthMissing

	// extend is held while the fork grows. The extension lock above it is what experiments
	// are made with; this one makes FSM, redo and sessions without a lock safe.
	extend sync.Mutex

	mu struct {
		sync.RWMutex
		segments []*segment // may have holes until used
		dropped  bool
	}
	group extendGroup
	stats extendCounts
}

// segment is one file.
type segment struct {
	files *Files
	fork  *forkFile
	path  string
	// mu keeps the file open: shared for I/O, exclusive to open and close it.
	mu      sync.RWMutex
	file    File
	listed  bool        // in Files.open; guarded by Files.open
	used    atomic.Bool // since the hand of Files.open passed
	unsaved atomic.Bool // in Files.pending
}

func newFiles(fs FS, dir string, limit int, noSync bool) *Files {
	if limit <= 0 {
		limit = DefaultMaxOpenFiles
	}
	f := &Files{fs: fs, dir: dir, limit: limit, zeros: make([]byte, (allocateFromBlocks-1)*PageSize)}
	f.noSync.Store(noSync)
	for i := range f.shards {
		f.shards[i].forks = make(map[forkKey]*forkFile)
	}
	f.pending.segments = make(map[*segment]struct{})
	f.pending.dirs = make(map[string]struct{})
	f.spaces.dirs = make(map[uint32]string)
	return f
}

// SetNoSync turns syncing off, as fsync = off, or on again.
func (f *Files) SetNoSync(off bool) { f.noSync.Store(off) }

// SetTablespace says in which directory a tablespace has its databases. Others are under pg_tblspc in
// the data directory.
func (f *Files) SetTablespace(oid uint32, dir string) {
	f.spaces.Lock()
	defer f.spaces.Unlock()
	f.spaces.dirs[oid] = dir
}

// ForgetTablespace undoes SetTablespace.
func (f *Files) ForgetTablespace(oid uint32) {
	f.spaces.Lock()
	defer f.spaces.Unlock()
	delete(f.spaces.dirs, oid)
}

// TablespacePath is the directory SetTablespace named.
func (f *Files) TablespacePath(oid uint32) (string, bool) {
	f.spaces.RLock()
	defer f.spaces.RUnlock()
	dir, ok := f.spaces.dirs[oid]
	return dir, ok
}

// TablespaceAt finds the tablespace that has a directory.
func (f *Files) TablespaceAt(dir string) (uint32, bool) {
	f.spaces.RLock()
	defer f.spaces.RUnlock()
	for oid, at := range f.spaces.dirs {
		if at == dir {
			return oid, true
		}
	}
	return 0, false
}

// Tablespaces lists those SetTablespace named.
func (f *Files) Tablespaces() []uint32 {
	f.spaces.RLock()
	defer f.spaces.RUnlock()
	return slices.Sorted(maps.Keys(f.spaces.dirs))
}

func (f *Files) databaseDir(tablespace, db uint32) string {
	f.spaces.RLock()
	space, ok := f.spaces.dirs[tablespace]
	f.spaces.RUnlock()
	if ok {
		return path.Join(space, decimal(uint64(db)))
	}
	return path.Join(f.dir, string(appendDir(nil, tablespace, db)))
}

func (f *Files) path(k forkKey, seg int) string {
	name := string(appendName(nil, k.rel.Number, k.fork))
	if seg > 0 {
		name += "." + decimal(uint64(seg))
	}
	return path.Join(f.databaseDir(k.rel.Tablespace, k.rel.Database), name)
}

func (f *Files) shard(k forkKey) *fileShard {
	return &f.shards[(uint64(k.rel.Number)*numForksHash+uint64(k.fork))%fileShards]
}

const numForksHash = uint64(numForks)

// fork returns the entry of a fork, whether there is a file or not.
func (f *Files) fork(rel RelFile, fork Fork) *forkFile {
	k := forkKey{rel, fork}
	s := f.shard(k)
	s.RLock()
	ff := s.forks[k]
	s.RUnlock()
	if ff != nil {
		return ff
	}
	s.Lock()
	defer s.Unlock()
	if ff := s.forks[k]; ff != nil {
		return ff
	}
	ff = &forkFile{key: k}
	ff.nblocks.Store(lengthUnknown)
	s.forks[k] = ff
	return ff
}

// Create makes an empty fork, and the directory it is in. One that exists stays as it is:
// redo meets its own files.
func (f *Files) Create(rel RelFile, fork Fork) error {
	ff := f.fork(rel, fork)
	ff.extend.Lock()
	defer ff.extend.Unlock()
	return f.createLocked(ff)
}

// createLocked requires ff.extend.
func (f *Files) createLocked(ff *forkFile) error {
	seg, err := f.segment(ff, 0)
	if err != nil {
		return err
	}
	if err := seg.use(true, func(File) error { return nil }); err != nil {
		return err
	}
	f.needSync(seg)
	f.needDirSync(path.Dir(seg.path))
	ff.nblocks.CompareAndSwap(lengthMissing, lengthUnknown)
	_, err = f.length(ff)
	return err
}

// Exists reports whether the fork has a file.
func (f *Files) Exists(rel RelFile, fork Fork) (bool, error) {
	_, ok, err := f.lengthOf(f.fork(rel, fork))
	return ok, err
}

// lengthOf is NBlocks for forks that often have no file, without making an error of it.
func (f *Files) lengthOf(ff *forkFile) (n BlockNumber, ok bool, err error) {
	switch n := ff.nblocks.Load(); {
	case n >= 0:
		return BlockNumber(n), true, nil
	case n == lengthMissing:
		return 0, false, nil
	}
	n, err = f.measure(ff)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	return n, err == nil, err
}

// NBlocks is the length of a fork. It costs a map lookup.
func (f *Files) NBlocks(rel RelFile, fork Fork) (BlockNumber, error) {
	return f.length(f.fork(rel, fork))
}

func (f *Files) length(ff *forkFile) (BlockNumber, error) {
	switch n := ff.nblocks.Load(); n {
	case lengthUnknown:
		return f.measure(ff)
	case lengthMissing:
		return 0, f.openError(ff, fs.ErrNotExist)
	default:
		return BlockNumber(n), nil
	}
}

// measure finds the length from the files. A segment before the last is full, so the first
// that is not ends the fork.
func (f *Files) measure(ff *forkFile) (BlockNumber, error) {
	ff.mu.Lock()
	defer ff.mu.Unlock()
	if n := ff.nblocks.Load(); n >= 0 {
		return BlockNumber(n), nil
	}
	total := int64(0)
	for i := 0; ; i++ {
		st, err := f.fs.Stat(f.path(ff.key, i))
		if errors.Is(err, fs.ErrNotExist) {
			if i == 0 {
				ff.nblocks.Store(lengthMissing)
				return 0, f.openError(ff, err)
			}
			break
		}
		if err != nil {
			return 0, f.openError(ff, err)
		}
		// A torn extension can leave part of a block: it is overwritten by the next.
		total += st.Size() / PageSize
		if st.Size() < SegmentSize {
			break
		}
	}
	ff.nblocks.Store(total)
	return BlockNumber(total), nil
}

func (f *Files) openError(ff *forkFile, err error) error {
	return FileError(err, "could not open file \"%s\"", relPath(ff.key.rel, ff.key.fork))
}

// checkBlock refuses blocks behind the end of their fork, before a buffer is given to one.
func (f *Files) checkBlock(tag BlockTag) error {
	n, err := f.NBlocks(tag.Rel, tag.Fork)
	if err != nil {
		return err
	}
	if tag.Block >= n {
		return shortReadError(tag, 0)
	}
	return nil
}

func shortReadError(tag BlockTag, n int) error {
	return pgerr.New(pgerr.DataCorrupted, "could not read block %d in file \"%s\": read only %d of %d bytes",
		tag.Block, relPath(tag.Rel, tag.Fork), n, PageSize)
}

// ReadBlock reads a block into page, without looking at its checksum.
func (f *Files) ReadBlock(tag BlockTag, page Page) error {
	seg, err := f.segment(f.fork(tag.Rel, tag.Fork), int(tag.Block/segmentBlocks))
	if err != nil {
		return err
	}
	return seg.use(false, func(file File) error {
		n, err := file.ReadAt(page[:PageSize], int64(tag.Block%segmentBlocks)*PageSize)
		if n == PageSize {
			return nil
		}
		if isEOF(err) {
			return shortReadError(tag, n)
		}
		return FileError(err, "could not read block %d in file \"%s\"", tag.Block, relPath(tag.Rel, tag.Fork))
	})
}

// WriteBlocks writes adjacent blocks of one segment, beginning with tag, and makes the next
// checkpoint sync them. The checksums are the caller's.
func (f *Files) WriteBlocks(tag BlockTag, blocks []byte) error {
	seg, err := f.segment(f.fork(tag.Rel, tag.Fork), int(tag.Block/segmentBlocks))
	if err != nil {
		return err
	}
	err = seg.use(false, func(file File) error {
		_, err := file.WriteAt(blocks, int64(tag.Block%segmentBlocks)*PageSize)
		return err
	})
	if err != nil {
		return FileError(err, "could not write block %d in file \"%s\"", tag.Block, relPath(tag.Rel, tag.Fork))
	}
	// After the write: a sync that begins between would take the mark away too early.
	f.needSync(seg)
	return nil
}

// WriteBlock writes one block.
func (f *Files) WriteBlock(tag BlockTag, page Page) error { return f.WriteBlocks(tag, page[:PageSize]) }

// segment returns segment i of ff.
func (f *Files) segment(ff *forkFile, i int) (*segment, error) {
	ff.mu.RLock()
	var seg *segment
	if i < len(ff.mu.segments) {
		seg = ff.mu.segments[i]
	}
	dropped := ff.mu.dropped
	ff.mu.RUnlock()
	if dropped {
		return nil, f.openError(ff, fs.ErrNotExist)
	}
	if seg != nil {
		return seg, nil
	}
	ff.mu.Lock()
	defer ff.mu.Unlock()
	if ff.mu.dropped {
		return nil, f.openError(ff, fs.ErrNotExist)
	}
	for len(ff.mu.segments) <= i {
		ff.mu.segments = append(ff.mu.segments, nil)
	}
	if ff.mu.segments[i] == nil {
		ff.mu.segments[i] = &segment{files: f, fork: ff, path: f.path(ff.key, i)}
	}
	return ff.mu.segments[i], nil
}

// use runs fn with the file open.
func (s *segment) use(create bool, fn func(File) error) error {
	s.used.Store(true)
	s.mu.RLock()
	if s.file != nil {
		defer s.mu.RUnlock()
		return fn(s.file)
	}
	s.mu.RUnlock()
	if err := s.open(create); err != nil {
		return err
	}
	return s.use(create, fn)
}

func (s *segment) open(create bool) error {
	s.files.makeRoom()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		return nil
	}
	if s.fork.isDropped() {
		return s.files.openError(s.fork, fs.ErrNotExist)
	}
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	file, err := s.files.fs.OpenFile(s.path, flag, filePerm)
	if create && errors.Is(err, fs.ErrNotExist) {
		dir := path.Dir(s.path)
		if err := s.files.fs.MkdirAll(dir, dirPerm); err != nil {
			return FileError(err, "could not create directory \"%s\"", dir)
		}
		// Any of them may be new. The entries of the data directory and of tablespaces are their makers'.
		s.files.needDirSync(path.Dir(dir))
		for d := path.Dir(path.Dir(dir)); d != "." && strings.HasPrefix(d+"/", s.files.dir+"/"); d = path.Dir(d) {
			s.files.needDirSync(d)
		}
		file, err = s.files.fs.OpenFile(s.path, flag, filePerm)
	}
	if err != nil {
		return s.files.openError(s.fork, err)
	}
	s.file = file
	s.files.list(s)
	return nil
}

// list remembers an open segment. Lock order: segment.mu before Files.open.
func (f *Files) list(s *segment) {
	f.open.Lock()
	defer f.open.Unlock()
	if !s.listed {
		s.listed = true
		f.open.segments = append(f.open.segments, s)
	}
}

// makeRoom closes segments that were not used lately while too many are open. It skips those
// in use and, at first, those not synced: an error the kernel kept for their descriptor would
// be lost.
func (f *Files) makeRoom() {
	f.open.Lock()
	defer f.open.Unlock()
	for tries := 3 * len(f.open.segments); tries > 0 && len(f.open.segments) >= f.limit; tries-- {
		f.open.hand %= len(f.open.segments)
		s := f.open.segments[f.open.hand]
		if s.used.Swap(false) || s.unsaved.Load() && tries > len(f.open.segments) || !s.mu.TryLock() {
			f.open.hand++
			continue
		}
		s.closeLocked()
		s.listed = false
		s.mu.Unlock()
		last := len(f.open.segments) - 1
		f.open.segments[f.open.hand] = f.open.segments[last]
		f.open.segments[last] = nil
		f.open.segments = f.open.segments[:last]
	}
}

// closeLocked requires s.mu.
func (s *segment) closeLocked() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

func (f *Files) close() error {
	f.open.Lock()
	segments := f.open.segments
	f.open.segments = nil
	for _, s := range segments {
		s.listed = false
	}
	f.open.Unlock()
	var errs []error
	for _, s := range segments {
		s.mu.Lock()
		errs = append(errs, s.closeLocked())
		s.mu.Unlock()
	}
	return errors.Join(errs...)
}
