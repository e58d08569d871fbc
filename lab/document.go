package lab

import (
	"fmt"
	"html"
	"strings"
)

// A report is a list of parts, written as Markdown and as HTML.
type document struct {
	title string
	parts []part
}

type part interface {
	markdown(b *strings.Builder)
	html(b *strings.Builder)
}

func (d *document) add(p ...part) { d.parts = append(d.parts, p...) }

type heading struct {
	level int
	text  string
}

func (h heading) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", h.level), h.text)
}

func (h heading) html(b *strings.Builder) {
	id := ""
	if h.level == 2 {
		word, _, _ := strings.Cut(h.text, ":")
		id = fmt.Sprintf(" id=%q", anchor(word))
	}
	fmt.Fprintf(b, "<h%d%s>%s</h%d>\n", h.level, id, html.EscapeString(h.text), h.level)
}

func anchor(word string) string { return strings.ToLower(strings.ReplaceAll(word, " ", "-")) }

type paragraph string

func (p paragraph) markdown(b *strings.Builder) { fmt.Fprintf(b, "%s\n\n", string(p)) }

func (p paragraph) html(b *strings.Builder) {
	fmt.Fprintf(b, "<p>%s</p>\n", html.EscapeString(string(p)))
}

// pointer is a sentence that names a file beside the report.
type pointer struct{ text, file string }

func (p pointer) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "%s: [%s](%s).\n\n", p.text, p.file, p.file)
}

func (p pointer) html(b *strings.Builder) {
	fmt.Fprintf(b, "<p>%s: %s.</p>\n", html.EscapeString(p.text), html.EscapeString(p.file))
}

type bullets []string

func (l bullets) markdown(b *strings.Builder) {
	for _, item := range l {
		fmt.Fprintf(b, "- %s\n", item)
	}
	b.WriteString("\n")
}

func (l bullets) html(b *strings.Builder) {
	b.WriteString("<ul>\n")
	for _, item := range l {
		fmt.Fprintf(b, "<li>%s</li>\n", html.EscapeString(item))
	}
	b.WriteString("</ul>\n")
}

type code string

func (c code) markdown(b *strings.Builder) { fmt.Fprintf(b, "```\n%s\n```\n\n", string(c)) }

func (c code) html(b *strings.Builder) {
	fmt.Fprintf(b, "<pre>%s</pre>\n", html.EscapeString(string(c)))
}

// grid is a table. The first text columns are words, the others numbers.
type grid struct {
	head []string
	text int
	rows [][]string
}

func (g *grid) row(cells ...string) { g.rows = append(g.rows, cells) }

// trim takes away the columns that are empty in every row.
func (g *grid) trim() *grid {
	out := &grid{text: g.text, rows: make([][]string, len(g.rows))}
	for col, name := range g.head {
		empty := col >= g.text
		for _, r := range g.rows {
			empty = empty && r[col] == ""
		}
		if empty {
			continue
		}
		out.head = append(out.head, name)
		for i, r := range g.rows {
			out.rows[i] = append(out.rows[i], r[col])
		}
	}
	return out
}

func (g *grid) markdown(b *strings.Builder) {
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", "\\|") + " ")
		}
		b.WriteString("|\n")
	}
	line(g.head)
	for i := range g.head {
		if i < g.text {
			b.WriteString("|---")
		} else {
			b.WriteString("|--:")
		}
	}
	b.WriteString("|\n")
	for _, r := range g.rows {
		line(r)
	}
	b.WriteString("\n")
}

func (g *grid) html(b *strings.Builder) {
	b.WriteString("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>")
	for i, h := range g.head {
		fmt.Fprintf(b, "<th scope=\"col\"%s>%s</th>", g.class(i), html.EscapeString(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for n, r := range g.rows {
		// A line between the groups of one client count.
		if n > 0 && g.head[0] == "clients" && r[0] != g.rows[n-1][0] {
			b.WriteString("<tr class=\"next\">")
		} else {
			b.WriteString("<tr>")
		}
		for i, c := range r {
			mark := g.class(i)
			switch c {
			case "faster", "slower", "noise":
				mark = fmt.Sprintf(" class=%q", c)
			}
			fmt.Fprintf(b, "<td%s>%s</td>", mark, html.EscapeString(c))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
}

func (g *grid) class(col int) string {
	if col < g.text {
		return ""
	}
	return " class=\"n\""
}

// figure is a plot: a file beside the Markdown, part of the HTML.
type figure struct {
	file, alt string
	svg       []byte
	legend    []legendKey
}

func (f figure) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "![%s](%s/%s)\n\n", f.alt, plotDir, f.file)
}

func (f figure) html(b *strings.Builder) {
	fmt.Fprintf(b, "<figure><div class=\"scroll\" role=\"img\" aria-label=\"%s\">%s</div>\n<figcaption aria-hidden=\"true\">",
		html.EscapeString(f.alt), inlineSVG(f.svg))
	for _, k := range f.legend {
		style := "solid"
		if k.broken {
			style = "dashed"
		}
		fmt.Fprintf(b, "<span><i style=\"border-top:3px %s #%02x%02x%02x\"></i>%s</span> ", style, k.colour.R, k.colour.G, k.colour.B,
			html.EscapeString(k.name))
	}
	b.WriteString("</figcaption></figure>\n")
}

// folded is what is there for those who look for it.
type folded struct {
	title string
	parts []part
}

func (f folded) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "<details><summary>%s</summary>\n\n", f.title)
	for _, p := range f.parts {
		p.markdown(b)
	}
	b.WriteString("</details>\n\n")
}

func (f folded) html(b *strings.Builder) {
	fmt.Fprintf(b, "<details><summary>%s</summary>\n", html.EscapeString(f.title))
	for _, p := range f.parts {
		p.html(b)
	}
	b.WriteString("</details>\n")
}

func (d *document) toMarkdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", d.title)
	for _, p := range d.parts {
		p.markdown(&b)
	}
	return []byte(strings.TrimSpace(b.String()) + "\n")
}

func (d *document) toHTML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, html.EscapeString(d.title), html.EscapeString(d.title))
	b.WriteString("<nav>")
	for _, p := range d.parts {
		if h, ok := p.(heading); ok && h.level == 2 {
			word, _, _ := strings.Cut(h.text, ":")
			fmt.Fprintf(&b, "<a href=\"#%s\">%s</a> ", anchor(word), html.EscapeString(word))
		}
	}
	b.WriteString("</nav>\n")
	for _, p := range d.parts {
		p.html(&b)
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return []byte(b.String())
}

// pageHead is the beginning of a page that needs no other file. A table wider than the screen scrolls by
// itself.
const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
:root { --back: #fff; --text: #1d2329; --soft: #5b6570; --line: #d8dde2; --box: #f4f6f8; --link: #0b5cad;
  --faster: #14713a; --slower: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181c; --text: #e3e7eb; --soft: #9aa5b0; --line: #353d45; --box: #1e242a; --link: #7ab8ff;
    --faster: #6fd08c; --slower: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1rem clamp(0.8rem, 3vw, 2.5rem) 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem; }
h3 { font-size: 1.05rem; margin-top: 1.8rem; }
p, ul { max-width: 48rem; overflow-wrap: anywhere; }
a { color: var(--link); }
nav { display: flex; flex-wrap: wrap; gap: 0.3rem 0.9rem; }
pre { background: var(--box); padding: 0.7rem; overflow-x: auto; border-radius: 4px; font-size: 0.85rem; }
.scroll { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.65rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; line-height: 1.25; }
td:last-child:not(.n) { white-space: normal; min-width: 11rem; overflow-wrap: anywhere; }
tr.next td { border-top: 2px solid var(--soft); }
.n { text-align: right; }
.faster { color: var(--faster); } .slower { color: var(--slower); } .noise { color: var(--soft); }
figure { margin: 1rem 0; color: var(--text); }
figure svg { width: 100%%; height: auto; min-width: 32rem; max-width: 56rem; display: block; }
figure text { fill: currentColor; }
figcaption { display: none; font-size: 0.8rem; }
figcaption span { display: inline-block; margin-right: 1rem; }
figcaption i { display: inline-block; width: 1.6rem; margin-right: 0.4rem; vertical-align: middle; }
@media (max-width: 36rem) { figcaption { display: block; } }
details { margin: 0.8rem 0; } summary { cursor: pointer; color: var(--link); }
</style>
</head>
<body>
<main>
<h1>%s</h1>
`
