package exec

import (
	"github.com/minipg/minipg/types"
)

// Rows are kept by column in chunks of chunkRows.
const (
	chunkShift = 10
	chunkRows  = 1 << chunkShift
	chunkMask  = chunkRows - 1
	// firstChunk is the room a store starts with.
	firstChunk = 16
	arenaBlock = 64 << 10
)

// poolKeep is how many bytes of an operator's buffers are kept for the next execution.
const poolKeep = 1 << 20

// arena holds bytes that outlive the batch they came from. Blocks are never moved.
type arena struct {
	block []byte
	size  int64
}

func (a *arena) copy(b []byte) []byte {
	if len(b) == 0 {
		return []byte{}
	}
	if len(b) > cap(a.block)-len(a.block) {
		n := min(max(2*cap(a.block), 1<<10), arenaBlock)
		if len(b) > n/4 {
			a.size += int64(len(b))
			return append(make([]byte, 0, len(b)), b...)
		}
		a.block = make([]byte, 0, n)
		a.size += int64(n)
	}
	at := len(a.block)
	a.block = append(a.block, b...)
	return a.block[at:len(a.block):len(a.block)]
}

// reset lets go of all but one block, whose bytes are dead.
func (a *arena) reset() {
	a.block = a.block[:0]
	a.size = int64(cap(a.block))
}

// rowStore keeps rows in memory.
type rowStore struct {
	cols   []vecSpec
	chunks []*types.Batch
	n      int
	arena  arena
	fixed  int64 // bytes of the chunks' vectors
	width  int64 // bytes of a row's vector entries
}

func newRowStore(cols []vecSpec) *rowStore {
	s := &rowStore{cols: cols}
	for _, c := range cols {
		if c.class == types.Word {
			s.width += 9
		} else {
			s.width += 25
		}
	}
	return s
}

// memory is how many bytes the store holds.
func (s *rowStore) memory() int64 { return s.fixed + s.arena.size }

func newChunk(cols []vecSpec, capacity int) *types.Batch {
	b := &types.Batch{Cols: make([]types.Vector, len(cols))}
	for i, c := range cols {
		b.Cols[i] = types.NewVectorClass(c.typ, c.class, capacity)
	}
	return b
}

// reset forgets the rows and keeps the first chunk.
func (s *rowStore) reset() {
	s.n = 0
	if len(s.chunks) > 0 {
		clear(s.chunks[1:])
		s.chunks = s.chunks[:1]
		s.chunks[0].N = 0
		s.fixed = s.width * int64(chunkCap(s.chunks[0]))
	}
	s.arena.reset()
}

func chunkCap(b *types.Batch) int {
	if len(b.Cols) == 0 {
		return chunkRows
	}
	return b.Cols[0].Cap()
}

// tail returns a chunk with room for at least one row.
func (s *rowStore) tail() *types.Batch {
	k := len(s.chunks) - 1
	if k < 0 {
		s.chunks = append(s.chunks, newChunk(s.cols, firstChunk))
		s.fixed += s.width * firstChunk
		return s.chunks[0]
	}
	c := s.chunks[k]
	if c.N < chunkCap(c) {
		return c
	}
	if chunkCap(c) < chunkRows {
		g := newChunk(s.cols, min(4*chunkCap(c), chunkRows))
		s.fixed += s.width * int64(chunkCap(g)-chunkCap(c))
		g.N = c.N
		for i := range c.Cols {
			copy(g.Cols[i].W, c.Cols[i].W)
			copy(g.Cols[i].B, c.Cols[i].B)
			copy(g.Cols[i].Null, c.Cols[i].Null)
		}
		s.chunks[k] = g
		return g
	}
	c = newChunk(s.cols, chunkRows)
	s.fixed += s.width * chunkRows
	s.chunks = append(s.chunks, c)
	return c
}

// add appends rows of b, whose first columns are the store's.
func (s *rowStore) add(b *types.Batch, rows types.Rows) {
	n := rows.Len()
	for done := 0; done < n; {
		t := s.tail()
		k := min(n-done, chunkCap(t)-t.N)
		for c := range t.Cols {
			s.addColumn(&t.Cols[c], t.N, &b.Cols[c], rows, done, k)
		}
		t.N += k
		s.n += k
		done += k
	}
}

// addColumn copies k rows, from the from-th of rows on, to position at of dst.
func (s *rowStore) addColumn(dst *types.Vector, at int, src *types.Vector, rows types.Rows, from, k int) {
	if rows.Sel == nil && dst.Class == types.Word && !src.Const {
		copy(dst.W[at:at+k], src.W[from:])
		copy(dst.Null[at:at+k], src.Null[from:])
		return
	}
	for j := range k {
		i := rows.At(from + j)
		if src.Const {
			i = 0
		}
		null := src.Null[i]
		dst.Null[at+j] = null
		switch {
		case null:
		case dst.Class == types.Word:
			dst.W[at+j] = src.W[i]
		default:
			dst.B[at+j] = s.arena.copy(src.B[i])
		}
	}
}

// addRow appends one row of datums and returns its number.
func (s *rowStore) addRow(row []types.Datum) int {
	t := s.tail()
	for c := range t.Cols {
		d := row[c]
		if d.B != nil && !d.Null {
			d.B = s.arena.copy(d.B)
		}
		t.Cols[c].Set(t.N, d)
	}
	t.N++
	s.n++
	return s.n - 1
}

// datum returns a value of row r.
func (s *rowStore) datum(r, col int) types.Datum {
	return s.chunks[r>>chunkShift].Cols[col].Datum(r & chunkMask)
}

// rowBytes is how many bytes the values of row r have outside their words.
func (s *rowStore) rowBytes(r int32) int { return s.chunks[r>>chunkShift].RowBytes(int(r & chunkMask)) }

// gather puts column col of rows refs at positions 0... of out; a negative one is null.
func (s *rowStore) gather(out *types.Vector, col int, refs []int32) {
	if out.Class == types.Word {
		for j, r := range refs {
			if r < 0 {
				out.Null[j] = true
				continue
			}
			v := &s.chunks[r>>chunkShift].Cols[col]
			i := r & chunkMask
			out.W[j], out.Null[j] = v.W[i], v.Null[i]
		}
		return
	}
	for j, r := range refs {
		if r < 0 {
			out.Null[j] = true
			continue
		}
		v := &s.chunks[r>>chunkShift].Cols[col]
		i := r & chunkMask
		out.B[j], out.Null[j] = v.B[i], v.Null[i]
	}
}

// gatherAt is gather with the k-th value put at positions[k].
func (s *rowStore) gatherAt(out *types.Vector, col int, refs, positions []int32) {
	for k, r := range refs {
		j := positions[k]
		if r < 0 {
			out.Null[j] = true
			continue
		}
		v := &s.chunks[r>>chunkShift].Cols[col]
		i := r & chunkMask
		if out.Null[j] = v.Null[i]; out.Class == types.Word {
			out.W[j] = v.W[i]
		} else {
			out.B[j] = v.B[i]
		}
	}
}

// window sets view to at most max rows of b from position at; the vectors are shared.
func window(view *types.Batch, b *types.Batch, at, max int) {
	n := min(max, b.N-at)
	view.N, view.Sel = n, nil
	if cap(view.Cols) < len(b.Cols) {
		view.Cols = make([]types.Vector, len(b.Cols))
	}
	view.Cols = view.Cols[:len(b.Cols)]
	for i := range b.Cols {
		src, dst := &b.Cols[i], &view.Cols[i]
		*dst = *src
		dst.Null = src.Null[at : at+n]
		if src.Class == types.Word {
			dst.W = src.W[at : at+n]
		} else {
			dst.B = src.B[at : at+n]
		}
	}
}

// heldRows is a sink that keeps rows to be delivered later.
type heldRows struct {
	store *rowStore
	at    int
	view  types.Batch
}

func newHeldRows(cols []vecSpec) *heldRows { return &heldRows{store: newRowStore(cols)} }

// Batch keeps the rows of b.
func (h *heldRows) Batch(b *types.Batch) error {
	h.store.add(b, b.Rows())
	return nil
}

func (h *heldRows) deliver(max int64, sink Sink) (n int64, done bool, err error) {
	for h.at < h.store.n && (max == 0 || n < max) {
		want := chunkRows
		if max > 0 {
			want = int(min(int64(want), max-n))
		}
		window(&h.view, h.store.chunks[h.at>>chunkShift], h.at&chunkMask, want)
		if sink != nil {
			if err := sink.Batch(&h.view); err != nil {
				return n, false, err
			}
		}
		n += int64(h.view.N)
		h.at += h.view.N
	}
	return n, h.at == h.store.n && (max == 0 || n < max), nil
}
