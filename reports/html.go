package reports

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"onebit/bench/names"
	"onebit/bench/results"
)

func init() {
	registerKind(Kind{Name: "html", Extension: "html", About: "one self-contained page", Render: WriteHTML, several: writeFleetHTML})
}

var (
	//go:embed assets/page.html.tmpl
	shellSource string
	//go:embed assets/report.html.tmpl
	pageSource string
	//go:embed assets/report.css
	pageStyle string
	//go:embed assets/report.js
	pageScript string
)

// pageTemplate is parsed when a page is wanted: a program that writes none starts sooner.
var pageTemplate = sync.OnceValue(func() *template.Template { return newPageTemplate(pageSource) })

// newPageTemplate parses a page's template, which may use head, foot and sheet of the shell.
func newPageTemplate(source string) *template.Template {
	t := template.New("report").Funcs(template.FuncMap{"abbr": abbreviations(nil).html})
	return template.Must(template.Must(t.Parse(shellSource)).Parse(source))
}

// A shell is what the head and foot of every page show. Only what is the program's own reaches a page
// unescaped.
type shell struct {
	Title, Subtitle string
	Light, Dark     template.CSS
	Style           template.CSS
	Script          template.JS
}

func newShell(title, subtitle string) shell {
	return shell{title, subtitle, template.CSS(paletteCSS(false)), template.CSS(paletteCSS(true)), template.CSS(pageStyle + drawingCSS()), template.JS(pageScript)}
}

// renderPage executes a page's template. An error half way leaves no half a page behind.
func renderPage(w io.Writer, page *template.Template, data any) error {
	var b bytes.Buffer
	t, err := page.Clone() // each page has abbreviations of its own
	if err != nil {
		return fmt.Errorf("rendering the page: %w", err)
	}
	if err := t.Funcs(template.FuncMap{"abbr": make(abbreviations).html}).Execute(&b, data); err != nil {
		return fmt.Errorf("rendering the page: %w", err)
	}
	_, err = b.WriteTo(w)
	return err
}

// WriteHTML writes the report as one page that needs nothing beside it.
func WriteHTML(ctx context.Context, w io.Writer, res *results.Set) error {
	return until(ctx, w, func(w io.Writer) error { return writeHTML(ctx, w, res) })
}

func writeHTML(ctx context.Context, w io.Writer, res *results.Set) error {
	if IsMachine(res) {
		return WriteMachinesHTML(w, []Machine{{Results: res}})
	}
	d := newDigest(res)
	drawn, err := drawCharts(ctx, d)
	if err != nil {
		return err
	}
	return writePage(w, d, drawn, "")
}

// A drawing is all that a report draws.
type drawing struct {
	picture *drawnFigure // on the first screen; nil if there is none
	charts  []drawnChart
}

// figures are those of the picture and of all charts.
func (d drawing) figures() []*figure {
	var all []*figure
	if d.picture != nil {
		all = append(all, d.picture.figure)
	}
	for _, c := range d.charts {
		for _, f := range c.figures {
			all = append(all, f.figure)
		}
	}
	return all
}

// A drawnChart is a chart with its figures.
type drawnChart struct {
	chart
	figures []drawnFigure
	omitted int // figures that would make the page too long
}

type drawnFigure struct {
	*figure
	svg string
}

// maxFigures is how many figures of a chart are drawn, and maxHeight how high they may be together if
// they are several: nobody looks at more, and a page of hundreds opens slowly.
const (
	maxFigures = 12
	maxHeight  = 20000
)

// drawCharts draws the picture of the first screen and the charts that have something to show. It looks at
// ctx before each figure.
func drawCharts(ctx context.Context, d *digest) (drawing, error) {
	var some []chartFigures
	for _, c := range charts() {
		some = append(some, chartFigures{c, c.figures(d)})
	}
	return drawAll(ctx, picture(d.screens()), some, d.source())
}

// chartFigures are a chart and what it draws.
type chartFigures struct {
	chart
	figures []*figure
}

// drawAll draws a picture, if it is not nil, and charts, and puts the source below each.
func drawAll(ctx context.Context, picture *figure, charts []chartFigures, source []string) (drawing, error) {
	var all drawing
	taken := make(fileNames)
	draw := func(f *figure) (drawnFigure, error) {
		if err := ctx.Err(); err != nil {
			return drawnFigure{}, err
		}
		f.name, f.source = taken.unique(f.name), source
		svg, err := f.svg()
		return drawnFigure{f, svg}, err
	}
	if picture != nil {
		drawn, err := draw(picture)
		if err != nil {
			return drawing{}, err
		}
		all.picture = &drawn
	}
	for _, c := range charts {
		dc := drawnChart{chart: c.chart}
		figures := c.figures
		shown := enough(figures)
		dc.omitted = len(figures) - len(shown)
		for _, f := range shown {
			drawn, err := draw(f)
			if err != nil {
				return drawing{}, err
			}
			dc.figures = append(dc.figures, drawn)
		}
		if len(dc.figures) > 0 {
			all.charts = append(all.charts, dc)
		}
	}
	return all, ctx.Err()
}

// enough are the first figures, as many as a page holds.
func enough(figures []*figure) []*figure {
	var height vg.Length
	for i, f := range figures {
		if height += f.height; i == maxFigures || i > 0 && height > maxHeight {
			return figures[:i]
		}
	}
	return figures
}

// writePage writes the page; plots is the folder beside it that holds the charts' PNG files, "" if
// there is none.
func writePage(w io.Writer, d *digest, drawn drawing, plots string) error {
	p := page{
		shell:  newShell(d.title(), d.subtitle()),
		Doubts: d.doubts(), Noise: d.noiseText(), NoiseLine: d.noiseLine(), Glossary: d.glossary(), Kernels: d.kernelsHeading(),
		Grave: d.verdictDoubts(), Screens: d.screens(),
		Command: d.res.Setting("command"), Raw: d.rawText(),
	}
	for _, f := range d.res.Failures {
		p.Failures = append(p.Failures, pageFailure{f.Name.Full, f.Reason})
	}
	p.ProblemsHeading = problemsHeading(len(p.Failures), len(d.warnings()))
	p.Environment = d.environment()
	if drawn.picture != nil {
		f := newPageFigure(*drawn.picture, plots)
		p.Picture = &f
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
		verdicts := m.verdicts()
		if alikeVerdicts(verdicts) {
			verdicts = nil // the ranked table says it
		}
		for _, v := range verdicts {
			p.Verdicts = append(p.Verdicts, pageVerdict{v.subject, "kernels", v.champion, v.headline(), markHTML(d.marks[v.champion]), v.facts()})
		}
		p.Matrices = append(p.Matrices, d.pageMatrix(m))
	}
	for _, c := range drawn.charts {
		if c.models {
			p.ModelCharts = append(p.ModelCharts, newPageChart(c, plots))
		} else {
			p.Charts = append(p.Charts, newPageChart(c, plots))
		}
	}
	p.Tables = d.pageTables()
	return renderPage(w, pageTemplate(), p)
}

// environment lists the header.
func (d *digest) environment() []fact {
	var all []fact
	for _, s := range d.res.Settings {
		all = append(all, fact{s.Key, s.Value})
	}
	return all
}

// page is what the template shows. Only its shell and the drawings, whose texts are escaped where they
// are drawn, reach it unescaped.
type page struct {
	shell
	ProblemsHeading string
	Failures        []pageFailure
	Doubts          []doubt
	Verdicts        []pageVerdict
	Grave           []string // warnings that may change a verdict
	Screens         []screen
	Picture         *pageFigure
	Sheets          []*sheet
	ModelCharts     []pageChart
	Kernels         string // heading of what follows
	Matrices        []pageMatrix
	Charts          []pageChart
	Noise           string // NoiseLine is the same in short
	NoiseLine       string
	Environment     []fact
	Machines        []pageMachine // where there are several
	Tables          []pageTable
	Glossary        []fact
	Command, Raw    string
}

type pageFailure struct{ Name, Reason string }

type pageVerdict struct {
	Subject, Section, Champion, Headline string // Section is where to read on
	Mark                                 template.HTML
	Facts                                []fact
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

// alikeVerdicts reports whether several formats have one champion, so that their cards would say the
// same.
func alikeVerdicts(verdicts []verdict) bool {
	return len(verdicts) > 1 && !slices.ContainsFunc(verdicts, func(v verdict) bool { return v.champion != verdicts[0].champion })
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
		if v := d.res.Setting(key); v != "" && v != "unknown" && !strings.HasPrefix(v, "unavailable") {
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
	v := pageVerdict{Subject: cmp.Or(m.name, names.BaseModel)}
	g, ok := d.glance(m)
	if !ok {
		v.Headline = "was not timed"
		return v
	}
	v.Champion, v.Headline, v.Facts = g.standing.best().contender, g.headline(), g.facts
	v.Mark = markHTML(d.marks[v.Champion])
	return v
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
	if c.omitted > 0 {
		p.About += fmt.Sprintf(" The first %d of %d figures are shown: render fewer results at a time to see others.", len(c.figures), len(c.figures)+c.omitted)
	}
	for _, f := range c.figures {
		p.Figures = append(p.Figures, newPageFigure(f, plots))
	}
	return p
}

func newPageFigure(f drawnFigure, plots string) pageFigure {
	file := ""
	if plots != "" {
		file = plots + f.name + ".png"
	}
	return pageFigure{f.heading, f.reading, file, f.folded, template.HTML(f.svg)}
}
