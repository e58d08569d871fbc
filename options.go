package minipg

import (
	"time"

	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// engineOptions hands the settings to the engine; those that may change are asked each time.
func engineOptions(set *settings.Server) engine.Options {
	ms := func(id settings.ID) func() time.Duration {
		return func() time.Duration { return time.Duration(set.Real(id) * float64(time.Millisecond)) }
	}
	intMS := func(id settings.ID) func() time.Duration {
		return func() time.Duration { return time.Duration(set.Int(id)) * time.Millisecond }
	}
	seconds := func(id settings.ID) func() time.Duration {
		return func() time.Duration { return time.Duration(set.Int(id)) * time.Second }
	}
	integer := func(id settings.ID) func() int64 { return func() int64 { return set.Int(id) } }
	number := func(id settings.ID) func() float64 { return func() float64 { return set.Real(id) } }
	count := func(id settings.ID) func() int { return func() int { return int(set.Int(id)) } }
	bytes := func(id settings.ID) func() int64 { return func() int64 { return set.Bytes(id) } }
	o := engine.Options{
		SharedBuffers:        int(set.Bytes(settings.SharedBuffers) / storage.PageSize),
		MaxWALSize:           bytes(settings.MaxWalSize),
		MinWALSize:           bytes(settings.MinWalSize),
		CheckpointTimeout:    seconds(settings.CheckpointTimeout),
		CheckpointCompletion: number(settings.CheckpointCompletionTarget),
		FullPageWrites:       func() bool { return set.Bool(settings.FullPageWrites) },
		WALSyncMethod:        func() wal.SyncMethod { return syncMethod(set) },
		WALWriterDelay:       intMS(settings.WalWriterDelay),
		BgwriterDelay:        intMS(settings.BgwriterDelay),
		BgwriterMaxPages:     count(settings.BgwriterLruMaxpages),
		DeadlockTimeout:      intMS(settings.DeadlockTimeout),
		HeavyweightExtension: set.Str(settings.RelationExtensionLock) == "heavyweight",
		ExtensionEntries:     int(set.Int(settings.RelationExtensionLockEntries)),
		WaitHistoryThreshold: ms(settings.WaitHistoryThreshold),

		Autovacuum:                 func() bool { return set.Bool(settings.Autovacuum) },
		AutovacuumNaptime:          seconds(settings.AutovacuumNaptime),
		AutovacuumThreshold:        integer(settings.AutovacuumVacuumThreshold),
		AutovacuumScaleFactor:      number(settings.AutovacuumVacuumScaleFactor),
		AutovacuumInsertThreshold:  integer(settings.AutovacuumVacuumInsertThreshold),
		AutovacuumInsertScale:      number(settings.AutovacuumVacuumInsertScaleFactor),
		AutovacuumAnalyzeThreshold: integer(settings.AutovacuumAnalyzeThreshold),
		AutovacuumAnalyzeScale:     number(settings.AutovacuumAnalyzeScaleFactor),
		AutovacuumCostDelay:        ms(settings.AutovacuumVacuumCostDelay),
		AutovacuumMaxWorkers:       count(settings.AutovacuumMaxWorkers),
		VacuumCostDelay:            ms(settings.VacuumCostDelay),
		VacuumCostLimit:            count(settings.VacuumCostLimit),
		MaintenanceWorkMem:         bytes(settings.MaintenanceWorkMem),
	}
	o.AutovacuumCostLimit = func() int {
		if n := set.Int(settings.AutovacuumVacuumCostLimit); n > 0 {
			return int(n)
		}
		return int(set.Int(settings.VacuumCostLimit))
	}
	return o
}

func syncMethod(set *settings.Server) wal.SyncMethod {
	if !set.Bool(settings.Fsync) {
		return wal.SyncNone
	}
	switch set.Str(settings.WalSyncMethod) {
	case "fsync":
		return wal.SyncFsync
	case "open_datasync":
		return wal.SyncOpenDatasync
	case "open_sync":
		return wal.SyncOpenSync
	}
	return wal.SyncFdatasync
}
