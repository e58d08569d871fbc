package catalog

// Object addresses a catalog row, and with Sub a column of a relation.
type Object struct {
	Class OID // the catalog relation: PgClass, PgType ...
	OID   OID
	Sub   int32
}

// DepType is pg_depend.deptype.
type DepType byte

// The kinds of dependencies.
const (
	DepNormal    DepType = 'n'
	DepAuto      DepType = 'a'
	DepInternal  DepType = 'i'
	DepExtension DepType = 'e'
)

// AddDependency records that obj depends on ref. Dependencies on pinned (built-in) objects are left out.
func (t *Txn) AddDependency(obj, ref Object, kind DepType) error { return nil }

// AddOwner records the owner, and SetOwner replaces it (pg_shdepend).
func (t *Txn) SetOwner(obj Object, role OID) error { return nil }

// DropList is what goes with an object that is dropped.
type DropList struct {
	// Objects in the order to drop: dependents before what they depend on; the target last.
	Objects []Object
	// Cascaded are those that a CASCADE reports, in PostgreSQL's words.
	Cascaded []string
}

// Drops walks the dependents of targets. Without cascade, a dependent that is not automatic is
// 2BP01 with PostgreSQL's DETAIL and HINT.
func (t *Txn) Drops(targets []Object, cascade bool) (*DropList, error) { return nil, nil }

// DeleteDependencies removes obj's own pg_depend and pg_shdepend rows, those of its columns included.
func (t *Txn) DeleteDependencies(obj Object) error { return nil }

// Describe names an object as pg_describe_object does: "table t", "column a of table t".
func (t *Txn) Describe(obj Object) (string, error) { return "", nil }
