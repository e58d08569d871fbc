package heap

import "github.com/minipg/minipg/storage"

const vmBoth = storage.VMAllVisible | storage.VMAllFrozen

// VMBuf keeps a visibility map page pinned between lookups. The zero value is
// ready; Release it.
type VMBuf struct{ vm storage.VMBuffer }

// Release unpins.
func (b *VMBuf) Release() { b.vm.Release() }

// pinVM pins the map page of block in vm and latches nothing.
func (h *Heap) pinVM(vm *storage.VMBuffer, block storage.BlockNumber) error {
	return h.d.Pool.VM().Pin(h.c.Rel, block, vm)
}

// pinForClear pins the map page of buf's block in vm where a change of the page must clear its
// bits, and returns vm; else nil. Requires: buf is latched exclusively. Invariant 2.
func (h *Heap) pinForClear(buf *storage.Buffer, vm *storage.VMBuffer) (*storage.VMBuffer, error) {
	if !buf.Page().HasFlags(storage.PageAllVisible) {
		return nil, nil
	}
	if err := h.pinVM(vm, buf.Block()); err != nil {
		return nil, err
	}
	return vm, nil
}

// clearAllVisible takes the all-visible flag from buf and, where vm is not nil, the bits from
// the map, whose page it leaves latched for the log record; releaseVM ends that.
func clearAllVisible(buf *storage.Buffer, vm *storage.VMBuffer) {
	if vm == nil {
		return
	}
	vm.Buffer().LockExclusive(storage.ClassVM)
	clearLatched(buf, vm)
}

func clearLatched(buf *storage.Buffer, vm *storage.VMBuffer) {
	buf.Page().ClearFlags(storage.PageAllVisible)
	vm.ClearBits(buf.Block(), vmBoth)
	vm.Buffer().MarkDirty()
}

// clearFrozen is clearAllVisible for a row lock, which changes nothing anybody sees.
func clearFrozen(buf *storage.Buffer, vm *storage.VMBuffer) {
	if vm == nil {
		return
	}
	vm.Buffer().LockExclusive(storage.ClassVM)
	vm.ClearBits(buf.Block(), storage.VMAllFrozen)
	vm.Buffer().MarkDirty()
}

// clearBothVisible is clearAllVisible for two pages, whose map page may be the same. Map pages
// are latched in ascending order.
func clearBothVisible(buf, buf2 *storage.Buffer, vm, vm2 *storage.VMBuffer) {
	switch {
	case vm == nil:
		clearAllVisible(buf2, vm2)
		return
	case vm2 == nil:
		clearAllVisible(buf, vm)
		return
	case vm.Buffer() == vm2.Buffer():
		vm.Buffer().LockExclusive(storage.ClassVM)
	case vm.Buffer().Block() < vm2.Buffer().Block():
		vm.Buffer().LockExclusive(storage.ClassVM)
		vm2.Buffer().LockExclusive(storage.ClassVM)
	default:
		vm2.Buffer().LockExclusive(storage.ClassVM)
		vm.Buffer().LockExclusive(storage.ClassVM)
	}
	clearLatched(buf, vm)
	clearLatched(buf2, vm2)
}

// releaseBothVM ends clearBothVisible.
func releaseBothVM(vm, vm2 *storage.VMBuffer) {
	if vm != nil && vm2 != nil && vm.Buffer() == vm2.Buffer() {
		vm2.Release()
		vm2 = nil
	}
	releaseVM(vm)
	releaseVM(vm2)
}

// setAllVisible is the reverse of clearAllVisible, for a page with frozen tuples only.
func setAllVisible(buf *storage.Buffer, vm *storage.VMBuffer) {
	buf.Page().SetFlags(storage.PageAllVisible)
	vm.Buffer().LockExclusive(storage.ClassVM)
	vm.SetBits(buf.Block(), vmBoth)
	vm.Buffer().MarkDirty()
}

// releaseVM unlatches and unpins the map page.
func releaseVM(vm *storage.VMBuffer) {
	if vm == nil {
		return
	}
	vm.Buffer().UnlockExclusive()
	vm.Release()
}

// AllVisible tells whether the map says that every tuple of block is visible to everyone, so
// that an index-only scan need not look at the page. epoch is ReclaimEpoch as it was before
// the index page that named the tuple was read: where VACUUM has reclaimed TIDs since
// (invariant 8), the entry may be of a row long gone, and the answer is no.
func (h *Heap) AllVisible(block storage.BlockNumber, epoch uint64, vm *VMBuf) (bool, error) {
	bits, err := h.d.Pool.VM().Get(h.c.Rel, block, &vm.vm)
	if err != nil || bits&storage.VMAllVisible == 0 {
		return false, err
	}
	return h.ReclaimEpoch() == epoch, nil
}

// CountAllVisible counts the blocks the map says are all-visible (pg_class.relallvisible).
func (h *Heap) CountAllVisible() (storage.BlockNumber, error) {
	visible, _, err := h.d.Pool.VM().Count(h.c.Rel)
	return visible, err
}
