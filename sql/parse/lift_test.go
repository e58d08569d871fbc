package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/minipg/minipg/pgerr"
)

func position(err error) int { return pgerr.From(err).Position }

func TestLift(t *testing.T) {
	tests := []struct{ name, sql, want string }{
		{"numbers", "select 1, 2.5, 3000000000", "select <1:0>, <3:1>, <2:2> | 1 2.5 3000000000"},
		{"equal ones", "select 1, 2, 1", "select <1:0>, <1:1>, <1:0> | 1 2 1"},
		{"string", "select 'it''s'", "select <4:0> | it's"},
		{"typed literal stays", "select date '2020-01-01'", "select date '2020-01-01' |"},
		{"minus stays outside", "select a + -5", "select a + -<1:0> | 5"},
		{"only fits with its minus", "select -2147483648", "select -2147483648 |"},
		{"trailing semicolon", "select 1;  ", "select <1:0> | 1"},
		{"escape string", "select e'a'", "no"},
		{"two statements", "select 1; select 2", "no"},
		{"continuation", "select 'a'\n'b'", "no"},
		{"identifier digits", "select a1 from t2 where x=3", "select a1 from t2 where x=<1:0> | 3"},
		{"comment", "select /* 1 */ 2", "select /* 1 */ <1:0> | 2"},
	}
	var l Lifted
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := "no"
			if l.Lift(test.sql, true) {
				got = show(&l, test.sql)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func show(l *Lifted, sql string) string {
	var b strings.Builder
	for i := 0; i < len(l.Key); i++ {
		if l.Key[i] == 0 {
			fmt.Fprintf(&b, "<%d:%d>", l.Key[i+1], l.Key[i+2])
			i += 2
			continue
		}
		b.WriteByte(l.Key[i])
	}
	b.WriteString(" |")
	for _, lit := range l.Literals {
		b.WriteByte(' ')
		b.Write(lit.Value(nil, sql))
	}
	return b.String()
}

const tpcbUpdate = "UPDATE pgbench_accounts SET abalance = abalance + -3412 WHERE aid = 1345512;"

func TestLiftAllocatesNothing(t *testing.T) {
	var l Lifted
	l.Lift(tpcbUpdate, true)
	if n := testing.AllocsPerRun(100, func() { l.Lift(tpcbUpdate, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLift(b *testing.B) {
	var l Lifted
	b.ReportAllocs()
	for b.Loop() {
		l.Lift(tpcbUpdate, true)
	}
}

func FuzzLift(f *testing.F) {
	for _, sql := range lexical {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		var l Lifted
		if !l.Lift(sql, true) {
			return
		}
		for _, lit := range l.Literals {
			if lit.Start >= lit.End || lit.End > len(sql) {
				t.Fatalf("%q: literal %v", sql, lit)
			}
		}
	})
}
