package exec

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

// realEnv is accounts on the real engine: (id int primary key, balance int).
type realEnv struct {
	*accounts
	e *engine.Engine
	s *engine.Session
	n int32
}

func newReal(t testing.TB, rows int) *realEnv {
	t.Helper()
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Config{
		FS: faultfs.New(faultfs.Options{}), Dir: "data",
		Options: engine.Options{SharedBuffers: 512, Autovacuum: func() bool { return false }},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &realEnv{e: e, accounts: &accounts{env: newEnv(t)}}
	r.s = r.session()
	t.Cleanup(func() {
		r.s.Close()
		if err := e.Close(ctx, engine.CloseImmediate); err != nil {
			t.Error(err)
		}
	})
	r.ok(r.s.Begin(engine.TxOptions{}))
	r.rel = r.create()
	tab, err := r.s.OpenTable(ctx, r.rel)
	r.ok(err)
	for i := range rows {
		_, err := tab.Insert(ctx, r.s, []types.Datum{types.Int64Datum(int64(i)), types.Int64Datum(100)}, engine.InsertOptions{})
		r.ok(err)
	}
	r.ok(r.s.Commit(ctx, false))
	r.st.Tables, r.st.Session = nil, r.s
	return r
}

func (r *realEnv) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *realEnv) session() *engine.Session {
	r.n++
	return r.e.NewSession(engine.SessionOptions{PID: r.n, Database: catalog.DatabasePostgres})
}

func (r *realEnv) class(name string, kind catalog.RelKind, natts int) catalog.OID {
	r.t.Helper()
	file, err := r.s.CreateRelationFile(context.Background(), 0, catalog.Permanent)
	r.ok(err)
	oid, err := r.e.NewOID()
	r.ok(err)
	row := make(catalog.Row, catalog.ClassFileNumber+1)
	for i := range row {
		row[i] = types.Datum{}
	}
	row[catalog.ClassOid] = types.OIDDatum(oid)
	row[catalog.ClassRelname] = types.TextDatum(name)
	row[catalog.ClassRelnamespace] = types.OIDDatum(catalog.NamespacePublic)
	row[catalog.ClassRelowner] = types.OIDDatum(catalog.BootstrapRole)
	row[catalog.ClassRelpersistence] = types.Uint64Datum(uint64(catalog.Permanent))
	row[catalog.ClassRelkind] = types.Uint64Datum(uint64(kind))
	row[catalog.ClassRelnatts] = types.Int64Datum(int64(natts))
	row[catalog.ClassRelhasindex] = types.BoolDatum(kind == catalog.KindTable)
	for _, c := range []int{catalog.ClassRelacl, catalog.ClassReloptions, catalog.ClassRelpartbound} {
		row[c] = types.NullDatum
	}
	row[catalog.ClassFileNumber] = types.Uint64Datum(uint64(file.Number))
	r.ok(r.s.Catalog().Insert(catalog.PgClass, row))
	return oid
}

func (r *realEnv) attribute(rel catalog.OID, num int, name string) {
	r.t.Helper()
	row := make(catalog.Row, catalog.AttributeAttmissingval+1)
	for i := catalog.AttributeAttacl; i <= catalog.AttributeAttmissingval; i++ {
		row[i] = types.NullDatum
	}
	row[catalog.AttributeAttrelid] = types.OIDDatum(rel)
	row[catalog.AttributeAttname] = types.TextDatum(name)
	row[catalog.AttributeAtttypid] = types.OIDDatum(types.Int4)
	row[catalog.AttributeAttlen] = types.Int64Datum(4)
	row[catalog.AttributeAttnum] = types.Int64Datum(int64(num))
	row[catalog.AttributeAtttypmod] = types.Int64Datum(-1)
	row[catalog.AttributeAttalign] = types.Uint64Datum('i')
	row[catalog.AttributeAttstorage] = types.Uint64Datum('p')
	r.ok(r.s.Catalog().Insert(catalog.PgAttribute, row))
}

// create makes the table and its index, and returns its descriptor.
func (r *realEnv) create() *catalog.Relation {
	r.t.Helper()
	oid := r.class("accounts", catalog.KindTable, 2)
	r.attribute(oid, 1, "id")
	r.attribute(oid, 2, "balance")
	idx := r.class("accounts_pkey", catalog.KindIndex, 1)
	r.attribute(idx, 1, "id")
	row := make(catalog.Row, catalog.IndexIndpred+1)
	row[catalog.IndexIndexrelid], row[catalog.IndexIndrelid] = types.OIDDatum(idx), types.OIDDatum(oid)
	row[catalog.IndexIndnatts], row[catalog.IndexIndnkeyatts] = types.Int64Datum(1), types.Int64Datum(1)
	for _, c := range []int{
		catalog.IndexIndisunique, catalog.IndexIndisprimary, catalog.IndexIndimmediate, catalog.IndexIndisvalid,
		catalog.IndexIndisready, catalog.IndexIndislive,
	} {
		row[c] = types.BoolDatum(true)
	}
	row[catalog.IndexIndkey] = catalog.Int2VectorDatum([]int16{1})
	row[catalog.IndexIndcollation] = catalog.OIDVectorDatum([]catalog.OID{0})
	row[catalog.IndexIndclass] = catalog.OIDVectorDatum([]catalog.OID{1978})
	row[catalog.IndexIndoption] = catalog.Int2VectorDatum([]int16{0})
	row[catalog.IndexIndexprs], row[catalog.IndexIndpred] = types.NullDatum, types.NullDatum
	r.ok(r.s.Catalog().Insert(catalog.PgIndex, row))
	rel, err := r.s.Catalog().RelationByOID(oid)
	r.ok(err)
	_, err = r.s.BuildIndex(context.Background(), rel, rel.Indexes[0])
	r.ok(err)
	rel, err = r.s.Catalog().RelationByOID(oid)
	r.ok(err)
	return rel
}

// exec runs a program as one statement of s's transaction.
func (r *realEnv) exec(s *engine.Session, prog *Program, st *ExecState) (int64, error) {
	st.Session = s
	st.Snapshot = s.TakeSnapshot()
	defer s.ReleaseSnapshot(st.Snapshot)
	return prog.Run(context.Background(), st, nil)
}

// keyed reads or updates the row whose key is lifted literal 0.
func (r *realEnv) keyed() *plan.IndexScan {
	return r.byKey(&analyze.Const{Typed: typed(types.Int4), Lifted: 1})
}

func (r *realEnv) program(n plan.Node, cmd analyze.Command) *Program {
	r.t.Helper()
	return r.compilePlan(&plan.Plan{Root: n, Command: cmd, ReadOnly: cmd == analyze.Select})
}

// A statement by key in a cached program allocates next to nothing, the engine's part included.
func TestKeyAccessAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	r := newReal(t, 500)
	sel := r.program(r.keyed(), analyze.Select)
	upd := r.program(r.update(r.keyed()), analyze.Update)
	st := r.st
	st.Lifted = make([]types.Datum, 1)
	i := 0
	for name, prog := range map[string]*Program{"select": sel, "update": upd} {
		allocs := testing.AllocsPerRun(200, func() {
			i++
			st.Lifted[0] = types.Int64Datum(int64(i % 500))
			r.ok(r.s.Begin(engine.TxOptions{}))
			n, err := r.exec(r.s, prog, &st)
			if err != nil || n != 1 {
				t.Fatal(name, n, err)
			}
			r.ok(r.s.Commit(context.Background(), true))
		})
		if allocs > 10 {
			t.Errorf("%s by key allocates %.0f times", name, allocs)
		}
	}
}

// Two sessions update one row: the second waits and adds to what the first has made of it.
func TestConcurrentUpdates(t *testing.T) {
	for _, isolation := range []engine.Isolation{engine.ReadCommitted, engine.RepeatableRead} {
		t.Run(fmt.Sprint(isolation), func(t *testing.T) {
			r := newReal(t, 3)
			upd := r.program(r.update(r.keyed()), analyze.Update)
			a, b := r.session(), r.session()
			defer a.Close()
			defer b.Close()
			stA, stB := r.st, r.st
			stB.Fn = newEnv(t).fc
			for _, st := range []*ExecState{&stA, &stB} {
				st.Lifted = []types.Datum{types.Int64Datum(1)}
				st.RepeatableRead = isolation == engine.RepeatableRead
			}
			r.ok(a.Begin(engine.TxOptions{Isolation: isolation}))
			r.ok(b.Begin(engine.TxOptions{Isolation: isolation}))
			_, err := r.exec(a, upd, &stA)
			r.ok(err)
			done := make(chan error)
			go func() {
				n, err := r.exec(b, upd, &stB)
				if err == nil && n != 1 {
					err = fmt.Errorf("%d rows", n)
				}
				done <- err
			}()
			select {
			case err := <-done:
				t.Fatalf("did not wait: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			r.ok(a.Commit(context.Background(), false))
			err = <-done
			if isolation == engine.RepeatableRead {
				if !pgerr.HasCode(err, pgerr.TRSerializationFailure) {
					t.Errorf("got %v", err)
				}
				b.Abort(context.Background())
				return
			}
			r.ok(err)
			r.ok(b.Commit(context.Background(), false))
			r.ok(r.s.Begin(engine.TxOptions{}))
			defer r.s.Abort(context.Background())
			r.st.Snapshot = r.s.TakeSnapshot()
			defer r.s.ReleaseSnapshot(r.st.Snapshot)
			r.expect(r.run(r.byKey(val(1))), "1|102|(0,5)")
		})
	}
}

// Scans, index scans with bounds and arrays, and bitmaps give the same rows.
func TestRealScans(t *testing.T) {
	r := newReal(t, 2000)
	r.ok(r.s.Begin(engine.TxOptions{}))
	defer r.s.Abort(context.Background())
	r.st.Snapshot = r.s.TakeSnapshot()
	defer r.s.ReleaseSnapshot(r.st.Snapshot)
	id := col(0, 0, types.Int4)
	targets := cols(0, types.Int4)
	cond := func(s plan.IndexStrategy, op string, v any) plan.IndexCond {
		return plan.IndexCond{Strategy: s, Value: val(v), Source: r.op(op, id, val(v))}
	}
	index := func(backward bool, conds ...plan.IndexCond) []string {
		return r.run(&plan.IndexScan{
			Relation: r.rel, Index: r.rel.Indexes[0], Conds: conds, Backward: backward, IndexOnly: true, Base: plan.Base{Targets: targets},
		})
	}
	count := func(lo, hi int) []string {
		var out []string
		for i := lo; i < hi; i++ {
			out = append(out, fmt.Sprint(i))
		}
		return out
	}
	r.expect(r.run(&plan.SeqScan{Relation: r.rel, Base: plan.Base{Targets: targets, Filter: []analyze.Expr{r.op(">=", id, val(1200))}}}), count(1200, 2000)...)
	r.expect(index(false, cond(plan.IndexGreater, ">", 9), cond(plan.IndexLessEqual, "<=", 700)), count(10, 701)...)
	r.expect(index(true, cond(plan.IndexLess, "<", int64(3))), "2", "1", "0")
	r.expect(index(false, cond(plan.IndexLess, "<", int64(1)<<40), cond(plan.IndexGreaterEqual, ">=", 1998)), "1998", "1999")
	r.expect(index(false, cond(plan.IndexEqual, "=", int64(1)<<40)))
	r.expect(index(false, plan.IndexCond{Strategy: plan.IndexLess, Value: null(types.Int4)}))
	arr := &analyze.ArrayExpr{Typed: typed(types.Int4Array), Elem: types.Int4, Elems: []analyze.Expr{val(7), val(3), val(nil), val(7), val(9999)}}
	anyOf := plan.IndexCond{Strategy: plan.IndexEqAny, Value: arr, Source: val(true)}
	r.expect(index(false, anyOf), "3", "7")
	r.expect(index(true, anyOf), "7", "3")
	part := func(conds ...plan.IndexCond) *plan.BitmapSource {
		return &plan.BitmapSource{Index: r.rel.Indexes[0], Conds: conds}
	}
	bitmap := func(or bool) []string {
		return r.run(&plan.BitmapScan{
			Relation: r.rel, Base: plan.Base{Targets: targets},
			Source: &plan.BitmapSource{Or: or, Parts: []*plan.BitmapSource{
				part(cond(plan.IndexLess, "<", 4)), part(cond(plan.IndexGreater, ">", 1), cond(plan.IndexLess, "<", 6)),
			}},
		})
	}
	r.expect(bitmap(true), "0", "1", "2", "3", "4", "5")
	r.expect(bitmap(false), "2", "3")
	tid := &plan.TidScan{
		Relation: r.rel, Base: plan.Base{Targets: targets},
		Values: []analyze.Expr{&analyze.Const{Typed: typed(types.Tid), Value: types.TidDatum(0, 2)}, &analyze.Const{Typed: typed(types.Tid), Value: types.TidDatum(9999, 1)}},
	}
	r.expect(r.run(tid), "1")
	r.expect(r.run(&plan.Limit{Input: &plan.IndexScan{Relation: r.rel, Index: r.rel.Indexes[0], Base: plan.Base{Targets: targets}}, Count: val(int64(3))}), "0", "1", "2")
}

func BenchmarkEngineKey(b *testing.B) {
	for _, what := range []string{"select", "update"} {
		b.Run(what, func(b *testing.B) {
			r := newReal(b, 1000)
			prog := r.program(r.keyed(), analyze.Select)
			if what == "update" {
				prog = r.program(r.update(r.keyed()), analyze.Update)
			}
			st := r.st
			st.Lifted = make([]types.Datum, 1)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				st.Lifted[0] = types.Int64Datum(int64(i % 1000))
				r.ok(r.s.Begin(engine.TxOptions{}))
				if _, err := r.exec(r.s, prog, &st); err != nil {
					b.Fatal(err)
				}
				r.ok(r.s.Commit(context.Background(), true))
			}
		})
	}
}
