package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

// env is what tests compile and run with.
type env struct {
	t   testing.TB
	cat *catalog.Txn
	fc  *fn.Context
	fs  *faultfs.FS
	st  ExecState
	// params counts executor parameters.
	params int
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := &env{t: t, fs: faultfs.New(faultfs.Options{})}
	e.cat = testCatalog().Begin(5)
	ev := types.DefaultEnv()
	ev.Types = e.cat.Types()
	now := time.Date(2024, 2, 29, 13, 14, 15, 0, time.UTC)
	e.fc = &fn.Context{
		Ctx: context.Background(), Env: ev, TxStart: now, StmtStart: now,
		Clock: func() time.Time { return now }, Rand: fn.NewRandom(1),
	}
	if err := e.fs.MkdirAll("/tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	e.st = ExecState{Catalog: e.cat, Fn: e.fc, Temp: TempFiles{FS: e.fs, Dir: "/tmp", Prefix: "t"}}
	return e
}

// testCatalog is the built-in catalog, opened once for all tests.
var testCatalog = sync.OnceValue(func() *catalog.Catalog {
	c, err := catalog.Open(catalog.Config{FS: pebblefsDir(), Dir: "/catalog"})
	if err != nil {
		panic(err)
	}
	return c
})

func pebblefsDir() storage.FS {
	fs := faultfs.New(faultfs.Options{})
	if err := fs.MkdirAll("/catalog", 0o700); err != nil {
		panic(err)
	}
	return fs
}

// spillAlways makes operators spill at once.
func (e *env) spillAlways() { e.st.WorkMem = 1 }

// noFiles fails if temporary files are left.
func (e *env) noFiles() {
	e.t.Helper()
	names, err := e.fs.List("/tmp")
	if err != nil {
		e.t.Fatal(err)
	}
	if len(names) > 0 {
		e.t.Errorf("temporary files left: %v", names)
	}
}

func typed(t types.OID) analyze.Typed { return analyze.Typed{Typ: t, Mod: -1, Loc: -1} }

// val is a constant: int is int4, int64 int8, string text, float64, bool, nil an int4 null.
func val(v any) *analyze.Const {
	typ, d := goDatum(v)
	return &analyze.Const{Typed: typed(typ), Value: d}
}

func null(t types.OID) *analyze.Const {
	return &analyze.Const{Typed: typed(t), Value: types.NullDatum}
}

func goDatum(v any) (types.OID, types.Datum) {
	switch v := v.(type) {
	case nil:
		return types.Int4, types.NullDatum
	case int:
		return types.Int4, types.Int64Datum(int64(v))
	case int64:
		return types.Int8, types.Int64Datum(v)
	case string:
		return types.Text, types.TextDatum(v)
	case float64:
		return types.Float8, types.Float64Datum(v)
	case bool:
		return types.Bool, types.BoolDatum(v)
	}
	panic(fmt.Sprintf("no datum for %T", v))
}

func col(input, index int, t types.OID) *plan.Col {
	return &plan.Col{Typed: typed(t), Input: input, Index: index}
}

func cols(input int, ts ...types.OID) []analyze.Expr {
	out := make([]analyze.Expr, len(ts))
	for i, t := range ts {
		out[i] = col(input, i, t)
	}
	return out
}

// op resolves an operator for exactly the argument types.
func (e *env) op(name string, args ...analyze.Expr) *analyze.OpExpr {
	e.t.Helper()
	o := e.operator(name, args...)
	return &analyze.OpExpr{Typed: typed(o.Result), Op: o.OID, Func: o.Code, Args: args}
}

func (e *env) operator(name string, args ...analyze.Expr) *catalog.Operator {
	e.t.Helper()
	list, err := e.cat.OperatorsByName(name)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, o := range list {
		if len(args) == 1 && o.Left == 0 && o.Right == args[0].Type() ||
			len(args) == 2 && o.Left == args[0].Type() && o.Right == args[1].Type() {
			return o
		}
	}
	e.t.Fatalf("no operator %s", name)
	return nil
}

// proc finds a function by name and argument types.
func (e *env) proc(name string, args ...types.OID) *catalog.Proc {
	e.t.Helper()
	list, err := e.cat.ProcsByName(name)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, p := range list {
		if slices.Equal(p.Args, args) {
			return p
		}
	}
	e.t.Fatalf("no function %s(%v)", name, args)
	return nil
}

func (e *env) call(name string, args ...analyze.Expr) *analyze.FuncExpr {
	e.t.Helper()
	ts := make([]types.OID, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	p := e.proc(name, ts...)
	return &analyze.FuncExpr{Typed: typed(p.RetType), Func: p.OID, Args: args, RetSet: p.RetSet}
}

func and(args ...analyze.Expr) *analyze.BoolExpr {
	return &analyze.BoolExpr{Typed: typed(types.Bool), Op: analyze.And, Args: args}
}

func or(args ...analyze.Expr) *analyze.BoolExpr {
	return &analyze.BoolExpr{Typed: typed(types.Bool), Op: analyze.Or, Args: args}
}

func not(a analyze.Expr) *analyze.BoolExpr {
	return &analyze.BoolExpr{Typed: typed(types.Bool), Op: analyze.Not, Args: []analyze.Expr{a}}
}

// values is a ValuesScan of Go values; nil is a null of the column's type.
func values(ts []types.OID, rows ...[]any) *plan.ValuesScan {
	n := &plan.ValuesScan{Base: plan.Base{Targets: cols(0, ts...)}}
	for _, r := range rows {
		list := make([]analyze.Expr, len(r))
		for i, v := range r {
			if v == nil {
				list[i] = null(ts[i])
				continue
			}
			_, d := goDatum(v)
			list[i] = &analyze.Const{Typed: typed(ts[i]), Value: d}
		}
		n.Lists = append(n.Lists, list)
	}
	if len(rows) == 0 {
		list := make([]analyze.Expr, len(ts))
		for i, t := range ts {
			list[i] = null(t)
		}
		n.Lists = [][]analyze.Expr{list}
		n.Filter = []analyze.Expr{val(false)}
	}
	return n
}

func ints(n int) []types.OID {
	out := make([]types.OID, n)
	for i := range out {
		out[i] = types.Int4
	}
	return out
}

// compile compiles a plan, failing the test on an error.
func (e *env) compile(n plan.Node, subPlans ...*plan.SubPlan) *Program {
	e.t.Helper()
	p := &plan.Plan{Root: n, Params: e.params, ReadOnly: true, SubPlans: subPlans}
	return e.compilePlan(p)
}

func (e *env) compilePlan(p *plan.Plan) *Program {
	e.t.Helper()
	prog, err := Compile(p, &Deps{Catalog: e.cat, Fold: e.fc})
	if err != nil {
		e.t.Fatal(err)
	}
	return prog
}

// rows runs a program and prints its rows, one string each.
func (e *env) rows(prog *Program) []string {
	e.t.Helper()
	out, err := e.tryRows(prog)
	if err != nil {
		e.t.Fatal(err)
	}
	return out
}

func (e *env) tryRows(prog *Program) ([]string, error) {
	var out []string
	_, err := prog.Run(context.Background(), &e.st, SinkFunc(func(b *types.Batch) error {
		out = append(out, printBatch(e, prog, b)...)
		return nil
	}))
	return out, err
}

func printBatch(e *env, prog *Program, b *types.Batch) []string {
	info := prog.root.info()
	rows := b.Rows()
	var out []string
	for j := range rows.Len() {
		i := rows.At(j)
		var s strings.Builder
		for c := range info.cols {
			if c > 0 {
				s.WriteByte('|')
			}
			d := b.Cols[c].Datum(i)
			if d.Null {
				s.WriteString("-")
				continue
			}
			s.Write(types.Out(info.cols[c].typ, d, nil, e.fc.Env))
		}
		out = append(out, s.String())
	}
	return out
}

// run compiles and runs a plan.
func (e *env) run(n plan.Node, subPlans ...*plan.SubPlan) []string {
	e.t.Helper()
	return e.rows(e.compile(n, subPlans...))
}

// expect compares rows, in order.
func (e *env) expect(got []string, want ...string) {
	e.t.Helper()
	if !slices.Equal(got, want) {
		e.t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// expectSet compares rows in any order.
func (e *env) expectSet(got []string, want ...string) {
	e.t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	e.expect(got, want...)
}

// newRand makes a source whose seed is printed when the test fails.
func newRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}
