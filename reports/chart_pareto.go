package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"onebit/bench"
)

func init() {
	registerChart(chart{
		order: 40, name: "error-speed", heading: "Error against speed",
		about: "Right is faster, down is more accurate; both are geometric means over shapes. The line is the Pareto front: " +
			"ringed variants on it are beaten in one respect only by giving up the other; for any variant off it, one on it is at least as " +
			"fast and at least as accurate.",
		figures: paretoFigures,
	})
}

// errorUnits are the measures of error, the first that is there.
var errorUnits = []string{bench.NMSE, bench.KLD, bench.Perplexity}

// A tradeoff is one contender's speed and error under one condition.
type tradeoff struct {
	contender    string
	speed, error float64
}

func paretoFigures(d *digest) []*figure {
	var figures []*figure
	for _, f := range d.families() {
		unit, ok := errorUnit(f)
		if !ok || f.base == baseModel {
			continue
		}
		t := newTrade(fileName("error-speed", f.base, f.subject), f.title()+": "+unit+" against speed", unit, f.speedUnit())
		for _, p := range panels(f.cases) {
			t.add(p, f.tradeoffs(p, unit))
		}
		if fig := d.tradeFigure(t); fig != nil {
			fig.folded = len(figures) > 0
			figures = append(figures, fig)
		}
	}
	return figures
}

// A trade is a drawing of what speed costs: of points under each condition.
type trade struct {
	name, heading   string
	unit, speedUnit string
	cost            string // what unit measures, in a word
	shown           []panel
	points          map[panel][]tradeoff
	speeds, costs   []float64
	contenders      []string
}

func newTrade(name, heading, unit, speedUnit string) *trade {
	return &trade{name: name, heading: heading, unit: unit, speedUnit: speedUnit, cost: unit, points: make(map[panel][]tradeoff)}
}

func (t *trade) add(p panel, points []tradeoff) {
	if len(points) == 0 {
		return
	}
	t.shown = append(t.shown, p)
	t.points[p] = points
	for _, q := range points {
		t.speeds, t.costs = append(t.speeds, q.speed), append(t.costs, q.error)
		if !slices.Contains(t.contenders, q.contender) {
			t.contenders = append(t.contenders, q.contender)
		}
	}
}

// speedAxis leaves room for the names on the front, right of their points.
func (t *trade) speedAxis() valueAxis {
	a := newAxis(t.speeds, false, 5, bench.UnitOf(t.speedUnit).Format)
	if !a.log {
		a = a.fromZero()
		a.max *= 1.6
		return a
	}
	a.max *= math.Max(2, math.Pow(a.max/a.min, 0.5))
	return a
}

// costAxis is logarithmic for errors, and begins at zero for memory.
func (t *trade) costAxis() valueAxis {
	if t.unit != bench.PeakRSS {
		return errorAxis(t.costs, t.unit)
	}
	a := newAxis(append(t.costs, 0), false, 6, bench.UnitOf(t.unit).Format).fromZero()
	a.max *= 1.15
	a.binary = true
	return a
}

// tradeFigure draws a trade; nil if it has no points.
func (d *digest) tradeFigure(t *trade) *figure {
	if len(t.shown) == 0 {
		return nil
	}
	x, y := t.speedAxis(), t.costAxis()
	var drawn []*plot.Plot
	for _, p := range t.shown {
		panel := d.paretoPanel(p, t.points[p], x, y)
		panel.X.Label.Text = bench.UnitOf(t.speedUnit).About
		drawn = append(drawn, panel)
	}
	grid := arrange(drawn, 2)
	fig := &figure{
		name: t.name, heading: label(t.heading), reading: t.reading(),
		height: rowsHeight(11, len(grid)), panels: grid, upward: slices.Repeat([]string{t.cost}, len(grid)),
	}
	slices.SortFunc(t.contenders, naturalCompare)
	for _, name := range t.contenders {
		fig.legend = append(fig.legend, legendEntry{label(name), glyph(d.marks[name], 4)})
	}
	return fig
}

// errorUnit is the first measure of error that two contenders have, or one.
func errorUnit(f *family) (string, bool) {
	for _, unit := range errorUnits {
		for _, c := range f.cases {
			if _, ok := c.center(unit); ok {
				return unit, true
			}
		}
	}
	return "", false
}

// speedUnit is what the family's speed is given in.
func (f *family) speedUnit() string {
	for _, t := range f.tasks {
		if t.ops > 0 {
			return bench.OpRate
		}
	}
	return bench.TokenRate
}

func (f *family) tradeoffs(p panel, unit string) []tradeoff {
	var points []tradeoff
	for _, name := range contenders(f.cases) {
		var speeds, errors []float64
		for _, t := range f.tasks {
			for _, c := range in(p, t.cases) {
				speed, ok := t.speed(c)
				if !ok {
					speed, ok = c.center(bench.TokenRate)
				}
				e, measured := c.center(unit)
				if ok && measured && c.contender == name {
					speeds, errors = append(speeds, speed), append(errors, e)
				}
			}
		}
		speed, ok := geomean(speeds)
		if !ok {
			continue
		}
		points = append(points, tradeoff{name, speed, meanError(errors)})
	}
	return points
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

// drawnError is where an error stands on the axis; not a number if it is none.
func drawnError(e float64) float64 { return math.Max(e, negligible) }

func errorAxis(errors []float64, unit string) valueAxis {
	var drawn []float64
	for _, e := range errors {
		drawn = append(drawn, drawnError(e))
	}
	format := bench.UnitOf(unit).Format
	a := newAxis(drawn, true, 6, func(v float64) string {
		if isNear(v, negligible) {
			return "≤ " + format(v)
		}
		return format(v)
	})
	if slices.Min(drawn) == negligible {
		a.floor = negligible
	}
	// A single value, or values close together, still need a readable axis.
	a.min, a.max = a.min/2, a.max*2
	return a
}

// front returns the points that no other point beats, fastest first.
func front(points []tradeoff) []tradeoff {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b tradeoff) int {
		return cmp.Or(cmp.Compare(b.speed, a.speed), cmp.Compare(a.error, b.error))
	})
	var best []tradeoff
	for _, q := range sorted {
		if len(best) == 0 || drawnError(q.error) < drawnError(best[len(best)-1].error)*(1-sameError) {
			best = append(best, q)
		}
	}
	return best
}

// sameError is the relative difference below which two errors count as one: variants of a scheme add
// the same products in another order, and a slower one is not on the front for its last bits.
const sameError = 0.01

func (d *digest) paretoPanel(p panel, points []tradeoff, x, y valueAxis) *plot.Plot {
	plot := newPanel(p.String())
	x.apply(&plot.X)
	y.apply(&plot.Y)
	addGrid(plot, true, true)
	best := front(points)
	plot.Add(polyline{points: frontSteps(best, x, y), color: inkOf(roleFront), width: 1.2, dashes: dashed})
	for _, q := range points {
		plot.Add(mark{x: q.speed, y: drawnError(q.error), style: glyph(d.marks[q.contender], 4)})
	}
	for _, q := range best {
		plot.Add(mark{x: q.speed, y: drawnError(q.error), style: draw.GlyphStyle{Color: inkOf(roleFront), Radius: 7.5, Shape: shape{}}})
	}
	plot.Add(frontLabels{best})
	return plot
}

// frontSteps is the border of what the front beats: everything left of and above it.
func frontSteps(best []tradeoff, x, y valueAxis) [][2]float64 {
	steps := [][2]float64{{best[0].speed, y.max}}
	for i, q := range best {
		steps = append(steps, [2]float64{q.speed, drawnError(q.error)})
		next := x.min
		if i+1 < len(best) {
			next = best[i+1].speed
		}
		steps = append(steps, [2]float64{next, drawnError(q.error)})
	}
	return steps
}

func (t *trade) reading() string {
	p := t.shown[len(t.shown)-1]
	var parts []string
	for _, q := range front(t.points[p]) {
		parts = append(parts, fmt.Sprintf("%s (%s, %s %s)", q.contender, bench.UnitOf(t.speedUnit).Format(q.speed), t.cost, bench.UnitOf(t.unit).Format(q.error)))
	}
	return fmt.Sprintf("Front with %s, fastest first: %s.", conditions(p), strings.Join(parts, ", "))
}
