package kernels

import (
	"fmt"
	"math"
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/words"
)

func init() {
	drawings.Add(charts.Chart[report]{
		Order: 10, Name: "latency", Heading: "Latency by variant",
		About:   "Left is faster. The bar with caps holds the next run's median; each thin stroke is a sample.",
		Figures: latencyFigures,
	})
}

// notAllDrawn says of what SpreadOver kept that it is not all.
func notAllDrawn(shown, all int) string {
	return fmt.Sprintf("%d of %d are drawn, from the smallest to the largest; the table has all.", shown, all)
}

// tasksInFigure bounds the height of a figure, whatever a results file holds.
const tasksInFigure = 8

func latencyFigures(d report) []*figure.Figure {
	var figures []*figure.Figure
	drawn := 0
	for _, family := range d.Families() {
		timed := slices.DeleteFunc(slices.Clone(family.Tasks), untimed)
		if len(timed) == 0 {
			continue
		}
		tasks := figure.SpreadOver(timed, tasksInFigure)
		drawn += len(tasks)
		f := latencyFigure(d, family, tasks)
		f.Folded = family.Base == names.BaseModel || len(figures) > 0 && drawn > manyTasks
		if len(tasks) < len(timed) {
			f.Notes = append(f.Notes, notAllDrawn(len(tasks), len(timed)))
		}
		figures = append(figures, f)
	}
	return figures
}

func untimed(t *digest.Task) bool {
	return !slices.ContainsFunc(t.Cases, func(c *digest.Case) bool { return len(c.Stats[results.NsPerOp].Values) > 0 })
}

// latencyFigure shows some of a family's tasks below each other.
func latencyFigure(d report, f *digest.Family, tasks []*digest.Task) *figure.Figure {
	names := digest.Variants(f.Cases)
	fastestFirst(names, f.Cases)
	last := tasks[len(tasks)-1] // the largest
	fig := &figure.Figure{
		Name:    term.FileName("latency", f.Base, f.Subject),
		Heading: figure.Label(last.Title),
		Reading: d.latencyReading(last),
	}
	for _, t := range tasks {
		rows, cut := d.latencyPanels(t, digest.Panels(f.Cases), names)
		if cut && fig.Notes == nil {
			fig.Notes = []string{fmt.Sprintf("→: more than %d times as long as the fastest.", muchSlower)}
		}
		fig.Panels = append(fig.Panels, rows...)
		if len(tasks) > 1 {
			fig.Upward = append(fig.Upward, slices.Repeat([]string{figure.Label(t.Shape)}, len(rows))...)
		}
	}
	if len(tasks) > 1 {
		fig.Heading = figure.Label(fmt.Sprintf("%s: %s to %s", f.Title(), tasks[0].Shape, last.Shape))
	}
	fig.Height = figure.RowsHeight(len(names), len(fig.Panels))
	return fig
}

// muchSlower is how many times the fastest's time a variant may take and still have its place on the
// axis: those beyond would squeeze all that matter.
const muchSlower = 12

// latencyPanels draws the conditions of one task, on a common axis; cut says that some lie beyond it.
func (d report) latencyPanels(t *digest.Task, conditions []digest.Panel, names []string) (rows [][]*figure.Panel, cut bool) {
	var values []float64
	for _, p := range conditions {
		cases := digest.In(p, t.Cases)
		fastest := math.Inf(1)
		for _, c := range cases {
			if v, ok := c.Center(results.NsPerOp); ok && v > 0 {
				fastest = math.Min(fastest, v)
			}
		}
		for _, c := range cases {
			if v, ok := c.Center(results.NsPerOp); ok && v > muchSlower*fastest {
				cut = true
				continue
			}
			values = append(values, c.Stats[results.NsPerOp].Values...)
		}
	}
	axis := figure.NewAxis(values, false, 4, results.UnitOf(results.NsPerOp).Format)
	var drawn []*figure.Panel
	for _, p := range conditions {
		plot := p.Plot(t.Shape).Rows(axis, names)
		for _, c := range digest.In(p, t.Cases) {
			d.addLatency(plot, c, names)
		}
		drawn = append(drawn, plot)
	}
	return figure.Arrange(drawn, figure.PanelsInRow), cut
}

func (d report) addLatency(p *figure.Panel, c *digest.Case, names []string) {
	s, ok := c.Stats[results.NsPerOp]
	if !ok {
		return
	}
	row := figure.RowAt(slices.Index(names, c.Variant), len(names))
	series := d.Marks[c.Variant]
	color := figure.Color(figure.Series(series))
	lo, hi := slices.Min(s.Values), slices.Max(s.Values)
	p.Add(figure.Strip{Values: s.Values, Row: row, Color: color})
	if s.Bounded() {
		lo, hi = min(lo, s.Lo), max(hi, s.Hi)
		p.Add(figure.Interval{Lo: s.Lo, Hi: s.Hi, Row: row, Color: color})
	}
	p.Add(figure.Mark{X: s.Center, Y: row, Style: figure.Glyph(series, 4)})
	p.Add(figure.Besides{Lo: lo, Hi: hi, Row: row, Text: d.TimeOf(c)}, figure.RowSpot(row, sampleText(c)))
}

// sampleText is what is behind a case's time.
func sampleText(c *digest.Case) string {
	s, format := c.Stats[results.NsPerOp], results.UnitOf(results.NsPerOp).Format
	return words.Sentences(figure.Label(c.Variant)+": "+format(s.Center), s.SpreadText(results.NsPerOp), fmt.Sprintf("(%s, %s to %s)", count.Of(len(s.Values), "sample"), format(slices.Min(s.Values)), format(slices.Max(s.Values))))
}

// fastestFirst orders variants by the geometric mean of their medians.
func fastestFirst(names []string, cases []*digest.Case) {
	times := make(map[string][]float64)
	for _, c := range cases {
		if v, ok := c.Center(results.NsPerOp); ok {
			times[c.Variant] = append(times[c.Variant], v)
		}
	}
	digest.SortBy(names, func(name string) (float64, bool) { return words.Geomean(times[name]) })
}

// latencyReading says who is fastest under the condition that decides.
func (d report) latencyReading(t *digest.Task) string {
	s, ok := d.Rank(t, d.Lead(digest.Panels(t.Cases)))
	if !ok {
		return "Nothing was timed."
	}
	text := fmt.Sprintf("%s: fastest with %s is %s, %s", t.Title, digest.Conditions(s.Panel), s.Best().Variant, d.TimeOf(s.Best()))
	switch {
	case s.Ties > 0:
		text += fmt.Sprintf(", tied with %s", digest.NamesOf(s.Fastest()[1:]))
	case len(s.Ranked) > 1:
		next := s.Ranked[1]
		ratio, spread := s.Versus(1)
		text += fmt.Sprintf("; next %s, %s that%s", next.Variant, ratio, words.If(spread != "", " ("+spread+")"))
	}
	return text + "."
}
