package analyze

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/types"
)

// state is the analysis of one query level: PostgreSQL's ParseState.
type state struct {
	*analysis
	parent *state

	rtable    []*RangeTableEntry
	namespace []*nsItem
	// lateralActive is set while an item of FROM that may look at its left neighbours is analyzed.
	lateralActive bool

	ctes       []*CTE // those of this level that can be seen by now
	futureCTEs []*pg_query.CommonTableExpr
	parentCTE  *CTE // the WITH query this level is the body of

	target   *nsItem // of INSERT, UPDATE, DELETE
	isInsert bool

	windows []*pg_query.WindowDef
	kind    exprKind

	locked     bool // a FOR UPDATE without a list of tables governs this level
	lockingRel []*pg_query.LockingClause
	// resolveUnknowns gives literals in the target list that nothing gave a type the type text.
	resolveUnknowns bool
	lastSRF         Expr

	hasAggs, hasWindows, hasSubLinks, hasTargetSRFs, hasModifyingCTE bool
}

func newState(a *analysis, parent *state) *state {
	return &state{analysis: a, parent: parent, resolveUnknowns: true}
}

// levelsUp is the state n levels out.
func (s *state) levelsUp(n int) *state {
	for ; n > 0; n-- {
		s = s.parent
	}
	return s
}

// withKind runs fn for an expression of a kind.
func (s *state) withKind(k exprKind, fn func()) {
	old := s.kind
	s.kind = k
	fn()
	s.kind = old
}

// nsItem is a name that columns can be qualified with, and what columns it brings. Follows ParseNamespaceItem.
type nsItem struct {
	name string
	rte  *RangeTableEntry
	rt   int
	cols []nsColumn
	// relVisible: the name can qualify; colsVisible: the columns are found unqualified.
	relVisible, colsVisible bool
	// lateralOnly: only LATERAL items see it, and lateralOK tells whether they may.
	lateralOnly, lateralOK bool
	usingAlias             bool // the alias of a USING clause: its columns only
}

// nsColumn is a column of an item, with the Var it stands for.
type nsColumn struct {
	name       string
	dropped    bool
	rt, attno  int
	typ        types.OID
	typmod     int32
	coll       types.OID
	synRT      int
	synAttno   int
	dontExpand bool // a merged column seen through USING ... AS
}

func newConst(typ types.OID, v types.Datum) *Const {
	return &Const{Typed: NewTyped(typ, -1, 0, -1), Value: v}
}

func newNull(typ types.OID) *Const { return newConst(typ, types.NullDatum) }

// nullConst is a null of a type.
func (a *analysis) nullConst(typ types.OID, typmod int32, coll types.OID) *Const {
	return &Const{Typed: NewTyped(typ, typmod, coll, -1), Value: types.NullDatum}
}

// noteRelation remembers a relation the statement depends on.
func (a *analysis) noteRelation(r *catalog.Relation) {
	if !slices.Contains(a.root.Relations, r.OID) {
		a.root.Relations = append(a.root.Relations, r.OID)
	}
}
