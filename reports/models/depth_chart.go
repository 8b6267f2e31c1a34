package models

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/words"
)

func init() {
	drawings.Add(charts.Chart[*report]{
		Order: 2, Name: "depth", Heading: "Speed against depth",
		About:   "Attention reads the keys and values of all tokens before: the steeper the line falls, the dearer a long text is.",
		Figures: depthFigures,
	})
}

func depthFigures(d *report) []*figure.Figure {
	var figures []*figure.Figure
	for _, m := range d.models {
		for _, test := range m.deepTests() {
			figures = append(figures, depthFigure(d, m, test))
		}
	}
	return figures
}

// deepTests names the tests that ran at several depths.
func (m *model) deepTests() []string {
	depths := make(map[string][]float64)
	var tests []string
	for _, c := range m.alone() {
		if _, ok := c.Center(results.TokenRate); !ok {
			continue
		}
		test := c.Name.Get(names.Test)
		if !slices.Contains(tests, test) {
			tests = append(tests, test)
		}
		if !slices.Contains(depths[test], depth(c)) {
			depths[test] = append(depths[test], depth(c))
		}
	}
	return slices.DeleteFunc(tests, func(test string) bool { return len(depths[test]) < 2 })
}

func depthFigure(d *report, m *model, test string) *figure.Figure {
	var cases []*digest.Case
	var depths, rates []float64
	for _, c := range m.alone() {
		if v, ok := c.Center(results.TokenRate); ok && c.Name.Get(names.Test) == test {
			cases = append(cases, c)
			depths, rates = append(depths, depth(c)), append(rates, v)
		}
	}
	x := figure.NewAxis(depths, false, 6, figure.BareNumber)
	y := figure.NewAxis(append(rates, 0), false, 6, figure.BareNumber).FromZero()
	var drawn []*figure.Panel
	for _, p := range digest.Panels(cases) {
		panel := p.Plot("").XY(x, y, "tokens before the test")
		for _, name := range digest.Variants(digest.In(p, cases)) {
			panel.Line(d.Marks[name], depthLine(digest.In(p, cases), name))
		}
		drawn = append(drawn, panel)
	}
	grid := figure.Arrange(drawn, 2)
	return &figure.Figure{
		Name: term.FileName("depth", m.name, test), Heading: figure.Label(m.title(test + " against depth")),
		Reading: d.depthReading(m, cases), Height: vg.Length(240 * len(grid)), Panels: grid,
		Upward: slices.Repeat([]string{results.UnitOf(results.TokenRate).About}, len(grid)), Legend: figure.Names(digest.Variants(cases), d.Marks),
	}
}

// depthLine is a variant's rate by depth.
func depthLine(cases []*digest.Case, variant string) [][2]float64 {
	var line [][2]float64
	for _, c := range cases {
		if c.Variant == variant {
			v, _ := c.Center(results.TokenRate)
			line = append(line, [2]float64{depth(c), v})
		}
	}
	slices.SortFunc(line, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return line
}

// depthReading says what the deepest test leaves of the speed of the fastest that ran at several depths.
func (d *report) depthReading(m *model, cases []*digest.Case) string {
	all := digest.Panels(cases)
	p := all[len(all)-1]
	for _, name := range m.fastestFirst() {
		x, ok := d.descend(slices.DeleteFunc(digest.In(p, cases), func(c *digest.Case) bool { return c.Variant != name }))
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s with %s: %s after %.0f tokens, %s of that after %.0f", name, digest.Conditions(p),
			speedOf(x.first).Text, depth(x.first), x.share(), depth(x.last))
		if cost := x.cost(); cost != "" {
			text += "; " + cost
		}
		return words.Sentences(text+".", d.computedText())
	}
	return "No variant ran at several depths."
}
