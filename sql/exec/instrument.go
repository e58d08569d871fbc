package exec

import (
	"time"

	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// NodeStats are what EXPLAIN ANALYZE shows of a node. Loops counts completed and begun runs; Rows is
// over all of them.
type NodeStats struct {
	Loops   int64
	Rows    int64
	Startup time.Duration // until the first row, over all loops
	Total   time.Duration
	// RemovedByFilter are rows that Filter (of a join: the conditions after it) did not pass,
	// RemovedByJoin those that the join's own conditions did not, RemovedByRecheck those that an
	// index condition looked at again did not.
	RemovedByFilter, RemovedByJoin, RemovedByRecheck int64
	HeapFetches                                      int64
	// Sort and hash: how, and in how much memory or disk.
	Method      string // "quicksort", "top-N heapsort", "external merge"
	SpaceBytes  int64
	SpaceOnDisk bool
	HashBuckets int
	HashBatches int
	// Inserted and Conflicting of ON CONFLICT.
	Inserted, Conflicting int64
	WorkersLaunched       int
}

// Stats are the measurements of a plan node of an instrumented execution, nil without.
func (x *Execution) Stats(n plan.Node) *NodeStats {
	if x.rt.stats == nil {
		return nil
	}
	if id, ok := x.rt.prog.ids[n]; ok {
		return &x.rt.stats[id]
	}
	return nil
}

// measured counts and times an operator.
type measured struct {
	operator
	rt    *runtime
	stats *NodeStats
	first bool
}

func (m *measured) clock() time.Time {
	if m.rt.st.Instrument < InstrumentTiming || m.rt.st.Clock == nil {
		return time.Time{}
	}
	return m.rt.st.Clock()
}

func (m *measured) open() error {
	m.stats.Loops++
	m.first = true
	t := m.clock()
	err := m.operator.open()
	d := m.clock().Sub(t)
	m.stats.Startup += d
	m.stats.Total += d
	return err
}

func (m *measured) next(max int) (*types.Batch, error) {
	t := m.clock()
	b, err := m.operator.next(max)
	d := m.clock().Sub(t)
	m.stats.Total += d
	if m.first {
		m.stats.Startup += d
		m.first = false
	}
	if b != nil {
		m.stats.Rows += int64(b.Len())
	}
	return b, err
}

// nodeStats returns where a node's operator notes more than rows and time, nil if nothing is measured.
func (rt *runtime) nodeStats(n *nodeInfo) *NodeStats {
	if rt.stats == nil {
		return nil
	}
	return &rt.stats[n.id]
}
