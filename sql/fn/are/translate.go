package are

import (
	"fmt"
	"regexp"
	"strings"
)

// translate writes the tree in the syntax of package regexp; ok is false if that cannot say it.
func translate(n *node, b *strings.Builder) (ok bool) {
	switch n.op {
	case opEmpty:
	case opClass:
		writeClass(n.class, b)
	case opConcat:
		for _, s := range n.subs {
			if !translate(s, b) {
				return false
			}
		}
	case opAlt:
		b.WriteString("(?:")
		for i, s := range n.subs {
			if i > 0 {
				b.WriteByte('|')
			}
			if !translate(s, b) {
				return false
			}
		}
		b.WriteByte(')')
	case opRepeat:
		b.WriteString("(?:")
		if !translate(n.subs[0], b) {
			return false
		}
		b.WriteByte(')')
		switch {
		case n.min == 0 && n.max == infinity:
			b.WriteByte('*')
		case n.min == 1 && n.max == infinity:
			b.WriteByte('+')
		case n.min == 0 && n.max == 1:
			b.WriteByte('?')
		case n.max == infinity:
			fmt.Fprintf(b, "{%d,}", n.min)
		default:
			fmt.Fprintf(b, "{%d,%d}", n.min, n.max)
		}
	case opCapture:
		b.WriteString("(?:")
		if !translate(n.subs[0], b) {
			return false
		}
		b.WriteByte(')')
	case opAssert:
		switch n.assert {
		case atStart:
			b.WriteString(`\A`)
		case atEnd:
			b.WriteString(`\z`)
		case atLineStart:
			b.WriteString(`(?m:^)`)
		case atLineEnd:
			b.WriteString(`(?m:$)`)
		default:
			return false
		}
	default:
		return false
	}
	return true
}

func writeRune(r rune, b *strings.Builder) { fmt.Fprintf(b, `\x{%X}`, r) }

// goNames are the classes in the syntax of package regexp, within brackets.
var goNames = map[string]string{
	"alpha": `\p{L}`, "digit": `0-9`, "alnum": `\p{L}\p{Nd}`, "word": `\p{L}\p{Nd}_`, "upper": `\p{Lu}`, "lower": `\p{Ll}`,
	"blank": ` \t`, "xdigit": `0-9A-Fa-f`, "ascii": `\x00-\x7F`, "punct": `\p{P}\p{S}`, "cntrl": `\p{Cc}`,
	"space": `\t-\r \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A}\x{2028}\x{2029}\x{205F}\x{3000}`,
}

func writeClass(c *class, b *strings.Builder) {
	if c.negate && len(c.ranges) == 0 && len(c.named) == 0 {
		if c.newline {
			b.WriteString(`[^\n]`)
		} else {
			b.WriteString(`(?s:.)`)
		}
		return
	}
	if c.fold {
		b.WriteString(`(?i:`)
		defer b.WriteByte(')')
	}
	b.WriteByte('[')
	if c.negate {
		b.WriteByte('^')
		if c.newline {
			b.WriteString(`\n`)
		}
	}
	for _, r := range c.ranges {
		writeRune(r.lo, b)
		if r.hi != r.lo {
			b.WriteByte('-')
			writeRune(r.hi, b)
		}
	}
	for _, n := range c.named {
		if n.negate {
			// Only the shorthands are negated, and these have one-piece complements.
			b.WriteString(goComplement(n.name))
		} else {
			b.WriteString(goNames[n.name])
		}
	}
	b.WriteByte(']')
}

func goComplement(name string) string {
	switch name {
	case "digit":
		return `\D`
	case "space":
		return `\x00-\x08\x0E-\x1F!-\x{167F}\x{1681}-\x{1FFF}\x{2007}\x{200B}-\x{2027}\x{202A}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF}`
	}
	return ""
}

// translatable reports whether package regexp can take the classes of n.
func translatable(n *node) bool {
	ok := true
	n.walk(func(n *node) {
		if n.op != opClass {
			return
		}
		for _, x := range n.class.named {
			if x.negate && goComplement(x.name) == "" || !x.negate && goNames[x.name] == "" {
				ok = false
			}
		}
	})
	return ok
}

// compileGo makes the expression for package regexp, or nil.
func compileGo(n *node) *regexp.Regexp {
	if !translatable(n) {
		return nil
	}
	var b strings.Builder
	if !translate(n, &b) {
		return nil
	}
	re, err := regexp.Compile(b.String())
	if err != nil {
		// Too large for it; the tree is matched instead.
		return nil
	}
	re.Longest()
	return re
}
