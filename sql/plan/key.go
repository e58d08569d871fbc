package plan

import (
	"fmt"
	"strings"

	"github.com/minipg/minipg/sql/analyze"
)

// exprKey is a text that two expressions share exactly if they compute the same
// from the same inputs, wherever they stood in the statement.
func exprKey(e analyze.Expr) string {
	var b strings.Builder
	writeKey(&b, e)
	return b.String()
}

func writeKey(b *strings.Builder, e analyze.Expr) {
	if e == nil {
		b.WriteString("nil")
		return
	}
	switch n := e.(type) {
	case *analyze.Var:
		fmt.Fprintf(b, "v%d.%d.%d", n.RT, n.Attno, n.LevelsUp)
		return
	case *analyze.Const:
		fmt.Fprintf(b, "c%d:%d:%t:%d:%q:%d", n.Typ, n.Mod, n.Value.Null, n.Value.W, n.Value.B, n.Lifted)
		return
	case *analyze.Param:
		fmt.Fprintf(b, "p%d:%t", n.Number, n.Exec)
		return
	case *Col:
		fmt.Fprintf(b, "col%d.%d", n.Input, n.Index)
		return
	case *analyze.SubColumn:
		fmt.Fprintf(b, "sc%d", n.Number)
		return
	case *analyze.SubLink, *SubPlan, *analyze.NextValueExpr:
		fmt.Fprintf(b, "%p", n) // each is its own
		return
	}
	fmt.Fprintf(b, "%T", e)
	writeKeyHead(b, e)
	fmt.Fprintf(b, ":%d:%d(", e.Type(), e.Typmod())
	mapChildren(e, func(c analyze.Expr) analyze.Expr {
		writeKey(b, c)
		b.WriteByte(',')
		return c
	})
	b.WriteByte(')')
}

// writeKeyHead writes what distinguishes nodes of one kind besides their children.
func writeKeyHead(b *strings.Builder, e analyze.Expr) {
	switch n := e.(type) {
	case *analyze.FuncExpr:
		fmt.Fprint(b, n.Func, n.Variadic)
	case *analyze.OpExpr:
		fmt.Fprint(b, n.Op)
	case *analyze.DistinctExpr:
		fmt.Fprint(b, n.Op)
	case *analyze.NullIfExpr:
		fmt.Fprint(b, n.Op)
	case *analyze.ScalarArrayOpExpr:
		fmt.Fprint(b, n.Op, n.UseOr)
	case *analyze.BoolExpr:
		fmt.Fprint(b, n.Op)
	case *analyze.MinMaxExpr:
		fmt.Fprint(b, n.Greatest)
	case *analyze.NullTest:
		fmt.Fprint(b, n.IsNot)
	case *analyze.BooleanTest:
		fmt.Fprint(b, n.Kind)
	case *analyze.FieldSelect:
		fmt.Fprint(b, n.Attno)
	case *analyze.SQLValueFunction:
		fmt.Fprint(b, n.Kind)
	case *analyze.CollateExpr:
		fmt.Fprint(b, n.Coll)
	case *analyze.RowCompareExpr:
		fmt.Fprint(b, n.Kind, n.Ops, len(n.Left))
	case *analyze.CaseExpr:
		fmt.Fprint(b, n.Arg != nil, len(n.Whens))
	case *analyze.SubscriptingRef:
		fmt.Fprint(b, len(n.Upper), len(n.Lower), n.Slice)
		for _, s := range append(append([]analyze.Expr(nil), n.Upper...), n.Lower...) {
			fmt.Fprint(b, s == nil)
		}
	case *analyze.GroupingFunc:
		fmt.Fprint(b, n.Refs)
	case *analyze.Aggref:
		fmt.Fprint(b, n.Func, n.Star, n.Distinct, n.NArgs, n.OrderBy, n.Filter != nil, n.LevelsUp)
	case *analyze.WindowFunc:
		fmt.Fprint(b, n.Func, n.Star, n.Window, n.Filter != nil)
	}
}

func equalExprs(a, b analyze.Expr) bool { return a == b || exprKey(a) == exprKey(b) }
