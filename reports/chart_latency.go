package reports

import (
	"fmt"
	"math"
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/figure"
)

func init() {
	kernelCharts.Add(chart[kernelReport]{
		order: 10, name: "latency", heading: "Latency by variant",
		about: "Each row is a variant, fastest on top. The mark is the median time of one operation, each thin stroke a sample. The bar with caps is where the median of the next " +
			"run is expected within minutes, with a chance of 95 %; where only one process was measured, it is the 95 % interval of that process's median, and the next run may lie " +
			"outside. Panels of one shape or test share their axis, which is logarithmic where the times differ much; left is faster. It ends where a variant takes many times " +
			"as long as the fastest: values beyond stand at its edge, with an arrow.",
		figures: latencyFigures,
	})
}

// notAllDrawn says of what spreadOver kept that it is not all.
func notAllDrawn(shown, all int) string {
	return fmt.Sprintf("%d of %d are drawn, from the smallest to the largest; the table has all.", shown, all)
}

// spreadOver keeps at most so many of all, the first and the last among them, evenly.
func spreadOver[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	kept := make([]T, most)
	for i := range kept {
		kept[i] = all[i*(len(all)-1)/(most-1)]
	}
	return kept
}

// tasksInFigure bounds the height of a figure, whatever a results file holds.
const tasksInFigure = 8

func latencyFigures(d kernelReport) []*figure.Figure {
	var figures []*figure.Figure
	drawn := 0
	for _, family := range d.families() {
		timed := slices.DeleteFunc(slices.Clone(family.tasks), untimed)
		if len(timed) == 0 {
			continue
		}
		tasks := spreadOver(timed, tasksInFigure)
		drawn += len(tasks)
		f := latencyFigure(d, family, tasks)
		f.Folded = family.base == names.BaseModel || len(figures) > 0 && drawn > manyTasks
		if len(tasks) < len(timed) {
			f.Notes = append(f.Notes, notAllDrawn(len(tasks), len(timed)))
		}
		figures = append(figures, f)
	}
	return figures
}

func untimed(t *task) bool {
	return !slices.ContainsFunc(t.cases, func(c *caseStats) bool { return len(c.stats[results.NsPerOp].values) > 0 })
}

// latencyFigure shows some of a family's tasks below each other.
func latencyFigure(d kernelReport, f *family, tasks []*task) *figure.Figure {
	names := variants(f.cases)
	fastestFirst(names, f.cases)
	last := tasks[len(tasks)-1] // the largest
	fig := &figure.Figure{
		Name:    figure.FileName("latency", f.base, f.subject),
		Heading: figure.Label(last.title),
		Reading: d.latencyReading(last),
	}
	for _, t := range tasks {
		rows, cut := d.latencyPanels(t, panels(f.cases), names)
		if cut && fig.Notes == nil {
			fig.Notes = []string{beyondAxis}
		}
		fig.Panels = append(fig.Panels, rows...)
		if len(tasks) > 1 {
			fig.Upward = append(fig.Upward, slices.Repeat([]string{figure.Label(t.shape)}, len(rows))...)
		}
	}
	if len(tasks) > 1 {
		fig.Heading = figure.Label(fmt.Sprintf("%s: %s to %s", f.title(), tasks[0].shape, last.shape))
	}
	fig.Height = figure.RowsHeight(len(names), len(fig.Panels))
	return fig
}

// muchSlower is how many times the fastest's time a variant may take and still have its place on the
// axis: those beyond would squeeze all that matter.
const muchSlower = 12

var beyondAxis = fmt.Sprintf("→ beyond the axis: it ends at %d times the fastest of each panel, so that slower variants leave room for the others.", muchSlower)

// latencyPanels draws the conditions of one task, on a common axis; cut says that some lie beyond it.
func (d kernelReport) latencyPanels(t *task, conditions []panel, names []string) (rows [][]*figure.Panel, cut bool) {
	var values []float64
	for _, p := range conditions {
		cases := in(p, t.cases)
		fastest := math.Inf(1)
		for _, c := range cases {
			if v, ok := c.center(results.NsPerOp); ok && v > 0 {
				fastest = math.Min(fastest, v)
			}
		}
		for _, c := range cases {
			if v, ok := c.center(results.NsPerOp); ok && v > muchSlower*fastest {
				cut = true
				continue
			}
			values = append(values, c.stats[results.NsPerOp].values...)
		}
	}
	axis := figure.NewAxis(values, false, 4, results.UnitOf(results.NsPerOp).Format)
	var drawn []*figure.Panel
	for _, p := range conditions {
		plot := p.plot(t.shape).Rows(axis, names)
		for _, c := range in(p, t.cases) {
			d.addLatency(plot, c, names)
		}
		drawn = append(drawn, plot)
	}
	return figure.Arrange(drawn, figure.PanelsInRow), cut
}

func (d kernelReport) addLatency(p *figure.Panel, c *caseStats, names []string) {
	s, ok := c.stats[results.NsPerOp]
	if !ok {
		return
	}
	row := figure.RowAt(slices.Index(names, c.variant), len(names))
	series := d.marks[c.variant]
	color := figure.Color(figure.Series(series))
	lo, hi := slices.Min(s.values), slices.Max(s.values)
	p.Add(figure.Strip{Values: s.values, Row: row, Color: color})
	if s.bounded() {
		lo, hi = min(lo, s.Lo), max(hi, s.Hi)
		p.Add(figure.Interval{Lo: s.Lo, Hi: s.Hi, Row: row, Color: color})
	}
	p.Add(figure.Mark{X: s.Center, Y: row, Style: figure.Glyph(series, 4)})
	p.Add(figure.Besides{Lo: lo, Hi: hi, Row: row, Text: d.timeOf(c)}, figure.RowSpot(row, sampleText(c)))
}

// sampleText is what is behind a case's time.
func sampleText(c *caseStats) string {
	s, format := c.stats[results.NsPerOp], results.UnitOf(results.NsPerOp).Format
	return sentences(figure.Label(c.variant)+": "+format(s.Center), s.spread(results.NsPerOp), fmt.Sprintf("(%s, %s to %s)", count.Of(len(s.values), "sample"), format(slices.Min(s.values)), format(slices.Max(s.values))))
}

// fastestFirst orders variants by the geometric mean of their medians.
func fastestFirst(names []string, cases []*caseStats) {
	times := make(map[string][]float64)
	for _, c := range cases {
		if v, ok := c.center(results.NsPerOp); ok {
			times[c.variant] = append(times[c.variant], v)
		}
	}
	sortBy(names, func(name string) (float64, bool) { return geomean(times[name]) })
}

// latencyReading says who is fastest under the last condition, which is that of most threads.
func (d kernelReport) latencyReading(t *task) string {
	all := d.measured(panels(t.cases))
	s, ok := d.rank(t, all[len(all)-1])
	if !ok {
		return "Nothing was timed."
	}
	text := fmt.Sprintf("%s: fastest with %s is %s, %s", t.title, conditions(s.panel), s.best().variant, d.timeOf(s.best()))
	switch {
	case s.ties > 0:
		text += fmt.Sprintf(", tied with %s", namesOf(s.fastest()[1:]))
	case len(s.ranked) > 1:
		next := s.ranked[1]
		ratio, spread := s.versus(1)
		text += fmt.Sprintf("; next %s, %s that%s", next.variant, ratio, textIf(spread != "", " ("+spread+")"))
	}
	return text + "."
}
