package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"onebit/bench/results"
)

// A tradeoff is one contender's speed and error under one condition.
type tradeoff struct {
	contender    string
	speed, error float64
}

// A tradePoint is a tradeoff to be drawn.
type tradePoint struct {
	tradeoff
	text   string  // what it is
	short  string  // what of that stands beside it, where colour and shape say the rest
	brief  string  // what of that is left on a phone; "" for all of it
	series int     // its mark
	lo, hi float64 // interval of error; equal where there is none
}

// A trade is a drawing of what speed costs: of points under each condition.
type trade struct {
	name, heading   string
	unit, speedUnit string
	cost            string // what unit measures, in a word
	shown           []panel
	points          map[panel][]tradePoint
	yardsticks      []yardstick
	legend          []legendEntry
	slow            []string // what is not drawn
	narrow          bool     // whether the figure is for a phone too
	notes           []string
}

// A yardstick is an error to measure others by.
type yardstick struct {
	name  string
	error float64
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
func (t *trade) speedAxis() valueAxis {
	var speeds []float64
	for _, points := range t.points {
		for _, q := range points {
			speeds = append(speeds, q.speed)
		}
	}
	a := newAxis(speeds, false, 5, results.UnitOf(t.speedUnit).Format)
	if t.narrow {
		a.labels = 3
	}
	points := 1 / t.pointsShare() // of the axis
	if !a.log {
		a = a.fromZero()
		a.max *= points
		return a.bounded()
	}
	a.max = a.min * math.Pow(a.max/a.min, points)
	return a.bounded()
}

// pointsShare is how much of a panel's width is left for points beside the longest of their names.
func (t *trade) pointsShare() float64 {
	width := vg.Length(330) // of a panel, about: the labels of its axis are not known yet
	if t.narrow {
		width = 310
	}
	var widest vg.Length
	for _, points := range t.points {
		for _, q := range points {
			widest = max(widest, textStyle(roleInk).Width(t.nameOf(q)))
		}
	}
	return math.Max(0.2, 1-float64((widest+30)/(width-t.margin())))
}

// nameOf is what stands beside a point.
func (t *trade) nameOf(q tradePoint) string {
	if t.narrow {
		return label(cmp.Or(q.brief, q.short))
	}
	return label(q.short)
}

// margin is the room for the names of the yardsticks.
func (t *trade) margin() vg.Length {
	var widest vg.Length
	for _, k := range t.yardsticks {
		widest = max(widest, textStyle(roleMuted).Width(k.name))
	}
	return widest
}

// costAxis is logarithmic for errors, and begins at zero for memory.
func (t *trade) costAxis() valueAxis {
	var costs []float64
	for _, points := range t.points {
		for _, q := range points {
			costs = append(costs, q.error, q.lo, q.hi)
		}
	}
	if t.unit != results.PeakRSS {
		for _, y := range t.yardsticks {
			costs = append(costs, y.error)
		}
		return errorAxis(costs, t.unit)
	}
	a := newAxis(append(costs, 0), false, 6, results.UnitOf(t.unit).Format).fromZero()
	a.max *= 1.15
	a.binary = true
	return a
}

// tradeFigure draws a trade; nil if it has no points.
func tradeFigure(t *trade) *figure {
	if len(t.shown) == 0 {
		return nil
	}
	x, y := t.speedAxis(), t.costAxis()
	var drawn []*plot.Plot
	for _, p := range t.shown {
		drawn = append(drawn, t.panel(p, x, y))
	}
	grid := arrange(drawn, 2)
	fig := &figure{
		name: t.name, heading: label(t.heading), reading: t.reading(),
		height: rowsHeight(12, len(grid)), panels: grid, upward: slices.Repeat([]string{t.cost}, len(grid)),
		legend: t.legend, notes: t.notes, margin: t.margin(),
	}
	if t.narrow {
		fig.width, fig.height = narrowWidth, 330
	}
	if y.broken > 0 {
		fig.notes = append(fig.notes, fmt.Sprintf("The axis of errors is broken: what is exact but for the rounding of float32 (%s ≤ %s) stands at its foot.",
			t.cost, results.UnitOf(t.unit).Format(negligible)))
	}
	if len(t.slow) > 0 {
		fig.notes = append(fig.notes, fmt.Sprintf("Not drawn where more than %d times slower than the fastest of the panel: %s.", farBelow, strings.Join(t.slow, "; ")))
	}
	return fig
}

func (t *trade) panel(p panel, x, y valueAxis) *plot.Plot {
	plot := newPanel(p.String())
	if t.narrow {
		plot.Title.Text = "" // the heading says it
	}
	x.apply(&plot.X)
	y.apply(&plot.Y)
	plot.X.Label.Text = results.UnitOf(t.speedUnit).About
	addGrid(plot, true, true)
	if y.broken > 0 {
		plot.Add(axisBreak{y.broken})
	}
	for _, k := range t.yardsticks {
		plot.Add(polyline{points: [][2]float64{{x.min, k.error}, {x.max, k.error}}, color: inkOf(roleMuted), width: 0.8, dashes: dotted})
	}
	plot.Add(lineNames(t.yardsticks))
	best := front(t.points[p])
	plot.Add(polyline{points: frontSteps(best, x, y), color: inkOf(roleFront), width: 1.2, dashes: dashed})
	var labels []fanLabel
	for _, q := range t.points[p] {
		at, style := y.errorAt(q.error), glyph(q.series, 4)
		if q.hi > q.lo {
			plot.Add(upInterval{x: q.speed, lo: y.errorAt(q.lo), hi: y.errorAt(q.hi), color: style.Color})
		}
		plot.Add(mark{x: q.speed, y: at, style: style})
		labels = append(labels, fanLabel{x: q.speed, y: at, group: q.text, text: t.nameOf(q), color: style.Color})
	}
	for _, q := range best {
		plot.Add(mark{x: q.speed, y: y.errorAt(q.error), style: draw.GlyphStyle{Color: inkOf(roleFront), Radius: 7.5, Shape: shape{}}})
	}
	plot.Add(fan{labels: labels, most: 16, joined: true})
	return plot
}

// reading names the front of the last condition.
func (t *trade) reading() string {
	p := t.shown[len(t.shown)-1]
	var parts []string
	for _, q := range front(t.points[p]) {
		parts = append(parts, fmt.Sprintf("%s (%s, %s %s)", q.text, results.UnitOf(t.speedUnit).Format(q.speed), t.cost, results.UnitOf(t.unit).Format(q.error)))
	}
	return fmt.Sprintf("Front with %s, fastest first: %s.", conditions(p), strings.Join(parts, "; "))
}

// meanError is the geometric mean, or zero if any error is zero: there the kernel is exact.
func meanError(errors []float64) float64 {
	mean, ok := geomean(errors)
	if !ok {
		return 0
	}
	return mean
}

// negligible is the error below which variants count as equally accurate: what float32 rounding
// leaves. Errors below it, zero included, are drawn on this line.
const negligible = 1e-9

// drawnError is an error as it counts in comparisons; not a number if it is none.
func drawnError(e float64) float64 { return math.Max(e, negligible) }

// breakFrom is how many times the negligible error the least of the others is from which on the axis
// between them is left out: empty decades would squeeze what is to be compared.
const breakFrom = 100

// errorAxis is logarithmic. Where nothing stands between errors that are negligible and all others, it is
// broken: the former stand at its foot.
func errorAxis(errors []float64, unit string) valueAxis {
	var drawn []float64
	for _, e := range errors {
		if e > negligible {
			drawn = append(drawn, e)
		}
	}
	exact := len(drawn) < len(errors)
	foot := negligible
	broken := exact && len(drawn) > 0 && slices.Min(drawn) > breakFrom*negligible
	if broken {
		foot = slices.Min(drawn) / math.Max(4, math.Pow(slices.Max(drawn)/slices.Min(drawn), 0.3))
	}
	if exact {
		drawn = append(drawn, foot)
	}
	a := newAxis(drawn, true, 6, func(v float64) string {
		if isNear(v, foot) && exact {
			return "≤ " + errorText(negligible, unit)
		}
		return errorText(v, unit)
	})
	if exact {
		a.floor = foot
	}
	if broken {
		a.broken = 2 * foot
	}
	// A single value, or values close together, still need a readable axis.
	a.min, a.max = a.min/2, a.max*2
	return a
}

// errorAt is where an error stands on an axis from errorAxis; not a number if it is none.
func (a valueAxis) errorAt(e float64) float64 {
	if a.broken > 0 && e <= negligible {
		return a.floor
	}
	return drawnError(e)
}

// errorText is an error and, if it is one of power, as a signal-to-noise ratio in dB.
func errorText(e float64, unit string) string {
	text := results.UnitOf(unit).Format(e)
	if unit == results.NMSE && e > 0 {
		text += fmt.Sprintf(", %.0f dB", -10*math.Log10(e))
	}
	return text
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
		if len(best) == 0 || drawnError(q.error) < drawnError(best[len(best)-1].error)*(1-sameError) {
			best = append(best, q)
		}
	}
	return best
}

// frontSteps is the border of what the front beats: everything left of and above it.
func frontSteps(best []tradePoint, x, y valueAxis) [][2]float64 {
	steps := [][2]float64{{best[0].speed, y.max}}
	for i, q := range best {
		steps = append(steps, [2]float64{q.speed, y.errorAt(q.error)})
		next := x.min
		if i+1 < len(best) {
			next = best[i+1].speed
		}
		steps = append(steps, [2]float64{next, y.errorAt(q.error)})
	}
	return steps
}

// fastestOfEach keeps of the points that share a group and an error the fastest.
func fastestOfEach(points []tradePoint, group func(tradePoint) string) []tradePoint {
	slices.SortStableFunc(points, func(a, b tradePoint) int { return cmp.Compare(b.speed, a.speed) })
	var kept []tradePoint
	for _, q := range points {
		same := func(k tradePoint) bool {
			a, b := drawnError(k.error), drawnError(q.error)
			return group(k) == group(q) && math.Abs(a-b) <= sameError*math.Max(a, b)
		}
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, q)
		}
	}
	return kept
}
