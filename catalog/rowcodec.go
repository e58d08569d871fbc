package catalog

import (
	"encoding/binary"
	"math/bits"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// Values of row keys start with one of these.
const (
	rowPresent = 1
	rowDeleted = 2
)

// A column is stored as 0 for null; a word as 1 + its length and the bytes of its zigzag
// form, little-endian without high zeros; bytes as a uvarint of 1 + their length and
// themselves. A row may end early: later columns read null, so a catalog may gain columns.

func appendRow(dst []byte, def *relDef, row Row) []byte {
	dst = append(dst, rowPresent)
	for i, typ := range def.cols {
		d := &row[i]
		switch {
		case d.Null:
			dst = append(dst, 0)
		case types.ClassOf(typ) == types.Word:
			w := d.W<<1 ^ uint64(int64(d.W)>>63)
			n := (bits.Len64(w) + 7) / 8
			dst = append(dst, byte(n+1))
			for range n {
				dst = append(dst, byte(w))
				w >>= 8
			}
		default:
			dst = binary.AppendUvarint(dst, uint64(len(d.B))+1)
			dst = append(dst, d.B...)
		}
	}
	return dst
}

// decodeRow fills row, whose bytes alias val.
func decodeRow(def *relDef, val []byte, row Row) error {
	if len(val) == 0 || val[0] != rowPresent {
		return errCorrupt(def)
	}
	val = val[1:]
	for i, typ := range def.cols {
		if len(val) == 0 || val[0] == 0 {
			row[i] = types.NullDatum
			val = val[min(1, len(val)):]
			continue
		}
		if types.ClassOf(typ) == types.Word {
			n := int(val[0]) - 1
			if n > 8 || len(val) <= n {
				return errCorrupt(def)
			}
			var w uint64
			for k := n; k > 0; k-- {
				w = w<<8 | uint64(val[k])
			}
			row[i] = types.Datum{W: w>>1 ^ -(w & 1)}
			val = val[n+1:]
			continue
		}
		u, n := binary.Uvarint(val)
		if n <= 0 || u-1 > uint64(len(val)-n) {
			return errCorrupt(def)
		}
		end := n + int(u-1)
		row[i] = types.Datum{B: val[n:end:end]}
		val = val[end:]
	}
	return nil
}

func errCorrupt(def *relDef) error {
	return pgerr.New(pgerr.DataCorrupted, "invalid row in catalog %q", def.name)
}

// keyPrefix starts every key of one index of one catalog.
func keyPrefix(db OID, def *relDef, index int) []byte {
	if def.shared {
		db = 0
	}
	k := make([]byte, 9, 48)
	binary.BigEndian.PutUint32(k, uint32(db))
	binary.BigEndian.PutUint32(k[4:], uint32(def.oid))
	k[8] = byte(index)
	return k
}

// appendKey appends one key column. Equal datums, and only they, give equal bytes, and no
// column's form is a prefix of another's; the order means nothing.
func appendKey(k []byte, typ OID, d types.Datum) []byte {
	switch p := types.PhysOf(typ); {
	case d.Null:
		return append(k, 0)
	case p == types.PhysWord8:
		return binary.BigEndian.AppendUint64(append(k, 1), d.W)
	case p.Class() == types.Word && p != types.PhysFloat4:
		return binary.BigEndian.AppendUint32(append(k, 1), uint32(d.W))
	case p.Class() == types.Word:
		return binary.BigEndian.AppendUint64(append(k, 1), d.W)
	default:
		k = binary.AppendUvarint(append(k, 1), uint64(len(d.B)))
		return append(k, d.B...)
	}
}

// wholeRow marks the row key of a catalog without a primary key.
func (def *relDef) wholeRow() bool { return len(def.indexes) == 0 || !def.indexes[0].primary }

// appendRowKey appends the columns of the row's primary key.
func (def *relDef) appendRowKey(k []byte, row Row) []byte {
	if def.wholeRow() {
		for i, typ := range def.cols {
			k = appendKey(k, typ, row[i])
		}
		return k
	}
	return def.appendIndexCols(k, 0, row)
}

func (def *relDef) appendIndexCols(k []byte, index int, row Row) []byte {
	for _, c := range def.indexes[index].cols {
		k = appendKey(k, def.cols[c], row[c])
	}
	return k
}

// secondaries are the numbers of the indexes that have entries of their own.
func (def *relDef) secondaries() (first, end int) {
	if def.wholeRow() {
		return 0, len(def.indexes)
	}
	return 1, len(def.indexes)
}

// slot is the index's number in keys; 0 are the rows.
func (def *relDef) slot(index int) int {
	if def.wholeRow() {
		return index + 1
	}
	return index
}
