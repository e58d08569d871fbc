package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// ControlName is the control file's name in the data directory.
const ControlName = "minipg.control"

const (
	controlMagic   = "minipgctl"
	controlVersion = 1
	maxControl     = 1 << 20
)

// State is what the control file says about the directory.
type State uint8

// The states of a data directory.
const (
	StateNew State = iota // initialisation did not finish
	StateShutDown
	StateInProduction
	StateInRecovery
)

// String returns the state as pg_controldata words it.
func (s State) String() string {
	switch s {
	case StateNew:
		return "starting up"
	case StateShutDown:
		return "shut down"
	case StateInProduction:
		return "in production"
	case StateInRecovery:
		return "in crash recovery"
	}
	return "unrecognized status code"
}

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

// controlFixed is the file's part of fixed size, in its order.
type controlFixed struct {
	Magic                                        [len(controlMagic)]byte
	Version                                      uint16
	State                                        State
	SystemID                                     uint64
	Incarnation                                  uint16
	Time                                         int64
	Checkpoint, Redo, NextXID, OldestXID         uint64
	NextOID                                      uint32
	NextFile                                     uint64
	SegmentSize, FirstSegmentSize, CatalogLength int64
}

// ReadControl reads dir's control file; the error is fs.ErrNotExist when there is none.
func ReadControl(fs storage.FS, dir string) (*Control, error) {
	name := path.Join(dir, ControlName)
	f, err := fs.OpenFile(name, os.O_RDONLY, filePerm)
	if err != nil {
		return nil, ioError(err, "open file", name)
	}
	b, err := readAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, ioError(err, "read file", name)
	}
	return decodeControl(b)
}

func readAll(f storage.File) ([]byte, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(size, maxControl))
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

func decodeControl(b []byte) (*Control, error) {
	var fixed controlFixed
	damaged := pgerr.New(pgerr.DataCorrupted, "control file %q is damaged", ControlName)
	if len(b) < binary.Size(fixed)+4 {
		return nil, damaged
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, damaged
	}
	if err := binary.Read(bytes.NewReader(body), binary.LittleEndian, &fixed); err != nil {
		return nil, damaged
	}
	if string(fixed.Magic[:]) != controlMagic || fixed.Version != controlVersion {
		return nil, pgerr.New(pgerr.ObjectNotInPrerequisiteState,
			"database files are incompatible with server").
			WithDetail("The control file has version %d, this server understands %d.", fixed.Version, controlVersion)
	}
	rest := body[binary.Size(fixed):]
	if int64(len(rest)) != fixed.CatalogLength {
		return nil, damaged
	}
	return &Control{
		SystemID: fixed.SystemID, State: fixed.State, Incarnation: fixed.Incarnation, Time: fixed.Time,
		Checkpoint: storage.LSN(fixed.Checkpoint), Redo: storage.LSN(fixed.Redo),
		NextXID: fixed.NextXID, OldestXID: fixed.OldestXID,
		NextOID: fixed.NextOID, NextFile: storage.FileNumber(fixed.NextFile),
		SegmentSize: fixed.SegmentSize, FirstSegmentSize: fixed.FirstSegmentSize,
		Catalog: bytes.Clone(rest),
	}, nil
}

func (c *Control) encode() ([]byte, error) {
	fixed := controlFixed{
		Version: controlVersion, State: c.State, SystemID: c.SystemID, Incarnation: c.Incarnation, Time: c.Time,
		Checkpoint: uint64(c.Checkpoint), Redo: uint64(c.Redo),
		NextXID: c.NextXID, OldestXID: c.OldestXID,
		NextOID: c.NextOID, NextFile: uint64(c.NextFile),
		SegmentSize: c.SegmentSize, FirstSegmentSize: c.FirstSegmentSize, CatalogLength: int64(len(c.Catalog)),
	}
	copy(fixed.Magic[:], controlMagic)
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, &fixed); err != nil {
		return nil, err
	}
	b.Write(c.Catalog)
	return binary.LittleEndian.AppendUint32(b.Bytes(), crc32.Checksum(b.Bytes(), castagnoli)), nil
}

// WriteControl replaces dir's control file atomically and durably.
func WriteControl(fs storage.FS, dir string, c *Control) error {
	b, err := c.encode()
	if err != nil {
		return err
	}
	return WriteFileAtomic(fs, path.Join(dir, ControlName), b)
}

// WriteFileAtomic makes name's content b: all of it or, after a crash, all of the old.
func WriteFileAtomic(fs storage.FS, name string, b []byte) error {
	temp := name + ".tmp"
	f, err := fs.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return ioError(err, "create file", temp)
	}
	if _, err = f.WriteAt(b, 0); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return ioError(err, "write to file", temp)
	}
	if err := fs.Rename(temp, name); err != nil {
		return ioError(err, "rename file", temp)
	}
	if err := fs.SyncDir(path.Dir(name)); err != nil {
		return ioError(err, "fsync directory", path.Dir(name))
	}
	return nil
}
