package parse

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	pg_parser "github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/minipg/minipg/pgerr"
)

// Stmt is one statement of a text.
type Stmt struct {
	Node *pg_query.Node
	// Start and End are the statement's bytes in the text, without the semicolon.
	Start, End int
}

// Parse parses every statement in sql. The positions in its errors count
// characters from 1.
func Parse(sql string) ([]Stmt, error) {
	if err := checkText(sql); err != nil {
		return nil, err
	}
	if err := Guard(sql); err != nil {
		return nil, err
	}
	result, err := pg_query.Parse(sql)
	if err != nil {
		return nil, parserError(err)
	}
	stmts := make([]Stmt, 0, len(result.Stmts))
	for _, raw := range result.Stmts {
		start, end := int(raw.StmtLocation), len(sql)
		if raw.StmtLen > 0 {
			end = start + int(raw.StmtLen)
		}
		start += leadingSpace(sql[start:end])
		stmts = append(stmts, Stmt{Node: raw.Stmt, Start: start, End: end})
	}
	return stmts, nil
}

func leadingSpace(text string) int {
	s := NewScanner(text)
	return s.Next().Start
}

func checkText(sql string) error {
	if i := strings.IndexByte(sql, 0); i >= 0 || !utf8.ValidString(sql) {
		return InvalidEncoding(sql)
	}
	return nil
}

// InvalidEncoding is the error for bytes that are not UTF-8 text without NUL.
func InvalidEncoding(text string) error {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == 0 || r == utf8.RuneError && n <= 1 {
			return pgerr.New(pgerr.CharacterNotInRepertoire,
				"invalid byte sequence for encoding \"UTF8\": %s", hexBytes(text[i:]))
		}
		i += n
	}
	return nil
}

// hexBytes shows as many bytes as the first one announces.
func hexBytes(text string) string {
	n := 1
	switch c := text[0]; {
	case c >= 0xF8: // begins no character
	case c >= 0xF0:
		n = 4
	case c >= 0xE0:
		n = 3
	case c >= 0xC0:
		n = 2
	}
	n = min(n, len(text))
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("0x")
		b.WriteByte(digits[text[i]>>4])
		b.WriteByte(digits[text[i]&15])
	}
	return b.String()
}

func parserError(err error) error {
	var perr *pg_parser.Error
	if !errors.As(err, &perr) {
		// The decoder's depth bound is all that is left to fail.
		return pgerr.Wrap(err, pgerr.StatementTooComplex, "stack depth limit exceeded")
	}
	out := pgerr.New(parserCode(perr), "%s", perr.Message)
	if perr.Message == invalidUnicodeEscape {
		out = out.WithHint(unicodeEscapeHint(perr))
	}
	if perr.Cursorpos > 0 {
		out.Position = perr.Cursorpos
	}
	return out
}

const invalidUnicodeEscape = "invalid Unicode escape"

// inUnicodeString tells an error of U&'...', which the grammar's lookahead decodes, from one of E'...'.
func inUnicodeString(perr *pg_parser.Error) bool { return perr.Funcname == "str_udeescape" }

// unicodeEscapeHint is the hint that the library does not hand over.
func unicodeEscapeHint(perr *pg_parser.Error) string {
	if inUnicodeString(perr) {
		return `Unicode escapes must be \XXXX or \+XXXXXX.`
	}
	return `Unicode escapes must be \uXXXX or \UXXXXXXXX.`
}

// parserCode finds the SQLSTATE of one of the grammar's own messages: the
// library does not hand the code over.
func parserCode(perr *pg_parser.Error) pgerr.Code {
	if inUnicodeString(perr) {
		return pgerr.SyntaxError
	}
	if perr.Message == invalidUnicodeEscape {
		return pgerr.InvalidEscapeSequence
	}
	for _, m := range parserCodes {
		if strings.Contains(perr.Message, m.text) {
			return m.code
		}
	}
	return pgerr.SyntaxError
}

var parserCodes = []struct {
	text string
	code pgerr.Code
}{
	{"stack depth limit exceeded", pgerr.StatementTooComplex},
	{"invalid byte sequence for encoding", pgerr.CharacterNotInRepertoire},
	{"frame start cannot be", pgerr.WindowingError},
	{"frame end cannot be", pgerr.WindowingError},
	{"frame starting from", pgerr.WindowingError},
	{"is not yet implemented", pgerr.FeatureNotSupported},
	{"not implemented", pgerr.FeatureNotSupported},
	{"not supported", pgerr.FeatureNotSupported},
	{"unsafe use of \\'", pgerr.NonstandardUseOfEscapeCharacter},
	{"interval precision specified twice", pgerr.SyntaxError},
	{"out of memory", pgerr.OutOfMemory},
	{"precision for type float must be", pgerr.InvalidParameterValue},
}

// CharPosition turns a byte offset into PostgreSQL's 1-based character position.
func CharPosition(sql string, offset int) int {
	if offset < 0 {
		return 0
	}
	return utf8.RuneCountInString(sql[:min(offset, len(sql))]) + 1
}
