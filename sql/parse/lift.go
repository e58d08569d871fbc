package parse

// MaxLifted is how many literals Lift takes out of one statement. A statement with
// more is not worth remembering.
const MaxLifted = 64

// LiteralClass says which constant PostgreSQL's grammar makes of a literal.
type LiteralClass uint8

// The classes of literals. The class is part of the key, since it decides the type.
const (
	LiteralInt4 LiteralClass = iota + 1
	LiteralInt8
	LiteralNumeric
	LiteralString
)

// Literal is a literal cut out of a statement.
type Literal struct {
	Class      LiteralClass
	Start, End int // in the text, quotes included
	// Same is the index of the first literal of the statement that is equal
	// to this one (its own index where it is the first).
	Same int
}

// Value appends the literal's value to dst: the digits, or the string without its
// quotes and with ” made one.
func (l Literal) Value(dst []byte, sql string) []byte {
	text := sql[l.Start:l.End]
	if l.Class != LiteralString {
		return append(dst, text...)
	}
	for i := 1; i < len(text)-1; i++ {
		dst = append(dst, text[i])
		if text[i] == '\'' {
			i++
		}
	}
	return dst
}

// Lifted is a statement without its literals.
type Lifted struct {
	// Key tells statements apart that need plans of their own: the text with a
	// marker for each literal that holds its class and which others it equals.
	Key      []byte
	Literals []Literal
}

// Lift cuts the literals out of sql into l, whose memory it reuses. It reports
// false for text that is not to be cached: several statements, strings with
// escapes or continuations, too many literals, or unfinished tokens.
//
// A literal that directly follows a word (DATE '...', INTERVAL '...') stays in the
// key, as do numbers that only fit their type together with a minus sign.
func (l *Lifted) Lift(sql string, standardStrings bool) bool {
	l.Key, l.Literals = l.Key[:0], l.Literals[:0]
	s := NewScanner(sql)
	s.Backslash = !standardStrings
	copied, prev := 0, EOF
	for {
		tok := s.Next()
		switch tok.Kind {
		case EOF:
			l.Key = append(l.Key, sql[copied:]...)
			return true
		case Bad, EscapeString, UnicodeString, DollarString, BitString:
			return false
		case Self:
			if sql[tok.Start] == ';' {
				if s.Next().Kind != EOF {
					return false
				}
				l.Key = append(l.Key, sql[copied:tok.Start]...)
				return true
			}
		case String, Integer, Float:
			if prev == Ident && tok.Kind == String && !literalMayFollow(sql, tok.Start) {
				break
			}
			class := classify(sql, tok, !standardStrings)
			if class == 0 {
				if tok.Kind == String {
					return false
				}
				break
			}
			if len(l.Literals) == MaxLifted {
				return false
			}
			l.Key = append(l.Key, sql[copied:tok.Start]...)
			l.add(sql, Literal{Class: class, Start: tok.Start, End: tok.End})
			copied = tok.End
		}
		prev = tok.Kind
	}
}

func (l *Lifted) add(sql string, lit Literal) {
	lit.Same = len(l.Literals)
	for i, other := range l.Literals {
		if other.Class == lit.Class && sql[other.Start:other.End] == sql[lit.Start:lit.End] &&
			afterMinus(sql, other.Start) == afterMinus(sql, lit.Start) {
			lit.Same = i
			break
		}
	}
	l.Literals = append(l.Literals, lit)
	l.Key = append(l.Key, 0, byte(lit.Class), byte(lit.Same))
}

// afterMinus: 1 and the 1 of -1 are not equal, since the sign may become part of the constant.
func afterMinus(sql string, offset int) bool {
	for offset > 0 && classes[sql[offset-1]]&cSpace != 0 {
		offset--
	}
	return offset > 0 && sql[offset-1] == '-'
}

// literalMayFollow says whether the word before the string at offset is a
// keyword an expression may follow, rather than a type's name.
func literalMayFollow(sql string, offset int) bool {
	end := offset
	for end > 0 && classes[sql[end-1]]&cSpace != 0 {
		end--
	}
	start := end
	for start > 0 && classes[sql[start-1]]&cIdentPart != 0 {
		start--
	}
	if end-start > 9 {
		return false
	}
	var buf [9]byte
	for i, c := range []byte(sql[start:end]) {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	switch string(buf[:end-start]) {
	case "select", "where", "and", "or", "not", "like", "ilike", "between", "then", "else", "when", "case",
		"values", "in", "set", "by", "from", "on", "having", "returning", "distinct", "all", "union":
		return true
	}
	return false
}

// classify decides what constant the grammar makes of a literal; 0 means that it
// must stay in the text.
func classify(sql string, tok Token, backslash bool) LiteralClass {
	text := sql[tok.Start:tok.End]
	switch tok.Kind {
	case String:
		if text[0] != '\'' {
			return 0
		}
		for i := 1; i < len(text)-1; i++ {
			switch text[i] {
			case '\'':
				if text[i+1] != '\'' {
					return 0 // a continuation
				}
				i++
			case '\\':
				if backslash {
					return 0
				}
			}
		}
		return LiteralString
	case Integer:
		return classifyInteger(text)
	}
	return LiteralNumeric
}

func classifyInteger(text string) LiteralClass {
	const maxInt4, maxInt8 = "2147483647", "9223372036854775807"
	for len(text) > 1 && text[0] == '0' {
		text = text[1:]
	}
	switch {
	case len(text) < len(maxInt4) || len(text) == len(maxInt4) && text <= maxInt4:
		return LiteralInt4
	case text == "2147483648" || text == "9223372036854775808":
		return 0
	case len(text) < len(maxInt8) || len(text) == len(maxInt8) && text <= maxInt8:
		return LiteralInt8
	}
	return LiteralNumeric
}
