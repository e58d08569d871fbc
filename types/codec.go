package types

import "github.com/minipg/minipg/pgerr"

// In parses the text form of a value as the type's input function does, with the type modifier applied
// as by an assignment from a literal. The datum may alias s. env may be nil.
func In(typ OID, typmod int32, s []byte, env *Env) (Datum, error) {
	return Datum{}, pgerr.New(pgerr.FeatureNotSupported, "type input of %d", typ)
}

// Out appends the text form of d, which is not null, to dst.
func Out(typ OID, d Datum, dst []byte, env *Env) []byte { return dst }

// Recv parses the binary form of a value. The datum may alias b.
func Recv(typ OID, typmod int32, b []byte, env *Env) (Datum, error) {
	return Datum{}, pgerr.New(pgerr.FeatureNotSupported, "binary input of %d", typ)
}

// Send appends the binary form of d, which is not null, to dst.
func Send(typ OID, d Datum, dst []byte, env *Env) []byte { return dst }

// ApplyTypmod coerces d, which is not null, to the modifier, as the type's length coercion function (varchar(n), char(n),
// numeric(p,s), timestamp(p), ...) does. With explicit set, over-long strings are cut without an error.
func ApplyTypmod(typ OID, typmod int32, d Datum, explicit bool) (Datum, error) { return d, nil }

// TypmodIn makes a modifier from the constants in parentheses after a type name: varchar(10), numeric(10,2).
func TypmodIn(typ OID, args []string) (int32, error) { return -1, nil }

// TypmodOut is the suffix of format_type for a modifier: "(10,2)", or "".
func TypmodOut(typ OID, typmod int32) string { return "" }

// FormatType is pg_catalog.format_type for built-in types and arrays of them: "character varying(10)[]". For others it gives
// ok false, and the catalog must qualify and quote the name itself.
func FormatType(typ OID, typmod int32) (name string, ok bool) { return "", false }
