package locks

import (
	"context"

	"github.com/minipg/minipg/pgerr/assert"
)

// Extension is a session's way to the lock on extending a relation: an entry
// of the extension lock table, or the heavyweight lock with locktype extend. A
// session holds one at a time and may take it again for another fork.
type Extension struct {
	s     *Session
	entry *extensionEntry // nil while none is held
	db    uint32
	file  uint64
	depth int

	wake       chan struct{} // capacity 1
	wokenBy    int32         // set before wake: who gave the lock back
	prev, next *Extension    // in the entry's queue, under its mutex
	queued     bool
}

// Extension returns the session's extension lock.
func (s *Session) Extension() *Extension { return &s.extension }

// allows tells whether a heavyweight lock may be requested now: Invariant 5.
func (x *Extension) allows(tag *Tag) bool {
	return x.depth == 0 ||
		x.entry == nil && tag.Type == TypeExtend && *tag == ExtendTag(x.db, x.file)
}

// again takes the lock once more if the session holds it.
func (x *Extension) again(db uint32, file uint64) bool {
	if x.depth == 0 {
		return false
	}
	if x.db != db || x.file != file {
		assert.That(false, "extension lock on %d/%d requested while holding %d/%d",
			db, file, x.db, x.file)
	}
	x.depth++
	return true
}

func (x *Extension) took(e *extensionEntry, db uint32, file uint64) {
	x.entry, x.db, x.file, x.depth = e, db, file, 1
}

// Lock takes the right to extend a relation of a database; file is its file
// number. It sleeps while another session has it, unless ctx ends.
func (x *Extension) Lock(ctx context.Context, db uint32, file uint64) error {
	if x.again(db, file) {
		return nil
	}
	t := x.s.m.extensions
	if t == nil {
		err := x.s.Lock(ctx, ExtendTag(db, file), Exclusive, LockOptions{})
		if err == nil {
			x.took(nil, db, file)
		}
		return err
	}
	e := &t.entries[t.Slot(db, file)]
	if !e.tryLock() {
		if err := t.lockSlow(ctx, e, x, db, file); err != nil {
			return err
		}
	}
	x.took(e, db, file)
	return nil
}

// TryLock is Lock that never sleeps.
func (x *Extension) TryLock(db uint32, file uint64) bool {
	if x.again(db, file) {
		return true
	}
	t := x.s.m.extensions
	if t == nil {
		if !x.s.TryLock(ExtendTag(db, file), Exclusive, LockOptions{}) {
			return false
		}
		x.took(nil, db, file)
		return true
	}
	e := &t.entries[t.Slot(db, file)]
	if !e.tryLock() {
		return false
	}
	x.took(e, db, file)
	return true
}

// Unlock gives back one acquisition.
func (x *Extension) Unlock(db uint32, file uint64) {
	if x.depth == 0 || x.db != db || x.file != file {
		assert.That(false, "extension lock on %d/%d given back while holding %d of %d/%d",
			db, file, x.depth, x.db, x.file)
	}
	x.depth--
	if x.depth > 0 {
		return
	}
	if x.entry == nil {
		x.s.Unlock(ExtendTag(db, file), Exclusive)
		return
	}
	e := x.entry
	x.entry = nil
	e.unlock(x.s.pid)
}

// Waiters counts the sessions that ask for the lock, the holder included, as
// PostgreSQL's nRequested does. Relations on one entry are counted together.
func (x *Extension) Waiters(db uint32, file uint64) int {
	t := x.s.m.extensions
	if t == nil {
		return x.s.m.requests(ExtendTag(db, file))
	}
	w := t.entries[t.Slot(db, file)].word.Load()
	n := int(w & entryWaiters)
	if w&entryHeld != 0 {
		n++
	}
	return n
}

// requests counts the holders of tag and those who wait for it.
func (m *Manager) requests(tag Tag) int {
	hash := tag.hash()
	p := m.partition(hash)
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.findLocked(&tag, hash); l != nil {
		return int(l.nRequests)
	}
	return 0
}
