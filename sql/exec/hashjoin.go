package exec

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// hashJoinNode is a HashJoin. Both sides' keys are computed as further columns behind their rows.
type hashJoinNode struct {
	joinNode
	outerSpec, innerSpec *frameSpec
	outerKeys, innerKeys []*expr
	okeys, ikeys         []keyInfo
	equal                []*callSite // where the two sides' types differ in more than width
	equalSpec            *frameSpec
	innerCols            []vecSpec // what is kept of the inner side: its columns, then the keys
	outerCols            []vecSpec
	keepInner, keepOuter bool // unmatched rows are wanted
}

func (c *compiler) hashJoin(n *plan.HashJoin, info nodeInfo) (node, error) {
	j := &hashJoinNode{joinNode: joinNode{nodeInfo: info, kind: n.Kind, unique: n.InnerUnique}}
	if err := c.join(&j.joinNode, n.Outer, n.Inner, nil); err != nil {
		return nil, err
	}
	oc, ic := j.outer.info().cols, j.inner.info().cols
	var err error
	if j.outerKeys, j.outerSpec, err = c.sideKeys(n.OuterKeys, oc); err != nil {
		return nil, err
	}
	if j.innerKeys, j.innerSpec, err = c.sideKeys(n.InnerKeys, ic); err != nil {
		return nil, err
	}
	s := newScope()
	j.equalSpec = s.spec
	err = c.in(s, func() error { return c.hashKeys(j, n.EqFuncs) })
	if err != nil {
		return nil, err
	}
	j.innerCols = append([]vecSpec(nil), ic...)
	j.outerCols = append([]vecSpec(nil), oc...)
	for i := range j.innerKeys {
		j.innerCols = append(j.innerCols, vecSpec{j.innerKeys[i].typ, j.innerKeys[i].class})
		j.outerCols = append(j.outerCols, vecSpec{j.outerKeys[i].typ, j.outerKeys[i].class})
	}
	j.keepInner = n.Kind == analyze.JoinRight || n.Kind == analyze.JoinFull
	j.keepOuter = n.Kind == analyze.JoinLeft || n.Kind == analyze.JoinFull || n.Kind == analyze.JoinAnti
	return j, c.joinConditions(&j.joinNode, n.On)
}

func (c *compiler) sideKeys(keys []analyze.Expr, cols []vecSpec) ([]*expr, *frameSpec, error) {
	s := newScope(newIdentity(len(cols)))
	var out []*expr
	err := c.in(s, func() (err error) {
		out, err = c.exprs(keys)
		return err
	})
	return out, s.spec, err
}

func (c *compiler) hashKeys(j *hashJoinNode, eqFuncs []types.OID) error {
	j.equal = make([]*callSite, len(j.outerKeys))
	for i := range j.outerKeys {
		o, in := j.outerKeys[i], j.innerKeys[i]
		j.okeys = append(j.okeys, c.key(o.typ, o.coll))
		j.ikeys = append(j.ikeys, c.key(in.typ, in.coll))
		if j.okeys[i].kind == j.ikeys[i].kind && (j.okeys[i].kind != keyTyped || o.typ == in.typ) {
			continue
		}
		if i >= len(eqFuncs) || eqFuncs[i] == 0 {
			continue
		}
		f, err := c.function(eqFuncs[i])
		if err != nil {
			return err
		}
		if j.equal[i], err = c.site(f, o.coll, types.Bool, o.typ, in.typ); err != nil {
			return err
		}
	}
	return nil
}

func (n *hashJoinNode) build(rt *runtime) operator {
	op := &hashJoinOp{
		n: n, rt: rt, outer: rt.build(n.outer), inner: rt.build(n.inner),
		pr: newProjector(rt, n.proj), on: newFrame(rt, n.onSpec),
		of: newFrame(rt, n.outerSpec), inf: newFrame(rt, n.innerSpec), ef: newFrame(rt, n.equalSpec),
		store: newRowStore(n.innerCols),
	}
	op.okeys = make([]*types.Vector, len(n.okeys))
	op.side.Cols = make([]types.Vector, len(n.innerCols))
	return op
}

type hashJoinOp struct {
	freshness
	n            *hashJoinNode
	rt           *runtime
	outer, inner operator
	pr           *projector
	on           *frame // the join condition over candidate pairs
	of, inf, ef  *frame

	store   *rowStore // inner rows with keys, those with null keys too if unmatched rows are wanted
	table   hashTable
	matched []bool // of inner rows
	parts   *joinParts
	task    int  // of parts, -1: all in memory
	loaded  bool // the present table is complete

	out    *types.Batch // the outer batch being probed
	okeys  []*types.Vector
	hashes []uint64
	at     int   // its next row
	chain  int32 // 1 + the next candidate of the row before at, if it is not done
	found  bool  // that row has a match

	li, ri   []int32 // pairs
	dup      bool    // an outer row is in several pairs
	lo, ro   types.Batch
	onSel    []int32
	ok       []bool
	hit      bool
	li2, ri2 []int32
	pairRoom int
	spread   []types.Vector
	nulls    []types.Vector
	nullSide types.Batch
	side     types.Batch

	unmatched int // next inner row to look at for unmatched ones; -1: not yet
	ended     bool
	reader    *tempReader
}

func (op *hashJoinOp) open() error {
	op.pr.reset()
	op.out, op.chain, op.unmatched, op.ended = nil, 0, -1, false
	op.task = -1
	keep := op.holds(op.rt, op.n.inner.info().depends) && op.parts == nil
	if !keep {
		op.forget()
		op.dropParts()
		op.loaded = false
	} else {
		clear(op.matched)
	}
	return op.outer.open()
}

// load builds the hash table of the inner side. It is put off until an outer row is known to exist, unless
// inner rows are wanted anyway.
func (op *hashJoinOp) load() error {
	op.loaded = true
	op.store.reset()
	op.table.reset()
	op.record(op.rt, op.n.inner.info().depends)
	epoch := op.epoch
	op.forget()
	if err := op.inner.open(); err != nil {
		return err
	}
	limit := op.rt.hashMem()
	for {
		b, err := op.inner.next(maxBatch)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := op.rt.ctx.Err(); err != nil {
			return err
		}
		in, err := op.withKeys(op.inf, op.n.innerKeys, b)
		if err != nil {
			return err
		}
		rows := op.innerRows(in)
		if op.parts != nil {
			if err := op.parts.add(sideInner, in, rows, op.n.ikeys); err != nil {
				return err
			}
			continue
		}
		op.store.add(in, rows)
		// A row takes 8 bytes in the table besides.
		if op.store.memory()+8*int64(op.store.n) > limit && op.rt.spillable() {
			if err := op.split(); err != nil {
				return err
			}
		}
	}
	if op.parts == nil {
		op.index()
		op.epoch = epoch
	} else if err := op.parts.flush(sideInner); err != nil {
		return err
	}
	op.note()
	return nil
}

// withKeys is b with the key columns behind its own.
func (op *hashJoinOp) withKeys(f *frame, keys []*expr, b *types.Batch) (*types.Batch, error) {
	f.in[0] = b
	f.begin()
	op.side.N, op.side.Sel = b.N, b.Sel
	op.side.Cols = append(op.side.Cols[:0], b.Cols...)
	for _, k := range keys {
		v, err := k.eval(f, b.Rows())
		if err != nil {
			return nil, err
		}
		if v.Const {
			w := types.NewVectorClass(k.typ, k.class, b.N)
			scatter(&w, v, b.Rows())
			v = &w
		}
		op.side.Cols = append(op.side.Cols, *v)
	}
	return &op.side, nil
}

// innerRows leaves out rows with a null key, which match nothing, unless unmatched rows are wanted.
func (op *hashJoinOp) innerRows(b *types.Batch) types.Rows {
	rows := b.Rows()
	if op.n.keepInner {
		return rows
	}
	keys := b.Cols[len(b.Cols)-len(op.n.ikeys):]
	if op.onSel == nil {
		op.onSel = noRows()
	}
	op.onSel = op.onSel[:0]
	for j := range rows.Len() {
		i := rows.At(j)
		null := false
		for k := range keys {
			at := i
			if keys[k].Const {
				at = 0
			}
			null = null || keys[k].Null[at]
		}
		if !null {
			op.onSel = append(op.onSel, int32(i))
		}
	}
	if len(op.onSel) == rows.Len() {
		return rows
	}
	return types.Rows{N: b.N, Sel: op.onSel}
}

// index enters the store's rows into the hash table.
func (op *hashJoinOp) index() {
	op.table.reset()
	if n := op.store.n; n > len(op.table.heads) {
		size := 16
		for size < n {
			size *= 2
		}
		op.table.grow(size)
	}
	first := len(op.n.innerCols) - len(op.n.ikeys)
	cols := make([]*types.Vector, len(op.n.ikeys))
	if len(op.hashes) < chunkRows {
		op.hashes = make([]uint64, chunkRows)
	}
	for _, chunk := range op.store.chunks {
		if chunk.N == 0 {
			continue
		}
		for k := range cols {
			cols[k] = &chunk.Cols[first+k]
		}
		hashKeys(op.n.ikeys, cols, types.Rows{N: chunk.N}, op.hashes)
		for i := range chunk.N {
			if anyNull(cols, i) {
				op.table.skip()
			} else {
				op.table.add(op.hashes[i])
			}
		}
	}
	if op.n.keepInner {
		if cap(op.matched) < op.store.n {
			op.matched = make([]bool, op.store.n)
		}
		op.matched = op.matched[:op.store.n]
		clear(op.matched)
	}
}

func (op *hashJoinOp) note() {
	st := op.rt.nodeStats(&op.n.nodeInfo)
	if st == nil {
		return
	}
	st.HashBatches, st.HashBuckets = 1, len(op.table.heads)
	st.SpaceBytes = max(st.SpaceBytes, op.store.memory()+op.table.memory())
	if op.parts != nil {
		st.HashBatches = len(op.parts.tasks)
	}
}

func (op *hashJoinOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.pr.emit(max)
		if b != nil || err != nil {
			return b, err
		}
		if op.ended {
			return nil, nil
		}
		if op.unmatched >= 0 {
			if err := op.nextUnmatched(); err != nil {
				return nil, err
			}
			continue
		}
		if op.out == nil {
			ok, err := op.nextOuter(max)
			if err != nil {
				return nil, err
			}
			if !ok {
				if err := op.endOuter(); err != nil {
					return nil, err
				}
				continue
			}
		}
		if err := op.probe(maxBatch); err != nil {
			return nil, err
		}
	}
}

// nextOuter gets the next outer batch with its keys and hashes; false at the end of the present part.
func (op *hashJoinOp) nextOuter(max int) (bool, error) {
	if err := op.rt.ctx.Err(); err != nil {
		return false, err
	}
	if op.n.keepInner && !op.loaded {
		if err := op.load(); err != nil {
			return false, err
		}
	}
	if op.task >= 0 {
		b, err := op.reader.read(maxBatch)
		if err != nil || b == nil {
			return false, err
		}
		op.take(b)
		return true, nil
	}
	want := maxBatch
	if op.n.volatile {
		want = max
	}
	for {
		b, err := op.outer.next(want)
		if err != nil || b == nil {
			return false, err
		}
		if !op.loaded {
			if err := op.load(); err != nil {
				return false, err
			}
		}
		with, err := op.withKeys(op.of, op.n.outerKeys, b)
		if err != nil {
			return false, err
		}
		if op.parts == nil {
			if op.store.n == 0 && !op.n.keepOuter {
				return false, nil
			}
			op.take(with)
			return true, nil
		}
		if err := op.parts.add(sideOuter, with, with.Rows(), op.n.okeys); err != nil {
			return false, err
		}
	}
}

// take makes b, whose last columns are its keys, the batch to probe with.
func (op *hashJoinOp) take(b *types.Batch) {
	op.out, op.at, op.chain = b, 0, 0
	first := len(op.n.outerCols) - len(op.n.okeys)
	for k := range op.okeys {
		op.okeys[k] = &b.Cols[first+k]
	}
	if len(op.hashes) < b.N {
		op.hashes = make([]uint64, max(b.N, chunkRows))
	}
	hashKeys(op.n.okeys, op.okeys, b.Rows(), op.hashes)
}

// endOuter goes on to unmatched inner rows, to the next part, or ends.
func (op *hashJoinOp) endOuter() error {
	if op.n.keepInner && (op.parts == nil || op.task >= 0) {
		op.unmatched = 0
		return nil
	}
	return op.nextTask()
}

func (op *hashJoinOp) equalKeys(i, r int) (bool, error) {
	chunk, at := op.store.chunks[r>>chunkShift], r&chunkMask
	first := len(op.n.innerCols) - len(op.n.ikeys)
	for k, v := range op.okeys {
		w := &chunk.Cols[first+k]
		j := i
		if v.Const {
			j = 0
		}
		if site := op.n.equal[k]; site != nil {
			d, err := site.value(op.ef, v.Datum(j), w.Datum(at))
			if err != nil {
				return false, err
			}
			if d.Null || d.W == 0 {
				return false, nil
			}
			continue
		}
		if !op.n.okeys[k].equal(v, j, w, at) {
			return false, nil
		}
	}
	return true, nil
}

// probe collects pairs of the outer batch and starts the projector on them.
func (op *hashJoinOp) probe(room int) error {
	op.li, op.ri, op.dup = op.li[:0], op.ri[:0], false
	rows := op.out.Rows()
	n := rows.Len()
	first, goingOn := op.at, op.chain > 0
	if goingOn {
		first--
	}
	for len(op.li) < room {
		var i int
		r := op.chain
		if r > 0 {
			i = rows.At(op.at - 1)
		} else {
			if op.at == n {
				break
			}
			i = rows.At(op.at)
			op.at++
			op.found = false
			if !anyNull(op.okeys, i) {
				r = op.table.first(op.hashes[i])
			}
		}
		if err := op.probeRow(i, r, room); err != nil {
			return err
		}
	}
	last := op.at == n && op.chain == 0
	if op.n.on != nil {
		if err := op.condition(first, goingOn); err != nil {
			return err
		}
	}
	if err := op.deliver(); err != nil {
		return err
	}
	if last {
		// The projector may still read the batch: the next one is asked for only when it has emitted everything.
		op.out = nil
	}
	return nil
}

// firstOnly tells whether one match is enough for an outer row.
func (op *hashJoinOp) firstOnly() bool {
	return op.n.on == nil && (op.n.unique || op.n.kind == analyze.JoinSemi || op.n.kind == analyze.JoinAnti)
}

// probeRow adds the pairs of outer row i with candidates from r on, while there is room.
func (op *hashJoinOp) probeRow(i int, r int32, room int) error {
	start := len(op.li)
	op.chain = 0
	for r > 0 {
		eq, err := op.equalKeys(i, int(r-1))
		if err != nil {
			return err
		}
		if eq {
			op.found = true
			if len(op.li) > start {
				op.dup = true
			}
			op.li, op.ri = append(op.li, int32(i)), append(op.ri, r-1)
			if op.firstOnly() {
				break
			}
		}
		r = op.table.after(r, op.hashes[i])
		if len(op.li) >= room && r > 0 {
			op.chain = r
			return nil
		}
	}
	if !op.found && op.n.on == nil && op.n.keepOuter {
		op.li, op.ri = append(op.li, int32(i)), append(op.ri, -1)
	}
	return nil
}

// deliver starts the projector on what the kind of join makes of the pairs.
func (op *hashJoinOp) deliver() error {
	switch op.n.kind {
	case analyze.JoinSemi:
		return op.outerRows(op.li, false)
	case analyze.JoinAnti:
		return op.outerRows(op.li, true)
	}
	if op.n.keepInner {
		for _, r := range op.ri {
			if r >= 0 {
				op.matched[r] = true
			}
		}
	}
	if len(op.li) == 0 {
		return nil
	}
	op.gather(&op.lo, &op.ro, op.n.needOuter, op.n.needInner)
	return op.pr.start(&op.lo, &op.ro)
}

// outerRows starts the projector on the outer rows of the pairs, each once; with null set, of those whose pair is
// with no row.
func (op *hashJoinOp) outerRows(li []int32, null bool) error {
	op.onSel = op.onSel[:0]
	for k, i := range li {
		if (op.ri[k] < 0) != null || len(op.onSel) > 0 && op.onSel[len(op.onSel)-1] == i {
			continue
		}
		op.onSel = append(op.onSel, i)
	}
	if len(op.onSel) == 0 {
		return nil
	}
	op.lo.Cols = append(op.lo.Cols[:0], op.out.Cols...)
	op.lo.N, op.lo.Sel = op.out.N, op.onSel
	return op.pr.start(&op.lo, nil)
}

// condition drops pairs for which the join condition is not true and adds, where they are wanted, outer
// rows that have no pair left. first is the number of the first outer row that was probed; of it, if
// going on, candidates were seen before.
func (op *hashJoinOp) condition(first int, goingOn bool) error {
	n := len(op.li)
	if cap(op.ok) < n {
		op.ok = make([]bool, n, max(n, maxBatch))
	}
	op.ok = op.ok[:n]
	clear(op.ok)
	if n > 0 {
		op.gather(&op.lo, &op.ro, op.n.needOnOuter, op.n.needOnInner)
		op.on.in[0], op.on.in[1] = &op.lo, &op.ro
		op.on.begin()
		kept, err := op.n.on.selectRows(op.on, op.lo.Rows(), op.onSel[:0])
		if err != nil {
			return err
		}
		op.onSel = kept
		// Where gather left the outer rows in place a pair is known by its row's position.
		p := 0
		for _, k := range kept {
			if op.dup {
				p = int(k)
			} else {
				for op.li[p] != k {
					p++
				}
			}
			op.ok[p] = true
		}
		if st := op.rt.nodeStats(&op.n.nodeInfo); st != nil {
			st.RemovedByJoin += int64(n - len(kept))
		}
	}
	op.rewrite(first, goingOn)
	return nil
}

// rewrite replaces the pairs by those that are ok, each outer row once where one match is enough.
func (op *hashJoinOp) rewrite(first int, goingOn bool) {
	once := op.n.unique || op.n.kind == analyze.JoinSemi || op.n.kind == analyze.JoinAnti
	outLi, outRi := op.li2[:0], op.ri2[:0]
	rows := op.out.Rows()
	p := 0
	for j := first; j < op.at; j++ {
		i := int32(rows.At(j))
		hit := goingOn && j == first && op.hit
		for ; p < len(op.li) && op.li[p] == i; p++ {
			if op.ok[p] && !(hit && once) {
				outLi, outRi = append(outLi, i), append(outRi, op.ri[p])
			}
			hit = hit || op.ok[p]
		}
		if j == op.at-1 && op.chain != 0 {
			op.hit = hit
			break
		}
		if op.n.keepOuter && !hit {
			outLi, outRi = append(outLi, i), append(outRi, -1)
		}
	}
	op.li, op.li2 = outLi, op.li
	op.ri, op.ri2 = outRi, op.ri
	op.dup = hasDuplicates(op.li)
}

func hasDuplicates(a []int32) bool {
	for i := 1; i < len(a); i++ {
		if a[i] == a[i-1] {
			return true
		}
	}
	return false
}

// gather makes the two sides of the pairs. While no outer row is in two pairs the outer batch is used as it
// is, and the inner columns are put at its rows' positions.
func (op *hashJoinOp) gather(lo, ro *types.Batch, needOuter, needInner []int) {
	if len(lo.Cols) < len(op.out.Cols) {
		lo.Cols = make([]types.Vector, len(op.n.outerCols))
	}
	n := len(op.li)
	positions := op.li
	if !op.dup {
		copy(lo.Cols, op.out.Cols)
		lo.N, lo.Sel = op.out.N, op.li
		n = op.out.N
	} else {
		positions = nil
		op.spreadOuter(lo, needOuter)
		lo.N, lo.Sel = n, nil
	}
	if ro.Cols == nil {
		ro.Cols = make([]types.Vector, len(op.n.inner.info().cols))
		for i, c := range op.n.inner.info().cols {
			ro.Cols[i].Type, ro.Cols[i].Class = c.typ, c.class
		}
	}
	for _, c := range needInner {
		v := &ro.Cols[c]
		if len(v.Null) < n {
			growVector(v, n)
		}
		if positions == nil {
			op.store.gather(v, c, op.ri)
		} else {
			op.store.gatherAt(v, c, op.ri, positions)
		}
	}
	ro.N, ro.Sel = n, lo.Sel
}

// spreadOuter copies the outer columns so that row k is that of pair k.
func (op *hashJoinOp) spreadOuter(lo *types.Batch, need []int) {
	n := len(op.li)
	if op.pairRoom < n || op.spread == nil {
		op.pairRoom = max(n, maxBatch)
		op.spread = make([]types.Vector, len(op.n.outerCols))
	}
	for _, c := range need {
		src, v := &op.out.Cols[c], &op.spread[c]
		v.Type, v.Class = src.Type, src.Class
		if len(v.Null) < op.pairRoom {
			growVector(v, op.pairRoom)
		}
		for k, i := range op.li {
			v.Set(k, src.Datum(int(i)))
		}
		lo.Cols[c] = *v
	}
}

// nextUnmatched starts the projector on inner rows that had no match.
func (op *hashJoinOp) nextUnmatched() error {
	op.li, op.ri = op.li[:0], op.ri[:0]
	for op.unmatched < op.store.n && len(op.ri) < maxBatch {
		if !op.matched[op.unmatched] {
			op.ri = append(op.ri, int32(op.unmatched))
		}
		op.unmatched++
	}
	if len(op.ri) == 0 {
		op.unmatched = -1
		return op.nextTask()
	}
	n := len(op.ri)
	if len(op.nulls) < len(op.n.outerCols) {
		op.nulls = make([]types.Vector, len(op.n.outerCols))
	}
	for _, c := range op.n.needOuter {
		v := &op.nulls[c]
		v.Type, v.Class = op.n.outerCols[c].typ, op.n.outerCols[c].class
		if len(v.Null) < n {
			growVector(v, maxBatch)
		}
		for k := range n {
			v.Null[k] = true
		}
	}
	op.nullSide = types.Batch{N: n, Cols: op.nulls}
	if op.ro.Cols == nil {
		op.ro.Cols = make([]types.Vector, len(op.n.inner.info().cols))
		for i, c := range op.n.inner.info().cols {
			op.ro.Cols[i].Type, op.ro.Cols[i].Class = c.typ, c.class
		}
	}
	for _, c := range op.n.needInner {
		v := &op.ro.Cols[c]
		if len(v.Null) < n {
			growVector(v, n)
		}
		op.store.gather(v, c, op.ri)
	}
	op.ro.N, op.ro.Sel = n, nil
	return op.pr.start(&op.nullSide, &op.ro)
}

func (op *hashJoinOp) close() {
	op.outer.close()
	op.inner.close()
	op.dropParts()
	op.store.reset()
	op.table.reset()
	op.forget()
}
