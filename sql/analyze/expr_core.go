package analyze

import (
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// transformExpr analyzes an expression that stands in a place of a kind. Follows transformExpr.
func (s *state) transformExpr(n *pg_query.Node, k exprKind) Expr {
	old := s.kind
	s.kind = k
	e := s.transformExprRecurse(n)
	s.kind = old
	return e
}

func (s *state) transformExprRecurse(n *pg_query.Node) Expr {
	if n == nil {
		return nil
	}
	switch v := n.Node.(type) {
	case *pg_query.Node_ColumnRef:
		return s.transformColumnRef(v.ColumnRef)
	case *pg_query.Node_ParamRef:
		return s.transformParamRef(v.ParamRef)
	case *pg_query.Node_AConst:
		return s.makeConst(v.AConst)
	case *pg_query.Node_AIndirection:
		return s.transformIndirection(v.AIndirection)
	case *pg_query.Node_AArrayExpr:
		return s.transformArrayExpr(v.AArrayExpr, 0, 0, -1)
	case *pg_query.Node_TypeCast:
		return s.transformTypeCast(v.TypeCast)
	case *pg_query.Node_CollateClause:
		return s.transformCollate(v.CollateClause)
	case *pg_query.Node_AExpr:
		return s.transformAExpr(v.AExpr)
	case *pg_query.Node_BoolExpr:
		return s.transformBoolExpr(v.BoolExpr)
	case *pg_query.Node_FuncCall:
		return s.transformFuncCall(v.FuncCall)
	case *pg_query.Node_NamedArgExpr:
		return s.transformExprRecurse(v.NamedArgExpr.Arg)
	case *pg_query.Node_GroupingFunc:
		return s.transformGroupingFunc(v.GroupingFunc)
	case *pg_query.Node_SubLink:
		return s.transformSubLink(v.SubLink)
	case *pg_query.Node_CaseExpr:
		return s.transformCase(v.CaseExpr)
	case *pg_query.Node_RowExpr:
		return s.transformRow(v.RowExpr)
	case *pg_query.Node_CoalesceExpr:
		return s.transformCoalesce(v.CoalesceExpr)
	case *pg_query.Node_MinMaxExpr:
		return s.transformMinMax(v.MinMaxExpr)
	case *pg_query.Node_SqlvalueFunction:
		return s.transformSQLValue(v.SqlvalueFunction)
	case *pg_query.Node_NullTest:
		return s.transformNullTest(v.NullTest)
	case *pg_query.Node_BooleanTest:
		return s.transformBooleanTest(v.BooleanTest)
	case *pg_query.Node_CurrentOfExpr:
		return s.transformCurrentOf(v.CurrentOfExpr)
	case *pg_query.Node_SetToDefault:
		// INSERT and UPDATE look for DEFAULT before they come here.
		raise(s.err(int(v.SetToDefault.Location), pgerr.SyntaxError, "DEFAULT is not allowed in this context"))
	case *pg_query.Node_XmlExpr, *pg_query.Node_XmlSerialize:
		raise(s.err(rawLocation(n), pgerr.FeatureNotSupported, "unsupported XML feature").
			WithDetail("This functionality requires the server to be built with libxml support."))
	}
	s.unsupported(rawLocation(n), "expression of kind %T is not supported", n.Node)
	return nil
}

// makeConst follows make_const.
func (s *state) makeConst(c *pg_query.A_Const) Expr {
	loc := int(c.Location)
	if c.Isnull {
		return &Const{Typed: NewTyped(types.Unknown, -1, 0, loc), Value: types.NullDatum}
	}
	n := &Const{Typed: NewTyped(types.Unknown, -1, 0, loc)}
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		n.Typ, n.Value = types.Int4, types.Int64Datum(int64(v.Ival.GetIval()))
		s.liftNumber(n, n.Value.Int64() == -1<<31)
	case *pg_query.A_Const_Fval:
		text := v.Fval.Fval
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			n.Typ = types.Int8
			if i == int64(int32(i)) {
				n.Typ = types.Int4
			}
			n.Value = types.Int64Datum(i)
			s.liftNumber(n, i == -1<<31 || i == -1<<63)
			break
		}
		n.Typ = types.Numeric
		d, err := types.In(types.Numeric, -1, []byte(text), s.Env)
		if err != nil {
			s.at(loc, err)
		}
		n.Value = d
		s.liftNumber(n, false)
	case *pg_query.A_Const_Boolval:
		n.Typ, n.Value = types.Bool, types.BoolDatum(v.Boolval.GetBoolval())
	case *pg_query.A_Const_Sval:
		n.Value = types.TextDatum(v.Sval.GetSval())
		n.Lifted = s.literalIndex(loc)
	case *pg_query.A_Const_Bsval:
		n.Typ = types.Bit
		d, err := types.In(types.Bit, -1, []byte(v.Bsval.Bsval), s.Env)
		if err != nil {
			s.at(loc, err)
		}
		n.Value = d
		s.pin(loc)
	default:
		n.Typ, n.Value = types.Int4, types.Int64Datum(0)
		s.liftNumber(n, false)
	}
	return n
}

func (a *analysis) literalIndex(offset int) int {
	if a.LiteralIndex == nil || offset < 0 {
		return 0
	}
	return a.LiteralIndex(offset)
}

// liftNumber finds the digits of a number, which the grammar may have negated. At an edge value the
// type depends on the sign and the value is pinned.
func (s *state) liftNumber(c *Const, edge bool) {
	if s.LiteralIndex == nil {
		return
	}
	off, negated := s.numberStart(c.Loc)
	if edge {
		s.pin(off)
		return
	}
	c.Lifted = s.literalIndex(off)
	c.Negated = negated && c.Lifted != 0
}

// numberStart is the offset of the digits of a constant whose location may be that of a minus sign, with
// blanks, comments and parentheses in between.
func (a *analysis) numberStart(loc int) (off int, negated bool) {
	if loc < 0 {
		return -1, false
	}
	for i := loc; i < len(a.sql); {
		switch c := a.sql[i]; {
		case c >= '0' && c <= '9' || c == '.':
			return i, negated
		case c == '-' && i+1 < len(a.sql) && a.sql[i+1] == '-':
			for i < len(a.sql) && a.sql[i] != '\n' && a.sql[i] != '\r' {
				i++
			}
		case c == '-':
			negated = !negated
			i++
		case c == '/' && i+1 < len(a.sql) && a.sql[i+1] == '*':
			i = skipComment(a.sql, i)
		case c == '(' || c == ' ' || c >= '\t' && c <= '\r':
			i++
		default:
			return -1, false
		}
	}
	return -1, false
}

// skipComment is the offset after the comment, which may contain others, that starts at i.
func skipComment(sql string, i int) int {
	depth := 0
	for i < len(sql) {
		switch {
		case i+1 < len(sql) && sql[i] == '/' && sql[i+1] == '*':
			depth++
			i += 2
		case i+1 < len(sql) && sql[i] == '*' && sql[i+1] == '/':
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return i
}

// pin tells that the literal at an offset decided something by its value. Invariant 4.
func (a *analysis) pin(offset int) {
	if a.PinLiteral != nil && offset >= 0 {
		a.PinLiteral(offset)
	}
}

// pinConst pins a constant of the parse tree.
func (a *analysis) pinConst(c *pg_query.A_Const) {
	if a.PinLiteral == nil {
		return
	}
	switch c.Val.(type) {
	case *pg_query.A_Const_Sval, *pg_query.A_Const_Bsval:
		a.pin(int(c.Location))
	default:
		off, _ := a.numberStart(int(c.Location))
		a.pin(off)
	}
}

// pinExpr pins every literal in an expression.
func (a *analysis) pinExpr(e Expr) {
	if a.PinLiteral == nil {
		return
	}
	walkExpr(e, func(n Expr) bool {
		if c, ok := n.(*Const); ok && c.Lifted != 0 {
			a.pinAnalyzed(c)
		}
		return true
	})
}

func (a *analysis) pinAnalyzed(c *Const) {
	off := c.Loc
	if off >= 0 && off < len(a.sql) && a.literalIndex(off) != c.Lifted {
		off, _ = a.numberStart(off)
	}
	a.pin(off)
	c.Lifted, c.Negated = 0, false
}

// transformColumnRef follows transformColumnRef.
func (s *state) transformColumnRef(c *pg_query.ColumnRef) Expr {
	loc := int(c.Location)
	switch s.kind {
	case kindColumnDefault:
		raise(s.err(loc, pgerr.FeatureNotSupported, "cannot use column reference in DEFAULT expression"))
	case kindPartitionBound:
		raise(s.err(loc, pgerr.FeatureNotSupported, "cannot use column reference in partition bound expression"))
	}
	names := nameStrings(c.Fields)
	if e := s.hookColumn(names, true, loc); e != nil {
		return e
	}
	e, fail := s.resolveColumnRef(names, loc)
	if e == nil {
		if e = s.hookColumn(names, false, loc); e == nil {
			fail()
		}
	}
	return e
}

func (s *state) hookColumn(names []string, first bool, loc int) Expr {
	if s.Columns == nil {
		return nil
	}
	e, err := s.Columns(names, first)
	if err != nil {
		s.at(loc, err)
	}
	return e
}

// resolveColumnRef gives the expression, or what raises the error.
func (s *state) resolveColumnRef(names []string, loc int) (Expr, func()) {
	if len(names) == 1 {
		name := names[0]
		if e := s.columnNamed(name, loc); e != nil {
			return e, nil
		}
		// Not a column: perhaps a relation, as a whole row.
		if item, level := s.itemNamed("", name, loc); item != nil {
			return s.wholeRow(item, level, loc), nil
		}
		return nil, func() { s.missingColumn("", name, loc) }
	}
	if len(names) > 4 {
		return nil, func() {
			raise(s.err(loc, pgerr.SyntaxError, "improper qualified name (too many dotted names): %s", joinNames(names)))
		}
	}
	if len(names) == 4 {
		if names[0] != s.Database {
			return nil, func() {
				raise(s.err(loc, pgerr.FeatureNotSupported, "cross-database references are not implemented: %s", joinNames(names)))
			}
		}
		names = names[1:]
	}
	schema := ""
	if len(names) == 3 {
		schema, names = names[0], names[1:]
	}
	rel, col := names[0], names[1]
	item, level := s.itemNamed(schema, rel, loc)
	if item == nil {
		return nil, func() { s.missingTable(schema, rel, loc) }
	}
	if col == "*" {
		return s.wholeRow(item, level, loc), nil
	}
	if e := s.scanItem(item, level, col, loc); e != nil {
		return e, nil
	}
	c := &call{names: []string{col}, args: []Expr{s.wholeRow(item, level, loc)}, loc: loc, lastSRF: s.lastSRF}
	if e := s.resolveFuncCall(c); e != nil {
		return e, nil
	}
	return nil, func() { s.missingColumn(rel, col, loc) }
}

// transformTypeCast follows transformTypeCast.
func (s *state) transformTypeCast(t *pg_query.TypeCast) Expr {
	typ, typmod := s.typeNameMod(t.TypeName)
	var e Expr
	// In text that was printed, a cast of ARRAY[...] is one of the whole array: one of its elements is printed on them.
	if arr := t.Arg.GetAArrayExpr(); arr != nil && (!s.noPositions || len(arr.Elements) == 0) {
		base, baseMod := s.baseTypeMod(typ, typmod)
		if elem := s.elemType(base); elem != 0 {
			e = s.transformArrayExpr(arr, base, elem, baseMod)
		}
	}
	if e == nil {
		e = s.transformExprRecurse(t.Arg)
	}
	loc := int(t.Location)
	if loc < 0 {
		loc = int(t.TypeName.Location)
	}
	r := s.coerceToTarget(e, typ, typmod, coerceExplicit, ExplicitCast, loc)
	if r == nil {
		s.cannotCast(e.Type(), typ, coercionLocation(loc, e))
	}
	return r
}

func coercionLocation(loc int, e Expr) int {
	if loc >= 0 {
		return loc
	}
	return location(e)
}

// transformCollate follows transformCollateClause.
func (s *state) transformCollate(c *pg_query.CollateClause) Expr {
	e := s.transformExprRecurse(c.Arg)
	loc := int(c.Location)
	if t := e.Type(); t != types.Unknown && !s.collatable(t) {
		raise(s.err(loc, pgerr.DatatypeMismatch, "collations are not supported by type %s", s.formatType(t)))
	}
	return &CollateExpr{Typed: NewTyped(e.Type(), e.Typmod(), s.lookupCollation(nameStrings(c.Collname), loc), loc), Arg: e}
}

// transformBoolExpr follows transformBoolExpr.
func (s *state) transformBoolExpr(b *pg_query.BoolExpr) Expr {
	op, name := And, "AND"
	switch b.Boolop {
	case pg_query.BoolExprType_OR_EXPR:
		op, name = Or, "OR"
	case pg_query.BoolExprType_NOT_EXPR:
		op, name = Not, "NOT"
	}
	args := make([]Expr, len(b.Args))
	for i, n := range b.Args {
		args[i] = s.coerceToBoolean(s.transformExprRecurse(n), name)
	}
	return newBool(op, args, int(b.Location))
}

func newBool(op BoolOp, args []Expr, loc int) *BoolExpr {
	return &BoolExpr{Typed: NewTyped(types.Bool, -1, 0, loc), Op: op, Args: args}
}

// transformCase follows transformCaseExpr.
func (s *state) transformCase(c *pg_query.CaseExpr) Expr {
	last := s.lastSRF
	n := &CaseExpr{Typed: NewTyped(0, -1, 0, int(c.Location))}
	var test *CaseTest
	if c.Arg != nil {
		n.Arg = s.transformExprRecurse(c.Arg)
		if n.Arg.Type() == types.Unknown {
			n.Arg = s.coerceToCommon(n.Arg, types.Text, "CASE")
		}
		s.assignCollations(n.Arg)
		test = &CaseTest{Typed: NewTyped(n.Arg.Type(), n.Arg.Typmod(), n.Arg.Collation(), -1)}
	}
	var results []Expr
	for _, wn := range c.Args {
		w := wn.GetCaseWhen()
		cond := s.transformExprRecurse(w.Expr)
		if test != nil {
			cond = s.makeOp([]string{"="}, test, cond, int(w.Location))
		}
		arm := CaseWhen{When: s.coerceToBoolean(cond, "CASE/WHEN"), Then: s.transformExprRecurse(w.Result)}
		n.Whens = append(n.Whens, arm)
		results = append(results, arm.Then)
	}
	if c.Defresult != nil {
		n.Else = s.transformExprRecurse(c.Defresult)
	} else {
		n.Else = &Const{Typed: NewTyped(types.Unknown, -1, 0, -1), Value: types.NullDatum}
	}
	// The default counts most in choosing the type.
	results = append([]Expr{n.Else}, results...)
	n.Typ, _ = s.commonType(results, "CASE")
	n.Else = s.coerceToCommon(n.Else, n.Typ, "CASE/ELSE")
	results = []Expr{n.Else}
	for i := range n.Whens {
		n.Whens[i].Then = s.coerceToCommon(n.Whens[i].Then, n.Typ, "CASE/WHEN")
		results = append(results, n.Whens[i].Then)
	}
	n.Mod = commonTypmod(results, n.Typ)
	s.noSRFSince(last, "CASE")
	return n
}

// noSRFSince raises an error if a set-returning function was met since last.
func (s *state) noSRFSince(last Expr, construct string) {
	if s.lastSRF != last {
		raise(s.err(location(s.lastSRF), pgerr.FeatureNotSupported, "set-returning functions are not allowed in %s", construct).
			WithHint("You might be able to move the set-returning function into a LATERAL FROM item."))
	}
}

func (s *state) transformList(list []*pg_query.Node) []Expr {
	out := make([]Expr, len(list))
	for i, n := range list {
		out[i] = s.transformExprRecurse(n)
	}
	return out
}

// transformCoalesce follows transformCoalesceExpr.
func (s *state) transformCoalesce(c *pg_query.CoalesceExpr) Expr {
	last := s.lastSRF
	args := s.transformList(c.Args)
	typ, _ := s.commonType(args, "COALESCE")
	for i := range args {
		args[i] = s.coerceToCommon(args[i], typ, "COALESCE")
	}
	s.noSRFSince(last, "COALESCE")
	return &CoalesceExpr{Typed: NewTyped(typ, commonTypmod(args, typ), 0, int(c.Location)), Args: args}
}

// transformMinMax follows transformMinMaxExpr.
func (s *state) transformMinMax(m *pg_query.MinMaxExpr) Expr {
	greatest := m.Op == pg_query.MinMaxOp_IS_GREATEST
	name := "LEAST"
	if greatest {
		name = "GREATEST"
	}
	args := s.transformList(m.Args)
	typ, _ := s.commonType(args, name)
	for i := range args {
		args[i] = s.coerceToCommon(args[i], typ, name)
	}
	return &MinMaxExpr{Typed: NewTyped(typ, commonTypmod(args, typ), 0, int(m.Location)), Greatest: greatest, Args: args}
}

// maxTargets is PostgreSQL's MaxTupleAttributeNumber.
const maxTargets = 1664

// transformRow follows transformRowExpr.
func (s *state) transformRow(r *pg_query.RowExpr) Expr {
	args := s.transformExprList(r.Args, s.kind, false)
	if len(args) > maxTargets {
		raise(s.err(int(r.Location), pgerr.TooManyColumns, "ROW expressions can have at most %d entries", maxTargets))
	}
	return &RowExpr{
		Typed: NewTyped(types.Record, -1, 0, int(r.Location)), Args: args,
		Implicit: r.RowFormat == pg_query.CoercionForm_COERCE_IMPLICIT_CAST, Format: ImplicitCast,
	}
}

// transformNullTest follows the T_NullTest case of transformExprRecurse.
func (s *state) transformNullTest(t *pg_query.NullTest) Expr {
	arg := s.transformExprRecurse(t.Arg)
	return &NullTest{
		Typed: NewTyped(types.Bool, -1, 0, int(t.Location)), Arg: arg,
		IsNot: t.Nulltesttype == pg_query.NullTestType_IS_NOT_NULL, ArgIsRow: s.isRowType(arg.Type()),
	}
}

var booleanTests = map[pg_query.BoolTestType]struct {
	kind BoolTestKind
	name string
}{
	pg_query.BoolTestType_IS_TRUE:        {IsTrue, "IS TRUE"},
	pg_query.BoolTestType_IS_NOT_TRUE:    {IsNotTrue, "IS NOT TRUE"},
	pg_query.BoolTestType_IS_FALSE:       {IsFalse, "IS FALSE"},
	pg_query.BoolTestType_IS_NOT_FALSE:   {IsNotFalse, "IS NOT FALSE"},
	pg_query.BoolTestType_IS_UNKNOWN:     {IsUnknown, "IS UNKNOWN"},
	pg_query.BoolTestType_IS_NOT_UNKNOWN: {IsNotUnknown, "IS NOT UNKNOWN"},
}

func (s *state) transformBooleanTest(t *pg_query.BooleanTest) Expr {
	bt := booleanTests[t.Booltesttype]
	arg := s.coerceToBoolean(s.transformExprRecurse(t.Arg), bt.name)
	return &BooleanTest{Typed: NewTyped(types.Bool, -1, 0, int(t.Location)), Arg: arg, Kind: bt.kind}
}

func (s *state) transformCurrentOf(c *pg_query.CurrentOfExpr) Expr {
	if s.target == nil {
		raise(pgerr.New(pgerr.FeatureNotSupported, "WHERE CURRENT OF is not supported here"))
	}
	return &CurrentOf{Typed: NewTyped(types.Bool, -1, 0, -1), RT: s.target.rt, Cursor: c.CursorName}
}

// sqlValues gives the kind and type of each SQLValueFunction; the _N forms have a modifier.
var sqlValues = map[pg_query.SQLValueFunctionOp]struct {
	kind SQLValueKind
	typ  types.OID
	name string
}{
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE:        {CurrentDate, types.Date, ""},
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME:        {CurrentTime, types.Timetz, ""},
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:      {CurrentTime, types.Timetz, "TIME(%d) WITH TIME ZONE"},
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:   {CurrentTimestamp, types.Timestamptz, ""},
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: {CurrentTimestamp, types.Timestamptz, "TIMESTAMP(%d) WITH TIME ZONE"},
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME:           {LocalTime, types.Time, ""},
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME_N:         {LocalTime, types.Time, "TIME(%d)"},
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:      {LocalTimestamp, types.Timestamp, ""},
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:    {LocalTimestamp, types.Timestamp, "TIMESTAMP(%d)"},
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:        {CurrentRole, types.Name, ""},
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_USER:        {CurrentUser, types.Name, ""},
	pg_query.SQLValueFunctionOp_SVFOP_USER:                {UserKeyword, types.Name, ""},
	pg_query.SQLValueFunctionOp_SVFOP_SESSION_USER:        {SessionUser, types.Name, ""},
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:     {CurrentCatalog, types.Name, ""},
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:      {CurrentSchema, types.Name, ""},
}

// maxTimePrecision is PostgreSQL's MAX_TIMESTAMP_PRECISION.
const maxTimePrecision = 6

func (s *state) transformSQLValue(f *pg_query.SQLValueFunction) Expr {
	v := sqlValues[f.Op]
	mod := int32(-1)
	if v.name != "" {
		mod = f.Typmod
		// The precision has no location of its own: the keyword's is near enough to pin it.
		s.pinAfter(int(f.Location))
		if mod > maxTimePrecision {
			if s.Notice != nil {
				s.Notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.InvalidParameterValue,
					v.name+" precision reduced to maximum allowed, %d", mod, maxTimePrecision))
			}
			mod = maxTimePrecision
		}
	}
	coll := types.OID(0)
	if v.typ == types.Name {
		coll = collationC
	}
	return &SQLValueFunction{Typed: NewTyped(v.typ, mod, coll, int(f.Location)), Kind: v.kind}
}

// pinAfter pins the first number after an offset.
func (a *analysis) pinAfter(loc int) {
	if a.PinLiteral == nil || loc < 0 {
		return
	}
	for i := loc; i < len(a.sql); i++ {
		if c := a.sql[i]; c >= '0' && c <= '9' {
			a.pin(i)
			return
		}
	}
}
