package analyze

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
)

// Goldens are what a real PostgreSQL 15 prints: go test ./sql/analyze -run Deparse -rewrite -record "host=... dbname=..." takes
// them from there. The database is emptied of everything but system objects.
var record = flag.String("record", "", "connection string of the PostgreSQL 15 to record goldens from")

// definer makes objects and says how they are printed; the two are PostgreSQL and this package.
type definer interface {
	ddl(sql string) error
	// check, with a table, and default_ print an expression; both give the plain and the terse style.
	check(table, expr string) ([]string, error)
	defaultExpr(table, column, expr string) ([]string, error)
	view(query string) ([]string, error)
	index(sql string) ([]string, error)
	constraint(table, def string) ([]string, error)
}

func TestDeparse(t *testing.T) {
	datadriven.Walk(t, "testdata/deparse", func(t *testing.T, path string) {
		var d definer = &ourDefiner{newTestCatalog(t)}
		if *record != "" {
			d = newOracle(t)
		}
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			return runDeparse(t, d, td)
		})
	})
}

func runDeparse(t *testing.T, d definer, td *datadriven.TestData) string {
	arg := func(name string) (v string) {
		td.MaybeScanArgs(t, name, &v)
		return v
	}
	in := strings.TrimSpace(td.Input)
	one := func(fn func(string) ([]string, error)) string {
		texts, err := fn(in)
		return deparsed(texts, err)
	}
	lines := func(fn func(string) ([]string, error)) string {
		var b strings.Builder
		for _, l := range strings.Split(in, "\n") {
			texts, err := fn(l)
			fmt.Fprintf(&b, "%s\n", deparsed(texts, err))
		}
		return b.String()
	}
	switch td.Cmd {
	case "ddl":
		return deparsed(nil, d.ddl(in))
	case "check":
		return lines(func(e string) ([]string, error) { return d.check(arg("table"), e) })
	case "default":
		return lines(func(e string) ([]string, error) { return d.defaultExpr(arg("table"), arg("column"), e) })
	case "view":
		return one(d.view)
	case "index":
		return lines(d.index)
	case "constraint":
		return lines(func(e string) ([]string, error) { return d.constraint(arg("table"), e) })
	}
	td.Fatalf(t, "unknown command %s", td.Cmd)
	return ""
}

func deparsed(texts []string, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	// Texts that are the same need not be told apart.
	texts = slices.Compact(texts)
	return strings.Join(texts, "\n") + "\n"
}

type oracle struct {
	t *testing.T
	c *pgconn.PgConn
}

func newOracle(t *testing.T) *oracle {
	c, err := pgconn.Connect(context.Background(), *record)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	o := &oracle{t: t, c: c}
	for _, r := range o.rows("select quote_ident(nspname) from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'") {
		o.must("drop schema " + r + " cascade")
	}
	o.must("set client_min_messages = error; create schema public; set timezone = 'UTC'; set datestyle = 'ISO, MDY'")
	return o
}

func (o *oracle) exec(sql string) ([]*pgconn.Result, error) {
	res, err := o.c.Exec(context.Background(), sql).ReadAll()
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return nil, errors.New(pe.Message)
	}
	return res, err
}

func (o *oracle) must(sql string) []*pgconn.Result {
	r, err := o.exec(sql)
	if err != nil {
		o.t.Fatalf("%s: %v", sql, err)
	}
	return r
}

func (o *oracle) rows(sql string) (out []string) {
	for _, r := range o.must(sql) {
		for _, row := range r.Rows {
			for _, v := range row {
				out = append(out, string(v))
			}
		}
	}
	return out
}

func (o *oracle) ddl(sql string) error {
	_, err := o.exec(sql)
	return err
}

// made runs sql, asks, and undoes it.
func (o *oracle) made(sql, ask string) ([]string, error) {
	o.must("begin")
	defer o.must("rollback")
	if _, err := o.exec(sql); err != nil {
		return nil, err
	}
	return o.rows(ask), nil
}

func (o *oracle) check(table, expr string) ([]string, error) {
	return o.made("alter table "+table+" add constraint zz check ("+expr+") not valid",
		"select pg_get_expr(conbin, conrelid), pg_get_expr(conbin, conrelid, true) from pg_constraint where conname = 'zz'")
}

func (o *oracle) defaultExpr(table, column, expr string) ([]string, error) {
	return o.made("alter table "+table+" alter "+column+" set default "+expr,
		"select pg_get_expr(adbin, adrelid), pg_get_expr(adbin, adrelid, true) from pg_attrdef d join pg_attribute a on a.attrelid = adrelid and attnum = adnum"+
			" where adrelid = '"+table+"'::regclass and attname = '"+column+"'")
}

func (o *oracle) view(query string) ([]string, error) {
	return o.made("create view zz as "+query, "select pg_get_viewdef('zz'::regclass), pg_get_viewdef('zz'::regclass, true), pg_get_viewdef('zz'::regclass, 50)")
}

func (o *oracle) index(sql string) ([]string, error) {
	return o.made(strings.Replace(sql, "index on", "index zz on", 1),
		"select pg_get_indexdef(oid), pg_get_indexdef(oid, 0, true), pg_get_indexdef(oid, 1, false), pg_get_indexdef(oid, 1, true) from pg_class where relname = 'zz'")
}

func (o *oracle) constraint(table, def string) ([]string, error) {
	return o.made("alter table "+table+" add constraint zz "+def,
		"select pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) from pg_constraint where conname = 'zz'")
}

// ourDefiner prints what the catalog's text is read back to, so that what is printed to be stored is tried too.
type ourDefiner struct{ c *testCatalog }

func (o *ourDefiner) ddl(sql string) (err error) {
	o.c.exec(sql)
	return nil
}

func (o *ourDefiner) table(name string) *catalog.Relation {
	schema, rel, ok := strings.Cut(name, ".")
	if !ok {
		schema, rel = "", name
	}
	return newAnalysis(o.c.context(), "").findRelation(schema, rel)
}

// raw parses an expression.
func raw(expr string) (*pg_query.Node, string) {
	sql := "SELECT " + expr
	n, err := parseOne(sql)
	check(err)
	return n.GetSelectStmt().TargetList[0].GetResTarget().Val, sql
}

// both prints an expression, and again what its stored text means: no difference is allowed.
func (o *ourDefiner) both(rel *catalog.Relation, e Expr, again func(text string) Expr) []string {
	ctx := o.c.context()
	text := must(StoredText(ctx, rel, e))
	stored := again(text)
	var out []string
	for _, pretty := range []bool{false, true} {
		direct := must(DeparseExpr(ctx, e, rel, pretty))
		if s := must(DeparseExpr(ctx, stored, rel, pretty)); s != direct {
			raise(fmt.Errorf("stored as %s: read back as %s, not %s", text, s, direct))
		}
		out = append(out, direct)
	}
	return out
}

func (o *ourDefiner) check(table, expr string) (out []string, err error) {
	defer message(&err)
	defer caught(&err)
	rel := o.table(table)
	n, sql := raw(expr)
	e := must(AnalyzeExpr(o.c.context(), n, sql, rel, ForCheck))
	return o.both(rel, e, func(text string) Expr { return must(StoredExpr(o.c.context(), rel, text)) }), nil
}

func (o *ourDefiner) defaultExpr(table, column, expr string) (out []string, err error) {
	defer message(&err)
	defer caught(&err)
	rel := o.table(table)
	n, sql := raw(expr)
	at := rel.AttrByName(column)
	e := must(AnalyzeDefault(o.c.context(), n, sql, rel, at.Name, at.Type, at.Typmod, false))
	return o.both(rel, e, func(text string) Expr {
		old := *at
		defer func() { *at = old }()
		at.HasDefault, at.Default = true, text
		return must(LoadDefault(o.c.context(), rel, at))
	}), nil
}

// message leaves an error's message only.
func message(err *error) {
	if *err != nil {
		*err = errors.New(pgerr.From(*err).Message)
	}
}

func (o *ourDefiner) view(query string) (out []string, err error) {
	defer message(&err)
	defer caught(&err)
	sql := "create view zz as " + query
	n, err := parseOne(sql)
	check(err)
	check(o.c.execOne(n, sql))
	rel := o.table("zz")
	defer delete(o.c.rels, rel.OID)
	ctx := o.c.context()
	out = append(out, must(DeparseView(ctx, rel, false, 0)), must(DeparseView(ctx, rel, true, 0)), must(DeparseView(ctx, rel, true, 50)))
	return out, nil
}

func (o *ourDefiner) index(sql string) (out []string, err error) {
	defer message(&err)
	defer caught(&err)
	sql = strings.Replace(sql, "index on", "index zz on", 1)
	n, err := parseOne(sql)
	check(err)
	check(o.c.execOne(n, sql))
	for _, rel := range o.c.rels {
		for i, x := range rel.Indexes {
			if x.Name != "zz" {
				continue
			}
			rel.Indexes = slices.Delete(rel.Indexes, i, i+1)
			ctx := o.c.context()
			return []string{
				must(DeparseIndex(ctx, rel, x, 0, false)), must(DeparseIndex(ctx, rel, x, 0, true)),
				must(DeparseIndex(ctx, rel, x, 1, false)), must(DeparseIndex(ctx, rel, x, 1, true)),
			}, nil
		}
	}
	return nil, errors.New("no index")
}

func (o *ourDefiner) constraint(table, def string) (out []string, err error) {
	defer message(&err)
	defer caught(&err)
	rel := o.table(table)
	sql := "alter table " + table + " add constraint zz " + def
	n, err := parseOne(sql)
	check(err)
	k := n.GetAlterTableStmt().Cmds[0].GetAlterTableCmd().Def.GetConstraint()
	indexes, checks := rel.Indexes, rel.Checks
	o.c.constraint(rel, k, "", sql)
	last := rel.Constraints[len(rel.Constraints)-1]
	ctx := o.c.context()
	out = []string{must(DeparseConstraint(ctx, last, false)), must(DeparseConstraint(ctx, last, true))}
	rel.Constraints, rel.Indexes, rel.Checks = rel.Constraints[:len(rel.Constraints)-1], indexes, checks
	return out, nil
}
