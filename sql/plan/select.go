package plan

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// stage is a plan under construction: a node and where its columns are.
type stage struct {
	node   Node
	layout *layout
	order  []orderKey
}

// planSelect plans a SELECT without its WITH.
func (p *planner) planSelect() Node {
	if p.q.SetOp != nil {
		return p.planSetOp()
	}
	p.prepare()
	p.moveHaving()
	mapQuery(p.q, p.replaceSubLinks)
	marks := p.addRowMarks()
	st := p.planFrom(p.targetExprs())
	st = p.planGrouping(st)
	st = p.planWindows(st)
	return p.planTop(st, marks)
}

// targetExprs are all expressions that are computed above FROM and WHERE.
func (p *planner) targetExprs() []analyze.Expr {
	var list []analyze.Expr
	for _, t := range p.q.Targets {
		list = append(list, t.Expr)
	}
	for _, t := range p.q.Returning {
		list = append(list, t.Expr)
	}
	if p.q.Having != nil {
		list = append(list, p.q.Having)
	}
	if c := p.q.OnConflict; c != nil && c.Where != nil {
		list = append(list, c.Where)
	}
	return list
}

// moveHaving moves conditions of HAVING without aggregates to WHERE.
func (p *planner) moveHaving() {
	q := p.q
	if q.Having == nil || len(q.Group) == 0 || len(q.GroupingSets) > 0 {
		return
	}
	var keep, move []analyze.Expr
	for _, c := range conjuncts(nil, q.Having) {
		if hasAggregate(c) || containsVolatile(p, c) || hasSubLink(c) {
			keep = append(keep, c)
		} else {
			move = append(move, c)
		}
	}
	q.Having = andAll(keep)
	q.Where = andAll(append(conjuncts(nil, q.Where), move...))
}

func hasAggregate(e analyze.Expr) bool {
	found := false
	visit(e, func(e analyze.Expr) bool {
		switch e.(type) {
		case *analyze.Aggref, *analyze.GroupingFunc:
			found = true
		}
		return !found
	})
	return found
}

// replaceSubLinks plans the sub-selects in e.
func (p *planner) replaceSubLinks(e analyze.Expr) analyze.Expr {
	e = mapChildren(e, p.replaceSubLinks)
	s, ok := e.(*analyze.SubLink)
	if !ok {
		return e
	}
	return p.planSubLink(s)
}

func (p *planner) planSubLink(s *analyze.SubLink) analyze.Expr {
	child := p.child(s.Query, linkSubLink)
	if s.Kind == analyze.SubLinkExists {
		s.Query.OrderBy = nil
	}
	node := child.planStatement()
	sp := &SubPlan{Typed: s.Typed, Kind: s.Kind, Plan: node, Param: -1, Test: s.Test}
	for _, a := range child.args {
		sp.ParamIDs = append(sp.ParamIDs, a.ID)
		sp.Args = append(sp.Args, a.Value)
	}
	p.subPlans = append(p.subPlans, sp)
	number := len(p.subPlans)
	correlated := len(sp.Args) > 0 || len(child.depends) > 0
	if s.Kind == analyze.SubLinkRowCompare {
		return p.rowCompareSubLink(s, sp, correlated)
	}
	switch {
	case !correlated && (s.Kind == analyze.SubLinkExpr || s.Kind == analyze.SubLinkExists || s.Kind == analyze.SubLinkArray):
		sp.Param = p.newParam()
		sp.Name = initPlanName(number, sp.Param)
		p.initPlans = append(p.initPlans, sp)
		return &analyze.Param{Typed: s.Typed, Number: sp.Param, Exec: true}
	case !correlated && s.Kind == analyze.SubLinkAny && p.hashSubPlan(sp):
	case !correlated:
		m := &Material{Input: node}
		c := *node.Common()
		*m.Common() = Base{StartupCost: c.StartupCost, TotalCost: c.TotalCost, Rows: c.Rows, Width: c.Width}
		sp.Plan = m
	}
	sp.Name = subPlanName(number)
	return sp
}

// rowCompareSubLink compares with the one row of a sub-select: each of its columns becomes a scalar sub-plan over
// the same plan.
func (p *planner) rowCompareSubLink(s *analyze.SubLink, sp *SubPlan, correlated bool) analyze.Expr {
	c := *sp.Plan.Common()
	return mapSubColumns(s.Test, func(col *analyze.SubColumn) analyze.Expr {
		one := &Result{Input: sp.Plan}
		*one.Common() = Base{StartupCost: c.StartupCost, TotalCost: c.TotalCost, Rows: c.Rows, Width: c.Width}
		one.Targets = []analyze.Expr{&Col{Typed: col.Typed, Index: col.Number}}
		part := &SubPlan{
			Typed: col.Typed, Kind: analyze.SubLinkExpr, Plan: one, Param: -1, ParamIDs: sp.ParamIDs, Args: sp.Args,
			Name: subPlanName(len(p.subPlans)),
		}
		if correlated {
			return part
		}
		part.Param = p.newParam()
		part.Name = initPlanName(len(p.subPlans), part.Param)
		p.initPlans = append(p.initPlans, part)
		return &analyze.Param{Typed: col.Typed, Number: part.Param, Exec: true}
	})
}

// hashSubPlan sets up the hash table of x IN (SELECT ...) when every comparison is an equality that hashes.
func (p *planner) hashSubPlan(sp *SubPlan) bool {
	if sp.Plan.Common().Rows*64 > p.ctx.Settings.WorkMem*2 {
		return false
	}
	var left []analyze.Expr
	var funcs []types.OID
	for i, c := range conjuncts(nil, sp.Test) {
		op, ok := c.(*analyze.OpExpr)
		if !ok || len(op.Args) != 2 {
			return false
		}
		col, ok := op.Args[1].(*analyze.SubColumn)
		if !ok || col.Number != i || !p.operator(op.Op).CanHash || !p.proc(op.Func).Strict {
			return false
		}
		left = append(left, op.Args[0])
		funcs = append(funcs, op.Func)
	}
	sp.Hashed, sp.HashLeft, sp.HashOps = true, left, funcs
	return true
}

// planFrom plans FROM and WHERE. exprs are what is computed from their rows.
func (p *planner) planFrom(exprs []analyze.Expr) stage {
	p.rels = make(map[int]*baseRel)
	prob := &joinProblem{}
	rels := relset{}
	for _, f := range p.q.From {
		rels = rels.union(p.deconstruct(prob, f))
	}
	for _, c := range conjuncts(nil, p.q.Where) {
		p.addClause(prob, c, rels)
	}
	p.distribute(prob)
	exprs = p.expandWholeRows(prob, exprs)
	p.collectNeeded(exprs)
	p.needProblem(prob)
	if len(prob.items) == 0 {
		return p.emptyFrom(prob)
	}
	jr := p.searchJoins(prob)
	best := p.choosePath(jr)
	node, l := p.buildPath(best)
	st := stage{node: node, layout: l, order: best.order}
	if len(prob.gate) > 0 {
		st.node = p.gateNode(node, prob.gate)
	}
	return st
}

// gateNode runs n only where conditions that depend on no row of it hold.
func (p *planner) gateNode(n Node, conditions []analyze.Expr) Node {
	r := &Result{Input: n, OneTimeFilter: p.fixAll(conditions)}
	p.copyCost(r, n)
	return r
}

// emptyFrom is the one row of a query without FROM.
func (p *planner) emptyFrom(prob *joinProblem) stage {
	r := &Result{OneTimeFilter: p.fixAll(prob.gate)}
	r.Rows, r.TotalCost = 1, p.ctx.Settings.CPUTupleCost
	r.Targets = []analyze.Expr{}
	for _, c := range prob.clauses {
		r.Filter = append(r.Filter, p.fix(c.expr))
	}
	return stage{node: r, layout: newLayout(nil)}
}

// choosePath picks the path that is cheapest once the order asked for and LIMIT are counted in.
func (p *planner) choosePath(jr *joinRel) *path {
	want := p.wantedOrder()
	fraction := p.limitFraction(jr.rows)
	var best *path
	bestCost := math.Inf(1)
	for _, pt := range jr.paths {
		if !pt.required.empty() {
			continue
		}
		cost := pt.startup + (pt.total-pt.startup)*fraction
		if len(want) > 0 && !orderSatisfies(pt.order, want) {
			cost = pt.total + p.sortCost(pt.rows)
		}
		if cost < bestCost {
			best, bestCost = pt, cost
		}
	}
	if best == nil {
		fail(pgerr.New(pgerr.FeatureNotSupported, "could not find a plan for this join"))
	}
	return best
}

func (p *planner) sortCost(rows float64) float64 {
	return 2 * p.ctx.Settings.CPUOperatorCost * rows * math.Log2(math.Max(2, rows))
}

// limitFraction is the share of rows the query will read, 1 where all.
func (p *planner) limitFraction(rows float64) float64 {
	q := p.q
	if q.Limit == nil {
		if f := p.ctx.Settings.CursorFraction; f > 0 && p.parent == nil {
			return f
		}
		return 1
	}
	if q.HasAggs || len(q.Group) > 0 || len(q.Distinct) > 0 || q.HasWindows {
		return 1
	}
	n := rows * 0.1
	if c, ok := q.Limit.(*analyze.Const); ok && !c.Value.Null {
		n = float64(c.Value.Int64())
	}
	if c, ok := q.Offset.(*analyze.Const); ok && !c.Value.Null {
		n += float64(c.Value.Int64())
	}
	return math.Min(1, math.Max(n, 1)/math.Max(1, rows))
}

// wantedOrder is the order that would save a sort right above FROM.
func (p *planner) wantedOrder() []orderKey {
	q := p.q
	if q.HasAggs || q.HasWindows || q.HasTargetSRFs || len(q.GroupingSets) > 0 {
		return nil
	}
	list := q.OrderBy
	if len(q.Group) > 0 {
		return nil
	}
	if len(q.Distinct) > 0 && len(list) < len(q.Distinct) {
		list = q.Distinct
	}
	return p.orderKeys(list)
}

func (p *planner) orderKeys(list []analyze.SortClause) []orderKey {
	var keys []orderKey
	for _, s := range list {
		t := p.targetByRef(s.Ref)
		if t == nil {
			return nil
		}
		if isConstant(t.Expr) {
			continue
		}
		keys = append(keys, orderKey{key: exprKey(t.Expr), desc: s.Desc, nullsFirst: s.NullsFirst})
	}
	return keys
}

func isConstant(e analyze.Expr) bool {
	switch e.(type) {
	case *analyze.Const, *analyze.Param:
		return true
	}
	return false
}

// expandWholeRows replaces references to whole rows of entries by their columns.
func (p *planner) expandWholeRows(prob *joinProblem, exprs []analyze.Expr) []analyze.Expr {
	var expand func(e analyze.Expr) analyze.Expr
	expand = func(e analyze.Expr) analyze.Expr {
		if v, ok := e.(*analyze.Var); ok && v.Attno == 0 && v.LevelsUp == 0 {
			if r := p.rels[v.RT]; r != nil {
				return p.wholeRow(v, r)
			}
			return e
		}
		return mapChildren(e, expand)
	}
	mapQuery(p.q, expand)
	p.mapProblem(prob, expand)
	exprs, _ = mapExprs(exprs, expand)
	return exprs
}

func (p *planner) wholeRow(v *analyze.Var, r *baseRel) analyze.Expr {
	w := &WholeRow{Typed: v.Typed}
	if r.rte.Kind == analyze.RTEFunction && len(r.rte.Columns) == 1 && v.Typ == r.rte.Columns[0].Type {
		return p.entryVar(r, 1)
	}
	n := len(r.rte.Columns)
	if r.rte.Relation != nil && r.rte.Kind == analyze.RTERelation {
		n = len(r.rte.Relation.Attrs)
		if !r.rte.Relation.System {
			w.NullIf = p.entryVar(r, CtidColumn)
			r.needed[CtidColumn] = true
		}
	}
	for att := 1; att <= n; att++ {
		if r.rte.Relation != nil && r.rte.Kind == analyze.RTERelation && r.rte.Relation.Attrs[att-1].Dropped {
			continue
		}
		w.Cols = append(w.Cols, p.entryVar(r, att))
	}
	return w
}

func (p *planner) mapProblem(prob *joinProblem, f func(analyze.Expr) analyze.Expr) {
	each := func(list []*clause) {
		for _, c := range list {
			c.expr = f(c.expr)
		}
	}
	each(prob.clauses)
	for _, it := range prob.items {
		if it.special != nil {
			each(it.special.on)
		}
		switch {
		case it.base != nil:
			each(it.base.local)
		case it.problem != nil:
			p.mapProblem(it.problem, f)
		case it.full != nil:
			each(it.full.on)
			p.mapProblem(it.full.left, f)
			p.mapProblem(it.full.right, f)
		}
	}
}

// project makes st give exactly the expressions of list.
func (p *planner) project(st stage, list []analyze.Expr) stage {
	fixed := p.fixAll(list, st.layout)
	if fixed == nil {
		fixed = []analyze.Expr{}
	}
	return stage{node: setTargets(st.node, fixed), layout: newLayout(list), order: st.order}
}

// setTargets gives a node new output columns, expressions over its present ones.
func setTargets(n Node, fixed []analyze.Expr) Node {
	if projects(n) && mergeable(n.Common().Targets, fixed) {
		b := n.Common()
		for i, e := range fixed {
			fixed[i] = inlineCols(e, b.Targets)
		}
		b.Targets = fixed
		return n
	}
	r := &Result{Input: n}
	c := n.Common()
	*r.Common() = Base{StartupCost: c.StartupCost, TotalCost: c.TotalCost, Rows: c.Rows, Width: c.Width}
	r.Targets = fixed
	return r
}

// projects tells whether a node of this kind computes its targets from richer inputs.
func projects(n Node) bool {
	switch n := n.(type) {
	case *SeqScan, *CatalogScan, *IndexScan, *BitmapScan, *TidScan, *FunctionScan, *ValuesScan, *SubqueryScan,
		*CTEScan, *WorkTableScan, *NestLoop, *HashJoin, *Aggregate, *WindowAgg:
		return true
	case *Result:
		return true && n.Targets != nil
	}
	return false
}

// mergeable tells whether no computed column would be computed twice.
func mergeable(have, fixed []analyze.Expr) bool {
	if have == nil {
		return false
	}
	uses := make([]int, len(have))
	for _, e := range fixed {
		visit(e, func(e analyze.Expr) bool {
			if c, ok := e.(*Col); ok {
				uses[c.Index]++
			}
			return true
		})
	}
	for i, n := range uses {
		if _, plain := have[i].(*Col); n > 1 && !plain {
			return false
		}
	}
	return true
}

func inlineCols(e analyze.Expr, have []analyze.Expr) analyze.Expr {
	if c, ok := e.(*Col); ok {
		return have[c.Index]
	}
	return mapChildren(e, func(c analyze.Expr) analyze.Expr { return inlineCols(c, have) })
}

// planTop adds what comes last: the target list, DISTINCT, ORDER BY, row locks, LIMIT.
func (p *planner) planTop(st stage, marks []RowMark) Node {
	q := p.q
	list := make([]analyze.Expr, len(q.Targets))
	for i, t := range q.Targets {
		list[i] = t.Expr
	}
	if q.HasTargetSRFs {
		st = p.planSRFs(st, list)
	}
	st = p.project(st, list)
	st.node.Common().Names = targetNames(q.Targets)
	st = p.planDistinct(st)
	st = p.planOrder(st)
	if len(marks) > 0 {
		n := &LockRows{Input: st.node, Marks: p.markColumns(marks)}
		p.copyCost(n, st.node)
		st.node = n
	}
	return p.planLimit(st.node)
}

func targetNames(list []analyze.TargetEntry) []string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return names
}

func (p *planner) copyCost(to, from Node) {
	c := from.Common()
	b := to.Common()
	b.StartupCost, b.TotalCost, b.Rows, b.Width = c.StartupCost, c.TotalCost, c.Rows, c.Width
}

// planSRFs adds nodes for the set-returning functions in a target list, innermost first.
func (p *planner) planSRFs(st stage, list []analyze.Expr) stage {
	for range 16 {
		var srfs []analyze.Expr
		seen := make(map[string]bool)
		var find func(e analyze.Expr) bool // reports whether e contains a set-returning call not yet computed
		find = func(e analyze.Expr) bool {
			if _, done := st.layout.cols[exprKey(e)]; done {
				return false
			}
			inner := false
			mapChildren(e, func(c analyze.Expr) analyze.Expr {
				inner = find(c) || inner
				return c
			})
			if !returnsSet(e) {
				return inner
			}
			if k := exprKey(e); !inner && !seen[k] {
				seen[k] = true
				srfs = append(srfs, e)
			}
			return true
		}
		any := false
		for _, e := range list {
			any = find(e) || any
		}
		if !any {
			return st
		}
		out := append(append([]analyze.Expr(nil), st.layout.list...), srfs...)
		n := &ProjectSet{Input: st.node}
		for i, e := range st.layout.list {
			n.Targets = append(n.Targets, colOf(e, 0, i))
		}
		rows := 1.0
		for _, e := range srfs {
			if f, ok := e.(*analyze.FuncExpr); ok {
				rows = math.Max(rows, p.seriesRows(p.proc(f.Func), f))
			}
			n.Targets = append(n.Targets, p.fixArgs(e, st.layout))
		}
		p.copyCost(n, st.node)
		n.Rows *= rows
		n.TotalCost += n.Rows * p.ctx.Settings.CPUTupleCost
		st = stage{node: n, layout: newLayout(out)}
	}
	unsupported("set-returning functions nested that deep")
	return st
}

func (p *planner) fixArgs(e analyze.Expr, l *layout) analyze.Expr {
	return mapChildren(e, func(c analyze.Expr) analyze.Expr { return p.fix(c, l) })
}

func returnsSet(e analyze.Expr) bool {
	switch n := e.(type) {
	case *analyze.FuncExpr:
		return n.RetSet
	case *analyze.OpExpr:
		return n.RetSet
	}
	return false
}

func (p *planner) targetIndex(ref int) int {
	for i, t := range p.q.Targets {
		if t.Ref == ref {
			return i
		}
	}
	panic(planBug("plan: a sort clause without its target"))
}

func (p *planner) sortKeys(list []analyze.SortClause) []SortKey {
	var keys []SortKey
	for _, s := range list {
		i := p.targetIndex(s.Ref)
		keys = append(keys, SortKey{
			Column: i, Op: s.SortOp, Desc: s.Desc, NullsFirst: s.NullsFirst, Collation: p.q.Targets[i].Expr.Collation(),
		})
	}
	return keys
}

func (p *planner) groupKeys(list []analyze.SortClause) []GroupKey {
	var keys []GroupKey
	for _, s := range list {
		keys = append(keys, GroupKey{Column: p.targetIndex(s.Ref), EqFunc: p.operator(s.EqOp).Code})
	}
	return keys
}

// planDistinct removes duplicates for SELECT DISTINCT [ON].
func (p *planner) planDistinct(st stage) stage {
	q := p.q
	if len(q.Distinct) == 0 {
		return st
	}
	c := st.node.Common()
	hashable := !q.DistinctOn && p.ctx.Settings.EnableHashAgg
	for _, s := range q.Distinct {
		hashable = hashable && s.Hashable
	}
	for _, t := range q.Targets {
		hashable = hashable && (!t.Junk || t.Ref == 0)
	}
	if hashable && len(q.OrderBy) == 0 || hashable && !orderSatisfies(st.order, p.orderKeys(q.Distinct)) && c.Rows > 1000 {
		return p.hashDistinct(st)
	}
	by := q.Distinct
	if len(q.OrderBy) >= len(q.Distinct) {
		by = q.OrderBy
	} else if len(q.OrderBy) > 0 {
		by = append(append([]analyze.SortClause(nil), q.OrderBy...), missingKeys(q.Distinct, q.OrderBy)...)
	}
	if !orderSatisfies(st.order, p.orderKeys(by)) || len(st.order) == 0 {
		st = p.addSort(st, p.sortKeys(by), nil)
		st.order = p.orderKeys(by)
	}
	n := &Unique{Input: st.node, Group: p.groupKeys(q.Distinct)}
	p.copyCost(n, st.node)
	n.Rows = clampRows(c.Rows * 0.5)
	st.node = n
	return st
}

func missingKeys(all, have []analyze.SortClause) []analyze.SortClause {
	var out []analyze.SortClause
	for _, s := range all {
		found := false
		for _, h := range have {
			found = found || h.Ref == s.Ref
		}
		if !found {
			out = append(out, s)
		}
	}
	return out
}

func (p *planner) hashDistinct(st stage) stage {
	c := st.node.Common()
	n := &Aggregate{Input: st.node, Strategy: AggHashed, Group: p.groupKeys(p.q.Distinct), Named: len(p.q.Distinct)}
	n.Targets = make([]analyze.Expr, len(p.q.Targets))
	for at, g := range n.Group {
		n.Targets[g.Column] = colOf(st.layout.list[g.Column], 0, at)
	}
	for i, t := range n.Targets {
		if t == nil { // a junk column that DISTINCT does not name has no value of its own
			n.Targets[i] = &analyze.Const{
				Typed: analyze.Typed{Typ: st.layout.list[i].Type(), Mod: -1, Loc: -1}, Value: types.NullDatum,
			}
		}
	}
	p.copyCost(n, st.node)
	n.Rows = p.distinctRows(c.Rows, st.layout.list)
	n.StartupCost = c.TotalCost + c.Rows*p.ctx.Settings.CPUOperatorCost*float64(len(n.Group))
	n.TotalCost = n.StartupCost + n.Rows*p.ctx.Settings.CPUTupleCost
	return stage{node: n, layout: st.layout}
}

// distinctRows estimates how many different combinations of the expressions there are among so many rows.
func (p *planner) distinctRows(rows float64, exprs []analyze.Expr) float64 {
	n := 1.0
	for _, e := range exprs {
		if isConstant(e) {
			continue
		}
		n *= p.distinctValues(e)
	}
	return clampRows(math.Min(n, rows))
}

// planOrder sorts for ORDER BY unless the rows come sorted.
func (p *planner) planOrder(st stage) stage {
	q := p.q
	if len(q.OrderBy) == 0 {
		return st
	}
	want := p.orderKeys(q.OrderBy)
	if len(want) == 0 || len(st.order) > 0 && orderSatisfies(st.order, want) && !q.HasTargetSRFs {
		return st
	}
	var bound analyze.Expr
	if q.Limit != nil && !q.WithTies && len(q.RowMarks) == 0 {
		bound = p.sortBound()
	}
	return p.addSort(st, p.sortKeys(q.OrderBy), bound)
}

// sortBound is how many rows of a sort LIMIT and OFFSET look at, where that is one expression.
func (p *planner) sortBound() analyze.Expr {
	if p.q.Offset == nil {
		return p.q.Limit
	}
	if containsVolatile(p, p.q.Limit) || containsVolatile(p, p.q.Offset) {
		return nil
	}
	const int8pl, int8Plus types.OID = 463, 684
	return &analyze.OpExpr{
		Typed: analyze.Typed{Typ: types.Int8, Mod: -1, Loc: -1}, Op: int8Plus, Func: int8pl,
		Args: []analyze.Expr{p.q.Limit, p.q.Offset},
	}
}

func (p *planner) addSort(st stage, keys []SortKey, bound analyze.Expr) stage {
	c := st.node.Common()
	n := &Sort{Input: st.node, Keys: keys, Bound: bound}
	p.copyCost(n, st.node)
	cost := p.sortCost(c.Rows)
	if b, ok := bound.(*analyze.Const); ok && !b.Value.Null && float64(b.Value.Int64()) < c.Rows {
		cost = 2 * p.ctx.Settings.CPUOperatorCost * c.Rows * math.Log2(math.Max(2, 2*float64(b.Value.Int64())))
	}
	if bytes := c.Rows * float64(c.Width); bytes > p.ctx.Settings.WorkMem && bound == nil {
		cost += bytes / 8192 * 2
	}
	n.StartupCost = c.TotalCost + cost
	n.TotalCost = n.StartupCost + c.Rows*p.ctx.Settings.CPUOperatorCost
	if !p.ctx.Settings.EnableSort {
		n.StartupCost += disabledCost
		n.TotalCost += disabledCost
	}
	return stage{node: n, layout: st.layout}
}

func (p *planner) planLimit(input Node) Node {
	q := p.q
	if q.Limit == nil && q.Offset == nil {
		return input
	}
	n := &Limit{Input: input, Offset: p.fix(q.Offset), Count: p.fix(q.Limit), WithTies: q.WithTies}
	if q.WithTies {
		n.Ties = p.groupKeys(q.OrderBy)
	}
	p.copyCost(n, input)
	if c, ok := q.Limit.(*analyze.Const); ok && !c.Value.Null {
		rows := math.Min(n.Rows, math.Max(1, float64(c.Value.Int64())))
		n.TotalCost = n.StartupCost + (n.TotalCost-n.StartupCost)*rows/math.Max(1, n.Rows)
		n.Rows = rows
	}
	return n
}
