package exec

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// joinNode is what all joins have.
type joinNode struct {
	nodeInfo
	kind         analyze.JoinKind
	outer, inner node
	unique       bool
	on           *expr // nil: none
	onSpec       *frameSpec
	proj         *projection
	// Columns that the condition, and filter and targets, read of each side.
	needOuter, needInner     []int
	needOnOuter, needOnInner []int
}

// join compiles both inputs. setParams are given by the join itself.
func (c *compiler) join(j *joinNode, outer, inner plan.Node, own []int) error {
	var err error
	if j.outer, err = c.child(&j.nodeInfo, outer); err != nil {
		return err
	}
	saved := c.depends
	c.depends = &paramSet{}
	j.inner, err = c.child(&j.nodeInfo, inner)
	depends := c.depends
	c.depends = saved
	if err != nil {
		return err
	}
	depends.remove(own...)
	c.depends.add(depends.ids...)
	return nil
}

// joinConditions compiles the join condition, the filter and the targets.
func (c *compiler) joinConditions(j *joinNode, on []analyze.Expr) error {
	oc, ic := j.outer.info().cols, j.inner.info().cols
	om, im := newIdentity(len(oc)), newIdentity(len(ic))
	s := newScope(om, im)
	j.onSpec = s.spec
	err := c.in(s, func() (err error) {
		j.on, err = c.conjunction(on)
		return err
	})
	if err != nil {
		return err
	}
	j.needOnOuter, j.needOnInner = usedColumns(om), usedColumns(im)
	b := j.plan.Common()
	targets := b.Targets
	if targets == nil {
		targets = bothSides(j.kind, oc, ic)
	}
	om, im = newIdentity(len(oc)), newIdentity(len(ic))
	if j.proj, err = c.compileProjection(newScope(om, im), b.Filter, targets, nil); err != nil {
		return err
	}
	j.needOuter, j.needInner = usedColumns(om), usedColumns(im)
	j.cols = j.proj.cols
	j.volatile = j.volatile || s.volatile || j.proj.volatile
	return nil
}

func usedColumns(m *identity) []int {
	var out []int
	for i, u := range m.used {
		if u {
			out = append(out, i)
		}
	}
	return out
}

// bothSides are all columns of both inputs; of a join whose inner side only decides, the outer's.
func bothSides(kind analyze.JoinKind, oc, ic []vecSpec) []analyze.Expr {
	var out []analyze.Expr
	for i, v := range oc {
		out = append(out, &plan.Col{Typed: analyze.Typed{Typ: v.typ, Mod: -1, Loc: -1}, Index: i})
	}
	if kind == analyze.JoinSemi || kind == analyze.JoinAnti {
		return out
	}
	for i, v := range ic {
		out = append(out, &plan.Col{Typed: analyze.Typed{Typ: v.typ, Mod: -1, Loc: -1}, Input: 1, Index: i})
	}
	return out
}

// jointRows are pairs of an outer and an inner row being collected: row k of both batches is a pair.
type jointRows struct {
	n            *joinNode
	outer, inner types.Batch
	room, k      int
	copyOuter    bool
}

// reset makes room for n pairs.
func (j *jointRows) reset(n int) {
	j.k = 0
	if n > j.room {
		j.room = n
		j.outer = jointSide(j.n.outer.info().cols, j.n.needOuter, n)
		j.inner = jointSide(j.n.inner.info().cols, j.n.needInner, n)
	}
	for _, c := range j.n.needInner {
		j.inner.Cols[c].Reset()
	}
	if j.copyOuter {
		for _, c := range j.n.needOuter {
			j.outer.Cols[c].Reset()
		}
	}
}

func jointSide(cols []vecSpec, need []int, n int) types.Batch {
	b := types.Batch{Cols: make([]types.Vector, len(cols))}
	for _, c := range need {
		b.Cols[c] = types.NewVectorClass(cols[c].typ, cols[c].class, n)
	}
	return b
}

// add appends the pair of row i of o and row r of in; a nil side is all nulls. Bytes of the inner row are copied, those
// of the outer one only with copyOuter.
func (j *jointRows) add(o *types.Batch, i int, in *types.Batch, r int) {
	for _, c := range j.n.needOuter {
		v := &j.outer.Cols[c]
		switch {
		case o == nil:
			v.Null[j.k] = true
		case j.copyOuter:
			v.SetCopy(j.k, o.Cols[c].Datum(i))
		default:
			v.Set(j.k, o.Cols[c].Datum(i))
		}
	}
	for _, c := range j.n.needInner {
		v := &j.inner.Cols[c]
		if in == nil {
			v.Null[j.k] = true
		} else {
			v.SetCopy(j.k, in.Cols[c].Datum(r))
		}
	}
	j.k++
}

// start has the projector take the pairs.
func (j *jointRows) start(pr *projector) error {
	j.outer.N, j.inner.N = j.k, j.k
	return pr.start(&j.outer, &j.inner)
}

// nestLoopNode is a NestLoop.
type nestLoopNode struct {
	joinNode
	spec   *frameSpec // of the parameters
	params []nestParam
}

type nestParam struct {
	id    int
	value *expr
}

func (c *compiler) nestLoop(n *plan.NestLoop, info nodeInfo) (node, error) {
	j := &nestLoopNode{joinNode: joinNode{nodeInfo: info, kind: n.Kind, unique: n.InnerUnique}}
	var own []int
	for _, p := range n.Params {
		own = append(own, p.ID)
	}
	if err := c.join(&j.joinNode, n.Outer, n.Inner, own); err != nil {
		return nil, err
	}
	s := newScope(newIdentity(len(j.outer.info().cols)))
	j.spec = s.spec
	err := c.in(s, func() error {
		for _, p := range n.Params {
			x, err := c.expr(p.Value)
			if err != nil {
				return err
			}
			j.params = append(j.params, nestParam{p.ID, x})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return j, c.joinConditions(&j.joinNode, n.On)
}

func (n *nestLoopNode) build(rt *runtime) operator {
	op := &nestLoopOp{
		n: n, rt: rt, outer: rt.build(n.outer), inner: rt.build(n.inner),
		pr: newProjector(rt, n.proj), on: newFrame(rt, n.onSpec), f: newFrame(rt, n.spec),
	}
	op.joint.n = &n.joinNode
	op.constRow = constColumns(n.outer.info().cols, n.needOnOuter)
	return op
}

// constColumns is a batch of Const vectors for one row.
func constColumns(cols []vecSpec, need []int) types.Batch {
	b := jointSide(cols, need, 1)
	for _, c := range need {
		b.Cols[c].Const = true
	}
	return b
}

type nestLoopOp struct {
	n            *nestLoopNode
	rt           *runtime
	outer, inner operator
	pr           *projector
	on, f        *frame
	joint        jointRows
	constRow     types.Batch
	sel          []int32
	single       [1]int32

	out     *types.Batch // the outer batch, at row at
	at      int
	row     int // position of the outer row at hand
	have    bool
	matched bool
	tried   int
	in      *types.Batch // the inner batch, its rows that match from inAt on
	inRows  types.Rows
	inAt    int
	ended   bool
}

func (op *nestLoopOp) open() error {
	op.out, op.in, op.have, op.ended = nil, nil, false, false
	op.pr.reset()
	return op.outer.open()
}

func (op *nestLoopOp) next(max int) (*types.Batch, error) {
	for tried := 0; ; tried++ {
		b, err := op.pr.emit(max)
		if b != nil || err != nil {
			return b, err
		}
		if op.ended {
			op.noteRemoved()
			return nil, nil
		}
		if tried > 0 {
			if err := op.rt.canceled(); err != nil {
				return nil, err
			}
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

func (op *nestLoopOp) noteRemoved() {
	if st := op.rt.nodeStats(&op.n.nodeInfo); st != nil {
		st.RemovedByFilter += op.pr.removed
		op.pr.removed = 0
	}
}

// collect gathers at most want pairs, of one outer batch.
func (op *nestLoopOp) collect(want int) error {
	op.joint.reset(want)
	for op.joint.k < want {
		if !op.have {
			if op.out == nil || op.at == op.out.Len() {
				if op.joint.k > 0 {
					return nil // The pairs refer to this outer batch.
				}
				if err := op.nextOuter(want); err != nil || op.ended {
					return err
				}
			}
			if err := op.startRow(); err != nil {
				return err
			}
		}
		if err := op.pairs(want); err != nil {
			return err
		}
	}
	return nil
}

func (op *nestLoopOp) nextOuter(want int) error {
	b, err := op.outer.next(want)
	if err != nil {
		return err
	}
	op.out, op.at = b, 0
	op.ended = b == nil
	return op.rt.canceled()
}

// startRow begins the inner side for the next outer row.
func (op *nestLoopOp) startRow() error {
	op.row = op.out.Rows().At(op.at)
	op.at++
	op.have, op.matched, op.in, op.tried = true, false, nil, 0
	if len(op.n.params) > 0 {
		op.f.in[0] = op.out
		op.f.begin()
		op.single[0] = int32(op.row)
		rows := types.Rows{N: op.out.N, Sel: op.single[:]}
		for _, p := range op.n.params {
			v, err := p.value.eval(op.f, rows)
			if err != nil {
				return err
			}
			op.rt.setParam(p.id, v.Datum(op.row))
		}
	}
	if op.n.on != nil {
		for _, c := range op.n.needOnOuter {
			op.constRow.Cols[c].Set(0, op.out.Cols[c].Datum(op.row))
		}
	}
	return op.inner.open()
}

// pairs adds the outer row's next pairs, until there is no room or no inner row.
func (op *nestLoopOp) pairs(want int) error {
	for op.joint.k < want {
		if op.in == nil {
			ok, err := op.nextInner(want - op.joint.k)
			if err != nil {
				return err
			}
			if !ok {
				op.have = false
				if !op.matched && (op.n.kind == analyze.JoinLeft || op.n.kind == analyze.JoinAnti) {
					op.joint.add(op.out, op.row, nil, 0)
				}
				return nil
			}
			if op.inRows.Len() == 0 {
				op.in = nil
				continue
			}
			op.matched = true
			if op.n.kind == analyze.JoinAnti {
				op.have = false
				return nil
			}
		}
		op.joint.add(op.out, op.row, op.in, op.inRows.At(op.inAt))
		op.inAt++
		if op.n.kind == analyze.JoinSemi || op.n.unique {
			op.have = false
			return nil
		}
		if op.inAt == op.inRows.Len() {
			op.in = nil
		}
	}
	return nil
}

// nextInner pulls inner rows and applies the join condition.
func (op *nestLoopOp) nextInner(room int) (bool, error) {
	switch {
	case op.n.on == nil && (op.n.kind == analyze.JoinSemi || op.n.kind == analyze.JoinAnti || op.n.unique):
		room = 1
	case op.n.on != nil:
		room = min(maxBatch, room<<min(2*op.tried, 10))
	}
	op.tried++
	b, err := op.inner.next(room)
	if err != nil || b == nil {
		return false, err
	}
	op.in, op.inAt, op.inRows = b, 0, b.Rows()
	if op.n.on == nil {
		return true, nil
	}
	if err := op.rt.canceled(); err != nil {
		return false, err
	}
	op.on.in[0], op.on.in[1] = &op.constRow, b
	op.on.begin()
	sel, err := op.n.on.selectRows(op.on, b.Rows(), op.sel[:0])
	if err != nil {
		return false, err
	}
	if st := op.rt.nodeStats(&op.n.nodeInfo); st != nil {
		st.RemovedByJoin += int64(op.inRows.Len() - len(sel))
	}
	op.sel, op.inRows.Sel = sel, sel
	return true, nil
}

func (op *nestLoopOp) close() {
	op.outer.close()
	op.inner.close()
}
