package sql

import pg_query "github.com/pganalyze/pg_query_go/v6"

func explainColumns(*pg_query.ExplainStmt) []Column { return []Column{textColumn("QUERY PLAN")} }

func (u *utility) explain(n *pg_query.ExplainStmt) (string, error) {
	return "", unsupported(u.stmt.Node)
}
