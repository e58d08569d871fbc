package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

const defaultCollation = catalog.CollationDefault

// collationStrength is how an expression came by its collation.
type collationStrength uint8

const (
	collateNone collationStrength = iota
	collateImplicit
	collateConflict
	collateExplicit
)

// collating is the collation that bubbles up from the parts of an expression. Follows assign_collations_context.
type collating struct {
	*state
	coll     types.OID
	strength collationStrength
	loc      int
	// A conflict's other collation.
	coll2 types.OID
	loc2  int
}

// assignCollations sets the collation of e and of all below it. Follows assign_expr_collations.
func (s *state) assignCollations(e Expr) {
	c := &collating{state: s, loc: -1}
	c.visit(e)
}

func (s *state) assignCollationsAll(list []Expr) {
	for _, e := range list {
		s.assignCollations(e)
	}
}

// assignQueryCollations follows assign_query_collations.
func (s *state) assignQueryCollations(q *Query) {
	target := func(list []TargetEntry) {
		for i := range list {
			c := &collating{state: s, loc: -1}
			c.visitTarget(&list[i])
		}
	}
	target(q.Targets)
	target(q.Returning)
	var from func(f FromItem)
	from = func(f FromItem) {
		if j, ok := f.(*Join); ok {
			from(j.Left)
			from(j.Right)
			s.assignCollations(j.On)
		}
	}
	for _, f := range q.From {
		from(f)
	}
	s.assignCollationsAll([]Expr{q.Where, q.Having, q.Offset, q.Limit})
	for _, w := range q.Windows {
		s.assignCollationsAll([]Expr{w.Frame.StartOffset, w.Frame.EndOffset})
	}
	if oc := q.OnConflict; oc != nil {
		target(oc.Targets)
		s.assignCollations(oc.Where)
	}
}

// visitTarget checks that what is sorted or grouped by has one collation.
func (c *collating) visitTarget(t *TargetEntry) {
	in := c.child()
	in.visit(t.Expr)
	if in.strength == collateConflict && t.Ref != 0 {
		raise(c.mismatch(in))
	}
	c.merge(in)
}

func (c *collating) mismatch(in *collating) error {
	return c.err(in.loc2, pgerr.CollationMismatch, "collation mismatch between implicit collations \"%s\" and \"%s\"",
		c.collationName(in.coll), c.collationName(in.coll2)).
		WithHint("You can choose the collation by applying the COLLATE clause to one or both expressions.")
}

func (a *analysis) collationName(oid types.OID) string {
	if c := must(a.Catalog.CollationByOID(oid)); c != nil {
		return c.Name
	}
	return ""
}

// commonCollation is the collation that exprs agree on, 0 if they are of types without or, with noneOK, disagree.
func (s *state) commonCollation(exprs []Expr, noneOK bool) types.OID {
	c := &collating{state: s, loc: -1}
	for _, e := range exprs {
		c.visit(e)
	}
	if c.strength == collateConflict {
		if noneOK {
			return 0
		}
		raise(c.mismatch(c))
	}
	return c.coll
}

func (c *collating) child() *collating { return &collating{state: c.state, loc: -1} }

// merge follows merge_collation_state.
func (c *collating) merge(in *collating) {
	if in.strength > c.strength {
		c.coll, c.strength, c.loc = in.coll, in.strength, in.loc
		if in.strength == collateConflict {
			c.coll2, c.loc2 = in.coll2, in.loc2
		}
		return
	}
	if in.strength < c.strength {
		return
	}
	switch in.strength {
	case collateImplicit:
		if in.coll == c.coll {
			return
		}
		if c.coll == defaultCollation {
			// Any other implicit collation beats the default.
			c.coll, c.loc = in.coll, in.loc
		} else if in.coll != defaultCollation {
			c.strength, c.coll2, c.loc2 = collateConflict, in.coll, in.loc
		}
	case collateExplicit:
		if in.coll != c.coll {
			raise(c.err(in.loc, pgerr.CollationMismatch, "collation mismatch between explicit collations \"%s\" and \"%s\"",
				c.collationName(c.coll), c.collationName(in.coll)))
		}
	}
}

// visit follows assign_collations_walker.
func (c *collating) visit(e Expr) {
	if e == nil {
		return
	}
	out := c.child()
	switch n := e.(type) {
	case *CollateExpr:
		c.child().visit(n.Arg)
		out.coll, out.strength, out.loc = n.Coll, collateExplicit, leftmostKnown(n.Loc, e)
	case *FieldSelect:
		c.child().visit(n.Arg)
		out.base(n.Coll, e)
	case *RowExpr:
		c.assignCollationsAll(n.Args)
		return
	case *RowCompareExpr:
		for i := range n.Left {
			n.InputColls[i] = c.commonCollation([]Expr{n.Left[i], n.Right[i]}, true)
		}
		return
	case *CoerceToDomain:
		out.domain(n)
	case *Var:
		out.base(n.Coll, e)
	case *Const:
		if n.Coll == 0 {
			n.Coll = c.typeCollation(n.Typ)
		}
		out.base(n.Coll, e)
	case *Param:
		out.base(n.Coll, e)
	case *CaseTest, *SetToDefault, *CurrentOf, *DomainValue:
		out.base(e.Collation(), e)
	case *SubColumn:
		out.base(n.Coll, e)
	default:
		out.parts(e)
	}
	c.merge(out)
}

func leftmostKnown(loc int, e Expr) int {
	if loc >= 0 {
		return loc
	}
	return location(e)
}

// base is an expression that has its collation from where it comes from.
func (c *collating) base(coll types.OID, e Expr) {
	if coll != 0 {
		c.coll, c.strength, c.loc = coll, collateImplicit, location(e)
	}
}

func (c *collating) domain(n *CoerceToDomain) {
	in := c.child()
	in.visit(n.Arg)
	switch t := c.typeCollation(n.Typ); t {
	case 0:
	case defaultCollation:
		c.coll, c.strength, c.loc, c.coll2, c.loc2 = in.coll, in.strength, in.loc, in.coll2, in.loc2
	default:
		c.coll, c.strength, c.loc = t, collateImplicit, location(n)
	}
	n.Coll = c.result()
}

// result is what a node records: 0 for a conflict.
func (c *collating) result() types.OID {
	if c.strength == collateConflict {
		return 0
	}
	return c.coll
}

// parts decides by the parts of an expression.
func (c *collating) parts(e Expr) {
	in := c.child()
	switch n := e.(type) {
	case *Aggref:
		in.aggregate(n)
	case *WindowFunc:
		for _, a := range n.Args {
			in.visit(a)
		}
		c.assignCollations(n.Filter)
	case *CaseExpr:
		// The test has its collation already, and no part in the result's.
		for _, w := range n.Whens {
			in.visit(w.When)
			in.visit(w.Then)
		}
		in.visit(n.Else)
	case *SubscriptingRef:
		for _, l := range [][]Expr{n.Upper, n.Lower} {
			c.assignCollationsAll(l)
		}
		in.visit(n.Container)
		in.visit(n.Assign)
	case *SubLink:
		in.visit(n.Test)
		if t := n.Query.Targets; len(t) > 0 && !t[0].Junk {
			col := c.child()
			col.base(t[0].Expr.Collation(), t[0].Expr)
			in.merge(col)
		}
	default:
		VisitChildren(e, func(p *Expr) { in.visit(*p) })
	}
	if t := c.typeCollation(e.Type()); t != 0 {
		if in.strength > collateNone {
			c.coll, c.strength, c.loc, c.coll2, c.loc2 = in.coll, in.strength, in.loc, in.coll2, in.loc2
		} else {
			c.coll, c.strength, c.loc = t, collateImplicit, location(e)
		}
	}
	setCollations(e, c.result(), in.result())
}

func (c *collating) aggregate(n *Aggref) {
	c.assignCollations(n.Filter)
	switch n.Kind {
	case 'n':
		for i := range n.Args {
			if n.Args[i].Junk {
				c.child().visitTarget(&n.Args[i])
			} else {
				c.visitTarget(&n.Args[i])
			}
		}
	case 'h':
		c.hypothetical(n)
	default:
		for _, d := range n.Direct {
			c.visit(d)
		}
		one := len(n.Args) == 1 && c.proc(n.Func).Variadic == 0
		for i := range n.Args {
			if one {
				c.visitTarget(&n.Args[i])
			} else {
				c.child().visitTarget(&n.Args[i])
			}
		}
	}
}

// hypothetical gives each hypothetical argument and its ordering column one collation. Follows
// assign_hypothetical_collations.
func (c *collating) hypothetical(n *Aggref) {
	one := len(n.Args) == 1 && c.proc(n.Func).Variadic == 0
	extra := len(n.Direct) - len(n.Args)
	for i := range extra {
		c.visit(n.Direct[i])
	}
	for i := range n.Args {
		arg, sorted := n.Direct[extra+i], n.Args[i].Expr
		pair := c.child()
		pair.visit(arg)
		pair.visit(sorted)
		if pair.strength == collateConflict {
			raise(c.mismatch(pair))
		}
		// The sort must use the collation both agree on.
		if pair.coll != 0 && pair.coll != sorted.Collation() {
			n.Args[i].Expr = &RelabelType{
				Typed: NewTyped(sorted.Type(), sorted.Typmod(), pair.coll, -1), Arg: sorted, Format: ImplicitCast,
			}
		}
		if one {
			c.merge(pair)
		}
	}
}

// setCollations records the result's and the inputs' collation.
func setCollations(e Expr, result, input types.OID) {
	switch n := e.(type) {
	case *FuncExpr:
		n.Coll, n.InputColl = result, input
	case *OpExpr:
		n.Coll, n.InputColl = result, input
	case *DistinctExpr:
		n.Coll, n.InputColl = result, input
	case *NullIfExpr:
		n.Coll, n.InputColl = result, input
	case *ScalarArrayOpExpr:
		n.InputColl = input
	case *MinMaxExpr:
		n.Coll, n.InputColl = result, input
	case *Aggref:
		n.Coll, n.InputColl = result, input
	case *WindowFunc:
		n.Coll, n.InputColl = result, input
	case *CaseExpr:
		n.Coll = result
	case *CoalesceExpr:
		n.Coll = result
	case *RelabelType:
		n.Coll = result
	case *CoerceViaIO:
		n.Coll = result
	case *ArrayCoerceExpr:
		n.Coll = result
	case *ArrayExpr:
		n.Coll = result
	case *SubscriptingRef:
		n.Coll = result
	case *SubLink:
		if n.Kind == SubLinkExpr || n.Kind == SubLinkArray {
			n.Coll = result
		}
	case *SQLValueFunction:
		n.Coll = result
	}
}

// lookupCollation finds a collation that must exist.
func (a *analysis) lookupCollation(names []string, loc int) types.OID {
	defer a.locate(loc)
	schema, name := a.splitName(names)
	ns := types.OID(0)
	if schema != "" {
		ns = a.explicitNamespace(schema, false)
	}
	best, bestPath := types.OID(0), -1
	for _, c := range must(a.Catalog.CollationsByName(name)) {
		if ns != 0 {
			if c.Namespace == ns {
				return c.OID
			}
			continue
		}
		if p := a.pathPosition(c.Namespace); p >= 0 && (bestPath < 0 || p < bestPath) {
			best, bestPath = c.OID, p
		}
	}
	if best == 0 {
		raise(pgerr.New(pgerr.UndefinedObject, "collation \"%s\" for encoding \"%s\" does not exist", joinNames(names), "UTF8"))
	}
	return best
}

// ResolveCollation finds a collation by its name for DDL; loc is where it stands in sql.
func ResolveCollation(c *Context, names []string, sql string, loc int) (oid types.OID, err error) {
	defer caught(&err)
	return newAnalysis(c, sql).lookupCollation(names, loc), nil
}

// columnCollation is the collation of a column definition. Follows GetColumnDefCollation.
func (a *analysis) columnCollation(d *pg_query.ColumnDef, typ types.OID) types.OID {
	loc := int(d.Location)
	coll := a.typeCollation(typ)
	if d.CollClause != nil {
		loc = int(d.CollClause.Location)
		coll = a.lookupCollation(nameStrings(d.CollClause.Collname), loc)
	} else if d.CollOid != 0 {
		coll = types.OID(d.CollOid)
	}
	if coll != 0 && !a.collatable(typ) {
		raise(a.err(loc, pgerr.DatatypeMismatch, "collations are not supported by type %s", a.formatType(typ)))
	}
	return coll
}

// ColumnCollation is the collation of a column definition of a type, for DDL.
func ColumnCollation(c *Context, d *pg_query.ColumnDef, typ types.OID, sql string) (oid types.OID, err error) {
	defer caught(&err)
	return newAnalysis(c, sql).columnCollation(d, typ), nil
}
