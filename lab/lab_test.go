package lab

import (
	"bytes"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
)

// TestCatalogue checks what a slip in the experiments' description would break in the middle of a long run.
func TestCatalogue(t *testing.T) {
	ids := map[string]bool{}
	for _, e := range Experiments() {
		if ids[e.ID] {
			t.Errorf("%s is there twice", e.ID)
		}
		ids[e.ID] = true
		tables := map[string]bool{}
		for _, table := range e.Tables {
			if tables[table.Name] {
				t.Errorf("%s has two tables %q", e.ID, table.Name)
			}
			tables[table.Name] = true
			if (table.Workload == nil) == (table.measure == nil) || len(table.Clients) == 0 || len(table.Quick) == 0 || len(table.Few) == 0 {
				t.Errorf("%s %s cannot be run", e.ID, table.Name)
			}
			checkConfigs(t, e, table)
		}
	}
	if len(ids) != 10 {
		t.Errorf("%d experiments", len(ids))
	}
}

func checkConfigs(t *testing.T, e *Experiment, table *Table) {
	names := map[string]bool{}
	for _, c := range table.Configs {
		if names[c.Name] {
			t.Errorf("%s: two configurations are called %q", e.ID, c.Name)
		}
		names[c.Name] = true
		for _, s := range c.Settings {
			p := settings.Lookup(s.Name)
			if p == nil {
				t.Errorf("%s, %s: there is no setting %s", e.ID, c.Name, s.Name)
			}
		}
		for clients := range c.Published {
			if !slices.Contains(table.Clients, clients) {
				t.Errorf("%s, %s: %d clients are published and not run", e.ID, c.Name, clients)
			}
		}
	}
}

func TestFind(t *testing.T) {
	found, err := Find([]string{"e10", "E2", "E2"})
	if err != nil || len(found) != 2 || found[0].ID != "E2" || found[1].ID != "E10" {
		t.Errorf("got %v, %v", found, err)
	}
	if all, err := Find([]string{"all"}); err != nil || len(all) != 10 {
		t.Errorf("all: %d, %v", len(all), err)
	}
	if _, err := Find([]string{"E2", "E0"}); err == nil {
		t.Error("E0 was found")
	}
}

func optionsFor(t *testing.T, ids ...string) *Options {
	t.Helper()
	found, err := Find(ids)
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{Experiments: found}
	if err := o.Complete(0, 0); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestPlanIsABBA(t *testing.T) {
	o := optionsFor(t, "E9")
	o.Rounds, o.Against, o.Clients = 2, "host=somewhere", []int{1, 8}
	var got []string
	for _, c := range Plan(o) {
		got = append(got, c.Config.Name)
		if want := 8; len(got) <= 8 && c.Clients != want {
			t.Errorf("run %d has %d clients: the largest count comes first", len(got), c.Clients)
		}
	}
	once := []string{"upgrade", "exclusive", postgresName, controlName, controlName, postgresName, "exclusive", "upgrade"}
	if want := append(slices.Clone(once), once...); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPlanOnly(t *testing.T) {
	o := optionsFor(t, "E7")
	o.Only, o.Clients = []string{"default"}, []int{8}
	if cells := Plan(o); len(cells) != DefaultRounds || cells[0].Config.Name != "default" {
		t.Errorf("%d runs", len(cells))
	}
}

func TestPlanRunsPublishedCounts(t *testing.T) {
	counts := map[string]map[int]bool{}
	for _, c := range Plan(optionsFor(t, "E1")) {
		if counts[c.Config.Name] == nil {
			counts[c.Config.Name] = map[int]bool{}
		}
		counts[c.Config.Name][c.Clients] = true
	}
	if n := len(counts["heavyweight, one block"]); n != 9 {
		t.Errorf("the published columns are run at %d client counts, want 9", n)
	}
	if d := counts["default"]; !d[64] || d[3] {
		t.Errorf("the default is run at %v", d)
	}
	if !counts[controlName][16] || counts[controlName][64] {
		t.Errorf("the control is run at %v", counts[controlName])
	}
}

func TestQuickIsShort(t *testing.T) {
	o := optionsFor(t, "all")
	o.Quick = true
	o.Seconds, o.Rounds = 0, 0
	if err := o.Complete(0, 0); err != nil {
		t.Fatal(err)
	}
	// A run takes about two seconds.
	if runs := len(Plan(o)); runs > 130 {
		t.Errorf("%d runs", runs)
	}
}

func TestFitKeepsTheBudget(t *testing.T) {
	for _, budget := range []time.Duration{25 * time.Minute, 100 * time.Minute, 10 * time.Hour} {
		o := optionsFor(t, "all")
		o.Budget, o.Against = budget, "host=somewhere"
		_, estimate, _ := Estimate(o)
		if estimate > budget {
			t.Errorf("%v became %v", budget, estimate)
		}
		tables := map[*Table]bool{}
		for _, c := range Fit(o, Plan(o)) {
			tables[c.Table] = tables[c.Table] || c.Config.Name == c.Table.Configs[0].Name
			if c.Seconds < 1 || c.Seconds > o.Seconds {
				t.Fatalf("a run of %d s", c.Seconds)
			}
		}
		for table, compared := range tables {
			if !compared {
				t.Errorf("%v: nothing to compare with in the table of %s", budget, table.Configs[0].Name)
			}
		}
		if len(tables) != 12 {
			t.Errorf("%v: %d tables are left", budget, len(tables))
		}
	}
}

func TestPickSlots(t *testing.T) {
	for _, c := range []struct{ entries, clients int }{{1024, 4}, {1024, 10}, {16, 4}, {16, 10}, {1024, 50}, {1, 10}} {
		table := locks.NewExtensionTable(c.entries, nil)
		slots := make([]int, candidates(c.clients))
		for i := range slots {
			slots[i] = table.Slot(5, uint64(16384+i))
		}
		chosen, err := pickSlots(slots, c.clients, c.entries)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		relations, entries := map[int]bool{}, map[int]int{}
		for client, i := range chosen {
			relations[i] = true
			if i%2 != client%2 {
				t.Errorf("%+v: client %d got a table in the other tablespace", c, client)
			}
			if parity, ok := entries[slots[i]]; ok && c.entries > 1 {
				t.Errorf("%+v: clients %d and one of parity %d share an entry", c, client, parity)
			}
			entries[slots[i]] = client % 2
		}
		if len(relations) != c.clients {
			t.Errorf("%+v: %d tables for %d clients", c, len(relations), c.clients)
		}
	}
}

func TestPgbenchMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := findPgbench(filepath.Join(t.TempDir(), "pgbench")); err == nil || !strings.Contains(err.Error(), "apt-get install postgresql-15") {
		t.Errorf("got %v", err)
	}
}

func TestPgbenchReport(t *testing.T) {
	const report = `pgbench (15.18)
transaction type: f
number of clients: 4
number of transactions actually processed: 1234
number of failed transactions: 0 (0.000%)
latency average = 12.970 ms
initial connection time = 4.043 ms
tps = 308.401000 (without initial connection time)
`
	m, err := parsePgbench(report)
	if err != nil || m.tps != 308.401 || m.transactions != 1234 || m.latencyMS != 12.97 {
		t.Errorf("got %+v, %v", m, err)
	}
	for name, text := range map[string]string{
		"failed transactions": strings.Replace(report, "failed transactions: 0", "failed transactions: 3", 1),
		"none ended":          strings.Replace(report, "1234", "0", 1),
		"not a report":        "hello",
	} {
		if _, err := parsePgbench(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPgbenchLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log.1")
	text := "0 1 1000 0 1700000000 1\n1 1 9000 0 1700000000 2\n0 2 3000 0 1700000000 3\n0 3 2000 0 1700000000 4\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &measured{}
	l := &load{dir: filepath.Dir(name), workload: &Workload{CountClients: func(c int) bool { return c == 0 }}}
	if err := m.readLogs(l); err != nil {
		t.Fatal(err)
	}
	if m.counted != 3 || m.others != 1 || m.quantile(0.5) != 2 || m.quantile(0.99) != 3 || m.quantile(0) != 1 {
		t.Errorf("got %+v, p50 %g, p99 %g", m, m.quantile(0.5), m.quantile(0.99))
	}
	if left, err := os.ReadDir(l.dir); err != nil || len(left) != 0 {
		t.Errorf("logs are left: %v, %v", left, err)
	}
}

func TestScrape(t *testing.T) {
	set := metrics.New()
	srv := httptest.NewServer(promhttp.HandlerFor(set.Registry, promhttp.HandlerOpts{}))
	defer srv.Close()
	before, err := scrape(t.Context(), srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	set.ExtensionLockSleep.Add(3)
	set.ExtensionFSMHits.Add(2)
	set.RelationExtendBlocks.Observe(8)
	set.RelationExtendBlocks.Observe(16)
	set.BTreeSplits.Add(5)
	after, err := scrape(t.Context(), srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	want := Counters{TableSleeps: 3, FSMHits: 2, Extends: 2, Blocks: 24, Splits: 5}
	if got := *after.minus(before); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBinaryCopyFile(t *testing.T) {
	data := binaryCopyFile()
	const header, tuple, trailer = 19, 2 + 4 + 4, 2
	if len(data) != header+10000*tuple+trailer {
		t.Fatalf("%d bytes", len(data))
	}
	first, last := data[header:header+tuple], data[len(data)-trailer-tuple:len(data)-trailer]
	if want := []byte("\x00\x01\x00\x00\x00\x040001"); !bytes.Equal(first, want) {
		t.Errorf("first tuple %q", first)
	}
	if want := []byte("\x00\x01\x00\x00\x00\x041000"); !bytes.Equal(last, want) {
		t.Errorf("last tuple %q", last)
	}
}

// TestStallFS: only growth in the stalled directory takes time.
func TestStallFS(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a", "ab"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		slow := stallFS{dir: filepath.Join(dir, "a") + "/", delay: time.Second}
		took := func(name string, do func(f interface {
			WriteAt([]byte, int64) (int, error)
			Allocate(off, n int64) error
		}) error,
		) time.Duration {
			f, err := slow.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			start := time.Now()
			if err := do(f); err != nil {
				t.Fatal(err)
			}
			return time.Since(start)
		}
		type file = interface {
			WriteAt([]byte, int64) (int, error)
			Allocate(off, n int64) error
		}
		write := func(f file) error { _, err := f.WriteAt(make([]byte, 100), 0); return err }
		allocate := func(f file) error { return f.Allocate(100, 100) }
		for _, c := range []struct {
			what, name string
			do         func(file) error
			want       time.Duration
		}{
			{"first write", "a/1", write, time.Second},
			{"same bytes again", "a/1", write, 0},
			{"allocation", "a/1", allocate, time.Second},
			{"another directory", "ab/1", write, 0},
			{"allocation in another directory", "ab/1", allocate, 0},
		} {
			if got := took(c.name, c.do); got != c.want {
				t.Errorf("%s took %v, want %v", c.what, got, c.want)
			}
		}
	})
}

func TestWithDatabase(t *testing.T) {
	for dsn, want := range map[string]string{
		"host=/tmp port=5499 user=postgres dbname=x": "host=/tmp port=5499 user=postgres dbname=x dbname=minipg_lab",
		"postgres://u@h:5/x?sslmode=disable":         "postgres://u@h:5/minipg_lab?sslmode=disable",
		"postgresql://u@h":                           "postgresql://u@h/minipg_lab",
	} {
		if got := withDatabase(dsn, foreignDatabase); got != want {
			t.Errorf("%s: %s", dsn, got)
		}
	}
}

func TestCommandTextHidesPasswords(t *testing.T) {
	got := commandText([]string{"run", "E2", "--against", "password=x", "--against=password=x", "--only", "table, one block"})
	if want := `minipg-lab run E2 --against DSN --against=DSN --only "table, one block"`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestCommandTextHidesPlaces(t *testing.T) {
	got := commandText([]string{
		"run", "E2", "--out", "/home/somebody/x", "--work=/mnt/y", "--tablespace=A=/mnt/z", "--out", "docs/experiments", "-c", "a=b",
	})
	if want := `minipg-lab run E2 --out PATH --work=PATH --tablespace=A=PATH --out docs/experiments -c a=b`; got != want {
		t.Errorf("got %s", got)
	}
	l := &lab{work: "/tmp/minipg-lab-1", sockets: "/tmp/minilab2"}
	if got := l.withoutPlaces("open /tmp/minipg-lab-1/server-3/log: no"); got != "open .../server-3/log: no" {
		t.Errorf("got %s", got)
	}
}

// TestFitSpendsTheBudget: what whole seconds leave of it makes some tables' runs longer, a table's runs being alike.
func TestFitSpendsTheBudget(t *testing.T) {
	o := optionsFor(t, "E1", "E7")
	o.Budget = 20 * time.Minute
	_, estimate, _ := Estimate(o)
	if estimate > o.Budget || estimate < o.Budget*9/10 {
		t.Errorf("%v became %v", o.Budget, estimate)
	}
	seconds := map[*Table]int{}
	for _, c := range Fit(o, Plan(o)) {
		if s := seconds[c.Table]; s != 0 && s != c.Seconds {
			t.Fatalf("runs of %d and of %d seconds in one table", s, c.Seconds)
		}
		seconds[c.Table] = c.Seconds
	}
}

// TestFitKeepsThreeRounds: with fewer there would be no interval to speak of.
func TestFitKeepsThreeRounds(t *testing.T) {
	o := optionsFor(t, "all")
	o.Budget, o.Against, o.Rounds = 25*time.Minute, "host=somewhere", 4
	rounds := map[*Table]int{}
	for _, c := range Fit(o, Plan(o)) {
		rounds[c.Table] = max(rounds[c.Table], c.Round+1)
	}
	for table, n := range rounds {
		if n < 3 && !table.Minor {
			t.Errorf("%d rounds are left of the table of %s", n, table.Configs[0].Name)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0123: "0.012", 1.234: "1.23", 9.999: "10.0", 12.34: "12.3", 99.96: "100", 1155735: "1,155,735", -1234: "-1,234",
		math.Inf(1): "",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%g) = %q, want %q", v, got, want)
		}
	}
}

func TestFamilyCPU(t *testing.T) {
	for start := selfCPU(); selfCPU()-start < 0.05; {
		_ = binaryCopyFile() // something to do
	}
	if cpu, ok := familyCPU(os.Getpid()); !ok || cpu < 0.04 {
		t.Errorf("%g s, %v", cpu, ok)
	}
	if _, ok := familyCPU(-1); ok {
		t.Error("a process that is not there used CPU time")
	}
}
