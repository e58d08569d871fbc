package goldens

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/minipgtest"
)

// TestCopyPlainRows loads the same data, right and wrong, into tables that differ in what COPY FROM has to do for a
// row: only to read it, to keep it for an index, or to compute a constraint on the session's own goroutine. All must
// hold the same, or fail with the same error.
func TestCopyPlainRows(t *testing.T) {
	srv := minipgtest.New(t, minipgtest.InMemory())
	conn, err := pgconn.Connect(t.Context(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the test is over
	const columns = "(a int, b text, c char(5), d bigint, e smallint NOT NULL, f varchar(4), g numeric, h char(84), gone int"
	tables := []string{"plain", "indexed", "checked"}
	exec := func(sql string) string {
		t.Helper()
		res, err := conn.Exec(t.Context(), sql).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if len(res[0].Rows) == 0 {
			return ""
		}
		return string(res[0].Rows[0][0])
	}
	exec("CREATE TABLE plain " + columns + "); CREATE TABLE indexed " + columns + "); CREATE INDEX ON indexed (a);" +
		"CREATE TABLE checked " + columns + ", CHECK (a + 1 > a OR a IS NULL OR a >= 2147483647))")
	for _, table := range tables {
		exec("ALTER TABLE " + table + " DROP COLUMN gone, ADD COLUMN late int")
	}
	loaded := 0
	load := func(data []byte, options string) {
		t.Helper()
		var want string
		for i, table := range tables {
			exec("TRUNCATE " + table)
			tag, err := conn.CopyFrom(t.Context(), bytes.NewReader(data),
				"COPY "+table+" (a, b, c, d, e, f, g, h) FROM STDIN "+options)
			got := tag.String()
			var pgErr *pgconn.PgError
			if errors.As(err, &pgErr) {
				got = strings.ReplaceAll(strings.Join([]string{pgErr.Code, pgErr.Message, pgErr.Detail, pgErr.Where}, "\n"), table, "T")
			} else if err != nil {
				t.Fatal(err)
			} else {
				loaded++
			}
			got += "\n" + exec("SELECT format('%s rows, %s', count(*), md5(string_agg(x::text, E'\\n' ORDER BY ctid))) FROM "+table+" x")
			if i == 0 {
				want = got
			} else if got != want {
				t.Fatalf("%s:\n%s\nbut %s:\n%s\noptions %s, data %.500q", tables[0], want, table, got, options, data)
			}
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	gen := copyLines{rng: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // data for a test
	for i := range 80 {
		gen.lines(1 + i/3)
		load(gen.out.Bytes(), gen.options())
	}
	if loaded < 15 {
		t.Errorf("only %d loads without an error", loaded)
	}
	for _, odd := range []bool{false, true} { // of several batches
		gen.whole(9000, odd)
		load(gen.out.Bytes(), "")
		var binary bytes.Buffer
		if _, err := conn.CopyTo(t.Context(), &binary, "COPY plain (a, b, c, d, e, f, g, h) TO STDOUT (FORMAT binary)"); err != nil {
			t.Fatal(err)
		}
		load(binary.Bytes(), "(FORMAT binary)")
		for range 5 { // damaged
			data := bytes.Clone(binary.Bytes())
			data[19+gen.rng.IntN(len(data)-19)] ^= byte(1 + gen.rng.IntN(255))
			load(data, "(FORMAT binary)")
			load(data[:gen.rng.IntN(len(data))], "(FORMAT binary)")
		}
	}
}

// copyLines makes lines of text for COPY.
type copyLines struct {
	rng   *rand.Rand
	out   bytes.Buffer
	delim string
	null  string
	head  bool
}

func (g *copyLines) pick(of ...string) string { return of[g.rng.IntN(len(of))] }

func (g *copyLines) options() string {
	header := ""
	if g.head {
		header = ", HEADER"
	}
	return fmt.Sprintf("(DELIMITER '%s', NULL '%s'%s)", g.delim, g.null, header)
}

// lines makes n lines, which may be wrong.
func (g *copyLines) lines(n int) {
	g.out.Reset()
	g.delim, g.null, g.head = g.pick("\t", "\t", ",", "|", "-"), g.pick(`\N`, `\N`, "", "0", "nil"), g.rng.IntN(5) == 0
	end := g.pick("\n", "\n", "\n", "\r\n")
	for i := range n {
		fields := []string{g.integer(5), g.text(), g.pick("", "ab", "abcde", "ab   ", "äöüß", "abcdef"), g.integer(10), g.pick("1", "2", "-7", "32767"), g.pick("", "abcd", "äöüß", "abcd  "), g.pick("1.5", "7", "-0.001"), g.pick("", "x", strings.Repeat(" ", 84))}
		switch g.rng.IntN(60) {
		case 0:
			fields = fields[:g.rng.IntN(len(fields))]
		case 1:
			fields = append(fields, "more")
		case 2:
			fields[g.rng.IntN(len(fields))] = g.pick("99999999999", "x", "-", "+5", " 7", "40000", "1e3", "\xff", "\x00", `\x41`, `\`, "abcdefg", "--1", "")
		}
		for j := range fields {
			if j != 4 && g.rng.IntN(12) == 0 {
				fields[j] = g.null
			}
		}
		io.WriteString(&g.out, strings.Join(fields, g.delim)) //nolint:errcheck // cannot fail
		if i < n-1 || g.rng.IntN(3) > 0 {
			io.WriteString(&g.out, end) //nolint:errcheck // cannot fail
		}
	}
	if g.rng.IntN(6) == 0 {
		io.WriteString(&g.out, "\\.\n") //nolint:errcheck // cannot fail
	}
}

func (g *copyLines) integer(most int) string {
	v := g.rng.Int64N(1 << (6 * most))
	return g.pick("", "-", "000") + fmt.Sprint(v)
}

func (g *copyLines) text() string {
	return g.pick("", "a word", "two\\ttabs\\t", "a\\\\b", "grün", "日本", `\\.`, "a\\\nb", strings.Repeat("long ", g.rng.IntN(40)))
}

// whole makes n lines that are right, some with values to be compressed or moved out of line.
func (g *copyLines) whole(n int, long bool) {
	g.out.Reset()
	for i := range n {
		b := g.pick("", "text", "grün", "back\\\\slash")
		if long && (i/500)%3 == 1 && g.rng.IntN(10) == 0 {
			b = strings.Repeat(g.pick("compressible ", "x"), 100+g.rng.IntN(3000))
		}
		fmt.Fprintf(&g.out, "%d\t%s\tc\t%d\t%d\t%s\t%d.5\t\n", i, b, -i, i%30000, g.pick("v", "vvvv", `\N`), i)
	}
}
