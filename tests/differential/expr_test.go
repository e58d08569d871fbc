package differential

import (
	"fmt"
	"strings"
)

// leaf is a column of the type, or a literal where there is none.
func (g *gen) leaf(sc *scope, t sqlType) string {
	var own, outer []string
	for s := sc; s != nil; s = s.outer {
		for _, f := range s.fields {
			if f.typ != t {
				continue
			}
			if s == sc {
				own = append(own, f.text)
			} else {
				outer = append(outer, f.text)
			}
		}
	}
	switch {
	case len(own) > 0 && (len(outer) == 0 || g.chance(75)) && g.chance(90):
		return own[g.n(len(own))]
	case len(outer) > 0 && g.chance(80):
		return outer[g.n(len(outer))]
	case g.chance(8):
		return "NULL::" + bareTypeNames[t]
	}
	return g.literal(t)
}

// expr is an expression of a type.
func (g *gen) expr(sc *scope, t sqlType, depth int) string {
	g.size++
	if g.size > 120 || depth <= 0 || g.chance(45) {
		return g.leaf(sc, t)
	}
	sub := func(t sqlType) string { return g.expr(sc, t, depth-1) }
	switch g.n(10) {
	case 0:
		return "CASE WHEN " + g.cond(sc, depth-1) + " THEN " + sub(t) + " ELSE " + sub(t) + " END"
	case 1:
		return "coalesce(" + sub(t) + ", " + sub(t) + ")"
	case 2:
		if t != typFloat && t != typArray {
			return "nullif(" + sub(t) + ", " + sub(t) + ")"
		}
	case 3:
		if !g.noSub {
			return g.scalarSub(sc, t, depth)
		}
	case 4:
		if t != typBool && t != typArray {
			return pick(g, "greatest", "least") + "(" + sub(t) + ", " + sub(t) + ")"
		}
	}
	switch t {
	case typInt:
		return pick(g,
			"("+sub(typInt)+pick(g, " + ", " - ", " * ")+g.leaf(sc, typInt)+")",
			"abs("+sub(typInt)+")", "length("+sub(typText)+")", "("+sub(typInt)+" % 3)",
			"(-"+g.leaf(sc, typInt)+")", "("+sub(typArray)+")[1]", "cardinality("+sub(typArray)+")")
	case typBig:
		return pick(g, "("+sub(typBig)+" + "+g.leaf(sc, typInt)+")", sub(typInt)+"::bigint", "abs("+sub(typBig)+")")
	case typText:
		return pick(g, "("+sub(typText)+" || "+sub(typText)+")", "upper("+sub(typText)+")", "lower("+sub(typText)+")",
			"substr("+sub(typText)+", 2)", sub(typInt)+"::text", sub(typVarchar)+"::text")
	case typVarchar:
		return sub(typText) + "::varchar"
	case typNumeric:
		return pick(g, "("+sub(typNumeric)+" + "+sub(typNumeric)+")", "("+sub(typNumeric)+" * "+g.leaf(sc, typInt)+")", "round("+sub(typNumeric)+", 1)")
	case typBool:
		return "(" + g.cond(sc, depth) + ")"
	case typDate:
		return "(" + sub(typDate) + " + " + g.leaf(sc, typInt) + ")"
	case typFloat:
		return pick(g, "("+sub(typFloat)+" * 2)", sub(typInt)+"::float8")
	case typArray:
		return pick(g, "ARRAY["+sub(typInt)+", "+sub(typInt)+"]", "("+sub(typArray)+" || "+sub(typInt)+")")
	}
	return g.leaf(sc, t)
}

// scalarSub is a sub-select that gives at most one value.
func (g *gen) scalarSub(sc *scope, t sqlType, depth int) string {
	if t == typArray {
		return "ARRAY(" + g.selectOf([]sqlType{typInt}, sc, depth-1, false) + " ORDER BY 1)"
	}
	switch t {
	case typInt, typBig, typNumeric, typText, typDate:
		if g.chance(60) {
			from, fields := g.from(sc, depth-1)
			if fields != nil {
				in := &scope{fields: fields, outer: sc}
				where := ""
				if g.chance(70) {
					where = " WHERE " + g.cond(in, depth-1)
				}
				// An aggregate of outer columns alone would belong to the outer query.
				return "(SELECT " + g.aggregate(&scope{fields: fields}, t) + from + where + ")"
			}
		}
	}
	text := g.selectOf([]sqlType{t}, sc, depth-1, false)
	if strings.Contains(text, "DISTINCT ON") {
		return g.leaf(sc, t)
	}
	return "(" + text + " ORDER BY 1" + pick(g, "", " DESC") + " LIMIT 1)"
}

// cond is a condition.
func (g *gen) cond(sc *scope, depth int) string {
	g.size++
	if depth > 0 && g.chance(35) {
		switch g.n(4) {
		case 0:
			return "(" + g.cond(sc, depth-1) + " OR " + g.cond(sc, depth-1) + ")"
		case 1:
			return "NOT (" + g.cond(sc, depth-1) + ")"
		default:
			return g.cond(sc, depth-1) + " AND " + g.cond(sc, depth-1)
		}
	}
	if depth > 0 && !g.noSub && g.size < 100 && g.chance(30) {
		return g.subCond(sc, depth)
	}
	d := depth - 1
	switch g.n(16) {
	case 0:
		return g.leaf(sc, g.typ()) + pick(g, " IS NULL", " IS NOT NULL")
	case 1:
		return g.leaf(sc, typInt) + pick(g, " IN (", " NOT IN (") + g.literal(typInt) + ", " + g.literal(typInt) + ", " + g.leaf(sc, typInt) + ")"
	case 2:
		return g.leaf(sc, typInt) + " BETWEEN " + g.literal(typInt) + " AND " + g.expr(sc, typInt, d)
	case 3:
		t := pick(g, typInt, typText, typDate)
		return g.expr(sc, t, d) + " IS " + pick(g, "", "NOT ") + "DISTINCT FROM " + g.expr(sc, t, d)
	case 4:
		return "(" + g.leaf(sc, typInt) + ", " + g.leaf(sc, typText) + ")" + pick(g, " = ", " < ", " >= ", " <> ") +
			"(" + g.expr(sc, typInt, d) + ", " + g.leaf(sc, typText) + ")"
	case 5:
		return g.leaf(sc, typInt) + pick(g, " = ANY (", " <> ALL (", " < ANY (", " >= ALL (") + pick(g, "ARRAY[1, 2, "+g.leaf(sc, typInt)+"]", g.leaf(sc, typArray)) + ")"
	case 6:
		return g.leaf(sc, typText) + pick(g, " LIKE ", " NOT LIKE ") + pick(g, "'a%'", "'%b'", "'_'", "'%'")
	case 7:
		return "(" + g.cond(sc, 0) + ")" + pick(g, " IS TRUE", " IS NOT TRUE", " IS FALSE", " IS UNKNOWN", " IS NOT UNKNOWN")
	case 8:
		return g.leaf(sc, typBool)
	case 9:
		if g.chance(30) {
			return pick(g, "true", "false", "1 = 2", "NULL::bool")
		}
	case 10:
		return "lower(" + g.leaf(sc, typText) + ") = " + g.leaf(sc, typText)
	}
	t := pick(g, typInt, typInt, typInt, typBig, typText, typNumeric, typDate, typVarchar, typFloat)
	u := t
	if number(t) && g.chance(30) {
		u = pick(g, typInt, typBig, typNumeric, typFloat)
	}
	op := pick(g, "=", "=", "=", "<", ">", "<=", ">=", "<>")
	if g.chance(50) {
		return g.leaf(sc, t) + " " + op + " " + g.leaf(sc, u)
	}
	return g.expr(sc, t, d) + " " + op + " " + g.expr(sc, u, d)
}

// subCond is a condition with a sub-select.
func (g *gen) subCond(sc *scope, depth int) string {
	switch g.n(5) {
	case 0, 1:
		from, fields := g.from(sc, depth-1)
		in := &scope{fields: fields, outer: sc}
		where := " WHERE " + g.cond(in, depth-1)
		if fields != nil && g.chance(60) {
			t := pick(g, typInt, typText, typInt)
			where += " AND " + g.leaf(&scope{fields: fields}, t) + " = " + g.leaf(sc, t)
		}
		return pick(g, "", "NOT ") + "EXISTS (SELECT " + pick(g, "1", "*", g.leaf(in, typInt)) + from + where + ")"
	case 2:
		t := pick(g, typInt, typText, typBig, typVarchar)
		return g.leaf(sc, t) + pick(g, " IN ", " NOT IN ", " IN ") + "(" + g.selectOf([]sqlType{t}, sc, depth-1, false) + ")"
	case 3:
		if g.chance(50) {
			return "(" + g.leaf(sc, typInt) + ", " + g.leaf(sc, typText) + ")" + pick(g, " IN ", " NOT IN ") +
				"(" + g.selectOf([]sqlType{typInt, typText}, sc, depth-1, false) + ")"
		}
		return "(" + g.leaf(sc, typInt) + ", " + g.leaf(sc, typInt) + ") IN (" + g.selectOf([]sqlType{typInt, typInt}, nil, depth-1, false) + ")"
	}
	return g.leaf(sc, typInt) + pick(g, " = ANY ", " > ALL ", " < ANY ", " <> ALL ") + "(" + g.selectOf([]sqlType{typInt}, sc, depth-1, false) + ")"
}

// change makes an INSERT, UPDATE or DELETE, and what to look at afterwards.
func (g *gen) change() (text string, check []string) {
	depth := 1 + g.n(2)
	with := ""
	if g.chance(15) {
		with = g.with(1)
	}
	t := &tables[g.n(len(tables)-1)]
	sc := &scope{fields: (&source{"tt", t.fields()}).qualified()}
	check = []string{"SELECT * FROM " + t.name + g.orderAll(len(t.cols))}
	returning := func(sc *scope) string {
		if g.chance(50) {
			return ""
		}
		return " RETURNING " + pick(g, "tt.*", g.leaf(sc, typInt)+" AS r1, "+g.expr(sc, typText, 1))
	}
	switch g.n(3) {
	case 0:
		return with + g.insert(t, depth, returning), check
	case 1:
		var set []string
		for _, i := range g.rng.Perm(len(t.cols))[:1+g.n(2)] {
			c := &t.cols[i]
			value := g.expr(sc, c.typ, depth)
			if c.unique {
				value = pick(g, fmt.Sprintf("%s + 1000", c.name), fmt.Sprintf("%s + 1", c.name))
			}
			if c.typ == typVarchar {
				value = "left(" + value + ", 6)"
			}
			set = append(set, c.name+" = "+value)
		}
		from, where := "", ""
		if g.chance(40) {
			f, s := g.fromItem(nil, nil, depth)
			from = " FROM " + f
			both := &scope{fields: append([]field(nil), sc.fields...)}
			for _, x := range s {
				both.fields = append(both.fields, x.qualified()...)
			}
			where = " WHERE " + g.cond(both, depth)
			if g.chance(70) {
				where += " AND " + g.joinCond(sc.fields, both.fields[len(sc.fields):], nil, 1, "JOIN")
			}
		} else if g.chance(80) {
			where = " WHERE " + g.cond(sc, depth)
		}
		return with + "UPDATE " + t.name + " AS tt SET " + strings.Join(set, ", ") + from + where + returning(sc), check
	}
	using, where := "", ""
	if g.chance(40) {
		f, s := g.fromItem(nil, nil, depth)
		using = " USING " + f
		both := &scope{fields: append([]field(nil), sc.fields...)}
		for _, x := range s {
			both.fields = append(both.fields, x.qualified()...)
		}
		where = " WHERE " + g.cond(both, depth)
	} else if g.chance(80) {
		where = " WHERE " + g.cond(sc, depth)
	}
	ret := ""
	if g.chance(50) {
		ret = " RETURNING " + g.leaf(sc, typInt) + " AS r1, " + g.expr(sc, typText, 1)
	}
	return with + "DELETE FROM " + t.name + " AS tt" + using + where + ret, check
}

func (g *gen) insert(t *table, depth int, returning func(*scope) string) string {
	sc := &scope{fields: (&source{"tt", t.fields()}).qualified()}
	var names []string
	var types []sqlType
	for _, c := range t.cols {
		if c.unique || g.chance(70) {
			names = append(names, c.name)
			types = append(types, c.typ)
		}
	}
	var src string
	if g.chance(40) {
		src = g.selectOf(types, nil, depth, false)
		if strings.Contains(src, "DISTINCT ON") {
			src = "SELECT " + g.list(&scope{}, types, 0)
		} else {
			src += g.orderAll(len(types))
		}
	} else {
		var rows []string
		for range 1 + g.n(3) {
			vals := make([]string, len(types))
			for i, typ := range types {
				vals[i] = g.expr(&scope{}, typ, 1)
				if g.chance(10) && !t.cols[i].unique {
					vals[i] = "DEFAULT"
				}
			}
			rows = append(rows, "("+strings.Join(vals, ", ")+")")
		}
		src = "VALUES " + strings.Join(rows, ", ")
	}
	text := "INSERT INTO " + t.name + " AS tt (" + strings.Join(names, ", ") + ") " + src
	if len(t.key) > 0 && g.chance(60) {
		target := " ON CONFLICT (" + strings.Join(t.key, ", ") + ")"
		last := t.cols[len(t.cols)-1]
		text += pick(g, " ON CONFLICT DO NOTHING", target+" DO NOTHING",
			target+" DO UPDATE SET "+last.name+" = excluded."+last.name,
			target+" DO UPDATE SET "+last.name+" = "+g.expr(sc, last.typ, 1)+" WHERE "+g.cond(sc, 0))
	}
	return text + returning(sc)
}
