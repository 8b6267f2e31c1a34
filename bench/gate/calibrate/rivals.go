package calibrate

import (
	"math/rand/v2"

	"golang.org/x/perf/benchmath"

	"onebit/bench/gate"
	"onebit/bench/results"
)

// A rival is another way to tell whether a case became slower, by a test of
// its samples on either side and a threshold for the ratio of their medians.
type rival struct {
	name      string
	rounds    int     // whose samples of a side are used
	apart     bool    // head's samples are of the rounds after base's, not of the same
	alpha     float64 // p is below
	threshold float64 // the ratio is above
}

// rivals are what projects do now. Ten samples are go test -count=10, before
// and after or in turns; gateRounds are about what a gate of five minutes has of
// each case before the first are decided.
var rivals = []rival{
	{"benchstat and 3%, 10 samples of base, then of head", 5, true, 0.05, 1.03},
	{"benchstat and 3%, 10 samples each, in turns", 5, false, 0.05, 1.03},
	{"Mann-Whitney, 24 rounds in turns", gateRounds, false, 0.05, 1},
	{"Mann-Whitney and Bonferroni, 24 rounds in turns", gateRounds, false, 0.05 / 20, 1},
}

const gateRounds = 24

// rival says which cases a rival calls slower.
func (n *Noise) rival(r rival, from int, slower map[string]float64, rng *rand.Rand) map[string]bool {
	base, head := map[string][]float64{}, map[string][]float64{}
	for i := range r.rounds {
		sides, other := rng.Perm(3), i
		if r.apart {
			other += r.rounds
		}
		for _, b := range n.benchmarks {
			base[b.Name] = append(base[b.Name], n.times(from+2*i, b.Name, sides[gate.Base])...)
			for _, ns := range n.times(from+2*other, b.Name, sides[gate.Head]) {
				head[b.Name] = append(head[b.Name], ns*(1+slower[b.Name]))
			}
		}
	}
	called := map[string]bool{}
	for _, b := range n.benchmarks {
		if r.slower(base[b.Name], head[b.Name]) {
			called[b.Name] = true
		}
	}
	return called
}

// slower says whether head's times are worse than base's.
func (r rival) slower(base, head []float64) bool {
	old := benchmath.NewSample(base, &benchmath.DefaultThresholds)
	now := benchmath.NewSample(head, &benchmath.DefaultThresholds)
	ratio := benchmath.AssumeNothing.Summary(now, 0.95).Center / benchmath.AssumeNothing.Summary(old, 0.95).Center
	return benchmath.AssumeNothing.Compare(old, now).P < r.alpha && ratio > r.threshold
}

// times are those of the two processes of a build.
func (n *Noise) times(round int, name string, build int) (ns []float64) {
	for _, m := range n.rounds[round%len(n.rounds)].cases[name][build] {
		for _, v := range m.Values {
			if v.Unit == results.NsPerOp {
				ns = append(ns, v.Value)
			}
		}
	}
	return ns
}
