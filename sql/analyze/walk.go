package analyze

import (
	"bytes"
	"reflect"

	"github.com/minipg/minipg/catalog"
)

var relationType = reflect.TypeFor[*catalog.Relation]()

// VisitChildren calls fn with each place in e that holds an expression, so that fn may replace it. Sub-selects
// are not entered, only what SubLink.Test holds. Places that hold nil are left out.
func VisitChildren(e Expr, fn func(*Expr)) {
	one := func(p *Expr) {
		if *p != nil {
			fn(p)
		}
	}
	list := func(l []Expr) {
		for i := range l {
			one(&l[i])
		}
	}
	switch n := e.(type) {
	case *FuncExpr:
		list(n.Args)
	case *OpExpr:
		list(n.Args)
	case *DistinctExpr:
		list(n.Args)
	case *NullIfExpr:
		list(n.Args)
	case *ScalarArrayOpExpr:
		one(&n.Scalar)
		one(&n.Array)
	case *BoolExpr:
		list(n.Args)
	case *CaseExpr:
		one(&n.Arg)
		for i := range n.Whens {
			one(&n.Whens[i].When)
			one(&n.Whens[i].Then)
		}
		one(&n.Else)
	case *CoalesceExpr:
		list(n.Args)
	case *MinMaxExpr:
		list(n.Args)
	case *NullTest:
		one(&n.Arg)
	case *BooleanTest:
		one(&n.Arg)
	case *RelabelType:
		one(&n.Arg)
	case *CoerceViaIO:
		one(&n.Arg)
	case *ArrayCoerceExpr:
		one(&n.Arg)
		one(&n.ElemExpr)
	case *ConvertRowtypeExpr:
		one(&n.Arg)
	case *CoerceToDomain:
		one(&n.Arg)
	case *ArrayExpr:
		list(n.Elems)
	case *RowExpr:
		list(n.Args)
	case *RowCompareExpr:
		list(n.Left)
		list(n.Right)
	case *FieldSelect:
		one(&n.Arg)
	case *FieldStore:
		one(&n.Arg)
		list(n.Values)
	case *SubscriptingRef:
		list(n.Upper)
		list(n.Lower)
		one(&n.Container)
		one(&n.Assign)
	case *CollateExpr:
		one(&n.Arg)
	case *SubLink:
		one(&n.Test)
	case *Aggref:
		list(n.Direct)
		for i := range n.Args {
			one(&n.Args[i].Expr)
		}
		one(&n.Filter)
	case *GroupingFunc:
		list(n.Args)
	case *WindowFunc:
		list(n.Args)
		one(&n.Filter)
	}
}

// walkExpr calls fn for e and all below it but sub-selects, parents first, where fn says to go on.
func walkExpr(e Expr, fn func(Expr) bool) {
	if e == nil || !fn(e) {
		return
	}
	VisitChildren(e, func(p *Expr) { walkExpr(*p, fn) })
}

// WalkExpr calls fn for e and everything below it, parents first, into sub-selects too: depth is how many queries
// down the expression is. Returning false leaves out what is below.
func WalkExpr(e Expr, depth int, fn func(e Expr, depth int) bool) {
	if e == nil || !fn(e, depth) {
		return
	}
	VisitChildren(e, func(p *Expr) { WalkExpr(*p, depth, fn) })
	if sub, ok := e.(*SubLink); ok {
		WalkQuery(sub.Query, depth+1, fn)
	}
}

// WalkQuery is WalkExpr for every expression in q, whose own are at depth.
func WalkQuery(q *Query, depth int, fn func(e Expr, depth int) bool) {
	if q == nil {
		return
	}
	VisitQuery(q, func(p *Expr) { WalkExpr(*p, depth, fn) }, func(sub *Query) { WalkQuery(sub, depth+1, fn) })
}

// VisitQuery calls fn with each place of q itself that holds an expression, and sub for each query right below: of
// WITH, FROM and set operations. Sub-selects in expressions are for the caller to find.
func VisitQuery(q *Query, fn func(*Expr), sub func(*Query)) {
	one := func(p *Expr) {
		if *p != nil {
			fn(p)
		}
	}
	targets := func(l []TargetEntry) {
		for i := range l {
			one(&l[i].Expr)
		}
	}
	for _, c := range q.CTEs {
		if c.Query != nil {
			sub(c.Query)
		}
	}
	for _, r := range q.RTable {
		visitRTE(r, one, sub)
	}
	for _, f := range q.From {
		visitFrom(f, one)
	}
	one(&q.Where)
	targets(q.Targets)
	targets(q.Returning)
	one(&q.Having)
	one(&q.Offset)
	one(&q.Limit)
	for _, w := range q.Windows {
		one(&w.Frame.StartOffset)
		one(&w.Frame.EndOffset)
	}
	if oc := q.OnConflict; oc != nil {
		targets(oc.Targets)
		one(&oc.Where)
	}
	visitSetOp(q.SetOp, sub)
}

func visitRTE(r *RangeTableEntry, one func(*Expr), sub func(*Query)) {
	if r.Subquery != nil {
		sub(r.Subquery)
	}
	for i := range r.JoinVars {
		one(&r.JoinVars[i])
	}
	for i := range r.Functions {
		one(&r.Functions[i].Call)
	}
	for _, row := range r.Values {
		for i := range row {
			one(&row[i])
		}
	}
	if t := r.Sample; t != nil {
		for i := range t.Args {
			one(&t.Args[i])
		}
		one(&t.Repeatable)
	}
}

func visitFrom(f FromItem, one func(*Expr)) {
	if j, ok := f.(*Join); ok {
		visitFrom(j.Left, one)
		visitFrom(j.Right, one)
		one(&j.On)
	}
}

func visitSetOp(s *SetOp, sub func(*Query)) {
	switch {
	case s == nil:
	case s.Query != nil:
		sub(s.Query)
	default:
		visitSetOp(s.Left, sub)
		visitSetOp(s.Right, sub)
	}
}

// cloneExpr copies e and all below it; sub-selects are shared.
func cloneExpr(e Expr) Expr {
	if e == nil {
		return nil
	}
	v := reflect.ValueOf(e).Elem()
	n := reflect.New(v.Type())
	n.Elem().Set(v)
	cloneSlices(n.Elem())
	c := n.Interface().(Expr)
	VisitChildren(c, func(p *Expr) { *p = cloneExpr(*p) })
	return c
}

// cloneSlices gives a copied node slices of its own.
func cloneSlices(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Kind() {
		case reflect.Slice:
			if f.Len() > 0 && f.CanSet() {
				f.Set(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, f.Len()), f))
			}
		case reflect.Struct:
			if f.Type() == reflect.TypeFor[OpExpr]() {
				cloneSlices(f)
			}
		}
	}
}

func cloneExprs(list []Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = cloneExpr(e)
	}
	return out
}

// ignored are fields that do not make expressions different: where they stood and how they were written.
var ignored = map[string]bool{
	"Loc": true, "Format": true, "SynRT": true, "SynAttno": true, "Written": true, "Implicit": true, "Lifted": true, "Negated": true,
	"SelectCols": true, "InsertCols": true, "UpdateCols": true, "AliasColumns": true,
}

// equalExpr tells whether two expressions are the same but for what ignored lists. Literals that are equal only for
// their present values are pinned (invariant 4); the cache's key says which literals are written alike.
func (a *analysis) equalExpr(x, y Expr) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	if vx, ok := x.(*Var); ok {
		vy, ok := y.(*Var)
		return ok && vx.RT == vy.RT && vx.Attno == vy.Attno && vx.LevelsUp == vy.LevelsUp && vx.Typ == vy.Typ
	}
	var pins []*Const
	if !equalValues(reflect.ValueOf(x), reflect.ValueOf(y), a, &pins) {
		return false
	}
	for _, c := range pins {
		a.pinAnalyzed(c)
	}
	return true
}

func equalValues(x, y reflect.Value, a *analysis, pins *[]*Const) bool {
	if x.Kind() == reflect.Interface {
		if x.IsNil() || y.IsNil() {
			return x.IsNil() == y.IsNil()
		}
		x, y = x.Elem(), y.Elem()
	}
	if x.Type() != y.Type() {
		return false
	}
	switch x.Kind() {
	case reflect.Pointer:
		if x.IsNil() || y.IsNil() || x.Pointer() == y.Pointer() {
			return x.Pointer() == y.Pointer()
		}
		if x.Type() == relationType {
			return x.Elem().FieldByName("OID").Uint() == y.Elem().FieldByName("OID").Uint()
		}
		if cx, ok := x.Interface().(*Const); ok {
			cy := y.Interface().(*Const)
			if cx.Lifted != cy.Lifted && equalConst(cx, cy) && !a.spelledAlike(cx, cy) {
				*pins = append(*pins, cx, cy)
			}
			return equalConst(cx, cy)
		}
		return equalValues(x.Elem(), y.Elem(), a, pins)
	case reflect.Struct:
		t := x.Type()
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() && !f.Anonymous || ignored[f.Name] {
				continue
			}
			if !equalValues(x.Field(i), y.Field(i), a, pins) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if !equalValues(x.Index(i), y.Index(i), a, pins) {
				return false
			}
		}
		return true
	}
	return x.Equal(y)
}

func equalConst(x, y *Const) bool {
	if x.Typ != y.Typ || x.Mod != y.Mod || x.Coll != y.Coll {
		return false
	}
	if x.Value.Null || y.Value.Null {
		return x.Value.Null == y.Value.Null
	}
	return x.Value.W == y.Value.W && bytes.Equal(x.Value.B, y.Value.B)
}

// spelledAlike tells whether two literals are the same text, which the cache's key makes sure of.
func (a *analysis) spelledAlike(x, y *Const) bool {
	if x.Lifted == 0 || y.Lifted == 0 || x.Negated != y.Negated {
		return false
	}
	return a.literalText(x) == a.literalText(y)
}

func (a *analysis) literalText(c *Const) string {
	off := c.Loc
	if off >= 0 && a.literalIndex(off) != c.Lifted {
		off, _ = a.numberStart(off)
	}
	if off < 0 || off >= len(a.sql) {
		return ""
	}
	end := off + 1
	if q := a.sql[off]; q == '\'' {
		for end < len(a.sql) && a.sql[end] != '\'' {
			end++
		}
		return a.sql[off:end]
	}
	for end < len(a.sql) && (isWordByte(a.sql[end]) || a.sql[end] == '.') {
		end++
	}
	return a.sql[off:end]
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// containsVars tells whether e refers to columns of its own query level.
func containsVars(e Expr) bool {
	found := false
	WalkExpr(e, 0, func(n Expr, depth int) bool {
		switch v := n.(type) {
		case *Var:
			found = found || v.LevelsUp == depth
		case *CurrentOf:
			found = found || depth == 0
		}
		return !found
	})
	return found
}

// returnsSet tells whether e gives more than one row. Follows expression_returns_set.
func returnsSet(e Expr) bool {
	found := false
	walkExpr(e, func(n Expr) bool {
		switch f := n.(type) {
		case *FuncExpr:
			found = found || f.RetSet
		case *OpExpr:
			found = found || f.RetSet
		case *Aggref, *GroupingFunc, *WindowFunc, *SubLink:
			return false
		}
		return !found
	})
	return found
}

// IncrementLevels adds delta to the level of every reference in e that points at least minLevel queries out.
func IncrementLevels(e Expr, delta, minLevel int) {
	WalkExpr(e, minLevel, func(n Expr, depth int) bool {
		shiftLevels(n, delta, depth)
		return true
	})
}

func shiftLevels(n Expr, delta, depth int) {
	switch v := n.(type) {
	case *Var:
		if v.LevelsUp >= depth {
			v.LevelsUp += delta
		}
	case *Aggref:
		if v.LevelsUp >= depth {
			v.LevelsUp += delta
		}
	case *GroupingFunc:
		if v.LevelsUp >= depth {
			v.LevelsUp += delta
		}
	}
}
