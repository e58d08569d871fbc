package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

const collationC = catalog.CollationC

// visibleTargets counts the output columns of a query.
func visibleTargets(q *Query) []TargetEntry {
	list := q.Targets
	if q.Command != Select {
		list = q.Returning
	}
	out := make([]TargetEntry, 0, len(list))
	for _, t := range list {
		if !t.Junk {
			out = append(out, t)
		}
	}
	return out
}

// subSelect analyzes a sub-select of an expression, after the check that one may stand here.
func (s *state) subSelect(n *pg_query.Node, loc int) *Query {
	if what := kinds[s.kind].subquery; what != "" {
		raise(s.err(loc, pgerr.FeatureNotSupported, "cannot use subquery in %s", what))
	}
	s.hasSubLinks = true
	q := s.analyzeSub(n, nil, false, true)
	if q.Command != Select {
		raise(pgerr.New(pgerr.InternalError, "unexpected non-SELECT command in SubLink"))
	}
	return q
}

// transformSubLink follows transformSubLink.
func (s *state) transformSubLink(l *pg_query.SubLink) Expr {
	loc := int(l.Location)
	sub := &SubLink{Typed: NewTyped(types.Bool, -1, 0, loc), Query: s.subSelect(l.Subselect, loc)}
	cols := visibleTargets(sub.Query)
	s.noteSubQuery(l, sub.Query)
	switch l.SubLinkType {
	case pg_query.SubLinkType_EXISTS_SUBLINK:
		sub.Kind = SubLinkExists
	case pg_query.SubLinkType_EXPR_SUBLINK, pg_query.SubLinkType_ARRAY_SUBLINK:
		if len(cols) != 1 {
			raise(s.err(loc, pgerr.SyntaxError, "subquery must return only one column"))
		}
		c := cols[0].Expr
		sub.Kind, sub.Typ, sub.Mod = SubLinkExpr, c.Type(), c.Typmod()
		if l.SubLinkType == pg_query.SubLinkType_ARRAY_SUBLINK {
			sub.Kind = SubLinkArray
			if sub.Typ = s.promotedArrayType(c.Type()); sub.Typ == 0 {
				raise(pgerr.New(pgerr.UndefinedObject, "could not find array type for data type %s", s.formatType(c.Type())))
			}
		}
	default:
		sub.Kind = SubLinkAny
		if l.SubLinkType == pg_query.SubLinkType_ALL_SUBLINK {
			sub.Kind = SubLinkAll
		}
		names := []string{"="}
		if len(l.OperName) > 0 {
			names = operatorNames(l.OperName)
		}
		s.subLinkTest(sub, s.transformExprRecurse(l.Testexpr), names, loc)
	}
	return sub
}

// noteSubQuery keeps the analyzed query of a sub-select, whose column's name its own column may take.
func (a *analysis) noteSubQuery(l *pg_query.SubLink, q *Query) {
	if a.subQueries == nil {
		a.subQueries = make(map[*pg_query.SubLink]*Query)
	}
	a.subQueries[l] = q
}

// transformRowCompareSubLink is (a, b) op (SELECT x, y).
func (s *state) transformRowCompareSubLink(e *pg_query.A_Expr, l *pg_query.SubLink) Expr {
	loc := int(e.Location)
	sub := &SubLink{Typed: NewTyped(types.Bool, -1, 0, loc), Kind: SubLinkRowCompare}
	sub.Query = s.subSelect(l.Subselect, loc)
	s.subLinkTest(sub, s.transformExprRecurse(e.Lexpr), operatorNames(e.Name), loc)
	return sub
}

func (s *state) subLinkTest(sub *SubLink, left Expr, names []string, loc int) {
	lefts := []Expr{left}
	if row, ok := left.(*RowExpr); ok {
		lefts = row.Args
	}
	var rights []Expr
	for i, c := range visibleTargets(sub.Query) {
		rights = append(rights, &SubColumn{Typed: NewTyped(c.Expr.Type(), c.Expr.Typmod(), c.Expr.Collation(), -1), Number: i})
	}
	if len(lefts) < len(rights) {
		raise(s.err(loc, pgerr.SyntaxError, "subquery has too many columns"))
	}
	if len(lefts) > len(rights) {
		raise(s.err(loc, pgerr.SyntaxError, "subquery has too few columns"))
	}
	sub.Operator = names[len(names)-1]
	sub.Test = s.makeRowComparison(names, lefts, rights, loc)
}

// transformArrayExpr is ARRAY[...]; a cast hands down the type it wants. Follows transformArrayExpr.
func (s *state) transformArrayExpr(arr *pg_query.A_ArrayExpr, array, elem types.OID, typmod int32) Expr {
	n := &ArrayExpr{Typed: NewTyped(array, -1, 0, int(arr.Location)), Elem: elem}
	for _, en := range arr.Elements {
		var e Expr
		if inner := en.GetAArrayExpr(); inner != nil {
			e = s.transformArrayExpr(inner, array, elem, typmod)
			n.MultiDims = true
		} else {
			e = s.transformExprRecurse(en)
			n.MultiDims = n.MultiDims || s.elemType(e.Type()) != 0
		}
		n.Elems = append(n.Elems, e)
	}
	want := elem
	if array != 0 {
		if n.MultiDims {
			want = array
		}
	} else {
		want = s.inferArrayType(n)
	}
	for i, e := range n.Elems {
		if array == 0 {
			n.Elems[i] = s.coerceToCommon(e, want, "ARRAY")
			continue
		}
		c := s.coerceToTarget(e, want, typmod, coerceExplicit, ExplicitCast, -1)
		if c == nil {
			s.cannotCast(e.Type(), want, location(e))
		}
		n.Elems[i] = c
	}
	if len(n.Elems) > 0 {
		n.Mod = commonTypmod(n.Elems, want)
	}
	return n
}

// inferArrayType sets the types of an array from its elements and returns what they are to become.
func (s *state) inferArrayType(n *ArrayExpr) types.OID {
	if len(n.Elems) == 0 {
		raise(s.err(n.Loc, pgerr.IndeterminateDatatype, "cannot determine type of empty array").
			WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."))
	}
	want, _ := s.commonType(n.Elems, "ARRAY")
	if n.MultiDims {
		n.Typ = want
		if n.Elem = s.elemType(want); n.Elem == 0 {
			raise(s.err(n.Loc, pgerr.UndefinedObject, "could not find element type for data type %s", s.formatType(want)))
		}
		return want
	}
	n.Elem = want
	if n.Typ = s.arrayType(want); n.Typ == 0 {
		raise(s.err(n.Loc, pgerr.UndefinedObject, "could not find array type for data type %s", s.formatType(want)))
	}
	return want
}

// transformIndirection is subscripting and field selection. Follows transformIndirection.
func (s *state) transformIndirection(ind *pg_query.A_Indirection) Expr {
	last := s.lastSRF
	e := s.transformExprRecurse(ind.Arg)
	loc := location(e)
	var subs []*pg_query.A_Indices
	for _, n := range ind.Indirection {
		switch {
		case n.GetAIndices() != nil:
			subs = append(subs, n.GetAIndices())
		case n.GetAStar() != nil:
			raise(s.err(loc, pgerr.FeatureNotSupported, "row expansion via \"*\" is not supported here"))
		default:
			if subs != nil {
				e, subs = s.subscript(e, e.Type(), e.Typmod(), subs, false), nil
			}
			name := n.GetString_().Sval
			field := s.resolveFuncCall(&call{names: []string{name}, args: []Expr{e}, loc: loc, lastSRF: last})
			if field == nil {
				s.unknownField(e, name, loc)
			}
			e = field
		}
	}
	if subs != nil {
		e = s.subscript(e, e.Type(), e.Typmod(), subs, false)
	}
	return e
}

// unknownField follows unknown_attribute.
func (s *state) unknownField(e Expr, name string, loc int) {
	if v, ok := e.(*Var); ok && v.Attno == 0 {
		rte := s.levelsUp(v.LevelsUp).rtable[v.RT]
		raise(s.err(loc, pgerr.UndefinedColumn, "column %s.%s does not exist", rte.Alias, name))
	}
	switch t := e.Type(); {
	case s.isComplex(t):
		raise(s.err(loc, pgerr.UndefinedColumn, "column \"%s\" not found in data type %s", name, s.formatType(t)))
	case t == types.Record:
		raise(s.err(loc, pgerr.UndefinedColumn, "could not identify column \"%s\" in record data type", name))
	default:
		raise(s.err(loc, pgerr.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type", name, s.formatType(t)))
	}
}

// maxDims is PostgreSQL's MAXDIM.
const maxDims = 6

// containerType looks through domains, and takes the two vector types for the arrays they are.
func (a *analysis) containerType(typ types.OID, typmod int32) (types.OID, int32) {
	typ, typmod = a.baseTypeMod(typ, typmod)
	switch typ {
	case types.Int2vector:
		typ = types.Int2Array
	case types.Oidvector:
		typ = types.OidArray
	}
	return typ, typmod
}

// subscript applies subscripts to a container of a type; for an assignment the caller has been through
// containerType, and completes the node. Follows transformContainerSubscripts and arraysubs.c.
func (s *state) subscript(container Expr, typ types.OID, typmod int32, subs []*pg_query.A_Indices, assign bool) *SubscriptingRef {
	if !assign {
		typ, typmod = s.containerType(typ, typmod)
	}
	t := s.typ(typ)
	if t.Subscript == 0 {
		raise(s.err(location(container), pgerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", s.formatType(typ)))
	}
	n := &SubscriptingRef{Typed: NewTyped(typ, typmod, 0, -1), Container: container, Elem: t.Elem}
	for _, x := range subs {
		n.Slice = n.Slice || x.IsSlice
	}
	if typ == types.Jsonb {
		s.jsonbSubscripts(n, subs)
		return n
	}
	for _, x := range subs {
		if n.Slice {
			switch {
			case x.Lidx != nil:
				n.Lower = append(n.Lower, s.arraySubscript(x.Lidx))
			case !x.IsSlice:
				n.Lower = append(n.Lower, newConst(types.Int4, types.Int64Datum(1)))
			default:
				n.Lower = append(n.Lower, nil)
			}
		}
		if x.Uidx != nil {
			n.Upper = append(n.Upper, s.arraySubscript(x.Uidx))
		} else {
			n.Upper = append(n.Upper, nil)
		}
	}
	if len(n.Upper) > maxDims {
		raise(pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(n.Upper), maxDims))
	}
	if !n.Slice {
		n.Typ = t.Elem
	}
	return n
}

func (s *state) arraySubscript(n *pg_query.Node) Expr {
	e := s.transformExpr(n, s.kind)
	c := s.coerceToTarget(e, types.Int4, -1, coerceAssignment, ImplicitCast, -1)
	if c == nil {
		raise(s.err(location(e), pgerr.DatatypeMismatch, "array subscript must have type integer"))
	}
	return c
}

// jsonbSubscripts follows jsonb_subscript_transform.
func (s *state) jsonbSubscripts(n *SubscriptingRef, subs []*pg_query.A_Indices) {
	for _, x := range subs {
		if x.IsSlice {
			at := x.Uidx
			if at == nil {
				at = x.Lidx
			}
			raise(s.err(rawLocation(at), pgerr.DatatypeMismatch, "jsonb subscript does not support slices"))
		}
		e := s.transformExpr(x.Uidx, s.kind)
		from := e.Type()
		want := types.OID(0)
		switch {
		case from == types.Unknown:
			want = types.Text
		default:
			for _, t := range []types.OID{types.Int4, types.Text} {
				if s.canCoerce(from, t, coerceImplicit) {
					if want != 0 {
						raise(s.err(location(e), pgerr.DatatypeMismatch, "subscript type %s is not supported", s.formatType(from)).
							WithHint("jsonb subscript must be coercible to only one type, integer or text."))
					}
					want = t
				}
			}
			if want == 0 {
				raise(s.err(location(e), pgerr.DatatypeMismatch, "subscript type %s is not supported", s.formatType(from)).
					WithHint("jsonb subscript must be coercible to either integer or text."))
			}
		}
		n.Upper = append(n.Upper, s.coerceType(e, want, -1, coerceImplicit, ImplicitCast, -1))
	}
}
