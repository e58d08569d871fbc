package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// transformUpdate follows transformUpdateStmt.
func (s *state) transformUpdate(u *pg_query.UpdateStmt) *Query {
	q := &Query{Command: Update}
	s.withClause(u.WithClause, q)
	q.Result = s.setTarget(u.Relation, Update, aclUpdate)
	s.withTarget(q, u.FromClause)
	q.Where = s.transformWhere(u.WhereClause, kindWhere, "WHERE")
	q.Returning = s.transformReturning(u.ReturningList)
	q.Targets = s.updateTargets(u.TargetList)
	s.completeTargets(q)
	s.finish(q)
	s.assignQueryCollations(q)
	return q
}

// transformDelete follows transformDeleteStmt.
func (s *state) transformDelete(d *pg_query.DeleteStmt) *Query {
	q := &Query{Command: Delete}
	s.withClause(d.WithClause, q)
	q.Result = s.setTarget(d.Relation, Delete, aclDelete)
	s.withTarget(q, d.UsingClause)
	q.Where = s.transformWhere(d.WhereClause, kindWhere, "WHERE")
	q.Returning = s.transformReturning(d.ReturningList)
	s.finish(q)
	s.assignQueryCollations(q)
	return q
}

// withTarget joins the target with FROM, whose items see it only when all are there.
func (s *state) withTarget(q *Query, from []*pg_query.Node) {
	t := s.target
	s.namespace = append(s.namespace, t)
	t.lateralOnly, t.lateralOK = true, false
	items := s.transformFrom(from)
	t.lateralOnly, t.lateralOK = false, true
	q.From = append([]FromItem{&RangeRef{RT: t.rt}}, items...)
}

// updateTargets follows transformUpdateTargetList.
func (s *state) updateTargets(list []*pg_query.Node) []TargetEntry {
	var multi *multiSource
	out := make([]TargetEntry, 0, len(list))
	type pending struct {
		res  *pg_query.ResTarget
		expr Expr
	}
	var items []pending
	for _, n := range list {
		r := n.GetResTarget()
		var e Expr
		if m := r.Val.GetMultiAssignRef(); m != nil {
			if m.Colno == 1 {
				multi = s.multiAssign(m)
			}
			e = multi.column(int(m.Colno) - 1)
		} else if d := r.Val.GetSetToDefault(); d != nil {
			e = &SetToDefault{Typed: NewTyped(types.Unknown, -1, 0, int(d.Location))}
		} else {
			e = s.transformExpr(r.Val, kindUpdateSource)
		}
		items = append(items, pending{r, e})
	}
	rte := s.target.rte
	for _, it := range items {
		r := it.res
		loc := int(r.Location)
		attno := s.targetColumn(r.Name, loc)
		e := s.assigned(it.expr, kindUpdateTarget, r.Name, attno, r.Indirection, loc)
		out = append(out, TargetEntry{Expr: e, Name: r.Name, Attno: attno})
		rte.UpdateCols = addColumn(rte.UpdateCols, attno)
	}
	return s.mergeAssignments(out)
}

// multiSource is the right side of SET (a, b) = ....
type multiSource struct {
	row  []Expr
	link *SubLink
}

func (m *multiSource) column(i int) Expr {
	if m.link == nil {
		return m.row[i]
	}
	c := visibleTargets(m.link.Query)[0].Expr.(*RowExpr).Args[i]
	return &FieldSelect{
		Typed: NewTyped(c.Type(), c.Typmod(), c.Collation(), -1), Arg: m.link, Attno: i + 1, Name: rowName(nil, i),
	}
}

// multiAssign follows transformMultiAssignRef. Of a sub-select it makes one that yields a record.
func (s *state) multiAssign(m *pg_query.MultiAssignRef) *multiSource {
	mismatch := func(loc int) {
		raise(s.err(loc, pgerr.SyntaxError, "number of columns does not match number of values"))
	}
	if row := m.Source.GetRowExpr(); row != nil {
		args := s.transformExprList(row.Args, kindUpdateSource, true)
		if len(args) != int(m.Ncolumns) {
			mismatch(int(row.Location))
		}
		return &multiSource{row: args}
	}
	l := m.Source.GetSubLink()
	if l == nil || l.SubLinkType != pg_query.SubLinkType_EXPR_SUBLINK {
		raise(s.err(rawLocation(m.Source), pgerr.FeatureNotSupported,
			"source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression"))
	}
	loc := int(l.Location)
	var inner *Query
	s.withKind(kindUpdateSource, func() { inner = s.subSelect(l.Subselect, loc) })
	cols := visibleTargets(inner)
	if len(cols) != int(m.Ncolumns) {
		mismatch(loc)
	}
	return &multiSource{link: s.recordSubLink(inner, cols, loc)}
}

// recordSubLink is (SELECT ROW(x.a, x.b) FROM (inner) x).
func (s *state) recordSubLink(inner *Query, cols []TargetEntry, loc int) *SubLink {
	WalkQuery(inner, 0, func(e Expr, depth int) bool {
		shiftLevels(e, 1, depth+1)
		return true
	})
	shiftCTELevels(inner, 0)
	rte := &RangeTableEntry{Kind: RTESubquery, Subquery: inner, Alias: "unnamed_subquery", InFrom: true, Columns: queryColumns(inner)}
	row := &RowExpr{Typed: NewTyped(types.Record, -1, 0, loc), Format: ImplicitCast}
	for i, c := range rte.Columns {
		row.Args = append(row.Args, &Var{
			Typed: NewTyped(c.Type, c.Typmod, c.Collation, location(cols[i].Expr)), RT: 0, Attno: i + 1, SynRT: 0, SynAttno: i + 1,
		})
		row.Names = append(row.Names, rowName(nil, i))
	}
	q := &Query{
		Command: Select, Result: -1, RTable: []*RangeTableEntry{rte}, From: []FromItem{&RangeRef{RT: 0}},
		Targets: []TargetEntry{{Expr: row, Name: "row"}},
	}
	return &SubLink{Typed: NewTyped(types.Record, -1, 0, loc), Kind: SubLinkExpr, Query: q}
}

// shiftCTELevels makes references to WITH queries outside q, which is depth queries down, count one more level.
func shiftCTELevels(q *Query, depth int) {
	for _, r := range q.RTable {
		if r.Kind == RTECTE && r.CTELevelsUp > depth {
			r.CTELevelsUp++
		}
	}
	VisitQuery(q, func(p *Expr) {
		WalkExpr(*p, 0, func(e Expr, _ int) bool {
			if sub, ok := e.(*SubLink); ok {
				shiftCTELevels(sub.Query, depth+1)
				return false
			}
			return true
		})
	}, func(sub *Query) { shiftCTELevels(sub, depth+1) })
}

// mergeAssignments makes one of several assignments to parts of a column. Follows process_matched_tle.
func (s *state) mergeAssignments(list []TargetEntry) []TargetEntry {
	var out []TargetEntry
next:
	for _, t := range list {
		for i := range out {
			if out[i].Attno != t.Attno {
				continue
			}
			merged := nestAssignment(out[i].Expr, t.Expr)
			if merged == nil {
				raise(pgerr.New(pgerr.SyntaxError, "multiple assignments to same column \"%s\"", t.Name))
			}
			out[i].Expr = merged
			continue next
		}
		out = append(out, t)
	}
	return out
}

// nestAssignment puts first in place of the column's old value in second, nil unless both assign to parts.
func nestAssignment(first, second Expr) Expr {
	domain, wrapped := second.(*CoerceToDomain)
	if wrapped {
		second = domain.Arg
		if d, ok := first.(*CoerceToDomain); ok {
			first = d.Arg
		}
	}
	if assignmentInput(first) == nil {
		return nil
	}
	var merged Expr
	switch n := second.(type) {
	case *FieldStore:
		c := *n
		if f, ok := first.(*FieldStore); ok {
			c.Arg = f.Arg
			c.Values = append(append([]Expr(nil), f.Values...), n.Values...)
			c.Attnos = append(append([]int(nil), f.Attnos...), n.Attnos...)
		} else {
			c.Arg = first
		}
		merged = &c
	case *SubscriptingRef:
		if n.Assign == nil {
			return nil
		}
		c := *n
		c.Container = first
		merged = &c
	default:
		return nil
	}
	if wrapped {
		d := *domain
		d.Arg = merged
		return &d
	}
	return merged
}

// assignmentInput is what a partial assignment works on, nil for other expressions.
func assignmentInput(e Expr) Expr {
	switch n := e.(type) {
	case *FieldStore:
		return n.Arg
	case *SubscriptingRef:
		if n.Assign != nil {
			return n.Container
		}
	}
	return nil
}
