package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// lockingClauses are the FOR UPDATE and its kin of a SELECT.
func lockingClauses(list []*pg_query.Node) []*pg_query.LockingClause {
	out := make([]*pg_query.LockingClause, len(list))
	for i, n := range list {
		out[i] = n.GetLockingClause()
	}
	return out
}

// transformSelect follows transformSelectStmt.
func (s *state) transformSelect(sel *pg_query.SelectStmt) *Query {
	q := &Query{Command: Select, Result: -1}
	s.withClause(sel.WithClause, q)
	if sel.IntoClause != nil {
		raise(s.err(int(sel.IntoClause.GetRel().GetLocation()), pgerr.SyntaxError, "SELECT ... INTO is not allowed here"))
	}
	s.lockingRel = lockingClauses(sel.LockingClause)
	for _, n := range sel.WindowClause {
		s.windows = append(s.windows, n.GetWindowDef())
	}
	q.From = s.transformFrom(sel.FromClause)
	list := s.transformTargets(sel.TargetList, kindSelectTarget)
	s.markOrigins(list)
	q.Where = s.transformWhere(sel.WhereClause, kindWhere, "WHERE")
	q.Having = s.transformWhere(sel.HavingClause, kindHaving, "HAVING")
	t := newTargets(list)
	q.OrderBy = s.transformSort(sel.SortClause, t, kindOrderBy, false)
	q.Group, q.Grouping = s.transformGroup(sel.GroupClause, t, q.OrderBy, kindGroupBy, false)
	q.GroupDistinct = sel.GroupDistinct
	switch {
	case len(sel.DistinctClause) == 0:
	case sel.DistinctClause[0].GetNode() == nil:
		q.Distinct = s.transformDistinctClause(t, q.OrderBy, false)
	default:
		q.Distinct = s.transformDistinctOn(sel.DistinctClause, t, q.OrderBy)
		q.DistinctOn = true
	}
	s.limits(q, sel)
	q.Windows = s.transformWindows(t)
	q.Targets = t.entries()
	if s.resolveUnknowns {
		s.resolveUnknownTargets(q.Targets)
	}
	s.finish(q)
	for _, l := range s.lockingRel {
		s.transformLocking(q, l, false)
	}
	s.assignQueryCollations(q)
	if s.hasAggs || len(q.Group) > 0 || len(q.Grouping) > 0 || q.Having != nil {
		s.checkAggregates(q)
	}
	return q
}

func (s *state) limits(q *Query, sel *pg_query.SelectStmt) {
	q.WithTies = sel.LimitOption == pg_query.LimitOption_LIMIT_OPTION_WITH_TIES
	q.Offset = s.transformLimit(sel.LimitOffset, kindOffset, q.WithTies)
	q.Limit = s.transformLimit(sel.LimitCount, kindLimit, q.WithTies)
}

// transformValues follows transformValuesClause.
func (s *state) transformValues(sel *pg_query.SelectStmt) *Query {
	q := &Query{Command: Select, Result: -1}
	s.withClause(sel.WithClause, q)
	rows := make([][]Expr, len(sel.ValuesLists))
	for i, n := range sel.ValuesLists {
		rows[i] = s.transformExprList(n.GetList().Items, kindValues, false)
		if len(rows[i]) != len(rows[0]) {
			raise(s.err(firstLocation(rows[i]), pgerr.SyntaxError, "VALUES lists must all be the same length"))
		}
	}
	colls := make([]types.OID, len(rows[0]))
	mods := make([]int32, len(rows[0]))
	column := make([]Expr, len(rows))
	for c := range rows[0] {
		for r := range rows {
			column[r] = rows[r][c]
		}
		typ, _ := s.commonType(column, "VALUES")
		for r := range rows {
			rows[r][c] = s.coerceToCommon(rows[r][c], typ, "VALUES")
			column[r] = rows[r][c]
		}
		mods[c] = commonTypmod(column, typ)
		colls[c] = s.commonCollation(column, true)
	}
	rte := s.valuesEntry(rows, nil, false)
	for c := range rte.Columns {
		rte.Columns[c].Collation, rte.Columns[c].Typmod = colls[c], mods[c]
	}
	it := s.add(rte)
	s.namespace = append(s.namespace, it)
	q.From = []FromItem{&RangeRef{RT: it.rt}}
	var list []TargetEntry
	for _, x := range s.expand(it, 0, -1) {
		list = append(list, TargetEntry{Expr: x.expr, Name: x.name})
	}
	t := newTargets(list)
	q.OrderBy = s.transformSort(sel.SortClause, t, kindOrderBy, false)
	s.limits(q, sel)
	if len(sel.LockingClause) > 0 {
		raise(s.err(-1, pgerr.FeatureNotSupported, "%s cannot be applied to VALUES", lockName(sel.LockingClause[0].GetLockingClause().Strength)))
	}
	q.Targets = t.entries()
	s.finish(q)
	s.assignQueryCollations(q)
	return q
}

func lockName(l pg_query.LockClauseStrength) string {
	switch l {
	case pg_query.LockClauseStrength_LCS_FORKEYSHARE:
		return "FOR KEY SHARE"
	case pg_query.LockClauseStrength_LCS_FORSHARE:
		return "FOR SHARE"
	case pg_query.LockClauseStrength_LCS_FORNOKEYUPDATE:
		return "FOR NO KEY UPDATE"
	}
	return "FOR UPDATE"
}

func (s *state) noSetOpLocking(list []*pg_query.Node) {
	if len(list) > 0 {
		raise(s.err(-1, pgerr.FeatureNotSupported, "%s is not allowed with UNION/INTERSECT/EXCEPT",
			lockName(list[0].GetLockingClause().Strength)))
	}
}

// transformSetOperation follows transformSetOperationStmt.
func (s *state) transformSetOperation(sel *pg_query.SelectStmt) *Query {
	q := &Query{Command: Select, Result: -1}
	leftmost := sel.Larg
	for leftmost != nil && leftmost.Op != pg_query.SetOperation_SETOP_NONE {
		leftmost = leftmost.Larg
	}
	if leftmost.GetIntoClause() != nil {
		raise(s.err(int(leftmost.IntoClause.GetRel().GetLocation()), pgerr.SyntaxError, "SELECT ... INTO is not allowed here"))
	}
	s.noSetOpLocking(sel.LockingClause)
	s.withClause(sel.WithClause, q)
	op, cols := s.setOpNode(sel, true)
	q.SetOp = op
	// The top node, unlike the others, leaves ORDER BY, LIMIT and WITH to the query.
	locs := make([]int, len(cols))
	for leaf := op; ; leaf = leaf.Left {
		if leaf.Query != nil {
			for i, t := range visibleTargets(leaf.Query) {
				cols[i].name, locs[i] = t.Name, location(t.Expr)
			}
			break
		}
	}
	join := &nsItem{colsVisible: true, lateralOK: true, rte: &RangeTableEntry{Kind: RTEJoin}, rt: -1}
	var list []TargetEntry
	for i, c := range cols {
		v := &Var{
			Typed: NewTyped(c.expr.Type(), c.expr.Typmod(), c.expr.Collation(), locs[i]), RT: -1, Attno: i + 1,
			SynRT: -1, SynAttno: i + 1,
		}
		op.Columns[i].Name = c.name
		list = append(list, TargetEntry{Expr: v, Name: c.name})
		join.cols = append(join.cols, nsColumn{
			name: c.name, rt: -1, attno: i + 1, typ: v.Typ, typmod: v.Mod, coll: v.Coll, synRT: -1, synAttno: i + 1,
		})
	}
	saved := s.namespace
	s.namespace = []*nsItem{join}
	t := newTargets(list)
	q.OrderBy = s.transformSort(sel.SortClause, t, kindOrderBy, false)
	s.namespace = saved
	if len(t.list) != len(list) {
		raise(s.err(location(t.list[len(list)].Expr), pgerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
			WithDetail("Only result column names can be used, not expressions or functions.").
			WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause."))
	}
	s.limits(q, sel)
	q.Targets = t.entries()
	s.finish(q)
	s.assignQueryCollations(q)
	return q
}

// setColumn is an output column of a set operation's arm; set puts another expression into a leaf.
type setColumn struct {
	name string
	expr Expr
	set  func(Expr)
}

// setOpTree follows transformSetOperationTree for everything but the top node.
func (s *state) setOpTree(sel *pg_query.SelectStmt) (*SetOp, []setColumn) {
	if sel.IntoClause != nil {
		raise(s.err(int(sel.IntoClause.GetRel().GetLocation()), pgerr.SyntaxError, "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT"))
	}
	s.noSetOpLocking(sel.LockingClause)
	if sel.Op != pg_query.SetOperation_SETOP_NONE && len(sel.SortClause) == 0 && sel.LimitOffset == nil && sel.LimitCount == nil && sel.WithClause == nil {
		return s.setOpNode(sel, false)
	}
	q := s.analyzeSub(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}, nil, false, false)
	leaf := &SetOp{Query: q, Columns: queryColumns(q)}
	var cols []setColumn
	n := 0
	for i := range q.Targets {
		t := &q.Targets[i]
		if t.Junk {
			continue
		}
		at := n
		n++
		cols = append(cols, setColumn{name: t.Name, expr: t.Expr, set: func(e Expr) {
			t.Expr = e
			leaf.Columns[at].Type, leaf.Columns[at].Typmod, leaf.Columns[at].Collation = e.Type(), e.Typmod(), e.Collation()
		}})
	}
	return leaf, cols
}

// setOpNode is an inner node with both arms.
func (s *state) setOpNode(sel *pg_query.SelectStmt, top bool) (*SetOp, []setColumn) {
	op := &SetOp{All: sel.All}
	name := "UNION"
	switch sel.Op {
	case pg_query.SetOperation_SETOP_INTERSECT:
		op.Kind, name = Intersect, "INTERSECT"
	case pg_query.SetOperation_SETOP_EXCEPT:
		op.Kind, name = Except, "EXCEPT"
	}
	recursive := s.parentCTE != nil && s.parentCTE.Recursive
	var left, right []setColumn
	op.Left, left = s.setOpTree(sel.Larg)
	if top && recursive {
		s.recursiveColumns(op.Left, left)
	}
	op.Right, right = s.setOpTree(sel.Rarg)
	if len(left) != len(right) {
		loc := -1
		for _, c := range right {
			if loc < 0 {
				loc = location(c.expr)
			}
		}
		raise(s.err(loc, pgerr.SyntaxError, "each %s query must have the same number of columns", name))
	}
	cols := make([]setColumn, len(left))
	for i := range left {
		cols[i] = s.setOpColumn(op, name, left[i], right[i], recursive)
	}
	op.LeftCasts, op.RightCasts = s.setOpCasts(op.Left, op.Columns), s.setOpCasts(op.Right, op.Columns)
	return op, cols
}

// setOpColumn settles the type, modifier and collation of one column.
func (s *state) setOpColumn(op *SetOp, name string, l, r setColumn, recursive bool) setColumn {
	typ, best := s.commonType([]Expr{l.expr, r.expr}, name)
	loc := location(best)
	fit := func(c setColumn) Expr {
		if c.expr.Type() != types.Unknown {
			return s.coerceToCommon(c.expr, typ, name)
		}
		switch c.expr.(type) {
		case *Const, *Param:
			e := s.coerceToCommon(c.expr, typ, name)
			if c.set != nil {
				c.set(e)
			}
			return e
		}
		return c.expr
	}
	pair := []Expr{fit(l), fit(r)}
	col := RTEColumn{Name: l.name, Type: typ, Typmod: commonTypmod(pair, typ)}
	unionAll := op.Kind == Union && op.All
	col.Collation = s.commonCollation(pair, unionAll)
	op.Columns = append(op.Columns, col)
	if !unionAll {
		o := s.sortGroupOperators(typ, false, true, loc)
		hashable := o.hashable || recursive && (typ == types.Record || typ == types.RecordArray)
		op.Group = append(op.Group, SortClause{Ref: len(op.Columns), EqOp: o.eq, SortOp: o.lt, Hashable: hashable})
	}
	return setColumn{name: l.name, expr: &SetToDefault{Typed: NewTyped(typ, col.Typmod, col.Collation, loc)}}
}

// setOpCasts are the conversions of an arm's columns to those of the operation, nil if none is needed.
func (s *state) setOpCasts(arm *SetOp, cols []RTEColumn) []Expr {
	var out []Expr
	for i, c := range arm.Columns {
		if c.Type == cols[i].Type {
			continue
		}
		if out == nil {
			out = make([]Expr, len(cols))
		}
		in := &SubColumn{Typed: NewTyped(c.Type, c.Typmod, c.Collation, -1), Number: i}
		if c.Type == types.Unknown {
			out[i] = &CoerceViaIO{Typed: NewTyped(cols[i].Type, -1, cols[i].Collation, -1), Arg: in, Format: ImplicitCast}
			continue
		}
		out[i] = s.coerceType(in, cols[i].Type, -1, coerceImplicit, ImplicitCast, -1)
		s.assignCollations(out[i])
	}
	return out
}

// recursiveColumns gives a recursive WITH query the columns of its non-recursive term. Follows determineRecursiveColTypes.
func (s *state) recursiveColumns(left *SetOp, cols []setColumn) {
	names := left
	for names.Query == nil {
		names = names.Left
	}
	targets := visibleTargets(names.Query)
	out := make([]RTEColumn, len(cols))
	for i, c := range cols {
		out[i] = RTEColumn{Name: targets[i].Name, Type: c.expr.Type(), Typmod: c.expr.Typmod(), Collation: c.expr.Collation()}
	}
	s.setCTEColumns(s.parentCTE, out)
}
