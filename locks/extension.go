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
	table *ExtensionTable // nil: the heavyweight lock
	depth int             // 0: none is held

	// The relation taken last, and where it is in the table.
	db    uint32
	file  uint64
	entry *extensionEntry

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
		x.table == nil && tag.Type == TypeExtend && *tag == ExtendTag(x.db, x.file)
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

// at makes the relation the one taken last. It requires that none is held.
func (x *Extension) at(db uint32, file uint64) *extensionEntry {
	if x.entry == nil || x.file != file || x.db != db {
		x.find(db, file)
	}
	return x.entry
}

func (x *Extension) find(db uint32, file uint64) {
	x.db, x.file = db, file
	x.entry = &x.table.entries[x.table.Slot(db, file)]
}

// Lock takes the right to extend a relation of a database; file is its file
// number. It sleeps while another session has it, unless ctx ends.
func (x *Extension) Lock(ctx context.Context, db uint32, file uint64) error {
	if x.depth == 0 && x.table != nil && x.at(db, file).tryLock() {
		x.depth = 1
		return nil
	}
	return x.lockSlow(ctx, db, file)
}

// lockSlow is Lock for all but the first look at a free entry.
func (x *Extension) lockSlow(ctx context.Context, db uint32, file uint64) error {
	if x.again(db, file) {
		return nil
	}
	if x.table == nil {
		if err := x.s.Lock(ctx, ExtendTag(db, file), Exclusive, LockOptions{}); err != nil {
			return err
		}
		x.db, x.file, x.depth = db, file, 1
		return nil
	}
	if err := x.table.lockSlow(ctx, x.at(db, file), x, db, file); err != nil {
		return err
	}
	x.depth = 1
	return nil
}

// TryLock is Lock that never sleeps.
func (x *Extension) TryLock(db uint32, file uint64) bool {
	if x.depth == 0 && x.table != nil {
		if x.at(db, file).tryLock() {
			x.depth = 1
			return true
		}
		return false
	}
	if x.again(db, file) {
		return true
	}
	if !x.s.TryLock(ExtendTag(db, file), Exclusive, LockOptions{}) {
		return false
	}
	x.db, x.file, x.depth = db, file, 1
	return true
}

// Unlock gives back one acquisition.
func (x *Extension) Unlock(db uint32, file uint64) {
	if x.depth != 1 || x.table == nil || x.file != file || x.db != db {
		x.unlockSlow(db, file)
		return
	}
	x.depth = 0
	if x.entry.word.Add(^uint64(entryHeld-1))&entryWaiters != 0 {
		x.entry.wakeOne(x.s.pid)
	}
}

// unlockSlow is Unlock of the heavyweight lock, and of one that was taken more than once.
func (x *Extension) unlockSlow(db uint32, file uint64) {
	if x.depth == 0 || x.db != db || x.file != file {
		assert.That(false, "extension lock on %d/%d given back while holding %d of %d/%d",
			db, file, x.depth, x.db, x.file)
	}
	x.depth--
	if x.depth == 0 { // of the table's, Unlock gives back the last
		x.s.Unlock(ExtendTag(db, file), Exclusive)
	}
}

// Waiters counts the sessions that ask for the lock, the holder included, as
// PostgreSQL's nRequested does. Relations on one entry are counted together.
func (x *Extension) Waiters(db uint32, file uint64) int {
	t := x.table
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
