package plan

import (
	"fmt"

	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

func initPlanName(number, param int) string {
	return fmt.Sprintf("InitPlan %d (returns $%d)", number, param)
}

func subPlanName(number int) string { return fmt.Sprintf("SubPlan %d", number) }

// planGrouping adds aggregation for GROUP BY, aggregates and HAVING.
func (p *planner) planGrouping(st stage) stage {
	q := p.q
	if !q.HasAggs && len(q.Group) == 0 && len(q.GroupingSets) == 0 && q.Having == nil {
		return st
	}
	g := p.collectGrouping()
	if out, ok := p.minMax(st, g); ok {
		return p.filterHaving(out)
	}
	input := p.project(st, g.inputs())
	n := &Aggregate{Input: input.node, Grouping: g.grouping, Named: len(q.Group)}
	for i := range g.keys {
		n.Group = append(n.Group, GroupKey{Column: i, EqFunc: g.eqFuncs[i]})
	}
	for _, a := range g.aggs {
		n.Aggs = append(n.Aggs, p.aggCall(a, input.layout))
	}
	n.Sets = q.GroupingSets
	n.Strategy = p.aggStrategy(n, st, g)
	if n.Strategy == AggSorted && len(n.Sets) == 0 {
		n.Input = p.sortForGroups(input, g, n)
	}
	result := g.results()
	out := newLayout(result)
	n.Filter = p.fixAll(conjuncts(nil, q.Having), out)
	for i, e := range result {
		n.Targets = append(n.Targets, colOf(e, 0, i))
	}
	p.costAggregate(n, g)
	return stage{node: n, layout: out, order: g.order}
}

// filterHaving applies HAVING to the one row of st, a Result.
func (p *planner) filterHaving(st stage) stage {
	if p.q.Having == nil {
		return st
	}
	r := &Result{Input: st.node}
	p.copyCost(r, st.node)
	r.Filter = p.fixAll(conjuncts(nil, p.q.Having), st.layout)
	return stage{node: r, layout: st.layout}
}

// grouping is what an aggregation computes.
type grouping struct {
	keys     []analyze.Expr
	eqFuncs  []types.OID
	aggs     []*analyze.Aggref
	aggKeys  map[string]bool
	funcs    []analyze.Expr // GROUPING() calls
	grouping [][]int
	needs    []analyze.Expr // columns the aggregates' arguments need
	order    []orderKey
}

func (p *planner) collectGrouping() *grouping {
	g := &grouping{aggKeys: make(map[string]bool)}
	keyed := make(map[string]bool)
	for _, s := range p.q.Group {
		t := p.targetByRef(s.Ref)
		g.keys = append(g.keys, t.Expr)
		g.eqFuncs = append(g.eqFuncs, p.operator(s.EqOp).Code)
		keyed[exprKey(t.Expr)] = true
	}
	needed := make(map[string]bool)
	var walk func(e analyze.Expr)
	walk = func(e analyze.Expr) {
		if e == nil || keyed[exprKey(e)] {
			return
		}
		switch n := e.(type) {
		case *analyze.Aggref:
			g.addAggregate(n, needed)
			return
		case *analyze.GroupingFunc:
			if k := exprKey(n); !g.aggKeys[k] {
				g.aggKeys[k] = true
				g.funcs = append(g.funcs, n)
				g.grouping = append(g.grouping, n.Refs)
			}
			return
		case *analyze.Var:
			if n.LevelsUp == 0 {
				keyed[exprKey(n)] = true
				g.keys = append(g.keys, n)
				g.eqFuncs = append(g.eqFuncs, p.typeEquality(n.Typ))
			}
			return
		}
		mapChildren(e, func(c analyze.Expr) analyze.Expr {
			walk(c)
			return c
		})
	}
	for _, t := range p.q.Targets {
		walk(t.Expr)
	}
	walk(p.q.Having)
	return g
}

func (g *grouping) addAggregate(a *analyze.Aggref, needed map[string]bool) {
	if k := exprKey(a); !g.aggKeys[k] {
		g.aggKeys[k] = true
		g.aggs = append(g.aggs, a)
	}
	mapChildren(a, func(c analyze.Expr) analyze.Expr {
		visit(c, func(e analyze.Expr) bool {
			if sp, ok := e.(*SubPlan); ok {
				for _, arg := range sp.Args {
					g.addNeed(arg, needed)
				}
			}
			if _, ok := e.(*analyze.Var); ok {
				g.addNeed(e, needed)
			}
			return true
		})
		return c
	})
}

func (g *grouping) addNeed(e analyze.Expr, needed map[string]bool) {
	visit(e, func(e analyze.Expr) bool {
		if v, ok := e.(*analyze.Var); ok && v.LevelsUp == 0 && !needed[exprKey(v)] {
			needed[exprKey(v)] = true
			g.needs = append(g.needs, v)
		}
		return true
	})
}

// inputs are the columns the aggregation reads: the keys first.
func (g *grouping) inputs() []analyze.Expr {
	list := append([]analyze.Expr(nil), g.keys...)
	have := make(map[string]bool)
	for _, k := range g.keys {
		have[exprKey(k)] = true
	}
	for _, e := range g.needs {
		if !have[exprKey(e)] {
			list = append(list, e)
		}
	}
	return list
}

// results are the columns of the aggregation's result row.
func (g *grouping) results() []analyze.Expr {
	list := append([]analyze.Expr(nil), g.keys...)
	for _, a := range g.aggs {
		list = append(list, a)
	}
	return append(list, g.funcs...)
}

func (p *planner) aggCall(a *analyze.Aggref, l *layout) AggCall {
	c := AggCall{
		Func: a.Func, NArgs: a.NArgs, Distinct: a.Distinct, Filter: p.fix(a.Filter, l), Star: a.Star,
		Type: a.Typ, Typmod: a.Mod, Coll: a.Coll, Source: a, Direct: p.fixAll(a.Direct, l),
	}
	for _, t := range a.Args {
		c.Args = append(c.Args, p.fix(t.Expr, l))
	}
	for _, s := range a.OrderBy {
		for i, t := range a.Args {
			if t.Ref == s.Ref {
				c.OrderBy = append(c.OrderBy, SortKey{
					Column: i, Op: s.SortOp, Desc: s.Desc, NullsFirst: s.NullsFirst, Collation: t.Expr.Collation(),
				})
				break
			}
		}
	}
	return c
}

// aggStrategy sorts only where hashing cannot be done, or the rows come sorted.
func (p *planner) aggStrategy(n *Aggregate, st stage, g *grouping) AggStrategy {
	if len(n.Group) == 0 && len(n.Sets) == 0 {
		return AggPlain
	}
	if len(n.Sets) > 0 {
		return AggHashed
	}
	if n := p.clustered(st.order, p.q.Group); n > 0 {
		g.order = st.order[:n]
		return AggSorted
	}
	hashable := p.ctx.Settings.EnableHashAgg
	for _, s := range p.q.Group {
		hashable = hashable && s.Hashable
	}
	if hashable {
		return AggHashed
	}
	return AggSorted
}

// sortForGroups sorts the input of a sorted aggregation unless it is sorted already.
func (p *planner) sortForGroups(input stage, g *grouping, n *Aggregate) Node {
	if g.order != nil {
		return input.node
	}
	var keys []SortKey // functionally dependent columns follow the keys' order
	for i, s := range p.q.Group {
		keys = append(keys, SortKey{Column: i, Op: s.SortOp, NullsFirst: s.NullsFirst, Desc: s.Desc, Collation: g.keys[i].Collation()})
	}
	g.order = p.orderKeys(p.q.Group)
	return p.addSort(input, keys, 0, nil).node
}

func (p *planner) costAggregate(n *Aggregate, g *grouping) {
	c := n.Input.Common()
	s := &p.ctx.Settings
	per := s.CPUOperatorCost * float64(len(n.Group)+len(n.Aggs))
	n.Rows = 1
	if len(n.Group) > 0 {
		n.Rows = p.distinctRows(c.Rows, g.keys)
	}
	n.StartupCost = c.TotalCost + c.Rows*per
	if n.Strategy == AggSorted {
		n.StartupCost = c.StartupCost
	}
	n.TotalCost = c.TotalCost + c.Rows*per + n.Rows*s.CPUTupleCost
	if len(n.Filter) > 0 {
		n.Rows = clampRows(n.Rows * 0.3333)
	}
	n.Width = 8*len(n.Aggs) + 8*len(n.Group)
}

// planWindows adds a WindowAgg for each window that is used.
func (p *planner) planWindows(st stage) stage {
	q := p.q
	if !q.HasWindows {
		return st
	}
	calls := make([][]*analyze.WindowFunc, len(q.Windows))
	seen := make(map[string]bool)
	var inputs []analyze.Expr
	have := make(map[string]bool)
	add := func(e analyze.Expr) {
		if k := exprKey(e); !have[k] && !p.constantHere(e) {
			have[k] = true
			inputs = append(inputs, e)
		}
	}
	for _, e := range st.layout.list {
		if e != nil {
			add(e)
		}
	}
	for _, t := range q.Targets {
		visit(t.Expr, func(e analyze.Expr) bool {
			w, ok := e.(*analyze.WindowFunc)
			if !ok {
				return true
			}
			if k := exprKey(w); !seen[k] {
				seen[k] = true
				calls[w.Window] = append(calls[w.Window], w)
			}
			return false
		})
	}
	for i, w := range q.Windows {
		if len(calls[i]) == 0 {
			continue
		}
		for _, s := range append(append([]analyze.SortClause(nil), w.Partition...), w.OrderBy...) {
			add(p.targetByRef(s.Ref).Expr)
		}
	}
	st = p.project(st, inputs)
	for i, w := range q.Windows {
		if len(calls[i]) > 0 {
			st = p.addWindow(st, w, calls[i])
		}
	}
	return st
}

func (p *planner) addWindow(st stage, w *analyze.Window, calls []*analyze.WindowFunc) stage {
	st, n := p.windowInput(st, w)
	out := append([]analyze.Expr(nil), st.layout.list...)
	for _, c := range calls {
		n.Calls = append(n.Calls, WindowCall{
			Func: c.Func, Args: p.fixAll(c.Args, st.layout), Filter: p.fix(c.Filter, st.layout), Star: c.Star,
			IsAgg: c.IsAgg, Type: c.Typ, Source: c,
		})
		out = append(out, c)
	}
	n.Frame = w.Frame
	n.Frame.StartOffset = p.fix(w.Frame.StartOffset)
	n.Frame.EndOffset = p.fix(w.Frame.EndOffset)
	for i, e := range out {
		n.Targets = append(n.Targets, colOf(e, 0, i))
	}
	p.copyCost(n, st.node)
	n.TotalCost += n.Rows * p.ctx.Settings.CPUOperatorCost * float64(len(calls)+1)
	n.Input = st.node
	return stage{node: n, layout: newLayout(out), order: st.order}
}

// windowInput sorts the input by partition and order; constants sort nothing.
func (p *planner) windowInput(st stage, w *analyze.Window) (stage, *WindowAgg) {
	n := &WindowAgg{}
	var keys []SortKey
	column := func(s analyze.SortClause) (int, bool) {
		at, ok := st.layout.cols[exprKey(p.targetByRef(s.Ref).Expr)]
		return at, ok
	}
	for _, s := range w.Partition {
		at, ok := column(s)
		if !ok {
			continue
		}
		n.Partition = append(n.Partition, GroupKey{Column: at, EqFunc: p.operator(s.EqOp).Code})
		keys = append(keys, SortKey{Column: at, Op: s.SortOp, Desc: s.Desc, NullsFirst: s.NullsFirst, Collation: st.layout.list[at].Collation()})
	}
	for _, s := range w.OrderBy {
		at, ok := column(s)
		if !ok {
			continue
		}
		k := SortKey{Column: at, Op: s.SortOp, Desc: s.Desc, NullsFirst: s.NullsFirst, Collation: st.layout.list[at].Collation()}
		n.Order = append(n.Order, k)
		n.OrderEq = append(n.OrderEq, p.operator(s.EqOp).Code)
		keys = append(keys, k)
	}
	order := p.windowOrder(w)
	if len(keys) > 0 && !orderSatisfies(st.order, order) {
		st = p.addSort(st, keys, 0, nil)
		st.order = order
	}
	return st, n
}

// windowOrder is the order a window wants its rows in.
func (p *planner) windowOrder(w *analyze.Window) []orderKey {
	return p.orderKeys(append(append([]analyze.SortClause(nil), w.Partition...), w.OrderBy...))
}

// firstWindowOrder is that of the first window that is computed.
func (p *planner) firstWindowOrder() []orderKey {
	for i, w := range p.q.Windows {
		for _, t := range p.q.Targets {
			used := false
			visit(t.Expr, func(e analyze.Expr) bool {
				f, ok := e.(*analyze.WindowFunc)
				used = used || ok && f.Window == i
				return true
			})
			if used {
				return p.windowOrder(w)
			}
		}
	}
	return nil
}
