package analyze

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func isNullConst(n *pg_query.Node) bool {
	c := n.GetAConst()
	return c != nil && c.Isnull
}

func (s *state) transformAExpr(e *pg_query.A_Expr) Expr {
	switch e.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP, pg_query.A_Expr_Kind_AEXPR_LIKE,
		pg_query.A_Expr_Kind_AEXPR_ILIKE, pg_query.A_Expr_Kind_AEXPR_SIMILAR:
		return s.transformOp(e)
	case pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL:
		left, right := s.transformExprRecurse(e.Lexpr), s.transformExprRecurse(e.Rexpr)
		return s.makeScalarArrayOp(operatorNames(e.Name), e.Kind == pg_query.A_Expr_Kind_AEXPR_OP_ANY, left, right, int(e.Location))
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT, pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return s.transformDistinct(e)
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return s.transformNullIf(e)
	case pg_query.A_Expr_Kind_AEXPR_IN:
		return s.transformIn(e)
	default:
		return s.transformBetween(e)
	}
}

// transformOp follows transformAExprOp.
func (s *state) transformOp(e *pg_query.A_Expr) Expr {
	names, loc := operatorNames(e.Name), int(e.Location)
	if s.TransformNullEquals && len(names) == 1 && names[0] == "=" && e.Kind == pg_query.A_Expr_Kind_AEXPR_OP &&
		(isNullConst(e.Lexpr) || isNullConst(e.Rexpr)) && e.Lexpr.GetCaseExpr() == nil {
		arg := e.Lexpr
		if isNullConst(arg) {
			arg = e.Rexpr
		}
		return s.transformNullTest(&pg_query.NullTest{Arg: arg, Nulltesttype: pg_query.NullTestType_IS_NULL, Location: e.Location})
	}
	leftRow := e.Lexpr.GetRowExpr()
	if sub := e.Rexpr.GetSubLink(); leftRow != nil && sub != nil && sub.SubLinkType == pg_query.SubLinkType_EXPR_SUBLINK {
		return s.transformRowCompareSubLink(e, sub)
	}
	if rightRow := e.Rexpr.GetRowExpr(); leftRow != nil && rightRow != nil {
		left, right := s.transformRow(leftRow).(*RowExpr), s.transformRow(rightRow).(*RowExpr)
		return s.makeRowComparison(names, left.Args, right.Args, loc)
	}
	left := s.transformExprRecurse(e.Lexpr)
	right := s.transformExprRecurse(e.Rexpr)
	if right == nil {
		raise(s.err(loc, pgerr.SyntaxError, "postfix operators are not supported"))
	}
	return s.makeOp(names, left, right, loc)
}

// transformDistinct follows transformAExprDistinct.
func (s *state) transformDistinct(e *pg_query.A_Expr) Expr {
	loc := int(e.Location)
	not := e.Kind == pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT
	// Compared with a bare NULL it is a null test, for which the type needs no equality.
	for _, pair := range [][2]*pg_query.Node{{e.Rexpr, e.Lexpr}, {e.Lexpr, e.Rexpr}} {
		if isNullConst(pair[0]) {
			return &NullTest{Typed: NewTyped(types.Bool, -1, 0, loc), Arg: s.transformExprRecurse(pair[1]), IsNot: !not}
		}
	}
	names := operatorNames(e.Name)
	left, right := s.transformExprRecurse(e.Lexpr), s.transformExprRecurse(e.Rexpr)
	var result Expr
	lrow, lok := left.(*RowExpr)
	rrow, rok := right.(*RowExpr)
	if lok && rok {
		result = s.makeRowDistinct(names, lrow.Args, rrow.Args, loc)
	} else {
		result = s.makeDistinct(names, left, right, loc)
	}
	if not {
		return newBool(Not, []Expr{result}, loc)
	}
	return result
}

func (s *state) makeDistinct(names []string, left, right Expr, loc int) Expr {
	op := s.makeOp(names, left, right, loc).(*OpExpr)
	if op.Typ != types.Bool {
		raise(s.err(loc, pgerr.DatatypeMismatch, "%s requires = operator to yield boolean", "IS DISTINCT FROM"))
	}
	if op.RetSet {
		raise(s.err(loc, pgerr.DatatypeMismatch, "%s must not return a set", "IS DISTINCT FROM"))
	}
	return &DistinctExpr{OpExpr: *op}
}

// makeRowDistinct follows make_row_distinct_op.
func (s *state) makeRowDistinct(names []string, left, right []Expr, loc int) Expr {
	if len(left) != len(right) {
		raise(s.err(loc, pgerr.SyntaxError, "unequal number of entries in row expressions"))
	}
	var result Expr
	for i := range left {
		cmp := s.makeDistinct(names, left[i], right[i], loc)
		if result == nil {
			result = cmp
		} else {
			result = newBool(Or, []Expr{result, cmp}, loc)
		}
	}
	if result == nil {
		c := newConst(types.Bool, types.BoolDatum(false))
		return c
	}
	return result
}

// transformNullIf follows transformAExprNullIf.
func (s *state) transformNullIf(e *pg_query.A_Expr) Expr {
	loc := int(e.Location)
	op := s.makeOp(operatorNames(e.Name), s.transformExprRecurse(e.Lexpr), s.transformExprRecurse(e.Rexpr), loc).(*OpExpr)
	if op.Typ != types.Bool {
		raise(s.err(loc, pgerr.DatatypeMismatch, "%s requires = operator to yield boolean", "NULLIF"))
	}
	if op.RetSet {
		raise(s.err(loc, pgerr.DatatypeMismatch, "%s must not return a set", "NULLIF"))
	}
	op.Typ, op.Mod = op.Args[0].Type(), op.Args[0].Typmod()
	return &NullIfExpr{OpExpr: *op}
}

// transformIn follows transformAExprIn: an array of the items without column references if there is more than
// one, and the rest compared one by one.
func (s *state) transformIn(e *pg_query.A_Expr) Expr {
	names, loc := operatorNames(e.Name), int(e.Location)
	useOr := names[0] != "<>"
	left := s.transformExprRecurse(e.Lexpr)
	var items, plain, vars []Expr
	for _, n := range e.Rexpr.GetList().Items {
		item := s.transformExprRecurse(n)
		items = append(items, item)
		if containsVars(item) {
			vars = append(vars, item)
		} else {
			plain = append(plain, item)
		}
	}
	var result Expr
	if len(plain) > 1 {
		all := append([]Expr{left}, plain...)
		elem, _ := s.commonType(all, "")
		if elem != 0 && !s.allCoerce(exprTypes(all), elem) {
			elem = 0
		}
		var array types.OID
		if elem != 0 && elem != types.Record {
			array = s.arrayType(elem)
		}
		if array != 0 {
			for i := range plain {
				plain[i] = s.coerceToCommon(plain[i], elem, "IN")
			}
			arr := &ArrayExpr{Typed: NewTyped(array, commonTypmod(plain, elem), 0, -1), Elem: elem, Elems: plain}
			result = s.makeScalarArrayOp(names, useOr, left, arr, loc)
			items = vars
		}
	}
	for _, item := range items {
		var cmp Expr
		lrow, lok := left.(*RowExpr)
		rrow, rok := item.(*RowExpr)
		lhs := cloneExpr(left)
		if lok && rok {
			cmp = s.makeRowComparison(names, cloneExprs(lrow.Args), rrow.Args, loc)
		} else {
			cmp = s.makeOp(names, lhs, item, loc)
		}
		cmp = s.coerceToBoolean(cmp, "IN")
		switch {
		case result == nil:
			result = cmp
		case useOr:
			result = newBool(Or, []Expr{result, cmp}, loc)
		default:
			result = newBool(And, []Expr{result, cmp}, loc)
		}
	}
	return result
}

// transformBetween follows transformAExprBetween: the forms become comparisons, the first operand analyzed for each.
func (s *state) transformBetween(e *pg_query.A_Expr) Expr {
	bounds := e.Rexpr.GetList().Items
	loc := int(e.Location)
	cmp := func(op string, bound *pg_query.Node) Expr {
		return s.transformOp(&pg_query.A_Expr{
			Kind: pg_query.A_Expr_Kind_AEXPR_OP, Name: []*pg_query.Node{pg_query.MakeStrNode(op)},
			Lexpr: e.Lexpr, Rexpr: bound, Location: e.Location,
		})
	}
	both := func(op BoolOp, left, right Expr) Expr {
		name := "AND"
		if op == Or {
			name = "OR"
		}
		return newBool(op, []Expr{s.coerceToBoolean(left, name), s.coerceToBoolean(right, name)}, loc)
	}
	lo, hi := bounds[0], bounds[1]
	switch e.Kind {
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN:
		return both(And, cmp(">=", lo), cmp("<=", hi))
	case pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return both(Or, cmp("<", lo), cmp(">", hi))
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM:
		return both(Or, both(And, cmp(">=", lo), cmp("<=", hi)), both(And, cmp(">=", hi), cmp("<=", lo)))
	case pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return both(And, both(Or, cmp("<", lo), cmp(">", hi)), both(Or, cmp("<", hi), cmp(">", lo)))
	}
	s.unsupported(loc, "expression of kind %s is not supported", e.Kind)
	return nil
}

// Row comparison strategies: the btree ones and <>.
const (
	strategyLess = iota + 1
	strategyLessEqual
	strategyEqual
	strategyGreaterEqual
	strategyGreater
	strategyNotEqual
)

// btreeStrategies are the roles an operator has in btree families, with <> as the negation of =.
func (a *analysis) btreeStrategies(op types.OID) (strategies []int, families map[int][]types.OID) {
	families = make(map[int][]types.OID)
	add := func(strategy int, family types.OID) {
		if !slices.Contains(strategies, strategy) {
			strategies = append(strategies, strategy)
		}
		families[strategy] = append(families[strategy], family)
	}
	for _, e := range must(a.Catalog.OperatorFamilies(op)) {
		if e.Method == catalog.AMBtree {
			add(int(e.Strategy), e.Family)
		}
	}
	if len(strategies) > 0 {
		return strategies, families
	}
	if neg := a.operator(op).Negator; neg != 0 {
		for _, e := range must(a.Catalog.OperatorFamilies(neg)) {
			if e.Method == catalog.AMBtree && e.Strategy == strategyEqual {
				add(strategyNotEqual, e.Family)
			}
		}
	}
	return strategies, families
}

// makeRowComparison follows make_row_comparison_op.
func (s *state) makeRowComparison(names []string, left, right []Expr, loc int) Expr {
	if len(left) != len(right) {
		raise(s.err(loc, pgerr.SyntaxError, "unequal number of entries in row expressions"))
	}
	if len(left) == 0 {
		raise(s.err(loc, pgerr.FeatureNotSupported, "cannot compare rows of zero length"))
	}
	ops := make([]Expr, len(left))
	for i := range left {
		op := s.makeOp(names, left[i], right[i], loc)
		if op.Type() != types.Bool {
			raise(s.err(loc, pgerr.DatatypeMismatch, "row comparison operator must yield type boolean, not type %s", s.formatType(op.Type())))
		}
		if returnsSet(op) {
			raise(s.err(loc, pgerr.DatatypeMismatch, "row comparison operator must not return a set"))
		}
		ops[i] = op
	}
	if len(ops) == 1 {
		return ops[0]
	}
	common := []int(nil)
	for i, op := range ops {
		st, _ := s.btreeStrategies(op.(*OpExpr).Op)
		if i == 0 {
			common = st
			continue
		}
		common = slices.DeleteFunc(common, func(x int) bool { return !slices.Contains(st, x) })
	}
	if len(common) == 0 {
		raise(s.err(loc, pgerr.FeatureNotSupported, "could not determine interpretation of row comparison operator %s", names[len(names)-1]).
			WithHint("Row comparison operators must be associated with btree operator families."))
	}
	strategy := slices.Min(common)
	switch strategy {
	case strategyEqual:
		return newBool(And, ops, loc)
	case strategyNotEqual:
		return newBool(Or, ops, loc)
	}
	r := &RowCompareExpr{Typed: NewTyped(types.Bool, -1, 0, loc)}
	r.Kind = map[int]string{strategyLess: "<", strategyLessEqual: "<=", strategyGreaterEqual: ">=", strategyGreater: ">"}[strategy]
	for _, op := range ops {
		o := op.(*OpExpr)
		r.Ops = append(r.Ops, o.Op)
		r.Funcs = append(r.Funcs, o.Func)
		r.InputColls = append(r.InputColls, 0)
		r.Left = append(r.Left, o.Args[0])
		r.Right = append(r.Right, o.Args[1])
	}
	return r
}
