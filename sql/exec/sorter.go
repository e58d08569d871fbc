package exec

import (
	"bytes"
	"container/heap"

	"github.com/minipg/minipg/types"
)

// sorter sorts rows in memory, or in runs on disk that it merges.
type sorter struct {
	rt    *runtime
	keys  []sortKey
	cols  []vecSpec
	buf   *sortBuffer
	limit int64
	// bound, if not negative, is how many rows are wanted.
	bound int64
	cut   bool // rows beyond the bound were dropped
	// partial: what comes out is the chunks of another run.
	partial bool

	runs  []*tempFile
	merge runHeap
	cur   *runCursor // whose row was given last

	at   int
	out  types.Batch
	refs []int32
}

func newSorter(rt *runtime, keys []sortKey, cols []vecSpec) *sorter {
	return &sorter{rt: rt, keys: keys, cols: cols, buf: newSortBuffer(keys, cols), bound: -1}
}

// reset forgets everything and removes the runs.
func (s *sorter) reset() {
	for _, r := range s.runs {
		r.close()
	}
	s.runs, s.merge, s.cur = nil, nil, nil
	s.buf.reset()
	s.at, s.bound, s.cut = 0, -1, false
}

// close is reset that also lets go of large buffers.
func (s *sorter) close() {
	s.reset()
	if s.buf.memory() > poolKeep {
		s.buf = newSortBuffer(s.keys, s.cols)
	}
}

func (s *sorter) add(b *types.Batch, rows types.Rows) error {
	if rows.Len() == 0 {
		return nil
	}
	if err := s.rt.canceled(); err != nil {
		return err
	}
	if s.limit == 0 {
		s.limit = s.rt.workMem()
	}
	s.buf.add(b, rows)
	if s.bound >= 0 && s.bound < 1<<20 {
		if int64(s.buf.store.n) > 2*s.bound+chunkRows {
			s.buf.cut(int(s.bound))
			s.cut = true
		}
		return nil
	}
	if s.buf.memory() > s.limit && s.rt.spillable() && s.buf.store.n > 1 {
		return s.spill()
	}
	return nil
}

// cut sorts and keeps the first n rows.
func (s *sortBuffer) cut(n int) {
	s.sort()
	kept := newSortBuffer(s.keys, s.store.cols)
	out := newChunk(s.store.cols, min(n, maxBatch))
	var refs []int32
	for at := 0; at < n; at += len(refs) {
		refs = refs[:0]
		for _, e := range s.entries[at:min(at+maxBatch, n)] {
			refs = append(refs, e.row)
		}
		for c := range out.Cols {
			s.store.gather(&out.Cols[c], c, refs)
		}
		kept.add(out, types.Rows{N: len(refs)})
	}
	*s = *kept
}

// spill writes what there is as a sorted run, each row with its key.
func (s *sorter) spill() error {
	s.buf.sort()
	cols := append(append([]vecSpec(nil), s.cols...), vecSpec{types.Bytea, types.Bytes})
	t, err := s.rt.newTempFile(cols)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, t)
	out := newChunk(cols, runRows)
	var refs []int32
	var key []byte
	for at := 0; at < len(s.buf.entries); at += len(refs) {
		if err := s.rt.canceled(); err != nil {
			return err
		}
		refs = refs[:0]
		bytes := 0
		for _, e := range s.buf.entries[at:min(at+runRows, len(s.buf.entries))] {
			refs = append(refs, e.row)
			if bytes += s.buf.store.rowBytes(e.row); bytes > runBytes {
				break
			}
		}
		for c := range s.cols {
			s.buf.store.gather(&out.Cols[c], c, refs)
		}
		kv := &out.Cols[len(s.cols)]
		kv.Reset()
		for j, r := range refs {
			if s.buf.order == orderNone {
				kv.B[j], kv.Null[j] = s.buf.key(r), false
				continue
			}
			key = encodeKeys(key[:0], s.keys, out, j)
			kv.SetBytes(j, key)
		}
		if err := t.add(out, types.Rows{N: len(refs)}); err != nil {
			return err
		}
	}
	s.buf.reset()
	return t.finish()
}

// runRows is how many rows a chunk of a run has: small, since a merge has one chunk of each run in memory.
const runRows = 256

// runBytes is how many bytes of values such a chunk may have.
const runBytes = 1 << 18

// finish sorts what was added.
func (s *sorter) finish() error {
	if len(s.runs) == 0 {
		s.buf.sort()
		s.at = 0
		return nil
	}
	if s.buf.store.n > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	return s.startMerge()
}

func (s *sorter) rewind() {
	s.at = 0
	if len(s.runs) > 0 {
		s.merge, s.cur = nil, nil
	}
}

// note tells EXPLAIN ANALYZE how it was sorted.
func (s *sorter) note(st *NodeStats) {
	if st == nil {
		return
	}
	switch {
	case len(s.runs) > 0:
		st.Method, st.SpaceOnDisk, st.SpaceBytes = "external merge", true, 0
		for _, r := range s.runs {
			st.SpaceBytes += r.size
		}
	case s.cut || s.bound >= 0 && int64(s.buf.store.n) > s.bound:
		st.Method, st.SpaceBytes = "top-N heapsort", s.buf.memory()
	default:
		st.Method, st.SpaceBytes = "quicksort", s.buf.memory()
	}
}

// next returns the next rows in order.
func (s *sorter) next(max int) (*types.Batch, error) {
	if len(s.runs) > 0 {
		return s.nextMerged(max)
	}
	n := len(s.buf.entries) - s.at
	if s.bound >= 0 {
		n = min(n, int(s.bound)-s.at)
	}
	if n = min(n, max); n <= 0 {
		return nil, nil
	}
	s.refs = s.refs[:0]
	for _, e := range s.buf.entries[s.at : s.at+n] {
		s.refs = append(s.refs, e.row)
	}
	s.at += n
	s.room(n)
	for c := range s.out.Cols {
		s.buf.store.gather(&s.out.Cols[c], c, s.refs)
	}
	s.out.N = n
	return &s.out, nil
}

func (s *sorter) room(n int) {
	if s.out.Cols == nil || len(s.out.Cols) > 0 && s.out.Cols[0].Cap() < n {
		s.out = *newChunk(s.cols, max(n, min(64, maxBatch)))
	}
}

// runCursor is the position in one run.
type runCursor struct {
	r     *tempReader
	b     *types.Batch
	i     int
	run   int
	nKeys int
}

func (c *runCursor) key() []byte { return c.b.Cols[c.nKeys].B[c.i] }

// advance moves to the next row; false at the end.
func (c *runCursor) advance() (bool, error) {
	c.i++
	if c.b != nil && c.i < c.b.N {
		return true, nil
	}
	b, err := c.r.read(runRows)
	c.b, c.i = b, 0
	return b != nil, err
}

// runHeap orders cursors by their rows, and equal rows by run, which is the order they came in.
type runHeap []*runCursor

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key(), h[j].key()); c != 0 {
		return c < 0
	}
	return h[i].run < h[j].run
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*runCursor)) }
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// mergeOrder bounds how many runs are merged at once.
const mergeOrder = 64

// startMerge merges runs until there are few enough, then positions on the rest.
func (s *sorter) startMerge() error {
	for len(s.runs) > mergeOrder {
		if err := s.mergeSome(); err != nil {
			return err
		}
	}
	s.merge, s.cur = s.merge[:0], nil
	for i, t := range s.runs {
		c := &runCursor{r: t.reader(), run: i, nKeys: len(s.cols)}
		ok, err := c.advance()
		if err != nil {
			return err
		}
		if ok {
			s.merge = append(s.merge, c)
		}
	}
	heap.Init(&s.merge)
	return nil
}

// mergeSome makes one run of the first mergeOrder runs, which keeps equal rows in order.
func (s *sorter) mergeSome() error {
	some := sorter{rt: s.rt, keys: s.keys, cols: append(append([]vecSpec(nil), s.cols...),
		vecSpec{types.Bytea, types.Bytes}), runs: s.runs[:mergeOrder], bound: -1, partial: true}
	h := runHeap{}
	for i, t := range some.runs {
		c := &runCursor{r: t.reader(), run: i, nKeys: len(s.cols)}
		ok, err := c.advance()
		if err != nil {
			return err
		}
		if ok {
			h = append(h, c)
		}
	}
	heap.Init(&h)
	some.merge = h
	t, err := s.rt.newTempFile(some.cols)
	if err != nil {
		return err
	}
	for {
		b, err := some.nextMerged(runRows)
		if err == nil && b != nil {
			err = t.add(b, b.Rows())
		}
		if err != nil {
			t.close()
			return err
		}
		if b == nil {
			break
		}
	}
	if err := t.finish(); err != nil {
		t.close()
		return err
	}
	for _, r := range some.runs {
		r.close()
	}
	s.runs = append([]*tempFile{t}, s.runs[mergeOrder:]...)
	return nil
}

// maxBytes is how many bytes of values make a batch of merged rows full.
func (s *sorter) maxBytes() int {
	if s.partial {
		return runBytes
	}
	return types.MaxBatchBytes
}

// nextMerged returns the next rows of the merged runs.
func (s *sorter) nextMerged(max int) (*types.Batch, error) {
	if err := s.rt.canceled(); err != nil {
		return nil, err
	}
	if s.merge == nil {
		if err := s.startMerge(); err != nil {
			return nil, err
		}
	}
	n := min(max, maxBatch)
	if s.bound >= 0 {
		n = min(n, int(s.bound)-s.at)
	}
	if n <= 0 {
		return nil, nil
	}
	s.room(n)
	s.out.Reset()
	for bytes := 0; s.out.N < n && len(s.merge) > 0 && bytes <= s.maxBytes(); {
		c := s.merge[0]
		for k := range s.out.Cols {
			s.out.Cols[k].SetCopy(s.out.N, c.b.Cols[k].Datum(c.i))
		}
		bytes += s.out.RowBytes(s.out.N)
		s.out.N++
		ok, err := c.advance()
		if err != nil {
			return nil, err
		}
		if ok {
			heap.Fix(&s.merge, 0)
		} else {
			heap.Pop(&s.merge)
		}
	}
	s.at += s.out.N
	if s.out.N == 0 {
		return nil, nil
	}
	return &s.out, nil
}

func (rt *runtime) workMem() int64 {
	if rt.st.WorkMem > 0 {
		return rt.st.WorkMem
	}
	return 4 << 20
}

func (rt *runtime) hashMem() int64 {
	m := rt.st.HashMultiplier
	if m == 0 {
		m = 2
	}
	return int64(float64(rt.workMem()) * m)
}
