package analyze

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
)

// transformOnConflict follows transformOnConflictClause.
func (s *state) transformOnConflict(c *pg_query.OnConflictClause) *OnConflict {
	oc := &OnConflict{DoUpdate: c.Action == pg_query.OnConflictAction_ONCONFLICT_UPDATE, Excluded: -1}
	rel := s.targetRelation()
	var excluded *nsItem
	if oc.DoUpdate {
		rte := &RangeTableEntry{
			Kind: RTERelation, Relation: rel, Alias: "excluded", HasAlias: true, Columns: relationColumns(rel), NoSystemColumns: true,
		}
		excluded = s.add(rte)
		oc.Excluded = excluded.rt
	}
	s.conflictTarget(oc, c)
	if !oc.DoUpdate {
		return oc
	}
	s.isInsert = false
	saved := s.namespace
	s.namespace = append(s.namespace[:len(s.namespace):len(s.namespace)], excluded)
	oc.Targets = s.updateTargets(c.TargetList)
	oc.Where = s.transformWhere(c.WhereClause, kindWhere, "WHERE")
	s.namespace = saved
	for i := range oc.Targets {
		t := &oc.Targets[i]
		at := rel.Attr(int16(t.Attno))
		if s.updateDefault(at, t) && at.Generated == 0 {
			if t.Expr = s.columnDefault(rel, at); t.Expr == nil {
				t.Expr = s.nullColumn(at)
			}
		}
	}
	oc.Targets = slices.DeleteFunc(oc.Targets, func(t TargetEntry) bool { return isDefault(t.Expr) })
	s.isInsert = true
	s.target.rte.Required |= aclSelect
	return oc
}

// inference is what ON CONFLICT (...) WHERE ... asks of an index.
type inference struct {
	attnos map[int]bool
	exprs  []Expr
	elems  []inferenceElem
	where  Expr
}

type inferenceElem struct {
	expr          Expr
	coll, opclass catalog.OID
}

// conflictTarget finds the arbiter indexes. Follows transformOnConflictArbiter and infer_arbiter_indexes.
func (s *state) conflictTarget(oc *OnConflict, c *pg_query.OnConflictClause) {
	in := c.Infer
	rel := s.targetRelation()
	if in == nil && oc.DoUpdate {
		raise(s.err(int(c.Location), pgerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			WithHint("For example, ON CONFLICT (column_name)."))
	}
	if rel.System {
		raise(s.err(int(c.Location), pgerr.FeatureNotSupported, "ON CONFLICT is not supported with system catalog tables"))
	}
	if in == nil {
		return
	}
	if in.Conname != "" {
		s.conflictConstraint(oc, in.Conname)
		return
	}
	inf := s.inference(in)
	for _, x := range rel.Indexes {
		if x.Unique && x.Valid && s.inferredBy(rel, x, inf) {
			s.arbiter(oc, x)
		}
	}
	if len(oc.Indexes) == 0 {
		raise(pgerr.New(pgerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification"))
	}
}

func (s *state) arbiter(oc *OnConflict, x *catalog.Index) {
	if !x.Immediate {
		raise(pgerr.New(pgerr.ObjectNotInPrerequisiteState, "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters").
			WithTable("", s.targetRelation().Name).WithConstraint(x.Name))
	}
	oc.Indexes = append(oc.Indexes, x.OID)
}

func (s *state) conflictConstraint(oc *OnConflict, name string) {
	rel := s.targetRelation()
	for _, con := range rel.Constraints {
		if con.Name != name {
			continue
		}
		oc.Constraint = con.OID
		i := slices.IndexFunc(rel.Indexes, func(x *catalog.Index) bool {
			return x.OID == con.Index && con.Index != 0 && con.Kind != catalog.ConstraintForeign
		})
		if i < 0 {
			raise(pgerr.New(pgerr.WrongObjectType, "constraint in ON CONFLICT clause has no associated index"))
		}
		x := rel.Indexes[i]
		if !x.Unique && oc.DoUpdate {
			raise(pgerr.New(pgerr.WrongObjectType, "ON CONFLICT DO UPDATE not supported with exclusion constraints"))
		}
		s.arbiter(oc, x)
		for _, k := range x.Keys {
			if k.AttNum > 0 {
				s.target.rte.SelectCols = addColumn(s.target.rte.SelectCols, int(k.AttNum))
			}
		}
		return
	}
	raise(pgerr.New(pgerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", name, rel.Name))
}

// inference follows resolve_unique_index_expr.
func (s *state) inference(in *pg_query.InferClause) *inference {
	inf := &inference{attnos: map[int]bool{}}
	loc := int(in.Location)
	for _, n := range in.IndexElems {
		el := n.GetIndexElem()
		if el.Ordering != pg_query.SortByDir_SORTBY_DEFAULT && el.Ordering != pg_query.SortByDir_SORT_BY_DIR_UNDEFINED {
			raise(s.err(loc, pgerr.InvalidColumnReference, "ASC/DESC is not allowed in ON CONFLICT clause"))
		}
		if el.NullsOrdering != pg_query.SortByNulls_SORTBY_NULLS_DEFAULT && el.NullsOrdering != pg_query.SortByNulls_SORT_BY_NULLS_UNDEFINED {
			raise(s.err(loc, pgerr.InvalidColumnReference, "NULLS FIRST/LAST is not allowed in ON CONFLICT clause"))
		}
		node := el.Expr
		if node == nil {
			node = &pg_query.Node{Node: &pg_query.Node_ColumnRef{ColumnRef: &pg_query.ColumnRef{
				Fields: []*pg_query.Node{pg_query.MakeStrNode(el.Name)}, Location: in.Location,
			}}}
		}
		e := s.transformExpr(node, kindIndexExpression)
		s.pinExpr(e)
		ie := inferenceElem{expr: e}
		if len(el.Collation) > 0 {
			ie.coll = s.lookupCollation(nameStrings(el.Collation), location(e))
		}
		if len(el.Opclass) > 0 {
			ie.opclass = s.lookupOpclass(catalog.AMBtree, nameStrings(el.Opclass))
		}
		inf.elems = append(inf.elems, ie)
		if v, ok := e.(*Var); ok && v.Attno > 0 {
			inf.attnos[v.Attno] = true
		} else {
			inf.exprs = append(inf.exprs, e)
		}
	}
	if in.WhereClause != nil {
		inf.where = s.transformExpr(in.WhereClause, kindIndexPredicate)
		s.assignCollations(inf.where)
		s.pinExpr(inf.where)
	}
	for i := range inf.elems {
		s.assignCollations(inf.elems[i].expr)
	}
	return inf
}

// inferredBy tells whether an index is what the clause asks for.
func (s *state) inferredBy(rel *catalog.Relation, x *catalog.Index, inf *inference) bool {
	attnos := map[int]bool{}
	var exprs []Expr
	for _, k := range x.Keys[:x.NKeyAtts] {
		if k.AttNum != 0 {
			attnos[int(k.AttNum)] = true
			continue
		}
		exprs = append(exprs, s.relExpr(k.Expr, rel, kindIndexExpression))
	}
	if len(attnos) != len(inf.attnos) {
		return false
	}
	for a := range attnos {
		if !inf.attnos[a] {
			return false
		}
	}
	for _, el := range inf.elems {
		if !s.collationOpclassMatch(el, x, exprs) {
			return false
		}
		if v, ok := el.expr.(*Var); ok && v.Attno > 0 {
			continue
		}
		if !s.containsEqual(exprs, el.expr) {
			return false
		}
	}
	for _, e := range exprs {
		if !s.containsEqual(inf.exprs, e) {
			return false
		}
	}
	return x.Predicate == "" || s.implies(inf.where, s.relExpr(x.Predicate, rel, kindIndexPredicate))
}

// collationOpclassMatch follows infer_collation_opclass_match.
func (s *state) collationOpclassMatch(el inferenceElem, x *catalog.Index, exprs []Expr) bool {
	if el.coll == 0 && el.opclass == 0 {
		return true
	}
	n := 0
	for _, k := range x.Keys[:x.NKeyAtts] {
		var e Expr
		if k.AttNum == 0 {
			e = exprs[n]
			n++
		}
		if el.opclass != 0 && k.Opclass != el.opclass || el.coll != 0 && k.Collation != el.coll {
			continue
		}
		if v, ok := el.expr.(*Var); ok && int16(v.Attno) == k.AttNum {
			return true
		}
		if e != nil && s.equalExpr(e, el.expr) {
			return true
		}
	}
	return false
}

func (s *state) containsEqual(list []Expr, e Expr) bool {
	for _, o := range list {
		if s.equalExpr(o, e) {
			return true
		}
	}
	return false
}

// implies tells whether every condition of pred is one of cond's: less than PostgreSQL can prove, never more.
func (s *state) implies(cond, pred Expr) bool {
	for _, p := range conjuncts(pred) {
		if !s.containsEqual(conjuncts(cond), p) {
			return false
		}
	}
	return true
}

func conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	if b, ok := e.(*BoolExpr); ok && b.Op == And {
		var out []Expr
		for _, a := range b.Args {
			out = append(out, conjuncts(a)...)
		}
		return out
	}
	return []Expr{e}
}

// relExpr analyzes an expression that the catalog keeps for the target, as one over the target's entry.
func (s *state) relExpr(text string, rel *catalog.Relation, k exprKind) Expr {
	e := s.storedExpr(text, rel, k)
	WalkExpr(e, 0, func(n Expr, depth int) bool {
		if v, ok := n.(*Var); ok && v.LevelsUp == depth {
			v.RT, v.SynRT = s.target.rt, s.target.rt
		}
		return true
	})
	return e
}
