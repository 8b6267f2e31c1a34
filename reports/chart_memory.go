package reports

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"

	"onebit/bench"
)

func init() {
	registerChart(chart{
		order: 3, name: "memory", heading: "Peak memory by phase", models: true,
		about: "Each bar is the peak of a process that did nothing but this test. Its file part is pages of the mapped model, which the system can take " +
			"back and read again; its anonymous part is the program's own: packed weights, KV cache, buffers. Both are peaks, so together they may exceed that of the whole.",
		figures: memoryFigures,
	})
}

// Colours of the parts of memory.
const (
	roleAnonymous = roleSeries
	roleFile      = roleSeries + 1
	roleRest      = roleMuted
)

func memoryFigures(d *digest) []*figure {
	var figures []*figure
	for _, m := range d.models {
		if f := phasesFigure(m); f != nil {
			figures = append(figures, f)
		}
	}
	return figures
}

// phasesFigure has a panel for each test whose memory was measured.
func phasesFigure(m *model) *figure {
	phases := make(map[*task]map[string]*caseStats)
	values := []float64{0}
	whole := false // whether the parts of any are unknown
	for _, t := range m.tests {
		for _, c := range t.cases {
			if v, ok := c.center(bench.PeakRSS); ok {
				if phases[t] == nil {
					phases[t] = make(map[string]*caseStats)
				}
				// Threads make hardly a difference; the most of them come last.
				phases[t][c.contender] = c
				parts := sum(c, bench.AnonBytes, bench.FileBytes)
				values = append(values, v, parts)
				whole = whole || parts == 0
			}
		}
	}
	if len(phases) == 0 {
		return nil
	}
	text := bench.UnitOf(bench.PeakRSS).Format
	axis := newAxis(values, false, 3, text).fromZero()
	axis.max *= 1.35 // room for the values behind the bars
	axis.binary = true
	names := slices.DeleteFunc(m.fastestFirst(), func(name string) bool {
		return !slices.ContainsFunc(m.tests, func(t *task) bool { return phases[t][name] != nil })
	})
	var drawn []*plot.Plot
	for _, t := range m.tests {
		if phases[t] == nil {
			continue
		}
		p := newPanel(label(testLabel(t)))
		axis.apply(&p.X)
		nominalAxis(p, names, len(drawn)%panelsInRow == 0)
		addGrid(p, true, false)
		for i, name := range names {
			if c := phases[t][name]; c != nil {
				addMemory(p, c, rowAt(i, len(names)), text)
			}
		}
		drawn = append(drawn, p)
	}
	grid := arrange(drawn, panelsInRow)
	legend := []legendEntry{square("anonymous", roleAnonymous), square("mapped file", roleFile)}
	if whole {
		legend = append(legend, square("parts not measured", roleRest))
	}
	return &figure{
		name: fileName("memory", m.name), heading: label(m.title("peak memory by phase")), reading: memoryReading(m),
		height: rowsHeight(len(names), len(grid)), panels: grid,
		legend: legend,
	}
}

func sum(c *caseStats, units ...string) float64 {
	all := 0.0
	for _, u := range units {
		v, _ := c.center(u)
		all += v
	}
	return all
}

func addMemory(p *plot.Plot, c *caseStats, row float64, text func(float64) string) {
	peak, _ := c.center(bench.PeakRSS)
	anon, file := sum(c, bench.AnonBytes), sum(c, bench.FileBytes)
	parts := []segment{{anon, roleAnonymous}, {file, roleFile}}
	if anon+file == 0 {
		parts = []segment{{peak, roleRest}}
	}
	end := addStack(p, parts, row)
	p.Add(behind{value: end, row: row, text: text(peak)})
}

func memoryReading(m *model) string {
	var least, most *caseStats
	for _, r := range m.runs {
		c := r.peak()
		if c == nil {
			continue
		}
		v, _ := c.center(bench.PeakRSS)
		if least == nil || v < sum(least, bench.PeakRSS) {
			least = c
		}
		if most == nil || v > sum(most, bench.PeakRSS) {
			most = c
		}
	}
	text := fmt.Sprintf("Least: %s, %s", least.contender, memoryText(least))
	if most != least {
		text += fmt.Sprintf("; most: %s, %s", most.contender, memoryText(most))
	}
	return text + "."
}
