package fn

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/minipg/minipg/types"
)

// The hash functions that SQL can call give PostgreSQL's numbers, which people keep in partitioning schemes of their own: Bob Jenkins'
// lookup3 as in PostgreSQL's hashfn.c. Hash joins use types.Hash.

// jenkins is the state of lookup3.
type jenkins struct{ a, b, c uint32 }

func (j *jenkins) mix() {
	a, b, c := j.a, j.b, j.c
	step := func(x, y, z *uint32, k int) {
		*x -= *z
		*x ^= bits.RotateLeft32(*z, k)
		*z += *y
	}
	step(&a, &b, &c, 4)
	step(&b, &c, &a, 6)
	step(&c, &a, &b, 8)
	step(&a, &b, &c, 16)
	step(&b, &c, &a, 19)
	step(&c, &a, &b, 4)
	j.a, j.b, j.c = a, b, c
}

func (j *jenkins) final() {
	a, b, c := j.a, j.b, j.c
	step := func(x *uint32, y uint32, k int) {
		*x ^= y
		*x -= bits.RotateLeft32(y, k)
	}
	step(&c, b, 14)
	step(&a, c, 11)
	step(&b, a, 25)
	step(&c, b, 16)
	step(&a, c, 4)
	step(&b, a, 14)
	step(&c, b, 24)
	j.a, j.b, j.c = a, b, c
}

func newJenkins(size int, seed uint64) jenkins {
	v := 0x9e3779b9 + uint32(size) + 3923095
	j := jenkins{v, v, v}
	if seed != 0 {
		j.a += uint32(seed >> 32)
		j.b += uint32(seed)
		j.mix()
	}
	return j
}

// hashAny hashes bytes; the low half is the 32-bit hash if seed is 0.
func hashAny(k []byte, seed uint64) uint64 {
	j := newJenkins(len(k), seed)
	for len(k) >= 12 {
		j.a += binary.LittleEndian.Uint32(k)
		j.b += binary.LittleEndian.Uint32(k[4:])
		j.c += binary.LittleEndian.Uint32(k[8:])
		j.mix()
		k = k[12:]
	}
	for i, c := range k {
		v := uint32(c)
		switch {
		case i < 4:
			j.a += v << (8 * i)
		case i < 8:
			j.b += v << (8 * (i - 4))
		default:
			j.c += v << (8 * (i - 7)) // the lowest byte of c holds the length
		}
	}
	j.final()
	return uint64(j.b)<<32 | uint64(j.c)
}

func hashUint32(v uint32, seed uint64) uint64 {
	j := newJenkins(4, seed)
	j.a += v
	j.final()
	return uint64(j.b)<<32 | uint64(j.c)
}

func hashInt64(v int64, seed uint64) uint64 {
	lo, hi := uint32(v), uint32(v>>32)
	if v < 0 {
		hi = ^hi
	}
	return hashUint32(lo^hi, seed)
}

func hashFloat64(v float64, seed uint64) uint64 {
	if v == 0 {
		return seed
	}
	if math.IsNaN(v) {
		v = math.Float64frombits(0x7FF8000000000000)
	}
	return hashAny(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)), seed)
}

// hashNumeric hashes the base-10000 digits without leading and trailing zeros.
func hashNumeric(d types.Datum, seed uint64, wide bool) uint64 {
	n := d.Num()
	if !n.IsFinite() {
		return seed
	}
	wire := types.Send(types.Numeric, d, nil, nil)
	count, weight := int(binary.BigEndian.Uint16(wire)), int16(binary.BigEndian.Uint16(wire[2:]))
	if count == 0 {
		return seed - 1
	}
	digits := make([]byte, 0, 2*count)
	for i := range count {
		digits = binary.LittleEndian.AppendUint16(digits, binary.BigEndian.Uint16(wire[8+2*i:]))
	}
	h := hashAny(digits, seed)
	if wide {
		return h ^ uint64(int64(weight))
	}
	return uint64(uint32(h) ^ uint32(int32(weight)))
}

func hashTimetz(d types.Datum, seed uint64) uint64 {
	t, west := d.Timetz()
	return hashInt64(t, seed) ^ hashUint32(uint32(west), seed)
}

func hashInterval(d types.Datum, seed uint64) uint64 {
	v := d.Interval()
	days := int64(v.Months)*30 + int64(v.Days)
	return hashInt64(days*types.UsecsPerDay+v.Micros, seed)
}

// pgHash is the hash of a value of a type by its default hash operator class; ok is false if it has none.
func (c *Context) pgHash(typ types.OID, d types.Datum, seed uint64, wide bool) (h uint64, ok bool) {
	if t := types.Lookup(typ, c.Env.Types); t != nil {
		switch {
		case t.IsArray():
			return c.hashArray(d, seed, wide), true
		case t.Kind == 'd':
			return c.pgHash(t.Base, d, seed, wide)
		case t.Kind == 'e':
			return hashUint32(uint32(d.W), seed), true
		case t.Kind == 'c' || typ == types.Record:
			return c.hashRecord(d, seed, wide), true
		}
	}
	switch typ {
	case types.Int2, types.Int4, types.Date, types.Oid, types.Xid, types.Cid, types.Regclass, types.Regtype, types.Regproc:
		return hashUint32(uint32(d.W), seed), true
	case types.Bool, types.Char:
		return hashUint32(uint32(int32(int8(d.W))), seed), true
	case types.Int8, types.Timestamp, types.Timestamptz, types.Time, types.PgLsn, types.Xid8, types.Money:
		return hashInt64(d.Int64(), seed), true
	case types.Float4, types.Float8:
		return hashFloat64(d.Float64(), seed), true
	case types.Numeric:
		return hashNumeric(d, seed, wide), true
	case types.Bpchar:
		return hashAny(types.TrimBpchar(d.B), seed), true
	case types.Timetz:
		return hashTimetz(d, seed), true
	case types.Interval:
		return hashInterval(d, seed), true
	case types.Text, types.Varchar, types.Name, types.Bytea, types.Uuid:
		return hashAny(d.B, seed), true
	}
	return 0, false
}

func (c *Context) hashArray(d types.Datum, seed uint64, wide bool) uint64 {
	a := d.Array()
	h := uint64(1)
	it := a.Iter()
	for e, ok := it.Next(); ok; e, ok = it.Next() {
		var x uint64
		if !e.Null {
			x, _ = c.pgHash(a.Elem, e, seed, wide)
		}
		if !wide {
			x = uint64(uint32(x))
		}
		h = h<<5 - h + x
		if !wide {
			h = uint64(uint32(h))
		}
	}
	return h
}

func (c *Context) hashRecord(d types.Datum, seed uint64, wide bool) uint64 {
	r := d.Record()
	h := uint64(0)
	for i, v := range r.Values() {
		var x uint64
		if !v.Null {
			x, _ = c.pgHash(r.Fields[i].Attr.Type, v, seed, wide)
		}
		if wide {
			h = h<<5 - h + x
		} else {
			h = uint64(uint32(h)<<5 - uint32(h) + uint32(x))
		}
	}
	return h
}

func registerHash(r *registry) {
	// wide is set for the extended forms, whose result has 64 bits even if the seed is 0.
	enterWide := func(name, extended string, f func(c *Context, d types.Datum, seed uint64, wide bool) uint64) {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			return types.Int64Datum(int64(int32(f(c, a[0], 0, false)))), nil
		})
		r.fn(extended, func(c *Context, a []types.Datum) (types.Datum, error) {
			return types.Datum{W: f(c, a[0], a[1].W, true)}, nil
		})
	}
	enter := func(name, extended string, f func(c *Context, d types.Datum, seed uint64) uint64) {
		enterWide(name, extended, func(c *Context, d types.Datum, seed uint64, _ bool) uint64 { return f(c, d, seed) })
	}
	word := func(_ *Context, d types.Datum, seed uint64) uint64 { return hashUint32(uint32(d.W), seed) }
	wide := func(_ *Context, d types.Datum, seed uint64) uint64 { return hashInt64(d.Int64(), seed) }
	float := func(_ *Context, d types.Datum, seed uint64) uint64 { return hashFloat64(d.Float64(), seed) }
	raw := func(_ *Context, d types.Datum, seed uint64) uint64 { return hashAny(d.B, seed) }
	for _, n := range []string{"hashint2", "hashint4", "hashoid", "hashenum"} {
		enter(n, n+"extended", word)
	}
	enter("hashint8", "hashint8extended", wide)
	enter("hashoidvector", "hashoidvectorextended", func(_ *Context, d types.Datum, seed uint64) uint64 {
		arr := d.Array()
		var b []byte
		for _, e := range arr.Elems(nil) {
			b = binary.LittleEndian.AppendUint32(b, uint32(e.W))
		}
		return hashAny(b, seed)
	})
	enter("hashtid", "hashtidextended", func(_ *Context, d types.Datum, seed uint64) uint64 {
		b := types.Send(types.Tid, d, nil, nil)
		block := binary.BigEndian.Uint32(b)
		le := binary.LittleEndian.AppendUint16(nil, uint16(block>>16))
		le = binary.LittleEndian.AppendUint16(le, uint16(block))
		return hashAny(binary.LittleEndian.AppendUint16(le, binary.BigEndian.Uint16(b[4:])), seed)
	})
	enter("hashfloat4", "hashfloat4extended", float)
	enter("hashfloat8", "hashfloat8extended", float)
	for _, n := range []string{"hashtext", "hashname", "hashvarlena"} {
		enter(n, n+"extended", raw)
	}
	enter("uuid_hash", "uuid_hash_extended", raw)
	enter("hashchar", "hashcharextended", func(_ *Context, d types.Datum, seed uint64) uint64 {
		return hashUint32(uint32(int32(int8(d.W))), seed)
	})
	enter("hashbpchar", "hashbpcharextended", func(_ *Context, d types.Datum, seed uint64) uint64 {
		return hashAny(types.TrimBpchar(d.B), seed)
	})
	for _, n := range []string{"time_hash", "timestamp_hash", "pg_lsn_hash"} {
		enter(n, n+"_extended", wide)
	}
	enter("timetz_hash", "timetz_hash_extended", func(_ *Context, d types.Datum, seed uint64) uint64 { return hashTimetz(d, seed) })
	enter("interval_hash", "interval_hash_extended", func(_ *Context, d types.Datum, seed uint64) uint64 { return hashInterval(d, seed) })
	enterWide("hash_numeric", "hash_numeric_extended", func(_ *Context, d types.Datum, seed uint64, wide bool) uint64 {
		return hashNumeric(d, seed, wide)
	})
	enterWide("hash_array", "hash_array_extended", (*Context).hashArray)
	enterWide("hash_record", "hash_record_extended", (*Context).hashRecord)
}
