package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// figure is an output over all rounds on one server.
type figure struct {
	median, spread float64 // spread: half the range over the median
	runs           int
}

func summarise(values []float64) figure {
	if len(values) == 0 {
		return figure{}
	}
	v := slices.Sorted(slices.Values(values))
	f := figure{median: v[len(v)/2], runs: len(v)}
	if len(v)%2 == 0 {
		f.median = (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	if f.median != 0 {
		f.spread = (v[len(v)-1] - v[0]) / 2 / f.median
	}
	return f
}

// of summarises what get takes from the samples of a server.
func (r result) of(kind string, get func(sample) float64) figure {
	var values []float64
	for _, s := range r.samples {
		if s.Server == kind {
			values = append(values, get(s))
		}
	}
	return summarise(values)
}

// ratio compares minipg's figure with PostgreSQL's; see output.
func (o output) ratio(minipg, postgres float64) float64 {
	if o.less && !o.raw {
		minipg, postgres = postgres, minipg
	}
	if postgres == 0 {
		return 0
	}
	return minipg / postgres
}

// String is the goal as the table shows it.
func (g goal) String() string {
	what := ""
	if g.value {
		what = "minipg "
	}
	switch {
	case g.min != 0:
		return what + "≥ " + formatNumber(g.min)
	case g.max != 0:
		return what + "≤ " + formatNumber(g.max)
	}
	return ""
}

// met says whether the goal is reached.
func (g goal) met(ratio, minipg float64) bool {
	x := ratio
	if g.value {
		x = minipg
	}
	return (g.min == 0 || x >= g.min) && (g.max == 0 || x <= g.max)
}

// formatNumber writes three digits or more.
func formatNumber(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100 || v <= -100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// report writes the table to w and to the file of --out, and the runs beside it.
func (b *bench) report(w io.Writer) error {
	if len(b.results) == 0 {
		return nil
	}
	text := b.heading() + markdown(b.results)
	_, err := io.WriteString(w, text)
	if b.opts.Out == "" {
		return err
	}
	old, readErr := os.ReadFile(b.opts.Out)
	if errors.Is(readErr, fs.ErrNotExist) {
		readErr = nil
	}
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	runs, jsonErr := b.json()
	return errors.Join(err, jsonErr,
		os.WriteFile(b.opts.Out, []byte(insert(string(old), text)), 0o644),       //nolint:gosec // to be read by others
		os.WriteFile(strings.TrimSuffix(b.opts.Out, ".md")+".json", runs, 0o644)) //nolint:gosec // the same
}

// What stands between these lines is replaced by a new run; what stands around them are people's words on it.
const (
	tableBegin = "<!-- bench: begin -->\n"
	tableEnd   = "<!-- bench: end -->\n"
)

// insert puts the table into a file in place of the old one, or after what is there.
func insert(old, text string) string {
	before, rest, found := strings.Cut(old, tableBegin)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !found || !closed {
		before, after = old, ""
	}
	return before + tableBegin + text + tableEnd + after
}

func markdown(results []result) string {
	var t strings.Builder
	t.WriteString("| workload | unit | minipg | PostgreSQL | ratio | goal | spread | CPU s | memory MB | constant |\n" +
		"|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range results {
		for i, o := range r.trial.outputs {
			value := func(s sample) float64 { return s.Values[i] }
			m, p := r.of(kindMinipg, value), r.of(kindPostgres, value)
			c := r.of(kindConstant, value)
			if m.runs == 0 || p.runs == 0 {
				continue // interrupted before both had run
			}
			t.WriteString(line(r, o, m, p, c, i == 0))
		}
	}
	return t.String()
}

// line is one line of the table; what the servers used is on the first of a trial.
func line(r result, o output, m, p, c figure, first bool) string {
	title := strings.TrimSpace(r.trial.title + " " + o.name)
	ratio := o.ratio(m.median, p.median)
	reached := formatNumber(ratio)
	if goal := o.goal.String(); goal != "" && !o.goal.met(ratio, m.median) {
		reached = "**" + reached + "**"
	}
	cpu, mem, constant := "", "", ""
	if first {
		seconds := func(s sample) float64 { return s.CPU }
		bytes := func(s sample) float64 { return float64(s.Peak) / (1 << 20) }
		cpu = pair(r.of(kindMinipg, seconds), r.of(kindPostgres, seconds))
		mem = pair(r.of(kindMinipg, bytes), r.of(kindPostgres, bytes))
	}
	if c.runs > 0 {
		constant = formatNumber(c.median)
	}
	spread := fmt.Sprintf("%.0f %% / %.0f %%", 100*m.spread, 100*p.spread)
	cells := []string{
		title, o.unit, formatNumber(m.median), formatNumber(p.median), reached, o.goal.String(), spread, cpu, mem,
		constant,
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func pair(m, p figure) string { return formatNumber(m.median) + " / " + formatNumber(p.median) }

// heading names the machine and how it was measured.
func (b *bench) heading() string {
	o := b.opts
	var t strings.Builder
	fmt.Fprintf(&t, "%s: %s. minipg %s, %s.\n", time.Now().UTC().Format("2 January 2006"), machine(b.dir),
		firstLine("git", "describe", "--always", "--dirty"), firstLine(o.PgBin+"/postgres", "--version"))
	fmt.Fprintf(&t, "Medians of %d interleaved runs, pgbench for %d seconds at scale %d, ", o.Rounds, o.Seconds, o.Scale)
	where := "loopback"
	if o.Socket {
		where = "Unix sockets"
	}
	fmt.Fprintf(&t, "over %s, on the cores that the servers have.\n", where)
	t.WriteString("A ratio in bold misses its goal. CPU and memory are minipg's / PostgreSQL's.\n")
	if o.Quick {
		t.WriteString("**A quick run: small data, few transactions. Its figures mean nothing.**\n")
	}
	t.WriteString("\n")
	return t.String()
}

func machine(dir string) string {
	var uts unix.Utsname
	kernel := "?"
	if unix.Uname(&uts) == nil {
		kernel = unix.ByteSliceToString(uts.Release[:])
	}
	model := "?"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for l := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	var total int64
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		total = kilobytes(b, "MemTotal:")
	}
	return fmt.Sprintf("%d cores of %s, %d GB of memory, Linux %s, %s", runtime.NumCPU(), model, (total+1<<29)>>30, kernel,
		firstLine("findmnt", "-n", "-o", "FSTYPE", "--target", dir))
}

// firstLine is what a program prints, or a question mark.
func firstLine(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "?"
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return string(line)
}

// json is every run.
func (b *bench) json() ([]byte, error) {
	type run struct {
		Row     string   `json:"row"`
		Units   []string `json:"units"`
		Samples []sample `json:"samples"`
	}
	var runs []run
	for _, r := range b.results {
		var units []string
		for _, o := range r.trial.outputs {
			units = append(units, strings.TrimSpace(o.name+" "+o.unit))
		}
		runs = append(runs, run{r.trial.name, units, r.samples})
	}
	return json.MarshalIndent(runs, "", "\t")
}
