package analyze

import "github.com/minipg/minipg/types"

// Expr is a Typed expression: PostgreSQL's expression nodes after analysis,
// every function and operator resolved to its OID and every implicit cast
// made explicit.
type Expr interface {
	// Type is the result type.
	Type() types.OID
	// Typmod is the result's type modifier, -1 where there is none.
	Typmod() int32
	// Collation is the collation of the result, 0 where the type has none.
	Collation() types.OID
}

// Typed carries what every expression has; concrete nodes embed it.
type Typed struct {
	Typ  types.OID
	Mod  int32
	Coll types.OID
	Loc  int // byte offset in the statement, -1 unknown
}

func (t *Typed) Type() types.OID      { return t.Typ }
func (t *Typed) Typmod() int32        { return t.Mod }
func (t *Typed) Collation() types.OID { return t.Coll }

// NewTyped fills the embedded part of a node; loc is -1 for one that is not in the statement.
func NewTyped(typ types.OID, typmod int32, coll types.OID, loc int) Typed {
	return Typed{Typ: typ, Mod: typmod, Coll: coll, Loc: loc}
}

// Location is the byte offset of the expression in the statement, or -1.
func (t *Typed) Location() int { return t.Loc }

// Var refers to column Attno (1-based; 0 the whole row; negative a system
// column) of range table entry RT (0-based) of the query LevelsUp levels out.
type Var struct {
	Typed
	RT       int
	Attno    int
	LevelsUp int
	// Syn names the column as the query wrote it, where that is through the alias of a join:
	// SynRT is then the join's entry, else RT and Attno again. Only printing looks at it.
	SynRT    int
	SynAttno int
}

// Const is a literal.
type Const struct {
	Typed
	Value types.Datum
	// Lifted is 1 + the index of the literal in the statement's lifted
	// literals where the plan cache may put another value in its place; 0 none. The
	// value is then what the input function of Type (with Typmod) makes of the literal's text, in the manner of
	// types.In; with Negated, of the text with a minus sign in front.
	Lifted  int
	Negated bool
}

// Param is an external parameter $Number (1-based), or with Exec set the
// output Number (0-based) of a sub-plan or outer row the planner assigned.
type Param struct {
	Typed
	Number int
	Exec   bool
}

// FuncExpr calls a function. Coercions by function are FuncExprs with Format
// ExplicitCast or ImplicitCast, as EXPLAIN and deparse need to know.
type FuncExpr struct {
	Typed
	Func      types.OID
	Args      []Expr
	RetSet    bool
	Variadic  bool // the last argument was given as VARIADIC array
	Format    CoercionForm
	InputColl types.OID
	// Written are the arguments as the call has them, where those are not simply Args: some
	// are named, or were left to their defaults, which Args always include. Only printing looks at it.
	Written []WrittenArg
}

// WrittenArg is an argument of a call by its index in Args, with a name if it was given by name.
type WrittenArg struct {
	Index int
	Name  string
}

// CoercionForm tells how a cast was written.
type CoercionForm uint8

// The ways a function call or cast can have been written.
const (
	ExplicitCall CoercionForm = iota
	ExplicitCast
	ImplicitCast
	SQLSyntax // EXTRACT(x FROM y), AT TIME ZONE, ...
)

// OpExpr applies an operator; one argument is a prefix operator.
type OpExpr struct {
	Typed
	Op        types.OID
	Func      types.OID
	Args      []Expr
	RetSet    bool
	InputColl types.OID
}

// DistinctExpr is IS DISTINCT FROM over the operator = .
type DistinctExpr struct{ OpExpr }

// NullIfExpr is NULLIF over the operator = .
type NullIfExpr struct{ OpExpr }

// ScalarArrayOpExpr is scalar op ANY|ALL (array).
type ScalarArrayOpExpr struct {
	Typed
	Op, Func  types.OID
	UseOr     bool // ANY; else ALL
	Scalar    Expr
	Array     Expr
	InputColl types.OID
}

// BoolOp is AND, OR or NOT.
type BoolOp uint8

// The three connectives.
const (
	And BoolOp = iota
	Or
	Not
)

// BoolExpr connects conditions.
type BoolExpr struct {
	Typed
	Op   BoolOp
	Args []Expr
}

// CaseExpr is CASE; with Arg set, each When compares CaseTest with a value.
type CaseExpr struct {
	Typed
	Arg   Expr
	Whens []CaseWhen
	Else  Expr // never nil: NULL is made explicit
}

// CaseWhen is one arm.
type CaseWhen struct{ When, Then Expr }

// CaseTest stands for the CASE's Arg inside its arms.
type CaseTest struct{ Typed }

// CoalesceExpr is COALESCE.
type CoalesceExpr struct {
	Typed
	Args []Expr
}

// MinMaxExpr is GREATEST or LEAST.
type MinMaxExpr struct {
	Typed
	Greatest  bool
	Args      []Expr
	InputColl types.OID
}

// NullTest is IS [NOT] NULL; ArgIsRow tests every field.
type NullTest struct {
	Typed
	Arg      Expr
	IsNot    bool
	ArgIsRow bool
}

// BoolTestKind is the predicate of a BooleanTest.
type BoolTestKind uint8

// IS [NOT] TRUE, FALSE, UNKNOWN.
const (
	IsTrue BoolTestKind = iota
	IsNotTrue
	IsFalse
	IsNotFalse
	IsUnknown
	IsNotUnknown
)

// BooleanTest is IS [NOT] TRUE and its kin.
type BooleanTest struct {
	Typed
	Arg  Expr
	Kind BoolTestKind
}

// RelabelType changes the type and not the bits.
type RelabelType struct {
	Typed
	Arg    Expr
	Format CoercionForm
}

// CoerceViaIO casts through the text form.
type CoerceViaIO struct {
	Typed
	Arg    Expr
	Format CoercionForm
}

// ArrayCoerceExpr casts each element: ElemExpr maps a CaseTest.
type ArrayCoerceExpr struct {
	Typed
	Arg      Expr
	ElemExpr Expr
	Format   CoercionForm
}

// CoerceToDomain checks a domain's constraints.
type CoerceToDomain struct {
	Typed
	Arg    Expr
	Format CoercionForm
}

// DomainValue stands for the value under test in a domain's CHECK.
type DomainValue struct{ Typed }

// ArrayExpr is ARRAY[...]; MultiDims means the elements are arrays.
type ArrayExpr struct {
	Typed
	Elem      types.OID
	Elems     []Expr
	MultiDims bool
}

// RowExpr is ROW(...), of type record or a named composite.
type RowExpr struct {
	Typed
	Args     []Expr
	Names    []string
	Implicit bool // written (a, b), not ROW(a, b)
	Format   CoercionForm
}

// ConvertRowtypeExpr turns a row of one named composite type into another's, column by column of the same name.
type ConvertRowtypeExpr struct {
	Typed
	Arg    Expr
	Format CoercionForm
}

// FieldStore is the composite value Arg with fields Attnos (1-based) replaced.
type FieldStore struct {
	Typed
	Arg    Expr
	Values []Expr
	Attnos []int
}

// RowCompareExpr is (a, b) < (c, d) and its kin, decided column by column.
type RowCompareExpr struct {
	Typed
	Kind        string // <, <=, >=, >
	Ops, Funcs  []types.OID
	InputColls  []types.OID
	Left, Right []Expr
}

// FieldSelect takes field Attno (1-based) of a composite value.
type FieldSelect struct {
	Typed
	Arg   Expr
	Attno int
	Name  string
}

// SubscriptingRef is array subscripting or slicing, or with Assign set the
// array with one element or slice replaced.
type SubscriptingRef struct {
	Typed
	Container    Expr
	Elem         types.OID
	Upper, Lower []Expr // Lower empty unless a slice; nil entries are omitted bounds
	Slice        bool
	Assign       Expr
}

// CollateExpr is COLLATE.
type CollateExpr struct {
	Typed
	Arg Expr
}

// SQLValueKind names a SQLValueFunction.
type SQLValueKind uint8

// The parameterless functions with syntax of their own.
const (
	CurrentDate SQLValueKind = iota
	CurrentTime
	CurrentTimestamp
	LocalTime
	LocalTimestamp
	CurrentUser
	SessionUser
	CurrentCatalog
	CurrentSchema
	CurrentRole
	UserKeyword
)

// SQLValueFunction is CURRENT_TIMESTAMP and its kin.
type SQLValueFunction struct {
	Typed
	Kind SQLValueKind
}

// SetToDefault is DEFAULT in VALUES or SET; analysis replaces it where it can.
type SetToDefault struct{ Typed }

// CurrentOf is WHERE CURRENT OF.
type CurrentOf struct {
	Typed
	RT     int
	Cursor string
}

// SubLinkKind tells how a sub-select is used.
type SubLinkKind uint8

// The uses of a sub-select in an expression.
const (
	SubLinkExists SubLinkKind = iota
	SubLinkAny                // Test, with the sub-select's columns as SubParams, for some row
	SubLinkAll
	SubLinkExpr
	SubLinkArray
	SubLinkRowCompare // Test over the one row, null if there is none
)

// SubLink is a sub-select in an expression. UPDATE SET (a, b) = (SELECT ...) makes FieldSelects over one
// SubLink of type record which they share by pointer: it is to be evaluated once a row.
type SubLink struct {
	Typed
	Kind  SubLinkKind
	Query *Query
	// Test compares the outer expressions with SubColumns; nil unless Any, All or RowCompare.
	Test Expr
	// Operator is the operator's name as written, for printing.
	Operator string
}

// SubColumn stands in a SubLink's Test for output column Number (0-based).
type SubColumn struct {
	Typed
	Number int
}

// Aggref is an aggregate call of this query level (LevelsUp > 0: an outer one's).
type Aggref struct {
	Typed
	Func     types.OID
	Args     []TargetEntry // with the ORDER BY columns, as in PostgreSQL
	NArgs    int           // how many of Args are arguments (the rest only sort)
	Direct   []Expr        // of an ordered-set aggregate
	OrderBy  []SortClause
	Distinct bool
	// DistinctBy, with Distinct, are the columns compared: those of OrderBy first.
	DistinctBy []SortClause
	Filter     Expr
	Star       bool
	Variadic   bool
	Kind       byte // pg_aggregate.aggkind: n, o, h
	LevelsUp   int
	InputColl  types.OID
}

// GroupingFunc is GROUPING(...): Refs are group clause indexes.
type GroupingFunc struct {
	Typed
	Args     []Expr
	Refs     []int
	LevelsUp int
}

// WindowFunc is a call with OVER; Window indexes Query.Windows.
type WindowFunc struct {
	Typed
	Func      types.OID
	Args      []Expr
	Filter    Expr
	Star      bool
	Window    int
	IsAgg     bool
	InputColl types.OID
}

// NextValueExpr draws from an identity column's sequence.
type NextValueExpr struct {
	Typed
	Sequence types.OID
}
