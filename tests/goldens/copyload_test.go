package goldens

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/minipgtest"
)

// TestCopyManyBatches loads more rows than are inserted at once: rows are read while others are inserted,
// and what goes wrong is still told as if one came after the other.
func TestCopyManyBatches(t *testing.T) {
	srv := minipgtest.New(t, minipgtest.InMemory())
	conn, err := pgconn.Connect(t.Context(), srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the test is over
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
	exec("CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL)")
	const rows = 10000
	for _, c := range []struct {
		name        string
		duplicate   int // line with the key of the first
		bad         int // line whose number is none
		code, where string
	}{
		{name: "all is well"},
		{name: "duplicate", duplicate: 3500, code: "23505", where: "COPY t, line 3500"},
		{name: "bad number", bad: 4200, code: "22P02", where: "COPY t, line 4200, column a: \"x\""},
		{name: "bad number in the duplicate's batch", duplicate: 1500, bad: 1600, code: "22P02", where: "COPY t, line 1600, column a: \"x\""},
		{name: "bad number in a later batch", duplicate: 1500, bad: 2600, code: "23505", where: "COPY t, line 1500"},
		{name: "duplicate in the last batch", duplicate: rows - 1, code: "23505", where: fmt.Sprintf("COPY t, line %d", rows-1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			exec("TRUNCATE t")
			var data strings.Builder
			for line := 1; line <= rows; line++ {
				a := fmt.Sprint(line)
				switch line {
				case c.duplicate:
					a = "1"
				case c.bad:
					a = "x"
				}
				fmt.Fprintf(&data, "%s\ttext %d\n", a, line)
			}
			tag, err := conn.CopyFrom(t.Context(), strings.NewReader(data.String()), "COPY t FROM STDIN")
			got := exec("SELECT format('%s %s %s', count(*), coalesce(sum(a), 0), count(DISTINCT b)) FROM t")
			if c.code == "" {
				want := fmt.Sprintf("%d %d %d", rows, rows*(rows+1)/2, rows)
				if err != nil || tag.String() != fmt.Sprintf("COPY %d", rows) || got != want {
					t.Errorf("%v, %v; the table holds %s, want %s", tag, err, got, want)
				}
				return
			}
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != c.code || pgErr.Where != c.where {
				t.Errorf("error %v (where: %v), want %s at %q", err, pgErr, c.code, c.where)
			}
			if got != "0 0 0" {
				t.Errorf("the table holds %s after an error", got)
			}
		})
	}
}
