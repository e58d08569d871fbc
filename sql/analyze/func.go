package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// maxFuncArgs is PostgreSQL's FUNC_MAX_ARGS.
const maxFuncArgs = 100

// call is a function call on its way to an expression.
type call struct {
	names    []string
	args     []Expr
	argNames []string // of the last len(argNames) args
	raw      *pg_query.FuncCall
	loc      int
	// lastSRF is what state.lastSRF was before the arguments.
	lastSRF Expr
	// procedure is set for CALL.
	procedure bool
}

// decorations of the call; all empty for attribute notation.
func (c *call) isColumn() bool { return c.raw == nil }

// transformFuncCall follows transformFuncCall.
func (s *state) transformFuncCall(f *pg_query.FuncCall) Expr {
	c := &call{names: nameStrings(f.Funcname), raw: f, loc: int(f.Location), lastSRF: s.lastSRF}
	for _, n := range f.Args {
		if na := n.GetNamedArgExpr(); na != nil {
			for _, old := range c.argNames {
				if old == na.Name {
					raise(s.err(int(na.Location), pgerr.SyntaxError, "argument name \"%s\" used more than once", na.Name))
				}
			}
			c.argNames = append(c.argNames, na.Name)
			c.args = append(c.args, s.transformExprRecurse(na.Arg))
			continue
		}
		e := s.transformExprRecurse(n)
		if c.argNames != nil {
			raise(s.err(location(e), pgerr.SyntaxError, "positional argument cannot follow named argument"))
		}
		c.args = append(c.args, e)
	}
	if f.AggWithinGroup {
		for _, n := range f.AggOrder {
			c.args = append(c.args, s.transformExpr(n.GetSortBy().Node, kindOrderBy))
		}
	}
	return s.resolveFuncCall(c)
}

// resolveFuncCall turns a call, or with raw nil a column notation arg.name, into an expression. nil means that
// column notation found nothing. Follows ParseFuncOrColumn.
func (s *state) resolveFuncCall(c *call) Expr {
	f := c.raw
	if f == nil {
		f = &pg_query.FuncCall{}
	}
	var filter Expr
	if f.AggFilter != nil {
		filter = s.transformWhere(f.AggFilter, kindFilter, "FILTER")
	}
	if len(c.args) > maxFuncArgs {
		raise(s.err(c.loc, pgerr.TooManyArguments, "cannot pass more than %d arguments to a function", maxFuncArgs))
	}
	actual := exprTypes(c.args)
	projection := len(c.args) == 1 && !c.procedure && len(f.AggOrder) == 0 && filter == nil && !f.AggStar && !f.AggDistinct &&
		f.Over == nil && !f.FuncVariadic && c.argNames == nil && len(c.names) == 1 && s.isRowType(actual[0])
	if projection && c.isColumn() {
		if e := s.complexProjection(c.names[0], c.args[0], c.loc); e != nil {
			return e
		}
	}
	d := s.locatedCall(c, actual, f.FuncVariadic)
	s.checkCallKind(c, f, filter, d)
	switch d.how {
	case foundAggregate:
		s.checkAggregateForm(c, f, &d, actual)
	case foundWindow:
		if f.Over == nil {
			raise(s.err(c.loc, pgerr.WrongObjectType, "window function %s requires an OVER clause", joinNames(c.names)))
		}
		if f.AggWithinGroup {
			raise(s.err(c.loc, pgerr.WrongObjectType, "window function %s cannot have WITHIN GROUP", joinNames(c.names)))
		}
	case foundCoercion:
		return s.coerceType(c.args[0], d.ret, -1, coerceExplicit, ExplicitCall, c.loc)
	case foundMany:
		raise(s.ambiguousCall(c, actual))
	case foundNone:
		if c.isColumn() {
			return nil
		}
		if projection {
			if e := s.complexProjection(c.names[0], c.args[0], c.loc); e != nil {
				return e
			}
		}
		raise(s.unknownCall(c, f, actual))
	}
	return s.buildCall(c, f, filter, &d, actual)
}

// locatedCall is resolveCall with its errors at the call.
func (s *state) locatedCall(c *call, actual []types.OID, variadic bool) callDetail {
	defer s.locate(c.loc)
	return s.resolveCall(c.names, actual, c.argNames, !variadic, c.procedure)
}

func (s *state) checkCallKind(c *call, f *pg_query.FuncCall, filter Expr, d callDetail) {
	name := joinNames(c.names)
	wrong := func(format string, args ...any) *pgerr.Error {
		return s.err(c.loc, pgerr.WrongObjectType, format, args...)
	}
	switch d.how {
	case foundNone, foundMany:
		return
	case foundProcedure:
		if !c.procedure {
			raise(wrong("%s is a procedure", s.signature(c.names, c.argNames, exprTypes(c.args))).
				WithHint("To call a procedure, use CALL."))
		}
	default:
		if c.procedure {
			raise(wrong("%s is not a procedure", s.signature(c.names, c.argNames, exprTypes(c.args))).
				WithHint("To call a function, use SELECT."))
		}
	}
	if d.how == foundAggregate || d.how == foundWindow {
		return
	}
	switch {
	case f.AggStar:
		raise(wrong("%s(*) specified, but %s is not an aggregate function", name, name))
	case f.AggDistinct:
		raise(wrong("DISTINCT specified, but %s is not an aggregate function", name))
	case f.AggWithinGroup:
		raise(wrong("WITHIN GROUP specified, but %s is not an aggregate function", name))
	case len(f.AggOrder) > 0:
		raise(wrong("ORDER BY specified, but %s is not an aggregate function", name))
	case filter != nil:
		raise(wrong("FILTER specified, but %s is not an aggregate function", name))
	case f.Over != nil:
		raise(wrong("OVER specified, but %s is not a window function nor an aggregate function", name))
	}
}

func (s *state) ambiguousCall(c *call, actual []types.OID) error {
	sig := s.signature(c.names, c.argNames, actual)
	if c.procedure {
		return s.err(c.loc, pgerr.AmbiguousFunction, "procedure %s is not unique", sig).
			WithHint("Could not choose a best candidate procedure. You might need to add explicit type casts.")
	}
	return s.err(c.loc, pgerr.AmbiguousFunction, "function %s is not unique", sig).
		WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
}

func (s *state) unknownCall(c *call, f *pg_query.FuncCall, actual []types.OID) error {
	sig := s.signature(c.names, c.argNames, actual)
	if len(f.AggOrder) > 1 && !f.AggWithinGroup {
		return s.err(c.loc, pgerr.UndefinedFunction, "function %s does not exist", sig).
			WithHint("No aggregate function matches the given name and argument types. Perhaps you misplaced ORDER BY; ORDER BY must appear after all regular arguments of the aggregate.")
	}
	if c.procedure {
		return s.err(c.loc, pgerr.UndefinedFunction, "procedure %s does not exist", sig).
			WithHint("No procedure matches the given name and argument types. You might need to add explicit type casts.")
	}
	return s.err(c.loc, pgerr.UndefinedFunction, "function %s does not exist", sig).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

// checkAggregateForm checks WITHIN GROUP and the number of direct arguments.
func (s *state) checkAggregateForm(c *call, f *pg_query.FuncCall, d *callDetail, actual []types.OID) {
	name := joinNames(c.names)
	agg := must(s.Catalog.AggregateByOID(d.proc.OID))
	if agg == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for aggregate %d", d.proc.OID))
	}
	if agg.Kind == 'n' {
		if f.AggWithinGroup {
			raise(s.err(c.loc, pgerr.WrongObjectType, "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", name))
		}
		return
	}
	if !f.AggWithinGroup {
		raise(s.err(c.loc, pgerr.WrongObjectType, "WITHIN GROUP is required for ordered-set aggregate %s", name))
	}
	if f.Over != nil {
		raise(s.err(c.loc, pgerr.FeatureNotSupported, "OVER is not supported for ordered-set aggregate %s", name))
	}
	aggregated := len(f.AggOrder)
	direct := len(c.args) - aggregated
	want := int(agg.NumDirect)
	fail := func(format string, args ...any) {
		raise(s.err(c.loc, pgerr.UndefinedFunction, "function %s does not exist", s.signature(c.names, c.argNames, actual)).
			WithHint(format, args...))
	}
	needs := func() {
		unit := "arguments"
		if want == 1 {
			unit = "argument"
		}
		fail("There is an ordered-set aggregate %s, but it requires %d direct "+unit+", not %d.", name, want, direct)
	}
	if d.variadic == 0 {
		if direct != want {
			needs()
		}
	} else {
		params := len(c.args)
		if d.nvariadic > 1 {
			params -= d.nvariadic - 1
		}
		switch {
		case want < params:
			if direct != want {
				needs()
			}
		case agg.Kind == 'h':
			if d.nvariadic != 2*aggregated {
				fail("To use the hypothetical-set aggregate %s, the number of hypothetical direct arguments (here %d) must match the number of ordering columns (here %d).",
					name, d.nvariadic-aggregated, aggregated)
			}
		case d.nvariadic <= aggregated:
			unit := "arguments"
			if want == 1 {
				unit = "argument"
			}
			fail("There is an ordered-set aggregate %s, but it requires at least %d direct "+unit+".", name, want)
		}
	}
	if agg.Kind == 'h' {
		s.unifyHypothetical(c, aggregated, actual, d.declared)
	}
}

// unifyHypothetical makes each hypothetical argument and its ordering column one type.
func (s *state) unifyHypothetical(c *call, aggregated int, actual, declared []types.OID) {
	direct := len(c.args) - aggregated
	hypothetical := direct - aggregated
	if hypothetical < 0 {
		raise(pgerr.New(pgerr.InternalError, "incorrect number of arguments to hypothetical-set aggregate"))
	}
	for i := hypothetical; i < direct; i++ {
		j := direct + i - hypothetical
		if declared[i] != declared[j] {
			raise(pgerr.New(pgerr.InternalError, "hypothetical-set aggregate has inconsistent declared argument types"))
		}
		if declared[i] != types.Any {
			continue
		}
		// The ordering column comes first: its type wins.
		pair := []Expr{c.args[j], c.args[i]}
		common, _ := s.commonType(pair, "WITHIN GROUP")
		mod := commonTypmod(pair, common)
		c.args[i] = s.coerceTypmod(s.coerceType(c.args[i], common, mod, coerceImplicit, ImplicitCast, -1), common, mod, coerceImplicit, ImplicitCast, -1, false)
		c.args[j] = s.coerceTypmod(s.coerceType(c.args[j], common, mod, coerceImplicit, ImplicitCast, -1), common, mod, coerceImplicit, ImplicitCast, -1, false)
		actual[i], actual[j] = common, common
	}
}

// buildCall makes the expression of a resolved function, aggregate or window function.
func (s *state) buildCall(c *call, f *pg_query.FuncCall, filter Expr, d *callDetail, actual []types.OID) Expr {
	nargs := len(c.args)
	defaults := s.defaultArgs(d)
	all := append(actual, exprTypes(defaults)...)
	ret := s.locatedGeneric(c.loc, all, d)
	s.coerceArgs(c.args, actual, d.declared)
	for i := range defaults {
		if t := d.declared[nargs+i]; defaults[i].Type() != t {
			defaults[i] = s.coerceType(defaults[i], t, -1, coerceImplicit, ImplicitCast, -1)
		}
	}
	args := c.args
	variadic := f.FuncVariadic && d.variadic != 0
	if d.nvariadic > 0 && d.variadic != types.Any {
		args, variadic = s.gatherVariadic(args, d.nvariadic), true
	}
	if nargs > 0 && d.variadic == types.Any && variadic && s.baseElemType(actual[nargs-1]) == 0 {
		raise(s.err(location(args[len(args)-1]), pgerr.DatatypeMismatch, "VARIADIC argument must be an array"))
	}
	if d.proc.RetSet {
		s.checkSRFCall(c.lastSRF, c.loc)
	}
	var e Expr
	switch {
	case d.how == foundOne || d.how == foundProcedure:
		fe := &FuncExpr{
			Typed: NewTyped(ret, -1, 0, c.loc), Func: d.proc.OID, Args: args, RetSet: d.proc.RetSet,
			Variadic: variadic, Format: callFormat(f),
		}
		orderArgs(fe, c.argNames, defaults, d)
		e = fe
	case d.how == foundAggregate && f.Over == nil:
		e = s.buildAggregate(c, f, filter, d, ret, args, variadic)
	default:
		e = s.buildWindowFunc(c, f, filter, d, ret, args)
	}
	if d.proc.RetSet {
		s.lastSRF = e
	}
	return e
}

func (s *state) locatedGeneric(loc int, actual []types.OID, d *callDetail) types.OID {
	defer s.locate(loc)
	return s.enforceGeneric(actual, d.declared, d.ret, false)
}

func callFormat(f *pg_query.FuncCall) CoercionForm {
	if f.Funcformat == pg_query.CoercionForm_COERCE_SQL_SYNTAX {
		return SQLSyntax
	}
	return ExplicitCall
}

// defaultArgs analyzes the defaults of the parameters a call leaves out.
func (s *state) defaultArgs(d *callDetail) []Expr {
	if d.ndefaults == 0 {
		return nil
	}
	out := make([]Expr, d.ndefaults)
	n := len(d.proc.Args)
	for i := range out {
		param := n - d.ndefaults + i
		if d.numbers != nil {
			param = d.numbers[len(d.declared)-d.ndefaults+i]
		}
		text := d.proc.Defaults[param-(n-len(d.proc.Defaults))]
		out[i] = s.storedExpr(text, nil, kindFunctionDefault)
	}
	return out
}

// orderArgs puts the arguments, with the defaults, in the order of the parameters.
func orderArgs(fe *FuncExpr, argNames []string, defaults []Expr, d *callDetail) {
	if argNames == nil && len(defaults) == 0 {
		return
	}
	given := fe.Args
	all := append(append([]Expr(nil), given...), defaults...)
	if d.numbers != nil {
		ordered := make([]Expr, len(all))
		for i, num := range d.numbers {
			ordered[num] = all[i]
		}
		all = ordered
	}
	fe.Args = all
	positional := len(given) - len(argNames)
	for i := range given {
		w := WrittenArg{Index: i}
		if d.numbers != nil {
			w.Index = d.numbers[i]
		}
		if i >= positional {
			w.Name = argNames[i-positional]
		}
		fe.Written = append(fe.Written, w)
	}
	if fe.Written == nil {
		fe.Written = []WrittenArg{}
	}
}

// gatherVariadic makes an array of the last n arguments.
func (s *state) gatherVariadic(args []Expr, n int) []Expr {
	tail := append([]Expr(nil), args[len(args)-n:]...)
	elem := tail[0].Type()
	array := s.arrayType(elem)
	if array == 0 {
		raise(s.err(firstLocation(tail), pgerr.UndefinedObject, "could not find array type for data type %s", s.formatType(elem)))
	}
	arr := &ArrayExpr{Typed: NewTyped(array, -1, 0, firstLocation(tail)), Elem: elem, Elems: tail}
	return append(append([]Expr(nil), args[:len(args)-n]...), arr)
}

// complexProjection is field name of a composite value, or nil.
func (s *state) complexProjection(name string, arg Expr, loc int) Expr {
	if v, ok := arg.(*Var); ok && v.Attno == 0 {
		if item := s.levelsUp(v.LevelsUp).itemOf(v.RT); item != nil {
			return s.scanItem(item, v.LevelsUp, name, loc)
		}
	}
	cols, ok := s.rowColumns(arg)
	if !ok {
		return nil
	}
	for i, c := range cols {
		if c.Name == name && !c.Dropped {
			return &FieldSelect{Typed: NewTyped(c.Type, c.Typmod, c.Collation, -1), Arg: arg, Attno: i + 1, Name: name}
		}
	}
	return nil
}

// rowColumns are the columns of a composite value, false if it is none or they are not known.
// Follows get_expr_result_tupdesc.
func (s *state) rowColumns(e Expr) ([]RTEColumn, bool) {
	switch n := e.(type) {
	case *FuncExpr:
		cols, kind := s.funcResult(s.proc(n.Func), n.Type(), exprTypes(n.Args))
		return cols, kind == resultComposite
	case *RowExpr:
		if n.Typ == types.Record {
			cols := make([]RTEColumn, len(n.Args))
			for i, arg := range n.Args {
				cols[i] = RTEColumn{Name: rowName(n.Names, i), Type: arg.Type(), Typmod: arg.Typmod(), Collation: arg.Collation()}
			}
			return cols, true
		}
	case *Var:
		if n.Typ == types.Record && n.Attno != 0 {
			return s.recordVarColumns(n)
		}
	case *SubLink:
		if n.Typ == types.Record && n.Kind == SubLinkExpr && n.Query != nil {
			return s.rowColumns(n.Query.Targets[0].Expr)
		}
	}
	if rel := s.rowRelation(e.Type()); rel != 0 {
		return relationColumns(s.relation(rel)), true
	}
	return nil, false
}

func rowName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "f" + itoa(i+1)
}

// resultKind is what a function gives to FROM.
type resultKind uint8

const (
	resultScalar resultKind = iota
	resultComposite
	resultRecord // columns unknown: needs a column definition list
)

// funcResult is the row a function returns. Follows get_expr_result_type.
func (a *analysis) funcResult(p *catalog.Proc, ret types.OID, args []types.OID) ([]RTEColumn, resultKind) {
	if p.RetType == types.Record && p.AllArgs != nil {
		if cols := a.outColumns(p, args); cols != nil {
			return cols, resultComposite
		}
	}
	if ret == types.Record {
		return nil, resultRecord
	}
	if rel := a.rowRelation(ret); rel != 0 {
		return relationColumns(a.relation(rel)), resultComposite
	}
	return nil, resultScalar
}

// exprResult is what an expression in FROM gives.
func (a *analysis) exprResult(e Expr) ([]RTEColumn, resultKind) {
	switch n := e.(type) {
	case *FuncExpr:
		return a.funcResult(a.proc(n.Func), n.Typ, exprTypes(n.Args))
	case *OpExpr:
		return a.funcResult(a.proc(n.Func), n.Typ, exprTypes(n.Args))
	}
	if e.Type() == types.Record {
		return nil, resultRecord
	}
	if rel := a.rowRelation(e.Type()); rel != 0 {
		return relationColumns(a.relation(rel)), resultComposite
	}
	return nil, resultScalar
}

// isOut tells the modes of parameters that are results: OUT, INOUT and TABLE.
func isOut(mode byte) bool { return mode == 'o' || mode == 'b' || mode == 't' }

// outColumns are the columns that two or more OUT parameters make, nil if there are fewer.
func (a *analysis) outColumns(p *catalog.Proc, args []types.OID) []RTEColumn {
	var cols []RTEColumn
	for i := range p.AllArgs {
		if i >= len(p.ArgModes) || !isOut(p.ArgModes[i]) {
			continue
		}
		c := RTEColumn{Name: "column" + itoa(len(cols)+1), Type: p.AllArgs[i], Typmod: -1}
		if i < len(p.ArgNames) && p.ArgNames[i] != "" {
			c.Name = p.ArgNames[i]
		}
		if isPolymorphic(c.Type) {
			n := min(len(args), len(p.Args))
			declared := append([]types.OID(nil), p.Args...)
			c.Type = a.enforceGeneric(args[:n], declared[:n], c.Type, true)
		}
		c.Collation = a.typeCollation(c.Type)
		cols = append(cols, c)
	}
	if len(cols) < 2 {
		return nil
	}
	return cols
}

// outName is the name of a function's single OUT parameter, or "".
func outName(p *catalog.Proc) string {
	name, n := "", 0
	for i := range p.AllArgs {
		if i < len(p.ArgModes) && isOut(p.ArgModes[i]) {
			n++
			if i < len(p.ArgNames) {
				name = p.ArgNames[i]
			}
		}
	}
	if n != 1 {
		return ""
	}
	return name
}

// recordVarColumns finds the columns of a record that a Var stands for. Follows expandRecordVariable.
func (s *state) recordVarColumns(v *Var) ([]RTEColumn, bool) {
	st := s.levelsUp(v.LevelsUp)
	if v.RT < 0 || v.RT >= len(st.rtable) {
		return nil, false
	}
	rte := st.rtable[v.RT]
	switch rte.Kind {
	case RTESubquery:
		if t := visibleTargets(rte.Subquery); v.Attno <= len(t) {
			return s.subColumns(st, rte.Subquery, t[v.Attno-1].Expr)
		}
	case RTEJoin:
		if v.Attno <= len(rte.JoinVars) {
			return st.rowColumns(rte.JoinVars[v.Attno-1])
		}
	case RTECTE:
		if c, _ := st.findCTE(rte.CTEName); c != nil && c.Query != nil {
			if t := visibleTargets(c.Query); v.Attno <= len(t) {
				return s.subColumns(st.levelsUp(rte.CTELevelsUp), c.Query, t[v.Attno-1].Expr)
			}
		}
	case RTEFunction:
		if cols, ok := functionRecord(rte, v.Attno); ok {
			return cols, true
		}
	}
	return nil, false
}

func functionRecord(rte *RangeTableEntry, attno int) ([]RTEColumn, bool) {
	if attno == 0 && len(rte.Functions) == 1 {
		return rte.Functions[0].Columns, true
	}
	return nil, false
}

// subColumns is rowColumns for an expression of a query below st.
func (s *state) subColumns(st *state, q *Query, e Expr) ([]RTEColumn, bool) {
	in := newState(s.analysis, st)
	in.rtable = q.RTable
	in.ctes = q.CTEs
	if v, ok := e.(*Var); ok && v.Typ == types.Record && v.Attno == 0 && v.LevelsUp == 0 {
		return wholeRowColumns(q.RTable[v.RT]), true
	}
	return in.rowColumns(e)
}

// wholeRowColumns are the live columns of an entry.
func wholeRowColumns(rte *RangeTableEntry) []RTEColumn {
	var cols []RTEColumn
	for _, c := range rte.Columns {
		if !c.Dropped {
			cols = append(cols, c)
		}
	}
	return cols
}
