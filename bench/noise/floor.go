package noise

import (
	"math"
	"slices"
	"strings"

	"onebit/bench/results"
)

// A Floor is the noise floor of a class of cases: how far apart two
// measurements of the same code come to lie in one run. The values are
// fractions: 0.01 is one per cent.
type Floor struct {
	Class string // of cases; see Results.Class
	Pairs int    // A/A pairs of the class

	// Floor is the difference that one comparison in twenty of identical code
	// exceeds: the centers of two cases of the class, compared as
	// Floors.Compare does. It is 0 if there are too few pairs to tell; see
	// Known.
	Floor  float64
	Lo, Hi float64 // 95% confidence interval of Floor, by a bootstrap over the pairs

	Worst float64 // largest difference that a pair showed

	ratios variance // of what a process makes of the ratio between two cases that are near each other
}

// Known reports whether there are pairs enough for a floor.
func (f Floor) Known() bool { return f.Pairs >= leastPairs }

// Floors are the noise floors of a run, by class.
type Floors []Floor

// FloorsOf computes the noise floors from the A/A pairs, one for each class that
// has cases, in the order in which the classes first occur. See the package
// comment for how.
func FloorsOf(r *results.Set) Floors {
	var floors Floors
	pairs := make(map[string][]pair)
	for _, p := range pairsOf(r) {
		pairs[p.class] = append(pairs[p.class], p)
	}
	cases := gather(r, results.NsPerOp, func(n results.Name) bool { return !n.IsArm() })
	ratios := ratiosOf(cases)
	for _, e := range cases {
		if _, seen := floors.find(e.Class); !seen {
			f := newFloor(e.Class, pairs[e.Class])
			if own := ratios[e.Class]; !(own.value < f.ratios.value) { // no less than those of the same instance
				f.ratios = own
			}
			floors = append(floors, f)
		}
	}
	return floors
}

// ratiosOf is, by class, how much processes differ in the ratio between two cases of a
// group that are near each other. Other than the arms of an A/A pair these lie in
// memory of their own, which each process draws anew.
func ratiosOf(cases []Estimate) map[string]variance {
	type place struct{ class, group, base string }
	of := func(e *Estimate) place { return place{e.Class, e.group, e.Name.Base} }
	fastest := make(map[place]float64)
	for i := range cases {
		e := &cases[i]
		if best, ok := fastest[of(e)]; e.positive() && (!ok || e.Center < best) {
			fastest[of(e)] = e.Center
		}
	}
	last := make(map[place]*Estimate)
	seen := make(map[string][]variance)
	for i := range cases {
		e := &cases[i]
		if !e.positive() || e.Center > FarBehind*fastest[of(e)] {
			continue
		}
		if before := last[of(e)]; before != nil {
			seen[e.Class] = append(seen[e.Class], varianceOf(differences(*before, *e)))
		}
		last[of(e)] = e
	}
	out := make(map[string]variance, len(seen))
	for class, variances := range seen {
		out[class] = pool(variances)
	}
	return out
}

func (f Floors) find(class string) (Floor, bool) {
	if i := slices.IndexFunc(f, func(f Floor) bool { return f.Class == class }); i >= 0 {
		return f[i], true
	}
	return Floor{Class: class}, false
}

// Of returns the floor of a class; one of no pairs if the run has no such
// class.
func (f Floors) Of(class string) Floor {
	floor, _ := f.find(class)
	return floor
}

// A pair is an A/A pair: the logarithms of the ratios between its arms.
type pair struct {
	class string
	diffs []float64
}

// pairs finds the A/A pairs. Arm b has the case itself as its other arm, or,
// in older files, a case's double called arm a.
func pairsOf(r *results.Set) []pair {
	byName := make(map[string]*Estimate)
	all := gather(r, results.NsPerOp, func(results.Name) bool { return true })
	for i := range all {
		byName[all[i].Name.Full] = &all[i]
	}
	var pairs []pair
	for _, b := range all {
		if !b.Name.IsArm() || b.Name.Get(results.ArmKey) != "b" {
			continue
		}
		a := byName[b.Name.Without(results.ArmKey)+"/"+results.ArmKey+"=a"]
		if a == nil {
			a = byName[strings.TrimPrefix(b.Name.Without(results.ArmKey), results.PairBase+"/")]
		}
		if a != nil && a.positive() && b.positive() {
			pairs = append(pairs, pair{b.Class, differences(*a, b)})
		}
	}
	return pairs
}

// differences are the logarithms of b over a by unit of replication: by
// process that has both, the median of its rounds', or, if fewer than two have, by
// round.
func differences(a, b Estimate) []float64 {
	var out, rounds []float64
	others := b.near()
	for _, x := range a.near() {
		if i, both := slices.BinarySearchFunc(others, x.process, processMedian.compare); both {
			rounds = roundDifferences(x, others[i])
			out = append(out, Median(rounds))
		}
	}
	if len(out) > 1 {
		return out
	}
	return rounds
}

// roundDifferences are the logarithms of b over a by round, of which a case has one
// sample each, in their order: the median of the pairs of slices that were taken in
// one pass, or, of samples in one piece, theirs.
func roundDifferences(a, b processMedian) []float64 {
	out := make([]float64, min(len(a.samples), len(b.samples)))
	for i := range out {
		x, y := a.slices[i], b.slices[i]
		var pairs []float64
		for k := range min(len(x), len(y)) {
			if x[k] > 0 && y[k] > 0 {
				pairs = append(pairs, math.Log(y[k]/x[k]))
			}
		}
		if len(pairs) == 0 {
			pairs = []float64{math.Log(b.samples[i] / a.samples[i])}
		}
		out[i] = Median(pairs)
	}
	return out
}

func newFloor(class string, pairs []pair) Floor {
	f := Floor{Class: class, Pairs: len(pairs)}
	for _, p := range pairs {
		f.Worst = max(f.Worst, fraction(math.Abs(Median(p.diffs))))
	}
	if !f.Known() {
		return f
	}
	f.ratios = spreadOf(pairs)
	f.Floor = floorOf(pairs)
	rng := newRand(bootstrapSeed)
	drawn := make([]pair, len(pairs))
	f.Lo, f.Hi = interval(func() float64 {
		for i := range drawn {
			drawn[i] = pairs[rng.IntN(len(pairs))]
		}
		return floorOf(drawn)
	})
	return f
}

// spreadOf is how much units of replication differ between the arms of a pair,
// whose true difference is 0.
func spreadOf(pairs []pair) variance {
	variances := make([]variance, len(pairs))
	seen := 0.0
	for i, p := range pairs {
		variances[i] = squares(p.diffs)
		seen += variances[i].dof
	}
	// A class's spread is known no better than the differences it was estimated from.
	spread := pool(variances)
	spread.dof = 1 / (1/spread.dof + 1/seen)
	return spread
}

// floorOf is the difference that one comparison in twenty exceeds: Student's t
// for how differently the pairs spread, by the deviation of the median over
// the units of replication.
func floorOf(pairs []pair) float64 {
	units := make([]float64, len(pairs))
	for i, p := range pairs {
		units[i] = float64(len(p.diffs))
	}
	return fraction(spreadOf(pairs).reach() * math.Sqrt(ofMedian(int(Median(units)))))
}

// A Difference says how two cases of a run differ.
type Difference struct {
	Ratio  float64 // of the second to the first, the median of the processes', each the median of its rounds'
	Lo, Hi float64 // 95% interval of it, by what processes differ by, each in memory of its own

	// Tie says that the run can't tell the cases apart: Ratio differs from 1 by no
	// more than the noise floor of their class, or Lo to Hi contains 1. Where
	// nothing is known of noise, because there is one sample of each and no
	// floor, only equal cases are a tie; Lo and Hi are then 0 and infinite.
	Tie bool
}

// Bounded reports whether the interval is known.
func (d Difference) Bounded() bool { return d.Lo > 0 && !math.IsInf(d.Hi, 1) }

// Spread is how far the interval reaches to its wider side, as a fraction of Ratio.
func (d Difference) Spread() float64 { return d.Hi/d.Ratio - 1 }

// Compare says how b differs from a, both in one unit. The difference is that
// of the processes that measured both, the median of their ratios, and a
// process's is the median of its rounds', so that what makes a whole process slow,
// or a moment of it, makes no difference. It is known better than the centers of
// the two, whose quotient it need not be. Where fewer than two processes have
// both, rounds take their place.
func (f Floors) Compare(a, b Estimate) Difference {
	if !a.positive() || !b.positive() {
		ratio := b.Center / a.Center
		return Difference{Ratio: ratio, Lo: ratio, Hi: ratio, Tie: a.Center == b.Center}
	}
	diffs := differences(a, b)
	floor := f.Of(a.Class)
	if second := f.Of(b.Class); second.Floor > floor.Floor {
		floor = second
	}
	center := Median(diffs)
	if a.group != b.group || math.Abs(center) > math.Log(FarBehind) {
		floor.ratios = variance{} // of those near each other, in time too
	}
	spread := varianceOf(diffs).moderate(floor.ratios)
	spread.dof = min(spread.dof, ratioDof)
	reach := spread.reach() * math.Sqrt(ofMedian(len(diffs)))
	d := Difference{Ratio: math.Exp(center), Lo: math.Exp(center - reach), Hi: math.Exp(center + reach)}
	within := math.Abs(center) <= reach && !math.IsInf(reach, 1)
	d.Tie = center == 0 || within || fraction(math.Abs(center)) <= floor.Floor
	return d
}
