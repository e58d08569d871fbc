// Package heap stores tuples: the versions of the rows of one relation, on the
// pages of its main fork, with everything that decides who sees which version.
//
// It follows PostgreSQL's heapam (access/heap/heapam.c, pruneheap.c,
// vacuumlazy.c, README.HOT) with three differences. XIDs are 48 bits wide, so
// nothing is frozen for wraparound's sake. Snapshots are commit sequence
// numbers, so a tuple's commit hint alone does not decide visibility unless its
// XID is below the snapshot's horizon. There are no multixacts: the exclusive
// row locks live in xmax, the shared ones (FOR SHARE, FOR KEY SHARE) in the lock
// manager.
//
// What a row contains is opaque here: package types encodes it, engine joins
// the two.
//
// # Format
//
// A tuple is a 24 byte header without padding, then the row's bytes:
//
//	 0  xmin   6 bytes  the inserting (sub)transaction
//	 6  xmax   6 bytes  the deleting, updating or locking one; 0 none
//	12  cid    4 bytes  cmin, cmax, or a combo of both
//	16  ctid   6 bytes  block 4, offset 2: the next version, or the tuple itself
//	22  flags  2 bytes  see the Flag constants
//
// Line pointers are storage's. A redirect leads to the first live member of a
// HOT chain; a dead one waits for VACUUM to remove its index entries.
//
// Page flag storage.PageAllVisible says every tuple of the page is visible to
// everyone; it is always set where the visibility map's bit is.
//
// # Invariants
//
//  1. A page's bytes are read under a pin and a latch, or from a private copy.
//     So an exclusive latch alone suffices to prune or defragment a page.
//  2. A visibility map bit is set only while the page's all-visible flag is, and
//     both are cleared under the latch and the log record of the change that
//     makes them untrue.
//  3. A hint bit is set only under an exclusive latch, and never before the commit
//     record it reports is flushed. The first one on a page after a checkpoint
//     logs the page's image, and later ones do not change the page LSN.
//  4. xmax of a live tuple names at most one (sub)transaction in progress. Where a
//     subtransaction overwrites its own outer transaction's row lock, that lock is
//     first registered in the lock manager.
//  5. A shared row lock is taken under the page latch (without waiting), and a
//     changer of the tuple looks for conflicting ones under the exclusive latch.
//     An update copies the old version's holders to the new one under the latch.
//     A lock names its version by TID and xmin, as TIDs are used again. Past
//     maxSharedRowLocks a transaction holds all rows of the relation instead.
//  6. A heap-only tuple is reachable by ctid or redirect from a root line pointer
//     on its page, until the chain is dead to every snapshot.
//  7. A line pointer becomes unused only when no index entry leads to it: after the
//     index pass of VACUUM for dead ones; at once for heap-only tuples.
//  8. The reclaim epoch of the relation is advanced before a dead line pointer is made
//     unused, and before the visibility map bit that may follow.
//  9. Every change of a logged relation is one log record, inserted inside
//     wal.Critical after MarkDirty; redo applies it by page LSN, only once.
//
// # Lock order
//
// Heavyweight tuple lock (the queue of those who want the row), then shared row
// locks or a transaction's lock, while no latch is held. Latches: old heap page, then another heap page by try only (or
// a new one from extension), then the visibility map page. FSM pages are latched
// while a heap latch is held, never the reverse. The extension lock may be taken
// with a heap page latched.
package heap
