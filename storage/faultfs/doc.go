// Package faultfs is a file system in memory that fails like a real one: power cuts that
// lose unsynced writes in part and tear pages, directory entries that were never synced,
// full disks, I/O errors at the n-th operation. The log, the relation files and the catalog
// run on the same one, so a crash hits all of them at the same moment.
//
// What a power cut may leave of a file is decided sector by sector: each sector written since
// the last sync is, independently, as it was at that sync, as it was before the last write
// to it, or as last written. The size is the synced one, the last one, or between. Directory
// entries survive in order up to some point, or each on its own.
//
// A sync that was made to fail behaves as Linux's: the pages are clean afterwards, and no
// later sync makes them durable.
//
// # Invariants
//
//  1. Synced bytes, sizes and entries survive every crash.
//  2. The same seed and the same sequence of operations give the same image.
//  3. After a crash, every operation through the old FS or a handle of it fails with
//     ErrCrashed and changes nothing.
//
// # Lock order
//
// One mutex, FS.mu, taken last; hooks run outside it.
package faultfs
