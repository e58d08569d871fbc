package analyze

// from prints the FROM clause, or USING. Follows get_from_clause.
func (d *deparser) from(q *Query, prefix string) {
	first := true
	for _, f := range q.From {
		if r, ok := f.(*RangeRef); ok && !q.RTable[r.RT].InFrom {
			continue
		}
		if first {
			d.keyword(prefix, -indentStd, indentStd, 2)
			first = false
			d.fromItem(f)
			continue
		}
		d.str(", ")
		text := d.captured(func() { d.fromItem(f) })
		if d.indented && d.wrap >= 0 {
			if len(text) > 0 && text[0] == '\n' {
				d.trimSpaces()
			} else if d.lineLength()+len(text) > d.wrap {
				d.keyword("", -indentStd, indentStd, indentVar)
			}
		}
		d.buf = append(d.buf, text...)
	}
}

// fromItem follows get_from_clause_item.
func (d *deparser) fromItem(f FromItem) {
	switch n := f.(type) {
	case *RangeRef:
		d.rangeRef(n.RT)
	case *Join:
		d.join(n)
	}
}

func (d *deparser) rangeRef(rt int) {
	sp := d.spaces[0]
	rte, cols := sp.rtable[rt], sp.cols[rt]
	if rte.Lateral {
		d.str("LATERAL ")
	}
	var defs *RTEFunc
	switch rel := entryRelation(rte); {
	case rel != nil:
		if rte.Kind == RTERelation && !rte.Inherit {
			d.str("ONLY ")
		}
		d.str(d.relationName(rel))
	case rte.Kind == RTESubquery:
		d.chr('(')
		d.query(rte.Subquery, nil, true)
		d.chr(')')
	case rte.Kind == RTEFunction:
		defs = d.functions(rte)
		if rte.Ordinality {
			d.str(" WITH ORDINALITY")
		}
	case rte.Kind == RTEValues:
		d.chr('(')
		d.values(rte.Values)
		d.chr(')')
	case rte.Kind == RTECTE:
		d.ident(rte.CTEName)
	}
	if d.needsAlias(rte, rt) {
		d.chr(' ')
		d.ident(sp.names[rt])
	}
	if defs != nil {
		d.columnDefs(defs, cols.names)
	} else {
		d.columnAliases(cols)
	}
	if s := rte.Sample; s != nil {
		d.sample(s)
	}
}

// needsAlias follows get_rte_alias.
func (d *deparser) needsAlias(rte *RangeTableEntry, rt int) bool {
	sp := d.spaces[0]
	if rte.HasAlias || sp.cols[rt].list {
		return true
	}
	if rel := entryRelation(rte); rel != nil {
		return sp.names[rt] != rel.Name
	}
	switch rte.Kind {
	case RTEFunction, RTEValues, RTESubquery:
		return true
	case RTECTE:
		return sp.names[rt] != rte.CTEName
	}
	return false
}

func (d *deparser) columnAliases(c *deparseColumns) {
	if !c.list {
		return
	}
	var names []string
	for _, n := range c.names {
		if n != "" {
			names = append(names, n)
		}
	}
	d.nameList(names)
}

// functions prints the calls of a function entry, and returns the function whose column definitions are to follow.
func (d *deparser) functions(rte *RangeTableEntry) *RTEFunc {
	one := &rte.Functions[0]
	if len(rte.Functions) == 1 && (!one.ColumnDefs || !rte.Ordinality) {
		d.funcCall(one.Call)
		if one.ColumnDefs {
			return one
		}
		return nil
	}
	if args, ok := d.unnested(rte.Functions); ok {
		d.call("UNNEST", args)
		return nil
	}
	d.str("ROWS FROM(")
	for i := range rte.Functions {
		f := &rte.Functions[i]
		if i > 0 {
			d.str(", ")
		}
		d.funcCall(f.Call)
		if f.ColumnDefs {
			d.str(" AS ")
			d.columnDefs(f, nil)
		}
	}
	d.chr(')')
	return nil
}

// procUnnest is unnest(anyarray).
const procUnnest = 2331

// unnested are the arguments of UNNEST(a, b), which was made one call for each.
func (d *deparser) unnested(funcs []RTEFunc) ([]Expr, bool) {
	var args []Expr
	for _, f := range funcs {
		call, ok := f.Call.(*FuncExpr)
		if !ok || call.Func != procUnnest || f.ColumnDefs {
			return nil, false
		}
		args = append(args, call.Args...)
	}
	return args, true
}

// columnDefs prints a column definition list under names, nil for its own. Follows get_from_clause_coldeflist.
func (d *deparser) columnDefs(f *RTEFunc, names []string) {
	d.chr('(')
	for i, c := range f.Columns {
		if i > 0 {
			d.str(", ")
		}
		name := c.Name
		if names != nil {
			name = names[i]
		}
		d.ident(name)
		d.str(" " + d.typeModName(c.Type, c.Typmod))
		if c.Collation != 0 && c.Collation != d.typeCollation(c.Type) {
			d.str(" COLLATE " + d.qualifiedCollation(c.Collation))
		}
	}
	d.chr(')')
}

func (d *deparser) sample(s *TableSample) {
	p := d.proc(s.Handler)
	d.str(" TABLESAMPLE " + d.functionName(p, p.Args, nil, false) + " (")
	d.list(s.Args, false)
	d.chr(')')
	if s.Repeatable != nil {
		d.str(" REPEATABLE (")
		d.expr(s.Repeatable, false)
		d.chr(')')
	}
}

var joinWords = [...]string{JoinInner: " JOIN ", JoinLeft: " LEFT JOIN ", JoinFull: " FULL JOIN ", JoinRight: " RIGHT JOIN "}

func (d *deparser) join(j *Join) {
	sp := d.spaces[0]
	rte, cols := sp.rtable[j.RT], sp.cols[j.RT]
	parenRight := false
	if r, ok := j.Right.(*Join); ok && d.parens {
		parenRight = !sp.rtable[r.RT].HasAlias
	}
	paren := !d.parens || rte.HasAlias
	if paren {
		d.chr('(')
	}
	d.fromItem(j.Left)
	word := joinWords[j.Kind]
	if j.Kind == JoinInner && j.On == nil {
		word = " CROSS JOIN "
	}
	d.keyword(word, -indentStd, indentStd, indentJoin)
	if parenRight {
		d.chr('(')
	}
	d.fromItem(j.Right)
	if parenRight {
		d.chr(')')
	}
	switch {
	case len(j.Using) > 0:
		d.str(" USING ")
		d.nameList(cols.using)
		if rte.UsingAlias != "" {
			d.str(" AS ")
			d.ident(rte.UsingAlias)
		}
	case j.On != nil:
		d.str(" ON ")
		d.open()
		d.expr(j.On, false)
		d.closing()
	case j.Kind != JoinInner:
		d.str(" ON TRUE")
	}
	if paren {
		d.chr(')')
	}
	if rte.HasAlias {
		d.chr(' ')
		d.ident(sp.names[j.RT])
		d.columnAliases(cols)
	}
}
