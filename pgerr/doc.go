// Package pgerr holds the error every statement can end in: a SQLSTATE, a
// message and the optional fields of an ErrorResponse.
//
// The SQLSTATE is chosen where the condition is known. Layers in between add
// context with %w or AppendWhere; only the server reads the code. No caller
// classifies an error by its text.
//
// # Invariants
//
//  1. An *Error never changes once it has been returned up, except by the
//     goroutine that received it: constructors make a fresh value each time.
//  2. From never returns nil for a non-nil error; what no layer gave a code
//     leaves as XX000.
package pgerr
