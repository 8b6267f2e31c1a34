package render

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports/doc"
)

func init() {
	register(Printer{"markdown", "md", "for an issue or a commit", printMarkdown})
}

// printMarkdown writes GitHub-flavoured Markdown: what to take, what is wrong or doubtful, and the sections.
func printMarkdown(_ context.Context, w io.Writer, d *doc.Document, opt Options) error {
	m := &markdown{limit: opt.Limit}
	if d.Title != "" {
		m.WriteString("# " + escape(d.Title) + "\n\n")
	}
	m.paragraph(escape(d.Subtitle))
	for _, f := range d.First {
		m.first(f)
	}
	for _, text := range d.Grave {
		m.paragraph("**" + escape(text) + "**")
	}
	m.problems(d)
	for _, s := range d.Sections {
		m.section(s, 2)
	}
	_, err := io.WriteString(w, m.cut())
	return err
}

// A markdown is text of at most so many bytes; 0 is any.
type markdown struct {
	strings.Builder
	limit int
}

// cut is the text as far as there is room, in whole lines.
func (m *markdown) cut() string {
	const full = "\nThis report is full.\n"
	text := m.String()
	if m.limit <= 0 || len(text) <= m.limit {
		return text
	}
	text = text[:max(0, m.limit-len(full))]
	return text[:strings.LastIndexByte(text, '\n')+1] + full
}

func (m *markdown) paragraph(text string) {
	if text != "" {
		m.WriteString(text + "\n\n")
	}
}

func (m *markdown) first(f doc.First) {
	if f.Verdict != "" {
		m.paragraph(strings.TrimSpace("**" + escape(doc.Sentence(f.Verdict)) + "** " + escape(strings.TrimSpace(f.NumberText()+" "+strings.ReplaceAll(f.Why, "\n", " ")))))
	}
	if f.Next.Line != "" {
		m.paragraph(escape("Next: " + f.Next.Line + " " + f.Next.Does + "."))
	}
	if f.Table != nil {
		m.table(f.Table, 3)
	}
}

func (m *markdown) problems(d *doc.Document) {
	heading := problemsHeading(d)
	if heading == "" {
		return
	}
	m.WriteString("## " + heading + "\n\n")
	for _, f := range d.Failures {
		m.WriteString("- **wrong, not timed:** " + escape(f.Name+": "+strings.ReplaceAll(f.Reason, "\n", "; ")) + "\n")
	}
	for _, w := range d.Doubts {
		m.WriteString("- " + escape(w.Text) + "\n")
		if w.All != nil {
			m.fold("all "+strconv.Itoa(len(w.All)), func() {
				for _, text := range w.All {
					m.WriteString("- " + escape(text) + "\n")
				}
			})
		}
	}
	m.WriteByte('\n')
}

func (m *markdown) section(s *doc.Section, level int) {
	if !s.Only.In(doc.Markdown) {
		return
	}
	body := func() {
		for _, p := range s.Parts {
			m.part(p, level)
		}
	}
	switch {
	case s.Folded:
		m.fold(escape(s.Heading), body)
		return
	case s.Heading != "":
		m.WriteString(strings.Repeat("#", level) + " " + escape(s.Heading) + "\n\n")
	}
	body()
}

func (m *markdown) part(p doc.Part, level int) {
	switch p := p.(type) {
	case *doc.Section:
		m.section(p, level+1)
	case *doc.Table:
		if p.Only.In(doc.Markdown) {
			m.table(p, level+1)
		}
	case doc.Text:
		m.paragraph(escape(p.Words))
	case doc.List:
		m.list(p)
	case doc.Facts:
		var lines []string
		for _, f := range p.List {
			lines = append(lines, f.Name+": "+f.Value)
		}
		m.list(lines)
	case doc.Code:
		m.WriteString("```\n" + strings.ReplaceAll(string(p), "```", "'''") + "\n```\n\n")
	}
}

func (m *markdown) list(lines []string) {
	for _, line := range lines {
		m.WriteString("- " + escape(line) + "\n")
	}
	m.WriteByte('\n')
}

func (m *markdown) table(t *doc.Table, level int) {
	if len(t.Rows) == 0 {
		return
	}
	if t.Folded {
		m.fold(escape(t.Heading), func() { m.rows(t) })
		return
	}
	if t.Heading != "" {
		m.WriteString(strings.Repeat("#", level) + " " + escape(t.Heading) + "\n\n")
	}
	m.rows(t)
}

// rows writes the caption, the heads and the rows, without columns of bars, which say what numbers beside them do.
func (m *markdown) rows(t *doc.Table) {
	m.paragraph(escape(t.Caption))
	var header []string
	var shown []int
	left, texts := 0, true
	for i, c := range t.Columns {
		if t.Rows[0][i].Bar != nil {
			continue
		}
		shown = append(shown, i)
		header = append(header, escape(c.Label))
		if texts = texts && !c.Number; texts {
			left++
		}
	}
	m.row(header)
	m.WriteString(strings.Repeat("|---", left) + strings.Repeat("|---:", len(shown)-left) + "|\n")
	for n, row := range t.Rows {
		if m.limit > 0 && m.Len() > m.limit-m.limit/8 {
			fmt.Fprintf(m, "\n%s more: this report is full.\n", count.Of(len(t.Rows)-n, "row"))
			break
		}
		var cells []string
		for _, i := range shown {
			text := escape(row[i].Line())
			if row[i].Best {
				text = "**" + text + "**"
			}
			cells = append(cells, text)
		}
		m.row(cells)
	}
	m.WriteByte('\n')
}

func (m *markdown) row(cells []string) {
	for _, c := range cells {
		m.WriteString("| " + c + " ")
	}
	m.WriteString("|\n")
}

// fold writes what is shown when asked for. GitHub reads Markdown between the tags after an empty line.
func (m *markdown) fold(summary string, body func()) {
	m.WriteString("\n<details><summary>" + summary + "</summary>\n\n")
	body()
	m.WriteString("\n</details>\n\n")
}

// escape makes text from a results file stand for itself.
func escape(s string) string { return escaper.Replace(term.Text(s)) }

var escaper = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "<", "&lt;", "&", "&amp;",
)

// problemsHeading counts what must be read before the results; "" if there is nothing.
func problemsHeading(d *doc.Document) string {
	var parts []string
	if n := len(d.Failures); n > 0 {
		parts = append(parts, count.Of(n, "wrong result"))
	}
	warnings := 0
	for _, w := range d.Doubts {
		warnings += max(1, len(w.All))
	}
	if warnings > 0 {
		parts = append(parts, count.Of(warnings, "warning"))
	}
	return strings.Join(parts, ", ")
}
