package analyze

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// coercionContext is how willing a place is to convert: each level allows what those before it do.
type coercionContext uint8

const (
	coerceImplicit coercionContext = iota
	coerceAssignment
	coerceExplicit
)

// coercionPath is how a conversion between two types is done.
type coercionPath uint8

const (
	pathNone coercionPath = iota
	pathFunc
	pathRelabel
	pathArray
	pathViaIO
)

// coerceToTarget converts expr to a type and modifier, nil if the context does not allow it.
// Follows coerce_to_target_type.
func (s *state) coerceToTarget(expr Expr, typ types.OID, typmod int32, ctx coercionContext, form CoercionForm, loc int) Expr {
	if !s.canCoerce(expr.Type(), typ, ctx) {
		return nil
	}
	inner, collate := expr, (*CollateExpr)(nil)
	for {
		c, ok := inner.(*CollateExpr)
		if !ok {
			break
		}
		if collate == nil {
			collate = c
		}
		inner = c.Arg
	}
	result := s.coerceType(inner, typ, typmod, ctx, form, loc)
	_, isConst := result.(*Const)
	result = s.coerceTypmod(result, typ, typmod, ctx, form, loc, result != inner && !isConst)
	if collate != nil && s.collatable(typ) {
		return &CollateExpr{Typed: NewTyped(result.Type(), result.Typmod(), collate.Coll, collate.Loc), Arg: result}
	}
	return result
}

// coerceType converts expr to a type; the caller knows that it can be done. The
// modifier only matters to literals and domains. Follows coerce_type.
func (s *state) coerceType(expr Expr, typ types.OID, typmod int32, ctx coercionContext, form CoercionForm, loc int) Expr {
	from := expr.Type()
	if from == typ {
		return expr
	}
	switch typ {
	case types.Any, types.AnyElement, types.AnyNonArray, types.AnyCompatible, types.AnyCompatibleNonArray:
		return expr
	case types.AnyArray, types.AnyEnum, types.AnyRange, types.AnyMultirange,
		types.AnyCompatibleArray, types.AnyCompatibleRange, types.AnyCompatibleMultirange:
		// A domain over the right kind of type is taken down to it; an unknown
		// literal goes on below, to the pseudo-type's input function and its error.
		if from != types.Unknown {
			if base := s.baseType(from); base != from {
				return &RelabelType{Typed: NewTyped(base, -1, 0, loc), Arg: expr, Format: form}
			}
			return expr
		}
	}
	if c, ok := expr.(*Const); ok && from == types.Unknown {
		return s.coerceLiteral(c, typ, typmod, ctx, form, loc)
	}
	if p, ok := expr.(*Param); ok && s.params != nil {
		if r := s.coerceParam(p, typ, loc); r != nil {
			return r
		}
	}
	if c, ok := expr.(*CollateExpr); ok {
		arg := s.coerceType(c.Arg, typ, typmod, ctx, form, loc)
		if !s.collatable(typ) {
			return arg
		}
		return &CollateExpr{Typed: NewTyped(arg.Type(), arg.Typmod(), c.Coll, c.Loc), Arg: arg}
	}
	if path, fn := s.findPathway(typ, from, ctx); path != pathNone {
		base, baseMod := s.baseTypeMod(typ, typmod)
		if path != pathRelabel {
			r := s.buildCoercion(expr, path, fn, base, baseMod, ctx, form, loc)
			if base != typ {
				r = s.coerceToDomain(r, base, baseMod, typ, ctx, form, loc, true)
			}
			return r
		}
		if r := s.coerceToDomain(expr, 0, -1, typ, ctx, form, loc, false); r != expr {
			return r
		}
		return &RelabelType{Typed: NewTyped(typ, -1, 0, loc), Arg: expr, Format: form}
	}
	if from == types.Record && s.isComplex(typ) {
		return s.coerceRecord(expr, typ, ctx, form, loc)
	}
	if typ == types.Record && s.isComplex(from) || typ == types.RecordArray && s.isComplex(s.elemType(from)) {
		return expr
	}
	if s.inheritsFrom(from, typ) {
		base := s.baseType(from)
		if base != from {
			expr = &RelabelType{Typed: NewTyped(base, -1, 0, loc), Arg: expr, Format: ImplicitCast}
		}
		return &ConvertRowtypeExpr{Typed: NewTyped(typ, -1, 0, loc), Arg: expr, Format: form}
	}
	raise(pgerr.New(pgerr.InternalError, "failed to find conversion function from %s to %s", s.formatType(from), s.formatType(typ)))
	return nil
}

// coerceLiteral gives a string literal of unknown type a type, through the
// type's input function.
func (s *state) coerceLiteral(c *Const, typ types.OID, typmod int32, ctx coercionContext, form CoercionForm, loc int) Expr {
	base, baseMod := s.baseTypeMod(typ, typmod)
	inputMod := int32(-1)
	if base == types.Interval {
		// Its fields decide how the text is read.
		inputMod = baseMod
	}
	n := &Const{Typed: NewTyped(base, inputMod, s.typeCollation(base), c.Loc), Value: c.Value, Lifted: c.Lifted}
	if !c.Value.Null {
		v, err := types.In(base, inputMod, c.Value.B, s.Env)
		if err != nil {
			s.at(c.Loc, err)
		}
		n.Value = v
	}
	if base == typ {
		return n
	}
	return s.coerceToDomain(n, base, baseMod, typ, ctx, form, loc, false)
}

// canCoerce tells whether a value of one type may become the other's.
func (a *analysis) canCoerce(from, to types.OID, ctx coercionContext) bool {
	return a.canCoerceAll([]types.OID{from}, []types.OID{to}, ctx)
}

// canCoerceAll is canCoerce for the arguments of a function: polymorphic ones
// must agree with each other. Follows can_coerce_type.
func (a *analysis) canCoerceAll(from, to []types.OID, ctx coercionContext) bool {
	generic := false
	for i, f := range from {
		t := to[i]
		switch {
		case f == t || t == types.Any:
		case isPolymorphic(t):
			generic = true
		case f == types.Unknown:
		case a.pathExists(t, f, ctx):
		case f == types.Record && a.isComplex(t), t == types.Record && a.isComplex(f):
		case t == types.RecordArray && a.isComplex(a.elemType(f)):
		case a.inheritsFrom(f, t):
		default:
			return false
		}
	}
	return !generic || a.genericTypesAgree(from, to)
}

func (a *analysis) pathExists(to, from types.OID, ctx coercionContext) bool {
	path, _ := a.findPathway(to, from, ctx)
	return path != pathNone
}

// findPathway follows find_coercion_pathway.
func (a *analysis) findPathway(to, from types.OID, ctx coercionContext) (coercionPath, types.OID) {
	if to == 0 || from == 0 {
		return pathNone, 0
	}
	from, to = a.baseType(from), a.baseType(to)
	if from == to {
		return pathRelabel, 0
	}
	if cast := must(a.Catalog.Cast(from, to)); cast != nil {
		if ctx < castContext(cast) {
			return pathNone, 0
		}
		switch cast.Method {
		case 'f':
			return pathFunc, cast.Func
		case 'i':
			return pathViaIO, 0
		default:
			return pathRelabel, 0
		}
	}
	// int2vector and oidvector are arrays to read, never to make.
	if to != types.Oidvector && to != types.Int2vector {
		if te, fe := a.elemType(to), a.elemType(from); te != 0 && fe != 0 && a.pathExists(te, fe, ctx) {
			return pathArray, 0
		}
	}
	if ctx >= coerceAssignment && a.typ(to).Category == 'S' || ctx >= coerceExplicit && a.typ(from).Category == 'S' {
		return pathViaIO, 0
	}
	return pathNone, 0
}

func castContext(c *catalog.Cast) coercionContext {
	switch c.Context {
	case 'i':
		return coerceImplicit
	case 'a':
		return coerceAssignment
	}
	return coerceExplicit
}

// typmodPathway finds the function that makes a value of a type meet a modifier.
func (a *analysis) typmodPathway(typ types.OID) (coercionPath, types.OID) {
	path := pathFunc
	if e := a.elemType(typ); e != 0 {
		path, typ = pathArray, e
	}
	cast := must(a.Catalog.Cast(typ, typ))
	if cast == nil || cast.Func == 0 {
		return pathNone, 0
	}
	return path, cast.Func
}

// buildCoercion makes the node for a path. Follows build_coercion_expression.
func (s *state) buildCoercion(expr Expr, path coercionPath, fn, typ types.OID, typmod int32, ctx coercionContext, form CoercionForm, loc int) Expr {
	switch path {
	case pathFunc:
		args := []Expr{expr}
		nargs := len(s.proc(fn).Args)
		if nargs >= 2 {
			args = append(args, newConst(types.Int4, types.Int64Datum(int64(typmod))))
		}
		if nargs == 3 {
			args = append(args, newConst(types.Bool, types.BoolDatum(ctx == coerceExplicit)))
		}
		mod := int32(-1)
		if nargs >= 2 {
			mod = typmod
		}
		return &FuncExpr{Typed: NewTyped(typ, mod, 0, loc), Func: fn, Args: args, Format: form}
	case pathArray:
		base, baseMod := s.baseTypeMod(expr.Type(), expr.Typmod())
		test := &CaseTest{Typed: NewTyped(s.elemType(base), baseMod, 0, -1)}
		elem := s.coerceToTarget(test, s.elemType(typ), typmod, ctx, form, loc)
		if elem == nil {
			raise(pgerr.New(pgerr.InternalError, "failed to coerce array element type as expected"))
		}
		return &ArrayCoerceExpr{Typed: NewTyped(typ, elem.Typmod(), 0, loc), Arg: expr, ElemExpr: elem, Format: form}
	case pathViaIO:
		return &CoerceViaIO{Typed: NewTyped(typ, -1, 0, loc), Arg: expr, Format: form}
	}
	raise(pgerr.New(pgerr.InternalError, "unsupported coercion path"))
	return nil
}

// coerceTypmod applies a modifier; hide makes the conversion below it, which is part of the same
// cast, invisible when printed. Follows coerce_type_typmod.
func (s *state) coerceTypmod(expr Expr, typ types.OID, typmod int32, ctx coercionContext, form CoercionForm, loc int, hide bool) Expr {
	if typmod == expr.Typmod() {
		return expr
	}
	if hide {
		hideCoercion(expr)
	}
	path, fn := pathNone, types.OID(0)
	if typmod >= 0 {
		path, fn = s.typmodPathway(typ)
	}
	if path != pathNone {
		return s.buildCoercion(expr, path, fn, typ, typmod, ctx, form, loc)
	}
	// Nothing to do, but the expression must show the modifier it is said to have.
	return relabel(expr, typ, typmod, expr.Collation(), form, loc)
}

// relabel puts a RelabelType on top, in place of those that are there. Follows applyRelabelType.
func relabel(arg Expr, typ types.OID, typmod int32, coll types.OID, form CoercionForm, loc int) Expr {
	for {
		r, ok := arg.(*RelabelType)
		if !ok {
			break
		}
		arg = r.Arg
	}
	if c, ok := arg.(*Const); ok {
		n := *c
		n.Typ, n.Mod, n.Coll = typ, typmod, coll
		if c.Lifted == 0 || c.Typ == typ {
			return &n
		}
	}
	if arg.Type() == typ && arg.Typmod() == typmod && arg.Collation() == coll {
		return arg
	}
	return &RelabelType{Typed: NewTyped(typ, typmod, coll, loc), Arg: arg, Format: form}
}

// hideCoercion makes a cast print as nothing.
func hideCoercion(e Expr) {
	switch n := e.(type) {
	case *FuncExpr:
		n.Format = ImplicitCast
	case *RelabelType:
		n.Format = ImplicitCast
	case *CoerceViaIO:
		n.Format = ImplicitCast
	case *ArrayCoerceExpr:
		n.Format = ImplicitCast
	case *ConvertRowtypeExpr:
		n.Format = ImplicitCast
	case *RowExpr:
		n.Format = ImplicitCast
	case *CoerceToDomain:
		n.Format = ImplicitCast
	}
}

// coerceToDomain checks arg, of the base type (0: find it out), against a domain; other types give arg itself.
func (s *state) coerceToDomain(arg Expr, base types.OID, baseMod int32, typ types.OID, ctx coercionContext, form CoercionForm, loc int, hide bool) Expr {
	if base == 0 {
		base, baseMod = s.baseTypeMod(typ, baseMod)
	}
	if base == typ {
		return arg
	}
	if hide {
		hideCoercion(arg)
	}
	arg = s.coerceTypmod(arg, base, baseMod, coerceImplicit, ImplicitCast, loc, false)
	return &CoerceToDomain{Typed: NewTyped(typ, -1, 0, loc), Arg: arg, Format: form}
}

// coerceRecord converts ROW(...) or a whole-row variable to a composite type, field by field.
func (s *state) coerceRecord(expr Expr, typ types.OID, ctx coercionContext, form CoercionForm, loc int) Expr {
	var args []Expr
	implicit := false
	switch n := expr.(type) {
	case *RowExpr:
		args, implicit = n.Args, n.Implicit
	case *Var:
		if n.Attno != 0 {
			s.cannotCast(expr.Type(), typ, loc)
		}
		for _, c := range s.levelsUp(n.LevelsUp).expandItem(n.RT, n.LevelsUp, n.Loc) {
			args = append(args, c.expr)
		}
	default:
		s.cannotCast(expr.Type(), typ, loc)
	}
	base, baseMod := s.baseTypeMod(typ, -1)
	_ = baseMod
	rel := s.relation(s.typ(base).RelID)
	out := make([]Expr, 0, len(rel.Attrs))
	used := 0
	for i := range rel.Attrs {
		attr := &rel.Attrs[i]
		if attr.Dropped {
			out = append(out, newNull(types.Int4))
			continue
		}
		if used >= len(args) {
			raise(s.err(loc, pgerr.CannotCoerce, "cannot cast type %s to %s", s.formatType(types.Record), s.formatType(typ)).
				WithDetail("Input has too few columns."))
		}
		arg := args[used]
		used++
		c := s.coerceToTarget(arg, attr.Type, attr.Typmod, ctx, ImplicitCast, loc)
		if c == nil {
			raise(s.err(location(arg), pgerr.CannotCoerce, "cannot cast type %s to %s", s.formatType(types.Record), s.formatType(typ)).
				WithDetail("Cannot cast type %s to %s in column %d.", s.formatType(arg.Type()), s.formatType(attr.Type), used))
		}
		out = append(out, c)
	}
	if used < len(args) {
		raise(s.err(loc, pgerr.CannotCoerce, "cannot cast type %s to %s", s.formatType(types.Record), s.formatType(typ)).
			WithDetail("Input has too many columns."))
	}
	row := &RowExpr{Typed: NewTyped(base, -1, 0, loc), Args: out, Implicit: implicit, Format: form}
	if base == typ {
		return row
	}
	row.Format = ImplicitCast
	return &CoerceToDomain{Typed: NewTyped(typ, -1, 0, loc), Arg: row, Format: form}
}

func (a *analysis) cannotCast(from, to types.OID, loc int) {
	raise(a.err(loc, pgerr.CannotCoerce, "cannot cast type %s to %s", a.formatType(from), a.formatType(to)))
}

// inheritsFrom tells whether one composite type's table is a child of the other's.
func (a *analysis) inheritsFrom(sub, super types.OID) bool {
	super = a.baseType(super)
	subRel, superRel := a.rowRelation(sub), a.rowRelation(super)
	if subRel == 0 || superRel == 0 || subRel == superRel {
		return false
	}
	return a.relationInherits(subRel, superRel)
}

func (a *analysis) relationInherits(sub, super types.OID) bool {
	for _, p := range a.relation(sub).Parents {
		if p == super || a.relationInherits(p, super) {
			return true
		}
	}
	return false
}

// coerceToBoolean makes a condition of expr. Follows coerce_to_boolean.
func (s *state) coerceToBoolean(expr Expr, construct string) Expr {
	if expr.Type() != types.Bool {
		n := s.coerceToTarget(expr, types.Bool, -1, coerceAssignment, ImplicitCast, -1)
		if n == nil {
			// translator: first %s is name of a SQL construct, eg WHERE
			raise(s.err(location(expr), pgerr.DatatypeMismatch, "argument of %s must be type %s, not type %s",
				construct, "boolean", s.formatType(expr.Type())))
		}
		expr = n
	}
	if returnsSet(expr) {
		raise(s.err(location(expr), pgerr.DatatypeMismatch, "argument of %s must not return a set", construct))
	}
	return expr
}

// coerceToSpecific makes expr a value of typ as an assignment would. Follows coerce_to_specific_type_typmod.
func (s *state) coerceToSpecific(expr Expr, typ types.OID, typmod int32, construct string) Expr {
	if from := expr.Type(); from != typ {
		n := s.coerceToTarget(expr, typ, typmod, coerceAssignment, ImplicitCast, -1)
		if n == nil {
			raise(s.err(location(expr), pgerr.DatatypeMismatch, "argument of %s must be type %s, not type %s",
				construct, s.formatType(typ), s.formatType(from)))
		}
		expr = n
	}
	if returnsSet(expr) {
		raise(s.err(location(expr), pgerr.DatatypeMismatch, "argument of %s must not return a set", construct))
	}
	return expr
}

// commonType is the type that a UNION, CASE and their kin give, by the types of exprs. With what empty, 0 stands
// for no such type. Follows select_common_type.
func (s *state) commonType(exprs []Expr, what string) (types.OID, Expr) {
	which := exprs[0]
	typ := which.Type()
	if typ != types.Unknown {
		same := true
		for _, e := range exprs[1:] {
			same = same && e.Type() == typ
		}
		if same {
			return typ, which
		}
	}
	typ = s.baseType(typ)
	t := s.typ(typ)
	category, preferred := t.Category, t.Preferred
	for _, e := range exprs[1:] {
		n := s.baseType(e.Type())
		if n == types.Unknown || n == typ {
			continue
		}
		nt := s.typ(n)
		switch {
		case typ == types.Unknown:
		case nt.Category != category:
			if what == "" {
				return 0, nil
			}
			raise(s.err(location(e), pgerr.DatatypeMismatch, "%s types %s and %s cannot be matched", what, s.formatType(typ), s.formatType(n)))
		case !preferred && s.canCoerce(typ, n, coerceImplicit) && !s.canCoerce(n, typ, coerceImplicit):
		default:
			continue
		}
		which, typ, category, preferred = e, n, nt.Category, nt.Preferred
	}
	if typ == types.Unknown {
		typ = types.Text
	}
	return typ, which
}

// commonTypeOf is commonType for bare types, all of them known or unknown; with raise false failing gives 0.
func (a *analysis) commonTypeOf(typs []types.OID, noError bool) types.OID {
	typ := typs[0]
	i := 1
	if typ != types.Unknown {
		for i < len(typs) && typs[i] == typ {
			i++
		}
		if i == len(typs) {
			return typ
		}
	}
	typ = a.baseType(typ)
	t := a.typ(typ)
	category, preferred := t.Category, t.Preferred
	for ; i < len(typs); i++ {
		n := a.baseType(typs[i])
		if n == types.Unknown || n == typ {
			continue
		}
		nt := a.typ(n)
		switch {
		case typ == types.Unknown:
		case nt.Category != category:
			if noError {
				return 0
			}
			raise(pgerr.New(pgerr.DatatypeMismatch, "argument types %s and %s cannot be matched", a.formatType(typ), a.formatType(n)))
		case !preferred && a.canCoerce(typ, n, coerceImplicit) && !a.canCoerce(n, typ, coerceImplicit):
		default:
			continue
		}
		typ, category, preferred = n, nt.Category, nt.Preferred
	}
	if typ == types.Unknown {
		typ = types.Text
	}
	return typ
}

// commonTypmod is the modifier all of exprs agree on, or -1.
func commonTypmod(exprs []Expr, typ types.OID) int32 {
	mod := int32(-1)
	for i, e := range exprs {
		if e.Type() != typ {
			return -1
		}
		if i == 0 {
			mod = e.Typmod()
		} else if mod != e.Typmod() {
			return -1
		}
	}
	return mod
}

// coerceToCommon converts expr to the type commonType chose.
func (s *state) coerceToCommon(expr Expr, typ types.OID, what string) Expr {
	from := expr.Type()
	if from == typ {
		return expr
	}
	if !s.canCoerce(from, typ, coerceImplicit) {
		raise(s.err(location(expr), pgerr.CannotCoerce, "%s could not convert type %s to %s", what, s.formatType(from), s.formatType(typ)))
	}
	return s.coerceType(expr, typ, -1, coerceImplicit, ImplicitCast, -1)
}

// binaryCoercible tells whether a value needs no change to be one of type to. Follows IsBinaryCoercible.
func (a *analysis) binaryCoercible(from, to types.OID) bool {
	if from == to || to == types.Any || to == types.AnyElement || to == types.AnyCompatible {
		return true
	}
	if from != 0 {
		from = a.baseType(from)
	}
	if from == to {
		return true
	}
	switch to {
	case types.AnyArray, types.AnyCompatibleArray:
		if a.elemType(from) != 0 {
			return true
		}
	case types.AnyNonArray, types.AnyCompatibleNonArray:
		if a.elemType(from) == 0 {
			return true
		}
	case types.AnyEnum:
		if a.typ(from).Kind == 'e' {
			return true
		}
	case types.AnyRange, types.AnyCompatibleRange:
		if a.typ(from).Kind == 'r' {
			return true
		}
	case types.AnyMultirange, types.AnyCompatibleMultirange:
		if a.typ(from).Kind == 'm' {
			return true
		}
	case types.Record:
		if a.isComplex(from) {
			return true
		}
	case types.RecordArray:
		if a.isComplex(a.elemType(from)) {
			return true
		}
	}
	cast := must(a.Catalog.Cast(from, to))
	return cast != nil && cast.Method == 'b' && cast.Context == 'i'
}
