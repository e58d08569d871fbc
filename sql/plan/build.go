package plan

import (
	"fmt"
	"sort"

	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// layout tells where a node's output columns are: exprKey to position.
type layout struct {
	cols map[string]int
	list []analyze.Expr
}

func newLayout(list []analyze.Expr) *layout {
	l := &layout{cols: make(map[string]int, len(list)), list: list}
	for i, e := range list {
		if e == nil {
			continue
		}
		k := exprKey(e)
		if _, ok := l.cols[k]; !ok {
			l.cols[k] = i
		}
	}
	return l
}

func colOf(e analyze.Expr, input, index int) *Col {
	return &Col{
		Typed: analyze.Typed{Typ: e.Type(), Mod: e.Typmod(), Coll: e.Collation(), Loc: -1},
		Input: input, Index: index, Source: e,
	}
}

// fix replaces in e what the inputs already have by references to their columns.
func (p *planner) fix(e analyze.Expr, inputs ...*layout) analyze.Expr {
	if e == nil {
		return nil
	}
	switch e.(type) {
	case *analyze.Const, *analyze.Param:
		return e
	}
	key := exprKey(e)
	for i, in := range inputs {
		if in == nil {
			continue
		}
		if at, ok := in.cols[key]; ok {
			return colOf(e, i, at)
		}
	}
	switch n := e.(type) {
	case *analyze.Var:
		if prm, ok := p.outerValue(n); ok {
			return prm
		}
		panic(planBug(fmt.Sprintf("plan: column %d of entry %d is not at hand", n.Attno, n.RT)))
	case *analyze.Aggref, *analyze.WindowFunc:
		panic(planBug(fmt.Sprintf("plan: %T is not at hand", n)))
	}
	return mapChildren(e, func(c analyze.Expr) analyze.Expr { return p.fix(c, inputs...) })
}

func (p *planner) fixAll(list []analyze.Expr, inputs ...*layout) []analyze.Expr {
	var out []analyze.Expr
	for _, e := range list {
		out = append(out, p.fix(e, inputs...))
	}
	return out
}

func (p *planner) fixClauses(list []*clause, inputs ...*layout) []analyze.Expr {
	var out []analyze.Expr
	for _, c := range list {
		out = append(out, p.fix(c.expr, inputs...))
	}
	return out
}

// outerScope collects the outer columns a parameterised inner side asks for.
type outerScope struct {
	rels   relset
	params map[string]NestParam
	order  []string
}

// outerValue makes a column of an enclosing nested loop's outer side a parameter.
func (p *planner) outerValue(v *analyze.Var) (analyze.Expr, bool) {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		sc := p.scopes[i]
		if !sc.rels.has(v.RT) {
			continue
		}
		key := exprKey(v)
		np, ok := sc.params[key]
		if !ok {
			np = NestParam{ID: p.newParam(), Value: v}
			sc.params[key] = np
			sc.order = append(sc.order, key)
		}
		return &analyze.Param{
			Typed:  analyze.Typed{Typ: v.Typ, Mod: v.Mod, Coll: v.Coll, Loc: -1},
			Number: np.ID, Exec: true,
		}, true
	}
	return nil, false
}

// buildPath makes the plan node of a path. Its output columns are those of layout.
func (p *planner) buildPath(pt *path) (Node, *layout) {
	var n Node
	var l *layout
	switch pt.kind {
	case pathNestLoop:
		n, l = p.buildNestLoop(pt)
	case pathHash:
		n, l = p.buildHash(pt)
	case pathUnique:
		n, l = p.buildUnique(pt)
	case pathSubquery:
		n, l = p.buildSubquery(pt)
	case pathGate:
		n, l = p.buildPath(pt.outer)
		n = p.gateNode(n, l, pt.gate)
	default:
		n, l = p.buildScan(pt)
	}
	c := n.Common()
	c.StartupCost, c.TotalCost, c.Rows = pt.startup, pt.total, pt.rows
	if c.Width == 0 {
		for _, e := range l.list {
			c.Width += exprWidth(e)
		}
	}
	return n, l
}

func exprWidth(e analyze.Expr) int {
	if t := types.Builtin(e.Type()); t != nil && t.Len > 0 {
		return int(t.Len)
	}
	if (e.Type() == types.Bpchar || e.Type() == types.Varchar) && e.Typmod() > 4 {
		return int(e.Typmod() - 4)
	}
	return 32
}

// scanVars are the needed columns of an entry as Vars, in attribute order.
func (p *planner) scanVars(r *baseRel) []analyze.Expr {
	atts := make([]int, 0, len(r.needed))
	for a := range r.needed {
		if a != 0 {
			atts = append(atts, a)
		}
	}
	sort.Ints(atts)
	var list []analyze.Expr
	for _, a := range atts {
		list = append(list, p.entryVar(r, a))
	}
	return list
}

func (p *planner) entryVar(r *baseRel, attno int) *analyze.Var {
	v := &analyze.Var{RT: r.rt, Attno: attno, Typed: analyze.Typed{Mod: -1, Loc: -1}}
	switch {
	case attno < 0:
		v.Typ = systemColumnType(attno)
	case r.rte.Relation != nil && r.rte.Kind == analyze.RTERelation:
		a := r.rte.Relation.Attr(int16(attno))
		v.Typ, v.Mod, v.Coll = a.Type, a.Typmod, a.Collation
	default:
		c := r.rte.Columns[attno-1]
		v.Typ, v.Mod, v.Coll = c.Type, c.Typmod, c.Collation
	}
	return v
}

func systemColumnType(attno int) types.OID {
	switch attno {
	case CtidColumn:
		return types.Tid
	case XminColumn, XmaxColumn:
		return types.Xid
	case CminColumn, CmaxColumn:
		return types.Cid
	}
	return types.Oid
}

// fixScan turns Vars of entry rt into the scan's own columns.
func (p *planner) fixScan(e analyze.Expr, rt int) analyze.Expr {
	if e == nil {
		return nil
	}
	if v, ok := e.(*analyze.Var); ok {
		if v.RT == rt {
			index := v.Attno - 1
			if v.Attno < 0 {
				index = v.Attno
			}
			return colOf(v, 0, index)
		}
		if prm, ok := p.outerValue(v); ok {
			return prm
		}
		panic(planBug(fmt.Sprintf("plan: column %d of entry %d in a scan of entry %d", v.Attno, v.RT, rt)))
	}
	return mapChildren(e, func(c analyze.Expr) analyze.Expr { return p.fixScan(c, rt) })
}

func (p *planner) buildScan(pt *path) (Node, *layout) {
	r := pt.base
	vars := p.scanVars(r)
	base := Base{Names: r.columnNames(vars), Entry: r.rte}
	base.Targets = make([]analyze.Expr, 0, len(vars))
	for _, v := range vars {
		base.Targets = append(base.Targets, p.fixScan(v, r.rt))
	}
	for _, c := range p.orderFilter(pt.filter) {
		base.Filter = append(base.Filter, p.fixScan(c.expr, r.rt))
	}
	var columns []int
	for a := range r.needed {
		if a > 0 {
			columns = append(columns, a)
		}
	}
	sort.Ints(columns)
	rel := r.rte.Relation
	alias := r.rte.Alias
	l := newLayout(vars)
	switch pt.kind {
	case pathSeq:
		return &SeqScan{Base: base, RT: r.rt, Alias: alias, Relation: rel, Columns: columns}, l
	case pathCatalog:
		n := &CatalogScan{Base: base, RT: r.rt, Alias: alias, Relation: rel}
		for _, k := range pt.keys {
			n.Keys = append(n.Keys, CatalogKey{Attno: k.key, Value: p.fixScan(k.value, r.rt)})
			if !containsClause(pt.filter, k.clause) {
				n.Filter = append(n.Filter, p.fixScan(k.clause.expr, r.rt))
			}
		}
		return n, l
	case pathIndex:
		return &IndexScan{
			Base: base, RT: r.rt, Alias: alias, Relation: rel, Index: pt.index, Conds: p.buildConds(pt.conds, r.rt),
			Backward: pt.backward, Columns: columns, IndexOnly: pt.indexOnly, Unique: pt.unique,
		}, l
	case pathBitmap:
		n := &BitmapScan{Base: base, RT: r.rt, Alias: alias, Relation: rel, Columns: columns}
		n.Source = p.buildBitmap(pt.bitmap, r.rt)
		return n, l
	case pathTid:
		n := &TidScan{Base: base, RT: r.rt, Alias: alias, Relation: rel, Columns: columns, IsArray: pt.tidArray}
		for _, e := range pt.tids {
			n.Values = append(n.Values, p.fixScan(e, r.rt))
		}
		return n, l
	case pathFunction:
		n := &FunctionScan{Base: base, RT: r.rt, Alias: alias, Ordinality: r.rte.Ordinality}
		for _, f := range r.rte.Functions {
			f.Call = p.fixScan(f.Call, r.rt)
			n.Functions = append(n.Functions, f)
		}
		return n, l
	case pathValues:
		n := &ValuesScan{Base: base, RT: r.rt, Alias: alias}
		for _, list := range r.rte.Values {
			var fixed []analyze.Expr
			for _, e := range list {
				fixed = append(fixed, p.fixScan(e, r.rt))
			}
			n.Lists = append(n.Lists, fixed)
		}
		return n, l
	case pathCTE:
		c, at := p.findCTE(r.rte)
		if slot, ok := at.workTable[c]; ok {
			return &WorkTableScan{Base: base, RT: r.rt, Alias: alias, CTE: slot, Name: c.Name}, l
		}
		return &CTEScan{Base: base, RT: r.rt, Alias: alias, CTE: at.ctePlans[c], Name: c.Name}, l
	}
	return &Result{Base: base}, l
}

func containsClause(list []*clause, c *clause) bool {
	for _, o := range list {
		if o == c {
			return true
		}
	}
	return false
}

// orderFilter puts cheap conditions before those with sub-plans.
func (p *planner) orderFilter(list []*clause) []*clause {
	out := append([]*clause(nil), list...)
	sort.SliceStable(out, func(i, j int) bool { return p.exprCost(out[i].expr) < p.exprCost(out[j].expr) })
	return out
}

func (r *baseRel) columnNames(vars []analyze.Expr) []string {
	names := make([]string, 0, len(vars))
	for _, e := range vars {
		a := e.(*analyze.Var).Attno
		switch {
		case a > 0 && a <= len(r.rte.Columns):
			names = append(names, r.rte.Columns[a-1].Name)
		case a == CtidColumn:
			names = append(names, "ctid")
		default:
			names = append(names, "")
		}
	}
	return names
}

func (p *planner) buildConds(conds []pathCond, rt int) []IndexCond {
	var out []IndexCond
	for _, c := range conds {
		ic := IndexCond{Key: c.key, Strategy: c.strategy, Source: p.fixScan(c.clause.expr, rt)}
		if c.value != nil {
			ic.Value = p.fixScan(c.value, rt)
		}
		out = append(out, ic)
	}
	return out
}

func (p *planner) buildBitmap(b *bitmapPath, rt int) *BitmapSource {
	s := &BitmapSource{Index: b.index, Conds: p.buildConds(b.conds, rt), Or: b.or, Rows: b.rows, Cost: b.cost}
	for _, part := range b.parts {
		s.Parts = append(s.Parts, p.buildBitmap(part, rt))
	}
	return s
}

func (p *planner) buildSubquery(pt *path) (Node, *layout) {
	r := pt.base
	vars := p.scanVars(r)
	n := &SubqueryScan{RT: r.rt, Alias: r.rte.Alias, Input: pt.sub.node}
	n.Names, n.Entry = r.columnNames(vars), r.rte
	for _, v := range vars {
		n.Targets = append(n.Targets, p.fixScan(v, r.rt))
	}
	if n.Targets == nil {
		n.Targets = []analyze.Expr{}
	}
	for _, c := range p.orderFilter(pt.filter) {
		n.Filter = append(n.Filter, p.fixScan(c.expr, r.rt))
	}
	// What a LATERAL subquery takes was given parameters when it was planned.
	for _, a := range pt.sub.args {
		p.bindArgument(a)
	}
	return n, newLayout(vars)
}

// bindArgument has the enclosing nested loop that supplies a's value set parameter a.ID.
func (p *planner) bindArgument(a NestParam) {
	rels := relsOf(a.Value)
	for i := len(p.scopes) - 1; i >= 0; i-- {
		sc := p.scopes[i]
		if !rels.subsetOf(sc.rels) && i > 0 && !rels.overlaps(sc.rels) {
			continue
		}
		key := fmt.Sprintf("arg%d", a.ID)
		if _, ok := sc.params[key]; !ok {
			sc.params[key] = a
			sc.order = append(sc.order, key)
		}
		return
	}
	panic(planBug("plan: a LATERAL subquery outside of a nested loop"))
}

func (p *planner) buildNestLoop(pt *path) (Node, *layout) {
	outer, ol := p.buildPath(pt.outer)
	sc := &outerScope{rels: pt.outer.rels, params: make(map[string]NestParam)}
	p.scopes = append(p.scopes, sc)
	inner, il := p.buildPath(pt.inner)
	p.scopes = p.scopes[:len(p.scopes)-1]
	if pt.material && !isMaterialized(inner) {
		m := &Material{Input: inner}
		*m.Common() = Base{StartupCost: pt.inner.startup, TotalCost: pt.inner.total, Rows: pt.inner.rows, Width: inner.Common().Width}
		inner = m
	}
	n := &NestLoop{Kind: pt.join, Outer: outer, Inner: inner, InnerUnique: pt.innerUnique}
	for _, k := range sc.order {
		np := sc.params[k]
		np.Value = p.fix(np.Value, ol)
		n.Params = append(n.Params, np)
	}
	n.On = p.fixClauses(p.orderFilter(pt.on), ol, il)
	n.Filter = p.fixClauses(p.orderFilter(pt.above), ol, il)
	return n, p.joinOutput(&n.Base, pt, ol, il)
}

func isMaterialized(n Node) bool {
	switch n.(type) {
	case *Material, *CTEScan, *ValuesScan, *FunctionScan, *WorkTableScan, *Sort:
		return true
	}
	return false
}

// joinOutput gives a join node all columns of both sides, or of the outer one alone where the inner only decides.
func (p *planner) joinOutput(b *Base, pt *path, ol, il *layout) *layout {
	list := append([]analyze.Expr(nil), ol.list...)
	b.Targets = make([]analyze.Expr, 0, len(ol.list)+len(il.list))
	for i, e := range ol.list {
		b.Targets = append(b.Targets, colOf(e, 0, i))
	}
	if pt.join != analyze.JoinSemi && pt.join != analyze.JoinAnti {
		for i, e := range il.list {
			b.Targets = append(b.Targets, colOf(e, 1, i))
			list = append(list, e)
		}
	}
	return newLayout(list)
}

func (p *planner) buildHash(pt *path) (Node, *layout) {
	outer, ol := p.buildPath(pt.outer)
	inner, il := p.buildPath(pt.inner)
	n := &HashJoin{Kind: pt.join, Outer: outer, Inner: inner, InnerUnique: pt.innerUnique}
	for _, c := range pt.hash {
		o, i, eq := c.left, c.right, c.eqFunc
		if !c.leftRels.subsetOf(pt.outer.rels) {
			o, i = i, o
			eq = p.commutedFunc(c)
		}
		n.OuterKeys = append(n.OuterKeys, p.fix(o, ol))
		n.InnerKeys = append(n.InnerKeys, p.fix(i, il))
		n.EqFuncs = append(n.EqFuncs, eq)
	}
	n.On = p.fixClauses(p.orderFilter(pt.on), ol, il)
	n.Filter = p.fixClauses(p.orderFilter(pt.above), ol, il)
	return n, p.joinOutput(&n.Base, pt, ol, il)
}

func (p *planner) commutedFunc(c *clause) types.OID {
	if com := p.operator(c.op).Commutator; com != 0 {
		return p.operator(com).Code
	}
	return c.eqFunc
}

// buildUnique makes the distinct rows of a semijoin's right side.
func (p *planner) buildUnique(pt *path) (Node, *layout) {
	inner, il := p.buildPath(pt.outer)
	agg := &Aggregate{Input: inner, Strategy: AggHashed, Named: len(pt.on)}
	var list []analyze.Expr
	for _, c := range pt.on {
		side := c.left
		if c.rightRels.subsetOf(pt.rels) {
			side = c.right
		}
		at := il.cols[exprKey(side)]
		agg.Group = append(agg.Group, GroupKey{Column: at, EqFunc: p.typeEquality(side.Type())})
		list = append(list, side)
	}
	agg.Targets = make([]analyze.Expr, len(list))
	for i, e := range list {
		agg.Targets[i] = colOf(e, 0, i)
	}
	return agg, newLayout(list)
}

// typeEquality is the function of a type's own = operator.
func (p *planner) typeEquality(typ types.OID) types.OID {
	oc, err := p.ctx.Catalog.DefaultOpclass(btreeAM, typ)
	fail(err)
	if oc == nil {
		unsupported("no equality operator for type %d", typ)
	}
	op, err := p.ctx.Catalog.OpfamilyMember(oc.Family, oc.InType, oc.InType, 3)
	fail(err)
	return p.operator(op).Code
}

// RowExpr turns an expression over Vars of range table entry 0 (a default's, a CHECK's or an
// index's) into one over a row, whose columns are Input 0 by attribute number.
func RowExpr(e analyze.Expr) analyze.Expr {
	p := &planner{}
	return p.fixScan(e, 0)
}

// DomainExpr turns a domain's CHECK, in which DomainValue is the value, into the form the executor runs,
// in which CaseTest is.
func DomainExpr(e analyze.Expr) analyze.Expr {
	if v, ok := e.(*analyze.DomainValue); ok {
		return &analyze.CaseTest{Typed: v.Typed}
	}
	return mapChildren(e, DomainExpr)
}
