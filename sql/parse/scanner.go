package parse

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	EOF           Kind = iota
	Ident              // keyword or identifier, not quoted
	QuotedIdent        // "x" and U&"x"
	String             // 'x', also n'x'
	EscapeString       // e'x' with backslashes
	UnicodeString      // u&'x'
	BitString          // b'x', x'x'
	DollarString       // $$x$$
	Integer            // decimal digits
	Float              // digits with a point or an exponent
	Parameter          // $1
	Operator           // one or more operator characters
	Self               // ( ) [ ] , ; : . and the two-character :: := .. =>
	Bad                // an unterminated string, comment or identifier; runs to the end
)

// Token is a token's kind and its place in the text, in bytes.
type Token struct {
	Kind       Kind
	Start, End int
}

// Scanner splits a statement into tokens by PostgreSQL's lexical rules
// (standard_conforming_strings on unless Backslash is set).
type Scanner struct {
	src string
	pos int
	// Backslash means standard_conforming_strings is off.
	Backslash bool
}

// NewScanner starts at the beginning of src.
func NewScanner(src string) Scanner { return Scanner{src: src} }

// Pos is the offset scanning goes on at.
func (s *Scanner) Pos() int { return s.pos }

type class uint8

const (
	cSpace class = 1 << iota
	cIdentStart
	cIdentPart
	cDigit
	cOperator
	cSelf
)

var classes = func() (t [256]class) {
	for _, c := range []byte(" \t\n\r\f\v") {
		t[c] |= cSpace
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= cIdentStart | cIdentPart
		t[c-'a'+'A'] |= cIdentStart | cIdentPart
	}
	for c := '0'; c <= '9'; c++ {
		t[c] |= cIdentPart | cDigit
	}
	for c := 0x80; c <= 0xFF; c++ {
		t[c] |= cIdentStart | cIdentPart
	}
	t['_'] |= cIdentStart | cIdentPart
	t['$'] |= cIdentPart
	for _, c := range []byte("~!@#^&|`?+-*/%<>=") {
		t[c] |= cOperator
	}
	for _, c := range []byte("()[],;:.") {
		t[c] |= cSelf
	}
	return t
}()

// Next returns the next token; comments and white space are passed over.
func (s *Scanner) Next() Token {
	if !s.skipSpace() {
		return s.token(Bad, s.pos, len(s.src))
	}
	start := s.pos
	if start >= len(s.src) {
		return Token{Kind: EOF, Start: start, End: start}
	}
	c := s.src[start]
	switch cl := classes[c]; {
	case cl&cIdentStart != 0:
		return s.identOrPrefixed(start, c)
	case cl&cDigit != 0:
		return s.number(start)
	case c == '\'':
		return s.quoted(String, start, start+1, s.Backslash)
	case c == '"':
		return s.quotedIdent(start, start+1)
	case c == '$':
		return s.dollar(start)
	case c == '.' && s.digitAt(start+1):
		return s.number(start)
	case cl&cSelf != 0:
		return s.self(start, c)
	case cl&cOperator != 0:
		return s.operator(start)
	default:
		return s.token(Operator, start, start+1)
	}
}

func (s *Scanner) token(k Kind, start, end int) Token {
	s.pos = end
	return Token{Kind: k, Start: start, End: end}
}

func (s *Scanner) byteAt(i int) byte {
	if i < len(s.src) {
		return s.src[i]
	}
	return 0
}

func (s *Scanner) digitAt(i int) bool { return classes[s.byteAt(i)]&cDigit != 0 }

// skipSpace passes white space and comments; false means a comment never ends.
func (s *Scanner) skipSpace() bool {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case classes[c]&cSpace != 0:
			s.pos++
		case c == '-' && s.byteAt(s.pos+1) == '-':
			for s.pos < len(s.src) && s.src[s.pos] != '\n' && s.src[s.pos] != '\r' {
				s.pos++
			}
		case c == '/' && s.byteAt(s.pos+1) == '*':
			end := s.blockComment(s.pos)
			if end < 0 {
				return false
			}
			s.pos = end
		default:
			return true
		}
	}
	return true
}

// blockComment returns the offset behind the nested comment at start, or -1.
func (s *Scanner) blockComment(start int) int {
	depth := 0
	for i := start; i < len(s.src); {
		switch {
		case s.src[i] == '/' && s.byteAt(i+1) == '*':
			depth++
			i += 2
		case s.src[i] == '*' && s.byteAt(i+1) == '/':
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return -1
}

func (s *Scanner) identOrPrefixed(start int, c byte) Token {
	switch next := s.byteAt(start + 1); {
	case next == '\'':
		switch c {
		case 'e', 'E':
			return s.quoted(EscapeString, start, start+2, true)
		case 'b', 'B', 'x', 'X':
			return s.quoted(BitString, start, start+2, false)
		}
	case next == '&' && (c == 'u' || c == 'U'):
		switch s.byteAt(start + 2) {
		case '\'':
			return s.quoted(UnicodeString, start, start+3, false)
		case '"':
			return s.quotedIdent(start, start+3)
		}
	}
	i := start + 1
	for i < len(s.src) && classes[s.src[i]]&cIdentPart != 0 {
		i++
	}
	return s.token(Ident, start, i)
}

// quoted scans a string whose content begins at i, with its continuations on
// further lines.
func (s *Scanner) quoted(k Kind, start, i int, backslash bool) Token {
	for i < len(s.src) {
		switch s.src[i] {
		case '\\':
			if backslash {
				i++
			}
			i++
		case '\'':
			if s.byteAt(i+1) == '\'' {
				i += 2
				continue
			}
			next := s.continuation(i + 1)
			if next < 0 {
				return s.token(k, start, i+1)
			}
			i = next
		default:
			i++
		}
	}
	return s.token(Bad, start, len(s.src))
}

// continuation looks behind a closing quote for white space with a newline and
// another quote: 'a' newline 'b' is one string. It returns the offset behind that quote, or -1.
func (s *Scanner) continuation(i int) int {
	newline := false
	for i < len(s.src) {
		c := s.src[i]
		switch {
		case c == '\n' || c == '\r':
			newline = true
			i++
		case classes[c]&cSpace != 0:
			i++
		case c == '-' && s.byteAt(i+1) == '-':
			for i < len(s.src) && s.src[i] != '\n' && s.src[i] != '\r' {
				i++
			}
		case c == '\'' && newline:
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

func (s *Scanner) quotedIdent(start, i int) Token {
	for i < len(s.src) {
		if s.src[i] == '"' {
			if s.byteAt(i+1) != '"' {
				return s.token(QuotedIdent, start, i+1)
			}
			i++
		}
		i++
	}
	return s.token(Bad, start, len(s.src))
}

func (s *Scanner) dollar(start int) Token {
	i := start + 1
	if s.digitAt(i) {
		for s.digitAt(i) {
			i++
		}
		return s.token(Parameter, start, i)
	}
	for i < len(s.src) && classes[s.src[i]]&cIdentPart != 0 && s.src[i] != '$' {
		i++
	}
	if s.byteAt(i) != '$' {
		return s.token(Operator, start, start+1)
	}
	tag := s.src[start : i+1]
	for i++; i+len(tag) <= len(s.src); i++ {
		if s.src[i] == '$' && s.src[i:i+len(tag)] == tag {
			return s.token(DollarString, start, i+len(tag))
		}
	}
	return s.token(Bad, start, len(s.src))
}

func (s *Scanner) number(start int) Token {
	kind := Integer
	i := start
	for s.digitAt(i) {
		i++
	}
	if s.byteAt(i) == '.' && s.byteAt(i+1) != '.' {
		kind = Float
		i++
		for s.digitAt(i) {
			i++
		}
	}
	if c := s.byteAt(i); c == 'e' || c == 'E' {
		j := i + 1
		if c := s.byteAt(j); c == '+' || c == '-' {
			j++
		}
		if s.digitAt(j) {
			kind = Float
			for s.digitAt(j) {
				j++
			}
			i = j
		}
	}
	return s.token(kind, start, i)
}

func (s *Scanner) self(start int, c byte) Token {
	n := 1
	switch next := s.byteAt(start + 1); {
	case c == ':' && (next == ':' || next == '='), c == '.' && next == '.':
		n = 2
	}
	return s.token(Self, start, start+n)
}

// operator takes the longest run of operator characters that PostgreSQL takes:
// a comment start ends it, and a + or - at its end belongs to it only if one
// of ~ ! @ # % ^ & | ` ? stands before.
func (s *Scanner) operator(start int) Token {
	i := start
	special := false
	for i < len(s.src) && classes[s.src[i]]&cOperator != 0 {
		c := s.src[i]
		if i > start && (c == '-' && s.byteAt(i+1) == '-' || c == '/' && s.byteAt(i+1) == '*') {
			break
		}
		switch c {
		case '~', '!', '@', '#', '%', '^', '&', '|', '`', '?':
			special = true
		}
		i++
	}
	if !special {
		for i > start+1 && (s.src[i-1] == '+' || s.src[i-1] == '-') {
			i--
		}
	}
	return s.token(Operator, start, i)
}
