package wal

import (
	"time"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/storage"
)

// SyncMethod is how the log reaches the disk (wal_sync_method).
type SyncMethod uint8

// The values of wal_sync_method, and none for fsync = off.
const (
	SyncFdatasync SyncMethod = iota
	SyncFsync
	SyncOpenDatasync
	SyncOpenSync
	SyncNone
)

// Config describes a log.
type Config struct {
	FS          storage.FS
	Dir         string // holds the segments, usually <data>/pg_wal
	SystemID    uint64
	Incarnation uint16 // one more than at any earlier start (Control.Incarnation)

	SegmentSize      int64 // power of two; 0: 16 MiB
	FirstSegmentSize int64 // of segment 0; 0: 1 MiB
	Buffers          int   // bytes of the ring, power of two; 0: 4 MiB

	SyncMethod     func() SyncMethod    // nil: fdatasync
	FullPageWrites func() bool          // nil: on
	WriterDelay    func() time.Duration // wal_writer_delay; nil: 200 ms

	Metrics *metrics.Set
	// Fatal is called once when a write or sync of the log failed, or when a
	// critical section panicked; it stops the server (nil: panic).
	Fatal func(error)

	// UnsafeNoFullPageImages leaves out page images: a variant that crash tests
	// must catch.
	UnsafeNoFullPageImages bool
}

// Log is the write-ahead log of a data directory.
type Log struct {
	cfg Config
}

// Open opens the log in cfg.Dir, which may be empty. Before anything is inserted
// Replay must find its end.
func Open(cfg Config) (*Log, error) { return &Log{cfg: cfg}, nil }

// Insert adds b's record and returns the LSN behind it, to stamp the pages
// with. Called inside Critical, after the buffers are marked dirty, their latches held.
func (l *Log) Insert(b *Builder) storage.LSN { return 0 }

// Flush makes the log durable up to lsn.
func (l *Log) Flush(lsn storage.LSN) error { return nil }

// FlushedTo returns the LSN up to which the log is durable.
func (l *Log) FlushedTo() storage.LSN { return 0 }

// InsertLSN returns where the next record will start.
func (l *Log) InsertLSN() storage.LSN { return 0 }

// FlushLater asks the log writer to flush up to lsn within three of its
// delays (synchronous_commit = off).
func (l *Log) FlushLater(lsn storage.LSN) {}

// Reserve makes sure that the log has room for bytes more: called before a
// critical section, it returns 53100 where the insertion could not.
func (l *Log) Reserve(bytes int) error { return nil }

// RedoPoint returns the redo point of the checkpoint in progress or the last
// one: pages with an older LSN are logged whole at their next change.
func (l *Log) RedoPoint() storage.LSN { return 0 }

// AdvanceRedoPoint moves the redo point to the insertion point and returns it.
func (l *Log) AdvanceRedoPoint() storage.LSN { return 0 }

// NeedsImage reports whether the next change of page must log it whole.
func (l *Log) NeedsImage(page storage.Page) bool { return false }

// Replay hands every whole record from LSN from on to fn, finds the end of the
// log and makes it the insertion point.
func (l *Log) Replay(from storage.LSN, fn func(rec *Record) error) (end storage.LSN, err error) {
	return 0, nil
}

// Close flushes what is left and stops the log writer.
func (l *Log) Close() error { return nil }
