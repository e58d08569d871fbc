package exec

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

// setCall is a call of a set-returning function.
type setCall struct {
	srf    fn.SRF
	call   int
	strict bool
	args   []*expr
	datums int
	slot   int // of frame.any: the running set
	// fields are the columns of a function that returns rows, nil if it returns single values.
	fields []types.RecordField
	typ    types.OID
}

// setCall compiles a call; columns are those that the query defines for its result, if it does.
func (c *compiler) setCall(e *analyze.FuncExpr, columns []types.Field) (*setCall, error) {
	f, err := c.function(e.Func)
	if err != nil {
		return nil, err
	}
	if f.builtin.Set == nil {
		return nil, c.unsupportedFunction(f.proc)
	}
	args, err := c.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	if f.volatile() {
		c.scope.volatile = true
	}
	info := c.callInfo(f, args, e.Typ, e.InputColl, e.Variadic)
	if columns != nil {
		info.Columns = columns
	}
	return &setCall{
		srf: f.builtin.Set, strict: f.proc.Strict, args: args, typ: e.Typ,
		call:   c.spec.call(info),
		datums: c.spec.args(len(args)), slot: c.spec.any(), fields: c.outFields(f.proc, info.Args),
	}, nil
}

// outFields are the columns that a function's OUT parameters make when it is called with arguments of these types,
// nil unless it returns rows.
func (c *compiler) outFields(p *catalog.Proc, args []types.OID) []types.RecordField {
	if p.RetType != types.Record {
		return nil
	}
	var fields []types.RecordField
	for i, t := range p.AllArgs {
		if i >= len(p.ArgModes) || p.ArgModes[i] != 'o' && p.ArgModes[i] != 'b' && p.ArgModes[i] != 't' {
			continue
		}
		f := types.RecordField{Attr: types.AttrOf(c.polymorphic(p, t, args), -1, c.types())}
		if i < len(p.ArgNames) {
			f.Name = p.ArgNames[i]
		}
		fields = append(fields, f)
	}
	return fields
}

// polymorphic is what an OUT parameter of a polymorphic type is: the arguments tell.
func (c *compiler) polymorphic(p *catalog.Proc, out types.OID, args []types.OID) types.OID {
	if out != types.AnyElement && out != types.AnyArray {
		return out
	}
	for i, declared := range p.Args {
		switch {
		case i >= len(args):
		case declared == out:
			return args[i]
		case out == types.AnyElement && declared == types.AnyArray:
			if t := types.Lookup(args[i], c.types()); t != nil {
				return t.Elem
			}
		case out == types.AnyArray && declared == types.AnyElement:
			if t := types.Lookup(args[i], c.types()); t != nil {
				return t.Array
			}
		}
	}
	return out
}

// start calls the function for row i of the frame's inputs. A nil set is empty.
func (s *setCall) start(f *frame, rows types.Rows) (fn.Set, error) {
	i := rows.At(0)
	args := f.args[s.datums : s.datums+len(s.args)]
	for k, a := range s.args {
		v, err := a.eval(f, rows)
		if err != nil {
			return nil, err
		}
		args[k] = v.Datum(i)
		if s.strict && args[k].Null {
			return nil, nil
		}
	}
	// The set may keep its arguments beyond the batch they came from.
	for k := range args {
		args[k] = args[k].Clone()
	}
	f.rt.fc.Call = &f.calls[s.call]
	return s.srf(f.rt.fc, args)
}

func (s *setCall) next(f *frame, set fn.Set, row []types.Datum) (bool, error) {
	f.rt.fc.Call = &f.calls[s.call]
	return set.Next(f.rt.fc, row)
}
