package fn

import (
	"strconv"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// jsonRecord turns objects into rows of known columns: json_populate_record and its kin.
type jsonRecord struct {
	c      *Context
	binary bool
	name   string
}

// columns are the columns of a row type; ok is false for types that have none.
func (c *Context) columns(typ types.OID) ([]types.Field, bool) {
	t := types.Lookup(typ, c.Env.Types)
	for t != nil && t.Kind == 'd' {
		t = types.Lookup(t.Base, c.Env.Types)
	}
	if t == nil || t.Kind != 'c' {
		return nil, false
	}
	return t.Fields, true
}

// row fills dst from an object's members. base, if not nil, has the values of columns that are missing.
func (j *jsonRecord) row(b []byte, columns []types.Field, base []types.Datum, dst []types.Datum) error {
	for i, col := range columns {
		dst[i] = types.NullDatum
		if base != nil && i < len(base) {
			dst[i] = base[i]
		}
		if col.Dropped {
			dst[i] = types.NullDatum
			continue
		}
		val := jsonMember(b, []byte(col.Name))
		if val == nil && base != nil {
			continue
		}
		d, err := j.value(val, col.Type, col.Typmod, col.Name, dst[i])
		if err != nil {
			return err
		}
		dst[i] = d
	}
	return nil
}

// value converts a value, nil for one that is missing, to a type.
func (j *jsonRecord) value(val []byte, typ types.OID, typmod int32, key string, base types.Datum) (types.Datum, error) {
	ts := j.c.Env.Types
	info := types.Lookup(typ, ts)
	if info == nil {
		return types.Datum{}, errNoState("type " + j.c.typeName(typ))
	}
	if val == nil || val[0] == 'n' {
		return types.NullDatum, nil // the constraints of a domain are the caller's
	}
	switch {
	case info.Kind == 'd' && typ != types.Json && typ != types.Jsonb:
		return j.value(val, info.Base, info.BaseTypmod, key, base)
	case typ == types.Json, typ == types.Jsonb:
		return types.In(typ, typmod, val, j.c.Env)
	case info.Kind == 'c' && val[0] != '"':
		return j.composite(val, typ, base)
	case info.IsArray() && val[0] != '"':
		return j.array(val, info.Elem, typmod, key)
	}
	text := val
	if val[0] == '"' {
		s, err := jsonString(val)
		if err != nil {
			return types.Datum{}, err
		}
		text = s
	}
	return types.In(typ, typmod, text, j.c.Env)
}

func (j *jsonRecord) composite(b []byte, typ types.OID, base types.Datum) (types.Datum, error) {
	columns, ok := j.c.columns(typ)
	if !ok {
		return types.Datum{}, errDatatypeMismatch("type %s is not composite", j.c.typeName(typ))
	}
	return j.record(b, typ, columns, base)
}

// record makes a record datum of an object; base, a record or null, gives the columns that are missing.
func (j *jsonRecord) record(b []byte, typ types.OID, columns []types.Field, base types.Datum) (types.Datum, error) {
	switch b[0] {
	case '{':
	case '[':
		return types.Datum{}, errParameter("cannot call populate_composite on an array")
	default:
		return types.Datum{}, errParameter("cannot call populate_composite on a scalar")
	}
	var old []types.Datum
	if !base.Null && base.B != nil {
		r := base.Record()
		old = r.Values()
	}
	values := make([]types.Datum, len(columns))
	if err := j.row(b, columns, old, values); err != nil {
		return types.Datum{}, err
	}
	return types.RecordDatum(typ, recordFields(columns, j.c.Env.Types), values), nil
}

func recordFields(columns []types.Field, ts types.Types) []types.RecordField {
	out := make([]types.RecordField, len(columns))
	for i, col := range columns {
		out[i] = types.RecordField{Name: col.Name, Attr: types.AttrOf(col.Type, col.Typmod, ts)}
	}
	return out
}

// array converts an array, of arrays for more dimensions.
func (j *jsonRecord) array(b []byte, elem types.OID, typmod int32, key string) (types.Datum, error) {
	var dims []types.ArrayDim
	var elems []types.Datum
	at := "" // subscripts of the element at hand
	var walk func(b []byte, level int) error
	walk = func(b []byte, level int) (err error) {
		if b[0] != '[' {
			e := pgerr.New(pgerr.InvalidTextRepresentation, "expected JSON array")
			if at == "" {
				return e.WithHint("See the value of key \"%s\".", key)
			}
			return e.WithHint("See the array element %s of key \"%s\".", at, key)
		}
		if level == len(dims) {
			dims = append(dims, types.ArrayDim{Lower: 1, Len: int32(jsonLen(b))})
		} else if dims[level].Len != int32(jsonLen(b)) {
			return pgerr.New(pgerr.InvalidTextRepresentation, "malformed JSON array").
				WithDetail("Multidimensional arrays must have sub-arrays with matching dimensions.")
		}
		outer := at
		i := 0
		jsonElements(b, func(v []byte) bool {
			at = outer + "[" + strconv.Itoa(i) + "]"
			i++
			if v[0] == '[' && len(elems) == 0 || level+1 < len(dims) {
				err = walk(v, level+1)
				return err == nil
			}
			var d types.Datum
			d, err = j.value(v, elem, typmod, key, types.NullDatum)
			elems = append(elems, d)
			return err == nil
		})
		return err
	}
	if err := walk(b, 0); err != nil {
		return types.Datum{}, err
	}
	if len(elems) == 0 {
		return types.EmptyArray(elem, j.c.Env.Types), nil
	}
	return j.c.makeArray(elem, elems, dims)
}

// errNoRow is for a record whose columns the query does not tell.
func (j *jsonRecord) errNoRow() error {
	return pgerr.New(pgerr.FeatureNotSupported, "could not determine row type for result of %s", j.name).
		WithHint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list.")
}

// target is the type and columns of the result: of the first argument if the function has one, else the call's.
func (j *jsonRecord) target(base types.Datum, populate bool) (types.OID, []types.Field, error) {
	if populate {
		typ := j.c.ArgType(0)
		if columns, ok := j.c.columns(typ); ok {
			return typ, columns, nil
		}
		if typ != types.Record {
			return 0, nil, errDatatypeMismatch("first argument of %s must be a row type", j.name)
		}
		if !base.Null {
			r := base.Record()
			columns := make([]types.Field, len(r.Fields))
			for i, f := range r.Fields {
				columns[i] = types.Field{Name: f.Name, Type: f.Attr.Type, Typmod: f.Attr.Typmod}
			}
			return r.Type, columns, nil
		}
	}
	if j.c.Call == nil || j.c.Call.Columns == nil {
		return 0, nil, j.errNoRow()
	}
	return types.Record, j.c.Call.Columns, nil
}

func jsonToRecord(binary, populate bool, name string) Func {
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		j := &jsonRecord{c: c, binary: binary, name: name}
		base, arg := types.NullDatum, a[0]
		if populate {
			base, arg = a[0], a[1]
		}
		typ, columns, err := j.target(base, populate)
		if err != nil {
			return types.Datum{}, err
		}
		if arg.Null {
			return base, nil
		}
		b, err := jsonValue(binary, arg)
		if err != nil {
			return types.Datum{}, err
		}
		return j.record(b, typ, columns, base)
	}
}

func jsonToRecordset(binary, populate bool, name string) SRF {
	return func(c *Context, a []types.Datum) (Set, error) {
		j := &jsonRecord{c: c, binary: binary, name: name}
		base, arg := types.NullDatum, a[0]
		if populate {
			base, arg = a[0], a[1]
		}
		_, columns, err := j.target(base, populate)
		if err != nil {
			return nil, err
		}
		if arg.Null {
			return &rowSet{}, nil
		}
		b, err := jsonValue(binary, arg)
		if err != nil {
			return nil, err
		}
		switch b[0] {
		case '[':
		case '{':
			return nil, errParameter("cannot call %s on an object", name)
		default:
			return nil, errParameter("cannot call %s on a scalar", name)
		}
		var old []types.Datum
		if !base.Null {
			r := base.Record()
			old = r.Values()
		}
		set := &rowSet{}
		jsonElements(b, func(v []byte) bool {
			if v[0] != '{' {
				err = errParameter("argument of %s must be an array of objects", name)
				return false
			}
			row := make([]types.Datum, len(columns))
			err = j.row(v, columns, old, row)
			set.rows = append(set.rows, row)
			return err == nil
		})
		return set, err
	}
}

func registerJSONRecord(r *registry) {
	for _, binary := range []bool{false, true} {
		for _, f := range []struct {
			name     string
			populate bool
		}{{"to_record", false}, {"populate_record", true}} {
			name := jsonName(binary, f.name)
			r.fn(name, jsonToRecord(binary, f.populate, name))
			r.set(name+"set", jsonToRecordset(binary, f.populate, name+"set"))
		}
	}
}
