package wal

import (
	"sync"
	"time"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// flushQueue makes one of those who need a flush do it for all.
type flushQueue struct {
	sync.Mutex
	leading bool
	waiters []*flushWaiter
	spare   sync.Pool
}

type flushWaiter struct {
	lsn  storage.LSN
	wake chan bool // true: done or failed, false: lead
}

// Flush makes the log durable up to lsn.
func (l *Log) Flush(lsn storage.LSN) error {
	if storage.LSN(l.flushed.Load()) >= lsn {
		return nil
	}
	return l.flushTo(lsn)
}

func (l *Log) flushTo(lsn storage.LSN) error {
	if err := l.Err(); err != nil {
		return err
	}
	if lsn > l.InsertLSN() {
		return pgerr.New(pgerr.InternalError, "xlog flush request %v is not satisfied --- flushed only to %v",
			lsn, l.InsertLSN())
	}
	if !l.flush.lead(l, lsn) {
		if l.FlushedTo() >= lsn {
			return nil
		}
		return l.Err()
	}
	err := l.flushAsLeader(lsn)
	l.flush.stepDown(l.FlushedTo())
	return err
}

// lead returns true when the caller has become the leader, false when another's
// flush reached lsn or the log died.
func (q *flushQueue) lead(l *Log, lsn storage.LSN) bool {
	q.Lock()
	if l.FlushedTo() >= lsn || l.Err() != nil {
		q.Unlock()
		return false
	}
	if !q.leading {
		q.leading = true
		q.Unlock()
		return true
	}
	w, _ := q.spare.Get().(*flushWaiter)
	if w == nil {
		w = &flushWaiter{wake: make(chan bool, 1)}
	}
	w.lsn = lsn
	q.waiters = append(q.waiters, w)
	q.Unlock()
	if l.m != nil {
		l.m.WALFlushWaits.Inc()
	}
	done := <-w.wake
	q.spare.Put(w)
	return !done
}

// stepDown wakes everybody whose LSN is durable and hands leadership to the
// first of the others.
func (q *flushQueue) stepDown(flushed storage.LSN) {
	q.Lock()
	defer q.Unlock()
	rest := q.waiters[:0]
	for _, w := range q.waiters {
		if w.lsn <= flushed {
			w.wake <- true
		} else {
			rest = append(rest, w)
		}
	}
	clear(q.waiters[len(rest):])
	q.waiters = rest
	q.leading = len(rest) > 0
	if q.leading {
		rest[0].wake <- false
		q.waiters = append(rest[:0], rest[1:]...)
		rest[len(rest)-1] = nil
	}
}

// failAll wakes all who wait; they find the log dead.
func (q *flushQueue) failAll() {
	q.Lock()
	defer q.Unlock()
	for _, w := range q.waiters {
		w.wake <- true
	}
	clear(q.waiters)
	q.waiters = q.waiters[:0]
}

// lockLeader keeps others from flushing, for Close: what they wait for is done.
func (q *flushQueue) lockLeader() {
	for {
		q.Lock()
		if !q.leading {
			q.leading = true
			q.Unlock()
			return
		}
		q.Unlock()
		time.Sleep(100 * time.Microsecond)
	}
}

func (q *flushQueue) unlockLeader() { q.stepDown(0) }

// flushAsLeader writes all that is copied, at least to lsn, and syncs it.
func (l *Log) flushAsLeader(lsn storage.LSN) error {
	target := l.waitCopied(lsn)
	if err := l.Err(); err != nil {
		return err
	}
	l.write.Lock()
	// Whoever inserted while we waited for the lock comes along.
	target = max(target, l.copiedTo())
	if err := l.writeLocked(target); err != nil {
		l.write.Unlock()
		return err
	}
	target = storage.LSN(l.written.Load())
	file, seg, method := l.write.file, l.write.seg, l.write.method
	retired := l.write.retired
	l.write.retired = nil
	l.write.Unlock()

	if file != nil {
		if err := l.syncFile(file, seg, method); err != nil {
			return err
		}
	}
	l.raiseFlushed(target)
	for _, f := range retired {
		_ = f.Close() // everything in it was synced
	}
	return nil
}

func (l *Log) raiseFlushed(lsn storage.LSN) {
	for {
		old := l.flushed.Load()
		if old >= uint64(lsn) || l.flushed.CompareAndSwap(old, uint64(lsn)) {
			return
		}
	}
}

func (l *Log) syncFile(f storage.File, seg int64, method SyncMethod) error {
	var start time.Time
	if metrics.Counting && l.m != nil {
		start = time.Now()
	}
	var err error
	switch method {
	case SyncFdatasync:
		err = f.Datasync()
	case SyncFsync:
		err = f.Sync()
	case SyncOpenDatasync, SyncOpenSync, SyncNone:
	}
	if err != nil {
		return l.die(ioError(err, "fsync file", l.segmentPath(seg)))
	}
	if metrics.Counting && l.m != nil {
		l.m.WALFlushes.Inc()
		l.m.WALFlushSeconds.Observe(time.Since(start).Seconds())
	}
	return nil
}

// writeLocked writes the ring up to upto, which must be copied, into the files.
// l.write is held.
func (l *Log) writeLocked(upto storage.LSN) error {
	if err := l.Err(); err != nil {
		return err
	}
	for pos := storage.LSN(l.written.Load()); pos < upto; {
		end := min(upto, l.segmentEnd(l.segmentOf(pos)))
		if err := l.openLocked(l.segmentOf(pos)); err != nil {
			return l.die(err)
		}
		if err := l.writeSpanLocked(pos&^(blockBytes-1), end); err != nil {
			return l.die(ioError(err, "write to file", l.segmentPath(l.write.seg)))
		}
		pos = end
		if pos == l.segmentEnd(l.write.seg) {
			// The next span opens the next file, and whoever syncs then syncs that one alone.
			if err := l.syncFile(l.write.file, l.write.seg, l.write.method); err != nil {
				return err
			}
		}
		l.written.Store(uint64(pos))
	}
	return nil
}

// writeSpanLocked writes [from, end), from on a block boundary, end filled up with
// zeros to one, all in one segment: the zeros wipe what the file held before
// and are overwritten by what comes next.
func (l *Log) writeSpanLocked(from, end storage.LSN) error {
	off := l.offsetInFile(from)
	n := int(end - from)
	padded := (n + blockBytes - 1) &^ (blockBytes - 1)
	if padded <= len(l.write.scratch) {
		buf := l.write.scratch[:padded]
		l.copyOut(buf[:n], from)
		clear(buf[n:])
		_, err := l.write.file.WriteAt(buf, off)
		return err
	}
	whole := n &^ (blockBytes - 1)
	for done := 0; done < whole; {
		at := uint64(from+storage.LSN(done)) & l.ringMask
		chunk := min(whole-done, len(l.ring)-int(at))
		if _, err := l.write.file.WriteAt(l.ring[at:int(at)+chunk], off+int64(done)); err != nil {
			return err
		}
		done += chunk
	}
	if whole == n {
		return nil
	}
	return l.writeSpanLocked(from+storage.LSN(whole), end)
}

func (l *Log) copyOut(dst []byte, from storage.LSN) {
	at := uint64(from) & l.ringMask
	n := copy(dst, l.ring[at:])
	copy(dst[n:], l.ring)
}

// openLocked makes l.write.file the file of segment seg, opened for the sync method set.
func (l *Log) openLocked(seg int64) error {
	method := l.cfg.SyncMethod()
	if l.write.seg == seg && l.write.method == method {
		return nil
	}
	if l.segmentEnd(seg) > storage.LSN(l.prepared.Load()) {
		if err := l.prepareTo(l.segmentEnd(seg)); err != nil {
			return err
		}
	}
	f, err := l.openSegment(seg, method)
	if err != nil {
		return err
	}
	if l.write.file != nil {
		if l.write.seg == seg {
			// A new sync method: what was written through the old handle is synced by it.
			if err := l.syncFile(l.write.file, seg, SyncFsync); err != nil {
				return err
			}
		}
		l.write.retired = append(l.write.retired, l.write.file)
	}
	if l.write.seg != seg && l.cfg.OnSegment != nil {
		l.cfg.OnSegment()
	}
	l.write.file, l.write.seg, l.write.method = f, seg, method
	if l.write.scratch == nil {
		l.write.scratch = make([]byte, 64<<10)
	}
	return nil
}
