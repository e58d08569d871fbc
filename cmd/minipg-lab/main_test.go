package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/minipg/minipg/lab"
)

// TestMain lets the test's own program be the server of a run, which the lab starts as itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server-of-a-run" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// output is what a call of the program prints.
func output(t *testing.T, args ...string) (string, int) {
	t.Helper()
	old := os.Stdout
	defer func() { os.Stdout = old }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		all, err := io.ReadAll(r)
		if err != nil {
			t.Error(err)
		}
		text <- string(all)
	}()
	os.Stdout = w
	code := run(args)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return <-text, code
}

func TestList(t *testing.T) {
	out, code := output(t, "list")
	if code != 0 {
		t.Fatalf("exit status %d", code)
	}
	for _, id := range []string{"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10"} {
		if !regexp.MustCompile(`(?m)^` + id + ` `).MatchString(out) {
			t.Errorf("%s is not listed", id)
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"run", "E11", "--out", dir},
		{"run", "E2", "--time", "1500ms", "--out", dir},
		{"run", "E2", "--clients", "0", "--out", dir},
		{"run", "E2", "--tablespace", "C=/tmp", "--out", dir},
		{"run", "E2", "-c", "shared_buffers", "--out", dir},
		{"report", dir},
		{"compare", dir, dir},
	} {
		if _, code := output(t, args...); code != 1 {
			t.Errorf("%v: exit status %d, want 1", args, code)
		}
	}
}

func needPgbench(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("pgbench"); err != nil {
		if _, err := os.Stat("/usr/lib/postgresql/15/bin/pgbench"); err != nil {
			t.Skip("pgbench is not installed")
		}
	}
}

// TestE2 runs E2 small, from the command line to the report.
func TestE2(t *testing.T) {
	needPgbench(t)
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"run", "E2", "--clients", "4", "--time", "1s", "--rounds", "1", "--quick", "--out", dir}
	out, code := output(t, args...)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := lines[len(lines)-1]
	want := `^E2, 4 clients, sleeps per 1,000 blocks: heavyweight, one block [0-9.,e-]+, heavyweight, 10 blocks [0-9.,e-]+ \((ratio [0-9.]+|none)\), ` +
		`table, one block [0-9.,e-]+, table, 10 blocks [0-9.,e-]+( \((ratio [0-9.]+|none)\))?, default [0-9.,e-]+$`
	if !regexp.MustCompile(want).MatchString(last) {
		t.Errorf("the last line is %q", last)
	}
	checkRuns(t, dir)
	page := read(t, dir, "report.html")
	if !strings.Contains(page, "<svg") || regexp.MustCompile(`(src|href)="[^#]`).MatchString(page) {
		t.Error("report.html has no plot, or needs another file")
	}
	for _, plot := range []string{"e2-tps.svg", "e2-sleeps.svg"} {
		if !strings.Contains(read(t, dir, "report.md"), "plots/"+plot) || !strings.Contains(read(t, dir, "plots/"+plot), "<svg") {
			t.Errorf("%s is missing or not in report.md", plot)
		}
	}

	before := read(t, dir, "report.md") + page
	if _, code := output(t, "report", dir); code != 0 || read(t, dir, "report.md")+read(t, dir, "report.html") != before {
		t.Errorf("report: exit status %d, or another report from the same results", code)
	}
	if out, code := output(t, "compare", dir, dir); code != 0 || !strings.Contains(out, "| 4 | heavyweight, one block |") {
		t.Errorf("compare: exit status %d: %s", code, out)
	}
	if _, code := output(t, args...); code != 1 {
		t.Errorf("results were overwritten: exit status %d", code)
	}
	results := read(t, dir, "results.json")
	if _, code := output(t, append(args, "--resume")...); code != 0 {
		t.Errorf("resume: exit status %d", code)
	}
	if a, b := runsOf(t, results), runsOf(t, read(t, dir, "results.json")); a != b {
		t.Error("resume made runs again that had been made")
	}
}

// stopAfterFirst ends a context once the first run is reported.
type stopAfterFirst struct{ stop context.CancelFunc }

func (s stopAfterFirst) Write(p []byte) (int, error) {
	if strings.HasPrefix(string(p), "[1/") {
		s.stop()
	}
	return len(p), nil
}

// TestInterrupted: what was measured before an interruption is reported, and the rest made by --resume.
func TestInterrupted(t *testing.T) {
	needPgbench(t)
	experiments, err := lab.Find([]string{"E2"})
	if err != nil {
		t.Fatal(err)
	}
	o := &lab.Options{
		Experiments: experiments, Clients: []int{2}, Only: []string{"table, one block", "default"},
		Quick: true, Out: filepath.Join(t.TempDir(), "out"),
	}
	if err := o.Complete(0, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := lab.Execute(ctx, o, io.Discard, stopAfterFirst{cancel}); !errors.Is(err, lab.ErrInterrupted) {
		t.Fatalf("got %v", err)
	}
	if n := strings.Count(read(t, o.Out, "results.json"), `"config"`); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	if !strings.Contains(read(t, o.Out, "report.md"), "Interrupted: not all runs were made.") {
		t.Error("the report does not say that it was interrupted")
	}
	o.Resume = true
	if err := lab.Execute(t.Context(), o, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(read(t, o.Out, "results.json"), `"config"`); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
	if strings.Contains(read(t, o.Out, "report.md"), "Interrupted") {
		t.Error("the report of the resumed runs still says that they were interrupted")
	}
}

// checkRuns looks at what does not depend on the machine's speed.
func checkRuns(t *testing.T, dir string) {
	t.Helper()
	res, err := lab.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Runs) != 5 {
		t.Errorf("%d runs, want 5", len(res.Runs))
	}
	for _, r := range res.Runs {
		if r.Error != "" || r.TPS <= 0 || r.P99MS < r.P50MS || r.P50MS <= 0 || r.CPUSeconds <= 0 || r.Counters == nil {
			t.Errorf("%s: %+v", r.Config, r)
			continue
		}
		each := r.Counters.Blocks / r.Counters.Extends
		switch {
		case strings.HasSuffix(r.Config, "one block") && each != 1, strings.HasSuffix(r.Config, "10 blocks") && (each < 9 || each > 10):
			t.Errorf("%s: %.2f blocks an extension", r.Config, each)
		case strings.HasPrefix(r.Config, "heavyweight") && r.Counters.TableSleeps != 0, strings.HasPrefix(r.Config, "table") && r.Counters.ProcSleeps != 0:
			t.Errorf("%s slept on the other lock: %+v", r.Config, r.Counters)
		}
		// 10,000 tuples of 32 bytes and a line pointer each.
		if per := r.Blocks / float64(r.Transactions); per < 40 || per > 60 {
			t.Errorf("%s: %.1f blocks a transaction, want about 44", r.Config, per)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// runsOf is the list of runs in a results.json.
func runsOf(t *testing.T, data string) string {
	t.Helper()
	var res struct {
		Runs json.RawMessage `json:"runs"`
	}
	if err := json.Unmarshal([]byte(data), &res); err != nil {
		t.Fatal(err)
	}
	return string(res.Runs)
}
