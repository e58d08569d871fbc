package types

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

func isSpace(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

func trimSpace(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func errSyntax(typ string, s []byte) error {
	return pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", typ, s)
}

func errRange(typ string, s []byte) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value \"%s\" is out of range for type %s", s, typ)
}

func errBinary(format string, args ...any) error {
	return pgerr.New(pgerr.InvalidBinaryRepresentation, format, args...)
}

// parseInt follows pg_strtoint32 and its brothers of PostgreSQL 15: decimal only, white space around.
func parseInt(s []byte, bits uint, typ string) (int64, error) {
	t := trimSpace(s)
	neg := false
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		neg = t[0] == '-'
		t = t[1:]
	}
	if len(t) == 0 {
		return 0, errSyntax(typ, s)
	}
	limit := uint64(1) << (bits - 1)
	var v uint64
	for _, c := range t {
		d := uint64(c - '0')
		if d > 9 {
			return 0, errSyntax(typ, s)
		}
		// The range is checked first, as PostgreSQL does, whatever follows.
		if v > limit/10 {
			return 0, errRange(typ, s)
		}
		if v = v*10 + d; v > limit {
			return 0, errRange(typ, s)
		}
	}
	if v == limit && !neg {
		return 0, errRange(typ, s)
	}
	if neg {
		return -int64(v), nil
	}
	return int64(v), nil
}

func parseBool(s []byte) (bool, error) {
	t := trimSpace(s)
	switch len(t) {
	case 0:
		return false, errSyntax("boolean", s)
	case 1:
		if t[0] == '1' {
			return true, nil
		}
		if t[0] == '0' {
			return false, nil
		}
	}
	switch t[0] | 0x20 {
	case 't':
		if foldPrefix(t, "true") {
			return true, nil
		}
	case 'f':
		if foldPrefix(t, "false") {
			return false, nil
		}
	case 'y':
		if foldPrefix(t, "yes") {
			return true, nil
		}
	case 'n':
		if foldPrefix(t, "no") {
			return false, nil
		}
	case 'o':
		if len(t) == 2 && foldPrefix(t, "on") {
			return true, nil
		}
		if len(t) >= 2 && foldPrefix(t, "off") {
			return false, nil
		}
	}
	return false, errSyntax("boolean", s)
}

// foldPrefix reports whether t, in any case of ASCII letters, is a prefix of word.
func foldPrefix(t []byte, word string) bool {
	if len(t) > len(word) {
		return false
	}
	for i, c := range t {
		if lower(c) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// strtoul is C's for base 10, or with base 0 any base by prefix: the value, the bytes used (0: none) and overflow.
func strtoul(s []byte, base int) (v uint64, used int, over bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	neg := false
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		neg = s[i] == '-'
		i++
	}
	if base == 0 {
		base = 10
		if i < len(s) && s[i] == '0' {
			base = 8
			if i+2 < len(s) && s[i+1]|0x20 == 'x' && hexDigit(s[i+2]) >= 0 {
				base = 16
				i += 2
			}
		}
	}
	start := i
	for i < len(s) {
		d := hexDigit(s[i])
		if d < 0 || d >= base {
			break
		}
		hi := v
		v = v*uint64(base) + uint64(d)
		if hi > (math.MaxUint64-uint64(d))/uint64(base) {
			over = true
		}
		i++
	}
	if i == start {
		return 0, 0, false
	}
	if neg {
		v = -v
	}
	return v, i, over
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// parseOid follows oidin: a negative number wraps around if it fits in 32 bits.
func parseOid(s []byte) (uint32, error) {
	v, used, over := strtoul(s, 10)
	if used == 0 {
		return 0, errSyntax("oid", s)
	}
	if over {
		return 0, errRange("oid", s)
	}
	for _, c := range s[used:] {
		if !isSpace(c) {
			return 0, errSyntax("oid", s)
		}
	}
	if (v > math.MaxUint32 && int64(v) < math.MinInt32) || (v > math.MaxUint32 && int64(v) > 0) {
		return 0, errRange("oid", s)
	}
	return uint32(v), nil
}

func parseReg(typ OID, s []byte, env *Env) (Datum, error) {
	if len(s) == 1 && s[0] == '-' {
		return Datum{}, nil
	}
	if len(s) > 0 && allDigits(s) {
		v, err := parseOid(s)
		return OIDDatum(OID(v)), err
	}
	if env == nil || env.Names == nil {
		return Datum{}, pgerr.New(pgerr.FeatureNotSupported, "names of type %s are not available here", Builtin(typ).Name)
	}
	oid, err := env.Names.RegIn(typ, string(s))
	return OIDDatum(oid), err
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func outReg(typ OID, d Datum, dst []byte, env *Env) []byte {
	if d.W == 0 {
		if typ == Regoper || typ == Regoperator {
			return append(dst, '0')
		}
		return append(dst, '-')
	}
	if env != nil && env.Names != nil {
		if name, ok := env.Names.RegOut(typ, OID(d.W)); ok {
			return append(dst, name...)
		}
	}
	return strconv.AppendUint(dst, d.W, 10)
}

// TidDatum makes a tid: the block big-endian, then the offset.
func TidDatum(block uint32, offset uint16) Datum {
	b := make([]byte, 0, 6)
	b = binary.BigEndian.AppendUint32(b, block)
	return Datum{B: binary.BigEndian.AppendUint16(b, offset)}
}

// Tid takes a tid apart.
func (d Datum) Tid() (block uint32, offset uint16) {
	return binary.BigEndian.Uint32(d.B), binary.BigEndian.Uint16(d.B[4:])
}

func parseTid(s []byte) (Datum, error) {
	open := -1
	for i, c := range s {
		if c == '(' {
			open = i
			break
		}
	}
	if open < 0 {
		return Datum{}, errSyntax("tid", s)
	}
	rest := s[open+1:]
	block, used, over := strtoul(rest, 10)
	// A negative block number wraps around, as in tidin.
	if over || (block > math.MaxUint32 && int64(block) < math.MinInt32) || (block > math.MaxUint32 && int64(block) > 0) ||
		used >= len(rest) || rest[used] != ',' {
		return Datum{}, errSyntax("tid", s)
	}
	rest = rest[used+1:]
	off, used, over := strtoul(rest, 10)
	if over || off > math.MaxUint16 || used >= len(rest) || rest[used] != ')' {
		return Datum{}, errSyntax("tid", s)
	}
	return TidDatum(uint32(block), uint16(off)), nil
}

func outTid(d Datum, dst []byte) []byte {
	block, offset := d.Tid()
	dst = append(dst, '(')
	dst = strconv.AppendUint(dst, uint64(block), 10)
	dst = append(dst, ',')
	dst = strconv.AppendUint(dst, uint64(offset), 10)
	return append(dst, ')')
}

func parseLSN(s []byte) (uint64, error) {
	hex := func(t []byte) int {
		n := 0
		for n < len(t) && hexDigit(t[n]) >= 0 {
			n++
		}
		return n
	}
	n1 := hex(s)
	if n1 < 1 || n1 > 8 || n1 >= len(s) || s[n1] != '/' {
		return 0, errSyntax("pg_lsn", s)
	}
	n2 := hex(s[n1+1:])
	if n2 < 1 || n2 > 8 || n1+1+n2 != len(s) {
		return 0, errSyntax("pg_lsn", s)
	}
	var v [2]uint64
	for _, c := range s[:n1] {
		v[0] = v[0]<<4 | uint64(hexDigit(c))
	}
	for _, c := range s[n1+1:] {
		v[1] = v[1]<<4 | uint64(hexDigit(c))
	}
	return v[0]<<32 | v[1], nil
}

func outLSN(v uint64, dst []byte) []byte {
	dst = appendHexUpper(dst, v>>32)
	dst = append(dst, '/')
	return appendHexUpper(dst, v&math.MaxUint32)
}

func appendHexUpper(dst []byte, v uint64) []byte {
	at := len(dst)
	dst = strconv.AppendUint(dst, v, 16)
	for i := at; i < len(dst); i++ {
		dst[i] = upper(dst[i])
	}
	return dst
}

func parseUUID(s []byte) (Datum, error) {
	src := s
	braces := len(src) > 0 && src[0] == '{'
	if braces {
		src = src[1:]
	}
	out := make([]byte, 16)
	for i := range out {
		if len(src) < 2 {
			return Datum{}, errSyntax("uuid", s)
		}
		hi, lo := hexDigit(src[0]), hexDigit(src[1])
		if hi < 0 || lo < 0 {
			return Datum{}, errSyntax("uuid", s)
		}
		out[i] = byte(hi<<4 | lo)
		src = src[2:]
		if len(src) > 0 && src[0] == '-' && i%2 == 1 && i < 15 {
			src = src[1:]
		}
	}
	if braces {
		if len(src) == 0 || src[0] != '}' {
			return Datum{}, errSyntax("uuid", s)
		}
		src = src[1:]
	}
	if len(src) != 0 {
		return Datum{}, errSyntax("uuid", s)
	}
	return Datum{B: out}, nil
}

const hexLower = "0123456789abcdef"

func appendHex(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, hexLower[c>>4], hexLower[c&15])
	}
	return dst
}

func outUUID(b, dst []byte) []byte {
	dst = appendHex(dst, b[:4])
	for i := 4; i < 10; i += 2 {
		dst = append(dst, '-')
		dst = appendHex(dst, b[i:i+2])
	}
	dst = append(dst, '-')
	return appendHex(dst, b[10:])
}
