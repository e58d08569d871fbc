package engine

import (
	"context"
	"sync"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// maxCachedTrees bounds the tree handles kept; past it they are all made anew, which only loses
// hints of where root and rightmost leaf are.
const maxCachedTrees = 16384

// tableCache keeps what sessions share: a Table per relation, a tree handle per index file.
type tableCache struct {
	sync.RWMutex
	tables map[tableKey]*Table
	trees  map[storage.RelFile]*btree.Tree
	// broken are index files that do not lead to every version, by who built them; since the server
	// started, as no snapshot is older.
	broken map[storage.RelFile]txn.XID
}

type tableKey struct{ db, rel catalog.OID }

func (c *tableCache) init() {
	c.tables = make(map[tableKey]*Table)
	c.trees = make(map[storage.RelFile]*btree.Tree)
	c.broken = make(map[storage.RelFile]txn.XID)
}

// OpenTable returns the table of a descriptor, from the cache where one of the same version is.
func (s *Session) OpenTable(ctx context.Context, rel *catalog.Relation) (*Table, error) {
	c := &s.e.tables
	key := tableKey{s.db, rel.OID}
	c.RLock()
	t := c.tables[key]
	c.RUnlock()
	// Equal pointers mean an unchanged relation.
	if t != nil && t.rel == rel {
		return t, nil
	}
	if t = s.ownTables[rel]; t != nil {
		return t, nil
	}
	t, err := s.newTable(ctx, rel, rel.Indexes)
	if err != nil {
		return nil, err
	}
	if s.cat.Changed() {
		// Perhaps a descriptor that only this transaction has.
		if s.ownTables == nil {
			s.ownTables = make(map[*catalog.Relation]*Table)
		}
		s.ownTables[rel] = t
		return t, nil
	}
	c.Lock()
	c.tables[key] = t
	c.Unlock()
	return t, nil
}

func (s *Session) newTable(ctx context.Context, rel *catalog.Relation, indexes []*catalog.Index) (*Table, error) {
	if rel.File.Number == 0 {
		return nil, pgerr.New(pgerr.WrongObjectType, "relation \"%s\" has no storage", rel.Name)
	}
	e := s.e
	t := &Table{e: e, rel: rel, db: s.db, stats: e.stats.table(s.db, rel.OID)}
	t.heap = heap.New(e.heapDeps(), heap.Config{
		Rel: rel.File, DB: rel.File.Database, RelOID: uint32(rel.OID), Name: rel.Name,
		Persistence: rel.Persistence, FillFactor: rel.FillFactor,
	})
	for _, idx := range indexes {
		if !idx.Live {
			continue
		}
		ti, err := s.openIndex(ctx, rel, idx)
		if err != nil {
			return nil, err
		}
		t.indexes = append(t.indexes, ti)
	}
	t.noteIndexedColumns()
	var err error
	if rel.Toast != 0 {
		t.toast, err = s.openToast(rel)
	}
	return t, err
}

// tree returns the shared handle of an index.
func (c *tableCache) tree(e *Engine, idx *catalog.Index, payload bool) *btree.Tree {
	cfg := indexConfig(idx.File, idx, payload)
	c.RLock()
	t := c.trees[idx.File]
	c.RUnlock()
	if t != nil && t.Config() == cfg {
		return t
	}
	t = btree.Open(e.btreeDeps(), cfg)
	c.Lock()
	defer c.Unlock()
	if len(c.trees) >= maxCachedTrees {
		clear(c.trees)
	}
	c.trees[idx.File] = t
	return t
}

// forget drops the handles on files that are gone.
func (c *tableCache) forget(files []storage.RelFile) {
	c.Lock()
	defer c.Unlock()
	for _, f := range files {
		delete(c.trees, f)
		delete(c.broken, f)
		for key, t := range c.tables {
			if t.rel.File == f || f.Number == wholeDatabase && t.rel.File.Database == f.Database {
				delete(c.tables, key)
			}
		}
	}
}
