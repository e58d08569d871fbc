package metrics

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestScrape(t *testing.T) {
	s := New()
	s.ProcSleep[LockExtend][7].Add(3)
	s.LockWaitSeconds[LockExtend].Observe(0.5)
	s.WaitEvent("Lock", "extend").Add(1_500_000_000)
	want := `
# HELP minipg_wait_event_seconds_total Time waited by event.
# TYPE minipg_wait_event_seconds_total counter
minipg_wait_event_seconds_total{wait_event="extend",wait_event_type="Lock"} 1.5
`
	if err := testutil.GatherAndCompare(s.Registry, strings.NewReader(want),
		"minipg_wait_event_seconds_total"); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(s.Registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "minipg_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	s.Reset(GroupLatch)
	if n := s.ProcSleep[LockExtend][7].Value(); n != 3 {
		t.Errorf("%d sleeps after a reset of the latches", n)
	}
	s.Reset(GroupLock)
	if n := s.ProcSleep[LockExtend][7].Value(); n != 0 {
		t.Errorf("%d sleeps after a reset", n)
	}
}

func TestHistogramEdges(t *testing.T) {
	h := NewHistogram(decades(1e-6, 30))
	found := false
	for _, e := range h.edges {
		found = found || (e > 0.999999 && e < 1.000001)
	}
	if !found {
		t.Errorf("no edge at one second: %v", h.edges)
	}
	h.Observe(0.5)
	h.Observe(100)
	if count, sum, _ := h.Snapshot(); count != 2 || sum != 100.5 {
		t.Errorf("count %d sum %g, want 2 and 100.5", count, sum)
	}
}

func TestDecades(t *testing.T) {
	got := decades(1e-6, 30)
	want := []float64{
		1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2,
		0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 30,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := decades(100e-9, 100e-3); got[0] != 1e-7 || got[len(got)-1] != 0.1 || len(got) != 19 {
		t.Errorf("got %v", got)
	}
}
