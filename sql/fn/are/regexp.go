package are

import (
	"bytes"
	"regexp"
	"unicode/utf8"
)

// Regexp is a compiled expression.
type Regexp struct {
	root     *node
	groups   []*node
	fold     bool
	nullable bool
	first    *class // of the first character, if it is one class
	literal  []byte // the whole expression, if it is plain characters
	isLit    bool
	// bool answers whether there is a match; place finds it where the longest is taken. Nil if only the tree can.
	goRE     *regexp.Regexp
	placesOK bool
	context  bool // looks at what is before the start: anchors and word boundaries
}

// Compile parses an expression; the error is PostgreSQL's.
func Compile(pattern string, flags Flags) (*Regexp, error) {
	root, p, err := parse(pattern, flags)
	if err != nil {
		return nil, err
	}
	re := &Regexp{root: root, groups: p.groupN, fold: p.flags.IgnoreCase, nullable: root.nullable()}
	re.first = firstClass(root)
	re.literal, re.isLit = literalOf(root)
	special, shorter := false, false
	root.walk(func(n *node) {
		switch n.op {
		case opAssert:
			re.context = true
			if n.assert >= atWordStart {
				special = true
			}
		case opLook, opBackref:
			re.context, special = true, true
		case opRepeat:
			if n.pref == prefShorter {
				shorter = true
			}
		}
	})
	if !special {
		re.goRE = compileGo(root)
		re.placesOK = re.goRE != nil && !shorter
	}
	return re, nil
}

// firstClass is the class of the character that every match begins with, if it is plain to see.
func firstClass(n *node) *class {
	switch n.op {
	case opClass:
		return n.class
	case opCapture:
		return firstClass(n.subs[0])
	case opRepeat:
		if n.min > 0 {
			return firstClass(n.subs[0])
		}
	case opConcat:
		for _, s := range n.subs {
			if s.op == opAssert || s.op == opLook {
				continue
			}
			return firstClass(s)
		}
	}
	return nil
}

func literalOf(n *node) ([]byte, bool) {
	switch n.op {
	case opClass:
		if r, ok := n.class.single(); ok && !n.class.fold {
			return utf8.AppendRune(nil, r), true
		}
	case opConcat:
		var out []byte
		for _, s := range n.subs {
			b, ok := literalOf(s)
			if !ok || s.op != opClass {
				return nil, false
			}
			out = append(out, b...)
		}
		return out, true
	}
	return nil, false
}

// NumGroups is the number of capturing parentheses.
func (re *Regexp) NumGroups() int { return len(re.groups) }

// Match reports whether text contains a match.
func (re *Regexp) Match(text []byte) bool {
	if re.isLit {
		return bytes.Contains(text, re.literal)
	}
	if re.goRE != nil {
		return re.goRE.Match(text)
	}
	m := newMatcher(re, text)
	m.caps = make([]int, 2*len(re.groups)+2)
	return m.search(0)
}

// Search finds matches one after the other.
type Search struct {
	re     *Regexp
	text   []byte
	m      *matcher
	groups bool
}

// NewSearch prepares to search text; captures are placed only if asked for.
func (re *Regexp) NewSearch(text []byte, captures bool) *Search {
	return &Search{re: re, text: text, groups: captures && len(re.groups) > 0}
}

// Find gives the first match at or after byte offset start: pairs of offsets, of the match and of each group, -1 for groups not
// set. nil if there is none.
func (s *Search) Find(start int) []int {
	re := s.re
	if re.isLit {
		i := bytes.Index(s.text[start:], re.literal)
		if i < 0 {
			return nil
		}
		return []int{start + i, start + i + len(re.literal)}
	}
	fast := re.placesOK && (start == 0 || !re.context)
	if fast {
		loc := re.goRE.FindIndex(s.text[start:])
		if loc == nil {
			return nil
		}
		loc[0] += start
		loc[1] += start
		if !s.groups {
			return loc
		}
		m := s.matcher()
		i, j := m.runeAt(loc[0]), m.runeAt(loc[1])
		for k := range m.caps {
			m.caps[k] = -1
		}
		if m.dissect(re.root, i, j) {
			m.caps[0], m.caps[1] = i, j
			return m.locs()
		}
		// Not reached: both ways agree on which texts match. The tree decides.
	}
	m := s.matcher()
	from := m.runeAt(start)
	if re.goRE != nil && start == 0 {
		// The leftmost start does not depend on preferences.
		loc := re.goRE.FindIndex(s.text)
		if loc == nil {
			return nil
		}
		from = m.runeAt(loc[0])
	}
	if !m.search(from) {
		return nil
	}
	return m.locs()
}

func (s *Search) matcher() *matcher {
	if s.m == nil {
		s.m = newMatcher(s.re, s.text)
		s.m.caps = make([]int, 2*len(s.re.groups)+2)
	}
	return s.m
}
