package types

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
)

// NameMax is the longest name in bytes; longer ones are cut at a character.
const NameMax = 63

// maxCharLen is the largest n of char(n) and varchar(n).
const maxCharLen = 10485760

// TruncateName cuts a name to NameMax bytes at a character boundary.
func TruncateName(b []byte) []byte {
	if len(b) <= NameMax {
		return b
	}
	n := NameMax
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// charPrefix returns how many bytes the first n characters take, and how many characters there are up to n.
func charPrefix(b []byte, n int) (bytes, chars int) {
	for bytes+8 <= len(b) && chars+8 <= n {
		if binary.NativeEndian.Uint64(b[bytes:])&0x8080808080808080 != 0 {
			break
		}
		bytes, chars = bytes+8, chars+8
	}
	for bytes < len(b) && chars < n {
		if b[bytes] < utf8.RuneSelf {
			bytes++
		} else {
			_, k := utf8.DecodeRune(b[bytes:])
			bytes += k
		}
		chars++
	}
	return bytes, chars
}

func onlySpaces(b []byte) bool {
	for _, c := range b {
		if c != ' ' {
			return false
		}
	}
	return true
}

// varcharLimit cuts b to n characters: silently if explicit or if only spaces are lost.
func varcharLimit(b []byte, n int, explicit bool) ([]byte, error) {
	if len(b) <= n {
		return b, nil
	}
	k, _ := charPrefix(b, n)
	if k == len(b) {
		return b, nil
	}
	if !explicit && !onlySpaces(b[k:]) {
		return nil, pgerr.New(pgerr.StringDataRightTruncation, "value too long for type character varying(%d)", n)
	}
	return b[:k], nil
}

// bpcharLimit pads or cuts b to n characters.
func bpcharLimit(b []byte, n int, explicit bool) ([]byte, error) {
	k, chars := charPrefix(b, n)
	if k < len(b) {
		if !explicit && !onlySpaces(b[k:]) {
			return nil, pgerr.New(pgerr.StringDataRightTruncation, "value too long for type character(%d)", n)
		}
		return b[:k], nil
	}
	if chars == n {
		return b, nil
	}
	out := make([]byte, len(b)+n-chars)
	copy(out, b)
	for i := len(b); i < len(out); i++ {
		out[i] = ' '
	}
	return out, nil
}

// TrimBpchar removes the trailing spaces that do not count in a char(n).
func TrimBpchar(b []byte) []byte {
	n := len(b)
	for n > 0 && b[n-1] == ' ' {
		n--
	}
	return b[:n]
}

// parseChar follows charin: \ooo is a byte, else the first byte counts.
func parseChar(s []byte) byte {
	octal := func(c byte) bool { return c >= '0' && c <= '7' }
	if len(s) == 4 && s[0] == '\\' && octal(s[1]) && octal(s[2]) && octal(s[3]) {
		return (s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0')
	}
	if len(s) == 0 {
		return 0
	}
	return s[0]
}

func outChar(c byte, dst []byte) []byte {
	switch {
	case c >= utf8.RuneSelf:
		return append(dst, '\\', c>>6+'0', c>>3&7+'0', c&7+'0')
	case c == 0:
		return dst
	}
	return append(dst, c)
}

func parseBytea(s []byte) (Datum, error) {
	if len(s) >= 2 && s[0] == '\\' && s[1] == 'x' {
		out, err := DecodeHex(s[2:])
		return Datum{B: out}, err
	}
	escapes := false
	for _, c := range s {
		if c == '\\' {
			escapes = true
			break
		}
	}
	if !escapes {
		return Datum{B: s}, nil
	}
	out := make([]byte, 0, len(s))
	octal := func(c byte) bool { return c >= '0' && c <= '7' }
	for i := 0; i < len(s); {
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
			i++
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && octal(s[i+2]) && octal(s[i+3]):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 4
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i += 2
		default:
			return Datum{}, pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return Datum{B: out}, nil
}

// DecodeHex is decode(s, 'hex'): digits in pairs with white space between them.
func DecodeHex(s []byte) ([]byte, error) {
	out := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); {
		if s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r' {
			i++
			continue
		}
		hi, err := hexNibble(s[i:])
		if err != nil {
			return nil, err
		}
		i++
		if i >= len(s) {
			return nil, pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		lo, err := hexNibble(s[i:])
		if err != nil {
			return nil, err
		}
		i++
		out = append(out, byte(hi<<4|lo))
	}
	return out, nil
}

func hexNibble(s []byte) (int, error) {
	d := hexDigit(s[0])
	if d < 0 {
		_, n := utf8.DecodeRune(s)
		return 0, pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[:n])
	}
	return d, nil
}

func outBytea(b, dst []byte, escape bool) []byte {
	if !escape {
		return appendHex(append(dst, '\\', 'x'), b)
	}
	for _, c := range b {
		switch {
		case c == '\\':
			dst = append(dst, '\\', '\\')
		case c < 0x20 || c > 0x7e:
			dst = append(dst, '\\', c>>6+'0', c>>3&7+'0', c&7+'0')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// BitDatum makes a bit or varbit of n bits, the first in the high bit of b[0].
func BitDatum(n int, b []byte) Datum {
	out := make([]byte, 0, 4+len(b))
	out = binary.BigEndian.AppendUint32(out, uint32(n))
	return Datum{B: append(out, b...)}
}

// Bits takes a bit string apart.
func (d Datum) Bits() (n int, b []byte) {
	return int(binary.BigEndian.Uint32(d.B)), d.B[4:]
}

func parseBits(typ OID, typmod int32, s []byte) (Datum, error) {
	t, per := s, 1
	if len(t) > 0 {
		switch t[0] {
		case 'b', 'B':
			t = t[1:]
		case 'x', 'X':
			t, per = t[1:], 4
		}
	}
	n := len(t) * per
	if err := checkBitLen(typ, typmod, n, false); err != nil {
		return Datum{}, err
	}
	b := make([]byte, (n+7)/8)
	for i, c := range t {
		if per == 1 {
			if c != '0' && c != '1' {
				return Datum{}, errBitDigit(t[i:], "binary")
			}
			b[i/8] |= (c - '0') << (7 - i%8)
			continue
		}
		d := hexDigit(c)
		if d < 0 {
			return Datum{}, errBitDigit(t[i:], "hexadecimal")
		}
		b[i/2] |= byte(d) << (4 * (1 - i%2))
	}
	return BitDatum(n, b), nil
}

func errBitDigit(rest []byte, base string) error {
	_, n := utf8.DecodeRune(rest)
	return pgerr.New(pgerr.InvalidTextRepresentation, "\"%s\" is not a valid %s digit", rest[:n], base)
}

func checkBitLen(typ OID, typmod int32, n int, explicit bool) error {
	if typmod <= 0 || explicit {
		return nil
	}
	if typ == Bit && n != int(typmod) {
		return pgerr.New(pgerr.StringDataLengthMismatch, "bit string length %d does not match type bit(%d)", n, typmod)
	}
	if typ == Varbit && n > int(typmod) {
		return pgerr.New(pgerr.StringDataRightTruncation, "bit string too long for type bit varying(%d)", typmod)
	}
	return nil
}

// bitsToLen cuts to, or for bit pads with zeros to, the length of the modifier.
func bitsToLen(typ OID, typmod int32, d Datum, explicit bool) (Datum, error) {
	n, b := d.Bits()
	want := int(typmod)
	if typmod <= 0 || n == want || (typ == Varbit && n < want) {
		return d, nil
	}
	if err := checkBitLen(typ, typmod, n, explicit); err != nil {
		return Datum{}, err
	}
	out := make([]byte, (want+7)/8)
	copy(out, b)
	if want < n && want%8 != 0 {
		out[len(out)-1] &= 0xFF << (8 - want%8)
	}
	return BitDatum(want, out), nil
}

func outBits(d Datum, dst []byte) []byte {
	n, b := d.Bits()
	for i := range n {
		dst = append(dst, b[i/8]>>(7-i%8)&1+'0')
	}
	return dst
}
