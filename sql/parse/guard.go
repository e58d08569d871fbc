package parse

import "github.com/minipg/minipg/pgerr"

// The grammar recurses on the C stack, and its result is a tree that the
// protobuf decoder refuses below a depth of 10,000 messages. The bounds below keep
// every statement inside both with room to spare, whether the stack limit is 8 MiB or unlimited, where glibc
// gives a thread 2 MiB (guard_test.go finds the depths at which they fail).
const (
	maxNesting = 800  // brackets and CASE inside each other
	maxChain   = 2000 // operators, joins or set operations in a row, each one level deeper
	// maxWeight bounds nesting and chains together: chains inside each other add up.
	maxWeight = 4000
)

// Guard refuses text that would exhaust the grammar's stack, with 54001. AND, OR
// and lists do not count, since the grammar builds them flat.
func Guard(sql string) error {
	if len(sql) < maxNesting {
		return nil
	}
	g := guard{}
	s := NewScanner(sql)
	for {
		tok := s.Next()
		if tok.Kind == EOF || tok.Kind == Bad {
			return nil
		}
		if !g.token(sql, tok) {
			return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").
				WithHint("Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), " +
					"after ensuring the platform's stack depth limit is adequate.")
		}
	}
}

type guardLevel struct {
	chain  int32 // operators in a row
	setOps int32
	isCase bool
}

// guard follows the nesting of a statement. Its size is fixed.
type guard struct {
	levels [maxNesting + 1]guardLevel
	depth  int
	weight int // sum of the chains of the open levels, plus the depth
}

func (g *guard) token(sql string, tok Token) bool {
	switch tok.Kind {
	case Self:
		switch sql[tok.Start] {
		case '(', '[':
			return g.open(false)
		case ')', ']':
			g.close()
		case ',':
			g.reset()
		case ';':
			for g.depth > 0 {
				g.close()
			}
			g.reset()
			g.levels[0].setOps = 0
		case ':':
			if tok.End-tok.Start == 2 {
				return g.link()
			}
		}
	case Operator:
		return g.link()
	case Ident:
		return g.word(sql[tok.Start:tok.End])
	}
	return true
}

func (g *guard) open(isCase bool) bool {
	g.depth++
	g.weight++
	if g.depth > maxNesting || g.weight > maxWeight {
		return false
	}
	g.levels[g.depth] = guardLevel{isCase: isCase}
	return true
}

func (g *guard) close() {
	if g.depth == 0 {
		return
	}
	l := &g.levels[g.depth]
	g.weight -= 1 + int(l.chain) + int(l.setOps)
	g.depth--
}

func (g *guard) reset() {
	l := &g.levels[g.depth]
	g.weight -= int(l.chain)
	l.chain = 0
}

func (g *guard) link() bool {
	l := &g.levels[g.depth]
	l.chain++
	g.weight++
	return l.chain <= maxChain && g.weight <= maxWeight
}

func (g *guard) setOp() bool {
	g.reset()
	l := &g.levels[g.depth]
	l.setOps++
	g.weight++
	return l.setOps <= maxChain && g.weight <= maxWeight
}

func (g *guard) word(w string) bool {
	if len(w) > 9 {
		return true
	}
	var buf [9]byte
	for i := range len(w) {
		c := w[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	switch string(buf[:len(w)]) {
	case "case":
		return g.open(true)
	case "end":
		if g.depth > 0 && g.levels[g.depth].isCase {
			g.close()
		}
	case "union", "intersect", "except":
		return g.setOp()
	case "and", "or", "when", "then", "else", "where", "having", "group", "order", "limit", "values", "set":
		g.reset()
	case "not", "is", "isnull", "notnull", "like", "ilike", "similar", "between", "collate", "at", "in", "join",
		"overlaps", "operator", "explain", "escape", "select", "any", "all", "some":
		return g.link()
	}
	return true
}
