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
)

func init() {
	registerChart(chart{
		order: 1, name: "throughput", heading: "Tokens per second", models: true,
		about: "Longer is faster; the bar with caps is the interval of the rate. The stroke behind a bar is its ceiling: for decoding, the read bandwidth measured in the same rounds over the bytes " +
			"that a token reads; for the prompt, the measured peak of multiply-adds over those of a token, which look-ups of 1-bit weights can exceed.",
		figures: throughputFigures,
	})
}

func throughputFigures(d *digest) []*figure {
	var figures []*figure
	for _, m := range d.models {
		if f := throughputFigure(d, m); f != nil {
			figures = append(figures, f)
		}
	}
	return figures
}

// throughputFigure has a row of panels for each test that makes or reads tokens, depths apart.
func throughputFigure(d *digest, m *model) *figure {
	who := m.fastestFirst()
	f := &figure{name: fileName("throughput", m.name), heading: label(m.title("tokens per second")), legend: []legendEntry{ceilingLegend}}
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
		rows := arrange(drawn, 2)
		f.panels = append(f.panels, rows...)
		f.upward = append(f.upward, slices.Repeat([]string{label(testLabel(t))}, len(rows))...)
		said = append(said, d.throughputReading(t))
	}
	if len(f.panels) == 0 {
		return nil
	}
	f.panels = widen(f.panels)
	f.height = rowsHeight(max(len(who), 3), len(f.panels)) // beside fewer the titles would touch
	f.reading = strings.Join(said, " ")
	f.notes = m.ceilingNotes()
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

// fastestFirst lists a model's contenders in the order of its lead test.
func (m *model) fastestFirst() []string {
	var who []string
	for _, r := range m.runs {
		if !slices.Contains(who, r.contender) {
			who = append(who, r.contender)
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

func throughputAxis(t *task) valueAxis {
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
	axis := newAxis(values, false, 5, significantRate).fromZero()
	axis.max *= 1.3 // room for the values behind the bars
	return axis
}

// bareRate formats a tick; the axis says the unit.
func bareRate(v float64) string { return fmt.Sprintf("%.4g", v) }

func (d *digest) throughputPanel(t *task, p panel, who []string, axis valueAxis, labelled bool) *plot.Plot {
	plot := newPanel(p.String())
	axis.apply(&plot.X)
	plot.X.Label.Text = results.UnitOf(results.TokenRate).About
	nominalAxis(plot, who, labelled)
	addGrid(plot, true, false)
	for _, c := range in(p, t.cases) {
		v, ok := c.center(results.TokenRate)
		if !ok {
			continue
		}
		row := rowAt(indexOf(who, c.contender), len(who))
		plot.Add(bar{from: 0, to: v, row: row, half: 6, color: inkOf(seriesRole(d.marks[c.contender]))})
		if ceiling, limited := ceilingOf(c); limited {
			plot.Add(upright{at: ceiling, row: row, color: inkOf(roleFront)})
		}
		text := significantRate(v)
		if share := ceilingText(c); share != "" {
			text += ", " + share
		}
		if s := c.stats[results.TokenRate]; s.Bounded() && s.Hi > s.Lo {
			plot.Add(interval{lo: s.Lo, hi: s.Hi, row: row, color: inkOf(roleInk)})
			v = s.Hi
		}
		plot.Add(behind{value: v, row: row, text: text})
	}
	return plot
}

// significantRate is a rate without its unit.
func significantRate(v float64) string {
	return strings.TrimSuffix(results.UnitOf(results.TokenRate).Format(v), " tok/s")
}

var ceilingLegend = legendEntry{"what the measured read bandwidth or peak allows", draw.GlyphStyle{
	Color: inkOf(roleFront), Radius: 5, Shape: shape{strokes: 1, rotation: math.Pi / 2},
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
	text := fmt.Sprintf("Fastest at %s with %s: %s, %s", t.shape, conditions(p), best.contender, valueOf(best, results.TokenRate))
	if ceiling, ok := ceilingOf(best); ok {
		what := " of at most "
		if ceiling < most {
			what = ", above the ceiling of " // by look-ups, which multiply nothing, or on a disturbed machine
		}
		text += what + results.UnitOf(results.TokenRate).Format(ceiling)
	}
	return text + "."
}
