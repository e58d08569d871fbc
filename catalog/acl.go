package catalog

// Privileges, as bits of ACLItem.
const (
	AclInsert uint32 = 1 << iota
	AclSelect
	AclUpdate
	AclDelete
	AclTruncate
	AclReferences
	AclTrigger
	AclExecute
	AclUsage
	AclCreate
	AclCreateTemp
	AclConnect
	AclSet
	AclAlterSystem
)

const aclLetters = "arwdDxtXUCTcsA"

// All privileges of each kind of object.
const (
	AclAllRelation   = AclInsert | AclSelect | AclUpdate | AclDelete | AclTruncate | AclReferences | AclTrigger
	AclAllSequence   = AclUsage | AclSelect | AclUpdate
	AclAllDatabase   = AclCreate | AclCreateTemp | AclConnect
	AclAllFunction   = AclExecute
	AclAllLanguage   = AclUsage
	AclAllSchema     = AclUsage | AclCreate
	AclAllTablespace = AclCreate
	AclAllType       = AclUsage
	AclAllColumn     = AclInsert | AclSelect | AclUpdate | AclReferences
)

// DefaultACL is acldefault(kind, owner): the privileges of an object whose acl is null. The kinds are those
// of acldefault: 'r' relation, 's' sequence, 'd' database, 'f' function, 'l' language, 'n' schema, 't' tablespace,
// 'T' type, 'c' column, 'L' large object, 'p' parameter, 'F' foreign-data wrapper, 'S' foreign server.
func DefaultACL(kind byte, owner OID) []ACLItem {
	var world, own uint32
	switch kind {
	case 'c':
	case 'r':
		own = AclAllRelation
	case 's':
		own = AclAllSequence
	case 'd':
		world, own = AclCreateTemp|AclConnect, AclAllDatabase
	case 'f':
		world, own = AclExecute, AclAllFunction
	case 'l':
		world, own = AclUsage, AclAllLanguage
	case 'L':
		own = AclSelect | AclUpdate
	case 'n':
		own = AclAllSchema
	case 't':
		own = AclAllTablespace
	case 'T':
		world, own = AclUsage, AclAllType
	case 'F', 'S':
		own = AclUsage
	case 'p':
		own = AclSet | AclAlterSystem
	}
	acl := []ACLItem{}
	if world != 0 {
		acl = append(acl, ACLItem{Grantor: owner, Privs: world})
	}
	if own != 0 {
		acl = append(acl, ACLItem{Grantee: owner, Grantor: owner, Privs: own})
	}
	return acl
}

// ACLPrivileges is what acl gives to the roles for which isMember holds, PUBLIC included.
func ACLPrivileges(acl []ACLItem, isMember func(role OID) bool) (privs, grantOpts uint32) {
	for _, a := range acl {
		if a.Grantee == 0 || isMember(a.Grantee) {
			privs |= a.Privs
			grantOpts |= a.GrantOpts
		}
	}
	return privs, grantOpts
}

// privilegeNames are the words of GRANT, in the order of the bits.
var privilegeNames = [...]string{
	"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "EXECUTE", "USAGE", "CREATE",
	"TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM",
}

// PrivilegeBit returns the bit of a privilege's name in upper case.
func PrivilegeBit(name string) (uint32, bool) {
	if name == "TEMP" {
		return AclCreateTemp, true
	}
	for i, n := range privilegeNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// PrivilegeName is the name of one privilege bit.
func PrivilegeName(bit uint32) string {
	for i, n := range privilegeNames {
		if bit == 1<<i {
			return n
		}
	}
	return ""
}
