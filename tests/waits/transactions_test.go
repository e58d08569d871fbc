package waits

import "testing"

// TestTransactionsAreCounted ends transactions in each way there is: each is counted once.
func TestTransactionsAreCounted(t *testing.T) {
	s := newServer(t)
	c := s.client()
	cases := []struct {
		name, sql          string
		commits, rollbacks float64
	}{
		{"statement", "SELECT 1", 1, 0},
		{"block", "BEGIN; SELECT 1; SELECT 2; COMMIT", 1, 0},
		{"definition", "CREATE TABLE t (a int)", 1, 0},
		{"rollback", "BEGIN; INSERT INTO t VALUES (1); ROLLBACK", 0, 1},
		{"error", "SELECT 1 / (SELECT 0)", 0, 1},
		{"syntax error", "SELEC", 0, 1},
		{"failed block", "BEGIN; SELECT 1 / (SELECT 0)", 0, 1},
		{"end of a failed block", "ROLLBACK", 0, 0},
	}
	for _, x := range cases {
		before := s.page()
		_, _ = c.PgConn().Exec(t.Context(), x.sql).ReadAll() // what fails is meant to
		after := s.page()
		for outcome, want := range map[string]float64{"commit": x.commits, "rollback": x.rollbacks} {
			name := `minipg_transactions_total{outcome="` + outcome + `"}`
			if got := after[name] - before[name]; got != want {
				t.Errorf("%s: %v times %s, want %v", x.name, got, outcome, want)
			}
		}
	}
}

// TestUnloggedCommitDoesNotWait: what a crash undoes anyway need not be on disk when its commit returns.
func TestUnloggedCommitDoesNotWait(t *testing.T) {
	s := newServer(t)
	c := s.client()
	c.exec("CREATE UNLOGGED TABLE u (id serial PRIMARY KEY, v text)")
	c.exec("CREATE TABLE p (a int)")
	waits := func(sql string) float64 {
		const name = `minipg_wait_events_total{wait_event="WALSync",wait_event_type="IO"}`
		before := s.page()
		for range 5 {
			c.exec(sql)
		}
		return s.page()[name] - before[name]
	}
	for _, sql := range []string{
		"INSERT INTO u (v) VALUES ('x')",
		"UPDATE u SET v = 'y' WHERE id = 1",
		"DELETE FROM u WHERE id > 2",
		"BEGIN; SAVEPOINT a; INSERT INTO u (v) VALUES ('x'); COMMIT",
	} {
		if n := waits(sql); n != 0 {
			t.Errorf("%s: waited %v times in 5", sql, n)
		}
	}
	for _, sql := range []string{
		"INSERT INTO p VALUES (1)",
		"BEGIN; INSERT INTO u (v) VALUES ('x'); UPDATE p SET a = 2; COMMIT",
		"BEGIN; INSERT INTO u (v) VALUES ('x'); SELECT FROM p WHERE a = 2 LIMIT 1 FOR UPDATE; COMMIT",
	} {
		if n := waits(sql); n == 0 {
			t.Errorf("%s: never waited for the disk", sql)
		}
	}
}
