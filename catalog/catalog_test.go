package catalog

import (
	"context"
	"testing"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// testCatalog opens a catalog in a temporary directory.
func testCatalog(t *testing.T) *Catalog {
	t.Helper()
	return openCatalog(t, t.TempDir())
}

func openCatalog(t *testing.T, dir string) *Catalog {
	t.Helper()
	next := FirstNormalOID
	c, err := Open(Config{FS: storage.OSFS{}, Dir: dir, NextOID: func() (OID, error) {
		next++
		return next, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func commit(t *testing.T, x *Txn) {
	t.Helper()
	c := x.Catalog()
	c.BeginCommit()
	defer c.EndCommit()
	if err := c.Apply(x.Batch()); err != nil {
		t.Fatal(err)
	}
	x.Reset()
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func namespaceRow(oid OID, name string) Row {
	return Row{
		NamespaceOid: oidDatum(oid), NamespaceNspname: types.TextDatum(name),
		NamespaceNspowner: oidDatum(BootstrapRole), NamespaceNspacl: types.NullDatum,
	}
}

func TestNamespaceInsertSeenByOwnerThenByAll(t *testing.T) {
	c := testCatalog(t)
	a, b := c.Begin(DatabasePostgres), c.Begin(DatabasePostgres)
	if err := a.Insert(PgNamespace, namespaceRow(20000, "s")); err != nil {
		t.Fatal(err)
	}
	if n := must(a.NamespaceByName("s"))(t); n == nil || n.OID != 20000 {
		t.Fatalf("own change: %v", n)
	}
	if n := must(b.NamespaceByName("s"))(t); n != nil {
		t.Fatalf("uncommitted row of another: %v", n)
	}
	v := b.Version()
	commit(t, a)
	if b.Version() == v {
		t.Error("version did not move")
	}
	if n := must(b.NamespaceByName("s"))(t); n == nil || n.OID != 20000 {
		t.Fatalf("committed: %v", n)
	}
	other := c.Begin(DatabaseTemplate1)
	if n := must(other.NamespaceByName("s"))(t); n != nil {
		t.Fatalf("row in another database: %v", n)
	}
}

func TestFlushMakesRowsDurable(t *testing.T) {
	dir := t.TempDir()
	c := openCatalog(t, dir)
	a := c.Begin(DatabasePostgres)
	if err := a.Insert(PgNamespace, namespaceRow(20000, "s")); err != nil {
		t.Fatal(err)
	}
	commit(t, a)
	if err := c.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRelationByName(b *testing.B) {
	c, err := Open(Config{FS: storage.OSFS{}, Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	x := c.Begin(DatabasePostgres)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := x.RelationByName(NamespacePgCatalog, "pg_class"); r == nil || err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is the catalog's part of a cold start.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		c, err := Open(Config{FS: storage.OSFS{}, Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenNew(b *testing.B) {
	for b.Loop() {
		c, err := Open(Config{FS: storage.OSFS{}, Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLookups are what the analysis of a statement asks for.
func BenchmarkLookups(b *testing.B) {
	c, err := Open(Config{FS: storage.OSFS{}, Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	x := c.Begin(DatabasePostgres)
	b.ReportAllocs()
	for b.Loop() {
		ops, err := x.OperatorsByName("=")
		if err != nil || len(ops) == 0 {
			b.Fatal(err)
		}
		if t, err := x.TypeByOID(23); t == nil || err != nil {
			b.Fatal(err)
		}
		if t, err := x.Cast(23, 20); t == nil || err != nil {
			b.Fatal(err)
		}
	}
}
