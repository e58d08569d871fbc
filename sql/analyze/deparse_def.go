package analyze

import (
	"maps"
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// DeparseIndex is pg_get_indexdef: the command that makes index x of rel, or with column the text of that column alone
// (1-based; "" if there is none).
func DeparseIndex(c *Context, rel *catalog.Relation, x *catalog.Index, column int, pretty bool) (text string, err error) {
	defer caught(&err)
	d := newDeparser(c, pretty)
	d.spaces = []*deparseSpace{relationSpace(rel)}
	if column != 0 {
		if column > 0 && column <= len(x.Keys) {
			d.indexKey(rel, &x.Keys[column-1])
		}
		return string(d.buf), nil
	}
	d.str("CREATE ")
	if x.Unique {
		d.str("UNIQUE ")
	}
	d.str("INDEX ")
	d.ident(x.Name)
	d.str(" ON ")
	if rel.Kind == catalog.KindPartitionedTable {
		d.str("ONLY ")
	}
	if pretty {
		d.str(d.analysis.relationName(rel))
	} else {
		d.str(d.qualified(rel.Namespace, rel.Name, true))
	}
	d.str(" USING ")
	d.ident(d.accessMethod(x.AM))
	d.str(" (")
	d.indexKeys(rel, x, nil)
	d.indexOptions(x)
	if x.Predicate != "" {
		d.str(" WHERE ")
		d.expr(must(StoredExpr(c, rel, x.Predicate)), false)
	}
	return string(d.buf), nil
}

func (a *analysis) accessMethod(oid types.OID) string {
	m := must(a.Catalog.AMByOID(oid))
	if m == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for access method %d", oid))
	}
	return m.Name
}

// indexKeys prints the columns up to the closing parenthesis; exclude are the operators of an exclusion constraint.
func (d *deparser) indexKeys(rel *catalog.Relation, x *catalog.Index, exclude []types.OID) {
	sep := ""
	for i := range x.Keys {
		if i == x.NKeyAtts {
			d.str(") INCLUDE (")
			sep = ""
		}
		d.str(sep)
		sep = ", "
		k := &x.Keys[i]
		typ, coll := d.indexKey(rel, k)
		if i < x.NKeyAtts {
			d.indexKeyOrder(x, k, typ, coll)
			if exclude != nil {
				d.str(" WITH " + d.operatorName(exclude[i], typ, typ))
			}
		}
	}
	d.chr(')')
}

// indexKey prints the column or expression of a key and returns its type and collation.
func (d *deparser) indexKey(rel *catalog.Relation, k *catalog.IndexKey) (types.OID, types.OID) {
	if k.AttNum != 0 {
		if at := rel.Attr(k.AttNum); at != nil {
			d.ident(at.Name)
			return at.Type, at.Collation
		}
		d.ident(SystemColumnName(int(k.AttNum)))
		return k.Type, k.Collation
	}
	e := must(StoredExpr(d.root, rel, k.Expr))
	if looksLikeFunction(e) {
		d.expr(e, false)
	} else {
		d.chr('(')
		d.expr(e, false)
		d.chr(')')
	}
	return e.Type(), e.Collation()
}

func (d *deparser) indexKeyOrder(x *catalog.Index, k *catalog.IndexKey, typ, coll types.OID) {
	if k.Collation != 0 && k.Collation != coll {
		d.str(" COLLATE " + d.qualifiedCollation(k.Collation))
	}
	d.opclass(k.Opclass, typ)
	switch {
	case x.AM != catalog.AMBtree:
	case k.Desc:
		d.str(" DESC")
		if !k.NullsFirst {
			d.str(" NULLS LAST")
		}
	case k.NullsFirst:
		d.str(" NULLS FIRST")
	}
}

// opclass prints an operator class unless it is the default for the type. Follows get_opclass_name.
func (d *deparser) opclass(oid, typ types.OID) {
	o := must(d.Catalog.OpclassByOID(oid))
	if o == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for opclass %d", oid))
	}
	if def := must(d.Catalog.DefaultOpclass(o.Method, d.baseType(typ))); def != nil && def.OID == oid {
		return
	}
	visible := false
	for _, ns := range d.SearchPath {
		if f := must(d.Catalog.OpclassByName(o.Method, ns, o.Name)); f != nil {
			visible = f.OID == oid
			break
		}
	}
	d.str(" " + d.qualified(o.Namespace, o.Name, !visible))
}

func (d *deparser) indexOptions(x *catalog.Index) {
	if x.NullsNotDistinct {
		d.str(" NULLS NOT DISTINCT")
	}
	sep := " WITH ("
	for _, name := range slices.Sorted(maps.Keys(x.Options)) {
		d.str(sep)
		sep = ", "
		d.ident(name)
		d.chr('=')
		if v := x.Options[name]; isSafeIdent(v) {
			d.str(v)
		} else {
			d.literal(v)
		}
	}
	if len(x.Options) > 0 {
		d.chr(')')
	}
}

// DeparseConstraint is pg_get_constraintdef.
func DeparseConstraint(c *Context, k *catalog.Constraint, pretty bool) (text string, err error) {
	defer caught(&err)
	d := newDeparser(c, pretty)
	switch k.Kind {
	case catalog.ConstraintForeign:
		d.foreignKey(k)
	case catalog.ConstraintPrimary, catalog.ConstraintUnique:
		d.uniqueConstraint(k)
	case catalog.ConstraintCheck:
		d.checkConstraint(c, k)
	case catalog.ConstraintTrigger:
		d.str("TRIGGER")
	case catalog.ConstraintExclusion:
		d.exclusion(c, k)
	default:
		raise(pgerr.New(pgerr.InternalError, "invalid constraint type \"%c\"", k.Kind))
	}
	if k.Deferrable {
		d.str(" DEFERRABLE")
	}
	if k.Deferred {
		d.str(" INITIALLY DEFERRED")
	}
	if !k.Validated {
		d.str(" NOT VALID")
	}
	return string(d.buf), nil
}

func (d *deparser) columnNames(rel *catalog.Relation, key []int16) {
	names := make([]string, len(key))
	for i, n := range key {
		names[i] = rel.Attr(n).Name
	}
	d.nameList(names)
}

var foreignActions = map[byte]string{'r': "RESTRICT", 'c': "CASCADE", 'n': "SET NULL", 'd': "SET DEFAULT"}

func (d *deparser) foreignKey(k *catalog.Constraint) {
	rel, ref := d.relation(k.Relation), d.relation(k.RefRel)
	d.str("FOREIGN KEY ")
	d.columnNames(rel, k.Key)
	d.str(" REFERENCES " + d.analysis.relationName(ref))
	d.columnNames(ref, k.RefKey)
	switch k.Match {
	case 'f':
		d.str(" MATCH FULL")
	case 'p':
		d.str(" MATCH PARTIAL")
	}
	if a := foreignActions[k.OnUpdate]; a != "" {
		d.str(" ON UPDATE " + a)
	}
	if a := foreignActions[k.OnDelete]; a != "" {
		d.str(" ON DELETE " + a)
	}
	if len(k.DelSet) > 0 {
		d.chr(' ')
		d.columnNames(rel, k.DelSet)
	}
}

// constraintIndex is the index of a constraint, with its table.
func (d *deparser) constraintIndex(k *catalog.Constraint) (*catalog.Relation, *catalog.Index) {
	x := must(d.Catalog.IndexByOID(k.Index))
	if x == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for index %d", k.Index))
	}
	return d.relation(k.Relation), x
}

func (d *deparser) uniqueConstraint(k *catalog.Constraint) {
	rel, x := d.constraintIndex(k)
	if k.Kind == catalog.ConstraintPrimary {
		d.str("PRIMARY KEY ")
	} else {
		d.str("UNIQUE ")
	}
	if x.NullsNotDistinct {
		d.str("NULLS NOT DISTINCT ")
	}
	d.columnNames(rel, k.Key)
	if x.NKeyAtts < len(x.Keys) {
		var included []int16
		for _, key := range x.Keys[x.NKeyAtts:] {
			included = append(included, key.AttNum)
		}
		d.str(" INCLUDE ")
		d.columnNames(rel, included)
	}
}

func (d *deparser) checkConstraint(c *Context, k *catalog.Constraint) {
	var e Expr
	if k.Relation != 0 {
		rel := d.relation(k.Relation)
		d.spaces = []*deparseSpace{relationSpace(rel)}
		e = must(StoredExpr(c, rel, k.Expr))
	} else {
		base, typmod := d.baseTypeMod(k.Domain, -1)
		e = must(StoredDomainExpr(c, base, typmod, k.Expr))
	}
	d.str("CHECK (")
	d.expr(e, false)
	d.chr(')')
	if k.NoInherit {
		d.str(" NO INHERIT")
	}
}

func (d *deparser) exclusion(c *Context, k *catalog.Constraint) {
	rel, x := d.constraintIndex(k)
	d.spaces = []*deparseSpace{relationSpace(rel)}
	d.str("EXCLUDE USING ")
	d.ident(d.accessMethod(x.AM))
	d.str(" (")
	d.indexKeys(rel, x, k.ExclOp)
	d.indexOptions(x)
	if x.Predicate != "" {
		d.str(" WHERE (")
		d.expr(must(StoredExpr(c, rel, x.Predicate)), false)
		d.chr(')')
	}
}
