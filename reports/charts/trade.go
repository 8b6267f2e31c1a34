package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"gonum.org/v1/plot/vg"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// FarBelow is how many times slower than the fastest a variant is no longer drawn.
const FarBelow = 20

// A Point is what one variant makes of a condition: its speed, and what that costs.
type Point struct {
	Variant      string
	Speed, Error float64
	Text         string  // what it is
	Short        string  // what of that stands beside it, where colour and shape say the rest
	Series       int     // its mark
	Lo, Hi       float64 // interval of error; equal where there is none
}

// A Trade is a drawing of what speed costs: of points under each condition.
type Trade struct {
	name, heading   string
	Unit, speedUnit string
	Cost            string // what unit measures, in a word
	Shown           []digest.Panel
	Points          map[digest.Panel][]Point
	Yardsticks      []figure.Yardstick
	Lead            digest.Panel // the condition that decides
	slow            []string     // what is not drawn
	Notes           []string
}

func NewTrade(name, heading, unit, speedUnit string) *Trade {
	return &Trade{name: name, heading: heading, Unit: unit, speedUnit: speedUnit, Cost: unit, Points: make(map[digest.Panel][]Point)}
}

// Add adds the points of a condition, without those that are too slow to matter.
func (t *Trade) Add(p digest.Panel, points []Point) {
	fastest := 0.0
	for _, q := range points {
		fastest = math.Max(fastest, q.Speed)
	}
	points = slices.DeleteFunc(points, func(q Point) bool {
		slow := q.Speed*FarBelow < fastest
		if name := digest.VariantOf(q.Variant); slow && !slices.Contains(t.slow, name) {
			t.slow = append(t.slow, name)
		}
		return slow
	})
	if len(points) > 0 {
		t.Shown = append(t.Shown, p)
		t.Points[p] = points
	}
}

// HasIntervals reports whether the cost of any point has an interval.
func (t *Trade) HasIntervals() bool {
	for _, points := range t.Points {
		if slices.ContainsFunc(points, func(q Point) bool { return q.Hi > q.Lo }) {
			return true
		}
	}
	return false
}

// speedAxis is that of a condition: a cache makes others many times faster. It leaves room for the names right of their
// points.
func (t *Trade) speedAxis(p digest.Panel) figure.Axis {
	var speeds []float64
	for _, q := range t.Points[p] {
		speeds = append(speeds, q.Speed)
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
func (t *Trade) pointsShare() float64 {
	const width = vg.Length(310) // of a panel on a phone, about: the labels of its axis are not known yet
	var widest vg.Length
	for _, points := range t.Points {
		for _, q := range points {
			widest = max(widest, figure.TextStyle(figure.Ink).Width(figure.Label(q.Short)))
		}
	}
	return math.Max(0.2, 1-float64((widest+30)/(width-t.margin())))
}

// margin is the room for the names of the yardsticks.
func (t *Trade) margin() vg.Length {
	var widest vg.Length
	for _, k := range t.Yardsticks {
		widest = max(widest, figure.TextStyle(figure.Muted).Width(k.Name))
	}
	return widest
}

// costAxis is logarithmic for errors.
func (t *Trade) costAxis() figure.Axis {
	var costs []float64
	for _, points := range t.Points {
		for _, q := range points {
			costs = append(costs, q.Error, q.Lo, q.Hi)
		}
	}
	if t.Unit != results.PeakRSS {
		for _, y := range t.Yardsticks {
			costs = append(costs, y.Error)
		}
		return figure.NewErrorAxis(costs, t.Unit)
	}
	a := figure.NewAxis(costs, false, 6, results.UnitOf(t.Unit).Format)
	a.Binary = true
	return a
}

// Draw draws a trade; nil if it has no points.
func Draw(t *Trade) *figure.Figure {
	if len(t.Shown) == 0 {
		return nil
	}
	y := t.costAxis()
	var drawn []*figure.Panel
	for _, p := range t.Shown {
		drawn = append(drawn, t.panel(p, t.speedAxis(p), y))
	}
	grid := figure.Arrange(drawn, 2)
	fig := &figure.Figure{
		Name: t.name, Heading: figure.Label(t.heading), Reading: t.reading(),
		Height: figure.RowsHeight(12, len(grid)), Panels: grid, Upward: slices.Repeat([]string{"← less " + t.Cost}, len(grid)),
		Notes: t.Notes, Margin: t.margin(),
	}
	if y.Broken > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("The axis of errors is broken: what is exact but for the rounding of float32 (%s ≤ %s) stands at its foot.",
			t.Cost, results.UnitOf(t.Unit).Format(figure.Negligible)))
	}
	if len(t.slow) > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("Not drawn where more than %d times slower than the fastest: %s.", FarBelow, strings.Join(t.slow, ", ")))
	}
	return fig
}

func (t *Trade) panel(p digest.Panel, x, y figure.Axis) *figure.Panel {
	plot := p.Plot("").XY(x, y, results.UnitOf(t.speedUnit).About+", faster →")
	if y.Broken > 0 {
		plot.Add(figure.AxisBreak{Y: y.Broken})
	}
	for _, k := range t.Yardsticks {
		plot.Add(figure.Polyline{Points: [][2]float64{{x.Min, k.Error}, {x.Max, k.Error}}, Color: figure.Color(figure.Muted), Width: 0.8, Dashes: figure.Dotted})
	}
	plot.Add(figure.LineNames(t.Yardsticks))
	best := front(t.Points[p])
	plot.Add(figure.Polyline{Points: frontSteps(best, x, y), Color: figure.Color(figure.Front), Width: 1.2, Dashes: figure.Dashed})
	var labels []figure.FanLabel
	for _, q := range t.Points[p] {
		at, style := y.At(q.Error), figure.Glyph(q.Series, 4)
		if q.Hi > q.Lo {
			plot.Add(figure.UpInterval{X: q.Speed, Lo: y.At(q.Lo), Hi: y.At(q.Hi), Color: style.Color})
		}
		plot.Add(figure.Mark{X: q.Speed, Y: at, Style: style}, figure.PointSpot(q.Speed, at, t.pointText(q)))
		labels = append(labels, figure.FanLabel{X: q.Speed, Y: at, Group: q.Text, Text: figure.Label(q.Short), Color: style.Color})
	}
	for _, q := range best {
		plot.Add(figure.Mark{X: q.Speed, Y: y.At(q.Error), Style: draw.GlyphStyle{Color: figure.Color(figure.Front), Radius: 7.5, Shape: figure.Shape{}}})
	}
	plot.Add(figure.Fan{Labels: labels, Most: 16, Joined: true})
	return plot
}

// reading names the front of the condition that decides.
func (t *Trade) reading() string {
	p := t.Lead
	var parts []string
	for _, q := range front(t.Points[p]) {
		parts = append(parts, t.pointText(q))
	}
	return fmt.Sprintf("Front with %s, fastest first: %s.", digest.Conditions(p), strings.Join(parts, "; "))
}

func (t *Trade) pointText(q Point) string {
	return fmt.Sprintf("%s (%s, %s %s)", q.Text, results.UnitOf(t.speedUnit).Format(q.Speed), t.Cost, results.UnitOf(t.Unit).Format(q.Error))
}

// MeanError is the geometric mean, or zero if any error is zero: there the kernel is exact.
func MeanError(errors []float64) float64 {
	mean, ok := words.Geomean(errors)
	if !ok {
		return 0
	}
	return mean
}

// SameError is the relative difference below which two errors count as one: variants of a scheme add
// the same products in another order, and a slower one is not on the front for its last bits.
const SameError = 0.01

// front returns the points that no other point beats, fastest first.
func front(points []Point) []Point {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b Point) int {
		return cmp.Or(cmp.Compare(b.Speed, a.Speed), cmp.Compare(a.Error, b.Error))
	})
	var best []Point
	for _, q := range sorted {
		if len(best) == 0 || figure.DrawnError(q.Error) < figure.DrawnError(best[len(best)-1].Error)*(1-SameError) {
			best = append(best, q)
		}
	}
	return best
}

// frontSteps is the border of what the front beats: everything left of and above it.
func frontSteps(best []Point, x, y figure.Axis) [][2]float64 {
	steps := [][2]float64{{best[0].Speed, y.Max}}
	for i, q := range best {
		steps = append(steps, [2]float64{q.Speed, y.At(q.Error)})
		next := x.Min
		if i+1 < len(best) {
			next = best[i+1].Speed
		}
		steps = append(steps, [2]float64{next, y.At(q.Error)})
	}
	return steps
}

// FastestOfEach keeps of the points that share a group and an error the fastest.
func FastestOfEach(points []Point, group func(Point) string) []Point {
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(b.Speed, a.Speed) })
	var kept []Point
	for _, q := range points {
		same := func(k Point) bool {
			a, b := figure.DrawnError(k.Error), figure.DrawnError(q.Error)
			return group(k) == group(q) && math.Abs(a-b) <= SameError*math.Max(a, b)
		}
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, q)
		}
	}
	return kept
}
