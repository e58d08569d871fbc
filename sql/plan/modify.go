package plan

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// addRowMarks adds the ctid columns that FOR UPDATE and its kin need as junk targets.
func (p *planner) addRowMarks() []RowMark {
	var marks []RowMark
	locked := make(map[int]bool)
	for _, m := range p.q.RowMarks {
		rte := p.q.RTable[m.RT]
		if rte.Kind != analyze.RTERelation || rte.Relation.System {
			continue
		}
		p.rowMarks = true
		p.lock(rte.Relation, lockRowShare)
		locked[m.RT] = true
		marks = append(marks, RowMark{RT: m.RT, Relation: rte.Relation, Strength: m.Strength, Wait: m.Wait})
	}
	if len(marks) == 0 {
		return nil
	}
	marks = append(marks, p.referenceMarks(locked)...)
	for i := range marks {
		marks[i].CtidColumn = p.addCtid(marks[i].RT)
	}
	return marks
}

// referenceMarks are marks for the tables in FROM that are not in skip.
func (p *planner) referenceMarks(skip map[int]bool) []RowMark {
	var marks []RowMark
	var walk func(f analyze.FromItem)
	walk = func(f analyze.FromItem) {
		switch f := f.(type) {
		case *analyze.RangeRef:
			rte := p.q.RTable[f.RT]
			if rte.Kind == analyze.RTERelation && !rte.Relation.System && !skip[f.RT] {
				marks = append(marks, RowMark{RT: f.RT, Relation: rte.Relation, ReferenceOnly: true})
			}
		case *analyze.Join:
			walk(f.Left)
			if f.Kind != analyze.JoinSemi && f.Kind != analyze.JoinAnti {
				walk(f.Right)
			}
		}
	}
	for _, f := range p.q.From {
		walk(f)
	}
	return marks
}

// addCtid adds the ctid of an entry to the targets as a junk column and returns its position.
func (p *planner) addCtid(rt int) int {
	v := &analyze.Var{Typed: analyze.Typed{Typ: types.Tid, Mod: -1, Loc: -1}, RT: rt, Attno: CtidColumn}
	p.q.Targets = append(p.q.Targets, analyze.TargetEntry{Expr: v, Name: "ctid", Junk: true})
	return len(p.q.Targets) - 1
}

func (p *planner) markColumns(marks []RowMark) []RowMark { return marks }

// planModify plans INSERT, UPDATE and DELETE.
func (p *planner) planModify() Node {
	q := p.q
	rel := q.RTable[q.Result].Relation
	if rel.System {
		unsupported("direct changes of system catalogs")
	}
	p.lock(rel, lockRowExclusive)
	n := &ModifyTable{Command: q.Command, RT: q.Result, Relation: rel, CtidColumn: -1}
	n.Entry = q.RTable[q.Result]
	p.prepare()
	mapQuery(q, p.replaceSubLinks)
	source := p.modifySource(n)
	returning, conflict := p.returningExprs(), q.OnConflict
	extra := p.otherVars(returning, q.Result)
	source = append(source, extra...)
	if q.Command != analyze.Insert {
		for _, m := range p.referenceMarks(map[int]bool{q.Result: true}) {
			m.CtidColumn = len(source)
			source = append(source, &analyze.Var{
				Typed: analyze.Typed{Typ: types.Tid, Mod: -1, Loc: -1}, RT: m.RT, Attno: CtidColumn,
			})
			n.Marks = append(n.Marks, m)
		}
	}
	st := p.planFrom(append(append([]analyze.Expr(nil), source...), returning...))
	// planFrom has replaced whole-row references in the query's lists.
	returning = p.returningExprs()
	source = p.expandIn(source)
	if q.HasTargetSRFs {
		st = p.planSRFs(st, source)
	}
	st = p.project(st, source)
	n.Input = st.node
	p.copyCost(n, st.node)
	p.tableExprs(n)
	p.modifyReturning(n, returning, st.layout)
	if conflict != nil {
		p.modifyConflict(n, conflict)
	}
	if len(returning) == 0 {
		n.Rows, n.Width = 0, 0
	}
	return n
}

func (p *planner) expandIn(list []analyze.Expr) []analyze.Expr {
	var expand func(e analyze.Expr) analyze.Expr
	expand = func(e analyze.Expr) analyze.Expr {
		if v, ok := e.(*analyze.Var); ok && v.Attno == 0 && v.LevelsUp == 0 {
			if r := p.rels[v.RT]; r != nil {
				return p.wholeRow(v, r)
			}
			return e
		}
		return mapChildren(e, expand)
	}
	list, _ = mapExprs(list, expand)
	return list
}

// modifySource lists the columns the input of a ModifyTable begins with.
func (p *planner) modifySource(n *ModifyTable) []analyze.Expr {
	q := p.q
	assigned := make(map[int]analyze.Expr)
	for _, t := range q.Targets {
		if !t.Junk {
			assigned[t.Attno] = t.Expr
		}
	}
	ctid := &analyze.Var{Typed: analyze.Typed{Typ: types.Tid, Mod: -1, Loc: -1}, RT: q.Result, Attno: CtidColumn}
	if q.Command == analyze.Delete {
		n.CtidColumn = 0
		return []analyze.Expr{ctid}
	}
	var source []analyze.Expr
	for i := range n.Relation.Attrs {
		a := &n.Relation.Attrs[i]
		typ := analyze.Typed{Typ: a.Type, Mod: a.Typmod, Coll: a.Collation, Loc: -1}
		e, ok := assigned[i+1]
		switch {
		case a.Dropped:
			source = append(source, &analyze.Const{
				Typed: analyze.Typed{Typ: types.Int4, Mod: -1, Loc: -1}, Value: types.NullDatum,
			})
		case ok:
			source = append(source, e)
			n.Assigned = append(n.Assigned, i+1)
		case q.Command == analyze.Update:
			source = append(source, &analyze.Var{Typed: typ, RT: q.Result, Attno: i + 1})
		default:
			source = append(source, &analyze.Const{Typed: typ, Value: types.NullDatum})
		}
	}
	if q.Command == analyze.Update {
		n.CtidColumn = len(source)
		source = append(source, ctid)
	}
	return source
}

func (p *planner) returningExprs() []analyze.Expr {
	var list []analyze.Expr
	for _, t := range p.q.Returning {
		list = append(list, t.Expr)
	}
	return list
}

// otherVars are the Vars in list of entries other than rt, each once.
func (p *planner) otherVars(list []analyze.Expr, rt int) []analyze.Expr {
	var out []analyze.Expr
	seen := make(map[string]bool)
	add := func(e analyze.Expr) {
		visit(e, func(e analyze.Expr) bool {
			if v, ok := e.(*analyze.Var); ok && v.LevelsUp == 0 && v.RT != rt && !seen[exprKey(v)] {
				seen[exprKey(v)] = true
				out = append(out, v)
			}
			return true
		})
	}
	for _, e := range list {
		add(e)
	}
	return out
}

// targetRow is the layout of the row of entry rt, by attribute number.
func (p *planner) targetRow(n *ModifyTable, rt int) *layout {
	list := make([]analyze.Expr, len(n.Relation.Attrs))
	for i := range n.Relation.Attrs {
		a := &n.Relation.Attrs[i]
		list[i] = &analyze.Var{
			Typed: analyze.Typed{Typ: a.Type, Mod: a.Typmod, Coll: a.Collation, Loc: -1}, RT: rt, Attno: i + 1,
		}
	}
	l := newLayout(list)
	for _, sys := range []int{CtidColumn, TableOIDColumn, XminColumn, XmaxColumn, CminColumn, CmaxColumn} {
		v := &analyze.Var{Typed: analyze.Typed{Typ: systemColumnType(sys)}, RT: rt, Attno: sys}
		l.cols[exprKey(v)] = sys
	}
	return l
}

func (p *planner) modifyReturning(n *ModifyTable, returning []analyze.Expr, input *layout) {
	if len(p.q.Returning) == 0 {
		return
	}
	n.Returning = true
	row := p.targetRow(n, p.q.Result)
	for _, e := range returning {
		n.Targets = append(n.Targets, p.fix(p.expandTarget(e, n), row, input))
	}
	n.Names = targetNames(p.q.Returning)
}

// expandTarget replaces a reference to the whole target row, which planFrom knows nothing of for INSERT.
func (p *planner) expandTarget(e analyze.Expr, n *ModifyTable) analyze.Expr {
	if v, ok := e.(*analyze.Var); ok && v.Attno == 0 && v.LevelsUp == 0 && v.RT == n.RT {
		w := &WholeRow{Typed: v.Typed}
		for i := range n.Relation.Attrs {
			if a := &n.Relation.Attrs[i]; !a.Dropped {
				w.Cols = append(w.Cols, &analyze.Var{
					Typed: analyze.Typed{Typ: a.Type, Mod: a.Typmod, Coll: a.Collation, Loc: -1}, RT: n.RT, Attno: i + 1,
				})
			}
		}
		return w
	}
	if w, ok := e.(*WholeRow); ok {
		c := *w
		c.NullIf = nil
		return &c
	}
	return mapChildren(e, func(c analyze.Expr) analyze.Expr { return p.expandTarget(c, n) })
}

func (p *planner) modifyConflict(n *ModifyTable, oc *analyze.OnConflict) {
	c := &Conflict{Indexes: oc.Indexes, Update: oc.DoUpdate}
	existing := p.targetRow(n, p.q.Result)
	var proposed *layout
	if oc.DoUpdate {
		proposed = p.targetRow(n, oc.Excluded)
		c.Entry = p.q.RTable[oc.Excluded]
	}
	for _, t := range oc.Targets {
		c.Set = append(c.Set, Assignment{Attno: t.Attno, Expr: p.fix(p.expandTarget(t.Expr, n), existing, proposed)})
	}
	for _, w := range conjuncts(nil, oc.Where) {
		c.Where = append(c.Where, p.fix(p.expandTarget(w, n), existing, proposed))
	}
	n.Conflict = c
}

// tableExprs adds CHECK constraints and generated columns.
func (p *planner) tableExprs(n *ModifyTable) {
	if n.Command == analyze.Delete {
		return
	}
	checks, generated, err := p.ctx.TableExprs(n.Relation)
	fail(err)
	for _, c := range checks {
		n.Checks = append(n.Checks, Check{Name: c.Name, Expr: p.fixScan(c.Expr, 0)})
	}
	for att, e := range generated {
		if n.Generated == nil {
			n.Generated = make(map[int]analyze.Expr)
		}
		n.Generated[att] = p.fixScan(e, 0)
	}
}
