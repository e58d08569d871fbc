package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

const (
	tempPrefix = "xlogtemp."
	zeroChunk  = 1 << 20
	filePerm   = 0o600
)

func (l *Log) segmentOf(lsn storage.LSN) int64 { return int64(lsn) / l.segSize }

func (l *Log) segmentEnd(seg int64) storage.LSN { return storage.LSN((seg + 1) * l.segSize) }

// offsetInFile returns where lsn lies in its segment's file: segment 0's holds only
// the end of it.
func (l *Log) offsetInFile(lsn storage.LSN) int64 {
	off := int64(lsn) % l.segSize
	if int64(lsn) < l.segSize {
		off -= int64(l.first)
	}
	return off
}

func (l *Log) segmentBytes(seg int64) int64 {
	if seg == 0 {
		return l.cfg.FirstSegmentSize
	}
	return l.segSize
}

// SegmentName returns the file name of a segment.
func SegmentName(seg int64) string { return fmt.Sprintf("%016X", seg) }

func (l *Log) segmentPath(seg int64) string { return path.Join(l.cfg.Dir, SegmentName(seg)) }

func (l *Log) openSegment(seg int64, method SyncMethod) (storage.File, error) {
	flag := os.O_RDWR
	switch method {
	case SyncOpenDatasync:
		flag |= openDatasyncFlag
	case SyncOpenSync:
		flag |= os.O_SYNC
	}
	f, err := l.cfg.FS.OpenFile(l.segmentPath(seg), flag, filePerm)
	if err != nil {
		return nil, ioError(err, "open file", l.segmentPath(seg))
	}
	return f, nil
}

// listSegments returns the numbers of the segments present, ascending.
func (l *Log) listSegments() ([]int64, error) {
	names, err := l.cfg.FS.List(l.cfg.Dir)
	if err != nil {
		return nil, ioError(err, "open directory", l.cfg.Dir)
	}
	var segs []int64
	for _, name := range names {
		if n, err := strconv.ParseInt(name, 16, 64); err == nil && name == SegmentName(n) {
			segs = append(segs, n)
		}
	}
	return segs, nil // List sorts, and so do the names
}

func (l *Log) removeTemporaries() error {
	names, err := l.cfg.FS.List(l.cfg.Dir)
	if err != nil {
		return ioError(err, "open directory", l.cfg.Dir)
	}
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) {
			if err := l.cfg.FS.Remove(path.Join(l.cfg.Dir, name)); err != nil {
				return ioError(err, "remove file", name)
			}
		}
	}
	return nil
}

// Reserve makes sure that the log has room for bytes more: called before a
// critical section, it returns 53100 where the insertion could not.
func (l *Log) Reserve(bytes int) error {
	if l.insertPos.Load()+uint64(bytes)+l.slack() <= l.prepared.Load() {
		return nil
	}
	if err := l.Err(); err != nil {
		return err
	}
	return l.prepareTo(l.InsertLSN() + storage.LSN(bytes) + storage.LSN(l.slack()))
}

// slack is what Reserve keeps free for those who reserved and have not inserted yet.
func (l *Log) slack() uint64 { return uint64(min(256<<10, l.segSize/4)) }

// ahead is how much must be prepared for the preparer to rest: half a
// segment, and in the small first one what leaves it unneeded by a short run.
func (l *Log) ahead(pos storage.LSN) storage.LSN {
	return storage.LSN(l.segmentBytes(l.segmentOf(pos))) / 2
}

// prepareAhead wakes the preparer when what is ready runs low.
func (l *Log) prepareAhead(pos storage.LSN) {
	if uint64(pos+l.ahead(pos)) > l.prepared.Load() {
		l.writer.kickPrepare()
	}
}

// prepareTo creates segments until lsn lies in one.
func (l *Log) prepareTo(lsn storage.LSN) error {
	l.segments.Lock()
	defer l.segments.Unlock()
	for storage.LSN(l.prepared.Load()) < lsn {
		seg := l.segmentOf(storage.LSN(l.prepared.Load()))
		if err := l.createSegmentLocked(seg); err != nil {
			return err
		}
		l.prepared.Store(uint64(l.segmentEnd(seg)))
	}
	return nil
}

// createSegmentLocked makes segment seg's file, full of zeros and durable, under another
// name first so that no half-made file is ever taken for a segment.
func (l *Log) createSegmentLocked(seg int64) (err error) {
	temp := path.Join(l.cfg.Dir, tempPrefix+SegmentName(seg))
	f, err := l.cfg.FS.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return ioError(err, "create file", temp)
	}
	defer func() {
		if err != nil {
			_ = l.cfg.FS.Remove(temp) // gives the space back; Open removes it otherwise
		}
	}()
	if err := fillZeros(f, l.segmentBytes(seg)); err != nil {
		_ = f.Close()
		return ioError(err, "write to file", temp)
	}
	if l.cfg.SyncMethod() != SyncNone {
		if err := f.Sync(); err != nil {
			_ = f.Close()
			return ioError(err, "fsync file", temp)
		}
	}
	if err := f.Close(); err != nil {
		return ioError(err, "close file", temp)
	}
	if err := l.cfg.FS.Rename(temp, l.segmentPath(seg)); err != nil {
		return ioError(err, "rename file", temp)
	}
	return l.syncDir()
}

func (l *Log) syncDir() error {
	if l.cfg.SyncMethod() == SyncNone {
		return nil
	}
	if err := l.cfg.FS.SyncDir(l.cfg.Dir); err != nil {
		return ioError(err, "fsync directory", l.cfg.Dir)
	}
	return nil
}

func fillZeros(f storage.File, size int64) error {
	zeros := make([]byte, min(zeroChunk, size))
	for off := int64(0); off < size; off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-off)], off); err != nil {
			return err
		}
	}
	return nil
}

// Recycle does away with the segments that lie wholly before redo: as many as may be
// needed before the end of the next checkpoint, keepBytes, are renamed to be
// written again, the others removed.
func (l *Log) Recycle(redo storage.LSN, keepBytes int64) (removed, recycled int, err error) {
	l.segments.Lock()
	defer l.segments.Unlock()
	segs, err := l.listSegments()
	if err != nil {
		return 0, 0, err
	}
	keepTo := l.InsertLSN() + storage.LSN(keepBytes)
	for _, seg := range segs {
		if l.segmentEnd(seg) > redo {
			break
		}
		next := l.segmentOf(storage.LSN(l.prepared.Load()))
		if seg > 0 && storage.LSN(l.prepared.Load()) < keepTo {
			if err := l.cfg.FS.Rename(l.segmentPath(seg), l.segmentPath(next)); err != nil {
				return removed, recycled, ioError(err, "rename file", l.segmentPath(seg))
			}
			// Durable under its new name before anything is written that must be found there.
			if err := l.syncDir(); err != nil {
				return removed, recycled, err
			}
			l.prepared.Store(uint64(l.segmentEnd(next)))
			recycled++
			continue
		}
		if err := l.cfg.FS.Remove(l.segmentPath(seg)); err != nil {
			return removed, recycled, ioError(err, "remove file", l.segmentPath(seg))
		}
		removed++
	}
	return removed, recycled, nil
}

// ioError gives a failed file operation PostgreSQL's message and SQLSTATE.
func ioError(err error, doing, name string) error {
	code := pgerr.IoError
	if errors.Is(err, syscall.ENOSPC) {
		code = pgerr.DiskFull
	} else if errors.Is(err, fs.ErrNotExist) {
		code = pgerr.UndefinedFile
	}
	return pgerr.Wrap(err, code, "could not %s %q: %v", doing, name, cause(err))
}

// cause returns the innermost error, without the path PostgreSQL's message has already.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
