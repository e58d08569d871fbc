package main

import (
	"fmt"
	"slices"
	"strings"
)

// relations writes pg_class and pg_attribute of the system relations.
func (g *generator) relations() {
	attrs := map[string][]row{}
	for _, a := range g.query(`SELECT attrelid, attname, atttypid, atttypmod, attnotnull, attndims,
			CASE WHEN attcollation <> typcollation THEN attcollation ELSE 0 END,
			CASE WHEN attstorage <> typstorage THEN attstorage ELSE '' END, attacl
		FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid
		WHERE attrelid < 16384 AND attnum > 0 ORDER BY attrelid, attnum`) {
		attrs[a.s(0)] = append(attrs[a.s(0)], a)
	}
	f := newFile("builtin_class.go")
	f.printf("// builtinClasses are the rows of pg_class and pg_attribute, sorted by OID.\nvar builtinClasses = [...]builtinClass{\n")
	rows := g.query(`SELECT oid, relname, relnamespace, reltype, relkind, relam, reltablespace, relpages, reltuples,
			reltoastrelid, relhasindex, relisshared, relhasrules, relreplident, relacl, array_to_string(reloptions, ','), relchecks
		FROM pg_class WHERE oid < 16384 ORDER BY oid`)
	rows = withOwnViews(rows, attrs)
	for _, r := range rows {
		var l lit
		l.num("OID", r.s(0))
		l.str("Name", r.s(1))
		l.num("Namespace", r.s(2))
		l.num("Type", r.s(3))
		l.char("Kind", r.s(4))
		l.num("AM", r.s(5))
		l.num("Tablespace", r.s(6))
		l.num("Pages", r.s(7))
		if r.s(8) != "0" {
			l.num("Tuples", r.s(8))
		}
		l.num("Toast", r.s(9))
		l.bool("HasIndex", r.s(10))
		l.bool("Shared", r.s(11))
		l.bool("HasRules", r.s(12))
		l.char("ReplIdent", r.s(13))
		if r[14] != nil {
			l.add("ACL", g.acl(r.s(14)))
		}
		if r.s(15) != "" {
			l.add("Options", fmt.Sprintf("[]string{%q}", r.s(15)))
		}
		var as []string
		for _, a := range attrs[r.s(0)] {
			var m lit
			m.str("Name", a.s(1))
			m.num("Type", a.s(2))
			if a.s(3) != "-1" {
				m.num("TypmodPlus1", a.s(3)+"+1")
			}
			m.bool("NotNull", a.s(4))
			m.num("NDims", a.s(5))
			m.num("Collation", a.s(6))
			m.char("Storage", a.s(7))
			if a[8] != nil {
				m.add("ACL", g.acl(a.s(8)))
			}
			as = append(as, m.String())
		}
		l.add("Attrs", "[]builtinAttr{\n"+strings.Join(as, ",\n")+",\n}")
		f.printf("%s,\n", l.String())
	}
	f.printf("}\n\n")
	permutation(f, "builtinClassByName", rows)
	f.write()
}

// permutation writes the positions of the rows of an OID-sorted table in the order of their names.
// The columns begin with OID and name.
func permutation(f *file, name string, rows []row) {
	f.printf("// %s orders the table by name, then OID.\nvar %s = [...]uint16{", name, name)
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(rows[a].s(1), rows[b].s(1)) })
	for i, at := range order {
		if i%16 == 0 {
			f.printf("\n")
		}
		f.printf("%d, ", at)
	}
	f.printf("\n}\n")
}

func (g *generator) types() {
	f := newFile("builtin_type.go")
	f.printf("// builtinTypes are the rows of pg_type, sorted by OID.\nvar builtinTypes = [...]Type{\n")
	rows := withOwnTypes(g.query(`SELECT oid, typname, typnamespace, typowner, typlen, typbyval, typtype, typcategory, typispreferred, typisdefined,
			typdelim, typrelid, typsubscript::oid, typelem, typarray, typinput::oid, typoutput::oid, typreceive::oid, typsend::oid, typmodin::oid,
			typmodout::oid, typanalyze::oid, typalign, typstorage, typnotnull, typbasetype, typtypmod, typndims, typcollation, typdefault, typacl
		FROM pg_type WHERE oid < 16384 ORDER BY oid`))
	for _, r := range rows {
		var l lit
		l.num("OID", r.s(0))
		l.str("Name", r.s(1))
		l.num("Namespace", r.s(2))
		l.num("Owner", r.s(3))
		l.num("Len", r.s(4))
		l.bool("ByVal", r.s(5))
		l.char("Kind", r.s(6))
		l.char("Category", r.s(7))
		l.bool("Preferred", r.s(8))
		l.bool("Defined", r.s(9))
		l.char("Delim", r.s(10))
		l.num("RelID", r.s(11))
		l.num("Subscript", r.s(12))
		l.num("Elem", r.s(13))
		l.num("Array", r.s(14))
		l.num("Input", r.s(15))
		l.num("Output", r.s(16))
		l.num("Receive", r.s(17))
		l.num("Send", r.s(18))
		l.num("ModIn", r.s(19))
		l.num("ModOut", r.s(20))
		l.num("Analyze", r.s(21))
		l.char("Align", r.s(22))
		l.char("Storage", r.s(23))
		l.bool("NotNull", r.s(24))
		l.num("BaseType", r.s(25))
		l.num("Typmod", r.s(26))
		l.num("NDims", r.s(27))
		l.num("Collation", r.s(28))
		if r[29] != nil {
			l.str("Default", r.s(29))
			l.add("HasDefault", "true")
		}
		if r[30] != nil {
			l.add("ACL", g.acl(r.s(30)))
		}
		f.printf("%s,\n", l.String())
	}
	f.printf("}\n\n")
	permutation(f, "builtinTypeByName", rows)
	f.write()
}

func (g *generator) procs() {
	f := newFile("builtin_proc.go")
	f.printf("// builtinProcs are the rows of pg_proc, sorted by OID. Functions written in SQL are internal ones here,\n" +
		"// with prosrc = name_argumenttypes.\nvar builtinProcs = [...]Proc{\n")
	rows := withOwnFunctions(g.query(`SELECT oid, proname, pronamespace, proowner,
			CASE prolang WHEN 14 THEN 12 ELSE prolang END, procost, prorows, provariadic, prosupport::oid,
			prokind, prosecdef, proleakproof, proisstrict, proretset, provolatile, proparallel, prorettype, proargtypes,
			array_to_string(proallargtypes, ' '), array_to_string(proargmodes, ''), array_to_string(proargnames, ',', ''),
			pg_get_expr(proargdefaults, 0),
			CASE prolang WHEN 14 THEN proname || (SELECT coalesce(string_agg('_' || typname, '' ORDER BY n), '')
				FROM unnest(proargtypes) WITH ORDINALITY u(t, n) JOIN pg_type ty ON ty.oid = t) ELSE prosrc END,
			probin, proacl, proargnames IS NULL
		FROM pg_proc WHERE oid < 16384 ORDER BY oid`))
	for _, r := range rows {
		var l lit
		l.num("OID", r.s(0))
		l.str("Name", r.s(1))
		l.num("Namespace", r.s(2))
		l.num("Owner", r.s(3))
		l.num("Language", r.s(4))
		l.num("Cost", r.s(5))
		l.num("Rows", r.s(6))
		l.num("Variadic", r.s(7))
		l.num("Support", r.s(8))
		l.char("Kind", r.s(9))
		l.bool("SecDef", r.s(10))
		l.bool("Leakproof", r.s(11))
		l.bool("Strict", r.s(12))
		l.bool("RetSet", r.s(13))
		l.char("Volatile", r.s(14))
		l.char("Parallel", r.s(15))
		l.num("RetType", r.s(16))
		l.list("Args", "[]OID", r.s(17))
		l.list("AllArgs", "[]OID", r.s(18))
		l.str("ArgModes", r.s(19))
		if r.s(25) == "f" {
			l.add("ArgNames", fmt.Sprintf("%#v", strings.Split(r.s(20), ",")))
		}
		if r[21] != nil {
			l.add("Defaults", fmt.Sprintf("%#v", strings.Split(r.s(21), ", ")))
		}
		l.str("Src", r.s(22))
		l.str("Bin", r.s(23))
		if r[24] != nil {
			l.add("ACL", g.acl(r.s(24)))
		}
		f.printf("%s,\n", l.String())
	}
	f.printf("}\n\n")
	permutation(f, "builtinProcByName", rows)
	f.write()
}

func (g *generator) operators() {
	f := newFile("builtin_operator.go")
	f.printf("// builtinOperators are the rows of pg_operator, sorted by OID.\nvar builtinOperators = [...]Operator{\n")
	rows := g.query(`SELECT oid, oprname, oprnamespace, oprowner, oprkind, oprcanmerge, oprcanhash, oprleft, oprright, oprresult,
			oprcom, oprnegate, oprcode::oid, oprrest::oid, oprjoin::oid FROM pg_operator WHERE oid < 16384 ORDER BY oid`)
	for _, r := range rows {
		var l lit
		l.num("OID", r.s(0))
		l.str("Name", r.s(1))
		l.num("Namespace", r.s(2))
		l.num("Owner", r.s(3))
		l.char("Kind", r.s(4))
		l.bool("CanMerge", r.s(5))
		l.bool("CanHash", r.s(6))
		for i, n := range []string{"Left", "Right", "Result", "Commutator", "Negator", "Code", "Rest", "Join"} {
			l.num(n, r.s(7+i))
		}
		f.printf("%s,\n", l.String())
	}
	f.printf("}\n\n")
	permutation(f, "builtinOperatorByName", rows)
	f.write()
}

func (g *generator) casts() {
	f := newFile("builtin_cast.go")
	f.printf("// builtinCasts are the rows of pg_cast, sorted by source and target.\nvar builtinCasts = [...]Cast{\n")
	for _, r := range g.query(`SELECT oid, castsource, casttarget, castfunc, castcontext, castmethod FROM pg_cast
			WHERE oid < 16384 ORDER BY castsource, casttarget`) {
		var l lit
		for i, n := range []string{"OID", "Source", "Target", "Func"} {
			l.num(n, r.s(i))
		}
		l.char("Context", r.s(4))
		l.char("Method", r.s(5))
		f.printf("%s,\n", l.String())
	}
	f.printf("}\n")
	f.write()
}

func (g *generator) aggregates() {
	f := newFile("builtin_aggregate.go")
	f.printf("// builtinAggregates are the rows of pg_aggregate, sorted by function.\nvar builtinAggregates = [...]Aggregate{\n")
	for _, r := range g.query(`SELECT aggfnoid::oid, aggkind, aggnumdirectargs, aggtransfn::oid, aggfinalfn::oid, aggcombinefn::oid, aggserialfn::oid,
			aggdeserialfn::oid, aggmtransfn::oid, aggminvtransfn::oid, aggmfinalfn::oid, aggfinalextra, aggmfinalextra, aggfinalmodify,
			aggmfinalmodify, aggsortop, aggtranstype, aggtransspace, aggmtranstype, aggmtransspace, agginitval, aggminitval
		FROM pg_aggregate WHERE aggfnoid < 16384 ORDER BY 1`) {
		var l lit
		l.num("OID", r.s(0))
		l.char("Kind", r.s(1))
		for i, n := range []string{"NumDirect", "Trans", "Final", "Combine", "Serial", "Deserial", "MTrans", "MInvTrans", "MFinal"} {
			l.num(n, r.s(2+i))
		}
		l.bool("FinalExtra", r.s(11))
		l.bool("MFinalExtra", r.s(12))
		l.char("FinalModify", r.s(13))
		l.char("MFinalModify", r.s(14))
		for i, n := range []string{"SortOp", "TransType", "TransSpace", "MTransType", "MTransSpace"} {
			l.num(n, r.s(15+i))
		}
		if r[20] != nil {
			l.str("InitVal", r.s(20))
			l.add("HasInitVal", "true")
		}
		if r[21] != nil {
			l.str("MInitVal", r.s(21))
			l.add("HasMInitVal", "true")
		}
		f.printf("%s,\n", l.String())
	}
	f.printf("}\n")
	f.write()
}
