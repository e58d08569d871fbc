package exec

import (
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

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
	op.table.close()
	op.forget()
}
