package sql

import (
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// storageFuncs is fn.Storage: sizes and places of relations.
type storageFuncs struct{ s *Session }

func (f storageFuncs) relation(oid types.OID) *catalog.Relation {
	rel, err := f.s.eng.Catalog().RelationByOID(oid)
	if err != nil {
		return nil
	}
	return rel
}

func (f storageFuncs) forkSize(file storage.RelFile, fork storage.Fork) int64 {
	if file.Number == 0 {
		return 0
	}
	files := f.s.srv.eng.Pool().Files()
	if ok, err := files.Exists(file, fork); err != nil || !ok {
		return 0
	}
	n, err := files.NBlocks(file, fork)
	if err != nil {
		return 0
	}
	return int64(n) * storage.PageSize
}

func (f storageFuncs) fileSize(file storage.RelFile) int64 {
	return f.forkSize(file, storage.MainFork) + f.forkSize(file, storage.FSMFork) + f.forkSize(file, storage.VMFork)
}

func (f storageFuncs) RelationSize(oid types.OID, fork string) (int64, bool, error) {
	rel := f.relation(oid)
	if rel == nil {
		return 0, false, nil
	}
	switch fork {
	case "main":
		return f.forkSize(rel.File, storage.MainFork), true, nil
	case "fsm":
		return f.forkSize(rel.File, storage.FSMFork), true, nil
	case "vm":
		return f.forkSize(rel.File, storage.VMFork), true, nil
	}
	return 0, true, nil
}

func (f storageFuncs) TableSize(oid types.OID) (int64, bool, error) {
	rel := f.relation(oid)
	if rel == nil {
		return 0, false, nil
	}
	size := f.fileSize(rel.File)
	if rel.Toast != 0 {
		size += f.fileSize(rel.ToastFile)
		if idx, err := f.s.eng.Catalog().IndexByOID(rel.ToastIdx); err == nil && idx != nil {
			size += f.fileSize(idx.File)
		}
	}
	return size, true, nil
}

func (f storageFuncs) IndexesSize(oid types.OID) (int64, bool, error) {
	rel := f.relation(oid)
	if rel == nil {
		return 0, false, nil
	}
	var size int64
	for _, x := range rel.Indexes {
		size += f.fileSize(x.File)
	}
	return size, true, nil
}

func (f storageFuncs) DatabaseSize(db types.OID) (int64, bool, error) {
	d, err := f.s.eng.Catalog().DatabaseByOID(db)
	if err != nil || d == nil {
		return 0, false, err
	}
	size, err := f.s.srv.eng.DatabaseSize(db)
	return size, err == nil, err
}

func (f storageFuncs) TablespaceSize(ts types.OID) (int64, bool, error) {
	t, err := f.s.eng.Catalog().TablespaceByOID(ts)
	if err != nil || t == nil {
		return 0, false, err
	}
	size, err := f.s.srv.eng.TablespaceSize(ts)
	return size, err == nil, err
}

func (f storageFuncs) Filenode(oid types.OID) (types.OID, bool) {
	rel := f.relation(oid)
	if rel == nil || rel.File.Number == 0 {
		return 0, false
	}
	return types.OID(rel.File.Number), true
}

func (f storageFuncs) FilePath(oid types.OID) (string, bool) {
	rel := f.relation(oid)
	if rel == nil || rel.File.Number == 0 {
		return "", false
	}
	return storage.RelPath(rel.File, storage.MainFork), true
}

func (f storageFuncs) TablespaceLocation(ts types.OID) (string, bool) {
	t, err := f.s.eng.Catalog().TablespaceByOID(ts)
	if err != nil || t == nil {
		return "", false
	}
	return t.Location, true
}

func (f storageFuncs) WALInsert() uint64 { return uint64(f.s.srv.eng.Log().InsertLSN()) }
func (f storageFuncs) WALWrite() uint64  { return uint64(f.s.srv.eng.Log().FlushedTo()) }
func (f storageFuncs) WALFlush() uint64  { return uint64(f.s.srv.eng.Log().FlushedTo()) }

func (f storageFuncs) SwitchWAL(context.Context) (uint64, error) { return f.WALInsert(), nil }
func (f storageFuncs) InRecovery() bool                          { return false }
