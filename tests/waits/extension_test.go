package waits

import (
	"fmt"
	"testing"
	"time"

	"github.com/minipg/minipg/storage"
)

const filler = "INSERT INTO t SELECT repeat('x', 7000)"

// TestExtension holds the extension lock while statements want it, under either lock.
func TestExtension(t *testing.T) {
	for _, lock := range []string{"table", "heavyweight"} {
		t.Run(lock, func(t *testing.T) {
			s := newServer(t, "relation_extension_lock="+lock)
			s.t = t
			watcher, waiter := s.client(), s.client()
			waiter.exec("CREATE TABLE t (a text); ALTER TABLE t ALTER a SET STORAGE plain")
			waiter.exec(filler)
			rel := s.file(watcher, "t")
			holder := s.session()
			defer holder.Close()
			x := holder.Locks().Extension()

			if err := x.Lock(t.Context(), rel.Database, uint64(rel.Number)); err != nil {
				t.Fatal(err)
			}
			done := waiter.start(filler)
			watcher.untilShown(waiter.pid, "Lock:extend")
			// What the waiter looks for again is there when it has waited.
			got, err := s.Engine().Pool().Extend(t.Context(), rel, storage.MainFork, storage.ExtendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got.Buffer.ReleaseExclusive()
			if err := s.Engine().Pool().FSM().Record(rel, got.Block, storage.PageSize-100); err != nil {
				t.Fatal(err)
			}
			time.Sleep(held)
			x.Unlock(rel.Database, uint64(rel.Number))
			finish(t, done)

			if lock == "table" {
				s.counted("minipg_extension_lock_sleep_total", "minipg_extension_lock_acquisitions_total",
					"minipg_extension_lock_wait_seconds_count")
				if n := s.page()[`minipg_proc_sleep_total{locktype="extend",mode="ExclusiveLock"}`]; n != 0 {
					t.Errorf("%v of the table's sleeps are ProcSleeps", n)
				}
			} else {
				s.counted(`minipg_proc_sleep_total{locktype="extend",mode="ExclusiveLock"}`,
					`minipg_lock_wait_seconds_count{locktype="extend"}`,
					`minipg_lock_acquisitions_total{locktype="extend",path="table"}`)
			}
			s.counted("minipg_extension_fsm_hits_after_wait_total",
				`minipg_wait_event_seconds_total{wait_event="extend",wait_event_type="Lock"}`)
			want := "1 1 1"
			if got := watcher.one("SELECT format('%s %s %s', waits, fsm_hits_after_wait, blocks - 1)" +
				" FROM minipg_stat_extension WHERE relname = 't' AND fork = 'main'"); got != want {
				t.Errorf("minipg_stat_extension has %q, want %q", got, want)
			}
			if n := watcher.one("SELECT waits::text FROM pg_stat_lock WHERE locktype = 'extend'"); n != "1" {
				t.Errorf("pg_stat_lock has %s waits", n)
			}
			want = fmt.Sprintf("%d waited for 77: Lock extend for t", waiter.pid)
			if got := watcher.one("SELECT format('%s waited for %s: %s %s for %s', waiter, holder, wait_event_type, object," +
				" relation::regclass) FROM minipg_wait_history"); got != want {
				t.Errorf("the history has %q, want %q", got, want)
			}
			resets(t, s, watcher, "extension", "SELECT count(*)::text FROM minipg_stat_extension")
		})
	}
}

// TestPolicies extends under each, set by the session.
func TestPolicies(t *testing.T) {
	s := newServer(t)
	c := s.client()
	c.exec("CREATE TABLE t (a text); ALTER TABLE t ALTER a SET STORAGE plain")
	for _, policy := range []string{"fixed", "waiters", "bulk", "group"} {
		c.exec("SET relation_extension_policy = '" + policy + "'")
		c.exec(filler)
		s.counted(fmt.Sprintf("minipg_relation_extends_total{policy=%q}", policy))
	}
	c.exec("SET relation_extension_policy = fixed")
	c.exec("SET relation_extension_blocks = 32")
	c.exec(filler)
	page := s.page()
	if got := page[`minipg_relation_extend_blocks_bucket{le="32"}`] - page[`minipg_relation_extend_blocks_bucket{le="16"}`]; got != 1 {
		t.Errorf("%v extensions by 32 blocks counted", got)
	}
	s.counted("minipg_relation_extend_hold_seconds_count")
	strategy := 0
	for series, v := range page {
		if len(series) > 21 && series[:21] == "minipg_strategy_info{" && v == 1 {
			strategy++
		}
	}
	if strategy != 1 {
		t.Errorf("%d series of minipg_strategy_info", strategy)
	}
}

// TestGroup has two sessions follow a leader that waits for the lock.
func TestGroup(t *testing.T) {
	s := newServer(t, "relation_extension_policy=group")
	watcher, leader, follower := s.client(), s.client(), s.client()
	leader.exec("CREATE TABLE t (a text); ALTER TABLE t ALTER a SET STORAGE plain")
	leader.exec(filler)
	rel := s.file(watcher, "t")
	holder := s.session()
	defer holder.Close()
	x := holder.Locks().Extension()
	if err := x.Lock(t.Context(), rel.Database, uint64(rel.Number)); err != nil {
		t.Fatal(err)
	}
	first := leader.start(filler)
	watcher.untilShown(leader.pid, "Lock:extend")
	second := follower.start(filler)
	watcher.untilShown(follower.pid, "IPC:RelationExtendGroup")
	time.Sleep(held)
	x.Unlock(rel.Database, uint64(rel.Number))
	finish(t, first)
	finish(t, second)
	s.counted(`minipg_wait_event_seconds_total{wait_event="RelationExtendGroup",wait_event_type="IPC"}`)
	want := fmt.Sprintf("%d waited for %d: IPC extend for t", follower.pid, leader.pid)
	if got := watcher.one("SELECT format('%s waited for %s: %s %s for %s', waiter, holder, wait_event_type, object," +
		" relation::regclass) FROM minipg_wait_history WHERE wait_event_type = 'IPC'"); got != want {
		t.Errorf("the history has %q, want %q", got, want)
	}
	if n := s.page()[`minipg_relation_extend_blocks_bucket{le="2"}`] - s.page()[`minipg_relation_extend_blocks_bucket{le="1"}`]; n != 1 {
		t.Errorf("%v extensions by two blocks", n)
	}

	// A follower that is cancelled when the leader cannot go back leaves its block to others, and one
	// that is cancelled before leaves nothing.
	if err := x.Lock(t.Context(), rel.Database, uint64(rel.Number)); err != nil {
		t.Fatal(err)
	}
	first = leader.start(filler)
	watcher.untilShown(leader.pid, "Lock:extend")
	second = follower.start(filler)
	watcher.untilShown(follower.pid, "IPC:RelationExtendGroup")
	watcher.exec(fmt.Sprintf("SELECT pg_cancel_backend(%d)", follower.pid))
	if err := <-second; err == nil {
		t.Error("the follower was not cancelled")
	}
	x.Unlock(rel.Database, uint64(rel.Number))
	finish(t, first)
	follower.exec(filler)
	if n := watcher.one("SELECT count(*)::text FROM t"); n != "5" {
		t.Errorf("%s rows", n)
	}

	// Followers of a leader that is cancelled try again.
	if err := x.Lock(t.Context(), rel.Database, uint64(rel.Number)); err != nil {
		t.Fatal(err)
	}
	first = leader.start(filler)
	watcher.untilShown(leader.pid, "Lock:extend")
	second = follower.start(filler)
	watcher.untilShown(follower.pid, "IPC:RelationExtendGroup")
	watcher.exec(fmt.Sprintf("SELECT pg_cancel_backend(%d)", leader.pid))
	if err := <-first; err == nil {
		t.Error("the leader was not cancelled")
	}
	watcher.untilShown(follower.pid, "Lock:extend") // it leads now
	x.Unlock(rel.Database, uint64(rel.Number))
	finish(t, second)
}

// TestInputOutput makes statements wait for files and the log.
func TestInputOutput(t *testing.T) {
	s := newServer(t)
	c := s.client()
	c.exec("CREATE TABLE t (a text); ALTER TABLE t ALTER a SET STORAGE plain")
	c.exec("INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 6000)")
	c.exec("SELECT count(*) FROM t")
	s.counted(
		`minipg_wait_event_seconds_total{wait_event="WALSync",wait_event_type="IO"}`,
		`minipg_wait_event_seconds_total{wait_event="DataFileRead",wait_event_type="IO"}`,
		`minipg_wait_event_seconds_total{wait_event="DataFileWrite",wait_event_type="IO"}`,
		`minipg_wait_event_seconds_total{wait_event="DataFileExtend",wait_event_type="IO"}`,
		`minipg_wait_events_total{wait_event="DataFileExtend",wait_event_type="IO"}`,
	)
}
