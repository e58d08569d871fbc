package fn

import (
	"math"
	"math/big"
)

// The elementary functions of package math are up to a unit off in the last place, where the C library's are correctly rounded but for rare
// cases, and logarithms of subnormal numbers are wrong. These compute with twice the precision and round once.

// dd is a number as the unevaluated sum of two.
type dd struct{ hi, lo float64 }

func quickSum(a, b float64) dd {
	s := a + b
	return dd{s, b - (s - a)}
}

func twoSum(a, b float64) dd {
	s := a + b
	v := s - a
	return dd{s, (a - (s - v)) + (b - v)}
}

func twoProd(a, b float64) dd {
	p := a * b
	return dd{p, math.FMA(a, b, -p)}
}

func (a dd) add(b dd) dd {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	u := quickSum(s.hi, s.lo+t.hi)
	return quickSum(u.hi, u.lo+t.lo)
}

func (a dd) neg() dd { return dd{-a.hi, -a.lo} }

func (a dd) sub(b dd) dd { return a.add(b.neg()) }

func (a dd) mul(b dd) dd {
	p := twoProd(a.hi, b.hi)
	return quickSum(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

func (a dd) div(b dd) dd {
	q1 := a.hi / b.hi
	r := a.sub(b.mul(dd{q1, 0}))
	q2 := r.hi / b.hi
	r = r.sub(b.mul(dd{q2, 0}))
	q := quickSum(q1, q2)
	return q.add(dd{r.hi / b.hi, 0})
}

func (a dd) scale(e int) dd { return dd{math.Ldexp(a.hi, e), math.Ldexp(a.lo, e)} }

func (a dd) sqrt() dd {
	if a.hi <= 0 {
		return dd{}
	}
	s := math.Sqrt(a.hi)
	r := a.sub(twoProd(s, s))
	return quickSum(s, r.hi/(2*s))
}

func (a dd) value() float64 { return a.hi + a.lo }

var (
	ddLn2    = dd{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}
	ddLn2Lo  = 0x1.7b57a079a1934p-111
	ddInvLn  = dd{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57} // 1/ln(10)
	ddHalfPi = dd{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}
	ddPiLo   = -0x1.f1976b7ed8fbcp-110
)

// inverseFactorials are 1/k!.
var inverseFactorials = [...]dd{
	{1, 0},
	{1, 0},
	{0x1.0000000000000p-1, 0},
	{0x1.5555555555555p-3, 0x1.5555555555555p-57},
	{0x1.5555555555555p-5, 0x1.5555555555555p-59},
	{0x1.1111111111111p-7, 0x1.1111111111111p-63},
	{0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
	{0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
	{0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
	{0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
	{0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
	{0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
	{0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
	{0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
	{0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
	{0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
	{0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
	{0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
	{0x1.6827863b97d97p-53, 0x1.eec01221a8b0bp-107},
	{0x1.2f49b46814157p-57, 0x1.2650f61dbdcb4p-112},
	{0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
	{0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120},
	{0x1.0ce396db7f853p-70, -0x1.aebcdbd20331cp-124},
	{0x1.761b41316381ap-75, -0x1.3423c7d91404fp-130},
	{0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135},
	{0x1.3f3ccdd165fa9p-84, -0x1.58ddadf344487p-139},
	{0x1.88e85fc6a4e5ap-89, -0x1.71c37ebd16540p-143},
	{0x1.d1ab1c2dccea3p-94, 0x1.054d0c78aea14p-149},
	{0x1.0a18a2635085dp-98, 0x1.b9e2e28e1aa54p-153},
	{0x1.259f98b4358adp-103, 0x1.eaf8c39dd9bc5p-157},
}

// expDD is e^x as m × 2^k with m near 1. Requires: |x| < 800.
func expDD(x dd) (m dd, k int) {
	n := math.RoundToEven(x.hi / math.Ln2)
	r := x.sub(twoProd(n, ddLn2.hi)).sub(twoProd(n, ddLn2.lo)).sub(dd{n * ddLn2Lo, 0})
	const halvings = 9
	r = r.scale(-halvings)
	// e^r - 1 by the series, then (1+p)² - 1 = 2p + p².
	p := dd{}
	for i := 9; i >= 1; i-- {
		p = p.add(inverseFactorials[i]).mul(r)
	}
	for range halvings {
		p = p.scale(1).add(p.mul(p))
	}
	return p.add(dd{1, 0}), int(n)
}

// ldexpOnce rounds m × 2^k to one float, without rounding twice where it is subnormal.
func ldexpOnce(m dd, k int) float64 {
	v := m.value()
	if e := math.Ilogb(v) + k; e >= -1022 || v == 0 {
		return math.Ldexp(v, k)
	}
	f := new(big.Float).SetPrec(200).SetFloat64(m.hi)
	f.Add(f, new(big.Float).SetFloat64(m.lo))
	f.SetMantExp(f, k)
	r, _ := f.Float64()
	return r
}

func exactExp(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	case x == 0:
		return 1
	}
	return ldexpOnce(expDD(dd{x, 0}))
}

// logDD is ln(x). Requires: x is positive and finite.
func logDD(x float64) dd {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	y := math.Log(m)
	// One step of Newton: ln m = y + ln(m e^-y), whose argument is near 1.
	t, k := expDD(dd{-y, 0})
	z := t.scale(k).mul(dd{m, 0}).sub(dd{1, 0})
	ln := dd{y, 0}.add(z).sub(z.mul(z).scale(-1))
	n := float64(e)
	return ln.add(twoProd(n, ddLn2.hi)).add(twoProd(n, ddLn2.lo))
}

func exactLog(x float64) float64 {
	if math.IsNaN(x) || x <= 0 || math.IsInf(x, 1) {
		return math.Log(x)
	}
	return logDD(x).value()
}

func exactLog10(x float64) float64 {
	if math.IsNaN(x) || x <= 0 || math.IsInf(x, 1) {
		return math.Log10(x)
	}
	return logDD(x).mul(ddInvLn).value()
}

func exactPow(x, y float64) float64 {
	r := math.Pow(x, y)
	if r == 0 || math.IsInf(r, 0) || math.IsNaN(r) || x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || y == 0 {
		// Near the ends of the range package math may be wrong about them; ask again below unless the arguments are special.
		if x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y) || math.IsNaN(r) {
			return r
		}
	}
	l := logDD(math.Abs(x)).mul(dd{y, 0})
	sign := 1.0
	if x < 0 && math.Mod(y, 2) != 0 {
		sign = -1
	}
	switch {
	case l.hi > 710:
		return sign * math.Inf(1)
	case l.hi < -746:
		return sign * 0
	}
	return sign * ldexpOnce(expDD(l))
}

// reducePi gives x less the nearest multiple of π/2, and the multiple modulo 4.
func reducePi(x float64) (dd, int) {
	if math.Abs(x) > 1e6 {
		return reduceBig(x)
	}
	n := math.RoundToEven(x / (math.Pi / 2))
	r := dd{x, 0}.sub(twoProd(n, ddHalfPi.hi)).sub(twoProd(n, ddHalfPi.lo)).sub(dd{n * ddPiLo, 0})
	return r, int(int64(n) & 3)
}

// halfPiDigits is π/2 to more bits than the exponent of any float needs.
const halfPiDigits = "1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931401741267105853399107404325664" +
	"1153323546922304775291115862679704064240558725142051350969260552779822311474477465190982214405487832966723064237824" +
	"1168933915826356009545728242834617301743052271633241066968036301245706368622935033031577940874407604604814146270458" +
	"576821839462951800056652652744102332606920734759707558047165286351828797959765460930586909663058965525592740372"

func reduceBig(x float64) (dd, int) {
	const prec = 1500
	halfPi, _ := new(big.Float).SetPrec(prec).SetString(halfPiDigits)
	v := new(big.Float).SetPrec(prec).SetFloat64(x)
	q := new(big.Float).SetPrec(prec).Quo(v, halfPi)
	half := big.NewFloat(0.5)
	if x < 0 {
		half.Neg(half)
	}
	n, _ := q.Add(q, half).Int(nil)
	v.Sub(v, halfPi.Mul(halfPi, new(big.Float).SetPrec(prec).SetInt(n)))
	hi, _ := v.Float64()
	lo, _ := v.Sub(v, big.NewFloat(hi)).Float64()
	k := int(new(big.Int).And(n, big.NewInt(3)).Int64())
	return dd{hi, lo}, k
}

// sinCosDD works on |r| <= π/4.
func sinCosDD(r dd) (s, c dd) {
	r2 := r.mul(r)
	for i := 27; i >= 1; i -= 2 {
		t, u := inverseFactorials[i], inverseFactorials[i-1]
		if i/2%2 == 1 {
			t, u = t.neg(), u.neg()
		}
		s = s.mul(r2).add(t)
		c = c.mul(r2).add(u)
	}
	return s.mul(r), c
}

// sinCos is sin and cos of any finite number.
func sinCos(x float64) (s, c dd) {
	r, k := reducePi(x)
	s, c = sinCosDD(r)
	switch k {
	case 1:
		s, c = c, s.neg()
	case 2:
		s, c = s.neg(), c.neg()
	case 3:
		s, c = c.neg(), s
	}
	return s, c
}

func exactSin(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Sin(x)
	}
	s, _ := sinCos(x)
	return s.value()
}

func exactCos(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Cos(x)
	}
	_, c := sinCos(x)
	return c.value()
}

func exactTan(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Tan(x)
	}
	s, c := sinCos(x)
	return s.div(c).value()
}

// atan2DD improves the angle of (x, y) by one step: the sine of what is left is its size.
func atan2DD(y, x dd) dd {
	a := math.Atan2(y.hi, x.hi)
	s, c := sinCos(a)
	return dd{a, 0}.add(y.mul(c).sub(x.mul(s)).div(x.mul(c).add(y.mul(s))))
}

func exactAtan2(y, x float64) float64 {
	r := math.Atan2(y, x)
	if r == 0 || math.IsNaN(r) || math.IsInf(x, 0) || math.IsInf(y, 0) || y == 0 || x == 0 {
		return r
	}
	// Far apart or near the ends of the range the step would overflow.
	ex, ey := math.Ilogb(x), math.Ilogb(y)
	if ex-ey > 500 || ey-ex > 500 {
		return r
	}
	shift := -max(ex, ey)
	return atan2DD(dd{math.Ldexp(y, shift), 0}, dd{math.Ldexp(x, shift), 0}).value()
}

func exactAtan(x float64) float64 { return exactAtan2(x, 1) }

// cosOfSin is sqrt(1 - x²).
func cosOfSin(x float64) dd { return dd{1, 0}.sub(twoProd(x, x)).sqrt() }

func exactAsin(x float64) float64 {
	if math.IsNaN(x) || math.Abs(x) >= 1 || math.Abs(x) < 1e-8 {
		return math.Asin(x)
	}
	return atan2DD(dd{x, 0}, cosOfSin(x)).value()
}

func exactAcos(x float64) float64 {
	if math.IsNaN(x) || math.Abs(x) >= 1 || x == 0 {
		return math.Acos(x)
	}
	return atan2DD(cosOfSin(x), dd{x, 0}).value()
}

// exactCbrt improves math.Cbrt by one step of Newton.
func exactCbrt(x float64) float64 {
	y := math.Cbrt(x)
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return y
	}
	m, e := math.Frexp(x)
	e3 := e / 3
	m = math.Ldexp(m, e-3*e3)
	y = math.Cbrt(m)
	cube := twoProd(y, y).mul(dd{y, 0})
	d := dd{m, 0}.sub(cube).hi / (3 * y * y)
	return math.Ldexp(y+d, e3)
}

// hyperbolic gives (e^x - e^-x)/2 and (e^x + e^-x)/2.
func hyperbolic(x float64) (s, c dd) {
	m, k := expDD(dd{x, 0})
	p := m.scale(k)
	q := dd{1, 0}.div(p)
	return p.sub(q).scale(-1), p.add(q).scale(-1)
}

func exactSinh(x float64) float64 {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || a < 1e-5 || a > 720:
		return math.Sinh(x)
	case a > 700:
		m, k := expDD(dd{a, 0})
		return math.Copysign(ldexpOnce(m, k-1), x)
	}
	s, _ := hyperbolic(x)
	return s.value()
}

func exactCosh(x float64) float64 {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || a > 720:
		return math.Cosh(x)
	case a > 700:
		m, k := expDD(dd{a, 0})
		return ldexpOnce(m, k-1)
	}
	_, c := hyperbolic(x)
	return c.value()
}

func exactTanh(x float64) float64 {
	if math.IsNaN(x) || math.Abs(x) < 1e-5 || math.Abs(x) > 22 {
		return math.Tanh(x)
	}
	s, c := hyperbolic(x)
	return s.div(c).value()
}
