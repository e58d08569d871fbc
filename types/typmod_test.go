package types

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/pgerr"
)

var formatTypmods = []int32{-1, 0, 1, 3, 5, 6, 14, 10<<16 | 4, 10<<16 | 6, 10<<16 | 0x7FE + 4, IntervalTypmod(IntervalFullRange, 3), IntervalTypmod(IntervalYear|IntervalMonth, IntervalFullPrecision), IntervalTypmod(IntervalDay|IntervalHour|IntervalMinute|IntervalSecond, 2)}

func TestFormatType(t *testing.T) {
	if *record != "" {
		recordFormatType(t)
	}
	f, err := os.Open(goldenPath("format_type"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		p := strings.SplitN(sc.Text(), "\t", 3)
		oid, _ := strconv.Atoi(p[0])
		mod, _ := strconv.Atoi(p[1])
		got, ok := FormatType(OID(oid), int32(mod))
		if !ok || got != p[2] {
			t.Errorf("FormatType(%d, %d) = %q, %v; want %q", oid, mod, got, ok, p[2])
		}
	}
}

func recordFormatType(t *testing.T) {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, *record)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var out bytes.Buffer
	for i := range builtinTypes {
		typ := builtinTypes[i].OID
		if typ == 0 {
			continue
		}
		for _, mod := range formatTypmods {
			if mod >= 0 && !HasTypmod(typ) {
				continue
			}
			// Modifiers that no declaration makes may be refused.
			res, err := conn.Exec(ctx, fmt.Sprintf("select format_type(%d, %d)", typ, mod)).ReadAll()
			if err == nil {
				fmt.Fprintf(&out, "%d\t%d\t%s\n", typ, mod, res[0].Rows[0][0])
			}
		}
	}
	if err := os.WriteFile(goldenPath("format_type"), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTypmodErrors(t *testing.T) {
	for _, c := range []struct {
		typ  OID
		args string
		want string
	}{
		{Varchar, "0", "22023 length for type varchar must be at least 1"},
		{Varchar, "10485761", "22023 length for type varchar cannot exceed 10485760"},
		{Bpchar, "0", "22023 length for type char must be at least 1"},
		{Varchar, "1,2", "22023 invalid type modifier"},
		{Numeric, "0", "22023 NUMERIC precision 0 must be between 1 and 1000"},
		{Numeric, "10,1001", "22023 NUMERIC scale 1001 must be between -1000 and 1000"},
		{Numeric, "1,2,3", "22023 invalid NUMERIC type modifier"},
		{Int4, "5", "42601 type modifier is not allowed for type \"integer\""},
		{Timestamp, "-1", "22023 TIMESTAMP(-1) precision must not be negative"},
		{Timetz, "-1", "22023 TIME(-1) WITH TIME ZONE precision must not be negative"},
	} {
		_, err := TypmodIn(c.typ, strings.Split(c.args, ","))
		if got := codeAndMessage(err); got != c.want {
			t.Errorf("%d(%s): %s, want %s", c.typ, c.args, got, c.want)
		}
	}
}

func codeAndMessage(err error) string {
	if err == nil {
		return ""
	}
	e := pgerr.From(err)
	return string(e.Code) + " " + e.Message
}

// TestAssignment checks what COPY and parameters meet: input functions with a modifier.
func TestAssignment(t *testing.T) {
	for _, c := range []struct {
		typ    OID
		typmod int32
		in     string
		want   string
	}{
		{Varchar, 7, "abc", "abc"},
		{Varchar, 7, "abc  ", "abc"},
		{Varchar, 7, "abcd", "22001 value too long for type character varying(3)"},
		{Bpchar, 7, "a", "a  "},
		{Bpchar, 7, "日本語    ", "日本語"},
		{Bpchar, 7, "abcd", "22001 value too long for type character(3)"},
		{Bit, 3, "1010", "22026 bit string length 4 does not match type bit(3)"},
		{Varbit, 3, "1010", "22001 bit string too long for type bit varying(3)"},
		{Numeric, 5<<16 | 2 + 4, "1.005", "1.01"},
		{Numeric, 5<<16 | 2 + 4, "1234.5", "22003 numeric field overflow"},
		{Timestamp, 0, "2000-01-01 00:00:00.5", "2000-01-01 00:00:01"},
	} {
		d, err := In(c.typ, c.typmod, []byte(c.in), nil)
		got := codeAndMessage(err)
		if err == nil {
			got = string(Out(c.typ, d, nil, nil))
		}
		if got != c.want {
			t.Errorf("%d/%d %q: %q, want %q", c.typ, c.typmod, c.in, got, c.want)
		}
	}
}
