package goldens

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/minipgtest"
)

var (
	rewrite       = flag.Bool("rewrite", false, "record PostgreSQL's answers from MINIPG_ORACLE")
	rewriteMinipg = flag.Bool("rewrite-minipg", false, "record minipg's answers where it means to differ")
	show          = flag.Int("show", 5, "how many failures to show of each file")
)

// fewest is how many statements there must be at least.
const fewest = 1000

// TestGoldens compares minipg with what PostgreSQL 15 answered.
func TestGoldens(t *testing.T) {
	if *rewrite {
		t.Skip("TestPostgreSQL records")
	}
	dsn := os.Getenv("MINIPG_SUBJECT")
	if dsn == "" {
		dsn = minipgtest.New(t, minipgtest.InMemory()).DSN("postgres")
	}
	total := 0
	for _, path := range scripts(t) {
		s := read(t, path)
		total += len(s.blocks)
		t.Run(name(path), func(t *testing.T) { compare(t, s, dsn, true) })
	}
	t.Logf("%d statements", total)
	if total < fewest {
		t.Errorf("%d statements, want at least %d", total, fewest)
	}
}

// TestPostgreSQL compares a running PostgreSQL 15 with what one answered when the goldens were
// recorded, or records them.
func TestPostgreSQL(t *testing.T) {
	dsn := os.Getenv("MINIPG_ORACLE")
	if dsn == "" {
		t.Skip("MINIPG_ORACLE names no PostgreSQL 15")
	}
	for _, path := range scripts(t) {
		t.Run(name(path), func(t *testing.T) { compare(t, read(t, path), dsn, false) })
	}
}

func scripts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.test")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return paths
}

func read(t *testing.T, path string) *script {
	t.Helper()
	s, err := readScript(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func name(path string) string { return strings.TrimSuffix(filepath.Base(path), ".test") }

// compare runs a script in a new database and reports what differs.
func compare(t *testing.T, s *script, dsn string, minipg bool) {
	t.Helper()
	r := newRunner(inNewDatabase(t, dsn, "golden_"+name(s.path)))
	defer r.close()
	var failures []string
	for _, b := range s.blocks {
		got := r.run(b)
		want := b.want
		if minipg && b.reason != "" {
			want = b.differs
		}
		switch {
		case !minipg && *rewrite:
			if !b.known || !b.same(got, want) {
				b.want, b.known = got, true
			}
		case minipg && *rewriteMinipg && b.reason != "":
			b.differs = got
			if b.same(got, b.want) {
				b.reason, b.differs = "", nil
			}
		case !b.known:
			failures = append(failures, fmt.Sprintf("%s:%d: not recorded", s.path, b.line))
		case !b.same(got, want):
			failures = append(failures, describe(s, b, got, want))
		}
	}
	if *rewrite && !minipg || *rewriteMinipg && minipg {
		if err := s.write(); err != nil {
			t.Fatal(err)
		}
	}
	if len(failures) == 0 {
		return
	}
	for _, f := range failures[:min(*show, len(failures))] {
		t.Log(f)
	}
	t.Errorf("%d of %d statements differ", len(failures), len(s.blocks))
}

func inNewDatabase(t *testing.T, dsn, database string) string {
	t.Helper()
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	run := func(sql string) {
		if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	run("DROP DATABASE IF EXISTS " + database)
	run("CREATE DATABASE " + database)
	t.Cleanup(func() {
		run("DROP DATABASE " + database)
		_ = c.Close(ctx)
	})
	return dsn + " dbname=" + database
}

// describe shows a failure: lines both have once, then what was wanted and what came.
func describe(s *script, b *block, got, want []string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s:%d: %s\n", s.path, b.line, b.sql)
	same := 0
	for same < min(len(got), len(want)) && got[same] == want[same] {
		same++
	}
	clip := func(sign string, lines []string) {
		for i, line := range slices.Clone(lines) {
			if i == 6 {
				fmt.Fprintf(&out, "  %s ... %d lines more\n", sign, len(lines)-i)
				return
			}
			fmt.Fprintf(&out, "  %s %.300s\n", sign, line)
		}
	}
	if same > 0 {
		fmt.Fprintf(&out, "    (%d lines agree)\n", same)
	}
	clip("want", want[same:])
	clip("got ", got[same:])
	return out.String()
}
