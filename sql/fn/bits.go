package fn

import (
	"bytes"
	"math/bits"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func bitOp(name string, op func(a, b byte) byte) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, x := a[0].Bits()
		m, y := a[1].Bits()
		if n != m {
			return types.Datum{}, pgerr.New(pgerr.StringDataLengthMismatch, "cannot %s bit strings of different sizes", name)
		}
		out := make([]byte, len(x))
		for i := range x {
			out[i] = op(x[i], y[i])
		}
		return types.BitDatum(n, out), nil
	}
}

func bitAt(b []byte, i int) byte { return b[i/8] >> (7 - i%8) & 1 }

// bitRange copies bits from to to.
func bitRange(b []byte, from, to int) types.Datum {
	n := to - from
	out := make([]byte, (n+7)/8)
	for i := range n {
		out[i/8] |= bitAt(b, from+i) << (7 - i%8)
	}
	return types.BitDatum(n, out)
}

func bitCat(a, b types.Datum) types.Datum {
	n, x := a.Bits()
	m, y := b.Bits()
	out := make([]byte, (n+m+7)/8)
	copy(out, x)
	for i := range m {
		out[(n+i)/8] |= bitAt(y, i) << (7 - (n+i)%8)
	}
	return types.BitDatum(n+m, out)
}

func bitSubstr(d types.Datum, start, n int64, limited bool) (types.Datum, error) {
	size, b := d.Bits()
	end := int64(size) + 1
	if limited {
		if n < 0 {
			return types.Datum{}, pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
		}
		end = min(start+n, end)
	}
	from := max(start, 1)
	if from > int64(size) || end <= from {
		return types.BitDatum(0, nil), nil
	}
	return bitRange(b, int(from-1), int(end-1)), nil
}

// bitShift moves the bits left by n, or right if n is negative; the length stays.
func bitShift(d types.Datum, n int64) types.Datum {
	size, b := d.Bits()
	out := make([]byte, len(b))
	for i := range size {
		if from := int64(i) + n; from >= 0 && from < int64(size) {
			out[i/8] |= bitAt(b, int(from)) << (7 - i%8)
		}
	}
	return types.BitDatum(size, out)
}

func bitFromInt(v int64, width int, n int64) types.Datum {
	size := int(n)
	if size <= 0 || size > 10485760*8 {
		size = 1
	}
	out := make([]byte, (size+7)/8)
	for i := range size {
		at := size - 1 - i // the weight of bit i
		bit := uint64(v) >> min(at, width-1) & 1
		out[i/8] |= byte(bit) << (7 - i%8)
	}
	return types.BitDatum(size, out)
}

func bitToInt(width int, t *intType) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, b := a[0].Bits()
		if n > width {
			return types.Datum{}, t.errRange()
		}
		var v uint64
		for i := range n {
			v = v<<1 | uint64(bitAt(b, i))
		}
		if width == 32 {
			return types.Int64Datum(int64(int32(v))), nil
		}
		return types.Int64Datum(int64(v)), nil
	}
}

func bitPosition(d, sub types.Datum) int64 {
	n, b := d.Bits()
	m, s := sub.Bits()
	switch {
	case n == 0:
		return 0
	case m == 0:
		return 1
	}
next:
	for i := 0; i+m <= n; i++ {
		for j := range m {
			if bitAt(b, i+j) != bitAt(s, j) {
				continue next
			}
		}
		return int64(i) + 1
	}
	return 0
}

func errBitIndex(i int64, size int) error {
	return pgerr.New(pgerr.ArraySubscriptError, "bit index %d out of valid range (0..%d)", i, size-1)
}

func errIndex(i int64, size int) error {
	return pgerr.New(pgerr.ArraySubscriptError, "index %d out of valid range, 0..%d", i, size-1)
}

func popcount(b []byte) int64 {
	n := 0
	for _, c := range b {
		n += bits.OnesCount8(c)
	}
	return int64(n)
}

func registerBits(r *registry) {
	r.fn("bit_and", bitOp("AND", func(a, b byte) byte { return a & b }))
	r.fn("bit_or", bitOp("OR", func(a, b byte) byte { return a | b }))
	r.fn("bitxor", bitOp("XOR", func(a, b byte) byte { return a ^ b }))
	r.fn("bitnot", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, b := a[0].Bits()
		out := make([]byte, len(b))
		for i := range b {
			out[i] = ^b[i]
		}
		if n%8 != 0 {
			out[len(out)-1] &= 0xFF << (8 - n%8)
		}
		return types.BitDatum(n, out), nil
	})
	r.fn("bitshiftleft", func(_ *Context, a []types.Datum) (types.Datum, error) { return bitShift(a[0], a[1].Int64()), nil })
	r.fn("bitshiftright", func(_ *Context, a []types.Datum) (types.Datum, error) { return bitShift(a[0], -a[1].Int64()), nil })
	r.fn("bitcat", func(_ *Context, a []types.Datum) (types.Datum, error) { return bitCat(a[0], a[1]), nil })
	r.fn("bitlength", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, _ := a[0].Bits()
		return intResult(n)
	})
	r.sql(1812, "bit_length", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, _ := a[0].Bits()
		return intResult(n)
	})
	r.fn("bitoctetlength", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, _ := a[0].Bits()
		return intResult((n + 7) / 8)
	})
	r.fn("bitsubstr", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bitSubstr(a[0], a[1].Int64(), a[2].Int64(), true)
	})
	r.fn("bitsubstr_no_len", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bitSubstr(a[0], a[1].Int64(), 0, false)
	})
	bitOverlay := func(d, with types.Datum, start, n int64) (types.Datum, error) {
		if start <= 0 {
			return types.Datum{}, pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
		}
		head, err := bitSubstr(d, 1, start-1, true)
		if err != nil {
			return types.Datum{}, err
		}
		tail, err := bitSubstr(d, start+n, 0, false)
		if err != nil {
			return types.Datum{}, err
		}
		return bitCat(bitCat(head, with), tail), nil
	}
	r.fn("bitoverlay", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bitOverlay(a[0], a[1], a[2].Int64(), a[3].Int64())
	})
	r.fn("bitoverlay_no_len", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, _ := a[1].Bits()
		return bitOverlay(a[0], a[1], a[2].Int64(), int64(n))
	})
	r.fn("bitposition", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(bitPosition(a[0], a[1])), nil
	})
	r.fn("bit_bit_count", func(_ *Context, a []types.Datum) (types.Datum, error) {
		_, b := a[0].Bits()
		return types.Int64Datum(popcount(b)), nil
	})
	r.fn("bitgetbit", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, b := a[0].Bits()
		i := a[1].Int64()
		if i < 0 || i >= int64(n) {
			return types.Datum{}, errBitIndex(i, n)
		}
		return types.Int64Datum(int64(bitAt(b, int(i)))), nil
	})
	r.fn("bitsetbit", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, b := a[0].Bits()
		i, v := a[1].Int64(), a[2].Int64()
		if i < 0 || i >= int64(n) {
			return types.Datum{}, errBitIndex(i, n)
		}
		out, err := setBit(bytes.Clone(b), int(i/8), uint(7-i%8), v)
		return types.BitDatum(n, out), err
	})
	r.fn("bitfromint4", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bitFromInt(a[0].Int64(), 32, a[1].Int64()), nil
	})
	r.fn("bitfromint8", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bitFromInt(a[0].Int64(), 64, a[1].Int64()), nil
	})
	r.fn("bittoint4", bitToInt(32, int4Type))
	r.fn("bittoint8", bitToInt(64, int8Type))
}

func setBit(b []byte, at int, shift uint, v int64) ([]byte, error) {
	switch v {
	case 0:
		b[at] &^= 1 << shift
	case 1:
		b[at] |= 1 << shift
	default:
		return nil, errParameter("new bit must be 0 or 1")
	}
	return b, nil
}

func registerBytea(r *registry) {
	r.fn("bytea_substr", substringOf(byteSubstring, true))
	r.fn("bytea_substr_no_len", substringOf(byteSubstring, false))
	length := func(b []byte) int { return len(b) }
	r.fn("byteaoverlay", overlay(byteSubstring, length, true))
	r.fn("byteaoverlay_no_len", overlay(byteSubstring, length, false))
	r.fn("byteapos", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return intResult(bytes.Index(a[0].B, a[1].B) + 1)
	})
	for name, side := range map[string][2]bool{"byteatrim": {true, true}, "bytealtrim": {true, false}, "byteartrim": {false, true}} {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) {
			b, set := a[0].B, a[1].B
			in := func(c byte) bool { return bytes.IndexByte(set, c) >= 0 }
			for side[0] && len(b) > 0 && in(b[0]) {
				b = b[1:]
			}
			for side[1] && len(b) > 0 && in(b[len(b)-1]) {
				b = b[:len(b)-1]
			}
			return bytesResult(b)
		})
	}
	r.fn("bytea_bit_count", func(_ *Context, a []types.Datum) (types.Datum, error) { return types.Int64Datum(popcount(a[0].B)), nil })
	r.fn("byteaGetByte", func(_ *Context, a []types.Datum) (types.Datum, error) {
		i := a[1].Int64()
		if i < 0 || i >= int64(len(a[0].B)) {
			return types.Datum{}, errIndex(i, len(a[0].B))
		}
		return types.Int64Datum(int64(a[0].B[i])), nil
	})
	r.fn("byteaSetByte", func(_ *Context, a []types.Datum) (types.Datum, error) {
		i := a[1].Int64()
		if i < 0 || i >= int64(len(a[0].B)) {
			return types.Datum{}, errIndex(i, len(a[0].B))
		}
		out := bytes.Clone(a[0].B)
		out[i] = byte(a[2].W)
		return bytesResult(out)
	})
	// Bits of a bytea count from the low end of each byte.
	r.fn("byteaGetBit", func(_ *Context, a []types.Datum) (types.Datum, error) {
		i := a[1].Int64()
		if i < 0 || i >= int64(len(a[0].B))*8 {
			return types.Datum{}, errIndex(i, len(a[0].B)*8)
		}
		return types.Int64Datum(int64(a[0].B[i/8] >> (i % 8) & 1)), nil
	})
	r.fn("byteaSetBit", func(_ *Context, a []types.Datum) (types.Datum, error) {
		i := a[1].Int64()
		if i < 0 || i >= int64(len(a[0].B))*8 {
			return types.Datum{}, errIndex(i, len(a[0].B)*8)
		}
		out, err := setBit(bytes.Clone(a[0].B), int(i/8), uint(i%8), a[2].Int64())
		return types.Datum{B: out}, err
	})
}
