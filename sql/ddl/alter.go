package ddl

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// alteration is an ALTER TABLE on its way: the catalog changes are made command by
// command, then the rows are rewritten or checked once for all of them.
type alteration struct {
	e     *Env
	table OID
	// old is the descriptor before the first change: rows lie in the file as it says.
	old     *catalog.Relation
	rewrite bool
	// computed gives new values of columns by attribute number, over old rows.
	computed map[int]analyze.Expr
	// checks are conditions the present rows must meet; notNull columns that must have values.
	checks  []checkedConstraint
	notNull []int16
}

type checkedConstraint struct {
	name string
	expr analyze.Expr
}

// alterTable carries out ALTER TABLE, and ALTER INDEX and SEQUENCE as far as they share its commands.
func (e *Env) alterTable(n *pg_query.AlterTableStmt) (string, error) {
	tag := "ALTER TABLE"
	switch n.Objtype {
	case pg_query.ObjectType_OBJECT_INDEX:
		tag = "ALTER INDEX"
	case pg_query.ObjectType_OBJECT_SEQUENCE:
		tag = "ALTER SEQUENCE"
	case pg_query.ObjectType_OBJECT_TABLE:
	default:
		return "", unsupported("ALTER of this kind of relation is not supported")
	}
	rel, err := e.findRelation(n.Relation)
	if err != nil {
		return "", err
	}
	if rel == nil && n.MissingOk {
		e.notice(pgerr.SuccessfulCompletion, "relation \"%s\" does not exist, skipping", n.Relation.Relname)
		return tag, nil
	}
	if rel, err = e.openRelation(n.Relation, alterLock(n.Cmds)); err != nil {
		return "", err
	}
	if err := e.checkAlterKind(rel, n.Objtype); err != nil {
		return "", err
	}
	a := &alteration{e: e, table: rel.OID, old: rel, computed: make(map[int]analyze.Expr)}
	for _, c := range n.Cmds {
		if err := a.command(c.GetAlterTableCmd()); err != nil {
			return "", err
		}
	}
	return tag, a.finish()
}

func (e *Env) checkAlterKind(rel *catalog.Relation, obj pg_query.ObjectType) error {
	switch {
	case obj == pg_query.ObjectType_OBJECT_INDEX && rel.Kind != catalog.KindIndex:
		return pgerr.New(pgerr.WrongObjectType, "\"%s\" is not an index", rel.Name)
	case obj == pg_query.ObjectType_OBJECT_SEQUENCE && rel.Kind != catalog.KindSequence:
		return pgerr.New(pgerr.WrongObjectType, "\"%s\" is not a sequence", rel.Name)
	}
	return nil
}

// alterLock is the mode PostgreSQL takes for the commands: the strongest of them.
func alterLock(cmds []*pg_query.Node) locks.Mode {
	mode := locks.ShareUpdateExclusive
	for _, c := range cmds {
		switch c.GetAlterTableCmd().Subtype {
		case pg_query.AlterTableType_AT_SetStatistics, pg_query.AlterTableType_AT_SetRelOptions,
			pg_query.AlterTableType_AT_ResetRelOptions, pg_query.AlterTableType_AT_ValidateConstraint,
			pg_query.AlterTableType_AT_SetOptions, pg_query.AlterTableType_AT_ResetOptions:
		default:
			return locks.AccessExclusive
		}
	}
	return mode
}

// rel is the table's present descriptor.
func (a *alteration) rel() (*catalog.Relation, error) {
	r, err := a.e.Cat.RelationByOID(a.table)
	if err == nil && r == nil {
		err = pgerr.New(pgerr.UndefinedTable, "relation %d does not exist", a.table)
	}
	return r, err
}

// attr finds a live column.
func (a *alteration) attr(name string) (*catalog.Relation, *catalog.Attribute, error) {
	r, err := a.rel()
	if err != nil {
		return nil, nil, err
	}
	if att := r.AttrByName(name); att != nil {
		return r, att, nil
	}
	if _, num := catalog.SystemAttr(name); num != 0 {
		return nil, nil, unsupported("cannot alter system column \"%s\"", name)
	}
	return nil, nil, pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, r.Name)
}

func (a *alteration) command(c *pg_query.AlterTableCmd) error {
	switch c.Subtype {
	case pg_query.AlterTableType_AT_AddColumn:
		return a.addColumn(c)
	case pg_query.AlterTableType_AT_DropColumn:
		return a.dropColumn(c)
	case pg_query.AlterTableType_AT_ColumnDefault:
		return a.columnDefault(c)
	case pg_query.AlterTableType_AT_DropExpression:
		return a.dropExpression(c)
	case pg_query.AlterTableType_AT_SetNotNull:
		return a.setNotNull(c.Name)
	case pg_query.AlterTableType_AT_DropNotNull:
		return a.dropNotNull(c.Name)
	case pg_query.AlterTableType_AT_AlterColumnType:
		return a.columnType(c)
	case pg_query.AlterTableType_AT_AddConstraint:
		return a.addConstraint(c.Def.GetConstraint())
	case pg_query.AlterTableType_AT_DropConstraint:
		return a.dropConstraint(c)
	case pg_query.AlterTableType_AT_ValidateConstraint:
		return a.validateConstraint(c.Name)
	case pg_query.AlterTableType_AT_SetStatistics:
		return a.setStatistics(c)
	case pg_query.AlterTableType_AT_SetStorage:
		return a.setStorage(c)
	case pg_query.AlterTableType_AT_SetRelOptions, pg_query.AlterTableType_AT_ResetRelOptions:
		return a.relOptions(c)
	case pg_query.AlterTableType_AT_ChangeOwner:
		role, err := a.e.role(c.Newowner)
		if err != nil {
			return err
		}
		return a.e.changeOwner(a.table, role.OID)
	case pg_query.AlterTableType_AT_SetLogged, pg_query.AlterTableType_AT_SetUnLogged:
		return a.setPersistence(c.Subtype == pg_query.AlterTableType_AT_SetLogged)
	case pg_query.AlterTableType_AT_AddIdentity:
		return a.addIdentity(c)
	case pg_query.AlterTableType_AT_DropIdentity:
		return a.dropIdentity(c)
	case pg_query.AlterTableType_AT_SetIdentity:
		return a.setIdentity(c)
	case pg_query.AlterTableType_AT_ReplicaIdentity, pg_query.AlterTableType_AT_ClusterOn,
		pg_query.AlterTableType_AT_DropCluster:
		return unsupported("this form of ALTER TABLE is not supported")
	case pg_query.AlterTableType_AT_SetTableSpace:
		return a.setTablespace(c.Name)
	}
	return unsupported("this form of ALTER TABLE is not supported")
}

// addColumn adds a column. A default that is the same for all rows is kept beside the column and
// read for rows without it; any other has the table rewritten.
func (a *alteration) addColumn(c *pg_query.AlterTableCmd) error {
	e := a.e
	r, err := a.rel()
	if err != nil {
		return err
	}
	def := c.Def.GetColumnDef()
	if r.AttrByName(def.Colname) != nil {
		if c.MissingOk {
			e.notice(pgerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists, skipping", def.Colname, r.Name)
			return nil
		}
		return pgerr.New(pgerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", def.Colname, r.Name)
	}
	d := &tableDef{e: e, rv: &pg_query.RangeVar{Relname: r.Name}, schema: r.Namespace, persist: r.Persistence}
	if err := d.column(def); err != nil {
		return err
	}
	if err := d.checkColumns(); err != nil {
		return err
	}
	col := &d.cols[0]
	col.num = int16(len(r.Attrs) + 1)
	if len(r.Attrs) >= maxColumns {
		return pgerr.New(pgerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	col.hasDefault = col.def != nil || col.gen != nil || col.seq != "" && col.identity == 0
	if err := e.insertAttribute(a.table, &col.column); err != nil {
		return err
	}
	if err := e.columnDependencies(a.table, &col.column); err != nil {
		return err
	}
	if err := e.updateClass(a.table, func(row catalog.Row) { row[catalog.ClassRelnatts] = intD(int(col.num)) }); err != nil {
		return err
	}
	if err := a.addColumnValue(d, col); err != nil {
		return err
	}
	if err := a.ensureToast(); err != nil {
		return err
	}
	for _, k := range d.checks {
		x, err := e.withoutText().addCheck(a.table, k, false)
		if err != nil {
			return err
		}
		a.checks = append(a.checks, checkedConstraint{k.Conname, x})
	}
	if col.notNull {
		a.notNull = append(a.notNull, col.num)
	}
	for i := range d.indexes {
		if err := a.settle(); err != nil {
			return err
		}
		if err := e.addIndexConstraint(a.table, &d.indexes[i]); err != nil {
			return err
		}
	}
	return nil
}

// addColumnValue stores the new column's default and decides how present rows get it.
func (a *alteration) addColumnValue(d *tableDef, col *columnDef) error {
	e := a.e.withoutText()
	var x analyze.Expr
	switch {
	case col.gen != nil:
		if err := e.storeGenerated(a.table, &col.column, col.gen); err != nil {
			return err
		}
		a.rewrite = true
		return nil
	case col.def != nil:
		var err error
		if x, err = e.storeDefault(a.table, &col.column, col.def); err != nil || x == nil {
			return err
		}
	case len(d.pending) > 0:
		seq, err := a.columnSequence(d, col)
		if err != nil {
			return err
		}
		x = &analyze.NextValueExpr{Typed: analyze.Typed{Typ: col.typ, Mod: -1, Loc: -1}, Sequence: seq}
	default:
		return nil
	}
	v, err := analyze.Volatility(e.analysis(), x)
	if err != nil {
		return err
	}
	if v == 'v' {
		a.rewrite = true
		a.computed[int(col.num)] = x
		return nil
	}
	value, err := e.Host.Evaluate(e.Ctx, x)
	if err != nil || value.Null {
		return err
	}
	return e.updateAttribute(a.table, col.num, func(row catalog.Row) {
		row[catalog.AttributeAtthasmissing] = boolD(true)
		row[catalog.AttributeAttmissingval] = types.MakeArray(col.typ, []types.Datum{value})
	})
}

// columnSequence makes the sequence of a serial or identity column that is added.
func (a *alteration) columnSequence(d *tableDef, col *columnDef) (OID, error) {
	e, p := a.e, d.pending[0]
	seq, err := e.makeSequence(p.name, d.schema, d.persist, a.old.Owner, p.typ, p.opts)
	if err != nil {
		return 0, err
	}
	kind := catalog.DepAuto
	if p.identity {
		kind = catalog.DepInternal
	}
	ref := catalog.Object{Class: catalog.PgClass, OID: a.table, Sub: int32(col.num)}
	if err := e.Cat.AddDependency(catalog.Object{Class: catalog.PgClass, OID: seq}, ref, kind); err != nil {
		return 0, err
	}
	if !p.identity {
		err = e.serialDefault(a.table, col.num, seq)
	}
	return seq, err
}

// ensureToast makes a TOAST table if the rows can be too long now.
func (a *alteration) ensureToast() error {
	r, err := a.rel()
	if err != nil || r.Toast != 0 || r.Kind != catalog.KindTable {
		return err
	}
	var cols []columnDef
	for i := range r.Attrs {
		if at := &r.Attrs[i]; !at.Dropped {
			cols = append(cols, columnDef{column: column{typ: at.Type, typmod: at.Typmod}})
		}
	}
	need, err := a.e.needsToast(cols)
	if err != nil || !need {
		return err
	}
	toast, err := a.e.makeToast(a.table, r.Tablespace, r.Persistence, r.Owner)
	if err != nil {
		return err
	}
	return a.e.updateClass(a.table, func(row catalog.Row) { row[catalog.ClassReltoastrelid] = oidD(toast) })
}

func (a *alteration) dropColumn(c *pg_query.AlterTableCmd) error {
	r, err := a.rel()
	if err != nil {
		return err
	}
	att := r.AttrByName(c.Name)
	if att == nil && c.MissingOk {
		a.e.notice(pgerr.SuccessfulCompletion, "column \"%s\" of relation \"%s\" does not exist, skipping", c.Name, r.Name)
		return nil
	}
	if _, att, err = a.attr(c.Name); err != nil {
		return err
	}
	// Multi-column checks and indexes go with any of their columns.
	target := catalog.Object{Class: catalog.PgClass, OID: a.table, Sub: int32(att.Num)}
	return a.e.dropObjects([]catalog.Object{target}, c.Behavior == pg_query.DropBehavior_DROP_CASCADE)
}

func (a *alteration) columnDefault(c *pg_query.AlterTableCmd) error {
	r, att, err := a.attr(c.Name)
	if err != nil {
		return err
	}
	if err := withoutDefault(r, att, c.Def == nil); err != nil {
		return err
	}
	if err := a.e.dropDefault(a.table, att.Num); err != nil {
		return err
	}
	err = a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) { row[catalog.AttributeAtthasdef] = boolD(c.Def != nil) })
	if err != nil || c.Def == nil {
		return err
	}
	col := column{num: att.Num, name: att.Name, typ: att.Type, typmod: att.Typmod}
	_, err = a.e.withoutText().storeDefault(a.table, &col, c.Def)
	return err
}

// withoutDefault tells why a column has no default that could be set or dropped, nil if it may have one.
func withoutDefault(r *catalog.Relation, att *catalog.Attribute, drop bool) error {
	var kind, hint string
	switch {
	case att.Identity != 0:
		kind, hint = "an identity", "IDENTITY"
	case att.Generated != 0:
		kind, hint = "a generated", "EXPRESSION"
	default:
		return nil
	}
	err := pgerr.New(pgerr.SyntaxError, "column \"%s\" of relation \"%s\" is %s column", att.Name, r.Name, kind)
	if drop {
		err = err.WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP " + hint + " instead.")
	}
	return err
}

// dropExpression makes a generated column a plain one that keeps its values.
func (a *alteration) dropExpression(c *pg_query.AlterTableCmd) error {
	r, att, err := a.attr(c.Name)
	if err != nil {
		return err
	}
	if att.Generated == 0 {
		if c.MissingOk {
			a.e.notice(pgerr.SuccessfulCompletion, "column \"%s\" of relation \"%s\" is not a stored generated column, skipping", c.Name, r.Name)
			return nil
		}
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" is not a stored generated column", c.Name, r.Name)
	}
	if err := a.e.dropDefault(a.table, att.Num); err != nil {
		return err
	}
	return a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) {
		row[catalog.AttributeAttgenerated] = charD(0)
		row[catalog.AttributeAtthasdef] = boolD(false)
	})
}

func (a *alteration) setNotNull(name string) error {
	_, att, err := a.attr(name)
	if err != nil || att.NotNull {
		return err
	}
	a.notNull = append(a.notNull, att.Num)
	return a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) { row[catalog.AttributeAttnotnull] = boolD(true) })
}

func (a *alteration) dropNotNull(name string) error {
	r, att, err := a.attr(name)
	if err != nil {
		return err
	}
	if pk := r.PrimaryKey(); pk != nil {
		for _, k := range pk.Keys[:pk.NKeyAtts] {
			if k.AttNum == att.Num {
				return pgerr.New(pgerr.InvalidTableDefinition, "column \"%s\" is in a primary key", name)
			}
		}
	}
	if att.Identity != 0 {
		return pgerr.New(pgerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity column", name, r.Name)
	}
	return a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) { row[catalog.AttributeAttnotnull] = boolD(false) })
}

// columnType changes a column's type and has the table rewritten.
func (a *alteration) columnType(c *pg_query.AlterTableCmd) error {
	e := a.e
	r, att, err := a.attr(c.Name)
	if err != nil {
		return err
	}
	def := c.Def.GetColumnDef()
	def.Colname = c.Name
	if att.Generated != 0 && def.RawDefault != nil {
		return pgerr.New(pgerr.InvalidColumnDefinition, "cannot specify USING when altering type of generated column").
			WithDetail("Column \"%s\" is a generated column.", att.Name)
	}
	col, _, err := e.withoutText().columnOf(def)
	if err != nil {
		return err
	}
	if err := e.checkColumnType(&col); err != nil {
		return err
	}
	x, err := analyze.AnalyzeAlterType(e.analysis(), def.RawDefault, e.Text, r, att, col.typ, col.typmod)
	if err != nil {
		return err
	}
	if a.rewrite && len(r.Attrs) != len(a.old.Attrs) {
		if err := a.settle(); err != nil {
			return err
		}
	}
	dependents, err := a.dependentsOf(r, att.Num)
	if err != nil {
		return err
	}
	if err := a.retypeDefault(r, att, col.typ, col.typmod); err != nil {
		return err
	}
	if err := e.changeType(a.table, att, &col.column); err != nil {
		return err
	}
	a.rewrite = true
	a.computed[int(att.Num)] = x
	return dependents.restore()
}

// changeType writes a column's new type.
func (e *Env) changeType(rel OID, att *catalog.Attribute, col *column) error {
	t, err := e.Cat.TypeByOID(col.typ)
	if err != nil {
		return err
	}
	if _, err := e.Cat.DeleteWhere(catalog.PgStatistic,
		catalog.Eq{Col: catalog.StatisticStarelid, Value: oidD(rel)},
		catalog.Eq{Col: catalog.StatisticStaattnum, Value: intD(att.Num)}); err != nil {
		return err
	}
	return e.updateAttribute(rel, att.Num, func(row catalog.Row) {
		row[catalog.AttributeAtttypid] = oidD(col.typ)
		row[catalog.AttributeAtttypmod] = intD(col.typmod)
		row[catalog.AttributeAttlen] = intD(t.Len)
		row[catalog.AttributeAttbyval] = boolD(t.ByVal)
		row[catalog.AttributeAttalign] = charD(t.Align)
		row[catalog.AttributeAttstorage] = charD(t.Storage)
		row[catalog.AttributeAttcollation] = oidD(col.collation)
		row[catalog.AttributeAttndims] = intD(col.ndims)
		row[catalog.AttributeAtthasmissing] = boolD(false)
		row[catalog.AttributeAttmissingval] = types.NullDatum
	})
}

// addConstraint adds a CHECK, UNIQUE or PRIMARY KEY.
func (a *alteration) addConstraint(k *pg_query.Constraint) error {
	e := a.e
	r, err := a.rel()
	if err != nil {
		return err
	}
	switch k.Contype {
	case pg_query.ConstrType_CONSTR_CHECK:
		invalid := k.SkipValidation
		x, err := e.withoutText().addCheck(a.table, k, invalid)
		if err != nil {
			return err
		}
		if !invalid {
			name := k.Conname
			if name == "" {
				if r, err = a.rel(); err != nil {
					return err
				}
				name = newestConstraint(r)
			}
			a.checks = append(a.checks, checkedConstraint{name, x})
		}
		return nil
	case pg_query.ConstrType_CONSTR_PRIMARY, pg_query.ConstrType_CONSTR_UNIQUE:
		if k.Indexname != "" {
			return a.useIndex(k)
		}
		d := &tableDef{e: e, rv: &pg_query.RangeVar{Relname: r.Name}}
		if err := d.constraint(k); err != nil {
			return err
		}
		x := &d.indexes[0]
		if x.primary {
			for _, name := range x.columns {
				if err := a.setNotNull(name); err != nil {
					return err
				}
			}
		}
		if err := a.settle(); err != nil {
			return err
		}
		return e.addIndexConstraint(a.table, x)
	case pg_query.ConstrType_CONSTR_FOREIGN:
		return unsupported("foreign keys are not supported")
	}
	return unsupported("this kind of constraint is not supported")
}

// newestConstraint is the name of the constraint made last.
func newestConstraint(r *catalog.Relation) string {
	var newest *catalog.Constraint
	for _, c := range r.Constraints {
		if newest == nil || c.OID > newest.OID {
			newest = c
		}
	}
	return newest.Name
}

// useIndex makes an index that exists the index of a constraint.
func (a *alteration) useIndex(k *pg_query.Constraint) error {
	e := a.e
	r, err := a.rel()
	if err != nil {
		return err
	}
	var idx *catalog.Index
	for _, x := range r.Indexes {
		if x.Name == k.Indexname {
			idx = x
		}
	}
	if err := usableForConstraint(idx, k.Indexname); err != nil {
		return e.at(err, k.Location)
	}
	primary := k.Contype == pg_query.ConstrType_CONSTR_PRIMARY
	c := &constraint{name: k.Conname, schema: r.Namespace, kind: catalog.ConstraintUnique, rel: a.table, index: idx.OID}
	if primary {
		c.kind = catalog.ConstraintPrimary
		if r.PrimaryKey() != nil {
			return pgerr.New(pgerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", r.Name)
		}
	}
	if c.name == "" {
		c.name = idx.Name
	}
	for _, key := range idx.Keys[:idx.NKeyAtts] {
		c.key = append(c.key, key.AttNum)
		if primary {
			if err := a.setNotNull(r.Attr(key.AttNum).Name); err != nil {
				return err
			}
		}
	}
	if c.name != idx.Name {
		e.notice(pgerr.SuccessfulCompletion, "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"%s\" to \"%s\"", idx.Name, c.name)
		if err := e.updateClass(idx.OID, func(row catalog.Row) { row[catalog.ClassRelname] = textD(c.name) }); err != nil {
			return err
		}
	}
	con, err := e.insertConstraint(c)
	if err != nil {
		return err
	}
	self := catalog.Object{Class: catalog.PgClass, OID: idx.OID}
	if _, err := e.Cat.DeleteDependenciesOn(self, catalog.PgClass, catalog.DepAuto); err != nil {
		return err
	}
	if err := e.Cat.AddDependency(self, catalog.Object{Class: catalog.PgConstraint, OID: con}, catalog.DepInternal); err != nil {
		return err
	}
	if !primary {
		return nil
	}
	return e.updateIndex(idx.OID, func(row catalog.Row) { row[catalog.IndexIndisprimary] = boolD(true) })
}

// usableForConstraint tells what is wrong with an index, nil if there is none, that is to uphold a constraint.
func usableForConstraint(idx *catalog.Index, name string) *pgerr.Error {
	switch {
	case idx == nil:
		return pgerr.New(pgerr.UndefinedObject, "index \"%s\" does not exist", name)
	case idx.Constraint != 0:
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "index \"%s\" is already associated with a constraint", name)
	}
	fault := func(format string) *pgerr.Error {
		return pgerr.New(pgerr.WrongObjectType, format, name).
			WithDetail("Cannot create a primary key or unique constraint using such an index.")
	}
	if !idx.Unique {
		return fault("\"%s\" is not a unique index")
	}
	for i := range idx.Keys[:idx.NKeyAtts] {
		if idx.Keys[i].AttNum == 0 {
			return fault("index \"%s\" contains expressions")
		}
	}
	if idx.Predicate != "" {
		return fault("\"%s\" is a partial index")
	}
	for i := range idx.Keys[:idx.NKeyAtts] {
		if idx.Keys[i].Desc || idx.Keys[i].NullsFirst {
			return fault("index \"%s\" column number " + itoa(i+1) + " does not have default sorting behavior")
		}
	}
	return nil
}

func (a *alteration) dropConstraint(c *pg_query.AlterTableCmd) error {
	r, err := a.rel()
	if err != nil {
		return err
	}
	for _, k := range r.Constraints {
		if k.Name == c.Name {
			target := catalog.Object{Class: catalog.PgConstraint, OID: k.OID}
			return a.e.dropObjects([]catalog.Object{target}, c.Behavior == pg_query.DropBehavior_DROP_CASCADE)
		}
	}
	if c.MissingOk {
		a.e.notice(pgerr.SuccessfulCompletion, "constraint \"%s\" of relation \"%s\" does not exist, skipping", c.Name, r.Name)
		return nil
	}
	return pgerr.New(pgerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", c.Name, r.Name)
}

func (a *alteration) validateConstraint(name string) error {
	e := a.e
	r, err := a.rel()
	if err != nil {
		return err
	}
	for _, k := range r.Constraints {
		if k.Name != name {
			continue
		}
		if k.Kind != catalog.ConstraintCheck {
			return pgerr.New(pgerr.WrongObjectType, "constraint \"%s\" of relation \"%s\" is not a foreign key or check constraint", name, r.Name)
		}
		if k.Validated {
			return nil
		}
		x, err := analyze.StoredExpr(e.analysis(), r, k.Expr)
		if err != nil {
			return err
		}
		a.checks = append(a.checks, checkedConstraint{name, x})
		row, err := e.Cat.Get(catalog.PgConstraint, oidD(k.OID))
		if err != nil {
			return err
		}
		row = append(catalog.Row(nil), row...)
		row[catalog.ConstraintConvalidated] = boolD(true)
		return e.Cat.Update(catalog.PgConstraint, row)
	}
	return pgerr.New(pgerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", name, r.Name)
}

func (a *alteration) setStatistics(c *pg_query.AlterTableCmd) error {
	_, att, err := a.attr(c.Name)
	if err != nil {
		return err
	}
	const most = 10000
	v := c.Def.GetInteger().GetIval()
	if v < -1 {
		return pgerr.New(pgerr.InvalidParameterValue, "statistics target %d is too low", v)
	}
	if v > most {
		v = most
		a.e.Host.Notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.InvalidParameterValue, "lowering statistics target to %d", v))
	}
	return a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) { row[catalog.AttributeAttstattarget] = intD(v) })
}

func (a *alteration) setStorage(c *pg_query.AlterTableCmd) error {
	_, att, err := a.attr(c.Name)
	if err != nil {
		return err
	}
	name := strings.ToLower(c.Def.GetString_().GetSval())
	kinds := map[string]byte{"plain": 'p', "external": 'e', "extended": 'x', "main": 'm'}
	k, ok := kinds[name]
	if !ok {
		return pgerr.New(pgerr.InvalidParameterValue, "invalid storage type \"%s\"", name)
	}
	if t, err := a.e.Cat.TypeByOID(att.Type); err != nil {
		return err
	} else if t.Storage == 'p' && k != 'p' {
		return pgerr.New(pgerr.FeatureNotSupported, "column data type %s can only have storage PLAIN", typeText(a.e, att.Type))
	}
	return a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) { row[catalog.AttributeAttstorage] = charD(k) })
}

// relOptions is SET (...) and RESET (...).
func (a *alteration) relOptions(c *pg_query.AlterTableCmd) error {
	r, err := a.rel()
	if err != nil {
		return err
	}
	set := make(map[string]string, len(r.Options))
	for k, v := range r.Options {
		set[k] = v
	}
	items := c.Def.GetList().GetItems()
	if c.Subtype == pg_query.AlterTableType_AT_SetRelOptions {
		opts, _, err := storageOptions(items)
		if err != nil {
			return err
		}
		for _, o := range opts {
			k, v, _ := strings.Cut(o, "=")
			set[k] = v
		}
	} else {
		for _, it := range items {
			delete(set, it.GetDefElem().GetDefname())
		}
	}
	return a.e.updateClass(a.table, func(row catalog.Row) {
		row[catalog.ClassReloptions] = types.NullDatum
		if len(set) > 0 {
			var list []string
			for _, k := range sortedKeys(set) {
				list = append(list, k+"="+set[k])
			}
			row[catalog.ClassReloptions] = catalog.TextArrayDatum(list)
		}
	})
}

// setPersistence is SET LOGGED and SET UNLOGGED: the table and its indexes are written anew.
func (a *alteration) setPersistence(logged bool) error {
	e := a.e
	r, err := a.rel()
	if err != nil {
		return err
	}
	if r.Persistence == catalog.Temporary {
		return pgerr.New(pgerr.InvalidTableDefinition, "cannot change logged status of table \"%s\" because it is temporary", r.Name)
	}
	want := catalog.Unlogged
	if logged {
		want = catalog.Permanent
	}
	if r.Persistence == want {
		return nil
	}
	oids := []OID{r.OID}
	for _, x := range r.Indexes {
		oids = append(oids, x.OID)
	}
	if r.Toast != 0 {
		oids = append(oids, r.Toast, r.ToastIdx)
	}
	for _, oid := range oids {
		if err := e.updateClass(oid, func(row catalog.Row) { row[catalog.ClassRelpersistence] = charD(want) }); err != nil {
			return err
		}
	}
	a.rewrite = true
	return nil
}

func (a *alteration) addIdentity(c *pg_query.AlterTableCmd) error {
	r, att, err := a.attr(c.Name)
	if err != nil {
		return err
	}
	k := c.Def.GetConstraint()
	switch {
	case !att.NotNull:
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" must be declared NOT NULL before identity can be added", c.Name, r.Name)
	case att.Identity != 0:
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" is already an identity column", c.Name, r.Name)
	case att.HasDefault:
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" already has a default value", c.Name, r.Name)
	}
	name, err := a.e.freeRelationName(r.Name, att.Name, "seq", r.Namespace, nil)
	if err != nil {
		return err
	}
	seq, err := a.e.makeSequence(name, r.Namespace, r.Persistence, r.Owner, att.Type, k.Options)
	if err != nil {
		return err
	}
	ref := catalog.Object{Class: catalog.PgClass, OID: a.table, Sub: int32(att.Num)}
	if err := a.e.Cat.AddDependency(catalog.Object{Class: catalog.PgClass, OID: seq}, ref, catalog.DepInternal); err != nil {
		return err
	}
	return a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) {
		row[catalog.AttributeAttidentity] = charD(k.GeneratedWhen[0])
	})
}

func (a *alteration) dropIdentity(c *pg_query.AlterTableCmd) error {
	r, att, err := a.attr(c.Name)
	if err != nil {
		return err
	}
	if att.Identity == 0 {
		if c.MissingOk {
			a.e.notice(pgerr.SuccessfulCompletion, "column \"%s\" of relation \"%s\" is not an identity column, skipping", c.Name, r.Name)
			return nil
		}
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" is not an identity column", c.Name, r.Name)
	}
	if err := a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) { row[catalog.AttributeAttidentity] = charD(0) }); err != nil {
		return err
	}
	seqs, err := a.e.Cat.OwnedSequences(a.table, att.Num)
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		self := catalog.Object{Class: catalog.PgClass, OID: seq}
		if _, err := a.e.Cat.DeleteDependenciesOn(self, catalog.PgClass, catalog.DepInternal); err != nil {
			return err
		}
		if err := a.e.dropObjects([]catalog.Object{self}, false); err != nil {
			return err
		}
	}
	return nil
}

func (a *alteration) setIdentity(c *pg_query.AlterTableCmd) error {
	r, att, err := a.attr(c.Name)
	if err != nil {
		return err
	}
	if att.Identity == 0 {
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" is not an identity column", c.Name, r.Name)
	}
	var seqOpts []*pg_query.Node
	for _, o := range c.Def.GetList().GetItems() {
		d := o.GetDefElem()
		if d.Defname == "generated" {
			kind := byte(d.Arg.GetInteger().GetIval())
			if err := a.e.updateAttribute(a.table, att.Num, func(row catalog.Row) { row[catalog.AttributeAttidentity] = charD(kind) }); err != nil {
				return err
			}
			continue
		}
		seqOpts = append(seqOpts, o)
	}
	if len(seqOpts) == 0 {
		return nil
	}
	seqs, err := a.e.Cat.OwnedSequences(a.table, att.Num)
	if err != nil || len(seqs) == 0 {
		return err
	}
	seq, err := a.e.Cat.RelationByOID(seqs[0])
	if err != nil {
		return err
	}
	return a.e.changeSequence(seq, seqOpts)
}
