package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

var (
	processed = regexp.MustCompile(`number of transactions actually processed: (\d+)`)
	failed    = regexp.MustCompile(`number of failed transactions: (\d+)`)
	trouble   = regexp.MustCompile(`(?m)^.*(ERROR|FATAL|PANIC|aborted|fatal:|error:).*$`)
)

// pgbench runs pgbench and fails on any error or failed transaction. It returns how many
// transactions it reports.
func pgbench(t *testing.T, dsn string, args ...string) int {
	t.Helper()
	out, err := command(t, "", dsn, "pgbench", args...)
	if err != nil {
		t.Fatalf("pgbench %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if line := trouble.FindString(out); line != "" {
		t.Fatalf("pgbench %s: %s", strings.Join(args, " "), line)
	}
	if m := failed.FindStringSubmatch(out); m != nil && m[1] != "0" {
		t.Fatalf("pgbench %s: %s", strings.Join(args, " "), m[0])
	}
	m := processed.FindStringSubmatch(out)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkSums compares what TPC-B keeps equal, and the rows of history with the transactions
// that were reported.
func checkSums(t *testing.T, dsn string, transactions int) {
	t.Helper()
	got := query(t, dsn, `SELECT (SELECT sum(abalance) FROM pgbench_accounts) || ' ' ||
		(SELECT sum(tbalance) FROM pgbench_tellers) || ' ' || (SELECT sum(bbalance) FROM pgbench_branches) || ' ' ||
		coalesce((SELECT sum(delta) FROM pgbench_history), 0) || ' ' || (SELECT count(*) FROM pgbench_history)`)
	f := strings.Fields(got)
	if len(f) != 5 || f[0] != f[1] || f[1] != f[2] || f[2] != f[3] {
		t.Errorf("sums of accounts, tellers, branches, history and its rows: %s", got)
	}
	if rows := f[len(f)-1]; transactions >= 0 && rows != strconv.Itoa(transactions) {
		t.Errorf("history has %s rows, pgbench reported %d transactions", rows, transactions)
	}
}

func TestPgbenchInit(t *testing.T) {
	p := start(t, t.TempDir())
	dsn := p.dsn("postgres")
	for _, args := range [][]string{
		{"-i"},
		{"-i", "-q"},
		{"-i", "-s", "2", "-F", "90"},
		{"-i", "--unlogged-tables"},
		{"-i", "-n"},
		{"-i", "-I", "dtgvp"},
		{"-i", "-I", "dtGvp"},
		{"-i", "-I", "dtpg"},
		{"-i", "-I", "d"},
		{"-i", "-I", "dtg"},
		{"-i", "-I", "dtvp"},
	} {
		t.Run(strings.Join(args, ""), func(t *testing.T) {
			pgbench(t, dsn, args...)
			steps := args[len(args)-1]
			if steps == "d" {
				if got := query(t, dsn, "SELECT to_regclass('pgbench_accounts') IS NULL"); got != "t" {
					t.Error("tables are left")
				}
				return
			}
			scale := 1
			if len(args) > 2 && args[1] == "-s" {
				scale = 2
			}
			want := fmt.Sprintf("%d %d %d", scale*100000, scale*10, scale)
			if steps == "dtvp" {
				want = "0 0 0"
			}
			got := query(t, dsn, "SELECT (SELECT count(*) FROM pgbench_accounts) || ' ' || "+
				"(SELECT count(*) FROM pgbench_tellers) || ' ' || (SELECT count(*) FROM pgbench_branches)")
			if got != want {
				t.Errorf("rows %s, want %s", got, want)
			}
		})
	}
	t.Run("fillfactor", func(t *testing.T) {
		pgbench(t, dsn, "-i", "-F", "50")
		if got := query(t, dsn, "SELECT reloptions FROM pg_class WHERE relname = 'pgbench_accounts'"); got != "{fillfactor=50}" {
			t.Errorf("reloptions %s", got)
		}
	})
	t.Run("unlogged", func(t *testing.T) {
		pgbench(t, dsn, "-i", "--unlogged-tables")
		got := query(t, dsn, "SELECT count(*) FROM pg_class WHERE relname LIKE 'pgbench%' AND relpersistence = 'u'")
		if got != "7" {
			t.Errorf("%s unlogged tables and indexes, want 7", got)
		}
	})
	t.Run("tablespaces", func(t *testing.T) {
		query(t, dsn, "CREATE TABLESPACE elsewhere LOCATION '"+t.TempDir()+"'")
		pgbench(t, dsn, "-i", "--tablespace", "elsewhere", "--index-tablespace", "elsewhere")
		got := query(t, dsn, "SELECT count(*) FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace "+
			"WHERE relname LIKE 'pgbench%' AND spcname = 'elsewhere'")
		if got != "7" {
			t.Errorf("%s tables and indexes there, want 7", got)
		}
		n := pgbench(t, dsn, "-n", "-c", "4", "-t", "25")
		checkSums(t, dsn, n)
		pgbench(t, dsn, "-i")
		query(t, dsn, "DROP TABLESPACE elsewhere")
	})
	t.Run("partition query", func(t *testing.T) {
		got := query(t, dsn, partitionQuery)
		if got == "" {
			t.Error("pgbench's partition query returns no row")
		}
	})
	p.stop(t, syscall.SIGINT)
	check(t, p.dir)
}

// partitionQuery is what pgbench 15 asks before a run.
const partitionQuery = `select o.n, p.partstrat, pg_catalog.count(i.inhparent) from pg_catalog.pg_class as c ` +
	`join pg_catalog.pg_namespace as n on (n.oid = c.relnamespace) cross join lateral (select ` +
	`pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname)) as o(n) left join ` +
	`pg_catalog.pg_partitioned_table as p on (p.partrelid = c.oid) left join pg_catalog.pg_inherits as i ` +
	`on (c.oid = i.inhparent) where c.relname = 'pgbench_accounts' and o.n is not null group by 1, 2 order by 1 asc limit 1`

func TestPgbenchBuiltins(t *testing.T) {
	p := start(t, t.TempDir())
	dsn := p.dsn("postgres")
	pgbench(t, dsn, "-i", "-q", "-s", "2")
	transactions := 0
	for _, protocol := range []string{"simple", "extended", "prepared"} {
		for _, script := range []string{"tpcb-like", "simple-update", "select-only"} {
			t.Run(script+"/"+protocol, func(t *testing.T) {
				args := []string{"-n", "-b", script, "-M", protocol, "-c", "8", "-j", "2", "-t", "100"}
				n := pgbench(t, dsn, args...)
				if n != 800 {
					t.Errorf("%d transactions, want 800", n)
				}
				switch script {
				case "tpcb-like":
					transactions += n
					checkSums(t, dsn, transactions)
				case "simple-update": // leaves tellers and branches alone: start over
					query(t, dsn, "UPDATE pgbench_accounts SET abalance = 0; UPDATE pgbench_tellers SET tbalance = 0;"+
						"UPDATE pgbench_branches SET bbalance = 0; TRUNCATE pgbench_history")
					transactions = 0
				}
			})
		}
	}
	t.Run("vacuum before", func(t *testing.T) {
		for _, args := range [][]string{{"-b", "tpcb-like"}, {"-v"}, {"-S"}, {"-N"}} {
			if n := pgbench(t, dsn, append(args, "-c", "2", "-t", "20")...); n != 40 {
				t.Errorf("%d transactions, want 40", n)
			}
		}
	})
	t.Run("connect each time", func(t *testing.T) {
		for _, protocol := range []string{"simple", "prepared"} {
			if n := pgbench(t, dsn, "-n", "-C", "-S", "-M", protocol, "-c", "4", "-t", "50"); n != 200 {
				t.Errorf("%d transactions, want 200", n)
			}
		}
	})
	t.Run("several scripts", func(t *testing.T) {
		pgbench(t, dsn, "-n", "-b", "tpcb@2", "-b", "se@5", "-b", "si@1", "-c", "4", "-t", "50", "-r", "-P", "1")
	})
	p.stop(t, syscall.SIGTERM)
	check(t, p.dir)
}

// TestPgbenchDefaults is TPC-B after a fresh -i, without options: the sums and the row count.
func TestPgbenchDefaults(t *testing.T) {
	p := start(t, t.TempDir())
	dsn := p.dsn("postgres")
	pgbench(t, dsn, "-i")
	for _, protocol := range []string{"simple", "extended", "prepared"} {
		n := pgbench(t, dsn, "-M", protocol, "-c", "8", "-j", "2", "-T", "2")
		if n == 0 {
			t.Error("no transactions")
		}
		// pgbench truncates history before a run.
		if got := query(t, dsn, "SELECT count(*) FROM pgbench_history"); got != strconv.Itoa(n) {
			t.Errorf("-M %s: history has %s rows, pgbench reported %d transactions", protocol, got, n)
		}
		got := query(t, dsn, "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(tbalance) FROM pgbench_tellers)"+
			" AND (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(tbalance) FROM pgbench_tellers)")
		if got != "t" {
			t.Errorf("-M %s: the sums differ", protocol)
		}
		query(t, dsn, "UPDATE pgbench_accounts SET abalance = 0; UPDATE pgbench_tellers SET tbalance = 0;"+
			"UPDATE pgbench_branches SET bbalance = 0")
	}
	p.stop(t, syscall.SIGINT)
	check(t, p.dir)
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.sql")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPgbenchScripts(t *testing.T) {
	p := start(t, t.TempDir())
	dsn := p.dsn("postgres")
	pgbench(t, dsn, "-i", "-q")
	query(t, dsn, "CREATE TABLE seen (client int, n int, t text)")
	for name, text := range map[string]string{
		"gset": "SELECT 1 AS one, 5 AS two, NULL AS three \\gset\n" +
			"SELECT :one + 1 AS more \\gset p_\nINSERT INTO seen VALUES (:client_id, :p_more, :two);\n",
		"aset": "SELECT 1 AS a \\; SELECT 2 AS b \\aset\nINSERT INTO seen VALUES (:client_id, :a + :b, NULL);\n",
		"variables": "\\set a random(1, 100000)\n\\set b abs(:a - 50000) + greatest(1, 2)\n" +
			"\\if :a > 50000\nSELECT abalance FROM pgbench_accounts WHERE aid = :a;\n\\else\n" +
			"UPDATE pgbench_accounts SET abalance = abalance + :b WHERE aid = :a;\n\\endif\n",
		"transaction": "BEGIN;\nSAVEPOINT s;\nINSERT INTO seen VALUES (1, 2, 'gone');\nROLLBACK TO s;\nEND;\n",
	} {
		for _, protocol := range []string{"simple", "extended", "prepared"} {
			if name == "aset" && protocol != "simple" {
				continue // \; makes one message of several statements
			}
			t.Run(name+"/"+protocol, func(t *testing.T) {
				n := pgbench(t, dsn, "-n", "-f", script(t, text), "-M", protocol, "-c", "4", "-t", "25")
				if n != 100 {
					t.Errorf("%d transactions, want 100", n)
				}
			})
		}
	}
	if got := query(t, dsn, "SELECT count(*) || ' ' || sum(n) FROM seen"); got != "400 900" {
		t.Errorf("rows and their sum %s, want 400 900", got)
	}
	for _, protocol := range []string{"extended", "prepared"} {
		t.Run("pipeline/"+protocol, func(t *testing.T) {
			text := "\\set a random(1, 100000)\n\\startpipeline\nBEGIN;\n" +
				"UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :a;\n" +
				"SELECT abalance FROM pgbench_accounts WHERE aid = :a;\nEND;\n\\endpipeline\n"
			if n := pgbench(t, dsn, "-n", "-f", script(t, text), "-M", protocol, "-c", "4", "-t", "25"); n != 100 {
				t.Errorf("%d transactions, want 100", n)
			}
		})
	}
	p.stop(t, syscall.SIGINT)
	check(t, p.dir)
}

// TestPgbenchRetries: --max-tries repeats what failed with 40P01 or 40001, until it succeeds.
func TestPgbenchRetries(t *testing.T) {
	p := start(t, t.TempDir(), "-c", "deadlock_timeout=10ms")
	dsn := p.dsn("postgres")
	query(t, dsn, "CREATE TABLE hot (id int PRIMARY KEY, n int) WITH (fillfactor = 50); INSERT INTO hot SELECT g, 0 FROM generate_series(1, 10) g")
	deadlock := "\\set a random(1, 10)\n\\set b random(1, 10)\nBEGIN;\nUPDATE hot SET n = n + 1 WHERE id = :a;\n" +
		"UPDATE hot SET n = n + 1 WHERE id = :b;\nEND;\n"
	serialize := "\\set a random(1, 3)\nBEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT n FROM hot WHERE id = :a;\n" +
		"UPDATE hot SET n = n + 2 WHERE id = :a;\nEND;\n"
	for name, text := range map[string]string{"40P01": deadlock, "40001": serialize} {
		for _, protocol := range []string{"simple", "extended", "prepared"} {
			t.Run(name+"/"+protocol, func(t *testing.T) {
				query(t, dsn, "UPDATE hot SET n = 0")
				args := []string{"-n", "-f", script(t, text), "-M", protocol, "-c", "8", "-j", "2", "-t", "50", "--max-tries", "1000"}
				out, err := command(t, "", dsn, "pgbench", args...)
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if m := failed.FindStringSubmatch(out); m != nil && m[1] != "0" {
					t.Error(m[0])
				}
				if got := query(t, dsn, "SELECT sum(n) FROM hot"); got != "800" {
					t.Errorf("the sum is %s, want 800\n%s", got, out)
				}
				if !regexp.MustCompile(`number of transactions retried: [1-9]`).MatchString(out) {
					t.Errorf("nothing was retried\n%s", out)
				}
			})
		}
	}
	p.stop(t, syscall.SIGINT)
	check(t, p.dir)
}
