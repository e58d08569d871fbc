// Package btree is the B-tree index: Lehman and Yao's tree with the deletion
// of Lanin and Shasha, after PostgreSQL's access/nbtree/README.
//
// A key is an opaque byte string whose order under bytes.Compare is the order
// of the index (package types makes it) and which is no proper prefix of any
// other key. An entry is a key followed by the TID of its row in six big-endian
// bytes, so that every entry of a tree is unique and equal keys lie in TID
// order. Bytes that are wanted back but are not part of the order (INCLUDE
// columns, values whose encoding loses something) are the entry's payload.
//
// # Format
//
// Block 0 is the meta page; it names the root. Every other
// page ends in a special area with its left and right sibling, level, flags and
// a count of deletions. A page that is not the rightmost of its level has its
// high key as first item. A leaf item is key, TID and payload; an inner item is
// a separator and the block of a child, the first one of a page with an empty
// separator that stands for minus infinity. A separator is the shortest prefix
// of the entry to the right of a split that is greater than the entry to its
// left: every entry of a page is >= its low separator and < its high key.
//
// # Invariants
//
//  1. low separator <= entry < high key, on every page; the separator of a
//     child in its parent equals the high key of its left sibling.
//  2. A page's left sibling points right at it, except while the left one is
//     being split; a page with the incomplete-split flag has a right sibling
//     without a separator in the parent, which the next writer who meets it
//     inserts.
//  3. A half-dead page has no separator in its parent, no entries, and stands in
//     the sibling chain; a deleted page stands outside it, still leads right, and
//     keeps the number its block is given only when no snapshot taken before
//     the deletion remains (its safe XID is below the horizon).
//  4. Only VACUUM deletes pages; never the rightmost page of a level, nor the
//     root.
//  5. A cursor holds neither latch nor pin between calls. A kill hint is taken
//     only while the page's count of deletions is as it was when the cursor read it.
//  6. A uniqueness check looks at the table with the first leaf that can hold
//     the key latched exclusively, and that latch is kept until the entry is in,
//     or given up before waiting for a transaction.
//  7. Every change of a logged tree is one log record per atomic action, inserted
//     in wal.Critical; redo depends on nothing but the record and page LSNs.
//
// # Lock order
//
// Latches go from left to right within a level and from child to parent
// between levels; descents hold one latch at a time. The meta page comes last. An
// extension lock may be taken with pages latched (a split needs a block); FSM
// latches nest inside page latches. No transaction is waited for with a latch held.
//
// # Papers
//
// Lehman, Yao: Efficient Locking for Concurrent Operations on B-Trees (1981).
// Lanin, Shasha: A Symmetric Concurrent B-Tree Algorithm (1986).
// Bayer, Unterauer: Prefix B-Trees (1977).
package btree
