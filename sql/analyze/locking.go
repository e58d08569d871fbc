package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
)

// aclSelectForUpdate is what locking rows needs: PostgreSQL's ACL_SELECT_FOR_UPDATE is ACL_UPDATE.
const aclSelectForUpdate = aclUpdate

// transformLocking follows transformLockingClause.
func (s *state) transformLocking(q *Query, l *pg_query.LockingClause, pushed bool) {
	s.checkLockable(q, l.Strength)
	all := &pg_query.LockingClause{Strength: l.Strength, WaitPolicy: l.WaitPolicy}
	lock := func(i int, rte *RangeTableEntry) {
		switch rte.Kind {
		case RTERelation:
			applyLock(q, i, l, pushed)
			rte.Required |= aclSelectForUpdate
		case RTESubquery:
			applyLock(q, i, l, pushed)
			if rte.View != nil {
				rte.Required |= aclSelectForUpdate
				lockView(rte.Subquery, all)
			} else {
				s.transformLocking(rte.Subquery, all, true)
			}
		}
	}
	if len(l.LockedRels) == 0 {
		for i, rte := range q.RTable {
			if rte.InFrom {
				lock(i, rte)
			}
		}
		return
	}
	for _, n := range l.LockedRels {
		s.lockNamed(q, l, n.GetRangeVar(), lock)
	}
}

func (s *state) lockNamed(q *Query, l *pg_query.LockingClause, rv *pg_query.RangeVar, lock func(int, *RangeTableEntry)) {
	loc := int(rv.Location)
	if rv.Schemaname != "" || rv.Catalogname != "" {
		raise(s.err(loc, pgerr.SyntaxError, "%s must specify unqualified relation names", lockName(l.Strength)))
	}
	for i, rte := range q.RTable {
		if !rte.InFrom || lockableName(rte) != rv.Relname {
			continue
		}
		what := ""
		switch rte.Kind {
		case RTERelation, RTESubquery:
			lock(i, rte)
			return
		case RTEJoin:
			what = "a join"
		case RTEFunction:
			what = "a function"
		case RTEValues:
			what = "VALUES"
		case RTECTE:
			what = "a WITH query"
		}
		raise(s.err(loc, pgerr.FeatureNotSupported, "%s cannot be applied to %s", lockName(l.Strength), what))
	}
	raise(s.err(loc, pgerr.UndefinedTable, "relation \"%s\" in %s clause not found in FROM clause", rv.Relname, lockName(l.Strength)))
}

// lockableName is the name by which a locking clause knows an entry; "" if it cannot be named.
func lockableName(rte *RangeTableEntry) string {
	if !rte.HasAlias {
		switch rte.Kind {
		case RTEJoin:
			return rte.UsingAlias
		case RTESubquery:
			if rte.View == nil {
				return ""
			}
		case RTEValues:
			return ""
		}
	}
	return rte.Alias
}

// checkLockable follows CheckSelectLocking.
func (s *state) checkLockable(q *Query, strength pg_query.LockClauseStrength) {
	what := ""
	switch {
	case q.SetOp != nil:
		what = "UNION/INTERSECT/EXCEPT"
	case len(q.Distinct) > 0:
		what = "DISTINCT clause"
	case len(q.Group) > 0 || len(q.Grouping) > 0:
		what = "GROUP BY clause"
	case q.Having != nil:
		what = "HAVING clause"
	case q.HasAggs:
		what = "aggregate functions"
	case q.HasWindows:
		what = "window functions"
	case q.HasTargetSRFs:
		what = "set-returning functions in the target list"
	default:
		return
	}
	raise(pgerr.New(pgerr.FeatureNotSupported, "%s is not allowed with %s", lockName(strength), what))
}

// lockView marks everything a view reads.
func lockView(q *Query, l *pg_query.LockingClause) {
	var from func(f FromItem)
	from = func(f FromItem) {
		switch n := f.(type) {
		case *Join:
			from(n.Left)
			from(n.Right)
		case *RangeRef:
			rte := q.RTable[n.RT]
			switch rte.Kind {
			case RTERelation:
				applyLock(q, n.RT, l, true)
				rte.Required |= aclSelectForUpdate
			case RTESubquery:
				applyLock(q, n.RT, l, true)
				lockView(rte.Subquery, l)
			}
		}
	}
	for _, f := range q.From {
		from(f)
	}
}

// applyLock marks an entry; of several marks the strongest and the least patient count. Follows applyLockingClause.
func applyLock(q *Query, rt int, l *pg_query.LockingClause, pushed bool) {
	strength := map[pg_query.LockClauseStrength]LockStrength{
		pg_query.LockClauseStrength_LCS_FORKEYSHARE: ForKeyShare, pg_query.LockClauseStrength_LCS_FORSHARE: ForShare,
		pg_query.LockClauseStrength_LCS_FORNOKEYUPDATE: ForNoKeyUpdate, pg_query.LockClauseStrength_LCS_FORUPDATE: ForUpdate,
	}[l.Strength]
	wait := map[pg_query.LockWaitPolicy]LockWait{
		pg_query.LockWaitPolicy_LockWaitSkip: LockSkip, pg_query.LockWaitPolicy_LockWaitError: LockError,
	}[l.WaitPolicy]
	for i := range q.RowMarks {
		if m := &q.RowMarks[i]; m.RT == rt {
			m.Strength, m.Wait = max(m.Strength, strength), max(m.Wait, wait)
			m.PushedDown = m.PushedDown && pushed
			return
		}
	}
	q.RowMarks = append(q.RowMarks, RowMark{RT: rt, Strength: strength, Wait: wait, PushedDown: pushed})
}
