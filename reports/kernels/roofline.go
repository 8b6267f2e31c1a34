package kernels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"

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
	drawings.Add(charts.Chart[report]{
		Order: 20, Name: "roofline", Heading: "Roofline",
		About:   "Up is faster. A slanted stroke is what reading the weights alone allows: points near theirs wait for memory, and points far below compute. Those that nothing beats have names.",
		Figures: rooflineFigures,
	})
}

// A rooflinePoint is one case that multiplies.
type rooflinePoint struct {
	format, variant  string
	intensity, speed float64
	roof, share      float64 // bytes per second, and what of it the case reads in per cent; 0 where none was measured
}

// mostRooflines bounds the figures: shapes of a format have about the same intensity.
const mostRooflines = 6

// rooflineFigures draws each shape's products, the largest first: its weights are the likeliest to come
// from memory.
func rooflineFigures(d report) []*figure.Figure {
	var shapes []string
	largest := make(map[string]float64)
	for _, t := range d.Tasks {
		if t.Ops > 0 && t.Base == names.BaseMatVec {
			if largest[t.Shape] == 0 {
				shapes = append(shapes, t.Shape)
			}
			largest[t.Shape] = t.Ops
		}
	}
	slices.SortStableFunc(shapes, func(a, b string) int {
		return cmp.Or(cmp.Compare(largest[b], largest[a]), words.Compare(a, b))
	})
	var figures []*figure.Figure
	roofs := d.readRoofs()
	shown := figure.SpreadOver(shapes, mostRooflines)
	for _, shape := range shown {
		if f := d.rooflineFigure(shape, roofs); f != nil {
			if f.Folded = len(figures) > 0; !f.Folded && len(shown) < len(shapes) {
				f.Notes = append(f.Notes, notAllDrawn(len(shown), len(shapes)))
			}
			figures = append(figures, f)
		}
	}
	return figures
}

// A roofline is the points of one shape.
type roofline struct {
	shown  []digest.Panel
	points map[digest.Panel][]rooflinePoint
	slow   []string // variants that are not drawn
}

func (d report) newRoofline(shape string, roofs map[readKey]float64) *roofline {
	r := &roofline{points: make(map[digest.Panel][]rooflinePoint)}
	tasks := slices.DeleteFunc(slices.Clone(d.Tasks), func(t *digest.Task) bool { return t.Shape != shape || t.Base != names.BaseMatVec })
	var cases []*digest.Case
	for _, t := range tasks {
		cases = append(cases, t.Cases...)
	}
	for _, p := range digest.Panels(cases) {
		var points []rooflinePoint
		for _, t := range tasks {
			points = append(points, rooflinePoints(t, p, roofs)...)
		}
		fastest := 0.0
		for _, q := range points {
			fastest = math.Max(fastest, q.speed)
		}
		points = slices.DeleteFunc(points, func(q rooflinePoint) bool {
			if q.speed*charts.FarBelow < fastest {
				r.slow = append(r.slow, q.variant)
				return true
			}
			return false
		})
		if len(points) > 0 {
			r.shown, r.points[p] = append(r.shown, p), points
		}
	}
	slices.SortFunc(r.slow, words.Compare)
	r.slow = slices.Compact(r.slow)
	return r
}

// onFront reports whether no other point is faster that reads as few bytes for a multiply-add, or fewer.
func onFront(q rooflinePoint, points []rooflinePoint) bool {
	return !slices.ContainsFunc(points, func(o rooflinePoint) bool {
		return o.speed > q.speed && o.intensity >= q.intensity*(1-charts.SameError)
	})
}

// rooflinePoints makes a point of each variant of a task under a condition.
func rooflinePoints(t *digest.Task, p digest.Panel, roofs map[readKey]float64) []rooflinePoint {
	var points []rooflinePoint
	for _, c := range digest.In(p, t.Cases) {
		speed, ok := t.Speed(c)
		bytes, packed := t.BytesPerWeight(c)
		if !ok || !packed {
			continue
		}
		q := rooflinePoint{format: cmp.Or(t.Subject, t.Base), variant: c.Variant, intensity: 1 / bytes, speed: speed}
		roof, known := roofs[readKeyOf(c, fmt.Sprintf("%.0f", bytes*t.Ops))]
		if !known {
			roof = roofs[readKeyOf(c, "")]
		}
		if share, ok := c.Center(results.PctRoof); ok && share > 0 && roof > 0 {
			q.roof, q.share = roof, share
			q.speed = share / 100 * roof * q.intensity
		}
		points = append(points, q)
	}
	return points
}

// A readKey is what a product shares with the case that reads as many bytes; bytes is "" where the name
// of that case does not say.
type readKey struct {
	panel                     digest.Panel
	format, rows, cols, bytes string
}

func readKeyOf(c *digest.Case, bytes string) readKey {
	return readKey{c.Panel, c.Name.Get(names.Format), c.Name.Get(names.Rows), c.Name.Get(names.Cols), bytes}
}

// readRoofs are the bandwidths of the cases that only read.
func (d report) readRoofs() map[readKey]float64 {
	roofs := make(map[readKey]float64)
	for _, c := range d.Cases {
		if rate, ok := c.Center(results.ReadRate); ok && c.Name.Base == names.BaseRead {
			roofs[readKeyOf(c, c.Name.Get(names.Bytes))] = rate
		}
	}
	return roofs
}

func (d report) rooflineFigure(shape string, roofs map[readKey]float64) *figure.Figure {
	r := d.newRoofline(shape, roofs)
	if len(r.shown) == 0 {
		return nil
	}
	var intensities, speeds []float64
	for _, points := range r.points {
		for _, q := range points {
			intensities = append(intensities, q.intensity)
			speeds = append(speeds, q.speed)
			if q.roof > 0 {
				speeds = append(speeds, q.roof*q.intensity*roofReach)
			}
		}
	}
	x := figure.NewAxis(intensities, true, 6, func(v float64) string { return fmt.Sprintf("%.3g", v) })
	room := math.Max(2.4, x.Max/x.Min) // for the labels
	x.Min, x.Max = x.Min/room, x.Max*room
	y := figure.NewAxis(speeds, true, 6, results.UnitOf(results.OpRate).Format)
	y.Max *= 1.25 // and for those of the roofs
	var drawn []*figure.Panel
	for _, p := range r.shown {
		drawn = append(drawn, rooflinePanel(p.Plot(shape).XY(x, y, "multiply-adds per byte of weights"), r.points[p]))
	}
	grid := figure.Arrange(drawn, 2)
	return &figure.Figure{
		Name: term.FileName("roofline", shape), Heading: figure.Label("Roofline, " + shape), Reading: r.reading(),
		Height: vg.Length(320 * len(grid)), Panels: grid, Notes: r.notes(),
		Upward: slices.Repeat([]string{"multiply-adds per second"}, len(grid)),
	}
}

// roofReach is how far a stroke of roof reaches right and left of its points, as a factor.
const roofReach = 1.1

// rooflinePanel names the points of the front; the others are grey.
func rooflinePanel(p *figure.Panel, points []rooflinePoint) *figure.Panel {
	var labels []figure.FanLabel
	var bandwidths digest.Extent
	for _, q := range points {
		series := figure.FormatMark(q.format)
		style := figure.Glyph(series, 4)
		front := onFront(q, points)
		if !front {
			style.Color, style.Radius = figure.Color(figure.Muted), 2.5
		}
		text := figure.Label(q.format + " " + q.variant)
		if q.share > 0 {
			text += fmt.Sprintf(" %.0f %%", q.share)
		}
		if q.roof > 0 && front {
			at := func(factor float64) [2]float64 {
				return [2]float64{q.intensity * factor, q.roof * q.intensity * factor}
			}
			p.Add(figure.Polyline{Points: [][2]float64{at(1 / roofReach), at(roofReach)}, Color: style.Color, Width: 1.8})
		}
		bandwidths.Add(q.roof, q.roof > 0)
		p.Add(figure.Mark{X: q.intensity, Y: q.speed, Style: style}, figure.PointSpot(q.intensity, q.speed, text+", "+results.UnitOf(results.OpRate).Format(q.speed)))
		if front {
			labels = append(labels, figure.FanLabel{X: q.intensity, Y: q.speed, Group: q.format, Text: text, Color: style.Color})
		}
	}
	p.Add(figure.Fan{Labels: labels, Most: 9})
	if bandwidths.Any {
		style := figure.TextStyle(figure.Muted)
		style.YAlign = draw.YTop
		p.Add(figure.Note{X: p.X.Min, Y: p.Y.Max, Dx: 6, Dy: -2, Style: style, Text: "roofs: reading at " + bandwidths.Text(results.UnitOf(results.ReadRate).Format)})
	}
	return p
}

// reading names the point that comes closest to its roof.
func (r *roofline) reading() string {
	text, closest := "No read bandwidth was measured, so no roof is drawn.", 0.0
	for _, p := range r.shown {
		for _, q := range r.points[p] {
			if q.share > closest {
				closest = q.share
				text = fmt.Sprintf("Closest to its roof: %s %s with %s, at %.0f %% of it.", q.format, q.variant, digest.Conditions(p), q.share)
			}
		}
	}
	return text
}

func (r *roofline) notes() []string {
	var notes []string
	if len(r.slow) > 0 {
		notes = append(notes, fmt.Sprintf("Not drawn where more than %d times slower than the fastest: %s.", charts.FarBelow, strings.Join(r.slow, ", ")))
	}
	for _, p := range r.shown {
		if slices.ContainsFunc(r.points[p], func(q rooflinePoint) bool { return q.share > 100 }) {
			return append(notes, "More than 100 % of the roof: the product read its weights faster than the case that only reads them. The difference is noise, "+
				"or the read was disturbed: the roof is the best reading loop of this program, no limit of physics.")
		}
	}
	return notes
}
