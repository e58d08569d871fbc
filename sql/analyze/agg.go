package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// buildAggregate makes an aggregate call. Follows the aggregate branch of ParseFuncOrColumn and transformAggregateCall.
func (s *state) buildAggregate(c *call, f *pg_query.FuncCall, filter Expr, d *callDetail, ret types.OID, args []Expr, variadic bool) Expr {
	if len(args) == 0 && !f.AggStar && !f.AggWithinGroup {
		raise(s.err(c.loc, pgerr.WrongObjectType, "%s(*) must be used to call a parameterless aggregate function", joinNames(c.names)))
	}
	if d.proc.RetSet {
		raise(s.err(c.loc, pgerr.InvalidFunctionDefinition, "aggregates cannot return sets"))
	}
	if c.argNames != nil {
		raise(s.err(c.loc, pgerr.FeatureNotSupported, "aggregates cannot use named arguments"))
	}
	agg := must(s.Catalog.AggregateByOID(d.proc.OID))
	a := &Aggref{
		Typed: NewTyped(ret, -1, 0, c.loc), Func: d.proc.OID, Filter: filter, Star: f.AggStar, Variadic: variadic, Kind: agg.Kind,
	}
	if a.Kind != 'n' {
		direct := len(args) - len(f.AggOrder)
		a.Direct = args[:direct:direct]
		args = args[direct:]
	}
	t := &targets{}
	for _, e := range args {
		t.list = append(t.list, &TargetEntry{Expr: e})
	}
	if a.Kind != 'n' {
		for i, n := range f.AggOrder {
			a.OrderBy = s.addSort(t.list[i], a.OrderBy, t, n.GetSortBy())
		}
	} else {
		a.OrderBy = s.transformSort(f.AggOrder, t, kindOrderBy, true)
		if f.AggDistinct {
			a.Distinct = true
			a.DistinctBy = s.transformDistinctClause(t, a.OrderBy, true)
			for _, sc := range a.DistinctBy {
				if sc.SortOp == 0 {
					e := t.byRef(sc.Ref).Expr
					raise(s.err(location(e), pgerr.UndefinedFunction, "could not identify an ordering operator for type %s", s.formatType(e.Type())).
						WithDetail("Aggregates with DISTINCT must be able to sort their inputs."))
				}
			}
		}
	}
	a.Args, a.NArgs = t.entries(), len(args)
	s.checkAggLevel(a, nil)
	return a
}

// transformGroupingFunc is GROUPING(...). What it may name is checked once GROUP BY is known.
func (s *state) transformGroupingFunc(g *pg_query.GroupingFunc) Expr {
	if len(g.Args) > 31 {
		raise(s.err(int(g.Location), pgerr.TooManyArguments, "GROUPING must have fewer than 32 arguments"))
	}
	n := &GroupingFunc{Typed: NewTyped(types.Int4, -1, 0, int(g.Location)), Args: s.transformList(g.Args)}
	s.checkAggLevel(nil, n)
	s.hasAggs = true
	return n
}

// checkAggLevel finds the query level an aggregate or GROUPING belongs to, and whether it may stand there. Follows
// check_agglevels_and_constraints.
func (s *state) checkAggLevel(a *Aggref, g *GroupingFunc) {
	what, loc, level := "aggregate functions", 0, 0
	if a != nil {
		loc = a.Loc
		args := make([]Expr, 0, len(a.Args)+1)
		for _, t := range a.Args {
			args = append(args, t.Expr)
		}
		level = s.aggLevel(a.Direct, args, a.Filter)
		a.LevelsUp = level
	} else {
		what, loc = "grouping operations", g.Loc
		level = s.aggLevel(nil, g.Args, nil)
		g.LevelsUp = level
	}
	st := s.levelsUp(level)
	st.hasAggs = true
	switch st.kind {
	case kindNone, kindOther, kindHaving, kindWindowPartition, kindWindowOrder, kindSelectTarget, kindOrderBy, kindDistinctOn:
		return
	case kindFromSubselect:
		raise(s.err(loc, pgerr.GroupingError, "%s are not allowed in FROM clause of their own query level", what))
	case kindWindowFrameRange, kindWindowFrameRows, kindWindowFrameGroups:
		raise(s.err(loc, pgerr.GroupingError, "%s are not allowed in %s", what, st.kind.name()))
	}
	raise(s.err(loc, pgerr.GroupingError, "%s are not allowed in %s", what, st.kind.place()))
}

// aggArgs are the nearest levels that variables and aggregates in arguments belong to, -1 for none.
type aggArgs struct {
	*state
	varLevel, aggLevel int
}

func (w *aggArgs) visit(list []Expr) {
	for _, e := range list {
		WalkExpr(e, 0, w.node)
	}
}

func lower(slot *int, level int) {
	if level >= 0 && (*slot < 0 || level < *slot) {
		*slot = level
	}
}

func (w *aggArgs) node(e Expr, depth int) bool {
	switch n := e.(type) {
	case *Var:
		lower(&w.varLevel, n.LevelsUp-depth)
		return false
	case *Aggref:
		lower(&w.aggLevel, n.LevelsUp-depth)
		return false
	case *GroupingFunc:
		lower(&w.aggLevel, n.LevelsUp-depth)
	}
	if depth > 0 {
		return true
	}
	srf := false
	switch n := e.(type) {
	case *FuncExpr:
		srf = n.RetSet
	case *OpExpr:
		srf = n.RetSet
	case *WindowFunc:
		raise(w.err(n.Loc, pgerr.GroupingError, "aggregate function calls cannot contain window function calls"))
	}
	if srf {
		raise(w.err(location(e), pgerr.FeatureNotSupported, "aggregate function calls cannot contain set-returning function calls").
			WithHint("You might be able to move the set-returning function into a LATERAL FROM item."))
	}
	return true
}

// aggLevel follows check_agg_arguments.
func (s *state) aggLevel(direct, args []Expr, filter Expr) int {
	if filter != nil {
		args = append(args[:len(args):len(args)], filter)
	}
	w := &aggArgs{state: s, varLevel: -1, aggLevel: -1}
	w.visit(args)
	level := 0
	switch {
	case w.varLevel < 0 && w.aggLevel < 0:
	case w.varLevel < 0:
		level = w.aggLevel
	case w.aggLevel < 0:
		level = w.varLevel
	default:
		level = min(w.varLevel, w.aggLevel)
	}
	nested := func(list []Expr, level int) {
		for _, e := range list {
			if loc, ok := locateAgg(e, level); ok {
				raise(s.err(loc, pgerr.GroupingError, "aggregate function calls cannot be nested"))
			}
		}
		raise(s.err(-1, pgerr.GroupingError, "aggregate function calls cannot be nested"))
	}
	if level == w.aggLevel {
		nested(args, level)
	}
	if len(direct) == 0 {
		return level
	}
	dw := &aggArgs{state: s, varLevel: -1, aggLevel: -1}
	dw.visit(direct)
	if dw.varLevel >= 0 && dw.varLevel < level {
		loc := -1
		for _, e := range direct {
			if loc < 0 {
				loc = locateVar(e, dw.varLevel)
			}
		}
		raise(s.err(loc, pgerr.GroupingError, "outer-level aggregate cannot contain a lower-level variable in its direct arguments"))
	}
	if dw.aggLevel >= 0 && dw.aggLevel <= level {
		nested(direct, dw.aggLevel)
	}
	return level
}

// locateAgg finds an aggregate or GROUPING of a query level.
func locateAgg(e Expr, level int) (loc int, found bool) {
	WalkExpr(e, level, func(n Expr, depth int) bool {
		switch a := n.(type) {
		case *Aggref:
			if !found && a.LevelsUp == depth {
				loc, found = a.Loc, true
			}
		case *GroupingFunc:
			if !found && a.LevelsUp == depth {
				loc, found = a.Loc, true
			}
		}
		return !found
	})
	return loc, found
}

// locateWindowFunc finds a window function of the same query level.
func locateWindowFunc(e Expr) (loc int, found bool) {
	walkExpr(e, func(n Expr) bool {
		if w, ok := n.(*WindowFunc); ok && !found {
			loc, found = w.Loc, true
		}
		return !found
	})
	return loc, found
}

// checkSRF is checkSRFCall for an operator.
func (s *state) checkSRF(e Expr, loc int) {
	s.checkSRFCall(s.lastSRF, loc)
	s.lastSRF = e
}

// checkSRFCall checks that a set-returning function may stand here. Follows check_srf_call_placement.
func (s *state) checkSRFCall(last Expr, loc int) {
	switch s.kind {
	case kindNone, kindOther, kindValuesSingle:
		if s.kind == kindValuesSingle {
			s.hasTargetSRFs = true
		}
		return
	case kindFromFunction:
		if s.lastSRF != last {
			raise(s.err(location(s.lastSRF), pgerr.FeatureNotSupported, "set-returning functions must appear at top level of FROM"))
		}
		return
	case kindWindowPartition, kindWindowOrder, kindSelectTarget, kindInsertTarget, kindGroupBy, kindOrderBy, kindDistinctOn:
		s.hasTargetSRFs = true
		return
	}
	raise(s.err(loc, pgerr.FeatureNotSupported, "set-returning functions are not allowed in %s", s.kind.place()))
}

// groupCheck looks for columns that are used outside aggregates and not grouped.
type groupCheck struct {
	*state
	q          *Query
	group      []*TargetEntry // with join columns flattened
	commonVars []*Var         // grouped in every grouping set
	nonVar     bool
	grouped    map[int]bool // entries whose primary key is grouped
	direct     bool
}

// checkAggregates follows parseCheckAggregates.
func (s *state) checkAggregates(q *Query) {
	common := map[int]bool{}
	if len(q.Grouping) > 0 {
		sets := expandSets(q.Grouping, q.GroupDistinct)
		if sets == nil {
			raise(pgerr.New(pgerr.StatementTooComplex, "too many grouping sets present (maximum %d)", maxGroupingSets))
		}
		for _, r := range sets[0] {
			common[r] = true
		}
		for _, set := range sets[1:] {
			in := map[int]bool{}
			for _, r := range set {
				in[r] = true
			}
			for r := range common {
				if !in[r] {
					delete(common, r)
				}
			}
		}
		if len(sets) == 1 && len(q.Group) > 0 {
			q.Grouping = nil
		} else {
			q.GroupingSets = groupIndexes(q, sets)
		}
	}
	hasJoins, selfRef := false, false
	for _, r := range s.rtable {
		hasJoins = hasJoins || r.Kind == RTEJoin
		selfRef = selfRef || r.Kind == RTECTE && r.SelfReference
	}
	flatten := func(e Expr) Expr {
		if !hasJoins {
			return e
		}
		return flattenJoins(q.RTable, e)
	}
	g := &groupCheck{state: s, q: q, grouped: map[int]bool{}}
	for _, c := range q.Group {
		for i := range q.Targets {
			if t := &q.Targets[i]; t.Ref == c.Ref {
				e := flatten(t.Expr)
				g.group = append(g.group, &TargetEntry{Expr: e, Ref: t.Ref})
				v, ok := e.(*Var)
				if !ok {
					g.nonVar = true
				} else if len(q.Grouping) == 0 || common[t.Ref] {
					g.commonVars = append(g.commonVars, v)
				}
			}
		}
	}
	check := func(e Expr) {
		g.finalizeGrouping(e, flatten)
		WalkExpr(flatten(e), 0, g.node)
	}
	for i := range q.Targets {
		check(q.Targets[i].Expr)
	}
	check(q.Having)
	if s.hasAggs && selfRef {
		loc := -1
		VisitQuery(q, func(p *Expr) {
			if l, ok := locateAgg(*p, 0); ok && loc < 0 {
				loc = l
			}
		}, func(*Query) {})
		raise(s.err(loc, pgerr.InvalidRecursion, "aggregate functions are not allowed in a recursive query's recursive term"))
	}
}

// groupIndexes turns the refs of grouping sets into indexes into q.Group.
func groupIndexes(q *Query, sets [][]int) [][]int {
	index := map[int]int{}
	for i, c := range q.Group {
		index[c.Ref] = i
	}
	out := make([][]int, len(sets))
	for i, set := range sets {
		out[i] = make([]int, len(set))
		for k, ref := range set {
			out[i][k] = index[ref]
		}
	}
	return out
}

// finalizeGrouping finds the group columns that each GROUPING names.
func (g *groupCheck) finalizeGrouping(e Expr, flatten func(Expr) Expr) {
	index := map[int]int{}
	for i, c := range g.q.Group {
		index[c.Ref] = i
	}
	WalkExpr(e, 0, func(n Expr, depth int) bool {
		if a, ok := n.(*Aggref); ok && a.LevelsUp == depth {
			for _, d := range a.Direct {
				g.finalizeGrouping(d, flatten)
			}
			return false
		}
		f, ok := n.(*GroupingFunc)
		if !ok || f.LevelsUp != depth {
			return true
		}
		f.Refs = nil
		for _, arg := range f.Args {
			ref := g.refOf(arg, depth, flatten)
			if ref == 0 {
				raise(g.err(location(arg), pgerr.GroupingError, "arguments to GROUPING must be grouping expressions of the associated query level"))
			}
			f.Refs = append(f.Refs, index[ref])
		}
		return false
	})
}

func (g *groupCheck) refOf(arg Expr, depth int, flatten func(Expr) Expr) int {
	if depth == 0 {
		arg = flatten(arg)
	}
	v, isVar := arg.(*Var)
	for _, t := range g.group {
		if isVar {
			gv, ok := t.Expr.(*Var)
			if ok && v.LevelsUp == depth && gv.RT == v.RT && gv.Attno == v.Attno && gv.LevelsUp == 0 {
				return t.Ref
			}
		} else if depth == 0 && g.nonVar && g.equalExpr(arg, t.Expr) {
			return t.Ref
		}
	}
	return 0
}

// node follows check_ungrouped_columns_walker.
func (g *groupCheck) node(e Expr, depth int) bool {
	switch n := e.(type) {
	case *Const, *Param:
		return false
	case *Aggref:
		if n.LevelsUp == depth {
			g.direct = true
			for _, d := range n.Direct {
				WalkExpr(d, depth, g.node)
			}
			g.direct = false
			return false
		}
		if n.LevelsUp > depth {
			return false
		}
	case *GroupingFunc:
		if n.LevelsUp >= depth {
			return false
		}
	}
	if g.nonVar && depth == 0 {
		for _, t := range g.group {
			if g.equalExpr(e, t.Expr) {
				return false
			}
		}
	}
	if v, ok := e.(*Var); ok && v.LevelsUp == depth {
		if depth > 0 && g.rtable[v.RT].Kind == RTEJoin && v.Attno > 0 {
			g.outerJoinColumn(v)
			return false
		}
		g.ungrouped(v, depth)
	}
	return true
}

// outerJoinColumn is node for a merged column of a join that a sub-select refers to.
func (g *groupCheck) outerJoinColumn(v *Var) {
	outer := *v
	outer.LevelsUp = 0
	e := flattenJoins(g.rtable, &outer)
	for _, t := range g.group {
		if g.equalExpr(e, t.Expr) {
			return
		}
	}
	WalkExpr(e, 0, func(n Expr, _ int) bool {
		if in, ok := n.(*Var); ok {
			g.ungrouped(in, 1)
		}
		return true
	})
}

// ungrouped raises the error unless the column is grouped or depends on columns that are.
func (g *groupCheck) ungrouped(v *Var, depth int) {
	if !g.nonVar || depth > 0 {
		for _, t := range g.group {
			if gv, ok := t.Expr.(*Var); ok && gv.RT == v.RT && gv.Attno == v.Attno && gv.LevelsUp == 0 {
				return
			}
		}
	}
	if g.grouped[v.RT] {
		return
	}
	rte := g.rtable[v.RT]
	if rte.Kind == RTERelation && g.primaryKeyGrouped(rte.Relation, v.RT) {
		g.grouped[v.RT] = true
		return
	}
	name := rteColumnName(rte, v.Attno)
	if depth > 0 {
		raise(g.err(v.Loc, pgerr.GroupingError, "subquery uses ungrouped column \"%s.%s\" from outer query", rte.Alias, name))
	}
	err := g.err(v.Loc, pgerr.GroupingError, "column \"%s.%s\" must appear in the GROUP BY clause or be used in an aggregate function", rte.Alias, name)
	if g.direct {
		err = err.WithDetail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
	}
	raise(err)
}

// rteColumnName follows get_rte_attribute_name.
func rteColumnName(rte *RangeTableEntry, attno int) string {
	switch {
	case attno == 0:
		return "*"
	case attno < 0:
		return SystemColumnName(attno)
	case attno <= len(rte.Columns):
		return rte.Columns[attno-1].Name
	}
	return "?"
}

// primaryKeyGrouped follows check_functional_grouping.
func (g *groupCheck) primaryKeyGrouped(rel *catalog.Relation, rt int) bool {
	for _, c := range rel.Constraints {
		if c.Kind != catalog.ConstraintPrimary || c.Deferrable {
			continue
		}
		all := len(c.Key) > 0
		for _, k := range c.Key {
			found := false
			for _, v := range g.commonVars {
				found = found || v.RT == rt && v.LevelsUp == 0 && v.Attno == int(k)
			}
			all = all && found
		}
		return all
	}
	return false
}

// flattenJoins replaces references to the columns of joins by what they stand for.
func flattenJoins(rtable []*RangeTableEntry, e Expr) Expr {
	if e == nil {
		return nil
	}
	c := cloneExpr(e)
	var fix func(p *Expr, depth int)
	fix = func(p *Expr, depth int) {
		v, ok := (*p).(*Var)
		if !ok {
			VisitChildren(*p, func(q *Expr) { fix(q, depth) })
			return
		}
		if v.LevelsUp != depth || rtable[v.RT].Kind != RTEJoin {
			return
		}
		rte := rtable[v.RT]
		if v.Attno > 0 {
			n := cloneExpr(rte.JoinVars[v.Attno-1])
			setLocation(n, v.Loc)
			*p = n
			fix(p, depth)
			return
		}
		row := &RowExpr{Typed: NewTyped(v.Typ, -1, 0, v.Loc), Format: ImplicitCast}
		for i, jv := range rte.JoinVars {
			row.Args = append(row.Args, cloneExpr(jv))
			row.Names = append(row.Names, rte.Columns[i].Name)
		}
		*p = row
		VisitChildren(row, func(q *Expr) { fix(q, depth) })
	}
	fix(&c, 0)
	return c
}

func setLocation(e Expr, loc int) {
	if v, ok := e.(*Var); ok {
		v.Loc = loc
	}
}

// FlattenJoins replaces references to the columns of joins in e, which belongs to the query of rtable, by
// what they stand for over the joins' inputs. Sub-selects are not entered.
func FlattenJoins(rtable []*RangeTableEntry, e Expr) Expr { return flattenJoins(rtable, e) }
