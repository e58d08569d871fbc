package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// ExprKind is what an expression outside a query is for.
type ExprKind uint8

// The kinds of such expressions.
const (
	ForDefault ExprKind = iota
	ForGenerated
	ForCheck
	ForDomainCheck
	ForIndexExpression
	ForIndexPredicate
	ForAlterType
	ForTriggerWhen
	ForPartitionKey
	ForPartitionBound
	ForCopyWhere
	ForPolicy
	ForFunctionDefault
	ForStatistics
)

var exprKinds = [...]exprKind{
	ForDefault: kindColumnDefault, ForGenerated: kindGenerated, ForCheck: kindCheck, ForDomainCheck: kindDomainCheck,
	ForIndexExpression: kindIndexExpression, ForIndexPredicate: kindIndexPredicate, ForAlterType: kindAlterTransform,
	ForTriggerWhen: kindTriggerWhen, ForPartitionKey: kindPartitionExpression, ForPartitionBound: kindPartitionBound,
	ForCopyWhere: kindCopyWhere, ForPolicy: kindPolicy, ForFunctionDefault: kindFunctionDefault, ForStatistics: kindStatsExpression,
}

// conditions are the kinds that must be boolean, with what messages call them.
var conditions = map[exprKind]string{
	kindCheck: "CHECK", kindDomainCheck: "CHECK", kindIndexPredicate: "WHERE", kindTriggerWhen: "WHEN", kindCopyWhere: "WHERE", kindPolicy: "POLICY",
}

// overRelation gives a state the columns of one relation, as range table entry 0.
func (s *state) overRelation(rel *catalog.Relation) {
	if rel == nil {
		return
	}
	rte := &RangeTableEntry{Kind: RTERelation, Relation: rel, Inherit: true, System: rel.System, Columns: relationColumns(rel), InFrom: true}
	s.aliased(rte, rel.Name, nil, tooManyTableAliases)
	s.namespace = append(s.namespace, s.add(rte))
}

// AnalyzeExpr resolves an expression of DDL over the columns of rel, which may be nil; Vars have RT 0. For defaults and
// generated columns see AnalyzeDefault.
func AnalyzeExpr(c *Context, node *pg_query.Node, sql string, rel *catalog.Relation, kind ExprKind) (e Expr, err error) {
	defer caught(&err)
	s := newState(newAnalysis(c, sql), nil)
	s.overRelation(rel)
	return s.standalone(node, exprKinds[kind]), nil
}

// standalone analyzes an expression outside a query, collations and all.
func (s *state) standalone(node *pg_query.Node, k exprKind) Expr {
	e := s.transformExpr(node, k)
	if construct, ok := conditions[k]; ok {
		e = s.coerceToBoolean(e, construct)
	}
	s.assignCollations(e)
	if len(s.rtable) > 1 {
		raise(pgerr.New(pgerr.InvalidColumnReference, "only table \"%s\" can be referenced in check constraint", s.rtable[0].Alias))
	}
	return e
}

// AnalyzeDefault resolves DEFAULT, or with generated GENERATED ALWAYS AS, of a column and converts it to the column's
// type. Follows cookDefault.
func AnalyzeDefault(c *Context, node *pg_query.Node, sql string, rel *catalog.Relation, column string, typ types.OID, typmod int32, generated bool) (e Expr, err error) {
	defer caught(&err)
	s := newState(newAnalysis(c, sql), nil)
	k := kindColumnDefault
	if generated {
		k = kindGenerated
		s.overRelation(rel)
	}
	e = s.transformExpr(node, k)
	if generated {
		s.checkGenerated(e, rel)
	}
	if typ != 0 {
		r := s.coerceToTarget(e, typ, typmod, coerceAssignment, ImplicitCast, -1)
		if r == nil {
			raise(s.err(location(e), pgerr.DatatypeMismatch, "column \"%s\" is of type %s but default expression is of type %s",
				column, s.formatType(typ), s.formatType(e.Type())).WithHint("You will need to rewrite or cast the expression."))
		}
		e = r
	}
	s.assignCollations(e)
	if generated && s.volatility(e) != 'i' {
		raise(pgerr.New(pgerr.InvalidObjectDefinition, "generation expression is not immutable"))
	}
	return e, nil
}

func (s *state) checkGenerated(e Expr, rel *catalog.Relation) {
	walkExpr(e, func(n Expr) bool {
		v, ok := n.(*Var)
		if !ok {
			return true
		}
		if v.Attno == 0 {
			raise(s.err(v.Loc, pgerr.InvalidObjectDefinition, "cannot use whole-row variable in column generation expression").
				WithDetail("This would cause the generated column to depend on its own value."))
		}
		if v.Attno > 0 && rel.Attr(int16(v.Attno)).Generated != 0 {
			raise(s.err(v.Loc, pgerr.InvalidObjectDefinition, "cannot use generated column \"%s\" in column generation expression", rel.Attr(int16(v.Attno)).Name).
				WithDetail("A generated column cannot reference another generated column."))
		}
		return true
	})
}

// AnalyzeAlterType resolves what ALTER COLUMN ... TYPE computes a column's new values from: USING's
// expression, or with node nil the column, converted to the new type. Follows ATPrepAlterColumnType.
func AnalyzeAlterType(c *Context, node *pg_query.Node, sql string, rel *catalog.Relation, at *catalog.Attribute, typ types.OID, typmod int32) (e Expr, err error) {
	defer caught(&err)
	s := newState(newAnalysis(c, sql), nil)
	s.overRelation(rel)
	if node != nil {
		e = s.transformExpr(node, kindAlterTransform)
	} else {
		e = &Var{Typed: NewTyped(at.Type, at.Typmod, at.Collation, -1), Attno: int(at.Num), SynAttno: int(at.Num)}
	}
	r := s.coerceToTarget(e, typ, typmod, coerceAssignment, ImplicitCast, -1)
	if r == nil {
		if node != nil {
			raise(pgerr.New(pgerr.DatatypeMismatch, "result of USING clause for column \"%s\" cannot be cast automatically to type %s", at.Name, s.formatType(typ)).
				WithHint("You might need to add an explicit cast."))
		}
		raise(pgerr.New(pgerr.DatatypeMismatch, "column \"%s\" cannot be cast automatically to type %s", at.Name, s.formatType(typ)).
			WithHint("You might need to specify \"USING %s::%s\".", s.quote(at.Name), s.formatTypeMod(typ, typmod)))
	}
	s.assignCollations(r)
	return r, nil
}

// RetypedDefault is a column's default, converted to the type the column is to have.
func RetypedDefault(c *Context, rel *catalog.Relation, at *catalog.Attribute, typ types.OID, typmod int32) (e Expr, err error) {
	defer caught(&err)
	s := newState(newStored(c, at.Default), nil)
	e = s.storedText(at.Default, kindOther)
	r := s.coerceToTarget(e, typ, typmod, coerceAssignment, ImplicitCast, -1)
	if r == nil {
		raise(pgerr.New(pgerr.DatatypeMismatch, "default for column \"%s\" cannot be cast automatically to type %s", at.Name, s.formatType(typ)))
	}
	s.assignCollations(r)
	return r, nil
}

// UsesColumn tells whether an expression over one relation reads a column of it.
func UsesColumn(e Expr, att int16) bool {
	found := false
	walkExpr(e, func(n Expr) bool {
		v, ok := n.(*Var)
		found = found || ok && (v.Attno == int(att) || v.Attno == 0)
		return !found
	})
	return found
}

// AnalyzeDomainCheck resolves a domain's CHECK, in which VALUE is a DomainValue of the base type.
func AnalyzeDomainCheck(c *Context, node *pg_query.Node, sql string, base types.OID, typmod int32) (e Expr, err error) {
	defer caught(&err)
	inner := *c
	inner.Columns = domainValue(base, typmod, newAnalysis(c, sql).typeCollation(base))
	a := newAnalysis(&inner, sql)
	return newState(a, nil).standalone(node, kindDomainCheck), nil
}

// domainValue answers the name VALUE.
func domainValue(base types.OID, typmod int32, coll types.OID) func([]string, bool) (Expr, error) {
	return func(names []string, first bool) (Expr, error) {
		if !first || len(names) != 1 || names[0] != "value" {
			return nil, nil
		}
		return &DomainValue{Typed: NewTyped(base, typmod, coll, -1)}, nil
	}
}

// StoredExpr reads an expression of a relation from its catalog text: a CHECK, an index expression or predicate.
// Vars have RT 0.
func StoredExpr(c *Context, rel *catalog.Relation, text string) (e Expr, err error) {
	defer caught(&err)
	s := newState(newStored(c, text), nil)
	s.overRelation(rel)
	return s.storedText(text, kindOther), nil
}

// GeneratedExpr reads the expression of a generated column, converted to the column's type; Vars have RT 0.
func GeneratedExpr(c *Context, rel *catalog.Relation, at *catalog.Attribute) (e Expr, err error) {
	defer caught(&err)
	s := newState(newStored(c, at.Default), nil)
	s.overRelation(rel)
	e = s.columnValue(s.storedText(at.Default, kindOther), at)
	s.assignCollations(e)
	return e, nil
}

// StoredDomainExpr reads a domain's CHECK from its catalog text.
func StoredDomainExpr(c *Context, base types.OID, typmod int32, text string) (Expr, error) {
	return LoadDomainCheck(c, text, base, typmod)
}

// LoadDomainCheck reads a domain's CHECK from its catalog text.
func LoadDomainCheck(c *Context, text string, base types.OID, typmod int32) (e Expr, err error) {
	defer caught(&err)
	a := newStored(c, text)
	a.Columns = domainValue(base, typmod, a.typeCollation(base))
	return newState(a, nil).storedText(text, kindDomainCheck), nil
}

// LoadExpr reads an expression from its catalog text, over the columns of rel (RT 0), which may be nil.
func LoadExpr(c *Context, text string, rel *catalog.Relation, kind ExprKind) (e Expr, err error) {
	defer caught(&err)
	s := newState(newStored(c, text), nil)
	s.overRelation(rel)
	return s.storedText(text, exprKinds[kind]), nil
}

// LoadDefault reads a column's default, nil for none: of an identity column the call that draws the next
// number, else its DEFAULT or its domain's, converted to the column's type.
func LoadDefault(c *Context, rel *catalog.Relation, at *catalog.Attribute) (e Expr, err error) {
	defer caught(&err)
	s := newState(newStored(c, ""), nil)
	if e = s.columnDefault(rel, at); e != nil {
		s.assignCollations(e)
	}
	return e, nil
}

// LoadView reads a view's definition.
func LoadView(c *Context, rel *catalog.Relation) (q *Query, err error) {
	defer caught(&err)
	return newState(newAnalysis(c, ""), nil).viewQuery(rel), nil
}

// storedExpr analyzes catalog text inside another analysis.
func (s *state) storedExpr(text string, rel *catalog.Relation, k exprKind) Expr {
	in := newState(s.stored(text), nil)
	in.overRelation(rel)
	return in.storedText(text, k)
}

func (s *state) storedText(text string, k exprKind) Expr {
	if s.Parse == nil {
		raise(pgerr.New(pgerr.InternalError, "no parser for stored text"))
	}
	node, err := s.Parse("SELECT " + text)
	check(err)
	list := node.GetSelectStmt().GetTargetList()
	if len(list) != 1 {
		raise(pgerr.New(pgerr.InternalError, "malformed stored expression %q", text))
	}
	// It was checked for its kind when it was stored.
	e := s.transformExpr(list[0].GetResTarget().Val, k)
	if construct, ok := conditions[k]; ok {
		e = s.coerceToBoolean(e, construct)
	}
	s.assignCollations(e)
	return e
}

// ValueExpr resolves parameter number n of EXECUTE and converts it to the type the prepared statement wants.
func ValueExpr(c *Context, node *pg_query.Node, sql string, want types.OID, n int) (e Expr, err error) {
	defer caught(&err)
	s := newState(newAnalysis(c, sql), nil)
	e = s.transformExpr(node, kindExecuteParameter)
	r := s.coerceToTarget(e, want, -1, coerceAssignment, ImplicitCast, -1)
	if r == nil {
		raise(s.err(location(e), pgerr.DatatypeMismatch, "parameter $%d of type %s cannot be coerced to the expected type %s",
			n, s.formatType(e.Type()), s.formatType(want)).WithHint("You will need to rewrite or cast the expression."))
	}
	s.assignCollations(r)
	return r, nil
}

// AnalyzeCall resolves CALL: the procedure's arguments, as a FuncExpr.
func AnalyzeCall(c *Context, call *pg_query.FuncCall, sql string) (e Expr, err error) {
	defer caught(&err)
	s := newState(newAnalysis(c, sql), nil)
	s.kind = kindCallArgument
	k := &callStmt{state: s}
	e = k.transform(call)
	s.assignCollations(e)
	return e, nil
}

// callStmt is the analysis of CALL.
type callStmt struct{ *state }

func (k *callStmt) transform(f *pg_query.FuncCall) Expr {
	c := &call{names: nameStrings(f.Funcname), raw: f, loc: int(f.Location), procedure: true}
	for _, n := range f.Args {
		if na := n.GetNamedArgExpr(); na != nil {
			c.argNames = append(c.argNames, na.Name)
			n = na.Arg
		}
		c.args = append(c.args, k.transformExprRecurse(n))
	}
	return k.resolveFuncCall(c)
}

// ResolveRelation finds the relation a RangeVar names and locks it in a mode by PostgreSQL's number, 0 for none; nil,
// or with must an error, if there is none.
func ResolveRelation(c *Context, rv *pg_query.RangeVar, sql string, mode uint8, must bool) (rel *catalog.Relation, err error) {
	defer caught(&err)
	a := newAnalysis(c, sql)
	if mode == 0 {
		inner := *c
		inner.Lock = nil
		a.Context = &inner
	}
	rel = a.openRelation(rv, mode)
	if rel == nil && must {
		name := rv.Relname
		if rv.Schemaname != "" {
			name = rv.Schemaname + "." + name
		}
		raise(pgerr.New(pgerr.UndefinedTable, "relation \"%s\" does not exist", name))
	}
	return rel, nil
}

// ResolveOpclass finds an operator class of an access method by name.
func ResolveOpclass(c *Context, am types.OID, names []string) (oid types.OID, err error) {
	defer caught(&err)
	return newAnalysis(c, "").lookupOpclass(am, names), nil
}

func (a *analysis) lookupOpclass(am types.OID, names []string) types.OID {
	schema, name := a.splitName(names)
	path := a.SearchPath
	if schema != "" {
		path = []types.OID{a.explicitNamespace(schema, false)}
	}
	for _, ns := range path {
		if o := must(a.Catalog.OpclassByName(am, ns, name)); o != nil {
			return o.OID
		}
	}
	amName := ""
	if m := must(a.Catalog.AMByOID(am)); m != nil {
		amName = m.Name
	}
	raise(pgerr.New(pgerr.UndefinedObject, "operator class \"%s\" does not exist for access method \"%s\"", joinNames(names), amName))
	return 0
}

// Volatility is that of the most volatile function an expression calls: i, s or v.
func Volatility(c *Context, e Expr) (v byte, err error) {
	defer caught(&err)
	return newAnalysis(c, "").volatility(e), nil
}

func (a *analysis) volatility(e Expr) byte {
	worst := byte('i')
	note := func(fn types.OID) {
		if fn == 0 {
			return
		}
		if v := a.proc(fn).Volatile; v == 'v' || v == 's' && worst == 'i' {
			worst = v
		}
	}
	WalkExpr(e, 0, func(n Expr, _ int) bool {
		switch f := n.(type) {
		case *FuncExpr:
			note(f.Func)
		case *OpExpr:
			note(f.Func)
		case *DistinctExpr:
			note(f.Func)
		case *NullIfExpr:
			note(f.Func)
		case *ScalarArrayOpExpr:
			note(f.Func)
		case *RowCompareExpr:
			for _, fn := range f.Funcs {
				note(fn)
			}
		case *Aggref:
			note(f.Func)
		case *WindowFunc:
			note(f.Func)
		case *CoerceViaIO:
			note(a.typ(a.baseType(f.Arg.Type())).Output)
			note(a.typ(a.baseType(f.Typ)).Input)
		case *SQLValueFunction:
			if worst == 'i' {
				worst = 's'
			}
		case *NextValueExpr:
			worst = 'v'
		}
		return worst != 'v'
	})
	return worst
}
