package exec

import (
	"context"
	"testing"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// Goroutines that share a table see each row once.
func TestGather(t *testing.T) {
	const rows = 200 * benchPage
	a, ts := newBench(t, rows)
	scan := func() *plan.SeqScan {
		s := a.fullScan(ts[:2])
		s.Workers = 3
		return s
	}
	aggs := []plan.AggCall{a.agg("count"), a.agg("sum", col(0, 0, types.Int4))}
	partial := &plan.Aggregate{Input: scan(), Aggs: aggs, Partial: true}
	n := &plan.Aggregate{Input: &plan.Gather{Input: partial, Workers: 3}, Aggs: aggs, Combine: true}
	a.expect(a.run(n), "25600|327667200")
	plain := &plan.Aggregate{Input: &plan.Gather{Input: scan(), Workers: 3}, Aggs: aggs}
	a.expect(a.run(plain), "25600|327667200")
	a.st.NoParallel = true
	a.expect(a.run(n), "25600|327667200")
}

// The consumer may stop early, and an error of one goroutine ends all.
func TestGatherEnds(t *testing.T) {
	a, ts := newBench(t, 200*benchPage)
	scan := a.fullScan(ts[:2])
	scan.Workers = 2
	g := &plan.Gather{Input: scan, Workers: 2}
	if got := a.run(&plan.Limit{Input: g, Count: val(int64(3))}); len(got) != 3 {
		t.Errorf("%v", got)
	}
	scan.Filter = []analyze.Expr{a.op("<", a.op("/", val(1), a.op("-", col(0, 0, types.Int4), val(20000))), val(5))}
	if _, err := a.tryRows(a.compile(&plan.Aggregate{Input: g, Aggs: []plan.AggCall{a.agg("count")}})); !pgerr.HasCode(err, pgerr.DivisionByZero) {
		t.Errorf("got %v", err)
	}
}

// An init plan that goroutines read is run before they start.
func TestGatherInitPlan(t *testing.T) {
	a, ts := newBench(t, 20*benchPage)
	a.params = 1
	init := &plan.SubPlan{
		Typed: typed(types.Int4), Kind: analyze.SubLinkExpr, Param: 0,
		Plan: &plan.Result{Base: plan.Base{Targets: []analyze.Expr{a.op("+", val(3), val(4))}}},
	}
	scan := a.fullScan(ts[:2], a.op("=", col(0, 0, types.Int4), execParam(0, types.Int4)))
	scan.Workers = 2
	n := &plan.Gather{Input: scan, Workers: 2, Base: plan.Base{InitPlans: []*plan.SubPlan{init}}}
	a.expect(a.run(n), "7|7")
}

func TestInstrument(t *testing.T) {
	a, ts := newBench(t, 2*benchPage)
	scan := a.fullScan(ts[:2], a.op("<", col(0, 0, types.Int4), val(100)))
	sort := &plan.Sort{Input: scan, Keys: []plan.SortKey{{Column: 1}}}
	a.st.Instrument, a.st.Clock = InstrumentTiming, a.fc.Clock
	prog := a.compile(sort)
	x := prog.Start(&a.st)
	defer x.Close()
	if _, _, err := x.Fetch(context.Background(), 0, nil); err != nil {
		t.Fatal(err)
	}
	if s := x.Stats(scan); s.Rows != 100 || s.Loops != 1 || s.RemovedByFilter != 2*benchPage-100 {
		t.Errorf("%+v", *s)
	}
	if s := x.Stats(sort); s.Rows != 100 || s.Method != "quicksort" || s.SpaceBytes == 0 {
		t.Errorf("%+v", *s)
	}
}
