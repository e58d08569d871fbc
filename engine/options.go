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

	MaxWALSize           func() int64 // bytes; 1 GB
	MinWALSize           func() int64 // bytes; 80 MB
	CheckpointTimeout    func() time.Duration
	CheckpointCompletion func() float64
	FullPageWrites       func() bool
	WALSyncMethod        func() wal.SyncMethod // SyncNone with fsync = off
	WALWriterDelay       func() time.Duration
	BgwriterDelay        func() time.Duration
	BgwriterMaxPages     func() int
	DeadlockTimeout      func() time.Duration

	HeavyweightExtension bool // relation_extension_lock = heavyweight
	ExtensionEntries     int  // relation_extension_lock_entries; 0: 1024
	MaxLocks             int

	Autovacuum                 func() bool
	AutovacuumNaptime          func() time.Duration
	AutovacuumThreshold        func() int64
	AutovacuumScaleFactor      func() float64
	AutovacuumInsertThreshold  func() int64
	AutovacuumInsertScale      func() float64
	AutovacuumAnalyzeThreshold func() int64
	AutovacuumAnalyzeScale     func() float64
	AutovacuumCostDelay        func() time.Duration
	AutovacuumCostLimit        func() int
	MaintenanceWorkMem         func() int64 // bytes; 64 MB
}
