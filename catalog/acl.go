package catalog

import (
	"strings"

	"github.com/minipg/minipg/pgerr"
)

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

// FormatACLItem writes one item as aclitemout does.
func FormatACLItem(a ACLItem, roleName func(OID) string) string {
	var b strings.Builder
	if a.Grantee != 0 {
		b.WriteString(quoteACLName(roleName(a.Grantee)))
	}
	b.WriteByte('=')
	for i := range aclLetters {
		if a.Privs&(1<<i) != 0 {
			b.WriteByte(aclLetters[i])
			if a.GrantOpts&(1<<i) != 0 {
				b.WriteByte('*')
			}
		}
	}
	b.WriteByte('/')
	b.WriteString(quoteACLName(roleName(a.Grantor)))
	return b.String()
}

func quoteACLName(s string) string {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c < 0x80 {
			return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
	}
	return s
}

// ParseACLItem reads what FormatACLItem writes; roleOID resolves names.
func ParseACLItem(s string, roleOID func(string) (OID, error)) (ACLItem, error) {
	var a ACLItem
	who, rest, err := aclName(s)
	if err != nil {
		return a, err
	}
	// The keywords group and user may stand before the name.
	if (who == "group" || who == "user") && strings.HasPrefix(rest, " ") {
		if who, rest, err = aclName(strings.TrimLeft(rest, " ")); err != nil {
			return a, err
		}
	}
	if !strings.HasPrefix(rest, "=") {
		return a, pgerr.New(pgerr.InvalidTextRepresentation, "missing \"=\" sign")
	}
	if who != "" {
		if a.Grantee, err = roleOID(who); err != nil {
			return a, err
		}
	}
	rest = rest[1:]
	last := -1
	for rest != "" && rest[0] != '/' && rest[0] != ' ' {
		if rest[0] == '*' {
			if last >= 0 {
				a.GrantOpts |= 1 << last
			}
		} else {
			last = strings.IndexByte(aclLetters, rest[0])
			if last < 0 {
				return a, pgerr.New(pgerr.InvalidTextRepresentation,
					"invalid mode character: must be one of \"%s\"", aclLetters)
			}
			a.Privs |= 1 << last
		}
		rest = rest[1:]
	}
	if rest == "" || rest[0] != '/' {
		a.Grantor = BootstrapRole
		return a, nil
	}
	by, rest, err := aclName(rest[1:])
	if err != nil {
		return a, err
	}
	if by == "" {
		return a, pgerr.New(pgerr.InvalidTextRepresentation, "a name must follow the \"/\" sign")
	}
	if strings.TrimSpace(rest) != "" {
		return a, pgerr.New(pgerr.InvalidTextRepresentation, "extra garbage at the end of the ACL specification")
	}
	a.Grantor, err = roleOID(by)
	return a, err
}

func aclName(s string) (name, rest string, err error) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			b.WriteByte(c)
			i++
		case c == '"':
			quoted = !quoted
		case quoted || c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			b.WriteByte(c)
		default:
			return b.String(), s[i:], nil
		}
	}
	if quoted {
		return "", "", pgerr.New(pgerr.InvalidTextRepresentation, "unterminated quoted name")
	}
	return b.String(), "", nil
}
