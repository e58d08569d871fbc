package types

// Vector is a column of values. Its capacity is fixed when it is made; W is used for class Word and B for
// class Bytes. Null[i] says whether row i is null, whose value is then not read.
type Vector struct {
	Type  OID
	Class Class
	// Const says that row 0 stands for all rows. Only arguments of vector functions have
	// it set; the columns of a batch never do.
	Const bool
	W     []uint64
	B     [][]byte
	Null  []bool
	// Arena holds bytes that functions made for B. Appending may move it; earlier
	// values keep the old memory alive.
	Arena []byte
}

// NewVector makes a vector of a built-in type for capacity rows.
func NewVector(typ OID, capacity int) Vector {
	return NewVectorClass(typ, ClassOf(typ), capacity)
}

// NewVectorClass is NewVector for any type.
func NewVectorClass(typ OID, class Class, capacity int) Vector {
	v := Vector{Type: typ, Class: class, Null: make([]bool, capacity)}
	if class == Word {
		v.W = make([]uint64, capacity)
	} else {
		v.B = make([][]byte, capacity)
	}
	return v
}

// ConstVector makes a vector in which d stands for every row.
func ConstVector(typ OID, class Class, d Datum) Vector {
	v := NewVectorClass(typ, class, 1)
	v.Const = true
	v.Set(0, d)
	return v
}

// Cap is the number of rows there is room for.
func (v *Vector) Cap() int { return len(v.Null) }

// Datum returns row i; its bytes alias the vector's.
func (v *Vector) Datum(i int) Datum {
	if v.Const {
		i = 0
	}
	if v.Null[i] {
		return Datum{Null: true}
	}
	if v.Class == Word {
		return Datum{W: v.W[i]}
	}
	return Datum{B: v.B[i]}
}

// Set stores d in row i, aliasing its bytes.
func (v *Vector) Set(i int, d Datum) {
	v.Null[i] = d.Null
	if d.Null {
		return
	}
	if v.Class == Word {
		v.W[i] = d.W
	} else {
		v.B[i] = d.B
	}
}

// SetCopy stores d in row i with its bytes copied to the arena.
func (v *Vector) SetCopy(i int, d Datum) {
	v.Null[i] = d.Null
	if d.Null {
		return
	}
	if v.Class == Word {
		v.W[i] = d.W
		return
	}
	v.SetBytes(i, d.B)
}

// SetBytes copies b to the arena and stores it in row i.
func (v *Vector) SetBytes(i int, b []byte) {
	at := len(v.Arena)
	v.Arena = append(v.Arena, b...)
	v.B[i] = v.Arena[at:len(v.Arena):len(v.Arena)]
	v.Null[i] = false
}

// Reset forgets the arena's content. The values of the vector are dead afterwards.
func (v *Vector) Reset() { v.Arena = v.Arena[:0] }

// Rows is a set of row positions: Sel if not nil, else 0 to N-1.
type Rows struct {
	N   int
	Sel []int32
}

// Len is the number of rows in the set.
func (r Rows) Len() int {
	if r.Sel != nil {
		return len(r.Sel)
	}
	return r.N
}

// At is the position of the k-th row of the set.
func (r Rows) At(k int) int {
	if r.Sel != nil {
		return int(r.Sel[k])
	}
	return k
}

// Batch is some rows as columns. N rows are filled; Sel, if not nil, lists in ascending order those that count.
type Batch struct {
	N    int
	Cols []Vector
	Sel  []int32
}

// NewBatch makes a batch with columns of the given built-in types.
func NewBatch(typs []OID, capacity int) *Batch {
	b := &Batch{Cols: make([]Vector, len(typs))}
	for i, t := range typs {
		b.Cols[i] = NewVector(t, capacity)
	}
	return b
}

// Rows returns the rows that count.
func (b *Batch) Rows() Rows { return Rows{N: b.N, Sel: b.Sel} }

// Len is the number of rows that count.
func (b *Batch) Len() int { return b.Rows().Len() }

// MaxBatchBytes is how many bytes of values a batch may have before whoever fills it should make do with the
// rows there are: a thousand rows of a megabyte are not to be in memory at once.
const MaxBatchBytes = 4 << 20

// RowBytes is how many bytes the values of row i have outside their words.
func (b *Batch) RowBytes(i int) (n int) {
	for c := range b.Cols {
		if v := &b.Cols[c]; v.Class == Bytes && !v.Null[i] {
			n += len(v.B[i])
		}
	}
	return n
}

// Row copies row i into out, aliasing bytes.
func (b *Batch) Row(i int, out []Datum) {
	for c := range b.Cols {
		out[c] = b.Cols[c].Datum(i)
	}
}

// Reset empties the batch and its columns' arenas.
func (b *Batch) Reset() {
	b.N = 0
	b.Sel = nil
	for i := range b.Cols {
		b.Cols[i].Reset()
	}
}
