package wal

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/storage"
)

// writerFlushAfter is how much unflushed log makes the writer flush at once
// (PostgreSQL's default wal_writer_flush_after).
const writerFlushAfter = 1 << 20

// prepareRetry is how long the preparer leaves a full disk alone.
const prepareRetry = 200 * time.Millisecond

// writerState is the two background goroutines of a log: the writer flushes what
// asynchronous commits left, the preparer keeps segments ready.
type writerState struct {
	flushWanted chan struct{} // something is to be flushed within the delay
	flushNow    chan struct{} // at once
	prepare     chan struct{}
	done        chan struct{}
	running     sync.WaitGroup
	started     atomic.Bool
	asyncTo     atomic.Uint64 // highest LSN an asynchronous commit asked for
	preparing   atomic.Bool   // kicked and not finished
}

func (l *Log) startWriter() {
	w := &l.writer
	w.flushWanted = make(chan struct{}, 1)
	w.flushNow = make(chan struct{}, 1)
	w.prepare = make(chan struct{}, 1)
	w.done = make(chan struct{})
	w.running.Add(2)
	w.started.Store(true)
	go l.runWriter()
	go l.runPreparer()
}

func (w *writerState) stop() {
	if w.started.CompareAndSwap(true, false) {
		close(w.done)
		w.running.Wait()
	}
}

func kick(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (w *writerState) kickPrepare() {
	if !w.preparing.Load() && w.preparing.CompareAndSwap(false, true) {
		kick(w.prepare)
	}
}

// FlushLater asks the log writer to flush up to lsn within three of its
// delays (synchronous_commit = off).
func (l *Log) FlushLater(lsn storage.LSN) {
	w := &l.writer
	for {
		old := w.asyncTo.Load()
		if old >= uint64(lsn) {
			break
		}
		if w.asyncTo.CompareAndSwap(old, uint64(lsn)) {
			kick(w.flushWanted)
			break
		}
	}
	if l.insertPos.Load()-l.flushed.Load() > writerFlushAfter {
		kick(w.flushNow)
	}
}

func (l *Log) runWriter() {
	w := &l.writer
	defer w.running.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-w.flushWanted:
		}
		if storage.LSN(w.asyncTo.Load()) <= l.FlushedTo() {
			continue
		}
		timer.Reset(l.cfg.WriterDelay())
		select {
		case <-w.done:
			return
		case <-w.flushNow:
		case <-timer.C:
		}
		// An error has killed the log and called the fatal handler already.
		_ = l.Flush(storage.LSN(w.asyncTo.Load()))
	}
}

func (l *Log) runPreparer() {
	w := &l.writer
	defer w.running.Done()
	for {
		select {
		case <-w.done:
			return
		case <-w.prepare:
		}
		pos := l.InsertLSN()
		// A full disk is Reserve's to report, to a statement that needs the space.
		if l.prepareTo(pos+l.ahead(pos)) != nil {
			select {
			case <-w.done:
				return
			case <-time.After(prepareRetry):
			}
		}
		w.preparing.Store(false)
	}
}
