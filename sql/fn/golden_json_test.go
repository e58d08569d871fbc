package fn

func jsonCases() (out []string) {
	texts := []string{
		`{"a":1,"b":"x","c":null,"d":[1,2,{"e":"f"}],"a":2}`, `[1, "a", null, true, {"k": "v"}, [2, 3]]`, `"str"`, `1.50`, `true`, `null`, `{}`, `[]`, ` { "a b" : { "x" : [ 1 , 2 ] } , "" : "" } `,
		`{"x":"a\"b\\c\u00e9\n\t","\u0041":1}`, `[[1,[2,[3]]],[]]`, `{"a":{"b":{"c":1}},"a":{"d":2}}`, `{"n":1e5,"m":-0.10,"f":false}`, `-5`, `"a"`, `[{"a":null,"b":[null,{"c":null}]}]`, `["a","b","a"]`,
	}
	j := append(vals("json", texts...), `json:{"a":"\u0000","b":1}`, `json:["\u0000"]`, `json:"\ud800"`)
	jb := vals("jsonb", texts...)
	keys := vals("text", "a", "b", "", "a b", "0", "A", "x", "c")
	ints := vals("int4", "0", "1", "-1", "5", "-6", "-7", "2147483647", "-2147483648")
	paths := vals("text[]", "{}", "{a}", "{d,2,e}", "{0}", "{-1}", "{4,k}", "{a b,x,1}", "{a,b,c}", "{a,d}", "{0,1,1,0}", "{a,NULL}", "{1x}", "{ 1}", "{99999999999}", "{d,-1,e}", "{{a,b}}", "{x}", "{b}", "{d}", "{d,0}")
	for _, k := range []struct {
		name string
		v    []string
	}{{"json", j}, {"jsonb", jb}} {
		for _, s := range []string{"", "_text"} {
			out = append(out, calls(k.name+"_object_field"+s, k.v, keys)...)
			out = append(out, calls(k.name+"_array_element"+s, k.v, ints)...)
			out = append(out, calls(k.name+"_extract_path"+s, k.v, paths)...)
			out = append(out, calls(k.name+"_each"+s, k.v)...)
			out = append(out, calls(k.name+"_array_elements"+s, k.v)...)
		}
		for _, f := range []string{"typeof", "array_length", "object_keys", "strip_nulls"} {
			out = append(out, calls(k.name+"_"+f, k.v)...)
		}
		out = append(out, calls(k.name+"_object", vals("text[]", "{}", "{a,1,b,2}", "{a}", "{a,NULL}", "{NULL,a}", "{{a,1},{b,2}}", "{{a,b,c}}", "{{{a,b}}}", `{"a\"b","c\\d",a,1,a,2}`))...)
		arrs := vals("text[]", "{}", "{a,b}", "{1,2}", "{a}", "{NULL,b}", "{{a}}", "{a,a}")
		out = append(out, calls(k.name+"_object_two_arg", arrs, arrs)...)
		values := [][]string{
			vals("int4", "1", `\N`), vals("text", "x\"y", "", "true"), vals("bool", "t"), vals("numeric", "1.50", "nan"), vals("float8", "1e20", "inf", "0.1"), vals("date", "2001-02-03", "0044-03-15 BC", "infinity"),
			vals("timestamp", "2001-02-03 04:05:06.7", "infinity", "0044-03-15 01:02:03 BC"), vals("timestamptz", "2001-02-03 04:05:06.7+00", "1800-01-01 00:00+00", "0044-03-15 01:02:03+00 BC"),
			vals("json", `{"a": [1]}`, `"x"`), vals("jsonb", `{"a":[1], "a":2}`, "null"), vals("int4[]", "{1,2,NULL}", "{}", "{{1,2},{3,4}}", "{{{1}}}"), vals("text[]", `{a,"b c"}`), vals("interval", "1 day"), vals("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
			vals("bytea", `\x0102`), vals("jsonb[]", `{"{\"a\":1}",NULL}`), vals("bool[]", "{t,f}"), vals("time", "01:02:03"), vals("name", "n"), vals("money", "1.5"), vals("int2vector", "1 2"), vals("point", "(1,2)")[:0],
		}
		for _, style := range []string{"iso", "german"} {
			out = append(out, "set datestyle = '"+style+"'", "set timezone = 'Asia/Kolkata'")
			for _, v := range values {
				out = append(out, calls("to_"+k.name, v)...)
				out = append(out, calls(k.name+"_build_array", v, vals("int4", "7"))...)
				out = append(out, calls(k.name+"_build_object", v, v[:min(1, len(v))])...)
			}
			out = append(out, "set datestyle = 'iso'", "set timezone = 'America/New_York'")
		}
		out = append(out, calls(k.name+"_build_object", vals("text", "a"))...)
		out = append(out, calls(k.name+"_build_object", vals("text", "a"), vals("int4", "1"), vals("text", "a", "b"), vals("text", `\N`))...)
		out = append(out, k.name+"_build_array_noargs", k.name+"_build_object_noargs")
	}
	out = append(out, calls("array_to_json", vals("int4[]", "{1,2,NULL}", "{}", "{{1,2},{3,4}}"))...)
	out = append(out, calls("array_to_json_pretty", vals("int4[]", "{1,2,NULL}", "{}", "{{1,2},{3,4}}"), vals("bool", "t", "f"))...)
	return append(out, jsonbCases(jb, keys, ints, paths)...)
}

func jsonbCases(jb, keys, ints, paths []string) (out []string) {
	out = append(out, calls("jsonb_pretty", jb)...)
	for _, f := range []string{"jsonb_concat", "jsonb_contains", "jsonb_contained"} {
		out = append(out, calls(f, jb, jb)...)
	}
	out = append(out, calls("jsonb_contains", vals("jsonb", `[1,[2,3],{"a":{"b":[1,2]}}]`, `{"a":[1,{"b":2}],"c":"d"}`, `[1.0]`, `"x"`, `[["x"]]`), vals("jsonb", `[1]`, `[[2]]`, `[2]`, `1`, `[{"a":{"b":[2]}}]`, `{"a":[{"b":2}]}`, `{"a":[]}`, `{"a":1}`, `"x"`, `["x"]`, `[[]]`, `[{}]`, `{}`, `[]`, `1.00`, `null`))...)
	out = append(out, calls("jsonb_delete", jb, keys)...)
	out = append(out, calls("jsonb_delete_idx", jb, ints)...)
	out = append(out, calls("jsonb_delete_array", jb, vals("text[]", "{}", "{a,b}", "{NULL,a}", "{{a}}"))...)
	out = append(out, calls("jsonb_delete_path", jb, paths)...)
	out = append(out, calls("jsonb_exists", jb, keys)...)
	out = append(out, calls("jsonb_exists_any", jb, vals("text[]", "{}", "{a,zz}", "{NULL}", "{zz}", "{{a,x}}"))...)
	out = append(out, calls("jsonb_exists_all", jb, vals("text[]", "{}", "{a,b}", "{NULL,a}", "{zz}"))...)
	val := vals("jsonb", `"new"`, `{"z":1}`)
	more := append(vals("text[]", "{zz}", "{a,zz}", "{d,5}", "{d,-5}", "{0,zz}", "{-9}", "{9}", "{a,b,zz}", "{d,2,zz}", "{NULL}", "{5,0}", "{5,-5,x}", "{aa}", "{n,x}"), paths...)
	out = append(out, calls("jsonb_set", jb, more, val[:1], vals("bool", "t", "f"))...)
	out = append(out, calls("jsonb_insert", jb, more, val[1:], vals("bool", "t", "f"))...)
	out = append(out, calls("jsonb_set_lax", jb[:2], vals("text[]", "{a}", "{0}", "{zz}"), vals("jsonb", "1", `\N`), vals("bool", "t", "f"), vals("text", "raise_exception", "use_json_null", "delete_key", "return_target", "foo", `\N`))...)
	for _, f := range []string{"bool", "numeric", "int2", "int4", "int8", "float4", "float8", "hash"} {
		out = append(out, calls("jsonb_"+f, append(vals("jsonb", "40000", "2.5", "3000000000", "1e30", "1e400", "false", `["x",{"a":true}]`, `{"a":[1,null,{"b":"c"}],"d":1.50}`), jb...))...)
	}
	out = append(out, calls("jsonb_hash_extended", jb, vals("int8", "0", "42"))...)
	return out
}
