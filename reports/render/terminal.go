package render

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports/doc"
)

func init() {
	register(Printer{"table", "txt", "aligned text, the best of each setting", printTerminal})
}

// printTerminal writes what a person at a terminal wants first: the sentences, with their rankings; then, unless that
// is enough, the tables; then what holds for all of it, what was wrong or doubtful, and what to do next.
func printTerminal(_ context.Context, w io.Writer, d *doc.Document, opt Options) error {
	t := &terminal{width: opt.Width}
	ranked := slices.ContainsFunc(d.First, func(f doc.First) bool { return f.Table != nil && f.Verdict != "" })
	for _, f := range d.First {
		t.first(f)
	}
	for _, text := range d.Grave {
		t.wrapped("", text)
	}
	if !opt.Brief || !ranked {
		for _, s := range d.Sections {
			t.section(s)
		}
	}
	t.remarks(d, opt.Brief && ranked)
	_, err := io.WriteString(w, t.String())
	return err
}

// A terminal is text in lines of a width; 0 is any.
type terminal struct {
	strings.Builder
	width int
}

// blank leaves a line between what was written and what follows.
func (t *terminal) blank() {
	if t.Len() > 0 && !strings.HasSuffix(t.String()[max(0, t.Len()-2):], "\n\n") {
		t.WriteByte('\n')
	}
}

func (t *terminal) first(f doc.First) {
	t.blank()
	if f.Verdict != "" {
		t.wrapped("", f.Verdict)
	}
	if text := f.NumberText(); text != "" {
		t.wrapped("", text)
	}
	for line := range strings.Lines(f.Why) {
		t.wrapped("", line)
	}
	if f.Table != nil && f.Table.Only.In(doc.Terminal) {
		t.blank()
		if f.Verdict == "" && f.Table.Heading != "" {
			t.wrapped("", f.Table.Heading+":")
		}
		t.table(f.Table)
	}
}

func (t *terminal) section(s *doc.Section) {
	if !s.Only.In(doc.Terminal) {
		return
	}
	for _, p := range s.Parts {
		switch p := p.(type) {
		case *doc.Section:
			t.section(p)
		case *doc.Table:
			if p.Only.In(doc.Terminal) && len(p.Rows) > 0 {
				t.blank()
				if heading := cmp.Or(p.Heading, s.Heading); heading != "" {
					t.wrapped("", heading)
				}
				t.table(p)
			}
		case doc.Text:
			if !p.Muted {
				t.blank()
				t.wrapped("", p.Words)
			}
		case doc.List:
			t.blank()
			if s.Heading != "" {
				t.wrapped("", s.Heading+":")
			}
			for _, line := range p {
				t.wrapped(textIndent, line)
			}
		}
	}
}

// remarks explains signs and words, and writes what holds for all, failures, warnings and what to do next. In brief,
// warnings are counted.
func (t *terminal) remarks(d *doc.Document, brief bool) {
	t.blank()
	for _, text := range []string{explained(d.Words, t.String(), true), explained(d.Words, t.String(), false)} {
		if text != "" {
			t.wrapped("", text)
		}
	}
	for _, text := range d.Remarks {
		t.wrapped("", text)
	}
	for _, f := range d.Failures {
		t.wrapped("WRONG, not timed: ", f.Name+": "+strings.ReplaceAll(f.Reason, "\n", "; "))
	}
	switch n := len(d.Doubts); {
	case brief && n > fewDoubts:
		t.wrapped("", fmt.Sprintf("%s: --all shows them, and the page does", count.Of(n, "warning")))
	default:
		for _, w := range d.Doubts {
			t.wrapped("warning: ", w.Text)
		}
	}
	for _, f := range d.First {
		if f.Next.Line != "" {
			t.wrapped("", "next: "+f.Next.Line+" "+f.Next.Does)
		}
	}
}

// fewDoubts is how many warnings a first screen has room for.
const fewDoubts = 2

// explained explains the signs, or the words, that a text uses, in a line; "" if it uses none.
func explained(words []doc.Word, text string, signs bool) string {
	var said []string
	used := wordsIn(words, text)
	for _, w := range words {
		switch {
		case w.Sign && signs && strings.Contains(text, w.Text):
			said = append(said, w.Text+" "+w.About)
		case !w.Sign && !signs && used[w.Text]:
			said = append(said, w.Text+": "+w.About)
		}
	}
	if signs {
		return strings.Join(said, " ")
	}
	return strings.Join(said, "; ")
}

// A column is a column of an aligned table.
type column struct {
	doc.Column
	cells []string
	brief []string   // cells without what is less important
	bars  []*doc.Bar // that the cells draw; nil if there are none
}

func columnsOf(t *doc.Table) []*column {
	columns := make([]*column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = &column{Column: c}
		columns[i].Label = term.Text(c.Label)
		for _, row := range t.Rows {
			line := row[i].Line()
			if row[i].Bar != nil {
				line = row[i].Text // a ratio's begins with blanks
			}
			columns[i].cells = append(columns[i].cells, term.Text(line))
			columns[i].brief = append(columns[i].brief, term.Text(row[i].Text))
			columns[i].bars = append(columns[i].bars, row[i].Bar)
		}
		if !slices.ContainsFunc(columns[i].bars, func(b *doc.Bar) bool { return b != nil }) {
			columns[i].bars = nil
		}
	}
	blankGroups(columns)
	return slices.DeleteFunc(columns, (*column).empty)
}

// blankGroups says once what rows that follow each other are about.
func blankGroups(columns []*column) {
	if len(columns) == 0 {
		return
	}
	for row := len(columns[0].cells) - 1; row > 0; row-- {
		if slices.ContainsFunc(columns, func(c *column) bool { return c.Group && c.cells[row] != c.cells[row-1] }) {
			continue
		}
		for _, c := range columns {
			if c.Group {
				c.cells[row], c.brief[row] = "", ""
			}
		}
	}
}

func (c *column) width() int {
	w := utf8.RuneCountInString(c.Label)
	for _, s := range c.cells {
		w = max(w, utf8.RuneCountInString(s))
	}
	return w
}

func (c *column) empty() bool {
	return !slices.ContainsFunc(c.cells, func(s string) bool { return s != "" })
}

const textGap = 2

// textIndent stands before the rows of a group.
const textIndent = "  "

// table writes columns side by side, without the empty ones. Where they don't fit the width, names are shortened
// first; then columns are left out, then what is less important in cells; then the columns that the rows are
// grouped by, or the first, become lines of their own.
func (t *terminal) table(of *doc.Table) {
	columns := columnsOf(of)
	if len(columns) == 0 {
		return
	}
	var groups []*column
	fitted, indent := fit(columns, t.width), ""
	if !fits(fitted, t.width) {
		for _, c := range columns {
			c.cells = c.brief
		}
		fitted = fit(columns, t.width)
	}
	if !fits(fitted, t.width) && len(columns) > 1 {
		groups, columns = splitGroups(columns)
		fitted, indent = fit(columns, t.width-len(textIndent)), textIndent
	}
	t.rows(groups, fitted, indent)
	var left []string
	for _, c := range columns {
		if !slices.Contains(fitted, c) {
			left = append(left, c.Label)
		}
	}
	if len(left) > 0 {
		t.wrapped("", "No room for: "+strings.Join(left, ", "))
	}
}

// rows writes the heads and each row, behind lines of what groups them.
func (t *terminal) rows(groups, columns []*column, indent string) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = c.width()
	}
	t.row(indent, columns, widths, func(c *column) string { return c.Label })
	for i := range columns[0].cells {
		if line := groupLine(groups, i); line != "" {
			t.wrapped("", line)
		}
		t.row(indent, columns, widths, func(c *column) string { return c.cells[i] })
	}
}

func (t *terminal) row(indent string, columns []*column, widths []int, cell func(*column) string) {
	var line strings.Builder
	for i, c := range columns {
		if i > 0 {
			line.WriteString(strings.Repeat(" ", textGap))
		}
		text := cell(c)
		pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text)))
		if c.Number {
			line.WriteString(pad + text)
		} else {
			line.WriteString(text + pad)
		}
	}
	t.WriteString(strings.TrimRight(indent+line.String(), " "))
	t.WriteByte('\n')
}

// leastName is how much of a name is kept where a column would have to go instead.
const leastName = 24

// fit shortens the longest names, as far as need be, and then leaves out the columns that don't fit the width, as far
// as they may be.
func fit(columns []*column, width int) []*column {
	if fits(columns, width) {
		return columns
	}
	shorten(columns, width, leastName)
	drawBars(columns, width)
	spare := slices.DeleteFunc(slices.Clone(columns), func(c *column) bool { return c.Drop == 0 })
	slices.SortStableFunc(spare, func(x, y *column) int { return cmp.Compare(y.Drop, x.Drop) })
	left, total := make(map[*column]bool), totalWidth(columns)
	for _, c := range spare {
		if total <= width {
			break
		}
		left[c] = true
		total -= c.width() + textGap
	}
	kept := slices.DeleteFunc(slices.Clone(columns), func(c *column) bool { return left[c] })
	shorten(kept, width, leastName/2)
	drawBars(kept, width)
	return kept
}

// leastBar is how many characters a bar has at least.
const leastBar = 8

// drawBars draws bars as long as the others leave room for.
func drawBars(columns []*column, width int) {
	for _, c := range columns {
		if c.bars == nil || width <= 0 {
			continue
		}
		room := max(leastBar, min(width-(totalWidth(columns)-c.width()), doc.Blocks))
		longest := 0.0
		for _, b := range c.bars {
			if b != nil && !b.Ratio {
				longest = max(longest, b.To)
			}
		}
		for i, b := range c.bars {
			switch {
			case b == nil:
			case b.Ratio:
				c.cells[i] = b.Text(room &^ 1) // which has a middle
			default:
				c.cells[i] = b.Text(int(float64(room) / max(longest, 0.1)))
			}
		}
	}
}

// shorten cuts the widest column of names in its middle.
func shorten(columns []*column, width, least int) {
	if fits(columns, width) {
		return
	}
	var widest *column
	for _, c := range columns {
		if !c.Number && !c.Group && c.Drop == 0 && (widest == nil || c.width() > widest.width()) {
			widest = c
		}
	}
	if widest == nil || widest.width() <= least {
		return
	}
	room := max(least, widest.width()-(totalWidth(columns)-width))
	widest.cells = shortNames(widest.cells, room)
}

// shortNames cuts names so that those that differ stay apart, if cutting their middle, their beginning or their end does so.
func shortNames(names []string, room int) []string {
	whole := distinct(names)
	var first []string
	for _, kept := range []float64{0.4, 0, 1} { // of what is kept, how much is of the beginning
		short := make([]string, len(names))
		for i, name := range names {
			short[i] = doc.Cut(name, room, kept)
		}
		if distinct(short) == whole {
			return short
		}
		if first == nil {
			first = short
		}
	}
	return first
}

func distinct(names []string) int {
	names = slices.Sorted(slices.Values(names))
	return len(slices.Compact(names))
}

func fits(columns []*column, width int) bool { return width <= 0 || totalWidth(columns) <= width }

func totalWidth(columns []*column) int {
	total := -textGap
	for _, c := range columns {
		total += c.width() + textGap
	}
	return total
}

// splitGroups takes out the columns that rows are grouped by, or the first where there are none.
func splitGroups(columns []*column) (groups, rest []*column) {
	for _, c := range columns {
		if c.Group {
			groups = append(groups, c)
		} else {
			rest = append(rest, c)
		}
	}
	if len(groups) == 0 || len(rest) == 0 {
		return columns[:1], columns[1:]
	}
	return groups, rest
}

// groupLine says what the rows from number i on are about; "" if it is what the row before is.
func groupLine(groups []*column, i int) string {
	var parts []string
	for _, c := range groups {
		switch cell := c.cells[i]; {
		case cell == "":
		case !c.Number:
			parts = append(parts, cell)
		case cell == "1":
			parts = append(parts, "1 "+strings.TrimSuffix(c.Label, "s"))
		default:
			parts = append(parts, cell+" "+c.Label)
		}
	}
	return strings.Join(parts, ", ")
}

// wrapped breaks text into lines of the width, at spaces.
func (t *terminal) wrapped(prefix, text string) {
	column := utf8.RuneCountInString(prefix)
	t.WriteString(prefix)
	for i, word := range strings.Fields(term.Text(text)) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case t.width > 0 && column+1+n > t.width:
			t.WriteString("\n  ")
			column = 2
		default:
			t.WriteByte(' ')
			column++
		}
		t.WriteString(word)
		column += n
	}
	t.WriteByte('\n')
}
