package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// A tablespace is the directory storage.TablespaceDir in its location, with a directory for each
// database and a marker that says whose it is. Where it is stands in its row of pg_tablespace,
// from which every start learns it, and in the log record of its creation, since the record of a
// file in it may be replayed before that row is there.

// markerName is the file that tells one data directory's tablespace from another's.
const markerName = "minipg.tablespace"

// wholeTablespace stands for a tablespace in the list of a commit or abort record.
func wholeTablespace(oid catalog.OID) storage.RelFile {
	return storage.RelFile{Tablespace: uint32(oid)}
}

func isWholeTablespace(f storage.RelFile) bool {
	return f.Number == 0 && f.Database == 0 && f.Tablespace != 0
}

// loadTablespaces tells the relation files where the tablespaces are that the last checkpoint knew.
func (e *Engine) loadTablespaces() error {
	return e.cat.Begin(0).Scan(catalog.PgTablespace, nil, func(r catalog.Row) error {
		if at := r[catalog.TablespaceLocation]; !at.Null && at.String() != "" {
			e.setTablespace(r[catalog.TablespaceOid].OID(), at.String())
		}
		return nil
	})
}

func (e *Engine) setTablespace(oid catalog.OID, location string) {
	e.pool.Files().SetTablespace(uint32(oid), path.Join(location, storage.TablespaceDir))
}

// CreateTablespace makes the directories of a tablespace in a location that is there; they go away
// if the transaction aborts. The row is the caller's.
func (s *Session) CreateTablespace(_ context.Context, oid catalog.OID, location string) error {
	info, err := s.e.fs.Stat(location)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return pgerr.New(pgerr.UndefinedFile, "directory \"%s\" does not exist", location)
	case err != nil:
		return dirError(err, "could not stat directory", location)
	case !info.IsDir():
		return pgerr.New(pgerr.WrongObjectType, "\"%s\" exists but is not a directory", location)
	}
	if err := s.e.mayTakeDirectory(location); err != nil {
		return err
	}
	lsn, err := s.logTablespace(kindCreateTablespace, oid, location)
	if err != nil {
		return err
	}
	s.made = append(s.made, wholeTablespace(oid))
	// Nobody would find a directory that a crash leaves if the log did not know of it.
	if err := s.e.log.Flush(lsn); err != nil {
		return err
	}
	return s.e.makeTablespace(oid, location)
}

func (s *Session) logTablespace(kind wal.Kind, oid catalog.OID, location string) (storage.LSN, error) {
	if err := s.e.log.Reserve(createReserve + len(location)); err != nil {
		return 0, err
	}
	s.builder.Reset(wal.RMEngine, kind, uint64(s.tx.XID()), 0)
	s.builder.Data(wal.AppendRelFile(nil, wholeTablespace(oid))...)
	s.builder.Data([]byte(location)...)
	return s.e.log.Insert(&s.builder), nil
}

// mayTakeDirectory refuses a location where there is a tablespace already. What a crash left
// behind of one of our own is no tablespace.
func (e *Engine) mayTakeDirectory(location string) error {
	dir := path.Join(location, storage.TablespaceDir)
	inUse := pgerr.New(pgerr.ObjectInUse, "directory \"%s\" already in use as a tablespace", dir)
	names, err := e.fs.List(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return inUse
	}
	if _, known := e.pool.Files().TablespaceAt(dir); known {
		return inUse
	}
	if owner, err := e.readFile(path.Join(dir, markerName)); err != nil || owner != e.marker() {
		return inUse
	}
	for _, name := range names {
		if name == markerName {
			continue
		}
		if sub, err := e.fs.List(path.Join(dir, name)); err != nil || len(sub) > 0 {
			return inUse
		}
	}
	return nil
}

func (e *Engine) marker() string { return fmt.Sprintf("%d\n", e.control.SystemID) }

func (e *Engine) readFile(name string) (string, error) {
	f, err := e.fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	size, err := f.Size()
	if err != nil || size > storage.PageSize {
		return "", err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if n == len(b) {
		err = nil
	}
	return string(b), err
}

// makeTablespace makes the directory durably. It may be there: redo meets its own.
func (e *Engine) makeTablespace(oid catalog.OID, location string) error {
	dir := path.Join(location, storage.TablespaceDir)
	if err := e.fs.MkdirAll(dir, dirPerm); err != nil {
		return dirError(err, "could not create directory", dir)
	}
	if err := wal.WriteFileAtomic(e.fs, path.Join(dir, markerName), []byte(e.marker())); err != nil {
		return err
	}
	if err := e.fs.SyncDir(location); err != nil {
		return dirError(err, "could not fsync directory", location)
	}
	e.setTablespace(oid, location)
	return nil
}

// DropTablespace removes the directories of a tablespace when the transaction commits; 55000 when
// there is a file in it. Nobody can be making one: the caller holds the tablespace's lock.
func (s *Session) DropTablespace(ctx context.Context, oid catalog.OID, name string) error {
	// Files of relations just dropped go away right after the commit.
	const tries, pause = 10, 20 * time.Millisecond
	for try := 1; ; try++ {
		empty, err := s.e.tablespaceEmpty(oid)
		if err != nil {
			return err
		}
		if empty {
			break
		}
		if try == tries {
			return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "tablespace \"%s\" is not empty", name)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	if dir, ok := s.e.pool.Files().TablespacePath(uint32(oid)); ok {
		// Replay may find the row gone already, and has to know where to remove what.
		if _, err := s.logTablespace(kindNameTablespace, oid, path.Dir(dir)); err != nil {
			return err
		}
	}
	s.dropped = append(s.dropped, wholeTablespace(oid))
	return nil
}

func (e *Engine) tablespaceEmpty(oid catalog.OID) (bool, error) {
	dir, ok := e.pool.Files().TablespacePath(uint32(oid))
	if !ok {
		return true, nil
	}
	empty := true
	err := e.eachDatabaseDir(dir, func(_ catalog.OID, sub string) error {
		files, err := e.fs.List(sub)
		empty = empty && len(files) == 0
		return err
	})
	return empty, err
}

// eachDatabaseDir calls fn for each database's directory in a tablespace's.
func (e *Engine) eachDatabaseDir(dir string, fn func(db catalog.OID, sub string) error) error {
	names, err := e.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return dirError(err, "could not open directory", dir)
	}
	for _, name := range names {
		var db catalog.OID
		if _, err := fmt.Sscanf(name, "%d", &db); err != nil || strings.Contains(name, ".") {
			continue
		}
		if err := fn(db, path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// removeTablespace takes the directories away of a tablespace that was dropped, or never came to be.
func (e *Engine) removeTablespace(oid catalog.OID) error {
	files := e.pool.Files()
	dir, ok := files.TablespacePath(uint32(oid))
	if !ok {
		return nil
	}
	err := e.eachDatabaseDir(dir, func(_ catalog.OID, sub string) error { return e.fs.Remove(sub) })
	for _, name := range []string{path.Join(dir, markerName), dir} {
		if err == nil {
			err = e.fs.Remove(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	files.ForgetTablespace(uint32(oid))
	if err != nil {
		e.logger.Sugar().Warnf("could not remove directory \"%s\": %v", dir, err)
		return nil // it is in nobody's way: see mayTakeDirectory
	}
	if err := e.fs.SyncDir(path.Dir(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dirError(err, "could not fsync directory", path.Dir(dir))
	}
	return nil
}

// sweepTablespaces removes those whose creation a crash interrupted.
func (e *Engine) sweepTablespaces() error {
	for _, space := range e.pool.Files().Tablespaces() {
		t, err := e.cat.Begin(0).TablespaceByOID(catalog.OID(space))
		if err == nil && t == nil {
			err = e.removeTablespace(catalog.OID(space))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TablespaceDatabases lists the databases with relations in a tablespace, as pg_tablespace_databases.
func (e *Engine) TablespaceDatabases(oid catalog.OID) (dbs []catalog.OID, err error) {
	dir, ok := e.pool.Files().TablespacePath(uint32(oid))
	switch {
	case oid == catalog.TablespaceDefault:
		dir = e.path(baseDir)
	case !ok:
		return nil, nil
	}
	err = e.eachDatabaseDir(dir, func(db catalog.OID, sub string) error {
		files, err := e.fs.List(sub)
		if err == nil && len(files) > 0 {
			dbs = append(dbs, db)
		}
		return nil
	})
	return dbs, err
}

// MoveRelation copies the files of a relation into another tablespace, 0 for the database's own, where
// the transaction's commit leaves them and the old ones go away, and gives its pg_class row the place.
// The session holds AccessExclusiveLock.
func (s *Session) MoveRelation(ctx context.Context, rel *catalog.Relation, tablespace catalog.OID) error {
	n, err := s.e.newFile()
	if err != nil {
		return err
	}
	to := storage.RelFile{Tablespace: uint32(tablespace), Database: uint32(s.db), Number: n}
	if tablespace == 0 {
		to.Tablespace = storage.DefaultTablespace
	}
	if err := s.copyRelation(ctx, rel.File, to, rel.Persistence); err != nil {
		return err
	}
	if err := s.copyFork(ctx, rel.File, to, storage.FSMFork, false); err != nil {
		return err
	}
	s.DropRelationFile(rel.File)
	return s.setFile(rel.OID, to, tablespace)
}
