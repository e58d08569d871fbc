// Package storage owns bytes on disk and in memory: pages, relation files and their forks, the
// buffer pool and its latches, relation extension, the free space map, the visibility map.
//
// A caller reads a block with Pool.Read, which pins it in a Buffer; latches the buffer; looks
// at, or changes and marks dirty, its Page; and releases both. What a page means is known
// above; here it is a header, line pointers, items and a special space.
//
// Everything on disk is reached through an FS handed in. storage/vfs declares it and has the
// real one, storage/faultfs has the one that fails, storage/pebblefs shows either to Pebble.
//
// # Invariants
//
//  1. A block reaches its file only when the log is flushed to the block's LSN. LSN 0 means
//     that no log record ever touched the page: unlogged relations, the free space map.
//  2. A page in the pool is read under a pin and a latch, changed under an exclusive latch.
//  3. A buffer keeps its tag while it is pinned. The lock-free lookup relies on it: find, pin,
//     look again.
//  4. One write of a buffer is under way at a time (flagIO), of a private copy taken under the
//     shared latch, checksummed there. A page changed after the copy stays dirty.
//  5. A failed write or log flush leaves the page dirty, and its error reaches who asked.
//  6. MarkDirty comes before the log record is made, so a checkpoint whose redo point is behind
//     the record finds the buffer dirty.
//  7. The first hint on a page after a checkpoint logs the page (MarkDirtyHint); hints are set
//     under the exclusive latch only.
//  8. A segment is registered for syncing after each write and before the buffer is clean; so
//     FlushAll and then SyncPending make durable whatever was dirty when they began.
//  9. nblocks, as everybody sees it, grows after the file has grown and the new buffers are in
//     the pool; no buffer has a tag behind it. A block behind it in the file is garbage.
//  10. An extension pins at most MaxExtendPins buffers; all extensions together keep at most a
//     quarter of the pool prepared, beyond one each.
//  11. Blocks recorded in a free space map, kept by a session or targeted by it are hints, looked
//     at again under their latch. A new block is all zeros until somebody initialises it.
//  12. File numbers are never reused, so a file is unlinked at once and a late write finds none.
//
// # Lock order
//
// Heavyweight and extension locks come before latches, except as said. Then:
//
//  1. latches of relation pages, in the order their access method defines
//  2. the extension lock (a page split extends with its leaf latched); then latches of new
//     blocks and of free space map pages only
//  3. forkFile.extend
//  4. latches of map pages (heap before visibility map)
//  5. flagIO of one buffer; its holder may take that buffer's latch, and waits for nobody else's
//  6. segment.mu, then Files.pending or Files.open, then forkFile.mu
//  7. a shard of the page table; a shard of the lot; extendGroup.mu. Each alone, never two.
//
// Nobody waits for the log or a file while holding a shard, and nobody who holds a latch waits
// for flagIO of a valid page.
//
// # Format
//
// A page has a header of 24 bytes, little-endian:
//
//	 0  8  LSN of the last change
//	 8  4  CRC32C of all other bytes, with the block number between; set in the copy written
//	12  6  hint: oldest XID worth pruning for, 0 is none
//	18  2  lower: end of the line pointers
//	20  2  upper: begin of the items; 0 in a new page, which is all zeros
//	22  1  size of the special space, in units of 8 bytes
//	23  1  flags: 1 has unused line pointers, 2 is full, 4 all visible
//
// Line pointers follow, 4 bytes each: 15 bits offset (or redirect target), 2 bits state
// (unused, normal, redirect, dead), 15 bits length. Items lie from upper to the special space,
// unaligned. Map pages have lower = upper, so that no image leaves their middle out.
//
// Files are base/<database>/<number>, global/<number> or
// pg_tblspc/<tablespace>/<database>/<number>, with _fsm or _vm for the other forks and .1, .2,
// ... for the segments behind the first of 1 GiB.
//
// A free space map page has 4 unused bytes and then the nodes of a binary tree (see fsmpage.go);
// pages form a tree of three levels, stored depth first. A visibility map page has two bits a
// heap block, all-visible and all-frozen, from the low bits of its first byte on.
package storage
