package lab

import (
	"math"
	"slices"

	"github.com/minipg/minipg/lab/stats"
)

// column is a configuration of a table as it was run.
type column struct {
	config *Config
	// byClients are the runs at each client count, by round; a round that was not run is nil.
	byClients map[int][]*Run
}

// aggregated is a table with its runs.
type aggregated struct {
	table   *Table
	columns []*column
	clients []int // ascending
}

// aggregate sorts the runs of a table into columns. Columns without runs are left out.
func aggregate(res *Results, e *Experiment, t *Table) *aggregated {
	a := &aggregated{table: t}
	for _, c := range t.columns(2, true) {
		col := &column{config: c, byClients: map[int][]*Run{}}
		for _, r := range res.Runs {
			if r.Experiment != e.ID || r.Table != t.Name || r.Config != c.Name || r.Error != "" {
				continue
			}
			runs := col.byClients[r.Clients]
			for len(runs) <= r.Round {
				runs = append(runs, nil)
			}
			runs[r.Round] = r
			col.byClients[r.Clients] = runs
			if !slices.Contains(a.clients, r.Clients) {
				a.clients = append(a.clients, r.Clients)
			}
		}
		if len(col.byClients) > 0 {
			a.columns = append(a.columns, col)
		}
	}
	slices.Sort(a.clients)
	return a
}

// rounds are the runs that were made at a client count.
func (c *column) rounds(clients int) []*Run {
	return slices.DeleteFunc(slices.Clone(c.byClients[clients]), func(r *Run) bool { return r == nil })
}

func tpsOf(runs []*Run) []float64 {
	out := make([]float64, len(runs))
	for i, r := range runs {
		if r != nil {
			out[i] = r.TPS
		}
	}
	return out
}

func (c *column) tps(clients int) stats.Summary { return stats.Summarize(tpsOf(c.rounds(clients))) }

// base is the configuration the others are compared with, nil if it was not run.
func (a *aggregated) base() *column {
	if len(a.columns) > 0 && a.columns[0].config.Name == a.table.Configs[0].Name {
		return a.columns[0]
	}
	return nil
}

// last is the largest client count at which there is something to compare with.
func (a *aggregated) last() int {
	last := a.clients[len(a.clients)-1]
	base := a.base()
	if base == nil {
		return last
	}
	for _, clients := range slices.Backward(a.clients) {
		if len(base.rounds(clients)) > 0 {
			return clients
		}
	}
	return last
}

// control is the difference of the first configuration to itself.
func (a *aggregated) control(clients int) stats.Difference {
	for _, c := range a.columns {
		if c.config.control {
			return a.difference(c, clients)
		}
	}
	return stats.Difference{}
}

// difference compares a column with the first one.
func (a *aggregated) difference(c *column, clients int) stats.Difference {
	base := a.base()
	if base == nil {
		return stats.Difference{}
	}
	return stats.Paired(tpsOf(base.byClients[clients]), tpsOf(c.byClients[clients]))
}

// ratio of sums over the runs at a client count, times scale; NaN if it cannot be told.
func (c *column) ratio(clients int, scale float64, top, bottom func(*Run) (float64, bool)) float64 {
	var t, b float64
	runs := c.rounds(clients)
	for _, r := range runs {
		x, ok := top(r)
		y, ok2 := bottom(r)
		if !ok || !ok2 {
			return math.NaN()
		}
		t, b = t+x, b+y
	}
	if b == 0 {
		return math.NaN()
	}
	return scale * t / b
}

func counter(get func(*Counters) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		if r.Counters == nil {
			return 0, false
		}
		return get(r.Counters), true
	}
}

var (
	sleepsOf      = counter((*Counters).Sleeps)
	procSleepsOf  = counter(func(c *Counters) float64 { return c.ProcSleeps })
	tableSleepsOf = counter(func(c *Counters) float64 { return c.TableSleeps })
	extendsOf     = counter(func(c *Counters) float64 { return c.Extends })
	fsmHitsOf     = counter(func(c *Counters) float64 { return c.FSMHits })
	leafWaitsOf   = counter(func(c *Counters) float64 { return c.LeafWaits })
	relatchesOf   = counter(func(c *Counters) float64 { return c.Relatches })
	rightsOf      = counter(func(c *Counters) float64 { return c.MoveRights })
)

func blocksOf(r *Run) (float64, bool)       { return r.Blocks, true }
func transactionsOf(r *Run) (float64, bool) { return float64(r.Transactions), true }
func cpuOf(r *Run) (float64, bool)          { return r.CPUSeconds, r.CPUSeconds >= 0 }
func one(*Run) (float64, bool)              { return 1, true }
func p50Of(r *Run) (float64, bool)          { return r.P50MS, r.P50MS > 0 }
func p99Of(r *Run) (float64, bool)          { return r.P99MS, r.P99MS > 0 }

// sleepsPerBlock is sleeps per 1,000 blocks.
func (c *column) sleepsPerBlock(clients int) float64 {
	return c.ratio(clients, 1000, sleepsOf, blocksOf)
}

// retention is throughput at a client count against the peak of the column.
type retention struct {
	clients, peak int
	difference    stats.Difference
}

// minRetention is what has to be left of the peak by the lower bound.
const minRetention = 0.85

// retentions compares each client count with the one of the highest mean; nil unless there are two.
func (c *column) retentions() []retention {
	var counts []int
	peak := 0
	for clients := range c.byClients {
		counts = append(counts, clients)
		if peak == 0 || c.tps(clients).Mean > c.tps(peak).Mean {
			peak = clients
		}
	}
	if len(counts) < 2 {
		return nil
	}
	slices.Sort(counts)
	var list []retention
	for _, clients := range counts {
		r := retention{clients: clients, peak: peak, difference: stats.Difference{Pairs: 2, Ratio: 1, Low: 1, High: 1}}
		if clients != peak {
			r.difference = stats.Unpaired(tpsOf(c.rounds(peak)), tpsOf(c.rounds(clients)))
		}
		list = append(list, r)
	}
	return list
}
