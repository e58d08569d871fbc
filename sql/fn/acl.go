package fn

import (
	"encoding/binary"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// aclRights are the names of privileges, by their bit in an aclitem.
var aclRights = [...]string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "EXECUTE", "USAGE", "CREATE", "TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM"}

// aclItem is an aclitem taken apart: see types.
type aclItem struct {
	grantee, grantor types.OID // grantee 0 is PUBLIC
	rights           uint32    // and the grant options in the upper half
}

func aclItemOf(d types.Datum) aclItem {
	le := binary.LittleEndian
	return aclItem{types.OID(le.Uint32(d.B)), types.OID(le.Uint32(d.B[4:])), le.Uint32(d.B[8:])}
}

func (i aclItem) datum() types.Datum {
	b := make([]byte, 0, 12)
	for _, v := range []uint32{uint32(i.grantee), uint32(i.grantor), i.rights} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return types.Datum{B: b}
}

// aclDefaults are what PUBLIC and the owner may do, by the kind of object.
var aclDefaults = map[byte]struct{ public, owner string }{
	'c': {},
	'r': {"", "INSERT SELECT UPDATE DELETE TRUNCATE REFERENCES TRIGGER"},
	's': {"", "SELECT UPDATE USAGE"},
	'd': {"TEMPORARY CONNECT", "CREATE TEMPORARY CONNECT"},
	'f': {"EXECUTE", "EXECUTE"},
	'l': {"USAGE", "USAGE"},
	'L': {"", "SELECT UPDATE"},
	'n': {"", "USAGE CREATE"},
	't': {"", "CREATE"},
	'F': {"", "USAGE"},
	'S': {"", "USAGE"},
	'T': {"USAGE", "USAGE"},
	'p': {"", "SET ALTER_SYSTEM"},
}

func aclBits(rights string) (bits uint32) {
	for _, r := range strings.Fields(rights) {
		for i, name := range aclRights {
			if name == strings.ReplaceAll(r, "_", " ") {
				bits |= 1 << i
			}
		}
	}
	return bits
}

func aclDefault(c *Context, a []types.Datum) (types.Datum, error) {
	def, ok := aclDefaults[byte(a[0].W)]
	if !ok {
		return types.Datum{}, pgerr.New(pgerr.InternalError, "unrecognized objtype abbreviation: %c", byte(a[0].W))
	}
	owner := a[1].OID()
	var items []types.Datum
	if bits := aclBits(def.public); bits != 0 {
		items = append(items, aclItem{0, owner, bits}.datum())
	}
	if bits := aclBits(def.owner); bits != 0 {
		items = append(items, aclItem{owner, owner, bits}.datum())
	}
	return types.MakeArrayDims(types.Aclitem, items, arrayOf(len(items)), c.Env.Types), nil
}

// arrayOf are the dimensions of a plain array of n elements.
func arrayOf(n int) []types.ArrayDim {
	if n == 0 {
		return nil
	}
	return []types.ArrayDim{{Lower: 1, Len: int32(n)}}
}

func aclExplode(_ *Context, a []types.Datum) (Set, error) {
	arr := a[0].Array()
	if len(arr.Dims) > 1 {
		return nil, errParameter("ACL arrays must be one-dimensional")
	}
	set := &rowSet{}
	for _, d := range arr.Elems(nil) {
		if d.Null {
			return nil, pgerr.New(pgerr.NullValueNotAllowed, "ACL arrays must not contain null values")
		}
		item := aclItemOf(d)
		for bit, name := range aclRights {
			if item.rights&(1<<bit) != 0 {
				set.rows = append(set.rows, []types.Datum{types.OIDDatum(item.grantor), types.OIDDatum(item.grantee), {B: []byte(name)}, types.BoolDatum(item.rights&(1<<(bit+16)) != 0)})
			}
		}
	}
	return set, nil
}

func makeAclItem(_ *Context, a []types.Datum) (types.Datum, error) {
	name := string(mapASCII(upperByte)(a[2].B))
	if name == "TEMP" {
		name = "TEMPORARY"
	}
	bits := aclBits(strings.ReplaceAll(name, " ", "_"))
	if bits == 0 || strings.Contains(name, "_") {
		return types.Datum{}, errParameter("unrecognized privilege type: \"%s\"", a[2].B)
	}
	if a[3].Bool() {
		bits |= bits << 16
	}
	return aclItem{a[0].OID(), a[1].OID(), bits}.datum(), nil
}

func registerACL(r *registry) {
	r.fn("acldefault_sql", aclDefault)
	r.set("aclexplode", aclExplode)
	r.fn("makeaclitem", makeAclItem)
	r.fn("aclitem_eq", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(aclItemOf(a[0]) == aclItemOf(a[1])), nil
	})
	r.fn("aclcontains", func(_ *Context, a []types.Datum) (types.Datum, error) {
		arr := a[0].Array()
		want := aclItemOf(a[1])
		for _, d := range arr.Elems(nil) {
			have := aclItemOf(d)
			if !d.Null && have.grantee == want.grantee && have.grantor == want.grantor && have.rights&want.rights == want.rights {
				return types.BoolDatum(true), nil
			}
		}
		return types.BoolDatum(false), nil
	})
	for _, name := range []string{"aclinsert", "aclremove"} {
		r.fn(name, func(*Context, []types.Datum) (types.Datum, error) {
			return types.Datum{}, errUnsupported("%s is no longer supported", name)
		})
	}
	sum := func(d types.Datum) uint32 {
		i := aclItemOf(d)
		return i.rights + uint32(i.grantee) + uint32(i.grantor)
	}
	r.fn("hash_aclitem", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(int64(int32(sum(a[0])))), nil
	})
	r.fn("hash_aclitem_extended", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if seed := uint64(a[1].Int64()); seed != 0 {
			return types.Int64Datum(int64(hashUint32(sum(a[0]), seed))), nil
		}
		return types.Int64Datum(int64(sum(a[0]))), nil
	})
}
