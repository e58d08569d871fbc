package plan

import (
	"math"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// baseRel is one range table entry that rows come from.
type baseRel struct {
	rt     int
	rte    *analyze.RangeTableEntry
	self   relset
	pages  float64
	tuples float64
	rows   float64 // after the local clauses
	width  int
	local  []*clause
	needed map[int]bool // attribute numbers used anywhere above the scan or in it

	sub     *planner // of a subquery
	lateral relset   // siblings it refers to
}

// special is an outer, semi- or antijoin as the join search sees it: right can
// only be joined, as a whole, to something that contains left.
type special struct {
	kind  analyze.JoinKind
	left  relset
	right relset
	on    []*clause
}

// item is what the join search puts together.
type item struct {
	rels    relset
	base    *baseRel
	problem *joinProblem // instead of base: a join tree that stays together
	full    *fullJoin    // or a full join
	special *special     // unless nil, the item is its right side
	paths   []*path
	rows    float64
	width   int
}

// joinProblem is a set of items with the conditions between them, to be joined in the cheapest order.
type joinProblem struct {
	items   []*item
	clauses []*clause
	gate    []analyze.Expr // conditions that refer to no entry: all of the rows or none
	rels    relset
}

// fullJoin joins two problems that cannot be taken apart.
type fullJoin struct {
	left, right *joinProblem
	on          []*clause
}

// addBase makes an item of a range table entry.
func (p *planner) addBase(prob *joinProblem, rt int) *item {
	rte := p.q.RTable[rt]
	r := &baseRel{rt: rt, rte: rte, self: relset{}.with(rt), needed: make(map[int]bool)}
	p.rels[rt] = r
	it := &item{rels: r.self, base: r}
	prob.items = append(prob.items, it)
	prob.rels = prob.rels.union(r.self)
	p.sizeBase(r)
	return it
}

// deconstruct adds the items and conditions of a FROM item to prob and returns its entries.
func (p *planner) deconstruct(prob *joinProblem, f analyze.FromItem) relset {
	switch f := f.(type) {
	case *analyze.RangeRef:
		return p.addBase(prob, f.RT).rels
	case *analyze.Join:
		switch f.Kind {
		case analyze.JoinInner:
			rels := p.deconstruct(prob, f.Left).union(p.deconstruct(prob, f.Right))
			for _, c := range conjuncts(nil, f.On) {
				p.addClause(prob, c, rels)
			}
			return rels
		case analyze.JoinFull:
			return p.deconstructFull(prob, f)
		}
		return p.deconstructSpecial(prob, f)
	}
	return relset{}
}

// addClause adds a plain condition, valid above everything in rels.
func (p *planner) addClause(prob *joinProblem, e analyze.Expr, rels relset) {
	c := p.newClause(e, nil)
	if c.rels.empty() {
		if !c.volatile {
			prob.gate = append(prob.gate, e)
			return
		}
		c.rels = rels
	}
	prob.clauses = append(prob.clauses, c)
}

func (p *planner) deconstructSpecial(prob *joinProblem, f *analyze.Join) relset {
	left := p.deconstruct(prob, f.Left)
	sp := &special{kind: f.Kind}
	var it *item
	if ref, ok := f.Right.(*analyze.RangeRef); ok {
		it = p.addBase(prob, ref.RT)
	} else {
		inner := &joinProblem{}
		p.deconstruct(inner, f.Right)
		it = &item{rels: inner.rels, problem: inner}
		prob.items = append(prob.items, it)
		prob.rels = prob.rels.union(inner.rels)
	}
	it.special = sp
	sp.right = it.rels
	for _, e := range conjuncts(nil, f.On) {
		c := p.newClause(e, sp)
		if !c.rels.empty() && c.rels.subsetOf(it.rels) && !c.volatile {
			p.pushInto(it, c)
			continue
		}
		sp.on = append(sp.on, c)
		for rt := range p.q.RTable {
			if c.rels.has(rt) && left.has(rt) {
				sp.left = sp.left.with(rt)
			}
		}
	}
	if it.base != nil {
		for rt := range p.q.RTable {
			if it.base.lateral.has(rt) && left.has(rt) {
				sp.left = sp.left.with(rt)
			}
		}
	}
	if sp.left.empty() {
		sp.left = left
	}
	if f.Kind == analyze.JoinSemi || f.Kind == analyze.JoinAnti {
		return left
	}
	return left.union(it.rels)
}

// pushInto makes a condition on the right side alone of a special join part of that side.
func (p *planner) pushInto(it *item, c *clause) {
	c.outer = nil
	if it.base != nil {
		it.base.local = append(it.base.local, c)
		return
	}
	it.problem.clauses = append(it.problem.clauses, c)
}

func (p *planner) deconstructFull(prob *joinProblem, f *analyze.Join) relset {
	fj := &fullJoin{left: &joinProblem{}, right: &joinProblem{}}
	p.deconstruct(fj.left, f.Left)
	p.deconstruct(fj.right, f.Right)
	it := &item{rels: fj.left.rels.union(fj.right.rels), full: fj}
	sp := &special{kind: analyze.JoinFull}
	for _, e := range conjuncts(nil, f.On) {
		fj.on = append(fj.on, p.newClause(e, sp))
	}
	prob.items = append(prob.items, it)
	prob.rels = prob.rels.union(it.rels)
	return it.rels
}

// distribute gives conditions on one base relation to it; the others stay with the problem.
func (p *planner) distribute(prob *joinProblem) {
	var rest []*clause
	for _, c := range prob.clauses {
		if it := prob.localTo(c); it != nil {
			it.base.local = append(it.base.local, c)
			continue
		}
		rest = append(rest, c)
	}
	prob.clauses = rest
	for _, it := range prob.items {
		switch {
		case it.problem != nil:
			p.distributeInner(it.problem)
		case it.full != nil:
			p.distributeInner(it.full.left)
			p.distributeInner(it.full.right)
		}
	}
}

func (p *planner) distributeInner(prob *joinProblem) {
	prob.clauses = p.deriveEqualities(prob.clauses)
	p.distribute(prob)
}

// localTo returns the item whose rows c alone filters, if there is one: not the right side of an outer join.
func (prob *joinProblem) localTo(c *clause) *item {
	if c.rels.empty() {
		return nil
	}
	for _, it := range prob.items {
		if it.base != nil && c.rels.subsetOf(it.rels) && (it.special == nil || it.special.kind == analyze.JoinSemi) {
			return it
		}
	}
	return nil
}

// sizeBase estimates the size of an entry and plans it where it is a subquery.
func (p *planner) sizeBase(r *baseRel) {
	rte := r.rte
	if rte.Sample != nil {
		unsupported("TABLESAMPLE is not supported")
	}
	switch rte.Kind {
	case analyze.RTERelation:
		p.lock(rte.Relation, lockAccessShare)
		r.pages, r.tuples = p.ctx.Size(rte.Relation)
		for i := range rte.Relation.Attrs {
			r.width += attrWidth(&rte.Relation.Attrs[i])
		}
	case analyze.RTEValues:
		r.tuples, r.width = float64(len(rte.Values)), 32
	case analyze.RTEFunction:
		r.tuples, r.width = p.functionRows(rte), 32
		for _, f := range rte.Functions {
			r.lateral = r.lateral.union(relsOf(f.Call))
		}
	case analyze.RTEResult:
		r.tuples = 1
	case analyze.RTECTE:
		r.tuples, r.width = p.cteRows(rte), 32
	}
	if rte.Kind == analyze.RTEValues {
		for _, list := range rte.Values {
			for _, e := range list {
				r.lateral = r.lateral.union(relsOf(e))
			}
		}
	}
	if rte.Kind == analyze.RTESubquery {
		r.sub = p.child(rte.Subquery, linkFrom)
		r.width = 32
		mapQueryVars(rte.Subquery, 0, func(v *analyze.Var, depth int) analyze.Expr {
			if v.LevelsUp == depth+1 {
				r.lateral = r.lateral.with(v.RT)
			}
			return v
		})
	}
	if rte.Kind != analyze.RTESubquery {
		r.lateral = r.lateral.minus(r.self)
	}
}

func attrWidth(a *catalog.Attribute) int {
	if a.Len > 0 {
		return int(a.Len)
	}
	switch a.Type {
	case types.Bpchar, types.Varchar:
		if a.Typmod > 4 {
			return int(a.Typmod - 4)
		}
	}
	return 32
}

func (p *planner) cteRows(rte *analyze.RangeTableEntry) float64 {
	c, at := p.findCTE(rte)
	if slot, ok := at.ctePlans[c]; ok && p.ctes[slot].Node != nil {
		return math.Max(1, p.ctes[slot].Node.Common().Rows)
	}
	return 100
}

func (p *planner) functionRows(rte *analyze.RangeTableEntry) float64 {
	rows := 1.0
	for _, f := range rte.Functions {
		call, ok := f.Call.(*analyze.FuncExpr)
		if !ok {
			continue
		}
		proc := p.proc(call.Func)
		if !proc.RetSet {
			continue
		}
		rows = math.Max(rows, p.seriesRows(proc, call))
	}
	return rows
}

// seriesRows knows how many rows generate_series gives for constants.
func (p *planner) seriesRows(proc *catalog.Proc, call *analyze.FuncExpr) float64 {
	if proc.Name == "generate_series" && len(call.Args) >= 2 {
		var v [3]float64
		v[2] = 1
		for i, a := range call.Args[:min(3, len(call.Args))] {
			c, ok := a.(*analyze.Const)
			if !ok || c.Value.Null {
				return math.Max(1, float64(proc.Rows))
			}
			switch c.Typ {
			case types.Int4, types.Int8:
				v[i] = float64(c.Value.Int64())
			default:
				return math.Max(1, float64(proc.Rows))
			}
		}
		if v[2] != 0 {
			return math.Max(1, math.Floor((v[1]-v[0])/v[2])+1)
		}
	}
	return math.Max(1, float64(proc.Rows))
}

// collectNeeded notes which columns of each entry are used by the expressions of the query.
func (p *planner) collectNeeded(exprs []analyze.Expr) {
	for _, e := range exprs {
		p.need(e)
	}
}

func (p *planner) need(e analyze.Expr) {
	mapVars(e, 0, func(v *analyze.Var, depth int) analyze.Expr {
		if v.LevelsUp == depth {
			if r := p.rels[v.RT]; r != nil {
				r.needed[v.Attno] = true
			}
		}
		return v
	})
}

func (p *planner) needProblem(prob *joinProblem) {
	for _, c := range prob.clauses {
		p.need(c.expr)
	}
	for _, it := range prob.items {
		if it.special != nil {
			for _, c := range it.special.on {
				p.need(c.expr)
			}
		}
		switch {
		case it.base != nil:
			for _, c := range it.base.local {
				p.need(c.expr)
			}
			for _, f := range it.base.rte.Functions {
				p.need(f.Call)
			}
			for _, list := range it.base.rte.Values {
				for _, e := range list {
					p.need(e)
				}
			}
			if it.base.sub != nil {
				p.needFromSub(it.base.rte.Subquery)
			}
		case it.problem != nil:
			p.needProblem(it.problem)
		case it.full != nil:
			for _, c := range it.full.on {
				p.need(c.expr)
			}
			p.needProblem(it.full.left)
			p.needProblem(it.full.right)
		}
	}
}

// needFromSub notes what a LATERAL subquery takes from its siblings.
func (p *planner) needFromSub(q *analyze.Query) {
	mapQueryVars(q, 0, func(v *analyze.Var, depth int) analyze.Expr {
		if v.LevelsUp == depth+1 {
			if r := p.rels[v.RT]; r != nil {
				r.needed[v.Attno] = true
			}
		}
		return v
	})
}
