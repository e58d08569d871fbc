// Package parse turns SQL text into statements.
//
// The grammar is PostgreSQL's own, through pg_query_go, which no other package
// calls. Around it stand a scanner of ours, which agrees with PostgreSQL's on where tokens
// begin and end, and two uses of it: Guard, which refuses text whose nesting
// would overflow the C stack of the grammar, and Lift, which cuts the literals
// out of a statement so that a plan can be found again for other values.
//
// # Invariants
//
//  1. No text reaches the C parser before it was valid UTF-8 without NUL and
//     passed Guard.
//  2. Scanner and Lift allocate nothing.
package parse
