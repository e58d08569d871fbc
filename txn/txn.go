package txn

import (
	"github.com/minipg/minipg/storage"
)

// XID is a transaction ID; tuples keep the low 48 bits, which are all there are.
type XID uint64

// Special XIDs.
const (
	InvalidXID   XID = 0
	BootstrapXID XID = 1 // committed for ever
	FrozenXID    XID = 2 // committed for ever
	FirstXID     XID = 3 // the first one given out
)

// MaxXID is the largest XID a tuple can hold.
const MaxXID XID = 1<<48 - 1

// CID is a command number within a transaction.
type CID uint32

// InvalidCID is no command.
const InvalidCID CID = ^CID(0)

// CSN is a commit sequence number: it orders commits.
type CSN uint64

// Status is what became of a transaction.
type Status uint8

// The statuses.
const (
	InProgress Status = iota
	Committed
	Aborted
)

// String names the status as PostgreSQL's pg_xact_status does.
func (s Status) String() string {
	return [...]string{"in progress", "committed", "aborted"}[s]
}

// CommitInfo is what a commit does besides becoming visible.
type CommitInfo struct {
	// Payload goes into the commit record (the catalog's batch). It
	// forces a synchronous commit.
	Payload []byte
	// UnlinkFiles are the files to remove after the commit; replay hands them to
	// Config.OnRedoCommit. They force a synchronous commit.
	UnlinkFiles []storage.RelFile
	// DB is the session's database, for the record.
	DB uint32
	// Async returns before the commit is durable (synchronous_commit = off).
	Async bool
	// AfterFlush runs when the record is durable and before the commit becomes visible.
	// It must not fail for reasons of its own: an error stops the server.
	AfterFlush func() error
}

// WaitOptions say what WaitFor does about a transaction in progress.
type WaitOptions struct {
	// NoWait fails with 55P03 instead of waiting.
	NoWait bool
}
