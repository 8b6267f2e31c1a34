package reports

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
)

func init() {
	registerChart(chart{
		order: 50, name: "samples", heading: "Distribution of samples",
		about: "Every sample's distance from the median of its own case, in per cent, all shapes of a format or tests of a model together. The box holds the middle half " +
			"of the samples, the line through it nine tenths. A wide or lopsided row was disturbed, or is not one distribution.",
		figures: samplesFigures,
	})
}

func samplesFigures(d *digest) []*figure {
	var figures []*figure
	for _, f := range d.families() {
		if fig := samplesFigure(d, f); fig != nil {
			fig.folded = f.base == names.BaseModel || len(figures) > 0
			figures = append(figures, fig)
		}
	}
	return figures
}

// A spreadRow is the deviations of one contender under one condition, in per cent.
type spreadRow struct {
	panel     panel
	contender string
	deviation []float64
}

func samplesFigure(d *digest, f *family) *figure {
	var rows []spreadRow
	var all []float64
	for _, p := range panels(f.cases) {
		for _, name := range contenders(f.cases) {
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
	axis := newAxis([]float64{-edge, edge}, false, 5, signedPercent)
	names := contenders(f.cases)
	fastestFirst(names, f.cases)
	var drawn []*plot.Plot
	for _, p := range panels(f.cases) {
		plot := newPanel(p.String())
		axis.apply(&plot.X)
		nominalAxis(plot, names, len(drawn)%panelsInRow == 0)
		addGrid(plot, true, true)
		for _, r := range rows {
			if r.panel == p {
				d.addSpread(plot, r, names, axis)
			}
		}
		drawn = append(drawn, plot)
	}
	grid := arrange(drawn, panelsInRow)
	return &figure{
		name:    fileName("samples", f.base, f.subject),
		heading: label(f.title() + ": spread of samples"),
		reading: spreadReading(rows, outside, len(all)),
		height:  rowsHeight(len(names), len(grid)),
		panels:  grid,
	}
}

func signedPercent(v float64) string {
	if math.Abs(v) < 1e-9 {
		return "0"
	}
	return fmt.Sprintf("%+.3g%%", v)
}

// deviations returns the distances from the median, case by case, in per cent.
func deviations(cases []*caseStats, contender string) []float64 {
	var dev []float64
	for _, c := range cases {
		s, ok := c.stats[results.NsPerOp]
		if !ok || c.contender != contender || len(s.values) < 2 || s.Center <= 0 {
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

func (d *digest) addSpread(p *plot.Plot, r spreadRow, names []string, axis valueAxis) {
	row := rowAt(indexOf(names, r.contender), len(names))
	color := inkOf(seriesRole(d.marks[r.contender]))
	clamp := func(percent float64) float64 {
		return math.Max(axis.min, math.Min(axis.max, noise.Percentile(r.deviation, percent)))
	}
	p.Add(strip{values: r.deviation, row: row, color: color})
	p.Add(bar{from: clamp(25), to: clamp(75), row: row, half: 5.5, color: inkOf(rolePaper)})
	p.Add(bar{from: clamp(25), to: clamp(75), row: row, half: 5.5, color: color, outline: true})
	p.Add(interval{lo: clamp(5), hi: clamp(95), row: row, color: color})
}

func spreadReading(rows []spreadRow, outside, all int) string {
	widest, width := rows[0], -1.0
	for _, r := range rows {
		if w := noise.Percentile(r.deviation, 95) - noise.Percentile(r.deviation, 5); w > width {
			widest, width = r, w
		}
	}
	text := fmt.Sprintf("Widest: %s with %s, nine tenths of its samples within %s.", widest.contender, conditions(widest.panel), percent(width/100))
	if outside > 0 {
		text += fmt.Sprintf(" %d of %d samples lie beyond the edges.", outside, all)
	}
	return text
}
