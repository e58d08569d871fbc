package settings

import (
	"cmp"
	"slices"
	"strings"
)

//go:generate go run ./gen

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

// String is the name in pg_settings.vartype.
func (k Kind) String() string { return [...]string{"bool", "integer", "real", "string", "enum"}[k] }

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

// String is the name in pg_settings.context.
func (c Context) String() string {
	return [...]string{"internal", "postmaster", "sighup", "superuser-backend", "backend", "superuser", "user"}[c]
}

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

// String is the name in pg_settings.source.
func (s Source) String() string {
	return [...]string{
		"default", "default", "environment variable", "configuration file", "command line", "global", "database",
		"user", "database user", "client", "override", "session",
	}[s]
}

// Support says what minipg does with a parameter.
type Support uint8

// Values of Support.
const (
	Implemented Support = iota // it works
	Harmless                   // any value is accepted: no result can differ
	LocaleC                    // names of the C locale are accepted, others are 0A000
	DefaultOnly                // other values than the default are 0A000
)

// ID is a parameter's position in the table of all.
type ID uint16

// Param is the definition of a parameter. It is immutable.
type Param struct {
	Name     string
	Kind     Kind
	Context  Context
	Unit     string // "", "B", "kB", "8kB", "MB", "ms", "s", "min"
	Category string
	Desc     string // one sentence
	Boot     string // pg_settings.boot_val: in the base unit
	Min, Max float64
	Enums    []string
	Report   bool // GUC_REPORT: changes are told to the client
	// Flags as in pg_settings_get_flags, and GUC_SUPERUSER_ONLY, GUC_LIST_INPUT, GUC_LIST_QUOTE.
	NoShowAll       bool
	NoResetAll      bool
	Explain         bool
	NotInSample     bool
	RuntimeComputed bool
	SuperuserOnly   bool
	List            bool
	ListQuote       bool
	Support         Support

	id         ID
	hasDefault bool
	dflt       string
}

// ID indexes arrays of values.
func (p *Param) ID() ID { return p.id }

// Default is the value without any configuration, which for some is not Boot.
func (p *Param) Default() string {
	if p.hasDefault {
		return p.dflt
	}
	return p.Boot
}

// Params are all parameters, sorted by name. They must not be changed.
func Params() []Param { return params[:] }

// ByID returns a parameter.
func ByID(id ID) *Param { return &params[id] }

// oldNames are names that PostgreSQL still takes.
var oldNames = [...][2]string{{"sort_mem", "work_mem"}, {"vacuum_mem", "maintenance_work_mem"}}

// Lookup finds a parameter whatever the case of the name, nil if there is none.
func Lookup(name string) *Param {
	lower := strings.ToLower(name)
	i, ok := slices.BinarySearchFunc(params[:], lower, func(p Param, n string) int { return cmp.Compare(strings.ToLower(p.Name), n) })
	if ok {
		return &params[i]
	}
	for _, o := range oldNames {
		if o[0] == lower {
			return Lookup(o[1])
		}
	}
	return nil
}

// IsCustom tells a placeholder of an extension: two or more identifiers with dots between.
func IsCustom(name string) bool {
	if !strings.Contains(name, ".") {
		return false
	}
	for _, part := range strings.Split(name, ".") {
		if part == "" {
			return false
		}
		for i := range len(part) {
			c := part[i]
			letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
			if !letter && (i == 0 || c != '$' && (c < '0' || c > '9')) {
				return false
			}
		}
	}
	return true
}
