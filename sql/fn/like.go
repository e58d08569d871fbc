package fn

import (
	"bytes"
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// likeResult is what a match of a pattern's rest against a text's rest says.
type likeResult uint8

const (
	likeTrue likeResult = iota
	likeFalse
	likeAbort // no longer text could match either, so callers need not try
)

func errLikeEnd() error {
	return pgerr.New(pgerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
}

// likeMatch follows MatchText of PostgreSQL's like_match.c over UTF-8; step is how far _ goes.
func likeMatch(t, p []byte, step func([]byte) int) (likeResult, error) {
	if len(p) == 1 && p[0] == '%' {
		return likeTrue, nil
	}
	for len(t) > 0 && len(p) > 0 {
		switch p[0] {
		case '\\':
			if p = p[1:]; len(p) == 0 {
				return likeFalse, errLikeEnd()
			}
			if p[0] != t[0] {
				return likeFalse, nil
			}
		case '%':
			return likePercent(t, p, step)
		case '_':
			t = t[step(t):]
			p = p[1:]
			continue
		default:
			if p[0] != t[0] {
				return likeFalse, nil
			}
		}
		t, p = t[1:], p[1:]
	}
	if len(t) > 0 {
		return likeFalse, nil
	}
	for len(p) > 0 && p[0] == '%' {
		p = p[1:]
	}
	if len(p) == 0 {
		return likeTrue, nil
	}
	return likeAbort, nil
}

// likePercent handles a pattern that begins with %.
func likePercent(t, p []byte, step func([]byte) int) (likeResult, error) {
	p = p[1:]
	for len(p) > 0 {
		if p[0] == '%' {
			p = p[1:]
		} else if p[0] == '_' {
			if len(t) == 0 {
				return likeAbort, nil
			}
			t, p = t[step(t):], p[1:]
		} else {
			break
		}
	}
	if len(p) == 0 {
		return likeTrue, nil
	}
	first := p[0]
	if first == '\\' {
		if len(p) < 2 {
			return likeFalse, errLikeEnd()
		}
		first = p[1]
	}
	for len(t) > 0 {
		i := bytes.IndexByte(t, first)
		if i < 0 {
			break
		}
		t = t[i:]
		if m, err := likeMatch(t, p, step); m != likeFalse || err != nil {
			return m, err
		}
		t = t[step(t):]
	}
	return likeAbort, nil
}

func stepRune(t []byte) int {
	if t[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRune(t)
	return n
}

func stepByte([]byte) int { return 1 }

// likePattern is a pattern made ready: the plain forms without inner wildcards are compared directly.
type likePattern struct {
	source []byte
	form   likeForm
	text   []byte // of the plain forms, unescaped
	fold   bool
	step   func([]byte) int
}

type likeForm uint8

const (
	likeGeneral likeForm = iota
	likeExact
	likePrefix
	likeSuffix
	likeContains
)

func compileLike(pattern []byte, fold bool, step func([]byte) int) *likePattern {
	p := &likePattern{source: bytes.Clone(pattern), fold: fold, step: step}
	s := p.source
	if fold {
		s = lowerText(s)
		p.source = s
	}
	starts, ends := len(s) > 0 && s[0] == '%', false
	if starts {
		s = s[1:]
	}
	if n := len(s); n > 0 && s[n-1] == '%' && (n < 2 || s[n-2] != '\\') {
		ends = true
		s = s[:n-1]
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '%', '_':
			return p
		case '\\':
			if i+1 >= len(s) {
				return p // an error if it is reached
			}
			i++
		}
		p.text = append(p.text, s[i])
	}
	switch {
	case starts && ends, starts && len(s) == 0:
		p.form = likeContains
	case starts:
		p.form = likeSuffix
	case ends:
		p.form = likePrefix
	default:
		p.form = likeExact
	}
	return p
}

func (p *likePattern) match(t []byte) (bool, error) {
	if p.fold {
		t = lowerText(t)
	}
	switch p.form {
	case likeExact:
		return bytes.Equal(t, p.text), nil
	case likePrefix:
		return bytes.HasPrefix(t, p.text), nil
	case likeSuffix:
		return bytes.HasSuffix(t, p.text), nil
	case likeContains:
		return bytes.Contains(t, p.text), nil
	}
	m, err := likeMatch(t, p.source, p.step)
	return m == likeTrue, err
}

// likeState keeps the last pattern of a call site.
type likeState struct {
	raw     []byte
	pattern *likePattern
}

func (c *Context) like(pattern []byte, fold bool, step func([]byte) int) *likePattern {
	var s *likeState
	if c.Call != nil {
		s, _ = c.Call.State.(*likeState)
		if s != nil && bytes.Equal(s.raw, pattern) {
			return s.pattern
		}
	}
	p := compileLike(pattern, fold, step)
	if c.Call != nil {
		c.Call.State = &likeState{raw: bytes.Clone(pattern), pattern: p}
	}
	return p
}

func likeFunc(negate, fold bool, step func([]byte) int, prepare func([]byte) []byte) (Func, VecFunc) {
	scalar := func(c *Context, a []types.Datum) (types.Datum, error) {
		ok, err := c.like(a[1].B, fold, step).match(prepare(a[0].B))
		return types.BoolDatum(ok != negate), err
	}
	vector := func(c *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
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
			ok, err := c.like(b.B[ib], fold, step).match(prepare(a.B[ia]))
			if err != nil {
				return err
			}
			out.W[i] = uint64(b2i(ok != negate))
		}
		return nil
	}
	return scalar, vector
}

func same(b []byte) []byte { return b }

// likeEscape rewrites a pattern with another escape character, or none, to one with the backslash.
func likeEscape(p, esc []byte) ([]byte, error) {
	out := make([]byte, 0, len(p)+4)
	if len(esc) == 0 {
		for _, c := range p {
			if c == '\\' {
				out = append(out, '\\')
			}
			out = append(out, c)
		}
		return out, nil
	}
	if utf8.RuneCount(esc) != 1 {
		return nil, pgerr.New(pgerr.InvalidEscapeSequence, "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	if len(esc) == 1 && esc[0] == '\\' {
		return p, nil
	}
	after := false
	for len(p) > 0 {
		switch {
		case bytes.HasPrefix(p, esc) && !after:
			out = append(out, '\\')
			p = p[len(esc):]
			after = true
			continue
		case p[0] == '\\':
			out = append(out, '\\')
			if !after {
				out = append(out, '\\')
			}
			p = p[1:]
		default:
			n := stepRune(p)
			out = append(out, p[:n]...)
			p = p[n:]
		}
		after = false
	}
	return out, nil
}

func registerLike(r *registry) {
	// char(n) is matched with its trailing spaces.
	for _, name := range []string{"text", "name", "bpchar"} {
		f, v := likeFunc(false, false, stepRune, same)
		r.vec(name+"like", f, v)
		f, v = likeFunc(true, false, stepRune, same)
		r.vec(name+"nlike", f, v)
		f, v = likeFunc(false, true, stepRune, same)
		r.vec(name+"iclike", f, v)
		f, v = likeFunc(true, true, stepRune, same)
		r.vec(name+"icnlike", f, v)
	}
	f, v := likeFunc(false, false, stepByte, same)
	r.vec("bytealike", f, v)
	f, v = likeFunc(true, false, stepByte, same)
	r.vec("byteanlike", f, v)
	for _, name := range []string{"like_escape", "like_escape_bytea"} {
		r.fn(name, func(_ *Context, a []types.Datum) (types.Datum, error) {
			b, err := likeEscape(a[0].B, a[1].B)
			return types.Datum{B: b}, err
		})
	}
	r.fn("similar_to_escape_1", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return similarPattern(a[0].B, []byte{'\\'}, false)
	})
	r.fn("similar_to_escape_2", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return similarPattern(a[0].B, a[1].B, false)
	})
	r.fn("similar_escape", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return types.NullDatum, nil
		}
		if a[1].Null {
			return similarPattern(a[0].B, []byte{'\\'}, false)
		}
		return similarPattern(a[0].B, a[1].B, false)
	})
	r.sql(2074, "substring", func(c *Context, a []types.Datum) (types.Datum, error) {
		p, err := similarPattern(a[1].B, a[2].B, true)
		if err != nil {
			return types.Datum{}, err
		}
		return regexSubstring(c, []types.Datum{a[0], p})
	})
	registerRegex(r)
}

func errEscapeSeparators() error {
	return pgerr.New(pgerr.InvalidUseOfEscapeCharacter, "SQL regular expression may not contain more than two escape-double-quote separators")
}

// similarPattern turns a pattern of SIMILAR TO into a regular expression of the advanced flavour.
func similarPattern(p, esc []byte, _ bool) (types.Datum, error) {
	if len(esc) > 0 && utf8.RuneCount(esc) != 1 {
		return types.Datum{}, pgerr.New(pgerr.InvalidEscapeSequence, "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	out := []byte("^(?:")
	after, class := false, false
	quotes := 0
	for len(p) > 0 {
		n := stepRune(p)
		ch := p[:n]
		p = p[n:]
		c := ch[0]
		switch {
		case n > 1 && !bytes.Equal(ch, esc):
			if after {
				out = append(out, '\\')
			}
			out = append(out, ch...)
			after = false
		case after:
			if c == '"' && !class {
				switch quotes {
				case 0:
					// The first part must be as short, the middle is what is captured, the last as short.
					out = append(out, "){1,1}?(" /* captured */ ...)
				case 1:
					out = append(out, "){1,1}(?:"...)
				default:
					return types.Datum{}, errEscapeSeparators()
				}
				quotes++
			} else {
				out = append(out, '\\', c)
			}
			after = false
		case bytes.Equal(ch, esc):
			after = true
		case class:
			if c == '\\' {
				out = append(out, '\\')
			}
			out = append(out, c)
			if c == ']' {
				class = false
			}
		case c == '[':
			out = append(out, c)
			class = true
		case c == '%':
			out = append(out, '.', '*')
		case c == '_':
			out = append(out, '.')
		case c == '(':
			out = append(out, "(?:"...)
		case c == '\\' || c == '.' || c == '^' || c == '$':
			out = append(out, '\\', c)
		default:
			out = append(out, c)
		}
	}
	return types.Datum{B: append(out, ")$"...)}, nil
}
