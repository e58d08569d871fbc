package exec

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

func compile(p *plan.Plan, deps *Deps) (*Program, error) {
	prog := &Program{
		plan: p, params: p.Params + len(p.CTEs), visible: len(p.Columns),
		modifies: p.Command != analyze.Select || p.HasModifyingCTE,
	}
	c := &compiler{deps: deps, prog: prog, scope: newScope(), depends: &paramSet{}, rechecks: !p.ReadOnly}
	c.initOf = make([]*initPlanProgram, prog.params)
	prog.ctes = make([]*cteProgram, len(p.CTEs))
	prog.ids = make(map[plan.Node]int)
	for i := range p.CTEs {
		if err := c.cte(i); err != nil {
			return nil, err
		}
	}
	root, err := c.node(p.Root)
	if err != nil {
		return nil, err
	}
	prog.root = root
	return prog, nil
}

// node compiles a plan node and all below it.
func (c *compiler) node(n plan.Node) (node, error) {
	outer := c.depends
	c.depends = &paramSet{}
	defer func() {
		outer.add(c.depends.ids...)
		c.depends = outer
	}()
	for _, ip := range n.Common().InitPlans {
		if c.initOf[ip.Param] != nil {
			continue
		}
		if err := c.initPlan(ip); err != nil {
			return nil, err
		}
	}
	// The number is taken first so that statistics are in the order of EXPLAIN.
	info := nodeInfo{id: c.prog.nodes, plan: n}
	c.prog.ids[n] = info.id
	c.prog.nodes++
	compiled, err := c.nodeOf(n, info)
	if err != nil {
		return nil, err
	}
	i := compiled.info()
	i.depends = append([]int(nil), c.depends.ids...)
	return compiled, nil
}

func (c *compiler) nodeOf(n plan.Node, info nodeInfo) (node, error) {
	switch n := n.(type) {
	case *plan.Result:
		return c.result(n, info)
	case *plan.ProjectSet:
		return c.projectSet(n, info)
	case *plan.SeqScan:
		return c.seqScan(n, info)
	case *plan.CatalogScan:
		return c.catalogScan(n, info)
	case *plan.IndexScan:
		return c.indexScan(n, info)
	case *plan.BitmapScan:
		return c.bitmapScan(n, info)
	case *plan.TidScan:
		return c.tidScan(n, info)
	case *plan.FunctionScan:
		return c.functionScan(n, info)
	case *plan.ValuesScan:
		return c.valuesScan(n, info)
	case *plan.SubqueryScan:
		return c.subqueryScan(n, info)
	case *plan.CTEScan:
		return c.cteScan(n, info)
	case *plan.WorkTableScan:
		return c.workTableScan(n, info)
	case *plan.RecursiveUnion:
		return c.recursiveUnion(n, info)
	case *plan.NestLoop:
		return c.nestLoop(n, info)
	case *plan.HashJoin:
		return c.hashJoin(n, info)
	case *plan.MergeJoin:
		return c.mergeJoin(n, info)
	case *plan.Sort:
		return c.sort(n, info)
	case *plan.Aggregate:
		return c.aggregate(n, info)
	case *plan.WindowAgg:
		return c.windowAgg(n, info)
	case *plan.Unique:
		return c.unique(n, info)
	case *plan.SetOp:
		return c.setOp(n, info)
	case *plan.Append:
		return c.append(n, info)
	case *plan.Material:
		return c.material(n, info)
	case *plan.Limit:
		return c.limit(n, info)
	case *plan.LockRows:
		return c.lockRows(n, info)
	case *plan.Gather:
		return c.gather(n, info)
	case *plan.ModifyTable:
		return c.modifyTable(n, info)
	}
	return nil, pgerr.New(pgerr.FeatureNotSupported, "plan node %T is not supported", n)
}

// over compiles a node's filter and targets over one input of the given columns.
func (c *compiler) over(info *nodeInfo, in []vecSpec) (*projection, error) {
	b := info.plan.Common()
	p, err := c.compileProjection(newScope(newIdentity(len(in))), b.Filter, b.Targets, in)
	if err != nil {
		return nil, err
	}
	info.cols = p.cols
	info.volatile = info.volatile || p.volatile
	return p, nil
}

// child compiles an input and takes over what matters of it.
func (c *compiler) child(info *nodeInfo, n plan.Node) (node, error) {
	in, err := c.node(n)
	if err != nil {
		return nil, err
	}
	info.volatile = info.volatile || in.info().volatile
	return in, nil
}

// inLevel compiles what belongs to another query level: its scans are no part of a re-evaluation of this one.
func (c *compiler) inLevel(f func() error) error {
	old := c.level
	c.levels++
	c.level = c.levels
	err := f()
	c.level = old
	return err
}

// relationColumns are the attributes of a relation as columns; dropped ones are nulls.
func (c *compiler) relationColumns(rel *catalog.Relation) []vecSpec {
	cols := make([]vecSpec, len(rel.Attrs))
	for i := range rel.Attrs {
		a := &rel.Attrs[i]
		cols[i] = vecSpec{a.Type, c.class(a.Type)}
		if a.Dropped {
			cols[i] = vecSpec{types.Text, types.Bytes}
		}
	}
	return cols
}

// keyColumn checks a column number of a key against the input.
func keyColumn(col int, in []vecSpec) error {
	if col < 0 || col >= len(in) {
		return pgerr.New(pgerr.InternalError, "key column %d of an input of %d columns", col, len(in))
	}
	return nil
}
