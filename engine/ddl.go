package engine

import (
	"context"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
	"github.com/minipg/minipg/wal"
)

// createReserve bounds the log record of a new file.
const createReserve = 128

// CreateRelationFile gives out a file number and makes the main fork of a new
// relation; it is unlinked if the transaction aborts. Tablespace 0 is the default.
func (s *Session) CreateRelationFile(_ context.Context, tablespace catalog.OID, persistence byte) (storage.RelFile, error) {
	n, err := s.e.newFile()
	if err != nil {
		return storage.RelFile{}, err
	}
	rel := storage.RelFile{Tablespace: uint32(tablespace), Database: uint32(s.db), Number: n}
	if rel.Tablespace == 0 {
		rel.Tablespace = storage.DefaultTablespace
	}
	return rel, s.makeFile(rel, persistence)
}

// makeFile is Invariant 4.
func (s *Session) makeFile(rel storage.RelFile, persistence byte) error {
	if persistence != catalog.Temporary {
		if err := s.e.log.Reserve(createReserve); err != nil {
			return err
		}
		s.e.log.LogCreate(&s.builder, uint64(s.tx.XID()), rel, storage.MainFork)
	}
	s.made = append(s.made, rel)
	return s.e.pool.Files().Create(rel, storage.MainFork)
}

// DropRelationFile unlinks the files of a relation when the transaction commits.
func (s *Session) DropRelationFile(rel storage.RelFile) {
	if rel.Number != 0 {
		s.dropped = append(s.dropped, rel)
	}
}

// MadeHere reports whether this transaction made the file: nobody else can read what is
// in it (COPY FREEZE).
func (s *Session) MadeHere(rel storage.RelFile) bool {
	for _, f := range s.made {
		if f == rel {
			return true
		}
	}
	return false
}

// InitIndexFile makes a new, empty file an empty tree.
func (s *Session) InitIndexFile(ctx context.Context, _ *catalog.Relation, idx *catalog.Index) error {
	_, err := btree.Create(ctx, s.e.btreeDeps(), indexConfig(idx.File, idx, s.e.payloadOf(idx)), &s.treeW)
	return err
}

func indexConfig(file storage.RelFile, idx *catalog.Index, payload bool) btree.Config {
	return btree.Config{
		Rel: file, DB: file.Database, RelOID: uint32(idx.Table), IndexOID: uint32(idx.OID), Name: idx.Name,
		Persistence: idx.Persistence, FillFactor: idx.FillFactor, Payload: payload,
	}
}

// NewStorage gives a table, its TOAST table and all their indexes new, empty files, and their
// pg_class rows the numbers (TRUNCATE; the first half of a rewrite). The session holds
// AccessExclusiveLock.
func (s *Session) NewStorage(ctx context.Context, rel *catalog.Relation) error {
	if err := s.newStorageOf(ctx, rel); err != nil || rel.Toast == 0 {
		return err
	}
	toast, err := s.cat.RelationByOID(rel.Toast)
	if err != nil || toast == nil {
		return err
	}
	return s.newStorageOf(ctx, toast)
}

func (s *Session) newStorageOf(ctx context.Context, rel *catalog.Relation) error {
	if _, err := s.replaceFile(ctx, rel.OID, rel.File, rel.Persistence); err != nil {
		return err
	}
	for _, idx := range rel.Indexes {
		file, err := s.replaceFile(ctx, idx.OID, idx.File, idx.Persistence)
		if err != nil {
			return err
		}
		_, err = btree.Create(ctx, s.e.btreeDeps(), indexConfig(file, idx, s.e.payloadOf(idx)), &s.treeW)
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceFile makes a new file for a relation, drops the old one at commit and updates pg_class.
func (s *Session) replaceFile(ctx context.Context, oid catalog.OID, old storage.RelFile, persistence byte) (storage.RelFile, error) {
	file, err := s.CreateRelationFile(ctx, catalog.OID(old.Tablespace), persistence)
	if err != nil {
		return file, err
	}
	row, err := s.cat.Get(catalog.PgClass, types.OIDDatum(oid))
	if err != nil {
		return file, err
	}
	if row == nil {
		return file, pgerr.New(pgerr.InternalError, "cache lookup failed for relation %d", oid)
	}
	row[catalog.ClassFileNumber] = types.Uint64Datum(uint64(file.Number))
	row[catalog.ClassRelpages] = types.Int64Datum(0)
	row[catalog.ClassReltuples] = types.Float64Datum(-1)
	row[catalog.ClassRelallvisible] = types.Int64Datum(0)
	s.DropRelationFile(old)
	return file, s.cat.Update(catalog.PgClass, row)
}

// setFile enters the place of a relation's file in its pg_class row.
func (s *Session) setFile(oid catalog.OID, file storage.RelFile, tablespace catalog.OID) error {
	row, err := s.cat.Get(catalog.PgClass, types.OIDDatum(oid))
	if err != nil {
		return err
	}
	if row == nil {
		return pgerr.New(pgerr.InternalError, "cache lookup failed for relation %d", oid)
	}
	row = append(catalog.Row(nil), row...)
	row[catalog.ClassFileNumber] = types.Uint64Datum(uint64(file.Number))
	row[catalog.ClassReltablespace] = types.OIDDatum(tablespace)
	return s.cat.Update(catalog.PgClass, row)
}

// CreateDatabase makes the directory of a new database and copies the template's relations into it,
// page by page through the log. Nobody is connected to the template. The catalog's rows are
// copied by catalog.Txn.CopyDatabase.
func (s *Session) CreateDatabase(ctx context.Context, db, template, tablespace catalog.OID) error {
	if tablespace == 0 {
		tablespace = catalog.TablespaceDefault
	}
	if err := s.e.log.Reserve(createReserve); err != nil {
		return err
	}
	dir := storage.RelFile{Tablespace: uint32(tablespace), Database: uint32(db), Number: wholeDatabase}
	s.builder.Reset(wal.RMEngine, kindCreateDatabase, uint64(s.tx.XID()), uint32(db))
	s.builder.Data(wal.AppendRelFile(nil, dir)...)
	s.e.log.Insert(&s.builder)
	s.made = append(s.made, dir)
	if err := s.e.pool.Files().CreateDatabase(dir.Tablespace, dir.Database); err != nil {
		return err
	}
	return s.e.cat.Begin(template).Scan(catalog.PgClass, nil, func(r catalog.Row) error {
		n := r[catalog.ClassFileNumber]
		if n.Null || n.W == 0 {
			return nil
		}
		from := storage.RelFile{
			Tablespace: uint32(r[catalog.ClassReltablespace].W), Database: uint32(template), Number: storage.FileNumber(n.W),
		}
		to := from
		if from.Tablespace == 0 {
			from.Tablespace = storage.DefaultTablespace
			to.Tablespace = uint32(tablespace)
		}
		to.Database = uint32(db)
		return s.copyRelation(ctx, from, to, byte(r[catalog.ClassRelpersistence].W))
	})
}

// copyRelation copies main and visibility map forks; the free space map makes itself anew.
func (s *Session) copyRelation(ctx context.Context, from, to storage.RelFile, persistence byte) error {
	if err := s.makeFile(to, persistence); err != nil {
		return err
	}
	for _, fork := range []storage.Fork{storage.MainFork, storage.VMFork} {
		if err := s.copyFork(ctx, from, to, fork, persistence == catalog.Permanent); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) copyFork(ctx context.Context, from, to storage.RelFile, fork storage.Fork, logged bool) error {
	files := s.e.pool.Files()
	ok, err := files.Exists(from, fork)
	if err != nil || !ok {
		return err
	}
	n, err := files.NBlocks(from, fork)
	if err != nil {
		return err
	}
	if err := files.EnsureBlocks(to, fork, n); err != nil {
		return err
	}
	for block := range n {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		src := storage.BlockTag{Rel: from, Fork: fork, Block: block}
		dst := storage.BlockTag{Rel: to, Fork: fork, Block: block}
		if err := s.copyBlock(src, dst, logged); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) copyBlock(src, dst storage.BlockTag, logged bool) error {
	if err := s.e.log.Reserve(2 * storage.PageSize); err != nil {
		return err
	}
	from, err := s.e.pool.Read(src, nil)
	if err != nil {
		return err
	}
	defer from.Unpin()
	to, err := s.e.pool.ReadZeroed(dst)
	if err != nil {
		return err
	}
	to.LockExclusive(storage.ClassOther)
	defer to.ReleaseExclusive()
	from.LockShared(storage.ClassOther)
	defer from.UnlockShared()
	if from.Page().IsNew() {
		return nil
	}
	wal.Critical(func() {
		to.MarkDirty()
		copy(to.Page(), from.Page())
		to.Page().SetLSN(0)
		if logged {
			to.Page().SetLSN(s.e.log.LogPages(&s.builder, uint64(s.tx.TopXID()), []*storage.Buffer{to}, 0))
		}
	})
	return nil
}

// DropDatabase removes a database's files when the transaction commits. Nobody is connected to it.
func (s *Session) DropDatabase(_ context.Context, db, tablespace catalog.OID) error {
	if tablespace == 0 {
		tablespace = catalog.TablespaceDefault
	}
	spaces := append(s.e.pool.Files().Tablespaces(), uint32(tablespace))
	for _, space := range spaces {
		s.dropped = append(s.dropped, storage.RelFile{
			Tablespace: space, Database: uint32(db), Number: wholeDatabase,
		})
	}
	return nil
}
