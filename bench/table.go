package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// table is every row, in groups. The goals are ratios to PostgreSQL unless they say otherwise.
func table(o *options) []group {
	return []group{
		builtinGroup(o), copyGroup(o), indexGroup(o), insertGroup(o), leafGroup(o), queryGroup(o), vacuumGroup(o),
		bigGroup(o), recoveryGroup(o), longGroup(o), idleGroup(o), startGroup(),
	}
}

// memoryAndLog are the settings of both servers unless a row says otherwise.
func memoryAndLog(*server) []string { return []string{"shared_buffers=1GB", "max_wal_size=8GB"} }

func atLeast(ratio float64) goal { return goal{min: ratio} }

// tps is the one figure of most runs of pgbench.
func tps(g goal) []output { return []output{{unit: "tps", goal: g}} }

// seconds is the one figure of a statement.
func seconds(g goal) []output { return []output{{unit: "s", less: true, goal: g}} }

// pgbenchTrial runs pgbench for the usual time.
func pgbenchTrial(o *options, name, title string, g goal, r benchRun) trial {
	if r.seconds == 0 {
		r.seconds = o.Seconds
	}
	return trial{name: name, title: title, outputs: tps(g), run: func(ctx context.Context, s *server) ([]float64, error) {
		got, err := s.pgbench(ctx, r)
		return []float64{got.tps}, err
	}}
}

// statementTrial times one statement.
func statementTrial(name, title, statement string, g goal) trial {
	return trial{name: name, title: title, outputs: seconds(g), run: func(ctx context.Context, s *server) ([]float64, error) {
		took, err := s.seconds(ctx, statement)
		return []float64{took}, err
	}}
}

// statements are run before a trial.
func statements(list ...string) func(context.Context, *server) error {
	return func(ctx context.Context, s *server) error { return s.exec(ctx, list...) }
}

// initialised makes pgbench's tables.
func initialised(scale int) func(context.Context, *server) error {
	return func(ctx context.Context, s *server) error {
		_, err := s.b.client(ctx, "pgbench", "-h", s.host(), "-p", strconv.Itoa(s.port), "-U", "postgres", "-i", "-q",
			"-s", strconv.Itoa(scale), "postgres")
		return err
	}
}

// builtinGroup is the built-in scripts of pgbench.
func builtinGroup(o *options) group {
	g := group{name: "built-in scripts", settings: memoryAndLog, setup: initialised(o.Scale)}
	scripts := []struct {
		name, title, script string
		clients             []int
		goals               map[string][]float64 // by protocol, for each number of clients
	}{
		{
			"select", "-S", "-b select-only",
			[]int{1, 8, 32},
			map[string][]float64{"simple": {2, 3, 4.5}, "extended": {0, 1, 0}, "prepared": {1.2, 1.6, 2.3}},
		},
		{
			"update", "-N", "-b simple-update",
			[]int{8, 32},
			map[string][]float64{"simple": {2.5, 2.5}, "extended": {1, 0}, "prepared": {2.5, 2.5}},
		},
		{
			"tpcb", "TPC-B", "-b tpcb-like",
			[]int{8, 32},
			map[string][]float64{"simple": {2.5, 2.5}, "extended": {1, 0}, "prepared": {2.5, 2.5}},
		},
	}
	for _, s := range scripts {
		for _, protocol := range []string{"simple", "extended", "prepared"} {
			for i, clients := range s.clients {
				want := s.goals[protocol][i]
				if want == 0 {
					continue
				}
				t := pgbenchTrial(o, fmt.Sprintf("%s/%s/%d", s.name, protocol, clients),
					fmt.Sprintf("%s %s, %s", s.title, protocol, counted(clients, "client")), atLeast(want),
					benchRun{script: s.script, protocol: protocol, clients: clients})
				t.constant = true
				t.before = statements("CHECKPOINT") // or one comes when it likes
				g.trials = append(g.trials, t)
			}
		}
	}
	for _, protocol := range []string{"simple", "prepared"} {
		g.trials = append(g.trials, latencyTrial(o, protocol))
	}
	return g
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// latencyTrial is the p99 of TPC-B.
func latencyTrial(o *options, protocol string) trial {
	return trial{
		name: "p99/" + protocol, title: "p99 of TPC-B " + protocol + ", 8 clients",
		outputs: []output{{unit: "ms", less: true, goal: atLeast(1)}}, before: statements("CHECKPOINT"),
		run: func(ctx context.Context, s *server) ([]float64, error) {
			prefix := s.b.file("latency")
			_, err := s.pgbench(ctx, benchRun{
				script: "-b tpcb-like", protocol: protocol, clients: 8, seconds: o.Seconds,
				extra: []string{"-l", "--log-prefix=" + prefix},
			})
			if err != nil {
				return nil, err
			}
			p99, err := percentile(prefix, 0.99)
			return []float64{p99}, err
		},
	}
}

// copied are the tables that COPY fills.
var copied = []struct {
	name, title, columns, query string
	rows                        int
}{
	{
		"accounts", "accounts rows", "aid int NOT NULL, bid int, abalance int, filler char(84)",
		"SELECT g, (g - 1) / 100000 + 1, 0, ''::char(84) FROM generate_series(1, %d) g", 2000000,
	},
	{"small", "4-byte rows", "data text", "SELECT lpad((g %% 10000)::text, 4, '0') FROM generate_series(1, %d) g", 5000000},
	{"wide", "1-kB rows", "b text", "SELECT repeat('a', 1000) FROM generate_series(1, %d) g", 300000},
}

// copyGroup is COPY FROM, of large files and of many small ones.
func copyGroup(o *options) group {
	g := group{name: "COPY", settings: memoryAndLog}
	var create []string
	for _, c := range copied {
		create = append(create, fmt.Sprintf("CREATE TABLE %s (%s)", c.name, c.columns))
		for _, format := range []string{"text", "binary"} {
			file := c.name + "." + format
			g.files = append(g.files, dataFile{file, fmt.Sprintf(c.query, o.rows(c.rows)), format})
			for _, from := range []string{"file", "stdin"} {
				t := trial{
					name:    strings.Join([]string{"copy", c.name, from, format}, "/"),
					title:   fmt.Sprintf("COPY %d %s, %s, from %s", o.rows(c.rows), c.title, format, from),
					outputs: seconds(atLeast(2)), before: statements("TRUNCATE "+c.name, "CHECKPOINT"),
				}
				t.run = copyRun(c.name, file, format, from == "stdin")
				g.trials = append(g.trials, t)
			}
		}
	}
	create = append(create, "CREATE UNLOGGED TABLE data (data text)")
	g.files = append(g.files, dataFile{"data.bin", fmt.Sprintf(copied[1].query, 10000), "binary"})
	for _, clients := range []int{1, 8} {
		t := pgbenchTrial(o, fmt.Sprintf("copy10k/%d", clients),
			"COPY of 10,000 4-byte rows a transaction, unlogged, "+counted(clients, "client"), atLeast(2),
			benchRun{protocol: "simple", clients: clients})
		t.run = scriptRun(o, "COPY data FROM '%s/data.bin' WITH (FORMAT binary);\n", "simple", clients, 0)
		t.before = statements("TRUNCATE data", "CHECKPOINT")
		g.trials = append(g.trials, t)
	}
	g.setup = statements(create...)
	return g
}

func copyRun(table, file, format string, stdin bool) func(context.Context, *server) ([]float64, error) {
	return func(ctx context.Context, s *server) ([]float64, error) {
		if stdin {
			took, err := s.copyIn(ctx, fmt.Sprintf("COPY %s FROM STDIN (FORMAT %s)", table, format), s.b.file(file))
			return []float64{took}, err
		}
		took, err := s.seconds(ctx, fmt.Sprintf("COPY %s FROM '%s' (FORMAT %s)", table, s.b.file(file), format))
		return []float64{took}, err
	}
}

// scriptRun runs a script of pgbench; %s in it is the directory of the group's files.
func scriptRun(o *options, script, protocol string, clients, threads int) func(context.Context, *server) ([]float64, error) {
	return func(ctx context.Context, s *server) ([]float64, error) {
		name := s.b.file("script.sql")
		text := script
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, s.b.dir)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil { //nolint:gosec // nothing secret
			return nil, err
		}
		got, err := s.pgbench(ctx, benchRun{
			script: "-f " + name, protocol: protocol, clients: clients, threads: threads, seconds: o.Seconds,
		})
		return []float64{got.tps}, err
	}
}

// indexGroup is what builds indexes.
func indexGroup(o *options) group {
	n := o.rows(2000000)
	key := statementTrial("index/primary", fmt.Sprintf("ADD PRIMARY KEY, %d rows", n),
		"ALTER TABLE accounts ADD PRIMARY KEY (aid)", atLeast(2))
	key.before = statements("ALTER TABLE accounts DROP CONSTRAINT IF EXISTS accounts_pkey", "CHECKPOINT")
	text := statementTrial("index/text", fmt.Sprintf("CREATE INDEX on text, %d rows", n),
		"CREATE INDEX texts_t ON texts (t)", atLeast(2))
	text.before = statements("DROP INDEX IF EXISTS texts_t", "CHECKPOINT")
	return group{
		name: "indexes", settings: memoryAndLog, trials: []trial{key, text},
		setup: statements(
			"CREATE TABLE accounts ("+copied[0].columns+")",
			"INSERT INTO accounts "+fmt.Sprintf(copied[0].query, n),
			"CREATE TABLE texts (t text)",
			fmt.Sprintf("INSERT INTO texts SELECT md5(g::text) FROM generate_series(1, %d) g", n),
			"VACUUM ANALYZE accounts", "VACUUM ANALYZE texts",
		),
	}
}

// insertGroup is large transactions of wide rows: the table grows as fast as sessions can make it.
func insertGroup(o *options) group {
	g := group{
		name: "wide inserts", settings: memoryAndLog,
		setup: statements("CREATE TABLE t1k (a int, b text)"),
	}
	for _, clients := range []int{1, 4, 8, 16} {
		want := atLeast(2)
		if clients == 1 {
			want = atLeast(1.4)
		}
		g.trials = append(g.trials, trial{
			name:    fmt.Sprintf("insert1k/%d", clients),
			title:   "1,000 1-kB rows a transaction, " + counted(clients, "client"),
			outputs: tps(want), before: statements("TRUNCATE t1k", "CHECKPOINT"),
			run: scriptRun(o, "INSERT INTO t1k SELECT g, repeat('a', 1000) FROM generate_series(1, 1000) g;\n",
				"simple", clients, 0),
		})
	}
	return g
}

// leafGroup is insertions that meet on B-tree leaves, with a pgbench thread for each client as published.
func leafGroup(o *options) group {
	g := group{name: "index insertions", settings: memoryAndLog, setup: statements(
		"CREATE UNLOGGED TABLE ordered (id serial PRIMARY KEY, value text NOT NULL)",
		"CREATE UNLOGGED TABLE unordered (i integer NOT NULL, value text NOT NULL)",
		"CREATE INDEX ON unordered (i)")}
	scripts := []struct{ name, title, table, script string }{
		{
			"ordered", "E7 ordered, prepared", "ordered",
			"INSERT INTO ordered (value) VALUES ('abcdefghijklmnoprsqtuvwxyz');\n",
		},
		{
			"unordered", "E8 unordered with index, prepared", "unordered",
			"\\set i random(1, 1000000)\nINSERT INTO unordered VALUES (:i, 'abcdefghijklmnoprsqtuvwxyz');\n",
		},
	}
	for _, s := range scripts {
		for _, clients := range []int{8, 64} {
			want := atLeast(2)
			if clients == 64 {
				want = atLeast(3)
			}
			g.trials = append(g.trials, trial{
				name:    fmt.Sprintf("%s/%d", s.name, clients),
				title:   fmt.Sprintf("%s, %s", s.title, counted(clients, "client")),
				outputs: tps(want), before: statements("TRUNCATE "+s.table, "CHECKPOINT"),
				run: scriptRun(o, s.script, "prepared", clients, clients),
			})
		}
	}
	return g
}

// queryGroup is queries over whole tables, PostgreSQL with its default parallel workers.
func queryGroup(o *options) group {
	n := o.rows(2000000)
	over := fmt.Sprintf(" over %d rows", n)
	return group{
		name: "queries", settings: memoryAndLog,
		setup: statements(
			"CREATE TABLE accounts ("+copied[0].columns+")",
			"INSERT INTO accounts "+fmt.Sprintf(copied[0].query, n),
			"CREATE TABLE pairs (aid int NOT NULL, v int NOT NULL)",
			// 7,919 is a prime, and so each v is there once, in no order.
			fmt.Sprintf("INSERT INTO pairs SELECT g, g * 7919::bigint %% %d FROM generate_series(1, %d) g", n, n),
			"VACUUM ANALYZE accounts", "VACUUM ANALYZE pairs",
		),
		trials: []trial{
			statementTrial("query/count", "count"+over, "SELECT count(*) FROM accounts", atLeast(1.5)),
			statementTrial("query/sum", "sum"+over, "SELECT sum(abalance) FROM accounts", atLeast(1.5)),
			statementTrial("query/group", "GROUP BY"+over, "SELECT bid, count(*), sum(aid) FROM accounts GROUP BY bid",
				atLeast(1.5)),
			statementTrial("query/join", "hash join of 2 tables"+over,
				"SELECT count(*), sum(v) FROM accounts JOIN pairs USING (aid)", atLeast(1)),
			statementTrial("query/sort", "sort"+over, fmt.Sprintf("SELECT aid, v FROM pairs ORDER BY v OFFSET %d", n-1),
				atLeast(1)),
		},
	}
}

// vacuumGroup is maintenance, with autovacuum off so that it does not come first.
func vacuumGroup(o *options) group {
	n := o.rows(1000000)
	vacuum := statementTrial("vacuum", fmt.Sprintf("VACUUM after %d updates", n), "VACUUM v", atLeast(1))
	vacuum.before = statements("TRUNCATE v",
		fmt.Sprintf("INSERT INTO v SELECT g, 0, repeat('x', 80) FROM generate_series(1, %d) g", n),
		"UPDATE v SET a = a + 1", "CHECKPOINT")
	analyze := statementTrial("analyze", fmt.Sprintf("ANALYZE of %d rows", n), "ANALYZE v", atLeast(1))
	analyze.before = statements("TRUNCATE v",
		fmt.Sprintf("INSERT INTO v SELECT g, g %% 1000, repeat('x', 80) FROM generate_series(1, %d) g", n), "CHECKPOINT")
	return group{
		name: "maintenance",
		settings: func(s *server) []string {
			return append(memoryAndLog(s), "autovacuum=off")
		},
		setup:  statements("CREATE TABLE v (id int PRIMARY KEY, a int, filler text)"),
		trials: []trial{vacuum, analyze},
	}
}

// bigGroup is reads of more data than the buffers hold.
func bigGroup(o *options) group {
	buffers := "shared_buffers=256MB"
	if o.Quick {
		buffers = "shared_buffers=16MB"
	}
	g := group{
		name:     "larger than memory",
		settings: func(*server) []string { return []string{buffers, "max_wal_size=8GB"} },
		setup:    initialised(o.Big),
	}
	for _, protocol := range []string{"simple", "prepared"} {
		g.trials = append(g.trials, pgbenchTrial(o, "big/"+protocol,
			fmt.Sprintf("-S %s, 8 clients, scale %d, %s", protocol, o.Big, buffers), atLeast(1.5),
			benchRun{script: "-b select-only", protocol: protocol, clients: 8}))
	}
	return g
}

// recoveryGroup is a start after a kill.
func recoveryGroup(o *options) group {
	const clients = 8
	each := o.rows(200000) / clients
	return group{
		name: "recovery",
		settings: func(s *server) []string {
			return append(memoryAndLog(s), "checkpoint_timeout=1h") // one that comes would leave less to replay
		},
		setup: initialised(o.Scale),
		trials: []trial{{
			name:    "recovery",
			title:   fmt.Sprintf("ready after kill -9 and %d TPC-B transactions", each*clients),
			outputs: seconds(atLeast(1.5)),
			before: func(ctx context.Context, s *server) error {
				if err := s.exec(ctx, "CHECKPOINT"); err != nil {
					return err
				}
				_, err := s.pgbench(ctx, benchRun{script: "-b tpcb-like", protocol: "prepared", clients: clients, each: each})
				if err != nil {
					return err
				}
				return s.kill()
			},
			run: func(ctx context.Context, s *server) ([]float64, error) {
				took, err := s.timedStart(ctx)
				return []float64{took}, err
			},
		}},
	}
}

// longGroup is TPC-B for long enough that checkpoints and autovacuum are part of it.
func longGroup(o *options) group {
	return group{
		name: "long run", settings: memoryAndLog, setup: initialised(o.Scale),
		trials: []trial{{
			name: "long", title: fmt.Sprintf("TPC-B simple, 8 clients, %d s:", o.Long), once: true,
			outputs: []output{
				{name: "throughput", unit: "tps", goal: atLeast(2.5)},
				{name: "last tenth against the first", goal: goal{value: true, min: 0.95}},
				{name: "growth of tables", unit: "B/transaction", less: true, raw: true, goal: goal{max: 1.1}},
				{name: "log", unit: "B/transaction", less: true, raw: true, goal: goal{max: 1.1}},
			},
			run: func(ctx context.Context, s *server) ([]float64, error) { return longRun(ctx, s, o.Long) },
		}},
	}
}

const (
	tableBytes = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname LIKE 'pgbench_%' AND relkind = 'r'"
	logBytes   = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
)

func longRun(ctx context.Context, s *server, seconds int) ([]float64, error) {
	tables, err := s.number(ctx, tableBytes)
	if err != nil {
		return nil, err
	}
	log, err := s.number(ctx, logBytes)
	if err != nil {
		return nil, err
	}
	// Twenty intervals, so that a tenth is two of them.
	interval := max(1, seconds/20)
	r, err := s.pgbench(ctx, benchRun{
		script: "-b tpcb-like", protocol: "simple", clients: 8, seconds: seconds, timed: true,
		extra: []string{"-P", strconv.Itoa(interval)},
	})
	if err != nil {
		return nil, err
	}
	grown, err := s.number(ctx, tableBytes)
	if err != nil {
		return nil, err
	}
	logged, err := s.number(ctx, logBytes)
	if err != nil {
		return nil, err
	}
	return []float64{
		r.tps, lastToFirst(r.progress), (grown - tables) / r.transactions, (logged - log) / r.transactions,
	}, nil
}

// lastToFirst compares the last tenth of the intervals with the first.
func lastToFirst(tps []float64) float64 {
	n := max(1, len(tps)/10)
	if len(tps) < 2*n {
		return 0
	}
	var first, last float64
	for i := range n {
		first += tps[i]
		last += tps[len(tps)-1-i]
	}
	if first == 0 {
		return 0
	}
	return last / first
}
