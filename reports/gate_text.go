package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"onebit/bench/gate"
	"onebit/internal/count"
)

// topFunctions is how many functions of a profile a short report names.
const topFunctions = 5

// WriteGateTable writes what a gate found for a terminal of the width; 0: of any.
func WriteGateTable(w io.Writer, res *gate.Results, width int) error {
	g := newGateReport(res)
	var b strings.Builder
	for _, line := range slices.Concat([]string{g.Summary()}, g.Advice(), []string{g.effort()}) {
		writeWrapped(&b, "", line, width)
	}
	b.WriteByte('\n')
	writeAligned(&b, g.textColumns(width), width)
	if n := len(g.Findings) - len(g.notable()); n > 0 {
		writeWrapped(&b, "", fmt.Sprintf("not shown: %s of other units that are the same or not judged", count.Of(n, "value")), width)
	}
	writeList(&b, "left out by the rules:", g.leftOut(plain, plain), width)
	writeList(&b, "head changes the rules that it is judged by:", g.Changes, width)
	for _, p := range g.results.Profiles {
		b.WriteByte('\n')
		writeGateProfile(&b, p, width)
		writeWrapped(&b, "", g.further(p, plain), 0)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeList writes lines under a title; without lines, nothing.
func writeList(b *strings.Builder, title string, lines []string, width int) {
	if len(lines) > 0 {
		b.WriteString("\n" + title + "\n")
	}
	for _, line := range lines {
		writeWrapped(b, textIndent, line, width)
	}
}

// leftOut are the benchmarks that are not judged, with their reasons.
func (g *gateReport) leftOut(name, reason func(string) string) (lines []string) {
	for _, l := range g.LeftOut {
		lines = append(lines, name(l.Name)+": "+reason(l.Reason))
	}
	return lines
}

func plain(s string) string { return s }

// leastName is how much of a name is kept where another column can go instead.
const leastName = 24

// textColumns are the notable findings in as many columns as fit with names that are cut, in their middle,
// if need be.
func (g *gateReport) textColumns(width int) []*textColumn {
	columns := newSheet("", "", "", g.notable(), g.fields()).textColumns()
	var names *textColumn
	for _, c := range columns {
		if c.title == "benchmark" {
			names = c
		}
		c.title, c.brief = strings.ToUpper(c.title), nil
	}
	if names == nil || fits(columns, width) {
		return columns
	}
	full := names.cells
	names.cells = cutNames(full, leastName)
	columns = fitColumns(columns, width)
	room := names.width() + width - totalWidth(columns)
	names.cells = cutNames(full, max(room, leastName/2))
	return columns
}

func cutNames(names []string, most int) []string {
	cut := make([]string, len(names))
	for i, name := range names {
		cut[i] = cutMiddle(name, most)
	}
	return cut
}

// cutMiddle leaves out the middle of a long text, since names differ at their ends.
func cutMiddle(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	tail := (most - 1) * 3 / 5
	return string(runes[:most-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// writeGateProfile writes the functions that changed most.
func writeGateProfile(b *strings.Builder, p gate.Profile, width int) {
	writeWrapped(b, "", fmt.Sprintf("%s takes %s longer, by function:", p.Benchmark, formatTime(p.Head-p.Base)), width)
	name, change := &textColumn{title: ""}, &textColumn{right: true}
	for _, f := range clearChanges(p) {
		change.add("  " + signedTime(f.Change()))
		name.add(strings.TrimSpace(functionName(f.Name) + " " + parenthesis(newOrGone(f))))
	}
	if len(change.cells) == 0 {
		b.WriteString("  no function changed by more than so few samples explain\n")
	}
	for i := range change.cells {
		fmt.Fprintf(b, "%s%s  %s\n", strings.Repeat(" ", change.width()-utf8.RuneCountInString(change.cells[i])), change.cells[i],
			cutMiddle(name.cells[i], roomFor(width-change.width()-2)))
	}
}

// further is how to look further into a profile.
func (g *gateReport) further(p gate.Profile, code func(string) string) string {
	if g.results.Folder == "" {
		return "The profiles are not kept: -o DIR keeps them."
	}
	return code(profileCommand(p, filepath.ToSlash(g.results.Folder)))
}

// roomFor is a width in which something can be read.
func roomFor(width int) int {
	if width < 20 {
		return 200
	}
	return width
}

// clearChanges are the largest changes of own time that are no chance.
func clearChanges(p gate.Profile) []gate.FunctionChange {
	list := slices.DeleteFunc(slices.Clone(p.Functions), func(f gate.FunctionChange) bool { return !f.Clear() })
	return list[:min(len(list), topFunctions)]
}

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// WriteGateMarkdown writes what a gate found as Markdown of at most so many bytes; rows that have no room
// are counted.
func WriteGateMarkdown(w io.Writer, res *gate.Results, limit int) error {
	g := newGateReport(res)
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n%s\n\n", markdown(g.Summary()), markdown(strings.Join(slices.Concat([]string{g.exitReason()}, g.Advice(), []string{g.effort()}), " ")))
	for _, alarm := range g.Alarms {
		b.WriteString(markdown(alarm) + "\n\n")
	}
	var rest strings.Builder
	for _, p := range g.results.Profiles {
		writeGateProfileMarkdown(&rest, p)
		rest.WriteString(g.further(p, codeSpan) + "\n\n")
	}
	writeMarkdownList(&rest, "Left out by the rules:", g.leftOut(codeSpan, markdown))
	writeMarkdownList(&rest, "**Head changes the rules that it is judged by:**", mapped(g.Changes, codeSpan))
	if rest.Len() > limit/4 {
		rest.Reset()
		rest.WriteString("What changed by function, and what was left out, has no room here.\n")
	}
	g.writeMarkdownFindings(&b, limit-rest.Len()-200)
	b.WriteString(rest.String())
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMarkdownList writes items under a title; without items, nothing.
func writeMarkdownList(b *strings.Builder, title string, items []string) {
	if len(items) > 0 {
		b.WriteString(title + "\n\n- " + strings.Join(items, "\n- ") + "\n\n")
	}
}

// codeSpan shows text as it is.
func codeSpan(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

// writeMarkdownFindings writes the table until b has so many bytes.
func (g *gateReport) writeMarkdownFindings(b *strings.Builder, limit int) {
	s := newSheet("", "", "", g.notable(), g.fields())
	if len(s.Rows) == 0 {
		return
	}
	var labels []string
	left := 0
	for i, c := range s.Columns {
		labels = append(labels, c.Label)
		if !c.Number && left == i {
			left++
		}
	}
	writeMarkdownRow(b, labels)
	writeMarkdownRule(b, left, len(labels))
	for i, row := range s.Rows {
		var line strings.Builder
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		writeMarkdownRow(&line, cells)
		if b.Len()+line.Len() > limit {
			fmt.Fprintf(b, "\n%s more: this report is full.\n", count.Of(len(s.Rows)-i, "row"))
			break
		}
		b.WriteString(line.String())
	}
	b.WriteByte('\n')
}

func writeGateProfileMarkdown(b *strings.Builder, p gate.Profile) {
	fmt.Fprintf(b, "What changed by function in %s, which takes %s longer (own time per operation):\n\n", markdown(p.Benchmark), formatTime(p.Head-p.Base))
	writeMarkdownRow(b, []string{"function", "change", "base", "head"})
	writeMarkdownRule(b, 1, 4)
	for _, f := range clearChanges(p) {
		writeMarkdownRow(b, []string{strings.TrimSpace(f.Name + " " + parenthesis(newOrGone(f))), signedTime(f.Change()), formatTime(f.BaseFlat), formatTime(f.HeadFlat)})
	}
	b.WriteByte('\n')
}
