package sql

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// scope says what the columns in an expression of a plan node are: how each is printed, and, where it is not nil,
// whether that is closed: a name, or in parentheses.
type scope struct {
	column func(c *plan.Col)
	closed func(c *plan.Col) bool
}

// planParam is where an executor parameter's value comes from.
type planParam struct {
	value analyze.Expr
	scope scope
}

// scoped is an expression with a scope of its own, inside one of another.
type scoped struct {
	analyze.Expr
	scope scope
}

// relScope is the scope of a scan: the columns of its entry.
func (x *explainer) relScope(e *analyze.RangeTableEntry) scope {
	return scope{column: func(c *plan.Col) { x.entryColumn(e, c) }}
}

// entryColumn prints a column of an entry.
func (x *explainer) entryColumn(e *analyze.RangeTableEntry, c *plan.Col) {
	if x.prefix {
		x.printer.Ident(x.names[e])
		x.printer.Str(".")
	}
	switch {
	case c.Index < 0:
		x.printer.Ident(analyze.SystemColumnName(c.Index))
	case c.Index < len(e.Columns):
		x.printer.Ident(e.Columns[c.Index].Name)
	}
}

// inputScope is the scope of a node over the outputs of its inputs.
func (x *explainer) inputScope(inputs ...plan.Node) scope {
	return scope{column: func(c *plan.Col) { x.output(inputs[c.Input], c.Index) }}
}

// targetScope is what a node's Targets and Filter are over.
func (x *explainer) targetScope(n plan.Node) scope {
	switch n := n.(type) {
	case *plan.Aggregate:
		return x.groupScope(n)
	case *plan.WindowAgg:
		return x.windowScope(n)
	case *plan.ModifyTable:
		rel, in := x.relScope(n.Entry), x.inputScope(n.Input)
		return scope{column: func(c *plan.Col) {
			if c.Input == 0 {
				rel.column(c)
				return
			}
			in.column(&plan.Col{Typed: c.Typed, Index: c.Index})
		}}
	}
	if e := n.Common().Entry; e != nil {
		return x.relScope(e)
	}
	return x.inputScope(n.Inputs()...)
}

// groupScope is the result row of an aggregation.
func (x *explainer) groupScope(n *plan.Aggregate) scope {
	return scope{
		column: func(c *plan.Col) {
			i := c.Index
			if i < len(n.Group) {
				x.output(n.Input, n.Group[i].Column)
				return
			}
			if i -= len(n.Group); i < len(n.Aggs) {
				x.aggregateCall(n, &n.Aggs[i])
				return
			}
			x.grouping(n, n.Grouping[i-len(n.Aggs)])
		},
		closed: func(c *plan.Col) bool { return c.Index < len(n.Group) },
	}
}

func (x *explainer) grouping(n *plan.Aggregate, args []int) {
	x.printer.Str("GROUPING(")
	for i, g := range args {
		if i > 0 {
			x.printer.Str(", ")
		}
		x.output(n.Input, n.Group[g].Column)
	}
	x.printer.Str(")")
}

// aggregateCall prints an aggregate with its arguments as they are taken from the input.
func (x *explainer) aggregateCall(n *plan.Aggregate, a *plan.AggCall) {
	if n.Partial {
		x.printer.Str("PARTIAL ")
	}
	call := *a.Source
	call.Args = append([]analyze.TargetEntry(nil), call.Args...)
	for i := range call.Args {
		if i < len(a.Args) {
			call.Args[i].Expr = a.Args[i]
		}
	}
	call.Direct, call.Filter = a.Direct, a.Filter
	x.in(x.inputScope(n.Input), func() { x.printer.Expr(&call, true) })
}

// windowScope is the result row of a WindowAgg.
func (x *explainer) windowScope(n *plan.WindowAgg) scope {
	width := x.width(n.Input)
	return scope{
		column: func(c *plan.Col) {
			if c.Index < width {
				x.output(n.Input, c.Index)
				return
			}
			w := &n.Calls[c.Index-width]
			call := *w.Source
			call.Args, call.Filter = w.Args, w.Filter
			x.in(x.inputScope(n.Input), func() { x.printer.Expr(&call, true) })
		},
		closed: func(c *plan.Col) bool { return c.Index < width },
	}
}

// width is how many columns a node has.
func (x *explainer) width(n plan.Node) int {
	for {
		if t := n.Common().Targets; t != nil {
			return len(t)
		}
		in := n.Inputs()
		if len(in) == 0 {
			return 0
		}
		n = in[0]
	}
}

// shownAs skips the scans of subqueries that are not shown.
func (x *explainer) shownAs(n plan.Node) plan.Node {
	for {
		sub, ok := n.(*plan.SubqueryScan)
		if !ok || !x.hidden[sub] {
			return n
		}
		n = sub.Input
	}
}

// findHidden notes the scans of subqueries below n that only hand on rows: all columns as they are or, where the
// node above takes what it needs, some.
func (x *explainer) findHidden(n plan.Node) {
	_, takes := n.(*plan.Aggregate)
	for _, in := range n.Inputs() {
		if sub, ok := in.(*plan.SubqueryScan); ok && x.handsOn(sub, takes) {
			x.hidden[sub] = true
		}
	}
}

func (x *explainer) handsOn(sub *plan.SubqueryScan, some bool) bool {
	if len(sub.Filter) > 0 || len(sub.InitPlans) > 0 || !some && len(sub.Targets) != x.width(sub.Input) {
		return false
	}
	for i, e := range sub.Targets {
		if c, ok := e.(*plan.Col); !ok || !some && c.Index != i {
			return false
		}
	}
	return true
}

// in runs fn with another scope.
func (x *explainer) in(s scope, fn func()) {
	saved := x.scope
	x.scope = s
	fn()
	x.scope = saved
}

// source is the node and the expression that give output column i of n; nil if there is none.
func (x *explainer) source(n plan.Node, i int) (plan.Node, analyze.Expr) {
	for {
		if t := n.Common().Targets; t != nil {
			if i < 0 || i >= len(t) {
				return n, nil
			}
			sub, ok := n.(*plan.SubqueryScan)
			if !ok || !x.hidden[sub] {
				return n, t[i]
			}
			n, i = sub.Input, t[i].(*plan.Col).Index
			continue
		}
		in := n.Inputs()
		if len(in) == 0 {
			return n, nil
		}
		n = in[0]
	}
}

// output prints output column i of a node as the nodes above refer to it: what is no column itself, in parentheses.
func (x *explainer) output(n plan.Node, i int) {
	at, e := x.source(n, i)
	if e == nil {
		x.printer.Str("?column?")
		return
	}
	x.in(x.targetScope(at), func() {
		closed := x.isClosed(e)
		if !closed {
			x.printer.Str("(")
		}
		x.printer.Expr(e, true)
		if !closed {
			x.printer.Str(")")
		}
	})
}

// isClosed tells whether e is printed as a name, or in parentheses, in the present scope.
func (x *explainer) isClosed(e analyze.Expr) bool {
	switch n := e.(type) {
	case *plan.Col:
		return x.scope.closed == nil || x.scope.closed(n)
	case *plan.WholeRow, *analyze.Const:
		return true
	}
	return x.folded(e) != nil
}

// IsColumn satisfies analyze.PlanHook.
func (x *explainer) IsColumn(e analyze.Expr) bool { return x.isClosed(e) }

// PlanExpr satisfies analyze.PlanHook.
func (x *explainer) PlanExpr(p *analyze.PlanPrinter, e analyze.Expr, implicit bool) bool {
	switch n := e.(type) {
	case *plan.Col:
		x.scope.column(n)
	case *plan.WholeRow:
		x.wholeRow(n)
	case *plan.SubPlan:
		if n.Hashed {
			p.Str("(hashed " + n.Name + ")")
		} else {
			p.Str("(" + n.Name + ")")
		}
	case *scoped:
		x.in(n.scope, func() { p.Expr(n.Expr, implicit) })
	case *analyze.Param:
		return x.param(n)
	default:
		e := inlined(n)
		if c := x.folded(e); c != nil {
			p.Expr(c, implicit)
			return true
		}
		if e == n {
			return false
		}
		p.Expr(e, implicit)
	}
	return true
}

// The operators between text and anything else, whose functions PostgreSQL inlines, and what they are inlined to.
const (
	procTextAnyCat types.OID = 2003
	procAnyTextCat types.OID = 2004
	opTextCat      types.OID = 654
	procTextCat    types.OID = 1258
)

// inlined is the body of the call of an SQL function, e itself where e is no such call.
func inlined(e analyze.Expr) analyze.Expr {
	op, ok := e.(*analyze.OpExpr)
	if !ok || op.Func != procTextAnyCat && op.Func != procAnyTextCat {
		return e
	}
	other := 1
	if op.Func == procAnyTextCat {
		other = 0
	}
	body := *op
	body.Op, body.Func = opTextCat, procTextCat
	body.Args = append([]analyze.Expr(nil), op.Args...)
	body.Args[other] = &analyze.CoerceViaIO{
		Typed: analyze.NewTyped(types.Text, -1, op.Coll, -1), Arg: op.Args[other], Format: analyze.ExplicitCast,
	}
	return &body
}

// wholeRow prints the row of the scan its columns come from.
func (x *explainer) wholeRow(w *plan.WholeRow) {
	if len(w.Cols) == 0 {
		x.printer.Str("ROW()")
		return
	}
	c, ok := w.Cols[0].(*plan.Col)
	if !ok {
		x.printer.Str("ROW()")
		return
	}
	// The qualifier of the first column is that of the row.
	saved := x.prefix
	x.prefix = true
	text, err := x.printer.Text(func() { x.scope.column(c) })
	x.prefix = saved
	if i := lastDot(text); err == nil && i >= 0 {
		text = text[:i]
	}
	x.printer.Str(text + ".*")
}

// lastDot is where the last name of a qualified one begins, less one.
func lastDot(s string) int {
	quoted := false
	at := -1
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '.' && !quoted:
			at = i
		}
	}
	return at
}

// param prints what a parameter that comes from an outer row stands for; others print as $n.
func (x *explainer) param(n *analyze.Param) bool {
	if !n.Exec {
		if n.Number > len(x.values) {
			return false
		}
		x.printer.Expr(&analyze.Const{Typed: n.Typed, Value: x.values[n.Number-1]}, true)
		return true
	}
	src, ok := x.params[n.Number]
	if !ok {
		return false
	}
	saved := x.prefix
	x.prefix = true
	x.in(src.scope, func() {
		closed := x.isClosed(src.value)
		switch src.value.(type) {
		case *analyze.Param, *analyze.Aggref:
			closed = true
		}
		if !closed {
			x.printer.Str("(")
		}
		x.printer.Expr(src.value, false)
		if !closed {
			x.printer.Str(")")
		}
	})
	x.prefix = saved
	return true
}

// folded is the constant that an expression without any variable part is, nil for others.
func (x *explainer) folded(e analyze.Expr) *analyze.Const {
	switch e.(type) {
	case *analyze.FuncExpr, *analyze.OpExpr, *analyze.RelabelType, *analyze.CoerceViaIO, *analyze.ArrayCoerceExpr, *analyze.ArrayExpr,
		*analyze.CaseExpr, *analyze.CoalesceExpr, *analyze.MinMaxExpr, *analyze.ScalarArrayOpExpr, *analyze.NullIfExpr,
		*analyze.DistinctExpr, *analyze.BoolExpr, *analyze.NullTest, *analyze.CollateExpr:
	default:
		return nil
	}
	if c, done := x.constants[e]; done {
		return c
	}
	var c *analyze.Const
	if x.isNull(e) {
		c = &analyze.Const{Typed: analyze.NewTyped(e.Type(), e.Typmod(), e.Collation(), -1), Value: types.NullDatum}
	} else if x.isConstant(e) {
		if d, err := x.s.evaluate(x.ctx, e); err == nil {
			c = &analyze.Const{Typed: analyze.NewTyped(e.Type(), e.Typmod(), e.Collation(), -1), Value: d}
			if e.Type() != types.Text && c.Coll != 0 && c.Coll == x.typeCollation(e.Type()) {
				c.Coll = 0
			}
		}
	}
	if x.constants == nil {
		x.constants = make(map[analyze.Expr]*analyze.Const)
	}
	x.constants[e] = c
	return c
}

// isNull tells whether e is the call of a strict function with a null among its arguments.
func (x *explainer) isNull(e analyze.Expr) bool {
	var fn types.OID
	var args []analyze.Expr
	switch n := e.(type) {
	case *analyze.FuncExpr:
		if !n.RetSet {
			fn, args = n.Func, n.Args
		}
	case *analyze.OpExpr:
		if !n.RetSet {
			fn, args = n.Func, n.Args
		}
	}
	for _, a := range args {
		if c, ok := a.(*analyze.Const); ok && c.Value.Null {
			p, err := x.s.eng.Catalog().ProcByOID(fn)
			return err == nil && p != nil && p.Strict
		}
	}
	return false
}

func (x *explainer) typeCollation(typ types.OID) types.OID {
	t, err := x.s.eng.Catalog().TypeByOID(typ)
	if err != nil || t == nil {
		return 0
	}
	return t.Collation
}

// isConstant tells whether e is made of constants and immutable functions.
func (x *explainer) isConstant(e analyze.Expr) bool {
	constant := true
	plan.Visit(e, func(n analyze.Expr) bool {
		switch f := n.(type) {
		case *analyze.FuncExpr:
			constant = constant && !f.RetSet
		case *analyze.OpExpr:
			constant = constant && !f.RetSet
		case *analyze.Const, *analyze.RelabelType, *analyze.CoerceViaIO, *analyze.ArrayCoerceExpr, *analyze.ArrayExpr, *analyze.CaseExpr,
			*analyze.CaseTest, *analyze.CoalesceExpr, *analyze.MinMaxExpr, *analyze.ScalarArrayOpExpr, *analyze.NullIfExpr,
			*analyze.DistinctExpr, *analyze.BoolExpr, *analyze.NullTest, *analyze.CollateExpr:
		default:
			constant = false
		}
		return constant
	})
	if !constant {
		return false
	}
	v, err := analyze.Volatility(x.analyze, e)
	return err == nil && v == 'i'
}
