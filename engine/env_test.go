package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// fixture is an engine in a test, on a file system in memory unless told otherwise.
type fixture struct {
	t   testing.TB
	fs  storage.FS
	e   *Engine
	cfg Config
	pid int32
}

func newFixture(t testing.TB, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, fs: faultfs.New(faultfs.Options{})}
	f.cfg = Config{FS: f.fs, Dir: "data", Options: Options{
		SharedBuffers: 256, WALBuffers: 64 << 10, WALSegmentSize: 256 << 10, WALFirstSegmentSize: 64 << 10,
		Autovacuum: func() bool { return false },
	}}
	if change != nil {
		change(&f.cfg)
	}
	f.fs = f.cfg.FS
	f.open()
	t.Cleanup(func() {
		if f.e != nil {
			if !t.Failed() {
				f.check()
			}
			f.close(CloseFast)
		}
	})
	return f
}

func (f *fixture) open() {
	f.t.Helper()
	e, err := Open(context.Background(), f.cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	f.e = e
}

func (f *fixture) close(mode CloseMode) {
	f.t.Helper()
	if err := f.e.Close(context.Background(), mode); err != nil {
		f.t.Fatal(err)
	}
	f.e = nil
}

// crash ends the server as a kill does, and starts it again.
func (f *fixture) crash() {
	f.t.Helper()
	f.close(CloseImmediate)
	f.open()
}

func (f *fixture) session() *testSession {
	f.pid++
	s := f.e.NewSession(SessionOptions{PID: f.pid, Database: catalog.DatabasePostgres})
	return &testSession{Session: s, t: f.t}
}

// testSession fails its test on every error.
type testSession struct {
	*Session
	t testing.TB
}

var bg = context.Background()

func (s *testSession) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *testSession) begin() {
	s.t.Helper()
	s.ok(s.Begin(TxOptions{}))
}

func (s *testSession) commit() {
	s.t.Helper()
	s.ok(s.Commit(bg, false))
}

type column struct {
	name string
	typ  types.OID
}

// The operator classes tests index with.
var defaultOpclass = map[types.OID]catalog.OID{types.Int4: 1978, types.Int8: 3124, types.Text: 3126, types.Numeric: 3125}

func classRow(oid catalog.OID, name string, kind catalog.RelKind, persistence byte, natts int, file storage.RelFile) catalog.Row {
	row := make(catalog.Row, catalog.ClassFileNumber+1)
	row[catalog.ClassOid] = types.OIDDatum(oid)
	row[catalog.ClassRelname] = types.TextDatum(name)
	row[catalog.ClassRelnamespace] = types.OIDDatum(catalog.NamespacePublic)
	row[catalog.ClassRelowner] = types.OIDDatum(catalog.BootstrapRole)
	row[catalog.ClassRelam] = types.OIDDatum(catalog.AMHeap)
	row[catalog.ClassReltuples] = types.Float64Datum(-1)
	row[catalog.ClassRelpersistence] = types.Uint64Datum(uint64(persistence))
	row[catalog.ClassRelkind] = types.Uint64Datum(uint64(kind))
	row[catalog.ClassRelnatts] = types.Int64Datum(int64(natts))
	row[catalog.ClassRelispopulated] = types.BoolDatum(true)
	row[catalog.ClassRelreplident] = types.Uint64Datum('d')
	for _, c := range []int{catalog.ClassRelacl, catalog.ClassReloptions, catalog.ClassRelpartbound} {
		row[c] = types.NullDatum
	}
	row[catalog.ClassFileNumber] = types.Uint64Datum(uint64(file.Number))
	return row
}

func (s *testSession) insertAttribute(rel catalog.OID, num int, c column) {
	s.t.Helper()
	info := types.Builtin(c.typ)
	row := make(catalog.Row, catalog.AttributeAttmissingval+1)
	row[catalog.AttributeAttrelid] = types.OIDDatum(rel)
	row[catalog.AttributeAttname] = types.TextDatum(c.name)
	row[catalog.AttributeAtttypid] = types.OIDDatum(c.typ)
	row[catalog.AttributeAttstattarget] = types.Int64Datum(-1)
	row[catalog.AttributeAttlen] = types.Int64Datum(int64(info.Len))
	row[catalog.AttributeAttnum] = types.Int64Datum(int64(num))
	row[catalog.AttributeAtttypmod] = types.Int64Datum(-1)
	row[catalog.AttributeAttalign] = types.Uint64Datum(uint64(info.Align))
	row[catalog.AttributeAttstorage] = types.Uint64Datum('p')
	if info.Len < 0 {
		row[catalog.AttributeAttstorage] = types.Uint64Datum('x')
	}
	if c.typ == types.Text {
		row[catalog.AttributeAttcollation] = types.OIDDatum(catalog.CollationDefault)
	}
	row[catalog.AttributeAttislocal] = types.BoolDatum(true)
	for i := catalog.AttributeAttacl; i <= catalog.AttributeAttmissingval; i++ {
		row[i] = types.NullDatum
	}
	s.ok(s.Catalog().Insert(catalog.PgAttribute, row))
}

func (s *testSession) newOID() catalog.OID {
	s.t.Helper()
	oid, err := s.e.NewOID()
	s.ok(err)
	return oid
}

// createTable makes a table with a TOAST table in the open transaction.
func (s *testSession) createTable(name string, persistence byte, cols ...column) catalog.OID {
	s.t.Helper()
	toast := s.createPlain("pg_toast_"+name, catalog.KindToast, persistence,
		column{"chunk_id", types.Oid}, column{"chunk_seq", types.Int4}, column{"chunk_data", types.Bytea})
	s.createIndex("pg_toast_"+name+"_index", toast, true, 1, 2)
	oid := s.createPlain(name, catalog.KindTable, persistence, cols...)
	row, err := s.Catalog().Get(catalog.PgClass, types.OIDDatum(oid))
	s.ok(err)
	row[catalog.ClassReltoastrelid] = types.OIDDatum(toast)
	s.ok(s.Catalog().Update(catalog.PgClass, row))
	return oid
}

func (s *testSession) createPlain(name string, kind catalog.RelKind, persistence byte, cols ...column) catalog.OID {
	s.t.Helper()
	file, err := s.CreateRelationFile(bg, 0, persistence)
	s.ok(err)
	oid := s.newOID()
	s.ok(s.Catalog().Insert(catalog.PgClass, classRow(oid, name, kind, persistence, len(cols), file)))
	for i, c := range cols {
		if kind == catalog.KindToast && c.typ == types.Bytea {
			s.insertAttribute(oid, i+1, c)
			continue
		}
		s.insertAttribute(oid, i+1, c)
	}
	return oid
}

// createIndex makes an index and builds it.
func (s *testSession) createIndex(name string, table catalog.OID, unique bool, atts ...int16) catalog.OID {
	s.t.Helper()
	oid, err := s.tryCreateIndex(name, table, unique, atts...)
	s.ok(err)
	return oid
}

func (s *testSession) tryCreateIndex(name string, table catalog.OID, unique bool, atts ...int16) (catalog.OID, error) {
	s.t.Helper()
	rel := s.rel(table)
	file, err := s.CreateRelationFile(bg, 0, rel.Persistence)
	s.ok(err)
	oid := s.newOID()
	s.ok(s.Catalog().Insert(catalog.PgClass, classRow(oid, name, catalog.KindIndex, rel.Persistence, len(atts), file)))
	var classes, colls []catalog.OID
	opts := make([]int16, len(atts))
	for i, a := range atts {
		attr := rel.Attr(a)
		s.insertAttribute(oid, i+1, column{attr.Name, attr.Type})
		class := defaultOpclass[attr.Type]
		if attr.Type == types.Oid {
			class = 1981
		}
		classes, colls = append(classes, class), append(colls, attr.Collation)
	}
	row := make(catalog.Row, catalog.IndexIndpred+1)
	row[catalog.IndexIndexrelid] = types.OIDDatum(oid)
	row[catalog.IndexIndrelid] = types.OIDDatum(table)
	row[catalog.IndexIndnatts] = types.Int64Datum(int64(len(atts)))
	row[catalog.IndexIndnkeyatts] = types.Int64Datum(int64(len(atts)))
	row[catalog.IndexIndisunique] = types.BoolDatum(unique)
	for _, c := range []int{catalog.IndexIndimmediate, catalog.IndexIndisvalid, catalog.IndexIndisready, catalog.IndexIndislive} {
		row[c] = types.BoolDatum(true)
	}
	row[catalog.IndexIndkey] = catalog.Int2VectorDatum(atts)
	row[catalog.IndexIndcollation] = catalog.OIDVectorDatum(colls)
	row[catalog.IndexIndclass] = catalog.OIDVectorDatum(classes)
	row[catalog.IndexIndoption] = catalog.Int2VectorDatum(opts)
	row[catalog.IndexIndexprs], row[catalog.IndexIndpred] = types.NullDatum, types.NullDatum
	s.ok(s.Catalog().Insert(catalog.PgIndex, row))
	class, err := s.Catalog().Get(catalog.PgClass, types.OIDDatum(table))
	s.ok(err)
	class[catalog.ClassRelhasindex] = types.BoolDatum(true)
	s.ok(s.Catalog().Update(catalog.PgClass, class))
	idx, err := s.Catalog().IndexByOID(oid)
	s.ok(err)
	_, err = s.BuildIndex(bg, rel, idx)
	return oid, err
}

func (s *testSession) createSequence(name string, seq catalog.Sequence) catalog.OID {
	s.t.Helper()
	oid := s.createPlain(name, catalog.KindSequence, catalog.Permanent)
	row := make(catalog.Row, catalog.SequenceSeqcycle+1)
	row[catalog.SequenceSeqrelid] = types.OIDDatum(oid)
	row[catalog.SequenceSeqtypid] = types.OIDDatum(types.Int8)
	row[catalog.SequenceSeqstart] = types.Int64Datum(seq.Start)
	row[catalog.SequenceSeqincrement] = types.Int64Datum(seq.Increment)
	row[catalog.SequenceSeqmax] = types.Int64Datum(seq.Max)
	row[catalog.SequenceSeqmin] = types.Int64Datum(seq.Min)
	row[catalog.SequenceSeqcache] = types.Int64Datum(seq.Cache)
	row[catalog.SequenceSeqcycle] = types.BoolDatum(seq.Cycle)
	s.ok(s.Catalog().Insert(catalog.PgSequence, row))
	s.ok(s.InitSequence(bg, s.rel(oid), seq.Start, false))
	return oid
}

func (s *testSession) rel(oid catalog.OID) *catalog.Relation {
	s.t.Helper()
	rel, err := s.Catalog().RelationByOID(oid)
	s.ok(err)
	if rel == nil {
		s.t.Fatalf("relation %d does not exist", oid)
	}
	return rel
}

func (s *testSession) table(oid catalog.OID) *Table {
	s.t.Helper()
	t, err := s.OpenTable(bg, s.rel(oid))
	s.ok(err)
	return t
}

func ints(vs ...int64) []types.Datum {
	row := make([]types.Datum, len(vs))
	for i, v := range vs {
		row[i] = types.Int64Datum(v)
	}
	return row
}

func (s *testSession) insert(t *Table, row []types.Datum) TID {
	s.t.Helper()
	tid, err := t.Insert(bg, s.Session, row, InsertOptions{})
	s.ok(err)
	s.Tx().CommandCounterIncrement()
	return tid
}

// rows reads the whole table in block order, each row as "a|b".
func (s *testSession) rows(t *Table) []string {
	s.t.Helper()
	var out []string
	s.withSnapshot(func(snap *txn.Snapshot) {
		cols, batch := s.batchFor(t, 7)
		scan := t.NewScan(snap, ScanOptions{Columns: cols, TIDs: true})
		defer scan.Close()
		for {
			more, err := scan.Next(bg, batch)
			s.ok(err)
			if !more {
				return
			}
			if len(scan.TIDs()) != batch.N {
				s.t.Fatalf("%d TIDs for %d rows", len(scan.TIDs()), batch.N)
			}
			out = append(out, render(t, batch)...)
		}
	})
	return out
}

func (s *testSession) batchFor(t *Table, capacity int) ([]int, *types.Batch) {
	var cols []int
	var typs []types.OID
	for i := range t.Rel().Attrs {
		cols = append(cols, i)
		typs = append(typs, t.Rel().Attrs[i].Type)
	}
	return cols, types.NewBatch(typs, capacity)
}

func render(t *Table, b *types.Batch) []string {
	var out []string
	for i := range b.N {
		var line strings.Builder
		for c := range b.Cols {
			if c > 0 {
				line.WriteByte('|')
			}
			if d := b.Cols[c].Datum(i); !d.Null {
				v := string(types.Out(b.Cols[c].Type, d, nil, nil))
				if len(v) > 40 {
					v = fmt.Sprintf("%s...%d", v[:10], len(v))
				}
				line.WriteString(v)
			}
		}
		out = append(out, line.String())
	}
	return out
}

// lookup reads through an index.
func (s *testSession) lookup(t *Table, idx catalog.OID, r KeyRange, opts IndexScanOptions) []string {
	s.t.Helper()
	var out []string
	s.withSnapshot(func(snap *txn.Snapshot) {
		cols, batch := s.batchFor(t, 3)
		if opts.Columns == nil {
			opts.Columns = cols
		}
		scan, err := t.NewIndexScan(idx, opts)
		s.ok(err)
		defer scan.Close()
		s.ok(scan.Seek(snap, &r))
		for {
			more, err := scan.Next(bg, batch)
			s.ok(err)
			if !more {
				return
			}
			out = append(out, render(t, batch)...)
		}
	})
	return out
}

func (s *testSession) withSnapshot(fn func(snap *txn.Snapshot)) {
	s.t.Helper()
	own := !s.InTransaction()
	if own {
		s.begin()
	}
	snap := s.TakeSnapshot()
	fn(snap)
	s.ReleaseSnapshot(snap)
	if own {
		s.commit()
	}
}

// find returns the TID and the row with the key in its first column.
func (s *testSession) find(t *Table, key int64) (tid TID, values []types.Datum) {
	s.t.Helper()
	s.withSnapshot(func(snap *txn.Snapshot) {
		cols, batch := s.batchFor(t, 1)
		scan := t.NewScan(snap, ScanOptions{Columns: cols, TIDs: true})
		defer scan.Close()
		for {
			more, err := scan.Next(bg, batch)
			s.ok(err)
			if !more {
				return
			}
			if batch.Cols[0].Datum(0).Int64() == key {
				tid = scan.TIDs()[0]
				values = make([]types.Datum, len(cols))
				batch.Row(0, values)
				for i := range values {
					values[i] = values[i].Clone()
				}
				return
			}
		}
	})
	return tid, values
}

// set updates the row with the key: its last column becomes d.
func (s *testSession) set(t *Table, key int64, d types.Datum) {
	s.t.Helper()
	tid, old := s.find(t, key)
	row := append([]types.Datum(nil), old...)
	row[len(row)-1] = d
	snap := s.TakeSnapshot()
	defer s.ReleaseSnapshot(snap)
	_, res, err := t.Update(bg, s.Session, snap, tid, old, row, UpdateOptions{})
	s.ok(err)
	if res.Status != heap.Ok {
		s.t.Fatalf("update of %d: %v", key, res.Status)
	}
	s.Tx().CommandCounterIncrement()
}

func (s *testSession) remove(t *Table, key int64) {
	s.t.Helper()
	tid, _ := s.find(t, key)
	snap := s.TakeSnapshot()
	defer s.ReleaseSnapshot(snap)
	res, err := t.Delete(bg, s.Session, snap, tid, UpdateOptions{})
	s.ok(err)
	if res.Status != heap.Ok {
		s.t.Fatalf("delete of %d: %v", key, res.Status)
	}
	s.Tx().CommandCounterIncrement()
}

// vacuum runs VACUUM as the sql layer does.
func (s *testSession) vacuum(oid catalog.OID) VacuumResult {
	s.t.Helper()
	s.begin()
	tag := locks.RelationTag(uint32(s.Database()), uint32(oid))
	s.ok(s.Locks().Lock(bg, tag, locks.ShareUpdateExclusive, locks.LockOptions{}))
	res, err := s.Vacuum(bg, s.rel(oid), VacuumOptions{})
	s.ok(err)
	s.commit()
	return res
}

// check fails the test on everything Engine.Check finds.
func (f *fixture) check() {
	f.t.Helper()
	st, err := f.e.Check(bg, func(p Problem) { f.t.Errorf("check: %v", p) })
	if err != nil {
		f.t.Fatal(err)
	}
	if st.Databases == 0 {
		f.t.Error("nothing was checked")
	}
}
