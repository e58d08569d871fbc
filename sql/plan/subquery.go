package plan

import (
	"github.com/minipg/minipg/sql/analyze"
)

// subqueryPath plans a subquery, after pushing down the conditions on its outputs.
func (p *planner) subqueryPath(it *item) {
	r := it.base
	rest := p.pushDown(r)
	node := r.sub.planStatement()
	c := node.Common()
	r.tuples = c.Rows
	r.rows = clampRows(c.Rows * p.combined(rest))
	it.rows = r.rows
	for id := range r.sub.depends {
		p.dependOn(&analyze.Param{Number: id, Exec: true})
	}
	np := &path{
		kind: pathSubquery, rels: r.self, base: r, rows: r.rows, required: r.lateral, filter: rest,
		sub: &subPath{node: node, args: r.sub.args},
	}
	np.startup = c.StartupCost
	np.total = c.TotalCost + p.ctx.Settings.CPUTupleCost*c.Rows + p.qualCost(rest, c.Rows)
	it.paths = append(it.paths, np)
}

// pushDown moves conditions on a subquery's outputs into it and returns those that must stay.
func (p *planner) pushDown(r *baseRel) []*clause {
	var rest []*clause
	for _, c := range r.local {
		if c.volatile || hasSubPlan(c.expr) || hasSubLink(c.expr) || !p.pushQual(r.rte.Subquery, c.expr, false) {
			rest = append(rest, c)
			continue
		}
		p.pushQual(r.rte.Subquery, c.expr, true)
	}
	r.local = rest
	return rest
}

// pushQual tells whether q gives the same rows, but for those that e rejects, with e (over Vars whose Attno
// counts q's outputs) tested inside of it, and with do makes it so.
func (p *planner) pushQual(q *analyze.Query, e analyze.Expr, do bool) bool {
	if q.Limit != nil || q.Offset != nil || q.Command != analyze.Select || len(q.RowMarks) > 0 {
		return false
	}
	if q.SetOp != nil {
		return p.pushIntoArms(q.SetOp, e, do)
	}
	if q.HasTargetSRFs || len(q.GroupingSets) > 0 || len(q.From) == 0 {
		return false
	}
	var outputs []*analyze.TargetEntry
	for i := range q.Targets {
		if !q.Targets[i].Junk {
			outputs = append(outputs, &q.Targets[i])
		}
	}
	if !do {
		return p.pushable(q, e, outputs)
	}
	pushed := mapVars(e, 0, func(v *analyze.Var, _ int) analyze.Expr { return outputs[v.Attno-1].Expr })
	if q.HasAggs || len(q.Group) > 0 || q.Having != nil {
		q.Having = andAll(append(conjuncts(nil, q.Having), pushed))
	} else {
		q.Where = andAll(append(conjuncts(nil, q.Where), pushed))
	}
	return true
}

// pushIntoArms pushes e into every arm of a set operation. Columns that change their type on the way are left alone.
func (p *planner) pushIntoArms(s *analyze.SetOp, e analyze.Expr, do bool) bool {
	if s.Query != nil {
		return p.pushQual(s.Query, e, do)
	}
	ok := true
	for _, casts := range [...][]analyze.Expr{s.LeftCasts, s.RightCasts} {
		mapVars(e, 0, func(v *analyze.Var, _ int) analyze.Expr {
			ok = ok && v.Attno > 0 && (casts == nil || casts[v.Attno-1] == nil)
			return v
		})
	}
	return ok && p.pushIntoArms(s.Left, e, do) && p.pushIntoArms(s.Right, e, do)
}

func (p *planner) pushable(q *analyze.Query, e analyze.Expr, outputs []*analyze.TargetEntry) bool {
	ok := true
	mapVars(e, 0, func(v *analyze.Var, depth int) analyze.Expr {
		ok = ok && depth == 0 && v.Attno > 0 && v.Attno <= len(outputs)
		if ok {
			t := outputs[v.Attno-1]
			ok = !containsVolatile(p, t.Expr) && !hasSubLink(t.Expr) && dividesRows(q, t.Ref)
		}
		return v
	})
	return ok
}

// dividesRows tells whether rows that differ in the target never meet in a window or under DISTINCT ON.
func dividesRows(q *analyze.Query, ref int) bool {
	lists := make([][]analyze.SortClause, 0, len(q.Windows)+1)
	if q.HasWindows {
		for _, w := range q.Windows {
			lists = append(lists, w.Partition)
		}
	}
	if q.DistinctOn {
		lists = append(lists, q.Distinct)
	}
	for _, list := range lists {
		found := false
		for _, s := range list {
			found = found || ref != 0 && s.Ref == ref
		}
		if !found {
			return false
		}
	}
	return true
}
