package heap

import (
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// ScanOptions choose what a scan visits.
type ScanOptions struct {
	// Start and End bound the blocks: Start included, End not. End 0 means the relation's
	// length when the scan starts.
	Start, End storage.BlockNumber
	// Ring keeps a large scan from flushing the pool; nil uses the whole pool.
	Ring *storage.Ring
	// All yields every tuple that is not dead to all, with its TupleState and root TID, whatever
	// the snapshot (which may be nil): for building indexes and ANALYZE.
	All bool
}

// TupleState is what VACUUM would say of a tuple.
type TupleState uint8

// The states of a tuple.
const (
	StateLive TupleState = iota
	StateRecentlyDead
	StateInsertInProgress
	StateDeleteInProgress
	StateDead
)

func (s TupleState) String() string {
	return [...]string{"live", "recently dead", "insert in progress", "delete in progress", "dead"}[s]
}

// Scan hands out private copies of pages with the tuples a snapshot sees. It serves
// one goroutine; goroutines share a relation by block ranges under one snapshot.
type Scan struct {
	h       *Heap
	snap    *txn.Snapshot
	opts    ScanOptions
	next    storage.BlockNumber
	end     storage.BlockNumber
	horizon txn.XID
	page    ScanPage
	nHints  int
	hints   [MaxTuplesPerPage]hint
	roots   [MaxTuplesPerPage + 1]uint16
	frame   [storage.PageSize]byte
}

// ScanPage is one page's visible tuples. It is valid until the next NextPage.
type ScanPage struct {
	Block storage.BlockNumber
	// N is the number of tuples.
	N int
	// Dead counts tuples dead to everyone, with ScanOptions.All.
	Dead int

	data  storage.Page
	items [MaxTuplesPerPage]scanItem
}

type scanItem struct {
	off, root  uint16
	start, end uint16
	state      TupleState
}

// NewScan starts a scan. Close gives its memory back for the next one.
func (h *Heap) NewScan(snap *txn.Snapshot, opts ScanOptions) *Scan {
	s := h.d.Shared.scan()
	s.h, s.snap, s.opts = h, snap, opts
	s.page.data = s.frame[:]
	s.Reset(opts.Start, opts.End)
	return s
}

// Reset points the scan at another block range.
func (s *Scan) Reset(start, end storage.BlockNumber) {
	s.next, s.end = start, end
	if s.opts.All {
		s.horizon = s.h.d.Txn.Horizon()
	}
}

// Close ends the scan; neither it nor its pages are used afterwards.
func (s *Scan) Close() {
	shared := s.h.d.Shared
	s.h, s.snap, s.opts = nil, nil, ScanOptions{}
	shared.scans.Put(s)
}

// NextPage returns the next page that has tuples to show, ok false at the end.
func (s *Scan) NextPage() (page *ScanPage, ok bool, err error) {
	if s.end == 0 {
		if s.end, err = s.h.NBlocks(); err != nil {
			return nil, false, err
		}
	}
	for s.next < s.end {
		block := s.next
		s.next++
		if err := s.load(block); err != nil {
			return nil, false, err
		}
		if s.page.N > 0 || s.page.Dead > 0 {
			return &s.page, true, nil
		}
	}
	return nil, false, nil
}

// load copies block under the latch and decides about its tuples afterwards. Invariant 1.
func (s *Scan) load(block storage.BlockNumber) error {
	p := &s.page
	p.Block, p.N, p.Dead = block, 0, 0
	buf, err := s.h.read(block, s.opts.Ring)
	if err != nil {
		return err
	}
	defer buf.Unpin()
	buf.LockShared(storage.ClassHeap)
	page := buf.Page()
	if page.ItemCount() == 0 {
		buf.UnlockShared()
		return nil
	}
	s.h.pruneIfFull(buf)
	lower, upper := page.Lower(), page.Upper()
	copy(p.data[:lower], page[:lower])
	copy(p.data[upper:], page[upper:])
	buf.UnlockShared()
	s.nHints = 0
	if s.opts.All {
		s.listAll()
	} else {
		s.listVisible()
	}
	if s.nHints > 0 && buf.TryLockExclusive(storage.ClassHeap) {
		s.h.applyHints(buf, s.hints[:s.nHints])
		buf.UnlockExclusive()
	}
	return nil
}

func (s *Scan) listVisible() {
	p := &s.page
	all := p.data.HasFlags(storage.PageAllVisible)
	for off, n := uint16(1), uint16(min(p.data.ItemCount(), MaxTuplesPerPage)); off <= n; off++ {
		l := p.data.LinePointer(off)
		if l.State() != storage.LineNormal {
			continue
		}
		if !all {
			t := tuple(p.data[l.Offset() : l.Offset()+l.Length()])
			ok, hint := s.h.visible(t, s.snap)
			if hint != 0 {
				s.hints[s.nHints] = makeHint(off, t, hint)
				s.nHints++
			}
			if !ok {
				continue
			}
		}
		p.items[p.N] = scanItem{off: off, start: uint16(l.Offset()), end: uint16(l.Offset() + l.Length())}
		p.N++
	}
}

func (s *Scan) listAll() {
	p := &s.page
	rootOffsets(p.data, &s.roots)
	for off, n := uint16(1), uint16(min(p.data.ItemCount(), MaxTuplesPerPage)); off <= n; off++ {
		l := p.data.LinePointer(off)
		if l.State() == storage.LineDead {
			p.Dead++
		}
		if l.State() != storage.LineNormal {
			continue
		}
		t := tuple(p.data[l.Offset() : l.Offset()+l.Length()])
		st, hint := s.h.vacuumState(t, s.horizon)
		if hint != 0 {
			s.hints[s.nHints] = makeHint(off, t, hint)
			s.nHints++
		}
		if st == StateDead {
			p.Dead++
			continue
		}
		p.items[p.N] = scanItem{
			off: off, root: s.roots[off], start: uint16(l.Offset()), end: uint16(l.Offset() + l.Length()), state: st,
		}
		p.N++
	}
}

func (p *ScanPage) tuple(i int) tuple { return tuple(p.data[p.items[i].start:p.items[i].end]) }

// TID names tuple i.
func (p *ScanPage) TID(i int) TID { return TID{Block: p.Block, Offset: p.items[i].off} }

// Data is tuple i's row.
func (p *ScanPage) Data(i int) []byte {
	it := &p.items[i]
	return p.data[it.start+HeaderSize : it.end : it.end]
}

// Header is tuple i's header.
func (p *ScanPage) Header(i int) Header { return p.tuple(i).header() }

// State is tuple i's state, with ScanOptions.All.
func (p *ScanPage) State(i int) TupleState { return p.items[i].state }

// RootTID is what index entries of tuple i point at, with ScanOptions.All; not Valid where
// nothing leads to it.
func (p *ScanPage) RootTID(i int) TID {
	if p.items[i].root == 0 {
		return InvalidTID
	}
	return TID{Block: p.Block, Offset: p.items[i].root}
}

// Indexable tells, with ScanOptions.All, whether an index built now gets an entry for tuple i. An
// older member of a HOT chain does not, as the chain has one entry, with the newest key; an
// index without it must not serve snapshots that may still see it. Follows
// heapam_index_build_range_scan.
func (p *ScanPage) Indexable(i int) bool {
	switch p.items[i].state {
	case StateRecentlyDead, StateDeleteInProgress:
		return p.tuple(i).flags()&FlagHotUpdated == 0 && p.items[i].root != 0
	}
	return p.items[i].root != 0
}
