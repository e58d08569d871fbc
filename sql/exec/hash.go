package exec

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/minipg/minipg/types"
)

// keyKind is how values of a key column are told apart.
type keyKind uint8

const (
	keyWord  keyKind = iota // equal words
	keyFloat                // equal words but for the two zeros and the NaNs
	keyBytes                // equal bytes
	keyTyped                // as the type says
)

// keyInfo is how one key column is hashed and compared.
type keyInfo struct {
	typ     types.OID
	kind    keyKind
	compare func(a, b types.Datum) int // of kind keyTyped
}

func (c *compiler) key(typ, collation types.OID) keyInfo {
	k := keyInfo{typ: typ, kind: keyTyped}
	switch typ {
	case types.Float4, types.Float8:
		k.kind = keyFloat
	case types.Text, types.Varchar, types.Name, types.Bytea, types.Uuid, types.Tid, types.Unknown:
		k.kind = keyBytes
	default:
		if c.class(typ) == types.Word {
			k.kind = keyWord
		} else {
			k.compare = types.Comparer(typ, collation, c.types())
		}
	}
	return k
}

func (k *keyInfo) equal(a *types.Vector, i int, b *types.Vector, j int) bool {
	switch k.kind {
	case keyWord:
		return a.W[i] == b.W[j]
	case keyFloat:
		return floatKey(a.W[i]) == floatKey(b.W[j])
	case keyBytes:
		return bytes.Equal(a.B[i], b.B[j])
	}
	return k.compare(a.Datum(i), b.Datum(j)) == 0
}

// equalDatums compares two values, neither null.
func (k *keyInfo) equalDatums(a, b types.Datum) bool {
	switch k.kind {
	case keyWord:
		return a.W == b.W
	case keyFloat:
		return floatKey(a.W) == floatKey(b.W)
	case keyBytes:
		return bytes.Equal(a.B, b.B)
	}
	return k.compare(a, b) == 0
}

// floatKey gives equal floats equal words.
func floatKey(w uint64) uint64 {
	if w == 1<<63 {
		return 0
	}
	if f := math.Float64frombits(w); f != f {
		return math.Float64bits(math.NaN())
	}
	return w
}

const (
	hashNull = 0x9e3779b97f4a7c15
	hashMul  = 0xd6e8feb86659fd93
	hashMul2 = 0xa0761d6478bd642f
)

func mixWord(x uint64) uint64 {
	x ^= x >> 32
	x *= hashMul
	x ^= x >> 29
	x *= hashMul
	return x ^ x>>32
}

func hashBytes(b []byte) uint64 {
	h := uint64(len(b)) ^ hashMul2
	for len(b) >= 8 {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(b), hashMul2)
		h = hi ^ lo
		b = b[8:]
	}
	var tail uint64
	for i, c := range b {
		tail |= uint64(c) << (8 * i)
	}
	hi, lo := bits.Mul64(h^tail, hashMul)
	return hi ^ lo
}

func (k *keyInfo) hash(v *types.Vector, i int) uint64 {
	switch k.kind {
	case keyWord:
		return mixWord(v.W[i])
	case keyFloat:
		return mixWord(floatKey(v.W[i]))
	case keyBytes:
		return hashBytes(v.B[i])
	}
	return mixWord(types.Hash(k.typ, v.Datum(i)))
}

// hashKeys sets out[i] to the hash of the keys of each row i.
func hashKeys(keys []keyInfo, cols []*types.Vector, rows types.Rows, out []uint64) {
	for c := range keys {
		k, v := &keys[c], cols[c]
		for j := range rows.Len() {
			i := rows.At(j)
			at := i
			if v.Const {
				at = 0
			}
			h := uint64(hashNull)
			if !v.Null[at] {
				h = k.hash(v, at)
			}
			if c == 0 {
				out[i] = h
			} else {
				out[i] = mixWord(out[i]*31 + h)
			}
		}
	}
	if len(keys) == 0 {
		for j := range rows.Len() {
			out[rows.At(j)] = 0
		}
	}
}

// hashTable finds rows of a store by the hash of their keys. Rows are numbered from 0 in
// the order they were added; it is for the caller to compare keys.
type hashTable struct {
	heads  []int32 // by the hash's low bits; 1 + the last row added
	next   []int32 // 1 + the row added before to the same head
	hashes []uint32
}

func (t *hashTable) reset() {
	clear(t.heads)
	t.next, t.hashes = t.next[:0], t.hashes[:0]
}

// close is reset that also lets go of large buffers.
func (t *hashTable) close() {
	if t.memory() > poolKeep {
		*t = hashTable{}
	}
	t.reset()
}

// memory is how many bytes the table holds.
func (t *hashTable) memory() int64 {
	return int64(cap(t.heads)+cap(t.next)+cap(t.hashes)) * 4
}

// add adds the next row.
func (t *hashTable) add(h uint64) {
	if len(t.next) >= len(t.heads) {
		t.grow(max(2*len(t.heads), 16))
	}
	b := uint32(h) & uint32(len(t.heads)-1)
	t.hashes = append(t.hashes, uint32(h))
	t.next = append(t.next, t.heads[b])
	t.heads[b] = int32(len(t.next))
}

// skip adds a row that no look-up finds.
func (t *hashTable) skip() {
	t.hashes = append(t.hashes, 0)
	t.next = append(t.next, skipped)
}

const skipped = math.MinInt32

func (t *hashTable) grow(n int) {
	if cap(t.heads) >= n {
		t.heads = t.heads[:n]
		clear(t.heads)
	} else {
		t.heads = make([]int32, n)
	}
	for i, h := range t.hashes {
		if t.next[i] == skipped {
			continue
		}
		b := h & uint32(n-1)
		t.next[i] = t.heads[b]
		t.heads[b] = int32(i + 1)
	}
}

// first returns 1 + the newest row whose hash may be h, 0 if there is none.
func (t *hashTable) first(h uint64) int32 {
	if len(t.heads) == 0 {
		return 0
	}
	return t.match(t.heads[uint32(h)&uint32(len(t.heads)-1)], uint32(h))
}

// after returns 1 + the row with that hash added before row r-1.
func (t *hashTable) after(r int32, h uint64) int32 { return t.match(t.next[r-1], uint32(h)) }

func (t *hashTable) match(r int32, h uint32) int32 {
	for r > 0 && t.hashes[r-1] != h {
		r = t.next[r-1]
	}
	return r
}

// groupTable numbers distinct keys in the order they first come.
type groupTable struct {
	keys  []keyInfo
	store *rowStore
	table hashTable
	hash  []uint64
}

func newGroupTable(keys []keyInfo, cols []vecSpec) *groupTable {
	return &groupTable{keys: keys, store: newRowStore(cols)}
}

func (g *groupTable) reset() {
	g.store.reset()
	g.table.reset()
}

func (g *groupTable) memory() int64 { return g.store.memory() + g.table.memory() }

// hashes computes the hashes of rows into a buffer of the table.
func (g *groupTable) hashes(cols []*types.Vector, rows types.Rows) []uint64 {
	if len(g.hash) < rows.N {
		g.hash = make([]uint64, max(rows.N, 64))
	}
	hashKeys(g.keys, cols, rows, g.hash)
	return g.hash
}

// find returns the number of the keys of row i with hash h, or -1. Nulls are equal.
func (g *groupTable) find(cols []*types.Vector, i int, h uint64) int {
	for r := g.table.first(h); r > 0; r = g.table.after(r, h) {
		if g.same(cols, i, int(r-1)) {
			return int(r - 1)
		}
	}
	return -1
}

func (g *groupTable) same(cols []*types.Vector, i, r int) bool {
	if len(g.keys) == 0 {
		return true
	}
	chunk, at := g.store.chunks[r>>chunkShift], r&chunkMask
	for c := range g.keys {
		v, w := cols[c], &chunk.Cols[c]
		j := i
		if v.Const {
			j = 0
		}
		if v.Null[j] || w.Null[at] {
			if v.Null[j] != w.Null[at] {
				return false
			}
			continue
		}
		if !g.keys[c].equal(v, j, w, at) {
			return false
		}
	}
	return true
}

// insert adds the keys of row i as the next number.
func (g *groupTable) insert(cols []*types.Vector, i int, h uint64) int {
	t := g.store.tail()
	for c := range t.Cols {
		v := cols[c]
		d := v.Datum(i)
		if !d.Null && d.B != nil {
			d.B = g.store.arena.copy(d.B)
		}
		t.Cols[c].Set(t.N, d)
	}
	t.N++
	g.store.n++
	g.table.add(h)
	return g.store.n - 1
}
