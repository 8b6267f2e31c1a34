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
		Order: 6, Name: "error-depth", Heading: "Error against depth",
		About:   "Isolated: each block gets the reference's input, and shows what it adds by itself. Accumulated: it gets the variant's own stream. Lower is better.",
		Figures: errorDepthFigures,
	})
}

func errorDepthFigures(d *report) []*figure.Figure {
	var figures []*figure.Figure
	for _, m := range d.models {
		var stream []errorPanel
		for _, input := range names.Inputs {
			stream = append(stream, errorPanel{input, inBlocks(m.series(input, names.BlockOutput))})
		}
		if f := errorDepthFigure(d, m, "error-depth", "error of the stream", 2, stream); f != nil {
			figures = append(figures, f)
		}
		for _, input := range names.Inputs {
			var tensors []errorPanel
			for _, tensor := range m.tensors() {
				tensors = append(tensors, errorPanel{tensor, inBlocks(m.series(input, tensor))})
			}
			if f := errorDepthFigure(d, m, "error-"+input, "error by projection, "+input, figure.PanelsInRow, tensors); f != nil {
				f.Folded = true
				figures = append(figures, f)
			}
		}
	}
	return figures
}

// An errorPanel is the errors of one tensor under one input.
type errorPanel struct {
	title  string
	series []errorSeries
}

// inBlocks leaves out what is outside the blocks, and has no depth.
func inBlocks(all []errorSeries) []errorSeries {
	var kept []errorSeries
	for _, s := range all {
		cases := slices.DeleteFunc(slices.Clone(s.cases), func(c *digest.Case) bool { return block(c) < 0 })
		if len(cases) > 0 {
			kept = append(kept, errorSeries{s.variants, cases})
		}
	}
	return kept
}

// errorDepthFigure draws panels on common axes; nil if all of them are empty.
func errorDepthFigure(d *report, m *model, name, heading string, columns int, parts []errorPanel) *figure.Figure {
	parts = slices.DeleteFunc(parts, func(p errorPanel) bool { return len(p.series) == 0 })
	if len(parts) == 0 {
		return nil
	}
	var errors []float64
	last := 0
	for _, p := range parts {
		for _, s := range p.series {
			for _, c := range s.cases {
				e, _ := c.Center(results.NMSE)
				errors = append(errors, e)
				last = max(last, block(c))
			}
		}
	}
	y := figure.NewErrorAxis(errors, results.NMSE)
	x := figure.Axis{Min: -0.5, Max: float64(last) + 0.5, Labels: min(6, last+1), Format: figure.BareNumber}
	f := &figure.Figure{
		Name: term.FileName(name, m.name), Heading: figure.Label(m.title(heading)), Reading: errorDepthReading(parts),
	}
	var drawn []*figure.Panel
	for _, p := range parts {
		panel := figure.NewPanel(figure.Label(p.title)).XY(x, y, "block")
		for _, s := range p.series {
			line := make([][2]float64, len(s.cases))
			for i, c := range s.cases {
				e, _ := c.Center(results.NMSE)
				line[i] = [2]float64{float64(block(c)), y.At(e)}
			}
			panel.Line(d.Marks[s.variants[0]], line)
		}
		drawn = append(drawn, panel)
	}
	f.Panels = figure.Arrange(drawn, columns)
	f.Upward = slices.Repeat([]string{results.NMSE}, len(f.Panels))
	f.Height = vg.Length(230 * len(f.Panels))
	for _, group := range m.alike {
		f.Legend = append(f.Legend, figure.LegendEntry{Label: figure.Label(words.Names(group)), Glyph: figure.Glyph(d.Marks[group[0]], 4)})
	}
	return f
}

// errorDepthReading names the worst place of the last panel.
func errorDepthReading(parts []errorPanel) string {
	p := parts[len(parts)-1]
	worst := slices.MaxFunc(p.series, func(a, b errorSeries) int {
		return cmp.Compare(sum(a.worst(), results.NMSE), sum(b.worst(), results.NMSE))
	})
	c := worst.worst()
	text := fmt.Sprintf("%s: largest is %s in block %d, by %s", p.title, digest.ValueOf(c, results.NMSE), block(c), worst.label())
	if v := digest.ValueOf(c, results.Cosine); v != "" {
		text += ", cosine " + v
	}
	return text + "."
}
