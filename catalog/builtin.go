package catalog

// builtinClass is the compact form of a system relation's rows of pg_class and pg_attribute.
type builtinClass struct {
	OID        OID
	Name       string
	Namespace  OID
	Type       OID
	AM         OID
	Tablespace OID
	Toast      OID
	Pages      int32
	Tuples     float32
	Kind       byte
	ReplIdent  byte
	HasIndex   bool
	Shared     bool
	HasRules   bool
	ACL        []ACLItem
	Options    []string
	Attrs      []builtinAttr
}

// builtinAttr is one column. A Collation or Storage of 0 is the type's.
type builtinAttr struct {
	Name        string
	Type        OID
	TypmodPlus1 int32
	Collation   OID
	NotNull     bool
	NDims       uint8
	Storage     byte
	ACL         []ACLItem
}

// relDef is how a catalog's rows are laid out and keyed.
type relDef struct {
	oid    OID
	name   string
	shared bool
	cols   []OID
	// indexes[0] is the primary key, if it is marked so; else the whole row is the key.
	indexes []indexDef
}

type indexDef struct {
	oid     OID
	name    string
	primary bool
	unique  bool
	cols    []uint8
}
