package are

import (
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
)

// Flags are the options of an expression.
type Flags struct {
	IgnoreCase bool
	// DotNewline false means that . and negated brackets do not match a newline; LineAnchors that ^ and $ match at
	// newlines. The zero Flags have neither, as n and its kin set them.
	NewlineStops bool
	LineAnchors  bool
	Expanded     bool
	Literal      bool
}

// maxRepeat is the largest bound of a quantifier.
const maxRepeat = 255

// maxNesting bounds parentheses, for the stack's sake.
const maxNesting = 1000

func errRegex(msg string) error {
	return pgerr.New(pgerr.InvalidRegularExpression, "invalid regular expression: %s", msg)
}

// The messages of the library.
const (
	msgParen    = "parentheses () not balanced"
	msgBracket  = "brackets [] not balanced"
	msgBrace    = "braces {} not balanced"
	msgRepeat   = "quantifier operand invalid"
	msgBounds   = "invalid repetition count(s)"
	msgEscape   = "invalid escape \\ sequence"
	msgRange    = "invalid character range"
	msgClass    = "invalid character class"
	msgBackref  = "invalid backreference number"
	msgCollate  = "invalid collating element"
	msgOption   = "invalid embedded option"
	msgTooLarge = "regular expression is too complex"
)

type parser struct {
	s      []rune
	at     int
	flags  Flags
	groups int
	closed []bool // of groups, by number less one
	groupN []*node
	ids    int
	depth  int
}

func (p *parser) node(o op) *node {
	p.ids++
	return &node{op: o, id: p.ids - 1}
}

func (p *parser) more() bool { return p.at < len(p.s) }

func (p *parser) peek() rune {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return -1
}

func (p *parser) peekAt(k int) rune {
	if p.at+k < len(p.s) {
		return p.s[p.at+k]
	}
	return -1
}

// skip passes white space and comments of the expanded syntax, and (?#...).
func (p *parser) skip() {
	for p.more() {
		switch {
		case p.flags.Expanded && isSpaceRune(p.peek()):
			p.at++
		case p.flags.Expanded && p.peek() == '#':
			for p.more() && p.peek() != '\n' {
				p.at++
			}
		case p.peek() == '(' && p.peekAt(1) == '?' && p.peekAt(2) == '#':
			for p.more() && p.peek() != ')' {
				p.at++
			}
			if p.more() {
				p.at++
			}
		default:
			return
		}
	}
}

func isSpaceRune(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

// prefixes handles ***=, ***: and embedded options.
func (p *parser) prefixes() error {
	if len(p.s) >= 4 && string(p.s[:3]) == "***" {
		switch p.s[3] {
		case '=':
			p.flags.Literal = true
			p.at = 4
			return nil
		case ':':
			p.at = 4
		default:
			return errRegex(msgRepeat)
		}
	}
	if p.flags.Literal || p.peek() != '(' || p.peekAt(1) != '?' || !isLetter(p.peekAt(2)) {
		return nil
	}
	p.at += 2
	for ; p.more() && isLetter(p.peek()); p.at++ {
		switch p.peek() {
		case 'b', 'e':
			return pgerr.New(pgerr.FeatureNotSupported, "basic and extended regular expressions are not supported")
		case 'c':
			p.flags.IgnoreCase = false
		case 'i':
			p.flags.IgnoreCase = true
		case 'm', 'n':
			p.flags.NewlineStops, p.flags.LineAnchors = true, true
		case 'p':
			p.flags.NewlineStops, p.flags.LineAnchors = true, false
		case 'w':
			p.flags.NewlineStops, p.flags.LineAnchors = false, true
		case 's':
			p.flags.NewlineStops, p.flags.LineAnchors = false, false
		case 'q':
			p.flags.Literal = true
		case 't':
			p.flags.Expanded = false
		case 'x':
			p.flags.Expanded = true
		default:
			return errRegex(msgOption)
		}
	}
	if p.peek() != ')' {
		return errRegex(msgOption)
	}
	p.at++
	return nil
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func parse(pattern string, flags Flags) (*node, *parser, error) {
	p := &parser{flags: flags}
	for _, r := range pattern {
		p.s = append(p.s, r)
	}
	if err := p.prefixes(); err != nil {
		return nil, nil, err
	}
	if p.flags.Literal {
		n := p.node(opConcat)
		for ; p.more(); p.at++ {
			n.subs = append(n.subs, p.char(p.peek()))
		}
		p.finish(n)
		return n, p, nil
	}
	n, err := p.alternatives()
	if err != nil {
		return nil, nil, err
	}
	if p.more() { // a right parenthesis
		return nil, nil, errRegex(msgParen)
	}
	p.finish(n)
	return n, p, nil
}

// finish computes preferences and marks nodes with captures, children first.
func (p *parser) finish(n *node) {
	for _, s := range n.subs {
		p.finish(s)
		n.captures = n.captures || s.captures
		n.backrefs = n.backrefs || s.backrefs
	}
	switch n.op {
	case opCapture:
		n.captures = true
		n.pref = n.subs[0].pref
	case opBackref:
		n.captures, n.backrefs = true, true
	case opConcat:
		for _, s := range n.subs {
			if n.pref = s.pref; n.pref != prefNone {
				break
			}
		}
	case opAlt:
		n.pref = prefLonger
	case opRepeat:
		// A fixed count has the preference of what is repeated.
		if n.min == n.max && n.pref == prefNone {
			n.pref = n.subs[0].pref
		}
		if n.captures && !n.backrefs && n.min > 0 {
			n.head = p.node(opRepeat)
			n.head.subs, n.head.pref = n.subs, n.pref
			n.head.min = n.min - 1
			if n.head.max = n.max; n.max != infinity {
				n.head.max--
			}
		}
	}
}

func (p *parser) alternatives() (*node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, errRegex(msgTooLarge)
	}
	defer func() { p.depth-- }()
	var subs []*node
	for {
		b, err := p.branch()
		if err != nil {
			return nil, err
		}
		subs = append(subs, b)
		if p.peek() != '|' {
			break
		}
		p.at++
	}
	if len(subs) == 1 {
		return subs[0], nil
	}
	n := p.node(opAlt)
	n.subs = subs
	return n, nil
}

func (p *parser) branch() (*node, error) {
	n := p.node(opConcat)
	for {
		p.skip()
		if !p.more() || p.peek() == '|' || p.peek() == ')' {
			break
		}
		a, quantifiable, err := p.atom()
		if err != nil {
			return nil, err
		}
		if a, err = p.quantified(a, quantifiable); err != nil {
			return nil, err
		}
		n.subs = append(n.subs, a)
	}
	if len(n.subs) == 1 {
		return n.subs[0], nil
	}
	return n, nil
}

func (p *parser) quantified(a *node, quantifiable bool) (*node, error) {
	p.skip()
	lo, hi := 0, 0
	switch p.peek() {
	case '*':
		hi = infinity
		p.at++
	case '+':
		lo, hi = 1, infinity
		p.at++
	case '?':
		hi = 1
		p.at++
	case '{':
		if d := p.peekAt(1); d < '0' || d > '9' {
			return a, nil
		}
		var err error
		if lo, hi, err = p.bounds(); err != nil {
			return nil, err
		}
	default:
		return a, nil
	}
	if !quantifiable {
		return nil, errRegex(msgRepeat)
	}
	n := p.node(opRepeat)
	n.subs, n.min, n.max = []*node{a}, lo, hi
	n.pref = prefLonger
	if p.peek() == '?' {
		p.at++
		n.pref = prefShorter
	}
	p.skip()
	switch p.peek() {
	case '*', '+', '?':
		return nil, errRegex(msgRepeat)
	case '{':
		if d := p.peekAt(1); d >= '0' && d <= '9' {
			return nil, errRegex(msgRepeat)
		}
	}
	return n, nil
}

// bounds reads {m}, {m,} and {m,n}.
func (p *parser) bounds() (lo, hi int, err error) {
	p.at++
	number := func() (int, bool) {
		v, ok := 0, false
		for ; p.peek() >= '0' && p.peek() <= '9'; p.at++ {
			if v = v*10 + int(p.peek()-'0'); v > maxRepeat {
				return v, true
			}
			ok = true
		}
		return v, ok
	}
	lo, _ = number()
	if lo > maxRepeat {
		return 0, 0, errRegex(msgBounds)
	}
	hi = lo
	if p.peek() == ',' {
		p.at++
		v, ok := number()
		hi = infinity
		if ok {
			if hi = v; hi > maxRepeat || hi < lo {
				return 0, 0, errRegex(msgBounds)
			}
		}
	}
	if p.peek() != '}' {
		if p.more() {
			return 0, 0, errRegex(msgBounds)
		}
		return 0, 0, errRegex(msgBrace)
	}
	p.at++
	return lo, hi, nil
}

func (p *parser) char(r rune) *node {
	n := p.node(opClass)
	n.class = &class{ranges: []runeRange{{r, r}}, fold: p.flags.IgnoreCase}
	return n
}

func (p *parser) assertion(a assertion) *node {
	n := p.node(opAssert)
	n.assert = a
	return n
}

// atom reads one; quantifiable is false for constraints.
func (p *parser) atom() (n *node, quantifiable bool, err error) {
	c := p.peek()
	p.at++
	switch c {
	case '(':
		return p.group()
	case '*', '+', '?':
		return nil, false, errRegex(msgRepeat)
	case '{':
		if d := p.peek(); d >= '0' && d <= '9' {
			return nil, false, errRegex(msgRepeat)
		}
	case '^':
		if p.flags.LineAnchors {
			return p.assertion(atLineStart), false, nil
		}
		return p.assertion(atStart), false, nil
	case '$':
		if p.flags.LineAnchors {
			return p.assertion(atLineEnd), false, nil
		}
		return p.assertion(atEnd), false, nil
	case '.':
		n = p.node(opClass)
		n.class = &class{negate: true, newline: p.flags.NewlineStops}
		return n, true, nil
	case '[':
		// [[:<:]] and [[:>:]] are the ends of words.
		rest := string(p.s[p.at:min(p.at+6, len(p.s))])
		switch rest {
		case "[:<:]]":
			p.at += 6
			return p.assertion(atWordStart), false, nil
		case "[:>:]]":
			p.at += 6
			return p.assertion(atWordEnd), false, nil
		}
		n, err = p.bracket()
		return n, true, err
	case '\\':
		return p.escape()
	}
	return p.char(c), true, nil
}

func (p *parser) group() (n *node, quantifiable bool, err error) {
	capture := true
	var look *node
	if p.peek() == '?' {
		capture = false
		p.at++
		c := p.peek()
		p.at++
		switch c {
		case ':':
		case '=', '!':
			look = p.node(opLook)
			look.negate = c == '!'
		case '<':
			look = p.node(opLook)
			look.behind = true
			switch p.peek() {
			case '!':
				look.negate = true
			case '=':
			default:
				return nil, false, errRegex(msgRepeat)
			}
			p.at++
		default:
			return nil, false, errRegex(msgRepeat)
		}
	}
	num := 0
	if capture {
		p.groups++
		num = p.groups
		p.closed = append(p.closed, false)
		p.groupN = append(p.groupN, nil)
	}
	sub, err := p.alternatives()
	if err != nil {
		return nil, false, err
	}
	if p.peek() != ')' {
		return nil, false, errRegex(msgParen)
	}
	p.at++
	switch {
	case look != nil:
		look.subs = []*node{sub}
		return look, false, nil
	case !capture:
		return sub, true, nil
	}
	p.closed[num-1] = true
	n = p.node(opCapture)
	n.subs, n.group = []*node{sub}, num
	p.groupN[num-1] = n
	return n, true, nil
}

func (p *parser) named(name string, negate bool) *node {
	n := p.node(opClass)
	n.class = &class{named: []namedClass{{name, negate}}}
	if negate && p.flags.NewlineStops {
		// Complements stop at newlines too.
		n.class = &class{negate: true, newline: true, named: []namedClass{{name, false}}}
	}
	return n
}

func (p *parser) escape() (n *node, quantifiable bool, err error) {
	if !p.more() {
		return nil, false, errRegex(msgEscape)
	}
	switch p.peek() {
	case 'd', 's', 'w', 'D', 'S', 'W':
		c := p.peek()
		p.at++
		name := shorthand(c)
		return p.named(name, c < 'a'), true, nil
	case 'A':
		p.at++
		return p.assertion(atStart), false, nil
	case 'Z':
		p.at++
		return p.assertion(atEnd), false, nil
	case 'm':
		p.at++
		return p.assertion(atWordStart), false, nil
	case 'M':
		p.at++
		return p.assertion(atWordEnd), false, nil
	case 'y':
		p.at++
		return p.assertion(atBoundary), false, nil
	case 'Y':
		p.at++
		return p.assertion(atNonBoundary), false, nil
	}
	if d := p.peek(); d >= '1' && d <= '9' {
		if g, ok := p.backref(); ok {
			if g > p.groups || !p.closed[g-1] {
				return nil, false, errRegex(msgBackref)
			}
			n = p.node(opBackref)
			n.group = g
			return n, true, nil
		}
	}
	r, err := p.escapedChar()
	if err != nil {
		return nil, false, err
	}
	return p.char(r), true, nil
}

func shorthand(c rune) string {
	switch c | 0x20 {
	case 'd':
		return "digit"
	case 's':
		return "space"
	}
	return "word"
}

// backref reads a number: one digit, or more if so many groups are closed; otherwise more are octal.
func (p *parser) backref() (int, bool) {
	end := p.at
	v := 0
	for end < len(p.s) && p.s[end] >= '0' && p.s[end] <= '9' && v <= 1000 {
		v = v*10 + int(p.s[end]-'0')
		end++
	}
	if end == p.at+1 || v <= p.groups {
		p.at = end
		return v, true
	}
	return 0, false
}

// escapedChar reads the rest of an escape that stands for one character.
func (p *parser) escapedChar() (rune, error) {
	c := p.peek()
	p.at++
	if !isLetter(c) && !(c >= '0' && c <= '9') {
		return c, nil
	}
	switch c {
	case 'a':
		return 7, nil
	case 'b':
		return 8, nil
	case 'B':
		return '\\', nil
	case 'c':
		if !p.more() {
			return 0, errRegex(msgEscape)
		}
		r := p.peek() & 0o37
		p.at++
		return r, nil
	case 'e':
		return 0o33, nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'v':
		return '\v', nil
	case 'u':
		return p.number(16, 4, 4)
	case 'U':
		return p.number(16, 8, 8)
	case 'x':
		return p.number(16, 1, 255)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		p.at--
		return p.number(8, 1, 3)
	}
	return 0, errRegex(msgEscape)
}

func (p *parser) number(base, least, most int) (rune, error) {
	v, n := 0, 0
	for n < most && p.more() {
		d := digitOf(p.peek())
		if d < 0 || d >= base {
			break
		}
		v = v*base + d
		if v > utf8.MaxRune {
			return 0, errRegex(msgEscape)
		}
		p.at++
		n++
	}
	if n < least {
		return 0, errRegex(msgEscape)
	}
	return rune(v), nil
}

func digitOf(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r >= 'a' && r <= 'f':
		return int(r-'a') + 10
	case r >= 'A' && r <= 'F':
		return int(r-'A') + 10
	}
	return -1
}

// bracket reads a bracket expression after its [.
func (p *parser) bracket() (*node, error) {
	c := &class{fold: p.flags.IgnoreCase}
	if p.peek() == '^' {
		p.at++
		c.negate, c.newline = true, p.flags.NewlineStops
	}
	first := true
	for {
		if !p.more() {
			return nil, errRegex(msgBracket)
		}
		if p.peek() == ']' && !first {
			p.at++
			break
		}
		first = false
		if err := p.bracketItem(c); err != nil {
			return nil, err
		}
	}
	n := p.node(opClass)
	n.class = c
	return n, nil
}

func (p *parser) bracketItem(c *class) error {
	lo, isClass, err := p.bracketChar(c)
	if err != nil || isClass {
		if isClass && p.peek() == '-' && p.peekAt(1) != ']' && err == nil {
			return errRegex(msgRange)
		}
		return err
	}
	hi := lo
	if p.peek() == '-' && p.peekAt(1) != ']' && p.peekAt(1) != -1 {
		p.at++
		if hi, isClass, err = p.bracketChar(c); err != nil {
			return err
		}
		if isClass || hi < lo {
			return errRegex(msgRange)
		}
	}
	c.ranges = append(c.ranges, runeRange{lo, hi})
	return nil
}

// bracketChar reads one character, or adds a class to c and says so.
func (p *parser) bracketChar(c *class) (r rune, isClass bool, err error) {
	r = p.peek()
	p.at++
	switch {
	case r == '[' && (p.peek() == ':' || p.peek() == '.' || p.peek() == '='):
		return p.bracketNamed(c)
	case r == '\\':
		if !p.more() {
			return 0, false, errRegex(msgBracket)
		}
		switch e := p.peek(); e {
		case 'd', 's', 'w', 'D', 'S', 'W':
			p.at++
			c.named = append(c.named, namedClass{shorthand(e), e < 'a'})
			return 0, true, nil
		case 'A', 'Z', 'm', 'M', 'y', 'Y':
			return 0, false, errRegex(msgEscape)
		}
		r, err = p.escapedChar()
		return r, false, err
	}
	return r, false, nil
}

func (p *parser) bracketNamed(c *class) (r rune, isClass bool, err error) {
	kind := p.peek()
	p.at++
	start := p.at
	for p.more() && !(p.peek() == kind && p.peekAt(1) == ']') {
		p.at++
	}
	if !p.more() {
		return 0, false, errRegex(msgBracket)
	}
	name := p.s[start:p.at]
	p.at += 2
	if kind == ':' {
		if !knownClass(string(name)) {
			return 0, false, errRegex(msgClass)
		}
		n := string(name)
		if p.flags.IgnoreCase && (n == "upper" || n == "lower") {
			n = "alpha"
		}
		c.named = append(c.named, namedClass{n, false})
		return 0, true, nil
	}
	if len(name) != 1 {
		if r, ok := collatingElements[string(name)]; ok {
			return r, false, nil
		}
		return 0, false, errRegex(msgCollate)
	}
	return name[0], false, nil
}

func knownClass(name string) bool {
	switch name {
	case "alpha", "digit", "alnum", "upper", "lower", "space", "blank", "punct", "cntrl", "graph", "print", "xdigit", "word", "ascii":
		return true
	}
	return false
}

// collatingElements are the names that matter of those in [.name.].
var collatingElements = map[string]rune{
	"NUL": 0, "tab": '\t', "newline": '\n', "space": ' ', "hyphen": '-', "hyphen-minus": '-', "period": '.', "slash": '/', "backslash": '\\',
	"left-square-bracket": '[', "right-square-bracket": ']', "circumflex": '^', "dollar-sign": '$', "comma": ',', "colon": ':', "semicolon": ';',
	"equals-sign": '=', "underscore": '_', "zero": '0', "one": '1', "two": '2', "three": '3', "four": '4', "five": '5', "six": '6', "seven": '7', "eight": '8', "nine": '9',
}
