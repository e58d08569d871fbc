// Package analyze owns semantic analysis: it turns a parsed statement into a Query, a
// tree in which every name is resolved against the catalog, every function,
// operator and cast is an OID and every implicit conversion is written out. It
// owns the way back too: expressions and queries are printed as SQL as
// PostgreSQL's ruleutils.c prints them.
//
// The rules, the order in which they are applied, the messages, SQLSTATEs, hints and positions are
// those of PostgreSQL 15 (src/backend/parser, and the part of src/backend/rewrite
// that fills in defaults and expands views). A reader who knows parse_expr.c finds expr_*.go, parse_coerce.c
// coerce*.go, parse_func.c func*.go, parse_oper.c oper.go, parse_relation.c rte.go and names.go,
// parse_clause.c from.go and clause.go, parse_target.c target.go, parse_agg.c agg*.go, parse_cte.c cte.go, parse_collate.c
// collate.go, parse_type.c typename.go, analyze.c and rewriteHandler.c select.go, insert.go, update.go.
//
// # Invariants
//
//  1. A Query is immutable once Analyze returned it, but for what its planner owns. Nothing in it points
//     into the parse tree.
//  2. Range table indexes (Var.RT, RangeRef.RT, Query.Result) count from 0 and belong to one Query; LevelsUp says
//     how many queries out that Query is.
//  3. Inside the package an error that ends the analysis is raised as a panic with a value
//     of type raised, so that two hundred functions need not hand it up one by one. Every exported
//     function recovers it (func caught) and returns it; no other panic is recovered.
//  4. A literal whose value, not only its type, decided something about the tree is pinned
//     (Context.PinLiteral). Every other literal that has a number in Context.LiteralIndex
//     is a Const with Lifted set, and the tree is right for every other value of the same class.
//  5. Text that the catalog stores (defaults, checks, index expressions, views) is printed, and read, with an
//     empty search path: everything outside pg_catalog is qualified in it.
//
// # Lock order
//
// Analysis takes no locks of its own. It calls Context.Lock for each relation it opens, before it
// relies on the descriptor, and looks the name up again afterwards.
package analyze
