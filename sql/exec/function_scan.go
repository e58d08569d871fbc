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
	e, ok := r.Call.(*analyze.FuncExpr)
	switch {
	case ok && e.RetSet:
		call.set, err = c.setCall(e, columnDefs(r))
	case ok && r.ColumnDefs:
		call.value, err = c.recordExpr(e, columnDefs(r))
	default:
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

// columnDefs are the columns that the query defines for a function that returns records, nil without such a list.
func columnDefs(r *analyze.RTEFunc) []types.Field {
	if !r.ColumnDefs {
		return nil
	}
	fields := make([]types.Field, len(r.Columns))
	for i, col := range r.Columns {
		fields[i] = types.Field{Name: col.Name, Type: col.Type, Typmod: col.Typmod}
	}
	return fields
}

func (n *functionNode) build(rt *runtime) operator {
	op := &functionOp{n: n, rt: rt, f: newFrame(rt, n.spec)}
	op.sets = make([]fn.Set, len(n.calls))
	op.live = make([]bool, len(n.calls))
	op.row = make([]types.Datum, len(n.cols))
	var in operator = op
	if n.keep {
		in = newKeep(rt, &n.nodeInfo, op, n.cols)
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
	if err := op.rt.canceled(); err != nil {
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
