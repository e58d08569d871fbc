package analyze

import (
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// expr prints an expression. implicit shows an implicit cast at its top, which is needed where it decides what
// operator or function is found. Follows get_rule_expr.
func (d *deparser) expr(e Expr, implicit bool) {
	if d.plan != nil && e != nil && d.plan.hook.PlanExpr(d.plan, e, implicit) {
		return
	}
	switch n := e.(type) {
	case nil:
	case *Var:
		d.variable(n, false)
	case *Const:
		d.constant(n, typeAsNeeded)
	case *Param:
		d.chr('$')
		d.num(n.Number)
	case *FuncExpr:
		d.function(n, implicit)
	case *OpExpr:
		d.operation(n)
	case *DistinctExpr:
		d.open()
		d.inner(n.Args[0], true, n)
		d.str(" IS DISTINCT FROM ")
		d.inner(n.Args[1], true, n)
		d.closing()
	case *NullIfExpr:
		d.call("NULLIF", n.Args)
	case *ScalarArrayOpExpr:
		d.scalarArrayOp(n)
	case *BoolExpr:
		d.boolean(n)
	case *CaseExpr:
		d.caseExpr(n)
	case *CaseTest:
		d.str("CASE_TEST_EXPR")
	case *CoalesceExpr:
		d.call("COALESCE", n.Args)
	case *MinMaxExpr:
		if n.Greatest {
			d.call("GREATEST", n.Args)
		} else {
			d.call("LEAST", n.Args)
		}
	case *NullTest:
		d.nullTest(n)
	case *BooleanTest:
		d.open()
		d.inner(n.Arg, false, n)
		d.str(booleanTestNames[n.Kind])
		d.closing()
	case *RelabelType:
		d.cast(n.Arg, n.Typ, n.Mod, n.Format, implicit, n)
	case *CoerceViaIO:
		d.cast(n.Arg, n.Typ, -1, n.Format, implicit, n)
	case *ArrayCoerceExpr:
		d.cast(n.Arg, n.Typ, n.Mod, n.Format, implicit, n)
	case *ConvertRowtypeExpr:
		d.cast(n.Arg, n.Typ, -1, n.Format, implicit, n)
	case *CoerceToDomain:
		if n.Format == ImplicitCast && !implicit {
			d.expr(n.Arg, false)
		} else {
			d.coercion(n.Arg, n.Typ, n.Mod, n)
		}
	case *DomainValue:
		d.str("VALUE")
	case *ArrayExpr:
		d.str("ARRAY[")
		d.list(n.Elems, true)
		d.chr(']')
		if len(n.Elems) == 0 {
			d.str("::" + d.typeModName(n.Typ, -1))
		}
	case *RowExpr:
		d.row(n)
	case *RowCompareExpr:
		d.str("(ROW(")
		d.topList(n.Left, true)
		d.str(") " + d.operatorName(n.Ops[0], n.Left[0].Type(), n.Right[0].Type()) + " ROW(")
		d.topList(n.Right, true)
		d.str("))")
	case *FieldSelect:
		d.fieldSelect(n)
	case *FieldStore:
		d.fieldStore(n, implicit)
	case *SubscriptingRef:
		d.subscripting(n, implicit)
	case *CollateExpr:
		d.open()
		d.inner(n.Arg, implicit, n)
		d.str(" COLLATE " + d.qualifiedCollation(n.Coll))
		d.closing()
	case *SQLValueFunction:
		d.sqlValue(n)
	case *SetToDefault:
		d.str("DEFAULT")
	case *CurrentOf:
		d.str("CURRENT OF ")
		d.ident(n.Cursor)
	case *SubLink:
		d.subLink(n)
	case *SubColumn:
		d.chr('$')
		d.num(n.Number)
	case *Aggref:
		d.aggregate(n)
	case *GroupingFunc:
		d.call("GROUPING", n.Args)
	case *WindowFunc:
		d.windowFunc(n)
	case *NextValueExpr:
		d.str("nextval(")
		d.literal(d.analysis.relationName(d.relation(n.Sequence)))
		d.chr(')')
	default:
		raise(pgerr.New(pgerr.InternalError, "unrecognized node type: %T", e))
	}
}

// inner is expr for a part of parent that parent's syntax does not set off: in the terse style it gets parentheses
// if it needs them. Follows get_rule_expr_paren.
func (d *deparser) inner(e Expr, implicit bool, parent Expr) {
	paren := d.parens && !d.isSimple(e, parent)
	if paren {
		d.chr('(')
	}
	d.expr(e, implicit)
	if paren {
		d.chr(')')
	}
}

// top is expr where a whole row would be taken apart if it did not say its type. Follows get_rule_expr_toplevel.
func (d *deparser) top(e Expr, implicit bool) {
	if v, ok := e.(*Var); ok {
		d.variable(v, true)
		return
	}
	d.expr(e, implicit)
}

func (d *deparser) list(l []Expr, implicit bool) {
	for i, e := range l {
		if i > 0 {
			d.str(", ")
		}
		d.expr(e, implicit)
	}
}

func (d *deparser) topList(l []Expr, implicit bool) {
	for i, e := range l {
		if i > 0 {
			d.str(", ")
		}
		d.top(e, implicit)
	}
}

func (d *deparser) call(name string, args []Expr) {
	d.str(name)
	d.chr('(')
	d.list(args, true)
	d.chr(')')
}

func (d *deparser) operation(n *OpExpr) {
	d.open()
	if len(n.Args) == 2 {
		d.inner(n.Args[0], true, n)
		d.str(" " + d.operatorName(n.Op, n.Args[0].Type(), n.Args[1].Type()) + " ")
		d.inner(n.Args[1], true, n)
	} else {
		d.str(d.operatorName(n.Op, 0, n.Args[0].Type()) + " ")
		d.inner(n.Args[0], true, n)
	}
	d.closing()
}

func (d *deparser) scalarArrayOp(n *ScalarArrayOpExpr) {
	d.open()
	d.inner(n.Scalar, true, n)
	d.str(" " + d.operatorName(n.Op, n.Scalar.Type(), d.baseElemType(n.Array.Type())))
	if n.UseOr {
		d.str(" ANY (")
	} else {
		d.str(" ALL (")
	}
	d.inner(n.Array, true, n)
	// A bare sub-select would be read as rows to compare with, not as one array.
	if sub, ok := n.Array.(*SubLink); ok && sub.Kind == SubLinkExpr {
		d.str("::" + d.typeModName(sub.Typ, sub.Mod))
	}
	d.chr(')')
	d.closing()
}

func (d *deparser) boolean(n *BoolExpr) {
	d.open()
	switch n.Op {
	case Not:
		d.str("NOT ")
		d.inner(n.Args[0], false, n)
	default:
		word := " AND "
		if n.Op == Or {
			word = " OR "
		}
		for i, a := range n.Args {
			if i > 0 {
				d.str(word)
			}
			d.inner(a, false, n)
		}
	}
	d.closing()
}

func (d *deparser) caseExpr(n *CaseExpr) {
	d.keyword("CASE", 0, indentVar, 0)
	if n.Arg != nil {
		d.chr(' ')
		d.expr(n.Arg, true)
	}
	for _, w := range n.Whens {
		when := w.When
		if n.Arg != nil {
			// The arm is the comparison; what was written is its right side.
			if op, ok := when.(*OpExpr); ok && len(op.Args) == 2 {
				if _, ok := stripImplicit(op.Args[0]).(*CaseTest); ok {
					when = op.Args[1]
				}
			}
		}
		d.space()
		d.keyword("WHEN ", 0, 0, 0)
		d.expr(when, false)
		d.str(" THEN ")
		d.expr(w.Then, true)
	}
	d.space()
	d.keyword("ELSE ", 0, 0, 0)
	d.expr(n.Else, true)
	d.space()
	d.keyword("END", -indentVar, 0, 0)
}

// space separates keywords that are not on lines of their own.
func (d *deparser) space() {
	if !d.indented {
		d.chr(' ')
	}
}

var booleanTestNames = [...]string{
	IsTrue: " IS TRUE", IsNotTrue: " IS NOT TRUE", IsFalse: " IS FALSE", IsNotFalse: " IS NOT FALSE",
	IsUnknown: " IS UNKNOWN", IsNotUnknown: " IS NOT UNKNOWN",
}

func (d *deparser) nullTest(n *NullTest) {
	d.open()
	d.inner(n.Arg, true, n)
	// A test of a row as a scalar has no other syntax.
	scalar := n.ArgIsRow || !d.isRowType(n.Arg.Type())
	switch {
	case scalar && !n.IsNot:
		d.str(" IS NULL")
	case scalar:
		d.str(" IS NOT NULL")
	case !n.IsNot:
		d.str(" IS NOT DISTINCT FROM NULL")
	default:
		d.str(" IS DISTINCT FROM NULL")
	}
	d.closing()
}

// cast prints a cast of parent's kind, or only what is cast if the cast is implicit and not wanted.
func (d *deparser) cast(arg Expr, typ types.OID, typmod int32, form CoercionForm, implicit bool, parent Expr) {
	if form == ImplicitCast && !implicit {
		d.inner(arg, false, parent)
		return
	}
	d.coercion(arg, typ, typmod, parent)
}

// coercion follows get_coercion_expr.
func (d *deparser) coercion(arg Expr, typ types.OID, typmod int32, parent Expr) {
	if c, ok := arg.(*Const); ok && c.Typ == typ && c.Mod == -1 {
		d.constant(c, typeNever)
	} else {
		d.open()
		d.inner(arg, false, parent)
		d.closing()
	}
	d.str("::" + d.typeModName(typ, typmod))
}

func (d *deparser) row(n *RowExpr) {
	d.str("ROW(")
	sep := ""
	if n.Typ == types.Record {
		d.topList(n.Args, true)
	} else {
		cols := relationColumns(d.relation(d.rowRelation(n.Typ)))
		for i, c := range cols {
			if c.Dropped {
				continue
			}
			d.str(sep)
			sep = ", "
			if i < len(n.Args) {
				d.top(n.Args[i], true)
			} else {
				d.str("NULL")
			}
		}
	}
	d.chr(')')
	if n.Format == ExplicitCast {
		d.str("::" + d.typeModName(n.Typ, -1))
	}
}

func (d *deparser) fieldSelect(n *FieldSelect) {
	paren := true
	switch n.Arg.(type) {
	case *SubscriptingRef, *FieldSelect:
		paren = false
	}
	if paren {
		d.chr('(')
	}
	d.expr(n.Arg, true)
	if paren {
		d.chr(')')
	}
	d.chr('.')
	d.ident(n.Name)
}

// fieldStore has no syntax: only EXPLAIN shows it, as the values stored.
func (d *deparser) fieldStore(n *FieldStore, implicit bool) {
	if len(n.Values) != 1 {
		d.str("ROW(")
	}
	d.list(n.Values, implicit)
	if len(n.Values) != 1 {
		d.chr(')')
	}
}

func (d *deparser) subscripting(n *SubscriptingRef, implicit bool) {
	if _, ok := n.Container.(*CaseTest); ok {
		d.expr(n.Assign, implicit)
		return
	}
	paren := true
	switch n.Container.(type) {
	case *Var, *FieldSelect:
		paren = false
	}
	if d.plan != nil && d.plan.hook.IsColumn(n.Container) {
		paren = false
	}
	if paren {
		d.chr('(')
	}
	d.expr(n.Container, implicit)
	if paren {
		d.chr(')')
	}
	if n.Assign == nil {
		d.subscripts(n)
		return
	}
	source := d.indirection(n)
	d.str(" := ")
	d.expr(source, implicit)
}

func (d *deparser) subscripts(n *SubscriptingRef) {
	for i, u := range n.Upper {
		d.chr('[')
		if n.Slice && len(n.Lower) > 0 {
			d.expr(n.Lower[i], false)
			d.chr(':')
		}
		d.expr(u, false)
		d.chr(']')
	}
}

// indirection prints the fields and subscripts of an assignment's target, whose column was printed, and returns
// what is assigned. Follows processIndirection.
func (d *deparser) indirection(e Expr) Expr {
	var domain *CoerceToDomain
loop:
	for {
		switch n := e.(type) {
		case *FieldStore:
			d.chr('.')
			rel := d.relation(d.rowRelation(n.Typ))
			d.ident(rel.Attrs[n.Attnos[0]-1].Name)
			e = n.Values[0]
		case *SubscriptingRef:
			if n.Assign == nil {
				break loop
			}
			d.subscripts(n)
			e = n.Assign
		case *CoerceToDomain:
			if n.Format != ImplicitCast {
				break loop
			}
			domain = n
			e = n.Arg
		default:
			break loop
		}
	}
	if domain != nil && e == domain.Arg {
		return domain
	}
	return e
}

func (d *deparser) sqlValue(n *SQLValueFunction) {
	d.str(strings.ToUpper(sqlValueNames[n.Kind]))
	if n.Mod >= 0 {
		d.chr('(')
		d.num(int(n.Mod))
		d.chr(')')
	}
}

// subLink follows get_sublink_expr.
func (d *deparser) subLink(n *SubLink) {
	if n.Kind == SubLinkArray {
		d.str("ARRAY(")
	} else {
		d.chr('(')
	}
	op := ""
	switch t := n.Test.(type) {
	case nil:
	case *OpExpr:
		d.expr(t.Args[0], true)
		op = d.operatorName(t.Op, t.Args[0].Type(), t.Args[1].Type())
	case *BoolExpr:
		d.chr('(')
		for i, a := range t.Args {
			if i > 0 {
				d.str(", ")
			}
			o := a.(*OpExpr)
			d.expr(o.Args[0], true)
			if op == "" {
				op = d.operatorName(o.Op, o.Args[0].Type(), o.Args[1].Type())
			}
		}
		d.chr(')')
	case *RowCompareExpr:
		d.chr('(')
		d.list(t.Left, true)
		op = d.operatorName(t.Ops[0], t.Left[0].Type(), t.Right[0].Type())
		d.chr(')')
	default:
		raise(pgerr.New(pgerr.InternalError, "unrecognized testexpr type: %T", n.Test))
	}
	paren := true
	switch n.Kind {
	case SubLinkExists:
		d.str("EXISTS ")
	case SubLinkAny:
		if op == "=" {
			d.str(" IN ")
		} else {
			d.str(" " + op + " ANY ")
		}
	case SubLinkAll:
		d.str(" " + op + " ALL ")
	case SubLinkRowCompare:
		d.str(" " + op + " ")
	default:
		paren = false
	}
	if paren {
		d.chr('(')
	}
	d.query(n.Query, nil, false)
	if paren {
		d.chr(')')
	}
	d.chr(')')
}

// How much of its type a literal shows.
const (
	typeNever    = -1
	typeAsNeeded = 0
	typeAlways   = 1
)

// constant follows get_const_expr.
func (d *deparser) constant(c *Const, show int) {
	if c.Value.Null {
		d.str("NULL")
		if show >= 0 {
			d.str("::" + d.typeModName(c.Typ, c.Mod))
			d.constCollation(c)
		}
		return
	}
	text := string(types.Out(c.Typ, c.Value, nil, d.Env))
	label := true
	switch c.Typ {
	case types.Int4:
		if label = strings.HasPrefix(text, "-"); label {
			d.str("'" + text + "'")
		} else {
			d.str(text)
		}
	case types.Numeric:
		if text[0] >= '0' && text[0] <= '9' && strings.ContainsAny(text, "eE.") {
			d.str(text)
			label = c.Mod >= 0
		} else {
			d.str("'" + text + "'")
		}
	case types.Bool:
		label = false
		if text == "t" {
			d.str("true")
		} else {
			d.str("false")
		}
	case types.Unknown:
		label = false
		d.literal(text)
	default:
		d.literal(text)
	}
	if show < 0 {
		return
	}
	if label || show > 0 {
		d.str("::" + d.typeModName(c.Typ, c.Mod))
	}
	d.constCollation(c)
}

func (d *deparser) constCollation(c *Const) {
	if c.Coll != 0 && c.Coll != d.typeCollation(c.Typ) {
		d.str(" COLLATE " + d.qualifiedCollation(c.Coll))
	}
}
