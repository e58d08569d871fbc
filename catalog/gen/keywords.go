package main

// keywords writes PostgreSQL 15's key words: the parser's own list is a later version's.
func (g *generator) keywords() {
	f := newFile("builtin_keyword.go")
	f.printf("// builtinKeywords are sorted.\nvar builtinKeywords = [...]Keyword{\n")
	for _, r := range g.query(`SELECT word, catcode, barelabel FROM pg_get_keywords() ORDER BY word COLLATE "C"`) {
		f.printf("{%q, %q, %v},\n", r.s(0), rune(r.s(1)[0]), r.s(2) == "t")
	}
	f.printf("}\n")
	f.write()
}
