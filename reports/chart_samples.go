package reports

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/figure"
)

func init() {
	registerChart(chart{
		order: 50, name: "samples", heading: "Distribution of samples",
		about: "Every sample's distance from the median of its own case, in per cent, all shapes of a format or tests of a model together. The box holds the middle half " +
			"of the samples, the line through it nine tenths. A wide or lopsided row was disturbed, or is not one distribution.",
		figures: samplesFigures,
	})
}

func samplesFigures(d *digest) []*figure.Figure {
	var figures []*figure.Figure
	for _, f := range d.families() {
		if fig := samplesFigure(d, f); fig != nil {
			fig.Folded = f.base == names.BaseModel || len(figures) > 0
			figures = append(figures, fig)
		}
	}
	return figures
}

// A spreadRow is the deviations of one variant under one condition, in per cent.
type spreadRow struct {
	panel     panel
	variant   string
	deviation []float64
}

func samplesFigure(d *digest, f *family) *figure.Figure {
	var rows []spreadRow
	var all []float64
	for _, p := range panels(f.cases) {
		for _, name := range variants(f.cases) {
			if dev := deviations(in(p, f.cases), name); len(dev) > 0 {
				rows = append(rows, spreadRow{p, name, dev})
				all = append(all, dev...)
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	edge, outside := spreadEdge(all)
	axis := figure.NewAxis([]float64{-edge, edge}, false, 5, signedPercent)
	names := variants(f.cases)
	fastestFirst(names, f.cases)
	var drawn []*plot.Plot
	for _, p := range panels(f.cases) {
		plot := figure.NewPanel(p.String())
		axis.Apply(&plot.X)
		figure.NominalAxis(plot, names, len(drawn)%figure.PanelsInRow == 0)
		figure.AddGrid(plot, true, true)
		for _, r := range rows {
			if r.panel == p {
				d.addSpread(plot, r, names, axis)
			}
		}
		drawn = append(drawn, plot)
	}
	grid := figure.Arrange(drawn, figure.PanelsInRow)
	return &figure.Figure{
		Name:    figure.FileName("samples", f.base, f.subject),
		Heading: figure.Label(f.title() + ": spread of samples"),
		Reading: spreadReading(rows, outside, len(all)),
		Height:  figure.RowsHeight(len(names), len(grid)),
		Panels:  grid,
	}
}

func signedPercent(v float64) string {
	if math.Abs(v) < 1e-9 {
		return "0"
	}
	return fmt.Sprintf("%+.3g%%", v)
}

// deviations returns the distances from the median, case by case, in per cent.
func deviations(cases []*caseStats, variant string) []float64 {
	var dev []float64
	for _, c := range cases {
		s, ok := c.stats[results.NsPerOp]
		if !ok || c.variant != variant || len(s.values) < 2 || s.Center <= 0 {
			continue
		}
		for _, v := range s.values {
			dev = append(dev, (v/s.Center-1)*100)
		}
	}
	return dev
}

// spreadEdge chooses the half width of the axis so that a few far samples don't flatten the rest, and
// counts those that are outside.
func spreadEdge(dev []float64) (edge float64, outside int) {
	abs := make([]float64, len(dev))
	for i, v := range dev {
		abs[i] = math.Abs(v)
	}
	edge = math.Max(noise.Percentile(abs, 98)*1.15, 0.1)
	for _, v := range abs {
		if v > edge {
			outside++
		}
	}
	return edge, outside
}

func (d *digest) addSpread(p *plot.Plot, r spreadRow, names []string, axis figure.Axis) {
	row := figure.RowAt(indexOf(names, r.variant), len(names))
	color := figure.Color(figure.Series(d.marks[r.variant]))
	clamp := func(percent float64) float64 {
		return math.Max(axis.Min, math.Min(axis.Max, noise.Percentile(r.deviation, percent)))
	}
	p.Add(figure.Strip{Values: r.deviation, Row: row, Color: color})
	p.Add(figure.Bar{From: clamp(25), To: clamp(75), Row: row, Half: 5.5, Color: figure.Color(figure.Paper)})
	p.Add(figure.Bar{From: clamp(25), To: clamp(75), Row: row, Half: 5.5, Color: color, Outline: true})
	p.Add(figure.Interval{Lo: clamp(5), Hi: clamp(95), Row: row, Color: color})
}

func spreadReading(rows []spreadRow, outside, all int) string {
	widest, width := rows[0], -1.0
	for _, r := range rows {
		if w := noise.Percentile(r.deviation, 95) - noise.Percentile(r.deviation, 5); w > width {
			widest, width = r, w
		}
	}
	text := fmt.Sprintf("Widest: %s with %s, nine tenths of its samples within %s.", widest.variant, conditions(widest.panel), percent(width/100))
	if outside > 0 {
		text += fmt.Sprintf(" %d of %d samples lie beyond the edges.", outside, all)
	}
	return text
}
