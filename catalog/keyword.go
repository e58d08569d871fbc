package catalog

import (
	"cmp"
	"slices"
)

// Keyword is a key word of PostgreSQL 15's SQL.
type Keyword struct {
	Word string
	// Category is U unreserved, C column name, T type or function name, R reserved.
	Category byte
	// Bare tells whether it can be a column label without AS.
	Bare bool
}

// Keywords are all key words, sorted. The slice must not be changed.
func Keywords() []Keyword { return builtinKeywords[:] }

// isReservedWord tells whether quote_ident quotes a key word.
func isReservedWord(s string) bool {
	i, ok := slices.BinarySearchFunc(builtinKeywords[:], s, func(k Keyword, s string) int { return cmp.Compare(k.Word, s) })
	return ok && builtinKeywords[i].Category != 'U'
}
