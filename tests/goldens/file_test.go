package goldens

import (
	"fmt"
	"os"
	"strings"
)

// block is a statement with its answers.
type block struct {
	line    int      // of its first line of SQL
	above   []string // empty lines and comments before it
	flags   []string
	sql     string
	input   []string // below "<<": parameters or data
	hasIn   bool
	want    []string // PostgreSQL's answer
	known   bool     // want was recorded
	reason  string   // of a difference that is meant
	differs []string // minipg's answer then
}

const (
	answerLine = "----"
	differLine = "---- minipg:"
	inputLine  = "<<"
)

func (b *block) flag(name string) bool {
	for _, f := range b.flags {
		if f == name {
			return true
		}
	}
	return false
}

func (b *block) value(name string) string {
	for _, f := range b.flags {
		if v, ok := strings.CutPrefix(f, name+"="); ok {
			return v
		}
	}
	return ""
}

// script is a file of blocks.
type script struct {
	path   string
	blocks []*block
	below  []string // lines after the last block
}

func readScript(path string) (*script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &reader{lines: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}
	s := &script{path: path}
	for {
		b, err := r.block()
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, r.next, err)
		}
		if b.sql == "" {
			s.below = b.above
			return s, nil
		}
		s.blocks = append(s.blocks, b)
	}
}

type reader struct {
	lines []string
	next  int
}

func (r *reader) peek() (string, bool) {
	if r.next >= len(r.lines) {
		return "", false
	}
	return r.lines[r.next], true
}

func (r *reader) block() (*block, error) {
	b := &block{}
	for line, ok := r.peek(); ok && (line == "" || strings.HasPrefix(line, "#")); line, ok = r.peek() {
		b.above = append(b.above, line)
		r.next++
	}
	if line, ok := r.peek(); ok && strings.HasPrefix(line, "@") {
		for _, f := range strings.Fields(line) {
			b.flags = append(b.flags, strings.TrimPrefix(f, "@"))
		}
		r.next++
	}
	b.line = r.next + 1
	b.sql = r.statement()
	if b.flag("join") && b.sql == "" {
		b.sql = "(join)"
	}
	if line, ok := r.peek(); ok && line == inputLine {
		b.hasIn = true
		r.next++
		b.input = r.until(func(line string) bool { return line == answerLine || line == "" || newBlock(line) })
	}
	if line, ok := r.peek(); !ok || line != answerLine {
		return b, nil
	}
	r.next++
	b.known = true
	b.want = r.until(func(line string) bool { return line == "" || strings.HasPrefix(line, differLine) })
	if line, ok := r.peek(); ok && strings.HasPrefix(line, differLine) {
		b.reason = strings.TrimSpace(strings.TrimPrefix(line, differLine))
		if b.reason == "" {
			return nil, fmt.Errorf("a difference without its reason")
		}
		r.next++
		b.differs = r.until(func(line string) bool { return line == "" })
	}
	return b, nil
}

// newBlock: a line of flags ends a block without an answer.
func newBlock(line string) bool { return strings.HasPrefix(line, "@") }

// statement reads SQL up to an empty line, its answer or, where no answer follows, a semicolon.
func (r *reader) statement() string {
	var lines []string
	for line, ok := r.peek(); ok && line != "" && line != answerLine && line != inputLine && !newBlock(line); line, ok = r.peek() {
		lines = append(lines, line)
		r.next++
		following, ok := r.peek()
		if strings.HasSuffix(line, ";") && (!ok || following != answerLine && following != inputLine) {
			break
		}
	}
	return strings.Join(lines, "\n")
}

func (r *reader) until(end func(string) bool) []string {
	var lines []string
	for line, ok := r.peek(); ok && !end(line); line, ok = r.peek() {
		lines = append(lines, line)
		r.next++
	}
	return lines
}

// write stores the script in its one form.
func (s *script) write() error {
	var out strings.Builder
	line := func(text string) { out.WriteString(text + "\n") }
	for i, b := range s.blocks {
		above := b.above
		if i > 0 && (len(above) == 0 || above[0] != "") {
			line("")
		}
		for _, text := range above {
			line(text)
		}
		if len(b.flags) > 0 {
			line("@" + strings.Join(b.flags, " @"))
		}
		if b.sql != "(join)" {
			line(b.sql)
		}
		if b.hasIn {
			line(inputLine)
			for _, text := range b.input {
				line(text)
			}
		}
		line(answerLine)
		for _, text := range b.want {
			line(text)
		}
		if b.reason != "" {
			line(differLine + " " + b.reason)
			for _, text := range b.differs {
				line(text)
			}
		}
	}
	for _, text := range s.below {
		line(text)
	}
	return os.WriteFile(s.path, []byte(out.String()), 0o644)
}
