package txn

import (
	"slices"

	"github.com/minipg/minipg/pgerr/assert"
)

// Snapshot decides which transactions' changes are seen.
type Snapshot struct {
	CSN    CSN // commits with a smaller number are seen
	Xmin   XID // every XID below ended before the snapshot
	CurCID CID // own commands below are seen
	Tx     *Tx // whose own changes are seen

	m *Manager
}

// TakeSnapshot returns the snapshot of a new statement: what is committed now, or with
// repeatable read what was at the first one. Release it with ReleaseSnapshot.
func (tx *Tx) TakeSnapshot() *Snapshot {
	assert.That(tx.open, "a snapshot is taken outside a transaction")
	var s *Snapshot
	if n := len(tx.spare); n > 0 {
		s = tx.spare[n-1]
		tx.spare = tx.spare[:n-1]
	} else {
		s = new(Snapshot)
	}
	if tx.first.CSN != 0 {
		*s = tx.first
	} else {
		// The order of loads and stores is Invariant 3, and 8.
		alone := len(tx.live) == 0
		tx.slot.csn.Store(csnUnknown)
		xmin := tx.m.oldestActive.Load()
		if alone {
			tx.slot.xmin.Store(xmin)
		}
		csn := tx.m.nextCSN.Load()
		if alone {
			tx.slot.csn.Store(csn)
		}
		*s = Snapshot{Xmin: XID(xmin), CSN: CSN(csn), Tx: tx, m: tx.m}
		if tx.repeatable {
			tx.first = *s
		}
	}
	s.CurCID = tx.cid
	tx.live = append(tx.live, s)
	return s
}

// ReleaseSnapshot gives a snapshot back.
func (tx *Tx) ReleaseSnapshot(s *Snapshot) {
	n := len(tx.live) - 1
	if n < 0 {
		return // the transaction's end gave it back
	}
	if tx.live[n] == s {
		tx.live = tx.live[:n]
	} else {
		i := slices.Index(tx.live, s)
		if i < 0 {
			return
		}
		tx.live = slices.Delete(tx.live, i, i+1)
	}
	tx.spare = append(tx.spare, s)
	tx.publishXmin()
}

// publishXmin makes the slot's xmin that of the oldest snapshot left.
func (tx *Tx) publishXmin() {
	if tx.first.CSN != 0 {
		return // kept to the end
	}
	if len(tx.live) == 0 {
		tx.slot.xmin.Store(0)
		return
	}
	oldest, csn := tx.live[0].Xmin, uint64(tx.live[0].CSN)
	for _, s := range tx.live[1:] {
		oldest = min(oldest, s.Xmin)
		if uint64(s.CSN) != csn {
			csn = csnUnknown
		}
	}
	tx.slot.xmin.Store(uint64(oldest))
	tx.slot.csn.Store(csn)
}

// SetRepeatableRead makes all snapshots of the transaction the first one.
func (tx *Tx) SetRepeatableRead(on bool) {
	assert.That(tx.first.CSN == 0, "the isolation level changes after the first snapshot")
	tx.repeatable = on
}

// RepeatableRead reports whether it was set.
func (tx *Tx) RepeatableRead() bool { return tx.repeatable }

// HasFirstSnapshot reports whether the snapshot that all others repeat was taken.
func (tx *Tx) HasFirstSnapshot() bool { return tx.first.CSN != 0 }

// Committed reports whether xid committed before the snapshot was taken. For the own
// transaction it is false: ask Tx.IsCurrent first.
func (s *Snapshot) Committed(xid XID) bool {
	if xid < FirstXID {
		return xid != InvalidXID
	}
	state, known, newest := s.m.states.resolve(xid)
	if !known {
		// Invariant 8.
		return newest < uint64(s.CSN) && s.m.committedLongAgo(xid)
	}
	return state >= firstCSN && state < uint64(s.CSN)
}
