package waits

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minipg/minipg/storage"
)

// blockOf is the first block of a table, made by inserting a row.
func blockOf(s *server, rel storage.RelFile, c *client) storage.BlockTag {
	s.t.Helper()
	c.exec("INSERT INTO t VALUES (1)")
	return storage.BlockTag{Rel: rel, Fork: storage.MainFork}
}

// waitOnce has a goroutine sleep for a latch.
func waitOnce(buf *storage.Buffer) {
	buf.LockExclusive(storage.ClassHeap)
	got := make(chan struct{})
	go func() {
		buf.LockShared(storage.ClassHeap)
		buf.UnlockShared()
		close(got)
	}()
	// Long enough for it to stop spinning, nearly always.
	time.Sleep(20 * time.Microsecond)
	buf.UnlockExclusive()
	<-got
}

// TestLatches holds latches of a heap page and a leaf while statements want them.
func TestLatches(t *testing.T) {
	s := newServer(t)
	watcher, waiter := s.client(), s.client()
	waiter.exec("CREATE TABLE t (a int)")
	waiter.exec("INSERT INTO t SELECT generate_series(1, 100)")
	waiter.exec("CREATE TABLE x (a int PRIMARY KEY)")
	waiter.exec("INSERT INTO x VALUES (0)")
	cases := []struct {
		rel, sql, class, mode string
		block                 storage.BlockNumber
		hold                  func(*storage.Buffer)
		release               func(*storage.Buffer)
	}{
		{
			"t", "SELECT count(*) FROM t", "heap", "shared", 0,
			func(b *storage.Buffer) { b.LockExclusive(storage.ClassHeap) }, (*storage.Buffer).UnlockExclusive,
		},
		{
			"t", "DELETE FROM t WHERE a = 1", "heap", "exclusive", 0,
			func(b *storage.Buffer) { b.LockShared(storage.ClassHeap) }, (*storage.Buffer).UnlockShared,
		},
		{
			"x_pkey", "INSERT INTO x VALUES (1)", "btree_leaf", "exclusive", 1,
			func(b *storage.Buffer) { b.LockShared(storage.ClassBTreeLeaf) }, (*storage.Buffer).UnlockShared,
		},
	}
	for _, c := range cases {
		t.Run(c.class+"/"+c.mode, func(t *testing.T) {
			holder := s.session()
			defer holder.Close()
			before := s.page()
			buf, err := s.Engine().Pool().Read(storage.BlockTag{Rel: s.file(watcher, c.rel), Block: c.block}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer buf.Unpin()
			c.hold(buf)
			done := waiter.start(c.sql)
			watcher.untilShown(waiter.pid, "LWLock:BufferContent")
			time.Sleep(held)
			c.release(buf)
			finish(t, done)
			after := s.page()
			waits := fmt.Sprintf("minipg_latch_waits_total{class=%q,mode=%q}", c.class, c.mode)
			if got := after[waits] - before[waits]; got != 1 {
				t.Errorf("%v waits counted", got)
			}
			seconds := fmt.Sprintf("minipg_latch_wait_seconds_sum{class=%q}", c.class)
			if got := after[seconds] - before[seconds]; got < held.Seconds() {
				t.Errorf("%v seconds counted", got)
			}
			acquired := fmt.Sprintf("minipg_latch_acquisitions_total{class=%q,mode=%q}", c.class, c.mode)
			if after[acquired] <= before[acquired] {
				t.Error("no acquisition counted")
			}
			if got := watcher.one(fmt.Sprintf("SELECT (waits > 0 AND wait_time >= %d)::text FROM minipg_stat_latch"+
				" WHERE class = '%s' AND mode = '%s'", held.Milliseconds(), c.class, c.mode)); got != "true" {
				t.Error("minipg_stat_latch does not count it")
			}
			want := fmt.Sprintf("%d waited for 77: LWLock %s %s at %s/%d", waiter.pid, c.class, c.mode, c.rel, c.block)
			got := watcher.one("SELECT format('%s waited for %s: %s %s %s at %s/%s', waiter, holder, wait_event_type, object, mode," +
				" relation::regclass, block) FROM minipg_wait_history ORDER BY time DESC LIMIT 1")
			if got != want {
				t.Errorf("the history has %q, want %q", got, want)
			}
		})
	}
	resets(t, s, watcher, "latch", "SELECT sum(waits + wait_time)::text FROM minipg_stat_latch")
}

// TestTrees provokes what a B-tree counts: splits, leaves latched again, moves to the right.
func TestTrees(t *testing.T) {
	s := newServer(t)
	c := s.client()
	c.exec("CREATE TABLE t (a bigint PRIMARY KEY)")
	c.exec("SET btree_leaf_lock = 'upgrade'")
	c.exec("SET btree_fastpath = off")
	c.exec("INSERT INTO t SELECT generate_series(1, 20000)")
	c.exec("VACUUM t")
	for _, query := range []string{"SELECT a FROM t WHERE a = 77", "SELECT count(*) FROM t"} {
		c.exec(query)
	}
	var next atomic.Int64
	next.Store(20000)
	var wg sync.WaitGroup
	moved := func() bool { return s.page()["minipg_btree_move_rights_total"] > 0 }
	deadline := time.Now().Add(patience)
	for range 8 {
		session := s.client()
		session.exec("SET btree_fastpath = off")
		session.exec("SET synchronous_commit = off")
		wg.Go(func() {
			for time.Now().Before(deadline) && !moved() {
				first := next.Add(500)
				if _, err := session.Exec(t.Context(), fmt.Sprintf(
					"INSERT INTO t SELECT %d + g * 8 FROM generate_series(1, 500) g ON CONFLICT DO NOTHING", first)); err != nil {
					if _, err := session.Exec(t.Context(), fmt.Sprintf("INSERT INTO t VALUES (%d)", next.Add(1_000_000))); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	s.counted(
		"minipg_btree_leaf_relatches_total", "minipg_btree_splits_total", "minipg_btree_move_rights_total",
		`minipg_latch_acquisitions_total{class="btree_leaf",mode="shared"}`,
		`minipg_latch_acquisitions_total{class="btree_leaf",mode="exclusive"}`,
		`minipg_latch_acquisitions_total{class="btree_inner",mode="shared"}`,
		`minipg_latch_acquisitions_total{class="btree_inner",mode="exclusive"}`,
		`minipg_latch_acquisitions_total{class="btree_meta",mode="exclusive"}`,
		`minipg_latch_acquisitions_total{class="fsm",mode="exclusive"}`,
		`minipg_latch_acquisitions_total{class="vm",mode="exclusive"}`,
	)
}
