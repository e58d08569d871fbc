package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	startTimeout   = 60 * time.Second
	stopTimeout    = 60 * time.Second
	commandTimeout = 3 * time.Minute
)

// minipgBinary is the minipg command, built once.
var minipgBinary string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "minipg-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	minipgBinary = filepath.Join(dir, "minipg")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", minipgBinary, "github.com/minipg/minipg/cmd/minipg")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building minipg:", err)
		return 1
	}
	return m.Run()
}

// tool finds a command of PostgreSQL 15.
func tool(t testing.TB, name string) string {
	t.Helper()
	path := "/usr/lib/postgresql/15/bin/" + name
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed; ./test installs it", name)
	}
	return path
}

// process is a running minipg.
type process struct {
	cmd  *exec.Cmd
	dir  string
	port string
	done chan error
	log  logBuffer
}

type logBuffer struct {
	mu struct {
		sync.Mutex
		bytes.Buffer
	}
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.String()
}

// start starts minipg on dir and a free port and waits until it accepts connections.
func start(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	p := &process{dir: dir, done: make(chan error, 1)}
	args = append([]string{"-D", dir, "-p", "0", "-k", "", "--metrics-listen", ""}, args...)
	p.cmd = exec.Command(minipgBinary, args...)
	p.cmd.Stderr = &p.log
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	port := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if n, ok := strings.CutPrefix(lines.Text(), "port "); ok {
				port <- n
			}
		}
		p.done <- p.cmd.Wait()
	}()
	t.Cleanup(func() { p.kill() })
	select {
	case p.port = <-port:
	case err := <-p.done:
		p.done <- err
		t.Fatalf("minipg ended at once: %v\n%s", err, p.log.String())
	case <-time.After(startTimeout):
		t.Fatalf("minipg did not start in time\n%s", p.log.String())
	}
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	p.done <- <-p.done
}

// stop sends a signal and waits for the end.
func (p *process) stop(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.done:
		p.done <- err
		if err != nil {
			t.Fatalf("minipg ended with %v\n%s", err, p.log.String())
		}
	case <-time.After(stopTimeout):
		t.Fatalf("minipg did not stop in time\n%s", p.log.String())
	}
}

func (p *process) dsn(database string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%s user=postgres dbname=%s sslmode=disable", p.port, database)
}

// check runs minipg check on a directory nobody serves.
func check(t testing.TB, dir string) {
	t.Helper()
	out, err := exec.Command(minipgBinary, "check", "-D", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("minipg check: %v\n%s", err, out)
	}
}

// command runs a client tool and returns what it wrote, stdout and stderr together.
func command(t testing.TB, stdin, dsn, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool(t, name), args...)
	cmd.Env = append(os.Environ(), environment(t, dsn)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no end in time: %w", ctx.Err())
	}
	return string(out), err
}

// environment tells libpq about the server.
func environment(t testing.TB, dsn string) []string {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"PGHOST=" + cfg.Host, fmt.Sprintf("PGPORT=%d", cfg.Port), "PGUSER=" + cfg.User, "PGDATABASE=" + cfg.Database,
		"PGTZ=UTC", "PGDATESTYLE=ISO, MDY", "PGCLIENTENCODING=UTF8", "PGAPPNAME=", "LC_ALL=C.UTF-8", "PGOPTIONS=",
	}
}

// query returns the first value of a query, as text.
func query(t testing.TB, dsn, sql string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	last := results[len(results)-1]
	if len(last.Rows) == 0 || len(last.Rows[0]) == 0 {
		return ""
	}
	return string(last.Rows[0][0])
}
