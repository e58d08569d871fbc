package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/minipg/minipg/types"
)

var rewrite = flag.Bool("rewrite", false, "record goldens from the PostgreSQL 15 of MINIPG_TEST_PG")

// Columns that differ from PostgreSQL's with reason: where things lie on its disk, parse trees, and
// functions in SQL that are Go here.
var differentColumns = map[string]string{
	"pg_class.relfilenode": "", "pg_class.relpages": "", "pg_class.reltuples": "", "pg_class.relallvisible": "",
	"pg_class.relfrozenxid": "", "pg_class.relminmxid": "",
	"pg_proc.prolang": "", "pg_proc.prosrc": "", "pg_proc.prosqlbody": "",
	"pg_proc.proargdefaults":   "pg_get_expr(proargdefaults, 0)",
	"pg_rewrite.ev_action":     "",
	"pg_type.typdefaultbin":    "",
	"pg_constraint.conbin":     "pg_get_expr(conbin, conrelid)",
	"pg_authid.rolpassword":    "",
	"pg_database.datfrozenxid": "", "pg_database.datminmxid": "", "pg_database.datcollate": "", "pg_database.datctype": "",
	"pg_database.datcollversion": "",
}

// Rows that are left out.
var differentRows = map[string]string{
	"pg_collation": "collprovider <> 'i'", "pg_depend": "deptype = 'e'", "pg_statistic": "false",
	"pg_description": "classoid <> 'pg_collation'::regclass",
}

// TestBuiltinRows compares every generated row with PostgreSQL's: by a sum recorded from one, or with
// MINIPG_TEST_PG (a DSN) with a running one.
func TestBuiltinRows(t *testing.T) {
	c := testCatalog(t)
	x := c.Begin(DatabaseTemplate1)
	var sums strings.Builder
	var conn *pgx.Conn
	if dsn := os.Getenv("MINIPG_TEST_PG"); dsn != "" {
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Database = "template1"
		if conn, err = pgx.ConnectConfig(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		if _, err := conn.Exec(context.Background(), "SET search_path = pg_catalog, information_schema"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range catalogDefs {
		def := &catalogDefs[i]
		attrs := byOID(builtinClasses[:], classKey, def.oid).Attrs
		var got []string
		err := x.Scan(def.oid, nil, func(r Row) error {
			if isOwn(def, r) {
				return nil
			}
			got = append(got, rowText(def, attrs, r))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if conn != nil {
			compareRows(t, def.name, got, oracleRows(t, conn, def, attrs))
		}
		fmt.Fprintf(&sums, "%s %d %x\n", def.name, len(got), sha256.Sum256([]byte(strings.Join(got, "\n"))))
	}
	const golden = "testdata/builtin_rows.sum"
	if *rewrite && conn != nil && !t.Failed() {
		if err := os.WriteFile(golden, []byte(sums.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(sums.String())) {
		t.Errorf("the built-in rows are not those that were compared with PostgreSQL; got\n%s", sums.String())
	}
}

// isOwn tells minipg's own rows, by the OID that comes first.
func isOwn(def *relDef, r Row) bool {
	return def.cols[0] == types.Oid && r[0].OID() >= FirstOwnOID && r[0].OID() <= LastOwnOID
}

func compareRows(t *testing.T, name string, got, want []string) {
	t.Helper()
	bad := 0
	for len(got) > 0 || len(want) > 0 {
		switch {
		case len(want) == 0 || len(got) > 0 && got[0] < want[0]:
			t.Errorf("%s: extra   %s", name, got[0])
			got = got[1:]
		case len(got) == 0 || want[0] < got[0]:
			t.Errorf("%s: missing %s", name, want[0])
			want = want[1:]
		default:
			got, want = got[1:], want[1:]
			continue
		}
		if bad++; bad > 5 {
			return
		}
	}
}

func rowText(def *relDef, attrs []builtinAttr, r Row) string {
	var cols []string
	for i := range attrs {
		if d, ok := differentColumns[def.name+"."+attrs[i].Name]; ok && d == "" {
			cols = append(cols, "")
			continue
		}
		cols = append(cols, datumText(def.cols[i], r[i]))
	}
	return strings.Join(cols, "|")
}

func datumText(typ OID, d types.Datum) string {
	if d.Null {
		return "NULL"
	}
	list := func(elem OID, open, sep, end string) string {
		var dec arrayDecoder
		var s []string
		for _, e := range dec.elems(d) {
			text := datumText(elem, e)
			if text == "" {
				text = `""`
			}
			s = append(s, text)
		}
		return open + strings.Join(s, sep) + end
	}
	switch typ {
	case types.Bool:
		return fmt.Sprint(d.Bool())
	case types.Char:
		if d.W == 0 {
			return ""
		}
		return string(rune(d.W))
	case types.Int2vector:
		return list(types.Int2, "", " ", "")
	case types.Oidvector:
		return list(types.Oid, "", " ", "")
	case types.AclitemArray:
		return list(types.Aclitem, "{", ",", "}")
	case types.Aclitem:
		return string(types.Out(types.Aclitem, d, nil, nil))
	case types.OidArray, types.Int2Array, types.CharArray, types.TextArray:
		return list(types.Builtin(typ).Elem, "{", ",", "}")
	case types.Float4:
		return fmt.Sprint(float32(d.Float64()))
	}
	if types.ClassOf(typ) == types.Bytes {
		return d.String()
	}
	return fmt.Sprint(d.Int64())
}

func oracleRows(t *testing.T, conn *pgx.Conn, def *relDef, attrs []builtinAttr) []string {
	t.Helper()
	hasOID := attrs[0].Name == "oid"
	var cols []string
	for i := range attrs {
		col := attrs[i].Name
		d, ok := differentColumns[def.name+"."+col]
		switch {
		case ok && d == "":
			cols = append(cols, "''")
			continue
		case ok:
			col = d
		case def.cols[i] == types.Regproc:
			col += "::oid"
		case def.cols[i] == types.AclitemArray:
			// With the roles' OIDs for their names.
			col = `(SELECT '{' || string_agg(CASE WHEN split_part(a::text, '=', 1) = '' THEN '' ELSE
				(SELECT oid::text FROM pg_authid WHERE rolname = split_part(a::text, '=', 1)) END ||
				'=' || split_part(split_part(a::text, '=', 2), '/', 1) || '/' ||
				(SELECT oid FROM pg_authid WHERE rolname = split_part(a::text, '/', 2)), ',' ORDER BY n) || '}'
				FROM unnest(` + col + `) WITH ORDINALITY u(a, n))`
		}
		cols = append(cols, "coalesce(("+col+")::text, 'NULL')")
	}
	sql := "SELECT concat_ws('|', " + strings.Join(cols, ", ") + ") FROM " + def.name + " WHERE true"
	if def.name == "pg_class" || hasOID {
		sql += " AND oid < 16384"
	}
	if w := differentRows[def.name]; w != "" {
		sql += " AND " + w
	}
	if def.shared && !hasOID {
		sql += " AND tableoid < 16384"
	}
	rows, err := conn.Query(context.Background(), sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(sql, err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(sql, err)
	}
	slices.Sort(out)
	return out
}
