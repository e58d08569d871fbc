package plan

import (
	"math"
	"sort"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

type pathKind uint8

const (
	pathSeq pathKind = iota
	pathCatalog
	pathIndex
	pathBitmap
	pathTid
	pathFunction
	pathValues
	pathSubquery
	pathCTE
	pathResult
	pathNestLoop
	pathHash
	pathUnique
	pathGate
)

// path is a way to get the rows of a set of relations, with its cost.
type path struct {
	kind           pathKind
	rels           relset
	startup, total float64
	rows           float64
	order          []orderKey
	required       relset // outer relations whose rows parameterise it

	base      *baseRel
	index     *catalog.Index
	conds     []pathCond
	backward  bool
	indexOnly bool
	unique    bool
	keys      []pathCond // of a catalog scan, Key is the attribute number
	bitmap    *bitmapPath
	tids      []analyze.Expr
	tidArray  bool
	filter    []*clause

	join         analyze.JoinKind
	outer, inner *path
	gate         []analyze.Expr // of pathGate: conditions over no row, for outer to be run at all
	hash         []*clause      // equalities a hash join uses
	on           []*clause      // other join conditions
	above        []*clause      // conditions after the join
	material     bool
	innerUnique  bool

	sub *subPath
}

// pathCond is an index condition in terms of Vars.
type pathCond struct {
	key      int
	strategy IndexStrategy
	value    analyze.Expr
	clause   *clause
}

type bitmapPath struct {
	index *catalog.Index
	conds []pathCond
	or    bool
	parts []*bitmapPath
	rows  float64
	cost  float64
}

// subPath is a planned subquery.
type subPath struct {
	node Node
	args []NestParam
}

// orderKey is one key of the order rows come in.
type orderKey struct {
	key        string // exprKey
	desc       bool
	nullsFirst bool
	expr       analyze.Expr
}

func (k *orderKey) same(o *orderKey) bool {
	return k.key == o.key && k.desc == o.desc && k.nullsFirst == o.nullsFirst
}

// addPath keeps np in list unless another is as good in every way, and drops those it is as good as.
func addPath(list []*path, np *path) []*path {
	keep := list[:0:0]
	for _, o := range list {
		if o.total <= np.total*1.0000001 && o.startup <= np.startup*1.01 && orderSatisfies(o.order, np.order) &&
			o.required.subsetOf(np.required) && o.rows <= np.rows*1.0000001 {
			return list
		}
		if !(np.total <= o.total && np.startup <= o.startup*1.01 && orderSatisfies(np.order, o.order) &&
			np.required.subsetOf(o.required) && np.rows <= o.rows) {
			keep = append(keep, o)
		}
	}
	return append(keep, np)
}

// orderSatisfies tells whether rows in order have are also in order want.
func orderSatisfies(have, want []orderKey) bool {
	return len(want) <= len(have) && commonOrder(have, want) == len(want)
}

func cheapest(list []*path) *path {
	var best *path
	for _, p := range list {
		if p.required.empty() && (best == nil || p.total < best.total) {
			best = p
		}
	}
	return best
}

// basePaths finds the ways to scan an item that is a base relation.
func (p *planner) basePaths(it *item, prob *joinProblem) {
	r := it.base
	sel := p.combined(r.local)
	r.rows = clampRows(r.tuples * sel)
	it.rows, it.width = r.rows, r.width
	switch r.rte.Kind {
	case analyze.RTERelation:
		if r.rte.Relation.System || r.rte.Relation.Kind == catalog.KindSequence {
			p.catalogPaths(it, prob)
			return
		}
		p.tablePaths(it, prob)
	case analyze.RTESubquery:
		p.subqueryPath(it)
	default:
		kind := map[analyze.RTEKind]pathKind{
			analyze.RTEFunction: pathFunction, analyze.RTEValues: pathValues, analyze.RTECTE: pathCTE,
			analyze.RTEResult: pathResult,
		}[r.rte.Kind]
		np := &path{kind: kind, rels: it.rels, base: r, rows: r.rows, required: r.lateral, filter: r.local}
		np.total = p.ctx.Settings.CPUTupleCost*r.tuples + p.qualCost(r.local, r.tuples)
		it.paths = append(it.paths, np)
	}
}

func clampRows(n float64) float64 {
	if n <= 1 || math.IsNaN(n) {
		return 1
	}
	return math.Round(n)
}

// qualCost is the cost of testing conditions on so many rows.
func (p *planner) qualCost(list []*clause, rows float64) float64 {
	cost := 0.0
	for _, c := range list {
		cost += p.exprCost(c.expr)
	}
	return cost * rows
}

// exprCost is the cost of evaluating e once.
func (p *planner) exprCost(e analyze.Expr) float64 {
	cost := 0.0
	visit(e, func(e analyze.Expr) bool {
		switch n := e.(type) {
		case *analyze.OpExpr, *analyze.FuncExpr, *analyze.CoerceViaIO:
			cost += p.ctx.Settings.CPUOperatorCost
		case *analyze.ScalarArrayOpExpr:
			cost += 5 * p.ctx.Settings.CPUOperatorCost
		case *SubPlan:
			if n.Param < 0 && !n.Hashed {
				cost += n.Plan.Common().TotalCost
			}
		}
		return true
	})
	return cost
}

func (p *planner) seqPath(r *baseRel) *path {
	s := &p.ctx.Settings
	np := &path{kind: pathSeq, rels: r.self, base: r, rows: r.rows, filter: r.local}
	np.total = s.SeqPageCost*r.pages + s.CPUTupleCost*r.tuples + p.qualCost(r.local, r.tuples)
	if !s.EnableSeqScan {
		np.startup += disabledCost
		np.total += disabledCost
	}
	return np
}

const disabledCost = 1e10

// catalogPaths makes scans of a catalog relation: whole, or by equality on columns.
func (p *planner) catalogPaths(it *item, prob *joinProblem) {
	r := it.base
	s := &p.ctx.Settings
	local := p.catalogKeys(r, r.local)
	np := &path{kind: pathCatalog, rels: r.self, base: r, rows: r.rows, filter: r.local, keys: local}
	np.total = p.catalogCost(r, local) + p.qualCost(r.local, r.rows)
	it.paths = append(it.paths, np)
	for _, req := range p.outerSets(r, prob, it) {
		list := append(append([]*clause(nil), r.local...), p.joinClausesFor(r, prob, it, req)...)
		keys := p.catalogKeys(r, list)
		if len(keys) == len(local) {
			continue
		}
		rows := clampRows(r.tuples * p.combined(list))
		np := &path{
			kind: pathCatalog, rels: r.self, base: r, rows: rows, filter: r.local, keys: keys, required: req,
		}
		np.total = p.catalogCost(r, keys) + s.CPUTupleCost*rows
		it.paths = append(it.paths, np)
	}
}

func (p *planner) catalogCost(r *baseRel, keys []pathCond) float64 {
	s := &p.ctx.Settings
	if len(keys) == 0 {
		return s.CPUTupleCost * 2 * r.tuples
	}
	sel := 1.0
	for _, k := range keys {
		if r.uniqueOn(k.key) {
			sel = 0
		}
		sel *= 0.01
	}
	return 20*s.CPUOperatorCost + s.CPUTupleCost*2*math.Max(1, r.tuples*sel)
}

// catalogKeys are the equalities in list between a column of r and something that does not depend on r.
func (p *planner) catalogKeys(r *baseRel, list []*clause) []pathCond {
	var keys []pathCond
	if !r.rte.Relation.System {
		return nil // a sequence
	}
	for _, c := range list {
		if c.left == nil || c.outer != nil && c.outer.right != r.self {
			continue
		}
		col, value := c.left, c.right
		if v, ok := col.(*analyze.Var); !ok || v.RT != r.rt {
			col, value = value, col
		}
		v, ok := col.(*analyze.Var)
		if !ok || v.RT != r.rt || v.Attno <= 0 || relsOf(value).has(r.rt) || v.Type() != value.Type() || containsVolatile(p, value) {
			continue
		}
		if hasSubPlan(value) {
			continue
		}
		keys = append(keys, pathCond{key: v.Attno, strategy: IndexEqual, value: value, clause: c})
	}
	return keys
}

func hasSubPlan(e analyze.Expr) bool {
	found := false
	visit(e, func(e analyze.Expr) bool {
		if _, ok := e.(*SubPlan); ok {
			found = true
		}
		return !found
	})
	return found
}

// joinClausesFor are the join conditions that can be tested in a scan of r when rows of req are at hand.
func (p *planner) joinClausesFor(r *baseRel, prob *joinProblem, it *item, req relset) []*clause {
	var list []*clause
	avail := req.union(r.self)
	consider := prob.clauses
	if it.special != nil {
		consider = it.special.on
	}
	for _, c := range consider {
		if c.rels.has(r.rt) && c.rels.subsetOf(avail) && !c.volatile {
			list = append(list, c)
		}
	}
	return list
}

// outerSets are the sets of other relations that a condition on r alone refers to.
func (p *planner) outerSets(r *baseRel, prob *joinProblem, it *item) []relset {
	seen := make(map[relset]bool)
	var sets []relset
	add := func(s relset) {
		if !s.empty() && !seen[s] && len(sets) < 12 {
			seen[s] = true
			sets = append(sets, s)
		}
	}
	consider := prob.clauses
	if it.special != nil {
		consider = it.special.on
	}
	for _, c := range consider {
		if c.rels.has(r.rt) && !c.volatile {
			add(c.rels.minus(r.self))
		}
	}
	for _, a := range append([]relset(nil), sets...) {
		for _, b := range sets {
			add(a.union(b))
		}
	}
	return sets
}

// tablePaths makes the scans of a table.
func (p *planner) tablePaths(it *item, prob *joinProblem) {
	r := it.base
	for i, c := range r.local {
		if _, current := c.expr.(*analyze.CurrentOf); current {
			it.paths = append(it.paths, p.newTidPath(r, i, c.expr, false)) // there is no other way to know the row
			return
		}
	}
	it.paths = append(it.paths, p.seqPath(r))
	if tid := p.tidPath(r); tid != nil {
		it.paths = addPath(it.paths, tid)
	}
	if !p.ctx.Settings.EnableIndexScan {
		return
	}
	outer := p.outerSets(r, prob, it)
	for _, x := range r.rte.Relation.Indexes {
		info := p.indexInfo(r, x)
		if info == nil {
			continue
		}
		p.indexPaths(it, info, r.local, relset{})
		for _, req := range outer {
			joins := p.joinClausesFor(r, prob, it, req)
			p.indexPaths(it, info, append(append([]*clause(nil), r.local...), joins...), req)
		}
	}
	p.bitmapPaths(it)
}

// indexInfo is an index with its expressions over Vars of the relation's entry.
type indexInfo struct {
	index *catalog.Index
	exprs []analyze.Expr // per column, expression or plain Var
}

func (p *planner) indexInfo(r *baseRel, x *catalog.Index) *indexInfo {
	if !x.Valid || !x.Ready || x.AM != btreeAM {
		return nil
	}
	info := &indexInfo{index: x}
	var keys []analyze.Expr
	var predicate analyze.Expr
	if x.Predicate != "" || hasExprKeys(x) {
		var err error
		keys, predicate, err = p.ctx.IndexExprs(r.rte.Relation, x)
		fail(err)
	}
	rebase := func(e analyze.Expr) analyze.Expr {
		return mapVars(e, 0, func(v *analyze.Var, _ int) analyze.Expr {
			m := *v
			m.RT = r.rt
			return &m
		})
	}
	if predicate != nil && !p.implied(conjuncts(nil, rebase(predicate)), r.local) {
		return nil
	}
	for i, k := range x.Keys {
		if k.AttNum == 0 {
			info.exprs = append(info.exprs, rebase(keys[i]))
			continue
		}
		a := r.rte.Relation.Attr(k.AttNum)
		info.exprs = append(info.exprs, &analyze.Var{
			Typed: analyze.Typed{Typ: a.Type, Mod: a.Typmod, Coll: a.Collation, Loc: -1}, RT: r.rt, Attno: int(k.AttNum),
		})
	}
	return info
}

func hasExprKeys(x *catalog.Index) bool {
	for _, k := range x.Keys {
		if k.AttNum == 0 {
			return true
		}
	}
	return false
}

// implied tells whether each part of an index predicate stands among the conditions, or follows from a strict one.
func (p *planner) implied(parts []analyze.Expr, local []*clause) bool {
	for _, part := range parts {
		ok := false
		for _, c := range local {
			if p.equalStored(part, c.expr) || p.impliesNotNull(part, c.expr) {
				ok = true
				break
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// equalStored compares an expression the catalog stores with one of the statement. Where
// they are equal because of the value of a lifted literal, that literal is pinned.
func (p *planner) equalStored(stored, e analyze.Expr) bool {
	if equalExprs(stored, e) {
		return true
	}
	var lifted []int
	var strip func(e analyze.Expr) analyze.Expr
	strip = func(e analyze.Expr) analyze.Expr {
		if c, ok := e.(*analyze.Const); ok && c.Lifted != 0 {
			lifted = append(lifted, c.Lifted)
			plain := *c
			plain.Lifted = 0
			return &plain
		}
		return mapChildren(e, strip)
	}
	plain := strip(e)
	if len(lifted) == 0 || p.ctx.Pin == nil || !equalExprs(stored, plain) {
		return false
	}
	for _, l := range lifted {
		p.ctx.Pin(l)
	}
	return true
}

func (p *planner) impliesNotNull(part, c analyze.Expr) bool {
	t, ok := part.(*analyze.NullTest)
	if !ok || !t.IsNot {
		return false
	}
	op, ok := c.(*analyze.OpExpr)
	if !ok || !p.proc(op.Func).Strict {
		return false
	}
	for _, a := range op.Args {
		if equalExprs(a, t.Arg) {
			return true
		}
	}
	return false
}

// matchIndex finds the conditions of an index scan among the clauses.
func (p *planner) matchIndex(info *indexInfo, rt int, list []*clause) (byKey [][]pathCond) {
	x := info.index
	byKey = make([][]pathCond, x.NKeyAtts)
	for _, c := range list {
		for k := range x.NKeyAtts {
			if pc, ok := p.matchClause(info, k, rt, c); ok {
				byKey[k] = append(byKey[k], pc)
			}
		}
	}
	return byKey
}

// indexStrategies maps btree strategy numbers.
var indexStrategies = [...]IndexStrategy{0, IndexLess, IndexLessEqual, IndexEqual, IndexGreaterEqual, IndexGreater}

func (p *planner) matchClause(info *indexInfo, k, rt int, c *clause) (pathCond, bool) {
	key := &info.index.Keys[k]
	column := info.exprs[k]
	switch n := c.expr.(type) {
	case *analyze.OpExpr:
		if len(n.Args) != 2 {
			return pathCond{}, false
		}
		op, value := n.Op, n.Args[1]
		if !p.sameColumn(n.Args[0], column) {
			if !p.sameColumn(n.Args[1], column) {
				return pathCond{}, false
			}
			op, value = p.operator(n.Op).Commutator, n.Args[0]
		}
		strategy := p.strategy(op, key.Opfamily)
		if strategy == 0 || relsOf(value).has(rt) || containsVolatile(p, value) || hasSubPlan(value) {
			return pathCond{}, false
		}
		if key.Collation != 0 && n.InputColl != 0 && n.InputColl != key.Collation {
			return pathCond{}, false
		}
		return pathCond{key: k, strategy: indexStrategies[strategy], value: value, clause: c}, true
	case *analyze.ScalarArrayOpExpr:
		if !n.UseOr || !p.sameColumn(n.Scalar, column) || relsOf(n.Array).has(rt) ||
			p.strategy(n.Op, key.Opfamily) != 3 || containsVolatile(p, n.Array) || hasSubPlan(n.Array) {
			return pathCond{}, false
		}
		return pathCond{key: k, strategy: IndexEqAny, value: n.Array, clause: c}, true
	case *analyze.NullTest:
		if n.ArgIsRow || !p.sameColumn(n.Arg, column) {
			return pathCond{}, false
		}
		st := IndexIsNull
		if n.IsNot {
			st = IndexIsNotNull
		}
		return pathCond{key: k, strategy: st, clause: c}, true
	}
	return pathCond{}, false
}

// sameColumn compares an operand with an index column; a relabelled column is the same.
func (p *planner) sameColumn(e, column analyze.Expr) bool {
	for {
		r, ok := e.(*analyze.RelabelType)
		if !ok {
			break
		}
		e = r.Arg
	}
	v, isVar := e.(*analyze.Var)
	c, colVar := column.(*analyze.Var)
	if isVar && colVar {
		return v.RT == c.RT && v.Attno == c.Attno && v.LevelsUp == c.LevelsUp
	}
	if isVar != colVar {
		return false
	}
	return p.equalStored(column, e)
}

// strategy is the btree strategy number of op in a family, or 0.
func (p *planner) strategy(op, family types.OID) int {
	fams, err := p.ctx.Catalog.OperatorFamilies(op)
	fail(err)
	for _, f := range fams {
		if f.Family == family && f.Method == btreeAM && f.Strategy >= 1 && f.Strategy <= 5 {
			return int(f.Strategy)
		}
	}
	return 0
}

// chooseConds takes equalities on leading keys and then bounds on the next.
func chooseConds(byKey [][]pathCond) (conds []pathCond, equal int) {
	for k := range byKey {
		var eq *pathCond
		for i := range byKey[k] {
			switch byKey[k][i].strategy {
			case IndexEqual:
				if eq == nil || eq.strategy != IndexEqual {
					eq = &byKey[k][i]
				}
			case IndexEqAny, IndexIsNull:
				if eq == nil {
					eq = &byKey[k][i]
				}
			}
		}
		if eq != nil {
			conds = append(conds, *eq)
			equal++
			continue
		}
		low, high := false, false
		for _, c := range byKey[k] {
			switch c.strategy {
			case IndexLess, IndexLessEqual:
				if !high {
					conds = append(conds, c)
				}
				high = true
			case IndexGreater, IndexGreaterEqual:
				if !low {
					conds = append(conds, c)
				}
				low = true
			case IndexIsNotNull:
				if len(byKey[k]) == 1 {
					conds = append(conds, c)
				}
			}
		}
		break
	}
	return conds, equal
}

// indexPaths adds forward and, where an order is wanted, backward scans of an index.
func (p *planner) indexPaths(it *item, info *indexInfo, list []*clause, req relset) {
	r := it.base
	conds, equal := chooseConds(p.matchIndex(info, r.rt, list))
	order := p.indexOrder(info, conds, false)
	usesOuter := relset{}
	used := make([]*clause, 0, len(conds))
	for _, c := range conds {
		used = append(used, c.clause)
		if c.value != nil {
			usesOuter = usesOuter.union(relsOf(c.value))
		}
	}
	if !req.empty() && usesOuter.empty() {
		return
	}
	only := p.ctx.Settings.EnableIndexOnlyScan && coversAll(info, r)
	if len(conds) == 0 && !only && !p.orderUseful(order) && info.index.Predicate == "" {
		return
	}
	np := &path{
		kind: pathIndex, rels: r.self, base: r, index: info.index, conds: conds, indexOnly: only,
		required: req.minus(r.self), order: order,
	}
	np.unique = info.index.Unique && info.index.Immediate && equal == info.index.NKeyAtts && allEqual(conds)
	np.filter = remaining(list, used)
	p.costIndex(np, used, list)
	it.paths = addPath(it.paths, np)
	if p.orderUseful(order) && len(order) > 0 && !np.unique {
		back := *np
		back.backward = true
		back.order = p.indexOrder(info, conds, true)
		it.paths = addPath(it.paths, &back)
	}
}

func allEqual(conds []pathCond) bool {
	for _, c := range conds {
		if c.strategy != IndexEqual {
			return false
		}
	}
	return true
}

func remaining(list, used []*clause) []*clause {
	var rest []*clause
	for _, c := range list {
		found := false
		for _, u := range used {
			found = found || u == c || equalExprs(u.expr, c.expr)
		}
		if !found {
			rest = append(rest, c)
		}
	}
	return rest
}

func coversAll(info *indexInfo, r *baseRel) bool {
	for att := range r.needed {
		found := false
		for _, k := range info.index.Keys {
			found = found || int(k.AttNum) == att && att != 0
		}
		if !found {
			return false
		}
	}
	return true
}

// indexOrder is the order an index scan returns, as far as it is one that ORDER BY can ask for; keys fixed by an
// equality are left out.
func (p *planner) indexOrder(info *indexInfo, conds []pathCond, backward bool) []orderKey {
	var order []orderKey
	for k := range info.index.NKeyAtts {
		fixed := false
		for _, c := range conds {
			if c.key == k && c.strategy == IndexEqAny {
				return order
			}
			fixed = fixed || c.key == k && (c.strategy == IndexEqual || c.strategy == IndexIsNull)
		}
		if fixed {
			continue
		}
		key := &info.index.Keys[k]
		if !p.ordinaryKey(key, info.exprs[k]) {
			return order
		}
		order = append(order, orderKey{
			key: exprKey(info.exprs[k]), desc: key.Desc != backward, nullsFirst: key.NullsFirst != backward,
			expr: info.exprs[k],
		})
	}
	return order
}

// ordinaryKey tells whether an index orders its column e as the column's type and collation do.
func (p *planner) ordinaryKey(key *catalog.IndexKey, e analyze.Expr) bool {
	if key.Collation != e.Collation() {
		return false
	}
	oc, err := p.ctx.Catalog.DefaultOpclass(btreeAM, e.Type())
	fail(err)
	return oc != nil && oc.Family == key.Opfamily
}

// orderUseful tells whether the query asks for rows sorted, or lying together, by the first key of order.
func (p *planner) orderUseful(order []orderKey) bool {
	return len(order) > 0 && p.wanted()[order[0].key]
}

// wanted are the keys by which rows may be wanted in order: the first of ORDER BY and of windows,
// and all of GROUP BY and DISTINCT.
func (p *planner) wanted() map[string]bool {
	if p.wantedKeys != nil {
		return p.wantedKeys
	}
	p.wantedKeys = make(map[string]bool)
	for _, list := range [][]analyze.SortClause{p.q.Group, p.q.Distinct} {
		for _, s := range p.useful(list) {
			p.wantedKeys[exprKey(p.targetByRef(s.Ref).Expr)] = true
		}
	}
	for _, order := range [][]orderKey{p.orderKeys(p.q.OrderBy), p.firstWindowOrder()} {
		if len(order) > 0 {
			p.wantedKeys[order[0].key] = true
		}
	}
	return p.wantedKeys
}

func (p *planner) targetByRef(ref int) *analyze.TargetEntry {
	for i := range p.q.Targets {
		if p.q.Targets[i].Ref == ref {
			return &p.q.Targets[i]
		}
	}
	return nil
}

// costIndex estimates an index scan.
func (p *planner) costIndex(np *path, used, all []*clause) {
	s := &p.ctx.Settings
	r := np.base
	sel := p.combined(used)
	fetched := clampRows(r.tuples * sel)
	if np.unique {
		fetched = 1
	}
	np.rows = clampRows(r.tuples * p.combined(all))
	if np.unique {
		np.rows = 1
	}
	indexPages := math.Max(1, r.tuples*16/8192)
	height := math.Max(1, math.Ceil(math.Log(math.Max(2, r.tuples))/math.Log(250)))
	scans := 1.0
	for _, c := range np.conds {
		if c.strategy == IndexEqAny {
			scans = math.Min(fetched+1, 10)
		}
	}
	np.startup = scans * height * s.CPUOperatorCost * 50
	np.total = np.startup + math.Max(scans, indexPages*sel)*s.RandomPageCost*0.25
	np.total += fetched * (s.CPUIndexTupleCost + float64(len(used))*s.CPUOperatorCost)
	heapPages := math.Min(fetched, r.pages)
	random := s.RandomPageCost
	if r.pages < s.EffectiveCacheSize/4 {
		random = (s.RandomPageCost + s.SeqPageCost) / 2
	}
	correlation := p.indexCorrelation(np)
	cost := heapPages*random*(1-correlation*correlation) + math.Min(heapPages, math.Ceil(sel*r.pages))*s.SeqPageCost*correlation*correlation
	if np.indexOnly {
		visible := 0.0
		if rel := r.rte.Relation; rel.Pages > 0 {
			visible = float64(rel.AllVisible) / float64(rel.Pages)
		}
		cost *= 1 - visible
	}
	np.total += cost + fetched*s.CPUTupleCost + p.qualCost(np.filter, fetched)
}

// indexCorrelation is how well the table's order follows the index's first column, from 0 to 1.
func (p *planner) indexCorrelation(np *path) float64 {
	k := np.index.Keys[0]
	if k.AttNum == 0 {
		return 0
	}
	_, st := p.columnStats(&analyze.Var{Typed: analyze.Typed{Typ: k.Type}, RT: np.base.rt, Attno: int(k.AttNum)})
	if st == nil {
		return 0
	}
	for _, slot := range st.Slots {
		if slot.Kind == catalog.StatCorrelation && len(slot.Numbers) > 0 {
			c := math.Abs(float64(slot.Numbers[0]))
			if len(np.index.Keys) > 1 {
				c *= 0.75
			}
			return c
		}
	}
	return 0
}

// tidPath is a scan by ctid.
func (p *planner) tidPath(r *baseRel) *path {
	for i, c := range r.local {
		var value analyze.Expr
		array := false
		switch n := c.expr.(type) {
		case *analyze.OpExpr:
			if len(n.Args) != 2 || p.operator(n.Op).Name != "=" {
				continue
			}
			if isCtid(n.Args[0], r.rt) {
				value = n.Args[1]
			} else if isCtid(n.Args[1], r.rt) {
				value = n.Args[0]
			}
		case *analyze.ScalarArrayOpExpr:
			if n.UseOr && isCtid(n.Scalar, r.rt) && p.operator(n.Op).Name == "=" {
				value, array = n.Array, true
			}
		}
		if value == nil || !relsOf(value).empty() || containsVolatile(p, value) || hasSubPlan(value) {
			continue
		}
		return p.newTidPath(r, i, value, array)
	}
	return nil
}

// newTidPath is a scan by the ctids that condition number i of the table asks for.
func (p *planner) newTidPath(r *baseRel, i int, value analyze.Expr, array bool) *path {
	np := &path{kind: pathTid, rels: r.self, base: r, rows: 1, tids: []analyze.Expr{value}, tidArray: array}
	np.filter = append(append([]*clause(nil), r.local[:i]...), r.local[i+1:]...)
	np.total = p.ctx.Settings.RandomPageCost + p.ctx.Settings.CPUTupleCost
	return np
}

func isCtid(e analyze.Expr, rt int) bool {
	v, ok := e.(*analyze.Var)
	return ok && v.RT == rt && v.LevelsUp == 0 && v.Attno == CtidColumn
}

// bitmapPaths adds a bitmap scan for the best OR of index conditions, or for one
// index whose matches are many and scattered.
func (p *planner) bitmapPaths(it *item) {
	if !p.ctx.Settings.EnableBitmapScan {
		return
	}
	r := it.base
	var sources []*bitmapPath
	for _, x := range r.rte.Relation.Indexes {
		if info := p.indexInfo(r, x); info != nil {
			if b := p.bitmapIndex(r, info, r.local); b != nil {
				sources = append(sources, b)
			}
		}
	}
	for _, c := range r.local {
		if b := p.bitmapOr(r, c.expr); b != nil {
			sources = append(sources, b)
		}
	}
	sort.SliceStable(sources, func(i, j int) bool { return sources[i].rows < sources[j].rows })
	if len(sources) == 0 {
		return
	}
	it.paths = addPath(it.paths, p.bitmapPath(r, sources[0]))
}

func (p *planner) bitmapIndex(r *baseRel, info *indexInfo, list []*clause) *bitmapPath {
	conds, _ := chooseConds(p.matchIndex(info, r.rt, list))
	if len(conds) == 0 {
		return nil
	}
	used := make([]*clause, 0, len(conds))
	for _, c := range conds {
		if c.value != nil && !relsOf(c.value).empty() {
			return nil
		}
		used = append(used, c.clause)
	}
	s := &p.ctx.Settings
	b := &bitmapPath{index: info.index, conds: conds, rows: clampRows(r.tuples * p.combined(used))}
	b.cost = s.RandomPageCost + b.rows*(s.CPUIndexTupleCost+0.1*s.CPUOperatorCost) + b.rows*16/8192*s.RandomPageCost
	return b
}

func (p *planner) bitmapOr(r *baseRel, e analyze.Expr) *bitmapPath {
	or, ok := e.(*analyze.BoolExpr)
	if !ok || or.Op != analyze.Or {
		return nil
	}
	union := &bitmapPath{or: true}
	for _, arm := range or.Args {
		var list []*clause
		for _, c := range conjuncts(nil, arm) {
			list = append(list, p.newClause(c, nil))
		}
		var best *bitmapPath
		for _, x := range r.rte.Relation.Indexes {
			info := p.indexInfo(r, x)
			if info == nil {
				continue
			}
			if b := p.bitmapIndex(r, info, list); b != nil && (best == nil || b.cost < best.cost) {
				best = b
			}
		}
		if best == nil {
			return nil
		}
		union.parts = append(union.parts, best)
		union.rows += best.rows
		union.cost += best.cost
	}
	return union
}

func (p *planner) bitmapPath(r *baseRel, b *bitmapPath) *path {
	s := &p.ctx.Settings
	np := &path{kind: pathBitmap, rels: r.self, base: r, rows: r.rows, bitmap: b, filter: r.local}
	pages := math.Max(1, r.pages)
	fetchedPages := math.Min(pages, 2*pages*b.rows/(2*pages+b.rows))
	perPage := s.RandomPageCost - (s.RandomPageCost-s.SeqPageCost)*math.Sqrt(fetchedPages/pages)
	np.startup = b.cost
	np.total = b.cost + fetchedPages*perPage + b.rows*s.CPUTupleCost + p.qualCost(r.local, b.rows)
	return np
}
