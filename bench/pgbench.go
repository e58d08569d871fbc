package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// benchRun is a run of pgbench.
type benchRun struct {
	script   string // the arguments that name it: -b or -f
	protocol string // of -M
	clients  int
	threads  int  // 0: two, as the machine that these figures are compared on has
	seconds  int  // or
	each     int  // transactions of each client
	timed    bool // for its seconds with --quick too
	extra    []string
}

// benchResult is what a run said.
type benchResult struct {
	tps          float64
	transactions float64
	progress     []float64 // tps of each interval of -P
}

// pgbench runs it; a failed transaction fails it.
func (s *server) pgbench(ctx context.Context, r benchRun) (benchResult, error) {
	threads := r.threads
	if threads == 0 {
		threads = min(2, r.clients)
	}
	args := strings.Fields(r.script)
	args = append(args, "-h", s.host(), "-p", strconv.Itoa(s.port), "-U", "postgres", "-n", "-M", r.protocol,
		"-c", strconv.Itoa(r.clients), "-j", strconv.Itoa(threads))
	if s.b.opts.Quick && r.each == 0 && !r.timed {
		r.each = quickEach
	}
	if r.each > 0 {
		args = append(args, "-t", strconv.Itoa(r.each))
	} else {
		args = append(args, "-T", strconv.Itoa(r.seconds))
	}
	args = append(append(args, r.extra...), "postgres")
	out, err := s.b.client(ctx, "pgbench", args...)
	if err != nil {
		return benchResult{}, fmt.Errorf("%s: %w", s.kind, err)
	}
	return parsePgbench(out)
}

// client runs one of PostgreSQL's client programs.
func (b *bench) client(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(b.opts.PgBin, name), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out.String())
	}
	return out.String(), nil
}

var (
	tpsLine      = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)
	countLine    = regexp.MustCompile(`(?m)^number of transactions actually processed: ([0-9]+)`)
	failedLine   = regexp.MustCompile(`(?m)^number of failed transactions: ([0-9]+)`)
	progressLine = regexp.MustCompile(`(?m)^progress: [0-9.]+ s, ([0-9.]+) tps`)
)

func parsePgbench(out string) (benchResult, error) {
	var r benchResult
	for _, f := range []struct {
		line *regexp.Regexp
		to   *float64
	}{{tpsLine, &r.tps}, {countLine, &r.transactions}} {
		m := f.line.FindStringSubmatch(out)
		if m == nil {
			return r, fmt.Errorf("pgbench did not say %q:\n%s", f.line, out)
		}
		var err error
		if *f.to, err = strconv.ParseFloat(m[1], 64); err != nil {
			return r, err
		}
	}
	if m := failedLine.FindStringSubmatch(out); m != nil && m[1] != "0" {
		return r, fmt.Errorf("pgbench: %s transactions failed", m[1])
	}
	for _, m := range progressLine.FindAllStringSubmatch(out, -1) {
		tps, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return r, err
		}
		r.progress = append(r.progress, tps)
	}
	return r, nil
}

// percentile reads the latencies of the transactions from the files that pgbench -l wrote, in milliseconds, and
// removes them.
func percentile(prefix string, p float64) (_ float64, err error) {
	files, err := filepath.Glob(prefix + ".*")
	if err != nil {
		return 0, err
	}
	var all []float64
	for _, name := range files {
		if all, err = appendLatencies(all, name); err != nil {
			return 0, err
		}
		if err = os.Remove(name); err != nil {
			return 0, err
		}
	}
	if len(all) == 0 {
		return 0, errors.New("pgbench logged no transaction")
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(p*float64(len(all))))], nil
}

// appendLatencies reads lines "client transaction microseconds script ...".
func appendLatencies(all []float64, name string) (_ []float64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s: %q is not a line of pgbench's log", name, lines.Text())
		}
		us, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return nil, err
		}
		all = append(all, us/1000)
	}
	return all, lines.Err()
}
