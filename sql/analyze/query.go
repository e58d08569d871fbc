package analyze

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/types"
)

// Command is the kind of a Query.
type Command uint8

// The commands that have a plan.
const (
	Select Command = iota
	Insert
	Update
	Delete
)

// Query is an analyzed SELECT, INSERT, UPDATE or DELETE: PostgreSQL's Query.
type Query struct {
	Command Command

	CTEs      []*CTE
	Recursive bool

	RTable []*RangeTableEntry
	// From is the join tree: the FROM items are joined without conditions,
	// then Where filters.
	From  []FromItem
	Where Expr

	// Result is the index in RTable of the target of INSERT, UPDATE or
	// DELETE; -1 for SELECT.
	Result     int
	OnConflict *OnConflict
	Overriding Overriding

	// Targets: for SELECT the output columns (junk ones carry sort or group
	// keys); for INSERT one entry per target column with Attno set, defaults
	// filled in; for UPDATE the assigned columns with Attno set.
	Targets   []TargetEntry
	Returning []TargetEntry

	Group []SortClause
	// Grouping is the GROUPING SETS clause as written, for printing.
	Grouping      []*GroupingSet
	GroupingSets  [][]int // each a list of indexes into Group; nil: one set with all
	GroupDistinct bool
	Having        Expr
	Windows       []*Window
	Distinct      []SortClause // SELECT DISTINCT or DISTINCT ON
	DistinctOn    bool
	OrderBy       []SortClause
	Offset        Expr // bigint
	Limit         Expr // bigint
	WithTies      bool
	RowMarks      []RowMark

	// SetOp, with set operations, yields the rows: Targets then are Var{RT: -1, Attno: i+1},
	// standing for its columns, and RTable is empty. The leaves are one level in.
	SetOp *SetOp

	HasAggs, HasWindows, HasSubLinks, HasTargetSRFs, HasModifyingCTE bool
}

// Overriding is INSERT's OVERRIDING clause.
type Overriding uint8

// The OVERRIDING clauses.
const (
	OverridingNone Overriding = iota
	OverridingUser
	OverridingSystem
)

// TargetEntry is an output column or an assignment.
type TargetEntry struct {
	Expr  Expr
	Name  string
	Attno int // INSERT, UPDATE: the column assigned
	// Ref is a number other clauses name the entry by (SortClause.Ref); 0 none.
	Ref  int
	Junk bool
	// OrigTable, OrigAttno name the table column shown as it is; 0 where it is
	// an expression. They go into RowDescription.
	OrigTable types.OID
	OrigAttno int
}

// GroupingSet is a node of a GROUPING SETS clause.
type GroupingSet struct {
	Kind GroupingSetKind
	Refs []int // SortClause.Ref of Group, for GroupingSimple
	Sets []*GroupingSet
}

// GroupingSetKind is the kind of a GroupingSet.
type GroupingSetKind uint8

// The kinds of grouping sets.
const (
	GroupingEmpty GroupingSetKind = iota
	GroupingSimple
	GroupingRollup
	GroupingCube
	GroupingSets
)

// SortClause names a target by Ref, with how to compare and order it.
type SortClause struct {
	Ref        int
	EqOp       types.OID
	SortOp     types.OID // 0: only groups (hashable)
	Desc       bool
	NullsFirst bool
	Hashable   bool
}

// RTEKind is the kind of a range table entry.
type RTEKind uint8

// The kinds of range table entries.
const (
	RTERelation RTEKind = iota
	RTESubquery
	RTEJoin
	RTEFunction
	RTEValues
	RTECTE
	RTEResult
)

// RangeTableEntry is something FROM ranges over.
type RangeTableEntry struct {
	Kind     RTEKind
	Alias    string // the name it is known by in the query
	HasAlias bool
	Columns  []RTEColumn // what Var.Attno counts, for relations with dropped ones

	Relation *catalog.Relation // RTERelation
	Inherit  bool              // not ONLY
	System   bool              // a pg_catalog relation read from the catalog
	// NoSystemColumns: the row ON CONFLICT proposed, which has none.
	NoSystemColumns bool

	Subquery *Query // RTESubquery (also an expanded view)
	View     *catalog.Relation
	Lateral  bool

	JoinKind JoinKind // RTEJoin
	// JoinVars gives per column the expression over the inputs it stands for. Only Vars for merged columns
	// of a USING that are not simply one side's refer to a join's entry.
	JoinVars  []Expr
	JoinUsing []string
	// UsingAlias is the alias of JOIN ... USING (...) AS x.
	UsingAlias string
	// JoinLeft and JoinRight give per column the attribute number in the left and right input, 0 for none; merged columns,
	// which come first, have both.
	JoinLeft, JoinRight []int

	Functions  []RTEFunc // RTEFunction, more than one with ROWS FROM
	Ordinality bool

	Values [][]Expr // RTEValues

	CTEName       string // RTECTE
	CTELevelsUp   int
	SelfReference bool // the recursive term's own name

	InFrom bool

	// AliasColumns are the column aliases that were written, and with HasColumnDefs the column
	// definitions of the function, for printing.
	AliasColumns []string

	// What is done to the relation needs the privileges Required (catalog.Acl bits) on it, or on every column of
	// the sets. CheckAs is whose privileges count: a view's owner; 0 is the current user. Attribute 0 is the whole row.
	Required                           uint32
	CheckAs                            types.OID
	SelectCols, InsertCols, UpdateCols []int
	Sample                             *TableSample
}

// TableSample is TABLESAMPLE.
type TableSample struct {
	Handler    types.OID
	Args       []Expr
	Repeatable Expr
}

// RTEColumn is a column of a range table entry.
type RTEColumn struct {
	Name      string
	Type      types.OID
	Typmod    int32
	Collation types.OID
	Dropped   bool
}

// RTEFunc is a function in FROM with its columns.
type RTEFunc struct {
	Call    Expr // FuncExpr, or another expression as PostgreSQL allows
	Columns []RTEColumn
	// Scalar means the function yields one value, not a row.
	Scalar bool
	// ColumnDefs means the columns were given by a column definition list.
	ColumnDefs bool
}

// FromItem is a *RangeRef or a *Join.
type FromItem interface{ fromItem() }

// RangeRef is a reference to RTable[RT].
type RangeRef struct{ RT int }

// JoinKind is the kind of a join.
type JoinKind uint8

// The joins that can be written; the planner adds semi- and antijoins.
const (
	JoinInner JoinKind = iota
	JoinLeft
	JoinFull
	JoinRight
	JoinSemi
	JoinAnti
)

// Join joins two items; RT is the join's own entry in RTable.
type Join struct {
	Kind        JoinKind
	Left, Right FromItem
	On          Expr // nil for CROSS JOIN
	RT          int
	// Natural and Using tell how On came about, for printing.
	Using []string
}

func (*RangeRef) fromItem() {}
func (*Join) fromItem()     {}

// CTE is a WITH query.
type CTE struct {
	Name         string
	Columns      []RTEColumn
	Query        *Query
	Recursive    bool
	Materialized CTEMaterialize
	RefCount     int
	AliasColumns []string // as written, for printing
	loc          int
}

// CTEMaterialize is the MATERIALIZED option.
type CTEMaterialize uint8

// The MATERIALIZED options.
const (
	CTEDefault CTEMaterialize = iota
	CTEAlways
	CTENever
)

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// SetOp is a tree of set operations; a leaf has Query set.
type SetOp struct {
	Kind        SetOpKind
	All         bool
	Left, Right *SetOp
	Query       *Query
	Columns     []RTEColumn
	Group       []SortClause // per column, how to compare it; Ref is its 1-based number
	// LeftCasts and RightCasts convert the arms' columns, SubColumn i, to the types of Columns: nil where no
	// column needs it, and nil for a column that does not.
	LeftCasts, RightCasts []Expr
}

// LockStrength is the strength of FOR UPDATE and its kin.
type LockStrength uint8

// The row lock strengths, weakest first.
const (
	ForKeyShare LockStrength = iota + 1
	ForShare
	ForNoKeyUpdate
	ForUpdate
)

// LockWait is what to do about a locked row.
type LockWait uint8

// Wait, skip or fail.
const (
	LockBlock LockWait = iota
	LockSkip
	LockError
)

// RowMark locks the rows of RTable[RT].
type RowMark struct {
	RT       int
	Strength LockStrength
	Wait     LockWait
	// PushedDown means it came through a subquery.
	PushedDown bool
}

// OnConflict is INSERT's ON CONFLICT clause.
type OnConflict struct {
	DoUpdate bool
	// Indexes are the arbiter indexes, empty for DO NOTHING without a target.
	Indexes    []types.OID
	Constraint types.OID
	Targets    []TargetEntry // DO UPDATE SET, Attno set
	Where      Expr
	// Excluded is the index in RTable of the row that was proposed.
	Excluded int
}

// Window is a window definition.
type Window struct {
	Name string
	// RefName is the window this one was derived from, with CopiedOrder its order too, for printing.
	RefName     string
	CopiedOrder bool
	Partition   []SortClause
	OrderBy     []SortClause
	Frame       Frame
}

// FrameMode is ROWS, RANGE or GROUPS.
type FrameMode uint8

// The frame modes.
const (
	FrameRange FrameMode = iota
	FrameRows
	FrameGroups
)

// FrameBound is one end of a frame.
type FrameBound uint8

// The frame bounds.
const (
	UnboundedPreceding FrameBound = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// FrameExclude is a frame's EXCLUDE clause.
type FrameExclude uint8

// The EXCLUDE clauses.
const (
	ExcludeNone FrameExclude = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

// Frame is a window frame; the offsets are nil unless the bound needs one.
type Frame struct {
	Mode                   FrameMode
	Start, End             FrameBound
	StartOffset, EndOffset Expr
	Exclude                FrameExclude
	Explicit               bool
	Between                bool // written with BETWEEN, for printing
	// StartFunc and EndFunc are the in_range functions of a RANGE frame with offsets.
	StartFunc, EndFunc                  types.OID
	InRangeColl                         types.OID
	InRangeAscending, InRangeNullsFirst bool
}
