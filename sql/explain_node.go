package sql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// explainer prints a plan as PostgreSQL's EXPLAIN does. Follows explain.c.
type explainer struct {
	s    *Session
	ctx  context.Context //nolint:containedctx // lives as long as the statement
	o    explainOptions
	plan *plan.Plan

	values []types.Datum // of external parameters

	planning, execution time.Duration
	stats               map[plan.Node]exec.NodeStats

	analyze *analyze.Context
	printer *analyze.PlanPrinter
	// prefix qualifies columns; several tells that the plan has more than one range table entry.
	prefix, several bool
	scope           scope
	bitmapScope     scope // of the bitmap scan whose indexes are shown
	names           map[*analyze.RangeTableEntry]string
	params          map[int]planParam
	constants       map[analyze.Expr]*analyze.Const
	shown           map[*plan.SubPlan]bool
	hidden          map[*plan.SubqueryScan]bool
	err             error
}

// property is a line of the text format, and a member of the others'.
type property struct {
	name   string
	value  any    // string, []string, int64, float64 or bool; nil is only text
	text   string // the line in the text format where it is not "name: value"
	noText bool
	digits int // of a float64
}

// explainNode is a node as it is shown.
type explainNode struct {
	label        string // "InitPlan 1 (returns $0)", "CTE x"
	relationship string // Outer, Inner, Member, Subquery, InitPlan, SubPlan
	title        string
	kind         string     // Node Type
	head         []property // before the costs, for the structured formats

	startup, total, rows float64
	width                int
	measured             bool // whether stats are known
	stats                exec.NodeStats

	props    []property
	children []*explainNode
}

func (n *explainNode) add(name string, value any) {
	n.props = append(n.props, property{name: name, value: value})
}

func (n *explainNode) addHead(name string, value any) {
	n.head = append(n.head, property{name: name, value: value, noText: true})
}

// eachNode calls fn for every node of the plan once.
func (x *explainer) eachNode(fn func(plan.Node)) {
	seen := make(map[plan.Node]bool)
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		fn(n)
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(x.plan.Root)
	for _, c := range x.plan.CTEs {
		walk(c.Node)
	}
	for _, sp := range x.plan.SubPlans {
		walk(sp.Plan)
	}
}

// prepare finds the names of entries and the sources of parameters.
func (x *explainer) prepare() {
	x.analyze = x.s.analyzeContext(x.ctx, nil)
	x.analyze.Lock = nil
	x.printer = analyze.NewPlanPrinter(x.analyze, x)
	x.shown = make(map[*plan.SubPlan]bool)
	x.hidden = make(map[*plan.SubqueryScan]bool)
	if sub, ok := x.plan.Root.(*plan.SubqueryScan); ok {
		x.hidden[sub] = x.handsOn(sub, false)
	}
	x.eachNode(x.findHidden)
	entries := x.entries()
	x.names = make(map[*analyze.RangeTableEntry]string, len(entries))
	for i, name := range analyze.EntryNames(entries) {
		x.names[entries[i]] = name
	}
	x.several = x.countEntries() > 1
	x.params = make(map[int]planParam)
	x.eachNode(x.findParams)
}

// countEntries is how many range table entries PostgreSQL's plan has, those it does not scan included, as far as it
// matters: whether there are several.
func (x *explainer) countEntries() int {
	seen := make(map[*analyze.RangeTableEntry]bool)
	for _, e := range x.plan.RTable {
		seen[e] = true
	}
	n := 0
	x.eachNode(func(node plan.Node) {
		for _, e := range scannedBy(node, func(_ int, e *analyze.RangeTableEntry) *analyze.RangeTableEntry { return e }) {
			if e != nil {
				seen[e] = true
			}
		}
		switch m := node.(type) {
		case *plan.Append, *plan.SetOp, *plan.RecursiveUnion:
			n += 2 // one for each operand
		case *plan.ModifyTable:
			if m.Command == analyze.Insert {
				n++ // what is inserted
			}
		}
	})
	return n + len(seen)
}

// entries lists what the plan scans, query by query: the outermost first, the sub-selects of expressions last.
func (x *explainer) entries() []*analyze.RangeTableEntry {
	var out []*analyze.RangeTableEntry
	seen := make(map[*analyze.RangeTableEntry]bool)
	type scanned struct {
		rt    int
		entry *analyze.RangeTableEntry
	}
	var level func(n plan.Node)
	level = func(root plan.Node) {
		var own []scanned
		var below []plan.Node
		var walk func(n plan.Node)
		walk = func(n plan.Node) {
			if x.shownAs(n) == n {
				own = append(own, scannedBy(n, func(rt int, e *analyze.RangeTableEntry) scanned { return scanned{rt, e} })...)
			}
			switch n.(type) {
			case *plan.SubqueryScan, *plan.Append, *plan.SetOp, *plan.RecursiveUnion:
				below = append(below, n.Inputs()...)
				return
			}
			for _, in := range n.Inputs() {
				walk(in)
			}
		}
		walk(root)
		slices.SortStableFunc(own, func(a, b scanned) int { return a.rt - b.rt })
		for _, s := range own {
			if s.entry != nil && !seen[s.entry] {
				seen[s.entry] = true
				out = append(out, s.entry)
			}
		}
		for _, n := range below {
			level(n)
		}
	}
	level(x.plan.Root)
	for _, c := range x.plan.CTEs {
		level(c.Node)
	}
	for _, sp := range x.plan.SubPlans {
		level(sp.Plan)
	}
	return out
}

// scannedBy makes what mk does of the entries a node names.
func scannedBy[T any](n plan.Node, mk func(rt int, e *analyze.RangeTableEntry) T) []T {
	const last = 1 << 30
	e := n.Common().Entry
	switch n := n.(type) {
	case *plan.SeqScan:
		return []T{mk(n.RT, e)}
	case *plan.CatalogScan:
		return []T{mk(n.RT, e)}
	case *plan.IndexScan:
		return []T{mk(n.RT, e)}
	case *plan.BitmapScan:
		return []T{mk(n.RT, e)}
	case *plan.TidScan:
		return []T{mk(n.RT, e)}
	case *plan.FunctionScan:
		return []T{mk(n.RT, e)}
	case *plan.ValuesScan:
		return []T{mk(n.RT, e)}
	case *plan.SubqueryScan:
		return []T{mk(n.RT, e)}
	case *plan.CTEScan:
		return []T{mk(n.RT, e)}
	case *plan.WorkTableScan:
		return []T{mk(n.RT, e)}
	case *plan.ModifyTable:
		out := []T{mk(n.RT, e)}
		if c := n.Conflict; c != nil && c.Entry != nil {
			out = append(out, mk(last, c.Entry))
		}
		return out
	}
	return nil
}

// findParams notes the parameters that a node gives values to.
func (x *explainer) findParams(n plan.Node) {
	if nl, ok := n.(*plan.NestLoop); ok {
		s := x.inputScope(nl.Outer)
		for _, p := range nl.Params {
			x.params[p.ID] = planParam{p.Value, s}
		}
	}
	x.eachExpr(n, func(e analyze.Expr, s scope) {
		plan.Visit(e, func(e analyze.Expr) bool {
			if sp, ok := e.(*plan.SubPlan); ok {
				for i, id := range sp.ParamIDs {
					x.params[id] = planParam{sp.Args[i], s}
				}
			}
			return true
		})
	})
}

// eachExpr calls fn for the expressions of a node in the order in which their sub-plans are shown.
func (x *explainer) eachExpr(n plan.Node, fn func(e analyze.Expr, s scope)) {
	list := func(s scope, l []analyze.Expr) {
		for _, e := range l {
			if e != nil {
				fn(e, s)
			}
		}
	}
	b := n.Common()
	own := x.targetScope(n)
	list(own, b.Targets)
	list(own, b.Filter)
	switch n := n.(type) {
	case *plan.Result:
		list(own, n.OneTimeFilter)
	case *plan.IndexScan:
		for _, c := range n.Conds {
			list(own, []analyze.Expr{c.Value})
		}
	case *plan.FunctionScan:
		for _, f := range n.Functions {
			list(own, []analyze.Expr{f.Call})
		}
	case *plan.ValuesScan:
		for _, l := range n.Lists {
			list(own, l)
		}
	case *plan.NestLoop:
		list(own, n.On)
	case *plan.HashJoin:
		list(own, n.On)
		list(x.inputScope(n.Outer), n.OuterKeys)
		list(x.inputScope(n.Inner), n.InnerKeys)
	case *plan.MergeJoin:
		list(own, n.On)
		list(x.inputScope(n.Outer), n.OuterKeys)
		list(x.inputScope(n.Inner), n.InnerKeys)
	case *plan.Limit:
		list(own, []analyze.Expr{n.Offset, n.Count})
	case *plan.Aggregate:
		in := x.inputScope(n.Input)
		for _, a := range n.Aggs {
			list(in, a.Args)
			list(in, a.Direct)
			list(in, []analyze.Expr{a.Filter})
		}
	case *plan.WindowAgg:
		in := x.inputScope(n.Input)
		for _, c := range n.Calls {
			list(in, c.Args)
			list(in, []analyze.Expr{c.Filter})
		}
	case *plan.ModifyTable:
		if c := n.Conflict; c != nil {
			s := x.conflictScope(n)
			for _, a := range c.Set {
				list(s, []analyze.Expr{a.Expr})
			}
			list(s, c.Where)
		}
	}
}

// conflictScope is the existing row, then the proposed one.
func (x *explainer) conflictScope(n *plan.ModifyTable) scope {
	return scope{column: func(c *plan.Col) {
		e := n.Entry
		if c.Input == 1 && n.Conflict.Entry != nil {
			e = n.Conflict.Entry
		}
		x.entryColumn(e, c)
	}}
}

// print is the text that fn prints in a scope; the first error is kept.
func (x *explainer) print(s scope, prefix bool, fn func()) string {
	x.prefix = prefix
	text, err := x.printer.Text(func() { x.in(s, fn) })
	if err != nil && x.err == nil {
		x.err = err
	}
	return text
}

// condition prints conditions that must all hold.
func (x *explainer) condition(s scope, prefix bool, list []analyze.Expr) string {
	return x.print(s, prefix, func() {
		if len(list) == 1 {
			x.printer.Expr(list[0], false)
			return
		}
		x.printer.Str("(")
		for i, e := range list {
			if i > 0 {
				x.printer.Str(" AND ")
			}
			x.printer.Expr(e, false)
		}
		x.printer.Str(")")
	})
}

// node describes a plan node and all below it.
func (x *explainer) node(n plan.Node, relationship string) *explainNode {
	n = x.shownAs(n)
	b := n.Common()
	out := &explainNode{
		relationship: relationship, startup: b.StartupCost, total: b.TotalCost, rows: b.Rows, width: b.Width,
	}
	out.stats, out.measured = x.stats[n]
	x.describe(n, out)
	x.outputList(n, out)
	x.details(n, out)
	x.children(n, out)
	return out
}

// outputList is VERBOSE's line of what the node computes.
func (x *explainer) outputList(n plan.Node, out *explainNode) {
	if !x.o.verbose {
		return
	}
	switch n := n.(type) {
	case *plan.Append, *plan.RecursiveUnion:
		return
	case *plan.ModifyTable:
		if !n.Returning {
			return
		}
	}
	var list []string
	if t := n.Common().Targets; t != nil {
		s := x.targetScope(n)
		for _, e := range t {
			list = append(list, x.print(s, x.several, func() { x.printer.Expr(e, false) }))
		}
	} else {
		for i := range x.width(n) {
			list = append(list, x.print(scope{}, x.several, func() { x.output(n, i) }))
		}
	}
	if len(list) > 0 {
		out.add("Output", list)
	}
}

// filter shows conditions and how many rows they took out.
func (x *explainer) filter(out *explainNode, name string, s scope, prefix bool, list []analyze.Expr, removed int64) {
	if len(list) == 0 {
		return
	}
	out.add(name, x.condition(s, prefix, list))
	label := "Rows Removed by " + name
	if name == "Recheck Cond" || name == "Index Cond" {
		label = "Rows Removed by Index Recheck"
	}
	x.removed(out, label, removed)
}

func (x *explainer) removed(out *explainNode, label string, n int64) {
	if !x.o.analyze || !out.measured {
		return
	}
	per := 0.0
	if out.stats.Loops > 0 {
		per = float64(n) / float64(out.stats.Loops)
	}
	out.props = append(out.props, property{name: label, value: per, noText: n == 0})
}

// scanPrefix tells whether a scan's conditions qualify columns, otherPrefix those of other nodes.
func (x *explainer) scanPrefix() bool { return x.o.verbose }

func (x *explainer) otherPrefix() bool { return x.several || x.o.verbose }

// children adds what is below a node.
func (x *explainer) children(n plan.Node, out *explainNode) {
	if n == x.shownAs(x.plan.Root) {
		for i := range x.plan.CTEs {
			c := &x.plan.CTEs[i]
			child := x.node(c.Node, "InitPlan")
			child.label = "CTE " + c.Name
			out.children = append(out.children, child)
		}
	}
	for _, sp := range n.Common().InitPlans {
		x.subPlan(sp, "InitPlan", out)
	}
	switch n := n.(type) {
	case *plan.HashJoin:
		out.children = append(out.children, x.node(n.Outer, "Outer"), x.hash(n))
	case *plan.BitmapScan:
		out.children = append(out.children, x.bitmap(n.Source, "Outer"))
	case *plan.Append:
		for _, c := range n.Children {
			out.children = append(out.children, x.node(c, "Member"))
		}
	case *plan.SubqueryScan:
		out.children = append(out.children, x.node(n.Input, "Subquery"))
	default:
		for i, in := range n.Inputs() {
			relationship := "Outer"
			if i > 0 {
				relationship = "Inner"
			}
			out.children = append(out.children, x.node(in, relationship))
		}
	}
	x.eachExpr(n, func(e analyze.Expr, _ scope) {
		plan.Visit(e, func(e analyze.Expr) bool {
			if sp, ok := e.(*plan.SubPlan); ok {
				x.subPlan(sp, "SubPlan", out)
			}
			return true
		})
	})
}

// subPlan adds a sub-plan once; mapped copies of it share its plan.
func (x *explainer) subPlan(sp *plan.SubPlan, relationship string, out *explainNode) {
	for shown := range x.shown {
		if shown.Plan == sp.Plan {
			return
		}
	}
	x.shown[sp] = true
	child := x.node(sp.Plan, relationship)
	child.label = sp.Name
	out.children = append(out.children, child)
}

// hash is the node that builds a hash join's table, which is part of the join here.
func (x *explainer) hash(j *plan.HashJoin) *explainNode {
	in := x.node(j.Inner, "Outer")
	out := &explainNode{
		title: "Hash", kind: "Hash", relationship: "Inner",
		startup: in.total, total: in.total, rows: in.rows, width: in.width, measured: in.measured, stats: in.stats,
		children: []*explainNode{in},
	}
	out.stats.Startup = out.stats.Total
	if x.o.verbose {
		for _, p := range in.props {
			if p.name == "Output" {
				out.props = append(out.props, p)
			}
		}
	}
	if st, ok := x.stats[j]; ok && st.HashBatches > 0 {
		out.props = append(
			out.props,
			property{text: fmt.Sprintf("Buckets: %d  Batches: %d  Memory Usage: %dkB", st.HashBuckets, st.HashBatches, kilobytes(st.SpaceBytes))},
			property{name: "Hash Buckets", value: int64(st.HashBuckets), noText: true},
			property{name: "Hash Batches", value: int64(st.HashBatches), noText: true},
			property{name: "Peak Memory Usage", value: kilobytes(st.SpaceBytes), noText: true},
		)
	}
	return out
}

func kilobytes(n int64) int64 { return (n + 1023) / 1024 }

// bitmap is the index side of a bitmap scan.
func (x *explainer) bitmap(s *plan.BitmapSource, relationship string) *explainNode {
	out := &explainNode{relationship: relationship, total: s.Cost, rows: s.Rows}
	if s.Index != nil {
		out.kind = "Bitmap Index Scan"
		out.title = "Bitmap Index Scan on " + x.printer.Quoted(s.Index.Name)
		out.addHead("Index Name", s.Index.Name)
		if conds := x.indexConds(s.Index, s.Conds); len(conds) > 0 {
			out.add("Index Cond", x.condition(x.bitmapScope, x.scanPrefix(), conds))
		}
		return out
	}
	out.kind = "BitmapAnd"
	if s.Or {
		out.kind = "BitmapOr"
	}
	out.title = out.kind
	for _, part := range s.Parts {
		out.children = append(out.children, x.bitmap(part, "Member"))
	}
	return out
}

// indexConds are the conditions on an index, with the indexed column on the left and each once.
func (x *explainer) indexConds(idx *catalog.Index, conds []plan.IndexCond) []analyze.Expr {
	var out []analyze.Expr
	for i, c := range conds {
		if i > 0 && conds[i-1].Source == c.Source {
			continue
		}
		out = append(out, x.commuted(idx, c))
	}
	return out
}

// commuted turns a condition round if the indexed column is on its right.
func (x *explainer) commuted(idx *catalog.Index, c plan.IndexCond) analyze.Expr {
	op, ok := c.Source.(*analyze.OpExpr)
	if !ok || len(op.Args) != 2 || c.Key >= len(idx.Keys) || !x.isKey(idx, c.Key, op.Args[1]) || x.isKey(idx, c.Key, op.Args[0]) {
		return c.Source
	}
	o, err := x.s.eng.Catalog().OperatorByOID(op.Op)
	if err != nil || o == nil || o.Commutator == 0 {
		return c.Source
	}
	turned := *op
	turned.Op, turned.Args = o.Commutator, []analyze.Expr{op.Args[1], op.Args[0]}
	return &turned
}

// isKey tells whether e is column key of an index; of an expression, whether it has any column in it.
func (x *explainer) isKey(idx *catalog.Index, key int, e analyze.Expr) bool {
	want, found := int(idx.Keys[key].AttNum), false
	plan.Visit(e, func(n analyze.Expr) bool {
		if c, ok := n.(*plan.Col); ok && (want == 0 || c.Index == want-1) {
			found = true
		}
		return !found
	})
	return found
}

// text is the whole of EXPLAIN's result.
func (x *explainer) text() (string, error) {
	x.prepare()
	root := x.node(x.plan.Root, "")
	if x.err != nil {
		return "", x.err
	}
	switch x.o.format {
	case explainText:
		return x.plainText(root), nil
	case explainJSON:
		return x.structured(root, &jsonWriter{}), nil
	case explainYAML:
		return x.structured(root, &yamlWriter{}), nil
	}
	return x.structured(root, &xmlWriter{}), nil
}

// settings are the parameters that plans depend on and that are not at their defaults, if SETTINGS asks for them.
func (x *explainer) settings() []property {
	if !x.o.settings {
		return nil
	}
	var list []property
	for _, v := range x.s.set.Changed() {
		list = append(list, property{name: v.Name, value: v.Value})
	}
	return list
}

// plainText prints the text format.
func (x *explainer) plainText(root *explainNode) string {
	var b strings.Builder
	x.plainNode(&b, root, 0)
	if list := x.settings(); len(list) > 0 {
		b.WriteString("Settings: ")
		for i, p := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s = '%s'", p.name, p.plain())
		}
		b.WriteByte('\n')
	}
	if x.o.summary {
		fmt.Fprintf(&b, "Planning Time: %.3f ms\n", milliseconds(x.planning))
		if x.o.analyze {
			fmt.Fprintf(&b, "Execution Time: %.3f ms\n", milliseconds(x.execution))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (x *explainer) plainNode(b *strings.Builder, n *explainNode, indent int) {
	pad := func() { b.WriteString(strings.Repeat("  ", indent)) }
	if n.label != "" {
		pad()
		b.WriteString(n.label + "\n")
		indent++
	}
	if indent > 0 {
		pad()
		b.WriteString("->  ")
		indent += 2
	}
	b.WriteString(n.title)
	if x.o.costs {
		fmt.Fprintf(b, "  (cost=%.2f..%.2f rows=%.0f width=%d)", n.startup, n.total, n.rows, n.width)
	}
	if x.o.analyze {
		x.plainActual(b, n)
	}
	b.WriteByte('\n')
	indent++
	for _, p := range n.props {
		if p.noText {
			continue
		}
		pad()
		if p.text != "" {
			b.WriteString(p.text)
		} else {
			b.WriteString(p.name + ": " + p.plain())
		}
		b.WriteByte('\n')
	}
	for _, c := range n.children {
		x.plainNode(b, c, indent)
	}
}

func (x *explainer) plainActual(b *strings.Builder, n *explainNode) {
	switch st := &n.stats; {
	case !n.measured:
	case st.Loops == 0:
		b.WriteString(" (never executed)")
	default:
		loops := float64(st.Loops)
		b.WriteString(" (actual ")
		if x.o.timing {
			fmt.Fprintf(b, "time=%.3f..%.3f ", milliseconds(st.Startup)/loops, milliseconds(st.Total)/loops)
		}
		fmt.Fprintf(b, "rows=%.0f loops=%.0f)", float64(st.Rows)/loops, loops)
	}
}

// plain is the value in the text format.
func (p *property) plain() string {
	switch v := p.value.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, ", ")
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', p.digits, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// equality is the condition that two keys of a join are equal, each over its own input.
func (x *explainer) equality(fn types.OID, left, right analyze.Expr, outer, inner plan.Node) analyze.Expr {
	op, err := x.printer.EqualityOp(fn, left.Type(), right.Type())
	if err != nil && x.err == nil {
		x.err = err
	}
	return &analyze.OpExpr{
		Typed: analyze.NewTyped(types.Bool, -1, 0, -1), Op: op, Func: fn,
		Args: []analyze.Expr{&scoped{left, x.inputScope(outer)}, &scoped{right, x.inputScope(inner)}},
	}
}
