package exec

import (
	"context"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// Catalog is what compilation asks about functions and types. *catalog.Txn satisfies it.
// Lookups return nil without an error for what does not exist.
type Catalog interface {
	ProcByOID(oid types.OID) (*catalog.Proc, error)
	OperatorByOID(oid types.OID) (*catalog.Operator, error)
	AggregateByOID(fn types.OID) (*catalog.Aggregate, error)
	TypeByOID(oid types.OID) (*catalog.Type, error)
	CollationByOID(oid types.OID) (*catalog.Collation, error)
	NamespaceByOID(oid types.OID) (*catalog.Namespace, error)
	Types() types.Types
}

var _ Catalog = (*catalog.Txn)(nil)

// Deps is what Compile needs besides the plan.
type Deps struct {
	Catalog Catalog
	// Fold is the context in which calls of immutable functions with constant arguments are
	// evaluated at once; nil leaves them to the run.
	Fold *fn.Context
	// Function, unless nil, is asked first for a function's Go form: those in languages other than
	// internal and C. It returns nil for what fn knows by prosrc.
	Function func(p *catalog.Proc) (*fn.Builtin, error)
	// DomainChecks, unless nil, gives the constraints of a domain type, of its base domains first.
	DomainChecks func(domain types.OID) ([]DomainCheck, error)
}

// DomainCheck is one constraint of a domain: NOT NULL if Expr is nil, else a CHECK in
// which CaseTest stands for VALUE.
type DomainCheck struct {
	Domain string
	Name   string
	Expr   analyze.Expr
}

// Sink takes the rows a program yields. The rows that count are b.Rows(); the visible columns
// are the first len(Plan.Columns). The batch is valid until Batch returns.
type Sink interface {
	Batch(b *types.Batch) error
}

// SinkFunc is a function as a Sink.
type SinkFunc func(b *types.Batch) error

// Batch calls f.
func (f SinkFunc) Batch(b *types.Batch) error { return f(b) }

// Instrument says what an execution measures.
type Instrument uint8

// Nothing, row counts, or row counts and times (EXPLAIN ANALYZE with TIMING off and on).
const (
	InstrumentNone Instrument = iota
	InstrumentRows
	InstrumentTiming
)

// ExecState is what one execution runs on. The session fills it in and leaves it alone
// from Start to Close; it may use it again afterwards.
type ExecState struct {
	Session  *engine.Session
	Snapshot *txn.Snapshot
	// Catalog serves scans of pg_catalog; nil: Session.Catalog().
	Catalog *catalog.Txn
	// Fn is the context of function calls; its Ctx is set to that of Fetch.
	Fn *fn.Context
	// Params are the values of $1, $2, ..., Lifted those of the lifted literals, each of the type
	// it has in the plan.
	Params []types.Datum
	Lifted []types.Datum

	WorkMem        int64   // bytes; 0: 4 MB
	HashMultiplier float64 // hash_mem_multiplier; 0: 2
	Temp           TempFiles
	// RepeatableRead makes rows that other transactions changed an error (40001) instead of being
	// evaluated again.
	RepeatableRead bool
	// NoParallel makes a Gather do with one goroutine.
	NoParallel bool
	// DeferUnique, unless nil, is given to the engine: see engine.InsertOptions.
	DeferUnique func(idx *catalog.Index, tid engine.TID, row []types.Datum)

	// CurrentOf tells where the row of rel lies that a cursor is on; ok is false where an outer join made that up.
	CurrentOf func(cursor string, rel *catalog.Relation) (tid engine.TID, ok bool, err error)

	Instrument Instrument
	// Clock is asked for the times of EXPLAIN ANALYZE; nil: none are taken.
	Clock func() time.Time
	// Tables, unless nil, opens tables in place of the session.
	Tables Tables
}

// TempFiles says where operators spill.
type TempFiles struct {
	FS  storage.FS
	Dir string
	// Prefix starts the names of this session's files, which are Prefix.N.
	Prefix string
}

// Compile makes a program of a plan. The plan must not change afterwards.
func Compile(p *plan.Plan, deps *Deps) (*Program, error) { return compile(p, deps) }

// Plan is what the program was compiled from.
func (p *Program) Plan() *plan.Plan { return p.plan }

// Run executes the program to its end and returns the rows affected (of a SELECT: returned).
func (p *Program) Run(ctx context.Context, st *ExecState, sink Sink) (int64, error) {
	x := p.Start(st)
	defer x.Close()
	if _, _, err := x.Fetch(ctx, 0, sink); err != nil {
		return 0, err
	}
	return x.Affected(), nil
}

// Start begins an execution. It must be closed.
func (p *Program) Start(st *ExecState) *Execution { return p.start(st) }
