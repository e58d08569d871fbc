package exec

import (
	"context"
	"fmt"
	"testing"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// benchTable is a table whose rows are (i, i%100, text), made up as they are read, so that what is measured
// is the executor.
type benchTable struct {
	fakeTable
	rows int
}

type benchTables struct{ t *benchTable }

func (b benchTables) Open(context.Context, *catalog.Relation) (Table, error) { return b.t, nil }

func (t *benchTable) Update(_ context.Context, _ *engine.Session, _ *txn.Snapshot, tid engine.TID, _, _ []types.Datum, _ engine.UpdateOptions) (engine.TID, heap.Result, error) {
	return tid, heap.Result{}, nil
}

func (t *benchTable) Insert(context.Context, *engine.Session, []types.Datum, engine.InsertOptions) (engine.TID, error) {
	return engine.TID{}, nil
}

func (t *benchTable) NewScan(_ *txn.Snapshot, o engine.ScanOptions) Scan {
	return &benchScan{t: t, cols: o.Columns, end: t.rows}
}

func (t *benchTable) NewIndexScan(_ types.OID, o engine.IndexScanOptions) (IndexScan, error) {
	return &benchScan{t: t, cols: o.Columns}, nil
}

func (t *benchTable) Blocks() (storage.BlockNumber, error) {
	return storage.BlockNumber(t.rows / benchPage), nil
}

const benchPage = 128

type benchScan struct {
	fakeScan
	t        *benchTable
	cols     []int
	at, end  int
	tidsBack [1]engine.TID
}

var benchText = []byte("some text of a row")

func (s *benchScan) Rewind(*txn.Snapshot) { s.at, s.end = 0, s.t.rows }

func (s *benchScan) SetRange(start, end storage.BlockNumber) {
	s.at, s.end = int(start)*benchPage, int(end)*benchPage
}

func (s *benchScan) Seek(_ *txn.Snapshot, r *engine.KeyRange) error {
	s.at = int(r.Eq[0].Int64())
	s.end = s.at + 1
	return nil
}

func (s *benchScan) TIDs() []engine.TID {
	s.tidsBack[0] = engine.TID{Block: storage.BlockNumber(s.at), Offset: 1}
	return s.tidsBack[:]
}

func (s *benchScan) Next(_ context.Context, b *types.Batch) (bool, error) {
	b.Reset()
	n := min(s.end-s.at, benchPage)
	if len(b.Cols) > 0 {
		n = min(n, b.Cols[0].Cap())
	}
	for k, c := range s.cols {
		v := &b.Cols[k]
		for i := range n {
			v.Null[i] = false
			switch c {
			case 0:
				v.W[i] = uint64(s.at + i)
			case 1:
				v.W[i] = uint64(s.at+i) % 100
			default:
				v.B[i] = benchText
			}
		}
	}
	s.at += n
	b.N = n
	return n > 0, nil
}

func newBench(b testing.TB, rows int) (*accounts, []types.OID) {
	e := newEnv(b)
	ts := []types.OID{types.Int4, types.Int4, types.Text}
	rel := fakeRelation(20000, "bench", []string{"id", "g", "s"}, ts)
	rel.Indexes = []*catalog.Index{{
		OID: 20001, Unique: true, Immediate: true, NKeyAtts: 1, Keys: []catalog.IndexKey{{AttNum: 1, Type: types.Int4}},
	}}
	a := &accounts{env: e, rel: rel}
	tab := &benchTable{rows: rows}
	tab.rel = rel
	e.st.Tables = benchTables{tab}
	e.st.Snapshot = &txn.Snapshot{}
	return a, ts
}

// keyScan reads a row by a key that is lifted literal 0.
func (a *accounts) keyScan(ts []types.OID) *plan.IndexScan {
	key := &analyze.Const{Typed: typed(types.Int4), Lifted: 1}
	return &plan.IndexScan{
		Relation: a.rel, Index: a.rel.Indexes[0], Unique: true, Base: plan.Base{Targets: cols(0, ts...)},
		Conds: []plan.IndexCond{{Strategy: plan.IndexEqual, Value: key, Source: a.op("=", col(0, 0, types.Int4), key)}},
	}
}

func BenchmarkKeySelect(b *testing.B) {
	a, ts := newBench(b, 1<<20)
	prog := a.compilePlan(&plan.Plan{Root: a.keyScan(ts), ReadOnly: true})
	a.st.Lifted = make([]types.Datum, 1)
	n := 0
	sink := SinkFunc(func(b *types.Batch) error { n += b.Len(); return nil })
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		a.st.Lifted[0] = types.Int64Datum(int64(i & 0xFFFFF))
		if _, err := prog.Run(context.Background(), &a.st, sink); err != nil {
			b.Fatal(err)
		}
	}
	if n != i {
		b.Fatalf("%d rows in %d runs", n, i)
	}
}

func BenchmarkKeyUpdate(b *testing.B) {
	a, ts := newBench(b, 1<<20)
	scan := a.keyScan(ts)
	scan.Targets[1] = a.op("+", col(0, 1, types.Int4), &analyze.Const{Typed: typed(types.Int4), Lifted: 1})
	scan.Targets = append(scan.Targets, &plan.Col{Typed: typed(types.Tid), Index: plan.CtidColumn})
	prog := a.compilePlan(&plan.Plan{
		Root:    &plan.ModifyTable{Input: scan, Command: analyze.Update, Relation: a.rel, Assigned: []int{2}, CtidColumn: 3},
		Command: analyze.Update,
	})
	a.st.Lifted = []types.Datum{types.Int64Datum(7)}
	b.ReportAllocs()
	for b.Loop() {
		if n, err := prog.Run(context.Background(), &a.st, nil); err != nil || n != 1 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkInsert(b *testing.B) {
	a, ts := newBench(b, 0)
	in := &plan.Result{Base: plan.Base{Targets: []analyze.Expr{
		&analyze.Const{Typed: typed(ts[0]), Lifted: 1}, val(2), val("text"),
	}}}
	prog := a.compilePlan(&plan.Plan{
		Root: &plan.ModifyTable{Input: in, Command: analyze.Insert, Relation: a.rel, CtidColumn: -1}, Command: analyze.Insert,
	})
	a.st.Lifted = []types.Datum{types.Int64Datum(7)}
	b.ReportAllocs()
	for b.Loop() {
		if n, err := prog.Run(context.Background(), &a.st, nil); err != nil || n != 1 {
			b.Fatal(n, err)
		}
	}
}

func (a *accounts) fullScan(ts []types.OID, filter ...analyze.Expr) *plan.SeqScan {
	return &plan.SeqScan{Relation: a.rel, Base: plan.Base{Targets: cols(0, ts...), Filter: filter}}
}

func BenchmarkAggregate(b *testing.B) {
	const rows = 1 << 18
	for name, groups := range map[string]int{"count,sum": -1, "groups=100": 1, "groups=all": 0} {
		b.Run(fmt.Sprintf("rows=%d/%s", rows, name), func(b *testing.B) {
			a, ts := newBench(b, rows)
			n := &plan.Aggregate{
				Input: a.fullScan(ts[:2]), Aggs: []plan.AggCall{a.agg("count"), a.agg("sum", col(0, 1, types.Int4))},
			}
			if groups >= 0 {
				n.Strategy, n.Group = plan.AggHashed, []plan.GroupKey{{Column: groups}}
			}
			a.st.WorkMem = 1 << 30
			a.runBench(b, n, rows)
		})
	}
}

func (a *accounts) runBench(b *testing.B, n plan.Node, rows int) {
	prog := a.compilePlan(&plan.Plan{Root: n, ReadOnly: true})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := prog.Run(context.Background(), &a.st, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func BenchmarkFilter(b *testing.B) {
	const rows = 1 << 18
	a, ts := newBench(b, rows)
	g := col(0, 1, types.Int4)
	a.runBench(b, a.fullScan(ts, a.op(">", g, val(10)), a.op("<", a.op("+", g, val(1)), val(20))), rows)
}

func BenchmarkHashJoin(b *testing.B) {
	const rows = 1 << 18
	a, ts := newBench(b, rows)
	a.st.WorkMem = 1 << 30
	k := cols(0, types.Int4)
	a.runBench(b, &plan.HashJoin{Outer: a.fullScan(ts), Inner: a.fullScan(ts), OuterKeys: k, InnerKeys: k, InnerUnique: true}, rows)
}

func BenchmarkSort(b *testing.B) {
	const rows = 1 << 18
	for name, keys := range map[string][]plan.SortKey{
		"int": {{Column: 1}}, "int,int": {{Column: 1}, {Column: 0, Desc: true}}, "text,int": {{Column: 2}, {Column: 1}},
	} {
		b.Run("keys="+name, func(b *testing.B) {
			a, ts := newBench(b, rows)
			a.st.WorkMem = 1 << 30
			a.runBench(b, &plan.Sort{Input: a.fullScan(ts), Keys: keys}, rows)
		})
	}
}
