package noise

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/montanaflynn/stats"
	"golang.org/x/perf/benchmath"

	"onebit/bench/results"
)

func assumption(unit string) benchmath.Assumption {
	if results.UnitOf(unit).Exact {
		return benchmath.AssumeExact
	}
	return benchmath.AssumeNothing
}

func summaryOf(values []float64, by benchmath.Assumption) benchmath.Summary {
	return by.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
}

// fraction turns a difference of logarithms into one of values.
func fraction(log float64) float64 { return math.Expm1(log) }

// interval is the middle 95% of what draw returns.
func interval(draw func() float64) (lo, hi float64) {
	draws := make([]float64, bootstrapDraws)
	for i := range draws {
		draws[i] = draw()
	}
	return Percentile(draws, 2.5), Percentile(draws, 97.5)
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Median is the value in the middle, or the mean of the two there. It panics
// if there are no values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		panic("noise: median of nothing")
	}
	if !slices.IsSorted(values) {
		values = slices.Sorted(slices.Values(values))
	}
	n := len(values)
	lo, hi := values[(n-1)/2], values[n/2]
	return lo + (hi-lo)/2 // whose sum may be beyond all numbers
}

// Percentile is the value that so many per cent of values do not exceed, between
// two of them by interpolation; 0 is the least. It panics if there are no values.
func Percentile(values []float64, percent float64) float64 {
	if len(values) == 0 {
		panic("noise: percentile of nothing")
	}
	p, err := stats.Percentile(values, percent)
	if err != nil {
		return slices.Min(values) // the library has none at 0
	}
	return p
}
