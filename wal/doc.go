// Package wal is the write-ahead log: the one truth from which everything else
// in a data directory, the catalog included, can be made again.
//
// A change is logged by filling a [Builder], calling [Log.Insert] inside
// [Critical] after the buffers were marked dirty, and stamping the pages with
// the LSN returned. [Log.Flush] makes the log durable up to an LSN; one leader
// writes and syncs for all who wait. After a crash [Log.Replay] hands every
// record since the last checkpoint's redo point to the package that wrote it
// (a [Redoer]).
//
// # Invariants
//
//  1. A record is inserted after its buffers are marked dirty and before their
//     latches are released, so a checkpoint that picks its redo point after
//     the record sees the dirty buffer.
//  2. The record of a page's first change after a redo point holds the whole
//     page, unless full_page_writes is off or the page is made anew. Redo is
//     idempotent by page LSN.
//  3. A byte of the log is written to its file once every record before it has
//     been copied whole; flushed never passes written, written never passes
//     copied, copied never passes reserved.
//  4. A failed write or sync of the log is never tried again: the log is dead
//     from then on, the fatal handler is called, no flush succeeds any more.
//  5. Segments exist, full of zeros or of older records, before the insertion
//     point reaches them: [Log.Reserve] meets a full disk outside critical
//     sections.
//  6. A record is valid only where it lies: its CRC32C starts from its LSN and
//     the system identifier, so what a recycled segment held before is never
//     taken for the log's continuation; and incarnations never fall, so what
//     lay behind the end of an earlier recovery is not either.
//
// # Lock order
//
// Page latches > a slot of the insertion table > Log.insert > nothing. The
// write lock (Log.write) is taken while no insertion slot is held, except by
// an inserter that waits for room in the ring, which has then published how
// far it got. Log.segments (creating segments) is taken under Log.write or
// alone.
//
// # Format
//
// The log is one stream of bytes; an LSN is a position in it. File
// %016X of the directory holds the bytes [n*SegmentSize, (n+1)*SegmentSize);
// the stream starts FirstSegmentSize before the end of file 0, so the first
// file of a new directory is small. Files have no header. A record, unaligned:
//
//	length      uint32  whole record
//	crc         uint32  CRC32C of the rest, from system identifier and LSN
//	prev        uint32  distance back to the record before, 0 for the first
//	rm, kind    uint8   who redoes it, and what it is to them
//	incarnation uint16
//	xid, db     uvarint
//	nblocks     uint8
//	blocks      flags uint8, relation (unless as before), block, image, data (packed if
//	            that is shorter)
//	data        the rest
package wal
