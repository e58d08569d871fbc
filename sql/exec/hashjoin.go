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
		if err := op.rt.canceled(); err != nil {
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
	if err := op.rt.canceled(); err != nil {
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
