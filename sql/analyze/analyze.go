package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
)

// Analyze resolves a SELECT, VALUES, INSERT, UPDATE or DELETE. sql is the text that
// the locations in stmt count in. params may be nil for a statement without any.
func Analyze(c *Context, stmt *pg_query.Node, sql string, params *ParamTypes) (*Query, error) {
	return nil, pgerr.New(pgerr.FeatureNotSupported, "analysis")
}
