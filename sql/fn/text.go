package fn

import (
	"bytes"
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func bytesResult(b []byte) (types.Datum, error) { return types.Datum{B: b}, nil }

func text1(f func(b []byte) []byte) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) { return bytesResult(f(a[0].B)) }
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// charOffset is where the n-th character begins, from 0, or len(b).
func charOffset(b []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(b); n-- {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, k := utf8.DecodeRune(b[i:])
		i += k
	}
	return i
}

// lowerRune and upperRune map as the locale C.UTF-8 does: one character to one.
func lowerRune(r rune) rune {
	if r == 'İ' {
		return 'i'
	}
	return unicode.ToLower(r)
}

func upperRune(r rune) rune {
	if r == 'ı' {
		return 'I'
	}
	return unicode.ToUpper(r)
}

func lowerText(b []byte) []byte {
	if isASCII(b) {
		out := make([]byte, len(b))
		for i, c := range b {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			out[i] = c
		}
		return out
	}
	return bytes.Map(lowerRune, b)
}

func upperText(b []byte) []byte {
	if isASCII(b) {
		out := make([]byte, len(b))
		for i, c := range b {
			if c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			out[i] = c
		}
		return out
	}
	return bytes.Map(upperRune, b)
}

func initcap(b []byte) []byte {
	word := false
	return bytes.Map(func(r rune) rune {
		if word {
			r = lowerRune(r)
		} else {
			r = upperRune(r)
		}
		word = unicode.IsLetter(r) || unicode.IsDigit(r)
		return r
	}, b)
}

// cased applies a mapping under the call's collation: C and POSIX know ASCII only.
func cased(wide func([]byte) []byte, ascii func([]byte) []byte) Func {
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		if c.asciiOnly() {
			return bytesResult(ascii(a[0].B))
		}
		return bytesResult(wide(a[0].B))
	}
}

// Collations C and POSIX.
const (
	collationC     = 950
	collationPosix = 951
)

func (c *Context) asciiOnly() bool {
	n := c.collation()
	return n == collationC || n == collationPosix
}

func mapASCII(f func(byte) byte) func([]byte) []byte {
	return func(b []byte) []byte {
		out := make([]byte, len(b))
		for i, c := range b {
			out[i] = f(c)
		}
		return out
	}
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upperByte(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

func initcapASCII(b []byte) []byte {
	out := make([]byte, len(b))
	word := false
	for i, c := range b {
		if word {
			c = lowerByte(c)
		} else {
			c = upperByte(c)
		}
		word = isDigit(c) || lowerByte(c) >= 'a' && lowerByte(c) <= 'z'
		out[i] = c
	}
	return out
}

// trim removes characters of set from the ends.
func trim(b, set []byte, left, right bool) []byte {
	if len(set) == 0 {
		return b
	}
	if len(set) == 1 {
		for left && len(b) > 0 && b[0] == set[0] {
			b = b[1:]
		}
		for right && len(b) > 0 && b[len(b)-1] == set[0] {
			b = b[:len(b)-1]
		}
		return b
	}
	chars := string(set)
	if left {
		b = bytes.TrimLeft(b, chars)
	}
	if right {
		b = bytes.TrimRight(b, chars)
	}
	return b
}

// pad fills to n characters with copies of fill, or cuts.
func pad(b []byte, n int64, fill []byte, left bool) ([]byte, error) {
	n = max(n, 0)
	have := int64(utf8.RuneCount(b))
	if n <= have {
		return b[:charOffset(b, int(n))], nil
	}
	if len(fill) == 0 {
		return b, nil
	}
	if n > maxTextLen/utf8.UTFMax {
		return nil, errTooLarge()
	}
	need := int(n - have)
	per := utf8.RuneCount(fill)
	out := make([]byte, 0, len(b)+need/per*len(fill)+len(fill))
	if !left {
		out = append(out, b...)
	}
	for ; need >= per; need -= per {
		out = append(out, fill...)
	}
	out = append(out, fill[:charOffset(fill, need)]...)
	if left {
		out = append(out, b...)
	}
	return out, nil
}

func repeatText(b []byte, n int64) ([]byte, error) {
	if n <= 0 || len(b) == 0 {
		return []byte{}, nil
	}
	if n > maxTextLen/int64(len(b)) {
		return nil, errTooLarge()
	}
	return bytes.Repeat(b, int(n)), nil
}

// substring takes characters from a start that counts from 1 and may lie before the text; n < 0 with limited is an error.
func substring(b []byte, start int64, n int64, limited bool) ([]byte, error) {
	end := int64(math.MaxInt64)
	if limited {
		if n < 0 {
			return nil, pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
		}
		end = start + n
	}
	from := max(start, 1)
	if end <= from {
		return []byte{}, nil
	}
	if isASCII(b) {
		size := int64(len(b))
		if from > size {
			return []byte{}, nil
		}
		return b[from-1 : min(end-1, size)], nil
	}
	i := charOffset(b, int(min(from-1, int64(len(b)))))
	if !limited || end-from > int64(len(b)) {
		return b[i:], nil
	}
	return b[i : i+charOffset(b[i:], int(end-from))], nil
}

// byteSubstring is substring by bytes.
func byteSubstring(b []byte, start int64, n int64, limited bool) ([]byte, error) {
	end := int64(math.MaxInt64)
	if limited {
		if n < 0 {
			return nil, pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
		}
		end = start + n
	}
	from, size := max(start, 1), int64(len(b))
	if end <= from || from > size {
		return []byte{}, nil
	}
	return b[from-1 : min(end-1, size)], nil
}

type substringFunc func(b []byte, start, n int64, limited bool) ([]byte, error)

func substringOf(f substringFunc, limited bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		n := int64(0)
		if limited {
			n = a[2].Int64()
		}
		b, err := f(a[0].B, a[1].Int64(), n, limited)
		return types.Datum{B: b}, err
	}
}

// overlay replaces n characters from start by with; n defaults to with's length.
func overlay(f substringFunc, length func([]byte) int, given bool) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		start := a[2].Int64()
		n := int64(length(a[1].B))
		if given {
			n = a[3].Int64()
		}
		if start <= 0 {
			return types.Datum{}, pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
		}
		after := start + n
		if after > math.MaxInt32 || after < math.MinInt32 {
			return types.Datum{}, errOutOfRange("integer")
		}
		head, err := f(a[0].B, 1, start-1, true)
		if err != nil {
			return types.Datum{}, err
		}
		tail, err := f(a[0].B, after, 0, false)
		if err != nil {
			return types.Datum{}, err
		}
		if err := CheckLen(len(head) + len(a[1].B) + len(tail)); err != nil {
			return types.Datum{}, err
		}
		out := make([]byte, 0, len(head)+len(a[1].B)+len(tail))
		return bytesResult(append(append(append(out, head...), a[1].B...), tail...))
	}
}

func position(b, sub []byte) int64 {
	i := bytes.Index(b, sub)
	if i < 0 {
		return 0
	}
	return int64(utf8.RuneCount(b[:i])) + 1
}

func splitPart(b, sep []byte, n int64) ([]byte, error) {
	if n == 0 {
		return nil, errParameter("field position must not be zero")
	}
	if len(b) == 0 {
		return b, nil
	}
	if len(sep) == 0 {
		if n == 1 || n == -1 {
			return b, nil
		}
		return []byte{}, nil
	}
	if n < 0 {
		n += int64(bytes.Count(b, sep)) + 2
		if n <= 0 {
			return []byte{}, nil
		}
	}
	for ; n > 1; n-- {
		i := bytes.Index(b, sep)
		if i < 0 {
			return []byte{}, nil
		}
		b = b[i+len(sep):]
	}
	if i := bytes.Index(b, sep); i >= 0 {
		b = b[:i]
	}
	return b, nil
}

func leftText(b []byte, n int64) []byte {
	if n < 0 {
		n += int64(utf8.RuneCount(b))
		if n < 0 {
			n = 0
		}
	}
	return b[:charOffset(b, int(n))]
}

func rightText(b []byte, n int64) []byte {
	if n < 0 {
		n = -n
	} else {
		n = max(int64(utf8.RuneCount(b))-n, 0)
	}
	return b[charOffset(b, int(n)):]
}

func reverse(b []byte) []byte {
	out := make([]byte, len(b))
	w := len(b)
	for i := 0; i < len(b); {
		_, k := utf8.DecodeRune(b[i:])
		w -= k
		copy(out[w:], b[i:i+k])
		i += k
	}
	return out
}

func translate(b, from, to []byte) ([]byte, error) {
	if err := CheckLen(len(b) * utf8.UTFMax); err != nil {
		return nil, err
	}
	src, dst := []rune(string(from)), []rune(string(to))
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		r, k := utf8.DecodeRune(b[i:])
		at := -1
		for j, s := range src {
			if s == r {
				at = j
				break
			}
		}
		switch {
		case at < 0:
			out = append(out, b[i:i+k]...)
		case at < len(dst):
			out = utf8.AppendRune(out, dst[at])
		}
		i += k
	}
	return out, nil
}

func chr(v int64) ([]byte, error) {
	switch {
	case v < 0:
		return nil, errParameter("character number must be positive")
	case v == 0:
		return nil, pgerr.New(pgerr.ProgramLimitExceeded, "null character not permitted")
	case v > unicode.MaxRune:
		return nil, pgerr.New(pgerr.ProgramLimitExceeded, "requested character too large for encoding: %d", v)
	case !utf8.ValidRune(rune(v)):
		return nil, pgerr.New(pgerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", v)
	}
	return utf8.AppendRune(nil, rune(v)), nil
}

// QuoteIdent is quote_ident: the name in double quotes unless it is a plain one and no keyword.
func QuoteIdent(s string) string {
	safe := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] == '_')
	for i := 0; safe && i < len(s); i++ {
		c := s[i]
		safe = c >= 'a' && c <= 'z' || isDigit(c) || c == '_'
	}
	if safe {
		i := sort.Search(len(keywords), func(i int) bool { return keywords[i].word >= s })
		safe = i == len(keywords) || keywords[i].word != s || keywords[i].kind == 'U'
	}
	if safe {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// QuoteLiteral is quote_literal.
func QuoteLiteral(s string) string {
	var b strings.Builder
	if strings.IndexByte(s, '\\') >= 0 {
		b.WriteByte('E')
	}
	b.WriteByte('\'')
	for i := range len(s) {
		if s[i] == '\'' || s[i] == '\\' {
			b.WriteByte(s[i])
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('\'')
	return b.String()
}

// textOf is the text of any value, through its output function; a bool is true or false in concat's fashion only where PostgreSQL says so.
func (c *Context) textOf(i int, d types.Datum, dst []byte) []byte {
	return types.Out(c.ArgType(i), d, dst, c.Env)
}

func hexText(v uint64) []byte {
	const digits = "0123456789abcdef"
	var buf [16]byte
	i := len(buf)
	for {
		i--
		buf[i] = digits[v&15]
		if v >>= 4; v == 0 {
			return append([]byte(nil), buf[i:]...)
		}
	}
}

func replaceText(b, from, to []byte) (types.Datum, error) {
	if more := len(to) - len(from); more > 0 {
		if err := checkGrow(len(b), more*bytes.Count(b, from)); err != nil {
			return types.Datum{}, err
		}
	}
	return bytesResult(bytes.ReplaceAll(b, from, to))
}

func textCat(_ *Context, a []types.Datum) (types.Datum, error) {
	if err := CheckLen(len(a[0].B) + len(a[1].B)); err != nil {
		return types.Datum{}, err
	}
	out := make([]byte, 0, len(a[0].B)+len(a[1].B))
	return bytesResult(append(append(out, a[0].B...), a[1].B...))
}

// arenaPiece is the longest result that goes to the arena: growing it copies what is there.
const arenaPiece = 1 << 20

func vecCat(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
	if constNull(args, rows, out) {
		return nil
	}
	a, b := args[0], args[1]
	for k := range rows.Len() {
		i := rows.At(k)
		ia, ib := i, i
		if a.Const {
			ia = 0
		}
		if b.Const {
			ib = 0
		}
		if out.Null[i] = a.Null[ia] || b.Null[ib]; out.Null[i] {
			continue
		}
		n := len(a.B[ia]) + len(b.B[ib])
		if n > arenaPiece {
			if err := CheckLen(n); err != nil {
				return err
			}
			out.B[i] = append(append(make([]byte, 0, n), a.B[ia]...), b.B[ib]...)
			continue
		}
		at := len(out.Arena)
		out.Arena = append(append(out.Arena, a.B[ia]...), b.B[ib]...)
		out.B[i] = out.Arena[at:len(out.Arena):len(out.Arena)]
	}
	return nil
}

func vecTextLen(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
	if constNull(args, rows, out) {
		return nil
	}
	a := args[0]
	for k := range rows.Len() {
		i := rows.At(k)
		ia := i
		if a.Const {
			ia = 0
		}
		if out.Null[i] = a.Null[ia]; !out.Null[i] {
			out.W[i] = uint64(utf8.RuneCount(a.B[ia]))
		}
	}
	return nil
}

func intResult(n int) (types.Datum, error) { return types.Int64Datum(int64(n)), nil }

func registerText(r *registry) {
	r.fn("lower", cased(lowerText, mapASCII(lowerByte)))
	r.fn("upper", cased(upperText, mapASCII(upperByte)))
	r.fn("initcap", cased(initcap, initcapASCII))
	r.vec("textcat", textCat, vecCat)
	r.fn("byteacat", textCat)
	r.vec("textlen", func(_ *Context, a []types.Datum) (types.Datum, error) { return intResult(utf8.RuneCount(a[0].B)) }, vecTextLen)
	r.fn("bpcharlen", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return intResult(utf8.RuneCount(types.TrimBpchar(a[0].B)))
	})
	for _, n := range []string{"textoctetlen", "bpcharoctetlen", "byteaoctetlen"} {
		r.fn(n, func(_ *Context, a []types.Datum) (types.Datum, error) { return intResult(len(a[0].B)) })
	}
	bits8 := func(_ *Context, a []types.Datum) (types.Datum, error) { return intResult(8 * len(a[0].B)) }
	r.sql(1811, "bit_length", bits8)
	r.sql(1810, "bit_length", bits8)

	space := []byte(" ")
	for name, side := range map[string][2]bool{"btrim": {true, true}, "ltrim": {true, false}, "rtrim": {false, true}} {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) {
			return bytesResult(trim(a[0].B, a[1].B, side[0], side[1]))
		})
		r.fn(name+"1", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return bytesResult(trim(a[0].B, space, side[0], side[1]))
		})
	}
	r.fn("lpad", func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := pad(a[0].B, a[1].Int64(), a[2].B, true)
		return types.Datum{B: b}, err
	})
	r.fn("rpad", func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := pad(a[0].B, a[1].Int64(), a[2].B, false)
		return types.Datum{B: b}, err
	})
	for oid, left := range map[types.OID]bool{879: true, 880: false} {
		r.sql(oid, "pad", func(_ *Context, a []types.Datum) (types.Datum, error) {
			b, err := pad(a[0].B, a[1].Int64(), space, left)
			return types.Datum{B: b}, err
		})
	}
	r.fn("repeat", func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := repeatText(a[0].B, a[1].Int64())
		return types.Datum{B: b}, err
	})
	r.fn("text_substr", substringOf(substring, true))
	r.fn("text_substr_no_len", substringOf(substring, false))
	r.fn("textoverlay", overlay(substring, utf8.RuneCount, true))
	r.fn("textoverlay_no_len", overlay(substring, utf8.RuneCount, false))
	r.fn("textpos", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(position(a[0].B, a[1].B)), nil
	})
	r.fn("split_part", func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := splitPart(a[0].B, a[1].B, a[2].Int64())
		return types.Datum{B: b}, err
	})
	r.fn("text_left", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bytesResult(leftText(a[0].B, a[1].Int64()))
	})
	r.fn("text_right", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bytesResult(rightText(a[0].B, a[1].Int64()))
	})
	r.fn("text_reverse", text1(reverse))
	r.fn("replace_text", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if len(a[1].B) == 0 {
			return a[0], nil
		}
		return replaceText(a[0].B, a[1].B, a[2].B)
	})
	r.fn("translate", func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := translate(a[0].B, a[1].B, a[2].B)
		return types.Datum{B: b}, err
	})
	r.fn("text_starts_with", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(bytes.HasPrefix(a[0].B, a[1].B)), nil
	})
	r.fn("ascii", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if len(a[0].B) == 0 {
			return types.Datum{}, nil
		}
		c, _ := utf8.DecodeRune(a[0].B)
		return types.Int64Datum(int64(c)), nil
	})
	r.fn("chr", func(_ *Context, a []types.Datum) (types.Datum, error) {
		b, err := chr(a[0].Int64())
		return types.Datum{B: b}, err
	})
	r.fn("to_hex32", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bytesResult(hexText(a[0].W & math.MaxUint32))
	})
	r.fn("to_hex64", func(_ *Context, a []types.Datum) (types.Datum, error) { return bytesResult(hexText(a[0].W)) })
	r.fn("quote_ident", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.TextDatum(QuoteIdent(a[0].String())), nil
	})
	r.fn("quote_literal", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.TextDatum(QuoteLiteral(a[0].String())), nil
	})
	r.fn("quote_nullable", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return types.TextDatum("NULL"), nil
		}
		return types.TextDatum(QuoteLiteral(a[0].String())), nil
	})
	r.sql(1285, "quote_literal", func(c *Context, a []types.Datum) (types.Datum, error) {
		return types.TextDatum(QuoteLiteral(string(c.castText(0, a[0])))), nil
	})
	r.sql(1290, "quote_nullable", func(c *Context, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return types.TextDatum("NULL"), nil
		}
		return types.TextDatum(QuoteLiteral(string(c.castText(0, a[0])))), nil
	})
	r.sql(2003, "textanycat", func(c *Context, a []types.Datum) (types.Datum, error) {
		return textCat(c, []types.Datum{a[0], {B: c.castText(1, a[1])}})
	})
	r.sql(2004, "anytextcat", func(c *Context, a []types.Datum) (types.Datum, error) {
		return textCat(c, []types.Datum{{B: c.castText(0, a[0])}, a[1]})
	})
	registerTextCasts(r)
	registerConcat(r)
	registerLike(r)
	registerEncode(r)
	registerBytea(r)
	registerBits(r)
	registerUnicode(r)
	r.set("pg_get_keywords", func(*Context, []types.Datum) (Set, error) { return &rowSet{rows: keywordRows()}, nil })
}

func keywordRows() [][]types.Datum {
	rows := make([][]types.Datum, len(keywords))
	for i, k := range keywords {
		kind := map[byte]string{'U': "unreserved", 'C': "unreserved (cannot be function or type name)", 'T': "reserved (can be function or type name)", 'R': "reserved"}[k.kind]
		label := "can be bare label"
		if !k.label {
			label = "requires AS"
		}
		rows[i] = []types.Datum{
			types.TextDatum(k.word), {W: uint64(k.kind)}, types.BoolDatum(k.label), types.TextDatum(kind), types.TextDatum(label),
		}
	}
	return rows
}

// castText is the value cast to text: as printed, but a bool in full and a char(n) without its padding.
func (c *Context) castText(i int, d types.Datum) []byte {
	switch c.ArgType(i) {
	case types.Bool:
		if d.Bool() {
			return []byte("true")
		}
		return []byte("false")
	case types.Bpchar:
		return types.TrimBpchar(d.B)
	}
	return c.textOf(i, d, nil)
}

func registerTextCasts(r *registry) {
	r.fn("text_name", func(_ *Context, a []types.Datum) (types.Datum, error) { return bytesResult(types.TruncateName(a[0].B)) })
	r.fn("name_text", identity)
	r.fn("name_bpchar", identity)
	r.fn("bpchar_name", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bytesResult(types.TrimBpchar(types.TruncateName(a[0].B)))
	})
	r.fn("bpchar", coerce(types.Bpchar))
	r.fn("varchar", coerce(types.Varchar))
	r.fn("bit", coerce(types.Bit))
	r.fn("varbit", coerce(types.Varbit))
	fromChar := func(_ *Context, a []types.Datum) (types.Datum, error) {
		return bytesResult(types.Out(types.Char, a[0], nil, nil))
	}
	r.fn("char_text", fromChar)
	r.fn("char_bpchar", func(_ *Context, a []types.Datum) (types.Datum, error) { return bytesResult([]byte{byte(a[0].W)}) })
	r.fn("text_char", func(_ *Context, a []types.Datum) (types.Datum, error) { return types.In(types.Char, -1, a[0].B, nil) })
	r.fn("booltext", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if a[0].Bool() {
			return types.TextDatum("true"), nil
		}
		return types.TextDatum("false"), nil
	})
	r.fn("nameconcatoid", func(_ *Context, a []types.Datum) (types.Datum, error) {
		suffix := types.Out(types.Oid, a[1], []byte{'_'}, nil)
		name := a[0].B
		if len(name)+len(suffix) > types.NameMax {
			n := types.NameMax - len(suffix)
			for n > 0 && !utf8.RuneStart(name[n]) {
				n--
			}
			name = name[:n]
		}
		return bytesResult(append(append([]byte(nil), name...), suffix...))
	})
}
