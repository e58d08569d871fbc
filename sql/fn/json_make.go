package fn

import (
	"bytes"
	"strconv"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// jsonClass is how values of a type become JSON.
type jsonClass uint8

const (
	jsonOther jsonClass = iota // the text, quoted
	jsonBool
	jsonNumber
	jsonDate
	jsonTimestamp
	jsonTimestamptz
	jsonJSON
	jsonArray
	jsonComposite
)

func jsonClassOf(typ types.OID, ts types.Types) (jsonClass, types.OID) {
	t := types.Lookup(typ, ts)
	for t != nil && t.Kind == 'd' {
		typ = t.Base
		t = types.Lookup(typ, ts)
	}
	switch typ {
	case types.Bool:
		return jsonBool, typ
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric:
		return jsonNumber, typ
	case types.Date:
		return jsonDate, typ
	case types.Timestamp:
		return jsonTimestamp, typ
	case types.Timestamptz:
		return jsonTimestamptz, typ
	case types.Json, types.Jsonb:
		return jsonJSON, typ
	case types.Record:
		return jsonComposite, typ
	case types.Int2vector, types.Oidvector:
		return jsonArray, typ
	}
	switch {
	case t != nil && t.IsArray():
		return jsonArray, typ
	case t != nil && t.Kind == 'c':
		return jsonComposite, typ
	}
	return jsonOther, typ
}

// jsonWriter makes JSON of values.
type jsonWriter struct {
	c   *Context
	iso types.Env // the session's settings but for the style of dates
}

func newJSONWriter(c *Context) *jsonWriter {
	w := &jsonWriter{c: c, iso: *c.Env}
	w.iso.DateStyle = types.DateISO
	return w
}

// valid tells whether a number's text is one in JSON too: NaN and the infinities are not.
func validJSONNumber(s []byte) bool {
	last := s[len(s)-1]
	return isDigit(last)
}

// append writes a value. pretty puts the members of a composite or the elements of an array on lines of their own.
func (w *jsonWriter) append(dst []byte, typ types.OID, d types.Datum, pretty bool) []byte {
	if d.Null {
		return append(dst, "null"...)
	}
	class, base := jsonClassOf(typ, w.c.Env.Types)
	switch class {
	case jsonBool:
		return strconv.AppendBool(dst, d.Bool())
	case jsonNumber:
		start := len(dst)
		dst = types.Out(base, d, dst, w.c.Env)
		if validJSONNumber(dst[start:]) {
			return dst
		}
		text := string(dst[start:])
		return types.AppendJSONString(dst[:start], []byte(text))
	case jsonDate, jsonTimestamp, jsonTimestamptz:
		return append(w.appendTime(append(dst, '"'), class, base, d), '"')
	case jsonJSON:
		return append(dst, d.B...)
	case jsonArray:
		return w.array(dst, d, pretty)
	case jsonComposite:
		return w.record(dst, d, pretty)
	}
	return types.AppendJSONString(dst, types.Out(typ, d, nil, w.c.Env))
}

// appendTime writes a date or time in the form of XML Schema, with the minutes of the zone always.
func (w *jsonWriter) appendTime(dst []byte, class jsonClass, typ types.OID, d types.Datum) []byte {
	start := len(dst)
	dst = types.Out(typ, d, dst, &w.iso)
	i := bytes.IndexByte(dst[start:], ' ')
	if class == jsonDate || i < 0 {
		return dst
	}
	dst[start+i] = 'T'
	if class == jsonTimestamp {
		return dst
	}
	zone := start + i + bytes.IndexAny(dst[start+i:], "+-")
	if rest := dst[zone:]; len(rest) == 3 || rest[3] == ' ' {
		era := string(rest[3:])
		dst = append(append(dst[:zone+3], ":00"...), era...)
	}
	return dst
}

func (w *jsonWriter) array(dst []byte, d types.Datum, pretty bool) []byte {
	a := d.Array()
	if len(a.Dims) == 0 {
		return append(dst, "[]"...)
	}
	it := a.Iter()
	return w.dimension(dst, &a, &it, 0, pretty)
}

func (w *jsonWriter) dimension(dst []byte, a *types.Array, it *types.ArrayIter, dim int, pretty bool) []byte {
	dst = append(dst, '[')
	for i := range a.Dims[dim].Len {
		if i > 0 {
			dst = append(dst, ',')
			if pretty {
				dst = append(dst, "\n "...)
			}
		}
		if dim+1 < len(a.Dims) {
			dst = w.dimension(dst, a, it, dim+1, false)
			continue
		}
		d, _ := it.Next()
		dst = w.append(dst, a.Elem, d, false)
	}
	return append(dst, ']')
}

func (w *jsonWriter) record(dst []byte, d types.Datum, pretty bool) []byte {
	r := d.Record()
	dst = append(dst, '{')
	for i, v := range r.Values() {
		if i > 0 {
			dst = append(dst, ',')
			if pretty {
				dst = append(dst, "\n "...)
			}
		}
		name := r.Fields[i].Name
		if name == "" {
			name = "f" + strconv.Itoa(i+1)
		}
		dst = append(types.AppendJSONString(dst, []byte(name)), ':')
		dst = w.append(dst, r.Fields[i].Attr.Type, v, false)
	}
	return append(dst, '}')
}

// key writes an object's key.
func (w *jsonWriter) key(dst []byte, typ types.OID, d types.Datum) ([]byte, error) {
	class, base := jsonClassOf(typ, w.c.Env.Types)
	switch class {
	case jsonArray, jsonComposite, jsonJSON:
		return nil, errParameter("key value must be scalar, not array, composite, or json")
	case jsonBool:
		return append(strconv.AppendBool(append(dst, '"'), d.Bool()), '"'), nil
	case jsonDate, jsonTimestamp, jsonTimestamptz:
		return append(w.appendTime(append(dst, '"'), class, base, d), '"'), nil
	}
	return types.AppendJSONString(dst, types.Out(typ, d, nil, w.c.Env)), nil
}

// asJSONB makes text that was built here a jsonb; as json it is fine already.
func asJSONB(binary bool, text []byte) (types.Datum, error) {
	if !binary {
		return types.Datum{B: text}, nil
	}
	v, err := types.ParseJSON(text)
	if err != nil {
		return types.Datum{}, err
	}
	return types.JSONBDatum(&v), nil
}

// jsonOf is to_json and its kin.
func jsonOf(binary, mayBePretty bool) Func {
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		pretty := mayBePretty && a[1].Bool()
		return asJSONB(binary, newJSONWriter(c).append(nil, c.ArgType(0), a[0], pretty))
	}
}

func jsonBuildArray(binary bool) Func {
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		args, typ, null := c.variadicArgs(a, 0)
		if null {
			return types.NullDatum, nil
		}
		w := newJSONWriter(c)
		out := []byte{'['}
		for i, d := range args {
			if i > 0 {
				out = append(out, ", "...)
			}
			start := len(out)
			if err := checkGrow(start, textSize(typ(i), d)); err != nil {
				return types.Datum{}, err
			}
			out = w.append(out, typ(i), d, false)
			if err := checkOut(out, start); err != nil {
				return types.Datum{}, err
			}
		}
		return asJSONB(binary, append(out, ']'))
	}
}

func jsonBuildObject(binary bool) Func {
	name := "json_build_object()"
	if binary {
		name = "jsonb_build_object()"
	}
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		args, typ, null := c.variadicArgs(a, 0)
		if null {
			return types.NullDatum, nil
		}
		if len(args)%2 != 0 {
			return types.Datum{}, pgerr.New(pgerr.InvalidParameterValue, "argument list must have even number of elements").
				WithHint("The arguments of %s must consist of alternating keys and values.", name)
		}
		w := newJSONWriter(c)
		out := []byte{'{'}
		for i := 0; i < len(args); i += 2 {
			switch {
			case args[i].Null && binary:
				return types.Datum{}, errParameter("argument %d: key must not be null", i+1)
			case args[i].Null:
				return types.Datum{}, pgerr.New(pgerr.InvalidParameterValue, "argument %d cannot be null", i+1).
					WithHint("Object keys should be text.")
			}
			if i > 0 {
				out = append(out, ", "...)
			}
			start := len(out)
			err := checkGrow(start, textSize(typ(i), args[i])+textSize(typ(i+1), args[i+1]))
			if err != nil {
				return types.Datum{}, err
			}
			if out, err = w.key(out, typ(i), args[i]); err != nil {
				return types.Datum{}, err
			}
			out = append(out, " : "...)
			out = w.append(out, typ(i+1), args[i+1], false)
			if err := checkOut(out, start); err != nil {
				return types.Datum{}, err
			}
		}
		return asJSONB(binary, append(out, '}'))
	}
}

// jsonObjectOf is json_object of a text[] of pairs.
func jsonObjectOf(binary bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		arr := a[0].Array()
		switch len(arr.Dims) {
		case 0:
			return types.Datum{B: []byte("{}")}, nil
		case 1:
			if arr.Dims[0].Len%2 != 0 {
				return types.Datum{}, errSubscript("array must have even number of elements")
			}
		case 2:
			if arr.Dims[1].Len != 2 {
				return types.Datum{}, errSubscript("array must have two columns")
			}
		default:
			return types.Datum{}, errSubscript("wrong number of array subscripts")
		}
		elems := arr.Elems(nil)
		var keys, vals []types.Datum
		for i := 0; i < len(elems); i += 2 {
			keys = append(keys, elems[i])
			vals = append(vals, elems[i+1])
		}
		return jsonPairs(binary, keys, vals)
	}
}

func jsonObjectTwo(binary bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		keys, vals := a[0].Array(), a[1].Array()
		if len(keys.Dims) > 1 || len(keys.Dims) != len(vals.Dims) {
			return types.Datum{}, errSubscript("wrong number of array subscripts")
		}
		k, v := keys.Elems(nil), vals.Elems(nil)
		if len(k) != len(v) {
			return types.Datum{}, errSubscript("mismatched array dimensions")
		}
		return jsonPairs(binary, k, v)
	}
}

func jsonPairs(binary bool, keys, vals []types.Datum) (types.Datum, error) {
	out := []byte{'{'}
	for i := range keys {
		if keys[i].Null {
			return types.Datum{}, pgerr.New(pgerr.NullValueNotAllowed, "null value not allowed for object key")
		}
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(types.AppendJSONString(out, keys[i].B), " : "...)
		if vals[i].Null {
			out = append(out, "null"...)
		} else {
			out = types.AppendJSONString(out, vals[i].B)
		}
	}
	return asJSONB(binary, append(out, '}'))
}
