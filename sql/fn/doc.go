// Package fn owns the functions behind the rows of pg_proc: scalar functions and
// operators, their vector forms, aggregates and set-returning functions. They are
// found by pg_proc.prosrc (aggregates by their OID), so an operator, a cast or an index support function
// is only another way to the same entry, and adding a function is adding a row to the catalog and an
// entry to a table here.
//
// # Invariants
//
//  1. A function whose pg_proc row is strict is never called with a null argument: the
//     caller looks at proisstrict. Vector forms are strict and see to nulls themselves.
//  2. A function depends on its arguments, Context and Context.Call only. State kept
//     between calls of one call site lies in Call.State.
//  3. Results may alias arguments, and never memory that is reused by a later call.
//  4. Session and catalog state is reached through the interfaces of Context only. A nil
//     interface makes the functions that need it fail with 0A000.
//
// # Where to find what
//
// lookup.go is the registry and tables.go lists its parts, each of which stands beside its functions. context.go,
// session.go and agg.go are what the executor sees. Package are matches regular expressions, picture*.go is
// to_char and its inverses, json_text.go walks JSON without parsing it to a tree.
//
// # Differences from PostgreSQL 15
//
// The transcendental functions of floats are correctly rounded where the C library's need not be: cbrt, log10 and the
// hyperbolic ones may differ in the last digit. avg(float8) does not fail when the sum of squares overflows, since it
// computes none. Goldens in testdata are recorded from PostgreSQL and hold the rest.
package fn
