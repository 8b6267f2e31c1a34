package reports

import (
	"cmp"
	"io"
	"strconv"
	"strings"

	"onebit/bench/results"
	"onebit/internal/term"
)

func init() {
	registerKind(Kind{Name: "markdown", Extension: "md", About: "for an issue or a commit", Render: text(WriteMarkdown), several: text(writeFleetMarkdown)})
}

// WriteMarkdown writes the report as GitHub-flavoured Markdown: what is wrong or doubtful, who wins
// where, the machine, and every case.
func WriteMarkdown(w io.Writer, res *results.Set) error {
	d := newDigest(res)
	var b strings.Builder
	b.WriteString("# " + markdown(d.title()) + "\n\n")
	if s := d.subtitle(); s != "" {
		b.WriteString(markdown(s) + "\n\n")
	}
	for _, s := range d.screens() {
		b.WriteString("**" + markdown(s.Verdict) + "** " + markdown(strings.TrimSpace(strings.TrimPrefix(s.text(), s.Verdict))) + "\n\n")
		s.Sheet.writeMarkdown(&b)
	}
	writeMarkdownProblems(&b, problemsHeading(len(res.Failures), len(d.warnings())), res.Failures, d.doubts())
	for _, m := range d.models {
		d.writeMarkdownModel(&b, m)
	}
	for _, m := range d.matrices() {
		d.writeMarkdownMatrix(&b, m)
	}
	b.WriteString("## Machine and noise\n\n" + markdown(d.noiseText()) + "\n\n")
	for _, s := range d.res.Settings {
		b.WriteString("- " + markdown(s.Key) + ": " + markdown(s.Value) + "\n")
	}
	b.WriteByte('\n')
	for _, base := range d.bases() {
		if !foldedBase(base) {
			d.writeMarkdownCases(&b, base)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeMarkdownProblems(b *strings.Builder, heading string, failures []results.Failure, doubts []doubt) {
	if heading == "" {
		return
	}
	b.WriteString("## " + heading + "\n\n")
	for _, f := range failures {
		b.WriteString("- **wrong, not timed:** " + markdown(f.Name.Full+": "+strings.ReplaceAll(f.Reason, "\n", "; ")) + "\n")
	}
	for _, w := range doubts {
		b.WriteString("- " + markdown(w.Text) + "\n")
		if w.All != nil {
			writeMarkdownFold(b, "all "+strconv.Itoa(len(w.All)), func() {
				for _, text := range w.All {
					b.WriteString("- " + markdown(text) + "\n")
				}
			})
		}
	}
	b.WriteByte('\n')
}

func (d *digest) writeMarkdownModel(b *strings.Builder, m *model) {
	b.WriteString("## Model: " + markdown(m.name) + "\n\n")
	if g, ok := d.glance(m); ok {
		b.WriteString("**" + markdown(g.standing.best().contender) + "** is " + markdown(g.headline()) + "\n\n")
		for _, f := range g.facts {
			b.WriteString("- " + f.Name + ": " + markdown(f.Value) + "\n")
		}
		b.WriteByte('\n')
	}
	for _, s := range d.sheets(m) {
		s.writeMarkdown(b)
	}
}

func (d *digest) writeMarkdownMatrix(b *strings.Builder, m *matrix) {
	b.WriteString("## Who wins where: " + markdown(m.base) + "\n\n")
	for _, v := range m.verdicts() {
		b.WriteString("- " + markdown(v.subject) + ": **" + markdown(v.champion) + "** is " + v.headline())
		for _, f := range v.facts() {
			b.WriteString("; " + f.Name + " " + markdown(f.Value))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	if !m.crowded() {
		d.writeMarkdownRows(b, m.columns, m.rows)
		return
	}
	writeMarkdownHeader(b, "format", m.columns)
	for _, s := range m.sections() {
		row := []string{s.subject}
		for _, summary := range s.summaries(m.columns) {
			row = append(row, summary.text())
		}
		writeMarkdownRow(b, row)
	}
	b.WriteByte('\n')
	writeMarkdownNote(b, aboveText(fastest(m.standings())))
	for _, s := range m.sections() {
		writeMarkdownFold(b, markdown(s.heading()), func() { d.writeMarkdownRows(b, m.columns, s.rows) })
	}
}

func (d *digest) writeMarkdownRows(b *strings.Builder, columns []panel, rows []matrixRow) {
	writeMarkdownHeader(b, "task", columns)
	for _, r := range rows {
		row := []string{r.task.title}
		for _, s := range r.cells {
			row = append(row, d.standingText(s))
		}
		writeMarkdownRow(b, row)
	}
	b.WriteByte('\n')
	writeMarkdownNote(b, noteText(section{rows: rows}.standings()))
}

// writeMarkdownNote writes a paragraph below a table; none of no text.
func writeMarkdownNote(b *strings.Builder, text string) {
	if text != "" {
		b.WriteString(markdown(text) + "\n\n")
	}
}

func writeMarkdownHeader(b *strings.Builder, first string, columns []panel) {
	header := []string{first}
	for _, c := range columns {
		header = append(header, cmp.Or(c.String(), "all"))
	}
	writeMarkdownRow(b, header)
	writeMarkdownRule(b, len(header), len(header))
}

// writeMarkdownFold writes what is shown when asked for. GitHub reads Markdown between the tags
// after an empty line.
func writeMarkdownFold(b *strings.Builder, summary string, body func()) {
	b.WriteString("\n<details><summary>" + summary + "</summary>\n\n")
	body()
	b.WriteString("\n</details>\n\n")
}

// text is a summary in one line.
func (s *summary) text() string {
	if s == nil {
		return ""
	}
	parts := []string{s.champion + " in " + s.leadText()}
	if speed := s.speedText(""); speed != "" {
		parts = append(parts, speed)
	}
	if roof := s.roofText(); roof != "" {
		parts = append(parts, roof)
	}
	if e := s.nmse.text(results.UnitOf(results.NMSE).Format); e != "" {
		parts = append(parts, "nmse "+e)
	}
	return strings.Join(parts, ", ")
}

// standingText is a matrix cell in one line.
func (d *digest) standingText(s *standing) string {
	if s == nil {
		return ""
	}
	c := s.best()
	parts := []string{c.contender + " " + signedValue(c, results.NsPerOp)}
	if roof := roofOf(c); roof != "" {
		parts = append(parts, roof)
	}
	if e := valueOf(c, results.NMSE); e != "" {
		parts = append(parts, "nmse "+e)
	}
	if s.ties > 0 {
		parts = append(parts, "tied: "+namesOf(s.leaders()[1:]))
	}
	return strings.Join(parts, ", ")
}

func (d *digest) writeMarkdownCases(b *strings.Builder, base string) {
	cases := d.ofBase(base)
	keys, units := nameKeys(cases), d.unitsIn(cases)
	b.WriteString("## " + markdown(base) + "\n\n")
	var header []string
	for _, k := range keys {
		header = append(header, cmp.Or(k, "name"))
	}
	writeMarkdownRow(b, append(header, units...))
	writeMarkdownRule(b, len(keys), len(keys)+len(units))
	for _, c := range cases {
		var row []string
		for _, k := range keys {
			row = append(row, nameValue(c.name, k))
		}
		for _, u := range units {
			text := signedValue(c, u)
			if s, ok := c.stats[u]; ok && s.spread(u) != "" {
				text += " " + s.spread(u)
			}
			row = append(row, text)
		}
		writeMarkdownRow(b, row)
	}
	b.WriteByte('\n')
	writeMarkdownNote(b, sentences(signsText(signsOf(cases)), aboveText(cases)))
}

func writeMarkdownRow(b *strings.Builder, cells []string) {
	for _, c := range cells {
		b.WriteString("| " + markdown(c) + " ")
	}
	b.WriteString("|\n")
}

// writeMarkdownRule aligns the columns from number left on to the right.
func writeMarkdownRule(b *strings.Builder, left, all int) {
	b.WriteString(strings.Repeat("|---", left) + strings.Repeat("|---:", all-left) + "|\n")
}

// markdown makes text from a results file stand for itself.
func markdown(s string) string { return markdownEscaper.Replace(term.Text(s)) }

var markdownEscaper = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "<", "&lt;", "&", "&amp;",
)
