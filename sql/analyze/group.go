package analyze

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
)

// grouper turns a GROUP BY, or a PARTITION BY, into clauses.
type grouper struct {
	*state
	targets *targets
	order   []SortClause
	kind    exprKind
	sql99   bool

	group []SortClause
}

// transformGroup follows transformGroupClause. The grouping sets are nil if there are none.
func (s *state) transformGroup(list []*pg_query.Node, t *targets, order []SortClause, k exprKind, sql99 bool) ([]SortClause, []*GroupingSet) {
	g := &grouper{state: s, targets: t, order: order, kind: k, sql99: sql99}
	hasSets := false
	flat := flattenGroups(list, true, &hasSets)
	if len(flat) == 0 && hasSets {
		return nil, []*GroupingSet{{Kind: GroupingEmpty}}
	}
	var sets []*GroupingSet
	seen := map[int]bool{}
	for _, n := range flat {
		if n.set != nil {
			if n.set.Kind == pg_query.GroupingSetKind_GROUPING_SET_EMPTY {
				sets = append(sets, &GroupingSet{Kind: GroupingEmpty})
			} else {
				sets = append(sets, g.set(n))
			}
			continue
		}
		if ref := g.expr(n.node, seen, true); ref > 0 {
			seen[ref] = true
			if hasSets {
				sets = append(sets, &GroupingSet{Kind: GroupingSimple, Refs: []int{ref}})
			}
		}
	}
	if !hasSets {
		sets = nil
	}
	return g.group, sets
}

// groupItem is an item of GROUP BY after flattening: an expression, a set with its items, or a list of expressions.
type groupItem struct {
	node  *pg_query.Node
	set   *pg_query.GroupingSet
	items []groupItem
	list  bool
}

// flattenGroups takes (a, b) apart and puts GROUPING SETS within GROUPING SETS into the outer one. Follows flatten_grouping_sets.
func flattenGroups(list []*pg_query.Node, top bool, hasSets *bool) []groupItem {
	var out []groupItem
	for _, n := range list {
		out = append(out, flattenGroup(n, top, hasSets)...)
	}
	return out
}

func flattenGroup(n *pg_query.Node, top bool, hasSets *bool) []groupItem {
	if r := n.GetRowExpr(); r != nil && r.RowFormat == pg_query.CoercionForm_COERCE_IMPLICIT_CAST {
		return flattenGroups(r.Args, false, nil)
	}
	g := n.GetGroupingSet()
	if g == nil {
		if l := n.GetList(); l != nil {
			return flattenGroups(l.Items, top, hasSets)
		}
		return []groupItem{{node: n}}
	}
	if hasSets != nil {
		*hasSets = true
	}
	if top && g.Kind == pg_query.GroupingSetKind_GROUPING_SET_EMPTY {
		return nil
	}
	var items []groupItem
	for _, c := range g.Content {
		flat := flattenGroup(c, false, nil)
		if cs := c.GetGroupingSet(); cs != nil && cs.Kind == pg_query.GroupingSetKind_GROUPING_SET_SETS {
			items = append(items, flat...)
			continue
		}
		if r := c.GetRowExpr(); r != nil && r.RowFormat == pg_query.CoercionForm_COERCE_IMPLICIT_CAST {
			items = append(items, groupItem{items: flat, list: true, node: c})
			continue
		}
		items = append(items, flat...)
	}
	if top || g.Kind != pg_query.GroupingSetKind_GROUPING_SET_SETS {
		return []groupItem{{set: g, items: items, node: n}}
	}
	return items
}

// set follows transformGroupingSet.
func (g *grouper) set(it groupItem) *GroupingSet {
	out := &GroupingSet{Kind: map[pg_query.GroupingSetKind]GroupingSetKind{
		pg_query.GroupingSetKind_GROUPING_SET_EMPTY: GroupingEmpty, pg_query.GroupingSetKind_GROUPING_SET_ROLLUP: GroupingRollup,
		pg_query.GroupingSetKind_GROUPING_SET_CUBE: GroupingCube, pg_query.GroupingSetKind_GROUPING_SET_SETS: GroupingSets,
	}[it.set.Kind]}
	for _, c := range it.items {
		switch {
		case c.set != nil:
			out.Sets = append(out.Sets, g.set(c))
		case c.list:
			simple := &GroupingSet{Kind: GroupingSimple}
			seen := map[int]bool{}
			for _, x := range c.items {
				if ref := g.expr(x.node, seen, false); ref > 0 {
					seen[ref] = true
					simple.Refs = append(simple.Refs, ref)
				}
			}
			out.Sets = append(out.Sets, simple)
		default:
			out.Sets = append(out.Sets, &GroupingSet{Kind: GroupingSimple, Refs: []int{g.expr(c.node, nil, false)}})
		}
	}
	if out.Kind == GroupingCube && len(out.Sets) > 12 {
		raise(g.err(int(it.set.Location), pgerr.TooManyColumns, "CUBE is limited to 12 elements"))
	}
	return out
}

// expr follows transformGroupClauseExpr: 0 for one already seen.
func (g *grouper) expr(n *pg_query.Node, seen map[int]bool, top bool) int {
	e := g.findTarget(n, g.targets, g.kind, g.sql99)
	if e.Ref > 0 {
		if seen[e.Ref] {
			return 0
		}
		if g.inSortList(e, 0, g.group) {
			return e.Ref
		}
		// Sort and group alike, if it is ordered by too.
		for _, c := range g.order {
			if c.Ref == e.Ref {
				if !top {
					c.NullsFirst = false
				}
				g.group = append(g.group, c)
				return e.Ref
			}
		}
	}
	g.group = g.addGroup(e, g.group, g.targets, rawLocation(n))
	return e.Ref
}

// maxGroupingSets is PostgreSQL's bound.
const maxGroupingSets = 4096

// expandSets makes the list of grouping sets, each a list of refs, shortest first; nil if they are too many. Follows expand_grouping_sets.
func expandSets(sets []*GroupingSet, distinct bool) [][]int {
	result := [][]int{nil}
	for _, gs := range sets {
		parts := expandSet(gs)
		if len(result)*len(parts) > maxGroupingSets {
			return nil
		}
		var next [][]int
		for _, q := range result {
			for _, p := range parts {
				next = append(next, unionInts(q, p))
			}
		}
		result = next
	}
	if distinct && len(result) > 1 {
		result = distinctSets(result)
	}
	slices.SortStableFunc(result, func(a, b []int) int { return len(a) - len(b) })
	return result
}

func distinctSets(sets [][]int) [][]int {
	var out [][]int
	for _, s := range sets {
		sorted := slices.Sorted(slices.Values(s))
		if !slices.ContainsFunc(out, func(o []int) bool { return slices.Equal(o, sorted) }) {
			out = append(out, sorted)
		}
	}
	return out
}

func unionInts(a, b []int) []int {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func expandSet(gs *GroupingSet) [][]int {
	concat := func(sets []*GroupingSet, take func(i int) bool) []int {
		var out []int
		for i, s := range sets {
			if take(i) {
				out = append(out, s.Refs...)
			}
		}
		return out
	}
	switch gs.Kind {
	case GroupingEmpty:
		return [][]int{nil}
	case GroupingSimple:
		return [][]int{gs.Refs}
	case GroupingRollup:
		var out [][]int
		for n := len(gs.Sets); n >= 0; n-- {
			out = append(out, concat(gs.Sets, func(i int) bool { return i < n }))
		}
		return out
	case GroupingCube:
		var out [][]int
		for mask := range 1 << len(gs.Sets) {
			out = append(out, concat(gs.Sets, func(i int) bool { return mask&(1<<i) != 0 }))
		}
		return out
	}
	var out [][]int
	for _, s := range gs.Sets {
		out = append(out, expandSet(s)...)
	}
	return out
}
