package reports

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
)

func init() {
	registerKind(Kind{Name: "table", Extension: "txt", About: "aligned text, the best variants of each setting",
		Render:  text(func(w io.Writer, res *results.Set) error { return WriteTable(w, res, TableOptions{}) }),
		several: text(writeFleetTable)})
}

// TableOptions shape a terminal table.
type TableOptions struct {
	Width int  // columns of the terminal; 0 means as wide as need be
	Top   int  // variants per setting; 0 means 3, or a summary if there are many tasks; negative means all
	Brief bool // whether what has a ranking is shown by that alone
}

// WriteTable writes what a person at a terminal wants first: for each task and condition the fastest
// variants, best first, with their error; then the noise floor and what was wrong or doubtful. If
// that would fill screens, each format and condition has a row over all of its tasks instead. What
// doesn't fit the width is left out, the least important first.
func WriteTable(w io.Writer, res *results.Set, opt TableOptions) error {
	if IsMachine(res) {
		return WriteMachineTable(w, []Machine{{Results: res}}, opt)
	}
	d := newDigest(res)
	top, summed := opt.Top, opt.Top == 0 && len(d.tasks) > manyTasks
	if top == 0 {
		top = 3
	}
	screens := d.screens()
	brief := opt.Brief && len(screens) > 0
	var b strings.Builder
	if !brief {
		for _, m := range d.models {
			d.writeModel(&b, m, opt)
		}
		for _, m := range d.matrices() {
			if summed {
				writeAligned(&b, summaryColumns(m), opt.Width)
			} else {
				writeAligned(&b, d.standingColumns(m, top), opt.Width)
			}
			b.WriteByte('\n')
		}
	}
	for _, base := range d.bases() {
		if cases := d.ofBase(base); cases[0].contender == "" && !isCeiling(cases[0]) {
			writeAligned(&b, d.caseColumns(cases), opt.Width)
			b.WriteByte('\n')
		}
	}
	for _, s := range screens {
		writeWrapped(&b, "", s.text(), opt.Width)
		b.WriteByte('\n')
		writeAligned(&b, s.Sheet.textColumns(), opt.Width)
		b.WriteByte('\n')
	}
	if summed && !brief {
		writeWrapped(&b, "", summaryText, opt.Width)
	}
	d.writeRemarks(&b, opt.Width)
	for _, s := range screens {
		if next := s.Next.text(); next != "" {
			writeWrapped(&b, "", next, opt.Width)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// isCeiling reports whether a case measures the machine.
func isCeiling(c *caseStats) bool {
	_, ok := c.stats[results.ReadRate]
	return ok || c.name.Base == names.BaseDotPeak
}

// modelTop is how many runs of each number of threads are shown unless asked for more.
const modelTop = 6

// profileTop is how many contenders' time by operation is shown.
const profileTop = 2

// writeModel writes a model's speed, memory and error, and where the time of its decoding and its
// prompt goes.
func (d *digest) writeModel(b *strings.Builder, m *model, opt TableOptions) {
	top := cmp.Or(opt.Top, modelTop)
	seen := make(map[panel]int)
	runs := slices.DeleteFunc(slices.Clone(m.runs), func(r *run) bool {
		seen[r.panel]++
		return top >= 0 && seen[r.panel] > top && !strings.HasPrefix(r.contender, names.LlamaBench)
	})
	sheets := []*sheet{d.runSheet(m, runs), d.textsSheet(m), d.draftsSheet(m), d.errorSheet(m), d.headSheet(m)}
	shown := make(map[string]bool) // kinds of tests
	for _, p := range m.profiles {
		if !shown[p.kind] {
			shown[p.kind] = true
			sheets = append(sheets, profileSheet(m, p, p.contenders[:min(len(p.contenders), profileTop)]))
		}
	}
	for _, s := range sheets {
		if s == nil {
			continue
		}
		writeWrapped(b, "", s.Heading, opt.Width)
		writeAligned(b, s.textColumns(), opt.Width)
		b.WriteByte('\n')
	}
}

// A textColumn is a column of an aligned table.
type textColumn struct {
	title string
	cells []string
	right bool
	drop  int // when the width is short, the column of the highest drop goes first; 0 never goes

	brief []string // cells without what is less important; nil if there is none
	group bool     // whether a cell stands for the rows up to the next
}

func (c *textColumn) width() int {
	w := utf8.RuneCountInString(c.title)
	for _, s := range c.cells {
		w = max(w, utf8.RuneCountInString(s))
	}
	return w
}

func (c *textColumn) empty() bool {
	return !slices.ContainsFunc(c.cells, func(s string) bool { return s != "" })
}

// groupColumns say what a matrix' rows are about.
func groupColumns(m *matrix) (subject, threads, cache *textColumn) {
	return &textColumn{title: strings.ToLower(m.base), group: true},
		&textColumn{title: names.Threads, right: true, group: true}, &textColumn{title: names.Cache, group: true}
}

func (d *digest) standingColumns(m *matrix, top int) []*textColumn {
	task, threads, cache := groupColumns(m)
	variant := &textColumn{title: names.Variant}
	best := &textColumn{title: versusBest, right: true}
	ci := &textColumn{title: "±", right: true, drop: 4}
	units := []struct {
		name string
		drop int
	}{{results.GPUTime, 3}, {results.TokenRate, 0}, {results.PctRoof, 1}, {results.NMSE, 2}, {results.KLD, 2}, {results.Perplexity, 2}, {results.WeightRate, 5}, {results.PackedBytes, 6}}
	timeColumn := &textColumn{title: "time/op", right: true}
	columns := []*textColumn{task, threads, cache, variant, timeColumn, ci, best}
	measured := make([]*textColumn, len(units))
	for i, u := range units {
		measured[i] = &textColumn{title: u.name, right: true, drop: u.drop}
	}
	for _, s := range m.standings() {
		for i, c := range s.ranked {
			if top >= 0 && i >= top {
				break
			}
			head := [3]string{}
			if i == 0 {
				head = [3]string{s.task.title, s.panel.threads, s.panel.cache}
			}
			task.add(head[0])
			threads.add(head[1])
			cache.add(head[2])
			variant.add(c.contender)
			timeColumn.add(signedValue(c, results.NsPerOp))
			ci.add(strings.TrimPrefix(c.stats[results.NsPerOp].spread(results.NsPerOp), "±"))
			ratio, spread := versus(s, i)
			best.add(strings.TrimSpace(ratio + " " + spread))
			best.brief = append(best.brief, ratio)
			for k, u := range units {
				measured[k].add(valueOf(c, u.name))
			}
		}
	}
	return append(columns, measured...)
}

// summaryText says what a summary's columns are.
const summaryText = "Each row names the variant that is the fastest, or tied with it, most often; its speed-up is the geometric " +
	"mean over the shapes, its rates are medians. Each shape and variant is in the HTML, Markdown and CSV reports."

// summaryColumns shows a row for each section and condition.
func summaryColumns(m *matrix) []*textColumn {
	subject, threads, cache := groupColumns(m)
	variant := &textColumn{title: names.Variant}
	leads := &textColumn{title: "fastest in", right: true, drop: 4}
	speed := &textColumn{title: "vs " + baselines[0], right: true}
	roof := &textColumn{title: results.PctRoof, right: true, drop: 1}
	rate := &textColumn{title: results.WeightRate, right: true, drop: 3}
	tokens := &textColumn{title: results.TokenRate, right: true}
	nmse := &textColumn{title: results.NMSE, right: true, drop: 2}
	weight := &textColumn{title: "bits/weight", right: true, drop: 5}
	for _, section := range m.sections() {
		title := section.subject
		for _, s := range section.summaries(m.columns) {
			if s == nil {
				continue
			}
			subject.add(title)
			title = ""
			threads.add(s.panel.threads)
			cache.add(s.panel.cache)
			variant.add(s.champion)
			leads.add(s.leadText())
			speed.add(s.speedText(baselines[0]))
			roof.add(s.typicalText(results.PctRoof))
			rate.add(s.typicalText(results.WeightRate))
			tokens.add(s.typicalText(results.TokenRate))
			nmse.add(s.nmse.text(results.UnitOf(results.NMSE).Format))
			weight.add(s.weightText())
		}
	}
	return []*textColumn{subject, threads, cache, variant, leads, speed, tokens, rate, roof, nmse, weight}
}

// versus says how a ranked case compares with the first, and how far the interval of the ratio reaches.
func versus(s *standing, i int) (ratio, spread string) {
	if i == 0 {
		return "", ""
	}
	if d := s.diffs[i]; d.Bounded() && d.Lo < d.Hi { // not of a single round, or of copies of one
		spread = formatSpread(d.Spread())
	}
	if s.diffs[i].Tie {
		return "tie", spread
	}
	return times(s.diffs[i].Ratio), spread
}

// caseColumns shows benchmarks that nothing is known of.
func (d *digest) caseColumns(cases []*caseStats) []*textColumn {
	name := &textColumn{title: "benchmark"}
	columns := []*textColumn{name}
	for _, c := range cases {
		name.add(c.name.Full)
	}
	for i, u := range d.unitsIn(cases) {
		column := &textColumn{title: u, right: true, drop: i}
		for _, c := range cases {
			text := signedValue(c, u)
			if s, ok := c.stats[u]; ok && s.spread(u) != "" {
				text += " " + s.spread(u)
			}
			column.add(text)
		}
		columns = append(columns, column)
	}
	return columns
}

func (c *textColumn) add(text string) { c.cells = append(c.cells, term.Text(text)) }

const textGap = 2

// writeAligned writes columns side by side, without the empty ones. What doesn't fit the width is left
// out as far as need be: columns, then what is less important in cells; then the columns that the rows are
// grouped by, or the first, become lines of their own.
func writeAligned(b *strings.Builder, columns []*textColumn, width int) {
	columns = slices.DeleteFunc(slices.Clone(columns), (*textColumn).empty)
	if len(columns) == 0 {
		return
	}
	rows := len(columns[0].cells)
	var groups []*textColumn
	fitted, indent := fitColumns(columns, width), ""
	if !fits(fitted, width) {
		columns = briefColumns(columns)
		fitted = fitColumns(columns, width)
	}
	if !fits(fitted, width) && len(columns) > 1 {
		groups, columns = splitGroups(columns)
		fitted, indent = fitColumns(columns, width-len(textIndent)), textIndent
	}
	widths := make([]int, len(fitted))
	for i, c := range fitted {
		widths[i] = c.width()
	}
	writeTextRow(b, indent, fitted, widths, func(c *textColumn) string { return c.title })
	for i := range rows {
		if line := groupLine(groups, i); line != "" {
			writeWrapped(b, "", line, width)
		}
		writeTextRow(b, indent, fitted, widths, func(c *textColumn) string { return c.cells[i] })
	}
	var left []string
	for _, c := range columns {
		if !slices.Contains(fitted, c) {
			left = append(left, c.title)
		}
	}
	if len(left) > 0 {
		writeWrapped(b, "", "No room for: "+strings.Join(left, ", "), width)
	}
}

// textIndent stands before the rows of a group.
const textIndent = "  "

// fitColumns leaves out the columns that don't fit the width, as far as they may be.
func fitColumns(columns []*textColumn, width int) []*textColumn {
	if fits(columns, width) {
		return columns
	}
	spare := slices.DeleteFunc(slices.Clone(columns), func(c *textColumn) bool { return c.drop == 0 })
	slices.SortStableFunc(spare, func(x, y *textColumn) int { return cmp.Compare(y.drop, x.drop) })
	left, total := make(map[*textColumn]bool), totalWidth(columns)
	for _, c := range spare {
		if total <= width {
			break
		}
		left[c] = true
		total -= c.width() + textGap
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c *textColumn) bool { return left[c] })
}

func fits(columns []*textColumn, width int) bool { return width <= 0 || totalWidth(columns) <= width }

func briefColumns(columns []*textColumn) []*textColumn {
	all := make([]*textColumn, len(columns))
	for i, c := range columns {
		brief := *c
		if c.brief != nil {
			brief.cells = c.brief
		}
		all[i] = &brief
	}
	return all
}

// splitGroups takes out the columns that rows are grouped by, or the first where there are none.
func splitGroups(columns []*textColumn) (groups, rest []*textColumn) {
	for _, c := range columns {
		if c.group {
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
func groupLine(groups []*textColumn, i int) string {
	var parts []string
	for _, c := range groups {
		switch cell := c.cells[i]; {
		case cell == "":
		case !c.right:
			parts = append(parts, cell)
		case cell == "1":
			parts = append(parts, "1 "+strings.TrimSuffix(c.title, "s"))
		default:
			parts = append(parts, cell+" "+c.title)
		}
	}
	return strings.Join(parts, ", ")
}

func totalWidth(columns []*textColumn) int {
	total := -textGap
	for _, c := range columns {
		total += c.width() + textGap
	}
	return total
}

func writeTextRow(b *strings.Builder, indent string, columns []*textColumn, widths []int, cell func(*textColumn) string) {
	var line strings.Builder
	for i, c := range columns {
		if i > 0 {
			line.WriteString(strings.Repeat(" ", textGap))
		}
		if c.right {
			line.WriteString(padLeft(cell(c), widths[i]))
		} else {
			line.WriteString(padRight(cell(c), widths[i]))
		}
	}
	b.WriteString(strings.TrimRight(indent+line.String(), " "))
	b.WriteByte('\n')
}

// writeRemarks writes the noise floor, failures and warnings.
func (d *digest) writeRemarks(b *strings.Builder, width int) {
	for _, text := range []string{signsText(b.String()), legend(b.String())} {
		if text != "" {
			writeWrapped(b, "", text, width)
		}
	}
	if len(d.tasks) > 0 {
		writeWrapped(b, "", d.noiseLine(), width)
	}
	for _, f := range d.res.Failures {
		writeWrapped(b, "WRONG, not timed: ", f.Name.Full+": "+strings.ReplaceAll(f.Reason, "\n", "; "), width)
	}
	for _, w := range d.doubts() {
		writeWrapped(b, "warning: ", w.Text, width)
	}
}

// writeWrapped breaks text into lines of the width, at spaces.
func writeWrapped(b *strings.Builder, prefix, text string, width int) {
	column := utf8.RuneCountInString(prefix)
	b.WriteString(prefix)
	for i, word := range strings.Fields(term.Text(text)) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width > 0 && column+1+n > width:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
