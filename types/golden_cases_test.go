package types

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

func goldenSets() map[string]func() []goldenCase {
	return map[string]func() []goldenCase{
		"scalar":   scalarCases,
		"float":    floatCases,
		"text":     textCases,
		"numeric":  numericCases,
		"datetime": datetimeCases,
		"interval": intervalCases,
		"array":    arrayCases,
		"json":     jsonCases,
	}
}

func each(typ string, inputs ...string) (out []goldenCase) {
	for _, in := range inputs {
		out = append(out, goldenCase{typ: typ, input: in})
	}
	return out
}

func settings(s string) []goldenCase { return []goldenCase{{set: s}} }

func concat(lists ...[]goldenCase) (out []goldenCase) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func goldenRand() *rand.Rand { return rand.New(rand.NewPCG(15, 2024)) }

func scalarCases() []goldenCase {
	ints := []string{
		"0", "1", "-1", "+1", "  12  ", "\t7\n", "32767", "32768", "-32768", "-32769", "2147483647", "2147483648", "-2147483648",
		"-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "", " ", "-", "+",
		"1 2", "abc", "1a", "0x10", "1_000", "1.0", "1e3", "--1", "00012", "99999999999999999999999999", "-99999999999999999999999999x", "- 1",
	}
	var out []goldenCase
	for _, typ := range []string{"int2", "int4", "int8"} {
		out = append(out, each(typ, ints...)...)
	}
	out = append(out, each("oid", append(ints, "4294967295", "4294967296", "-4294967296", "1 x")...)...)
	out = append(out, each("xid", "0", "1", "0x1F", "017", "4294967296", "-1", "abc", "", "99999999999999999999", "12abc")...)
	out = append(out, each("cid", "0", "1", "0x1F", "017", "-1", "abc")...)
	out = append(out, each("xid8", "0", "1", "0x1F", "18446744073709551615", "18446744073709551616", "-1", "abc", "")...)
	out = append(out, each("bool", "t", "f", "true", "false", "TRUE", "False", "tr", "fals", "y", "n", "yes", "no", "on", "off", "of", "o",
		"1", "0", "2", "", " t ", "  true  ", "truee", "ye", "YES", "nope", "oN", "OFF", "01", "1 1")...)
	out = append(out, each("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
		"a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "", "xyz", " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
		"a-0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-")...)
	out = append(out, each("tid", "(0,0)", "(1,2)", "(4294967295,65535)", "(4294967296,1)", "(1,65536)", "(-1,1)", " (1,2)", "(1,2) ", "(1,2)x", "1,2", "(1;2)", "(1,2",
		"( 1, 2)", "(1 ,2)", "(1,-1)", "", "()", "(,)", "(a,b)")...)
	out = append(out, each("pg_lsn", "0/0", "16/B374D848", "FFFFFFFF/FFFFFFFF", "0/16ae7f8", "1/2/3", "G/0", "123456789/0", "0/", "/0", "", " 0/1", "0/1 ", "-1/0")...)
	out = append(out, each("money", "0", "1", "-1", "$1", "$-1", "-$1", "1.5", "1.234", "1.235", "1,234.56", "$12,345,678.90", "(1.5)", "($1.50)", "1.50-", "", "abc", "1x",
		"92233720368547758.07", "92233720368547758.08", "-92233720368547758.08", "-92233720368547758.09", ".5", "1.", " 12 ", "1 2", "0.005", "0.004")...)
	return out
}

func floatCases() []goldenCase {
	inputs := []string{
		"0", "-0", "1", "-1", "1.5", "0.1", "0.2", "0.3", "1e10", "1e14", "1e15", "1e16", "123456789012345", "1234567890123456", "12345678901234567", "1e-4", "1e-5",
		"0.0001", "0.00001", "0.00012345", "1e100", "1e308", "1.7976931348623157e308", "1.7976931348623159e308", "1e309", "-1e309", "5e-324", "4.9e-324", "2e-324", "1e-400",
		"2.2250738585072014e-308", "1e-310", "NaN", "nan", "NAN", "-nan", "+nan", "inf", "-inf", "+inf", "Infinity", "-Infinity", "INFINITY", "infinit", "infinityx", "", " ", "  1  ", " 1 x",
		"1e", "1e+", "e5", ".", ".5", "5.", "-.5", "1..2", "1.2.3", "0x1p3", "0x1F", "0x", "0x.8p1", "1_000", "1,5", "--1", "+1.5", "1d", "1f", "3.4028235e38", "3.4028236e38", "3.5e38", "1e38", "1e39",
		"1e-45", "1.4e-45", "7e-46", "1e-46", "1.17549435e-38", "16777216", "16777217", "123456.7", "1234567", "0.1234567", "1e5", "1e6", "100000", "999999", "9999999", "33554432", "3.14159265358979323846",
		"1e22", "1e23", "9007199254740993", "0.30000000000000004", "1e00000000000001", "1e-00000000001", "00001.5", "1e99999999999999999999", "-1e-99999999999999999999", "0e999999999",
	}
	r := goldenRand()
	for range 300 {
		inputs = append(inputs, fmt.Sprintf("%v", math.Float64frombits(r.Uint64())))
		inputs = append(inputs, fmt.Sprintf("%.*e", r.IntN(18), r.NormFloat64()*math.Pow(10, float64(r.IntN(30)-15))))
		inputs = append(inputs, fmt.Sprintf("%v", math.Float32frombits(r.Uint32())))
	}
	var out []goldenCase
	for _, digits := range []string{"1", "0", "3", "-5", "-15"} {
		out = append(out, settings("extra_float_digits = "+digits)...)
		n := len(inputs)
		if digits != "1" {
			n = 200
		}
		out = append(out, each("float8", inputs[:n]...)...)
		out = append(out, each("float4", inputs[:n]...)...)
	}
	return out
}

func textCases() []goldenCase {
	long := strings.Repeat("x", 70)
	strs := []string{"", "a", "abc", "abcd", "abcde", "abc  ", "abc      ", "   ", "  abc", "é", "éèà", "éèàù", "日本語", "日本語テキスト", "日本  ", "a\tb", "tab\t\t\t", "'", "\\", "\\\\"}
	out := concat(each("text", strs...), each("varchar(3)", strs...), each("varchar", strs...), each("char(3)", strs...), each("char", strs...),
		each("varchar(4)", strs...), each("name", append(strs, long, strings.Repeat("é", 40), "x"+strings.Repeat("é", 40), strings.Repeat("日", 22))...),
		each(`"char"`, "", "a", "ab", "é", "\\101", "\\377", "\\400", "\\12", "\\1234", " ", "\\", "\\\\"))
	byteas := []string{
		"", "abc", "\\x", "\\x00", "\\xDEADbeef", "\\xDE AD", "\\x de ad ", "\\xd", "\\xdea", "\\xg0", "\\x0g", "\\xé", "\\X00", "a\\\\b", "a\\b", "\\000", "\\001\\002", "\\377", "\\400", "\\08", "\\", "\\\\",
		"é", "a'b", "\x01\x7f", "~ \"", "\\x0 0", "\\x\n0a\t0b\r0c",
	}
	out = append(out, each("bytea", byteas...)...)
	out = append(out, settings("bytea_output = escape")...)
	out = append(out, each("bytea", append(byteas, "\\x000102030405060708090a0b0c0d0e0f101f20217e7f80ff5c")...)...)
	bits := []string{"", "0", "1", "101", "10110", "0000000011111111", "b101", "B101", "x1F", "X1f", "xg", "102", "b12", "x", "b", " 1", "1 ", "é", "1010101"}
	for _, typ := range []string{"bit(3)", "bit", "bit varying(3)", "varbit", "bit varying(5)"} {
		if typ == "bit" {
			typ = "bit(1)"
		}
		out = append(out, each(typ, bits...)...)
	}
	return out
}

func numericCases() []goldenCase {
	inputs := []string{
		"0", "-0", "0.0", "0.00", "1", "-1", "1.0", "1.10", "123.456", "-123.456", ".5", "5.", ".", "", " ", "-", "+", "+5", " 5 ", "5 x", "1e5", "1E5", "1e-5", "1.5e3", "1.50e1", "1.23456e2", "1e", "1e+", "1e+5", "1e 5", "e5",
		"1_000", "1,000", "abc", "NaN", "nan", "nAn", "+nan", "-nan", "inf", "-inf", "Infinity", "-infinity", "+Infinity", "INF", "infinit", "nan1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"99999999999999999999999999999999999999", "0.00000000000000000000000000000000001", "12345678901234567890.12345678901234567890", "1e20", "1e-20", "1e50", "1e131071", "1e131072", "1e-16383", "1e-16384", "0e-16384", "1e999999999", "1e-999999999", "1e99999999999999999999",
		"0e5", "0e-5", "0.000e2", "00001.2300", "1.2.3", "--5", "1e5.5", "0x10", "1e400", "9.995", "9.994999", "0.5", "-0.5", "0.05", "999.995", "999.994", "1234567.895", "-999.999", "1e2", "12345", "0.999", "0.995", "150", "149", "-150", "49", "50", "9999", "1e-3",
	}
	r := goldenRand()
	for range 150 {
		var b strings.Builder
		if r.IntN(2) == 0 {
			b.WriteByte('-')
		}
		for range r.IntN(30) {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		b.WriteByte('.')
		for range 1 + r.IntN(30) {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		inputs = append(inputs, b.String())
	}
	var out []goldenCase
	for _, typ := range []string{"numeric", "numeric(5,2)", "numeric(10)", "numeric(3,3)", "numeric(38,10)", "numeric(3,-2)", "numeric(3,5)", "numeric(1000,500)"} {
		out = append(out, each(typ, inputs...)...)
	}
	return out
}

var dateInputs = []string{
	"1999-01-08", "January 8, 1999", "1/8/1999", "1/18/1999", "18/1/1999", "01/02/03", "1999-Jan-08", "Jan-08-1999", "08-Jan-1999", "99-Jan-08", "08-Jan-99", "Jan-08-99", "19990108", "990108", "1999.008", "J2451187", "January 8, 99 BC",
	"2000-02-29", "1900-02-29", "2001-02-29", "2000-02-30", "2000-13-01", "2000-00-01", "2000-01-00", "2000-01-32", "0000-01-01", "0001-01-01", "0001-01-01 BC", "4714-11-24 BC", "4714-11-23 BC", "4713-01-01 BC", "5874897-12-31", "5874898-01-01", "10000-01-01", "12345-06-07",
	"infinity", "-infinity", "+infinity", "epoch", "Infinity", "INFINITY", "today", "now", "tomorrow", "yesterday", "", " ", "abc", "1999-01", "1999", "1999-1-8", "1999-1-8 ", " 1999-1-8", "1999 1 8", "8 Jan 1999", "Jan 8 1999", "Jan 8", "Monday Jan 8 1999", "Mon, 8 Jan 1999",
	"1999/01/08", "1999.01.08", "08.01.1999", "1999-01-08 BC", "1999-01-08 AD", "99-01-08", "9-1-8", "20-1-8", "69-1-1", "70-1-1", "100-1-1", "2000-01-01 12:34:56", "2000-01-01T12:34:56Z", "2000-01-01 junk", "1999-008", "1999 008", "1999-366", "2000-366", "1999-367", "sept 1 2000",
	"2000-01-01 24:00:00", "2000-01-01 25:00:00", "may 5 2005", "5 may 05", "20000101T010203", "20000101 010203", "20000101 0102", "y2001m02d04", "2001-02-03 t 040506", "J2451187.5", "J-1", "jd 2451187", "julian 2451187", "January 32 1999", "32 January 1999",
	"1999-01-08 allballs", "1e5", "2000--01-01", "2000-01-01-", "2000-01-01 1999-01-01", "01-02-2003 BC", "Feb 30 2000", "feb29 2000", "at 2000-01-01", "on jan 1 2000", "2147483648-01-01", "99999999999-01-01", "294276-12-31", "294277-01-01",
	"2000-01-01 ", "2000/1/1", "2000/jan/1", "1.1.2000", "13.1.2000", "1-1-1", "01-01-01", "1/1/1", "31-12-99", "12-31-99", "99-12-31", "1 1 1", "xx 1 2000", "10:20:30",
}

var timestampInputs = []string{
	"2004-10-19 10:23:54", "2004-10-19 10:23:54+02", "2004-10-19 10:23:54.123456", "2004-10-19 10:23:54.1234567", "2004-10-19 10:23:54.1234565", "2004-10-19 10:23:54.9999999", "2004-10-19 23:59:59.9999999", "2004-10-19 10:23", "2004-10-19 10", "2004-10-19T10:23:54Z",
	"2004-10-19 10:23:54 PST", "2004-10-19 10:23:54 EST", "2004-10-19 10:23:54 America/New_York", "2004-07-19 10:23:54 America/New_York", "2004-10-19 10:23:54 america/new_york", "2004-10-19 10:23:54 Foo/Bar", "2004-10-19 10:23:54 XYZ", "2004-10-19 10:23:54 MET DST", "2004-10-19 10:23:54 +0530", "2004-10-19 10:23:54 +05:30", "2004-10-19 10:23:54-08:00:30",
	"2004-10-19 10:23:54 +16", "2004-10-19 10:23:54 +15:59", "2004-10-19 10:23:54 +5:60", "Wed Oct 19 10:23:54 2004 PST", "Tue Oct 19 10:23:54 2004", "Oct 19 2004 10:23:54", "10:23:54 Oct 19 2004", "10:23 PM Oct 19 2004", "10:23 AM 2004-10-19", "12:00 AM 2004-10-19", "12:00 PM 2004-10-19", "13:00 PM 2004-10-19", "00:30 AM 2004-10-19",
	"2004-10-19 10:23:60", "2004-10-19 10:23:61", "2004-10-19 10:60:00", "2004-10-19 24:00:00", "2004-10-19 24:00:01", "2004-10-19 -1:00", "infinity", "-infinity", "epoch", "now", "today", "tomorrow", "yesterday", "2000-01-01 00:00:00 BC", "4714-11-24 00:00:00 BC", "4714-11-23 23:59:59 BC", "294276-12-31 23:59:59.999999", "294277-01-01 00:00:00",
	"20041019T102354", "20041019 102354", "20041019T102354.5", "20041019T102354-08", "20041019T10:23:54-08", "2004-10-19 102354", "2004-10-19 1023", "2004-10-19 102354.789", "041019", "041019 1023", "1999.008", "1999.008 10:23", "2004-10-19 10:23:54 UTC", "2004-10-19 10:23:54 GMT+3", "2004-10-19 10:23:54 UTC+3", "2004-10-19 10:23:54 Etc/GMT-5", "2004-10-19 10:23:54 EST5EDT",
	"2024-03-10 02:30:00 America/New_York", "2024-11-03 01:30:00 America/New_York", "2024-03-31 02:30 Europe/Berlin", "2024-10-27 02:30 Europe/Berlin", "2024-03-10 02:30:00", "2024-11-03 01:30:00", "2024-03-31 02:30:00", "2024-10-27 02:30:00", "1850-01-01 00:00:00 America/New_York", "1850-01-01 00:00:00", "1900-06-15 12:00:00", "2500-07-01 00:00:00", "5000-01-01", "2014-10-26 01:00:00 Europe/Moscow", "2014-10-26 01:30:00 MSK", "2011-03-27 02:00:00 MSK", "2011-03-27 02:00:00 MSD",
	"2004-10-19 10:23:54 z", "2004-10-19 10:23:54 zulu", "2004-10-19T10:23:54.5+01:00", "2004-10-19t10:23:54", "2004-10-19 T 10:23:54", "2004-10-19 10.23.54", "2004-10-19 10-23-54", "2004-10-19 10:23:54 AD", "2004-10-19 10:23:54 2005", "", " ", "foo", "12:34", "12:34:56", "2004-10-19 10:23:54,5", "2004-10-19 10:23:54.", "2004-10-19 10:23:54.1.2", "2004-10-19 10:23:54 dst", "2004-10-19 10:23:54 PDT PST", "now 10:00", "today 10:00", "tomorrow 12:34:56", "epoch 10:00", "infinity today", "1970-01-01 00:00:00 allballs",
	"Sat 01 Jan 2000", "01 Jan 2000 00:00:00 GMT", "2000-01-01 00:00:00 CEST", "2000-01-01 00:00:00 IST", "2000-01-01 12 PM", "J2451545 12:00", "J2451545.25", "J2451187 04:05:06 America/New_York", "2000-W01", "2000-01-01 00:00 +1", "2000-01-01 00:00 -1", "2000-01-01 00:00+12:34:56", "01/02/2003 04:05:06", "13/02/2003 04:05:06", "02/13/2003 04:05:06", "March 5, 2003 04:05:06.7 PM EST", "2000-01-01 1 AM", "allballs 2000-01-01",
}

var timeInputs = []string{
	"04:05:06.789", "04:05:06", "04:05", "040506", "0405", "04:05 AM", "04:05 PM", "12:00 AM", "12:00 PM", "13:00 AM", "04:05:06.789-8", "04:05:06-08:00", "04:05-08:00", "040506-08", "04:05:06 PST", "04:05:06 EST", "2003-04-12 04:05:06 America/New_York", "2003-07-12 04:05:06 America/New_York", "04:05:06 America/New_York", "04:05:06 UTC", "04:05:06 Etc/GMT+5",
	"24:00:00", "24:00:01", "23:59:60", "23:59:59.9999999", "25:00", "-1:00", "", "abc", "now", "allballs", "infinity", "today", "12", "1", "123", "12345", "1234567", "12:34:56:78", "12:34:56.", "12:34.5", "12:60", "12:34:61", "t040506", "T04:05:06", "04:05:06 AM PST", "12:34:56 junk", "2003-04-12 04:05:06", "2003-04-12", "04:05:06+15:59:59", "04:05:06+16", "12:34:56.1234565", "12:34:56.1234575", "1.5", "04:05:06.5 +05:30", "J2451187 04:05:06", "jan 1 2000 04:05:06", "00:00:00.0000001", "04.05.06", "allballs utc", "04:05:06 zulu", "04:05:06 z",
}

func datetimeCases() []goldenCase {
	skip := func(list []string, words ...string) (out []string) {
	next:
		for _, s := range list {
			for _, w := range words {
				// The clock of the recording is not ours.
				if strings.Contains(strings.ToLower(s), w) {
					continue next
				}
			}
			out = append(out, s)
		}
		return out
	}
	clock := []string{"now", "today", "tomorrow", "yesterday"}
	dates, stamps, times := skip(dateInputs, clock...), skip(timestampInputs, clock...), skip(timeInputs, clock...)
	// Without a date the zone's offset is today's.
	timetz := skip(times, "america", "pst", "est")
	var out []goldenCase
	for _, set := range []string{
		"datestyle = 'iso, mdy'; timezone = 'UTC'", "datestyle = 'iso, dmy'; timezone = 'America/New_York'", "datestyle = 'iso, ymd'; timezone = 'Europe/Berlin'",
		"datestyle = 'sql, mdy'; timezone = 'America/New_York'", "datestyle = 'sql, dmy'; timezone = 'Asia/Kolkata'", "datestyle = 'postgres, mdy'; timezone = 'Australia/Sydney'",
		"datestyle = 'postgres, dmy'; timezone = 'Europe/Moscow'", "datestyle = 'german, dmy'; timezone = 'Europe/Berlin'", "datestyle = 'postgres, ymd'; timezone = '<+03>-3'",
		"datestyle = 'german, ymd'; timezone = 'EST5EDT'", "datestyle = 'iso, mdy'; timezone = 'America/Sao_Paulo'",
	} {
		out = append(out, settings(set)...)
		out = append(out, each("date", dates...)...)
		out = append(out, each("timestamp", stamps...)...)
		out = append(out, each("timestamptz", stamps...)...)
		out = append(out, each("time", times...)...)
		if !strings.Contains(set, "America") && !strings.Contains(set, "Berlin") && !strings.Contains(set, "Sydney") && !strings.Contains(set, "EDT") {
			out = append(out, each("timetz", timetz...)...)
		}
	}
	out = append(out, settings("datestyle = 'iso, mdy'; timezone = 'UTC'")...)
	for p := range 7 {
		out = append(out, each(fmt.Sprintf("timestamp(%d)", p), "2004-10-19 10:23:54.987654", "1999-12-31 23:59:59.999999", "1950-05-05 05:05:05.555555", "infinity", "2000-01-01 00:00:00.4999995")...)
		out = append(out, each(fmt.Sprintf("timestamp(%d) with time zone", p), "2004-10-19 10:23:54.987654", "1950-05-05 05:05:05.555555")...)
		out = append(out, each(fmt.Sprintf("time(%d)", p), "10:23:54.987654", "23:59:59.999999", "05:05:05.555555")...)
		out = append(out, each(fmt.Sprintf("time(%d) with time zone", p), "10:23:54.987654+03", "23:59:59.999999-07:30")...)
	}
	r := goldenRand()
	for range 200 {
		y := 1 + r.IntN(3000)
		s := fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d.%06d", y, 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000000))
		out = append(out, each("timestamp", s)...)
		out = append(out, each("date", s[:10], s[:10]+" BC")...)
	}
	for _, zone := range []string{"America/New_York", "Europe/London", "Asia/Tokyo", "Africa/Casablanca", "Australia/Lord_Howe", "America/Caracas", "Asia/Kathmandu", "Pacific/Apia", "Europe/Dublin", "Antarctica/Troll"} {
		out = append(out, settings("timezone = '"+zone+"'")...)
		for range 40 {
			y := 1850 + r.IntN(250)
			s := fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d", y, 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60))
			out = append(out, each("timestamptz", s, s+"Z")...)
		}
	}
	return out
}

func intervalCases() []goldenCase {
	inputs := []string{
		"1 day", "1 days 2 hours", "1 year 2 months 3 days 4 hours 5 minutes 6 seconds", "1-2", "1-2 3", "3 4:05:06", "4:05:06", "4:05", "-1 day", "-1 days +2 hours", "1 day ago", "1 year 2 mons -3 days 4 hours ago", "P1Y2M3DT4H5M6S", "P0001-02-03T04:05:06", "P00010203T040506", "PT1H", "P1W", "P1.5D", "PT1.5H", "P", "PT", "P1", "P1H",
		"@ 1 minute", "@ 1 year 1 mon", "1.5 days", "1.5 months", "1.5 years", "1.5 weeks", "0.5 day", "-0.5 day", "1.23456789 seconds", "0.0000005 seconds", "1 us", "1 ms", "1500 ms", "1 microsecond", "2 milliseconds", "1 week", "2 decades", "1 century", "1 millennium", "1 mil", "1 c", "1 dec", "1 qtr", "1 quarter",
		"1 h 2 m 3 s", "1y 2mon 3d", "1hr", "2 hrs 3 mins", "1 day 1 day", "1 hour 1 hour", "1 2", "1 2 3", "12", "1.5", "-12", "+12", "", " ", "abc", "1 foo", "day", "ago", "1 day ago 2 hours", "infinity", "-infinity", "epoch", "0", "00:00:00", "-00:00:01", "-4:05:06", "+4:05:06", "1 -4:05:06", "-1 4:05:06", "25:00:00", "100:59:59.999999", "4:60", "4:05:61", "4:05.5", "4:05:06.7891234",
		"2147483647 days", "2147483648 days", "-2147483648 days", "-2147483649 days", "178956970 years", "178956971 years", "178956970 years 8 months", "178956970 years 7 months", "2147483647 months", "2147483648 months", "9223372036854 seconds", "9223372036855 seconds", "2562047788:00:54.775807", "2562047789:00", "-2562047788:00:54.775808", "1e3 days", "1 month -1 day", "-1 month 1 day", "1 year -1 month", "-1 year 1 month -1 day 1 second",
		"1-13", "1-2-3", "-1-2", "+1-2", "1-2 3 4:05:06", "-1-2 -3 -4:05:06", "-1-2 +3 -4:05:06", "1 year 12 months", "24 hours", "60 seconds", "3600.5 s", "P-1Y", "P1Y-2M", "PT-1S", "P1Y2M3W4DT5H", "P1DT", "P1Y1Y", "PT1H1H", "P0.5Y", "P0.5M", "P0.5W", "PT0.5M", "PT0.0000001S", "PT1e2S", "P1e1D", "P1D1H", "1 day\t2 hours", "1 day, 2 hours", "1 day and 2 hours", "@ 1 day ago", "1 year 1 week", "1.1 months 1.1 days", "0.1 months", "0.01 years", "10.33 decades", "-1.5 months", "1.999999 s", "999999.9999999 s", "1 timezone", "1 dow",
		"P1Y10M", "p1y", "P 1Y", "P1Y ", "1 day 04:05", "1 04:05", "1 year 04:05", "04:05 1 day", "04:05:06 ago", "1:2:3:4", "1:", ":1", "1 -2", "1 - 2", "- 1 day", "1d2h", "1 d 2", "2 1 d", "5 fortnights", "1 sec 1 msec 1 usec", "1 mins 1 secs", "1 yrs", "1 mseconds", "1 useconds", "1 centuries", "1 millennia", "1 hours 1.5", "2 days 1.5 ",
	}
	var out []goldenCase
	for _, style := range []string{"postgres", "postgres_verbose", "sql_standard", "iso_8601"} {
		out = append(out, settings("intervalstyle = '"+style+"'")...)
		out = append(out, each("interval", inputs...)...)
	}
	r := goldenRand()
	for _, style := range []string{"postgres_verbose", "sql_standard", "iso_8601", "postgres"} {
		out = append(out, settings("intervalstyle = '"+style+"'")...)
		for range 100 {
			n := func(m int) int {
				if r.IntN(3) == 0 {
					return 0
				}
				return r.IntN(2*m) - m
			}
			out = append(out, each("interval", fmt.Sprintf("%d years %d months %d days %d hours %d minutes %d seconds %d microseconds", n(100), n(30), n(100), n(100), n(200), n(200), n(2000000)))...)
		}
	}
	for _, f := range []string{"year", "month", "day", "hour", "minute", "second", "year to month", "day to hour", "day to minute", "day to second", "hour to minute", "hour to second", "minute to second"} {
		out = append(out, each("interval "+f, "1 year 2 months 3 days 4 hours 5 minutes 6.789 seconds", "5", "1:2", "1-2", "-3", "1.5", "2 3:04:05.678", "P1Y2M3DT4H5M6S")...)
	}
	for p := range 7 {
		out = append(out, each(fmt.Sprintf("interval(%d)", p), "1 day 04:05:06.7891234", "-04:05:06.555555", "1.9999999 s")...)
	}
	return out
}

func arrayCases() []goldenCase {
	ints := []string{
		"{}", "{1}", "{1,2,3}", " { 1 , 2 } ", "{1,NULL,3}", "{null}", "{{1,2},{3,4}}", "{{1,2},{3}}", "{{1},{2},{3}}", "[2:3]={1,2}", "[0:1][1:2]={{1,2},{3,4}}", "[2]={1,2}", "[1:2]={1}", "[3:2]={}", "[-1:1]={1,2,3}", "", "1", "{", "}", "{1", "{1,}", "{,1}", "{,}", "{1}}", "{1} x", "{1,2}{3}", "{{}}", "{{},{}}", "{1,{2}}", "{{1},2}",
		"{\"1\"}", "{1 2}", "{\"1\" 2}", "{1\"2\"}", "{a}", "{99999999999}", "[1:2={1,2}", "[a]={1}", "[1:]={1}", "[1:2]{1,2}", "[1:2]=1", "[1:2] = {1,2}", "[]={}", "{{{{{{1}}}}}}", "{{{{{{{1}}}}}}}", "[1][1][1][1][1][1][1]={1}", "{{1,2},{3,4},}", "{{1,2}{3,4}}", "{{1,2} {3,4}}", "{ }", "{\n1\n}", "{NULL,NULL}", "{\\1}", "[2147483647:2147483647]={1}", "[2147483646:2147483647]={1,2}", "{1;2}",
	}
	texts := []string{
		"{}", "{a,b}", "{\"a b\",c}", "{a b}", "{ a b , c }", "{\"\"}", "{NULL,\"NULL\",null,Null}", "{\"a\\\"b\"}", "{\"a\\\\b\"}", "{a\\,b}", "{a\\ }", "{\\ a}", "{\"{}\"}", "{\"a,b\"}", "{'a'}", "{é,日本}", "{\"a\nb\"}", "{a\"b\"}", "{\"a\"b}", "{\"a\" }", "{\"a", "{\\", "{\"a\\", "{{a,b},{c,NULL}}", "{a,\"b\",}", "{\\N}", "{\\NULL}", "{NULLx}", "{-}", "{a\tb}", "{\"\\x41\"}",
	}
	return concat(each("int4[]", ints...), each("text[]", texts...), each("varchar(2)[]", "{ab,c}", "{abc}", "{\"a  \"}"), each("numeric(5,2)[]", "{1.234,5}", "{12345}"), each("float8[]", "{1,1.5,NaN,-inf}"), each("bool[]", "{t,f,NULL,yes}"), each("int2[]", "{1,-2}", "{40000}"), each("int8[]", "{1,9223372036854775807}"), each("date[]", "{2000-01-01,infinity}"), each("timestamp[]", "{\"2000-01-01 10:00:00\",2000-01-02}"), each("uuid[]", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"), each("bytea[]", "{\"\\\\x0102\",abc}"), each("interval[]", "{1 day,\"2:03\"}"), each("json[]", "{\"{\\\"a\\\":1}\"}"), each("name[]", "{abc,def}"), each("oid[]", "{1,2}"), each("float4[]", "{1.1,2.2}"), each("bit(3)[]", "{101,111}"), each("time[]", "{10:00}"), each("char(3)[]", "{a,bcd}"), each("int2vector", "", "1", "1 2 3", " 1  2 ", "1,2", "a", "40000"), each("oidvector", "", "1", "1 2 3", " 1  2 ", "1,2", "a", "4294967296"))
}

func jsonCases() []goldenCase {
	inputs := []string{
		"{}", "[]", "1", "-1", "1.50", "1e5", "1E+5", "1e-5", "\"\"", "\"a\"", "true", "false", "null", " { \"a\" : 1 } ", "{\"a\":1,\"b\":[1,2,{\"c\":null}]}", "{\"b\":1,\"a\":2}", "{\"aa\":1,\"b\":2}", "{\"a\":1,\"a\":2}", "[1, 2 ,3]", "\"\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\\n\\t\\\"\\\\\\/\\b\\f\\r\"", "\"\\u0000\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\ud83d\"", "\"\\ud83dx\"", "\"\\u00g0\"", "\"\\u00\"", "\"\\x\"", "\"a\nb\"", "\"a\tb\"", "\"é\"",
		"", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1 2]", "tru", "nul", "True", "01", "1.", ".5", "-", "+1", "1e", "1e+", "0x1", "NaN", "Infinity", "'a'", "\"a", "\"a\\", "1 2", "{} {}", "[] x", "abc", "1a", "-a", "\"abc", "{\"a\":b}", "[\"a\",b]", "{\"a\":\n  tru\n}", "[1,\n2,\n3 4]", "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": x}", "[1,2,3}", "{\"a\":1]", "\"\\", "\"\\u", "1.0e10", "1e400", "123456789012345678901234567890", "0.1e-10", "-0", "-0.0", "0", "[[],[[]],{}]", "{\"\":1}", "é", "日本", "[\"日本語\",日]", "--", ":", ",", "[:]", "{\"a\":}", "{:1}", "\"\x7f\"", "\"\x01\"", "[1.5,1.50]", "{\"z\":{\"y\":1,\"x\":2},\"a\":[]}", "\"<>&\"",
	}
	return concat(each("json", inputs...), each("jsonb", inputs...))
}
