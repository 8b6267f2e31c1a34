package reports

import (
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
		if fig := paretoFigure(d, f); fig != nil {
			figures = append(figures, fig)
		}
	}
	return figures
}

func paretoFigure(d *digest, f *family) *figure {
	unit, ok := errorUnit(f)
	if !ok {
		return nil
	}
	byPanel := make(map[panel][]tradeoff)
	var shown []panel
	var speeds, errors []float64
	for _, p := range panels(f.cases) {
		points := f.tradeoffs(p, unit)
		if len(points) == 0 {
			continue
		}
		byPanel[p] = points
		shown = append(shown, p)
		for _, q := range points {
			speeds, errors = append(speeds, q.speed), append(errors, q.error)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	speedFormat := bench.UnitOf(f.speedUnit()).Format
	x := newAxis(speeds, true, 3, speedFormat)
	// Names stand left of the points on the front, so these need room.
	x.min /= math.Pow(x.max/x.min, 0.25)
	y, exact := errorAxis(errors, unit)
	var drawn []*plot.Plot
	for _, p := range shown {
		drawn = append(drawn, d.paretoPanel(p, byPanel[p], x, y, exact))
	}
	for i, p := range drawn {
		if i%panelsInRow == 0 {
			p.Y.Label.Text = unit
		}
		p.X.Label.Text = f.speedUnit()
	}
	grid := arrange(drawn)
	fig := &figure{
		name:    fileName("error-speed", f.base, f.format),
		heading: label(f.title() + ": " + unit + " against speed"),
		reading: paretoReading(shown, byPanel, unit, speedFormat),
		height:  rowsHeight(12, len(grid)),
		panels:  grid,
	}
	for _, name := range contenders(f.cases) {
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

// errorAxis is logarithmic. Errors of zero, which it can't show, are drawn at exact, below all others.
func errorAxis(errors []float64, unit string) (axis valueAxis, exact float64) {
	var positive []float64
	for _, e := range errors {
		if e > 0 {
			positive = append(positive, e)
		}
	}
	if len(positive) == 0 {
		positive = []float64{1e-15}
	}
	exact = slices.Min(positive) / 10
	if len(positive) < len(errors) {
		positive = append(positive, exact)
	}
	format := bench.UnitOf(unit).Format
	a := newAxis(positive, true, 6, func(v float64) string {
		if v <= exact {
			return "0"
		}
		return format(v)
	})
	// A single value, or values close together, still need a readable axis.
	a.min, a.max = a.min/2, a.max*2
	return a, exact
}

// front returns the points that no other point beats, fastest first.
func front(points []tradeoff) []tradeoff {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b tradeoff) int {
		switch {
		case a.speed != b.speed && a.speed > b.speed:
			return -1
		case a.speed != b.speed:
			return 1
		case a.error < b.error:
			return -1
		case a.error > b.error:
			return 1
		}
		return 0
	})
	var best []tradeoff
	for _, q := range sorted {
		if len(best) == 0 || q.error < best[len(best)-1].error*(1-sameError) {
			best = append(best, q)
		}
	}
	return best
}

// sameError is the relative difference below which two errors count as one: variants of a scheme add
// the same products in another order, and a slower one is not on the front for its last bits.
const sameError = 0.01

func (d *digest) paretoPanel(p panel, points []tradeoff, x, y valueAxis, exact float64) *plot.Plot {
	plot := newPanel(p.String())
	x.apply(&plot.X)
	y.apply(&plot.Y)
	addGrid(plot, true, true)
	at := func(e float64) float64 { return math.Max(e, exact) }
	best := front(points)
	plot.Add(polyline{points: frontSteps(best, at, x, y), color: inkOf(roleFront), width: 1.2, dashes: dashed})
	for _, q := range points {
		plot.Add(mark{x: q.speed, y: at(q.error), style: glyph(d.marks[q.contender], 4)})
	}
	style := textStyle(roleFront)
	style.XAlign, style.YAlign = draw.XRight, draw.YBottom
	for _, q := range best {
		plot.Add(mark{x: q.speed, y: at(q.error), style: draw.GlyphStyle{Color: inkOf(roleFront), Radius: 7, Shape: draw.RingGlyph{}}})
		plot.Add(note{x: q.speed, y: at(q.error), dx: -4, dy: 7, text: label(q.contender), style: style})
	}
	return plot
}

// frontSteps is the border of what the front beats: everything left of and above it.
func frontSteps(best []tradeoff, at func(float64) float64, x, y valueAxis) [][2]float64 {
	steps := [][2]float64{{best[0].speed, y.max}}
	for i, q := range best {
		steps = append(steps, [2]float64{q.speed, at(q.error)})
		next := x.min
		if i+1 < len(best) {
			next = best[i+1].speed
		}
		steps = append(steps, [2]float64{next, at(q.error)})
	}
	return steps
}

func paretoReading(shown []panel, points map[panel][]tradeoff, unit string, speed func(float64) string) string {
	p := shown[len(shown)-1]
	var parts []string
	for _, q := range front(points[p]) {
		parts = append(parts, fmt.Sprintf("%s (%s, %s %s)", q.contender, speed(q.speed), unit, bench.UnitOf(unit).Format(q.error)))
	}
	return fmt.Sprintf("Front with %s, fastest first: %s.", conditions(p), strings.Join(parts, ", "))
}
