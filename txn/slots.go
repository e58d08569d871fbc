package txn

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/pgerr/assert"
)

const (
	slotChunk     = 64
	maxSlotChunks = 1024
)

// slot is what others must know of a transaction that runs.
type slot struct {
	taken atomic.Bool
	// xmin is the oldest XID its snapshots may ask about, 0 for none.
	xmin atomic.Uint64
	// csn is that of its snapshots, csnUnknown while one is being taken or where they differ; without
	// meaning while xmin is 0.
	csn atomic.Uint64
	// commits is odd between the insertion of a commit record and its effect on the commit log.
	commits atomic.Uint64
	_       [32]byte
}

const csnUnknown = 0

// slotTable is the slots of all transactions that run. A transaction takes the
// lowest free one it finds, so the table is as long as ever were busy at once.
type slotTable struct {
	chunks [maxSlotChunks]atomic.Pointer[[slotChunk]slot]
	used   atomic.Int64 // slots in use or used before, a prefix
	grow   sync.Mutex
}

func (t *slotTable) at(i int) *slot { return &t.chunks[i/slotChunk].Load()[i%slotChunk] }

// take returns a slot, the one at hint if that is free.
func (t *slotTable) take(hint int) (*slot, int) {
	used := int(t.used.Load())
	if hint < used {
		if s := t.at(hint); !s.taken.Load() && s.taken.CompareAndSwap(false, true) {
			return s, hint
		}
	}
	for i := range used {
		if s := t.at(i); !s.taken.Load() && s.taken.CompareAndSwap(false, true) {
			return s, i
		}
	}
	t.grow.Lock()
	defer t.grow.Unlock()
	i := int(t.used.Load())
	assert.That(i < slotChunk*maxSlotChunks, "more than %d transactions at once", slotChunk*maxSlotChunks)
	if t.chunks[i/slotChunk].Load() == nil {
		t.chunks[i/slotChunk].Store(new([slotChunk]slot))
	}
	s := t.at(i)
	s.taken.Store(true)
	t.used.Store(int64(i + 1))
	return s, i
}

func (s *slot) giveBack() {
	s.xmin.Store(0)
	s.taken.Store(false)
}

// minXmin returns the smallest published xmin, at most h.
func (t *slotTable) minXmin(h uint64) uint64 {
	for i := range int(t.used.Load()) {
		if x := t.at(i).xmin.Load(); x != 0 && x < h {
			h = x
		}
	}
	return h
}

// divided tells whether a live snapshot may see some of the commits with CSNs from lo to hi and not
// others.
func (t *slotTable) divided(lo, hi uint64) bool {
	for i := range int(t.used.Load()) {
		s := t.at(i)
		if s.xmin.Load() == 0 {
			continue
		}
		if csn := s.csn.Load(); csn == csnUnknown || csn > lo && csn <= hi {
			return true
		}
	}
	return false
}

// waitForCommits waits for every commit that had begun when it was called.
func (t *slotTable) waitForCommits() {
	for i := range int(t.used.Load()) {
		s := t.at(i)
		began := s.commits.Load()
		if began%2 == 0 {
			continue
		}
		for s.commits.Load() == began {
			time.Sleep(100 * time.Microsecond)
		}
	}
}
