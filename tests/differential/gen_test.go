package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// statement is a generated statement. Its text has marks where literals stand.
type statement struct {
	text    string
	lits    []literal
	ordered bool // ORDER BY settles the order of rows
	// check, unless empty, is run after a change, before it is rolled back.
	check []string
}

// literal is a constant of a statement: two values, and its type as a parameter.
type literal struct {
	values [2]string
	typ    string
}

// render puts the literals of one set, or parameters, in their places.
func (s *statement) render(set int) string {
	return s.replace(func(i int) string { return s.lits[i].values[set] })
}

// parameterized has $n for literals and returns their values, unquoted.
func (s *statement) parameterized() (text string, values []string) {
	number := make(map[int]int)
	text = s.replace(func(i int) string {
		if number[i] == 0 {
			values = append(values, unquote(s.lits[i].values[0]))
			number[i] = len(values)
		}
		return fmt.Sprintf("$%d::%s", number[i], s.lits[i].typ)
	})
	return text, values
}

func unquote(s string) string {
	if strings.HasPrefix(s, "'") {
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	return s
}

func (s *statement) replace(f func(int) string) string {
	var b strings.Builder
	rest := s.text
	for {
		i := strings.IndexByte(rest, 1)
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(rest[:i])
		j := strings.IndexByte(rest, 2)
		n := 0
		fmt.Sscan(rest[i+1:j], &n)
		b.WriteString(f(n))
		rest = rest[j+1:]
	}
}

// field is an expression, as text, that may be used where its scope is visible.
type field struct {
	text string
	typ  sqlType
}

// source is what one item of FROM is called and has.
type source struct {
	alias  string
	fields []field // by bare name
}

// scope is what expressions may refer to.
type scope struct {
	fields []field
	outer  *scope
}

type cte struct {
	name   string
	fields []field
}

// gen makes one statement.
type gen struct {
	rng     *rand.Rand
	lits    []literal
	aliases int
	ctes    []cte
	// noSub keeps sub-selects out, where they would be errors or take too long.
	noSub bool
	size  int
}

func newGen(seed uint64) *gen { return &gen{rng: rand.New(rand.NewPCG(seed, 99))} }

func (g *gen) n(k int) int       { return g.rng.IntN(k) }
func (g *gen) chance(p int) bool { return g.rng.IntN(100) < p }

func pick[T any](g *gen, list ...T) T { return list[g.n(len(list))] }

func (g *gen) alias() string {
	g.aliases++
	return fmt.Sprintf("q%d", g.aliases)
}

func (g *gen) mark(l literal) string {
	g.lits = append(g.lits, l)
	return fmt.Sprintf("\x01%d\x02", len(g.lits)-1)
}

// literal is a constant of a type that may change between runs.
func (g *gen) literal(t sqlType) string {
	a, b := literalOf(t, g.n(10)), literalOf(t, g.n(10))
	switch t {
	case typBool:
		return a
	case typText:
		if g.chance(50) {
			return g.mark(literal{[2]string{a, b}, "text"}) + "::text"
		}
		return a + "::text"
	case typInt:
		return g.mark(literal{[2]string{a, b}, "int"})
	case typBig:
		return g.mark(literal{[2]string{a, b}, "int8"}) + "::int8"
	case typNumeric:
		if strings.HasPrefix(a, "-") || strings.HasPrefix(b, "-") || !strings.Contains(a, ".") || !strings.Contains(b, ".") {
			return "(" + a + ")::numeric"
		}
		return g.mark(literal{[2]string{a, b}, "numeric"})
	case typFloat:
		return "(" + a + ")::float8"
	default:
		return g.mark(literal{[2]string{a, b}, bareTypeNames[t]}) + "::" + bareTypeNames[t]
	}
}

// statement makes a whole statement.
func (g *gen) statement() *statement {
	s := &statement{}
	if g.chance(25) {
		s.text, s.check = g.change()
	} else {
		s.text, s.ordered = g.query()
	}
	s.lits = g.lits
	return s
}

// query makes a top-level query.
func (g *gen) query() (text string, ordered bool) {
	depth := 1 + g.n(3)
	with := ""
	if g.chance(20) {
		with = g.with(depth - 1)
	}
	var types []sqlType
	for range 1 + g.n(4) {
		types = append(types, g.typ())
	}
	if g.chance(8) {
		return with + g.extremes(), false
	}
	text = with + g.selectOf(types, nil, depth, false)
	if g.chance(40) {
		text, ordered = text+g.orderAll(len(types)), true
		if g.chance(40) {
			text += g.limit()
		}
	}
	if !ordered && g.chance(10) {
		text += " OFFSET 0"
	}
	return text, ordered
}

// extremes makes min() and max() of a table alone, which indexes can answer.
func (g *gen) extremes() string {
	t := &tables[g.n(len(tables))]
	sc := &scope{fields: (&source{"tt", t.fields()}).qualified()}
	var list []string
	for range 1 + g.n(3) {
		f := sc.fields[g.n(len(sc.fields))]
		for f.typ == typBool {
			f = sc.fields[0]
		}
		list = append(list, pick(g, "min(", "max(")+f.text+")")
	}
	where := ""
	if g.chance(60) {
		where = " WHERE " + g.cond(sc, g.n(2))
	}
	if g.chance(20) {
		where += " HAVING " + list[0] + pick(g, " IS NOT NULL", " IS NULL")
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + t.name + " AS tt" + where
}

func (g *gen) typ() sqlType {
	return pick(g, typInt, typInt, typInt, typText, typText, typBig, typNumeric, typBool, typDate, typVarchar, typFloat, typArray)
}

// orderAll orders by every column.
func (g *gen) orderAll(n int) string {
	perm := g.rng.Perm(n)
	keys := make([]string, n)
	for i, c := range perm {
		keys[i] = fmt.Sprint(c+1) + pick(g, "", "", " DESC", " NULLS FIRST", " DESC NULLS LAST")
	}
	return " ORDER BY " + strings.Join(keys, ", ")
}

func (g *gen) limit() string {
	l := fmt.Sprintf(" LIMIT %s", g.mark(literal{[2]string{fmt.Sprint(g.n(12)), fmt.Sprint(1 + g.n(30))}, "int8"}))
	if g.chance(40) {
		l += fmt.Sprintf(" OFFSET %s", g.mark(literal{[2]string{fmt.Sprint(g.n(6)), fmt.Sprint(g.n(9))}, "int8"}))
	}
	return l
}

// with makes WITH queries and makes them known.
func (g *gen) with(depth int) string {
	var parts []string
	recursive := false
	for range 1 + g.n(2) {
		name := fmt.Sprintf("w%d", len(g.ctes)+1)
		if g.chance(30) {
			recursive = true
			a := g.literal(typInt)
			bound := 3 + g.n(6)
			text := pick(g,
				fmt.Sprintf("%s(n, m) AS (SELECT %s, 0 UNION ALL SELECT n + 1, m + n FROM %s WHERE n < %d)", name, a, name, bound+5),
				fmt.Sprintf("%s(n, m) AS (SELECT a, b FROM t1 WHERE a < %d UNION SELECT t2.a, n FROM %s JOIN t2 ON t2.id = n + 1)", name, bound, name),
				fmt.Sprintf("%s(n, m) AS (VALUES (1, %s) UNION SELECT (n * 2) %% 7, n FROM %s)", name, a, name),
			)
			parts = append(parts, text)
			g.ctes = append(g.ctes, cte{name, []field{{"n", typInt}, {"m", typInt}}})
			continue
		}
		var types []sqlType
		var fields []field
		for i := range 1 + g.n(3) {
			types = append(types, g.typ())
			fields = append(fields, field{fmt.Sprintf("k%d", i+1), types[i]})
		}
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.text
		}
		parts = append(parts, fmt.Sprintf("%s(%s) AS %s(%s)", name, strings.Join(names, ", "),
			pick(g, "", "", "MATERIALIZED ", "NOT MATERIALIZED "), g.selectOf(types, nil, depth, false)))
		g.ctes = append(g.ctes, cte{name, fields})
	}
	if recursive {
		return "WITH RECURSIVE " + strings.Join(parts, ", ") + " "
	}
	return "WITH " + strings.Join(parts, ", ") + " "
}

// selectOf makes a query that returns columns of these types, without ORDER BY.
func (g *gen) selectOf(types []sqlType, outer *scope, depth int, inSetOp bool) string {
	g.size++
	switch {
	case depth > 0 && !hasArray(types) && g.chance(15):
		op := pick(g, "UNION", "UNION ALL", "INTERSECT", "EXCEPT", "UNION ALL", "INTERSECT ALL", "EXCEPT ALL")
		l, r := g.selectOf(g.armTypes(types), outer, depth-1, true), g.selectOf(g.armTypes(types), outer, depth-1, true)
		return "(" + l + ") " + op + " (" + r + ")"
	case g.chance(4):
		var rows []string
		for range 1 + g.n(3) {
			vals := make([]string, len(types))
			for i, t := range types {
				vals[i] = g.expr(&scope{outer: outer}, t, 1)
			}
			rows = append(rows, "("+strings.Join(vals, ", ")+")")
		}
		return "VALUES " + strings.Join(rows, ", ")
	}
	return g.plainSelect(types, outer, depth)
}

// armTypes are types a set operation brings to the given ones. One arm in two keeps them.
func (g *gen) armTypes(types []sqlType) []sqlType {
	out := slices.Clone(types)
	for i, t := range out {
		switch {
		case g.chance(80):
		case t == typNumeric:
			out[i] = pick(g, typInt, typBig)
		case t == typBig:
			out[i] = typInt
		case t == typText:
			out[i] = typVarchar
		}
	}
	return out
}

func hasArray(types []sqlType) bool {
	for _, t := range types {
		if t == typArray {
			return true
		}
	}
	return false
}

func (g *gen) plainSelect(types []sqlType, outer *scope, depth int) string {
	from, fields := g.from(outer, depth)
	sc := &scope{fields: fields, outer: outer}
	where := ""
	if len(fields) > 0 && g.chance(70) || g.chance(3) {
		where = " WHERE " + g.cond(sc, depth)
	}
	switch {
	case g.chance(20):
		return g.grouped(types, sc, depth, from, where)
	case g.chance(8) && depth < 3:
		return g.windowed(types, sc, depth, from, where)
	}
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = g.expr(sc, t, depth)
		if g.chance(3) && t == typInt {
			list[i] = fmt.Sprintf("generate_series(1, %s)", pick(g, "2", "3", "0"))
		}
		if g.chance(40) {
			list[i] += fmt.Sprintf(" AS o%d", i+1)
		}
	}
	distinct := ""
	tail := ""
	switch {
	case g.chance(10):
		distinct = "DISTINCT "
	case g.chance(5) && len(fields) > 0:
		distinct, tail = g.distinctOn(fields)
	}
	return "SELECT " + distinct + strings.Join(list, ", ") + from + where + tail
}

// distinctOn keeps one row a group; a total order settles which.
func (g *gen) distinctOn(fields []field) (distinct, order string) {
	perm := g.rng.Perm(len(fields))
	n := 1 + g.n(min(2, len(fields)))
	keys := make([]string, len(fields))
	for i, k := range perm {
		keys[i] = fields[k].text + pick(g, "", "", " DESC", " NULLS FIRST")
	}
	on := make([]string, n)
	for i := range n {
		on[i] = fields[perm[i]].text
	}
	return "DISTINCT ON (" + strings.Join(on, ", ") + ") ", " ORDER BY " + strings.Join(keys, ", ")
}

// grouped makes an aggregation.
func (g *gen) grouped(types []sqlType, sc *scope, depth int, from, where string) string {
	var keys []field
	for range g.n(3) {
		if len(sc.fields) == 0 {
			break
		}
		f := sc.fields[g.n(len(sc.fields))]
		if g.chance(20) {
			save := g.noSub
			g.noSub = true
			f.typ = g.typ()
			n := len(g.lits)
			if f.text = g.expr(&scope{fields: sc.fields}, f.typ, 1); len(g.lits) > n {
				f = sc.fields[g.n(len(sc.fields))] // a parameter would be another expression each time
			}
			g.noSub = save
		}
		keys = append(keys, f)
	}
	var sets string
	if len(keys) > 0 {
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.text
			if !strings.Contains(names[i], ".") || strings.ContainsAny(names[i], " ()'") {
				names[i] = "(" + names[i] + ")"
			}
		}
		all := strings.Join(names, ", ")
		sets = " GROUP BY " + all
		if g.chance(15) {
			sets = " GROUP BY " + pick(g,
				"ROLLUP ("+all+")", "CUBE ("+all+")", "GROUPING SETS ((), ("+all+"))",
				"GROUPING SETS (("+names[0]+"), ("+all+"))")
		}
	}
	inner := &scope{fields: sc.fields, outer: sc.outer}
	above := &scope{fields: keys, outer: sc.outer}
	for range 1 + g.n(3) {
		t := pick(g, typInt, typBig, typBig, typNumeric, typText, typBool, typDate, typArray)
		above.fields = append(above.fields, field{g.aggregate(inner, t), t})
	}
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = g.expr(above, t, min(depth, 1))
	}
	having := ""
	if g.chance(30) {
		having = " HAVING " + g.cond(above, min(depth, 1))
	}
	return "SELECT " + strings.Join(list, ", ") + from + where + sets + having
}

// aggregate makes an aggregate call of a type, over the fields of sc.
func (g *gen) aggregate(sc *scope, t sqlType) string {
	save := g.noSub
	g.noSub = true
	defer func() { g.noSub = save }()
	arg := func(t sqlType) string { return g.expr(sc, t, 1) }
	distinct := pick(g, "", "", "DISTINCT ")
	var call string
	switch t {
	case typInt:
		call = pick(g, "min", "max") + "(" + arg(typInt) + ")"
	case typBig:
		call = pick(g, "count(*)", "count("+distinct+arg(g.typ())+")", "sum("+distinct+arg(typInt)+")")
	case typNumeric:
		call = pick(g, "sum("+distinct+arg(typBig)+")", "max("+arg(typNumeric)+")", "avg("+arg(typInt)+")", "sum("+arg(typNumeric)+")")
	case typText:
		x := arg(typText)
		call = pick(g, "min("+x+")", "string_agg("+x+", ',' ORDER BY "+x+pick(g, "", " DESC")+")",
			"string_agg(DISTINCT "+x+", '-')", "max("+x+")")
	case typBool:
		call = pick(g, "bool_and", "bool_or", "every") + "(" + arg(typBool) + ")"
	case typDate:
		call = pick(g, "min", "max") + "(" + arg(typDate) + ")"
	case typArray:
		x := arg(typInt)
		call = "array_agg(" + distinct + x + " ORDER BY " + x + pick(g, "", " DESC", " NULLS FIRST") + ")"
	default:
		panic("no aggregate of this type")
	}
	if g.chance(15) {
		call += " FILTER (WHERE " + g.cond(sc, 0) + ")"
	}
	return call
}

// windowed makes a query with window functions.
func (g *gen) windowed(types []sqlType, sc *scope, depth int, from, where string) string {
	if len(sc.fields) == 0 {
		return "SELECT " + g.list(sc, types, depth) + from + where
	}
	above := &scope{fields: sc.fields, outer: sc.outer}
	for range 1 + g.n(2) {
		above.fields = append(above.fields, g.window(sc))
	}
	save := g.noSub
	g.noSub = true
	defer func() { g.noSub = save }()
	// The calls stand last and are preferred.
	list := make([]string, len(types))
	calls := above.fields[len(sc.fields):]
	for i, t := range types {
		list[i] = g.expr(above, t, 1)
		for _, c := range calls {
			if c.typ == t && g.chance(70) {
				list[i] = c.text
			}
		}
	}
	return "SELECT " + strings.Join(list, ", ") + from + where
}

func (g *gen) list(sc *scope, types []sqlType, depth int) string {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = g.expr(sc, t, depth)
	}
	return strings.Join(list, ", ")
}

func (g *gen) window(sc *scope) field {
	perm := g.rng.Perm(len(sc.fields))
	total := make([]string, len(perm))
	for i, k := range perm {
		total[i] = sc.fields[k].text + pick(g, "", "", " DESC", " NULLS FIRST")
	}
	one := func() field { return sc.fields[g.n(len(sc.fields))] }
	partition := ""
	if g.chance(60) {
		partition = "PARTITION BY " + one().text + " "
	}
	order := "ORDER BY " + strings.Join(total, ", ")
	frame := pick(g, "", "", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS UNBOUNDED PRECEDING",
		" ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
		" GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW", " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING EXCLUDE CURRENT ROW",
		" RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES", " GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE GROUP")
	x := one()
	over := " OVER (" + partition + order + frame + ")"
	switch g.n(8) {
	case 0:
		return field{"row_number()" + over, typBig}
	case 1:
		return field{pick(g, "rank()", "dense_rank()") + " OVER (" + partition + "ORDER BY " + one().text + pick(g, "", " DESC") + ")", typBig}
	case 2:
		return field{pick(g, "lag", "lead") + "(" + x.text + pick(g, "", ", 2", ", 0") + ")" + over, x.typ}
	case 3:
		return field{pick(g, "first_value", "last_value") + "(" + x.text + ")" + over, x.typ}
	case 4:
		return field{"nth_value(" + x.text + ", 2)" + over, x.typ}
	case 5:
		return field{"count(" + x.text + ")" + over, typBig}
	case 6:
		return field{"ntile(3)" + over, typInt}
	}
	return field{"sum(" + g.leaf(sc, typInt) + ")" + pick(g, over, " OVER ("+partition+"ORDER BY "+one().text+")", " OVER ("+partition+")"), typBig}
}

// from makes a FROM clause and tells what it makes visible.
func (g *gen) from(outer *scope, depth int) (text string, fields []field) {
	n := pick(g, 1, 1, 1, 2, 2, 3)
	if depth <= 0 {
		n = 1
	}
	if g.chance(3) {
		return "", nil
	}
	var parts []string
	for range n {
		item, srcs := g.fromItem(outer, fields, depth)
		parts = append(parts, item)
		for _, s := range srcs {
			fields = append(fields, s.qualified()...)
		}
	}
	return " FROM " + strings.Join(parts, ", "), fields
}

func (s *source) qualified() []field {
	out := make([]field, len(s.fields))
	for i, f := range s.fields {
		out[i] = field{s.alias + "." + f.text, f.typ}
	}
	return out
}

// fromItem makes an item of FROM; siblings are what LATERAL may refer to.
func (g *gen) fromItem(outer *scope, siblings []field, depth int) (string, []source) {
	if depth > 0 && g.chance(45) {
		return g.join(outer, siblings, depth)
	}
	text, s := g.simpleItem(outer, siblings, depth)
	return text, []source{s}
}

func (g *gen) simpleItem(outer *scope, siblings []field, depth int) (string, source) {
	alias := g.alias()
	r := g.n(100)
	switch {
	case r < 12 && depth > 0:
		return g.subqueryItem(outer, alias, depth)
	case r < 18 && depth > 0 && len(siblings) > 0:
		text, s := g.subqueryItem(&scope{fields: siblings, outer: outer}, alias, depth)
		return "LATERAL " + text, s
	case r < 22:
		hi := pick(g, "3", "5", "0")
		if len(siblings) > 0 && g.chance(50) {
			hi = g.leaf(&scope{fields: siblings}, typInt)
		}
		return fmt.Sprintf("generate_series(1, %s) AS %s(n)", hi, alias), source{alias, []field{{"n", typInt}}}
	case r < 25:
		return fmt.Sprintf("(VALUES (%s, 'a'::text), (2, NULL), (NULL, 'abc')) AS %s(n, w)", g.literal(typInt), alias),
			source{alias, []field{{"n", typInt}, {"w", typText}}}
	case r < 27:
		return fmt.Sprintf("unnest(ARRAY[1,2,%s], ARRAY['a','b']) WITH ORDINALITY AS %s(n, w, o)", g.literal(typInt), alias),
			source{alias, []field{{"n", typInt}, {"w", typText}, {"o", typBig}}}
	case r < 40 && len(g.ctes) > 0:
		c := g.ctes[g.n(len(g.ctes))]
		return c.name + " AS " + alias, source{alias, c.fields}
	}
	t := &tables[g.n(len(tables))]
	if t.name == "t0" && g.chance(70) || t.name == "t4" && depth == 0 && g.chance(50) {
		t = &tables[0]
	}
	return t.name + " AS " + alias, source{alias, t.fields()}
}

func (t *table) fields() []field {
	out := make([]field, len(t.cols))
	for i, c := range t.cols {
		out[i] = field{c.name, c.typ}
	}
	return out
}

func (g *gen) subqueryItem(outer *scope, alias string, depth int) (string, source) {
	var types []sqlType
	s := source{alias: alias}
	var names []string
	for i := range 1 + g.n(3) {
		types = append(types, g.typ())
		names = append(names, fmt.Sprintf("c%d", i+1))
		s.fields = append(s.fields, field{names[i], types[i]})
	}
	text := g.selectOf(types, outer, depth-1, false)
	if g.chance(15) {
		text += g.orderAll(len(types)) + g.limit()
		if strings.Contains(text, "DISTINCT ON") {
			text = g.selectOf(types, outer, 0, false)
		}
	}
	return "(" + text + ") AS " + alias + "(" + strings.Join(names, ", ") + ")", s
}

// join makes a join tree.
func (g *gen) join(outer *scope, siblings []field, depth int) (string, []source) {
	left, ls := g.fromItem(outer, siblings, depth-1)
	var visible []field
	for _, s := range ls {
		visible = append(visible, s.qualified()...)
	}
	kind := pick(g, "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")
	lateral := append(append([]field(nil), siblings...), visible...)
	if kind == "RIGHT JOIN" || kind == "FULL JOIN" {
		lateral = nil
	}
	var right string
	var rs []source
	if g.chance(25) && depth > 1 {
		right, rs = g.join(outer, nil, depth-1)
		right = "(" + right + ")"
	} else {
		var s source
		right, s = g.simpleItem(outer, lateral, depth-1)
		rs = []source{s}
	}
	all := append(append([]source(nil), ls...), rs...)
	text := left + " " + kind + " " + right
	if kind == "CROSS JOIN" {
		return text, all
	}
	if name, ok := g.usingName(ls, rs); ok && g.chance(25) {
		return text + " USING (" + name + ")", all
	}
	var vr []field
	for _, s := range rs {
		vr = append(vr, s.qualified()...)
	}
	return text + " ON " + g.joinCond(visible, vr, outer, depth, kind), all
}

// usingName is a column name that either side has exactly once, with types that compare.
func (g *gen) usingName(ls, rs []source) (string, bool) {
	for _, name := range []string{"a", "c", "b", "id", "n"} {
		l, okL := only(ls, name)
		r, okR := only(rs, name)
		if okL && okR && (l == r || number(l) && number(r)) {
			return name, true
		}
	}
	return "", false
}

func number(t sqlType) bool {
	return t == typInt || t == typBig || t == typNumeric || t == typFloat
}

func only(list []source, name string) (t sqlType, ok bool) {
	n := 0
	for _, s := range list {
		for _, f := range s.fields {
			if f.text == name {
				n++
				t = f.typ
			}
		}
	}
	return t, n == 1
}

func (g *gen) joinCond(l, r []field, outer *scope, depth int, kind string) string {
	var parts []string
	for range 1 + g.n(2) {
		a := l[g.n(len(l))]
		for range 8 {
			b := r[g.n(len(r))]
			if a.typ == b.typ || number(a.typ) && number(b.typ) {
				op := pick(g, "=", "=", "=", "=", "=", "<", ">=", "<>")
				if kind == "FULL JOIN" {
					op = "="
				}
				parts = append(parts, a.text+" "+op+" "+b.text)
				break
			}
			a = l[g.n(len(l))]
		}
	}
	if len(parts) == 0 {
		return "true"
	}
	if kind != "FULL JOIN" && g.chance(30) {
		sc := &scope{fields: append(append([]field(nil), l...), r...), outer: outer}
		parts = append(parts, g.cond(sc, min(depth-1, 1)))
	}
	return strings.Join(parts, " AND ")
}
