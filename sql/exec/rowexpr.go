package exec

import (
	"context"
	"sync"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// RowExpr is an expression over a row of a table, for use outside of plans: an index's, a default's. It is safe
// for concurrent use.
type RowExpr struct {
	spec *frameSpec
	x    *expr
	cols []vecSpec
	prog *Program
	pool sync.Pool // *rowEval
}

// rowEval is the state of one evaluation.
type rowEval struct {
	rt runtime
	st ExecState
	fc fn.Context
	f  *frame
	b  types.Batch
}

// CompileRowExpr compiles an expression whose columns are plan.Col of input 0 with Index = attno-1.
func CompileRowExpr(e analyze.Expr, deps *Deps, rel *catalog.Relation) (*RowExpr, error) {
	c := rowCompiler(deps)
	r := &RowExpr{prog: c.prog, cols: c.relationColumns(rel)}
	for _, num := range systemColumns {
		r.cols = append(r.cols, systemType(num))
	}
	s := newScope(&tableMap{atts: len(rel.Attrs)})
	r.spec = s.spec
	err := c.in(s, func() (err error) {
		r.x, err = c.expr(e)
		return err
	})
	return r, err
}

// rowCompiler compiles outside of any plan.
func rowCompiler(deps *Deps) *compiler {
	return &compiler{
		deps: deps, prog: &Program{plan: &plan.Plan{}}, scope: newScope(), depends: &paramSet{},
	}
}

// Eval computes the expression in a context of its own, with default settings: it must be immutable. The
// result may alias row.
func (r *RowExpr) Eval(ctx context.Context, s *engine.Session, row []types.Datum) (types.Datum, error) {
	e := r.get()
	defer r.pool.Put(e)
	if e.fc.Env == nil {
		env := types.DefaultEnv()
		e.fc = fn.Context{Env: env}
	}
	if s != nil {
		e.fc.Env.Types = s.Catalog().Types()
	}
	e.fc.Ctx = ctx
	return e.eval(r, ctx, &e.fc, s, row)
}

// EvalWith computes the expression in a session's context.
func (r *RowExpr) EvalWith(ctx context.Context, fc *fn.Context, s *engine.Session, row []types.Datum) (types.Datum, error) {
	e := r.get()
	defer r.pool.Put(e)
	fc.Ctx = ctx
	return e.eval(r, ctx, fc, s, row)
}

func (r *RowExpr) get() *rowEval {
	if e, ok := r.pool.Get().(*rowEval); ok {
		return e
	}
	e := &rowEval{b: *newChunk(r.cols, 1)}
	e.rt.prog, e.rt.st = r.prog, &e.st
	e.f = newFrame(&e.rt, r.spec)
	return e
}

func (e *rowEval) eval(r *RowExpr, ctx context.Context, fc *fn.Context, s *engine.Session, row []types.Datum) (types.Datum, error) {
	e.rt.ctx, e.rt.fc, e.st.Session = ctx, fc, s
	for i := range row {
		e.b.Cols[i].Set(0, row[i])
	}
	e.b.N = 1
	e.f.in[0] = &e.b
	// The last result may still be in use: it is not written over.
	for _, i := range e.f.spec.bytes {
		e.f.vecs[i].Arena = nil
	}
	return e.f.scalar(r.x)
}

// RowChecks are the constraints of a table that a new row has to satisfy, and its generated columns, for COPY.
type RowChecks struct {
	shape rowShape
	prog  *Program
}

// CompileRowChecks compiles generated columns (by attribute number) and CHECK constraints, columns as in CompileRowExpr.
func CompileRowChecks(rel *catalog.Relation, generated map[int]analyze.Expr, checks []plan.Check, deps *Deps) (*RowChecks, error) {
	c := rowCompiler(deps)
	r := &RowChecks{prog: c.prog}
	return r, c.rowShape(&r.shape, rel, generated, checks)
}

// RowChecker applies RowChecks. It belongs to one goroutine.
type RowChecker struct {
	rt runtime
	st ExecState
	k  rowCheck
}

// NewChecker makes a checker that evaluates in a session's context.
func (r *RowChecks) NewChecker(fc *fn.Context, s *engine.Session) *RowChecker {
	c := &RowChecker{}
	c.st.Session = s
	c.rt.prog, c.rt.st, c.rt.fc = r.prog, &c.st, fc
	c.k.init(&c.rt, &r.shape)
	return c
}

// Constant tells whether Check computes no expression.
func (c *RowChecker) Constant() bool { return c.k.f == nil }

// Holds tells whether row satisfies what Check checks. Requires: Constant.
func (c *RowChecker) Holds(row []types.Datum) bool {
	for _, i := range c.k.shape.notNull {
		if row[i].Null {
			return false
		}
	}
	return true
}

// Check computes generated columns into row, then fails with 23502 or 23514, in PostgreSQL's words, if the row
// violates a constraint.
func (c *RowChecker) Check(ctx context.Context, row []types.Datum) error {
	c.rt.ctx, c.rt.fc.Ctx = ctx, ctx
	return c.k.row(row)
}
