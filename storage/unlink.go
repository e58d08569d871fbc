package storage

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/minipg/minipg/pgerr/assert"
)

// truncate cuts a fork to n blocks.
func (f *Files) truncate(rel RelFile, fork Fork, n BlockNumber) error {
	ff := f.fork(rel, fork)
	ff.extend.Lock()
	defer ff.extend.Unlock()
	old, err := f.length(ff)
	if err != nil || n >= old {
		return err
	}
	ff.nblocks.Store(int64(n))
	// From the end, so that a crash never leaves a full segment behind a short one.
	for i := int((old - 1) / segmentBlocks); i >= int(n/segmentBlocks); i-- {
		if err := f.truncateSegment(ff, i, n); err != nil {
			ff.nblocks.Store(lengthUnknown)
			return err
		}
	}
	return nil
}

func (f *Files) truncateSegment(ff *forkFile, i int, n BlockNumber) error {
	seg, err := f.segment(ff, i)
	if err != nil {
		return err
	}
	if start := BlockNumber(i) * segmentBlocks; start >= n && i > 0 {
		return f.removeSegment(seg)
	}
	err = seg.use(false, func(file File) error { return file.Truncate(int64(n%segmentBlocks) * PageSize) })
	if err != nil {
		return FileError(err, "could not truncate file \"%s\" to %d blocks", relPath(ff.key.rel, ff.key.fork), n)
	}
	f.needSync(seg)
	return nil
}

func (f *Files) removeSegment(s *segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.closeLocked() // of a file that goes away
	f.forget(s)
	if err := f.fs.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FileError(err, "could not remove file \"%s\"", s.path)
	}
	return nil
}

// forget takes a segment off the lists. s.mu is held, so only try-locks of Files.open's own
// order could meet it here: they give way.
func (f *Files) forget(s *segment) {
	f.pending.Lock()
	delete(f.pending.segments, s)
	s.unsaved.Store(false)
	f.pending.Unlock()
	f.open.Lock()
	defer f.open.Unlock()
	if s.listed {
		s.listed = false
		f.open.segments = slices.DeleteFunc(f.open.segments, func(o *segment) bool { return o == s })
	}
}

// Unlink removes every fork of rel; what is not there is no error. The buffers have to be gone:
// see Pool.DropRelation.
func (f *Files) Unlink(rel RelFile) error {
	var errs []error
	for _, fork := range AllForks {
		errs = append(errs, f.unlinkFork(forkKey{rel, fork}))
	}
	return errors.Join(errs...)
}

func (f *Files) unlinkFork(k forkKey) error {
	n := f.forgetFork(k)
	// A crash may have left segments that no length speaks of.
	for {
		if _, err := f.fs.Stat(f.path(k, n)); err != nil {
			break
		}
		n++
	}
	// Segment 0 last: while it is there, the others are found.
	for i := n - 1; i >= 0; i-- {
		name := f.path(k, i)
		if err := f.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return FileError(err, "could not remove file \"%s\"", name)
		}
	}
	return nil
}

// forgetFork closes a fork for good and returns how many segments were known.
func (f *Files) forgetFork(k forkKey) int {
	s := f.shard(k)
	s.Lock()
	ff := s.forks[k]
	delete(s.forks, k)
	s.Unlock()
	if ff == nil {
		return 0
	}
	ff.mu.Lock()
	ff.mu.dropped = true
	segments := ff.mu.segments
	ff.mu.segments = nil
	ff.nblocks.Store(lengthMissing)
	ff.mu.Unlock()
	for _, seg := range segments {
		if seg == nil {
			continue
		}
		seg.mu.Lock()
		_ = seg.closeLocked()
		f.forget(seg)
		seg.mu.Unlock()
	}
	return len(segments)
}

// CreateDatabase makes the directory of a database in a tablespace, durably.
func (f *Files) CreateDatabase(tablespace, db uint32) error {
	dir := f.databaseDir(tablespace, db)
	if err := f.fs.MkdirAll(dir, dirPerm); err != nil {
		return FileError(err, "could not create directory \"%s\"", dir)
	}
	if err := f.fs.SyncDir(path.Dir(dir)); err != nil && !f.noSync.Load() {
		return FileError(err, "could not fsync file \"%s\"", path.Dir(dir))
	}
	return nil
}

// Found is a relation file that List came across.
type Found struct {
	Rel     RelFile
	Fork    Fork
	Segment int
	Path    string
}

// List calls yield for every relation file of the data directory and the tablespaces, in the
// order of their names. Files with other names are left out.
func (f *Files) List(yield func(Found) error) error {
	if err := f.listDir(path.Join(f.dir, "global"), GlobalTablespace, 0, yield); err != nil {
		return err
	}
	if err := f.listSpace(path.Join(f.dir, "base"), DefaultTablespace, yield); err != nil {
		return err
	}
	spaces := make(map[uint32]string)
	names, err := f.fs.List(path.Join(f.dir, "pg_tblspc"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FileError(err, "could not open directory \"%s\"", "pg_tblspc")
	}
	for _, name := range names {
		if oid, err := strconv.ParseUint(name, 10, 32); err == nil {
			spaces[uint32(oid)] = path.Join(f.dir, "pg_tblspc", name, TablespaceDir)
		}
	}
	f.spaces.RLock()
	for oid, dir := range f.spaces.dirs {
		spaces[oid] = dir
	}
	f.spaces.RUnlock()
	oids := make([]uint32, 0, len(spaces))
	for oid := range spaces {
		oids = append(oids, oid)
	}
	slices.Sort(oids)
	for _, oid := range oids {
		if err := f.listSpace(spaces[oid], oid, yield); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) listSpace(dir string, tablespace uint32, yield func(Found) error) error {
	names, err := f.fs.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FileError(err, "could not open directory \"%s\"", dir)
	}
	for _, name := range names {
		db, err := strconv.ParseUint(name, 10, 32)
		if err != nil {
			continue
		}
		if err := f.listDir(path.Join(dir, name), tablespace, uint32(db), yield); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) listDir(dir string, tablespace, db uint32, yield func(Found) error) error {
	names, err := f.fs.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FileError(err, "could not open directory \"%s\"", dir)
	}
	for _, name := range names {
		number, fork, seg, ok := parseName(name)
		if !ok {
			continue
		}
		rel := RelFile{Tablespace: tablespace, Database: db, Number: number}
		if err := yield(Found{rel, fork, seg, path.Join(dir, name)}); err != nil {
			return err
		}
	}
	return nil
}

// SweepOrphans removes the files of every relation that keep refuses, and returns those
// relations. For the end of recovery: a crash leaves files of transactions that never
// committed, and brings back names that were removed and not synced.
func (f *Files) SweepOrphans(keep func(RelFile) bool) (removed []RelFile, err error) {
	var orphans []Found
	err = f.List(func(found Found) error {
		if !keep(found.Rel) {
			orphans = append(orphans, found)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, o := range orphans {
		f.forgetFork(forkKey{o.Rel, o.Fork})
		if err := f.fs.Remove(o.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, FileError(err, "could not remove file \"%s\"", o.Path)
		}
		if !slices.Contains(removed, o.Rel) {
			removed = append(removed, o.Rel)
		}
	}
	return removed, nil
}

// DropRelation forgets the buffers of rel, dirty or not, and removes its files.
// Requires: nobody uses the relation, nor can begin to.
func (p *Pool) DropRelation(rel RelFile) error {
	for _, fork := range AllForks {
		p.dropFork(rel, fork, 0)
	}
	return p.files.Unlink(rel)
}

// TruncateRelation forgets the buffers of a fork from block n on and cuts the fork there.
// Requires: nobody uses those blocks. Nothing happens to a fork that is shorter or not there.
func (p *Pool) TruncateRelation(rel RelFile, fork Fork, n BlockNumber) error {
	length, ok, err := p.files.lengthOf(p.files.fork(rel, fork))
	if !ok || length <= n {
		return err
	}
	p.dropFork(rel, fork, n)
	return p.files.truncate(rel, fork, n)
}

// probeFraction: forks shorter than this part of the pool are dropped block by block, longer
// ones by looking at every buffer.
const probeFraction = 32

// dropFork forgets the buffers of a fork from block from on.
func (p *Pool) dropFork(rel RelFile, fork Fork, from BlockNumber) {
	length := p.files.fork(rel, fork).nblocks.Load()
	if length >= 0 && length-int64(from) < int64(p.n)/probeFraction {
		for n := from; int64(n) < length; n++ {
			k := keyOf(BlockTag{rel, fork, n})
			hash := k.hash()
			b, _ := p.lookup(k, hash, false)
			if b == nil {
				shard := p.table.shard(hash)
				shard.Lock()
				b, _ = p.lookupLocked(k, hash, false)
				shard.Unlock()
			}
			if b != nil {
				b.Unpin()
				p.invalidate(b, k)
			}
		}
		return
	}
	p.dropMatching(func(k blockKey) bool { return k.rel() == rel && k.fork() == fork && k.block() >= from })
}

func (p *Pool) dropMatching(match func(blockKey) bool) {
	for id := range p.n {
		b := p.buffer(id)
		if b.state.Load()&flagTagged == 0 {
			continue
		}
		if k := b.loadKey(); match(k) {
			p.invalidate(b, k)
		}
	}
}

const (
	invalidatePause = 50 * time.Microsecond
	invalidateLimit = time.Minute
)

// invalidate takes b out of the pool if it still holds k, without writing it. Pins can only be
// those of writers and of the clock, which are short, or a bug.
func (p *Pool) invalidate(b *Buffer, k blockKey) {
	hash := k.hash()
	shard := p.table.shard(hash)
	for waited := time.Duration(0); ; waited += invalidatePause {
		shard.Lock()
		s := b.state.Load()
		if s&flagTagged == 0 || !b.hasKey(k) {
			shard.Unlock()
			return
		}
		if s&pinMask == 0 && b.state.CompareAndSwap(s, 0) {
			p.unlinkLocked(b, hash)
			shard.Unlock()
			return
		}
		shard.Unlock()
		assert.That(waited < invalidateLimit, "%v is pinned though its relation is dropped", k.tag())
		time.Sleep(invalidatePause)
	}
}

// DropDatabase forgets the buffers of a database in one tablespace and removes its files and
// its directory. Requires: nobody uses the database.
func (p *Pool) DropDatabase(tablespace, db uint32) error {
	space := uint64(tablespace)<<32 | uint64(db)
	p.dropMatching(func(k blockKey) bool { return k[0] == space })
	return p.files.dropDatabase(tablespace, db)
}

func (f *Files) dropDatabase(tablespace, db uint32) error {
	for i := range f.shards {
		s := &f.shards[i]
		s.RLock()
		var keys []forkKey
		for k := range s.forks {
			if k.rel.Tablespace == tablespace && k.rel.Database == db {
				keys = append(keys, k)
			}
		}
		s.RUnlock()
		for _, k := range keys {
			f.forgetFork(k)
		}
	}
	dir := f.databaseDir(tablespace, db)
	names, err := f.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return FileError(err, "could not open directory \"%s\"", dir)
	}
	for _, name := range names {
		name = path.Join(dir, name)
		if err := f.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return FileError(err, "could not remove file \"%s\"", name)
		}
	}
	if err := f.fs.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FileError(err, "could not remove directory \"%s\"", dir)
	}
	if err := f.fs.SyncDir(path.Dir(dir)); err != nil && !f.noSync.Load() {
		return FileError(err, "could not fsync file \"%s\"", path.Dir(dir))
	}
	return nil
}
