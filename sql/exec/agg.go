package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// aggNode is an Aggregate. Its result row has the group columns, the aggregates and the GROUPING masks.
type aggNode struct {
	nodeInfo
	input    node
	strategy plan.AggStrategy
	spec     *frameSpec // of arguments, filters and direct arguments, over the input
	once     bool       // an argument is volatile: none is evaluated again for the same row
	keys     []keyInfo
	keyCols  []int
	sets     []aggSet
	aggs     []*aggregate
	grouping [][]int
	// ordered: an aggregate wants its rows sorted.
	ordered          bool
	partial, combine bool
	used             []int // input columns that are read
	inCols           []vecSpec
	rowCols          []vecSpec
	proj             *projection
}

// aggSet is a grouping set: which of the keys it has.
type aggSet struct {
	keys  []int
	infos []keyInfo
	cols  []vecSpec
}

// aggregate is a compiled aggregate call.
type aggregate struct {
	agg    *fn.Agg
	call   fn.AggCall
	args   []*expr // the arguments, then what only sorts
	n      int     // arguments
	direct []*expr
	filter *expr
	sorted bool
	// distinct compares arguments of neighbours; order sorts rows of group number and args.
	distinct []keyInfo
	order    []sortKey
	rowCols  []vecSpec
	vecs     int // argument slots
}

// flat tells whether the states are words.
func (a *aggregate) flat() bool { return a.agg.Flat != nil && !a.sorted }

func (c *compiler) aggregate(n *plan.Aggregate, info nodeInfo) (node, error) {
	a := &aggNode{
		nodeInfo: info, strategy: n.Strategy, grouping: n.Grouping, partial: n.Partial, combine: n.Combine,
	}
	var err error
	if a.input, err = c.child(&a.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	a.inCols = a.input.info().cols
	if a.keys, a.keyCols, err = c.groupKeys(n.Group, a.inCols); err != nil {
		return nil, err
	}
	m := newIdentity(len(a.inCols))
	s := newScope(m)
	a.spec = s.spec
	err = c.in(s, func() error {
		for i := range n.Aggs {
			g, err := c.aggCall(&n.Aggs[i], n.Combine)
			if err != nil {
				return err
			}
			a.ordered = a.ordered || g.sorted
			a.aggs = append(a.aggs, g)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.once, a.volatile = s.volatile, a.volatile || s.volatile
	c.aggSets(a, n)
	for _, k := range a.keyCols {
		m.used[k] = true
	}
	a.used = usedColumns(m)
	a.rowCols = a.resultColumns(n, c)
	a.proj, err = c.over(&a.nodeInfo, a.rowCols)
	return a, err
}

func (c *compiler) aggSets(a *aggNode, n *plan.Aggregate) {
	sets := n.Sets
	if sets == nil {
		all := make([]int, len(a.keyCols))
		for i := range all {
			all[i] = i
		}
		sets = [][]int{all}
	}
	for _, s := range sets {
		set := aggSet{keys: s}
		for _, k := range s {
			set.infos = append(set.infos, a.keys[k])
			set.cols = append(set.cols, a.inCols[a.keyCols[k]])
		}
		a.sets = append(a.sets, set)
	}
	if n.Sets != nil {
		a.strategy = plan.AggHashed
	}
}

func (a *aggNode) resultColumns(n *plan.Aggregate, c *compiler) []vecSpec {
	cols := make([]vecSpec, 0, len(a.keyCols)+len(n.Aggs)+len(n.Grouping))
	for _, k := range a.keyCols {
		cols = append(cols, a.inCols[k])
	}
	for i := range n.Aggs {
		v := vecSpec{n.Aggs[i].Type, c.class(n.Aggs[i].Type)}
		if a.partial {
			v = vecSpec{types.Int8, types.Word}
		}
		cols = append(cols, v)
	}
	for range n.Grouping {
		cols = append(cols, vecSpec{types.Int4, types.Word})
	}
	return cols
}

func (c *compiler) aggCall(n *plan.AggCall, combine bool) (*aggregate, error) {
	f, ok := fn.LookupAgg(n.Func)
	if !ok {
		p, err := c.proc(n.Func)
		if err != nil {
			return nil, err
		}
		return nil, pgerr.From(c.unsupportedFunction(p))
	}
	a := &aggregate{agg: f, n: len(n.Args)}
	if !f.OrderedSet && n.NArgs < len(n.Args) {
		a.n = n.NArgs
	}
	a.call = fn.AggCall{Result: n.Type, Collation: n.Coll, Types: c.types()}
	if n.Source != nil {
		a.call.Collation = n.Source.InputColl
	}
	if combine {
		for _, e := range n.Args {
			a.call.Args = append(a.call.Args, e.Type())
		}
		return a, nil
	}
	var err error
	if a.args, err = c.exprs(n.Args); err != nil {
		return nil, err
	}
	if a.direct, err = c.exprs(n.Direct); err != nil {
		return nil, err
	}
	if n.Filter != nil {
		if a.filter, err = c.expr(n.Filter); err != nil {
			return nil, err
		}
	}
	for _, x := range a.args[:a.n] {
		a.call.Args = append(a.call.Args, x.typ)
	}
	for _, x := range a.direct {
		a.call.DirectTyp = append(a.call.DirectTyp, x.typ)
	}
	a.vecs = c.spec.argVecs(len(a.args))
	return a, c.aggOrder(a, n)
}

// aggOrder prepares the sort of an aggregate with ORDER BY, DISTINCT or WITHIN GROUP.
func (c *compiler) aggOrder(a *aggregate, n *plan.AggCall) error {
	a.sorted = n.Distinct || len(n.OrderBy) > 0 || a.agg.OrderedSet
	if !a.sorted {
		return nil
	}
	a.rowCols = []vecSpec{{types.Int8, types.Word}}
	for _, x := range a.args {
		a.rowCols = append(a.rowCols, vecSpec{x.typ, x.class})
	}
	keys, err := c.sortKeys(n.OrderBy, a.rowCols[1:])
	if err != nil {
		return err
	}
	a.order = []sortKey{{col: 0, typ: types.Int8}}
	has := make([]bool, len(a.args))
	for _, k := range keys {
		has[k.col] = true
		a.call.Desc = append(a.call.Desc, k.opt.Desc)
		a.call.NullsFirst = append(a.call.NullsFirst, k.opt.NullsFirst)
		k.col++
		a.order = append(a.order, k)
	}
	if !n.Distinct {
		return nil
	}
	for i, x := range a.args[:a.n] {
		a.distinct = append(a.distinct, c.key(x.typ, x.coll))
		if !has[i] {
			a.order = append(a.order, sortKey{col: i + 1, typ: x.typ, opt: types.KeyOptions{Collation: x.coll, Types: c.types()}})
		}
	}
	return nil
}

func (n *aggNode) build(rt *runtime) operator {
	op := &aggOp{n: n, rt: rt, child: rt.build(n.input), f: newFrame(rt, n.spec)}
	op.f.bounded = !n.once
	op.keyVecs = make([]*types.Vector, len(n.keyCols))
	for i := range n.sets {
		op.groups = append(op.groups, newAggGroups(rt, n, &n.sets[i]))
	}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

// aggOp runs an Aggregate.
type aggOp struct {
	freshness
	n       *aggNode
	rt      *runtime
	child   operator
	f       *frame
	keyVecs []*types.Vector
	groups  []*aggGroups // one per grouping set

	built  bool
	set    int // being emitted
	at     int
	out    types.Batch
	number []uint32
	sub    []uint32
	sel    []int32

	// Hashed: rows of groups there was no memory for, and the parts of them that are left.
	spill []*parts // per set, nil until needed
	tasks []aggTask
	full  bool
	// Sorted.
	ended   bool
	pending *types.Batch
	pendAt  int
}

// aggTask is a part of the input to be aggregated later, for one grouping set.
type aggTask struct {
	file  *tempFile
	set   int
	level int
}

func (op *aggOp) open() error {
	if op.built && op.n.strategy != plan.AggSorted && op.spill == nil && op.tasks == nil && op.holds(op.rt, op.n.depends) {
		op.set, op.at = 0, 0
		return nil
	}
	op.reset()
	return op.child.open()
}

func (op *aggOp) reset() {
	op.forget()
	op.built, op.full, op.ended, op.pending = false, false, false, nil
	op.set, op.at = 0, 0
	for _, g := range op.groups {
		g.reset()
	}
	for _, p := range op.spill {
		p.close()
	}
	for _, t := range op.tasks {
		t.file.close()
	}
	op.spill, op.tasks = nil, nil
}

func (op *aggOp) next(max int) (*types.Batch, error) {
	if op.n.strategy == plan.AggSorted {
		return op.nextSorted(max)
	}
	if !op.built {
		if err := op.build(); err != nil {
			return nil, err
		}
	}
	for {
		for op.set < len(op.groups) {
			if b, err := op.emit(op.groups[op.set], max); b != nil || err != nil {
				return b, err
			}
			op.set, op.at = op.set+1, 0
		}
		more, err := op.nextTask()
		if err != nil || !more {
			return nil, err
		}
	}
}

// build aggregates the whole input.
func (op *aggOp) build() error {
	op.record(op.rt, op.n.depends)
	epoch := op.epoch
	op.forget()
	for {
		b, err := op.child.next(maxBatch)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := op.take(b, -1, 0); err != nil {
			return err
		}
	}
	for _, g := range op.groups {
		if len(g.set.keys) == 0 && g.n == 0 {
			if err := g.newGroup(op, nil, types.Rows{}); err != nil {
				return err
			}
		}
	}
	op.built, op.epoch = true, epoch
	return op.finish()
}

// finish ends a round of input: sorted aggregates take their rows, and spilled rows become tasks.
func (op *aggOp) finish() error {
	for _, g := range op.groups {
		if err := g.feedSorted(op); err != nil {
			return err
		}
	}
	if st := op.rt.nodeStats(&op.n.nodeInfo); st != nil && op.n.strategy == plan.AggHashed {
		st.SpaceBytes = max(st.SpaceBytes, op.memory())
		st.HashBatches = max(st.HashBatches, 1) + len(op.tasks)
	}
	for set, p := range op.spill {
		if p == nil {
			continue
		}
		if err := p.flush(); err != nil {
			return err
		}
		for k, f := range p.files {
			if f != nil {
				op.tasks = append(op.tasks, aggTask{f, set, p.level + 1})
				p.files[k] = nil
			}
		}
	}
	op.spill, op.full = nil, false
	return nil
}

// nextTask aggregates a part of what was spilled.
func (op *aggOp) nextTask() (bool, error) {
	if len(op.tasks) == 0 {
		return false, nil
	}
	t := op.tasks[len(op.tasks)-1]
	op.tasks = op.tasks[:len(op.tasks)-1]
	defer t.file.close()
	for _, g := range op.groups {
		g.reset()
	}
	r := t.file.reader()
	wide := types.Batch{Cols: make([]types.Vector, len(op.n.inCols))}
	for {
		b, err := r.read(maxBatch)
		if err != nil {
			return false, err
		}
		if b == nil {
			break
		}
		for i, c := range op.n.used {
			wide.Cols[c] = b.Cols[i]
		}
		wide.N, wide.Sel = b.N, nil
		if err := op.take(&wide, t.set, t.level); err != nil {
			return false, err
		}
	}
	op.set, op.at = 0, 0
	return true, op.finish()
}

// take aggregates a batch, into all grouping sets or only one.
func (op *aggOp) take(b *types.Batch, only, level int) error {
	if err := op.rt.canceled(); err != nil {
		return err
	}
	op.f.in[0] = b
	op.f.begin()
	for i, g := range op.groups {
		if only >= 0 && i != only {
			continue
		}
		rows, numbers, err := op.assign(g, b, i, level)
		if err != nil {
			return err
		}
		if rows.Len() == 0 {
			continue
		}
		if err := op.step(g, b, rows, numbers); err != nil {
			return err
		}
	}
	if !op.full && op.n.strategy == plan.AggHashed && op.rt.spillable() && level < partLevels {
		op.full = op.memory() > op.rt.hashMem()
	}
	return nil
}

func (op *aggOp) memory() int64 {
	var n int64
	for _, g := range op.groups {
		n += g.memory()
	}
	return n
}

// assign finds the group of each row, making new groups while there is memory; rows for which there is none are
// spilled and not among those returned. Numbers are nil where all rows are of group 0.
func (op *aggOp) assign(g *aggGroups, b *types.Batch, set, level int) (types.Rows, []uint32, error) {
	rows := b.Rows()
	if len(g.set.keys) == 0 {
		if g.n == 0 {
			return rows, nil, g.newGroup(op, b, rows)
		}
		return rows, nil, nil
	}
	vecs := op.keyVecs[:0]
	for _, k := range g.set.keys {
		vecs = append(vecs, &b.Cols[op.n.keyCols[k]])
	}
	hashes := g.table.hashes(vecs, rows)
	numbers := op.number[:0]
	spilled := op.sel[:0]
	for j := range rows.Len() {
		i := rows.At(j)
		k := g.table.find(vecs, i, hashes[i])
		if k < 0 {
			if op.full {
				spilled = append(spilled, int32(i))
				continue
			}
			k = g.table.insert(vecs, i, hashes[i])
			if err := g.newGroup(op, b, types.Rows{N: b.N, Sel: op.f.one(i)}); err != nil {
				return rows, nil, err
			}
		}
		numbers = append(numbers, uint32(k))
	}
	op.number, op.sel = numbers, spilled
	if len(spilled) == 0 {
		return rows, numbers, nil
	}
	kept := subtract(rows, spilled, make([]int32, 0, rows.Len()-len(spilled)))
	return types.Rows{N: b.N, Sel: kept}, numbers, op.spillRows(b, spilled, hashes, set, level)
}

// spillRows deals rows out to files, only the columns that are read.
func (op *aggOp) spillRows(b *types.Batch, sel []int32, hashes []uint64, set, level int) error {
	if op.spill == nil {
		op.spill = make([]*parts, len(op.groups))
	}
	if op.spill[set] == nil {
		cols := make([]vecSpec, len(op.n.used))
		for i, c := range op.n.used {
			cols[i] = op.n.inCols[c]
		}
		op.spill[set] = newParts(op.rt, cols, level)
	}
	narrow := types.Batch{N: b.N}
	for _, c := range op.n.used {
		narrow.Cols = append(narrow.Cols, b.Cols[c])
	}
	return op.spill[set].add(&narrow, types.Rows{N: b.N, Sel: sel}, hashes)
}

// step gives rows to the aggregates of their groups.
func (op *aggOp) step(g *aggGroups, b *types.Batch, rows types.Rows, numbers []uint32) error {
	if op.n.combine {
		return op.combine(g, b, rows, numbers)
	}
	for k, a := range op.n.aggs {
		if err := op.stepOne(&g.states[k], a, rows, numbers); err != nil {
			return err
		}
	}
	return nil
}

// stepOne gives rows to one aggregate: in two halves where the values of its arguments are too large.
func (op *aggOp) stepOne(s *aggStates, a *aggregate, rows types.Rows, numbers []uint32) error {
	these, nums, err := rows, numbers, error(nil)
	if a.filter != nil {
		these, nums, err = op.filter(a, rows, numbers)
	}
	vecs := op.f.avecs[a.vecs : a.vecs+len(a.args)]
	for i := 0; i < len(a.args) && err == nil && these.Len() > 0; i++ {
		vecs[i], err = a.args[i].eval(op.f, these)
	}
	switch {
	case err == errBatchBytes:
		op.f.begin()
		half := rows.Len() / 2
		first, second := numbers, numbers
		if numbers != nil {
			first, second = numbers[:half], numbers[half:]
		}
		if err := op.stepOne(s, a, subRows(rows, 0, half), first); err != nil {
			return err
		}
		return op.stepOne(s, a, subRows(rows, half, rows.Len()), second)
	case err != nil || these.Len() == 0:
		return err
	}
	return s.step(op, a, vecs, these, nums)
}

// filter applies an aggregate's FILTER.
func (op *aggOp) filter(a *aggregate, rows types.Rows, numbers []uint32) (types.Rows, []uint32, error) {
	sel, err := a.filter.selectRows(op.f, rows, op.f.filterSel[:0])
	if err != nil {
		return rows, nil, err
	}
	op.f.filterSel = sel
	kept := types.Rows{N: rows.N, Sel: sel}
	if numbers == nil {
		return kept, nil, nil
	}
	nums := op.sub[:0]
	s := 0
	for j := range rows.Len() {
		if s == len(sel) {
			break
		}
		if int32(rows.At(j)) == sel[s] {
			nums = append(nums, numbers[j])
			s++
		}
	}
	op.sub = nums
	return kept, nums, nil
}

// emit gives the result rows of a set's next groups.
func (op *aggOp) emit(g *aggGroups, want int) (*types.Batch, error) {
	n := min(g.n-op.at, want, maxBatch)
	if n <= 0 {
		return nil, nil
	}
	if op.out.Cols == nil || chunkCap(&op.out) < n {
		op.out = *newChunk(op.n.rowCols, max(n, min(op.capacityHint(), maxBatch)))
	}
	if err := g.results(op, op.at, n); err != nil {
		return nil, err
	}
	op.out.N, op.out.Sel = n, nil
	op.at += n
	return &op.out, nil
}

func (op *aggOp) capacityHint() int {
	if op.n.strategy == plan.AggPlain {
		return 1
	}
	return 64
}

func (op *aggOp) close() {
	op.child.close()
	op.reset()
	for i, g := range op.groups {
		if g.memory() > poolKeep {
			op.groups[i] = newAggGroups(op.rt, op.n, g.set)
		}
	}
}
