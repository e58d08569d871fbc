package analyze

import "github.com/minipg/minipg/types"

func targetByRef(list []TargetEntry, ref int) *TargetEntry {
	for i := range list {
		if list[i].Ref == ref {
			return &list[i]
		}
	}
	return nil
}

// sortGroup prints the expression that a sort or group clause names, or with byNumber the number of its column,
// and returns it. Follows get_rule_sortgroupclause.
func (d *deparser) sortGroup(ref int, list []TargetEntry, byNumber bool) Expr {
	t := targetByRef(list, ref)
	e := t.Expr
	if byNumber {
		for i := range list {
			if &list[i] == t {
				d.num(i + 1)
			}
		}
		return e
	}
	switch n := e.(type) {
	case *Const:
		// A bare number would be a column's.
		d.constant(n, typeAlways)
	case *Var:
		saved := d.inSort
		d.inSort = true
		d.variable(n, false)
		d.inSort = saved
	default:
		// What looks like a function could be taken for cube or rollup.
		paren := d.parens
		switch e.(type) {
		case *FuncExpr, *Aggref, *WindowFunc:
			paren = true
		}
		if paren {
			d.chr('(')
		}
		d.expr(e, true)
		if paren {
			d.chr(')')
		}
	}
	return e
}

// orderBy follows get_rule_orderby.
func (d *deparser) orderBy(clauses []SortClause, list []TargetEntry, byNumber bool) {
	for i, c := range clauses {
		if i > 0 {
			d.str(", ")
		}
		d.sortOrder(c.SortOp, c.NullsFirst, d.sortGroup(c.Ref, list, byNumber).Type())
	}
}

// sortOrder prints how values of a type are sorted, as far as that is not the usual way.
func (d *deparser) sortOrder(op types.OID, nullsFirst bool, typ types.OID) {
	switch o := d.typeOperators(typ); op {
	case o.lt:
		if nullsFirst {
			d.str(" NULLS FIRST")
		}
	case o.gt:
		d.str(" DESC")
		if !nullsFirst {
			d.str(" NULLS LAST")
		}
	default:
		d.str(" USING " + d.operatorName(op, typ, typ))
		if nullsFirst {
			d.str(" NULLS FIRST")
		} else {
			d.str(" NULLS LAST")
		}
	}
}

func (d *deparser) groupBy(q *Query) {
	d.keyword(" GROUP BY ", -indentStd, indentStd, 1)
	if q.GroupDistinct {
		d.str("DISTINCT ")
	}
	saved := d.inGroupBy
	d.inGroupBy = true
	if len(q.Grouping) == 0 {
		for i, c := range q.Group {
			if i > 0 {
				d.str(", ")
			}
			d.sortGroup(c.Ref, q.Targets, false)
		}
	}
	for i, g := range q.Grouping {
		if i > 0 {
			d.str(", ")
		}
		d.groupingSet(g, q.Targets, true)
	}
	d.inGroupBy = saved
}

// groupingSet follows get_rule_groupingset.
func (d *deparser) groupingSet(g *GroupingSet, list []TargetEntry, omitParens bool) {
	childParens := false
	switch g.Kind {
	case GroupingEmpty:
		d.str("()")
		return
	case GroupingSimple:
		paren := !omitParens || len(g.Refs) != 1
		if paren {
			d.chr('(')
		}
		for i, ref := range g.Refs {
			if i > 0 {
				d.str(", ")
			}
			d.sortGroup(ref, list, false)
		}
		if paren {
			d.chr(')')
		}
		return
	case GroupingRollup:
		d.str("ROLLUP(")
	case GroupingCube:
		d.str("CUBE(")
	case GroupingSets:
		d.str("GROUPING SETS (")
		childParens = true
	}
	for i, s := range g.Sets {
		if i > 0 {
			d.str(", ")
		}
		d.groupingSet(s, list, !childParens)
	}
	d.chr(')')
}

// windowClause follows get_rule_windowclause.
func (d *deparser) windowClause(q *Query) {
	first := true
	for _, w := range q.Windows {
		if w.Name == "" {
			continue
		}
		if first {
			d.keyword(" WINDOW ", -indentStd, indentStd, 1)
			first = false
		} else {
			d.str(", ")
		}
		d.ident(w.Name)
		d.str(" AS ")
		d.windowSpec(w)
	}
}

// windowSpec follows get_rule_windowspec.
func (d *deparser) windowSpec(w *Window) {
	d.chr('(')
	sep := ""
	if w.RefName != "" {
		d.ident(w.RefName)
		sep = " "
	} else if len(w.Partition) > 0 {
		d.str("PARTITION BY ")
		for i, c := range w.Partition {
			if i > 0 {
				d.str(", ")
			}
			d.sortGroup(c.Ref, d.targets, false)
		}
		sep = " "
	}
	if len(w.OrderBy) > 0 && !w.CopiedOrder {
		d.str(sep + "ORDER BY ")
		d.orderBy(w.OrderBy, d.targets, false)
		sep = " "
	}
	if w.Frame.Explicit {
		d.str(sep)
		d.frame(&w.Frame)
	}
	d.chr(')')
}

var (
	frameModes    = [...]string{FrameRange: "RANGE ", FrameRows: "ROWS ", FrameGroups: "GROUPS "}
	frameExcludes = [...]string{
		ExcludeNone: "", ExcludeCurrentRow: " EXCLUDE CURRENT ROW", ExcludeGroup: " EXCLUDE GROUP", ExcludeTies: " EXCLUDE TIES",
	}
)

func (d *deparser) frame(f *Frame) {
	d.str(frameModes[f.Mode])
	if f.Between {
		d.str("BETWEEN ")
	}
	d.bound(f.Start, f.StartOffset)
	if f.Between {
		d.str(" AND ")
		d.bound(f.End, f.EndOffset)
	}
	d.str(frameExcludes[f.Exclude])
}

func (d *deparser) bound(b FrameBound, offset Expr) {
	switch b {
	case UnboundedPreceding:
		d.str("UNBOUNDED PRECEDING")
	case UnboundedFollowing:
		d.str("UNBOUNDED FOLLOWING")
	case CurrentRow:
		d.str("CURRENT ROW")
	case OffsetPreceding:
		d.expr(offset, false)
		d.str(" PRECEDING")
	case OffsetFollowing:
		d.expr(offset, false)
		d.str(" FOLLOWING")
	}
}
