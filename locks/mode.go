package locks

import "github.com/minipg/minipg/metrics"

// Mode is a lock mode, with PostgreSQL's numbers.
type Mode uint8

// The modes, weakest first.
const (
	NoLock               Mode = 0
	AccessShare          Mode = 1 // SELECT
	RowShare             Mode = 2 // SELECT FOR UPDATE and FOR SHARE
	RowExclusive         Mode = 3 // INSERT, UPDATE, DELETE
	ShareUpdateExclusive Mode = 4 // VACUUM, ANALYZE, CREATE INDEX CONCURRENTLY
	Share                Mode = 5 // CREATE INDEX
	ShareRowExclusive    Mode = 6 // CREATE TRIGGER, some ALTER TABLE
	Exclusive            Mode = 7 // blocks ROW SHARE as well
	AccessExclusive      Mode = 8 // ALTER, DROP, TRUNCATE, LOCK TABLE

	numModes = 9
)

// String is the mode as pg_locks shows it.
func (m Mode) String() string {
	if m == NoLock || int(m) >= numModes {
		return "NoLock"
	}
	return metrics.LockModeNames[m]
}

// Conflicts reports whether two sessions cannot hold m and other on one tag
// at a time.
func (m Mode) Conflicts(other Mode) bool { return conflictTable[m]&other.bit() != 0 }

func (m Mode) bit() modeMask { return 1 << m }

// modeMask is a set of modes: bit n for mode n.
type modeMask uint16

const (
	weakModes   = 1<<AccessShare | 1<<RowShare | 1<<RowExclusive
	strongModes = 1<<Share | 1<<ShareRowExclusive | 1<<Exclusive | 1<<AccessExclusive
)

// conflictTable holds for each mode those it conflicts with, as in
// PostgreSQL's lock.c.
var conflictTable = [numModes]modeMask{
	AccessShare:          1 << AccessExclusive,
	RowShare:             1<<Exclusive | 1<<AccessExclusive,
	RowExclusive:         strongModes,
	ShareUpdateExclusive: 1<<ShareUpdateExclusive | strongModes,
	Share: 1<<RowExclusive | 1<<ShareUpdateExclusive | 1<<ShareRowExclusive |
		1<<Exclusive | 1<<AccessExclusive,
	ShareRowExclusive: 1<<RowExclusive | 1<<ShareUpdateExclusive | strongModes,
	Exclusive:         1<<RowShare | 1<<RowExclusive | 1<<ShareUpdateExclusive | strongModes,
	AccessExclusive: 1<<AccessShare | 1<<RowShare | 1<<RowExclusive |
		1<<ShareUpdateExclusive | strongModes,
}
