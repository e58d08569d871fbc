package types

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// keyTypes are the types whose keys are tried against Compare.
var keyTypes = []OID{
	Bool, Char, Int2, Int4, Int8, Float4, Float8, Oid, Xid8, PgLsn, Date, Time, Timestamp, Timestamptz, Timetz, Interval, Numeric, Text, Varchar, Bpchar, Name, Bytea,
	Uuid, Tid, Bit, Varbit, Money, Jsonb, Int4Array, TextArray, NumericArray, Oidvector, Record,
}

// randomDatum makes a value of a type, often one that is close to others.
func randomDatum(r *rand.Rand, typ OID) Datum {
	small := func() int64 { return int64(r.IntN(7) - 3) }
	word := func() int64 {
		if r.IntN(2) == 0 {
			return small()
		}
		return int64(r.Uint64()) >> r.IntN(64)
	}
	text := func(alphabet string) []byte {
		b := make([]byte, r.IntN(5))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return b
	}
	switch typ {
	case Bool:
		return Datum{W: uint64(r.IntN(2))}
	case Char:
		return Datum{W: uint64(r.IntN(256))}
	case Int2:
		return Int64Datum(int64(int16(word())))
	case Int4, Date:
		return Int64Datum(int64(int32(word())))
	case Int8, Timestamp, Timestamptz, Time, Money:
		return Int64Datum(word())
	case Oid:
		return Uint64Datum(uint64(uint32(word())))
	case Xid8, PgLsn:
		return Uint64Datum(uint64(word()))
	case Float8, Float4:
		v := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 0.5, -0.5, 1e300, -1e300, 5e-324}[r.IntN(12)]
		if typ == Float4 {
			v = float64(float32(v))
		}
		return Float64Datum(v)
	case Timetz:
		return TimetzDatum(r.Int64N(UsecsPerDay), int32(r.IntN(5)-2)*3600)
	case Interval:
		return IntervalDatum(IntervalValue{small() * UsecsPerDay, int32(small() * 30), int32(small())})
	case Numeric:
		switch r.IntN(12) {
		case 0:
			return NumDatum(NumNaN)
		case 1:
			return NumDatum(NumPosInf)
		case 2:
			return NumDatum(NumNegInf)
		}
		n := NumFromScaled(word(), r.IntN(25))
		if r.IntN(3) == 0 {
			n, _ = n.Mul(NumFromScaled(word(), r.IntN(25)))
		}
		return NumDatum(n.Round(r.IntN(30)))
	case Text, Varchar, Name:
		return Datum{B: text("ab\x01\xff")}
	case Bpchar:
		return Datum{B: text("ab \x01")}
	case Bytea:
		return Datum{B: text("\x00\x01\xff\xfe")}
	case Uuid:
		b := make([]byte, 16)
		b[r.IntN(16)] = byte(r.IntN(3))
		return Datum{B: b}
	case Tid:
		return TidDatum(uint32(r.IntN(3)), uint16(r.IntN(3)))
	case Bit, Varbit:
		n := r.IntN(12)
		b := make([]byte, (n+7)/8)
		for i := range n {
			b[i/8] |= byte(r.IntN(2)) << (7 - i%8)
		}
		return BitDatum(n, b)
	case Jsonb:
		v := randomJSON(r, 3)
		return JSONBDatum(&v)
	case Int4Array, TextArray, NumericArray:
		return randomArray(r, ElemOf(typ))
	case Oidvector:
		return OidvectorDatum([]OID{1, 2, 3}[:r.IntN(4)])
	case Record:
		f := []RecordField{{Attr: AttrOf(Int4, -1, nil)}, {Attr: AttrOf(Text, -1, nil)}}
		v := []Datum{randomDatum(r, Int4), randomDatum(r, Text)}
		v[r.IntN(2)].Null = r.IntN(4) == 0
		return RecordDatum(Record, f, v)
	}
	panic(fmt.Sprint("no values for type ", typ))
}

func randomArray(r *rand.Rand, elem OID) Datum {
	rows := 1 + r.IntN(2)
	cols := r.IntN(3)
	elems := make([]Datum, rows*cols)
	for i := range elems {
		elems[i] = randomDatum(r, elem)
		if r.IntN(5) == 0 {
			elems[i] = NullDatum
		}
	}
	dims := []ArrayDim{{int32(rows), int32(r.IntN(2))}, {int32(cols), 1}}
	if r.IntN(2) == 0 {
		dims = []ArrayDim{{int32(rows * cols), int32(r.IntN(2))}}
	}
	return MakeArrayDims(elem, elems, dims, nil)
}

func randomJSON(r *rand.Rand, depth int) JSONValue {
	kind := JSONKind(r.IntN(7))
	if depth == 0 && kind >= JSONArray {
		kind = JSONNumber
	}
	v := JSONValue{Kind: kind}
	switch kind {
	case JSONString:
		v.Str = []byte{"ab"[r.IntN(2)]}
	case JSONNumber:
		v.Num = NumFromScaled(int64(r.IntN(5)-2), r.IntN(3))
	case JSONArray, JSONObject:
		for range r.IntN(3) {
			if kind == JSONObject {
				v.Keys = append(v.Keys, []byte("key")[:r.IntN(3)])
			}
			v.Vals = append(v.Vals, randomJSON(r, depth-1))
		}
	}
	return v
}

func TestKeyOrder(t *testing.T) {
	const seed = 7
	for _, typ := range keyTypes {
		t.Run(Builtin(typ).Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, uint64(typ)))
			for _, opt := range []KeyOptions{{}, {Desc: true}, {NullsFirst: true}, {Desc: true, NullsFirst: true}} {
				for range 1500 {
					checkKeyPair(t, typ, opt, randomOrNull(r, typ), randomOrNull(r, typ))
				}
			}
		})
	}
}

func randomOrNull(r *rand.Rand, typ OID) Datum {
	if r.IntN(20) == 0 {
		return NullDatum
	}
	return randomDatum(r, typ)
}

func checkKeyPair(t *testing.T, typ OID, opt KeyOptions, a, b Datum) {
	t.Helper()
	ka, kb := EncodeKey(nil, typ, a, opt), EncodeKey(nil, typ, b, opt)
	want := compareWithNulls(typ, a, b, opt)
	if got := bytes.Compare(ka, kb); got != want {
		t.Fatalf("%+v: %s against %s: keys say %d, Compare %d", opt, show(typ, a), show(typ, b), got, want)
	}
	if want != 0 && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
		t.Fatalf("the key of %s is a prefix of that of %s", show(typ, a), show(typ, b))
	}
	if !a.Null && !b.Null && want == 0 && Hash(typ, a) != Hash(typ, b) {
		t.Fatalf("%s and %s are equal but hash apart", show(typ, a), show(typ, b))
	}
	if !a.Null && !b.Null && Equal(typ, a, b) != (want == 0) {
		t.Fatalf("Equal(%s, %s) is not %v", show(typ, a), show(typ, b), want == 0)
	}
	tail := []byte{1, 2, 3}
	if typ != Record {
		rest, err := SkipKey(append(ka, tail...), typ, opt)
		if err != nil || !bytes.Equal(rest, tail) {
			t.Fatalf("SkipKey of %s leaves %x, %v", show(typ, a), rest, err)
		}
	}
	if !KeyLossless(typ, 0) {
		return
	}
	d, rest, err := DecodeKey(append(ka, tail...), typ, opt)
	if err != nil || !bytes.Equal(rest, tail) || d.Null != a.Null || d.W != a.W || !bytes.Equal(d.B, a.B) {
		t.Fatalf("DecodeKey of %s gives %s, rest %x, %v", show(typ, a), show(typ, d), rest, err)
	}
}

func show(typ OID, d Datum) string {
	if d.Null {
		return "NULL"
	}
	return fmt.Sprintf("%q", Out(typ, d, nil, nil))
}

func compareWithNulls(typ OID, a, b Datum, opt KeyOptions) int {
	nullIs := 1
	if opt.NullsFirst {
		nullIs = -1
	}
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return nullIs
	case b.Null:
		return -nullIs
	}
	c := Compare(typ, a, b)
	if opt.Desc {
		return -c
	}
	return c
}

// TestCompareIsAnOrder checks antisymmetry and transitivity, without which sorts and merge joins go astray.
func TestCompareIsAnOrder(t *testing.T) {
	for _, typ := range keyTypes {
		r := rand.New(rand.NewPCG(11, uint64(typ)))
		for range 2000 {
			a, b, c := randomDatum(r, typ), randomDatum(r, typ), randomDatum(r, typ)
			ab, ba, bc, ac := Compare(typ, a, b), Compare(typ, b, a), Compare(typ, b, c), Compare(typ, a, c)
			if ab != -ba {
				t.Fatalf("%s, %s: %d and %d", show(typ, a), show(typ, b), ab, ba)
			}
			if ab <= 0 && bc <= 0 && ac > 0 {
				t.Fatalf("%s <= %s <= %s", show(typ, a), show(typ, b), show(typ, c))
			}
		}
	}
}
