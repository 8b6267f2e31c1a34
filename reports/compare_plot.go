package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/figure"
)

// mostRatios is how many cases a comparison's figure shows: those that differ most.
const mostRatios = 40

// ratioFigures draw times, and peak memory where it differs beyond noise.
func (c *Comparison) ratioFigures() []*figure.Figure {
	return []*figure.Figure{c.ratioFigure("time", c.Cases), c.ratioFigure("memory", moved(c.Memory))}
}

// ratioFigure draws cases by their ratios; nil if none differs.
func (c *Comparison) ratioFigure(what string, cases []CaseChange) *figure.Figure {
	var rows []CaseChange
	for _, x := range cases {
		if positive(x.Change) {
			rows = append(rows, x)
		}
	}
	slices.SortStableFunc(rows, func(a, b CaseChange) int { return cmp.Compare(b.inNoise(), a.inNoise()) })
	if len(rows) == 0 || rows[0].Change == 1 {
		return nil
	}
	left := max(0, len(rows)-mostRatios)
	rows = rows[:len(rows)-left]
	slices.SortStableFunc(rows, func(a, b CaseChange) int { return cmp.Compare(a.Change, b.Change) })
	values := []float64{1}
	for _, x := range rows {
		values = append(values, x.Change/(1+x.Noise), x.Change*(1+x.Noise))
	}
	axis := figure.NewAxis(values, true, 7, times)
	axis.Max *= math.Pow(axis.Max/axis.Min, 0.12) // room for the ratio beside the longest bar
	title := fmt.Sprintf("%s: %s ÷ %s", what, c.New.Label, c.Old.Label)
	f := &figure.Figure{
		Name: figure.FileName("compare", what), Heading: title, Reading: "Each case's " + title + ".", Height: figure.RowsHeight(len(rows), 1),
		Panels: [][]*plot.Plot{{ratioPanel(figure.Label(title), rows, axis)}},
		Notes:  []string{"Changes are less what the class of a case has in common. Bars reach as far as noise. In colour: beyond noise, and beyond what the machine's ceilings did."},
		Source: []string{c.Old.source(), c.New.source()},
	}
	if left > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s that differ less are not drawn.", count.Of(left, "case")))
	}
	return f
}

// source says of a picture which run this is.
func (o RunOrigin) source() string {
	parts := []string{figure.Label(o.Label)}
	if o.Started != "" {
		parts = append(parts, "measured "+figure.Label(o.Started))
	}
	if o.Commit != "" {
		parts = append(parts, "commit "+figure.Label(o.Commit))
	}
	return strings.Join(parts, " · ")
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// ratioPanel draws cases that differ in the colour of better or worse.
func ratioPanel(title string, rows []CaseChange, axis figure.Axis) *plot.Plot {
	p := figure.NewPanel(title)
	axis.Apply(&p.X)
	figure.NominalAxis(p, shortNames(caseNames(rows)), true)
	figure.AddGrid(p, true, true)
	p.Add(figure.Polyline{Points: [][2]float64{{1, p.Y.Min}, {1, p.Y.Max}}, Color: figure.Color(figure.Muted), Width: 1.2, Dashes: figure.Dashed})
	for i, x := range rows {
		row := figure.RowAt(i, len(rows))
		lo, hi := x.Change/(1+x.Noise), x.Change*(1+x.Noise)
		series := ratioSeries(x.Sign)
		p.Add(figure.Interval{Lo: lo, Hi: hi, Row: row, Color: figure.Color(figure.Series(series))})
		p.Add(figure.Mark{X: x.Change, Y: row, Style: figure.Glyph(series, 4)})
		p.Add(figure.Besides{Lo: lo, Hi: hi, Row: row, Text: times(x.Change)})
	}
	return p
}

// shortNames leaves out of names what all of them share, and keys whose values speak for themselves.
func shortNames(full []string) []string {
	parsed := make([]results.Name, len(full))
	for i, name := range full {
		parsed[i] = results.ParseName(name)
	}
	shared := func(key, value string) bool {
		return !slices.ContainsFunc(parsed, func(n results.Name) bool { return n.Get(key) != value })
	}
	short := make([]string, len(full))
	for i, n := range parsed {
		parts := []string{n.Base}
		for _, k := range n.Keys {
			if k.Key == "" || !shared(k.Key, k.Value) {
				parts = append(parts, namedValue(k))
			}
		}
		short[i] = strings.Join(parts, " ")
	}
	return short
}

// namedValue is a key's value as people say it.
func namedValue(k results.Setting) string {
	if k.Key == names.Threads {
		return panel{threads: k.Value}.String()
	}
	return k.Value
}

// ratioSeries is the series, and with it colour and shape, of a change.
func ratioSeries(sign int) int {
	switch sign {
	case -1:
		return 2
	case 1:
		return 1
	}
	return 7
}
