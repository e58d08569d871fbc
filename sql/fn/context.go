package fn

import (
	"context"
	"time"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// Context is what functions may know besides their arguments. One belongs to one goroutine evaluating
// expressions; parallel workers have copies.
type Context struct {
	// Ctx is cancelled with the statement. It lies in a struct because a Context lives no
	// longer than a statement's evaluation, and threading it through every closure costs.
	Ctx context.Context
	// Env is never nil.
	Env *types.Env
	// Call describes the call site. The caller sets it right before each call, after evaluating the arguments.
	Call *Call

	TxStart   time.Time // now()
	StmtStart time.Time // statement_timestamp()
	Clock     func() time.Time
	Rand      *Random // random(); nil makes it fail
	Notice    func(*pgerr.Error)

	Identity  Identity
	Settings  Settings
	Sequences Sequences
	Advisory  Advisory
	Catalog   Catalog
	Deparser  Deparser
	Backends  Backends
	Storage   Storage
	Xacts     Xacts
	System    System
	Waits     Waits // nil shows nobody
}

// Call is a call site in an expression.
type Call struct {
	Func      types.OID
	Args      []types.OID // actual argument types, polymorphic ones resolved
	Result    types.OID
	Collation types.OID
	Variadic  bool // called with VARIADIC array
	// Columns are those of a result of type record, by OUT parameters or where the query names them: json_to_record(...) AS x(a int).
	Columns []types.Field
	// State is the function's own between calls: a compiled pattern, a resolved comparison.
	State any
}

// ArgType is the actual type of argument i, 0 if unknown.
func (c *Context) ArgType(i int) types.OID {
	if c.Call == nil || i >= len(c.Call.Args) {
		return 0
	}
	return c.Call.Args[i]
}

// Func is a scalar function. args may be overwritten by the next call; see the invariants.
type Func func(c *Context, args []types.Datum) (types.Datum, error)

// VecFunc evaluates a strict function for the rows given. Arguments may be Const. It sets out.Null and the value
// of every row in rows and touches no other; out has room and the right class. Bytes go to out.Arena.
type VecFunc func(c *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error

// Set is the result of a set-returning function.
type Set interface {
	// Next fills row (one datum, or one a column) or reports the end.
	Next(c *Context, row []types.Datum) (ok bool, err error)
}

// VecSet is a Set that can fill vectors faster.
type VecSet interface {
	Set
	// NextVec fills at most limit rows from position 0 of out and returns their number; 0 is the end.
	NextVec(c *Context, out []types.Vector, limit int) (n int, err error)
}

// SRF starts a set-returning function.
type SRF func(c *Context, args []types.Datum) (Set, error)

// Builtin is what stands behind one prosrc. Fields that do not apply are nil.
type Builtin struct {
	Name string
	Func Func
	Vec  VecFunc
	Set  SRF
}
