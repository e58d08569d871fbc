package exec

import (
	"bytes"

	"github.com/minipg/minipg/types"
)

// A comparison as the set of outcomes that satisfy it.
const (
	isLess    uint8 = 1
	isEqual   uint8 = 2
	isGreater uint8 = 4
)

// compareKind is how the words or bytes of a comparison are ordered.
type compareKind uint8

const (
	compareSigned compareKind = iota
	compareUnsigned
	compareBytes // equality only
)

type comparisonInfo struct {
	kind    compareKind
	accepts uint8
}

// directComparison recognises the comparison functions whose operands compare as plain words or
// bytes, by pg_proc.prosrc.
func directComparison(src string) (comparisonInfo, bool) {
	for _, suffix := range comparisonSuffixes {
		if len(src) <= len(suffix.name) || src[len(src)-len(suffix.name):] != suffix.name {
			continue
		}
		kind, ok := comparisonPrefixes[src[:len(src)-len(suffix.name)]]
		if !ok || kind == compareBytes && suffix.accepts != isEqual && suffix.accepts != isLess|isGreater {
			continue
		}
		return comparisonInfo{kind, suffix.accepts}, true
	}
	return comparisonInfo{}, false
}

var comparisonSuffixes = [...]struct {
	name    string
	accepts uint8
}{
	{"eq", isEqual},
	{"ne", isLess | isGreater},
	{"lt", isLess},
	{"le", isLess | isEqual},
	{"gt", isGreater},
	{"ge", isGreater | isEqual},
}

var comparisonPrefixes = map[string]compareKind{
	"int2": compareSigned, "int4": compareSigned, "int8": compareSigned,
	"int24": compareSigned, "int42": compareSigned, "int28": compareSigned,
	"int82": compareSigned, "int48": compareSigned, "int84": compareSigned,
	"date_": compareSigned, "time_": compareSigned, "timestamp_": compareSigned,
	"oid": compareUnsigned, "bool": compareUnsigned, "char": compareUnsigned, "xid": compareUnsigned,
	"text": compareBytes, "bytea": compareBytes, "name": compareBytes, "uuid_": compareBytes,
}

// comparison gives x a predicate if its function is a plain comparison.
func (c *compiler) comparison(x *expr, f *function, args []*expr, collation types.OID) {
	info, ok := directComparison(f.proc.Src)
	if !ok || len(args) != 2 || x.volatile {
		return
	}
	if info.kind == compareBytes {
		if !c.deterministic(collation) {
			return
		}
		want := info.accepts == isEqual
		x.pred = func(f *frame, rows types.Rows, dst []int32) ([]int32, error) {
			a, b, err := evalTwo(f, args[0], args[1], rows)
			if err != nil {
				return nil, err
			}
			return selectBytes(a, b, want, rows, dst), nil
		}
		return
	}
	flip := uint64(0)
	if info.kind == compareSigned {
		flip = 1 << 63
	}
	x.pred = func(f *frame, rows types.Rows, dst []int32) ([]int32, error) {
		a, b, err := evalTwo(f, args[0], args[1], rows)
		if err != nil {
			return nil, err
		}
		return selectWords(a, b, flip, info.accepts, rows, dst), nil
	}
}

// deterministic tells whether equal strings under a collation are equal bytes.
func (c *compiler) deterministic(collation types.OID) bool {
	if collation == 0 || c.deps.Catalog == nil {
		return true
	}
	row, err := c.deps.Catalog.CollationByOID(collation)
	return err == nil && row != nil && row.Deterministic
}

func evalTwo(f *frame, a, b *expr, rows types.Rows) (va, vb *types.Vector, err error) {
	if va, err = a.eval(f, rows); err != nil {
		return nil, nil, err
	}
	vb, err = b.eval(f, rows)
	return va, vb, err
}

// mirror swaps the operands of a comparison.
func mirror(accepts uint8) uint8 {
	return accepts&isEqual | accepts&isLess<<2 | accepts&isGreater>>2
}

// outcome compares two words: isLess, isEqual or isGreater.
func outcome(a, b uint64) uint8 {
	if a < b {
		return isLess
	}
	if a > b {
		return isGreater
	}
	return isEqual
}

// selectWords appends the rows whose comparison has an accepted outcome. Words compare unsigned after
// xor with flip.
func selectWords(a, b *types.Vector, flip uint64, accepts uint8, rows types.Rows, dst []int32) []int32 {
	if a.Const && !b.Const {
		a, b, accepts = b, a, mirror(accepts)
	}
	switch {
	case a.Const:
		if a.Null[0] || b.Null[0] || accepts&outcome(a.W[0]^flip, b.W[0]^flip) == 0 {
			return dst
		}
		return appendRows(rows, dst)
	case b.Const:
		if b.Null[0] {
			return dst
		}
		return selectWordsConst(a, b.W[0]^flip, flip, accepts, rows, dst)
	}
	if rows.Sel != nil {
		for _, i := range rows.Sel {
			if !a.Null[i] && !b.Null[i] && accepts&outcome(a.W[i]^flip, b.W[i]^flip) != 0 {
				dst = append(dst, i)
			}
		}
		return dst
	}
	for i := range rows.N {
		if !a.Null[i] && !b.Null[i] && accepts&outcome(a.W[i]^flip, b.W[i]^flip) != 0 {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

func selectWordsConst(a *types.Vector, k, flip uint64, accepts uint8, rows types.Rows, dst []int32) []int32 {
	if rows.Sel != nil {
		for _, i := range rows.Sel {
			if !a.Null[i] && accepts&outcome(a.W[i]^flip, k) != 0 {
				dst = append(dst, i)
			}
		}
		return dst
	}
	w, null := a.W[:rows.N], a.Null[:rows.N]
	for i := range w {
		if accepts&outcome(w[i]^flip, k) != 0 && !null[i] {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

func selectBytes(a, b *types.Vector, want bool, rows types.Rows, dst []int32) []int32 {
	if a.Const && b.Const {
		if a.Null[0] || b.Null[0] || bytes.Equal(a.B[0], b.B[0]) != want {
			return dst
		}
		return appendRows(rows, dst)
	}
	for j := range rows.Len() {
		i := rows.At(j)
		ai, bi := i, i
		if a.Const {
			ai = 0
		}
		if b.Const {
			bi = 0
		}
		if !a.Null[ai] && !b.Null[bi] && bytes.Equal(a.B[ai], b.B[bi]) == want {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

func appendRows(rows types.Rows, dst []int32) []int32 {
	if rows.Sel != nil {
		return append(dst, rows.Sel...)
	}
	for i := range rows.N {
		dst = append(dst, int32(i))
	}
	return dst
}

// selectTrue appends the rows where the bool vector v is true.
func selectTrue(v *types.Vector, rows types.Rows, dst []int32) []int32 {
	if v.Const {
		if v.Null[0] || v.W[0] == 0 {
			return dst
		}
		return appendRows(rows, dst)
	}
	if rows.Sel != nil {
		for _, i := range rows.Sel {
			if v.W[i] != 0 && !v.Null[i] {
				dst = append(dst, i)
			}
		}
		return dst
	}
	for i := range rows.N {
		if v.W[i] != 0 && !v.Null[i] {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// subtract appends to dst the rows that are not in gone, an ascending part of them.
func subtract(rows types.Rows, gone, dst []int32) []int32 {
	g := 0
	for j := range rows.Len() {
		i := int32(rows.At(j))
		if g < len(gone) && gone[g] == i {
			g++
			continue
		}
		dst = append(dst, i)
	}
	return dst
}

// noRows is an empty selection; a nil one would mean all rows.
func noRows() []int32 { return []int32{} }

// selectRows appends the rows for which condition x is true. The result is never nil.
func (x *expr) selectRows(f *frame, rows types.Rows, dst []int32) ([]int32, error) {
	if dst == nil {
		dst = make([]int32, 0, rows.Len())
	}
	if x.pred != nil {
		return x.pred(f, rows, dst)
	}
	v, err := x.eval(f, rows)
	if err != nil {
		return nil, err
	}
	return selectTrue(v, rows, dst), nil
}
