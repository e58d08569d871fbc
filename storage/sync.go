package storage

import (
	"context"
	"errors"
	"io/fs"
	"path"
)

// needSync makes the next SyncPending sync s.
func (f *Files) needSync(s *segment) {
	if s.unsaved.Load() {
		return
	}
	f.pending.Lock()
	defer f.pending.Unlock()
	f.pending.segments[s] = struct{}{}
	s.unsaved.Store(true)
}

func (f *Files) needDirSync(dir string) {
	f.pending.Lock()
	defer f.pending.Unlock()
	f.pending.dirs[dir] = struct{}{}
}

// SyncPending makes everything written so far durable: files, then the directories that got
// new entries. For checkpoints, after FlushAll. After an error the state of the files is not
// known, and syncing again proves nothing: the server has to stop and recover.
func (p *Pool) SyncPending(ctx context.Context) error { return p.files.syncPending(ctx) }

func (f *Files) syncPending(ctx context.Context) error {
	f.pending.Lock()
	segments, dirs := f.pending.segments, f.pending.dirs
	f.pending.segments = make(map[*segment]struct{})
	f.pending.dirs = make(map[string]struct{})
	for s := range segments {
		// Before the sync: a write that ends behind it has to be found next time.
		s.unsaved.Store(false)
	}
	f.pending.Unlock()
	err := f.syncSet(ctx, segments, dirs)
	if err != nil {
		f.restorePending(segments, dirs)
	}
	return err
}

func (f *Files) syncSet(ctx context.Context, segments map[*segment]struct{}, dirs map[string]struct{}) error {
	if f.noSync.Load() {
		return nil
	}
	for s := range segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.sync(); err != nil {
			return err
		}
	}
	for dir := range dirs {
		if err := f.fs.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return FileError(err, "could not fsync file \"%s\"", dir)
		}
	}
	return nil
}

func (f *Files) restorePending(segments map[*segment]struct{}, dirs map[string]struct{}) {
	f.pending.Lock()
	defer f.pending.Unlock()
	for s := range segments {
		f.pending.segments[s] = struct{}{}
		s.unsaved.Store(true)
	}
	for dir := range dirs {
		f.pending.dirs[dir] = struct{}{}
	}
}

// sync makes one segment durable. One that was unlinked meanwhile has nothing to lose.
func (s *segment) sync() error {
	var serr error
	err := s.use(false, func(file File) error {
		serr = file.Datasync()
		return serr
	})
	if err == nil || s.fork.isDropped() {
		return nil
	}
	if serr == nil && errors.Is(err, fs.ErrNotExist) {
		return nil // truncated away
	}
	return FileError(err, "could not fsync file \"%s\"", relPath(s.fork.key.rel, s.fork.key.fork))
}

func (ff *forkFile) isDropped() bool {
	ff.mu.RLock()
	defer ff.mu.RUnlock()
	return ff.mu.dropped
}

// Sync makes a fork durable now, its directory entry included. Dirty buffers are not written
// first: see Pool.FlushRelation.
func (f *Files) Sync(rel RelFile, fork Fork) error {
	if f.noSync.Load() {
		return nil
	}
	ff := f.fork(rel, fork)
	n, err := f.length(ff)
	if err != nil {
		return err
	}
	for i := 0; i <= int(n/segmentBlocks); i++ {
		seg, err := f.segment(ff, i)
		if err != nil {
			return err
		}
		if err := seg.sync(); err != nil {
			return err
		}
	}
	dir := path.Dir(f.path(ff.key, 0))
	if err := f.fs.SyncDir(dir); err != nil {
		return FileError(err, "could not fsync file \"%s\"", dir)
	}
	return nil
}
