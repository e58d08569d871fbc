package plan

import "github.com/minipg/minipg/sql/analyze"

// Planning rewrites a Query in place. What stands in more than one place (a WITH query merged where it
// is used, a merged subquery's sub-select) is copied for each.

// copyQuery copies q and the queries in it. Expressions are shared but for sub-selects: they are never changed in place.
func copyQuery(q *analyze.Query) *analyze.Query {
	c := *q
	c.CTEs = make([]*analyze.CTE, len(q.CTEs))
	for i, x := range q.CTEs {
		y := *x
		y.Query = copyQuery(x.Query)
		c.CTEs[i] = &y
	}
	c.RTable = make([]*analyze.RangeTableEntry, len(q.RTable))
	for i, x := range q.RTable {
		y := *x
		if x.Subquery != nil {
			y.Subquery = copyQuery(x.Subquery)
		}
		y.Functions = append([]analyze.RTEFunc(nil), x.Functions...)
		y.Values = append([][]analyze.Expr(nil), x.Values...)
		c.RTable[i] = &y
	}
	c.From = make([]analyze.FromItem, len(q.From))
	for i, x := range q.From {
		c.From[i] = copyFrom(x)
	}
	c.Windows = make([]*analyze.Window, len(q.Windows))
	for i, x := range q.Windows {
		y := *x
		c.Windows[i] = &y
	}
	if q.OnConflict != nil {
		y := *q.OnConflict
		c.OnConflict = &y
	}
	c.Targets = append([]analyze.TargetEntry(nil), q.Targets...)
	c.RowMarks = append([]analyze.RowMark(nil), q.RowMarks...)
	c.SetOp = copySetOp(q.SetOp)
	mapQuery(&c, copyExpr)
	return &c
}

// copyExpr gives the sub-selects in e queries of their own.
func copyExpr(e analyze.Expr) analyze.Expr {
	if e == nil {
		return nil
	}
	e = mapChildren(e, copyExpr)
	s, ok := e.(*analyze.SubLink)
	if !ok {
		return e
	}
	c := *s
	c.Query = copyQuery(s.Query)
	return &c
}

func copyFrom(item analyze.FromItem) analyze.FromItem {
	j, ok := item.(*analyze.Join)
	if !ok {
		return item
	}
	c := *j
	c.Left, c.Right = copyFrom(j.Left), copyFrom(j.Right)
	return &c
}

func copySetOp(s *analyze.SetOp) *analyze.SetOp {
	if s == nil {
		return nil
	}
	c := *s
	c.Left, c.Right = copySetOp(s.Left), copySetOp(s.Right)
	if s.Query != nil {
		c.Query = copyQuery(s.Query)
	}
	return &c
}
