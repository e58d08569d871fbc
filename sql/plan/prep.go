package plan

import (
	"github.com/minipg/minipg/sql/analyze"
)

// prepare brings a SELECT, or the FROM and WHERE of another command, into the
// shape the join search works on: no join aliases, sub-selects of WHERE turned into joins,
// simple subqueries merged, outer references and sub-selects replaced.
func (p *planner) prepare() {
	p.inlineFrom()
	p.flattenJoinVars()
	p.pullUpSubLinks()
	p.pullUpSubqueries()
	p.reduceOuterJoins()
	p.replaceOuterVars()
}

// inlineFrom turns references to WITH queries that are not run on their own into subqueries.
func (p *planner) inlineFrom() {
	for _, rte := range p.q.RTable {
		if rte.Kind != analyze.RTECTE || rte.SelfReference {
			continue
		}
		c, at := p.findCTE(rte)
		if _, planned := at.ctePlans[c]; planned {
			continue
		}
		if _, running := at.workTable[c]; running {
			continue
		}
		query := c.Query
		if c.RefCount > 1 {
			query = copyQuery(query)
		}
		if up := rte.CTELevelsUp; up > 0 {
			mapQueryVars(query, 0, func(v *analyze.Var, depth int) analyze.Expr {
				if v.LevelsUp <= depth {
					return v
				}
				moved := *v
				moved.LevelsUp += up
				return &moved
			})
			shiftCTERefs(query, 0, up)
		}
		rte.Kind = analyze.RTESubquery
		rte.Subquery = query
	}
}

// shiftCTERefs adds by to the levels of references in q to WITH queries outside of it.
func shiftCTERefs(q *analyze.Query, depth, by int) {
	for _, rte := range q.RTable {
		if rte.Kind == analyze.RTECTE && rte.CTELevelsUp > depth {
			rte.CTELevelsUp += by
		}
	}
	subqueries(q, func(sub *analyze.Query) { shiftCTERefs(sub, depth+1, by) })
}

// flattenJoinVars replaces Vars of join entries by what they stand for.
func (p *planner) flattenJoinVars() {
	rtable := p.q.RTable
	var flatten func(v *analyze.Var, depth int) analyze.Expr
	flatten = func(v *analyze.Var, depth int) analyze.Expr {
		if v.LevelsUp != depth || rtable[v.RT].Kind != analyze.RTEJoin {
			return v
		}
		vars := rtable[v.RT].JoinVars
		if v.Attno == 0 {
			row := &analyze.RowExpr{Typed: v.Typed}
			for i, jv := range vars {
				row.Args = append(row.Args, shiftLevels(mapVars(jv, 0, flatten), depth))
				row.Names = append(row.Names, rtable[v.RT].Columns[i].Name)
			}
			return row
		}
		e := mapVars(vars[v.Attno-1], 0, flatten)
		return shiftLevels(e, depth)
	}
	mapQueryVars(p.q, 0, flatten)
}

// replaceOuterVars turns Vars of further out into parameters.
func (p *planner) replaceOuterVars() {
	mapQuery(p.q, func(e analyze.Expr) analyze.Expr { return p.outerToParams(e) })
}

// outerToParams handles e's own Vars; those in sub-selects are met when these are planned.
func (p *planner) outerToParams(e analyze.Expr) analyze.Expr {
	if e == nil {
		return nil
	}
	if v, ok := e.(*analyze.Var); ok {
		if v.LevelsUp > 0 {
			return p.outerParam(v)
		}
		return v
	}
	if a, ok := e.(*analyze.Aggref); ok && a.LevelsUp > 0 {
		return p.outerAggregate(a)
	}
	return mapChildren(e, p.outerToParams)
}

// outerAggregate makes an aggregate of an outer query an argument of this one.
func (p *planner) outerAggregate(a *analyze.Aggref) analyze.Expr {
	up := *a
	up.LevelsUp--
	lowered := mapChildren(&up, func(c analyze.Expr) analyze.Expr {
		return mapVars(c, 0, func(v *analyze.Var, depth int) analyze.Expr {
			if v.LevelsUp <= depth {
				return v
			}
			m := *v
			m.LevelsUp--
			return &m
		})
	})
	if p.link != linkSubLink {
		if up.LevelsUp == 0 {
			unsupported("aggregate of an outer query in FROM")
		}
		return p.parent.outerAggregate(lowered.(*analyze.Aggref))
	}
	if up.LevelsUp > 0 {
		lowered = p.parent.outerAggregate(lowered.(*analyze.Aggref))
	}
	return p.argument(lowered, a)
}

// pullUpSubLinks turns conjuncts of WHERE of the forms x IN (SELECT ...), EXISTS (...)
// and NOT EXISTS (...) into semi- and antijoins where that gives the same rows.
func (p *planner) pullUpSubLinks() {
	q := p.q
	if q.Where == nil || len(q.From) == 0 && q.Where != nil {
		return
	}
	var keep []analyze.Expr
	for _, c := range conjuncts(nil, q.Where) {
		if !p.pullUpSubLink(c) {
			keep = append(keep, c)
		}
	}
	q.Where = andAll(keep)
}

func andAll(list []analyze.Expr) analyze.Expr {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &analyze.BoolExpr{Typed: boolTyped, Op: analyze.And, Args: list}
}

func (p *planner) pullUpSubLink(c analyze.Expr) bool {
	negated := false
	if b, ok := c.(*analyze.BoolExpr); ok && b.Op == analyze.Not {
		negated = true
		c = b.Args[0]
	}
	s, ok := c.(*analyze.SubLink)
	if !ok || s.Query.Command != analyze.Select {
		return false
	}
	switch s.Kind {
	case analyze.SubLinkAny:
		return !negated && p.pullUpAny(s)
	case analyze.SubLinkExists:
		kind := analyze.JoinSemi
		if negated {
			kind = analyze.JoinAnti
		}
		return p.pullUpExists(s, kind)
	}
	return false
}

// pullUpAny makes x IN (SELECT y ...) a semijoin with the subquery in FROM.
func (p *planner) pullUpAny(s *analyze.SubLink) bool {
	if refersOut(s.Query) || containsVolatile(p, s.Test) {
		return false
	}
	usesOuter := false
	for _, e := range []analyze.Expr{s.Test} {
		visit(e, func(e analyze.Expr) bool {
			if v, ok := e.(*analyze.Var); ok && v.LevelsUp == 0 {
				usesOuter = true
			}
			_, sub := e.(*analyze.SubLink)
			return !sub
		})
	}
	if !usesOuter {
		return false
	}
	rt := p.addRTE(&analyze.RangeTableEntry{
		Kind: analyze.RTESubquery, Alias: "ANY_subquery", Subquery: s.Query, Columns: targetColumns(s.Query),
	})
	on := mapSubColumns(s.Test, func(c *analyze.SubColumn) analyze.Expr {
		return &analyze.Var{Typed: c.Typed, RT: rt, Attno: c.Number + 1}
	})
	p.joinWithFrom(analyze.JoinSemi, &analyze.RangeRef{RT: rt}, on)
	return true
}

func mapSubColumns(e analyze.Expr, f func(*analyze.SubColumn) analyze.Expr) analyze.Expr {
	if e == nil {
		return nil
	}
	if c, ok := e.(*analyze.SubColumn); ok {
		return f(c)
	}
	if _, ok := e.(*analyze.SubLink); ok {
		return e
	}
	return mapChildren(e, func(c analyze.Expr) analyze.Expr { return mapSubColumns(c, f) })
}

func targetColumns(q *analyze.Query) []analyze.RTEColumn {
	var cols []analyze.RTEColumn
	for _, t := range q.Targets {
		if !t.Junk {
			cols = append(cols, analyze.RTEColumn{
				Name: t.Name, Type: t.Expr.Type(), Typmod: t.Expr.Typmod(), Collation: t.Expr.Collation(),
			})
		}
	}
	return cols
}

func (p *planner) addRTE(rte *analyze.RangeTableEntry) int {
	p.q.RTable = append(p.q.RTable, rte)
	return len(p.q.RTable) - 1
}

func (p *planner) joinWithFrom(kind analyze.JoinKind, right analyze.FromItem, on analyze.Expr) {
	left := p.q.From[0]
	for _, item := range p.q.From[1:] {
		left = &analyze.Join{Kind: analyze.JoinInner, Left: left, Right: item, RT: -1}
	}
	p.q.From = []analyze.FromItem{&analyze.Join{Kind: kind, Left: left, Right: right, On: on, RT: -1}}
}

// pullUpExists makes [NOT] EXISTS a semi- or antijoin when the sub-select is plain
// FROM and WHERE, of which only WHERE refers to the outer query.
func (p *planner) pullUpExists(s *analyze.SubLink, kind analyze.JoinKind) bool {
	q := s.Query
	if q.SetOp != nil || len(q.CTEs) > 0 || q.HasAggs || q.HasWindows || q.HasTargetSRFs || len(q.Group) > 0 ||
		q.Having != nil || len(q.GroupingSets) > 0 || len(q.RowMarks) > 0 || len(q.From) == 0 || q.Where == nil {
		return false
	}
	if q.Limit != nil || q.Offset != nil {
		return false
	}
	where := q.Where
	q.Where = nil
	q.Targets, q.OrderBy, q.Distinct = nil, nil, nil
	outside := refersOut(q)
	q.Where = where
	if outside || hasSubLink(where) || containsVolatile(p, where) || !refersOneOut(where) {
		return false
	}
	sub := p.child(q, linkFrom)
	sub.ctePlans = map[*analyze.CTE]int{}
	sub.flattenJoinVars()
	offset := len(p.q.RTable)
	where = mapVars(q.Where, 0, func(v *analyze.Var, _ int) analyze.Expr {
		m := *v
		if m.LevelsUp > 0 {
			m.LevelsUp--
		} else {
			m.RT += offset
		}
		return &m
	})
	q.Where = nil
	p.appendRTable(q, offset)
	right := shiftFrom(q.From[0], offset)
	for _, item := range q.From[1:] {
		right = &analyze.Join{Kind: analyze.JoinInner, Left: right, Right: shiftFrom(item, offset), RT: -1}
	}
	p.joinWithFrom(kind, right, where)
	return true
}

// appendRTable moves q's range table behind p's; q's expressions are renumbered by offset.
func (p *planner) appendRTable(q *analyze.Query, offset int) {
	mapQueryVars(q, 0, func(v *analyze.Var, depth int) analyze.Expr {
		if v.LevelsUp < depth {
			return v
		}
		m := *v
		if v.LevelsUp == depth {
			m.RT += offset
		} else {
			m.LevelsUp-- // q stood one level further in
		}
		return &m
	})
	shiftCTERefs(q, 0, -1)
	p.q.RTable = append(p.q.RTable, q.RTable...)
}

func shiftFrom(item analyze.FromItem, offset int) analyze.FromItem {
	switch f := item.(type) {
	case *analyze.RangeRef:
		return &analyze.RangeRef{RT: f.RT + offset}
	case *analyze.Join:
		j := *f
		j.Left, j.Right = shiftFrom(f.Left, offset), shiftFrom(f.Right, offset)
		if j.RT >= 0 {
			j.RT += offset
		}
		return &j
	}
	return item
}

// refersOut tells whether q refers to a level outside of it.
func refersOut(q *analyze.Query) bool {
	found := false
	mapQueryVars(q, 0, func(v *analyze.Var, depth int) analyze.Expr {
		found = found || v.LevelsUp > depth
		return v
	})
	return found || outerAggs(q, 0)
}

func outerAggs(q *analyze.Query, depth int) bool {
	found := false
	mapQuery(q, func(e analyze.Expr) analyze.Expr {
		visit(e, func(e analyze.Expr) bool {
			if a, ok := e.(*analyze.Aggref); ok && a.LevelsUp > depth {
				found = true
			}
			return true
		})
		return e
	})
	subqueries(q, func(sub *analyze.Query) { found = found || outerAggs(sub, depth+1) })
	return found
}

// refersOneOut tells whether e refers to the level right outside, and to none further out.
func refersOneOut(e analyze.Expr) bool {
	one, further := false, false
	mapVars(e, 0, func(v *analyze.Var, depth int) analyze.Expr {
		one = one || v.LevelsUp == depth+1
		further = further || v.LevelsUp > depth+1
		return v
	})
	return one && !further
}

func hasSubLink(e analyze.Expr) bool {
	found := false
	visit(e, func(e analyze.Expr) bool {
		if _, ok := e.(*analyze.SubLink); ok {
			found = true
		}
		return !found
	})
	return found
}

// sink takes the WHERE of a subquery that is merged.
type sink struct {
	list []analyze.Expr
	top  bool // it becomes the query's own WHERE
}

// pullUpSubqueries merges simple subqueries and views in FROM into this query.
func (p *planner) pullUpSubqueries() {
	for changed := true; changed; {
		changed = false
		where := &sink{top: true}
		for i, item := range p.q.From {
			if repl := p.pullUpIn(item, false, where); repl != item {
				p.q.From[i] = repl
				changed = true
				break
			}
		}
		if len(where.list) > 0 {
			p.q.Where = andAll(append(conjuncts(nil, p.q.Where), where.list...))
		}
	}
}

// pullUpIn merges the first subquery it finds in item that can be, and returns the changed item. Its
// WHERE goes to where; nil is the side of a full join, which must keep it.
func (p *planner) pullUpIn(item analyze.FromItem, nullable bool, where *sink) analyze.FromItem {
	f, ok := item.(*analyze.Join)
	if !ok {
		return p.pullUpOne(item.(*analyze.RangeRef), nullable, where)
	}
	on := &sink{}
	leftSink, rightSink := where, where
	leftNull, rightNull := nullable, nullable
	switch f.Kind {
	case analyze.JoinLeft:
		rightNull, rightSink = true, on
	case analyze.JoinSemi, analyze.JoinAnti:
		rightNull, rightSink = false, on // nothing above sees these columns
	case analyze.JoinRight:
		leftNull, leftSink = true, on
	case analyze.JoinFull:
		leftNull, rightNull = true, true
		leftSink, rightSink = nil, nil
	}
	left, right := p.pullUpIn(f.Left, leftNull, leftSink), f.Right
	if left == f.Left {
		if right = p.pullUpIn(f.Right, rightNull, rightSink); right == f.Right {
			return item
		}
	}
	j := *f
	j.Left, j.Right = left, right
	if len(on.list) > 0 {
		j.On = andAll(append(conjuncts(nil, f.On), on.list...))
	}
	return &j
}

func (p *planner) pullUpOne(ref *analyze.RangeRef, nullable bool, where *sink) analyze.FromItem {
	rte := p.q.RTable[ref.RT]
	if rte.Kind != analyze.RTESubquery || !p.simple(rte.Subquery) {
		return ref
	}
	sub := rte.Subquery
	if rte.Lateral && refersOut(sub) && (where == nil || !where.top || joinsReferOut(sub)) {
		return ref
	}
	if nullable && !onlyVars(sub) || p.targetsVolatile(sub) || containsVolatile(p, sub.Where) {
		return ref
	}
	if where == nil && (len(sub.From) != 1 || sub.Where != nil) {
		return ref
	}
	inner := p.child(sub, linkFrom)
	inner.prepareCTEs()
	inner.inlineFrom()
	inner.flattenJoinVars()
	if !nullable {
		inner.pullUpSubLinks()
	}
	offset := len(p.q.RTable)
	p.appendRTable(sub, offset)
	rte.Kind = analyze.RTEResult
	rte.Subquery = nil // what refers to it must not be looked for inside of it
	p.substitute(ref.RT, sub)
	var joined analyze.FromItem
	for _, item := range sub.From {
		item = shiftFrom(item, offset)
		if joined == nil {
			joined = item
		} else {
			joined = &analyze.Join{Kind: analyze.JoinInner, Left: joined, Right: item, RT: -1}
		}
	}
	if sub.Where != nil {
		where.list = conjuncts(where.list, sub.Where)
	}
	return joined
}

// joinsReferOut tells whether a condition of a join in q's FROM refers to a level outside of q.
func joinsReferOut(q *analyze.Query) bool {
	found := false
	for _, item := range q.From {
		mapJoinConditions(item, func(e analyze.Expr) analyze.Expr {
			mapVars(e, 0, func(v *analyze.Var, depth int) analyze.Expr {
				found = found || v.LevelsUp > depth
				return v
			})
			return e
		})
	}
	return found
}

// simple tells whether q is only FROM and WHERE and so can be merged into its parent.
func (p *planner) simple(q *analyze.Query) bool {
	if q.Command != analyze.Select || q.SetOp != nil || q.HasAggs || q.HasWindows || q.HasTargetSRFs ||
		len(q.Group) > 0 || len(q.GroupingSets) > 0 || q.Having != nil || len(q.Distinct) > 0 ||
		len(q.OrderBy) > 0 || q.Limit != nil || q.Offset != nil || len(q.RowMarks) > 0 || len(q.From) == 0 || len(q.CTEs) > 0 {
		return false
	}
	for _, rte := range q.RTable {
		if rte.Lateral {
			return false
		}
	}
	return true
}

func onlyVars(q *analyze.Query) bool {
	for _, t := range q.Targets {
		if v, ok := t.Expr.(*analyze.Var); !ok || v.LevelsUp != 0 || q.RTable[v.RT].Kind == analyze.RTEJoin {
			return false
		}
	}
	return true
}

func (p *planner) targetsVolatile(q *analyze.Query) bool {
	for _, t := range q.Targets {
		if containsVolatile(p, t.Expr) {
			return true
		}
	}
	return false
}

// substitute replaces Vars of entry rt by the targets of sub, everywhere in p's query.
func (p *planner) substitute(rt int, sub *analyze.Query) {
	var visible []analyze.Expr
	for _, t := range sub.Targets {
		if !t.Junk {
			visible = append(visible, t.Expr)
		}
	}
	names := p.q.RTable[rt].Columns
	replace := func(v *analyze.Var, depth int) analyze.Expr {
		if v.RT != rt || v.LevelsUp != depth {
			return v
		}
		if v.Attno == 0 {
			row := &analyze.RowExpr{Typed: v.Typed}
			for i, e := range visible {
				row.Args = append(row.Args, shiftLevels(copyExpr(e), depth))
				if i < len(names) {
					row.Names = append(row.Names, names[i].Name)
				}
			}
			return row
		}
		return shiftLevels(copyExpr(visible[v.Attno-1]), depth)
	}
	mapQueryVars(p.q, 0, replace)
	for i := range p.q.RowMarks {
		if p.q.RowMarks[i].RT == rt {
			unsupported("row locks on a merged subquery")
		}
	}
}

// reduceOuterJoins turns outer joins into inner ones where WHERE rejects the
// null-extended rows anyhow.
func (p *planner) reduceOuterJoins() {
	strict := make(map[int]bool)
	for _, c := range conjuncts(nil, p.q.Where) {
		p.nonNullable(c, strict)
	}
	for i, item := range p.q.From {
		p.q.From[i] = p.reduceJoin(item, strict)
	}
}

func (p *planner) reduceJoin(item analyze.FromItem, strict map[int]bool) analyze.FromItem {
	j, ok := item.(*analyze.Join)
	if !ok {
		return item
	}
	c := *j
	if c.Kind == analyze.JoinRight {
		c.Kind = analyze.JoinLeft
		c.Left, c.Right = c.Right, c.Left
	}
	left, right := anyIn(c.Left, strict), anyIn(c.Right, strict)
	switch {
	case c.Kind == analyze.JoinLeft && right, c.Kind == analyze.JoinFull && left && right:
		c.Kind = analyze.JoinInner
	case c.Kind == analyze.JoinFull && left:
		c.Kind = analyze.JoinLeft
	case c.Kind == analyze.JoinFull && right:
		c.Kind = analyze.JoinLeft
		c.Left, c.Right = c.Right, c.Left
	}
	below := strict
	if c.Kind == analyze.JoinInner || c.Kind == analyze.JoinSemi {
		below = make(map[int]bool, len(strict))
		for rt := range strict {
			below[rt] = true
		}
		for _, on := range conjuncts(nil, c.On) {
			p.nonNullable(on, below)
		}
	}
	leftStrict, rightStrict := below, below
	if c.Kind == analyze.JoinLeft || c.Kind == analyze.JoinAnti {
		rightStrict = make(map[int]bool)
		for _, on := range conjuncts(nil, c.On) {
			p.nonNullable(on, rightStrict)
		}
	}
	if c.Kind == analyze.JoinFull {
		leftStrict, rightStrict = nil, nil
	}
	c.Left, c.Right = p.reduceJoin(c.Left, leftStrict), p.reduceJoin(c.Right, rightStrict)
	return &c
}

// anyIn tells whether a member of set stands in item. One that an outer join inside of item may null-extend
// counts: it is not null only where item is not null-extended either.
func anyIn(item analyze.FromItem, set map[int]bool) bool {
	switch f := item.(type) {
	case *analyze.RangeRef:
		return set[f.RT]
	case *analyze.Join:
		if f.Kind == analyze.JoinSemi || f.Kind == analyze.JoinAnti {
			return anyIn(f.Left, set)
		}
		return anyIn(f.Left, set) || anyIn(f.Right, set)
	}
	return false
}

// nonNullable adds to set the entries whose null-extended rows condition c never accepts.
func (p *planner) nonNullable(c analyze.Expr, set map[int]bool) {
	switch n := c.(type) {
	case *analyze.NullTest:
		if n.IsNot && !n.ArgIsRow {
			p.strictVars(n.Arg, set)
		}
	case *analyze.BooleanTest:
		if n.Kind == analyze.IsTrue || n.Kind == analyze.IsFalse || n.Kind == analyze.IsNotUnknown {
			p.strictVars(n.Arg, set)
		}
	case *analyze.BoolExpr:
		switch n.Op {
		case analyze.Not:
			p.strictVars(n.Args[0], set)
		case analyze.And:
			for _, a := range n.Args {
				p.nonNullable(a, set)
			}
		case analyze.Or:
			p.nonNullableOr(n.Args, set)
		}
	default:
		p.strictVars(c, set)
	}
}

// nonNullableOr adds what each arm of an OR adds.
func (p *planner) nonNullableOr(arms []analyze.Expr, set map[int]bool) {
	count := make(map[int]int)
	for _, a := range arms {
		one := make(map[int]bool)
		p.nonNullable(a, one)
		for rt := range one {
			count[rt]++
		}
	}
	for rt, n := range count {
		if n == len(arms) {
			set[rt] = true
		}
	}
}

// strictVars adds the entries of the Vars whose being null makes e null.
func (p *planner) strictVars(e analyze.Expr, set map[int]bool) {
	switch n := e.(type) {
	case *analyze.Var:
		if n.LevelsUp == 0 {
			set[n.RT] = true
		}
	case *analyze.OpExpr:
		if p.proc(n.Func).Strict {
			for _, a := range n.Args {
				p.strictVars(a, set)
			}
		}
	case *analyze.FuncExpr:
		if p.proc(n.Func).Strict && !n.RetSet {
			for _, a := range n.Args {
				p.strictVars(a, set)
			}
		}
	case *analyze.ScalarArrayOpExpr:
		if p.proc(n.Func).Strict {
			p.strictVars(n.Scalar, set)
		}
	case *analyze.RelabelType:
		p.strictVars(n.Arg, set)
	case *analyze.CollateExpr:
		p.strictVars(n.Arg, set)
	case *analyze.CoerceViaIO:
		p.strictVars(n.Arg, set)
	}
}
