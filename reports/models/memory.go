package models

import (
	"fmt"
	"slices"
	"strings"

	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/words"
)

func init() {
	drawings.Add(charts.Chart[*report]{
		Order: 3, Name: "memory", Heading: "Peak memory by phase",
		About:   "Shorter is better. Pages of the mapped file are the system's to take back; anonymous memory is the program's own.",
		Figures: memoryFigures,
	})
}

// Colours of the parts of memory.
const (
	roleAnonymous = figure.FirstSeries
	roleFile      = figure.FirstSeries + 1
	roleRest      = figure.Muted
)

func memoryFigures(d *report) []*figure.Figure {
	var figures []*figure.Figure
	for _, m := range d.models {
		if f := phasesFigure(m); f != nil {
			figures = append(figures, f)
		}
	}
	return figures
}

// phasesFigure has a panel for each test whose memory was measured.
func phasesFigure(m *model) *figure.Figure {
	phases := make(map[*digest.Task]map[string]*digest.Case)
	values := []float64{0}
	whole := false // whether a bar has a part of unknown kind
	for _, t := range m.tests {
		for _, c := range t.Cases {
			if v, ok := c.Center(results.PeakRSS); ok {
				if phases[t] == nil {
					phases[t] = make(map[string]*digest.Case)
				}
				// Threads make hardly a difference; the most of them come last.
				phases[t][c.Variant] = c
				values = append(values, v)
				whole = whole || memoryParts(c)[2].Length > visibleRest*v
			}
		}
	}
	if len(phases) == 0 {
		return nil
	}
	text := results.UnitOf(results.PeakRSS).Format
	axis := figure.NewAxis(values, false, 3, text).FromZero()
	axis.Max *= 1.35 // room for the values behind the bars
	axis.Binary = true
	names := slices.DeleteFunc(m.fastestFirst(), func(name string) bool {
		return !slices.ContainsFunc(m.tests, func(t *digest.Task) bool { return phases[t][name] != nil })
	})
	var drawn []*figure.Panel
	for _, t := range m.tests {
		if phases[t] == nil {
			continue
		}
		p := figure.NewPanel(figure.Label(testLabel(t))).Rows(axis, names)
		for i, name := range names {
			if c := phases[t][name]; c != nil {
				addMemory(p, c, figure.RowAt(i, len(names)), text)
			}
		}
		drawn = append(drawn, p)
	}
	grid := figure.Arrange(drawn, figure.PanelsInRow)
	legend := []figure.LegendEntry{figure.Square("anonymous", roleAnonymous), figure.Square("mapped file", roleFile)}
	if whole {
		legend = append(legend, figure.Square("of unknown kind", roleRest))
	}
	return &figure.Figure{
		Name: term.FileName("memory", m.name), Heading: figure.Label(m.title("peak memory by phase")), Reading: memoryReading(m),
		Height: figure.RowsHeight(len(names), len(grid)), Panels: grid,
		Legend: legend,
	}
}

// visibleRest is the least share of a bar that the legend explains.
const visibleRest = 0.005

// memoryParts are what a peak consists of: anonymous memory, mapped files, and
// the rest. Files of before the parts were looked at together have parts that
// exceed the whole, which then is all there is to show.
func memoryParts(c *digest.Case) []figure.Segment {
	peak, _ := c.Center(results.PeakRSS)
	anon, file := sum(c, results.AnonBytes), sum(c, results.FileBytes)
	if anon+file > peak {
		anon, file = 0, 0
	}
	return []figure.Segment{{Length: anon, Role: roleAnonymous}, {Length: file, Role: roleFile}, {Length: peak - anon - file, Role: roleRest}}
}

func addMemory(p *figure.Panel, c *digest.Case, row float64, text func(float64) string) {
	end := figure.AddStack(p, memoryParts(c), row)
	p.Add(figure.Behind{Value: end, Row: row, Text: text(end)})
}

func memoryReading(m *model) string {
	var least, most *digest.Case
	for _, r := range m.runs {
		c := r.peak()
		if c == nil {
			continue
		}
		v, _ := c.Center(results.PeakRSS)
		if least == nil || v < sum(least, results.PeakRSS) {
			least = c
		}
		if most == nil || v > sum(most, results.PeakRSS) {
			most = c
		}
	}
	text := fmt.Sprintf("Least: %s, %s", least.Variant, memoryText(least))
	if most != least {
		text += fmt.Sprintf("; most: %s, %s", most.Variant, memoryText(most))
	}
	return text + "."
}

func memoryText(c *digest.Case) string {
	text := digest.ValueOf(c, results.PeakRSS)
	if text == "" {
		return ""
	}
	if anon, file := memoryPart(c, results.AnonBytes), memoryPart(c, results.FileBytes); anon != "" && file != "" {
		text += fmt.Sprintf(": %s anonymous, %s file", anon, file)
	}
	if plan := planText(c); plan != "" {
		text += "; planned " + plan
	}
	return text
}

// planText is what a case was planned to take of memory, in parts; "" if nothing was.
func planText(c *digest.Case) string {
	var parts []string
	for _, part := range []struct{ name, unit string }{
		{"weights", results.PlanWeights}, {"keys and values", results.PlanKV}, {"state", results.PlanState}, {"scratch", results.PlanScratch},
	} {
		if v, ok := c.Center(part.unit); ok && v > 0 {
			parts = append(parts, part.name+" "+results.UnitOf(part.unit).Format(v))
		}
	}
	text := digest.ValueOf(c, results.PlanBytes)
	return text + words.If(text != "" && parts != nil, " ("+strings.Join(parts, ", ")+")")
}
