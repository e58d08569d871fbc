package differential

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/minipg/minipg/minipgtest"
)

var (
	first = flag.Uint64("first", 1, "the first seed")
	seeds = flag.Uint64("seeds", 150, "how many seeds to try")
)

// switches are planner settings, each turned off in some of the runs.
var switches = []string{
	"enable_seqscan", "enable_indexscan", "enable_bitmapscan", "enable_hashjoin", "enable_nestloop", "enable_hashagg",
	"enable_sort", "enable_material", "enable_indexonlyscan", "enable_mergejoin", "enable_incremental_sort",
}

const (
	scratch = "differential"
	// vacuumEvery is how many seeds' changes, all rolled back, may bloat the tables.
	vacuumEvery = 100
	// slow is what a statement may take without a word, however fast PostgreSQL is.
	slow = time.Second
)

// TestRandom compares random statements.
func TestRandom(t *testing.T) {
	oracle, subject := pair(t)
	for seed := *first; seed < *first+*seeds; seed++ {
		if seed%vacuumEvery == 0 {
			oracle.exec("VACUUM")
			subject.exec("VACUUM")
		}
		g := newGen(seed)
		compare(t, oracle, subject, seed, g.statement())
		if t.Failed() && t.Context().Err() != nil {
			return
		}
	}
}

// pair makes the schema on both servers.
func pair(t *testing.T) (oracle, subject *server) {
	dsn := os.Getenv("MINIPG_ORACLE")
	if dsn == "" {
		t.Skip("MINIPG_ORACLE is not set")
	}
	under := os.Getenv("MINIPG_SUBJECT")
	if under == "" {
		under = minipgtest.New(t).DSN("postgres")
	}
	oracle, subject = &server{name: "PostgreSQL", dsn: dsn}, &server{name: "minipg", dsn: under}
	for _, s := range []*server{oracle, subject} {
		for _, text := range []string{"DROP DATABASE IF EXISTS " + scratch, "CREATE DATABASE " + scratch} {
			if a := s.exec(text); a.err != "" {
				t.Fatalf("%s: %s: %s", s.name, text, a.err)
			}
		}
		s.close()
		s.conn = nil
		s.dsn = inDatabase(s.dsn, scratch)
		for _, text := range append(schema(), "ANALYZE") {
			if a := s.exec(text); a.err != "" {
				t.Fatalf("%s: %s: %s", s.name, text, a.err)
			}
		}
		t.Cleanup(s.close)
	}
	return oracle, subject
}

func inDatabase(dsn, name string) string {
	if !strings.Contains(dsn, "://") {
		return dsn + " dbname=" + name
	}
	base, query, _ := strings.Cut(dsn, "?")
	i := strings.LastIndexByte(base, '/')
	return base[:i+1] + name + "?" + query
}

func compare(t *testing.T, oracle, subject *server, seed uint64, s *statement) {
	check := func(how, text string, want, got answer, ordered bool) bool {
		if got.took > slow && got.took > 10*want.took && strings.HasPrefix(how, "literals") {
			t.Logf("seed %d, %s: %v, PostgreSQL %v:\n%s;", seed, how, got.took, want.took, text)
		}
		if want.tooLong || want.err == "" && got.tooLong {
			return true
		}
		d := want.differs(&got, ordered)
		if d == "" {
			return true
		}
		t.Errorf("seed %d, %s:\n%s;\n%s", seed, how, text, d)
		return false
	}
	if s.check != nil {
		compareChange(oracle, subject, s, check)
		return
	}
	for set := range 2 {
		text := s.render(set)
		want := oracle.exec(text)
		if !check(fmt.Sprintf("literals %d", set), text, want, subject.exec(text), s.ordered) {
			return
		}
		if want.tooLong || set == 1 {
			return
		}
		for _, off := range variants(seed) {
			subject.exec(off)
			ok := check(off, text, want, subject.exec(text), s.ordered)
			subject.exec("RESET ALL; SET statement_timeout = '" + serverTimeout + "'")
			if !ok {
				return
			}
		}
		text, values := s.parameterized()
		want = oracle.execParams(text, values)
		if !check("parameters", text+fmt.Sprintf(" -- %q", values), want, subject.execParams(text, values), s.ordered) {
			return
		}
	}
}

// variants are the settings a seed runs under besides the default ones.
func variants(seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 5))
	var list []string
	for range 2 {
		var set []string
		for _, i := range rng.Perm(len(switches))[:1+rng.IntN(4)] {
			set = append(set, "SET "+switches[i]+" = off")
		}
		list = append(list, strings.Join(set, "; "))
	}
	return append(list, "SET work_mem = '64kB'; SET "+switches[rng.IntN(len(switches))]+" = off")
}

// compareChange runs a change, looks at the table and takes the change back.
func compareChange(oracle, subject *server, s *statement, check func(how, text string, want, got answer, ordered bool) bool) {
	run := func(srv *server, do func() answer) (a answer, after []answer) {
		srv.exec("BEGIN")
		a = do()
		if a.err == "" {
			for _, q := range s.check {
				after = append(after, srv.exec(q))
			}
		}
		srv.exec("ROLLBACK")
		return a, after
	}
	both := func(how, text string, do func(*server) answer) bool {
		want, wantAfter := run(oracle, func() answer { return do(oracle) })
		got, gotAfter := run(subject, func() answer { return do(subject) })
		if !check(how, text, want, got, false) {
			return false
		}
		for i := range min(len(wantAfter), len(gotAfter)) {
			if !check(how+", afterwards", text, wantAfter[i], gotAfter[i], true) {
				return false
			}
		}
		return true
	}
	for set := range 2 {
		text := s.render(set)
		if !both(fmt.Sprintf("literals %d", set), text, func(srv *server) answer { return srv.exec(text) }) {
			return
		}
	}
	text, values := s.parameterized()
	both("parameters", text+fmt.Sprintf(" -- %q", values), func(srv *server) answer { return srv.execParams(text, values) })
}
