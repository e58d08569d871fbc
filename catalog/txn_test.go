package catalog

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// dump is every row of a relation as text, by key.
func dump(t *testing.T, x *Txn, rel OID) map[string]string {
	t.Helper()
	def := mustDef(rel)
	out := map[string]string{}
	err := x.Scan(rel, nil, func(r Row) error {
		k := string(def.appendRowKey(nil, r))
		if _, dup := out[k]; dup {
			t.Errorf("%s: row seen twice: %v", def.name, r)
		}
		out[k] = rowString(def, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func rowString(def *relDef, r Row) string {
	s := ""
	for i, typ := range def.cols {
		s += datumText(typ, r[i]) + "|"
	}
	return s
}

// TestTxnAgainstModel inserts, updates and deletes user and built-in rows at random, with savepoints,
// aborts, commits and replayed commits, against a map; every lookup by an index must agree with
// the same condition on a full scan.
func TestTxnAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	c := testCatalog(t)
	x := c.Begin(DatabasePostgres)
	rels := []OID{PgNamespace, PgDepend, PgOpclass, PgType, PgDatabase}
	committed := map[OID]map[string]string{}
	for _, r := range rels {
		committed[r] = dump(t, x, r)
	}
	model := cloneModel(committed)
	type mark struct {
		m     Mark
		model map[OID]map[string]string
	}
	var marks []mark
	var last []byte
	for step := range 1500 {
		rel := rels[rng.IntN(len(rels))]
		def := mustDef(rel)
		switch r := rng.IntN(100); {
		case r < 35:
			row := randomRow(rng, def)
			k := string(def.appendRowKey(nil, row))
			err := x.Insert(rel, row)
			if pgerr.HasCode(err, pgerr.UniqueViolation) {
				continue
			}
			if _, there := model[rel][k]; there && !def.wholeRow() || err != nil {
				t.Fatalf("step %d: insert: %v, there %v", step, err, there)
			}
			model[rel][k] = rowString(def, row)
		case r < 55 && !def.wholeRow():
			row := randomRow(rng, def)
			old := pick(rng, t, x, rel)
			if old == nil {
				continue
			}
			for _, c := range def.indexes[0].cols {
				row[c] = old[c]
			}
			if err := x.Update(rel, row); pgerr.HasCode(err, pgerr.UniqueViolation) {
				continue
			} else if err != nil {
				t.Fatalf("step %d: update: %v", step, err)
			}
			model[rel][string(def.appendRowKey(nil, row))] = rowString(def, row)
		case r < 70:
			old := pick(rng, t, x, rel)
			if old == nil {
				continue
			}
			if err := x.Delete(rel, old); err != nil {
				t.Fatalf("step %d: delete: %v", step, err)
			}
			delete(model[rel], string(def.appendRowKey(nil, old)))
		case r < 76:
			marks = append(marks, mark{x.Savepoint(), cloneModel(model)})
		case r < 80 && len(marks) > 0:
			i := rng.IntN(len(marks))
			x.RollbackTo(marks[i].m)
			model, marks = marks[i].model, marks[:i]
		case r < 83:
			x.Reset()
			model, marks = cloneModel(committed), nil
		case r < 87:
			if b := x.Batch(); b != nil {
				last = b
			}
			commit(t, x)
			committed, marks = cloneModel(model), nil
		case r < 88 && last != nil && !x.Changed():
			// Replay: the last payload again.
			if err := c.Apply(last); err != nil {
				t.Fatal(err)
			}
		default:
			checkIndexes(t, rng, x, def, model[rel])
		}
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
	for _, rel := range rels {
		if got := dump(t, x, rel); !maps.Equal(got, model[rel]) {
			t.Errorf("%s: %d rows, want %d", mustDef(rel).name, len(got), len(model[rel]))
		}
	}
}

func cloneModel(m map[OID]map[string]string) map[OID]map[string]string {
	out := map[OID]map[string]string{}
	for k, v := range m {
		out[k] = maps.Clone(v)
	}
	return out
}

// pick returns a row at random, often one of few.
func pick(rng *rand.Rand, t *testing.T, x *Txn, rel OID) Row {
	rows, err := x.Rows(rel)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		return nil
	}
	return rows[rng.IntN(len(rows))]
}

func randomRow(rng *rand.Rand, def *relDef) Row {
	row := make(Row, len(def.cols))
	for i, typ := range def.cols {
		switch {
		case types.ClassOf(typ) == types.Word && types.PhysOf(typ) == types.PhysBool:
			row[i] = types.BoolDatum(rng.IntN(2) == 0)
		case typ == types.Char:
			row[i] = charDatum('a' + byte(rng.IntN(4)))
		case typ == types.Oid || typ == types.Regproc:
			row[i] = oidDatum(OID(20000 + rng.IntN(60)))
		case types.ClassOf(typ) == types.Word:
			row[i] = types.Int64Datum(int64(rng.IntN(7) - 3))
		case typ == types.Name || typ == types.Text || typ == types.PgNodeTree:
			row[i] = types.TextDatum([]string{"", "a", "b\x00c", "schema", "longer than that"}[rng.IntN(5)] + fmt.Sprint(rng.IntN(9)))
		default:
			row[i] = types.NullDatum
		}
	}
	return row
}

// checkIndexes compares lookups by a prefix of each index with a full scan.
func checkIndexes(t *testing.T, rng *rand.Rand, x *Txn, def *relDef, want map[string]string) {
	t.Helper()
	if got := dump(t, x, def.oid); !maps.Equal(got, want) {
		t.Errorf("%s: %d rows, want %d", def.name, len(got), len(want))
		return
	}
	row := pick(rng, t, x, def.oid)
	if row == nil {
		return
	}
	for _, ix := range def.indexes {
		n := 1 + rng.IntN(len(ix.cols))
		var eq []Eq
		for _, c := range ix.cols[:n] {
			eq = append(eq, Eq{int(c), row[c]})
		}
		got := map[string]string{}
		if err := x.Scan(def.oid, eq, func(r Row) error {
			got[string(def.appendRowKey(nil, r))] = rowString(def, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		if err := x.Scan(def.oid, nil, func(r Row) error {
			if matches(def, r, eq) {
				all[string(def.appendRowKey(nil, r))] = rowString(def, r)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, all) {
			t.Errorf("%s by %s: %d rows, a full scan finds %d", def.name, ix.name, len(got), len(all))
		}
	}
}

func TestDuplicateNameIsUniqueViolation(t *testing.T) {
	x := testCatalog(t).Begin(DatabasePostgres)
	if err := x.Insert(PgNamespace, namespaceRow(20001, "pg_catalog")); !pgerr.HasCode(err, pgerr.UniqueViolation) {
		t.Errorf("got %v", err)
	} else if pgerr.From(err).Constraint != "pg_namespace_nspname_index" {
		t.Errorf("constraint %q", pgerr.From(err).Constraint)
	}
}

func TestBuiltinRowOverriddenThenDroppedThenCopied(t *testing.T) {
	c := testCatalog(t)
	x := c.Begin(DatabaseTemplate1)
	row := must(x.Get(PgNamespace, oidDatum(NamespacePublic)))(t)
	row = slices.Clone(row)
	row[NamespaceNspname] = types.TextDatum("openly")
	if err := x.Update(PgNamespace, row); err != nil {
		t.Fatal(err)
	}
	commit(t, x)
	if n := must(x.NamespaceByName("public"))(t); n != nil {
		t.Errorf("the old name is still there: %v", n)
	}
	if n := must(x.NamespaceByName("openly"))(t); n == nil || n.OID != NamespacePublic {
		t.Errorf("the new name gives %v", n)
	}
	if err := x.CopyDatabase(DatabaseTemplate1, 30000); err != nil {
		t.Fatal(err)
	}
	commit(t, x)
	y := c.Begin(30000)
	if n := must(y.NamespaceByOID(NamespacePublic))(t); n == nil || n.Name != "openly" {
		t.Errorf("in the copy it is %v", n)
	}
	if err := y.Delete(PgNamespace, row); err != nil {
		t.Fatal(err)
	}
	commit(t, y)
	if n := must(y.NamespaceByOID(NamespacePublic))(t); n != nil {
		t.Errorf("after the drop it is %v", n)
	}
	if n := must(x.NamespaceByOID(NamespacePublic))(t); n == nil {
		t.Error("the drop reached the template")
	}
	if err := x.DropDatabase(30000); err != nil {
		t.Fatal(err)
	}
	commit(t, x)
	if n := must(y.NamespaceByName("openly"))(t); n != nil {
		t.Error("rows of the dropped database are left")
	}
}

func TestSchemaOfSharedCatalogIsSeenInAllDatabases(t *testing.T) {
	c := testCatalog(t)
	x, y := c.Begin(DatabasePostgres), c.Begin(DatabaseTemplate1)
	row := slices.Clone(must(x.Get(PgAuthid, oidDatum(BootstrapRole)))(t))
	row[AuthidOid], row[AuthidRolname] = oidDatum(20500), types.TextDatum("joe")
	if err := x.Insert(PgAuthid, row); err != nil {
		t.Fatal(err)
	}
	commit(t, x)
	if r := must(y.RoleByName("joe"))(t); r == nil || !r.Super {
		t.Errorf("got %v", r)
	}
}

// TestCacheUnderConcurrentCommits reads one relation's descriptor from several sessions while another
// changes it: a reader must never get an older one than a commit it has seen (invariant 2).
func TestCacheUnderConcurrentCommits(t *testing.T) {
	c := testCatalog(t)
	w := c.Begin(DatabasePostgres)
	makeTable(t, w, 20000, "t", "a", "b")
	commit(t, w)
	var done sync.WaitGroup
	stop := make(chan struct{})
	var floor sync.Map
	floor.Store(0, int32(0))
	for range 4 {
		done.Go(func() {
			x := c.Begin(DatabasePostgres)
			for {
				select {
				case <-stop:
					return
				default:
				}
				low, _ := floor.Load(0)
				r, err := x.RelationByOID(20000)
				if err != nil || r == nil || len(r.Attrs) != 2 || r.Pages < low.(int32) {
					t.Errorf("relation %+v, error %v, at least %d pages", r, err, low)
					return
				}
			}
		})
	}
	for i := int32(1); i <= 300; i++ {
		row := slices.Clone(must(w.Get(PgClass, oidDatum(20000)))(t))
		row[ClassRelpages] = intDatum(i)
		if err := w.Update(PgClass, row); err != nil {
			t.Fatal(err)
		}
		commit(t, w)
		floor.Store(0, i)
	}
	close(stop)
	done.Wait()
}

// Two sessions change different columns of one row, as GRANT and CREATE INDEX do, with no lock between them.
func TestConcurrentUpdatesOfOneRowMerge(t *testing.T) {
	c := testCatalog(t)
	w, grant, index := c.Begin(DatabasePostgres), c.Begin(DatabasePostgres), c.Begin(DatabasePostgres)
	makeTable(t, w, 20000, "t", "a")
	commit(t, w)
	row := slices.Clone(must(grant.Get(PgClass, oidDatum(20000)))(t))
	row[ClassRelacl] = ACLDatum([]ACLItem{{Grantee: 0, Grantor: BootstrapRole, Privs: AclSelect}})
	if err := grant.Update(PgClass, row); err != nil {
		t.Fatal(err)
	}
	row = slices.Clone(must(index.Get(PgClass, oidDatum(20000)))(t))
	row[ClassRelhasindex] = types.BoolDatum(true)
	if err := index.Update(PgClass, row); err != nil {
		t.Fatal(err)
	}
	first, second := index.Batch(), grant.Batch()
	for _, p := range [][]byte{first, second, first, second} {
		if err := c.Apply(p); err != nil {
			t.Fatal(err)
		}
	}
	r := must(w.RelationByOID(20000))(t)
	if !r.HasIndex || len(r.ACL) != 1 {
		t.Errorf("has index %v, ACL %v", r.HasIndex, r.ACL)
	}
	// A patch of a row that was dropped meanwhile changes nothing.
	if _, err := w.DeleteWhere(PgClass, Eq{ClassOid, oidDatum(20000)}); err != nil {
		t.Fatal(err)
	}
	commit(t, w)
	if err := c.Apply(second); err != nil {
		t.Fatal(err)
	}
	if r := must(w.RelationByOID(20000))(t); r != nil {
		t.Error("the dropped table is back")
	}
}
