package ddl

import (
	"slices"
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
)

func itoa(n int) string { return strconv.Itoa(n) }

// maxIndexColumns is PostgreSQL's INDEX_MAX_KEYS.
const maxIndexColumns = 32

// indexColumn is a column of an index to be made.
type indexColumn struct {
	attnum     int16 // 0 with an expression
	expr       analyze.Expr
	name       string
	typ        OID
	typmod     int32
	opclass    OID
	collation  OID
	desc       bool
	nullsFirst bool
}

type indexFlags struct {
	unique, primary, nullsNotDistinct bool
}

// newIndex is all that is needed to make an index.
type newIndex struct {
	name      string
	columns   []indexColumn
	nkeys     int
	flags     indexFlags
	predicate analyze.Expr
	options   []string
	fill      int
	space     OID // tablespace, 0 for the database's own
	// constraint: the index upholds one, of that kind.
	constraint catalog.ConstraintKind
}

// createIndex carries out CREATE INDEX.
func (e *Env) createIndex(n *pg_query.IndexStmt) error {
	if n.AccessMethod != "" && n.AccessMethod != "btree" {
		am, err := e.Cat.AMByName(n.AccessMethod)
		if err != nil {
			return err
		}
		if am == nil {
			return pgerr.New(pgerr.UndefinedObject, "access method \"%s\" does not exist", n.AccessMethod)
		}
		return unsupported("access method \"%s\" is not supported", n.AccessMethod)
	}
	if n.Concurrent {
		if err := e.Host.PreventInBlock("CREATE INDEX CONCURRENTLY"); err != nil {
			return err
		}
	}
	rel, err := e.openRelation(n.Relation, locks.Share)
	if err != nil {
		return err
	}
	if rel.Kind != catalog.KindTable {
		return pgerr.New(pgerr.WrongObjectType, "cannot create index on relation \"%s\"", rel.Name).
			WithDetail("This operation is not supported for %s.", rel.Kind.Plural())
	}
	x := &newIndex{name: n.Idxname, flags: indexFlags{unique: n.Unique, nullsNotDistinct: n.NullsNotDistinct}}
	if x.space, err = e.newTablespace(n.TableSpace, rel.Persistence); err != nil {
		return err
	}
	if x.options, x.fill, err = storageOptions(n.Options); err != nil {
		return err
	}
	for _, p := range n.IndexParams {
		c, err := e.indexColumn(rel, p.GetIndexElem(), true)
		if err != nil {
			return err
		}
		x.columns = append(x.columns, c)
	}
	x.nkeys = len(x.columns)
	for _, p := range n.IndexIncludingParams {
		el := p.GetIndexElem()
		if el.Expr != nil {
			return unsupported("expressions are not supported in included columns")
		}
		if err := includedPlainly(el); err != nil {
			return err
		}
		c, err := e.indexColumn(rel, el, false)
		if err != nil {
			return err
		}
		x.columns = append(x.columns, c)
	}
	if len(x.columns) > maxIndexColumns {
		return pgerr.New(pgerr.TooManyColumns, "cannot use more than %d columns in an index", maxIndexColumns)
	}
	if n.WhereClause != nil {
		if x.predicate, err = analyze.AnalyzeExpr(e.analysis(), n.WhereClause, e.Text, rel, analyze.ForIndexPredicate); err != nil {
			return err
		}
		if err := e.checkImmutable(x.predicate, "predicate"); err != nil {
			return err
		}
	}
	_, err = e.makeIndex(rel, x, n.IfNotExists)
	return err
}

// checkImmutable refuses an expression of an index whose value may change while the row stays.
func (e *Env) checkImmutable(x analyze.Expr, what string) error {
	v, err := analyze.Volatility(e.analysis(), x)
	if err == nil && v != 'i' {
		err = pgerr.New(pgerr.InvalidObjectDefinition, "functions in index %s must be marked IMMUTABLE", what)
	}
	return err
}

// includedPlainly refuses what only key columns may have.
func includedPlainly(el *pg_query.IndexElem) error {
	what := ""
	switch {
	case len(el.Collation) > 0:
		what = "a collation"
	case len(el.Opclass) > 0:
		what = "an operator class"
	case el.Ordering != pg_query.SortByDir_SORTBY_DEFAULT && el.Ordering != pg_query.SortByDir_SORT_BY_DIR_UNDEFINED:
		what = "ASC/DESC options"
	case el.NullsOrdering != pg_query.SortByNulls_SORTBY_NULLS_DEFAULT && el.NullsOrdering != pg_query.SortByNulls_SORT_BY_NULLS_UNDEFINED:
		what = "NULLS FIRST/LAST options"
	default:
		return nil
	}
	return pgerr.New(pgerr.InvalidObjectDefinition, "including column does not support %s", what)
}

// indexColumn resolves one column of an index.
func (e *Env) indexColumn(rel *catalog.Relation, el *pg_query.IndexElem, key bool) (indexColumn, error) {
	c := indexColumn{typmod: -1}
	if el.Name != "" {
		a := rel.AttrByName(el.Name)
		if a == nil {
			if _, num := catalog.SystemAttr(el.Name); num != 0 {
				return c, unsupported("index creation on system columns is not supported")
			}
			return c, pgerr.New(pgerr.UndefinedColumn, "column \"%s\" does not exist", el.Name)
		}
		c.attnum, c.name, c.typ, c.typmod, c.collation = a.Num, a.Name, a.Type, a.Typmod, a.Collation
	} else {
		x, err := analyze.AnalyzeExpr(e.analysis(), el.Expr, e.Text, rel, analyze.ForIndexExpression)
		if err != nil {
			return c, err
		}
		// The index has the collation; its expression is what is collated.
		c.collation = x.Collation()
		for {
			coll, ok := x.(*analyze.CollateExpr)
			if !ok {
				break
			}
			x = coll.Arg
		}
		if v, ok := x.(*analyze.Var); ok && v.Attno > 0 {
			a := rel.Attr(int16(v.Attno))
			c.attnum, c.name, c.typ, c.typmod = a.Num, a.Name, a.Type, a.Typmod
		} else {
			if err := e.checkImmutable(x, "expression"); err != nil {
				return c, err
			}
			c.expr, c.typ, c.typmod = x, x.Type(), x.Typmod()
			c.name = analyze.FigureIndexName(el.Expr)
		}
	}
	if el.Indexcolname != "" {
		c.name = el.Indexcolname
	}
	if len(el.Collation) > 0 {
		t, err := e.Cat.TypeByOID(c.typ)
		if err != nil {
			return c, err
		}
		if t.Collation == 0 {
			return c, pgerr.New(pgerr.DatatypeMismatch, "collations are not supported by type %s", typeText(e, c.typ))
		}
		if c.collation, err = e.collation(el.Collation); err != nil {
			return c, err
		}
	}
	if !key {
		return c, nil
	}
	c.desc = el.Ordering == pg_query.SortByDir_SORTBY_DESC
	c.nullsFirst = c.desc
	switch el.NullsOrdering {
	case pg_query.SortByNulls_SORTBY_NULLS_FIRST:
		c.nullsFirst = true
	case pg_query.SortByNulls_SORTBY_NULLS_LAST:
		c.nullsFirst = false
	}
	var err error
	c.opclass, err = e.opclass(c.typ, el.Opclass)
	return c, err
}

// opclass finds the btree operator class of a type, by name or the default one.
func (e *Env) opclass(typ OID, names []*pg_query.Node) (OID, error) {
	if len(names) == 0 {
		oc, err := e.Cat.DefaultOpclass(catalog.AMBtree, typ)
		if err != nil {
			return 0, err
		}
		if oc == nil {
			return 0, pgerr.New(pgerr.UndefinedObject, "data type %s has no default operator class for access method \"btree\"", typeText(e, typ)).
				WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
		}
		return oc.OID, nil
	}
	// All there are lie in pg_catalog.
	name, ns := names[len(names)-1].GetString_().GetSval(), catalog.NamespacePgCatalog
	shown := name
	if len(names) > 1 {
		schema := names[len(names)-2].GetString_().GetSval()
		shown = schema + "." + name
		var err error
		if ns, err = e.Host.Schema(schema); err != nil {
			return 0, err
		}
		if ns == 0 {
			return 0, pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", schema)
		}
	}
	oc, err := e.Cat.OpclassByName(catalog.AMBtree, ns, name)
	if err != nil {
		return 0, err
	}
	if oc == nil {
		return 0, pgerr.New(pgerr.UndefinedObject, "operator class \"%s\" does not exist for access method \"btree\"", shown)
	}
	return oc.OID, e.classAccepts(oc, shown, typ)
}

// makeIndex makes an index and fills it from the table. It returns 0 where IF NOT EXISTS found one.
func (e *Env) makeIndex(rel *catalog.Relation, x *newIndex, ifNotExists bool) (OID, error) {
	if err := e.nameIndex(rel, x); err != nil {
		return 0, err
	}
	if err := e.lockName(catalog.PgClass, rel.Namespace, x.name); err != nil {
		return 0, err
	}
	if old, err := e.Cat.RelationOID(rel.Namespace, x.name); err != nil {
		return 0, err
	} else if old != 0 {
		if ifNotExists {
			e.notice(pgerr.DuplicateTable, "relation \"%s\" already exists, skipping", x.name)
			return 0, nil
		}
		return 0, pgerr.New(pgerr.DuplicateTable, "relation \"%s\" already exists", x.name)
	}
	oid, err := e.insertIndex(rel, x)
	if err != nil {
		return 0, err
	}
	return oid, e.fillIndex(rel.OID, oid)
}

// fillIndex builds an index whose rows and file have been made.
func (e *Env) fillIndex(table, index OID) error {
	rel, err := e.Cat.RelationByOID(table)
	if err != nil {
		return err
	}
	for _, idx := range rel.Indexes {
		if idx.OID != index {
			continue
		}
		res, err := e.Session.BuildIndex(e.Ctx, rel, idx)
		if err != nil {
			return err
		}
		if err := e.updateClass(index, func(row catalog.Row) {
			row[catalog.ClassRelpages] = intD(res.Pages)
			row[catalog.ClassReltuples] = floatD(res.Entries)
		}); err != nil {
			return err
		}
		if res.BrokenHOT {
			return e.updateIndex(index, func(row catalog.Row) { row[catalog.IndexIndcheckxmin] = boolD(true) })
		}
		return nil
	}
	return pgerr.New(pgerr.InternalError, "cache lookup failed for index %d", index)
}

func (e *Env) updateIndex(oid OID, change func(row catalog.Row)) error {
	row, err := e.Cat.Get(catalog.PgIndex, oidD(oid))
	if err != nil {
		return err
	}
	row = append(catalog.Row(nil), row...)
	change(row)
	return e.Cat.Update(catalog.PgIndex, row)
}

// nameIndex gives an index without a name PostgreSQL's choice.
func (e *Env) nameIndex(rel *catalog.Relation, x *newIndex) (err error) {
	x.numberColumns()
	if x.name != "" {
		x.name = truncateName(x.name)
		return nil
	}
	var names []string
	for i := range x.columns {
		names = append(names, x.columns[i].name)
	}
	switch {
	case x.constraint == catalog.ConstraintPrimary:
		x.name, err = e.freeRelationName(rel.Name, "", "pkey", rel.Namespace, nil)
	case x.constraint == catalog.ConstraintUnique:
		x.name, err = e.freeRelationName(rel.Name, columnsPart(names), "key", rel.Namespace, nil)
	default:
		x.name, err = e.freeRelationName(rel.Name, columnsPart(names), "idx", rel.Namespace, nil)
	}
	return err
}

// numberColumns gives a column that is in the index again a name of its own. Follows ChooseIndexColumnNames.
func (x *newIndex) numberColumns() {
	taken := make(map[string]bool, len(x.columns))
	for i := range x.columns {
		c := &x.columns[i]
		name := c.name
		for n := 1; taken[name]; n++ {
			digits := itoa(n)
			name = clip(c.name, maxNameLen-len(digits)) + digits
		}
		c.name = name
		taken[name] = true
	}
}

// insertIndex writes the rows of an index and makes its file.
func (e *Env) insertIndex(rel *catalog.Relation, x *newIndex) (OID, error) {
	oid, err := e.Cat.NewOID(catalog.PgClass)
	if err != nil {
		return 0, err
	}
	file, err := e.Session.CreateRelationFile(e.Ctx, x.space, rel.Persistence)
	if err != nil {
		return 0, err
	}
	err = e.insertClass(&relation{
		oid: oid, name: x.name, schema: rel.Namespace, kind: catalog.KindIndex, persistence: rel.Persistence, owner: rel.Owner,
		am: catalog.AMBtree, file: file, tablespace: x.space, natts: len(x.columns), options: x.options,
	})
	if err != nil {
		return 0, err
	}
	for i := range x.columns {
		c := &x.columns[i]
		col := column{num: int16(i + 1), name: c.name, typ: c.typ, typmod: c.typmod, collation: c.collation}
		if err := e.insertAttribute(oid, &col); err != nil {
			return 0, err
		}
	}
	predicate := ""
	if x.predicate != nil {
		if predicate, err = e.stored(x.predicate, rel); err != nil {
			return 0, err
		}
	}
	if err := e.insertIndexRow(oid, rel.OID, x.columns, x.nkeys, x.flags, rel, predicate); err != nil {
		return 0, err
	}
	if err := e.updateClass(rel.OID, func(row catalog.Row) { row[catalog.ClassRelhasindex] = boolD(true) }); err != nil {
		return 0, err
	}
	return oid, e.indexDependencies(rel, oid, x)
}

// indexDependencies ties an index to its table's columns, or to the constraint it upholds.
func (e *Env) indexDependencies(rel *catalog.Relation, oid OID, x *newIndex) error {
	self := catalog.Object{Class: catalog.PgClass, OID: oid}
	var uses []catalog.Object
	for i := range x.columns {
		if c := &x.columns[i]; c.attnum != 0 {
			uses = append(uses, catalog.Object{Class: catalog.PgClass, OID: rel.OID, Sub: int32(c.attnum)})
		} else {
			uses = append(uses, e.uses(c.expr, rel.OID)...)
		}
	}
	if x.predicate != nil {
		uses = append(uses, e.uses(x.predicate, rel.OID)...)
	}
	if x.constraint != 0 {
		c := &constraint{name: x.name, schema: rel.Namespace, kind: x.constraint, rel: rel.OID, index: oid}
		for i := range x.nkeys {
			c.key = append(c.key, x.columns[i].attnum)
		}
		con, err := e.insertConstraint(c)
		if err != nil {
			return err
		}
		return e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgConstraint, OID: con}, catalog.DepInternal)
	}
	if len(uses) == 0 {
		uses = append(uses, catalog.Object{Class: catalog.PgClass, OID: rel.OID})
	}
	return e.addUses(self, uses, catalog.DepAuto)
}

// insertIndexRow writes the pg_index row.
func (e *Env) insertIndexRow(oid, table OID, cols []indexColumn, nkeys int, f indexFlags, rel *catalog.Relation, predicate string) error {
	keys := make([]int16, len(cols))
	classes := make([]OID, 0, nkeys)
	collations := make([]OID, 0, nkeys)
	options := make([]int16, 0, nkeys)
	var exprs []string
	for i := range cols {
		c := &cols[i]
		keys[i] = c.attnum
		if c.attnum == 0 {
			text, err := e.stored(c.expr, rel)
			if err != nil {
				return err
			}
			exprs = append(exprs, text)
		}
		if i >= nkeys {
			continue
		}
		classes = append(classes, c.opclass)
		collations = append(collations, c.collation)
		var opt int16
		if c.desc {
			opt |= 1
		}
		if c.nullsFirst {
			opt |= 2
		}
		options = append(options, opt)
	}
	row := newRow(catalog.IndexIndpred + 1)
	row[catalog.IndexIndexrelid] = oidD(oid)
	row[catalog.IndexIndrelid] = oidD(table)
	row[catalog.IndexIndnatts] = intD(len(cols))
	row[catalog.IndexIndnkeyatts] = intD(nkeys)
	row[catalog.IndexIndisunique] = boolD(f.unique || f.primary)
	row[catalog.IndexIndnullsnotdistinct] = boolD(f.nullsNotDistinct)
	row[catalog.IndexIndisprimary] = boolD(f.primary)
	row[catalog.IndexIndisexclusion] = boolD(false)
	row[catalog.IndexIndimmediate] = boolD(true)
	row[catalog.IndexIndisclustered] = boolD(false)
	row[catalog.IndexIndisvalid] = boolD(true)
	row[catalog.IndexIndcheckxmin] = boolD(false)
	row[catalog.IndexIndisready] = boolD(true)
	row[catalog.IndexIndislive] = boolD(true)
	row[catalog.IndexIndisreplident] = boolD(false)
	row[catalog.IndexIndkey] = catalog.Int2VectorDatum(keys)
	row[catalog.IndexIndcollation] = catalog.OIDVectorDatum(collations)
	row[catalog.IndexIndclass] = catalog.OIDVectorDatum(classes)
	row[catalog.IndexIndoption] = catalog.Int2VectorDatum(options)
	if len(exprs) > 0 {
		row[catalog.IndexIndexprs] = textD(catalog.JoinExprs(exprs))
	}
	if predicate != "" {
		row[catalog.IndexIndpred] = textD(predicate)
	}
	return e.Cat.Insert(catalog.PgIndex, row)
}

// addIndexConstraint makes the index of a PRIMARY KEY or UNIQUE constraint.
func (e *Env) addIndexConstraint(table OID, d *indexDef) error {
	rel, err := e.Cat.RelationByOID(table)
	if err != nil {
		return err
	}
	space, err := e.newTablespace(d.space, rel.Persistence)
	if err != nil {
		return err
	}
	x := &newIndex{
		name: d.name, flags: indexFlags{unique: true, primary: d.primary, nullsNotDistinct: d.nullsNotDistinct},
		options: d.options, constraint: catalog.ConstraintUnique, space: space,
	}
	if d.primary {
		x.constraint = catalog.ConstraintPrimary
		if rel.PrimaryKey() != nil {
			return pgerr.New(pgerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", rel.Name)
		}
	}
	for i, name := range append(append([]string(nil), d.columns...), d.including...) {
		if i < len(d.columns) && slices.Contains(d.columns[:i], name) {
			return e.at(repeatedKey(name, d.primary), d.location)
		}
		a := rel.AttrByName(name)
		if a == nil {
			return e.at(pgerr.New(pgerr.UndefinedColumn, "column \"%s\" named in key does not exist", name), d.location)
		}
		c := indexColumn{attnum: a.Num, name: a.Name, typ: a.Type, typmod: a.Typmod, collation: a.Collation}
		if i < len(d.columns) {
			if c.opclass, err = e.opclass(a.Type, nil); err != nil {
				return err
			}
		}
		x.columns = append(x.columns, c)
	}
	x.nkeys = len(d.columns)
	if d.name != "" {
		if err := e.constraintFree(rel, d.name); err != nil {
			return err
		}
	}
	_, err = e.makeIndex(rel, x, false)
	return err
}

// reindex carries out REINDEX.
func (e *Env) reindex(n *pg_query.ReindexStmt) error {
	switch n.Kind {
	case pg_query.ReindexObjectType_REINDEX_OBJECT_INDEX, pg_query.ReindexObjectType_REINDEX_OBJECT_TABLE:
	default:
		return unsupported("REINDEX of a schema, database or the system is not supported")
	}
	rel, err := e.findRelation(n.Relation)
	if err != nil {
		return err
	}
	if rel == nil {
		return undefinedRelation(n.Relation)
	}
	if n.Kind == pg_query.ReindexObjectType_REINDEX_OBJECT_TABLE {
		if rel, err = e.openRelation(n.Relation, locks.Share); err != nil {
			return err
		}
		for _, idx := range rel.Indexes {
			if err := e.rebuild(rel.OID, idx); err != nil {
				return err
			}
		}
		return nil
	}
	if rel.Kind != catalog.KindIndex {
		return pgerr.New(pgerr.WrongObjectType, "\"%s\" is not an index", rel.Name)
	}
	if err := e.lock(rel.Index.Table, locks.Share); err != nil {
		return err
	}
	return e.rebuild(rel.Index.Table, rel.Index)
}

// lockAgain locks a relation found earlier exclusively, and returns what it is by then.
func (e *Env) lockAgain(oid OID) (*catalog.Relation, error) {
	if err := e.lock(oid, locks.AccessExclusive); err != nil {
		return nil, err
	}
	rel, err := e.Cat.RelationByOID(oid)
	if err == nil && rel == nil {
		err = pgerr.New(pgerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	return rel, err
}

// lockIndexes locks the indexes of a table that is locked exclusively, since statements on an index alone may give it
// another file, and returns what the table is by then.
func (e *Env) lockIndexes(rel *catalog.Relation) (*catalog.Relation, error) {
	for _, x := range rel.Indexes {
		if err := e.lock(x.OID, locks.AccessExclusive); err != nil {
			return nil, err
		}
	}
	return e.lockAgain(rel.OID)
}

// rebuild gives an index a new file and fills it.
func (e *Env) rebuild(table OID, idx *catalog.Index) error {
	rel, err := e.lockAgain(idx.OID)
	if err != nil {
		return err
	}
	idx = rel.Index
	file, err := e.Session.CreateRelationFile(e.Ctx, idx.Tablespace, idx.Persistence)
	if err != nil {
		return err
	}
	e.Session.DropRelationFile(idx.File)
	if err := e.updateClass(idx.OID, func(row catalog.Row) {
		row[catalog.ClassFileNumber] = fileD(file)
	}); err != nil {
		return err
	}
	return e.fillIndex(table, idx.OID)
}
