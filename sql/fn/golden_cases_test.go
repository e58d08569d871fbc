package fn

func goldenSets() map[string]func() []string {
	return map[string]func() []string{
		"int":          thinned(2, intCases),
		"float":        thinned(3, floatCases),
		"compare":      compareCases,
		"numeric":      thinned(2, numericFnCases),
		"text":         textFnCases,
		"like":         likeCases,
		"regex":        regexCases,
		"array":        arrayFnCases,
		"series":       seriesCases,
		"datetime":     thinned(3, datetimeFnCases),
		"misc":         miscCases,
		"json":         thinned(3, jsonCases),
		"picture_num":  thinned(4, pictureNumCases),
		"picture_date": thinned(3, pictureDateCases),
		"picture_read": pictureReadCases,
	}
}

var (
	int2Vals  = []string{"0", "1", "-1", "7", "-8", "32767", "-32768"}
	int4Vals  = []string{"0", "1", "-1", "7", "-8", "12", "2147483647", "-2147483648"}
	int8Vals  = []string{"0", "1", "-1", "7", "-8", "12", "4294967296", "9223372036854775807", "-9223372036854775808"}
	floatVals = []string{"0", "-0", "1", "-1", "0.5", "-2.5", "3", "1e10", "1e308", "-1e308", "1e-308", "5e-324", "inf", "-inf", "nan"}
	realVals  = []string{"0", "1", "-1", "0.5", "-2.5", "1e10", "1e38", "1e-40", "inf", "-inf", "nan"}
)

func intCases() (out []string) {
	kinds := map[string][2]string{"int2": {"int2", "int2"}, "int4": {"int4", "int4"}, "int8": {"int8", "int8"}, "int24": {"int2", "int4"}, "int42": {"int4", "int2"}, "int28": {"int2", "int8"}, "int82": {"int8", "int2"}, "int48": {"int4", "int8"}, "int84": {"int8", "int4"}}
	byType := map[string][]string{"int2": int2Vals, "int4": int4Vals, "int8": int8Vals}
	for _, k := range []string{"int2", "int4", "int8", "int24", "int42", "int28", "int82", "int48", "int84"} {
		a, b := kinds[k][0], kinds[k][1]
		for _, op := range []string{"pl", "mi", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge"} {
			out = append(out, calls(k+op, vals(a, byType[a]...), vals(b, byType[b]...))...)
		}
	}
	for _, k := range []string{"int2", "int4", "int8"} {
		v := vals(k, byType[k]...)
		for _, op := range []string{"mod", "and", "or", "xor", "larger", "smaller"} {
			out = append(out, calls(k+op, v, v)...)
		}
		for _, op := range []string{"um", "up", "abs", "not"} {
			out = append(out, calls(k+op, v)...)
		}
		for _, op := range []string{"shl", "shr"} {
			out = append(out, calls(k+op, v, vals("int4", "0", "1", "3", "15", "16", "31", "32", "63", "64", "-1"))...)
		}
		if k != "int2" {
			out = append(out, calls(k+"gcd", v, v)...)
			out = append(out, calls(k+"lcm", v, v)...)
		}
	}
	out = append(out, calls("i4toi2", vals("int4", append(int4Vals, "32767", "32768", "-32768", "-32769")...))...)
	out = append(out, calls("int82", vals("int8", append(int8Vals, "32767", "32768")...))...)
	out = append(out, calls("int84", vals("int8", append(int8Vals, "2147483647", "2147483648")...))...)
	out = append(out, calls("i8tooid", vals("int8", int8Vals...))...)
	out = append(out, calls("i4tochar", vals("int4", "0", "65", "127", "128", "-128", "-129"))...)
	out = append(out, calls("chartoi4", vals(`"char"`, "a", "", `\377`))...)
	out = append(out, calls("int4_bool", vals("int4", int4Vals...))...)
	return out
}

func floatCases() (out []string) {
	f8, f4 := vals("float8", floatVals...), vals("float4", realVals...)
	for _, op := range []string{"pl", "mi", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge"} {
		out = append(out, calls("float8"+op, f8, f8)...)
		out = append(out, calls("float4"+op, f4, f4)...)
		out = append(out, calls("float48"+op, f4, f8)...)
	}
	more := append(vals("float8", "0.1", "2", "10", "100", "30", "45", "60", "90", "180", "270", "360", "-45", "1.5", "2.5", "-1.5", "1000", "-1000", "709.78", "710", "-745.2", "-800", "0.3", "-0.7", "1e15", "123.456"), f8...)
	for _, f := range []string{"dround", "dceil", "dfloor", "dtrunc", "dsign", "dsqrt", "dexp", "dlog1", "degrees", "radians", "dacos", "dasin", "datan", "dcos", "dsin", "dtan", "dcot", "dacosd", "dasind", "datand", "dcosd", "dsind", "dtand", "dcotd", "float8abs", "float8um", "dtoi2", "dtoi4", "dtoi8", "dtof"} {
		out = append(out, calls(f, more)...)
	}
	// The C library does not round these correctly in the last place.
	out = append(out, "set extra_float_digits = -1")
	for _, f := range []string{"dcbrt", "dlog10", "dsinh", "dcosh", "dtanh", "dasinh", "dacosh", "datanh"} {
		out = append(out, calls(f, more)...)
	}
	out = append(out, "set extra_float_digits = 1")
	for _, f := range []string{"dpow", "datan2", "datan2d", "float8larger", "float8smaller"} {
		out = append(out, calls(f, more, vals("float8", "0", "1", "-1", "2", "0.5", "-0.5", "3", "inf", "-inf", "nan", "1e10"))...)
	}
	for _, f := range []string{"ftod", "ftoi2", "ftoi4", "ftoi8", "float4abs", "float4um"} {
		out = append(out, calls(f, append(vals("float4", "0.5", "1.5", "2.5", "32767.4", "32767.5", "2147483520", "2147483648", "0.1", "123456.7"), f4...))...)
	}
	for _, f := range []string{"i4tod", "i4tof"} {
		out = append(out, calls(f, vals("int4", int4Vals...))...)
	}
	for _, f := range []string{"i8tod", "i8tof"} {
		out = append(out, calls(f, vals("int8", append(int8Vals, "9007199254740993")...))...)
	}
	out = append(out, calls("width_bucket_float8", vals("float8", "5.35", "0.024", "10.06", "-1", "nan", "inf"), vals("float8", "0.024", "10", "nan", "-inf"), vals("float8", "10.06", "0.024", "1", "inf"), vals("int4", "5", "0", "-1", "2147483647"))...)
	out = append(out, calls("width_bucket_numeric", vals("numeric", "5.35", "0.024", "10.06", "-1", "nan", "inf"), vals("numeric", "0.024", "10", "nan", "-inf"), vals("numeric", "10.06", "0.024", "1", "inf"), vals("int4", "5", "0", "-1", "2147483647"))...)
	out = append(out, calls("width_bucket_array", vals("int4", "0", "1", "2", "5", "9"), vals("int4[]", "{1,3,5}", "{}", "{{1,2},{3,4}}", "{1,NULL}"))...)
	return out
}

func compareCases() (out []string) {
	ops := func(prefix string, v []string, suffixes ...string) {
		if suffixes == nil {
			suffixes = []string{"eq", "ne", "lt", "le", "gt", "ge"}
		}
		for _, s := range suffixes {
			out = append(out, calls(prefix+s, v, v)...)
		}
	}
	ops("text", vals("text", "", "a", "A", "ab", "b", "é"), "eq", "ne")
	ops("text_", vals("text", "", "a", "A", "ab", "b", "é"), "lt", "le", "gt", "ge")
	ops("name", vals("name", "a", "b"))
	ops("bpchar", vals("bpchar", "a", "a  ", "b", ""))
	ops("bytea", vals("bytea", `\x`, `\x00`, `\x01`, `\xff`))
	ops("bool", vals("bool", "t", "f"))
	ops("char", vals(`"char"`, "a", "b", `\377`))
	ops("oid", vals("oid", "0", "1", "4294967295"))
	ops("date_", vals("date", "2000-01-01", "1999-12-31", "infinity", "-infinity"))
	ops("time_", vals("time", "00:00", "24:00", "12:34:56"))
	ops("timetz_", vals("timetz", "00:00+00", "01:00+01", "12:34:56-05"))
	ops("timestamp_", vals("timestamp", "2000-01-01", "1999-12-31", "infinity", "-infinity"))
	ops("interval_", vals("interval", "1 month", "30 days", "720 hours", "1 day", "-1 day"))
	ops("numeric_", vals("numeric", "0", "1", "1.0", "1.00", "-1", "1e30", "nan", "inf", "-inf", "0.1"))
	ops("uuid_", vals("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000"))
	ops("tid", vals("tid", "(0,1)", "(1,0)", "(1,1)"))
	ops("pg_lsn_", vals("pg_lsn", "0/1", "1/0"))
	ops("xid8", vals("xid8", "1", "18446744073709551615"))
	ops("array_", vals("int4[]", "{}", "{1}", "{1,2}", "{2}", "{NULL}", "{{1,2}}", "[0:1]={1,2}"))
	ops("bit", vals("varbit", "", "0", "1", "01", "10"))
	ops("jsonb_", vals("jsonb", "1", "1.0", "\"a\"", "null", "true", "false", "[]", "{}", "[1]", "{\"a\":1}", "[1,2]"))
	for _, f := range []string{"btint4cmp", "btint2cmp"} {
		out = append(out, calls(f, vals(f[2:6], "1", "2"), vals(f[2:6], "1", "2"))...)
	}
	out = append(out, calls("numeric_cmp", vals("numeric", "1", "2", "nan"), vals("numeric", "1", "nan"))...)
	return out
}
