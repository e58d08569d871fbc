package heap

import (
	"context"
	"slices"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// VacuumOptions shape Vacuum.
type VacuumOptions struct {
	// RemoveIndexEntries removes every index entry that leads to one of dead, which is sorted (see
	// ContainsTID); nil where the relation has no index.
	RemoveIndexEntries func(ctx context.Context, dead []TID) error
	// MaxDead bounds the dead TIDs collected between two index passes; 0 is DefaultMaxDead.
	MaxDead int
	// Full visits every page whatever the visibility map says (DISABLE_PAGE_SKIPPING).
	Full bool
	// Aggressive visits all pages that are not all-frozen (VACUUM FREEZE).
	Aggressive bool
	// Truncate takes the lock that allows empty tail pages to be cut off (nobody else uses the
	// relation until release), or says that it cannot be had; nil leaves them.
	Truncate func(ctx context.Context) (release func(), ok bool)
	// Delay is called with the cost of each step in PostgreSQL's vacuum cost units; it may sleep,
	// and its error ends the vacuum.
	Delay func(ctx context.Context, cost int) error
	// Progress, if set, is called after each page.
	Progress func(VacuumStats)
	// Ring keeps the vacuum from flushing the pool.
	Ring *storage.Ring
	// OldPages and OldTuples are what pg_class says, to estimate what was skipped; OldTuples is
	// negative where nothing is known.
	OldPages  storage.BlockNumber
	OldTuples float64
}

// DefaultMaxDead bounds dead TIDs where VacuumOptions does not.
const DefaultMaxDead = 8 << 20

// PostgreSQL's vacuum_cost_page_hit and vacuum_cost_page_dirty.
const (
	costPage  = 1
	costDirty = 20
)

// A tail is worth cutting off when it has this many pages, or this fraction of the relation.
const (
	truncateMinPages = 1000
	truncateFraction = 16
)

// VacuumStats tell what a Vacuum did and saw.
type VacuumStats struct {
	Pages, PagesScanned, PagesRemoved int64
	AllVisible                        int64 // pages all-visible in the map at the end
	TuplesRemoved                     int64
	TuplesScanned                     int64   // live ones on the pages scanned
	LiveTuples                        float64 // estimate for the whole relation
	RecentlyDead                      int64   // dead, but some snapshot may see them
	DeadLinePointers                  int64   // removed from the indexes
	IndexPasses                       int
	// OldestXID is the oldest XID left unfrozen: at most NextXID. Meaningful where no page was
	// skipped that is not all-frozen.
	OldestXID txn.XID
	// OldestKnown says so.
	OldestKnown bool
}

// vacuum is one run over a relation.
type vacuum struct {
	h       *Heap
	w       *Writer
	opts    VacuumOptions
	horizon txn.XID
	blocks  storage.BlockNumber
	// end is behind the last page that holds anything.
	end     storage.BlockNumber
	dead    []TID
	maxDead int
	stats   VacuumStats
	vm      VMBuf
	plan    pruner
	offs    []uint16
}

// Vacuum removes tuples dead to everyone: it prunes every page that may hold some, has the index
// entries of what was removed removed, and makes their line pointers reusable; marks pages
// all-visible and frozen, records free space, and cuts an empty tail off. It runs beside
// readers and writers. Follows vacuumlazy.c.
func (h *Heap) Vacuum(ctx context.Context, w *Writer, opts VacuumOptions) (VacuumStats, error) {
	blocks, err := h.NBlocks()
	if err != nil {
		return VacuumStats{}, err
	}
	v := &vacuum{h: h, w: w, opts: opts, blocks: blocks, maxDead: opts.MaxDead}
	if v.maxDead <= 0 {
		v.maxDead = DefaultMaxDead
	}
	defer v.vm.Release()
	v.stats.Pages = int64(blocks)
	v.stats.OldestXID, v.stats.OldestKnown = h.d.Txn.NextXID(), true
	v.horizon = h.d.Txn.Horizon()
	if err := v.run(ctx); err != nil {
		return v.stats, err
	}
	visible, err := h.CountAllVisible()
	v.stats.AllVisible = int64(visible)
	return v.stats, err
}

func (v *vacuum) run(ctx context.Context) error {
	for block := range v.blocks {
		skip, err := v.skippable(block)
		if err != nil {
			return err
		}
		if skip {
			v.end = block + 1
			continue
		}
		// A page may add as many as it has line pointers.
		if len(v.dead) > 0 && len(v.dead)+MaxTuplesPerPage > v.maxDead {
			if err := v.clean(ctx); err != nil {
				return err
			}
		}
		if err := v.page(ctx, block); err != nil {
			return err
		}
	}
	if len(v.dead) > 0 {
		if err := v.clean(ctx); err != nil {
			return err
		}
	}
	v.estimate()
	if err := v.h.d.Pool.FSM().Vacuum(v.h.c.Rel, 0, v.blocks); err != nil {
		return err
	}
	return v.truncate(ctx)
}

// skippable tells whether the map makes a look at block needless. The last page is always looked
// at: it decides about truncation.
func (v *vacuum) skippable(block storage.BlockNumber) (bool, error) {
	if v.opts.Full || block == v.blocks-1 {
		return false, nil
	}
	bits, err := v.h.d.Pool.VM().Get(v.h.c.Rel, block, &v.vm.vm)
	if err != nil || bits&storage.VMAllVisible == 0 {
		return false, err
	}
	if bits&storage.VMAllFrozen == 0 {
		if v.opts.Aggressive {
			return false, nil
		}
		v.stats.OldestKnown = false
	}
	return true, nil
}

// page is the first pass over one page.
func (v *vacuum) page(ctx context.Context, block storage.BlockNumber) error {
	h := v.h
	if err := h.reserve(maxPageRecord, 4); err != nil {
		return err
	}
	buf, err := h.read(block, v.opts.Ring)
	if err != nil {
		return err
	}
	v.stats.PagesScanned++
	cost := costPage
	buf.LockExclusive(storage.ClassHeap)
	page := buf.Page()
	if page.IsNew() {
		// Left by an extension that a crash cut short, or still to be used by one that goes on.
		buf.ReleaseExclusive()
		if err := h.d.Pool.FSM().Record(h.c.Rel, block, maxTupleSize); err != nil {
			return err
		}
		return v.done(ctx, cost)
	}
	p := &v.plan
	*p = pruner{h: h, page: page, horizon: v.horizon, noIndex: v.opts.RemoveIndexEntries == nil, counts: true}
	p.plan()
	if p.any() {
		cost += costDirty
	}
	h.carryOut(v.w.Builder, buf, p)
	v.stats.TuplesRemoved += int64(p.removed)
	v.stats.RecentlyDead += int64(p.recent)
	v.stats.TuplesScanned += int64(p.living)
	hasDead := v.collect(page, block)
	if !hasDead {
		if err := v.markVisible(buf); err != nil {
			buf.ReleaseExclusive()
			return err
		}
	}
	free := freeSpace(page)
	buf.ReleaseExclusive()
	if !hasDead || v.opts.RemoveIndexEntries == nil { // else the second pass knows better
		if err := h.d.Pool.FSM().Record(h.c.Rel, block, free); err != nil {
			return err
		}
	}
	return v.done(ctx, cost)
}

func (v *vacuum) done(ctx context.Context, cost int) error {
	if v.opts.Progress != nil {
		v.opts.Progress(v.stats)
	}
	if v.opts.Delay != nil {
		return v.opts.Delay(ctx, cost)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// collect notes the page's dead line pointers for the index pass.
func (v *vacuum) collect(page storage.Page, block storage.BlockNumber) (hasDead bool) {
	n := uint16(page.ItemCount())
	for off := uint16(1); off <= n; off++ {
		switch page.State(off) {
		case storage.LineDead:
			v.dead = append(v.dead, TID{Block: block, Offset: off})
			hasDead = true
		case storage.LineNormal, storage.LineRedirect:
			v.end = block + 1
		}
	}
	if hasDead {
		v.end = block + 1
	}
	return hasDead
}

// markVisible marks the page all-visible and freezes its tuples if everyone sees them all.
// Requires: buf is latched exclusively, and has no dead line pointer.
func (v *vacuum) markVisible(buf *storage.Buffer) error {
	h := v.h
	page := buf.Page()
	if !v.allVisible(page) {
		return nil
	}
	bits, err := h.d.Pool.VM().Get(h.c.Rel, buf.Block(), &v.vm.vm)
	if err != nil || bits == vmBoth && page.HasFlags(storage.PageAllVisible) {
		return err
	}
	if err := h.pinVM(&v.w.vm, buf.Block()); err != nil {
		return err
	}
	wal.Critical(func() {
		vm := &v.w.vm
		freeze(page, buf.Block())
		setAllVisible(buf, vm)
		buf.MarkDirty()
		if h.logged {
			b := v.w.Builder
			h.begin(b, kindVisible, 0, buf, 0)
			b.RegisterBuffer(1, vm.Buffer(), 0)
			h.stamp(h.d.Log.Insert(b), buf, nil, vm, nil)
		}
		releaseVM(vm)
	})
	return nil
}

// allVisible tells whether every tuple of page is committed for every snapshot and nobody holds or
// deletes one; else it notes the oldest XID that stays unfrozen.
func (v *vacuum) allVisible(page storage.Page) bool {
	all := true
	for off, n := uint16(1), uint16(page.ItemCount()); off <= n; off++ {
		t := normalTuple(page, off)
		if t == nil {
			all = all && page.State(off) != storage.LineDead
			continue
		}
		if v.everyoneSees(t) {
			continue
		}
		all = false
		f := t.flags()
		if f&flagsXminFrozen != flagsXminFrozen {
			v.stats.OldestXID = min(v.stats.OldestXID, t.xmin())
		}
		if f&FlagXmaxInvalid == 0 {
			v.stats.OldestXID = min(v.stats.OldestXID, t.xmax())
		}
	}
	return all
}

func (v *vacuum) everyoneSees(t tuple) bool {
	if st, _ := v.h.vacuumState(t, v.horizon); st != StateLive {
		return false
	}
	f := t.flags()
	if f&flagsXminFrozen != flagsXminFrozen && t.xmin() >= v.horizon {
		return false
	}
	if f&FlagXmaxInvalid != 0 {
		return true
	}
	// Live with an xmax: rolled back, or a lock that may still be held.
	st, _ := v.h.d.Txn.Status(t.xmax())
	return st != txn.InProgress
}

// freeze makes every tuple of the page visible to everyone without asking after XIDs, now and in
// redo. Requires: so they are.
func freeze(page storage.Page, block storage.BlockNumber) {
	for off, n := uint16(1), uint16(page.ItemCount()); off <= n; off++ {
		if t := normalTuple(page, off); t != nil {
			t.setXmax(0)
			t.setFlags(t.flags()&^flagsXmax | flagsXminFrozen | FlagXmaxInvalid)
			t.setCtid(TID{Block: block, Offset: off})
		}
	}
	page.SetPruneXID(0)
}

// clean has the index entries of the dead TIDs removed and then makes the line pointers reusable.
func (v *vacuum) clean(ctx context.Context) error {
	if err := v.opts.RemoveIndexEntries(ctx, v.dead); err != nil {
		return err
	}
	v.stats.IndexPasses++
	v.h.d.Shared.epoch(v.h.c.Rel).Add(1) // Invariant 8
	for i := 0; i < len(v.dead); {
		block := v.dead[i].Block
		v.offs = v.offs[:0]
		for ; i < len(v.dead) && v.dead[i].Block == block; i++ {
			v.offs = append(v.offs, v.dead[i].Offset)
		}
		if err := v.reclaim(ctx, block); err != nil {
			return err
		}
	}
	v.dead = v.dead[:0]
	return nil
}

// reclaim is the second pass over one page: v.offs become unused. Invariant 7.
func (v *vacuum) reclaim(ctx context.Context, block storage.BlockNumber) error {
	h := v.h
	if err := h.reserve(maxPageRecord, 4); err != nil {
		return err
	}
	buf, err := h.read(block, v.opts.Ring)
	if err != nil {
		return err
	}
	buf.LockExclusive(storage.ClassHeap)
	page := buf.Page()
	// Pruning may have made others dead since; none of ours can have changed.
	wal.Critical(func() {
		applyReclaim(page, v.offs)
		buf.MarkDirty()
		if h.logged {
			b := v.w.Builder
			h.begin(b, kindVacuum, 0, buf, 0)
			put16(b, 0, v.offs...)
			h.stamp(h.d.Log.Insert(b), buf, nil, nil, nil)
		}
	})
	v.stats.DeadLinePointers += int64(len(v.offs))
	err = v.markVisible(buf)
	free := freeSpace(page)
	buf.ReleaseExclusive()
	if err == nil {
		err = h.d.Pool.FSM().Record(h.c.Rel, block, free)
	}
	if err != nil {
		return err
	}
	return v.done(ctx, costPage+costDirty)
}

// applyReclaim changes the page, now and in redo.
func applyReclaim(page storage.Page, offs []uint16) {
	for _, off := range offs {
		if int(off) <= page.ItemCount() && page.State(off) == storage.LineDead {
			page.SetUnused(off)
		}
	}
	page.Compact()
}

// estimate extrapolates the live tuples. Follows vac_estimate_reltuples.
func (v *vacuum) estimate() {
	total, scanned := float64(v.stats.Pages), float64(v.stats.PagesScanned)
	seen := float64(v.stats.TuplesScanned)
	switch {
	case scanned >= total:
		v.stats.LiveTuples = seen
	case scanned == 0 || v.opts.OldTuples >= 0 && float64(v.opts.OldPages) == total && scanned < total*0.02:
		v.stats.LiveTuples = max(v.opts.OldTuples, 0)
	case v.opts.OldTuples < 0 || v.opts.OldPages == 0:
		v.stats.LiveTuples = float64(int64(seen/scanned*total + 0.5))
	default:
		density := v.opts.OldTuples / float64(v.opts.OldPages)
		v.stats.LiveTuples = float64(int64(density*(total-scanned) + seen + 0.5))
	}
}

// ContainsTID tells whether the sorted list dead has tid.
func ContainsTID(dead []TID, tid TID) bool {
	_, ok := slices.BinarySearchFunc(dead, tid, TID.Compare)
	return ok
}
