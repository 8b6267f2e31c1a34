package bench

import (
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
	return benchmath.NewSample(append([]float64(nil), s.Values...), &benchmath.DefaultThresholds)
}

func assumption(unit string) benchmath.Assumption {
	if UnitOf(unit).Exact {
		return benchmath.AssumeExact
	}
	return benchmath.AssumeNothing
}
