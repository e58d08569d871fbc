package heap

import (
	"context"

	"github.com/minipg/minipg/txn"
)

// VacuumOptions shape Vacuum.
type VacuumOptions struct {
	// RemoveIndexEntries removes every index entry that leads to one of dead, which is sorted;
	// nil where the relation has no index.
	RemoveIndexEntries func(ctx context.Context, dead []TID) error
	// MaxDead bounds the dead TIDs collected between two index passes; 0 is DefaultMaxDead.
	MaxDead int
	// Full visits every page whatever the visibility map says (DISABLE_PAGE_SKIPPING).
	Full bool
	// Aggressive visits all pages that are not all-frozen (VACUUM FREEZE).
	Aggressive bool
	// Truncate tries for the lock that allows empty tail pages to be cut off; nil or false
	// leaves them. On true the caller holds the relation so that nobody uses it, until release.
	Truncate func(ctx context.Context) (release func(), ok bool)
	// Delay is called with the cost of each step in PostgreSQL's vacuum cost units.
	Delay func(ctx context.Context, cost int) error
	// Progress, if set, is called after each page.
	Progress func(VacuumStats)
}

// DefaultMaxDead bounds dead TIDs where VacuumOptions does not.
const DefaultMaxDead = 8 << 20

// VacuumStats tell what a Vacuum did and saw.
type VacuumStats struct {
	Pages, PagesScanned, PagesRemoved int64
	AllVisible                        int64 // pages marked all-visible in the map at the end
	TuplesRemoved                     int64
	LiveTuples                        float64 // estimate for the whole relation
	RecentlyDead                      int64
	DeadLinePointers                  int64
	IndexPasses                       int
	// OldestXID is the oldest XID left unfrozen on the pages scanned.
	OldestXID txn.XID
}
