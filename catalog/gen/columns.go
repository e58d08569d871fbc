package main

import (
	"log"
	"strconv"
	"strings"
)

// hiddenColumns follow the columns of PostgreSQL in stored rows.
var hiddenColumns = map[string]struct{ name, typ, why string }{
	"pg_class":      {"ClassFileNumber", "20", "all 64 bits of the file number, of which relfilenode shows 32."},
	"pg_tablespace": {"TablespaceLocation", "25", "where it is, which PostgreSQL has as a symbolic link."},
}

// extraIndexes are keys that PostgreSQL does without.
var extraIndexes = map[string]string{
	"pg_constraint": `{name: "by referenced relation", cols: []uint8{ConstraintConfrelid}},` + "\n",
}

// columns writes the OIDs of the catalogs, the positions of their columns, and how
// they are keyed, after PostgreSQL's own indexes.
func (g *generator) columns() {
	f := newFile("columns_gen.go")
	rels := g.query(`SELECT oid, relname, relisshared FROM pg_class
		WHERE relkind = 'r' AND relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) ORDER BY oid`)
	f.printf("// OIDs of the catalogs.\nconst (\n")
	for _, r := range rels {
		f.printf("%s OID = %s\n", camel(r.s(1)), r.s(0))
	}
	f.printf(")\n\n")
	for _, r := range rels {
		prefix := camel(strings.TrimPrefix(r.s(1), "pg_"))
		f.printf("// Columns of %s.\nconst (\n", r.s(1))
		for i, a := range g.query("SELECT attname FROM pg_attribute WHERE attnum > 0 AND attrelid = " + r.s(0) + " ORDER BY attnum") {
			f.printf("%s%s", prefix, camel(a.s(0)))
			if i == 0 {
				f.printf(" = iota")
			}
			f.printf("\n")
		}
		if extra := hiddenColumns[r.s(1)]; extra.name != "" {
			f.printf("// %s is ours and hidden: %s\n%s\n", extra.name, extra.why, extra.name)
		}
		f.printf(")\n\n")
	}
	f.printf("// catalogDefs are sorted by OID.\nvar catalogDefs = [...]relDef{\n")
	for _, r := range rels {
		f.printf("{oid: %s, name: %q, shared: %v, cols: []OID{", r.s(0), r.s(1), r.s(2) == "t")
		for _, a := range g.query(`SELECT CASE WHEN typtype = 'd' THEN typbasetype ELSE atttypid END FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
			WHERE attnum > 0 AND attrelid = ` + r.s(0) + " ORDER BY attnum") {
			f.printf("%s, ", a.s(0))
		}
		if extra := hiddenColumns[r.s(1)]; extra.name != "" {
			f.printf("%s, ", extra.typ)
		}
		f.printf("}, indexes: []indexDef{\n")
		for _, x := range g.query(`SELECT pg_index.indexrelid, pg_index.indexrelid::regclass, indisprimary, indisunique, indkey FROM pg_index
			WHERE indrelid = ` + r.s(0) + " ORDER BY indisprimary DESC, pg_index.indexrelid") {
			f.printf("{oid: %s, name: %q", x.s(0), strings.TrimPrefix(x.s(1), "pg_catalog."))
			if x.s(2) == "t" {
				f.printf(", primary: true")
			}
			if x.s(3) == "t" {
				f.printf(", unique: true")
			}
			f.printf(", cols: []uint8{")
			for _, k := range strings.Fields(x.s(4)) {
				n, err := strconv.Atoi(k)
				if err != nil {
					log.Fatal(err)
				}
				f.printf("%d, ", n-1)
			}
			f.printf("}},\n")
		}
		f.printf("%s}},\n", extraIndexes[r.s(1)])
	}
	f.printf("}\n")
	f.write()
}
