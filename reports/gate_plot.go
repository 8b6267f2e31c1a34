package reports

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/reports/figure"
)

// A page may show hundreds of findings with hundreds of values each. So their pictures are written
// directly, a value in some eight bytes: a line of no length with round ends, at whole numbers. Two
// units are a pixel.
const (
	plotWidth  = 680
	plotLeft   = 92 // of the field
	plotRight  = plotWidth - 24
	plotTop    = 34
	plotBottom = 44 // below the field
	dotSpace   = 150_000
)

// A dotBudget is how many values each series of each finding may show, so that a page stays small.
type dotBudget int

// newDotBudget shares the page's room among findings, which have six series each.
func newDotBudget(findings int) dotBudget {
	return dotBudget(max(30, min(600, dotSpace/6/max(findings, 1))))
}

// thin keeps as many values as may be shown, evenly spaced.
func thin[T any](values []T, most dotBudget) []T {
	if len(values) <= int(most) {
		return values
	}
	kept := make([]T, 0, most)
	for i := range int(most) {
		kept = append(kept, values[i*len(values)/int(most)])
	}
	return kept
}

// A span is an axis of a picture: its values and where they lie.
type span struct {
	lo, hi   float64
	from, to float64
	format   func(float64) string
	labels   int
}

func (s span) at(v float64) int {
	return int(math.Round(s.from + (s.to-s.from)*(max(s.lo, min(s.hi, v))-s.lo)/(s.hi-s.lo)))
}

func (s span) holds(v float64) bool { return v >= s.lo && v <= s.hi }

func (s span) ticks() []plot.Tick {
	return figure.Axis{Format: s.format, Labels: s.labels}.LinearTicks(s.lo, s.hi)
}

// newSpan covers the values, but for those so far out that the others would show nothing, and
// a share of their extent as space at both ends.
func newSpan(values []float64, from, to, space float64, labels int, format func(float64) string) span {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	middle := sorted[n/2]
	reach := 12 * max(sorted[n*9/10]-middle, middle-sorted[n/10], math.Abs(middle)*1e-3)
	lo, hi := max(sorted[0], middle-reach), min(sorted[n-1], middle+reach)
	margin := max((hi-lo)*space, math.Abs(middle)*1e-3, 1e-9)
	return span{lo - margin, hi + margin, from, to, format, labels}
}

// A gatePlot is an SVG in the making.
type gatePlot struct {
	strings.Builder
}

func newGatePlot(title, label string, height int) *gatePlot {
	p := new(gatePlot)
	fmt.Fprintf(p, `<svg class="gp" viewBox="0 0 %d %d" role="img" aria-label="%s"><text x="0" y="22" class="t">%s</text>`,
		plotWidth, height, html.EscapeString(label), html.EscapeString(title))
	return p
}

func (p *gatePlot) text(x, y int, anchor, s string) {
	if anchor != "" {
		anchor = ` text-anchor="` + anchor + `"`
	}
	fmt.Fprintf(p, `<text x="%d" y="%d"%s>%s</text>`, x, y, anchor, html.EscapeString(s))
}

// rect fills from one corner to the other.
func (p *gatePlot) rect(class string, x0, y0, x1, y1 int) {
	fmt.Fprintf(p, `<path class="%s" d="M%d %dH%dV%dH%dz"/>`, class, x0, y0, x1, y1, x0)
}

func (p *gatePlot) path(class, d string) { fmt.Fprintf(p, `<path class="%s" d="%s"/>`, class, d) }

// xAxis draws the grid and its labels.
func (p *gatePlot) xAxis(s span, top, bottom int) {
	var d strings.Builder
	for _, t := range s.ticks() {
		x := s.at(t.Value)
		fmt.Fprintf(&d, "M%d %dV%d", x, top, bottom)
		p.text(x, bottom+26, "middle", t.Label)
	}
	p.path("g", d.String())
}

func (p *gatePlot) yAxis(s span, left, right int) {
	var d strings.Builder
	for _, t := range s.ticks() {
		y := s.at(t.Value)
		fmt.Fprintf(&d, "M%d %dH%d", left, y, right)
		p.text(left-8, y+8, "end", t.Label)
	}
	p.path("g", d.String())
}

func (p *gatePlot) svg() string { return p.String() + "</svg>" }

// A dots is the path of values.
type dots struct{ strings.Builder }

func (d *dots) add(x, y int) {
	d.WriteByte('M')
	d.WriteString(strconv.Itoa(x))
	d.WriteByte(' ')
	d.WriteString(strconv.Itoa(y))
	d.WriteString("h0")
}

// beyond counts the values outside the span, which are drawn at its edge.
func (s span) beyond(values []float64) (n int) {
	for _, v := range values {
		if !s.holds(v) {
			n++
		}
	}
	return n
}

// sideClass is the look of a side's values.
func sideClass(s gate.Side) string { return "d d" + s.String()[:1] }

var gateSides = []gate.Side{gate.Base, gate.Head, gate.Control}

// beyondText says how many values lie at the edge because they are far out.
func beyondText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" · %d beyond the edge", n)
}

// distributionPlot shows the values that were judged, a row for each side, from the first round at the
// row's top to the last.
func distributionPlot(f gate.Finding, most dotBudget) string {
	const row = 62
	format := results.UnitOf(f.Unit).Format
	values := slices.Concat(f.Base, f.Head, f.Control)
	x := newSpan(values, plotLeft, plotRight, 0.05, 4, format)
	bottom := plotTop + row*len(gateSides)
	p := newGatePlot("Rounds: base, head and control"+beyondText(x.beyond(values)), fmt.Sprintf("Values by round of %s: base %s, head %s, control %s",
		f.Name, gateValue(f, gate.Base), gateValue(f, gate.Head), gateValue(f, gate.Control)), bottom+plotBottom)
	p.xAxis(x, plotTop, bottom)
	for i, side := range gateSides {
		var d dots
		shown := thin(f.Of(side), most)
		top := plotTop + i*row
		for k, v := range shown {
			d.add(x.at(v), top+8+(row-16)*k/max(len(shown)-1, 1))
		}
		p.text(0, top+row/2+8, "", side.String())
		p.path(sideClass(side), d.String())
		if typical := f.Typical(side); !math.IsNaN(typical) {
			p.path("m", fmt.Sprintf("M%d %dv%d", x.at(typical), top+3, row-6))
		}
	}
	return p.svg()
}

// ratioPlot shows the change with its interval, the threshold and by how much the same code is known to differ.
func ratioPlot(f gate.Finding) string {
	const height = 76
	c, floor := math.Expm1(f.Change.Center), math.Expm1(f.Floor)
	lo, hi := math.Expm1(f.Change.Lo), math.Expm1(f.Change.Hi)
	ends := []float64{-f.Threshold, f.Threshold, -floor, floor}
	for _, v := range []float64{c, lo, hi} {
		if !math.IsInf(v, 0) && !math.IsNaN(v) && v > -1 {
			ends = append(ends, v)
		}
	}
	margin := (slices.Max(ends) - slices.Min(ends)) * 0.12
	x := span{slices.Min(ends) - margin, slices.Max(ends) + margin, plotLeft, plotRight,
		func(v float64) string { return signedPercent(100 * v) }, 5}
	bottom := plotTop + height
	p := newGatePlot("Change: worse to the right", fmt.Sprintf("Change of %s: %s, 95%% interval %s", f.Name, gateChange(f), gateInterval(f)), bottom+plotBottom)
	p.rect("th", x.at(-f.Threshold), plotTop, x.at(f.Threshold), bottom)
	p.rect("fl", x.at(-floor), plotTop, x.at(floor), bottom)
	p.xAxis(x, plotTop, bottom)
	p.path("z", fmt.Sprintf("M%d %dV%d", x.at(0), plotTop, bottom))
	y := plotTop + height/2
	p.path("i", fmt.Sprintf("M%d %dH%d", x.at(lo), y, x.at(hi)))
	if !math.IsNaN(c) {
		p.path("d dh", fmt.Sprintf("M%d %dh0", x.at(c), y))
	}
	return p.svg()
}

// driftPlot shows every process of base and head by the time at which it began, and control's behind them.
func driftPlot(f gate.Finding, measurements []gate.Measurement, most dotBudget) string {
	const height = 186
	format := results.UnitOf(f.Unit).Format
	type point struct{ at, value float64 }
	var points [3][]point
	var values []float64
	last := time.Duration(1)
	for _, m := range measurements {
		for _, v := range m.Values {
			if v.Unit == f.Unit {
				points[m.Side] = append(points[m.Side], point{m.Start.Minutes(), v.Value})
				values = append(values, v.Value)
				last = max(last, m.Start)
			}
		}
	}
	if len(values) == 0 {
		return ""
	}
	bottom := plotTop + height
	// The judged values give the scale.
	y := newSpan(slices.Concat(f.Base, f.Head), float64(bottom), plotTop+8, 0.3, 4, format)
	x := span{0, last.Minutes(), plotLeft, plotRight, func(v float64) string { return fmt.Sprintf("%.3g", v) + " min" }, 5}
	p := newGatePlot("Every process by time"+beyondText(y.beyond(values)), "Every process of "+f.Name+" by the time at which it began", bottom+plotBottom)
	p.xAxis(x, plotTop, bottom)
	p.yAxis(y, plotLeft, plotRight)
	for _, side := range []gate.Side{gate.Control, gate.Base, gate.Head} {
		var d dots
		for _, q := range thin(points[side], most) {
			d.add(x.at(q.at), y.at(q.value))
		}
		p.path(sideClass(side), d.String())
	}
	return p.svg()
}
