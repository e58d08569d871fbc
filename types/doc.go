// Package types owns the values of SQL: the OIDs of built-in types, the datum and
// the column vector that carry values through the server, text and binary input
// and output exactly as PostgreSQL 15 has them, comparison and hashing, the row
// encoding of the heap and the order-preserving encoding of B-tree keys.
//
// # Invariants
//
//  1. Every type is either of class Word (its value is Datum.W) or of class Bytes
//     (its value is Datum.B). A null datum has Null set and nothing else is read.
//     Integers, date and "char" are sign- or zero-extended to 64 bits as their Phys says;
//     float4 and float8 are both math.Float64bits of the value as float64; date is days and
//     time, timestamp, timestamptz are microseconds since 2000-01-01.
//  2. A datum of class Bytes with W == 0 is plain. W != 0 is a TOAST form (see
//     ToastCompressed, ToastExternal) which only Decode yields, only Encode accepts,
//     and which the engine removes before any other function sees the datum.
//  3. Bytes behind a Datum are never changed after the datum was made. A datum may
//     alias the bytes it was decoded or parsed from.
//  4. Two datums of one type and collation compare equal exactly when their keys
//     (EncodeKey) are equal bytes; Compare and bytes.Compare of keys have the same
//     sign. Hash is equal for equal datums.
//  5. Input functions never panic, whatever the bytes.
//
// # Format
//
// Rows, see row.go. A head of one byte: the number of attributes (127: a uint16 LE
// with it follows) and, in the high bit, whether a null bitmap follows (one bit an
// attribute, 1 is null). Then the values unaligned, little-endian: fixed-width types
// in their width; others with a length: one byte (len<<1 | 1, up to 126 bytes),
// four bytes (len<<2), four bytes compressed (len<<2 | 2), or 0xFF, one byte of
// length and an external pointer.
//
// Keys, see key.go. For each column a byte that orders nulls, then bytes whose order is
// the type's: integers big-endian with the sign bit flipped, floats with PostgreSQL's order of
// NaN, strings with 0x00 escaped and terminated. DESC inverts the bytes.
//
// Numerics, see numeric_text.go: the scale in a byte and the coefficient in as few bytes as it needs, or for large
// ones a tag, the scale and the magnitude. Arrays, see array.go, and records, see record.go, carry the types of what they hold.
// A jsonb is its canonical text.
package types
