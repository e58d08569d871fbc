package catalog

import (
	"cmp"
	"slices"

	"github.com/minipg/minipg/types"
)

// Kinds of cached lookups, for objKey.
const (
	byOIDLookup uint8 = iota
	byNameLookup
	byMemberLookup
	typeInfoLookup
	defaultLookup
)

// cached answers a lookup from the shared cache, unless the transaction changed the catalog.
// load must read no other catalog.
func cached[T any](t *Txn, k objKey, load func() (T, error)) (T, error) {
	if t.hasChanged(k.rel) {
		return load()
	}
	k.db = t.db
	if mustDef(k.rel).shared {
		k.db = 0
	}
	val, gen, ok := t.cat.cache.object(k)
	if ok {
		return val.(T), nil
	}
	v, err := load()
	if err == nil {
		t.cat.cache.putObject(k, gen, v)
	}
	return v, err
}

// one loads the row that eq selects, nil if there is none.
func one[T any](t *Txn, rel OID, conv func(Row) (*T, error), eq ...Eq) (*T, error) {
	var out *T
	err := t.Scan(rel, eq, func(r Row) error {
		var err error
		out, err = conv(r)
		return err
	})
	return out, err
}

// all loads the rows that eq selects.
func all[T any](t *Txn, rel OID, conv func(Row) (*T, error), eq ...Eq) ([]*T, error) {
	var out []*T
	err := t.Scan(rel, eq, func(r Row) error {
		v, err := conv(r)
		out = append(out, v)
		return err
	})
	return out, err
}

func cachedOne[T any](t *Txn, rel OID, conv func(Row) (*T, error), oidCol int, oid OID) (*T, error) {
	return cached(t, objKey{rel: rel, kind: byOIDLookup, a: uint64(oid)}, func() (*T, error) {
		return one(t, rel, conv, Eq{oidCol, oidDatum(oid)})
	})
}

// builtinOne is cachedOne for catalogs whose generated rows are descriptors themselves.
func builtinOne[T any](t *Txn, rel OID, oid OID, builtin *T, conv func(Row) (*T, error)) (*T, error) {
	return cached(t, objKey{rel: rel, kind: byOIDLookup, a: uint64(oid)}, func() (*T, error) {
		def := mustDef(rel)
		k := appendKey(keyPrefix(t.db, def, 0), types.Oid, oidDatum(oid))
		v, ok, err := t.raw(k)
		if err != nil || !ok {
			return builtin, err
		}
		if v[0] == rowDeleted {
			return nil, nil
		}
		row := make(Row, len(def.cols))
		if err := decodeRow(def, v, row); err != nil {
			return nil, err
		}
		return conv(row)
	})
}

// builtinByName collects the objects of a name in all schemas.
func builtinByName[T any](t *Txn, rel OID, nameCol int, name string, table []T, perm []uint16,
	key func(*T) (OID, string), conv func(Row) (*T, error),
) ([]*T, error) {
	return cached(t, objKey{rel: rel, kind: byNameLookup, s: name}, func() ([]*T, error) {
		def := mustDef(rel)
		eq := []Eq{{nameCol, types.TextDatum(name)}}
		stored, _, err := t.storedRows(def, eq)
		if err != nil {
			return nil, err
		}
		var out []*T
		row := make(Row, len(def.cols))
		for i := range stored {
			if stored[i].val[0] == rowDeleted {
				continue
			}
			if err := decodeRow(def, stored[i].val, row); err != nil {
				return nil, err
			}
			v, err := conv(row)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		for _, p := range byName(table, perm, key, name) {
			oid, _ := key(&table[p])
			k := appendKey(keyPrefix(t.db, def, 0), types.Oid, oidDatum(oid))
			if _, masked, err := t.raw(k); err != nil {
				return nil, err
			} else if !masked {
				out = append(out, &table[p])
			}
		}
		return out, nil
	})
}

// NamespaceByOID returns a schema.
func (t *Txn) NamespaceByOID(oid OID) (*Namespace, error) {
	return cachedOne(t, PgNamespace, namespaceFromRow, NamespaceOid, oid)
}

// NamespaceByName returns a schema.
func (t *Txn) NamespaceByName(name string) (*Namespace, error) {
	return cached(t, objKey{rel: PgNamespace, kind: byNameLookup, s: name}, func() (*Namespace, error) {
		return one(t, PgNamespace, namespaceFromRow, Eq{NamespaceNspname, types.TextDatum(name)})
	})
}

// TypeByOID returns a type.
func (t *Txn) TypeByOID(oid OID) (*Type, error) {
	return builtinOne(t, PgType, oid, byOID(builtinTypes[:], typeKey, oid), typeFromRow)
}

// TypesByName returns the types of that name in all schemas.
func (t *Txn) TypesByName(name string) ([]*Type, error) {
	return builtinByName(t, PgType, TypeTypname, name, builtinTypes[:], builtinTypeByName[:], typeKey, typeFromRow)
}

// TypeByName looks in one schema.
func (t *Txn) TypeByName(ns OID, name string) (*Type, error) {
	all, err := t.TypesByName(name)
	for _, typ := range all {
		if typ.Namespace == ns {
			return typ, nil
		}
	}
	return nil, err
}

// ProcByOID returns a function.
func (t *Txn) ProcByOID(oid OID) (*Proc, error) {
	return builtinOne(t, PgProc, oid, byOID(builtinProcs[:], procKey, oid), procFromRow)
}

// ProcsByName returns the functions of that name in all schemas.
func (t *Txn) ProcsByName(name string) ([]*Proc, error) {
	return builtinByName(t, PgProc, ProcProname, name, builtinProcs[:], builtinProcByName[:], procKey, procFromRow)
}

// AggregateByOID returns what pg_aggregate knows of a function.
func (t *Txn) AggregateByOID(fn OID) (*Aggregate, error) {
	return builtinOne(t, PgAggregate, fn, byOID(builtinAggregates[:], aggregateKey, fn), aggregateFromRow)
}

// OperatorByOID returns an operator.
func (t *Txn) OperatorByOID(oid OID) (*Operator, error) {
	return builtinOne(t, PgOperator, oid, byOID(builtinOperators[:], operatorKey, oid), operatorFromRow)
}

// OperatorsByName returns the operators of that name in all schemas.
func (t *Txn) OperatorsByName(name string) ([]*Operator, error) {
	return builtinByName(t, PgOperator, OperatorOprname, name, builtinOperators[:], builtinOperatorByName[:], operatorKey, operatorFromRow)
}

// Cast returns the cast between two types.
func (t *Txn) Cast(source, target OID) (*Cast, error) {
	return cached(t, objKey{rel: PgCast, kind: byMemberLookup, a: uint64(source), b: uint64(target)}, func() (*Cast, error) {
		return one(t, PgCast, func(r Row) (*Cast, error) {
			if c := builtinCast(source, target); c != nil && c.OID == r[CastOid].OID() {
				return c, nil
			}
			return castFromRow(r)
		}, Eq{CastCastsource, oidDatum(source)}, Eq{CastCasttarget, oidDatum(target)})
	})
}

// OpclassByOID returns an operator class.
func (t *Txn) OpclassByOID(oid OID) (*Opclass, error) {
	return cachedOne(t, PgOpclass, opclassFromRow, OpclassOid, oid)
}

// OpclassByName looks in one schema.
func (t *Txn) OpclassByName(am, ns OID, name string) (*Opclass, error) {
	return cached(t, objKey{rel: PgOpclass, kind: byNameLookup, a: uint64(am), b: uint64(ns), s: name}, func() (*Opclass, error) {
		return one(t, PgOpclass, opclassFromRow, Eq{OpclassOpcmethod, oidDatum(am)},
			Eq{OpclassOpcname, types.TextDatum(name)}, Eq{OpclassOpcnamespace, oidDatum(ns)})
	})
}

// opclasses returns the operator classes of an access method.
func (t *Txn) opclasses(am OID) ([]*Opclass, error) {
	return cached(t, objKey{rel: PgOpclass, kind: byMemberLookup, a: uint64(am)}, func() ([]*Opclass, error) {
		return all(t, PgOpclass, opclassFromRow, Eq{OpclassOpcmethod, oidDatum(am)})
	})
}

// DefaultOpclass finds the default operator class of an access method for a type, through
// binary coercion and polymorphic classes as PostgreSQL's GetDefaultOpClass does.
func (t *Txn) DefaultOpclass(am, typ OID) (*Opclass, error) {
	base, err := t.BaseType(typ)
	if err != nil || base == nil {
		return nil, err
	}
	classes, err := t.opclasses(am)
	if err != nil {
		return nil, err
	}
	var preferred, compatible *Opclass
	nPreferred, nCompatible := 0, 0
	for _, c := range classes {
		if !c.Default {
			continue
		}
		if c.InType == base.OID {
			return c, nil
		}
		ok, err := t.BinaryCoercible(base.OID, c.InType)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		in, err := t.TypeByOID(c.InType)
		if err != nil {
			return nil, err
		}
		if in != nil && in.Category == base.Category && in.Preferred {
			preferred = c
			nPreferred++
		} else {
			compatible = c
			nCompatible++
		}
	}
	switch {
	case nPreferred == 1:
		return preferred, nil
	case nPreferred == 0 && nCompatible == 1:
		return compatible, nil
	}
	return nil, nil
}

// BaseType looks through domains.
func (t *Txn) BaseType(oid OID) (*Type, error) {
	for {
		typ, err := t.TypeByOID(oid)
		if err != nil || typ == nil || typ.Kind != 'd' {
			return typ, err
		}
		oid = typ.BaseType
	}
}

// BinaryCoercible tells whether a value of type src is one of type target as it is.
func (t *Txn) BinaryCoercible(src, target OID) (bool, error) {
	switch {
	case src == target, target == types.Any, target == types.AnyElement, target == types.AnyCompatible:
		return true, nil
	}
	typ, err := t.BaseType(src)
	if err != nil || typ == nil {
		return false, err
	}
	if typ.OID == target {
		return true, nil
	}
	switch target {
	case types.AnyArray, types.AnyCompatibleArray:
		return typ.IsArray(), nil
	case types.AnyNonArray, types.AnyCompatibleNonArray:
		return !typ.IsArray(), nil
	case types.AnyEnum:
		return typ.Kind == 'e', nil
	case types.AnyRange, types.AnyCompatibleRange:
		return typ.Kind == 'r', nil
	case types.AnyMultirange, types.AnyCompatibleMultirange:
		return typ.Kind == 'm', nil
	case types.Record:
		return typ.Kind == 'c', nil
	case types.RecordArray:
		if !typ.IsArray() {
			return false, nil
		}
		elem, err := t.TypeByOID(typ.Elem)
		return elem != nil && elem.Kind == 'c', err
	}
	c, err := t.Cast(typ.OID, target)
	return c != nil && c.Method == 'b' && c.Context == 'i', err
}

// OpfamilyByOID returns an operator family.
func (t *Txn) OpfamilyByOID(oid OID) (*Opfamily, error) {
	return cachedOne(t, PgOpfamily, opfamilyFromRow, OpfamilyOid, oid)
}

// familyOps returns the operators of a family.
func (t *Txn) familyOps(family OID) ([]*AmOp, error) {
	return cached(t, objKey{rel: PgAmop, kind: byMemberLookup, a: uint64(family)}, func() ([]*AmOp, error) {
		return all(t, PgAmop, amopFromRow, Eq{AmopAmopfamily, oidDatum(family)})
	})
}

// OpfamilyMember returns the operator of a family at a strategy number, 0 if there is none.
func (t *Txn) OpfamilyMember(family, left, right OID, strategy int16) (OID, error) {
	ops, err := t.familyOps(family)
	for _, o := range ops {
		if o.Left == left && o.Right == right && o.Strategy == strategy && o.Purpose == 's' {
			return o.Operator, nil
		}
	}
	return 0, err
}

// OpfamilyProc returns the support function of a family, 0 if there is none.
func (t *Txn) OpfamilyProc(family, left, right OID, num int16) (OID, error) {
	procs, err := cached(t, objKey{rel: PgAmproc, kind: byMemberLookup, a: uint64(family)}, func() ([]*AmProc, error) {
		return all(t, PgAmproc, amprocFromRow, Eq{AmprocAmprocfamily, oidDatum(family)})
	})
	for _, p := range procs {
		if p.Left == left && p.Right == right && p.Num == num {
			return p.Proc, nil
		}
	}
	return 0, err
}

// OperatorFamilies returns the family entries an operator appears in.
func (t *Txn) OperatorFamilies(operator OID) ([]AmOp, error) {
	return cached(t, objKey{rel: PgAmop, kind: byOIDLookup, a: uint64(operator)}, func() ([]AmOp, error) {
		var out []AmOp
		err := t.Scan(PgAmop, []Eq{{AmopAmopopr, oidDatum(operator)}}, func(r Row) error {
			o, err := amopFromRow(r)
			out = append(out, *o)
			return err
		})
		return out, err
	})
}

// AMByOID returns an access method.
func (t *Txn) AMByOID(oid OID) (*AM, error) {
	return cachedOne(t, PgAm, amFromRow, AmOid, oid)
}

// AMByName returns an access method.
func (t *Txn) AMByName(name string) (*AM, error) {
	return cached(t, objKey{rel: PgAm, kind: byNameLookup, s: name}, func() (*AM, error) {
		return one(t, PgAm, amFromRow, Eq{AmAmname, types.TextDatum(name)})
	})
}

// CollationByOID returns a collation.
func (t *Txn) CollationByOID(oid OID) (*Collation, error) {
	return cachedOne(t, PgCollation, collationFromRow, CollationOid, oid)
}

// CollationsByName returns the collations of that name in all schemas.
func (t *Txn) CollationsByName(name string) ([]*Collation, error) {
	return cached(t, objKey{rel: PgCollation, kind: byNameLookup, s: name}, func() ([]*Collation, error) {
		return all(t, PgCollation, collationFromRow, Eq{CollationCollname, types.TextDatum(name)})
	})
}

// LanguageByName returns a language.
func (t *Txn) LanguageByName(name string) (*Language, error) {
	return cached(t, objKey{rel: PgLanguage, kind: byNameLookup, s: name}, func() (*Language, error) {
		return one(t, PgLanguage, languageFromRow, Eq{LanguageLanname, types.TextDatum(name)})
	})
}

// LanguageByOID returns a language.
func (t *Txn) LanguageByOID(oid OID) (*Language, error) {
	return cachedOne(t, PgLanguage, languageFromRow, LanguageOid, oid)
}

// RangeByType returns what pg_range knows of a range type.
func (t *Txn) RangeByType(typ OID) (*Range, error) {
	return cachedOne(t, PgRange, rangeFromRow, RangeRngtypid, typ)
}

// EnumLabels returns the labels of an enum in order.
func (t *Txn) EnumLabels(typ OID) ([]EnumLabel, error) {
	return cached(t, objKey{rel: PgEnum, kind: byMemberLookup, a: uint64(typ)}, func() ([]EnumLabel, error) {
		var out []EnumLabel
		err := t.Scan(PgEnum, []Eq{{EnumEnumtypid, oidDatum(typ)}}, func(r Row) error {
			out = append(out, EnumLabel{
				OID: r[EnumOid].OID(), Sort: float32(r[EnumEnumsortorder].Float64()), Label: r[EnumEnumlabel].String(),
			})
			return nil
		})
		slices.SortFunc(out, func(a, b EnumLabel) int { return cmp.Compare(a.Sort, b.Sort) })
		return out, err
	})
}

// DomainConstraints returns the CHECK constraints of a domain, sorted by name.
func (t *Txn) DomainConstraints(domain OID) ([]*Constraint, error) {
	return cached(t, objKey{rel: PgConstraint, kind: byMemberLookup, a: uint64(domain)}, func() ([]*Constraint, error) {
		out, err := all(t, PgConstraint, constraintFromRow, Eq{ConstraintContypid, oidDatum(domain)})
		slices.SortFunc(out, func(a, b *Constraint) int { return cmp.Compare(a.Name, b.Name) })
		return out, err
	})
}

// ConstraintByOID returns a constraint.
func (t *Txn) ConstraintByOID(oid OID) (*Constraint, error) {
	return cachedOne(t, PgConstraint, constraintFromRow, ConstraintOid, oid)
}

// RoleByOID returns a role.
func (t *Txn) RoleByOID(oid OID) (*Role, error) {
	return cachedOne(t, PgAuthid, roleFromRow, AuthidOid, oid)
}

// RoleByName returns a role.
func (t *Txn) RoleByName(name string) (*Role, error) {
	return cached(t, objKey{rel: PgAuthid, kind: byNameLookup, s: name}, func() (*Role, error) {
		return one(t, PgAuthid, roleFromRow, Eq{AuthidRolname, types.TextDatum(name)})
	})
}

// Memberships returns the roles a role is a direct member of.
func (t *Txn) Memberships(member OID) ([]Membership, error) {
	return cached(t, objKey{rel: PgAuthMembers, kind: byMemberLookup, a: uint64(member)}, func() ([]Membership, error) {
		var out []Membership
		err := t.Scan(PgAuthMembers, []Eq{{AuthMembersMember, oidDatum(member)}}, func(r Row) error {
			out = append(out, Membership{
				Role: r[AuthMembersRoleid].OID(), Member: member,
				Grantor: r[AuthMembersGrantor].OID(), Admin: r[AuthMembersAdminOption].Bool(),
			})
			return nil
		})
		return out, err
	})
}

// DatabaseByOID returns a database.
func (t *Txn) DatabaseByOID(oid OID) (*Database, error) {
	return cachedOne(t, PgDatabase, databaseFromRow, DatabaseOid, oid)
}

// DatabaseByName returns a database.
func (t *Txn) DatabaseByName(name string) (*Database, error) {
	return cached(t, objKey{rel: PgDatabase, kind: byNameLookup, s: name}, func() (*Database, error) {
		return one(t, PgDatabase, databaseFromRow, Eq{DatabaseDatname, types.TextDatum(name)})
	})
}

// TablespaceByOID returns a tablespace.
func (t *Txn) TablespaceByOID(oid OID) (*Tablespace, error) {
	return cachedOne(t, PgTablespace, tablespaceFromRow, TablespaceOid, oid)
}

// TablespaceByName returns a tablespace.
func (t *Txn) TablespaceByName(name string) (*Tablespace, error) {
	return cached(t, objKey{rel: PgTablespace, kind: byNameLookup, s: name}, func() (*Tablespace, error) {
		return one(t, PgTablespace, tablespaceFromRow, Eq{TablespaceSpcname, types.TextDatum(name)})
	})
}

// Statistics returns the planner's statistics of a column, nil if there are none.
func (t *Txn) Statistics(rel OID, att int16, inherited bool) (*Statistics, error) {
	k := objKey{rel: PgStatistic, kind: byOIDLookup, a: uint64(rel), b: uint64(uint16(att)) << 1}
	if inherited {
		k.b |= 1
	}
	return cached(t, k, func() (*Statistics, error) {
		return one(t, PgStatistic, statisticsFromRow, Eq{StatisticStarelid, oidDatum(rel)},
			Eq{StatisticStaattnum, intDatum(att)}, Eq{StatisticStainherit, types.BoolDatum(inherited)})
	})
}
