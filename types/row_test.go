package types

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

var rowTypes = []OID{Int4, Int8, Bool, Int2, Float4, Float8, Text, Uuid, Timestamp, Bytea, Char, Numeric, Interval, Oid, Timetz}

func TestRowRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		n := 1 + r.IntN(20)
		if round%50 == 0 {
			n = 130 + r.IntN(200)
		}
		attrs := make([]Attr, n)
		row := make([]Datum, n)
		for i := range attrs {
			attrs[i] = Attr{Type: rowTypes[r.IntN(len(rowTypes))], NotNull: r.IntN(2) == 0}
			if r.IntN(10) == 0 {
				attrs[i] = Attr{Phys: PhysInt4} // dropped
			}
			switch {
			case attrs[i].Type == 0, !attrs[i].NotNull && r.IntN(3) == 0:
				row[i] = NullDatum
				attrs[i].NotNull = false
			case attrs[i].Type == Float4:
				row[i] = Float64Datum(float64(float32(r.NormFloat64())))
			case attrs[i].Type == Text && r.IntN(3) == 0:
				row[i] = TextDatum(strings.Repeat("x", 100+r.IntN(200)))
			default:
				row[i] = randomDatum(r, attrs[i].Type)
			}
		}
		stored := n - r.IntN(min(n, 3))
		for i := stored; i < n; i++ {
			if attrs[i].Type == Int4 {
				attrs[i].HasMissing, attrs[i].Missing = true, Int64Datum(42)
			}
			row[i] = attrs[i].missing()
		}
		checkRow(t, r, NewRowDesc(attrs), row, stored)
	}
}

func checkRow(t *testing.T, r *rand.Rand, desc *RowDesc, row []Datum, stored int) {
	t.Helper()
	data := desc.Encode(nil, row[:stored])
	if n, err := Attributes(data); err != nil || n != stored {
		t.Fatalf("Attributes = %d, %v; want %d", n, err, stored)
	}
	out := make([]Datum, len(row))
	if err := desc.Decode(data, out, len(row)); err != nil {
		t.Fatal(err)
	}
	for i := range row {
		if !sameDatum(row[i], out[i]) {
			t.Fatalf("attribute %d of type %d: %v, want %v", i, desc.Attrs[i].Type, out[i], row[i])
		}
	}
	var wanted []int
	var cols []Vector
	for i := range row {
		if r.IntN(2) == 0 {
			wanted = append(wanted, i)
			cols = append(cols, NewVectorClass(desc.Attrs[i].Type, desc.Attrs[i].Phys.Class(), 2))
		}
	}
	if err := desc.DecodeInto(cols, 1, data, wanted, nil); err != nil {
		t.Fatal(err)
	}
	for k, i := range wanted {
		if got := cols[k].Datum(1); !sameDatum(row[i], got) {
			t.Fatalf("attribute %d of type %d in a vector: %v, want %v", i, desc.Attrs[i].Type, got, row[i])
		}
	}
	for cut := range data {
		// A torn row must give an error, never a panic; some cuts leave a valid shorter value.
		_ = desc.Decode(data[:cut], out, len(row))
		_ = desc.DecodeInto(cols, 1, data[:cut], wanted, nil)
	}
}

func sameDatum(a, b Datum) bool {
	return a.Null == b.Null && (a.Null || (a.W == b.W && bytes.Equal(a.B, b.B)))
}

func TestRowToast(t *testing.T) {
	desc := NewRowDesc([]Attr{{Type: Int4, NotNull: true}, {Type: Text}, {Type: Text}})
	row := []Datum{Int64Datum(-5), {W: ToastCompressed, B: []byte("packed")}, {W: ToastExternal, B: []byte("pointer")}}
	data := desc.Encode(nil, row)
	out := make([]Datum, 3)
	if err := desc.Decode(data, out, 3); err != nil {
		t.Fatal(err)
	}
	for i := range row {
		if !sameDatum(row[i], out[i]) {
			t.Errorf("attribute %d: %v, want %v", i, out[i], row[i])
		}
	}
	cols := []Vector{NewVector(Text, 1), NewVector(Text, 1)}
	if err := desc.DecodeInto(cols, 0, data, []int{1, 2}, detoastUpper{}); err != nil {
		t.Fatal(err)
	}
	if got := string(cols[0].B[0]) + string(cols[1].B[0]); got != "PACKEDPOINTER" {
		t.Errorf("detoasted %q", got)
	}
}

type detoastUpper struct{}

func (detoastUpper) Detoast(d Datum) ([]byte, error) { return bytes.ToUpper(d.B), nil }

func TestRowSize(t *testing.T) {
	// pgbench_history without its filler: 28 bytes of values and two of overhead.
	desc := NewRowDesc([]Attr{{Type: Int4}, {Type: Int4}, {Type: Int4}, {Type: Int4}, {Type: Timestamp}, {Type: Bpchar}})
	row := []Datum{{W: 1}, {W: 1}, {W: 1}, {W: 1}, {W: 1}, NullDatum}
	if got := len(desc.Encode(nil, row)); got != 26 {
		t.Errorf("row of %d bytes, want 26", got)
	}
}

func BenchmarkRowEncode(b *testing.B) {
	desc, row := accountsRow()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = desc.Encode(buf[:0], row)
	}
}

func BenchmarkRowDecodeInto(b *testing.B) {
	desc, row := accountsRow()
	data := desc.Encode(nil, row)
	cols := []Vector{NewVector(Int4, 1), NewVector(Int4, 1)}
	b.ReportAllocs()
	for b.Loop() {
		if err := desc.DecodeInto(cols, 0, data, []int{0, 2}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func accountsRow() (*RowDesc, []Datum) {
	desc := NewRowDesc([]Attr{{Type: Int4, NotNull: true}, {Type: Int4}, {Type: Int4}, {Type: Bpchar}})
	return desc, []Datum{Int64Datum(1), Int64Datum(1), Int64Datum(0), TextDatum(strings.Repeat(" ", 84))}
}
