package plan

import (
	"github.com/minipg/minipg/sql/analyze"
)

// planSetOp plans UNION, INTERSECT and EXCEPT with the ORDER BY and LIMIT over them.
func (p *planner) planSetOp() Node {
	return p.setOpTop(p.setOpNode(p.q.SetOp))
}

// setOpTop adds ORDER BY and LIMIT, whose targets are the outputs by number.
func (p *planner) setOpTop(n Node) Node {
	p.replaceOuterVars()
	mapQuery(p.q, p.replaceSubLinks)
	list := make([]analyze.Expr, len(p.q.Targets))
	for i, t := range p.q.Targets {
		list[i] = t.Expr
	}
	n.Common().Names = targetNames(p.q.Targets)
	st := p.planOrder(stage{node: n, layout: newLayout(list)})
	return p.planLimit(st.node)
}

func (p *planner) setOpNode(s *analyze.SetOp) Node {
	if s.Query != nil {
		return p.setOpArm(s, p.child(s.Query, linkFrom))
	}
	if s.Kind == analyze.Union {
		return p.unionNode(s)
	}
	left, right := castArm(p.setOpNode(s.Left), s, s.LeftCasts), castArm(p.setOpNode(s.Right), s, s.RightCasts)
	n := &SetOp{Left: left, Right: right, Kind: s.Kind, All: s.All, Group: p.setOpKeys(s)}
	l, r := left.Common(), right.Common()
	n.StartupCost = l.TotalCost + r.TotalCost
	n.Rows = clampRows(l.Rows * 0.5)
	n.TotalCost = n.StartupCost + (l.Rows+r.Rows)*p.ctx.Settings.CPUOperatorCost*2
	n.Width = l.Width
	return n
}

// castArm converts the columns of an operand of s to the types of its result.
func castArm(n Node, s *analyze.SetOp, casts []analyze.Expr) Node {
	if casts == nil {
		return n
	}
	targets := make([]analyze.Expr, len(casts))
	for i, e := range casts {
		column := func(c *analyze.SubColumn) analyze.Expr { return &Col{Typed: c.Typed, Index: c.Number} }
		if targets[i] = mapSubColumns(e, column); e == nil {
			c := &s.Columns[i]
			targets[i] = &Col{Typed: analyze.Typed{Typ: c.Type, Mod: c.Typmod, Coll: c.Collation, Loc: -1}, Index: i}
		}
	}
	return setTargets(n, targets)
}

// setOpArm plans one operand.
func (p *planner) setOpArm(s *analyze.SetOp, child *planner) Node {
	if s.Query == nil {
		return p.setOpNode(s)
	}
	n := child.planStatement()
	for id := range child.depends {
		if p.depends == nil {
			p.depends = make(map[int]bool)
		}
		p.depends[id] = true
	}
	junk := false
	var targets []analyze.Expr
	for i, t := range s.Query.Targets {
		if t.Junk {
			junk = true
			continue
		}
		targets = append(targets, colOf(t.Expr, 0, i))
	}
	if junk {
		return setTargets(n, targets)
	}
	return n
}

// unionNode flattens nested UNIONs of the same kind into one Append.
func (p *planner) unionNode(s *analyze.SetOp) Node {
	app := &Append{}
	var collect func(parent, c *analyze.SetOp, casts []analyze.Expr)
	collect = func(parent, c *analyze.SetOp, casts []analyze.Expr) {
		if c.Query == nil && c.Kind == analyze.Union && (c.All == s.All || !s.All) && casts == nil {
			collect(c, c.Left, c.LeftCasts)
			collect(c, c.Right, c.RightCasts)
			return
		}
		app.Children = append(app.Children, castArm(p.setOpNode(c), parent, casts))
	}
	collect(s, s.Left, s.LeftCasts)
	collect(s, s.Right, s.RightCasts)
	for _, c := range app.Children {
		b := c.Common()
		app.Rows += b.Rows
		app.TotalCost += b.TotalCost
		app.Width = max(app.Width, b.Width)
	}
	if s.All {
		return app
	}
	agg := &Aggregate{Input: app, Strategy: AggHashed, Group: p.setOpKeys(s), Named: len(s.Columns)}
	for i, c := range s.Columns {
		agg.Targets = append(agg.Targets, &Col{
			Typed: analyze.Typed{Typ: c.Type, Mod: c.Typmod, Coll: c.Collation, Loc: -1}, Index: i,
		})
	}
	agg.Rows, agg.Width = app.Rows, app.Width
	agg.StartupCost = app.TotalCost + app.Rows*p.ctx.Settings.CPUOperatorCost*float64(len(agg.Group))
	agg.TotalCost = agg.StartupCost + app.Rows*p.ctx.Settings.CPUTupleCost
	return agg
}

func (p *planner) setOpKeys(s *analyze.SetOp) []GroupKey {
	keys := make([]GroupKey, 0, len(s.Columns))
	for i, c := range s.Columns {
		if i < len(s.Group) && s.Group[i].EqOp != 0 {
			keys = append(keys, GroupKey{Column: i, EqFunc: p.operator(s.Group[i].EqOp).Code})
			continue
		}
		keys = append(keys, GroupKey{Column: i, EqFunc: p.typeEquality(c.Type)})
	}
	return keys
}
