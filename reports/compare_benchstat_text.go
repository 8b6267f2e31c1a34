package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// Each compared column is printed as several text columns, which line up from row to row:
//
//	 value  range note   delta p              note
//	1.718µ  ± 1%       -17.20% (p=0.000 n=10) ¹
//
// The base column has the first three only. Headers span the text columns of what they head.
const (
	partValue = iota
	partRange
	partNote
	partDelta
	partP
	partDeltaNote
	partCount
)

const geomeanLabel = "geomean"

// A deltaLayout is the text of one table before it is printed.
type deltaLayout struct {
	label  int              // width of the row labels
	widths [][partCount]int // per column
	rows   []deltaRow
	notes  footnotes
}

type deltaRow struct {
	label   string
	geomean bool
	cells   [][partCount]string
}

func writeDeltaText(w, _ io.Writer, tables []*deltaTable) error {
	out := bufio.NewWriter(w)
	var config []configLine
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(out)
		}
		for _, line := range changedConfig(config, t.config) {
			fmt.Fprintf(out, "%s: %s\n", line.key, line.value)
		}
		config = t.config
		writeDeltaTable(out, t)
	}
	return out.Flush()
}

// changedConfig returns the lines that differ from the table before.
func changedConfig(before, now []configLine) []configLine {
	if before == nil {
		return now
	}
	var changed []configLine
	for i, line := range now {
		if line != before[i] {
			changed = append(changed, line)
		}
	}
	return changed
}

func writeDeltaTable(out *bufio.Writer, t *deltaTable) {
	l := layOutDeltas(t)
	header := benchproc.NewKeyHeader(t.cols)
	for nodes := header.Top; len(nodes) > 0; {
		var next []*benchproc.KeyHeaderNode
		for _, n := range nodes {
			l.fit(n.Start, n.Start+n.Len, utf8.RuneCountInString(n.Value))
			next = append(next, n.Children...)
		}
		nodes = next
	}
	unitWidth := utf8.RuneCountInString(t.unit)
	for i := range t.cols {
		w := &l.widths[i]
		if summary := w[partValue] + w[partRange] + w[partNote]; summary < unitWidth {
			w[partValue] += unitWidth - summary
		}
	}
	for nodes := header.Top; len(nodes) > 0; {
		var next []*benchproc.KeyHeaderNode
		l.writeHeader(out, nodes)
		for _, n := range nodes {
			next = append(next, n.Children...)
		}
		nodes = next
	}
	l.writeUnits(out, t.unit)
	for _, row := range l.rows {
		l.writeRow(out, row)
	}
	for i, text := range l.notes.texts {
		fmt.Fprintf(out, "%s %s\n", superscript(i+1), text)
	}
}

// layOutDeltas formats the cells and measures them.
func layOutDeltas(t *deltaTable) *deltaLayout {
	l := &deltaLayout{widths: make([][partCount]int, len(t.cols))}
	for _, row := range t.rows {
		l.rows = append(l.rows, l.formatRow(t, row))
	}
	if len(t.rows) > 1 {
		l.rows = append(l.rows, l.formatGeomean(t))
	}
	percent := make([]int, len(t.cols))
	for _, row := range l.rows {
		l.label = max(l.label, utf8.RuneCountInString(row.label))
		for i := range row.cells {
			percent[i] = max(percent[i], utf8.RuneCountInString(row.cells[i][partRange]))
		}
	}
	for _, row := range l.rows {
		for i := range row.cells {
			if r := &row.cells[i][partRange]; *r != "" {
				*r = " ± " + padLeft(*r, percent[i])
			}
			for part, text := range row.cells[i] {
				l.widths[i][part] = max(l.widths[i][part], utf8.RuneCountInString(text))
			}
		}
	}
	return l
}

func (l *deltaLayout) formatRow(t *deltaTable, key benchproc.Key) deltaRow {
	row := deltaRow{label: key.StringValues(), cells: make([][partCount]string, len(t.cols))}
	var centers []float64
	for _, col := range t.cols {
		if cell := t.cells[cellKey{key, col}]; cell != nil {
			centers = append(centers, cell.summary.Center)
		}
	}
	// One scale for the row, so that its numbers can be compared by eye.
	scale := benchunit.CommonScale(centers, benchunit.ClassOf(t.unit))
	for i, col := range t.cols {
		cell := t.cells[cellKey{key, col}]
		if cell == nil {
			continue
		}
		parts := &row.cells[i]
		parts[partValue] = scale.Format(cell.summary.Center)
		parts[partRange] = cell.summary.PctRangeString()
		parts[partNote] = l.notes.mark(cell.warnings)
		if cell.compared {
			parts[partDelta] = cell.delta
			parts[partP] = comparisonText(cell.comparison)
			parts[partDeltaNote] = l.notes.mark(cell.comparison.Warnings)
		}
	}
	return row
}

func comparisonText(c benchmath.Comparison) string {
	if s := c.String(); s != "" {
		return " (" + s + ")"
	}
	return ""
}

func (l *deltaLayout) formatGeomean(t *deltaTable) deltaRow {
	row := deltaRow{label: geomeanLabel, geomean: true, cells: make([][partCount]string, len(t.cols))}
	class := benchunit.ClassOf(t.unit)
	for i, g := range t.geomean {
		parts := &row.cells[i]
		if g.ok {
			parts[partValue] = benchunit.Scale(g.center, class)
		}
		parts[partDelta] = g.delta
		// Right of the base, the notes on the mean and on its change stand together.
		note := partDeltaNote
		if i == 0 {
			note = partNote
		}
		parts[note] = l.notes.mark(g.issues)
	}
	return row
}

// gaps in front of the delta, and between two compared columns.
const (
	deltaGap  = 2
	columnGap = 3
)

// width is the number of characters from the value of column from to the end of column to-1.
func (l *deltaLayout) width(from, to int) int {
	total := (to - from - 1) * columnGap
	for i := from; i < to; i++ {
		for _, w := range l.widths[i] {
			total += w
		}
		if i > 0 {
			total += deltaGap
		}
	}
	return total
}

// fit widens columns from to to-1 evenly until a header of the given width fits above them. The
// room goes in front of the values.
func (l *deltaLayout) fit(from, to, width int) {
	n := to - from
	for extra := width - l.width(from, to); extra > 0; {
		share := (extra + n - 1) / n
		l.widths[to-n][partValue] += share
		extra -= share
		n--
	}
}

func (l *deltaLayout) writeHeader(out *bufio.Writer, nodes []*benchproc.KeyHeaderNode) {
	fmt.Fprintf(out, "%*s", l.label, "")
	for _, n := range nodes {
		fmt.Fprintf(out, " │ %s", center(n.Value, l.width(n.Start, n.Start+n.Len)))
	}
	fmt.Fprintln(out, " │")
}

func (l *deltaLayout) writeUnits(out *bufio.Writer, unit string) {
	fmt.Fprintf(out, "%*s", l.label, "")
	for i, w := range l.widths {
		fmt.Fprintf(out, " │ %s", center(unit, w[partValue]+w[partRange]+w[partNote]))
		if i > 0 {
			const title = "vs base"
			// Over columns narrower than the title, benchstat adds as many spaces as are lacking.
			pad := w[partDelta] + w[partP] + w[partDeltaNote] - len(title)
			fmt.Fprintf(out, "%*s%s%*s", deltaGap, "", title, max(pad, -pad), "")
		}
	}
	fmt.Fprintln(out, " │")
}

func (l *deltaLayout) writeRow(out *bufio.Writer, row deltaRow) {
	var b strings.Builder
	b.WriteString(padRight(row.label, l.label))
	for i, cell := range row.cells {
		w := l.widths[i]
		fmt.Fprintf(&b, "%*s", columnGap, "")
		b.WriteString(padLeft(cell[partValue], w[partValue]))
		b.WriteString(padLeft(cell[partRange], w[partRange]))
		b.WriteString(padRight(cell[partNote], w[partNote]))
		if i > 0 {
			fmt.Fprintf(&b, "%*s", deltaGap, "")
			b.WriteString(padDelta(row, cell[partDelta], w[partDelta]))
			b.WriteString(padRight(cell[partP], w[partP]))
			b.WriteString(padRight(cell[partDeltaNote], w[partDeltaNote]))
		}
	}
	fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
}

// padDelta aligns changes to the right, but for an unknown change of the geomean, which benchstat
// aligns to the left.
func padDelta(row deltaRow, delta string, width int) string {
	if row.geomean && delta == unknownDelta {
		return padRight(delta, width)
	}
	return padLeft(delta, width)
}

// footnotes numbers the warnings of a table in the order in which they are met.
type footnotes struct {
	texts  []string
	number map[string]int
}

// mark returns the superscripts for the warnings, each with a space in front.
func (f *footnotes) mark(warnings []error) string {
	var b strings.Builder
	for _, w := range warnings {
		text := w.Error()
		n, ok := f.number[text]
		if !ok {
			if f.number == nil {
				f.number = make(map[string]int)
			}
			f.texts = append(f.texts, text)
			n = len(f.texts)
			f.number[text] = n
		}
		b.WriteString(" " + superscript(n))
	}
	return b.String()
}

func superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	var b strings.Builder
	for _, d := range fmt.Sprint(n) {
		b.WriteRune(digits[d-'0'])
	}
	return b.String()
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

func center(s string, width int) string {
	spare := max(0, width-utf8.RuneCountInString(s))
	return strings.Repeat(" ", spare/2) + s + strings.Repeat(" ", spare-spare/2)
}
