package storage

import (
	"math/bits"
)

// VMBits are what the visibility map says of a heap block.
type VMBits uint8

// The bits of the map.
const (
	// VMAllVisible: every tuple of the block is visible to everyone.
	VMAllVisible VMBits = 1 << iota
	// VMAllFrozen: no tuple of the block needs a look at the commit log.
	VMAllFrozen

	vmBoth = VMAllVisible | VMAllFrozen
)

const (
	vmBlocksPerByte = 4
	vmBlocksPerPage = (PageSize - PageHeaderSize) * vmBlocksPerByte
)

// VM is the visibility map: two bits a heap block, in a fork of its own. A set bit is a promise
// and logged by the heap; a cleared one promises nothing, so clearing it is a part of the
// change that is logged anyway. Follows visibilitymap.c. A page that fails its checksum starts
// empty.
type VM struct{ pool *Pool }

// VMBuffer keeps the map page last used pinned. The zero value holds nothing; Release it in
// the end. It belongs to one goroutine.
type VMBuffer struct {
	buf *Buffer
	rel RelFile
}

// Release unpins the page.
func (v *VMBuffer) Release() {
	if v.buf != nil {
		v.buf.Unpin()
		*v = VMBuffer{}
	}
}

// Buffer is the pinned page, or nil.
func (v *VMBuffer) Buffer() *Buffer { return v.buf }

// Covers reports whether the pinned page is the one for a heap block.
func (v *VMBuffer) Covers(rel RelFile, heap BlockNumber) bool {
	return v.buf != nil && v.rel == rel && v.buf.Block() == vmPage(heap)
}

func vmPage(heap BlockNumber) BlockNumber { return heap / vmBlocksPerPage }

func vmPlace(heap BlockNumber) (at int, shift uint) {
	n := heap % vmBlocksPerPage
	return PageHeaderSize + int(n/vmBlocksPerByte), uint(n%vmBlocksPerByte) * 2
}

// load pins the page for heap in vb; vb holds nothing when there is none and make is false.
func (v *VM) load(rel RelFile, heap BlockNumber, vb *VMBuffer, make bool) error {
	if vb.Covers(rel, heap) {
		return nil
	}
	vb.Release()
	block := vmPage(heap)
	n, _, err := v.pool.files.lengthOf(v.pool.files.fork(rel, VMFork))
	if err == nil && block >= n {
		if !make {
			return nil
		}
		err = v.pool.files.EnsureBlocks(rel, VMFork, block+1)
	}
	if err != nil {
		return err
	}
	buf, err := v.pool.Read(BlockTag{rel, VMFork, block}, nil)
	if err != nil {
		return err
	}
	vb.buf, vb.rel = buf, rel
	return nil
}

// Get returns the bits of a heap block. They may be cleared at any moment by who has the heap
// page latched: look again under its latch where that matters.
func (v *VM) Get(rel RelFile, heap BlockNumber, vb *VMBuffer) (VMBits, error) {
	if err := v.load(rel, heap, vb, false); err != nil || vb.buf == nil {
		return 0, err
	}
	at, shift := vmPlace(heap)
	vb.buf.LockShared(ClassVM)
	bits := VMBits(vb.buf.Page()[at]>>shift) & vmBoth
	vb.buf.UnlockShared()
	return bits, nil
}

// Pin pins the page for heap in vb, making the map longer where needed: I/O that Set and Clear
// must not do, since they run under the heap page's latch.
func (v *VM) Pin(rel RelFile, heap BlockNumber, vb *VMBuffer) error {
	return v.load(rel, heap, vb, true)
}

// SetBits sets bits of a heap block, and reports a change. The caller marks the page dirty,
// logs and stamps it. Requires: v covers heap, its buffer latched exclusively.
func (v *VMBuffer) SetBits(heap BlockNumber, bits VMBits) bool {
	return SetVMBits(v.buf.Page(), heap, bits)
}

// ClearBits is the reverse of SetBits.
func (v *VMBuffer) ClearBits(heap BlockNumber, bits VMBits) bool {
	return ClearVMBits(v.buf.Page(), heap, bits)
}

// SetVMBits is SetBits on the page of the map that covers heap, and makes it one if it is new.
// For redo.
func SetVMBits(p Page, heap BlockNumber, bits VMBits) bool {
	if p.Lower() != PageSize {
		p.initMap()
	}
	at, shift := vmPlace(heap)
	old := p[at]
	p[at] = old | uint8(bits)<<shift
	return p[at] != old
}

// ClearVMBits clears bits on the page of the map that covers heap, and reports a change.
func ClearVMBits(p Page, heap BlockNumber, bits VMBits) bool {
	at, shift := vmPlace(heap)
	old := p[at]
	p[at] = old &^ (uint8(bits) << shift)
	return p[at] != old
}

// Clear clears bits of a heap block, and reports a change. The bits go before the heap page
// changes in a way that breaks their promise, under its exclusive latch.
// Requires: vb covers heap; the caller has no latch on it.
func (v *VM) Clear(vb *VMBuffer, heap BlockNumber, bits VMBits) bool {
	vb.buf.LockExclusive(ClassVM)
	defer vb.buf.UnlockExclusive()
	if !vb.ClearBits(heap, bits) {
		return false
	}
	vb.buf.MarkDirty()
	return true
}

// Count counts the blocks with each bit set.
func (v *VM) Count(rel RelFile) (visible, frozen BlockNumber, err error) {
	n, _, err := v.pool.files.lengthOf(v.pool.files.fork(rel, VMFork))
	for block := BlockNumber(0); err == nil && block < n; block++ {
		var b *Buffer
		if b, err = v.pool.Read(BlockTag{rel, VMFork, block}, nil); err != nil {
			break
		}
		b.LockShared(ClassVM)
		for _, c := range b.Page()[PageHeaderSize:] {
			visible += BlockNumber(bits.OnesCount8(c & 0x55))
			frozen += BlockNumber(bits.OnesCount8(c & 0xaa))
		}
		b.ReleaseShared()
	}
	return visible, frozen, err
}

// Truncate forgets the blocks from heapBlocks on, which are to be cut off. A bit that stayed
// would lie about the block that grows there later.
// Requires: nobody else uses the relation.
func (v *VM) Truncate(rel RelFile, heapBlocks BlockNumber) error {
	n, ok, err := v.pool.files.lengthOf(v.pool.files.fork(rel, VMFork))
	if !ok {
		return err
	}
	keep := vmPage(heapBlocks)
	if heapBlocks%vmBlocksPerPage != 0 {
		if keep < n {
			if err := v.truncatePage(rel, heapBlocks); err != nil {
				return err
			}
		}
		keep++
	}
	if keep >= n {
		return nil
	}
	return v.pool.TruncateRelation(rel, VMFork, keep)
}

func (v *VM) truncatePage(rel RelFile, heapBlocks BlockNumber) error {
	b, err := v.pool.Read(BlockTag{rel, VMFork, vmPage(heapBlocks)}, nil)
	if err != nil {
		return err
	}
	at, shift := vmPlace(heapBlocks)
	b.LockExclusive(ClassVM)
	page := b.Page()
	page[at] &= 1<<shift - 1
	clear(page[at+1:])
	b.MarkDirty()
	b.ReleaseExclusive()
	return nil
}
