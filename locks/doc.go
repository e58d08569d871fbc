// Package locks is the heavyweight lock manager and the extension lock table.
//
// The manager follows PostgreSQL's storage/lmgr/README: eight modes, a hash
// table of locks cut into partitions, one FIFO queue per lock in which a
// session may jump ahead of those it would otherwise deadlock with, a
// per-session fast path for weak relation locks, and a deadlock search that
// runs only when somebody has slept for deadlock_timeout. Three things are
// not as there: transaction ids are registered in a map of their own and
// become locks only when somebody waits for them (xid.go); row locks held in
// a shared mode live here until the transaction ends, since tuples have no
// multixacts (rows.go); and a sleeper parks on a channel, so that a context
// can end its wait.
//
// The extension lock table is the one tried on pgsql-hackers in 2017-20: an
// array of atomic words, no owner, no queue anybody can see, no deadlock
// search. See table.go.
//
// # Invariants
//
//  1. A mode is granted only while it conflicts with no mode another session
//     holds on the same tag. Two relation locks conflict also when one of
//     them is in a fast-path slot.
//  2. A slot of the fast path is filled only while the strong count of its
//     partition is zero, looked at under the session's slot mutex; whoever
//     raises that count moves the slots that matter into the table before it
//     asks for its own lock.
//  3. A waiter is in the queue of exactly one lock, and is woken exactly once:
//     by the session that grants it the lock, or by itself when it leaves.
//  4. A granted lock is never handed back because of a cancel that came too
//     late: the caller gets it, and meets the cancel at its next check.
//  5. No heavyweight lock but locktype extend is requested while an entry of
//     the extension lock table is held, and a session holds at most one entry.
//  6. An xid is in the xid map from LockXID until its release; whoever finds
//     it there under the shard mutex can turn it into a lock in the table.
//  7. A session's local table, marks and lists belong to the goroutine that
//     runs the session. Other goroutines touch its slots (slot mutex), its
//     wait state (partition mutex), and its inherited row locks (partition
//     mutex and inherited mutex).
//
// # Lock order
//
// sessions registry, then xid shard or slot mutex, then partition mutexes in
// ascending order, then a session's inherited mutex. The mutex of an extension
// entry is a leaf. None is held over a sleep, a system call or a callback.
package locks
