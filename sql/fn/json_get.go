package fn

import (
	"bytes"

	"github.com/minipg/minipg/types"
)

// prefix names a function of json or jsonb.
func jsonName(binary bool, name string) string {
	if binary {
		return "jsonb_" + name
	}
	return "json_" + name
}

// scalarError is err, but for a string whose escapes are wrong the error about them.
func scalarError(b []byte, err error) error {
	if wrong := jsonEscapes(b); wrong != nil {
		return wrong
	}
	return err
}

// jsonValue trims a json and checks its escapes; a jsonb needs neither.
func jsonValue(binary bool, d types.Datum) ([]byte, error) {
	if binary {
		return d.B, nil
	}
	return jsonTrim(d.B), jsonEscapes(d.B)
}

func jsonResult(asText bool, val []byte) (types.Datum, error) {
	switch {
	case val == nil:
		return types.NullDatum, nil
	case asText:
		return jsonAsText(val)
	}
	return types.Datum{B: val}, nil
}

// jsonMember is the value of a key, of the last if it is there more than once; nil if there is none.
func jsonMember(b, key []byte) (val []byte) {
	if b[0] != '{' {
		return nil
	}
	jsonMembers(b, func(k, v []byte) bool {
		if jsonKeyIs(k, key) {
			val = v
		}
		return true
	})
	return val
}

// jsonElement is element i, from the end if i is negative.
func jsonElement(b []byte, i int) (val []byte) {
	if b[0] != '[' {
		return nil
	}
	if i < 0 {
		if i += jsonLen(b); i < 0 {
			return nil
		}
	}
	jsonElements(b, func(v []byte) bool {
		if i == 0 {
			val = v
			return false
		}
		i--
		return true
	})
	return val
}

func jsonField(binary, asText bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := jsonValue(binary, a[0])
		if err != nil {
			return types.Datum{}, err
		}
		return jsonResult(asText, jsonMember(b, a[1].B))
	}
}

func jsonItem(binary, asText bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := jsonValue(binary, a[0])
		if err != nil {
			return types.Datum{}, err
		}
		i := int(int32(a[1].Int64()))
		if binary && isJSONScalar(b) && (i == 0 || i == -1) {
			return jsonResult(asText, b) // in jsonb a scalar is an array of one
		}
		return jsonResult(asText, jsonElement(b, i))
	}
}

// pathIndex reads an array index of a path as strtol does.
func pathIndex(s []byte) (int, bool) {
	v, n, overflow := cInt(string(s))
	if n == 0 || n != len(s) || overflow || v != int64(int32(v)) {
		return 0, false
	}
	return int(v), true
}

// jsonPath follows a path. Where an object has a key twice, the last value that has the rest of the path counts.
func jsonPath(b []byte, path []types.Datum) (val []byte) {
	if len(path) == 0 {
		return b
	}
	switch b[0] {
	case '{':
		jsonMembers(b, func(k, v []byte) bool {
			if jsonKeyIs(k, path[0].B) {
				if found := jsonPath(v, path[1:]); found != nil {
					val = found
				}
			}
			return true
		})
	case '[':
		i, ok := pathIndex(path[0].B)
		if !ok {
			return nil
		}
		if v := jsonElement(b, i); v != nil {
			val = jsonPath(v, path[1:])
		}
	}
	return val
}

func jsonExtract(binary, asText bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		path := a[1].Array()
		if path.HasNulls() {
			return types.NullDatum, nil
		}
		b, err := jsonValue(binary, a[0])
		if err != nil {
			return types.Datum{}, err
		}
		return jsonResult(asText, jsonPath(b, path.Elems(nil)))
	}
}

func jsonTypeof(binary bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Datum{B: []byte(jsonKindName(a[0].B[jsonStart(a[0].B, 0)]))}, nil
	}
}

// jsonKindName is the type of the value that begins with c.
func jsonKindName(c byte) string {
	switch c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func jsonArrayLength(_ *Context, a []types.Datum) (types.Datum, error) {
	b := jsonTrim(a[0].B)
	switch b[0] {
	case '[':
		return types.Int64Datum(int64(jsonLen(b))), nil
	case '{':
		return types.Datum{}, errParameter("cannot get array length of a non-array")
	}
	return types.Datum{}, errParameter("cannot get array length of a scalar")
}

// jsonEach is json_each: keys and values.
func jsonEach(binary, asText bool) SRF {
	return func(_ *Context, a []types.Datum) (Set, error) {
		if b := jsonTrim(a[0].B); b[0] != '{' {
			switch {
			case binary:
				return nil, errParameter("cannot call %s on a non-object", jsonName(true, "each"+textSuffix(asText)))
			case b[0] == '[':
				return nil, errParameter("cannot deconstruct an array as an object")
			}
			return nil, scalarError(b, errParameter("cannot deconstruct a scalar"))
		}
		b, err := jsonValue(binary, a[0])
		if err != nil {
			return nil, err
		}
		set := &rowSet{}
		jsonMembers(b, func(k, v []byte) bool {
			var key []byte
			var val types.Datum
			if key, err = jsonString(k); err == nil {
				val, err = jsonResult(asText, v)
			}
			set.rows = append(set.rows, []types.Datum{{B: key}, val})
			return err == nil
		})
		return set, err
	}
}

func textSuffix(asText bool) string {
	if asText {
		return "_text"
	}
	return ""
}

func jsonItems(binary, asText bool) SRF {
	name := jsonName(binary, "array_elements"+textSuffix(asText))
	return func(_ *Context, a []types.Datum) (Set, error) {
		b := jsonTrim(a[0].B)
		switch {
		case b[0] == '[':
		case b[0] == '{' && binary:
			return nil, errParameter("cannot extract elements from an object")
		case b[0] == '{':
			return nil, errParameter("cannot call %s on a non-array", name)
		case binary:
			return nil, errParameter("cannot extract elements from a scalar")
		case asText:
			return nil, scalarError(b, errParameter("cannot call %s on a scalar", name))
		default:
			return nil, errParameter("cannot call %s on a scalar", name)
		}
		if asText && !binary {
			if err := jsonEscapes(b); err != nil {
				return nil, err
			}
		}
		set := &rowSet{}
		var err error
		jsonElements(b, func(v []byte) bool {
			var val types.Datum
			val, err = jsonResult(asText, v)
			set.rows = append(set.rows, []types.Datum{val})
			return err == nil
		})
		return set, err
	}
}

func jsonKeys(binary bool) SRF {
	name := jsonName(binary, "object_keys")
	return func(_ *Context, a []types.Datum) (Set, error) {
		switch a[0].B[jsonStart(a[0].B, 0)] {
		case '{':
		case '[':
			return nil, errParameter("cannot call %s on an array", name)
		default:
			return nil, scalarError(a[0].B, errParameter("cannot call %s on a scalar", name))
		}
		b, err := jsonValue(binary, a[0])
		if err != nil {
			return nil, err
		}
		set := &rowSet{}
		jsonMembers(b, func(k, _ []byte) bool {
			var key []byte
			key, err = jsonString(k)
			set.rows = append(set.rows, []types.Datum{{B: key}})
			return err == nil
		})
		return set, err
	}
}

// jsonStripNulls drops the members of objects that are null. It writes json without the space, jsonb as jsonb is.
func jsonStripNulls(binary bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := jsonValue(binary, a[0])
		if err != nil {
			return types.Datum{}, err
		}
		if binary {
			return types.Datum{B: stripNulls(nil, b, ": ", ", ")}, nil
		}
		return types.Datum{B: stripNulls(nil, b, ":", ",")}, nil
	}
}

func stripNulls(dst, b []byte, colon, comma string) []byte {
	switch b[0] {
	case '{':
		dst = append(dst, '{')
		start := len(dst)
		jsonMembers(b, func(k, v []byte) bool {
			if v[0] == 'n' {
				return true
			}
			if len(dst) > start {
				dst = append(dst, comma...)
			}
			dst = append(appendNormalString(dst, k), colon...)
			dst = stripNulls(dst, v, colon, comma)
			return true
		})
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		start := len(dst)
		jsonElements(b, func(v []byte) bool {
			if len(dst) > start {
				dst = append(dst, comma...)
			}
			dst = stripNulls(dst, v, colon, comma)
			return true
		})
		return append(dst, ']')
	case '"':
		return appendNormalString(dst, b)
	}
	return append(dst, b...)
}

// appendNormalString writes a quoted string with its escapes as PostgreSQL writes them.
func appendNormalString(dst, quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(dst, quoted...)
	}
	s, err := jsonString(quoted)
	if err != nil {
		return append(dst, quoted...) // its escapes were checked
	}
	return types.AppendJSONString(dst, s)
}

// jsonbPretty indents a jsonb by four blanks a level.
func jsonbPretty(_ *Context, a []types.Datum) (types.Datum, error) {
	return types.Datum{B: appendPretty(make([]byte, 0, 2*len(a[0].B)), a[0].B, 0)}, nil
}

func appendPretty(dst, b []byte, level int) []byte {
	line := func(level int) {
		dst = append(dst, '\n')
		for range level * 4 {
			dst = append(dst, ' ')
		}
	}
	first := true
	next := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		line(level + 1)
	}
	switch b[0] {
	case '{':
		dst = append(dst, '{')
		jsonMembers(b, func(k, v []byte) bool {
			next()
			dst = append(append(dst, k...), ": "...)
			dst = appendPretty(dst, v, level+1)
			return true
		})
	case '[':
		dst = append(dst, '[')
		jsonElements(b, func(v []byte) bool {
			next()
			dst = appendPretty(dst, v, level+1)
			return true
		})
	default:
		return append(dst, b...)
	}
	line(level)
	return append(dst, b[len(b)-1])
}

// jsonbNumber is the numeric of a jsonb number.
func jsonbNumber(d types.Datum, typ string) (types.Num, error) {
	kind := jsonKindName(d.B[0])
	if kind == "number" {
		return types.ParseNum(d.B)
	}
	return types.Num{}, errJSONCast(kind, typ)
}

func errJSONCast(kind, typ string) error {
	if kind == "number" {
		kind = "numeric"
	}
	return errParameter("cannot cast jsonb %s to type %s", kind, typ)
}

func registerJSONGet(r *registry) {
	for _, binary := range []bool{false, true} {
		name := func(s string) string { return jsonName(binary, s) }
		for _, asText := range []bool{false, true} {
			suffix := textSuffix(asText)
			r.fn(name("object_field"+suffix), jsonField(binary, asText))
			r.fn(name("array_element"+suffix), jsonItem(binary, asText))
			r.fn(name("extract_path"+suffix), jsonExtract(binary, asText))
			r.set(name("each"+suffix), jsonEach(binary, asText))
			r.set(name("array_elements"+suffix), jsonItems(binary, asText))
		}
		r.fn(name("typeof"), jsonTypeof(binary))
		r.fn(name("array_length"), jsonArrayLength)
		r.set(name("object_keys"), jsonKeys(binary))
		r.fn(name("strip_nulls"), jsonStripNulls(binary))
		r.fn(name("build_array"), jsonBuildArray(binary))
		r.fn(name("build_object"), jsonBuildObject(binary))
		r.fn(name("object"), jsonObjectOf(binary))
		r.fn(name("object_two_arg"), jsonObjectTwo(binary))
		constant := func(s string) Func {
			return func(*Context, []types.Datum) (types.Datum, error) { return types.Datum{B: []byte(s)}, nil }
		}
		r.fn(name("build_array_noargs"), constant("[]"))
		r.fn(name("build_object_noargs"), constant("{}"))
	}
	r.fn("to_json", jsonOf(false, false))
	r.fn("to_jsonb", jsonOf(true, false))
	r.fn("row_to_json", jsonOf(false, false))
	r.fn("row_to_json_pretty", jsonOf(false, true))
	r.fn("array_to_json", jsonOf(false, false))
	r.fn("array_to_json_pretty", jsonOf(false, true))
	r.fn("jsonb_pretty", jsonbPretty)

	r.fn("jsonb_bool", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if kind := jsonKindName(a[0].B[0]); kind != "boolean" {
			return types.Datum{}, errJSONCast(kind, "boolean")
		}
		return types.BoolDatum(a[0].B[0] == 't'), nil
	})
	cast := func(name, typ string, f Func) {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			n, err := jsonbNumber(a[0], typ)
			if err != nil {
				return types.Datum{}, err
			}
			return f(c, []types.Datum{types.NumDatum(n)})
		})
	}
	cast("jsonb_numeric", "numeric", func(_ *Context, a []types.Datum) (types.Datum, error) { return a[0], nil })
	cast("jsonb_int2", "smallint", r.entry("numeric_int2").Func)
	cast("jsonb_int4", "integer", r.entry("numeric_int4").Func)
	cast("jsonb_int8", "bigint", r.entry("numeric_int8").Func)
	cast("jsonb_float4", "real", r.entry("numeric_float4").Func)
	cast("jsonb_float8", "double precision", r.entry("numeric_float8").Func)
}
