package plan

import (
	"math"
	"math/bits"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
)

// joinRel is a set of joined items with the good ways to get its rows.
type joinRel struct {
	mask  uint64
	rels  relset
	rows  float64
	width int
	paths []*path
	// alone is the special join whose right side this is, not yet joined.
	alone *special
}

// exhaustiveItems is up to how many items every join order is tried.
const exhaustiveItems = 9

// searchJoins finds the good ways to join all items of a problem.
func (p *planner) searchJoins(prob *joinProblem) *joinRel {
	base := make([]*joinRel, len(prob.items))
	for i, it := range prob.items {
		p.itemPaths(it, prob)
		base[i] = &joinRel{
			mask: 1 << i, rels: it.rels, rows: it.rows, width: it.width, paths: it.paths, alone: it.special,
		}
	}
	switch {
	case len(base) == 0:
		return nil
	case len(base) > 63:
		fail(pgerr.New(pgerr.ProgramLimitExceeded, "too many relations in one join"))
	case len(base) == 1:
		return base[0]
	case len(base) <= exhaustiveItems:
		return p.searchAll(prob, base)
	}
	return p.searchGreedy(prob, base)
}

// itemPaths finds the ways to get one item.
func (p *planner) itemPaths(it *item, prob *joinProblem) {
	switch {
	case it.base != nil:
		p.basePaths(it, prob)
	case it.problem != nil:
		jr := p.searchGated(it.problem)
		it.paths, it.rows, it.width = jr.paths, jr.rows, jr.width
	case it.full != nil:
		p.fullJoinPaths(it, prob)
	}
}

// searchGated is searchJoins for a problem inside of another one.
func (p *planner) searchGated(prob *joinProblem) *joinRel {
	jr := p.searchJoins(prob)
	if len(prob.gate) == 0 {
		return jr
	}
	gated := *jr
	gated.paths = nil
	for _, inner := range jr.paths {
		gated.paths = append(gated.paths, &path{
			kind: pathGate, rels: inner.rels, startup: inner.startup, total: inner.total, rows: inner.rows,
			order: inner.order, required: inner.required, outer: inner, gate: prob.gate,
		})
	}
	return &gated
}

func (p *planner) searchAll(prob *joinProblem, base []*joinRel) *joinRel {
	n := len(base)
	full := uint64(1)<<n - 1
	sets := make(map[uint64]*joinRel, 1<<n)
	bySize := make([][]uint64, n+1)
	for _, b := range base {
		sets[b.mask] = b
		bySize[1] = append(bySize[1], b.mask)
	}
	for size := 2; size <= n; size++ {
		for _, connectedOnly := range []bool{true, false} {
			for small := 1; small <= size/2; small++ {
				for _, a := range bySize[size-small] {
					for _, b := range bySize[small] {
						if a&b != 0 {
							continue
						}
						p.tryJoin(prob, sets, bySize, sets[a], sets[b], connectedOnly)
					}
				}
			}
			if len(bySize[size]) > 0 {
				break
			}
		}
	}
	jr := sets[full]
	if jr == nil {
		return p.searchGreedy(prob, base)
	}
	return jr
}

func (p *planner) tryJoin(prob *joinProblem, sets map[uint64]*joinRel, bySize [][]uint64, a, b *joinRel, connectedOnly bool) {
	if connectedOnly && !p.connected(prob, a, b) {
		return
	}
	mask := a.mask | b.mask
	jr := sets[mask]
	known := jr != nil
	if !known {
		jr = &joinRel{mask: mask, rels: a.rels.union(b.rels), width: a.width + b.width, rows: -1}
	}
	if p.joinPair(prob, jr, a, b) && !known {
		sets[mask] = jr
		size := bits.OnesCount64(mask)
		bySize[size] = append(bySize[size], mask)
	}
}

// connected tells whether some condition joins a and b.
func (p *planner) connected(prob *joinProblem, a, b *joinRel) bool {
	for _, c := range prob.clauses {
		if c.rels.overlaps(a.rels) && c.rels.overlaps(b.rels) {
			return true
		}
	}
	for _, jr := range [...]*joinRel{a, b} {
		if jr.alone != nil {
			return true
		}
	}
	return p.lateralBetween(prob, a, b)
}

func (p *planner) lateralBetween(prob *joinProblem, a, b *joinRel) bool {
	for _, it := range prob.items {
		if it.base == nil || it.base.lateral.empty() {
			continue
		}
		if it.rels.subsetOf(a.rels) && it.base.lateral.overlaps(b.rels) || it.rels.subsetOf(b.rels) && it.base.lateral.overlaps(a.rels) {
			return true
		}
	}
	return false
}

// searchGreedy joins the pair that gives the fewest rows until one is left.
func (p *planner) searchGreedy(prob *joinProblem, base []*joinRel) *joinRel {
	work := append([]*joinRel(nil), base...)
	for len(work) > 1 {
		var best *joinRel
		bi, bj := -1, -1
		for _, connectedOnly := range []bool{true, false} {
			for i := range work {
				for j := i + 1; j < len(work); j++ {
					if connectedOnly && !p.connected(prob, work[i], work[j]) {
						continue
					}
					jr := &joinRel{
						mask: work[i].mask | work[j].mask, rels: work[i].rels.union(work[j].rels),
						width: work[i].width + work[j].width, rows: -1,
					}
					if !p.joinPair(prob, jr, work[i], work[j]) {
						continue
					}
					c := cheapest(jr.paths)
					if c == nil {
						continue
					}
					if best == nil || c.total < cheapest(best.paths).total {
						best, bi, bj = jr, i, j
					}
				}
			}
			if best != nil {
				break
			}
		}
		if best == nil {
			fail(pgerr.New(pgerr.FeatureNotSupported, "could not find a join order"))
		}
		work[bi] = best
		work = append(work[:bj], work[bj+1:]...)
	}
	return work[0]
}

// joinPair adds to jr the ways to join a and b, in either role; false if they cannot be joined.
func (p *planner) joinPair(prob *joinProblem, jr, a, b *joinRel) bool {
	switch {
	case a.alone != nil && b.alone != nil:
		return false
	case b.alone != nil:
		return p.joinSpecial(prob, jr, a, b)
	case a.alone != nil:
		return p.joinSpecial(prob, jr, b, a)
	}
	set := p.clausesBetween(prob, a, b)
	if jr.rows < 0 {
		jr.rows = clampRows(a.rows * b.rows * p.combined(set))
	}
	ok := p.joinPaths(jr, a, b, analyze.JoinInner, set, nil)
	return p.joinPaths(jr, b, a, analyze.JoinInner, set, nil) || ok
}

// covers tells whether jr's rows can be tested by c: the right side of an outer join only after the join.
func covers(jr *joinRel, c *clause) bool {
	return c.rels.subsetOf(jr.rels) && (jr.alone == nil || jr.alone.kind == analyze.JoinSemi)
}

// clausesBetween are the plain conditions that become testable when a and b are joined.
func (p *planner) clausesBetween(prob *joinProblem, a, b *joinRel) []*clause {
	both := a.rels.union(b.rels)
	var list []*clause
	for _, c := range prob.clauses {
		if c.rels.empty() || !c.rels.subsetOf(both) || covers(a, c) || covers(b, c) {
			continue
		}
		list = append(list, c)
	}
	return p.dropRedundant(list)
}

// dropRedundant leaves of the derived equalities only those that are not implied by another one in the list.
func (p *planner) dropRedundant(list []*clause) []*clause {
	if len(list) < 2 {
		return list
	}
	var keep []*clause
	seen := make(map[string]bool)
	for _, derived := range []bool{false, true} {
		for _, c := range list {
			if c.derived != derived {
				continue
			}
			if c.left != nil && c.family != 0 {
				l, r := exprKey(c.left), exprKey(c.right)
				if derived && (seen[l] || seen[r]) {
					continue
				}
				seen[l], seen[r] = true, true
			}
			keep = append(keep, c)
		}
	}
	return keep
}

// joinSpecial joins b, the right side of a special join, to a.
func (p *planner) joinSpecial(prob *joinProblem, jr, a, b *joinRel) bool {
	sp := b.alone
	if !sp.left.subsetOf(a.rels) {
		return false
	}
	above := p.clausesBetween(prob, a, b)
	if jr.rows < 0 {
		jr.rows = p.specialRows(a, b, sp)
		if len(above) > 0 {
			jr.rows = clampRows(jr.rows * p.combined(above))
		}
	}
	if sp.kind == analyze.JoinSemi || sp.kind == analyze.JoinAnti {
		jr.width = a.width
	}
	ok := p.joinPaths(jr, a, b, sp.kind, sp.on, above)
	if sp.kind == analyze.JoinSemi {
		ok = p.uniqueInner(jr, a, b, sp, above) || ok
	}
	return ok
}

func (p *planner) specialRows(a, b *joinRel, sp *special) float64 {
	matched := a.rows * b.rows * p.combined(sp.on)
	switch sp.kind {
	case analyze.JoinLeft:
		return clampRows(math.Max(a.rows, matched))
	case analyze.JoinSemi:
		return clampRows(math.Min(a.rows, matched))
	case analyze.JoinAnti:
		return clampRows(a.rows - math.Min(a.rows*0.9, matched))
	}
	return clampRows(matched)
}

// uniqueInner turns a semijoin into an inner join with the distinct rows of b,
// which lets b drive a parameterised scan of a.
func (p *planner) uniqueInner(jr, a, b *joinRel, sp *special, above []*clause) bool {
	inner := cheapest(b.paths)
	if inner == nil || !p.ctx.Settings.EnableHashAgg || len(above) > 0 {
		return false
	}
	for _, c := range sp.on {
		if c.left == nil || !c.hashable || !c.joins(a.rels, b.rels) {
			return false
		}
		side := c.left
		if c.rightRels.subsetOf(b.rels) {
			side = c.right
		}
		if _, ok := side.(*analyze.Var); !ok {
			return false
		}
	}
	rows := b.rows
	if len(sp.on) == 1 {
		side := sp.on[0].left
		if sp.on[0].rightRels.subsetOf(b.rels) {
			side = sp.on[0].right
		}
		rows = math.Min(rows, p.distinctValues(side))
	}
	u := &path{kind: pathUnique, rels: b.rels, outer: inner, on: sp.on, rows: clampRows(rows)}
	u.startup = inner.total + b.rows*p.ctx.Settings.CPUOperatorCost*2
	u.total = u.startup + u.rows*p.ctx.Settings.CPUTupleCost
	ub := &joinRel{mask: b.mask, rels: b.rels, rows: u.rows, width: b.width, paths: []*path{u}}
	return p.joinPaths(jr, ub, a, analyze.JoinInner, sp.on, nil)
}

// joinPaths adds nested loops and hash joins with outer a and inner b.
func (p *planner) joinPaths(jr, a, b *joinRel, kind analyze.JoinKind, on, above []*clause) bool {
	added := false
	outerBest := cheapest(a.paths)
	for _, op := range a.paths {
		if op.required.overlaps(b.rels) {
			continue
		}
		for _, ip := range b.paths {
			if !ip.required.subsetOf(a.rels.union(op.required)) && ip.required.overlaps(a.rels) {
				continue
			}
			p.addNestLoop(jr, op, ip, kind, on, above)
			added = true
		}
	}
	if outerBest == nil {
		return added
	}
	if inner := cheapest(b.paths); inner != nil {
		for _, op := range a.paths {
			if op.required.empty() && p.addHash(jr, op, inner, a, b, kind, on, above) {
				added = true
			}
		}
	}
	return added
}

func (p *planner) addNestLoop(jr *joinRel, op, ip *path, kind analyze.JoinKind, on, above []*clause) {
	s := &p.ctx.Settings
	np := &path{
		kind: pathNestLoop, rels: jr.rels, outer: op, inner: ip, join: kind, order: op.order,
		required: op.required.union(ip.required).minus(op.rels), rows: jr.rows, above: above,
	}
	np.on = on
	if !ip.required.empty() {
		np.on = remaining(on, clausesUsed(ip))
	}
	if np.required.overlaps(ip.rels) {
		return
	}
	rescan := ip.total
	if !ip.required.overlaps(op.rels) && ip.kind != pathResult {
		if s.EnableMaterial && (op.rows > 1 || ip.kind != pathIndex) {
			np.material = true
			rescan = ip.rows * s.CPUOperatorCost
		}
	}
	innerRows := ip.rows
	if kind == analyze.JoinSemi || kind == analyze.JoinAnti || ip.unique {
		np.innerUnique = ip.unique
		innerRows = math.Min(innerRows, math.Max(1, innerRows/2))
	}
	np.startup = op.startup + ip.startup
	np.total = op.total + ip.total + math.Max(0, op.rows-1)*rescan
	np.total += op.rows * innerRows * (s.CPUTupleCost + p.perRow(np.on))
	np.total += jr.rows * p.perRow(above)
	if !s.EnableNestLoop {
		np.startup += disabledCost
		np.total += disabledCost
	}
	jr.paths = addPath(jr.paths, np)
}

// perRow is the cost of testing conditions on one row.
func (p *planner) perRow(list []*clause) float64 { return p.qualCost(list, 1) }

// clausesUsed are the join conditions a parameterised scan tests itself.
func clausesUsed(ip *path) []*clause {
	var used []*clause
	for _, c := range ip.conds {
		used = append(used, c.clause)
	}
	for _, c := range ip.keys {
		used = append(used, c.clause)
	}
	if ip.kind == pathIndex {
		used = append(used, ip.filter...)
	}
	return used
}

func (p *planner) addHash(jr *joinRel, op, ip *path, a, b *joinRel, kind analyze.JoinKind, on, above []*clause) bool {
	s := &p.ctx.Settings
	np := &path{
		kind: pathHash, rels: jr.rels, outer: op, inner: ip, join: kind, rows: jr.rows, above: above,
		required: op.required.union(ip.required),
	}
	for _, c := range on {
		if c.left != nil && c.hashable && c.joins(a.rels, b.rels) {
			np.hash = append(np.hash, c)
		} else {
			np.on = append(np.on, c)
		}
	}
	if len(np.hash) == 0 && (kind != analyze.JoinFull || !constantOnly(on)) {
		return false
	}
	np.startup = op.startup + ip.total + ip.rows*(s.CPUOperatorCost*float64(len(np.hash))+s.CPUTupleCost)
	np.total = np.startup + op.total - op.startup + op.rows*s.CPUOperatorCost*float64(len(np.hash))
	matched := a.rows * b.rows * p.combined(np.hash)
	np.total += matched*(s.CPUTupleCost*0.5+p.perRow(np.on)) + jr.rows*(s.CPUTupleCost*0.5+p.perRow(above))
	if bytes := ip.rows * float64(b.width+24); bytes > s.WorkMem {
		pages := (bytes + op.rows*float64(a.width+24)) / 8192
		np.startup += bytes / 8192 * s.SeqPageCost
		np.total += pages * s.SeqPageCost * 2
	}
	if !s.EnableHashJoin {
		np.startup += disabledCost
		np.total += disabledCost
	}
	jr.paths = addPath(jr.paths, np)
	return true
}

// constantOnly tells whether no condition refers to a row: one bucket then holds all of them.
func constantOnly(list []*clause) bool {
	for _, c := range list {
		if !c.rels.empty() || c.volatile {
			return false
		}
	}
	return true
}

// cheapestFull is the side of a full join: one that LATERAL parameterises only where there is no other.
func cheapestFull(list []*path) *path {
	if best := cheapest(list); best != nil {
		return best
	}
	var best *path
	for _, p := range list {
		if best == nil || p.total < best.total {
			best = p
		}
	}
	return best
}

// fullJoinPaths makes the hash join of a FULL JOIN. Conditions of prob on its rows alone are applied
// right above it.
func (p *planner) fullJoinPaths(it *item, prob *joinProblem) {
	var above []*clause
	for _, c := range prob.clauses {
		if !c.rels.empty() && covers(&joinRel{rels: it.rels, alone: it.special}, c) {
			above = append(above, c)
		}
	}
	l, r := p.searchGated(it.full.left), p.searchGated(it.full.right)
	jr := &joinRel{rels: it.rels, width: l.width + r.width}
	jr.rows = clampRows(math.Max(l.rows, r.rows) * p.combined(above))
	op, ip := cheapestFull(l.paths), cheapestFull(r.paths)
	if op == nil || ip == nil || !p.addHash(jr, op, ip, l, r, analyze.JoinFull, it.full.on, above) {
		unsupported("FULL JOIN is only supported with merge-joinable or hash-joinable join conditions")
	}
	it.paths, it.rows, it.width = jr.paths, jr.rows, jr.width
}
