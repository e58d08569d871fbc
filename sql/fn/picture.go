package fn

import (
	"unicode/utf8"
)

// Pictures are the format strings of to_char and its inverses: fields known by keyword among literal characters.

type itemKind uint8

const (
	itemField itemKind = iota
	itemLiteral
	itemSpace
	itemPunct // an ASCII punctuation mark outside quotes; only dates tell it from a literal
)

// item is one field or one literal character.
type item[F any] struct {
	kind    itemKind
	literal string
	field   F
	name    string // the keyword, as it is in the table
	fill    bool   // FM
	local   bool   // TM
	ordinal byte   // 'T' for TH, 't' for th
}

func isPunct(c byte) bool {
	return c > ' ' && c < 0x7F && !isDigit(c) && !(c|0x20 >= 'a' && c|0x20 <= 'z')
}

// charAt is the character s begins with; s is not empty.
func charAt(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// parsePicture splits a picture. field tries to take one off the front: it returns its length, and names the item.
// Without a name what it took is dropped, and a literal follows.
func parsePicture[F any](s string, field func(s string, it *item[F]) (int, error)) ([]item[F], error) {
	items := make([]item[F], 0, len(s))
	for s != "" {
		var it item[F]
		n, err := field(s, &it)
		if err != nil {
			return nil, err
		}
		s = s[n:]
		if it.name != "" {
			items = append(items, it)
			continue
		}
		if s == "" {
			break
		}
		if s[0] == '"' {
			s = s[1:]
			for s != "" && s[0] != '"' {
				if s[0] == '\\' && len(s) > 1 {
					s = s[1:]
				}
				c := charAt(s)
				items = append(items, item[F]{kind: itemLiteral, literal: c})
				s = s[len(c):]
			}
			if s != "" {
				s = s[1:]
			}
			continue
		}
		if s[0] == '\\' && len(s) > 1 && s[1] == '"' {
			s = s[1:]
		}
		it = item[F]{kind: itemLiteral, literal: charAt(s)}
		switch {
		case isPunct(s[0]):
			it.kind = itemPunct
		case isSpace(s[0]):
			it.kind = itemSpace
		}
		items = append(items, it)
		s = s[len(it.literal):]
	}
	return items, nil
}

// lastOf keeps, at a call site, what was made of the argument that was seen last: pictures seldom change.
type lastOf[T any] struct {
	key  string
	made T
}

func remembered[T any](c *Context, key []byte, make func(string) (T, error)) (T, error) {
	if c.Call == nil {
		return make(string(key))
	}
	last, _ := c.Call.State.(*lastOf[T])
	if last != nil && last.key == string(key) {
		return last.made, nil
	}
	k := string(key)
	made, err := make(k)
	if err == nil {
		c.Call.State = &lastOf[T]{key: k, made: made}
	}
	return made, err
}

// ordinalSuffix is the English one of a number; ok is false if s does not end in a digit.
func ordinalSuffix(s []byte, style byte) (suffix string, ok bool) {
	last := s[len(s)-1]
	if !isDigit(last) {
		return "", false
	}
	if len(s) > 1 && s[len(s)-2] == '1' {
		last = '0'
	}
	upper := style == 'T'
	for i, c := range []byte("123") {
		if c == last {
			if upper {
				return [...]string{"ST", "ND", "RD"}[i], true
			}
			return [...]string{"st", "nd", "rd"}[i], true
		}
	}
	if upper {
		return "TH", true
	}
	return "th", true
}
