package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// resultNode is a Result.
type resultNode struct {
	nodeInfo
	input   node // nil: one row
	oneTime *expr
	oneSpec *frameSpec
	proj    *projection
}

func (c *compiler) result(n *plan.Result, info nodeInfo) (node, error) {
	r := &resultNode{nodeInfo: info}
	s := newScope()
	err := c.in(s, func() (err error) {
		r.oneTime, err = c.conjunction(n.OneTimeFilter)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.oneSpec = s.spec
	var in []vecSpec
	if n.Input != nil {
		if r.input, err = c.child(&r.nodeInfo, n.Input); err != nil {
			return nil, err
		}
		in = r.input.info().cols
	}
	if n.Input == nil && n.Targets == nil {
		in = []vecSpec{}
	}
	r.volatile = r.volatile || s.volatile
	r.proj, err = c.over(&r.nodeInfo, in)
	return r, err
}

func (n *resultNode) build(rt *runtime) operator {
	op := &resultOp{n: n, pr: newProjector(rt, n.proj), one: newFrame(rt, n.oneSpec)}
	if n.input != nil {
		op.child = rt.build(n.input)
	}
	return op
}

type resultOp struct {
	n     *resultNode
	pr    *projector
	one   *frame
	child operator
	row   types.Batch // without columns
	done  bool
}

func (op *resultOp) open() error {
	op.done = false
	op.pr.reset()
	if op.n.oneTime != nil {
		pass, err := op.n.oneTime.selectRows(op.one, one(), op.one.filterSel[:0])
		if err != nil {
			return err
		}
		op.one.filterSel = pass[:0]
		if op.done = len(pass) == 0; op.done {
			return nil
		}
	}
	if op.child != nil {
		return op.child.open()
	}
	return nil
}

func (op *resultOp) next(max int) (*types.Batch, error) {
	for tried := 0; ; tried++ {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		if op.child == nil {
			op.done = true
			op.row.N = 1
			if err := op.pr.start(&op.row, nil); err != nil {
				return nil, err
			}
			continue
		}
		in, err := op.child.next(op.pr.want(max, tried, op.n.volatile))
		if err != nil {
			return nil, err
		}
		if in == nil {
			op.done = true
			return nil, nil
		}
		if err := op.pr.start(in, nil); err != nil {
			return nil, err
		}
	}
}

func (op *resultOp) close() {
	if op.child != nil {
		op.child.close()
	}
}

// subqueryNode is a SubqueryScan.
type subqueryNode struct {
	nodeInfo
	input node
	proj  *projection
}

func (c *compiler) subqueryScan(n *plan.SubqueryScan, info nodeInfo) (node, error) {
	s := &subqueryNode{nodeInfo: info}
	err := c.inLevel(func() (err error) {
		s.input, err = c.child(&s.nodeInfo, n.Input)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.proj, err = c.over(&s.nodeInfo, s.input.info().cols)
	return s, err
}

func (n *subqueryNode) build(rt *runtime) operator {
	return &filterOp{info: &n.nodeInfo, child: rt.build(n.input), pr: newProjector(rt, n.proj)}
}

// filterOp passes a child's batches through a projector.
type filterOp struct {
	info  *nodeInfo
	child operator
	pr    *projector
	done  bool
}

func (op *filterOp) open() error {
	op.done = false
	op.pr.reset()
	return op.child.open()
}

func (op *filterOp) next(max int) (*types.Batch, error) {
	for tried := 0; ; tried++ {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		in, err := op.child.next(op.pr.want(max, tried, op.info.volatile))
		if err != nil {
			return nil, err
		}
		if in == nil {
			op.done = true
			return nil, nil
		}
		if err := op.pr.start(in, nil); err != nil {
			return nil, err
		}
	}
}

func (op *filterOp) close() { op.child.close() }

// projected adds a node's projection to an operator that gives the rows it is over, unless it changes nothing.
func projected(rt *runtime, info *nodeInfo, op operator, p *projection) operator {
	if p.asIs && p.filter == nil {
		return op
	}
	return &filterOp{info: info, child: op, pr: newProjector(rt, p)}
}

// appendNode is an Append.
type appendNode struct {
	nodeInfo
	children []node
	proj     *projection
}

func (c *compiler) append(n *plan.Append, info nodeInfo) (node, error) {
	a := &appendNode{nodeInfo: info}
	var in []vecSpec
	for _, child := range n.Children {
		k, err := c.child(&a.nodeInfo, child)
		if err != nil {
			return nil, err
		}
		a.children = append(a.children, k)
		if in == nil {
			in = k.info().cols
		}
	}
	var err error
	a.proj, err = c.over(&a.nodeInfo, in)
	return a, err
}

func (n *appendNode) build(rt *runtime) operator {
	op := &appendOp{}
	for _, k := range n.children {
		op.children = append(op.children, rt.build(k))
	}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type appendOp struct {
	children []operator
	at       int
	opened   bool
}

func (op *appendOp) open() error {
	op.at, op.opened = 0, false
	return nil
}

func (op *appendOp) next(max int) (*types.Batch, error) {
	for op.at < len(op.children) {
		k := op.children[op.at]
		if !op.opened {
			if err := k.open(); err != nil {
				return nil, err
			}
			op.opened = true
		}
		b, err := k.next(max)
		if b != nil || err != nil {
			return b, err
		}
		op.at, op.opened = op.at+1, false
	}
	return nil, nil
}

func (op *appendOp) close() {
	for _, k := range op.children {
		k.close()
	}
}

// limitNode is a Limit.
type limitNode struct {
	nodeInfo
	input         node
	spec          *frameSpec
	offset, count *expr
	ties          []keyInfo
	tieCols       []int
	proj          *projection
}

func (c *compiler) limit(n *plan.Limit, info nodeInfo) (node, error) {
	l := &limitNode{nodeInfo: info}
	var err error
	if l.input, err = c.child(&l.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	s := newScope()
	l.spec = s.spec
	err = c.in(s, func() (err error) {
		if n.Offset != nil {
			if l.offset, err = c.expr(n.Offset); err != nil {
				return err
			}
		}
		if n.Count != nil {
			l.count, err = c.expr(n.Count)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	in := l.input.info().cols
	if n.WithTies {
		for _, k := range n.Ties {
			if err := keyColumn(k.Column, in); err != nil {
				return nil, err
			}
			l.ties = append(l.ties, c.key(in[k.Column].typ, 0))
			l.tieCols = append(l.tieCols, k.Column)
		}
	}
	l.proj, err = c.over(&l.nodeInfo, in)
	return l, err
}

func (n *limitNode) build(rt *runtime) operator {
	op := &limitOp{n: n, rt: rt, f: newFrame(rt, n.spec), child: rt.build(n.input)}
	if n.tieCols != nil {
		op.last = newRowStore(n.input.info().cols)
	}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type limitOp struct {
	n     *limitNode
	rt    *runtime
	f     *frame
	child operator
	skip  int64
	left  int64 // -1: no limit
	view  types.Batch
	last  *rowStore // WITH TIES: the last row of the limit
	ended bool
	none  bool
}

func (op *limitOp) open() error {
	var err error
	if op.skip, _, err = op.bound(op.n.offset, pgerr.InvalidRowCountInResultOffsetClause, "OFFSET"); err != nil {
		return err
	}
	var set bool
	if op.left, set, err = op.bound(op.n.count, pgerr.InvalidRowCountInLimitClause, "LIMIT"); err != nil {
		return err
	}
	if !set {
		op.left = -1
	}
	op.ended = false
	op.none = op.left == 0
	return op.child.open()
}

func (op *limitOp) bound(e *expr, code pgerr.Code, what string) (int64, bool, error) {
	if e == nil {
		return 0, false, nil
	}
	d, err := op.f.scalar(e)
	if err != nil || d.Null {
		return 0, false, err
	}
	if d.Int64() < 0 {
		return 0, false, pgerr.New(code, "%s must not be negative", what)
	}
	return d.Int64(), true, nil
}

func (op *limitOp) next(max int) (*types.Batch, error) {
	for !op.ended && !op.none {
		want := int64(max)
		if op.skip > 0 {
			// What is skipped is still made, and no more than that.
			want = min(op.skip, maxBatch)
		} else if op.left >= 0 {
			if op.left == 0 {
				return op.nextTies(max)
			}
			want = min(want, op.left)
		}
		b, err := op.child.next(int(want))
		if err != nil {
			return nil, err
		}
		if b == nil {
			op.ended = true
			break
		}
		n := int64(b.Len())
		if op.skip > 0 {
			op.skip -= n
			continue
		}
		if op.left >= 0 {
			if op.left -= n; op.left == 0 && op.last != nil {
				op.keepLast(b)
			}
		}
		return b, nil
	}
	return nil, nil
}

func (op *limitOp) keepLast(b *types.Batch) {
	op.last.reset()
	rows := b.Rows()
	sel := [1]int32{int32(rows.At(rows.Len() - 1))}
	op.last.add(b, types.Rows{N: b.N, Sel: sel[:]})
}

// nextTies passes the peers of the last row, one at a time so that no more than one that is not a
// peer is made.
func (op *limitOp) nextTies(int) (*types.Batch, error) {
	if op.last == nil || op.ended {
		op.ended = true
		return nil, nil
	}
	b, err := op.child.next(1)
	if err != nil {
		return nil, err
	}
	if b == nil || !sameKeys(op.n.ties, op.n.tieCols, b, b.Rows().At(0), op.last.chunks[0], 0) {
		op.ended = true
		return nil, nil
	}
	return b, nil
}

// sameKeys compares key columns of row i of a and row j of b; nulls are equal.
func sameKeys(keys []keyInfo, cols []int, a *types.Batch, i int, b *types.Batch, j int) bool {
	for k, c := range cols {
		v, w := &a.Cols[c], &b.Cols[c]
		if v.Null[i] || w.Null[j] {
			if v.Null[i] != w.Null[j] {
				return false
			}
			continue
		}
		if !keys[k].equal(v, i, w, j) {
			return false
		}
	}
	return true
}

func (op *limitOp) close() { op.child.close() }

// uniqueNode is a Unique.
type uniqueNode struct {
	nodeInfo
	input node
	keys  []keyInfo
	cols  []int
	proj  *projection
}

func (c *compiler) groupKeys(keys []plan.GroupKey, in []vecSpec) ([]keyInfo, []int, error) {
	infos, cols := make([]keyInfo, len(keys)), make([]int, len(keys))
	for i, k := range keys {
		if err := keyColumn(k.Column, in); err != nil {
			return nil, nil, err
		}
		infos[i], cols[i] = c.key(in[k.Column].typ, 0), k.Column
	}
	return infos, cols, nil
}

func (c *compiler) unique(n *plan.Unique, info nodeInfo) (node, error) {
	u := &uniqueNode{nodeInfo: info}
	var err error
	if u.input, err = c.child(&u.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	in := u.input.info().cols
	if u.keys, u.cols, err = c.groupKeys(n.Group, in); err != nil {
		return nil, err
	}
	u.proj, err = c.over(&u.nodeInfo, in)
	return u, err
}

func (n *uniqueNode) build(rt *runtime) operator {
	op := &uniqueOp{n: n, child: rt.build(n.input), last: newRowStore(n.input.info().cols)}
	return projected(rt, &n.nodeInfo, op, n.proj)
}

type uniqueOp struct {
	n     *uniqueNode
	child operator
	last  *rowStore // the last row passed, of the batches before
	out   types.Batch
	sel   []int32
	one   [1]int32
}

func (op *uniqueOp) open() error {
	op.last.reset()
	return op.child.open()
}

func (op *uniqueOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.child.next(max)
		if err != nil || b == nil {
			return nil, err
		}
		prev, at := b, -1
		if op.last.n > 0 {
			prev, at = op.last.chunks[0], 0
		}
		op.sel = op.sel[:0]
		rows := b.Rows()
		for j := range rows.Len() {
			i := rows.At(j)
			if at < 0 || !sameKeys(op.n.keys, op.n.cols, b, i, prev, at) {
				op.sel = append(op.sel, int32(i))
				prev, at = b, i
			}
		}
		if len(op.sel) == 0 {
			continue
		}
		op.one[0] = op.sel[len(op.sel)-1]
		op.last.reset()
		op.last.add(b, types.Rows{N: b.N, Sel: op.one[:]})
		op.out.N, op.out.Sel, op.out.Cols = b.N, op.sel, b.Cols
		return &op.out, nil
	}
}

func (op *uniqueOp) close() { op.child.close() }
