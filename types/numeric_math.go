package types

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/minipg/minipg/pgerr"
)

func clampScale(scale int, at ...int32) int {
	for _, s := range at {
		scale = max(scale, int(s))
	}
	return min(max(scale, 0), numMaxDisplayScale)
}

// rounded computes with precision digits in all and rounds to a scale.
func rounded(d *apd.Decimal, scale int) Num { return NumFromApd(d).Round(scale) }

func errSqrtNegative() error {
	return pgerr.New(pgerr.InvalidArgumentForPowerFunction, "cannot take square root of a negative number")
}

// Sqrt is the square root with PostgreSQL's choice of scale.
func (n Num) Sqrt() (Num, error) {
	if n.IsNaN() || n.kind == numPosInf {
		return n, nil
	}
	if n.Sign() < 0 {
		return Num{}, errSqrtNegative()
	}
	w, _ := n.base10000()
	return n.sqrtTo(clampScale(numMinSigDigits-(w*2+1), n.scale)), nil
}

// sqrtTo rounds half up: one more digit than asked decides, since a root that ends there is exact.
func (n Num) sqrtTo(scale int) Num {
	shift := 2*(scale+1) - int(n.scale)
	v := n.bigCoef()
	if shift >= 0 {
		v = new(big.Int).Mul(v, bigPow10(shift))
	} else {
		v = new(big.Int).Quo(v, bigPow10(-shift))
	}
	return normNum(new(big.Int).Sqrt(v), int32(scale+1)).Round(scale)
}

// floatNoOverflow is n as a float64, infinite if too large.
func (n Num) floatNoOverflow() float64 {
	v, _ := n.Float64()
	return v
}

// Exp is e^n.
func (n Num) Exp() (Num, error) {
	switch n.kind {
	case numNaN, numPosInf:
		return n, nil
	case numNegInf:
		return Num{}, nil
	}
	w := n.floatNoOverflow() * math.Log10E
	w = min(max(w, -numMaxResultScale), numMaxResultScale)
	return n.expTo(clampScale(numMinSigDigits-int(w), n.scale))
}

func (n Num) expTo(scale int) (Num, error) {
	v := n.floatNoOverflow()
	if math.Abs(v) >= numMaxResultScale*3 {
		if v > 0 {
			return Num{}, errNumOverflow()
		}
		return Num{scale: int32(scale)}, nil
	}
	digits := scale + int(v*math.Log10E) + 12
	if digits < 12 {
		return Num{scale: int32(scale)}, nil
	}
	ctx := apd.Context{Precision: uint32(digits), MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfUp}
	d := new(apd.Decimal)
	if n.Sign() == 0 {
		return NumFromInt64(1).Round(scale), nil
	}
	if _, err := ctx.Exp(d, n.Apd()); err != nil {
		return Num{}, errNumOverflow()
	}
	return rounded(d, scale), nil
}

// lnWeight estimates the decimal weight of ln(n) as estimate_ln_dweight does.
func (n Num) lnWeight() int {
	if n.Sign() <= 0 {
		return 0
	}
	if n.Cmp(NumFromScaled(9, 1)) >= 0 && n.Cmp(NumFromScaled(11, 1)) <= 0 {
		x, _ := n.Sub(NumFromInt64(1))
		if x.Sign() == 0 {
			return 0
		}
		w, first := x.base10000()
		return w*4 + int(math.Log10(float64(first)))
	}
	// ln(n) = ln(digits) + exponent × ln(10), from the first eight digits.
	w, first := n.base10000()
	keep := uintDigits(uint64(first)) + 4
	ln := math.Log(float64(n.leading(keep))) + float64(w*4-4)*math.Ln10
	return int(math.Log10(math.Abs(ln)))
}

func (n Num) checkLog() error {
	switch {
	case n.Sign() < 0:
		return pgerr.New(pgerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
	case n.Sign() == 0:
		return pgerr.New(pgerr.InvalidArgumentForLog, "cannot take logarithm of zero")
	}
	return nil
}

// Ln is the natural logarithm.
func (n Num) Ln() (Num, error) {
	if n.IsNaN() {
		return n, nil
	}
	if err := n.checkLog(); err != nil || n.kind == numPosInf {
		return n, err
	}
	return n.lnTo(clampScale(numMinSigDigits-n.lnWeight(), n.scale)), nil
}

// lnTo computes to a scale. Requires: n is positive.
func (n Num) lnTo(scale int) Num {
	if n.Cmp(NumFromInt64(1)) == 0 {
		return Num{scale: int32(scale)}
	}
	digits := max(scale+n.lnWeight()+12, 16)
	ctx := apd.Context{Precision: uint32(digits), MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfUp}
	d := new(apd.Decimal)
	if _, err := ctx.Ln(d, n.Apd()); err != nil {
		return NumNaN
	}
	return rounded(d, scale)
}

// Log is the logarithm of m to the base n.
func (n Num) Log(m Num) (Num, error) {
	if n.IsNaN() || m.IsNaN() {
		return NumNaN, nil
	}
	if n.kind != numFinite || m.kind != numFinite {
		if n.Sign() < 0 || m.Sign() < 0 {
			return Num{}, NumNegInf.checkLog()
		}
		if n.Sign() == 0 || m.Sign() == 0 {
			return Num{}, Num{}.checkLog()
		}
		switch {
		case n.IsInf() && m.IsInf():
			return NumNaN, nil
		case n.IsInf():
			return Num{}, nil
		}
		return NumPosInf, nil
	}
	if err := n.checkLog(); err != nil {
		return Num{}, err
	}
	if err := m.checkLog(); err != nil {
		return Num{}, err
	}
	bw, mw := n.lnWeight(), m.lnWeight()
	rw := mw - bw
	scale := clampScale(numMinSigDigits-rw, n.scale, m.scale)
	lnBase := n.lnTo(max(scale+rw-bw+8, 0))
	lnNum := m.lnTo(max(scale+rw-mw+8, 0))
	if lnBase.Sign() == 0 {
		return Num{}, ErrDivisionByZero()
	}
	return lnNum.divTo(lnBase, int32(scale), true), nil
}

func errComplexPower() error {
	return pgerr.New(pgerr.InvalidArgumentForPowerFunction, "a negative number raised to a non-integer power yields a complex result")
}

func errZeroPower() error {
	return pgerr.New(pgerr.InvalidArgumentForPowerFunction, "zero raised to a negative power is undefined")
}

// isOdd reports an odd integer.
func (n Num) isOdd() bool {
	if !n.IsIntegral() {
		return false
	}
	t := n.Trunc(0)
	if t.big != nil {
		return t.big.Bit(0) == 1
	}
	return t.c&1 == 1
}

// Power is n^m.
func (n Num) Power(m Num) (Num, error) {
	one := NumFromInt64(1)
	if n.kind != numFinite || m.kind != numFinite {
		return powerSpecial(n, m)
	}
	if n.Sign() == 0 && m.Sign() < 0 {
		return Num{}, errZeroPower()
	}
	if m.IsIntegral() {
		if e, ok := m.Int64(); ok && e >= math.MinInt32 && e <= math.MaxInt32 {
			return n.powerInt(int(e))
		}
	}
	if n.Sign() == 0 {
		return Num{scale: numMinSigDigits}, nil
	}
	negative := false
	base := n
	if n.Sign() < 0 {
		if !m.IsIntegral() {
			return Num{}, errComplexPower()
		}
		negative = m.isOdd()
		base = n.Abs()
	}
	if base.Cmp(one) == 0 {
		r := one.Round(clampScale(numMinSigDigits, n.scale, m.scale))
		if negative {
			r = r.Neg()
		}
		return r, nil
	}
	lnW := base.lnWeight()
	rough, _ := base.lnTo(max(8-lnW, 0)).Mul(m)
	val := rough.floatNoOverflow()
	if math.Abs(val) > numMaxResultScale*3.01 {
		if val > 0 {
			return Num{}, errNumOverflow()
		}
		return Num{scale: numMaxDisplayScale}, nil
	}
	val *= math.Log10E
	scale := clampScale(numMinSigDigits-int(val), n.scale, m.scale)
	sig := max(scale+int(val), 0)
	local := max(sig-lnW+8, 0)
	p, err := base.lnTo(local).Mul(m)
	if err != nil {
		return Num{}, err
	}
	r, err := p.Round(local).expTo(scale)
	if negative {
		r = r.Neg()
	}
	return r, err
}

func powerSpecial(n, m Num) (Num, error) {
	one := NumFromInt64(1)
	if n.IsNaN() {
		if m.kind == numFinite && m.Sign() == 0 {
			return one, nil
		}
		return NumNaN, nil
	}
	if m.IsNaN() {
		if n.kind == numFinite && n.Cmp(one) == 0 {
			return one, nil
		}
		return NumNaN, nil
	}
	s1, s2 := n.Sign(), m.Sign()
	if s1 == 0 && s2 < 0 {
		return Num{}, errZeroPower()
	}
	if s1 < 0 && m.kind == numFinite && !m.IsIntegral() {
		return Num{}, errComplexPower()
	}
	switch {
	case n.kind == numFinite && n.Cmp(one) == 0, m.kind == numFinite && s2 == 0:
		return one, nil
	case s1 == 0 && s2 > 0:
		return Num{}, nil
	case m.IsInf():
		if n.kind == numFinite && n.Cmp(NumFromInt64(-1)) == 0 {
			return one, nil
		}
		large := n.IsInf() || n.Abs().Cmp(one) > 0
		if large == (s2 > 0) {
			return NumPosInf, nil
		}
		return Num{}, nil
	case s2 < 0:
		return Num{}, nil
	case n.kind == numPosInf:
		return NumPosInf, nil
	case m.isOdd():
		return NumNegInf, nil
	}
	return NumPosInf, nil
}

// powerInt is n^e with the scale that PostgreSQL 15 chooses: no fewer than 16 digits after the point.
func (n Num) powerInt(e int) (Num, error) {
	scale := clampScale(numMinSigDigits, n.scale)
	switch e {
	case 0:
		return NumFromInt64(1).Round(scale), nil
	case 1:
		return n.Round(scale), nil
	case -1:
		return NumFromInt64(1).divTo(n, int32(scale), true), nil
	case 2:
		p, err := n.Mul(n)
		return p.Round(scale), err
	}
	if n.Sign() == 0 {
		return Num{scale: int32(scale)}, nil
	}
	// Estimate the weight of the result to know what to work with.
	w, first := n.base10000()
	k := uintDigits(uint64(first)) + 12
	f := float64(e) * (math.Log10(float64(n.leading(k))) + float64(w*4-12))
	if f > (32767+1)*4 {
		return Num{}, errNumOverflow()
	}
	if f+1 < -float64(scale) || f+1 < -numMaxDisplayScale {
		return Num{scale: int32(scale)}, nil
	}
	sig := 1 + scale + int(f) + int(math.Log(math.Abs(float64(e)))) + 8
	ctx := apd.Context{Precision: uint32(max(sig+8, 24)), MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfUp}
	base, r := n.Apd(), apd.New(1, 0)
	for mask := absUint64(int64(e)); mask > 0; mask >>= 1 {
		if mask&1 != 0 {
			if _, err := ctx.Mul(r, r, base); err != nil {
				return Num{}, errNumOverflow()
			}
		}
		if mask > 1 {
			if _, err := ctx.Mul(base, base, base); err != nil {
				return Num{}, errNumOverflow()
			}
		}
	}
	if e < 0 {
		if _, err := ctx.Quo(r, apd.New(1, 0), r); err != nil {
			return Num{}, errNumOverflow()
		}
	}
	return rounded(r, scale).checked()
}

// Gcd is the greatest common divisor, at the larger scale.
func (n Num) Gcd(m Num) Num {
	if n.kind != numFinite || m.kind != numFinite {
		return NumNaN
	}
	scale := max(n.scale, m.scale)
	a := new(big.Int).Abs(n.scaled(scale))
	b := new(big.Int).Abs(m.scaled(scale))
	return normNum(new(big.Int).GCD(nil, nil, a, b), scale)
}

// Lcm is the least common multiple, at the larger scale.
func (n Num) Lcm(m Num) (Num, error) {
	if n.kind != numFinite || m.kind != numFinite {
		return NumNaN, nil
	}
	scale := max(n.scale, m.scale)
	if n.Sign() == 0 || m.Sign() == 0 {
		return Num{scale: scale}, nil
	}
	g := n.Gcd(m)
	q := n.divTo(g, 0, false)
	p, err := q.Mul(m)
	if err != nil {
		return Num{}, err
	}
	return p.Abs().Round(int(scale)).checked()
}

// Factorial is v!.
func Factorial(v int64) (Num, error) {
	switch {
	case v < 0:
		return Num{}, pgerr.New(pgerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	case v > 32177:
		return Num{}, errNumOverflow()
	}
	return normNum(new(big.Int).MulRange(1, max(v, 1)), 0), nil
}
