package plan

import "github.com/minipg/minipg/sql/analyze"

// Visit calls f for e and everything below it until f returns false, which keeps it from what is
// below. The plans of SubPlans are not entered.
func Visit(e analyze.Expr, f func(analyze.Expr) bool) { visit(e, f) }
