package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"onebit/bench/noise"
	"onebit/internal/count"
)

// A valueAxis is a numeric axis shared by the panels of a figure.
type valueAxis struct {
	min, max float64
	log      bool
	format   func(float64) string
	labels   int     // how many labels there is room for
	binary   bool    // ticks at round numbers of KiB, MiB, …
	floor    float64 // a value of a logarithmic axis that has its label whatever the room; 0 for none
	broken   float64 // below which a logarithmic axis has its floor alone; 0 where it is whole
	beyond   int     // how many values it was cut before
}

// logSpread is how many times the smallest value the largest must be for a logarithmic axis: below
// it, equal lengths should mean equal differences.
const logSpread = 5

// absurd is how far from the typical value one may lie before an axis is cut: an axis that holds both
// would show neither.
const absurd = 1e8

// newAxis covers the values, but for absurd ones; those that a logarithm can't show must have been left
// out if alwaysLog is set.
func newAxis(values []float64, alwaysLog bool, labels int, format func(float64) string) valueAxis {
	a := valueAxis{min: math.Inf(1), max: math.Inf(-1), format: format, labels: labels}
	typical := typicalSize(values)
	var kept []float64
	for _, v := range values {
		size := math.Abs(v) / typical // of whose overflow infinity is as good as any
		if v == 0 && !alwaysLog || size < absurd && (size > 1/absurd || !alwaysLog) {
			kept = append(kept, v)
		} else {
			a.beyond++
		}
	}
	if len(kept) == 0 {
		kept = []float64{1}
	}
	a.min, a.max = slices.Min(kept), slices.Max(kept)
	a.log = alwaysLog || a.min > 0 && a.max/a.min > logSpread
	if a.log {
		margin := math.Pow(a.max/a.min, 0.04) * 1.02
		a.min, a.max = a.min/margin, a.max*margin
		return a.bounded()
	}
	margin := (a.max - a.min) * 0.06
	if margin == 0 {
		margin = math.Max(math.Abs(a.max)*0.05, 1e-300)
	}
	a.min, a.max = a.min-margin, a.max+margin
	return a.bounded()
}

// typicalSize is the median of what values measure, of those that are not zero.
func typicalSize(values []float64) float64 {
	var sizes []float64
	for _, v := range values {
		if s := math.Abs(v); s > 0 && !math.IsInf(s, 0) {
			sizes = append(sizes, s)
		}
	}
	if len(sizes) == 0 {
		return 1
	}
	return noise.Percentile(sizes, 50)
}

// note says that the axis was cut.
func (a valueAxis) note() string {
	return fmt.Sprintf("The axis from %s to %s was cut before %s more than a hundred million times larger or smaller than the others.",
		a.text(a.min), a.text(a.max), count.Of(a.beyond, "value"))
}

// bounded keeps an axis within numbers that can be multiplied and divided without becoming zero or
// infinite, whatever a results file holds. What lies beyond is not shown.
func (a valueAxis) bounded() valueAxis {
	const huge, tiny = 1e140, 1e-140
	least := -huge
	if a.log {
		least = tiny
	}
	a.min = math.Max(least, math.Min(huge, a.min))
	a.max = math.Max(least, math.Min(huge, a.max))
	if a.max <= a.min {
		a.max = a.min + math.Max(tiny, math.Abs(a.min)*1e-6)
	}
	return a
}

// fromZero extends a linear axis to zero, for lengths that are read from there.
func (a valueAxis) fromZero() valueAxis {
	a.log = false
	a.min = 0
	return a.bounded()
}

// logScale is logarithmic, and takes what has no logarithm for something far beyond the axis, where
// gonum's own panics.
type logScale struct{}

// Normalize implements plot.Normalizer.
func (logScale) Normalize(lo, hi, v float64) float64 {
	from := math.Log(lo)
	return (math.Log(math.Max(v, 1e-300)) - from) / (math.Log(hi) - from)
}

func (a valueAxis) apply(axis *plot.Axis) {
	a = a.bounded()
	axis.Min, axis.Max = a.min, a.max
	if a.log {
		axis.Scale = logScale{}
	}
	axis.Tick.Marker = a
}

// Ticks implements plot.Ticker.
func (a valueAxis) Ticks(lo, hi float64) []plot.Tick {
	if a.log {
		return a.logTicks(lo, hi)
	}
	return a.linearTicks(lo, hi)
}

// linearTicks labels multiples of 1, 2 or 5 times a power of ten.
func (a valueAxis) linearTicks(lo, hi float64) []plot.Tick {
	if !(hi-lo > 1e-9*math.Max(math.Abs(lo), math.Abs(hi))) || math.IsInf(hi-lo, 1) { // no room for a second label
		return []plot.Tick{{Value: lo, Label: a.text(lo)}}
	}
	prefix := 1.0
	for a.binary && hi >= prefix*1024 {
		prefix *= 1024
	}
	step := prefix * math.Pow(10, math.Floor(math.Log10((hi-lo)/prefix/float64(a.labels))))
	for _, m := range []float64{2, 2.5, 2} {
		if (hi-lo)/step <= float64(a.labels) {
			break
		}
		step *= m
	}
	if a.binary && step < prefix {
		step = prefix // of which a half and a quarter are round, and a tenth is not
		for 2*(hi-lo)/step <= float64(a.labels) {
			step /= 2
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		v := i*step + 0 // no negative zero
		ticks = append(ticks, plot.Tick{Value: v, Label: a.text(v)})
	}
	return ticks
}

// logTicks labels as many of 1 to 9 times the powers of ten as there is room for.
func (a valueAxis) logTicks(lo, hi float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	var ticks []plot.Tick
	for _, mantissas := range [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1, 3}, {1}} {
		ticks = within(lo, hi, first, last, 1, mantissas)
		if len(ticks) <= a.labels {
			break
		}
	}
	for every := 2; len(ticks) > a.labels; every++ {
		ticks = within(lo, hi, first, last, every, []float64{1})
	}
	missing := func(t plot.Tick) bool { return t.Value < a.broken*1.5 }
	ticks = slices.DeleteFunc(ticks, missing)
	if a.floor >= lo && a.floor <= hi && !slices.ContainsFunc(ticks, func(t plot.Tick) bool { return isNear(t.Value, a.floor) }) {
		ticks = append(ticks, plot.Tick{Value: a.floor})
	}
	labelled := make(map[float64]bool)
	for i := range ticks {
		ticks[i].Label = a.text(ticks[i].Value)
		labelled[ticks[i].Value] = true
	}
	if last-first > 8 {
		return ticks
	}
	for _, minor := range within(lo, hi, first, last, 1, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		if !labelled[minor.Value] && !missing(minor) {
			ticks = append(ticks, minor)
		}
	}
	return ticks
}

// isNear reports whether two values differ by rounding alone.
func isNear(a, b float64) bool { return math.Abs(a/b-1) < 1e-6 }

func within(lo, hi float64, first, last, every int, mantissas []float64) []plot.Tick {
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		if e%every != 0 {
			continue
		}
		for _, m := range mantissas {
			if v := m * math.Pow10(e); v >= lo && v <= hi {
				ticks = append(ticks, plot.Tick{Value: v})
			}
		}
	}
	return ticks
}

// text formats a tick without the zeros that only a measured value needs.
func (a valueAxis) text(v float64) string {
	number, unit, hasUnit := strings.Cut(a.format(v), " ")
	if strings.Contains(number, ".") && !strings.Contains(number, "e") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	if hasUnit {
		return number + " " + unit
	}
	return number
}

// nominalAxis labels rows 0 to len(names)-1 from the top down. Without labels it only makes room.
func nominalAxis(p *plot.Plot, names []string, labelled bool) {
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	ticks := make([]plot.Tick, len(names))
	for i, name := range names {
		ticks[i] = plot.Tick{Value: float64(len(names) - 1 - i)}
		if labelled {
			ticks[i].Label = label(name)
		} else {
			ticks[i].Label = " "
		}
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Length = 0
	p.Y.LineStyle.Width = 0
}

// rowAt is the position of row i of n, counted from the top.
func rowAt(i, n int) float64 { return float64(n - 1 - i) }

// addGrid draws lines at the labelled ticks, behind what is added later.
func addGrid(p *plot.Plot, vertical, horizontal bool) {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = inkOf(roleGrid), inkOf(roleGrid)
	g.Vertical.Width, g.Horizontal.Width = 0.7, 0.7
	g.Vertical.Dashes, g.Horizontal.Dashes = nil, nil
	if !vertical {
		g.Vertical.Color = nil
	}
	if !horizontal {
		g.Horizontal.Color = nil
	}
	p.Add(g)
}
