package types

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/pgerr"
)

// Goldens are recorded from a real PostgreSQL 15: go test ./types -run Golden -record "host=... dbname=...".
// Each line is: type, input, and "=text hex-of-binary" or "!SQLSTATE message; detail; hint; context". Lines that begin with
// "set " change settings for the lines below.
var record = flag.String("record", "", "connection string of the PostgreSQL 15 to record goldens from")

type goldenCase struct {
	set   string // settings, if this line only sets
	typ   string
	input string
}

func (c goldenCase) line(result string) string {
	if c.set != "" {
		return "set " + c.set
	}
	return c.typ + "\t" + strconv.Quote(c.input) + "\t" + result
}

func recordGolden(t *testing.T, name string, cases []goldenCase) {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, *record)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	exec := func(sql string) {
		if _, err := conn.Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec("set timezone = 'UTC'")
	var out bytes.Buffer
	for _, c := range cases {
		if c.set != "" {
			for _, s := range strings.Split(c.set, ";") {
				exec("set " + s)
			}
			fmt.Fprintln(&out, c.line(""))
			continue
		}
		sql := "select $1::" + c.typ
		var params [][]byte
		if strings.ContainsRune(c.input, 0) {
			continue
		}
		lit := "'" + strings.ReplaceAll(c.input, "'", "''") + "'"
		params = append(params, []byte(c.input))
		_ = params
		res, err := conn.Exec(ctx, "set standard_conforming_strings=on; select "+lit+"::"+c.typ).ReadAll()
		if err != nil {
			var pe *pgconn.PgError
			if !errors.As(err, &pe) {
				t.Fatalf("%s: %v", c.typ, err)
			}
			fmt.Fprintln(&out, c.line("!"+strconv.Quote(strings.Join([]string{pe.Code, pe.Message, pe.Detail, pe.Hint, pe.Where}, "; "))))
			continue
		}
		text := res[1].Rows[0][0]
		bin := "-"
		if r := conn.ExecParams(ctx, "select "+lit+"::"+c.typ, nil, nil, nil, []int16{1}).Read(); r.Err == nil {
			bin = hex.EncodeToString(r.Rows[0][0])
		}
		_ = sql
		fmt.Fprintln(&out, c.line("="+strconv.Quote(string(text))+"\t"+bin))
	}
	if err := os.WriteFile(goldenPath(name), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func goldenPath(name string) string { return filepath.Join("testdata", name+".golden") }

var typeNameRE = regexp.MustCompile(`^([a-z0-9_" ]+?)(?:\(([-0-9, ]+)\))?((?: with time zone)?)((?:\[\])?)$`)

var goldenNames = map[string]OID{
	"integer": Int4, "int": Int4, "varchar": Varchar, "char": Bpchar, `"char"`: Char, "timestamp with time zone": Timestamptz,
	"time with time zone": Timetz, "bit varying": Varbit,
	"interval year": Interval, "interval month": Interval, "interval day": Interval, "interval hour": Interval,
	"interval minute": Interval, "interval second": Interval, "interval year to month": Interval, "interval day to hour": Interval,
	"interval day to minute": Interval, "interval day to second": Interval, "interval hour to minute": Interval,
	"interval hour to second": Interval, "interval minute to second": Interval,
}

var intervalMasks = map[string]int{
	"year": IntervalYear, "month": IntervalMonth, "day": IntervalDay, "hour": IntervalHour, "minute": IntervalMinute, "second": IntervalSecond,
}

// goldenType finds OID and modifier of a type name as the goldens write it.
func goldenType(t *testing.T, name string) (OID, int32) {
	m := typeNameRE.FindStringSubmatch(name)
	if m == nil {
		t.Fatalf("bad type name %q", name)
	}
	base, args, array := m[1]+m[3], m[2], m[4]
	oid, ok := goldenNames[base]
	if !ok {
		for i := range builtinTypes {
			if builtinTypes[i].Name == base {
				oid = builtinTypes[i].OID
			}
		}
	}
	if oid == 0 {
		t.Fatalf("unknown type %q", name)
	}
	var list []string
	if fields, ok := strings.CutPrefix(base, "interval "); ok {
		words := strings.Split(fields, " to ")
		mask := intervalMasks[words[0]]
		if len(words) == 2 {
			order := []string{"year", "month", "day", "hour", "minute", "second"}
			on := false
			for _, w := range order {
				if w == words[0] {
					on = true
				}
				if on {
					mask |= intervalMasks[w]
				}
				if w == words[1] {
					on = false
				}
			}
		}
		list = append(list, strconv.Itoa(mask))
	} else if oid == Interval && args != "" {
		list = append(list, strconv.Itoa(IntervalFullRange))
	}
	if args != "" {
		for _, a := range strings.Split(args, ",") {
			list = append(list, strings.TrimSpace(a))
		}
	}
	typmod := int32(-1)
	if base == "char" && args == "" {
		typmod = 5
	}
	if len(list) > 0 {
		var err error
		if typmod, err = TypmodIn(oid, list); err != nil {
			t.Fatal(err)
		}
	}
	if array != "" {
		oid = ArrayOf(oid)
	}
	return oid, typmod
}

func applySetting(t *testing.T, env *Env, s string) {
	name, value, _ := strings.Cut(s, "=")
	value = strings.Trim(strings.TrimSpace(value), "'")
	switch strings.TrimSpace(name) {
	case "datestyle":
		for _, v := range strings.Split(strings.ToLower(value), ",") {
			switch strings.TrimSpace(v) {
			case "iso":
				env.DateStyle = DateISO
			case "sql":
				env.DateStyle = DateSQL
			case "postgres":
				env.DateStyle = DatePostgres
			case "german":
				env.DateStyle = DateGerman
			case "mdy":
				env.DateOrder = OrderMDY
			case "dmy":
				env.DateOrder = OrderDMY
			case "ymd":
				env.DateOrder = OrderYMD
			}
		}
	case "timezone":
		loc, _, ok := ParseZone(value)
		if !ok {
			t.Fatalf("zone %q", value)
		}
		env.TimeZone = loc
	case "intervalstyle":
		env.IntervalStyle = map[string]IntervalStyle{
			"postgres": IntervalPostgres, "postgres_verbose": IntervalPostgresVerbose,
			"sql_standard": IntervalSQLStandard, "iso_8601": IntervalISO8601,
		}[value]
	case "extra_float_digits":
		env.ExtraFloatDigits, _ = strconv.Atoi(value)
	case "bytea_output":
		env.ByteaEscape = value == "escape"
	default:
		t.Fatalf("setting %q", s)
	}
}

func checkGolden(t *testing.T, name string) {
	f, err := os.Open(goldenPath(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	env := DefaultEnv()
	env.Now = time.Date(2024, 2, 29, 13, 14, 15, 123456000, time.UTC)
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	line, bad := 0, 0
	for sc.Scan() {
		line++
		if s, ok := strings.CutPrefix(sc.Text(), "set "); ok {
			for _, one := range strings.Split(s, ";") {
				applySetting(t, env, one)
			}
			continue
		}
		parts := strings.Split(sc.Text(), "\t")
		input, err := strconv.Unquote(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		typ, typmod := goldenType(t, parts[0])
		want, err := strconv.Unquote(parts[2][1:])
		if err != nil {
			t.Fatalf("line %d: %v", line, err)
		}
		got, bin := goldenResult(typ, typmod, input, env)
		if got != parts[2][:1]+want {
			bad++
			t.Errorf("%s:%d: %s %q\n got %q\nwant %q", name, line, parts[0], input, got, parts[2][:1]+want)
		} else if len(parts) > 3 && parts[3] != "-" && parts[3] != bin {
			bad++
			t.Errorf("%s:%d: %s %q binary\n got %s\nwant %s", name, line, parts[0], input, bin, parts[3])
		}
		if bad > 60 {
			t.Fatal("too many differences")
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}

// goldenResult gives the text and binary forms, and checks that the binary one is read back.
func goldenResult(typ OID, typmod int32, input string, env *Env) (text, bin string) {
	// A cast reads a literal without its modifier, except an interval's, and then coerces explicitly.
	first := typmod
	if typ != Interval {
		first = -1
	}
	d, err := In(typ, first, []byte(input), env)
	if err == nil {
		d, err = ApplyTypmod(typ, typmod, d, true)
	}
	if err != nil {
		e := pgerr.From(err)
		return "!" + strings.Join([]string{string(e.Code), e.Message, e.Detail, e.Hint, e.Where}, "; "), ""
	}
	out := string(Out(typ, d, nil, env))
	wire := Send(typ, d, nil, env)
	back, err := Recv(typ, typmod, append([]byte(nil), wire...), env)
	if err != nil {
		return "recv: " + err.Error(), ""
	}
	if again := string(Out(typ, back, nil, env)); again != out {
		return "recv gives " + again, ""
	}
	return "=" + out, hex.EncodeToString(wire)
}

func TestGolden(t *testing.T) {
	for name, cases := range goldenSets() {
		t.Run(name, func(t *testing.T) {
			if *record != "" {
				recordGolden(t, name, cases())
			}
			checkGolden(t, name)
		})
	}
}
