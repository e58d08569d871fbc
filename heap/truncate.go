package heap

import (
	"context"
	"encoding/binary"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// truncate cuts an empty tail off the relation, if it is worth the lock. Follows
// lazy_truncate_heap.
func (v *vacuum) truncate(ctx context.Context) error {
	free := v.blocks - v.end
	if free == 0 || v.opts.Truncate == nil ||
		free < truncateMinPages && free < v.blocks/truncateFraction {
		return nil
	}
	v.vm.Release() // truncation waits for pins of what it drops
	release, ok := v.opts.Truncate(ctx)
	if !ok {
		return nil
	}
	defer release()
	n, err := v.h.NBlocks()
	if err != nil || n != v.blocks {
		return err // somebody extended it meanwhile: it is wanted
	}
	for n > v.end {
		empty, err := v.emptyBlock(n - 1)
		if err != nil {
			return err
		}
		if !empty {
			break
		}
		n--
	}
	if n == v.blocks {
		return nil
	}
	v.stats.PagesRemoved = int64(v.blocks - n)
	v.stats.Pages = int64(n)
	return v.h.cutTo(v.w.Builder, n)
}

// emptyBlock tells whether block holds no line pointer in use: it may have got some since.
func (v *vacuum) emptyBlock(block storage.BlockNumber) (bool, error) {
	buf, err := v.h.read(block, v.opts.Ring)
	if err != nil {
		return false, err
	}
	buf.LockShared(storage.ClassHeap)
	defer buf.ReleaseShared()
	page := buf.Page()
	for off, n := uint16(1), uint16(page.ItemCount()); off <= n; off++ {
		if page.State(off) != storage.LineUnused {
			return false, nil
		}
	}
	return true, nil
}

// cutTo logs the truncation and carries it out. The log comes first, to the disk: a crash in the
// middle must not leave map bits for blocks that come back empty. Before that the pages go to the
// file as they are: a checkpoint behind the record may complete although the cut is lost, and
// what comes back then must be the empty pages, not what they held before.
func (h *Heap) cutTo(b *wal.Builder, n storage.BlockNumber) error {
	if h.logged {
		if err := h.d.Pool.FlushRelation(h.c.Rel); err != nil {
			return err
		}
		if err := h.reserve(0, 0); err != nil {
			return err
		}
		b.Reset(wal.RMHeap, kindTruncate, 0, h.c.DB)
		var rec [64]byte
		b.Data(binary.LittleEndian.AppendUint32(wal.AppendRelFile(rec[:0], h.c.Rel), uint32(n))...)
		if err := h.d.Log.Flush(h.d.Log.Insert(b)); err != nil {
			return err
		}
	}
	return cut(h.d.Pool, h.c.Rel, n)
}

// cut truncates the relation and its maps, now and in redo.
func cut(pool *storage.Pool, rel storage.RelFile, n storage.BlockNumber) error {
	if err := cutMaps(pool, rel, n); err != nil {
		return err
	}
	return pool.TruncateRelation(rel, storage.MainFork, n)
}

func cutMaps(pool *storage.Pool, rel storage.RelFile, n storage.BlockNumber) error {
	if err := pool.VM().Truncate(rel, n); err != nil {
		return err
	}
	return pool.FSM().Truncate(rel, n)
}

func blockNumber(b []byte) storage.BlockNumber {
	return storage.BlockNumber(binary.LittleEndian.Uint32(b))
}
