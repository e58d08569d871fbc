package heap

import (
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// numEpochs is how many reclaim epochs there are. Relations whose numbers fall on the same one
// only make each other's index-only scans look at pages once more.
const numEpochs = 1024

// Shared is the state all heaps of a server share.
type Shared struct {
	epochs   [numEpochs]atomic.Uint64
	builders sync.Pool
	scans    sync.Pool
}

// NewShared returns the shared state of one server.
func NewShared() *Shared { return &Shared{} }

func (s *Shared) epoch(rel storage.RelFile) *atomic.Uint64 {
	return &s.epochs[uint64(rel.Number)%numEpochs]
}

// ReclaimEpoch is advanced before VACUUM makes TIDs reusable. Invariant 8.
func (h *Heap) ReclaimEpoch() uint64 { return h.d.Shared.epoch(h.c.Rel).Load() }

// builder lends a record builder to readers, which have none.
func (s *Shared) builder() *wal.Builder {
	if b, ok := s.builders.Get().(*wal.Builder); ok {
		return b
	}
	return new(wal.Builder)
}

func (s *Shared) giveBack(b *wal.Builder) {
	b.Reset(wal.RMHeap, 0, 0, 0) // let go of buffers
	s.builders.Put(b)
}

func (s *Shared) scan() *Scan {
	if sc, ok := s.scans.Get().(*Scan); ok {
		return sc
	}
	return new(Scan)
}

// tally counts tuples written, where anybody counts.
func (h *Heap) tally(w *Writer, pick func(*metrics.Set) *metrics.Counter, n int) {
	if h.d.Metrics != nil {
		pick(h.d.Metrics).AddAt(uint32(w.LockSess.PID()), int64(n))
	}
}

func inserted(m *metrics.Set) *metrics.Counter   { return &m.TuplesInserted }
func updated(m *metrics.Set) *metrics.Counter    { return &m.TuplesUpdated }
func hotUpdated(m *metrics.Set) *metrics.Counter { return &m.TuplesHOTUpdated }
func deleted(m *metrics.Set) *metrics.Counter    { return &m.TuplesDeleted }
