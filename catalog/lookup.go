package catalog

import "github.com/minipg/minipg/types"

// RelationByOID returns the relation's descriptor.
func (t *Txn) RelationByOID(oid OID) (*Relation, error) { return nil, nil }

// RelationByName looks in one schema.
func (t *Txn) RelationByName(ns OID, name string) (*Relation, error) { return nil, nil }

// RelationOID is RelationByName without the descriptor, 0 if there is none.
func (t *Txn) RelationOID(ns OID, name string) (OID, error) { return 0, nil }

// IndexByOID returns an index's descriptor.
func (t *Txn) IndexByOID(oid OID) (*Index, error) { return nil, nil }

// NamespaceByOID returns a schema.
func (t *Txn) NamespaceByOID(oid OID) (*Namespace, error) { return nil, nil }

// NamespaceByName returns a schema.
func (t *Txn) NamespaceByName(name string) (*Namespace, error) { return nil, nil }

// TypeByOID returns a type.
func (t *Txn) TypeByOID(oid OID) (*Type, error) { return nil, nil }

// TypeByName looks in one schema.
func (t *Txn) TypeByName(ns OID, name string) (*Type, error) { return nil, nil }

// TypesByName returns the types of that name in all schemas.
func (t *Txn) TypesByName(name string) ([]*Type, error) { return nil, nil }

// Types resolves user-defined types for package types.
func (t *Txn) Types() types.Types { return nil }

// ProcByOID returns a function.
func (t *Txn) ProcByOID(oid OID) (*Proc, error) { return nil, nil }

// ProcsByName returns the functions of that name in all schemas.
func (t *Txn) ProcsByName(name string) ([]*Proc, error) { return nil, nil }

// AggregateByOID returns what pg_aggregate knows of a function.
func (t *Txn) AggregateByOID(fn OID) (*Aggregate, error) { return nil, nil }

// OperatorByOID returns an operator.
func (t *Txn) OperatorByOID(oid OID) (*Operator, error) { return nil, nil }

// OperatorsByName returns the operators of that name in all schemas.
func (t *Txn) OperatorsByName(name string) ([]*Operator, error) { return nil, nil }

// Cast returns the cast between two types.
func (t *Txn) Cast(source, target OID) (*Cast, error) { return nil, nil }

// OpclassByOID returns an operator class.
func (t *Txn) OpclassByOID(oid OID) (*Opclass, error) { return nil, nil }

// OpclassByName looks in one schema.
func (t *Txn) OpclassByName(am, ns OID, name string) (*Opclass, error) { return nil, nil }

// DefaultOpclass finds the default operator class of an access method for a type, through
// binary coercion and polymorphic classes as PostgreSQL does.
func (t *Txn) DefaultOpclass(am, typ OID) (*Opclass, error) { return nil, nil }

// OpfamilyByOID returns an operator family.
func (t *Txn) OpfamilyByOID(oid OID) (*Opfamily, error) { return nil, nil }

// OpfamilyMember returns the operator of a family at a strategy number, 0 if there is none.
func (t *Txn) OpfamilyMember(family, left, right OID, strategy int16) (OID, error) { return 0, nil }

// OpfamilyProc returns the support function of a family, 0 if there is none.
func (t *Txn) OpfamilyProc(family, left, right OID, num int16) (OID, error) { return 0, nil }

// OperatorFamilies returns the family entries an operator appears in.
func (t *Txn) OperatorFamilies(operator OID) ([]AmOp, error) { return nil, nil }

// AMByOID returns an access method.
func (t *Txn) AMByOID(oid OID) (*AM, error) { return nil, nil }

// AMByName returns an access method.
func (t *Txn) AMByName(name string) (*AM, error) { return nil, nil }

// CollationByOID returns a collation.
func (t *Txn) CollationByOID(oid OID) (*Collation, error) { return nil, nil }

// CollationsByName returns the collations of that name in all schemas.
func (t *Txn) CollationsByName(name string) ([]*Collation, error) { return nil, nil }

// LanguageByName returns a language.
func (t *Txn) LanguageByName(name string) (*Language, error) { return nil, nil }

// LanguageByOID returns a language.
func (t *Txn) LanguageByOID(oid OID) (*Language, error) { return nil, nil }

// RangeByType returns what pg_range knows of a range type.
func (t *Txn) RangeByType(typ OID) (*Range, error) { return nil, nil }

// EnumLabels returns the labels of an enum in order.
func (t *Txn) EnumLabels(typ OID) ([]EnumLabel, error) { return nil, nil }

// DomainConstraints returns the CHECK constraints of a domain, sorted by name.
func (t *Txn) DomainConstraints(domain OID) ([]*Constraint, error) { return nil, nil }

// ConstraintByOID returns a constraint.
func (t *Txn) ConstraintByOID(oid OID) (*Constraint, error) { return nil, nil }

// RoleByOID returns a role.
func (t *Txn) RoleByOID(oid OID) (*Role, error) { return nil, nil }

// RoleByName returns a role.
func (t *Txn) RoleByName(name string) (*Role, error) { return nil, nil }

// Memberships returns the roles a role is a direct member of.
func (t *Txn) Memberships(member OID) ([]Membership, error) { return nil, nil }

// DatabaseByOID returns a database.
func (t *Txn) DatabaseByOID(oid OID) (*Database, error) { return nil, nil }

// DatabaseByName returns a database.
func (t *Txn) DatabaseByName(name string) (*Database, error) { return nil, nil }

// TablespaceByOID returns a tablespace.
func (t *Txn) TablespaceByOID(oid OID) (*Tablespace, error) { return nil, nil }

// TablespaceByName returns a tablespace.
func (t *Txn) TablespaceByName(name string) (*Tablespace, error) { return nil, nil }

// Statistics returns the planner's statistics of a column, nil if there are none.
func (t *Txn) Statistics(rel OID, att int16, inherited bool) (*Statistics, error) { return nil, nil }
