package fn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/types"
)

// aggCase is an aggregate over rows: its OID and name, its arguments' types and the rows' values, \N for null.
type aggCase struct {
	oid  types.OID
	name string
	typs []string
	rows [][]string
}

func column(values ...string) [][]string {
	out := make([][]string, len(values))
	for i, v := range values {
		out[i] = []string{v}
	}
	return out
}

func aggCases() (out []aggCase) {
	add := func(name, typ string, oids map[string]types.OID, lists ...[][]string) {
		for _, rows := range append(lists, nil, column(`\N`)) {
			out = append(out, aggCase{oids[name], name, []string{typ}, rows})
		}
	}
	ints := column("1", "2", `\N`, "3", "-7", "2")
	bigs := column("9223372036854775807", "9223372036854775807", "-1", `\N`)
	nums := [][][]string{column("1.5", "2.25", `\N`, "-3"), column("1", "1.00", "1.000"), column("nan", "1"), column("inf", "-inf", "1"), column("inf", "1"), column("1e30", "1e-30", "12345.678"), column("0.1", "0.2", "0.3")}
	floats := [][][]string{column("1.5", "2.25", `\N`, "-3"), column("1e308", "1e308"), column("nan", "1"), column("inf", "-inf", "1"), column("0.1", "0.2", "0.3", "100"), column("5"), column("1e200", "2e200", "-1e200")}
	reals := [][][]string{column("1.5", "2.25", `\N`, "-3"), column("0.1", "0.2", "0.3", "100"), column("3e38", "3e38")}
	byName := func(pairs ...any) map[string]types.OID {
		m := map[string]types.OID{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = types.OID(pairs[i+1].(int))
		}
		return m
	}
	int4 := byName("sum", 2108, "avg", 2101, "min", 2132, "max", 2116, "stddev", 2155, "stddev_pop", 2725, "var_samp", 2642, "var_pop", 2719, "variance", 2149, "bit_and", 2238, "bit_or", 2239, "bit_xor", 6165, "count", 2147)
	for n := range int4 {
		add(n, "int4", int4, ints, column("5"))
	}
	int8 := byName("sum", 2107, "avg", 2100, "min", 2131, "max", 2115, "stddev", 2154, "var_pop", 2718)
	for n := range int8 {
		add(n, "int8", int8, ints, bigs)
	}
	num := byName("sum", 2114, "avg", 2103, "min", 2146, "max", 2130, "stddev", 2159, "stddev_pop", 2729, "var_samp", 2646, "var_pop", 2723)
	for n := range num {
		add(n, "numeric", num, nums...)
	}
	f8 := byName("sum", 2111, "avg", 2105, "min", 2136, "max", 2120, "stddev", 2158, "stddev_pop", 2728, "var_samp", 2645, "var_pop", 2722)
	for n := range f8 {
		lists := floats
		if n == "avg" {
			// PostgreSQL also computes the squares for avg, and fails when they overflow.
			lists = floats[:len(floats)-1]
		}
		add(n, "float8", f8, lists...)
	}
	f4 := byName("sum", 2110, "avg", 2104, "min", 2135, "max", 2119, "stddev", 2157)
	for n := range f4 {
		add(n, "float4", f4, reals...)
	}
	text := byName("min", 2145, "max", 2129)
	date := byName("min", 2138, "max", 2122)
	iv := byName("min", 2144, "max", 2128, "sum", 2113, "avg", 2106)
	for _, n := range []string{"min", "max"} {
		add(n, "text", text, column("b", "a", `\N`, "é", ""))
		add(n, "date", date, column("2000-01-01", "infinity", "1999-01-01"))
		add(n, "int4[]", byName("min", 2051, "max", 2050), column("{1,2}", "{1}", "{3}", `\N`))
		add(n, "bpchar", byName("min", 2245, "max", 2244), column("b ", "b", "a"))
	}
	for n := range iv {
		add(n, "interval", iv, column("1 day", "24:00", "1 month", `\N`, "-3 days"))
	}
	bools := byName("bool_and", 2517, "bool_or", 2518, "every", 2519)
	for n := range bools {
		add(n, "bool", bools, column("t", "f", `\N`), column("t", "t"), column("f"))
	}
	add("bit_and", "varbit", byName("bit_and", 2242), column("1100", "1010"))
	add("bit_or", "varbit", byName("bit_or", 2243), column("1100", "1010", `\N`))
	add("array_agg", "int4", byName("array_agg", 2335), ints)
	add("array_agg", "text", byName("array_agg", 2335), column("a", "", `\N`))
	add("array_agg", "int4[]", byName("array_agg", 4053), column("{1,2}", "{3,4}"), column("{1}", "{1,2}"), column("{}"), column("{1,2}", `\N`))
	out = append(out, aggCase{3538, "string_agg", []string{"text", "text"}, [][]string{{"a", ","}, {`\N`, ";"}, {"b", "-"}, {"c", `\N`}}}, aggCase{3538, "string_agg", []string{"text", "text"}, nil})
	for _, typ := range []string{"int4", "json", "date"} {
		col := map[string][][]string{"int4": ints, "json": column(`{"a":1}`, `\N`, "[2]"), "date": column("2001-02-03", "infinity")}[typ]
		add("json_agg", typ, byName("json_agg", 3175), col)
		add("jsonb_agg", typ, byName("jsonb_agg", 3267), col)
	}
	add("json_agg", "int4[]", byName("json_agg", 3175), column("{1,2}", `\N`, "{3}"))
	for _, o := range []aggCase{{oid: 3197, name: "json_object_agg"}, {oid: 3270, name: "jsonb_object_agg"}} {
		for _, rows := range [][][]string{{{"b", "1"}, {"a", `\N`}, {"b", "3"}}, {{`\N`, "1"}}, nil, {{"x", "1"}}} {
			out = append(out, aggCase{o.oid, o.name, []string{"text", "int4"}, rows})
		}
	}
	pairs := [][][]string{{{"1", "2"}, {"2", "4.5"}, {"3", "5"}, {`\N`, "1"}, {"4", "9"}}, {{"1", "1"}, {"1", "2"}}, {{"1", "1"}, {"2", "1"}}, {{"1", "1"}}, {{"nan", "1"}, {"2", "3"}}, nil, {{"inf", "1"}, {"2", "3"}}}
	for n, oid := range byName("corr", 2829, "covar_pop", 2827, "covar_samp", 2828, "regr_avgx", 2822, "regr_avgy", 2823, "regr_intercept", 2826, "regr_r2", 2824, "regr_slope", 2825, "regr_sxx", 2819, "regr_sxy", 2821, "regr_syy", 2820, "regr_count", 2818) {
		for _, rows := range pairs {
			out = append(out, aggCase{oid, n, []string{"float8", "float8"}, rows})
		}
	}
	return out
}

func (c aggCase) key() string {
	rows := make([]string, len(c.rows))
	for i, r := range c.rows {
		rows[i] = strings.Join(r, "|")
	}
	return fmt.Sprintf("%d %s %s %q", c.oid, c.name, strings.Join(c.typs, ","), rows)
}

func recordAggs(t *testing.T) {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, *record)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	seen := map[string]bool{}
	var lines []string
	for _, c := range aggCases() {
		if seen[c.key()] {
			continue
		}
		seen[c.key()] = true
		var cols []string
		for i := range c.typs {
			cols = append(cols, "c"+strconv.Itoa(i))
		}
		var values []string
		for n, row := range c.rows {
			vals := []string{strconv.Itoa(n)}
			for i, v := range row {
				if v == `\N` {
					vals = append(vals, "null::"+c.typs[i])
				} else {
					vals = append(vals, quote(v)+"::"+c.typs[i])
				}
			}
			values = append(values, "("+strings.Join(vals, ",")+")")
		}
		where := ""
		if values == nil {
			vals := []string{"0"}
			for _, typ := range c.typs {
				vals = append(vals, "null::"+typ)
			}
			values = append(values, "("+strings.Join(vals, ",")+")")
			where = " where false"
		}
		sql := "select " + c.name + "(" + strings.Join(cols, ",") + " order by n) from (values " + strings.Join(values, ",") + ") v(n," + strings.Join(cols, ",") + ")" + where
		res, err := conn.Exec(ctx, sql).ReadAll()
		typ, result := uint32(0), ""
		var pe *pgconn.PgError
		switch {
		case errors.As(err, &pe):
			result = "!" + strconv.Quote(strings.Join([]string{pe.Code, pe.Message, pe.Detail, pe.Hint}, "; "))
		case err != nil:
			t.Fatal(err)
		default:
			typ = res[0].FieldDescriptions[0].DataTypeOID
			if v := res[0].Rows[0][0]; v == nil {
				result = "null"
			} else {
				result = "=" + strconv.Quote(string(v))
			}
		}
		lines = append(lines, fmt.Sprintf("%s\t%d\t%s", c.key(), typ, result))
	}
	slices.Sort(lines)
	if err := os.WriteFile(goldenPath("aggregate"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAggregates runs every case row by row, as two halves combined, and, if it is flat, as vectors with and without groups.
func TestAggregates(t *testing.T) {
	if *record != "" {
		recordAggs(t)
	}
	want := map[string][2]string{}
	f, err := os.Open(goldenPath("aggregate"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		p := strings.Split(sc.Text(), "\t")
		want[p[0]] = [2]string{p[1], p[2]}
	}
	for _, c := range aggCases() {
		w := want[c.key()]
		result, _ := strconv.ParseUint(w[0], 10, 32)
		checkAgg(t, c, types.OID(result), w[1])
	}
}

func checkAgg(t *testing.T, c aggCase, result types.OID, want string) {
	agg, ok := LookupAgg(c.oid)
	if !ok {
		t.Errorf("no aggregate %d %s", c.oid, c.name)
		return
	}
	ctx := testContext()
	call := &AggCall{Result: result, Env: ctx.Env}
	for _, n := range c.typs {
		call.Args = append(call.Args, typeByName(t, n))
	}
	rows := make([][]types.Datum, len(c.rows))
	for i, r := range c.rows {
		for k, v := range r {
			d := types.NullDatum
			if v != `\N` {
				var err error
				if d, err = types.In(call.Args[k], -1, []byte(v), ctx.Env); err != nil {
					t.Fatal(err)
				}
			}
			rows[i] = append(rows[i], d)
		}
	}
	report := func(form, got string) {
		if got != want {
			t.Errorf("%s, %s: got %s, want %s", c.key(), form, got, want)
		}
	}
	report("rows", runAgg(ctx, agg, call, result, rows, len(rows)))
	if len(rows) > 1 && !strings.Contains(want, "!") && result != types.Float8 && result != types.Float4 {
		report("halves", runAgg(ctx, agg, call, result, rows, len(rows)/2))
	}
	if agg.Flat != nil {
		report("vectors", runFlat(ctx, agg.Flat, call, result, rows, false))
		report("groups", runFlat(ctx, agg.Flat, call, result, rows, true))
	}
}

// runAgg steps through rows, in a second state from split on.
func runAgg(c *Context, agg *Agg, call *AggCall, result types.OID, rows [][]types.Datum, split int) string {
	states := []AggState{agg.New(call), agg.New(call)}
	for i, r := range rows {
		null := false
		for _, d := range r {
			null = null || d.Null
		}
		if null && agg.Strict {
			continue
		}
		s := states[0]
		if i >= split {
			s = states[1]
		}
		if err := s.Step(c, r); err != nil {
			return errorText(err)
		}
	}
	if split < len(rows) {
		if err := states[0].Combine(c, states[1]); err != nil {
			return errorText(err)
		}
	}
	d, err := states[0].Final(c)
	if states[0].Size() <= 0 {
		return "no size"
	}
	return resultText(c, d, err, result)
}

// runFlat gives the rows as vectors, with groups to group 1 while others go to groups 0 and 2.
func runFlat(c *Context, f *FlatAgg, call *AggCall, result types.OID, rows [][]types.Datum, grouped bool) string {
	st := make([]uint64, 3*f.Words)
	var vecs []*types.Vector
	for k, typ := range call.Args {
		v := types.NewVector(typ, len(rows)+1)
		for i, r := range rows {
			v.Set(i, r[k])
		}
		vecs = append(vecs, &v)
	}
	var groups []uint32
	at := st[:f.Words]
	if grouped {
		groups = bytes32(len(rows), 1)
		at = st[f.Words : 2*f.Words]
	}
	if err := f.Step(vecs, types.Rows{N: len(rows)}, groups, st); err != nil {
		return errorText(err)
	}
	for i := range st {
		if (grouped && (i < f.Words || i >= 2*f.Words) || !grouped && i >= f.Words) && st[i] != 0 {
			return "another group's state changed"
		}
	}
	d, err := f.Final(at)
	return resultText(c, d, err, result)
}

func bytes32(n int, v uint32) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func TestOrderedSets(t *testing.T) {
	c := testContext()
	run := func(oid types.OID, call *AggCall, values ...types.Datum) string {
		agg, ok := LookupAgg(oid)
		if !ok {
			t.Fatalf("no aggregate %d", oid)
		}
		s := agg.New(call)
		for _, v := range values {
			if err := s.Step(c, []types.Datum{v}); err != nil {
				t.Fatal(err)
			}
		}
		d, err := s.Final(c)
		return resultText(c, d, err, call.Result)
	}
	f := types.Float64Datum
	floats := []types.Datum{f(1), f(2), f(4), f(8)}
	direct := func(d types.Datum) []types.Datum { return []types.Datum{d} }
	for _, x := range []struct{ got, want string }{
		{run(3974, &AggCall{Args: []types.OID{types.Float8}, Result: types.Float8, Direct: direct(f(0.5))}, floats...), `="3"`},
		{run(3974, &AggCall{Args: []types.OID{types.Float8}, Result: types.Float8, Direct: direct(f(1.5))}, floats...), `!"22003; percentile value 1.5 is not between 0 and 1; ; "`},
		{run(3972, &AggCall{Args: []types.OID{types.Float8}, Result: types.Float8, Direct: direct(f(0.5))}, floats...), `="2"`},
		{run(3972, &AggCall{Args: []types.OID{types.Float8}, Result: types.Float8, Direct: direct(types.NullDatum)}, floats...), `null`},
		{run(3984, &AggCall{Args: []types.OID{types.Int4}, Result: types.Int4}, types.Int64Datum(1), types.Int64Datum(2), types.Int64Datum(2), types.Int64Datum(3)), `="2"`},
		{run(3986, &AggCall{Args: []types.OID{types.Float8}, Result: types.Int8, Direct: direct(f(3))}, floats...), `="3"`},
		{run(3990, &AggCall{Args: []types.OID{types.Float8}, Result: types.Float8, Direct: direct(f(4))}, floats...), `="0.8"`},
		{run(3988, &AggCall{Args: []types.OID{types.Float8}, Result: types.Float8, Direct: direct(f(4))}, floats...), `="0.5"`},
	} {
		if x.got != x.want {
			t.Errorf("got %s, want %s", x.got, x.want)
		}
	}
}

func BenchmarkSumInt4(b *testing.B) {
	agg, _ := LookupAgg(2108)
	v := types.NewVector(types.Int4, 1024)
	for i := range v.W {
		v.W[i] = uint64(i)
	}
	st := make([]uint64, agg.Flat.Words)
	args := []*types.Vector{&v}
	b.ReportAllocs()
	for b.Loop() {
		if err := agg.Flat.Step(args, types.Rows{N: 1024}, nil, st); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInt4LessThanConst(b *testing.B) {
	f, _ := Lookup("int4lt")
	v := types.NewVector(types.Int4, 1024)
	for i := range v.W {
		v.W[i] = uint64(i * 7919 % 1024)
	}
	k := types.ConstVector(types.Int4, types.Word, types.Int64Datum(500))
	out := types.NewVector(types.Bool, 1024)
	args := []*types.Vector{&v, &k}
	c := testContext()
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Vec(c, args, types.Rows{N: 1024}, &out); err != nil {
			b.Fatal(err)
		}
	}
}
