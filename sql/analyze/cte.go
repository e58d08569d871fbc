package analyze

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// transformWith follows transformWithClause.
func (s *state) transformWith(w *pg_query.WithClause) {
	raw := make([]*pg_query.CommonTableExpr, len(w.Ctes))
	for i, n := range w.Ctes {
		c := n.GetCommonTableExpr()
		for _, o := range raw[:i] {
			if o.Ctename == c.Ctename {
				raise(s.err(int(c.Location), pgerr.DuplicateAlias, "WITH query name \"%s\" specified more than once", c.Ctename))
			}
		}
		if c.SearchClause != nil {
			s.unsupported(int(c.SearchClause.Location), "SEARCH clause is not supported")
		}
		if c.CycleClause != nil {
			s.unsupported(int(c.CycleClause.Location), "CYCLE clause is not supported")
		}
		if c.Ctequery.GetSelectStmt() == nil {
			s.hasModifyingCTE = true
		}
		raw[i] = c
	}
	if !w.Recursive {
		s.futureCTEs = raw
		for _, c := range raw {
			cte := newCTE(c)
			s.analyzeCTE(cte, c)
			s.ctes = append(s.ctes, cte)
			s.futureCTEs = s.futureCTEs[1:]
		}
		return
	}
	g := s.newCTEGraph(raw)
	for _, i := range g.order {
		cte := newCTE(raw[i])
		cte.Recursive = g.recursive[i]
		s.ctes = append(s.ctes, cte)
	}
	base := len(s.ctes) - len(raw)
	for k, i := range g.order {
		s.analyzeCTE(s.ctes[base+k], raw[i])
	}
}

func newCTE(c *pg_query.CommonTableExpr) *CTE {
	n := &CTE{Name: c.Ctename, AliasColumns: nameStrings(c.Aliascolnames), loc: int(c.Location)}
	switch c.Ctematerialized {
	case pg_query.CTEMaterialize_CTEMaterializeAlways:
		n.Materialized = CTEAlways
	case pg_query.CTEMaterialize_CTEMaterializeNever:
		n.Materialized = CTENever
	}
	return n
}

// analyzeCTE follows analyzeCTE.
func (s *state) analyzeCTE(c *CTE, raw *pg_query.CommonTableExpr) {
	q := s.analyzeSub(raw.Ctequery, c, false, true)
	if q.Command != Select && s.parent != nil {
		raise(s.err(c.loc, pgerr.FeatureNotSupported, "WITH clause containing a data-modifying statement must be at the top level"))
	}
	c.Query = q
	if !c.Recursive {
		s.setCTEColumns(c, queryColumns(q))
		return
	}
	for i, t := range visibleTargets(q) {
		col := c.Columns[i]
		if t.Expr.Type() != col.Type || t.Expr.Typmod() != col.Typmod {
			raise(s.err(location(t.Expr), pgerr.DatatypeMismatch,
				"recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall", c.Name, i+1,
				s.formatTypeMod(col.Type, col.Typmod), s.formatTypeMod(t.Expr.Type(), t.Expr.Typmod())).
				WithHint("Cast the output of the non-recursive term to the correct type."))
		}
		if t.Expr.Collation() != col.Collation {
			raise(s.err(location(t.Expr), pgerr.CollationMismatch,
				"recursive query \"%s\" column %d has collation \"%s\" in non-recursive term but collation \"%s\" overall", c.Name, i+1,
				s.collationName(col.Collation), s.collationName(t.Expr.Collation())).
				WithHint("Use the COLLATE clause to set the collation of the non-recursive term."))
		}
	}
}

// setCTEColumns follows analyzeCTETargetList.
func (s *state) setCTEColumns(c *CTE, cols []RTEColumn) {
	for i := range cols {
		if i < len(c.AliasColumns) {
			cols[i].Name = c.AliasColumns[i]
		}
		if c.Recursive && cols[i].Type == types.Unknown {
			cols[i].Type, cols[i].Typmod = types.Text, -1
			if cols[i].Collation == 0 {
				cols[i].Collation = defaultCollation
			}
		}
	}
	if len(cols) < len(c.AliasColumns) {
		raise(s.err(c.loc, pgerr.InvalidColumnReference, "WITH query \"%s\" has %d columns available but %d columns specified",
			c.Name, len(cols), len(c.AliasColumns)))
	}
	c.Columns = cols
}

// cteGraph knows which items of WITH RECURSIVE refer to which.
type cteGraph struct {
	*state
	ctes      []*pg_query.CommonTableExpr
	deps      []map[int]bool
	recursive []bool
	order     []int
}

func (s *state) newCTEGraph(ctes []*pg_query.CommonTableExpr) *cteGraph {
	g := &cteGraph{state: s, ctes: ctes, recursive: make([]bool, len(ctes))}
	for i, c := range ctes {
		deps := map[int]bool{}
		g.references(c.Ctequery.ProtoReflect(), nil, func(rv *pg_query.RangeVar) {
			for k, o := range ctes {
				if o.Ctename != rv.Relname {
					continue
				}
				if k == i {
					g.recursive[i] = true
				} else {
					deps[k] = true
				}
			}
		})
		g.deps = append(g.deps, deps)
	}
	g.sort()
	for i := range ctes {
		if g.recursive[i] {
			g.checkWellFormed(i)
		}
	}
	return g
}

// sort puts the items in an order in which none refers to a later one, but for themselves.
func (g *cteGraph) sort() {
	done := make([]bool, len(g.ctes))
	for range g.ctes {
		next := -1
		for i := range g.ctes {
			if done[i] {
				continue
			}
			ready := true
			for d := range g.deps[i] {
				ready = ready && done[d]
			}
			if ready {
				next = i
				break
			}
		}
		if next < 0 {
			first := slices.Index(done, false)
			raise(g.err(int(g.ctes[first].Location), pgerr.FeatureNotSupported, "mutual recursion between WITH items is not implemented"))
		}
		done[next] = true
		g.order = append(g.order, next)
	}
}

// references calls fn for each unqualified relation name that no WITH in between hides.
func (g *cteGraph) references(m protoreflect.Message, hidden []string, fn func(*pg_query.RangeVar)) {
	walkRaw(m, func(n protoreflect.Message) bool {
		switch v := n.Interface().(type) {
		case *pg_query.RangeVar:
			if v.Schemaname == "" && v.Catalogname == "" && !slices.Contains(hidden, v.Relname) {
				fn(v)
			}
			return false
		case *pg_query.WithClause:
			return false
		}
		if w := withOf(n); w != nil {
			inner := g.withReferences(w, hidden, fn)
			n.Range(func(f protoreflect.FieldDescriptor, val protoreflect.Value) bool {
				switch {
				case f.Message() == nil || f.Name() == "with_clause":
				case f.IsList():
					for i := range val.List().Len() {
						g.references(val.List().Get(i).Message(), inner, fn)
					}
				default:
					g.references(val.Message(), inner, fn)
				}
				return true
			})
			return false
		}
		return true
	})
}

// withReferences looks into the items of a nested WITH and returns what is hidden in its statement.
func (g *cteGraph) withReferences(w *pg_query.WithClause, hidden []string, fn func(*pg_query.RangeVar)) []string {
	inner := slices.Clone(hidden)
	if w.Recursive {
		for _, c := range w.Ctes {
			inner = append(inner, c.GetCommonTableExpr().Ctename)
		}
	}
	for _, c := range w.Ctes {
		cte := c.GetCommonTableExpr()
		g.references(cte.Ctequery.ProtoReflect(), inner, fn)
		inner = append(inner, cte.Ctename)
	}
	return inner
}

// withOf is the WITH of a statement, or nil.
func withOf(m protoreflect.Message) *pg_query.WithClause {
	switch v := m.Interface().(type) {
	case *pg_query.SelectStmt:
		return v.WithClause
	case *pg_query.InsertStmt:
		return v.WithClause
	case *pg_query.UpdateStmt:
		return v.WithClause
	case *pg_query.DeleteStmt:
		return v.WithClause
	}
	return nil
}

// recursionPlace is where in a recursive query a reference to itself stands.
type recursionPlace uint8

const (
	recursionOK recursionPlace = iota
	recursionNonRecursive
	recursionSubLink
	recursionOuterJoin
	recursionIntersect
	recursionExcept
)

var recursionErrors = [...]string{
	recursionNonRecursive: "recursive reference to query \"%s\" must not appear within its non-recursive term",
	recursionSubLink:      "recursive reference to query \"%s\" must not appear within a subquery",
	recursionOuterJoin:    "recursive reference to query \"%s\" must not appear within an outer join",
	recursionIntersect:    "recursive reference to query \"%s\" must not appear within INTERSECT",
	recursionExcept:       "recursive reference to query \"%s\" must not appear within EXCEPT",
}

// checkWellFormed follows checkWellFormedRecursion.
func (g *cteGraph) checkWellFormed(i int) {
	c := g.ctes[i]
	loc := int(c.Location)
	sel := c.Ctequery.GetSelectStmt()
	if sel == nil {
		raise(g.err(loc, pgerr.InvalidRecursion, "recursive query \"%s\" must not contain data-modifying statements", c.Ctename))
	}
	if sel.Op != pg_query.SetOperation_SETOP_UNION {
		raise(g.err(loc, pgerr.InvalidRecursion, "recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", c.Ctename))
	}
	r := &recursionCheck{cteGraph: g, name: c.Ctename}
	var hidden []string
	if sel.WithClause != nil {
		r.place = recursionSubLink
		hidden = r.with(sel.WithClause, nil)
	}
	r.place = recursionNonRecursive
	r.walk(sel.Larg.ProtoReflect(), hidden)
	r.place = recursionOK
	r.walk(sel.Rarg.ProtoReflect(), hidden)
	for _, x := range []struct {
		present bool
		loc     int
		what    string
	}{
		{len(sel.SortClause) > 0, firstRawLocation(sel.SortClause), "ORDER BY"},
		{sel.LimitOffset != nil, rawLocation(sel.LimitOffset), "OFFSET"},
		{sel.LimitCount != nil, rawLocation(sel.LimitCount), "LIMIT"},
		{len(sel.LockingClause) > 0, -1, "FOR UPDATE/SHARE"},
	} {
		if x.present {
			raise(g.err(x.loc, pgerr.FeatureNotSupported, "%s in a recursive query is not implemented", x.what))
		}
	}
}

// recursionCheck follows checkWellFormedRecursionWalker.
type recursionCheck struct {
	*cteGraph
	name  string
	place recursionPlace
	count int
}

func (r *recursionCheck) with(w *pg_query.WithClause, hidden []string) []string {
	inner := slices.Clone(hidden)
	if w.Recursive {
		for _, c := range w.Ctes {
			inner = append(inner, c.GetCommonTableExpr().Ctename)
		}
	}
	for _, c := range w.Ctes {
		cte := c.GetCommonTableExpr()
		r.walk(cte.Ctequery.ProtoReflect(), inner)
		inner = append(inner, cte.Ctename)
	}
	return inner
}

// in walks m as part of another place.
func (r *recursionCheck) in(p recursionPlace, m protoreflect.Message, hidden []string) {
	saved := r.place
	r.place = p
	r.walk(m, hidden)
	r.place = saved
}

func (r *recursionCheck) walk(m protoreflect.Message, hidden []string) {
	walkRaw(m, func(n protoreflect.Message) bool {
		switch v := n.Interface().(type) {
		case *pg_query.RangeVar:
			r.reference(v, hidden)
			return false
		case *pg_query.WithClause:
			return false
		case *pg_query.SelectStmt:
			r.selectStmt(v, hidden)
			return false
		case *pg_query.JoinExpr:
			r.join(v, hidden)
			return false
		case *pg_query.SubLink:
			r.in(recursionSubLink, v.Subselect.ProtoReflect(), hidden)
			r.walk(v.Testexpr.ProtoReflect(), hidden)
			return false
		}
		return true
	})
}

func (r *recursionCheck) reference(v *pg_query.RangeVar, hidden []string) {
	if v.Schemaname != "" || v.Catalogname != "" || v.Relname != r.name || slices.Contains(hidden, v.Relname) {
		return
	}
	if r.place != recursionOK {
		raise(r.err(int(v.Location), pgerr.InvalidRecursion, recursionErrors[r.place], r.name))
	}
	if r.count++; r.count > 1 {
		raise(r.err(int(v.Location), pgerr.InvalidRecursion, "recursive reference to query \"%s\" must not appear more than once", r.name))
	}
}

// fields walks all of a statement but its WITH and the fields named.
func (r *recursionCheck) fields(m protoreflect.Message, hidden []string, skip ...string) {
	m.Range(func(f protoreflect.FieldDescriptor, val protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.Name() == "with_clause" || slices.Contains(skip, string(f.Name())):
		case f.IsList():
			for i := range val.List().Len() {
				r.walk(val.List().Get(i).Message(), hidden)
			}
		default:
			r.walk(val.Message(), hidden)
		}
		return true
	})
}

func (r *recursionCheck) selectStmt(v *pg_query.SelectStmt, hidden []string) {
	if v.WithClause != nil {
		hidden = r.with(v.WithClause, hidden)
	}
	m := v.ProtoReflect()
	if r.place != recursionOK {
		r.fields(m, hidden)
		return
	}
	switch v.Op {
	case pg_query.SetOperation_SETOP_INTERSECT:
		p := recursionOK
		if v.All {
			p = recursionIntersect
		}
		r.in(p, v.Larg.ProtoReflect(), hidden)
		r.in(p, v.Rarg.ProtoReflect(), hidden)
		r.fields(m, hidden, "larg", "rarg")
	case pg_query.SetOperation_SETOP_EXCEPT:
		p := recursionOK
		if v.All {
			p = recursionExcept
		}
		r.in(p, v.Larg.ProtoReflect(), hidden)
		r.in(recursionExcept, v.Rarg.ProtoReflect(), hidden)
		r.fields(m, hidden, "larg", "rarg")
	default:
		r.fields(m, hidden)
	}
}

func (r *recursionCheck) join(v *pg_query.JoinExpr, hidden []string) {
	left, right := r.place, r.place
	if r.place == recursionOK {
		switch v.Jointype {
		case pg_query.JoinType_JOIN_LEFT:
			right = recursionOuterJoin
		case pg_query.JoinType_JOIN_RIGHT:
			left = recursionOuterJoin
		case pg_query.JoinType_JOIN_FULL:
			left, right = recursionOuterJoin, recursionOuterJoin
		}
	}
	r.in(left, v.Larg.ProtoReflect(), hidden)
	r.in(right, v.Rarg.ProtoReflect(), hidden)
	r.walk(v.Quals.ProtoReflect(), hidden)
}
