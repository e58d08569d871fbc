package sql

import (
	"fmt"
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
)

// joinNames are the kinds of joins in titles.
var joinNames = [...]string{
	analyze.JoinInner: "Inner", analyze.JoinLeft: "Left", analyze.JoinFull: "Full", analyze.JoinRight: "Right",
	analyze.JoinSemi: "Semi", analyze.JoinAnti: "Anti",
}

// describe gives a node its title and what else says what it is.
func (x *explainer) describe(n plan.Node, out *explainNode) {
	switch n := n.(type) {
	case *plan.Result:
		out.kind = "Result"
	case *plan.ProjectSet:
		out.kind = "ProjectSet"
	case *plan.SeqScan:
		x.describeScan(out, "Seq Scan", n.Entry, n.Relation)
	case *plan.CatalogScan:
		x.describeScan(out, "Seq Scan", n.Entry, n.Relation)
	case *plan.IndexScan:
		x.describeIndexScan(out, n)
	case *plan.BitmapScan:
		x.describeScan(out, "Bitmap Heap Scan", n.Entry, n.Relation)
	case *plan.TidScan:
		x.describeScan(out, "Tid Scan", n.Entry, n.Relation)
	case *plan.FunctionScan:
		x.describeFunctionScan(out, n)
	case *plan.ValuesScan:
		out.kind = "Values Scan"
		x.describeTarget(out, n.Entry, "", nil)
	case *plan.SubqueryScan:
		out.kind = "Subquery Scan"
		x.describeTarget(out, n.Entry, "", nil)
	case *plan.CTEScan:
		out.kind = "CTE Scan"
		x.describeTarget(out, n.Entry, n.Name, nil)
	case *plan.WorkTableScan:
		out.kind = "WorkTable Scan"
		x.describeTarget(out, n.Entry, n.Name, nil)
	case *plan.RecursiveUnion:
		out.kind = "Recursive Union"
	case *plan.NestLoop:
		x.describeJoin(out, "Nested Loop", "Nested Loop", n.Kind)
	case *plan.HashJoin:
		x.describeJoin(out, "Hash Join", "Hash", n.Kind)
	case *plan.MergeJoin:
		x.describeJoin(out, "Merge Join", "Merge", n.Kind)
	case *plan.Sort:
		out.kind = "Sort"
		if n.Presorted > 0 {
			out.kind = "Incremental Sort"
		}
	case *plan.Aggregate:
		describeAggregate(out, n)
	case *plan.WindowAgg:
		out.kind = "WindowAgg"
	case *plan.Unique:
		out.kind = "Unique"
	case *plan.SetOp:
		describeSetOp(out, n)
	case *plan.Append:
		out.kind = "Append"
	case *plan.Material:
		out.kind = "Materialize"
	case *plan.Limit:
		out.kind = "Limit"
	case *plan.LockRows:
		out.kind = "LockRows"
	case *plan.Gather:
		out.kind = "Gather"
	case *plan.ModifyTable:
		x.describeModify(out, n)
	default:
		out.kind = fmt.Sprintf("%T", n)
	}
	if out.title == "" {
		out.title = out.kind
	}
}

func (x *explainer) describeScan(out *explainNode, kind string, e *analyze.RangeTableEntry, rel *catalog.Relation) {
	out.kind = kind
	x.describeTarget(out, e, rel.Name, rel)
}

// describeTarget adds what a node is about. Follows ExplainTargetRel.
func (x *explainer) describeTarget(out *explainNode, e *analyze.RangeTableEntry, object string, rel *catalog.Relation) {
	if out.title == "" {
		out.title = out.kind
	}
	out.title += " on"
	alias := x.names[e]
	if object != "" {
		name := x.printer.Quoted(object)
		if rel != nil {
			out.addHead("Relation Name", object)
			if x.o.verbose {
				if schema, err := x.printer.Schema(rel.Namespace); err == nil {
					name = x.printer.Quoted(schema) + "." + name
					out.addHead("Schema", schema)
				}
			}
		}
		out.title += " " + name
	}
	if object != alias {
		out.title += " " + x.printer.Quoted(alias)
	}
	out.addHead("Alias", alias)
}

func (x *explainer) describeIndexScan(out *explainNode, n *plan.IndexScan) {
	out.kind = "Index Scan"
	if n.IndexOnly {
		out.kind = "Index Only Scan"
	}
	out.title = out.kind
	direction := "Forward"
	if n.Backward {
		out.title += " Backward"
		direction = "Backward"
	}
	out.title += " using " + x.printer.Quoted(n.Index.Name)
	out.addHead("Scan Direction", direction)
	out.addHead("Index Name", n.Index.Name)
	x.describeTarget(out, n.Entry, n.Relation.Name, n.Relation)
}

// describeFunctionScan names the function if it is a single call.
func (x *explainer) describeFunctionScan(out *explainNode, n *plan.FunctionScan) {
	out.kind = "Function Scan"
	name := ""
	if len(n.Functions) == 1 {
		if f, ok := n.Functions[0].Call.(*analyze.FuncExpr); ok {
			if p, err := x.s.eng.Catalog().ProcByOID(f.Func); err == nil && p != nil {
				name = p.Name
				out.addHead("Function Name", name)
				if schema, err := x.printer.Schema(p.Namespace); err == nil && x.o.verbose {
					out.addHead("Schema", schema)
					out.title = "Function Scan on " + x.printer.Quoted(schema) + "." + x.printer.Quoted(name)
				}
			}
		}
	}
	if out.title == "" {
		x.describeTarget(out, n.Entry, name, nil)
		return
	}
	if alias := x.names[n.Entry]; alias != name {
		out.title += " " + x.printer.Quoted(alias)
	}
	out.addHead("Alias", x.names[n.Entry])
}

func (x *explainer) describeJoin(out *explainNode, kind, word string, join analyze.JoinKind) {
	out.kind = kind
	out.addHead("Join Type", joinNames[join])
	out.title = kind
	if join != analyze.JoinInner {
		out.title = word + " " + joinNames[join] + " Join"
	}
}

func describeAggregate(out *explainNode, n *plan.Aggregate) {
	partial := "Simple"
	prefix := ""
	switch {
	case n.Partial:
		partial, prefix = "Partial", "Partial "
	case n.Combine:
		partial, prefix = "Finalize", "Finalize "
	}
	out.kind = "Aggregate"
	strategy := "Plain"
	out.title = "Aggregate"
	switch n.Strategy {
	case plan.AggSorted:
		strategy, out.title = "Sorted", "GroupAggregate"
		if len(n.Aggs) == 0 && len(n.Sets) == 0 {
			out.kind, out.title = "Group", "Group"
			return
		}
	case plan.AggHashed:
		strategy, out.title = "Hashed", "HashAggregate"
		if slices.ContainsFunc(n.Sets, func(s []int) bool { return len(s) == 0 }) {
			strategy, out.title = "Mixed", "MixedAggregate"
		}
	}
	out.title = prefix + out.title
	out.addHead("Strategy", strategy)
	out.addHead("Partial Mode", partial)
}

func describeSetOp(out *explainNode, n *plan.SetOp) {
	command := map[analyze.SetOpKind]string{analyze.Union: "Union", analyze.Intersect: "Intersect", analyze.Except: "Except"}[n.Kind]
	if n.All {
		command += " All"
	}
	out.kind, out.title = "SetOp", "HashSetOp "+command
	out.addHead("Strategy", "Hashed")
	out.addHead("Command", command)
}

func (x *explainer) describeModify(out *explainNode, n *plan.ModifyTable) {
	operation := "Insert"
	switch n.Command {
	case analyze.Update:
		operation = "Update"
	case analyze.Delete:
		operation = "Delete"
	}
	out.kind, out.title = "ModifyTable", operation
	out.addHead("Operation", operation)
	x.describeTarget(out, n.Entry, n.Relation.Name, n.Relation)
}

// details adds the lines of a node.
func (x *explainer) details(n plan.Node, out *explainNode) {
	switch n := n.(type) {
	case *plan.Result:
		if gate := x.notTrue(n.OneTimeFilter); len(gate) > 0 {
			out.add("One-Time Filter", x.condition(x.targetScope(n), x.otherPrefix(), gate))
		}
		x.upperFilter(n, out)
	case *plan.SeqScan, *plan.CatalogScan, *plan.ValuesScan, *plan.SubqueryScan, *plan.CTEScan, *plan.WorkTableScan:
		x.scanFilter(n, out)
	case *plan.FunctionScan:
		x.functionCall(n, out)
		x.scanFilter(n, out)
	case *plan.IndexScan:
		x.indexScan(n, out)
	case *plan.BitmapScan:
		x.bitmapScan(n, out)
	case *plan.TidScan:
		x.tidScan(n, out)
	case *plan.NestLoop:
		x.join(n, out, "", nil, n.On, n.InnerUnique)
	case *plan.HashJoin:
		var keys []analyze.Expr
		for i := range n.OuterKeys {
			keys = append(keys, x.equality(n.EqFuncs[i], n.OuterKeys[i], n.InnerKeys[i], n.Outer, n.Inner))
		}
		x.join(n, out, "Hash Cond", keys, n.On, n.InnerUnique)
	case *plan.MergeJoin:
		var keys []analyze.Expr
		for i := range n.OuterKeys {
			keys = append(keys, x.mergeKey(n, i))
		}
		x.join(n, out, "Merge Cond", keys, n.On, n.InnerUnique)
	case *plan.Sort:
		x.sort(n, out)
	case *plan.Aggregate:
		x.groupKeys(n, out)
		x.upperFilter(n, out)
		x.hashAggInfo(n, out)
	case *plan.Gather:
		out.add("Workers Planned", int64(n.Workers))
		if x.o.analyze && out.measured {
			out.add("Workers Launched", int64(out.stats.WorkersLaunched))
		}
	case *plan.ModifyTable:
		x.conflict(n, out)
	default:
		x.upperFilter(n, out)
	}
}

// notTrue leaves out the conditions that are plainly true.
func (x *explainer) notTrue(list []analyze.Expr) []analyze.Expr {
	var out []analyze.Expr
	for _, e := range list {
		c, ok := e.(*analyze.Const)
		if !ok {
			c = x.folded(e)
		}
		if c == nil || c.Value.Null || !c.Value.Bool() {
			out = append(out, e)
		}
	}
	return out
}

func (x *explainer) scanFilter(n plan.Node, out *explainNode) {
	prefix := x.scanPrefix()
	if _, ok := n.(*plan.SubqueryScan); ok {
		prefix = true
	}
	x.filter(out, "Filter", x.targetScope(n), prefix, n.Common().Filter, out.stats.RemovedByFilter)
}

func (x *explainer) upperFilter(n plan.Node, out *explainNode) {
	x.filter(out, "Filter", x.targetScope(n), x.otherPrefix(), n.Common().Filter, out.stats.RemovedByFilter)
}

func (x *explainer) functionCall(n *plan.FunctionScan, out *explainNode) {
	if !x.o.verbose {
		return
	}
	out.add("Function Call", x.print(x.targetScope(n), x.scanPrefix(), func() {
		for i, f := range n.Functions {
			if i > 0 {
				x.printer.Str(", ")
			}
			x.printer.Expr(f.Call, false)
		}
	}))
}

func (x *explainer) indexScan(n *plan.IndexScan, out *explainNode) {
	s := x.targetScope(n)
	x.filter(out, "Index Cond", s, x.scanPrefix(), x.indexConds(n.Index, n.Conds), out.stats.RemovedByRecheck)
	x.scanFilter(n, out)
	if n.IndexOnly && x.o.analyze && out.measured {
		out.add("Heap Fetches", out.stats.HeapFetches)
	}
}

func (x *explainer) bitmapScan(n *plan.BitmapScan, out *explainNode) {
	s := x.targetScope(n)
	x.bitmapScope = s
	recheck := x.print(s, x.scanPrefix(), func() { x.recheck(n.Source) })
	out.add("Recheck Cond", recheck)
	x.removed(out, "Rows Removed by Index Recheck", out.stats.RemovedByRecheck)
	// The filter has the recheck's conditions too.
	var rest []analyze.Expr
	covered := x.covered(n.Source, s)
	for _, e := range n.Filter {
		if text := x.condition(s, x.scanPrefix(), []analyze.Expr{e}); text != recheck && !slices.Contains(covered, text) {
			rest = append(rest, e)
		}
	}
	x.filter(out, "Filter", s, x.scanPrefix(), rest, out.stats.RemovedByFilter)
}

// covered are the texts of the conditions an index alone answers.
func (x *explainer) covered(b *plan.BitmapSource, s scope) []string {
	var out []string
	for _, c := range b.Conds {
		out = append(out, x.condition(s, x.scanPrefix(), []analyze.Expr{c.Source}))
	}
	if !b.Or {
		for _, part := range b.Parts {
			out = append(out, x.covered(part, s)...)
		}
	}
	return out
}

// recheck prints the condition that a bitmap stands for.
func (x *explainer) recheck(b *plan.BitmapSource) {
	parts, word := len(b.Parts), " AND "
	if b.Or {
		word = " OR "
	}
	var conds []analyze.Expr
	if b.Index != nil {
		conds = x.indexConds(b.Index, b.Conds)
		parts = len(conds)
	}
	if parts > 1 {
		x.printer.Str("(")
	}
	for i := range parts {
		if i > 0 {
			x.printer.Str(word)
		}
		if conds != nil {
			x.printer.Expr(conds[i], false)
		} else {
			x.recheck(b.Parts[i])
		}
	}
	if parts > 1 {
		x.printer.Str(")")
	}
}

func (x *explainer) tidScan(n *plan.TidScan, out *explainNode) {
	s := x.targetScope(n)
	out.add("TID Cond", x.print(s, x.scanPrefix(), func() {
		if len(n.Values) > 1 {
			x.printer.Str("(")
		}
		for i, v := range n.Values {
			if i > 0 {
				x.printer.Str(" OR ")
			}
			if _, current := v.(*analyze.CurrentOf); current {
				x.printer.Expr(v, true)
				continue
			}
			x.printer.Str("(")
			x.scope.column(&plan.Col{Index: plan.CtidColumn})
			if n.IsArray {
				x.printer.Str(" = ANY (")
			} else {
				x.printer.Str(" = ")
			}
			x.printer.Expr(v, true)
			if n.IsArray {
				x.printer.Str(")")
			}
			x.printer.Str(")")
		}
		if len(n.Values) > 1 {
			x.printer.Str(")")
		}
	}))
	x.scanFilter(n, out)
}

// join adds the conditions of a join: those it is done by, the others, and those after it.
func (x *explainer) join(n plan.Node, out *explainNode, name string, keys, on []analyze.Expr, unique bool) {
	if x.o.verbose || x.o.format != explainText {
		out.props = append(out.props, property{name: "Inner Unique", value: unique, noText: !unique})
	}
	s, prefix := x.targetScope(n), x.otherPrefix()
	if len(keys) > 0 {
		out.add(name, x.condition(s, prefix, keys))
	}
	if len(on) > 0 {
		out.add("Join Filter", x.condition(s, prefix, on))
		x.removed(out, "Rows Removed by Join Filter", out.stats.RemovedByJoin)
	}
	x.upperFilter(n, out)
}

// mergeKey is the equality of a merge join's key, by the sort operator's family.
func (x *explainer) mergeKey(n *plan.MergeJoin, i int) analyze.Expr {
	return x.equality(0, n.OuterKeys[i], n.InnerKeys[i], n.Outer, n.Inner)
}

func (x *explainer) sort(n *plan.Sort, out *explainNode) {
	var keys []string
	for _, k := range n.Keys {
		keys = append(keys, x.print(scope{}, x.otherPrefix(), func() {
			x.output(n.Input, k.Column)
			if _, e := x.source(n.Input, k.Column); e != nil {
				x.printer.SortOrder(k.Op, e.Type(), k.Collation, k.NullsFirst)
			}
		}))
	}
	out.add("Sort Key", keys)
	if n.Presorted > 0 {
		out.add("Presorted Key", keys[:n.Presorted])
	}
	if st := &out.stats; x.o.analyze && out.measured && st.Method != "" {
		space, kind := kilobytes(st.SpaceBytes), "Memory"
		if st.SpaceOnDisk {
			kind = "Disk"
		}
		out.props = append(
			out.props, property{text: fmt.Sprintf("Sort Method: %s  %s: %dkB", st.Method, kind, space)},
			property{name: "Sort Method", value: st.Method, noText: true},
			property{name: "Sort Space Used", value: space, noText: true},
			property{name: "Sort Space Type", value: kind, noText: true},
		)
	}
}

// groupKeys adds what is grouped by.
func (x *explainer) groupKeys(n *plan.Aggregate, out *explainNode) {
	key := func(g int) string {
		return x.print(scope{}, x.otherPrefix(), func() { x.groupKey(n.Input, n.Group[g].Column) })
	}
	if len(n.Sets) == 0 {
		var keys []string
		for g := range n.Group[:min(n.Named, len(n.Group))] {
			keys = append(keys, key(g))
		}
		if len(keys) > 0 {
			out.add("Group Key", keys)
		}
		return
	}
	for _, set := range n.Sets {
		var keys []string
		for _, g := range set {
			keys = append(keys, key(g))
		}
		name := "Hash Key"
		if len(keys) == 0 {
			name, keys = "Group Key", []string{"()"}
		}
		out.add(name, keys)
	}
}

// groupKey prints a column of an aggregation's input: as it is computed there, if it is.
func (x *explainer) groupKey(in plan.Node, column int) {
	if at, e := x.source(in, column); e != nil && at == x.shownAs(in) {
		x.in(x.targetScope(at), func() { x.printer.Expr(e, true) })
		return
	}
	x.output(in, column)
}

func (x *explainer) hashAggInfo(n *plan.Aggregate, out *explainNode) {
	st := &out.stats
	if n.Strategy != plan.AggHashed || !x.o.analyze || !out.measured || st.HashBatches == 0 {
		return
	}
	memory := kilobytes(st.SpaceBytes)
	out.props = append(
		out.props, property{text: fmt.Sprintf("Batches: %d  Memory Usage: %dkB", st.HashBatches, memory)},
		property{name: "HashAgg Batches", value: int64(st.HashBatches), noText: true},
		property{name: "Peak Memory Usage", value: memory, noText: true},
		property{name: "Disk Usage", value: int64(0), noText: true},
	)
}

// conflict adds what an INSERT does about rows that are there already.
func (x *explainer) conflict(n *plan.ModifyTable, out *explainNode) {
	c := n.Conflict
	if c == nil {
		return
	}
	resolution := "NOTHING"
	if c.Update {
		resolution = "UPDATE"
	}
	out.add("Conflict Resolution", resolution)
	var names []string
	for _, oid := range c.Indexes {
		if idx, err := x.s.eng.Catalog().IndexByOID(oid); err == nil && idx != nil {
			names = append(names, idx.Name)
		}
	}
	if len(names) > 0 {
		out.add("Conflict Arbiter Indexes", names)
	}
	if len(c.Where) > 0 {
		out.add("Conflict Filter", x.condition(x.conflictScope(n), x.otherPrefix(), c.Where))
		x.removed(out, "Rows Removed by Conflict Filter", out.stats.RemovedByFilter)
	}
	if x.o.analyze && out.measured {
		out.props = append(
			out.props, property{name: "Tuples Inserted", value: float64(out.stats.Inserted)},
			property{name: "Conflicting Tuples", value: float64(out.stats.Conflicting)},
		)
	}
}
