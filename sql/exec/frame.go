package exec

import (
	"errors"
	"math/bits"

	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

// evalFn evaluates an expression for rows of the frame's inputs. Only the positions of
// rows are set in the vector it returns, which the frame or a batch owns.
// Requires: rows is not empty (invariant 3).
type evalFn func(f *frame, rows types.Rows) (*types.Vector, error)

// predFn appends to dst those of rows for which a condition is true, in order.
type predFn func(f *frame, rows types.Rows, dst []int32) ([]int32, error)

// frameSpec is what compilation found out that a group of expressions needs as scratch.
type frameSpec struct {
	vecs  []vecSpec
	bytes []int // those of vecs that have arenas
	calls []fn.Call
	nPtrs int
	nSels int
	nArgs int
	nVecs int // pointers to argument vectors
	nAny  int
}

type vecSpec struct {
	typ   types.OID
	class types.Class
}

func (s *frameSpec) vec(typ types.OID, class types.Class) int {
	s.vecs = append(s.vecs, vecSpec{typ, class})
	if class == types.Bytes {
		s.bytes = append(s.bytes, len(s.vecs)-1)
	}
	return len(s.vecs) - 1
}

func (s *frameSpec) ptr() int { s.nPtrs++; return s.nPtrs - 1 }
func (s *frameSpec) sel() int { s.nSels++; return s.nSels - 1 }
func (s *frameSpec) any() int { s.nAny++; return s.nAny - 1 }

func (s *frameSpec) args(n int) int {
	s.nArgs += n
	return s.nArgs - n
}

func (s *frameSpec) argVecs(n int) int {
	s.nVecs += n
	return s.nVecs - n
}

func (s *frameSpec) call(c fn.Call) int {
	s.calls = append(s.calls, c)
	return len(s.calls) - 1
}

// frame is the scratch of a group of expressions over the same inputs. It belongs to one
// operator and so to one goroutine.
type frame struct {
	rt *runtime
	in [2]*types.Batch

	spec  *frameSpec
	vecs  []types.Vector
	ptrs  []*types.Vector
	sels  [][]int32
	args  []types.Datum
	avecs []*types.Vector
	calls []fn.Call
	any   []any

	filterSel []int32
	oneSel    [1]int32

	// made counts the bytes that functions have made since begin. Where bounded is set, an evaluation of several
	// rows ends with errBatchBytes when they are too many, to be tried again with fewer.
	made    int
	bounded bool
}

// errBatchBytes never leaves this package.
var errBatchBytes = errors.New("the values of a batch are too large")

// full tells whether so much was made that no more rows should be taken on.
func (f *frame) full() bool { return f.made > types.MaxBatchBytes }

// note counts n bytes made for one of left rows still to be evaluated.
func (f *frame) note(n, left int) error {
	if f.made += n; f.bounded && left > 1 && f.full() {
		return errBatchBytes
	}
	return nil
}

func newFrame(rt *runtime, spec *frameSpec) *frame {
	f := &frame{
		rt: rt, spec: spec,
		vecs:  make([]types.Vector, len(spec.vecs)),
		ptrs:  make([]*types.Vector, spec.nPtrs),
		sels:  make([][]int32, spec.nSels),
		args:  make([]types.Datum, spec.nArgs),
		avecs: make([]*types.Vector, spec.nVecs),
		calls: make([]fn.Call, len(spec.calls)),
		any:   make([]any, spec.nAny),
	}
	copy(f.calls, spec.calls)
	for i, v := range spec.vecs {
		f.vecs[i].Type, f.vecs[i].Class = v.typ, v.class
	}
	return f
}

// begin makes the frame ready for another batch: bytes made for the last one die.
func (f *frame) begin() {
	large := f.full()
	f.made = 0
	for _, i := range f.spec.bytes {
		v := &f.vecs[i]
		if large {
			clear(v.B)
		}
		if cap(v.Arena) > arenaKeep {
			v.Arena = nil
		} else {
			v.Arena = v.Arena[:0]
		}
	}
}

// arenaKeep bounds what a scratch vector's arena keeps from batch to batch.
const arenaKeep = 1 << 20

// vec returns scratch vector i with room for n rows.
func (f *frame) vec(i, n int) *types.Vector {
	v := &f.vecs[i]
	if len(v.Null) < n {
		growVector(v, n)
	}
	v.Const = false
	return v
}

// growVector makes room for n rows, dropping what was there.
func growVector(v *types.Vector, n int) {
	c := 1 << bits.Len(uint(n-1))
	v.Null = make([]bool, c)
	if v.Class == types.Word {
		v.W = make([]uint64, c)
	} else {
		v.B = make([][]byte, c)
	}
}

// selBuf returns selection buffer i, empty, with room for n positions.
func (f *frame) selBuf(i, n int) []int32 {
	if cap(f.sels[i]) < n {
		f.sels[i] = make([]int32, 0, 1<<bits.Len(uint(n-1)))
	}
	return f.sels[i][:0]
}

// single is the set of row i alone, of n, in selection buffer sel.
func (f *frame) single(sel, i, n int) types.Rows {
	f.sels[sel] = append(f.sels[sel][:0], int32(i))
	return types.Rows{N: n, Sel: f.sels[sel]}
}

// one is a selection of position i alone, valid until the next.
func (f *frame) one(i int) []int32 {
	f.oneSel[0] = int32(i)
	return f.oneSel[:]
}

// one is the set of row 0 alone, for expressions over no row.
func one() types.Rows { return types.Rows{N: 1} }

// scalar evaluates an expression over no row.
func (f *frame) scalar(e *expr) (types.Datum, error) {
	if e.konst != nil {
		return e.konst.Datum(0), nil
	}
	v, err := e.eval(f, one())
	if err != nil {
		return types.Datum{}, err
	}
	return v.Datum(0), nil
}
