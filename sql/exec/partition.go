package exec

import "github.com/minipg/minipg/types"

// The two sides of a partitioned join.
const (
	sideInner = iota
	sideOuter
)

const (
	partBits = 5
	// partCount is how many parts rows are dealt out to at once.
	partCount = 1 << partBits
	// partLevels bounds how often a part is split again: hashes have no more bits.
	partLevels = 6
	// partRows is how many rows of a part are buffered.
	partRows = 128
	// partBytes is how many bytes of values they may have.
	partBytes = 1 << 18
)

// partOf is the part that hash h goes to at a level of splitting. Hash tables use the low bits.
func partOf(h uint64, level int) int {
	return int(h >> (64 - partBits*(level+1)) & (partCount - 1))
}

// parts deals rows out to temporary files by the hash of their keys.
type parts struct {
	rt    *runtime
	cols  []vecSpec
	level int
	files [partCount]*tempFile
	bufs  [partCount]*types.Batch
}

func newParts(rt *runtime, cols []vecSpec, level int) *parts {
	return &parts{rt: rt, cols: cols, level: level}
}

// add takes rows of b whose hashes are given by position.
func (p *parts) add(b *types.Batch, rows types.Rows, hashes []uint64) error {
	for j := range rows.Len() {
		i := rows.At(j)
		k := partOf(hashes[i], p.level)
		buf := p.bufs[k]
		if buf == nil {
			buf = newChunk(p.cols, partRows)
			p.bufs[k] = buf
		}
		bytes := 0
		for c := range buf.Cols {
			buf.Cols[c].SetCopy(buf.N, b.Cols[c].Datum(i))
			bytes += len(buf.Cols[c].Arena)
		}
		if buf.N++; buf.N == partRows || bytes > partBytes {
			if err := p.write(k); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parts) write(k int) error {
	if p.files[k] == nil {
		f, err := p.rt.newTempFile(p.cols)
		if err != nil {
			return err
		}
		p.files[k] = f
	}
	buf := p.bufs[k]
	err := p.files[k].add(buf, types.Rows{N: buf.N})
	buf.Reset()
	return err
}

// flush writes what is buffered and lets go of the buffers.
func (p *parts) flush() error {
	for k, buf := range p.bufs {
		if buf != nil && buf.N > 0 {
			if err := p.write(k); err != nil {
				return err
			}
		}
		p.bufs[k] = nil
	}
	return nil
}

func (p *parts) close() {
	if p == nil {
		return
	}
	for k := range p.files {
		p.files[k].close()
		p.files[k] = nil
	}
}

// joinTask is a part of a join: inner rows that fit in memory, hopefully, and the outer rows that may match them.
type joinTask struct {
	inner, outer *tempFile
	level        int
	whole        bool // splitting it again would not help
}

// joinParts are the parts of a hash join whose inner side did not fit in memory.
type joinParts struct {
	sides [2]*parts
	tasks []joinTask
	vecs  []*types.Vector
	hash  []uint64
}

// add deals out rows of a side. The keys are its last columns.
func (p *joinParts) add(side int, b *types.Batch, rows types.Rows, keys []keyInfo) error {
	return p.sides[side].add(b, rows, p.hashes(b, rows, keys))
}

func (p *joinParts) hashes(b *types.Batch, rows types.Rows, keys []keyInfo) []uint64 {
	p.vecs = p.vecs[:0]
	for k := len(b.Cols) - len(keys); k < len(b.Cols); k++ {
		p.vecs = append(p.vecs, &b.Cols[k])
	}
	if len(p.hash) < b.N {
		p.hash = make([]uint64, max(b.N, maxBatch))
	}
	hashKeys(keys, p.vecs, rows, p.hash)
	return p.hash
}

func (p *joinParts) flush(side int) error { return p.sides[side].flush() }

// split begins to deal out the inner side: first what is in the store.
func (op *hashJoinOp) split() error {
	op.parts = &joinParts{}
	op.parts.sides[sideInner] = newParts(op.rt, op.n.innerCols, 0)
	op.parts.sides[sideOuter] = newParts(op.rt, op.n.outerCols, 0)
	for _, c := range op.store.chunks {
		if err := op.parts.add(sideInner, c, types.Rows{N: c.N}, op.n.ikeys); err != nil {
			return err
		}
	}
	op.store = newRowStore(op.n.innerCols)
	return nil
}

func (op *hashJoinOp) dropParts() {
	p := op.parts
	if p == nil {
		return
	}
	p.sides[sideInner].close()
	p.sides[sideOuter].close()
	for _, t := range p.tasks {
		t.inner.close()
		t.outer.close()
	}
	op.parts, op.task, op.reader = nil, -1, nil
}

// tasksOf makes tasks of the files of both sides; the files belong to the tasks then.
func tasksOf(inner, outer *parts, level int) []joinTask {
	var tasks []joinTask
	for k := range partCount {
		if inner.files[k] != nil || outer.files[k] != nil {
			tasks = append(tasks, joinTask{inner: inner.files[k], outer: outer.files[k], level: level})
		}
		inner.files[k], outer.files[k] = nil, nil
	}
	return tasks
}

// nextTask goes on to the next part; at the end the join has ended.
func (op *hashJoinOp) nextTask() error {
	p := op.parts
	if p == nil {
		op.ended = true
		return nil
	}
	if op.task < 0 {
		if err := p.flush(sideOuter); err != nil {
			return err
		}
		p.tasks = append(p.tasks, tasksOf(p.sides[sideInner], p.sides[sideOuter], 0)...)
	} else {
		p.tasks[op.task].inner.close()
		p.tasks[op.task].outer.close()
	}
	for op.task++; op.task < len(p.tasks); op.task++ {
		t := &p.tasks[op.task]
		if t.outer == nil && !op.n.keepInner || t.inner == nil && !op.n.keepOuter {
			t.inner.close()
			t.outer.close()
			continue
		}
		if t.inner != nil && t.inner.size > op.rt.hashMem() && !t.whole && t.level+1 < partLevels {
			if err := op.splitTask(t); err != nil {
				return err
			}
			continue
		}
		return op.loadTask(t)
	}
	op.ended = true
	return nil
}

// splitTask splits a part that is still too large and puts its parts at the end.
func (op *hashJoinOp) splitTask(t *joinTask) error {
	p := op.parts
	inner := newParts(op.rt, op.n.innerCols, t.level+1)
	outer := newParts(op.rt, op.n.outerCols, t.level+1)
	deal := func(from *tempFile, to *parts, keys []keyInfo) error {
		if from == nil {
			return nil
		}
		r := from.reader()
		for {
			b, err := r.read(maxBatch)
			if err != nil {
				return err
			}
			if b == nil {
				from.close()
				return to.flush()
			}
			if err := op.rt.canceled(); err != nil {
				return err
			}
			if err := to.add(b, b.Rows(), p.hashes(b, b.Rows(), keys)); err != nil {
				return err
			}
		}
	}
	rows := t.inner.rows()
	err := deal(t.inner, inner, op.n.ikeys)
	if err == nil {
		err = deal(t.outer, outer, op.n.okeys)
	}
	if err != nil {
		inner.close()
		outer.close()
		return err
	}
	tasks := tasksOf(inner, outer, t.level+1)
	for i := range tasks {
		tasks[i].whole = tasks[i].inner != nil && tasks[i].inner.rows() == rows
	}
	p.tasks = append(p.tasks, tasks...)
	return nil
}

// loadTask makes a part's inner rows the hash table and its outer rows what is probed.
func (op *hashJoinOp) loadTask(t *joinTask) error {
	op.store.reset()
	if t.inner != nil {
		r := t.inner.reader()
		for {
			b, err := r.read(maxBatch)
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := op.rt.canceled(); err != nil {
				return err
			}
			op.store.add(b, b.Rows())
		}
	}
	op.index()
	op.note()
	op.unmatched, op.out = -1, nil
	if t.outer == nil {
		t.outer = &tempFile{cols: op.n.outerCols}
	}
	op.reader = t.outer.reader()
	return nil
}
