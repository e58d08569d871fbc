package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/minipg/minipg/minipgtest"
)

// patience bounds whatever should happen soon.
const patience = 60 * time.Second

// rateInterval stands for Grafana's variable: some scrapes of the test's Prometheus.
const rateInterval = "4s"

// panel is what the test needs of a panel.
type panel struct {
	Title   string
	Type    string
	Targets []struct{ Expr string }
}

func readPanels(t *testing.T) []panel {
	t.Helper()
	b, err := os.ReadFile("../../docs/grafana/minipg.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels     []panel
		Templating struct{ List []struct{ Name string } }
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"datasource", "instance"} {
		if !slices.ContainsFunc(board.Templating.List, func(v struct{ Name string }) bool { return v.Name == name }) {
			t.Errorf("the dashboard has no variable %s", name)
		}
	}
	return board.Panels
}

// TestPanels fails on an expression that Prometheus does not understand or that finds nothing, as one does that
// names a metric or a label that minipg does not have.
func TestPanels(t *testing.T) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed (Debian's package prometheus)")
	}
	srv := minipgtest.New(t, minipgtest.InMemory(), minipgtest.Metrics(), minipgtest.Setting("shared_buffers", "2MB"))
	api := startPrometheus(t, program, srv.HTTPAddress().String())
	stop := keepBusy(t, srv.DSN("postgres"))
	defer stop()

	deadline := time.Now().Add(patience)
	var open []string // expressions that have not found anything yet
	titles := map[string]string{}
	for _, p := range readPanels(t) {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s: a panel without an expression", p.Title)
		}
		for _, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", rateInterval, "$instance", ".*",
				" > 0 or vector(0)", "").Replace(target.Expr) // which would find something in any case
			if strings.Contains(expr, "$") {
				t.Errorf("%s: a variable that Grafana does not know: %s", p.Title, expr)
			}
			titles[expr] = p.Title
			open = append(open, expr)
		}
	}
	for len(open) > 0 {
		open = slices.DeleteFunc(open, func(expr string) bool {
			n, err := query(t.Context(), api, expr)
			if err != nil {
				t.Fatalf("%s: %s: %v", titles[expr], expr, err)
			}
			return n > 0
		})
		if time.Now().After(deadline) {
			for _, expr := range open {
				t.Errorf("%s: nothing is found by %s", titles[expr], expr)
			}
			return
		}
	}
}

// TestEveryMetric fails on a metric of minipg's that no panel shows.
func TestEveryMetric(t *testing.T) {
	srv := minipgtest.New(t, minipgtest.InMemory(), minipgtest.Metrics())
	resp, err := http.Get("http://" + srv.HTTPAddress().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for _, p := range readPanels(t) {
		for _, target := range p.Targets {
			shown.WriteString(target.Expr + "\n")
		}
	}
	for line := range strings.Lines(string(page)) {
		words := strings.Fields(line)
		if len(words) < 3 || words[1] != "TYPE" || !strings.HasPrefix(words[2], "minipg_") {
			continue
		}
		if !strings.Contains(shown.String(), words[2]) {
			t.Errorf("no panel shows %s", words[2])
		}
	}
}

// startPrometheus starts it on the configuration of docs/, but for the target's address and a shorter interval,
// and returns the address of its API.
func startPrometheus(t *testing.T, program, target string) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := string(b)
	for _, r := range [][2]string{{"127.0.0.1:9187", target}, {"scrape_interval: 5s", "scrape_interval: 200ms"}} {
		if strings.Count(config, r[0]) != 1 {
			t.Fatalf("docs/prometheus.yml does not have %q once", r[0])
		}
		config = strings.Replace(config, r[0], r[1], 1)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	var log strings.Builder
	cmd := exec.Command(program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		err := cmd.Wait()
		if err != nil || t.Failed() {
			t.Logf("prometheus: %v\n%s", err, log.String())
		}
	})
	return "http://" + address
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// query returns how many series an expression has; none while Prometheus is not there yet.
func query(ctx context.Context, api, expr string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, api+"/api/v1/query?query="+url.QueryEscape(expr), nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode == http.StatusServiceUnavailable {
		return 0, ctx.Err()
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, err
	}
	if answer.Status != "success" {
		return 0, fmt.Errorf("%s", answer.Error)
	}
	return len(answer.Data.Result), nil
}

// keepBusy runs statements until it is told to stop, so that rates and the labels of events are there.
func keepBusy(t *testing.T, dsn string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "CREATE TABLE busy (a int PRIMARY KEY, b text)"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			_, err := conn.Exec(ctx, "INSERT INTO busy SELECT g, repeat('x', 100) FROM generate_series($1::int, $1 + 99) g", i*100)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				t.Errorf("insert: %v", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond): // leaves the processor to others
			}
		}
	}()
	return func() {
		cancel()
		<-done
		_ = conn.Close(context.Background())
	}
}
