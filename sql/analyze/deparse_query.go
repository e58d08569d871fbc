package analyze

import (
	"bytes"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
)

// DeparseQuery prints a SELECT as pg_get_viewdef does, with its semicolon. Lines are broken at wrap columns: always if it
// is 0, never if it is negative.
func DeparseQuery(c *Context, q *Query, pretty bool, wrap int) (string, error) {
	return deparseView(c, q, nil, pretty, wrap)
}

// StoredQuery prints a SELECT as the catalog keeps it: without a semicolon, and with the name of every column, so that
// it reads back to the same query. c finds nothing but pg_catalog, and prints in the default styles.
func StoredQuery(c *Context, q *Query) (text string, err error) {
	defer caught(&err)
	d := newDeparser(c, false)
	d.wrap, d.stored = -1, true
	d.query(q, nil, true)
	return string(d.buf), nil
}

// DeparseView prints the definition of a view, whose columns may have other names than the query gives them.
func DeparseView(c *Context, rel *catalog.Relation, pretty bool, wrap int) (string, error) {
	q, err := LoadView(c, rel)
	if err != nil {
		return "", err
	}
	names := make([]string, 0, len(rel.Attrs))
	for i := range rel.Attrs {
		names = append(names, rel.Attrs[i].Name)
	}
	return deparseView(c, q, names, pretty, wrap)
}

func deparseView(c *Context, q *Query, names []string, pretty bool, wrap int) (text string, err error) {
	defer caught(&err)
	d := newDeparser(c, pretty)
	d.wrap = wrap
	d.query(q, names, true)
	d.chr(';')
	return string(d.buf), nil
}

// query prints a query inside what is printed so far. names are what its columns must be called, nil for as they are;
// visible tells whether anything refers to the columns by name. Follows get_query_def.
func (d *deparser) query(q *Query, names []string, visible bool) {
	if q.Command != Select {
		raise(pgerr.New(pgerr.FeatureNotSupported, "printing of data-modifying queries is not supported"))
	}
	saved := *d
	defer func() {
		buf := d.buf
		*d = saved
		d.buf = buf
	}()
	top := len(saved.spaces) == 0
	// A view's range table holds old and new besides, so columns are never printed without a qualifier.
	d.prefix = true
	d.spaces = append([]*deparseSpace{querySpace(q, saved.spaces, top)}, saved.spaces...)
	d.names, d.visible = names, visible
	d.inGroupBy, d.inSort = false, false
	d.selectQuery(q)
}

// selectQuery follows get_select_query_def.
func (d *deparser) selectQuery(q *Query) {
	d.with(q)
	d.targets, d.windows = q.Targets, q.Windows
	if q.SetOp != nil {
		d.setOperation(q.SetOp)
	} else {
		d.basicSelect(q)
	}
	if len(q.OrderBy) > 0 {
		d.keyword(" ORDER BY ", -indentStd, indentStd, 1)
		d.orderBy(q.OrderBy, q.Targets, q.SetOp != nil)
	}
	if q.Offset != nil {
		d.keyword(" OFFSET ", -indentStd, indentStd, 0)
		d.expr(q.Offset, false)
	}
	if q.Limit != nil {
		d.limit(q)
	}
	for _, m := range q.RowMarks {
		if m.PushedDown {
			continue
		}
		d.keyword(lockClauses[m.Strength], -indentStd, indentStd, 0)
		d.str(" OF ")
		d.ident(d.spaces[0].names[m.RT])
		switch m.Wait {
		case LockError:
			d.str(" NOWAIT")
		case LockSkip:
			d.str(" SKIP LOCKED")
		}
	}
}

var lockClauses = [...]string{
	ForKeyShare: " FOR KEY SHARE", ForShare: " FOR SHARE", ForNoKeyUpdate: " FOR NO KEY UPDATE", ForUpdate: " FOR UPDATE",
}

func (d *deparser) limit(q *Query) {
	if q.WithTies {
		d.keyword(" FETCH FIRST ", -indentStd, indentStd, 0)
		d.chr('(')
		d.expr(q.Limit, false)
		d.str(") ROWS WITH TIES")
		return
	}
	d.keyword(" LIMIT ", -indentStd, indentStd, 0)
	if c, ok := q.Limit.(*Const); ok && c.Value.Null {
		d.str("ALL")
	} else {
		d.expr(q.Limit, false)
	}
}

// with follows get_with_clause.
func (d *deparser) with(q *Query) {
	if len(q.CTEs) == 0 {
		return
	}
	if d.indented {
		d.indent += indentStd
		d.chr(' ')
	}
	sep := "WITH "
	if q.Recursive {
		sep = "WITH RECURSIVE "
	}
	for _, c := range q.CTEs {
		d.str(sep)
		sep = ", "
		d.ident(c.Name)
		d.nameList(c.AliasColumns)
		d.str(" AS ")
		switch c.Materialized {
		case CTEAlways:
			d.str("MATERIALIZED ")
		case CTENever:
			d.str("NOT MATERIALIZED ")
		}
		d.chr('(')
		if d.indented {
			d.keyword("", 0, 0, 0)
		}
		d.query(c.Query, nil, true)
		if d.indented {
			d.keyword("", 0, 0, 0)
		}
		d.chr(')')
	}
	if d.indented {
		d.indent -= indentStd
		d.keyword("", 0, 0, 0)
	} else {
		d.chr(' ')
	}
}

// nameList prints names in parentheses, nothing for none.
func (d *deparser) nameList(names []string) {
	for i, n := range names {
		if i == 0 {
			d.chr('(')
		} else {
			d.str(", ")
		}
		d.ident(n)
	}
	if len(names) > 0 {
		d.chr(')')
	}
}

// outputName is what output column n (1-based) is called.
func (d *deparser) outputName(n int, t *TargetEntry) string {
	if n <= len(d.names) {
		return d.names[n-1]
	}
	return t.Name
}

// simpleValues is the entry of a query that is nothing but VALUES, else nil. Follows get_simple_values_rte.
func (d *deparser) simpleValues(q *Query) *RangeTableEntry {
	if len(q.RTable) != 1 || q.RTable[0].Kind != RTEValues || len(q.Targets) != len(q.RTable[0].Columns) {
		return nil
	}
	rte := q.RTable[0]
	for i := range q.Targets {
		if q.Targets[i].Junk || d.outputName(i+1, &q.Targets[i]) != rte.Columns[i].Name {
			return nil
		}
	}
	return rte
}

// basicSelect follows get_basic_select_query.
func (d *deparser) basicSelect(q *Query) {
	if d.indented {
		d.indent += indentStd
		d.chr(' ')
	}
	if rte := d.simpleValues(q); rte != nil {
		d.values(rte.Values)
		return
	}
	d.str("SELECT")
	switch {
	case q.DistinctOn:
		d.str(" DISTINCT ON (")
		for i, c := range q.Distinct {
			if i > 0 {
				d.str(", ")
			}
			d.sortGroup(c.Ref, q.Targets, false)
		}
		d.chr(')')
	case len(q.Distinct) > 0:
		d.str(" DISTINCT")
	}
	d.targetList(q.Targets)
	d.from(q, " FROM ")
	if q.Where != nil {
		d.keyword(" WHERE ", -indentStd, indentStd, 1)
		d.expr(q.Where, false)
	}
	if len(q.Group) > 0 || len(q.Grouping) > 0 {
		d.groupBy(q)
	}
	if q.Having != nil {
		d.keyword(" HAVING ", -indentStd, indentStd, 0)
		d.expr(q.Having, false)
	}
	d.windowClause(q)
}

func (d *deparser) values(rows [][]Expr) {
	d.str("VALUES ")
	for i, row := range rows {
		if i > 0 {
			d.str(", ")
		}
		d.chr('(')
		for k, e := range row {
			if k > 0 {
				d.chr(',')
			}
			d.top(e, false)
		}
		d.chr(')')
	}
}

// targetList follows get_target_list.
func (d *deparser) targetList(list []TargetEntry) {
	sep := " "
	n, multiline := 0, false
	for i := range list {
		t := &list[i]
		if t.Junk {
			continue
		}
		d.str(sep)
		sep = ", "
		n++
		text := d.captured(func() { d.target(n, t) })
		if d.indented && d.wrap >= 0 {
			inner := text
			if len(text) > 0 && text[0] == '\n' {
				d.trimSpaces()
				inner = text[1:]
			} else if n > 1 && (d.lineLength()+len(text) > d.wrap || multiline) {
				d.keyword("", -indentStd, indentStd, indentVar)
			}
			multiline = bytes.IndexByte(inner, '\n') >= 0
		}
		d.buf = append(d.buf, text...)
	}
}

func (d *deparser) target(n int, t *TargetEntry) {
	own := ""
	if v, ok := t.Expr.(*Var); ok {
		own = d.variable(v, true)
	} else {
		d.expr(t.Expr, true)
		if !d.visible && !d.stored {
			own = "?column?"
		}
	}
	if name := d.outputName(n, t); name != own {
		d.str(" AS ")
		d.ident(name)
	}
}

// setOperation follows get_setop_query.
func (d *deparser) setOperation(s *SetOp) {
	if q := s.Query; q != nil {
		paren := len(q.CTEs) > 0 || len(q.OrderBy) > 0 || len(q.RowMarks) > 0 || q.Offset != nil || q.Limit != nil || q.SetOp != nil
		if paren {
			d.chr('(')
		}
		d.query(q, d.names, d.visible)
		if paren {
			d.chr(')')
		}
		return
	}
	left := s.Left
	paren, sub := left.Query == nil && (left.Kind != s.Kind || left.All != s.All), 0
	if paren {
		d.chr('(')
		sub = indentStd
		d.keyword("", sub, 0, 0)
	}
	d.setOperation(left)
	switch {
	case paren:
		d.keyword(") ", -sub, 0, 0)
	case d.indented:
		d.keyword("", -sub, 0, 0)
	default:
		d.chr(' ')
	}
	d.str([...]string{Union: "UNION ", Intersect: "INTERSECT ", Except: "EXCEPT "}[s.Kind])
	if s.All {
		d.str("ALL ")
	}
	paren, sub = s.Right.Query == nil, 0
	if paren {
		d.chr('(')
		sub = indentStd
	}
	d.keyword("", sub, 0, 0)
	visible := d.visible
	d.visible = false
	d.setOperation(s.Right)
	d.visible = visible
	if d.indented {
		d.indent -= sub
	}
	if paren {
		d.keyword(")", 0, 0, 0)
	}
}
