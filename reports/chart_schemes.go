package reports

import (
	"fmt"
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
		order: 4, name: "schemes", heading: "Activation schemes: error against speed", models: true,
		about: "How activations are rounded, by model: right is faster, down is closer to the float64 reference. Speed is a share of that of the model's fastest scheme, and each " +
			"scheme has its fastest variant, so that models of all sizes stand in one picture. Ringed points, joined by a dashed line, are beaten in one respect only by giving up " +
			"the other. A scheme without a ring is slower and worse than one that has it.",
		figures: schemesFigures,
	})
}

// A schemesPanel is what schemes cost models in one kind of test under one condition.
type schemesPanel struct {
	title  string
	models []modelSchemes
}

// modelSchemes are a model's schemes, fastest first; their speeds are shares of the fastest's.
type modelSchemes struct {
	model  *model
	points []tradePoint
}

// schemesFigures is one figure of all models that were measured under several schemes.
func schemesFigures(d *digest) []*figure.Figure {
	var grid [][]schemesPanel
	var slow []string
	for _, p := range d.modelPanels() {
		var row []schemesPanel
		for _, kind := range []string{names.Decode, names.Prompt} {
			s := schemesPanel{}
			for _, m := range d.models {
				points, left := m.schemes(kind, p)
				if len(points)+len(left) > 1 {
					s.title = testLabel(m.test(kind)) + " with " + conditions(p)
					s.models = append(s.models, modelSchemes{m, points})
					slow = append(slow, left...)
				}
			}
			if len(s.models) > 0 {
				row = append(row, s)
			}
		}
		if len(row) > 0 {
			grid = append(grid, row)
		}
	}
	if len(grid) == 0 {
		return nil
	}
	return []*figure.Figure{schemesFigure(grid, slow)}
}

// modelPanels are the conditions of all models' tests, most threads first.
func (d *digest) modelPanels() []panel {
	var cases []*caseStats
	for _, m := range d.models {
		cases = append(cases, m.cases()...)
	}
	all := panels(cases)
	slices.Reverse(all)
	return all
}

// schemes are the model's under a condition whose divergence is known, but for those that are far slower
// than the fastest, whose names are slow.
func (m *model) schemes(kind string, p panel) (points []tradePoint, slow []string) {
	t := m.test(kind)
	for _, r := range m.runs {
		c, logits := r.cases[t], m.logitsOf(r)
		if r.panel != p || c == nil || logits == nil || c.name.Get(names.Act) == "" {
			continue
		}
		speed, timed := c.center(results.TokenRate)
		e, known := logits.center(results.KLD)
		if !timed || !known || speed <= 0 {
			continue
		}
		scheme := c.name.Get(names.Act)
		q := tradePoint{tradeoff: tradeoff{r.variant, speed, e}, text: scheme, short: scheme}
		q.lo, q.hi = divergenceBounds(logits)
		points = append(points, q)
	}
	points = fastestOfEach(points, func(q tradePoint) string { return q.text })
	points = slices.DeleteFunc(points, func(q tradePoint) bool {
		far := q.speed*farBelow < points[0].speed
		if far {
			slow = append(slow, m.title(q.text))
		}
		return far
	})
	for i := range slices.Backward(points) { // the fastest last
		points[i].speed /= points[0].speed
	}
	return points, slow
}

// divergenceBounds is the interval of a divergence; where there is none, both ends are the divergence.
func divergenceBounds(logits *caseStats) (lo, hi float64) {
	lo, low := logits.center(results.KLDLow)
	hi, high := logits.center(results.KLDHigh)
	if !low || !high {
		e, _ := logits.center(results.KLD)
		return e, e
	}
	return lo, hi
}

func schemesFigure(grid [][]schemesPanel, slow []string) *figure.Figure {
	var shares, errors []float64
	var who, random, said []string
	for _, s := range slices.Concat(grid...) {
		for _, m := range s.models {
			who = append(who, m.model.name)
			if m.model.weightsAreRandom() {
				random = append(random, m.model.name)
			}
			for _, q := range m.points {
				shares, errors = append(shares, q.speed), append(errors, q.error, q.lo, q.hi)
			}
			said = append(said, m.reading(s.title))
		}
	}
	marks := figure.AssignMarks(who, func(name string) int { return figure.Hashed(name) % figure.MarksCount })
	x, y := figure.NewAxis(shares, false, 5, percent), figure.NewErrorAxis(errors, results.KLD)
	x.Max += (x.Max - x.Min) / 4 // for names right of the points
	x = x.Bounded()
	f := &figure.Figure{
		Name: "schemes", Heading: "Activation schemes: divergence against speed", Reading: strings.Join(said, " "),
		Height: figure.RowsHeight(12, len(grid)), Upward: slices.Repeat([]string{results.KLD}, len(grid)),
		Notes: []string{"Bars: 95 % intervals over the positions of the text."},
	}
	for _, row := range grid {
		var drawn []*plot.Plot
		for _, s := range row {
			drawn = append(drawn, s.plot(x, y, marks))
		}
		f.Panels = append(f.Panels, drawn)
	}
	f.Panels = widen(f.Panels)
	for _, name := range sortedNames(who) {
		f.Legend = append(f.Legend, figure.LegendEntry{Label: figure.Label(name), Glyph: figure.Glyph(marks[name], 4)})
	}
	if len(random) > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("Of random weights: %s. Their divergence ranks schemes, but is not a trained model's.", enumerate(sortedNames(random))))
	}
	if len(slow) > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("Not drawn, as more than %d times slower than the fastest of the model: %s.", farBelow, enumerate(sortedNames(slow))))
	}
	return f
}

// sortedNames returns names in natural order, each once.
func sortedNames(names []string) []string {
	names = slices.Clone(names)
	slices.SortFunc(names, naturalCompare)
	return slices.Compact(names)
}

// weightsAreRandom reports whether the model's predictions mean nothing.
func (m *model) weightsAreRandom() bool {
	return slices.ContainsFunc(m.logits, func(c *caseStats) bool { return c.name.Get(names.Weights) == names.RandomWeights })
}

func (s schemesPanel) plot(x, y figure.Axis, marks map[string]int) *plot.Plot {
	plot := figure.NewPanel(figure.Label(s.title))
	x.Apply(&plot.X)
	y.Apply(&plot.Y)
	plot.X.Label.Text = "of the speed of the model's fastest scheme"
	figure.AddGrid(plot, true, true)
	var names []figure.FanLabel
	for _, m := range s.models {
		style := figure.Glyph(marks[m.model.name], 4)
		var border [][2]float64
		best := front(m.points)
		for _, q := range best {
			border = append(border, [2]float64{q.speed, y.At(q.error)})
			plot.Add(figure.Mark{X: q.speed, Y: y.At(q.error), Style: draw.GlyphStyle{Color: figure.Color(figure.Front), Radius: 7.5, Shape: figure.Shape{}}})
		}
		plot.Add(figure.Polyline{Points: border, Color: style.Color, Width: 1, Dashes: figure.Dashed})
		for _, q := range m.points {
			at := y.At(q.error)
			if q.hi > q.lo {
				plot.Add(figure.UpInterval{X: q.speed, Lo: y.At(q.lo), Hi: y.At(q.hi), Color: style.Color})
			}
			plot.Add(figure.Mark{X: q.speed, Y: at, Style: style})
			names = append(names, figure.FanLabel{X: q.speed, Y: at, Group: m.model.name, Text: figure.Label(q.short), Color: style.Color})
		}
	}
	plot.Add(figure.Fan{Labels: names, Most: 16, Joined: true})
	return plot
}

// reading says what the other schemes have of the fastest's speed and divergence.
func (m modelSchemes) reading(test string) string {
	fastest := m.points[0]
	text := fmt.Sprintf("%s: %s is fastest, kld %s", m.model.title(test), fastest.text, results.UnitOf(results.KLD).Format(fastest.error))
	for _, q := range m.points[1:] {
		text += fmt.Sprintf("; %s has %s of its speed", q.text, percent(q.speed))
		text += fmt.Sprintf(" and %.2g times its divergence", figure.DrawnError(q.error)/figure.DrawnError(fastest.error))
	}
	return text + "."
}
