// Package engine opens, recovers and closes a data directory, runs its background
// work, and joins what lies below where several parts are needed: a table with
// its indexes and out-of-line values, a transaction with its catalog changes, a
// checkpoint over everything.
//
// # Invariants
//
//  1. A data directory is served by one process: a lock on its lock file is held from before
//     the control file is read until after everything is closed.
//  2. Nothing is served before recovery ended with a checkpoint.
//  3. A checkpoint chooses its redo point first; then waits for commits between log and
//     apply; then flushes the commit log, the catalog and the buffers; then writes its record;
//     then the control file; and only then lets go of older log.
//  4. A file made by a transaction is logged before it is made, and is unlinked when the
//     transaction aborts; a file to be dropped is named in the commit record and unlinked after
//     the commit. Files no catalog row names are swept after replay.
//  5. OIDs and file numbers are logged ahead of use; none is given out twice.
//  6. A sequence's value is logged before it is returned to anyone, 32 ahead, and the record is durable when the
//     transaction that got the value has committed, whoever logged it.
//  7. An index entry is made after its tuple; a tuple is inserted into every index whose
//     predicate it meets, or the transaction aborts.
//  8. No heavyweight lock is waited for with a latch held.
//
// # Lock order
//
// The checkpoint lock; then the locks of the packages below in their order. The table
// cache's lock is a leaf.
//
// # Format
//
// minipg.control, minipg.lock, base/<db>/ (relation files), global/, pg_wal/, pg_xact/,
// catalog/ (Pebble), PG_VERSION, minipg.conf, minipg.auto.conf.
package engine
