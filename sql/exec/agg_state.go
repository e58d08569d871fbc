package exec

import (
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

// aggGroups are the groups of one grouping set.
type aggGroups struct {
	n      int
	node   *aggNode
	set    *aggSet
	table  *groupTable
	states []aggStates // per aggregate
	refs   []int32
}

// aggStates are the states of one aggregate, by group.
type aggStates struct {
	words  []uint64      // flat
	states []fn.AggState // otherwise
	size   int64
	sorter *sorter // rows waiting to be sorted
	row    types.Batch
	gid    types.Vector
}

func newAggGroups(rt *runtime, n *aggNode, set *aggSet) *aggGroups {
	g := &aggGroups{node: n, set: set, table: newGroupTable(set.infos, set.cols)}
	g.states = make([]aggStates, len(n.aggs))
	for k, a := range n.aggs {
		if a.sorted && !n.combine {
			s := &g.states[k]
			s.sorter = newSorter(rt, a.order, a.rowCols)
			s.row.Cols = make([]types.Vector, len(a.rowCols))
			s.gid = types.NewVectorClass(types.Int8, types.Word, 0)
		}
	}
	return g
}

func (g *aggGroups) reset() {
	g.n = 0
	g.table.reset()
	for k := range g.states {
		s := &g.states[k]
		s.words, s.size = s.words[:0], 0
		clear(s.states)
		s.states = s.states[:0]
		if s.sorter != nil {
			s.sorter.reset()
		}
	}
}

func (g *aggGroups) memory() int64 {
	n := g.table.memory()
	for k := range g.states {
		n += int64(cap(g.states[k].words))*8 + g.states[k].size
	}
	return n
}

// newGroup makes the states of group g.n. Direct arguments are evaluated on its first row.
func (g *aggGroups) newGroup(op *aggOp, b *types.Batch, rows types.Rows) error {
	for k, a := range g.node.aggs {
		s := &g.states[k]
		if a.flat() {
			for range a.agg.Flat.Words {
				s.words = append(s.words, 0)
			}
			continue
		}
		st, err := a.newState(op, b, rows)
		if err != nil {
			return err
		}
		s.states = append(s.states, st)
		s.size += int64(st.Size()) + 16
	}
	g.n++
	return nil
}

func (a *aggregate) newState(op *aggOp, b *types.Batch, rows types.Rows) (fn.AggState, error) {
	call := a.call
	call.Env = op.rt.fc.Env
	for _, x := range a.direct {
		d := types.NullDatum
		if b != nil || !x.columns {
			if b == nil {
				rows = one()
			}
			v, err := x.eval(op.f, subRows(rows, 0, 1))
			if err != nil {
				return nil, err
			}
			d = v.Datum(rows.At(0)).Clone()
		}
		call.Direct = append(call.Direct[:len(call.Direct):len(call.Direct)], d)
	}
	return a.agg.New(&call), nil
}

// step takes rows into their groups' states, or keeps them to be sorted.
func (s *aggStates) step(op *aggOp, a *aggregate, vecs []*types.Vector, rows types.Rows, numbers []uint32) error {
	switch {
	case a.sorted:
		return s.keep(a, vecs, rows, numbers)
	case a.flat():
		return a.agg.Flat.Step(vecs[:a.n], rows, numbers, s.words)
	}
	args := op.datums(a.n)
	n := rows.Len()
next:
	for j := range n {
		i := rows.At(j)
		for c := range args {
			if args[c] = vecs[c].Datum(i); args[c].Null && a.agg.Strict {
				continue next
			}
		}
		k := uint32(0)
		if numbers != nil {
			k = numbers[j]
		}
		if err := s.states[k].Step(op.rt.fc, args); err != nil {
			return err
		}
	}
	return nil
}

func (op *aggOp) datums(n int) []types.Datum {
	if cap(op.f.args) < n {
		op.f.args = make([]types.Datum, n)
	}
	return op.f.args[:n]
}

// keep gives rows to the sorter with their groups' numbers.
func (s *aggStates) keep(a *aggregate, vecs []*types.Vector, rows types.Rows, numbers []uint32) error {
	if len(s.gid.Null) < rows.N {
		growVector(&s.gid, rows.N)
	}
	for j := range rows.Len() {
		k := uint64(0)
		if numbers != nil {
			k = uint64(numbers[j])
		}
		s.gid.W[rows.At(j)] = k
	}
	s.row.Cols[0] = s.gid
	for c, v := range vecs {
		if v.Const {
			w := types.NewVectorClass(v.Type, v.Class, rows.N)
			scatter(&w, v, rows)
			v = &w
		}
		s.row.Cols[c+1] = *v
	}
	s.row.N, s.row.Sel = rows.N, rows.Sel
	return s.sorter.add(&s.row, rows)
}

// feedSorted gives sorted aggregates their rows in order.
func (g *aggGroups) feedSorted(op *aggOp) error {
	for k, a := range g.node.aggs {
		s := &g.states[k]
		if s.sorter == nil {
			continue
		}
		if err := s.sorter.finish(); err != nil {
			return err
		}
		if err := s.feed(op, a); err != nil {
			return err
		}
		s.sorter.reset()
	}
	return nil
}

func (s *aggStates) feed(op *aggOp, a *aggregate) error {
	args := op.datums(a.n)
	prev := make([]types.Datum, a.n)
	prevGroup := int64(-1)
	for {
		b, err := s.sorter.next(maxBatch)
		if err != nil || b == nil {
			return err
		}
		if err := op.rt.canceled(); err != nil {
			return err
		}
	next:
		for i := range b.N {
			group := int64(b.Cols[0].W[i])
			for c := range args {
				if args[c] = b.Cols[c+1].Datum(i); args[c].Null && a.agg.Strict {
					continue next
				}
			}
			if a.distinct != nil {
				if group == prevGroup && sameDatums(a.distinct, prev, args) {
					continue
				}
				prevGroup = group
				for c := range args {
					prev[c] = args[c].Clone()
				}
			}
			if err := s.states[group].Step(op.rt.fc, args); err != nil {
				return err
			}
		}
	}
}

func sameDatums(keys []keyInfo, a, b []types.Datum) bool {
	for k := range keys {
		if a[k].Null != b[k].Null || !a[k].Null && !keys[k].equalDatums(a[k], b[k]) {
			return false
		}
	}
	return true
}

// results puts the result rows of n groups from group at on into op.out.
func (g *aggGroups) results(op *aggOp, at, n int) error {
	out := &op.out
	for k := range g.node.keyCols {
		v := &out.Cols[k]
		for i := range n {
			v.Null[i] = true
		}
	}
	g.refs = g.refs[:0]
	for i := range n {
		g.refs = append(g.refs, int32(at+i))
	}
	for c, k := range g.set.keys {
		g.table.store.gather(&out.Cols[k], c, g.refs)
	}
	first := len(g.node.keyCols)
	for k, a := range g.node.aggs {
		v := &out.Cols[first+k]
		for i := range n {
			d, err := g.result(op, k, a, at+i)
			if err != nil {
				return err
			}
			v.Set(i, d)
		}
	}
	first += len(g.node.aggs)
	for k, refs := range g.node.grouping {
		v := &out.Cols[first+k]
		mask := g.mask(refs)
		for i := range n {
			v.W[i], v.Null[i] = mask, false
		}
	}
	return nil
}

// mask has a bit for each argument of GROUPING(), the last one lowest: 1 where the set leaves it out.
func (g *aggGroups) mask(refs []int) uint64 {
	m := uint64(0)
	for _, r := range refs {
		m <<= 1
		absent := uint64(1)
		for _, k := range g.set.keys {
			if k == r {
				absent = 0
			}
		}
		m |= absent
	}
	return m
}

func (g *aggGroups) result(op *aggOp, k int, a *aggregate, group int) (types.Datum, error) {
	s := &g.states[k]
	if op.n.partial {
		return op.rt.shared.keepState(s, a, group), nil
	}
	if a.flat() {
		w := a.agg.Flat.Words
		return a.agg.Flat.Final(s.words[group*w : group*w+w])
	}
	return s.states[group].Final(op.rt.fc)
}

// partialState is what a worker's aggregate hands to the one that combines.
type partialState struct {
	words []uint64
	state fn.AggState
}

// combine takes rows of partial states.
func (op *aggOp) combine(g *aggGroups, b *types.Batch, rows types.Rows, numbers []uint32) error {
	first := len(op.n.keyCols)
	for k, a := range op.n.aggs {
		s := &g.states[k]
		v := &b.Cols[first+k]
		for j := range rows.Len() {
			group := 0
			if numbers != nil {
				group = int(numbers[j])
			}
			p := op.rt.takeState(v.W[rows.At(j)])
			var err error
			if a.flat() {
				w := a.agg.Flat.Words
				err = a.agg.Flat.Combine(s.words[group*w:group*w+w], p.words)
			} else {
				err = s.states[group].Combine(op.rt.fc, p.state)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// nextSorted aggregates sorted input group by group.
func (op *aggOp) nextSorted(want int) (*types.Batch, error) {
	g := op.groups[0]
	for {
		// All groups but the last are complete; at the end it is, too.
		if done := op.complete(); done > op.at {
			n := min(done-op.at, want, maxBatch)
			if op.out.Cols == nil || chunkCap(&op.out) < n {
				op.out = *newChunk(op.n.rowCols, max(n, 64))
			}
			if err := g.results(op, op.at, n); err != nil {
				return nil, err
			}
			op.out.N, op.out.Sel = n, nil
			op.at += n
			return &op.out, nil
		}
		if op.ended {
			return nil, nil
		}
		if err := op.moreSorted(want); err != nil {
			return nil, err
		}
	}
}

// complete is how many of the groups at hand are complete.
func (op *aggOp) complete() int {
	g := op.groups[0]
	if op.ended {
		return g.n
	}
	return max(g.n-1, 0)
}

// moreSorted drops the groups that were given and reads on.
func (op *aggOp) moreSorted(room int) error {
	g := op.groups[0]
	if g.n > 1 {
		g.keepLast()
	}
	op.at = 0
	if op.pending == nil {
		want := maxBatch
		if op.n.volatile {
			want = room
		}
		b, err := op.child.next(want)
		if err != nil {
			return err
		}
		if b == nil {
			op.ended = true
			return g.feedSorted(op)
		}
		op.pending, op.pendAt = b, 0
	}
	b := op.pending
	if err := op.rt.canceled(); err != nil {
		return err
	}
	op.f.in[0] = b
	op.f.begin()
	rows := b.Rows()
	from := op.pendAt
	numbers, err := op.runs(g, b, rows)
	if err != nil {
		return err
	}
	if from < op.pendAt {
		if err := op.step(g, b, subRows(rows, from, op.pendAt), numbers); err != nil {
			return err
		}
	}
	if op.pendAt == rows.Len() {
		op.pending = nil
	} else {
		// A sorted aggregate: the group has ended.
		return op.endOrdered(g, b, rows)
	}
	return nil
}

// runs numbers the groups of the pending rows. Where an aggregate sorts its rows it stops after one group.
func (op *aggOp) runs(g *aggGroups, b *types.Batch, rows types.Rows) ([]uint32, error) {
	vecs := op.keyVecs[:0]
	for _, k := range g.set.keys {
		vecs = append(vecs, &b.Cols[op.n.keyCols[k]])
	}
	numbers := op.number[:0]
	for ; op.pendAt < rows.Len(); op.pendAt++ {
		i := rows.At(op.pendAt)
		if g.n == 0 || !g.table.same(vecs, i, g.n-1) {
			if op.n.ordered && g.n > 0 {
				break
			}
			g.table.insert(vecs, i, 0)
			if err := g.newGroup(op, b, types.Rows{N: b.N, Sel: op.f.one(i)}); err != nil {
				return nil, err
			}
		}
		numbers = append(numbers, uint32(g.n-1))
	}
	op.number = numbers
	return numbers, nil
}

// endOrdered completes the group at hand and begins the next with the first pending row.
func (op *aggOp) endOrdered(g *aggGroups, b *types.Batch, rows types.Rows) error {
	if err := g.feedSorted(op); err != nil {
		return err
	}
	i := rows.At(op.pendAt)
	vecs := op.keyVecs[:0]
	for _, k := range g.set.keys {
		vecs = append(vecs, &b.Cols[op.n.keyCols[k]])
	}
	g.table.insert(vecs, i, 0)
	return g.newGroup(op, b, types.Rows{N: b.N, Sel: op.f.one(i)})
}

// keepLast makes the last group the only one.
func (g *aggGroups) keepLast() {
	last := g.n - 1
	keys := make([]types.Datum, len(g.set.keys))
	for c := range keys {
		keys[c] = g.table.store.datum(last, c).Clone()
	}
	g.table.reset()
	g.table.store.addRow(keys)
	g.table.table.add(0)
	for k, a := range g.node.aggs {
		s := &g.states[k]
		if a.flat() {
			w := a.agg.Flat.Words
			copy(s.words, s.words[last*w:last*w+w])
			s.words = s.words[:w]
			continue
		}
		s.states[0] = s.states[last]
		clear(s.states[1:])
		s.states = s.states[:1]
	}
	g.n = 1
}
