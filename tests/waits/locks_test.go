package waits

import (
	"fmt"
	"testing"
	"time"

	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/metrics"
)

// TestLocks has sessions sleep on each type of lock that a statement can sleep on.
func TestLocks(t *testing.T) {
	s := newServer(t)
	watcher, holder, waiter, third := s.client(), s.client(), s.client(), s.client()
	holder.exec("CREATE TABLE t (a int PRIMARY KEY, b int)")
	holder.exec("INSERT INTO t VALUES (1, 1), (2, 2)")

	cases := []struct {
		typ, mode  string
		hold, wait string
	}{
		{"relation", "AccessShareLock", "LOCK TABLE t IN ACCESS EXCLUSIVE MODE", "SELECT count(*) FROM t"},
		{"relation", "RowExclusiveLock", "LOCK TABLE t IN SHARE MODE", "INSERT INTO t VALUES (3, 3)"},
		{"relation", "ShareLock", "INSERT INTO t VALUES (4, 4)", "CREATE INDEX ON t (b)"},
		{"relation", "AccessExclusiveLock", "SELECT * FROM t LIMIT 0", "LOCK TABLE t"},
		{"transactionid", "ShareLock", "UPDATE t SET b = 5 WHERE a = 1", "UPDATE t SET b = 6 WHERE a = 1"},
		{"advisory", "ExclusiveLock", "SELECT pg_advisory_xact_lock(7)", "SELECT pg_advisory_xact_lock(7)"},
		{"object", "ExclusiveLock", "CREATE TABLE same (a int)", "CREATE TABLE IF NOT EXISTS same (a int)"},
	}
	for _, c := range cases {
		t.Run(c.typ+"/"+c.mode, func(t *testing.T) {
			before := s.page()
			holder.exec("BEGIN; " + c.hold)
			waiter.exec("BEGIN")
			done := waiter.start(c.wait)
			watcher.untilShown(waiter.pid, "Lock:"+c.typ)
			if n := s.page()[fmt.Sprintf("minipg_proc_sleeping{locktype=%q}", c.typ)]; n != 1 {
				t.Errorf("%v sessions sleep", n)
			}
			time.Sleep(held)
			holder.exec("COMMIT")
			finish(t, done)
			waiter.exec("ROLLBACK")
			after := s.page()
			sleep := fmt.Sprintf("minipg_proc_sleep_total{locktype=%q,mode=%q}", c.typ, c.mode)
			if got := after[sleep] - before[sleep]; got != 1 {
				t.Errorf("%v sleeps counted", got)
			}
			seconds := fmt.Sprintf("minipg_lock_wait_seconds_sum{locktype=%q}", c.typ)
			if got := after[seconds] - before[seconds]; got < held.Seconds() || got > patience.Seconds() {
				t.Errorf("%v seconds counted", got)
			}
			event := fmt.Sprintf("minipg_wait_event_seconds_total{wait_event=%q,wait_event_type=\"Lock\"}", c.typ)
			if got := after[event] - before[event]; got < held.Seconds() {
				t.Errorf("%v seconds of the event", got)
			}
			want := fmt.Sprintf("%d waited for %d: Lock %s %s", waiter.pid, holder.pid, c.typ, c.mode)
			got := watcher.one("SELECT format('%s waited for %s: %s %s %s', waiter, holder, wait_event_type, object, mode)" +
				" FROM minipg_wait_history ORDER BY time DESC LIMIT 1")
			if got != want {
				t.Errorf("the history has %q, want %q", got, want)
			}
		})
	}

	// The third in line for a row sleeps on the tuple.
	holder.exec("BEGIN; UPDATE t SET b = 5 WHERE a = 2")
	second := waiter.start("UPDATE t SET b = 6 WHERE a = 2")
	watcher.untilShown(waiter.pid, "Lock:transactionid")
	last := third.start("UPDATE t SET b = 7 WHERE a = 2")
	watcher.untilShown(third.pid, "Lock:tuple")
	holder.exec("COMMIT")
	finish(t, second)
	finish(t, last)
	s.counted(
		`minipg_proc_sleep_total{locktype="tuple",mode="ExclusiveLock"}`,
		`minipg_lock_acquisitions_total{locktype="relation",path="fastpath"}`,
		`minipg_lock_acquisitions_total{locktype="relation",path="table"}`,
		`minipg_lock_wait_seconds_count{locktype="tuple"}`,
		`minipg_lock_wait_seconds_bucket{locktype="relation",le="1"}`,
	)
	// The last one need not have found the second one's transaction still running.
	if n := watcher.one("SELECT sum(waits)::text FROM pg_stat_lock"); n != fmt.Sprint(len(cases)+2) && n != fmt.Sprint(len(cases)+3) {
		t.Errorf("pg_stat_lock counts %s waits", n)
	}
	resets(t, s, watcher, "lock", "SELECT sum(waits + wait_time)::text FROM pg_stat_lock")
	resets(t, s, watcher, "wait_history", "SELECT count(*)::text FROM minipg_wait_history")
	if _, err := watcher.Exec(t.Context(), "SELECT pg_stat_reset_shared('nothing')"); err == nil {
		t.Error("an unknown target is reset")
	}
}

// resets checks that pg_stat_reset_shared brings a number from above zero to zero.
func resets(t *testing.T, s *server, c *client, target, query string) {
	t.Helper()
	if n := c.one(query); n == "0" {
		t.Errorf("%s has nothing to reset", target)
	}
	c.exec("SELECT pg_stat_reset_shared('" + target + "')")
	if n := c.one(query); n != "0" {
		t.Errorf("%s is %s after a reset", target, n)
	}
}

// TestFastPathExceeded locks more tables than a session has slots for.
func TestFastPathExceeded(t *testing.T) {
	s := newServer(t)
	c := s.client()
	const tables = 80
	for i := range tables {
		c.exec(fmt.Sprintf("CREATE TABLE t%d (a int)", i))
	}
	c.exec("BEGIN")
	for i := range tables {
		c.exec(fmt.Sprintf("SELECT * FROM t%d", i))
	}
	c.exec("COMMIT")
	s.counted("minipg_lock_fastpath_exceeded_total")
	if n := c.one("SELECT fastpath_exceeded::text FROM pg_stat_lock WHERE locktype = 'relation'"); n == "0" {
		t.Error("pg_stat_lock counts none")
	}
}

// TestHistoryIsARing makes more waits than are remembered.
func TestHistoryIsARing(t *testing.T) {
	if testing.Short() {
		t.Skip("many waits")
	}
	s := newServer(t, "wait_history_threshold=0")
	c, holder := s.client(), s.session()
	defer holder.Close()
	c.exec("CREATE TABLE t (a int)")
	rel := s.file(c, "t")
	buf, err := s.Engine().Pool().Read(blockOf(s, rel, c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer buf.Unpin()
	waits := &s.Metrics().LatchWaits[metrics.LatchHeap][metrics.LatchShared]
	for waits.Value() < engine.MaxWaitHistory+100 {
		waitOnce(buf)
	}
	if n := c.one("SELECT count(*)::text FROM minipg_wait_history"); n != fmt.Sprint(engine.MaxWaitHistory) {
		t.Errorf("%s waits are remembered", n)
	}
}
