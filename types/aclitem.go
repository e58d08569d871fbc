package types

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/minipg/minipg/pgerr"
)

// An aclitem is 12 bytes: grantee (0 is PUBLIC) and grantor, then the privileges, with the grant
// options in the upper half, all little-endian.
const aclLetters = "arwdDxtXUCTcsA"

// defaultGrantor stands where the text names none: the bootstrap superuser.
const defaultGrantor OID = 10

func aclitemIn(s []byte, env *Env) (Datum, error) {
	text := string(s)
	who, rest, err := aclName(text)
	if err != nil {
		return Datum{}, err
	}
	if (who == "group" || who == "user") && strings.HasPrefix(rest, " ") {
		if who, rest, err = aclName(strings.TrimLeft(rest, " ")); err != nil {
			return Datum{}, err
		}
	} else {
		rest = strings.TrimLeft(rest, " ")
	}
	if !strings.HasPrefix(rest, "=") {
		return Datum{}, pgerr.New(pgerr.InvalidTextRepresentation, "missing \"=\" sign")
	}
	rest = rest[1:]
	var bits uint32
	last := -1
	for rest != "" && rest[0] != '/' && rest[0] != ' ' {
		if rest[0] == '*' {
			if last >= 0 {
				bits |= 1 << (last + 16)
			}
		} else if last = strings.IndexByte(aclLetters, rest[0]); last >= 0 {
			bits |= 1 << last
		} else {
			return Datum{}, pgerr.New(pgerr.InvalidTextRepresentation, "invalid mode character: must be one of \"%s\"", aclLetters)
		}
		rest = rest[1:]
	}
	grantee := OID(0)
	if who != "" {
		if grantee, err = aclRole(who, env); err != nil {
			return Datum{}, err
		}
	}
	grantor := defaultGrantor
	if strings.HasPrefix(rest, "/") {
		var by string
		if by, rest, err = aclName(rest[1:]); err != nil {
			return Datum{}, err
		}
		if by == "" {
			return Datum{}, pgerr.New(pgerr.InvalidTextRepresentation, "a name must follow the \"/\" sign")
		}
		if grantor, err = aclRole(by, env); err != nil {
			return Datum{}, err
		}
	}
	if strings.TrimSpace(rest) != "" {
		return Datum{}, pgerr.New(pgerr.InvalidTextRepresentation, "extra garbage at the end of the ACL specification")
	}
	b := make([]byte, 12)
	binary.LittleEndian.PutUint32(b, uint32(grantee))
	binary.LittleEndian.PutUint32(b[4:], uint32(grantor))
	binary.LittleEndian.PutUint32(b[8:], bits)
	return Datum{B: b}, nil
}

// aclName reads a name that may be quoted off the front.
func aclName(s string) (name, rest string, err error) {
	var b strings.Builder
	quoted := false
	s = strings.TrimLeft(s, " ")
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		if c == '"' {
			if quoted && i+1 < len(s) && s[i+1] == '"' {
				b.WriteByte(c)
				i++
				continue
			}
			quoted = !quoted
			continue
		}
		if !quoted && !aclSafe(c) {
			break
		}
		b.WriteByte(c)
	}
	if quoted {
		return "", "", pgerr.New(pgerr.InvalidTextRepresentation, "unterminated quoted name")
	}
	return b.String(), s[i:], nil
}

func aclSafe(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func aclRole(name string, env *Env) (OID, error) {
	if env == nil || env.Names == nil {
		return 0, pgerr.New(pgerr.UndefinedObject, "role \"%s\" does not exist", name)
	}
	return env.Names.RegIn(Regrole, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`)
}

func aclitemOut(d Datum, dst []byte, env *Env) []byte {
	if len(d.B) != 12 {
		return dst
	}
	if grantee := OID(binary.LittleEndian.Uint32(d.B)); grantee != 0 {
		dst = appendACLRole(dst, grantee, env)
	}
	dst = append(dst, '=')
	bits := binary.LittleEndian.Uint32(d.B[8:])
	for i := range len(aclLetters) {
		if bits&(1<<i) == 0 {
			continue
		}
		dst = append(dst, aclLetters[i])
		if bits&(1<<(i+16)) != 0 {
			dst = append(dst, '*')
		}
	}
	dst = append(dst, '/')
	return appendACLRole(dst, OID(binary.LittleEndian.Uint32(d.B[4:])), env)
}

// appendACLRole writes a role's name with quotes only around what aclitem cannot read bare, which is
// less than what SQL quotes; a dropped role by its number.
func appendACLRole(dst []byte, role OID, env *Env) []byte {
	if env != nil && env.Names != nil {
		if name, ok := env.Names.RegOut(Regrole, role); ok {
			if len(name) > 1 && name[0] == '"' {
				name = strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
			}
			for i := range len(name) {
				if !aclSafe(name[i]) {
					dst = append(dst, '"')
					dst = append(dst, strings.ReplaceAll(name, `"`, `""`)...)
					return append(dst, '"')
				}
			}
			return append(dst, name...)
		}
	}
	return strconv.AppendUint(dst, uint64(role), 10)
}
