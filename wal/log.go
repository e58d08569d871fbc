package wal

import (
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// Defaults of Config.
const (
	DefaultSegmentSize      = 16 << 20
	DefaultFirstSegmentSize = 1 << 20
	DefaultBuffers          = 4 << 20
	defaultWriterDelay      = 200 * time.Millisecond
)

// blockBytes is the unit in which the log is written: the kernel's page, so that a write
// never has to read the rest of one from the disk first.
const blockBytes = 4096

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

	SegmentSize      int64 // power of two, at least 64 KiB; 0: 16 MiB
	FirstSegmentSize int64 // of segment 0, a multiple of 4 KiB below SegmentSize; 0: 1 MiB
	Buffers          int   // bytes of the ring, power of two, at least 64 KiB; 0: 4 MiB

	SyncMethod     func() SyncMethod    // nil: fdatasync
	FullPageWrites func() bool          // nil: on
	WriterDelay    func() time.Duration // wal_writer_delay; nil: 200 ms

	Metrics *metrics.Set // nil: not counted
	// Fatal is called once when a write or sync of the log failed; it stops the
	// server (nil: the process dies). It may run with the log's locks held: it
	// neither waits nor calls Flush or Close.
	Fatal func(error)

	// OnSegment, if set, is called when the log enters another segment; it must not wait.
	OnSegment func()

	// UnsafeNoFullPageImages leaves out page images: a variant that crash tests
	// must catch.
	UnsafeNoFullPageImages bool
}

// Log is the write-ahead log of a data directory.
type Log struct {
	cfg     Config
	m       *metrics.Set
	segSize int64
	first   storage.LSN // where the stream starts

	ring     []byte
	ringMask uint64

	// insert hands out the stream: the few instructions all inserters share.
	insert struct {
		sync.Mutex
		pos  storage.LSN // where the next record starts
		prev storage.LSN // where the last one starts, 0 for none
	}
	slots [insertSlots]insertSlot

	insertPos atomic.Uint64 // insert.pos, for readers without the lock
	redo      atomic.Uint64 // redo point; changes under insert
	written   atomic.Uint64 // in the files
	flushed   atomic.Uint64 // durable
	prepared  atomic.Uint64 // segments exist up to here

	// write owns the files' tail. Invariant 3.
	write struct {
		sync.Mutex
		seg     int64 // of file
		file    storage.File
		method  SyncMethod     // file is opened for it
		retired []storage.File // synced and left behind; the next leader closes them
		scratch []byte
	}

	flush flushQueue

	segments sync.Mutex // serialises creation, recycling and removal of segments

	dead   atomic.Pointer[deadLog] // Invariant 4
	writer writerState

	hintBuilders builderPool
	scanned      bool // Replay found the end
}

type deadLog struct{ err error }

// Open opens the log in cfg.Dir, which may be empty. Before anything is inserted
// Replay must find its end.
func Open(cfg Config) (*Log, error) {
	if cfg.SegmentSize == 0 {
		cfg.SegmentSize = DefaultSegmentSize
	}
	if cfg.FirstSegmentSize == 0 {
		cfg.FirstSegmentSize = min(DefaultFirstSegmentSize, cfg.SegmentSize/2)
	}
	if cfg.Buffers == 0 {
		cfg.Buffers = DefaultBuffers
	}
	if cfg.SyncMethod == nil {
		cfg.SyncMethod = func() SyncMethod { return SyncFdatasync }
	}
	if cfg.FullPageWrites == nil {
		cfg.FullPageWrites = func() bool { return true }
	}
	if cfg.WriterDelay == nil {
		cfg.WriterDelay = func() time.Duration { return defaultWriterDelay }
	}
	if cfg.Fatal == nil {
		cfg.Fatal = func(err error) { Die(err) }
	}
	if err := checkSizes(&cfg); err != nil {
		return nil, err
	}
	l := &Log{
		cfg: cfg, m: cfg.Metrics, segSize: cfg.SegmentSize,
		first:    storage.LSN(cfg.SegmentSize - cfg.FirstSegmentSize),
		ring:     make([]byte, cfg.Buffers),
		ringMask: uint64(cfg.Buffers - 1),
	}
	l.write.seg = -1
	if err := cfg.FS.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, ioError(err, "create directory", cfg.Dir)
	}
	return l, l.removeTemporaries()
}

func checkSizes(cfg *Config) error {
	power := func(n int64) bool { return n >= 64<<10 && bits.OnesCount64(uint64(n)) == 1 }
	if !power(cfg.SegmentSize) || !power(int64(cfg.Buffers)) ||
		cfg.FirstSegmentSize <= 0 || cfg.FirstSegmentSize >= cfg.SegmentSize || cfg.FirstSegmentSize%blockBytes != 0 {
		return pgerr.New(pgerr.InvalidParameterValue, "invalid log sizes: segment %d, first %d, buffers %d",
			cfg.SegmentSize, cfg.FirstSegmentSize, cfg.Buffers)
	}
	return nil
}

// FirstLSN returns where the stream of a directory starts.
func (l *Log) FirstLSN() storage.LSN { return l.first }

// FlushedTo returns the LSN up to which the log is durable.
func (l *Log) FlushedTo() storage.LSN { return storage.LSN(l.flushed.Load()) }

// WrittenTo returns the LSN up to which the log is in its files.
func (l *Log) WrittenTo() storage.LSN { return storage.LSN(l.written.Load()) }

// InsertLSN returns where the next record will start.
func (l *Log) InsertLSN() storage.LSN { return storage.LSN(l.insertPos.Load()) }

// RedoPoint returns the redo point of the checkpoint in progress or the last
// one: pages with an older LSN are logged whole at their next change.
func (l *Log) RedoPoint() storage.LSN { return storage.LSN(l.redo.Load()) }

// SetRedoPoint makes lsn the redo point: recovery calls it with the control
// file's before the first insertion.
func (l *Log) SetRedoPoint(lsn storage.LSN) { l.redo.Store(uint64(lsn)) }

// SetIncarnation replaces Config.Incarnation, before Replay.
func (l *Log) SetIncarnation(n uint16) { l.cfg.Incarnation = n }

// AdvanceRedoPoint moves the redo point to the insertion point and returns it.
func (l *Log) AdvanceRedoPoint() storage.LSN {
	l.insert.Lock()
	defer l.insert.Unlock()
	l.redo.Store(uint64(l.insert.pos))
	return l.insert.pos
}

// NeedsImage reports whether the next change of page must log
// it whole.
func (l *Log) NeedsImage(page storage.Page) bool {
	return uint64(page.LSN()) <= l.redo.Load() && l.images()
}

func (l *Log) images() bool { return !l.cfg.UnsafeNoFullPageImages && l.cfg.FullPageWrites() }

// Err returns why the log is dead, or nil.
func (l *Log) Err() error {
	if d := l.dead.Load(); d != nil {
		return d.err
	}
	return nil
}

// die is the end of the log: Invariant 4.
func (l *Log) die(err error) error {
	if l.dead.CompareAndSwap(nil, &deadLog{err}) {
		l.flush.failAll()
		l.cfg.Fatal(err)
	}
	return l.Err()
}

// Kill makes every later insertion a no-op and every later flush fail, as if
// the process had died here (immediate shutdown).
func (l *Log) Kill() {
	err := pgerr.New(pgerr.AdminShutdown, "the log is closed")
	if l.dead.CompareAndSwap(nil, &deadLog{err}) {
		l.flush.failAll()
	}
}

// Close flushes what is left, stops the background writer and closes the files.
func (l *Log) Close() error {
	var err error
	if l.scanned && l.Err() == nil {
		err = l.Flush(l.InsertLSN())
	}
	l.writer.stop()
	l.flush.lockLeader()
	defer l.flush.unlockLeader()
	l.write.Lock()
	defer l.write.Unlock()
	for _, f := range append(l.write.retired, l.write.file) {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	l.write.retired, l.write.file, l.write.seg = nil, nil, -1
	return err
}
