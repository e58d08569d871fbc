package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// functionNode is a FunctionScan.
type functionNode struct {
	nodeInfo
	spec       *frameSpec
	calls      []functionCall
	ordinality bool
	cols       []vecSpec
	// keep: something is volatile, so that a second run must give the rows of the first.
	keep bool
	proj *projection
}

// functionCall is one function in FROM.
type functionCall struct {
	set    *setCall // nil: a plain expression
	value  *expr
	first  int // its first column
	n      int
	scalar bool
}

func (c *compiler) functionScan(n *plan.FunctionScan, info nodeInfo) (node, error) {
	f := &functionNode{nodeInfo: info, ordinality: n.Ordinality}
	s := newScope()
	f.spec = s.spec
	err := c.in(s, func() error {
		for i := range n.Functions {
			if err := c.functionCall(f, &n.Functions[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.ordinality {
		f.cols = append(f.cols, vecSpec{types.Int8, types.Word})
	}
	f.volatile, f.keep = s.volatile, s.volatile
	f.proj, err = c.over(&f.nodeInfo, f.cols)
	return f, err
}

func (c *compiler) functionCall(f *functionNode, r *analyze.RTEFunc) error {
	call := functionCall{first: len(f.cols), n: len(r.Columns), scalar: r.Scalar}
	var err error
	if e, ok := r.Call.(*analyze.FuncExpr); ok && e.RetSet {
		call.set, err = c.setCall(e)
	} else {
		call.value, err = c.expr(r.Call)
	}
	if err != nil {
		return err
	}
	for _, col := range r.Columns {
		f.cols = append(f.cols, vecSpec{col.Type, c.class(col.Type)})
	}
	f.calls = append(f.calls, call)
	return nil
}

func (n *functionNode) build(rt *runtime) operator {
	op := &functionOp{n: n, rt: rt, f: newFrame(rt, n.spec)}
	op.sets = make([]fn.Set, len(n.calls))
	op.live = make([]bool, len(n.calls))
	op.row = make([]types.Datum, len(n.cols))
	var in operator = op
	if n.keep {
		in = &keepOp{n: &n.nodeInfo, rt: rt, child: op, store: newTupleStore(rt, n.cols)}
	}
	return projected(rt, &n.nodeInfo, in, n.proj)
}

type functionOp struct {
	n    *functionNode
	rt   *runtime
	f    *frame
	sets []fn.Set
	live []bool
	row  []types.Datum
	ord  int64
	out  *types.Batch
}

func (op *functionOp) open() error {
	op.ord = 0
	op.f.begin()
	for i := range op.n.calls {
		call := &op.n.calls[i]
		op.sets[i], op.live[i] = nil, true
		if call.set == nil {
			continue
		}
		set, err := call.set.start(op.f, one())
		if err != nil {
			return err
		}
		op.sets[i], op.live[i] = set, set != nil
	}
	return nil
}

func (op *functionOp) next(max int) (*types.Batch, error) {
	if err := op.rt.ctx.Err(); err != nil {
		return nil, err
	}
	n := min(max, maxBatch)
	if op.out == nil || chunkCap(op.out) < n {
		op.out = newChunk(op.n.cols, n)
	}
	op.out.Reset()
	if vs, ok := op.vectorSet(); ok {
		return op.nextVector(vs, n)
	}
	for op.out.N < n {
		ok, err := op.nextRow()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		for c := range op.out.Cols {
			op.out.Cols[c].SetCopy(op.out.N, op.row[c])
		}
		op.out.N++
	}
	if op.out.N == 0 {
		return nil, nil
	}
	return op.out, nil
}

// vectorSet is the only function's set, where it fills vectors.
func (op *functionOp) vectorSet() (fn.VecSet, bool) {
	if len(op.sets) != 1 || !op.live[0] || op.sets[0] == nil {
		return nil, false
	}
	vs, ok := op.sets[0].(fn.VecSet)
	return vs, ok
}

func (op *functionOp) nextVector(vs fn.VecSet, max int) (*types.Batch, error) {
	op.rt.fc.Call = &op.f.calls[op.n.calls[0].set.call]
	n, err := vs.NextVec(op.rt.fc, op.out.Cols[:op.n.calls[0].n], max)
	if err != nil || n == 0 {
		op.live[0] = n > 0
		return nil, err
	}
	op.out.N = n
	if op.n.ordinality {
		v := &op.out.Cols[len(op.n.cols)-1]
		for i := range n {
			op.ord++
			v.W[i], v.Null[i] = uint64(op.ord), false
		}
	}
	return op.out, nil
}

// nextRow takes a row of each function; one that has ended gives nulls.
func (op *functionOp) nextRow() (bool, error) {
	any := false
	for i := range op.n.calls {
		call := &op.n.calls[i]
		row := op.row[call.first : call.first+call.n]
		ok := false
		if op.live[i] {
			var err error
			if ok, err = op.nextOf(i, call, row); err != nil {
				return false, err
			}
			op.live[i] = ok && call.set != nil
		}
		if !ok {
			for k := range row {
				row[k] = types.NullDatum
			}
		}
		any = any || ok
	}
	if !any {
		return false, nil
	}
	if op.n.ordinality {
		op.ord++
		op.row[len(op.row)-1] = types.Int64Datum(op.ord)
	}
	return true, nil
}

func (op *functionOp) nextOf(i int, call *functionCall, row []types.Datum) (bool, error) {
	if call.set == nil {
		d, err := op.f.scalar(call.value)
		if err != nil {
			return false, err
		}
		return true, spread(d, call.scalar, row)
	}
	if call.scalar || call.set.fields != nil || call.set.typ != types.Record {
		return call.set.next(op.f, op.sets[i], row)
	}
	return call.set.next(op.f, op.sets[i], row)
}

// spread puts the fields of a composite value into row; a null has null fields.
func spread(d types.Datum, scalar bool, row []types.Datum) error {
	if scalar {
		row[0] = d
		return nil
	}
	if d.Null {
		for i := range row {
			row[i] = types.NullDatum
		}
		return nil
	}
	r := d.Record()
	values := r.Values()
	if len(values) != len(row) {
		return pgerr.New(pgerr.DatatypeMismatch, "function return row and query-specified return row do not match").
			WithDetail("Returned row contains %d attributes, but query expects %d.", len(values), len(row))
	}
	copy(row, values)
	return nil
}

func (op *functionOp) close() { clear(op.sets) }

// keepOp keeps its child's rows for the next open.
type keepOp struct {
	freshness
	n     *nodeInfo
	rt    *runtime
	child operator
	store *tupleStore
	at    int
	ended bool
	view  types.Batch
}

func (op *keepOp) open() error {
	op.at = 0
	if op.holds(op.rt, op.n.depends) {
		return nil
	}
	op.store.reset()
	op.ended = false
	op.record(op.rt, op.n.depends)
	return op.child.open()
}

func (op *keepOp) next(max int) (*types.Batch, error) {
	for {
		ok, err := op.store.rows(&op.view, op.at, max)
		if err != nil {
			return nil, err
		}
		if ok {
			op.at += op.view.N
			return &op.view, nil
		}
		if op.ended {
			return nil, nil
		}
		b, err := op.child.next(max)
		if err != nil {
			return nil, err
		}
		if b == nil {
			op.ended = true
			return nil, nil
		}
		if err := op.store.add(b, b.Rows()); err != nil {
			return nil, err
		}
	}
}

func (op *keepOp) close() {
	op.child.close()
	op.store.reset()
	op.forget()
}

// projectSetNode is a ProjectSet.
type projectSetNode struct {
	nodeInfo
	input   node
	spec    *frameSpec
	targets []setTarget
	outCols []vecSpec
}

// setTarget is a set-returning call or an expression.
type setTarget struct {
	set   *setCall
	value *expr
}

func (c *compiler) projectSet(n *plan.ProjectSet, info nodeInfo) (node, error) {
	p := &projectSetNode{nodeInfo: info}
	var err error
	if p.input, err = c.child(&p.nodeInfo, n.Input); err != nil {
		return nil, err
	}
	if len(n.Filter) > 0 {
		return nil, pgerr.New(pgerr.InternalError, "filter on a set-returning projection")
	}
	s := newScope(newIdentity(len(p.input.info().cols)))
	p.spec = s.spec
	err = c.in(s, func() error {
		for _, e := range n.Targets {
			var t setTarget
			var err error
			switch f := e.(type) {
			case *analyze.FuncExpr:
				if f.RetSet {
					t.set, err = c.setCall(f)
				}
			case *analyze.OpExpr:
				if f.RetSet {
					t.set, err = c.setCall(&analyze.FuncExpr{Typed: f.Typed, Func: f.Func, Args: f.Args, InputColl: f.InputColl})
				}
			}
			if err == nil && t.set == nil {
				t.value, err = c.expr(e)
			}
			if err != nil {
				return err
			}
			p.targets = append(p.targets, t)
			p.outCols = append(p.outCols, vecSpec{e.Type(), c.class(e.Type())})
		}
		return nil
	})
	p.cols = p.outCols
	p.volatile = p.volatile || s.volatile
	return p, err
}

func (n *projectSetNode) build(rt *runtime) operator {
	op := &projectSetOp{n: n, rt: rt, child: rt.build(n.input), f: newFrame(rt, n.spec)}
	op.sets = make([]fn.Set, len(n.targets))
	op.values = make([]types.Datum, len(n.targets))
	width := 1
	for _, t := range n.targets {
		if t.set != nil {
			width = max(width, len(t.set.fields))
		}
	}
	op.fields = make([]types.Datum, width)
	return op
}

type projectSetOp struct {
	n      *projectSetNode
	rt     *runtime
	child  operator
	f      *frame
	sets   []fn.Set
	values []types.Datum
	fields []types.Datum
	in     *types.Batch
	at     int
	in1    [1]int32
	row    bool // a row of in is being expanded
	out    *types.Batch
}

func (op *projectSetOp) open() error {
	op.in, op.row = nil, false
	return op.child.open()
}

func (op *projectSetOp) next(max int) (*types.Batch, error) {
	n := min(max, maxBatch)
	if op.out == nil || chunkCap(op.out) < n {
		op.out = newChunk(op.n.outCols, n)
	}
	op.out.Reset()
	for op.out.N < n {
		if !op.row {
			ok, err := op.nextInput(n)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
		}
		if err := op.expand(); err != nil {
			return nil, err
		}
	}
	if op.out.N == 0 {
		return nil, nil
	}
	return op.out, nil
}

// nextInput starts the sets of the next input row.
func (op *projectSetOp) nextInput(max int) (bool, error) {
	if err := op.rt.ctx.Err(); err != nil {
		return false, err
	}
	for op.in == nil || op.at == op.in.Len() {
		want := max
		if op.n.volatile {
			want = 1
		}
		b, err := op.child.next(want)
		if err != nil || b == nil {
			op.in = nil
			return false, err
		}
		op.in, op.at = b, 0
		op.f.in[0] = b
	}
	op.f.begin()
	rows := op.in.Rows()
	op.in1[0] = int32(rows.At(op.at))
	op.at++
	this := types.Rows{N: op.in.N, Sel: op.in1[:]}
	for k := range op.n.targets {
		t := &op.n.targets[k]
		op.sets[k] = nil
		if t.set != nil {
			set, err := t.set.start(op.f, this)
			if err != nil {
				return false, err
			}
			op.sets[k] = set
			continue
		}
		v, err := t.value.eval(op.f, this)
		if err != nil {
			return false, err
		}
		op.values[k] = v.Datum(int(op.in1[0]))
	}
	op.row = true
	return true, nil
}

// expand adds one output row unless all sets have ended. Those that ended sooner give nulls.
func (op *projectSetOp) expand() error {
	any := false
	for k := range op.n.targets {
		t := &op.n.targets[k]
		if t.set == nil {
			continue
		}
		op.values[k] = types.NullDatum
		if op.sets[k] == nil {
			continue
		}
		ok, err := t.set.next(op.f, op.sets[k], op.fields)
		if err != nil {
			return err
		}
		if !ok {
			op.sets[k] = nil
			continue
		}
		any = true
		if t.set.fields == nil {
			op.values[k] = op.fields[0]
		} else {
			op.values[k] = types.RecordDatum(t.set.typ, t.set.fields, op.fields[:len(t.set.fields)])
		}
	}
	if !any {
		op.row = false
		return nil
	}
	for c := range op.out.Cols {
		op.out.Cols[c].SetCopy(op.out.N, op.values[c])
	}
	op.out.N++
	return nil
}

func (op *projectSetOp) close() {
	clear(op.sets)
	op.child.close()
}
