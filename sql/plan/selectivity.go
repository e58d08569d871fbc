package plan

import (
	"math"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// Guesses where statistics say nothing, PostgreSQL's.
const (
	defaultEqSel    = 0.005
	defaultIneqSel  = 0.3333333333333333
	defaultRangeSel = 0.005
	defaultMatchSel = 0.005
	defaultDistinct = 200
	defaultUnkSel   = 0.005
)

// columnStats returns the relation, its rows and the statistics of a plain column, or nils.
func (p *planner) columnStats(e analyze.Expr) (*baseRel, *catalog.Statistics) {
	for {
		switch n := e.(type) {
		case *analyze.RelabelType:
			e = n.Arg
			continue
		case *analyze.Var:
			r := p.rels[n.RT]
			if r == nil || r.rte.Relation == nil || n.Attno <= 0 || n.LevelsUp != 0 {
				return r, nil
			}
			key := [2]int{n.RT, n.Attno}
			if s, ok := p.stats[key]; ok {
				return r, s
			}
			var s *catalog.Statistics
			if !r.rte.Relation.System {
				var err error
				s, err = p.ctx.Catalog.Statistics(r.rte.Relation.OID, int16(n.Attno), false)
				fail(err)
			}
			if p.stats == nil {
				p.stats = make(map[[2]int]*catalog.Statistics)
			}
			p.stats[key] = s
			return r, s
		}
		return nil, nil
	}
}

// distinctValues estimates how many different values e has.
func (p *planner) distinctValues(e analyze.Expr) float64 {
	r, s := p.columnStats(e)
	if e.Type() == types.Bool {
		return 2
	}
	if r == nil {
		return defaultDistinct
	}
	rows := math.Max(r.tuples, 1)
	if s != nil && s.Distinct != 0 {
		if s.Distinct < 0 {
			return math.Max(1, float64(-s.Distinct)*rows)
		}
		return float64(s.Distinct)
	}
	if v, ok := e.(*analyze.Var); ok && r.uniqueOn(v.Attno) {
		return rows
	}
	return math.Min(rows, defaultDistinct)
}

// uniqueOn tells whether a unique index or a system catalog's oid makes the column unique.
func (r *baseRel) uniqueOn(attno int) bool {
	rel := r.rte.Relation
	if rel == nil {
		return false
	}
	if rel.System {
		a := rel.Attr(int16(attno))
		return a != nil && a.Name == "oid"
	}
	for _, x := range rel.Indexes {
		if x.Unique && x.Valid && x.NKeyAtts == 1 && int(x.Keys[0].AttNum) == attno && x.Predicate == "" {
			return true
		}
	}
	return false
}

// clauseSelectivity is the share of rows that pass e.
func (p *planner) exprSelectivity(e analyze.Expr) float64 {
	switch n := e.(type) {
	case *analyze.Const:
		if n.Value.Null || !n.Value.Bool() {
			return 0
		}
		return 1
	case *analyze.BoolExpr:
		return p.boolSelectivity(n)
	case *analyze.OpExpr:
		if len(n.Args) == 2 {
			return p.opSelectivity(n)
		}
	case *analyze.NullTest:
		return p.nullSelectivity(n)
	case *analyze.ScalarArrayOpExpr:
		return p.arraySelectivity(n)
	case *analyze.DistinctExpr:
		return 1 - p.opSelectivity(&n.OpExpr)
	case *analyze.BooleanTest:
		s := p.exprSelectivity(n.Arg)
		switch n.Kind {
		case analyze.IsFalse, analyze.IsNotTrue:
			return 1 - s
		case analyze.IsUnknown:
			return defaultUnkSel
		case analyze.IsNotUnknown:
			return 1 - defaultUnkSel
		}
		return s
	case *analyze.Var:
		if _, s := p.columnStats(n); s != nil {
			return p.eqSelectivity(n, &analyze.Const{Typed: boolTyped, Value: types.BoolDatum(true)})
		}
	}
	return 0.5
}

func (p *planner) boolSelectivity(n *analyze.BoolExpr) float64 {
	switch n.Op {
	case analyze.Not:
		return 1 - p.exprSelectivity(n.Args[0])
	case analyze.Or:
		s := 0.0
		for _, a := range n.Args {
			t := p.exprSelectivity(a)
			s = s + t - s*t
		}
		return s
	}
	s := 1.0
	for _, a := range n.Args {
		s *= p.exprSelectivity(a)
	}
	return s
}

func (p *planner) nullSelectivity(n *analyze.NullTest) float64 {
	s := defaultUnkSel
	if _, st := p.columnStats(n.Arg); st != nil {
		s = float64(st.NullFrac)
	}
	if n.IsNot {
		return 1 - s
	}
	return s
}

func (p *planner) arraySelectivity(n *analyze.ScalarArrayOpExpr) float64 {
	count := 10.0
	switch a := n.Array.(type) {
	case *analyze.ArrayExpr:
		count = float64(len(a.Elems))
	case *analyze.Const:
		if !a.Value.Null {
			arr := a.Value.Array()
			count = float64(arr.N)
		}
	}
	sel := p.restriction(p.operator(n.Op).Rest, n.Scalar, nil)
	if n.UseOr {
		return math.Min(1, sel*count)
	}
	return math.Pow(sel, count)
}

// opSelectivity follows pg_operator.oprrest or oprjoin.
func (p *planner) opSelectivity(n *analyze.OpExpr) float64 {
	left, right := n.Args[0], n.Args[1]
	lr, rr := relsOf(left), relsOf(right)
	op := p.operator(n.Op)
	if !lr.empty() && !rr.empty() && !lr.overlaps(rr) {
		return p.joinSelectivity(op, left, right)
	}
	if lr.empty() && !rr.empty() {
		if op.Commutator != 0 {
			return p.restriction(p.operator(op.Commutator).Rest, right, left)
		}
	}
	return p.restriction(op.Rest, left, right)
}

// The OIDs of PostgreSQL's restriction estimators.
const (
	estEqSel     types.OID = 101
	estNeqSel    types.OID = 102
	estLtSel     types.OID = 103
	estGtSel     types.OID = 104
	estLeSel     types.OID = 336
	estGeSel     types.OID = 337
	estLikeSel   types.OID = 1819
	estNotLike   types.OID = 1822
	estEqJoinSel types.OID = 105
)

func (p *planner) restriction(estimator types.OID, column, value analyze.Expr) float64 {
	switch estimator {
	case estEqSel:
		return p.eqSelectivity(column, value)
	case estNeqSel:
		return 1 - p.eqSelectivity(column, value)
	case estLtSel, estLeSel:
		return p.ineqSelectivity(column, value, true)
	case estGtSel, estGeSel:
		return p.ineqSelectivity(column, value, false)
	case estLikeSel:
		return defaultMatchSel
	case estNotLike:
		return 1 - defaultMatchSel
	case 0:
		return 0.5
	}
	return defaultMatchSel
}

func (p *planner) eqSelectivity(column, value analyze.Expr) float64 {
	r, s := p.columnStats(column)
	if v, ok := column.(*analyze.Var); ok && r != nil && r.uniqueOn(v.Attno) {
		return 1 / math.Max(r.tuples, 1)
	}
	if s == nil {
		if r == nil || r.tuples < 1 {
			return defaultEqSel
		}
		return math.Max(1/p.distinctValues(column), 1/math.Max(1, r.tuples))
	}
	known := 0.0
	c, isConst := value.(*analyze.Const)
	if slot := findSlot(s, catalog.StatMCV); slot != nil {
		for i, v := range slot.Values {
			if isConst && !c.Value.Null && c.Type() == column.Type() && types.Compare(c.Type(), v, c.Value) == 0 {
				return float64(slot.Numbers[i])
			}
			known += float64(slot.Numbers[i])
		}
		others := p.distinctValues(column) - float64(len(slot.Values))
		rest := math.Max(0, 1-known-float64(s.NullFrac))
		if isConst || value == nil {
			return rest / math.Max(others, 1)
		}
	}
	return (1 - float64(s.NullFrac)) / math.Max(p.distinctValues(column), 1)
}

func findSlot(s *catalog.Statistics, kind int16) *catalog.StatSlot {
	for i := range s.Slots {
		if s.Slots[i].Kind == kind && len(s.Slots[i].Values) > 0 {
			return &s.Slots[i]
		}
	}
	return nil
}

func (p *planner) ineqSelectivity(column, value analyze.Expr, less bool) float64 {
	_, s := p.columnStats(column)
	c, ok := value.(*analyze.Const)
	if s == nil || !ok || c.Value.Null || c.Type() != column.Type() {
		return defaultIneqSel
	}
	below, mcvShare := 0.0, 0.0
	if slot := findSlot(s, catalog.StatMCV); slot != nil {
		for i, v := range slot.Values {
			if types.Compare(c.Type(), v, c.Value) < 0 {
				below += float64(slot.Numbers[i])
			}
			mcvShare += float64(slot.Numbers[i])
		}
	}
	share := 0.5
	if h := findSlot(s, catalog.StatHistogram); h != nil && len(h.Values) > 1 {
		share = histogramShare(c.Type(), h.Values, c.Value)
	} else if mcvShare == 0 {
		return defaultIneqSel
	}
	rest := math.Max(0, 1-mcvShare-float64(s.NullFrac))
	sel := below + share*rest
	if !less {
		sel = 1 - float64(s.NullFrac) - sel
	}
	return clampSelectivity(sel)
}

// histogramShare is the share of the histogram below v.
func histogramShare(typ types.OID, bounds []types.Datum, v types.Datum) float64 {
	lo, hi := 0, len(bounds)
	for lo < hi {
		mid := (lo + hi) / 2
		if types.Compare(typ, bounds[mid], v) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0
	}
	if lo == len(bounds) {
		return 1
	}
	within := 0.5
	if a, okA := scalar(typ, bounds[lo-1]); okA {
		b, _ := scalar(typ, bounds[lo])
		if x, _ := scalar(typ, v); b > a {
			within = (x - a) / (b - a)
		}
	}
	return (float64(lo-1) + within) / float64(len(bounds)-1)
}

// scalar maps a number or time to a float for interpolation.
func scalar(typ types.OID, d types.Datum) (float64, bool) {
	switch typ {
	case types.Int2, types.Int4, types.Int8, types.Date, types.Timestamp, types.Timestamptz, types.Time:
		return float64(d.Int64()), true
	case types.Oid:
		return float64(d.W), true
	case types.Float4, types.Float8:
		return d.Float64(), true
	}
	return 0, false
}

func clampSelectivity(s float64) float64 {
	return math.Min(1, math.Max(s, 1e-10))
}

func (p *planner) joinSelectivity(op *catalog.Operator, left, right analyze.Expr) float64 {
	if op.Join != estEqJoinSel {
		if op.Join == 0 {
			return 0.5
		}
		return defaultIneqSel
	}
	s := 1 / math.Max(1, math.Max(p.distinctValues(left), p.distinctValues(right)))
	for _, e := range []analyze.Expr{left, right} {
		if _, st := p.columnStats(e); st != nil {
			s *= 1 - float64(st.NullFrac)
		}
	}
	return s
}

func (p *planner) selectivity(c *clause) float64 {
	if c.selectivity == 0 {
		c.selectivity = clampSelectivity(p.exprSelectivity(c.expr))
	}
	return c.selectivity
}

// combined is the selectivity of all clauses together. Two bounds on the same column count as a range.
func (p *planner) combined(list []*clause) float64 {
	s := 1.0
	type bounds struct{ low, high float64 }
	ranges := make(map[string]*bounds)
	for _, c := range list {
		key, less, ok := p.rangeBound(c)
		if !ok {
			s *= p.selectivity(c)
			continue
		}
		b := ranges[key]
		if b == nil {
			b = &bounds{1, 1}
			ranges[key] = b
		}
		if less {
			b.high = math.Min(b.high, p.selectivity(c))
		} else {
			b.low = math.Min(b.low, p.selectivity(c))
		}
	}
	for _, b := range ranges {
		if b.low == 1 || b.high == 1 {
			s *= b.low * b.high
			continue
		}
		if b.low == defaultIneqSel && b.high == defaultIneqSel {
			s *= defaultRangeSel
			continue
		}
		s *= clampSelectivity(b.low + b.high - 1)
	}
	return s
}

func (p *planner) rangeBound(c *clause) (key string, less, ok bool) {
	op, isOp := c.expr.(*analyze.OpExpr)
	if !isOp || len(op.Args) != 2 {
		return "", false, false
	}
	def := p.operator(op.Op)
	column := op.Args[0]
	rest := def.Rest
	if relsOf(column).empty() {
		if def.Commutator == 0 {
			return "", false, false
		}
		column = op.Args[1]
		rest = p.operator(def.Commutator).Rest
	} else if !relsOf(op.Args[1]).empty() {
		return "", false, false
	}
	switch rest {
	case estLtSel, estLeSel:
		return exprKey(column), true, true
	case estGtSel, estGeSel:
		return exprKey(column), false, true
	}
	return "", false, false
}
