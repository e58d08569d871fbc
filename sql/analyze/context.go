package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// Catalog is what analysis reads. *catalog.Txn satisfies it. Lookups return nil
// without an error for what does not exist.
type Catalog interface {
	RelationByOID(oid types.OID) (*catalog.Relation, error)
	RelationByName(ns types.OID, name string) (*catalog.Relation, error)
	IndexByOID(oid types.OID) (*catalog.Index, error)
	NamespaceByOID(oid types.OID) (*catalog.Namespace, error)
	NamespaceByName(name string) (*catalog.Namespace, error)
	TypeByOID(oid types.OID) (*catalog.Type, error)
	TypeByName(ns types.OID, name string) (*catalog.Type, error)
	Types() types.Types
	ProcByOID(oid types.OID) (*catalog.Proc, error)
	ProcsByName(name string) ([]*catalog.Proc, error)
	AggregateByOID(fn types.OID) (*catalog.Aggregate, error)
	OperatorByOID(oid types.OID) (*catalog.Operator, error)
	OperatorsByName(name string) ([]*catalog.Operator, error)
	Cast(source, target types.OID) (*catalog.Cast, error)
	OpclassByOID(oid types.OID) (*catalog.Opclass, error)
	OpclassByName(am, ns types.OID, name string) (*catalog.Opclass, error)
	DefaultOpclass(am, typ types.OID) (*catalog.Opclass, error)
	OpfamilyMember(family, left, right types.OID, strategy int16) (types.OID, error)
	OpfamilyProc(family, left, right types.OID, num int16) (types.OID, error)
	OperatorFamilies(operator types.OID) ([]catalog.AmOp, error)
	AMByOID(oid types.OID) (*catalog.AM, error)
	CollationByOID(oid types.OID) (*catalog.Collation, error)
	CollationsByName(name string) ([]*catalog.Collation, error)
	RangeByType(typ types.OID) (*catalog.Range, error)
	DomainConstraints(domain types.OID) ([]*catalog.Constraint, error)
	ConstraintByOID(oid types.OID) (*catalog.Constraint, error)
	LanguageByOID(oid types.OID) (*catalog.Language, error)
	RoleByOID(oid types.OID) (*catalog.Role, error)
	OwnedSequences(table types.OID, att int16) ([]types.OID, error)
	SequenceOwner(seq types.OID) (table types.OID, att int16, kind catalog.DepType, err error)
}

var _ Catalog = (*catalog.Txn)(nil)

// Context is what the analysis of one statement depends on besides its text. It
// belongs to one goroutine.
type Context struct {
	Catalog Catalog
	// SearchPath is the effective one, in the order of lookup: with the temporary schema and
	// pg_catalog put first where search_path does not name them.
	SearchPath []types.OID
	// TempNamespace is the session's temporary schema, 0 while it has none. Functions
	// and operators are never found in it without qualification.
	TempNamespace types.OID
	// UserOID owns checks of privileges; Database is the name that may qualify a relation.
	UserOID  types.OID
	Database string
	// Env is what input functions of literals depend on; nil is the default.
	Env *types.Env
	// Parse parses one statement. Views, defaults and all else the catalog stores as text need it.
	Parse func(sql string) (*pg_query.Node, error)

	// LiteralIndex gives 1 + the number of the literal that starts at a byte
	// offset (of its first digit or quote, a sign not counted) if the plan cache may
	// replace it, 0 if not. nil: none may be.
	LiteralIndex func(offset int) int
	// PinLiteral tells that the plan is good for the present value of that literal only.
	PinLiteral func(offset int)

	// Lock, unless nil, locks a relation in a table lock mode by PostgreSQL's number (1 AccessShareLock ...).
	Lock func(rel types.OID, mode uint8) error
	// Notice, unless nil, takes notices and warnings.
	Notice func(*pgerr.Error)
	// Columns, unless nil, is asked about a column reference that no relation answers, or first
	// of all with first set: the variables of a procedural language, the arguments of an SQL function.
	Columns func(names []string, first bool) (Expr, error)

	// TransformNullEquals is the setting transform_null_equals.
	TransformNullEquals bool
	// QuoteAllIdentifiers is the setting quote_all_identifiers, for printing.
	QuoteAllIdentifiers bool

	// Relations collects the OIDs of the relations that were opened, views included.
	Relations []types.OID
}

// Table lock modes that Context.Lock is called with.
const (
	accessShareLock  uint8 = 1
	rowShareLock     uint8 = 2
	rowExclusiveLock uint8 = 3
)

// ParamTypes are the types of a statement's parameters $1, $2 ...
type ParamTypes struct {
	// Types are those declared; 0 and Unknown mean not yet known.
	Types []types.OID
	// Variable lets analysis find out the types that are not known, and add parameters that
	// were not declared. When Analyze returns without an error none is left unknown.
	Variable bool
}
