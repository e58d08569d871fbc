package analyze

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// analysis is one run over one text.
type analysis struct {
	*Context
	root   *Context // the statement's, where Context is a copy for stored text
	sql    string
	params *params

	// noPositions is set for text that is not the client's: views, defaults.
	noPositions bool
	// viewDepth counts the views being expanded, against definitions that contain themselves.
	viewDepth int
	typeCache map[types.OID]*catalog.Type
	// subQueries are the sub-selects analyzed so far, by their parse nodes.
	subQueries map[*pg_query.SubLink]*Query
}

func newAnalysis(c *Context, sql string) *analysis {
	return &analysis{Context: c, root: c, sql: sql}
}

// stored is an analysis of text from the catalog: no search path, no literals to
// lift, no positions.
func (a *analysis) stored(sql string) *analysis {
	n := newStored(a.Context, sql)
	n.root, n.viewDepth = a.root, a.viewDepth
	return n
}

func newStored(c *Context, sql string) *analysis {
	inner := *c
	inner.SearchPath = []types.OID{catalog.NamespacePgCatalog}
	inner.TempNamespace = 0
	inner.LiteralIndex, inner.PinLiteral, inner.Columns = nil, nil, nil
	inner.Env = storedEnv(c.Env)
	return &analysis{Context: &inner, root: c, sql: sql, noPositions: true}
}

// storedEnv reads literals as they were printed to be stored, whatever the session's styles are.
func storedEnv(e *types.Env) *types.Env {
	env := types.DefaultEnv()
	if e != nil {
		env.TimeZone, env.Now, env.Names, env.Types = e.TimeZone, e.Now, e.Names, e.Types
	}
	return env
}

// typ returns a type that must exist.
func (a *analysis) typ(oid types.OID) *catalog.Type {
	if t := a.typeCache[oid]; t != nil {
		return t
	}
	t := must(a.Catalog.TypeByOID(oid))
	if t == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for type %d", oid))
	}
	if a.typeCache == nil {
		a.typeCache = make(map[types.OID]*catalog.Type)
	}
	a.typeCache[oid] = t
	return t
}

// baseType is what a domain is over, through all domains; other types are their own.
func (a *analysis) baseType(oid types.OID) types.OID {
	base, _ := a.baseTypeMod(oid, -1)
	return base
}

// baseTypeMod is baseType with the modifier that the innermost domain lays down.
func (a *analysis) baseTypeMod(oid types.OID, typmod int32) (types.OID, int32) {
	for {
		if oid == 0 {
			return oid, typmod
		}
		t := a.typ(oid)
		if t.Kind != 'd' {
			return oid, typmod
		}
		oid, typmod = t.BaseType, t.Typmod
	}
}

// elemType is the element type of a true array type, or 0. A domain is no array.
func (a *analysis) elemType(oid types.OID) types.OID {
	if oid == 0 {
		return 0
	}
	if t := a.typ(oid); t.IsArray() {
		return t.Elem
	}
	return 0
}

// baseElemType is elemType that looks through domains.
func (a *analysis) baseElemType(oid types.OID) types.OID {
	return a.elemType(a.baseType(oid))
}

func (a *analysis) arrayType(oid types.OID) types.OID {
	if oid == 0 {
		return 0
	}
	return a.typ(oid).Array
}

// promotedArrayType is the array type over oid, or oid itself if it is an array.
func (a *analysis) promotedArrayType(oid types.OID) types.OID {
	if arr := a.arrayType(oid); arr != 0 {
		return arr
	}
	if a.elemType(oid) != 0 {
		return oid
	}
	return 0
}

// rowRelation is the relation of a composite type, domains over one included, or 0.
func (a *analysis) rowRelation(oid types.OID) types.OID {
	if oid == 0 {
		return 0
	}
	return a.typ(a.baseType(oid)).RelID
}

// isComplex tells a named composite type or a domain over one.
func (a *analysis) isComplex(oid types.OID) bool { return a.rowRelation(oid) != 0 }

// isRowType tells record and isComplex types.
func (a *analysis) isRowType(oid types.OID) bool {
	return oid == types.Record || a.isComplex(oid)
}

func (a *analysis) typeCollation(oid types.OID) types.OID {
	if oid == 0 {
		return 0
	}
	return a.typ(oid).Collation
}

func (a *analysis) collatable(oid types.OID) bool { return a.typeCollation(oid) != 0 }

func (a *analysis) proc(oid types.OID) *catalog.Proc {
	p := must(a.Catalog.ProcByOID(oid))
	if p == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for function %d", oid))
	}
	return p
}

func (a *analysis) operator(oid types.OID) *catalog.Operator {
	o := must(a.Catalog.OperatorByOID(oid))
	if o == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for operator %d", oid))
	}
	return o
}

func (a *analysis) relation(oid types.OID) *catalog.Relation {
	r := must(a.Catalog.RelationByOID(oid))
	if r == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for relation %d", oid))
	}
	return r
}

// pathPosition is the rank of a schema in the path for functions and operators, -1 if
// it is not searched: the temporary schema never is.
func (a *analysis) pathPosition(ns types.OID) int {
	if ns == a.TempNamespace && ns != 0 {
		return -1
	}
	return slices.Index(a.SearchPath, ns)
}

// explicitNamespace finds the schema of a qualified name; "pg_temp" is the session's own.
func (a *analysis) explicitNamespace(name string, missingOK bool) types.OID {
	if name == "pg_temp" && a.TempNamespace != 0 {
		return a.TempNamespace
	}
	ns := must(a.Catalog.NamespaceByName(name))
	if ns == nil {
		if missingOK {
			return 0
		}
		raise(pgerr.New(pgerr.InvalidSchemaName, "schema \"%s\" does not exist", name))
	}
	return ns.OID
}

// splitName takes a possibly qualified name apart as DeconstructQualifiedName does.
func (a *analysis) splitName(names []string) (schema, name string) {
	switch len(names) {
	case 1:
		return "", names[0]
	case 2:
		return names[0], names[1]
	case 3:
		if names[0] != a.Database {
			raise(pgerr.New(pgerr.FeatureNotSupported, "cross-database references are not implemented: %s", joinNames(names)))
		}
		return names[1], names[2]
	}
	raise(pgerr.New(pgerr.SyntaxError, "improper qualified name (too many dotted names): %s", joinNames(names)))
	return "", ""
}

// The operators of polymorphic types, whose existence for one type depends on its parts.
const (
	opArrayEq  types.OID = 1070
	opArrayLt  types.OID = 1072
	opArrayGt  types.OID = 1073
	opRecordEq types.OID = 2988
	opRecordLt types.OID = 2990
	opRecordGt types.OID = 2991
	opRangeEq  types.OID = 3882
	opMultiEq  types.OID = 2860
)

// typeOps are the operators a type is sorted and grouped by; 0 where it has none.
type typeOps struct {
	lt, eq, gt types.OID
	hashable   bool
	// family and input are those of the operator class that lt and gt come from.
	family, input types.OID
}

// typeOperators follows lookup_type_cache and get_sort_group_operators.
func (a *analysis) typeOperators(typ types.OID) typeOps {
	var r typeOps
	if typ == 0 || typ == types.Unknown {
		return r
	}
	if bt := must(a.Catalog.DefaultOpclass(catalog.AMBtree, a.baseType(typ))); bt != nil {
		r.family, r.input = bt.Family, bt.InType
		r.lt = must(a.Catalog.OpfamilyMember(bt.Family, bt.InType, bt.InType, 1))
		r.eq = must(a.Catalog.OpfamilyMember(bt.Family, bt.InType, bt.InType, 3))
		r.gt = must(a.Catalog.OpfamilyMember(bt.Family, bt.InType, bt.InType, 5))
	}
	if r.eq == 0 {
		if h := must(a.Catalog.DefaultOpclass(catalog.AMHash, a.baseType(typ))); h != nil {
			r.eq = must(a.Catalog.OpfamilyMember(h.Family, h.InType, h.InType, 1))
		}
	}
	switch r.eq {
	case opArrayEq, opRecordEq:
		parts := a.typeParts(typ)
		eq, lt := true, true
		// Of an anonymous record nothing is known: comparing may fail when it runs, and
		// sorting works for more types than hashing.
		r.hashable = a.baseType(typ) != types.Record
		for _, p := range parts {
			o := a.typeOperators(p)
			eq = eq && o.eq != 0
			lt = lt && o.lt != 0
			r.hashable = r.hashable && o.hashable
		}
		if !eq {
			r.eq = 0
		}
		if !lt {
			r.lt, r.gt = 0, 0
		}
	case opRangeEq, opMultiEq:
		for _, p := range a.typeParts(typ) {
			r.hashable = a.typeOperators(p).hashable
		}
	case 0:
	default:
		r.hashable = a.operator(r.eq).CanHash
	}
	return r
}

// typeParts are the types whose comparison a composed type's comparison rests on.
func (a *analysis) typeParts(typ types.OID) []types.OID {
	typ = a.baseType(typ)
	if e := a.elemType(typ); e != 0 {
		return []types.OID{e}
	}
	t := a.typ(typ)
	if t.Kind == 'r' || t.Kind == 'm' {
		if r := must(a.Catalog.RangeByType(typ)); r != nil {
			return []types.OID{r.Subtype}
		}
		return nil
	}
	if t.RelID == 0 {
		return nil
	}
	var parts []types.OID
	rel := a.relation(t.RelID)
	for i := range rel.Attrs {
		if !rel.Attrs[i].Dropped {
			parts = append(parts, rel.Attrs[i].Type)
		}
	}
	return parts
}

// sortGroupOperators is typeOperators with an error where a needed operator is missing.
func (a *analysis) sortGroupOperators(typ types.OID, needLT, needEQ bool, loc int) typeOps {
	o := a.typeOperators(typ)
	if needLT && (o.lt == 0 || o.gt == 0) {
		raise(a.err(loc, pgerr.UndefinedFunction, "could not identify an ordering operator for type %s", a.formatType(typ)).
			WithHint("Use an explicit ordering operator or modify the query."))
	}
	if needEQ && o.eq == 0 {
		raise(a.err(loc, pgerr.UndefinedFunction, "could not identify an equality operator for type %s", a.formatType(typ)))
	}
	return o
}

// opHashable tells whether values that an equality operator compares can be hashed.
func (a *analysis) opHashable(op, typ types.OID) bool {
	switch op {
	case opArrayEq, opRecordEq, opRangeEq, opMultiEq:
		return a.typeOperators(typ).hashable
	}
	return a.operator(op).CanHash
}

// orderingOperator finds, for < or > of some btree family, the family, its input
// type and whether the operator is the descending one.
func (a *analysis) orderingOperator(op types.OID) (family, input types.OID, desc, ok bool) {
	for _, e := range must(a.Catalog.OperatorFamilies(op)) {
		if e.Method != catalog.AMBtree || e.Left != e.Right || (e.Strategy != 1 && e.Strategy != 5) {
			continue
		}
		return e.Family, e.Left, e.Strategy == 5, true
	}
	return 0, 0, false, false
}

// equalityForOrdering is the = of the family an ordering operator belongs to.
func (a *analysis) equalityForOrdering(op types.OID) (eq types.OID, desc bool) {
	family, input, desc, ok := a.orderingOperator(op)
	if !ok {
		return 0, false
	}
	return must(a.Catalog.OpfamilyMember(family, input, input, 3)), desc
}
