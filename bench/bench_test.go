package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const pgbenchOutput = `pgbench (15.18)
progress: 1.0 s, 900.0 tps, lat 0.541 ms stddev 0.2, 0 failed
progress: 2.0 s, 450.0 tps, lat 0.541 ms stddev 0.2, 0 failed
transaction type: <builtin: TPC-B (sort of)>
number of transactions actually processed: 1350
number of failed transactions: 0 (0.000%)
latency average = 1.041 ms
tps = 675.250000 (without initial connection time)
`

func TestParsePgbench(t *testing.T) {
	r, err := parsePgbench(pgbenchOutput)
	if err != nil {
		t.Fatal(err)
	}
	if r.tps != 675.25 || r.transactions != 1350 || len(r.progress) != 2 {
		t.Errorf("got %+v", r)
	}
	if got := lastToFirst(r.progress); got != 0.5 {
		t.Errorf("last against first is %v", got)
	}
	for name, out := range map[string]string{
		"failed transactions": strings.Replace(pgbenchOutput, "failed transactions: 0", "failed transactions: 3", 1),
		"no tps":              strings.Replace(pgbenchOutput, "tps = ", "TPS ", 1),
	} {
		if _, err := parsePgbench(out); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestPercentile(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "latency")
	for file, text := range map[string]string{
		prefix + ".1":   "0 1 1000 0 1 1\n0 2 3000 0 1 1\n",
		prefix + ".1.1": "1 1 2000 0 1 1\n1 2 90000 0 1 1\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := percentile(prefix, 0.99)
	if err != nil || got != 90 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := percentile(prefix, 0.99); err == nil {
		t.Error("the files are still there")
	}
}

func TestSummarise(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   figure
	}{
		{nil, figure{}},
		{[]float64{7}, figure{7, 0, 1}},
		{[]float64{12, 8, 10}, figure{10, 0.2, 3}},
		{[]float64{4, 2}, figure{3, 1. / 3, 2}},
	} {
		if got := summarise(c.values); got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.values, got, c.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	run := func(server string, values ...float64) sample {
		return sample{Server: server, Values: values, usage: usage{CPU: 2, Peak: 100 << 20}}
	}
	results := []result{
		{
			trial:   trial{title: "reads", outputs: tps(atLeast(2))},
			samples: []sample{run(kindMinipg, 300), run(kindPostgres, 100), run(kindConstant, 900)},
		},
		{
			trial:   trial{title: "load", outputs: seconds(atLeast(2))},
			samples: []sample{run(kindMinipg, 4), run(kindPostgres, 4)},
		},
		{
			trial: trial{title: "grown", outputs: []output{
				{name: "tables", unit: "B", less: true, raw: true, goal: goal{max: 1.1}},
				{name: "end", goal: goal{value: true, min: 0.95}},
			}},
			samples: []sample{run(kindMinipg, 105, 0.9), run(kindPostgres, 100, 0.5)},
		},
		{trial: trial{title: "interrupted", outputs: tps(goal{})}, samples: []sample{run(kindMinipg, 1)}},
	}
	_, got, _ := strings.Cut(markdown(results), "--:|\n")
	want := `| reads | tps | 300 | 100 | 3.00 | ≥ 2.00 | 0 % / 0 % | 2.00 / 2.00 | 100 / 100 | 900 |
| load | s | 4.00 | 4.00 | **1.00** | ≥ 2.00 | 0 % / 0 % | 2.00 / 2.00 | 100 / 100 |  |
| grown tables | B | 105 | 100 | 1.05 | ≤ 1.10 | 0 % / 0 % | 2.00 / 2.00 | 100 / 100 |  |
| grown end |  | 0.90 | 0.50 | **1.80** | minipg ≥ 0.95 | 0 % / 0 % |  |  |  |
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTable checks that the rows can be told apart and that the built-in table is in it.
func TestTable(t *testing.T) {
	o := &options{Scale: 1, Fraction: 1, Builtin: true}
	seen := map[string]bool{}
	for _, g := range table(o) {
		for _, tr := range g.trials {
			if seen[tr.name] {
				t.Errorf("%s is there twice", tr.name)
			}
			seen[tr.name] = true
			if len(tr.outputs) == 0 || tr.run == nil {
				t.Errorf("%s measures nothing", tr.name)
			}
		}
	}
	groups, err := choose(o)
	if err != nil || len(groups) != 1 || len(groups[0].trials) != 9 {
		t.Errorf("the built-in scripts: %d groups, %v", len(groups), err)
	}
	if _, err := choose(&options{Rows: "nothing has this name", Fraction: 1}); err == nil {
		t.Error("a pattern that matches nothing is taken")
	}
}

// TestUsage sees the CPU time and the memory of a process and of its child that ended.
func TestUsage(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo done; read end")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: cmd}
	s.pid.Store(int64(cmd.Process.Pid))
	u, err := s.measured(context.Background(), func(context.Context) error {
		_, err := out.Read(make([]byte, 5))
		return err
	})
	if err != nil || u.CPU <= 0 || u.Peak <= 0 {
		t.Errorf("got %+v, %v", u, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("read ended without an end of file")
	}
	if alive(cmd.Process.Pid) {
		t.Error("a process that has been reaped is alive")
	}
}

func TestInsert(t *testing.T) {
	table := func(text string) string { return tableBegin + text + tableEnd }
	for _, c := range []struct{ old, want string }{
		{"", table("new\n")},
		{"words\n" + table("old\n") + "more\n", "words\n" + table("new\n") + "more\n"},
		{"words\n" + tableBegin, "words\n" + tableBegin + table("new\n")},
	} {
		if got := insert(c.old, "new\n"); got != c.want {
			t.Errorf("%q: got %q, want %q", c.old, got, c.want)
		}
	}
}
