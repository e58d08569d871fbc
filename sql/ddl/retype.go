package ddl

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// retypeIndex brings an index's columns up to date with the table, a column of which has another type now.
// A column that had its type's default operator class gets that of the new type; one named must accept the type.
func (e *Env) retypeIndex(r *catalog.Relation, x *catalog.Index) error {
	fresh, err := e.freshIndex(r, x.OID)
	if err != nil {
		return err
	}
	classes := make([]OID, 0, x.NKeyAtts)
	collations := make([]OID, 0, x.NKeyAtts)
	for i, k := range x.Keys {
		class, coll := k.Opclass, k.Collation
		col, err := e.keyColumn(r, &fresh.Keys[i])
		if err != nil {
			return err
		}
		if col.typ != k.Type {
			coll = col.collation
			if i < x.NKeyAtts {
				if class, err = e.retypeClass(class, k.Type, col.typ); err != nil {
					return err
				}
			}
			if err := e.changeType(x.OID, &catalog.Attribute{Num: int16(i + 1)}, &col); err != nil {
				return err
			}
		}
		if i < x.NKeyAtts {
			classes, collations = append(classes, class), append(collations, coll)
		}
	}
	return e.updateIndex(x.OID, func(row catalog.Row) {
		row[catalog.IndexIndclass] = catalog.OIDVectorDatum(classes)
		row[catalog.IndexIndcollation] = catalog.OIDVectorDatum(collations)
	})
}

// freshIndex is an index of r as the catalog has it now.
func (e *Env) freshIndex(r *catalog.Relation, oid OID) (*catalog.Index, error) {
	now, err := e.Cat.RelationByOID(r.OID)
	if err != nil {
		return nil, err
	}
	for _, x := range now.Indexes {
		if x.OID == oid {
			return x, nil
		}
	}
	return nil, pgerr.New(pgerr.InternalError, "index %d of relation \"%s\" is gone", oid, r.Name)
}

// keyColumn is what an index key's values are: the table's column, or its expression's.
func (e *Env) keyColumn(r *catalog.Relation, k *catalog.IndexKey) (column, error) {
	if k.AttNum != 0 {
		at := r.Attr(k.AttNum)
		return column{typ: at.Type, typmod: at.Typmod, collation: at.Collation}, nil
	}
	expr, err := analyze.StoredExpr(e.analysis(), r, k.Expr)
	if err != nil {
		return column{}, err
	}
	return column{typ: expr.Type(), typmod: expr.Typmod(), collation: expr.Collation()}, nil
}

// retypeClass is the operator class for a column that had class for type from and is of type to.
func (e *Env) retypeClass(class, from, to OID) (OID, error) {
	oc, err := e.Cat.DefaultOpclass(catalog.AMBtree, from)
	if err != nil {
		return 0, err
	}
	if oc != nil && oc.OID == class {
		return e.opclass(to, nil)
	}
	if oc, err = e.Cat.OpclassByOID(class); err != nil {
		return 0, err
	}
	return class, e.classAccepts(oc, oc.Name, to)
}

// classAccepts refuses an operator class, called name in the statement, that is for another type.
func (e *Env) classAccepts(oc *catalog.Opclass, name string, typ OID) error {
	ok, err := e.Cat.BinaryCoercible(typ, oc.InType)
	if err == nil && !ok {
		err = pgerr.New(pgerr.DatatypeMismatch, "operator class \"%s\" does not accept data type %s", name, typeText(e, typ))
	}
	return err
}

// retypeDefault refuses a new type for a column that something depends on which cannot follow, and
// converts the column's default to it.
func (a *alteration) retypeDefault(r *catalog.Relation, at *catalog.Attribute, typ OID, typmod int32) error {
	e := a.e
	for i := range r.Attrs {
		g := &r.Attrs[i]
		if g.Generated == 0 || g.Dropped || g.Num == at.Num {
			continue
		}
		x, err := analyze.StoredExpr(e.analysis(), r, g.Default)
		if err != nil {
			return err
		}
		if analyze.UsesColumn(x, at.Num) {
			return pgerr.New(pgerr.FeatureNotSupported, "cannot alter type of a column used by a generated column").
				WithDetail("Column \"%s\" is used by generated column \"%s\".", at.Name, g.Name)
		}
	}
	if at.Default == "" || at.Generated != 0 {
		return nil
	}
	x, err := analyze.RetypedDefault(e.analysis(), r, at, typ, typmod)
	if err != nil {
		return err
	}
	text, err := e.stored(x, nil)
	if err != nil {
		return err
	}
	rows, err := e.Cat.Rows(catalog.PgAttrdef,
		catalog.Eq{Col: catalog.AttrdefAdrelid, Value: oidD(r.OID)}, catalog.Eq{Col: catalog.AttrdefAdnum, Value: intD(at.Num)})
	if err != nil {
		return err
	}
	for _, row := range rows {
		row = append(catalog.Row(nil), row...)
		row[catalog.AttrdefAdbin] = types.TextDatum(text)
		if err := e.Cat.Update(catalog.PgAttrdef, row); err != nil {
			return err
		}
	}
	return nil
}
