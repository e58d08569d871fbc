package plan

import (
	"math"

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

// moveHaving moves conditions of HAVING without aggregates to WHERE. Without GROUP BY there is a row even
// over nothing: they stay then, too.
func (p *planner) moveHaving() {
	q := p.q
	if q.Having == nil || len(q.GroupingSets) > 0 {
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
	if len(q.Group) > 0 {
		q.Having = andAll(keep)
	}
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
	prob.clauses = p.deriveEqualities(prob.clauses)
	p.noteFixed(prob.clauses)
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
	if p.gated = len(prob.gate) > 0; p.gated {
		st.node = p.gateNode(node, l, prob.gate)
	}
	return st
}

// gateNode runs n, whose columns are l, only where conditions that depend on no row of it hold.
func (p *planner) gateNode(n Node, l *layout, conditions []analyze.Expr) Node {
	r := &Result{OneTimeFilter: p.fixAll(conditions)}
	if !neverTrue(conditions) {
		r.Input = n
		p.copyCost(r, n)
		return r
	}
	r.OneTimeFilter = []analyze.Expr{&analyze.Const{
		Typed: analyze.Typed{Typ: types.Bool, Mod: -1, Loc: -1}, Value: types.BoolDatum(false),
	}}
	r.Rows, r.Width = 1, n.Common().Width
	r.Targets = make([]analyze.Expr, len(l.list))
	for i, e := range l.list {
		r.Targets[i] = &analyze.Const{
			Typed: analyze.Typed{Typ: e.Type(), Mod: e.Typmod(), Coll: e.Collation(), Loc: -1}, Value: types.NullDatum,
		}
	}
	return r
}

// neverTrue tells whether a condition is FALSE or NULL as it stands.
func neverTrue(conditions []analyze.Expr) bool {
	for _, e := range conditions {
		if c, ok := e.(*analyze.Const); ok && c.Lifted == 0 && (c.Value.Null || !c.Value.Bool()) {
			return true
		}
	}
	return false
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
	if r, ok := n.(*Result); ok && r.Input != nil && r.Targets == nil {
		r.Targets = fixed
		return r
	}
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
