package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"onebit/bench"
)

func init() {
	registerKind(Kind{Name: "html", Extension: "html", About: "one self-contained page", Render: WriteHTML})
}

var (
	//go:embed assets/report.html.tmpl
	pageSource string
	//go:embed assets/report.css
	pageStyle string
	//go:embed assets/report.js
	pageScript string

	pageTemplate = template.Must(template.New("report").Parse(pageSource))
)

// WriteHTML writes the report as one page that needs nothing beside it.
func WriteHTML(w io.Writer, res *bench.Results) error {
	d := newDigest(res)
	drawn, err := drawCharts(d)
	if err != nil {
		return err
	}
	return writePage(w, d, drawn, "")
}

// A drawnChart is a chart with its figures.
type drawnChart struct {
	chart
	figures []drawnFigure
}

type drawnFigure struct {
	*figure
	svg string
}

// drawCharts draws the charts that have something to show.
func drawCharts(d *digest) ([]drawnChart, error) {
	var all []drawnChart
	taken := make(fileNames)
	for _, c := range charts() {
		dc := drawnChart{chart: c}
		for _, f := range c.figures(d) {
			f.name = taken.unique(f.name)
			svg, err := f.svg()
			if err != nil {
				return nil, err
			}
			dc.figures = append(dc.figures, drawnFigure{f, svg})
		}
		if len(dc.figures) > 0 {
			all = append(all, dc)
		}
	}
	return all, nil
}

// writePage writes the page; plots is the folder beside it that holds the charts' PNG files, "" if
// there is none.
func writePage(w io.Writer, d *digest, drawn []drawnChart, plots string) error {
	p := page{
		Title: "onebit results", Subtitle: d.subtitle(),
		Light: template.CSS(paletteCSS(false)), Dark: template.CSS(paletteCSS(true)),
		Style: template.CSS(pageStyle), Script: template.JS(pageScript),
		Doubts: d.doubts(), Noise: d.noiseText(), Glossary: d.glossary(), Kernels: d.kernelsHeading(),
		Command: d.res.Setting("command"), Raw: d.rawText(),
	}
	for _, f := range d.res.Failures {
		p.Failures = append(p.Failures, pageFailure{f.Name.Full, f.Reason})
	}
	p.ProblemsHeading = problemsHeading(len(p.Failures), len(d.warnings()))
	for _, s := range d.res.Settings {
		p.Environment = append(p.Environment, fact{s.Key, s.Value})
	}
	taken := make(fileNames)
	for _, m := range d.models {
		sheets := d.sheets(m)
		for _, s := range sheets {
			s.ID = taken.unique("sheet-" + s.ID)
		}
		v := d.pageGlance(m)
		v.Section = sheets[0].ID
		p.Verdicts = append(p.Verdicts, v)
		p.Sheets = append(p.Sheets, sheets...)
	}
	for _, m := range d.matrices() {
		for _, v := range m.verdicts() {
			p.Verdicts = append(p.Verdicts, pageVerdict{v.subject, "kernels", v.champion, v.headline(), markHTML(d.marks[v.champion]), v.facts()})
		}
		p.Matrices = append(p.Matrices, d.pageMatrix(m))
	}
	for _, c := range drawn {
		if c.models {
			p.ModelCharts = append(p.ModelCharts, newPageChart(c, plots))
		} else {
			p.Charts = append(p.Charts, newPageChart(c, plots))
		}
	}
	for _, base := range d.bases() {
		if !foldedBase(base) {
			p.Tables = append(p.Tables, d.pageTable(base, len(p.Tables)))
		}
	}
	// A template error half way must not leave half a page behind.
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return fmt.Errorf("rendering the page: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}

// page is what the template shows. Only Light, Dark, Style and Script, which are the program's own,
// and the drawings, whose texts are escaped where they are drawn, reach it unescaped.
type page struct {
	Title, Subtitle string
	Light, Dark     template.CSS
	Style           template.CSS
	Script          template.JS
	ProblemsHeading string
	Failures        []pageFailure
	Doubts          []doubt
	Verdicts        []pageVerdict
	Sheets          []*sheet
	ModelCharts     []pageChart
	Kernels         string // heading of what follows
	Matrices        []pageMatrix
	Charts          []pageChart
	Noise           string
	Environment     []fact
	Tables          []pageTable
	Glossary        []fact
	Command, Raw    string
}

type pageFailure struct{ Name, Reason string }

type pageMatrix struct {
	Columns []string
	Parts   []pageMatrixPart
}

// A pageMatrixPart is a table; with a heading it is shown when asked for.
type pageMatrixPart struct {
	Heading, Label, Caption, RowTitle string
	Rows                              []pageMatrixRow
}

type pageVerdict struct {
	Subject, Section, Champion, Headline string // Section is where to read on
	Mark                                 template.HTML
	Facts                                []fact
}

type pageMatrixRow struct {
	Subject, Shape string
	Cells          []pageCell
}

type pageCell struct {
	Winner, Time, Spread, Roof, Share, Error, Ties string
	Mark                                           template.HTML
}

type pageChart struct {
	Name, Heading, About string
	Figures              []pageFigure
}

type pageFigure struct {
	Heading, Reading string
	File             string // its PNG, "" if there is none
	Folded           bool
	SVG              template.HTML
}

type pageTable struct {
	ID, Base, Caption string
	Columns           []pageColumn
	Rows              [][]pageValue
}

type pageColumn struct {
	Label, About string
	Number       bool
}

type pageValue struct {
	Text, Spread, Value string
	Header, Number      bool
}

// kernelsHeading heads the results that are no models.
func (d *digest) kernelsHeading() string {
	if len(d.matrices()) == 0 {
		return "Every sample" // of models: only those charts are left
	}
	return "Kernels"
}

// subtitleNames say what a setting is where its value alone would not.
var subtitleNames = map[string]string{"cpus-usable": "%s CPUs", "l3": "%s L3", "mem-total": "%s memory"}

func (d *digest) subtitle() string {
	var parts []string
	for _, key := range []string{"cpu", "cpus-usable", "l3", "mem-total", "goos", "goarch", "commit"} {
		// A value that could not be found out is its reason, which belongs to the list below.
		if v := d.res.Setting(key); v != "" && !strings.HasPrefix(v, "unavailable") {
			if named := subtitleNames[key]; named != "" {
				v = fmt.Sprintf(named, v)
			}
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, " · ")
}

// pageGlance is a model's card.
func (d *digest) pageGlance(m *model) pageVerdict {
	v := pageVerdict{Subject: cmp.Or(m.name, baseModel)}
	g, ok := d.glance(m)
	if !ok {
		v.Headline = "was not timed"
		return v
	}
	v.Champion, v.Headline, v.Facts = g.standing.best().contender, g.headline(), g.facts
	v.Mark = markHTML(d.marks[v.Champion])
	return v
}

// foldedBase reports whether a benchmark has so many lines that only sheets and charts show them, and
// CSV all.
func foldedBase(base string) bool { return base == baseOp || base == baseLockstep }

// pageMatrix shows a matrix as one table or, if its formats have many rows, as a table of a row per
// format, followed by the formats' own.
func (d *digest) pageMatrix(m *matrix) pageMatrix {
	p := pageMatrix{}
	for _, c := range m.columns {
		p.Columns = append(p.Columns, cmp.Or(c.String(), "all"))
	}
	rowTitle := "format"
	if m.rows[0].task.subject == "" {
		rowTitle = "task"
	}
	if !m.crowded() {
		part := pageMatrixPart{Label: m.base + ": the fastest variants", Caption: m.base + ": " + matrixCaption, RowTitle: rowTitle}
		for _, r := range m.rows {
			part.Rows = append(part.Rows, d.pageMatrixRow(r))
		}
		p.Parts = []pageMatrixPart{part}
		return p
	}
	over := pageMatrixPart{Label: m.base + ": the fastest variants over all shapes", Caption: m.base + ": " + overviewCaption, RowTitle: rowTitle}
	p.Parts = []pageMatrixPart{over}
	for _, s := range m.sections() {
		row := pageMatrixRow{Subject: s.subject}
		for _, summary := range s.summaries(m.columns) {
			row.Cells = append(row.Cells, d.summaryCell(summary))
		}
		p.Parts[0].Rows = append(p.Parts[0].Rows, row)
		part := pageMatrixPart{
			Heading: s.heading(), Label: s.subject + ": the fastest variants", Caption: s.subject + ": " + matrixCaption, RowTitle: "shape",
		}
		for _, r := range s.rows {
			row := d.pageMatrixRow(r)
			row.Subject, row.Shape = cmp.Or(r.task.shape, r.task.title), ""
			part.Rows = append(part.Rows, row)
		}
		p.Parts = append(p.Parts, part)
	}
	return p
}

const (
	matrixCaption = "the fastest variant, its median time, its share of the machine's read bandwidth where that was measured, " +
		"and its error. Ties are variants that can't be told from it."
	overviewCaption = "the variant that is the fastest, or tied with it, most often; in how many of the tasks; its speed-up, a geometric mean; " +
		"its median share of the machine's read bandwidth where that was measured; and its error."
)

func (d *digest) pageMatrixRow(r matrixRow) pageMatrixRow {
	row := pageMatrixRow{Subject: r.task.title}
	if r.task.subject != "" {
		row.Subject, row.Shape = r.task.subject, r.task.shape
	}
	for _, s := range r.cells {
		row.Cells = append(row.Cells, d.pageCell(s))
	}
	return row
}

func (d *digest) summaryCell(s *summary) pageCell {
	if s == nil {
		return pageCell{}
	}
	cell := pageCell{
		Winner: s.champion, Time: s.leadText(), Roof: s.typicalText(bench.PctRoof),
		Error: s.nmse.text(bench.UnitOf(bench.NMSE).Format), Mark: markHTML(d.marks[s.champion]),
	}
	if speed := s.speedText(""); speed != "" {
		cell.Time += ", " + speed
	}
	cell.Share = barShare(s.typical(bench.PctRoof))
	return cell
}

// barShare is the width of the bar that shows a share of the roof; "" without one.
func barShare(roof float64, ok bool) string {
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.1f%%", math.Max(0, math.Min(100, roof)))
}

func (d *digest) pageCell(s *standing) pageCell {
	if s == nil {
		return pageCell{}
	}
	c := s.best()
	cell := pageCell{
		Winner: c.contender, Time: d.timeOf(c), Spread: c.stats[bench.NsPerOp].spread(bench.NsPerOp),
		Roof: valueOf(c, bench.PctRoof), Error: valueOf(c, bench.NMSE), Ties: names(s.leaders()[1:]),
		Mark: markHTML(d.marks[c.contender]),
	}
	cell.Share = barShare(c.center(bench.PctRoof))
	return cell
}

// markHTML is a series' mark as it stands in the charts.
func markHTML(series int) template.HTML {
	const size = 13
	canvas := vgsvg.New(size, size)
	c := draw.New(canvas)
	c.DrawGlyphNoClip(glyph(series, 4.5), vg.Point{X: size / 2.0, Y: size / 2.0})
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "" // a buffer takes everything
	}
	body := b.String()
	start, end := strings.Index(body, "<g "), strings.LastIndex(body, "</svg>")
	if start < 0 || end < start {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg aria-hidden="true" width="%[1]d" height="%[1]d" viewBox="0 0 %[1]d %[1]d">%[2]s</svg>`,
		size, colorsToVariables(strings.ReplaceAll(body[start:end], "\n", ""))))
}

func newPageChart(c drawnChart, plots string) pageChart {
	p := pageChart{Name: c.name, Heading: c.heading, About: c.about}
	for _, f := range c.figures {
		file := ""
		if plots != "" {
			file = plots + f.name + ".png"
		}
		p.Figures = append(p.Figures, pageFigure{f.heading, f.reading, file, f.folded, template.HTML(f.svg)})
	}
	return p
}

// pageTable shows every case of a benchmark with every unit that any of them has.
func (d *digest) pageTable(base string, number int) pageTable {
	cases := d.ofBase(base)
	keys, units := nameKeys(cases), d.unitsIn(cases)
	t := pageTable{
		ID: "table-" + strconv.Itoa(number+1), Base: base,
		Caption: plural(len(cases), "case") + ". Medians with 95% confidence intervals; ±? stands where there are too few samples for one, and nothing where there is but one.",
	}
	for _, k := range keys {
		t.Columns = append(t.Columns, pageColumn{Label: cmp.Or(k, "name")})
	}
	for _, u := range units {
		t.Columns = append(t.Columns, pageColumn{Label: u, About: bench.UnitOf(u).About, Number: true})
	}
	t.Columns = append(t.Columns, pageColumn{Label: "samples", Number: true})
	for _, c := range cases {
		var row []pageValue
		for i, k := range keys {
			row = append(row, pageValue{Text: nameValue(c.name, k), Header: i == 0})
		}
		for _, u := range units {
			v := pageValue{Number: true}
			if s, ok := c.stats[u]; ok {
				v.Text, v.Spread = bench.UnitOf(u).Format(s.Center), s.spread(u)
				v.Value = sortKey(s.Center)
			}
			row = append(row, v)
		}
		n := strconv.Itoa(c.samples)
		t.Rows = append(t.Rows, append(row, pageValue{Text: n, Value: n, Number: true}))
	}
	return t
}

// sortKey is a number to sort a column by, in few characters.
func sortKey(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 7, 64), "e+", "e", 1)
}

// bases lists the benchmarks, those with contenders first.
func (d *digest) bases() []string {
	var bases []string
	for _, t := range d.tasks {
		bases = append(bases, t.base)
	}
	for _, c := range d.cases {
		bases = append(bases, c.name.Base)
	}
	var unique []string
	for _, b := range bases {
		if !slices.Contains(unique, b) {
			unique = append(unique, b)
		}
	}
	return unique
}

// ofBase lists the cases of a benchmark: task by task, condition by condition, fastest first.
func (d *digest) ofBase(base string) []*caseStats {
	var cases []*caseStats
	for _, c := range d.cases {
		if c.name.Base == base {
			cases = append(cases, c)
		}
	}
	work := func(c *caseStats) string { return c.name.Without(keyVariant, keyAct) }
	slices.SortStableFunc(cases, func(a, b *caseStats) int {
		if c := naturalCompare(work(a), work(b)); c != 0 {
			return c
		}
		x, okX := a.center(bench.NsPerOp)
		y, okY := b.center(bench.NsPerOp)
		if !okX || !okY {
			return 0
		}
		return cmp.Compare(x, y)
	})
	return cases
}

// nameKeys lists the keys of the cases' names in the order of their first appearance; "" is for what
// has no key, or for the whole name where there are no keys at all.
func nameKeys(cases []*caseStats) []string {
	var keys []string
	for _, c := range cases {
		for _, k := range c.name.Keys {
			if !slices.Contains(keys, k.Key) {
				keys = append(keys, k.Key)
			}
		}
	}
	if len(keys) == 0 {
		return []string{""}
	}
	return keys
}

// nameValue is a name's value for a key; for no key, its parts without one or its base.
func nameValue(n bench.Name, key string) string {
	if key != "" {
		return n.Get(key)
	}
	var parts []string
	for _, k := range n.Keys {
		if k.Key == "" {
			parts = append(parts, k.Value)
		}
	}
	if len(n.Keys) == 0 {
		return n.Base
	}
	return strings.Join(parts, "/")
}

// unitsIn lists the units that any of the cases has.
func (d *digest) unitsIn(cases []*caseStats) []string {
	var units []string
	for _, u := range d.units {
		if slices.ContainsFunc(cases, func(c *caseStats) bool { _, ok := c.stats[u]; return ok }) {
			units = append(units, u)
		}
	}
	return units
}
