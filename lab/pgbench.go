package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// debianPgbench is where Debian has pgbench, which is in no PATH.
const debianPgbench = "/usr/lib/postgresql/15/bin/pgbench"

// findPgbench finds stock pgbench, also where Debian puts that of version 15.
func findPgbench(debian string) (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	if _, err := os.Stat(debian); err == nil {
		return debian, nil
	}
	return "", errors.New("pgbench was not found; Debian's package postgresql-15 has it (apt-get install postgresql-15)")
}

// load is one call of pgbench.
type load struct {
	pgbench  string
	dsn      string
	dir      string // for the script and the logs; there is nothing else in it
	workload *Workload
	script   string // with FILE replaced
	clients  int
	seconds  int // 0: transactions instead
	perCli   int // transactions of each client
}

// measured is what pgbench says.
type measured struct {
	tps          float64
	transactions int64
	latencyMS    float64
	latencies    []float64 // ms, sorted, of the clients that count
	counted      int64     // transactions of these clients, where all are logged
	others       int64
}

func (l *load) args() []string {
	threads := min(l.clients, runtime.NumCPU())
	if l.workload.ThreadPerClient {
		threads = l.clients
	}
	args := []string{
		"-n", "-M", l.workload.Protocol, "-f", filepath.Join(l.dir, "script.sql"),
		"-c", strconv.Itoa(l.clients), "-j", strconv.Itoa(threads), "--random-seed=1",
	}
	if l.seconds == 0 {
		args = append(args, "-t", strconv.Itoa(l.perCli))
	} else {
		args = append(args, "-T", strconv.Itoa(l.seconds), "-l", "--log-prefix="+filepath.Join(l.dir, "log"))
		if l.workload.SamplingRate > 0 {
			args = append(args, fmt.Sprintf("--sampling-rate=%g", l.workload.SamplingRate))
		}
	}
	return append(args, l.dsn)
}

// slack is how much longer than asked a run may take: a transaction that has begun is ended.
const slack = 60 * time.Second

// run runs pgbench and fails if any transaction did.
func (l *load) run(ctx context.Context) (*measured, error) {
	if err := os.WriteFile(filepath.Join(l.dir, "script.sql"), []byte(l.script), 0o644); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(l.seconds)*time.Second+slack)
	defer cancel()
	cmd := exec.CommandContext(limited, l.pgbench, l.args()...)
	for _, s := range l.workload.Session {
		cmd.Env = append(cmd.Env, "PGOPTIONS=-c "+s.Name+"="+s.Value)
	}
	cmd.Env = append(os.Environ(), cmd.Env...)
	// Ctrl-C in a terminal is for the lab, which then ends pgbench.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if limited.Err() != nil {
		return nil, fmt.Errorf("pgbench did not end within %v", time.Duration(l.seconds)*time.Second+slack)
	}
	if err != nil {
		return nil, fmt.Errorf("pgbench: %w: %s", err, firstLines(errs.String(), 3))
	}
	m, err := parsePgbench(out.String())
	if err != nil {
		return nil, err
	}
	if l.seconds > 0 {
		err = m.readLogs(l)
	}
	return m, err
}

func firstLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[:min(n, len(lines))], "; ")
}

var (
	tpsLine     = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)`)
	countLine   = regexp.MustCompile(`(?m)^number of transactions actually processed: ([0-9]+)`)
	failedLine  = regexp.MustCompile(`(?m)^number of failed transactions: ([0-9]+)`)
	latencyLine = regexp.MustCompile(`(?m)^latency average = ([0-9.]+) ms`)
)

// errNoTransaction is met where connecting took all the time of a run.
var errNoTransaction = errors.New("pgbench ended no transaction in the time")

func parsePgbench(out string) (*measured, error) {
	number := func(re *regexp.Regexp) float64 {
		if m := re.FindStringSubmatch(out); m != nil {
			if v, err := strconv.ParseFloat(m[1], 64); err == nil {
				return v
			}
		}
		return -1
	}
	m := &measured{tps: number(tpsLine), transactions: int64(number(countLine)), latencyMS: number(latencyLine)}
	if m.transactions == 0 {
		return nil, errNoTransaction
	}
	if m.tps < 0 || m.transactions < 0 {
		return nil, fmt.Errorf("pgbench's report was not understood: %s", firstLines(out, 20))
	}
	if failed := number(failedLine); failed > 0 {
		return nil, fmt.Errorf("%.0f transactions failed", failed)
	}
	return m, nil
}

// readLogs reads the latencies pgbench's threads logged, and removes the logs.
func (m *measured) readLogs(l *load) error {
	names, err := filepath.Glob(filepath.Join(l.dir, "log.*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := m.readLog(name, l.workload.CountClients); err != nil {
			return err
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	slices.Sort(m.latencies)
	return nil
}

// readLog reads lines of: client, number, microseconds, script, epoch, microseconds.
func (m *measured) readLog(name string, counts func(int) bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 6 {
			return fmt.Errorf("%s: %q is not a line of pgbench's log", name, lines.Text())
		}
		client, err := strconv.Atoi(words[0])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		micros, err := strconv.ParseFloat(words[2], 64)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if counts != nil && !counts(client) {
			m.others++
			continue
		}
		m.counted++
		m.latencies = append(m.latencies, micros/1000)
	}
	return lines.Err()
}

// quantile of the latencies by nearest rank; 0 if there are none.
func (m *measured) quantile(q float64) float64 {
	if len(m.latencies) == 0 {
		return 0
	}
	rank := int(q*float64(len(m.latencies))+0.999999) - 1
	return m.latencies[max(0, min(rank, len(m.latencies)-1))]
}
