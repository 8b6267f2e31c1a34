package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/figure"
)

func init() {
	registerChart(chart{
		order: 1, name: "throughput", heading: "Tokens per second", models: true,
		about: "Longer is faster; the bar with caps is the interval of the rate. The stroke behind a bar is its ceiling: for decoding, the read bandwidth measured in the same rounds over the bytes " +
			"that a token reads; for the prompt, the measured peak of multiply-adds over those of a token, which look-ups of 1-bit weights can exceed.",
		figures: throughputFigures,
	})
}

func throughputFigures(d *digest) []*figure.Figure {
	var figures []*figure.Figure
	for _, m := range d.models {
		if f := throughputFigure(d, m); f != nil {
			figures = append(figures, f)
		}
	}
	return figures
}

// throughputFigure has a row of panels for each test that makes or reads tokens, depths apart.
func throughputFigure(d *digest, m *model) *figure.Figure {
	who := m.fastestFirst()
	f := &figure.Figure{Name: figure.FileName("throughput", m.name), Heading: figure.Label(m.title("tokens per second")), Legend: []figure.LegendEntry{ceilingLegend}}
	var said []string
	for _, kind := range []string{names.Decode, names.Prompt} {
		t := m.test(kind)
		if t == nil || !measured(t.cases, results.TokenRate) {
			continue
		}
		var drawn []*plot.Plot
		axis := throughputAxis(t)
		for _, p := range panels(t.cases) {
			drawn = append(drawn, d.throughputPanel(t, p, who, axis, len(drawn)%2 == 0))
		}
		rows := figure.Arrange(drawn, 2)
		f.Panels = append(f.Panels, rows...)
		f.Upward = append(f.Upward, slices.Repeat([]string{figure.Label(testLabel(t))}, len(rows))...)
		said = append(said, d.throughputReading(t))
	}
	if len(f.Panels) == 0 {
		return nil
	}
	f.Panels = widen(f.Panels)
	f.Height = figure.RowsHeight(max(len(who), 3), len(f.Panels)) // beside fewer the titles would touch
	f.Reading = strings.Join(said, " ")
	f.Notes = m.ceilingNotes()
	return f
}

// ceilingNotes explain what is above a ceiling.
func (m *model) ceilingNotes() []string {
	var notes []string
	if m.exceeds(results.PctPeak) {
		notes = append(notes, "More than 100 % of the peak: look-ups of 1-bit weights multiply nothing, so that the peak of multiply-adds does not bound them.")
	}
	if m.exceeds(results.PctRoof) {
		notes = append(notes, "More than 100 % of the roof: the weights were read faster than by the case that only reads, which is no limit of physics; or that case was disturbed.")
	}
	return notes
}

// widen gives all rows as many panels as the widest has.
func widen(rows [][]*plot.Plot) [][]*plot.Plot {
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	for i, row := range rows {
		rows[i] = append(row, make([]*plot.Plot, columns-len(row))...)
	}
	return rows
}

// exceeds reports whether a case of the model has more than all of what the machine was measured to give.
func (m *model) exceeds(unit string) bool {
	return slices.ContainsFunc(m.cases(), func(c *caseStats) bool { v, ok := c.center(unit); return ok && v > 100 })
}

// title heads a figure of the model.
func (m *model) title(what string) string {
	if m.name == "" {
		return what
	}
	return m.name + ": " + what
}

// fastestFirst lists a model's variants in the order of its lead test.
func (m *model) fastestFirst() []string {
	var who []string
	for _, r := range m.runs {
		if !slices.Contains(who, r.variant) {
			who = append(who, r.variant)
		}
	}
	return who
}

func measured(cases []*caseStats, unit string) bool {
	return slices.ContainsFunc(cases, func(c *caseStats) bool { _, ok := c.center(unit); return ok })
}

// ceilingOf is the rate at which a case would use all that the machine gives; ok is false if that
// was not measured.
func ceilingOf(c *caseStats) (rate float64, ok bool) {
	rate, ok = c.center(results.TokenRate)
	if !ok {
		return 0, false
	}
	for _, unit := range []string{results.PctRoof, results.PctPeak} {
		if share, ok := c.center(unit); ok && share > 0 {
			return rate / share * 100, true
		}
	}
	return 0, false
}

func throughputAxis(t *task) figure.Axis {
	values := []float64{0}
	for _, c := range t.cases {
		if v, ok := c.center(results.TokenRate); ok {
			values = append(values, v)
			if s := c.stats[results.TokenRate]; s.Bounded() {
				values = append(values, s.Hi)
			}
		}
		if v, ok := ceilingOf(c); ok {
			values = append(values, v)
		}
	}
	axis := figure.NewAxis(values, false, 5, significantRate).FromZero()
	axis.Max *= 1.3 // room for the values behind the bars
	return axis
}

func (d *digest) throughputPanel(t *task, p panel, who []string, axis figure.Axis, labelled bool) *plot.Plot {
	plot := figure.NewPanel(p.String())
	axis.Apply(&plot.X)
	plot.X.Label.Text = results.UnitOf(results.TokenRate).About
	figure.NominalAxis(plot, who, labelled)
	figure.AddGrid(plot, true, false)
	for _, c := range in(p, t.cases) {
		v, ok := c.center(results.TokenRate)
		if !ok {
			continue
		}
		row := figure.RowAt(indexOf(who, c.variant), len(who))
		plot.Add(figure.Bar{From: 0, To: v, Row: row, Half: 6, Color: figure.Color(figure.Series(d.marks[c.variant]))})
		if ceiling, limited := ceilingOf(c); limited {
			plot.Add(figure.Upright{At: ceiling, Row: row, Color: figure.Color(figure.Front)})
		}
		text := significantRate(v)
		if share := ceilingText(c); share != "" {
			text += ", " + share
		}
		if s := c.stats[results.TokenRate]; s.Bounded() && s.Hi > s.Lo {
			plot.Add(figure.Interval{Lo: s.Lo, Hi: s.Hi, Row: row, Color: figure.Color(figure.Ink)})
			v = s.Hi
		}
		plot.Add(figure.Behind{Value: v, Row: row, Text: text})
	}
	return plot
}

// significantRate is a rate without its unit.
func significantRate(v float64) string {
	return strings.TrimSuffix(results.UnitOf(results.TokenRate).Format(v), " tok/s")
}

var ceilingLegend = figure.LegendEntry{Label: "what the measured read bandwidth or peak allows", Glyph: draw.GlyphStyle{
	Color: figure.Color(figure.Front), Radius: 5, Shape: figure.Shape{Strokes: 1, Rotation: math.Pi / 2},
}}

func (d *digest) throughputReading(t *task) string {
	all := panels(t.cases)
	p := all[len(all)-1]
	var best *caseStats
	most := 0.0
	for _, c := range in(p, t.cases) {
		if v, ok := c.center(results.TokenRate); ok && v > most {
			best, most = c, v
		}
	}
	if best == nil {
		return ""
	}
	text := fmt.Sprintf("Fastest at %s with %s: %s, %s", t.shape, conditions(p), best.variant, valueOf(best, results.TokenRate))
	if ceiling, ok := ceilingOf(best); ok {
		what := " of at most "
		if ceiling < most {
			what = ", above the ceiling of " // by look-ups, which multiply nothing, or on a disturbed machine
		}
		text += what + results.UnitOf(results.TokenRate).Format(ceiling)
	}
	return text + "."
}
