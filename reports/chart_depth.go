package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/figure"
)

func init() {
	modelCharts.Add(chart[*modelReport]{
		order: 2, name: "depth", heading: "Speed against depth",
		about: "Across: how many tokens the model has read before the test begins. Attention reads the keys and values of all of them, so a long " +
			"text is slower; the steeper the line, the dearer.",
		figures: depthFigures,
	})
}

func depthFigures(d *modelReport) []*figure.Figure {
	var figures []*figure.Figure
	for _, m := range d.models {
		for _, test := range m.deepTests() {
			figures = append(figures, depthFigure(d, m, test))
		}
	}
	return figures
}

// depth is that of a case's name; 0 if it has none, or more tokens than can be.
func (c *caseStats) depth() float64 {
	v, err := strconv.ParseUint(c.name.Get(names.Depth), 10, 31)
	if err != nil {
		return 0
	}
	return float64(v)
}

// deepTests names the tests that ran at several depths.
func (m *model) deepTests() []string {
	depths := make(map[string][]float64)
	var tests []string
	for _, c := range m.alone() {
		if _, ok := c.center(results.TokenRate); !ok {
			continue
		}
		test := c.name.Get(names.Test)
		if !slices.Contains(tests, test) {
			tests = append(tests, test)
		}
		if !slices.Contains(depths[test], c.depth()) {
			depths[test] = append(depths[test], c.depth())
		}
	}
	return slices.DeleteFunc(tests, func(test string) bool { return len(depths[test]) < 2 })
}

func depthFigure(d *modelReport, m *model, test string) *figure.Figure {
	var cases []*caseStats
	var depths, rates []float64
	for _, c := range m.alone() {
		if v, ok := c.center(results.TokenRate); ok && c.name.Get(names.Test) == test {
			cases = append(cases, c)
			depths, rates = append(depths, c.depth()), append(rates, v)
		}
	}
	x := figure.NewAxis(depths, false, 6, figure.BareNumber)
	y := figure.NewAxis(append(rates, 0), false, 6, figure.BareNumber).FromZero()
	var drawn []*figure.Panel
	for _, p := range panels(cases) {
		panel := p.plot("").XY(x, y, "tokens before the test")
		for _, name := range variants(in(p, cases)) {
			panel.Line(d.marks[name], depthLine(in(p, cases), name))
		}
		drawn = append(drawn, panel)
	}
	grid := figure.Arrange(drawn, 2)
	return &figure.Figure{
		Name: figure.FileName("depth", m.name, test), Heading: figure.Label(m.title(test + " against depth")),
		Reading: d.depthReading(m, cases), Height: vg.Length(240 * len(grid)), Panels: grid,
		Upward: slices.Repeat([]string{results.UnitOf(results.TokenRate).About}, len(grid)), Legend: figure.Names(variants(cases), d.marks),
	}
}

// depthLine is a variant's rate by depth.
func depthLine(cases []*caseStats, variant string) [][2]float64 {
	var line [][2]float64
	for _, c := range cases {
		if c.variant == variant {
			v, _ := c.center(results.TokenRate)
			line = append(line, [2]float64{c.depth(), v})
		}
	}
	slices.SortFunc(line, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return line
}

// depthReading says what the deepest test leaves of the speed of the fastest that ran at several depths.
func (d *modelReport) depthReading(m *model, cases []*caseStats) string {
	all := panels(cases)
	p := all[len(all)-1]
	for _, name := range m.fastestFirst() {
		x, ok := d.descend(slices.DeleteFunc(in(p, cases), func(c *caseStats) bool { return c.variant != name }))
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s with %s: %s after %.0f tokens, %s of that after %.0f", name, conditions(p),
			speedOf(x.first).Text, x.first.depth(), x.share(), x.last.depth())
		if cost := x.cost(); cost != "" {
			text += "; " + cost
		}
		return sentences(text+".", d.computedText())
	}
	return "No variant ran at several depths."
}
