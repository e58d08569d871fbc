package plan

import "github.com/minipg/minipg/sql/analyze"

// mapChildren returns e with f applied to each direct child expression. e
// itself is not changed: it is copied where a child differs, since parts of the analyzed tree
// are shared. The query of a SubLink is not entered; its Test is.
func mapChildren(e analyze.Expr, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	switch n := e.(type) {
	case *analyze.FuncExpr:
		return mapList(n, n.Args, f, func(c *analyze.FuncExpr, l []analyze.Expr) { c.Args = l })
	case *analyze.OpExpr:
		return mapList(n, n.Args, f, func(c *analyze.OpExpr, l []analyze.Expr) { c.Args = l })
	case *analyze.DistinctExpr:
		return mapList(n, n.Args, f, func(c *analyze.DistinctExpr, l []analyze.Expr) { c.Args = l })
	case *analyze.NullIfExpr:
		return mapList(n, n.Args, f, func(c *analyze.NullIfExpr, l []analyze.Expr) { c.Args = l })
	case *analyze.BoolExpr:
		return mapList(n, n.Args, f, func(c *analyze.BoolExpr, l []analyze.Expr) { c.Args = l })
	case *analyze.CoalesceExpr:
		return mapList(n, n.Args, f, func(c *analyze.CoalesceExpr, l []analyze.Expr) { c.Args = l })
	case *analyze.MinMaxExpr:
		return mapList(n, n.Args, f, func(c *analyze.MinMaxExpr, l []analyze.Expr) { c.Args = l })
	case *analyze.RowExpr:
		return mapList(n, n.Args, f, func(c *analyze.RowExpr, l []analyze.Expr) { c.Args = l })
	case *analyze.ArrayExpr:
		return mapList(n, n.Elems, f, func(c *analyze.ArrayExpr, l []analyze.Expr) { c.Elems = l })
	case *analyze.GroupingFunc:
		return mapList(n, n.Args, f, func(c *analyze.GroupingFunc, l []analyze.Expr) { c.Args = l })
	case *analyze.NullTest:
		return mapOne(n, n.Arg, f, func(c *analyze.NullTest, a analyze.Expr) { c.Arg = a })
	case *analyze.BooleanTest:
		return mapOne(n, n.Arg, f, func(c *analyze.BooleanTest, a analyze.Expr) { c.Arg = a })
	case *analyze.RelabelType:
		return mapOne(n, n.Arg, f, func(c *analyze.RelabelType, a analyze.Expr) { c.Arg = a })
	case *analyze.CoerceViaIO:
		return mapOne(n, n.Arg, f, func(c *analyze.CoerceViaIO, a analyze.Expr) { c.Arg = a })
	case *analyze.CoerceToDomain:
		return mapOne(n, n.Arg, f, func(c *analyze.CoerceToDomain, a analyze.Expr) { c.Arg = a })
	case *analyze.ArrayCoerceExpr:
		return mapOne(n, n.Arg, f, func(c *analyze.ArrayCoerceExpr, a analyze.Expr) { c.Arg = a })
	case *analyze.FieldSelect:
		return mapOne(n, n.Arg, f, func(c *analyze.FieldSelect, a analyze.Expr) { c.Arg = a })
	case *analyze.CollateExpr:
		return mapOne(n, n.Arg, f, func(c *analyze.CollateExpr, a analyze.Expr) { c.Arg = a })
	case *analyze.SubLink:
		return mapOne(n, n.Test, f, func(c *analyze.SubLink, a analyze.Expr) { c.Test = a })
	case *analyze.ScalarArrayOpExpr:
		return mapScalarArray(n, f)
	case *analyze.CaseExpr:
		return mapCase(n, f)
	case *analyze.RowCompareExpr:
		return mapRowCompare(n, f)
	case *analyze.SubscriptingRef:
		return mapSubscripts(n, f)
	case *analyze.Aggref:
		return mapAggref(n, f)
	case *analyze.WindowFunc:
		return mapWindowFunc(n, f)
	case *WholeRow:
		return mapWholeRow(n, f)
	case *SubPlan:
		return mapSubPlan(n, f)
	}
	return e
}

func mapWholeRow(n *WholeRow, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	e := mapList(n, n.Cols, f, func(c *WholeRow, l []analyze.Expr) { c.Cols = l })
	return mapOne(e.(*WholeRow), n.NullIf, f, func(c *WholeRow, x analyze.Expr) { c.NullIf = x })
}

// copier is a pointer to an expression node.
type copier[T any] interface {
	*T
	analyze.Expr
}

func mapOne[T any, P copier[T]](n P, arg analyze.Expr, f func(analyze.Expr) analyze.Expr, set func(P, analyze.Expr)) analyze.Expr {
	if arg == nil {
		return n
	}
	mapped := f(arg)
	if mapped == arg {
		return n
	}
	c := *n
	set(&c, mapped)
	return P(&c)
}

func mapList[T any, P copier[T]](n P, args []analyze.Expr, f func(analyze.Expr) analyze.Expr, set func(P, []analyze.Expr)) analyze.Expr {
	mapped, changed := mapExprs(args, f)
	if !changed {
		return n
	}
	c := *n
	set(&c, mapped)
	return P(&c)
}

// mapExprs applies f to each expression; nil ones stay nil.
func mapExprs(list []analyze.Expr, f func(analyze.Expr) analyze.Expr) (mapped []analyze.Expr, changed bool) {
	for i, e := range list {
		if e == nil {
			continue
		}
		m := f(e)
		if m == e {
			continue
		}
		if !changed {
			mapped = append([]analyze.Expr(nil), list...)
			changed = true
		}
		mapped[i] = m
	}
	if !changed {
		return list, false
	}
	return mapped, true
}

func mapNil(e analyze.Expr, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	if e == nil {
		return nil
	}
	return f(e)
}

func mapScalarArray(n *analyze.ScalarArrayOpExpr, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	s, a := f(n.Scalar), f(n.Array)
	if s == n.Scalar && a == n.Array {
		return n
	}
	c := *n
	c.Scalar, c.Array = s, a
	return &c
}

func mapCase(n *analyze.CaseExpr, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	c := *n
	c.Arg = mapNil(n.Arg, f)
	c.Else = mapNil(n.Else, f)
	changed := c.Arg != n.Arg || c.Else != n.Else
	c.Whens = make([]analyze.CaseWhen, len(n.Whens))
	for i, w := range n.Whens {
		c.Whens[i] = analyze.CaseWhen{When: f(w.When), Then: f(w.Then)}
		changed = changed || c.Whens[i] != w
	}
	if !changed {
		return n
	}
	return &c
}

func mapRowCompare(n *analyze.RowCompareExpr, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	left, changedLeft := mapExprs(n.Left, f)
	right, changedRight := mapExprs(n.Right, f)
	if !changedLeft && !changedRight {
		return n
	}
	c := *n
	c.Left, c.Right = left, right
	return &c
}

func mapSubscripts(n *analyze.SubscriptingRef, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	c := *n
	var changedUpper, changedLower bool
	c.Container = f(n.Container)
	c.Upper, changedUpper = mapExprs(n.Upper, f)
	c.Lower, changedLower = mapExprs(n.Lower, f)
	c.Assign = mapNil(n.Assign, f)
	if !changedUpper && !changedLower && c.Container == n.Container && c.Assign == n.Assign {
		return n
	}
	return &c
}

// mapTargets applies f to the expressions of a target list.
func mapTargets(list []analyze.TargetEntry, f func(analyze.Expr) analyze.Expr) (mapped []analyze.TargetEntry, changed bool) {
	for i := range list {
		m := mapNil(list[i].Expr, f)
		if m == list[i].Expr {
			continue
		}
		if !changed {
			mapped = append([]analyze.TargetEntry(nil), list...)
			changed = true
		}
		mapped[i].Expr = m
	}
	if !changed {
		return list, false
	}
	return mapped, true
}

func mapAggref(n *analyze.Aggref, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	c := *n
	var changedArgs, changedDirect bool
	c.Args, changedArgs = mapTargets(n.Args, f)
	c.Direct, changedDirect = mapExprs(n.Direct, f)
	c.Filter = mapNil(n.Filter, f)
	if !changedArgs && !changedDirect && c.Filter == n.Filter {
		return n
	}
	return &c
}

func mapWindowFunc(n *analyze.WindowFunc, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	c := *n
	var changed bool
	c.Args, changed = mapExprs(n.Args, f)
	c.Filter = mapNil(n.Filter, f)
	if !changed && c.Filter == n.Filter {
		return n
	}
	return &c
}

func mapSubPlan(n *SubPlan, f func(analyze.Expr) analyze.Expr) analyze.Expr {
	c := *n
	var changedArgs, changedHash bool
	c.Args, changedArgs = mapExprs(n.Args, f)
	c.HashLeft, changedHash = mapExprs(n.HashLeft, f)
	c.Test = mapNil(n.Test, f)
	if !changedArgs && !changedHash && c.Test == n.Test {
		return n
	}
	return &c
}

// visit calls f for e and everything below it until f returns false, which
// keeps it from what is below. Queries of SubLinks are not entered.
func visit(e analyze.Expr, f func(analyze.Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	mapChildren(e, func(c analyze.Expr) analyze.Expr {
		visit(c, f)
		return c
	})
}

// mapQuery applies f to every expression that stands in q itself, not in its
// subqueries, and stores the results.
func mapQuery(q *analyze.Query, f func(analyze.Expr) analyze.Expr) {
	q.Targets, _ = mapTargets(q.Targets, f)
	q.Returning, _ = mapTargets(q.Returning, f)
	for _, item := range q.From {
		mapJoinConditions(item, f)
	}
	q.Where = mapNil(q.Where, f)
	q.Having = mapNil(q.Having, f)
	q.Offset = mapNil(q.Offset, f)
	q.Limit = mapNil(q.Limit, f)
	for _, w := range q.Windows {
		w.Frame.StartOffset = mapNil(w.Frame.StartOffset, f)
		w.Frame.EndOffset = mapNil(w.Frame.EndOffset, f)
	}
	if c := q.OnConflict; c != nil {
		c.Targets, _ = mapTargets(c.Targets, f)
		c.Where = mapNil(c.Where, f)
	}
	for _, rte := range q.RTable {
		mapRTE(rte, f)
	}
}

func mapRTE(rte *analyze.RangeTableEntry, f func(analyze.Expr) analyze.Expr) {
	rte.JoinVars, _ = mapExprs(rte.JoinVars, f)
	for i := range rte.Functions {
		rte.Functions[i].Call = mapNil(rte.Functions[i].Call, f)
	}
	for i := range rte.Values {
		rte.Values[i], _ = mapExprs(rte.Values[i], f)
	}
}

func mapJoinConditions(item analyze.FromItem, f func(analyze.Expr) analyze.Expr) {
	if j, ok := item.(*analyze.Join); ok {
		mapJoinConditions(j.Left, f)
		mapJoinConditions(j.Right, f)
		j.On = mapNil(j.On, f)
	}
}

// subqueries calls f for each query directly below q: in FROM, WITH, set
// operations and expressions. levels is how many levels further in it stands (1).
func subqueries(q *analyze.Query, f func(*analyze.Query)) {
	for _, c := range q.CTEs {
		f(c.Query)
	}
	for _, rte := range q.RTable {
		if rte.Subquery != nil {
			f(rte.Subquery)
		}
	}
	setOpQueries(q.SetOp, f)
	mapQuery(q, func(e analyze.Expr) analyze.Expr {
		visit(e, func(e analyze.Expr) bool {
			if s, ok := e.(*analyze.SubLink); ok {
				f(s.Query)
			}
			return true
		})
		return e
	})
}

func setOpQueries(s *analyze.SetOp, f func(*analyze.Query)) {
	if s == nil {
		return
	}
	if s.Query != nil {
		f(s.Query)
	}
	setOpQueries(s.Left, f)
	setOpQueries(s.Right, f)
}

// mapVars rewrites every Var (and what else f changes) of level depth in e: f
// gets each node that is a Var or an Aggref together with the depth at which it stands, 0 for e itself,
// and returns its replacement. Subqueries of SubLinks are rewritten in place.
func mapVars(e analyze.Expr, depth int, f func(v *analyze.Var, depth int) analyze.Expr) analyze.Expr {
	if e == nil {
		return nil
	}
	if v, ok := e.(*analyze.Var); ok {
		return f(v, depth)
	}
	if s, ok := e.(*analyze.SubLink); ok {
		mapQueryVars(s.Query, depth+1, f)
	}
	return mapChildren(e, func(c analyze.Expr) analyze.Expr { return mapVars(c, depth, f) })
}

// mapQueryVars is mapVars for a whole query and the queries in it.
func mapQueryVars(q *analyze.Query, depth int, f func(v *analyze.Var, depth int) analyze.Expr) {
	mapQuery(q, func(e analyze.Expr) analyze.Expr { return mapVars(e, depth, f) })
	for _, c := range q.CTEs {
		mapQueryVars(c.Query, depth+1, f)
	}
	for _, rte := range q.RTable {
		if rte.Subquery != nil {
			mapQueryVars(rte.Subquery, depth+1, f)
		}
	}
	setOpQueries(q.SetOp, func(sub *analyze.Query) { mapQueryVars(sub, depth+1, f) })
}

// shiftLevels adds by to LevelsUp of the Vars in e that point outside of it.
func shiftLevels(e analyze.Expr, by int) analyze.Expr {
	if by == 0 {
		return e
	}
	return mapVars(e, 0, func(v *analyze.Var, depth int) analyze.Expr {
		if v.LevelsUp < depth {
			return v
		}
		c := *v
		c.LevelsUp += by
		return &c
	})
}

// conjuncts splits e at its top-level ANDs and appends the parts to list.
func conjuncts(list []analyze.Expr, e analyze.Expr) []analyze.Expr {
	if e == nil {
		return list
	}
	if b, ok := e.(*analyze.BoolExpr); ok && b.Op == analyze.And {
		for _, a := range b.Args {
			list = conjuncts(list, a)
		}
		return list
	}
	return append(list, e)
}

// VisitExprs calls f for every expression node of a plan, in all its nodes and sub-plans.
func VisitExprs(p *Plan, f func(analyze.Expr)) {
	v := planVisitor{f: f, seen: make(map[Node]bool)}
	v.node(p.Root)
	for _, c := range p.CTEs {
		v.node(c.Node)
	}
}

type planVisitor struct {
	f    func(analyze.Expr)
	seen map[Node]bool
}

func (v *planVisitor) exprs(list ...analyze.Expr) {
	for _, e := range list {
		visit(e, func(e analyze.Expr) bool {
			v.f(e)
			if sp, ok := e.(*SubPlan); ok {
				v.node(sp.Plan)
			}
			return true
		})
	}
}

func (v *planVisitor) node(n Node) {
	if n == nil || v.seen[n] {
		return
	}
	v.seen[n] = true
	b := n.Common()
	v.exprs(b.Targets...)
	v.exprs(b.Filter...)
	for _, sp := range b.InitPlans {
		v.node(sp.Plan)
	}
	v.own(n)
	for _, in := range n.Inputs() {
		v.node(in)
	}
}

// own visits the expressions only some kinds of nodes have.
func (v *planVisitor) own(n Node) {
	switch n := n.(type) {
	case *Result:
		v.exprs(n.OneTimeFilter...)
	case *CatalogScan:
		for _, k := range n.Keys {
			v.exprs(k.Value)
		}
	case *IndexScan:
		v.conds(n.Conds)
	case *BitmapScan:
		v.bitmap(n.Source)
		v.exprs(n.Recheck...)
	case *TidScan:
		v.exprs(n.Values...)
	case *FunctionScan:
		for _, fn := range n.Functions {
			v.exprs(fn.Call)
		}
	case *ValuesScan:
		for _, l := range n.Lists {
			v.exprs(l...)
		}
	case *NestLoop:
		for _, p := range n.Params {
			v.exprs(p.Value)
		}
		v.exprs(n.On...)
	case *HashJoin:
		v.exprs(n.OuterKeys...)
		v.exprs(n.InnerKeys...)
		v.exprs(n.On...)
	case *MergeJoin:
		v.exprs(n.OuterKeys...)
		v.exprs(n.InnerKeys...)
		v.exprs(n.On...)
	case *Sort:
		v.exprs(n.Bound)
	case *Limit:
		v.exprs(n.Offset, n.Count)
	case *Aggregate:
		for _, a := range n.Aggs {
			v.exprs(a.Args...)
			v.exprs(a.Direct...)
			v.exprs(a.Filter)
		}
	case *WindowAgg:
		for _, c := range n.Calls {
			v.exprs(c.Args...)
			v.exprs(c.Filter)
		}
		v.exprs(n.Frame.StartOffset, n.Frame.EndOffset)
	case *ModifyTable:
		v.modify(n)
	}
}

func (v *planVisitor) conds(list []IndexCond) {
	for _, c := range list {
		v.exprs(c.Value)
	}
}

func (v *planVisitor) bitmap(b *BitmapSource) {
	v.conds(b.Conds)
	for _, p := range b.Parts {
		v.bitmap(p)
	}
}

func (v *planVisitor) modify(n *ModifyTable) {
	for _, e := range n.Generated {
		v.exprs(e)
	}
	for _, c := range n.Checks {
		v.exprs(c.Expr)
	}
	if n.Conflict == nil {
		return
	}
	for _, a := range n.Conflict.Set {
		v.exprs(a.Expr)
	}
	v.exprs(n.Conflict.Where...)
}
