package parse

import (
	"os"
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// corpus is what stock clients send; see testdata.
func corpus(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	var stmts []string
	for _, s := range strings.Split(string(text), "\n-- end\n") {
		if s != "" {
			stmts = append(stmts, s)
		}
	}
	return stmts
}

var lexical = []string{
	`select 'a''b', e'a\'b', E'\\', u&'d\0061t', U&"d\0061t", n'x', b'01', X'1F'`,
	"select 'a'\n 'b', 'c'\n 'd'", "select $$a$$, $x$ $y$ $x$, $1, $12", "select 1.5e10, .5, 1., 1e-3, 2..3",
	"select a.b, a[1:2], x::int, x:=1, a=>b", "select 1/*x/*y*/z*/+2--c\n+3", "select a<>-1, a@-1, a<-1, a*-1, a+-1, a!=-b",
	`select "a""b", "select", _x$1, ünï`, "select a--b", "select ?-1, 1!-2, 4%-3", "select 1 <= 2, 3 >= 4, 5 != 6",
}

func TestScannerAgreesWithTheGrammar(t *testing.T) {
	for _, sql := range append(corpus(t), lexical...) {
		want, err := pg_query.Scan(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		s := NewScanner(sql)
		for _, tok := range want.Tokens {
			if tok.Token == pg_query.Token_SQL_COMMENT || tok.Token == pg_query.Token_C_COMMENT {
				continue
			}
			got := s.Next()
			if got.Start != int(tok.Start) || got.End != int(tok.End) {
				t.Errorf("%s:\n got %q, want %q at %d", sql, sql[got.Start:got.End], sql[tok.Start:tok.End], tok.Start)
				break
			}
		}
	}
}

func TestCorpusParses(t *testing.T) {
	for _, sql := range corpus(t) {
		if _, err := Parse(sql); err != nil {
			t.Errorf("%v\n%s", err, sql)
		}
	}
}

func TestErrorPositionCountsCharacters(t *testing.T) {
	_, err := Parse("select 'äöü' frm x y")
	if err == nil {
		t.Fatal("no error")
	}
	if got, want := err.Error(), `ERROR: syntax error at or near "x" (SQLSTATE 42601)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := position(err); got != 18 {
		t.Errorf("position %d, want 18", got)
	}
}
