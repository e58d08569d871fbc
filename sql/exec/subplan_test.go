package exec

import (
	"testing"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

func (e *env) series(lo, hi analyze.Expr) *plan.FunctionScan {
	return &plan.FunctionScan{
		Base:      plan.Base{Targets: cols(0, types.Int4)},
		Functions: []analyze.RTEFunc{{Call: e.call("generate_series", lo, hi), Columns: []analyze.RTEColumn{{Type: types.Int4}}, Scalar: true}},
	}
}

func execParam(n int, t types.OID) *analyze.Param {
	return &analyze.Param{Typed: typed(t), Number: n, Exec: true}
}

func TestCorrelatedSubPlans(t *testing.T) {
	e := newEnv(t)
	e.params = 1
	a := col(0, 0, types.Int4)
	in := values(ints(1), []any{0}, []any{1}, []any{2}, []any{nil})
	sub := func(kind analyze.SubLinkKind, typ types.OID, p plan.Node) *plan.SubPlan {
		return &plan.SubPlan{
			Typed: typed(typ), Kind: kind, Plan: p, Param: -1, ParamIDs: []int{0}, Args: []analyze.Expr{a},
		}
	}
	p := execParam(0, types.Int4)
	test := e.op("=", val(2), &analyze.SubColumn{Typed: typed(types.Int4)})
	anyOf := sub(analyze.SubLinkAny, types.Bool, e.series(val(1), p))
	anyOf.Test = test
	allOf := sub(analyze.SubLinkAll, types.Bool, e.series(val(1), p))
	allOf.Test = e.op(">", val(2), &analyze.SubColumn{Typed: typed(types.Int4)})
	sum := &plan.Aggregate{Input: e.series(val(1), p), Aggs: []plan.AggCall{e.agg("sum", col(0, 0, types.Int4))}}
	e.expect(e.over(in,
		sub(analyze.SubLinkExists, types.Bool, e.series(val(1), p)),
		sub(analyze.SubLinkExpr, types.Int8, sum),
		sub(analyze.SubLinkArray, types.Int4Array, e.series(val(1), p)),
		anyOf, allOf,
	), "f|-|{}|f|t", "t|1|{1}|f|t", "t|3|{1,2}|t|f", "f|-|{}|f|t")
	_, err := e.tryRows(e.compile(&plan.SubqueryScan{
		Base:  plan.Base{Targets: []analyze.Expr{sub(analyze.SubLinkExpr, types.Int4, e.series(val(1), p))}},
		Input: in,
	}))
	if !pgerr.HasCode(err, pgerr.CardinalityViolation) {
		t.Errorf("got %v", err)
	}
}

// IN over a hashed sub-select knows what nulls leave unknown.
func TestHashedSubPlan(t *testing.T) {
	e := newEnv(t)
	a := col(0, 0, types.Int4)
	in := values(ints(1), []any{1}, []any{2}, []any{nil})
	for name, c := range map[string]struct {
		rows [][]any
		want []string
	}{
		"no nulls": {[][]any{{1}, {3}}, []string{"t|t", "f|f", "-|-"}},
		"a null":   {[][]any{{1}, {nil}}, []string{"t|t", "-|-", "-|-"}},
		"empty":    {nil, []string{"f|f", "f|f", "f|f"}},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			hashed := &plan.SubPlan{
				Typed: typed(types.Bool), Kind: analyze.SubLinkAny, Plan: values(ints(1), c.rows...), Param: -1, Hashed: true,
				HashLeft: []analyze.Expr{a}, Test: e.op("=", a, &analyze.SubColumn{Typed: typed(types.Int4)}),
			}
			plain := *hashed
			plain.Hashed = false
			e.expect(e.over(in, hashed, &plain), c.want...)
		})
	}
}

// An init plan is run when its value is first asked for, and once.
func TestInitPlans(t *testing.T) {
	e := newEnv(t)
	e.params = 2
	bad := &plan.SubPlan{
		Typed: typed(types.Int4), Kind: analyze.SubLinkExpr, Param: 0,
		Plan: &plan.Result{Base: plan.Base{Targets: []analyze.Expr{e.op("/", val(1), val(0))}}},
	}
	random := &plan.SubPlan{
		Typed: typed(types.Float8), Kind: analyze.SubLinkExpr, Param: 1,
		Plan: &plan.Result{Base: plan.Base{Targets: []analyze.Expr{e.call("random")}}},
	}
	r := execParam(1, types.Float8)
	n := &plan.SubqueryScan{
		Base: plan.Base{
			InitPlans: []*plan.SubPlan{bad, random},
			Targets: []analyze.Expr{
				&analyze.CaseExpr{
					Typed: typed(types.Int4), Whens: []analyze.CaseWhen{{When: e.op(">", col(0, 0, types.Int4), val(9)), Then: execParam(0, types.Int4)}},
					Else: val(0),
				},
				e.op("=", r, r),
			},
		},
		Input: values(ints(1), []any{1}, []any{2}),
	}
	e.expect(e.run(n), "0|t", "0|t")
}

func TestCTE(t *testing.T) {
	e := newEnv(t)
	scan := &plan.CTEScan{CTE: 0}
	p := &plan.Plan{
		Root:     &plan.NestLoop{Kind: analyze.JoinInner, Outer: scan, Inner: &plan.CTEScan{CTE: 0}, On: []analyze.Expr{e.op("=", col(0, 0, types.Float8), col(1, 0, types.Float8))}},
		CTEs:     []plan.CTEPlan{{Name: "c", Node: &plan.SubqueryScan{Base: plan.Base{Targets: []analyze.Expr{e.call("random")}}, Input: e.series(val(1), val(3))}}},
		ReadOnly: true,
	}
	if got := e.rows(e.compilePlan(p)); len(got) != 3 {
		t.Errorf("a WITH query gave other rows to its second reader: %v", got)
	}
}

func TestProjectSet(t *testing.T) {
	e := newEnv(t)
	a := col(0, 0, types.Int4)
	in := values(ints(1), []any{1}, []any{0}, []any{2})
	n := &plan.ProjectSet{
		Base:  plan.Base{Targets: []analyze.Expr{a, e.call("generate_series", val(1), a), e.call("generate_series", val(5), val(6))}},
		Input: in,
	}
	e.expect(e.run(n), "1|1|5", "1|-|6", "0|-|5", "0|-|6", "2|1|5", "2|2|6")
	e.expect(e.run(&plan.Limit{Input: n, Count: val(int64(1))}), "1|1|5")
}

func TestFunctionScan(t *testing.T) {
	e := newEnv(t)
	intCol := []analyze.RTEColumn{{Type: types.Int4}}
	n := &plan.FunctionScan{
		Base: plan.Base{Targets: []analyze.Expr{col(0, 0, types.Int4), col(0, 1, types.Int4), col(0, 2, types.Int8)}},
		Functions: []analyze.RTEFunc{
			{Call: e.call("generate_series", val(1), val(3)), Columns: intCol, Scalar: true},
			{Call: e.op("+", val(1), val(1)), Columns: intCol, Scalar: true},
		},
		Ordinality: true,
	}
	e.expect(e.run(n), "1|2|1", "2|-|2", "3|-|3")
}
