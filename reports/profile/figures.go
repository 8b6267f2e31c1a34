package profile

import (
	"fmt"
	"math"
	"slices"

	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// memoryOverTime draws the looks; nil if there are none.
func memoryOverTime(m *profiles.Memory) *figure.Figure {
	if len(m.Looks) < 2 {
		return nil
	}
	var anon, all [][2]float64
	var times, sizes []float64
	for _, l := range m.Looks {
		at := float64(l.At)
		times, sizes = append(times, at), append(sizes, float64(l.Anon+l.File))
		anon, all = append(anon, [2]float64{at, float64(l.Anon)}), append(all, [2]float64{at, float64(l.Anon + l.File)})
	}
	x := figure.NewAxis(append(times, 0), false, 8, words.Time).FromZero()
	y := figure.NewAxis(append(sizes, 0), false, 6, results.UnitOf(results.PackedBytes).Format).FromZero()
	y.Max *= 1.12
	panel := figure.NewPanel("").XY(x, y, "since the model began to open")
	for _, phase := range m.Phases {
		at := float64(phase.End)
		panel.Add(figure.Polyline{Points: [][2]float64{{at, y.Min}, {at, y.Max}}, Color: figure.Color(figure.Muted), Width: 1})
		style := figure.TextStyle(figure.Muted)
		style.XAlign, style.YAlign = -1, -1
		panel.Add(figure.Note{X: at, Y: y.Max, Dx: -4, Dy: -2, Text: phase.Name, Style: style})
	}
	panel.Add(figure.Polyline{Points: all, Color: figure.Color(figure.Series(0)), Width: 1.8}, figure.Polyline{Points: anon, Color: figure.Color(figure.Series(1)), Width: 1.8})
	return &figure.Figure{
		Heading: "Resident memory over time", Reading: "Upright lines end the phases.", Height: 260, Panels: [][]*figure.Panel{{panel}},
		Legend: []figure.LegendEntry{figure.Square("all", figure.Series(0)), figure.Square("without mapped files", figure.Series(1))},
	}
}

// operationRoofline places operations under the ceilings; nil if none reads and
// multiplies.
func operationRoofline(t *profiles.Test, ops []profiles.Operation, c *profiles.Ceilings) *figure.Figure {
	if len(c.Levels) == 0 {
		return nil
	}
	var labels []figure.FanLabel
	var xs, ys []float64
	for _, o := range ops {
		if o.MACs == 0 || o.Bytes == 0 {
			continue
		}
		x, y := float64(o.MACs)/float64(o.Bytes), o.PerSecond(o.MACs)
		xs, ys = append(xs, x), append(ys, y)
		color := figure.Series(0)
		if o.Float {
			color = figure.Series(2)
		}
		labels = append(labels, figure.FanLabel{X: x, Y: y, Group: o.Op, Text: fmt.Sprintf("%s %.0f %%", o.Op, 100*o.OfBound()), Color: figure.Color(color)})
	}
	if len(labels) == 0 {
		return nil
	}
	roofs := []float64{c.Int8, c.Float32}
	x := figure.NewAxis(xs, true, 8, func(v float64) string { return fmt.Sprintf("%.3g", v) })
	x.Min, x.Max = x.Min/4, x.Max*4
	y := figure.NewAxis(append(append(ys, roofs...), c.Levels[len(c.Levels)-1].Rate*slices.Min(xs)), true, 6, results.UnitOf(results.OpRate).Format)
	y.Max *= 1.6
	panel := figure.NewPanel("").XY(x, y, "multiply-adds per byte of weights, keys and values")
	addCeilings(panel, x, y, c)
	for _, l := range labels {
		style := figure.Glyph(0, 4)
		style.Color = l.Color
		panel.Add(figure.Mark{X: l.X, Y: l.Y, Style: style})
	}
	panel.Add(figure.Fan{Labels: labels, Most: 9})
	return &figure.Figure{
		Heading: "Roofline of operations, " + t.String(), Reading: "Percentages are of the operation's bound, which may be dispatch.", Height: 340,
		Panels: [][]*figure.Panel{{panel}}, Upward: []string{"multiply-adds per second"},
		Legend: []figure.LegendEntry{figure.Square("in int8", figure.Series(0)), figure.Square("in float32", figure.Series(2))},
	}
}

// addCeilings draws the levels' slopes, as far as a peak, and the peaks.
func addCeilings(p *figure.Panel, x, y figure.Axis, c *profiles.Ceilings) {
	top := math.Max(c.Int8, c.Float32)
	style, atEnd := figure.TextStyle(figure.Muted), figure.TextStyle(figure.Muted)
	atEnd.XAlign = -1
	for _, l := range c.Levels {
		from, to := math.Max(x.Min, y.Min/l.Rate), math.Min(x.Max, top/l.Rate)
		if from < to {
			p.Add(figure.Polyline{Points: [][2]float64{{from, from * l.Rate}, {to, to * l.Rate}}, Color: figure.Color(figure.Muted), Width: 1.2})
			p.Add(figure.Note{X: from, Y: from * l.Rate, Dx: 6, Dy: -13, Text: l.Name, Style: style}) // below the line, which rises
		}
	}
	for _, peak := range []struct {
		name string
		rate float64
	}{{profiles.BoundInt8, c.Int8}, {profiles.BoundFloat32, c.Float32}} {
		if peak.rate > 0 {
			p.Add(figure.Polyline{Points: [][2]float64{{x.Min, peak.rate}, {x.Max, peak.rate}}, Color: figure.Color(figure.Muted), Width: 1.2})
			p.Add(figure.Note{X: x.Max, Y: peak.rate, Dx: -6, Dy: 4, Text: peak.name, Style: atEnd})
		}
	}
}
