package metrics

import (
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
