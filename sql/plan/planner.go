package plan

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// Catalog is what planning reads.
type Catalog interface {
	analyze.Catalog
	Statistics(rel types.OID, att int16, inherited bool) (*catalog.Statistics, error)
}

// Context is what the planning of one statement depends on besides the query.
type Context struct {
	Catalog Catalog
	// Size is the present size of a table in pages and the estimate of its rows.
	Size func(rel *catalog.Relation) (pages, tuples float64)
	// TableExprs gives a table's CHECK constraints and generated columns (by
	// attribute number) as expressions over Vars of range table entry 0.
	TableExprs func(rel *catalog.Relation) (checks []Check, generated map[int]analyze.Expr, err error)
	// IndexExprs gives an index's key expressions (nil for plain columns) and its
	// predicate (nil without one), over Vars of range table entry 0.
	IndexExprs func(rel *catalog.Relation, index *catalog.Index) (keys []analyze.Expr, predicate analyze.Expr, err error)
	// Pin, unless nil, is told of a lifted literal (Const.Lifted) whose value the plan depends on.
	Pin      func(lifted int)
	Settings Settings
}

// Settings are the planner's settings, by PostgreSQL's names.
type Settings struct {
	EnableSeqScan, EnableIndexScan, EnableIndexOnlyScan, EnableBitmapScan bool
	EnableHashJoin, EnableMergeJoin, EnableNestLoop, EnableHashAgg        bool
	EnableSort, EnableIncrementalSort, EnableMaterial                     bool

	SeqPageCost, RandomPageCost, CPUTupleCost, CPUIndexTupleCost, CPUOperatorCost float64

	WorkMem            float64 // bytes
	EffectiveCacheSize float64 // pages
	MaxWorkers         int     // goroutines one query may use besides its own; 0 none
	MinParallelPages   float64
	CursorFraction     float64 // of the rows a cursor is expected to fetch; 0 for none
}

// DefaultSettings are PostgreSQL's defaults.
func DefaultSettings() Settings {
	return Settings{
		EnableSeqScan: true, EnableIndexScan: true, EnableIndexOnlyScan: true, EnableBitmapScan: true,
		EnableHashJoin: true, EnableMergeJoin: true, EnableNestLoop: true, EnableHashAgg: true,
		EnableSort: true, EnableIncrementalSort: true, EnableMaterial: true,
		SeqPageCost: 1, RandomPageCost: 4, CPUTupleCost: 0.01, CPUIndexTupleCost: 0.005, CPUOperatorCost: 0.0025,
		WorkMem: 4 << 20, EffectiveCacheSize: 524288, MinParallelPages: 1024,
	}
}

// Build plans a query. It rewrites q, which is not to be used afterwards.
func Build(ctx *Context, q *analyze.Query) (*Plan, error) {
	g := &global{ctx: ctx, locks: make(map[types.OID]int)}
	p := &planner{global: g, q: q, link: linkRoot}
	var out *Plan
	err := catch(func() {
		root := p.planStatement()
		out = &Plan{
			Root: root, Command: q.Command, CTEs: g.ctes, Params: g.params,
			Columns: p.outputColumns(), Relations: g.lockList, SubPlans: g.subPlans,
			HasModifyingCTE: g.modifyingCTE, RTable: q.RTable,
			ReadOnly: q.Command == analyze.Select && !g.modifyingCTE && !g.rowMarks,
		}
	})
	return out, err
}

// planFailure carries an error up through the recursion of planning, which
// returns nodes and costs only.
type planFailure struct{ err error }

// planBug is a mistake of the planner's own: the statement fails, nothing else.
type planBug string

func fail(err error) {
	if err != nil {
		panic(planFailure{err})
	}
}

func catch(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case planFailure:
			err = r.err
		case planBug:
			err = pgerr.New(pgerr.InternalError, "%s", string(r))
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

func unsupported(format string, args ...any) {
	fail(pgerr.New(pgerr.FeatureNotSupported, format, args...))
}

// global is shared by the planners of all query levels of a statement.
type global struct {
	ctx          *Context
	params       int
	ctes         []CTEPlan
	subPlans     []*SubPlan
	lockList     []RelationLock
	locks        map[types.OID]int
	modifyingCTE bool
	rowMarks     bool
	volatile     map[types.OID]byte
}

func (g *global) newParam() int {
	g.params++
	return g.params - 1
}

// lock notes that the plan needs rel in a table lock mode by PostgreSQL's number.
func (g *global) lock(rel *catalog.Relation, mode uint8) {
	if rel.System {
		return
	}
	if i, ok := g.locks[rel.OID]; ok {
		g.lockList[i].Mode = max(g.lockList[i].Mode, mode)
		return
	}
	g.locks[rel.OID] = len(g.lockList)
	g.lockList = append(g.lockList, RelationLock{OID: rel.OID, Name: rel.Name, Mode: mode})
}

const (
	lockAccessShare  = 1
	lockRowShare     = 2
	lockRowExclusive = 3
)

// link tells how a query hangs below its parent.
type link uint8

const (
	linkRoot    link = iota
	linkSubLink      // in an expression: what it takes from the parent's row are its args
	linkFrom         // in FROM: what it takes from its siblings (LATERAL) are its args
	linkCTE          // in WITH: it sees no row of its parent
)

// planner plans one query level.
type planner struct {
	*global
	q      *analyze.Query
	parent *planner
	link   link

	args      []NestParam // executor parameters this query needs, over the parent's Vars
	argByKey  map[string]int
	depends   map[int]bool // parameters passed through from further out
	initPlans []*SubPlan
	ctePlans  map[*analyze.CTE]int
	workTable map[*analyze.CTE]int // recursive CTEs under way
	rels      map[int]*baseRel
	stats     map[[2]int]*catalog.Statistics
	scopes    []*outerScope
	gated     bool // FROM has conditions that depend on no row
	// fixed are keys of expressions that are the same in all rows of FROM; wantedKeys see wanted.
	fixed, wantedKeys map[string]bool
}

func (p *planner) child(q *analyze.Query, l link) *planner {
	return &planner{global: p.global, q: q, parent: p, link: l}
}

// outerParam returns the parameter that holds v, a Var of the level v.LevelsUp above p.
func (p *planner) outerParam(v *analyze.Var) analyze.Expr {
	if p.parent == nil {
		unsupported("reference to a query level that does not exist")
	}
	up := *v
	up.LevelsUp--
	if p.link != linkSubLink && (up.LevelsUp > 0 || p.link == linkCTE) {
		if up.LevelsUp == 0 {
			unsupported("WITH query refers to its own level")
		}
		e := p.parent.outerParam(&up)
		p.dependOn(e)
		return e
	}
	var value analyze.Expr = &up
	if up.LevelsUp > 0 {
		value = p.parent.outerParam(&up)
	}
	return p.argument(value, v)
}

func (p *planner) dependOn(e analyze.Expr) {
	if prm, ok := e.(*analyze.Param); ok && prm.Exec {
		if p.depends == nil {
			p.depends = make(map[int]bool)
		}
		p.depends[prm.Number] = true
	}
}

// argument makes value, over the parent's Vars, an argument of this query.
func (p *planner) argument(value analyze.Expr, like analyze.Expr) analyze.Expr {
	key := exprKey(value)
	id, ok := p.argByKey[key]
	if !ok {
		id = p.newParam()
		if p.argByKey == nil {
			p.argByKey = make(map[string]int)
		}
		p.argByKey[key] = id
		p.args = append(p.args, NestParam{ID: id, Value: value})
	}
	return &analyze.Param{
		Typed:  analyze.Typed{Typ: like.Type(), Mod: like.Typmod(), Coll: like.Collation(), Loc: -1},
		Number: id, Exec: true,
	}
}

// planStatement plans the whole of p.q: WITH, then the command.
func (p *planner) planStatement() Node {
	p.prepareCTEs()
	var root Node
	if p.q.Command == analyze.Select {
		root = p.planSelect()
	} else {
		root = p.planModify()
	}
	root.Common().InitPlans = append(root.Common().InitPlans, p.initPlans...)
	return root
}

func (p *planner) outputColumns() []OutputColumn {
	list := p.q.Targets
	if p.q.Command != analyze.Select {
		list = p.q.Returning
	}
	var cols []OutputColumn
	for _, t := range list {
		if t.Junk {
			continue
		}
		cols = append(cols, OutputColumn{
			Name: t.Name, Type: t.Expr.Type(), Typmod: t.Expr.Typmod(), Table: t.OrigTable, Attno: t.OrigAttno,
		})
	}
	return cols
}

// prepareCTEs inlines the WITH queries that can be and plans the others.
func (p *planner) prepareCTEs() {
	p.ctePlans = make(map[*analyze.CTE]int)
	for _, c := range p.q.CTEs {
		if p.inlinable(c) {
			continue
		}
		p.planCTE(c)
	}
}

func (p *planner) inlinable(c *analyze.CTE) bool {
	if c.Query.Command != analyze.Select || c.Recursive || c.Materialized == analyze.CTEAlways {
		return false
	}
	if len(c.Query.RowMarks) > 0 {
		return false
	}
	if c.Materialized != analyze.CTENever && c.RefCount > 1 {
		return false
	}
	return c.RefCount == 0 || !p.queryVolatile(c.Query)
}

func (p *planner) planCTE(c *analyze.CTE) {
	slot := len(p.ctes)
	p.ctes = append(p.ctes, CTEPlan{Name: c.Name, Recursive: c.Recursive})
	p.ctePlans[c] = slot
	if c.Query.Command != analyze.Select {
		p.modifyingCTE = true
		p.ctes[slot].Modifying = true
	}
	sub := p.child(c.Query, linkCTE)
	var node Node
	if c.Recursive && c.Query.SetOp != nil {
		node = sub.planRecursive(c, slot)
	} else {
		node = sub.planStatement()
	}
	p.ctes[slot].Node = node
	for id := range sub.depends {
		p.ctes[slot].Depends = append(p.ctes[slot].Depends, id)
	}
}

// findCTE resolves a reference: the WITH query and the planner at whose level it stands.
func (p *planner) findCTE(rte *analyze.RangeTableEntry) (*analyze.CTE, *planner) {
	at := p
	for range rte.CTELevelsUp {
		at = at.parent
	}
	for _, c := range at.q.CTEs {
		if c.Name == rte.CTEName {
			return c, at
		}
	}
	unsupported("WITH query %q", rte.CTEName)
	return nil, nil
}

// planRecursive plans WITH RECURSIVE's non-recursive term UNION [ALL] recursive term.
func (p *planner) planRecursive(c *analyze.CTE, slot int) Node {
	p.prepareCTEs()
	if p.parent.workTable == nil {
		p.parent.workTable = make(map[*analyze.CTE]int)
	}
	top := p.q.SetOp
	outer := p.child(top.Left.Query, linkFrom)
	left := castArm(p.setOpArm(top.Left, outer), top, top.LeftCasts)
	p.parent.workTable[c] = slot
	inner := p.child(top.Right.Query, linkFrom)
	right := castArm(p.setOpArm(top.Right, inner), top, top.RightCasts)
	delete(p.parent.workTable, c)
	n := &RecursiveUnion{Outer: left, Inner: right, Distinct: !top.All, CTE: slot}
	l, r := left.Common(), right.Common()
	n.Rows = l.Rows + 10*r.Rows
	n.TotalCost = l.TotalCost + 10*r.TotalCost
	n.Width = l.Width
	if n.Distinct {
		n.Group = p.setOpKeys(top)
	}
	var root Node = n
	if len(p.q.OrderBy) > 0 || p.q.Limit != nil || p.q.Offset != nil {
		root = p.setOpTop(root)
	}
	return root
}
