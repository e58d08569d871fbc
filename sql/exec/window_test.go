package exec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

func (e *env) window(name string, typ types.OID, decl []types.OID, args ...analyze.Expr) plan.WindowCall {
	e.t.Helper()
	p := e.proc(name, decl...)
	return plan.WindowCall{Func: p.OID, Args: args, Type: typ, IsAgg: p.Kind == 'a'}
}

func TestWindowFunctions(t *testing.T) {
	e := newEnv(t)
	v := col(0, 1, types.Int4)
	in := values(ints(2), []any{1, 10}, []any{1, 10}, []any{1, 20}, []any{1, 30}, []any{2, 5})
	n := &plan.WindowAgg{
		Input: in, Partition: []plan.GroupKey{{Column: 0}}, Order: []plan.SortKey{{Column: 1}},
		Frame: analyze.Frame{Mode: analyze.FrameRange, Start: analyze.UnboundedPreceding, End: analyze.CurrentRow},
		Calls: []plan.WindowCall{
			e.window("row_number", types.Int8, nil),
			e.window("rank", types.Int8, nil),
			e.window("dense_rank", types.Int8, nil),
			e.window("percent_rank", types.Float8, nil),
			e.window("cume_dist", types.Float8, nil),
			e.window("ntile", types.Int4, []types.OID{types.Int4}, val(3)),
			e.window("lag", types.Int4, []types.OID{types.AnyElement}, v),
			e.window("lead", types.Int4, []types.OID{types.AnyCompatible, types.Int4, types.AnyCompatible}, v, val(2), val(-1)),
			e.window("first_value", types.Int4, []types.OID{types.AnyElement}, v),
			e.window("last_value", types.Int4, []types.OID{types.AnyElement}, v),
			e.window("nth_value", types.Int4, []types.OID{types.AnyElement, types.Int4}, v, val(3)),
			e.window("sum", types.Int8, []types.OID{types.Int4}, v),
		},
	}
	want := []string{
		"1|10|1|1|1|0|0.5|1|-|20|10|10|-|20",
		"1|10|2|1|1|0|0.5|1|10|30|10|10|-|20",
		"1|20|3|3|2|0.6666666666666666|0.75|2|10|-1|10|20|20|40",
		"1|30|4|4|3|1|1|3|20|-1|10|30|20|70",
		"2|5|1|1|1|0|1|1|-|-1|5|5|-|5",
	}
	e.expect(e.run(n), want...)
	e.expect(e.run(&plan.Limit{Input: n, Count: val(int64(2))}), want[:2]...)
}

// Frames of every kind agree with their definition, row by row.
func TestWindowFrames(t *testing.T) {
	e := newEnv(t)
	r := newRand(t)
	bounds := []analyze.FrameBound{
		analyze.UnboundedPreceding, analyze.OffsetPreceding, analyze.CurrentRow, analyze.OffsetFollowing, analyze.UnboundedFollowing,
	}
	for range 300 {
		var vals []any
		for range r.IntN(12) {
			vals = append(vals, r.IntN(8))
		}
		desc, nullsFirst := r.IntN(2) == 0, r.IntN(2) == 0
		slices.SortFunc(vals, func(a, b any) int {
			if desc {
				return b.(int) - a.(int)
			}
			return a.(int) - b.(int)
		})
		nulls := make([]any, r.IntN(3))
		if nullsFirst {
			vals = append(nulls, vals...)
		} else {
			vals = append(vals, nulls...)
		}
		fr := analyze.Frame{
			Mode: analyze.FrameMode(r.IntN(3)), Start: bounds[r.IntN(4)], End: bounds[1+r.IntN(4)], Exclude: analyze.FrameExclude(r.IntN(4)),
		}
		lo, hi := r.IntN(3), r.IntN(3)
		offset := func(v int) analyze.Expr {
			if fr.Mode == analyze.FrameRange {
				return val(v)
			}
			return val(int64(v))
		}
		if fr.Start == analyze.OffsetPreceding || fr.Start == analyze.OffsetFollowing {
			fr.StartOffset = offset(lo)
		}
		if fr.End == analyze.OffsetPreceding || fr.End == analyze.OffsetFollowing {
			fr.EndOffset = offset(hi)
		}
		rows := make([][]any, len(vals))
		for i := range vals {
			rows[i] = []any{vals[i], i}
		}
		id := col(0, 1, types.Int4)
		n := &plan.WindowAgg{
			Input: values(ints(2), rows...), Order: []plan.SortKey{{Column: 0, Desc: desc, NullsFirst: nullsFirst}}, Frame: fr,
			Calls: []plan.WindowCall{
				e.window("array_agg", types.Int4Array, []types.OID{types.AnyNonArray}, id),
				e.window("first_value", types.Int4, []types.OID{types.AnyElement}, id),
				e.window("last_value", types.Int4, []types.OID{types.AnyElement}, id),
			},
			Base: plan.Base{Targets: []analyze.Expr{col(0, 2, types.Int4Array), col(0, 3, types.Int4), col(0, 4, types.Int4)}},
		}
		var want []string
		for i := range vals {
			want = append(want, naiveFrame(vals, i, fr, lo, hi, desc))
		}
		got := e.run(n)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, frame %+v %d %d, desc %v:\ngot  %v\nwant %v", vals, fr, lo, hi, desc, got, want)
		}
	}
}

func naiveFrame(vals []any, i int, fr analyze.Frame, lo, hi int, desc bool) string {
	group := make([]int, len(vals))
	for j := 1; j < len(vals); j++ {
		group[j] = group[j-1]
		if vals[j] != vals[j-1] {
			group[j]++
		}
	}
	// inside tells whether row j is on the right side of a bound; sign is 1 for the start.
	inside := func(b analyze.FrameBound, off, j, sign int) bool {
		switch b {
		case analyze.UnboundedPreceding, analyze.UnboundedFollowing:
			return true
		case analyze.OffsetPreceding:
			off = -off
		case analyze.CurrentRow:
			off = 0
		}
		switch fr.Mode {
		case analyze.FrameRows:
			return sign*(j-(i+off)) >= 0
		case analyze.FrameGroups:
			return sign*(group[j]-(group[i]+off)) >= 0
		}
		if b == analyze.CurrentRow || vals[i] == nil {
			return sign*(group[j]-group[i]) >= 0
		}
		if vals[j] == nil {
			return sign*(j-i) >= 0
		}
		d := vals[j].(int) - vals[i].(int)
		if desc {
			d = -d
		}
		return sign*(d-off) >= 0
	}
	var ids []string
	for j := range vals {
		if !inside(fr.Start, lo, j, 1) || !inside(fr.End, hi, j, -1) {
			continue
		}
		switch fr.Exclude {
		case analyze.ExcludeCurrentRow:
			if j == i {
				continue
			}
		case analyze.ExcludeGroup:
			if group[j] == group[i] {
				continue
			}
		case analyze.ExcludeTies:
			if j != i && group[j] == group[i] {
				continue
			}
		}
		ids = append(ids, fmt.Sprint(j))
	}
	if len(ids) == 0 {
		return "-|-|-"
	}
	return "{" + strings.Join(ids, ",") + "}|" + ids[0] + "|" + ids[len(ids)-1]
}
