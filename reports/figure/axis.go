package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"onebit/bench/noise"
	"onebit/internal/count"
)

// An Axis is a numeric axis shared by the panels of a figure.
type Axis struct {
	Min, Max float64
	Log      bool
	Format   func(float64) string
	Labels   int     // how many labels there is room for
	Binary   bool    // ticks at round numbers of KiB, MiB, …
	floor    float64 // a value of a logarithmic axis that has its label whatever the room; 0 for none
	Broken   float64 // below which a logarithmic axis has its floor alone; 0 where it is whole
	beyond   int     // how many values it was cut before
}

// logSpread is how many times the smallest value the largest must be for a logarithmic axis: below
// it, equal lengths should mean equal differences.
const logSpread = 5

// absurd is how far from the typical value one may lie before an axis is cut: an axis that holds both
// would show neither.
const absurd = 1e8

// NewAxis covers the values, but for absurd ones; those that a logarithm can't show must have been left
// out if alwaysLog is set.
func NewAxis(values []float64, alwaysLog bool, labels int, format func(float64) string) Axis {
	a := Axis{Min: math.Inf(1), Max: math.Inf(-1), Format: format, Labels: labels}
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
	a.Min, a.Max = slices.Min(kept), slices.Max(kept)
	a.Log = alwaysLog || a.Min > 0 && a.Max/a.Min > logSpread
	if a.Log {
		margin := math.Pow(a.Max/a.Min, 0.04) * 1.02
		a.Min, a.Max = a.Min/margin, a.Max*margin
		return a.Bounded()
	}
	margin := (a.Max - a.Min) * 0.06
	if margin == 0 {
		margin = math.Max(math.Abs(a.Max)*0.05, 1e-300)
	}
	a.Min, a.Max = a.Min-margin, a.Max+margin
	return a.Bounded()
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
func (a Axis) note() string {
	return fmt.Sprintf("The axis from %s to %s was cut before %s more than a hundred million times larger or smaller than the others.",
		a.text(a.Min), a.text(a.Max), count.Of(a.beyond, "value"))
}

// Bounded keeps an axis within numbers that can be multiplied and divided without becoming zero or
// infinite, whatever a results file holds. What lies beyond is not shown.
func (a Axis) Bounded() Axis {
	const huge, tiny = 1e140, 1e-140
	least := -huge
	if a.Log {
		least = tiny
	}
	a.Min = math.Max(least, math.Min(huge, a.Min))
	a.Max = math.Max(least, math.Min(huge, a.Max))
	if a.Max <= a.Min {
		a.Max = a.Min + math.Max(tiny, math.Abs(a.Min)*1e-6)
	}
	return a
}

// FromZero extends a linear axis to zero, for lengths that are read from there.
func (a Axis) FromZero() Axis {
	a.Log = false
	a.Min = 0
	return a.Bounded()
}

// logScale is logarithmic, and takes what has no logarithm for something far beyond the axis, where
// gonum's own panics.
type logScale struct{}

// Normalize implements plot.Normalizer.
func (logScale) Normalize(lo, hi, v float64) float64 {
	from := math.Log(lo)
	return (math.Log(math.Max(v, 1e-300)) - from) / (math.Log(hi) - from)
}

func (a Axis) Apply(axis *plot.Axis) {
	a = a.Bounded()
	axis.Min, axis.Max = a.Min, a.Max
	if a.Log {
		axis.Scale = logScale{}
	}
	axis.Tick.Marker = a
}

// Ticks implements plot.Ticker.
func (a Axis) Ticks(lo, hi float64) []plot.Tick {
	if a.Log {
		return a.logTicks(lo, hi)
	}
	return a.LinearTicks(lo, hi)
}

// LinearTicks labels multiples of 1, 2 or 5 times a power of ten.
func (a Axis) LinearTicks(lo, hi float64) []plot.Tick {
	if !(hi-lo > 1e-9*math.Max(math.Abs(lo), math.Abs(hi))) || math.IsInf(hi-lo, 1) { // no room for a second label
		return []plot.Tick{{Value: lo, Label: a.text(lo)}}
	}
	prefix := 1.0
	for a.Binary && hi >= prefix*1024 {
		prefix *= 1024
	}
	step := prefix * math.Pow(10, math.Floor(math.Log10((hi-lo)/prefix/float64(a.Labels))))
	for _, m := range []float64{2, 2.5, 2} {
		if (hi-lo)/step <= float64(a.Labels) {
			break
		}
		step *= m
	}
	if a.Binary && step < prefix {
		step = prefix // of which a half and a quarter are round, and a tenth is not
		for 2*(hi-lo)/step <= float64(a.Labels) {
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
func (a Axis) logTicks(lo, hi float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	var ticks []plot.Tick
	for _, mantissas := range [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1, 3}, {1}} {
		ticks = within(lo, hi, first, last, 1, mantissas)
		if len(ticks) <= a.Labels {
			break
		}
	}
	for every := 2; len(ticks) > a.Labels; every++ {
		ticks = within(lo, hi, first, last, every, []float64{1})
	}
	missing := func(t plot.Tick) bool { return t.Value < a.Broken*1.5 }
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
func (a Axis) text(v float64) string {
	number, unit, hasUnit := strings.Cut(a.Format(v), " ")
	if strings.Contains(number, ".") && !strings.Contains(number, "e") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	if hasUnit {
		return number + " " + unit
	}
	return number
}

// BareNumber formats a tick; the axis says the unit.
func BareNumber(v float64) string { return fmt.Sprintf("%.4g", v) }

// SpreadOver keeps at most so many of all, the first and the last among them, evenly.
func SpreadOver[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	kept := make([]T, most)
	for i := range kept {
		kept[i] = all[i*(len(all)-1)/(most-1)]
	}
	return kept
}

// RobustAxis covers the values, but for those so far out that the others would show nothing, and a share of their extent
// as space at both ends.
func RobustAxis(values []float64, space float64, labels int, format func(float64) string) Axis {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	middle := sorted[n/2]
	reach := 12 * max(sorted[n*9/10]-middle, middle-sorted[n/10], math.Abs(middle)*1e-3)
	lo, hi := max(sorted[0], middle-reach), min(sorted[n-1], middle+reach)
	margin := max((hi-lo)*space, math.Abs(middle)*1e-3, 1e-9)
	return Axis{Min: lo - margin, Max: hi + margin, Labels: labels, Format: format}.Bounded()
}

// BeyondText says how many values stand at an axis' edge because they are far out.
func BeyondText(a Axis, values []float64) string {
	n := 0
	for _, v := range values {
		if v < a.Min || v > a.Max {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" · %d beyond the edge", n)
}
