package analyze

import pg_query "github.com/pganalyze/pg_query_go/v6"

// location is the byte offset where an expression starts, -1 if that is not known: of an operator the
// leftmost of its parts. Follows exprLocation.
func location(e Expr) int {
	switch n := e.(type) {
	case nil:
		return -1
	case *FuncExpr:
		return leftmost(n.Loc, firstLocation(n.Args))
	case *OpExpr:
		return leftmost(n.Loc, firstLocation(n.Args))
	case *DistinctExpr:
		return leftmost(n.Loc, firstLocation(n.Args))
	case *NullIfExpr:
		return leftmost(n.Loc, firstLocation(n.Args))
	case *ScalarArrayOpExpr:
		return leftmost(n.Loc, location(n.Scalar))
	case *BoolExpr:
		return leftmost(n.Loc, firstLocation(n.Args))
	case *SubLink:
		return leftmost(n.Loc, location(n.Test))
	case *FieldSelect:
		return location(n.Arg)
	case *FieldStore:
		return location(n.Arg)
	case *RelabelType:
		return leftmost(n.Loc, location(n.Arg))
	case *CoerceViaIO:
		return leftmost(n.Loc, location(n.Arg))
	case *ArrayCoerceExpr:
		return leftmost(n.Loc, location(n.Arg))
	case *ConvertRowtypeExpr:
		return leftmost(n.Loc, location(n.Arg))
	case *CoerceToDomain:
		return leftmost(n.Loc, location(n.Arg))
	case *CollateExpr:
		return location(n.Arg)
	case *NullTest:
		return leftmost(n.Loc, location(n.Arg))
	case *BooleanTest:
		return leftmost(n.Loc, location(n.Arg))
	case *RowCompareExpr:
		return firstLocation(n.Left)
	case *SubscriptingRef:
		return location(n.Container)
	}
	return e.(interface{ Location() int }).Location()
}

func leftmost(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// firstLocation is that of the first of a list that has one.
func firstLocation(list []Expr) int {
	for _, e := range list {
		if e == nil {
			continue
		}
		if l := location(e); l >= 0 {
			return l
		}
	}
	return -1
}

// rawLocation is location for the parse tree.
func rawLocation(n *pg_query.Node) int {
	if n == nil {
		return -1
	}
	switch v := n.Node.(type) {
	case *pg_query.Node_ColumnRef:
		return int(v.ColumnRef.Location)
	case *pg_query.Node_ParamRef:
		return int(v.ParamRef.Location)
	case *pg_query.Node_AConst:
		return int(v.AConst.Location)
	case *pg_query.Node_AExpr:
		return leftmost(int(v.AExpr.Location), rawLocation(v.AExpr.Lexpr))
	case *pg_query.Node_FuncCall:
		return leftmost(int(v.FuncCall.Location), firstRawLocation(v.FuncCall.Args))
	case *pg_query.Node_AArrayExpr:
		return int(v.AArrayExpr.Location)
	case *pg_query.Node_AIndirection:
		return rawLocation(v.AIndirection.Arg)
	case *pg_query.Node_ResTarget:
		return int(v.ResTarget.Location)
	case *pg_query.Node_MultiAssignRef:
		return rawLocation(v.MultiAssignRef.Source)
	case *pg_query.Node_TypeCast:
		loc := leftmost(rawLocation(v.TypeCast.Arg), int(v.TypeCast.TypeName.GetLocation()))
		return leftmost(loc, int(v.TypeCast.Location))
	case *pg_query.Node_CollateClause:
		return rawLocation(v.CollateClause.Arg)
	case *pg_query.Node_SortBy:
		return rawLocation(v.SortBy.Node)
	case *pg_query.Node_BoolExpr:
		return leftmost(int(v.BoolExpr.Location), firstRawLocation(v.BoolExpr.Args))
	case *pg_query.Node_NullTest:
		return leftmost(int(v.NullTest.Location), rawLocation(v.NullTest.Arg))
	case *pg_query.Node_BooleanTest:
		return leftmost(int(v.BooleanTest.Location), rawLocation(v.BooleanTest.Arg))
	case *pg_query.Node_SubLink:
		return leftmost(rawLocation(v.SubLink.Testexpr), int(v.SubLink.Location))
	case *pg_query.Node_RowExpr:
		return int(v.RowExpr.Location)
	case *pg_query.Node_CaseExpr:
		return int(v.CaseExpr.Location)
	case *pg_query.Node_CaseWhen:
		return int(v.CaseWhen.Location)
	case *pg_query.Node_CoalesceExpr:
		return int(v.CoalesceExpr.Location)
	case *pg_query.Node_MinMaxExpr:
		return int(v.MinMaxExpr.Location)
	case *pg_query.Node_SqlvalueFunction:
		return int(v.SqlvalueFunction.Location)
	case *pg_query.Node_SetToDefault:
		return int(v.SetToDefault.Location)
	case *pg_query.Node_GroupingFunc:
		return int(v.GroupingFunc.Location)
	case *pg_query.Node_GroupingSet:
		return int(v.GroupingSet.Location)
	case *pg_query.Node_NamedArgExpr:
		return int(v.NamedArgExpr.Location)
	case *pg_query.Node_XmlExpr:
		return int(v.XmlExpr.Location)
	case *pg_query.Node_XmlSerialize:
		return int(v.XmlSerialize.Location)
	case *pg_query.Node_RangeVar:
		return int(v.RangeVar.Location)
	case *pg_query.Node_TypeName:
		return int(v.TypeName.Location)
	case *pg_query.Node_WindowDef:
		return int(v.WindowDef.Location)
	case *pg_query.Node_CommonTableExpr:
		return int(v.CommonTableExpr.Location)
	case *pg_query.Node_List:
		return firstRawLocation(v.List.Items)
	}
	return -1
}

func firstRawLocation(list []*pg_query.Node) int {
	for _, n := range list {
		if l := rawLocation(n); l >= 0 {
			return l
		}
	}
	return -1
}
