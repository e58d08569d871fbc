package exec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// agg is a call of an aggregate.
func (e *env) agg(name string, args ...analyze.Expr) plan.AggCall {
	e.t.Helper()
	ts := make([]types.OID, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	p := e.proc(name, ts...)
	return plan.AggCall{Func: p.OID, Args: args, NArgs: len(args), Type: p.RetType, Typmod: -1, Star: len(args) == 0}
}

func TestPlainAggregate(t *testing.T) {
	e := newEnv(t)
	a := col(0, 0, types.Int4)
	in := values(ints(1), []any{1}, []any{nil}, []any{3}, []any{3})
	count := e.agg("count", col(0, 0, types.Any))
	count.Args = []analyze.Expr{a}
	filtered := e.agg("count")
	filtered.Filter = e.op(">", a, val(1))
	distinct := e.agg("sum", a)
	distinct.Distinct = true
	n := &plan.Aggregate{Input: in, Aggs: []plan.AggCall{e.agg("count"), count, e.agg("sum", a), e.agg("min", a), e.agg("max", a), filtered, distinct}}
	e.expect(e.run(n), "4|3|7|1|3|2|4")
	n.Input = values(ints(1))
	e.expect(e.run(n), "0|0|-|-|-|0|-")
	n.Filter = []analyze.Expr{e.op(">", col(0, 0, types.Int8), val(int64(0)))}
	e.expect(e.run(n))
}

// Grouping by hash, in memory and on disk, and by sort give the same.
func TestGrouping(t *testing.T) {
	r := newRand(t)
	for _, groups := range []int{1, 10, 3000} {
		type sums struct{ n, sum int }
		want := map[string]*sums{}
		var rows [][]any
		for range 4000 {
			k, v := any(r.IntN(groups)), r.IntN(100)
			if r.IntN(20) == 0 {
				k = nil
			}
			rows = append(rows, []any{k, fmt.Sprint("x", v%3), v})
			key := fmt.Sprintf("%v|x%d", k, v%3)
			if k == nil {
				key = fmt.Sprintf("-|x%d", v%3)
			}
			if want[key] == nil {
				want[key] = &sums{}
			}
			want[key].n++
			want[key].sum += v
		}
		var out []string
		for k, s := range want {
			out = append(out, fmt.Sprintf("%s|%d|%d", k, s.n, s.sum))
		}
		ts := []types.OID{types.Int4, types.Text, types.Int4}
		for _, mode := range []string{"hash", "hash on disk", "sort"} {
			t.Run(fmt.Sprintf("%d/%s", groups, mode), func(t *testing.T) {
				e := newEnv(t)
				n := &plan.Aggregate{
					Strategy: plan.AggHashed, Input: values(ts, rows...), Group: []plan.GroupKey{{Column: 0}, {Column: 1}},
					Aggs: []plan.AggCall{e.agg("count"), e.agg("sum", col(0, 2, types.Int4))},
				}
				switch mode {
				case "hash on disk":
					e.spillAlways()
				case "sort":
					n.Strategy = plan.AggSorted
					n.Input = &plan.Sort{Input: n.Input, Keys: []plan.SortKey{{Column: 1}, {Column: 0}}}
				}
				e.expectSet(e.run(n), out...)
				e.noFiles()
			})
		}
	}
}

func TestGroupingSets(t *testing.T) {
	e := newEnv(t)
	in := values(ints(3), []any{1, 10, 1}, []any{1, 20, 2}, []any{2, 10, 4})
	n := &plan.Aggregate{
		Strategy: plan.AggHashed, Input: in, Group: []plan.GroupKey{{Column: 0}, {Column: 1}}, Sets: [][]int{{0, 1}, {0}, {}},
		Aggs: []plan.AggCall{e.agg("sum", col(0, 2, types.Int4))}, Grouping: [][]int{{0, 1}},
	}
	want := []string{"1|10|1|0", "1|20|2|0", "2|10|4|0", "1|-|3|1", "2|-|4|1", "-|-|7|3"}
	e.expect(e.run(n), want...)
	e.spillAlways()
	e.expectSet(e.run(n), want...)
	e.noFiles()
	n.Input = values(ints(3))
	e.expect(e.run(n), "-|-|-|3")
}

// Aggregates that want their rows sorted or distinct get them so in each group, whatever the strategy.
func TestOrderedAggregates(t *testing.T) {
	e := newEnv(t)
	k, v := col(0, 0, types.Int4), col(0, 1, types.Int4)
	ordered := e.agg("array_agg", col(0, 1, types.AnyNonArray))
	ordered.Args = []analyze.Expr{v}
	ordered.Type = types.Int4Array
	ordered.OrderBy = []plan.SortKey{{Column: 0, Desc: true}}
	distinct := ordered
	distinct.Distinct = true
	distinct.OrderBy = nil
	by := ordered
	by.Args, by.NArgs = []analyze.Expr{v, e.op("%", v, val(3))}, 1
	by.OrderBy = []plan.SortKey{{Column: 1}, {Column: 0}}
	var rows [][]any
	for i := range 12 {
		rows = append(rows, []any{i % 2, i % 5})
	}
	want := []string{
		"0|{4,3,2,1,0,0}|{0,1,2,3,4}|{0,0,3,1,4,2}",
		"1|{4,3,2,1,1,0}|{0,1,2,3,4}|{0,3,1,1,4,2}",
	}
	n := &plan.Aggregate{
		Strategy: plan.AggHashed, Input: values(ints(2), rows...), Group: []plan.GroupKey{{}}, Aggs: []plan.AggCall{ordered, distinct, by},
	}
	e.expect(e.run(n), want...)
	n.Strategy, n.Input = plan.AggSorted, &plan.Sort{Input: n.Input, Keys: []plan.SortKey{{}}}
	e.expect(e.run(n), want...)
	e.spillAlways()
	e.expect(e.run(n), want...)
	e.noFiles()
	_ = k
}

func TestPartialAggregates(t *testing.T) {
	e := newEnv(t)
	var rows [][]any
	for i := range 100 {
		rows = append(rows, []any{i % 3, i})
	}
	aggs := []plan.AggCall{e.agg("count"), e.agg("sum", col(0, 1, types.Int4)), e.agg("avg", col(0, 1, types.Int4))}
	partial := &plan.Aggregate{
		Strategy: plan.AggHashed, Input: values(ints(2), rows...), Group: []plan.GroupKey{{}}, Aggs: aggs, Partial: true,
	}
	n := &plan.Aggregate{
		Strategy: plan.AggHashed, Input: &plan.Gather{Input: partial}, Group: []plan.GroupKey{{}}, Aggs: aggs, Combine: true,
	}
	e.expectSet(e.run(n), "0|34|1683|49.5000000000000000", "1|33|1617|49.0000000000000000", "2|33|1650|50.0000000000000000")
}

// A group's state is dropped once it was given, so that sorted input of any length needs no memory.
func TestSortedAggregateStreams(t *testing.T) {
	e := newEnv(t)
	in := &plan.FunctionScan{
		Base:      plan.Base{Targets: cols(0, types.Int4)},
		Functions: []analyze.RTEFunc{{Call: e.call("generate_series", val(1), val(5000)), Columns: []analyze.RTEColumn{{Type: types.Int4}}, Scalar: true}},
	}
	n := &plan.Aggregate{
		Strategy: plan.AggSorted, Input: in, Group: []plan.GroupKey{{}}, Aggs: []plan.AggCall{e.agg("sum", col(0, 0, types.Int4))},
	}
	got := e.run(n)
	want := make([]string, 5000)
	for i := range want {
		want[i] = fmt.Sprintf("%d|%d", i+1, i+1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d rows", len(got))
	}
	e.expect(e.run(&plan.Limit{Input: n, Count: val(int64(1))}), "1|1")
}
