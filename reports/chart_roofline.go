package reports

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"onebit/bench"
)

func init() {
	registerChart(chart{
		order: 20, name: "roofline", heading: "Roofline",
		about: "Across: multiply-adds per byte of packed weights, a property of the format and its layout. Each point is a variant's multiply-adds per " +
			"second, as the geometric mean over shapes. The slanted line is the memory roof: the read bandwidth measured in this run under the same " +
			"condition, its band the range over footprints. A point on the line reads weights as fast as this machine can; " +
			"a point far below it is limited by computing. Formats of the same intensity stand side by side.",
		figures: rooflineFigures,
	})
}

// A rooflinePoint is one contender of one format under one condition.
type rooflinePoint struct {
	format, contender string
	intensity, speed  float64
}

func rooflineFigures(d *digest) []*figure {
	var cases []*caseStats
	for _, t := range d.tasks {
		if t.ops > 0 {
			cases = append(cases, t.cases...)
		}
	}
	byPanel := make(map[panel][]rooflinePoint)
	var intensities, speeds []float64
	var shown []panel
	for _, p := range panels(cases) {
		points := d.rooflinePoints(p)
		if len(points) == 0 {
			continue
		}
		byPanel[p] = points
		shown = append(shown, p)
		for _, q := range points {
			intensities, speeds = append(intensities, q.intensity), append(speeds, q.speed)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	formats := rooflineFormats(byPanel)
	intensities = append(intensities, slices.Max(intensities)*1.6, slices.Min(intensities)/1.6)
	x := newAxis(intensities, true, 10, func(v float64) string { return fmt.Sprintf("%.3g", v) })
	for _, p := range shown {
		if roof := d.roof(p); roof.any {
			speeds = append(speeds, roof.hi*x.max) // so that no roof leaves its panel at the top
		}
	}
	y := newAxis(speeds, true, 6, bench.UnitOf(bench.OpRate).Format)
	var drawn []*plot.Plot
	for _, p := range shown {
		drawn = append(drawn, d.rooflinePanel(p, byPanel[p], formats, x, y))
	}
	grid := arrange(drawn, 2)
	f := &figure{
		name: "roofline", heading: "Roofline", reading: d.rooflineReading(shown, byPanel),
		height: vg.Length(300 * len(grid)), panels: grid,
		upward: slices.Repeat([]string{"multiply-adds per second"}, len(grid)),
	}
	for i, name := range formats {
		f.legend = append(f.legend, legendEntry{label(name), glyph(i, 4)})
	}
	return []*figure{f}
}

func (d *digest) rooflinePoints(p panel) []rooflinePoint {
	var points []rooflinePoint
	for _, f := range d.families() {
		for _, name := range contenders(f.cases) {
			var speeds, intensities []float64
			for _, t := range f.tasks {
				for _, c := range in(p, t.cases) {
					speed, ok := t.speed(c)
					bytes, packed := t.bytesPerWeight(c)
					if ok && packed && c.contender == name {
						speeds, intensities = append(speeds, speed), append(intensities, 1/bytes)
					}
				}
			}
			speed, ok := geomean(speeds)
			intensity, ok2 := geomean(intensities)
			if ok && ok2 {
				points = append(points, rooflinePoint{f.title(), name, intensity, speed})
			}
		}
	}
	return points
}

func rooflineFormats(points map[panel][]rooflinePoint) []string {
	var formats []string
	for _, list := range points {
		for _, q := range list {
			formats = append(formats, q.format)
		}
	}
	slices.SortFunc(formats, naturalCompare)
	return slices.Compact(formats)
}

// roof returns the read bandwidth measured under a condition, in bytes per second, over footprints.
func (d *digest) roof(p panel) extent {
	var e extent
	for _, c := range d.cases {
		if c.panel == p {
			e.add(c.center(bench.ReadRate))
		}
	}
	return e
}

func (d *digest) rooflinePanel(p panel, points []rooflinePoint, formats []string, x, y valueAxis) *plot.Plot {
	plot := newPanel(p.String())
	x.apply(&plot.X)
	y.apply(&plot.Y)
	plot.X.Label.Text = "multiply-adds per byte of weights"
	addGrid(plot, true, true)
	if roof := d.roof(p); roof.any && roof.lo > 0 {
		addRoof(plot, roof, x, y)
	}
	for i, format := range formats {
		var column [][2]float64
		for _, q := range points {
			if q.format == format {
				// Formats of the same intensity stand side by side.
				column = append(column, [2]float64{q.intensity * dodge(i, len(formats)), q.speed})
			}
		}
		for _, q := range column {
			plot.Add(mark{x: q[0], y: q[1], style: glyph(i, 3.5)})
		}
	}
	return plot
}

func dodge(i, n int) float64 { return math.Pow(1.07, float64(i)-float64(n-1)/2) }

func addRoof(p *plot.Plot, roof extent, x, y valueAxis) {
	clip := func(bandwidth float64) (lo, hi float64) {
		return math.Max(x.min, y.min/bandwidth), math.Min(x.max, y.max/bandwidth)
	}
	if roof.hi > roof.lo {
		lo, hi := clip(roof.lo)
		top, right := clip(roof.hi)
		band, err := plotter.NewPolygon(plotter.XYs{
			{X: lo, Y: roof.lo * lo}, {X: hi, Y: roof.lo * hi}, {X: right, Y: roof.hi * right}, {X: top, Y: roof.hi * top},
		})
		if err == nil { // else the band is outside the panel
			band.Color = inkOf(roleBand)
			band.LineStyle.Width = 0
			p.Add(band)
		}
	}
	middle := math.Sqrt(roof.lo * roof.hi)
	lo, hi := clip(middle)
	p.Add(polyline{points: [][2]float64{{lo, middle * lo}, {hi, middle * hi}}, color: inkOf(roleFront), width: 1.4})
	style := textStyle(roleFront)
	style.YAlign, style.XAlign = draw.YTop, draw.XLeft
	at := lo * math.Pow(hi/lo, 0.04)
	p.Add(note{x: at, y: y.max, dx: 0, dy: -2, style: style, text: "read " + bench.UnitOf(bench.ReadRate).Format(middle)})
}

// rooflineReading names the point that comes closest to its roof.
func (d *digest) rooflineReading(shown []panel, points map[panel][]rooflinePoint) string {
	text, closest := "No read bandwidth was measured, so no roof is drawn.", 0.0
	for _, p := range shown {
		roof := d.roof(p)
		if !roof.any || roof.lo <= 0 {
			continue
		}
		for _, q := range points[p] {
			share := q.speed / q.intensity / math.Sqrt(roof.lo*roof.hi)
			if share > closest {
				closest = share
				text = fmt.Sprintf("Closest to its roof: %s %s with %s, at %.0f %% of the read bandwidth.",
					q.format, q.contender, conditions(p), 100*share)
			}
		}
	}
	return text
}
