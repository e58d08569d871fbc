package exec

import (
	"context"
	"testing"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// one1 evaluates an expression over no row.
func (e *env) eval(x analyze.Expr) []string {
	e.t.Helper()
	return e.run(&plan.Result{Base: plan.Base{Targets: []analyze.Expr{x}}})
}

// over computes an expression for each of some rows.
func (e *env) over(in *plan.ValuesScan, x ...analyze.Expr) []string {
	e.t.Helper()
	return e.run(&plan.SubqueryScan{Base: plan.Base{Targets: x}, Input: in})
}

func TestArithmeticAndNulls(t *testing.T) {
	e := newEnv(t)
	a, b := col(0, 0, types.Int4), col(0, 1, types.Int4)
	in := values(ints(2), []any{1, 2}, []any{nil, 2}, []any{5, nil}, []any{7, 8})
	e.expect(e.over(in, e.op("+", a, b), e.op("<", a, b), a), "3|t|1", "-|-|-", "-|-|5", "15|t|7")
	e.expect(e.eval(e.op("+", val(2), val(3))), "5")
	e.expect(e.eval(e.op("+", val(2), null(types.Int4))), "-")
}

func TestThreeValuedLogic(t *testing.T) {
	e := newEnv(t)
	a, b := col(0, 0, types.Bool), col(0, 1, types.Bool)
	ts := []types.OID{types.Bool, types.Bool}
	in := values(
		ts,
		[]any{true, true},
		[]any{true, false},
		[]any{true, nil},
		[]any{false, false},
		[]any{false, nil},
		[]any{nil, nil},
	)
	e.expect(e.over(in, and(a, b), or(a, b), not(a)),
		"t|t|f", "f|t|f", "-|t|f", "f|f|t", "f|-|t", "-|-|-")
	tests := map[string]struct {
		kind analyze.BoolTestKind
		want []string
	}{
		"true":        {analyze.IsTrue, []string{"t", "f", "f"}},
		"not true":    {analyze.IsNotTrue, []string{"f", "t", "t"}},
		"false":       {analyze.IsFalse, []string{"f", "t", "f"}},
		"not false":   {analyze.IsNotFalse, []string{"t", "f", "t"}},
		"unknown":     {analyze.IsUnknown, []string{"f", "f", "t"}},
		"not unknown": {analyze.IsNotUnknown, []string{"t", "t", "f"}},
	}
	one := values([]types.OID{types.Bool}, []any{true}, []any{false}, []any{nil})
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			e.t = t
			e.expect(e.over(one, &analyze.BooleanTest{Typed: typed(types.Bool), Arg: a, Kind: c.kind}), c.want...)
		})
	}
}

// A division by zero is not met where an earlier condition, arm or argument excludes the row.
func TestErrorsOfExcludedRows(t *testing.T) {
	e := newEnv(t)
	a := col(0, 0, types.Int4)
	in := values(ints(1), []any{1}, []any{0}, []any{2}, []any{nil})
	div := e.op("/", val(10), a)
	nonzero := e.op("<>", a, val(0))
	big := e.op(">", div, val(4))
	e.expect(e.over(in, and(nonzero, big)), "t", "f", "t", "-")
	e.expect(e.over(in, or(e.op("=", a, val(0)), big)), "t", "t", "t", "-")
	e.expect(e.over(in, &analyze.CaseExpr{
		Typed: typed(types.Int4), Whens: []analyze.CaseWhen{{When: nonzero, Then: div}}, Else: val(-1),
	}), "10", "-1", "5", "-1")
	e.expect(e.over(values(ints(1), []any{1}, []any{2}), &analyze.CoalesceExpr{
		Typed: typed(types.Int4), Args: []analyze.Expr{a, e.op("/", val(1), val(0))},
	}), "1", "2")
	filter := &plan.SubqueryScan{Base: plan.Base{Filter: []analyze.Expr{nonzero, big}, Targets: []analyze.Expr{a}}, Input: in}
	e.expect(e.run(filter), "1", "2")
	_, err := e.tryRows(e.compile(&plan.SubqueryScan{Base: plan.Base{Targets: []analyze.Expr{div}}, Input: in}))
	if !pgerr.HasCode(err, pgerr.DivisionByZero) {
		t.Errorf("got %v, want division by zero", err)
	}
}

// Rows before the one with an error are delivered, which a LIMIT above makes visible.
func TestErrorComesAtItsRow(t *testing.T) {
	e := newEnv(t)
	a := col(0, 0, types.Int4)
	in := values(ints(1), []any{1}, []any{2}, []any{0}, []any{3})
	div := &plan.SubqueryScan{Base: plan.Base{Targets: []analyze.Expr{e.op("/", val(10), a)}}, Input: in}
	e.expect(e.run(&plan.Limit{Input: div, Count: val(int64(2))}), "10", "5")
	where := &plan.SubqueryScan{
		Base:  plan.Base{Targets: []analyze.Expr{a}, Filter: []analyze.Expr{e.op(">", e.op("/", val(10), a), val(0))}},
		Input: in,
	}
	e.expect(e.run(&plan.Limit{Input: where, Count: val(int64(2))}), "1", "2")
	prog := e.compile(div)
	x := prog.Start(&e.st)
	defer x.Close()
	n, _, err := x.Fetch(context.Background(), 0, nil)
	if n != 2 || !pgerr.HasCode(err, pgerr.DivisionByZero) {
		t.Errorf("got %d rows and %v", n, err)
	}
}

func TestCaseWithTest(t *testing.T) {
	e := newEnv(t)
	a := col(0, 0, types.Int4)
	test := &analyze.CaseTest{Typed: typed(types.Int4)}
	inner := &analyze.CaseExpr{
		Typed: typed(types.Text), Arg: e.op("+", a, val(1)),
		Whens: []analyze.CaseWhen{{When: e.op("=", test, val(2)), Then: val("inner two")}}, Else: val("inner else"),
	}
	x := &analyze.CaseExpr{
		Typed: typed(types.Text), Arg: a,
		Whens: []analyze.CaseWhen{
			{When: e.op("=", test, val(1)), Then: inner},
			{When: e.op("=", test, val(2)), Then: val("two")},
			{When: e.op("=", test, val(3)), Then: inner},
		},
		Else: null(types.Text),
	}
	e.expect(e.over(values(ints(1), []any{1}, []any{2}, []any{3}, []any{4}, []any{nil}), x),
		"inner two", "two", "inner else", "-", "-")
}

func TestScalarArray(t *testing.T) {
	e := newEnv(t)
	a := col(0, 0, types.Int4)
	array := func(vs ...any) analyze.Expr {
		x := &analyze.ArrayExpr{Typed: typed(types.Int4Array), Elem: types.Int4}
		for _, v := range vs {
			x.Elems = append(x.Elems, val(v))
		}
		return x
	}
	in := func(arr analyze.Expr, op string, any bool) analyze.Expr {
		o := e.operator(op, a, a)
		return &analyze.ScalarArrayOpExpr{
			Typed: typed(types.Bool), Op: o.OID, Func: o.Code, UseOr: any, Scalar: a, Array: arr,
		}
	}
	rows := values(ints(1), []any{1}, []any{20}, []any{nil})
	long := array(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	e.expect(e.over(rows, in(array(1, 2), "=", true), in(array(1, nil), "=", true), in(array(), "=", true), in(long, "=", true)),
		"t|t|f|t", "f|-|f|f", "-|-|f|-")
	e.expect(e.over(rows, in(array(0, 2), "<>", false), in(array(5, 6), "<", true), in(array(), "<", false)),
		"t|t|t", "t|f|t", "-|-|t")
}

func TestLiftedAndParams(t *testing.T) {
	e := newEnv(t)
	lifted := &analyze.Const{Typed: typed(types.Int4), Value: types.Int64Datum(1), Lifted: 1}
	param := &analyze.Param{Typed: typed(types.Int4), Number: 1}
	prog := e.compile(&plan.Result{Base: plan.Base{Targets: []analyze.Expr{e.op("+", lifted, param)}}})
	for i := range 3 {
		e.st.Lifted = []types.Datum{types.Int64Datum(int64(10 * i))}
		e.st.Params = []types.Datum{types.Int64Datum(int64(i))}
		e.expect(e.rows(prog), []string{"0", "11", "22"}[i])
	}
	e.st.Params = nil
	if _, err := e.tryRows(prog); !pgerr.HasCode(err, pgerr.UndefinedObject) {
		t.Errorf("got %v", err)
	}
}

func TestUnsupportedFunction(t *testing.T) {
	e := newEnv(t)
	x := e.call("lo_create", &analyze.Const{Typed: typed(types.Oid)})
	_, err := Compile(&plan.Plan{Root: &plan.Result{Base: plan.Base{Targets: []analyze.Expr{x}}}}, &Deps{Catalog: e.cat})
	if !pgerr.HasCode(err, pgerr.FeatureNotSupported) || pgerr.From(err).Message != "function lo_create(oid) is not supported" {
		t.Errorf("got %v", err)
	}
}

func TestSubscripts(t *testing.T) {
	e := newEnv(t)
	arr := func(s string) analyze.Expr {
		d, err := types.In(types.Int4Array, -1, []byte(s), e.fc.Env)
		if err != nil {
			t.Fatal(err)
		}
		return &analyze.Const{Typed: typed(types.Int4Array), Value: d}
	}
	sub := func(a analyze.Expr, upper ...analyze.Expr) *analyze.SubscriptingRef {
		return &analyze.SubscriptingRef{Typed: typed(types.Int4), Container: a, Elem: types.Int4, Upper: upper}
	}
	slice := func(a analyze.Expr, lo, hi analyze.Expr) *analyze.SubscriptingRef {
		return &analyze.SubscriptingRef{
			Typed: typed(types.Int4Array), Container: a, Elem: types.Int4, Slice: true,
			Lower: []analyze.Expr{lo}, Upper: []analyze.Expr{hi},
		}
	}
	set := func(a, v analyze.Expr, upper ...analyze.Expr) analyze.Expr {
		r := sub(a, upper...)
		r.Typ, r.Assign = types.Int4Array, v
		return r
	}
	setSlice := func(a, v, lo, hi analyze.Expr) analyze.Expr {
		r := slice(a, lo, hi)
		r.Assign = v
		return r
	}
	abc := arr("{10,20,30}")
	cases := []struct {
		x    analyze.Expr
		want string
	}{
		{sub(abc, val(2)), "20"},
		{sub(abc, val(4)), "-"},
		{sub(abc, val(nil)), "-"},
		{sub(arr("{{1,2},{3,4}}"), val(2), val(1)), "3"},
		{sub(arr("{{1,2},{3,4}}"), val(2)), "-"},
		{slice(abc, val(2), val(9)), "{20,30}"},
		{slice(abc, nil, val(2)), "{10,20}"},
		{slice(abc, val(3), val(2)), "{}"},
		{slice(arr("{{1,2},{3,4}}"), val(2), val(2)), "{{3,4}}"},
		{set(abc, val(9), val(2)), "{10,9,30}"},
		{set(abc, val(9), val(5)), "{10,20,30,NULL,9}"},
		{set(abc, val(9), val(-1)), "[-1:3]={9,NULL,10,20,30}"},
		{set(null(types.Int4Array), val(9), val(3)), "[3:3]={9}"},
		{setSlice(abc, arr("{1,2}"), val(2), val(3)), "{10,1,2}"},
		{setSlice(abc, arr("{1,2}"), val(4), val(5)), "{10,20,30,1,2}"},
		{setSlice(null(types.Int4Array), arr("{1,2}"), val(1), val(2)), "{1,2}"},
	}
	for _, c := range cases {
		e.expect(e.eval(c.x), c.want)
	}
}

func TestRows(t *testing.T) {
	e := newEnv(t)
	a, b := col(0, 0, types.Int4), col(0, 1, types.Int4)
	in := values(ints(2), []any{1, 2}, []any{1, nil}, []any{nil, nil}, []any{3, 1})
	row := &analyze.RowExpr{Typed: typed(types.Record), Args: []analyze.Expr{a, b}}
	isNull := &analyze.NullTest{Typed: typed(types.Bool), Arg: row, ArgIsRow: true}
	notNull := &analyze.NullTest{Typed: typed(types.Bool), Arg: row, ArgIsRow: true, IsNot: true}
	field := &analyze.FieldSelect{Typed: typed(types.Int4), Arg: row, Attno: 2}
	less := &analyze.RowCompareExpr{
		Typed: typed(types.Bool), Kind: "<", Left: []analyze.Expr{a, b}, Right: []analyze.Expr{val(1), val(3)},
	}
	e.expect(e.over(in, row, isNull, notNull, field, less),
		"(1,2)|f|t|2|t", "(1,)|f|f|-|-", "(,)|t|f|-|-", "(3,1)|f|t|1|f")
}

func TestCasts(t *testing.T) {
	e := newEnv(t)
	via := func(x analyze.Expr, to types.OID) analyze.Expr {
		return &analyze.CoerceViaIO{Typed: typed(to), Arg: x}
	}
	e.expect(e.eval(via(val(42), types.Text)), "42")
	e.expect(e.eval(via(val("17"), types.Int4)), "17")
	_, err := e.tryRows(e.compile(&plan.Result{Base: plan.Base{Targets: []analyze.Expr{via(val("x"), types.Int4)}}}))
	if !pgerr.HasCode(err, pgerr.InvalidTextRepresentation) {
		t.Errorf("got %v", err)
	}
	test := &analyze.CaseTest{Typed: typed(types.Int4)}
	arr := &analyze.ArrayExpr{Typed: typed(types.Int4Array), Elem: types.Int4, Elems: []analyze.Expr{val(1), val(nil), val(3)}}
	e.expect(e.eval(&analyze.ArrayCoerceExpr{Typed: typed(types.TextArray), Arg: arr, ElemExpr: via(test, types.Text)}),
		"{1,NULL,3}")
}

func TestMinMaxNullIfDistinct(t *testing.T) {
	e := newEnv(t)
	a, b := col(0, 0, types.Int4), col(0, 1, types.Int4)
	in := values(ints(2), []any{1, 2}, []any{2, 2}, []any{nil, 2}, []any{nil, nil})
	eq := *e.op("=", a, b)
	nullIf := &analyze.NullIfExpr{OpExpr: eq}
	nullIf.Typ = types.Int4
	e.expect(e.over(in,
		&analyze.MinMaxExpr{Typed: typed(types.Int4), Greatest: true, Args: []analyze.Expr{a, b}},
		&analyze.MinMaxExpr{Typed: typed(types.Int4), Args: []analyze.Expr{a, b}},
		nullIf, &analyze.DistinctExpr{OpExpr: eq}),
		"2|1|1|t", "2|2|-|f", "2|2|-|t", "-|-|-|f")
}
