package lab

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minipg/minipg/lab/stats"
)

// madeUp are results of E9 in which the second configuration is as fast as the first times factor, on a
// machine with a noise of 1 %.
func madeUp(seed uint64, factor float64) *Results {
	rng := rand.New(rand.NewPCG(seed, 2))
	res := &Results{Version: resultsVersion, Machine: Machine{Cores: 2}}
	for round := range 4 {
		for _, c := range []struct {
			name string
			tps  float64
		}{{"upgrade", 10000}, {"exclusive", 10000 * factor}, {postgresName, 5000}, {controlName, 10000}} {
			for _, clients := range []int{8, 72} {
				r := &Run{
					Experiment: "E9", Config: c.name, Clients: clients, Round: round, Seconds: 10,
					TPS: c.tps * math.Exp(0.01*rng.NormFloat64()), Transactions: 100000, P50MS: 1, P99MS: 2, CPUSeconds: 3,
				}
				if c.name != postgresName {
					r.Counters = &Counters{LeafWaits: 500}
				}
				res.Runs = append(res.Runs, r)
			}
		}
	}
	return res
}

func e9Of(res *Results) *aggregated {
	e := e9()
	return aggregate(res, e, e.Tables[0])
}

func TestReportFindsASlowdown(t *testing.T) {
	a := e9Of(madeUp(1, 0.95))
	for _, clients := range []int{8, 72} {
		if got := judge(a, a.columns[1], clients); got != stats.Slower {
			t.Errorf("5 %% slower at %d clients: %s (%+v)", clients, got, a.difference(a.columns[1], clients))
		}
	}
	a = e9Of(madeUp(2, 1))
	for _, clients := range []int{8, 72} {
		if got := judge(a, a.columns[1], clients); got != stats.Noise {
			t.Errorf("equal at %d clients: %s (%+v)", clients, got, a.difference(a.columns[1], clients))
		}
	}
}

func TestReport(t *testing.T) {
	res := madeUp(1, 0.95)
	res.Runs[0].Shortened = "3 s instead of 10 <&>"
	res.Runs = append(res.Runs, &Run{Experiment: "E9", Config: "upgrade", Clients: 8, Round: 9, Error: "pgbench: no"})
	d, plots, err := makeReport(res, false)
	if err != nil {
		t.Fatal(err)
	}
	md, page := string(d.toMarkdown()), string(d.toHTML())
	for _, want := range []string{
		"has 2 cores", "## E9: One key again and again", "| 72 | exclusive |", "slower", "1 runs failed; 1 ended early",
		"published 4.50", "leaf waits / 1,000 tx", "plots/e9-waits.svg", "5.00", "pgbench: no", "3 s instead of 10 <&>",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("report.md has no %q", want)
		}
	}
	if strings.Contains(md, "## E1:") || strings.Contains(md, "NaN") || strings.Contains(md, "Inf") {
		t.Error("report.md has an experiment that was not run, or a number that is none")
	}
	if strings.Contains(page, "<&>") || !strings.Contains(page, "instead of 10 &lt;&amp;&gt;") {
		t.Error("report.html does not escape text")
	}
	if strings.Count(page, "</i>upgrade</span>") != 2 || strings.Count(page, "</i>"+postgresName+"</span>") != 1 {
		t.Error("report.html does not name the lines of its plots to those who see only a part of them")
	}
	if len(plots) != 2 || strings.Count(page, "<svg") != 2 || strings.Contains(page, "#000000") {
		t.Errorf("%d plots, %d of them in the page", len(plots), strings.Count(page, "<svg"))
	}
}

// TestReportStatesEverything looks for what a reader of E1 needs to judge it.
func TestReportStatesEverything(t *testing.T) {
	res := &Results{
		Version:  resultsVersion,
		Machine:  Machine{CPU: "a processor", Cores: 2, MemoryMB: 2048, Kernel: "Linux 6", FileSystems: []FileSystem{{"data", "ext4", "d", "rw"}}},
		Settings: []Setting{{"shared_buffers", "512MB"}},
	}
	for round := range 3 {
		for name, tps := range map[string]float64{"heavyweight, one block": 40, "heavyweight, 800 self": 200, controlName: 41} {
			res.Runs = append(res.Runs, &Run{
				Experiment: "E1", Config: name, Clients: 8, Round: round, Seconds: 10, TPS: tps + float64(round), Transactions: 100,
				P50MS: 3, P99MS: 7, CPUSeconds: 2, Counters: &Counters{ProcSleeps: 50, Extends: 100, Blocks: 14300}, Blocks: 14300,
			})
		}
	}
	d, plots, err := makeReport(res, false)
	if err != nil {
		t.Fatal(err)
	}
	md := string(d.toMarkdown())
	for _, want := range []string{
		"| processor | a processor, 2 cores |", "| memory | 2,048 MB |", "| data | ext4 on d (rw) |", "shared_buffers = 512MB",
		"| TPS | sd | 95 % interval | ratio | 95 % interval | difference | published | published ratio |",
		"| ProcSleep / 1,000 tx | table sleeps / 1,000 tx | sleeps / 1,000 blocks | blocks / extension |",
		"| p50 ms | p99 ms | CPU ms / tx |", "| 500 | 0 | 3.50 | 143 |", "| 240 | 5.58 |", "All 9 runs",
		"\"heavyweight, 800 self\" 4.9", "plots/e1-tps.svg", "plots/e1-sleeps.svg",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("report.md has no %q", want)
		}
	}
	if len(plots) != 2 {
		t.Errorf("%d plots", len(plots))
	}
}

// TestReadingIsKept: reports are written again without touching what somebody wrote about them.
func TestReadingIsKept(t *testing.T) {
	dir := t.TempDir()
	if _, err := openResults(&Options{Out: dir}); err != nil {
		t.Fatal(err)
	}
	report := func() string {
		if err := WriteReports(dir, madeUp(1, 1)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, markdownFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if strings.Contains(report(), readingFile) {
		t.Error("the report points to a reading that is not there")
	}
	const reading = "E9 shows nothing on two cores."
	if err := os.WriteFile(filepath.Join(dir, readingFile), []byte(reading), 0o644); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report(), "[README.md](README.md)") {
		t.Error("the report does not point to the reading")
	}
	if data, err := os.ReadFile(filepath.Join(dir, readingFile)); err != nil || string(data) != reading {
		t.Errorf("the reading became %q, %v", data, err)
	}
}

func TestRetention(t *testing.T) {
	res := &Results{Version: resultsVersion}
	for round := range 4 {
		wobble := 1 + 0.01*float64(round%2)
		for clients, tps := range map[int]float64{1: 80, 8: 100, 64: 60} {
			res.Runs = append(res.Runs, &Run{
				Experiment: "E1", Config: "default", Clients: clients, Round: round, TPS: tps * wobble,
				Transactions: 1, Counters: &Counters{},
			})
		}
	}
	e := e1()
	a := aggregate(res, e, e.Tables[0])
	text := strings.Join(defaultText(a.columns[0]), "\n")
	if !strings.Contains(text, "1 clients 0.80") || !strings.Contains(text, "64 clients 0.60") || strings.Contains(text, "8 clients 1") {
		t.Errorf("got %q", text)
	}
}

func TestSleepsLine(t *testing.T) {
	res := &Results{Version: resultsVersion}
	for name, c := range map[string]Counters{
		"heavyweight, one block": {ProcSleeps: 2000, Blocks: 1000}, "heavyweight, 10 blocks": {ProcSleeps: 250, Blocks: 1000},
		"table, one block": {TableSleeps: 100, Blocks: 1000}, "table, 10 blocks": {Blocks: 1000}, "default": {TableSleeps: 1, Blocks: 1000},
	} {
		res.Runs = append(res.Runs, &Run{Experiment: "E2", Config: name, Clients: 4, TPS: 1, Transactions: 1, Blocks: c.Blocks, Counters: &c})
	}
	got := Conclusions(res, []*Experiment{e2()})
	want := "E2, 4 clients, sleeps per 1,000 blocks: heavyweight, one block 2,000, heavyweight, 10 blocks 250 (ratio 8.00), " +
		"table, one block 100, table, 10 blocks 0 (none), default 1.00"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCompare(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	for dir, res := range map[string]*Results{before: madeUp(1, 1), after: madeUp(2, 0.8)} {
		if err := res.save(dir); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := Compare(&b, before, after); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		switch {
		case strings.HasPrefix(line, "| 72 | exclusive |") && !strings.Contains(line, "| slower |"):
			t.Errorf("20 %% slower: %s", line)
		case strings.HasPrefix(line, "| 72 | upgrade |") && !strings.Contains(line, "| noise |"):
			t.Errorf("equal: %s", line)
		}
	}
	if strings.Count(b.String(), "\n| 72 |") != 4 {
		t.Errorf("got %s", b.String())
	}
	if err := Compare(&b, before, t.TempDir()); err == nil {
		t.Error("a directory without results was compared")
	}
}

func TestResultsAreKept(t *testing.T) {
	dir := t.TempDir()
	o := &Options{Out: dir}
	res, err := openResults(o)
	if err != nil {
		t.Fatal(err)
	}
	res.put(&Run{Experiment: "E9", Config: "upgrade", Clients: 8, Error: "no"})
	key := res.Runs[0].key()
	if res.find(key) != nil {
		t.Error("a failed run counts as made")
	}
	res.put(&Run{Experiment: "E9", Config: "upgrade", Clients: 8, TPS: 5})
	if r := res.find(key); r == nil || r.TPS != 5 || len(res.Runs) != 1 {
		t.Errorf("got %+v of %d", r, len(res.Runs))
	}
	if err := res.save(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := openResults(o); err == nil {
		t.Error("results would be overwritten")
	}
	o.Resume = true
	if again, err := openResults(o); err != nil || again.find(key) == nil {
		t.Errorf("resume: %v", err)
	}
}
