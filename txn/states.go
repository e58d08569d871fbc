package txn

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The values of a state word; what is none of these and not a child is a CSN.
const (
	stateInProgress uint64 = 0
	stateAborted    uint64 = 1
	stateCommitting uint64 = 2
	firstCSN        uint64 = 16

	stateChild uint64 = 1 << 63 // the rest is the parent's XID
)

const statePageXIDs = 4096

type statePage [statePageXIDs]atomic.Uint64

// stateDir is an immutable directory of the pages in memory.
type stateDir struct {
	base  uint64 // number of pages[0]
	pages []*statePage
}

// states is the recent part of every transaction's fate: one word an XID, from
// somewhere below the horizon to the newest XID.
type states struct {
	dir atomic.Pointer[stateDir]
	mu  sync.Mutex // serialises changes of dir
}

func (s *states) reset(first XID) {
	s.dir.Store(&stateDir{base: uint64(first) / statePageXIDs, pages: []*statePage{new(statePage)}})
}

// word returns xid's word, or nil when its page is no longer or not yet there; old tells which.
func (s *states) word(xid XID) (w *atomic.Uint64, old bool) {
	d := s.dir.Load()
	page := uint64(xid) / statePageXIDs
	if page < d.base {
		return nil, true
	}
	if page -= d.base; page < uint64(len(d.pages)) {
		return &d.pages[page][uint64(xid)%statePageXIDs], false
	}
	return nil, false
}

// ensure returns the word of an XID just given out.
func (s *states) ensure(xid XID) *atomic.Uint64 {
	if w, _ := s.word(xid); w != nil {
		return w
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.dir.Load()
	if n := uint64(xid)/statePageXIDs - d.base; n >= uint64(len(d.pages)) {
		grown := &stateDir{base: d.base, pages: make([]*statePage, n+1)}
		copy(grown.pages, d.pages)
		for i := len(d.pages); i < len(grown.pages); i++ {
			grown.pages[i] = new(statePage)
		}
		s.dir.Store(grown)
	}
	w, _ := s.word(xid)
	return w
}

// trim lets go of pages that lie wholly below xid. Who still holds one reads what is final.
func (s *states) trim(xid XID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.dir.Load()
	keep := uint64(xid) / statePageXIDs
	if keep <= d.base {
		return
	}
	// The newest page stays: ensure counts from it.
	n := min(keep-d.base, uint64(len(d.pages)-1))
	s.dir.Store(&stateDir{base: d.base + n, pages: d.pages[n:]})
}

// resolve follows children to their parents and waits out COMMITTING. It
// returns the word and whether the state array still knows; if not, the CLOG does.
func (s *states) resolve(xid XID) (state uint64, known bool) {
	for spins := 0; ; {
		w, old := s.word(xid)
		if w == nil {
			// Not yet there: given out a moment ago.
			return stateInProgress, !old
		}
		state = w.Load()
		switch {
		case state == stateCommitting:
			// Invariant 2: its committer is between two instructions.
			if spins++; spins < 100 {
				runtime.Gosched()
			} else {
				time.Sleep(time.Microsecond)
			}
		case state&stateChild != 0:
			xid = XID(state &^ stateChild)
		default:
			return state, true
		}
	}
}

// final reports whether xid's own word says how it ended.
func (s *states) final(xid XID) bool {
	w, old := s.word(xid)
	if w == nil {
		return old
	}
	state := w.Load()
	return state == stateAborted || state >= firstCSN && state&stateChild == 0
}
