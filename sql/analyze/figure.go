package analyze

import pg_query "github.com/pganalyze/pg_query_go/v6"

// FigureIndexName is the name of an index's column from its expression: that of the
// function it calls or the column it names, else "expr".
func FigureIndexName(n *pg_query.Node) string {
	name := figureColname(n)
	if name == "?column?" {
		return "expr"
	}
	return name
}
