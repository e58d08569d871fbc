package stats

import "math"

// TQuantile is the p-quantile of Student's t distribution with df > 0 degrees of freedom, for
// 0 < p < 1.
func TQuantile(p, df float64) float64 {
	if p < 0.5 {
		return -TQuantile(1-p, df)
	}
	low, high := 0.0, 1.0
	for tCDF(high, df) < p {
		high *= 2
	}
	for range 100 {
		mid := (low + high) / 2
		if tCDF(mid, df) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// tCDF is the distribution function at t >= 0.
func tCDF(t, df float64) float64 {
	return 1 - regularizedBeta(df/(df+t*t), df/2, 0.5)/2
}

// regularizedBeta is the regularized incomplete beta function by its continued fraction, evaluated
// by Lentz's method; the symmetry keeps x where the fraction converges fast.
func regularizedBeta(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return math.Max(0, math.Min(1, x))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - regularizedBeta(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	return front / betaFraction(x, a, b)
}

// betaFraction is the denominator 1 + d1/(1 + d2/(1 + ...)).
func betaFraction(x, a, b float64) float64 {
	const (
		tiny  = 1e-300
		terms = 500
	)
	f, c, d := 1.0, 1.0, 0.0
	for i := 1; i <= terms; i++ {
		m := float64(i / 2)
		var numerator float64
		if i%2 == 0 {
			numerator = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		} else {
			numerator = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 + numerator*d
		if math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		c = 1 + numerator/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		f *= c * d
		if math.Abs(c*d-1) < 1e-14 {
			break
		}
	}
	return f
}
