package engine

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
	"github.com/minipg/minipg/wal"
)

// progressEvery is how often a long replay says where it is.
const progressEvery = 10 * time.Second

// recover replays the log from the last checkpoint and makes the directory
// ready: Invariant 2.
func (e *Engine) recover(ctx context.Context) error {
	c := &e.control.Control
	fresh := c.State == wal.StateNew
	e.crashed = !fresh && c.State != wal.StateShutDown
	if fresh {
		c.Redo = e.log.FirstLSN()
	}
	c.Incarnation++
	e.log.SetIncarnation(c.Incarnation)
	c.State = wal.StateInProduction
	if e.crashed {
		c.State = wal.StateInRecovery
		e.logger.Info("database system was not properly shut down; automatic recovery in progress")
	}
	// Before anything is inserted: incarnations never fall.
	if err := e.writeControl(); err != nil {
		return err
	}
	e.oids.start(uint64(c.NextOID))
	e.files.start(uint64(c.NextFile))
	e.log.SetRedoPoint(c.Redo)
	if err := e.loadTablespaces(); err != nil {
		return err
	}
	if err := e.replay(ctx); err != nil {
		return err
	}
	if !e.crashed {
		return nil
	}
	if err := e.sweep(ctx); err != nil {
		return err
	}
	if err := e.checkpoint(ctx, checkpointRequest{immediate: true, force: true}); err != nil {
		return err
	}
	e.logger.Info("recovery is complete", zap.Stringer("redo", e.control.Redo))
	return nil
}

func (e *Engine) replay(ctx context.Context) error {
	rc := wal.NewRedoContext(e.pool)
	redoers := map[wal.RMID]wal.Redoer{
		wal.RMEngine: engineRedo{e}, wal.RMStorage: wal.StorageRedo{}, wal.RMTxn: e.txn,
		wal.RMHeap: heap.NewRedoer(e.heapDeps()), wal.RMBTree: btree.NewRedoer(e.btreeDeps()),
		wal.RMSequence: sequenceRedo{},
	}
	started, shown := e.cfg.Now(), e.cfg.Now()
	records := 0
	end, err := e.log.Replay(e.control.Redo, func(rec *wal.Record) error {
		if records++; records%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if now := e.cfg.Now(); now.Sub(shown) > progressEvery {
				shown = now
				e.logger.Info("redo in progress", zap.Duration("elapsed", now.Sub(started)), zap.Stringer("at", rec.LSN))
			}
		}
		if rec.XID != 0 {
			e.txn.NoteXID(txn.XID(rec.XID))
		}
		r := redoers[rec.RM]
		if r == nil {
			return pgerr.New(pgerr.DataCorrupted, "log record at %v of unexpected resource manager %v", rec.LSN, rec.RM)
		}
		if err := r.Redo(rec, rc); err != nil {
			return pgerr.Wrap(err, pgerr.DataCorrupted, "could not redo log record at %v of %v: %v", rec.LSN, rec.RM, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if end < e.control.Checkpoint {
		return pgerr.New(pgerr.DataCorrupted, "could not locate required checkpoint record").
			WithDetail("The log ends at %v, the last checkpoint's record is at %v.", end, e.control.Checkpoint)
	}
	if err := rc.CheckMissing(); err != nil {
		return err
	}
	if e.crashed {
		e.logger.Info("redo done", zap.Stringer("at", end), zap.Int("records", records),
			zap.Duration("elapsed", e.cfg.Now().Sub(started)))
	}
	return e.txn.StartUp()
}

// sweep removes the files no committed catalog row names, and makes unlogged relations empty.
func (e *Engine) sweep(ctx context.Context) error {
	keep := make(map[storage.RelFile]struct{})
	dbs, err := e.databases()
	if err != nil {
		return err
	}
	for _, db := range dbs {
		if err := e.sweepDatabase(ctx, db, keep); err != nil {
			return err
		}
	}
	if err := e.sweepTablespaces(); err != nil {
		return err
	}
	orphans := make(map[storage.RelFile]struct{})
	err = e.pool.Files().List(func(f storage.Found) error {
		if _, ok := keep[f.Rel]; !ok {
			orphans[f.Rel] = struct{}{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for rel := range orphans {
		e.logger.Info("removing a file that belongs to no relation", zap.Stringer("file", rel))
		if err := e.pool.DropRelation(rel); err != nil {
			return err
		}
	}
	return nil
}

// databases returns the OIDs of all databases.
func (e *Engine) databases() ([]catalog.OID, error) {
	var dbs []catalog.OID
	err := e.cat.Begin(0).Scan(catalog.PgDatabase, nil, func(r catalog.Row) error {
		dbs = append(dbs, r[catalog.DatabaseOid].OID())
		return nil
	})
	return dbs, err
}

func (e *Engine) sweepDatabase(ctx context.Context, db catalog.OID, keep map[storage.RelFile]struct{}) error {
	cat := e.cat.Begin(db)
	var unlogged []catalog.OID
	err := cat.Scan(catalog.PgClass, nil, func(r catalog.Row) error {
		n := r[catalog.ClassFileNumber]
		if n.Null || n.W == 0 {
			return nil
		}
		file := storage.RelFile{
			Tablespace: uint32(r[catalog.ClassReltablespace].W), Database: uint32(db), Number: storage.FileNumber(n.W),
		}
		if file.Tablespace == 0 {
			file.Tablespace = storage.DefaultTablespace
		}
		keep[file] = struct{}{}
		if byte(r[catalog.ClassRelpersistence].W) == catalog.Unlogged {
			unlogged = append(unlogged, r[catalog.ClassOid].OID())
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, oid := range unlogged {
		rel, err := cat.RelationByOID(oid)
		if err != nil || rel == nil {
			return err
		}
		if err := e.resetUnlogged(ctx, rel); err != nil {
			return err
		}
	}
	return nil
}

// resetUnlogged makes an unlogged relation empty: after a crash nobody knows what its pages hold.
func (e *Engine) resetUnlogged(ctx context.Context, rel *catalog.Relation) error {
	if err := e.pool.DropRelation(rel.File); err != nil {
		return err
	}
	if err := e.pool.Files().Create(rel.File, storage.MainFork); err != nil {
		return err
	}
	switch rel.Kind {
	case catalog.KindIndex:
		_, err := btree.Create(ctx, e.btreeDeps(), indexConfig(rel.File, rel.Index, e.payloadOf(rel.Index)), &btree.Writer{})
		return err
	case catalog.KindSequence:
		return e.resetSequence(rel)
	}
	return nil
}

// payloadOf tells whether an index's entries carry bytes behind the key.
func (e *Engine) payloadOf(idx *catalog.Index) bool {
	if len(idx.Keys) > idx.NKeyAtts {
		return true
	}
	for i := range idx.Keys {
		if !types.KeyLossless(idx.Keys[i].Type, idx.Keys[i].Collation) {
			return true
		}
	}
	return false
}
