package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// kv is a row of a join's test: a key, perhaps null, and a number.
type kv struct {
	k    any
	v    int
	text string
}

func randomRows(r *rand.Rand, n, keys int) []kv {
	rows := make([]kv, n)
	for i := range rows {
		rows[i] = kv{r.IntN(keys), i, fmt.Sprintf("row %d", i)}
		if r.IntN(10) == 0 {
			rows[i].k = nil
		}
	}
	return rows
}

var kvTypes = []types.OID{types.Int4, types.Int4, types.Text}

func kvValues(rows []kv) *plan.ValuesScan {
	list := make([][]any, len(rows))
	for i, r := range rows {
		list[i] = []any{r.k, r.v, r.text}
	}
	return values(kvTypes, list...)
}

func kvText(r *kv) string {
	if r == nil {
		return "-|-|-"
	}
	if r.k == nil {
		return fmt.Sprintf("-|%d|%s", r.v, r.text)
	}
	return fmt.Sprintf("%v|%d|%s", r.k, r.v, r.text)
}

// naiveJoin is what a join is defined to be.
func naiveJoin(kind analyze.JoinKind, outer, inner []kv, on func(o, i kv) bool) []string {
	var out []string
	hit := make([]bool, len(inner))
	for _, o := range outer {
		matched := false
		for j, i := range inner {
			if o.k == nil || i.k == nil || o.k != i.k || !on(o, i) {
				continue
			}
			hit[j] = true
			if kind != analyze.JoinSemi && kind != analyze.JoinAnti {
				out = append(out, kvText(&o)+"|"+kvText(&i))
			}
			matched = true
		}
		switch kind {
		case analyze.JoinSemi:
			if matched {
				out = append(out, kvText(&o))
			}
		case analyze.JoinAnti:
			if !matched {
				out = append(out, kvText(&o))
			}
		case analyze.JoinLeft, analyze.JoinFull:
			if !matched {
				out = append(out, kvText(&o)+"|"+kvText(nil))
			}
		}
	}
	if kind == analyze.JoinRight || kind == analyze.JoinFull {
		for j := range inner {
			if !hit[j] {
				out = append(out, kvText(nil)+"|"+kvText(&inner[j]))
			}
		}
	}
	return out
}

var joinKinds = map[string]analyze.JoinKind{
	"inner": analyze.JoinInner, "left": analyze.JoinLeft, "right": analyze.JoinRight, "full": analyze.JoinFull,
	"semi": analyze.JoinSemi, "anti": analyze.JoinAnti,
}

func kvTargets(kind analyze.JoinKind) []analyze.Expr {
	out := cols(0, kvTypes...)
	if kind == analyze.JoinSemi || kind == analyze.JoinAnti {
		return out
	}
	return append(out, cols(1, kvTypes...)...)
}

func sorted(n plan.Node) plan.Node {
	return &plan.Sort{Input: n, Keys: []plan.SortKey{{Column: 0}}}
}

// Every join gives what the definition does, in memory and on disk.
func TestJoins(t *testing.T) {
	r := newRand(t)
	k := cols(0, types.Int4)
	for name, kind := range joinKinds {
		for _, withOn := range []bool{false, true} {
			for _, size := range [][3]int{{0, 5, 3}, {5, 0, 3}, {40, 30, 7}, {300, 400, 40}, {1500, 1200, 2000}} {
				outer, inner := randomRows(r, size[0], size[2]), randomRows(r, size[1], size[2])
				t.Run(fmt.Sprintf("%s/on=%v/%dx%d", name, withOn, size[0], size[1]), func(t *testing.T) {
					e := newEnv(t)
					var on []analyze.Expr
					pass := func(o, i kv) bool { return true }
					if withOn {
						on = []analyze.Expr{e.op("<", col(0, 1, types.Int4), e.op("+", col(1, 1, types.Int4), val(20)))}
						pass = func(o, i kv) bool { return o.v < i.v+20 }
					}
					want := naiveJoin(kind, outer, inner, pass)
					base := plan.Base{Targets: kvTargets(kind)}
					e.expectSet(e.run(&plan.HashJoin{
						Base: base, Kind: kind, Outer: kvValues(outer), Inner: kvValues(inner), OuterKeys: k, InnerKeys: k, On: on,
					}), want...)
					e.expectSet(e.run(&plan.MergeJoin{
						Base: base, Kind: kind, Outer: sorted(kvValues(outer)), Inner: sorted(kvValues(inner)),
						OuterKeys: k, InnerKeys: k, On: on, Keys: []plan.SortKey{{}},
					}), want...)
					if kind != analyze.JoinRight && kind != analyze.JoinFull && size[0]*size[1] < 1e6 {
						eq := e.op("=", col(0, 0, types.Int4), col(1, 0, types.Int4))
						e.expectSet(e.run(&plan.NestLoop{
							Base: base, Kind: kind, Outer: kvValues(outer), Inner: &plan.Material{Input: kvValues(inner)},
							On: append([]analyze.Expr{eq}, on...),
						}), want...)
					}
					e.spillAlways()
					e.expectSet(e.run(&plan.HashJoin{
						Base: base, Kind: kind, Outer: kvValues(outer), Inner: kvValues(inner), OuterKeys: k, InnerKeys: k, On: on,
					}), want...)
					e.noFiles()
				})
			}
		}
	}
}

// A left join keeps the outer rows' order, as PostgreSQL's does.
func TestHashJoinOrder(t *testing.T) {
	e := newEnv(t)
	outer := values(ints(1), []any{3}, []any{1}, []any{2}, []any{1})
	inner := values(ints(1), []any{1}, []any{3})
	k := cols(0, types.Int4)
	e.expect(e.run(&plan.HashJoin{Kind: analyze.JoinLeft, Outer: outer, Inner: inner, OuterKeys: k, InnerKeys: k}),
		"3|3", "1|1", "2|-", "1|1")
}

// Keys of different integer types meet, and text of any kind.
func TestHashJoinCrossTypes(t *testing.T) {
	e := newEnv(t)
	a := values([]types.OID{types.Int8, types.Text}, []any{int64(1), "x"}, []any{int64(-2), "y"})
	b := values([]types.OID{types.Int4, types.Name}, []any{1, "x"}, []any{-2, "z"})
	e.expectSet(e.run(&plan.HashJoin{
		Kind: analyze.JoinInner, Outer: a, Inner: b, OuterKeys: cols(0, types.Int8), InnerKeys: cols(0, types.Int4),
	}), "1|x|1|x", "-2|y|-2|z")
	e.expectSet(e.run(&plan.HashJoin{
		Kind: analyze.JoinInner, Outer: a, Inner: b,
		OuterKeys: []analyze.Expr{col(0, 1, types.Text)}, InnerKeys: []analyze.Expr{col(0, 1, types.Name)},
	}), "1|x|1|x")
}

// The inner side is run again for each outer row with its parameter, and not where the parameter stays.
func TestNestLoopParams(t *testing.T) {
	e := newEnv(t)
	e.params = 1
	p := &analyze.Param{Typed: typed(types.Int4), Number: 0, Exec: true}
	outer := values(ints(1), []any{1}, []any{2}, []any{2}, []any{nil})
	inner := &plan.FunctionScan{
		Base:      plan.Base{Targets: cols(0, types.Int4)},
		Functions: []analyze.RTEFunc{{Call: e.call("generate_series", val(1), p), Columns: []analyze.RTEColumn{{Type: types.Int4}}, Scalar: true}},
	}
	join := func(kind analyze.JoinKind, in plan.Node) []string {
		return e.run(&plan.NestLoop{
			Kind: kind, Outer: outer, Inner: in, Params: []plan.NestParam{{ID: 0, Value: col(0, 0, types.Int4)}},
		})
	}
	want := []string{"1|1", "2|1", "2|2", "2|1", "2|2"}
	if _, err := e.cat.ProcsByName("generate_series"); err != nil {
		t.Fatal(err)
	}
	e.expect(join(analyze.JoinInner, inner), want...)
	e.expect(join(analyze.JoinLeft, &plan.Material{Input: inner}), append(slices.Clone(want), "-|-")...)
	e.expect(join(analyze.JoinSemi, inner), "1", "2", "2")
	e.expect(join(analyze.JoinAnti, &plan.Sort{Input: inner, Keys: []plan.SortKey{{}}}), "-")
}

// A join above which a LIMIT stops asks its inputs for no more than it needs.
func TestJoinIsLazy(t *testing.T) {
	e := newEnv(t)
	one := values(ints(1), []any{1}, []any{0})
	bad := &plan.SubqueryScan{Base: plan.Base{Targets: []analyze.Expr{e.op("/", val(1), col(0, 0, types.Int4))}}, Input: one}
	nl := &plan.NestLoop{Kind: analyze.JoinInner, Outer: bad, Inner: values(ints(1), []any{5})}
	e.expect(e.run(&plan.Limit{Input: nl, Count: val(int64(1))}), "1|5")
}
