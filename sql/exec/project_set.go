package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

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
					t.set, err = c.setCall(f, nil)
				}
			case *analyze.OpExpr:
				if f.RetSet {
					t.set, err = c.setCall(&analyze.FuncExpr{Typed: f.Typed, Func: f.Func, Args: f.Args, InputColl: f.InputColl}, nil)
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
	if err := op.rt.canceled(); err != nil {
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
