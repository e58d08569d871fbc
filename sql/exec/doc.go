// Package exec runs plans. Compile turns a plan.Plan into a Program: every
// expression becomes closures over column vectors, every node a recipe for an
// operator. A Program is immutable and shared by all sessions. Program.Start
// takes an Execution, the run-time state, from the program's pool: the tree of
// operators with their scratch vectors, which is used again by the next
// execution, so that a cached statement by key allocates next to nothing.
//
// Operators pull: next(max) gives a batch of at most max rows, nil at the end. A
// consumer that will stop early (LIMIT, EXISTS, a portal with a row limit) asks for no
// more rows than it needs, so nothing is evaluated that PostgreSQL would not have.
//
// Re-evaluation (EvalPlanQual) runs a second instance of the same operators in
// which the scans of the locked relations give one row each: the newest version of
// the row, or for the other relations the row that was joined.
//
// A Gather runs its input in goroutines with a runtime each, which share the blocks of the scans below that
// have Workers set. A Partial aggregate below it gives the group columns and, for each aggregate, a word
// that stands for a transition state; the Combine aggregate right above the Gather takes these rows as they are.
//
// # Invariants
//
//  1. A Program is never written after Compile. What changes while it runs lies in
//     the Execution, in the runtime of one goroutine, or in an operator.
//  2. A batch is valid until the next call of next, open or close of the operator that
//     gave it. A consumer never writes to its columns; what it keeps it copies.
//  3. No expression is evaluated for a row that a WHERE conjunct, a CASE arm, AND,
//     OR or COALESCE before it has decided: evaluation takes the rows still undecided as a
//     selection, and no evaluator is called with none.
//  4. An error met while a batch is evaluated is raised for the first row that has it,
//     after the rows before that one were delivered.
//  5. Targets and filters with volatile functions are evaluated row by row, in order.
//  6. What an operator keeps between calls of open (a sort, a hash table, a
//     materialised input) is used again only if no executor parameter that its inputs
//     depend on has changed since it was made.
//  7. Every temporary file is closed and removed when its operator is closed, also after
//     an error.
//
// # Lock order
//
// This package holds no lock while it calls another one.
package exec
