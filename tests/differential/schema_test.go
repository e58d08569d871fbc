package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// table is one of the tables statements are made over.
type table struct {
	name string
	cols []column
	rows int
	// key is a column, or columns, with a unique index.
	key []string
}

type column struct {
	name string
	typ  sqlType
	// values is how many different values there are; nulls how many rows in ten have none.
	values, nulls int
	// unique columns count up.
	unique bool
}

// sqlType is a type the generator makes expressions of.
type sqlType uint8

const (
	typInt sqlType = iota
	typBig
	typText
	typNumeric
	typBool
	typDate
	typVarchar
	typFloat
	typArray // int[]
	numTypes
)

var typeNames = [...]string{"int", "bigint", "text", "numeric(8,2)", "bool", "date", "varchar(6)", "float8", "int[]"}

// bareTypeNames are for casts, which then keep the value.
var bareTypeNames = [...]string{"int", "bigint", "text", "numeric", "bool", "date", "varchar", "float8", "int[]"}

var tables = []table{
	{name: "t1", rows: 60, key: []string{"id"}, cols: []column{
		{name: "id", typ: typInt, unique: true},
		{name: "a", typ: typInt, values: 10, nulls: 2},
		{name: "b", typ: typInt, values: 5, nulls: 1},
		{name: "c", typ: typText, values: 6, nulls: 2},
		{name: "d", typ: typNumeric, values: 8, nulls: 1},
		{name: "e", typ: typBig, values: 12, nulls: 1},
	}},
	{name: "t2", rows: 40, key: []string{"id"}, cols: []column{
		{name: "id", typ: typInt, unique: true},
		{name: "a", typ: typInt, values: 10, nulls: 1},
		{name: "f", typ: typFloat, values: 6, nulls: 2},
		{name: "v", typ: typVarchar, values: 6, nulls: 1},
		{name: "g", typ: typBool, values: 2, nulls: 3},
	}},
	{name: "t3", rows: 25, cols: []column{
		{name: "a", typ: typBig, values: 8, nulls: 1},
		{name: "x", typ: typInt, values: 4, nulls: 2},
		{name: "y", typ: typDate, values: 5, nulls: 2},
		{name: "c", typ: typText, values: 6, nulls: 1},
	}},
	{name: "t4", rows: 300, key: []string{"p", "q"}, cols: []column{
		{name: "p", typ: typInt, unique: true},
		{name: "q", typ: typInt, values: 7},
		{name: "r", typ: typText, values: 20, nulls: 1},
		{name: "s", typ: typArray, values: 6, nulls: 2},
		{name: "b", typ: typInt, values: 30, nulls: 1},
	}},
	{name: "t0", rows: 0, cols: []column{
		{name: "a", typ: typInt},
		{name: "z", typ: typText},
	}},
}

var indexes = []string{
	"ALTER TABLE t1 ADD PRIMARY KEY (id)",
	"CREATE INDEX ON t1 (a)",
	"CREATE INDEX ON t1 (b, a DESC)",
	"CREATE INDEX ON t1 (lower(c))",
	"CREATE INDEX ON t1 (d DESC NULLS LAST) WHERE b > 2",
	"CREATE INDEX ON t1 ((a + b), c)",
	"CREATE INDEX ON t1 (e) WHERE a IS NOT NULL",
	"CREATE UNIQUE INDEX ON t2 (id) INCLUDE (a)",
	"CREATE INDEX ON t2 (v, a)",
	"CREATE INDEX ON t2 (f)",
	"CREATE INDEX ON t3 (a)",
	"CREATE INDEX ON t3 (c DESC, x)",
	"CREATE UNIQUE INDEX ON t4 (p, q)",
	"CREATE INDEX ON t4 (r DESC, b)",
	"CREATE INDEX ON t4 (b)",
}

// schema is what makes the tables, always the same.
func schema() []string {
	rng := rand.New(rand.NewPCG(7, 7))
	var list []string
	for _, t := range tables {
		defs := make([]string, len(t.cols))
		for i, c := range t.cols {
			defs[i] = c.name + " " + typeNames[c.typ]
		}
		list = append(list, fmt.Sprintf("CREATE TABLE %s (%s)", t.name, strings.Join(defs, ", ")))
		for i := 0; i < t.rows; i += 50 {
			var rows []string
			for j := i; j < min(i+50, t.rows); j++ {
				vals := make([]string, len(t.cols))
				for k, c := range t.cols {
					vals[k] = c.value(rng, j)
				}
				rows = append(rows, "("+strings.Join(vals, ", ")+")")
			}
			list = append(list, fmt.Sprintf("INSERT INTO %s VALUES %s", t.name, strings.Join(rows, ", ")))
		}
	}
	return append(list, indexes...)
}

func (c *column) value(rng *rand.Rand, row int) string {
	if c.unique {
		return fmt.Sprint(row + 1)
	}
	if rng.IntN(10) < c.nulls {
		return "NULL"
	}
	return literalOf(c.typ, rng.IntN(c.values))
}

// literalOf is value number n of a type as SQL text.
func literalOf(t sqlType, n int) string {
	switch t {
	case typInt, typBig:
		return fmt.Sprint(n)
	case typText, typVarchar:
		return "'" + [...]string{"a", "b", "abc", "", "B", "zz", "Ab", "a b", "x1", "yy"}[n%10] + strings.Repeat("q", n/10) + "'"
	case typNumeric:
		return [...]string{"0", "1.50", "2.00", "3.25", "10", "2.5", "-1.75", "7.00"}[n%8]
	case typBool:
		return [...]string{"true", "false"}[n%2]
	case typDate:
		return fmt.Sprintf("'2024-01-%02d'", n%28+1)
	case typFloat:
		return [...]string{"0", "1.5", "2", "3.25", "10", "-4.5"}[n%6]
	case typArray:
		return [...]string{"'{}'", "'{1,2,3}'", "'{2,NULL}'", "'{5}'", "'{0,1}'", "'{3,3,3}'"}[n%6]
	}
	panic("no such type")
}
