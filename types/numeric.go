package types

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/cockroachdb/apd/v3"

	"github.com/minipg/minipg/pgerr"
)

// numKind tells the special values apart.
type numKind uint8

const (
	numFinite numKind = iota
	numNaN
	numPosInf
	numNegInf
)

// Limits of numeric, as in PostgreSQL's numeric.c.
const (
	numMaxPrecision    = 1000
	numMaxScale        = 16383 // digits after the point
	numMaxDigits       = 4 * 32768
	numMaxDisplayScale = 1000
	numMinSigDigits    = 16
	// numMaxResultScale bounds exponents of exp and power.
	numMaxResultScale = numMaxPrecision * 2
	// smallScaleMax is the largest scale of the short storage form.
	smallScaleMax = 0x3F
)

// Num is a numeric: coefficient × 10^-scale, NaN or an infinity. The coefficient is in c, or in big if that
// is not nil. The scale is the number of digits shown after the point, so nothing hides behind it.
// The zero Num is 0. Nums are values: no operation changes the big.Int of an operand.
type Num struct {
	kind  numKind
	scale int32
	c     int64
	big   *big.Int
}

// NumNaN and the infinities.
var (
	NumNaN    = Num{kind: numNaN}
	NumPosInf = Num{kind: numPosInf}
	NumNegInf = Num{kind: numNegInf}
)

// NumFromInt64 makes an integer.
func NumFromInt64(v int64) Num { return Num{c: v} }

// NumFromScaled makes v × 10^-scale.
func NumFromScaled(v int64, scale int) Num { return Num{c: v, scale: int32(scale)} }

// NumFromBig makes v × 10^-scale and keeps v.
func NumFromBig(v *big.Int, scale int) Num { return normNum(v, int32(scale)) }

// NumFromUint128 makes the integer hi<<64 + lo, hi signed.
func NumFromUint128(hi int64, lo uint64) Num {
	if hi == int64(lo)>>63 {
		return Num{c: int64(lo)}
	}
	neg := hi < 0
	h, l := uint64(hi), lo
	if neg {
		l = -l
		h = ^h
		if l == 0 {
			h++
		}
	}
	v := new(big.Int).SetUint64(h)
	v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(l))
	if neg {
		v.Neg(v)
	}
	return Num{big: v}
}

// normNum moves a coefficient to the word when it fits.
func normNum(v *big.Int, scale int32) Num {
	if v.IsInt64() {
		return Num{c: v.Int64(), scale: scale}
	}
	return Num{big: v, scale: scale}
}

func (n Num) bigCoef() *big.Int {
	if n.big != nil {
		return n.big
	}
	return big.NewInt(n.c)
}

// IsNaN reports NaN.
func (n Num) IsNaN() bool { return n.kind == numNaN }

// IsInf reports an infinity.
func (n Num) IsInf() bool { return n.kind == numPosInf || n.kind == numNegInf }

// IsFinite reports a number.
func (n Num) IsFinite() bool { return n.kind == numFinite }

// Scale is the number of digits after the point.
func (n Num) Scale() int { return int(n.scale) }

// Sign is -1, 0 or 1; NaN has 1.
func (n Num) Sign() int {
	switch {
	case n.kind == numNegInf:
		return -1
	case n.kind != numFinite:
		return 1
	case n.big != nil:
		return n.big.Sign()
	case n.c < 0:
		return -1
	case n.c > 0:
		return 1
	}
	return 0
}

// powersOf10 that fit in 64 bits, unsigned.
var powersOf10 = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// bigPow10 is 10^n.
func bigPow10(n int) *big.Int {
	if n < len(powersOf10) {
		return new(big.Int).SetUint64(powersOf10[n])
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// scaled returns the coefficient at a scale that is not smaller than n's.
func (n Num) scaled(scale int32) *big.Int {
	if scale == n.scale {
		return n.bigCoef()
	}
	return new(big.Int).Mul(n.bigCoef(), bigPow10(int(scale-n.scale)))
}

// smallScaled is scaled for words; ok is false on overflow.
func (n Num) smallScaled(scale int32) (int64, bool) {
	d := scale - n.scale
	if d == 0 {
		return n.c, true
	}
	if d > 18 {
		return 0, n.c == 0
	}
	return mulInt64(n.c, int64(powersOf10[d]))
}

// Neg is -n.
func (n Num) Neg() Num {
	switch n.kind {
	case numNaN:
		return n
	case numPosInf:
		return NumNegInf
	case numNegInf:
		return NumPosInf
	}
	if n.big == nil && n.c != math.MinInt64 {
		n.c = -n.c
		return n
	}
	return normNum(new(big.Int).Neg(n.bigCoef()), n.scale)
}

// Abs is |n|.
func (n Num) Abs() Num {
	if n.Sign() < 0 {
		return n.Neg()
	}
	return n
}

// Cmp orders numerics: NaN equals NaN and is above infinity.
func (n Num) Cmp(m Num) int {
	if n.kind != numFinite || m.kind != numFinite {
		return cmpInt(n.rank(), m.rank())
	}
	if n.big == nil && m.big == nil {
		if n.scale == m.scale {
			return cmpInt64(n.c, m.c)
		}
		scale := max(n.scale, m.scale)
		a, ok1 := n.smallScaled(scale)
		b, ok2 := m.smallScaled(scale)
		if ok1 && ok2 {
			return cmpInt64(a, b)
		}
	}
	if s, t := n.Sign(), m.Sign(); s != t {
		return cmpInt(s, t)
	}
	scale := max(n.scale, m.scale)
	return n.scaled(scale).Cmp(m.scaled(scale))
}

func (n Num) rank() int {
	switch n.kind {
	case numNegInf:
		return -1
	case numPosInf:
		return 1
	case numNaN:
		return 2
	}
	return 0
}

func cmpInt(a, b int) int { return cmpInt64(int64(a), int64(b)) }

func cmpInt64(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func cmpUint64(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// checked fails when a result has more digits than a numeric may have.
func (n Num) checked() (Num, error) {
	if n.big != nil && n.big.BitLen() > 3*numMaxDigits {
		if numDigits(n.big)-int(n.scale) > numMaxDigits {
			return Num{}, errNumOverflow()
		}
	}
	return n, nil
}

func errNumOverflow() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
}

// ErrDivisionByZero is PostgreSQL's error for a zero divisor.
func ErrDivisionByZero() error { return pgerr.New(pgerr.DivisionByZero, "division by zero") }

// Add is n + m.
func (n Num) Add(m Num) (Num, error) {
	if n.kind != numFinite || m.kind != numFinite {
		return addSpecial(n, m), nil
	}
	scale := max(n.scale, m.scale)
	if n.big == nil && m.big == nil {
		a, ok1 := n.smallScaled(scale)
		b, ok2 := m.smallScaled(scale)
		if ok1 && ok2 {
			if s := a + b; (s > a) == (b > 0) {
				return Num{c: s, scale: scale}, nil
			}
		}
	}
	return normNum(new(big.Int).Add(n.scaled(scale), m.scaled(scale)), scale).checked()
}

func addSpecial(n, m Num) Num {
	switch {
	case n.IsNaN() || m.IsNaN():
		return NumNaN
	case n.IsInf() && m.IsInf() && n.kind != m.kind:
		return NumNaN
	case n.IsInf():
		return n
	}
	return m
}

// Sub is n - m.
func (n Num) Sub(m Num) (Num, error) { return n.Add(m.Neg()) }

// Mul is n × m.
func (n Num) Mul(m Num) (Num, error) {
	if n.kind != numFinite || m.kind != numFinite {
		switch {
		case n.IsNaN() || m.IsNaN() || n.Sign() == 0 || m.Sign() == 0:
			return NumNaN, nil
		case n.Sign() == m.Sign():
			return NumPosInf, nil
		}
		return NumNegInf, nil
	}
	scale := n.scale + m.scale
	if n.big == nil && m.big == nil {
		if p, ok := mulInt64(n.c, m.c); ok {
			return Num{c: p, scale: scale}.limitScale(), nil
		}
	}
	return normNum(new(big.Int).Mul(n.bigCoef(), m.bigCoef()), scale).limitScale().checked()
}

func (n Num) limitScale() Num {
	if n.scale > numMaxScale {
		return n.Round(numMaxScale)
	}
	return n
}

// numDigits is the number of decimal digits of |v|, 1 for zero.
func numDigits(v *big.Int) int {
	b := v.BitLen()
	if b <= 64 {
		return uintDigits(new(big.Int).Abs(v).Uint64())
	}
	// 2^(b-1) <= |v| < 2^b bounds the digits to two candidates.
	d := int(float64(b-1)*math.Log10(2)) + 1
	if v.CmpAbs(bigPow10(d)) >= 0 {
		return d + 1
	}
	return d
}

func uintDigits(v uint64) int {
	d := (bits.Len64(v) * 1233) >> 12 // log10(2) = 0.30103
	if d < len(powersOf10) && v >= powersOf10[d] {
		d++
	}
	return max(d, 1)
}

func (n Num) digits() int {
	if n.big != nil {
		return numDigits(n.big)
	}
	return uintDigits(absUint64(n.c))
}

// base10000 gives what PostgreSQL's scale rules ask about: the weight of the first base-10000 digit and the digit. Zero has 0, 0.
func (n Num) base10000() (weight int, first int) {
	if n.Sign() == 0 {
		return 0, 0
	}
	e := n.digits() - 1 - int(n.scale) // exponent of the first decimal digit
	weight = int(floorDiv(int64(e), 4))
	keep := e - 4*weight + 1 // how many decimal digits are in the first base-10000 digit
	lead := n.leading(keep)
	return weight, int(lead)
}

// leading is the first k decimal digits, with zeros after the last.
func (n Num) leading(k int) uint64 {
	d := n.digits()
	if n.big == nil {
		v := absUint64(n.c)
		if d >= k {
			return v / powersOf10[d-k]
		}
		return v * powersOf10[k-d]
	}
	v := new(big.Int).Abs(n.big)
	if d >= k {
		return v.Quo(v, bigPow10(d-k)).Uint64()
	}
	return v.Mul(v, bigPow10(k-d)).Uint64()
}

// divScale follows select_div_scale: at least 16 significant digits.
func divScale(n, m Num) int32 {
	w1, f1 := n.base10000()
	w2, f2 := m.base10000()
	q := w1 - w2
	if f1 <= f2 {
		q--
	}
	scale := int32(numMinSigDigits - 4*q)
	scale = max(scale, n.scale, m.scale, 0)
	return min(scale, numMaxDisplayScale)
}

// Div is n / m with PostgreSQL's choice of scale.
func (n Num) Div(m Num) (Num, error) {
	if n.kind != numFinite || m.kind != numFinite {
		switch {
		case n.IsNaN() || m.IsNaN():
			return NumNaN, nil
		case n.IsInf():
			switch {
			case m.IsInf():
				return NumNaN, nil
			case m.Sign() == 0:
				return Num{}, ErrDivisionByZero()
			case n.Sign() == m.Sign():
				return NumPosInf, nil
			}
			return NumNegInf, nil
		}
		return Num{}, nil
	}
	if m.Sign() == 0 {
		return Num{}, ErrDivisionByZero()
	}
	return n.divTo(m, divScale(n, m), true).checked()
}

// divTo divides to a scale, rounding half away from zero or cutting. Requires: both finite, m not zero.
func (n Num) divTo(m Num, scale int32, round bool) Num {
	shift := scale + m.scale - n.scale
	if n.big == nil && m.big == nil && shift >= 0 && shift <= 19 {
		if q, ok := divWords(n.c, m.c, powersOf10[shift], round); ok {
			return Num{c: q, scale: scale}
		}
	}
	num, den := n.bigCoef(), m.bigCoef()
	if shift >= 0 {
		num = new(big.Int).Mul(num, bigPow10(int(shift)))
	} else {
		den = new(big.Int).Mul(den, bigPow10(int(-shift)))
	}
	return normNum(divBig(num, den, round), scale)
}

// divWords is a×p/b; ok is false if the quotient may not fit.
func divWords(a, b int64, p uint64, round bool) (int64, bool) {
	hi, lo := bits.Mul64(absUint64(a), p)
	d := absUint64(b)
	if hi >= d {
		return 0, false
	}
	q, r := bits.Div64(hi, lo, d)
	if round && r >= d-r {
		q++
	}
	if q > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(q), true
	}
	return int64(q), true
}

func divBig(num, den *big.Int, round bool) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	if round {
		if r.Lsh(r, 1).CmpAbs(den) >= 0 {
			if (num.Sign() < 0) != (den.Sign() < 0) {
				q.Sub(q, bigOne)
			} else {
				q.Add(q, bigOne)
			}
		}
	}
	return q
}

var bigOne = big.NewInt(1)

// DivTrunc is the integer quotient, cut towards zero.
func (n Num) DivTrunc(m Num) (Num, error) {
	if n.kind != numFinite || m.kind != numFinite {
		return n.Div(m)
	}
	if m.Sign() == 0 {
		return Num{}, ErrDivisionByZero()
	}
	return n.divTo(m, 0, false), nil
}

// Mod is the remainder of DivTrunc.
func (n Num) Mod(m Num) (Num, error) {
	if n.kind != numFinite || m.kind != numFinite {
		switch {
		case n.IsNaN() || m.IsNaN():
			return NumNaN, nil
		case n.IsInf():
			if m.Sign() == 0 {
				return Num{}, ErrDivisionByZero()
			}
			return NumNaN, nil
		}
		return n, nil
	}
	if m.Sign() == 0 {
		return Num{}, ErrDivisionByZero()
	}
	scale := max(n.scale, m.scale)
	if n.big == nil && m.big == nil {
		a, ok1 := n.smallScaled(scale)
		b, ok2 := m.smallScaled(scale)
		if ok1 && ok2 {
			if b == -1 {
				return Num{scale: scale}, nil
			}
			return Num{c: a % b, scale: scale}, nil
		}
	}
	return normNum(new(big.Int).Rem(n.scaled(scale), m.scaled(scale)), scale), nil
}

// Round rounds half away from zero to a scale, which may be negative; the scale of the result is then 0. A larger
// scale appends zeros.
func (n Num) Round(scale int) Num { return n.toScale(scale, true) }

// Trunc cuts to a scale, as Round.
func (n Num) Trunc(scale int) Num { return n.toScale(scale, false) }

func (n Num) toScale(scale int, round bool) Num {
	if n.kind != numFinite || scale == int(n.scale) {
		return n
	}
	if scale > int(n.scale) {
		if n.big == nil {
			if c, ok := n.smallScaled(int32(scale)); ok {
				return Num{c: c, scale: int32(scale)}
			}
		}
		return normNum(n.scaled(int32(scale)), int32(scale))
	}
	drop := int(n.scale) - scale
	out := int32(max(scale, 0))
	if n.big == nil {
		if drop > 19 {
			return Num{scale: out}
		}
		q := divUint(absUint64(n.c), powersOf10[drop], round)
		if scale < 0 {
			hi, lo := bits.Mul64(q, powersOf10[min(-scale, 19)])
			if hi != 0 || lo > math.MaxInt64 || -scale > 19 {
				return normNum(bigSigned(q, -scale, n.c < 0), out)
			}
			q = lo
		}
		if n.c < 0 {
			return Num{c: -int64(q), scale: out}
		}
		return Num{c: int64(q), scale: out}
	}
	v := divBig(n.big, bigPow10(drop), round)
	if scale < 0 {
		v.Mul(v, bigPow10(-scale))
	}
	return normNum(v, out)
}

func bigSigned(q uint64, pow int, neg bool) *big.Int {
	v := new(big.Int).SetUint64(q)
	v.Mul(v, bigPow10(pow))
	if neg {
		v.Neg(v)
	}
	return v
}

func divUint(v, d uint64, round bool) uint64 {
	q, r := v/d, v%d
	if round && r >= d-r {
		q++
	}
	return q
}

// Ceil and Floor give integers.
func (n Num) Ceil() Num { return n.integral(1) }

// Floor is the largest integer that is not above n.
func (n Num) Floor() Num { return n.integral(-1) }

func (n Num) integral(dir int) Num {
	if n.kind != numFinite || n.scale == 0 {
		return n
	}
	t := n.Trunc(0)
	if n.Sign() == dir && t.Cmp(n) != 0 {
		t, _ = t.Add(NumFromInt64(int64(dir)))
	}
	return t
}

// IsIntegral reports whether n is an integer.
func (n Num) IsIntegral() bool { return n.kind == numFinite && n.Trunc(0).Cmp(n) == 0 }

// MinScale is the smallest scale that loses nothing.
func (n Num) MinScale() int {
	if n.kind != numFinite || n.Sign() == 0 {
		return 0
	}
	s := int(n.scale)
	if n.big == nil {
		for c := n.c; s > 0 && c%10 == 0; s-- {
			c /= 10
		}
		return s
	}
	ten := big.NewInt(10)
	v, r := new(big.Int).Set(n.big), new(big.Int)
	for s > 0 {
		if v.QuoRem(v, ten, r); r.Sign() != 0 {
			break
		}
		s--
	}
	return s
}

// Int64 rounds to an integer; ok is false if it does not fit or is special.
func (n Num) Int64() (v int64, ok bool) {
	if n.kind != numFinite {
		return 0, false
	}
	r := n.Round(0)
	return r.c, r.big == nil
}

// Uint64 rounds to an integer; ok is false if it does not fit or is special.
func (n Num) Uint64() (v uint64, ok bool) {
	if n.kind != numFinite {
		return 0, false
	}
	r := n.Round(0)
	if r.big == nil {
		return uint64(r.c), r.c >= 0
	}
	return r.big.Uint64(), r.big.IsUint64()
}

// Apd converts to the decimal library's type.
func (n Num) Apd() *apd.Decimal {
	d := new(apd.Decimal)
	switch n.kind {
	case numNaN:
		d.Form = apd.NaN
		return d
	case numPosInf, numNegInf:
		d.Form = apd.Infinite
		d.Negative = n.kind == numNegInf
		return d
	}
	c := n.bigCoef()
	d.Negative = c.Sign() < 0
	d.Coeff.SetMathBigInt(c)
	d.Coeff.Abs(&d.Coeff)
	d.Exponent = -n.scale
	return d
}

// NumFromApd converts from the decimal library's type, at the scale of its exponent.
func NumFromApd(d *apd.Decimal) Num {
	switch d.Form {
	case apd.Infinite:
		if d.Negative {
			return NumNegInf
		}
		return NumPosInf
	case apd.NaN, apd.NaNSignaling:
		return NumNaN
	}
	v := d.Coeff.MathBigInt()
	if d.Negative {
		v.Neg(v)
	}
	if d.Exponent > 0 {
		v.Mul(v, bigPow10(int(d.Exponent)))
		return normNum(v, 0)
	}
	return normNum(v, -d.Exponent)
}

// DivScale is the scale that Div gives its result.
func (n Num) DivScale(m Num) int { return int(divScale(n, m)) }

// DivTo divides to a scale, rounding half away from zero. Requires: both finite, m not zero.
func (n Num) DivTo(m Num, scale int) Num { return n.divTo(m, int32(scale), true) }

// SqrtTo is the square root to a scale. Requires: n is finite and not negative.
func (n Num) SqrtTo(scale int) Num { return n.sqrtTo(scale) }

// SmallFromStore reads the short storage form without building a Num; ok is false for the others.
func SmallFromStore(b []byte) (c int64, scale int, ok bool) {
	if b[0] > smallScaleMax {
		return 0, 0, false
	}
	return NumFromStore(b).c, int(b[0]), true
}
