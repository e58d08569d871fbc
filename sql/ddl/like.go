package ddl

import (
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
)

// The bits of TableLikeClause.options. Compression and extended statistics are left out: no column
// and no table has any of their own.
const (
	likeComments    = 1 << 0
	likeConstraints = 1 << 2
	likeDefaults    = 1 << 3
	likeGenerated   = 1 << 4
	likeIdentity    = 1 << 5
	likeIndexes     = 1 << 6
	likeStorage     = 1 << 8
)

// likeSource is a table of a LIKE clause of which more than the columns is copied, once the new table is there.
type likeSource struct {
	rel     *catalog.Relation
	options uint32
}

// like takes over the columns of another table.
func (d *tableDef) like(n *pg_query.TableLikeClause) error {
	e := d.e
	rel, err := e.findRelation(n.Relation)
	if err != nil {
		return err
	}
	if rel == nil {
		return e.at(undefinedRelation(n.Relation), n.Relation.Location)
	}
	switch rel.Kind {
	case catalog.KindTable, catalog.KindView, catalog.KindMatView, catalog.KindComposite:
	default:
		return e.at(pgerr.New(pgerr.WrongObjectType, "relation \"%s\" is invalid in LIKE clause", rel.Name).
			WithDetail("This operation is not supported for %s.", rel.Kind.Plural()), n.Relation.Location)
	}
	for i := range rel.Attrs {
		if a := &rel.Attrs[i]; !a.Dropped {
			if err := d.likeColumn(rel, a, n.Options); err != nil {
				return err
			}
		}
	}
	d.likes = append(d.likes, likeSource{rel, n.Options})
	return nil
}

func (d *tableDef) likeColumn(rel *catalog.Relation, a *catalog.Attribute, options uint32) error {
	c := columnDef{column: column{
		name: a.Name, typ: a.Type, typmod: a.Typmod, collation: a.Collation, ndims: int(a.NDims), notNull: a.NotNull,
	}}
	if options&likeStorage != 0 {
		c.storage = a.Storage
	}
	var err error
	switch {
	case a.HasDefault && a.Generated != 0 && options&likeGenerated != 0:
		c.generated = a.Generated
		c.gen, err = d.e.parseExpr(a.Default)
	case a.HasDefault && a.Generated == 0 && options&likeDefaults != 0:
		c.def, err = d.e.parseExpr(a.Default)
	}
	if err != nil {
		return err
	}
	if err := d.add(c); err != nil {
		return err
	}
	if a.Identity == 0 || options&likeIdentity == 0 {
		return nil
	}
	seqs, err := d.e.Cat.OwnedSequences(rel.OID, a.Num)
	if err != nil || len(seqs) == 0 {
		return err
	}
	seq, err := d.e.Cat.RelationByOID(seqs[0])
	if err != nil {
		return err
	}
	at := len(d.cols) - 1
	d.cols[at].identity = a.Identity
	return d.addSequence(at, optionsOf(seq.Sequence), true)
}

// optionsOf are the options that make another sequence like q.
func optionsOf(q *catalog.Sequence) []*pg_query.Node {
	option := func(name string, arg *pg_query.Node) *pg_query.Node {
		return &pg_query.Node{Node: &pg_query.Node_DefElem{DefElem: &pg_query.DefElem{Defname: name, Arg: arg, Location: -1}}}
	}
	number := func(v int64) *pg_query.Node {
		return &pg_query.Node{Node: &pg_query.Node_Float{Float: &pg_query.Float{Fval: strconv.FormatInt(v, 10)}}}
	}
	cycle := &pg_query.Node{Node: &pg_query.Node_Boolean{Boolean: &pg_query.Boolean{Boolval: q.Cycle}}}
	return []*pg_query.Node{
		option("cache", number(q.Cache)), option("cycle", cycle), option("increment", number(q.Increment)),
		option("maxvalue", number(q.Max)), option("minvalue", number(q.Min)), option("start", number(q.Start)),
	}
}

// copyLike copies what a LIKE clause asks for besides columns. A stored expression names columns, which are called the
// same in the new table.
func (d *tableDef) copyLike(table OID, l likeSource) error {
	if l.options&likeComments != 0 {
		for i := range l.rel.Attrs {
			if a := &l.rel.Attrs[i]; !a.Dropped {
				if err := d.copyColumnComment(table, l.rel, a); err != nil {
					return err
				}
			}
		}
	}
	if l.options&likeConstraints != 0 {
		for _, c := range l.rel.Checks {
			if err := d.copyCheck(table, c, l.options&likeComments != 0); err != nil {
				return err
			}
		}
	}
	if l.options&likeIndexes == 0 {
		return nil
	}
	for _, x := range l.rel.Indexes {
		if err := d.copyIndex(table, l.rel, x, l.options&likeComments != 0); err != nil {
			return err
		}
	}
	return nil
}

func (d *tableDef) copyColumnComment(table OID, src *catalog.Relation, a *catalog.Attribute) error {
	rel, err := d.e.Cat.RelationByOID(table)
	if err != nil {
		return err
	}
	from := catalog.Object{Class: catalog.PgClass, OID: src.OID, Sub: int32(a.Num)}
	to := catalog.Object{Class: catalog.PgClass, OID: table, Sub: int32(rel.AttrByName(a.Name).Num)}
	return d.e.copyComment(from, to)
}

func (e *Env) copyComment(from, to catalog.Object) error {
	rows, err := e.Cat.Rows(catalog.PgDescription,
		catalog.Eq{Col: catalog.DescriptionObjoid, Value: oidD(from.OID)},
		catalog.Eq{Col: catalog.DescriptionClassoid, Value: oidD(from.Class)},
		catalog.Eq{Col: catalog.DescriptionObjsubid, Value: intD(from.Sub)})
	if err != nil || len(rows) == 0 {
		return err
	}
	row := append(catalog.Row(nil), rows[0]...)
	row[catalog.DescriptionObjoid], row[catalog.DescriptionObjsubid] = oidD(to.OID), intD(to.Sub)
	return e.Cat.Insert(catalog.PgDescription, row)
}

func (d *tableDef) copyCheck(table OID, c *catalog.Constraint, comment bool) error {
	e := d.e
	node, err := e.parseExpr(c.Expr)
	if err != nil {
		return err
	}
	k := &pg_query.Constraint{Conname: c.Name, RawExpr: node, IsNoInherit: c.NoInherit, Location: -1}
	if _, err := e.addCheck(table, k, false); err != nil || !comment {
		return err
	}
	rel, err := e.Cat.RelationByOID(table)
	if err != nil {
		return err
	}
	for _, made := range rel.Checks {
		if made.Name == c.Name {
			from := catalog.Object{Class: catalog.PgConstraint, OID: c.OID}
			return e.copyComment(from, catalog.Object{Class: catalog.PgConstraint, OID: made.OID})
		}
	}
	return nil
}

func (d *tableDef) copyIndex(table OID, src *catalog.Relation, idx *catalog.Index, comment bool) error {
	e := d.e
	rel, err := e.Cat.RelationByOID(table)
	if err != nil {
		return err
	}
	x := &newIndex{
		flags: indexFlags{unique: idx.Unique, primary: idx.Primary, nullsNotDistinct: idx.NullsNotDistinct},
		nkeys: idx.NKeyAtts,
		space: idx.Tablespace,
		fill:  idx.FillFactor,
	}
	for _, name := range sortedKeys(idx.Options) {
		x.options = append(x.options, name+"="+idx.Options[name])
	}
	switch {
	case idx.Primary:
		if rel.PrimaryKey() != nil {
			return pgerr.New(pgerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", rel.Name)
		}
		x.constraint = catalog.ConstraintPrimary
	case idx.Constraint != 0:
		x.constraint = catalog.ConstraintUnique
	}
	for i := range idx.Keys {
		k := &idx.Keys[i]
		c := indexColumn{
			name: k.Name, typ: k.Type, typmod: k.Typmod, opclass: k.Opclass, collation: k.Collation,
			desc: k.Desc, nullsFirst: k.NullsFirst,
		}
		if k.AttNum != 0 {
			c.attnum = rel.AttrByName(src.Attr(k.AttNum).Name).Num
		} else if c.expr, err = analyze.StoredExpr(e.analysis(), rel, k.Expr); err != nil {
			return err
		}
		x.columns = append(x.columns, c)
	}
	if idx.Predicate != "" {
		if x.predicate, err = analyze.StoredExpr(e.analysis(), rel, idx.Predicate); err != nil {
			return err
		}
	}
	oid, err := e.makeIndex(rel, x, false)
	if err != nil || !comment {
		return err
	}
	from := catalog.Object{Class: catalog.PgClass, OID: idx.OID}
	return e.copyComment(from, catalog.Object{Class: catalog.PgClass, OID: oid})
}
