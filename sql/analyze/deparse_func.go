package analyze

import (
	"github.com/minipg/minipg/types"
)

// function follows get_func_expr.
func (d *deparser) function(n *FuncExpr, implicit bool) {
	switch n.Format {
	case ImplicitCast:
		if !implicit {
			d.inner(n.Args[0], false, n)
			return
		}
		d.coercion(n.Args[0], n.Typ, lengthCoercion(n), n)
		return
	case ExplicitCast:
		d.coercion(n.Args[0], n.Typ, lengthCoercion(n), n)
		return
	case SQLSyntax:
		if d.sqlSyntax(n) {
			return
		}
	}
	p := d.proc(n.Func)
	args := make([]Expr, 0, len(n.Args))
	var names []string
	if n.Written != nil {
		for _, w := range n.Written {
			args = append(args, n.Args[w.Index])
			if w.Name != "" {
				names = append(names, w.Name)
			}
		}
	} else {
		args = append(args, n.Args...)
	}
	d.str(d.functionName(p, exprTypes(args), names, n.Variadic))
	d.chr('(')
	for i, a := range args {
		if i > 0 {
			d.str(", ")
		}
		if n.Variadic && i == len(args)-1 {
			d.str("VARIADIC ")
		}
		if k := i - (len(args) - len(names)); k >= 0 {
			d.ident(names[k])
			d.str(" => ")
		}
		d.expr(a, true)
	}
	d.chr(')')
}

// lengthCoercion is the modifier that a cast function's call applies, or -1. Follows exprIsLengthCoercion.
func lengthCoercion(n *FuncExpr) int32 {
	if len(n.Args) < 2 || len(n.Args) > 3 {
		return -1
	}
	c, ok := n.Args[1].(*Const)
	if !ok || c.Typ != types.Int4 || c.Value.Null {
		return -1
	}
	return int32(c.Value.Int64())
}

// funcCall prints an expression where the grammar wants a function call. Follows get_rule_expr_funccall.
func (d *deparser) funcCall(e Expr) {
	if looksLikeFunction(e) {
		d.expr(e, true)
		return
	}
	d.str("CAST(")
	d.expr(e, false)
	d.str(" AS " + d.typeModName(e.Type(), e.Typmod()) + ")")
}

// looksLikeFunction tells what is printed as the grammar's func_expr.
func looksLikeFunction(e Expr) bool {
	switch n := e.(type) {
	case *FuncExpr:
		return n.Format == ExplicitCall || n.Format == SQLSyntax
	case *NullIfExpr, *CoalesceExpr, *MinMaxExpr, *SQLValueFunction:
		return true
	}
	return false
}

// aggregate follows get_agg_expr.
func (d *deparser) aggregate(n *Aggref) {
	args := exprTypes(n.Direct)
	for _, t := range n.Args[:n.NArgs] {
		args = append(args, t.Expr.Type())
	}
	d.str(d.functionName(d.proc(n.Func), args, nil, n.Variadic))
	d.chr('(')
	if n.Distinct {
		d.str("DISTINCT ")
	}
	if n.Kind != 'n' {
		d.list(n.Direct, true)
		d.str(") WITHIN GROUP (ORDER BY ")
		d.orderBy(n.OrderBy, n.Args, false)
	} else {
		if n.Star {
			d.chr('*')
		}
		for i, t := range n.Args[:n.NArgs] {
			if i > 0 {
				d.str(", ")
			}
			if n.Variadic && i == n.NArgs-1 {
				d.str("VARIADIC ")
			}
			d.expr(t.Expr, true)
		}
		if len(n.OrderBy) > 0 {
			d.str(" ORDER BY ")
			d.orderBy(n.OrderBy, n.Args, false)
		}
	}
	d.filter(n.Filter)
	d.chr(')')
}

func (d *deparser) filter(e Expr) {
	if e != nil {
		d.str(") FILTER (WHERE ")
		d.expr(e, false)
	}
}

// windowFunc follows get_windowfunc_expr.
func (d *deparser) windowFunc(n *WindowFunc) {
	d.str(d.functionName(d.proc(n.Func), exprTypes(n.Args), nil, false))
	d.chr('(')
	if n.Star {
		d.chr('*')
	} else {
		d.list(n.Args, true)
	}
	d.filter(n.Filter)
	d.str(") OVER ")
	switch {
	case n.Window >= len(d.windows):
		d.str("(?)")
	case d.windows[n.Window].Name != "":
		d.ident(d.windows[n.Window].Name)
	default:
		d.windowSpec(d.windows[n.Window])
	}
}

// sqlSyntax prints a call of a function that has a syntax of its own; false if there is none. Follows get_func_sql_syntax.
func (d *deparser) sqlSyntax(n *FuncExpr) bool {
	p := d.proc(n.Func)
	arg := func(i int) { d.expr(n.Args[i], false) }
	word := func(i int) { d.str(n.Args[i].(*Const).Value.String()) }
	switch p.Name {
	case "timezone":
		d.chr('(')
		d.inner(n.Args[1], false, n)
		d.str(" AT TIME ZONE ")
		d.inner(n.Args[0], false, n)
		d.chr(')')
	case "overlaps":
		d.str("((")
		arg(0)
		d.str(", ")
		arg(1)
		d.str(") OVERLAPS (")
		arg(2)
		d.str(", ")
		arg(3)
		d.str("))")
	case "extract":
		d.str("EXTRACT(")
		word(0)
		d.str(" FROM ")
		arg(1)
		d.chr(')')
	case "is_normalized":
		d.chr('(')
		d.inner(n.Args[0], false, n)
		d.str(" IS")
		if writtenArgs(n) == 2 {
			d.chr(' ')
			word(1)
		}
		d.str(" NORMALIZED)")
	case "pg_collation_for":
		d.str("COLLATION FOR (")
		arg(0)
		d.chr(')')
	case "normalize":
		d.str("NORMALIZE(")
		arg(0)
		if writtenArgs(n) == 2 {
			d.str(", ")
			word(1)
		}
		d.chr(')')
	case "overlay":
		d.str("OVERLAY(")
		arg(0)
		d.str(" PLACING ")
		arg(1)
		d.str(" FROM ")
		arg(2)
		if len(n.Args) == 4 {
			d.str(" FOR ")
			arg(3)
		}
		d.chr(')')
	case "position":
		d.str("POSITION((")
		arg(1)
		d.str(") IN (")
		arg(0)
		d.str("))")
	case "substring":
		// substring(text from pattern) is printed as the call it is.
		if len(n.Args) == 2 && n.Args[1].Type() == types.Text {
			return false
		}
		d.substring(n)
	case "btrim":
		d.trim("BOTH", n)
	case "ltrim":
		d.trim("LEADING", n)
	case "rtrim":
		d.trim("TRAILING", n)
	default:
		return false
	}
	return true
}

// writtenArgs is how many arguments the call has, defaults not counted.
func writtenArgs(n *FuncExpr) int {
	if n.Written != nil {
		return len(n.Written)
	}
	return len(n.Args)
}

func (d *deparser) substring(n *FuncExpr) {
	words := [...]string{"", " FROM ", " FOR "}
	if len(n.Args) == 3 && n.Args[1].Type() == types.Text {
		words = [...]string{"", " SIMILAR ", " ESCAPE "}
	}
	d.str("SUBSTRING(")
	for i, a := range n.Args {
		d.str(words[i])
		d.expr(a, false)
	}
	d.chr(')')
}

func (d *deparser) trim(where string, n *FuncExpr) {
	d.str("TRIM(" + where)
	if len(n.Args) == 2 {
		d.chr(' ')
		d.expr(n.Args[1], false)
	}
	d.str(" FROM ")
	d.expr(n.Args[0], false)
	d.chr(')')
}
