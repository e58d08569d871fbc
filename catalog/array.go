package catalog

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// Constructors of the arrays that catalog rows hold. A nil slice is NULL for array types;
// vectors have no null.

// OIDArrayDatum makes an oid[].
func OIDArrayDatum(v []OID) types.Datum {
	if v == nil {
		return types.NullDatum
	}
	return makeArray(types.Oid, oidDatums(v), 1)
}

// OIDVectorDatum makes an oidvector.
func OIDVectorDatum(v []OID) types.Datum { return makeArray(types.Oid, oidDatums(v), 0) }

// Int2VectorDatum makes an int2vector.
func Int2VectorDatum(v []int16) types.Datum { return makeArray(types.Int2, int2Datums(v), 0) }

// Int2ArrayDatum makes an int2[].
func Int2ArrayDatum(v []int16) types.Datum {
	if v == nil {
		return types.NullDatum
	}
	return makeArray(types.Int2, int2Datums(v), 1)
}

// TextArrayDatum makes a text[].
func TextArrayDatum(v []string) types.Datum {
	if v == nil {
		return types.NullDatum
	}
	elems := make([]types.Datum, len(v))
	for i, s := range v {
		elems[i] = types.TextDatum(s)
	}
	return makeArray(types.Text, elems, 1)
}

// CharArrayDatum makes a "char"[]; "" is NULL.
func CharArrayDatum(v string) types.Datum {
	if v == "" {
		return types.NullDatum
	}
	elems := make([]types.Datum, len(v))
	for i := range v {
		elems[i] = charDatum(v[i])
	}
	return makeArray(types.Char, elems, 1)
}

// Float4ArrayDatum makes a float4[].
func Float4ArrayDatum(v []float32) types.Datum {
	if v == nil {
		return types.NullDatum
	}
	elems := make([]types.Datum, len(v))
	for i, f := range v {
		elems[i] = types.Float64Datum(float64(f))
	}
	return makeArray(types.Float4, elems, 1)
}

// ACLDatum makes an aclitem[].
func ACLDatum(acl []ACLItem) types.Datum {
	if acl == nil {
		return types.NullDatum
	}
	elems := make([]types.Datum, len(acl))
	for i, a := range acl {
		elems[i] = ACLItemDatum(a)
	}
	return makeArray(types.Aclitem, elems, 1)
}

// ACLItemDatum makes an aclitem: grantee, grantor, and privileges with the grant options in the
// upper half, little-endian, as PostgreSQL lays it out.
func ACLItemDatum(a ACLItem) types.Datum {
	b := make([]byte, 12)
	binary.LittleEndian.PutUint32(b, uint32(a.Grantee))
	binary.LittleEndian.PutUint32(b[4:], uint32(a.Grantor))
	binary.LittleEndian.PutUint32(b[8:], a.Privs|a.GrantOpts<<16)
	return types.BytesDatum(b)
}

// ParseACLItemDatum reads what ACLItemDatum makes.
func ParseACLItemDatum(d types.Datum) (ACLItem, error) {
	if len(d.B) != 12 {
		return ACLItem{}, errCorrupt(mustDef(PgClass))
	}
	bits := binary.LittleEndian.Uint32(d.B[8:])
	return ACLItem{
		Grantee: OID(binary.LittleEndian.Uint32(d.B)), Grantor: OID(binary.LittleEndian.Uint32(d.B[4:])),
		Privs: bits & 0xFFFF, GrantOpts: bits >> 16,
	}, nil
}

// ParseACLDatum reads an aclitem[], NULL as nil.
func ParseACLDatum(d types.Datum) ([]ACLItem, error) {
	var a arrayDecoder
	return a.acl(d), a.err
}

func oidDatums(v []OID) []types.Datum {
	elems := make([]types.Datum, len(v))
	for i, o := range v {
		elems[i] = oidDatum(o)
	}
	return elems
}

func int2Datums(v []int16) []types.Datum {
	elems := make([]types.Datum, len(v))
	for i, n := range v {
		elems[i] = intDatum(n)
	}
	return elems
}

func makeArray(elem OID, elems []types.Datum, lower int32) types.Datum {
	return types.MakeArrayDims(elem, elems, []types.ArrayDim{{Len: int32(len(elems)), Lower: lower}}, nil)
}

// arrayDecoder reads arrays and keeps the first error.
type arrayDecoder struct{ err error }

func (d *arrayDecoder) elems(v types.Datum) []types.Datum {
	if v.Null || d.err != nil {
		return nil
	}
	if len(v.B) < 8 {
		d.err = pgerr.New(pgerr.DataCorrupted, "invalid array in a catalog row")
		return nil
	}
	a := v.Array()
	return a.Elems(make([]types.Datum, 0, a.N))
}

func decodeElems[T any](d *arrayDecoder, v types.Datum, conv func(types.Datum) T) []T {
	elems := d.elems(v)
	if elems == nil {
		return nil
	}
	out := make([]T, len(elems))
	for i, e := range elems {
		out[i] = conv(e)
	}
	return out
}

func (d *arrayDecoder) oids(v types.Datum) []OID { return decodeElems(d, v, types.Datum.OID) }

func (d *arrayDecoder) int2s(v types.Datum) []int16 {
	return decodeElems(d, v, func(e types.Datum) int16 { return int16(e.W) })
}

func (d *arrayDecoder) texts(v types.Datum) []string { return decodeElems(d, v, types.Datum.String) }

func (d *arrayDecoder) float4s(v types.Datum) []float32 {
	return decodeElems(d, v, func(e types.Datum) float32 { return float32(e.Float64()) })
}

func (d *arrayDecoder) chars(v types.Datum) string {
	return string(decodeElems(d, v, func(e types.Datum) byte { return byte(e.W) }))
}

func (d *arrayDecoder) acl(v types.Datum) []ACLItem {
	return decodeElems(d, v, func(e types.Datum) ACLItem {
		a, err := ParseACLItemDatum(e)
		if err != nil && d.err == nil {
			d.err = err
		}
		return a
	})
}

// joinDefaults and splitDefaults keep a list of SQL expressions in one text, as pg_get_expr shows it.
func joinDefaults(exprs []string) string { return strings.Join(exprs, ", ") }

// splitDefaults cuts at the commas outside quotes and brackets.
func splitDefaults(s string) []string {
	if s == "" {
		return nil
	}
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\'', '"':
			escape := c == '\'' && i > start && (s[i-1] == 'E' || s[i-1] == 'e')
			for i++; i < len(s) && s[i] != c; i++ {
				if escape && s[i] == '\\' {
					i++
				}
			}
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// JoinExprs is the text of pg_index.indexprs and pg_proc.proargdefaults for a list of SQL expressions.
func JoinExprs(exprs []string) string { return joinDefaults(exprs) }

// SplitExprs undoes JoinExprs.
func SplitExprs(s string) []string { return splitDefaults(s) }

// restDatum reads a field of the generated text. Arrays have no nulls and need no quotes there.
func restDatum(typ OID, s string) types.Datum {
	if s == `\N` {
		return types.NullDatum
	}
	if strings.IndexByte(s, '\\') >= 0 {
		s = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\x60`, "`").Replace(s)
	}
	switch typ {
	case types.Bool:
		return types.BoolDatum(s == "t")
	case types.Char:
		if s == "" {
			return charDatum(0)
		}
		return charDatum(s[0])
	case types.Int2vector:
		return makeArray(types.Int2, restElems(types.Int2, strings.Fields(s)), 0)
	case types.Oidvector:
		return makeArray(types.Oid, restElems(types.Oid, strings.Fields(s)), 0)
	case types.Int2Array:
		return makeArray(types.Int2, restElems(types.Int2, braced(s)), 1)
	case types.OidArray:
		return makeArray(types.Oid, restElems(types.Oid, braced(s)), 1)
	case types.TextArray:
		return makeArray(types.Text, restElems(types.Text, braced(s)), 1)
	case types.AclitemArray:
		return restACL(braced(s))
	}
	if types.ClassOf(typ) == types.Bytes {
		return types.TextDatum(s)
	}
	if typ == types.Float4 {
		f, _ := strconv.ParseFloat(s, 64)
		return types.Float64Datum(f)
	}
	n, _ := strconv.ParseInt(s, 10, 64)
	return types.Int64Datum(n)
}

func braced(s string) []string {
	s = strings.Trim(s, "{}")
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func restElems(typ OID, fields []string) []types.Datum {
	out := make([]types.Datum, len(fields))
	for i, f := range fields {
		out[i] = restDatum(typ, f)
	}
	return out
}

// restACL reads items of the form grantee=letters/grantor with the roles' OIDs.
func restACL(items []string) types.Datum {
	acl := make([]ACLItem, len(items))
	for i, s := range items {
		who, rest, _ := strings.Cut(s, "=")
		letters, by, _ := strings.Cut(rest, "/")
		acl[i].Grantee, acl[i].Grantor = restDatum(types.Oid, who).OID(), restDatum(types.Oid, by).OID()
		for j := range letters {
			if n := strings.IndexByte(aclLetters, letters[j]); n >= 0 {
				acl[i].Privs |= 1 << n
			} else {
				acl[i].GrantOpts |= 1 << strings.IndexByte(aclLetters, letters[j-1])
			}
		}
	}
	return ACLDatum(acl)
}
