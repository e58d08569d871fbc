package are

import "unicode"

// op is the kind of a node.
type op uint8

const (
	opEmpty op = iota
	opClass
	opConcat
	opAlt
	opRepeat
	opCapture
	opBackref
	opAssert
	opLook
)

// assertion is a constraint that takes no text.
type assertion uint8

const (
	atStart       assertion = iota // \A, and ^ without newline sensitivity
	atEnd                          // \Z, and $
	atLineStart                    // ^ with it
	atLineEnd                      // $
	atWordStart                    // \m
	atWordEnd                      // \M
	atBoundary                     // \y
	atNonBoundary                  // \Y
)

// preference is which of several matches a node takes.
type preference uint8

const (
	prefNone preference = iota
	prefLonger
	prefShorter
)

// infinity is the upper bound of * and +.
const infinity = -1

type node struct {
	op       op
	id       int // unique in a Regexp
	class    *class
	subs     []*node
	min, max int
	pref     preference
	group    int // of captures and back references
	assert   assertion
	behind   bool // of lookaround
	negate   bool
	captures bool  // a capture or a back reference lies within
	backrefs bool  // a back reference lies within
	head     *node // of a repetition with captures: all repetitions but the last
}

// class is a set of characters.
type class struct {
	negate  bool
	fold    bool
	newline bool // a negated set that does not match a newline
	ranges  []runeRange
	named   []namedClass
}

type runeRange struct{ lo, hi rune }

type namedClass struct {
	name   string
	negate bool
}

// single reports a class of one character without folding.
func (c *class) single() (rune, bool) {
	if c.negate || len(c.named) > 0 || len(c.ranges) != 1 || c.ranges[0].lo != c.ranges[0].hi {
		return 0, false
	}
	return c.ranges[0].lo, true
}

func (c *class) has(r rune) bool {
	in := c.contains(r)
	if !in && c.fold {
		for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
			in = c.contains(f)
		}
	}
	if c.negate {
		return !in && (!c.newline || r != '\n')
	}
	return in
}

func (c *class) contains(r rune) bool {
	for _, x := range c.ranges {
		if r >= x.lo && r <= x.hi {
			return true
		}
	}
	for _, n := range c.named {
		if inNamed(n.name, r) != n.negate {
			return true
		}
	}
	return false
}

// inNamed is the membership of the POSIX classes, beyond ASCII as in the locale C.UTF-8, whose digits are ASCII's.
func inNamed(name string, r rune) bool {
	switch name {
	case "alpha":
		return unicode.IsLetter(r)
	case "digit":
		return r >= '0' && r <= '9'
	case "alnum":
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	case "word":
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	case "upper":
		return unicode.IsUpper(r)
	case "lower":
		return unicode.IsLower(r)
	case "space":
		return unicode.IsSpace(r) && r != 0xA0 && r != 0x85 && r != 0x2007 && r != 0x202F
	case "blank":
		return r == ' ' || r == '\t'
	case "punct":
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	case "cntrl":
		return unicode.IsControl(r)
	case "graph":
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	case "print":
		return unicode.IsPrint(r)
	case "xdigit":
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
	case "ascii":
		return r < 128
	}
	return false
}

func isWord(r rune) bool { return inNamed("word", r) }

// nullable reports whether n can match the empty string; lookaround counts as able.
func (n *node) nullable() bool {
	switch n.op {
	case opClass:
		return false
	case opConcat:
		for _, s := range n.subs {
			if !s.nullable() {
				return false
			}
		}
		return true
	case opAlt:
		for _, s := range n.subs {
			if s.nullable() {
				return true
			}
		}
		return false
	case opRepeat:
		return n.min == 0 || n.subs[0].nullable()
	case opCapture:
		return n.subs[0].nullable()
	}
	return true
}

// walk calls f for n and all nodes within.
func (n *node) walk(f func(*node)) {
	f(n)
	for _, s := range n.subs {
		s.walk(f)
	}
}
