package catalog

import (
	"slices"
	"testing"

	"github.com/minipg/minipg/types"
)

// makeTable writes the rows that CREATE TABLE name (col int, ...) writes: relation oid, row type oid+1, array type
// oid+2; and their dependencies.
func makeTable(t *testing.T, x *Txn, oid OID, name string, cols ...string) {
	t.Helper()
	row := slices.Clone(must(x.Get(PgClass, oidDatum(PgAm)))(t))
	row[ClassOid], row[ClassRelname] = oidDatum(oid), types.TextDatum(name)
	row[ClassRelnamespace], row[ClassReltype] = oidDatum(NamespacePublic), oidDatum(oid+1)
	row[ClassRelnatts], row[ClassRelhasindex] = intDatum(len(cols)), types.BoolDatum(false)
	row[ClassFileNumber], row[ClassRelacl] = types.Uint64Datum(1<<32+uint64(oid)), types.NullDatum
	insert(t, x, PgClass, row)
	for i, c := range cols {
		a := make(Row, len(mustDef(PgAttribute).cols))
		attributeRow(oid, int16(i+1), &builtinAttr{Name: c, Type: types.Int4}, a)
		insert(t, x, PgAttribute, a)
	}
	rowType := make(Row, len(mustDef(PgType).cols))
	base := *byOID(builtinTypes[:], typeKey, 83) // pg_class
	base.OID, base.Name, base.Namespace, base.RelID, base.Array = oid+1, name, NamespacePublic, oid, oid+2
	typeRow(&base, rowType)
	insert(t, x, PgType, rowType)
	arr := *byOID(builtinTypes[:], typeKey, types.TextArray)
	arr.OID, arr.Name, arr.Namespace, arr.Elem = oid+2, "_"+name, NamespacePublic, oid+1
	typeRow(&arr, rowType)
	insert(t, x, PgType, rowType)
	rel, typ := Object{Class: PgClass, OID: oid}, Object{Class: PgType, OID: oid + 1}
	depend(t, x, rel, Object{Class: PgNamespace, OID: NamespacePublic}, DepNormal)
	depend(t, x, typ, rel, DepInternal)
	depend(t, x, Object{Class: PgType, OID: oid + 2}, typ, DepInternal)
}

func insert(t *testing.T, x *Txn, rel OID, row Row) {
	t.Helper()
	if err := x.Insert(rel, row); err != nil {
		t.Fatal(err)
	}
}

func depend(t *testing.T, x *Txn, obj, ref Object, kind DepType) {
	t.Helper()
	if err := x.AddDependency(obj, ref, kind); err != nil {
		t.Fatal(err)
	}
}

// makeIndex writes a unique index on one column.
func makeIndex(t *testing.T, x *Txn, oid, table OID, name string, att int16) {
	t.Helper()
	row := slices.Clone(must(x.Get(PgClass, oidDatum(2690)))(t)) // pg_proc_oid_index
	row[ClassOid], row[ClassRelname] = oidDatum(oid), types.TextDatum(name)
	row[ClassRelnamespace], row[ClassFileNumber] = oidDatum(NamespacePublic), types.Uint64Datum(uint64(oid))
	row[ClassReloptions] = TextArrayDatum([]string{"fillfactor=70"})
	insert(t, x, PgClass, row)
	a := make(Row, len(mustDef(PgAttribute).cols))
	attributeRow(oid, 1, &builtinAttr{Name: "a", Type: types.Int4}, a)
	insert(t, x, PgAttribute, a)
	ix := slices.Clone(must(x.Get(PgIndex, oidDatum(2690)))(t))
	ix[IndexIndexrelid], ix[IndexIndrelid], ix[IndexIndkey] = oidDatum(oid), oidDatum(table), Int2VectorDatum([]int16{att})
	ix[IndexIndclass] = OIDVectorDatum([]OID{1978}) // int4_ops
	ix[IndexIndoption] = Int2VectorDatum([]int16{3})
	insert(t, x, PgIndex, ix)
	c := slices.Clone(must(x.Get(PgClass, oidDatum(table)))(t))
	c[ClassRelhasindex] = types.BoolDatum(true)
	if err := x.Update(PgClass, c); err != nil {
		t.Fatal(err)
	}
}

func TestTableDescriptor(t *testing.T) {
	c := testCatalog(t)
	x := c.Begin(DatabasePostgres)
	makeTable(t, x, 20000, "t", "a", "b")
	makeIndex(t, x, 20010, 20000, "t_a_idx", 1)
	r := must(x.RelationByName(NamespacePublic, "t"))(t)
	if r == nil || r.Kind != KindTable || len(r.Attrs) != 2 || r.AttrByName("b").Num != 2 || r.AttrByName("c") != nil {
		t.Fatalf("relation %+v", r)
	}
	if r.File.Number != 1<<32+20000 || r.File.Tablespace != 1663 || r.File.Database != 5 {
		t.Errorf("file %v", r.File)
	}
	class := must(x.Get(PgClass, oidDatum(20000)))(t)
	if class[ClassRelfilenode].OID() != 20000 {
		t.Errorf("relfilenode %d", class[ClassRelfilenode].OID())
	}
	if len(r.Indexes) != 1 {
		t.Fatalf("%d indexes", len(r.Indexes))
	}
	ix := r.Indexes[0]
	k := ix.Keys[0]
	if ix.Name != "t_a_idx" || !ix.Unique || ix.FillFactor != 70 || k.AttNum != 1 || k.Opfamily != 1976 || !k.Desc || !k.NullsFirst {
		t.Errorf("index %+v", ix)
	}
	if by := must(x.IndexByOID(20010))(t); by == nil || by.Table != 20000 {
		t.Errorf("index by OID %+v", by)
	}
	info := must(x.TypeInfo(20002))(t)
	if info == nil || !info.IsArray() || info.Elem != 20001 {
		t.Errorf("array type %+v", info)
	}
	if info = must(x.TypeInfo(20001))(t); len(info.Fields) != 2 || info.Array != 20002 {
		t.Errorf("row type %+v", info)
	}
	if s := must(x.FormatType(20002, -1, nil))(t); s != "public.t[]" {
		t.Errorf("array type is called %s", s)
	}
	if s := must(x.FormatType(20002, -1, []OID{NamespacePublic}))(t); s != "t[]" {
		t.Errorf("array type is called %s", s)
	}
}

func TestDescriptorsStayUntilTheirRelationChanges(t *testing.T) {
	c := testCatalog(t)
	x, y := c.Begin(DatabasePostgres), c.Begin(DatabasePostgres)
	makeTable(t, x, 20000, "t", "a", "b")
	makeTable(t, x, 20100, "u", "a")
	commit(t, x)
	rt := must(y.RelationByOID(20000))(t)
	ru := must(y.RelationByOID(20100))(t)

	makeIndex(t, x, 20010, 20000, "t_a_idx", 1)
	if !y.Current(rt) || x.Current(rt) || !x.Current(ru) {
		t.Error("a change that is not committed shows to others, or not to its maker")
	}
	m := x.Savepoint()
	own := must(x.RelationByOID(20000))(t)
	makeTable(t, x, 20200, "v", "a")
	x.RollbackTo(m)
	if again := must(x.RelationByOID(20000))(t); len(again.Indexes) != 1 || len(own.Indexes) != 1 {
		t.Error("the index is gone")
	}
	if must(x.RelationByName(NamespacePublic, "v"))(t) != nil {
		t.Error("v is still there")
	}
	commit(t, x)
	if y.Current(rt) || !y.Current(ru) {
		t.Error("t is current, or u is not")
	}
	if r := must(y.RelationByOID(20000))(t); len(r.Indexes) != 1 {
		t.Error("no index")
	}
	if must(y.RelationByOID(20100))(t) != ru {
		t.Error("u has a new descriptor")
	}
	// The index's own row is part of its table's descriptor.
	rt = must(y.RelationByOID(20000))(t)
	row := slices.Clone(must(x.Get(PgClass, oidDatum(20010)))(t))
	row[ClassFileNumber] = types.Uint64Datum(777)
	if err := x.Update(PgClass, row); err != nil {
		t.Fatal(err)
	}
	commit(t, x)
	if y.Current(rt) || must(y.RelationByOID(20000))(t).Indexes[0].File.Number != 777 {
		t.Error("the index's new file does not show")
	}
}

func TestNameLookupSeesDropAndRename(t *testing.T) {
	c := testCatalog(t)
	x, y := c.Begin(DatabasePostgres), c.Begin(DatabasePostgres)
	if must(y.RelationOID(NamespacePublic, "t"))(t) != 0 {
		t.Fatal("t is there already")
	}
	makeTable(t, x, 20000, "t", "a")
	commit(t, x)
	if must(y.RelationOID(NamespacePublic, "t"))(t) != 20000 {
		t.Fatal("t is not found")
	}
	row := slices.Clone(must(x.Get(PgClass, oidDatum(20000)))(t))
	row[ClassRelname] = types.TextDatum("s")
	if err := x.Update(PgClass, row); err != nil {
		t.Fatal(err)
	}
	commit(t, x)
	if must(y.RelationOID(NamespacePublic, "t"))(t) != 0 || must(y.RelationOID(NamespacePublic, "s"))(t) != 20000 {
		t.Error("the rename does not show")
	}
}

func TestEverySystemRelationHasADescriptor(t *testing.T) {
	x := testCatalog(t).Begin(DatabasePostgres)
	for i := range builtinClasses {
		b := &builtinClasses[i]
		r, err := x.RelationByOID(b.OID)
		if err != nil || r == nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		if len(r.Attrs) != len(b.Attrs) || !r.System {
			t.Errorf("%s has %d columns, want %d", b.Name, len(r.Attrs), len(b.Attrs))
		}
		if r.Kind == KindView && r.ViewDef == "" {
			t.Errorf("view %s has no definition", b.Name)
		}
		if r.Kind == KindIndex && r.Index == nil {
			t.Errorf("index %s has no keys", b.Name)
		}
	}
}

func TestDefaultOpclass(t *testing.T) {
	x := testCatalog(t).Begin(DatabasePostgres)
	for _, c := range []struct {
		am, typ OID
		want    string
	}{
		{AMBtree, types.Int4, "int4_ops"},
		{AMBtree, types.Varchar, "text_ops"},
		{AMBtree, types.Bpchar, "bpchar_ops"},
		{AMBtree, types.Name, "name_ops"},
		{AMBtree, types.Int4Array, "array_ops"},
		{AMBtree, types.Regclass, "oid_ops"},
		{AMBtree, types.Inet, "inet_ops"},
		{AMBtree, types.Cidr, "inet_ops"},
		{AMBtree, types.Json, ""},
		{AMHash, types.Text, "text_ops"},
		{AMGin, types.TextArray, "array_ops"},
		{AMBtree, 83, "record_ops"},
		{AMBtree, 13224, "text_ops"}, // information_schema.character_data, a domain over varchar
	} {
		got := ""
		if o := must(x.DefaultOpclass(c.am, c.typ))(t); o != nil {
			got = o.Name
		}
		if got != c.want {
			t.Errorf("type %d by method %d: %q, want %q", c.typ, c.am, got, c.want)
		}
	}
}

func TestFamilies(t *testing.T) {
	x := testCatalog(t).Begin(DatabasePostgres)
	if op := must(x.OpfamilyMember(1976, types.Int4, types.Int8, 3))(t); op != 15 {
		t.Errorf("int4 = int8 is operator %d", op)
	}
	if p := must(x.OpfamilyProc(1976, types.Int4, types.Int4, 1))(t); p != 351 {
		t.Errorf("btint4cmp is %d", p)
	}
	fams := must(x.OperatorFamilies(96))(t) // int4 = int4
	if len(fams) < 2 {
		t.Errorf("int4 = is in %d families", len(fams))
	}
	c := must(x.Cast(types.Int4, types.Int8))(t)
	if c == nil || c.Context != 'i' || c.Func != 481 {
		t.Errorf("cast %+v", c)
	}
}
