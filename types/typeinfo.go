package types

// OID identifies a row of a system catalog, here mostly of pg_type.
type OID uint32

// Class says where a datum's value lies.
type Class uint8

// Word values are in Datum.W, Bytes values in Datum.B.
const (
	Word Class = iota
	Bytes
)

// Phys is the physical kind of a type: how it lies on disk and widens to a word.
type Phys uint8

// The physical kinds. PhysWord8 is any eight-byte word, float8 included.
const (
	PhysBool    Phys = iota // one byte, 0 or 1
	PhysChar                // one byte, zero-extended
	PhysInt2                // sign-extended
	PhysInt4                // sign-extended
	PhysUint4               // zero-extended
	PhysFloat4              // four bytes on disk, float64 bits in the word
	PhysWord8               // eight bytes
	PhysFixed               // Len bytes in Datum.B
	PhysVarlena             // Datum.B with a length
)

// Class of the values of this kind.
func (p Phys) Class() Class {
	if p >= PhysFixed {
		return Bytes
	}
	return Word
}

// TypeInfo is what this package needs to know of a row of pg_type.
type TypeInfo struct {
	OID       OID
	Name      string // pg_type.typname
	Len       int16  // pg_type.typlen, as PostgreSQL has it
	Phys      Phys
	Align     byte // 'c', 's', 'i', 'd'
	Category  byte // pg_type.typcategory
	Preferred bool
	Kind      byte // pg_type.typtype: 'b', 'c', 'd', 'e', 'p', 'r', 'm'
	Elem      OID
	Array     OID
	Delim     byte

	// Of user-defined types only.
	Base       OID // of a domain
	BaseTypmod int32
	Fields     []Field     // of a composite type
	Labels     []EnumLabel // of an enum, in sort order
	Subtype    OID         // of a range
}

// Field is one attribute of a composite type.
type Field struct {
	Name    string
	Type    OID
	Typmod  int32
	Dropped bool
}

// EnumLabel is one value of an enum; its datum is the OID.
type EnumLabel struct {
	OID   OID
	Label string
}

// IsArray reports whether the type is a true array type (int2vector and oidvector are not).
func (t *TypeInfo) IsArray() bool {
	if t.Elem == 0 || t.Len != -1 || t.OID == Int2vector || t.OID == Oidvector {
		return false
	}
	return t.Category == 'A' || t.OID == RecordArray
}

// Types resolves types that are not built in. It is satisfied by the catalog.
type Types interface {
	// TypeByOID returns nil when there is no such type.
	TypeByOID(oid OID) *TypeInfo
}

// Builtin returns the description of a built-in type, or nil.
func Builtin(oid OID) *TypeInfo {
	if oid > maxBuiltinType {
		return nil
	}
	i := builtinIndex[oid]
	if i == 0 {
		return nil
	}
	return &builtinTypes[i]
}

// Lookup returns the description of a type, built in or from ts (which may be nil), or nil.
func Lookup(oid OID, ts Types) *TypeInfo {
	if t := Builtin(oid); t != nil {
		return t
	}
	if ts == nil {
		return nil
	}
	return ts.TypeByOID(oid)
}

// ClassOf returns the class of a built-in type; Bytes for any other. For user-defined
// types ask their TypeInfo's Phys.
func ClassOf(oid OID) Class { return PhysOf(oid).Class() }

// PhysOf returns the physical kind of a built-in type; PhysVarlena for any other.
func PhysOf(oid OID) Phys {
	if t := Builtin(oid); t != nil {
		return t.Phys
	}
	return PhysVarlena
}

// ElemOf returns the element type of a built-in array type, int2vector and oidvector
// included, or 0.
func ElemOf(oid OID) OID {
	t := Builtin(oid)
	if t == nil || (!t.IsArray() && oid != Int2vector && oid != Oidvector) {
		return 0
	}
	return t.Elem
}

// ArrayOf returns the array type over a built-in type, or 0.
func ArrayOf(oid OID) OID {
	if t := Builtin(oid); t != nil {
		return t.Array
	}
	return 0
}

// ByName finds a built-in type by pg_type.typname, or 0.
func ByName(name string) OID {
	for i := range builtinTypes {
		if builtinTypes[i].Name == name {
			return builtinTypes[i].OID
		}
	}
	return 0
}
