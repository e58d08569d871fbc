package engine

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// The kinds of RMEngine.
const (
	kindCheckpoint       wal.Kind = iota // redo point and counters
	kindNextOID                          // numbers below may be in use
	kindNextFile                         // numbers below may be in use
	kindCreateDatabase                   // tablespace, database
	kindShutdown                         // a checkpoint with nothing behind it
	kindCreateTablespace                 // tablespace, location
	kindNameTablespace                   // the same, of one about to be dropped
)

// wholeDatabase is the file number that stands for all files of a database in the list
// of a commit record.
const wholeDatabase storage.FileNumber = 0

// engineRedo redoes RMEngine.
type engineRedo struct{ e *Engine }

// Redo implements wal.Redoer.
func (r engineRedo) Redo(rec *wal.Record, _ *wal.RedoContext) error {
	e := r.e
	switch rec.Kind {
	case kindCheckpoint, kindShutdown:
		c, err := decodeCheckpoint(rec.Data)
		if err != nil {
			return err
		}
		e.oids.note(c.nextOID)
		e.files.note(c.nextFile)
		return nil
	case kindNextOID, kindNextFile:
		limit, _, err := readUvarint(rec.Data)
		if err != nil {
			return err
		}
		if rec.Kind == kindNextOID {
			e.oids.note(limit)
		} else {
			e.files.note(limit)
		}
		return nil
	case kindCreateDatabase:
		rel, _, ok := wal.ReadRelFile(rec.Data)
		if !ok {
			return pgerr.New(pgerr.DataCorrupted, "malformed engine log record")
		}
		return e.pool.Files().CreateDatabase(rel.Tablespace, rel.Database)
	case kindCreateTablespace, kindNameTablespace:
		rel, location, ok := wal.ReadRelFile(rec.Data)
		if !ok {
			return pgerr.New(pgerr.DataCorrupted, "malformed engine log record")
		}
		if rec.Kind == kindNameTablespace {
			e.setTablespace(catalog.OID(rel.Tablespace), string(location))
			return nil
		}
		return e.makeTablespace(catalog.OID(rel.Tablespace), string(location))
	}
	return pgerr.New(pgerr.DataCorrupted, "unknown engine log record kind %d at %v", rec.Kind, rec.LSN)
}

// redoCommit applies what a commit or abort record did outside the log.
func (e *Engine) redoCommit(payload []byte, files []storage.RelFile) error {
	if err := e.cat.Apply(payload); err != nil {
		return err
	}
	return e.unlink(files)
}

// unlink removes files whose relations nobody can reach any more.
func (e *Engine) unlink(files []storage.RelFile) error {
	if len(files) > 0 {
		e.tables.forget(files)
	}
	for _, f := range files {
		var err error
		switch {
		case isWholeTablespace(f):
		case f.Number == wholeDatabase:
			err = e.pool.DropDatabase(f.Tablespace, f.Database)
		default:
			err = e.pool.DropRelation(f)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range files { // when the files in them, above, are gone
		if isWholeTablespace(f) {
			if err := e.removeTablespace(catalog.OID(f.Tablespace)); err != nil {
				return err
			}
		}
	}
	return nil
}
