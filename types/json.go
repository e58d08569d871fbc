package types

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
)

// JSONKind is the type of a JSON value.
type JSONKind uint8

// The kinds, in the order in which jsonb sorts them but for JSONArray, of which an empty one at the top sorts first.
const (
	JSONNull JSONKind = iota
	JSONString
	JSONNumber
	JSONFalse
	JSONTrue
	JSONArray
	JSONObject
)

// JSONValue is a parsed JSON text.
type JSONValue struct {
	Kind JSONKind
	Str  []byte // of a string, unescaped
	Num  Num    // of a number
	Keys [][]byte
	Vals []JSONValue // elements, or the values of Keys
	Raw  []byte      // the text it came from, nil if it was built
}

// maxJSONDepth bounds nesting, for the stack's sake.
const maxJSONDepth = 6400

type jsonToken uint8

const (
	tokEnd jsonToken = iota
	tokString
	tokNumber
	tokTrue
	tokFalse
	tokNull
	tokObjectStart
	tokObjectEnd
	tokArrayStart
	tokArrayEnd
	tokComma
	tokColon
	tokInvalid
)

// jsonParser reads JSON as PostgreSQL's json.c and jsonapi.c do, with their messages.
type jsonParser struct {
	s         []byte
	tok       jsonToken
	start     int // of the token
	end       int // of the token
	line      int
	lineStart int
	depth     int
	// unescape keeps strings and numbers, as jsonb needs; without, \u escapes are checked for their form only.
	unescape bool
	// rawNumbers leaves numbers alone, whatever their size.
	rawNumbers bool
	str        []byte
	err        error
}

func (p *jsonParser) fail(format string, args ...any) bool {
	if p.err == nil {
		p.err = p.where(pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail(format, args...))
	}
	return false
}

func (p *jsonParser) failUnicode(code pgerr.Code, msg, detail string) bool {
	if p.err == nil {
		p.err = p.where(pgerr.New(code, "%s", msg).WithDetail("%s", detail))
	}
	return false
}

// where adds the line up to the token, as PostgreSQL's context shows it.
func (p *jsonParser) where(e *pgerr.Error) error {
	from, to := p.lineStart, p.end
	for to-from >= 50 {
		_, n := utf8.DecodeRune(p.s[from:])
		from += n
	}
	if from-p.lineStart <= 3 {
		from = p.lineStart
	}
	prefix, suffix := "", ""
	if from > p.lineStart {
		prefix = "..."
	}
	if p.tok != tokEnd && to < len(p.s) && p.s[to] != '\n' && p.s[to] != '\r' {
		suffix = "..."
	}
	return e.AppendWhere("JSON data, line %d: %s%s%s", p.line, prefix, p.s[from:to], suffix)
}

func (p *jsonParser) text() []byte { return p.s[p.start:p.end] }

// unexpected reports the token in the place of what was expected.
func (p *jsonParser) unexpected(what string) bool {
	if p.tok == tokEnd {
		return p.fail("The input string ended unexpectedly.")
	}
	return p.fail("%s, but found \"%s\".", what, p.text())
}

// next reads a token; false means that p.err is set.
func (p *jsonParser) next() bool {
	i := p.end
	for i < len(p.s) && (p.s[i] == ' ' || p.s[i] == '\t' || p.s[i] == '\n' || p.s[i] == '\r') {
		if p.s[i] == '\n' {
			p.line++
			p.lineStart = i + 1
		}
		i++
	}
	p.start = i
	p.tok = tokInvalid
	if i >= len(p.s) {
		p.tok, p.end = tokEnd, i
		return true
	}
	p.end = i + 1
	switch c := p.s[i]; c {
	case '{':
		p.tok = tokObjectStart
	case '}':
		p.tok = tokObjectEnd
	case '[':
		p.tok = tokArrayStart
	case ']':
		p.tok = tokArrayEnd
	case ',':
		p.tok = tokComma
	case ':':
		p.tok = tokColon
	case '"':
		return p.lexString()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.lexNumber()
	default:
		for p.end = i; p.end < len(p.s) && jsonWordChar(p.s[p.end]); {
			p.end++
		}
		switch {
		case p.end == i:
			p.end++
			return p.invalidToken()
		case string(p.text()) == "true":
			p.tok = tokTrue
		case string(p.text()) == "false":
			p.tok = tokFalse
		case string(p.text()) == "null":
			p.tok = tokNull
		default:
			return p.invalidToken()
		}
	}
	return true
}

func jsonWordChar(c byte) bool { return isAlnum(c) || c == '_' || c >= utf8.RuneSelf }

func (p *jsonParser) invalidToken() bool { return p.fail("Token \"%s\" is invalid.", p.text()) }

func (p *jsonParser) lexNumber() bool {
	i := p.start
	if p.s[i] == '-' {
		i++
	}
	ok := true
	digits := func() bool {
		from := i
		for i < len(p.s) && isDigit(p.s[i]) {
			i++
		}
		return i > from
	}
	if i < len(p.s) && p.s[i] == '0' {
		i++
	} else {
		ok = digits()
	}
	if i < len(p.s) && p.s[i] == '.' {
		i++
		ok = digits() && ok
	}
	if i < len(p.s) && p.s[i]|0x20 == 'e' {
		i++
		if i < len(p.s) && (p.s[i] == '+' || p.s[i] == '-') {
			i++
		}
		ok = digits() && ok
	}
	for i < len(p.s) && jsonWordChar(p.s[i]) {
		i++
		ok = false
	}
	p.end = i
	if !ok {
		return p.invalidToken()
	}
	p.tok = tokNumber
	return true
}

// lexString reads a string, unescaped into str if asked.
func (p *jsonParser) lexString() bool {
	p.str = p.str[:0]
	if p.unescape {
		p.str = nil
	}
	i := p.start + 1
	high := rune(0)
	for {
		if i >= len(p.s) {
			p.end = len(p.s)
			return p.invalidToken()
		}
		c := p.s[i]
		if c < 0x20 {
			p.end = i
			return p.fail("Character with value 0x%02x must be escaped.", c)
		}
		if c == '\\' {
			i++
			if i >= len(p.s) {
				p.end = len(p.s)
				return p.invalidToken()
			}
			if p.s[i] == 'u' {
				r, ok := p.hex4(i + 1)
				if !ok {
					return false
				}
				i += 5
				if p.unescape && !p.unicode(r, i, &high) {
					return false
				}
				continue
			}
			if high != 0 {
				return p.lowSurrogate(i)
			}
			k := bytes.IndexByte([]byte(`"\/bfnrt`), p.s[i])
			if k < 0 {
				_, n := utf8.DecodeRune(p.s[i:])
				p.end = i + n
				return p.fail("Escape sequence \"\\%s\" is invalid.", p.s[i:i+n])
			}
			if p.unescape {
				p.str = append(p.str, "\"\\/\b\f\n\r\t"[k])
			}
			i++
			continue
		}
		if high != 0 {
			return p.lowSurrogate(i)
		}
		if c == '"' {
			break
		}
		if p.unescape {
			p.str = append(p.str, c)
		}
		i++
	}
	p.end = i + 1
	p.tok = tokString
	if p.str == nil {
		p.str = []byte{}
	}
	return true
}

func (p *jsonParser) hex4(at int) (rune, bool) {
	var r rune
	for i := at; i < at+4; i++ {
		if i >= len(p.s) {
			p.end = len(p.s)
			return 0, p.invalidToken()
		}
		d := hexDigit(p.s[i])
		if d < 0 {
			_, n := utf8.DecodeRune(p.s[i:])
			p.end = i + n
			return 0, p.fail("\"\\u\" must be followed by four hexadecimal digits.")
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func (p *jsonParser) lowSurrogate(at int) bool {
	p.end = min(at+1, len(p.s))
	return p.fail("Unicode low surrogate must follow a high surrogate.")
}

func (p *jsonParser) unicode(r rune, at int, high *rune) bool {
	switch {
	case r >= 0xD800 && r < 0xDC00:
		if *high != 0 {
			p.end = at
			return p.fail("Unicode high surrogate must not follow a high surrogate.")
		}
		*high = r
		return true
	case r >= 0xDC00 && r < 0xE000:
		if *high == 0 {
			return p.lowSurrogate(at - 1)
		}
		r = utf16.DecodeRune(*high, r)
		*high = 0
	}
	if *high != 0 {
		return p.lowSurrogate(at - 1)
	}
	if r == 0 {
		p.end = at
		return p.failUnicode(pgerr.UntranslatableCharacter, "unsupported Unicode escape sequence", "\\u0000 cannot be converted to text.")
	}
	p.str = utf8.AppendRune(p.str, r)
	return true
}

// value parses the value that begins with the present token and leaves the token after it.
func (p *jsonParser) value(v *JSONValue) bool {
	start := p.start
	end := 0
	switch p.tok {
	case tokObjectStart, tokArrayStart:
		if p.depth++; p.depth > maxJSONDepth {
			p.err = pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").
				WithHint("Increase the configuration parameter \"max_stack_depth\" (currently %dkB), after ensuring the platform's stack depth limit is adequate.", 2048)
			return false
		}
		ok := false
		if p.tok == tokObjectStart {
			ok = p.object(v)
		} else {
			ok = p.array(v)
		}
		if !ok {
			return false
		}
		p.depth--
		end = p.end
	case tokString:
		v.Kind, v.Str, end = JSONString, p.str, p.end
		p.str = nil
	case tokNumber:
		v.Kind, end = JSONNumber, p.end
		if p.unescape && !p.rawNumbers {
			var err error
			if v.Num, err = ParseNum(p.text()); err != nil {
				p.err = err
				return false
			}
		}
	case tokTrue:
		v.Kind, end = JSONTrue, p.end
	case tokFalse:
		v.Kind, end = JSONFalse, p.end
	case tokNull:
		v.Kind, end = JSONNull, p.end
	default:
		return p.unexpected("Expected JSON value")
	}
	v.Raw = p.s[start:end:end]
	return p.next()
}

// object and array leave the closing token as the present one.
func (p *jsonParser) object(v *JSONValue) bool {
	v.Kind = JSONObject
	if !p.next() {
		return false
	}
	if p.tok == tokObjectEnd {
		return true
	}
	if p.tok != tokString {
		return p.unexpected("Expected string or \"}\"")
	}
	for {
		key := p.str
		p.str = nil
		if !p.unescape {
			key = nil
		}
		if !p.next() {
			return false
		}
		if p.tok != tokColon {
			return p.unexpected("Expected \":\"")
		}
		if !p.next() {
			return false
		}
		var e JSONValue
		if !p.value(&e) {
			return false
		}
		if p.unescape {
			v.Keys = append(v.Keys, key)
			v.Vals = append(v.Vals, e)
		}
		if p.tok == tokObjectEnd {
			return true
		}
		if p.tok != tokComma {
			return p.unexpected("Expected \",\" or \"}\"")
		}
		if !p.next() {
			return false
		}
		if p.tok != tokString {
			return p.unexpected("Expected string")
		}
	}
}

func (p *jsonParser) array(v *JSONValue) bool {
	v.Kind = JSONArray
	if !p.next() {
		return false
	}
	if p.tok == tokArrayEnd {
		return true
	}
	for {
		var e JSONValue
		if !p.value(&e) {
			return false
		}
		if p.unescape {
			v.Vals = append(v.Vals, e)
		}
		if p.tok == tokArrayEnd {
			return true
		}
		if p.tok != tokComma {
			return p.unexpected("Expected \",\" or \"]\"")
		}
		if !p.next() {
			return false
		}
	}
}

func (p *jsonParser) parse(v *JSONValue) error {
	p.line = 1
	if p.next() && p.value(v) && p.tok != tokEnd {
		p.unexpected("Expected end of input")
	}
	return p.err
}

// ParseJSON parses a JSON text with its strings unescaped. Keys stay in their order, duplicates included.
func ParseJSON(s []byte) (JSONValue, error) {
	p := jsonParser{s: s, unescape: true}
	var v JSONValue
	err := p.parse(&v)
	return v, err
}

// CheckJSONEscapes checks that the strings of a valid JSON text mean something as text.
func CheckJSONEscapes(s []byte) error {
	p := jsonParser{s: s, unescape: true, rawNumbers: true}
	var v JSONValue
	return p.parse(&v)
}

// parseJSON checks the syntax and keeps the text.
func parseJSON(s []byte) (Datum, error) {
	p := jsonParser{s: s}
	var v JSONValue
	if err := p.parse(&v); err != nil {
		return Datum{}, err
	}
	return Datum{B: s}, nil
}

func parseJSONB(s []byte) (Datum, error) {
	v, err := ParseJSON(s)
	if err != nil {
		return Datum{}, err
	}
	return JSONBDatum(&v), nil
}

// JSONBDatum makes a jsonb: the canonical text, its objects' keys sorted by length and bytes, the last of duplicates kept.
func JSONBDatum(v *JSONValue) Datum {
	v.Canonical()
	return Datum{B: v.Append(nil)}
}

// JSONB parses a jsonb datum.
func (d Datum) JSONB() JSONValue {
	v, err := ParseJSON(d.B)
	if err != nil {
		panic(fmt.Sprintf("a stored jsonb does not parse: %v", err)) // our own bug: it was written by Append
	}
	return v
}

// Canonical sorts the keys of all objects within v and drops duplicates.
func (v *JSONValue) Canonical() {
	for i := range v.Vals {
		v.Vals[i].Canonical()
	}
	if v.Kind != JSONObject {
		return
	}
	sorted := true
	for i := 1; i < len(v.Keys); i++ {
		if compareJSONKeys(v.Keys[i-1], v.Keys[i]) >= 0 {
			sorted = false
			break
		}
	}
	if sorted {
		return
	}
	v.Raw = nil
	order := make([]int, len(v.Keys))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return compareJSONKeys(v.Keys[order[a]], v.Keys[order[b]]) < 0 })
	keys := make([][]byte, 0, len(order))
	vals := make([]JSONValue, 0, len(order))
	for i, k := range order {
		if i+1 < len(order) && bytes.Equal(v.Keys[k], v.Keys[order[i+1]]) {
			continue // a later one follows
		}
		keys = append(keys, v.Keys[k])
		vals = append(vals, v.Vals[k])
	}
	v.Keys, v.Vals = keys, vals
}

// CompareJSONKeys is the order of the keys of a jsonb object: by length, then by bytes.
func CompareJSONKeys(a, b []byte) int { return compareJSONKeys(a, b) }

func compareJSONKeys(a, b []byte) int {
	if len(a) != len(b) {
		return cmpInt(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

// Get finds a key of an object; the last of duplicates.
func (v *JSONValue) Get(key []byte) *JSONValue {
	for i := len(v.Keys) - 1; i >= 0; i-- {
		if bytes.Equal(v.Keys[i], key) {
			return &v.Vals[i]
		}
	}
	return nil
}

// Append prints v as jsonb does.
func (v *JSONValue) Append(dst []byte) []byte {
	switch v.Kind {
	case JSONNull:
		return append(dst, "null"...)
	case JSONTrue:
		return append(dst, "true"...)
	case JSONFalse:
		return append(dst, "false"...)
	case JSONNumber:
		return v.Num.Append(dst)
	case JSONString:
		return AppendJSONString(dst, v.Str)
	case JSONArray:
		dst = append(dst, '[')
		for i := range v.Vals {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = v.Vals[i].Append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range v.Vals {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(AppendJSONString(dst, v.Keys[i]), ": "...)
		dst = v.Vals[i].Append(dst)
	}
	return append(dst, '}')
}

// AppendJSONString quotes and escapes a string.
func AppendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, c := range s {
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			if c < ' ' {
				dst = append(dst, '\\', 'u', '0', '0', hexLower[c>>4], hexLower[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}

// rank orders kinds; false and true compare as one kind.
func (v *JSONValue) rank() int {
	if v.Kind == JSONTrue {
		return int(JSONFalse)
	}
	return int(v.Kind)
}

// CompareJSON orders jsonb values: object > array > boolean > number > string > null, but an empty array at the
// top is the least of all.
func CompareJSON(a, b *JSONValue) int {
	if ea, eb := a.emptyArray(), b.emptyArray(); ea || eb {
		switch {
		case ea && eb:
			return 0
		case ea && b.Kind != JSONObject:
			return -1
		case eb && a.Kind != JSONObject:
			return 1
		}
	}
	return compareJSON(a, b)
}

func (v *JSONValue) emptyArray() bool { return v.Kind == JSONArray && len(v.Vals) == 0 }

func compareJSON(a, b *JSONValue) int {
	if c := cmpInt(a.rank(), b.rank()); c != 0 {
		return c
	}
	switch a.Kind {
	case JSONNull:
		return 0
	case JSONTrue, JSONFalse:
		return cmpInt(int(a.Kind), int(b.Kind))
	case JSONNumber:
		return a.Num.Cmp(b.Num)
	case JSONString:
		return bytes.Compare(a.Str, b.Str)
	}
	if c := cmpInt(len(a.Vals), len(b.Vals)); c != 0 {
		return c
	}
	for i := range a.Vals {
		if a.Kind == JSONObject {
			if c := compareJSONKeys(a.Keys[i], b.Keys[i]); c != 0 {
				return c
			}
		}
		if c := compareJSON(&a.Vals[i], &b.Vals[i]); c != 0 {
			return c
		}
	}
	return 0
}
