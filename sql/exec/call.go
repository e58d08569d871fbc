package exec

import (
	"fmt"
	"strings"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

// function is a resolved row of pg_proc.
type function struct {
	proc    *catalog.Proc
	builtin *fn.Builtin
}

func (f *function) volatile() bool { return f.proc.Volatile == 'v' }

// proc resolves a function by OID.
func (c *compiler) proc(oid types.OID) (*catalog.Proc, error) {
	if c.deps.Catalog == nil {
		return nil, pgerr.New(pgerr.InternalError, "cache lookup failed for function %d", oid)
	}
	p, err := c.deps.Catalog.ProcByOID(oid)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, pgerr.New(pgerr.InternalError, "cache lookup failed for function %d", oid)
	}
	return p, nil
}

// function resolves a function to its Go form.
func (c *compiler) function(oid types.OID) (*function, error) {
	p, err := c.proc(oid)
	if err != nil {
		return nil, err
	}
	if c.deps.Function != nil {
		b, err := c.deps.Function(p)
		if err != nil {
			return nil, err
		}
		if b != nil {
			return &function{p, b}, nil
		}
	}
	b, ok := fn.LookupProc(p.OID, p.Src)
	if !ok {
		return nil, c.unsupportedFunction(p)
	}
	return &function{p, b}, nil
}

func (c *compiler) unsupportedFunction(p *catalog.Proc) error {
	args := make([]string, len(p.Args))
	for i, a := range p.Args {
		args[i] = c.typeName(a, -1)
	}
	return pgerr.New(pgerr.FeatureNotSupported, "function %s(%s) is not supported",
		p.Name, strings.Join(args, ", "))
}

func (c *compiler) typeName(t types.OID, mod int32) string {
	if name, ok := types.FormatType(t, mod); ok {
		return name
	}
	if c.deps.Catalog != nil {
		if row, err := c.deps.Catalog.TypeByOID(t); err == nil && row != nil {
			return row.Name
		}
	}
	return fmt.Sprint(uint32(t))
}

func (c *compiler) funcExpr(e *analyze.FuncExpr) (*expr, error) {
	if e.RetSet {
		return nil, errSetContext()
	}
	f, err := c.function(e.Func)
	if err != nil {
		return nil, err
	}
	args, err := c.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	return c.call(c.newExpr(e), f, args, e.InputColl, e.Variadic)
}

// recordExpr is funcExpr for a function in FROM whose columns the query defines.
func (c *compiler) recordExpr(e *analyze.FuncExpr, columns []types.Field) (*expr, error) {
	f, err := c.function(e.Func)
	if err != nil {
		return nil, err
	}
	args, err := c.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	info := c.callInfo(f, args, x.typ, e.InputColl, e.Variadic)
	info.Columns = columns
	return c.callWith(x, f, args, info)
}

func errSetContext() error {
	return pgerr.New(pgerr.FeatureNotSupported,
		"set-valued function called in context that cannot accept a set")
}

func (c *compiler) opExpr(e *analyze.OpExpr) (*expr, error) {
	if e.RetSet {
		return nil, errSetContext()
	}
	f, err := c.operator(e.Op, e.Func)
	if err != nil {
		return nil, err
	}
	args, err := c.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	x, err := c.call(c.newExpr(e), f, args, e.InputColl, false)
	if err != nil || x.konst != nil {
		return x, err
	}
	c.comparison(x, f, args, e.InputColl)
	return x, nil
}

// operator resolves an operator's function, given or by the operator.
func (c *compiler) operator(op, function types.OID) (*function, error) {
	if function == 0 {
		o, err := c.deps.Catalog.OperatorByOID(op)
		if err != nil {
			return nil, err
		}
		if o == nil {
			return nil, pgerr.New(pgerr.InternalError, "cache lookup failed for operator %d", op)
		}
		function = o.Code
	}
	return c.function(function)
}

func (c *compiler) callInfo(f *function, args []*expr, result, collation types.OID, variadic bool) fn.Call {
	call := fn.Call{
		Func: f.proc.OID, Result: result, Collation: collation, Variadic: variadic,
		Args: make([]types.OID, len(args)),
	}
	for _, field := range c.outFields(f.proc, call.Args) {
		call.Columns = append(call.Columns, types.Field{Name: field.Name, Type: field.Attr.Type, Typmod: field.Attr.Typmod})
	}
	for i, a := range args {
		call.Args[i] = a.typ
	}
	return call
}

// call makes x the result of f over args.
func (c *compiler) call(x *expr, f *function, args []*expr, collation types.OID, variadic bool) (*expr, error) {
	return c.callWith(x, f, args, c.callInfo(f, args, x.typ, collation, variadic))
}

func (c *compiler) callWith(x *expr, f *function, args []*expr, info fn.Call) (*expr, error) {
	if f.builtin.Func == nil && f.builtin.Vec == nil {
		return nil, c.unsupportedFunction(f.proc)
	}
	x.volatile = f.volatile()
	for _, a := range args {
		x.volatile = x.volatile || a.volatile
		x.columns = x.columns || a.columns
	}
	if f.volatile() {
		c.scope.volatile = true
	}
	if f.proc.Volatile == 'i' && c.fold(x, f, args, info) {
		return x, nil
	}
	k := &callSite{
		call: c.spec.call(info), out: c.spec.vec(x.typ, x.class), strict: f.proc.Strict,
		args: args, fn: f.builtin.Func, vec: f.builtin.Vec,
		vecs: c.spec.argVecs(len(args)), datums: c.spec.args(len(args)),
		rowwise: f.volatile(),
	}
	switch {
	case k.vec != nil && !k.rowwise && f.proc.Strict && len(args) > 0:
		x.eval = k.vector
	case k.fn == nil:
		return nil, c.unsupportedFunction(f.proc)
	default:
		x.eval = k.rows
	}
	return x, nil
}

// fold evaluates an immutable call of constants now. An error is left for the run: the
// call may be one that is never reached.
func (c *compiler) fold(x *expr, f *function, args []*expr, info fn.Call) bool {
	if f.builtin.Func == nil || c.deps.Fold == nil {
		return false
	}
	datums := make([]types.Datum, len(args))
	for i, a := range args {
		if a.konst == nil {
			return false
		}
		datums[i] = a.konst.Datum(0)
		if datums[i].Null && f.proc.Strict {
			c.constant(x, types.NullDatum)
			return true
		}
	}
	fc := *c.deps.Fold
	fc.Call = &info
	d, err := f.builtin.Func(&fc, datums)
	if err != nil {
		return false
	}
	c.constant(x, d.Clone())
	return true
}

// callSite is one call in an expression.
type callSite struct {
	call, out    int
	vecs, datums int
	strict       bool
	rowwise      bool
	args         []*expr
	fn           fn.Func
	vec          fn.VecFunc
}

// evalArgs evaluates the arguments and tells whether all are the same for every row.
func (k *callSite) evalArgs(f *frame, rows types.Rows) ([]*types.Vector, bool, error) {
	vecs := f.avecs[k.vecs : k.vecs+len(k.args)]
	same := true
	for i, a := range k.args {
		v, err := a.eval(f, rows)
		if err != nil {
			return nil, false, err
		}
		same = same && v.Const
		vecs[i] = v
	}
	return vecs, same, nil
}

// vector calls the vector form of a strict function.
func (k *callSite) vector(f *frame, rows types.Rows) (*types.Vector, error) {
	vecs, same, err := k.evalArgs(f, rows)
	if err != nil {
		return nil, err
	}
	if same {
		rows = one()
	}
	out := f.vec(k.out, rows.N)
	fc := f.rt.fc
	fc.Call = &f.calls[k.call]
	before := len(out.Arena)
	if err := k.vec(fc, vecs, rows, out); err != nil {
		return nil, err
	}
	if err := f.note(len(out.Arena)-before, rows.Len()); err != nil {
		return nil, err
	}
	out.Const = same
	return out, nil
}

// rows calls the scalar form row by row.
func (k *callSite) rows(f *frame, rows types.Rows) (*types.Vector, error) {
	vecs, same, err := k.evalArgs(f, rows)
	if err != nil {
		return nil, err
	}
	if same = same && !k.rowwise; same {
		rows = one()
	}
	out := f.vec(k.out, rows.N)
	fc := f.rt.fc
	args := f.args[k.datums : k.datums+len(k.args)]
	n := rows.Len()
next:
	for j := range n {
		i := rows.At(j)
		for a, v := range vecs {
			args[a] = v.Datum(i)
			if k.strict && args[a].Null {
				out.Null[i] = true
				continue next
			}
		}
		fc.Call = &f.calls[k.call]
		d, err := k.fn(fc, args)
		if err != nil {
			return nil, err
		}
		out.Set(i, d)
		if err := f.note(len(d.B), n); err != nil {
			return nil, err
		}
	}
	out.Const = same
	return out, nil
}

// value calls the site for one row's arguments, for what calls functions from Go.
func (k *callSite) value(f *frame, args ...types.Datum) (types.Datum, error) {
	if k.strict {
		for i := range args {
			if args[i].Null {
				return types.NullDatum, nil
			}
		}
	}
	buf := f.args[k.datums : k.datums+len(args)]
	copy(buf, args)
	f.rt.fc.Call = &f.calls[k.call]
	return k.fn(f.rt.fc, buf)
}

// site makes a call site for use by value, over arguments of the given types.
func (c *compiler) site(f *function, collation, result types.OID, args ...types.OID) (*callSite, error) {
	if f.builtin.Func == nil {
		return nil, c.unsupportedFunction(f.proc)
	}
	return &callSite{
		call: c.spec.call(fn.Call{Func: f.proc.OID, Args: args, Result: result, Collation: collation}),
		args: make([]*expr, len(args)), datums: c.spec.args(len(args)),
		strict: f.proc.Strict, fn: f.builtin.Func,
	}, nil
}
