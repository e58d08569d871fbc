package fn

import (
	"strconv"
	"strings"
	"testing"

	"github.com/minipg/minipg/types"
)

// rowTypes are composite types as of
//
//	CREATE TYPE jrt AS (a int, b text, c int[], d jsonb, e varchar(3), f date);
//	CREATE TYPE jrt2 AS (x jrt, y jrt[], z int[]);
type rowTypes map[types.OID]*types.TypeInfo

func (r rowTypes) TypeByOID(oid types.OID) *types.TypeInfo { return r[oid] }

const (
	jrt      types.OID = 70000
	jrtArray types.OID = 70001
	jrt2     types.OID = 70002
)

func jsonContext() *Context {
	c := testContext()
	c.Env.Types = rowTypes{
		jrt: {OID: jrt, Name: "jrt", Len: -1, Phys: types.PhysVarlena, Align: 'd', Category: 'C', Kind: 'c', Array: jrtArray, Delim: ',', Fields: []types.Field{
			{Name: "a", Type: types.Int4, Typmod: -1},
			{Name: "b", Type: types.Text, Typmod: -1},
			{Name: "c", Type: types.Int4Array, Typmod: -1},
			{Name: "d", Type: types.Jsonb, Typmod: -1},
			{Name: "e", Type: types.Varchar, Typmod: 7},
			{Name: "f", Type: types.Date, Typmod: -1},
		}},
		jrtArray: {OID: jrtArray, Name: "_jrt", Len: -1, Phys: types.PhysVarlena, Align: 'd', Category: 'A', Kind: 'b', Elem: jrt, Delim: ','},
		jrt2: {OID: jrt2, Name: "jrt2", Len: -1, Phys: types.PhysVarlena, Align: 'd', Category: 'C', Kind: 'c', Delim: ',', Fields: []types.Field{
			{Name: "x", Type: jrt, Typmod: -1},
			{Name: "y", Type: jrtArray, Typmod: -1},
			{Name: "z", Type: types.Int4Array, Typmod: -1},
		}},
	}
	return c
}

func builtin(t *testing.T, name string) *Builtin {
	t.Helper()
	b, ok := Lookup(name)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	return b
}

// TestPopulateRecord has the results of PostgreSQL 15.
func TestPopulateRecord(t *testing.T) {
	c := jsonContext()
	fields := c.Env.Types.TypeByOID(jrt).Fields
	text := func(s string) types.Datum { return types.Datum{B: []byte(s)} }
	base := types.RecordDatum(jrt, recordFields(fields, c.Env.Types), []types.Datum{types.Int64Datum(1), text("x"), types.NullDatum, types.NullDatum, text("q"), types.NullDatum})
	for _, tc := range []struct {
		typ  types.OID
		base types.Datum
		in   string
		want string
	}{
		{jrt, types.NullDatum, `{"a":"12","b":{"k":1},"c":[1,null,"3"],"d":{"q":[1]},"e":"abc","f":"2001-02-03"}`, `(12,"{""k"":1}","{1,NULL,3}","{""q"": [1]}",abc,2001-02-03)`},
		{jrt, base, `{"a":null,"c":"{4,5}"}`, `(,x,"{4,5}",,q,)`},
		{jrt2, types.NullDatum, `{"x":{"a":1},"y":[{"a":2},null,"(3,,,,,)"],"z":[[1,2],[3,4]]}`, `("(1,,,,,)","{""(2,,,,,)"",NULL,""(3,,,,,)""}","{{1,2},{3,4}}")`},
		{jrt, types.NullDatum, `{"e":"abcd"}`, "!value too long for type character varying(3)"},
		{jrt, types.NullDatum, `{"c":5}`, "!expected JSON array; See the value of key \"c\"."},
		{jrt, types.NullDatum, `{"c":[[1],2]}`, "!expected JSON array; See the array element [1] of key \"c\"."},
		{jrt, types.NullDatum, `{"c":[1,[2]]}`, "!invalid input syntax for type integer: \"[2]\""},
		{jrt, types.NullDatum, `{"c":[[1],[2,3]]}`, "!malformed JSON array"},
		{jrt2, types.NullDatum, `{"x":[1]}`, "!cannot call populate_composite on an array"},
		{jrt2, types.NullDatum, `{"y":[3]}`, "!cannot call populate_composite on a scalar"},
		{jrt, types.NullDatum, `[1]`, "!cannot call populate_composite on an array"},
		{types.Int4, types.NullDatum, `{}`, "!first argument of json_populate_record must be a row type"},
	} {
		c.Call = &Call{Args: []types.OID{tc.typ, types.Json, types.Bool}, Result: tc.typ}
		d, err := builtin(t, "json_populate_record").Func(c, []types.Datum{tc.base, text(tc.in), types.BoolDatum(false)})
		if got := shown(c, tc.typ, d, err); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.in, got, tc.want)
		}
	}
}

// shown is the value's text, or "!message; hint".
func shown(c *Context, typ types.OID, d types.Datum, err error) string {
	switch {
	case err != nil:
		parts := strings.Split(strings.Trim(errorText(err)[1:], `"`), "; ")
		out := "!" + parts[1]
		if parts[3] != "" {
			out += "; " + parts[3]
		}
		return strings.ReplaceAll(out, `\"`, `"`)
	case d.Null:
		return "null"
	}
	return string(types.Out(typ, d, nil, c.Env))
}

func TestToRecord(t *testing.T) {
	c := jsonContext()
	c.Call = &Call{Args: []types.OID{types.Json}, Result: types.Record, Columns: []types.Field{{Name: "a", Type: types.Int4, Typmod: -1}, {Name: "b", Type: types.Text, Typmod: -1}, {Name: "c", Type: types.Bpchar, Typmod: 7}, {Name: "d", Type: types.Int4, Typmod: -1}}}
	d, err := builtin(t, "json_to_record").Func(c, []types.Datum{{B: []byte(`{"a":1,"b":[1,2],"c":"x"}`)}})
	if got := shown(c, types.Record, d, err); got != `(1,"[1,2]","x  ",)` {
		t.Error(got)
	}
	set, err := builtin(t, "jsonb_to_recordset").Set(c, []types.Datum{{B: []byte(`[{"a": 1, "b": "z"}, {"a": null}]`)}})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]types.Datum, 4)
	n := 0
	for {
		ok, err := set.Next(c, row)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if n++; n == 1 && (row[0].Int64() != 1 || string(row[1].B) != "z" || !row[3].Null) || n == 2 && !row[0].Null {
			t.Errorf("row %d: %v", n, row)
		}
	}
	if n != 2 {
		t.Errorf("%d rows", n)
	}
	c.Call.Columns = nil
	if _, err := builtin(t, "json_to_record").Func(c, []types.Datum{{B: []byte(`{"a":1}`)}}); err == nil || !strings.Contains(err.Error(), "could not determine row type") {
		t.Error(err)
	}
}

func TestRowToJSON(t *testing.T) {
	c := testContext()
	record := func(names string, vals ...any) types.Datum {
		var fields []types.RecordField
		var values []types.Datum
		for i, v := range vals {
			f := types.RecordField{Attr: types.AttrOf(types.Int4, -1, nil)}
			if names != "" {
				f.Name = strings.Split(names, ",")[i]
			}
			switch v := v.(type) {
			case int:
				values = append(values, types.Int64Datum(int64(v)))
			case string:
				f.Attr = types.AttrOf(types.Text, -1, nil)
				values = append(values, types.Datum{B: []byte(v)})
			case types.Datum:
				f.Attr = types.AttrOf(types.Record, -1, nil)
				values = append(values, v)
			case nil:
				values = append(values, types.NullDatum)
			}
			fields = append(fields, f)
		}
		return types.RecordDatum(types.Record, fields, values)
	}
	for _, tc := range []struct {
		fn     string
		d      types.Datum
		pretty bool
		want   string
	}{
		{"row_to_json", record("", 1, "a", nil), false, `{"f1":1,"f2":"a","f3":null}`},
		{"row_to_json_pretty", record("", 1, record("", 2, 3)), true, "{\"f1\":1,\n \"f2\":{\"f1\":2,\"f2\":3}}"},
		{"row_to_json_pretty", record("a,b", 1, 2), false, `{"a":1,"b":2}`},
		{"to_json", record(`a"b,c`, 1, "x"), false, `{"a\"b":1,"c":"x"}`},
		{"to_jsonb", record("bb,a", 1, record("", "y")), false, `{"a": {"f1": "y"}, "bb": 1}`},
	} {
		c.Call = &Call{Args: []types.OID{types.Record, types.Bool}, Result: types.Json}
		d, err := builtin(t, tc.fn).Func(c, []types.Datum{tc.d, types.BoolDatum(tc.pretty)})
		if err != nil || string(d.B) != tc.want {
			t.Errorf("%s: %s, %v, want %s", tc.fn, d.B, err, strconv.Quote(tc.want))
		}
	}
	arr := types.MakeArrayDims(types.Record, []types.Datum{record("", 1, 2), record("", 3, 4)}, []types.ArrayDim{{Lower: 1, Len: 2}}, nil)
	c.Call = &Call{Args: []types.OID{types.RecordArray, types.Bool}}
	if d, err := builtin(t, "array_to_json_pretty").Func(c, []types.Datum{arr, types.BoolDatum(true)}); err != nil || string(d.B) != "[{\"f1\":1,\"f2\":2},\n {\"f1\":3,\"f2\":4}]" {
		t.Errorf("%s %v", d.B, err)
	}
}
