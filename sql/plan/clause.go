package plan

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

var boolTyped = analyze.Typed{Typ: types.Bool, Mod: -1, Loc: -1}

// clause is one conjunct of WHERE or of a join condition.
type clause struct {
	expr analyze.Expr
	rels relset // entries it refers to
	// outer, unless nil, is the outer, semi- or antijoin whose ON it belongs to.
	outer *special
	// of an equality that can be hashed or merged: its sides and their entries.
	left, right         analyze.Expr
	leftRels, rightRels relset
	op                  types.OID
	eqFunc              types.OID
	family              types.OID
	hashable            bool
	derived             bool // follows from other clauses: never needed for correctness
	selectivity         float64
	volatile            bool
}

func (p *planner) proc(oid types.OID) *catalog.Proc {
	proc, err := p.ctx.Catalog.ProcByOID(oid)
	fail(err)
	if proc == nil {
		fail(pgerr.New(pgerr.UndefinedFunction, "cache lookup failed for function %d", oid))
	}
	return proc
}

func (p *planner) operator(oid types.OID) *catalog.Operator {
	op, err := p.ctx.Catalog.OperatorByOID(oid)
	fail(err)
	if op == nil {
		fail(pgerr.New(pgerr.UndefinedFunction, "cache lookup failed for operator %d", oid))
	}
	return op
}

// volatility of the functions e calls: the worst of i, s and v.
func volatility(p *planner, e analyze.Expr) byte {
	worst := byte('i')
	note := func(f types.OID) {
		if f == 0 {
			return
		}
		switch v := p.funcVolatility(f); {
		case v == 'v':
			worst = 'v'
		case v == 's' && worst == 'i':
			worst = 's'
		}
	}
	visit(e, func(e analyze.Expr) bool {
		switch n := e.(type) {
		case *analyze.FuncExpr:
			note(n.Func)
		case *analyze.OpExpr:
			note(n.Func)
		case *analyze.ScalarArrayOpExpr:
			note(n.Func)
		case *analyze.CoerceViaIO:
			if worst == 'i' {
				worst = 's'
			}
		case *analyze.SQLValueFunction:
			if worst == 'i' {
				worst = 's'
			}
		case *analyze.NextValueExpr:
			worst = 'v'
		case *analyze.SubLink:
			if p.queryVolatile(n.Query) {
				worst = 'v'
			}
		}
		return worst != 'v'
	})
	return worst
}

func (g *global) funcVolatility(f types.OID) byte {
	if v, ok := g.volatile[f]; ok {
		return v
	}
	proc, err := g.ctx.Catalog.ProcByOID(f)
	fail(err)
	v := byte('v')
	if proc != nil {
		v = proc.Volatile
	}
	if g.volatile == nil {
		g.volatile = make(map[types.OID]byte)
	}
	g.volatile[f] = v
	return v
}

func containsVolatile(p *planner, e analyze.Expr) bool { return e != nil && volatility(p, e) == 'v' }

func (p *planner) queryVolatile(q *analyze.Query) bool {
	found := false
	mapQuery(q, func(e analyze.Expr) analyze.Expr {
		found = found || containsVolatile(p, e)
		return e
	})
	if !found {
		subqueries(q, func(sub *analyze.Query) { found = found || p.queryVolatile(sub) })
	}
	return found
}

// relsOf are the entries of this level that e refers to, sub-selects included.
func relsOf(e analyze.Expr) relset {
	var s relset
	mapVars(e, 0, func(v *analyze.Var, depth int) analyze.Expr {
		if v.LevelsUp == depth {
			s = s.with(v.RT)
		}
		return v
	})
	visit(e, func(e analyze.Expr) bool {
		if sp, ok := e.(*SubPlan); ok {
			for _, a := range sp.Args {
				s = s.union(relsOf(a))
			}
		}
		return true
	})
	return s
}

func (p *planner) newClause(e analyze.Expr, outer *special) *clause {
	if current, ok := e.(*analyze.CurrentOf); ok {
		return &clause{expr: e, rels: relset{}.with(current.RT), outer: outer}
	}
	c := &clause{expr: e, rels: relsOf(e), outer: outer, volatile: containsVolatile(p, e)}
	op, ok := e.(*analyze.OpExpr)
	if !ok || len(op.Args) != 2 || c.volatile {
		return c
	}
	def := p.operator(op.Op)
	if !def.CanHash && !def.CanMerge {
		return c
	}
	left, right := relsOf(op.Args[0]), relsOf(op.Args[1])
	if left.empty() && right.empty() {
		return c
	}
	c.left, c.right = op.Args[0], op.Args[1]
	c.leftRels, c.rightRels = left, right
	c.op, c.eqFunc, c.hashable = op.Op, op.Func, def.CanHash
	c.family = p.btreeFamily(op.Op)
	return c
}

const btreeAM types.OID = 403

// btreeFamily is the btree operator family an equality operator belongs to, or 0.
func (p *planner) btreeFamily(op types.OID) types.OID {
	fams, err := p.ctx.Catalog.OperatorFamilies(op)
	fail(err)
	for _, f := range fams {
		if f.Method == btreeAM && f.Strategy == 3 {
			return f.Family
		}
	}
	return 0
}

// isJoinEquality tells whether c equates an expression over a with one over b.
func (c *clause) joins(a, b relset) bool {
	return c.left != nil && !c.leftRels.empty() && !c.rightRels.empty() &&
		(c.leftRels.subsetOf(a) && c.rightRels.subsetOf(b) || c.leftRels.subsetOf(b) && c.rightRels.subsetOf(a))
}

// equivalence is a set of expressions that inner-join conditions make equal.
type equivalence struct {
	family  types.OID
	members []analyze.Expr
	keys    map[string]bool
	consts  []analyze.Expr // members that refer to no entry
}

// deriveEqualities adds what follows from the equalities in clauses by
// transitivity: a constant for every member of a class that has one, and the pairs
// between entries that no condition joins yet.
func (p *planner) deriveEqualities(clauses []*clause) []*clause {
	var classes []*equivalence
	have := make(map[string]bool)
	for _, c := range clauses {
		if c.left == nil || c.family == 0 || c.outer != nil || c.volatile {
			continue
		}
		if c.left.Type() != c.right.Type() || c.left.Collation() != c.right.Collation() {
			continue
		}
		have[exprKey(c.left)+"="+exprKey(c.right)] = true
		have[exprKey(c.right)+"="+exprKey(c.left)] = true
		classes = addEquality(classes, c)
	}
	for _, cl := range classes {
		clauses = p.deriveClass(clauses, cl, have)
	}
	return clauses
}

func addEquality(classes []*equivalence, c *clause) []*equivalence {
	lk, rk := exprKey(c.left), exprKey(c.right)
	var found *equivalence
	rest := classes[:0]
	for _, cl := range classes {
		if cl.family != c.family || !cl.keys[lk] && !cl.keys[rk] {
			rest = append(rest, cl)
			continue
		}
		if found == nil {
			found = cl
			rest = append(rest, cl)
			continue
		}
		for i, m := range cl.members {
			found.add(m, exprKey(m))
			_ = i
		}
	}
	if found == nil {
		found = &equivalence{family: c.family, keys: make(map[string]bool)}
		rest = append(rest, found)
	}
	found.add(c.left, lk)
	found.add(c.right, rk)
	return rest
}

func (cl *equivalence) add(e analyze.Expr, key string) {
	if cl.keys[key] {
		return
	}
	cl.keys[key] = true
	cl.members = append(cl.members, e)
	if relsOf(e).empty() {
		cl.consts = append(cl.consts, e)
	}
}

func (p *planner) deriveClass(clauses []*clause, cl *equivalence, have map[string]bool) []*clause {
	add := func(a, b analyze.Expr) {
		if have[exprKey(a)+"="+exprKey(b)] {
			return
		}
		have[exprKey(a)+"="+exprKey(b)] = true
		have[exprKey(b)+"="+exprKey(a)] = true
		op, err := p.ctx.Catalog.OpfamilyMember(cl.family, a.Type(), b.Type(), 3)
		fail(err)
		if op == 0 {
			return
		}
		e := &analyze.OpExpr{
			Typed: boolTyped, Op: op, Func: p.operator(op).Code, Args: []analyze.Expr{a, b}, InputColl: a.Collation(),
		}
		c := p.newClause(e, nil)
		c.derived = true
		clauses = append(clauses, c)
	}
	for i, a := range cl.members {
		ra := relsOf(a)
		if len(cl.consts) > 0 {
			if !ra.empty() {
				add(a, cl.consts[0])
			}
			continue
		}
		for _, b := range cl.members[i+1:] {
			if rb := relsOf(b); !ra.empty() && !rb.empty() && !ra.overlaps(rb) {
				add(a, b)
			}
		}
	}
	return clauses
}
