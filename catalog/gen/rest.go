package main

import (
	"fmt"
	"strings"
)

// restQueries give the rows of the small catalogs; a missing one means all rows as they are.
var restRelations = []string{
	"pg_am", "pg_amop", "pg_amproc", "pg_auth_members", "pg_authid", "pg_collation", "pg_constraint", "pg_conversion",
	"pg_database", "pg_depend", "pg_extension", "pg_index", "pg_init_privs", "pg_language", "pg_namespace", "pg_opclass",
	"pg_opfamily", "pg_range", "pg_rewrite", "pg_tablespace", "pg_ts_config", "pg_ts_config_map", "pg_ts_dict",
	"pg_ts_parser", "pg_ts_template", "pg_description", "pg_shdescription", "sql_features", "sql_implementation_info", "sql_parts", "sql_sizing",
}

var restFilters = map[string]string{
	"pg_description": "classoid <> 'pg_collation'::regclass",
	"pg_collation":   "collprovider <> 'i'",
	"pg_depend":      "deptype = 'e'",
}

// restColumns replaces what must not or cannot be copied as it is.
var restColumns = map[string]string{
	"pg_constraint.conbin":       "CASE WHEN conbin IS NOT NULL THEN pg_get_expr(conbin, conrelid) END",
	"pg_rewrite.ev_action":       "''",
	"pg_database.datcollversion": "NULL",
	"pg_database.datfrozenxid":   "'3'",
	"pg_database.dattablespace":  "1663",
	"pg_database.datcollate":     "'C.UTF-8'",
	"pg_database.datctype":       "'C.UTF-8'",
	"pg_authid.rolpassword":      "NULL",
	"pg_namespace.nspacl":        "nspacl",
	"pg_extension.extconfig":     "extconfig",
}

// rest writes the rows of the small catalogs in the text form of COPY, one constant each.
func (g *generator) rest() {
	f := newFile("builtin_rows.go")
	var index []string
	for _, rel := range restRelations {
		var cols, types []string
		hasOID := false
		for _, a := range g.query(fmt.Sprintf(`SELECT attname, atttypid, atttypid::regtype FROM pg_attribute
				WHERE attrelid = '%s'::regclass AND attnum > 0 ORDER BY attnum`, rel)) {
			c := a.s(0)
			hasOID = hasOID || c == "oid"
			if e, ok := restColumns[rel+"."+c]; ok {
				c = e
			} else if a.s(2) == "regproc" {
				c += "::oid"
			}
			cols = append(cols, c)
			types = append(types, a.s(2))
		}
		var where []string
		if hasOID {
			where = append(where, "oid < 16384")
		}
		if w := restFilters[rel]; w != "" {
			where = append(where, w)
		}
		sql := "SELECT " + strings.Join(cols, ", ") + " FROM " + rel
		if len(where) > 0 {
			sql += " WHERE " + strings.Join(where, " AND ")
		}
		f.printf("const rows%s = `", camel(rel))
		rows := g.query(sql + " ORDER BY 1, 2, 3")
		if rel == "pg_rewrite" {
			rows = withOwnRules(rows, g.query("SELECT 'pg_locks'::regclass::oid")[0].s(0))
		}
		for _, r := range rows {
			for i := range r {
				if i > 0 {
					f.printf("\t")
				}
				switch {
				case r[i] == nil:
					f.printf(`\N`)
				case types[i] == "aclitem[]":
					f.printf("%s", g.aclText(*r[i]))
				default:
					f.printf("%s", strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n", "`", "\\x60").Replace(*r[i]))
				}
			}
			if hiddenColumns[rel].name != "" {
				f.printf("\t\\N")
			}
			f.printf("\n")
		}
		f.printf("`\n\n")
		index = append(index, fmt.Sprintf("{%s, %d, rows%s},\n", camel(rel), len(rows), camel(rel)))
	}
	f.printf("// builtinRest lists the catalogs whose built-in rows are kept as text.\nvar builtinRest = [...]struct {\nrel OID\nrows int\ntext string\n}{\n%s}\n", strings.Join(index, ""))
	f.write()
}
