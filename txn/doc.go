// Package txn owns transaction IDs, commit and abort, and what a snapshot sees.
//
// XIDs are 64 bits wide, 48 of them in a tuple, and given out at the first
// change. A commit takes the next commit sequence number (CSN) and stamps it on
// the XID and its live subtransactions; a snapshot is one CSN and sees what has a
// smaller one. Two bits an XID in the commit log (CLOG) are all that is kept of
// a transaction once no live snapshot can tell when it ended.
//
// # Invariants
//
//  1. state[xid] goes in progress -> committing -> CSN, or in progress -> aborted,
//     and a subtransaction's in progress -> child of parent -> CSN or aborted. CSN and
//     aborted are final.
//  2. COMMITTING is stored before the CSN is taken, so a snapshot with a larger
//     CSN finds COMMITTING (and waits) or the CSN, never "in progress".
//  3. oldestActive passes an XID only when its state is final. A snapshot loads
//     oldestActive, publishes it as its session's xmin, and only then loads the
//     CSN: every XID below the published xmin ended before the snapshot.
//  4. The horizon is oldestActive or the smallest published xmin. An XID below it is
//     decided by its CLOG bits alone: committed means visible to every snapshot
//     there is or will be.
//  5. A transaction's commit record is flushed (unless asynchronous, or all it changed is unlogged), its catalog
//     batch applied and its CLOG bits set before it becomes visible, and it is
//     visible before its locks are released.
//  6. A CLOG page is written only after the log is flushed up to the last commit
//     recorded on it. A bit pair of an XID below oldestActive that is not
//     "committed" means aborted.
//  7. A checkpoint waits, after choosing its redo point, for every commit that may
//     have logged before it (DelayBarrier).
//  8. A page of states is reduced to its largest CSN when all its transactions have ended and no
//     live snapshot divides its commits. A snapshot first makes its slot's CSN unknown, then publishes
//     its xmin, loads its CSN and publishes that, so one that is being taken keeps pages whole; one
//     taken later has a larger CSN than any on a page all of which has ended.
//
// # Lock order
//
// Nothing here is held while a heavyweight lock, a latch or the log is waited for,
// except that the commit guard is up while the log is flushed.
//
// # Format
//
// File pg_xact/%08X holds 32 pages of 8 KiB of the commit log: 2 bits an XID,
// four to a byte, lowest XID in the lowest bits; 0 in progress or aborted by a
// crash, 1 committed, 2 aborted. Commit and abort records: see record.go.
package txn
