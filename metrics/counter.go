package metrics

import (
	"math"
	"sync/atomic"
)

const (
	stripes       = 16
	cacheLineSize = 64
)

type cell struct {
	n atomic.Int64
	_ [cacheLineSize - 8]byte
}

// Counter is a monotonic count spread over cache lines.
type Counter struct {
	cells  [stripes]cell
	source atomic.Pointer[source]
}

// Inc adds one.
func (c *Counter) Inc() { c.AddAt(0, 1) }

// Add adds n.
func (c *Counter) Add(n int64) { c.AddAt(0, n) }

// AddAt adds n on the stripe hint picks; callers that run on several cores
// pass something that differs between them, such as a session or buffer number.
func (c *Counter) AddAt(hint uint32, n int64) {
	if Counting {
		c.cells[hint%stripes].n.Add(n)
	}
}

// Value sums the stripes.
func (c *Counter) Value() int64 {
	var sum int64
	for i := range c.cells {
		sum += c.cells[i].n.Load()
	}
	return sum + c.source.Load().value()
}

func (c *Counter) reset() {
	for i := range c.cells {
		c.cells[i].n.Store(0)
	}
	c.source.Load().reset()
}

// Gauge is a value that goes up and down.
type Gauge struct {
	n atomic.Int64
	_ [cacheLineSize - 8]byte
}

// Add adds n, which may be negative.
func (g *Gauge) Add(n int64) { g.n.Add(n) }

// Set replaces the value.
func (g *Gauge) Set(n int64) { g.n.Store(n) }

// Value is the current value.
func (g *Gauge) Value() int64 { return g.n.Load() }

// Histogram counts observations in buckets with fixed upper edges, spread over cache lines as a Counter is.
type Histogram struct {
	edges []float64 // ascending
	cells [stripes]histogramCell
}

type histogramCell struct {
	buckets []atomic.Int64 // len(edges)+1
	sumBits atomic.Uint64
	_       [cacheLineSize - 32]byte
}

// NewHistogram makes a histogram with the given ascending upper edges; a last
// bucket takes what is above them.
func NewHistogram(edges []float64) *Histogram {
	h := &Histogram{edges: edges}
	n := len(edges) + 1
	for i := range h.cells {
		const perLine = cacheLineSize / 8
		h.cells[i].buckets = make([]atomic.Int64, (n+perLine-1)&^(perLine-1))[:n]
	}
	return h
}

// Observe counts v, in the unit of the edges (seconds for times).
func (h *Histogram) Observe(v float64) { h.ObserveAt(0, v) }

// ObserveAt counts v on the stripe hint picks: see Counter.AddAt.
func (h *Histogram) ObserveAt(hint uint32, v float64) {
	if !Counting {
		return
	}
	lo, hi := 0, len(h.edges)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if v <= h.edges[mid] {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	c := &h.cells[hint%stripes]
	c.buckets[lo].Add(1)
	for {
		old := c.sumBits.Load()
		if c.sumBits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

// Sum is the sum of what was observed.
func (h *Histogram) Sum() (sum float64) {
	for i := range h.cells {
		sum += math.Float64frombits(h.cells[i].sumBits.Load())
	}
	return sum
}

// Snapshot is the total count, the sum and the cumulative count by upper edge.
func (h *Histogram) Snapshot() (count uint64, sum float64, cumulative map[float64]uint64) {
	cumulative = make(map[float64]uint64, len(h.edges))
	for i, edge := range h.edges {
		count += h.bucket(i)
		cumulative[edge] = count
	}
	return count + h.bucket(len(h.edges)), h.Sum(), cumulative
}

func (h *Histogram) bucket(i int) (n uint64) {
	for c := range h.cells {
		n += uint64(h.cells[c].buckets[i].Load())
	}
	return n
}

func (h *Histogram) reset() {
	for c := range h.cells {
		for i := range h.cells[c].buckets {
			h.cells[c].buckets[i].Store(0)
		}
		h.cells[c].sumBits.Store(0)
	}
}

// decades returns edges 1, 2.5 and 5 times each power of ten from lo, a power of ten, up to hi, which
// is the last.
func decades(lo, hi float64) []float64 {
	var edges []float64
	for exp := int(math.Round(math.Log10(lo))); ; exp++ {
		for _, m := range [...]float64{1, 2.5, 5} {
			e := m * math.Pow10(max(exp, 0)) / math.Pow10(max(-exp, 0)) // one rounding: 2.5e-06, not 2.4999999999999998e-06
			if e >= hi {
				return append(edges, hi)
			}
			edges = append(edges, e)
		}
	}
}
