package fn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// Goldens are recorded from a real PostgreSQL 15: go test ./sql/fn -run Golden -record "host=... dbname=...".
// A line is: strict or not, the result type, a case, and "=text", "null" or "!SQLSTATE message; detail; hint". A case is
// prosrc|type:text|type:text..., with \N for null. Lines that begin with "set " change settings.
var record = flag.String("record", "", "connection string of the PostgreSQL 15 to record goldens from")

func goldenPath(name string) string { return filepath.Join("testdata", name+".golden") }

// calls crosses argument lists: every combination of one value from each.
func calls(src string, args ...[]string) []string {
	out := []string{src}
	for _, values := range args {
		var next []string
		for _, o := range out {
			for _, v := range values {
				next = append(next, o+"|"+v)
			}
		}
		out = next
	}
	return out
}

// vals makes arguments of one type.
func vals(typ string, texts ...string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = typ + ":" + t
	}
	return out
}

// thinned keeps one case in n: products of long lists repeat themselves, and all were compared once.
func thinned(n uint32, cases func() []string) func() []string {
	return func() (out []string) {
		for _, s := range cases() {
			h := fnv.New32a()
			h.Write([]byte(s))
			if h.Sum32()%n == 0 || strings.HasPrefix(s, "set ") {
				out = append(out, s)
			}
		}
		return out
	}
}

type goldenArg struct {
	typ  string
	text string
	null bool
}

func splitCase(s string) (src string, args []goldenArg) {
	parts := strings.Split(s, "|")
	// A value with a bar is written with \x7c, which no type's input takes for itself.
	for _, p := range parts[1:] {
		typ, text, _ := strings.Cut(p, ":")
		args = append(args, goldenArg{typ, strings.ReplaceAll(text, `\x7c`, "|"), text == `\N`})
	}
	return parts[0], args
}

type recorder struct {
	t    *testing.T
	ctx  context.Context
	conn *pgconn.PgConn
}

func (r *recorder) query(sql string) ([][]byte, error) {
	res, err := r.conn.Exec(r.ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	last := res[len(res)-1]
	if len(last.Rows) == 0 {
		return nil, nil
	}
	return last.Rows[0], nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// function finds name, strictness and result type of a prosrc for the arguments' types.
func (r *recorder) function(src string, args []goldenArg) (name string, strict, variadic bool) {
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = quote(a.typ) + "::regtype"
	}
	row, err := r.query(`select quote_ident(proname), proisstrict, provariadic not in (0, '"any"'::regtype) from pg_proc p where prosrc = ` + quote(src) + ` and (pronargs = ` + strconv.Itoa(len(args)) + ` or provariadic <> 0)
		order by (proargtypes::oid[] = array[` + strings.Join(list, ",") + `]::oid[]) desc, pronargs limit 1`)
	if err != nil || row == nil {
		r.t.Fatalf("no function %s with %d arguments: %v", src, len(args), err)
	}
	return string(row[0]), string(row[1]) == "t", string(row[2]) == "t"
}

func recordGolden(t *testing.T, name string, cases []string) {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, *record)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	r := &recorder{t, ctx, conn}
	if _, err := r.query("set timezone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	names := map[string]string{}
	stricts, variadics := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		if set, ok := strings.CutPrefix(c, "set "); ok {
			for _, s := range strings.Split(set, ";") {
				if _, err := r.query("set " + s); err != nil {
					t.Fatal(err)
				}
			}
			fmt.Fprintln(&out, c)
			continue
		}
		src, args := splitCase(c)
		key := src
		for _, a := range args {
			key += "|" + a.typ
		}
		if names[key] == "" {
			names[key], stricts[key], variadics[key] = r.function(src, args)
		}
		sql := make([]string, len(args))
		for i, a := range args {
			switch {
			case a.null:
				sql[i] = "null::" + a.typ
			default:
				sql[i] = quote(a.text) + "::" + a.typ
			}
			if variadics[key] && i == len(args)-1 {
				sql[i] = "variadic " + sql[i]
			}
		}
		call := "pg_catalog." + names[key] + "(" + strings.Join(sql, ", ") + ")"
		res, err := conn.Exec(ctx, "select "+call).ReadAll()
		typ, result := uint32(0), ""
		var pe *pgconn.PgError
		switch {
		case errors.As(err, &pe):
			result = "!" + strconv.Quote(strings.Join([]string{pe.Code, pe.Message, pe.Detail, pe.Hint}, "; "))
		case err != nil:
			t.Fatalf("%s: %v", c, err)
		default:
			if len(res[0].FieldDescriptions) > 0 { // there are none without rows
				typ = res[0].FieldDescriptions[0].DataTypeOID
			}
			var lines []string
			for _, row := range res[0].Rows {
				if row[0] == nil {
					lines = append(lines, "null")
				} else {
					lines = append(lines, "="+strconv.Quote(string(row[0])))
				}
			}
			result = strings.Join(lines, " ")
			if lines == nil {
				result = "empty"
			}
		}
		fmt.Fprintf(&out, "%v\t%d\t%s\t%s\n", stricts[key], typ, strconv.Quote(c), result)
	}
	if err := os.WriteFile(goldenPath(name), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func testContext() *Context {
	env := types.DefaultEnv()
	now := time.Date(2024, 2, 29, 13, 14, 15, 123456000, time.UTC)
	env.Now = now
	return &Context{Ctx: context.Background(), Env: env, TxStart: now, StmtStart: now, Clock: func() time.Time { return now }, Rand: NewRandom(1)}
}

var goldenNames = map[string]types.OID{
	`"char"`: types.Char, "integer": types.Int4, "char": types.Bpchar,
}

func typeByName(t *testing.T, name string) types.OID {
	base, array := strings.CutSuffix(name, "[]")
	oid, ok := goldenNames[base]
	if !ok {
		oid = types.ByName(base)
	}
	if oid == 0 {
		t.Fatalf("unknown type %q", name)
	}
	if array {
		return types.ArrayOf(oid)
	}
	return oid
}

func checkGolden(t *testing.T, name string) {
	f, err := os.Open(goldenPath(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := testContext()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	line, bad := 0, 0
	missing := map[string]bool{}
	for sc.Scan() {
		line++
		if s, ok := strings.CutPrefix(sc.Text(), "set "); ok {
			for _, one := range strings.Split(s, ";") {
				applySetting(t, c.Env, one)
			}
			continue
		}
		p := strings.SplitN(sc.Text(), "\t", 4)
		spec, err := strconv.Unquote(p[2])
		if err != nil {
			t.Fatal(err)
		}
		want := p[3]
		src, args := splitCase(spec)
		b, ok := Lookup(src)
		if !ok {
			if !missing[src] {
				t.Errorf("no function %s", src)
			}
			missing[src] = true
			continue
		}
		result, _ := strconv.ParseUint(p[1], 10, 32)
		got := evaluate(t, c, b, args, p[0] == "true", types.OID(result))
		if got != want {
			if bad++; bad <= 60 {
				t.Errorf("%s:%d: %s\n got %.300s\nwant %.300s", name, line, spec, got, want)
			}
		}
	}
	if bad > 60 {
		t.Errorf("%d differences", bad)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}

func errorText(err error) string {
	e := pgerr.From(err)
	return "!" + strconv.Quote(strings.Join([]string{string(e.Code), e.Message, e.Detail, e.Hint}, "; "))
}

func evaluate(t *testing.T, c *Context, b *Builtin, args []goldenArg, strict bool, result types.OID) string {
	call := &Call{Result: result}
	c.Call = call
	datums := make([]types.Datum, len(args))
	anyNull := false
	for i, a := range args {
		typ := typeByName(t, a.typ)
		call.Args = append(call.Args, typ)
		if a.null {
			datums[i] = types.NullDatum
			anyNull = true
			continue
		}
		d, err := types.In(typ, -1, []byte(a.text), c.Env)
		if err != nil {
			return errorText(err)
		}
		datums[i] = d
	}
	if b.Set != nil {
		if strict && anyNull {
			return "empty"
		}
		return evaluateSet(c, b, datums, result)
	}
	if strict && anyNull {
		return "null"
	}
	var scalar string
	if b.Func != nil {
		d, err := b.Func(c, datums)
		scalar = resultText(c, d, err, result)
	}
	if b.Vec != nil && !anyNull {
		if v := evaluateVec(c, b.Vec, call, datums, result); b.Func != nil && v != scalar {
			return "vector form: " + v + ", scalar form: " + scalar
		}
	}
	return scalar
}

func resultText(c *Context, d types.Datum, err error, result types.OID) string {
	switch {
	case err != nil:
		return errorText(err)
	case d.Null:
		return "null"
	}
	return "=" + strconv.Quote(string(types.Out(result, d, nil, c.Env)))
}

// evaluateVec runs the vector form over a plain and over constant arguments, in the middle of other rows.
func evaluateVec(c *Context, f VecFunc, call *Call, args []types.Datum, result types.OID) string {
	first := ""
	for mask := range 1 << len(args) {
		vecs := make([]*types.Vector, len(args))
		for i := range args {
			typ := call.Args[i]
			var v types.Vector
			if mask&(1<<i) != 0 {
				v = types.ConstVector(typ, types.ClassOf(typ), args[i])
			} else {
				v = types.NewVector(typ, 3)
				v.Set(0, types.NullDatum)
				v.Set(1, args[i])
				v.Set(2, types.NullDatum)
			}
			vecs[i] = &v
		}
		out := types.NewVector(result, 3)
		if result == 0 {
			out = types.NewVector(call.Args[0], 3)
		}
		err := f(c, vecs, types.Rows{N: 3, Sel: []int32{1}}, &out)
		got := resultText(c, out.Datum(1), err, result)
		if mask != 1<<len(args)-1 {
			out = types.NewVector(result, 3)
			if result == 0 {
				out = types.NewVector(call.Args[0], 3)
			}
			err = f(c, vecs, types.Rows{N: 3}, &out)
			all := resultText(c, out.Datum(1), err, result)
			if all != got || (err == nil && (!out.Null[0] || !out.Null[2])) {
				return fmt.Sprintf("with and without selection: %s and %s, nulls %v", got, all, out.Null)
			}
		}
		if mask == 0 {
			first = got
		} else if got != first {
			return fmt.Sprintf("constants %b: %s, none: %s", mask, got, first)
		}
	}
	return first
}

func evaluateSet(c *Context, b *Builtin, args []types.Datum, result types.OID) string {
	set, err := b.Set(c, args)
	if err != nil {
		return errorText(err)
	}
	var lines []string
	row := make([]types.Datum, 2) // sets of the goldens have one column, or two texts
	for {
		ok, err := set.Next(c, row)
		if err != nil {
			return errorText(err)
		}
		if !ok {
			break
		}
		d := row[0]
		if result == types.Record {
			text := types.RecordField{Attr: types.AttrOf(types.Text, -1, nil)}
			d = types.RecordDatum(types.Record, []types.RecordField{text, text}, row)
		}
		lines = append(lines, resultText(c, d, nil, result))
	}
	if lines == nil {
		return "empty"
	}
	return strings.Join(lines, " ")
}

func applySetting(t *testing.T, env *types.Env, s string) {
	name, value, _ := strings.Cut(s, "=")
	value = strings.Trim(strings.TrimSpace(value), "'")
	switch strings.TrimSpace(name) {
	case "datestyle":
		switch {
		case strings.Contains(value, "sql"):
			env.DateStyle = types.DateSQL
		case strings.Contains(value, "german"):
			env.DateStyle = types.DateGerman
		case strings.Contains(value, "postgres"):
			env.DateStyle = types.DatePostgres
		default:
			env.DateStyle = types.DateISO
		}
		env.DateOrder = types.OrderMDY
		if strings.Contains(value, "dmy") {
			env.DateOrder = types.OrderDMY
		}
	case "timezone":
		loc, _, ok := types.ParseZone(value)
		if !ok {
			t.Fatalf("zone %q", value)
		}
		env.TimeZone = loc
	case "extra_float_digits":
		env.ExtraFloatDigits, _ = strconv.Atoi(value)
	default:
		t.Fatalf("setting %q", s)
	}
}

func TestGolden(t *testing.T) {
	sets := goldenSets()
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		cases := sets[name]
		t.Run(name, func(t *testing.T) {
			if *record != "" {
				recordGolden(t, name, cases())
			}
			checkGolden(t, name)
		})
	}
}
