package settings

// Kind is pg_settings.vartype.
type Kind uint8

// The kinds of parameters.
const (
	Bool Kind = iota
	Int
	Real
	String
	Enum
)

// Context is pg_settings.context: who may change a parameter, and when.
type Context uint8

// The contexts, from the most closed.
const (
	Internal Context = iota
	Postmaster
	Sighup
	SuperuserBackend
	Backend
	Superuser
	User
)

// Source is where a value came from, in rising order of precedence.
type Source uint8

// The sources, as in pg_settings.source.
const (
	SourceDefault Source = iota
	SourceDynamicDefault
	SourceEnvironment
	SourceFile
	SourceCommandLine
	SourceGlobal
	SourceDatabase
	SourceUser
	SourceDatabaseUser
	SourceClient
	SourceOverride
	SourceSession
)

// Param is the definition of a parameter. It is immutable.
type Param struct {
	Name     string
	Kind     Kind
	Context  Context
	Unit     string // "", "B", "kB", "8kB", "MB", "ms", "s", "min"
	Category string
	Desc     string // one sentence
	Boot     string // text of the boot value in the base unit
	Min, Max float64
	Enums    []string
	Report   bool // GUC_REPORT
	// NoShowAll, NoReset, SuperuserOnly ... are flags of PostgreSQL.
	NoShowAll     bool
	NoReset       bool
	SuperuserOnly bool
	List          bool
	ListQuote     bool
	Explain       bool
	// Support says how far minipg implements it.
	Support Support
	id      ID
}

// Support says what minipg does with a parameter.
type Support uint8

// Values of Support.
const (
	Implemented Support = iota // it works
	Harmless                   // any value is accepted: no result can differ
	DefaultOnly                // other values than the default are 0A000
)

// ID indexes a parameter in arrays of values.
type ID uint16
