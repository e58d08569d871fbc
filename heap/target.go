package heap

import (
	"context"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
)

// MaxTuplesPerPage bounds the line pointers of a heap page, as PostgreSQL does, so
// that dead ones cannot crowd out the tuples.
const MaxTuplesPerPage = (storage.PageSize - storage.PageHeaderSize) / (storage.LinePointerSize + HeaderSize)

// nearlyEmpty is the room of a page that has next to nothing but a few dead line
// pointers: good enough for a row too long for the fill factor.
const nearlyEmpty = maxTupleSize - MaxTuplesPerPage/8*storage.LinePointerSize

// maxTupleSize is the longest tuple, header included.
const maxTupleSize = MaxRowSize + HeaderSize

// maxTargetTries bounds how many pages of the FSM a writer tries before it extends the
// relation: under contention the map may go on naming full pages.
const maxTargetTries = 64

// freeSpace is the room for a tuple in page, 0 where its line pointers are used up.
func freeSpace(page storage.Page) int {
	free := page.FreeSpace()
	if free == 0 || page.ItemCount() < MaxTuplesPerPage {
		return free
	}
	if page.HasFlags(storage.PageHasFreeLines) {
		for i, n := uint16(1), uint16(page.ItemCount()); i <= n; i++ {
			if page.State(i) == storage.LineUnused {
				return free
			}
		}
	}
	return 0
}

// wantSpace is the free space to look for when a tuple of size bytes is added: the fill
// factor's share on top, as far as an empty page has it.
func (h *Heap) wantSpace(size int) int {
	if size+h.saveSpace > maxTupleSize {
		return max(size, nearlyEmpty)
	}
	return size + h.saveSpace
}

func checkSize(rowBytes int) error {
	if rowBytes > MaxRowSize {
		return pgerr.New(pgerr.ProgramLimitExceeded, "row is too big: size %d, maximum size %d", rowBytes, MaxRowSize)
	}
	return nil
}

// target is the search for a page with room.
type target struct {
	size, want int
	pages      int // how many blocks an extension is wanted to add
	skipFSM    bool
	ring       *storage.Ring
	// latched is the block the caller has latched already, which is no candidate;
	// other pages are only tried then, for a wait could deadlock. InvalidBlock for none.
	latched storage.BlockNumber
}

// bufferFor returns a page with room for t, pinned, latched exclusively and initialised.
// Follows RelationGetBufferForTuple, except that it never waits for a second heap page.
func (h *Heap) bufferFor(ctx context.Context, w *Writer, t target) (*storage.Buffer, error) {
	block, err := h.firstTarget(w, t)
	if err != nil {
		return nil, err
	}
	for tries := 0; block != storage.InvalidBlock && tries < maxTargetTries; tries++ {
		buf, free, err := h.tryTarget(block, t)
		if err != nil {
			return nil, err
		}
		if buf != nil {
			w.Ext.SetTarget(h.c.Rel, block)
			return buf, nil
		}
		if t.skipFSM {
			break
		}
		if free < 0 { // not looked at
			block, err = h.search(t.want)
		} else {
			block, err = h.recordAndSearch(block, free, t.want)
		}
		if err != nil {
			return nil, err
		}
		if block == t.latched {
			break
		}
	}
	return h.extend(ctx, w, t)
}

// firstTarget names the page to try first, InvalidBlock for none.
func (h *Heap) firstTarget(w *Writer, t target) (storage.BlockNumber, error) {
	if b := w.Ext.Target(h.c.Rel); b != storage.InvalidBlock && b != t.latched {
		return b, nil
	}
	if t.skipFSM {
		return storage.InvalidBlock, nil
	}
	b, err := h.search(t.want)
	if err != nil || b != storage.InvalidBlock {
		return b, err
	}
	// Small relations have nothing in the map: the last page is as good a guess as any.
	n, err := h.NBlocks()
	if err != nil || n == 0 || n-1 == t.latched {
		return storage.InvalidBlock, err
	}
	return n - 1, nil
}

func (h *Heap) search(want int) (storage.BlockNumber, error) {
	b, ok, err := h.d.Pool.FSM().Search(h.c.Rel, want)
	if err != nil || !ok {
		return storage.InvalidBlock, err
	}
	return b, nil
}

func (h *Heap) recordAndSearch(block storage.BlockNumber, free, want int) (storage.BlockNumber, error) {
	b, ok, err := h.d.Pool.FSM().RecordAndSearch(h.c.Rel, block, free, want)
	if err != nil || !ok {
		return storage.InvalidBlock, err
	}
	return b, nil
}

// tryTarget latches block and returns it if t fits; else how much room it has, -1 where that
// could not be seen.
func (h *Heap) tryTarget(block storage.BlockNumber, t target) (buf *storage.Buffer, free int, err error) {
	if block == t.latched {
		return nil, -1, nil
	}
	n, err := h.NBlocks()
	if err != nil || block >= n {
		return nil, 0, err // the map is not logged: it may name blocks that are gone
	}
	buf, err = h.read(block, t.ring)
	if err != nil {
		return nil, 0, err
	}
	if t.latched == storage.InvalidBlock {
		buf.LockExclusive(storage.ClassHeap)
	} else if !buf.TryLockExclusive(storage.ClassHeap) {
		buf.Unpin()
		return nil, -1, nil
	}
	page := buf.Page()
	if page.IsNew() {
		// Added to the file by an extension whose first user is this one, or that crashed.
		page.Init(0)
		buf.MarkDirty()
	}
	if free = freeSpace(page); free >= t.want {
		return buf, free, nil
	}
	buf.ReleaseExclusive()
	return nil, free, nil
}

// extend adds blocks to the relation and returns the first, or one the session kept, or
// one that others published while it waited.
func (h *Heap) extend(ctx context.Context, w *Writer, t target) (*storage.Buffer, error) {
	for {
		if block, ok := w.Ext.TakeKept(h.c.Rel); ok {
			buf, _, err := h.tryTarget(block, t)
			if err != nil || buf != nil {
				if buf != nil {
					w.Ext.SetTarget(h.c.Rel, block)
				}
				return buf, err
			}
			continue
		}
		x, err := h.d.Pool.Extend(ctx, h.c.Rel, storage.MainFork, storage.ExtendOptions{
			State: w.Ext, Wanted: t.pages, NeedBytes: t.want, Class: storage.ClassHeap, Ring: t.ring,
		})
		if err != nil {
			return nil, err
		}
		if x.Buffer != nil {
			page := x.Buffer.Page()
			page.Init(0)
			x.Buffer.MarkDirty()
			assert.That(freeSpace(page) >= t.size, "a new page has no room for a tuple")
			w.Ext.SetTarget(h.c.Rel, x.Buffer.Block())
			return x.Buffer, nil
		}
		buf, free, err := h.tryTarget(x.Block, t)
		if err != nil {
			return nil, err
		}
		if buf != nil {
			w.Ext.SetTarget(h.c.Rel, x.Block)
			return buf, nil
		}
		if free >= 0 { // or the next recheck finds it again
			if err := h.d.Pool.FSM().Record(h.c.Rel, x.Block, free); err != nil {
				return nil, err
			}
		}
	}
}

func (h *Heap) read(block storage.BlockNumber, ring *storage.Ring) (*storage.Buffer, error) {
	return h.d.Pool.Read(storage.BlockTag{Rel: h.c.Rel, Fork: storage.MainFork, Block: block}, ring)
}

// NBlocks is the relation's length in blocks.
func (h *Heap) NBlocks() (storage.BlockNumber, error) {
	return h.d.Pool.Files().NBlocks(h.c.Rel, storage.MainFork)
}
