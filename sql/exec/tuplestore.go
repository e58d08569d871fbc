package exec

import (
	"github.com/minipg/minipg/types"
)

// tupleStore keeps rows in the order they came, on disk where they outgrow memory.
type tupleStore struct {
	rt   *runtime
	cols []vecSpec
	mem  *rowStore // what is not in the file
	file *tempFile // full chunks
	n    int
	// loaded are chunks of the file read lately, newest first.
	loaded [loadedChunks]loadedChunk
}

// loadedChunks is how many chunks of a file stay in memory.
const loadedChunks = 4

type loadedChunk struct {
	k int
	b *types.Batch
}

func newTupleStore(rt *runtime, cols []vecSpec) *tupleStore {
	return &tupleStore{rt: rt, cols: cols, mem: newRowStore(cols)}
}

// reset forgets the rows.
func (s *tupleStore) reset() {
	s.file.close()
	s.file = nil
	s.mem.reset()
	s.n = 0
	clear(s.loaded[:])
}

// add keeps rows of b.
func (s *tupleStore) add(b *types.Batch, rows types.Rows) error {
	s.mem.add(b, rows)
	s.n += rows.Len()
	if s.mem.memory() > s.rt.workMem() && s.mem.n > chunkRows && s.rt.spillable() {
		return s.spill()
	}
	return nil
}

// spill moves the full chunks to the file.
func (s *tupleStore) spill() error {
	if s.file == nil {
		f, err := s.rt.newTempFile(s.cols)
		if err != nil {
			return err
		}
		s.file = f
	}
	chunks := s.mem.chunks
	rest := newRowStore(s.cols)
	for _, c := range chunks {
		if c.N == chunkRows {
			if err := s.file.add(c, types.Rows{N: c.N}); err != nil {
				return err
			}
		} else if c.N > 0 {
			rest.add(c, types.Rows{N: c.N})
		}
	}
	s.mem = rest
	return nil
}

func (s *tupleStore) onDisk() int {
	if s.file == nil {
		return 0
	}
	return len(s.file.chunks)
}

// chunk returns chunk k, valid as long as anyone refers to it.
func (s *tupleStore) chunk(k int) (*types.Batch, error) {
	disk := s.onDisk()
	if k >= disk {
		return s.mem.chunks[k-disk], nil
	}
	for i := range s.loaded {
		if l := s.loaded[i]; l.b != nil && l.k == k {
			copy(s.loaded[1:i+1], s.loaded[:i])
			s.loaded[0] = l
			return l.b, nil
		}
	}
	b := newChunk(s.cols, chunkRows)
	if err := s.file.read(k, b); err != nil {
		return nil, err
	}
	copy(s.loaded[1:], s.loaded[:])
	s.loaded[0] = loadedChunk{k, b}
	return b, nil
}

// rows sets view to at most max rows from row at on; false past the end.
func (s *tupleStore) rows(view *types.Batch, at, max int) (bool, error) {
	if at >= s.n {
		return false, nil
	}
	c, err := s.chunk(at >> chunkShift)
	if err != nil {
		return false, err
	}
	window(view, c, at&chunkMask, max)
	return true, nil
}

// datum returns a value of row r.
func (s *tupleStore) datum(r, col int) (types.Datum, error) {
	c, err := s.chunk(r >> chunkShift)
	if err != nil {
		return types.Datum{}, err
	}
	return c.Cols[col].Datum(r & chunkMask), nil
}
