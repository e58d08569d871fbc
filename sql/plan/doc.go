// Package plan turns an analyzed query into a tree of plan nodes by estimated
// cost, and prints such a tree for EXPLAIN.
//
// The nodes are data: package exec builds an operator from each. Expressions
// in a plan are analyze.Expr whose column references are Col nodes, positions
// in the inputs of the node they stand in.
//
// # Invariants
//
//  1. A finished plan is immutable and shared by every session that runs it.
//  2. A finished plan holds no Var and no SubLink: each became a Col, a Param
//     of the executor or a SubPlan.
//  3. A plan never depends on the value of a lifted literal (Const.Lifted),
//     except through estimates.
package plan
