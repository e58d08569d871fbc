package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// expr is a compiled expression.
type expr struct {
	typ   types.OID
	mod   int32
	coll  types.OID
	class types.Class
	eval  evalFn
	// konst is the value of a constant, as a Const vector.
	konst *types.Vector
	// pred is the direct form of a condition; nil: evaluate and look.
	pred predFn
	// volatile expressions may give another value, or do something, each time.
	volatile bool
	// columns tells whether any input column is read.
	columns bool
	// col is the position of a plain column of input; -1 otherwise.
	input, col int
}

// scope is where expressions are compiled: one frame and what its inputs are.
type scope struct {
	spec *frameSpec
	// cols maps plan.Col indexes of each input to positions in its batch.
	cols [2]columnMap
	// caseTests are pointer slots for CaseTest, innermost last.
	caseTests []int
	// subCols are pointer slots for SubColumn, by number.
	subCols []int
	// volatile is set once anything volatile was compiled.
	volatile bool
}

// columnMap gives the position in a batch of a plan.Col's index.
type columnMap interface {
	position(index int, typ types.OID) (int, error)
}

// identity is the map of a batch that has every column at its index. used collects those read.
type identity struct {
	n    int
	used []bool
}

func newIdentity(n int) *identity { return &identity{n: n, used: make([]bool, n)} }

func (m *identity) position(index int, _ types.OID) (int, error) {
	if index < 0 || index >= m.n {
		return 0, pgerr.New(pgerr.InternalError, "column %d of an input of %d columns", index, m.n)
	}
	m.used[index] = true
	return index, nil
}

func newScope(cols ...columnMap) *scope {
	s := &scope{spec: &frameSpec{}}
	copy(s.cols[:], cols)
	return s
}

// compiler compiles one program.
type compiler struct {
	deps *Deps
	prog *Program
	*scope
	// depends collects the parameters that the node being compiled reads.
	depends *paramSet
	// initOf is the init plan that gives a parameter its value.
	initOf []*initPlanProgram
	// level numbers the query level being compiled, levels are those there are.
	level, levels int
	// rechecks: rows may have to be evaluated again, so index conditions are kept.
	rechecks bool
	// usedInits collects the parameters of init plans that are read; nil: nobody asks.
	usedInits *paramSet
	// workCols are the columns of the working tables of recursive CTEs.
	workCols map[int][]vecSpec
}

// in runs f with scope s.
func (c *compiler) in(s *scope, f func() error) error {
	old := c.scope
	c.scope = s
	err := f()
	c.scope = old
	return err
}

func (c *compiler) class(typ types.OID) types.Class {
	if t := types.Lookup(typ, c.types()); t != nil {
		return t.Phys.Class()
	}
	return types.Bytes
}

func (c *compiler) types() types.Types {
	if c.deps.Catalog == nil {
		return nil
	}
	return c.deps.Catalog.Types()
}

func (c *compiler) newExpr(e analyze.Expr) *expr {
	return &expr{typ: e.Type(), mod: e.Typmod(), coll: e.Collation(), class: c.class(e.Type()), col: -1}
}

func (c *compiler) constant(x *expr, d types.Datum) *expr {
	v := types.ConstVector(x.typ, x.class, d)
	x.konst = &v
	x.eval = func(*frame, types.Rows) (*types.Vector, error) { return &v, nil }
	return x
}

func (c *compiler) exprs(es []analyze.Expr) ([]*expr, error) {
	out := make([]*expr, len(es))
	for i, e := range es {
		x, err := c.expr(e)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// expr compiles one expression in the current scope.
func (c *compiler) expr(e analyze.Expr) (*expr, error) {
	switch e := e.(type) {
	case *analyze.Const:
		return c.constExpr(e), nil
	case *plan.Col:
		return c.colExpr(e)
	case *plan.WholeRow:
		return c.wholeRow(e)
	case *plan.SubPlan:
		return c.subPlan(e)
	case *analyze.Param:
		return c.param(e)
	case *analyze.FuncExpr:
		return c.funcExpr(e)
	case *analyze.OpExpr:
		return c.opExpr(e)
	case *analyze.DistinctExpr:
		return c.distinctExpr(e)
	case *analyze.NullIfExpr:
		return c.nullIf(e)
	case *analyze.ScalarArrayOpExpr:
		return c.scalarArray(e)
	case *analyze.BoolExpr:
		return c.boolExpr(e)
	case *analyze.CaseExpr:
		return c.caseExpr(e)
	case *analyze.CaseTest:
		return c.caseTest(e)
	case *analyze.CoalesceExpr:
		return c.coalesce(e)
	case *analyze.MinMaxExpr:
		return c.minMax(e)
	case *analyze.NullTest:
		return c.nullTest(e)
	case *analyze.BooleanTest:
		return c.booleanTest(e)
	case *analyze.RelabelType:
		return c.relabel(e, e.Arg)
	case *analyze.CollateExpr:
		return c.relabel(e, e.Arg)
	case *analyze.CoerceViaIO:
		return c.coerceViaIO(e)
	case *analyze.ArrayCoerceExpr:
		return c.arrayCoerce(e)
	case *analyze.CoerceToDomain:
		return c.coerceToDomain(e)
	case *analyze.ArrayExpr:
		return c.arrayExpr(e)
	case *analyze.RowExpr:
		return c.rowExpr(e)
	case *analyze.RowCompareExpr:
		return c.rowCompare(e)
	case *analyze.FieldSelect:
		return c.fieldSelect(e)
	case *analyze.SubscriptingRef:
		return c.subscript(e)
	case *analyze.SQLValueFunction:
		return c.sqlValue(e)
	case *analyze.SubColumn:
		return c.subColumn(e)
	case *analyze.NextValueExpr:
		return c.nextValue(e)
	}
	return nil, pgerr.New(pgerr.FeatureNotSupported, "expression %T is not supported", e)
}

func (c *compiler) constExpr(e *analyze.Const) *expr {
	x := c.newExpr(e)
	if e.Lifted == 0 {
		return c.constant(x, e.Value)
	}
	slot, k := c.spec.vec(x.typ, x.class), e.Lifted-1
	x.eval = func(f *frame, _ types.Rows) (*types.Vector, error) {
		v := f.vec(slot, 1)
		v.Const = true
		v.Set(0, f.rt.st.Lifted[k])
		return v, nil
	}
	return x
}

func (c *compiler) colExpr(e *plan.Col) (*expr, error) {
	x := c.newExpr(e)
	if e.Input < 0 || e.Input > 1 || c.cols[e.Input] == nil {
		return nil, pgerr.New(pgerr.InternalError, "column of input %d where there is none", e.Input)
	}
	pos, err := c.cols[e.Input].position(e.Index, e.Typ)
	if err != nil {
		return nil, err
	}
	x.input, x.col, x.columns = e.Input, pos, true
	if e.Input == 0 {
		x.eval = func(f *frame, _ types.Rows) (*types.Vector, error) { return &f.in[0].Cols[pos], nil }
	} else {
		x.eval = func(f *frame, _ types.Rows) (*types.Vector, error) { return &f.in[1].Cols[pos], nil }
	}
	return x, nil
}

func (c *compiler) param(e *analyze.Param) (*expr, error) {
	x := c.newExpr(e)
	slot := c.spec.vec(x.typ, x.class)
	if e.Exec {
		id := e.Number
		if err := c.dependOn(id); err != nil {
			return nil, err
		}
		x.eval = func(f *frame, _ types.Rows) (*types.Vector, error) {
			d, err := f.rt.param(id)
			if err != nil {
				return nil, err
			}
			v := f.vec(slot, 1)
			v.Const = true
			v.Set(0, d)
			return v, nil
		}
		return x, nil
	}
	n := e.Number - 1
	x.eval = func(f *frame, _ types.Rows) (*types.Vector, error) {
		if n >= len(f.rt.st.Params) {
			return nil, pgerr.New(pgerr.UndefinedObject, "no value found for parameter %d", n+1)
		}
		v := f.vec(slot, 1)
		v.Const = true
		v.Set(0, f.rt.st.Params[n])
		return v, nil
	}
	return x, nil
}

func (c *compiler) caseTest(e *analyze.CaseTest) (*expr, error) {
	x := c.newExpr(e)
	if len(c.caseTests) == 0 {
		return nil, pgerr.New(pgerr.InternalError, "CASE test value outside of CASE")
	}
	p := c.caseTests[len(c.caseTests)-1]
	x.columns = true
	x.eval = func(f *frame, _ types.Rows) (*types.Vector, error) { return f.ptrs[p], nil }
	return x, nil
}

func (c *compiler) subColumn(e *analyze.SubColumn) (*expr, error) {
	x := c.newExpr(e)
	if e.Number >= len(c.subCols) {
		return nil, pgerr.New(pgerr.InternalError, "sub-select column %d outside of its test", e.Number)
	}
	p := c.subCols[e.Number]
	x.columns = true
	x.eval = func(f *frame, _ types.Rows) (*types.Vector, error) { return f.ptrs[p], nil }
	return x, nil
}

// relabel gives the same values another type.
func (c *compiler) relabel(e, arg analyze.Expr) (*expr, error) {
	a, err := c.expr(arg)
	if err != nil {
		return nil, err
	}
	if from, to := types.PhysOf(a.typ), types.PhysOf(e.Type()); from != to && (from == types.PhysInt4 && to == types.PhysUint4 ||
		from == types.PhysUint4 && to == types.PhysInt4) {
		return c.reword(e, a, to == types.PhysInt4)
	}
	x := *a
	x.typ, x.mod, x.coll = e.Type(), e.Typmod(), e.Collation()
	return &x, nil
}

// reword changes the form a 32-bit word has: signed ones are extended by their sign, unsigned ones by zeros.
func (c *compiler) reword(e analyze.Expr, arg *expr, signed bool) (*expr, error) {
	x := c.newExpr(e)
	c.merge(x, arg)
	word := func(w uint64) uint64 {
		if signed {
			return uint64(int64(int32(w)))
		}
		return uint64(uint32(w))
	}
	if arg.konst != nil {
		d := arg.konst.Datum(0)
		d.W = word(d.W)
		return c.constant(x, d), nil
	}
	slot := c.spec.vec(x.typ, types.Word)
	x.eval = func(f *frame, rows types.Rows) (*types.Vector, error) {
		v, err := arg.eval(f, rows)
		if err != nil {
			return nil, err
		}
		if v.Const {
			rows = one()
		}
		out := f.vec(slot, rows.N)
		for j := range rows.Len() {
			i := rows.At(j)
			out.Null[i], out.W[i] = v.Null[i], word(v.W[i])
		}
		out.Const = v.Const
		return out, nil
	}
	return x, nil
}
