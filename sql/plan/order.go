package plan

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// What comes above FROM, WHERE and grouping as far as it depends on the order of rows: DISTINCT, ORDER BY and LIMIT,
// and the choice of a path by the order they want.

// estimate follows the cost of a path through what is done above it.
type estimate struct {
	startup, total, rows float64
	order                []orderKey
}

// choosePath picks the path that is cheapest once grouping, the order asked for and LIMIT are counted in.
func (p *planner) choosePath(jr *joinRel) *path {
	var best *path
	bestCost := math.Inf(1)
	for _, pt := range jr.paths {
		if !pt.required.empty() {
			continue
		}
		if cost := p.finalCost(pt); cost < bestCost {
			best, bestCost = pt, cost
		}
	}
	if best == nil {
		fail(pgerr.New(pgerr.FeatureNotSupported, "could not find a plan for this join"))
	}
	return best
}

func (p *planner) finalCost(pt *path) float64 {
	q := p.q
	e := &estimate{pt.startup, pt.total, pt.rows, pt.order}
	if q.HasAggs || len(q.Group) > 0 || len(q.GroupingSets) > 0 || q.Having != nil {
		p.estimateGroups(e)
	}
	if q.HasWindows && !orderSatisfies(e.order, p.firstWindowOrder()) {
		p.estimateSort(e, nil)
	}
	if len(q.Distinct) > 0 && p.clustered(e.order, q.Distinct) <= 0 {
		switch {
		case q.DistinctOn || len(q.OrderBy) > 0 && e.rows <= 1000:
			by := p.distinctOrder()
			if want := p.orderKeys(by); !orderSatisfies(e.order, want) {
				p.estimateSort(e, want)
			}
		default:
			e.startup = e.total + e.rows*p.ctx.Settings.CPUOperatorCost
			e.total, e.order = e.startup, nil
		}
	}
	if want := p.orderKeys(q.OrderBy); !orderSatisfies(e.order, want) || q.HasTargetSRFs && len(want) > 0 {
		p.estimateSort(e, want)
	}
	return e.startup + (e.total-e.startup)*p.limitRows(e.rows)/math.Max(1, e.rows)
}

func (p *planner) estimateGroups(e *estimate) {
	s := &p.ctx.Settings
	q := p.q
	per := e.rows * s.CPUOperatorCost * float64(len(q.Group)+1)
	groups := p.distinctRows(e.rows, p.sortExprs(q.Group))
	n := p.clustered(e.order, q.Group)
	switch {
	case len(q.GroupingSets) > 0 || n < 0:
		e.startup = e.total + per
		e.total, e.order = e.startup+groups*s.CPUTupleCost, nil
	case n == 0:
		e.startup = e.total + per
		e.total, e.order, groups = e.startup, nil, 1
	default:
		e.total += per + groups*s.CPUTupleCost
		e.order = e.order[:n]
	}
	e.rows = groups
}

// estimateSort brings e into order want, from a part of it that is there already if that is cheaper.
func (p *planner) estimateSort(e *estimate, want []orderKey) {
	if runs := p.runs(e.order, want, e.rows); runs > 1 {
		e.startup += (e.total-e.startup)/runs + p.sortCost(e.rows/runs)
		e.total += runs * p.sortCost(e.rows/runs)
	} else {
		e.startup = e.total + p.sortCost(e.rows)
		e.total = e.startup + e.rows*p.ctx.Settings.CPUOperatorCost
	}
	e.order = want
}

// runs estimates how many runs of rows that agree in the keys they are sorted by already an incremental sort to
// want would sort; at most 1 where it is no use.
func (p *planner) runs(have, want []orderKey, rows float64) float64 {
	n := commonOrder(have, want)
	if n == 0 || n == len(want) || !p.ctx.Settings.EnableIncrementalSort {
		return 0
	}
	exprs := make([]analyze.Expr, n)
	for i := range n {
		exprs[i] = want[i].expr
	}
	return p.distinctRows(rows, exprs)
}

// commonOrder is how many leading keys two orders share.
func commonOrder(a, b []orderKey) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].same(&b[n]) {
		n++
	}
	return n
}

func (p *planner) sortCost(rows float64) float64 {
	return 2 * p.ctx.Settings.CPUOperatorCost * rows * math.Log2(math.Max(2, rows))
}

// limitRows is how many of so many rows the query will read.
func (p *planner) limitRows(rows float64) float64 {
	q := p.q
	if q.Limit == nil {
		if f := p.ctx.Settings.CursorFraction; f > 0 && p.parent == nil {
			return rows * f
		}
		return rows
	}
	n := rows * 0.1
	if c, ok := q.Limit.(*analyze.Const); ok && !c.Value.Null {
		n = float64(c.Value.Int64())
	}
	if c, ok := q.Offset.(*analyze.Const); ok && !c.Value.Null {
		n += float64(c.Value.Int64())
	}
	return math.Min(rows, math.Max(n, 1))
}

// useful are the clauses that still order or divide rows: a key that is the same in all of them, or stands twice, does not.
func (p *planner) useful(list []analyze.SortClause) []analyze.SortClause {
	var out []analyze.SortClause
	seen := make(map[string]bool)
	for _, s := range list {
		t := p.targetByRef(s.Ref)
		if t == nil {
			return nil
		}
		key := exprKey(t.Expr)
		if seen[key] || p.fixed[key] || p.constantHere(t.Expr) {
			continue
		}
		seen[key] = true
		out = append(out, s)
	}
	return out
}

func (p *planner) sortExprs(list []analyze.SortClause) []analyze.Expr {
	var exprs []analyze.Expr
	for _, s := range p.useful(list) {
		exprs = append(exprs, p.targetByRef(s.Ref).Expr)
	}
	return exprs
}

func (p *planner) orderKeys(list []analyze.SortClause) []orderKey {
	var keys []orderKey
	for _, s := range p.useful(list) {
		e := p.targetByRef(s.Ref).Expr
		keys = append(keys, orderKey{key: exprKey(e), desc: s.Desc, nullsFirst: s.NullsFirst, expr: e})
	}
	return keys
}

// clustered is how many leading keys of an order there are of which every key of list is one, and the other way
// round, so that rows that agree in list lie together; -1 where they need not.
func (p *planner) clustered(order []orderKey, list []analyze.SortClause) int {
	want := p.useful(list)
	if len(order) < len(want) {
		return -1
	}
	for _, s := range want {
		key := exprKey(p.targetByRef(s.Ref).Expr)
		found := false
		for _, o := range order[:len(want)] {
			found = found || o.key == key
		}
		if !found {
			return -1
		}
	}
	return len(want)
}

// constantHere tells whether e has the same value for all rows of a run of this query.
func (p *planner) constantHere(e analyze.Expr) bool {
	constant := true
	visit(e, func(e analyze.Expr) bool {
		switch e.(type) {
		case *analyze.Var, *Col, *analyze.Aggref, *analyze.WindowFunc, *analyze.GroupingFunc, *SubPlan, *analyze.SubLink:
			constant = false
		}
		return constant && !returnsSet(e)
	})
	if !constant {
		return false
	}
	visit(e, func(e analyze.Expr) bool {
		constant = constant && !returnsSet(e)
		return constant
	})
	return constant && !containsVolatile(p, e)
}

// noteFixed notes the expressions that the query's conditions equate with something that is the same for all rows.
func (p *planner) noteFixed(list []*clause) {
	p.fixed = make(map[string]bool)
	for _, c := range list {
		if c.outer != nil || c.family == 0 || c.volatile || c.left == nil {
			continue
		}
		switch {
		case c.leftRels.empty():
			p.fixed[exprKey(c.right)] = true
		case c.rightRels.empty():
			p.fixed[exprKey(c.left)] = true
		}
	}
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
	if n := p.clustered(st.order, q.Distinct); n > 0 && !q.DistinctOn {
		return p.uniqueRows(st)
	}
	if hashable && (len(q.OrderBy) == 0 || c.Rows > 1000) {
		return p.hashDistinct(st)
	}
	return p.uniqueRows(p.sorted(st, p.distinctOrder(), nil))
}

// distinctOrder is the order that finds duplicates by sorting, and serves ORDER BY too.
func (p *planner) distinctOrder() []analyze.SortClause {
	q := p.q
	if len(q.OrderBy) >= len(q.Distinct) {
		return q.OrderBy
	}
	return append(append([]analyze.SortClause(nil), q.OrderBy...), missingKeys(q.Distinct, q.OrderBy)...)
}

// uniqueRows keeps the first of the rows that agree in the columns of DISTINCT, which lie together.
func (p *planner) uniqueRows(st stage) stage {
	n := &Unique{Input: st.node, Group: p.groupKeys(p.q.Distinct)}
	p.copyCost(n, st.node)
	n.Rows = p.distinctRows(n.Rows, p.sortExprs(p.q.Distinct))
	n.TotalCost += n.Rows * p.ctx.Settings.CPUOperatorCost * float64(len(n.Group))
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
		if !p.constantHere(e) {
			n *= p.distinctValues(e)
		}
	}
	return clampRows(math.Min(n, rows))
}

// planOrder sorts for ORDER BY unless the rows come sorted.
func (p *planner) planOrder(st stage) stage {
	q := p.q
	if len(q.OrderBy) == 0 {
		return st
	}
	if q.HasTargetSRFs {
		st.order = nil
	}
	var bound analyze.Expr
	if q.Limit != nil && !q.WithTies && len(q.RowMarks) == 0 {
		bound = p.sortBound()
	}
	return p.sorted(st, q.OrderBy, bound)
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
	bigint := analyze.Typed{Typ: types.Int8, Mod: -1, Loc: -1}
	half := &analyze.Const{Typed: bigint, Value: types.Int64Datum(1 << 62)}
	least := func(e analyze.Expr) analyze.Expr { // so that the sum is in range
		return &analyze.MinMaxExpr{Typed: bigint, Args: []analyze.Expr{e, half}}
	}
	return &analyze.OpExpr{
		Typed: bigint, Op: int8Plus, Func: int8pl, Args: []analyze.Expr{least(p.q.Limit), least(p.q.Offset)},
	}
}

// sorted brings the rows of st into the order of list; bound, unless nil, is how many of them are wanted.
func (p *planner) sorted(st stage, list []analyze.SortClause, bound analyze.Expr) stage {
	want := p.orderKeys(list)
	if orderSatisfies(st.order, want) {
		return st
	}
	c := st.node.Common()
	presorted := 0
	if runs := p.runs(st.order, want, c.Rows); runs > 1 {
		presorted = commonOrder(st.order, want)
	}
	st = p.addSort(st, p.sortKeys(p.useful(list)), presorted, bound)
	st.order = want
	return st
}

func (p *planner) addSort(st stage, keys []SortKey, presorted int, bound analyze.Expr) stage {
	c := st.node.Common()
	n := &Sort{Input: st.node, Keys: keys, Presorted: presorted, Bound: bound}
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
	if presorted > 0 {
		n.StartupCost = c.StartupCost
	}
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
	read := p.limitRows(n.Rows)
	n.TotalCost = n.StartupCost + (n.TotalCost-n.StartupCost)*read/math.Max(1, n.Rows)
	if c, ok := q.Limit.(*analyze.Const); ok && !c.Value.Null {
		n.Rows = math.Max(1, math.Min(read, float64(c.Value.Int64())))
	}
	return n
}
