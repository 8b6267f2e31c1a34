package gate

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// mostDrawn is how many findings a page draws: the others have a row of a table each.
const mostDrawn = 60

// dotSpace is how many values a page of findings has room for.
const dotSpace = 24_000

// dotsOf is how many values each of a finding's six series may show, so that a page stays small.
func dotsOf(findings int) int { return max(30, min(400, dotSpace/6/max(min(findings, mostDrawn), 1))) }

var gateSides = []gate.Side{gate.Base, gate.Head, gate.Control}

// sideColor is that of a side's values.
func sideColor(s gate.Side) color.Color {
	return figure.Color(figure.Series(map[gate.Side]int{gate.Base: 0, gate.Head: 1, gate.Control: 7}[s]))
}

// findingFigure is what a verdict rests on: the values by round, the change, and every process by time.
func (g *report) findingFigure(f gate.Finding, dots int) *doc.Figure {
	panels := []*figure.Panel{roundsPanel(f, dots), changePanel(f)}
	if p := driftPanel(f, g.raw[f.Benchmark], dots); p != nil {
		panels = append(panels, p)
	}
	return &doc.Figure{Figure: &figure.Figure{
		Reading: fmt.Sprintf("%s: base %s, head %s, control %s; change %s, 95%% interval %s", f.Name, gateValue(f, gate.Base), gateValue(f, gate.Head), gateValue(f, gate.Control), gateChange(f), gateInterval(f)),
		Panels:  [][]*figure.Panel{panels}, Height: 190,
	}}
}

// roundsPanel shows the values that were judged, a row for each side, from the first round at the row's top to the last.
func roundsPanel(f gate.Finding, dots int) *figure.Panel {
	values := slices.Concat(f.Base, f.Head, f.Control)
	axis := figure.RobustAxis(values, 0.05, 4, results.UnitOf(f.Unit).Format)
	p := figure.NewPanel("Rounds, the first above"+figure.BeyondText(axis, values)).Rows(axis, words.Mapped(gateSides, gate.Side.String))
	for i, side := range gateSides {
		row := figure.RowAt(i, len(gateSides))
		shown := figure.SpreadOver(f.Of(side), dots)
		points := make([][2]float64, len(shown))
		for k, v := range shown {
			points[k] = [2]float64{v, row + 0.35 - 0.7*float64(k)/float64(max(len(shown)-1, 1))}
		}
		p.Add(figure.Dots{Points: points, Color: sideColor(side)})
		if typical := f.Typical(side); !math.IsNaN(typical) {
			p.Add(figure.Upright{At: typical, Row: row, Color: figure.Color(figure.Ink)}, figure.RowSpot(row, side.String()+": "+gateValue(f, side)))
		}
	}
	return p
}

// changePanel shows the change with its interval, the threshold and by how much the same code is known to differ.
func changePanel(f gate.Finding) *figure.Panel {
	c, floor := math.Expm1(f.Change.Center), math.Expm1(f.Floor)
	lo, hi := math.Expm1(f.Change.Lo), math.Expm1(f.Change.Hi)
	ends := []float64{-f.Threshold, f.Threshold, -floor, floor}
	for _, v := range []float64{c, lo, hi} {
		if !math.IsInf(v, 0) && !math.IsNaN(v) && v > -1 {
			ends = append(ends, v)
		}
	}
	margin := (slices.Max(ends) - slices.Min(ends)) * 0.12
	axis := figure.Axis{Min: slices.Min(ends) - margin, Max: slices.Max(ends) + margin, Labels: 5, Format: func(v float64) string { return words.SignedPercent(100 * v) }}.Bounded()
	p := figure.NewPanel("Change: worse to the right").Rows(axis, []string{""})
	p.Add(figure.Ground{From: -f.Threshold, To: f.Threshold, Role: figure.Band}, figure.Ground{From: -floor, To: floor, Role: figure.GridRole},
		figure.Polyline{Points: [][2]float64{{0, p.Y.Min}, {0, p.Y.Max}}, Color: figure.Color(figure.Ink), Width: 1.2},
		figure.Interval{Lo: lo, Hi: hi, Color: sideColor(gate.Head)}, figure.Mark{X: c, Style: figure.Glyph(1, 4)}, figure.RowSpot(0, gateChange(f)+" "+words.Parenthesis(gateInterval(f))))
	return p
}

// driftPanel shows every process of base and head by the time at which it began, and control's behind them; nil if there are
// none.
func driftPanel(f gate.Finding, measurements []gate.Measurement, dots int) *figure.Panel {
	var points [3][][2]float64
	var values []float64
	last := time.Duration(1)
	for _, m := range measurements {
		for _, v := range m.Values {
			if v.Unit == f.Unit {
				points[m.Side] = append(points[m.Side], [2]float64{m.Start.Minutes(), v.Value})
				values = append(values, v.Value)
				last = max(last, m.Start)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	y := figure.RobustAxis(slices.Concat(f.Base, f.Head), 0.3, 4, results.UnitOf(f.Unit).Format) // the judged values give the scale
	x := figure.Axis{Max: last.Minutes(), Labels: 5, Format: func(v float64) string { return fmt.Sprintf("%.3g min", v) }}.Bounded()
	p := figure.NewPanel("Every process by time"+figure.BeyondText(y, values)).XY(x, y, "")
	for _, side := range []gate.Side{gate.Control, gate.Base, gate.Head} {
		p.Add(figure.Dots{Points: figure.SpreadOver(points[side], dots), Color: sideColor(side)})
	}
	return p
}
