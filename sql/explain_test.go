package sql_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/minipgtest"
)

// Goldens are what a real PostgreSQL 15 prints: go test ./sql -run Explain -rewrite -record "host=... dbname=..." takes them
// from there. The database is emptied of everything in the schemas public and s1.
var record = flag.String("record", "", "connection string of the PostgreSQL 15 to record goldens from")

// pgOnly turns off what minipg's planner does not have.
const pgOnly = "set enable_mergejoin = off; set enable_memoize = off; set jit = off; set max_parallel_workers_per_gather = 0"

// TestExplain shows plans and definitions as the server prints them.
func TestExplain(t *testing.T) {
	datadriven.Walk(t, "testdata/explain", func(t *testing.T, path string) {
		conn := explainConn(t)
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			switch td.Cmd {
			case "exec":
				if _, err := run(conn, td.Input); err != nil {
					return "error: " + err.Error() + "\n"
				}
				return ""
			case "query":
				if *record != "" && len(td.CmdArgs) > 0 {
					return td.Expected // a difference that is meant; the reason stands there
				}
				// Each line is a statement of its own.
				var b strings.Builder
				for _, sql := range strings.Split(strings.TrimSpace(td.Input), "\n") {
					rows, err := run(conn, sql)
					if err != nil {
						rows = []string{"error: " + err.Error()}
					}
					b.WriteString(strings.Join(rows, "\n") + "\n\n")
				}
				return strings.TrimSuffix(b.String(), "\n")
			}
			td.Fatalf(t, "unknown command %s", td.Cmd)
			return ""
		})
	})
}

func explainConn(t *testing.T) *pgconn.PgConn {
	dsn := *record
	if dsn == "" {
		dsn = minipgtest.New(t, minipgtest.InMemory()).DSN("postgres")
	}
	conn, err := pgconn.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if *record != "" {
		for _, sql := range []string{
			"set client_min_messages = error", "drop schema if exists public cascade", "drop schema if exists s1 cascade",
			"create schema public", pgOnly,
		} {
			if _, err := run(conn, sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	return conn
}

// run returns the rows of all results, the columns separated by bars.
func run(conn *pgconn.PgConn, sql string) ([]string, error) {
	res, err := conn.Exec(context.Background(), sql).ReadAll()
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return nil, fmt.Errorf("%s: %s", pe.Code, pe.Message)
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range res {
		for _, row := range r.Rows {
			cols := make([]string, len(row))
			for i, v := range row {
				cols[i] = string(v)
			}
			out = append(out, strings.Join(cols, " | "))
		}
	}
	return out, nil
}
