package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// transformTargets analyzes the list of SELECT or RETURNING. Follows transformTargetList.
func (s *state) transformTargets(list []*pg_query.Node, k exprKind) []TargetEntry {
	out := make([]TargetEntry, 0, len(list))
	for _, n := range list {
		r := n.GetResTarget()
		if star, ok := s.expandStar(r.Val, k); ok {
			for _, x := range star {
				out = append(out, TargetEntry{Expr: x.expr, Name: x.name})
			}
			continue
		}
		out = append(out, s.transformTarget(r.Val, k, r.Name))
	}
	if len(out) > maxTargets {
		raise(pgerr.New(pgerr.TooManyColumns, "target lists can have at most %d entries", maxTargets))
	}
	return out
}

// transformTarget follows transformTargetEntry.
func (s *state) transformTarget(n *pg_query.Node, k exprKind, name string) TargetEntry {
	e := s.transformExpr(n, k)
	if name == "" {
		name = s.colname(n)
	}
	return TargetEntry{Expr: e, Name: name}
}

// expandStar gives the columns of x.*, false if n is not that.
func (s *state) expandStar(n *pg_query.Node, k exprKind) ([]expanded, bool) {
	if c := n.GetColumnRef(); c != nil && c.Fields[len(c.Fields)-1].GetAStar() != nil {
		return s.expandColumnStar(c), true
	}
	if ind := n.GetAIndirection(); ind != nil && ind.Indirection[len(ind.Indirection)-1].GetAStar() != nil {
		inner := &pg_query.A_Indirection{Arg: ind.Arg, Indirection: ind.Indirection[:len(ind.Indirection)-1]}
		var e Expr
		s.withKind(k, func() { e = s.transformIndirection(inner) })
		return s.expandRow(e), true
	}
	return nil, false
}

// expandColumnStar follows ExpandColumnRefStar.
func (s *state) expandColumnStar(c *pg_query.ColumnRef) []expanded {
	loc := int(c.Location)
	names := nameStrings(c.Fields)
	if len(names) == 1 {
		return s.expandAll(loc)
	}
	names = names[:len(names)-1]
	if len(names) > 3 {
		raise(s.err(loc, pgerr.SyntaxError, "improper qualified name (too many dotted names): %s", joinNames(nameStrings(c.Fields))))
	}
	if len(names) == 3 {
		if names[0] != s.Database {
			raise(s.err(loc, pgerr.FeatureNotSupported, "cross-database references are not implemented: %s", joinNames(nameStrings(c.Fields))))
		}
		names = names[1:]
	}
	schema, rel := "", names[len(names)-1]
	if len(names) == 2 {
		schema = names[0]
	}
	if e := s.hookColumn(nameStrings(c.Fields), true, loc); e != nil {
		return s.expandRow(e)
	}
	it, level := s.itemNamed(schema, rel, loc)
	if it == nil {
		if e := s.hookColumn(nameStrings(c.Fields), false, loc); e != nil {
			return s.expandRow(e)
		}
		s.missingTable(schema, rel, loc)
	}
	return s.expandNoted(it, level, loc)
}

// expandNoted is expand for a * on one item.
func (s *state) expandNoted(it *nsItem, level, loc int) []expanded {
	if it.rte.Relation != nil || it.rte.View != nil {
		it.rte.Required |= aclSelect
	}
	return s.expand(it, level, loc)
}

func (s *state) expandAll(loc int) []expanded {
	var out []expanded
	found := false
	for _, it := range s.namespace {
		if !it.colsVisible {
			continue
		}
		found = true
		out = append(out, s.expandNoted(it, 0, loc)...)
	}
	if !found {
		raise(s.err(loc, pgerr.SyntaxError, "SELECT * with no tables specified is not valid"))
	}
	return out
}

// expandRow gives the fields of a composite value. Follows ExpandRowReference.
func (s *state) expandRow(e Expr) []expanded {
	if v, ok := e.(*Var); ok && v.Attno == 0 {
		if it := s.levelsUp(v.LevelsUp).itemOf(v.RT); it != nil {
			return s.expandNoted(it, v.LevelsUp, v.Loc)
		}
	}
	cols, ok := s.rowColumns(e)
	if !ok {
		if s.isRowType(e.Type()) {
			raise(pgerr.New(pgerr.WrongObjectType, "record type has not been registered"))
		}
		raise(s.err(location(e), pgerr.WrongObjectType, "type %s is not composite", s.formatType(e.Type())))
	}
	var out []expanded
	for i, c := range cols {
		if c.Dropped {
			continue
		}
		f := &FieldSelect{Typed: NewTyped(c.Type, c.Typmod, c.Collation, -1), Arg: cloneExpr(e), Attno: i + 1, Name: c.Name}
		out = append(out, expanded{name: c.Name, expr: f})
	}
	return out
}

// transformExprList analyzes the items of ROW or VALUES, x.* expanded. Follows transformExpressionList.
func (s *state) transformExprList(list []*pg_query.Node, k exprKind, allowDefault bool) []Expr {
	out := make([]Expr, 0, len(list))
	for _, n := range list {
		if star, ok := s.expandStar(n, k); ok {
			for _, x := range star {
				out = append(out, x.expr)
			}
			continue
		}
		if d := n.GetSetToDefault(); d != nil && allowDefault {
			out = append(out, &SetToDefault{Typed: NewTyped(types.Unknown, -1, 0, int(d.Location))})
			continue
		}
		out = append(out, s.transformExpr(n, k))
	}
	return out
}

// colname is the name of an output column that was given none.
func (s *state) colname(n *pg_query.Node) string {
	name, _ := s.analysis.figure(n)
	if name == "" {
		return "?column?"
	}
	return name
}

// figureColname is colname where sub-selects do not matter.
func figureColname(n *pg_query.Node) string {
	name, _ := (*analysis)(nil).figure(n)
	if name == "" {
		return "?column?"
	}
	return name
}

// figure follows FigureColnameInternal: strength 2 is a good name, 1 a second-best.
func (a *analysis) figure(n *pg_query.Node) (name string, strength int) {
	if n == nil {
		return "", 0
	}
	switch v := n.Node.(type) {
	case *pg_query.Node_ColumnRef:
		return lastName(v.ColumnRef.Fields)
	case *pg_query.Node_AIndirection:
		if name, k := lastName(v.AIndirection.Indirection); k > 0 {
			return name, k
		}
		return a.figure(v.AIndirection.Arg)
	case *pg_query.Node_FuncCall:
		return lastName(v.FuncCall.Funcname)
	case *pg_query.Node_AExpr:
		if v.AExpr.Kind == pg_query.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", 2
		}
	case *pg_query.Node_TypeCast:
		if name, k := a.figure(v.TypeCast.Arg); k > 1 {
			return name, k
		}
		name, _ := lastName(v.TypeCast.TypeName.GetNames())
		return name, 1
	case *pg_query.Node_CollateClause:
		return a.figure(v.CollateClause.Arg)
	case *pg_query.Node_GroupingFunc:
		return "grouping", 2
	case *pg_query.Node_SubLink:
		return a.figureSubLink(v.SubLink)
	case *pg_query.Node_CaseExpr:
		if name, k := a.figure(v.CaseExpr.Defresult); k > 1 {
			return name, k
		}
		return "case", 1
	case *pg_query.Node_AArrayExpr:
		return "array", 2
	case *pg_query.Node_RowExpr:
		return "row", 2
	case *pg_query.Node_CoalesceExpr:
		return "coalesce", 2
	case *pg_query.Node_MinMaxExpr:
		if v.MinMaxExpr.Op == pg_query.MinMaxOp_IS_GREATEST {
			return "greatest", 2
		}
		return "least", 2
	case *pg_query.Node_SqlvalueFunction:
		return sqlValueNames[sqlValues[v.SqlvalueFunction.Op].kind], 2
	}
	return "", 0
}

var sqlValueNames = [...]string{
	CurrentDate: "current_date", CurrentTime: "current_time", CurrentTimestamp: "current_timestamp",
	LocalTime: "localtime", LocalTimestamp: "localtimestamp", CurrentUser: "current_user", SessionUser: "session_user",
	CurrentCatalog: "current_catalog", CurrentSchema: "current_schema", CurrentRole: "current_role", UserKeyword: "user",
}

func lastName(nodes []*pg_query.Node) (string, int) {
	for i := len(nodes) - 1; i >= 0; i-- {
		if str := nodes[i].GetString_(); str != nil {
			return str.Sval, 2
		}
	}
	return "", 0
}

func (a *analysis) figureSubLink(l *pg_query.SubLink) (string, int) {
	switch l.SubLinkType {
	case pg_query.SubLinkType_EXISTS_SUBLINK:
		return "exists", 2
	case pg_query.SubLinkType_ARRAY_SUBLINK:
		return "array", 2
	case pg_query.SubLinkType_EXPR_SUBLINK:
		if a == nil {
			return "", 0
		}
		if q := a.subQueries[l]; q != nil && len(q.Targets) > 0 && q.Targets[0].Name != "" {
			return q.Targets[0].Name, 2
		}
	}
	return "", 0
}

// resolveUnknownTargets makes text of literals that nothing gave a type.
func (s *state) resolveUnknownTargets(targets []TargetEntry) {
	for i := range targets {
		if e := targets[i].Expr; e.Type() == types.Unknown {
			targets[i].Expr = s.coerceType(e, types.Text, -1, coerceImplicit, ImplicitCast, -1)
		}
	}
}

// markOrigins tells which table columns the targets show. Follows markTargetListOrigins.
func (s *state) markOrigins(targets []TargetEntry) {
	for i := range targets {
		if v, ok := targets[i].Expr.(*Var); ok {
			targets[i].OrigTable, targets[i].OrigAttno = s.origin(v)
		}
	}
}

func (s *state) origin(v *Var) (types.OID, int) {
	st := s.levelsUp(v.LevelsUp)
	if v.RT < 0 || v.RT >= len(st.rtable) || v.Attno == 0 && st.rtable[v.RT].Kind != RTERelation {
		return 0, 0
	}
	rte := st.rtable[v.RT]
	switch rte.Kind {
	case RTERelation:
		return rte.Relation.OID, v.Attno
	case RTESubquery:
		if rte.View != nil {
			return rte.View.OID, v.Attno
		}
		if t := visibleTargets(rte.Subquery); v.Attno <= len(t) {
			return t[v.Attno-1].OrigTable, t[v.Attno-1].OrigAttno
		}
	case RTECTE:
		if rte.SelfReference {
			return 0, 0
		}
		if c, _ := st.findCTE(rte.CTEName); c != nil && c.Query != nil {
			if t := visibleTargets(c.Query); v.Attno <= len(t) {
				return t[v.Attno-1].OrigTable, t[v.Attno-1].OrigAttno
			}
		}
	}
	return 0, 0
}
