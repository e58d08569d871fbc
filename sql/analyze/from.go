package analyze

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// transformFrom adds the items of FROM, USING or UPDATE's FROM. Follows transformFromClause.
func (s *state) transformFrom(list []*pg_query.Node) []FromItem {
	var out []FromItem
	for _, n := range list {
		item, _, ns := s.transformFromItem(n)
		s.checkConflicts(s.namespace, ns)
		setLateral(ns, true, true)
		out = append(out, item)
		s.namespace = append(s.namespace, ns...)
	}
	setLateral(s.namespace, false, true)
	return out
}

func setLateral(ns []*nsItem, only, ok bool) {
	for _, it := range ns {
		it.lateralOnly, it.lateralOK = only, ok
	}
}

// checkConflicts follows checkNameSpaceConflicts: names must differ, but for relations of different schemas
// without aliases.
func (s *state) checkConflicts(left, right []*nsItem) {
	for _, a := range left {
		if !a.relVisible {
			continue
		}
		for _, b := range right {
			if !b.relVisible || a.name != b.name {
				continue
			}
			ra, rb := plainRelation(a), plainRelation(b)
			if ra != 0 && rb != 0 && ra != rb {
				continue
			}
			raise(pgerr.New(pgerr.DuplicateAlias, "table name \"%s\" specified more than once", a.name))
		}
	}
}

// plainRelation is the relation of an item without an alias, or 0.
func plainRelation(it *nsItem) types.OID {
	switch {
	case it.rte.HasAlias || it.usingAlias:
		return 0
	case it.rte.Relation != nil:
		return it.rte.Relation.OID
	case it.rte.View != nil:
		return it.rte.View.OID
	}
	return 0
}

// transformFromItem follows transformFromClauseItem. The item is what the join tree holds, top the columns a join
// above sees, ns the names it brings.
func (s *state) transformFromItem(n *pg_query.Node) (item FromItem, top *nsItem, ns []*nsItem) {
	switch v := n.Node.(type) {
	case *pg_query.Node_RangeVar:
		top = s.transformRangeVar(v.RangeVar)
	case *pg_query.Node_RangeSubselect:
		top = s.transformRangeSubselect(v.RangeSubselect)
	case *pg_query.Node_RangeFunction:
		top = s.transformRangeFunction(v.RangeFunction)
	case *pg_query.Node_RangeTableSample:
		_, top, _ = s.transformFromItem(v.RangeTableSample.Relation)
		s.transformSample(v.RangeTableSample, top)
	case *pg_query.Node_JoinExpr:
		return s.transformJoin(v.JoinExpr)
	default:
		s.unsupported(rawLocation(n), "%T in FROM is not supported", n.Node)
	}
	return &RangeRef{RT: top.rt}, top, []*nsItem{top}
}

func (s *state) transformRangeVar(rv *pg_query.RangeVar) *nsItem {
	if rv.Schemaname == "" && rv.Catalogname == "" {
		if c, level := s.findCTE(rv.Relname); c != nil {
			return s.add(s.cteEntry(c, level, rv))
		}
	}
	name := rv.Relname
	if rv.Alias != nil {
		name = rv.Alias.Aliasname
	}
	mode := accessShareLock
	if s.isLocked(name) {
		mode = rowShareLock
	}
	rel := s.openTable(rv, mode)
	return s.add(s.tableEntry(rel, rv.Alias, rv.Inh))
}

// isLocked tells whether a locking clause of this level, or one around it, names the item.
func (s *state) isLocked(name string) bool {
	if s.locked {
		return true
	}
	for _, l := range s.lockingRel {
		if len(l.LockedRels) == 0 {
			return true
		}
		for _, r := range l.LockedRels {
			if r.GetRangeVar().GetRelname() == name {
				return true
			}
		}
	}
	return false
}

func (s *state) transformRangeSubselect(r *pg_query.RangeSubselect) *nsItem {
	if r.Alias == nil {
		what, example := "subquery", "SELECT"
		if sel := r.Subquery.GetSelectStmt(); sel != nil && len(sel.ValuesLists) > 0 {
			what, example = "VALUES", "VALUES"
		}
		raise(s.err(s.parenBefore(r.Subquery), pgerr.SyntaxError, "%s in FROM must have an alias", what).
			WithHint("For example, FROM (%s ...) [AS] foo.", example))
	}
	old, oldLateral := s.kind, s.lateralActive
	s.kind, s.lateralActive = kindFromSubselect, r.Lateral
	q := s.analyzeSub(r.Subquery, nil, s.isLocked(r.Alias.Aliasname), true)
	s.kind, s.lateralActive = old, oldLateral
	return s.add(s.subqueryEntry(q, r.Alias, r.Lateral))
}

// parenBefore is the offset of the parenthesis a sub-select stands in, -1 if it cannot be told.
func (a *analysis) parenBefore(n *pg_query.Node) int {
	sel := n.GetSelectStmt()
	for sel.GetLarg() != nil {
		sel = sel.Larg
	}
	loc := firstRawLocation(sel.GetTargetList())
	if loc < 0 && len(sel.GetValuesLists()) > 0 {
		loc = firstRawLocation(sel.ValuesLists)
		if loc > 0 {
			loc = strings.LastIndexByte(a.sql[:loc], '(')
		}
	}
	depth := 0
	for i := loc - 1; i >= 0 && i < len(a.sql); i-- {
		switch a.sql[i] {
		case ')':
			depth++
		case '(':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// fromFunction is a function of FROM before it has an entry.
type fromFunction struct {
	expr Expr
	name string
	defs []*pg_query.Node
}

// transformRangeFunction follows transformRangeFunction.
func (s *state) transformRangeFunction(r *pg_query.RangeFunction) *nsItem {
	oldLateral := s.lateralActive
	s.lateralActive = true
	var funcs []fromFunction
	for _, pair := range r.Functions {
		items := pair.GetList().Items
		call := items[0]
		var defs []*pg_query.Node
		if len(items) > 1 {
			defs = items[1].GetList().GetItems()
		}
		for _, one := range splitUnnest(call, defs) {
			last := s.lastSRF
			e := s.transformExpr(one, kindFromFunction)
			if s.lastSRF != last && s.lastSRF != e {
				raise(s.err(location(s.lastSRF), pgerr.FeatureNotSupported, "set-returning functions must appear at top level of FROM"))
			}
			funcs = append(funcs, fromFunction{expr: e, name: figureColname(one), defs: defs})
		}
		if len(defs) > 0 && len(r.Coldeflist) > 0 {
			raise(s.err(firstRawLocation(r.Coldeflist), pgerr.SyntaxError,
				"multiple column definition lists are not allowed for the same function"))
		}
	}
	s.lateralActive = oldLateral
	for i := range funcs {
		s.assignCollations(funcs[i].expr)
	}
	if len(r.Coldeflist) > 0 {
		s.checkTopDefs(r, funcs)
		funcs[0].defs = r.Coldeflist
	}
	lateral := r.Lateral
	for i := range funcs {
		lateral = lateral || containsVars(funcs[i].expr)
	}
	return s.add(s.functionEntry(funcs, r, lateral))
}

func (s *state) checkTopDefs(r *pg_query.RangeFunction, funcs []fromFunction) {
	loc := columnDefLocation(r.Coldeflist)
	switch {
	case len(funcs) != 1 && r.IsRowsfrom:
		raise(s.err(loc, pgerr.SyntaxError, "ROWS FROM() with multiple functions cannot have a column definition list").
			WithHint("Put a separate column definition list for each function inside ROWS FROM()."))
	case len(funcs) != 1:
		raise(s.err(loc, pgerr.SyntaxError, "UNNEST() with multiple arguments cannot have a column definition list").
			WithHint("Use separate UNNEST() calls inside ROWS FROM(), and attach a column definition list to each one."))
	case r.Ordinality:
		raise(s.err(loc, pgerr.SyntaxError, "WITH ORDINALITY cannot be used with a column definition list").
			WithHint("Put the column definition list inside ROWS FROM()."))
	}
}

func columnDefLocation(defs []*pg_query.Node) int {
	if len(defs) == 0 {
		return -1
	}
	return int(defs[0].GetColumnDef().GetLocation())
}

// splitUnnest makes unnest(a, b) two calls, as the standard's UNNEST wants.
func splitUnnest(n *pg_query.Node, defs []*pg_query.Node) []*pg_query.Node {
	f := n.GetFuncCall()
	if f == nil || len(f.Funcname) != 1 || f.Funcname[0].GetString_().GetSval() != "unnest" || len(f.Args) < 2 ||
		len(f.AggOrder) > 0 || f.AggFilter != nil || f.Over != nil || f.AggStar || f.AggDistinct || f.FuncVariadic || len(defs) > 0 {
		return []*pg_query.Node{n}
	}
	var out []*pg_query.Node
	for _, arg := range f.Args {
		c := &pg_query.FuncCall{
			Funcname: []*pg_query.Node{pg_query.MakeStrNode("pg_catalog"), pg_query.MakeStrNode("unnest")},
			Args:     []*pg_query.Node{arg}, Location: f.Location, Funcformat: pg_query.CoercionForm_COERCE_EXPLICIT_CALL,
		}
		out = append(out, &pg_query.Node{Node: &pg_query.Node_FuncCall{FuncCall: c}})
	}
	return out
}

// functionEntry follows addRangeTableEntryForFunction.
func (s *state) functionEntry(funcs []fromFunction, r *pg_query.RangeFunction, lateral bool) *RangeTableEntry {
	rte := &RangeTableEntry{Kind: RTEFunction, Ordinality: r.Ordinality, Lateral: lateral, InFrom: true}
	for _, f := range funcs {
		fn := RTEFunc{Call: f.expr}
		cols, kind := s.exprResult(f.expr)
		loc := columnDefLocation(f.defs)
		switch {
		case len(f.defs) == 0:
			if kind == resultRecord {
				raise(s.err(location(f.expr), pgerr.SyntaxError, "a column definition list is required for functions returning \"record\""))
			}
		case kind == resultRecord:
			cols, fn.ColumnDefs = s.columnDefs(f.defs), true
		case kind == resultComposite && f.expr.Type() == types.Record:
			raise(s.err(loc, pgerr.SyntaxError, "a column definition list is redundant for a function with OUT parameters"))
		case kind == resultComposite:
			raise(s.err(loc, pgerr.SyntaxError, "a column definition list is redundant for a function returning a named composite type"))
		default:
			raise(s.err(loc, pgerr.SyntaxError, "a column definition list is only allowed for functions returning \"record\""))
		}
		if kind == resultScalar {
			if s.typ(f.expr.Type()).Kind == 'p' && f.expr.Type() != types.Void && !pseudoValue(f.expr.Type()) {
				raise(s.err(location(f.expr), pgerr.DatatypeMismatch, "function \"%s\" in FROM has unsupported return type %s",
					f.name, s.formatType(f.expr.Type())))
			}
			name := s.scalarAlias(f, r.Alias, len(funcs))
			cols = []RTEColumn{{Name: name, Type: f.expr.Type(), Typmod: f.expr.Typmod(), Collation: f.expr.Collation()}}
			fn.Scalar = true
		}
		fn.Columns = cols
		rte.Functions = append(rte.Functions, fn)
		rte.Columns = append(rte.Columns, cols...)
	}
	if r.Ordinality {
		rte.Columns = append(rte.Columns, RTEColumn{Name: "ordinality", Type: types.Int8, Typmod: -1})
	}
	if len(rte.Columns) > maxTargets {
		raise(s.err(location(funcs[0].expr), pgerr.TooManyColumns, "functions in FROM can return at most %d columns", maxTargets))
	}
	s.aliased(rte, funcs[0].name, r.Alias, tooManyTableAliases)
	return rte
}

// pseudoValue tells pseudo-types that values can have all the same.
func pseudoValue(t types.OID) bool {
	switch t {
	case types.Cstring, types.AnyArray, types.Trigger, types.Record, types.RecordArray, types.Unknown:
		return true
	}
	return isPolymorphic(t)
}

// scalarAlias names the column of a function with one value.
func (s *state) scalarAlias(f fromFunction, al *pg_query.Alias, n int) string {
	if fe, ok := f.expr.(*FuncExpr); ok {
		if name := outName(s.proc(fe.Func)); name != "" {
			return name
		}
	}
	if n == 1 && al != nil {
		return al.Aliasname
	}
	return f.name
}

// columnDefs are the columns of AS (a int, b text).
func (s *state) columnDefs(defs []*pg_query.Node) []RTEColumn {
	var cols []RTEColumn
	for _, n := range defs {
		d := n.GetColumnDef()
		typ, typmod := s.typeNameMod(d.TypeName)
		if d.TypeName.Setof {
			raise(s.err(int(d.Location), pgerr.InvalidTableDefinition, "column \"%s\" cannot be declared SETOF", d.Colname))
		}
		c := RTEColumn{Name: d.Colname, Type: typ, Typmod: typmod, Collation: s.columnCollation(d, typ)}
		for _, old := range cols {
			if old.Name == c.Name {
				raise(pgerr.New(pgerr.DuplicateColumn, "column name \"%s\" specified more than once", c.Name))
			}
		}
		if t := s.typ(typ); t.Kind == 'p' && typ != types.Record && typ != types.RecordArray {
			raise(pgerr.New(pgerr.InvalidTableDefinition, "column \"%s\" has pseudo-type %s", c.Name, s.formatType(typ)))
		}
		cols = append(cols, c)
	}
	return cols
}

func (s *state) transformSample(r *pg_query.RangeTableSample, it *nsItem) {
	loc := rawLocation(r.Relation)
	rel := it.rte.Relation
	if rel == nil || rel.Kind != catalog.KindTable && rel.Kind != catalog.KindMatView && rel.Kind != catalog.KindPartitionedTable {
		raise(s.err(loc, pgerr.WrongObjectType, "TABLESAMPLE clause can only be applied to tables and materialized views"))
	}
	s.unsupported(int(r.Location), "TABLESAMPLE is not supported")
}

// transformJoin follows the JoinExpr branch of transformFromClauseItem.
func (s *state) transformJoin(j *pg_query.JoinExpr) (FromItem, *nsItem, []*nsItem) {
	kind := map[pg_query.JoinType]JoinKind{
		pg_query.JoinType_JOIN_INNER: JoinInner, pg_query.JoinType_JOIN_LEFT: JoinLeft,
		pg_query.JoinType_JOIN_FULL: JoinFull, pg_query.JoinType_JOIN_RIGHT: JoinRight,
	}[j.Jointype]
	left, ltop, lns := s.transformFromItem(j.Larg)
	setLateral(lns, true, kind == JoinInner || kind == JoinLeft)
	depth := len(s.namespace)
	s.namespace = append(s.namespace, lns...)
	right, rtop, rns := s.transformFromItem(j.Rarg)
	s.namespace = s.namespace[:depth]
	s.checkConflicts(lns, rns)
	ns := append(append([]*nsItem(nil), lns...), rns...)

	join := &Join{Kind: kind, Left: left, Right: right}
	using := nameStrings(j.UsingClause)
	if j.IsNatural {
		using = naturalColumns(ltop, rtop)
	}
	m := &joinMerge{state: s, kind: kind, left: ltop, right: rtop}
	switch {
	case len(using) > 0:
		join.Using = using
		join.On = m.mergeUsing(using)
	case j.Quals != nil:
		join.On = s.transformJoinOn(j.Quals, ns)
	}
	m.remaining(ltop, true)
	m.remaining(rtop, false)
	if len(m.cols) > maxTargets {
		raise(pgerr.New(pgerr.ProgramLimitExceeded, "joins can have at most %d columns", maxTargets))
	}
	rte := &RangeTableEntry{
		Kind: RTEJoin, JoinKind: kind, Columns: m.rteCols, JoinVars: m.vars, JoinUsing: using,
		JoinLeft: m.leftNo, JoinRight: m.rightNo, InFrom: true, UsingAlias: j.JoinUsingAlias.GetAliasname(),
	}
	s.aliased(rte, "unnamed_join", j.Alias, tooManyJoinAliases)
	top := s.add(rte)
	join.RT = top.rt
	top.cols = m.nsColumns(rte, top.rt)
	if j.JoinUsingAlias != nil {
		it := &nsItem{name: j.JoinUsingAlias.Aliasname, rte: rte, rt: top.rt, cols: top.cols[:len(using)], relVisible: true, lateralOK: true, usingAlias: true}
		s.checkConflicts([]*nsItem{it}, ns)
		ns = append(ns, it)
	}
	if j.Alias != nil {
		ns = nil
	} else {
		for _, it := range ns {
			it.colsVisible = false
		}
	}
	top.relVisible = j.Alias != nil
	return join, top, append(ns, top)
}

// naturalColumns are the names both sides have, in the order of the left.
func naturalColumns(left, right *nsItem) []string {
	var out []string
	for i := range left.cols {
		name := left.cols[i].name
		if name == "" || left.cols[i].dropped {
			continue
		}
		for k := range right.cols {
			if right.cols[k].name == name && !right.cols[k].dropped {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

// transformJoinOn analyzes ON, which sees the two sides only.
func (s *state) transformJoinOn(n *pg_query.Node, ns []*nsItem) Expr {
	setLateral(ns, false, true)
	saved := s.namespace
	s.namespace = ns
	e := s.transformWhere(n, kindJoinOn, "JOIN/ON")
	s.namespace = saved
	return e
}

// joinMerge builds the columns of a join.
type joinMerge struct {
	*state
	kind        JoinKind
	left, right *nsItem

	cols            []nsColumn
	rteCols         []RTEColumn
	vars            []Expr
	leftNo, rightNo []int
	usedL, usedR    map[int]bool
}

// mergeUsing makes the merged columns and returns the condition.
func (m *joinMerge) mergeUsing(using []string) Expr {
	m.usedL, m.usedR = map[int]bool{}, map[int]bool{}
	var pairs [][2]*nsColumn
	for i, name := range using {
		for _, old := range using[:i] {
			if old == name {
				raise(pgerr.New(pgerr.DuplicateColumn, "column name \"%s\" appears more than once in USING clause", name))
			}
		}
		li := usingColumn(m.left, name, "left")
		ri := usingColumn(m.right, name, "right")
		m.usedL[li], m.usedR[ri] = true, true
		lc, rc := &m.left.cols[li], &m.right.cols[ri]
		pairs = append(pairs, [2]*nsColumn{lc, rc})
		m.addMerged(name, lc, rc, li+1, ri+1)
	}
	var conds []Expr
	for _, p := range pairs {
		conds = append(conds, m.usingCondition(p[0], p[1]))
	}
	if len(conds) == 1 {
		return conds[0]
	}
	return newBool(And, conds, -1)
}

func (m *joinMerge) usingCondition(lc, rc *nsColumn) Expr {
	var e Expr
	m.withKind(kindJoinUsing, func() {
		e = m.makeOp([]string{"="}, m.nsVar(lc, 0, -1), m.nsVar(rc, 0, -1), -1)
		e = m.coerceToBoolean(e, "JOIN/USING")
	})
	return e
}

func usingColumn(it *nsItem, name, side string) int {
	found := -1
	for i := range it.cols {
		if it.cols[i].name != name || it.cols[i].dropped {
			continue
		}
		if found >= 0 {
			raise(pgerr.New(pgerr.AmbiguousColumn, "common column name \"%s\" appears more than once in %s table", name, side))
		}
		found = i
	}
	if found < 0 {
		raise(pgerr.New(pgerr.UndefinedColumn, "column \"%s\" specified in USING clause does not exist in %s table", name, side))
	}
	return found
}

// addMerged follows buildMergedJoinVar.
func (m *joinMerge) addMerged(name string, lc, rc *nsColumn, lno, rno int) {
	lv, rv := m.nsVar(lc, 0, -1), m.nsVar(rc, 0, -1)
	pair := []Expr{lv, rv}
	typ, _ := m.commonType(pair, "JOIN/USING")
	typmod := commonTypmod(pair, typ)
	le, re := m.mergedSide(lv, typ, typmod), m.mergedSide(rv, typ, typmod)
	var e Expr
	switch m.kind {
	case JoinInner:
		e = le
		if _, ok := le.(*Var); !ok {
			if _, ok := re.(*Var); ok {
				e = re
			}
		}
	case JoinLeft:
		e = le
	case JoinRight:
		e = re
	default:
		args := []Expr{le, re}
		e = &CoalesceExpr{Typed: NewTyped(typ, commonTypmod(args, typ), 0, -1), Args: args}
	}
	m.assignCollations(e)
	col := nsColumn{name: name, rt: -1, typ: e.Type(), typmod: e.Typmod(), coll: e.Collation()}
	switch e {
	case Expr(lv):
		col = *lc
		col.name = name
	case Expr(rv):
		col = *rc
		col.name = name
	}
	m.push(col, e, lno, rno)
}

func (m *joinMerge) mergedSide(v *Var, typ types.OID, typmod int32) Expr {
	switch {
	case v.Typ != typ:
		return m.coerceType(v, typ, typmod, coerceImplicit, ImplicitCast, -1)
	case v.Mod != typmod:
		return &RelabelType{Typed: NewTyped(typ, typmod, 0, -1), Arg: v, Format: ImplicitCast}
	}
	return v
}

func (m *joinMerge) push(col nsColumn, e Expr, lno, rno int) {
	m.cols = append(m.cols, col)
	m.vars = append(m.vars, e)
	m.rteCols = append(m.rteCols, RTEColumn{Name: col.name, Type: e.Type(), Typmod: e.Typmod(), Collation: e.Collation()})
	m.leftNo = append(m.leftNo, lno)
	m.rightNo = append(m.rightNo, rno)
}

// remaining adds the columns of one side that were not merged.
func (m *joinMerge) remaining(it *nsItem, left bool) {
	used := m.usedR
	if left {
		used = m.usedL
	}
	for i := range it.cols {
		c := it.cols[i]
		if used[i] || c.dropped {
			continue
		}
		v := &Var{Typed: NewTyped(c.typ, c.typmod, c.coll, -1), RT: c.rt, Attno: c.attno, SynRT: c.synRT, SynAttno: c.synAttno}
		if left {
			m.push(c, v, i+1, 0)
		} else {
			m.push(c, v, 0, i+1)
		}
	}
}

// nsColumns points the columns that are the join's own at its entry. An alias hides what is below when printed.
func (m *joinMerge) nsColumns(rte *RangeTableEntry, rt int) []nsColumn {
	for i := range m.cols {
		c := &m.cols[i]
		c.name = rte.Columns[i].Name
		c.dontExpand = false
		if c.rt < 0 {
			c.rt, c.attno = rt, i+1
			c.synRT, c.synAttno = rt, i+1
		}
		if rte.HasAlias {
			c.synRT, c.synAttno = rt, i+1
		}
	}
	return m.cols
}
