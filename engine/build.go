package engine

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// Parallel builds.
const (
	buildWorkers        = 4
	buildBlocksAtOnce   = 64   // blocks a worker takes at a time
	parallelBuildBlocks = 1024 // tables shorter than this are built by one
)

// BuildResult is what BuildIndex did.
type BuildResult struct {
	Rows    float64 // live rows of the table
	Entries float64 // entries of the index
	// Pages are the index's.
	Pages int64
	// BrokenHOT: rows have older versions, still visible to some snapshots, that the index does not
	// lead to (pg_index.indcheckxmin). See Table.IndexUsable.
	BrokenHOT bool
}

// BuildIndex fills an index, whose file is new and empty (CreateRelationFile, no
// InitIndexFile), from the table. The session holds ShareLock or stronger on the table.
// A duplicate is 23505 in CREATE UNIQUE INDEX's words.
func (s *Session) BuildIndex(ctx context.Context, rel *catalog.Relation, idx *catalog.Index) (BuildResult, error) {
	t, err := s.OpenTable(ctx, rel)
	if err != nil {
		return BuildResult{}, err
	}
	ti, err := s.openIndex(ctx, rel, idx)
	if err != nil {
		return BuildResult{}, err
	}
	b := &indexBuild{s: s, t: t, ti: ti, columns: ti.columnsNeeded(len(rel.Attrs))}
	defer b.close()
	if err := b.scan(ctx); err != nil {
		return BuildResult{}, err
	}
	if err := b.load(ctx); err != nil {
		return BuildResult{}, err
	}
	res := BuildResult{Rows: float64(b.rows.Load()), Entries: float64(b.entries), BrokenHOT: b.broken.Load()}
	if n, err := s.e.pool.Files().NBlocks(idx.File, storage.MainFork); err == nil {
		res.Pages = int64(n)
	}
	if res.BrokenHOT {
		s.e.tables.noteBroken(idx.File, s.tx.XID())
	}
	return res, nil
}

// columnsNeeded returns how many leading attributes an entry is made of.
func (ti *tableIndex) columnsNeeded(all int) int {
	if ti.computed() {
		return all
	}
	n := 0
	for _, a := range ti.attrs {
		n = max(n, a+1)
	}
	return n
}

// indexBuild is one build: workers scan and sort, one merges and loads.
type indexBuild struct {
	s       *Session
	t       *Table
	ti      *tableIndex
	columns int
	sorters []*sorter
	entries int64
	rows    atomic.Int64
	broken  atomic.Bool
	next    atomic.Uint32 // block the next worker takes
	blocks  storage.BlockNumber
}

func (b *indexBuild) close() {
	for _, s := range b.sorters {
		s.close()
	}
}

func (b *indexBuild) scan(ctx context.Context) error {
	var err error
	if b.blocks, err = b.t.heap.NBlocks(); err != nil {
		return err
	}
	workers := min(buildWorkers, runtime.GOMAXPROCS(0))
	if b.blocks < parallelBuildBlocks || b.ti.computed() {
		workers = 1 // functions run in their session's goroutine
	}
	budget := int(b.s.e.opt.MaintenanceWorkMem()) / workers
	expected := int(b.t.stats.live.Load())/workers + 1
	for range workers {
		b.sorters = append(b.sorters, newSorter(b.s.e.fs, b.s.e.path(baseDir, tempDir), budget, expected+expected/8))
	}
	if workers == 1 {
		return b.worker(ctx, b.s, b.sorters[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, sorter := range b.sorters {
		wg.Go(func() {
			// Its own scratch; a plain column needs nothing else of a session.
			if err := b.worker(ctx, &Session{e: b.s.e, tx: b.s.tx}, sorter); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// worker scans block ranges until none is left, and sorts what it found.
func (b *indexBuild) worker(ctx context.Context, s *Session, sorter *sorter) error {
	scan := b.t.heap.NewScan(nil, heap.ScanOptions{All: true, Ring: b.s.e.pool.NewRing(storage.RingBulkRead)})
	defer scan.Close()
	row := make([]types.Datum, b.columns)
	for {
		end := b.next.Add(buildBlocksAtOnce)
		start := end - buildBlocksAtOnce
		if start >= uint32(b.blocks) {
			break
		}
		scan.Reset(storage.BlockNumber(start), min(storage.BlockNumber(end), b.blocks))
		for {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			page, ok, err := scan.NextPage()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if err := b.page(ctx, s, sorter, page, row); err != nil {
				return err
			}
		}
	}
	if len(sorter.runs) > 0 {
		return nil
	}
	sorter.sort()
	return nil
}

func (b *indexBuild) page(ctx context.Context, s *Session, sorter *sorter, page *heap.ScanPage, row []types.Datum) error {
	for i := range page.N {
		alive := b.alive(page, i)
		if alive {
			b.rows.Add(1)
		}
		if !page.Indexable(i) {
			b.broken.Store(true)
			continue
		}
		if err := b.t.rel.Row.Decode(page.Data(i), row, len(row)); err != nil {
			return err
		}
		if err := b.detoast(row); err != nil {
			return err
		}
		e := &s.row.entry
		ok, err := b.ti.fill(ctx, s, row, e)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		var flags byte
		if e.null {
			flags |= sortNull
		}
		if !alive {
			flags |= sortDead
		}
		if err := sorter.add(e.key, page.RootTID(i), flags, e.payload); err != nil {
			return err
		}
	}
	return nil
}

// alive tells whether a row counts: nobody but us changes the table meanwhile.
func (b *indexBuild) alive(page *heap.ScanPage, i int) bool {
	switch page.State(i) {
	case heap.StateLive, heap.StateInsertInProgress:
		return true
	case heap.StateDeleteInProgress:
		return !b.s.tx.IsCurrent(page.Header(i).Xmax)
	}
	return false
}

func (b *indexBuild) detoast(row []types.Datum) error {
	if b.ti.computed() {
		return b.t.detoastRow(row)
	}
	for _, a := range b.ti.attrs {
		d := &row[a]
		if d.Null || d.W == types.ToastNone || b.t.rel.Row.Attrs[a].Len >= 0 {
			continue
		}
		v, err := b.t.Detoast(*d)
		if err != nil {
			return err
		}
		*d = types.BytesDatum(v)
	}
	return nil
}

// load merges the sorted runs into the tree.
func (b *indexBuild) load(ctx context.Context) error {
	m, err := newMerge(b.sorters)
	if err != nil {
		return err
	}
	u := uniqueOrder{b: b}
	tree, err := btree.BulkBuild(ctx, b.s.e.btreeDeps(), b.ti.tree.Config(), &b.s.treeW, func() (btree.Entry, bool, error) {
		e, err := m.next()
		if err != nil || e == nil {
			return btree.Entry{}, false, err
		}
		if b.ti.idx.Unique {
			if err := u.check(ctx, e); err != nil {
				return btree.Entry{}, false, err
			}
		}
		b.entries++
		return btree.Entry{Key: e.key, TID: btree.TID(e.tid), Payload: e.payload}, true, nil
	})
	if err != nil {
		return err
	}
	b.s.e.tables.putTree(b.ti.idx.File, tree)
	return nil
}

// uniqueOrder sees entries in order and finds live ones with equal keys.
type uniqueOrder struct {
	b    *indexBuild
	key  []byte
	live bool // the last entry's row is alive
}

func (u *uniqueOrder) check(ctx context.Context, e *sortedEntry) error {
	if e.flags&sortDead != 0 || e.flags&sortNull != 0 && !u.b.ti.idx.NullsNotDistinct {
		return nil
	}
	if u.live && bytes.Equal(u.key, e.key) {
		return u.b.errNotUnique(ctx, e.tid)
	}
	u.key, u.live = append(u.key[:0], e.key...), true
	return nil
}

func (b *indexBuild) errNotUnique(ctx context.Context, root TID) error {
	err := pgerr.New(pgerr.UniqueViolation, "could not create unique index \"%s\"", b.ti.idx.Name).
		WithTable(b.s.schemaOf(b.t), b.t.rel.Name).WithConstraint(b.ti.idx.Name)
	snap := b.s.tx.TakeSnapshot()
	defer b.s.tx.ReleaseSnapshot(snap)
	var row Row
	e := &b.s.row.entry
	found, ferr := b.t.Fetch(ctx, snap, root, &row)
	if ferr != nil || !found {
		return err
	}
	if ok, ferr := b.ti.fill(ctx, b.s, row.Values, e); ferr != nil || !ok {
		return err
	}
	return err.WithDetail("Key %s is duplicated.", b.ti.describe(b.s, e.values))
}

// noteBroken remembers which transaction built an index that does not lead to all versions.
func (c *tableCache) noteBroken(file storage.RelFile, xid txn.XID) {
	c.Lock()
	defer c.Unlock()
	c.broken[file] = xid
}

func (c *tableCache) putTree(file storage.RelFile, t *btree.Tree) {
	c.Lock()
	defer c.Unlock()
	c.trees[file] = t
}

// IndexUsable tells whether an index leads to every row version snap sees: one that was built over
// HOT chains with live older versions serves only snapshots that see its builder's commit.
func (e *Engine) IndexUsable(idx *catalog.Index, snap *txn.Snapshot) bool {
	c := &e.tables
	c.RLock()
	xid, broken := c.broken[idx.File]
	c.RUnlock()
	if !broken {
		return true
	}
	if snap.Tx != nil && snap.Tx.IsCurrent(xid) {
		return !snap.Tx.RepeatableRead()
	}
	return snap.Committed(xid)
}
