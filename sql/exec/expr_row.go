package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

func (c *compiler) rowFields(args []*expr, names []string) []types.RecordField {
	fields := make([]types.RecordField, len(args))
	for i, a := range args {
		fields[i].Attr = types.AttrOf(a.typ, a.mod, c.types())
		if i < len(names) {
			fields[i].Name = names[i]
		}
	}
	return fields
}

// rowExpr is ROW(...).
func (c *compiler) rowExpr(e *analyze.RowExpr) (*expr, error) {
	args, err := c.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	fields := c.rowFields(args, e.Names)
	typ := e.Typ
	return c.perRow(c.newExpr(e), args, func(vals []types.Datum) (types.Datum, error) {
		return types.RecordDatum(typ, fields, vals), nil
	}), nil
}

// wholeRow is a whole row of a scan, null where the row is null-extended.
func (c *compiler) wholeRow(e *plan.WholeRow) (*expr, error) {
	args, err := c.exprs(e.Cols)
	if err != nil {
		return nil, err
	}
	var names []string
	if t := types.Lookup(e.Typ, c.types()); t != nil {
		for _, f := range t.Fields {
			if !f.Dropped {
				names = append(names, f.Name)
			}
		}
	}
	if names == nil {
		names = sourceNames(e.Cols)
	}
	fields, n, typ := c.rowFields(args, names), len(args), e.Typ
	hasNull := e.NullIf != nil
	if hasNull {
		x, err := c.expr(e.NullIf)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	return c.perRow(c.newExpr(e), args, func(vals []types.Datum) (types.Datum, error) {
		if hasNull && vals[n].Null {
			return types.NullDatum, nil
		}
		return types.RecordDatum(typ, fields, vals[:n]), nil
	}), nil
}

// sourceNames are the names of columns that only their plan knows; "" where it does not.
func sourceNames(cols []analyze.Expr) []string {
	return make([]string, len(cols))
}

// fieldSelect takes a field of a composite value.
func (c *compiler) fieldSelect(e *analyze.FieldSelect) (*expr, error) {
	arg, err := c.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	at, name := e.Attno-1, e.Name
	return c.perRow(c.newExpr(e), []*expr{arg}, func(vals []types.Datum) (types.Datum, error) {
		if vals[0].Null {
			return types.NullDatum, nil
		}
		r := vals[0].Record()
		if at < 0 || at >= len(r.Fields) {
			return types.NullDatum, pgerr.New(pgerr.UndefinedColumn, "could not identify column \"%s\" in record data type", name)
		}
		return r.Values()[at], nil
	}), nil
}

// rowNullTest is IS [NOT] NULL of a composite value: all its fields are, or none is.
func (c *compiler) rowNullTest(x, arg *expr, isNot bool) *expr {
	return c.perRow(x, []*expr{arg}, func(vals []types.Datum) (types.Datum, error) {
		if vals[0].Null {
			return types.BoolDatum(!isNot), nil
		}
		r := vals[0].Record()
		for _, v := range r.Values() {
			if v.Null == isNot {
				return types.BoolDatum(false), nil
			}
		}
		return types.BoolDatum(true), nil
	})
}

// rowCompare is (a, b) < (c, d): the first columns that differ decide.
func (c *compiler) rowCompare(e *analyze.RowCompareExpr) (*expr, error) {
	left, err := c.exprs(e.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.exprs(e.Right)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	c.merge(x, left...)
	c.merge(x, right...)
	compare := make([]func(a, b types.Datum) int, len(left))
	for i := range left {
		if compare[i], err = c.crossComparer(left[i], right[i]); err != nil {
			return nil, err
		}
	}
	accepts, ok := map[string]uint8{
		"<": isLess, "<=": isLess | isEqual, ">": isGreater, ">=": isGreater | isEqual,
	}[e.Kind]
	if !ok {
		return nil, pgerr.New(pgerr.InternalError, "row comparison %s", e.Kind)
	}
	n := len(left)
	return c.perRow(x, append(left, right...), func(vals []types.Datum) (types.Datum, error) {
		for i := range n {
			a, b := vals[i], vals[n+i]
			if a.Null || b.Null {
				return types.NullDatum, nil
			}
			if r := compare[i](a, b); r < 0 {
				return types.BoolDatum(accepts&isLess != 0), nil
			} else if r > 0 {
				return types.BoolDatum(accepts&isGreater != 0), nil
			}
		}
		return types.BoolDatum(accepts&isEqual != 0), nil
	}), nil
}

// crossComparer compares values of two types of one family.
func (c *compiler) crossComparer(a, b *expr) (func(x, y types.Datum) int, error) {
	switch {
	case a.typ == b.typ:
		return types.Comparer(a.typ, a.coll, c.types()), nil
	case keyFamily(a.typ) == keyFamily(b.typ):
		return types.Comparer(keyFamily(a.typ), a.coll, c.types()), nil
	case (a.typ == types.Float4 || a.typ == types.Float8) && (b.typ == types.Float4 || b.typ == types.Float8):
		return types.Comparer(types.Float8, 0, nil), nil
	}
	return nil, pgerr.New(pgerr.FeatureNotSupported, "row comparison of %s and %s is not supported",
		c.typeName(a.typ, -1), c.typeName(b.typ, -1))
}
