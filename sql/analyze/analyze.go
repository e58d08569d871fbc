package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
)

// Analyze resolves a SELECT, VALUES, INSERT, UPDATE or DELETE. sql is the text that
// the locations in stmt count in. params may be nil for a statement without any.
func Analyze(c *Context, stmt *pg_query.Node, sql string, pt *ParamTypes) (q *Query, err error) {
	defer caught(&err)
	a := newAnalysis(c, sql)
	if pt != nil {
		a.params = &params{ParamTypes: pt}
	}
	s := newState(a, nil)
	q = s.statement(stmt)
	a.checkParams(q)
	return q, nil
}

// analyzeSub analyzes a query inside another, as the body of cte if that is not nil. Follows parse_sub_analyze.
func (s *state) analyzeSub(n *pg_query.Node, cte *CTE, locked, resolveUnknowns bool) *Query {
	in := newState(s.analysis, s)
	in.parentCTE = cte
	in.locked = locked
	in.resolveUnknowns = resolveUnknowns
	return in.statement(n)
}

// statement follows transformStmt.
func (s *state) statement(n *pg_query.Node) *Query {
	switch v := n.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		switch {
		case len(v.SelectStmt.ValuesLists) > 0:
			return s.transformValues(v.SelectStmt)
		case v.SelectStmt.Op == pg_query.SetOperation_SETOP_NONE:
			return s.transformSelect(v.SelectStmt)
		default:
			return s.transformSetOperation(v.SelectStmt)
		}
	case *pg_query.Node_InsertStmt:
		return s.transformInsert(v.InsertStmt)
	case *pg_query.Node_UpdateStmt:
		return s.transformUpdate(v.UpdateStmt)
	case *pg_query.Node_DeleteStmt:
		return s.transformDelete(v.DeleteStmt)
	case *pg_query.Node_MergeStmt:
		s.unsupported(-1, "MERGE is not supported")
	case *pg_query.Node_RawStmt:
		return s.statement(v.RawStmt.Stmt)
	}
	raise(pgerr.New(pgerr.InternalError, "unrecognized node type for analysis: %T", n.GetNode()))
	return nil
}

// finish puts what the state gathered into the query.
func (s *state) finish(q *Query) {
	q.RTable = s.rtable
	q.CTEs = s.ctes
	q.HasSubLinks = s.hasSubLinks
	q.HasWindows = s.hasWindows
	q.HasTargetSRFs = s.hasTargetSRFs
	q.HasAggs = s.hasAggs
	q.HasModifyingCTE = s.hasModifyingCTE
}

// withClause analyzes WITH, before all else.
func (s *state) withClause(w *pg_query.WithClause, q *Query) {
	if w == nil {
		return
	}
	q.Recursive = w.Recursive
	s.transformWith(w)
}
