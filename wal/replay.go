package wal

import (
	"errors"
	"io"
	"os"
	"path"

	"github.com/minipg/minipg/storage"
)

// Replay hands every whole record from LSN from on to fn, finds the end of the
// log and makes it the insertion point. It is called once, before the first
// insertion, with FirstLSN for a new directory.
//
// The files are synced first: a log that was only written when its server was killed may be
// replayed into pages that reach the disk before it otherwise.
func (l *Log) Replay(from storage.LSN, fn func(rec *Record) error) (end storage.LSN, err error) {
	if err := l.syncSegmentsFrom(l.segmentOf(from)); err != nil {
		return 0, err
	}
	r := l.NewReader(from)
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		l.raiseFlushed(rec.EndLSN)
		if err := fn(rec); err != nil {
			return 0, err
		}
		if l.m != nil {
			l.m.RecoveryReplayed.Inc()
		}
	}
	return r.Pos(), l.startAt(r.Pos(), r.Last())
}

func (l *Log) syncSegmentsFrom(seg int64) error {
	segs, err := l.listSegments()
	if err != nil {
		return err
	}
	for _, n := range segs {
		if n < seg {
			continue
		}
		f, err := l.openSegment(n, SyncFsync)
		if err != nil {
			return err
		}
		err = f.Sync()
		if err = errors.Join(err, f.Close()); err != nil {
			return ioError(err, "fsync file", l.segmentPath(n))
		}
	}
	return l.syncDir()
}

// startAt makes end the insertion point, last the record before it.
func (l *Log) startAt(end, last storage.LSN) error {
	if err := l.loadTail(end); err != nil {
		return err
	}
	if err := l.keepContiguous(end); err != nil {
		return err
	}
	l.insert.pos, l.insert.prev = end, last
	l.insertPos.Store(uint64(end))
	l.written.Store(uint64(end))
	l.raiseFlushed(end)
	l.scanned = true
	l.startWriter()
	return l.prepareTo(end + storage.LSN(l.slack()))
}

// loadTail puts the started block before end into the ring: the next write writes it
// again.
func (l *Log) loadTail(end storage.LSN) error {
	from := end &^ (blockBytes - 1)
	n := int(end - from)
	if n == 0 {
		return nil
	}
	seg := l.segmentOf(from)
	if end == l.first {
		return nil
	}
	f, err := l.cfg.FS.OpenFile(l.segmentPath(seg), os.O_RDONLY, filePerm)
	if err != nil {
		return ioError(err, "open file", l.segmentPath(seg))
	}
	at := uint64(from) & l.ringMask
	_, err = f.ReadAt(l.ring[at:int(at)+n], l.offsetInFile(from))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return ioError(err, "read file", l.segmentPath(seg))
	}
	return nil
}

// keepContiguous counts the segments from end on that are there, whole, as prepared, and
// removes what lies behind a gap: a segment that a crash left half renamed.
func (l *Log) keepContiguous(end storage.LSN) error {
	segs, err := l.listSegments()
	if err != nil {
		return err
	}
	next := l.segmentOf(end)
	prepared := storage.LSN(next * l.segSize)
	for _, seg := range segs {
		if seg < next {
			continue
		}
		whole, err := l.wholeSegment(seg)
		if err != nil {
			return err
		}
		if seg == next && (whole || seg == l.segmentOf(end)) {
			next++
			prepared = l.segmentEnd(seg)
			continue
		}
		if err := l.cfg.FS.Remove(path.Join(l.cfg.Dir, SegmentName(seg))); err != nil {
			return ioError(err, "remove file", l.segmentPath(seg))
		}
	}
	l.prepared.Store(uint64(prepared))
	return nil
}

func (l *Log) wholeSegment(seg int64) (bool, error) {
	info, err := l.cfg.FS.Stat(l.segmentPath(seg))
	if err != nil {
		return false, ioError(err, "stat file", l.segmentPath(seg))
	}
	return info.Size() == l.segmentBytes(seg), nil
}
