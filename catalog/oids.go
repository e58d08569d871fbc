package catalog

// OIDs that code names. All others come from the rows.
const (
	// FirstNormalOID is the first OID of user objects.
	FirstNormalOID OID = 16384
	// FirstUnpinnedOID: objects below cannot be dropped, and dependencies on them are not recorded.
	FirstUnpinnedOID OID = 12000
	// FirstOwnOID to LastOwnOID are those of built-in objects that PostgreSQL has not.
	FirstOwnOID OID = 9000
	LastOwnOID  OID = 9999

	NamespacePgCatalog OID = 11
	NamespacePgToast   OID = 99
	NamespacePublic    OID = 2200
	BootstrapRole      OID = 10
	DatabaseTemplate1  OID = 1
	DatabaseTemplate0  OID = 4
	DatabasePostgres   OID = 5
	TablespaceDefault  OID = 1663
	TablespaceGlobal   OID = 1664
	AMHeap             OID = 2
	AMBtree            OID = 403
	AMHash             OID = 405
	AMGist             OID = 783
	AMGin              OID = 2742
	AMSpgist           OID = 4000
	AMBrin             OID = 3580
	LanguageInternal   OID = 12
	LanguageC          OID = 13
	LanguageSQL        OID = 14
	CollationDefault   OID = 100
	CollationC         OID = 950
	CollationPosix     OID = 951
	procArraySubscript OID = 6179
)
