package plan

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// Node is a plan node. The concrete types are listed below.
type Node interface {
	// Common returns what all nodes have.
	Common() *Base
	// Inputs are the child nodes, outer first.
	Inputs() []Node
}

// Base is what all plan nodes have.
type Base struct {
	StartupCost, TotalCost float64
	Rows                   float64 // estimated
	Width                  int     // estimated bytes a row

	// Targets are the output columns, computed over the node's inputs: of a
	// scan, over the columns of the relation (Col.Index = attno-1, or the
	// negative number of a system column); of a node with one input, over its
	// output (Input 0); of a join, over outer (0) and inner (1); of an Aggregate,
	// over its result row (see there). nil means: the first input's columns as they are.
	Targets []analyze.Expr
	Names   []string // output column names, for EXPLAIN and composite values; may be shorter
	// Filter are conditions all of which a row must satisfy before Targets are
	// computed, over the same inputs as Targets.
	Filter []analyze.Expr

	// InitPlans are run at most once per execution, when their Param is first read.
	InitPlans []*SubPlan
	// Entry is what a scan or a ModifyTable is about, for the names EXPLAIN shows.
	Entry *analyze.RangeTableEntry
}

// Common returns the node's common part.
func (b *Base) Common() *Base { return b }

// Inputs returns none; nodes with inputs override it.
func (b *Base) Inputs() []Node { return nil }

// Col refers to column Index (0-based) of input Input of its node.
type Col struct {
	analyze.Typed
	Input int
	Index int
	// Source is the expression the column shows, for EXPLAIN.
	Source analyze.Expr
}

// System column numbers, as PostgreSQL's attnums.
const (
	CtidColumn     = -1
	XminColumn     = -2
	CminColumn     = -3
	XmaxColumn     = -4
	CmaxColumn     = -5
	TableOIDColumn = -6
)

// WholeRow refers to the whole row of scan input 0 as a composite value, null
// where the row is null-extended.
type WholeRow struct {
	analyze.Typed
	Cols []analyze.Expr
	// NullIf, where not nil, is a column that is null only in null-extended rows.
	NullIf analyze.Expr
}

// SubPlan is a sub-select of an expression, as an expression.
type SubPlan struct {
	analyze.Typed
	Kind analyze.SubLinkKind
	Plan Node
	// Param is the executor parameter of an init plan, -1 for a sub-plan that
	// is evaluated where it stands.
	Param int
	// Args are evaluated over the row at hand and put into executor parameters
	// ParamIDs before Plan is (re)started. None: Plan gives the same rows each time.
	ParamIDs []int
	Args     []analyze.Expr
	// Test, for Any and All, compares; SubColumn nodes stand for Plan's columns.
	Test analyze.Expr
	// Hashed: Any with equality conditions only and no Args: Plan's rows go into a
	// hash table by HashRight, probed with HashLeft (over the row at hand).
	Hashed   bool
	HashLeft []analyze.Expr
	HashOps  []types.OID // the equality operators' functions
	Name     string      // "SubPlan 1", "InitPlan 1 (returns $0)"
}

// Result computes Targets, once with no Input, or for each of its rows.
type Result struct {
	Base
	Input         Node           // may be nil
	OneTimeFilter []analyze.Expr // over no row
}

// Inputs returns the input if there is one.
func (n *Result) Inputs() []Node {
	if n.Input == nil {
		return nil
	}
	return []Node{n.Input}
}

// ProjectSet computes Targets that contain set-returning functions at their top.
type ProjectSet struct {
	Base
	Input Node
}

// Inputs returns the input.
func (n *ProjectSet) Inputs() []Node { return []Node{n.Input} }

// SeqScan reads a table front to back.
type SeqScan struct {
	Base
	RT       int
	Alias    string
	Relation *catalog.Relation
	Columns  []int // attribute numbers Targets and Filter need, ascending
	// Workers > 0 allows that many goroutines besides the session's own to
	// share the scan; set by Gather only.
	Workers int
}

// CatalogScan reads a relation of pg_catalog from the catalog. Keys narrow it by equality.
type CatalogScan struct {
	Base
	RT       int
	Alias    string
	Relation *catalog.Relation
	Keys     []CatalogKey
}

// CatalogKey says attribute Attno equals Value, an expression over no row.
type CatalogKey struct {
	Attno int
	Value analyze.Expr
}

// IndexStrategy is how an index condition compares.
type IndexStrategy uint8

// Index conditions; IndexEqAny takes an array, whose elements are tried in index order without repeats.
const (
	IndexLess IndexStrategy = iota
	IndexLessEqual
	IndexEqual
	IndexGreaterEqual
	IndexGreater
	IndexIsNull
	IndexIsNotNull
	IndexEqAny
)

// IndexCond bounds key column Key (0-based) of an index. Value is an expression over no row (constants,
// parameters); its type is the key column's or another of the same btree family (int2, int4 and int8 mix), which
// the executor brings into the column's range: a value outside it makes an equality false.
type IndexCond struct {
	Key      int
	Strategy IndexStrategy
	Value    analyze.Expr
	Source   analyze.Expr // the condition as written, for EXPLAIN
}

// IndexScan fetches a table's rows in the order of an index.
type IndexScan struct {
	Base
	RT       int
	Alias    string
	Relation *catalog.Relation
	Index    *catalog.Index
	Conds    []IndexCond // equalities on leading keys first, then at most one pair of bounds on the next, others are rechecked by key
	Backward bool
	Columns  []int // attribute numbers Targets and Filter need
	// IndexOnly: all of Columns are in the index; the heap is asked only where
	// the visibility map does not say all-visible.
	IndexOnly bool
	// Unique: at most one row can match.
	Unique bool
}

// BitmapScan fetches the rows that an OR or AND of index conditions names, in table order. Filter rechecks all.
type BitmapScan struct {
	Base
	RT       int
	Alias    string
	Relation *catalog.Relation
	Source   *BitmapSource
	Recheck  []analyze.Expr
	Columns  []int
}

// BitmapSource is an index condition, or the union or intersection of Parts.
type BitmapSource struct {
	Index *catalog.Index
	Conds []IndexCond
	Or    bool
	Parts []*BitmapSource
	Rows  float64
	Cost  float64
}

// TidScan fetches rows by ctid = Values, or ctid = ANY(array). A CurrentOf among Values stands for the row its
// cursor is on.
type TidScan struct {
	Base
	RT       int
	Alias    string
	Relation *catalog.Relation
	Values   []analyze.Expr
	IsArray  bool // Values[0] is a tid[]
	Columns  []int
}

// FunctionScan reads the rows functions return. Columns are those of the functions in turn, then the ordinality.
type FunctionScan struct {
	Base
	RT         int
	Alias      string
	Functions  []analyze.RTEFunc // Call over no row
	Ordinality bool
}

// ValuesScan reads VALUES lists.
type ValuesScan struct {
	Base
	RT    int
	Alias string
	Lists [][]analyze.Expr
}

// SubqueryScan renames or filters the rows of a subquery.
type SubqueryScan struct {
	Base
	RT    int
	Alias string
	Input Node
}

// Inputs returns the input.
func (n *SubqueryScan) Inputs() []Node { return []Node{n.Input} }

// CTEScan reads the rows of CTE number CTE of the plan's list, run once and kept.
type CTEScan struct {
	Base
	RT    int
	Alias string
	CTE   int // index into Plan.CTEs
	Name  string
}

// WorkTableScan reads the working table of the RecursiveUnion that CTE number CTE runs.
type WorkTableScan struct {
	Base
	RT    int
	Alias string
	CTE   int
	Name  string
}

// RecursiveUnion runs Outer, then Inner over the rows that were new, until none are.
type RecursiveUnion struct {
	Base
	Outer, Inner Node
	Distinct     bool
	CTE          int
	Group        []GroupKey
}

// Inputs returns the non-recursive and the recursive term.
func (n *RecursiveUnion) Inputs() []Node { return []Node{n.Outer, n.Inner} }

// NestParam puts outer column Value into executor parameter ID before the inner side is restarted.
type NestParam struct {
	ID    int
	Value analyze.Expr // over the outer input
}

// NestLoop scans Inner for each row of Outer. Filter is applied after the join (and after null extension).
type NestLoop struct {
	Base
	Kind         analyze.JoinKind // Inner, Left, Semi, Anti
	Outer, Inner Node
	Params       []NestParam
	On           []analyze.Expr // over both inputs
	InnerUnique  bool
}

// Inputs returns outer and inner.
func (n *NestLoop) Inputs() []Node { return []Node{n.Outer, n.Inner} }

// HashJoin builds a hash table of Inner and probes it with Outer. Any JoinKind.
type HashJoin struct {
	Base
	Kind                 analyze.JoinKind
	Outer, Inner         Node
	OuterKeys, InnerKeys []analyze.Expr // each over its own side, as Input 0
	EqFuncs              []types.OID    // equality functions (outer, inner)
	On                   []analyze.Expr // further join conditions over both inputs
	InnerUnique          bool
	NullAware            bool // for NOT IN: reserved
}

// Inputs returns outer and inner.
func (n *HashJoin) Inputs() []Node { return []Node{n.Outer, n.Inner} }

// MergeJoin merges two inputs sorted on the keys. Any JoinKind.
type MergeJoin struct {
	Base
	Kind                 analyze.JoinKind
	Outer, Inner         Node
	OuterKeys, InnerKeys []analyze.Expr
	Keys                 []SortKey // how both sides are sorted; Column unused
	On                   []analyze.Expr
	InnerUnique          bool
}

// Inputs returns outer and inner.
func (n *MergeJoin) Inputs() []Node { return []Node{n.Outer, n.Inner} }

// SortKey orders by output column Column of the input.
type SortKey struct {
	Column     int
	Op         types.OID // the ordering operator (< or >, or of another class)
	Desc       bool
	NullsFirst bool
	Collation  types.OID
}

// GroupKey groups by output column Column of the input.
type GroupKey struct {
	Column int
	EqFunc types.OID
}

// Sort orders its input; Presorted leading keys are in order already. Bound, if
// over 0, says a Limit above needs no more rows.
type Sort struct {
	Base
	Input     Node
	Keys      []SortKey
	Presorted int
	Bound     analyze.Expr
}

// Inputs returns the input.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// AggStrategy is how an Aggregate groups.
type AggStrategy uint8

// No groups, sorted input, or a hash table.
const (
	AggPlain AggStrategy = iota
	AggSorted
	AggHashed
)

// AggCall is one aggregate; Args, Filter are over the input.
type AggCall struct {
	Func     types.OID
	Args     []analyze.Expr
	Direct   []analyze.Expr
	OrderBy  []SortKey // Column indexes Args (which then end with the sort-only ones)
	NArgs    int
	Distinct bool
	Filter   analyze.Expr
	Star     bool
	Type     types.OID
	Typmod   int32
	Coll     types.OID
	Source   *analyze.Aggref
}

// Aggregate groups its input and computes aggregates. Its result row, over which Targets and Filter (HAVING) are
// computed, is: the Group columns in order (null where a grouping set leaves one out), the aggregates in order,
// then one int4 bitmask for each of Grouping.
type Aggregate struct {
	Base
	Input    Node
	Strategy AggStrategy
	Group    []GroupKey
	Named    int     // how many of Group were grouped by; the others depend on them
	Sets     [][]int // grouping sets as indexes into Group; nil is one set of all
	Aggs     []AggCall
	Grouping [][]int // arguments of GROUPING() calls, as indexes into Group
	// Partial: emit transition states instead of results (below a Gather); Combine: the input is such states.
	Partial, Combine bool
}

// Inputs returns the input.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// WindowCall is one window function over the input.
type WindowCall struct {
	Func   types.OID
	Args   []analyze.Expr
	Filter analyze.Expr
	Star   bool
	IsAgg  bool
	Type   types.OID
	Source *analyze.WindowFunc
}

// WindowAgg computes window functions over input sorted by Partition then Order.
// Its result row is the input's columns, then the calls in order.
type WindowAgg struct {
	Base
	Input     Node
	Partition []GroupKey
	Order     []SortKey
	OrderEq   []types.OID // equality functions of the order columns, for peers
	Calls     []WindowCall
	Frame     analyze.Frame // offsets over no row
}

// Inputs returns the input.
func (n *WindowAgg) Inputs() []Node { return []Node{n.Input} }

// Unique passes the first row of each run of equal rows of a sorted input.
type Unique struct {
	Base
	Input Node
	Group []GroupKey
}

// Inputs returns the input.
func (n *Unique) Inputs() []Node { return []Node{n.Input} }

// SetOp is INTERSECT or EXCEPT [ALL] by hashing.
type SetOp struct {
	Base
	Left, Right Node
	Kind        analyze.SetOpKind
	All         bool
	Group       []GroupKey
}

// Inputs returns left and right.
func (n *SetOp) Inputs() []Node { return []Node{n.Left, n.Right} }

// Append concatenates.
type Append struct {
	Base
	Children []Node
}

// Inputs returns the children.
func (n *Append) Inputs() []Node { return n.Children }

// Material keeps its input's rows so that it can be rescanned.
type Material struct {
	Base
	Input Node
}

// Inputs returns the input.
func (n *Material) Inputs() []Node { return []Node{n.Input} }

// Limit skips Offset rows and passes Count; both bigint over no row, or nil. WithTies passes the peers, by Ties, of the last row too.
type Limit struct {
	Base
	Input         Node
	Offset, Count analyze.Expr
	WithTies      bool
	Ties          []GroupKey
}

// Inputs returns the input.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// RowMark locks rows of RTable[RT]; CtidColumn is the input column with the ctid.
type RowMark struct {
	RT         int
	Relation   *catalog.Relation
	Strength   analyze.LockStrength
	Wait       analyze.LockWait
	CtidColumn int
	// ReferenceOnly marks a relation that is not locked, whose row is only
	// fetched again by ctid when another relation's row is re-evaluated.
	ReferenceOnly bool
}

// LockRows locks rows and, when another transaction changed one, evaluates the conditions again on its newest version.
type LockRows struct {
	Base
	Input Node
	Marks []RowMark
}

// Inputs returns the input.
func (n *LockRows) Inputs() []Node { return []Node{n.Input} }

// Gather runs its input in several goroutines under one snapshot.
type Gather struct {
	Base
	Input   Node
	Workers int
}

// Inputs returns the input.
func (n *Gather) Inputs() []Node { return []Node{n.Input} }

// Check is a CHECK constraint over the new row (Input 0, Col.Index = attno-1).
type Check struct {
	Name string
	Expr analyze.Expr
}

// ModifyTable inserts, updates or deletes the rows its input describes.
//
// The input's columns: for INSERT the whole new row (one column per attribute, dropped ones null); for UPDATE the
// whole new row, then the ctid of the old one at CtidColumn; for DELETE the ctid at CtidColumn. Further columns carry what Returning and
// re-evaluation need. Returning is over the new (DELETE: old) row as Input 0 with Col.Index = attno-1, and the input's row as Input 1.
type ModifyTable struct {
	Base     // Targets are the RETURNING list, nil without one
	Input    Node
	Command  analyze.Command
	RT       int
	Relation *catalog.Relation
	// Assigned are the attribute numbers UPDATE sets.
	Assigned   []int
	CtidColumn int
	// Generated are expressions of stored generated columns over the new row, by attno.
	Generated map[int]analyze.Expr
	Checks    []Check
	Marks     []RowMark // reference-only marks of the other relations
	Conflict  *Conflict
	Returning bool
}

// Inputs returns the input.
func (n *ModifyTable) Inputs() []Node { return []Node{n.Input} }

// Conflict is ON CONFLICT. Set (by attno) and Where are over the existing row (Input 0) and the proposed row (Input 1), both by attno-1.
type Conflict struct {
	Indexes []types.OID              // arbiters; none: any
	Entry   *analyze.RangeTableEntry // the proposed row, for EXPLAIN
	Update  bool
	Set     []Assignment
	Where   []analyze.Expr
}

// Assignment sets attribute Attno to Expr.
type Assignment struct {
	Attno int
	Expr  analyze.Expr
}

// Plan is a finished plan of one query.
type Plan struct {
	Root    Node
	Command analyze.Command
	// CTEs are the plans of WITH queries that are run once; data-modifying ones
	// are run to completion even if nothing reads them.
	CTEs   []CTEPlan
	Params int // executor parameters
	// Columns describe the visible output (the junk columns come last in Root's output).
	Columns []OutputColumn
	// Relations are locked before the plan runs.
	Relations []RelationLock
	// SubPlans in order, for EXPLAIN.
	SubPlans []*SubPlan
	// Volatile or parallel-unsafe parts.
	HasModifyingCTE bool
	ReadOnly        bool
	// RTable for EXPLAIN's names.
	RTable []*analyze.RangeTableEntry
}

// CTEPlan is one WITH query's plan.
type CTEPlan struct {
	Name      string
	Node      Node
	Modifying bool
	Recursive bool
	// Depends are executor parameters of an enclosing sub-plan the CTE reads: its
	// rows are to be thrown away when one of them changes.
	Depends []int
}

// OutputColumn describes a result column for RowDescription.
type OutputColumn struct {
	Name   string
	Type   types.OID
	Typmod int32
	Table  types.OID
	Attno  int
}

// RelationLock is a table lock a plan needs: a heavyweight mode by PostgreSQL's number.
type RelationLock struct {
	OID  types.OID
	Name string
	Mode uint8
}
