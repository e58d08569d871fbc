package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// Problem is something a check found wrong.
type Problem struct {
	Database, Relation string
	File               storage.RelFile
	Where              string // a TID or block, "" for the relation as a whole
	Text               string
}

// String is one line of a report.
func (p Problem) String() string {
	s := fmt.Sprintf("%s.%s (%v)", p.Database, p.Relation, p.File)
	if p.Where != "" {
		s += " " + p.Where
	}
	return s + ": " + p.Text
}

// CheckStats count what a check looked at.
type CheckStats struct {
	Databases, Tables, Indexes, Sequences int
	Blocks, Rows, IndexEntries            int64
	// Skipped are indexes whose entries could not be compared with the table: nothing compiles
	// their expressions.
	Skipped  int
	Problems int
}

// Check verifies a directory that nobody serves: every checksum, heap and B-tree invariant, every
// index entry against its row and back, every value out of line. A directory that was not shut
// down is recovered first; one without data is an error.
func Check(ctx context.Context, cfg Config, report func(Problem)) (CheckStats, error) {
	cfg.Options.Autovacuum = func() bool { return false }
	cfg.MustExist = true
	e, err := Open(ctx, cfg)
	if err != nil {
		return CheckStats{}, err
	}
	stats, err := e.Check(ctx, report)
	return stats, errorOf(err, e.Close(ctx, CloseFast))
}

// Check verifies the open directory, which nobody may be changing.
func (e *Engine) Check(ctx context.Context, report func(Problem)) (CheckStats, error) {
	c := &checker{e: e, known: make(map[storage.RelFile]struct{})}
	c.report = func(p Problem) {
		c.stats.Problems++
		report(p)
	}
	dbs, err := e.databases()
	if err != nil {
		return c.stats, err
	}
	for _, db := range dbs {
		if err := c.database(ctx, db); err != nil {
			return c.stats, err
		}
	}
	return c.stats, c.files()
}

type checker struct {
	e      *Engine
	s      *Session
	dbName string
	report func(Problem)
	stats  CheckStats
	known  map[storage.RelFile]struct{}
}

func (c *checker) database(ctx context.Context, db catalog.OID) error {
	c.s = c.e.NewSession(SessionOptions{PID: firstWorkerPID, Database: db})
	defer c.s.Close()
	if err := c.s.Begin(TxOptions{}); err != nil {
		return err
	}
	c.dbName = fmt.Sprint(db)
	if d, err := c.s.cat.DatabaseByOID(db); err != nil {
		return err
	} else if d != nil {
		c.dbName = d.Name
	}
	c.stats.Databases++
	var oids []catalog.OID
	err := c.s.cat.Scan(catalog.PgClass, nil, func(r catalog.Row) error {
		if n := r[catalog.ClassFileNumber]; !n.Null && n.W != 0 {
			oids = append(oids, r[catalog.ClassOid].OID())
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, oid := range oids {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, err := c.s.cat.RelationByOID(oid)
		if err != nil {
			return err
		}
		if err := c.relation(ctx, rel); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) problem(name string, file storage.RelFile, where, format string, args ...any) {
	c.report(Problem{Database: c.dbName, Relation: name, File: file, Where: where, Text: fmt.Sprintf(format, args...)})
}

// relation checks one relation. What is found is reported; the error is of things that keep the
// check from going on.
func (c *checker) relation(ctx context.Context, rel *catalog.Relation) error {
	c.known[rel.File] = struct{}{}
	blocks, err := c.e.pool.Files().NBlocks(rel.File, storage.MainFork)
	if err != nil {
		c.problem(rel.Name, rel.File, "", "%v", err)
		return nil
	}
	c.stats.Blocks += int64(blocks)
	switch rel.Kind {
	case catalog.KindSequence:
		c.stats.Sequences++
		if _, _, _, err := c.s.SequenceState(ctx, rel); err != nil {
			c.problem(rel.Name, rel.File, "", "%v", err)
		}
	case catalog.KindTable, catalog.KindToast, catalog.KindMatView:
		c.stats.Tables++
		return c.table(ctx, rel)
	}
	return nil // indexes are checked with their tables
}

func (c *checker) table(ctx context.Context, rel *catalog.Relation) error {
	t, err := c.openTable(ctx, rel)
	if err != nil {
		c.problem(rel.Name, rel.File, "", "%v", err)
		return nil
	}
	if err := t.heap.Check(func(tid TID, text string) { c.problem(rel.Name, rel.File, tid.String(), "%s", text) }); err != nil {
		// Reported. Rows on unreadable pages cannot be compared with the indexes, which are looked at by themselves.
		c.indexesAlone(t)
		return nil
	}
	checks := make([]*indexCheck, 0, len(t.indexes))
	for _, ti := range t.indexes {
		if !ti.idx.Valid || !ti.idx.Ready {
			continue
		}
		ic := &indexCheck{c: c, t: t, ti: ti, want: newSorter(c.e.fs, c.e.path(baseDir, tempDir), checkSortMemory, 0)}
		defer ic.want.close()
		checks = append(checks, ic)
	}
	if err := c.rows(ctx, t, checks); err != nil {
		c.problem(rel.Name, rel.File, "", "%v", err)
		return nil
	}
	for _, ic := range checks {
		if err := ic.compare(); err != nil {
			c.problem(ic.ti.idx.Name, ic.ti.idx.File, "", "%v", err)
		}
	}
	return nil
}

// indexesAlone checks the indexes of a table that cannot be read.
func (c *checker) indexesAlone(t *Table) {
	for _, ti := range t.indexes {
		c.stats.Indexes++
		name, file := ti.idx.Name, ti.idx.File
		err := ti.tree.Check(func([]byte, btree.TID, []byte) error {
			c.stats.IndexEntries++
			return nil
		}, func(block storage.BlockNumber, text string) {
			c.problem(name, file, fmt.Sprintf("block %d", block), "%s", text)
		})
		if err != nil {
			c.problem(name, file, "", "%v", err)
		}
	}
}

// checkSortMemory bounds the entries of an index kept in memory while they are compared.
const checkSortMemory = 32 << 20

// openTable opens a table without the indexes nothing can compute entries of.
func (c *checker) openTable(ctx context.Context, rel *catalog.Relation) (*Table, error) {
	if comp := c.e.indexExprs.Load(); comp != nil && *comp != nil {
		return c.s.OpenTable(ctx, rel)
	}
	var plain []*catalog.Index
	for _, idx := range rel.Indexes {
		computed := idx.Predicate != ""
		for i := range idx.Keys {
			computed = computed || idx.Keys[i].AttNum == 0
		}
		if computed {
			c.stats.Skipped++
			c.known[idx.File] = struct{}{}
			continue
		}
		plain = append(plain, idx)
	}
	return c.s.newTable(ctx, rel, plain)
}

// rows reads every live row and collects the entries it must have.
func (c *checker) rows(ctx context.Context, t *Table, checks []*indexCheck) error {
	scan := t.heap.NewScan(nil, heap.ScanOptions{All: true, Ring: c.e.pool.NewRing(storage.RingBulkRead)})
	defer scan.Close()
	row := make([]types.Datum, len(t.rel.Attrs))
	for {
		page, ok, err := scan.NextPage()
		if err != nil || !ok {
			return err
		}
		for i := range page.N {
			if page.State(i) != heap.StateLive {
				continue
			}
			c.stats.Rows++
			where := page.TID(i).String()
			if err := t.rel.Row.Decode(page.Data(i), row, len(row)); err != nil {
				c.problem(t.rel.Name, t.rel.File, where, "%v", err)
				continue
			}
			if err := t.detoastRow(row); err != nil {
				c.problem(t.rel.Name, t.rel.File, where, "%v", err)
				continue
			}
			for _, ic := range checks {
				if err := ic.expect(ctx, row, page.RootTID(i)); err != nil {
					c.problem(ic.ti.idx.Name, ic.ti.idx.File, where, "%v", err)
				}
			}
		}
	}
}

// indexCheck compares an index with the entries its table's live rows must have.
type indexCheck struct {
	c    *checker
	t    *Table
	ti   *tableIndex
	want *sorter
}

func (ic *indexCheck) expect(ctx context.Context, row []types.Datum, root TID) error {
	e := &ic.c.s.row.entry
	ok, err := ic.ti.fill(ctx, ic.c.s, row, e)
	if err != nil || !ok {
		return err
	}
	var flags byte
	if e.null {
		flags = sortNull
	}
	return ic.want.add(e.key, root, flags, nil)
}

func (ic *indexCheck) problem(tid TID, format string, args ...any) {
	ic.c.problem(ic.ti.idx.Name, ic.ti.idx.File, tid.String(), format, args...)
}

func (ic *indexCheck) compare() error {
	ic.c.stats.Indexes++
	ic.c.known[ic.ti.idx.File] = struct{}{}
	m, err := newMerge([]*sorter{ic.want})
	if err != nil {
		return err
	}
	next, err := m.next()
	if err != nil {
		return err
	}
	u := uniqueOrder{}
	missing := func() error {
		ic.problem(next.tid, "the row has no entry in the index")
		if next, err = m.next(); err != nil {
			return err
		}
		return nil
	}
	blocks, err := ic.t.heap.NBlocks()
	if err != nil {
		return err
	}
	err = ic.ti.tree.Check(func(key []byte, btid btree.TID, _ []byte) error {
		ic.c.stats.IndexEntries++
		tid := TID(btid)
		for next != nil {
			order := bytes.Compare(next.key, key)
			if order == 0 {
				order = cmp.Or(next.tid.Compare(tid))
			}
			if order > 0 {
				break
			}
			if order < 0 {
				if err := missing(); err != nil {
					return err
				}
				continue
			}
			if ic.ti.idx.Unique && (next.flags&sortNull == 0 || ic.ti.idx.NullsNotDistinct) {
				if u.live && bytes.Equal(u.key, key) {
					ic.problem(tid, "another live row has the same key in a unique index")
				}
				u.key, u.live = append(u.key[:0], key...), true
			}
			next, err = m.next()
			return err
		}
		return ic.stale(tid, blocks)
	}, func(block storage.BlockNumber, text string) {
		ic.c.problem(ic.ti.idx.Name, ic.ti.idx.File, fmt.Sprintf("block %d", block), "%s", text)
	})
	for err == nil && next != nil {
		err = missing()
	}
	return err
}

// stale looks at an entry no live row has: it must lead to a line pointer that still waits for VACUUM
// or to versions some transaction left.
func (ic *indexCheck) stale(tid TID, blocks storage.BlockNumber) error {
	if tid.Block >= blocks {
		ic.problem(tid, "the entry leads behind the table's end")
		return nil
	}
	buf, err := ic.c.e.pool.Read(storage.BlockTag{Rel: ic.t.rel.File, Block: tid.Block}, nil)
	if err != nil {
		return err
	}
	buf.LockShared(storage.ClassHeap)
	defer buf.ReleaseShared()
	page := buf.Page()
	if page.IsNew() || int(tid.Offset) > page.ItemCount() || page.State(tid.Offset) == storage.LineUnused {
		ic.problem(tid, "the entry leads to an unused line pointer")
	}
	return nil
}

// files reports relation files that belong to nothing.
func (c *checker) files() error {
	return c.e.pool.Files().List(func(f storage.Found) error {
		if _, ok := c.known[f.Rel]; !ok {
			c.report(Problem{File: f.Rel, Where: f.Path, Text: "the file belongs to no relation"})
		}
		return nil
	})
}
