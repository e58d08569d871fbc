package e2e

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

var (
	killRounds = flag.Int("kill.rounds", 20, "how often the server is killed")
	killSeed   = flag.Uint64("kill.seed", 0, "seed of the moments; 0 is a new one")
)

const killClients = 8

// killScript is TPC-B whose history rows name their client and its count of transactions, so that
// what pgbench's log says was acknowledged can be looked for. n keeps its value from one transaction
// to the next.
const killScript = `\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
\set n :n + 1
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
INSERT INTO acks (round, client, n) VALUES (:round, :client_id, :n);
END;
`

// TestKill kills the server with SIGKILL at random moments under pgbench, and after each
// recovery looks for every acknowledged transaction.
func TestKill(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (run it again with -kill.seed)", seed)
	k := &killer{t: t, rng: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir(), script: script(t, killScript)}
	p := start(t, k.dir)
	pgbench(t, p.dsn("postgres"), "-i", "-q", "-s", "2")
	query(t, p.dsn("postgres"), "CREATE TABLE acks (round int, client int, n int, PRIMARY KEY (round, client, n))")
	p.stop(t, syscall.SIGINT)
	for round := range *killRounds {
		k.round(round)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d acknowledged transactions in %d rounds", k.acked, *killRounds)
	if k.acked == 0 {
		t.Error("no transaction was acknowledged")
	}
}

type killer struct {
	t      *testing.T
	rng    *rand.Rand
	dir    string
	script string
	acked  int
}

func (k *killer) round(round int) {
	t := k.t
	settings := []string{"-c", "checkpoint_timeout=30s"}
	if k.rng.IntN(2) == 0 { // a small pool writes dirty pages all the time
		settings = append(settings, "-c", "shared_buffers=2MB")
	}
	if k.rng.IntN(2) == 0 { // checkpoints by size
		settings = append(settings, "-c", "max_wal_size=32MB")
	}
	if k.rng.IntN(3) == 0 {
		settings = append(settings, "-c", "full_page_writes=on", "-c", "autovacuum_naptime=1s")
	}
	p := start(t, k.dir, settings...)
	load, logs := k.load(p, round)
	pause := time.Duration(200+k.rng.IntN(1800)) * time.Millisecond
	stop := k.disturb(p)
	time.Sleep(pause)
	p.kill()
	stop()
	_ = load.Wait() // pgbench fails: it lost its server
	if k.rng.IntN(3) == 0 {
		k.killInRecovery()
	}
	p = start(t, k.dir)
	k.verify(p, round, k.acknowledged(logs))
	p.stop(t, syscall.SIGINT)
	check(t, k.dir)
}

// load starts pgbench with a log of its transactions.
func (k *killer) load(p *process, round int) (cmd *exec.Cmd, logs string) {
	k.t.Helper()
	logs = filepath.Join(k.t.TempDir(), "log")
	cmd = exec.Command(tool(k.t, "pgbench"), "-n", "-f", k.script, "-c", strconv.Itoa(killClients), "-j", "2", "-T", "60",
		"-D", "scale=2", "-D", "n=0", "-D", fmt.Sprintf("round=%d", round), "-l", "--log-prefix="+logs,
		"-M", []string{"simple", "extended", "prepared"}[k.rng.IntN(3)])
	cmd.Env = append(os.Environ(), environment(k.t, p.dsn("postgres"))...)
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	return cmd, logs
}

// disturb runs checkpoints and vacuums beside the load.
func (k *killer) disturb(p *process) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	statements := []string{"CHECKPOINT", "VACUUM pgbench_branches", "VACUUM pgbench_accounts", "VACUUM pgbench_tellers", "ANALYZE"}
	k.rng.Shuffle(len(statements), func(i, j int) { statements[i], statements[j] = statements[j], statements[i] })
	go func() {
		defer close(done)
		conn, err := pgx.Connect(ctx, p.dsn("postgres"))
		if err != nil {
			return
		}
		defer conn.Close(context.Background())
		for i := 0; ; i++ {
			if _, err := conn.PgConn().Exec(ctx, statements[i%len(statements)]).ReadAll(); err != nil {
				return // the server is gone
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// killInRecovery starts the server and kills it before it may have recovered.
func (k *killer) killInRecovery() {
	cmd := exec.Command(minipgBinary, "-D", k.dir, "-p", "0", "-k", "", "--metrics-listen", "")
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	time.Sleep(time.Duration(k.rng.IntN(150)) * time.Millisecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// acknowledged counts, from pgbench's logs, the transactions of each client.
func (k *killer) acknowledged(prefix string) [killClients]int {
	k.t.Helper()
	var n [killClients]int
	paths, err := filepath.Glob(prefix + "*")
	if err != nil {
		k.t.Fatal(err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			k.t.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			client, err := strconv.Atoi(strings.Fields(lines.Text())[0])
			if err != nil {
				k.t.Fatalf("%s: %q", path, lines.Text())
			}
			n[client]++
		}
		f.Close()
	}
	return n
}

func (k *killer) verify(p *process, round int, acked [killClients]int) {
	t := k.t
	dsn := p.dsn("postgres")
	for client, n := range acked {
		k.acked += n
		got := query(t, dsn, fmt.Sprintf(
			"SELECT count(*) || ' ' || coalesce(max(n), 0) FROM acks WHERE round = %d AND client = %d", round, client))
		whole := fmt.Sprintf("%d %d", n, n)
		more := fmt.Sprintf("%d %d", n+1, n+1) // committed, but the answer was lost
		if got != whole && got != more {
			t.Errorf("round %d, client %d: %d transactions acknowledged, rows and last: %s", round, client, n, got)
		}
	}
	checkSums(t, dsn, -1)
	if got := query(t, dsn, "SELECT (SELECT count(*) FROM acks) = (SELECT count(*) FROM pgbench_history)"); got != "t" {
		t.Errorf("round %d: history and acks have different numbers of rows", round)
	}
}
