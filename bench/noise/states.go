package noise

import (
	"cmp"
	"math"
	"slices"
)

// A State is one of two that a machine was in during the samples of a case:
// its threads near each other or far apart, as the round trip of a cache line
// between them tells.
type State struct {
	RoundTrip float64 // median, in ns
	Center    float64 // median of the samples, in the estimate's unit
	Samples   int
}

// statesOf splits the samples at the widest gap between the logarithms of
// their round trips, the near state first; nil if there is no such gap, or a
// sample without a round trip.
func statesOf(values, trips []float64) []State {
	if len(values) != len(trips) || len(values) < 2*stateSamples || slices.Min(trips) <= 0 {
		return nil
	}
	order := make([]int, len(trips))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(trips[a], trips[b]) })
	split, widest := 0, 0.0
	for i := 1; i < len(order); i++ {
		if gap := math.Log(trips[order[i]] / trips[order[i-1]]); gap > widest {
			split, widest = i, gap
		}
	}
	if widest < math.Log(stateRatio) || split < stateSamples || len(order)-split < stateSamples {
		return nil
	}
	state := func(members []int) State {
		var v, t []float64
		for _, i := range members {
			v, t = append(v, values[i]), append(t, trips[i])
		}
		return State{RoundTrip: Median(t), Center: Median(v), Samples: len(members)}
	}
	return []State{state(order[:split]), state(order[split:])}
}
