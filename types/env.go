package types

import "time"

// DateStyle is the output format of dates.
type DateStyle uint8

// The values of the setting DateStyle, first part.
const (
	DateISO DateStyle = iota
	DateSQL
	DatePostgres
	DateGerman
)

// DateOrder is how ambiguous input is read.
type DateOrder uint8

// The values of the setting DateStyle, second part.
const (
	OrderMDY DateOrder = iota
	OrderDMY
	OrderYMD
)

// IntervalStyle is the output format of intervals.
type IntervalStyle uint8

// The values of the setting IntervalStyle.
const (
	IntervalPostgres IntervalStyle = iota
	IntervalPostgresVerbose
	IntervalSQLStandard
	IntervalISO8601
)

// RegNames turns names into OIDs and back for the reg* types. It is satisfied by the
// session, which knows the catalog and the search path.
type RegNames interface {
	// RegIn resolves s as the input function of typ (Regclass, Regtype, ...) does; s is neither "-" nor a number.
	RegIn(typ OID, s string) (OID, error)
	// RegOut returns the name as the output function of typ prints it; false if there is no such object.
	RegOut(typ OID, oid OID) (string, bool)
}

// Env is what input and output depend on besides the value. A nil *Env means the
// defaults of PostgreSQL with time zone UTC. It may be shared by readers.
type Env struct {
	DateStyle        DateStyle
	DateOrder        DateOrder
	IntervalStyle    IntervalStyle
	TimeZone         *time.Location // nil is UTC
	ExtraFloatDigits int            // PostgreSQL's default is 1
	ByteaEscape      bool           // bytea_output = escape
	Now              time.Time      // transaction start, for 'now', 'today'; the zero time asks the clock
	Names            RegNames       // may be nil: numbers only
	Types            Types          // may be nil: built-in types only
}

// DefaultEnv returns the settings of a fresh PostgreSQL session with time zone UTC.
func DefaultEnv() *Env { return &Env{ExtraFloatDigits: 1, TimeZone: time.UTC} }
