// Package are matches PostgreSQL's advanced regular expressions: it owns their syntax, their rules of
// which match is taken, and two ways of matching.
//
// PostgreSQL's library (Henry Spencer's) takes the leftmost match; the preference of the whole expression, decided by its first quantifier,
// says whether the longest or the shortest one from there; then each subexpression takes the longest or shortest
// text that lets the rest match. Package regexp has other rules, and no back references or lookaround.
//
// An expression is parsed to a tree (parse.go). Where the answer cannot differ it is handed to
// package regexp (translate.go): for a yes or no, or for the place of a match that is the longest anyway. Otherwise the tree is
// matched here (match.go): the set of ends of each subexpression from each start is computed once a search, and
// dissect walks the tree with a known start and end to place the captures, as Spencer's cdissect does.
//
// # Invariants
//
//  1. A Regexp is immutable and may be shared; a search has its own matcher.
//  2. Offsets given out are in bytes and fall on characters.
package are
