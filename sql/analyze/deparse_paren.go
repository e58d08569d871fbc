package analyze

import "strings"

// isSimple tells whether e needs no parentheses as a part of parent. Only the terse style asks. Follows isSimpleNode.
func (d *deparser) isSimple(e, parent Expr) bool {
	switch n := e.(type) {
	case *Var, *Const, *Param, *DomainValue, *SetToDefault, *CurrentOf:
		return true
	case *SubscriptingRef, *ArrayExpr, *RowExpr, *CoalesceExpr, *MinMaxExpr, *SQLValueFunction, *NextValueExpr, *NullIfExpr,
		*Aggref, *GroupingFunc, *WindowFunc, *FuncExpr, *CaseExpr:
		return true
	case *FieldSelect:
		_, ok := parent.(*FieldSelect)
		return !ok
	case *FieldStore:
		_, ok := parent.(*FieldStore)
		return !ok
	case *CoerceToDomain:
		return d.isSimple(n.Arg, n)
	case *RelabelType:
		return d.isSimple(n.Arg, n)
	case *CoerceViaIO:
		return d.isSimple(n.Arg, n)
	case *ArrayCoerceExpr:
		return d.isSimple(n.Arg, n)
	case *ConvertRowtypeExpr:
		return d.isSimple(n.Arg, n)
	case *OpExpr:
		if p, ok := parent.(*OpExpr); ok && d.parens {
			return d.bindsTighter(n, p)
		}
		return setOff(parent, true)
	case *SubLink, *NullTest, *BooleanTest, *DistinctExpr:
		return setOff(parent, true)
	case *BoolExpr:
		if p, ok := parent.(*BoolExpr); ok {
			if n.Op == Or {
				return p.Op == Or
			}
			return p.Op != Not
		}
		return setOff(parent, false)
	}
	return false
}

// setOff tells whether parent's syntax separates its parts: with commas, keywords or parentheses of its own, or,
// with inBool, the low precedence of AND, OR and NOT.
func setOff(parent Expr, inBool bool) bool {
	switch p := parent.(type) {
	case *FuncExpr:
		return p.Format == ExplicitCall
	case *BoolExpr:
		return inBool
	case *SubscriptingRef, *ArrayExpr, *RowExpr, *CoalesceExpr, *MinMaxExpr, *NullIfExpr, *Aggref, *GroupingFunc, *WindowFunc, *CaseExpr:
		return true
	}
	return false
}

// bindsTighter knows + and - and * / %.
func (d *deparser) bindsTighter(n, parent *OpExpr) bool {
	op, up := d.arithmetic(n), d.arithmetic(parent)
	if op == 0 || up == 0 {
		return false
	}
	low, lowUp := strings.IndexByte("+-", op) >= 0, strings.IndexByte("+-", up) >= 0
	switch {
	case !low && lowUp:
		return true
	case low && !lowUp:
		return false
	}
	return Expr(n) == parent.Args[0]
}

// arithmetic is the operator's character, 0 for others than the five.
func (d *deparser) arithmetic(n *OpExpr) byte {
	if len(n.Args) != 2 {
		return 0
	}
	name := d.operatorName(n.Op, n.Args[0].Type(), n.Args[1].Type())
	if len(name) != 1 || !strings.Contains("+-*/%", name) {
		return 0
	}
	return name[0]
}
