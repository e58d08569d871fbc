package catalog

import (
	"sync/atomic"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// OID is the object identifier used by every catalog row.
type OID = types.OID

// RelKind is pg_class.relkind.
type RelKind byte

// The kinds of relations.
const (
	KindTable            RelKind = 'r'
	KindIndex            RelKind = 'i'
	KindSequence         RelKind = 'S'
	KindToast            RelKind = 't'
	KindView             RelKind = 'v'
	KindMatView          RelKind = 'm'
	KindComposite        RelKind = 'c'
	KindForeignTable     RelKind = 'f'
	KindPartitionedTable RelKind = 'p'
	KindPartitionedIndex RelKind = 'I'
)

// Values of pg_class.relpersistence.
const (
	Permanent byte = 'p'
	Unlogged  byte = 'u'
	Temporary byte = 't'
)

// Relation describes a table, index, sequence, view or composite type.
type Relation struct {
	OID         OID
	Name        string
	Namespace   OID
	Kind        RelKind
	Persistence byte
	Owner       OID
	// Type is the OID of the row type, 0 for indexes, sequences and TOAST tables.
	Type   OID
	OfType OID
	AM     OID
	// File is the relation's storage. Its Number is 0 for a relation without any
	// (views, composite types, and all built-in relations, whose rows Txn.Scan yields).
	File storage.RelFile
	// Tablespace is pg_class.reltablespace: 0 stands for the database's own.
	Tablespace OID
	Shared     bool
	// System is set for the generated relations of pg_catalog and information_schema.
	System bool

	// Statistics as VACUUM and ANALYZE left them; Tuples is -1 when never counted.
	Pages      int32
	Tuples     float32
	AllVisible int32

	// Attrs[i] is attribute number i+1; dropped attributes keep their place.
	Attrs []Attribute
	// Row lays out all of Attrs.
	Row *types.RowDesc

	// Indexes are sorted by OID, invalid ones included.
	Indexes []*Index
	// Constraints are those of pg_constraint.conrelid, sorted by name.
	Constraints []*Constraint
	// ReferencedBy are the foreign keys of other relations (and its own) that point here.
	ReferencedBy []*Constraint
	// Checks are the CHECK constraints among Constraints.
	Checks []*Constraint

	Toast     OID
	ToastFile storage.RelFile
	ToastIdx  OID

	// Options are the storage parameters, as name and text.
	Options map[string]string
	// FillFactor is Options["fillfactor"] or 0 when unset.
	FillFactor int

	HasIndex         bool
	HasRules         bool
	HasTriggers      bool
	HasSubclass      bool
	RowSecurity      bool
	ForceRowSecurity bool
	Populated        bool
	ReplIdent        byte
	IsPartition      bool
	PartBound        string
	Partition        *PartitionKey
	// Parents are the relations this one inherits from, in pg_inherits order.
	Parents []OID

	// ViewDef is the SELECT of a view or materialized view, as SQL text.
	ViewDef string
	// Index is set when Kind is an index.
	Index *Index
	// Sequence is set when Kind is a sequence.
	Sequence *Sequence
	// Triggers are enabled or not, sorted by name; internal ones included.
	Triggers []*Trigger

	// ACL is pg_class.relacl; nil stands for the default privileges.
	ACL []ACLItem

	attrByName map[string]int16
	version    uint64
	typeInfo   *types.TypeInfo
	stale      atomic.Bool
}

// Version is the catalog version at which the descriptor was built.
func (r *Relation) Version() uint64 { return r.version }

// Attr returns attribute number num, or nil.
func (r *Relation) Attr(num int16) *Attribute {
	if num >= 1 && int(num) <= len(r.Attrs) {
		return &r.Attrs[num-1]
	}
	return nil
}

// AttrByName returns the live attribute of that name, or nil. System columns are in SystemAttr.
func (r *Relation) AttrByName(name string) *Attribute {
	if r.attrByName != nil {
		if n, ok := r.attrByName[name]; ok {
			return &r.Attrs[n-1]
		}
		return nil
	}
	for i := range r.Attrs {
		if a := &r.Attrs[i]; a.Name == name && !a.Dropped {
			return a
		}
	}
	return nil
}

// HasStorage tells whether relations of this kind have files.
func (k RelKind) HasStorage() bool {
	switch k {
	case KindTable, KindIndex, KindSequence, KindToast, KindMatView:
		return true
	}
	return false
}

// IsTableLike tells whether rows can be read from relations of this kind.
func (k RelKind) IsTableLike() bool {
	switch k {
	case KindTable, KindToast, KindMatView, KindPartitionedTable, KindForeignTable:
		return true
	}
	return false
}

// PrimaryKey returns the primary key index or nil.
func (r *Relation) PrimaryKey() *Index {
	for _, x := range r.Indexes {
		if x.Primary {
			return x
		}
	}
	return nil
}

// Plural names relations of the kind, as in "This operation is not supported for ...".
func (k RelKind) Plural() string {
	switch k {
	case KindTable:
		return "tables"
	case KindView:
		return "views"
	case KindSequence:
		return "sequences"
	case KindIndex:
		return "indexes"
	case KindMatView:
		return "materialized views"
	case KindComposite:
		return "composite types"
	case KindToast:
		return "TOAST tables"
	}
	return "this kind of relation"
}

// Attribute is a column.
type Attribute struct {
	Name      string
	Type      OID
	Typmod    int32
	Num       int16
	NDims     int16
	Len       int16
	NotNull   bool
	Dropped   bool
	ByVal     bool
	Align     byte
	Storage   byte
	Compress  byte
	Collation OID
	// HasDefault tells that Default holds the SQL text of the default or, with
	// Generated 's', of the generation expression.
	HasDefault bool
	Default    string
	// Identity is 'a' (always), 'd' (by default) or 0.
	Identity byte
	// Generated is 's' (stored) or 0.
	Generated byte
	// HasMissing tells that rows which end before this attribute read Missing.
	HasMissing bool
	Missing    types.Datum
	IsLocal    bool
	InhCount   int32
	StatTarget int32
	Options    []string
	ACL        []ACLItem
}

// Index describes pg_index's row and the pg_class row of the index.
type Index struct {
	OID         OID
	Name        string
	Namespace   OID
	Table       OID
	File        storage.RelFile
	Tablespace  OID
	Persistence byte
	AM          OID
	// Keys holds the key columns first, then the INCLUDE columns.
	Keys     []IndexKey
	NKeyAtts int

	Unique           bool
	NullsNotDistinct bool
	Primary          bool
	Exclusion        bool
	// Immediate is false for deferrable constraints.
	Immediate   bool
	Clustered   bool
	Valid       bool
	Ready       bool
	Live        bool
	IsReplIdent bool
	// Predicate is the SQL text of a partial index, "" for none.
	Predicate  string
	Options    map[string]string
	FillFactor int
	Pages      int32
	Tuples     float32
	// Constraint is the OID of the constraint the index upholds, or 0.
	Constraint OID
}

// IndexKey is one column of an index.
type IndexKey struct {
	// AttNum is the table's attribute, 0 when Expr is set.
	AttNum int16
	// Expr is the SQL text of an expression.
	Expr string
	// Name, Type and Typmod are those of the index's own attribute.
	Name       string
	Type       OID
	Typmod     int32
	Opclass    OID
	Opfamily   OID
	OpcInType  OID
	Collation  OID
	Desc       bool
	NullsFirst bool
	StatTarget int32
}

// ConstraintKind is pg_constraint.contype.
type ConstraintKind byte

// The kinds of constraints.
const (
	ConstraintCheck      ConstraintKind = 'c'
	ConstraintForeign    ConstraintKind = 'f'
	ConstraintPrimary    ConstraintKind = 'p'
	ConstraintUnique     ConstraintKind = 'u'
	ConstraintTrigger    ConstraintKind = 't'
	ConstraintExclusion  ConstraintKind = 'x'
	FKNoAction           byte           = 'a'
	FKRestrict           byte           = 'r'
	FKCascade            byte           = 'c'
	FKSetNull            byte           = 'n'
	FKSetDefault         byte           = 'd'
	FKMatchFull          byte           = 'f'
	FKMatchPartial       byte           = 'p'
	FKMatchSimple        byte           = 's'
	ConstraintNoFKAction byte           = ' '
)

// Constraint is a row of pg_constraint.
type Constraint struct {
	OID        OID
	Name       string
	Namespace  OID
	Kind       ConstraintKind
	Deferrable bool
	Deferred   bool
	Validated  bool
	// Relation is the constrained table, or 0 for a constraint of domain Domain.
	Relation  OID
	Domain    OID
	Index     OID
	Parent    OID
	RefRel    OID
	OnUpdate  byte
	OnDelete  byte
	Match     byte
	IsLocal   bool
	InhCount  int32
	NoInherit bool
	Key       []int16
	RefKey    []int16
	PFEqOp    []OID
	PPEqOp    []OID
	FFEqOp    []OID
	DelSet    []int16
	ExclOp    []OID
	// Expr is the SQL text of a CHECK.
	Expr string
}

// Sequence is a row of pg_sequence.
type Sequence struct {
	OID       OID
	Type      OID
	Start     int64
	Increment int64
	Max       int64
	Min       int64
	Cache     int64
	Cycle     bool
}

// Trigger is a row of pg_trigger.
type Trigger struct {
	OID          OID
	Relation     OID
	Parent       OID
	Name         string
	Func         OID
	Type         int16
	Enabled      byte
	Internal     bool
	ConstrRel    OID
	ConstrIndex  OID
	Constraint   OID
	Deferrable   bool
	InitDeferred bool
	Attrs        []int16
	Args         []string
	Qual         string
	OldTable     string
	NewTable     string
}

// PartitionKey is a row of pg_partitioned_table.
type PartitionKey struct {
	Strategy  byte
	NAtts     int
	Default   OID
	Attrs     []int16
	Opclass   []OID
	Collation []OID
	Exprs     string
}
