package heap

import (
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// ScanOptions choose what a scan visits.
type ScanOptions struct {
	// Start and End bound the blocks: Start included, End not. End 0 means the relation's
	// length when the scan starts.
	Start, End storage.BlockNumber
	// Ring keeps a large scan from flushing the pool; nil uses the whole pool.
	Ring *storage.Ring
	// All yields every tuple that is not dead to all, with its TupleState and root TID, whatever
	// the snapshot: for building indexes and ANALYZE.
	All bool
}

// TupleState is what VACUUM would say of a tuple.
type TupleState uint8

// The states of a tuple.
const (
	StateLive TupleState = iota
	StateRecentlyDead
	StateInsertInProgress
	StateDeleteInProgress
	StateDead
)

// Scan hands out private copies of pages with the tuples a snapshot sees. It serves
// one goroutine; goroutines share a relation by block ranges under one snapshot.
type Scan struct {
	h    *Heap
	snap *txn.Snapshot
	opts ScanOptions
	next storage.BlockNumber
	end  storage.BlockNumber
	page ScanPage
}

// ScanPage is one page's visible tuples. It is valid until the next NextPage.
type ScanPage struct {
	Block storage.BlockNumber
	// N is the number of tuples.
	N int
	// Dead counts tuples dead to everyone, with ScanOptions.All.
	Dead int
	// BrokenHOT, with ScanOptions.All: a HOT chain whose older version some snapshot
	// may still see; an index built from this scan lacks it.
	BrokenHOT bool

	data  []byte
	items []scanItem
}

type scanItem struct {
	off, root  uint16
	start, end uint16
	state      TupleState
}
