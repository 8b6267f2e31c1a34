package reports

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"

	profiles "onebit/bench/profile"
	"onebit/bench/results"
)

// activityColors are the series that stand for activities.
var activityColors = [profiles.Activities]role{
	profiles.Quantize: seriesRole(1), profiles.Multiply: seriesRole(0), profiles.Other: seriesRole(2),
	profiles.Dispatch: seriesRole(3), profiles.Wait: seriesRole(4), profiles.Serial: seriesRole(7),
}

// threadFigure shows where each thread's time goes.
func threadFigure(t *profiles.Test) *figure {
	all := t.Activities(profiles.Filter{})
	if len(all) == 0 {
		return nil
	}
	var rows []string
	var totals []float64
	for i, activities := range all {
		sum := 0.0
		for _, a := range activities {
			sum += a.Center * 1e9
		}
		rows, totals = append(rows, fmt.Sprintf("thread %d", i)), append(totals, sum)
	}
	f := stackFigure(rows, totals, "time per "+t.Unit(), formatTime, func(i int) (parts []segment) {
		for a, v := range all[i] {
			parts = append(parts, segment{v.Center * 1e9, activityColors[a]})
		}
		return parts
	})
	idle := 0.0
	for _, activities := range all[1:] {
		idle += activities[profiles.Dispatch].Center + activities[profiles.Wait].Center + activities[profiles.Serial].Center
	}
	f.heading, f.reading = "What the threads do, "+t.String(), "One thread does everything."
	if n := len(all) - 1; n > 0 {
		f.reading = fmt.Sprintf("The threads beside the first have nothing to do for %s of a %s.", percent(idle/float64(n)/math.Max(totals[0]/1e9, 1e-12)), t.Unit())
	}
	for a := range profiles.Activities {
		f.legend = append(f.legend, square(a.String(), activityColors[a]))
	}
	return f
}

// stackFigure is a bar for each row, cut at its parts.
func stackFigure(rows []string, totals []float64, what string, format func(float64) string, parts func(i int) []segment) *figure {
	panel := newPanel("")
	axis := newAxis(append(slices.Clone(totals), 0), false, 8, format).fromZero()
	axis.max *= 1.12 // room for the values behind the bars
	axis.apply(&panel.X)
	panel.X.Label.Text = what
	nominalAxis(panel, rows, true)
	addGrid(panel, true, false)
	for i := range rows {
		row := rowAt(i, len(rows))
		end := addStack(panel, parts(i), row)
		panel.Add(behind{value: end, row: row, text: format(totals[i])})
	}
	return &figure{height: rowsHeight(len(rows), 1) + 16, panels: [][]*plot.Plot{{panel}}}
}

// ownerColors are the series that stand for owners of memory.
var ownerColors = []role{seriesRole(0), seriesRole(1), seriesRole(2), seriesRole(3), seriesRole(4), seriesRole(5), seriesRole(6), seriesRole(7), roleRest}

// phaseFigures show the owners by phase, and the resident memory over time.
func phaseFigures(m *profiles.Memory) []*figure {
	var rows []string
	var totals []float64
	for _, phase := range m.Phases {
		if phase.RSS > 0 {
			rows, totals = append(rows, "after "+phase.Name), append(totals, float64(phase.RSS))
		}
	}
	if len(rows) == 0 || len(rows) != len(m.Phases) {
		return nil
	}
	bytes := results.UnitOf(results.PackedBytes).Format
	f := stackFigure(rows, totals, "resident memory", bytes, func(i int) (parts []segment) {
		for o, owner := range profiles.Owners {
			parts = append(parts, segment{math.Max(0, float64(m.Phases[i].Part(owner).Resident)), ownerColors[o]})
		}
		return parts
	})
	f.heading, f.reading = "Resident memory by owner", fmt.Sprintf("%s at the end.", bytes(totals[len(totals)-1]))
	for o, owner := range profiles.Owners {
		f.legend = append(f.legend, square(owner, ownerColors[o]))
	}
	return []*figure{f, memoryOverTime(m)}
}

// memoryOverTime draws the looks; nil if there are none.
func memoryOverTime(m *profiles.Memory) *figure {
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
	panel := newPanel("")
	x := newAxis(append(times, 0), false, 8, formatTime).fromZero()
	x.apply(&panel.X)
	y := newAxis(append(sizes, 0), false, 6, results.UnitOf(results.PackedBytes).Format).fromZero()
	y.max *= 1.12
	y.apply(&panel.Y)
	panel.X.Label.Text = "since the model began to open"
	addGrid(panel, true, true)
	for _, phase := range m.Phases {
		at := float64(phase.End)
		panel.Add(polyline{points: [][2]float64{{at, y.min}, {at, y.max}}, color: inkOf(roleMuted), width: 1})
		style := textStyle(roleMuted)
		style.XAlign, style.YAlign = -1, -1
		panel.Add(note{x: at, y: y.max, dx: -4, dy: -2, text: phase.Name, style: style})
	}
	panel.Add(polyline{points: all, color: inkOf(seriesRole(0)), width: 1.8}, polyline{points: anon, color: inkOf(seriesRole(1)), width: 1.8})
	return &figure{
		heading: "Resident memory over time", reading: "Upright lines end the phases.", height: 260, panels: [][]*plot.Plot{{panel}},
		legend: []legendEntry{square("all", seriesRole(0)), square("without mapped files", seriesRole(1))},
	}
}

// operationRoofline places operations under the ceilings; nil if none reads and
// multiplies.
func operationRoofline(t *profiles.Test, ops []profiles.Operation, c *profiles.Ceilings) *figure {
	if len(c.Levels) == 0 {
		return nil
	}
	var labels []fanLabel
	var xs, ys []float64
	for _, o := range ops {
		if o.MACs == 0 || o.Bytes == 0 {
			continue
		}
		x, y := float64(o.MACs)/float64(o.Bytes), o.PerSecond(o.MACs)
		xs, ys = append(xs, x), append(ys, y)
		color := seriesRole(0)
		if o.Float {
			color = seriesRole(2)
		}
		labels = append(labels, fanLabel{x: x, y: y, group: o.Op, text: fmt.Sprintf("%s %.0f %%", o.Op, 100*o.OfBound()), color: inkOf(color)})
	}
	if len(labels) == 0 {
		return nil
	}
	roofs := []float64{c.Int8, c.Float32}
	x := newAxis(xs, true, 8, func(v float64) string { return fmt.Sprintf("%.3g", v) })
	x.min, x.max = x.min/4, x.max*4
	y := newAxis(append(append(ys, roofs...), c.Levels[len(c.Levels)-1].Rate*slices.Min(xs)), true, 6, results.UnitOf(results.OpRate).Format)
	y.max *= 1.6
	panel := newPanel("")
	x.apply(&panel.X)
	y.apply(&panel.Y)
	panel.X.Label.Text = "multiply-adds per byte of weights, keys and values"
	addGrid(panel, true, true)
	addCeilings(panel, x, y, c)
	for _, l := range labels {
		style := glyph(0, 4)
		style.Color = l.color
		panel.Add(mark{x: l.x, y: l.y, style: style})
	}
	panel.Add(fan{labels: labels, most: 9})
	return &figure{
		heading: "Roofline of operations, " + t.String(), reading: "Percentages are of the operation's bound, which may be dispatch.", height: 340,
		panels: [][]*plot.Plot{{panel}}, upward: []string{"multiply-adds per second"},
		legend: []legendEntry{square("in int8", seriesRole(0)), square("in float32", seriesRole(2))},
	}
}

// addCeilings draws the levels' slopes, as far as a peak, and the peaks.
func addCeilings(p *plot.Plot, x, y valueAxis, c *profiles.Ceilings) {
	top := math.Max(c.Int8, c.Float32)
	style, atEnd := textStyle(roleMuted), textStyle(roleMuted)
	atEnd.XAlign = -1
	for _, l := range c.Levels {
		from, to := math.Max(x.min, y.min/l.Rate), math.Min(x.max, top/l.Rate)
		if from < to {
			p.Add(polyline{points: [][2]float64{{from, from * l.Rate}, {to, to * l.Rate}}, color: inkOf(roleMuted), width: 1.2})
			p.Add(note{x: from, y: from * l.Rate, dx: 6, dy: -13, text: l.Name, style: style}) // below the line, which rises
		}
	}
	for _, peak := range []struct {
		name string
		rate float64
	}{{profiles.BoundInt8, c.Int8}, {profiles.BoundFloat32, c.Float32}} {
		if peak.rate > 0 {
			p.Add(polyline{points: [][2]float64{{x.min, peak.rate}, {x.max, peak.rate}}, color: inkOf(roleMuted), width: 1.2})
			p.Add(note{x: x.max, y: peak.rate, dx: -6, dy: 4, text: peak.name, style: atEnd})
		}
	}
}
