package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// mergeJoinNode is a MergeJoin.
type mergeJoinNode struct {
	joinNode
	outerSpec, innerSpec *frameSpec
	outerKeys, innerKeys []*expr
	keys                 []mergeKey
	keepInner, keepOuter bool
}

// mergeKey is how a key of the two sides is compared, in the order they are sorted.
type mergeKey struct {
	compare    func(a, b types.Datum) int
	desc       bool
	nullsFirst bool
}

func (c *compiler) mergeJoin(n *plan.MergeJoin, info nodeInfo) (node, error) {
	j := &mergeJoinNode{joinNode: joinNode{nodeInfo: info, kind: n.Kind, unique: n.InnerUnique}}
	if err := c.join(&j.joinNode, n.Outer, n.Inner, nil); err != nil {
		return nil, err
	}
	var err error
	if j.outerKeys, j.outerSpec, err = c.sideKeys(n.OuterKeys, j.outer.info().cols); err != nil {
		return nil, err
	}
	if j.innerKeys, j.innerSpec, err = c.sideKeys(n.InnerKeys, j.inner.info().cols); err != nil {
		return nil, err
	}
	for i, k := range n.Keys {
		o, in := j.outerKeys[i], j.innerKeys[i]
		m := mergeKey{desc: k.Desc, nullsFirst: k.NullsFirst}
		switch {
		case o.typ == in.typ:
			m.compare = types.Comparer(o.typ, k.Collation, c.types())
		case keyFamily(o.typ) == types.Int8 && keyFamily(in.typ) == types.Int8:
			m.compare = types.Comparer(types.Int8, 0, nil)
		case keyFamily(o.typ) == types.Text && keyFamily(in.typ) == types.Text:
			m.compare = types.Comparer(types.Text, k.Collation, nil)
		default:
			return nil, pgerr.New(pgerr.FeatureNotSupported, "merge join of %s and %s is not supported",
				c.typeName(o.typ, -1), c.typeName(in.typ, -1))
		}
		j.keys = append(j.keys, m)
	}
	j.keepInner = n.Kind == analyze.JoinRight || n.Kind == analyze.JoinFull
	j.keepOuter = n.Kind == analyze.JoinLeft || n.Kind == analyze.JoinFull || n.Kind == analyze.JoinAnti
	return j, c.joinConditions(&j.joinNode, n.On)
}

func (n *mergeJoinNode) build(rt *runtime) operator {
	op := &mergeJoinOp{
		n: n, rt: rt, pr: newProjector(rt, n.proj), on: newFrame(rt, n.onSpec),
		outer: newMergeSide(rt, rt.build(n.outer), n.outerKeys, n.outerSpec),
		inner: newMergeSide(rt, rt.build(n.inner), n.innerKeys, n.innerSpec),
		group: newRowStore(n.inner.info().cols),
	}
	op.joint.n, op.joint.copyOuter = &n.joinNode, true
	op.constRow = constColumns(n.outer.info().cols, n.needOnOuter)
	return op
}

// mergeSide is a cursor over one sorted input.
type mergeSide struct {
	rt   *runtime
	op   operator
	keys []*expr
	f    *frame
	b    *types.Batch
	vecs []*types.Vector
	j    int // number of the row among those that count
	i    int // its position
}

func newMergeSide(rt *runtime, op operator, keys []*expr, spec *frameSpec) *mergeSide {
	return &mergeSide{rt: rt, op: op, keys: keys, f: newFrame(rt, spec), vecs: make([]*types.Vector, len(keys))}
}

func (s *mergeSide) open() error {
	s.b = nil
	return s.op.open()
}

// advance moves to the next row; false at the end.
func (s *mergeSide) advance(max int) (bool, error) {
	if s.b != nil {
		s.j++
	}
	for s.b == nil || s.j == s.b.Len() {
		b, err := s.op.next(max)
		if err != nil || b == nil {
			s.b = nil
			return false, err
		}
		if err := s.rt.canceled(); err != nil {
			return false, err
		}
		s.b, s.j = b, 0
		s.f.in[0] = b
		s.f.begin()
		for k, e := range s.keys {
			if s.vecs[k], err = e.eval(s.f, b.Rows()); err != nil {
				return false, err
			}
		}
	}
	s.i = s.b.Rows().At(s.j)
	return true, nil
}

func (s *mergeSide) key(k int) types.Datum { return s.vecs[k].Datum(s.i) }

func (s *mergeSide) hasNull() bool { return anyNull(s.vecs, s.i) }

type mergeJoinOp struct {
	n            *mergeJoinNode
	rt           *runtime
	pr           *projector
	on           *frame
	outer, inner *mergeSide
	outerOK      bool // the cursors are on rows
	innerOK      bool
	begun        bool

	group    *rowStore // inner rows with the same key
	groupKey []types.Datum
	groupHit []bool
	inGroup  bool // the outer row's key is the group's

	joint    jointRows
	constRow types.Batch
	sel      []int32
	view     types.Batch
	// The outer row is being paired: with group rows from at on.
	pairing bool
	hit     bool
	at      int
	// leaving is the next group row to look at for unmatched ones, -1 none.
	leaving int
	ended   bool
}

func (op *mergeJoinOp) open() error {
	op.pr.reset()
	op.group.reset()
	op.groupKey = op.groupKey[:0]
	op.begun, op.inGroup, op.pairing, op.ended, op.leaving = false, false, false, false, -1
	if err := op.outer.open(); err != nil {
		return err
	}
	return op.inner.open()
}

func (op *mergeJoinOp) next(max int) (*types.Batch, error) {
	for tried := 0; ; tried++ {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.ended {
			return b, err
		}
		if err := op.collect(op.pr.want(max, tried, op.n.volatile)); err != nil {
			return nil, err
		}
		if op.joint.k > 0 {
			if err := op.joint.start(op.pr); err != nil {
				return nil, err
			}
		}
	}
}

// collect gathers pairs until there are want or the join has ended.
func (op *mergeJoinOp) collect(want int) error {
	op.joint.reset(want)
	if !op.begun {
		op.begun = true
		var err error
		if op.outerOK, err = op.outer.advance(maxBatch); err != nil {
			return err
		}
		if op.innerOK, err = op.inner.advance(maxBatch); err != nil {
			return err
		}
	}
	for op.joint.k < want {
		var err error
		switch {
		case op.pairing:
			err = op.pair(want)
		case op.leaving >= 0:
			op.leave(want)
		case op.inGroup:
			err = op.nextOfGroup()
		case !op.outerOK && !op.innerOK, !op.outerOK && !op.n.keepInner, !op.innerOK && !op.n.keepOuter:
			op.ended = true
			return nil
		default:
			err = op.step()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step compares the two cursors' rows, neither in the group.
func (op *mergeJoinOp) step() error {
	c := 0
	switch {
	case !op.innerOK:
		c = -1
	case !op.outerOK:
		c = 1
	case op.outer.hasNull():
		c = -1
	case op.inner.hasNull():
		c = 1
	default:
		c = op.compare(op.inner.key)
	}
	var err error
	switch {
	case c < 0:
		if op.n.keepOuter {
			op.joint.add(op.outer.b, op.outer.i, nil, 0)
		}
		op.outerOK, err = op.outer.advance(maxBatch)
	case c > 0:
		if op.n.keepInner {
			op.joint.add(nil, 0, op.inner.b, op.inner.i)
		}
		op.innerOK, err = op.inner.advance(maxBatch)
	default:
		err = op.readGroup()
	}
	return err
}

// compare compares the outer row's key with another, neither null.
func (op *mergeJoinOp) compare(key func(k int) types.Datum) int {
	for k := range op.n.keys {
		m := &op.n.keys[k]
		if c := m.compare(op.outer.key(k), key(k)); c != 0 {
			if m.desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// readGroup keeps the inner rows that have the key the outer row has.
func (op *mergeJoinOp) readGroup() error {
	op.group.reset()
	op.groupKey = op.groupKey[:0]
	for k := range op.n.keys {
		op.groupKey = append(op.groupKey, op.inner.key(k).Clone())
	}
	for op.innerOK && !op.inner.hasNull() && op.compare(op.inner.key) == 0 {
		one := [1]int32{int32(op.inner.i)}
		op.group.add(op.inner.b, types.Rows{N: op.inner.b.N, Sel: one[:]})
		var err error
		if op.innerOK, err = op.inner.advance(maxBatch); err != nil {
			return err
		}
	}
	if cap(op.groupHit) < op.group.n {
		op.groupHit = make([]bool, op.group.n)
	}
	op.groupHit = op.groupHit[:op.group.n]
	clear(op.groupHit)
	op.inGroup = true
	op.startPairing()
	return nil
}

func (op *mergeJoinOp) startPairing() {
	op.pairing, op.hit, op.at = true, false, 0
	for _, c := range op.n.needOnOuter {
		op.constRow.Cols[c].Set(0, op.outer.b.Cols[c].Datum(op.outer.i))
	}
}

// nextOfGroup goes on after an outer row of the group: the next one belongs to it or ends it.
func (op *mergeJoinOp) nextOfGroup() error {
	var err error
	if op.outerOK, err = op.outer.advance(maxBatch); err != nil {
		return err
	}
	if op.outerOK && !op.outer.hasNull() && op.compare(func(k int) types.Datum { return op.groupKey[k] }) == 0 {
		op.startPairing()
		return nil
	}
	op.inGroup = false
	if op.n.keepInner {
		op.leaving = 0
	}
	return nil
}

// pair adds pairs of the outer row with the group's rows.
func (op *mergeJoinOp) pair(want int) error {
	for op.at < op.group.n && op.joint.k < want {
		chunk, from := op.group.chunks[op.at>>chunkShift], op.at&chunkMask
		window(&op.view, chunk, from, maxBatch)
		rows := op.view.Rows()
		if op.n.on != nil {
			op.on.in[0], op.on.in[1] = &op.constRow, &op.view
			op.on.begin()
			sel, err := op.n.on.selectRows(op.on, rows, op.sel[:0])
			if err != nil {
				return err
			}
			op.sel, rows.Sel = sel, sel
		}
		base := op.at
		next := op.at + op.view.N
		for j := range rows.Len() {
			r := rows.At(j)
			if op.joint.k == want {
				next = base + r
				break
			}
			op.hit = true
			op.groupHit[base+r] = true
			if op.n.kind == analyze.JoinAnti {
				op.pairing = false
				return nil
			}
			op.joint.add(op.outer.b, op.outer.i, &op.view, r)
			if op.n.kind == analyze.JoinSemi {
				op.pairing = false
				return nil
			}
		}
		op.at = next
	}
	if op.at < op.group.n {
		return nil
	}
	op.pairing = false
	if !op.hit && op.n.keepOuter {
		op.joint.add(op.outer.b, op.outer.i, nil, 0)
	}
	return nil
}

// leave adds the group's rows that matched nothing.
func (op *mergeJoinOp) leave(want int) {
	for op.leaving < op.group.n && op.joint.k < want {
		r := op.leaving
		op.leaving++
		if !op.groupHit[r] {
			op.joint.add(nil, 0, op.group.chunks[r>>chunkShift], r&chunkMask)
		}
	}
	if op.leaving >= op.group.n {
		op.leaving = -1
	}
}

func (op *mergeJoinOp) close() {
	op.outer.op.close()
	op.inner.op.close()
	op.group.reset()
}
