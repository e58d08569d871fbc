package fn

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// base64Len is the length of n bytes so encoded, line breaks included.
func base64Len(n int) int { return (n+2)/3*4 + n/57 }

// encodeBase64 breaks lines after 76 characters, as PostgreSQL does.
func encodeBase64(b []byte) []byte {
	out := make([]byte, 0, base64Len(len(b)))
	line := 0
	for len(b) > 0 {
		n := min(len(b), 3)
		var v uint32
		for i := range 3 {
			v <<= 8
			if i < n {
				v |= uint32(b[i])
			}
		}
		for i := range 4 {
			if i <= n {
				out = append(out, base64Alphabet[v>>(18-6*i)&63])
			} else {
				out = append(out, '=')
			}
		}
		b = b[n:]
		if line += 4; line >= 76 && n == 3 {
			out = append(out, '\n')
			line = 0
		}
	}
	return out
}

func decodeBase64(b []byte) ([]byte, error) {
	out := make([]byte, 0, len(b)*3/4)
	var v uint32
	pos, end := 0, 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			continue
		}
		d := 0
		if c == '=' {
			if end == 0 {
				switch pos {
				case 2:
					end = 1
				case 3:
					end = 2
				default:
					return nil, errParameter("unexpected \"=\" while decoding base64 sequence")
				}
			}
		} else if d = bytes.IndexByte([]byte(base64Alphabet), c); d < 0 {
			_, n := utf8.DecodeRune(b[i:])
			return nil, errParameter("invalid symbol \"%s\" found while decoding base64 sequence", b[i:i+n])
		}
		v = v<<6 | uint32(d)
		if pos++; pos == 4 {
			out = append(out, byte(v>>16))
			if end == 0 || end > 1 {
				out = append(out, byte(v>>8))
			}
			if end == 0 || end > 2 {
				out = append(out, byte(v))
			}
			v, pos = 0, 0
		}
	}
	if pos != 0 {
		return nil, pgerr.New(pgerr.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return out, nil
}

func escapeLen(b []byte) int {
	n := len(b)
	for _, c := range b {
		switch {
		case c == 0 || c >= utf8.RuneSelf:
			n += 3
		case c == '\\':
			n++
		}
	}
	return n
}

// encodeEscape shows zero and high bytes in octal and doubles backslashes.
func encodeEscape(b []byte) []byte {
	out := make([]byte, 0, escapeLen(b))
	for _, c := range b {
		switch {
		case c == 0 || c >= utf8.RuneSelf:
			out = append(out, '\\', c>>6+'0', c>>3&7+'0', c&7+'0')
		case c == '\\':
			out = append(out, '\\', '\\')
		default:
			out = append(out, c)
		}
	}
	return out
}

func encode(_ *Context, a []types.Datum) (types.Datum, error) {
	name := string(lowerText(a[1].B))
	n := len(a[0].B)
	switch name {
	case "hex":
		n = hex.EncodedLen(n)
	case "base64":
		n = base64Len(n)
	case "escape":
		n = escapeLen(a[0].B)
	}
	if n > maxTextLen {
		return types.Datum{}, pgerr.New(pgerr.ProgramLimitExceeded, "result of encoding conversion is too large")
	}
	switch name {
	case "hex":
		return bytesResult(hex.AppendEncode(nil, a[0].B))
	case "base64":
		return bytesResult(encodeBase64(a[0].B))
	case "escape":
		return bytesResult(encodeEscape(a[0].B))
	}
	return types.Datum{}, errParameter("unrecognized encoding: \"%s\"", a[1].B)
}

// decodeEscape is lenient where bytea's input is not: a backslash may stand before anything.
func decodeEscape(s []byte) ([]byte, error) {
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
			return nil, pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type %s", "bytea")
		}
	}
	return out, nil
}

func decode(_ *Context, a []types.Datum) (types.Datum, error) {
	var b []byte
	var err error
	switch string(lowerText(a[1].B)) {
	case "hex":
		b, err = types.DecodeHex(a[0].B)
	case "base64":
		b, err = decodeBase64(a[0].B)
	case "escape":
		b, err = decodeEscape(a[0].B)
	default:
		err = errParameter("unrecognized encoding: \"%s\"", a[1].B)
	}
	return types.Datum{B: b}, err
}

func registerEncode(r *registry) {
	r.fn("binary_encode", encode)
	r.fn("binary_decode", decode)
	md5sum := text1(func(b []byte) []byte {
		s := md5.Sum(b)
		return hex.AppendEncode(nil, s[:])
	})
	r.fn("md5_text", md5sum)
	r.fn("md5_bytea", md5sum)
	r.fn("sha224_bytea", text1(func(b []byte) []byte { s := sha256.Sum224(b); return s[:] }))
	r.fn("sha256_bytea", text1(func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }))
	r.fn("sha384_bytea", text1(func(b []byte) []byte { s := sha512.Sum384(b); return s[:] }))
	r.fn("sha512_bytea", text1(func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }))
	r.fn("pg_convert_from", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if _, err := encodingNamed(a[1].B, "source"); err != nil {
			return types.Datum{}, err
		}
		return a[0], types.CheckUTF8(a[0].B)
	})
	r.fn("pg_convert_to", func(_ *Context, a []types.Datum) (types.Datum, error) {
		_, err := encodingNamed(a[1].B, "destination")
		return a[0], err
	})
	r.fn("pg_convert", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if _, err := encodingNamed(a[1].B, "source"); err != nil {
			return types.Datum{}, err
		}
		_, err := encodingNamed(a[2].B, "destination")
		return a[0], err
	})
	r.fn("length_in_encoding", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if n := encodingNumber(a[1].B); n < 0 {
			return types.Datum{}, errParameter("invalid encoding name \"%s\"", a[1].B)
		}
		if _, err := encodingNamed(a[1].B, "source"); err != nil {
			return types.Datum{}, err
		}
		return types.Int64Datum(int64(utf8.RuneCount(a[0].B))), types.CheckUTF8(a[0].B)
	})
	r.fn("PG_encoding_to_char", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n := a[0].Int64()
		if n < 0 || n >= int64(len(encodings)) {
			return types.TextDatum(""), nil
		}
		return types.TextDatum(encodings[n]), nil
	})
	r.fn("PG_char_to_encoding", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(int64(encodingNumber(a[0].B))), nil
	})
	r.fn("pg_encoding_max_length_sql", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n := a[0].Int64()
		if n < 0 || n >= int64(len(encodings)) {
			return types.NullDatum, nil
		}
		return types.Int64Datum(int64(encodingMax[n])), nil
	})
	utf8Name := func(*Context, []types.Datum) (types.Datum, error) { return types.TextDatum("UTF8"), nil }
	r.fn("getdatabaseencoding", utf8Name)
	r.fn("pg_client_encoding", func(c *Context, _ []types.Datum) (types.Datum, error) {
		if c.Settings != nil {
			if v, ok := c.Settings.Setting("client_encoding"); ok {
				return types.TextDatum(v), nil
			}
		}
		return types.TextDatum("UTF8"), nil
	})
}

// encodings are PostgreSQL's names by number.
var encodings = [...]string{
	"SQL_ASCII", "EUC_JP", "EUC_CN", "EUC_KR", "EUC_TW", "EUC_JIS_2004", "UTF8", "MULE_INTERNAL", "LATIN1", "LATIN2", "LATIN3", "LATIN4", "LATIN5",
	"LATIN6", "LATIN7", "LATIN8", "LATIN9", "LATIN10", "WIN1256", "WIN1258", "WIN866", "WIN874", "KOI8R", "WIN1251", "WIN1252", "ISO_8859_5", "ISO_8859_6",
	"ISO_8859_7", "ISO_8859_8", "WIN1250", "WIN1253", "WIN1254", "WIN1255", "WIN1257", "KOI8U", "SJIS", "BIG5", "GBK", "UHC", "GB18030", "JOHAB", "SHIFT_JIS_2004",
}

var encodingMax = [...]int8{
	1, 3, 2, 3, 4, 3, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 3, 2,
}

// encodingNumber ignores case and punctuation in names; -1 is none.
func encodingNumber(name []byte) int {
	clean := func(s []byte) string {
		var b []byte
		for _, c := range s {
			if c = lowerByte(c); c >= 'a' && c <= 'z' || isDigit(c) {
				b = append(b, c)
			}
		}
		return string(b)
	}
	want := clean(name)
	switch want {
	case "unicode":
		want = "utf8"
	case "iso88591":
		want = "latin1"
	case "iso88592":
		want = "latin2"
	case "iso885915":
		want = "latin9"
	case "windows1252":
		want = "win1252"
	case "windows1251":
		want = "win1251"
	case "windows1250":
		want = "win1250"
	}
	for i, e := range encodings {
		if clean([]byte(e)) == want {
			return i
		}
	}
	return -1
}

// encodingNamed accepts UTF8 and SQL_ASCII; conversions to others are not built.
func encodingNamed(name []byte, which string) (int, error) {
	n := encodingNumber(name)
	switch {
	case n < 0:
		return 0, errParameter("invalid %s encoding name \"%s\"", which, name)
	case encodings[n] != "UTF8" && encodings[n] != "SQL_ASCII":
		return 0, errUnsupported("conversion between UTF8 and %s is not supported", encodings[n])
	}
	return n, nil
}
