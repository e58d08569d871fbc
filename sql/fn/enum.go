package fn

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func (c *Context) enumInfo(i int) (*types.TypeInfo, error) {
	t := types.Lookup(c.ArgType(i), c.Env.Types)
	if t == nil || len(t.Labels) == 0 {
		return nil, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "enum %s contains no values", c.typeName(c.ArgType(i)))
	}
	return t, nil
}

func registerEnum(r *registry) {
	r.fn("enum_first", func(c *Context, _ []types.Datum) (types.Datum, error) {
		t, err := c.enumInfo(0)
		if err != nil {
			return types.Datum{}, err
		}
		return types.OIDDatum(t.Labels[0].OID), nil
	})
	r.fn("enum_last", func(c *Context, _ []types.Datum) (types.Datum, error) {
		t, err := c.enumInfo(0)
		if err != nil {
			return types.Datum{}, err
		}
		return types.OIDDatum(t.Labels[len(t.Labels)-1].OID), nil
	})
	enumRange := func(c *Context, lo, hi types.Datum) (types.Datum, error) {
		t, err := c.enumInfo(0)
		if err != nil {
			return types.Datum{}, err
		}
		var elems []types.Datum
		in := lo.Null
		for _, l := range t.Labels {
			if !lo.Null && l.OID == lo.OID() {
				in = true
			}
			if in {
				elems = append(elems, types.OIDDatum(l.OID))
			}
			if !hi.Null && l.OID == hi.OID() {
				break
			}
		}
		return c.makeArray(c.ArgType(0), elems, []types.ArrayDim{{Len: int32(len(elems)), Lower: 1}})
	}
	r.fn("enum_range_all", func(c *Context, _ []types.Datum) (types.Datum, error) {
		return enumRange(c, types.NullDatum, types.NullDatum)
	})
	r.fn("enum_range_bounds", func(c *Context, a []types.Datum) (types.Datum, error) { return enumRange(c, a[0], a[1]) })
}
