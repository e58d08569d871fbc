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

const (
	statePageXIDs = 4096
	// wholePages are never made compact: most questions are about them.
	wholePages = 64
)

// statePage is the fate of statePageXIDs transactions, one word each. A page on which all are final,
// and whose CSNs lie all on one side of every live snapshot, is kept as the largest of them alone, with
// words nil: the commit log knows the rest.
type statePage struct {
	words  *[statePageXIDs]atomic.Uint64
	lo, hi uint64 // the CSNs on it, once it is final; hi 0: none, or not final yet
	final  bool
}

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

func newStatePage() *statePage {
	return &statePage{words: new([statePageXIDs]atomic.Uint64)}
}

func (s *states) reset(first XID) {
	s.dir.Store(&stateDir{base: uint64(first) / statePageXIDs, pages: []*statePage{newStatePage()}})
}

// word returns xid's word, or nil: then old tells that the commit log knows, and newest is the
// largest CSN that xid may have.
func (s *states) word(xid XID) (w *atomic.Uint64, old bool, newest uint64) {
	d := s.dir.Load()
	n := uint64(xid) / statePageXIDs
	if n < d.base {
		return nil, true, 0
	}
	if n -= d.base; n >= uint64(len(d.pages)) {
		return nil, false, 0
	}
	p := d.pages[n]
	if p.words == nil {
		return nil, true, p.hi
	}
	return &p.words[uint64(xid)%statePageXIDs], false, 0
}

// ensure returns the word of an XID just given out.
func (s *states) ensure(xid XID) *atomic.Uint64 {
	if w, _, _ := s.word(xid); w != nil {
		return w
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.dir.Load()
	if n := uint64(xid)/statePageXIDs - d.base; n >= uint64(len(d.pages)) {
		grown := &stateDir{base: d.base, pages: make([]*statePage, n+1)}
		copy(grown.pages, d.pages)
		for i := len(d.pages); i < len(grown.pages); i++ {
			grown.pages[i] = newStatePage()
		}
		s.dir.Store(grown)
	}
	w, _, _ := s.word(xid)
	return w
}

// trim lets go of pages that lie wholly below horizon, and makes compact those between it and oldest,
// the oldest XID in progress, that no live snapshot divides. Who still holds a page reads what is final.
func (s *states) trim(horizon, oldest XID, divides func(lo, hi uint64) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.dir.Load()
	gone := uint64(0)
	if keep := uint64(horizon) / statePageXIDs; keep > d.base {
		// The newest page stays: ensure counts from it.
		gone = min(keep-d.base, uint64(len(d.pages)-1))
	}
	next := &stateDir{base: d.base + gone, pages: append([]*statePage(nil), d.pages[gone:]...)}
	changed := gone > 0
	for i := 0; i < len(next.pages)-wholePages; i++ {
		p := next.pages[i]
		if p.words == nil || (next.base+uint64(i)+1)*statePageXIDs > uint64(oldest) {
			continue
		}
		p.measure()
		if !divides(p.lo, p.hi) {
			next.pages[i] = &statePage{lo: p.lo, hi: p.hi, final: true}
			changed = true
		}
	}
	if changed {
		s.dir.Store(next)
	}
}

// measure finds the range of the CSNs on a page that is final. Requires: states.mu.
func (p *statePage) measure() {
	if p.final {
		return
	}
	for i := range p.words {
		csn := p.words[i].Load()
		if csn < firstCSN {
			continue
		}
		if p.hi == 0 || csn < p.lo {
			p.lo = csn
		}
		p.hi = max(p.hi, csn)
	}
	p.final = true
}

// resolve follows children to their parents and waits out COMMITTING. It
// returns the word and whether the state array still knows; if not, the commit log does, and the CSN is
// at most newest.
func (s *states) resolve(xid XID) (state uint64, known bool, newest uint64) {
	for spins := 0; ; {
		w, old, newest := s.word(xid)
		if w == nil {
			// Not old and not there yet: given out a moment ago.
			return stateInProgress, !old, newest
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
			return state, true, 0
		}
	}
}

// final reports whether xid's own word says how it ended.
func (s *states) final(xid XID) bool {
	w, old, _ := s.word(xid)
	if w == nil {
		return old
	}
	state := w.Load()
	return state == stateAborted || state >= firstCSN && state&stateChild == 0
}
