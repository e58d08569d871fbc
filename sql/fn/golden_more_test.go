package fn

var numericVals = []string{"0", "1", "-1", "2", "10", "0.5", "-2.5", "3.14159", "100.00", "1e20", "-1e-10", "12345678901234567890.123", "0.001", "nan", "inf", "-inf"}

func numericFnCases() (out []string) {
	v := vals("numeric", numericVals...)
	for _, f := range []string{"numeric_add", "numeric_sub", "numeric_mul", "numeric_div", "numeric_mod", "numeric_div_trunc", "numeric_power", "numeric_log", "numeric_gcd", "numeric_lcm", "numeric_larger", "numeric_smaller"} {
		out = append(out, calls(f, v, v)...)
	}
	more := append(vals("numeric", "1.5", "2.5", "-1.5", "0.0001", "99999.9999", "1.000000", "123.4500", "1e100", "1e-100", "7", "1.0000001", "0.9", "1.1", "1e5", "5000", "-5000"), v...)
	for _, f := range []string{"numeric_uminus", "numeric_abs", "numeric_ceil", "numeric_floor", "numeric_sign", "numeric_inc", "numeric_sqrt", "numeric_exp", "numeric_ln", "numeric_scale", "numeric_min_scale", "numeric_trim_scale", "numeric_int2", "numeric_int4", "numeric_int8", "numeric_float4", "numeric_float8"} {
		out = append(out, calls(f, more)...)
	}
	for _, f := range []string{"numeric_round", "numeric_trunc"} {
		out = append(out, calls(f, more, vals("int4", "0", "1", "2", "5", "-1", "-2", "-20", "30", "3000"))...)
	}
	out = append(out, calls("numeric_power", vals("numeric", "2", "1.5", "0.1", "10", "-3", "1.0000001", "123.456"), vals("numeric", "3", "-3", "0.5", "10", "100", "-0.5", "1000", "2.0", "1.50", "30.25"))...)
	out = append(out, calls("numeric_div", vals("numeric", "1", "2", "7", "22", "1.00", "100", "1e-20", "999999999999", "0.00001"), vals("numeric", "3", "7", "9.99", "0.003", "12345", "1e10", "333333333333"))...)
	out = append(out, calls("numeric_fac", vals("int8", "-1", "0", "1", "5", "20", "30"))...)
	out = append(out, calls("float8_numeric", vals("float8", "0", "1.5", "0.1", "1e20", "1e-20", "123456789.123456789", "nan", "inf", "3.14159265358979"))...)
	out = append(out, calls("float4_numeric", vals("float4", "0", "1.5", "0.1", "1e20", "1e-20", "123456.789", "nan"))...)
	money := vals("money", "0", "1.50", "-2.25", "100", "92233720368547758.07")
	for _, f := range []string{"cash_pl", "cash_mi", "cash_div_cash", "cash_lt", "cash_eq"} {
		out = append(out, calls(f, money[:4], money[:4])...)
	}
	out = append(out, calls("cash_mul_flt8", money[:4], vals("float8", "1.5", "-0.333", "0", "nan", "1e30"))...)
	out = append(out, calls("cash_div_flt8", money[:4], vals("float8", "1.5", "-0.333", "0"))...)
	out = append(out, calls("cash_mul_int4", money[:4], vals("int4", "3", "-2"))...)
	out = append(out, calls("cash_div_int4", money[:4], vals("int4", "3", "-2", "0"))...)
	out = append(out, calls("cash_numeric", money)...)
	out = append(out, calls("numeric_cash", vals("numeric", "1.5", "1.005", "-2.999", "1e20"))...)
	out = append(out, calls("int4_cash", vals("int4", "5", "-5"))...)
	lsn := vals("pg_lsn", "0/0", "0/10", "1/0")
	out = append(out, calls("pg_lsn_mi", lsn, lsn)...)
	out = append(out, calls("pg_lsn_pli", lsn, vals("numeric", "16", "-16", "nan", "inf"))...)
	out = append(out, calls("pg_lsn_mii", lsn, vals("numeric", "16", "-16", "nan"))...)
	return out
}

func textFnCases() (out []string) {
	s := vals("text", "", "abc", "ABC dEf", "Ă©é日本", "  a b  ", "it's \"q\"", `a\b`, "xyxabcxyx", "ÉÀ straße ǆ", "a,b,,c", "select", "ident", "1abc", "aaa")
	for _, f := range []string{"lower", "upper", "initcap", "textlen", "textoctetlen", "btrim1", "ltrim1", "text_reverse", "ascii", "md5_text", "quote_ident", "quote_literal", "text_name", "text_char"} {
		out = append(out, calls(f, s)...)
	}
	out = append(out, calls("rtrim1", vals("bpchar", "abc", "abc  ", "  "))...)
	out = append(out, calls("quote_nullable", append(s, `text:\N`))...)
	for _, f := range []string{"btrim", "ltrim", "rtrim", "textpos", "text_starts_with", "textcat"} {
		out = append(out, calls(f, s, vals("text", "", "a", "xy", " ", "é", "日本", "b"))...)
	}
	ints := vals("int4", "-5", "-2", "-1", "0", "1", "2", "3", "10")
	for _, f := range []string{"text_left", "text_right", "repeat", "text_substr_no_len"} {
		out = append(out, calls(f, s, ints)...)
	}
	out = append(out, calls("text_substr", s, ints, vals("int4", "-1", "0", "2", "100", "2147483647"))...)
	for _, f := range []string{"lpad", "rpad"} {
		out = append(out, calls(f, s, vals("int4", "-1", "0", "2", "5", "15"), vals("text", "", "x", "xy", "日本"))...)
	}
	out = append(out, calls("repeat", vals("text", "ab"), vals("int4", "2000000000"))...)
	out = append(out, calls("textoverlay", s[:4], vals("text", "", "XY", "é"), vals("int4", "0", "1", "2", "9"), vals("int4", "-1", "0", "2", "2147483647"))...)
	out = append(out, calls("textoverlay_no_len", s[:4], vals("text", "", "XY", "é"), vals("int4", "0", "1", "2", "9"))...)
	out = append(out, calls("split_part", vals("text", "a,b,,c", "", "abc", "a~@~b~@~c"), vals("text", ",", "", "~@~", "x"), vals("int4", "0", "1", "2", "4", "5", "-1", "-2", "-9"))...)
	out = append(out, calls("replace_text", s, vals("text", "", "a", "xy", "é"), vals("text", "", "Z", "aa"))...)
	out = append(out, calls("translate", s, vals("text", "", "abc", "é日", "aab"), vals("text", "", "x", "xyz", "本"))...)
	out = append(out, calls("chr", vals("int4", "-1", "0", "65", "233", "26085", "55296", "1114111", "1114112"))...)
	out = append(out, calls("to_hex32", vals("int4", "0", "255", "-1", "2147483647"))...)
	out = append(out, calls("to_hex64", vals("int8", "0", "255", "-1", "9223372036854775807"))...)
	out = append(out, calls("text_concat", vals("text", "a", `\N`), vals("int4", "1", `\N`), vals("bool", "t"), vals("numeric", "1.50"), vals("timestamp", "2000-01-01 10:00"))...)
	out = append(out, calls("text_concat_ws", vals("text", ",", "", `\N`), vals("text", "a", `\N`), vals("int4", "1", `\N`), vals("bool", "f"))...)
	fmts := vals("text", "%s", "%I", "%L", "%%", "%s %I %L", "%1$s %1$s", "%2$s", "%10s\\x7c", "%-10s\\x7c", "%*s", "%1$*2$s", "%z", "%", "%0$s", "%1s", "abc", "%é", "%1$", "%-", "%*", "%99999999999s", "%s%s%s%s")
	out = append(out, calls("text_format", fmts, vals("text", "a b", "x'y", `\N`), vals("int4", "5", "-8", `\N`))...)
	out = append(out, calls("text_format_nv", vals("text", "abc", "%", "%s", "%%"))...)
	bytea := vals("bytea", `\x`, `\x616263`, `\x00ff5c27`, `\x0102030405060708`)
	out = append(out, calls("binary_encode", bytea, vals("text", "hex", "base64", "escape", "HEX", "foo"))...)
	out = append(out, calls("binary_decode", vals("text", "", "616263", "YWJj", "YW Jj\n", "YWI=", "YQ==", "YQ=", "a", "zz", "6", "a$", `\\141\\`, `\141`, `\9`, `\\`, "=", "YQ==YQ=="), vals("text", "hex", "base64", "escape", "foo"))...)
	for _, f := range []string{"md5_bytea", "sha224_bytea", "sha256_bytea", "sha384_bytea", "sha512_bytea", "byteaoctetlen", "bytea_bit_count"} {
		out = append(out, calls(f, bytea)...)
	}
	out = append(out, calls("byteacat", bytea, bytea)...)
	out = append(out, calls("byteapos", bytea, vals("bytea", `\x`, `\x62`, `\x5c27`))...)
	out = append(out, calls("bytea_substr", bytea, vals("int4", "-1", "1", "3"), vals("int4", "-1", "0", "2"))...)
	out = append(out, calls("bytea_substr_no_len", bytea, vals("int4", "-1", "1", "3"))...)
	out = append(out, calls("byteaoverlay", bytea, vals("bytea", `\xaabb`), vals("int4", "0", "1", "3"), vals("int4", "0", "2"))...)
	out = append(out, calls("byteatrim", bytea, vals("bytea", `\x6163`, `\x00`))...)
	out = append(out, calls("byteaGetByte", bytea, vals("int4", "-1", "0", "2"))...)
	out = append(out, calls("byteaSetByte", bytea, vals("int4", "-1", "0"), vals("int4", "1", "300"))...)
	out = append(out, calls("byteaGetBit", bytea, vals("int8", "-1", "0", "9"))...)
	out = append(out, calls("byteaSetBit", bytea, vals("int8", "-1", "0", "9"), vals("int4", "0", "1", "2"))...)
	bits := vals("varbit", "", "1", "1010", "111100001111")
	for _, f := range []string{"bit_and", "bit_or", "bitxor", "bitcat"} {
		out = append(out, calls(f, bits, bits)...)
	}
	for _, f := range []string{"bitnot", "bitlength", "bitoctetlength", "bit_bit_count", "bittoint4", "bittoint8"} {
		out = append(out, calls(f, bits)...)
	}
	for _, f := range []string{"bitshiftleft", "bitshiftright"} {
		out = append(out, calls(f, bits, vals("int4", "0", "1", "3", "20", "-2"))...)
	}
	out = append(out, calls("bitsubstr", bits, vals("int4", "-1", "1", "3"), vals("int4", "-1", "0", "2", "9"))...)
	out = append(out, calls("bitoverlay", bits, vals("varbit", "00"), vals("int4", "0", "1", "3"), vals("int4", "0", "2"))...)
	out = append(out, calls("bitposition", bits, vals("varbit", "", "1", "11", "000"))...)
	out = append(out, calls("bitgetbit", bits, vals("int4", "-1", "0", "3"))...)
	out = append(out, calls("bitsetbit", bits, vals("int4", "-1", "0", "3"), vals("int4", "0", "1", "2"))...)
	out = append(out, calls("bitfromint4", vals("int4", "5", "-1", "255"), vals("int4", "0", "4", "8", "40"))...)
	out = append(out, calls("bitfromint8", vals("int8", "5", "-1", "255"), vals("int4", "0", "4", "8", "70"))...)
	out = append(out, calls("parse_ident", vals("text", `"A".b.c`, "a.b[0]", "a.", `"a`, "a b", "1a", "", ".a", `""`, ` a . "B""c" `, "a..b", "É.x"), vals("bool", "t", "f"))...)
	out = append(out, calls("unistr", vals("text", "abc", `\0041\+000042\u0043\U00000044`, `\zz`, `\d83d\de00`, `\d83d`, `\de00`, `\\`, `\00`, `\+110000`))...)
	out = append(out, calls("unicode_normalize_func", vals("text", "é", "ﬁ"), vals("text", "NFC", "nfd", "NFKC", "x"))...)
	out = append(out, calls("unicode_is_normalized", vals("text", "é", "e\u0301"), vals("text", "NFC", "nfd"))...)
	out = append(out, calls("PG_encoding_to_char", vals("int4", "-1", "0", "6", "41", "42"))...)
	out = append(out, calls("PG_char_to_encoding", vals("name", "utf8", "UTF-8", "latin1", "foo", "sql_ascii", "unicode"))...)
	out = append(out, calls("length_in_encoding", vals("bytea", `\x6162`, `\xc3a9`, `\xff`), vals("name", "utf8", "foo"))...)
	out = append(out, calls("pg_convert_from", vals("bytea", `\x6162`, `\xc3a9`, `\xff`), vals("name", "utf8", "foo"))...)
	out = append(out, calls("nameconcatoid", vals("name", "abc", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), vals("oid", "1", "4294967295"))...)
	return out
}

func likeCases() (out []string) {
	s := vals("text", "", "abc", "a%c", `a\c`, "ABC", "aébc", "日本", "aaaab", "abcabc", "a_c")
	p := vals("text", "", "%", "a%", "%c", "%b%", "a_c", "a__", `a\%c`, `a\_c`, `a\\c`, "_", "__", "%%", "a%c%", "%a%b", "_é%", `\`, `ab\`, `a%\`, "%_", "abc", "日_", "%bc", "a%b%c")
	for _, f := range []string{"textlike", "textnlike", "texticlike", "texticnlike"} {
		out = append(out, calls(f, s, p)...)
	}
	out = append(out, calls("bytealike", vals("bytea", `\x616263`, `\xff00`), vals("bytea", `\x6125`, `\x5f5f`, `\x25`))...)
	out = append(out, calls("like_escape", vals("text", "a%", "a!%b", `a\b`, "!!", "!", "aééb"), vals("text", "", "!", `\`, "é", "ab"))...)
	out = append(out, calls("similar_to_escape_2", vals("text", "a%b_", "(a\\x7cb)+", `a\b`, "[a%]", "a#%b", "a.b^$", `x#"y#"z`, `#"#"#"`, "[[:alpha:]]", "#é"), vals("text", "#", `\`, "", "ab"))...)
	out = append(out, calls("similar_to_escape_1", vals("text", "a%b_", `a\%b`, "a.b"))...)
	return out
}

func regexCases() (out []string) {
	texts := vals("text", "", "abc", "aabbcc", "foo bar baz", "ABC", "a\nb", "foobarbequebaz", "x1y22z333", "éàb", "xaaay", "abcabc", "a.c", "foo_bar foobar")
	patterns := vals("text", "", "a", "b+", "^a", "c$", "a.c", "[a-c]+", "[^a-c]", `\d+`, `\w+`, `\s`, "(a)(b)?", "a\\x7cb", "(bar)(beque)", "b*", "(?i)ABC", `\mbar\M`, `\yfoo\y`, "[[:digit:]]+", "[[:alpha:]]", "o{2}", "a{1,2}", "a+?", "a*?b", "(.*?)(b+)(.*)", "(a\\x7cab)(c\\x7cbcd)?", "x(a+)y", `(.)\1`, "b(?=a)", "b(?!e)", "(?<=o)b", "(?<!o)b", "***=a.c", "(?n)^b", "(?n)a.b", "(?x) a b # c", `\Aab`, `bc\Z`, "[]a]", "[a\\]b]", `\u0061`, `\x61b`, `[\d]+`, "[^[:space:]]+", "(foo)_?(bar)", ".", "é", "(?q)a.c", "a{,3}", "()", "(^)*", "(a*)+", "(a*)*b", "a\\x7c", "\\x7ca")
	bad := vals("text", "(a", "[a", "*a", "a{2", "a{3,2}", `a\`, "[z-a]", "[[:foo:]]", "a)", "a**", "a{300}", "(?q", `\q`, "(?z)a", "+", "a{1", "[[.foo.]]", `(a)\2`, "a{1,", "(?<a)", "^*", "(?=a)*", "[a-\\d]", "***x")
	for _, f := range []string{"textregexeq", "texticregexeq"} {
		out = append(out, calls(f, texts, patterns)...)
	}
	out = append(out, calls("textregexeq", texts[1:2], bad)...)
	out = append(out, calls("textregexsubstr", texts, patterns)...)
	out = append(out, calls("regexp_match_no_flags", texts, patterns)...)
	out = append(out, calls("regexp_matches", texts, patterns, vals("text", "g"))...)
	out = append(out, calls("regexp_split_to_array_no_flags", texts, patterns)...)
	out = append(out, calls("regexp_split_to_table_no_flags", texts[1:4], patterns)...)
	out = append(out, calls("textregexreplace", texts, patterns, vals("text", `<\&>`), vals("text", "g"))...)
	out = append(out, calls("textregexreplace_noopt", texts[1:3], patterns[:12], vals("text", `[\1\2]`, `\\x`, `\`, `a\zb`))...)
	out = append(out, calls("textregexreplace", vals("text", "ABCabc"), vals("text", "b"), vals("text", "x"), vals("text", "", "g", "i", "gi", "z", "1", "ng"))...)
	out = append(out, calls("regexp_match", vals("text", "ABCabc"), vals("text", "b"), vals("text", "", "g", "i", "z"))...)
	out = append(out, calls("regexp_count_no_flags", texts, patterns[:20], vals("int4", "0", "1", "2", "50"))...)
	out = append(out, calls("regexp_instr", texts[1:5], patterns[:16], vals("int4", "1", "2"), vals("int4", "1", "2"), vals("int4", "0", "1", "2"), vals("text", ""), vals("int4", "0", "1"))...)
	out = append(out, calls("regexp_substr", texts[1:5], patterns[:16], vals("int4", "1", "2"), vals("int4", "1", "2"), vals("text", "i"), vals("int4", "0", "1", "-1"))...)
	out = append(out, calls("regexp_like", texts[1:3], patterns[:10], vals("text", "i", "g"))...)
	out = append(out, calls("textregexreplace_extended", vals("text", "aaaa", "abcabc"), vals("text", "a", "b(c)?"), vals("text", "X"), vals("int4", "1", "2", "0", "9"), vals("int4", "0", "1", "2", "-1"), vals("text", "", "g", "i"))...)
	return out
}

func arrayFnCases() (out []string) {
	arrs := vals("int4[]", "{}", "{1}", "{1,2,3}", "{1,NULL,3}", "{{1,2},{3,4}}", "[0:1]={5,6}", "[-2:0]={1,2,1}", `\N`)
	elems := vals("int4", "1", "9", `\N`)
	out = append(out, calls("array_append", arrs, elems)...)
	out = append(out, calls("array_prepend", elems, arrs)...)
	out = append(out, calls("array_cat", arrs, append(vals("int4[]", "{{7,8}}", "{{{1}}}"), arrs...))...)
	out = append(out, calls("array_position", arrs, elems)...)
	out = append(out, calls("array_position_start", arrs, elems, vals("int4", "-1", "0", "2", `\N`))...)
	out = append(out, calls("array_positions", arrs, elems)...)
	out = append(out, calls("array_remove", arrs, elems)...)
	out = append(out, calls("array_replace", arrs, elems, vals("int4", "7", `\N`))...)
	for _, f := range []string{"array_lower", "array_upper", "array_length"} {
		out = append(out, calls(f, arrs, vals("int4", "0", "1", "2", "3"))...)
	}
	for _, f := range []string{"array_dims", "array_ndims", "array_cardinality", "array_unnest"} {
		out = append(out, calls(f, arrs)...)
	}
	out = append(out, calls("trim_array", arrs[:7], vals("int4", "-1", "0", "1", "2", "9"))...)
	out = append(out, calls("array_to_text", arrs, vals("text", ",", ""))...)
	out = append(out, calls("array_to_text_null", arrs, vals("text", ",", `\N`), vals("text", "*", `\N`))...)
	out = append(out, calls("array_fill", vals("int4", "7", `\N`), vals("int4[]", "{}", "{3}", "{2,2}", "{0}", "{-1}", "{NULL}", "{{1}}", "{1,1,1,1,1,1,1}", `\N`))...)
	out = append(out, calls("array_fill_with_lower_bounds", vals("int4", "7"), vals("int4[]", "{2}", "{2,2}"), vals("int4[]", "{0}", "{0,-1}", `\N`))...)
	for _, f := range []string{"arraycontains", "arraycontained", "arrayoverlap"} {
		out = append(out, calls(f, arrs, vals("int4[]", "{}", "{1}", "{1,2}", "{NULL}", "{{3},{1}}"))...)
	}
	for _, f := range []string{"text_to_array", "text_to_table"} {
		out = append(out, calls(f, vals("text", "a,b,,c", "", "abc", `\N`), vals("text", ",", "", "bc", `\N`))...)
	}
	out = append(out, calls("text_to_array_null", vals("text", "a,b,,c", "", `\N`), vals("text", ",", "", `\N`), vals("text", "", "a", `\N`))...)
	out = append(out, calls("generate_subscripts", arrs, vals("int4", "0", "1", "2"), vals("bool", "t", "f"))...)
	out = append(out, calls("generate_subscripts_nodir", arrs, vals("int4", "0", "1", "2"))...)
	out = append(out, calls("generate_series_int4", vals("int4", "1", "3", "2147483646"), vals("int4", "3", "0", "2147483647"))...)
	return filterLong(out)
}

// filterLong drops series that would fill the file.
func filterLong(in []string) (out []string) {
	for _, c := range in {
		if c != "generate_series_int4|int4:1|int4:2147483647" && c != "generate_series_int4|int4:3|int4:2147483647" {
			out = append(out, c)
		}
	}
	return out
}

func seriesCases() (out []string) {
	out = append(out, calls("generate_series_step_int4", vals("int4", "1", "5", "2147483640", "-2147483640"), vals("int4", "5", "1"), vals("int4", "2", "-2", "0"))...)
	kept := out[:0]
	for _, c := range out {
		if c != "generate_series_step_int4|int4:-2147483640|int4:5|int4:2" && c != "generate_series_step_int4|int4:-2147483640|int4:1|int4:2" && c != "generate_series_step_int4|int4:2147483640|int4:5|int4:-2" && c != "generate_series_step_int4|int4:2147483640|int4:1|int4:-2" {
			kept = append(kept, c)
		}
	}
	out = kept
	out = append(out, "generate_series_step_int4|int4:2147483640|int4:2147483647|int4:3", "generate_series_int8|int8:9223372036854775805|int8:9223372036854775807", "generate_series_step_int8|int8:-9223372036854775805|int8:-9223372036854775808|int8:-2")
	out = append(out, calls("generate_series_numeric", vals("numeric", "1.5", "0", "nan", "inf"), vals("numeric", "4", "3.75", "nan", "-inf"))...)
	out = append(out, calls("generate_series_step_numeric", vals("numeric", "1.5", "4"), vals("numeric", "4", "1"), vals("numeric", "0.75", "-1.5", "0", "nan", "inf"))...)
	out = append(out, calls("generate_series_timestamp", vals("timestamp", "2000-01-31", "2000-03-01"), vals("timestamp", "2000-05-01", "2000-01-01"), vals("interval", "1 month", "-1 month", "10 days 12:00", "0"))...)
	out = append(out, "set timezone = 'America/New_York'")
	out = append(out, calls("generate_series_timestamptz", vals("timestamptz", "2024-03-09 12:00"), vals("timestamptz", "2024-03-12 12:00"), vals("interval", "1 day", "24:00", "12:00"))...)
	return out
}

func datetimeFnCases() (out []string) {
	ts := vals("timestamp", "2000-01-01 00:00:00", "2024-02-29 12:34:56.789012", "1999-12-31 23:59:59.999999", "0001-01-01 00:00:00 BC", "0044-03-15 12:00:00 BC", "294276-12-31 23:59:59", "1970-01-01 00:00:00", "infinity", "-infinity", "2019-12-30 01:02:03", "4713-01-01 BC")
	tz := vals("timestamptz", "2000-01-01 00:00:00+00", "2024-03-10 06:59:59+00", "2024-03-10 07:00:00+00", "2024-11-03 05:30:00+00", "2024-11-03 06:30:00+00", "1900-06-15 12:00:00+00", "infinity", "-infinity", "2024-07-04 23:30:00+00")
	dates := vals("date", "2000-01-01", "2024-02-29", "1999-12-31", "0001-01-01 BC", "5874897-12-31", "infinity", "-infinity", "2021-01-03", "4714-11-24 BC")
	times := vals("time", "00:00", "12:34:56.789012", "23:59:59.999999", "24:00")
	timetz := vals("timetz", "00:00+00", "12:34:56.789012-05:30", "23:59:59.999999+14", "24:00-03")
	ivs := vals("interval", "0", "1 year 2 months 3 days 04:05:06.789", "-1 year -2 months -3 days -04:05:06.789", "1 month", "-1 month", "35 days", "30:00:00", "1 mon -1 day", "-1 day +23:59:59", "178956970 years", "2147483647 days", "1 day", "-100:00:00.000001", "90 days", "13 months")
	units := vals("text", "microseconds", "milliseconds", "second", "minute", "hour", "day", "month", "quarter", "week", "isoyear", "year", "decade", "century", "millennium", "julian", "epoch", "dow", "isodow", "doy", "timezone", "timezone_hour", "timezone_minute", "foo", "YEAR", "mons", "usecs", "d", "")
	for _, zone := range []string{"UTC", "America/New_York"} {
		out = append(out, "set timezone = '"+zone+"'")
		for _, p := range []string{"extract_timestamp", "timestamp_part"} {
			out = append(out, calls(p, units, ts)...)
		}
		for _, p := range []string{"extract_timestamptz", "timestamptz_part"} {
			out = append(out, calls(p, units, tz)...)
		}
		out = append(out, calls("timestamptz_trunc", units, tz)...)
		out = append(out, calls("timestamptz_timestamp", tz)...)
		out = append(out, calls("timestamp_timestamptz", ts)...)
		out = append(out, calls("timestamptz_date", tz)...)
		out = append(out, calls("timestamptz_time", tz)...)
		out = append(out, calls("timestamptz_timetz", tz)...)
		out = append(out, calls("date_timestamptz", dates)...)
		out = append(out, calls("timestamptz_pl_interval", tz, ivs)...)
		out = append(out, calls("timestamptz_mi_interval", tz, ivs)...)
		out = append(out, calls("timestamptz_age", tz, tz)...)
		out = append(out, calls("timestamp_mi", tz, tz)...)
		for _, op := range []string{"eq", "lt", "ge", "cmp"} {
			out = append(out, calls("date_"+op+"_timestamptz", dates, tz)...)
			out = append(out, calls("timestamp_"+op+"_timestamptz", ts, tz)...)
			out = append(out, calls("timestamptz_"+op+"_timestamp", tz, ts)...)
		}
	}
	out = append(out, "set timezone = 'UTC'")
	for _, op := range []string{"eq", "ne", "lt", "le", "gt", "ge", "cmp"} {
		out = append(out, calls("date_"+op+"_timestamp", dates, ts)...)
		out = append(out, calls("timestamp_"+op+"_date", ts, dates)...)
	}
	out = append(out, calls("extract_date", units, dates)...)
	for _, p := range []string{"extract_time", "time_part"} {
		out = append(out, calls(p, units, times)...)
	}
	for _, p := range []string{"extract_timetz", "timetz_part"} {
		out = append(out, calls(p, units, timetz)...)
	}
	for _, p := range []string{"extract_interval", "interval_part", "interval_trunc"} {
		out = append(out, calls(p, units, ivs)...)
	}
	out = append(out, calls("timestamp_trunc", units, ts)...)
	out = append(out, calls("timestamptz_trunc_zone", units[2:14], tz, vals("text", "UTC", "America/New_York", "Asia/Tokyo", "EST", "foo"))...)
	out = append(out, calls("timestamp_bin", vals("interval", "15 minutes", "1 day", "1 month", "0", "-1 day"), ts, vals("timestamp", "2000-01-01 00:02", "infinity"))...)
	out = append(out, calls("timestamp_pl_interval", ts, ivs)...)
	out = append(out, calls("timestamp_mi_interval", ts, ivs)...)
	out = append(out, calls("timestamp_mi", ts, ts)...)
	out = append(out, calls("timestamp_age", ts, ts)...)
	out = append(out, calls("date_mi", dates, dates)...)
	out = append(out, calls("date_pli", dates, vals("int4", "0", "1", "-1", "366", "2147483647"))...)
	out = append(out, calls("date_mii", dates, vals("int4", "0", "1", "-1", "366", "2147483647"))...)
	out = append(out, calls("date_pl_interval", dates, ivs)...)
	out = append(out, calls("date_mi_interval", dates, ivs)...)
	out = append(out, calls("time_pl_interval", times, ivs)...)
	out = append(out, calls("time_mi_interval", times, ivs)...)
	out = append(out, calls("time_mi_time", times, times)...)
	out = append(out, calls("timetz_pl_interval", timetz, ivs)...)
	out = append(out, calls("timetz_mi_interval", timetz, ivs)...)
	for _, f := range []string{"interval_pl", "interval_mi"} {
		out = append(out, calls(f, ivs, ivs)...)
	}
	for _, f := range []string{"interval_mul", "interval_div"} {
		out = append(out, calls(f, ivs, vals("float8", "0", "1", "2", "-1", "0.5", "1.5", "3", "7", "0.1", "1e10", "nan", "inf"))...)
	}
	for _, f := range []string{"interval_um", "interval_justify_days", "interval_justify_hours", "interval_justify_interval", "interval_finite", "interval_time"} {
		out = append(out, calls(f, ivs)...)
	}
	for _, f := range []string{"timestamp_date", "timestamp_time", "timestamp_finite"} {
		out = append(out, calls(f, ts)...)
	}
	for _, f := range []string{"date_timestamp", "date_finite"} {
		out = append(out, calls(f, dates)...)
	}
	out = append(out, calls("time_interval", times)...)
	out = append(out, calls("timetz_time", timetz)...)
	out = append(out, calls("datetime_timestamp", dates, times)...)
	out = append(out, calls("datetimetz_timestamptz", dates, timetz)...)
	out = append(out, calls("make_date", vals("int4", "2000", "0", "-44", "5874898", "-2147483648"), vals("int4", "0", "2", "12", "13"), vals("int4", "0", "1", "29", "30", "31", "32"))...)
	out = append(out, calls("make_time", vals("int4", "-1", "0", "23", "24", "25"), vals("int4", "-1", "0", "59", "60"), vals("float8", "-1", "0", "59.9999999", "60", "60.5", "nan"))...)
	out = append(out, calls("make_timestamp", vals("int4", "2000", "-44", "0", "294277"), vals("int4", "2"), vals("int4", "29", "30"), vals("int4", "12", "24"), vals("int4", "0", "30"), vals("float8", "0", "15.5"))...)
	out = append(out, calls("make_timestamptz_at_timezone", vals("int4", "2000"), vals("int4", "7"), vals("int4", "15"), vals("int4", "8"), vals("int4", "15"), vals("float8", "55.33"), vals("text", "UTC", "CET", "Europe/Prague", "+1", "-10:30", "+02:03:04", "10", "foo", "+16", "+1x"))...)
	out = append(out, calls("make_interval", vals("int4", "1", "-3"), vals("int4", "2"), vals("int4", "3"), vals("int4", "4"), vals("int4", "5", "-70"), vals("int4", "6"), vals("float8", "7.5", "nan"))...)
	out = append(out, calls("timestamptz_zone", vals("text", "UTC", "America/New_York", "EST", "EDT", "+03", "MSK", "foo", "Europe/Moscow", "<+02>-2", "est5edt"), tz)...)
	out = append(out, calls("timestamp_zone", vals("text", "UTC", "America/New_York", "EST", "MSK", "foo", "Europe/Moscow"), ts)...)
	out = append(out, calls("timestamptz_izone", vals("interval", "0", "05:30", "-08:00", "1 day", "1 month"), tz)...)
	out = append(out, calls("timestamp_izone", vals("interval", "0", "05:30", "-08:00", "1 day"), ts)...)
	out = append(out, calls("timetz_izone", vals("interval", "0", "05:30", "-08:00", "1 day"), timetz)...)
	out = append(out, calls("timetz_zone", vals("text", "UTC", "+03", "Asia/Tokyo", "foo"), timetz)...)
	out = append(out, calls("float8_timestamptz", vals("float8", "0", "1.5", "-1", "1e9", "1e20", "-1e20", "nan", "inf", "-inf", "1700000000.123456"))...)
	tn := append(vals("time", `\N`), times[:3]...)
	out = append(out, calls("overlaps_time", tn, tn, tn, tn)...)
	return out
}

func miscCases() (out []string) {
	hashes := func(name string, v []string, extended string) {
		out = append(out, calls(name, v)...)
		out = append(out, calls(extended, v, vals("int8", "0", "1", "-1", "12345678901"))...)
	}
	hashes("hashint2", vals("int2", int2Vals...), "hashint2extended")
	hashes("hashint4", vals("int4", int4Vals...), "hashint4extended")
	hashes("hashint8", vals("int8", int8Vals...), "hashint8extended")
	hashes("hashfloat4", vals("float4", realVals...), "hashfloat4extended")
	hashes("hashfloat8", vals("float8", floatVals...), "hashfloat8extended")
	hashes("hashtext", vals("text", "", "a", "abcd", "abcdefghijk", "abcdefghijkl", "abcdefghijklmnopqrstuvwxyz é"), "hashtextextended")
	hashes("hashname", vals("name", "abc"), "hashnameextended")
	hashes("hashbpchar", vals("bpchar", "abc  ", "abc"), "hashbpcharextended")
	hashes("hashchar", vals(`"char"`, "a", `\377`), "hashcharextended")
	hashes("hashoid", vals("oid", "0", "4294967295"), "hashoidextended")
	hashes("hash_numeric", vals("numeric", "0", "1", "1.0", "100", "10000", "0.0001", "-123.456", "1e20", "nan", "inf", "123456789.123456789"), "hash_numeric_extended")
	hashes("uuid_hash", vals("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), "uuid_hash_extended")
	hashes("time_hash", vals("time", "00:00", "12:34:56.789"), "time_hash_extended")
	hashes("timestamp_hash", vals("timestamp", "2000-01-01", "1999-01-01 01:02:03"), "timestamp_hash_extended")
	hashes("timetz_hash", vals("timetz", "12:34:56+05"), "timetz_hash_extended")
	hashes("interval_hash", vals("interval", "1 day", "24:00", "-1 month"), "interval_hash_extended")
	hashes("hash_array", vals("int4[]", "{}", "{1}", "{1,NULL,3}", "{{1,2}}"), "hash_array_extended")
	out = append(out, calls("format_type", vals("oid", "0", "16", "18", "23", "25", "1042", "1043", "1700", "1014", "1015", "1560", "1114", "1231", "2249", "999999", `\N`), vals("int4", "-1", "6", "655366", `\N`))...)
	out = append(out, calls("pg_size_pretty", vals("int8", "0", "1", "-1", "1023", "10239", "10240", "10485247", "10485248", "10737418240", "-10240", "1099511627776", "9223372036854775807", "-9223372036854775808", "20000000000000000"))...)
	out = append(out, calls("pg_size_pretty_numeric", vals("numeric", "0", "1", "-1", "10239", "10240", "10240.5", "10485247", "10485248", "10737418240.9", "-10240", "1e20", "1e30", "nan"))...)
	out = append(out, calls("pg_size_bytes", vals("text", "1", "1kB", "1 MB", "1.5 GB", "-2TB", "1PB", "1e3", "1e3 kB", " 12 bytes ", "x", "1 x", "", "1.", ".5 kB", "1EB", "10000000PB", "1B"))...)
	for _, f := range []string{"int4_int4", "int8_int8", "int2_int4"} {
		v := vals("int4", "1", "5", "10")
		switch f {
		case "int8_int8":
			v = vals("int8", "1", "5", "9223372036854775807")
		case "int2_int4":
			v = vals("int2", "1", "5", "32767")
		}
		off := vals("int4", "0", "3", "-1")
		if f == "int8_int8" {
			off = vals("int8", "0", "3", "-1", "9223372036854775807")
		}
		out = append(out, calls("in_range_"+f, v, v, off, vals("bool", "t", "f"), vals("bool", "t", "f"))...)
	}
	fv := vals("float8", "1", "5", "inf", "nan", "-inf")
	out = append(out, calls("in_range_float8_float8", fv, fv, vals("float8", "0", "3", "-1", "inf", "nan"), vals("bool", "t", "f"), vals("bool", "t", "f"))...)
	nv := vals("numeric", "1", "5", "inf", "nan", "-inf")
	out = append(out, calls("in_range_numeric_numeric", nv, nv, vals("numeric", "0", "3", "-1", "inf", "nan"), vals("bool", "t", "f"), vals("bool", "t", "f"))...)
	tv := vals("timestamp", "2000-01-01", "2000-02-01")
	out = append(out, calls("in_range_timestamp_interval", tv, tv, vals("interval", "0", "1 month", "-1 day"), vals("bool", "t", "f"), vals("bool", "t", "f"))...)
	dv := vals("date", "2000-01-01", "2000-02-01")
	out = append(out, calls("in_range_date_interval", dv, dv, vals("interval", "0", "1 month", "-1 day"), vals("bool", "t", "f"), vals("bool", "t", "f"))...)
	iv := vals("interval", "1 day", "1 month")
	out = append(out, calls("in_range_interval_interval", iv, iv, vals("interval", "0", "1 month", "-1 day"), vals("bool", "t", "f"), vals("bool", "t", "f"))...)
	tt := vals("time", "00:00", "12:00", "23:00")
	kinds := vals(`"char"`, "c", "r", "s", "d", "f", "l", "L", "n", "t", "F", "S", "T", "p", "z")
	out = append(out, calls("acldefault_sql", kinds, vals("oid", "999"))...)
	out = append(out, calls("makeaclitem", vals("oid", "0", "998"), vals("oid", "999"), vals("text", "select", "TEMP", "alter system", "alter_system", "foo", "select, insert", ""), vals("bool", "t", "f"))...)
	out = append(out, calls("hashoidvector", vals("oidvector", "", "1", "1 2 3 4"))...)
	out = append(out, calls("hashtid", vals("tid", "(1,2)", "(70000,3)"))...)
	out = append(out, calls("hashtidextended", vals("tid", "(1,2)", "(70000,3)"), vals("int8", "0", "9"))...)
	out = append(out, calls("int4send", vals("int4", "-2"))...)
	out = append(out, calls("numeric_send", vals("numeric", "-12345.67"))...)
	out = append(out, calls("jsonb_send", vals("jsonb", "[1]"))...)
	out = append(out, calls("numerictypmodin", vals("cstring[]", "{5,2}", "{5}", "{x}", "{0}", "{5,2,1}"))...)
	out = append(out, calls("intervaltypmodout", vals("int4", "-1", "2147418112", "2147418115"))...)
	out = append(out, calls("to_ascii_default", vals("text", "x"))...)
	out = append(out, "pg_promote|bool:t|int4:1")
	out = append(out, calls("in_range_time_interval", tt, tt, vals("interval", "0", "3:00", "30:00", "-1 day"), vals("bool", "t", "f"), vals("bool", "t", "f"))...)
	out = append(out, calls("pg_num_nulls", vals("int4", "1", `\N`), vals("text", "a", `\N`))...)
	return out
}
