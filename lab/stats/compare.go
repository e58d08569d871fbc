package stats

import "math"

// Confidence is the level of every interval.
const Confidence = 0.95

// Summary describes the runs of one configuration.
type Summary struct {
	N        int
	Mean, SD float64
	// Low and High bound the mean with Confidence; they are Mean when there is one run only.
	Low, High float64
}

// Summarize describes values.
func Summarize(values []float64) Summary {
	s := Summary{N: len(values)}
	if s.N == 0 {
		return s
	}
	for _, v := range values {
		s.Mean += v / float64(s.N)
	}
	s.Low, s.High = s.Mean, s.Mean
	if s.N == 1 {
		return s
	}
	var squares float64
	for _, v := range values {
		squares += (v - s.Mean) * (v - s.Mean)
	}
	s.SD = math.Sqrt(squares / float64(s.N-1))
	half := tHalf(float64(s.N-1)) * s.SD / math.Sqrt(float64(s.N))
	s.Low, s.High = s.Mean-half, s.Mean+half
	return s
}

func tHalf(df float64) float64 { return TQuantile(1-(1-Confidence)/2, df) }

// Difference is a quotient of throughputs with its interval.
type Difference struct {
	Pairs            int
	Ratio, Low, High float64
}

// Paired compares runs b with runs a, pair by pair; pairs with a value that is not positive are left
// out. Fewer than two pairs have a ratio and no interval.
func Paired(a, b []float64) Difference {
	var logs []float64
	for i := range min(len(a), len(b)) {
		if a[i] > 0 && b[i] > 0 {
			logs = append(logs, math.Log(b[i]/a[i]))
		}
	}
	s := Summarize(logs)
	d := Difference{Pairs: s.N, Ratio: math.Exp(s.Mean), Low: math.Exp(s.Low), High: math.Exp(s.High)}
	if s.N < 2 {
		d.Low, d.High = 0, math.Inf(1)
	}
	return d
}

// Unpaired compares runs that were not made in pairs, by Welch's interval.
func Unpaired(a, b []float64) Difference {
	sa, sb := Summarize(logs(a)), Summarize(logs(b))
	d := Difference{Pairs: min(sa.N, sb.N), Ratio: math.Exp(sb.Mean - sa.Mean), High: math.Inf(1)}
	if d.Pairs < 2 {
		return d
	}
	va, vb := sa.SD*sa.SD/float64(sa.N), sb.SD*sb.SD/float64(sb.N)
	half := 0.0
	if va+vb > 0 {
		df := (va + vb) * (va + vb) / (va*va/float64(sa.N-1) + vb*vb/float64(sb.N-1))
		half = tHalf(df) * math.Sqrt(va+vb)
	}
	d.Low, d.High = d.Ratio*math.Exp(-half), d.Ratio*math.Exp(half)
	return d
}

func logs(values []float64) []float64 {
	var out []float64
	for _, v := range values {
		if v > 0 {
			out = append(out, math.Log(v))
		}
	}
	return out
}

// Known tells whether there is an interval.
func (d Difference) Known() bool { return d.Pairs >= 2 }

// Verdict is what a difference shows.
type Verdict string

// The verdicts.
const (
	Unknown Verdict = "unknown" // too few runs
	Noise   Verdict = "noise"
	Faster  Verdict = "faster"
	Slower  Verdict = "slower"
)

// Judge says whether d is larger than the noise, of which control is a sample: the same configuration
// against itself. A control without an interval is not used.
func Judge(d, control Difference) Verdict {
	if !d.Known() {
		return Unknown
	}
	size := math.Abs(math.Log(d.Ratio))
	if control.Known() && size <= math.Abs(math.Log(control.Ratio)) {
		return Noise
	}
	switch {
	case d.Low > 1:
		return Faster
	case d.High < 1:
		return Slower
	}
	return Noise
}
