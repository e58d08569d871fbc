package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTQuantile(t *testing.T) {
	// From the usual tables.
	for _, c := range []struct{ p, df, want float64 }{
		{0.975, 1, 12.706},
		{0.975, 2, 4.303},
		{0.975, 3, 3.182},
		{0.975, 7, 2.365},
		{0.95, 10, 1.812},
		{0.975, 30, 2.042},
		{0.995, 120, 2.617},
		{0.975, 1e6, 1.960},
		{0.025, 3, -3.182},
		{0.5, 5, 0},
	} {
		if got := TQuantile(c.p, c.df); math.Abs(got-c.want) > 0.0006 {
			t.Errorf("TQuantile(%g, %g) = %.4f, want %.3f", c.p, c.df, got, c.want)
		}
	}
}

func TestSummarize(t *testing.T) {
	s := Summarize([]float64{10, 12, 14, 16})
	if s.N != 4 || s.Mean != 13 || math.Abs(s.SD-2.58199) > 1e-5 {
		t.Errorf("got %+v", s)
	}
	if half := 3.18245 * 2.58199 / 2; math.Abs(s.High-13-half) > 1e-3 || math.Abs(13-s.Low-half) > 1e-3 {
		t.Errorf("interval %.4f to %.4f, want 13 +- %.4f", s.Low, s.High, half)
	}
	if one := Summarize([]float64{5}); one.SD != 0 || one.Low != 5 || one.High != 5 {
		t.Errorf("of one run: %+v", one)
	}
}

// machine makes runs as a noisy machine does: it drifts by drift from one run to the next, and each
// run is off by a normal error.
type machine struct {
	rng   *rand.Rand
	noise float64
	drift float64
	runs  int
}

func (m *machine) run(tps float64) float64 {
	m.runs++
	return tps * math.Exp(m.drift*float64(m.runs)) * math.Exp(m.noise*m.rng.NormFloat64())
}

// experiment makes rounds of A, B, A again, reversed every other time.
func (m *machine) experiment(rounds int, a, b float64) (as, bs, controls []float64) {
	for r := range rounds {
		if r%2 == 0 {
			as, bs, controls = append(as, m.run(a)), append(bs, m.run(b)), append(controls, m.run(a))
		} else {
			controls, bs, as = append(controls, m.run(a)), append(bs, m.run(b)), append(as, m.run(a))
		}
	}
	return as, bs, controls
}

// verdicts counts what 1,000 experiments say about a configuration that is as fast as A times factor.
func verdicts(seed uint64, rounds int, noise, drift, factor float64) map[Verdict]int {
	seen := map[Verdict]int{}
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 1000 {
		m := &machine{rng: rng, noise: noise, drift: drift}
		as, bs, controls := m.experiment(rounds, 1000, 1000*factor)
		seen[Judge(Paired(as, bs), Paired(as, controls))]++
	}
	return seen
}

func TestAAShowsNoDifference(t *testing.T) {
	for _, rounds := range []int{2, 4, 8} {
		seen := verdicts(1, rounds, 0.02, 0, 1)
		// The interval alone is wrong 1 time in 20; the control can only make it rarer.
		if wrong := seen[Faster] + seen[Slower]; wrong > 50 {
			t.Errorf("%d rounds: a difference between equals was seen %d times in 1000", rounds, wrong)
		}
		if seen[Unknown] != 0 {
			t.Errorf("%d rounds: no verdict %d times", rounds, seen[Unknown])
		}
	}
}

func TestInjectedSlowdownIsFound(t *testing.T) {
	seen := verdicts(2, 4, 0.01, 0, 0.95)
	if seen[Slower] < 950 || seen[Faster] != 0 {
		t.Errorf("5 %% slower, noise of 1 %%: %v", seen)
	}
	seen = verdicts(3, 8, 0.02, 0, 0.95)
	if seen[Slower] < 900 || seen[Faster] != 0 {
		t.Errorf("5 %% slower, noise of 2 %%: %v", seen)
	}
	seen = verdicts(4, 4, 0.01, 0, 1.05)
	if seen[Faster] < 950 || seen[Slower] != 0 {
		t.Errorf("5 %% faster, noise of 1 %%: %v", seen)
	}
}

func TestDriftIsNotADifference(t *testing.T) {
	seen := verdicts(5, 4, 0.005, -0.01, 1)
	if wrong := seen[Faster] + seen[Slower]; wrong > 50 {
		t.Errorf("a machine that slows down by 1 %% a run: a difference was seen %d times in 1000", wrong)
	}
}

func TestOneRoundHasNoVerdict(t *testing.T) {
	d := Paired([]float64{100}, []float64{50})
	if d.Known() || d.Ratio != 0.5 || Judge(d, Difference{}) != Unknown {
		t.Errorf("one pair: %+v, %s", d, Judge(d, Difference{}))
	}
}

func TestControlBoundsTheNoise(t *testing.T) {
	d := Difference{Pairs: 4, Ratio: 1.03, Low: 1.01, High: 1.05}
	for _, c := range []struct {
		control Difference
		want    Verdict
	}{
		{Difference{}, Faster},
		{Difference{Pairs: 4, Ratio: 0.99, Low: 0.98, High: 1.01}, Faster},
		{Difference{Pairs: 4, Ratio: 0.96, Low: 0.93, High: 1.01}, Noise},
	} {
		if got := Judge(d, c.control); got != c.want {
			t.Errorf("control %+v: %s, want %s", c.control, got, c.want)
		}
	}
}

func TestUnpaired(t *testing.T) {
	d := Unpaired([]float64{100, 102, 98, 100}, []float64{80, 81, 79})
	if math.Abs(d.Ratio-0.8) > 0.002 || d.Low < 0.77 || d.Low > 0.8 || d.High > 0.83 {
		t.Errorf("got %+v", d)
	}
	if d := Unpaired([]float64{100}, []float64{80, 81}); d.Known() || d.Low != 0 {
		t.Errorf("one run: %+v", d)
	}
}
