package fn

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func normForm(name []byte) (norm.Form, error) {
	switch strings.ToUpper(string(name)) {
	case "NFC":
		return norm.NFC, nil
	case "NFD":
		return norm.NFD, nil
	case "NFKC":
		return norm.NFKC, nil
	case "NFKD":
		return norm.NFKD, nil
	}
	return 0, errParameter("invalid normalization form: %s", name)
}

func errUnicodeEscape() error {
	return pgerr.New(pgerr.SyntaxError, "invalid Unicode escape").
		WithHint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
}

func hexRune(s []byte, n int) (rune, bool) {
	if len(s) < n {
		return 0, false
	}
	var r rune
	for _, c := range s[:n] {
		d := strings.IndexByte("0123456789abcdef", lowerByte(c))
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// unistr replaces Unicode escapes.
func unistr(s []byte) ([]byte, error) {
	out := make([]byte, 0, len(s))
	high := rune(0)
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			if high != 0 {
				return nil, errSurrogatePair()
			}
			out = append(out, s[i])
			i++
			continue
		}
		rest := s[i+1:]
		if len(rest) > 0 && rest[0] == '\\' {
			if high != 0 {
				return nil, errSurrogatePair()
			}
			out = append(out, '\\')
			i += 2
			continue
		}
		var r rune
		ok := false
		switch {
		case len(rest) > 0 && rest[0] == '+':
			r, ok = hexRune(rest[1:], 6)
			i += 8
		case len(rest) > 0 && rest[0] == 'u':
			r, ok = hexRune(rest[1:], 4)
			i += 6
		case len(rest) > 0 && rest[0] == 'U':
			r, ok = hexRune(rest[1:], 8)
			i += 10
		default:
			r, ok = hexRune(rest, 4)
			i += 5
		}
		if !ok {
			return nil, errUnicodeEscape()
		}
		if r <= 0 || r > utf8.MaxRune {
			return nil, errParameter("invalid Unicode code point: %04X", r)
		}
		switch {
		case high != 0:
			if r < 0xDC00 || r > 0xDFFF {
				return nil, errSurrogatePair()
			}
			out = utf8.AppendRune(out, utf16.DecodeRune(high, r))
			high = 0
		case r >= 0xD800 && r < 0xDC00:
			high = r
		case r >= 0xDC00 && r < 0xE000:
			return nil, errSurrogatePair()
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	if high != 0 {
		return nil, errSurrogatePair()
	}
	return out, nil
}

func errSurrogatePair() error { return pgerr.New(pgerr.SyntaxError, "invalid Unicode surrogate pair") }

func registerUnicode(r *registry) {
	r.fn("unicode_normalize_func", func(_ *Context, a []types.Datum) (types.Datum, error) {
		f, err := normForm(a[1].B)
		if err != nil {
			return types.Datum{}, err
		}
		return bytesResult(f.Bytes(a[0].B))
	})
	r.fn("unicode_is_normalized", func(_ *Context, a []types.Datum) (types.Datum, error) {
		f, err := normForm(a[1].B)
		if err != nil {
			return types.Datum{}, err
		}
		return types.BoolDatum(bytes.Equal(f.Bytes(a[0].B), a[0].B)), nil
	})
	r.fn("unistr", func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := unistr(a[0].B)
		return types.Datum{B: b}, err
	})
	r.fn("parse_ident", func(_ *Context, a []types.Datum) (types.Datum, error) {
		names, err := parseIdent(a[0].String(), a[1].Bool())
		if err != nil {
			return types.Datum{}, err
		}
		return types.TextArrayDatum(names), nil
	})
}

func isIdentStart(c byte) bool {
	return c == '_' || lowerByte(c) >= 'a' && lowerByte(c) <= 'z' || c >= utf8.RuneSelf
}

func isIdentChar(c byte) bool { return isIdentStart(c) || isDigit(c) || c == '$' }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// parseIdent splits a qualified name into its parts, folding what is not quoted.
func parseIdent(s string, strict bool) ([]string, error) {
	bad := func(detail string, args ...any) error {
		e := errParameter("string is not a valid identifier: \"%s\"", s).(*pgerr.Error)
		if detail != "" {
			e = e.WithDetail(detail, args...)
		}
		return e
	}
	var names []string
	i := 0
	skip := func() {
		for i < len(s) && isSpace(s[i]) {
			i++
		}
	}
	skip()
	afterDot := false
	for {
		missing := true
		switch {
		case i < len(s) && s[i] == '"':
			missing = false
			var b strings.Builder
			i++
			for {
				if i >= len(s) {
					return nil, bad("String has unclosed double quotes.")
				}
				if s[i] == '"' {
					if i+1 < len(s) && s[i+1] == '"' {
						i++
					} else {
						break
					}
				}
				b.WriteByte(s[i])
				i++
			}
			i++
			if b.Len() == 0 {
				return nil, bad("Quoted identifier must not be empty.")
			}
			names = append(names, b.String())
		case i < len(s) && isIdentStart(s[i]):
			missing = false
			start := i
			for i < len(s) && isIdentChar(s[i]) {
				i++
			}
			names = append(names, string(mapASCII(lowerByte)([]byte(s[start:i]))))
		}
		if missing {
			switch {
			case i < len(s) && s[i] == '.':
				return nil, bad("No valid identifier before \".\".")
			case afterDot:
				return nil, bad("No valid identifier after \".\".")
			}
			return nil, bad("")
		}
		skip()
		if i < len(s) && s[i] == '.' {
			afterDot = true
			i++
			skip()
			continue
		}
		if i >= len(s) {
			return names, nil
		}
		if strict {
			return nil, bad("")
		}
		return names, nil
	}
}

// registerASCII registers to_ascii, which PostgreSQL has for a few encodings of one byte only.
func registerASCII(r *registry) {
	for _, name := range []string{"to_ascii_default", "to_ascii_enc", "to_ascii_encname"} {
		r.fn(name, func(*Context, []types.Datum) (types.Datum, error) {
			return types.Datum{}, errUnsupported("encoding conversion from %s to ASCII not supported", "UTF8")
		})
	}
}
