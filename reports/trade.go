package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"onebit/bench/results"
	"onebit/reports/figure"
)

// A tradePoint is what one variant makes of a condition: its speed, and what that costs.
type tradePoint struct {
	variant      string
	speed, error float64
	text         string  // what it is
	short        string  // what of that stands beside it, where colour and shape say the rest
	series       int     // its mark
	lo, hi       float64 // interval of error; equal where there is none
}

// A trade is a drawing of what speed costs: of points under each condition.
type trade struct {
	name, heading   string
	unit, speedUnit string
	cost            string // what unit measures, in a word
	shown           []panel
	points          map[panel][]tradePoint
	yardsticks      []figure.Yardstick
	legend          []figure.LegendEntry
	slow            []string // what is not drawn
	notes           []string
}

func newTrade(name, heading, unit, speedUnit string) *trade {
	return &trade{name: name, heading: heading, unit: unit, speedUnit: speedUnit, cost: unit, points: make(map[panel][]tradePoint)}
}

// add adds the points of a condition, without those that are too slow to matter.
func (t *trade) add(p panel, points []tradePoint) {
	fastest := 0.0
	for _, q := range points {
		fastest = math.Max(fastest, q.speed)
	}
	points = slices.DeleteFunc(points, func(q tradePoint) bool {
		slow := q.speed*farBelow < fastest
		if slow && !slices.Contains(t.slow, q.text) {
			t.slow = append(t.slow, q.text)
		}
		return slow
	})
	if len(points) > 0 {
		t.shown = append(t.shown, p)
		t.points[p] = points
	}
}

// hasIntervals reports whether the cost of any point has an interval.
func (t *trade) hasIntervals() bool {
	for _, points := range t.points {
		if slices.ContainsFunc(points, func(q tradePoint) bool { return q.hi > q.lo }) {
			return true
		}
	}
	return false
}

// speedAxis leaves room for the names right of their points.
func (t *trade) speedAxis() figure.Axis {
	var speeds []float64
	for _, points := range t.points {
		for _, q := range points {
			speeds = append(speeds, q.speed)
		}
	}
	a := figure.NewAxis(speeds, false, 4, results.UnitOf(t.speedUnit).Format)
	points := 1 / t.pointsShare() // of the axis
	if !a.Log {
		a.Max = a.Min + (a.Max-a.Min)*points
		return a.Bounded()
	}
	a.Max = a.Min * math.Pow(a.Max/a.Min, points)
	return a.Bounded()
}

// pointsShare is how much of a panel's width is left for points beside the longest of their names.
func (t *trade) pointsShare() float64 {
	const width = vg.Length(310) // of a panel on a phone, about: the labels of its axis are not known yet
	var widest vg.Length
	for _, points := range t.points {
		for _, q := range points {
			widest = max(widest, figure.TextStyle(figure.Ink).Width(figure.Label(q.short)))
		}
	}
	return math.Max(0.2, 1-float64((widest+30)/(width-t.margin())))
}

// margin is the room for the names of the yardsticks.
func (t *trade) margin() vg.Length {
	var widest vg.Length
	for _, k := range t.yardsticks {
		widest = max(widest, figure.TextStyle(figure.Muted).Width(k.Name))
	}
	return widest
}

// costAxis is logarithmic for errors.
func (t *trade) costAxis() figure.Axis {
	var costs []float64
	for _, points := range t.points {
		for _, q := range points {
			costs = append(costs, q.error, q.lo, q.hi)
		}
	}
	if t.unit != results.PeakRSS {
		for _, y := range t.yardsticks {
			costs = append(costs, y.Error)
		}
		return figure.NewErrorAxis(costs, t.unit)
	}
	a := figure.NewAxis(costs, false, 6, results.UnitOf(t.unit).Format)
	a.Binary = true
	return a
}

// tradeFigure draws a trade; nil if it has no points.
func tradeFigure(t *trade) *figure.Figure {
	if len(t.shown) == 0 {
		return nil
	}
	x, y := t.speedAxis(), t.costAxis()
	var drawn []*figure.Panel
	for _, p := range t.shown {
		drawn = append(drawn, t.panel(p, x, y))
	}
	grid := figure.Arrange(drawn, 2)
	fig := &figure.Figure{
		Name: t.name, Heading: figure.Label(t.heading), Reading: t.reading(),
		Height: figure.RowsHeight(12, len(grid)), Panels: grid, Upward: slices.Repeat([]string{"← less " + t.cost}, len(grid)),
		Legend: t.legend, Notes: t.notes, Margin: t.margin(),
	}
	if y.Broken > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("The axis of errors is broken: what is exact but for the rounding of float32 (%s ≤ %s) stands at its foot.",
			t.cost, results.UnitOf(t.unit).Format(figure.Negligible)))
	}
	if len(t.slow) > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("Not drawn where more than %d times slower than the fastest of the panel: %s.", farBelow, strings.Join(t.slow, "; ")))
	}
	return fig
}

func (t *trade) panel(p panel, x, y figure.Axis) *figure.Panel {
	plot := p.plot("").XY(x, y, results.UnitOf(t.speedUnit).About+", faster →")
	if y.Broken > 0 {
		plot.Add(figure.AxisBreak{Y: y.Broken})
	}
	for _, k := range t.yardsticks {
		plot.Add(figure.Polyline{Points: [][2]float64{{x.Min, k.Error}, {x.Max, k.Error}}, Color: figure.Color(figure.Muted), Width: 0.8, Dashes: figure.Dotted})
	}
	plot.Add(figure.LineNames(t.yardsticks))
	best := front(t.points[p])
	plot.Add(figure.Polyline{Points: frontSteps(best, x, y), Color: figure.Color(figure.Front), Width: 1.2, Dashes: figure.Dashed})
	var labels []figure.FanLabel
	for _, q := range t.points[p] {
		at, style := y.At(q.error), figure.Glyph(q.series, 4)
		if q.hi > q.lo {
			plot.Add(figure.UpInterval{X: q.speed, Lo: y.At(q.lo), Hi: y.At(q.hi), Color: style.Color})
		}
		plot.Add(figure.Mark{X: q.speed, Y: at, Style: style}, figure.PointSpot(q.speed, at, t.pointText(q)))
		labels = append(labels, figure.FanLabel{X: q.speed, Y: at, Group: q.text, Text: figure.Label(q.short), Color: style.Color})
	}
	for _, q := range best {
		plot.Add(figure.Mark{X: q.speed, Y: y.At(q.error), Style: draw.GlyphStyle{Color: figure.Color(figure.Front), Radius: 7.5, Shape: figure.Shape{}}})
	}
	plot.Add(figure.Fan{Labels: labels, Most: 16, Joined: true})
	return plot
}

// reading names the front of the last condition.
func (t *trade) reading() string {
	p := t.shown[len(t.shown)-1]
	var parts []string
	for _, q := range front(t.points[p]) {
		parts = append(parts, t.pointText(q))
	}
	return fmt.Sprintf("Front with %s, fastest first: %s.", conditions(p), strings.Join(parts, "; "))
}

func (t *trade) pointText(q tradePoint) string {
	return fmt.Sprintf("%s (%s, %s %s)", q.text, results.UnitOf(t.speedUnit).Format(q.speed), t.cost, results.UnitOf(t.unit).Format(q.error))
}

// meanError is the geometric mean, or zero if any error is zero: there the kernel is exact.
func meanError(errors []float64) float64 {
	mean, ok := geomean(errors)
	if !ok {
		return 0
	}
	return mean
}

// sameError is the relative difference below which two errors count as one: variants of a scheme add
// the same products in another order, and a slower one is not on the front for its last bits.
const sameError = 0.01

// front returns the points that no other point beats, fastest first.
func front(points []tradePoint) []tradePoint {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b tradePoint) int {
		return cmp.Or(cmp.Compare(b.speed, a.speed), cmp.Compare(a.error, b.error))
	})
	var best []tradePoint
	for _, q := range sorted {
		if len(best) == 0 || figure.DrawnError(q.error) < figure.DrawnError(best[len(best)-1].error)*(1-sameError) {
			best = append(best, q)
		}
	}
	return best
}

// frontSteps is the border of what the front beats: everything left of and above it.
func frontSteps(best []tradePoint, x, y figure.Axis) [][2]float64 {
	steps := [][2]float64{{best[0].speed, y.Max}}
	for i, q := range best {
		steps = append(steps, [2]float64{q.speed, y.At(q.error)})
		next := x.Min
		if i+1 < len(best) {
			next = best[i+1].speed
		}
		steps = append(steps, [2]float64{next, y.At(q.error)})
	}
	return steps
}

// fastestOfEach keeps of the points that share a group and an error the fastest.
func fastestOfEach(points []tradePoint, group func(tradePoint) string) []tradePoint {
	slices.SortStableFunc(points, func(a, b tradePoint) int { return cmp.Compare(b.speed, a.speed) })
	var kept []tradePoint
	for _, q := range points {
		same := func(k tradePoint) bool {
			a, b := figure.DrawnError(k.error), figure.DrawnError(q.error)
			return group(k) == group(q) && math.Abs(a-b) <= sameError*math.Max(a, b)
		}
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, q)
		}
	}
	return kept
}
