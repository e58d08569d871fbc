package parse

import (
	"strings"
	"testing"

	"github.com/minipg/minipg/pgerr"
)

// nested gives, for each way a statement can grow deep, the statement of depth n.
var nested = map[string]func(n int) string{
	"parentheses": func(n int) string { return "select " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) },
	"sub-selects": func(n int) string {
		return strings.Repeat("select (", n) + "select 1" + strings.Repeat(")", n)
	},
	"from": func(n int) string {
		return strings.Repeat("select * from (", n) + "select 1" + strings.Repeat(") x", n)
	},
	"case": func(n int) string {
		return "select " + strings.Repeat("case when true then ", n) + "1" + strings.Repeat(" end", n)
	},
	"plus":      func(n int) string { return "select 1" + strings.Repeat("+1", n) },
	"minus":     func(n int) string { return "select " + strings.Repeat("- ", n) + "x" },
	"not":       func(n int) string { return "select " + strings.Repeat("not ", n) + "x" },
	"is null":   func(n int) string { return "select x" + strings.Repeat(" is null", n) },
	"casts":     func(n int) string { return "select x" + strings.Repeat("::int", n) },
	"collate":   func(n int) string { return "select x" + strings.Repeat(" collate \"C\"", n) },
	"at":        func(n int) string { return "select x" + strings.Repeat(" at time zone 'utc'", n) },
	"union":     func(n int) string { return "select 1" + strings.Repeat(" union select 1", n) },
	"joins":     func(n int) string { return "select * from a" + strings.Repeat(" join a on true", n) },
	"cross":     func(n int) string { return "select * from a" + strings.Repeat(" cross join a", n) },
	"functions": func(n int) string { return "select " + strings.Repeat("f(", n) + "1" + strings.Repeat(")", n) },
	"arrays":    func(n int) string { return "select " + strings.Repeat("array[", n) + "1" + strings.Repeat("]", n) },
	"brackets":  func(n int) string { return "select array" + strings.Repeat("[", n) + "1" + strings.Repeat("]", n) },
	"mixed": func(n int) string {
		return "select " + strings.Repeat("1+1+1+(", n) + "1" + strings.Repeat(")", n)
	},
	"with": func(n int) string {
		return strings.Repeat("with a as (", n) + "select 1" + strings.Repeat(") select 1", n)
	},
	"in":       func(n int) string { return "select x" + strings.Repeat(" in (1)", n) },
	"like":     func(n int) string { return "select " + strings.Repeat("x like (", n) + "x" + strings.Repeat(")", n) },
	"row":      func(n int) string { return "select " + strings.Repeat("row(", n) + "1" + strings.Repeat(")", n) },
	"not (":    func(n int) string { return "select " + strings.Repeat("not (", n) + "x" + strings.Repeat(")", n) },
	"prepare":  func(n int) string { return "select " + strings.Repeat("@ ", n) + "x" },
	"operator": func(n int) string { return "select 1" + strings.Repeat(" operator(pg_catalog.+) 1", n) },
}

func TestGuardKeepsTheParserAlive(t *testing.T) {
	for name, make := range nested {
		t.Run(name, func(t *testing.T) {
			refused := 0
			for _, n := range []int{100, 500, 799, 1000, 1900, 1999, 3000, 10_000, 100_000} {
				if _, err := Parse(make(n)); pgerr.HasCode(err, pgerr.StatementTooComplex) {
					refused = n
					break
				} else if err != nil && !pgerr.HasCode(err, pgerr.SyntaxError) {
					t.Fatalf("depth %d: %v", n, err)
				}
			}
			if refused == 0 {
				t.Error("no depth was refused")
			}
			if refused != 0 && refused <= 500 {
				t.Errorf("depth %d was refused", refused)
			}
		})
	}
}

func TestGuardLetsFlatListsPass(t *testing.T) {
	for name, sql := range map[string]string{
		"or":     "select 1 where x=1" + strings.Repeat(" or x=1", 20_000),
		"and":    "select 1 where x=1" + strings.Repeat(" and x=1", 20_000),
		"in":     "select 1 where x in (1" + strings.Repeat(",1", 20_000) + ")",
		"values": "insert into t values (1+1)" + strings.Repeat(",(1+1)", 20_000),
		"many":   strings.Repeat("select 1+1;", 5000),
	} {
		if _, err := Parse(sql); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
