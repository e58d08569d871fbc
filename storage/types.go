package storage

import "fmt"

// PageSize is the size of a block in its file and of a frame in the pool, in bytes.
const PageSize = 8192

// LSN is a byte position in the log. Zero means "never logged": pages of unlogged
// relations and of the free space map keep it.
type LSN uint64

// String formats l as PostgreSQL's pg_lsn does, 16/B374D848.
func (l LSN) String() string { return fmt.Sprintf("%X/%X", uint64(l)>>32, uint32(l)) }

// BlockNumber is the position of a block in a fork, in units of PageSize.
type BlockNumber uint32

// InvalidBlock is no block.
const InvalidBlock = ^BlockNumber(0)

// FileNumber names a relation's files. It is never reused.
type FileNumber uint64

// Fork is one of the files of a relation.
type Fork uint8

// The forks: the relation itself, its free space map, its visibility map.
const (
	MainFork Fork = iota
	FSMFork
	VMFork
	numForks
)

// AllForks lists every fork, in the order in which they are unlinked.
var AllForks = [...]Fork{MainFork, FSMFork, VMFork}

// String returns the name PostgreSQL gives the fork.
func (f Fork) String() string {
	switch f {
	case MainFork:
		return "main"
	case FSMFork:
		return "fsm"
	case VMFork:
		return "vm"
	}
	return fmt.Sprintf("fork%d", uint8(f))
}

// Tablespaces that exist in every data directory, by PostgreSQL's OIDs.
const (
	DefaultTablespace uint32 = 1663
	GlobalTablespace  uint32 = 1664
)

// RelFile names the files of one relation.
type RelFile struct {
	Tablespace, Database uint32
	Number               FileNumber
}

// IsZero reports whether r names no file.
func (r RelFile) IsZero() bool { return r == RelFile{} }

// String returns the path of r's first main segment inside the data directory.
func (r RelFile) String() string { return relPath(r, MainFork) }

// BlockTag names one block on disk.
type BlockTag struct {
	Rel   RelFile
	Fork  Fork
	Block BlockNumber
}

// String returns the tag for messages and logs.
func (t BlockTag) String() string {
	return fmt.Sprintf("block %d of %s", t.Block, relPath(t.Rel, t.Fork))
}

// LogFlusher is the log as the pool sees it: no block reaches its file before the
// log is flushed to the block's LSN. wal.Log satisfies it.
type LogFlusher interface {
	FlushedTo() LSN
	Flush(lsn LSN) error
}

// HintLogger logs the image of a page whose hint bits are the first change after a
// checkpoint, so that a torn write of it can be repaired.
type HintLogger interface {
	// NeedsImage reports whether the log holds no image of the page since the redo point.
	NeedsImage(page Page) bool
	// LogHint logs buf's page and returns the end of the record. The caller holds buf
	// exclusively, has marked it dirty, and stores the LSN in the page.
	LogHint(buf *Buffer) (LSN, error)
}
