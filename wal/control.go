package wal

import "github.com/minipg/minipg/storage"

// State is what the control file says about the directory.
type State uint8

// The states of a data directory.
const (
	StateNew State = iota
	StateShutDown
	StateInProduction
	StateInRecovery
)

// Control is the control file: where recovery starts and what it starts from.
type Control struct {
	SystemID    uint64
	State       State
	Incarnation uint16
	Time        int64 // unix microseconds of the last write

	Checkpoint storage.LSN // of the last checkpoint's record
	Redo       storage.LSN // where its replay starts
	NextXID    uint64
	OldestXID  uint64
	NextOID    uint32
	NextFile   storage.FileNumber

	SegmentSize      int64
	FirstSegmentSize int64
	Catalog          []byte // the catalog's own
}

// ReadControl reads dir's control file; fs.ErrNotExist when there is none.
func ReadControl(fs storage.FS, dir string) (*Control, error) { return nil, nil }

// WriteControl replaces dir's control file atomically and durably.
func WriteControl(fs storage.FS, dir string, c *Control) error { return nil }
