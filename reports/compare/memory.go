package compare

import (
	"cmp"
	"math"
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
)

// memoryNoise is the least difference of peak memory that counts. In 91 pairs of the runs of one binary in
// testdata/noise a layout differed by up to 9%: a heap that has grown once more holds some megabytes.
const memoryNoise = 0.15

// memoryChanges compares peak memory: one value for each layout of weights in memory, for all its cases have that of
// one process.
func memoryChanges(old, new *results.Set) []CaseChange {
	all := []CaseChange{}
	for _, p := range pairUp(old, new, results.PeakRSS).both {
		x := CaseChange{Name: layoutOf(p.New.Name), Unit: results.PeakRSS, Old: p.Old.Center, New: p.New.Center, Ratio: p.Ratio(), Noise: memoryNoise, P: 1, Q: 1}
		if !comparable(p) || slices.ContainsFunc(all, func(o CaseChange) bool { return o.Name == x.Name }) {
			continue
		}
		if x.Change = x.Ratio; math.Abs(math.Log(x.Ratio)) > math.Log1p(x.Noise) {
			x.Sign, x.P, x.Q = cmp.Compare(x.Ratio, 1), 0, 0
		}
		all = append(all, x)
	}
	return all
}

// layoutOf is a name without what cases of one layout differ in.
func layoutOf(n results.Name) string { return n.Without(names.Threads, names.Cache) }
