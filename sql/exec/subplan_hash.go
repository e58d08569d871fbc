package exec

import (
	"github.com/minipg/minipg/types"
)

// index makes the hash table of a hashed ANY. Rows with a null in a key only matter as unknowns.
func (s *subPlanState) index() {
	if s.table == nil {
		s.table = &hashTable{}
		s.keys = s.prog.keys
	}
	s.table.reset()
	s.nulls = s.nulls[:0]
	n := len(s.prog.left)
	cols := make([]*types.Vector, n)
	var hashes [chunkRows]uint64
	for k, chunk := range s.store.chunks {
		if chunk.N == 0 {
			continue
		}
		for c := range cols {
			cols[c] = &chunk.Cols[c]
		}
		hashKeys(s.keys, cols, types.Rows{N: chunk.N}, hashes[:])
		for i := range chunk.N {
			if anyNull(cols, i) {
				s.table.skip()
				s.nulls = append(s.nulls, int32(k<<chunkShift+i))
				continue
			}
			s.table.add(hashes[i])
		}
	}
}

func anyNull(cols []*types.Vector, i int) bool {
	for _, v := range cols {
		j := i
		if v.Const {
			j = 0
		}
		if v.Null[j] {
			return true
		}
	}
	return false
}

// probe looks each row's left side up. Follows ExecHashSubPlan: what cannot be known because of
// nulls is null.
func (s *subPlanState) probe(f *frame, rows types.Rows, slot int) (*types.Vector, error) {
	if err := s.fill(f.rt); err != nil {
		return nil, err
	}
	out := f.vec(slot, rows.N)
	for j := range rows.Len() {
		i := rows.At(j)
		out.W[i], out.Null[i] = 0, false
	}
	if s.store.n == 0 {
		return out, nil
	}
	cols := s.left[:0]
	for _, l := range s.prog.left {
		v, err := l.eval(f, rows)
		if err != nil {
			return nil, err
		}
		cols = append(cols, v)
	}
	s.left = cols
	if len(s.hashes) < rows.N {
		s.hashes = make([]uint64, rows.N)
	}
	hashKeys(s.prog.leftKeys, cols, rows, s.hashes)
	for j := range rows.Len() {
		i := rows.At(j)
		if err := s.probeRow(f, cols, i, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *subPlanState) probeRow(f *frame, cols []*types.Vector, i int, out *types.Vector) error {
	if !anyNull(cols, i) {
		h := s.hashes[i]
		for r := s.table.first(h); r > 0; r = s.table.after(r, h) {
			eq, err := s.match(f, cols, i, int(r-1), false)
			if err != nil {
				return err
			}
			if eq {
				out.W[i] = 1
				return nil
			}
		}
		for _, r := range s.nulls {
			if eq, err := s.match(f, cols, i, int(r), true); err != nil || eq {
				out.Null[i] = eq
				return err
			}
		}
		return nil
	}
	for r := range s.store.n {
		if eq, err := s.match(f, cols, i, r, true); err != nil || eq {
			out.Null[i] = eq
			return err
		}
	}
	return nil
}

// match compares row i with kept row r; with nulls, a null on either side may be equal.
func (s *subPlanState) match(f *frame, cols []*types.Vector, i, r int, nulls bool) (bool, error) {
	for c := range cols {
		a, b := cols[c].Datum(i), s.store.datum(r, c)
		if a.Null || b.Null {
			if !nulls {
				return false, nil
			}
			continue
		}
		if site := s.prog.equal[c]; site != nil {
			d, err := site.value(f, a, b)
			if err != nil {
				return false, err
			}
			if d.Null || d.W == 0 {
				return false, nil
			}
			continue
		}
		chunk := s.store.chunks[r>>chunkShift]
		at := i
		if cols[c].Const {
			at = 0
		}
		if !s.keys[c].equal(cols[c], at, &chunk.Cols[c], r&chunkMask) {
			return false, nil
		}
	}
	return true, nil
}
