package waits

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/minipgtest"
	"github.com/minipg/minipg/storage"
)

// patience bounds whatever should happen soon.
const patience = 30 * time.Second

// held is how long a test keeps something from others; the shortest wait that is remembered is a tenth.
const held = 40 * time.Millisecond

type server struct {
	*minipgtest.Server
	t *testing.T
}

func newServer(t *testing.T, settings ...string) *server {
	t.Helper()
	options := []minipgtest.Option{
		minipgtest.InMemory(), minipgtest.Metrics(), minipgtest.Setting("shared_buffers", "2MB"),
		minipgtest.Setting("wait_history_threshold", strconv.Itoa(int(held.Milliseconds())/10)),
		minipgtest.Setting("autovacuum", "off"),
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		options = append(options, minipgtest.Setting(name, value))
	}
	return &server{minipgtest.New(t, options...), t}
}

type client struct {
	*pgx.Conn
	t   *testing.T
	pid int
}

func (s *server) client() *client {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.DSN("postgres"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return &client{conn, s.t, int(conn.PgConn().PID())}
}

func (c *client) exec(sql string) {
	c.t.Helper()
	if _, err := c.Exec(c.t.Context(), sql); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
}

// start runs a statement that waits; the channel tells how it ended.
func (c *client) start(sql string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(c.t.Context(), sql)
		done <- err
	}()
	return done
}

func (c *client) one(sql string) string {
	c.t.Helper()
	var v string
	if err := c.QueryRow(c.t.Context(), sql).Scan(&v); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// untilShown waits until pg_stat_activity shows what a session waits for.
func (c *client) untilShown(pid int, want string) {
	c.t.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		got = c.one(fmt.Sprintf("SELECT coalesce(wait_event_type || ':' || wait_event, '') FROM pg_stat_activity WHERE pid = %d", pid))
		if got == want {
			return
		}
	}
	c.t.Fatalf("pg_stat_activity shows %q, want %q", got, want)
}

func finish(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("the wait does not end")
	}
}

// session is a session of the engine, for holding what no statement holds long enough.
func (s *server) session() *engine.Session {
	return s.Engine().NewSession(engine.SessionOptions{PID: 77, Database: catalog.DatabasePostgres})
}

// file finds a relation's file.
func (s *server) file(c *client, name string) storage.RelFile {
	s.t.Helper()
	n, err := strconv.ParseUint(c.one("SELECT pg_relation_filenode('"+name+"')::text"), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return storage.RelFile{
		Tablespace: storage.DefaultTablespace, Database: uint32(catalog.DatabasePostgres), Number: storage.FileNumber(n),
	}
}

// page reads the metrics page: values by series.
func (s *server) page() map[string]float64 {
	s.t.Helper()
	resp, err := http.Get("http://" + s.HTTPAddress().String() + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return parsePage(s.t, resp.Body)
}

func parsePage(t *testing.T, body io.Reader) map[string]float64 {
	t.Helper()
	page := make(map[string]float64)
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		page[line[:at]] = v
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return page
}

// counted fails unless each series has grown past zero.
func (s *server) counted(series ...string) {
	s.t.Helper()
	page := s.page()
	for _, name := range series {
		if page[name] <= 0 {
			v, ok := page[name]
			s.t.Errorf("%s is %v, on the page: %v", name, v, ok)
		}
	}
}
