package plan

import (
	"math"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// minMax computes aggregates that are all min() or max() of one table by reading the first entry of an index for
// each, where that is cheaper than st: SELECT x FROM t WHERE ... AND x IS NOT NULL ORDER BY x LIMIT 1. Follows
// preprocess_minmax_aggregates.
func (p *planner) minMax(st stage, g *grouping) (stage, bool) {
	r := p.onlyTable()
	if r == nil || len(g.keys) > 0 || len(g.funcs) > 0 || len(g.aggs) == 0 {
		return st, false
	}
	paths := make([]*path, len(g.aggs))
	cost := 0.0
	for i, a := range g.aggs {
		if paths[i] = p.extremePath(r, a); paths[i] == nil {
			return st, false
		}
		cost += firstRowCost(paths[i])
	}
	c := st.node.Common()
	if cost >= c.TotalCost+c.Rows*p.ctx.Settings.CPUOperatorCost*float64(len(g.aggs)) {
		return st, false
	}
	n := &Result{}
	n.Rows, n.StartupCost, n.TotalCost = 1, cost, cost+p.ctx.Settings.CPUTupleCost
	list := make([]analyze.Expr, len(g.aggs))
	for i, a := range g.aggs {
		list[i] = a
		n.Targets = append(n.Targets, p.extremeValue(paths[i], a))
	}
	return stage{node: n, layout: newLayout(list)}, true
}

// onlyTable is the table that is all of FROM, if the query's conditions are no more than its scan can test.
func (p *planner) onlyTable() *baseRel {
	if len(p.q.From) != 1 || p.gated {
		return nil
	}
	ref, ok := p.q.From[0].(*analyze.RangeRef)
	if !ok {
		return nil
	}
	r := p.rels[ref.RT]
	if r == nil || r.rte.Kind != analyze.RTERelation || r.rte.Relation.System || r.rte.Relation.Kind != catalog.KindTable {
		return nil
	}
	for _, c := range r.local {
		if c.volatile || hasSubPlan(c.expr) {
			return nil
		}
	}
	return r
}

// extremePath is the cheapest scan of an index that meets the aggregate's value first.
func (p *planner) extremePath(r *baseRel, a *analyze.Aggref) *path {
	fn, err := p.ctx.Catalog.AggregateByOID(a.Func)
	fail(err)
	if fn == nil || fn.SortOp == 0 || a.NArgs != 1 || a.Filter != nil || len(a.Direct) > 0 || !p.ctx.Settings.EnableIndexScan {
		return nil
	}
	arg := a.Args[0].Expr
	if containsVolatile(p, arg) || hasSubPlan(arg) || relsOf(arg).empty() {
		return nil
	}
	notNull := p.newClause(&analyze.NullTest{Typed: boolTyped, Arg: arg, IsNot: true}, nil)
	local := r.local
	r.local = append(append([]*clause(nil), local...), notNull)
	defer func() { r.local = local }()
	var best *path
	for _, x := range r.rte.Relation.Indexes {
		info := p.indexInfo(r, x)
		if info == nil {
			continue
		}
		np := p.extremeScan(r, info, fn.SortOp, arg, a.InputColl)
		if np != nil && (best == nil || firstRowCost(np) < firstRowCost(best)) {
			best = np
		}
	}
	return best
}

func firstRowCost(pt *path) float64 { return pt.startup + (pt.total-pt.startup)/math.Max(1, pt.rows) }

// extremeScan scans an index from the end that sortOp puts first, if the first column no equality fixes is arg.
func (p *planner) extremeScan(r *baseRel, info *indexInfo, sortOp types.OID, arg analyze.Expr, coll types.OID) *path {
	conds, equal := chooseConds(p.matchIndex(info, r.rt, r.local))
	if equal >= info.index.NKeyAtts {
		return nil
	}
	for _, c := range conds {
		if c.strategy == IndexEqAny {
			return nil
		}
	}
	key := &info.index.Keys[equal]
	if !p.sameColumn(arg, info.exprs[equal]) || key.Collation != 0 && coll != 0 && key.Collation != coll {
		return nil
	}
	backward := key.Desc
	switch p.strategy(sortOp, key.Opfamily) {
	case 1:
	case 5:
		backward = !backward
	default:
		return nil
	}
	used := make([]*clause, 0, len(conds))
	for _, c := range conds {
		used = append(used, c.clause)
	}
	np := &path{
		kind: pathIndex, rels: r.self, base: r, index: info.index, conds: conds, backward: backward,
		indexOnly: p.ctx.Settings.EnableIndexOnlyScan && coversAll(info, r),
	}
	np.filter = remaining(r.local, used)
	p.costIndex(np, used, r.local)
	return np
}

// extremeValue makes the scan's first value that of an init plan.
func (p *planner) extremeValue(pt *path, a *analyze.Aggref) analyze.Expr {
	node, l := p.buildPath(pt)
	st := p.project(stage{node: node, layout: l}, []analyze.Expr{a.Args[0].Expr})
	one := &analyze.Const{Typed: analyze.Typed{Typ: types.Int8, Mod: -1, Loc: -1}, Value: types.Int64Datum(1)}
	limit := &Limit{Input: st.node, Count: one}
	p.copyCost(limit, st.node)
	limit.Rows, limit.TotalCost = 1, firstRowCost(pt)
	sp := &SubPlan{Typed: a.Typed, Kind: analyze.SubLinkExpr, Plan: limit, Param: p.newParam()}
	p.subPlans = append(p.subPlans, sp)
	sp.Name = initPlanName(len(p.subPlans), sp.Param)
	p.initPlans = append(p.initPlans, sp)
	return &analyze.Param{Typed: a.Typed, Number: sp.Param, Exec: true}
}
