package exec

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// sortKey is one column of an order.
type sortKey struct {
	col int
	typ types.OID
	opt types.KeyOptions
}

// collationC is the OID of the collation "C".
const collationC types.OID = 950

func (c *compiler) sortKeys(keys []plan.SortKey, in []vecSpec) ([]sortKey, error) {
	out := make([]sortKey, len(keys))
	for i, k := range keys {
		if err := keyColumn(k.Column, in); err != nil {
			return nil, err
		}
		out[i] = sortKey{
			col: k.Column, typ: in[k.Column].typ,
			opt: types.KeyOptions{
				Desc: k.Desc, NullsFirst: k.NullsFirst, Collation: k.Collation, Types: c.types(),
			},
		}
		if k.Op != 0 && c.deps.Catalog != nil {
			if err := c.patternOrder(k.Op, &out[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// patternOrder makes the order of a *_pattern_ops class that of bytes.
func (c *compiler) patternOrder(op types.OID, k *sortKey) error {
	o, err := c.deps.Catalog.OperatorByOID(op)
	if err != nil || o == nil {
		return err
	}
	if strings.HasPrefix(o.Name, "~") {
		k.opt.Collation = collationC
	}
	return nil
}

// wordOrder maps words of a type to unsigned integers of the same order; ok is false for types that
// have no such map.
type wordOrder uint8

const (
	orderNone wordOrder = iota
	orderSigned
	orderUnsigned
	orderFloat
)

func wordOrderOf(typ types.OID) wordOrder {
	switch typ {
	case types.Int2, types.Int4, types.Int8, types.Date, types.Time, types.Timestamp, types.Timestamptz:
		return orderSigned
	case types.Bool, types.Char, types.Oid:
		return orderUnsigned
	case types.Float4, types.Float8:
		return orderFloat
	}
	return orderNone
}

func (o wordOrder) key(w uint64) uint64 {
	switch o {
	case orderSigned:
		return w ^ 1<<63
	case orderFloat:
		// NaN sorts after everything; negative numbers are inverted.
		w = floatKey(w)
		if f := math.Float64frombits(w); f != f {
			return math.MaxUint64
		}
		if w>>63 != 0 {
			return ^w
		}
		return w | 1<<63
	}
	return w
}

// sortEntry is a row to be sorted: prefix decides, or else the whole key.
type sortEntry struct {
	prefix uint64
	row    int32
}

// sortBuffer keeps rows with their keys and sorts them.
type sortBuffer struct {
	keys    []sortKey
	store   *rowStore
	entries []sortEntry
	// A single key that is a word needs no encoded keys: nulls are kept apart.
	order wordOrder
	nulls []int32
	// Otherwise row r's key is buf[offs[r]:offs[r+1]].
	buf  []byte
	offs []int
}

func newSortBuffer(keys []sortKey, cols []vecSpec) *sortBuffer {
	s := &sortBuffer{keys: keys, store: newRowStore(cols)}
	if len(keys) == 1 {
		s.order = wordOrderOf(keys[0].typ)
	}
	return s
}

func (s *sortBuffer) reset() {
	s.store.reset()
	s.entries, s.nulls = s.entries[:0], s.nulls[:0]
	s.buf, s.offs = s.buf[:0], s.offs[:0]
}

func (s *sortBuffer) memory() int64 {
	return s.store.memory() + int64(cap(s.entries))*16 + int64(cap(s.nulls))*4 + int64(cap(s.buf)) + int64(cap(s.offs))*8
}

// add takes rows of b.
func (s *sortBuffer) add(b *types.Batch, rows types.Rows) {
	first := s.store.n
	s.store.add(b, rows)
	if s.order != orderNone {
		s.addWords(&b.Cols[s.keys[0].col], rows, first)
		return
	}
	for j := range rows.Len() {
		s.addKey(b, rows.At(j), first+j)
	}
}

func (s *sortBuffer) addWords(v *types.Vector, rows types.Rows, first int) {
	flip := uint64(0)
	if s.keys[0].opt.Desc {
		flip = math.MaxUint64
	}
	for j := range rows.Len() {
		i := rows.At(j)
		if v.Null[i] {
			s.nulls = append(s.nulls, int32(first+j))
			continue
		}
		s.entries = append(s.entries, sortEntry{s.order.key(v.W[i]) ^ flip, int32(first + j)})
	}
}

func (s *sortBuffer) addKey(b *types.Batch, i, r int) {
	if len(s.offs) == 0 {
		s.offs = append(s.offs, 0)
	}
	at := len(s.buf)
	s.buf = encodeKeys(s.buf, s.keys, b, i)
	s.offs = append(s.offs, len(s.buf))
	s.entries = append(s.entries, sortEntry{s.prefix(s.buf[at:], b.Cols[s.keys[0].col].Null[i]), int32(r)})
}

func encodeKeys(dst []byte, keys []sortKey, b *types.Batch, i int) []byte {
	for k := range keys {
		key := &keys[k]
		dst = types.EncodeKey(dst, key.typ, b.Cols[key.col].Datum(i), key.opt)
	}
	return dst
}

// prefix is an integer whose order agrees with that of keys where it decides. The first byte, which
// tells nulls apart, is the same for all others and left out.
func (s *sortBuffer) prefix(key []byte, null bool) uint64 {
	if null {
		if s.keys[0].opt.NullsFirst {
			return 0
		}
		return math.MaxUint64
	}
	var p [8]byte
	copy(p[:], key[min(1, len(key)):])
	return binary.BigEndian.Uint64(p[:])
}

func (s *sortBuffer) key(r int32) []byte { return s.buf[s.offs[r]:s.offs[r+1]] }

// sort puts entries in order; equal rows stay in the order they came. Nulls of a word key are put
// in their place.
func (s *sortBuffer) sort() {
	if s.order == orderNone {
		slices.SortFunc(s.entries, func(a, b sortEntry) int {
			if a.prefix != b.prefix {
				if a.prefix < b.prefix {
					return -1
				}
				return 1
			}
			if c := bytes.Compare(s.key(a.row), s.key(b.row)); c != 0 {
				return c
			}
			return int(a.row) - int(b.row)
		})
		return
	}
	sortWords(s.entries)
	if len(s.nulls) == 0 {
		return
	}
	n := len(s.entries)
	for _, r := range s.nulls {
		s.entries = append(s.entries, sortEntry{0, r})
	}
	if s.keys[0].opt.NullsFirst {
		rotate(s.entries, n)
	}
	s.nulls = s.nulls[:0]
}

// rotate moves what follows the first n entries to the front.
func rotate(e []sortEntry, n int) {
	slices.Reverse(e[:n])
	slices.Reverse(e[n:])
	slices.Reverse(e)
}

// radixMin is from how many entries on a radix sort is the faster one.
const radixMin = 512

// sortWords sorts by prefix, stably: entries come in the order of their rows.
func sortWords(e []sortEntry) {
	if len(e) < radixMin {
		slices.SortFunc(e, func(a, b sortEntry) int {
			if a.prefix != b.prefix {
				if a.prefix < b.prefix {
					return -1
				}
				return 1
			}
			return int(a.row) - int(b.row)
		})
		return
	}
	var all, one uint64 = 0, math.MaxUint64
	for i := range e {
		all |= e[i].prefix
		one &= e[i].prefix
	}
	differ := all ^ one
	from, to := e, make([]sortEntry, len(e))
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xFF == 0 {
			continue
		}
		radixPass(from, to, shift)
		from, to = to, from
	}
	if &from[0] != &e[0] {
		copy(e, from)
	}
}

func radixPass(from, to []sortEntry, shift int) {
	var count [256]int
	for i := range from {
		count[from[i].prefix>>shift&0xFF]++
	}
	at := 0
	for d, n := range count {
		count[d] = at
		at += n
	}
	for i := range from {
		d := from[i].prefix >> shift & 0xFF
		to[count[d]] = from[i]
		count[d]++
	}
}
