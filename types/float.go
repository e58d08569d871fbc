package types

import (
	"errors"
	"math"
	"math/big"
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

// parseFloat follows float8in_internal: C's strtod with PostgreSQL's spellings of infinity and NaN.
func parseFloat(s []byte, bits int) (float64, error) {
	typ := "double precision"
	if bits == 32 {
		typ = "real"
	}
	t := trimSpace(s)
	if len(t) == 0 {
		return 0, errSyntax(typ, s)
	}
	for _, c := range t {
		// Go takes underscores where C does not.
		if c == '_' {
			return 0, errSyntax(typ, s)
		}
	}
	if v, ok := floatWord(t); ok {
		return v, nil
	}
	str := string(t)
	if hex, ok := hexFloat(str); ok {
		str = hex
	}
	v, err := strconv.ParseFloat(str, bits)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return 0, errFloatRange(t, typ)
		}
		return 0, errSyntax(typ, s)
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		// Spellings that Go knows and floatWord does not.
		return 0, errSyntax(typ, s)
	}
	if v == 0 && hasNonZeroDigit(t) {
		return 0, errFloatRange(t, typ)
	}
	return v, nil
}

func errFloatRange(t []byte, typ string) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t, typ)
}

func hasNonZeroDigit(t []byte) bool {
	for _, c := range t {
		if c == 'e' || c == 'E' {
			return false
		}
		if c >= '1' && c <= '9' {
			return true
		}
	}
	return false
}

// hexFloat gives a C hexadecimal float the exponent that Go insists on.
func hexFloat(s string) (string, bool) {
	t := s
	if t[0] == '+' || t[0] == '-' {
		t = t[1:]
	}
	if len(t) < 3 || t[0] != '0' || t[1]|0x20 != 'x' {
		return "", false
	}
	for i := range len(t) {
		if t[i]|0x20 == 'p' {
			return "", false
		}
	}
	return s + "p0", true
}

// nanBits is C's NaN; Go's has a low bit set.
const nanBits = 0x7FF8000000000000

func floatWord(t []byte) (float64, bool) {
	sign := 1
	u := t
	if u[0] == '+' || u[0] == '-' {
		if u[0] == '-' {
			sign = -1
		}
		u = u[1:]
	}
	switch {
	case foldEqual(u, "inf"), foldEqual(u, "infinity"):
		return math.Inf(sign), true
	case foldEqual(u, "nan"):
		return math.Float64frombits(nanBits | uint64(1-sign)<<62), true
	}
	return 0, false
}

func foldEqual(t []byte, word string) bool { return len(t) == len(word) && foldPrefix(t, word) }

// appendFloat prints as float8out and float4out do.
func appendFloat(dst []byte, v float64, bits, extraDigits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	digits, fixedBelow := 15, 15
	if bits == 32 {
		digits, fixedBelow = 6, 6
	}
	if extraDigits <= 0 {
		prec := digits + extraDigits
		if prec < 1 {
			prec = 1
		}
		return appendG(dst, v, prec)
	}
	// The shortest digits that give the value back; fixed notation for exponents from -4
	// to below 15 (float4: 6), as in the Ryu code of PostgreSQL.
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], v, 'e', -1, bits)
	if onBoundary(v, bits, e) {
		e = insideDigits(buf[:0], v, bits)
	}
	return layoutDigits(dst, e, fixedBelow)
}

// onBoundary reports whether the digits are exactly halfway to a neighbour. Reading would round them to v, as its last bit is even, and Go
// prints them; PostgreSQL does not. With as few digits as a float needs that happens only for integers of middling size.
func onBoundary(v float64, bits int, digits []byte) bool {
	v = math.Abs(v)
	low := float64(1 << 52)
	if bits == 32 {
		low = 1 << 21
	}
	if v < low || v > 1e40 {
		return false
	}
	d, _ := new(big.Float).SetPrec(256).SetString(unsafeString(digits))
	d.Abs(d)
	exact := new(big.Float).SetPrec(256).SetFloat64(v)
	if d.Cmp(exact) == 0 {
		return false
	}
	var down, up float64
	if bits == 32 {
		down = float64(math.Nextafter32(float32(v), 0))
		up = float64(math.Nextafter32(float32(v), math.MaxFloat32))
	} else {
		down = math.Nextafter(v, 0)
		up = math.Nextafter(v, math.Inf(1))
	}
	d.Add(d, d)
	half := new(big.Float).SetPrec(256)
	if half.Add(exact, big.NewFloat(down)); d.Cmp(half) == 0 {
		return true
	}
	half.Add(exact, big.NewFloat(up))
	return d.Cmp(half) == 0
}

// insideDigits finds the fewest digits that are nearer to v than to its neighbours.
func insideDigits(buf []byte, v float64, bits int) []byte {
	most := 16
	if bits == 32 {
		most = 8
	}
	for prec := 0; ; prec++ {
		e := strconv.AppendFloat(buf, v, 'e', prec, bits)
		back, err := strconv.ParseFloat(unsafeString(e), bits)
		if prec == most || (err == nil && back == v && !onBoundary(v, bits, e)) {
			return e
		}
	}
}

// appendG is C's %.*g.
func appendG(dst []byte, v float64, prec int) []byte {
	var buf [64]byte
	e := strconv.AppendFloat(buf[:0], v, 'e', prec-1, 64)
	// %g drops trailing zeros of the mantissa.
	p := 0
	for p < len(e) && e[p] != 'e' {
		p++
	}
	m := p
	dot := false
	for i := range p {
		if e[i] == '.' {
			dot = true
		}
	}
	if dot {
		for m > 0 && e[m-1] == '0' {
			m--
		}
		if e[m-1] == '.' {
			m--
		}
		e = append(e[:m], e[p:]...)
	}
	return layoutDigits(dst, e, prec)
}

// layoutDigits turns "-d.ddde±xx" into fixed notation if -4 <= exponent < below.
func layoutDigits(dst, e []byte, below int) []byte {
	if e[0] == '-' {
		dst = append(dst, '-')
		e = e[1:]
	}
	p := 0
	for e[p] != 'e' {
		p++
	}
	exp := 0
	for _, c := range e[p+2:] {
		exp = exp*10 + int(c-'0')
	}
	if e[p+1] == '-' {
		exp = -exp
	}
	if exp < -4 || exp >= below {
		return append(dst, e...)
	}
	// digits without the point
	first, rest := e[0], e[1:p]
	if len(rest) > 0 {
		rest = rest[1:]
	}
	if exp < 0 {
		dst = append(dst, "0."...)
		for range -exp - 1 {
			dst = append(dst, '0')
		}
		dst = append(dst, first)
		return append(dst, rest...)
	}
	dst = append(dst, first)
	for i := range exp {
		if i < len(rest) {
			dst = append(dst, rest[i])
		} else {
			dst = append(dst, '0')
		}
	}
	if len(rest) > exp {
		dst = append(dst, '.')
		dst = append(dst, rest[exp:]...)
	}
	return dst
}

// CompareFloat orders floats with NaN equal to itself and above all else.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	an, bn := math.IsNaN(a), math.IsNaN(b)
	switch {
	case an && bn:
		return 0
	case an:
		return 1
	}
	return -1
}
