package engine

import (
	"time"

	"github.com/minipg/minipg/wal"
)

// Options are the settings the engine goes by. Those given as functions are asked each time,
// so a reload takes effect; nil is the default.
type Options struct {
	SharedBuffers int // frames; 0: 16384 (128 MB)
	WALBuffers    int // bytes, power of two; 0: by SharedBuffers

	CatalogCache    int64  // bytes of committed catalog blocks cached; 0: the catalog's default
	CatalogMemTable uint64 // bytes of catalog changes kept until they are flushed; 0: the default

	WALSegmentSize      int64 // of a new directory; 0: 16 MB
	WALFirstSegmentSize int64 // of a new directory's first segment; 0: 1 MB

	MaxWALSize           func() int64         // bytes; 1 GB
	MinWALSize           func() int64         // bytes; 80 MB
	CheckpointTimeout    func() time.Duration // 5 min
	CheckpointCompletion func() float64       // 0.9
	FullPageWrites       func() bool
	WALSyncMethod        func() wal.SyncMethod // SyncNone with fsync = off
	WALWriterDelay       func() time.Duration  // 200 ms
	BgwriterDelay        func() time.Duration  // 200 ms
	BgwriterMaxPages     func() int            // 100
	DeadlockTimeout      func() time.Duration  // 1 s

	HeavyweightExtension bool // relation_extension_lock = heavyweight
	ExtensionEntries     int  // relation_extension_lock_entries; 0: 1024
	MaxLocks             int
	WaitHistoryThreshold func() time.Duration // 10 ms

	Autovacuum                 func() bool          // on
	AutovacuumNaptime          func() time.Duration // 1 min
	AutovacuumThreshold        func() int64         // 50
	AutovacuumScaleFactor      func() float64       // 0.2
	AutovacuumInsertThreshold  func() int64         // 1000; below 0 never
	AutovacuumInsertScale      func() float64       // 0.2
	AutovacuumAnalyzeThreshold func() int64         // 50
	AutovacuumAnalyzeScale     func() float64       // 0.1
	AutovacuumCostDelay        func() time.Duration // 2 ms
	AutovacuumCostLimit        func() int           // 200
	AutovacuumMaxWorkers       func() int           // 3
	VacuumCostDelay            func() time.Duration // 0: never
	VacuumCostLimit            func() int           // 200
	MaintenanceWorkMem         func() int64         // bytes; 64 MB
}

const (
	defaultSharedBuffers = 16384
	minWALBuffers        = 64 << 10
	maxWALBuffers        = 16 << 20
	// walBuffersShare is PostgreSQL's: a thirty-second of shared_buffers.
	walBuffersShare         = 32
	defaultExtensionEntries = 1024
	megabyte                = 1 << 20
)

func setDefault[T any](f *func() T, v T) {
	if *f == nil {
		*f = func() T { return v }
	}
}

func (o *Options) setDefaults() {
	if o.SharedBuffers == 0 {
		o.SharedBuffers = defaultSharedBuffers
	}
	if o.WALBuffers == 0 {
		o.WALBuffers = minWALBuffers
		for o.WALBuffers < maxWALBuffers && o.WALBuffers < o.SharedBuffers*8192/walBuffersShare {
			o.WALBuffers *= 2
		}
	}
	if o.WALSegmentSize == 0 {
		o.WALSegmentSize = wal.DefaultSegmentSize
	}
	if o.WALFirstSegmentSize == 0 {
		o.WALFirstSegmentSize = min(wal.DefaultFirstSegmentSize, o.WALSegmentSize/2)
	}
	if o.ExtensionEntries == 0 {
		o.ExtensionEntries = defaultExtensionEntries
	}
	setDefault(&o.MaxWALSize, 1024*megabyte)
	setDefault(&o.MinWALSize, 80*megabyte)
	setDefault(&o.CheckpointTimeout, 5*time.Minute)
	setDefault(&o.CheckpointCompletion, 0.9)
	setDefault(&o.FullPageWrites, true)
	setDefault(&o.WALSyncMethod, wal.SyncFdatasync)
	setDefault(&o.WALWriterDelay, 200*time.Millisecond)
	setDefault(&o.BgwriterDelay, 200*time.Millisecond)
	setDefault(&o.BgwriterMaxPages, 100)
	setDefault(&o.DeadlockTimeout, time.Second)
	setDefault(&o.WaitHistoryThreshold, 10*time.Millisecond)
	setDefault(&o.Autovacuum, true)
	setDefault(&o.AutovacuumNaptime, time.Minute)
	setDefault(&o.AutovacuumThreshold, 50)
	setDefault(&o.AutovacuumScaleFactor, 0.2)
	setDefault(&o.AutovacuumInsertThreshold, 1000)
	setDefault(&o.AutovacuumInsertScale, 0.2)
	setDefault(&o.AutovacuumAnalyzeThreshold, 50)
	setDefault(&o.AutovacuumAnalyzeScale, 0.1)
	setDefault(&o.AutovacuumCostDelay, 2*time.Millisecond)
	setDefault(&o.AutovacuumCostLimit, 200)
	setDefault(&o.AutovacuumMaxWorkers, 3)
	setDefault(&o.VacuumCostDelay, 0)
	setDefault(&o.VacuumCostLimit, 200)
	setDefault(&o.MaintenanceWorkMem, 64*megabyte)
}
