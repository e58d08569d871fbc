package heap

import "github.com/minipg/minipg/txn"

// FetchBuf receives a fetched tuple. It is reused from fetch to fetch.
type FetchBuf struct {
	Header Header
	// TID is the version found, which a HOT chain may have moved from the TID asked for.
	TID TID
	// Data is the row. It is valid until the buffer's next use.
	Data []byte
	// AllDead, where nothing was found: every version at this TID is dead to everyone, so an
	// index entry for it may be marked killed.
	AllDead bool

	buf []byte
}

// Liveness is a uniqueness check's view of what a TID leads to.
type Liveness uint8

const (
	// ChainDead: no version is live, whatever the transactions in progress do.
	ChainDead Liveness = iota
	// ChainLive: a version is live (committed, or this transaction's own).
	ChainLive
	// ChainWait: it depends on the outcome of LiveResult.Wait.
	ChainWait
)

// LiveResult is what LiveStatus found.
type LiveResult struct {
	State Liveness
	// Wait is the transaction that inserts or deletes the version, for ChainWait.
	Wait txn.XID
	// TID is the live or waited-for version.
	TID TID
	// AllDead, for ChainDead: dead to every snapshot; the index entry may be marked killed.
	AllDead bool
}
