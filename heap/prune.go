package heap

import (
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// worthPruning tells whether page may hold something dead to everyone.
// Requires: the page is latched.
func (h *Heap) worthPruning(page storage.Page) bool {
	xid := page.PruneXID()
	return xid != 0 && txn.XID(xid) < h.d.Txn.Horizon()
}

// pruneIfFull prunes a page that readers pass by, when it is short of room and something on it can
// go. Follows heap_page_prune_opt. Requires: buf is latched shared, and stays so.
func (h *Heap) pruneIfFull(buf *storage.Buffer) {
	page := buf.Page()
	if page.PruneXID() == 0 || page.IsNew() {
		return
	}
	if !page.HasFlags(storage.PageFull) && page.FreeSpace() >= max(h.saveSpace, storage.PageSize/10) {
		return
	}
	if !h.worthPruning(page) || !buf.TryUpgrade(storage.ClassHeap) {
		return
	}
	if h.reserve(maxPageRecord, 1) == nil {
		b := h.d.Shared.builder()
		h.prune(b, buf)
		h.d.Shared.giveBack(b)
	}
	buf.Downgrade()
}

// prune removes what is dead to everyone from the chains of buf's page.
// Requires: buf is latched exclusively; room for the record is reserved.
func (h *Heap) prune(b *wal.Builder, buf *storage.Buffer) {
	p := pruner{h: h, page: buf.Page(), horizon: h.d.Txn.Horizon()}
	p.plan()
	h.carryOut(b, buf, &p)
}

// carryOut does what p has planned.
func (h *Heap) carryOut(b *wal.Builder, buf *storage.Buffer, p *pruner) {
	page := buf.Page()
	if !p.any() {
		if p.applyHints() || page.PruneXID() != uint64(p.prunable) || page.HasFlags(storage.PageFull) {
			page.SetPruneXID(uint64(p.prunable))
			page.ClearFlags(storage.PageFull)
			h.markHinted(buf)
		}
		return
	}
	wal.Critical(func() {
		p.applyHints()
		applyPrune(page, p.redirects(), p.dead[:p.nDead], p.unused[:p.nUnused])
		page.SetPruneXID(uint64(p.prunable))
		page.ClearFlags(storage.PageFull)
		buf.MarkDirty()
		if h.logged {
			h.begin(b, kindPrune, 0, buf, 0)
			put16(b, 0, uint16(p.nRedirect), uint16(p.nDead), uint16(p.nUnused))
			for _, r := range p.redirects() {
				put16(b, 0, r[0], r[1])
			}
			put16(b, 0, p.dead[:p.nDead]...)
			put16(b, 0, p.unused[:p.nUnused]...)
			h.stamp(h.d.Log.Insert(b), buf, nil, nil, nil)
		}
	})
}

// applyPrune changes the page, now and in redo.
func applyPrune(page storage.Page, redirects [][2]uint16, dead, unused []uint16) {
	for _, r := range redirects {
		page.SetRedirect(r[0], r[1])
	}
	for _, off := range dead {
		page.SetDead(off)
	}
	for _, off := range unused {
		page.SetUnused(off)
	}
	page.Compact()
}

// pruner plans the pruning of one page. Follows pruneheap.c. It fits on the stack.
type pruner struct {
	h       *Heap
	page    storage.Page
	horizon txn.XID
	// noIndex says nothing but the page itself leads to its line pointers, so that dead ones
	// are unused at once.
	noIndex bool
	// counts says that removed, recent and living are wanted, and hints of tuples that stay.
	counts bool

	prunable txn.XID // the oldest XID to wait for before the next pruning, 0 none
	seen     [MaxTuplesPerPage + 1]bool
	states   [MaxTuplesPerPage + 1]tupleFate
	tail     [MaxTuplesPerPage + 1]uint16 // scratch: a chain

	redirect                [MaxTuplesPerPage][2]uint16
	dead, unused            [MaxTuplesPerPage]uint16
	nRedirect, nDead        int
	nUnused                 int
	removed, recent, living int // tuples
}

// tupleFate is a tuple's state as VACUUM sees it, known once ok.
type tupleFate struct {
	ok    bool
	state TupleState
	hint  Flags
}

func (p *pruner) any() bool { return p.nRedirect+p.nDead+p.nUnused > 0 }

func (p *pruner) redirects() [][2]uint16 { return p.redirect[:p.nRedirect] }

func (p *pruner) count() uint16 { return uint16(min(p.page.ItemCount(), MaxTuplesPerPage)) }

// fate returns what is to become of the tuple at off, asked only once.
func (p *pruner) fate(off uint16, t tuple) TupleState {
	f := &p.states[off]
	if !f.ok {
		f.ok = true
		f.state, f.hint = p.h.vacuumState(t, p.horizon)
	}
	return f.state
}

// aborted tells whether t, found dead, was never committed, so that it is in nobody's chain.
func (p *pruner) aborted(off uint16, t tuple) bool {
	return (t.flags()|p.states[off].hint)&flagsXminFrozen == FlagXminInvalid
}

// plan decides about every line pointer.
func (p *pruner) plan() {
	n := p.count()
	for off := uint16(1); off <= n; off++ {
		if p.seen[off] {
			continue
		}
		switch p.page.State(off) {
		case storage.LineNormal, storage.LineRedirect:
			p.chain(off)
		case storage.LineDead:
			if p.noIndex {
				p.free(off)
			}
		}
	}
	if p.counts {
		p.tally(n)
	}
}

// tally counts the tuples of n line pointers that stay.
func (p *pruner) tally(n uint16) {
	for off := uint16(1); off <= n; off++ {
		if t := normalTuple(p.page, off); t != nil {
			switch p.fate(off, t) {
			case StateDead:
			case StateRecentlyDead:
				p.recent++
			default:
				p.living++
			}
		}
	}
}

func (p *pruner) free(off uint16) {
	p.seen[off] = true
	p.unused[p.nUnused] = off
	p.nUnused++
}

// kill makes off, the root of a chain of which nothing is left, a dead line pointer.
func (p *pruner) kill(off uint16) {
	if p.noIndex {
		p.free(off)
		return
	}
	p.seen[off] = true
	p.dead[p.nDead] = off
	p.nDead++
}

// waitFor notes that t goes once its xmax is below the horizon.
func (p *pruner) waitFor(t tuple) {
	if x := t.xmax(); p.prunable == 0 || x < p.prunable {
		p.prunable = x
	}
}

// chain plans the chain whose root is the line pointer at root. Follows heap_prune_chain.
func (p *pruner) chain(root uint16) {
	if t := normalTuple(p.page, root); t != nil {
		switch f := t.flags(); {
		case f&(FlagXminCommitted|FlagXmaxInvalid) == FlagXminCommitted|FlagXmaxInvalid:
			return // live: most are
		case f&FlagHeapOnly != 0:
			// Met here as a chain's member, or it is what a rolled back update left.
			if p.fate(root, t) == StateDead && (f&FlagHotUpdated == 0 || p.aborted(root, t)) {
				p.removed++
				p.free(root)
			}
			return
		}
	}
	members, lastDead := p.follow(root)
	isRedirect := p.page.State(root) == storage.LineRedirect
	if lastDead < 0 {
		if isRedirect && len(members) < 2 {
			p.kill(root) // it led to a tuple that never committed
		}
		return
	}
	for _, off := range members[1 : lastDead+1] {
		p.removed++
		p.free(off)
	}
	if !isRedirect {
		p.removed++
	}
	if lastDead+1 == len(members) {
		p.kill(root)
		return
	}
	p.redirect[p.nRedirect] = [2]uint16{root, members[lastDead+1]}
	p.nRedirect++
}

// follow lists the chain's members from root to the first that is not dead, and the index of the last
// dead one, -1 for none.
func (p *pruner) follow(root uint16) (members []uint16, lastDead int) {
	n, lastDead := 0, -1
	off, limit := root, p.count()
	var prior txn.XID
	for off != 0 && off <= limit && !p.seen[off] && n < len(p.tail) {
		if p.page.State(off) == storage.LineRedirect {
			if n > 0 {
				break
			}
			p.tail[0], n = off, 1
			off = p.page.RedirectTarget(off)
			continue
		}
		t := normalTuple(p.page, off)
		if t == nil || prior != 0 && t.xmin() != prior {
			break
		}
		p.tail[n] = off
		n++
		switch p.fate(off, t) {
		case StateDead:
			lastDead = n - 1
		case StateRecentlyDead, StateDeleteInProgress:
			p.waitFor(t)
		}
		if st := p.fate(off, t); st != StateDead && st != StateRecentlyDead {
			break
		}
		if t.flags()&FlagHotUpdated == 0 || p.aborted(off, t) {
			break
		}
		off, prior = t.ctid().Offset, t.xmax()
	}
	return p.tail[:n], lastDead
}

// applyHints sets what was learned on the tuples, telling whether anything changed. Invariant 3.
func (p *pruner) applyHints() (changed bool) {
	for off, n := uint16(1), p.count(); off <= n; off++ {
		if hint := p.states[off].hint; hint != 0 {
			if t := normalTuple(p.page, off); t != nil {
				t.setFlags(t.flags() | hint)
				changed = true
			}
		}
	}
	return changed
}

// rootOffsets fills roots, indexed by offset, with the root line pointer that leads to each tuple
// of page, 0 where none does. Follows heap_get_root_tuples.
func rootOffsets(page storage.Page, roots *[MaxTuplesPerPage + 1]uint16) {
	clear(roots[:])
	n := uint16(min(page.ItemCount(), MaxTuplesPerPage))
	for off := uint16(1); off <= n; off++ {
		next := off
		var prior txn.XID
		switch page.State(off) {
		case storage.LineNormal:
			t := normalTuple(page, off)
			if t.flags()&FlagHeapOnly != 0 {
				continue
			}
			roots[off] = off
			if t.flags()&FlagHotUpdated == 0 {
				continue
			}
			next, prior = t.ctid().Offset, t.xmax()
		case storage.LineRedirect:
			next = page.RedirectTarget(off)
		default:
			continue
		}
		for next != 0 && next <= n {
			t := normalTuple(page, next)
			if t == nil || prior != 0 && t.xmin() != prior || roots[next] != 0 {
				break
			}
			roots[next] = off
			if t.flags()&FlagHotUpdated == 0 {
				break
			}
			next, prior = t.ctid().Offset, t.xmax()
		}
	}
}
