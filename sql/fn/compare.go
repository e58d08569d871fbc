package fn

import (
	"bytes"
	"math"
	"math/bits"

	"github.com/minipg/minipg/types"
)

// outcome says for less, equal and greater whether a comparison operator holds.
type outcome [3]uint64

var (
	isEQ = outcome{0, 1, 0}
	isNE = outcome{1, 0, 1}
	isLT = outcome{1, 0, 0}
	isLE = outcome{1, 1, 0}
	isGT = outcome{0, 0, 1}
	isGE = outcome{0, 1, 1}
)

// relation is an operator's suffix and outcome.
type relation struct {
	suffix string
	holds  outcome
}

var relations = [...]relation{{"eq", isEQ}, {"ne", isNE}, {"lt", isLT}, {"le", isLE}, {"gt", isGT}, {"ge", isGE}}

// compareFunc gives -1, 0 or 1.
type compareFunc func(a, b types.Datum) int

// comparison enters the six operators of a type, prefix + suffix, and its btree support function, if it has a name.
func (r *registry) comparison(prefix, support string, cmp compareFunc, vec func(outcome) VecFunc) {
	for _, rel := range relations {
		holds := rel.holds
		f := func(_ *Context, args []types.Datum) (types.Datum, error) {
			return types.Datum{W: holds[cmp(args[0], args[1])+1]}, nil
		}
		if vec != nil {
			r.vec(prefix+rel.suffix, f, vec(holds))
		} else {
			r.fn(prefix+rel.suffix, f)
		}
	}
	if support != "" {
		r.fn(support, func(_ *Context, args []types.Datum) (types.Datum, error) {
			return types.Int64Datum(int64(cmp(args[0], args[1]))), nil
		})
	}
}

// choice enters larger and smaller.
func (r *registry) choice(larger, smaller string, cmp compareFunc) {
	r.choiceOf(larger, smaller, cmp, 0)
}

// choiceOf takes of two equal values the second, or with tie 1 the first, as bpchar's functions do.
func (r *registry) choiceOf(larger, smaller string, cmp compareFunc, tie int) {
	r.fn(larger, func(_ *Context, a []types.Datum) (types.Datum, error) {
		if cmp(a[0], a[1])+tie > 0 {
			return a[0], nil
		}
		return a[1], nil
	})
	r.fn(smaller, func(_ *Context, a []types.Datum) (types.Datum, error) {
		if cmp(a[0], a[1])-tie < 0 {
			return a[0], nil
		}
		return a[1], nil
	})
}

func cmpSigned(a, b types.Datum) int {
	x, y := int64(a.W), int64(b.W)
	return b2i(x > y) - b2i(x < y)
}

func cmpUnsigned(a, b types.Datum) int { return b2i(a.W > b.W) - b2i(a.W < b.W) }

func cmpFloat(a, b types.Datum) int { return types.CompareFloat(a.Float64(), b.Float64()) }

func cmpBytes(a, b types.Datum) int { return bytes.Compare(a.B, b.B) }

func typeCompare(typ types.OID) compareFunc {
	return func(a, b types.Datum) int { return types.Compare(typ, a, b) }
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// constNull reports a constant null among the arguments, for which every row is null.
func constNull(args []*types.Vector, rows types.Rows, out *types.Vector) bool {
	for _, a := range args {
		if a.Const && a.Null[0] {
			for k := range rows.Len() {
				out.Null[rows.At(k)] = true
			}
			return true
		}
	}
	return false
}

// wordLoop runs f over rows of two word vectors, a constant on the right spelled out since it is the usual case.
// f is called with whether the row is null so that it can be branch-free.
func vecCompareWords(holds outcome, flip uint64) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		if constNull(args, rows, out) {
			return nil
		}
		a, b := args[0], args[1]
		h := holds
		switch {
		case b.Const && !a.Const:
			compareConst(a, b.W[0]^flip, flip, &h, rows, out)
		case a.Const && !b.Const:
			h[0], h[2] = h[2], h[0]
			compareConst(b, a.W[0]^flip, flip, &h, rows, out)
		default:
			compareVectors(a, b, flip, &h, rows, out)
		}
		return nil
	}
}

// compareConst compares each row of v to y; flip turns unsigned order into signed.
func compareConst(v *types.Vector, y, flip uint64, h *outcome, rows types.Rows, out *types.Vector) {
	yy := int64(y)
	if rows.Sel == nil {
		w, null := v.W[:rows.N], v.Null[:rows.N]
		ow, on := out.W[:rows.N], out.Null[:rows.N]
		for i, x := range w {
			xx := int64(x ^ flip)
			ow[i] = h[1+b2i(xx > yy)-b2i(xx < yy)]
			on[i] = null[i]
		}
		return
	}
	for _, i := range rows.Sel {
		xx := int64(v.W[i] ^ flip)
		out.W[i] = h[1+b2i(xx > yy)-b2i(xx < yy)]
		out.Null[i] = v.Null[i]
	}
}

func compareVectors(a, b *types.Vector, flip uint64, h *outcome, rows types.Rows, out *types.Vector) {
	for k := range rows.Len() {
		i := rows.At(k)
		ia, ib := i, i
		if a.Const {
			ia = 0
		}
		if b.Const {
			ib = 0
		}
		x, y := int64(a.W[ia]^flip), int64(b.W[ib]^flip)
		out.W[i] = h[1+b2i(x > y)-b2i(x < y)]
		out.Null[i] = a.Null[ia] || b.Null[ib]
	}
}

func vecSigned(holds outcome) VecFunc { return vecCompareWords(holds, 0) }

func vecUnsigned(holds outcome) VecFunc { return vecCompareWords(holds, 1<<63) }

func vecFloat(holds outcome) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		if constNull(args, rows, out) {
			return nil
		}
		a, b := args[0], args[1]
		for k := range rows.Len() {
			i := rows.At(k)
			ia, ib := i, i
			if a.Const {
				ia = 0
			}
			if b.Const {
				ib = 0
			}
			if out.Null[i] = a.Null[ia] || b.Null[ib]; out.Null[i] {
				continue
			}
			x, y := math.Float64frombits(a.W[ia]), math.Float64frombits(b.W[ib])
			c := 1 + b2i(x > y) - b2i(x < y)
			if c == 1 && x != y { // a NaN
				c = 1 + types.CompareFloat(x, y)
			}
			out.W[i] = holds[c]
		}
		return nil
	}
}

// vecBytes compares byte strings; equality looks at lengths first.
func vecBytes(holds outcome) VecFunc {
	equality := holds[0] == holds[2]
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		if constNull(args, rows, out) {
			return nil
		}
		a, b := args[0], args[1]
		for k := range rows.Len() {
			i := rows.At(k)
			ia, ib := i, i
			if a.Const {
				ia = 0
			}
			if b.Const {
				ib = 0
			}
			if out.Null[i] = a.Null[ia] || b.Null[ib]; out.Null[i] {
				continue
			}
			if equality {
				c := 0
				if bytes.Equal(a.B[ia], b.B[ib]) {
					c = 1
				}
				out.W[i] = holds[c]
			} else {
				out.W[i] = holds[bytes.Compare(a.B[ia], b.B[ib])+1]
			}
		}
		return nil
	}
}

func registerCompare(r *registry) {
	// Integers of all widths are one comparison of words.
	for _, p := range [...][2]string{
		{"int2", "btint2cmp"},
		{"int4", "btint4cmp"},
		{"int8", "btint8cmp"},
		{"int24", "btint24cmp"},
		{"int42", "btint42cmp"},
		{"int28", "btint28cmp"},
		{"int82", "btint82cmp"},
		{"int48", "btint48cmp"},
		{"int84", "btint84cmp"},
		{"date_", "date_cmp"},
		{"time_", "time_cmp"},
		{"timestamp_", "timestamp_cmp"},
		{"cash_", "cash_cmp"},
	} {
		r.comparison(p[0], p[1], cmpSigned, vecSigned)
	}
	for _, p := range [...][2]string{
		{"bool", "btboolcmp"}, {"char", "btcharcmp"}, {"oid", "btoidcmp"}, {"xid8", "xid8cmp"}, {"pg_lsn_", "pg_lsn_cmp"},
	} {
		r.comparison(p[0], p[1], cmpUnsigned, vecUnsigned)
	}
	for _, p := range [...][2]string{{"float4", "btfloat4cmp"}, {"float8", "btfloat8cmp"}, {"float48", "btfloat48cmp"}, {"float84", "btfloat84cmp"}} {
		r.comparison(p[0], p[1], cmpFloat, vecFloat)
	}
	for _, p := range [...][2]string{
		{"text", ""},
		{"text_", "bttextcmp"},
		{"name", "btnamecmp"},
		{"bytea", "byteacmp"},
		{"uuid_", "uuid_cmp"},
		{"tid", "bttidcmp"},
		{"text_pattern_", "bttext_pattern_cmp"},
	} {
		r.comparison(p[0], p[1], cmpBytes, vecBytes)
	}
	for _, rel := range relations {
		// Under collation C name and text compare alike, but the support functions' names differ.
		f := func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.Datum{W: rel.holds[cmpBytes(a[0], a[1])+1]}, nil
		}
		r.vec("name"+rel.suffix+"text", f, vecBytes(rel.holds))
		r.vec("text"+rel.suffix+"name", f, vecBytes(rel.holds))
	}
	for _, name := range []string{"btnametextcmp", "bttextnamecmp"} {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.Int64Datum(int64(cmpBytes(a[0], a[1]))), nil
		})
	}
	for prefix, typ := range map[string]types.OID{
		"interval_": types.Interval, "timetz_": types.Timetz, "numeric_": types.Numeric, "bpchar": types.Bpchar, "bit": types.Varbit,
		"jsonb_": types.Jsonb, "oidvector": types.Oidvector, "bpchar_pattern_": types.Bpchar,
	} {
		support := map[string]string{"bpchar": "bpcharcmp", "bit": "bitcmp", "oidvector": "btoidvectorcmp", "bpchar_pattern_": "btbpchar_pattern_cmp"}[prefix]
		if support == "" {
			support = prefix + "cmp"
		}
		r.comparison(prefix, support, typeCompare(typ), nil)
	}
	for _, name := range []string{"xid", "cid"} {
		eq := func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.BoolDatum(uint32(a[0].W) == uint32(a[1].W)), nil
		}
		r.fn(name+"eq", eq) // also with an int4, whose word is sign-extended
	}
	r.fn("xidneq", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(uint32(a[0].W) != uint32(a[1].W)), nil
	})
	registerContextCompare(r)

	for name, cmp := range map[string]compareFunc{
		"int2": cmpSigned, "int4": cmpSigned, "int8": cmpSigned, "oid": cmpUnsigned, "float4": cmpFloat, "float8": cmpFloat, "tid": cmpBytes, "cash": cmpSigned,
	} {
		r.choice(name+"larger", name+"smaller", cmp)
	}
	for name, cmp := range map[string]compareFunc{
		"text": cmpBytes, "date": cmpSigned, "time": cmpSigned, "timestamp": cmpSigned, "timetz": typeCompare(types.Timetz),
		"interval": typeCompare(types.Interval), "numeric": typeCompare(types.Numeric), "xid8": cmpUnsigned, "pg_lsn": cmpUnsigned,
	} {
		r.choice(name+"_larger", name+"_smaller", cmp)
	}
	r.choiceOf("bpchar_larger", "bpchar_smaller", typeCompare(types.Bpchar), 1)
}

// registerContextCompare enters comparisons that need the catalog: of arrays, records and enums.
func registerContextCompare(r *registry) {
	enter := func(prefix, support string, cmp func(c *Context, a, b types.Datum) (int, error)) {
		for _, rel := range relations {
			r.fn(prefix+rel.suffix, func(c *Context, a []types.Datum) (types.Datum, error) {
				n, err := cmp(c, a[0], a[1])
				if err != nil {
					return types.Datum{}, err
				}
				return types.Datum{W: rel.holds[n+1]}, nil
			})
		}
		r.fn(support, func(c *Context, a []types.Datum) (types.Datum, error) {
			n, err := cmp(c, a[0], a[1])
			return types.Int64Datum(int64(n)), err
		})
	}
	enter("array_", "btarraycmp", compareArrays)
	enter("record_", "btrecordcmp", compareRecords)
	enter("record_image_", "btrecordimagecmp", compareRecordImages)
	enter("enum_", "enum_cmp", func(c *Context, a, b types.Datum) (int, error) {
		return types.Comparer(c.ArgType(0), 0, c.Env.Types)(a, b), nil
	})
	for name, want := range map[string]int{"array_larger": 1, "array_smaller": -1, "enum_larger": 1, "enum_smaller": -1} {
		arrays := name[0] == 'a'
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			n := 0
			var err error
			if arrays {
				n, err = compareArrays(c, a[0], a[1])
			} else {
				n = types.Comparer(c.ArgType(0), 0, c.Env.Types)(a[0], a[1])
			}
			if err != nil {
				return types.Datum{}, err
			}
			if n == want {
				return a[0], nil
			}
			return a[1], nil
		})
	}
}

func compareArrays(c *Context, a, b types.Datum) (int, error) {
	x, y := a.Array(), b.Array()
	if x.Elem != y.Elem {
		return 0, errDatatypeMismatch("cannot compare arrays of different element types")
	}
	if !types.Ordered(x.Elem, c.Env.Types) && types.Builtin(x.Elem) != nil && !equalityOnly(x.Elem) {
		return 0, errUndefinedFunction("could not identify a comparison function for type %s", c.typeName(x.Elem))
	}
	return types.Comparer(types.ArrayOf(x.Elem), 0, c.Env.Types)(a, b), nil
}

// equalityOnly types have = but no order.
func equalityOnly(typ types.OID) bool {
	return typ == types.Xid || typ == types.Cid || typ == types.Aclitem || typ == types.Int2vector
}

func compareRecords(c *Context, a, b types.Datum) (int, error) {
	x, y := a.Record(), b.Record()
	for i := range min(len(x.Fields), len(y.Fields)) {
		if tx, ty := x.Fields[i].Attr.Type, y.Fields[i].Attr.Type; tx != ty {
			return 0, errDatatypeMismatch("cannot compare dissimilar column types %s and %s at record column %d", c.typeName(tx), c.typeName(ty), i+1)
		}
	}
	if len(x.Fields) != len(y.Fields) {
		// Reported only when the common columns do not decide.
		if n := types.CompareRecords(a, b, c.Env.Types); n != 0 && len(x.Fields) == len(y.Fields) {
			return n, nil
		}
		return 0, errDatatypeMismatch("cannot compare record types with different numbers of columns")
	}
	return types.CompareRecords(a, b, c.Env.Types), nil
}

func compareRecordImages(_ *Context, a, b types.Datum) (int, error) {
	return bytes.Compare(a.B, b.B), nil
}

// absInt64 is |v| as unsigned.
func absInt64(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// mulInt64 multiplies; ok is false on overflow.
func mulInt64(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(absInt64(a), absInt64(b))
	if hi != 0 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(lo), lo <= 1<<63
	}
	return int64(lo), lo <= math.MaxInt64
}
