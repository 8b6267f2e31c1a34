package gate

import (
	"math"
	"slices"

	"onebit/bench/noise"
)

// An Interval is an estimate with its bounds. A bound that the data does not
// give is infinite.
type Interval struct{ Center, Lo, Hi float64 }

// sign is +1 if all of it is above 0, -1 if all is below, and else 0.
func (in Interval) sign() int {
	switch {
	case in.Lo > 0:
		return +1
	case in.Hi < 0:
		return -1
	}
	return 0
}

// hodgesLehmann estimates the centre of symmetry of differences d by the
// median of their Walsh averages, with bounds that the truth is beyond with a
// chance of no more than alpha on either side. The bounds are those of
// Wilcoxon's signed-rank test, exact for any symmetric distribution, however
// heavy its tails (Hollander, Wolfe and Chicken, Nonparametric Statistical
// Methods, 3rd edition, section 3.2 and 3.3). d must not be empty.
func hodgesLehmann(d []float64, alpha float64) Interval {
	walsh := walshAverages(d)
	k := criticalRank(len(d), alpha)
	in := Interval{Center: noise.Median(walsh), Lo: math.Inf(-1), Hi: math.Inf(1)}
	if k > 0 {
		in.Lo, in.Hi = walsh[k-1], walsh[len(walsh)-k]
	}
	return in
}

// walshAverages are the means of all pairs of values, each with itself too, in
// order.
func walshAverages(d []float64) []float64 {
	walsh := make([]float64, 0, len(d)*(len(d)+1)/2)
	for i, x := range d {
		for _, y := range d[i:] {
			walsh = append(walsh, (x+y)/2)
		}
	}
	slices.Sort(walsh)
	return walsh
}

// criticalRank is the largest k for which a signed-rank sum of n differences is
// below k with a chance of no more than alpha if their centre is 0; 0 if even
// the sum 0 is likelier.
func criticalRank(n int, alpha float64) int {
	// ways[t] of the 2ⁿ choices of signs have the rank sum t, here as a share.
	ways := make([]float64, n*(n+1)/2+1)
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for t := len(ways) - 1; t >= 0; t-- {
			without := ways[t]
			if t >= rank {
				without += ways[t-rank]
			}
			ways[t] = without / 2
		}
	}
	chance := 0.0
	for k, share := range ways {
		if chance += share; chance > alpha {
			return k
		}
	}
	return len(ways)
}
