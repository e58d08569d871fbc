package ddl

import (
	"sort"
	"strconv"
	"strings"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// newRow makes a catalog row of n columns, all null.
func newRow(n int) catalog.Row {
	row := make(catalog.Row, n)
	for i := range row {
		row[i] = types.NullDatum
	}
	return row
}

func oidD(o OID) types.Datum                                  { return types.OIDDatum(o) }
func intD[T ~int | ~int16 | ~int32 | ~int64](v T) types.Datum { return types.Int64Datum(int64(v)) }
func boolD(b bool) types.Datum                                { return types.BoolDatum(b) }
func textD(s string) types.Datum                              { return types.TextDatum(s) }
func charD(c byte) types.Datum                                { return types.Int64Datum(int64(int8(c))) }
func floatD(f float64) types.Datum                            { return types.Float64Datum(f) }

// relation is a pg_class row to be made.
type relation struct {
	oid         OID
	name        string
	schema      OID
	kind        catalog.RelKind
	persistence byte
	owner       OID
	typ         OID
	am          OID
	file        storage.RelFile
	tablespace  OID
	toast       OID
	natts       int
	checks      int
	hasIndex    bool
	options     []string
}

func (e *Env) insertClass(r *relation) error {
	row := newRow(catalog.ClassFileNumber + 1)
	row[catalog.ClassOid] = oidD(r.oid)
	row[catalog.ClassRelname] = textD(r.name)
	row[catalog.ClassRelnamespace] = oidD(r.schema)
	row[catalog.ClassReltype] = oidD(r.typ)
	row[catalog.ClassReloftype] = oidD(0)
	row[catalog.ClassRelowner] = oidD(r.owner)
	row[catalog.ClassRelam] = oidD(r.am)
	row[catalog.ClassRelfilenode] = oidD(0)
	row[catalog.ClassFileNumber] = types.Uint64Datum(uint64(r.file.Number))
	row[catalog.ClassReltablespace] = oidD(r.tablespace)
	row[catalog.ClassRelpages] = intD(0)
	row[catalog.ClassReltuples] = floatD(-1)
	if r.kind == catalog.KindSequence {
		row[catalog.ClassRelpages], row[catalog.ClassReltuples] = intD(1), floatD(1)
	}
	row[catalog.ClassRelallvisible] = intD(0)
	row[catalog.ClassReltoastrelid] = oidD(r.toast)
	row[catalog.ClassRelhasindex] = boolD(r.hasIndex)
	row[catalog.ClassRelisshared] = boolD(false)
	row[catalog.ClassRelpersistence] = charD(r.persistence)
	row[catalog.ClassRelkind] = charD(byte(r.kind))
	row[catalog.ClassRelnatts] = intD(r.natts)
	row[catalog.ClassRelchecks] = intD(r.checks)
	for _, c := range []int{
		catalog.ClassRelhasrules, catalog.ClassRelhastriggers, catalog.ClassRelhassubclass,
		catalog.ClassRelrowsecurity, catalog.ClassRelforcerowsecurity, catalog.ClassRelispartition,
	} {
		row[c] = boolD(false)
	}
	row[catalog.ClassRelispopulated] = boolD(true)
	replident := byte('n')
	if r.kind == catalog.KindTable {
		replident = 'd'
	}
	row[catalog.ClassRelreplident] = charD(replident)
	row[catalog.ClassRelrewrite] = oidD(0)
	frozen := uint64(0)
	if r.kind == catalog.KindTable || r.kind == catalog.KindToast {
		frozen = 3
	}
	row[catalog.ClassRelfrozenxid] = types.Uint64Datum(frozen)
	row[catalog.ClassRelminmxid] = types.Uint64Datum(min(frozen, 1))
	if len(r.options) > 0 {
		row[catalog.ClassReloptions] = catalog.TextArrayDatum(r.options)
	}
	return e.Cat.Insert(catalog.PgClass, row)
}

// updateClass changes a pg_class row.
func (e *Env) updateClass(oid OID, change func(row catalog.Row)) error {
	row, err := e.Cat.Get(catalog.PgClass, oidD(oid))
	if err != nil {
		return err
	}
	if row == nil {
		return pgerr.New(pgerr.InternalError, "cache lookup failed for relation %d", oid)
	}
	row = append(catalog.Row(nil), row...)
	change(row)
	return e.Cat.Update(catalog.PgClass, row)
}

// updateAttribute changes a pg_attribute row.
func (e *Env) updateAttribute(rel OID, num int16, change func(row catalog.Row)) error {
	row, err := e.Cat.Get(catalog.PgAttribute, oidD(rel), intD(num))
	if err != nil {
		return err
	}
	if row == nil {
		return pgerr.New(pgerr.InternalError, "cache lookup failed for attribute %d of relation %d", num, rel)
	}
	row = append(catalog.Row(nil), row...)
	change(row)
	return e.Cat.Update(catalog.PgAttribute, row)
}

// insertAttribute writes a pg_attribute row.
func (e *Env) insertAttribute(rel OID, c *column) error {
	t, err := e.Cat.TypeByOID(c.typ)
	if err != nil {
		return err
	}
	if t == nil {
		return pgerr.New(pgerr.UndefinedObject, "type with OID %d does not exist", c.typ)
	}
	row := newRow(catalog.AttributeAttmissingval + 1)
	row[catalog.AttributeAttrelid] = oidD(rel)
	row[catalog.AttributeAttname] = textD(c.name)
	row[catalog.AttributeAtttypid] = oidD(c.typ)
	row[catalog.AttributeAttstattarget] = intD(-1)
	row[catalog.AttributeAttlen] = intD(t.Len)
	row[catalog.AttributeAttnum] = intD(c.num)
	row[catalog.AttributeAttndims] = intD(c.ndims)
	row[catalog.AttributeAttcacheoff] = intD(-1)
	row[catalog.AttributeAtttypmod] = intD(c.typmod)
	row[catalog.AttributeAttbyval] = boolD(t.ByVal)
	row[catalog.AttributeAttalign] = charD(t.Align)
	storageKind := t.Storage
	if c.storage != 0 {
		storageKind = c.storage
	}
	row[catalog.AttributeAttstorage] = charD(storageKind)
	row[catalog.AttributeAttcompression] = charD(0)
	row[catalog.AttributeAttnotnull] = boolD(c.notNull)
	row[catalog.AttributeAtthasdef] = boolD(c.hasDefault)
	row[catalog.AttributeAtthasmissing] = boolD(c.hasMissing)
	row[catalog.AttributeAttidentity] = charD(c.identity)
	row[catalog.AttributeAttgenerated] = charD(c.generated)
	row[catalog.AttributeAttisdropped] = boolD(false)
	row[catalog.AttributeAttislocal] = boolD(true)
	row[catalog.AttributeAttinhcount] = intD(0)
	row[catalog.AttributeAttcollation] = oidD(c.collation)
	if c.hasMissing {
		row[catalog.AttributeAttmissingval] = types.MakeArray(c.typ, []types.Datum{c.missing})
	}
	return e.Cat.Insert(catalog.PgAttribute, row)
}

// column is a column of a relation to be made.
type column struct {
	num        int16
	name       string
	typ        OID
	typmod     int32
	collation  OID
	ndims      int
	notNull    bool
	hasDefault bool
	hasMissing bool
	missing    types.Datum
	identity   byte
	generated  byte
	storage    byte
}

// insertDefault writes a pg_attrdef row and what the default depends on.
func (e *Env) insertDefault(rel OID, num int16, text string, generated bool, uses []catalog.Object) error {
	oid, err := e.Cat.NewOID(catalog.PgAttrdef)
	if err != nil {
		return err
	}
	row := newRow(catalog.AttrdefAdbin + 1)
	row[catalog.AttrdefOid] = oidD(oid)
	row[catalog.AttrdefAdrelid] = oidD(rel)
	row[catalog.AttrdefAdnum] = intD(num)
	row[catalog.AttrdefAdbin] = textD(text)
	if err := e.Cat.Insert(catalog.PgAttrdef, row); err != nil {
		return err
	}
	self := catalog.Object{Class: catalog.PgAttrdef, OID: oid}
	kind := catalog.DepAuto
	if generated {
		kind = catalog.DepInternal
	}
	if err := e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgClass, OID: rel, Sub: int32(num)}, kind); err != nil {
		return err
	}
	return e.addUses(self, uses, catalog.DepNormal)
}

// addUses records that obj depends on what its expression uses.
func (e *Env) addUses(obj catalog.Object, uses []catalog.Object, kind catalog.DepType) error {
	seen := make(map[catalog.Object]bool)
	for _, u := range uses {
		if seen[u] || u == obj {
			continue
		}
		seen[u] = true
		if err := e.Cat.AddDependency(obj, u, kind); err != nil {
			return err
		}
	}
	return nil
}

// dropDefault removes a column's default.
func (e *Env) dropDefault(rel OID, num int16) error {
	rows, err := e.Cat.Rows(catalog.PgAttrdef,
		catalog.Eq{Col: catalog.AttrdefAdrelid, Value: oidD(rel)}, catalog.Eq{Col: catalog.AttrdefAdnum, Value: intD(num)})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := e.Cat.DeleteDependencies(catalog.Object{Class: catalog.PgAttrdef, OID: row[catalog.AttrdefOid].OID()}); err != nil {
			return err
		}
		if err := e.Cat.Delete(catalog.PgAttrdef, row); err != nil {
			return err
		}
	}
	return nil
}

// insertTypes makes the row type of a table and the array type over it, and returns the former.
func (e *Env) insertTypes(rel OID, name string, schema, owner OID) (OID, error) {
	row, err := e.Cat.NewOID(catalog.PgType)
	if err != nil {
		return 0, err
	}
	array, err := e.Cat.NewOID(catalog.PgType)
	if err != nil {
		return 0, err
	}
	if err := e.typeNameFree(schema, name); err != nil {
		return 0, err
	}
	if err := e.insertType(row, name, schema, owner, 'c', rel, 0, array); err != nil {
		return 0, err
	}
	arrayName, err := e.arrayTypeName(schema, name)
	if err != nil {
		return 0, err
	}
	if err := e.insertType(array, arrayName, schema, owner, 'b', 0, row, 0); err != nil {
		return 0, err
	}
	rowObj := catalog.Object{Class: catalog.PgType, OID: row}
	if err := e.Cat.AddDependency(rowObj, catalog.Object{Class: catalog.PgClass, OID: rel}, catalog.DepInternal); err != nil {
		return 0, err
	}
	return row, e.Cat.AddDependency(catalog.Object{Class: catalog.PgType, OID: array}, rowObj, catalog.DepInternal)
}

func (e *Env) typeNameFree(schema OID, name string) error {
	t, err := e.Cat.TypeByName(schema, name)
	if err == nil && t != nil {
		return pgerr.New(pgerr.DuplicateObject, "type \"%s\" already exists", name).
			WithHint("A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.")
	}
	return err
}

// arrayTypeName is _name, with more underscores while that is taken.
func (e *Env) arrayTypeName(schema OID, name string) (string, error) {
	for try := "_" + name; ; try = "_" + try {
		try = truncateName(try)
		t, err := e.Cat.TypeByName(schema, try)
		if err != nil || t == nil {
			return try, err
		}
	}
}

// The functions and constants of composite and array types.
const (
	recordIn, recordOut, recordRecv, recordSend OID = 2290, 2291, 2402, 2403
	arrayIn, arrayOut, arrayRecv, arraySend     OID = 750, 751, 2400, 2401
	arrayAnalyze, arraySubscript                OID = 3816, 6179
)

func (e *Env) insertType(oid OID, name string, schema, owner OID, kind byte, rel, elem, array OID) error {
	row := newRow(catalog.TypeTypacl + 1)
	row[catalog.TypeOid] = oidD(oid)
	row[catalog.TypeTypname] = textD(name)
	row[catalog.TypeTypnamespace] = oidD(schema)
	row[catalog.TypeTypowner] = oidD(owner)
	row[catalog.TypeTyplen] = intD(-1)
	row[catalog.TypeTypbyval] = boolD(false)
	row[catalog.TypeTyptype] = charD(kind)
	category, in, out, recv, send, analyze, sub := byte('C'), recordIn, recordOut, recordRecv, recordSend, OID(0), OID(0)
	if kind == 'b' {
		category, in, out, recv, send, analyze, sub = 'A', arrayIn, arrayOut, arrayRecv, arraySend, arrayAnalyze, arraySubscript
	}
	row[catalog.TypeTypcategory] = charD(category)
	row[catalog.TypeTypispreferred] = boolD(false)
	row[catalog.TypeTypisdefined] = boolD(true)
	row[catalog.TypeTypdelim] = charD(',')
	row[catalog.TypeTyprelid] = oidD(rel)
	row[catalog.TypeTypsubscript] = oidD(sub)
	row[catalog.TypeTypelem] = oidD(elem)
	row[catalog.TypeTyparray] = oidD(array)
	row[catalog.TypeTypinput] = oidD(in)
	row[catalog.TypeTypoutput] = oidD(out)
	row[catalog.TypeTypreceive] = oidD(recv)
	row[catalog.TypeTypsend] = oidD(send)
	row[catalog.TypeTypmodin] = oidD(0)
	row[catalog.TypeTypmodout] = oidD(0)
	row[catalog.TypeTypanalyze] = oidD(analyze)
	row[catalog.TypeTypalign] = charD('d')
	row[catalog.TypeTypstorage] = charD('x')
	row[catalog.TypeTypnotnull] = boolD(false)
	row[catalog.TypeTypbasetype] = oidD(0)
	row[catalog.TypeTyptypmod] = intD(-1)
	row[catalog.TypeTypndims] = intD(0)
	row[catalog.TypeTypcollation] = oidD(0)
	return e.Cat.Insert(catalog.PgType, row)
}

// constraint is a pg_constraint row to be made.
type constraint struct {
	name                 string
	schema               OID
	kind                 catalog.ConstraintKind
	rel                  OID
	index                OID
	key                  []int16
	expr                 string
	invalid              bool
	noInherit            bool
	deferrable, deferred bool
}

func (e *Env) insertConstraint(c *constraint) (OID, error) {
	oid, err := e.Cat.NewOID(catalog.PgConstraint)
	if err != nil {
		return 0, err
	}
	row := newRow(catalog.ConstraintConbin + 1)
	row[catalog.ConstraintOid] = oidD(oid)
	row[catalog.ConstraintConname] = textD(c.name)
	row[catalog.ConstraintConnamespace] = oidD(c.schema)
	row[catalog.ConstraintContype] = charD(byte(c.kind))
	row[catalog.ConstraintCondeferrable] = boolD(c.deferrable)
	row[catalog.ConstraintCondeferred] = boolD(c.deferred)
	row[catalog.ConstraintConvalidated] = boolD(!c.invalid)
	row[catalog.ConstraintConrelid] = oidD(c.rel)
	row[catalog.ConstraintContypid] = oidD(0)
	row[catalog.ConstraintConindid] = oidD(c.index)
	row[catalog.ConstraintConparentid] = oidD(0)
	row[catalog.ConstraintConfrelid] = oidD(0)
	for _, col := range []int{catalog.ConstraintConfupdtype, catalog.ConstraintConfdeltype, catalog.ConstraintConfmatchtype} {
		row[col] = charD(' ')
	}
	row[catalog.ConstraintConislocal] = boolD(true)
	row[catalog.ConstraintConinhcount] = intD(0)
	row[catalog.ConstraintConnoinherit] = boolD(c.noInherit || c.kind != catalog.ConstraintCheck)
	if len(c.key) > 0 {
		row[catalog.ConstraintConkey] = catalog.Int2ArrayDatum(c.key)
	}
	if c.expr != "" {
		row[catalog.ConstraintConbin] = textD(c.expr)
	}
	if err := e.Cat.Insert(catalog.PgConstraint, row); err != nil {
		return 0, err
	}
	self := catalog.Object{Class: catalog.PgConstraint, OID: oid}
	for _, att := range c.key {
		ref := catalog.Object{Class: catalog.PgClass, OID: c.rel, Sub: int32(att)}
		if err := e.Cat.AddDependency(self, ref, catalog.DepAuto); err != nil {
			return 0, err
		}
	}
	if len(c.key) == 0 {
		err = e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgClass, OID: c.rel}, catalog.DepAuto)
	}
	return oid, err
}

// maxNameLen is NAMEDATALEN - 1.
const maxNameLen = 63

func truncateName(s string) string {
	if len(s) <= maxNameLen {
		return s
	}
	n := maxNameLen
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// objectName joins a relation's name, columns and a label so that it fits; the longer part is shortened first.
func objectName(name1, name2, label string) string {
	over := len(name1)
	room := maxNameLen
	if name2 != "" {
		over += len(name2)
		room--
	}
	if label != "" {
		room -= len(label) + 1
	}
	n1, n2 := len(name1), len(name2)
	for ; over > room; over-- {
		if n1 > n2 {
			n1--
		} else {
			n2--
		}
	}
	out := clip(name1, n1)
	if name2 != "" {
		out += "_" + clip(name2, n2)
	}
	if label != "" {
		out += "_" + label
	}
	return out
}

func clip(s string, n int) string {
	for n > 0 && n < len(s) && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:min(n, len(s))]
}

// freeRelationName is objectName with a number behind the label while a relation, or a name in taken, is called so.
func (e *Env) freeRelationName(name1, name2, label string, schema OID, taken map[string]bool) (string, error) {
	for i := 0; ; i++ {
		l := label
		if i > 0 {
			l += strconv.Itoa(i)
		}
		name := objectName(name1, name2, l)
		if taken[name] {
			continue
		}
		oid, err := e.Cat.RelationOID(schema, name)
		if err != nil {
			return "", err
		}
		if oid != 0 {
			continue
		}
		used, err := e.constraintInSchema(schema, name)
		if err != nil {
			return "", err
		}
		if !used || label == "idx" || label == "seq" {
			return name, nil
		}
	}
}

func (e *Env) constraintInSchema(schema OID, name string) (bool, error) {
	rows, err := e.Cat.Rows(catalog.PgConstraint, catalog.Eq{Col: catalog.ConstraintConname, Value: textD(name)},
		catalog.Eq{Col: catalog.ConstraintConnamespace, Value: oidD(schema)})
	return len(rows) > 0, err
}

// columnsPart joins column names for the name of an index.
func columnsPart(names []string) string {
	return clip(strings.Join(names, "_"), maxNameLen)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
