package engine

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// Names in the data directory.
const (
	lockName    = "minipg.lock"
	versionName = "PG_VERSION"
	walDir      = "pg_wal"
	clogDir     = "pg_xact"
	catalogDir  = "catalog"
	baseDir     = "base"
	globalDir   = "global"

	versionText  = "15\n"
	dirPerm      = 0o700
	firstFile    = 16384 // file numbers of a new directory; all files are made later than it
	firstUserOID = uint64(catalog.FirstNormalOID)
)

// madeDirs are the directories initialisation makes, which an interrupted one may have left.
var madeDirs = []string{baseDir, globalDir, walDir, clogDir, catalogDir}

func (e *Engine) path(elem ...string) string {
	return path.Join(append([]string{e.cfg.Dir}, elem...)...)
}

// takeDirectory locks the data directory, reads its control file and, where there is none and
// nothing else, makes it one.
func (e *Engine) takeDirectory() error {
	if err := e.makeDirectory(); err != nil {
		return err
	}
	names, err := e.fs.List(e.cfg.Dir)
	if err != nil {
		return dirError(err, "could not open directory", e.cfg.Dir)
	}
	if !slices.Contains(names, wal.ControlName) {
		if err := e.mayInitialise(names); err != nil {
			return err
		}
	}
	if e.lock, err = e.fs.Lock(e.path(lockName)); errors.Is(err, fs.ErrPermission) {
		return dirError(err, "could not create lock file", lockName)
	} else if err != nil {
		return pgerr.Wrap(err, pgerr.LockFileExists, "lock file \"%s\" already exists", lockName).
			WithHint("Is another server running in data directory \"%s\"?", e.cfg.Dir)
	}
	c, err := wal.ReadControl(e.fs, e.cfg.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e.initialise()
	case err != nil:
		return err
	}
	e.control.Control = *c
	if c.State == wal.StateNew {
		return e.initialise()
	}
	return e.checkVersion()
}

// mayInitialise refuses a directory without a control file that is not to be made one with.
func (e *Engine) mayInitialise(names []string) error {
	if e.cfg.MustExist {
		return pgerr.New(pgerr.InvalidParameterValue, "\"%s\" is not a valid data directory", e.cfg.Dir).
			WithDetail("File \"%s\" is missing.", e.path(wal.ControlName))
	}
	for _, name := range names {
		if !allowedBefore(name) {
			return pgerr.New(pgerr.DuplicateFile, "directory \"%s\" exists but is not empty", e.cfg.Dir).
				WithHint("It holds \"%s\" and no %s.", name, wal.ControlName)
		}
	}
	return nil
}

// checkVersion refuses a directory of another version, or one that lost the file that says so.
func (e *Engine) checkVersion() error {
	name := e.path(versionName)
	text, err := e.readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return pgerr.New(pgerr.InvalidParameterValue, "\"%s\" is not a valid data directory", e.cfg.Dir).
			WithDetail("File \"%s\" is missing.", name)
	}
	if err != nil {
		return dirError(err, "could not read file", name)
	}
	if text != versionText {
		return pgerr.New(pgerr.InvalidParameterValue, "database files are incompatible with server").
			WithDetail("The data directory was initialized by version %s, which is not compatible with this version %s.",
				strings.TrimSpace(text), strings.TrimSpace(versionText))
	}
	return nil
}

// makeDirectory makes the data directory durably where it is not there.
func (e *Engine) makeDirectory() error {
	if _, err := e.fs.Stat(e.cfg.Dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := e.fs.MkdirAll(e.cfg.Dir, dirPerm); err != nil {
		return dirError(err, "could not create directory", e.cfg.Dir)
	}
	if err := e.fs.SyncDir(path.Dir(e.cfg.Dir)); err != nil {
		return dirError(err, "could not fsync directory", path.Dir(e.cfg.Dir))
	}
	return nil
}

// initialise makes the directory. The control file comes first, in state new, so that an
// initialisation that was interrupted is told from somebody's files.
func (e *Engine) initialise() error {
	e.control.Control = wal.Control{
		SystemID: e.cfg.Random() | 1, State: wal.StateNew, Time: e.cfg.Now().UnixMicro(),
		NextXID: uint64(txn.FirstXID), OldestXID: uint64(txn.FirstXID),
		NextOID: uint32(firstUserOID), NextFile: firstFile,
		SegmentSize: e.opt.WALSegmentSize, FirstSegmentSize: e.opt.WALFirstSegmentSize,
	}
	if err := wal.WriteControl(e.fs, e.cfg.Dir, &e.control.Control); err != nil {
		return err
	}
	for _, dir := range madeDirs {
		if err := removeTree(e.fs, e.path(dir)); err != nil {
			return dirError(err, "could not remove directory", dir)
		}
	}
	dirs := append(slices.Clone(madeDirs), path.Join(baseDir, "1"), path.Join(baseDir, "4"), path.Join(baseDir, "5"))
	for _, dir := range dirs {
		if err := e.fs.MkdirAll(e.path(dir), dirPerm); err != nil {
			return dirError(err, "could not create directory", dir)
		}
	}
	if err := e.fs.SyncDir(e.path(baseDir)); err != nil {
		return dirError(err, "could not fsync directory", baseDir)
	}
	// Syncs the data directory too.
	return wal.WriteFileAtomic(e.fs, e.path(versionName), []byte(versionText))
}

// allowedBefore tells whether a file may be in a directory that is to be initialised.
func allowedBefore(name string) bool {
	switch name {
	case lockName, "lost+found", "minipg.conf", "minipg.auto.conf", "pg_hba.conf", wal.ControlName + ".tmp":
		return true
	}
	return false
}

func removeTree(fsys storage.FS, dir string) error {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		name = path.Join(dir, name)
		info, err := fsys.Stat(name)
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = removeTree(fsys, name)
		} else {
			err = fsys.Remove(name)
		}
		if err != nil {
			return err
		}
	}
	return fsys.Remove(dir)
}

func dirError(err error, doing, name string) error {
	return storage.FileError(err, "%s \"%s\"", doing, name)
}
