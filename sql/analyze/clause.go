package analyze

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// transformWhere is a condition, or nil. Follows transformWhereClause.
func (s *state) transformWhere(n *pg_query.Node, k exprKind, construct string) Expr {
	if n == nil {
		return nil
	}
	return s.coerceToBoolean(s.transformExpr(n, k), construct)
}

// transformLimit follows transformLimitClause.
func (s *state) transformLimit(n *pg_query.Node, k exprKind, withTies bool) Expr {
	if n == nil {
		return nil
	}
	e := s.coerceToSpecific(s.transformExpr(n, k), types.Int8, -1, k.name())
	s.checkVarFree(e, k.name())
	if withTies && k == kindLimit && isNullConst(n) {
		raise(pgerr.New(pgerr.InvalidRowCountInLimitClause, "row count cannot be null in FETCH FIRST ... WITH TIES clause"))
	}
	return e
}

func (s *state) checkVarFree(e Expr, construct string) {
	if containsVars(e) {
		raise(s.err(locateVar(e, 0), pgerr.InvalidColumnReference, "argument of %s must not contain variables", construct))
	}
}

// locateVar is where the first column reference of a level stands, -1 if that is not known.
func locateVar(e Expr, level int) int {
	loc := -1
	WalkExpr(e, level, func(n Expr, depth int) bool {
		if v, ok := n.(*Var); ok && loc < 0 && v.LevelsUp == depth && v.Loc >= 0 {
			loc = v.Loc
		}
		return loc < 0
	})
	return loc
}

// targets is a target list that sorting and grouping may add to.
type targets struct {
	list []*TargetEntry
}

func newTargets(list []TargetEntry) *targets {
	t := &targets{}
	for i := range list {
		t.list = append(t.list, &list[i])
	}
	return t
}

func (t *targets) entries() []TargetEntry {
	out := make([]TargetEntry, len(t.list))
	for i, e := range t.list {
		out[i] = *e
	}
	return out
}

// assignRef gives an entry a number for other clauses to name it by.
func (t *targets) assignRef(e *TargetEntry) int {
	if e.Ref == 0 {
		for _, o := range t.list {
			e.Ref = max(e.Ref, o.Ref)
		}
		e.Ref++
	}
	return e.Ref
}

func (t *targets) byRef(ref int) *TargetEntry {
	for _, e := range t.list {
		if e.Ref == ref {
			return e
		}
	}
	return nil
}

// findTarget92 finds what an item of ORDER BY, GROUP BY or DISTINCT ON means: an output column by name or
// number, else an expression. Follows findTargetlistEntrySQL92.
func (s *state) findTarget92(n *pg_query.Node, t *targets, k exprKind) *TargetEntry {
	if c := n.GetColumnRef(); c != nil && len(c.Fields) == 1 && c.Fields[0].GetString_() != nil {
		name, loc := c.Fields[0].GetString_().Sval, int(c.Location)
		if k != kindGroupBy || s.columnNamedIn(name, true, loc) == nil {
			if e := s.targetNamed(name, t, k, loc); e != nil {
				s.checkTarget92(e, k)
				return e
			}
		}
	}
	if c := n.GetAConst(); c != nil {
		loc := int(c.Location)
		s.pinConst(c)
		pos, ok := intConst(c)
		if !ok {
			raise(s.err(loc, pgerr.SyntaxError, "non-integer constant in %s", k.name()))
		}
		i := 0
		for _, e := range t.list {
			if e.Junk {
				continue
			}
			if i++; i == pos {
				s.checkTarget92(e, k)
				return e
			}
		}
		raise(s.err(loc, pgerr.InvalidColumnReference, "%s position %d is not in select list", k.name(), pos))
	}
	return s.findTarget99(n, t, k)
}

func intConst(c *pg_query.A_Const) (int, bool) {
	if c.Isnull {
		return 0, false
	}
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		return int(v.Ival.GetIval()), true
	case nil:
		return 0, true
	}
	return 0, false
}

func (s *state) targetNamed(name string, t *targets, k exprKind, loc int) *TargetEntry {
	var result *TargetEntry
	for _, e := range t.list {
		if e.Junk || e.Name != name {
			continue
		}
		if result == nil {
			result = e
		} else if !s.equalExpr(result.Expr, e.Expr) {
			raise(s.err(loc, pgerr.AmbiguousColumn, "%s \"%s\" is ambiguous", k.name(), name))
		}
	}
	return result
}

// checkTarget92 rejects aggregates that GROUP BY would reach through an output column.
func (s *state) checkTarget92(e *TargetEntry, k exprKind) {
	if k != kindGroupBy {
		return
	}
	if s.hasAggs {
		if loc, ok := locateAgg(e.Expr, 0); ok {
			raise(s.err(loc, pgerr.GroupingError, "aggregate functions are not allowed in %s", k.name()))
		}
	}
	if s.hasWindows {
		if loc, ok := locateWindowFunc(e.Expr); ok {
			raise(s.err(loc, pgerr.WindowingError, "window functions are not allowed in %s", k.name()))
		}
	}
}

// findTarget99 finds the entry with the same expression or adds one. Follows findTargetlistEntrySQL99.
func (s *state) findTarget99(n *pg_query.Node, t *targets, k exprKind) *TargetEntry {
	e := s.transformExpr(n, k)
	for _, te := range t.list {
		if s.equalExpr(e, stripImplicit(te.Expr)) {
			return te
		}
	}
	te := &TargetEntry{Expr: e, Junk: true}
	t.list = append(t.list, te)
	return te
}

// stripImplicit takes casts that nobody wrote off the top of an expression.
func stripImplicit(e Expr) Expr {
	for {
		switch n := e.(type) {
		case *FuncExpr:
			if n.Format != ImplicitCast {
				return e
			}
			e = n.Args[0]
		case *RelabelType:
			if n.Format != ImplicitCast {
				return e
			}
			e = n.Arg
		case *CoerceViaIO:
			if n.Format != ImplicitCast {
				return e
			}
			e = n.Arg
		case *ArrayCoerceExpr:
			if n.Format != ImplicitCast {
				return e
			}
			e = n.Arg
		case *ConvertRowtypeExpr:
			if n.Format != ImplicitCast {
				return e
			}
			e = n.Arg
		case *CoerceToDomain:
			if n.Format != ImplicitCast {
				return e
			}
			e = n.Arg
		default:
			return e
		}
	}
}

// findTarget chooses between the two rules.
func (s *state) findTarget(n *pg_query.Node, t *targets, k exprKind, sql99 bool) *TargetEntry {
	if sql99 {
		return s.findTarget99(n, t, k)
	}
	return s.findTarget92(n, t, k)
}

// transformSort follows transformSortClause.
func (s *state) transformSort(list []*pg_query.Node, t *targets, k exprKind, sql99 bool) []SortClause {
	var out []SortClause
	for _, n := range list {
		by := n.GetSortBy()
		out = s.addSort(s.findTarget(by.Node, t, k, sql99), out, t, by)
	}
	return out
}

// inSortList tells whether an entry is sorted on, in the direction of op if that is not 0.
func (s *state) inSortList(e *TargetEntry, op types.OID, list []SortClause) bool {
	if e.Ref == 0 {
		return false
	}
	for _, c := range list {
		if c.Ref == e.Ref && (op == 0 || op == c.SortOp || c.SortOp != 0 && op == s.operator(c.SortOp).Commutator) {
			return true
		}
	}
	return false
}

func (s *state) knownType(e *TargetEntry) types.OID {
	if e.Expr.Type() == types.Unknown {
		e.Expr = s.coerceType(e.Expr, types.Text, -1, coerceImplicit, ImplicitCast, -1)
	}
	return e.Expr.Type()
}

// addSort follows addTargetToSortList.
func (s *state) addSort(e *TargetEntry, list []SortClause, t *targets, by *pg_query.SortBy) []SortClause {
	typ := s.knownType(e)
	loc := int(by.Location)
	if loc < 0 {
		loc = rawLocation(by.Node)
	}
	c := SortClause{}
	switch by.SortbyDir {
	case pg_query.SortByDir_SORTBY_USING:
		op := s.usingOperator(operatorNames(by.UseOp), typ, loc)
		c.SortOp = op
		if c.EqOp, c.Desc = s.equalityForOrdering(op); c.EqOp == 0 {
			raise(s.err(loc, pgerr.WrongObjectType, "operator %s is not a valid ordering operator", nameStrings(by.UseOp)[len(by.UseOp)-1]).
				WithHint("Ordering operators must be \"<\" or \">\" members of btree operator families."))
		}
		c.Hashable = s.opHashable(c.EqOp, typ)
	default:
		o := s.sortGroupOperators(typ, true, true, loc)
		c.Desc = by.SortbyDir == pg_query.SortByDir_SORTBY_DESC
		c.SortOp, c.EqOp, c.Hashable = o.lt, o.eq, o.hashable
		if c.Desc {
			c.SortOp = o.gt
		}
	}
	if s.inSortList(e, c.SortOp, list) {
		return list
	}
	c.Ref = t.assignRef(e)
	switch by.SortbyNulls {
	case pg_query.SortByNulls_SORTBY_NULLS_FIRST:
		c.NullsFirst = true
	case pg_query.SortByNulls_SORTBY_NULLS_LAST:
	default:
		c.NullsFirst = c.Desc
	}
	return append(list, c)
}

func (s *state) usingOperator(names []string, typ types.OID, loc int) types.OID {
	defer s.locate(loc)
	return s.compatibleOperator(names, typ, typ, false, -1).OID
}

// addGroup follows addTargetToGroupList.
func (s *state) addGroup(e *TargetEntry, list []SortClause, t *targets, loc int) []SortClause {
	typ := s.knownType(e)
	if s.inSortList(e, 0, list) {
		return list
	}
	o := s.sortGroupOperators(typ, false, true, loc)
	return append(list, SortClause{Ref: t.assignRef(e), EqOp: o.eq, SortOp: o.lt, Hashable: o.hashable})
}

// transformDistinct makes the clause of SELECT DISTINCT or of an aggregate with DISTINCT. Follows transformDistinctClause.
func (s *state) transformDistinctClause(t *targets, order []SortClause, agg bool) []SortClause {
	var out []SortClause
	for _, c := range order {
		e := t.byRef(c.Ref)
		if e.Junk {
			text := "for SELECT DISTINCT, ORDER BY expressions must appear in select list"
			if agg {
				text = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"
			}
			raise(s.err(location(e.Expr), pgerr.InvalidColumnReference, "%s", text))
		}
		out = append(out, c)
	}
	for _, e := range t.list {
		if !e.Junk {
			out = s.addGroup(e, out, t, location(e.Expr))
		}
	}
	if len(out) == 0 {
		if agg {
			raise(pgerr.New(pgerr.SyntaxError, "an aggregate with DISTINCT must have at least one argument"))
		}
		raise(pgerr.New(pgerr.SyntaxError, "SELECT DISTINCT must have at least one column"))
	}
	return out
}

// transformDistinctOn follows transformDistinctOnClause.
func (s *state) transformDistinctOn(list []*pg_query.Node, t *targets, order []SortClause) []SortClause {
	refs := make([]int, len(list))
	for i, n := range list {
		refs[i] = t.assignRef(s.findTarget92(n, t, kindDistinctOn))
	}
	mismatch := func(loc int) {
		raise(s.err(loc, pgerr.InvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions"))
	}
	var out []SortClause
	skipped := false
	for _, c := range order {
		i := slices.Index(refs, c.Ref)
		if i < 0 {
			skipped = true
			continue
		}
		if skipped {
			mismatch(rawLocation(list[i]))
		}
		out = append(out, c)
	}
	for i, n := range list {
		e := t.byRef(refs[i])
		if s.inSortList(e, 0, out) {
			continue
		}
		if skipped {
			mismatch(rawLocation(n))
		}
		out = s.addGroup(e, out, t, rawLocation(n))
	}
	return out
}
