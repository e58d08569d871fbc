package storage

import "github.com/minipg/minipg/storage/vfs"

// FS is the file system everything durable goes through: relation files, the log, the
// control file, the catalog. OSFS is the real one, faultfs.FS the one that fails.
type FS = vfs.FS

// File is an open file of an FS.
type File = vfs.File

// Linker is implemented by file systems that can make hard links.
type Linker = vfs.Linker

// OSFS is the operating system's file system.
type OSFS = vfs.OSFS
