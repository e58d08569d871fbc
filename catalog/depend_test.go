package catalog

import (
	"slices"
	"testing"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// makeView writes the rows of a view on a table's columns that a DROP looks at: oid, its rule oid+3.
func makeView(t *testing.T, x *Txn, oid OID, name string, table OID, atts ...int32) {
	t.Helper()
	makeTable(t, x, oid, name, "a")
	row := slices.Clone(must(x.Get(PgClass, oidDatum(oid)))(t))
	row[ClassRelkind] = charDatum(byte(KindView))
	if err := x.Update(PgClass, row); err != nil {
		t.Fatal(err)
	}
	rule := must(x.Rows(PgRewrite))(t)[0]
	rule[RewriteOid], rule[RewriteEvClass], rule[RewriteRulename] = oidDatum(oid+3), oidDatum(oid), types.TextDatum("_RETURN")
	insert(t, x, PgRewrite, rule)
	obj := Object{Class: PgRewrite, OID: oid + 3}
	depend(t, x, obj, Object{Class: PgClass, OID: oid}, DepInternal)
	for _, a := range atts {
		depend(t, x, obj, Object{PgClass, table, a}, DepNormal)
	}
}

// The expected texts are PostgreSQL 15's for
//
//	create table t (a int, b int); create view v as select a from t; create view w as select a from v;
func TestDropRestrictAndCascade(t *testing.T) {
	x := testCatalog(t).Begin(DatabasePostgres)
	makeTable(t, x, 20000, "t", "a", "b")
	makeView(t, x, 20100, "v", 20000, 1)
	makeView(t, x, 20200, "w", 20100, 1)
	path := []OID{NamespacePublic}
	tab := Object{Class: PgClass, OID: 20000}

	_, err := x.Drops([]Object{tab}, false, path)
	e := pgerr.From(err)
	if e.Code != pgerr.DependentObjectsStillExist ||
		e.Message != "cannot drop table t because other objects depend on it" ||
		e.Detail != "view v depends on table t\nview w depends on view v" ||
		e.Hint != "Use DROP ... CASCADE to drop the dependent objects too." {
		t.Errorf("restrict: %s\n%s\n%s", e.Message, e.Detail, e.Hint)
	}

	l, err := x.Drops([]Object{tab}, true, path)
	if err != nil {
		t.Fatal(err)
	}
	n := l.Notice()
	if n.Message != "drop cascades to 2 other objects" || n.Detail != "drop cascades to view v\ndrop cascades to view w" {
		t.Errorf("cascade: %s\n%s", n.Message, n.Detail)
	}
	at := func(class, oid OID) int { return slices.Index(l.Objects, Object{Class: class, OID: oid}) }
	if !(at(PgClass, 20200) >= 0 && at(PgClass, 20200) < at(PgClass, 20100) && at(PgClass, 20100) < at(PgClass, 20000)) {
		t.Errorf("order %v", l.Objects)
	}
	if at(PgType, 20001) < 0 || at(PgType, 20002) < 0 || at(PgRewrite, 20103) < 0 {
		t.Errorf("types or rules are left: %v", l.Objects)
	}

	// A column.
	_, err = x.Drops([]Object{{PgClass, 20000, 1}}, false, path)
	if e = pgerr.From(err); e.Message != "cannot drop column a of table t because other objects depend on it" ||
		e.Detail != "view v depends on column a of table t\nview w depends on view v" {
		t.Errorf("column: %s\n%s", e.Message, e.Detail)
	}
	if l, err = x.Drops([]Object{{PgClass, 20000, 2}}, false, path); err != nil || len(l.Objects) != 1 {
		t.Errorf("column b: %v %v", l, err)
	}

	// Both at once.
	if l, err = x.Drops([]Object{tab, {Class: PgClass, OID: 20100}, {Class: PgClass, OID: 20200}}, false, path); err != nil || l.Notice() != nil {
		t.Errorf("all three: %v", err)
	}

	// What belongs to another.
	_, err = x.Drops([]Object{{Class: PgType, OID: 20001}}, false, nil)
	if e = pgerr.From(err); e.Message != "cannot drop type public.t because table public.t requires it" ||
		e.Hint != "You can drop table public.t instead." {
		t.Errorf("row type: %s\n%s", e.Message, e.Hint)
	}
	_, err = x.Drops([]Object{{Class: PgType, OID: types.Int4}}, true, nil)
	if e = pgerr.From(err); e.Message != "cannot drop type integer because it is required by the database system" {
		t.Errorf("pinned: %s", e.Message)
	}

	// The schema.
	_, err = x.Drops([]Object{{Class: PgNamespace, OID: NamespacePublic}}, false, path)
	if e = pgerr.From(err); e.Message != "cannot drop schema public because other objects depend on it" ||
		e.Detail != "table t depends on schema public\nview v depends on schema public\nview w depends on schema public" {
		t.Errorf("schema: %s\n%s", e.Message, e.Detail)
	}
}

func TestDropCycle(t *testing.T) {
	x := testCatalog(t).Begin(DatabasePostgres)
	makeTable(t, x, 20000, "t", "a")
	makeTable(t, x, 20100, "u", "a")
	a, b := Object{Class: PgClass, OID: 20000}, Object{Class: PgClass, OID: 20100}
	depend(t, x, a, b, DepNormal)
	depend(t, x, b, a, DepNormal)
	l, err := x.Drops([]Object{a}, true, nil)
	if err != nil || slices.Index(l.Objects, b) < 0 || len(l.Cascaded) != 1 {
		t.Errorf("%v %v", l, err)
	}
}

func TestRoleDependents(t *testing.T) {
	x := testCatalog(t).Begin(DatabasePostgres)
	role := Object{Class: PgAuthid, OID: 20500}
	makeTable(t, x, 20000, "t", "a")
	makeTable(t, x, 20100, "u", "a")
	if err := x.SetOwner(Object{Class: PgClass, OID: 20000}, 20500); err != nil {
		t.Fatal(err)
	}
	acl := []ACLItem{{Grantee: 20500, Grantor: BootstrapRole, Privs: AclSelect}}
	if err := x.AddACLDependencies(Object{Class: PgClass, OID: 20100}, BootstrapRole, acl); err != nil {
		t.Fatal(err)
	}
	got := must(x.SharedDependents(role, []OID{NamespacePublic}))(t)
	if got != "owner of table t\nprivileges for table u" {
		t.Errorf("got %q", got)
	}
	if err := x.SetOwner(Object{Class: PgClass, OID: 20000}, BootstrapRole); err != nil {
		t.Fatal(err)
	}
	if err := x.DeleteDependencies(Object{Class: PgClass, OID: 20100}); err != nil {
		t.Fatal(err)
	}
	if got := must(x.SharedDependents(role, nil))(t); got != "" {
		t.Errorf("left: %q", got)
	}
}
