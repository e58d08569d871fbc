package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// relationColumns are the columns of a relation, dropped ones in their places.
func relationColumns(rel *catalog.Relation) []RTEColumn {
	cols := make([]RTEColumn, len(rel.Attrs))
	for i := range rel.Attrs {
		at := &rel.Attrs[i]
		cols[i] = RTEColumn{Name: at.Name, Type: at.Type, Typmod: at.Typmod, Collation: at.Collation, Dropped: at.Dropped}
		if at.Dropped {
			cols[i].Name, cols[i].Type = "", types.Int4
		}
	}
	return cols
}

// queryColumns are the output columns of a query.
func queryColumns(q *Query) []RTEColumn {
	targets := visibleTargets(q)
	cols := make([]RTEColumn, len(targets))
	for i, t := range targets {
		cols[i] = RTEColumn{Name: t.Name, Type: t.Expr.Type(), Typmod: t.Expr.Typmod(), Collation: t.Expr.Collation()}
	}
	return cols
}

// add puts an entry into the range table.
func (s *state) add(rte *RangeTableEntry) *nsItem {
	s.rtable = append(s.rtable, rte)
	return s.itemFor(len(s.rtable)-1, rte)
}

// itemFor is an item whose columns are those of the entry itself.
func (s *state) itemFor(rt int, rte *RangeTableEntry) *nsItem {
	it := &nsItem{name: rte.Alias, rte: rte, rt: rt, relVisible: true, colsVisible: true, lateralOK: true}
	it.cols = make([]nsColumn, len(rte.Columns))
	for i := range rte.Columns {
		c := &rte.Columns[i]
		it.cols[i] = nsColumn{
			name: c.Name, dropped: c.Dropped, rt: rt, attno: i + 1, typ: c.Type, typmod: c.Typmod, coll: c.Collation,
			synRT: rt, synAttno: i + 1,
		}
	}
	return it
}

// aliased gives an entry its alias and the aliases of its columns; what names the kind of thing in the error.
func (s *state) aliased(rte *RangeTableEntry, name string, al *pg_query.Alias, format string) {
	rte.Alias = name
	if al == nil {
		return
	}
	rte.Alias, rte.HasAlias = al.Aliasname, true
	rte.AliasColumns = nameStrings(al.Colnames)
	live, next := 0, 0
	for i := range rte.Columns {
		if rte.Columns[i].Dropped {
			continue
		}
		live++
		if next < len(rte.AliasColumns) {
			rte.Columns[i].Name = rte.AliasColumns[next]
			next++
		}
	}
	if len(rte.AliasColumns) > live {
		raise(pgerr.New(pgerr.InvalidColumnReference, format, rte.Alias, live, len(rte.AliasColumns)))
	}
}

const (
	tooManyTableAliases  = "table \"%s\" has %d columns available but %d columns specified"
	tooManyJoinAliases   = "join expression \"%s\" has %d columns available but %d columns specified"
	tooManyValuesAliases = "VALUES lists \"%s\" have %d columns available but %d columns specified"
)

// findRelation looks a name up without locking, nil if there is none. schema may be empty.
func (a *analysis) findRelation(schema, name string) *catalog.Relation {
	if schema != "" {
		ns := a.explicitNamespace(schema, true)
		if ns == 0 {
			return nil
		}
		return must(a.Catalog.RelationByName(ns, name))
	}
	for _, ns := range a.SearchPath {
		if r := must(a.Catalog.RelationByName(ns, name)); r != nil {
			return r
		}
	}
	return nil
}

// openRelation finds and locks what a RangeVar names: nil if there is no such relation. A name
// that means another relation once the lock is there is looked up again.
func (a *analysis) openRelation(rv *pg_query.RangeVar, mode uint8) *catalog.Relation {
	if rv.Catalogname != "" && rv.Catalogname != a.Database {
		raise(a.err(int(rv.Location), pgerr.FeatureNotSupported, "cross-database references are not implemented: \"%s.%s.%s\"",
			rv.Catalogname, rv.Schemaname, rv.Relname))
	}
	for {
		r := a.findRelation(rv.Schemaname, rv.Relname)
		if r == nil || a.Lock == nil || r.System {
			return r
		}
		check(a.Lock(r.OID, mode))
		again := a.findRelation(rv.Schemaname, rv.Relname)
		if again != nil && again.OID == r.OID {
			return again
		}
	}
}

// openTable is openRelation for what rows can be read from. Follows parserOpenTable.
func (s *state) openTable(rv *pg_query.RangeVar, mode uint8) *catalog.Relation {
	defer s.locate(int(rv.Location))
	rel := s.openRelation(rv, mode)
	if rel == nil {
		loc := int(rv.Location)
		if rv.Schemaname != "" {
			raise(s.err(loc, pgerr.UndefinedTable, "relation \"%s.%s\" does not exist", rv.Schemaname, rv.Relname))
		}
		e := s.err(loc, pgerr.UndefinedTable, "relation \"%s\" does not exist", rv.Relname)
		if s.isFutureCTE(rv.Relname) {
			raise(e.WithDetail("There is a WITH item named \"%s\", but it cannot be referenced from this part of the query.", rv.Relname).
				WithHint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references."))
		}
		raise(e)
	}
	switch rel.Kind {
	case catalog.KindIndex, catalog.KindPartitionedIndex, catalog.KindComposite:
		raise(pgerr.New(pgerr.WrongObjectType, "cannot open relation \"%s\"", rel.Name).
			WithDetail("This operation is not supported for %s.", relkindPlural(rel.Kind)))
	}
	s.noteRelation(rel)
	return rel
}

// relkindPlural is how errdetail_relkind_not_supported speaks of a kind.
func relkindPlural(k catalog.RelKind) string {
	switch k {
	case catalog.KindIndex:
		return "indexes"
	case catalog.KindSequence:
		return "sequences"
	case catalog.KindToast:
		return "TOAST tables"
	case catalog.KindView:
		return "views"
	case catalog.KindMatView:
		return "materialized views"
	case catalog.KindComposite:
		return "composite types"
	case catalog.KindForeignTable:
		return "foreign tables"
	case catalog.KindPartitionedTable:
		return "partitioned tables"
	case catalog.KindPartitionedIndex:
		return "partitioned indexes"
	}
	return "tables"
}

// isFutureCTE tells whether a WITH item of that name comes later.
func (s *state) isFutureCTE(name string) bool {
	for st := s; st != nil; st = st.parent {
		for _, c := range st.futureCTEs {
			if c.Ctename == name {
				return true
			}
		}
	}
	return false
}

// tableEntry is the entry of a relation; a view becomes the subquery it stands for.
func (s *state) tableEntry(rel *catalog.Relation, al *pg_query.Alias, inh bool) *RangeTableEntry {
	rte := &RangeTableEntry{Kind: RTERelation, Relation: rel, Inherit: inh, System: rel.System, Columns: relationColumns(rel), InFrom: true}
	if rel.Kind == catalog.KindView {
		rte.Kind, rte.Relation, rte.View, rte.System = RTESubquery, nil, rel, false
		rte.Subquery = s.viewQuery(rel)
	}
	s.aliased(rte, rel.Name, al, tooManyTableAliases)
	rte.Required = aclSelect
	return rte
}

// findCTE finds a WITH item and how many levels out it is.
func (s *state) findCTE(name string) (*CTE, int) {
	level := 0
	for st := s; st != nil; st = st.parent {
		for i := len(st.ctes) - 1; i >= 0; i-- {
			if st.ctes[i].Name == name {
				return st.ctes[i], level
			}
		}
		level++
	}
	return nil, 0
}

// cteEntry follows addRangeTableEntryForCTE.
func (s *state) cteEntry(c *CTE, level int, rv *pg_query.RangeVar) *RangeTableEntry {
	rte := &RangeTableEntry{Kind: RTECTE, CTEName: c.Name, CTELevelsUp: level, InFrom: true}
	rte.SelfReference = c.Query == nil
	if !rte.SelfReference {
		c.RefCount++
		if c.Query.Command != Select && len(c.Query.Returning) == 0 {
			raise(s.err(int(rv.Location), pgerr.FeatureNotSupported, "WITH query \"%s\" does not have a RETURNING clause", c.Name))
		}
	}
	rte.Columns = append([]RTEColumn(nil), c.Columns...)
	s.aliased(rte, c.Name, rv.Alias, tooManyTableAliases)
	return rte
}

// subqueryEntry follows addRangeTableEntryForSubquery.
func (s *state) subqueryEntry(q *Query, al *pg_query.Alias, lateral bool) *RangeTableEntry {
	rte := &RangeTableEntry{Kind: RTESubquery, Subquery: q, Lateral: lateral, InFrom: true, Columns: queryColumns(q)}
	s.aliased(rte, "unnamed_subquery", al, tooManyTableAliases)
	return rte
}

// valuesEntry follows addRangeTableEntryForValues.
func (s *state) valuesEntry(rows [][]Expr, al *pg_query.Alias, lateral bool) *RangeTableEntry {
	rte := &RangeTableEntry{Kind: RTEValues, Values: rows, Lateral: lateral, InFrom: true}
	for i, e := range rows[0] {
		c := RTEColumn{Name: "column" + itoa(i+1), Type: e.Type(), Typmod: e.Typmod(), Collation: e.Collation()}
		for _, row := range rows[1:] {
			if row[i].Type() != c.Type || row[i].Typmod() != c.Typmod {
				c.Typmod = -1
			}
		}
		rte.Columns = append(rte.Columns, c)
	}
	s.aliased(rte, "*VALUES*", al, tooManyValuesAliases)
	return rte
}

// viewQuery analyzes a view's definition.
func (s *state) viewQuery(rel *catalog.Relation) *Query {
	const maxViewDepth = 100
	if s.viewDepth >= maxViewDepth {
		raise(pgerr.New(pgerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation \"%s\"", rel.Name))
	}
	if rel.ViewDef == "" {
		raise(pgerr.New(pgerr.FeatureNotSupported, "view \"%s\" has no definition", rel.Name))
	}
	in := s.stored(rel.ViewDef)
	in.SearchPath = rel.ViewSearchPath()
	in.viewDepth++
	q := in.parseQuery(rel.ViewDef)
	if rel.Options["security_invoker"] != "true" {
		checkAs(q, rel.Owner)
	}
	return q
}

// parseQuery analyzes stored text that is one SELECT.
func (a *analysis) parseQuery(text string) *Query {
	if a.Parse == nil {
		raise(pgerr.New(pgerr.InternalError, "no parser for stored text"))
	}
	node, err := a.Parse(text)
	check(err)
	st := newState(a, nil)
	return st.statement(node)
}

// checkAs makes the privileges of a view's owner count for what the view reads.
func checkAs(q *Query, owner types.OID) {
	for _, r := range q.RTable {
		if r.CheckAs == 0 {
			r.CheckAs = owner
		}
	}
	VisitQuery(q, func(p *Expr) {
		WalkExpr(*p, 0, func(e Expr, _ int) bool {
			if sub, ok := e.(*SubLink); ok {
				checkAs(sub.Query, owner)
				return false
			}
			return true
		})
	}, func(sub *Query) { checkAs(sub, owner) })
}
