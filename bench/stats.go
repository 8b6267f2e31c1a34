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
// the names first occur. Arms of A/A pairs are left out; see Noise.
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

// Summary returns the median and its 95% confidence interval without any
// assumption on the distribution (or the value itself, if the unit is exact).
// Fewer than 6 samples have no finite interval: Lo and Hi are infinite, and a
// warning says so.
func (s Series) Summary() benchmath.Summary {
	return assumption(s.Unit).Summary(s.sample(), confidence)
}

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

// Noise is what a run's A/A pairs say: how far apart two measurements of the
// same code come to lie. All values are fractions: 0.01 is one per cent.
type Noise struct {
	// Floor is the difference between medians that identical code exceeds in
	// one comparison out of twenty. Smaller differences prove nothing,
	// whatever their p-value.
	Floor float64

	Lo, Hi float64 // 95% confidence interval of Floor
	Worst  float64 // largest difference that a pair showed
	Pairs  int     // how many pairs there are
}

// Noise computes the noise floor from the A/A pairs; false if there is none.
//
// Were the arms of a pair exchanged in some rounds, nothing would have
// changed but the labels. So the differences that noise makes are those that
// random relabelling makes (a permutation test, paired by round): the floor is
// their 95th percentile over all pairs. Unlike the percentile of the pairs'
// own differences, it needs no more than one pair. Its interval comes from a
// bootstrap over pairs and rounds.
func (r *Results) Noise() (Noise, bool) {
	pairs := r.pairs()
	if len(pairs) == 0 {
		return Noise{}, false
	}
	rng := newRand(bootstrapSeed)
	n := Noise{Pairs: len(pairs), Floor: floor(rng, pairs, 8000)}
	for _, p := range pairs {
		n.Worst = max(n.Worst, fraction(p.difference()))
	}
	n.Lo, n.Hi = interval(func() float64 {
		drawn := make([]pair, len(pairs))
		for i := range drawn {
			drawn[i] = pairs[rng.IntN(len(pairs))].resample(rng)
		}
		return floor(rng, drawn, 400)
	})
	return n, true
}

// A pair is the ns/op of both arms, round by round.
type pair struct{ a, b []float64 }

// pairs finds the A/A pairs with at least one complete round.
func (r *Results) pairs() []pair {
	arms := make(map[string][]float64)
	var names []Name
	for _, s := range r.series(NsPerOp, Name.IsArm) {
		arms[s.Name.Full] = s.Values
		names = append(names, s.Name)
	}
	var pairs []pair
	for _, n := range names {
		if n.Get(armKey) != "a" {
			continue
		}
		a, b := arms[n.Full], arms[n.Without(armKey)+"/"+armKey+"=b"]
		// An interrupted run may leave a round with one arm only.
		rounds := min(len(a), len(b))
		if rounds > 0 && slices.Min(a[:rounds]) > 0 && slices.Min(b[:rounds]) > 0 {
			pairs = append(pairs, pair{a[:rounds], b[:rounds]})
		}
	}
	return pairs
}

// difference is |log(median a / median b)|.
func (p pair) difference() float64 {
	return math.Abs(math.Log(median(p.a) / median(p.b)))
}

func (p pair) relabel(rng *rand.Rand) pair {
	q := pair{slices.Clone(p.a), slices.Clone(p.b)}
	for i := range q.a {
		if rng.IntN(2) == 1 {
			q.a[i], q.b[i] = q.b[i], q.a[i]
		}
	}
	return q
}

func (p pair) resample(rng *rand.Rand) pair {
	q := pair{make([]float64, len(p.a)), make([]float64, len(p.b))}
	for i := range q.a {
		j := rng.IntN(len(p.a))
		q.a[i], q.b[i] = p.a[j], p.b[j]
	}
	return q
}

// floor is the 95th percentile of the differences that about so many
// relabellings make, of which every pair has an equal share.
func floor(rng *rand.Rand, pairs []pair, relabellings int) float64 {
	var all []float64
	for _, p := range pairs {
		for range max(1, relabellings/len(pairs)) {
			all = append(all, p.relabel(rng).difference())
		}
	}
	return fraction(percentile(all, 95))
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
