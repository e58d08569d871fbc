package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// insertColumn is a column an INSERT names.
type insertColumn struct {
	name        string
	attno       int
	indirection []*pg_query.Node
	loc         int
}

// transformInsert follows transformInsertStmt and the rewriter's treatment of defaults.
func (s *state) transformInsert(ins *pg_query.InsertStmt) *Query {
	q := &Query{Command: Insert, Overriding: overriding(ins.Override)}
	s.isInsert = true
	s.withClause(ins.WithClause, q)
	sel := ins.SelectStmt.GetSelectStmt()
	oc := ins.OnConflictClause
	required := aclInsert
	if oc.GetAction() == pg_query.OnConflictAction_ONCONFLICT_UPDATE {
		required |= aclUpdate
	}
	q.Result = s.setTarget(ins.Relation, Insert, required)
	cols := s.insertColumns(ins.Cols)
	explicit := len(ins.Cols) > 0
	var exprs []Expr
	switch {
	case sel == nil:
	case len(sel.ValuesLists) == 0 || len(sel.SortClause) > 0 || sel.LimitOffset != nil || sel.LimitCount != nil ||
		len(sel.LockingClause) > 0 || sel.WithClause != nil:
		exprs = s.insertRow(s.insertSelect(ins.SelectStmt, q), cols, explicit, false)
	case len(sel.ValuesLists) > 1:
		exprs = s.insertRow(s.insertValues(sel, q, cols, explicit), cols, explicit, false)
	default:
		exprs = s.transformExprList(sel.ValuesLists[0].GetList().Items, kindValuesSingle, true)
		exprs = s.insertRow(exprs, cols, explicit, false)
	}
	rte := s.target.rte
	for i, e := range exprs {
		q.Targets = append(q.Targets, TargetEntry{Expr: e, Name: cols[i].name, Attno: cols[i].attno})
		rte.InsertCols = addColumn(rte.InsertCols, cols[i].attno)
	}
	if oc != nil || len(ins.ReturningList) > 0 {
		s.target.relVisible, s.target.colsVisible = true, true
		s.namespace = []*nsItem{s.target}
	}
	if oc != nil {
		q.OnConflict = s.transformOnConflict(oc)
	}
	q.Returning = s.transformReturning(ins.ReturningList)
	s.completeTargets(q)
	s.finish(q)
	s.assignQueryCollations(q)
	return q
}

func overriding(o pg_query.OverridingKind) Overriding {
	switch o {
	case pg_query.OverridingKind_OVERRIDING_USER_VALUE:
		return OverridingUser
	case pg_query.OverridingKind_OVERRIDING_SYSTEM_VALUE:
		return OverridingSystem
	}
	return OverridingNone
}

// setTarget opens the table to change and gives it an entry. Follows setTargetTable and CheckValidResultRel.
func (s *state) setTarget(rv *pg_query.RangeVar, cmd Command, required uint32) int {
	rel := s.openTable(rv, rowExclusiveLock)
	s.checkTarget(rel, cmd)
	rte := &RangeTableEntry{Kind: RTERelation, Relation: rel, Inherit: rv.Inh && cmd != Insert, System: rel.System, Columns: relationColumns(rel)}
	s.aliased(rte, rel.Name, rv.Alias, tooManyTableAliases)
	rte.Required = required
	s.target = s.add(rte)
	return s.target.rt
}

func (s *state) checkTarget(rel *catalog.Relation, cmd Command) {
	what := ""
	switch rel.Kind {
	case catalog.KindSequence:
		what = "sequence"
	case catalog.KindToast:
		what = "TOAST relation"
	case catalog.KindMatView:
		what = "materialized view"
	case catalog.KindView:
		s.viewTarget(rel, cmd)
		return
	default:
		return
	}
	raise(pgerr.New(pgerr.WrongObjectType, "cannot change %s \"%s\"", what, rel.Name))
}

// viewTarget refuses to change a view: the ones that PostgreSQL would update through are not done yet.
func (s *state) viewTarget(rel *catalog.Relation, cmd Command) {
	if detail := notUpdatable(s.viewQuery(rel)); detail != "" {
		verb, hint := "insert into", "INSERT"
		switch cmd {
		case Update:
			verb, hint = "update", "UPDATE"
		case Delete:
			verb, hint = "delete from", "DELETE"
		}
		action := map[Command]string{Insert: "inserting into", Update: "updating", Delete: "deleting from"}[cmd]
		raise(pgerr.New(pgerr.ObjectNotInPrerequisiteState, "cannot %s view \"%s\"", verb, rel.Name).WithDetail("%s", detail).
			WithHint("To enable %s the view, provide an INSTEAD OF %s trigger or an unconditional ON %s DO INSTEAD rule.", action, hint, hint))
	}
	raise(pgerr.New(pgerr.FeatureNotSupported, "changing a table through view \"%s\" is not supported", rel.Name))
}

// notUpdatable says why a view cannot be updated through, "" if it can. Follows view_query_is_auto_updatable.
func notUpdatable(q *Query) string {
	switch {
	case len(q.Distinct) > 0:
		return "Views containing DISTINCT are not automatically updatable."
	case len(q.Group) > 0 || len(q.Grouping) > 0:
		return "Views containing GROUP BY are not automatically updatable."
	case q.Having != nil:
		return "Views containing HAVING are not automatically updatable."
	case q.SetOp != nil:
		return "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable."
	case len(q.CTEs) > 0:
		return "Views containing WITH are not automatically updatable."
	case q.Limit != nil || q.Offset != nil:
		return "Views containing LIMIT or OFFSET are not automatically updatable."
	case q.HasAggs:
		return "Views that return aggregate functions are not automatically updatable."
	case q.HasWindows:
		return "Views that return window functions are not automatically updatable."
	case q.HasTargetSRFs:
		return "Views that return set-returning functions are not automatically updatable."
	}
	if len(q.From) == 1 {
		if r, ok := q.From[0].(*RangeRef); ok {
			rte := q.RTable[r.RT]
			if rte.Kind == RTERelation && rte.Sample == nil || rte.View != nil {
				return ""
			}
		}
	}
	return "Views that do not select from a single table or view are not automatically updatable."
}

// insertColumns follows checkInsertTargets.
func (s *state) insertColumns(list []*pg_query.Node) []insertColumn {
	rel := s.targetRelation()
	var out []insertColumn
	if len(list) == 0 {
		for i := range rel.Attrs {
			if at := &rel.Attrs[i]; !at.Dropped {
				out = append(out, insertColumn{name: at.Name, attno: i + 1, loc: -1})
			}
		}
		return out
	}
	type use struct{ whole, part bool }
	seen := map[int]use{}
	for _, n := range list {
		r := n.GetResTarget()
		loc := int(r.Location)
		attno := s.targetColumn(r.Name, loc)
		u := seen[attno]
		if len(r.Indirection) == 0 && (u.whole || u.part) || u.whole {
			raise(s.err(loc, pgerr.DuplicateColumn, "column \"%s\" specified more than once", r.Name))
		}
		u.whole, u.part = len(r.Indirection) == 0, true
		seen[attno] = u
		out = append(out, insertColumn{name: r.Name, attno: attno, indirection: r.Indirection, loc: loc})
	}
	return out
}

// targetColumn is the number of a column of the target, a system column's too.
func (s *state) targetColumn(name string, loc int) int {
	rel := s.targetRelation()
	if at := rel.AttrByName(name); at != nil {
		return int(at.Num)
	}
	if c, ok := systemColumn(name); ok && s.target != nil {
		return c.attno
	}
	raise(s.err(loc, pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name))
	return 0
}

// insertSelect makes INSERT ... SELECT's source an entry and returns what it yields.
func (s *state) insertSelect(n *pg_query.Node, q *Query) []Expr {
	src := s.analyzeSub(n, nil, false, false)
	if src.Command != Select {
		raise(pgerr.New(pgerr.InternalError, "unexpected non-SELECT command in INSERT ... SELECT"))
	}
	rte := s.subqueryEntry(src, nil, false)
	rte.Alias = "*SELECT*"
	it := s.add(rte)
	q.From = []FromItem{&RangeRef{RT: it.rt}}
	var out []Expr
	for i, t := range visibleTargets(src) {
		if t.Expr.Type() == types.Unknown {
			switch e := t.Expr.(type) {
			case *Const:
				// As it stands, for the column's type to be its type.
				c := *e
				out = append(out, &c)
				continue
			case *Param:
				out = append(out, e)
				continue
			}
		}
		v := s.nsVar(&it.cols[i], 0, location(t.Expr))
		out = append(out, v)
	}
	s.resolveInsertUnknowns(src, rte)
	return out
}

// resolveInsertUnknowns makes text of the source's literals, which the target list has copies of.
func (s *state) resolveInsertUnknowns(src *Query, rte *RangeTableEntry) {
	n := 0
	for i := range src.Targets {
		t := &src.Targets[i]
		if t.Junk {
			continue
		}
		if c, ok := t.Expr.(*Const); ok && c.Typ == types.Unknown {
			t.Expr = s.coerceLiteral(c, types.Text, -1, coerceImplicit, ImplicitCast, -1)
			rte.Columns[n].Type, rte.Columns[n].Collation = types.Text, defaultCollation
		}
		n++
	}
}

// insertValues makes the rows of INSERT ... VALUES an entry.
func (s *state) insertValues(sel *pg_query.SelectStmt, q *Query, cols []insertColumn, explicit bool) []Expr {
	rows := make([][]Expr, len(sel.ValuesLists))
	for i, n := range sel.ValuesLists {
		row := s.transformExprList(n.GetList().Items, kindValues, true)
		if i > 0 && len(row) != len(rows[0]) {
			raise(s.err(firstLocation(row), pgerr.SyntaxError, "VALUES lists must all be the same length"))
		}
		row = s.insertRow(row, cols, explicit, true)
		s.assignCollationsAll(row)
		rows[i] = row
	}
	rte := s.valuesEntry(rows, nil, false)
	for i := range rte.Columns {
		rte.Columns[i].Collation = 0
	}
	it := s.add(rte)
	q.From = []FromItem{&RangeRef{RT: it.rt}}
	var out []Expr
	for _, x := range s.expand(it, 0, -1) {
		out = append(out, x.expr)
	}
	return out
}

// insertRow fits a row to the columns; strip leaves out what puts a value into a part of a column, which is
// done once above the rows. Follows transformInsertRow.
func (s *state) insertRow(row []Expr, cols []insertColumn, explicit, strip bool) []Expr {
	if len(row) > len(cols) {
		raise(s.err(location(row[len(cols)]), pgerr.SyntaxError, "INSERT has more expressions than target columns"))
	}
	if explicit && len(row) < len(cols) {
		e := s.err(cols[len(row)].loc, pgerr.SyntaxError, "INSERT has more target columns than expressions")
		if len(row) == 1 && s.rowWidth(row[0]) == len(cols) {
			e = e.WithHint("The insertion source is a row expression containing the same number of columns expected by the INSERT. Did you accidentally use extra parentheses?")
		}
		raise(e)
	}
	out := make([]Expr, len(row))
	for i, e := range row {
		c := cols[i]
		r := s.assigned(e, kindInsertTarget, c.name, c.attno, c.indirection, c.loc)
		if strip {
			r = stripAssignment(r)
		}
		out[i] = r
	}
	return out
}

// rowWidth is the number of columns of a row expression, -1 if e is none. Follows count_rowexpr_columns.
func (s *state) rowWidth(e Expr) int {
	switch n := e.(type) {
	case *RowExpr:
		return len(n.Args)
	case *Var:
		if n.Typ != types.Record || n.Attno <= 0 || n.LevelsUp != 0 {
			return -1
		}
		if rte := s.rtable[n.RT]; rte.Kind == RTESubquery {
			if r, ok := visibleTargets(rte.Subquery)[n.Attno-1].Expr.(*RowExpr); ok {
				return len(r.Args)
			}
		}
	}
	return -1
}

func stripAssignment(e Expr) Expr {
	for {
		switch n := e.(type) {
		case *FieldStore:
			e = n.Values[0]
		case *SubscriptingRef:
			if n.Assign == nil {
				return e
			}
			e = n.Assign
		case *CoerceToDomain:
			switch in := n.Arg.(type) {
			case *FieldStore:
				e = in
			case *SubscriptingRef:
				if in.Assign == nil {
					return e
				}
				e = in
			default:
				return e
			}
		default:
			return e
		}
	}
}

// transformReturning follows transformReturningList.
func (s *state) transformReturning(list []*pg_query.Node) []TargetEntry {
	if len(list) == 0 {
		return nil
	}
	out := s.transformTargets(list, kindReturning)
	if len(out) == 0 {
		raise(s.err(firstRawLocation(list), pgerr.SyntaxError, "RETURNING must have at least one column"))
	}
	s.markOrigins(out)
	s.resolveUnknownTargets(out)
	return out
}
