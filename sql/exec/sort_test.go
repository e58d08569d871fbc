package exec

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// Sorts of random rows agree with the type's own comparison, however they are made.
func TestSorts(t *testing.T) {
	r := newRand(t)
	ts := []types.OID{types.Int4, types.Text, types.Float8, types.Numeric}
	for _, n := range []int{0, 1, 2, 100, 5000} {
		rows := make([][]types.Datum, n)
		for i := range rows {
			num, err := types.In(types.Numeric, -1, fmt.Appendf(nil, "%d.%d", r.IntN(20)-10, r.IntN(3)*10), nil)
			if err != nil {
				t.Fatal(err)
			}
			rows[i] = []types.Datum{
				types.Int64Datum(int64(r.IntN(60) - 30)), types.TextDatum(strings.Repeat("a", r.IntN(3)) + string(rune('a'+r.IntN(4)))),
				types.Float64Datum([]float64{0, math.Copysign(0, -1), 1.5, -2.5, math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(7)]), num,
			}
			for c := range rows[i] {
				if r.IntN(8) == 0 {
					rows[i][c] = types.NullDatum
				}
			}
		}
		for range 12 {
			var keys []plan.SortKey
			for _, c := range r.Perm(len(ts))[:1+r.IntN(3)] {
				keys = append(keys, plan.SortKey{Column: c, Desc: r.IntN(2) == 0, NullsFirst: r.IntN(2) == 0})
			}
			want := slices.Clone(rows)
			slices.SortStableFunc(want, func(a, b []types.Datum) int { return compareRows(keys, ts, a, b) })
			for _, mode := range []string{"memory", "disk", "bound", "bound disk", "presorted"} {
				t.Run(fmt.Sprintf("n=%d/%s", n, mode), func(t *testing.T) { testSort(t, mode, rows, want, keys, ts) })
			}
		}
	}
}

func compareRows(keys []plan.SortKey, ts []types.OID, a, b []types.Datum) int {
	for _, k := range keys {
		x, y := a[k.Column], b[k.Column]
		c := 0
		switch {
		case x.Null && y.Null:
			continue
		case x.Null || y.Null:
			if x.Null == k.NullsFirst {
				return -1
			}
			return 1
		default:
			c = types.Compare(ts[k.Column], x, y)
		}
		if k.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func testSort(t *testing.T, mode string, rows, want [][]types.Datum, keys []plan.SortKey, ts []types.OID) {
	e := newEnv(t)
	n := &plan.Sort{Keys: keys}
	in := rows
	if strings.HasSuffix(mode, "disk") {
		e.spillAlways()
	}
	if strings.HasPrefix(mode, "bound") {
		want = want[:len(want)/3]
		n.Bound = val(int64(len(want)))
	}
	if mode == "presorted" {
		n.Presorted = 1
		in = slices.Clone(rows)
		slices.SortStableFunc(in, func(a, b []types.Datum) int { return compareRows(keys[:1], ts, a, b) })
	}
	n.Input = datums(ts, in)
	var root plan.Node = n
	if n.Bound != nil {
		root = &plan.Limit{Input: n, Count: n.Bound}
	}
	got := e.run(root)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if w := printDatums(e, ts, want[i]); got[i] != w {
			t.Fatalf("row %d is %s, want %s", i, got[i], w)
		}
	}
	e.noFiles()
}

func printDatums(e *env, ts []types.OID, row []types.Datum) string {
	var out []string
	for c, d := range row {
		if d.Null {
			out = append(out, "-")
		} else {
			out = append(out, string(types.Out(ts[c], d, nil, e.fc.Env)))
		}
	}
	return strings.Join(out, "|")
}

// datums is a ValuesScan of datums.
func datums(ts []types.OID, rows [][]types.Datum) plan.Node {
	n := values(ts)
	if len(rows) == 0 {
		return n
	}
	n.Filter, n.Lists = nil, nil
	for _, r := range rows {
		list := cols(0, ts...)
		for c := range r {
			k := null(ts[c])
			k.Value = r[c]
			list[c] = k
		}
		n.Lists = append(n.Lists, list)
	}
	return n
}

// A sort is kept for the next run where nothing it depends on has changed, and made anew where it has.
func TestSortRewinds(t *testing.T) {
	e := newEnv(t)
	e.spillAlways()
	var big [][]any
	for i := range 3000 {
		big = append(big, []any{(i * 7919) % 3000})
	}
	outer := values(ints(1), []any{1}, []any{2})
	in := &plan.Sort{Input: values(ints(1), big...), Keys: []plan.SortKey{{Desc: true}}}
	got := e.run(&plan.NestLoop{Outer: outer, Inner: &plan.Limit{Input: in, Count: val(int64(2))}})
	e.expect(got, "1|2999", "1|2998", "2|2999", "2|2998")
	e.noFiles()
}

// So many runs that they are merged in several rounds.
func TestManyRuns(t *testing.T) {
	e := newEnv(t)
	e.spillAlways()
	x := e.compile(values(ints(1))).Start(&e.st)
	defer x.Close()
	x.rt.ctx = context.Background()
	s := newSorter(&x.rt, []sortKey{{typ: types.Int4}}, []vecSpec{{types.Int4, types.Word}})
	defer s.reset()
	b := types.NewBatch(ints(1), 2)
	const runs = 3*mergeOrder + 5
	for i := range runs {
		b.N = 2
		b.Cols[0].W[0], b.Cols[0].W[1] = uint64(runs-i), uint64(i)
		if err := s.add(b, b.Rows()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	n, last := 0, uint64(0)
	for {
		b, err := s.next(100)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		for i := range b.N {
			if b.Cols[0].W[i] < last {
				t.Fatalf("%d after %d", b.Cols[0].W[i], last)
			}
			last = b.Cols[0].W[i]
			n++
		}
	}
	if n != 2*runs {
		t.Errorf("%d rows of %d", n, 2*runs)
	}
}

func TestLimit(t *testing.T) {
	e := newEnv(t)
	in := values(ints(1), []any{1}, []any{2}, []any{2}, []any{2}, []any{3})
	e.expect(e.run(&plan.Limit{Input: in, Offset: val(int64(1)), Count: val(int64(2))}), "2", "2")
	e.expect(e.run(&plan.Limit{Input: in, Offset: val(int64(9))}))
	e.expect(e.run(&plan.Limit{Input: in, Count: null(types.Int8)}), "1", "2", "2", "2", "3")
	e.expect(e.run(&plan.Limit{Input: in, Count: val(int64(0))}))
	ties := &plan.Limit{Input: in, Count: val(int64(2)), WithTies: true, Ties: []plan.GroupKey{{}}}
	e.expect(e.run(ties), "1", "2", "2", "2")
	for what, n := range map[string]*plan.Limit{
		"LIMIT": {Input: in, Count: val(int64(-1))}, "OFFSET": {Input: in, Offset: val(int64(-1))},
	} {
		if _, err := e.tryRows(e.compile(n)); err == nil || !strings.Contains(err.Error(), what+" must not be negative") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestUniqueAndSetOps(t *testing.T) {
	e := newEnv(t)
	a := values(ints(1), []any{1}, []any{1}, []any{2}, []any{nil}, []any{nil}, []any{3}, []any{1})
	b := values(ints(1), []any{1}, []any{nil}, []any{4})
	g := []plan.GroupKey{{}}
	e.expect(e.run(&plan.Unique{Input: a, Group: g}), "1", "2", "-", "3", "1")
	setOp := func(kind int, all bool) []string {
		n := &plan.SetOp{Left: a, Right: b, All: all, Group: g}
		n.Kind = 1
		if kind == 2 {
			n.Kind = 2
		}
		return e.run(n)
	}
	e.expectSet(setOp(1, false), "1", "-")
	e.expectSet(setOp(1, true), "1", "-")
	e.expectSet(setOp(2, false), "2", "3")
	e.expectSet(setOp(2, true), "1", "1", "2", "-", "3")
	e.expect(e.run(&plan.Append{Children: []plan.Node{b, values(ints(1)), b}}), "1", "-", "4", "1", "-", "4")
}

func TestRecursiveUnion(t *testing.T) {
	e := newEnv(t)
	work := &plan.WorkTableScan{
		Base: plan.Base{
			Targets: nil, Filter: nil,
		},
	}
	step := &plan.SubqueryScan{Input: work}
	a := col(0, 0, types.Int4)
	step.Filter = append(step.Filter, e.op("<", a, val(5)))
	step.Targets = append(step.Targets, e.op("+", a, val(1)))
	run := func(distinct bool, inner plan.Node) []string {
		ru := &plan.RecursiveUnion{Outer: values(ints(1), []any{1}), Inner: inner, Distinct: distinct, Group: []plan.GroupKey{{}}}
		p := &plan.Plan{
			Root: &plan.CTEScan{}, CTEs: []plan.CTEPlan{{Name: "r", Node: ru, Recursive: true}}, ReadOnly: true,
		}
		return e.rows(e.compilePlan(p))
	}
	e.expect(run(false, step), "1", "2", "3", "4", "5")
	cycle := &plan.SubqueryScan{Input: work}
	cycle.Targets = append(cycle.Targets, e.op("%", e.op("+", a, val(1)), val(3)))
	e.expect(run(true, cycle), "1", "2", "0")
}
