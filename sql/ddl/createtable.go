package ddl

import (
	"fmt"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// maxColumns is PostgreSQL's MaxHeapAttributeNumber.
const maxColumns = 1600

// tableDef collects what CREATE TABLE says before anything is written.
type tableDef struct {
	e       *Env
	rv      *pg_query.RangeVar
	schema  OID
	persist byte
	cols    []columnDef
	checks  []*pg_query.Constraint
	indexes []indexDef
	options []string
	fill    int
	space   OID // tablespace, 0 for the database's own
	pending []pendingSequence
	likes   []likeSource
}

// columnDef is a column with what is made after the table.
type columnDef struct {
	column
	def      *pg_query.Node // DEFAULT
	gen      *pg_query.Node // GENERATED ALWAYS AS
	seq      string         // the sequence a serial or identity column draws from
	location int32
}

// indexDef is a PRIMARY KEY or UNIQUE.
type indexDef struct {
	primary          bool
	name             string
	columns          []string
	including        []string
	nullsNotDistinct bool
	options          []string
	space            string
	location         int32
}

type pendingSequence struct {
	name     string
	column   int // in cols
	opts     []*pg_query.Node
	identity bool
	typ      OID
}

// createTable carries out CREATE TABLE.
func (e *Env) createTable(n *pg_query.CreateStmt) error {
	switch {
	case len(n.InhRelations) > 0 && n.Partbound == nil:
		return unsupported("table inheritance is not supported")
	case n.Partbound != nil, n.Partspec != nil:
		return unsupported("table partitioning is not supported")
	case n.OfTypename != nil:
		return unsupported("CREATE TABLE OF is not supported")
	case n.AccessMethod != "" && n.AccessMethod != "heap":
		return pgerr.New(pgerr.UndefinedObject, "access method \"%s\" does not exist", n.AccessMethod)
	}
	schema, err := e.creationSchema(n.Relation)
	if err != nil {
		return err
	}
	if err := e.lockName(catalog.PgClass, schema, n.Relation.Relname); err != nil {
		return err
	}
	name := n.Relation.Relname
	old, err := e.Cat.RelationOID(schema, name)
	if err != nil {
		return err
	}
	if old != 0 && n.IfNotExists {
		e.notice(pgerr.DuplicateTable, "relation \"%s\" already exists, skipping", name)
		return nil
	}
	d := &tableDef{e: e, rv: n.Relation, schema: schema, persist: persistenceOf(n.Relation)}
	for _, elt := range n.TableElts {
		if err := d.element(elt); err != nil {
			return err
		}
	}
	for _, c := range n.Constraints {
		if err := d.constraint(c.GetConstraint()); err != nil {
			return err
		}
	}
	for i := range d.indexes {
		if err := d.resolveKeys(&d.indexes[i]); err != nil {
			return err
		}
	}
	action, err := onCommit(n.Oncommit, d.persist)
	if err != nil {
		return err
	}
	if d.space, err = e.newTablespace(n.Tablespacename, d.persist); err != nil {
		return err
	}
	if d.options, d.fill, err = storageOptions(n.Options); err != nil {
		return err
	}
	if err := d.checkColumns(); err != nil {
		return err
	}
	// As late as PostgreSQL notices it: faults of the definition come first.
	if old != 0 {
		return pgerr.New(pgerr.DuplicateTable, "relation \"%s\" already exists", name)
	}
	rel, err := d.create()
	if err != nil {
		return err
	}
	if action != OnCommitNothing {
		e.Host.OnCommit(rel, action)
	}
	return nil
}

func persistenceOf(rv *pg_query.RangeVar) byte {
	switch rv.Relpersistence {
	case "t":
		return catalog.Temporary
	case "u":
		return catalog.Unlogged
	}
	if rv.Schemaname == "pg_temp" {
		return catalog.Temporary
	}
	return catalog.Permanent
}

// storageOptions reads WITH (...).
func storageOptions(list []*pg_query.Node) (options []string, fillFactor int, err error) {
	for _, o := range list {
		d := o.GetDefElem()
		name, value := strings.ToLower(d.Defname), optionText(d.Arg)
		if d.Defnamespace != "" && d.Defnamespace != "toast" {
			return nil, 0, pgerr.New(pgerr.InvalidParameterValue, "unrecognized parameter namespace \"%s\"", d.Defnamespace)
		}
		if d.Defnamespace == "toast" {
			name = "toast." + name
		}
		if err := checkOption(name, value); err != nil {
			return nil, 0, err
		}
		if name == "fillfactor" {
			fillFactor, _ = strconv.Atoi(value)
		}
		options = append(options, name+"="+value)
	}
	return options, fillFactor, nil
}

func optionText(n *pg_query.Node) string {
	switch v := n.GetNode().(type) {
	case *pg_query.Node_Integer:
		return strconv.Itoa(int(v.Integer.Ival))
	case *pg_query.Node_Float:
		return v.Float.Fval
	case *pg_query.Node_String_:
		return v.String_.Sval
	case *pg_query.Node_Boolean:
		return strconv.FormatBool(v.Boolean.Boolval)
	case *pg_query.Node_TypeName:
		return v.TypeName.Names[len(v.TypeName.Names)-1].GetString_().GetSval()
	case *pg_query.Node_AConst:
		c := v.AConst
		switch {
		case c.GetIval() != nil:
			return strconv.Itoa(int(c.GetIval().Ival))
		case c.GetFval() != nil:
			return c.GetFval().Fval
		case c.GetSval() != nil:
			return c.GetSval().Sval
		case c.GetBoolval() != nil:
			return strconv.FormatBool(c.GetBoolval().Boolval)
		}
	case nil:
		return "true"
	}
	return ""
}

// integerOptions are the storage parameters with their ranges.
var integerOptions = map[string][2]float64{
	"fillfactor": {10, 100}, "toast_tuple_target": {128, 8160}, "parallel_workers": {0, 1024},
	"autovacuum_vacuum_threshold": {0, 2147483647}, "autovacuum_vacuum_insert_threshold": {-1, 2147483647},
	"autovacuum_analyze_threshold": {0, 2147483647}, "autovacuum_vacuum_cost_limit": {1, 10000},
	"autovacuum_vacuum_cost_delay": {0, 100}, "autovacuum_vacuum_scale_factor": {0, 100},
	"autovacuum_vacuum_insert_scale_factor": {0, 100}, "autovacuum_analyze_scale_factor": {0, 100},
	"autovacuum_freeze_min_age": {0, 1000000000}, "autovacuum_freeze_max_age": {100000, 2000000000},
	"autovacuum_freeze_table_age": {0, 2000000000}, "log_autovacuum_min_duration": {-1, 2147483647},
}

var boolOptions = map[string]bool{
	"autovacuum_enabled": true, "vacuum_truncate": true, "user_catalog_table": true, "deduplicate_items": true,
}

func checkOption(name, value string) error {
	name = strings.TrimPrefix(name, "toast.")
	if r, ok := integerOptions[name]; ok {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return pgerr.New(pgerr.InvalidParameterValue, "invalid value for integer option \"%s\": %s", name, value)
		}
		if v < r[0] || v > r[1] {
			return pgerr.New(pgerr.InvalidParameterValue, "value %s out of bounds for option \"%s\"", value, name).
				WithDetail("Valid values are between \"%v\" and \"%v\".", int64(r[0]), int64(r[1]))
		}
		return nil
	}
	if boolOptions[name] {
		switch strings.ToLower(value) {
		case "true", "false", "on", "off", "yes", "no", "1", "0":
			return nil
		}
		return pgerr.New(pgerr.InvalidParameterValue, "invalid value for boolean option \"%s\": %s", name, value)
	}
	if name == "vacuum_index_cleanup" {
		return nil
	}
	return pgerr.New(pgerr.InvalidParameterValue, "unrecognized parameter \"%s\"", name)
}

func (d *tableDef) element(n *pg_query.Node) error {
	switch v := n.GetNode().(type) {
	case *pg_query.Node_ColumnDef:
		return d.column(v.ColumnDef)
	case *pg_query.Node_Constraint:
		return d.constraint(v.Constraint)
	case *pg_query.Node_TableLikeClause:
		return d.like(v.TableLikeClause)
	}
	return unsupported("this element of CREATE TABLE is not supported")
}

// parseExpr parses stored expression text.
func (e *Env) parseExpr(text string) (*pg_query.Node, error) {
	stmt, err := e.analysis().Parse("select " + text)
	if err != nil {
		return nil, err
	}
	return stmt.GetSelectStmt().GetTargetList()[0].GetResTarget().GetVal(), nil
}

var serialTypes = map[string]OID{
	"serial": types.Int4, "serial4": types.Int4, "bigserial": types.Int8, "serial8": types.Int8,
	"smallserial": types.Int2, "serial2": types.Int2,
}

// columnOf resolves a column's type and collation.
func (e *Env) columnOf(n *pg_query.ColumnDef) (c columnDef, serial bool, err error) {
	c.name = n.Colname
	c.location = n.Location
	if n.Compression != "" && n.Compression != "default" {
		return c, false, e.at(pgerr.New(pgerr.FeatureNotSupported, "column compression methods are not supported"), n.Location)
	}
	names := n.TypeName.GetNames()
	if len(names) == 1 {
		if typ, ok := serialTypes[names[0].GetString_().GetSval()]; ok {
			if len(n.TypeName.ArrayBounds) > 0 {
				return c, false, e.at(pgerr.New(pgerr.FeatureNotSupported, "array of serial is not implemented"), n.TypeName.Location)
			}
			c.typ, c.typmod, c.notNull = typ, -1, true
			return c, true, nil
		}
	}
	if c.typ, c.typmod, err = analyze.ResolveType(e.analysis(), n.TypeName, e.Text); err != nil {
		return c, false, err
	}
	c.ndims = len(n.TypeName.ArrayBounds)
	t, err := e.Cat.TypeByOID(c.typ)
	if err != nil {
		return c, false, err
	}
	c.collation = t.Collation
	if n.CollClause != nil {
		if t.Collation == 0 {
			return c, false, e.at(pgerr.New(pgerr.DatatypeMismatch, "collations are not supported by type %s", typeText(e, c.typ)), n.CollClause.Location)
		}
		if c.collation, err = e.collation(n.CollClause.Collname); err != nil {
			return c, false, err
		}
	}
	return c, false, nil
}

func typeText(e *Env, typ OID) string {
	name, err := analyze.FormatType(e.analysis(), typ, -1)
	if err != nil {
		return "???"
	}
	return name
}

func (e *Env) collation(names []*pg_query.Node) (OID, error) {
	name := names[len(names)-1].GetString_().GetSval()
	list, err := e.Cat.CollationsByName(name)
	if err != nil {
		return 0, err
	}
	for _, c := range list {
		if c.Namespace == catalog.NamespacePgCatalog {
			if c.Provider == 'i' {
				return 0, unsupported("ICU collations are not supported")
			}
			return c.OID, nil
		}
	}
	return 0, pgerr.New(pgerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", name)
}

func (d *tableDef) column(n *pg_query.ColumnDef) error {
	c, serial, err := d.e.columnOf(n)
	if err != nil {
		return err
	}
	if err := d.add(c); err != nil {
		return err
	}
	at := len(d.cols) - 1
	if serial {
		if err := d.addSequence(at, nil, false); err != nil {
			return err
		}
	}
	nullSeen := false
	for _, node := range n.Constraints {
		k := node.GetConstraint()
		switch k.Contype {
		case pg_query.ConstrType_CONSTR_NULL:
			if d.cols[at].notNull {
				return d.e.at(pgerr.New(pgerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", c.name, d.rv.Relname), k.Location)
			}
			nullSeen = true
		case pg_query.ConstrType_CONSTR_NOTNULL:
			if nullSeen {
				return d.e.at(pgerr.New(pgerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", c.name, d.rv.Relname), k.Location)
			}
			d.cols[at].notNull = true
		default:
			if err := d.columnConstraint(at, k); err != nil {
				return err
			}
		}
	}
	return nil
}

func bothGiven(what, column, table string) *pgerr.Error {
	return pgerr.New(pgerr.SyntaxError, "both %s specified for column \"%s\" of table \"%s\"", what, column, table)
}

func (d *tableDef) columnConstraint(at int, k *pg_query.Constraint) error {
	c := &d.cols[at]
	switch k.Contype {
	case pg_query.ConstrType_CONSTR_DEFAULT:
		if c.gen != nil {
			return d.e.at(bothGiven("default and generation expression", c.name, d.rv.Relname), k.Location)
		}
		if c.identity != 0 {
			return d.e.at(pgerr.New(pgerr.SyntaxError, "both default and identity specified for column \"%s\" of table \"%s\"", c.name, d.rv.Relname), k.Location)
		}
		if c.seq != "" {
			return pgerr.New(pgerr.SyntaxError, "multiple default values specified for column \"%s\" of table \"%s\"", c.name, d.rv.Relname)
		}
		if c.def != nil {
			return d.e.at(pgerr.New(pgerr.SyntaxError, "multiple default values specified for column \"%s\" of table \"%s\"", c.name, d.rv.Relname), k.Location)
		}
		c.def = k.RawExpr
	case pg_query.ConstrType_CONSTR_IDENTITY:
		if c.gen != nil {
			return d.e.at(bothGiven("identity and generation expression", c.name, d.rv.Relname), k.Location)
		}
		if c.identity != 0 {
			return d.e.at(pgerr.New(pgerr.SyntaxError, "multiple identity specifications for column \"%s\" of table \"%s\"", c.name, d.rv.Relname), k.Location)
		}
		if c.def != nil || c.seq != "" {
			return d.e.at(pgerr.New(pgerr.SyntaxError, "both default and identity specified for column \"%s\" of table \"%s\"", c.name, d.rv.Relname), k.Location)
		}
		c.identity, c.notNull = k.GeneratedWhen[0], true
		return d.addSequence(at, k.Options, true)
	case pg_query.ConstrType_CONSTR_GENERATED:
		if c.gen != nil {
			return d.e.at(pgerr.New(pgerr.SyntaxError, "multiple generation clauses specified for column \"%s\" of table \"%s\"", c.name, d.rv.Relname), k.Location)
		}
		if c.identity != 0 {
			return d.e.at(bothGiven("identity and generation expression", c.name, d.rv.Relname), k.Location)
		}
		if c.def != nil || c.seq != "" {
			return d.e.at(pgerr.New(pgerr.SyntaxError, "both default and generation expression specified for column \"%s\" of table \"%s\"", c.name, d.rv.Relname), k.Location)
		}
		c.generated, c.gen = 's', k.RawExpr
	case pg_query.ConstrType_CONSTR_ATTR_DEFERRABLE, pg_query.ConstrType_CONSTR_ATTR_NOT_DEFERRABLE,
		pg_query.ConstrType_CONSTR_ATTR_DEFERRED, pg_query.ConstrType_CONSTR_ATTR_IMMEDIATE:
		if k.Contype == pg_query.ConstrType_CONSTR_ATTR_NOT_DEFERRABLE || k.Contype == pg_query.ConstrType_CONSTR_ATTR_IMMEDIATE {
			return nil
		}
		return unsupported("deferrable constraints are not supported")
	default:
		if len(k.Keys) == 0 && (k.Contype == pg_query.ConstrType_CONSTR_PRIMARY || k.Contype == pg_query.ConstrType_CONSTR_UNIQUE) {
			return d.indexConstraint(k, []string{c.name})
		}
		return d.constraint(k)
	}
	return nil
}

// constraint takes a table constraint, or one of a column that is kept like one.
func (d *tableDef) constraint(k *pg_query.Constraint) error {
	switch k.Contype {
	case pg_query.ConstrType_CONSTR_CHECK:
		d.checks = append(d.checks, k)
		return nil
	case pg_query.ConstrType_CONSTR_PRIMARY, pg_query.ConstrType_CONSTR_UNIQUE:
		var cols []string
		for _, key := range k.Keys {
			cols = append(cols, key.GetString_().GetSval())
		}
		return d.indexConstraint(k, cols)
	case pg_query.ConstrType_CONSTR_FOREIGN:
		return unsupported("foreign keys are not supported")
	case pg_query.ConstrType_CONSTR_EXCLUSION:
		return unsupported("exclusion constraints are not supported")
	}
	return unsupported("this kind of constraint is not supported")
}

func (d *tableDef) indexConstraint(k *pg_query.Constraint, cols []string) error {
	if k.Deferrable || k.Initdeferred {
		return unsupported("deferrable constraints are not supported")
	}
	x := indexDef{
		primary: k.Contype == pg_query.ConstrType_CONSTR_PRIMARY, name: k.Conname, columns: cols,
		nullsNotDistinct: k.NullsNotDistinct, space: k.Indexspace, location: k.Location,
	}
	for _, inc := range k.Including {
		x.including = append(x.including, inc.GetString_().GetSval())
	}
	var err error
	if x.options, _, err = storageOptions(k.Options); err != nil {
		return err
	}
	if x.primary {
		for _, o := range d.indexes {
			if o.primary {
				return d.e.at(pgerr.New(pgerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", d.rv.Relname), k.Location)
			}
		}
	}
	d.indexes = append(d.indexes, x)
	return nil
}

func (d *tableDef) add(c columnDef) error {
	for i := range d.cols {
		if d.cols[i].name == c.name {
			return pgerr.New(pgerr.DuplicateColumn, "column \"%s\" specified more than once", c.name)
		}
	}
	c.num = int16(len(d.cols) + 1)
	d.cols = append(d.cols, c)
	if len(d.cols) > maxColumns {
		return pgerr.New(pgerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	return nil
}

// checkColumns refuses what no table may have for columns.
func (d *tableDef) checkColumns() error {
	for i := range d.cols {
		name := d.cols[i].name
		if _, num := catalog.SystemAttr(name); num != 0 {
			return pgerr.New(pgerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", name)
		}
		if err := d.e.checkColumnType(&d.cols[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Env) checkColumnType(c *columnDef) error {
	t, err := e.Cat.TypeByOID(c.typ)
	if err == nil && t.Kind == 'p' {
		err = pgerr.New(pgerr.InvalidTableDefinition, "column \"%s\" has pseudo-type %s", c.name, t.Name)
	}
	return err
}

// addSequence notes that a column draws from a sequence made with the table.
func (d *tableDef) addSequence(at int, opts []*pg_query.Node, identity bool) error {
	taken := make(map[string]bool)
	for _, p := range d.pending {
		taken[p.name] = true
	}
	name, err := d.e.freeRelationName(d.rv.Relname, d.cols[at].name, "seq", d.schema, taken)
	if err != nil {
		return err
	}
	d.cols[at].seq = name
	d.pending = append(d.pending, pendingSequence{name: name, column: at, opts: opts, identity: identity, typ: d.cols[at].typ})
	return nil
}

// create writes everything and returns the table's OID.
func (d *tableDef) create() (OID, error) {
	e := d.e
	owner := e.Host.User().OID
	seqs := make([]OID, len(d.pending))
	for i, p := range d.pending {
		oid, err := e.makeSequence(p.name, d.schema, d.persist, owner, p.typ, p.opts)
		if err != nil {
			return 0, err
		}
		seqs[i] = oid
	}
	rel, err := d.insertTable(owner)
	if err != nil {
		return 0, err
	}
	for i, p := range d.pending {
		kind := catalog.DepAuto
		if p.identity {
			kind = catalog.DepInternal
		}
		ref := catalog.Object{Class: catalog.PgClass, OID: rel, Sub: int32(d.cols[p.column].num)}
		if err := e.Cat.AddDependency(catalog.Object{Class: catalog.PgClass, OID: seqs[i]}, ref, kind); err != nil {
			return 0, err
		}
	}
	if err := d.insertDefaults(rel, seqs); err != nil {
		return 0, err
	}
	if err := e.addChecks(rel, d.checks); err != nil {
		return 0, err
	}
	for i := range d.indexes {
		if err := e.addIndexConstraint(rel, &d.indexes[i]); err != nil {
			return 0, err
		}
	}
	for _, l := range d.likes {
		if err := d.copyLike(rel, l); err != nil {
			return 0, err
		}
	}
	return rel, nil
}

// resolveKeys checks the columns of a key; those of a primary key become NOT NULL.
func (d *tableDef) resolveKeys(x *indexDef) error {
	seen := make(map[string]bool)
	for _, name := range x.columns {
		at := -1
		for i := range d.cols {
			if d.cols[i].name == name {
				at = i
			}
		}
		if at < 0 {
			return d.e.at(pgerr.New(pgerr.UndefinedColumn, "column \"%s\" named in key does not exist", name), x.location)
		}
		if seen[name] {
			return d.e.at(repeatedKey(name, x.primary), x.location)
		}
		seen[name] = true
		if x.primary {
			d.cols[at].notNull = true
		}
	}
	return nil
}

func repeatedKey(column string, primary bool) *pgerr.Error {
	what := "unique"
	if primary {
		what = "primary key"
	}
	return pgerr.New(pgerr.DuplicateColumn, "column \"%s\" appears twice in %s constraint", column, what)
}

// insertTable makes the table's rows and files.
func (d *tableDef) insertTable(owner OID) (OID, error) {
	e := d.e
	oid, err := e.Cat.NewOID(catalog.PgClass)
	if err != nil {
		return 0, err
	}
	typ, err := e.insertTypes(oid, d.rv.Relname, d.schema, owner)
	if err != nil {
		return 0, err
	}
	file, err := e.Session.CreateRelationFile(e.Ctx, d.space, d.persist)
	if err != nil {
		return 0, err
	}
	r := &relation{
		oid: oid, name: d.rv.Relname, schema: d.schema, kind: catalog.KindTable, persistence: d.persist, owner: owner,
		typ: typ, am: catalog.AMHeap, file: file, tablespace: d.space, natts: len(d.cols), options: d.options,
	}
	toasts, err := e.needsToast(d.cols)
	if err != nil {
		return 0, err
	}
	if toasts {
		if r.toast, err = e.makeToast(oid, d.space, d.persist, owner); err != nil {
			return 0, err
		}
	}
	if err := e.insertClass(r); err != nil {
		return 0, err
	}
	for i := range d.cols {
		c := &d.cols[i]
		c.hasDefault = c.def != nil || c.gen != nil || c.seq != "" && c.identity == 0
		if err := e.insertAttribute(oid, &c.column); err != nil {
			return 0, err
		}
		if err := e.columnDependencies(oid, &c.column); err != nil {
			return 0, err
		}
	}
	self := catalog.Object{Class: catalog.PgClass, OID: oid}
	if err := e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgNamespace, OID: d.schema}, catalog.DepNormal); err != nil {
		return 0, err
	}
	return oid, e.Cat.SetOwner(self, owner)
}

// columnDependencies records the type and collation a column depends on.
func (e *Env) columnDependencies(rel OID, c *column) error {
	self := catalog.Object{Class: catalog.PgClass, OID: rel, Sub: int32(c.num)}
	if err := e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgType, OID: c.typ}, catalog.DepNormal); err != nil {
		return err
	}
	if c.collation == 0 || c.collation == catalog.CollationDefault {
		return nil
	}
	return e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgCollation, OID: c.collation}, catalog.DepNormal)
}

// insertDefaults stores the defaults and generation expressions, which may refer to the table.
func (d *tableDef) insertDefaults(rel OID, seqs []OID) error {
	e := d.e
	for i := range d.cols {
		c := &d.cols[i]
		switch {
		case c.gen != nil:
			if err := e.storeGenerated(rel, &c.column, c.gen); err != nil {
				return err
			}
		case c.def != nil:
			if _, err := e.storeDefault(rel, &c.column, c.def); err != nil {
				return err
			}
		}
	}
	for i, p := range d.pending {
		if p.identity {
			continue
		}
		if err := e.serialDefault(rel, d.cols[p.column].num, seqs[i]); err != nil {
			return err
		}
	}
	return nil
}

// serialDefault gives a column the default nextval('sequence').
func (e *Env) serialDefault(rel OID, num int16, seq OID) error {
	// By number, as in all stored expressions: the sequence may get another name.
	text := fmt.Sprintf("nextval('%d'::regclass)", seq)
	return e.insertDefault(rel, num, text, false, []catalog.Object{{Class: catalog.PgClass, OID: seq}})
}

// needsToast tells whether a row can be too long for a page.
func (e *Env) needsToast(cols []columnDef) (bool, error) {
	for i := range cols {
		t, err := e.Cat.TypeByOID(cols[i].typ)
		if err != nil {
			return false, err
		}
		if t.Len != -1 || t.Storage == 'p' {
			continue
		}
		if (cols[i].typ == types.Bpchar || cols[i].typ == types.Varchar) && cols[i].typmod > 0 && cols[i].typmod < 500 {
			continue // four bytes a character still fit
		}
		return true, nil
	}
	return false, nil
}

// makeToast makes the TOAST table of a table, with its index, and returns its OID.
func (e *Env) makeToast(table, space OID, persistence byte, owner OID) (OID, error) {
	toast, err := e.Cat.NewOID(catalog.PgClass)
	if err != nil {
		return 0, err
	}
	index, err := e.Cat.NewOID(catalog.PgClass)
	if err != nil {
		return 0, err
	}
	file, err := e.Session.CreateRelationFile(e.Ctx, space, persistence)
	if err != nil {
		return 0, err
	}
	name := "pg_toast_" + strconv.FormatUint(uint64(table), 10)
	err = e.insertClass(&relation{
		oid: toast, name: name, schema: catalog.NamespacePgToast, kind: catalog.KindToast, persistence: persistence,
		owner: owner, am: catalog.AMHeap, file: file, tablespace: space, natts: 3, hasIndex: true,
	})
	if err != nil {
		return 0, err
	}
	for i, c := range []column{
		{name: "chunk_id", typ: types.Oid, typmod: -1, storage: 'p'},
		{name: "chunk_seq", typ: types.Int4, typmod: -1, storage: 'p'},
		{name: "chunk_data", typ: types.Bytea, typmod: -1, storage: 'p'},
	} {
		c.num = int16(i + 1)
		if err := e.insertAttribute(toast, &c); err != nil {
			return 0, err
		}
	}
	ref := catalog.Object{Class: catalog.PgClass, OID: table}
	if err := e.Cat.AddDependency(catalog.Object{Class: catalog.PgClass, OID: toast}, ref, catalog.DepInternal); err != nil {
		return 0, err
	}
	return toast, e.makeToastIndex(toast, index, space, name+"_index", persistence, owner)
}

func (e *Env) makeToastIndex(toast, index, space OID, name string, persistence byte, owner OID) error {
	file, err := e.Session.CreateRelationFile(e.Ctx, space, persistence)
	if err != nil {
		return err
	}
	err = e.insertClass(&relation{
		oid: index, name: name, schema: catalog.NamespacePgToast, kind: catalog.KindIndex, persistence: persistence,
		owner: owner, am: catalog.AMBtree, file: file, tablespace: space, natts: 2,
	})
	if err != nil {
		return err
	}
	const oidOps, int4Ops OID = 1981, 1978
	keys := []indexColumn{{attnum: 1, opclass: oidOps}, {attnum: 2, opclass: int4Ops}}
	if err := e.insertIndexRow(index, toast, keys, 2, indexFlags{unique: true, primary: true}, nil, ""); err != nil {
		return err
	}
	for i, c := range []column{{name: "chunk_id", typ: types.Oid, typmod: -1}, {name: "chunk_seq", typ: types.Int4, typmod: -1}} {
		c.num = int16(i + 1)
		if err := e.insertAttribute(index, &c); err != nil {
			return err
		}
	}
	ref := catalog.Object{Class: catalog.PgClass, OID: toast}
	if err := e.Cat.AddDependency(catalog.Object{Class: catalog.PgClass, OID: index}, ref, catalog.DepInternal); err != nil {
		return err
	}
	rel, err := e.Cat.RelationByOID(toast)
	if err != nil {
		return err
	}
	return e.Session.InitIndexFile(e.Ctx, rel, rel.Indexes[0])
}
