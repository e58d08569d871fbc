package types

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

// ParseNum parses the text form of a numeric.
func ParseNum(s []byte) (Num, error) {
	t := trimSpace(s)
	if len(t) == 0 {
		return Num{}, errSyntax("numeric", s)
	}
	if n, ok := numWord(t); ok {
		return n, nil
	}
	neg := false
	if t[0] == '+' || t[0] == '-' {
		neg = t[0] == '-'
		t = t[1:]
	}
	var digits []byte // set only when the word overflows
	var c uint64
	scale, seen := 0, false
	dot := false
	i := 0
	start := 0
	for ; i < len(t); i++ {
		ch := t[i]
		if ch == '.' {
			if dot {
				return Num{}, errSyntax("numeric", s)
			}
			dot = true
			continue
		}
		if !isDigit(ch) {
			break
		}
		seen = true
		if dot {
			scale++
		}
		if digits == nil {
			if c > (math.MaxInt64-9)/10 {
				digits = make([]byte, 0, len(t))
				for _, ch := range t[start:i] {
					if ch != '.' {
						digits = append(digits, ch)
					}
				}
				digits = append(digits, ch)
				continue
			}
			c = c*10 + uint64(ch-'0')
		} else {
			digits = append(digits, ch)
		}
	}
	if !seen || (t[0] == '.' && len(t) > 1 && !isDigit(t[1])) {
		return Num{}, errSyntax("numeric", s)
	}
	exp := 0
	if i < len(t) && t[i]|0x20 == 'e' {
		var used int
		var over bool
		rest := string(t[i+1:])
		exp, used, over = leadingInt(rest)
		if used == 0 {
			return Num{}, errSyntax("numeric", s)
		}
		i += 1 + used
		if i == len(t) && (over || exp >= math.MaxInt32/2 || exp <= -(math.MaxInt32/2)) {
			return Num{}, errNumOverflow()
		}
	}
	if i != len(t) {
		return Num{}, errSyntax("numeric", s)
	}
	var n Num
	if digits == nil {
		n.c = int64(c)
		if neg {
			n.c = -n.c
		}
	} else {
		v, _ := new(big.Int).SetString(unsafeString(digits), 10)
		if neg {
			v.Neg(v)
		}
		n.big = v
	}
	return n.withExponent(scale, exp)
}

// withExponent gives n, an integer, the scale and exponent that the text had, within the limits.
func (n Num) withExponent(scale, exp int) (Num, error) {
	if scale > numMaxScale && exp == 0 {
		return Num{}, errNumOverflow()
	}
	scale -= exp
	if scale >= 0 {
		if scale > numMaxScale {
			return Num{}, errNumOverflow()
		}
		n.scale = int32(scale)
		return n.checkedWeight()
	}
	if n.Sign() == 0 {
		return Num{}, nil
	}
	if n.digits()-scale > numMaxDigits {
		return Num{}, errNumOverflow()
	}
	if -scale < 19 && n.big == nil {
		if c, ok := mulInt64(n.c, int64(powersOf10[-scale])); ok {
			return Num{c: c}, nil
		}
	}
	return normNum(new(big.Int).Mul(n.bigCoef(), bigPow10(-scale)), 0), nil
}

func (n Num) checkedWeight() (Num, error) {
	if n.big != nil && n.digits()-int(n.scale) > numMaxDigits {
		return Num{}, errNumOverflow()
	}
	return n, nil
}

func numWord(t []byte) (Num, bool) {
	sign := NumPosInf
	u := t
	if u[0] == '+' || u[0] == '-' {
		if u[0] == '-' {
			sign = NumNegInf
		}
		u = u[1:]
	}
	switch {
	case foldEqual(u, "inf"), foldEqual(u, "infinity"):
		return sign, true
	case foldEqual(t, "nan"):
		return NumNaN, true
	}
	return Num{}, false
}

// Append prints n.
func (n Num) Append(dst []byte) []byte {
	switch n.kind {
	case numNaN:
		return append(dst, "NaN"...)
	case numPosInf:
		return append(dst, "Infinity"...)
	case numNegInf:
		return append(dst, "-Infinity"...)
	}
	var buf [24]byte
	var d []byte
	if n.big == nil {
		if n.c < 0 {
			dst = append(dst, '-')
		}
		d = strconv.AppendUint(buf[:0], absUint64(n.c), 10)
	} else {
		d = n.big.Append(nil, 10)
		if d[0] == '-' {
			dst = append(dst, '-')
			d = d[1:]
		}
	}
	scale := int(n.scale)
	if scale == 0 {
		return append(dst, d...)
	}
	whole := len(d) - scale
	if whole <= 0 {
		dst = append(dst, '0', '.')
		for range -whole {
			dst = append(dst, '0')
		}
		return append(dst, d...)
	}
	dst = append(dst, d[:whole]...)
	dst = append(dst, '.')
	return append(dst, d[whole:]...)
}

// String is the text form.
func (n Num) String() string { return string(n.Append(nil)) }

// Float64 converts; out of range it is an infinity and ok is false.
func (n Num) Float64() (v float64, ok bool) { return n.float(64) }

// Float32 converts; out of range it is an infinity and ok is false.
func (n Num) Float32() (v float64, ok bool) { return n.float(32) }

func (n Num) float(bits int) (float64, bool) {
	switch n.kind {
	case numNaN:
		return math.NaN(), true
	case numPosInf:
		return math.Inf(1), true
	case numNegInf:
		return math.Inf(-1), true
	}
	// Both operands exact, so is the rounding of one division.
	if n.big == nil && bits == 64 && n.scale <= 22 && absUint64(n.c) < 1<<53 {
		if n.scale == 0 {
			return float64(n.c), true
		}
		if n.scale < 20 {
			return float64(n.c) / float64(powersOf10[n.scale]), true
		}
	}
	var buf [64]byte
	v, err := strconv.ParseFloat(string(n.Append(buf[:0])), bits)
	if err == nil && v == 0 && n.Sign() != 0 {
		return 0, false
	}
	return v, err == nil
}

// NumFromFloat64 converts with 15 significant digits, as float8_numeric.
func NumFromFloat64(v float64) Num { return numFromFloat(v, 15) }

// NumFromFloat32 converts with 6 significant digits, as float4_numeric.
func NumFromFloat32(v float64) Num { return numFromFloat(v, 6) }

func numFromFloat(v float64, digits int) Num {
	switch {
	case math.IsNaN(v):
		return NumNaN
	case math.IsInf(v, 1):
		return NumPosInf
	case math.IsInf(v, -1):
		return NumNegInf
	}
	var buf [48]byte
	n, _ := ParseNum(appendG(buf[:0], v, digits))
	return n
}

// First bytes of the storage form; below smallScaleMax it is the scale of a short one.
const (
	storePos    = 0x40
	storeNeg    = 0x41
	storeNaN    = 0x80
	storePosInf = 0x81
	storeNegInf = 0x82
)

// AppendStore appends the storage form: the scale and the fewest bytes of the coefficient in two's complement, little-endian; or 0x40 or 0x41,
// the scale in two bytes and the big-endian magnitude; or a special.
func (n Num) AppendStore(dst []byte) []byte {
	switch n.kind {
	case numNaN:
		return append(dst, storeNaN)
	case numPosInf:
		return append(dst, storePosInf)
	case numNegInf:
		return append(dst, storeNegInf)
	}
	if n.big == nil && n.scale <= smallScaleMax {
		dst = append(dst, byte(n.scale))
		if n.c == 0 {
			return dst
		}
		c := n.c
		for c < math.MinInt8 || c > math.MaxInt8 {
			dst = append(dst, byte(c))
			c >>= 8
		}
		return append(dst, byte(c))
	}
	v := n.bigCoef()
	head := byte(storePos)
	if v.Sign() < 0 {
		head = storeNeg
	}
	dst = append(dst, head, byte(n.scale), byte(n.scale>>8))
	at := len(dst)
	size := (v.BitLen() + 7) / 8
	for range size {
		dst = append(dst, 0)
	}
	v.FillBytes(dst[at:])
	return dst
}

// NumDatum makes a numeric datum.
func NumDatum(n Num) Datum { return Datum{B: n.AppendStore(make([]byte, 0, 9))} }

// Num reads a numeric datum.
func (d Datum) Num() Num { return NumFromStore(d.B) }

// NumFromStore reads the storage form.
func NumFromStore(b []byte) Num {
	head := b[0]
	switch {
	case head <= smallScaleMax:
		n := Num{scale: int32(head)}
		k := len(b) - 1
		if k == 8 {
			n.c = int64(binary.LittleEndian.Uint64(b[1:]))
			return n
		}
		var u uint64
		for i := k; i > 0; i-- {
			u = u<<8 | uint64(b[i])
		}
		shift := uint(64 - 8*k)
		if k > 0 {
			n.c = int64(u<<shift) >> shift
		}
		return n
	case head == storePos || head == storeNeg:
		v := new(big.Int).SetBytes(b[3:])
		if head == storeNeg {
			v.Neg(v)
		}
		return normNum(v, int32(b[1])|int32(b[2])<<8)
	case head == storePosInf:
		return NumPosInf
	case head == storeNegInf:
		return NumNegInf
	}
	return NumNaN
}

// numTypmod takes precision and scale out of a modifier.
func numTypmod(typmod int32) (precision, scale int) {
	t := typmod - 4
	precision = int(t >> 16 & 0xFFFF)
	scale = int((t&0x7FF ^ 1024) - 1024)
	return precision, scale
}

// ApplyNumTypmod rounds to the modifier's scale and checks its precision.
func ApplyNumTypmod(n Num, typmod int32) (Num, error) {
	if typmod < 4 {
		return n, nil
	}
	precision, scale := numTypmod(typmod)
	if n.IsNaN() {
		return n, nil
	}
	if n.IsInf() {
		return Num{}, pgerr.New(pgerr.NumericValueOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", precision, scale)
	}
	n = n.Round(scale)
	if n.Sign() == 0 {
		return n, nil
	}
	whole := precision - scale
	if n.digits()-int(n.scale) > whole {
		pow := "10^"
		shown := whole
		if whole == 0 {
			pow, shown = "", 1
		}
		return Num{}, pgerr.New(pgerr.NumericValueOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s%d.", precision, scale, pow, shown)
	}
	return n, nil
}

// The binary form: base-10000 digits, as PostgreSQL sends them.
const (
	wireNeg    = 0x4000
	wireNaN    = 0xC000
	wirePosInf = 0xD000
	wireNegInf = 0xF000
	// wireInfScale is what PostgreSQL 15 happens to send as the scale of infinities.
	wireInfScale = 0x20
)

func (n Num) appendWire(dst []byte) []byte {
	head := func(digits, weight, sign, scale int) {
		dst = binary.BigEndian.AppendUint16(dst, uint16(digits))
		dst = binary.BigEndian.AppendUint16(dst, uint16(weight))
		dst = binary.BigEndian.AppendUint16(dst, uint16(sign))
		dst = binary.BigEndian.AppendUint16(dst, uint16(scale))
	}
	switch n.kind {
	case numNaN:
		head(0, 0, wireNaN, 0)
		return dst
	case numPosInf:
		head(0, 0, wirePosInf, wireInfScale)
		return dst
	case numNegInf:
		head(0, 0, wireNegInf, wireInfScale)
		return dst
	}
	sign := 0
	if n.Sign() < 0 {
		sign = wireNeg
	}
	var buf [24]byte
	d := n.Abs()
	d.scale = 0
	text := d.Append(buf[:0])
	// Align the digits to base 10000 at the point.
	scale := int(n.scale)
	for scale%4 != 0 {
		text = append(text, '0')
		scale++
	}
	pad := (4 - len(text)%4) % 4
	groups := make([]uint16, 0, len(text)/4+1)
	v, k := 0, pad
	for _, c := range text {
		v = v*10 + int(c-'0')
		if k++; k == 4 {
			groups = append(groups, uint16(v))
			v, k = 0, 0
		}
	}
	weight := len(groups) - scale/4 - 1
	for len(groups) > 0 && groups[0] == 0 {
		groups = groups[1:]
		weight--
	}
	for len(groups) > 0 && groups[len(groups)-1] == 0 {
		groups = groups[:len(groups)-1]
	}
	if len(groups) == 0 {
		weight = 0
	}
	head(len(groups), weight, sign, int(n.scale))
	for _, g := range groups {
		dst = binary.BigEndian.AppendUint16(dst, g)
	}
	return dst
}

func numFromWire(b []byte) (Num, error) {
	if len(b) < 8 {
		return Num{}, errShort()
	}
	count := int(binary.BigEndian.Uint16(b))
	weight := int(int16(binary.BigEndian.Uint16(b[2:])))
	sign := int(binary.BigEndian.Uint16(b[4:]))
	scale := int(binary.BigEndian.Uint16(b[6:]))
	switch sign {
	case 0, wireNeg:
	case wireNaN:
		return NumNaN, nil
	case wirePosInf:
		return NumPosInf, nil
	case wireNegInf:
		return NumNegInf, nil
	default:
		return Num{}, errBinary("invalid sign in external \"numeric\" value")
	}
	if scale > numMaxScale {
		return Num{}, errBinary("invalid scale in external \"numeric\" value")
	}
	b = b[8:]
	if len(b) < count*2 {
		return Num{}, errShort()
	}
	text := make([]byte, 0, count*4)
	for i := range count {
		g := int(binary.BigEndian.Uint16(b[2*i:]))
		if g > 9999 {
			return Num{}, errBinary("invalid digit in external \"numeric\" value")
		}
		text = append(text, byte(g/1000)+'0', byte(g/100%10)+'0', byte(g/10%10)+'0', byte(g%10)+'0')
	}
	if len(text) == 0 {
		return Num{scale: int32(scale)}, nil
	}
	v, _ := new(big.Int).SetString(string(text), 10)
	if sign == wireNeg {
		v.Neg(v)
	}
	// The digits' own scale, which the display scale cuts.
	own := (count - 1 - weight) * 4
	if own < 0 {
		if weight > 32767 {
			return Num{}, errNumOverflow()
		}
		v.Mul(v, bigPow10(-own))
		own = 0
	}
	return normNum(v, int32(own)).Trunc(scale), nil
}

func errShort() error {
	return pgerr.New(pgerr.ProtocolViolation, "insufficient data left in message")
}
