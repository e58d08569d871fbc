package types

// The constants and the table below are the rows of PostgreSQL 15's pg_type for
// built-in types that are not row types of catalogs.

// Object identifiers of the built-in types, named after pg_type.typname.
const (
	Bool                     OID = 16
	Bytea                    OID = 17
	Char                     OID = 18
	Name                     OID = 19
	Int8                     OID = 20
	Int2                     OID = 21
	Int2vector               OID = 22
	Int4                     OID = 23
	Regproc                  OID = 24
	Text                     OID = 25
	Oid                      OID = 26
	Tid                      OID = 27
	Xid                      OID = 28
	Cid                      OID = 29
	Oidvector                OID = 30
	PgDdlCommand             OID = 32
	Json                     OID = 114
	Xml                      OID = 142
	XmlArray                 OID = 143
	PgNodeTree               OID = 194
	JsonArray                OID = 199
	TableAmHandler           OID = 269
	Xid8Array                OID = 271
	IndexAmHandler           OID = 325
	Point                    OID = 600
	Lseg                     OID = 601
	Path                     OID = 602
	Box                      OID = 603
	Polygon                  OID = 604
	Line                     OID = 628
	LineArray                OID = 629
	Cidr                     OID = 650
	CidrArray                OID = 651
	Float4                   OID = 700
	Float8                   OID = 701
	Unknown                  OID = 705
	Circle                   OID = 718
	CircleArray              OID = 719
	Macaddr8                 OID = 774
	Macaddr8Array            OID = 775
	Money                    OID = 790
	MoneyArray               OID = 791
	Macaddr                  OID = 829
	Inet                     OID = 869
	BoolArray                OID = 1000
	ByteaArray               OID = 1001
	CharArray                OID = 1002
	NameArray                OID = 1003
	Int2Array                OID = 1005
	Int2vectorArray          OID = 1006
	Int4Array                OID = 1007
	RegprocArray             OID = 1008
	TextArray                OID = 1009
	TidArray                 OID = 1010
	XidArray                 OID = 1011
	CidArray                 OID = 1012
	OidvectorArray           OID = 1013
	BpcharArray              OID = 1014
	VarcharArray             OID = 1015
	Int8Array                OID = 1016
	PointArray               OID = 1017
	LsegArray                OID = 1018
	PathArray                OID = 1019
	BoxArray                 OID = 1020
	Float4Array              OID = 1021
	Float8Array              OID = 1022
	PolygonArray             OID = 1027
	OidArray                 OID = 1028
	Aclitem                  OID = 1033
	AclitemArray             OID = 1034
	MacaddrArray             OID = 1040
	InetArray                OID = 1041
	Bpchar                   OID = 1042
	Varchar                  OID = 1043
	Date                     OID = 1082
	Time                     OID = 1083
	Timestamp                OID = 1114
	TimestampArray           OID = 1115
	DateArray                OID = 1182
	TimeArray                OID = 1183
	Timestamptz              OID = 1184
	TimestamptzArray         OID = 1185
	Interval                 OID = 1186
	IntervalArray            OID = 1187
	NumericArray             OID = 1231
	CstringArray             OID = 1263
	Timetz                   OID = 1266
	TimetzArray              OID = 1270
	Bit                      OID = 1560
	BitArray                 OID = 1561
	Varbit                   OID = 1562
	VarbitArray              OID = 1563
	Numeric                  OID = 1700
	Refcursor                OID = 1790
	RefcursorArray           OID = 2201
	Regprocedure             OID = 2202
	Regoper                  OID = 2203
	Regoperator              OID = 2204
	Regclass                 OID = 2205
	Regtype                  OID = 2206
	RegprocedureArray        OID = 2207
	RegoperArray             OID = 2208
	RegoperatorArray         OID = 2209
	RegclassArray            OID = 2210
	RegtypeArray             OID = 2211
	Record                   OID = 2249
	Cstring                  OID = 2275
	Any                      OID = 2276
	AnyArray                 OID = 2277
	Void                     OID = 2278
	Trigger                  OID = 2279
	LanguageHandler          OID = 2280
	Internal                 OID = 2281
	AnyElement               OID = 2283
	RecordArray              OID = 2287
	AnyNonArray              OID = 2776
	TxidSnapshotArray        OID = 2949
	Uuid                     OID = 2950
	UuidArray                OID = 2951
	TxidSnapshot             OID = 2970
	FdwHandler               OID = 3115
	PgLsn                    OID = 3220
	PgLsnArray               OID = 3221
	TsmHandler               OID = 3310
	PgNdistinct              OID = 3361
	PgDependencies           OID = 3402
	AnyEnum                  OID = 3500
	Tsvector                 OID = 3614
	Tsquery                  OID = 3615
	Gtsvector                OID = 3642
	TsvectorArray            OID = 3643
	GtsvectorArray           OID = 3644
	TsqueryArray             OID = 3645
	Regconfig                OID = 3734
	RegconfigArray           OID = 3735
	Regdictionary            OID = 3769
	RegdictionaryArray       OID = 3770
	Jsonb                    OID = 3802
	JsonbArray               OID = 3807
	AnyRange                 OID = 3831
	EventTrigger             OID = 3838
	Int4range                OID = 3904
	Int4rangeArray           OID = 3905
	Numrange                 OID = 3906
	NumrangeArray            OID = 3907
	Tsrange                  OID = 3908
	TsrangeArray             OID = 3909
	Tstzrange                OID = 3910
	TstzrangeArray           OID = 3911
	Daterange                OID = 3912
	DaterangeArray           OID = 3913
	Int8range                OID = 3926
	Int8rangeArray           OID = 3927
	Jsonpath                 OID = 4072
	JsonpathArray            OID = 4073
	Regnamespace             OID = 4089
	RegnamespaceArray        OID = 4090
	Regrole                  OID = 4096
	RegroleArray             OID = 4097
	Regcollation             OID = 4191
	RegcollationArray        OID = 4192
	Int4multirange           OID = 4451
	Nummultirange            OID = 4532
	Tsmultirange             OID = 4533
	Tstzmultirange           OID = 4534
	Datemultirange           OID = 4535
	Int8multirange           OID = 4536
	AnyMultirange            OID = 4537
	AnyCompatibleMultirange  OID = 4538
	PgBrinBloomSummary       OID = 4600
	PgBrinMinmaxMultiSummary OID = 4601
	PgMcvList                OID = 5017
	PgSnapshot               OID = 5038
	PgSnapshotArray          OID = 5039
	Xid8                     OID = 5069
	AnyCompatible            OID = 5077
	AnyCompatibleArray       OID = 5078
	AnyCompatibleNonArray    OID = 5079
	AnyCompatibleRange       OID = 5080
	Int4multirangeArray      OID = 6150
	NummultirangeArray       OID = 6151
	TsmultirangeArray        OID = 6152
	TstzmultirangeArray      OID = 6153
	DatemultirangeArray      OID = 6155
	Int8multirangeArray      OID = 6157
)

var builtinTypes = [...]TypeInfo{
	{},
	{OID: Bool, Name: "bool", Len: 1, Phys: PhysBool, Align: 'c', Category: 'B', Preferred: true, Kind: 'b', Elem: 0, Array: BoolArray, Delim: ','},
	{OID: Bytea, Name: "bytea", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: ByteaArray, Delim: ','},
	{OID: Char, Name: "char", Len: 1, Phys: PhysChar, Align: 'c', Category: 'Z', Preferred: false, Kind: 'b', Elem: 0, Array: CharArray, Delim: ','},
	{OID: Name, Name: "name", Len: 64, Phys: PhysVarlena, Align: 'c', Category: 'S', Preferred: false, Kind: 'b', Elem: Char, Array: NameArray, Delim: ','},
	{OID: Int8, Name: "int8", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: Int8Array, Delim: ','},
	{OID: Int2, Name: "int2", Len: 2, Phys: PhysInt2, Align: 's', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: Int2Array, Delim: ','},
	{OID: Int2vector, Name: "int2vector", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Int2, Array: Int2vectorArray, Delim: ','},
	{OID: Int4, Name: "int4", Len: 4, Phys: PhysInt4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: Int4Array, Delim: ','},
	{OID: Regproc, Name: "regproc", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegprocArray, Delim: ','},
	{OID: Text, Name: "text", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'S', Preferred: true, Kind: 'b', Elem: 0, Array: TextArray, Delim: ','},
	{OID: Oid, Name: "oid", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: true, Kind: 'b', Elem: 0, Array: OidArray, Delim: ','},
	{OID: Tid, Name: "tid", Len: 6, Phys: PhysFixed, Align: 's', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: TidArray, Delim: ','},
	{OID: Xid, Name: "xid", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: XidArray, Delim: ','},
	{OID: Cid, Name: "cid", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: CidArray, Delim: ','},
	{OID: Oidvector, Name: "oidvector", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Oid, Array: OidvectorArray, Delim: ','},
	{OID: PgDdlCommand, Name: "pg_ddl_command", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Json, Name: "json", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: JsonArray, Delim: ','},
	{OID: Xml, Name: "xml", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: XmlArray, Delim: ','},
	{OID: XmlArray, Name: "_xml", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Xml, Array: 0, Delim: ','},
	{OID: PgNodeTree, Name: "pg_node_tree", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'Z', Preferred: false, Kind: 'b', Elem: 0, Array: 0, Delim: ','},
	{OID: JsonArray, Name: "_json", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Json, Array: 0, Delim: ','},
	{OID: TableAmHandler, Name: "table_am_handler", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Xid8Array, Name: "_xid8", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Xid8, Array: 0, Delim: ','},
	{OID: IndexAmHandler, Name: "index_am_handler", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Point, Name: "point", Len: 16, Phys: PhysFixed, Align: 'd', Category: 'G', Preferred: false, Kind: 'b', Elem: Float8, Array: PointArray, Delim: ','},
	{OID: Lseg, Name: "lseg", Len: 32, Phys: PhysFixed, Align: 'd', Category: 'G', Preferred: false, Kind: 'b', Elem: Point, Array: LsegArray, Delim: ','},
	{OID: Path, Name: "path", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'G', Preferred: false, Kind: 'b', Elem: 0, Array: PathArray, Delim: ','},
	{OID: Box, Name: "box", Len: 32, Phys: PhysFixed, Align: 'd', Category: 'G', Preferred: false, Kind: 'b', Elem: Point, Array: BoxArray, Delim: ';'},
	{OID: Polygon, Name: "polygon", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'G', Preferred: false, Kind: 'b', Elem: 0, Array: PolygonArray, Delim: ','},
	{OID: Line, Name: "line", Len: 24, Phys: PhysFixed, Align: 'd', Category: 'G', Preferred: false, Kind: 'b', Elem: Float8, Array: LineArray, Delim: ','},
	{OID: LineArray, Name: "_line", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Line, Array: 0, Delim: ','},
	{OID: Cidr, Name: "cidr", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'I', Preferred: false, Kind: 'b', Elem: 0, Array: CidrArray, Delim: ','},
	{OID: CidrArray, Name: "_cidr", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Cidr, Array: 0, Delim: ','},
	{OID: Float4, Name: "float4", Len: 4, Phys: PhysFloat4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: Float4Array, Delim: ','},
	{OID: Float8, Name: "float8", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'N', Preferred: true, Kind: 'b', Elem: 0, Array: Float8Array, Delim: ','},
	{OID: Unknown, Name: "unknown", Len: -2, Phys: PhysVarlena, Align: 'c', Category: 'X', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Circle, Name: "circle", Len: 24, Phys: PhysFixed, Align: 'd', Category: 'G', Preferred: false, Kind: 'b', Elem: 0, Array: CircleArray, Delim: ','},
	{OID: CircleArray, Name: "_circle", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Circle, Array: 0, Delim: ','},
	{OID: Macaddr8, Name: "macaddr8", Len: 8, Phys: PhysWord8, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: Macaddr8Array, Delim: ','},
	{OID: Macaddr8Array, Name: "_macaddr8", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Macaddr8, Array: 0, Delim: ','},
	{OID: Money, Name: "money", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: MoneyArray, Delim: ','},
	{OID: MoneyArray, Name: "_money", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Money, Array: 0, Delim: ','},
	{OID: Macaddr, Name: "macaddr", Len: 6, Phys: PhysFixed, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: MacaddrArray, Delim: ','},
	{OID: Inet, Name: "inet", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'I', Preferred: true, Kind: 'b', Elem: 0, Array: InetArray, Delim: ','},
	{OID: BoolArray, Name: "_bool", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Bool, Array: 0, Delim: ','},
	{OID: ByteaArray, Name: "_bytea", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Bytea, Array: 0, Delim: ','},
	{OID: CharArray, Name: "_char", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Char, Array: 0, Delim: ','},
	{OID: NameArray, Name: "_name", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Name, Array: 0, Delim: ','},
	{OID: Int2Array, Name: "_int2", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Int2, Array: 0, Delim: ','},
	{OID: Int2vectorArray, Name: "_int2vector", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Int2vector, Array: 0, Delim: ','},
	{OID: Int4Array, Name: "_int4", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Int4, Array: 0, Delim: ','},
	{OID: RegprocArray, Name: "_regproc", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regproc, Array: 0, Delim: ','},
	{OID: TextArray, Name: "_text", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Text, Array: 0, Delim: ','},
	{OID: TidArray, Name: "_tid", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Tid, Array: 0, Delim: ','},
	{OID: XidArray, Name: "_xid", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Xid, Array: 0, Delim: ','},
	{OID: CidArray, Name: "_cid", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Cid, Array: 0, Delim: ','},
	{OID: OidvectorArray, Name: "_oidvector", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Oidvector, Array: 0, Delim: ','},
	{OID: BpcharArray, Name: "_bpchar", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Bpchar, Array: 0, Delim: ','},
	{OID: VarcharArray, Name: "_varchar", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Varchar, Array: 0, Delim: ','},
	{OID: Int8Array, Name: "_int8", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Int8, Array: 0, Delim: ','},
	{OID: PointArray, Name: "_point", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Point, Array: 0, Delim: ','},
	{OID: LsegArray, Name: "_lseg", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Lseg, Array: 0, Delim: ','},
	{OID: PathArray, Name: "_path", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Path, Array: 0, Delim: ','},
	{OID: BoxArray, Name: "_box", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Box, Array: 0, Delim: ';'},
	{OID: Float4Array, Name: "_float4", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Float4, Array: 0, Delim: ','},
	{OID: Float8Array, Name: "_float8", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Float8, Array: 0, Delim: ','},
	{OID: PolygonArray, Name: "_polygon", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Polygon, Array: 0, Delim: ','},
	{OID: OidArray, Name: "_oid", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Oid, Array: 0, Delim: ','},
	{OID: Aclitem, Name: "aclitem", Len: 12, Phys: PhysFixed, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: AclitemArray, Delim: ','},
	{OID: AclitemArray, Name: "_aclitem", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Aclitem, Array: 0, Delim: ','},
	{OID: MacaddrArray, Name: "_macaddr", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Macaddr, Array: 0, Delim: ','},
	{OID: InetArray, Name: "_inet", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Inet, Array: 0, Delim: ','},
	{OID: Bpchar, Name: "bpchar", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'S', Preferred: false, Kind: 'b', Elem: 0, Array: BpcharArray, Delim: ','},
	{OID: Varchar, Name: "varchar", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'S', Preferred: false, Kind: 'b', Elem: 0, Array: VarcharArray, Delim: ','},
	{OID: Date, Name: "date", Len: 4, Phys: PhysInt4, Align: 'i', Category: 'D', Preferred: false, Kind: 'b', Elem: 0, Array: DateArray, Delim: ','},
	{OID: Time, Name: "time", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'D', Preferred: false, Kind: 'b', Elem: 0, Array: TimeArray, Delim: ','},
	{OID: Timestamp, Name: "timestamp", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'D', Preferred: false, Kind: 'b', Elem: 0, Array: TimestampArray, Delim: ','},
	{OID: TimestampArray, Name: "_timestamp", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Timestamp, Array: 0, Delim: ','},
	{OID: DateArray, Name: "_date", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Date, Array: 0, Delim: ','},
	{OID: TimeArray, Name: "_time", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Time, Array: 0, Delim: ','},
	{OID: Timestamptz, Name: "timestamptz", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'D', Preferred: true, Kind: 'b', Elem: 0, Array: TimestamptzArray, Delim: ','},
	{OID: TimestamptzArray, Name: "_timestamptz", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Timestamptz, Array: 0, Delim: ','},
	{OID: Interval, Name: "interval", Len: 16, Phys: PhysFixed, Align: 'd', Category: 'T', Preferred: true, Kind: 'b', Elem: 0, Array: IntervalArray, Delim: ','},
	{OID: IntervalArray, Name: "_interval", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Interval, Array: 0, Delim: ','},
	{OID: NumericArray, Name: "_numeric", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Numeric, Array: 0, Delim: ','},
	{OID: CstringArray, Name: "_cstring", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Cstring, Array: 0, Delim: ','},
	{OID: Timetz, Name: "timetz", Len: 12, Phys: PhysFixed, Align: 'd', Category: 'D', Preferred: false, Kind: 'b', Elem: 0, Array: TimetzArray, Delim: ','},
	{OID: TimetzArray, Name: "_timetz", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Timetz, Array: 0, Delim: ','},
	{OID: Bit, Name: "bit", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'V', Preferred: false, Kind: 'b', Elem: 0, Array: BitArray, Delim: ','},
	{OID: BitArray, Name: "_bit", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Bit, Array: 0, Delim: ','},
	{OID: Varbit, Name: "varbit", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'V', Preferred: true, Kind: 'b', Elem: 0, Array: VarbitArray, Delim: ','},
	{OID: VarbitArray, Name: "_varbit", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Varbit, Array: 0, Delim: ','},
	{OID: Numeric, Name: "numeric", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: NumericArray, Delim: ','},
	{OID: Refcursor, Name: "refcursor", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: RefcursorArray, Delim: ','},
	{OID: RefcursorArray, Name: "_refcursor", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Refcursor, Array: 0, Delim: ','},
	{OID: Regprocedure, Name: "regprocedure", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegprocedureArray, Delim: ','},
	{OID: Regoper, Name: "regoper", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegoperArray, Delim: ','},
	{OID: Regoperator, Name: "regoperator", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegoperatorArray, Delim: ','},
	{OID: Regclass, Name: "regclass", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegclassArray, Delim: ','},
	{OID: Regtype, Name: "regtype", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegtypeArray, Delim: ','},
	{OID: RegprocedureArray, Name: "_regprocedure", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regprocedure, Array: 0, Delim: ','},
	{OID: RegoperArray, Name: "_regoper", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regoper, Array: 0, Delim: ','},
	{OID: RegoperatorArray, Name: "_regoperator", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regoperator, Array: 0, Delim: ','},
	{OID: RegclassArray, Name: "_regclass", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regclass, Array: 0, Delim: ','},
	{OID: RegtypeArray, Name: "_regtype", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regtype, Array: 0, Delim: ','},
	{OID: Record, Name: "record", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: RecordArray, Delim: ','},
	{OID: Cstring, Name: "cstring", Len: -2, Phys: PhysVarlena, Align: 'c', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: CstringArray, Delim: ','},
	{OID: Any, Name: "any", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: AnyArray, Name: "anyarray", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Void, Name: "void", Len: 4, Phys: PhysInt4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Trigger, Name: "trigger", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: LanguageHandler, Name: "language_handler", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Internal, Name: "internal", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: AnyElement, Name: "anyelement", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: RecordArray, Name: "_record", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: Record, Array: 0, Delim: ','},
	{OID: AnyNonArray, Name: "anynonarray", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: TxidSnapshotArray, Name: "_txid_snapshot", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: TxidSnapshot, Array: 0, Delim: ','},
	{OID: Uuid, Name: "uuid", Len: 16, Phys: PhysFixed, Align: 'c', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: UuidArray, Delim: ','},
	{OID: UuidArray, Name: "_uuid", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Uuid, Array: 0, Delim: ','},
	{OID: TxidSnapshot, Name: "txid_snapshot", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: TxidSnapshotArray, Delim: ','},
	{OID: FdwHandler, Name: "fdw_handler", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: PgLsn, Name: "pg_lsn", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: PgLsnArray, Delim: ','},
	{OID: PgLsnArray, Name: "_pg_lsn", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: PgLsn, Array: 0, Delim: ','},
	{OID: TsmHandler, Name: "tsm_handler", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: PgNdistinct, Name: "pg_ndistinct", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'Z', Preferred: false, Kind: 'b', Elem: 0, Array: 0, Delim: ','},
	{OID: PgDependencies, Name: "pg_dependencies", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'Z', Preferred: false, Kind: 'b', Elem: 0, Array: 0, Delim: ','},
	{OID: AnyEnum, Name: "anyenum", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Tsvector, Name: "tsvector", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: TsvectorArray, Delim: ','},
	{OID: Tsquery, Name: "tsquery", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: TsqueryArray, Delim: ','},
	{OID: Gtsvector, Name: "gtsvector", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: GtsvectorArray, Delim: ','},
	{OID: TsvectorArray, Name: "_tsvector", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Tsvector, Array: 0, Delim: ','},
	{OID: GtsvectorArray, Name: "_gtsvector", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Gtsvector, Array: 0, Delim: ','},
	{OID: TsqueryArray, Name: "_tsquery", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Tsquery, Array: 0, Delim: ','},
	{OID: Regconfig, Name: "regconfig", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegconfigArray, Delim: ','},
	{OID: RegconfigArray, Name: "_regconfig", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regconfig, Array: 0, Delim: ','},
	{OID: Regdictionary, Name: "regdictionary", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegdictionaryArray, Delim: ','},
	{OID: RegdictionaryArray, Name: "_regdictionary", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regdictionary, Array: 0, Delim: ','},
	{OID: Jsonb, Name: "jsonb", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: JsonbArray, Delim: ','},
	{OID: JsonbArray, Name: "_jsonb", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Jsonb, Array: 0, Delim: ','},
	{OID: AnyRange, Name: "anyrange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: EventTrigger, Name: "event_trigger", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Int4range, Name: "int4range", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'R', Preferred: false, Kind: 'r', Elem: 0, Array: Int4rangeArray, Delim: ','},
	{OID: Int4rangeArray, Name: "_int4range", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Int4range, Array: 0, Delim: ','},
	{OID: Numrange, Name: "numrange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'R', Preferred: false, Kind: 'r', Elem: 0, Array: NumrangeArray, Delim: ','},
	{OID: NumrangeArray, Name: "_numrange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Numrange, Array: 0, Delim: ','},
	{OID: Tsrange, Name: "tsrange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'R', Preferred: false, Kind: 'r', Elem: 0, Array: TsrangeArray, Delim: ','},
	{OID: TsrangeArray, Name: "_tsrange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Tsrange, Array: 0, Delim: ','},
	{OID: Tstzrange, Name: "tstzrange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'R', Preferred: false, Kind: 'r', Elem: 0, Array: TstzrangeArray, Delim: ','},
	{OID: TstzrangeArray, Name: "_tstzrange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Tstzrange, Array: 0, Delim: ','},
	{OID: Daterange, Name: "daterange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'R', Preferred: false, Kind: 'r', Elem: 0, Array: DaterangeArray, Delim: ','},
	{OID: DaterangeArray, Name: "_daterange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Daterange, Array: 0, Delim: ','},
	{OID: Int8range, Name: "int8range", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'R', Preferred: false, Kind: 'r', Elem: 0, Array: Int8rangeArray, Delim: ','},
	{OID: Int8rangeArray, Name: "_int8range", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Int8range, Array: 0, Delim: ','},
	{OID: Jsonpath, Name: "jsonpath", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: JsonpathArray, Delim: ','},
	{OID: JsonpathArray, Name: "_jsonpath", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Jsonpath, Array: 0, Delim: ','},
	{OID: Regnamespace, Name: "regnamespace", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegnamespaceArray, Delim: ','},
	{OID: RegnamespaceArray, Name: "_regnamespace", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regnamespace, Array: 0, Delim: ','},
	{OID: Regrole, Name: "regrole", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegroleArray, Delim: ','},
	{OID: RegroleArray, Name: "_regrole", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regrole, Array: 0, Delim: ','},
	{OID: Regcollation, Name: "regcollation", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'N', Preferred: false, Kind: 'b', Elem: 0, Array: RegcollationArray, Delim: ','},
	{OID: RegcollationArray, Name: "_regcollation", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Regcollation, Array: 0, Delim: ','},
	{OID: Int4multirange, Name: "int4multirange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'R', Preferred: false, Kind: 'm', Elem: 0, Array: Int4multirangeArray, Delim: ','},
	{OID: Nummultirange, Name: "nummultirange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'R', Preferred: false, Kind: 'm', Elem: 0, Array: NummultirangeArray, Delim: ','},
	{OID: Tsmultirange, Name: "tsmultirange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'R', Preferred: false, Kind: 'm', Elem: 0, Array: TsmultirangeArray, Delim: ','},
	{OID: Tstzmultirange, Name: "tstzmultirange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'R', Preferred: false, Kind: 'm', Elem: 0, Array: TstzmultirangeArray, Delim: ','},
	{OID: Datemultirange, Name: "datemultirange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'R', Preferred: false, Kind: 'm', Elem: 0, Array: DatemultirangeArray, Delim: ','},
	{OID: Int8multirange, Name: "int8multirange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'R', Preferred: false, Kind: 'm', Elem: 0, Array: Int8multirangeArray, Delim: ','},
	{OID: AnyMultirange, Name: "anymultirange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: AnyCompatibleMultirange, Name: "anycompatiblemultirange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: PgBrinBloomSummary, Name: "pg_brin_bloom_summary", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'Z', Preferred: false, Kind: 'b', Elem: 0, Array: 0, Delim: ','},
	{OID: PgBrinMinmaxMultiSummary, Name: "pg_brin_minmax_multi_summary", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'Z', Preferred: false, Kind: 'b', Elem: 0, Array: 0, Delim: ','},
	{OID: PgMcvList, Name: "pg_mcv_list", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'Z', Preferred: false, Kind: 'b', Elem: 0, Array: 0, Delim: ','},
	{OID: PgSnapshot, Name: "pg_snapshot", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: PgSnapshotArray, Delim: ','},
	{OID: PgSnapshotArray, Name: "_pg_snapshot", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: PgSnapshot, Array: 0, Delim: ','},
	{OID: Xid8, Name: "xid8", Len: 8, Phys: PhysWord8, Align: 'd', Category: 'U', Preferred: false, Kind: 'b', Elem: 0, Array: Xid8Array, Delim: ','},
	{OID: AnyCompatible, Name: "anycompatible", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: AnyCompatibleArray, Name: "anycompatiblearray", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: AnyCompatibleNonArray, Name: "anycompatiblenonarray", Len: 4, Phys: PhysUint4, Align: 'i', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: AnyCompatibleRange, Name: "anycompatiblerange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'P', Preferred: false, Kind: 'p', Elem: 0, Array: 0, Delim: ','},
	{OID: Int4multirangeArray, Name: "_int4multirange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Int4multirange, Array: 0, Delim: ','},
	{OID: NummultirangeArray, Name: "_nummultirange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Nummultirange, Array: 0, Delim: ','},
	{OID: TsmultirangeArray, Name: "_tsmultirange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Tsmultirange, Array: 0, Delim: ','},
	{OID: TstzmultirangeArray, Name: "_tstzmultirange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Tstzmultirange, Array: 0, Delim: ','},
	{OID: DatemultirangeArray, Name: "_datemultirange", Len: -1, Phys: PhysVarlena, Align: 'i', Category: 'A', Preferred: false, Kind: 'b', Elem: Datemultirange, Array: 0, Delim: ','},
	{OID: Int8multirangeArray, Name: "_int8multirange", Len: -1, Phys: PhysVarlena, Align: 'd', Category: 'A', Preferred: false, Kind: 'b', Elem: Int8multirange, Array: 0, Delim: ','},
}

const maxBuiltinType = 6157

// builtinIndex maps an OID to its place in builtinTypes; 0 is none.
var builtinIndex = [maxBuiltinType + 1]uint8{
	Bool:                     1,
	Bytea:                    2,
	Char:                     3,
	Name:                     4,
	Int8:                     5,
	Int2:                     6,
	Int2vector:               7,
	Int4:                     8,
	Regproc:                  9,
	Text:                     10,
	Oid:                      11,
	Tid:                      12,
	Xid:                      13,
	Cid:                      14,
	Oidvector:                15,
	PgDdlCommand:             16,
	Json:                     17,
	Xml:                      18,
	XmlArray:                 19,
	PgNodeTree:               20,
	JsonArray:                21,
	TableAmHandler:           22,
	Xid8Array:                23,
	IndexAmHandler:           24,
	Point:                    25,
	Lseg:                     26,
	Path:                     27,
	Box:                      28,
	Polygon:                  29,
	Line:                     30,
	LineArray:                31,
	Cidr:                     32,
	CidrArray:                33,
	Float4:                   34,
	Float8:                   35,
	Unknown:                  36,
	Circle:                   37,
	CircleArray:              38,
	Macaddr8:                 39,
	Macaddr8Array:            40,
	Money:                    41,
	MoneyArray:               42,
	Macaddr:                  43,
	Inet:                     44,
	BoolArray:                45,
	ByteaArray:               46,
	CharArray:                47,
	NameArray:                48,
	Int2Array:                49,
	Int2vectorArray:          50,
	Int4Array:                51,
	RegprocArray:             52,
	TextArray:                53,
	TidArray:                 54,
	XidArray:                 55,
	CidArray:                 56,
	OidvectorArray:           57,
	BpcharArray:              58,
	VarcharArray:             59,
	Int8Array:                60,
	PointArray:               61,
	LsegArray:                62,
	PathArray:                63,
	BoxArray:                 64,
	Float4Array:              65,
	Float8Array:              66,
	PolygonArray:             67,
	OidArray:                 68,
	Aclitem:                  69,
	AclitemArray:             70,
	MacaddrArray:             71,
	InetArray:                72,
	Bpchar:                   73,
	Varchar:                  74,
	Date:                     75,
	Time:                     76,
	Timestamp:                77,
	TimestampArray:           78,
	DateArray:                79,
	TimeArray:                80,
	Timestamptz:              81,
	TimestamptzArray:         82,
	Interval:                 83,
	IntervalArray:            84,
	NumericArray:             85,
	CstringArray:             86,
	Timetz:                   87,
	TimetzArray:              88,
	Bit:                      89,
	BitArray:                 90,
	Varbit:                   91,
	VarbitArray:              92,
	Numeric:                  93,
	Refcursor:                94,
	RefcursorArray:           95,
	Regprocedure:             96,
	Regoper:                  97,
	Regoperator:              98,
	Regclass:                 99,
	Regtype:                  100,
	RegprocedureArray:        101,
	RegoperArray:             102,
	RegoperatorArray:         103,
	RegclassArray:            104,
	RegtypeArray:             105,
	Record:                   106,
	Cstring:                  107,
	Any:                      108,
	AnyArray:                 109,
	Void:                     110,
	Trigger:                  111,
	LanguageHandler:          112,
	Internal:                 113,
	AnyElement:               114,
	RecordArray:              115,
	AnyNonArray:              116,
	TxidSnapshotArray:        117,
	Uuid:                     118,
	UuidArray:                119,
	TxidSnapshot:             120,
	FdwHandler:               121,
	PgLsn:                    122,
	PgLsnArray:               123,
	TsmHandler:               124,
	PgNdistinct:              125,
	PgDependencies:           126,
	AnyEnum:                  127,
	Tsvector:                 128,
	Tsquery:                  129,
	Gtsvector:                130,
	TsvectorArray:            131,
	GtsvectorArray:           132,
	TsqueryArray:             133,
	Regconfig:                134,
	RegconfigArray:           135,
	Regdictionary:            136,
	RegdictionaryArray:       137,
	Jsonb:                    138,
	JsonbArray:               139,
	AnyRange:                 140,
	EventTrigger:             141,
	Int4range:                142,
	Int4rangeArray:           143,
	Numrange:                 144,
	NumrangeArray:            145,
	Tsrange:                  146,
	TsrangeArray:             147,
	Tstzrange:                148,
	TstzrangeArray:           149,
	Daterange:                150,
	DaterangeArray:           151,
	Int8range:                152,
	Int8rangeArray:           153,
	Jsonpath:                 154,
	JsonpathArray:            155,
	Regnamespace:             156,
	RegnamespaceArray:        157,
	Regrole:                  158,
	RegroleArray:             159,
	Regcollation:             160,
	RegcollationArray:        161,
	Int4multirange:           162,
	Nummultirange:            163,
	Tsmultirange:             164,
	Tstzmultirange:           165,
	Datemultirange:           166,
	Int8multirange:           167,
	AnyMultirange:            168,
	AnyCompatibleMultirange:  169,
	PgBrinBloomSummary:       170,
	PgBrinMinmaxMultiSummary: 171,
	PgMcvList:                172,
	PgSnapshot:               173,
	PgSnapshotArray:          174,
	Xid8:                     175,
	AnyCompatible:            176,
	AnyCompatibleArray:       177,
	AnyCompatibleNonArray:    178,
	AnyCompatibleRange:       179,
	Int4multirangeArray:      180,
	NummultirangeArray:       181,
	TsmultirangeArray:        182,
	TstzmultirangeArray:      183,
	DatemultirangeArray:      184,
	Int8multirangeArray:      185,
}
