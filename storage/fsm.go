package storage

import (
	"context"
	"sync/atomic"
)

// FSM is the free space map: which block of a relation has room. A tree of pages in its own
// fork, three levels high; a page of the lowest has one slot a block, the others one slot a
// page below, holding its largest category. Follows storage/freespace/README, except that an
// increase of a page's largest category is carried up at once, so that recorded space is found
// before the next VACUUM; decreases are left to searches that are led astray.
//
// Nothing is logged. Answers are hints: what a crash left may be wrong, a page that fails its
// checksum is emptied, and VACUUM records everything anew.
type FSM struct {
	pool *Pool
	// next is where the search of a page begins, by hash of its tag.
	next [fsmNextSlots]atomic.Uint32
}

const (
	fsmNextSlots = 1024
	fsmLevels    = 3 // enough for 2^32 blocks
	// maxFSMRestarts bounds a search that concurrent changes lead astray.
	maxFSMRestarts = 10000
)

// fsmAddress is a page of the map: its level, from the leaves up, and its number in it.
type fsmAddress struct {
	level  int
	number int
}

var fsmRoot = fsmAddress{level: fsmLevels - 1}

func fsmLocate(block BlockNumber) (fsmAddress, int) {
	return fsmAddress{number: int(block) / fsmSlots}, int(block) % fsmSlots
}

func (a fsmAddress) parent() (fsmAddress, int) {
	return fsmAddress{a.level + 1, a.number / fsmSlots}, a.number % fsmSlots
}

func (a fsmAddress) child(slot int) fsmAddress {
	return fsmAddress{a.level - 1, a.number*fsmSlots + slot}
}

func (a fsmAddress) isLeaf() bool { return a.level == 0 }

// physical is the block of a in the fork: the tree is stored depth first, so that a small
// relation needs three blocks.
func (a fsmAddress) physical() BlockNumber {
	leaf := a.number // the first leaf page under a
	for l := a.level; l > 0; l-- {
		leaf *= fsmSlots
	}
	pages := 0 // pages of all levels up to that leaf
	for l := 0; l < fsmLevels; l++ {
		pages += leaf + 1
		leaf /= fsmSlots
	}
	// Without the levels below a.
	return BlockNumber(pages - a.level - 1)
}

func (f *FSM) nextSlot(ff *forkFile, a fsmAddress) *atomic.Uint32 {
	return &f.next[keyOf(BlockTag{ff.key.rel, FSMFork, a.physical()}).hash()%fsmNextSlots]
}

// fork is the map of rel.
func (f *FSM) fork(rel RelFile) *forkFile { return f.pool.files.fork(rel, FSMFork) }

// page pins the map page at a, nil when there is none.
func (f *FSM) page(ff *forkFile, a fsmAddress) (*Buffer, error) {
	block := a.physical()
	n, _, err := f.pool.files.lengthOf(ff)
	if err != nil || block >= n {
		return nil, err
	}
	return f.pool.Read(BlockTag{ff.key.rel, FSMFork, block}, nil)
}

// makePage is page, making the fork longer where needed: under the relation's extension lock,
// if there is one, which the caller may hold already for the main fork.
func (f *FSM) makePage(ctx context.Context, locker ExtensionLocker, ff *forkFile, a fsmAddress) (*Buffer, error) {
	b, err := f.page(ff, a)
	if b != nil || err != nil {
		return b, err
	}
	if locker != nil {
		if err := locker.Lock(ctx, ff.key.rel.Database, uint64(ff.key.rel.Number)); err != nil {
			return nil, err
		}
		defer locker.Unlock(ff.key.rel.Database, uint64(ff.key.rel.Number))
	}
	if err := f.pool.files.ensureBlocks(ff, a.physical()+1); err != nil {
		return nil, err
	}
	return f.page(ff, a)
}

// initMap makes p a map page: no hole, so that nobody leaves its middle out of an image.
func (p Page) initMap() {
	p.Init(0)
	p.setLower(PageSize)
}

// Search finds a block that, as far as the map knows, has need bytes free.
func (f *FSM) Search(rel RelFile, need int) (BlockNumber, bool, error) {
	return f.search(f.fork(rel), needToCategory(need))
}

func (f *FSM) search(ff *forkFile, category uint8) (BlockNumber, bool, error) {
	a := fsmRoot
	for range maxFSMRestarts {
		slot, largest, err := f.searchPage(ff, a, category)
		if err != nil {
			return InvalidBlock, false, err
		}
		if slot >= 0 && a.isLeaf() {
			block := BlockNumber(a.number*fsmSlots + slot)
			// The length as it is now: blocks are recorded as soon as they are in the file.
			blocks, err := f.pool.files.NBlocks(ff.key.rel, MainFork)
			if err != nil || block < blocks {
				return block, err == nil, err
			}
			// The map outlived a truncation, or the blocks died in a crash.
			if err := f.set(ff, a, slot, 0); err != nil {
				return InvalidBlock, false, err
			}
			continue
		}
		if slot >= 0 {
			a = a.child(slot)
			continue
		}
		if a == fsmRoot {
			return InvalidBlock, false, nil
		}
		// The page above promised too much: correct it, and begin again.
		if err := f.lower(ff, a, largest); err != nil {
			return InvalidBlock, false, err
		}
		a = fsmRoot
	}
	return InvalidBlock, false, nil
}

// searchPage returns a slot of page a, or -1 and the page's largest category.
func (f *FSM) searchPage(ff *forkFile, a fsmAddress, category uint8) (slot int, largest uint8, err error) {
	b, err := f.page(ff, a)
	if b == nil {
		return -1, 0, err
	}
	defer b.Unpin()
	next := f.nextSlot(ff, a)
	b.LockShared(ClassFSM)
	slot, broken := fsmSearch(b.Page(), category, int(next.Load()))
	largest = fsmMax(b.Page())
	b.UnlockShared()
	if broken {
		b.LockExclusive(ClassFSM)
		if fsmRebuild(b.Page()) {
			b.MarkDirty()
		}
		slot, _ = fsmSearch(b.Page(), category, int(next.Load()))
		largest = fsmMax(b.Page())
		b.UnlockExclusive()
	}
	if slot >= 0 {
		// On the lowest level the next one to ask gets another block.
		if a.isLeaf() {
			next.Store(uint32(slot + 1))
		} else {
			next.Store(uint32(slot))
		}
	}
	return slot, largest, nil
}

// lower corrects the page above a, which promised more than largest. Whoever recorded more in a
// meanwhile may have carried it up before: looked for afterwards, it is not lost.
func (f *FSM) lower(ff *forkFile, a fsmAddress, largest uint8) error {
	parent, slot := a.parent()
	if err := f.set(ff, parent, slot, largest); err != nil {
		return err
	}
	b, err := f.page(ff, a)
	if b == nil {
		return err
	}
	b.LockShared(ClassFSM)
	now := fsmMax(b.Page())
	b.ReleaseShared()
	if now <= largest {
		return nil
	}
	return f.recordIn(context.Background(), nil, ff, parent, slot, 1, now)
}

// set stores a category in an existing page.
func (f *FSM) set(ff *forkFile, a fsmAddress, slot int, category uint8) error {
	b, err := f.page(ff, a)
	if b == nil {
		return err
	}
	b.LockExclusive(ClassFSM)
	if fsmSet(b.Page(), slot, category) {
		b.MarkDirty()
	}
	b.ReleaseExclusive()
	return nil
}

// Record says how much space a block has.
func (f *FSM) Record(rel RelFile, block BlockNumber, free int) error {
	return f.recordCategory(context.Background(), nil, f.fork(rel), block, 1, spaceToCategory(free))
}

// RecordMany says that n blocks from first on have the same space. The upper levels are
// corrected once.
func (f *FSM) RecordMany(rel RelFile, first BlockNumber, n int, free int) error {
	return f.recordCategory(context.Background(), nil, f.fork(rel), first, n, spaceToCategory(free))
}

func (f *FSM) recordMany(ctx context.Context, locker ExtensionLocker, rel RelFile, first BlockNumber, n int, free int) error {
	return f.recordCategory(ctx, locker, f.fork(rel), first, n, spaceToCategory(free))
}

func (f *FSM) recordCategory(ctx context.Context, locker ExtensionLocker, ff *forkFile, first BlockNumber, n int, category uint8) error {
	for n > 0 {
		a, slot := fsmLocate(first)
		here := min(n, fsmSlots-slot)
		if err := f.recordIn(ctx, locker, ff, a, slot, here, category); err != nil {
			return err
		}
		first, n = first+BlockNumber(here), n-here
	}
	return nil
}

// recordIn stores a category in n slots of a page, and carries a larger maximum up.
func (f *FSM) recordIn(ctx context.Context, locker ExtensionLocker, ff *forkFile, a fsmAddress, slot, n int, category uint8) error {
	for {
		b, err := f.makePage(ctx, locker, ff, a)
		if err != nil {
			return err
		}
		b.LockExclusive(ClassFSM)
		page := b.Page()
		before := fsmMax(page)
		changed := fsmSetMany(page, slot, n, category)
		after := fsmMax(page)
		if changed {
			b.MarkDirty()
		}
		b.ReleaseExclusive()
		if after <= before || a == fsmRoot {
			return nil
		}
		a, slot = a.parent()
		n, category = 1, after
	}
}

// RecordAndSearch says how much space a block has and looks for one with need, first near the
// block.
func (f *FSM) RecordAndSearch(rel RelFile, old BlockNumber, oldFree, need int) (BlockNumber, bool, error) {
	if err := f.Record(rel, old, oldFree); err != nil {
		return InvalidBlock, false, err
	}
	ff, category := f.fork(rel), needToCategory(need)
	a, _ := fsmLocate(old)
	slot, _, err := f.searchPage(ff, a, category)
	if err != nil {
		return InvalidBlock, false, err
	}
	if slot >= 0 {
		blocks, err := f.pool.files.NBlocks(rel, MainFork)
		if block := BlockNumber(a.number*fsmSlots + slot); err != nil || block < blocks {
			return block, err == nil, err
		}
	}
	return f.search(ff, category)
}

// Get returns the space the map has for a block, rounded down.
func (f *FSM) Get(rel RelFile, block BlockNumber) (int, error) {
	a, slot := fsmLocate(block)
	b, err := f.page(f.fork(rel), a)
	if b == nil {
		return 0, err
	}
	defer b.ReleaseShared()
	b.LockShared(ClassFSM)
	return categoryToSpace(fsmGet(b.Page(), slot)), nil
}

// Vacuum makes the upper levels over the blocks [from, to) exact.
func (f *FSM) Vacuum(rel RelFile, from, to BlockNumber) error {
	if from >= to {
		return nil
	}
	_, _, err := f.vacuumPage(f.fork(rel), fsmRoot, from, to)
	return err
}

// vacuumPage returns the largest category of page a, after correcting what is under it.
func (f *FSM) vacuumPage(ff *forkFile, a fsmAddress, from, to BlockNumber) (largest uint8, exists bool, err error) {
	b, err := f.page(ff, a)
	if b == nil {
		return 0, false, err
	}
	defer b.Unpin()
	if !a.isLeaf() {
		span := 1 // blocks a slot of a stands for
		for range a.level {
			span *= fsmSlots
		}
		start := a.number * fsmSlots * span
		for slot := max(0, (int(from)-start)/span); slot < fsmSlots && start+slot*span < int(to); slot++ {
			below, exists, err := f.vacuumPage(ff, a.child(slot), from, to)
			if err != nil {
				return 0, true, err
			}
			b.LockExclusive(ClassFSM)
			if fsmSet(b.Page(), slot, below) {
				b.MarkDirty()
			}
			b.UnlockExclusive()
			if !exists {
				break
			}
		}
	}
	f.nextSlot(ff, a).Store(0)
	b.LockShared(ClassFSM)
	defer b.UnlockShared()
	return fsmMax(b.Page()), true, nil
}

// Truncate forgets the blocks from heapBlocks on, which are to be cut off.
// Requires: nobody else uses the relation.
func (f *FSM) Truncate(rel RelFile, heapBlocks BlockNumber) error {
	ff := f.fork(rel)
	n, ok, err := f.pool.files.lengthOf(ff)
	if !ok {
		return err
	}
	a, slot := fsmLocate(heapBlocks)
	keep := a.physical()
	if slot > 0 {
		b, err := f.page(ff, a)
		if err != nil {
			return err
		}
		if b != nil {
			b.LockExclusive(ClassFSM)
			if fsmTruncatePage(b.Page(), slot) {
				b.MarkDirty()
			}
			b.ReleaseExclusive()
		}
		keep++
	}
	if keep < n {
		if err := f.pool.TruncateRelation(rel, FSMFork, keep); err != nil {
			return err
		}
	}
	return f.truncateUpper(ff, a, slot)
}

// truncateUpper empties the slots for pages that are gone, in the pages above.
func (f *FSM) truncateUpper(ff *forkFile, a fsmAddress, slot int) error {
	for a != fsmRoot {
		keepChild := slot > 0 // page a itself stays
		parent, parentSlot := a.parent()
		if keepChild {
			parentSlot++
		}
		b, err := f.page(ff, parent)
		if err != nil {
			return err
		}
		if b != nil {
			b.LockExclusive(ClassFSM)
			if fsmTruncatePage(b.Page(), parentSlot) {
				b.MarkDirty()
			}
			b.ReleaseExclusive()
		}
		a, slot = parent, parentSlot
	}
	return nil
}

// Free pages of indexes: a page is free whole or not at all.

// RecordFreePage says that a page of an index may be reused.
func (f *FSM) RecordFreePage(rel RelFile, block BlockNumber) error {
	return f.recordCategory(context.Background(), nil, f.fork(rel), block, 1, 255)
}

// RecordUsedPage says that a page of an index is in use.
func (f *FSM) RecordUsedPage(rel RelFile, block BlockNumber) error {
	return f.recordCategory(context.Background(), nil, f.fork(rel), block, 1, 0)
}

// TakeFreePage finds a free page and records it as used. Two callers may get the same: look at
// the page under its latch.
func (f *FSM) TakeFreePage(rel RelFile) (BlockNumber, bool, error) {
	block, ok, err := f.Search(rel, PageSize/2)
	if ok {
		err = f.RecordUsedPage(rel, block)
	}
	return block, ok && err == nil, err
}

// VacuumIndex makes the whole map of an index exact.
func (f *FSM) VacuumIndex(rel RelFile) error {
	n, err := f.pool.files.NBlocks(rel, MainFork)
	if err != nil {
		return err
	}
	return f.Vacuum(rel, 0, n)
}
