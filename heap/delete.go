package heap

import (
	"context"

	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

// Delete marks the tuple at tid deleted, waiting for whoever changes or holds it.
// Unless the result is Ok nothing was changed.
func (h *Heap) Delete(ctx context.Context, w *Writer, snap *txn.Snapshot, tid TID, opts DeleteOptions) (Result, error) {
	c := claim{doing: "deleting tuple", tid: tid, mode: Update, wait: opts.Wait, cur: snap.CurCID, payload: len(opts.OldKey), pages: 2}
	xid := h.xid(w)
	buf, err := h.read(tid.Block, nil)
	if err != nil {
		return Result{}, err
	}
	defer buf.Unpin()
	l, res, err := h.latchForChange(ctx, w, buf, &c)
	if err == nil && res.Status == Ok {
		err = h.erase(w, &l, tid, xid, opts.OldKey)
		buf.UnlockExclusive()
	}
	h.release(w, &c)
	if err == nil && res.Status == Ok {
		h.tally(w, deleted, 1)
	}
	return res, err
}

// erase deletes a latched tuple.
func (h *Heap) erase(w *Writer, l *latched, tid TID, xid txn.XID, oldKey []byte) error {
	vm, err := h.pinForClear(l.buf, &w.vm)
	if err != nil {
		return err
	}
	cid, combo := cmaxFor(l.t, w.Tx, w.Tx.CurCID())
	h.keepOuterLock(w, tid, l, xid)
	wal.Critical(func() {
		l.t.setXmax(xid)
		l.t.setCID(cid)
		l.t.setCtid(tid)
		l.t.setFlags(l.t.flags()&^(flagsXmax|FlagComboCID) | l.hint | FlagKeysUpdated | combo)
		setPrunable(l.buf.Page(), xid)
		l.buf.MarkDirty()
		clearAllVisible(l.buf, vm)
		if h.logged {
			b := w.Builder
			h.begin(b, kindDelete, xid, l.buf, 0)
			var rec uint8
			if vm != nil {
				rec |= recVM
				b.RegisterBuffer(1, vm.Buffer(), 0)
			}
			b.Data(rec)
			put16(b, -1, tid.Offset, uint16(l.t.flags()))
			b.Data(oldKey...)
			h.stamp(h.d.Log.Insert(b), l.buf, nil, vm, nil)
		}
		releaseVM(vm)
	})
	return nil
}
