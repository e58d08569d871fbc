package fn

import (
	"bytes"
	"slices"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// jsonbConcat is ||: objects are merged, anything else is joined as arrays.
func jsonbConcat(_ *Context, a []types.Datum) (types.Datum, error) {
	x, y := a[0].B, a[1].B
	if x[0] == '{' && y[0] == '{' {
		switch {
		case len(x) == 2:
			return a[1], nil
		case len(y) == 2:
			return a[0], nil
		}
		v, w := a[0].JSONB(), a[1].JSONB()
		v.Keys = append(v.Keys, w.Keys...)
		v.Vals = append(v.Vals, w.Vals...)
		return types.JSONBDatum(&v), nil
	}
	out := make([]byte, 0, len(x)+len(y)+4)
	out = append(out, '[')
	for _, b := range [][]byte{x, y} {
		if b[0] == '[' {
			b = b[1 : len(b)-1]
		}
		if len(b) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		out = append(out, b...)
	}
	return types.Datum{B: append(out, ']')}, nil
}

func isJSONScalar(b []byte) bool { return b[0] != '{' && b[0] != '[' }

// filterJSON writes b, an object or an array, without the members or elements that keep refuses.
func filterJSON(b []byte, keep func(i int, key, val []byte) bool) types.Datum {
	out := append(make([]byte, 0, len(b)), b[0])
	i := 0
	next := func() {
		if len(out) > 1 {
			out = append(out, ", "...)
		}
	}
	if b[0] == '{' {
		jsonMembers(b, func(k, v []byte) bool {
			if keep(i, k, v) {
				next()
				out = append(append(append(out, k...), ": "...), v...)
			}
			i++
			return true
		})
	} else {
		jsonElements(b, func(v []byte) bool {
			if keep(i, nil, v) {
				next()
				out = append(out, v...)
			}
			i++
			return true
		})
	}
	return types.Datum{B: append(out, b[len(b)-1])}
}

// jsonbDelete drops keys of an object, or strings of an array.
func jsonbDelete(b []byte, keys []types.Datum) (types.Datum, error) {
	if isJSONScalar(b) {
		return types.Datum{}, errParameter("cannot delete from scalar")
	}
	return filterJSON(b, func(_ int, key, val []byte) bool {
		if key == nil {
			if val[0] != '"' {
				return true
			}
			key = val
		}
		return !slices.ContainsFunc(keys, func(k types.Datum) bool { return !k.Null && jsonKeyIs(key, k.B) })
	}), nil
}

func jsonbDeleteIndex(_ *Context, a []types.Datum) (types.Datum, error) {
	b := a[0].B
	switch {
	case isJSONScalar(b):
		return types.Datum{}, errParameter("cannot delete from scalar")
	case b[0] == '{':
		return types.Datum{}, errParameter("cannot delete from object using integer index")
	}
	at := int(int32(a[1].Int64()))
	if at < 0 {
		at += jsonLen(b)
	}
	return filterJSON(b, func(i int, _, _ []byte) bool { return i != at }), nil
}

// jsonbHas tells whether a key of the object, a string of the array or the string itself is key.
func jsonbHas(b, key []byte) (has bool) {
	switch b[0] {
	case '{':
		return jsonMember(b, key) != nil
	case '[':
		jsonElements(b, func(v []byte) bool {
			has = v[0] == '"' && jsonKeyIs(v, key)
			return !has
		})
		return has
	}
	return b[0] == '"' && jsonKeyIs(b, key)
}

// jsonbContains is @>. top: an array contains a scalar as if it were an element, only there.
func jsonbContains(x, y *types.JSONValue, top bool) bool {
	switch {
	case x.Kind == types.JSONObject && y.Kind == types.JSONObject:
		for i := range y.Vals {
			v := x.Get(y.Keys[i])
			if v == nil || !jsonbContains(v, &y.Vals[i], false) {
				return false
			}
		}
		return true
	case x.Kind == types.JSONArray && y.Kind == types.JSONArray:
		for i := range y.Vals {
			if !slices.ContainsFunc(x.Vals, func(v types.JSONValue) bool { return jsonbContains(&v, &y.Vals[i], false) }) {
				return false
			}
		}
		return true
	case x.Kind == types.JSONArray && y.Kind != types.JSONObject && top:
		return slices.ContainsFunc(x.Vals, func(v types.JSONValue) bool { return jsonbContains(&v, y, false) })
	case x.Kind == types.JSONArray || x.Kind == types.JSONObject || y.Kind == types.JSONArray || y.Kind == types.JSONObject:
		return false
	}
	return types.CompareJSON(x, y) == 0
}

// pathOp is what is done at the end of a path.
type pathOp uint8

const (
	pathSet pathOp = iota
	pathReplace
	pathDelete
	pathBefore // insert
	pathAfter
)

// jsonbPath is a change at a path of a jsonb.
type jsonbPath struct {
	path []types.Datum
	op   pathOp
	val  []byte
}

func textPath(d types.Datum) ([]types.Datum, error) {
	arr := d.Array()
	if len(arr.Dims) > 1 {
		return nil, errSubscript("wrong number of array subscripts")
	}
	return arr.Elems(nil), nil
}

// change writes b with the change from level on.
func (p *jsonbPath) change(dst, b []byte, level int) ([]byte, error) {
	if level == len(p.path) {
		return append(dst, b...), nil
	}
	if p.path[level].Null {
		return nil, pgerr.New(pgerr.NullValueNotAllowed, "path element at position %d is null", level+1)
	}
	if isJSONScalar(b) {
		return append(dst, b...), nil
	}
	if b[0] == '{' {
		return p.object(dst, b, level)
	}
	return p.array(dst, b, level)
}

func (p *jsonbPath) object(dst, b []byte, level int) (_ []byte, err error) {
	key := p.path[level].B
	last := level == len(p.path)-1
	dst = append(dst, '{')
	start := len(dst)
	member := func(quoted []byte) {
		if len(dst) > start {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, quoted...), ": "...)
	}
	// A key that is not there is added in its place in the order of keys.
	pending := last && (p.op == pathSet || p.op == pathBefore || p.op == pathAfter)
	add := func() {
		pending = false
		member(types.AppendJSONString(nil, key))
		dst = append(dst, p.val...)
	}
	jsonMembers(b, func(k, v []byte) bool {
		name, _ := jsonString(k)
		c := types.CompareJSONKeys(name, key)
		if c > 0 && pending {
			add()
		}
		if c != 0 {
			member(k)
			dst = append(dst, v...)
			return true
		}
		pending = false
		if !last {
			member(k)
			dst, err = p.change(dst, v, level+1)
			return err == nil
		}
		switch p.op {
		case pathDelete:
		case pathBefore, pathAfter:
			err = pgerr.New(pgerr.InvalidParameterValue, "cannot replace existing key").
				WithHint("Try using the function jsonb_set to replace key value.")
		default:
			member(k)
			dst = append(dst, p.val...)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	if pending {
		add()
	}
	return append(dst, '}'), nil
}

func (p *jsonbPath) array(dst, b []byte, level int) (_ []byte, err error) {
	at, ok := pathIndex(p.path[level].B)
	if !ok {
		return nil, pgerr.New(pgerr.InvalidTextRepresentation, "path element at position %d is not an integer: \"%s\"", level+1, p.path[level].B)
	}
	last := level == len(p.path)-1
	n := jsonLen(b)
	if at < 0 {
		if at += n; at < 0 {
			at = -1 << 31
		}
	}
	insert := last && (p.op == pathSet || p.op == pathBefore || p.op == pathAfter)
	dst = append(dst, '[')
	start := len(dst)
	element := func(v []byte) {
		if len(dst) > start {
			dst = append(dst, ", "...)
		}
		dst = append(dst, v...)
	}
	if insert && (at < 0 || n == 0) {
		element(p.val)
		insert = false
	}
	i := 0
	jsonElements(b, func(v []byte) bool {
		i++
		if i-1 != at {
			element(v)
			return true
		}
		insert = false
		if !last {
			element(nil)
			dst, err = p.change(dst, v, level+1)
			return err == nil
		}
		switch p.op {
		case pathDelete:
		case pathBefore:
			element(p.val)
			element(v)
		case pathAfter:
			element(v)
			element(p.val)
		default:
			element(p.val)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if insert {
		element(p.val)
	}
	return append(dst, ']'), nil
}

func jsonbChange(b []byte, pathArg types.Datum, op pathOp, val []byte) (types.Datum, error) {
	path, err := textPath(pathArg)
	if err != nil {
		return types.Datum{}, err
	}
	what := "set"
	if op == pathDelete {
		what = "delete"
	}
	if isJSONScalar(b) {
		return types.Datum{}, errParameter("cannot %s path in scalar", what)
	}
	if len(b) == 2 && (op == pathReplace || op == pathDelete) || len(path) == 0 {
		return types.Datum{B: b}, nil
	}
	p := jsonbPath{path: path, op: op, val: val}
	out, err := p.change(make([]byte, 0, len(b)+len(val)), b, 0)
	return types.Datum{B: out}, err
}

func jsonbSet(_ *Context, a []types.Datum) (types.Datum, error) {
	op := pathReplace
	if a[3].Bool() {
		op = pathSet
	}
	return jsonbChange(a[0].B, a[1], op, a[2].B)
}

// jsonbSetLax is jsonb_set with a choice of what a null means.
func jsonbSetLax(c *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null || a[1].Null || a[3].Null {
		return types.NullDatum, nil
	}
	if a[4].Null {
		return types.Datum{}, errNullTreatment()
	}
	if !a[2].Null {
		return jsonbSet(c, a)
	}
	switch string(a[4].B) {
	case "raise_exception":
		return types.Datum{}, pgerr.New(pgerr.NullValueNotAllowed, "JSON value must not be null").
			WithDetail("Exception was raised because null_value_treatment is \"raise_exception\".").
			WithHint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.")
	case "use_json_null":
		return jsonbSet(c, []types.Datum{a[0], a[1], {B: []byte("null")}, a[3]})
	case "delete_key":
		return jsonbChange(a[0].B, a[1], pathDelete, nil)
	case "return_target":
		return a[0], nil
	}
	return types.Datum{}, errNullTreatment()
}

func errNullTreatment() error {
	return errParameter("null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
}

// hashJSONB is the hash of PostgreSQL.
func hashJSONB(b []byte, seed uint64, wide bool) (h uint64) {
	mix := func(v uint64) {
		// Both halves rotate for themselves; the upper one is empty unless wide.
		h = h<<1&0xFFFFFFFEFFFFFFFE | h>>31&0x100000001
		if !wide {
			v = uint64(uint32(v))
		}
		h ^= v
	}
	scalar := func(b []byte) {
		switch b[0] {
		case '"':
			s, _ := jsonString(b)
			mix(hashAny(s, seed))
		case 'n':
			mix(seed + 1)
		case 't', 'f':
			switch {
			case seed != 0:
				mix(hashUint32(uint32(b2i(b[0] == 't')), seed))
			case b[0] == 't':
				mix(2)
			default:
				mix(4)
			}
		default:
			n, _ := types.ParseNum(b)
			mix(hashNumeric(types.NumDatum(n), seed, wide))
		}
	}
	if len(b) == 2 && !isJSONScalar(b) {
		return seed
	}
	const array, object = 0x40000000, 0x20000000
	flag := func(f uint64) uint64 {
		if wide {
			return f<<32 | f
		}
		return f
	}
	var walk func(b []byte)
	walk = func(b []byte) {
		switch b[0] {
		case '{':
			h ^= flag(object)
			jsonMembers(b, func(k, v []byte) bool {
				scalar(k)
				walk(v)
				return true
			})
		case '[':
			h ^= flag(array)
			jsonElements(b, func(v []byte) bool {
				walk(v)
				return true
			})
		default:
			scalar(b)
		}
	}
	if isJSONScalar(b) {
		h ^= flag(array)
	}
	walk(b)
	return h
}

func registerJSONB(r *registry) {
	r.fn("jsonb_concat", jsonbConcat)
	r.fn("jsonb_delete", func(_ *Context, a []types.Datum) (types.Datum, error) { return jsonbDelete(a[0].B, a[1:2]) })
	r.fn("jsonb_delete_idx", jsonbDeleteIndex)
	r.fn("jsonb_delete_array", func(_ *Context, a []types.Datum) (types.Datum, error) {
		keys, err := textPath(a[1])
		if err != nil {
			return types.Datum{}, err
		}
		return jsonbDelete(a[0].B, keys)
	})
	r.fn("jsonb_delete_path", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return jsonbChange(a[0].B, a[1], pathDelete, nil)
	})
	r.fn("jsonb_set", jsonbSet)
	r.fn("jsonb_set_lax", jsonbSetLax)
	r.fn("jsonb_insert", func(_ *Context, a []types.Datum) (types.Datum, error) {
		op := pathBefore
		if a[3].Bool() {
			op = pathAfter
		}
		return jsonbChange(a[0].B, a[1], op, a[2].B)
	})
	r.fn("jsonb_exists", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(jsonbHas(a[0].B, a[1].B)), nil
	})
	exists := func(all bool) Func {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			arr := a[1].Array()
			for _, k := range arr.Elems(nil) {
				if !k.Null && jsonbHas(a[0].B, k.B) != all {
					return types.BoolDatum(!all), nil
				}
			}
			return types.BoolDatum(all), nil
		}
	}
	r.fn("jsonb_exists_any", exists(false))
	r.fn("jsonb_exists_all", exists(true))
	contains := func(x, y types.Datum) (types.Datum, error) {
		if (x.B[0] == '{') != (y.B[0] == '{') {
			return types.BoolDatum(false), nil
		}
		if bytes.Equal(x.B, y.B) {
			return types.BoolDatum(true), nil
		}
		v, w := x.JSONB(), y.JSONB()
		return types.BoolDatum(jsonbContains(&v, &w, true)), nil
	}
	r.fn("jsonb_contains", func(_ *Context, a []types.Datum) (types.Datum, error) { return contains(a[0], a[1]) })
	r.fn("jsonb_contained", func(_ *Context, a []types.Datum) (types.Datum, error) { return contains(a[1], a[0]) })
	r.fn("jsonb_hash", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(int64(int32(hashJSONB(a[0].B, 0, false)))), nil
	})
	r.fn("jsonb_hash_extended", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(int64(hashJSONB(a[0].B, uint64(a[1].Int64()), true))), nil
	})
}
