package btree

import (
	"bytes"
	"sync"

	"github.com/minipg/minipg/storage"
)

// maxOffers bounds the items left with one session. Who finds as many sleeps for the latch.
const maxOffers = 64

// offers gathers the items of sessions that want the rightmost leaf while it is latched. The first to
// come leads: it sleeps for the latch, and when it has it, inserts the items of all who came
// meanwhile, wakes them, and goes on with its own. They sleep once and never take the latch.
//
// An item is left with the first who waits and not with whoever holds the latch: a holder that has
// looked for items and is about to let go could miss one, a leader looks only once it has the latch.
type offers struct {
	mu struct {
		sync.Mutex
		leading    bool // somebody sleeps for the latch of block and will take the queue
		block      storage.BlockNumber
		head, tail *offer
		n          int
	}
}

// offer is an item left with a leader. From the time it is in the queue until done it is the
// leader's, and so is w.scratch.item.
type offer struct {
	item   []byte
	key    []byte // for a unique tree: no entry may have it
	xid    uint64
	placed bool         // the item is in the leaf; else its owner tries by itself
	done   chan uintptr // capacity 1: the leader's goroutine
	next   *offer
}

// latchFast latches the rightmost leaf for w, whose entry or unique key is given. done tells that somebody
// else has inserted the item; then buf is not latched.
// Requires: a pin on buf.
func (t *Tree) latchFast(w *Writer, buf *storage.Buffer, key []byte, unique bool) (done bool) {
	if !w.Combine {
		buf.LockExclusive(storage.ClassBTreeLeaf)
		return false
	}
	if buf.TryLockExclusive(storage.ClassBTreeLeaf) {
		return false
	}
	o, leads := t.offers.join(w, buf.Block(), key, unique)
	if o != nil {
		buf.AwaitHolder(storage.ClassBTreeLeaf, o.done)
		if o.placed {
			t.d.Metrics.BTreeCombined.Inc()
			return true
		}
	}
	buf.LockExclusive(storage.ClassBTreeLeaf)
	if leads {
		t.insertOffers(w, buf, t.offers.close())
	}
	return false
}

// join leaves w's item with the leader. Where there is none the caller leads; with neither it is for itself.
func (q *offers) join(w *Writer, block storage.BlockNumber, key []byte, unique bool) (o *offer, leads bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.mu.leading {
		q.mu.leading, q.mu.block = true, block
		return nil, true
	}
	xid := w.xid()
	if q.mu.block != block || q.mu.n >= maxOffers || xid == 0 {
		return nil, false
	}
	o = &w.scratch.offer
	if o.done == nil {
		o.done = make(chan uintptr, 1)
	}
	o.item, o.key, o.xid, o.placed = w.scratch.item, nil, xid, false
	if unique {
		o.key = key
	}
	if q.mu.head == nil {
		q.mu.head = o
	} else {
		q.mu.tail.next = o
	}
	q.mu.tail = o
	q.mu.n++
	return o, false
}

// close ends the gathering and returns what came.
func (q *offers) close() *offer {
	q.mu.Lock()
	defer q.mu.Unlock()
	o := q.mu.head
	q.mu.leading, q.mu.head, q.mu.tail, q.mu.n = false, nil, nil, 0
	return o
}

// insertOffers inserts what belongs on buf, latched exclusively, and wakes everybody.
func (t *Tree) insertOffers(w *Writer, buf *storage.Buffer, o *offer) {
	leader := storage.Goroutine()
	for o != nil {
		next := o.next
		o.next = nil
		o.placed = t.insertOffer(w, buf, o)
		o.done <- leader
		o = next
	}
}

// insertOffer inserts one item, in a record of its owner's transaction. It leaves what is more than
// that to the owner: splits, duplicates, errors.
func (t *Tree) insertOffer(w *Writer, buf *storage.Buffer, o *offer) bool {
	p, entry := pageOf(buf), t.entryKey(o.item)
	first := entry
	if o.key != nil {
		first = o.key
	}
	if !t.isFastLeaf(p, len(o.item), first, o.key != nil) {
		return false
	}
	place := at(first)
	i := search(p, &place)
	if i <= itemCount(p) && bytes.HasPrefix(keyAt(p, i), first) {
		return false
	}
	if t.reserve(1) != nil {
		return false
	}
	w.scratch.behalf = o.xid
	t.insertOn(w, buf, i, o.item, nil)
	w.scratch.behalf = 0
	return true
}
