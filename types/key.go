package types

// KeyOptions is how one key column sorts.
type KeyOptions struct {
	Desc       bool
	NullsFirst bool
	Collation  OID   // 0 is the default
	Types      Types // may be nil
}

// EncodeKey appends the order-preserving form of d, which may be null. See invariant 4. No encoding
// of a column is a proper prefix of another's.
func EncodeKey(dst []byte, typ OID, d Datum, opt KeyOptions) []byte { return dst }

// DecodeKey takes one column off the front of key. Only for types with KeyLossless.
func DecodeKey(key []byte, typ OID, opt KeyOptions) (d Datum, rest []byte, err error) {
	return Datum{}, nil, nil
}

// SkipKey returns what follows the first column of key, for any type.
func SkipKey(key []byte, typ OID, opt KeyOptions) (rest []byte, err error) { return nil, nil }

// KeyLossless reports whether DecodeKey gives back the very datum that was encoded.
func KeyLossless(typ OID, collation OID) bool { return false }
