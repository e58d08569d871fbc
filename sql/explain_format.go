package sql

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/minipg/minipg/sql/exec"
)

// structWriter writes EXPLAIN's result in a structured format.
type structWriter interface {
	begin()
	// open and close enclose a group, which is a list of unnamed ones or has named members. kind names the
	// group where a format names those in lists.
	open(name, kind string, list bool)
	close(name, kind string, list bool)
	// value writes a member; text tells a string from what is a number or a boolean.
	value(name, v string, text bool)
	values(name string, list []string)
	end() string
}

// structured prints the formats other than text.
func (x *explainer) structured(root *explainNode, w structWriter) string {
	w.begin()
	w.open("", "Query", false)
	x.structuredNode(w, root, "Plan")
	if x.o.settings {
		w.open("Settings", "Settings", false)
		for _, p := range x.settings() {
			w.value(p.name, p.plain(), true)
		}
		w.close("Settings", "Settings", false)
	}
	if x.o.summary {
		w.value("Planning Time", decimal(milliseconds(x.planning), 3), false)
	}
	if x.o.analyze {
		w.open("Triggers", "Triggers", true)
		w.close("Triggers", "Triggers", true)
	}
	if x.o.summary && x.o.analyze {
		w.value("Execution Time", decimal(milliseconds(x.execution), 3), false)
	}
	w.close("", "Query", false)
	return w.end()
}

func decimal(f float64, digits int) string { return strconv.FormatFloat(f, 'f', digits, 64) }

// firstHead are the members that stand before the relationship, in their order.
var firstHead = []string{"Strategy", "Partial Mode", "Operation"}

func (x *explainer) structuredNode(w structWriter, n *explainNode, name string) {
	w.open(name, "Plan", false)
	w.value("Node Type", n.kind, true)
	for _, first := range firstHead {
		for _, p := range n.head {
			if p.name == first {
				writeProperty(w, &p)
			}
		}
	}
	if n.relationship != "" {
		w.value("Parent Relationship", n.relationship, true)
	}
	if n.label != "" {
		w.value("Subplan Name", n.label, true)
	}
	w.value("Parallel Aware", "false", false)
	w.value("Async Capable", "false", false)
	for i := range n.head {
		if p := &n.head[i]; p.name != firstHead[0] && p.name != firstHead[1] && p.name != firstHead[2] {
			writeProperty(w, p)
		}
	}
	if x.o.costs {
		w.value("Startup Cost", decimal(n.startup, 2), false)
		w.value("Total Cost", decimal(n.total, 2), false)
		w.value("Plan Rows", decimal(n.rows, 0), false)
		w.value("Plan Width", strconv.Itoa(n.width), false)
	}
	if x.o.analyze && n.measured {
		x.structuredActual(w, &n.stats)
	}
	for i := range n.props {
		if n.props[i].value != nil {
			writeProperty(w, &n.props[i])
		}
	}
	if len(n.children) > 0 {
		w.open("Plans", "Plans", true)
		for _, c := range n.children {
			x.structuredNode(w, c, "")
		}
		w.close("Plans", "Plans", true)
	}
	w.close(name, "Plan", false)
}

func (x *explainer) structuredActual(w structWriter, st *exec.NodeStats) {
	loops := max(float64(st.Loops), 1)
	if x.o.timing {
		w.value("Actual Startup Time", decimal(milliseconds(st.Startup)/loops, 3), false)
		w.value("Actual Total Time", decimal(milliseconds(st.Total)/loops, 3), false)
	}
	w.value("Actual Rows", decimal(float64(st.Rows)/loops, 0), false)
	w.value("Actual Loops", strconv.FormatInt(st.Loops, 10), false)
}

func writeProperty(w structWriter, p *property) {
	if list, ok := p.value.([]string); ok {
		w.values(p.name, list)
		return
	}
	_, text := p.value.(string)
	w.value(p.name, p.plain(), text)
}

// indenting is what the formats share: a buffer, the depth, and whether a group has members yet.
type indenting struct {
	b     strings.Builder
	depth int
	begun []bool
}

func (w *indenting) pad() { w.b.WriteString(strings.Repeat("  ", w.depth)) }

// jsonWriter is FORMAT JSON.
type jsonWriter struct{ indenting }

func (w *jsonWriter) begin() {
	w.b.WriteByte('[')
	w.depth = 1
	w.begun = []bool{false}
}

// next ends the line before a member.
func (w *jsonWriter) next() {
	last := len(w.begun) - 1
	if w.begun[last] {
		w.b.WriteByte(',')
	}
	w.begun[last] = true
	w.b.WriteByte('\n')
	w.pad()
}

func jsonString(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (w *jsonWriter) open(name, _ string, list bool) {
	w.next()
	if name != "" {
		w.b.WriteString(jsonString(name) + ": ")
	}
	if list {
		w.b.WriteByte('[')
	} else {
		w.b.WriteByte('{')
	}
	w.depth++
	w.begun = append(w.begun, false)
}

func (w *jsonWriter) close(_, _ string, list bool) {
	w.depth--
	w.begun = w.begun[:len(w.begun)-1]
	w.b.WriteByte('\n')
	w.pad()
	if list {
		w.b.WriteByte(']')
	} else {
		w.b.WriteByte('}')
	}
}

func (w *jsonWriter) value(name, v string, text bool) {
	w.next()
	if text {
		v = jsonString(v)
	}
	w.b.WriteString(jsonString(name) + ": " + v)
}

func (w *jsonWriter) values(name string, list []string) {
	w.next()
	w.b.WriteString(jsonString(name) + ": [")
	for i, v := range list {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.b.WriteString(jsonString(v))
	}
	w.b.WriteByte(']')
}

func (w *jsonWriter) end() string {
	w.b.WriteString("\n]")
	return w.b.String()
}

// yamlWriter is FORMAT YAML.
type yamlWriter struct {
	indenting
	item bool // the next member begins an item of a list
}

func (w *yamlWriter) begin() {}

func (w *yamlWriter) next() {
	if w.item {
		w.item = false
		return
	}
	w.b.WriteByte('\n')
	w.pad()
}

func (w *yamlWriter) open(name, _ string, _ bool) {
	if w.b.Len() == 0 {
		w.b.WriteString("- ")
		w.item = true
		w.depth = 1
		return
	}
	w.next()
	if name != "" {
		w.b.WriteString(name + ": ")
	} else {
		w.b.WriteString("- ")
		w.item = true
	}
	w.depth++
}

func (w *yamlWriter) close(string, string, bool) { w.depth-- }

func (w *yamlWriter) value(name, v string, text bool) {
	w.next()
	if text {
		v = jsonString(v)
	}
	w.b.WriteString(name + ": " + v)
}

func (w *yamlWriter) values(name string, list []string) {
	w.next()
	w.b.WriteString(name + ": ")
	for _, v := range list {
		w.b.WriteByte('\n')
		w.pad()
		w.b.WriteString("  - " + jsonString(v))
	}
}

func (w *yamlWriter) end() string { return w.b.String() }

// xmlWriter is FORMAT XML.
type xmlWriter struct{ indenting }

func (w *xmlWriter) begin() {
	w.b.WriteString("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n")
	w.depth = 1
}

var (
	xmlNames  = strings.NewReplacer(" ", "-", "/", "-")
	xmlEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#x0d;")
)

func (w *xmlWriter) tag(name, prefix string) {
	w.pad()
	w.b.WriteString("<" + prefix + xmlNames.Replace(name) + ">\n")
}

func (w *xmlWriter) open(_, kind string, _ bool) {
	w.tag(kind, "")
	w.depth++
}

func (w *xmlWriter) close(_, kind string, _ bool) {
	w.depth--
	w.tag(kind, "/")
}

func (w *xmlWriter) value(name, v string, _ bool) {
	w.pad()
	n := xmlNames.Replace(name)
	w.b.WriteString("<" + n + ">" + xmlEscape.Replace(v) + "</" + n + ">\n")
}

func (w *xmlWriter) values(name string, list []string) {
	w.tag(name, "")
	for _, v := range list {
		w.pad()
		w.b.WriteString("  <Item>" + xmlEscape.Replace(v) + "</Item>\n")
	}
	w.tag(name, "/")
}

func (w *xmlWriter) end() string {
	w.b.WriteString("</explain>")
	return w.b.String()
}
