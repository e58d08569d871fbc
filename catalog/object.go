package catalog

import "github.com/minipg/minipg/types"

// Type is a row of pg_type.
type Type struct {
	OID       OID
	Name      string
	Namespace OID
	Owner     OID
	Len       int16
	ByVal     bool
	// Kind is typtype: base b, composite c, domain d, enum e, pseudo p, range r, multirange m.
	Kind      byte
	Category  byte
	Preferred bool
	Defined   bool
	Delim     byte
	RelID     OID
	Subscript OID
	Elem      OID
	Array     OID
	Input     OID
	Output    OID
	Receive   OID
	Send      OID
	ModIn     OID
	ModOut    OID
	Analyze   OID
	Align     byte
	Storage   byte
	NotNull   bool
	BaseType  OID
	Typmod    int32
	NDims     int32
	Collation OID
	// Default is the SQL text of the default, if HasDefault.
	Default    string
	HasDefault bool
	ACL        []ACLItem
}

// IsArray tells a true array type (not a fixed-length one such as oidvector or name).
func (t *Type) IsArray() bool { return t.Subscript == procArraySubscript && t.Elem != 0 }

// Proc is a row of pg_proc.
type Proc struct {
	OID       OID
	Name      string
	Namespace OID
	Owner     OID
	Language  OID
	Cost      float32
	Rows      float32
	// Variadic is the element type of a VARIADIC parameter, or 0.
	Variadic OID
	Support  OID
	// Kind is prokind: function f, procedure p, aggregate a, window w.
	Kind      byte
	SecDef    bool
	Leakproof bool
	Strict    bool
	RetSet    bool
	Volatile  byte
	Parallel  byte
	RetType   OID
	// Args are the input arguments (proargtypes).
	Args []OID
	// AllArgs, with ArgModes one byte each, is nil when all arguments are IN.
	AllArgs  []OID
	ArgModes string
	// ArgNames is nil when no argument has a name.
	ArgNames []string
	// Defaults are the SQL texts of the defaults of the last len(Defaults) input arguments.
	Defaults []string
	// Src is the key of the built-in Go function, or the body.
	Src     string
	Bin     string
	SQLBody string
	Config  []string
	ACL     []ACLItem
}

// Operator is a row of pg_operator.
type Operator struct {
	OID        OID
	Name       string
	Namespace  OID
	Owner      OID
	Kind       byte // 'b' infix, 'l' prefix
	CanMerge   bool
	CanHash    bool
	Left       OID
	Right      OID
	Result     OID
	Commutator OID
	Negator    OID
	Code       OID
	Rest       OID
	Join       OID
}

// Cast is a row of pg_cast.
type Cast struct {
	OID    OID
	Source OID
	Target OID
	Func   OID
	// Context is 'e' explicit only, 'a' assignment too, 'i' implicit too.
	Context byte
	// Method is 'f' function, 'i' through text, 'b' binary coercible.
	Method byte
}

// Aggregate is a row of pg_aggregate.
type Aggregate struct {
	OID          OID
	Kind         byte // 'n' normal, 'o' ordered set, 'h' hypothetical set
	NumDirect    int16
	Trans        OID
	Final        OID
	Combine      OID
	Serial       OID
	Deserial     OID
	MTrans       OID
	MInvTrans    OID
	MFinal       OID
	FinalExtra   bool
	MFinalExtra  bool
	FinalModify  byte
	MFinalModify byte
	SortOp       OID
	TransType    OID
	TransSpace   int32
	MTransType   OID
	MTransSpace  int32
	InitVal      string
	HasInitVal   bool
	MInitVal     string
	HasMInitVal  bool
}

// Opclass is a row of pg_opclass.
type Opclass struct {
	OID       OID
	Method    OID
	Name      string
	Namespace OID
	Owner     OID
	Family    OID
	InType    OID
	Default   bool
	KeyType   OID
}

// Opfamily is a row of pg_opfamily.
type Opfamily struct {
	OID       OID
	Method    OID
	Name      string
	Namespace OID
	Owner     OID
}

// AmOp is a row of pg_amop.
type AmOp struct {
	OID        OID
	Family     OID
	Left       OID
	Right      OID
	Strategy   int16
	Purpose    byte
	Operator   OID
	Method     OID
	SortFamily OID
}

// AmProc is a row of pg_amproc.
type AmProc struct {
	OID    OID
	Family OID
	Left   OID
	Right  OID
	Num    int16
	Proc   OID
}

// AM is a row of pg_am.
type AM struct {
	OID     OID
	Name    string
	Handler OID
	Type    byte
}

// Namespace is a row of pg_namespace.
type Namespace struct {
	OID   OID
	Name  string
	Owner OID
	ACL   []ACLItem
}

// Collation is a row of pg_collation.
type Collation struct {
	OID           OID
	Name          string
	Namespace     OID
	Owner         OID
	Provider      byte
	Deterministic bool
	Encoding      int32
	Collate       string
	Ctype         string
	ICULocale     string
}

// Language is a row of pg_language.
type Language struct {
	OID       OID
	Name      string
	Owner     OID
	IsPL      bool
	Trusted   bool
	Handler   OID
	Inline    OID
	Validator OID
}

// Range is a row of pg_range.
type Range struct {
	Type, Subtype, Multirange, Collation, SubOpclass, Canonical, SubDiff OID
}

// EnumLabel is a row of pg_enum.
type EnumLabel struct {
	OID   OID
	Sort  float32
	Label string
}

// Role is a row of pg_authid.
type Role struct {
	OID         OID
	Name        string
	Super       bool
	Inherit     bool
	CreateRole  bool
	CreateDB    bool
	CanLogin    bool
	Replication bool
	BypassRLS   bool
	ConnLimit   int32
	// Password is the stored verifier; "" when there is none.
	Password   string
	ValidUntil types.Datum
}

// Membership is a row of pg_auth_members.
type Membership struct {
	Role, Member, Grantor OID
	Admin                 bool
}

// Database is a row of pg_database.
type Database struct {
	OID        OID
	Name       string
	Owner      OID
	Encoding   int32
	Provider   byte
	IsTemplate bool
	AllowConn  bool
	ConnLimit  int32
	Tablespace OID
	Collate    string
	Ctype      string
	ICULocale  string
	ACL        []ACLItem
}

// Tablespace is a row of pg_tablespace.
type Tablespace struct {
	OID     OID
	Name    string
	Owner   OID
	ACL     []ACLItem
	Options []string
	// Location is its directory; empty for the two that are in the data directory.
	Location string
}

// ACLItem is one aclitem: what Grantor gave to Grantee (0 is PUBLIC).
type ACLItem struct {
	Grantee OID
	Grantor OID
	// Privs and GrantOpts are bit sets of the Acl constants.
	Privs     uint32
	GrantOpts uint32
}

// Statistics are the planner's statistics of one column (pg_statistic).
type Statistics struct {
	NullFrac float32
	Width    int32
	// Distinct is stadistinct: positive a count, negative a fraction of the rows, 0 unknown.
	Distinct float32
	Slots    []StatSlot
}

// StatSlot is one slot of pg_statistic.
type StatSlot struct {
	Kind    int16 // StatMCV, StatHistogram, StatCorrelation ...
	Op      OID
	Coll    OID
	Numbers []float32
	Values  []types.Datum
}

// Values of StatSlot.Kind.
const (
	StatMCV         int16 = 1
	StatHistogram   int16 = 2
	StatCorrelation int16 = 3
	StatMCElem      int16 = 4
	StatDECHist     int16 = 5
)
