package exec

import "github.com/minipg/minipg/types"

// RowBuffer keeps the rows of a program for a cursor that can go back, or that outlives its transaction: in
// memory, and in a file where they outgrow work_mem.
type RowBuffer struct {
	rt    runtime
	x     Execution
	st    ExecState
	store *tupleStore
	view  types.Batch
}

// NewRowBuffer makes an empty buffer for the visible columns of p's rows.
func (p *Program) NewRowBuffer(temp TempFiles, workMem int64) *RowBuffer {
	b := &RowBuffer{st: ExecState{Temp: temp, WorkMem: workMem}}
	b.rt.st, b.rt.x = &b.st, &b.x
	b.store = newTupleStore(&b.rt, p.root.info().cols[:p.visible])
	return b
}

// Batch satisfies Sink: it keeps the rows of in.
func (b *RowBuffer) Batch(in *types.Batch) error { return b.store.add(in, in.Rows()) }

// Len is the number of rows.
func (b *RowBuffer) Len() int64 { return int64(b.store.n) }

// Rows returns at most max rows from row at on, valid until the next call; nil past the end.
func (b *RowBuffer) Rows(at, max int64) (*types.Batch, error) {
	ok, err := b.store.rows(&b.view, int(at), int(min(max, chunkRows)))
	if err != nil || !ok {
		return nil, err
	}
	return &b.view, nil
}

// Close removes the buffer's file.
func (b *RowBuffer) Close() {
	if b != nil {
		b.store.reset()
	}
}
