package differential

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	statementTimeout = 20 * time.Second
	serverTimeout    = "2s"
	// maxRows is how large an answer is worth comparing.
	maxRows = 20000
)

// server is one of the two.
type server struct {
	name string
	dsn  string
	conn *pgconn.PgConn
}

// answer is what a server said to a statement.
type answer struct {
	columns []string // name:type
	rows    []string
	tag     string
	err     string // SQLSTATE: message
	tooLong bool
	took    time.Duration
}

func (s *server) connect(ctx context.Context) error {
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	cfg, err := pgconn.ParseConfig(s.dsn)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["statement_timeout"] = serverTimeout
	cfg.RuntimeParams["TimeZone"] = "UTC"
	s.conn, err = pgconn.ConnectConfig(ctx, cfg)
	return err
}

func (s *server) close() {
	if s.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.conn.Close(ctx)
	}
}

// exec runs text by the simple protocol and answers for its last statement.
func (s *server) exec(text string) answer {
	return s.do(func(ctx context.Context) (results []*pgconn.Result, err error) {
		mrr := s.conn.Exec(ctx, text)
		for mrr.NextResult() {
			results = append(results, read(mrr.ResultReader()))
		}
		return results, mrr.Close()
	})
}

// execParams runs one statement by the extended protocol.
func (s *server) execParams(text string, values []string) answer {
	return s.do(func(ctx context.Context) ([]*pgconn.Result, error) {
		params := make([][]byte, len(values))
		for i, v := range values {
			params[i] = []byte(v)
		}
		r := read(s.conn.ExecParams(ctx, text, params, nil, nil, nil))
		return []*pgconn.Result{r}, r.Err
	})
}

// read reads a whole result, and its columns even where it has no rows.
func read(rr *pgconn.ResultReader) *pgconn.Result {
	columns := slices.Clone(rr.FieldDescriptions())
	r := rr.Read()
	r.FieldDescriptions = columns
	return r
}

func (s *server) do(run func(context.Context) ([]*pgconn.Result, error)) answer {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	if err := s.connect(ctx); err != nil {
		return answer{err: "no connection: " + err.Error()}
	}
	start := time.Now()
	results, err := run(ctx)
	var a answer
	a.took = time.Since(start)
	if err != nil {
		return a.failed(err)
	}
	if len(results) == 0 {
		return a
	}
	r := results[len(results)-1]
	a.tag = r.CommandTag.String()
	for i := range r.FieldDescriptions {
		f := &r.FieldDescriptions[i]
		a.columns = append(a.columns, fmt.Sprintf("%s:%d/%d", f.Name, f.DataTypeOID, f.TypeModifier))
	}
	a.tooLong = len(r.Rows) > maxRows
	for _, row := range r.Rows {
		var b strings.Builder
		for i, v := range row {
			if i > 0 {
				b.WriteString(" | ")
			}
			if v == nil {
				b.WriteString("\\N")
			} else {
				b.Write(v)
			}
		}
		a.rows = append(a.rows, b.String())
	}
	return a
}

func (a answer) failed(err error) answer {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		a.err = "lost: " + err.Error()
		return a
	}
	a.err = e.Code + ": " + e.Message
	a.tooLong = e.Code == "57014"
	return a
}

// differs tells in what got is not as want; "" where it is.
func (want *answer) differs(got *answer, ordered bool) string {
	switch {
	case want.err != got.err:
		return fmt.Sprintf("error: want %q, got %q", want.err, got.err)
	case want.err != "":
		return ""
	case !slices.EqualFunc(want.columns, got.columns, sameColumn):
		return fmt.Sprintf("columns: want %v, got %v", want.columns, got.columns)
	case want.tag != got.tag:
		return fmt.Sprintf("tag: want %q, got %q\n%s", want.tag, got.tag, difference(want.rows, got.rows))
	}
	w, g := slices.Clone(want.rows), slices.Clone(got.rows)
	slices.Sort(w)
	slices.Sort(g)
	if !slices.Equal(w, g) {
		return "rows:\n" + difference(w, g)
	}
	if ordered && !slices.EqualFunc(want.rows, got.rows, sameNumbers) {
		return "order:\n" + difference(want.rows, got.rows)
	}
	return ""
}

// sameColumn compares columns. PostgreSQL tells a simple query's type modifiers as they are once constants were
// folded, so that one side may know more.
func sameColumn(a, b string) bool {
	return a == b || strings.TrimSuffix(a, "/-1") == b[:strings.LastIndexByte(b, '/')] ||
		strings.TrimSuffix(b, "/-1") == a[:strings.LastIndexByte(a, '/')]
}

// sameNumbers compares rows of a sort: equal numbers may look different.
func sameNumbers(a, b string) bool {
	if a == b {
		return true
	}
	x, y := strings.Split(a, " | "), strings.Split(b, " | ")
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if trimZeros(x[i]) != trimZeros(y[i]) {
			return false
		}
	}
	return true
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// difference shows the first rows that one side has and the other has not.
func difference(want, got []string) string {
	count := make(map[string]int)
	for _, r := range want {
		count[r]++
	}
	for _, r := range got {
		count[r]--
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %d rows wanted, %d got\n", len(want), len(got))
	shown := 0
	for _, r := range append(slices.Clone(want), got...) {
		n := count[r]
		if n == 0 || shown >= 12 {
			continue
		}
		count[r] = 0
		shown++
		fmt.Fprintf(&b, "  %+d %s\n", -n, r)
	}
	return b.String()
}
