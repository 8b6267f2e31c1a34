package bench

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/montanaflynn/stats"
	"golang.org/x/perf/benchmath"
)

// A Series is the samples of one name in one unit.
type Series struct {
	Name   Name
	Unit   string
	Values []float64 // in the order in which they were taken
}

// Series returns the samples of each name in one unit, in the order in which
// the names first occur. Arms of A/A pairs are left out; see Floors.
func (r *Results) Series(unit string) []Series {
	return r.series(unit, func(n Name) bool { return !n.IsArm() })
}

func (r *Results) series(unit string, keep func(Name) bool) []Series {
	var all []Series
	index := make(map[string]int)
	for _, s := range r.Samples {
		v, ok := s.Value(unit)
		if !ok || !keep(s.Name) {
			continue
		}
		i, seen := index[s.Name.Full]
		if !seen {
			i = len(all)
			index[s.Name.Full] = i
			all = append(all, Series{Name: s.Name, Unit: unit})
		}
		all[i].Values = append(all[i].Values, v)
	}
	return all
}

// confidence is the level of every interval.
const confidence = 0.95

func (s Series) sample() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(s.Values), &benchmath.DefaultThresholds)
}

func assumption(unit string) benchmath.Assumption {
	if UnitOf(unit).Exact {
		return benchmath.AssumeExact
	}
	return benchmath.AssumeNothing
}

// A Ratio says how one series compares with another.
type Ratio struct {
	Value    float64 // median of new ÷ median of old
	Lo, Hi   float64 // 95% confidence interval of Value, by bootstrap
	P        float64 // chance of such a difference if both were the same (Mann-Whitney)
	Warnings []error // why the numbers above deserve less trust
}

// Compare compares two series of one unit. Equal input gives equal output:
// the bootstrap's random numbers come from a constant seed, so that a report
// is a pure function of its files.
func Compare(old, new Series) Ratio {
	so, sn := old.sample(), new.sample()
	if len(so.Values) == 0 || len(sn.Values) == 0 {
		nan := math.NaN()
		return Ratio{nan, nan, nan, 1, []error{errors.New("nothing to compare: a series has no samples")}}
	}
	cmp := assumption(old.Unit).Compare(so, sn)
	r := Ratio{Value: median(sn.Values) / median(so.Values), P: cmp.P, Warnings: cmp.Warnings}
	r.Lo, r.Hi = r.Value, r.Value
	if !UnitOf(old.Unit).Exact {
		rng := newRand(bootstrapSeed)
		r.Lo, r.Hi = interval(func() float64 {
			return median(resample(rng, sn.Values)) / median(resample(rng, so.Values))
		})
	}
	return r
}

// fraction turns a difference of logarithms into one of values.
func fraction(log float64) float64 { return math.Expm1(log) }

const (
	bootstrapSeed  = 1
	bootstrapDraws = 500
)

// interval is the middle 95% of what draw returns.
func interval(draw func() float64) (lo, hi float64) {
	draws := make([]float64, bootstrapDraws)
	for i := range draws {
		draws[i] = draw()
	}
	return percentile(draws, 2.5), percentile(draws, 97.5)
}

func resample(rng *rand.Rand, values []float64) []float64 {
	drawn := make([]float64, len(values))
	for i := range drawn {
		drawn[i] = values[rng.IntN(len(values))]
	}
	return drawn
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// median and percentile panic on an empty slice only, which no caller here
// passes.
func median(values []float64) float64 {
	m, err := stats.Median(values)
	if err != nil {
		panic("bench: median of nothing")
	}
	return m
}

func percentile(values []float64, percent float64) float64 {
	p, err := stats.Percentile(values, percent)
	if err != nil {
		panic("bench: percentile of nothing")
	}
	return p
}
