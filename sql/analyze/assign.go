package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// assigned converts expr to what column attno of the target takes, or with indirection makes the column's value with a
// part replaced. Follows transformAssignedExpr.
func (s *state) assigned(expr Expr, k exprKind, name string, attno int, indirection []*pg_query.Node, loc int) Expr {
	old := s.kind
	s.kind = k
	defer func() { s.kind = old }()
	if attno <= 0 {
		raise(s.err(loc, pgerr.FeatureNotSupported, "cannot assign to system column \"%s\"", name))
	}
	attr := s.targetRelation().Attr(int16(attno))
	if d, ok := expr.(*SetToDefault); ok {
		d.Typ, d.Mod, d.Coll = attr.Type, attr.Typmod, attr.Collation
		if len(indirection) > 0 {
			if indirection[0].GetAIndices() != nil {
				raise(s.err(loc, pgerr.FeatureNotSupported, "cannot set an array element to DEFAULT"))
			}
			raise(s.err(loc, pgerr.FeatureNotSupported, "cannot set a subfield to DEFAULT"))
		}
	}
	if len(indirection) > 0 {
		var base Expr
		if s.isInsert {
			base = s.nullConst(attr.Type, attr.Typmod, attr.Collation)
		} else {
			base = &Var{
				Typed: NewTyped(attr.Type, attr.Typmod, attr.Collation, loc), RT: s.target.rt, Attno: attno,
				SynRT: s.target.rt, SynAttno: attno,
			}
		}
		p := &partAssign{state: s, ctx: coerceAssignment, loc: loc, rhs: expr}
		return p.indirection(base, name, false, attr.Type, attr.Typmod, attr.Collation, indirection)
	}
	r := s.coerceToTarget(expr, attr.Type, attr.Typmod, coerceAssignment, ImplicitCast, -1)
	if r == nil {
		raise(s.err(location(expr), pgerr.DatatypeMismatch, "column \"%s\" is of type %s but expression is of type %s",
			name, s.formatType(attr.Type), s.formatType(expr.Type())).
			WithHint("You will need to rewrite or cast the expression."))
	}
	return r
}

// targetRelation is the table an INSERT, UPDATE or DELETE works on.
func (s *state) targetRelation() *catalog.Relation { return s.target.rte.Relation }

// partAssign is an assignment to an element or a field.
type partAssign struct {
	*state
	ctx coercionContext
	loc int
	rhs Expr
}

// indirection follows transformAssignmentIndirection.
func (p *partAssign) indirection(base Expr, name string, subscripting bool, typ types.OID, typmod int32, coll types.OID, path []*pg_query.Node) Expr {
	if len(path) > 0 && base == nil {
		// Stands for the container's present value. Only stores are above it.
		base = &CaseTest{Typed: NewTyped(typ, typmod, coll, -1)}
	}
	var subs []*pg_query.A_Indices
	for i, n := range path {
		switch {
		case n.GetAIndices() != nil:
			subs = append(subs, n.GetAIndices())
			continue
		case n.GetAStar() != nil:
			raise(p.err(p.loc, pgerr.FeatureNotSupported, "row expansion via \"*\" is not supported here"))
		}
		if subs != nil {
			return p.subscripts(base, name, typ, typmod, subs, path[i:])
		}
		return p.field(base, name, n.GetString_().Sval, typ, typmod, path[i+1:])
	}
	if subs != nil {
		return p.subscripts(base, name, typ, typmod, subs, nil)
	}
	r := p.coerceToTarget(p.rhs, typ, typmod, p.ctx, ImplicitCast, -1)
	if r != nil {
		return r
	}
	format := "subfield \"%s\" is of type %s but expression is of type %s"
	if subscripting {
		format = "subscripted assignment to \"%s\" requires type %s but expression is of type %s"
	}
	raise(p.err(p.loc, pgerr.DatatypeMismatch, format, name, p.formatType(typ), p.formatType(p.rhs.Type())).
		WithHint("You will need to rewrite or cast the expression."))
	return nil
}

func (p *partAssign) field(base Expr, column, field string, typ types.OID, typmod int32, rest []*pg_query.Node) Expr {
	baseType, baseMod := p.baseTypeMod(typ, typmod)
	relOID := p.typ(baseType).RelID
	if relOID == 0 {
		raise(p.err(p.loc, pgerr.DatatypeMismatch, "cannot assign to field \"%s\" of column \"%s\" because its type %s is not a composite type",
			field, column, p.formatType(typ)))
	}
	attr := p.relation(relOID).AttrByName(field)
	if attr == nil {
		if _, ok := systemColumn(field); ok {
			raise(p.err(p.loc, pgerr.UndefinedColumn, "cannot assign to system column \"%s\"", field))
		}
		raise(p.err(p.loc, pgerr.UndefinedColumn, "cannot assign to field \"%s\" of column \"%s\" because there is no such column in data type %s",
			field, column, p.formatType(typ)))
	}
	rhs := p.indirection(nil, field, false, attr.Type, attr.Typmod, attr.Collation, rest)
	store := &FieldStore{Typed: NewTyped(baseType, -1, 0, -1), Arg: base, Values: []Expr{rhs}, Attnos: []int{int(attr.Num)}}
	if baseType != typ {
		return p.coerceToDomain(store, baseType, baseMod, typ, coerceImplicit, ImplicitCast, p.loc, false)
	}
	return store
}

// subscripts follows transformAssignmentSubscripts.
func (p *partAssign) subscripts(base Expr, name string, typ types.OID, typmod int32, subs []*pg_query.A_Indices, rest []*pg_query.Node) Expr {
	container, containerMod := p.containerType(typ, typmod)
	ref := p.subscript(base, container, containerMod, subs, true)
	ref.Assign = p.indirection(nil, name, true, ref.Typ, ref.Mod, p.typeCollation(container), rest)
	ref.Typ, ref.Mod = container, containerMod
	if container == typ {
		return ref
	}
	r := p.coerceToTarget(ref, typ, typmod, coerceImplicit, ImplicitCast, -1)
	if r == nil {
		raise(p.err(p.loc, pgerr.CannotCoerce, "cannot cast type %s to %s", p.formatType(container), p.formatType(typ)))
	}
	return r
}
